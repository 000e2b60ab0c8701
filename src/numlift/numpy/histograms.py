"""Counting: bincount and histograms."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..api.sharding import reshard
from ..core.tracing import Tracer, apply, type_of
from ..lax.arguments import static_int
from ..ops.compare import eq, le, lt
from ..ops.elementwise_binary import and_, div, max_
from ..ops.indices import GatherScatterMode, ScatterDimensionNumbers
from ..ops.reductions import ReduceMax, ReduceMin
from ..ops.scatter import ScatterAdd
from ..runtime.transfer import as_array
from ..structural.arith import add, convert, mul, select, sub
from ..structural.shape import Broadcast, ReduceSum, reshape
from .binary_search import insertion_points
from .nonzero import known
from .pieces import part
from .ranges import linspace
from .reducing import as_dtype, constant, flat, int_dtype
from .util import as_value, broadcast_to_shape, promote, to_inexact


def _add_up(places: Any, amounts: Any, length: int) -> Any:
    """Vector of `length` sums of the amounts that fall on each place; others are dropped."""
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    op = ScatterAdd.of(numbers, GatherScatterMode.FILL_OR_DROP)
    n = type_of(places).size
    amounts = broadcast_to_shape(amounts, (n,))
    return apply(
        op, constant((length,), type_of(amounts).dtype, 0), reshape(places, (n, 1)), amounts
    )


def bincount(
    x: Any,
    weights: Any = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Any = None,
) -> Any:
    """How often each non-negative integer occurs: ``out[i] = sum(weights[x == i])``.

    Args:
        x: vector of integers or bools.
        weights: vector of the same length, what each element counts; None is 1.
        minlength: int, the least length of the result.
        length: int, its exact length; needed under jit. Numbers beyond it are dropped, negative
            ones count as 0.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Vector of ``max(x) + 1`` elements if `length` is None: int32 (int64 with x64 on), or the
        dtype of the weights, to which derivatives go.

    Raises:
        ValueArgumentError: a negative number, outside of jit and without length.
        ConcretizationTypeError: traced, and no length.
        DTypeError: x holds no integers.  ShapeError: x is no vector, or the weights do not fit.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([1, 1, 3])
        >>> print(np.bincount(x), np.bincount(x, weights=np.asarray([0.5, 0.25, 2.0])))
        [0 2 0 1] [0.   0.75 0.   2.  ]
    """
    values = as_value(x, "bincount", "x")
    t = type_of(values)
    if t.kind not in "biu":
        raise errors.DTypeError(
            errors.explain("bincount", "x must hold integers", {"x": t}, try_="x.astype(int)")
        )
    if t.ndim != 1:
        raise errors.ShapeError(errors.explain("bincount", "x must have one axis", {"x": t}))
    if static_int("bincount", "minlength", minlength) < 0:
        raise errors.ValueArgumentError(
            errors.explain("bincount", "minlength must not be negative", {"minlength": minlength})
        )
    if length is None:
        found = known("bincount", values, "x").astype(np.int64)
        if found.size and found.min() < 0:
            raise errors.ValueArgumentError(
                errors.explain("bincount", "x must not have negative elements", {"x": t})
            )
        length = max(
            int(found.max()) + 1 if found.size else 0,
            static_int("bincount", "minlength", minlength),
        )
    else:
        length = max(
            static_int("bincount", "length", length), static_int("bincount", "minlength", minlength)
        )
    out = _bincount(values, weights, length)
    return out if out_sharding is None else reshard(out, out_sharding)


@library(2)
def _bincount(x: Any, weights: Any, length: int) -> Any:
    t = type_of(x)
    places = flat(x)
    if t.kind != "u":
        places = convert(places, int_dtype()) if t.kind == "b" else places
        places = apply(max_, places, type_of(places).dtype.type(0))
    if weights is None:
        amounts: Any = int_dtype().type(1)
    else:
        amounts = flat(as_value(weights, "bincount", "weights"))
        if type_of(amounts).size != t.size:
            raise errors.ShapeError(
                errors.explain(
                    "bincount", "weights must have the shape of x",
                    {"x": t, "weights": type_of(amounts)},
                )
            )  # fmt: skip
    return _add_up(places, amounts, length)


_RULES = ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Edges of the bins of a histogram.

    Args:
        a: values.
        bins: how many bins, a vector of edges, or the name of a rule for their number ("auto",
            "fd", "sturges", ...; outside of jit only, because the shape depends on values).
        range: (least, greatest) edge; default: those of the values.
        weights: accepted for compatibility; the edges do not depend on them.

    Returns:
        Floats, one more than there are bins.

    Raises:
        ValueArgumentError: an unknown rule.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.histogram_bin_edges(np.asarray([0.0, 4.0]), bins=2))
        [0. 2. 4.]
    """
    x = as_value(a, "histogram_bin_edges")
    if isinstance(bins, str):
        if bins not in _RULES:
            raise errors.ValueArgumentError(
                errors.explain(
                    "histogram_bin_edges", f"{bins!r} is not a valid estimator for `bins`",
                    try_="one of " + ", ".join(_RULES),
                )
            )  # fmt: skip
        found = np.histogram_bin_edges(known("histogram_bin_edges", x, "a"), bins, range)
        return as_array(found.astype(type_of(to_inexact(x)[0]).dtype))
    given = _count_or_edges("histogram_bin_edges", bins)
    if not isinstance(given, int):
        return to_inexact(given)[0]
    if range is None:
        return _own_edges(x, given)
    low, high = _limits(range)
    return _even_edges(low, high, to_inexact(x)[0], given)


