"""Functions that carry their own derivative rule.

A call of such a function goes through `Interpreter.apply_custom`. Interpreters use the rule where
they differentiate, and the function itself elsewhere. When a call is staged it becomes a
`CustomCall` operation that keeps the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import float0
from ..core.graph import Graph
from ..core.op import Linear, Op
from ..core.staging import Stage, trace_to_graph
from ..core.tracing import apply, current, interpreting, type_of
from ..core.types import ArrayType
from ..structural.shape import ReduceSum
from ..transforms.jvp import instantiate, tangent_type
from ..transforms.transpose import transpose_graph
from ..transforms.vmap import Batch, place_batch, vmap_flat, vmap_graph
from .call import HigherOrder, call_of

Flat = Callable[..., Sequence[Any]]


class CustomRule:
    """A flat function with its own derivative rule; subclasses say which kind.

    Attributes:
        function: arrays -> list of arrays.
        name: for messages.
    """

    def __init__(self, function: Flat, name: str):
        self.function, self.name = function, name

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], linearizing: bool
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Results and their tangents (None is zero) by the rule."""
        raise NotImplementedError

    def batched(self, size: int, dims: Sequence[int | None], axis: Any) -> CustomRule:
        """The rule for batches; all results have the batch axis in front."""
        raise NotImplementedError

    def vmap(
        self, batch: Batch, values: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Sequence[Any], Sequence[int | None]]:
        """Apply to a batch, in the current interpreter."""
        rule = self.batched(batch.size, dims, (batch.axis_name, batch.spmd_axis_name))
        outs = current.get().apply_custom(rule, values)
        return outs, [0] * len(outs)

    def stage(self, stage: Stage, args: Sequence[Any]) -> list[Any]:
        """Write the call down as one operation."""
        with interpreting(stage):
            graph, captured = trace_to_graph(
                self.function, [type_of(x) for x in args], label=self.name, name=self.name
            )
        return stage.apply(CustomCall(graph, self, len(captured)), [*captured, *args])


def batched_flat(function: Flat, size: int, dims: Sequence[int | None], axis: Any) -> Flat:
    """The flat function of a batch, results with the batch axis in front."""
    axis_name, spmd_axis_name = axis

    def run(*args: Any) -> list[Any]:
        outs, out_dims = vmap_flat(function, size, args, dims, axis_name, spmd_axis_name)
        return [place_batch(x, d, size, 0) for x, d in zip(outs, out_dims, strict=True)]

    return run


class JvpRule(CustomRule):
    """A function with a forward-mode rule.

    Attributes:
        rule: (primals..., tangents...) -> (results..., tangents...), flat; tangents of arguments
            that are not inexact are float0 zeros.
    """

    def __init__(self, function: Flat, rule: Flat, name: str):
        super().__init__(function, name)
        self.rule = rule

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], linearizing: bool
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        given = [_given_tangent(x, d) for x, d in zip(primals, tangents, strict=True)]
        found = list(self.rule(*primals, *given))
        half = len(found) // 2
        outs, d_outs = found[:half], found[half:]
        return outs, [d if type_of(x).inexact else None for x, d in zip(outs, d_outs, strict=True)]

    def batched(self, size: int, dims: Sequence[int | None], axis: Any) -> JvpRule:
        return JvpRule(
            batched_flat(self.function, size, dims, axis),
            _batched_rule(self.rule, size, dims, axis),
            self.name,
        )


def _batched_rule(rule: Flat, size: int, dims: Sequence[int | None], axis: Any) -> Flat:
    """A JVP rule of batches; float0 tangents stay as they are."""

    def run(*args: Any) -> list[Any]:
        n = len(dims)
        all_dims = [
            None if getattr(x, "dtype", None) == float0 else d
            for x, d in zip(args, (*dims, *dims), strict=True)
        ]
        examples = [
            _float0_example(x, d) if getattr(x, "dtype", None) == float0 else x
            for x, d in zip(args, (*dims, *dims), strict=True)
        ]
        assert len(args) == 2 * n
        axis_name, spmd_axis_name = axis
        found, out_dims = vmap_flat(rule, size, examples, all_dims, axis_name, spmd_axis_name)
        return [
            x if getattr(x, "dtype", None) == float0 else place_batch(x, d, size, 0)
            for x, d in zip(found, out_dims, strict=True)
        ]

    return run


