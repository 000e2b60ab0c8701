"""Windowed reductions, and the operations that their derivatives need.

The derivative of a windowed maximum goes through `SelectAndGatherAdd` (forward: for each window
take the tangent of the chosen element) and `SelectAndScatterAdd` (backward: add each cotangent to
the chosen element). Each is linear in its first argument and the transpose of the other, so any
order of derivative works. The choice itself has no derivative. The first of equal elements wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import errors
from ..core.graph import Graph
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.families import batch_first, check_kind
from ..structural.shape import full, reshape
from ..transforms.jvp import jvp_flat
from ..transforms.vmap import vmap_flat
from .apart import apart
from .identities import accumulator, highest, lowest
from .indices import keep_if_divisible
from .reduce_by import reduce_by_tree
from .shape import Concatenate, Pad
from .slicing import Slice
from .window_lowering import (
    MOST_SLICES,
    Window,
    axis_passes,
    pad,
    unpad,
    unslice,
    window_size,
    window_slice,
)


def check_window(function: str, x: ArrayType, window: Window) -> None:
    """Raise if the window does not fit the operand's rank, or a size or step is below 1."""
    for name, values in zip(
        ("window_dimensions", "window_strides", "padding", "base_dilation", "window_dilation"),
        window,
        strict=True,
    ):
        if len(values) != x.ndim:
            raise errors.ShapeError(
                errors.explain(
                    function,
                    f"{name} needs one entry for each of {x.ndim} axes, but has {len(values)}",
                    {"operand": x, name: values},
                    try_="1 for axes over which the window does not reach ((0, 0) for padding)",
                )
            )
        if name != "padding" and any(v < 1 for v in values):  # type: ignore[operator]
            raise errors.ValueArgumentError(
                errors.explain(
                    function, f"every entry of {name} must be at least 1", {name: values}
                )
            )


class Windowed(Op):
    """Base: windows over arrays of one shape."""

    window: Window

    def windowed_shape(self, x: ArrayType) -> tuple[int, ...]:
        """Shape of the result for an operand of this type."""
        check_window(self.name, x, self.window)
        return self.window.out_shape(x.shape)

    def shard(self, *types: ArrayType) -> Any:
        """Axes keep their sharding if it divides their new sizes, too."""
        merged = rules.merge(self.name, types)
        if merged is None:
            return None
        x = next(t for t in types if t.sharding is not None)
        entries = list(merged.spec.padded(x.ndim))
        return keep_if_divisible(self.name, entries, x.shape, self.windowed_shape(x), x)


class ReduceWindowOne(Windowed):
    """Windowed reduction of one array with one StableHLO operation."""

    hlo: ClassVar[str] = ""
    accepts: ClassVar[str] = "biuf"

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        check_kind(self, types, self.accepts)
        shape = self.windowed_shape(x)
        sharding = None if x.sharding is None else self.shard(x)
        return array_type(shape, x.dtype, x.weak_type, sharding)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        (d,) = dims
        assert d is not None
        return apply(type(self).of(self.window.with_axis(d)), args[0]), d

    def identity(self, dtype: Any) -> Any:
        """Neutral element, which padding is filled with."""
        raise NotImplementedError

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,), (out,) = types, outs
        wide = self.storage(x.dtype)
        wide_x, wide_out = array_type(x.shape, wide), array_type(out.shape, wide)
        name = ctx.convert(operands[0], x, wide_x)
        fill = self.identity(wide)
        if not out.size:
            return ctx.full(fill, out)
        made = None
        if ctx.platform == "cpu":
            made = axis_passes(ctx, self.hlo, name, wide_x, self.window, fill)
        if made is None:
            made = _native(ctx, self.hlo, name, wide_x, wide_out, self.window, fill)
        return ctx.convert(made, wide_out, out)

    def storage(self, dtype: Any) -> Any:
        """dtype in which to reduce."""
        return accumulator(dtype) if dtype.itemsize == 1 else dtype


