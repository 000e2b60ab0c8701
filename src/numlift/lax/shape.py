"""Shapes: reshape, transpose, broadcast, concatenate, pad, iota and their relatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import user_dtype
from ..core.tracing import Value, apply, type_of
from ..core.types import ArrayType, dtype_kind
from ..ops.shape import Concatenate, Iota, Pad, Rev, Split, Squeeze
from ..structural.shape import Broadcast, Reshape, Transpose
from .arguments import axes_in_range, axis_in_range, like_operand, static_int, static_ints
from .dot import as_sharding


def _no_change(x: Any, op: Any) -> Any:
    """`x` if it is an array already; what is no array yet becomes one by the operation."""
    return x if isinstance(x, Value) else apply(op, x)


def reshape(
    operand: Any,
    new_sizes: Any,
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """The same elements, in row-major order, under another shape.

    Args:
        operand: array.
        new_sizes: the shape; one entry may be -1, and is computed from the others.
        dimensions: order of operand's axes in which elements are read; None is first to last.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of shape ``new_sizes``.

    Raises:
        ShapeError: the number of elements differs.

    Differences from JAX: -1 is accepted, as in NumPy.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import reshape
        >>> reshape(np.arange(6), (2, -1)).shape
        (2, 3)
    """
    t = type_of(operand)
    sizes = static_ints("reshape", "new_sizes", new_sizes)
    if -1 in sizes:
        sizes = _solve(sizes, t)
    if dimensions is not None:
        order = axes_in_range("reshape", dimensions, t.ndim, operand)
        if order != tuple(range(t.ndim)):
            operand = apply(Transpose.of(order), operand)
    if out_sharding is not None:
        out_sharding = as_sharding(out_sharding, (operand,), "reshape")
    op = Reshape.of(sizes, out_sharding)
    if sizes == t.shape and out_sharding is None:
        return _no_change(operand, op)
    return apply(op, operand)


def _solve(sizes: tuple[int, ...], t: ArrayType) -> tuple[int, ...]:
    rest = 1
    for n in sizes:
        if n != -1:
            rest *= n
    if sizes.count(-1) > 1 or rest == 0 or t.size % rest:
        raise errors.ShapeError(
            errors.explain(
                "reshape",
                "only one size may be -1"
                if sizes.count(-1) > 1
                else f"{t.size} elements cannot fill {sizes}: -1 has no solution",
                {"operand": t},
            )
        )
    return tuple([t.size // rest if n == -1 else n for n in sizes])


def transpose(operand: Any, permutation: Any) -> Any:
    """Axes in another order: axis i of the result is axis ``permutation[i]`` of the operand.

    Args:
        operand: array.
        permutation: every axis once.

    Returns:
        The transposed array.

    Raises:
        ShapeError: not a permutation of the axes.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import transpose
        >>> transpose(np.zeros((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """
    order = static_ints("transpose", "permutation", permutation)
    op = Transpose.of(order)
    if order == tuple(range(type_of(operand).ndim)):
        return _no_change(operand, op)
    return apply(op, operand)


def broadcast(operand: Any, sizes: Any, *, out_sharding: Any = None) -> Any:
    """Repeat an array over new leading axes.

    Args:
        operand: array.
        sizes: sizes of the new axes.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of shape ``(*sizes, *operand.shape)``.

    Raises:
        ShapeError: a size is negative.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import broadcast
        >>> broadcast(np.zeros(3), (2,)).shape
        (2, 3)
    """
    t = type_of(operand)
    new = static_ints("broadcast", "sizes", sizes)
    dims = tuple(range(len(new), len(new) + t.ndim))
    return broadcast_in_dim(operand, (*new, *t.shape), dims, out_sharding=out_sharding)


def broadcast_in_dim(
    operand: Any, shape: Any, broadcast_dimensions: Any, *, out_sharding: Any = None
) -> Any:
    """Repeat an array into a shape, with its axis i as axis ``broadcast_dimensions[i]``.

    Args:
        operand: array; an axis of size 1 may be repeated.
        shape: shape of the result.
        broadcast_dimensions: increasing axes of the result, one for each axis of the operand.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of shape ``shape``.

    Raises:
        ShapeError: sizes do not fit, or the dimensions do not increase.

    Derivative: the cotangent is summed over the axes that were repeated.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import broadcast_in_dim
        >>> broadcast_in_dim(np.arange(2), (2, 3), (0,)).shape
        (2, 3)
    """
    sizes = static_ints("broadcast_in_dim", "shape", shape)
    dims = static_ints("broadcast_in_dim", "broadcast_dimensions", broadcast_dimensions)
    if any(n < 0 for n in sizes):
        raise errors.ShapeError(
            errors.explain("broadcast_in_dim", f"shape {sizes} has a negative size")
        )
    if out_sharding is not None:
        out_sharding = as_sharding(out_sharding, (operand,), "broadcast_in_dim")
    op = Broadcast.of(sizes, dims, out_sharding)
    if sizes == type_of(operand).shape and dims == tuple(range(len(sizes))) and not out_sharding:
        return _no_change(operand, op)
    return apply(op, operand)


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """Leading axes of size 1 are added until the array has `rank` axes.

    Args:
        x: array.
        rank: number of axes; an array that has as many or more is returned as it is.

    Returns:
        Array with at least `rank` axes.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import broadcast_to_rank
        >>> broadcast_to_rank(np.zeros(3), 2).shape
        (1, 3)
    """
    missing = rank - type_of(x).ndim
    return expand_dims(x, tuple(range(max(missing, 0))))


def squeeze(array: Any, dimensions: Any) -> Any:
    """The array without some axes of size 1.

    Args:
        array: array.
        dimensions: axes; negative ones count from the end.

    Returns:
        Array with fewer axes.

    Raises:
        AxisError: an axis is out of range or repeated.
        ShapeError: an axis has another size than 1.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import squeeze
        >>> squeeze(np.zeros((1, 2, 1)), (0, -1)).shape
        (2,)
    """
    axes = tuple(sorted(axes_in_range("squeeze", dimensions, type_of(array).ndim, array)))
    op = Squeeze.of(axes)
    return apply(op, array) if axes else _no_change(array, op)


def expand_dims(array: Any, dimensions: Any) -> Any:
    """The array with new axes of size 1.

    Args:
        array: array.
        dimensions: where the new axes are in the result; negative ones count from its end.

    Returns:
        Array with more axes.

    Raises:
        AxisError: an axis is out of range or repeated.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import expand_dims
        >>> expand_dims(np.zeros(3), (0, -1)).shape
        (1, 3, 1)
    """
    t = type_of(array)
    new = static_ints("expand_dims", "dimensions", dimensions)
    ndim = t.ndim + len(new)
    axes = axes_in_range("expand_dims", new, ndim, array)
    kept = tuple([i for i in range(ndim) if i not in axes])
    shape = [1] * ndim
    for i, n in zip(kept, t.shape, strict=True):
        shape[i] = n
    op = Broadcast.of(tuple(shape), kept, None)
    return apply(op, array) if axes else _no_change(array, op)


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """Neighbouring axes joined into one.

    Args:
        operand: array.
        start_dimension: first axis to join.
        stop_dimension: the axis after the last one to join; None joins all to the end.

    Returns:
        Array with the axes ``start_dimension .. stop_dimension - 1`` as one.

    Raises:
        AxisError: a dimension is out of range, or start is after stop.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import collapse
        >>> collapse(np.zeros((2, 3, 4)), 0, 2).shape
        (6, 4)
    """
    t = type_of(operand)
    start = static_int("collapse", "start_dimension", start_dimension)
    stop = (
        t.ndim
        if stop_dimension is None
        else static_int("collapse", "stop_dimension", stop_dimension)
    )
    start = start + t.ndim if start < 0 else start
    stop = stop + t.ndim if stop < 0 else stop
    if not 0 <= start <= stop <= t.ndim:
        raise errors.AxisError(
            errors.explain(
                "collapse",
                f"0 <= start <= stop <= {t.ndim} does not hold for start {start}, stop {stop}",
                {"operand": t},
            )
        )
    joined = 1
    for n in t.shape[start:stop]:
        joined *= n
    return reshape(operand, (*t.shape[:start], joined, *t.shape[stop:]))


def concatenate(operands: Any, dimension: int) -> Any:
    """Arrays joined along an axis that they have.

    Args:
        operands: arrays of one dtype, whose shapes differ in axis `dimension` at most; or one
            array, whose slices along axis 0 are joined.
        dimension: axis, not negative.

    Returns:
        The joined array.

    Raises:
        ShapeError: no operands, or their shapes do not fit.
        DTypeError: dtypes differ (`numlift.numpy.concatenate` promotes).
        AxisError: the axis is out of range.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import concatenate
        >>> concatenate([np.zeros((2, 3)), np.ones((1, 3))], 0).shape
        (3, 3)
    """
    if isinstance(operands, (Value, np.ndarray)):
        operands = _rows(operands)
    if not isinstance(operands, Iterable):
        raise errors.ArgumentError(
            errors.explain(
                "concatenate",
                f"operands must be a sequence of arrays, not {type(operands).__name__}",
                try_="lax.concatenate([x, y], 0)",
            )
        )
    operands = tuple(operands)
    if not operands:
        raise errors.ShapeError(
            errors.explain("concatenate", "at least one array is needed", {"operands": operands})
        )
    op = Concatenate.of(static_int("concatenate", "dimension", dimension))
    return apply(op, *operands)


def _rows(x: Any) -> list[Any]:
    t = type_of(x)
    if not t.ndim:
        return [x]
    pieces = apply(Split.of((1,) * t.shape[0], 0), x) if t.shape[0] else []
    return [apply(Squeeze.of((0,)), piece) for piece in pieces]


def split(operand: Any, sizes: Any, axis: int = 0) -> list[Any]:
    """An array cut into pieces along an axis.

    Args:
        operand: array.
        sizes: size of each piece; they add up to the size of the axis.
        axis: axis to cut.

    Returns:
        List of arrays.

    Raises:
        ShapeError: a size is negative, or the sum is wrong.
        AxisError: the axis is out of range.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import split
        >>> [piece.shape for piece in split(np.zeros(5), (2, 3))]
        [(2,), (3,)]
    """
    axis = axis_in_range("split", axis, type_of(operand).ndim, operand)
    return apply(Split.of(static_ints("split", "sizes", sizes), axis), operand)


def pad(operand: Any, padding_value: Any, padding_config: Any) -> Any:
    """An array with a value around, and between, its elements.

    Args:
        operand: array.
        padding_value: scalar of the same dtype, or a Python number of a fitting kind.
        padding_config: (low, high, interior) for each axis: how many values are put before the
            first element, behind the last one, and between two elements. Negative low and high
            remove elements.

    Returns:
        Array of size ``low + high + n + max(n - 1, 0) * interior`` in each axis.

    Raises:
        ShapeError: wrong number of entries, negative interior, or a negative size.
        DTypeError: the dtypes differ.

    Derivative: linear in operand and value; a removed element has derivative zero.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import pad
        >>> print(pad(np.arange(3), 9, [(1, -1, 1)]))
        [9 0 9 1 9]
    """
    t = type_of(operand)
    config = tuple([static_ints("pad", "padding_config", c) for c in padding_config])
    if any(len(c) != 3 for c in config):
        raise errors.ShapeError(
            errors.explain(
                "pad",
                "padding_config has (low, high, interior) for each axis",
                {"operand": t, "padding_config": config},
            )
        )
    return apply(Pad.of(config), operand, like_operand(padding_value, t))


def rev(operand: Any, dimensions: Any) -> Any:
    """Elements in reverse order along axes.

    Args:
        operand: array.
        dimensions: axes; negative ones count from the end.

    Returns:
        Array of the same shape.

    Raises:
        AxisError: an axis is out of range or repeated.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import rev
        >>> print(rev(np.arange(3), (0,)))
        [2 1 0]
    """
    axes = axes_in_range("rev", dimensions, type_of(operand).ndim, operand)
    op = Rev.of(axes)
    return apply(op, operand) if axes else _no_change(operand, op)


def iota(dtype: Any, size: int) -> Any:
    """The numbers 0, 1, ..., size - 1.

    Args:
        dtype: integer, float or complex dtype.
        size: how many.

    Returns:
        Array of shape ``(size,)``.

    Raises:
        DTypeError: bool or a random-key dtype.
        ShapeError: the size is negative.

    Example:
        >>> from numlift.lax import iota
        >>> print(iota("int32", 4))
        [0 1 2 3]
    """
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype: Any, shape: Any, dimension: int, *, out_sharding: Any = None) -> Any:
    """0, 1, 2, ... along an axis, the same at every place of the other axes.

    Args:
        dtype: integer, float or complex dtype.
        shape: shape of the result.
        dimension: the axis that is counted, not negative.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of shape ``shape``.

    Raises:
        DTypeError: bool or a random-key dtype.
        ShapeError: a size is negative, or the axis is out of range.

    Example:
        >>> from numlift.lax import broadcasted_iota
        >>> print(broadcasted_iota("int32", (2, 3), 1))
        [[0 1 2]
         [0 1 2]]
    """
    dtype = user_dtype(dtype, "iota")
    if dtype_kind(dtype) not in "iufc":
        raise errors.DTypeError(
            errors.explain("iota", f"dtype must be of numbers, not {dtype}", {"dtype": dtype})
        )
    sizes = static_ints("iota", "shape", shape)
    axis = static_int("iota", "dimension", dimension)
    if not 0 <= axis < len(sizes) or any(n < 0 for n in sizes):
        raise errors.ShapeError(
            errors.explain(
                "iota",
                f"dimension {axis} must be in range({len(sizes)}), sizes must not be negative",
                {"shape": sizes, "dimension": axis},
            )
        )
    if out_sharding is not None:
        out_sharding = as_sharding(out_sharding, (), "iota")
    return apply(Iota.of(dtype, sizes, axis, out_sharding))


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to, by NumPy's rules.

    Args:
        *shapes: shapes, as tuples of ints.

    Returns:
        The common shape.

    Raises:
        ShapeError: sizes of an axis differ and none is 1.

    Example:
        >>> from numlift.lax import broadcast_shapes
        >>> broadcast_shapes((2, 1), (3,), ())
        (2, 3)
    """
    if not shapes:
        return ()
    found = [static_ints("broadcast_shapes", "shapes", s) for s in shapes]
    rank = max([len(s) for s in found])
    result = [1] * rank
    for s in found:
        for i, n in enumerate(s, rank - len(s)):
            if n != 1 and result[i] != n:
                if result[i] != 1:
                    raise errors.ShapeError(
                        errors.explain(
                            "broadcast_shapes",
                            f"sizes {result[i]} and {n} of axis {i - rank} differ, and none is 1",
                            {f"shape {j}": each for j, each in enumerate(found)},
                            try_="insert an axis of size 1 where shapes differ: x[:, None]",
                        )
                    )
                result[i] = n
    return tuple(result)


def tile(operand: Any, reps: Any) -> Any:
    """An array repeated along each axis.

    Args:
        operand: array.
        reps: number of copies, one for each axis.

    Returns:
        Array whose axis i has size ``reps[i] * operand.shape[i]``.

    Raises:
        ShapeError: wrong number of entries, or a negative one.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import tile
        >>> print(tile(np.arange(2), (3,)))
        [0 1 0 1 0 1]
    """
    t = type_of(operand)
    counts = static_ints("tile", "reps", reps)
    if len(counts) != t.ndim or any(r < 0 for r in counts):
        raise errors.ShapeError(
            errors.explain(
                "tile",
                f"reps needs one count >= 0 for each of {t.ndim} axes, got {counts}",
                {"operand": t},
            )
        )
    wide: list[int] = []
    for r, n in zip(counts, t.shape, strict=True):
        wide += (r, n)
    dims = tuple(range(1, 2 * t.ndim, 2))
    spread = broadcast_in_dim(operand, wide, dims)
    return reshape(spread, [r * n for r, n in zip(counts, t.shape, strict=True)])


__all__ = [
    "broadcast",
    "broadcast_in_dim",
    "broadcast_shapes",
    "broadcast_to_rank",
    "broadcasted_iota",
    "collapse",
    "concatenate",
    "expand_dims",
    "iota",
    "pad",
    "reshape",
    "rev",
    "split",
    "squeeze",
    "tile",
    "transpose",
]
