"""Loops and branches whose functions use refs.

Their graphs take and give the values of refs as inputs and outputs after the others (see
`api.refs.RefUse`). Here they are put where loops and branches want them: refs that are written are
part of the carry, others are values that the function closes over; each branch takes the refs of
all branches as operands and gives the last values of all that any of them writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import errors
from ..api.refs import RefUse, put
from ..api.tracing import TracedFunction
from ..core.graph import Graph, Var
from ..core.refs import Ref, load
from ..core.tracing import apply
from ..ops.scan import Scan
from ..tree import tree_flatten, tree_unflatten


class OpenRefs:
    """The refs among the leaves of a tree, as their values.

    Attributes:
        refs: position -> ref.
        tree: the tree with values in place of refs.
    """

    __slots__ = ("refs", "tree")

    def __init__(self, tree: Any):
        leaves, structure = tree_flatten(tree)
        self.refs = {i: x for i, x in enumerate(leaves) if isinstance(x, Ref)}
        self.tree = tree
        if self.refs:
            values = [load(x) if isinstance(x, Ref) else x for x in leaves]
            self.tree = tree_unflatten(structure, values)


def loaded(refs: Sequence[Ref]) -> list[Any]:
    """Current values, for an operation."""
    return [load(ref) for ref in refs]


def _split(use: RefUse) -> tuple[list[int], list[int]]:
    """Indices of captured refs that are only read, and of those that are written."""
    return [i for i in range(len(use.captured)) if i not in use.written], use.written


# ---- scan --------------------------------------------------------------------------------------


def scan_with_refs(
    traced: TracedFunction, use: RefUse, n_carry: int
) -> tuple[Graph, list[Ref], list[Ref]]:
    """The body of a scan with refs, the refs that are only read, and those that are written."""
    fixed, carried = _split(use)
    graph, n, n_out = traced.graph, len(traced.captured), use.n_out

    def make() -> Graph:
        rest = graph.inputs[n:]
        views, rest = rest[: len(use.captured)], rest[len(use.captured) :]
        outs, last = graph.outputs[:n_out], graph.outputs[n_out:]
        n_w = len(carried)
        return Graph(
            [
                *graph.inputs[:n],
                *(views[i] for i in fixed),
                *rest[:n_carry],
                *(views[i] for i in carried),
                *rest[n_carry:],
            ],
            graph.equations,
            [*outs[:n_carry], *last[:n_w], *outs[n_carry:], *last[n_w:]],
            graph.name,
        )

    made = graph.cached(("scan with refs", n_carry), make)
    return made, [use.captured[i] for i in fixed], [use.captured[i] for i in carried]


def run_scan(
    traced: TracedFunction, carry: list[Any], xs: list[Any], opened: OpenRefs, how: tuple[Any, ...]
) -> Sequence[Any]:
    """Carry and ys of a scan; gives refs their last values."""
    graph, known, use = traced.graph, traced.captured, traced.refs
    n = len(carry)
    carried: list[Ref] = []
    if use is not None:
        x_refs = {n + i: ref for i, ref in opened.refs.items()}
        use.check("scan", [x_refs.get(i) for i in range(n + len(xs))])
        graph, fixed, carried = scan_with_refs(traced, use, n)
        known, carry = [*known, *loaded(fixed)], [*carry, *loaded(carried)]
    steps, reverse, per_round = how
    n_c, n_k = len(known), len(carry)
    key = ("scan op", steps, reverse, n_c, n_k, per_round)
    op = graph.cached(key, lambda: Scan(graph, steps, reverse, n_c, n_k, per_round))
    outs = apply(op, *known, *carry, *xs)
    if use is None:
        return outs
    end = n_k + use.n_out - n
    put([*carried, *(x_refs[i] for i in use.places_written)], [*outs[n:n_k], *outs[end:]])
    return [*outs[:n], *outs[n_k:end]]


# ---- while_loop --------------------------------------------------------------------------------


class LoopWithRefs(NamedTuple):
    """Condition and body of a while_loop with refs."""

    test: Graph
    body: Graph
    test_refs: list[Ref]
    body_refs: list[Ref]
    carried: list[Ref]


def while_with_refs(test: TracedFunction, body: TracedFunction) -> LoopWithRefs:
    """Condition and body of a while_loop with refs.

    Raises:
        RefError: the condition writes a ref.
    """
    test_use = test.refs or RefUse([], (), 1)
    body_use = body.refs or RefUse([], (), len(body.out_types))
    if test_use.written:
        raise errors.RefError(
            errors.explain(
                "while_loop",
                "cond_fun writes a ref, but it may only read them",
                {"ref": test_use.captured[test_use.written[0]].type},
                try_="write it in body_fun",
            )
        )
    carried = [body_use.captured[i] for i in body_use.written]
    fixed, _ = _split(body_use)
    where = {id(ref): i for i, ref in enumerate(carried)}
    places = tuple([where.get(id(ref)) for ref in test_use.captured])

    def make() -> tuple[Graph, Graph]:
        n, m = len(body.captured), len(body_use.captured)
        ins = body.graph.inputs
        views = ins[n : n + m]
        made_body = Graph(
            [
                *ins[:n],
                *(views[i] for i in fixed),
                *ins[n + m :],
                *(views[i] for i in body_use.written),
            ],
            body.graph.equations,
            body.graph.outputs,
            body.graph.name,
        )
        n, m = len(test.captured), len(test_use.captured)
        ins = test.graph.inputs
        views = ins[n : n + m]
        found = {p: v for p, v in zip(places, views, strict=True) if p is not None}
        made_test = Graph(
            [
                *ins[:n],
                *(v for p, v in zip(places, views, strict=True) if p is None),
                *ins[n + m :],
                *(found.get(i) or Var(ref.type) for i, ref in enumerate(carried)),
            ],
            test.graph.equations,
            test.graph.outputs,
            test.graph.name,
        )
        return made_test, made_body

    key = ("while with refs", test.graph, places)
    made_test, made_body = body.graph.cached(key, make)
    return LoopWithRefs(
        made_test,
        made_body,
        [r for r, p in zip(test_use.captured, places, strict=True) if p is None],
        [body_use.captured[i] for i in fixed],
        carried,
    )


# ---- branches ----------------------------------------------------------------------------------


def branches_with_refs(
    traces: Sequence[TracedFunction],
) -> tuple[list[TracedFunction], list[Ref], list[Ref]]:
    """The branches, the refs that they take as first operands, and those of them that are written.

    The last values of the written ones are the last results of each branch.
    """
    uses = [t.refs for t in traces]
    refs: list[Ref] = []
    for use in uses:
        if use is not None:
            refs += [x for x in use.captured if not any(x is y for y in refs)]
    if not refs:
        return list(traces), [], []
    where = {id(ref): i for i, ref in enumerate(refs)}
    mine = [() if u is None else tuple([where[id(x)] for x in u.captured]) for u in uses]
    written = sorted({m[i] for m, u in zip(mine, uses, strict=True) if u for i in u.written})

    def make() -> list[Graph]:
        return [_branch(t, m, refs, written) for t, m in zip(traces, mine, strict=True)]

    key = ("branches with refs", tuple([t.graph for t in traces]), tuple(mine))
    graphs = traces[0].graph.cached(key, make)
    found = [TracedFunction(g, t.captured, t.out_tree) for g, t in zip(graphs, traces, strict=True)]
    return found, refs, [refs[i] for i in written]


def _branch(
    traced: TracedFunction, mine: tuple[int, ...], refs: Sequence[Ref], written: Sequence[int]
) -> Graph:
    graph, use, n = traced.graph, traced.refs, len(traced.captured)
    views = dict(zip(mine, graph.inputs[n : n + len(mine)], strict=True))
    inputs = [views.get(i) or Var(ref.type) for i, ref in enumerate(refs)]
    n_out = len(traced.out_types)
    last = {}
    if use is not None:
        last = {mine[i]: x for i, x in zip(use.written, graph.outputs[n_out:], strict=True)}
    return Graph(
        [*graph.inputs[:n], *inputs, *graph.inputs[n + len(mine) :]],
        graph.equations,
        [*graph.outputs[:n_out], *(last.get(i) or inputs[i] for i in written)],
        graph.name,
    )