def _native(
    ctx: Any, hlo: str, x: str, type_: ArrayType, out: ArrayType, window: Window, fill: Any
) -> str:
    """XLA's own windowed reduction."""
    if any(n < 0 for p in window.padding for n in p):
        x, type_ = pad(ctx, x, type_, window, fill)
        window = window._replace(padding=((0, 0),) * type_.ndim, base_dilation=(1,) * type_.ndim)
    scalar = array_type((), type_.dtype)
    start = ctx.full(fill, scalar)
    region = ctx.region(
        [scalar, scalar],
        lambda c, names: [c.emit(f"{hlo} {names[0]}, {names[1]} : {scalar.mlir}")],
        [scalar],
    )
    return ctx.emit(
        f'"stablehlo.reduce_window"({x}, {start}) <{{{window.attributes()}}}> ({region}) : '
        f"({type_.mlir}, {scalar.mlir}) -> {out.mlir}"
    )


class ReduceWindowSum(ReduceWindowOne):
    """Sum over each window."""

    hlo = "stablehlo.add"
    accepts = "iufc"

    def identity(self, dtype: Any) -> Any:
        return 0

    def storage(self, dtype: Any) -> Any:
        return accumulator(dtype)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, primals[0]), apply(self, tangents[0])

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        t, c = inputs[0].type, type_of(ct)
        if not t.size or not c.size:
            return (full(t),)
        w = self.window
        config = []
        for n, o, size, s, (low, _), b, d in zip(t.shape, c.shape, *w, strict=True):
            span = (size - 1) * d + 1
            before = span - 1 - low
            after = (n - 1) * b + span - before - ((o - 1) * s + 1)
            config.append((before, after, s - 1))
        spread = apply(Pad.of(tuple(config)), ct, c.dtype.type(0))
        ones = (1,) * t.ndim
        back = Window(w.sizes, w.base_dilation, ((0, 0),) * t.ndim, ones, w.window_dilation)
        return (apply(ReduceWindowSum.of(back), spread),)


class _Extreme(ReduceWindowOne):
    direction: ClassVar[str] = "GE"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x,), (dx,) = primals, tangents
        y = apply(self, x)
        return y, apply(SelectAndGatherAdd.of(self.window, self.direction), dx, x)


class ReduceWindowMax(_Extreme):
    """Greatest element of each window."""

    hlo = "stablehlo.maximum"

    def identity(self, dtype: Any) -> Any:
        return lowest(dtype)


class ReduceWindowMin(_Extreme):
    """Least element of each window."""

    hlo = "stablehlo.minimum"
    direction = "LE"

    def identity(self, dtype: Any) -> Any:
        return highest(dtype)


class _Selecting(Windowed):
    """Operations on (values, operand): operand decides which element of each window is meant."""

    direction: str

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        values, operand = primals
        d_values = tangents[0]
        out = apply(self, values, operand)
        return out, None if d_values is None else apply(self, d_values, operand)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        values, operand = (batch_first(x, d, size) for x, d in zip(args, dims, strict=True))
        op = type(self).of(self.window.with_axis(0), self.direction)
        return apply(op, values, operand), 0

    def result(self, values: ArrayType, operand: ArrayType, shape: tuple[int, ...]) -> ArrayType:
        """Type of the result: dtype of the values, sharding of the operand."""
        check_kind(self, (operand,), "biuf")
        sharding = operand.sharding
        if sharding is not None and shape != operand.shape:
            sharding = self.shard(operand)
        return array_type(shape, values.dtype, False, sharding)

    def fill(self, dtype: Any) -> Any:
        """What padding is filled with: never chosen."""
        return lowest(dtype) if self.direction == "GE" else highest(dtype)


