"""Sets of elements: unique, union1d, intersect1d, setdiff1d, setxor1d, isin.

How many elements a set has depends on values. Outside of jit sets are found on the host; inside,
`size=` says how many elements to return, and `fill_value` pads.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.dtype_kinds import is_native
from ..core.tracing import Tracer, apply, type_of
from ..ops.compare import eq, lt, ne
from ..ops.cumulative import CumSum
from ..ops.elementwise_binary import and_, not_, or_
from ..ops.indices import GatherScatterMode, ScatterDimensionNumbers
from ..ops.scatter import ScatterSet
from ..ops.shape import Concatenate, Iota
from ..ops.sorting import ArgSort
from ..runtime.transfer import as_array
from ..structural.arith import convert, select, sub
from ..structural.shape import reshape
from . import host_searching
from .binary_search import FEW, any_equal, insertion_points
from .host_sorting import described, different
from .nonzero import first_true, handed, known, static_size
from .operands import within
from .pieces import moved, part, take
from .reducing import as_dtype, constant, flat, int_dtype, is_nan
from .sorting import check_method
from .util import as_value, broadcast_to_shape, check_axis, promote


@explains
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """The different elements, in ascending order.

    Args:
        ar: array.
        return_index: also return where each element occurs first.
        return_inverse: also return indices that rebuild `ar` from the result.
        return_counts: also return how often each element occurs.
        axis: int compares whole slices along this axis; None the elements of the flattened array.
        equal_nan: whether NaNs count as one element.
        size: how many to return; needed under jit. Too few are padded with `fill_value`.
        fill_value: default: the least element.
        sorted: accepted for compatibility: the result is always in order.

    Returns:
        The elements, or a tuple (elements, index, inverse, counts) of what was asked for.

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.unique(np.asarray([3, 1, 3])))
        [1 3]
    """
    x = as_value(ar, "unique", "ar")
    wanted = (True, return_index, return_inverse, return_counts)
    if axis is not None:
        axis = check_axis("unique", axis, type_of(x).ndim)
    if size is None:
        found = _unique_known(x, axis, equal_nan, return_index or return_inverse)
    else:
        n = static_size("unique", size)
        found = _unique_sized(x, fill_value, n, axis, bool(equal_nan))
    chosen = tuple(f for f, w in zip(found, wanted, strict=True) if w)
    return chosen if len(chosen) > 1 else chosen[0]


def _unique_known(
    x: Any, axis: int | None, equal_nan: bool, places: bool = True
) -> tuple[Any, ...]:
    """(elements, first index, inverse, counts); without `places` index and inverse may be None."""
    t, dtype = type_of(x), int_dtype()
    host = known("unique", x, "ar")
    real = axis is None and t.kind in "biuf" and is_native(t.dtype)
    if real and not places and not isinstance(x, Tracer):
        simple = different(host.reshape(-1), equal_nan)
        if simple is not None:
            return handed(simple[0]), None, None, handed(simple[1], dtype)
    if real and 0 < t.size < 2**31:
        values, index, inverse, counts = described(host.reshape(-1), equal_nan)
        inverse = inverse.reshape(t.shape)
    else:
        values, index, inverse, counts = np.unique(
            host, True, True, True, axis, equal_nan=equal_nan
        )
    index, inverse, counts = (handed(v, dtype) for v in (index, inverse, counts))
    if isinstance(x, Tracer):
        source = flat(x) if axis is None else x
        return take(source, index, axis or 0), index, inverse, counts
    return handed(values, t.dtype), index, inverse, counts


@library(2)
def _unique_sized(
    x: Any, fill: Any, size: int, axis: int | None, equal_nan: bool
) -> tuple[Any, ...]:
    """(elements, first index, inverse, counts), with `size` elements."""
    t, dtype = type_of(x), int_dtype()
    rows = reshape(x, (t.size, 1)) if axis is None else moved(x, axis, 0)
    shape = type_of(rows).shape
    n, width = shape[0], math.prod(shape[1:])
    tail = () if axis is None else shape[1:]
    rows = reshape(rows, (n, width))
    if n == 0:
        if size:
            raise errors.ShapeError(
                errors.explain(
                    "unique", "an empty array has no elements to return", {"ar": t, "size": size}
                )
            )
        empty = constant((0,), dtype, 0)
        values = reshape(rows, (0, *tail))
        return values if axis is None else moved(values, 0, axis), empty, empty, empty
    order, first, rank = _runs(rows, n, width, equal_nan)
    starts, count = first_true(first, size)
    real = apply(lt, apply(Iota.of(dtype, (size,), 0, None)), count)
    safe = apply(select, real, dtype.type(0), starts)
    index = take(convert(order, dtype), safe, 0)
    values = take(rows, index, 0)
    if fill is not None:
        fill = as_dtype(as_value(fill, "unique", "fill_value"), t.dtype)
        mask = broadcast_to_shape(reshape(real, (size, 1)), (size, width))
        values = apply(select, mask, broadcast_to_shape(fill, (size, width)), values)
    values = reshape(values, (size, *tail))
    if axis is not None:
        values = moved(values, 0, axis)
    inverse = _placed(rank, order, n)
    if axis is None:
        inverse = reshape(inverse, t.shape)
    ends = part(first_true(first, size + 1)[0], 0, 1, size + 1)
    counts = apply(select, real, dtype.type(0), apply(sub, ends, starts))
    return values, index, inverse, counts


def _runs(rows: Any, n: int, width: int, equal_nan: bool) -> tuple[Any, Any, Any]:
    """Order that sorts the rows, where a new row begins in that order, and its number."""
    columns = [reshape(part(rows, 1, i, i + 1), (n,)) for i in range(width)]
    dtype = int_dtype()
    if not columns:
        columns = [constant((n,), dtype, 0)]
    order = apply(ArgSort.of(0), *columns)
    changed = None
    for column in columns:
        x = take(column, order, 0)
        left, right = part(x, 0, 0, n - 1), part(x, 0, 1, n)
        differs = apply(ne, left, right)
        if equal_nan and type_of(x).inexact:
            both = apply(and_, is_nan(left), is_nan(right))
            differs = apply(and_, differs, apply(not_, both))
        changed = differs if changed is None else apply(or_, changed, differs)
    first = apply(Concatenate.of(0), constant((1,), np.bool_, True), changed)
    rank = apply(CumSum.of(0, False), convert(first, dtype))
    return order, first, apply(sub, rank, dtype.type(1))


def _placed(values: Any, order: Any, n: int) -> Any:
    """Vector whose element order[i] is values[i]."""
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    op = ScatterSet.of(numbers, GatherScatterMode.PROMISE_IN_BOUNDS, True)
    empty = constant((n,), type_of(values).dtype, 0)
    return apply(op, empty, reshape(order, (n, 1)), values)


class UniqueAll(NamedTuple):
    """Result of `unique_all`."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """Result of `unique_counts`."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """Result of `unique_inverse`."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """The different elements in ascending order, their first places, the inverse, and the counts.

    Args:
        x: array of any shape and dtype, flattened; each NaN is an element of its own.
        size: int, how many to return; needed under jit. Too few are padded.
        fill_value: number that pads the values; None is the least element.

    Returns:
        Named tuple: `values`; `indices`, the first position of each value in the flattened x;
        `inverse_indices` of the shape of x, with ``values[inverse_indices] == x``; `counts`. All
        but `values` are int32 (int64 with x64 on).

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> found = np.unique_all(np.asarray([3, 1, 3]))
        >>> print(found.values, found.indices, found.inverse_indices, found.counts)
        [1 3] [1 0] [1 0 1] [1 2]
    """
    found = unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    return UniqueAll(*found)


def unique_counts(x: Any, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """The different elements in ascending order, and how often each occurs.

    Args:
        x: array of any shape and dtype, flattened; each NaN is an element of its own.
        size: int, how many to return; needed under jit. Too few are padded, with counts of 0.
        fill_value: number that pads the values; None is the least element.

    Returns:
        Named tuple of vectors: `values`, and `counts` in int32 (int64 with x64 on).

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> found = np.unique_counts(np.asarray([3, 1, 3]), size=3, fill_value=0)
        >>> print(found.values, found.counts)
        [1 3 0] [1 2 0]
    """
    found = unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    return UniqueCounts(*found)


def unique_inverse(x: Any, *, size: int | None = None, fill_value: Any = None) -> UniqueInverse:
    """The different elements in ascending order, and the indices that rebuild the array from them.

    Args:
        x: array of any shape and dtype, flattened; each NaN is an element of its own.
        size: int, how many to return; needed under jit. Too few are padded.
        fill_value: number that pads the values; None is the least element.

    Returns:
        Named tuple: the vector `values`, and `inverse_indices` of the shape of x in int32 (int64
        with x64 on), with ``values[inverse_indices] == x``.

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> found = np.unique_inverse(np.asarray([30, 10, 30]))
        >>> print(found.values, found.inverse_indices)
        [10 30] [1 0 1]
    """
    found = unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    return UniqueInverse(*found)


def unique_values(x: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements in ascending order.

    Args:
        x: array of any shape and dtype, flattened; each NaN is an element of its own.
        size: int, how many to return; needed under jit. Too few are padded.
        fill_value: number that pads the values; None is the least element.

    Returns:
        Vector of the dtype of x.

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.unique_values(np.asarray([3, 1, 3])))
        [1 3]
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def _vectors(function: str, *arrays: Any) -> list[Any]:
    xs = promote(*[as_value(a, function, f"ar{i + 1}") for i, a in enumerate(arrays)])
    return [flat(_narrow(x)) for x in xs]


def _narrow(x: Any) -> Any:
    """NumPy arrays in the dtype that they have here, so that equal elements stay equal."""
    return x.astype(type_of(x).dtype) if isinstance(x, np.ndarray) else x


@explains
def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements of both arrays together, in ascending order.

    Args:
        ar1: array of any shape, flattened.
        ar2: array of any shape, flattened.
        size: int, how many to return; needed under jit. Too few are padded.
        fill_value: number that pads the result; None is the least element.

    Returns:
        Vector of the promoted dtype.

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.union1d(np.asarray([3, 1]), np.asarray([1, 2])))
        [1 2 3]
    """
    x, y = _vectors("union1d", ar1, ar2)
    return unique(apply(Concatenate.of(0), x, y), size=size, fill_value=fill_value)


