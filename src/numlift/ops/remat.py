"""Rematerialisation: the backward pass computes values again instead of keeping them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..config import current as current_flags
from ..core.graph import Equation, Graph, Literal, Var
from ..core.op import Linear, Op
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType
from ..structural.families import Structural
from ..transforms.linearize import LinearizedGraph, linearize_graph
from .call import Call, call_of, transposed_call
from .elementwise_misc import optimization_barrier
from .placing import Place
from .random import RandomClone


class Offload(NamedTuple):
    """Answer of a policy: keep the result in another memory.

    Attributes:
        src: the memory that the program computes in, where the value is brought back to.
        dst: the memory to keep it in, such as ``"pinned_host"``.
    """

    src: str
    dst: str


Policy = Callable[..., "bool | Offload"]


class Name(Structural):
    """The identity, with a name that a policy can refer to."""

    name = "name"
    tag: str

    def out_type(self, *types: ArrayType) -> ArrayType:
        return types[0]

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (ct,)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, args[0]), dims[0]

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return operands[0]


class Checkpoint(Call):
    """Apply a graph; of its inner values a gradient keeps only those that `policy` names.

    Attributes:
        policy: (operation, *input types, **its parameters) -> whether to keep its results, or an
            `Offload` that says where; None keeps nothing.
        prevent_cse: keep XLA from merging the second computation with the first.
    """

    name = "checkpoint"
    policy: Policy | None = None
    prevent_cse: bool = True

    def __init__(self, graph: Graph, policy: Policy | None = None, prevent_cse: bool = True):
        super().__init__(graph)
        self.policy, self.prevent_cse = policy, prevent_cse

    def around(self, graph: Graph) -> Checkpoint:
        """The same kind of call of another graph."""
        key = (type(self), self.policy, self.prevent_cse)
        return graph.cached(key, lambda: type(self)(graph, self.policy, self.prevent_cse))

    def with_graphs(self, graphs: Sequence[Graph]) -> Checkpoint:
        return self.around(graphs[0])

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Outputs and kept values now; everything else again in the backward pass."""
        active = tuple(d is not None for d in tangents)
        forward, tangent, parts = self.graph.cached(
            ("checkpoint", active, self.policy), lambda: _split(self.graph, active, self.policy)
        )
        n = len(self.graph.outputs)
        found = apply(call_of(forward), *primals)
        d_found = apply(
            tangent.cached(
                ("again", self.policy, self.prevent_cse),
                lambda: Again(tangent, policy=self.policy, prevent_cse=self.prevent_cse),
            ),
            *primals,
            *found[n:],
            *(d for d in tangents if d is not None),
        )
        return found[:n], parts.spread_tangents(d_found)


class Again(Checkpoint):
    """The tangent of a checkpointed call: recomputes residuals from inputs and kept values."""

    name = "recompute"

    def transpose(self, ct: Any, *given: Any) -> Sequence[Any]:
        inputs: Sequence[Any] = given
        barrier = optimization_barrier if self.prevent_cse else None
        if barrier is None and current_flags().debug_key_reuse:
            clone = RandomClone.of()
            inputs = [
                x if type(x) is Linear or type_of(x).kind != "k" else apply(clone, x)
                for x in inputs
            ]
        return transposed_call(self.graph, ct, inputs, barrier=barrier)


def _split(
    graph: Graph, active: tuple[bool, ...], policy: Policy | None
) -> tuple[Graph, Graph, LinearizedGraph]:
    """(forward graph with kept values, tangent graph that recomputes, how it was linearised)."""
    parts = linearize_graph(graph, active)
    primal, n = parts.primal, len(graph.outputs)
    kept, needed = plan_recomputation(primal, primal.outputs[n:], policy)
    away = [Var(v.type) if where else v for v, where in kept.items()]
    origin = {v: eq.source for eq in primal.equations for v in eq.outputs}
    moved = [(v, u, w) for (v, w), u in zip(kept.items(), away, strict=True) if w]
    out = [Equation(Place.of(w.dst), [v], [u], origin.get(v)) for v, u, w in moved]
    back = [Equation(Place.of(w.src), [u], [v], origin.get(v)) for v, u, w in moved]
    forward = Graph(
        primal.inputs,
        [*primal.equations, *out],
        [*primal.outputs[:n], *away],
        f"{graph.name}_forward",
    )
    again = Graph(
        [*primal.inputs, *away], [*back, *needed], primal.outputs[n:], f"{graph.name}_again"
    )

    def run(*args: Any) -> list[Any]:
        m, k = len(primal.inputs), len(primal.inputs) + len(kept)
        run_op = current.get().apply
        residuals = parts.residuals(args[:m], again.run(run_op, args[:k]))
        return parts.tangent.run(run_op, [*residuals, *args[k:]])

    d_types = parts.tangent.in_types[len(parts.residual_inputs) :]
    types = [*primal.in_types, *(v.type for v in kept), *d_types]
    tangent, captured = trace_to_graph(run, types, label="checkpoint", name=f"{graph.name}_again")
    assert not captured
    return forward, tangent, parts


def plan_recomputation(
    graph: Graph, wanted: Sequence[Any], policy: Policy | None
) -> tuple[dict[Var, Offload | None], list[Equation]]:
    """Values to keep, and the equations that compute `wanted` again from them and the inputs."""
    keep: dict[Any, Offload | None] = {
        v: None for eq in graph.equations if eq.op.effects for v in eq.outputs
    }
    if policy is not None:
        for eq in graph.equations:
            fields = {f: getattr(eq.op, f) for f in eq.op.fields}
            answer = policy(eq.op, *[a.type for a in eq.inputs], **fields)
            if answer:
                where = answer if isinstance(answer, Offload) else None
                keep.update(dict.fromkeys(eq.outputs, where))
    used = {a for a in wanted if type(a) is not Literal}
    kept = [v for v in dict.fromkeys(wanted) if v in keep]
    needed = []
    for eq in reversed(graph.equations):
        outs = [v for v in eq.outputs if v in used]
        if not outs:
            continue
        if all(v in keep for v in outs):
            kept += [v for v in outs if v not in kept]
            continue
        needed.append(eq)
        used.update(a for a in eq.inputs if type(a) is not Literal)
    needed.reverse()
    defined = {v for eq in needed for v in eq.outputs}
    return {v: keep[v] for v in kept if v not in defined}, needed
