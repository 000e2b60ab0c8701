"""Cholesky factorisation and triangular systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import Dim
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..structural.arith import mul, neg, sub
from ..structural.families import is_linear
from ..structural.shape import broadcast
from .linalg_calls import (
    MatrixOp,
    adjoint,
    identity,
    info_of,
    lapack,
    option,
    or_nan,
    product,
    times,
    transposed,
    triangle,
    triangle_text,
)

_HALF = 0.5


def solve_triangle(a: Any, b: Any, lower: bool, left: bool = True, unit: bool = False) -> Any:
    """a^-1 b (or b a^-1), `a` triangular."""
    return apply(TriangularSolve.of(left, lower, False, unit), a, b)


class Cholesky(MatrixOp):
    """Lower triangular L with L L^H = a; reads the lower triangle; NaN if not positive definite."""

    multi = False
    square = True

    def cores(self, *types: ArrayType) -> Any:
        return [(types[0].shape[-2:], types[0].dtype)]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """dL = L Phi(L^-1 da L^-H), where Phi is the lower triangle with half the diagonal."""
        low = apply(self, primals[0])
        inner = solve_triangle(low, tangents[0], True)
        inner = adjoint(solve_triangle(low, adjoint(inner), True))
        t = type_of(inner)
        if type(t.shape[-1]) is Dim:
            one = broadcast(identity(t.shape[-1], t.dtype), t.shape, (t.ndim - 2, t.ndim - 1))
            half = apply(mul, times(inner, one), t.dtype.type(_HALF))
            return low, product(low, apply(sub, triangle(inner, True), half))
        half = np.tril(np.ones(t.shape[-2:]), -1) + _HALF * np.eye(t.shape[-1])
        factor = broadcast(half.astype(t.dtype), t.shape, (t.ndim - 2, t.ndim - 1), t.sharding)
        return low, product(low, times(inner, factor))

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,) = types
        if not x.size:
            return operands[0]
        if ctx.platform != "cpu":
            found = ctx.emit(f"stablehlo.cholesky {operands[0]}, lower = true : {x.mlir}")
            return _lower_part(ctx, found, x)
        found, info = lapack(
            ctx, "potrf", [(operands[0], x, True)], [(x, True), (info_of(x), False)],
            option("uplo", "L"),
        )  # fmt: skip
        return or_nan(ctx, _lower_part(ctx, found, x), x, info, x.ndim - 2)


def _lower_part(ctx: Any, x: str, t: ArrayType) -> str:
    wide = array_type(t.shape, np.bool_)
    core = array_type(t.shape[-2:], np.bool_)
    which = ctx.broadcast(
        triangle_text(ctx, core.shape, True), core, wide, (t.ndim - 2, t.ndim - 1)
    )
    return str(ctx.emit(f"stablehlo.select {which}, {x}, {ctx.full(0, t)} : {wide.mlir}, {t.mlir}"))


class TriangularSolve(MatrixOp):
    """x with a x = b (left) or x a = b; `a` triangular, perhaps transposed; linear in b."""

    multi = False
    square = True
    left: bool
    low: bool
    transpose_a: bool
    unit: bool

    def cores(self, *types: ArrayType) -> Any:
        return [(types[1].shape[-2:], types[1].dtype)]

    def check(self, types: Sequence[ArrayType]) -> None:
        super().check(types)
        a, b = types
        axis = b.ndim - 2 if self.left else b.ndim - 1
        if a.ndim != b.ndim or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[axis]:
            raise errors.ShapeError(
                errors.explain(
                    self.name,
                    f"batch axes must be equal, and axis {axis} of b as long as those of a",
                    {"a": a, "b": b},
                )
            )

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """a dx = db - da x."""
        a, b = primals
        da, db = tangents
        x = apply(self, a, b)
        if da is not None:
            da = triangle(da, self.low, (-1 if self.low else 1) if self.unit else 0)
            da = transposed(da) if self.transpose_a else da
            moved = product(da, x) if self.left else product(x, da)
            db = apply(neg, moved) if db is None else apply(sub, db, moved)
        return x, apply(self, a, db)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        a, b = inputs
        if is_linear(a) or not is_linear(b):
            raise self.no_derivative("a solution is linear in b only", "nl.grad, nl.jvp")
        return None, apply(self.replace(transpose_a=not self.transpose_a), a, ct)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (a, b), (x, y) = types, operands
        if not b.size:
            return y
        uplo = option("uplo", "L" if self.low else "U")
        if ctx.platform == "cpu":
            options = (
                f"{option('diag', 'U' if self.unit else 'N')}, "
                f"{option('side', 'L' if self.left else 'R')}, "
                f"{option('trans_x', 'T' if self.transpose_a else 'N')}, {uplo}"
            )
            call = lapack(
                ctx, "trsm", [(x, a, True), (y, b, True)], [(b, True)], options, ((1, 0),)
            )
            return call[0]
        kind = "TRANSPOSE" if self.transpose_a else "NO_TRANSPOSE"
        return str(
            ctx.emit(
                f'"stablehlo.triangular_solve"({x}, {y}) <{{left_side = {_word(self.left)}, '
                f"lower = {_word(self.low)}, unit_diagonal = {_word(self.unit)}, "
                f"transpose_a = #stablehlo<transpose {kind}>}}> : ({a.mlir}, {b.mlir}) -> {b.mlir}"
            )
        )


def _word(value: bool) -> str:
    return "true" if value else "false"