def _padded_choice(
    values: Any, keep: Any, size: int, fill_value: Any, others: tuple[Any, ...] = ()
) -> list[Any]:
    """The first `size` elements that `keep` marks, of several vectors; padded."""
    places, count = first_true(keep, size)
    dtype = type_of(places).dtype
    real = apply(lt, apply(Iota.of(dtype, (size,), 0, None)), count)
    safe = apply(select, real, dtype.type(0), places)
    found = []
    for x, fill in ((values, fill_value), *others):
        t = type_of(x)
        if not t.size:
            found.append(constant((size,), t.dtype, 0 if fill is None else fill))
            continue
        taken = take(x, safe, 0)
        if fill is None:
            filler = broadcast_to_shape(part(taken, 0, 0, min(1, size)), (size,))
        else:
            filler = broadcast_to_shape(
                as_dtype(as_value(fill, "set", "fill_value"), t.dtype), (size,)
            )
        found.append(apply(select, real, filler, taken))
    return found


@explains
def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The different elements that both arrays have, in ascending order.

    Args:
        ar1: array of any shape, flattened.
        ar2: array of any shape, flattened.
        assume_unique: no array holds an element twice, which saves work outside of jit.
        return_indices: also return where each element occurs first in both arrays.
        size: int, how many to return; needed under jit. Too few are padded.
        fill_value: number that pads the elements; None is the first of them. Indices are padded
            with the sizes of the arrays.

    Returns:
        Vector of the promoted dtype, or a tuple of it and two int32 vectors (int64 with x64 on).

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.intersect1d(np.asarray([3, 1, 2]), np.asarray([1, 3])))
        [1 3]
    """
    x, y = _vectors("intersect1d", ar1, ar2)
    if size is None:
        a, b = known("intersect1d", x, "ar1"), known("intersect1d", y, "ar2")
        values, i, j = np.intersect1d(a, b, assume_unique, return_indices=True)
        dtype = int_dtype()
        i, j = as_array(i.astype(dtype)), as_array(j.astype(dtype))
        out = take(x, i, 0) if isinstance(x, Tracer) else as_array(values)
    else:
        out, i, j = _intersect(x, y, fill_value, static_size("intersect1d", size))
    return (out, i, j) if return_indices else out


@library(3)
def _intersect(x: Any, y: Any, fill: Any, size: int) -> Any:
    n, m = type_of(x).size, type_of(y).size
    if not n or not m:
        end = [constant((size,), int_dtype(), k) for k in (n, m)]
        return constant((size,), type_of(x).dtype, 0 if fill is None else fill), *end
    dtype = int_dtype()
    order_x, first, _ = _runs(reshape(x, (n, 1)), n, 1, True)
    order_y = apply(ArgSort.of(0), y)
    xs, ys = take(x, order_x, 0), take(y, order_y, 0)
    places = insertion_points(ys, xs, "left")
    u = type_of(places).dtype
    safe = apply(select, apply(lt, places, u.type(m)), u.type(m - 1), places)
    both = apply(and_, first, apply(eq, take(ys, safe, 0), xs))
    where_y = convert(take(order_y, safe, 0), dtype)
    return tuple(_padded_choice(xs, both, size, fill, ((convert(order_x, dtype), n), (where_y, m))))


@explains
def setdiff1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The different elements of the first array that the second does not have, in ascending order.

    Args:
        ar1: array of any shape, flattened.
        ar2: array of any shape, flattened.
        assume_unique: keep order and repeated elements of `ar1`.
        size: int, how many to return; needed under jit. Too few are padded.
        fill_value: number that pads the result; None is 0.

    Returns:
        Vector of the promoted dtype.

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.setdiff1d(np.asarray([3, 1, 3, 2]), np.asarray([1])))
        [2 3]
        >>> print(np.setdiff1d(np.asarray([3, 1, 3, 2]), np.asarray([1]), assume_unique=True))
        [3 3 2]
    """
    x, y = _vectors("setdiff1d", ar1, ar2)
    if size is None:
        found = np.setdiff1d(known("setdiff1d", x, "ar1"), known("setdiff1d", y, "ar2"),
                             assume_unique)  # fmt: skip
        return as_array(found)
    fill = 0 if fill_value is None else fill_value
    return _difference(x, y, fill, static_size("setdiff1d", size), bool(assume_unique))


