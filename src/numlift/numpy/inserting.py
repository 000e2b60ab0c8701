"""Elements put in and taken out: append, insert, delete."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.dims import Dim
from ..core.integers import check_number
from ..core.tracing import Tracer, apply, type_of
from ..core.types import array_type
from ..ops.cumulative import CumSum
from ..ops.indices import FILL_OR_DROP, ScatterDimensionNumbers
from ..ops.scatter import ScatterSet
from ..ops.shape import Iota
from ..structural.arith import convert, select, sub
from ..structural.shape import Reshape, full
from .joining import joined
from .manipulation import reshape
from .pieces import concrete_array, moved, part, reshape_to, take, take_static
from .util import as_value, broadcast_to_shape, check_axis, promote

_INT = np.dtype(np.int32)


@library(arrays=2)
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Values after those of an array, along an axis.

    Args:
        arr: array of any shape and dtype.
        values: array of the same shape except along `axis`; any shape if axis is None.
        axis: int, the axis to join along; None flattens both.

    Returns:
        Array of the promoted dtype, longer than `arr` along the axis. Derivatives go to both.

    Raises:
        ShapeError: shapes do not fit.  AxisError: the axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.append(np.array([1, 2]), 3))
        [1 2 3]
        >>> print(np.append(np.array([[1, 2]]), np.array([[3, 4]]), axis=0))
        [[1 2]
         [3 4]]
    """
    xs = promote(as_value(arr, "append", "arr"), as_value(values, "append", "values"))
    if axis is None:
        xs, axis = [reshape_to(x, (type_of(x).size,)) for x in xs], 0
    return joined("append", xs, axis)


def _positions(function: str, obj: Any, n: int, ends: bool) -> tuple[np.ndarray, bool]:
    """Non-negative indices that `obj` names, and whether it is one number."""
    if type(n) is Dim:
        raise errors.InconclusiveDimensionOperation(
            errors.explain(
                function,
                f"the axis must have a number for its size, not {n}",
                {"obj": obj},
                try_="np.concatenate of slices such as x[:i], values, x[i:]",
            )
        )
    if isinstance(obj, slice):
        return np.arange(*obj.indices(n)), False
    found = concrete_array(function, obj, "obj", "it gives the size of the result")
    if found.dtype.kind == "b":
        if found.shape != (n,):
            raise errors.ShapeError(
                errors.explain(function, f"a mask must have {n} entries", {"obj": found})
            )
        return np.flatnonzero(found), False
    if found.size == 0:
        return np.zeros(0, np.int64), False
    if found.dtype.kind not in "iu" or found.ndim > 1:
        raise errors.IndexingError(
            errors.explain(function, "obj must be an int, ints, a mask or a slice", {"obj": obj})
        )
    limit = n + ends
    if found.min() < -n or found.max() >= limit:
        raise errors.IndexingError(
            errors.explain(
                function, f"an index is out of range for an axis of size {n}", {"obj": obj}
            )
        )
    found = found.astype(np.int64)
    return np.atleast_1d(np.where(found < 0, found + n, found)), found.ndim == 0


@explains
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """`values` put in before the given positions.

    Args:
        arr: array.
        obj: int, ints, mask or slice: positions in `arr`, known now.
        values: one value for all positions, or one for each.
        axis: the axis; None flattens `arr`.

    Returns:
        Array with the dtype of `arr`.

    Raises:
        IndexingError: a position is out of range.  ConcretizationTypeError: `obj` is traced.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.insert(np.array([1, 2, 3]), 1, 9))
        [1 9 2 3]
    """
    x, values = as_value(arr, "insert", "arr"), as_value(values, "insert", "values")
    if axis is None:
        x, axis = reshape_to(x, (type_of(x).size,)), 0
    check_number("insert", values, type_of(x))
    axis = check_axis("insert", axis, type_of(x).ndim)
    where, single = _positions("insert", obj, type_of(x).shape[axis], True)
    return _insert(x, values, tuple(where.tolist()), single, axis)


