"""Rows for special functions."""

from __future__ import annotations

from typing import Any

import scipy.special as sp

from numlift import lax
from tests.samples import FLOATS, Sample
from tests.samples.elementwise import ROUGH, arrays, numbers

LOOSE = {**ROUGH, "float32": 1e-4}


def row(name: str, function: Any, oracle: Any, *makers: Any, **fields: Any) -> Sample:
    """Row of a special function, differentiable in its last argument."""
    fields.setdefault("differentiable", (len(makers) - 1,))
    fields.setdefault("tolerances", LOOSE)
    return Sample(name, function, arrays(*makers), oracle, FLOATS, **fields)


def order(rng: Any, dtype: Any) -> Any:
    """Whole orders 0 to 3 as floats."""
    return rng.integers(0, 4, (3, 4)).astype(dtype)


plus = numbers(0.5, 3.0, signs=False)
unit = numbers(0.2, 0.8, signs=False)

SAMPLES: list[Sample] = [
    row("erf", lax.erf, sp.erf, numbers(0.1, 2.0)),
    row("erfc", lax.erfc, sp.erfc, numbers(0.1, 2.0)),
    row("erf_inv", lax.erf_inv, sp.erfinv, numbers(0.1, 0.8)),
    row("lgamma", lax.lgamma, sp.gammaln, numbers(2.5, 6.0, signs=False)),
    row("lgamma/negative", lambda x: lax.lgamma(lax.neg(x)), lambda x: sp.gammaln(-x), unit),
    row("digamma", lax.digamma, sp.digamma, numbers(2.0, 6.0, signs=False)),
    row("digamma/negative", lambda x: lax.digamma(lax.neg(x)), lambda x: sp.digamma(-x), unit,
        second_order=False),
    row("bessel_i0e", lax.bessel_i0e, sp.i0e, numbers(0.2, 12.0)),
    row("bessel_i1e", lax.bessel_i1e, sp.i1e, numbers(0.2, 12.0)),
    row("polygamma", lax.polygamma, lambda m, x: sp.polygamma(m.astype(int), x), order, plus),
    row("zeta", lax.zeta, sp.zeta, numbers(1.5, 4.0, signs=False), plus),
    row("igamma", lax.igamma, sp.gammainc, plus, plus, differentiable=(0, 1), second_order=False),
    row("igamma/x", lax.igamma, sp.gammainc, plus, plus),
    row("igammac", lax.igammac, sp.gammaincc, plus, plus, differentiable=(0, 1),
        second_order=False),
    row("igamma_grad_a", lax.igamma_grad_a, None, plus, plus),
    row("random_gamma_grad", lax.random_gamma_grad, None, plus, plus, differentiable=()),
    row("betainc", lax.betainc, sp.betainc, plus, plus, unit),
    row("betainc/rank0", lax.betainc, sp.betainc, numbers(0.5, 3.0, (), signs=False),
        numbers(0.5, 3.0, (), signs=False), unit),
]  # fmt: skip
