"""Special functions as operations: error functions, Bessel, gamma, zeta, incomplete integrals.

Derivatives that have no closed form (in the order of polygamma and zeta, in a and b of betainc,
second ones in a of igamma) raise `GradError`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import errors
from ..core.tracing import apply, type_of
from ..structural.arith import add, mul, neg, select, spread, sub
from ..structural.families import Binary, Elementwise, Unary
from . import special_bessel, special_beta, special_gamma
from .compare import eq
from .elementwise import div_by, exp, log, log1p, sign, square
from .elementwise_text import Term


def no_derivative(function: str, argument: str) -> errors.GradError:
    """The error for a derivative that has no rule."""
    return errors.GradError(
        errors.explain(
            f"jvp of {function}",
            f"there is no derivative in {argument}",
            try_=f"wrap {argument} in lax.stop_gradient(...)",
        )
    )


class Special(Unary):
    """Unary special function of real numbers; types narrower than 16 bits go through float32."""

    accepts = "f"

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        x = Term(ctx, operands[0], outs[0])
        if outs[0].dtype.itemsize < 2:
            return self.formula(x.to(np.float32)).to(outs[0].dtype).name
        return self.formula(x).name

    def formula(self, x: Term) -> Term:
        """The function as StableHLO text."""
        return x.chlo(self.hlo)


class Erf(Special):
    """Error function 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x."""

    hlo = "erf"
    scale: ClassVar[float] = 2 / math.sqrt(math.pi)

    def derivative(self, x: Any, y: Any) -> Any:
        bell = apply(exp, apply(neg, apply(square, x)))
        return apply(mul, type_of(x).dtype.type(self.scale), bell)


class Erfc(Erf):
    """1 - erf(x), accurate for large x."""

    hlo = "erfc"
    scale = -2 / math.sqrt(math.pi)


class ErfInv(Special):
    """Inverse of erf on (-1, 1). Infinite, as is its derivative, at -1 and 1."""

    hlo = "erf_inv"

    def derivative(self, x: Any, y: Any) -> Any:
        bell = apply(exp, apply(square, y))
        return apply(mul, type_of(x).dtype.type(math.sqrt(math.pi) / 2), bell)


class Lgamma(Special):
    """Logarithm of |Gamma(x)|; inf at 0, -1, -2, ..."""

    hlo = "lgamma"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(digamma, x)


class Digamma(Special):
    """Derivative of lgamma; NaN at 0, -1, -2, ..."""

    hlo = "digamma"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(polygamma, type_of(x).dtype.type(1), x)


class BesselI0e(Special):
    """exp(-|x|) I0(x), the scaled modified Bessel function of order 0."""

    name = "bessel_i0e"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(sub, apply(bessel_i1e, x), apply(mul, apply(sign, x), y))

    def formula(self, x: Term) -> Term:
        return special_bessel.i0e(x)


class BesselI1e(Special):
    """exp(-|x|) I1(x), the scaled modified Bessel function of order 1."""

    name = "bessel_i1e"
    hlo = "bessel_i1e"

    def derivative(self, x: Any, y: Any) -> Any:
        number = type_of(x).dtype.type
        zero = apply(eq, x, number(0))
        safe = apply(select, zero, x, number(1))
        slope = apply(mul, y, apply(add, apply(sign, x), div_by(number(1), safe)))
        return apply(select, zero, apply(sub, apply(bessel_i0e, x), slope), number(0.5))


class SpecialBinary(Binary):
    """Binary special function of real numbers; narrow types go through float32."""

    accepts = "f"
    through_float32: ClassVar[int] = 2

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        terms = [Term(ctx, name, outs[0]) for name in operands]
        if outs[0].dtype.itemsize < self.through_float32:
            terms = [t.to(np.float32) for t in terms]
        return self.formula(*terms).to(outs[0].dtype).name

    def formula(self, *terms: Term) -> Term:
        """The function as StableHLO text."""
        x, y = terms
        t = x.type
        text = f"chlo.{self.hlo} {x.name}, {y.name} : {t.mlir}, {t.mlir} -> {t.mlir}"
        return Term(x.ctx, x.ctx.emit(text), t)


class Polygamma(SpecialBinary):
    """The m-th derivative of digamma at x, for whole m >= 0."""

    hlo = "polygamma"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        if tangents[0] is not None:
            raise no_derivative("polygamma", "the order m")
        return super().jvp(primals, tangents)

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        return apply(self, apply(add, x, type_of(x).dtype.type(1)), y)


class Zeta(SpecialBinary):
    """Hurwitz zeta function, the sum of (q + k)**-s over k >= 0."""

    hlo = "zeta"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        if tangents[0] is not None:
            raise no_derivative("zeta", "the exponent s")
        return super().jvp(primals, tangents)

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        next_ = apply(self, apply(add, x, type_of(x).dtype.type(1)), y)
        return apply(neg, apply(mul, x, next_))


class GammaDensity(SpecialBinary):
    """x**(a - 1) exp(-x) / Gamma(a): the derivative of igamma in x."""

    through_float32 = 4

    def derivative0(self, x: Any, y: Any, z: Any) -> Any:
        return apply(mul, z, apply(sub, apply(log, y), apply(digamma, x)))

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        one = type_of(x).dtype.type(1)
        return apply(mul, z, apply(sub, div_by(apply(sub, x, one), y), one))

    def formula(self, *terms: Term) -> Term:
        return special_gamma.density(*terms)


class Igamma(SpecialBinary):
    """Regularised lower incomplete gamma function P(a, x)."""

    through_float32 = 4

    def derivative0(self, x: Any, y: Any, z: Any) -> Any:
        return apply(igamma_grad_a, x, y)

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        return apply(gamma_density, x, y)

    def formula(self, *terms: Term) -> Term:
        a, x = terms
        return special_gamma.incomplete(a, x, upper=False)


class Igammac(Igamma):
    """Regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x)."""

    def derivative0(self, x: Any, y: Any, z: Any) -> Any:
        return apply(neg, apply(igamma_grad_a, x, y))

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        return apply(neg, apply(gamma_density, x, y))

    def formula(self, *terms: Term) -> Term:
        a, x = terms
        return special_gamma.incomplete(a, x, upper=True)


class IgammaGradA(SpecialBinary):
    """Derivative of igamma(a, x) in a."""

    through_float32 = 4

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        if tangents[0] is not None:
            raise no_derivative("igamma_grad_a", "the parameter a")
        return super().jvp(primals, tangents)

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        p = apply(gamma_density, x, y)
        return apply(mul, p, apply(sub, apply(log, y), apply(digamma, x)))

    def formula(self, *terms: Term) -> Term:
        return special_gamma.derivative_in_a(*terms)


class RandomGammaGrad(SpecialBinary):
    """Derivative in a of a Gamma(a) sample with value x, at fixed probability: -P_a / P_x."""

    through_float32 = 4

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        raise errors.GradError(
            errors.explain(
                "jvp of random_gamma_grad",
                "second derivatives of gamma samples are not defined",
                try_="wrap the sample in lax.stop_gradient(...)",
            )
        )

    def formula(self, *terms: Term) -> Term:
        return special_gamma.sample_derivative(*terms)


class RegularizedIncompleteBeta(Elementwise):
    """Regularised incomplete beta function I_x(a, b)."""

    accepts = "f"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        if tangents[0] is not None or tangents[1] is not None:
            raise no_derivative("betainc", "the parameters a and b")
        out = apply(self, *primals)
        return out, spread(apply(mul, tangents[2], apply(beta_density, *primals)), type_of(out))

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        terms = [Term(ctx, name, outs[0]) for name in operands]
        if outs[0].dtype.itemsize < 4:
            terms = [t.to(np.float32) for t in terms]
        return self.formula(*terms).to(outs[0].dtype).name

    def formula(self, a: Term, b: Term, x: Term) -> Term:
        """The function as StableHLO text."""
        return special_beta.incomplete(a, b, x)


class BetaDensity(RegularizedIncompleteBeta):
    """x**(a - 1) (1 - x)**(b - 1) / B(a, b): the derivative of betainc in x."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        a, b, x = primals
        out = apply(self, a, b, x)
        one, total = type_of(x).dtype.type(1), None
        rest = apply(sub, one, x)
        both = apply(digamma, apply(add, a, b))
        factors = (
            lambda: apply(sub, apply(log, x), apply(sub, apply(digamma, a), both)),
            lambda: apply(sub, apply(log1p, apply(neg, x)), apply(sub, apply(digamma, b), both)),
            lambda: apply(sub, div_by(apply(sub, a, one), x), div_by(apply(sub, b, one), rest)),
        )
        for factor, d in zip(factors, tangents, strict=True):
            if d is not None:
                term = apply(mul, d, apply(mul, out, factor()))
                total = term if total is None else apply(add, total, term)
        return out, spread(total, type_of(out))

    def formula(self, a: Term, b: Term, x: Term) -> Term:
        return special_beta.density(a, b, x)


erf, erfc, erf_inv = Erf.of(), Erfc.of(), ErfInv.of()
lgamma, digamma, polygamma, zeta = Lgamma.of(), Digamma.of(), Polygamma.of(), Zeta.of()
bessel_i0e, bessel_i1e = BesselI0e.of(), BesselI1e.of()
igamma, igammac, igamma_grad_a = Igamma.of(), Igammac.of(), IgammaGradA.of()
gamma_density, random_gamma_grad = GammaDensity.of(), RandomGammaGrad.of()
regularized_incomplete_beta, beta_density = RegularizedIncompleteBeta.of(), BetaDensity.of()
