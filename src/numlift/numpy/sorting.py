"""Sorting and searching in sorted arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.tracing import Value, apply, type_of
from ..lax.arguments import static_int
from ..ops.compare import le
from ..ops.elementwise_binary import not_
from ..ops.shape import Rev
from ..ops.sorting import ArgSort, Sort, take_sorted
from ..structural.arith import convert, select, sub
from ..structural.shape import reshape
from . import host_kernels, host_searching
from .binary_search import insertion_points
from .host_values import need_monotonic
from .operands import within
from .pieces import take
from .reducing import asked_dtype, flat, int_dtype
from .util import as_value, check_axis, need_word, promote

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _options(function: str, kind: Any, order: Any, stable: Any) -> None:
    if kind is not None:
        need_word(function, "kind", kind)
    if kind not in _KINDS:
        raise errors.ValueArgumentError(
            errors.explain(
                function, f"kind must be one of {_KINDS[1:]}", {"kind": kind},
                try_="leave it out: every sort is stable",
            )
        )  # fmt: skip
    if order is not None:
        raise errors.ValueArgumentError(
            errors.explain(function, "order must be None: arrays have no fields", {"order": order})
        )


def _axis(function: str, x: Any, axis: Any) -> tuple[Any, int]:
    if axis is None:
        return flat(x), 0
    t = type_of(x)
    if t.ndim == 0:
        raise errors.AxisError(
            errors.explain(function, f"axis {axis} is out of range for a scalar", {"a": t},
                           try_="axis=None")
        )  # fmt: skip
    return x, check_axis(function, axis, t.ndim)


@library(1, host=host_kernels.sort)
def sort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool = True,
    descending: bool = False,
) -> Any:
    """Elements along an axis in ascending order, NaN last.

    Args:
        a: array of any shape and dtype; complex numbers are ordered by real, then imaginary part.
        axis: int; None sorts the flattened array.
        kind: accepted for compatibility; every sort is stable.
        order: must be None: arrays have no fields.
        stable: accepted for compatibility.
        descending: greatest first, NaN first.

    Returns:
        Array of the shape of `a`, or a vector for axis None. The derivative follows the elements;
        equal ones keep their order.

    Raises:
        AxisError: the axis is out of range, or rank 0.  ValueArgumentError: unknown kind.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.sort(np.asarray([3.0, np.nan, 1.0])))
        [ 1.  3. nan]
    """
    _options("sort", kind, order, stable)
    x, axis = _axis("sort", as_value(a, "sort"), axis)
    (out,) = apply(Sort.of(axis, 1), x)
    return apply(Rev.of((axis,)), out) if descending else out


@library(1, host=host_kernels.argsort)
def argsort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool = True,
    descending: bool = False,
    dtype: Any = None,
) -> Any:
    """Indices that sort along an axis; equal elements keep their order, NaN comes last.

    Args:
        a: array of any shape and dtype; complex numbers are ordered by real, then imaginary part.
        axis: int; None sorts the flattened array.
        kind: accepted for compatibility; every sort is stable.
        order: must be None: arrays have no fields.
        stable: accepted for compatibility.
        descending: greatest first, NaN first; equal elements still keep their order.
        dtype: integer dtype of the indices; None is int32 (int64 with x64 on).

    Returns:
        Array of the shape of `a`, or a vector for axis None: ``take_along_axis(a, result, axis)``
        is sorted. It has no derivative.

    Raises:
        AxisError: the axis is out of range, or rank 0.  ValueArgumentError: unknown kind.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.argsort(np.asarray([3, 1, 3, 2])))
        [1 3 0 2]
        >>> print(np.argsort(np.asarray([3, 1, 3, 2]), descending=True))
        [0 2 3 1]
    """
    _options("argsort", kind, order, stable)
    x, axis = _axis("argsort", as_value(a, "argsort"), axis)
    dtype = asked_dtype("argsort", dtype) or int_dtype()
    op = ArgSort.of(axis)
    if not descending:
        return convert(apply(op, x), dtype)
    flip = Rev.of((axis,))
    order_back = apply(flip, apply(op, apply(flip, x)))
    last = np.dtype(np.int32).type(type_of(x).shape[axis] - 1)
    return convert(apply(sub, last, order_back), dtype)


@explains
def lexsort(keys: Any, axis: int = -1) -> Any:
    """Indices that sort by several keys: by the last one, at ties by the one before, and so on.

    Args:
        keys: sequence of arrays of one shape, or an array whose first axis runs over keys.
        axis: int, along which to sort.

    Returns:
        int32 array (int64 with x64 on) of the shape of a key.

    Raises:
        ArgumentError: no keys.  ShapeError: different shapes.  AxisError: out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.lexsort((np.asarray([2, 1, 1]), np.asarray([0, 1, 0]))))
        [2 0 1]
    """
    if not isinstance(keys, (tuple, list)):
        keys = list(as_value(keys, "lexsort", "keys"))
    if not keys:
        raise errors.ArgumentError(
            errors.explain("lexsort", "needs at least one key", {"keys": keys})
        )
    return _lexsort(tuple(keys), axis)


@library(1, host=host_kernels.lexsort)
def _lexsort(keys: tuple[Any, ...], axis: int) -> Any:
    values = [as_value(k, "lexsort", "keys") for k in keys]
    ndim = type_of(values[0]).ndim
    if ndim == 0:
        return convert(0, int_dtype())
    axis = check_axis("lexsort", axis, ndim)
    return convert(apply(ArgSort.of(axis), *reversed(values)), int_dtype())


def sort_complex(a: Any) -> Any:
    """Elements along the last axis in ascending order, as complex numbers.

    They are ordered by real, then imaginary part.

    Args:
        a: array with at least one axis, any dtype.

    Returns:
        Array of the shape of `a`: complex64, or complex128 for numbers of 64 bits.

    Raises:
        AxisError: rank 0.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.sort_complex(np.asarray([2 + 1j, 2 - 1j, 1])))
        [1.+0.j 2.-1.j 2.+1.j]
    """
    return _sort_complex(a)


@library(1)
def _sort_complex(a: Any) -> Any:
    x = as_value(a, "sort_complex")
    if type_of(x).kind != "c":
        wide = type_of(x).dtype.itemsize == 8
        x = convert(x, np.dtype("c16" if wide else "c8"))
    return apply(Sort.of(type_of(x).ndim - 1, 1), x)[0]


def _partition_options(function: str, kind: Any, order: Any) -> None:
    if kind != "introselect":
        raise errors.ValueArgumentError(
            errors.explain(function, 'kind must be "introselect"', {"kind": kind})
        )
    _options(function, None, order, True)


def _check_place(function: str, k: Any, x: Any, axis: int) -> None:
    place, size = static_int(function, "kth", k), type_of(x).shape[axis]
    if type_of(x).size and not -size <= place < size:
        raise errors.ValueArgumentError(
            errors.explain(
                function, f"kth is {place}, but axis {axis} has size {size}", {"a": type_of(x)}
            )
        )


def _partition_axis(function: str, a: Any, kth: Any, axis: Any) -> tuple[Any, int]:
    x, axis = _axis(function, as_value(a, function), axis)
    for k in kth if isinstance(kth, (tuple, list)) else (kth,):
        _check_place(function, k, x, axis)
    return x, axis


@library(1, host=host_kernels.partition)
def partition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Any:
    """Elements along an axis such that the k-th is where sorting puts it, smaller ones before.

    Args:
        a: array of any shape and dtype.
        kth: int or ints, not traced.
        axis: int; None uses the flattened array.
        kind: "introselect", NumPy's one algorithm.
        order: must be None: arrays have no fields.

    Returns:
        Array like `a`. Only the places in `kth` are sure: compiled programs sort everything, and
        eager calls on CPU run NumPy's algorithm. The derivative follows the elements.

    Raises:
        ValueArgumentError: `kth` is out of range.  AxisError: the axis is.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.partition(np.asarray([3, 1, 2]), 1)[1])
        2
    """
    _partition_options("partition", kind, order)
    x, axis = _partition_axis("partition", a, kth, axis)
    return apply(Sort.of(axis, 1), x)[0]


@library(1, host=host_kernels.argpartition)
def argpartition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Any:
    """Indices that `partition` along an axis: number k is that of the k-th least element.

    Args:
        a: array of any shape and dtype.
        kth: int or ints, not traced.
        axis: int; None uses the flattened array.
        kind: "introselect", NumPy's one algorithm.
        order: must be None: arrays have no fields.

    Returns:
        int32 array (int64 with x64 on) of the shape of `a`. As in `partition`, only the places in
        `kth` are sure.

    Raises:
        ValueArgumentError: `kth` is out of range.  AxisError: the axis is.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.argpartition(np.asarray([3, 1, 2]), 1)[1])
        2
    """
    _partition_options("argpartition", kind, order)
    x, axis = _partition_axis("argpartition", a, kth, axis)
    return convert(apply(ArgSort.of(axis), x), int_dtype())


_METHODS = ("scan", "scan_unrolled", "sort", "compare_all", "default")


def check_method(function: str, method: Any, methods: Sequence[str] = _METHODS) -> None:
    """Raise for an unknown `method`."""
    if method not in methods:
        raise errors.ValueArgumentError(
            errors.explain(
                function, f"method must be one of {', '.join(methods)}", {"method": method},
                try_="leave it out: all give the same result",
            )
        )  # fmt: skip


@explains
def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Any:
    """Indices where values would enter a sorted vector so that it stays sorted.

    ``a[i-1] < v <= a[i]`` for "left", ``a[i-1] <= v < a[i]`` for "right".

    Args:
        a: vector in ascending order (NaN last), or in any order with a `sorter`.
        v: array of any shape, the values.
        side: "left" gives the first such index (before equal elements), "right" the last.
        sorter: vector of integers, indices that sort `a`.
        method: accepted for compatibility; a binary search of all values at once is used.

    Returns:
        int32 array (int64 with x64 on) of the shape of `v`.

    Raises:
        ShapeError: `a` is no vector.  ValueArgumentError: unknown side or method.

    Example:
        >>> import numlift.numpy as np
        >>> a, v = np.asarray([1, 3, 5]), np.asarray([3, 4])
        >>> print(np.searchsorted(a, v), np.searchsorted(a, v, side="right"))
        [1 2] [2 2]
    """
    if side not in ("left", "right"):
        raise errors.ValueArgumentError(
            errors.explain("searchsorted", "side must be 'left' or 'right'", {"side": side})
        )
    check_method("searchsorted", method)
    return _searchsorted(a, v, sorter, side)


@library(3, host=host_searching.searchsorted)
def _searchsorted(a: Any, v: Any, sorter: Any, side: str) -> Any:
    x = as_value(a, "searchsorted")
    x, y = promote(x, within(as_value(v, "searchsorted", "v"), x))
    if type_of(x).ndim != 1:
        raise errors.ShapeError(
            errors.explain("searchsorted", "a must have one axis", {"a": type_of(x)})
        )
    if sorter is not None:
        x = take_sorted(x, as_value(sorter, "searchsorted", "sorter"), 0, False)
    return convert(insertion_points(x, y, side), int_dtype())


@explains
def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Any:
    """Index of the bin that each value falls into.

    ``bins[i-1] <= x < bins[i]``, or ``bins[i-1] < x <= bins[i]`` with ``right``.

    Args:
        x: array of any shape, the values.
        bins: vector of edges, ascending or descending.
        right: whether bins include their right edge.
        method: accepted for compatibility, as in `searchsorted`.

    Returns:
        int32 array (int64 with x64 on) of the shape of x, from 0 (below the first edge) to
        ``len(bins)``.

    Raises:
        ShapeError: bins is no vector.  DTypeError: complex values.
        ValueArgumentError: unknown method; bins out of order, if they are a list or NumPy array.

    Differences from NumPy: edges out of order in arrays on devices and in traced ones are not
    found, and give some index: to look at them would wait for the device.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.digitize(np.asarray([0.2, 6.4, 3.0]), np.asarray([0.0, 1.0, 2.5, 4.0])))
        [1 4 3]
    """
    if method is not None:
        check_method("digitize", method)
    if not isinstance(bins, Value):
        need_monotonic("digitize", bins)
    return _digitize(x, bins, bool(right))


@library(2)
def _digitize(x: Any, bins: Any, right: bool) -> Any:
    edges = as_value(bins, "digitize", "bins")
    values, edges = promote(within(as_value(x, "digitize", "x"), edges), edges)
    t = type_of(edges)
    if t.kind == "c":
        raise errors.DTypeError(
            errors.explain(
                "digitize", "complex numbers have no order",
                {"x": type_of(x), "bins": type_of(bins)}, try_="np.digitize(x.real, bins)",
            )
        )  # fmt: skip
    if t.ndim != 1:
        raise errors.ShapeError(errors.explain("digitize", "bins must have one axis", {"bins": t}))
    n = t.shape[0]
    side = "left" if right else "right"
    up = insertion_points(edges, values, side)
    if n < 2:
        return convert(up, int_dtype())
    back = apply(Rev.of((0,)), edges)
    down = insertion_points(back, values, side)
    down = apply(sub, type_of(down).dtype.type(n), down)
    return convert(_choose_direction(edges, up, down, n), int_dtype())


def _choose_direction(edges: Any, up: Any, down: Any, n: int) -> Any:
    """`up` if the edges ascend, else `down`."""
    first = take(edges, np.zeros(1, np.int32), 0)
    last = take(edges, np.full(1, n - 1, np.int32), 0)
    descending = apply(not_, apply(le, first, last))
    which = reshape(descending, ())
    return apply(select, which, up, down)


__all__ = [
    "argpartition", "argsort", "digitize", "lexsort", "partition", "searchsorted", "sort",
    "sort_complex",
]  # fmt: skip
