"""Polar decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..structural.arith import add, convert, sub
from .linalg_calls import (
    I32,
    MatrixOp,
    adjoint,
    columns,
    product,
    rows,
    safe_reciprocal,
    times,
)
from .linalg_spectral import Eigh


class Polar(MatrixOp):
    """W with orthonormal columns and H, Hermitian and positive, with a = W H, for m >= n; the
    number of steps, and whether they were enough."""

    limit: int | None
    eps: float | None

    def cores(self, *types: ArrayType) -> Any:
        (m, n), dtype = types[0].shape[-2:], types[0].dtype
        return [((m, n), dtype), ((n, n), dtype), ((), I32), ((), np.dtype(np.bool_))]

    def check(self, types: Sequence[ArrayType]) -> None:
        super().check(types)
        m, n = types[0].shape[-2:]
        if m < n:
            raise errors.ShapeError(
                errors.explain(
                    self.name,
                    f"matrices must have at least as many rows as columns, not {m} and {n}",
                    {"x": types[0]},
                    try_="the conjugate transpose of x",
                )
            )

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """With H = V diag(h) V^H and P = W^H da: W^H dW = V (F * V^H (P - P^H) V) V^H with
        F[i, j] = 1 / (h[i] + h[j]), or 0."""
        w, h, steps, fine = apply(self, primals[0])
        da = tangents[0]
        values, v = apply(Eigh.of(True), h)
        inner = product(adjoint(w), da)
        odd = product(adjoint(v), product(apply(sub, inner, adjoint(inner)), v))
        wide = convert(values, type_of(h).dtype)
        total = apply(add, columns(wide, odd), rows(wide, odd))
        turn = product(v, product(times(safe_reciprocal(total), odd), adjoint(v)))
        dh = apply(sub, inner, product(turn, h))
        dw = product(w, turn)
        m, n = type_of(w).shape[-2:]
        if m != n:
            rest = apply(sub, da, product(w, inner))
            inverse = columns(safe_reciprocal(wide), v)
            dw = apply(add, dw, product(rest, product(times(v, inverse), adjoint(v))))
        return [w, h, steps, fine], [dw, dh, None, None]

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        if not types[0].size:
            return [operands[0], *(ctx.full(int(i == 2), t) for i, t in enumerate(outs[1:]))]
        return list(self.lower_portable(ctx, operands, types, outs))
