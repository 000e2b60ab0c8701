"""Quantiles, percentiles and medians, with all of NumPy's methods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import errors
from ..api.library import library
from ..core.tracing import Value, apply, type_of
from ..ops.compare import eq, ge, gt, le
from ..ops.cumulative import CumSum
from ..ops.elementwise import ceil, floor, round_even
from ..ops.elementwise_binary import and_, div, max_, min_, not_, or_, rem
from ..ops.reductions import ArgMax, ReduceOr
from ..ops.sorting import ArgSort, Sort, take_sorted
from ..structural.arith import add, convert, mul, select, sub
from ..structural.dim_value import size_as
from ..structural.shape import Broadcast, ReduceSum, reshape
from . import host_quantiles
from .elementwise import no_out
from .pieces import moved
from .reducing import as_dtype, axes_of, is_nan, joined_axes, wide_float
from .util import as_value, broadcast_to_shape, check_axes, expand

_I32 = np.dtype(np.int32)

_CONTINUOUS = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
_ON_HOST = ("linear", "lower", "higher", "midpoint", "nearest")
"""Methods whose places are exact products: the others may round otherwise in another program."""
METHODS = (
    *_CONTINUOUS, "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "lower",
    "higher", "midpoint", "nearest",
)  # fmt: skip


def _number(x: Any, value: float) -> Any:
    return type_of(x).dtype.type(value)


def _places(q: Any, n: Any, method: str) -> tuple[Any, Any]:
    """Index of the element below each quantile, and the weight of the one above it.

    `n` is how many elements there are; `q` and `n` are floats of one dtype that fit together.
    """
    one, half = _number(q, 1), _number(q, 0.5)
    zero = apply(sub, q, q)
    last = apply(sub, n, one)
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        slope = apply(add, n, _number(q, 1 - alpha - beta))
        virtual = apply(add, apply(mul, q, slope), _number(q, alpha - 1))
    elif method in ("lower", "higher", "midpoint", "nearest"):
        virtual = apply(mul, q, last)
        if method == "midpoint":
            low = apply(floor, virtual)
            whole = apply(eq, low, virtual)
            return low, apply(select, whole, apply(add, zero, half), zero)
        rounding = {"lower": floor, "higher": ceil, "nearest": round_even}[method]
        virtual = apply(rounding, virtual)
    else:
        virtual, weight = _discrete(apply(mul, q, n), method)
        if weight is not None:
            return virtual, weight
    # Outside of the elements the first or the last one is meant.
    virtual = apply(min_, apply(max_, virtual, zero), apply(add, last, zero))
    low = apply(floor, virtual)
    return low, apply(sub, virtual, low)


def _discrete(position: Any, method: str) -> tuple[Any, Any]:
    """For the methods that are steps: index, and weight if it is not a whole element."""
    one, half = _number(position, 1), _number(position, 0.5)
    if method == "closest_observation":
        shifted = apply(sub, position, _number(position, 1.5))
        low = apply(floor, shifted)
        odd = apply(
            eq, apply(rem, apply(add, low, _number(position, 4)), _number(position, 2)), one
        )
        stay = apply(and_, apply(eq, low, shifted), odd)
        return apply(select, stay, apply(add, low, one), low), None
    index = apply(sub, apply(ceil, position), one)
    if method == "inverted_cdf":
        return index, None
    zero = apply(sub, position, position)
    whole = apply(eq, apply(floor, position), position)
    inside = apply(and_, whole, apply(gt, position, zero))
    index = apply(max_, index, zero)
    return index, apply(select, inside, zero, apply(add, zero, half))


def _check(function: str, x: Any, q: Any, method: Any, scale: float) -> None:
    if method not in METHODS:
        raise errors.ValueArgumentError(
            errors.explain(
                function, f"method must be one of {', '.join(METHODS)}", {"method": method}
            )
        )
    if type_of(x).kind == "c":
        raise errors.DTypeError(
            errors.explain(
                function, "complex numbers have no quantiles", {"a": type_of(x)},
                try_="quantiles of a.real and a.imag",
            )
        )  # fmt: skip
    if not isinstance(q, Value):
        values = np.asarray(q)
        if values.dtype.kind not in "biuf":
            raise errors.DTypeError(errors.explain(function, "q must be real", {"q": values}))
        if values.size and not ((values >= 0) & (values <= scale)).all():
            raise errors.ValueArgumentError(
                errors.explain(
                    function,
                    f"{'Percentiles' if scale == 100 else 'Quantiles'} must be in the range "
                    f"[0, {scale:g}]",
                    {"q": values.tolist() if values.size < 10 else values},
                )
            )


def _quantile(
    function: str, a: Any, q: Any, axis: Any, out: Any, method: Any, keepdims: bool, weights: Any,
    skip_nan: bool = False, scale: float = 1.0,
) -> Any:  # fmt: skip
    no_out(function, out)
    x, dtype = wide_float(as_value(a, function), None)
    q = as_value(q, function, "q")
    _check(function, x, q, method, scale)
    axes = axes_of(function, axis, x)
    q = _fractions(q, type_of(x).dtype, scale)
    points = type_of(q).shape
    if weights is not None:
        w = _weights(function, x, weights, axes, axis, method)
        found = _by_weight(joined_axes(x, axes), joined_axes(w, axes), q, skip_nan)
    else:
        found = _by_place(joined_axes(x, axes), q, method, skip_nan)
    return _shaped(found, points, axes, keepdims, dtype)


def _fractions(q: Any, dtype: Any, scale: float) -> Any:
    q = as_dtype(q, dtype)
    return q if scale == 1 else apply(div, q, _number(q, scale))


def _shaped(found: Any, points: Any, axes: Any, keepdims: bool, dtype: Any) -> Any:
    """The result, of quantiles in the last axis."""
    found = moved(found, type_of(found).ndim - 1, 0)
    rest = type_of(found).shape[1:]
    found = reshape(found, (*points, *rest))
    if keepdims:
        found = expand(found, [len(points) + i for i in axes])
    return as_dtype(found, dtype)


def _by_place(x: Any, q: Any, method: str, skip_nan: bool) -> Any:
    """Quantiles along the last axis, one a number of the flattened q, in a last axis."""
    t = type_of(x)
    axis, n = t.ndim - 1, t.shape[-1]
    q = reshape(q, (type_of(q).size,))
    shape = (*t.shape[:-1], type_of(q).size)
    if n == 0:
        return broadcast_to_shape(t.dtype.type(np.nan), shape)
    (ordered,) = apply(Sort.of(axis, 1), x)
    invalid = is_nan(x)
    if skip_nan:
        count = apply(ReduceSum.of((axis,)), convert(apply(not_, invalid), t.dtype))
        count = apply(Broadcast.of(shape, tuple(range(axis))), count)
        undefined = apply(eq, count, t.dtype.type(0))
        count = apply(max_, count, t.dtype.type(1))
        low, weight = _places(broadcast_to_shape(q, shape), count, method)
        last = apply(sub, convert(count, _I32), _I32.type(1))
    else:
        last = size_as(n - 1, _I32)
        low, weight = _places(q, size_as(n, t.dtype), method)
        low, weight = (broadcast_to_shape(v, shape) for v in (low, weight))
        undefined = apply(ReduceOr.of((axis,)), invalid)
        undefined = apply(Broadcast.of(shape, tuple(range(axis))), undefined)
    below = apply(min_, convert(low, _I32), last)
    above = apply(min_, apply(add, below, _I32.type(1)), last)
    x0 = take_sorted(ordered, below, axis, False)
    x1 = take_sorted(ordered, above, axis, False)
    return _between(x0, x1, weight, undefined)


def _between(x0: Any, x1: Any, weight: Any, undefined: Any) -> Any:
    t = type_of(x0)
    zero, one = t.dtype.type(0), t.dtype.type(1)
    mixed = apply(add, apply(mul, x0, apply(sub, one, weight)), apply(mul, x1, weight))
    # An infinite neighbour with weight 0 must not turn the result into NaN.
    found = apply(select, apply(eq, weight, zero), mixed, x0)
    return apply(select, undefined, found, t.dtype.type(np.nan))


def _weights(function: str, x: Any, weights: Any, axes: Any, axis: Any, method: Any) -> Any:
    if method != "inverted_cdf":
        raise errors.ValueArgumentError(
            errors.explain(
                function, f"weights are not defined for method {method!r}",
                try_="method='inverted_cdf'",
            )
        )  # fmt: skip
    w = as_dtype(as_value(weights, function, "weights"), type_of(x).dtype)
    shape = type_of(x).shape
    if type_of(w).shape == shape:
        return w
    if axis is None or type_of(w).shape != tuple(shape[i] for i in axes):
        raise errors.ShapeError(
            errors.explain(
                function, "weights must have the shape of a, or the sizes of axis",
                {"a": type_of(x), "weights": type_of(w), "axis": axis},
            )
        )  # fmt: skip
    w = expand(w, [i for i in range(len(shape)) if i not in axes])
    return broadcast_to_shape(w, shape)


def _by_weight(x: Any, w: Any, q: Any, skip_nan: bool) -> Any:
    """The first element at which the weights so far reach q times all weights."""
    t = type_of(x)
    axis, n = t.ndim - 1, t.shape[-1]
    q = reshape(q, (type_of(q).size,))
    shape = (*t.shape[:-1], type_of(q).size)
    zero = t.dtype.type(0)
    invalid = is_nan(x)
    if skip_nan:
        w = apply(select, invalid, w, zero)
    order = apply(ArgSort.of(axis), x)
    ordered, sums = (take_sorted(v, order, axis, True) for v in (x, w))
    sums = apply(CumSum.of(axis, False), sums)
    everything = apply(ReduceSum.of((axis,)), w)
    grid = (*shape, n)
    front = tuple(range(axis))
    total = apply(Broadcast.of(grid, front), everything)
    target = apply(mul, apply(Broadcast.of(grid, (axis,)), q), total)
    reached = apply(Broadcast.of(grid, (*front, axis + 1)), sums)
    enough = apply(and_, apply(ge, reached, target), apply(gt, reached, zero))
    place = apply(ArgMax.of(axis + 1, _I32), enough)
    found = take_sorted(ordered, place, axis, False)
    if skip_nan:
        undefined = apply(le, everything, zero)
    else:
        undefined = apply(ReduceOr.of((axis,)), apply(or_, invalid, is_nan(w)))
    undefined = apply(Broadcast.of(shape, front), undefined)
    return apply(select, undefined, found, t.dtype.type(np.nan))


@library(3)
def _rest(
    x0: Any, x1: Any, undefined: Any, q: Any, n: int, method: str, scale: float, axes: Any,
    keepdims: bool, dtype: Any,
) -> Any:  # fmt: skip
    """What the program does after it has sorted rows of n elements."""
    t = type_of(x0)
    q = _fractions(as_value(q, "quantile", "q"), t.dtype, scale)
    flat_q = reshape(q, (type_of(q).size,))
    _, weight = _places(flat_q, size_as(n, t.dtype), method)
    found = _between(x0, x1, broadcast_to_shape(weight, t.shape), undefined)
    return _shaped(found, type_of(q).shape, axes, keepdims, dtype)


@library(1)
def _below(like: Any, q: Any, n: int, method: str, scale: float) -> Any:
    """Index of the element below each quantile of n elements, and the weight of the one above."""
    t = type_of(like)
    q = _fractions(as_value(q, "quantile", "q"), t.dtype, scale)
    low, weight = _places(reshape(q, (type_of(q).size,)), size_as(n, t.dtype), method)
    return apply(min_, convert(low, _I32), _I32.type(n - 1)), weight


def _on_host(
    a: Any, q: Any, axis: Any, method: str, keepdims: bool, weights: Any, scale: float
) -> Any:
    """The kernel for quantiles of arrays of a type, or None."""
    if weights is not None or method not in _ON_HOST:
        return None
    axes = check_axes("quantile", axis, a.ndim)
    n = math.prod(a.shape[i] for i in axes)
    if not host_quantiles.worthwhile(a, q, n):
        return None
    like, dtype = wide_float(as_value(np.zeros((), a.dtype), "quantile"), None)
    below, weight = map(np.asarray, _below(like, q, n, method, scale))
    if not np.isin(weight, (0, 0.5)).all():  # two programs may round such sums differently
        return None

    def rest(x0: Any, x1: Any, undefined: Any) -> Any:
        return _rest(x0, x1, undefined, q, n, method, scale, axes, bool(keepdims), dtype)

    return host_quantiles.kernel(axes, type_of(like).dtype, below.tolist(), rest)


def _host_quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False,
    method: str = "linear", keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    return _on_host(a, q, axis, method, keepdims, weights, 1.0)


def _host_percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False,
    method: str = "linear", keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    return _on_host(a, q, axis, method, keepdims, weights, 100.0)


def _host_median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> Any:
    return _on_host(a, 0.5, axis, "midpoint", keepdims, None, 1.0)


@library(1, host=_host_quantile)
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Quantiles over axes: the value below which the fraction `q` of the elements lies.

    Args:
        a: real array; integers become float32 (float64 with x64 on).
        q: fractions in [0, 1], any shape.
        axis: int or ints; None is all.
        out: must be None.
        overwrite_input: accepted for compatibility.
        method: how to choose between elements; one of NumPy's thirteen, such as ``linear``,
            ``lower``, ``higher``, ``nearest``, ``midpoint``, ``median_unbiased``.
        keepdims: keep the axes with size 1.
        weights: of the shape of `a` or the sizes of `axis`; for method ``inverted_cdf``.

    Returns:
        Array of the shape of `q`, followed by the axes that stay. NaN where an element is NaN.
        Derivative: goes to the one or two elements that the result is made of.

    Raises:
        ValueArgumentError: a known `q` is outside of [0, 1], or the method is unknown.
        DTypeError: complex numbers.

    Differences from JAX: all of NumPy's methods; a known `q` outside of the range is an error.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.quantile(np.asarray([1.0, 2.0, 3.0, 4.0]), 0.5))
        2.5
    """
    return _quantile("quantile", a, q, axis, out, method, keepdims, weights)


