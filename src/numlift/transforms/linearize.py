"""Linearisation: run the primal computation, write the tangent computation down.

`LinearStage` is a stage that only writes down operations on its own tracers, which are tangents;
everything else is handed to the parent at once. `Jvp` above it therefore runs each derivative rule
with primal values that are as concrete as they were, so Python control flow works as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.graph import Equation, Graph, Var
from ..core.op import Op
from ..core.staging import Stage, Staged, trace_to_graph
from ..core.tracing import Interpreter, current, interpreting, type_of
from ..core.types import ArrayType
from ..structural.constant import closed
from .jvp import Jvp, instantiate, tangent_type
from .transpose import backward


class LinearStage(Stage):
    """Writes down linear equations; operations without own tracers run in the parent."""

    __slots__ = ()
    keeps_views = False
    parent: Interpreter

    def __init__(self, parent: Interpreter):
        super().__init__(parent, "grad")

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        for x in args:
            if type(x) is Staged and x.owner is self:
                return Stage.apply(self, op, args)
        return self.parent.apply(op, args)

    def apply_custom(self, call: Any, args: Sequence[Any]) -> list[Any]:
        for x in args:
            if type(x) is Staged and x.owner is self:
                return call.stage(self, args)
        return self.parent.apply_custom(call, args)


class RuleStage(Interpreter):
    """Runs a derivative rule of the user, whose tangents are tracers of a `LinearStage`.

    Calls, loops and branches inside the rule may compute results and their tangents together. They
    are linear in the tangents, so they are split by their own `linearize` rule, at tangents zero:
    results run in the parent of the stage, and only what depends on tangents is written down.
    """

    __slots__ = ()
    parent: LinearStage

    def __init__(self, stage: LinearStage):
        self.parent, self.alive = stage, True

    def describe(self) -> str:
        return self.parent.describe()

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        if op.linearize is None:
            return self.parent.apply(op, args)
        primals, tangents, active = self.at_zero(args)
        if not active:
            return self.parent.apply(op, args)
        with interpreting(self.parent):
            outs, d_outs = op.linearize(primals, tangents)
        if not op.multi:
            return outs if d_outs is None else d_outs
        return [x if d is None else d for x, d in zip(outs, d_outs, strict=True)]

    def apply_custom(self, call: Any, args: Sequence[Any]) -> list[Any]:
        primals, tangents, active = self.at_zero(args)
        if not active:
            return self.parent.apply_custom(call, args)
        with interpreting(self.parent):
            outs, d_outs = call.jvp(primals, tangents, True)
        return [x if d is None else d for x, d in zip(outs, d_outs, strict=True)]

    def at_zero(self, args: Sequence[Any]) -> tuple[list[Any], list[Any], bool]:
        """Operands with zeros for tangents, their tangents, and whether there are any."""
        stage = self.parent
        linear = [type(x) is Staged and x.owner is stage for x in args]
        if not any(linear):
            return [], [], False
        with interpreting(stage):
            primals = [
                instantiate(None, type_of(x)) if is_linear else x
                for x, is_linear in zip(args, linear, strict=True)
            ]
        tangents = [x if is_linear else None for x, is_linear in zip(args, linear, strict=True)]
        return primals, tangents, True


class LinearMap:
    """The written-down tangent computation: equations and the values that they use.

    Attributes:
        equations: in order.
        known: variable -> residual value.
        inputs: tangent variables, one an active input.
        outputs: one atom an output; None where the tangent is zero.
    """

    __slots__ = ("equations", "known", "inputs", "outputs", "in_types", "out_types")

    def __init__(
        self,
        equations: list[Equation],
        known: dict[Var, Any],
        inputs: list[Var],
        outputs: list[Any],
        in_types: list[ArrayType],
        out_types: list[ArrayType],
    ):
        self.equations, self.known, self.inputs, self.outputs = equations, known, inputs, outputs
        self.in_types, self.out_types = in_types, out_types

    def pull_back(self, cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of the active inputs; None is zero."""
        cts = [None if a is None else c for a, c in zip(self.outputs, cotangents, strict=True)]
        atoms = [None if c is None else a for a, c in zip(self.outputs, cts, strict=True)]
        return backward(self.equations, self.known, atoms, cts, self.inputs)

    def push_forward(self, tangents: Sequence[Any]) -> list[Any]:
        """Tangents of the outputs, zeros made explicit."""
        known = [*self.known]
        graph = Graph(
            [*known, *self.inputs], self.equations, [a for a in self.outputs if a is not None]
        )
        values = graph.run(current.get().apply, [*self.known.values(), *tangents])
        found = iter(values)
        return [
            instantiate(None if a is None else next(found), t)
            for a, t in zip(self.outputs, self.out_types, strict=True)
        ]