def _count_or_edges(function: str, bins: Any) -> Any:
    """`bins` as an int, or as a vector of edges."""
    if isinstance(bins, (list, tuple)) or getattr(bins, "ndim", 0) == 1:
        edges = as_value(bins, function, "bins")
        if not isinstance(edges, Tracer):
            values = np.asarray(edges)
            if (values[1:] < values[:-1]).any():
                raise errors.ValueArgumentError(
                    errors.explain(function, "edges must increase monotonically", {"bins": bins})
                )
        return edges
    try:
        count = operator.index(bins)
    except TypeError:
        count = 0
    if count < 1:
        raise errors.ValueArgumentError(
            errors.explain(
                function, "bins must be a positive int, a vector of edges, or a rule's name",
                {"bins": bins},
            )
        )  # fmt: skip
    return count


def _limits(given: Any) -> tuple[Any, Any]:
    low, high = given
    if not any(isinstance(v, Tracer) for v in (low, high)):
        if not (np.isfinite(float(low)) and np.isfinite(float(high))):
            raise errors.ValueArgumentError(
                errors.explain("histogram", "range must be finite", {"range": given})
            )
        if float(low) > float(high):
            raise errors.ValueArgumentError(
                errors.explain("histogram", "range must go from low to high", {"range": given})
            )
    return low, high


@library(1)
def _own_edges(x: Any, count: int) -> Any:
    """Edges from the least to the greatest element; from 0 to 1 for none."""
    x = flat(to_inexact(x)[0])
    if not type_of(x).size:
        return linspace(0.0, 1.0, count + 1, dtype=type_of(x).dtype)
    low, high = (apply(op.of((0,)), x) for op in (ReduceMin, ReduceMax))
    return _spaced(low, high, count)


@library(3)
def _even_edges(low: Any, high: Any, like: Any, count: int) -> Any:
    dtype = type_of(like).dtype
    low, high = (as_dtype(as_value(v, "histogram", "range"), dtype) for v in (low, high))
    return _spaced(low, high, count)


def _spaced(low: Any, high: Any, count: int) -> Any:
    """Evenly spaced edges; half a unit to both sides if all values are equal."""
    half = type_of(low).dtype.type(0.5)
    same = apply(eq, low, high)
    start = apply(select, same, low, apply(sub, low, half))
    stop = apply(select, same, high, apply(add, high, half))
    return linspace(start, stop, count + 1, dtype=type_of(low).dtype)


@explains
def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool | None = None
) -> tuple[Any, Any]:
    """How many values fall into each bin. Bins include their left edge, the last one both.

    Args:
        a: values, flattened.
        bins: int, the number of equal bins; or a vector of edges, ascending; or a rule's name.
        range: pair (least, greatest) that equal bins cover; None is that of the values.
        weights: array of the shape of `a`, what each value counts; None is 1.
        density: return the density, whose integral is 1, instead of counts.

    Returns:
        (histogram, edges). Counts are integers, unless there are weights.

    Differences from JAX: counts without weights are integers, as in NumPy.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.histogram(np.asarray([1.0, 2.0, 1.0]), bins=[0.0, 1.0, 2.0, 3.0])[0])
        [0 2 1]
    """
    edges = histogram_bin_edges(a, bins, range, weights)
    return _count(as_value(a, "histogram"), edges, weights, bool(density)), edges


def _bin_of(values: Any, edges: Any) -> Any:
    """Index of the bin of each value; the number of bins if it is outside."""
    n = type_of(edges).shape[0]
    places = insertion_points(edges, values, "right")
    dtype = type_of(places).dtype
    top = reshape(part(edges, 0, n - 1, n), ())
    bottom = reshape(part(edges, 0, 0, 1), ())
    places = apply(sub, places, dtype.type(1))
    places = apply(select, apply(eq, values, top), places, dtype.type(n - 2))
    inside = apply(and_, apply(le, bottom, values), apply(le, values, top))
    return apply(select, inside, dtype.type(n - 1), places)


@library(3)
def _count(x: Any, edges: Any, weights: Any, density: bool) -> Any:
    values, edges = promote(*to_inexact(flat(x), edges))
    n = type_of(edges).shape[0] - 1
    counts = _add_up(_bin_of(values, edges), _amounts("histogram", x, weights), n)
    if not density:
        return counts
    counts = as_dtype(counts, type_of(edges).dtype)
    widths = apply(sub, part(edges, 0, 1, n + 1), part(edges, 0, 0, n))
    total = apply(ReduceSum.of((0,)), counts)
    return apply(div, counts, apply(mul, widths, total))


