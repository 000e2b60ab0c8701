"""Elements in another order or repeated: flip, rot90, roll, tile, repeat, resize, trim_zeros."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.dims import Dim, as_size, max_size
from ..core.tracing import apply, type_of
from ..core.types import array_type
from ..lax.arguments import static_int
from ..lax.dot import as_sharding
from ..ops.cumulative import CumSum
from ..ops.elementwise_binary import min_, rem
from ..ops.indices import GatherScatterMode, ScatterDimensionNumbers
from ..ops.scatter import ScatterAdd
from ..ops.shape import Rev
from ..ops.slicing import DynamicSlice
from ..structural.arith import add, convert, sub
from ..structural.shape import Broadcast, Reshape, full
from .pieces import (
    concrete_array,
    join,
    part,
    permute,
    reshape_to,
    static_shape,
    take,
    take_static,
)
from .util import as_value, check_axes, check_axis

_INT = np.dtype(np.int32)


def flip(m: Any, axis: Any = None) -> Any:
    """Elements in reverse order along axes: ``out[i] = m[n - 1 - i]``.

    Args:
        m: array of any shape and dtype.
        axis: int or ints; None is all axes.

    Returns:
        Array of the shape and dtype of `m`. The derivative is reversed too.

    Raises:
        AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.flip(np.array([[1, 2], [3, 4]])))
        [[4 3]
         [2 1]]
    """
    x = as_value(m, "flip", "m")
    return apply(Rev.of(check_axes("flip", axis, type_of(x).ndim)), x)


def fliplr(m: Any) -> Any:
    """Columns (axis 1) in reverse order.

    Args:
        m: array with at least two axes, any dtype.

    Returns:
        Array of the shape and dtype of `m`. The derivative is reversed too.

    Raises:
        ShapeError: fewer than two axes.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.fliplr(np.array([[1, 2], [3, 4]])))
        [[2 1]
         [4 3]]
    """
    return _flip_axis(m, 1, "fliplr")


def flipud(m: Any) -> Any:
    """Rows (axis 0) in reverse order.

    Args:
        m: array with at least one axis, any dtype.

    Returns:
        Array of the shape and dtype of `m`. The derivative is reversed too.

    Raises:
        ShapeError: rank 0.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.flipud(np.array([[1, 2], [3, 4]])))
        [[3 4]
         [1 2]]
    """
    return _flip_axis(m, 0, "flipud")


def _flip_axis(m: Any, axis: int, function: str) -> Any:
    x = as_value(m, function, "m")
    if type_of(x).ndim <= axis:
        raise errors.ShapeError(
            errors.explain(function, f"m needs at least {axis + 1} axes", {"m": type_of(x)})
        )
    return apply(Rev.of((axis,)), x)


@library()
def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """Array turned by 90 degrees, `k` times, from the first axis of `axes` towards the second.

    Args:
        m: array with at least two axes, any dtype.
        k: int, how often; negative numbers turn the other way.
        axes: two ints, the plane to turn in.

    Returns:
        Array of the same elements; the sizes of the two axes change places if k is odd.

    Raises:
        ValueArgumentError: not two different axes.  AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.rot90(np.array([[1, 2], [3, 4]])))
        [[2 4]
         [1 3]]
    """
    x = as_value(m, "rot90", "m")
    n = type_of(x).ndim
    if len(axes) != 2:
        raise errors.ValueArgumentError(
            errors.explain("rot90", "axes must be two axes", {"axes": axes})
        )
    i, j = check_axes("rot90", tuple(axes), n)
    k = static_int("rot90", "k", k) % 4
    order = list(range(n))
    order[i], order[j] = j, i
    if k == 0:
        return reshape_to(x, type_of(x).shape)
    if k == 2:
        return apply(Rev.of((i, j)), x)
    if k == 1:
        return permute(apply(Rev.of((j,)), x), order)
    return apply(Rev.of((j,)), permute(x, order))


@explains
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements moved along axes; those that leave at one end come back at the other.

    ``out[(i + shift) % n] = a[i]``.

    Args:
        a: array of any shape and dtype.
        shift: how far, int or ints (one for each of `axis`); may be traced.
        axis: int or ints; None moves the elements of the flattened array.

    Returns:
        Array of the shape of `a`. The derivative is moved back.

    Raises:
        AxisError: an axis is out of range.  ValueArgumentError: shifts and axes do not match.
        ArgumentError: a traced shift is no integer.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.roll(np.arange(5), 2))
        [3 4 0 1 2]
    """
    if _is_static(shift):
        shifts = tuple(int(s) for s in np.ravel(np.asarray(shift)))
        return _roll_static(a, shifts, _as_option(axis))
    return _roll_traced(a, shift, _as_option(axis))