@library(arrays=2)
def _insert(x: Any, values: Any, where: tuple[int, ...], single: bool, axis: int) -> Any:
    t = type_of(x)
    n, rank = t.shape[axis], t.ndim
    v = convert(values, t.dtype)
    v = reshape(v, (1,) * (rank - type_of(v).ndim) + type_of(v).shape)
    if single:
        # NumPy: a single position takes all of `values` along the axis.
        v = moved(v, 0, axis) if type_of(values).ndim else v
        count = type_of(v).shape[axis]
        where = where * count
    else:
        count = len(where)
    v = broadcast_to_shape(v, (*t.shape[:axis], count, *t.shape[axis + 1 :]))
    order = np.argsort(np.asarray(where, np.int64), kind="stable")
    pieces, last, i = [], 0, 0
    while i < count:
        at = where[order[i]]
        if at > last:
            pieces.append(part(x, axis, last, at))
        j = i
        while j + 1 < count and where[order[j + 1]] == at and order[j + 1] == order[j] + 1:
            j += 1
        pieces.append(part(v, axis, int(order[i]), int(order[j]) + 1))
        last, i = at, j + 1
    if last < n or not pieces:
        pieces.append(part(x, axis, last, n))
    return joined("insert", pieces, axis)


@explains
def delete(
    arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False
) -> Any:
    """The array without the elements at the given positions.

    Args:
        arr: array of any shape and dtype.
        obj: int, ints, mask or slice. May be traced if it is an int, or if it is an array of ints
            and `assume_unique_indices` is set.
        axis: int, the axis; None flattens `arr`.
        assume_unique_indices: you promise that no position is named twice.

    Returns:
        Array of the dtype of `arr`, shorter along the axis. The derivative goes to the elements
        that stay.

    Raises:
        IndexingError: a position is out of range.
        ConcretizationTypeError: `obj` is traced and the size of the result depends on it.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.delete(np.array([1, 2, 3, 4]), [0, -1]))
        [2 3]
    """
    x = as_value(arr, "delete", "arr")
    if axis is None:
        x, axis = reshape_to(x, (type_of(x).size,)), 0
    axis = check_axis("delete", axis, type_of(x).ndim)
    if (
        _is_traced(obj)
        and type_of(obj).kind in "iu"
        and (assume_unique_indices or type_of(obj).ndim == 0)
    ):
        return _delete_traced(x, obj, axis)
    n = type_of(x).shape[axis]
    where, _ = _positions("delete", obj, n, False)
    keep = np.setdiff1d(np.arange(n), where)
    return _keep(x, tuple(keep.tolist()), axis)


def _is_traced(x: Any) -> bool:
    return isinstance(x, Tracer) and x.concrete() is None


@library()
def _keep(x: Any, keep: tuple[int, ...], axis: int) -> Any:
    return (
        reshape_to(x, type_of(x).shape)
        if len(keep) == type_of(x).shape[axis]
        else take_static(x, np.asarray(keep, np.int64), axis)
    )


def _delete_traced(x: Any, obj: Any, axis: int) -> Any:
    """Delete at traced positions, no two of which are equal."""
    n, k = type_of(x).shape[axis], type_of(obj).size
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    put = ScatterSet.of(numbers, FILL_OR_DROP, False, False, True)
    kept = apply(
        put,
        full(array_type((n,), _INT), 1),
        apply(Reshape.of((k, 1), None), convert(obj, _INT)),
        full(array_type((k,), _INT), 0),
    )
    # A kept element goes as far forward as the number of kept elements before it; others to n.
    rank = apply(sub, apply(CumSum.of(0, False), kept), np.int32(1))
    place = apply(select, convert(kept, np.dtype(bool)), np.int32(n), rank)
    source = apply(
        ScatterSet.of(numbers, FILL_OR_DROP, False, False, False),
        full(array_type((n - k,), _INT)),
        apply(Reshape.of((n, 1), None), place),
        apply(Iota.of(_INT, (n,), 0, None)),
    )
    return take(x, source, axis)


__all__ = [
    "append",
    "delete",
    "insert",
]
