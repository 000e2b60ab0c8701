"""Transposition: linear graphs run backwards."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.core.staging import trace_to_graph
from numlift.core.tracing import EVAL, apply
from numlift.core.types import array_type
from numlift.core.verify import verify
from numlift.structural.arith import add, mul, neg
from numlift.structural.shape import ReduceSum
from numlift.transforms.transpose import backward, transpose_graph

VECTOR = array_type((3,), "float32")
ONES = numpy.ones(3, numpy.float32)


def test_cotangents_of_a_fan_out_are_added() -> None:
    graph, _ = trace_to_graph(lambda x: [apply(add, apply(neg, x), x)], [VECTOR])
    (ct,) = backward(graph.equations, {}, graph.outputs, [ONES], graph.inputs)
    numpy.testing.assert_array_equal(ct, numpy.zeros(3))


def test_an_input_that_is_also_an_output() -> None:
    graph, _ = trace_to_graph(lambda x: [x, x, apply(neg, x)], [VECTOR])
    (ct,) = backward(graph.equations, {}, graph.outputs, [ONES, None, 3 * ONES], graph.inputs)
    numpy.testing.assert_array_equal(ct, numpy.full(3, -2))


def test_inputs_without_influence_get_none() -> None:
    graph, _ = trace_to_graph(lambda x, y: [apply(neg, x)], [VECTOR, VECTOR])
    found = backward(graph.equations, {}, graph.outputs, [ONES], graph.inputs)
    assert found[1] is None
    assert backward(graph.equations, {}, graph.outputs, [None], graph.inputs) == [None, None]


def test_graph_of_cotangents() -> None:
    def f(scale, x, y):
        return [apply(mul, scale, x), apply(ReduceSum.of((0,)), apply(mul, y, scale))]

    graph, _ = trace_to_graph(f, [VECTOR, VECTOR, VECTOR])
    linear = (False, True, True)
    made, active = transpose_graph(graph, linear, (True, True))
    verify(made)
    assert active == (True, True)
    assert transpose_graph(graph, linear, (True, True))[0] is made
    scale = numpy.asarray([1, 2, 3], numpy.float32)
    cx, cy = made.run(EVAL.apply, [scale, ONES, numpy.float32(2)])
    numpy.testing.assert_array_equal(cx, scale)
    numpy.testing.assert_array_equal(cy, 2 * scale)
    part, active = transpose_graph(graph, linear, (False, True))
    assert active == (False, True)
    assert len(part.inputs) == 2 and len(part.outputs) == 1


def test_equations_that_are_not_linear_are_computed_first() -> None:
    def f(scale, x):
        return [apply(mul, apply(mul, scale, scale), x)]

    graph, _ = trace_to_graph(f, [VECTOR, VECTOR])
    made, _ = transpose_graph(graph, (False, True), (True,))
    (ct,) = made.run(EVAL.apply, [3 * ONES, ONES])
    numpy.testing.assert_array_equal(ct, 9 * ONES)


def test_no_equation_for_a_zero_cotangent() -> None:
    graph, _ = trace_to_graph(lambda x: [apply(neg, x), apply(mul, x, 2.0)], [VECTOR])
    made, _ = transpose_graph(graph, (True,), (True, False))
    assert [eq.op for eq in made.equations] == [neg]


def test_linear_transpose_twice_is_the_identity() -> None:
    def f(x):
        return np.cumsum(x)[::-1] * 2.0 + np.roll(x, 1)

    _, back = nl.vjp(f, np.arange(4.0))
    _, forth = nl.vjp(lambda c: back(c)[0], np.ones(4))
    x = np.asarray([1.0, -2.0, 3.0, 0.5])
    numpy.testing.assert_allclose(forth(x)[0], f(x), rtol=1e-6)


def test_while_loops_have_no_reverse_mode() -> None:
    def f(x):
        return lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x)

    with pytest.raises(errors.GradError, match=r"(?s)while.*Try:"):
        nl.grad(f)(1.0)
    assert float(nl.jvp(f, (1.0,), (1.0,))[1]) == 16.0


def test_reverse_mode_of_a_loop_of_known_length() -> None:
    def f(x):
        return lax.fori_loop(0, 5, lambda i, c: c * x, 1.0)

    assert float(nl.grad(f)(2.0)) == 80.0
    assert float(nl.grad(nl.grad(f))(2.0)) == 160.0
