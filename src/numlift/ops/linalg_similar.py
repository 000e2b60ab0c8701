"""Similarity transformations: Hessenberg, tridiagonal and Schur form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.types import ArrayType, array_type
from ..structural.arith import real_dtype
from .linalg_calls import (
    ByAlgorithm,
    MatrixOp,
    flag,
    info_of,
    lapack,
    option,
    or_nan,
    solver,
)


def _less_one(n: Any) -> Any:
    return n - 1 if type(n) is not int else max(n - 1, 0)


class Hessenberg(ByAlgorithm):
    """H = Q^H a Q on and above the first subdiagonal, reflectors of Q below it, and their taus."""

    square = True

    def cores(self, *types: ArrayType) -> Any:
        n, dtype = types[0].shape[-1], types[0].dtype
        return [((n, n), dtype), ((_less_one(n),), dtype)]

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,), (h, tau) = types, outs
        if not tau.size:
            return [operands[0], ctx.full(0, tau)]
        n = x.shape[-1]
        found, taus, info = lapack(
            ctx, "gehrd", [(operands[0], x, True)],
            [(h, True), (tau, False), (info_of(x), False)], f"low = 1 : i32, high = {n} : i32",
        )  # fmt: skip
        batch = x.ndim - 2
        return [or_nan(ctx, found, h, info, batch), or_nan(ctx, taus, tau, info, batch)]


class Tridiagonal(ByAlgorithm):
    """T = Q^H a Q of Hermitian matrices: reflectors, diagonal, subdiagonal and taus."""

    square = True
    low: bool

    def cores(self, *types: ArrayType) -> Any:
        n, dtype = types[0].shape[-1], types[0].dtype
        less, real = _less_one(n), real_dtype(dtype)
        return [((n, n), dtype), ((n,), real), ((less,), real), ((less,), dtype)]

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,), (_, d, e, tau) = types, outs
        if not tau.size:
            if not x.size:
                return [operands[0], *(ctx.full(0, t) for t in outs[1:])]
            real = array_type(x.shape, d.dtype)
            whole = values = operands[0]
            if x.kind == "c":
                values = ctx.emit(f"stablehlo.real {values} : ({x.mlir}) -> {real.mlir}")
                whole = ctx.convert(values, real, x)
            values = ctx.emit(f"stablehlo.reshape {values} : ({real.mlir}) -> {d.mlir}")
            return [whole, values, ctx.full(0, e), ctx.full(0, tau)]
        name = "hetrd" if x.kind == "c" else "sytrd"
        return self._by(
            lapack, name, option("uplo", "L" if self.low else "U"), ctx, operands, types, outs
        )

    def lower_solver(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> Any:
        if not outs[3].size:
            return self.lower_lapack(ctx, operands, types, outs)
        return self._by(solver, "sytrd", flag("lower", self.low), ctx, operands, types, outs)

    def _by(
        self, call: Any, name: str, options: str, ctx: Any, operands: Any, types: Any, outs: Any
    ) -> list[str]:
        (x,), (a, d, e, tau) = types, outs
        *found, info = call(
            ctx, name, [(operands[0], x, True)],
            [(a, True), (d, False), (e, False), (tau, False), (info_of(x), False)], options,
        )  # fmt: skip
        return [or_nan(ctx, y, t, info, x.ndim - 2) for y, t in zip(found, outs, strict=True)]


class Schur(MatrixOp):
    """T, then Z if `vectors`: a = Z T Z^H; T is triangular (2 x 2 blocks if a is real)."""

    square = True
    vectors: bool

    def cores(self, *types: ArrayType) -> Any:
        n, dtype = types[0].shape[-1], types[0].dtype
        return [((n, n), dtype)] * (1 + self.vectors)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        raise self.no_derivative(
            "the Schur form is not a smooth function of the matrix", "lax.linalg.eig"
        )

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,), t = types, outs[0]
        if not x.size:
            return [ctx.full(0, u) for u in outs]
        values = array_type(x.shape[:-1], x.dtype)
        parts = [(values, False)] * (1 if x.kind == "c" else 2)
        options = f"{option('mode', 'V' if self.vectors else 'N')}, {option('sort', 'N')}"
        results = [(t, True), (t, True), *parts, (info_of(x), False), (info_of(x), False)]
        found = lapack(ctx, "gees", [(operands[0], x, True)], results, options)
        pairs = zip(found, outs, strict=False)
        return [or_nan(ctx, y, u, found[-1], x.ndim - 2) for y, u in pairs]
