"""Checks that a graph is well formed; run after every pass in tests."""

from __future__ import annotations

from .. import errors
from .graph import Equation, Graph, Literal, Var
from .printing import Names, equation_text, graph_text


def verify(graph: Graph) -> None:
    """Raise if a variable is used before it is defined or defined twice, or a type is wrong.

    Raises:
        GraphVerifyError: what is wrong, with the equation and the graph.
    """
    defined: set[Var] = set()
    for v in graph.inputs:
        _define(v, defined, graph, "input")
    for eq in graph.equations:
        for a in eq.inputs:
            if type(a) is not Literal and a not in defined:
                raise _wrong(graph, "undefined variable", eq)
        found = eq.op.out_type(*[a.type for a in eq.inputs])
        types = list(found) if eq.op.multi else [found]
        have = [v.type for v in eq.outputs]
        if [(t.shape, t.dtype) for t in types] != [(t.shape, t.dtype) for t in have]:
            raise _wrong(graph, f"types should be {types}", eq)
        for v in eq.outputs:
            _define(v, defined, graph, eq.op.name)
        for field in eq.op.fields:
            value = getattr(eq.op, field)
            for inner in value if isinstance(value, tuple) else (value,):
                if isinstance(inner, Graph):
                    verify(inner)
    for a in graph.outputs:
        if type(a) is not Literal and a not in defined:
            raise _wrong(graph, "an output is not defined")


def _define(v: Var, defined: set[Var], graph: Graph, where: str) -> None:
    if v in defined:
        raise _wrong(graph, f"a variable is defined twice ({where})")
    defined.add(v)


def _wrong(graph: Graph, what: str, eq: Equation | None = None) -> errors.GraphVerifyError:
    names = Names()
    text = graph_text(graph, names=names)  # names all variables, in the order that it prints
    place = "" if eq is None else f" in {equation_text(eq, names)}"
    return errors.GraphVerifyError(f"graph {graph.name}: {what}{place}\n{text}")