def _is_static(x: Any) -> bool:
    if isinstance(x, (tuple, list)):
        return all(_is_static(y) for y in x)
    return isinstance(x, (int, np.integer, np.ndarray))


def _as_option(axis: Any) -> Any:
    return axis if axis is None else static_shape("roll", axis, "axis")


def _pairs(x: Any, shifts: list[Any], axis: Any) -> list[tuple[Any, int]]:
    """(shift, axis) pairs by NumPy's broadcasting of the two."""
    axes = [check_axis("roll", a, type_of(x).ndim) for a in axis]
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise errors.ValueArgumentError(
            errors.explain(
                "roll",
                f"{len(shifts)} shifts do not match {len(axes)} axes",
                {"shift": shifts, "axis": axis},
            )
        )
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    return list(zip(shifts, axes, strict=True))


@library()
def _roll_static(a: Any, shifts: tuple[int, ...], axis: Any) -> Any:
    x = as_value(a, "roll")
    shape = type_of(x).shape
    if axis is None:
        return reshape_to(_roll_static(reshape_to(x, (type_of(x).size,)), shifts, (0,)), shape)
    total = dict.fromkeys(range(len(shape)), 0)
    for s, i in _pairs(x, list(shifts), axis):
        total[i] += s
    for i, s in total.items():
        n = shape[i]
        k = s % n if n else 0
        if k:
            x = join([part(x, i, n - k, n), part(x, i, 0, n - k)], i)
    return reshape_to(x, shape)


@library(arrays=2)
def _roll_traced(a: Any, shift: Any, axis: Any) -> Any:
    x, shift = as_value(a, "roll"), as_value(shift, "roll", "shift")
    t = type_of(shift)
    if t.kind not in "biu" or t.ndim > 1:
        raise errors.ArgumentError(
            errors.explain("roll", "shift must be an integer or a vector of them", {"shift": t})
        )
    shape = type_of(x).shape
    if axis is None:
        flat = reshape_to(x, (type_of(x).size,))
        return reshape_to(_roll_traced(flat, shift, (0,)), shape)
    shift = convert(shift, _INT)
    if t.ndim == 0:
        shifts = [shift]
    else:
        shifts = [reshape_to(part(shift, 0, i, i + 1), ()) for i in range(t.shape[0])]
    for s, i in _pairs(x, shifts, axis):
        x = _roll_axis(x, s, i)
    return x


def _roll_axis(x: Any, shift: Any, axis: int) -> Any:
    shape = type_of(x).shape
    n = shape[axis]
    if n == 0:
        return x
    size = np.int32(n)
    start = apply(sub, size, apply(rem, apply(add, apply(rem, shift, size), size), size))
    starts = [start if i == axis else np.int32(0) for i in range(len(shape))]
    return apply(DynamicSlice.of(shape, False), join([x, x], axis), *starts)


def tile(A: Any, reps: Any) -> Any:  # noqa: N803 - NumPy's name
    """Array repeated as a whole, ``reps[i]`` times along axis i.

    Args:
        A: array.
        reps: int or ints, lined up with the axes from the right.

    Returns:
        Array of shape ``[n * r ...]``.

    Raises:
        ValueArgumentError: a negative number of repetitions.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.tile(np.array([1, 2]), 2))
        [1 2 1 2]
    """
    return _tile(A, static_shape("tile", reps, "reps"))


