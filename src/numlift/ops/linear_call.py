"""`LinearCall`: a linear function that carries its own transpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.graph import Graph
from ..core.op import Linear
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..structural.arith import add
from ..transforms.jvp import instantiate, jvp_graph
from ..transforms.vmap import place_batch, vmap_graph
from .call import HigherOrder, call_of, guarded


class LinearCall(HigherOrder):
    """graph(forward consts, residuals, x), linear in x; its transpose is the graph `back`.

    Inputs are the consts of `graph`, the consts of `back`, the residuals, and x. `back` takes its
    consts, the residuals and the cotangents of the results, and returns those of x.
    """

    name = "linear_call"
    graph: Graph
    back: Graph
    n_graph: int
    n_back: int
    n_residuals: int

    def __init__(self, graph: Graph, back: Graph, n_graph: int, n_back: int, n_residuals: int):
        super().__init__(graph, back, n_graph, n_back, n_residuals)
        self.effects, self.axis_names = graph.effects, graph.axis_names

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """Split inputs into consts of the graph, consts of its transpose, residuals and x."""
        a, b = self.n_graph, self.n_graph + self.n_back
        c = b + self.n_residuals
        return list(values[:a]), list(values[a:b]), list(values[b:c]), list(values[c:])

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return self.graph.out_types

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        op = LinearCall(
            guarded(self.graph),
            guarded(self.back),
            self.n_graph + 1,
            self.n_back + 1,
            self.n_residuals,
        )
        consts, back_consts, residuals, xs = self.parts(args)
        return apply(op, on, *consts, on, *back_consts, *residuals, *xs)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        outs = apply(self, *primals)
        d_consts, _, d_residuals, d_xs = self.parts(tangents)
        consts, back_consts, residuals, xs = self.parts(primals)
        d_outs: list[Any] = [None] * len(outs)
        if any(d is not None for d in d_xs):
            given = [instantiate(d, type_of(x)) for d, x in zip(d_xs, xs, strict=True)]
            d_outs = list(apply(self, *consts, *back_consts, *residuals, *given))
        rest = [*d_consts, *d_residuals]
        if any(d is not None for d in rest):
            active = (*(d is not None for d in rest), *([False] * len(xs)))
            graph, out_active = jvp_graph(self.graph, active)
            found = apply(
                call_of(graph), *consts, *residuals, *xs, *(d for d in rest if d is not None)
            )
            more = iter(found[len(outs) :])
            terms = [next(more) if a else None for a in out_active]
            d_outs = [
                a if b is None else b if a is None else apply(add, a, b)
                for a, b in zip(d_outs, terms, strict=True)
            ]
        return outs, d_outs

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        consts, back_consts, residuals, xs = self.parts(inputs)
        if any(type(x) is Linear for x in (*consts, *back_consts, *residuals)):
            raise errors.GradError(
                errors.explain(
                    "transpose of linear_call",
                    "the function is linear in its linear arguments only, not in its residuals",
                )
            )
        op = LinearCall(self.back, self.graph, self.n_back, self.n_graph, self.n_residuals)
        cts = [instantiate(c, t) for c, t in zip(ct, self.graph.out_types, strict=True)]
        found = apply(op, *back_consts, *consts, *residuals, *cts)
        return [
            *([None] * (len(inputs) - len(xs))),
            *(c if type(x) is Linear else None for c, x in zip(found, xs, strict=True)),
        ]

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        consts, back_consts, residuals, xs = self.parts(dims)
        wide = (0,) * len(xs)
        graph, _ = vmap_graph(
            self.graph,
            size,
            (*consts, *residuals, *wide),
            (True,) * len(self.graph.outputs),
            axis,
        )
        back, _ = vmap_graph(
            self.back,
            size,
            (*back_consts, *residuals, *([0] * len(self.graph.outputs))),
            (True,) * len(xs),
            axis,
        )
        op = LinearCall(graph, back, self.n_graph, self.n_back, self.n_residuals)
        first = len(args) - len(xs)
        moved = [place_batch(x, d, size, 0) for x, d in zip(args[first:], xs, strict=True)]
        found = apply(op, *args[:first], *moved)
        return found, [0] * len(found)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        consts, _, residuals, xs = self.parts(operands)
        return ctx.inline(self.graph, [*consts, *residuals, *xs])
