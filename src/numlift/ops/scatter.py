"""scatter: updates put at many places of an array, replacing or combined with what is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import errors
from ..core.dims import min_size
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..structural.arith import add, convert, mul, neg, select, sub
from ..structural.families import (
    Opaque,
    batch_first,
    check_kind,
    check_same_dtype,
    is_linear,
    move_batch,
)
from ..structural.shape import full, reshape
from .compare import eq
from .elementwise_binary import div
from .gather import Gather, window_starts
from .indices import (
    CLIP,
    FILL_OR_DROP,
    PROMISE_IN_BOUNDS,
    GatherScatterMode,
    ScatterDimensionNumbers,
    check_indices,
    check_numbers,
    clamped,
    count_of_windows,
    gather_numbers,
    inside,
    ints,
    shifted,
    wide_indices,
    wrapped,
)
from .shape import Iota
from .slicing import _moves, emit_dynamic_slice, emit_dynamic_update

UINT32 = np.dtype(np.uint32)


class Scatter(Op):
    """Base: the operand with windows combined with updates at index vectors.

    Operands: x, indices, updates. Updates that are not wholly in bounds are dropped, unless the
    mode is CLIP. With `wrap`, negative indices count from the end. `asked` as in `Gather`.
    """

    combiner: ClassVar[str] = ""
    one_by_one: ClassVar[bool] = False
    """Whether `combine` works on scalars only."""
    accepts: ClassVar[str] = "biufc"
    numbers: ScatterDimensionNumbers
    mode: GatherScatterMode = PROMISE_IN_BOUNDS
    unique_indices: bool = False
    indices_are_sorted: bool = False
    wrap: bool = False
    asked: bool = False

    def out_type(self, *types: ArrayType) -> ArrayType:
        x, indices, updates = types
        named = {"operand": x, "indices": indices, "updates": updates}
        check_kind(self, (x, updates), self.accepts)
        check_same_dtype(self, (x, updates))
        check_indices(self.name, indices, named)
        numbers = gather_numbers(self.numbers)
        rank = indices.ndim - 1 + len(numbers.offset_dims)
        rule = None
        if updates.ndim != rank:
            rule = f"updates must have {rank} axes (index vectors and window), not {updates.ndim}"
        else:
            check_numbers(self.name, numbers, self.window(x, updates), x, indices)
            batch = [n for i, n in enumerate(updates.shape) if i not in numbers.offset_dims]
            if batch != list(indices.shape[:-1]):
                rule = (
                    f"updates have sizes {tuple(batch)} in the axes that are not window axes, but "
                    f"the index vectors form an array of shape {indices.shape[:-1]}"
                )
        if rule is not None:
            raise errors.ShapeError(
                errors.explain(self.name, rule, {**named, "dimension_numbers": self.numbers})
            )
        return array_type(x.shape, x.dtype, x.weak_type and updates.weak_type, x.sharding)

    def window(self, x: ArrayType, updates: ArrayType) -> tuple[int, ...]:
        """Size of the window in each axis of the operand."""
        numbers = self.numbers
        sizes = iter([updates.shape[i] for i in numbers.update_window_dims])
        gone = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
        return tuple(
            [min_size(1, n) if i in gone else next(sizes, 0) for i, n in enumerate(x.shape)]
        )

    # ---- derivatives and batching ------------------------------------------------------------

    def same(self, kind: type[Scatter]) -> Scatter:
        """The scatter of another kind to the same places."""
        return kind.of(
            self.numbers,
            self.mode,
            self.unique_indices,
            self.indices_are_sorted,
            self.wrap,
            self.asked,
        )

    def gathered(self, x: Any, indices: Any, updates: ArrayType) -> Any:
        """The elements of `x` at the places of the updates; zero where updates are dropped."""
        t = type_of(x)
        mode = CLIP if self.mode is CLIP else FILL_OR_DROP
        if self.mode is PROMISE_IN_BOUNDS:
            mode = PROMISE_IN_BOUNDS
        op = Gather.of(
            gather_numbers(self.numbers),
            self.window(t, updates),
            mode,
            0 if mode is FILL_OR_DROP else None,
            self.unique_indices,
            self.indices_are_sorted,
            self.wrap,
            updates.sharding,
            self.asked,
        )
        return apply(op, x, indices)

    def is_unique(self, indices: ArrayType) -> bool:
        """Whether no element is written twice for sure."""
        batching = self.numbers.scatter_indices_batching_dims
        return self.unique_indices or count_of_windows(indices, batching) <= 1

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x, indices, updates = args
        dx, di, du = dims
        x, updates = batch_first(x, dx, size), batch_first(updates, du, size)
        indices = move_batch(indices, di, 0)
        numbers = batched_numbers(self.numbers, di is not None)
        return apply(self.replace(numbers=numbers), x, indices, updates), 0

    # ---- lowering ----------------------------------------------------------------------------

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        x, indices, updates = types
        (out,) = outs
        if not updates.size:
            return operands[0]
        index_map = tuple(self.numbers.scatter_dims_to_operand_dims)
        extents = [x.shape[i] for i in index_map]
        rows, wide = wide_indices(ctx, operands[1], indices, extents)
        if self.wrap and indices.kind == "i":
            rows = wrapped(ctx, rows, wide, extents)
        sizes = self.window(x, updates)
        upper = [x.shape[i] - sizes[i] for i in index_map]
        if self.mode is CLIP:
            rows = clamped(ctx, rows, wide, upper)
        single = count_of_windows(indices, ()) == 1 and not self.numbers.operand_batching_dims
        if single and ctx.module.mesh is None and not self.one_by_one:
            names = operands[0], rows, operands[2]
            return self._one_window(ctx, names, types, wide, sizes, upper)
        n = self.numbers
        scalar = array_type((), out.dtype)
        region = ctx.region([scalar, scalar], self._body(scalar), [scalar])
        return ctx.emit(
            f'"stablehlo.scatter"({operands[0]}, {rows}, {operands[2]}) <{{'
            f"{scatter_text(n, wide.ndim - 1, self.indices_are_sorted, self.unique_indices)}}}> "
            f"({region}) : ({x.mlir}, {wide.mlir}, {updates.mlir}) -> {out.mlir}"
        )

    def _body(self, scalar: ArrayType) -> Any:
        return lambda ctx, names: [self.combine(ctx, names[0], names[1], scalar)]

    def combine(self, ctx: Any, old: str, update: str, t: ArrayType) -> str:
        """Emit what is stored where `old` was."""
        return ctx.emit(f"stablehlo.{self.combiner} {old}, {update} : {t.mlir}")

    def _one_window(
        self,
        ctx: Any,
        operands: tuple[str, str, str],
        types: Any,
        wide: ArrayType,
        sizes: tuple[int, ...],
        upper: Sequence[int],
    ) -> str:
        """A single index vector: read, combine and write the window, which XLA does in place."""
        x_name, rows, update = operands
        x, _, updates = types
        window = array_type(sizes, x.dtype)
        inner = rows if self.mode is CLIP else clamped(ctx, rows, wide, upper)
        axes = tuple(self.numbers.scatter_dims_to_operand_dims)
        starts, scalar = window_starts(ctx, inner, wide, axes, x.ndim)
        if updates.shape != sizes:
            update = ctx.emit(f"stablehlo.reshape {update} : ({updates.mlir}) -> {window.mlir}")
        if self.mode is not CLIP or self.combiner:
            old = emit_dynamic_slice(ctx, x_name, x, starts, scalar, window)
            update = self.combine(ctx, old, update, window)
        if self.mode is not CLIP:
            mask, t = inside(ctx, rows, wide, upper)
            bools, one = array_type(sizes, np.bool_), array_type((), np.bool_)
            if t.ndim:
                mask = ctx.emit(f"stablehlo.reshape {mask} : ({t.mlir}) -> {one.mlir}")
            mask = ctx.broadcast(mask, one, bools)
            update = ctx.emit(
                f"stablehlo.select {mask}, {update}, {old} : {bools.mlir}, {window.mlir}"
            )
        return emit_dynamic_update(ctx, x_name, x, update, window, starts, scalar)


def batched_numbers(n: ScatterDimensionNumbers, indexed: bool) -> ScatterDimensionNumbers:
    """Dimension numbers for a batch axis in front of operand, updates and (`indexed`) indices."""
    window, inserted = shifted(n.update_window_dims), shifted(n.inserted_window_dims)
    to_operand = shifted(n.scatter_dims_to_operand_dims)
    partners = tuple(n.scatter_indices_batching_dims)
    batching = shifted(n.operand_batching_dims)
    if not indexed:
        return ScatterDimensionNumbers((0, *window), inserted, to_operand, batching, partners)
    return ScatterDimensionNumbers(
        window, inserted, to_operand, (0, *batching), (0, *shifted(partners))
    )


def scatter_text(n: ScatterDimensionNumbers, vector_dim: int, ordered: bool, unique: bool) -> str:
    """Attributes of a StableHLO scatter."""
    return (
        f"indices_are_sorted = {str(ordered).lower()}, "
        f"scatter_dimension_numbers = #stablehlo.scatter<"
        f"update_window_dims = [{ints(n.update_window_dims)}], "
        f"inserted_window_dims = [{ints(n.inserted_window_dims)}], "
        f"input_batching_dims = [{ints(n.operand_batching_dims)}], "
        f"scatter_indices_batching_dims = [{ints(n.scatter_indices_batching_dims)}], "
        f"scatter_dims_to_operand_dims = [{ints(n.scatter_dims_to_operand_dims)}], "
        f"index_vector_dim = {vector_dim}>, unique_indices = {str(unique).lower()}"
    )


class ScatterSet(Scatter):
    """Updates replace what is there.

    If an element is written more than once, one of the updates wins; the derivative belongs to
    that one.
    """

    name = "scatter"
    accepts = "biufck"

    def _winners(self, x: ArrayType, indices: Any, updates: ArrayType) -> Any:
        """Bool array like the updates: False where another update won (or it was dropped)."""
        ids = full(array_type(updates.shape, UINT32, False, updates.sharding), 1)
        if updates.ndim:
            count = apply(Iota.of(UINT32, (updates.size,), 0, None))
            ids = apply(add, reshape(count, updates.shape, updates.sharding), ids)
        nobody = full(array_type(x.shape, UINT32, False, x.sharding))
        stored = self.gathered(apply(self, nobody, indices, ids), indices, updates)
        return apply(eq, stored, ids)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, indices, updates = primals
        dx, _, du = tangents
        t, u = type_of(x), type_of(updates)
        if du is None or self.is_unique(type_of(indices)):
            out = apply(self, x, indices, updates)
            dx = full(t.update(weak_type=False)) if dx is None else dx
            du = full(u.update(weak_type=False)) if du is None else du
            return out, apply(self, dx, indices, du)
        # Two scatters need not agree on the winner, so the value too is made from the winners:
        # all others add -0.0, which changes nothing.
        wins = self._winners(t, indices, u)
        plus = self.same(ScatterAdd)
        nothing = t.dtype.type(-0.0) if t.kind == "f" else t.dtype.type(complex(-0.0, -0.0))
        nothings = full_of(u, nothing)
        cleared = apply(self, x, indices, nothings)
        out = apply(plus, cleared, indices, apply(select, wins, nothings, updates))
        zero = t.dtype.type(0)
        base = full(t.update(weak_type=False))
        if dx is not None:
            base = apply(self, dx, indices, full(u.update(weak_type=False)))
        return out, apply(plus, base, indices, apply(select, wins, zero, du))

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, indices, updates = inputs
        u = updates.type if is_linear(updates) else type_of(updates)
        ct_x = ct_updates = None
        if is_linear(x):
            ct_x = apply(self, ct, indices, full(u))
        if is_linear(updates):
            ct_updates = self.gathered(ct, indices, u)
            if not self.is_unique(type_of(indices)):
                wins = self._winners(type_of(ct), indices, u)
                ct_updates = apply(select, wins, u.dtype.type(0), ct_updates)
        return ct_x, None, ct_updates

    def physical(self, *types: ArrayType) -> Op:
        x, _, updates = types
        extra = tuple(range(updates.ndim, updates.ndim + len(x.dtype.key_shape)))
        window = (*self.numbers.update_window_dims, *extra)
        return self.replace(numbers=self.numbers._replace(update_window_dims=window))

    def combine(self, ctx: Any, old: str, update: str, t: ArrayType) -> str:
        return update


def full_of(t: ArrayType, value: Any) -> Any:
    """An array like `t` with one value, whose sign of zero is kept."""
    return full(t.update(weak_type=False), value)


class ScatterAdd(Scatter):
    """Updates are added to what is there; for bool: or."""

    combiner = "add"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, indices, updates = primals
        dx, _, du = tangents
        out = apply(self, x, indices, updates)
        if du is None:
            return out, dx
        if dx is None:
            dx = full(type_of(x).update(weak_type=False))
        return out, apply(self, dx, indices, du)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, indices, updates = inputs
        ct_updates = None
        if is_linear(updates):
            ct_updates = self.gathered(ct, indices, updates.type)
        return ct if is_linear(x) else None, None, ct_updates


class ScatterSub(ScatterAdd):
    """Updates are subtracted from what is there."""

    accepts = "iufc"

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        ct_x, _, ct_updates = super().transpose(ct, *inputs)
        return ct_x, None, None if ct_updates is None else apply(neg, ct_updates)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        updates = types[2]
        if not updates.size:
            return operands[0]
        minus = ctx.emit(f"stablehlo.negate {operands[2]} : {updates.mlir}")
        return super().lower(ctx, [operands[0], operands[1], minus], types, outs)


class ScatterMul(Scatter):
    """What is there is multiplied by the updates; for bool: and.

    The derivative is exact also if elements are written more than once; second derivatives of
    such elements need updates that are not zero.
    """

    combiner = "multiply"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, indices, updates = primals
        dx, _, du = tangents
        out = apply(self, x, indices, updates)
        d_out = None if dx is None else apply(self, dx, indices, updates)
        if du is None:
            return out, d_out
        if self.is_unique(type_of(indices)):
            others = self.gathered(x, indices, type_of(updates))
        else:
            others = self._product_of_others(x, indices, updates)
        base = full(type_of(out).update(weak_type=False)) if d_out is None else d_out
        return out, apply(self.same(ScatterAdd), base, indices, apply(mul, du, others))

    def _product_of_others(self, x: Any, indices: Any, updates: Any) -> Any:
        """For each update: x times all other updates of the same element.

        The product of the updates that are not zero is divided by the update itself; the number
        of zeros among them tells whether the others' product vanishes.
        """
        u = type_of(updates)
        zero, one = u.dtype.type(0), u.dtype.type(1)
        is_zero = apply(eq, updates, zero)
        safe = apply(select, is_zero, updates, one)
        product = self.gathered(apply(self, x, indices, safe), indices, u)
        count = full(array_type(type_of(x).shape, UINT32, False, type_of(x).sharding))
        zeros = convert(is_zero, UINT32)
        total = apply(self.same(ScatterAdd), count, indices, zeros)
        of_others = apply(sub, self.gathered(total, indices, type_of(zeros)), zeros)
        none_vanishes = apply(eq, of_others, UINT32.type(0))
        return apply(select, none_vanishes, zero, apply(div, product, safe))

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, indices, updates = inputs
        if is_linear(x) and not is_linear(updates):
            return apply(self, ct, indices, updates), None, None
        if is_linear(x) or not self.is_unique(type_of(indices)):
            return super().transpose(ct, *inputs)
        u = updates.type
        scaled = apply(mul, self.gathered(ct, indices, u), self.gathered(x, indices, u))
        return None, None, scaled


class ScatterExtremum(Scatter):
    """Minimum or maximum of what is there and the updates; equal ones share the derivative."""

    accepts = "biuf"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, indices, updates = primals
        dx, _, du = tangents
        out = apply(self, x, indices, updates)
        t, u = type_of(out).update(weak_type=False), type_of(updates)
        zero = t.dtype.type(0)
        plus = self.same(ScatterAdd)
        kept = apply(eq, x, out)
        won = apply(eq, updates, self.gathered(out, indices, u))
        count = apply(plus, convert(kept, t.dtype), indices, convert(won, t.dtype))
        total = full(t) if dx is None else apply(select, kept, zero, dx)
        if du is not None:
            total = apply(plus, total, indices, apply(select, won, zero, du))
        return out, apply(div, total, count)


class ScatterMin(ScatterExtremum):
    """The minimum of what is there and the updates."""

    combiner = "minimum"


class ScatterMax(ScatterExtremum):
    """The maximum of what is there and the updates."""

    combiner = "maximum"


class ScatterApply(Opaque):
    """A scalar function applied to the elements of windows, once for each time they are named.

    Operands: x, indices. `graph` is the function, `update_shape` the shape that updates would have.
    """

    graph: Any
    update_shape: tuple[int, ...]
    numbers: ScatterDimensionNumbers
    mode: GatherScatterMode = PROMISE_IN_BOUNDS
    indices_are_sorted: bool = False
    wrap: bool = False
    asked: bool = False
    memoise_type = False

    def as_set(self) -> ScatterSet:
        """A scatter of updates to the same places."""
        return ScatterSet.of(self.numbers, self.mode, False, self.indices_are_sorted, self.wrap)

    def out_type(self, *types: ArrayType) -> ArrayType:
        x, indices = types
        self.as_set().out_type(x, indices, array_type(self.update_shape, x.dtype))
        return x

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        raise errors.GradError(
            errors.explain(
                "scatter_apply",
                "the derivative needs every element to be named at most once",
                {"operand": type_of(primals[0]), "indices": type_of(primals[1])},
                try_="pass unique_indices=True, if the indices are different",
            )
        )

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x, indices = args
        dx, di = dims
        x, indices = batch_first(x, dx, size), move_batch(indices, di, 0)
        numbers = batched_numbers(self.numbers, di is not None)
        op = self.replace(numbers=numbers, update_shape=(size, *self.update_shape))
        return apply(op, x, indices), 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        x, indices = types
        updates = array_type(self.update_shape, x.dtype)
        kind = _Apply.of(
            self.numbers, self.mode, False, self.indices_are_sorted, self.wrap, True, self.graph
        )
        return kind.lower(ctx, [*operands, ctx.full(0, updates)], [x, indices, updates], outs)


class _Apply(Scatter):
    """Lowering of `ScatterApply`: the body ignores the updates."""

    one_by_one = True
    graph: Any

    def combine(self, ctx: Any, old: str, update: str, t: ArrayType) -> str:
        return ctx.inline(self.graph, [old])[0]


_moves.update(scatter=ScatterSet.of, scatter_add=ScatterAdd.of)
