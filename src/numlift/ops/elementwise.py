"""Unary elementwise operations: rounding, signs, exponentials, logarithms, roots, powers.

Derivatives at edge points: abs'(0) = 0; sqrt'(0) = inf; a floor or sign has derivative 0.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import errors
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..structural.arith import (
    add,
    complex_,
    conj,
    imag,
    mul,
    real,
    real_dtype,
    select,
    sub,
)
from ..structural.families import BOOL, Unary
from .compare import eq
from .elementwise_cpu import exp2_text, fast_lowering


class RoundingMethod(enum.IntEnum):
    """Where `round` takes a number half-way between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class AccuracyMode(enum.Enum):
    """How accurate an elementary function must be."""

    HIGHEST = 1
    DEFAULT = 2


class Tolerance:
    """Bounds on the error of an elementary function: absolute, relative, in units of last place.

    Example:
        >>> Tolerance(rtol=1e-3)
        Tolerance(atol=0.0, rtol=0.001, ulps=0)
    """

    __slots__ = ("atol", "rtol", "ulps")

    def __init__(self, atol: float = 0.0, rtol: float = 0.0, ulps: int = 0):
        if atol < 0 or rtol < 0 or ulps < 0:
            raise errors.ValueArgumentError(
                errors.explain(
                    "Tolerance",
                    "bounds must not be negative",
                    {"atol": atol, "rtol": rtol, "ulps": ulps},
                )
            )
        self.atol, self.rtol, self.ulps = float(atol), float(rtol), int(ulps)

    def __repr__(self) -> str:
        return f"Tolerance(atol={self.atol}, rtol={self.rtol}, ulps={self.ulps})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tolerance) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[float, float, int]:
        return self.atol, self.rtol, self.ulps


def accuracy_text(accuracy: Any) -> str:
    """StableHLO attribute for an accuracy, with a space in front; empty for the default."""
    if accuracy is None or accuracy is AccuracyMode.DEFAULT:
        return ""
    mode = "HIGHEST" if accuracy is AccuracyMode.HIGHEST else "TOLERANCE"
    bounds = ""
    if isinstance(accuracy, Tolerance):
        bounds = f"atol = {accuracy.atol:.6e}, rtol = {accuracy.rtol:.6e}, ulps = {accuracy.ulps}, "
    return (
        f" {{result_accuracy = #stablehlo.result_accuracy<{bounds}"
        f"mode = #stablehlo.result_accuracy_mode<{mode}>>}}"
    )


def div_by(dx: Any, x: Any) -> Any:
    """dx / x, through the division operation entered by `elementwise_binary`."""
    return apply(division[0], dx, x)


division: list[Any] = []
"""The `div` operation, entered by `elementwise_binary`, which builds on this file."""


class Accurate(Unary):
    """Unary operation whose accuracy can be asked for."""

    accuracy: Any = None

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if self.accuracy is None:
            fast = fast_lowering(self, ctx, operands, outs[0])
            if fast is not None:
                return fast
        return ctx.emit(f"{self.hlo} {operands[0]}{accuracy_text(self.accuracy)} : {outs[0].mlir}")


# --- signs and rounding --------------------------------------------------------------------


class Abs(Unary):
    """|x|; complex gives its real modulus. Derivative: sign(x), so 0 at 0."""

    hlo = "stablehlo.abs"
    accepts = "ifc"

    def out_dtype(self, *dtypes: Any) -> Any:
        return real_dtype(dtypes[0])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, dx = primals[0], tangents[0]
        out, s = apply(self, x), apply(sign, x)
        if type_of(x).kind == "c":
            return out, apply(real, apply(mul, apply(conj, s), dx))
        return out, apply(mul, dx, s)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return ctx.emit(f"{self.hlo} {operands[0]} : ({types[0].mlir}) -> {outs[0].mlir}")


class Sign(Unary):
    """-1, 0 or 1; complex: x / |x|, and 0 at 0."""

    hlo = "stablehlo.sign"
    accepts = "iufc"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, dx = primals[0], tangents[0]
        s = apply(self, x)
        if type_of(x).kind != "c":
            return s, None
        # d(x/|x|) = i s Im(conj(s) dx) / |x|; s is 0 at 0.
        size = apply(abs_, x)
        one, zero = type_of(size).dtype.type(1), type_of(size).dtype.type(0)
        safe = apply(select, apply(eq, size, zero), size, one)
        turn = div_by(apply(imag, apply(mul, apply(conj, s), dx)), safe)
        return s, apply(mul, s, apply(complex_, zero, turn))

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (out,) = outs
        if out.kind == "u":
            bools = array_type(out.shape, np.bool_)
            more = ctx.emit(
                f"stablehlo.compare NE, {operands[0]}, {ctx.full(0, out)}, UNSIGNED : "
                f"({out.mlir}, {out.mlir}) -> {bools.mlir}"
            )
            return ctx.convert(more, bools, out)
        return ctx.emit(f"{self.hlo} {operands[0]} : {out.mlir}")


class Floor(Unary):
    """Largest integer <= x."""

    hlo = "stablehlo.floor"
    accepts = "f"


class Ceil(Unary):
    """Smallest integer >= x."""

    hlo = "stablehlo.ceil"
    accepts = "f"


