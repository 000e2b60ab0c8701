"""Elements by arrays of indices: take, take_along_axis, put_along_axis, ix_ and raveled indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.eager import kept
from ..api.library import library
from ..core.dims import Dim
from ..core.dtypes import python_scalar_dtype, user_dtype
from ..core.integers import check_integer
from ..core.tracing import Tracer, Value, apply, type_of
from ..core.types import ArrayType
from ..lax.arguments import static_ints
from ..lax.indexing import static_scalar
from ..ops.compare import lt
from ..ops.elementwise_binary import clamp, div, rem
from ..ops.gather import Gather
from ..ops.indices import (
    FILL_OR_DROP,
    PROMISE_IN_BOUNDS,
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    column,
    is_asked,
)
from ..ops.scatter import ScatterSet
from ..structural.arith import add, convert, mul, select
from ..structural.shape import Reshape, full, reshape
from .arithmetic import remainder
from .index_arrays import along_numbers, check_known, integer_indices, narrowed, size_like, without
from .index_update import cast_values
from .util import as_value, broadcast_shape, broadcast_to_shape, check_axis, need_word

mode_of = GatherScatterMode.from_any


@explains
def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Any:
    """Slices of an array at indices along an axis: ``a[:, indices]`` for axis 1.

    Args:
        a: array.
        indices: array of integers.
        axis: axis to index; None takes from the flattened array.
        out: must be None.
        mode: what indices out of bounds give. ``"fill"``: ``fill_value``, and negative indices
            count from the end; ``"clip"``: the nearest element, so negative ones the first;
            ``"wrap"``: the index modulo the size; ``"raise"``: an error, for indices that Python
            knows (numbers, lists, NumPy arrays). Default: an error for those, fill for others.
        unique_indices: you promise that the indices are different.
        indices_are_sorted: you promise that the indices ascend.
        fill_value: for mode "fill". Default: NaN, the least signed, the greatest unsigned integer,
            True.

    Returns:
        Array with the axes of ``indices`` instead of the axis.

    Raises:
        AxisError: the axis is out of range.
        DTypeError: the indices are no integers.
        IndexingError: the axis has size 0 and there are indices, or one that Python knows is out
            of bounds.
        ValueArgumentError: unknown mode, or "raise" and indices that Python does not know.

    Derivative: linear in ``a``; filled elements have none.

    Differences from NumPy: indices on a device or traced that are out of bounds cannot raise; the
    default is to fill.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.take(np.arange(5.0), np.array([3, -1, 9])))
        [ 3.  4. nan]
    """
    if out is not None:
        raise errors.ArgumentError(errors.explain("take", "out must be None: arrays do not change"))
    a, indices = as_value(a, "take"), integer_indices("take", indices)
    if axis is not None:
        axis = check_axis("take", axis, type_of(a).ndim)
    t = type_of(a)
    size = t.size if axis is None else t.shape[axis]
    checked = mode is None or mode == "raise"
    if checked:
        _check_taken(mode, indices, size, axis)
        mode = None
        if type(indices) is np.ndarray:
            indices = kept(indices)
    if not checked or type(size) is Dim:
        indices = narrowed(indices, size, mode == "wrap")
    fill_value = static_scalar("take", "fill_value", fill_value)
    chosen = "wrap" if mode == "wrap" else FILL_OR_DROP if mode is None else mode_of(mode)
    asked = mode != "wrap" and is_asked(mode)
    hints = bool(unique_indices), bool(indices_are_sorted), asked
    return _take(a, indices, axis, chosen, fill_value, hints)


def _check_taken(mode: str | None, indices: Any, size: Any, axis: int | None) -> None:
    """Check indices that Python knows; `mode` "raise" takes no others."""
    if mode == "raise" and isinstance(indices, Value):
        raise errors.ValueArgumentError(
            errors.explain(
                "take",
                "mode 'raise' is possible for indices that Python knows only: numbers, lists, "
                "NumPy arrays",
                {"indices": type_of(indices)},
                try_='mode="fill", whose NaN show what was out of bounds, or mode="clip"',
            )
        )
    check_known("take", indices, size, axis, 'mode="fill" or mode="clip" to allow it')


@library(2)
def _take(a: Any, indices: Any, axis: int | None, mode: Any, fill: Any, hints: Any) -> Any:
    unique, ordered, asked = hints
    t = type_of(a)
    if axis is None:
        a, axis = reshape(a, (t.size,)), 0
        t = type_of(a)
    i = type_of(indices)
    size = t.shape[axis]
    shape = (*t.shape[:axis], *i.shape, *t.shape[axis + 1 :])
    if not size:
        if i.size:
            raise errors.IndexingError(
                errors.explain(
                    "take", f"axis {axis} has size 0, so there is nothing to take",
                    {"a": t, "indices": i},
                )
            )  # fmt: skip
        return full(t.update(shape=shape, sharding=None))
    if mode == "wrap":
        indices, mode = remainder(indices, size_like(i, size)), PROMISE_IN_BOUNDS
    batch = range(axis, axis + i.ndim)
    offset = tuple([d for d in range(len(shape)) if d not in batch])
    numbers = GatherDimensionNumbers(offset, (axis,), (axis,))
    sizes = (*t.shape[:axis], 1, *t.shape[axis + 1 :])
    op = Gather.of(numbers, sizes, mode, fill, unique, ordered, mode is FILL_OR_DROP, None, asked)
    return apply(op, a, column(indices))


# ---- along an axis ----------------------------------------------------------------------------


@explains
def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    mode: Any = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool | None = None,
) -> Any:
    """One element (or several) of each row along an axis: ``arr[i, indices[i, j]]`` for axis 1.

    Args:
        arr: array.
        indices: integers, of as many axes as ``arr``; the other axes broadcast.
        axis: axis to index; None flattens both arrays first.
        mode: ``"fill"``: indices out of bounds give ``fill_value``; ``"clip"``: the nearest
            element; ``"promise_in_bounds"``. None: as "fill", but those that Python knows (lists,
            NumPy arrays) raise.
        fill_value: default NaN, the least signed, the greatest unsigned integer, True.
        wrap_negative_indices: whether negative indices count from the end (default True).

    Returns:
        Array of the broadcast shape, with the size of ``indices`` along the axis.

    Raises:
        ShapeError: different numbers of axes, or the other axes do not broadcast.
        DTypeError: the indices are no integers.
        AxisError: the axis is out of range.
        IndexingError: an index that Python knows is out of bounds.

    Derivative: linear in ``arr``.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.array([[3, 1, 2], [6, 5, 4]])
        >>> print(np.take_along_axis(x, np.array([[1], [2]]), 1))
        [[1]
         [4]]
    """
    arr, indices = (
        as_value(arr, "take_along_axis", "arr"),
        integer_indices("take_along_axis", indices),
    )
    chosen = FILL_OR_DROP if mode is None else mode_of(mode)
    fill_value = static_scalar("take_along_axis", "fill_value", fill_value)
    wrap = wrap_negative_indices is None or bool(wrap_negative_indices)
    if axis is not None:
        axis = check_axis("take_along_axis", axis, type_of(arr).ndim)
    if mode is None and wrap:
        _check_along("take_along_axis", indices, type_of(arr), axis)
    indices = narrowed(indices, _size_along(type_of(arr), axis), False)
    return _take_along(arr, indices, axis, chosen, fill_value, wrap, is_asked(mode))


def _check_along(function: str, indices: Any, t: ArrayType, axis: int | None) -> None:
    size = _size_along(t, axis)
    check_known(function, indices, size, axis, 'mode="fill" or mode="clip" to allow it')


def _size_along(t: ArrayType, axis: int | None) -> Any:
    return t.size if axis is None else t.shape[axis]


def _same_rank(function: str, x: Any, i: Any) -> None:
    if x.ndim != i.ndim:
        raise errors.ShapeError(
            errors.explain(
                function,
                f"indices must have as many axes as the array: {i.ndim} and {x.ndim}",
                {"arr": x, "indices": i},
                try_="indices[:, None], or x[..., indices] to take whole slices",
            )
        )


@library(2)
def _take_along(
    arr: Any, indices: Any, axis: int | None, mode: Any, fill: Any, wrap: bool, asked: bool
) -> Any:
    if axis is None:
        arr, axis = reshape(arr, (type_of(arr).size,)), 0
        if type_of(indices).ndim != 1:
            _same_rank("take_along_axis", type_of(arr), type_of(indices))
    t, i = type_of(arr), type_of(indices)
    _same_rank("take_along_axis", t, i)
    rest = (
        broadcast_shape("take_along_axis", without(t.shape, axis), without(i.shape, axis))
        if t.ndim > 1
        else ()
    )
    out = (*rest[:axis], i.shape[axis], *rest[axis:])
    if 0 in out:
        return full(t.update(shape=out, sharding=None))
    if not t.shape[axis]:
        raise errors.IndexingError(
            errors.explain(
                "take_along_axis", f"axis {axis} of the array has size 0", {"arr": t, "indices": i}
            )
        )
    numbers, kept, sizes = along_numbers(t.shape, i.shape, axis)
    indices = reshape(indices, (*[i.shape[d] for d in kept], 1))
    ordered = GatherDimensionNumbers(*numbers)
    op = Gather.of(ordered, sizes, mode, fill, False, False, wrap, None, asked)
    return apply(op, arr, indices)


@explains
def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int | None,
    inplace: bool = True,
    *,
    mode: Any = None,
) -> Any:
    """A copy with one element (or several) of each row along an axis replaced.

    Args:
        arr: array.
        indices: integers, of as many axes as ``arr``; the other axes broadcast.
        values: array or number that broadcasts to ``indices``.
        axis: axis to index; None flattens ``arr`` and ``indices`` first.
        inplace: must be False: arrays do not change.
        mode: ``"drop"``: indices out of bounds are ignored; ``"clip"``; ``"promise_in_bounds"``.
            None: as "drop", but those that Python knows (lists, NumPy arrays) raise.

    Returns:
        Array like ``arr``.

    Raises:
        ValueArgumentError: ``inplace=True``.
        ShapeError: shapes do not fit.
        IndexingError: an index that Python knows is out of bounds.

    Derivative: linear in ``arr`` and ``values``.

    Differences from NumPy: returns the result.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.zeros((2, 3))
        >>> print(np.put_along_axis(x, np.array([[1], [2]]), 9.0, 1, inplace=False))
        [[0. 9. 0.]
         [0. 0. 9.]]
    """
    if inplace:
        raise errors.ValueArgumentError(
            errors.explain(
                "put_along_axis",
                "arrays do not change, so inplace must be False",
                try_="x = np.put_along_axis(x, indices, values, axis, inplace=False)",
            )
        )
    arr = as_value(arr, "put_along_axis", "arr")
    indices = integer_indices("put_along_axis", indices)
    values = cast_values(as_value(values, "put_along_axis", "values"), type_of(arr))
    if axis is not None:
        axis = check_axis("put_along_axis", axis, type_of(arr).ndim)
    if mode is None:
        _check_along("put_along_axis", indices, type_of(arr), axis)
    indices = narrowed(indices, _size_along(type_of(arr), axis), False)
    chosen = FILL_OR_DROP if mode is None else mode_of(mode)
    return _put_along(arr, indices, values, axis, chosen, is_asked(mode))


@library(3)
def _put_along(arr: Any, indices: Any, values: Any, axis: Any, mode: Any, asked: bool) -> Any:
    shape = type_of(arr).shape
    if axis is None:
        arr, axis = reshape(arr, (type_of(arr).size,)), 0
        indices = reshape(indices, (type_of(indices).size,))
    t, i = type_of(arr), type_of(indices)
    _same_rank("put_along_axis", t, i)
    rest = without(t.shape, axis)
    wanted = (*rest[:axis], i.shape[axis], *rest[axis:])
    if broadcast_shape("put_along_axis", i.shape, wanted) != wanted:
        raise errors.ShapeError(
            errors.explain(
                "put_along_axis", "indices do not broadcast to the array", {"arr": t, "indices": i}
            )
        )
    if broadcast_shape("put_along_axis", type_of(values).shape, wanted) != wanted:
        raise errors.ShapeError(
            errors.explain(
                "put_along_axis",
                "values do not broadcast to the indices",
                {"indices": i, "values": type_of(values)},
            )
        )
    if 0 in wanted:
        return reshape(arr, shape)
    values = broadcast_to_shape(values, wanted)
    rows = column(broadcast_to_shape(indices, wanted))
    others = tuple([d for d in range(t.ndim) if d != axis])
    numbers = ScatterDimensionNumbers((), (axis,), (axis,), others, others)
    out = apply(ScatterSet.of(numbers, mode, False, False, True, asked), arr, rows, values)
    return reshape(out, shape)


# ---- grids and raveled indices ----------------------------------------------------------------


def ix_(*args: Any) -> tuple[Any, ...]:
    """Vectors of indices as an open mesh: ``x[np.ix_(rows, columns)]`` is a sub-matrix.

    Args:
        *args: vectors of integers, or masks that are known while tracing.

    Returns:
        One array an argument; argument k runs along axis k.

    Raises:
        ShapeError: an argument is no vector.
        NonConcreteBooleanIndexError: a traced mask.

    Example:
        >>> import numlift.numpy as np
        >>> [i.shape for i in np.ix_([0, 1], [2, 3, 4])]
        [(2, 1), (1, 3)]
    """
    found = []
    for k, arg in enumerate(args):
        x = as_value(arg, "ix_", f"argument {k}")
        t = type_of(x)
        if t.ndim != 1:
            raise errors.ShapeError(
                errors.explain("ix_", f"argument {k} must be a vector", {f"argument {k}": t})
            )
        if t.kind == "b":
            x = _mask_indices(x)
        elif isinstance(x, np.ndarray) and not x.size:
            x = x.astype(type_of(0).dtype)
        shape = [1] * len(args)
        shape[k] = type_of(x).shape[0]
        found.append(apply(Reshape.of(tuple(shape), None), x))
    return tuple(found)


def _mask_indices(mask: Any) -> np.ndarray:
    known = mask.concrete() if isinstance(mask, Tracer) else mask
    if known is None or isinstance(known, Tracer):
        raise errors.NonConcreteBooleanIndexError(
            errors.explain(
                "ix_", "a mask must be known while tracing", {"mask": type_of(mask)},
                try_="indices instead of a mask",
            )
        )  # fmt: skip
    return np.nonzero(np.asarray(known))[0].astype(type_of(0).dtype)


@explains
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """Positions in a flattened array as indices of each axis.

    Args:
        indices: integers; negative ones count from the end. Those out of bounds are an error if
            Python knows them (numbers, lists, NumPy arrays); others are clamped.
        shape: shape of the array that was flattened.
        order: "C": the last axis changes fastest; "F": the first.

    Returns:
        One array of indices an axis.

    Raises:
        DTypeError: the indices are no integers.
        ValueArgumentError: an index that Python knows is out of bounds.

    Differences from NumPy: negative indices are allowed, and an array on a device is not checked.

    Example:
        >>> import numlift.numpy as np
        >>> print(*np.unravel_index(7, (3, 4)))
        1 3
    """
    sizes = static_ints("unravel_index", "shape", shape)
    need_word("unravel_index", "order", order)
    if order not in ("C", "F"):
        raise errors.ValueArgumentError(
            errors.explain("unravel_index", f"order must be 'C' or 'F', not {order!r}")
        )
    indices = integer_indices("unravel_index", indices)
    try:
        check_known("unravel_index", indices, math.prod(sizes), None, "an index of that array")
    except errors.IndexingError as error:  # NumPy's class
        raise errors.ValueArgumentError(str(error)) from None
    found = _unravel(indices, sizes[:: -1 if order == "F" else 1])
    return tuple(reversed(found) if order == "F" else found)


@library()
def _unravel(indices: Any, sizes: tuple[int, ...]) -> list[Any]:
    total = math.prod(sizes)
    t = type_of(indices)
    if total > np.iinfo(t.dtype).max:
        check_integer("unravel_index", total)
        small = total <= np.iinfo(np.int32).max
        indices = convert(indices, np.dtype(np.int32) if small else python_scalar_dtype(int))
        t = type_of(indices)
    number = t.dtype.type
    if t.kind == "i":
        low = max(-total, int(np.iinfo(t.dtype).min))
        indices = apply(clamp, number(low), indices, number(max(total - 1, 0)))
        wrapped = apply(add, indices, number(total))
        indices = apply(select, apply(lt, indices, number(0)), indices, wrapped)
    else:
        indices = apply(clamp, number(0), indices, number(max(total - 1, 0)))
    found = []
    for n in reversed(sizes[1:]):
        size = number(max(n, 1))
        found.append(apply(rem, indices, size))
        indices = apply(div, indices, size)
    if sizes:
        found.append(indices)
    return found[::-1]


@explains
def ravel_multi_index(
    multi_index: Sequence[Any],
    dims: Any,
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: Any = None,
) -> Any:
    """Indices of each axis as positions in the flattened array.

    Args:
        multi_index: one array of integers an axis; they broadcast.
        dims: shape of the array.
        mode: out of bounds: ``"raise"`` (needs known indices), ``"wrap"`` or ``"clip"``.
        order: ``"C"`` (row-major) or ``"F"``.
        dtype: dtype of the result; None is that of the indices.

    Returns:
        Array of positions.

    Raises:
        ValueArgumentError: out of bounds in mode "raise"; unknown mode or order.
        ConcretizationTypeError: traced indices in mode "raise".
        DTypeError: the indices are no integers.
        ShapeError: another number of arrays than of sizes.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.ravel_multi_index((np.array([1, 2]), np.array([3, 0])), (3, 4)))
        [7 8]
    """
    sizes = static_ints("ravel_multi_index", "dims", dims)
    need_word("ravel_multi_index", "mode", mode)
    need_word("ravel_multi_index", "order", order)
    if mode not in ("raise", "wrap", "clip") or order not in ("C", "F"):
        raise errors.ValueArgumentError(
            errors.explain(
                "ravel_multi_index",
                'mode is "raise", "wrap" or "clip", and order is "C" or "F"',
                {"mode": mode, "order": order},
            )
        )
    if len(multi_index) != len(sizes):
        raise errors.ShapeError(
            errors.explain(
                "ravel_multi_index",
                f"one array of indices for each of {len(sizes)} axes, got {len(multi_index)}",
            )
        )
    entries = [integer_indices("ravel_multi_index", i) for i in multi_index]
    if mode == "raise":
        for axis, (i, n) in enumerate(zip(entries, sizes, strict=True)):
            _check_bounds(i, n, axis)
    if dtype is not None:
        dtype = user_dtype(dtype, "ravel_multi_index")
    return _ravel(tuple(entries), sizes, mode, order, dtype)


def _check_bounds(indices: Any, size: int, axis: int) -> None:
    known = indices.concrete() if isinstance(indices, Tracer) else indices
    if known is None or isinstance(known, Tracer):
        raise errors.ConcretizationTypeError(
            errors.explain(
                "ravel_multi_index",
                'mode "raise" needs indices that are known while tracing',
                {"indices": type_of(indices)},
                try_='mode="clip" or mode="wrap"',
            )
        )
    found = np.asarray(known)
    if np.any((found < 0) | (found >= size)):
        raise errors.ValueArgumentError(
            errors.explain(
                "ravel_multi_index",
                f"an index is out of bounds for axis {axis} with size {size}",
                {"indices": found},
                try_='mode="clip" or mode="wrap"',
            )
        )


@library()
def _ravel(
    entries: tuple[Any, ...], sizes: tuple[int, ...], mode: str, order: str, dtype: Any
) -> Any:
    from_shape = broadcast_shape("ravel_multi_index", *[type_of(i).shape for i in entries] or [()])
    total: Any = None
    stride = 1
    pairs = list(zip(entries, sizes, strict=True))
    for i, n in pairs if order == "F" else reversed(pairs):
        t = type_of(i)
        if mode == "wrap":
            i = remainder(i, size_like(t, n))
        elif mode == "clip":
            high = min(max(n - 1, 0), int(np.iinfo(t.dtype).max))
            i = apply(clamp, t.dtype.type(0), i, t.dtype.type(high))
        i = convert(broadcast_to_shape(i, from_shape), dtype or _position_dtype(entries, sizes))
        term = i if stride == 1 else apply(mul, i, type_of(i).dtype.type(stride))
        total = term if total is None else apply(add, total, term)
        stride *= n
    return np.int32(0) if total is None else total


def _position_dtype(entries: Sequence[Any], sizes: Sequence[int]) -> Any:
    """The indices' common dtype, or int32 where positions would not fit."""
    common = np.result_type(*[type_of(i).dtype for i in entries])
    fits = math.prod(sizes) - 1 <= np.iinfo(common).max
    return type_of(common.type(0)).dtype if fits else np.dtype(np.int32)


__all__ = [
    "ix_",
    "put_along_axis",
    "ravel_multi_index",
    "take",
    "take_along_axis",
    "unravel_index",
]