def _amounts(function: str, x: Any, weights: Any) -> Any:
    if weights is None:
        return int_dtype().type(1)
    w = flat(as_value(weights, function, "weights"))
    if type_of(w).size != type_of(x).size:
        raise errors.ShapeError(
            errors.explain(
                function, "weights must have the shape of the values",
                {"values": type_of(x), "weights": type_of(w)},
            )
        )  # fmt: skip
    return w


@explains
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Any, Any, Any]:
    """How many points fall into each bin of a grid.

    Args:
        x: vector, the first coordinates of the points.
        y: vector of the same length, the second ones.
        bins: int, vector of edges, or a pair of these.
        range: pair of (least, greatest), or None.
        weights: vector, what each point counts; None is 1.
        density: return the density, whose integral is 1, instead of counts.

    Returns:
        (histogram, edges of x, edges of y).

    Raises:
        ShapeError: `x` and `y` differ in size.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.histogram2d(np.asarray([0.0, 1.0]), np.asarray([0.0, 1.0]), bins=2)[0])
        [[1 0]
         [0 1]]
    """
    points = promote(flat(as_value(x, "histogram2d", "x")), flat(as_value(y, "histogram2d", "y")))
    if type_of(points[0]).size != type_of(points[1]).size:
        raise errors.ShapeError(
            errors.explain(
                "histogram2d", "x and y must have the same size",
                {"x": type_of(points[0]), "y": type_of(points[1])},
            )
        )  # fmt: skip
    pair = isinstance(bins, (list, tuple)) and len(bins) == 2
    if not pair and not isinstance(bins, int):
        bins = [bins, bins]
    counts, edges = _grid_counts("histogram2d", points, bins, range, weights, density)
    return counts, *edges


@explains
def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Any, list[Any]]:
    """How many points fall into each bin of a grid of any dimension.

    Args:
        sample: array of shape (points, dimensions), or sequence of coordinate arrays.
        bins: int, or one int or vector of edges for each dimension.
        range: sequence of (least, greatest) or None, one a dimension.
        weights: vector, what each point counts; None is 1.
        density: return the density, whose integral is 1, instead of counts.

    Returns:
        (histogram, list of edges).

    Example:
        >>> import numlift.numpy as np
        >>> print(np.histogramdd(np.asarray([[0.0], [1.0], [1.0]]), bins=2)[0])
        [1 2]
    """
    if isinstance(sample, (list, tuple)):
        points = [flat(x) for x in promote(*[as_value(x, "histogramdd", "sample") for x in sample])]
    else:
        s = as_value(sample, "histogramdd", "sample")
        s = reshape(s, (type_of(s).size, 1)) if type_of(s).ndim < 2 else s
        n, dims = type_of(s).shape
        columns = [part(s, 1, i, i + 1) for i in np.arange(dims).tolist()]
        points = [reshape(c, (n,)) for c in columns]
    return _grid_counts("histogramdd", points, bins, range, weights, density)


def _grid_counts(
    function: str, points: Sequence[Any], bins: Any, limits: Any, weights: Any, density: Any
) -> tuple[Any, list[Any]]:
    dims = len(points)
    each = [bins] * dims if isinstance(bins, int) else list(bins)
    ranges = [None] * dims if limits is None else list(limits)
    if len(each) != dims or len(ranges) != dims:
        raise errors.ValueArgumentError(
            errors.explain(
                function, f"bins and range need one entry for each of {dims} dimensions",
                {"bins": bins, "range": limits},
            )
        )  # fmt: skip
    edges = [histogram_bin_edges(x, b, r) for x, b, r in zip(points, each, ranges, strict=True)]
    return _grid(tuple(points), tuple(edges), weights, bool(density)), edges


@library(3)
def _grid(points: Any, edges: Any, weights: Any, density: bool) -> Any:
    sizes = [type_of(e).shape[0] - 1 for e in edges]
    place: Any = None
    inside: Any = None
    for x, e, n in zip(points, edges, sizes, strict=True):
        values, e = promote(*to_inexact(x, e))
        here = convert(_bin_of(values, e), int_dtype())
        good = apply(lt, here, int_dtype().type(n))
        inside = good if inside is None else apply(and_, inside, good)
        place = here if place is None else apply(add, apply(mul, place, int_dtype().type(n)), here)
    count = int(np.prod(sizes))
    place = apply(select, inside, int_dtype().type(count), place)
    counts = _add_up(place, _amounts("histogramdd", points[0], weights), count)
    counts = reshape(counts, tuple(sizes))
    if not density:
        return counts
    counts = as_dtype(counts, type_of(to_inexact(edges[0])[0]).dtype)
    total = apply(ReduceSum.of(tuple(np.arange(len(sizes)).tolist())), counts)
    counts = apply(div, counts, total)
    for i, (e, n) in enumerate(zip(edges, sizes, strict=True)):
        e = as_dtype(e, type_of(counts).dtype)
        widths = apply(sub, part(e, 0, 1, n + 1), part(e, 0, 0, n))
        counts = apply(div, counts, apply(Broadcast.of(tuple(sizes), (i,)), widths))
    return counts


# ---- covariance ----------------------------------------------------------------------------------


__all__ = [
    "bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd",
]  # fmt: skip
