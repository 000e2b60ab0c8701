"""Means, variances and standard deviations over axes."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..api.library import library
from ..core.tracing import Value, apply, type_of
from ..ops.elementwise import abs_, sqrt, square
from ..ops.elementwise_binary import div, max_
from ..structural.arith import mul, sub
from ..structural.dim_value import size_as
from .elementwise import no_out
from .host_values import need_weight
from .reducing import (
    as_dtype,
    asked_dtype,
    axes_of,
    divided,
    int_dtype,
    mask_of,
    masked,
    size_over,
    total,
    wide_float,
)
from .util import as_value, broadcast_to_shape, check_axes, expand, promote, to_inexact


def count_of(function: str, x: Any, where: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Number of elements that a mean is taken of: an int, or integers if there is a mask."""
    if where is None:
        return size_over(x, axes)
    return total(as_dtype(mask_of(function, where, type_of(x).shape), int_dtype()), axes, keepdims)


def mean_over(function: str, x: Any, axes: tuple[int, ...], where: Any, keepdims: bool) -> Any:
    """Mean of floats over axes."""
    added = total(masked(function, x, where, 0), axes, keepdims)
    return divided(added, count_of(function, x, where, axes, keepdims))


@library(1)
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Any:
    """Mean over axes: ``sum(a) / count``; NaN for no elements.

    Args:
        a: array of any shape and dtype; integers become float32 (float64 with x64 on).
        axis: int or ints; None is all axes.
        dtype: dtype to compute in and to return; floats of two bytes are computed in float32.
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.

    Returns:
        Array of the axes that stay, of the dtype of `a` if that is inexact. Derivative: 1 / count
        for every element that counts, else 0.

    Raises:
        AxisError: an axis is out of range.  DTypeError: `where` holds no bools.

    Differences from NumPy: no warning for the mean of nothing.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1, 2], [4, 5]])
        >>> print(np.mean(x), np.mean(x, axis=0), np.mean(x, where=x > 1))
        3.0 [2.5 3.5] 3.6666667
    """
    no_out("mean", out)
    x, dtype = wide_float(as_value(a, "mean"), asked_dtype("mean", dtype))
    return as_dtype(mean_over("mean", x, axes_of("mean", axis, x), where, keepdims), dtype)


def variance(
    function: str, x: Any, axes: tuple[int, ...], where: Any, keepdims: bool, removed: Any,
    mean: Any = None,
) -> Any:  # fmt: skip
    """Mean square distance from the mean, divided by the count less `removed`."""
    if mean is None:
        middle = mean_over(function, x, axes, where, True)
    else:
        middle = as_value(mean, function, "mean")
        if type_of(middle).kind == "c" and type_of(x).kind != "c":
            raise errors.DTypeError(
                errors.explain(
                    function, "mean is complex, and the array is not",
                    {"a": type_of(x), "mean": type_of(middle)}, try_="mean.real",
                )
            )  # fmt: skip
        middle = as_dtype(middle, type_of(x).dtype)
    t = type_of(x)
    distance = apply(sub, x, broadcast_to_shape(middle, t.shape))
    distance = apply(square, apply(abs_, distance) if t.kind == "c" else distance)
    added = total(masked(function, distance, where, 0), axes, keepdims)
    count = count_of(function, x, where, axes, keepdims)
    if isinstance(count, int):
        left = count - removed
        return divided(added, left if left > 0 else 0)
    u = type_of(added)
    left = apply(sub, as_dtype(count, u.dtype), u.dtype.type(removed))
    return apply(div, added, apply(max_, left, u.dtype.type(0)))


def one_of_ddof(function: str, ddof: Any, correction: Any) -> Any:
    """`ddof` under either of its names."""
    if correction is None:
        return ddof
    if ddof not in (0, correction):
        raise errors.ValueArgumentError(
            errors.explain(
                function, "ddof and correction are two names of one thing",
                {"ddof": ddof, "correction": correction}, try_="give one of them",
            )
        )  # fmt: skip
    return correction


def _variance(
    function: str, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: bool, where: Any,
    mean: Any, correction: Any,
) -> tuple[Any, Any]:  # fmt: skip
    no_out(function, out)
    ddof = one_of_ddof(function, ddof, correction)
    x, dtype = wide_float(as_value(a, function), asked_dtype(function, dtype))
    result = variance(function, x, axes_of(function, axis, x), where, keepdims, ddof, mean)
    if type_of(x).kind == "c":
        dtype = type_of(result).dtype
    return result, dtype


