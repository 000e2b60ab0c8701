"""What a backward step needs not compute, for the forward step has: results of F in B.

The backward pass of a loop comes to the state s[i] from s[i+1], so s[i+1] = F(consts, s[i]) is
there already. Derivatives often need just that: of s' = tanh(W s) they need 1 - s'**2, and so no
product with W.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.graph import Atom, Equation, Graph, Var
from ..transforms.simplify import atom_key, drop_unused, pruned_graph


class NextState(NamedTuple):
    """B with the states after the step as further inputs, and how to compute these.

    Attributes:
        backward: (consts, state, a, next states) -> a.
        used: positions of the states that it takes from the next state.
        forward: (some of consts and state) -> these states.
        inputs: which of consts and state `forward` takes.
    """

    backward: Graph
    used: tuple[int, ...]
    forward: Graph
    inputs: list[int]

    @classmethod
    def of(cls, forward: Graph, backward: Graph) -> NextState:
        """B of a sweep with what it shares with F taken from the next state; kept with B."""
        return backward.cached(("next state", forward), lambda: cls._between(forward, backward))

    @classmethod
    def _between(cls, forward: Graph, backward: Graph) -> NextState:
        same = _equal_values(forward, backward)
        wanted: dict[Any, int] = {}
        for i, v in enumerate(forward.outputs):
            if type(v) is Var and v not in forward.inputs:
                wanted.setdefault(same.get(v, v), i)
        made = [v for eq in backward.equations for v in eq.outputs]
        known = {v: wanted[same[v]] for v in made if same.get(v) in wanted}
        new = {i: Var(v.type) for v, i in known.items()}
        equations, outputs = _with_known(backward, {v: new[i] for v, i in known.items()})
        taken = {a for eq in equations for a in eq.inputs} | {*outputs}
        used = tuple([i for i in sorted(new) if new[i] in taken])
        inputs = [*backward.inputs, *(new[i] for i in used)]
        flags = tuple([i in used for i in range(len(forward.outputs))])
        graph = Graph(inputs, equations, outputs, backward.name)
        return cls(graph, used, *pruned_graph(forward, flags))


def _equal_values(forward: Graph, backward: Graph) -> dict[Any, Any]:
    """Variables of F and B, each with the first variable of F that has the same value."""
    same: dict[Any, Any] = dict(zip(backward.inputs, forward.inputs, strict=False))
    seen: dict[tuple[Any, ...], Sequence[Var]] = {}
    for graph in (forward, backward):
        for eq in graph.equations:
            if eq.op.effects:
                continue
            key = (eq.op, *[atom_key(same.get(a, a)) for a in eq.inputs])
            first = seen.setdefault(key, eq.outputs) if graph is forward else seen.get(key)
            if first is not None:
                same.update(zip(eq.outputs, first, strict=True))
    return same


def _with_known(graph: Graph, by: dict[Var, Var]) -> tuple[list[Equation], list[Atom]]:
    """Equations and outputs of a graph with some of its variables given."""

    def atom(a: Atom) -> Atom:
        return by.get(a, a) if type(a) is Var else a

    outputs = [atom(a) for a in graph.outputs]
    equations = [
        Equation(eq.op, [atom(a) for a in eq.inputs], eq.outputs, eq.source, eq.scope)
        for eq in graph.equations
    ]
    return drop_unused(equations, outputs), outputs