@library()
def _tile(a: Any, reps: tuple[int, ...]) -> Any:
    x = as_value(a, "tile", "A")
    shape = type_of(x).shape
    if any(n < 0 for n in reps):
        raise errors.ValueArgumentError(
            errors.explain("tile", "repetitions must not be negative", {"reps": reps})
        )
    rank = max(len(shape), len(reps))
    sizes = (1,) * (rank - len(shape)) + shape
    reps = (1,) * (rank - len(reps)) + reps
    wide = tuple(k for pair in zip(reps, sizes, strict=True) for k in pair)
    shift = rank - len(shape)
    dims = tuple(2 * (i + shift) + 1 for i in range(len(shape)))
    out = tuple(r * n for r, n in zip(reps, sizes, strict=True))
    if all(r == 1 for r in reps):
        return reshape_to(x, out)
    return apply(Reshape.of(out, None), apply(Broadcast.of(wide, dims, None), x))


@explains
def repeat(
    a: Any,
    repeats: Any,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Any = None,
) -> Any:
    """Each element repeated, ``repeats[i]`` times.

    Args:
        a: array.
        repeats: int, or one int for each element along `axis`. May be traced if
            `total_repeat_length` is given.
        axis: the axis to repeat along; None flattens `a` first.
        total_repeat_length: size of the result along `axis`. Longer results are cut; shorter ones
            repeat the last element.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array. The derivative is summed over the repetitions.

    Raises:
        ConcretizationTypeError: `repeats` is traced and `total_repeat_length` is not given.
        ValueArgumentError: negative repeats, or a wrong number of them.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.repeat(np.array([3, 4]), np.array([1, 2])))
        [3 4 4]
    """
    x = as_value(a, "repeat")
    if axis is None:
        x, axis = reshape_to(x, (type_of(x).size,)), 0
    elif type_of(x).ndim == 0:
        x = reshape_to(x, (1,))
    axis = check_axis("repeat", axis, type_of(x).ndim)
    if total_repeat_length is None:
        if type(repeats) is Dim:
            counts: Any = max_size(repeats, 0)
        else:
            known = concrete_array("repeat", repeats, "repeats", "they give the size of the result")
            counts = _counts(known, type_of(x).shape[axis])
        out = _repeat_static(x, counts, axis)
    else:
        size = as_size(total_repeat_length)
        out = _repeat_traced(x, as_value(repeats, "repeat", "repeats"), axis, size)
    return out if out_sharding is None else _placed(out, out_sharding)


def _placed(x: Any, out_sharding: Any) -> Any:
    return apply(Reshape.of(type_of(x).shape, as_sharding(out_sharding, (x,), "repeat")), x)


def _counts(counts: np.ndarray, n: int) -> tuple[int, ...] | int:
    if counts.dtype.kind not in "biu" or counts.ndim > 1:
        raise errors.ArgumentError(
            errors.explain(
                "repeat", "repeats must be an int or a vector of ints", {"repeats": counts}
            )
        )
    if counts.size and counts.min() < 0:
        raise errors.ValueArgumentError(
            errors.explain("repeat", "repeats must not be negative", {"repeats": counts.tolist()})
        )
    if counts.ndim == 0 or counts.size == 1:
        return int(counts.reshape(()))
    if counts.size != n:
        raise errors.ValueArgumentError(
            errors.explain(
                "repeat", f"{counts.size} repeats do not match the {n} elements along the axis"
            )
        )
    return tuple(counts.tolist())


@library()
def _repeat_static(x: Any, counts: tuple[int, ...] | int, axis: int) -> Any:
    shape = type_of(x).shape
    n = shape[axis]
    if isinstance(counts, tuple):
        return take_static(x, np.repeat(np.arange(n), counts), axis)
    wide = (*shape[: axis + 1], counts, *shape[axis + 1 :])
    dims = tuple(i if i <= axis else i + 1 for i in range(len(shape)))
    out = (*shape[:axis], n * counts, *shape[axis + 1 :])
    return apply(Reshape.of(out, None), apply(Broadcast.of(wide, dims, None), x))


