"""Counts: Poisson, binomial and multinomial numbers, by rejection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors, lax
from ..api.library import library
from ..core.dtypes import python_scalar_dtype
from ..core.tracing import type_of
from ..numpy.util import as_value, broadcast_shape, broadcast_to_shape
from .common import as_shape, float_dtype, int_dtype, joint_shape, parameter, refuse_sharding
from .keys import check_key, consumed, fold_in, split
from .uniform import two_units, unit


def _number(x: Any, value: float) -> Any:
    return type_of(x).dtype.type(value)


def _until_accepted(
    key: Any, start: Any, wanted: Any, propose: Callable[[Any], tuple[Any, Any]]
) -> Any:
    """Draw where `wanted` until all are accepted; `propose(key)` gives (numbers, accepted)."""
    axes = tuple(range(type_of(wanted).ndim))

    def open_left(state: Any) -> Any:
        return lax.reduce_or(state[1], axes)

    def draw(state: Any) -> Any:
        step, left, found = state
        numbers, accepted = propose(fold_in(key, step))
        fresh = lax.bitwise_and(left, accepted)
        found = lax.select(fresh, numbers, found)
        return lax.add(step, np.uint32(1)), lax.bitwise_and(left, lax.bitwise_not(accepted)), found

    return lax.while_loop(open_left, draw, (np.uint32(0), wanted, start))[2]


def _small_poisson(key: Any, lam: Any, wanted: Any) -> Any:
    """Numbers of uniform factors until their product is below exp(-lam) (Knuth)."""
    t = type_of(lam)
    axes = tuple(range(t.ndim))
    limit = lax.neg(lam)

    def open_left(state: Any) -> Any:
        return lax.reduce_or(state[2], axes)

    def draw(state: Any) -> Any:
        step, total, left, count = state
        u = unit(fold_in(key, step), t.shape, t.dtype)
        total = lax.add(total, lax.log1p(lax.neg(u)))
        left = lax.bitwise_and(left, lax.gt(total, limit))
        count = lax.add(count, lax.convert_element_type(left, t.dtype))
        return lax.add(step, np.uint32(1)), total, left, count

    zero = lax.full_like(lam, 0)
    return lax.while_loop(open_left, draw, (np.uint32(0), zero, wanted, zero))[3]


def _large_poisson(key: Any, lam: Any, wanted: Any) -> Any:
    """Transformed rejection for lam >= 10 (Hormann 1993, algorithm PTRS)."""
    t = type_of(lam)
    b = 0.931 + 2.53 * lax.sqrt(lam)
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = lax.log(1.1239 + 1.1328 / (b - 3.4))
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    log_lam = lax.log(lam)

    def propose(key: Any) -> tuple[Any, Any]:
        u, v = two_units(key, t.shape, t.dtype)
        u, v = u - 0.5, 1.0 - v
        us = 0.5 - lax.abs(u)
        k = lax.floor((2.0 * a / us + b) * u + lam + 0.43)
        quick = (us >= 0.07) & (v <= v_r)
        hopeless = (k < 0.0) | ((us < 0.013) & (v > us))
        left = lax.log(v) + log_inverse_alpha - lax.log(a / (us * us) + b)
        right = k * log_lam - lam - lax.lgamma(k + 1.0)
        return k, quick | (lax.bitwise_not(hopeless) & (left <= right))

    return _until_accepted(key, lax.full_like(lam, 0), wanted, propose)


@library(2)
def poisson(
    key: Any, lam: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Poisson numbers: ``P(k) = lam**k exp(-lam) / k!``.

    Args:
        key: a random key.
        lam: mean, at least 0 (NaN, negative and infinite means give -1).
        shape: shape of the result; default that of `lam`.
        dtype: integer dtype; default int32 (int64 with ``enable_x64``).
        out_sharding: must be None.

    Returns:
        Array of `shape` and `dtype`; mean and variance are `lam`.

    Example:
        >>> from numlift.random import poisson
        >>> from numlift import random
        >>> int(poisson(random.key(0), 0.0))
        0
    """
    function = "random.poisson"
    refuse_sharding(function, out_sharding)
    typed = consumed(function, check_key(function, key)[0])
    dtype = int_dtype(function, dtype)
    real = python_scalar_dtype(float)
    lam = parameter(function, "lam", lam, real)
    lam = broadcast_to_shape(lam, joint_shape(function, shape, lam=lam))
    fine = (lam >= 0.0) & lax.is_finite(lam)
    small, large = fine & (lam < 10.0), fine & (lam >= 10.0)
    few = _small_poisson(fold_in(typed, 0), lax.select(small, lam, lax.full_like(lam, 0)), small)
    many = _large_poisson(fold_in(typed, 1), lax.select(large, lam, lax.full_like(lam, 10)), large)
    found = lax.select(large, many, lax.select(small, few, lax.full_like(lam, -1)))
    return lax.convert_element_type(found, dtype)