@library(1)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Variance over axes: ``sum(abs(a - mean(a))**2) / (count - ddof)``.

    Args:
        a: array of any shape and dtype; integers become float32 (float64 with x64 on).
        axis: int or ints; None is all axes.
        dtype: dtype to compute in and to return; floats of two bytes are computed in float32.
        out: must be None: arrays are immutable.
        ddof: number that is taken off the count; 1 gives the unbiased estimate from a sample.
        keepdims: keep the reduced axes, with size 1.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.
        mean: the mean over these axes, kept with size 1, if it is known already.
        correction: another name of `ddof`.

    Returns:
        Real array of the axes that stay; infinite or NaN if ``count <= ddof``. Derivative:
        ``2 (a - mean(a)) / (count - ddof)``, so 0 where all elements are equal.

    Raises:
        AxisError: an axis is out of range.  ValueArgumentError: different ddof and correction.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([1, 2, 3, 4])
        >>> print(np.var(x), np.var(x, ddof=1))
        1.25 1.6666667
    """
    result, dtype = _variance("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    return as_dtype(result, dtype)


@library(1)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Standard deviation over axes: ``sqrt(sum(abs(a - mean(a))**2) / (count - ddof))``.

    Args:
        a: array of any shape and dtype; integers become float32 (float64 with x64 on).
        axis: int or ints; None is all axes.
        dtype: dtype to compute in and to return; floats of two bytes are computed in float32.
        out: must be None: arrays are immutable.
        ddof: number that is taken off the count; 1 gives the usual estimate from a sample.
        keepdims: keep the reduced axes, with size 1.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.
        mean: the mean over these axes, kept with size 1, if it is known already.
        correction: another name of `ddof`.

    Returns:
        Real array of the axes that stay; infinite or NaN if ``count <= ddof``. The derivative is
        NaN where all elements are equal (0 times infinity): ``sqrt(var(a) + eps)`` has a finite
        one.

    Raises:
        AxisError: an axis is out of range.  ValueArgumentError: different ddof and correction.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.std(np.asarray([[1.0, 3.0], [2.0, 8.0]]), axis=1))
        [1. 3.]
    """
    result, dtype = _variance("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    return as_dtype(apply(sqrt, result), dtype)


def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """Weighted mean over axes: ``sum(a * weights) / sum(weights)``.

    Args:
        a: array of any shape and dtype; integers become floats.
        axis: int or ints; None is all axes.
        weights: array of the shape of `a`, or of the sizes of `axis`; None weighs all equally.
        returned: also return the sum of the weights.
        keepdims: keep the reduced axes, with size 1.

    Returns:
        Array of the axes that stay, or a tuple (average, sum of weights) of two of them.
        Derivatives go to `a` and to `weights`.

    Raises:
        ShapeError: the weights fit neither `a` nor `axis`.
        ArgumentError: the weights have another shape than `a`, and there is no `axis`.
        ZeroSumError: weights that are a list or NumPy array add up to zero.

    Differences from NumPy: weights on a device and traced ones that add up to zero give NaN or
    infinity: to look at them would wait for the device.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.average(np.asarray([1.0, 4.0]), weights=np.asarray([2.0, 1.0])))
        2.0
    """
    if weights is not None and not isinstance(weights, Value):
        t = type_of(as_value(a, "average"))
        need_weight("average", t.shape, weights, check_axes("average", axis, t.ndim))
    return _average(a, weights, axis, returned, keepdims)


@library(2)
def _average(a: Any, weights: Any, axis: Any, returned: bool, keepdims: bool) -> Any:
    (x,) = to_inexact(as_value(a, "average"))
    axes = axes_of("average", axis, x)
    if weights is None:
        x, dtype = wide_float(x, None)
        result = as_dtype(mean_over("average", x, axes, None, keepdims), dtype)
        count = size_as(size_over(x, axes), dtype)
        return (result, broadcast_to_shape(count, type_of(result).shape)) if returned else result
    x, w = promote(x, as_value(weights, "average", "weights"))
    shape = type_of(x).shape
    if type_of(w).shape != shape:
        if axis is None:
            raise errors.ArgumentError(
                errors.explain(
                    "average", "axis must be given where the shapes of a and weights differ",
                    {"a": type_of(x), "weights": type_of(w)}, try_="axis=...",
                )
            )  # fmt: skip
        if type_of(w).shape != tuple(shape[i] for i in axes):
            raise errors.ShapeError(
                errors.explain(
                    "average", "weights must have the shape of a, or the sizes of axis",
                    {"a": type_of(x), "weights": type_of(w), "axis": axis},
                )
            )  # fmt: skip
        w = expand(w, [i for i in range(len(shape)) if i not in axes])
        w = broadcast_to_shape(w, shape)
    weight = total(w, axes, keepdims)
    result = apply(div, total(apply(mul, x, w), axes, keepdims), weight)
    return (result, weight) if returned else result


__all__ = ["average", "mean", "std", "var"]
