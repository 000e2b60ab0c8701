"""Transposition: run a linear graph backwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..core.graph import Equation, Graph, Literal, Var
from ..core.op import Linear
from ..core.refs import Ref, View, forget, unsupported
from ..core.staging import current_stage, trace_to_graph
from ..core.tracing import apply, in_scope
from ..structural.arith import add
from ..structural.constant import closed
from .jvp import tangent_type


def backward(
    equations: Sequence[Equation],
    known: Mapping[Any, Any],
    outputs: Sequence[Any],
    cotangents: Sequence[Any],
    inputs: Sequence[Var],
) -> list[Any]:
    """Cotangents of `inputs`, given those of `outputs`.

    Args:
        equations: linear equations in order; every variable not in `known` is linear.
        known: values of the variables that are not linear.
        outputs: atoms that the cotangents belong to.
        cotangents: one an output; None is zero.
        inputs: linear input variables.

    Returns:
        One cotangent an input; None is zero.
    """
    ct_of: dict[Any, Any] = {}
    for atom, ct in zip(outputs, cotangents, strict=True):
        if ct is not None and type(atom) is Var and atom not in known:
            old = ct_of.get(atom)
            ct_of[atom] = ct if old is None else apply(add, old, ct)
    for eq in reversed(equations):
        op = eq.op
        if op.multi:
            ct = [ct_of.pop(v, None) for v in eq.outputs]
            if all(c is None for c in ct):
                continue
        else:
            ct = ct_of.pop(eq.outputs[0], None)
            if ct is None:
                continue
        values = [
            a.value if type(a) is Literal else known[a] if a in known else Linear(a.type)
            for a in eq.inputs
        ]
        if eq.scope:
            with in_scope(f"transpose({eq.scope})"):
                parts = op.transpose(ct, *values)
        else:
            parts = op.transpose(ct, *values)
        for atom, value, c in zip(eq.inputs, values, parts, strict=True):
            if c is not None and type(value) is Linear:
                old = ct_of.get(atom)
                ct_of[atom] = c if old is None else apply(add, old, c)
    return [ct_of.get(v) for v in inputs]


def transpose_graph(
    graph: Graph, linear: tuple[bool, ...], ct_active: tuple[bool, ...]
) -> tuple[Graph, tuple[bool, ...]]:
    """Graph of (inputs that are not linear, cotangents) -> cotangents of the linear inputs.

    Args:
        graph: linear in the inputs marked by `linear`.
        linear: which inputs are linear.
        ct_active: which outputs have a cotangent that is not zero.

    Returns:
        The graph, and which linear inputs got a cotangent (the others are zero).

    Raises:
        RefError: a backward rule of the user's uses refs.
    """
    made = transpose_with_refs(graph, linear, ct_active)
    if made.refs:
        raise unsupported("transpose", made.refs)
    return made.graph, made.active


class Transposed(NamedTuple):
    """A transposed graph in which backward rules of the user's use refs.

    Attributes:
        graph: of (values of `refs`, inputs that are not linear, cotangents) -> cotangents of the
            linear inputs, last values of the refs that are written.
        active: which linear inputs got a cotangent.
        refs: ref -> view.
    """

    graph: Graph
    active: tuple[bool, ...]
    refs: dict[Ref, View]

    @property
    def written(self) -> list[Ref]:
        """The refs whose last values are the last outputs."""
        return [ref for ref, view in self.refs.items() if view.written]


def transpose_with_refs(
    graph: Graph, linear: tuple[bool, ...], ct_active: tuple[bool, ...]
) -> Transposed:
    """Like `transpose_graph`, where backward rules may use refs."""

    def make() -> Transposed:
        views: dict[Ref, View] = {}
        n_known = linear.count(False)
        active: list[bool] = []

        def run(*args: Any) -> list[Any]:
            known_values, cts = iter(args[:n_known]), iter(args[n_known:])
            known: dict[Any, Any] = {
                v: next(known_values)
                for v, is_linear in zip(graph.inputs, linear, strict=True)
                if not is_linear
            }
            wanted = [v for v, is_linear in zip(graph.inputs, linear, strict=True) if is_linear]
            equations = []
            for eq in graph.equations:
                if all(type(a) is Literal or a in known for a in eq.inputs):
                    values = [a.value if type(a) is Literal else known[a] for a in eq.inputs]
                    out = apply(eq.op, *values)
                    known.update(zip(eq.outputs, out if eq.op.multi else [out], strict=True))
                else:
                    equations.append(eq)
            found = backward(
                equations,
                known,
                graph.outputs,
                [next(cts) if a else None for a in ct_active],
                wanted,
            )
            active[:] = [c is not None for c in found]
            views.update(current_stage().accept_views())
            last = [view.value for view in views.values() if view.written]
            return [*(c for c in found if c is not None), *last]

        types = [t for t, is_linear in zip(graph.in_types, linear, strict=True) if not is_linear]
        ct_types = [tangent_type(t) for t, a in zip(graph.out_types, ct_active, strict=True) if a]
        made, captured = trace_to_graph(
            run, [*types, *ct_types], label="transpose", name=graph.name
        )
        made = closed(made, captured)
        forget(views)
        return Transposed(made, tuple(active), views)

    return graph.cached(("transpose", linear, ct_active), make)
