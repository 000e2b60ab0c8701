"""Sorting: sort of one or several arrays, the permutation that sorts, and the k largest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import known
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.families import Opaque, batch_first, check_kind, move_batch
from ..structural.shape import full, reshape
from .gather import Gather
from .identities import accumulator
from .indices import PROMISE_IN_BOUNDS, GatherDimensionNumbers
from .sort_lowering import (
    canonical,
    key_words,
    permutation,
    sort_one,
    sort_together,
    take_along,
)

_I32 = np.dtype(np.int32)


def check_sorted_axis(op: Op, x: ArrayType, axis: int) -> None:
    """Raise if the axis is out of range, or longer than int32 indices reach."""
    if not 0 <= axis < x.ndim:
        raise errors.AxisError(
            errors.explain(
                op.name,
                f"axis {axis} is out of range for {x.ndim} axes",
                {"operand": x},
                try_=f"an axis from 0 to {x.ndim - 1}" if x.ndim else "x.reshape(1)",
            )
        )
    if known(x.shape[axis], 0) >= 2**31:
        raise errors.ShapeError(
            errors.explain(op.name, f"axis {axis} has more than 2**31 - 1 elements", {"operand": x})
        )


def unsharded_axis(op: Op, types: Sequence[ArrayType], axis: int) -> Any:
    """Common sharding of the operands; an error if the sorted axis is split."""
    for t in types:
        name = rules.spec_of(t)[axis]
        if name is not None:
            raise errors.ShardingError(
                errors.explain(
                    op.name,
                    f"axis {axis} is sharded over {name!r}, and sorting needs all of it on each "
                    "device",
                    {f"operand {i}": u for i, u in enumerate(types)},
                    try_=f"nl.reshard(x, P(...)) with None for axis {axis}",
                )
            )
    return rules.merge(op.name, types)


def take_sorted(x: Any, order: Any, axis: int, unique: bool) -> Any:
    """Elements of `x` along `axis` at the indices `order`, the other axes side by side."""
    t, rows = type_of(x), type_of(order)
    if any(type(n) is int and not n for n in rows.shape):  # there may be no window of one element
        return x if rows.shape == t.shape else full(array_type(rows.shape, t.dtype))
    ndim = t.ndim
    others = tuple(i for i in range(ndim) if i != axis)
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    op = Gather.of(numbers, (1,) * ndim, PROMISE_IN_BOUNDS, None, unique)
    return apply(op, x, reshape(order, (*rows.shape, 1)))


class ArgSort(Opaque):
    """int32 indices that sort along `axis` by the first operand, then the second, ...; stable."""

    name = "argsort"
    axis: int

    def out_type(self, *types: ArrayType) -> ArrayType:
        check_kind(self, types, "biufc")
        _check_shapes(self, types)
        check_sorted_axis(self, types[0], self.axis)
        sharded = any(t.sharding is not None for t in types)
        sharding = unsharded_axis(self, types, self.axis) if sharded else None
        return array_type(types[0].shape, _I32, False, sharding)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        moved = [batch_first(x, d, size) for x, d in zip(args, dims, strict=True)]
        return apply(ArgSort.of(self.axis + 1), *moved), 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if known(types[0].shape[self.axis], 2) < 2 or not types[0].size:
            return ctx.full(0, outs[0])
        if ctx.platform == "cpu":
            return permutation(ctx, operands, types, self.axis)
        index = ctx.emit(f"stablehlo.iota dim = {self.axis} : {outs[0].mlir}")
        found = sort_together(ctx, [*operands, index], [*types, outs[0]], self.axis, len(operands))
        return found[-1]


def _check_shapes(op: Op, types: Sequence[ArrayType]) -> None:
    for i, t in enumerate(types):
        if t.shape != types[0].shape:
            raise errors.ShapeError(
                errors.explain(
                    op.name,
                    f"operands must have equal shapes, but operand {i} has {t.shape} and operand 0 "
                    f"has {types[0].shape}",
                    {f"operand {j}": u for j, u in enumerate(types)},
                )
            )


class Sort(Op):
    """Operands sorted together along `axis` by the first `num_keys` of them; stable, NaN last."""

    multi = True
    axis: int
    num_keys: int = 1

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        check_kind(self, types, "biufc")
        _check_shapes(self, types)
        check_sorted_axis(self, types[0], self.axis)
        if not 1 <= self.num_keys <= len(types):
            raise errors.ValueArgumentError(
                errors.explain(
                    self.name,
                    f"num_keys must be from 1 to {len(types)}, the number of operands",
                    {"num_keys": self.num_keys},
                )
            )
        sharded = any(t.sharding is not None for t in types)
        sharding = unsharded_axis(self, types, self.axis) if sharded else None
        return [array_type(t.shape, t.dtype, t.weak_type, sharding) for t in types]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        order = apply(ArgSort.of(self.axis), *primals[: self.num_keys])
        outs = [take_sorted(x, order, self.axis, True) for x in primals]
        return outs, [
            None if d is None else take_sorted(d, order, self.axis, True) for d in tangents
        ]

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        moved = [batch_first(x, d, size) for x, d in zip(args, dims, strict=True)]
        return apply(Sort.of(self.axis + 1, self.num_keys), *moved), [0] * len(moved)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        if known(types[0].shape[self.axis], 2) < 2 or not types[0].size:
            return operands
        if len(operands) == 1 and types[0].kind != "c":
            return [sort_one(ctx, operands[0], types[0], self.axis)]
        if ctx.platform != "cpu":
            return sort_together(ctx, operands, types, self.axis, self.num_keys)
        n = self.num_keys
        order = permutation(ctx, operands[:n], types[:n], self.axis)
        index = array_type(types[0].shape, _I32)
        return [
            take_along(ctx, x, order, t, index, self.axis)
            for x, t in zip(operands, types, strict=True)
        ]


class TopK(Op):
    """The k largest elements along the last axis, largest first, and their int32 indices."""

    multi = True
    k: int

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        (x,) = types
        check_kind(self, types, "biuf")
        check_sorted_axis(self, x, x.ndim - 1)
        if not 0 <= self.k <= x.shape[-1]:
            raise errors.ValueArgumentError(
                errors.explain(
                    self.name,
                    f"k must be from 0 to {x.shape[-1]}, the size of the axis, but is {self.k}",
                    {"operand": x},
                )
            )
        sharding = None if x.sharding is None else unsharded_axis(self, types, x.ndim - 1)
        shape = (*x.shape[:-1], self.k)
        return [
            array_type(shape, x.dtype, x.weak_type, sharding),
            array_type(shape, _I32, False, sharding),
        ]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        values, places = apply(self, primals[0])
        if not type_of(values).inexact:
            return [values, places], [None, None]
        axis = type_of(values).ndim - 1
        return [values, places], [take_sorted(tangents[0], places, axis, True), None]

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, move_batch(args[0], dims[0], 0)), [0, 0]

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,) = types
        if not x.size or not self.k:
            return [ctx.full(0, t) for t in outs]
        if x.kind == "f" and x.dtype.itemsize <= 4 or x.dtype.itemsize <= 2:
            return self._by_custom_call(ctx, operands[0], x, outs)
        return self._by_sort(ctx, operands[0], x, outs)

    def _by_custom_call(self, ctx: Any, x: str, type_: ArrayType, outs: Any) -> list[str]:
        """XLA's own partial sort exists for float32, which holds all these dtypes exactly."""
        wide = array_type(type_.shape, np.float32)
        x = ctx.convert(x, type_, wide)
        if type_.kind == "f":
            x = canonical(ctx, x, wide, zero=False)
        values = array_type(outs[0].shape, np.float32)
        found = ctx.emit_many(
            f"chlo.top_k({x}, k = {self.k}) : {wide.mlir} -> ({values.mlir}, {outs[1].mlir})", 2
        )
        if type_.kind == "b":
            zero = ctx.full(0, values)
            t = values.mlir
            made = ctx.emit(
                f"stablehlo.compare NE, {found[0]}, {zero}, FLOAT : ({t}, {t}) -> {outs[0].mlir}"
            )
            return [made, found[1]]
        return [ctx.convert(found[0], values, outs[0]), found[1]]

    def _by_sort(self, ctx: Any, x: str, type_: ArrayType, outs: Any) -> list[str]:
        """Sort by the complement of the key, so that the largest come first and ties stay."""
        axis = type_.ndim - 1
        wide = array_type(type_.shape, accumulator(type_.dtype))
        word = array_type(type_.shape, np.uint32)
        words = [
            ctx.emit(f"stablehlo.not {w} : {word.mlir}")
            for w in key_words(ctx, ctx.convert(x, type_, wide), wide)
        ]
        index = array_type(type_.shape, _I32)
        if ctx.platform == "cpu":
            order = permutation(ctx, words, [word] * len(words), axis)
        else:
            iota = ctx.emit(f"stablehlo.iota dim = {axis} : {index.mlir}")
            types = [word] * len(words) + [index]
            order = sort_together(ctx, [*words, iota], types, axis, len(words))[-1]
        ranges = ", ".join(f"0:{n}" for n in outs[1].shape)
        places = ctx.emit(f"stablehlo.slice {order} [{ranges}] : ({index.mlir}) -> {outs[1].mlir}")
        return [take_along(ctx, x, places, type_, outs[1], axis), places]
