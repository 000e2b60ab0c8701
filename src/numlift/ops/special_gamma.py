"""Incomplete gamma functions in StableHLO text.

Sources: DLMF 8.7.1 (power series), 8.9.2 (continued fraction, evaluated by Lentz's method), 8.12
(Temme's uniform expansion for large a); Loader, "Fast and accurate computation of binomial
probabilities" (2000), for the factor x**a exp(-x) / Gamma(a + 1) without cancellation; Figurnov,
Mohamed, Mnih, "Implicit reparameterization gradients" (2018), for the derivative in a.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from .elementwise_text import Term, loop

LARGE = 200.0
"""From this a on, and near x = a, Temme's expansion is used."""
MAX_STEPS = 10_000
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


def is_wide(x: Term) -> bool:
    """Whether x is float64."""
    return x.type.dtype.itemsize == 8


def stirling_rest(z: Term) -> Term:
    """lgamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2), for z > 0."""
    square = 1.0 / (z * z)
    series = square.polynomial(_STIRLING) / z
    direct = z.chlo("lgamma") - ((z - 0.5) * z.log() - z + 0.5 * math.log(2 * math.pi))
    return (z >= 10.0).where(series, direct)


def deviance(a: Term, x: Term) -> Term:
    """a phi(x / a) with phi(r) = r - 1 - log r, accurate also for x near a."""
    mu = (x - a) / a
    # log(1 + mu) = 2 atanh(s), s = mu / (2 + mu): phi = mu s - 2 (s**3 / 3 + s**5 / 5 + ...).
    s = mu / (mu + 2.0)
    square = s * s
    count = 18 if is_wide(a) else 8
    tail = square.polynomial([1 / (2 * k + 3) for k in range(count)])
    near = a * s * (mu - 2.0 * square * tail)
    ratio = (a > 1.0).where((x / a).log(), x.log() - a.log())
    return (abs(mu) < 0.5).where(near, (x - a) - a * ratio)


def prefix(a: Term, x: Term) -> Term:
    """x**a exp(-x) / Gamma(a + 1)."""
    root = (1.0 / a).sqrt() * (1 / math.sqrt(2 * math.pi))
    return (-deviance(a, x) - stirling_rest(a)).exp() * root


def density(a: Term, x: Term) -> Term:
    """x**(a - 1) exp(-x) / Gamma(a)."""
    inside = prefix(a, x) * a / x
    at_zero = (a < 1.0).where(math.inf, a.equal(1.0).where(a.constant(1.0), 0.0))
    value = x.equal(0.0).where(at_zero, inside)
    bad = ~((a > 0.0) & (x >= 0.0))
    return bad.where(math.nan, value)


def power_series(a: Term, x: Term, mask: Term, derivative: bool) -> list[Term]:
    """S = sum of x**n / ((a + 1) ... (a + n)), and dS/da; P = prefix S. For x <= a or x <= 1."""
    a, x = mask.where(a, 1.0), mask.where(x, 0.5)
    one, zero = a.constant(1.0), a.constant(0.0)
    eps = float(np.finfo(a.type.dtype).eps)
    start = [zero, one, one] + ([zero, zero] if derivative else [])

    def going(state: list[Term]) -> str:
        n, term, total = state[:3]
        more = term > total * eps
        if derivative:
            more = more | (abs(state[3]) > abs(state[4]) * eps)
        return (more & (n < float(MAX_STEPS))).any()

    def step(state: list[Term]) -> Sequence[Term]:
        n, term, total = state[:3]
        n = n + 1.0
        bottom = a + n
        factor = x / bottom
        fresh = term * factor
        if not derivative:
            return [n, fresh, total + fresh]
        slope = state[3] * factor - fresh / bottom
        return [n, fresh, total + fresh, slope, state[4] + slope]

    state = loop(a.ctx, start, going, step)
    return [state[2], state[4]] if derivative else [state[2]]