def _stirling_rest(k: Any) -> Any:
    """log(k!) minus Stirling's ``(k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2``."""
    n = k + 1.0
    square = n * n
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / n
    low = lax.min(n, _number(n, 10.0))
    exact = lax.lgamma(low) - (low - 0.5) * lax.log(low) + low - 0.9189385332046727
    return lax.select(k < 9.0, exact, series)


def _small_binomial(key: Any, n: Any, q: Any, wanted: Any) -> Any:
    """Number of geometric gaps that fit in n trials."""
    t = type_of(n)
    axes = tuple(range(t.ndim))
    log_fail = lax.log1p(lax.neg(q))

    def open_left(state: Any) -> Any:
        return lax.reduce_or(state[2], axes)

    def draw(state: Any) -> Any:
        step, used, left, count = state
        u = 1.0 - unit(fold_in(key, step), t.shape, t.dtype)
        used = used + lax.floor(lax.log(u) / log_fail) + 1.0
        left = left & (used <= n)
        count = count + lax.convert_element_type(left, t.dtype)
        return lax.add(step, np.uint32(1)), used, left, count

    zero = lax.full_like(n, 0)
    return lax.while_loop(open_left, draw, (np.uint32(0), zero, wanted, zero))[3]


def _large_binomial(key: Any, n: Any, q: Any, wanted: Any) -> Any:
    """Transformed rejection for n * q >= 10 (Hormann 1993, algorithm BTRD's simple form)."""
    t = type_of(n)
    deviation = lax.sqrt(n * q * (1.0 - q))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * q
    c = n * q + 0.5
    v_r = 0.92 - 4.2 / b
    r = q / (1.0 - q)
    alpha = (2.83 + 5.1 / b) * deviation
    m = lax.floor((n + 1.0) * q)
    at_m = (m + 0.5) * lax.log((m + 1.0) / (r * (n - m + 1.0)))
    at_m = at_m + _stirling_rest(m) + _stirling_rest(n - m)

    def propose(key: Any) -> tuple[Any, Any]:
        u, v = two_units(key, t.shape, t.dtype)
        u, v = u - 0.5, 1.0 - v
        us = 0.5 - lax.abs(u)
        k = lax.floor((2.0 * a / us + b) * u + c)
        quick = (us >= 0.07) & (v <= v_r)
        inside = (k >= 0.0) & (k <= n)
        k = lax.clamp(_number(k, 0.0), k, n)
        left = lax.log(v * alpha / (a / (us * us) + b))
        right = (
            at_m
            + (n + 1.0) * lax.log((n - m + 1.0) / (n - k + 1.0))
            + (k + 0.5) * lax.log(r * (n - k + 1.0) / (k + 1.0))
            - _stirling_rest(k)
            - _stirling_rest(n - k)
        )
        return k, inside & (quick | (left <= right))

    return _until_accepted(key, lax.full_like(n, 0), wanted, propose)


