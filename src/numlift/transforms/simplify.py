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
    """Equations whose results are needed, or that have effects."""
    used: set[Any] = {a for a in outputs if type(a) is Var}
    kept = []
    for eq in reversed(equations):
        if eq.op.effects or any(v in used for v in eq.outputs):
            kept.append(eq)
            used.update(a for a in eq.inputs if type(a) is Var)
    kept.reverse()
    return kept


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
            key = (eq.op, *[_atom_key(a) for a in inputs])
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


def _atom_key(atom: Atom) -> Any:
    if type(atom) is Literal:
        # repr tells 0.0 from -0.0 and makes NaN equal to itself
        return (repr(atom.value), atom.type)
    return atom
