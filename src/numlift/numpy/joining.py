"""Arrays joined: concatenate, stack and its relatives, unstack, block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..api.library import library
from ..core.dtypes import user_dtype
from ..core.tracing import Value, apply, type_of
from ..ops.shape import Concatenate, Split
from ..structural.arith import convert
from ..structural.shape import Broadcast
from .elementwise import no_out
from .manipulation import atleast_1d, atleast_2d, atleast_3d
from .pieces import join, part, reshape_to
from .util import as_value, check_axis, promote

_RULES = ("no", "equiv", "safe", "same_kind", "unsafe")


def _check_rule(function: str, casting: Any) -> None:
    if not isinstance(casting, str):
        raise errors.ArgumentError(
            errors.explain(function, f"casting must be a str, not a {type(casting).__name__}")
        )
    if casting not in _RULES:
        raise errors.ValueArgumentError(
            errors.explain(function, f"casting must be one of {', '.join(_RULES)}, not {casting!r}")
        )


def _operands(
    function: str, arrays: Any, dtype: Any = None, casting: str = "unsafe", out: Any = None
) -> list[Any]:
    """The arrays of a sequence (or the rows of one array), promoted."""
    no_out(function, out)
    if casting != "unsafe":
        _check_rule(function, casting)
    if isinstance(arrays, (Value, np.ndarray)):
        t = type_of(arrays)
        if t.ndim == 0:
            raise errors.ArgumentError(
                errors.explain(function, "a sequence of arrays is needed", {"arrays": t})
            )
        rows = [reshape_to(part(arrays, 0, i, i + 1), t.shape[1:]) for i in range(t.shape[0])]
    else:
        try:
            rows = [as_value(x, function, "arrays") for x in arrays]
        except TypeError as error:
            if isinstance(error, errors.NumliftError):
                raise
            raise errors.ArgumentError(
                errors.explain(function, "a sequence of arrays is needed", {"arrays": arrays})
            ) from None
    if not rows:
        raise errors.ValueArgumentError(
            errors.explain(function, "at least one array is needed", {"arrays": arrays})
        )
    if dtype is None:
        return promote(*rows)
    dtype = user_dtype(dtype, function)
    for i, x in enumerate(rows if casting != "unsafe" else ()):
        if not np.can_cast(type_of(x).dtype, dtype, casting):  # type: ignore[arg-type]
            raise errors.DTypeError(
                errors.explain(
                    function,
                    f"cannot cast to {dtype} with casting={casting!r}",
                    {f"arrays[{i}]": type_of(x)},
                    try_="casting='unsafe'",
                )
            )
    return [convert(x, dtype) for x in rows]


def joined(function: str, xs: list[Any], axis: int) -> Any:
    """Concatenation with NumPy's checks; always an array."""
    types = [type_of(x) for x in xs]
    if types[0].ndim == 0:
        raise errors.ShapeError(
            errors.explain(
                function, "arrays of rank 0 cannot be concatenated", {"arrays[0]": types[0]},
                try_="np.stack or np.hstack",
            )
        )  # fmt: skip
    axis = check_axis(function, axis, types[0].ndim)
    first = types[0].shape
    for i, t in enumerate(types):
        if t.ndim != len(first) or any(
            a != b for j, (a, b) in enumerate(zip(t.shape, first, strict=True)) if j != axis
        ):
            raise errors.ShapeError(
                errors.explain(
                    function,
                    f"arrays must have equal shapes except along axis {axis}",
                    {"arrays[0]": types[0], f"arrays[{i}]": t},
                    try_="np.expand_dims or np.broadcast_to one of them first",
                )
            )
    if len(xs) == 1:
        return reshape_to(xs[0], first)
    return apply(Concatenate.of(axis), *xs)


@library()
def concatenate(
    arrays: Any,
    axis: int | None = 0,
    dtype: Any = None,
    *,
    out: None = None,
    casting: str = "unsafe",
) -> Any:
    """Arrays one after the other along an axis.

    Args:
        arrays: sequence of arrays (or an array, for its rows), of equal shapes except in `axis`.
        axis: the axis to join along; None flattens the arrays first.
        dtype: dtype of the result; None promotes.
        out: must be None.
        casting: which conversions to `dtype` are allowed; see `can_cast`.

    Returns:
        The joined array. The derivative goes to each part.

    Raises:
        ShapeError: shapes do not fit, or rank 0.  ValueArgumentError: no arrays.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.concatenate([np.array([1, 2]), np.array([3])]))
        [1 2 3]
    """
    xs = _operands("concatenate", arrays, dtype, casting, out)
    if axis is None:
        xs, axis = [reshape_to(x, (type_of(x).size,)) for x in xs], 0
    return joined("concatenate", xs, axis)


