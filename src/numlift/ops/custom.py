"""Functions that carry their own derivative or batching rules.

A call of such a function goes through `Interpreter.apply_custom`. Interpreters use a rule where
they differentiate or batch, and the function itself elsewhere. When a call is staged it becomes a
`CustomCall` operation that keeps the rules.

All parts are flat functions: values -> list of values, where None stands for a zero tangent or
cotangent. Their leading `n_hidden` arguments are values that the user's functions close over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..core.graph import Graph
from ..core.staging import Stage, trace_to_graph
from ..core.tracing import apply, current, interpreting, type_of
from ..core.types import ArrayType
from ..structural.families import move_batch
from ..structural.shape import ReduceSum
from ..transforms.jvp import Jvp, instantiate, jvp_flat
from ..transforms.linearize import LinearStage, RuleStage
from ..transforms.vmap import Batch, place_batch, vmap_flat, vmap_graph
from .call import HigherOrder, guarded, transposed_call
from .custom_vjp import VjpTangent
from .flat_functions import Flat, guarded_flat, rebound_flat


class CustomRule:
    """A flat function with rules of its own; those that are None are derived.

    Attributes:
        function: arguments -> results.
        name: for messages.
        tangents: (arguments, tangents) -> (results, tangents of the results).
        forward: which arguments have tangents -> a flat function: arguments -> (results,
            residuals).
        backward: (residuals, cotangents) -> one cotangent an argument.
        batch_rule: (size, which arguments are batched) -> a flat function, batch axes in front,
            and a list that it fills with which results are batched.
        n_hidden: number of leading arguments that have no derivative.
    """

    __slots__ = ("function", "name", "tangents", "forward", "backward", "batch_rule", "n_hidden")

    def __init__(
        self,
        function: Flat,
        name: str,
        tangents: Flat | None = None,
        forward: Callable[[tuple[bool, ...]], Flat] | None = None,
        backward: Flat | None = None,
        batch_rule: Callable[..., tuple[Flat, list[bool]]] | None = None,
        n_hidden: int = 0,
    ):
        self.function, self.name, self.n_hidden = function, name, n_hidden
        self.tangents, self.forward, self.backward = tangents, forward, backward
        self.batch_rule = batch_rule

    def wrapped(self, wrap: Callable[[Flat], Flat], n_new: int) -> CustomRule:
        """The rule with every part wrapped, which adds `n_new` hidden arguments in front."""
        tangents, forward, backward = self.tangents, self.forward, self.backward
        batch_rule = self.batch_rule

        def wrapped_batch(size: int, flags: Sequence[bool]) -> tuple[Flat, list[bool]]:
            flat, found = batch_rule(size, flags[n_new:])  # type: ignore[misc]
            return wrap(flat), found

        return CustomRule(
            wrap(self.function),
            self.name,
            None if tangents is None else wrap(tangents),
            None if forward is None else lambda active: wrap(forward(active)),
            None if backward is None else wrap(backward),
            None if batch_rule is None else wrapped_batch,
            self.n_hidden + n_new,
        )

    def rebound(self, captured: Sequence[Any]) -> CustomRule:
        """The rule as a function of values that its parts close over, too."""
        if not captured:
            return self
        return self.wrapped(lambda flat: rebound_flat(flat, captured), len(captured))

    def guarded(self) -> CustomRule:
        """The rule with a bool in front, without which no loop takes a step."""
        return self.wrapped(guarded_flat, 1)

    # ---- differentiation ---------------------------------------------------------------------

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], linearizing: bool
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Results and their tangents (None is zero)."""
        n = self.n_hidden
        by_rule = self.tangents is not None or self.forward is not None
        if by_rule and any(d is not None for d in tangents[:n]):
            raise errors.GradError(
                errors.explain(
                    self.name,
                    "a function with a custom derivative closes over a value that is being "
                    "differentiated",
                    try_="pass that value as an argument",
                )
            )
        if self.forward is not None and (linearizing or self.tangents is None):
            return self._jvp_by_vjp(primals, tangents, self.forward)
        if self.tangents is None:
            return self._jvp_of_function(primals, tangents, linearizing)
        stage = current.get()
        with interpreting(RuleStage(stage) if isinstance(stage, LinearStage) else stage):
            found = list(self.tangents(*primals, *tangents[n:]))
        half = len(found) // 2
        return found[:half], found[half:]

    def _jvp_by_vjp(
        self, primals: Sequence[Any], tangents: Sequence[Any], forward: Any
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        n = self.n_hidden
        active = tuple(d is not None for d in tangents[n:])
        found = list(forward(active)(*primals))
        n_out = found.pop()
        outs, residuals = found[:n_out], [*primals[:n], *found[n_out:]]
        pushed: Flat | None = None
        backward = self.backward
        assert backward is not None
        if self.tangents is not None:
            m, residuals = len(primals), [*primals, *found[n_out:]]
            backward, pushed = self._with_primals(m)
        arg_types = tuple([type_of(x) for x in primals[n:]])
        out_types = tuple([type_of(x) for x in outs])
        op = VjpTangent(backward, arg_types, active, out_types, len(residuals), self.name, pushed)
        d_found = iter(apply(op, *residuals, *(d for d in tangents if d is not None)))
        return outs, [next(d_found) if t.inexact else None for t in out_types]

    def _with_primals(self, m: int) -> tuple[Flat, Flat]:
        """Backward and forward rule, both of (m arguments, residuals, ...)."""
        n, tangents, backward = self.n_hidden, self.tangents, self.backward

        def pulled(*xs: Any) -> Sequence[Any]:
            return backward(*xs[:n], *xs[m:])  # type: ignore[misc]

        def pushed(*xs: Any) -> list[Any]:
            found = list(tangents(*xs[:m], *xs[len(xs) - (m - n) :]))  # type: ignore[misc]
            return found[len(found) // 2 :]

        return pulled, pushed

    def _jvp_of_function(
        self, primals: Sequence[Any], tangents: Sequence[Any], linearizing: bool
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Derivative of the function itself: only the batching rule is custom."""
        if not linearizing:
            n = len(primals)
            active = tuple(d is not None for d in tangents)
            rule = CustomRule(
                _with_tangents(self.function, n, active),
                self.name,
                batch_rule=None if self.batch_rule is None else self._batch_rule_jvp(active),
                n_hidden=0,
            )
            args = [*primals, *(d for d in tangents if d is not None)]
            found = current.get().apply_custom(rule, args)
            half = len(found) // 2
            return found[:half], [
                d if type_of(x).inexact else None
                for x, d in zip(found[:half], found[half:], strict=True)
            ]
        inner = Jvp(current.get(), True)
        with interpreting(inner):
            outs = self.function(*[inner.dual(*p) for p in zip(primals, tangents, strict=True)])
        inner.alive = False
        out_primals, out_tangents, _ = inner.split(outs)
        return out_primals, out_tangents

    def _batch_rule_jvp(self, active: tuple[bool, ...]) -> Callable[..., Any]:
        """The batching rule of (arguments, tangents) -> (results, tangents)."""
        n = len(active)

        def rule(size: int, flags: Sequence[bool]) -> tuple[Flat, list[bool]]:
            rest = iter(flags[n:])
            d_flags = [next(rest) if a else False for a in active]
            both = [a or b for a, b in zip(flags[:n], d_flags, strict=True)]
            out_flags: list[bool] = []

            def run(*args: Any) -> list[Any]:
                flat, found = self.batch_rule(size, both)  # type: ignore[misc]
                given = iter(args[n:])
                tangents = [next(given) if a else None for a in active]
                values = _placed(args[:n], flags[:n], both, size)
                tangents = _placed(tangents, d_flags, both, size)
                outs, d_outs = jvp_flat(flat, values, tangents)
                d_outs = _as_arrays(outs, d_outs)
                out_flags[:] = [*found, *found]
                return [*outs, *d_outs]

            return run, out_flags

        return rule

    # ---- batching ----------------------------------------------------------------------------

    def batched(self, size: int, dims: Sequence[int | None], axis: Any) -> CustomRule:
        """The rule for batches; all results have the batch axis in front."""
        n = self.n_hidden
        tangents, forward, backward = self.tangents, self.forward, self.backward
        return CustomRule(
            batched_flat(self.function, size, dims, axis),
            self.name,
            None if tangents is None else batched_flat(tangents, size, [*dims, *dims[n:]], axis),
            None
            if forward is None
            else lambda active: _batched_forward(forward(active), size, dims, axis),
            None if backward is None else _batched_backward(backward, size, dims, n, axis),
            None,
            n,
        )

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[list[Any], list[int | None]]:
        """Apply to a batch by the user's batching rule."""
        if any(d is not None for d in dims[: self.n_hidden]):
            raise errors.VmapError(
                errors.explain(
                    self.name,
                    "a function with a custom batching rule closes over a value that is batched",
                    try_="pass that value as an argument",
                )
            )
        values = [move_batch(x, d, 0) for x, d in zip(args, dims, strict=True)]
        flat, found = self.batch_rule(size, [d is not None for d in dims])  # type: ignore[misc]
        outs = list(flat(*values))
        return outs, [0 if is_batched else None for is_batched in found]

    def vmap(
        self, batch: Batch, values: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Sequence[Any], Sequence[int | None]]:
        """Apply to a batch, in the current interpreter."""
        axis = (batch.axis_name, batch.spmd_axis_name)
        if self.batch_rule is not None:
            return self.batch(batch.size, values, dims, axis)
        rule = self.batched(batch.size, dims, axis)
        outs = current.get().apply_custom(rule, values)
        return outs, [0] * len(outs)

    # ---- staging -----------------------------------------------------------------------------

    def stage(self, stage: Stage, args: Sequence[Any]) -> list[Any]:
        """Write the call down as one operation."""
        with interpreting(stage):
            try:
                graph, captured = trace_to_graph(
                    self.function, [type_of(x) for x in args], label=self.name, name=self.name
                )
            except errors.RefError:
                if self.batch_rule is not None:
                    raise
                # The function changes refs: it becomes part of this stage, without a derivative.
                return self._final(stage, list(self.function(*args)))
        return stage.apply(CustomCall(graph, self.rebound(captured)), [*captured, *args])

    def _final(self, stage: Stage, outs: Sequence[Any]) -> list[Any]:
        """The results as values of which a derivative is an error."""
        graph, _ = trace_to_graph(lambda *xs: xs, [type_of(x) for x in outs], name=self.name)

        def refuse(*xs: Any) -> list[Any]:
            raise errors.GradError(
                errors.explain(
                    self.name,
                    "a function with a rule of its own that uses refs was staged (by jit, or in a "
                    "loop) before it was differentiated",
                    try_="take the gradient inside: nl.jit(nl.grad(f)), not nl.grad(nl.jit(f))",
                )
            )

        rule = CustomRule(lambda *xs: xs, self.name, refuse)
        return stage.apply(CustomCall(graph, rule), outs)


def _as_arrays(outs: Sequence[Any], d_outs: Sequence[Any]) -> list[Any]:
    """Tangents as arrays; in the place of an integer's tangent stands the integer."""
    return [
        instantiate(d, type_of(x)) if type_of(x).inexact else x
        for x, d in zip(outs, d_outs, strict=True)
    ]


def _placed(
    values: Sequence[Any], flags: Sequence[bool], wanted: Sequence[bool], size: int
) -> list[Any]:
    """Values with a batch axis in front where it is wanted; None stays None."""
    return [
        x if x is None else place_batch(x, 0 if f else None, size, 0 if w else None)
        for x, f, w in zip(values, flags, wanted, strict=True)
    ]


def _with_tangents(function: Flat, n: int, active: tuple[bool, ...]) -> Flat:
    """(arguments, tangents that are not zero) -> (results, tangents)."""

    def run(*args: Any) -> list[Any]:
        rest = iter(args[n:])
        outs, d_outs = jvp_flat(function, args[:n], [next(rest) if a else None for a in active])
        return [*outs, *_as_arrays(outs, d_outs)]

    return run


def batched_flat(function: Flat, size: int, dims: Sequence[int | None], axis: Any) -> Flat:
    """The flat function of a batch, results with the batch axis in front; None stays None."""
    axis_name, spmd_axis_name = axis

    def run(*args: Any) -> list[Any]:
        holes: list[bool] = []
        given = [(x, d) for x, d in zip(args, dims, strict=True) if x is not None]

        def flat(*xs: Any) -> list[Any]:
            rest = iter(xs)
            outs = function(*[None if x is None else next(rest) for x in args])
            holes[:] = [x is None for x in outs]
            return [x for x in outs if x is not None]

        outs, out_dims = vmap_flat(
            flat, size, [x for x, _ in given], [d for _, d in given], axis_name, spmd_axis_name
        )
        placed = iter([place_batch(x, d, size, 0) for x, d in zip(outs, out_dims, strict=True)])
        return [None if hole else next(placed) for hole in holes]

    return run


def _batched_forward(flat: Flat, size: int, dims: Sequence[int | None], axis: Any) -> Flat:
    """A forward rule of batches: its last entry, the number of results, is no array."""
    count: list[int] = []

    def arrays(*args: Any) -> list[Any]:
        found = list(flat(*args))
        count[:] = [found.pop()]
        return found

    batched = batched_flat(arrays, size, dims, axis)
    return lambda *args: [*batched(*args), *count]


def _batched_backward(
    backward: Flat, size: int, dims: Sequence[int | None], n_hidden: int, axis: Any
) -> Flat:
    """`backward` for batches: residuals and cotangents have the batch axis in front.

    The cotangent of an argument that is not batched is summed over the batch.
    """

    def run(*args: Any) -> list[Any]:
        in_dims = [*dims[:n_hidden], *([0] * (len(args) - n_hidden))]
        found = batched_flat(backward, size, in_dims, axis)(*args)
        return [
            c if c is None else apply(ReduceSum.of((0,)), c) if d is None else move_batch(c, 0, d)
            for c, d in zip(found, dims[n_hidden:], strict=True)
        ]

    return run


class CustomCall(HigherOrder):
    """A staged call of a function with its own rules."""

    name = "custom_call"
    graph: Graph
    rule: CustomRule

    def __init__(self, graph: Graph, rule: CustomRule):
        super().__init__(graph, rule)
        self.effects, self.axis_names = graph.effects, graph.axis_names

    def __repr__(self) -> str:
        return f"custom_call[{self.rule.name}]"

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return self.graph.out_types

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        return apply(CustomCall(guarded(self.graph), self.rule.guarded()), on, *args)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self._checked(self.rule.jvp(primals, tangents, False))

    def linearize(  # type: ignore[override]
        self, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, Any]:
        """By the rule, too."""
        return self._checked(self.rule.jvp(primals, tangents, True))

    def _checked(self, found: tuple[Any, Any]) -> tuple[Any, Any]:
        """What a rule of the user's returned, if the results are like those of the function.

        Raises:
            ArgumentError: they have another structure, shape or dtype.
        """
        types, given = self.graph.out_types, [type_of(x) for x in found[0]]
        if len(types) == len(given):
            pairs = zip(types, given, strict=True)
            if all(t.shape == u.shape and t.dtype == u.dtype for t, u in pairs):
                return found
        raise errors.ArgumentError(
            errors.explain(
                f"derivative rule of {self.rule.name}",
                "the rule must return the result of the function, in the same structure",
                {"function": types, "rule": given},
                try_=f"return {self.rule.name}(...) itself as the result in the rule",
            )
        )

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return transposed_call(self.graph, ct, inputs)

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        axis = axis or (None, None)
        if self.rule.batch_rule is not None:
            return self.rule.batch(size, args, dims, axis)
        forced = (True,) * len(self.graph.outputs)
        graph, _ = vmap_graph(self.graph, size, tuple(dims), forced, axis)
        found = apply(CustomCall(graph, self.rule.batched(size, dims, axis)), *args)
        return found, [0] * len(found)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        return ctx.inline(self.graph, operands)
