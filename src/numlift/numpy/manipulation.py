"""Shapes and the order of axes: reshape, transpose, squeeze, broadcast and their relatives."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from .. import errors
from ..api.bad_calls import explains
from ..core.tracing import Value, apply, type_of
from ..core.types import ArrayType
from ..lax.dot import as_sharding
from ..ops.shape import Squeeze
from ..structural.shape import Broadcast, Reshape
from .pieces import permute, reshape_to, static_shape
from .util import as_value, broadcast_shape, check_axes, check_axis


def reshape(
    a: Any, shape: Any, order: str = "C", *, copy: bool | None = None, out_sharding: Any = None
) -> Any:
    """The same elements under another shape.

    Args:
        a: array.
        shape: int or ints; one may be -1, and is computed from the others.
        order: "C" reads and writes the last axis fastest, "F" the first; "A" is "C" here, because
            arrays are always stored in that order.
        copy: no effect: arrays never change, so a copy cannot be told from a view.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of that shape. The derivative is reshaped back.

    Raises:
        ShapeError: the number of elements differs.  ValueArgumentError: unknown order.

    Differences from NumPy: ``copy=False`` never fails.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.reshape(np.arange(6), (3, -1)))
        [[0 1]
         [2 3]
         [4 5]]
    """
    x = as_value(a, "reshape")
    t = type_of(x)
    sizes = static_shape("reshape", shape)
    if -1 in sizes:
        sizes = _solve(sizes, t)
    if any(n < 0 for n in sizes) or math.prod(sizes) != t.size:
        raise errors.ShapeError(
            errors.explain(
                "reshape",
                f"cannot give {t.size} elements the shape {sizes}",
                {"a": t},
                try_="-1 for one axis lets its size be computed",
            )
        )
    if out_sharding is not None:
        out_sharding = as_sharding(out_sharding, (x,), "reshape")
        return apply(Reshape.of(sizes, out_sharding), _fortran(x, order, "reshape"))
    if not is_fortran(order, "reshape"):
        return reshape_to(x, sizes)
    return _reversed(reshape_to(_reversed(x), sizes[::-1]))


def is_fortran(order: str, function: str) -> bool:
    """Whether `order` asks for the first axis to run fastest.

    Raises:
        ValueArgumentError: not one of "C", "F", "A", "K".
    """
    if not isinstance(order, str):
        raise errors.ArgumentError(
            errors.explain(function, f"order must be a str, not a {type(order).__name__}")
        )
    if order not in ("C", "F", "A", "K"):
        raise errors.ValueArgumentError(
            errors.explain(function, "order must be 'C', 'F', 'A' or 'K'", {"order": order})
        )
    return order == "F"


def _fortran(x: Any, order: str, function: str) -> Any:
    if is_fortran(order, function):
        raise errors.ValueArgumentError(
            errors.explain(function, "order='F' cannot be combined with out_sharding")
        )
    return x


def _reversed(x: Any) -> Any:
    return permute(x, range(type_of(x).ndim)[::-1])


def _solve(sizes: tuple[int, ...], t: ArrayType) -> tuple[int, ...]:
    rest = math.prod([n for n in sizes if n != -1])
    if sizes.count(-1) > 1 or rest <= 0 or t.size % rest:
        raise errors.ShapeError(
            errors.explain(
                "reshape",
                "only one size may be -1"
                if sizes.count(-1) > 1
                else f"{t.size} elements cannot fill {sizes}: -1 has no solution",
                {"a": t},
            )
        )
    return tuple([t.size // rest if n == -1 else n for n in sizes])


def ravel(a: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    """All elements in one axis.

    Args:
        a: array of any shape and dtype.
        order: "C" reads the last axis fastest, "F" the first; "A" and "K" are "C" here, because
            arrays are always stored in that order.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Vector of ``a.size`` elements. The derivative is reshaped back.

    Raises:
        ValueArgumentError: unknown order.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.ravel(np.array([[1, 2], [3, 4]]), order="F"))
        [1 3 2 4]
    """
    x = as_value(a, "ravel")
    return reshape(x, (type_of(x).size,), order, out_sharding=out_sharding)


def transpose(a: Any, axes: Sequence[int] | None = None) -> Any:
    """Axes in another order: axis i of the result is axis ``axes[i]`` of `a`.

    Args:
        a: array.
        axes: every axis once; None reverses their order.

    Returns:
        The transposed array.

    Raises:
        ValueArgumentError: not every axis once.  AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> np.transpose(np.zeros((2, 3, 4)), (1, 0, 2)).shape
        (3, 2, 4)
    """
    x = as_value(a, "transpose")
    t = type_of(x)
    if axes is None:
        return permute(x, range(t.ndim)[::-1])
    order = static_shape("transpose", axes, "axes")
    if len(order) != t.ndim:
        raise errors.ValueArgumentError(
            errors.explain(
                "transpose",
                f"axes must name each of the {t.ndim} axes once",
                {"a": t, "axes": axes},
            )
        )
    return permute(x, check_axes("transpose", order, t.ndim))


def permute_dims(a: Any, axes: Sequence[int] | None = None) -> Any:
    """Axes in another order, by the array API: axis i of the result is axis ``axes[i]`` of `a`.

    Args:
        a: array of any shape and dtype.
        axes: ints, every axis once; None reverses their order.

    Returns:
        The transposed array. The derivative is transposed back.

    Raises:
        ValueArgumentError: not every axis once.  AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> np.permute_dims(np.zeros((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """
    return transpose(a, axes)


def matrix_transpose(x: Any, /) -> Any:
    """The last two axes swapped: ``out[..., i, j] = x[..., j, i]``; nothing is conjugated.

    Args:
        x: array of shape (..., n, m), any dtype.

    Returns:
        Array of shape (..., m, n). The derivative is transposed back.

    Raises:
        ShapeError: fewer than two axes.

    Example:
        >>> import numlift.numpy as np
        >>> np.matrix_transpose(np.zeros((5, 2, 3))).shape
        (5, 3, 2)
    """
    x = as_value(x, "matrix_transpose", "x")
    n = type_of(x).ndim
    if n < 2:
        raise errors.ShapeError(
            errors.explain("matrix_transpose", "x needs at least two axes", {"x": type_of(x)})
        )
    return permute(x, (*range(n - 2), n - 1, n - 2))


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other positions; the others keep their order.

    Args:
        a: array of any shape and dtype.
        source: int or ints, axes of `a`.
        destination: int or ints, where each of them goes in the result.

    Returns:
        The transposed array. The derivative is transposed back.

    Raises:
        ValueArgumentError: different numbers of axes, or one is repeated.
        AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
        >>> np.moveaxis(np.zeros((2, 3, 4)), (0, 1), (-1, -2)).shape
        (4, 3, 2)
    """
    x = as_value(a, "moveaxis")
    n = type_of(x).ndim
    old, new = check_axes("moveaxis", source, n), check_axes("moveaxis", destination, n)
    if len(old) != len(new):
        raise errors.ValueArgumentError(
            errors.explain(
                "moveaxis",
                "source and destination must have equally many axes",
                {"source": source, "destination": destination},
            )
        )
    order = [i for i in range(n) if i not in old]
    for to, axis in sorted(zip(new, old, strict=True)):
        order.insert(to, axis)
    return permute(x, order)


@explains
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """One axis moved until it lies before axis `start` of `a`; `moveaxis` is easier to read.

    Args:
        a: array of any shape and dtype.
        axis: int, the axis to move.
        start: int from ``-a.ndim`` to ``a.ndim``; ``a.ndim`` moves it to the end.

    Returns:
        The transposed array. The derivative is transposed back.

    Raises:
        AxisError: axis or start is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> np.rollaxis(np.zeros((2, 3, 4)), 2).shape
        (4, 2, 3)
        >>> np.rollaxis(np.zeros((2, 3, 4)), 0, 2).shape
        (3, 2, 4)
    """
    x = as_value(a, "rollaxis")
    n = type_of(x).ndim
    axis = check_axis("rollaxis", axis, n)
    start = operator.index(start)
    if not -n <= start <= n:
        raise errors.AxisError(
            errors.explain("rollaxis", f"start {start} is not between {-n} and {n}")
        )
    start += n if start < 0 else 0
    return moveaxis(x, axis, start - 1 if axis < start else start)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged.

    Args:
        a: array of any shape and dtype.
        axis1: int, an axis.
        axis2: int, the axis that it changes places with.

    Returns:
        The transposed array. The derivative is transposed back.

    Raises:
        AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> np.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """
    x = as_value(a, "swapaxes")
    n = type_of(x).ndim
    i, j = check_axis("swapaxes", axis1, n, "axis1"), check_axis("swapaxes", axis2, n, "axis2")
    order = list(range(n))
    order[i], order[j] = j, i
    return permute(x, order)


def expand_dims(a: Any, axis: Any) -> Any:
    """New axes of size 1.

    Args:
        a: array of any shape and dtype.
        axis: int or ints, positions of the new axes in the result.

    Returns:
        Array of the same elements, with more axes.

    Raises:
        AxisError: out of range.  ValueArgumentError: a position is repeated.

    Example:
        >>> import numlift.numpy as np
        >>> np.expand_dims(np.arange(3), (0, 2)).shape
        (1, 3, 1)
    """
    x = as_value(a, "expand_dims")
    shape = type_of(x).shape
    many = axis if isinstance(axis, (tuple, list)) else (axis,)
    new = check_axes("expand_dims", many, len(shape) + len(many))
    sizes = list(shape)
    for i in sorted(new):
        sizes.insert(i, 1)
    return reshape_to(x, tuple(sizes))


def squeeze(a: Any, axis: Any = None) -> Any:
    """The same elements without axes of size 1.

    Args:
        a: array of any shape and dtype.
        axis: int or ints, the axes to remove; None removes all of size 1.

    Returns:
        Array with fewer axes, or `a` if there is nothing to remove.

    Raises:
        ShapeError: an axis has another size.  AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> np.squeeze(np.zeros((1, 3, 1))).shape
        (3,)
        >>> np.squeeze(np.zeros((1, 3, 1)), axis=0).shape
        (3, 1)
    """
    x = as_value(a, "squeeze")
    t = type_of(x)
    if axis is None:
        axes = tuple([i for i, n in enumerate(t.shape) if n == 1])
    else:
        axes = tuple(sorted(check_axes("squeeze", axis, t.ndim)))
    for i in axes:
        if t.shape[i] != 1:
            raise errors.ShapeError(
                errors.explain(
                    "squeeze", f"axis {i} has size {t.shape[i]}, not 1", {"a": t},
                    try_="x[..., 0] selects one element of an axis",
                )
            )  # fmt: skip
    if not axes and isinstance(x, Value):
        return x
    return apply(Squeeze.of(axes), x)


def broadcast_to(array: Any, shape: Any, subok: bool = False, *, out_sharding: Any = None) -> Any:
    """`array` repeated to `shape` by the broadcasting rule.

    Args:
        array: array.
        shape: int or ints. Axes line up from the right; an axis of size 1 is repeated.
        subok: accepted; there are no subclasses of arrays.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of that shape. The derivative is summed over the repeated axes.

    Raises:
        ShapeError: `array` cannot be broadcast to `shape`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.broadcast_to(np.arange(3), (2, 3)))
        [[0 1 2]
         [0 1 2]]
    """
    x = as_value(array, "broadcast_to", "array")
    t = type_of(x)
    sizes = static_shape("broadcast_to", shape)
    if any(n < 0 for n in sizes):
        raise errors.ShapeError(
            errors.explain(
                "broadcast_to", "sizes must not be negative", {"array": t, "shape": sizes},
                try_="sizes of at least 0: -1 is only for reshape",
            )
        )  # fmt: skip
    shift = len(sizes) - t.ndim
    if shift < 0 or any(n not in (1, m) for n, m in zip(t.shape, sizes[shift:], strict=True)):
        raise errors.ShapeError(
            errors.explain(
                "broadcast_to",
                f"shape {t.shape} cannot be broadcast to {sizes}",
                {"array": t},
                try_="new axes with x[:, None]: axes line up from the right",
            )
        )
    if out_sharding is not None:
        out_sharding = as_sharding(out_sharding, (x,), "broadcast_to")
    elif sizes == t.shape and isinstance(x, Value):
        return x
    return apply(Broadcast.of(sizes, tuple(range(shift, len(sizes))), out_sharding), x)


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that arrays of these shapes are broadcast to.

    Axes line up from the right; sizes must be equal, or one of them 1.

    Args:
        *shapes: tuples of ints, or ints for single axes.

    Returns:
        Tuple of ints; () for no shapes.

    Raises:
        ShapeError: two sizes of one axis differ and neither is 1.

    Example:
        >>> import numlift.numpy as np
        >>> np.broadcast_shapes((2, 1), (3,), 1)
        (2, 3)
    """
    if not shapes:
        return ()
    return broadcast_shape(
        "broadcast_shapes", *[static_shape("broadcast_shapes", s, "shapes") for s in shapes]
    )


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Arrays repeated to their common shape.

    Args:
        *args: arrays or numbers, any dtypes.
        subok: accepted; there are no subclasses of arrays.

    Returns:
        Tuple of arrays of one shape, each of its own dtype. Derivatives are summed over the
        repeated axes.

    Raises:
        ShapeError: two sizes of one axis differ and neither is 1.

    Differences from NumPy: the arrays are no views.

    Example:
        >>> import numlift.numpy as np
        >>> [x.shape for x in np.broadcast_arrays(np.zeros((2, 1)), np.zeros(3))]
        [(2, 3), (2, 3)]
    """
    xs = [as_value(x, "broadcast_arrays", "args") for x in args]
    if not xs:
        return ()
    shape = broadcast_shape("broadcast_arrays", *[type_of(x).shape for x in xs])
    return tuple([broadcast_to(x, shape) for x in xs])


def _at_least(function: str, arrays: tuple[Any, ...], widen: Any) -> Any:
    if len(arrays) == 1 and isinstance(arrays[0], (list, tuple)) and not arrays[0]:
        arrays = (as_value(arrays[0], function),)
    found = []
    for x in arrays:
        x = as_value(x, function, "arys")
        found.append(reshape_to(x, widen(type_of(x).shape)))
    return found[0] if len(found) == 1 else found


def _shape_1d(shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape or (1,)


def _shape_2d(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (1,) * (2 - len(shape)) + shape


def _shape_3d(shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) == 2:
        return (*shape, 1)
    return (1, *shape, 1) if len(shape) == 1 else shape or (1, 1, 1)


def atleast_1d(*arys: Any) -> Any:
    """Arrays of at least one axis: () becomes (1,), other shapes stay.

    Args:
        *arys: arrays or numbers, any dtypes.

    Returns:
        An array for one argument, a list of arrays for more.

    Differences from NumPy: a list, not a tuple.

    Example:
        >>> import numlift.numpy as np
        >>> np.atleast_1d(3.0).shape
        (1,)
    """
    return _at_least("atleast_1d", arys, _shape_1d)


def atleast_2d(*arys: Any) -> Any:
    """Arrays of at least two axes: () becomes (1, 1), and (n,) becomes (1, n): a row.

    Args:
        *arys: arrays or numbers, any dtypes.

    Returns:
        An array for one argument, a list of arrays for more.

    Differences from NumPy: a list, not a tuple.

    Example:
        >>> import numlift.numpy as np
        >>> np.atleast_2d(np.arange(3)).shape
        (1, 3)
    """
    return _at_least("atleast_2d", arys, _shape_2d)


def atleast_3d(*arys: Any) -> Any:
    """Arrays of at least three axes: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1).

    Args:
        *arys: arrays or numbers, any dtypes.

    Returns:
        An array for one argument, a list of arrays for more.

    Differences from NumPy: a list, not a tuple.

    Example:
        >>> import numlift.numpy as np
        >>> np.atleast_3d(np.arange(3)).shape
        (1, 3, 1)
    """
    return _at_least("atleast_3d", arys, _shape_3d)


__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "expand_dims",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "ravel",
    "reshape",
    "rollaxis",
    "squeeze",
    "swapaxes",
    "transpose",
]
