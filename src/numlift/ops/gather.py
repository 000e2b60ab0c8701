"""gather: many windows of one array, at start indices that are an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import min_size
from ..core.dtypes import iinfo
from ..core.integers import check_number
from ..core.op import Op
from ..core.tracing import apply
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.families import Structural, move_batch
from ..structural.shape import full
from .indices import (
    FILL_OR_DROP,
    ONE_HOT,
    PROMISE_IN_BOUNDS,
    GatherDimensionNumbers,
    GatherScatterMode,
    check_indices,
    check_numbers,
    count_of_windows,
    entry,
    inside,
    ints,
    scatter_numbers,
    shifted,
    wide_indices,
    wrapped,
)
from .slicing import _moves, emit_dynamic_slice


def default_fill(t: ArrayType) -> Any:
    """What FILL_OR_DROP fills with: NaN, the least signed, the greatest unsigned number, True."""
    if t.kind in "fc":
        return float("nan")
    if t.kind == "b":
        return True
    return iinfo(t.dtype).min if t.kind == "i" else iinfo(t.dtype).max


class Gather(Structural):
    """Windows of `slice_sizes` at the index vectors in the last axis of the indices.

    Operands: x, indices. With `wrap`, negative indices count from the end. `fill_value` None is
    the default of the dtype. `sharding` gives the result's sharding (Explicit axes). `asked` says
    that the user chose what happens out of bounds, so that `checkify` does not tell of it.
    """

    numbers: GatherDimensionNumbers
    slice_sizes: tuple[int, ...]
    mode: GatherScatterMode = PROMISE_IN_BOUNDS
    fill_value: Any = None
    unique_indices: bool = False
    indices_are_sorted: bool = False
    wrap: bool = False
    sharding: Any = None
    asked: bool = False

    def out_type(self, *types: ArrayType) -> ArrayType:
        x, indices = types
        numbers = self.numbers
        check_indices("gather", indices, {"operand": x, "indices": indices})
        check_numbers("gather", numbers, self.slice_sizes, x, indices)
        check_number("gather", self.fill_value, x)
        gone = numbers.collapsed_slice_dims + numbers.operand_batching_dims
        window = [n for i, n in enumerate(self.slice_sizes) if i not in gone]
        shape = self._arrange(list(indices.shape[:-1]), window)
        sharding = self.sharding
        if sharding is None and (x.sharding is not None or indices.sharding is not None):
            sharding = self.shard(x, indices)
        return array_type(tuple(shape), x.dtype, x.weak_type, sharding)

    def _arrange(self, batch: Sequence[Any], window: Sequence[Any]) -> list[Any]:
        """Properties of batch and window axes in the order of the result's axes."""
        batches, windows = iter(batch), iter(window)
        offset = self.numbers.offset_dims
        return [
            next(windows) if i in offset else next(batches) for i in range(len(batch) + len(window))
        ]

    def shard(self, *types: ArrayType) -> Any:
        x, indices = types
        numbers = self.numbers
        spec, batch = rules.spec_of(x), list(rules.spec_of(indices)[:-1])
        window = []
        pairs = dict(
            zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
        )
        for i, (axes, n, size) in enumerate(zip(spec, x.shape, self.slice_sizes, strict=True)):
            if i in pairs:
                partner = pairs[i]
                if axes is not None and batch[partner] not in (None, axes):
                    raise rules.conflict(
                        "gather", f"batching axis {i} is split differently in the indices", types
                    )
                batch[partner] = batch[partner] or axes
                continue
            if axes is not None and size != n:
                raise self._indexed_error(i, axes, types)
            if i not in numbers.collapsed_slice_dims:
                window.append(axes)
        entries = self._arrange(batch, window)
        used = [name for e in entries for name in rules.axis_names_in(e)]
        if len(used) != len(set(used)):
            raise rules.conflict(
                "gather", "one mesh axis would split two axes of the result", types
            )
        return rules.named(rules.mesh_of(types), entries)

    def _indexed_error(self, axis: int, axes: Any, types: Sequence[ArrayType]) -> Exception:
        return errors.ShardingError(
            errors.explain(
                "gather",
                f"axis {axis} is indexed, but it is split over {axes!r}: how the result is split "
                "is ambiguous",
                {"operand": types[0], "indices": types[1]},
                try_="x.at[i].get(out_sharding=P(...)), or nl.reshard(x, P(...)) first",
            )
        )

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, indices = primals
        filled = self.mode is FILL_OR_DROP and self.fill_value != 0
        linear = self.replace(fill_value=0) if filled else self
        return apply(self, x, indices), apply(linear, tangents[0], indices)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, indices = inputs
        add = _moves["scatter_add"](
            scatter_numbers(self.numbers),
            self.mode,
            self.unique_indices,
            self.indices_are_sorted,
            self.wrap,
            self.asked,
        )
        return apply(add, full(x.type), indices, ct), None

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x, indices = args
        dx, di = dims
        n = self.numbers
        offset, sizes = shifted(n.offset_dims), self.slice_sizes
        unique, ordered = self.unique_indices, self.indices_are_sorted
        if di is None:
            x = move_batch(x, dx, 0)
            numbers = GatherDimensionNumbers(
                (0, *offset),
                shifted(n.collapsed_slice_dims),
                shifted(n.start_index_map),
                shifted(n.operand_batching_dims),
                n.start_indices_batching_dims,
            )
            sizes = (size, *sizes)
        elif dx is None:
            indices = move_batch(indices, di, 0)
            numbers = n._replace(
                offset_dims=offset,
                start_indices_batching_dims=shifted(n.start_indices_batching_dims),
            )
            unique = ordered = False
        else:
            x, indices = move_batch(x, dx, 0), move_batch(indices, di, 0)
            numbers = GatherDimensionNumbers(
                offset,
                shifted(n.collapsed_slice_dims),
                shifted(n.start_index_map),
                (0, *shifted(n.operand_batching_dims)),
                (0, *shifted(n.start_indices_batching_dims)),
            )
            sizes = (min_size(size, 1), *sizes)
        op = Gather.of(
            numbers, sizes, self.mode, self.fill_value, unique, ordered, self.wrap, None, self.asked
        )
        return apply(op, x, indices), 0

    def physical(self, *types: ArrayType) -> Op:
        x, indices = types
        tail = x.dtype.key_shape
        numbers = self.numbers
        rank = len(numbers.offset_dims) + indices.ndim - 1
        offset = numbers.offset_dims + tuple(range(rank, rank + len(tail)))
        return Gather.of(
            numbers._replace(offset_dims=offset),
            self.slice_sizes + tail,
            self.mode,
            self.fill_value,
            self.unique_indices,
            self.indices_are_sorted,
            self.wrap,
            None,
            self.asked,
        )

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x, indices), (out,) = types, outs
        numbers = self.numbers
        if not out.size:
            return ctx.full(0, out)
        extents = [x.shape[i] for i in numbers.start_index_map]
        rows, wide = wide_indices(ctx, operands[1], indices, extents)
        if self.wrap and indices.kind == "i":
            rows = wrapped(ctx, rows, wide, extents)
        single = count_of_windows(indices, ()) == 1 and not numbers.operand_batching_dims
        if single and ctx.module.mesh is None:
            name = self._one_window(ctx, operands[0], x, rows, wide, out)
        else:
            name = self._windows(ctx, operands[0], x, rows, wide, out)
        if self.mode is FILL_OR_DROP or self.mode is ONE_HOT:
            return self._fill(ctx, name, x, rows, wide, out)
        return name

    def _one_window(
        self, ctx: Any, x: str, x_type: ArrayType, rows: str, wide: ArrayType, out: ArrayType
    ) -> str:
        """A single index vector: a dynamic slice is the cheaper program."""
        starts, scalar = window_starts(ctx, rows, wide, self.numbers.start_index_map, x_type.ndim)
        window = array_type(self.slice_sizes, out.dtype)
        name = emit_dynamic_slice(ctx, x, x_type, starts, scalar, window)
        if window.shape == out.shape:
            return name
        return ctx.emit(f"stablehlo.reshape {name} : ({window.mlir}) -> {out.mlir}")

    def _windows(
        self, ctx: Any, x: str, x_type: ArrayType, rows: str, wide: ArrayType, out: ArrayType
    ) -> str:
        n = self.numbers
        sizes = ints(self.slice_sizes)
        sizes = f": {sizes}" if sizes else ""
        ordered = str(self.indices_are_sorted).lower()
        return ctx.emit(
            f'"stablehlo.gather"({x}, {rows}) <{{dimension_numbers = #stablehlo.gather<'
            f"offset_dims = [{ints(n.offset_dims)}], "
            f"collapsed_slice_dims = [{ints(n.collapsed_slice_dims)}], "
            f"operand_batching_dims = [{ints(n.operand_batching_dims)}], "
            f"start_indices_batching_dims = [{ints(n.start_indices_batching_dims)}], "
            f"start_index_map = [{ints(n.start_index_map)}], index_vector_dim = {wide.ndim - 1}>, "
            f"indices_are_sorted = {ordered}, slice_sizes = array<i64{sizes}>}}> : "
            f"({x_type.mlir}, {wide.mlir}) -> {out.mlir}"
        )

    def _fill(
        self, ctx: Any, name: str, x: ArrayType, rows: str, wide: ArrayType, out: ArrayType
    ) -> str:
        """Windows that are not wholly in bounds replaced by the fill value."""
        upper = [x.shape[i] - self.slice_sizes[i] for i in self.numbers.start_index_map]
        mask, mask_type = inside(ctx, rows, wide, upper)
        bools = array_type(out.shape, np.bool_)
        offset = self.numbers.offset_dims
        batch = [i for i in range(out.ndim) if i not in offset]
        mask = ctx.broadcast(mask, mask_type, bools, batch)
        value = 0 if self.mode is ONE_HOT else self.fill_value
        fill = ctx.full(default_fill(out) if value is None else value, out)
        return ctx.emit(f"stablehlo.select {mask}, {name}, {fill} : {bools.mlir}, {out.mlir}")


def window_starts(
    ctx: Any, rows: str, wide: ArrayType, index_map: Sequence[int], rank: int
) -> tuple[list[str], str]:
    """Start of the only window in every axis of the operand, and the MLIR type of a start."""
    scalar = array_type((), wide.dtype)
    zero = ctx.full(0, scalar)
    starts = [zero] * rank
    for position, axis in enumerate(index_map):
        starts[axis] = entry(ctx, rows, wide, position)
    return starts, scalar.mlir


_moves["gather"] = Gather.of
