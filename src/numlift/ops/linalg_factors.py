"""LU and QR factorisations, and the solution of systems by LU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import max_size, min_size
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import add, neg, sub
from ..structural.families import Opaque, batch_first, is_linear
from ..structural.shape import broadcast, reshape
from .gather import Gather
from .indices import PROMISE_IN_BOUNDS, GatherDimensionNumbers
from .linalg import TriangularSolve, solve_triangle
from .linalg_calls import (
    I32,
    MatrixOp,
    identity,
    info_of,
    lapack,
    or_nan,
    product,
    solver,
    transposed,
    triangle,
)
from .shape import Concatenate
from .slicing import Slice


def part(x: Any, row: tuple[int, int], column: tuple[int, int]) -> Any:
    """Rows and columns from the first (included) to the second number of each pair."""
    t = type_of(x)
    zeros = (0,) * (t.ndim - 2)
    starts, limits = (*zeros, row[0], column[0]), (*t.shape[:-2], row[1], column[1])
    return apply(Slice.of(starts, limits), x)


def joined(x: Any, y: Any, axis: int) -> Any:
    """Two arrays of matrices one after the other along an axis counted from the end."""
    return apply(Concatenate.of(type_of(x).ndim + axis), x, y)


def take_rows(x: Any, order: Any) -> Any:
    """Rows of each matrix in the order of the indices `order`."""
    t = type_of(x)
    n = t.ndim
    batch = tuple(range(n - 2))
    index = reshape(order, (*type_of(order).shape, 1))
    numbers = GatherDimensionNumbers((n - 1,), (n - 2,), (n - 2,), batch, batch)
    sizes = (*(1,) * (n - 1), t.shape[-1])
    return apply(Gather.of(numbers, sizes, PROMISE_IN_BOUNDS, None, True), x, index)


def permutation_text(ctx: Any, pivots: str, t: ArrayType, out: ArrayType) -> str:
    """The permutation that row swaps (pivots from 0) make: a loop over the swaps."""
    count, size = t.shape[-1], out.shape[-1]
    lines = t.size // count if count else out.size // max_size(size, 1)
    flat, wide = array_type((lines, count), I32), array_type((lines, size), I32)
    one, scalar = array_type((lines, 1), I32), array_type((), I32)
    flag = array_type((lines, size), np.bool_)
    place = ctx.emit(f"stablehlo.iota dim = 1 : {wide.mlir}")
    if count and out.size:
        swaps = ctx.emit(f"stablehlo.reshape {pivots} : ({t.mlir}) -> {flat.mlir}")
        zero, end, step = (ctx.full(v, scalar) for v in (0, count, 1))
        start = place

        def body(c: Any, names: list[str]) -> list[str]:
            i, order = names
            at = c.emit(
                f"stablehlo.dynamic_slice {swaps}, {zero}, {i}, sizes = [{lines}, 1] : "
                f"({flat.mlir}, {scalar.mlir}, {scalar.mlir}) -> {one.mlir}"
            )
            mine = c.emit(
                f"stablehlo.dynamic_slice {order}, {zero}, {i}, sizes = [{lines}, 1] : "
                f"({wide.mlir}, {scalar.mlir}, {scalar.mlir}) -> {one.mlir}"
            )
            here = c.emit(
                f"stablehlo.compare EQ, {place}, {c.broadcast(at, one, wide, (0, 1))}, SIGNED : "
                f"({wide.mlir}, {wide.mlir}) -> {flag.mlir}"
            )
            none = c.full(0, wide)
            chosen = c.emit(f"stablehlo.select {here}, {order}, {none} : {flag.mlir}, {wide.mlir}")
            line = array_type((lines,), I32)
            other = c.reduce("stablehlo.add", chosen, 0, wide, line, (1,))
            other = c.emit(f"stablehlo.reshape {other} : ({line.mlir}) -> {one.mlir}")
            spread = c.broadcast(mine, one, wide, (0, 1))
            order = c.emit(f"stablehlo.select {here}, {spread}, {order} : {flag.mlir}, {wide.mlir}")
            order = c.emit(
                f"stablehlo.dynamic_update_slice {order}, {other}, {zero}, {i} : ({wide.mlir}, "
                f"{one.mlir}, {scalar.mlir}, {scalar.mlir}) -> {wide.mlir}"
            )
            return [c.emit(f"stablehlo.add {i}, {step} : {scalar.mlir}"), order]

        types = [scalar, wide]
        condition = ctx.region(
            types,
            lambda c, names: [
                c.emit(
                    f"stablehlo.compare LT, {names[0]}, {end}, SIGNED : "
                    f"({scalar.mlir}, {scalar.mlir}) -> tensor<i1>"
                )
            ],
            [array_type((), np.bool_)],
        )
        loop = ctx.region(types, body, types)
        both = f"{scalar.mlir}, {wide.mlir}"
        place = ctx.emit_many(
            f'"stablehlo.while"({zero}, {start}) ({condition}, {loop}) : ({both}) -> ({both})', 2
        )[1]
    return str(ctx.emit(f"stablehlo.reshape {place} : ({wide.mlir}) -> {out.mlir}"))


class PivotsToPermutation(Opaque):
    """The permutation of `size` rows that swaps make: row i with row pivots[i], in turn."""

    name = "lu_pivots_to_permutation"
    size: int

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        if x.dtype != I32 or not x.ndim or x.shape[-1] > self.size:
            raise errors.ShapeError(
                errors.explain(self.name, f"needs at most {self.size} int32 pivots", {"pivots": x})
            )
        sharding = None if x.sharding is None else self.shard(x)
        return array_type((*x.shape[:-1], self.size), I32, False, sharding)

    def shard(self, *types: ArrayType) -> Any:
        spec = rules.spec_of(types[0])
        if spec[-1] is not None:
            raise rules.conflict(self.name, "the axis of the pivots is sharded", types)
        return rules.named(rules.mesh_of(types), spec)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, batch_first(args[0], dims[0], size)), 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return permutation_text(ctx, operands[0], types[0], outs[0])


class Lu(MatrixOp):
    """Factors of a[permutation] = L U in one matrix, the pivots (from 0) and the permutation."""

    def cores(self, *types: ArrayType) -> Any:
        m, n = types[0].shape[-2:]
        return [((m, n), types[0].dtype), ((min_size(m, n),), I32), ((m,), I32)]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """With F = L^-1 dA U^-1 of the leading square part: dL = L tril(F, -1), dU = triu(F) U."""
        lu, pivots, order = apply(self, primals[0])
        da = take_rows(tangents[0], order)
        m, n = type_of(lu).shape[-2:]
        k = min_size(m, n)
        head, d_head = part(lu, (0, k), (0, k)), part(da, (0, k), (0, k))
        low, up = unit_lower(head), triangle(head, False)
        inner = solve_triangle(head, d_head, True, unit=True)
        inner = solve_triangle(head, inner, False, left=False)
        d_low = product(low, triangle(inner, True, -1))
        d_up = product(triangle(inner, False), up)
        out = apply(add, d_low, d_up)
        if m > n:
            tail = part(lu, (k, m), (0, k))
            rest = apply(sub, part(da, (k, m), (0, k)), product(tail, d_up))
            out = joined(out, solve_triangle(head, rest, False, left=False), -2)
        elif n > m:
            right = part(lu, (0, k), (k, n))
            rest = apply(sub, part(da, (0, k), (k, n)), product(d_low, right))
            out = joined(out, solve_triangle(head, rest, True, unit=True), -1)
        return [lu, pivots, order], [out, None, None]

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        return self._by(lapack, ctx, operands, types, outs)

    def lower_solver(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        return self._by(solver, ctx, operands, types, outs)

    def _by(self, call: Any, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,), (_, pivots, order) = types, outs
        lu, swaps, info = call(
            ctx, "getrf", [(operands[0], x, True)],
            [(x, True), (pivots, False), (info_of(x), False)],
        )  # fmt: skip
        one = ctx.full(1, pivots)
        if x.size:
            swaps = ctx.emit(f"stablehlo.subtract {swaps}, {one} : {pivots.mlir}")
        lu = or_nan(ctx, lu, x, info, x.ndim - 2, "GE")
        return [lu, swaps, permutation_text(ctx, swaps, pivots, order)]


def unit_lower(x: Any) -> Any:
    """The part of square matrices below the diagonal, with ones on it."""
    t = type_of(x)
    one = identity(t.shape[-1], t.dtype)
    eye = broadcast(one, t.shape, (t.ndim - 2, t.ndim - 1), t.sharding)
    return apply(add, triangle(x, True, -1), eye)


class LuSolve(MatrixOp):
    """x with a x = b (or its transpose), by the factors of `a`; differentiated as an equation.

    Operands are a, its `lu` and permutation, b: tangents of the factors do not count.
    """

    multi = False
    transpose_a: bool

    def check(self, types: Sequence[ArrayType]) -> None:
        super().check((types[0], types[1], types[3]))
        a, b = types[0], types[3]
        if a.shape[-1] != a.shape[-2] or a.shape[:-1] != b.shape[:-1]:
            raise errors.ShapeError(
                errors.explain("solve", "a must be square, and b as long as it", {"a": a, "b": b})
            )

    def cores(self, *types: ArrayType) -> Any:
        return [(types[3].shape[-2:], types[3].dtype)]

    def out_type(self, *types: ArrayType) -> Any:
        self.check(types)
        b = types[3]
        entries = self._batch_entries((types[0], types[1], b))
        sharding = None
        if entries is not None:
            sharding = rules.named(rules.mesh_of(types), [*entries, None, None])
        return array_type(b.shape, b.dtype, False, sharding)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        a, lu, order, b = primals
        da, _, _, db = tangents
        x = apply(self, *primals)
        if da is not None:
            moved = product(transposed(da) if self.transpose_a else da, x)
            db = apply(neg, moved) if db is None else apply(sub, db, moved)
        return x, None if db is None else apply(self, a, lu, order, db)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        a, lu, order, b = inputs
        if not is_linear(b) or is_linear(a) or is_linear(lu):
            raise self.no_derivative("a solution is linear in b only", "nl.grad, nl.jvp")
        return None, None, None, apply(LuSolve.of(not self.transpose_a), a, lu, order, ct)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        _, lu, order, x = operands
        a, b = types[0], types[3]
        if not b.size:
            return x
        both = [a, b]
        low = TriangularSolve.of(True, True, self.transpose_a, True)
        up = TriangularSolve.of(True, False, self.transpose_a, False)
        if not self.transpose_a:
            x = _ordered(ctx, x, b, order, types[2])
            x = low.lower(ctx, [lu, x], both, [b])
            return up.lower(ctx, [lu, x], both, [b])
        x = up.lower(ctx, [lu, x], both, [b])
        x = low.lower(ctx, [lu, x], both, [b])
        return _ordered(ctx, x, b, _inverse(ctx, order, types[2]), types[2])


def _ordered(ctx: Any, x: str, t: ArrayType, order: str, order_type: ArrayType) -> str:
    """Rows in another order."""
    index = array_type((*order_type.shape, 1), I32)
    order = ctx.emit(f"stablehlo.reshape {order} : ({order_type.mlir}) -> {index.mlir}")
    n = t.ndim
    batch = tuple(range(n - 2))
    numbers = GatherDimensionNumbers((n - 1,), (n - 2,), (n - 2,), batch, batch)
    op = Gather.of(numbers, (*(1,) * (n - 1), t.shape[-1]), PROMISE_IN_BOUNDS, None, True)
    return str(op.lower(ctx, [x, order], [t, index], [t]))


def _inverse(ctx: Any, order: str, t: ArrayType) -> str:
    """The inverse of permutations: the order that sorts them."""
    iota = ctx.emit(f"stablehlo.iota dim = {t.ndim - 1} : {t.mlir}")
    scalar = array_type((), I32)
    region = ctx.region(
        [scalar] * 4,
        lambda c, names: [
            c.emit(
                f"stablehlo.compare LT, {names[0]}, {names[1]}, SIGNED : "
                f"({scalar.mlir}, {scalar.mlir}) -> tensor<i1>"
            )
        ],
        [array_type((), np.bool_)],
    )
    return str(
        ctx.emit_many(
            f'"stablehlo.sort"({order}, {iota}) <{{dimension = {t.ndim - 1} : i64, '
            f"is_stable = true}}> ({region}) : ({t.mlir}, {t.mlir}) -> ({t.mlir}, {t.mlir})",
            2,
        )[1]
    )
