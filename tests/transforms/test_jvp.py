"""Forward mode: interpreters, zero tangents, derivatives of graphs."""

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
from numlift.structural.arith import Convert, add, mul, neg
from numlift.transforms.jvp import Jvp, instantiate, jvp_flat, jvp_graph, tangent_type

VECTOR = array_type((3,), "float32")


def test_values_travel_with_their_tangents() -> None:
    outs, tangents = jvp_flat(lambda x, y: [apply(mul, x, y)], [3.0, 4.0], [1.0, 10.0])
    assert [float(x) for x in (*outs, *tangents)] == [12.0, 34.0]


def test_zero_tangents_are_none_and_stay_none() -> None:
    outs, tangents = jvp_flat(
        lambda x, y: [apply(neg, y), apply(neg, x), 1.0], [1.0, 2.0], [1.0, None]
    )
    assert tangents[0] is None and tangents[2] is None
    assert float(tangents[1]) == -1.0
    assert float(outs[0]) == -2.0


def test_an_interpreter_is_dead_after_its_run() -> None:
    kept = []
    jvp_flat(lambda x: [kept.append(x) or x], [1.0], [1.0])
    with pytest.raises(errors.UnexpectedTracerError, match="jvp"):
        apply(neg, kept[0])


def test_values_of_another_level_pass_through() -> None:
    def outer(x):
        def inner(y):
            assert isinstance(y.owner, Jvp)
            return [apply(mul, x, y)]

        return jvp_flat(inner, [2.0], [1.0])[1]

    outs, tangents = jvp_flat(outer, [5.0], [1.0])
    assert float(outs[0]) == 5.0
    assert float(tangents[0]) == 1.0


def test_instantiate_makes_zeros() -> None:
    made = instantiate(None, VECTOR.update(weak_type=True))
    numpy.testing.assert_array_equal(made, numpy.zeros(3))
    assert made.type is VECTOR
    assert instantiate(made, VECTOR) is made


def test_tangent_types_are_not_weak() -> None:
    assert tangent_type(array_type((), "float32", True)) is array_type((), "float32")
    assert tangent_type(VECTOR) is VECTOR


def multiply_and_negate(x, y):
    return [apply(mul, x, y), apply(neg, y)]


def test_graph_with_tangents_of_the_active_inputs() -> None:
    graph, _ = trace_to_graph(multiply_and_negate, [VECTOR, VECTOR])
    made, out_active = jvp_graph(graph, (True, False))
    assert out_active == (True, False)
    assert len(made.inputs) == 3 and len(made.outputs) == 3
    verify(made)
    assert jvp_graph(graph, (True, False))[0] is made
    x, y, dx = (numpy.full(3, v, numpy.float32) for v in (2, 3, 5))
    outs = made.run(EVAL.apply, [x, y, dx])
    numpy.testing.assert_array_equal(outs[2], numpy.full(3, 15))


def test_graph_with_tangents_made_on_demand() -> None:
    graph, _ = trace_to_graph(multiply_and_negate, [VECTOR, VECTOR])
    made, out_active = jvp_graph(graph, (True, False), True)
    assert out_active == (True, True)
    x = numpy.ones(3, numpy.float32)
    numpy.testing.assert_array_equal(made.run(EVAL.apply, [x, x, x])[3], numpy.zeros(3))
    integers, _ = trace_to_graph(lambda x: [apply(Convert.of(numpy.dtype("int32")), x)], [VECTOR])
    assert jvp_graph(integers, (True,), True)[1] == (False,)


def test_integer_results_have_no_tangent() -> None:
    _, tangents = jvp_flat(
        lambda x: [apply(Convert.of(numpy.dtype("int32")), x)], [numpy.float32(3)], [1.0]
    )
    assert tangents == [None]


def test_jvp_of_fan_out_adds_nothing_twice() -> None:
    graph, _ = trace_to_graph(lambda x: [apply(add, x, x)], [VECTOR])
    made, _ = jvp_graph(graph, (True,))
    assert [eq.op for eq in made.equations] == [add, add]


def test_python_control_flow_under_jvp() -> None:
    def f(x):
        total = 0.0
        while x > 1.0:
            total, x = total + x, x / 2
        return total

    y, dy = nl.jvp(f, (8.0,), (1.0,))
    assert (float(y), float(dy)) == (14.0, 1.75)


def test_jvp_of_loops_whose_length_depends_on_values() -> None:
    def f(x):
        return lax.while_loop(lambda c: c[0] < 100.0, lambda c: (c[0] * c[1], c[1]), (1.0, x))[0]

    y, dy = nl.jit(lambda x: nl.jvp(f, (x,), (1.0,)))(3.0)
    assert (float(y), float(dy)) == (243.0, 405.0)


def test_perturbation_confusion() -> None:
    def inner(x):
        return nl.jvp(lambda y: x + y, (1.0,), (1.0,))[1]

    assert float(nl.jvp(lambda x: x * inner(x), (1.0,), (1.0,))[1]) == 1.0


def test_three_levels() -> None:
    def d(f):
        return lambda x: nl.jvp(f, (x,), (1.0,))[1]

    assert float(d(d(d(np.sin)))(0.0)) == -1.0
    assert float(d(d(d(lambda x: x**4)))(2.0)) == 48.0
