"""What the NumPy functions share: operands, promotion, broadcasting, axes."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..core.dims import Dim
from ..core.dtypes import issubdtype, python_scalar_dtype, result_type_of
from ..core.integers import check_integer, plain_integer
from ..core.tracing import Value, apply, type_of
from ..core.types import ArrayType
from ..ops.shape import Concatenate
from ..structural.arith import Convert, convert
from ..structural.shape import Broadcast, Reshape

_NUMBERS = (bool, int, float, complex)


def as_value(x: Any, function: str, argument: str = "a") -> Any:
    """An operand: arrays, tracers and numbers as they are; nested sequences become arrays.

    Raises:
        ArgumentError: `x` is no array, number or nested sequence of them.
    """
    if isinstance(x, Value) or type(x) in _NUMBERS:
        return x
    if isinstance(x, (np.ndarray, np.generic)):
        if x.dtype.kind in "OUSmM":
            raise _no_array(x, function, argument)
        return x
    if isinstance(x, (list, tuple)):
        return stack_nested(x, function, argument)
    for protocol in ("__numlift_array__", "__jax_array__"):
        method = getattr(x, protocol, None)
        if method is not None:
            return method()
    if hasattr(x, "__array__"):
        return as_value(np.asarray(x), function, argument)
    if isinstance(x, _NUMBERS):
        return plain_integer(x)
    raise _no_array(x, function, argument)


def stack_nested(x: Sequence[Any], function: str, argument: str) -> Any:
    """Nested lists of numbers and arrays as one array."""
    if not _holds_values(x):
        try:
            found = np.asarray(x)
        except ValueError as error:
            raise errors.ValueArgumentError(
                errors.explain(
                    function,
                    f"{argument}: {error}",
                    {argument: repr(x)[:80]},
                    try_="rows of one length, such as padded ones",
                )
            ) from None
        if found.dtype.kind in "OUSmM":
            raise _no_array(x, function, argument)
        if found.dtype.kind in "if" and not _has_numpy(x):
            # Python numbers give the default dtype, int32 or float32 unless x64 is on
            found = found.astype(type_of(found.dtype.type(0)).dtype)
        return found
    rows = promote(*[as_value(row, function, argument) for row in x])
    shape = type_of(rows[0]).shape
    for row in rows:
        if type_of(row).shape != shape:
            raise errors.ShapeError(
                errors.explain(
                    function,
                    f"the rows of {argument} must have equal shapes",
                    {f"row {i}": type_of(r) for i, r in enumerate(rows)},
                )
            )
    return _concatenate(
        [apply(Broadcast.of((1, *shape), tuple(range(1, len(shape) + 1)), None), r) for r in rows]
    )


def _concatenate(rows: list[Any]) -> Any:
    return rows[0] if len(rows) == 1 else apply(Concatenate.of(0), *rows)


def _holds_values(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(_holds_values(y) for y in x)
    return isinstance(x, (Value, Dim))


def _has_numpy(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(_has_numpy(y) for y in x)
    return isinstance(x, (np.ndarray, np.generic))


def _no_array(x: Any, function: str, argument: str) -> errors.ArgumentError:
    return errors.ArgumentError(
        errors.explain(
            function,
            f"{argument} must be an array or a number, not a {type(x).__name__}",
            {argument: repr(x)[:80]},
        )
    )


def promote(*xs: Any) -> list[Any]:
    """Operands converted to their common dtype; Python numbers adopt the arrays' dtype."""
    types = [type_of(x) for x in xs]
    first = types[0]
    if all(t.dtype is first.dtype and t.weak_type is first.weak_type for t in types):
        return list(xs)
    dtype, weak = result_type_of(tuple(map(_dtype_and_weak, types)))
    return [cast(x, t, dtype, weak) for x, t in zip(xs, types, strict=True)]


_dtype_and_weak = operator.attrgetter("dtype", "weak_type")


def cast(x: Any, t: ArrayType, dtype: Any, weak: bool = False) -> Any:
    """One operand with another dtype; numbers stay scalars."""
    if type(x) in _NUMBERS:
        if weak and t.dtype == dtype:
            return x
        if type(x) is int:
            check_integer("asarray", x, dtype)
            x = float(x) if t.dtype != dtype and dtype.kind == "f" else x  # may be too large
        return np.asarray(x).astype(dtype)[()] if not weak else convert(x, dtype, weak)
    if t.dtype == dtype and t.weak_type == weak:
        return x
    return apply(Convert.of(dtype, weak), x)