def concat(
    arrays: Any,
    /,
    axis: int | None = 0,
    out: None = None,
    *,
    dtype: Any = None,
    casting: str = "unsafe",
) -> Any:
    """Arrays one after the other along an axis, by the array API; `concatenate` in NumPy.

    Args:
        arrays: sequence of arrays (or an array, for its rows), of equal shapes except in `axis`.
        axis: int, the axis to join along; None flattens the arrays first.
        out: must be None: arrays are immutable.
        dtype: dtype of the result; None promotes.
        casting: which conversions to `dtype` are allowed; see `can_cast`.

    Returns:
        The joined array. The derivative goes to each part.

    Raises:
        ShapeError: shapes do not fit, or rank 0.  ValueArgumentError: no arrays.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.concat([np.array([[1, 2]]), np.array([[3, 4]])], axis=None))
        [1 2 3 4]
    """
    return concatenate(arrays, axis, dtype, out=out, casting=casting)


@library()
def stack(
    arrays: Any,
    axis: int = 0,
    out: None = None,
    dtype: Any = None,
    *,
    casting: str = "unsafe",
) -> Any:
    """Arrays of one shape joined along a new axis.

    Args:
        arrays: sequence of n arrays of one shape (or an array, for its rows).
        axis: int, the position of the new axis in the result.
        out: must be None: arrays are immutable.
        dtype: dtype of the result; None promotes.
        casting: which conversions to `dtype` are allowed; see `can_cast`.

    Returns:
        Array with one axis more, of size n. The derivative goes to each part.

    Raises:
        ShapeError: different shapes.  ValueArgumentError: no arrays.  AxisError: out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.stack([np.array([1, 2]), np.array([3, 4])], axis=1))
        [[1 3]
         [2 4]]
    """
    xs = _operands("stack", arrays, dtype, casting, out)
    shape = type_of(xs[0]).shape
    for i, x in enumerate(xs):
        if type_of(x).shape != shape:
            raise errors.ShapeError(
                errors.explain(
                    "stack",
                    "all arrays must have the same shape",
                    {"arrays[0]": type_of(xs[0]), f"arrays[{i}]": type_of(x)},
                    try_="np.concatenate, if they differ along one axis only",
                )
            )
    axis = check_axis("stack", axis, len(shape) + 1)
    wide = (*shape[:axis], 1, *shape[axis:])
    dims = tuple(i if i < axis else i + 1 for i in range(len(shape)))
    spread = Broadcast.of(wide, dims, None)
    return join([apply(spread, x) for x in xs], axis)


