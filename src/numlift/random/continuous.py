"""Continuous distributions that are transformed uniform or normal numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .. import lax
from ..api.library import library
from .common import as_shape, float_dtype, joint_shape, parameter, spread, tiniest
from .keys import check_key
from .uniform import between, keys_of, standard_normal, two_units, unit


@library(3)
def truncated_normal(
    key: Any,
    lower: Any,
    upper: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Standard normal numbers given that they lie in (lower, upper).

    ``sqrt(2) * erf_inv(u)`` with u uniform in (erf(lower / sqrt 2), erf(upper / sqrt 2)).

    Args:
        key: a random key.
        lower, upper: ends, numbers or arrays.
        shape: shape of the result; default that of the ends broadcast together.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`, between the neighbours of `lower` and `upper` inside.

    Example:
        >>> from numlift.random import truncated_normal
        >>> from numlift import random
        >>> x = truncated_normal(random.key(0), -1.0, 2.0, (100,))
        >>> bool((x > -1).all() and (x < 2).all())
        True
    """
    function = "random.truncated_normal"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    low, high = (
        parameter(function, "lower", lower, dtype),
        parameter(function, "upper", upper, dtype),
    )
    shape = joint_shape(function, shape, lower=low, upper=high)
    low, high = spread(low, shape), spread(high, shape)
    root = dtype.type(np.sqrt(2))
    a, b = lax.erf(lax.div(low, root)), lax.erf(lax.div(high, root))
    x = lax.mul(lax.erf_inv(between(typed, shape, dtype, a, b, out_sharding)), root)
    inside = (
        lax.nextafter(lax.stop_gradient(low), dtype.type(np.inf)),
        lax.nextafter(lax.stop_gradient(high), dtype.type(-np.inf)),
    )
    return lax.min(lax.max(x, inside[0]), inside[1])


