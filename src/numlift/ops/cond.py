"""`Cond`: one of several branches, chosen by an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.graph import Graph
from ..core.op import Linear
from ..core.refs import Ref, load, store
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType
from ..structural.arith import select
from ..structural.families import batch_first
from ..structural.shape import broadcast, full
from ..transforms.jvp import instantiate, jvp_graph
from ..transforms.linearize import LinearizedGraph, linearize_graph
from ..transforms.simplify import pruned_graph
from ..transforms.transpose import Transposed, transpose_with_refs
from ..transforms.vmap import vmap_graph
from .call import HigherOrder, Pruned, call_of, guarded, open_ended
from .callback import IO, ORDERED, TOKEN
from .compare import eq
from .elementwise_misc import stop_gradient


class Cond(HigherOrder):
    """branches[index](*operands); the index is an int32 scalar inside the range.

    All branches take the same operands and give results of the same types.
    """

    name = "cond"
    branches: tuple[Graph, ...]

    def __init__(self, branches: tuple[Graph, ...]):
        super().__init__(branches)
        self.effects = frozenset().union(*(b.effects for b in branches))
        self.axis_names = tuple({n: 0 for b in branches for n in b.axis_names})

    def around(self, branches: tuple[Graph, ...]) -> Cond:
        """The same kind of choice between other branches."""
        return cond_of(branches)

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        index, *operands = args
        branches = tuple([guarded(b) for b in self.branches])
        return apply(self.around(branches), index, on, *operands)

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return [
            t if all(u is t for u in same) else t.update(weak_type=False)
            for t, *same in zip(
                self.branches[0].out_types, *(b.out_types for b in self.branches), strict=True
            )
        ]

    def prune(self, used: tuple[bool, ...]) -> Pruned | None:
        """Branches without results that nobody uses and operands that no branch needs."""
        found = [pruned_graph(b, used) for b in self.branches]
        ins = sorted({i for _, mine in found for i in mine})
        if len(ins) == len(self.branches[0].inputs) and all(used):
            return None
        branches = []
        for branch, (graph, _) in zip(self.branches, found, strict=True):
            inputs = [branch.inputs[i] for i in ins]
            branches.append(Graph(inputs, graph.equations, graph.outputs, graph.name))
        kept = [i for i, u in enumerate(used) if u]
        return self.around(tuple(branches)), [0, *(i + 1 for i in ins)], kept

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        index, *operands = primals
        active = tuple(d is not None for d in tangents[1:])
        wanted = _union(jvp_graph(b, active)[1] for b in self.branches)
        branches = tuple(jvp_graph(b, active, wanted)[0] for b in self.branches)
        found = apply(
            self.around(branches), index, *operands, *(d for d in tangents if d is not None)
        )
        n = len(wanted)
        rest = iter(found[n:])
        return found[:n], [next(rest) if a else None for a in wanted]

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Each branch returns its residuals in slots that branches share by type."""
        index, *operands = primals
        active = tuple(d is not None for d in tangents[1:])
        wanted = _union(linearize_graph(b, active).out_active for b in self.branches)
        parts = [linearize_graph(b, active, wanted) for b in self.branches]
        primal, tangent = self.branches[0].cached(
            ("linearized cond", active, self), lambda: self._split(parts, len(wanted))
        )
        outs = apply(primal, index, *operands)
        n = len(wanted)
        d_found = apply(
            tangent,
            index,
            *operands,
            *outs[n:],
            *(d for d in tangents if d is not None),
        )
        rest = iter(d_found)
        return outs[:n], [next(rest) if a else None for a in wanted]

    def _split(self, parts: Sequence[LinearizedGraph], n_out: int) -> tuple[Cond, Cond]:
        """The primal operation, and the tangent one: of the operands, the slots, the tangents."""
        slots, places = shared_slots(parts, n_out)
        pairs = list(zip(parts, places, strict=True))
        primal = tuple([_primal_branch(p, n_out, slots, at) for p, at in pairs])
        tangent = tuple([_tangent_branch(p, slots, at) for p, at in pairs])
        return self.around(primal), self.around(tangent)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        index, *operands = inputs
        linear = tuple(type(x) is Linear for x in operands)
        ct_active = tuple(c is not None for c in ct)
        key = ("transposed cond", linear, ct_active, self)
        back, found_active, refs, written = self.branches[0].cached(
            key, lambda: self._transposed(linear, ct_active)
        )
        known = [x for x in operands if type(x) is not Linear]
        if refs:
            known = [*map(load, refs), *known]
        found = iter(apply(back, index, *known, *(c for c in ct if c is not None)))
        is_active = iter(found_active)
        cts = [next(found) if a and next(is_active) else None for a in linear]
        for ref in written:
            store(ref, next(found))
        return [None, *cts]

    def _transposed(
        self, linear: tuple[bool, ...], ct_active: tuple[bool, ...]
    ) -> tuple[Cond, tuple[bool, ...], list[Ref], list[Ref]]:
        """The branches transposed, which results they have, and refs of backward rules.

        Each branch takes the values of all refs first, and gives the last values of all refs that
        any of them writes last.
        """
        found = [transpose_with_refs(b, linear, ct_active) for b in self.branches]
        wanted = _union(made.active for made in found)
        refs = list({ref: 0 for made in found for ref in made.refs})
        written = list({ref: 0 for made in found for ref in made.written})
        types = [t for t, a in zip(self.branches[0].in_types, linear, strict=True) if a]
        branches = []
        for made in found:

            def run(*args: Any, made: Transposed = made) -> list[Any]:
                values = dict(zip(refs, args, strict=False))
                given = [*(values[ref] for ref in made.refs), *args[len(refs) :]]
                have = iter(made.graph.run(current.get().apply, given))
                cts = [next(have) if a else None for a in made.active]
                values.update(zip(made.written, have, strict=True))
                found = zip(cts, types, wanted, strict=True)
                return [
                    *(instantiate(c, t) for c, t, w in found if w),
                    *(values[ref] for ref in written),
                ]

            ins = [*(ref.type for ref in refs), *made.graph.in_types[len(made.refs) :]]
            branches.append(trace_to_graph(run, ins, name=made.graph.name)[0])
        return self.around(tuple(branches)), wanted, refs, written

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        index, *operands = args
        index_dim, *in_dims = dims
        first = [vmap_graph(b, size, tuple(in_dims), None, axis)[1] for b in self.branches]
        if index_dim is not None:
            return self._all_branches(size, index, operands, in_dims, axis)
        forced = tuple(any(d[i] is not None for d in first) for i in range(len(first[0])))
        branches = tuple(
            vmap_graph(b, size, tuple(in_dims), forced, axis)[0] for b in self.branches
        )
        return apply(self.around(branches), index, *operands), [0 if f else None for f in forced]

    def _all_branches(
        self, size: int, index: Any, operands: list[Any], in_dims: Any, axis: Any
    ) -> tuple[Any, Any]:
        """The lanes choose differently: run all branches, then select.

        Loops in a branch take steps for the lanes that chose it only.
        """
        if IO in self.effects:
            raise errors.VmapError(
                errors.explain(
                    "vmap of cond",
                    "examples choose different branches, so all branches run, and with them an "
                    "io_callback that not every example should call",
                    try_="lax.map instead of vmap, or debug.callback",
                )
            )
        forced = (True,) * len(self.branches[0].outputs)
        index = batch_first(index, 0, size)
        results = []
        for i, branch in enumerate(self.branches):
            here = apply(eq, index, np.int32(i))
            given, dims = _sealed(size, here, operands, in_dims)
            if open_ended(branch):
                branch = guarded(branch)
                given, dims = [here, *given], [0, *dims]
            graph, _ = vmap_graph(branch, size, tuple(dims), forced, axis)
            results.append(apply(call_of(graph), *given))
        outs = []
        for cases in zip(*results, strict=True):
            which = broadcast(index, type_of(cases[0]).shape, (0,))
            outs.append(apply(select, which, *cases))
        return outs, [0] * len(outs)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        index, *args = operands
        result_types: list[Any] = [t.physical for t in self.out_type()]

        ordered = ORDERED in self.effects
        token = ctx.take_token() if ordered else None
        if ordered:
            result_types = [*result_types, TOKEN]

        def branch(b: Any, graph: Graph) -> list[str]:
            b.token = token
            found = b.inline(graph, args)
            return [*found, b.token] if ordered else found

        regions = ", ".join(
            ctx.region([], lambda b, _, g=g: branch(b, g), result_types) for g in self.branches
        )
        texts = ", ".join(t.mlir for t in result_types)
        found = ctx.emit_many(
            f'"stablehlo.case"({index}) ({regions}) : (tensor<i32>) -> ({texts})',
            len(result_types),
        )
        if ordered:
            ctx.token = found[-1]
            return found[:-1]
        return found