@library()
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices of an array along an axis, which they lose: the inverse of `stack`.

    Args:
        x: array with at least one axis, any dtype.
        axis: int, the axis to take apart.

    Returns:
        Tuple of ``x.shape[axis]`` arrays. Derivatives are joined.

    Raises:
        ShapeError: rank 0.  AxisError: the axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> a, b = np.unstack(np.array([[1, 2], [3, 4]]), axis=1)
        >>> print(a, b)
        [1 3] [2 4]
    """
    x = as_value(x, "unstack", "x")
    t = type_of(x)
    if t.ndim == 0:
        raise errors.ShapeError(errors.explain("unstack", "x needs at least one axis", {"x": t}))
    axis = check_axis("unstack", axis, t.ndim)
    n = t.shape[axis]
    shape = t.shape[:axis] + t.shape[axis + 1 :]
    if n == 0:
        return ()
    return tuple(reshape_to(p, shape) for p in apply(Split.of((1,) * n, axis), x))


def _atleast(widen: Callable[..., Any], xs: list[Any]) -> list[Any]:
    return [widen(x) for x in xs]


@library()
def vstack(tup: Any, dtype: Any = None, *, casting: str = "unsafe") -> Any:
    """Arrays below each other: joined along axis 0, vectors as rows.

    Args:
        tup: sequence of arrays (or an array, for its rows), of equal shapes except in axis 0.
        dtype: dtype of the result; None promotes.
        casting: which conversions to `dtype` are allowed; see `can_cast`.

    Returns:
        Array of at least two axes. The derivative goes to each part.

    Raises:
        ShapeError: shapes do not fit.  ValueArgumentError: no arrays.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.vstack([np.array([1, 2]), np.array([[3, 4], [5, 6]])]))
        [[1 2]
         [3 4]
         [5 6]]
    """
    return joined("vstack", _atleast(atleast_2d, _operands("vstack", tup, dtype, casting)), 0)


@library()
def hstack(tup: Any, dtype: Any = None, *, casting: str = "unsafe") -> Any:
    """Arrays side by side: joined along axis 1, vectors and numbers along axis 0.

    Args:
        tup: sequence of arrays (or an array, for its rows), of equal shapes except in that axis.
        dtype: dtype of the result; None promotes.
        casting: which conversions to `dtype` are allowed; see `can_cast`.

    Returns:
        Array of at least one axis. The derivative goes to each part.

    Raises:
        ShapeError: shapes do not fit.  ValueArgumentError: no arrays.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.hstack([np.array([1, 2]), np.array([3])]))
        [1 2 3]
        >>> np.hstack([np.ones((2, 1)), np.ones((2, 3))]).shape
        (2, 4)
    """
    xs = _atleast(atleast_1d, _operands("hstack", tup, dtype, casting))
    return joined("hstack", xs, 0 if type_of(xs[0]).ndim == 1 else 1)


@library()
def dstack(tup: Any, dtype: Any = None) -> Any:
    """Arrays behind each other: joined along axis 2 after `atleast_3d`.

    Args:
        tup: sequence of arrays (or an array, for its rows), of equal shapes except in axis 2.
        dtype: dtype of the result; None promotes.

    Returns:
        Array of at least three axes; vectors of n elements give shape (1, n, count).

    Raises:
        ShapeError: shapes do not fit.  ValueArgumentError: no arrays.

    Example:
        >>> import numlift.numpy as np
        >>> np.dstack([np.array([1, 2, 3]), np.array([3, 4, 5])]).shape
        (1, 3, 2)
    """
    return joined("dstack", _atleast(atleast_3d, _operands("dstack", tup, dtype)), 2)


@library()
def column_stack(tup: Any) -> Any:
    """Vectors as the columns of a matrix; matrices are joined along axis 1.

    Args:
        tup: sequence of vectors and matrices (or an array, for its rows), of equal length.

    Returns:
        Matrix of the promoted dtype. The derivative goes to each part.

    Raises:
        ShapeError: lengths differ.  ValueArgumentError: no arrays.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.column_stack([np.array([1, 2]), np.array([3, 4])]))
        [[1 3]
         [2 4]]
    """
    columns = []
    for x in _operands("column_stack", tup):
        t = type_of(x)
        columns.append(reshape_to(x, (t.size, 1)) if t.ndim < 2 else x)
    return joined("column_stack", columns, 1)


def _depth(arrays: Any, path: str = "arrays") -> int:
    if isinstance(arrays, tuple):
        raise errors.ArgumentError(
            errors.explain("block", f"{path} is a tuple: blocks are nested in lists")
        )
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise errors.ValueArgumentError(errors.explain("block", f"{path} is an empty list"))
    depths = {_depth(x, f"{path}[{i}]") for i, x in enumerate(arrays)}
    if len(depths) > 1:
        raise errors.ValueArgumentError(
            errors.explain("block", f"the lists in {path} are nested to different depths")
        )
    return depths.pop() + 1


def block(arrays: Any) -> Any:
    """An array put together from nested lists of blocks.

    The innermost lists are joined along the last axis, those around them along the one before, and
    so on.

    Args:
        arrays: nested lists (no tuples) of arrays and numbers, all at the same depth. Arrays get
            leading axes of size 1 until they have as many axes as the deepest.

    Returns:
        Array of the promoted dtype. The derivative goes to each block.

    Raises:
        ValueArgumentError: an empty list, or different depths.  ShapeError: blocks do not fit.
        ArgumentError: a tuple.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.block([[np.eye(2), np.zeros((2, 1))], [np.ones((1, 2)), 5.0]]))
        [[1. 0. 0.]
         [0. 1. 0.]
         [1. 1. 5.]]
    """
    _depth(arrays)
    return _block(arrays)


@library()
def _block(arrays: Any) -> Any:
    depth = _depth(arrays) if isinstance(arrays, list) else 0
    rank = depth

    def ranks(x: Any) -> None:
        nonlocal rank
        if isinstance(x, list):
            for y in x:
                ranks(y)
        else:
            rank = max(rank, type_of(as_value(x, "block")).ndim)

    ranks(arrays)

    def build(x: Any, level: int) -> Any:
        if not isinstance(x, list):
            x = as_value(x, "block")
            shape = type_of(x).shape
            return reshape_to(x, (1,) * (rank - len(shape)) + shape)
        parts = promote(*[build(y, level + 1) for y in x])
        return joined("block", parts, rank - depth + level)

    return build(arrays, 0)


row_stack = vstack

__all__ = [
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "row_stack",
    "stack",
    "unstack",
    "vstack",
]