class Round(Unary):
    """Nearest integer."""

    accepts = "f"
    method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        even = self.method is RoundingMethod.TO_NEAREST_EVEN
        name = "round_nearest_even" if even else "round_nearest_afz"
        return ctx.emit(f"stablehlo.{name} {operands[0]} : {outs[0].mlir}")


class IsFinite(Unary):
    """Whether x is neither infinite nor NaN."""

    accepts = "f"
    result = BOOL

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return ctx.emit(f"stablehlo.is_finite {operands[0]} : ({types[0].mlir}) -> {outs[0].mlir}")


# --- exponentials and logarithms -----------------------------------------------------------


class Exp(Accurate):
    """e**x."""

    hlo = "stablehlo.exponential"

    def derivative(self, x: Any, y: Any) -> Any:
        return y


class Exp2(Accurate):
    """2**x: exact powers of two for whole x."""

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(mul, y, type_of(y).dtype.type(math.log(2)))

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return exp2_text(ctx, operands[0], outs[0], accuracy_text(self.accuracy))


class Expm1(Accurate):
    """e**x - 1, exact for small x."""

    hlo = "stablehlo.exponential_minus_one"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(add, y, type_of(y).dtype.type(1))


class Log(Accurate):
    """Natural logarithm."""

    hlo = "stablehlo.log"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x = primals[0]
        return apply(self, x), div_by(tangents[0], x)


class Log1p(Accurate):
    """log(1 + x), exact for small x."""

    hlo = "stablehlo.log_plus_one"
    name: ClassVar[str] = "log1p"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x = primals[0]
        return apply(self, x), div_by(tangents[0], apply(add, x, type_of(x).dtype.type(1)))


class Logistic(Accurate):
    """1 / (1 + e**-x)."""

    hlo = "stablehlo.logistic"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(mul, y, apply(sub, type_of(y).dtype.type(1), y))


# --- roots and powers ----------------------------------------------------------------------


class Sqrt(Accurate):
    """Square root. Derivative at 0: inf."""

    hlo = "stablehlo.sqrt"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        y = apply(self, primals[0])
        return y, apply(mul, tangents[0], div_by(type_of(y).dtype.type(0.5), y))


class Rsqrt(Accurate):
    """1 / sqrt(x)."""

    hlo = "stablehlo.rsqrt"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(mul, type_of(y).dtype.type(-0.5), div_by(y, x))


class Cbrt(Accurate):
    """Real cube root, also of negative numbers. Derivative at 0: inf."""

    hlo = "stablehlo.cbrt"
    accepts = "f"

    def derivative(self, x: Any, y: Any) -> Any:
        return div_by(type_of(y).dtype.type(1 / 3), apply(mul, y, y))


class Square(Unary):
    """x * x."""

    accepts = "iufc"

    def derivative(self, x: Any, y: Any) -> Any:
        return apply(mul, type_of(x).dtype.type(2), x)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,), (out,) = operands, outs
        return ctx.emit(f"stablehlo.multiply {x}, {x} : {out.mlir}")


class IntegerPow(Unary):
    """x**exponent for a Python int, by repeated squaring. x**0 is 1 everywhere, derivative 0."""

    accepts = "iufc"
    exponent: int

    def out_type(self, *types: ArrayType) -> ArrayType:
        out = super().out_type(*types)
        if self.exponent < 0 and out.kind in "iu":
            raise errors.DTypeError(
                errors.explain(
                    "integer_pow",
                    f"integers cannot be raised to the negative power {self.exponent}",
                    {"x": types[0]},
                    try_="convert x to a floating dtype first",
                )
            )
        return out

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, dx, n = primals[0], tangents[0], self.exponent
        y = apply(self, x)
        if n == 0:
            return y, None
        if n == 1:
            return y, dx
        factor = x if n == 2 else apply(IntegerPow.of(n - 1), x)
        return y, apply(mul, dx, apply(mul, type_of(x).dtype.type(n), factor))

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (out,) = outs
        n, power, result = abs(self.exponent), operands[0], ""
        while n:
            if n & 1:
                result = (
                    ctx.emit(f"stablehlo.multiply {result}, {power} : {out.mlir}")
                    if result
                    else power
                )
            n >>= 1
            if n:
                power = ctx.emit(f"stablehlo.multiply {power}, {power} : {out.mlir}")
        one = ctx.full(1, out)
        if not result:
            return one
        if self.exponent < 0:
            return ctx.emit(f"stablehlo.divide {one}, {result} : {out.mlir}")
        return result


abs_, sign, floor, ceil, is_finite = Abs.of(), Sign.of(), Floor.of(), Ceil.of(), IsFinite.of()
round_, round_even = (
    Round.of(RoundingMethod.AWAY_FROM_ZERO),
    Round.of(RoundingMethod.TO_NEAREST_EVEN),
)
exp, exp2, expm1, log, log1p = Exp.of(), Exp2.of(), Expm1.of(), Log.of(), Log1p.of()
logistic, sqrt, rsqrt, cbrt = Logistic.of(), Sqrt.of(), Rsqrt.of(), Cbrt.of()
square, reciprocal = Square.of(), IntegerPow.of(-1)
