"""The gamma distribution and those made of gamma numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors, lax
from ..api.custom import custom_jvp
from ..api.library import library
from ..core.tracing import type_of
from ..numpy.util import as_value, broadcast_shape, broadcast_to_shape
from .common import as_shape, float_dtype, joint_shape, parameter, refuse_sharding, spread, tiniest
from .continuous import standard_exponential
from .keys import check_key, fold_in
from .uniform import keys_of, standard_normal, unit


def _rejection(key: Any, alpha: Any) -> Any:
    """Gamma numbers of shape parameters alpha >= 1, after Marsaglia and Tsang (2000).

    All elements are drawn anew until the last one is accepted; each draw is accepted with
    probability above 0.95.
    """
    t = type_of(alpha)
    dtype, shape = t.dtype, t.shape
    one, half = dtype.type(1), dtype.type(0.5)
    d = lax.sub(alpha, dtype.type(1 / 3))
    c = lax.div(dtype.type(1 / 3), lax.sqrt(d))

    def open_left(state: Any) -> Any:
        _, done, _ = state
        return lax.bitwise_not(lax.reduce_and(done, tuple(range(len(shape)))))

    def draw(state: Any) -> Any:
        step, done, found = state
        first, second = keys_of(fold_in(key, step), 2)
        x, u = standard_normal(first, shape, dtype), unit(second, shape, dtype)
        v = lax.add(one, lax.mul(c, x))
        inside = lax.gt(v, dtype.type(0))
        v = lax.select(inside, v, lax.full_like(v, 1))
        cube = lax.mul(lax.mul(v, v), v)
        bound = lax.add(
            lax.mul(half, lax.mul(x, x)),
            lax.mul(d, lax.add(lax.sub(one, cube), lax.log(cube))),
        )
        good = lax.bitwise_and(inside, lax.lt(lax.log(lax.sub(one, u)), bound))
        fresh = lax.bitwise_and(good, lax.bitwise_not(done))
        found = lax.select(fresh, lax.mul(d, cube), found)
        return lax.add(step, np.uint32(1)), lax.bitwise_or(done, good), found

    start = (np.uint32(0), lax.full(shape, False, np.bool_), lax.full(shape, 1, dtype))
    return lax.while_loop(open_left, draw, start)[2]


def _parts(key: Any, alpha: Any) -> tuple[Any, Any]:
    """(y, b) with y * exp(b) gamma distributed: b = log(u) / alpha where alpha < 1, else 0."""
    t = type_of(alpha)
    dtype = t.dtype
    first, second = keys_of(key, 2)
    one = dtype.type(1)
    # An alpha that no draw is accepted for would loop for ever: such elements are set below.
    fine = lax.bitwise_and(lax.ge(alpha, dtype.type(0)), lax.is_finite(alpha))
    safe = lax.select(fine, alpha, lax.full_like(alpha, 1))
    small = lax.lt(safe, one)
    y = _rejection(first, lax.select(small, lax.add(safe, one), safe))
    log_u = lax.neg(standard_exponential(second, t.shape, dtype))
    log_u = lax.min(log_u, dtype.type(-np.finfo(np.float32).tiny))
    b = lax.select(small, lax.div(log_u, safe), lax.full_like(alpha, 0))
    other = lax.add(alpha, lax.select(lax.gt(alpha, one), alpha, lax.full_like(alpha, np.nan)))
    return lax.select(fine, y, other), b


@custom_jvp
def gamma_numbers(key: Any, alpha: Any) -> Any:
    """Gamma numbers with the derivative of the inverse distribution function."""
    y, b = _parts(key, alpha)
    return lax.mul(y, lax.exp(b))


@gamma_numbers.defjvp
def _gamma_jvp(primals: Any, tangents: Any) -> Any:
    key, alpha = primals
    x = gamma_numbers(key, alpha)
    return x, lax.mul(tangents[1], lax.random_gamma_grad(alpha, x))


@custom_jvp
def log_gamma_numbers(key: Any, alpha: Any) -> Any:
    """Logarithms of gamma numbers, which do not underflow for small alpha."""
    y, b = _parts(key, alpha)
    return lax.add(lax.log(y), b)


@log_gamma_numbers.defjvp
def _log_gamma_jvp(primals: Any, tangents: Any) -> Any:
    key, alpha = primals
    log_x = log_gamma_numbers(key, alpha)
    dtype = type_of(alpha).dtype
    one = dtype.type(1)
    x = lax.exp(log_x)
    # Near 0 the distribution function is x**alpha / gamma(alpha + 1).
    near_0 = lax.div(lax.sub(lax.digamma(lax.add(alpha, one)), log_x), alpha)
    safe = lax.max(x, tiniest(dtype))
    exact = lax.div(lax.random_gamma_grad(alpha, safe), safe)
    factor = lax.select(lax.lt(x, dtype.type(1e-7)), near_0, exact)
    return log_x, lax.mul(tangents[1], factor)


@library(2)
def gamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Gamma numbers: density ``x**(a - 1) exp(-x) / Gamma(a)`` for x > 0.

    Args:
        key: a random key.
        a: shape parameter, positive (0 gives 0, negative numbers give NaN).
        shape: shape of the result; default that of `a`.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: must be None.

    Returns:
        Array of `shape` and `dtype`, not negative; mean and variance are `a`.

    The derivative with respect to `a` is that of the inverse distribution function.

    Example:
        >>> from numlift.random import gamma
        >>> from numlift import random
        >>> bool(gamma(random.key(0), 2.0) > 0)
        True
    """
    function = "random.gamma"
    refuse_sharding(function, out_sharding)
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    return gamma_numbers(typed, _full(function, "a", a, shape, dtype))


