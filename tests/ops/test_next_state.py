"""Backward steps take results of the forward step from the next state."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy
import pytest

import numlift as nl
from numlift import lax
from numlift.core.graph import Graph
from numlift.core.staging import trace_to_graph
from numlift.core.tracing import type_of
from numlift.ops.next_state import NextState
from numlift.ops.sweep_graphs import BackwardStep, LinearStep

np = nl.numpy
W = numpy.random.default_rng(0).normal(size=(3, 3)) / 2


def names(graph: Graph) -> list[str]:
    return [eq.op.name for eq in graph.equations]


def shared(step: Any, *state: Any) -> tuple[Graph, Graph, NextState]:
    """F and B of a loop, and what they share."""
    types = [type_of(x) for x in state]
    graph, captured = trace_to_graph(lambda *s: list(step(*s)), types, label="t", name="t")
    n, flags = len(captured), (True,) * len(state)
    linear = LinearStep.of(graph, (False,) * n, flags)
    back = BackwardStep.of(linear, n, flags).graph
    return linear.forward, back, NextState.of(linear.forward, back)


def test_the_derivative_of_tanh_needs_no_product() -> None:
    forward, backward, found = shared(lambda s: [np.tanh(W @ s)], numpy.ones(3))
    assert names(backward).count("dot_general") == 2
    assert names(found.backward).count("dot_general") == 1
    assert "tanh" not in names(found.backward)
    assert found.used == (0,)
    assert found.backward.in_types[-1] == forward.out_types[0]


def test_only_states_that_are_needed_are_taken_and_computed() -> None:
    def step(s: Any, t: Any) -> list[Any]:
        return [np.sin(t), np.exp(np.cos(s) * t)]

    forward, _, found = shared(step, numpy.float64(1), numpy.float64(2))
    assert found.used == (1,)
    assert "sin" in names(forward) and "sin" not in names(found.forward)
    assert "exp" not in names(found.backward)


def test_two_equal_states_count_as_one() -> None:
    _, _, found = shared(lambda s, t: [np.exp(s), np.exp(s)], numpy.float64(1), numpy.float64(1))
    assert found.used == (0,)


def test_nothing_is_shared_where_nothing_is_equal() -> None:
    _, backward, found = shared(lambda s: [s * s + 1.0], numpy.float64(1))
    assert found.used == ()
    assert names(found.backward) == names(backward)
    assert not found.forward.outputs


@pytest.mark.parametrize("n", [0, 1, 2, 9, 30])
@pytest.mark.parametrize("checkpoints", [1, 4, 29])
def test_derivatives_take_no_step_again(n: int, checkpoints: int) -> None:
    counts: Counter[int] = Counter()

    def host(i: Any) -> Any:
        counts[int(i)] += 1
        return numpy.float32(i % 3)

    def body(state: Any) -> Any:
        x, i = state
        c = nl.pure_callback(host, nl.ShapeDtypeStruct((), "float32"), i)
        return np.tanh(x * 1.5 + lax.stop_gradient(c)), i + 1

    def loss(x: Any, n: Any) -> Any:
        start, options = (x, numpy.int32(0)), {"max_steps": 30, "checkpoints": checkpoints}
        return lax.while_loop(lambda s: s[1] < n, body, start, **options)[0]

    x, slope = 0.3, 1.0
    for i in range(n):
        x = numpy.tanh(x * 1.5 + i % 3)
        slope *= 1.5 * (1 - x * x)
    assert float(nl.grad(loss)(0.3, n)) == pytest.approx(slope, rel=1e-3, abs=1e-6)
    if checkpoints == 29:  # every state is kept: only that behind the last step is computed again
        assert [counts[i] for i in range(n)] == [1] * (n - 1) + [2] * min(n, 1)