def continued_fraction(a: Term, x: Term, mask: Term, derivative: bool) -> list[Term]:
    """F with Q = x**a exp(-x) / Gamma(a) F, and dF/da. For x > 1 and x > a."""
    a, x = mask.where(a, 1.0), mask.where(x, 2.0)
    eps = float(np.finfo(a.type.dtype).eps)
    b = x + 1.0 - a
    inverse = 1.0 / b
    # State: running elements, n, b, c, d, F; with derivatives c', d' and (log F)'.
    start = [mask, a.constant(0.0), b, a.constant(1e30), inverse, inverse]
    if derivative:
        # db/da = -1, so the logarithmic derivative of F = 1 / b is 1 / b.
        start += [a.constant(0.0), inverse * inverse, inverse]

    def going(state: list[Term]) -> str:
        return (state[0] & (state[1] < float(MAX_STEPS))).any()

    def step(state: list[Term]) -> Sequence[Term]:
        active, n, b, c, d, f = state[:6]
        n, b = n + 1.0, b + 2.0
        top = n * (a - n)
        d_next = 1.0 / (top * d + b)
        quotient = top / c
        c_next = b + quotient
        change = c_next * d_next
        more = abs(change - 1.0) > eps
        # Elements that have converged stay as they are: rounding would make them drift.
        out = [n, b, c_next, d_next, active.where(f * change, f)]
        if derivative:
            c_slope, d_slope, total = state[6:9]
            d_new = -(d_next * d_next) * (n * d + top * d_slope - 1.0)
            c_new = (n - quotient * c_slope) / c - 1.0
            part = c_new / c_next + d_new / d_next
            more = more | (abs(part) > abs(total) * eps)
            out += [c_new, d_new, active.where(total + part, total)]
        return [active & more, *out]

    state = loop(a.ctx, start, going, step)
    return [state[5], state[5] * state[8]] if derivative else [state[5]]


@cache
def _inverse_series(count: int) -> list[Any]:
    """alpha with r - 1 = sum alpha[n] eta**n where eta**2 / 2 = r - 1 - log r."""
    from fractions import Fraction  # here: it imports decimal, and few programs need the series

    alpha = [Fraction(0), Fraction(1)]
    for m in range(2, count + 1):
        known = sum((alpha[j] * (m + 1 - j) * alpha[m + 1 - j] for j in range(2, m)), Fraction(0))
        alpha.append((alpha[m - 1] - known) / (m + 1))
    return alpha


@cache
def temme_coefficients(orders: int, degree: int) -> list[list[float]]:
    """d[k][n] of DLMF 8.12.12: c_k(eta) = sum d[k][n] eta**n."""
    count = degree + 2 * orders
    alpha = _inverse_series(max(count + 2, 2 * orders + 1))
    first = [(n + 2) * alpha[n + 2] for n in range(count)]
    first[0] -= 1
    rows, odd = [first], 1
    for k in range(1, orders):
        odd *= 2 * k + 1
        gamma = odd * alpha[2 * k + 1] * (-1) ** k
        last = rows[-1]
        rows.append([gamma * first[n] + (n + 2) * last[n + 2] for n in range(len(last) - 2)])
    return [[float(c) for c in row[:degree]] for row in rows]


def _temme_size(a: Term) -> tuple[int, int]:
    return (7, 15) if is_wide(a) else (4, 8)


def near_large(a: Term, x: Term) -> Term:
    """Where Temme's expansion is used: a large and x within 30% of it."""
    return (a > LARGE) & (abs(x - a) < a * 0.3)