@library(1, host=_host_percentile)
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Percentiles over axes: the value below which `q` percent of the elements lie.

    Args:
        a: real array; integers become float32 (float64 with x64 on).
        q: percentages in [0, 100], a number or an array of any shape.
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        overwrite_input: accepted for compatibility: nothing is overwritten.
        method: how to choose between elements; one of NumPy's thirteen, as in `quantile`.
        keepdims: keep the reduced axes, with size 1.
        weights: real array of the shape of `a` or the sizes of `axis`; for method ``inverted_cdf``.

    Returns:
        Array of the shape of `q`, followed by the axes that stay. NaN where an element is NaN.
        Derivative: goes to the one or two elements that the result is made of.

    Raises:
        ValueArgumentError: a known `q` is outside of [0, 100], or the method is unknown.
        DTypeError: complex numbers.

    Differences from JAX: all of NumPy's methods; a known `q` outside of the range is an error.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.percentile(np.asarray([1.0, 2.0, 3.0, 4.0]), np.asarray([25, 50, 100])))
        [1.75 2.5  4.  ]
    """
    return _quantile("percentile", a, q, axis, out, method, keepdims, weights, scale=100.0)


@library(1)
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Quantiles over axes of the elements that are not NaN; NaN if all are.

    Args:
        a: real array; integers become float32 (float64 with x64 on).
        q: fractions in [0, 1], a number or an array of any shape.
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        overwrite_input: accepted for compatibility: nothing is overwritten.
        method: how to choose between elements; one of NumPy's thirteen, as in `quantile`.
        keepdims: keep the reduced axes, with size 1.
        weights: real array of the shape of `a` or the sizes of `axis`; for method ``inverted_cdf``.

    Returns:
        Array of the shape of `q`, followed by the axes that stay. Derivative: goes to the one or
        two elements that the result is made of.

    Raises:
        ValueArgumentError: a known `q` is outside of [0, 1], or the method is unknown.
        DTypeError: complex numbers.

    Differences from NumPy: no warning where all elements are NaN.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.nanquantile(np.asarray([1.0, np.nan, 3.0]), 0.25))
        1.5
    """
    return _quantile("nanquantile", a, q, axis, out, method, keepdims, weights, True)


