"""Forward-mode differentiation: values travel with their tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.graph import Graph
from ..core.op import Op
from ..core.source import Source
from ..core.staging import trace_to_graph
from ..core.tracing import Interpreter, Tracer, current, type_of
from ..core.types import ArrayType
from ..structural.constant import closed
from ..structural.shape import full


class Dual(Tracer):
    """A value and its tangent."""

    __slots__ = ("primal", "tangent")
    owner: Jvp

    def __init__(self, owner: Jvp, primal: Any, tangent: Any, type_: ArrayType):
        self.owner, self.primal, self.tangent, self.type = owner, primal, tangent, type_

    def concrete(self) -> Any:
        x = self.primal
        return x.concrete() if isinstance(x, Tracer) else x

    def origin(self) -> Source | None:
        return self.primal.origin() if isinstance(self.primal, Tracer) else None


class Jvp(Interpreter):
    """Applies each operation to primals and tangents by its `jvp` rule.

    Args:
        parent: where the rules run.
        linearizing: the tangents are being written down (`transforms.linearize`): higher-order
            operations then use their own `linearize` rule.
    """

    __slots__ = ("linearizing",)

    def __init__(self, parent: Interpreter, linearizing: bool = False):
        self.parent, self.alive, self.linearizing = parent, True, linearizing

    def describe(self) -> str:
        return "grad" if self.linearizing else "jvp"

    def dual(self, primal: Any, tangent: Any) -> Any:
        """The pair as one value; just the primal if the tangent is zero."""
        if tangent is None:
            return primal
        return Dual(self, primal, tangent, type_of(primal))

    def split(self, args: Sequence[Any]) -> tuple[list[Any], list[Any], bool]:
        """Primals, tangents, and whether any tangent is not zero."""
        primals, tangents, active = [], [], False
        for x in args:
            if type(x) is Dual and x.owner is self:
                primals.append(x.primal)
                tangents.append(x.tangent)
                active = True
            else:
                primals.append(x)
                tangents.append(None)
        return primals, tangents, active

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        primals: list[Any] = []
        tangents: list[Any] = []
        active = False
        for x in args:
            if type(x) is Dual and x.owner is self:
                primals.append(x.primal)
                tangents.append(x.tangent)
                active = True
            else:
                primals.append(x)
                tangents.append(None)
        if not active:
            return self.parent.apply(op, args)
        token = current.set(self.parent)  # type: ignore[arg-type]
        try:
            if self.linearizing and op.linearize is not None:
                out, d_out = op.linearize(primals, tangents)
            else:
                out, d_out = op.jvp(primals, tangents)
        finally:
            current.reset(token)
        if op.multi:
            return [
                x if d is None else Dual(self, x, d, type_of(x))
                for x, d in zip(out, d_out, strict=True)
            ]
        return out if d_out is None else Dual(self, out, d_out, out.type)

    def apply_custom(self, call: Any, args: Sequence[Any]) -> list[Any]:
        primals, tangents, active = self.split(args)
        if not active:
            return self.parent.apply_custom(call, args)
        token = current.set(self.parent)  # type: ignore[arg-type]
        try:
            outs, d_outs = call.jvp(primals, tangents, self.linearizing)
        finally:
            current.reset(token)
        return [self.dual(x, d) for x, d in zip(outs, d_outs, strict=True)]


def jvp_flat(
    function: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Values and tangents of a flat function; a tangent None is zero, in and out."""
    parent = current.get()
    interpreter = Jvp(parent)
    args = [interpreter.dual(x, d) for x, d in zip(primals, tangents, strict=True)]
    token = current.set(interpreter)
    try:
        outs = function(*args)
    finally:
        current.reset(token)
        interpreter.alive = False
    out_primals, out_tangents, _ = interpreter.split(outs)
    return out_primals, out_tangents


def instantiate(tangent: Any, type_: ArrayType) -> Any:
    """A tangent as an array: zeros for None."""
    return full(type_.update(weak_type=False)) if tangent is None else tangent


def jvp_graph(
    graph: Graph, active: tuple[bool, ...], instantiate_outputs: tuple[bool, ...] | bool = False
) -> tuple[Graph, tuple[bool, ...]]:
    """Graph of (inputs, tangents of the active inputs) -> (outputs, tangents that are not zero).

    Args:
        graph: what to differentiate.
        active: which inputs have a tangent.
        instantiate_outputs: outputs whose tangent is made even if it is zero.

    Returns:
        The graph and which outputs have a tangent.
    """
    n = len(graph.inputs)
    if isinstance(instantiate_outputs, bool):
        instantiate_outputs = tuple(instantiate_outputs and t.inexact for t in graph.out_types)

    def make() -> tuple[Graph, tuple[bool, ...]]:
        out_active: list[bool] = []

        def run(*args: Any) -> list[Any]:
            rest = iter(args[n:])
            tangents = [next(rest) if a else None for a in active]
            outs, d_outs = jvp_flat(
                lambda *xs: graph.run(current.get().apply, xs), args[:n], tangents
            )
            for i, wanted in enumerate(instantiate_outputs):
                if wanted:
                    d_outs[i] = instantiate(d_outs[i], graph.out_types[i])
            out_active[:] = [d is not None for d in d_outs]
            return [*outs, *(d for d in d_outs if d is not None)]

        types = graph.in_types
        d_types = [tangent_type(t) for t, a in zip(types, active, strict=True) if a]
        made, captured = trace_to_graph(run, [*types, *d_types], label="jvp", name=graph.name)
        made = closed(made, captured)
        return made, tuple(out_active)

    return graph.cached(("jvp", active, instantiate_outputs), make)


def tangent_type(t: ArrayType) -> ArrayType:
    """Type of the tangent of a value of type `t` (inexact types only)."""
    return t.update(weak_type=False) if t.weak_type else t
