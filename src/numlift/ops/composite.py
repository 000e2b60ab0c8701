"""Functions that the compiler may know by name, and values that it must compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.graph import Graph
from ..core.op import Op
from ..core.tracing import apply
from ..core.types import ArrayType, array_type, tensor_mlir
from ..hlo.locations import quoted
from ..structural.families import Opaque
from ..transforms.lower import private_function
from .call import Call, Pruned

Attribute = tuple[str, Any]


class Composite(Call):
    """A call of a graph under a name, a version and attributes for the compiler."""

    name = "composite"
    title: str
    version: int
    attributes: tuple[Attribute, ...]

    def __init__(self, graph: Graph, title: str, version: int, attributes: tuple[Attribute, ...]):
        Op.__init__(self, graph=graph, inline=False, title=title, version=version,
                    attributes=attributes)  # fmt: skip
        self.effects, self.axis_names = graph.effects, graph.axis_names

    @property
    def label(self) -> str:
        return self.title

    def prune(self, used: tuple[bool, ...]) -> Pruned | None:
        """Nothing: the compiler's own version has all results."""
        return None

    def with_graphs(self, graphs: Sequence[Graph]) -> Composite:
        return Composite(graphs[0], self.title, self.version, self.attributes)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        function = private_function(ctx.module, self.graph)
        ins, results = (", ".join(t.physical.mlir for t in ts) for ts in (types, outs))
        shown = ", ".join(f"{name} = {attribute_text(value)}" for name, value in self.attributes)
        return list(
            ctx.emit_many(
                f"stablehlo.composite {quoted(self.title)} {', '.join(operands)} "
                f"{{composite_attributes = {{{shown}}}, decomposition = @{function}, "
                f"version = {self.version} : i32}} : ({ins}) -> ({results})",
                len(outs),
            )
        )


def attribute_text(value: Any) -> str:
    """An attribute of a composite as MLIR text.

    Example:
        >>> attribute_text({"a": 1, "b": (True, 2.5, "x")})
        '{a = 1 : i64, b = [true, 2.5 : f64, "x"]}'
    """
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        return f"{value!r} : f64"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {attribute_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(attribute_text, value))}]"
    t = array_type((), value.dtype)
    if not np.ndim(value):
        return f"{value.item()!r} : {t.mlir[7:-1]}"
    found = np.asarray(value).tolist()
    return f"dense<{found}> : {tensor_mlir(value.shape, t.mlir[7:-1])}"


class Sink(Opaque):
    """Nothing: its operand counts as used; if `keep`, for the compiler's first passes, too."""

    name = "dce_sink"
    multi = True
    keep: bool
    effects = frozenset(("sink",))

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return []

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, args[0]), []

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        if self.keep:
            ctx.emit_many(
                f"stablehlo.custom_call @dce_sink({operands[0]}) {{api_version = 4 : i32, "
                "backend_config = {}, has_side_effect = true} : "
                f"({types[0].physical.mlir}) -> ()",
                0,
            )
        return []
