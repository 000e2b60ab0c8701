"""Graphs that the backward pass of a loop is made of.

The loop is s' = F(consts, s). Its backward pass carries a, the cotangents of consts and state, by
a = B(consts, s, a), from the last state to the first; B is linear in a. What is differentiated once
more has the same form again, with larger states: these functions make the larger F and B.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.graph import Graph
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType, array_type
from ..structural.arith import add, select
from ..structural.constant import closed
from ..structural.shape import full
from ..transforms.jvp import instantiate, tangent_type
from ..transforms.linearize import LinearizedGraph, linearize_graph
from ..transforms.simplify import drop_unused, pruned_graph
from ..transforms.transpose import transpose_graph
from .call import guarded, open_ended
from .compare import lt
from .elementwise_misc import stop_gradient

INDEX = array_type((), np.dtype(np.int32))
Flags = tuple[bool, ...]


def chosen(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """Values whose flag is set."""
    return [x for x, a in zip(values, flags, strict=True) if a]


def tangent_types(types: Sequence[ArrayType], flags: Sequence[bool]) -> list[ArrayType]:
    """Types of the tangents that are there."""
    return [tangent_type(t) for t in chosen(types, flags)]


def run_graph(graph: Graph, args: Sequence[Any]) -> list[Any]:
    """Apply a graph under the current interpreter."""
    return graph.run(current.get().apply, args)


def traced(
    run: Callable[..., Sequence[Any]], types: Sequence[ArrayType], name: str, label: str = "grad"
) -> Graph:
    """Trace a function that captures nothing but arrays."""
    made, captured = trace_to_graph(run, types, label=label, name=name)
    return closed(made, captured)


class LinearStep:
    """A step F of a loop, linearised in some consts and states.

    Attributes:
        consts, state: which of them have a tangent; a state that gets one from others has one.
        forward: F itself, as the derivative computes it.
    """

    def __init__(self, step: Graph, consts: Flags, state: Flags):
        while True:
            split = linearize_graph(step, (*consts, *state), state)
            grown = tuple([a or b for a, b in zip(state, split.out_active, strict=True)])
            if grown == state:
                break
            state = grown
        self.consts, self.state, self.split = consts, state, split
        n, primal = len(step.outputs), split.primal
        outs = primal.outputs[:n]
        self.forward = Graph(
            primal.inputs, drop_unused([*primal.equations], [*outs]), outs, step.name
        )

    @classmethod
    def of(cls, step: Graph, consts: Flags, state: Flags) -> LinearStep:
        """The linearised step, kept with the graph."""
        return step.cached(("linear step", consts, state), lambda: cls(step, consts, state))

    def tangents(self, n_consts: int) -> Graph:
        """(consts, d consts, state, d state) -> (state, d state)."""
        split, n_dc = self.split, sum(self.consts)
        types = self.forward.in_types
        d_types = tangent_types(types, (*self.consts, *self.state))
        k = len(types) - n_consts

        def run(*args: Any) -> list[Any]:
            consts, rest = args[:n_consts], args[n_consts:]
            d_consts, rest = rest[:n_dc], rest[n_dc:]
            state, d_state = rest[:k], rest[k:]
            given = [*consts, *state]
            found = run_graph(split.primal, given)
            residuals = split.residuals(given, found[k:])
            return [*found[:k], *run_graph(split.tangent, [*residuals, *d_consts, *d_state])]

        ins = [*types[:n_consts], *d_types[:n_dc], *types[n_consts:], *d_types[n_dc:]]
        return self.forward.cached(
            ("loop tangents", n_consts, self.consts, self.state),
            lambda: traced(run, ins, self.forward.name, "jvp"),
        )


class Residuals:
    """What the tangent graph of a split needs, from the inputs alone."""

    def __init__(self, split: LinearizedGraph, n_outputs: int):
        primal = split.primal
        self.split = split
        wanted = tuple([i >= n_outputs for i in range(len(primal.outputs))])
        self.graph, self.ins = pruned_graph(primal, wanted)

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        extra = run_graph(self.graph, [inputs[i] for i in self.ins])
        return self.split.residuals(inputs, extra)


class Transposed:
    """The transposed tangent graph of a split; all its tangent inputs get a cotangent or None."""

    def __init__(self, split: LinearizedGraph, n_tangents: int, cts: Flags | None = None):
        n = len(split.residual_inputs)
        linear = (*[False] * n, *[True] * n_tangents)
        active = (True,) * len(split.tangent.outputs) if cts is None else cts
        self.graph, self.found = transpose_graph(split.tangent, linear, active)

    def __call__(self, residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        found = iter(run_graph(self.graph, [*residuals, *cts]))
        return [next(found) if a else None for a in self.found]


def _plus(a: Any, b: Any) -> Any:
    return a if b is None else apply(add, a, b)


class BackwardStep:
    """B of a loop: (consts, state, a) -> a; a holds cotangents of consts and states.

    Attributes:
        graph: B.
        consts, state: which of the active consts and states get a cotangent; only these are in a.
    """

    def __init__(self, linear: LinearStep, n_consts: int, state: Flags):
        split, types = linear.split, linear.forward.in_types
        n, k, n_a = len(types), len(types) - n_consts, sum(linear.consts)
        while True:
            back = Transposed(split, n_a + sum(linear.state), state)
            grown = tuple([a or b for a, b in zip(state, back.found[n_a:], strict=True)])
            if grown == state:
                break
            state = grown
        self.consts, self.state = back.found[:n_a], state
        residuals = Residuals(split, k)
        all_types = tangent_types(types, (*linear.consts, *linear.state))
        a_types = chosen(all_types, (*self.consts, *state))
        n_sums = sum(self.consts)

        def run(*args: Any) -> list[Any]:
            sums, cts = args[n : n + n_sums], args[n + n_sums :]
            found = back(residuals(args[:n]), cts)
            kept = chosen(found, (*self.consts, *state))
            return [
                *(_plus(x, c) for x, c in zip(sums, kept[:n_sums], strict=True)),
                *(instantiate(c, t) for c, t in zip(kept[n_sums:], a_types[n_sums:], strict=True)),
            ]

        self.graph = traced(run, [*types, *a_types], linear.forward.name, "transpose")

    @classmethod
    def of(cls, linear: LinearStep, n_consts: int, state: Flags) -> BackwardStep:
        """B for cotangents of these active states, kept with the forward graph."""
        key = ("backward step", n_consts, linear.consts, linear.state, state)
        return linear.forward.cached(key, lambda: cls(linear, n_consts, state))


def adjoint_step(forward: Graph, backward: Graph) -> Graph:
    """(consts, state, b) -> (state, b): b goes through the transposed B, first step to last.

    B is linear in a, so its derivative in a may be taken at any a, here at zero.
    """

    def make() -> Graph:
        types, a_types = forward.in_types, backward.out_types
        n, m = len(types), len(a_types)
        active = (*[False] * n, *[True] * m)
        split = linearize_graph(backward, active, (True,) * m)
        residuals, back = Residuals(split, m), Transposed(split, m)
        needs_a = any(i >= n for i in residuals.ins) or any(
            i is not None and i >= n for i in split.residual_inputs
        )

        def run(*args: Any) -> list[Any]:
            values, b = args[:n], args[n:]
            zeros = [full(t) for t in a_types] if needs_a else [None] * m
            found = back(residuals([*values, *zeros]), b)
            new = [instantiate(c, t) for c, t in zip(found, a_types, strict=True)]
            return [*run_graph(forward, values), *new]

        return traced(run, [*types, *a_types], forward.name, "transpose")

    return backward.cached(("adjoint step", forward), make)


def second_backward(
    forward: Graph, backward: Graph, n_consts: int, consts: Flags, state: Flags
) -> Graph:
    """B of the loop that `adjoint_step` makes: (consts, (state, b), (a, c)) -> (a, c).

    c holds the cotangents of the consts and states in which forward and backward are
    differentiated; `state` must be closed (see `LinearStep`).
    """

    def make() -> Graph:
        types, a_types = forward.in_types, backward.out_types
        n, m, k = len(types), len(a_types), len(types) - n_consts
        active = (*consts, *state)
        c_types, n_c = tangent_types(types, active), sum(consts)
        one = linearize_graph(forward, active, state)
        one_residuals, one_back = Residuals(one, k), Transposed(one, len(c_types))
        two = linearize_graph(backward, (*active, *[False] * m))
        two_back = Transposed(two, len(c_types))

        def run(*args: Any) -> list[Any]:
            values, b = args[:n], args[n : n + m]
            a, sums, cts = args[n + m : n + 2 * m], args[n + 2 * m :], args[n + 2 * m + n_c :]
            inputs = [*values, *a]
            found = run_graph(two.primal, inputs)
            by_b = two_back(two.residuals(inputs, found[m:]), chosen(b, two.out_active))
            by_f = one_back(one_residuals(values), cts)
            new: list[Any] = []
            for i, t in enumerate(c_types):
                base = sums[i] if i < n_c else None
                parts = [x for x in (base, by_f[i], by_b[i]) if x is not None]
                total = parts[0] if parts else full(t)
                for x in parts[1:]:
                    total = apply(add, total, x)
                new.append(total)
            return [*found[:m], *new]

        ins = [*types, *a_types, *a_types, *c_types]
        return traced(run, ins, forward.name, "transpose")

    return backward.cached(("second backward", forward, n_consts, consts, state), make)


# ---- lanes that stop at different steps ----------------------------------------------------------


def _held(active: Any, values: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    return [apply(select, active, y, x) for x, y in zip(values, others, strict=True)]


def lane_types(step: Graph, n_consts: int) -> list[ArrayType]:
    """Types of (consts, steps of the lane, safe state, step, state)."""
    types = step.in_types
    state = types[n_consts:]
    return [*types[:n_consts], INDEX, *state, INDEX, *state]


def _open(args: Sequence[Any], n_consts: int, k: int) -> tuple[Any, Any, Any, Any, Any]:
    """consts, whether the lane takes this step, the state it is computed at, step, state.

    A lane that has stopped computes a step of its safe state and drops the result: at its last
    state the step may have no finite derivative, and 0 * inf is NaN.
    """
    consts, count = args[:n_consts], args[n_consts]
    safe = args[n_consts + 1 : n_consts + 1 + k]
    step, state = args[n_consts + 1 + k], args[n_consts + 2 + k : n_consts + 2 + 2 * k]
    active = apply(lt, step, count)
    safe = [apply(stop_gradient, x) if type_of(x).inexact else x for x in safe]
    return consts, active, _held(active, state, safe), step, state


def _guarded_run(graph: Graph, on: Any, args: Sequence[Any]) -> list[Any]:
    """Loops inside take no step where `on` is False: they might not end."""
    if open_ended(graph):
        return run_graph(guarded(graph), [on, *args])
    return run_graph(graph, args)


def lane_forward(step: Graph, n_consts: int) -> Graph:
    """A step of a lane that takes part in its first `count` steps only."""
    k = len(step.outputs)

    def run(*args: Any) -> list[Any]:
        consts, active, held, i, state = _open(args, n_consts, k)
        new = _guarded_run(step, active, [*consts, *held])
        return [apply(add, i, np.int32(1)), *_held(active, new, state)]

    return step.cached(
        ("lane forward", n_consts),
        lambda: traced(run, lane_types(step, n_consts), step.name, "vmap"),
    )


def lane_backward(forward: Graph, backward: Graph, n_consts: int) -> Graph:
    """B of `lane_forward`."""
    k = len(forward.outputs)
    n = n_consts + 2 + 2 * k

    def run(*args: Any) -> list[Any]:
        consts, active, held, _, _ = _open(args, n_consts, k)
        a = args[n:]
        return _held(active, _guarded_run(backward, active, [*consts, *held, *a]), a)

    types = [*lane_types(forward, n_consts), *backward.out_types]
    return backward.cached(
        ("lane backward", n_consts), lambda: traced(run, types, backward.name, "vmap")
    )


__all__ = [
    "BackwardStep",
    "INDEX",
    "LinearStep",
    "adjoint_step",
    "chosen",
    "lane_backward",
    "lane_forward",
    "run_graph",
    "second_backward",
    "tangent_types",
    "traced",
]
