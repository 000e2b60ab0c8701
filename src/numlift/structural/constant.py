"""Arrays inside graphs, for the few that cannot be inputs.

The arrays that a traced function uses are inputs of its graph. The graph of a derivative is made
later, when the inputs are settled: an array that only a user's derivative rule uses becomes a
constant in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.graph import Equation, Graph
from ..core.op import Op
from ..core.tracing import Tracer, type_of
from ..core.types import ArrayType
from ..runtime.array import Array


class ArrayConstant(Op):
    """A concrete array."""

    name = "constant"
    value: Any

    def __repr__(self) -> str:
        return f"constant[{type_of(self.value)!r}]"

    def out_type(self, *types: ArrayType) -> ArrayType:
        return type_of(self.value)

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        value = self.value
        words = value._words() if isinstance(value, Array) else np.asarray(value)
        return ctx.array(words.astype(outs[0].physical.dtype, copy=False))


def closed(graph: Graph, captured: Sequence[Any]) -> Graph:
    """The graph without its leading inputs, which are the captured arrays."""
    if not captured:
        return graph
    equations = []
    for var, value in zip(graph.inputs, captured, strict=False):
        if isinstance(value, Tracer):
            raise errors.UnexpectedTracerError(
                errors.explain(
                    "custom derivative rule",
                    "the rule uses a traced value that is not an argument, and that Numlift did "
                    "not find among what the rule's functions close over",
                    {"value": value.type},
                    try_="pass the value as an argument, or through the residuals",
                )
            )
        equations.append(Equation(ArrayConstant(value), (), (var,)))
    return Graph(
        graph.inputs[len(captured) :],
        [*equations, *graph.equations],
        graph.outputs,
        graph.name,
    )