def _full(function: str, name: str, x: Any, shape: Any, dtype: Any) -> Any:
    """A parameter as an array of the result's shape."""
    x = parameter(function, name, x, dtype)
    return broadcast_to_shape(x, joint_shape(function, shape, **{name: x}))


@library(2)
def loggamma(
    key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Logarithms of `gamma` numbers; finite also for small `a`, where gamma numbers underflow.

    Args:
        key: a random key.
        a: shape parameter, positive.
        shape: shape of the result; default that of `a`.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: must be None.

    Returns:
        Array of `shape` and `dtype`; exp of it has mean `a`.

    Example:
        >>> from numlift.random import loggamma
        >>> from numlift import random
        >>> loggamma(random.key(0), 1e-3, (2,)).shape
        (2,)
    """
    function = "random.loggamma"
    refuse_sharding(function, out_sharding)
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    return log_gamma_numbers(typed, _full(function, "a", a, shape, dtype))


@library(3)
def beta(
    key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Beta numbers: density proportional to ``x**(a - 1) (1 - x)**(b - 1)`` on (0, 1).

    Args:
        key: a random key.
        a, b: positive parameters.
        shape: shape of the result; default that of the parameters broadcast together.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: must be None.

    Returns:
        Array of `shape` and `dtype`, in [0, 1]; the mean is a / (a + b).

    Example:
        >>> from numlift.random import beta
        >>> from numlift import random
        >>> 0 < float(beta(random.key(0), 2.0, 3.0)) < 1
        True
    """
    function = "random.beta"
    refuse_sharding(function, out_sharding)
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    a, b = parameter(function, "a", a, dtype), parameter(function, "b", b, dtype)
    shape = joint_shape(function, shape, a=a, b=b)
    first, second = keys_of(typed, 2)
    x = log_gamma_numbers(first, broadcast_to_shape(a, shape))
    y = log_gamma_numbers(second, broadcast_to_shape(b, shape))
    top = lax.stop_gradient(lax.max(x, y))
    x, y = lax.exp(lax.sub(x, top)), lax.exp(lax.sub(y, top))
    return lax.div(x, lax.add(x, y))


@library(2)
def dirichlet(
    key: Any, alpha: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Dirichlet vectors: gamma numbers of parameters `alpha`, divided by their sum.

    Args:
        key: a random key.
        alpha: positive parameters, the last axis holds those of one vector.
        shape: shape of the result without its last axis; default that of `alpha`.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: must be None.

    Returns:
        Array of `dtype` and shape ``(*shape, n)`` for n parameters; the last axis sums to 1.

    Raises:
        ShapeError: `alpha` has no axis.

    Example:
        >>> from numlift.random import dirichlet
        >>> from numlift import random
        >>> dirichlet(random.key(0), [1.0, 2.0], (3,)).shape
        (3, 2)
    """
    function = "random.dirichlet"
    refuse_sharding(function, out_sharding)
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    alpha = parameter(function, "alpha", as_value(alpha, function, "alpha"), dtype)
    own = type_of(alpha).shape
    if not own:
        raise errors.ShapeError(
            errors.explain(function, "alpha must have at least one axis", {"alpha": type_of(alpha)},
                           try_="alpha of shape (n,)")
        )  # fmt: skip
    batch = own[:-1] if shape is None else as_shape(function, shape)
    if broadcast_shape(function, batch, own[:-1]) != batch:
        raise errors.ShapeError(
            errors.explain(function, f"alpha of shape {own} does not broadcast to {batch}",
                           {"alpha": type_of(alpha)}, try_="leave shape out")
        )  # fmt: skip
    logs = log_gamma_numbers(typed, broadcast_to_shape(alpha, (*batch, own[-1])))
    last = len(batch)
    top = lax.stop_gradient(lax.reduce_max(logs, (last,)))
    kept = tuple(range(last))
    x = lax.exp(lax.sub(logs, lax.broadcast_in_dim(top, (*batch, own[-1]), kept)))
    total = lax.reduce_sum(x, (last,))
    return lax.div(x, lax.broadcast_in_dim(total, (*batch, own[-1]), kept))


@library(2)
def chisquare(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Chi-square numbers: twice gamma numbers of parameter ``df / 2``.

    Args:
        key: a random key.
        df: degrees of freedom, positive.
        shape: shape of the result; default that of `df`.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: must be None.

    Returns:
        Array of `shape` and `dtype`, not negative; the mean is `df`, the variance 2 df.

    Example:
        >>> from numlift.random import chisquare
        >>> from numlift import random
        >>> bool(chisquare(random.key(0), 3.0) > 0)
        True
    """
    function = "random.chisquare"
    refuse_sharding(function, out_sharding)
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    return _chisquare(typed, _full(function, "df", df, shape, dtype))


def _chisquare(key: Any, df: Any) -> Any:
    dtype = type_of(df).dtype
    return lax.mul(dtype.type(2), gamma_numbers(key, lax.mul(df, dtype.type(0.5))))


@library(3)
def f(
    key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """F numbers: the ratio of two chi-square numbers over their degrees of freedom.

    Args:
        key: a random key.
        dfnum, dfden: degrees of freedom of numerator and denominator, positive.
        shape: shape of the result; default that of the parameters broadcast together.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: must be None.

    Returns:
        Array of `shape` and `dtype`, not negative; the mean is dfden / (dfden - 2) for dfden > 2.

    Example:
        >>> from numlift.random import f
        >>> from numlift import random
        >>> bool(f(random.key(0), 3.0, 4.0) > 0)
        True
    """
    function = "random.f"
    refuse_sharding(function, out_sharding)
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    top, bottom = (
        parameter(function, "dfnum", dfnum, dtype),
        parameter(function, "dfden", dfden, dtype),
    )
    shape = joint_shape(function, shape, dfnum=top, dfden=bottom)
    top, bottom = broadcast_to_shape(top, shape), broadcast_to_shape(bottom, shape)
    first, second = keys_of(typed, 2)
    above = lax.div(_chisquare(first, top), top)
    return lax.div(above, lax.div(_chisquare(second, bottom), bottom))


@library(2)
def t(key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Student's t numbers: normal numbers over ``sqrt(chisquare(df) / df)``.

    Args:
        key: a random key.
        df: degrees of freedom, positive.
        shape: shape of the result; default that of `df`.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: must be None.

    Returns:
        Array of `shape` and `dtype`; the mean is 0 for df > 1, the variance df / (df - 2) for df >
        2.

    Example:
        >>> from numlift.random import t
        >>> from numlift import random
        >>> t(random.key(0), 3.0, (2,)).shape
        (2,)
    """
    function = "random.t"
    refuse_sharding(function, out_sharding)
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    df = _full(function, "df", df, shape, dtype)
    first, second = keys_of(typed, 2)
    half = lax.mul(df, dtype.type(0.5))
    scale = lax.sqrt(lax.div(half, gamma_numbers(second, half)))
    return lax.mul(standard_normal(first, type_of(df).shape, dtype), scale)


@library(1)
def generalized_normal(
    key: Any, p: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Generalised normal numbers: density proportional to ``exp(-|x|**p)``.

    Args:
        key: a random key.
        p: exponent, a positive number.
        shape: shape of the result.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: must be None.

    Returns:
        Array of `shape` and `dtype`, symmetric about 0; p = 2 has variance 1/2, p = 1 is `laplace`.

    Example:
        >>> from numlift.random import generalized_normal
        >>> from numlift import random
        >>> generalized_normal(random.key(0), 1.5, (2,)).shape
        (2,)
    """
    function = "random.generalized_normal"
    refuse_sharding(function, out_sharding)
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    p = parameter(function, "p", p, dtype)
    return _generalized(typed, p, joint_shape(function, shape, p=p), dtype)


def _generalized(key: Any, p: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    first, second = keys_of(key, 2)
    power = lax.div(dtype.type(1), p)
    g = gamma_numbers(first, broadcast_to_shape(power, shape))
    heads = lax.lt(unit(second, shape, dtype), dtype.type(0.5))
    sign = lax.select_n(heads, dtype.type(-1), dtype.type(1))
    return lax.mul(lax.pow(g, spread(power, shape)), sign)


@library(1)
def ball(
    key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Points uniform in the unit ball of the p-norm in d dimensions.

    Args:
        key: a random key.
        d: dimension.
        p: exponent of the norm, a positive number.
        shape: shape of the result without its last axis, which has size d.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: must be None.

    Returns:
        Array of shape ``(*shape, d)`` and `dtype`; the p-norm of every point is at most 1.

    Example:
        >>> from numlift.random import ball
        >>> from numlift import random
        >>> ball(random.key(0), 3, shape=(2,)).shape
        (2, 3)
    """
    function = "random.ball"
    refuse_sharding(function, out_sharding)
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    (d,) = as_shape(function, d)
    shape = as_shape(function, shape)
    p = parameter(function, "p", p, dtype)
    first, second = keys_of(typed, 2)
    g = _generalized(first, p, (*shape, d), dtype)
    e = standard_exponential(second, shape, dtype)
    total = lax.add(lax.reduce_sum(lax.pow(lax.abs(g), spread(p, (*shape, d))), (len(shape),)), e)
    length = lax.pow(total, lax.div(dtype.type(1), p))
    return lax.div(g, lax.broadcast_in_dim(length, (*shape, d), tuple(range(len(shape)))))


__all__ = [
    "ball", "beta", "chisquare", "dirichlet", "f", "gamma", "generalized_normal", "loggamma", "t",
]  # fmt: skip
