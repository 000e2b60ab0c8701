"""`LinearSolve`: the solution x of A x = b, differentiated through the equation, not the solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.graph import Graph
from ..core.op import Linear
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..structural.arith import neg, sub
from ..transforms.jvp import instantiate, jvp_graph
from ..transforms.vmap import place_batch, vmap_graph
from .call import HigherOrder, call_of, guarded


class LinearSolve(HigherOrder):
    """x = solve(consts, b), where matvec(consts, x) = b.

    Inputs are the consts of matvec, its transpose, solve and the transposed solve, then b. Results
    are x and auxiliary values of the solver, which have no derivative.

    Attributes:
        systems: matvec, its transpose, solve, the transposed solve; the second and the last are
            None if there is no transposed solver.
        counts: number of consts of each.
    """

    name = "linear_solve"
    systems: tuple[Graph | None, ...]
    counts: tuple[int, ...]

    def __init__(self, systems: tuple[Graph | None, ...], counts: tuple[int, ...]):
        super().__init__(systems, counts)
        matvec, _, solve, _ = systems
        assert matvec is not None
        assert solve is not None
        self.matvec, self.solve = matvec, solve
        self.effects, self.axis_names = solve.effects, solve.axis_names

    def parts(self, values: Sequence[Any]) -> list[list[Any]]:
        """Split inputs into the four groups of consts and b."""
        groups, start = [], 0
        for n in self.counts:
            groups.append(list(values[start : start + n]))
            start += n
        return [*groups, list(values[start:])]

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return self.solve.out_types

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        systems = tuple([None if g is None else guarded(g) for g in self.systems])
        counts = tuple([n + (g is not None) for g, n in zip(systems, self.counts, strict=True)])
        op = LinearSolve(systems, counts)
        *consts, b = self.parts(args)
        pairs = zip(systems, consts, strict=True)
        given = [group if g is None else [on, *group] for g, group in pairs]
        return apply(op, *(x for group in given for x in group), *b)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """A dx = db - dA x."""
        *_, b = self.parts(primals)
        d_matvec, *_, d_b = self.parts(tangents)
        n = len(b)
        outs = apply(self, *primals)
        active = tuple([d is not None for d in d_matvec])
        if any(active):
            graph, out_active = jvp_graph(self.matvec, (*active, *([False] * n)))
            given = [*primals[: self.counts[0]], *outs[:n], *(d for d in d_matvec if d is not None)]
            rest = iter(apply(call_of(graph), *given)[n:])
            moved = [next(rest) if a else None for a in out_active]
            d_b = [_difference(d, m) for d, m in zip(d_b, moved, strict=True)]
        if all(d is None for d in d_b):
            return outs, [None] * len(outs)
        consts = primals[: len(primals) - n]
        right = [instantiate(d, type_of(x)) for d, x in zip(d_b, b, strict=True)]
        found = apply(self, *consts, *right)
        return outs, [*found[:n], *([None] * (len(outs) - n))]

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        matvec, vecmat, solve, back, b = self.parts(inputs)
        product, transposed, solver, back_solver = self.systems
        if transposed is None or back_solver is None:
            raise errors.GradError(
                errors.explain(
                    "grad of custom_linear_solve",
                    "reverse mode needs a solver for the transposed system",
                    try_="transpose_solve=..., or symmetric=True",
                )
            )
        if any(type(x) is Linear for group in (matvec, vecmat, solve, back) for x in group):
            raise errors.GradError(
                errors.explain(
                    "transpose of custom_linear_solve", "the solution is linear in b only"
                )
            )
        a, v, s, t = self.counts
        op = LinearSolve((transposed, product, back_solver, solver), (v, a, t, s))
        cts = [instantiate(c, x.type) for c, x in zip(ct, b, strict=False)]
        found = apply(op, *vecmat, *matvec, *back, *solve, *cts)
        return [*([None] * (len(inputs) - len(b))), *found[: len(b)]]

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        *groups, b_dims = self.parts(dims)
        n = len(b_dims)
        systems = []
        for graph, group in zip(self.systems, groups, strict=True):
            wide = None
            if graph is not None:
                forced = (True,) * len(graph.outputs)
                wide, _ = vmap_graph(graph, size, (*group, *([0] * n)), forced, axis)
            systems.append(wide)
        first = len(args) - n
        moved = [place_batch(x, d, size, 0) for x, d in zip(args[first:], b_dims, strict=True)]
        found = apply(LinearSolve(tuple(systems), self.counts), *args[:first], *moved)
        return found, [0] * len(found)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        _, _, solve, _, b = self.parts(operands)
        return ctx.inline(self.solve, [*solve, *b])


def _difference(d: Any, moved: Any) -> Any:
    """d - moved, where None is zero."""
    if moved is None:
        return d
    return apply(neg, moved) if d is None else apply(sub, d, moved)
