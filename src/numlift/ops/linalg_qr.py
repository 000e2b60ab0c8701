"""QR factorisations, with and without exchange of columns, and their reflectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import min_size
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import add, conjugated, imag, neg, sub
from ..structural.arith import complex_ as complex_of
from ..structural.families import is_linear
from ..structural.shape import broadcast, full
from .linalg import solve_triangle
from .linalg_calls import (
    I32,
    ByAlgorithm,
    MatrixOp,
    adjoint,
    diagonal,
    flag,
    identity,
    lapack,
    product,
    rows,
    solver,
    times,
    transposed,
    triangle,
    triangle_text,
    window,
)
from .linalg_factors import joined, part, take_rows


class Householder(ByAlgorithm):
    """Q, the product of the reflections that QR factorisation leaves below the diagonal."""

    name = "householder_product"
    multi = False

    def check(self, types: Sequence[ArrayType]) -> None:
        super().check(types)
        a, taus = types
        if a.shape[-2] < a.shape[-1] or taus.ndim != a.ndim - 1 or taus.shape[-1] > a.shape[-1]:
            raise errors.ShapeError(
                errors.explain(
                    self.name,
                    "a must have at least as many rows as columns, and taus at most one entry a "
                    "column",
                    {"a": a, "taus": taus},
                )
            )

    def out_type(self, *types: ArrayType) -> Any:
        self.check(types)
        a = types[0]
        entries = self._batch_entries([a])
        sharding = None
        if entries is not None:
            sharding = rules.named(rules.mesh_of(types), [*entries, None, None])
        return array_type(a.shape, a.dtype, False, sharding)

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        a, tau = types
        if not a.size:
            return operands[0]
        if not tau.size:  # no reflection: the first columns of the identity
            one = np.eye(*a.shape[-2:], dtype=a.dtype)
            core = array_type(one.shape, a.dtype)
            return str(ctx.broadcast(ctx.array(one), core, a, (a.ndim - 2, a.ndim - 1)))
        return _basis(ctx, operands[0], a, operands[1], tau)

    def lower_solver(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return _basis(ctx, operands[0], types[0], operands[1], types[1])


def _basis(ctx: Any, h: str, a: ArrayType, taus: str, tau: ArrayType) -> str:
    """Q from reflectors."""
    both = [(h, a, True), (taus, tau, False)]
    if ctx.platform != "cpu":
        return solver(ctx, "orgqr", both, [(a, True)])[0]
    return lapack(ctx, "ungqr" if a.kind == "c" else "orgqr", both, [(a, True)])[0]


class ApplyReflectors(ByAlgorithm):
    """Q c, Q^H c (`adjoint`), or c Q, c Q^H (not `left`), with Q by its reflectors; linear in c."""

    name = "ormqr"
    multi = False
    left: bool
    adjoint: bool

    def check(self, types: Sequence[ArrayType]) -> None:
        super().check(types)
        a, taus, c = types
        axis = c.ndim - 2 if self.left else c.ndim - 1
        fits = (
            c.ndim == a.ndim
            and taus.ndim == a.ndim - 1
            and a.shape[:-2] == c.shape[:-2] == taus.shape[:-1]
        )
        if not fits or a.shape[-2] != c.shape[axis] or taus.shape[-1] > min(a.shape[-2:]):
            raise errors.ShapeError(
                errors.explain(
                    self.name,
                    f"a must have as many rows as axis {axis} of c is long, and taus at most one "
                    "entry a row and column; batch axes must be equal",
                    {"a": a, "taus": taus, "c": c},
                )
            )

    def cores(self, *types: ArrayType) -> Any:
        return [(types[2].shape[-2:], types[2].dtype)]

    def _batch_entries(self, types: Sequence[ArrayType]) -> list[Any] | None:
        return super()._batch_entries((types[0], types[2]))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        a, taus, c = primals
        da, dtaus, dc = tangents
        if da is None and dtaus is None:
            return apply(self, a, taus, c), apply(self, a, taus, dc)
        return super().jvp(primals, tangents)

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        if tangents[0] is None and tangents[1] is None:
            return self.jvp(primals, tangents)
        return super().linearize(primals, tangents)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        a, taus, c = inputs
        if is_linear(a) or is_linear(taus) or not is_linear(c):
            raise self.no_derivative("a product is linear in c only", "nl.grad, nl.jvp")
        # The transpose of Q is the conjugate of its adjoint.
        back = self.replace(adjoint=not self.adjoint)
        return None, None, conjugated(apply(back, a, taus, conjugated(ct)))

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if not all(t.size for t in types):
            return operands[2]
        function = "unmqr" if types[0].kind == "c" else "ormqr"
        return self._by(lapack, function, ctx, operands, types)

    def lower_solver(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return self._by(solver, "ormqr", ctx, operands, types)

    def _by(self, call: Any, function: str, ctx: Any, operands: list[str], types: Any) -> str:
        a, tau, c = types
        k = tau.shape[-1]
        h = window(ctx, operands[0], a, array_type((*a.shape[:-1], k), a.dtype))
        a = array_type((*a.shape[:-1], k), a.dtype)
        found = call(
            ctx, function, [(h, a, True), (operands[1], tau, False), (operands[2], c, True)],
            [(c, True)], f"{flag('left', self.left)}, {flag('transpose', self.adjoint)}",
            ((2, 0),),
        )  # fmt: skip
        return str(found[0])


class Qr(MatrixOp):
    """Q and R with a = Q R; Q has all columns if `full`, else as many as R has rows."""

    full: bool

    def cores(self, *types: ArrayType) -> Any:
        m, n = types[0].shape[-2:]
        k = m if self.full else min_size(m, n)
        return [((m, k), types[0].dtype), ((k, n), types[0].dtype)]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        q, r = apply(self, primals[0])
        return [q, r], list(qr_tangents(q, r, tangents[0]))

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,), (q, r) = types, outs
        if not x.size:
            return lapack(ctx, "geqrf", [(operands[0], x, True)], [(q, True), (r, True)])
        return self._by(lapack, ctx, operands, types, outs)

    def lower_solver(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        return self._by(solver, ctx, operands, types, outs)

    def _by(self, call: Any, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,), (q, r) = types, outs
        tau = array_type((*x.shape[:-2], min_size(*x.shape[-2:])), x.dtype)
        found, taus = call(ctx, "geqrf", [(operands[0], x, True)], [(x, True), (tau, False)])
        return _factors(ctx, found, x, taus, tau, q, r)


class QrPivoted(MatrixOp):
    """Q, R and the order of columns with a[:, order] = Q R, so that R's diagonal descends."""

    name = "qr_pivoted"
    full: bool

    def cores(self, *types: ArrayType) -> Any:
        return [*Qr.of(self.full).cores(*types), (types[0].shape[-1:], I32)]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        q, r, order = apply(self, primals[0])
        da = transposed(take_rows(transposed(tangents[0]), order))
        return [q, r, order], [*qr_tangents(q, r, da), None]

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,), (q, r, order) = types, outs
        if not x.size:
            found = lapack(ctx, "geqrf", [(operands[0], x, True)], [(q, True), (r, True)])
            place = ctx.emit(f"stablehlo.iota dim = {order.ndim - 1} : {order.mlir}")
            return [*found, place]
        tau = array_type((*x.shape[:-2], min_size(*x.shape[-2:])), x.dtype)
        packed, places, taus = lapack(
            ctx, "geqp3", [(operands[0], x, True), (ctx.full(0, order), order, False)],
            [(x, True), (order, False), (tau, False)], "", ((0, 0), (1, 1)),
        )  # fmt: skip
        one = ctx.full(1, order)
        places = ctx.emit(f"stablehlo.subtract {places}, {one} : {order.mlir}")
        return [*_factors(ctx, packed, x, taus, tau, q, r), places]