@library(1)
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """Percentiles over axes of the elements that are not NaN; NaN if all are.

    Args:
        a: real array; integers become float32 (float64 with x64 on).
        q: percentages in [0, 100], a number or an array of any shape.
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        overwrite_input: accepted for compatibility: nothing is overwritten.
        method: how to choose between elements; one of NumPy's thirteen, as in `quantile`.
        keepdims: keep the reduced axes, with size 1.
        weights: real array of the shape of `a` or the sizes of `axis`; for method ``inverted_cdf``.

    Returns:
        Array of the shape of `q`, followed by the axes that stay. Derivative: goes to the one or
        two elements that the result is made of.

    Raises:
        ValueArgumentError: a known `q` is outside of [0, 100], or the method is unknown.
        DTypeError: complex numbers.

    Differences from NumPy: no warning where all elements are NaN.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.nanpercentile(np.asarray([1.0, np.nan, 3.0]), 25))
        1.5
    """
    return _quantile("nanpercentile", a, q, axis, out, method, keepdims, weights, True, 100.0)


@library(1, host=_host_median)
def median(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """Median over axes: the middle element, or the mean of the two in the middle.

    Args:
        a: real array; integers become float32 (float64 with x64 on).
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        overwrite_input: accepted for compatibility: nothing is overwritten.
        keepdims: keep the reduced axes, with size 1.

    Returns:
        Array of the axes that stay; NaN where an element is NaN, and for no elements. Derivative: 1
        for the middle element of a stable sort, or 1/2 for each of two.

    Raises:
        DTypeError: complex numbers.  AxisError: an axis is out of range.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> x = np.asarray([3.0, 1.0, 2.0, 9.0])
        >>> print(np.median(x), nl.grad(np.median)(x))
        2.5 [0.5 0.  0.5 0. ]
    """
    return _quantile("median", a, 0.5, axis, out, "midpoint", keepdims, None)


@library(1)
def nanmedian(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """Median over axes of the elements that are not NaN; NaN if all are.

    Args:
        a: real array; integers become float32 (float64 with x64 on).
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        overwrite_input: accepted for compatibility: nothing is overwritten.
        keepdims: keep the reduced axes, with size 1.

    Returns:
        Array of the axes that stay. Derivative: 1 for the middle element, or 1/2 for each of two.

    Raises:
        DTypeError: complex numbers.  AxisError: an axis is out of range.

    Differences from NumPy: no warning where all elements are NaN.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.nanmedian(np.asarray([[3.0, np.nan, 1.0], [2.0, 9.0, 4.0]]), axis=1))
        [2. 4.]
    """
    return _quantile("nanmedian", a, 0.5, axis, out, "midpoint", keepdims, None, True)


__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]
