"""Operations that move or make elements: concatenate, split, pad, rev, squeeze, iota."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import max_size
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import select
from ..structural.families import Structural, batch_first, check_same_dtype, is_linear
from ..structural.shape import Broadcast, ReduceSum, Reshape, dropped, full
from .indices import ints, keep_if_divisible
from .slicing import Slice, _moves

BOOL = np.dtype(np.bool_)


class Concatenate(Op):
    """Operands one after the other along an axis."""

    axis: int

    def out_type(self, *types: ArrayType) -> ArrayType:
        axis, first = self.axis, types[0]
        check_same_dtype(self, types)
        if not 0 <= axis < first.ndim:
            raise errors.AxisError(
                errors.explain(
                    "concatenate",
                    f"dimension {axis} is out of range for operands with {first.ndim} axes",
                    _named(types),
                )
            )
        total = 0
        for t in types:
            if t.ndim != first.ndim or any(
                a != b and i != axis for i, (a, b) in enumerate(zip(t.shape, first.shape))
            ):
                raise errors.ShapeError(
                    errors.explain(
                        "concatenate",
                        f"operands must have equal shapes except in axis {axis}",
                        _named(types),
                        try_="nl.numpy.broadcast_to or lax.expand_dims the smaller one first",
                    )
                )
            total += t.shape[axis]
        shape = first.shape[:axis] + (total,) + first.shape[axis + 1 :]
        weak = all(t.weak_type for t in types)
        sharding = self.shard(*types) if any(t.sharding is not None for t in types) else None
        return array_type(shape, first.dtype, weak, sharding)

    def shard(self, *types: ArrayType) -> Any:
        axis = self.axis
        along = {rules.spec_of(t)[axis] for t in types}
        if len(along) > 1 or (None not in along and any(t.shape != types[0].shape for t in types)):
            raise rules.conflict(
                "concatenate", f"axis {axis}, which is joined, is not split in the same way", types
            )
        stand_ins = [
            array_type(
                dropped(t.shape, (axis,)),
                t.dtype,
                False,
                rules.named(t.sharding.mesh, dropped(rules.spec_of(t), (axis,)))
                if t.sharding is not None
                else None,
            )
            for t in types
        ]
        rest = rules.merge("concatenate", stand_ins)
        entries = list(rest.spec.padded(types[0].ndim - 1)) if rest is not None else []
        entries.insert(axis, along.pop())
        return rules.named(rules.mesh_of(types), entries)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = apply(self, *primals)
        made = [
            full(type_of(x).update(weak_type=False)) if d is None else d
            for x, d in zip(primals, tangents, strict=True)
        ]
        return out, apply(self, *made)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        axis, shape = self.axis, type_of(ct).shape
        start = [0] * len(shape)
        limit = list(shape)
        cts: list[Any] = []
        for x in inputs:
            size = (x.type if is_linear(x) else type_of(x)).shape[axis]
            limit[axis] = start[axis] + size
            if is_linear(x):
                cts.append(apply(Slice.of(tuple(start), tuple(limit), None), ct))
            else:
                cts.append(None)
            start[axis] = limit[axis]
        return cts

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        moved = [batch_first(x, d, size) for x, d in zip(args, dims, strict=True)]
        return apply(Concatenate.of(self.axis + 1), *moved), 0

    def physical(self, *types: ArrayType) -> Op:
        return Concatenate.of(self.axis)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if len(operands) == 1:
            return operands[0]
        kinds = ", ".join(t.mlir for t in types)
        return ctx.emit(
            f"stablehlo.concatenate {', '.join(operands)}, dim = {self.axis} : "
            f"({kinds}) -> {outs[0].mlir}"
        )


def _named(types: Sequence[ArrayType]) -> dict[str, ArrayType]:
    return {f"operand {i}": t for i, t in enumerate(types)}


class Split(Op):
    """Pieces of the given sizes along an axis; the reverse of concatenate."""

    multi = True
    sizes: tuple[int, ...]
    axis: int

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        (x,) = types
        axis, sizes = self.axis, self.sizes
        if not 0 <= axis < x.ndim:
            raise errors.AxisError(
                errors.explain("split", f"axis {axis} is out of range", {"operand": x})
            )
        if sum(sizes) != x.shape[axis] or any(n < 0 for n in sizes):
            raise errors.ShapeError(
                errors.explain(
                    "split",
                    f"sizes must be non-negative and add up to the {x.shape[axis]} elements of "
                    f"axis {axis}, but {sizes} add up to {sum(sizes)}",
                    {"operand": x},
                )
            )
        shapes = [x.shape[:axis] + (n,) + x.shape[axis + 1 :] for n in sizes]
        return [
            array_type(s, x.dtype, x.weak_type, None if x.sharding is None else self._piece(x, s))
            for s in shapes
        ]

    def _piece(self, x: ArrayType, shape: tuple[int, ...]) -> Any:
        return keep_if_divisible("split", list(rules.spec_of(x)), x.shape, shape, x)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, primals[0]), apply(self, tangents[0])

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        t = inputs[0].type
        axis = self.axis
        parts = [
            full(t.update(shape=t.shape[:axis] + (n,) + t.shape[axis + 1 :])) if c is None else c
            for c, n in zip(ct, self.sizes, strict=True)
        ]
        return (apply(Concatenate.of(axis), *parts),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        (d,) = dims
        assert d is not None
        outs = apply(Split.of(self.sizes, self.axis + (self.axis >= d)), args[0])
        return outs, [d] * len(outs)

    def physical(self, *types: ArrayType) -> Op:
        return Split.of(self.sizes, self.axis)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        x = types[0].physical  # the same operation serves keys
        names, start = [], 0
        for out, n in zip(outs, self.sizes, strict=True):
            begin = [0] * x.ndim
            end = list(x.shape)
            begin[self.axis], end[self.axis] = start, start + n
            parts = ", ".join(f"{b}:{e}" for b, e in zip(begin, end))
            names.append(
                ctx.emit(f"stablehlo.slice {operands[0]} [{parts}] : ({x.mlir}) -> {out.mlir}")
            )
            start += n
        return names


class Pad(Op):
    """Operand with `padding_value` before, behind and between its elements.

    `config` has (low, high, interior) for each axis; negative low or high removes elements.
    """

    config: tuple[tuple[int, int, int], ...]

    def out_type(self, *types: ArrayType) -> ArrayType:
        x, value = types
        config = self.config
        check_same_dtype(self, types)
        if value.ndim:
            raise errors.ShapeError(
                errors.explain(
                    "pad", "padding_value must be a scalar", {"operand": x, "padding_value": value}
                )
            )
        if len(config) != x.ndim:
            raise errors.ShapeError(
                errors.explain(
                    "pad",
                    f"padding_config needs one (low, high, interior) for each of {x.ndim} axes, "
                    f"but has {len(config)}",
                    {"operand": x, "padding_config": config},
                )
            )
        shape = []
        for i, (n, (low, high, interior)) in enumerate(zip(x.shape, config, strict=True)):
            size = low + high + n + max_size(n - 1, 0) * interior
            if interior < 0 or size < 0:
                rule = (
                    f"interior padding of axis {i} is negative"
                    if interior < 0
                    else f"axis {i} would get the negative size {size}"
                )
                raise errors.ShapeError(
                    errors.explain("pad", rule, {"operand": x, "padding_config": config})
                )
            shape.append(size)
        out = tuple(shape)
        sharding = None
        if x.sharding is not None:
            sharding = keep_if_divisible("pad", list(rules.spec_of(x)), x.shape, out, x)
        return array_type(out, x.dtype, x.weak_type and value.weak_type, sharding)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = apply(self, *primals)
        dx, dv = tangents
        zero = type_of(out).dtype.type(0)
        if dx is None:
            return out, apply(select, self._from_operand(primals[0]), dv, zero)
        return out, apply(self, dx, zero if dv is None else dv)

    def _from_operand(self, x: Any) -> Any:
        """Bool array of the result's shape: True where an element comes from the operand."""
        t = x.type if is_linear(x) else type_of(x)
        return apply(self, full(array_type(t.shape, BOOL, False, t.sharding), True), np.False_)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, value = inputs
        ct_x = ct_value = None
        if is_linear(x):
            ct_x = self._crop(ct, x.type.shape)
        if is_linear(value):
            t = type_of(ct)
            rest = apply(select, self._from_operand(x), ct, t.dtype.type(0))
            ct_value = apply(ReduceSum.of(tuple(range(t.ndim))), rest) if t.ndim else rest
        return ct_x, ct_value

    def _crop(self, ct: Any, shape: tuple[int, ...]) -> Any:
        """The elements of `ct` that came from the operand; zero for those that were removed."""
        lows = [low for low, _, _ in self.config]
        highs = [high for _, high, _ in self.config]
        if any(n < 0 for n in lows) or any(n < 0 for n in highs):
            undo = tuple(
                (max_size(-low, 0), max_size(-high, 0), 0) for low, high in zip(lows, highs)
            )
            ct = apply(Pad.of(undo), ct, type_of(ct).dtype.type(0))
        starts = tuple(max_size(low, 0) for low in lows)
        strides = tuple(interior + 1 for _, _, interior in self.config)
        limits = tuple(
            s + n + max_size(n - 1, 0) * (k - 1)
            for s, n, k in zip(starts, shape, strides, strict=True)
        )
        return apply(
            Slice.of(starts, limits, None if all(k == 1 for k in strides) else strides), ct
        )

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x, value = args
        dx, dv = dims
        wide = Pad.of(((0, 0, 0), *self.config))
        if dv is None:
            return apply(wide, batch_first(x, dx, size), value), 0
        x = batch_first(x, dx, size)
        t = type_of(x)
        out = apply(wide, x, t.dtype.type(0))
        inside = wide._from_operand(x)
        spread = batch_value(value, type_of(out))
        return apply(select, inside, spread, out), 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if not types[0].ndim:
            return operands[0]
        low, high, interior = (ints([c[i] for c in self.config]) for i in range(3))
        return ctx.emit(
            f"stablehlo.pad {operands[0]}, {operands[1]}, low = [{low}], high = [{high}], "
            f"interior = [{interior}] : ({types[0].mlir}, {types[1].mlir}) -> {outs[0].mlir}"
        )


