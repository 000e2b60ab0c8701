"""The regularised incomplete beta function in StableHLO text.

Sources: DLMF 8.17.22 (continued fraction, evaluated by Lentz's method), 8.17.4 (symmetry); Loader,
"Fast and accurate computation of binomial probabilities" (2000), for the factor in front.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .elementwise_text import Term, loop
from .special_gamma import MAX_STEPS, stirling_rest


def part_deviance(a: Term, other: Term, x: Term, rest: Term) -> Term:
    """-a log(x (a + b) / a) + a mu with mu = (b x - a (1 - x)) / a, accurate for small mu."""
    mu = (other * x - a * rest) / a
    s = mu / (mu + 2.0)
    square = s * s
    count = 18 if a.type.dtype.itemsize == 8 else 8
    tail = square.polynomial([1 / (2 * k + 3) for k in range(count)])
    near = a * s * (mu - 2.0 * square * tail)
    logarithm = x.log() + (other / a).log1p()
    return (abs(mu) < 0.5).where(near, a * (mu - logarithm))


def prefix(a: Term, b: Term, x: Term) -> Term:
    """x**a (1 - x)**b / B(a, b)."""
    rest = 1.0 - x
    power = part_deviance(a, b, x, rest) + part_deviance(b, a, rest, x)
    corrections = stirling_rest(a + b) - stirling_rest(a) - stirling_rest(b)
    root = (a / (a + b) * b * (1 / (2 * math.pi))).sqrt()
    return (corrections - power).exp() * root


def density(a: Term, b: Term, x: Term) -> Term:
    """x**(a - 1) (1 - x)**(b - 1) / B(a, b)."""
    inside = prefix(a, b, x) / (x * (1.0 - x))
    at_zero = (a < 1.0).where(math.inf, a.equal(1.0).where(b, 0.0))
    at_one = (b < 1.0).where(math.inf, b.equal(1.0).where(a, 0.0))
    value = x.equal(0.0).where(at_zero, x.equal(1.0).where(at_one, inside))
    bad = ~((a > 0.0) & (b > 0.0) & (x >= 0.0) & (x <= 1.0))
    return bad.where(math.nan, value)


def continued_fraction(a: Term, b: Term, x: Term) -> Term:
    """The fraction of DLMF 8.17.22, for x < (a + 1) / (a + b + 2)."""
    tiny = 1e-30
    eps = float(np.finfo(a.type.dtype).eps)
    zero, one, huge = a.constant(0.0), a.constant(1.0), a.constant(1e30)

    def away(t: Term) -> Term:
        return (abs(t) < tiny).where(tiny, t)

    def going(state: list[Term]) -> str:
        return (state[4] & (state[0] < float(MAX_STEPS))).any()

    def step(state: list[Term]) -> Sequence[Term]:
        m, c, d, f, active = state
        double = a + 2.0 * m
        # Odd coefficient d_(2m+1), then even coefficient d_(2m+2).
        top = -((a + m) / double) * ((a + b + m) / (double + 1.0)) * x
        d = 1.0 / away(top * d + 1.0)
        c = away(top / c + 1.0)
        first = c * d
        m = m + 1.0
        double = a + 2.0 * m
        top = m / (double - 1.0) * ((b - m) / double) * x
        d = 1.0 / away(top * d + 1.0)
        c = away(top / c + 1.0)
        change = c * d
        # Elements that have converged stay as they are: rounding would make them drift.
        fresh = active.where(f * (first * change), f)
        return [m, c, d, fresh, active & (abs(change - 1.0) > eps)]

    every = a.equal(a)
    return loop(a.ctx, [zero, huge, one, one, every], going, step)[3]


def incomplete(a: Term, b: Term, x: Term) -> Term:
    """I_x(a, b)."""
    inside = (a > 0.0) & (b > 0.0) & (x > 0.0) & (x < 1.0)
    inside = inside & (a < math.inf) & (b < math.inf)
    safe_a, safe_b, safe_x = inside.where(a, 1.0), inside.where(b, 1.0), inside.where(x, 0.5)
    swap = safe_x > (safe_a + 1.0) / (safe_a + safe_b + 2.0)
    p, q = swap.where(safe_b, safe_a), swap.where(safe_a, safe_b)
    near = swap.where(1.0 - safe_x, safe_x)
    part = prefix(safe_a, safe_b, safe_x) / p * continued_fraction(p, q, near)
    value = swap.where(1.0 - part, part)
    # At the ends, and for a parameter 0 or inf, all the mass sits in one point.
    below = x.equal(0.0) | b.equal(0.0) | a.equal(math.inf)
    above = x.equal(1.0) | a.equal(0.0) | b.equal(math.inf)
    ends = below.where(0.0, above.where(a.constant(1.0), math.nan))
    value = inside.where(value, ends)
    bad = ~((a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (x <= 1.0))
    both = (a.equal(0.0) & b.equal(0.0)) | (a.equal(math.inf) & b.equal(math.inf))
    return (bad | both).where(math.nan, value)
