"""Elementwise comparisons. Their results are bool and have no derivative."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..core.op import Op
from ..core.types import ArrayType, array_type
from ..structural.families import Opaque, Predicate

_KIND = {"b": "UNSIGNED", "u": "UNSIGNED", "i": "SIGNED", "f": "FLOAT", "c": "FLOAT"}


class Compare(Predicate):
    """Base of the comparisons; `direction` is StableHLO's name for the relation."""

    direction: ClassVar[str]
    total: ClassVar[bool] = False
    accepts = "biuf"

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        t = types[0]
        kind = "TOTALORDER" if self.total and t.kind == "f" else _KIND[t.kind]
        return ctx.emit(
            f"stablehlo.compare {self.direction}, {operands[0]}, {operands[1]}, {kind} : "
            f"({t.mlir}, {t.mlir}) -> {outs[0].mlir}"
        )


class KeyEqual(Opaque):
    """Equality of PRNG keys: all (or, for NE, any) of their words; operands are the words."""

    direction: str
    words: int
    broadcasts_scalars = False

    def out_type(self, *types: ArrayType) -> ArrayType:
        return array_type(types[0].shape[: -self.words], np.bool_)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        x, (out,) = types[0], outs
        bools = array_type(x.shape, np.bool_)
        same = ctx.emit(
            f"stablehlo.compare {self.direction}, {operands[0]}, {operands[1]}, UNSIGNED : "
            f"({x.mlir}, {x.mlir}) -> {bools.mlir}"
        )
        joined = "stablehlo.and" if self.direction == "EQ" else "stablehlo.or"
        axes = tuple(range(out.ndim, x.ndim))
        return ctx.reduce(joined, same, self.direction == "EQ", bools, out, axes)


class Equality(Compare):
    """Comparison that complex numbers and PRNG keys have too."""

    accepts = "biufck"

    def physical(self, *types: ArrayType) -> Op:
        return KeyEqual.of(self.direction, len(types[0].dtype.key_shape))


class Eq(Equality):
    """x == y."""

    direction = "EQ"


class Ne(Equality):
    """x != y; true if one is NaN."""

    direction = "NE"


class Lt(Compare):
    """x < y."""

    direction = "LT"


class Le(Compare):
    """x <= y."""

    direction = "LE"


class Gt(Compare):
    """x > y."""

    direction = "GT"


class Ge(Compare):
    """x >= y."""

    direction = "GE"


class EqTo(Eq):
    """x == y in total order: NaN equals itself, -0 does not equal 0."""

    total = True


class LtTo(Lt):
    """x < y in total order: -NaN < -inf < ... < -0 < 0 < ... < inf < NaN."""

    total = True


class LeTo(Le):
    """x <= y in total order."""

    total = True


eq, ne, lt, le, gt, ge = Eq.of(), Ne.of(), Lt.of(), Le.of(), Gt.of(), Ge.of()
eq_to, lt_to, le_to = EqTo.of(), LtTo.of(), LeTo.of()