class SelectAndGatherAdd(_Selecting):
    """For each window, the value at the place of the greatest (GE) or least (LE) operand."""

    def out_type(self, *types: ArrayType) -> ArrayType:
        values, operand = types
        if values.shape != operand.shape:
            raise errors.ShapeError(
                errors.explain(
                    self.name, "values and operand must have one shape",
                    {"values": values, "operand": operand},
                )
            )  # fmt: skip
        return self.result(values, operand, self.windowed_shape(operand))

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        op = SelectAndScatterAdd.of(self.window, self.direction)
        return apply(op, ct, inputs[1]), None

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        values, operand = types
        (out,) = outs
        if not out.size:
            return ctx.full(0, out)
        if window_size(self.window) > MOST_SLICES:
            return self._lower_native(ctx, operands, types, out)
        window = self.window
        x, x_type = pad(ctx, operands[1], operand, window, self.fill(operand.dtype))
        v, v_type = pad(ctx, operands[0], values, window, 0)
        chosen = ""
        for position, part, take in _contest(ctx, x, x_type, operand, out, self):
            value = window_slice(ctx, v, v_type, out, window, position)
            if take is None:
                chosen = value
                continue
            bools = array_type(out.shape, np.bool_)
            chosen = ctx.emit(
                f"stablehlo.select {take}, {value}, {chosen} : {bools.mlir}, {out.mlir}"
            )
        return chosen

    def _lower_native(self, ctx: Any, operands: list[str], types: Any, out: ArrayType) -> str:
        values, operand = types
        x, x_type = pad(ctx, operands[1], operand, self.window, self.fill(operand.dtype))
        v, v_type = pad(ctx, operands[0], values, self.window, 0)
        return _chosen(ctx, x, x_type, v, v_type, out, self)


def _chosen(
    ctx: Any, x: str, x_type: ArrayType, v: str, v_type: ArrayType, out: ArrayType, op: _Selecting
) -> str:
    """The element of `v` where `x`, padded already, is best in each window: XLA's reduction."""
    ones = (1,) * x_type.ndim
    window = op.window._replace(padding=((0, 0),) * x_type.ndim, base_dilation=ones)
    xs, vs = array_type((), x_type.dtype), array_type((), v_type.dtype)

    def body(c: Any, names: list[str]) -> list[str]:
        a, av, b, bv = names
        keep = c.emit(
            f"stablehlo.compare {op.direction}, {a}, {b} : ({xs.mlir}, {xs.mlir}) -> tensor<i1>"
        )
        return [
            c.emit(f"stablehlo.select {keep}, {p}, {q} : tensor<i1>, {t.mlir}")
            for p, q, t in ((a, b, xs), (av, bv, vs))
        ]

    region = ctx.region([xs, vs, xs, vs], body, [xs, vs])
    start, zero = ctx.full(op.fill(x_type.dtype), xs), ctx.full(0, vs)
    best = array_type(out.shape, x_type.dtype)
    return ctx.emit_many(
        f'"stablehlo.reduce_window"({x}, {v}, {start}, {zero}) <{{{window.attributes()}}}> '
        f"({region}) : ({x_type.mlir}, {v_type.mlir}, {xs.mlir}, {vs.mlir}) -> "
        f"({best.mlir}, {out.mlir})",
        2,
    )[1]