def _float0_example(x: Any, dim: int | None) -> Any:
    if dim is None:
        return x
    return np.zeros(x.shape[:dim] + x.shape[dim + 1 :], float0)


def _given_tangent(x: Any, d: Any) -> Any:
    t = type_of(x)
    return instantiate(d, t) if t.inexact else np.zeros(t.shape, float0)


class VjpRule(CustomRule):
    """A function with a reverse-mode rule.

    Attributes:
        forward: arguments -> (results, residuals).
        backward: (residuals, cotangents) -> one cotangent or None an argument.
    """

    def __init__(
        self,
        function: Flat,
        forward: Callable[..., tuple[list[Any], list[Any]]],
        backward: Callable[[list[Any], list[Any]], list[Any]],
        name: str,
    ):
        super().__init__(function, name)
        self.forward, self.backward = forward, backward

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], linearizing: bool
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        outs, residuals = self.forward(*primals)
        types = [type_of(x) for x in primals]
        given = [instantiate(d, t) for d, t in zip(tangents, types, strict=True) if t.inexact]
        out_types = tuple(type_of(x) for x in outs)
        op = VjpTangent(self.backward, tuple(types), out_types, len(residuals), self.name)
        found = iter(apply(op, *residuals, *given))
        return outs, [next(found) if t.inexact else None for t in out_types]

    def batched(self, size: int, dims: Sequence[int | None], axis: Any) -> VjpRule:
        backward = batched_backward(self.backward, size, dims, axis)

        def forward(*args: Any) -> tuple[list[Any], list[Any]]:
            n_outs: list[int] = []

            def flat(*xs: Any) -> list[Any]:
                outs, residuals = self.forward(*xs)
                n_outs.append(len(outs))
                return [*outs, *residuals]

            found = list(batched_flat(flat, size, dims, axis)(*args))
            return found[: n_outs[0]], found[n_outs[0] :]

        function = batched_flat(self.function, size, dims, axis)
        return VjpRule(function, forward, backward, self.name)


def batched_backward(
    backward: Callable[..., list[Any]], size: int, dims: Sequence[int | None], axis: Any
) -> Callable[..., list[Any]]:
    """`backward` for batches: residuals and cotangents have the batch axis in front."""
    axis_name, spmd_axis_name = axis

    def run(residuals: list[Any], cts: list[Any]) -> list[Any]:
        n = len(residuals)
        active: list[bool] = []

        def flat(*xs: Any) -> list[Any]:
            found = backward(list(xs[:n]), list(xs[n:]))
            active[:] = [c is not None for c in found]
            return [c for c in found if c is not None]

        plain = [getattr(c, "dtype", None) == float0 for c in cts]
        given = [np.zeros(c.shape[1:], float0) if p else c for c, p in zip(cts, plain, strict=True)]
        in_dims = [0] * n + [None if p else 0 for p in plain]
        found, out_dims = vmap_flat(
            flat, size, [*residuals, *given], in_dims, axis_name, spmd_axis_name
        )
        pairs = iter(zip(found, out_dims, strict=True))
        results: list[Any] = []
        for is_active, dim in zip(active, dims, strict=True):
            if not is_active:
                results.append(None)
                continue
            x, d = next(pairs)
            if getattr(x, "dtype", None) == float0:
                results.append(None)
            elif dim is None:
                x = place_batch(x, d, size, 0)
                results.append(apply(ReduceSum.of((0,)), x))
            else:
                results.append(place_batch(x, d, size, dim))
        return results

    return run


