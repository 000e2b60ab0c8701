"""Changing or pinning how an array is spread over a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.op import Op
from ..core.tracing import apply
from ..core.types import ArrayType
from ..sharding import rules
from ..sharding.text import sdy_spec_text
from ..structural.families import Structural, batch_first


class Constrain(Structural):
    """The same array with a sharding that the compiler must give it (Auto axes)."""

    name = "sharding_constraint"
    sharding: Any

    def out_type(self, *types: ArrayType) -> ArrayType:
        return types[0]

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(self, ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x = batch_first(args[0], dims[0], size)
        return apply(
            Constrain.of(rules.named(self.sharding.mesh, (None, *self.sharding.spec))), x
        ), 0

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if ctx.module.mesh is None:
            return operands[0]
        out = outs[0]
        inner = sdy_spec_text(self.sharding.spec, out.physical.ndim)
        return ctx.emit(f"sdy.sharding_constraint {operands[0]} {inner} : {out.mlir}")


class Reshard(Structural):
    """The same array with another sharding in its type (Explicit axes)."""

    sharding: Any

    def out_type(self, *types: ArrayType) -> ArrayType:
        return types[0].update(sharding=self.sharding)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        spec = rules.spec_of(inputs[0].type)
        return (apply(Reshard.of(rules.named(self.sharding.mesh, spec)), ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x = batch_first(args[0], dims[0], size)
        return apply(Reshard.of(rules.named(self.sharding.mesh, (None, *self.sharding.spec))), x), 0

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return operands[0]  # the driver pins the sharding that the result's type shows