@library(1)
def exponential(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Exponential numbers of mean 1: ``-log1p(-u)`` with u uniform in [0, 1).

    Args:
        key: a random key.
        shape: shape of the result.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`, not negative; mean and variance are 1.

    Example:
        >>> from numlift.random import exponential
        >>> from numlift import random
        >>> bool((exponential(random.key(0), (100,)) >= 0).all())
        True
    """
    function = "random.exponential"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    return standard_exponential(typed, as_shape(function, shape), dtype, out_sharding)


def standard_exponential(key: Any, shape: tuple[int, ...], dtype: Any, sharding: Any = None) -> Any:
    """`exponential` from a checked key."""
    return lax.neg(lax.log1p(lax.neg(unit(key, shape, dtype, sharding))))


@library(1)
def gumbel(
    key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Standard Gumbel numbers: ``-log(-log(u))`` with u uniform in (0, 1).

    Args:
        key: a random key.
        shape: shape of the result.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        mode: ``"low"`` (default) takes one uniform number, so the largest value is about 16 in
            float32; ``"high"`` draws twice the bits for a right upper tail.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`; the mean is 0.5772 (Euler's constant), the variance pi**2 / 6.

    Example:
        >>> from numlift.random import gumbel
        >>> from numlift import random
        >>> gumbel(random.key(0), (3,)).shape
        (3,)
    """
    function = "random.gumbel"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    return standard_gumbel(typed, as_shape(function, shape), dtype, mode or "low", out_sharding)


def standard_gumbel(
    key: Any, shape: tuple[int, ...], dtype: Any, mode: str = "low", sharding: Any = None
) -> Any:
    """`gumbel` from a checked key."""
    if mode == "high":
        high, low = two_units(key, shape, dtype)
        fine = lax.mul(low, dtype.type(ml_dtypes.finfo(dtype).eps))
        # From 1/2 on, neighbours are eps / 2 apart or more: adding would round, not refine.
        v = lax.select(lax.lt(high, dtype.type(0.5)), lax.add(high, fine), high)
        v = lax.max(v, tiniest(dtype))
        return lax.neg(lax.log(lax.neg(lax.log1p(lax.neg(v)))))
    u = between(key, shape, dtype, tiniest(dtype), dtype.type(1), sharding)
    return lax.neg(lax.log(lax.neg(lax.log(u))))


@library(1)
def laplace(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Standard Laplace numbers: density ``exp(-|x|) / 2``.

    Args:
        key: a random key.
        shape: shape of the result.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`; the mean is 0, the variance 2.

    Example:
        >>> from numlift.random import laplace
        >>> from numlift import random
        >>> laplace(random.key(0), (3,)).shape
        (3,)
    """
    function = "random.laplace"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    low = dtype.type(-1 + ml_dtypes.finfo(dtype).epsneg)
    u = between(typed, as_shape(function, shape), dtype, low, dtype.type(1), out_sharding)
    return lax.mul(lax.sign(u), lax.log1p(lax.neg(lax.abs(u))))


@library(1)
def logistic(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Standard logistic numbers: ``log(u / (1 - u))`` with u uniform in (0, 1).

    Args:
        key: a random key.
        shape: shape of the result.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`; the mean is 0, the variance pi**2 / 3.

    Example:
        >>> from numlift.random import logistic
        >>> from numlift import random
        >>> logistic(random.key(0), (3,)).shape
        (3,)
    """
    function = "random.logistic"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    shape = as_shape(function, shape)
    u = between(typed, shape, dtype, tiniest(dtype), dtype.type(1), out_sharding)
    return lax.log(lax.div(u, lax.sub(dtype.type(1), u)))


@library(1)
def cauchy(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Standard Cauchy numbers: ``tan(pi (u - 1/2))`` with u uniform in (0, 1).

    Args:
        key: a random key.
        shape: shape of the result.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`; the distribution has no mean.

    Example:
        >>> from numlift.random import cauchy
        >>> from numlift import random
        >>> cauchy(random.key(0), (3,)).shape
        (3,)
    """
    function = "random.cauchy"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    low = dtype.type(ml_dtypes.finfo(dtype).eps)
    u = between(typed, as_shape(function, shape), dtype, low, dtype.type(1), out_sharding)
    return lax.tan(lax.mul(lax.sub(u, dtype.type(0.5)), dtype.type(np.pi)))


@library(2)
def pareto(
    key: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Pareto numbers: density ``b / x**(b + 1)`` for x >= 1.

    Args:
        key: a random key.
        b: shape parameter, positive.
        shape: shape of the result; default that of `b`.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`, at least 1; the mean is b / (b - 1) for b > 1.

    Example:
        >>> from numlift.random import pareto
        >>> from numlift import random
        >>> bool(pareto(random.key(0), 2.0) >= 1)
        True
    """
    function = "random.pareto"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    b = parameter(function, "b", b, dtype)
    shape = joint_shape(function, shape, b=b)
    e = standard_exponential(typed, shape, dtype, out_sharding)
    return lax.exp(lax.div(e, spread(b, shape)))


@library(2)
def rayleigh(
    key: Any, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Rayleigh numbers: density ``x / s**2 * exp(-x**2 / (2 s**2))`` for x >= 0.

    Args:
        key: a random key.
        scale: s, positive.
        shape: shape of the result; default that of `scale`.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`, not negative; the mean is s sqrt(pi / 2).

    Example:
        >>> from numlift.random import rayleigh
        >>> from numlift import random
        >>> bool(rayleigh(random.key(0), 2.0) >= 0)
        True
    """
    function = "random.rayleigh"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    scale = parameter(function, "scale", scale, dtype)
    shape = joint_shape(function, shape, scale=scale)
    # Here 1 - u of `exponential` is u, which must not be 0.
    u = between(typed, shape, dtype, tiniest(dtype), dtype.type(1), out_sharding)
    return lax.mul(spread(scale, shape), lax.sqrt(lax.mul(dtype.type(-2), lax.log(u))))


@library(3)
def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Any:
    """Weibull numbers: ``scale * (-log(1 - u))**(1 / concentration)``.

    Args:
        key: a random key.
        scale, concentration: positive parameters.
        shape: shape of the result.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).

    Returns:
        Array of `shape` and `dtype`, not negative; a `concentration` of 1 gives exponential numbers
        of mean `scale`.

    Example:
        >>> from numlift.random import weibull_min
        >>> from numlift import random
        >>> bool(weibull_min(random.key(0), 2.0, 3.0) >= 0)
        True
    """
    function = "random.weibull_min"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    scale = parameter(function, "scale", scale, dtype)
    power = parameter(function, "concentration", concentration, dtype)
    shape = joint_shape(function, shape, scale=scale, concentration=power)
    e = standard_exponential(typed, shape, dtype)
    return lax.mul(lax.pow(e, lax.div(dtype.type(1), spread(power, shape))), spread(scale, shape))


@library(1)
def maxwell(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Maxwell numbers: the length of a vector of three standard normal numbers.

    Args:
        key: a random key.
        shape: shape of the result.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`, not negative; the mean is sqrt(8 / pi).

    Example:
        >>> from numlift.random import maxwell
        >>> from numlift import random
        >>> bool(maxwell(random.key(0)) >= 0)
        True
    """
    function = "random.maxwell"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    shape = as_shape(function, shape)
    z = standard_normal(typed, (*shape, 3), dtype, out_sharding)
    return lax.sqrt(lax.reduce_sum(lax.square(z), (len(shape),)))


@library(3)
def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """A Maxwell number with a random sign, times `scale`, plus `loc`.

    Args:
        key: a random key.
        loc, scale: location and scale.
        shape: shape of the result, followed by that of the parameters.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).

    Returns:
        Array of `dtype`, in the shape named above; the mean is `loc`.

    Example:
        >>> from numlift.random import double_sided_maxwell
        >>> from numlift import random
        >>> double_sided_maxwell(random.key(0), 0.0, 1.0, (2,)).shape
        (2,)
    """
    function = "random.double_sided_maxwell"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    loc, scale = parameter(function, "loc", loc, dtype), parameter(function, "scale", scale, dtype)
    shape = (*as_shape(function, shape), *joint_shape(function, None, loc=loc, scale=scale))
    first, second = keys_of(typed, 2)
    z = standard_normal(first, (*shape, 3), dtype)
    length = lax.sqrt(lax.reduce_sum(lax.square(z), (len(shape),)))
    heads = lax.lt(unit(second, shape, dtype), dtype.type(0.5))
    signed = lax.mul(length, lax.select_n(heads, dtype.type(-1), dtype.type(1)))
    return lax.add(lax.mul(signed, spread(scale, shape)), spread(loc, shape))


@library(2)
def lognormal(
    key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """``exp(sigma * z)`` with z standard normal.

    Args:
        key: a random key.
        sigma: standard deviation of the logarithm.
        shape: shape of the result; default that of `sigma`.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`, not negative; the mean is exp(sigma**2 / 2), the median 1.

    Example:
        >>> from numlift.random import lognormal
        >>> from numlift import random
        >>> bool(lognormal(random.key(0)) > 0)
        True
    """
    function = "random.lognormal"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    sigma = parameter(function, "sigma", sigma, dtype)
    shape = joint_shape(function, shape, sigma=sigma)
    z = standard_normal(typed, shape, dtype, out_sharding)
    return lax.exp(lax.mul(z, spread(sigma, shape)))


@library(4)
def triangular(
    key: Any,
    left: Any,
    mode: Any,
    right: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Triangular numbers: density rises from `left` to `mode` and falls to `right`.

    Args:
        key: a random key.
        left, mode, right: ends and peak.
        shape: shape of the result; default that of the parameters broadcast together.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`, in [left, right]; the mean is (left + mode + right) / 3.

    Example:
        >>> from numlift.random import triangular
        >>> from numlift import random
        >>> 0 <= float(triangular(random.key(0), 0.0, 1.0, 3.0)) <= 3
        True
    """
    function = "random.triangular"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    a, c, b = (parameter(function, n, v, dtype)
               for n, v in (("left", left), ("mode", mode), ("right", right)))  # fmt: skip
    shape = joint_shape(function, shape, left=a, mode=c, right=b)
    a, b, c = spread(a, shape), spread(b, shape), spread(c, shape)
    u = unit(typed, shape, dtype, out_sharding)
    width, rise, fall = lax.sub(b, a), lax.sub(c, a), lax.sub(b, c)
    one = dtype.type(1)
    up = lax.add(a, lax.sqrt(lax.mul(lax.mul(u, width), rise)))
    down = lax.sub(b, lax.sqrt(lax.mul(lax.mul(lax.sub(one, u), width), fall)))
    return lax.select_n(lax.lt(u, lax.div(rise, width)), down, up)


@library(2)
def wald(
    key: Any, mean: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Wald (inverse Gaussian) numbers of a mean and scale 1.

    The transformation of Michael, Schucany and Haas with one normal and one uniform number.

    Args:
        key: a random key.
        mean: mean, positive.
        shape: shape of the result; default that of `mean`.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`, positive; the mean is `mean`, the variance mean**3.

    Example:
        >>> from numlift.random import wald
        >>> from numlift import random
        >>> bool(wald(random.key(0), 2.0) > 0)
        True
    """
    function = "random.wald"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    mean = parameter(function, "mean", mean, dtype)
    shape = joint_shape(function, shape, mean=mean)
    m = spread(mean, shape)
    first, second = keys_of(typed, 2)
    y = lax.square(standard_normal(first, shape, dtype, out_sharding))
    z = unit(second, shape, dtype, out_sharding)
    square = lax.mul(m, m)
    half = dtype.type(0.5)
    root = lax.sqrt(lax.add(lax.mul(lax.mul(dtype.type(4), m), y), lax.mul(square, lax.square(y))))
    x = lax.add(m, lax.sub(lax.mul(lax.mul(half, square), y), lax.mul(lax.mul(half, m), root)))
    return lax.select_n(lax.le(z, lax.div(m, lax.add(m, x))), lax.div(square, x), x)


__all__ = [
    "cauchy", "double_sided_maxwell", "exponential", "gumbel", "laplace", "logistic", "lognormal",
    "maxwell", "pareto", "rayleigh", "triangular", "truncated_normal", "wald",
    "weibull_min",
]  # fmt: skip
