"""Clean a graph before lowering: drop unused equations, merge equal ones."""

from __future__ import annotations

from typing import Any

from ..core.graph import Atom, Equation, Graph, Literal, Var


def simplify(graph: Graph, cse: bool = True) -> Graph:
    """The same function with fewer equations (kept with the graph)."""
    return graph.cached(("simplify", cse), lambda: _simplify(graph, cse))


def _simplify(graph: Graph, cse: bool) -> Graph:
    equations, outputs = list(graph.equations), list(graph.outputs)
    if cse:
        equations, outputs = merge_equal(equations, outputs)
    equations = drop_unused(equations, outputs)
    return mark_clean(Graph(graph.inputs, equations, outputs, graph.name))


def mark_clean(graph: Graph) -> Graph:
    """Note that `simplify` has nothing to do for this graph."""
    graph.cache[("simplify", True)] = graph.cache[("simplify", False)] = graph
    return graph


def drop_unused(equations: list[Equation], outputs: list[Atom]) -> list[Equation]:
    """Equations whose results are needed, or that have effects.

    Operations with graphs leave out what nobody needs of their results, inside too (`Op.prune`).
    """
    used: set[Any] = {a for a in outputs if type(a) is Var}
    kept = []
    for eq in reversed(equations):
        if eq.op.effects or any(v in used for v in eq.outputs):
            if eq.op.prune is not None:
                eq = _prune(eq, used)
            kept.append(eq)
            used.update(a for a in eq.inputs if type(a) is Var)
    kept.reverse()
    return kept


def _prune(eq: Equation, used: set[Any]) -> Equation:
    wanted = tuple([v in used for v in eq.outputs])
    found = eq.op.prune(wanted)
    if found is None:
        return eq
    op, ins, outs = found
    return Equation(
        op, [eq.inputs[i] for i in ins], [eq.outputs[i] for i in outs], eq.source, eq.scope
    )


def pruned_graph(graph: Graph, wanted: tuple[bool, ...]) -> tuple[Graph, list[int]]:
    """The graph with the wanted outputs only, and which of its inputs it still needs.

    Returns:
        The graph, which takes the needed inputs only, and their positions.
    """

    def make() -> tuple[Graph, list[int]]:
        outputs = [a for a, w in zip(graph.outputs, wanted, strict=True) if w]
        equations = drop_unused(list(graph.equations), outputs)
        used = {a for eq in equations for a in eq.inputs} | set(outputs)
        ins = [i for i, v in enumerate(graph.inputs) if v in used]
        return Graph([graph.inputs[i] for i in ins], equations, outputs, graph.name), ins

    return graph.cached(("pruned", wanted), make)


def merge_equal(
    equations: list[Equation], outputs: list[Atom]
) -> tuple[list[Equation], list[Atom]]:
    """Compute equal applications of one operation once."""
    seen: dict[tuple, Equation] = {}
    same: dict[Any, Any] = {}
    kept = []
    for eq in equations:
        inputs = [same.get(a, a) for a in eq.inputs]
        if not eq.op.effects:
            key = (eq.op, *[atom_key(a) for a in inputs])
            first = seen.get(key)
            if first is not None:
                same.update(zip(eq.outputs, first.outputs, strict=True))
                continue
            if any(a is not b for a, b in zip(inputs, eq.inputs, strict=True)):
                eq = Equation(eq.op, inputs, eq.outputs, eq.source, eq.scope)
            seen[key] = eq
        elif any(a is not b for a, b in zip(inputs, eq.inputs, strict=True)):
            eq = Equation(eq.op, inputs, eq.outputs, eq.source, eq.scope)
        kept.append(eq)
    return kept, [same.get(a, a) for a in outputs]


def atom_key(atom: Atom) -> Any:
    """What tells an atom from others: equal literals have equal keys."""
    if type(atom) is Literal:
        # repr tells 0.0 from -0.0 and makes NaN equal to itself
        return (repr(atom.value), atom.type)
    return atom