def _binomial(key: Any, n: Any, p: Any) -> Any:
    """Binomial numbers of real arrays n and p of one shape, from a checked key."""
    fine = (n >= 0.0) & lax.is_finite(n) & (p >= 0.0) & (p <= 1.0)
    n_safe = lax.floor(lax.select(fine, n, lax.full_like(n, 0)))
    p_safe = lax.select(fine, p, lax.full_like(p, 0))
    flipped = p_safe > 0.5
    q = lax.select(flipped, 1.0 - p_safe, p_safe)
    some = (q > 0.0) & (n_safe > 0.0)
    large = some & (n_safe * q >= 10.0)
    small = some & lax.bitwise_not(large)
    safe_q = lax.select(some, q, lax.full_like(q, 0.5))
    few = _small_binomial(fold_in(key, 0), n_safe, safe_q, small)
    large_n = lax.select(large, n_safe, lax.full_like(n, 40))
    large_q = lax.select(large, q, lax.full_like(q, 0.5))
    many = _large_binomial(fold_in(key, 1), large_n, large_q, large)
    k = lax.select(large, many, few)
    k = lax.select(flipped, n_safe - k, k)
    return lax.select(fine, k, lax.full_like(n, np.nan))


@library(3)
def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Binomial numbers: successes in n trials of probability p.

    Args:
        key: a random key.
        n: number of trials, at least 0.
        p: probability of success (NaN if it is not in [0, 1]).
        shape: shape of the result; default that of the parameters broadcast together.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).

    Returns:
        Whole numbers of a floating dtype.

    Example:
        >>> from numlift.random import binomial
        >>> from numlift import random
        >>> float(binomial(random.key(0), 10, 1.0))
        10.0
    """
    function = "random.binomial"
    typed = consumed(function, check_key(function, key)[0])
    dtype = float_dtype(function, dtype)
    real = python_scalar_dtype(float)
    n, p = parameter(function, "n", n, real), parameter(function, "p", p, real)
    shape = joint_shape(function, shape, n=n, p=p)
    found = _binomial(typed, broadcast_to_shape(n, shape), broadcast_to_shape(p, shape))
    return lax.convert_element_type(found, dtype)


@library(3)
def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: Any = 1
) -> Any:
    """How n trials fall into categories of probabilities p.

    One binomial number a category, given what the categories before it took.

    Args:
        key: a random key.
        n: number of trials.
        p: probabilities along the last axis.
        shape: shape of the result, with the categories last; default that of `n` and `p`.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        unroll: how many categories one step of the loop takes, see `lax.scan`.

    Returns:
        Whole numbers of a floating dtype; they sum to n along the last axis.

    Raises:
        ShapeError: `p` has no axis, or `shape` does not end in its size.

    Example:
        >>> from numlift.random import multinomial
        >>> from numlift import random
        >>> float(multinomial(random.key(0), 10, [0.2, 0.8]).sum())
        10.0
    """
    function = "random.multinomial"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype)
    real = python_scalar_dtype(float)
    n = parameter(function, "n", n, real)
    p = parameter(function, "p", as_value(p, function, "p"), real)
    own = type_of(p).shape
    if not own:
        raise errors.ShapeError(
            errors.explain(function, "p must have an axis of categories", {"p": type_of(p)},
                           try_="p of shape (n,)")
        )  # fmt: skip
    batch = broadcast_shape(function, type_of(n).shape, own[:-1])
    if shape is not None:
        wanted = as_shape(function, shape)
        if wanted[-1:] != own[-1:] or broadcast_shape(function, batch, wanted[:-1]) != wanted[:-1]:
            raise errors.ShapeError(
                errors.explain(function, f"shape {wanted} must end in {(*batch, own[-1])}",
                               {"n": type_of(n), "p": type_of(p)}, try_="leave shape out")
            )  # fmt: skip
        batch = wanted[:-1]
    p = broadcast_to_shape(p, (*batch, own[-1]))
    rows = lax.transpose(p, (len(batch), *range(len(batch))))
    keys = split(typed, own[-1])

    def step(state: Any, row: Any) -> Any:
        left, mass = state
        key, probability = row
        safe = lax.select(mass > 0.0, mass, lax.full_like(mass, 1))
        share = lax.clamp(_number(mass, 0.0), probability / safe, _number(mass, 1.0))
        taken = _binomial(key, left, share)
        return (left - taken, mass - probability), taken

    total = lax.reduce_sum(p, (len(batch),))
    _, found = lax.scan(step, (broadcast_to_shape(n, batch), total), (keys, rows), unroll=unroll)
    found = lax.transpose(found, (*range(1, len(batch) + 1), 0))
    return lax.convert_element_type(found, dtype)


__all__ = ["binomial", "multinomial", "poisson"]