def _sealed(
    size: int, here: Any, operands: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], list[int | None]]:
    """The operands, through which no derivative flows to lanes that did not choose the branch.

    Otherwise 0 * inf in such a lane would make its gradient NaN. Arrays that all lanes share stay
    shared, so that products with them stay products of matrices.
    """
    given, given_dims = [], []
    for x, dim in zip(operands, dims, strict=True):
        t = type_of(x)
        if t.inexact and (dim is not None or not t.ndim):
            x, dim = batch_first(x, dim, size), 0
            which = broadcast(here, type_of(x).shape, (0,))
            x = apply(select, which, apply(stop_gradient, x), x)
        given.append(x)
        given_dims.append(dim)
    return given, given_dims


def cond_of(branches: tuple[Graph, ...]) -> Cond:
    """The one `Cond` of these branches (kept with the first)."""
    return branches[0].cached(("cond", branches), lambda: Cond(branches))


def _union(flags: Any) -> tuple[bool, ...]:
    return tuple(any(column) for column in zip(*flags, strict=True))


def shared_slots(
    parts: Sequence[LinearizedGraph], n_out: int
) -> tuple[list[ArrayType], list[list[int]]]:
    """Types of residual slots that branches share, and the slots that each branch fills."""
    slots: list[ArrayType] = []
    places: list[list[int]] = []
    for part in parts:
        free = list(range(len(slots)))
        mine = []
        for t in part.primal.out_types[n_out:]:
            at = next(
                (i for i in free if slots[i].shape == t.shape and slots[i].dtype == t.dtype), None
            )
            if at is None:
                at = len(slots)
                slots.append(t.update(weak_type=False))
            else:
                free.remove(at)
            mine.append(at)
        places.append(mine)
    return slots, places


def _primal_branch(
    part: LinearizedGraph, n_out: int, slots: list[ArrayType], at: list[int]
) -> Graph:
    def run(*operands: Any) -> list[Any]:
        found = part.primal.run(current.get().apply, operands)
        filled = dict(zip(at, found[n_out:], strict=True))
        return [
            *found[:n_out],
            *(filled[i] if i in filled else full(t) for i, t in enumerate(slots)),
        ]

    return trace_to_graph(run, part.primal.in_types, name=part.primal.name)[0]


def _tangent_branch(part: LinearizedGraph, slots: list[ArrayType], at: list[int]) -> Graph:
    n, m = len(part.primal.inputs), len(slots)

    def run(*args: Any) -> list[Any]:
        operands, kept, tangents = args[:n], args[n : n + m], args[n + m :]
        residuals = part.residuals(operands, [kept[i] for i in at])
        return part.tangent.run(current.get().apply, [*residuals, *tangents])

    d_types = part.tangent.in_types[len(part.residual_inputs) :]
    types = [*part.primal.in_types, *slots, *d_types]
    return trace_to_graph(run, types, name=part.primal.name)[0]