def to_inexact(*xs: Any) -> list[Any]:
    """`promote`, and integers and bools become the default float."""
    types = [type_of(x) for x in xs]
    first = types[0]
    if first.inexact and len(set(map(_dtype_and_weak, types))) == 1:
        return list(xs)
    dtype, weak = result_type_of(tuple(map(_dtype_and_weak, types)))
    if not issubdtype(dtype, np.inexact):
        dtype = python_scalar_dtype(float)
    return [cast(x, t, dtype, weak) for x, t in zip(xs, types, strict=True)]


def broadcast_shape(
    function: str, *shapes: tuple[int, ...], operands: Sequence[Any] = ()
) -> tuple[int, ...]:
    """NumPy's broadcasting rule; `operands` are shown in the error instead of their shapes.

    Raises:
        ShapeError: two sizes of one axis differ and none is 1.
    """
    rank = max(map(len, shapes))
    result = []
    for i in range(-rank, 0):
        sizes = [s[i] for s in shapes if len(s) >= -i]
        size = next((n for n in sizes if n != 1), 1)
        if any(n not in (1, size) for n in sizes):
            raise errors.ShapeError(
                errors.explain(
                    function,
                    f"shapes cannot be broadcast together: axis {i} has sizes "
                    + ", ".join(map(str, sizes)),
                    {
                        f"operand {j}": type_of(operands[j]) if operands else s
                        for j, s in enumerate(shapes)
                    },
                    try_="x[:, None] or np.expand_dims to line the axes up",
                )
            )
        result.append(size)
    return tuple(result)


def broadcast_operands(function: str, *xs: Any) -> list[Any]:
    """Operands of one shape (rank-0 operands stay: operations spread them)."""
    shapes = [type_of(x).shape for x in xs]
    full = [s for s in shapes if s]
    if not full or all(s == full[0] for s in full):
        return list(xs)
    if config.current().numpy_rank_promotion != "allow":
        _check_ranks(function, full)
    shape = broadcast_shape(function, *shapes, operands=xs)
    return [broadcast_to_shape(x, shape) if s else x for x, s in zip(xs, shapes, strict=True)]


def _check_ranks(function: str, shapes: list[tuple[int, ...]]) -> None:
    if len({len(s) for s in shapes}) == 1:
        return
    mode = config.current().numpy_rank_promotion
    text = errors.explain(
        function,
        f"operands of different ranks are broadcast, and numpy_rank_promotion is {mode!r}",
        {f"operand {i}": s for i, s in enumerate(shapes)},
        try_="add axes with x[None], or nl.numpy_rank_promotion('allow')",
    )
    if mode == "raise":
        raise errors.ShapeError(text)
    warnings.warn(text, stacklevel=errors.user_depth())


def broadcast_to_shape(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` broadcast to `shape` by NumPy's rule (which must allow it)."""
    t = type_of(x)
    if t.shape == shape:
        return x
    shift = len(shape) - t.ndim
    return apply(Broadcast.of(shape, tuple(range(shift, len(shape))), None), x)


def check_axis(function: str, axis: Any, ndim: int, argument: str = "axis") -> int:
    """`axis` as a non-negative int.

    Raises:
        AxisError: out of range.  ArgumentError: not an int.
    """
    try:
        i = operator.index(axis)
    except TypeError:
        raise errors.ArgumentError(
            errors.explain(function, f"{argument} must be an int", {argument: axis})
        ) from None
    if not -ndim <= i < ndim:
        raise errors.AxisError(
            errors.explain(
                function,
                f"{argument} {i} is out of range for an array with {ndim} axes",
                try_=f"{argument} in [{-ndim}, {ndim})" if ndim else "no axis: its rank is 0",
            )
        )
    return i % ndim


def check_axes(function: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """`axis` (None, int or sequence) as a tuple of distinct non-negative ints."""
    if axis is None:
        return tuple(range(ndim))
    many = axis if isinstance(axis, (tuple, list, range)) else (axis,)
    found = tuple(check_axis(function, a, ndim) for a in many)
    if len(set(found)) != len(found):
        raise errors.ValueArgumentError(
            errors.explain(function, "an axis is given twice", {"axis": axis})
        )
    return found


def need_word(function: str, name: str, value: Any) -> None:
    """Raise unless the name of a mode or an order is a str.

    Raises:
        ArgumentError: it is none.
    """
    if not isinstance(value, str):
        raise errors.ArgumentError(
            errors.explain(function, f"{name} must be a str, not a {type(value).__name__}")
        )


def expand(x: Any, axes: Sequence[int]) -> Any:
    """Insert axes of size 1 at the given positions of the result."""
    shape = list(type_of(x).shape)
    for a in sorted(axes):
        shape.insert(a, 1)
    return apply(Reshape.of(tuple(shape), None), x)