class VjpTangent(Op):
    """The tangent of a function that only has a reverse-mode rule: it can only be transposed."""

    name = "custom_vjp_tangent"
    multi = True
    memoise_type = False
    backward: Callable[[list[Any], list[Any]], list[Any]]
    arg_types: tuple[ArrayType, ...]
    result_types: tuple[ArrayType, ...]
    n_residuals: int
    function_name: str

    def physical(self, *types: ArrayType) -> Op:
        return self

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return [tangent_type(t) for t in self.result_types if t.inexact]

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        n = self.n_residuals
        found = iter(ct)
        cts = [
            instantiate(next(found), t) if t.inexact else np.zeros(t.shape, float0)
            for t in self.result_types
        ]
        in_cts = self.backward(list(inputs[:n]), cts)
        wanted = [c for c, t in zip(in_cts, self.arg_types, strict=True) if t.inexact]
        return [None] * n + [
            c if type(x) is Linear else None for c, x in zip(wanted, inputs[n:], strict=True)
        ]

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        n = self.n_residuals
        residuals = [place_batch(x, d, size, 0) for x, d in zip(args[:n], dims[:n], strict=True)]
        tangents = [place_batch(x, d, size, 0) for x, d in zip(args[n:], dims[n:], strict=True)]
        wide = [_batched(t, size) for t in self.arg_types]
        backward = batched_backward(self.backward, size, [0] * len(wide), (None, None))
        op = VjpTangent(
            backward,
            tuple(wide),
            tuple(_batched(t, size) for t in self.result_types),
            n,
            self.function_name,
        )
        found = apply(op, *residuals, *tangents)
        return found, [0] * len(found)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        raise self._forward_mode()

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        raise self._forward_mode()

    def _forward_mode(self) -> errors.GradError:
        return errors.GradError(
            errors.explain(
                f"jvp of {self.function_name}",
                "forward mode was asked of a function with a custom_vjp rule only",
                try_="use reverse mode (nl.grad, nl.vjp, nl.jacrev), or define it with custom_jvp",
            )
        )


def _batched(t: ArrayType, size: int) -> ArrayType:
    return t.update(shape=(size, *t.shape), sharding=None)


class CustomCall(HigherOrder):
    """A staged call of a function with its own derivative rule."""

    name = "custom_call"
    graph: Graph
    rule: CustomRule
    n_captured: int

    def __init__(self, graph: Graph, rule: CustomRule, n_captured: int):
        super().__init__(graph, rule, n_captured)
        self.effects, self.axis_names = graph.effects, graph.axis_names

    def __repr__(self) -> str:
        return f"custom_call[{self.rule.name}]"

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return self.graph.out_types

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self._differentiate(primals, tangents, False)

    def linearize(  # type: ignore[override]
        self, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, Any]:
        """By the rule, too."""
        return self._differentiate(primals, tangents, True)

    def _differentiate(
        self, primals: Sequence[Any], tangents: Sequence[Any], linearizing: bool
    ) -> tuple[Any, Any]:
        n = self.n_captured
        if any(d is not None for d in tangents[:n]):
            raise errors.GradError(
                errors.explain(
                    self.rule.name,
                    "a function with a custom derivative closes over a value that is being "
                    "differentiated",
                    try_="pass that value as an argument",
                )
            )
        return self.rule.jvp(primals[n:], tangents[n:], linearizing)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        linear = tuple(type(x) is Linear for x in inputs)
        graph, active = transpose_graph(self.graph, linear, tuple(c is not None for c in ct))
        known = [x for x in inputs if type(x) is not Linear]
        found = iter(apply(call_of(graph), *known, *(c for c in ct if c is not None)))
        is_active = iter(active)
        return [next(found) if a and next(is_active) else None for a in linear]

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        n = self.n_captured
        forced = (True,) * len(self.graph.outputs)
        graph, _ = vmap_graph(self.graph, size, tuple(dims), forced, axis)
        rule = self.rule.batched(size, dims[n:], axis or (None, None))
        found = apply(CustomCall(graph, rule, n), *args)
        return found, [0] * len(found)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        return ctx.inline(self.graph, operands)