@library(3)
def _difference(x: Any, y: Any, fill: Any, size: int, assume_unique: bool) -> Any:
    n = type_of(x).size
    keep = None
    if not assume_unique and n:
        order, keep, _ = _runs(reshape(x, (n, 1)), n, 1, True)
        x = take(x, order, 0)
    missing = apply(not_, _is_in(x, y))
    keep = missing if keep is None else apply(and_, keep, missing)
    return _padded_choice(x, keep, size, fill)[0]


@explains
def setxor1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The different elements that only one of the arrays has, in ascending order.

    Args:
        ar1: array of any shape, flattened.
        ar2: array of any shape, flattened.
        assume_unique: no array holds an element twice.
        size: int, how many to return; needed under jit. Too few are padded.
        fill_value: number that pads the result; None is its first element.

    Returns:
        Vector of the promoted dtype.

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.setxor1d(np.asarray([3, 1]), np.asarray([1, 2])))
        [2 3]
    """
    x, y = _vectors("setxor1d", ar1, ar2)
    if size is None:
        a, b = known("setxor1d", x, "ar1"), known("setxor1d", y, "ar2")
        return as_array(np.setxor1d(a, b, assume_unique))
    return _exclusive(x, y, fill_value, static_size("setxor1d", size))


@library(3)
def _exclusive(x: Any, y: Any, fill: Any, size: int) -> Any:
    alone = apply(Concatenate.of(0), apply(not_, _is_in(x, y)), apply(not_, _is_in(y, x)))
    both = apply(Concatenate.of(0), x, y)
    n = type_of(both).size
    order, first, _ = _runs(reshape(both, (n, 1)), n, 1, True)
    keep = apply(and_, first, take(alone, order, 0))
    return _padded_choice(take(both, order, 0), keep, size, fill)[0]


_IN_METHODS = ("auto", "compare_all", "binary_search", "sort")


@explains
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
    method: str = "auto",
) -> Any:
    """Whether each element occurs in another array; NaN equals nothing.

    Args:
        element: array of any shape and dtype.
        test_elements: array of any shape, flattened.
        assume_unique: accepted for compatibility.
        invert: return the opposite.
        kind: accepted: None, "sort" or "table"; all give the same.
        method: accepted for compatibility: "auto", "compare_all", "binary_search" or "sort".

    Returns:
        Array of bools of the shape of `element`.

    Raises:
        ValueArgumentError: unknown kind or method.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.isin(np.asarray([[1, 2], [3, 4]]), np.asarray([3, 1])))
        [[ True False]
         [ True False]]
    """
    check_method("isin", method, _IN_METHODS)
    if kind not in (None, "sort", "table"):
        raise errors.ValueArgumentError(
            errors.explain("isin", f"Invalid kind: {kind!r}", try_="kind=None, 'sort' or 'table'")
        )
    return _isin(element, test_elements, bool(invert))


@library(2, host=host_searching.isin)
def _isin(element: Any, test_elements: Any, invert: bool) -> Any:
    x, y = as_value(element, "isin", "element"), as_value(test_elements, "isin", "test_elements")
    x, y = promote(within(x, y), within(y, x))
    found = _is_in(x, flat(y))
    return apply(not_, found) if invert else found


def _is_in(x: Any, y: Any) -> Any:
    t, n = type_of(x), type_of(y).size
    if n == 0:
        return constant(t.shape, np.bool_, False)
    if n <= FEW:
        return any_equal(x, y)
    ordered = take(y, apply(ArgSort.of(0), y), 0)
    places = insertion_points(ordered, x, "left")
    u = type_of(places).dtype
    safe = apply(select, apply(lt, places, u.type(n)), u.type(n - 1), places)
    there = reshape(take(ordered, flat(safe), 0), t.shape)
    return apply(eq, there, x)


__all__ = [
    "intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip
