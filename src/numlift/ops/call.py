"""Operations that hold graphs, and the simplest of them: calling a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.graph import Graph
from ..core.op import Linear, Op
from ..core.refs import load, store
from ..core.staging import trace_to_graph
from ..core.tracing import apply
from ..core.types import ArrayType, array_type
from ..transforms.jvp import jvp_graph
from ..transforms.linearize import linearize_graph
from ..transforms.simplify import pruned_graph
from ..transforms.transpose import transpose_with_refs
from ..transforms.vmap import Batch, vmap_graph
from .callback import ORDERED

Pruned = tuple[Op, list[int], list[int]]
"""What `Op.prune` returns: the operation, its inputs and its results, by position."""
FLAG = array_type((), np.dtype(np.bool_))


def open_ended(graph: Graph) -> bool:
    """Whether a graph holds a loop whose number of steps depends on values."""
    return graph.cached("open ended", lambda: any(eq.op.open_ended for eq in graph.equations))


def guarded(graph: Graph) -> Graph:
    """The graph with a bool scalar in front of its inputs: where it is False no loop runs.

    Under `vmap` branches run for examples that did not choose them, and bodies of loops for
    examples that are done. A loop inside might never end for them, so it takes no step there.
    Results are meaningless where the bool is False.
    """

    def make() -> Graph:
        def run(on: Any, *args: Any) -> list[Any]:
            return graph.run(
                lambda op, xs: op.guard(on, xs) if op.open_ended else apply(op, *xs), args
            )

        return trace_to_graph(run, [FLAG, *graph.in_types], name=graph.name)[0]

    return graph.cached("guarded", make)


class HigherOrder(Op):
    """Operation with graphs as parameters; it returns a list and works on keys as it is."""

    multi = True
    memoise_type = False

    def graphs(self) -> list[Graph]:
        """The graphs among the parameters."""
        found: list[Graph] = []
        for field in self.fields:
            value = getattr(self, field)
            for x in value if isinstance(value, tuple) else (value,):
                if isinstance(x, Graph):
                    found.append(x)
        return found

    def with_graphs(self, graphs: Sequence[Graph]) -> HigherOrder:
        """The same operation around other graphs, given in the order of `graphs()`."""
        rest = iter(graphs)

        def changed(value: Any) -> Any:
            if isinstance(value, Graph):
                return next(rest)
            if isinstance(value, tuple) and any(isinstance(x, Graph) for x in value):
                return tuple([changed(x) for x in value])
            return value

        return type(self)(*(changed(getattr(self, f)) for f in self.fields))

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        """Whether one of the graphs holds a loop whose number of steps depends on values."""
        return any(open_ended(g) for g in self.graphs())

    def physical(self, *types: ArrayType) -> Op:
        return self

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        """Like `vmap`, for graphs that communicate over the batch's named axis."""
        return self.batch(batch.size, args, dims, (batch.axis_name, batch.spmd_axis_name))

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return self.batch(size, args, dims, None)

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        """Apply to batches; `axis` is (axis name, spmd axis name) if the graph needs it."""
        raise NotImplementedError


class Call(HigherOrder):
    """Apply a graph to the inputs (a nested `jit`); becomes a private function of the module."""

    name = "call"
    graph: Graph
    inline: bool = False

    def __init__(self, graph: Graph, inline: bool = False):
        super().__init__(graph, inline)
        self.effects, self.axis_names = graph.effects, graph.axis_names

    @property
    def label(self) -> str:
        return f"jit({self.graph.name})"

    def around(self, graph: Graph) -> Call:
        """The same kind of call of another graph."""
        return call_of(graph, self.inline)

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        return apply(self.around(guarded(self.graph)), on, *args)

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return self.graph.out_types

    def prune(self, used: tuple[bool, ...]) -> Pruned | None:
        """A call of a smaller graph."""
        graph, ins = pruned_graph(self.graph, used)
        if len(ins) == len(self.graph.inputs) and all(used):
            return None
        return self.around(graph), ins, [i for i, u in enumerate(used) if u]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        active = tuple(d is not None for d in tangents)
        graph, out_active = jvp_graph(self.graph, active)
        found = apply(self.around(graph), *primals, *(d for d in tangents if d is not None))
        n = len(self.graph.outputs)
        rest = iter(found[n:])
        return found[:n], [next(rest) if a else None for a in out_active]

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Outputs now, tangents by a linear call on residuals."""
        active = tuple(d is not None for d in tangents)
        parts = linearize_graph(self.graph, active)
        n = len(self.graph.outputs)
        outs = apply(call_of(parts.primal, self.inline), *primals)
        residuals = parts.residuals(primals, outs[n:])
        found = apply(
            call_of(parts.tangent, self.inline),
            *residuals,
            *(d for d in tangents if d is not None),
        )
        return outs[:n], parts.spread_tangents(found)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return transposed_call(self.graph, ct, inputs, self.inline)

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        graph, out_dims = vmap_graph(self.graph, size, tuple(dims), None, axis)
        return apply(self.around(graph), *args), out_dims

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        # Tokens of ordered effects do not cross the border of a function.
        if self.inline or len(self.graph.equations) <= 2 or ORDERED in self.effects:
            return ctx.inline(self.graph, operands)
        return ctx.call(self.graph, operands)


def transposed_call(
    graph: Graph, ct: Any, inputs: Sequence[Any], inline: bool = False, barrier: Op | None = None
) -> list[Any]:
    """Cotangents of the inputs of a graph, by a call of the transposed graph.

    Args:
        graph: linear in those inputs that are `Linear`.
        ct: one cotangent an output; None is zero.
        inputs: values, or `Linear`.
        inline: see `Call`.
        barrier: applied to known values and cotangents first.
    """
    linear = tuple(type(x) is Linear for x in inputs)
    made = transpose_with_refs(graph, linear, tuple(c is not None for c in ct))
    args = [x for x in inputs if type(x) is not Linear]
    known = len(args)
    args += [c for c in ct if c is not None]
    if barrier is not None and known:
        args = apply(barrier, *args)
    if made.refs:
        args = [*map(load, made.refs), *args]
    found = iter(apply(call_of(made.graph, inline), *args))
    is_active = iter(made.active)
    cts = [next(found) if is_l and next(is_active) else None for is_l in linear]
    for ref in made.written if made.refs else ():
        store(ref, next(found))
    return cts


def call_of(graph: Graph, inline: bool = False) -> Call:
    """The one `Call` of a graph, kept with it so that compiled programs are found again."""
    return graph.cached(("call", inline), lambda: Call(graph, inline))
