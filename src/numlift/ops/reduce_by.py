"""Reduction of several arrays at once by any associative computation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.graph import Graph
from ..core.op import Op
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.families import batch_first
from ..structural.shape import broadcast, dropped, reshape
from ..transforms.jvp import jvp_flat
from ..transforms.vmap import vmap_graph
from .reductions import axes_to_one, check_axes, replicated
from .shape import Concatenate
from .slicing import Slice


class Reduce(Op):
    """n operands and n initial values -> n results, combined by `graph` (2n -> n scalars)."""

    multi = True
    graph: Graph
    axes: tuple[int, ...]

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        operands, starts = _halves(types)
        first = operands[0]
        check_axes(self.name, first, self.axes)
        for i, (t, s) in enumerate(zip(operands, starts, strict=True)):
            if t.shape != first.shape or s.ndim or s.dtype != t.dtype:
                raise errors.ShapeError(
                    errors.explain(
                        self.name,
                        f"operand {i} and its initial value do not fit: operands have equal "
                        "shapes, initial values are scalars of the operands' dtypes",
                        {"operands": list(operands), "init_values": list(starts)},
                    )
                )
        merged = rules.merge(self.name, operands) if any(t.sharding for t in operands) else None
        if merged is not None:
            entries = tuple(merged.spec.padded(first.ndim))
            merged = rules.named(merged.mesh, dropped(entries, self.axes))
        shape = dropped(first.shape, self.axes)
        return [array_type(shape, t.dtype, t.weak_type, merged) for t in operands]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        outs = apply(self, *primals)

        def by_tree(*args: Any) -> list[Any]:
            return reduce_by_tree(self.graph, *_halves(args), self.axes)

        return outs, jvp_flat(by_tree, primals, tangents)[1]

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        operands, starts = _halves(args)
        operand_dims, start_dims = _halves(dims)
        wide = [batch_first(x, d, size) for x, d in zip(operands, operand_dims, strict=True)]
        axes = tuple(a + 1 for a in self.axes)
        if any(d is not None for d in start_dims):
            outs = reduce_by_tree(self.graph, wide, starts, axes)
        else:
            outs = apply(Reduce.of(self.graph, axes), *wide, *starts)
        return outs, [0] * len(outs)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        n = len(outs)
        if ctx.platform == "cpu" and ctx.module.mesh is not None and not ctx.manual:
            # Collectives of XLA on CPU know sums and extremes, not computations of the user.
            pairs = list(zip(operands, types, strict=True))
            operands = [replicated(ctx, x, t) for x, t in pairs[:n]] + operands[n:]
        scalars = [array_type((), t.dtype) for t in types[n:]]
        region = ctx.region(
            [*scalars, *scalars], lambda c, names: c.inline(self.graph, names), scalars
        )
        ins = ", ".join(t.mlir for t in types)
        results = ", ".join(t.mlir for t in outs)
        return list(
            ctx.emit_many(
                f'"stablehlo.reduce"({", ".join(operands)}) <{{dimensions = array<i64'
                f"{': ' if self.axes else ''}{', '.join(map(str, self.axes))}>}}> ({region}) : "
                f"({ins}) -> ({results})",
                n,
            )
        )


def _halves(values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    n = len(values) // 2
    return list(values[:n]), list(values[n:])


def map_graph(graph: Graph, args: Sequence[Any]) -> list[Any]:
    """Apply a graph of scalars to arrays of one shape, element by element."""
    shape = type_of(args[0]).shape
    size = math.prod(shape)
    flat = [reshape(x, (size,)) for x in args]
    wide, _ = vmap_graph(graph, size, (0,) * len(flat), (True,) * len(graph.outputs))
    return [reshape(x, shape) for x in wide.run(current.get().apply, flat)]


def reduce_by_tree(
    graph: Graph, operands: Sequence[Any], starts: Sequence[Any], axes: tuple[int, ...]
) -> list[Any]:
    """The same reduction as log2(n) elementwise steps, which can be differentiated.

    `starts` are scalars, or batches of scalars along axis 0 of the operands.
    """
    values = [axes_to_one(x, axes) for x in operands]
    last = type_of(values[0]).ndim - 1
    shape = type_of(values[0]).shape[:last]
    n = type_of(values[0]).shape[last]
    heads = [broadcast(s, shape, range(type_of(s).ndim)) for s in starts]
    if n == 0:
        return heads
    while n > 1:
        half = n // 2
        merged = map_graph(
            graph,
            [_part(v, last, odd, 2 * half, 2) for odd in (0, 1) for v in values],
        )
        if n % 2:
            rest = [_part(v, last, n - 1, n, 1) for v in values]
            merged = [apply(Concatenate.of(last), m, r) for m, r in zip(merged, rest, strict=True)]
        values, n = merged, n - half
    return map_graph(graph, [*heads, *(reshape(v, shape) for v in values)])


def _part(x: Any, axis: int, start: int, stop: int, step: int) -> Any:
    shape = type_of(x).shape
    starts, stops, steps = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis], stops[axis], steps[axis] = start, stop, step
    return apply(Slice.of(tuple(starts), tuple(stops), tuple(steps)), x)
