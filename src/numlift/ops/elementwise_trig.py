"""Trigonometric and hyperbolic operations and their inverses.

Derivatives at the ends of the domain are infinite: asin, acos, atanh at +-1, acosh at 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tracing import apply, type_of
from ..structural.arith import add, mul, neg, sub
from ..structural.families import Unary
from .elementwise import Accurate, div_by, rsqrt, square
from .elementwise_cpu import fast_lowering
from .elementwise_text import Term


class Wave(Accurate):
    """Sine or cosine. XLA multiplies 0 by infinity for a complex x whose real part is 0."""

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        found = super().lower(ctx, operands, types, outs)
        if types[0].kind != "c":
            return found
        x, y = Term(ctx, operands[0], types[0]), Term(ctx, found, outs[0])
        re, im = self.on_the_imaginary_axis(x.part("real"), x.part("imag"), y)
        return ctx.emit(f"stablehlo.complex {re.name}, {im.name} : {outs[0].mlir}")

    def on_the_imaginary_axis(self, a: Term, b: Term, y: Term) -> tuple[Term, Term]:
        """The parts of the result `y` at a + bi, right also where a is 0."""
        raise NotImplementedError


class Sin(Wave):
    """Sine."""

    hlo = "stablehlo.sine"

    def on_the_imaginary_axis(self, a: Term, b: Term, y: Term) -> tuple[Term, Term]:
        return a.compare("EQ", 0).where(a, y.part("real")), y.part("imag")

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(cos, x)


class Cos(Wave):
    """Cosine."""

    hlo = "stablehlo.cosine"

    def on_the_imaginary_axis(self, a: Term, b: Term, y: Term) -> tuple[Term, Term]:
        zero = b.compare("LT", 0).where(a, -a)
        return y.part("real"), a.compare("EQ", 0).where(zero, y.part("imag"))

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(neg, apply(sin, x))


class Tan(Accurate):
    """Tangent."""

    hlo = "stablehlo.tan"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(add, apply(square, y), type_of(y).dtype.type(1))


class Tanh(Accurate):
    """Hyperbolic tangent."""

    hlo = "stablehlo.tanh"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(sub, type_of(y).dtype.type(1), apply(square, y))


class Chlo(Unary):
    """Operation that XLA has under its own name in CHLO."""

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        fast = fast_lowering(self, ctx, operands, outs[0])
        if fast is not None:
            return fast
        return ctx.emit(f"{self.hlo} {operands[0]} : {types[0].mlir} -> {outs[0].mlir}")


class Sinh(Chlo):
    """Hyperbolic sine."""

    hlo = "chlo.sinh"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(cosh, x)


class Cosh(Chlo):
    """Hyperbolic cosine."""

    hlo = "chlo.cosh"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(sinh, x)


def one_minus_square(x: Any) -> Any:
    """(1 - x)(1 + x): exact near x = 1, unlike 1 - x*x."""
    one = type_of(x).dtype.type(1)
    return apply(mul, apply(sub, one, x), apply(add, one, x))


class Asin(Chlo):
    """Inverse sine."""

    hlo = "chlo.asin"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(rsqrt, one_minus_square(x))


class Acos(Chlo):
    """Inverse cosine."""

    hlo = "chlo.acos"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(neg, apply(rsqrt, one_minus_square(x)))


class Atan(Chlo):
    """Inverse tangent."""

    hlo = "chlo.atan"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x = primals[0]
        size = apply(add, apply(square, x), type_of(x).dtype.type(1))
        return apply(self, x), div_by(tangents[0], size)


class Asinh(Chlo):
    """Inverse hyperbolic sine."""

    hlo = "chlo.asinh"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(rsqrt, apply(add, apply(square, x), type_of(x).dtype.type(1)))


class Acosh(Chlo):
    """Inverse hyperbolic cosine."""

    hlo = "chlo.acosh"

    def derivative(self, x: Any, y: Any) -> Any:
        # Two roots, not one of the product: right on the whole complex plane.
        one = type_of(x).dtype.type(1)
        return apply(mul, apply(rsqrt, apply(sub, x, one)), apply(rsqrt, apply(add, x, one)))


class Atanh(Chlo):
    """Inverse hyperbolic tangent."""

    hlo = "chlo.atanh"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x = primals[0]
        return apply(self, x), div_by(tangents[0], one_minus_square(x))


sin, cos, tan, tanh = Sin.of(), Cos.of(), Tan.of(), Tanh.of()
sinh, cosh, asin, acos, atan = Sinh.of(), Cosh.of(), Asin.of(), Acos.of(), Atan.of()
asinh, acosh, atanh = Asinh.of(), Acosh.of(), Atanh.of()