class SelectAndScatterAdd(_Selecting):
    """Add each source element to the place of the greatest (GE) or least (LE) of its window."""

    def out_type(self, *types: ArrayType) -> ArrayType:
        source, operand = types
        shape = self.windowed_shape(operand)
        if source.shape != shape:
            raise errors.ShapeError(
                errors.explain(
                    self.name,
                    f"source must have one element for each window, so the shape {shape}",
                    {"source": source, "operand": operand},
                )
            )
        return self.result(source, operand, operand.shape)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        op = SelectAndGatherAdd.of(self.window, self.direction)
        return apply(op, ct, inputs[1]), None

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        source, operand = types
        (out,) = outs
        wide = array_type(out.shape, accumulator(out.dtype))
        if not source.size or not out.size:
            return ctx.full(0, out)
        window = self.window
        wide_source = array_type(source.shape, wide.dtype)
        given = ctx.convert(operands[0], source, wide_source)
        padded = array_type(window.padded_shape(out.shape), wide.dtype)
        if window_size(window) > MOST_SLICES:
            x, x_type = pad(ctx, operands[1], operand, window, self.fill(operand.dtype))
            made = self._lower_native(ctx, x, given, x_type, wide_source, padded)
        else:
            made = self._lower_slices(ctx, operands[1], given, operand, wide_source, padded)
        return ctx.convert(unpad(ctx, made, padded, wide, window), wide, out)

    def _lower_slices(
        self, ctx: Any, x: str, given: str, operand: ArrayType, source: ArrayType, padded: ArrayType
    ) -> str:
        index, bools = array_type(source.shape, np.int8), array_type(source.shape, np.bool_)
        positions = list(self.window.positions())

        def decide(c: Any, names: list[str]) -> list[str]:
            """Which position wins in each window."""
            fill = self.fill(operand.dtype)
            padded_x, x_type = pad(c, names[0], operand, self.window, fill)
            winner = c.full(0, index)
            contest = _contest(c, padded_x, x_type, operand, source, self)
            for k, (_, _, take) in enumerate(contest):
                if take is not None:
                    here = c.full(k, index)
                    winner = c.emit(
                        f"stablehlo.select {take}, {here}, {winner} : {bools.mlir}, {index.mlir}"
                    )
            return [winner]

        # Fused, XLA would decide the contest again for every element it may go to.
        (winner,) = apart(ctx, "winners", [x], [operand], [index], decide)
        zero, total = ctx.full(0, source), ""
        for k, position in enumerate(positions):
            here = ctx.full(k, index)
            mine = ctx.emit(
                f"stablehlo.compare EQ, {winner}, {here}, SIGNED : ({index.mlir}, {index.mlir}) -> "
                f"{bools.mlir}"
            )
            part = ctx.emit(
                f"stablehlo.select {mine}, {given}, {zero} : {bools.mlir}, {source.mlir}"
            )
            part = unslice(ctx, part, source, padded, self.window, position)
            total = (
                part if not total else ctx.emit(f"stablehlo.add {total}, {part} : {padded.mlir}")
            )
        return total

    def _lower_native(
        self, ctx: Any, x: str, given: str, x_type: ArrayType, source: ArrayType, padded: ArrayType
    ) -> str:
        """For long windows: the flat index of each winner, and one scatter."""
        line = array_type((padded.size,), np.int32)
        index, winners = array_type(padded.shape, np.int32), array_type(source.shape, np.int32)
        places = ctx.emit(f"stablehlo.iota dim = 0 : {line.mlir}")
        places = ctx.emit(f"stablehlo.reshape {places} : ({line.mlir}) -> {index.mlir}")
        chosen = _chosen(ctx, x, x_type, places, index, winners, self)
        column = array_type((source.size, 1), np.int32)
        updates = array_type((source.size,), source.dtype)
        flat, scalar = array_type((padded.size,), source.dtype), array_type((), source.dtype)
        chosen = ctx.emit(f"stablehlo.reshape {chosen} : ({winners.mlir}) -> {column.mlir}")
        given = ctx.emit(f"stablehlo.reshape {given} : ({source.mlir}) -> {updates.mlir}")
        add = ctx.region(
            [scalar, scalar],
            lambda c, n: [c.emit(f"stablehlo.add {n[0]}, {n[1]} : {scalar.mlir}")],
            [scalar],
        )
        zeros = ctx.full(0, flat)
        made = ctx.emit(
            f'"stablehlo.scatter"({zeros}, {chosen}, {given}) <{{scatter_dimension_numbers = '
            "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
            f"index_vector_dim = 1>}}> ({add}) : ({flat.mlir}, {column.mlir}, {updates.mlir}) -> "
            f"{flat.mlir}"
        )
        return ctx.emit(f"stablehlo.reshape {made} : ({flat.mlir}) -> {padded.mlir}")


