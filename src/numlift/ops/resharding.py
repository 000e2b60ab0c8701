"""Changing or pinning how an array is spread over a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..sharding import rules
from ..sharding.spec import UNCONSTRAINED
from ..sharding.text import sdy_spec_text
from ..structural.families import Structural, batch_first
from ..transforms.vmap import SPMD_AXIS, Batch


def batch_entry(op: Any, batch: Batch) -> Any:
    """The spec's entry of a batch axis, checked against those of the example."""
    names = batch.spmd_axis_name
    names = names if isinstance(names, tuple) else (names,)
    used = op.sharding.spec.axes()
    if any(n in used for n in names):
        raise errors.ShardingError(
            errors.explain(
                "vmap",
                f"spmd_axis_name={batch.spmd_axis_name!r} also shards an axis of the example",
                {"spec of the example": op.sharding.spec},
                try_="another mesh axis for the batch",
            )
        )
    return names[0] if len(names) == 1 else names


class Constrain(Structural):
    """The same array with a sharding that the compiler must give it (Auto axes)."""

    name = "sharding_constraint"
    sharding: Any
    axis_names = (SPMD_AXIS,)

    def out_type(self, *types: ArrayType) -> ArrayType:
        return types[0]

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(self, ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return self._batched(batch_first(args[0], dims[0], size), UNCONSTRAINED), 0

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        """The batch axis is sharded over the mesh axis that `vmap` was told."""
        x = batch_first(args[0], dims[0], batch.size)
        return self._batched(x, batch_entry(self, batch)), 0

    def _batched(self, x: Any, entry: Any) -> Any:
        spec = (entry, *self.sharding.spec)
        return apply(Constrain.of(rules.named(self.sharding.mesh, spec)), x)

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        if ctx.module.mesh is None:
            return operands[0]
        out = outs[0]
        inner = sdy_spec_text(self.sharding.spec, out.physical.ndim)
        return ctx.emit(f"sdy.sharding_constraint {operands[0]} {inner} : {out.mlir}")


class HideAxes(Structural):
    """The same array whose type no longer shows some mesh axes: the compiler may change them."""

    kept: tuple[str, ...]

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        entries = []
        for entry in rules.spec_of(x):
            names = tuple(n for n in rules.axis_names_in(entry) if n in self.kept)
            entries.append(names[0] if len(names) == 1 else names or None)
        return x.update(sharding=rules.named(rules.mesh_of(types), entries))

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        sharding = inputs[0].type.sharding
        return (ct if sharding is None else apply(Reshard.of(sharding), ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, batch_first(args[0], dims[0], size)), 0

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return operands[0]


class Reshard(Structural):
    """The same array with another sharding in its type (Explicit axes)."""

    sharding: Any
    axis_names = (SPMD_AXIS,)

    def out_type(self, *types: ArrayType) -> ArrayType:
        return types[0].update(sharding=self.sharding)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        spec = rules.spec_of(inputs[0].type)
        return (apply(Reshard.of(rules.named(self.sharding.mesh, spec)), ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x = batch_first(args[0], dims[0], size)
        return self._batched(x, rules.spec_of(type_of(x))[0]), 0

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        """The batch axis is sharded over the mesh axis that `vmap` was told."""
        x = batch_first(args[0], dims[0], batch.size)
        return self._batched(x, batch_entry(self, batch)), 0

    def _batched(self, x: Any, entry: Any) -> Any:
        spec = (entry, *self.sharding.spec.padded(type_of(x).ndim - 1))
        return apply(Reshard.of(rules.named(self.sharding.mesh, spec)), x)

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return operands[0]  # the driver pins the sharding that the result's type shows