def _factors(
    ctx: Any, found: str, x: ArrayType, taus: str, tau: ArrayType, q: ArrayType, r: ArrayType
) -> list[str]:
    """Q and R from the array that holds both."""
    n = x.shape[-1]
    basis = array_type((*x.shape[:-1], min_size(q.shape[-1], n)), x.dtype)
    start = window(ctx, found, x, basis)
    if q.shape[-1] > n:
        start = ctx.emit(
            f"stablehlo.pad {start}, {ctx.full(0, array_type((), x.dtype))}, "
            f"low = {[0] * x.ndim}, high = {[*[0] * (x.ndim - 1), q.shape[-1] - n]}, "
            f"interior = {[0] * x.ndim} : ({basis.mlir}, {array_type((), x.dtype).mlir}) "
            f"-> {q.mlir}"
        )
    return [_basis(ctx, start, q, taus, tau), _upper_part(ctx, window(ctx, found, x, r), r)]


def qr_tangents(q: Any, r: Any, da: Any) -> tuple[Any, Any]:
    """Tangents of Q and R for that of Q R. Columns of Q beyond those of `a` move as their span
    does, and do not turn in it."""
    m, n = type_of(da).shape[-2:]
    k, p = min_size(m, n), type_of(q).shape[-1]
    head, up = part(q, (0, m), (0, k)), part(r, (0, k), (0, k))
    moved = solve_triangle(up, part(da, (0, m), (0, k)), False, left=False)
    inner = product(adjoint(head), moved)
    low = triangle(inner, True, -1)
    turn = apply(sub, low, adjoint(low))
    if type_of(da).kind == "c":
        turn = apply(add, turn, _imaginary_diagonal(inner))
    dq = apply(add, product(head, apply(sub, turn, inner)), moved)
    dr = triangle(product(apply(sub, inner, turn), up), False)
    if n > m:
        right = product(adjoint(dq), product(q, part(r, (0, k), (k, n))))
        right = apply(add, right, product(adjoint(q), part(da, (0, m), (k, n))))
        dr = joined(dr, right, -1)
    if type(p) is int and p > k:
        rest = part(q, (0, m), (k, p))
        d_rest = apply(neg, product(head, product(adjoint(dq), rest)))
        dq = joined(dq, d_rest, -1)
        dr = joined(dr, full(type_of(part(r, (k, p), (0, n)))), -2)
    return dq, dr


def _imaginary_diagonal(x: Any) -> Any:
    """i times the imaginary part of the diagonal, as diagonal matrices."""
    entries = apply(imag, diagonal(x))
    entries = apply(complex_of, apply(sub, entries, entries), entries)
    t = type_of(x)
    mask = broadcast(identity(t.shape[-1], t.dtype), t.shape, (t.ndim - 2, t.ndim - 1), t.sharding)
    return times(rows(entries, x), mask)


def _upper_part(ctx: Any, x: str, t: ArrayType) -> str:
    wide, core = array_type(t.shape, np.bool_), array_type(t.shape[-2:], np.bool_)
    which = ctx.broadcast(
        triangle_text(ctx, core.shape, False), core, wide, (t.ndim - 2, t.ndim - 1)
    )
    return str(ctx.emit(f"stablehlo.select {which}, {x}, {ctx.full(0, t)} : {wide.mlir}, {t.mlir}"))
