"""Moving values between the memories of a device inside a program (host offloading)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.graph import Equation, Graph, Literal, Var
from ..core.op import Op
from ..core.tracing import apply
from ..core.types import ArrayType
from ..sharding import rules
from ..structural.families import Structural
from .call import Call
from .scan import Scan

DEVICE = "device"
"""The memory that programs compute in."""


class Place(Structural):
    """The same array in the memory called `kind`; tangents go along, cotangents are on the device.

    XLA for CPUs has one memory inside of a program: there only arguments and results are in the
    memory that was asked for.
    """

    kind: str

    def out_type(self, *types: ArrayType) -> ArrayType:
        return types[0]

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (ct,)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, args[0]), dims[0]

    def shard(self, *types: ArrayType) -> Any:
        return rules.named(types[0].sharding.mesh, rules.spec_of(types[0]))

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        kinds = ctx.module.memory_kinds
        if self.kind == DEVICE and not kinds:
            return operands[0]  # nothing has left the device yet
        kinds.setdefault(self.kind, ctx.equation.source)
        mlir = outs[0].mlir
        return ctx.emit(
            f'stablehlo.custom_call @annotate_device_placement({operands[0]}) {{backend_config = "'
            '", has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = '
            f'"{self.kind}"}}}} : ({mlir}) -> {mlir}'
        )


def _inner(op: Op) -> Graph | None:
    """The graph of an operation whose inputs and results are those of the graph in this order."""
    return op.graph if isinstance(op, Call) else op.body if isinstance(op, Scan) else None


def result_memories(graph: Graph) -> list[str | None]:
    """The memory that each result of a graph is left in; None is the device's own."""
    return graph.cached("memories", lambda: _result_memories(graph))


def _result_memories(graph: Graph) -> list[str | None]:
    found: dict[Any, str] = {}
    for eq in graph.equations:
        op = eq.op
        if isinstance(op, Place):
            if op.kind != DEVICE:
                found[eq.outputs[0]] = op.kind
            continue
        inner = _inner(op)
        if inner is not None:
            for v, kind in zip(eq.outputs, result_memories(inner), strict=True):
                if kind is not None:
                    found[v] = kind
    return [None if type(a) is Literal else found.get(a) for a in graph.outputs]


def _computed_with(graph: Graph) -> frozenset[int]:
    """Positions of the inputs that some operation computes with where they are."""
    return graph.cached("computed with", lambda: _find_computed(graph))


def _find_computed(graph: Graph) -> frozenset[int]:
    found: set[Any] = set()
    for eq in graph.equations:
        if isinstance(eq.op, Place):
            continue
        inner = _inner(eq.op)
        used = range(len(eq.inputs)) if inner is None else _computed_with(inner)
        found.update(eq.inputs[i] for i in used)
    return frozenset(i for i, v in enumerate(graph.inputs) if v in found)


def fetch_inputs(graph: Graph, kinds: Sequence[str | None]) -> Graph:
    """The graph for inputs that lie in other memories (None: in the device's own).

    What it computes with is copied to the device first, unless the graph itself says where.
    """
    computed = _computed_with(graph)
    moved = [i for i, kind in enumerate(kinds) if kind is not None and i in computed]
    if not moved:
        return graph
    inputs, copies = list(graph.inputs), []
    for i in moved:
        v = inputs[i]
        inputs[i] = Var(v.type)
        copies.append(Equation(Place.of(DEVICE), [inputs[i]], [v]))
    return Graph(inputs, [*copies, *graph.equations], graph.outputs, graph.name)
