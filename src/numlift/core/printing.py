"""Readable text of graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .graph import Atom, Equation, Graph, Var


class Names:
    """Hands out a, b, ..., z, aa, ab, ... to variables in order of appearance."""

    def __init__(self) -> None:
        self.known: dict[Var, str] = {}

    def __getitem__(self, var: Var) -> str:
        name = self.known.get(var)
        if name is None:
            n, name = len(self.known), ""
            while True:
                n, letter = divmod(n, 26)
                name = "abcdefghijklmnopqrstuvwxyz"[letter] + name
                if n == 0:
                    break
                n -= 1
            self.known[var] = name
        return name


def atom_text(atom: Atom, names: Names) -> str:
    """A variable's name, or the value of a literal with its type."""
    if hasattr(atom, "value"):
        return f"{atom.value}:{atom.type!r}"
    return names[atom]


def graph_text(graph: Graph, indent: str = "", names: Names | None = None) -> str:
    """The graph as text with types.

    Example: ``{ lambda a:float32[3]. let b:float32[3] = mul a a in (b) }``, an equation a line.
    """
    names = names or Names()
    inputs = " ".join(f"{names[v]}:{v.type!r}" for v in graph.inputs)
    lines = [f"{{ lambda {inputs}. let"]
    for eq in graph.equations:
        lines.append(f"{indent}    {equation_text(eq, names, indent + '    ')}")
    outs = ", ".join(atom_text(a, names) for a in graph.outputs)
    comma = "," if len(graph.outputs) == 1 else ""
    lines.append(f"{indent}  in ({outs}{comma}) }}")
    return "\n".join(lines)


def equation_text(eq: Equation, names: Names, indent: str = "") -> str:
    """``b:float32[3] = mul a a``."""
    outs = " ".join(f"{names[v]}:{v.type!r}" for v in eq.outputs)
    ins = " ".join(atom_text(a, names) for a in eq.inputs)
    fields = ", ".join(field_texts(eq.op, indent))
    shown = f"[{fields}]" if fields else ""
    return f"{outs} = {eq.op.name}{shown} {ins}"


def field_texts(op: Any, indent: str) -> Iterator[str]:
    """``field=value`` of each parameter; graphs are printed indented."""
    for field in op.fields:
        value = getattr(op, field)
        if _is_graph(value):
            yield f"{field}={graph_text(value, indent + '  ')}"
        elif isinstance(value, tuple) and value and all(map(_is_graph, value)):
            inner = ", ".join(graph_text(v, indent + "  ") for v in value)
            yield f"{field}=({inner})"
        elif value is not None:
            yield f"{field}={getattr(value, '__name__', None) or value}"


def _is_graph(value: Any) -> bool:
    return hasattr(value, "equations")