def batch_value(value: Any, like: ArrayType) -> Any:
    """A batch of scalars repeated over all axes of `like` but the first."""
    return apply(Broadcast.of(like.shape, (0,), like.sharding), value)


class Rev(Structural):
    """Elements in reverse order along axes."""

    axes: tuple[int, ...]

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        axes = self.axes
        if len(set(axes)) != len(axes) or not all(0 <= a < x.ndim for a in axes):
            raise errors.AxisError(
                errors.explain(
                    "rev",
                    f"dimensions {axes} must be different and in range of the {x.ndim} axes",
                    {"operand": x},
                )
            )
        return x

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(self, ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        (d,) = dims
        assert d is not None
        return apply(Rev.of(tuple(a + (a >= d) for a in self.axes)), args[0]), d

    def physical(self, *types: ArrayType) -> Op:
        return Rev.of(self.axes)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if not self.axes:
            return operands[0]
        return ctx.emit(
            f"stablehlo.reverse {operands[0]}, dims = [{ints(self.axes)}] : {outs[0].mlir}"
        )


class Squeeze(Structural):
    """Operand without some axes of size 1."""

    axes: tuple[int, ...]

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        for a in self.axes:
            if not 0 <= a < x.ndim or x.shape[a] != 1:
                size = f"has size {x.shape[a]}, not 1" if 0 <= a < x.ndim else "is out of range"
                raise errors.ShapeError(errors.explain("squeeze", f"axis {a} {size}", {"array": x}))
        sharding = None if x.sharding is None else self.shard(x)
        return array_type(dropped(x.shape, self.axes), x.dtype, x.weak_type, sharding)

    def shard(self, *types: ArrayType) -> Any:
        (x,) = types
        return rules.named(x.sharding.mesh, dropped(rules.spec_of(x), self.axes))

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        t = inputs[0].type
        return (apply(Reshape.of(t.shape, t.sharding), ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        (d,) = dims
        assert d is not None
        axes = tuple(a + (a >= d) for a in self.axes)
        return apply(Squeeze.of(axes), args[0]), d - sum(a < d for a in axes)

    def physical(self, *types: ArrayType) -> Op:
        return Squeeze.of(self.axes)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if not self.axes:
            return operands[0]
        return ctx.emit(f"stablehlo.reshape {operands[0]} : ({types[0].mlir}) -> {outs[0].mlir}")


class Iota(Op):
    """0, 1, 2, ... along an axis, repeated over the others."""

    dtype: Any
    shape: tuple[int, ...]
    axis: int
    sharding: Any = None

    def out_type(self, *types: ArrayType) -> ArrayType:
        return array_type(self.shape, self.dtype, False, self.sharding)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (out,) = outs
        small = out.dtype.itemsize == 1 and (out.kind == "f" or out.dtype.name.endswith(("2", "4")))
        made = array_type(out.shape, np.dtype(np.int32)) if small else out
        name = ctx.emit(f"stablehlo.iota dim = {self.axis} : {made.mlir}")
        return ctx.convert(name, made, out)


_moves.update(pad=Pad.of, concatenate=Concatenate.of)