@library(arrays=2)
def _repeat_traced(x: Any, repeats: Any, axis: int, size: int) -> Any:
    n = type_of(x).shape[axis]
    r = convert(repeats, _INT)
    if type_of(r).ndim > 1 or (type_of(r).ndim == 1 and type_of(r).shape[0] not in (1, n)):
        raise errors.ValueArgumentError(
            errors.explain(
                "repeat",
                f"repeats must be an int or a vector of {n} ints",
                {"repeats": type_of(repeats)},
            )
        )
    if n == 0 or size == 0:
        shape = type_of(x).shape
        wide = (*shape[:axis], size, *shape[axis + 1 :])
        return full(array_type(wide, type_of(x).dtype))
    if type_of(r).shape != (n,):
        r = apply(Broadcast.of((n,), (0,) * type_of(r).ndim, None), r)
    # Element i starts at the sum of the repeats before it; count the starts up to each position.
    ends = apply(CumSum.of(0, False), r)
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    marks = apply(
        ScatterAdd.of(numbers, GatherScatterMode.FILL_OR_DROP, False, False, False),
        full(array_type((size,), _INT)),
        apply(Reshape.of((n, 1), None), ends),
        full(array_type((n,), _INT), 1),
    )
    index = apply(min_, apply(CumSum.of(0, False), marks), np.int32(n - 1))
    return take(x, index, axis)


def resize(a: Any, new_shape: Any) -> Any:
    """Elements of `a` in row-major order, again and again, until `new_shape` is full.

    Unlike `reshape`, the number of elements may change.

    Args:
        a: array of any shape and dtype.
        new_shape: int or ints.

    Returns:
        Array of that shape; zeros if `a` is empty. The derivative is summed over the repetitions.

    Raises:
        ValueArgumentError: a negative size.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.resize(np.array([1, 2, 3]), (2, 2)))
        [[1 2]
         [3 1]]
    """
    shape = static_shape("resize", new_shape, "new_shape")
    if any(n < 0 for n in shape):
        raise errors.ValueArgumentError(
            errors.explain("resize", "sizes must not be negative", {"new_shape": shape})
        )
    return _resize(a, shape)


@library()
def _resize(a: Any, shape: tuple[int, ...]) -> Any:
    x = as_value(a, "resize")
    t = type_of(x)
    size = math.prod(shape)
    if t.size == 0 or size == 0:
        return full(array_type(shape, t.dtype))
    flat = _tile(reshape_to(x, (t.size,)), (-(-size // t.size),))
    return reshape_to(part(flat, 0, 0, size), shape)


@explains
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """The elements of `filt` without the zeros at its ends.

    Args:
        filt: array of any shape, not traced: the shape of the result depends on its values.
        trim: "f" trims the front, "b" the back, "fb" both.
        axis: int or ints, the axes to trim; None is all axes.

    Returns:
        Part of `filt`: the smallest block that holds all elements that are not zero (for "fb").

    Raises:
        ConcretizationTypeError: `filt` is traced by jit or vmap.  ValueArgumentError: unknown trim.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.trim_zeros(np.array([0, 1, 0, 2, 0])))
        [1 0 2]
    """
    x = as_value(filt, "trim_zeros", "filt")
    trim = trim.lower()
    if trim not in ("f", "b", "fb", "bf"):
        raise errors.ValueArgumentError(
            errors.explain("trim_zeros", "trim must be 'f', 'b' or 'fb'", {"trim": trim})
        )
    values = concrete_array("trim_zeros", x, "filt", "they give the size of the result") != 0
    for i in check_axes("trim_zeros", axis, values.ndim):
        used = np.flatnonzero(values.any(axis=tuple(j for j in range(values.ndim) if j != i)))
        n = values.shape[i]
        first = (int(used[0]) if len(used) else n) if "f" in trim else 0
        last = (int(used[-1]) + 1 if len(used) else first) if "b" in trim else n
        x = part(x, i, first, max(first, last))
    return reshape_to(x, type_of(x).shape)


__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "repeat",
    "resize",
    "roll",
    "rot90",
    "tile",
    "trim_zeros",
]
