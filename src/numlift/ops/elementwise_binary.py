"""Elementwise operations on two or three operands: division, extremes, powers, bits, clamp.

Derivatives at edge points: a tie of max or min gives one half to each side; x**0 has derivative 0
in x for every x; 0**y has derivative 0 in y; atan2(0, 0) has derivative 0; clamp has derivative 0
in x at its bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import errors
from ..core.dtypes import finfo, iinfo
from ..core.graph import Literal
from ..core.op import Linear
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..structural.arith import add, convert, mul, neg, select, spread, sub
from ..structural.families import Binary, Elementwise, check_kind, check_same_dtype, common_shape
from ..structural.shape import sum_to
from .compare import eq, gt, lt
from .elementwise import division, log, round_, square
from .elementwise_cpu import fast_lowering
from .elementwise_text import Term


def lower_whole(op: Any, ctx: Any, operands: list[str], out: ArrayType, of_zero: str) -> str:
    """Division of integers; for y = 0 the result is the operand `of_zero`.

    XLA's compiler divides constants by the machine's instruction, which ends the process if y is 0.
    Where y may turn out to be constant, it divides by 1 instead.
    """
    x, y = operands
    text = f"{op.hlo} {{}}, {{}} : {out.mlir}"
    divisor = ctx.equation.inputs[1]
    if type(divisor) is Literal and divisor.value != 0:
        return ctx.emit(text.format(x, y))
    flags = array_type(out.shape, np.dtype(bool)).mlir
    zero, one = ctx.full(0, out), ctx.full(1, out)
    is_zero = ctx.emit(f"stablehlo.compare EQ, {y}, {zero} : ({out.mlir}, {out.mlir}) -> {flags}")
    safe = ctx.emit(f"stablehlo.select {is_zero}, {one}, {y} : {flags}, {out.mlir}")
    result = ctx.emit(text.format(x, safe))
    return ctx.emit(f"stablehlo.select {is_zero}, {of_zero}, {result} : {flags}, {out.mlir}")


class Div(Binary):
    """x / y; integers: quotient truncated towards zero, -1 (all bits set) for y = 0."""

    hlo = "stablehlo.divide"
    accepts = "iufc"

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        out = outs[0]
        if out.kind not in "iu":
            return super().lower(ctx, operands, types, outs)
        ones = -1 if out.kind == "i" else int(iinfo(out.dtype).max)
        return lower_whole(self, ctx, operands, out, ctx.full(ones, out))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, y = primals
        z = apply(div, x, y)
        dx, dy = tangents
        dz = None if dx is None else apply(div, dx, y)
        if dy is not None:
            term = apply(mul, dy, apply(neg, apply(div, z, y)))
            dz = term if dz is None else apply(add, dz, term)
        return z, dz

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, y = inputs
        assert type(x) is Linear
        return sum_to(apply(div, ct, y), x.type), None


class Rem(Binary):
    """Remainder with the sign of x: x - y trunc(x / y); integers: x for y = 0."""

    hlo = "stablehlo.remainder"
    accepts = "iuf"

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if outs[0].kind not in "iu":
            return super().lower(ctx, operands, types, outs)
        return lower_whole(self, ctx, operands, outs[0], operands[0])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, y = primals
        z = apply(self, x, y)
        dx, dy = tangents
        dz = None if dx is None else spread(dx, type_of(z))
        if dy is not None:
            # (z - x) / y is minus a whole number up to rounding.
            factor = apply(round_, apply(div, apply(sub, z, x), y))
            term = apply(mul, dy, factor)
            dz = term if dz is None else apply(add, dz, term)
        return z, dz


class Extreme(Binary):
    """Base of max and min; complex numbers are ordered by real, then imaginary part."""

    relation: ClassVar[Any]
    direction: ClassVar[str]

    def derivative0(self, x: Any, y: Any, z: Any) -> Any:
        return self.share(x, y)

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        return self.share(y, x)

    def share(self, mine: Any, other: Any) -> Any:
        """1 where `mine` is the result, 0 where `other` is, 1/2 where both are."""
        number = type_of(mine).dtype.type
        if type_of(mine).kind == "c":
            z = apply(self, mine, other)
            alone = apply(select, apply(eq, mine, z), number(0), number(1))
        else:
            alone = apply(select, apply(self.relation, mine, other), number(0), number(1))
        return apply(select, apply(eq, mine, other), alone, number(0.5))

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if outs[0].kind != "c":
            return super().lower(ctx, operands, types, outs)
        x, y = (Term(ctx, name, outs[0]) for name in operands)
        return complex_extreme(x, y, self.direction).name


def complex_extreme(x: Term, y: Term, direction: str) -> Term:
    """x where it comes first in the order of real, then imaginary parts, else y; NaN wins."""
    a, b, c, d = x.part("real"), x.part("imag"), y.part("real"), y.part("imag")
    first = a.compare(direction, c) | (a.equal(c) & b.compare(direction, d))
    nan_x, nan_y = a.is_nan() | b.is_nan(), c.is_nan() | d.is_nan()
    return (nan_x | (first & ~nan_y)).where(x, y)


class Max(Extreme):
    """The larger of x and y; NaN if one is NaN."""

    hlo = "stablehlo.maximum"
    relation = gt
    direction = "GT"


class Min(Extreme):
    """The smaller of x and y; NaN if one is NaN."""

    hlo = "stablehlo.minimum"
    relation = lt
    direction = "LT"


class Pow(Binary):
    """x**y; y has the dtype of x or an integer dtype."""

    def out_type(self, *types: ArrayType) -> ArrayType:
        x, y = types
        check_kind(self, types[:1], "fc")
        if y.kind not in "iu":
            check_kind(self, types[1:], "iufc")
            check_same_dtype(self, types)
        sharding = None
        if x.sharding is not None or y.sharding is not None:
            sharding = self.shard(x, y)
        weak = x.weak_type and y.weak_type
        return array_type(common_shape(self, types), x.dtype, weak, sharding)

    def derivative0(self, x: Any, y: Any, z: Any) -> Any:
        t, u = type_of(x), type_of(y)
        one = u.dtype.type(1)
        factor = y if u.dtype == t.dtype else convert(y, t.dtype)
        base = x
        if not (isinstance(y, (int, float, complex, np.generic)) and y != 0):
            # At x = y = 0 take the base 1: y x**(y-1) is then 0, with finite derivatives.
            none = apply(eq, y, u.dtype.type(0))
            zero = apply(eq, x, t.dtype.type(0))
            base = apply(select, apply(and_, none, zero), x, t.dtype.type(1))
        if u.kind == "u":
            # Unsigned y - 1 would wrap around at 0.
            safe = apply(max_, y, one)
            return apply(mul, factor, apply(pow_, base, apply(sub, safe, one)))
        return apply(mul, factor, apply(pow_, base, apply(sub, y, one)))

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        t = type_of(x)
        base = apply(select, apply(eq, x, t.dtype.type(0)), x, t.dtype.type(1))
        return apply(mul, z, apply(log, base))

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x, y), (out,) = types, outs
        if y.dtype == x.dtype:
            fast = fast_lowering(self, ctx, operands, out)
            if fast is not None:
                return fast
            return ctx.emit(f"stablehlo.power {operands[0]}, {operands[1]} : {out.mlir}")
        if x.kind == "c":
            exponent = ctx.convert(operands[1], y, x)
            return ctx.emit(f"stablehlo.power {operands[0]}, {exponent} : {out.mlir}")
        return self.integer_exponent(ctx, operands, types, out)

    @staticmethod
    def integer_exponent(ctx: Any, operands: list[str], types: Any, out: ArrayType) -> str:
        """Float base, integer exponent: in float32 at least, and exact about odd and even."""
        x, n = Term(ctx, operands[0], types[0]), Term(ctx, operands[1], types[1])
        if x.type.dtype.itemsize < 4:
            x = x.to(np.float32)
        digits = 8 * n.type.dtype.itemsize - (n.type.kind == "i")
        y = n.to(x.type.dtype)
        result = x.binary("stablehlo.power", y)
        mantissa = finfo(x.type.dtype).nmant + 1
        if digits > mantissa:
            # Large exponents round to even floats: put the sign of odd ones back.
            odd = n.binary("stablehlo.and", 1).equal(1)
            negative = odd & (abs(y) >= float(2**mantissa)) & (x < 0)
            result = negative.where(-result, result)
        return result.to(out.dtype).name


class Atan2(Binary):
    """Angle of the point (y, x): atan2(x, y) is the inverse tangent of x / y in its quadrant."""

    hlo = "stablehlo.atan2"
    accepts = "fc"

    def derivative0(self, x: Any, y: Any, z: Any) -> Any:
        return apply(div, y, self.norm(x, y))

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        return apply(div, apply(neg, x), self.norm(x, y))

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        fast = fast_lowering(self, ctx, operands, outs[0])
        return super().lower(ctx, operands, types, outs) if fast is None else fast

    @staticmethod
    def norm(x: Any, y: Any) -> Any:
        """x**2 + y**2, but 1 at the origin, so that the derivatives there are 0."""
        r = apply(add, apply(square, x), apply(square, y))
        number = type_of(r).dtype.type
        return apply(select, apply(eq, r, number(0)), r, number(1))


class NextAfter(Binary):
    """The next number after x in the direction of y."""

    name = "nextafter"
    hlo = "chlo.next_after"
    accepts = "f"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        raise errors.GradError(
            errors.explain(
                "jvp of nextafter",
                "this operation has no derivative rule",
                try_="lax.stop_gradient(lax.nextafter(x, y) - x) + x moves x with derivative 1",
            )
        )

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        t = outs[0].mlir
        return ctx.emit(f"{self.hlo} {', '.join(operands)} : {t}, {t} -> {t}")


# --- bits ----------------------------------------------------------------------------------


class And(Binary):
    """Bitwise (bool: logical) and."""

    hlo = "stablehlo.and"
    accepts = "biu"


class Or(And):
    """Bitwise (bool: logical) or."""

    hlo = "stablehlo.or"


class Xor(And):
    """Bitwise (bool: logical) exclusive or."""

    hlo = "stablehlo.xor"


class Not(Elementwise):
    """Bitwise (bool: logical) complement."""

    hlo = "stablehlo.not"
    accepts = "biu"


class ShiftLeft(Binary):
    """x << y; 0 if y is negative or not less than the number of bits."""

    hlo = "stablehlo.shift_left"
    accepts = "iu"


class ShiftRightArithmetic(ShiftLeft):
    """x >> y with copies of the sign bit coming in."""

    hlo = "stablehlo.shift_right_arithmetic"


class ShiftRightLogical(ShiftLeft):
    """x >> y with zeros coming in."""

    hlo = "stablehlo.shift_right_logical"


class PopulationCount(Elementwise):
    """Number of bits set."""

    hlo = "stablehlo.popcnt"
    accepts = "iu"


class Clz(Elementwise):
    """Number of leading zero bits."""

    hlo = "stablehlo.count_leading_zeros"
    accepts = "iu"


class Mulhi(Binary):
    """Upper half of the product of integers, which has twice their bits."""

    accepts = "iu"

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (out,) = outs
        x, y = (Term(ctx, name, out) for name in operands)
        if out.dtype.itemsize < 8:
            bits = 8 * out.dtype.itemsize
            if out.dtype.name[-1] in "24" and not out.dtype.name.endswith(("32", "64")):
                bits = int(out.dtype.name[-1])
            wide = np.dtype(f"{out.kind}{max(2 * out.dtype.itemsize, 2)}")
            product = x.to(wide) * y.to(wide)
            return product.binary("stablehlo.shift_right_arithmetic", bits).to(out.dtype).name
        return self.halves(x, y).name

    @staticmethod
    def halves(x: Term, y: Term) -> Term:
        """64-bit operands by products of 32-bit halves (schoolbook; Knuth, TAOCP 4.3.1)."""
        unsigned = np.dtype("u8")

        def high(t: Term) -> Term:
            return t.binary("stablehlo.shift_right_logical", 32)

        def low(t: Term) -> Term:
            return t.binary("stablehlo.and", 0xFFFFFFFF)

        a, b = x.to(unsigned), y.to(unsigned)
        middle = high(a) * low(b) + high(low(a) * low(b))
        result = high(a) * high(b) + high(middle) + high(low(a) * high(b) + low(middle))
        if x.type.kind == "u":
            return result
        zero = x.constant(0)
        return result.to(x.type.dtype) - (x < 0).where(y, zero) - (y < 0).where(x, zero)


class Clamp(Elementwise):
    """min(max(x, low), high), where the bounds have the shape of x or rank 0."""

    hlo = "stablehlo.clamp"

    def out_type(self, *types: ArrayType) -> ArrayType:
        low, x, high = types
        for name, bound in (("min", low), ("max", high)):
            if bound.shape and bound.shape != x.shape:
                raise errors.ShapeError(
                    errors.explain(
                        "clamp",
                        f"{name} must have the shape of x or rank 0",
                        {"min": low, "x": x, "max": high},
                        try_=f"lax.broadcast_in_dim {name} to {x.shape}, or use nl.numpy.clip",
                    )
                )
        return super().out_type(*types)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        low, x, high = primals
        z = apply(self, low, x, high)
        t = type_of(z)
        if t.kind == "c":
            m, dm = max_.jvp((x, low), (tangents[1], tangents[0]))
            return z, spread(min_.jvp((m, high), (dm, tangents[2]))[1], t)
        zero, total = t.dtype.type(0), None
        below, above = apply(lt, x, high), apply(gt, x, low)
        conditions = (
            lambda: apply(and_, apply(gt, low, x), apply(lt, low, high)),
            lambda: apply(and_, above, below),
            lambda: apply(lt, high, x),
        )
        for condition, d in zip(conditions, tangents, strict=True):
            if d is not None:
                term = spread(apply(select, condition(), zero, d), t)
                total = term if total is None else apply(add, total, term)
        return z, total

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if outs[0].kind != "c":
            return super().lower(ctx, operands, types, outs)
        low, x, high = (Term(ctx, name, outs[0]) for name in operands)
        return complex_extreme(complex_extreme(x, low, "GT"), high, "LT").name


div, rem, max_, min_, pow_ = Div.of(), Rem.of(), Max.of(), Min.of(), Pow.of()
atan2, nextafter = Atan2.of(), NextAfter.of()
and_, or_, xor, not_ = And.of(), Or.of(), Xor.of(), Not.of()
shift_left, mulhi, clamp = ShiftLeft.of(), Mulhi.of(), Clamp.of()
shift_right_arithmetic, shift_right_logical = ShiftRightArithmetic.of(), ShiftRightLogical.of()
population_count, clz = PopulationCount.of(), Clz.of()
division.append(div)
