"""Arithmetic on operand texts, so that a lowering reads like the formula it emits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.types import ArrayType, array_type
from ..structural.arith import real_dtype

_ORDER = {"b": "UNSIGNED", "u": "UNSIGNED", "i": "SIGNED", "f": "FLOAT", "c": "FLOAT"}


class Term:
    """An array in StableHLO text: a builder, a name and a type. Numbers become constants."""

    __slots__ = ("ctx", "name", "type")

    def __init__(self, ctx: Any, name: str, type_: ArrayType):
        self.ctx, self.name, self.type = ctx, name, type_

    def constant(self, value: Any) -> Term:
        """An array of this type filled with a number."""
        return Term(self.ctx, self.ctx.full(value, self.type), self.type)

    def constant_of(self, dtype: Any, value: Any) -> Term:
        """An array of this shape and another dtype filled with a number."""
        out = array_type(self.type.shape, dtype)
        return Term(self.ctx, self.ctx.full(value, out), out)

    def unary(self, op: str) -> Term:
        """``op x``, of the same type."""
        return Term(self.ctx, self.ctx.emit(f"{op} {self.name} : {self.type.mlir}"), self.type)

    def chlo(self, op: str) -> Term:
        """``chlo.op x``, of the same type."""
        t = self.type.mlir
        return Term(self.ctx, self.ctx.emit(f"chlo.{op} {self.name} : {t} -> {t}"), self.type)

    def binary(self, op: str, other: Any) -> Term:
        """``op x, y``; `other` is a term of the same type or a number."""
        y = other if isinstance(other, Term) else self.constant(other)
        text = f"{op} {self.name}, {y.name} : {self.type.mlir}"
        return Term(self.ctx, self.ctx.emit(text), self.type)

    def compare(self, direction: str, other: Any) -> Term:
        """A bool term."""
        y = other if isinstance(other, Term) else self.constant(other)
        t, out = self.type, array_type(self.type.shape, np.bool_)
        text = f"stablehlo.compare {direction}, {self.name}, {y.name}, {_ORDER[t.kind]}"
        return Term(self.ctx, self.ctx.emit(f"{text} : ({t.mlir}, {t.mlir}) -> {out.mlir}"), out)

    def to(self, dtype: Any) -> Term:
        """Converted to another dtype."""
        out = array_type(self.type.shape, dtype)
        return Term(self.ctx, self.ctx.convert(self.name, self.type, out), out)

    def bits_as(self, dtype: Any) -> Term:
        """The same bits as another dtype of the same size."""
        out = array_type(self.type.shape, dtype)
        text = f"stablehlo.bitcast_convert {self.name} : ({self.type.mlir}) -> {out.mlir}"
        return Term(self.ctx, self.ctx.emit(text), out)

    def part(self, name: str) -> Term:
        """Real or imaginary part ("real", "imag") of a complex term."""
        out = array_type(self.type.shape, real_dtype(self.type.dtype))
        text = f"stablehlo.{name} {self.name} : ({self.type.mlir}) -> {out.mlir}"
        return Term(self.ctx, self.ctx.emit(text), out)

    def where(self, on_true: Term | float, on_false: Term | float) -> Term:
        """Element by element `on_true` where this bool term holds, else `on_false`."""
        if isinstance(on_true, Term):
            yes, no = on_true, on_false
            if not isinstance(no, Term):
                no = yes.constant(no)
        else:
            assert isinstance(on_false, Term)
            no = on_false
            yes = no.constant(on_true)
        text = f"stablehlo.select {self.name}, {yes.name}, {no.name}"
        out = yes.type
        return Term(self.ctx, self.ctx.emit(f"{text} : {self.type.mlir}, {out.mlir}"), out)

    def right(self, count: int) -> Term:
        """Bits shifted to the right, zeros coming in."""
        return self.binary("stablehlo.shift_right_logical", count)

    def limited(self, low: float, high: float) -> Term:
        """Clamped to an interval; NaN stays."""
        bottom, top = self.constant(low), self.constant(high)
        text = f"stablehlo.clamp {bottom.name}, {self.name}, {top.name} : {self.type.mlir}"
        return Term(self.ctx, self.ctx.emit(text), self.type)

    def any(self) -> str:
        """Name of a rank-0 bool: whether this bool term holds anywhere."""
        axes = tuple(range(self.type.ndim))
        out = array_type((), np.bool_)
        return self.ctx.reduce("stablehlo.or", self.name, False, self.type, out, axes)

    def __add__(self, other: Any) -> Term:
        return self.binary("stablehlo.add", other)

    def __radd__(self, other: Any) -> Term:
        return self.constant(other) + self

    def __sub__(self, other: Any) -> Term:
        return self.binary("stablehlo.subtract", other)

    def __rsub__(self, other: Any) -> Term:
        return self.constant(other) - self

    def __mul__(self, other: Any) -> Term:
        return self.binary("stablehlo.multiply", other)

    def __rmul__(self, other: Any) -> Term:
        return self.constant(other) * self

    def __truediv__(self, other: Any) -> Term:
        return self.binary("stablehlo.divide", other)

    def __rtruediv__(self, other: Any) -> Term:
        return self.constant(other) / self

    def __neg__(self) -> Term:
        return self.unary("stablehlo.negate")

    def __abs__(self) -> Term:
        return self.unary("stablehlo.abs")

    def __and__(self, other: Term) -> Term:
        return self.binary("stablehlo.and", other)

    def __or__(self, other: Term) -> Term:
        return self.binary("stablehlo.or", other)

    def __invert__(self) -> Term:
        return self.unary("stablehlo.not")

    def __lt__(self, other: Any) -> Term:
        return self.compare("LT", other)

    def __le__(self, other: Any) -> Term:
        return self.compare("LE", other)

    def __gt__(self, other: Any) -> Term:
        return self.compare("GT", other)

    def __ge__(self, other: Any) -> Term:
        return self.compare("GE", other)

    def equal(self, other: Any) -> Term:
        """Bool term x == other."""
        return self.compare("EQ", other)

    def is_nan(self) -> Term:
        """Bool term: whether x is NaN."""
        return self.compare("NE", self)

    def exp(self) -> Term:
        """e**x."""
        return self.unary("stablehlo.exponential")

    def log(self) -> Term:
        """Natural logarithm."""
        return self.unary("stablehlo.log")

    def log1p(self) -> Term:
        """log(1 + x)."""
        return self.unary("stablehlo.log_plus_one")

    def sqrt(self) -> Term:
        """Square root."""
        return self.unary("stablehlo.sqrt")

    def polynomial(self, coefficients: Sequence[float]) -> Term:
        """sum of coefficients[k] x**k, by Horner's rule."""
        result = self.constant(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            result = result * self + c
        return result


def loop(
    ctx: Any,
    start: Sequence[Term],
    going: Callable[[list[Term]], str],
    step: Callable[[list[Term]], Sequence[Term]],
) -> list[Term]:
    """A while loop over terms: `going(state)` names a rank-0 bool, `step(state)` is the next state.

    Both must use terms of their arguments (constants made outside are visible inside too).
    """
    types = [t.type for t in start]

    def terms(names: Sequence[str]) -> list[Term]:
        return [Term(ctx, n, t) for n, t in zip(names, types, strict=True)]

    condition = ctx.region(
        types, lambda _, names: [going(terms(names))], [array_type((), np.bool_)]
    )
    body = ctx.region(types, lambda _, names: [t.name for t in step(terms(names))], types)
    signature = ", ".join(t.mlir for t in types)
    operands = ", ".join(t.name for t in start)
    names = ctx.emit_many(
        f'"stablehlo.while"({operands}) ({condition}, {body}) : ({signature}) -> ({signature})',
        len(types),
    )
    return terms(names)