def _contest(
    ctx: Any, x: str, x_type: ArrayType, operand: ArrayType, out: ArrayType, op: _Selecting
) -> Any:
    """For each position: (position, operand there, mask of windows where it is the best so far).

    The mask is None for the first position. Padding is never chosen if there is a real element,
    even if that one is infinite.
    """
    window, bools = op.window, array_type(out.shape, np.bool_)
    there = array_type(out.shape, operand.dtype)
    inside: str | None = None
    inside_type = x_type
    if window.is_padded():
        flags = array_type(operand.shape, np.bool_)
        inside, inside_type = pad(ctx, ctx.full(True, flags), flags, window, False)
    best = have = ""
    for position in window.positions():
        part = window_slice(ctx, x, x_type, out, window, position)
        valid = None
        if inside is not None:
            valid = window_slice(ctx, inside, inside_type, out, window, position)
        if not best:
            best, have = part, valid or ""
            yield position, part, None
            continue
        better = "LT" if op.direction == "GE" else "GT"
        kind = {"f": ", FLOAT", "i": ", SIGNED"}.get(operand.kind, ", UNSIGNED")
        take = ctx.emit(
            f"stablehlo.compare {better}, {best}, {part}{kind} : ({there.mlir}, {there.mlir}) -> "
            f"{bools.mlir}"
        )
        if valid is not None:
            missing = ctx.emit(f"stablehlo.not {have} : {bools.mlir}")
            take = ctx.emit(f"stablehlo.or {take}, {missing} : {bools.mlir}")
            take = ctx.emit(f"stablehlo.and {take}, {valid} : {bools.mlir}")
            have = ctx.emit(f"stablehlo.or {have}, {valid} : {bools.mlir}")
        best = ctx.emit(f"stablehlo.select {take}, {part}, {best} : {bools.mlir}, {there.mlir}")
        yield position, part, take


class ReduceWindow(Windowed):
    """n operands and n initial values -> n windowed reductions by `graph` (2n -> n scalars)."""

    multi = True
    graph: Graph

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        n = len(types) // 2
        operands, starts = types[:n], types[n:]
        for i, (t, s) in enumerate(zip(operands, starts, strict=True)):
            if t.shape != operands[0].shape or s.ndim or s.dtype != t.dtype:
                raise errors.ShapeError(
                    errors.explain(
                        self.name,
                        f"operand {i} and its initial value do not fit: operands have equal "
                        "shapes, initial values are scalars of the operands' dtypes",
                        {"operands": list(operands), "init_values": list(starts)},
                    )
                )
        shape = self.windowed_shape(operands[0])
        sharding = self.shard(*operands) if any(t.sharding for t in operands) else None
        return [array_type(shape, t.dtype, t.weak_type, sharding) for t in operands]

    def by_patches(self, *args: Any) -> list[Any]:
        """The same from slices and elementwise steps, which can be differentiated and batched."""
        n = len(args) // 2
        patches = [_patches(x, s, self.window) for x, s in zip(args[:n], args[n:], strict=True)]
        return reduce_by_tree(self.graph, patches, args[n:], (type_of(patches[0]).ndim - 1,))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, *primals), jvp_flat(self.by_patches, primals, tangents)[1]

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        n = len(args) // 2
        if any(d is not None for d in dims[n:]):
            return vmap_flat(self.by_patches, size, args, dims)
        wide = [batch_first(x, d, size) for x, d in zip(args[:n], dims[:n], strict=True)]
        op = ReduceWindow.of(self.window.with_axis(0), self.graph)
        return apply(op, *wide, *args[n:]), [0] * n

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        scalars = [array_type((), t.dtype) for t in outs]
        region = ctx.region(
            [*scalars, *scalars], lambda c, names: c.inline(self.graph, names), scalars
        )
        ins, results = (", ".join(t.mlir for t in ts) for ts in (types, outs))
        return list(
            ctx.emit_many(
                f'"stablehlo.reduce_window"({", ".join(operands)}) '
                f"<{{{self.window.attributes()}}}> ({region}) : ({ins}) -> ({results})",
                len(outs),
            )
        )


def _patches(x: Any, fill: Any, window: Window) -> Any:
    """All windows of `x`: their places along the first axes, their elements along the last."""
    t = type_of(x)
    config = tuple(
        (low, high, b - 1)
        for (low, high), b in zip(window.padding, window.base_dilation, strict=True)
    )
    x = apply(Pad.of(config), x, fill) if t.ndim else x
    shape = window.out_shape(t.shape)
    parts = []
    for position in window.positions():
        starts = tuple(k * d for k, d in zip(position, window.window_dilation, strict=True))
        limits = tuple(
            a + (o - 1) * s + 1 if o else a
            for a, o, s in zip(starts, shape, window.strides, strict=True)
        )
        part = apply(Slice.of(starts, limits, window.strides), x)
        parts.append(reshape(part, (*shape, 1)))
    return apply(Concatenate.of(len(shape)), *parts)