def temme(a: Term, x: Term, upper: bool) -> Term:
    """P or Q for large a and x near a."""
    size = deviance(a, x)
    eta = (x - a).unary("stablehlo.sign") * (2.0 * size / a).sqrt()
    inverse = 1.0 / a
    total = a.constant(0.0)
    for row in reversed(temme_coefficients(*_temme_size(a))):
        total = total * inverse + eta.polynomial(row)
    rest = (-size).exp() * (inverse * (1 / (2 * math.pi))).sqrt() * total
    u = (x - a).unary("stablehlo.sign") * size.sqrt()
    if upper:
        return 0.5 * u.chlo("erfc") + rest
    return 0.5 * (-u).chlo("erfc") - rest


def temme_sample_derivative(a: Term, x: Term) -> Term:
    """-P_a / P_x for large a and x near a: the derivative of DLMF 8.12.3 in a."""
    size = deviance(a, x)
    eta = (x - a).unary("stablehlo.sign") * (2.0 * size / a).sqrt()
    inverse = 1.0 / a
    rows = temme_coefficients(*_temme_size(a))
    alpha = [float(c) for c in _inverse_series(len(rows[0]) + 2)]
    mu_over_eta = eta.polynomial(alpha[1:])
    log_over_eta = mu_over_eta - 0.5 * eta
    value, in_eta, in_a = a.constant(0.0), a.constant(0.0), a.constant(0.0)
    for k in range(len(rows) - 1, -1, -1):
        row = rows[k]
        c = eta.polynomial(row)
        value = value * inverse + c
        in_eta = in_eta * inverse + eta.polynomial([n * row[n] for n in range(1, len(row))])
        in_a = in_a * inverse + c * float(-k)
    slope = (log_over_eta * eta - 0.5 * inverse) * value
    slope = slope - in_eta * mu_over_eta * inverse + in_a * inverse
    return (log_over_eta + slope) * stirling_rest(a).exp() * x * inverse


def incomplete(a: Term, x: Term, upper: bool) -> Term:
    """P(a, x), or Q(a, x) if `upper`."""
    large = near_large(a, x)
    fraction = (x > 1.0) & (x > a) & ~large
    series = ~fraction & ~large & (a > 0.0) & (x > 0.0)
    front = prefix(a, x)
    lower_part = front * power_series(a, x, series, False)[0]
    upper_part = front * a * continued_fraction(a, x, fraction, False)[0]
    if upper:
        value = fraction.where(upper_part, 1.0 - lower_part)
    else:
        value = fraction.where(1.0 - upper_part, lower_part)
    value = large.where(temme(a, x, upper), value)
    none, all_ = (1.0, 0.0) if upper else (0.0, 1.0)
    value = (x.equal(0.0) | a.equal(math.inf)).where(none, value)
    value = (x.equal(math.inf) | (a.equal(0.0) & (x > 0.0))).where(all_, value)
    bad = ~((a >= 0.0) & (x >= 0.0)) | (a.equal(0.0) & x.equal(0.0))
    return bad.where(math.nan, value)


def sample_derivative(a: Term, x: Term) -> Term:
    """-P_a(a, x) / P_x(a, x)."""
    large = near_large(a, x)
    fraction = (x > 1.0) & (x > a) & ~large
    series = ~fraction & ~large & (a > 0.0) & (x > 0.0)
    log_x, psi = x.log(), a.chlo("digamma")
    total, slope = power_series(a, x, series, True)
    low = -(total * (log_x - psi - 1.0 / a) + slope) * x / a
    total, slope = continued_fraction(a, x, fraction, True)
    high = x * (total * (log_x - psi) + slope)
    value = large.where(temme_sample_derivative(a, x), fraction.where(high, low))
    value = x.equal(0.0).where(0.0, value)
    bad = ~((a > 0.0) & (x >= 0.0))
    return bad.where(math.nan, value)


def derivative_in_a(a: Term, x: Term) -> Term:
    """dP/da."""
    outside = x.equal(0.0) | x.equal(math.inf)
    safe = outside.where(1.0, x)
    value = outside.where(0.0, -sample_derivative(a, safe) * density(a, safe))
    bad = ~((a > 0.0) & (x >= 0.0))
    return bad.where(math.nan, value)
