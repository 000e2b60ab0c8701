"""Batching: a function written for one example runs on a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..core.graph import Graph
from ..core.op import Op
from ..core.source import Source
from ..core.staging import infer_type, trace_to_graph
from ..core.tracing import Interpreter, Tracer, current, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.constant import closed
from ..structural.families import batch_first, move_batch

SPMD_AXIS = "spmd axis"
"""Stands in `Op.axis_names` for the mesh axis of an enclosing batch, which is sharded over it."""


def unbatched_type(t: ArrayType, dim: int) -> ArrayType:
    """Type of one example, given the type of the batch."""
    sharding = t.sharding
    if sharding is not None:
        spec = rules.spec_of(t)
        sharding = rules.named(sharding.mesh, spec[:dim] + spec[dim + 1 :])
    return array_type(t.shape[:dim] + t.shape[dim + 1 :], t.dtype, t.weak_type, sharding)


def batched_type(t: ArrayType, size: int, dim: int = 0) -> ArrayType:
    """Type of a batch of `size` examples of type `t`, with the batch axis at `dim`."""
    sharding = t.sharding
    if sharding is not None:
        spec = rules.spec_of(t)
        sharding = rules.named(sharding.mesh, (*spec[:dim], None, *spec[dim:]))
    return array_type((*t.shape[:dim], size, *t.shape[dim:]), t.dtype, t.weak_type, sharding)


_example_types: dict[tuple[ArrayType, int], ArrayType] = {}


class Batched(Tracer):
    """A batch that looks like one example: `value` has the batch axis at `dim`."""

    __slots__ = ("value", "dim")
    owner: Batch

    def __init__(self, owner: Batch, value: Any, dim: int):
        self.owner, self.value, self.dim = owner, value, dim
        t = value.type
        key = (t, dim)
        found = _example_types.get(key)
        if found is None:
            found = unbatched_type(t, dim)
            if len(_example_types) > 1 << 14:
                _example_types.clear()
            _example_types[key] = found
        self.type = found

    def origin(self) -> Source | None:
        return self.value.origin() if isinstance(self.value, Tracer) else None


class Batch(Interpreter):
    """Applies each operation to whole batches by its `vmap` rule.

    Args:
        parent: where the rules run.
        size: number of examples.
        axis_name: name under which collectives see the batch axis, or None.
        spmd_axis_name: mesh axis (or axes) that the batch axis is sharded over.
        name: of the user's function, for messages.
    """

    __slots__ = ("size", "axis_name", "spmd_axis_name", "axis_sizes", "name")

    def __init__(
        self,
        parent: Interpreter,
        size: int,
        axis_name: Any = None,
        spmd_axis_name: Any = None,
        name: str | None = None,
    ):
        self.parent, self.alive, self.name = parent, True, name
        self.size, self.axis_name, self.spmd_axis_name = size, axis_name, spmd_axis_name
        self.axis_sizes = {} if axis_name is None else {axis_name: size}

    def describe(self) -> str:
        return "vmap" if self.name is None else f"vmap({self.name})"

    def wrap(self, x: Any, dim: int | None) -> Any:
        """A tracer for a batch; the value itself if it is not batched."""
        if dim is None:
            return x
        return Batched(self, x, dim)

    def split(self, args: Sequence[Any]) -> tuple[list[Any], list[int | None]]:
        """Values and where their batch axes are."""
        values: list[Any] = []
        dims: list[int | None] = []
        for x in args:
            if type(x) is Batched and x.owner is self:
                values.append(x.value)
                dims.append(x.dim)
            else:
                values.append(x)
                dims.append(None)
        return values, dims

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        values: list[Any] = []
        dims: list[int | None] = []
        active = False
        for x in args:
            if type(x) is Batched and x.owner is self:
                values.append(x.value)
                dims.append(x.dim)
                active = True
            else:
                values.append(x)
                dims.append(None)
        names = op.axis_names
        collective = names and self.axis_name is not None and self.axis_name in names
        if names and active and self.spmd_axis_name is not None and SPMD_AXIS in names:
            collective = True
        if not active and not collective:
            return self.parent.apply(op, args)
        token = current.set(self.parent)  # type: ignore[arg-type]
        try:
            if collective:
                out, dim = op.vmap_axis(self, values, dims)  # type: ignore[attr-defined]
            else:
                out, dim = op.vmap(self.size, values, dims)
        except errors.NumliftError:
            self.check_example(op, args)
            raise
        finally:
            current.reset(token)
        if op.multi:
            return [self.wrap(x, d) for x, d in zip(out, dim, strict=True)]
        return out if dim is None else Batched(self, out, dim)

    def check_example(self, op: Op, args: Sequence[Any]) -> None:
        """Raise the error of one example, if it has one: in shapes and axes that the user wrote."""
        try:
            infer_type(op, [type_of(x) for x in args])
        except errors.NumliftError as error:
            raise error from None

    def apply_custom(self, call: Any, args: Sequence[Any]) -> list[Any]:
        values, dims = self.split(args)
        if all(d is None for d in dims):
            return self.parent.apply_custom(call, args)
        token = current.set(self.parent)  # type: ignore[arg-type]
        try:
            outs, out_dims = call.vmap(self, values, dims)
        finally:
            current.reset(token)
        return [self.wrap(x, d) for x, d in zip(outs, out_dims, strict=True)]


def vmap_flat(
    function: Callable[..., Sequence[Any]],
    size: int,
    args: Sequence[Any],
    dims: Sequence[int | None],
    axis_name: Any = None,
    spmd_axis_name: Any = None,
    name: str | None = None,
) -> tuple[list[Any], list[int | None]]:
    """Run a flat function on batches; returns outputs and where their batch axes are."""
    interpreter = Batch(current.get(), size, axis_name, spmd_axis_name, name)
    wrapped = [interpreter.wrap(x, d) for x, d in zip(args, dims, strict=True)]
    token = current.set(interpreter)
    try:
        outs = function(*wrapped)
    finally:
        current.reset(token)
        interpreter.alive = False
    return interpreter.split(outs)


def place_batch(x: Any, dim: int | None, size: int, to: int | None) -> Any:
    """`x` with its batch axis at `to`, broadcast if it had none; `to` None wants none."""
    if to is None:
        return x
    if dim is None:
        return move_batch(batch_first(x, None, size), 0, to)
    return move_batch(x, dim, to)


def vmap_graph(
    graph: Graph,
    size: int,
    dims: tuple[int | None, ...],
    out_batched: tuple[bool | None, ...] | None = None,
    axis: Any = None,
) -> tuple[Graph, tuple[int | None, ...]]:
    """Graph over batches.

    Args:
        graph: function of one example.
        size: number of examples.
        dims: batch axis of each input, or None.
        out_batched: True forces an output to be batched at axis 0; None or False leaves it.
        axis: the (axis_name, spmd_axis_name) under which collectives inside see the batch.

    Returns:
        The graph and the batch axis of each output.
    """
    forced = out_batched or (None,) * len(graph.outputs)
    axis_name, spmd_axis_name = axis or (None, None)

    def make() -> tuple[Graph, tuple[int | None, ...]]:
        found: list[int | None] = []

        def run(*args: Any) -> list[Any]:
            outs, out_dims = vmap_flat(
                lambda *xs: graph.run(current.get().apply, xs),
                size,
                args,
                dims,
                axis_name,
                spmd_axis_name,
            )
            for i, wanted in enumerate(forced):
                if wanted:
                    outs[i] = place_batch(outs[i], out_dims[i], size, 0)
                    out_dims[i] = 0
            found[:] = out_dims
            return outs

        types = [
            t if d is None else batched_type(t, size, d)
            for t, d in zip(graph.in_types, dims, strict=True)
        ]
        made, captured = trace_to_graph(run, types, label="vmap", name=graph.name)
        made = closed(made, captured)
        return made, tuple(found)

    return graph.cached(("vmap", size, dims, forced, axis), make)
