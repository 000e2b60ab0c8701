"""Graphs: what a traced function becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..config import current as current_flags
from .op import NO_EFFECTS, Op
from .printing import graph_text
from .source import Source
from .tracing import in_scope
from .types import ArrayType


class Var:
    """A variable: defined once, as an input or as an equation's output."""

    __slots__ = ("type",)

    def __init__(self, type_: ArrayType):
        self.type = type_


class Literal:
    """A scalar constant inside a graph."""

    __slots__ = ("value", "type")

    def __init__(self, value: Any, type_: ArrayType):
        self.value, self.type = value, type_


Atom = Var | Literal
checks: list[Callable[[Any], None]] = []
"""What `enable_checks` runs on every new graph: `verify`, entered by `api.eager`."""


class Equation:
    """outputs = op(inputs), written at `source`, inside the named scopes `scope`."""

    __slots__ = ("op", "inputs", "outputs", "source", "scope")

    def __init__(
        self,
        op: Op,
        inputs: Sequence[Atom],
        outputs: Sequence[Var],
        source: Source | None = None,
        scope: str = "",
    ):
        self.op, self.inputs, self.outputs = op, inputs, outputs
        self.source, self.scope = source, scope


class Graph:
    """A closed function: inputs -> equations -> outputs.

    It holds no constants except scalar literals: arrays that the traced function closed over are
    leading inputs. `cache` keeps what transformations derive from the graph and dies with it.
    """

    __slots__ = (
        "inputs",
        "equations",
        "outputs",
        "effects",
        "axis_names",
        "cache",
        "name",
        "__weakref__",
    )

    def __init__(
        self,
        inputs: Sequence[Var],
        equations: Sequence[Equation],
        outputs: Sequence[Atom],
        name: str = "f",
    ):
        self.inputs, self.equations, self.outputs = tuple(inputs), tuple(equations), tuple(outputs)
        self.name = name
        self.effects = effects_of(self.equations)
        self.axis_names = tuple({n: 0 for eq in self.equations for n in eq.op.axis_names})
        self.cache: dict[Any, Any] = {}
        if current_flags().enable_checks:
            for check in checks:
                check(self)

    def __repr__(self) -> str:
        return graph_text(self)

    @property
    def in_types(self) -> list[ArrayType]:
        """Types of the inputs."""
        return [v.type for v in self.inputs]

    @property
    def out_types(self) -> list[ArrayType]:
        """Types of the outputs."""
        return [a.type for a in self.outputs]

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """Value kept with the graph under `key`, made on first use."""
        try:
            return self.cache[key]
        except KeyError:
            made = make()
            return self.cache.setdefault(key, made)

    def run(self, apply: Callable[[Op, Sequence[Any]], Any], args: Sequence[Any]) -> list[Any]:
        """Apply every equation to values with `apply(op, values)`; returns the outputs."""
        env: dict[Any, Any] = dict(zip(self.inputs, args, strict=True))
        for eq in self.equations:
            values = [a.value if type(a) is Literal else env[a] for a in eq.inputs]
            if eq.scope:
                with in_scope(eq.scope):
                    result = apply(eq.op, values)
            else:
                result = apply(eq.op, values)
            if eq.op.multi:
                env.update(zip(eq.outputs, result, strict=True))
            else:
                env[eq.outputs[0]] = result
        return [a.value if type(a) is Literal else env[a] for a in self.outputs]


def effects_of(equations: Sequence[Equation]) -> frozenset[Any]:
    """Union of the effects of the equations."""
    found: frozenset[Any] = NO_EFFECTS
    for eq in equations:
        if eq.op.effects:
            found |= eq.op.effects
    return found