def linearize_flat(
    function: Callable[..., Sequence[Any]], primals: Sequence[Any], active: Sequence[bool]
) -> tuple[list[Any], LinearMap]:
    """Outputs of a flat function and its derivative with respect to the active arguments."""
    parent = current.get()
    stage = LinearStage(parent)
    interpreter = Jvp(stage, linearizing=True)
    args = [
        interpreter.dual(x, stage.new_input(tangent_type(type_of(x))) if a else None)
        for x, a in zip(primals, active, strict=True)
    ]
    token = current.set(interpreter)
    try:
        outs = function(*args)
    finally:
        current.reset(token)
        interpreter.alive = False
    out_primals, out_tangents, _ = interpreter.split(outs)
    atoms = [None if d is None else stage.lift(d) for d in out_tangents]
    stage.alive = False
    out_types = [type_of(x) for x in out_primals]
    return out_primals, LinearMap(
        stage.equations,
        stage.captured,
        stage.inputs,
        atoms,
        [v.type for v in stage.inputs],
        out_types,
    )


class LinearizedGraph:
    """A graph split in two: `primal` computes outputs and residuals, `tangent` is linear.

    Attributes:
        primal: inputs -> outputs + residuals that are not inputs themselves.
        tangent: residuals + tangents of active inputs -> tangents of `out_active` outputs.
        out_active: which outputs have a tangent.
        residual_inputs: for each residual, the index of the graph input that it is, or None.
    """

    __slots__ = ("primal", "tangent", "out_active", "residual_inputs")

    def __init__(
        self,
        primal: Graph,
        tangent: Graph,
        out_active: tuple[bool, ...],
        residual_inputs: list[int | None],
    ):
        self.primal, self.tangent, self.out_active = primal, tangent, out_active
        self.residual_inputs = residual_inputs

    def residuals(self, inputs: Sequence[Any], extra: Sequence[Any]) -> list[Any]:
        """All residuals in order, from the inputs and the extra outputs of `primal`."""
        rest = iter(extra)
        return [next(rest) if i is None else inputs[i] for i in self.residual_inputs]

    def spread_tangents(self, found: Sequence[Any]) -> list[Any]:
        """One tangent an output (None is zero) from the outputs of `tangent`."""
        rest = iter(found)
        return [next(rest) if a else None for a in self.out_active]


def linearize_graph(
    graph: Graph, active: tuple[bool, ...], instantiate_outputs: tuple[bool, ...] | None = None
) -> LinearizedGraph:
    """Split a graph into its primal part (with residuals) and its linear tangent part.

    Args:
        graph: what to linearise.
        active: which inputs have a tangent.
        instantiate_outputs: outputs whose tangent is made even if it is zero.
    """

    def make() -> LinearizedGraph:
        found: dict[str, Any] = {}

        def run(*args: Any) -> list[Any]:
            outs, linear = linearize_flat(
                lambda *xs: graph.run(current.get().apply, xs), args, active
            )
            residuals = list(linear.known.values())
            position = {id(x): i for i, x in enumerate(args)}
            found["linear"] = linear
            found["inputs"] = [position.get(id(r)) for r in residuals]
            kept = [r for r, i in zip(residuals, found["inputs"], strict=True) if i is None]
            return [*outs, *kept]

        primal, captured = trace_to_graph(run, graph.in_types, label="grad", name=graph.name)
        primal = closed(primal, captured)
        linear = found["linear"]
        outputs = list(linear.outputs)
        equations = list(linear.equations)
        for i, wanted in enumerate(instantiate_outputs or ()):
            if wanted and outputs[i] is None:
                outputs[i], extra = zeros_atom(graph.out_types[i])
                equations = [*extra, *equations]
        tangent = Graph(
            [*linear.known, *linear.inputs],
            equations,
            [a for a in outputs if a is not None],
            graph.name,
        )
        return LinearizedGraph(
            primal,
            tangent,
            tuple(a is not None for a in outputs),
            found["inputs"],
        )

    return graph.cached(("linearize", active, instantiate_outputs), make)


def zeros_atom(type_: ArrayType) -> tuple[Any, list[Equation]]:
    """An atom that is zero, and the equations that make it."""
    made, _ = trace_to_graph(lambda: [instantiate(None, type_)], [])
    return made.outputs[0], list(made.equations)
