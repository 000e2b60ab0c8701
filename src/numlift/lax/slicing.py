"""Windows of arrays: slice, dynamic_slice, dynamic_update_slice and their relatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import Value, apply, type_of
from ..core.types import ArrayType
from ..ops.elementwise_binary import max_
from ..ops.gather import Gather
from ..ops.indices import (
    CLIP,
    INT32,
    INT64,
    LARGEST,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
    column,
    signed,
)
from ..ops.scatter import ScatterSet
from ..ops.shape import Concatenate, Squeeze
from ..ops.slicing import DynamicSlice, DynamicUpdateSlice, Slice
from ..structural.arith import convert
from .arguments import axis_in_range, like_operand, static_int, static_ints
from .shape import expand_dims

Allow = bool | Sequence[bool]


def slice(operand: Any, start_indices: Any, limit_indices: Any, strides: Any = None) -> Any:
    """The elements from start (included) to limit (excluded), every stride-th, of each axis.

    Args:
        operand: array.
        start_indices, limit_indices: one entry an axis, ``0 <= start <= limit <= size``.
        strides: one positive entry an axis; None means 1.

    Returns:
        The window.

    Raises:
        ShapeError: an entry is out of bounds or missing. Unlike in Python's ``x[a:b]``, nothing
            is clamped and negative numbers do not count from the end.

    Derivative: linear; the cotangent is padded with zeros.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import slice
        >>> print(slice(np.arange(10), (1,), (8,), (3,)))
        [1 4 7]
    """
    starts = static_ints("slice", "start_indices", start_indices)
    limits = static_ints("slice", "limit_indices", limit_indices)
    if strides is not None:
        strides = static_ints("slice", "strides", strides)
        if all(k == 1 for k in strides) and len(strides) == len(starts):
            strides = None
    return apply(Slice.of(starts, limits, strides), operand)


def slice_in_dim(
    operand: Any,
    start_index: int | None,
    limit_index: int | None,
    stride: int = 1,
    axis: int = 0,
) -> Any:
    """`slice` of one axis; the others are taken whole.

    Args:
        operand: array.
        start_index, limit_index: bounds; negative ones count from the end, None means the end.
        stride: positive step.
        axis: axis to cut.

    Returns:
        The window.

    Raises:
        ShapeError: a bound is out of range, or the stride is not positive.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import slice_in_dim
        >>> print(slice_in_dim(np.arange(5), -3, -1))
        [2 3]
    """
    shape = type_of(operand).shape
    axis = axis_in_range("slice_in_dim", axis, len(shape), operand)
    size = shape[axis]
    start = 0 if start_index is None else static_ints("slice_in_dim", "start", (start_index,))[0]
    limit = size if limit_index is None else static_ints("slice_in_dim", "limit", (limit_index,))[0]
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis] = start + size if start < 0 else start
    limits[axis] = limit + size if limit < 0 else limit
    strides[axis] = static_int("slice_in_dim", "stride", stride)
    return slice(operand, starts, limits, strides)


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """The elements at one static index of an axis.

    Args:
        operand: array.
        index: integer; negative counts from the end.
        axis: axis to index.
        keepdims: keep the axis with size 1.

    Returns:
        The slice.

    Raises:
        IndexingError: the index is out of bounds (also an IndexError).

    Example:
        >>> import numpy as np
        >>> from numlift.lax import index_in_dim
        >>> print(index_in_dim(np.arange(5), -1))
        [4]
    """
    shape = type_of(operand).shape
    axis = axis_in_range("index_in_dim", axis, len(shape), operand)
    (i,) = static_ints("index_in_dim", "index", (index,))
    if not -shape[axis] <= i < shape[axis]:
        raise errors.IndexingError(
            errors.explain(
                "index_in_dim",
                f"index {i} is out of bounds for axis {axis} with size {shape[axis]}",
                {"operand": type_of(operand)},
            )
        )
    i += shape[axis] if i < 0 else 0
    out = slice_in_dim(operand, i, i + 1, 1, axis)
    return out if keepdims else apply(Squeeze.of((axis,)), out)


# ---- dynamic ----------------------------------------------------------------------------------


def _allowed(function: str, allow: Allow, n: int) -> list[bool]:
    if isinstance(allow, bool):
        return [allow] * n
    found = [bool(a) for a in allow]
    if len(found) != n:
        raise errors.ArgumentError(
            errors.explain(
                function,
                f"allow_negative_indices needs one entry for each of {n} axes, got {len(found)}",
            )
        )
    return found


def _static(function: str, i: Any, n: int, window: int, axis: int, allow: bool) -> Any:
    """A start index that is known now, moved into bounds, as int32; None if it is not known."""
    if type(i) is not int and not isinstance(i, np.integer):
        return None
    value = int(i)
    if value < 0:
        if not allow:
            raise errors.ValueArgumentError(
                errors.explain(
                    function,
                    f"start index {value} of axis {axis} is negative, but allow_negative_indices "
                    "is False",
                )
            )
        value += n
    value = max(0, min(value, n - window))
    return np.int64(value) if value > LARGEST else np.int32(value)


def _starts(
    function: str, indices: Any, t: ArrayType, window: Sequence[int], allow: Allow
) -> tuple[list[Any], bool, bool]:
    """Start indices, one an axis; whether all are known now; whether negative ones wrap."""
    if isinstance(indices, np.ndarray):
        indices = list(indices) if indices.ndim else [indices[()]]
    elif isinstance(indices, (int, np.integer)) or type_is_scalar(indices):
        indices = [indices]
    indices = list(indices)
    if len(indices) != t.ndim or len(window) != t.ndim:
        raise errors.ShapeError(
            errors.explain(
                function,
                f"there must be one start index and one size for each of the {t.ndim} axes, got "
                f"{len(indices)} and {len(window)}",
                {"operand": t},
            )
        )
    allowed = _allowed(function, allow, t.ndim)
    wrap = any(allowed)
    known, found = True, []
    for axis, (i, n, m, may) in enumerate(zip(indices, t.shape, window, allowed, strict=True)):
        value = _static(function, i, n, m, axis, may)
        if value is None:
            known = False
            value = i
            u = type_of(i)
            if wrap and not may and u.kind == "i" and not u.ndim:
                value = apply(max_, i, u.dtype.type(0))
        found.append(value)
    return found, known, wrap


def type_is_scalar(x: Any) -> bool:
    """Whether `x` is a traced or device array of rank 0."""
    return isinstance(x, Value) and x.type.ndim == 0


def _as_vector(indices: Any, t: ArrayType, allow: Allow) -> bool:
    """Whether start indices come as one traced or device array, for one gather or scatter."""
    return (
        isinstance(indices, Value)
        and indices.type.shape == (t.ndim,)
        and t.ndim > 0
        and isinstance(allow, bool)
    )


def dynamic_slice(
    operand: Any,
    start_indices: Any,
    slice_sizes: Any,
    *,
    allow_negative_indices: Allow = True,
) -> Any:
    """The window of static sizes at start indices that may be traced.

    A negative start index counts from the end. Then each start is moved such that the window is in
    bounds: ``start = clip(start, 0, size - slice_size)``.

    Args:
        operand: array.
        start_indices: one integer scalar an axis, or a vector of them.
        slice_sizes: static size of the window in each axis.
        allow_negative_indices: False promises that no start index is negative; one entry for all
            axes or each. Negative ones then become 0.

    Returns:
        Array of shape ``slice_sizes``.

    Raises:
        ShapeError: wrong number of entries, or a window larger than the operand.
        DTypeError: start indices are no integers.

    Derivative: linear in operand; start indices have none.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import dynamic_slice
        >>> print(dynamic_slice(np.arange(5), (9,), (2,)))
        [3 4]
    """
    t = type_of(operand)
    sizes = static_ints("dynamic_slice", "slice_sizes", slice_sizes)
    if _as_vector(start_indices, t, allow_negative_indices):
        axes = tuple(range(t.ndim))
        numbers = GatherDimensionNumbers(axes, (), axes)
        wrap = bool(allow_negative_indices)
        op = Gather.of(numbers, sizes, CLIP, None, True, True, wrap, None)
        return apply(op, operand, start_indices)
    starts, known, wrap = _starts("dynamic_slice", start_indices, t, sizes, allow_negative_indices)
    if known and all(0 <= m <= n for m, n in zip(sizes, t.shape, strict=True)):
        begin = tuple([int(s) for s in starts])
        limits = tuple([b + m for b, m in zip(begin, sizes, strict=True)])
        return apply(Slice.of(begin, limits, None), operand)
    return apply(DynamicSlice.of(sizes, wrap), operand, *starts)


def dynamic_slice_in_dim(
    operand: Any,
    start_index: Any,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """`dynamic_slice` of one axis; the others are taken whole.

    Args:
        operand: array.
        start_index: integer scalar, may be traced.
        slice_size: static size of the window.
        axis: axis to cut.
        allow_negative_indices: whether a negative index counts from the end.

    Returns:
        The window.

    Raises:
        ShapeError: the window is larger than the axis.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import dynamic_slice_in_dim
        >>> print(dynamic_slice_in_dim(np.arange(5), -2, 2))
        [3 4]
    """
    shape = type_of(operand).shape
    axis = axis_in_range("dynamic_slice_in_dim", axis, len(shape), operand)
    starts: list[Any] = [0] * len(shape)
    sizes = list(shape)
    starts[axis], sizes[axis] = (
        start_index,
        static_int("dynamic_slice_in_dim", "slice_size", slice_size),
    )
    return dynamic_slice(operand, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """The elements at one index of an axis; the index may be traced.

    Args:
        operand: array.
        index: integer scalar; out of bounds it is clamped.
        axis: axis to index.
        keepdims: keep the axis with size 1.
        allow_negative_indices: whether a negative index counts from the end.

    Returns:
        The slice.

    Raises:
        ShapeError: the axis has size 0.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import dynamic_index_in_dim
        >>> dynamic_index_in_dim(np.zeros((2, 3)), 1, keepdims=False).shape
        (3,)
    """
    axis = axis_in_range("dynamic_index_in_dim", axis, type_of(operand).ndim, operand)
    out = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    return out if keepdims else apply(Squeeze.of((axis,)), out)


def dynamic_update_slice(
    operand: Any, update: Any, start_indices: Any, *, allow_negative_indices: Allow = True
) -> Any:
    """The operand with the window at start indices replaced by an update.

    Start indices behave as in `dynamic_slice`. Inside `jit` it happens in place where XLA can.

    Args:
        operand: array.
        update: array of the same rank and dtype, no larger in any axis.
        start_indices: one integer scalar an axis, or a vector of them; may be traced.
        allow_negative_indices: whether negative indices count from the end.

    Returns:
        Array like the operand.

    Raises:
        ShapeError: rank or sizes do not fit.
        DTypeError: dtypes differ, or start indices are no integers.

    Derivative: linear in operand and update.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import dynamic_update_slice
        >>> print(dynamic_update_slice(np.arange(4), np.array([8, 9]), (9,)))
        [0 1 8 9]
    """
    t = type_of(operand)
    update = like_operand(update, t)
    window = type_of(update).shape
    if _as_vector(start_indices, t, allow_negative_indices) and len(window) == t.ndim:
        axes = tuple(range(t.ndim))
        numbers = ScatterDimensionNumbers(axes, (), axes)
        op = ScatterSet.of(numbers, CLIP, True, True, bool(allow_negative_indices))
        return apply(op, operand, start_indices, update)
    if len(window) != t.ndim:
        window = (0,) * t.ndim
    starts, _, wrap = _starts(
        "dynamic_update_slice", start_indices, t, window, allow_negative_indices
    )
    return apply(DynamicUpdateSlice.of(wrap), operand, update, *starts)


def dynamic_update_slice_in_dim(
    operand: Any,
    update: Any,
    start_index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """`dynamic_update_slice` whose window starts at 0 in all axes but one.

    Args:
        operand: array.
        update: array of the same rank and dtype.
        start_index: integer scalar, may be traced.
        axis: the axis that `start_index` is for.
        allow_negative_indices: whether a negative index counts from the end.

    Returns:
        Array like the operand.

    Raises:
        ShapeError: rank or sizes do not fit.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import dynamic_update_slice_in_dim
        >>> print(dynamic_update_slice_in_dim(np.arange(4), np.array([8, 9]), -2, 0))
        [0 1 8 9]
    """
    ndim = type_of(operand).ndim
    starts: list[Any] = [0] * ndim
    starts[axis_in_range("dynamic_update_slice_in_dim", axis, ndim, operand)] = start_index
    return dynamic_update_slice(
        operand, update, starts, allow_negative_indices=allow_negative_indices
    )


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """The operand with the elements at one index of an axis replaced.

    Args:
        operand: array.
        update: array with the axis of size 1, or without the axis.
        index: integer scalar, may be traced; out of bounds it is clamped.
        axis: axis to index.
        allow_negative_indices: whether a negative index counts from the end.

    Returns:
        Array like the operand.

    Raises:
        ShapeError: rank or sizes do not fit.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import dynamic_update_index_in_dim
        >>> print(dynamic_update_index_in_dim(np.arange(4), 9, 1, 0))
        [0 9 2 3]
    """
    t = type_of(operand)
    axis = axis_in_range("dynamic_update_index_in_dim", axis, t.ndim, operand)
    update = like_operand(update, t)
    if type_of(update).ndim == t.ndim - 1:
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(
        operand, update, index, axis, allow_negative_indices=allow_negative_indices
    )


def index_take(src: Any, idxs: Any, axes: Any) -> Any:
    """The slices of an array at index vectors: ``out[k] = src[..., idxs[0][k], ...]``.

    Args:
        src: array.
        idxs: one vector of integers for each axis in `axes`, all of one length; negative ones
            count from the end, those out of bounds are clamped.
        axes: different axes of src.

    Returns:
        Array of shape ``(len(idxs[0]), *other axes of src)``.

    Raises:
        ShapeError: the vectors have other ranks or different lengths.
        AxisError: an axis is out of range or repeated.

    Derivative: linear in src.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import index_take
        >>> print(index_take(np.arange(6).reshape(2, 3), (np.array([0, 2]),), (1,)))
        [[0 3]
         [2 5]]
    """
    t = type_of(src)
    named = [axis_in_range("index_take", a, t.ndim, src) for a in axes]
    types = [type_of(i) for i in idxs]
    if len(types) != len(named) or not types or any(u.shape != types[0].shape for u in types):
        raise errors.ShapeError(
            errors.explain(
                "index_take",
                "idxs needs one vector for each axis, all of one length",
                {"src": t, **{f"idxs[{i}]": u for i, u in enumerate(types)}},
            )
        )
    if types[0].ndim != 1:
        raise errors.ShapeError(
            errors.explain("index_take", "idxs must hold vectors", {"idxs[0]": types[0]})
        )
    rows = stack_columns(list(idxs))
    sizes = tuple([1 if i in named else n for i, n in enumerate(t.shape)])
    offset = tuple(range(1, 1 + t.ndim - len(named)))
    numbers = GatherDimensionNumbers(offset, tuple(sorted(named)), tuple(named))
    return apply(Gather.of(numbers, sizes, CLIP, None, False, False, True, None), src, rows)


def stack_columns(columns: Sequence[Any]) -> Any:
    """Index arrays of one shape as one array of index vectors (a new last axis)."""
    if all(isinstance(c, np.ndarray) for c in columns):
        return np.stack(columns, -1)
    wide = INT64 if any(type_of(c).dtype.itemsize == 8 for c in columns) else INT32
    parts = [column(c if type_of(c).dtype == wide else convert(signed(c), wide)) for c in columns]
    return parts[0] if len(parts) == 1 else apply(Concatenate.of(type_of(columns[0]).ndim), *parts)


__all__ = [
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "index_in_dim",
    "index_take",
    "slice",
    "slice_in_dim",
]
