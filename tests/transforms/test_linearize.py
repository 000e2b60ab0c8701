"""Linearisation: what is written down, what is kept, and how it is used again."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax
from numlift.core.graph import Graph
from numlift.core.staging import trace_to_graph
from numlift.core.tracing import EVAL, apply
from numlift.core.types import array_type
from numlift.core.verify import verify
from numlift.structural.arith import mul, neg
from numlift.transforms.linearize import linearize_flat, linearize_graph, zeros_atom

VECTOR = array_type((3,), "float32")


def test_primal_values_stay_concrete() -> None:
    seen = []

    def f(x):
        y = apply(mul, x, x)
        seen.append(float(y.concrete()))
        return [y]

    outs, linear = linearize_flat(f, [numpy.float32(3)], [True])
    assert seen == [9.0]
    assert float(outs[0]) == 9.0
    assert float(linear.push_forward([1.0])[0]) == 6.0
    assert float(linear.push_forward([2.0])[0]) == 12.0
    assert float(linear.pull_back([1.0])[0]) == 6.0
    assert float(linear.pull_back([0.5])[0]) == 3.0


def test_only_the_tangent_computation_is_written_down() -> None:
    def f(x, y):
        z = y
        for _ in range(10):
            z = apply(mul, z, y)
        return [apply(mul, x, z)]

    _, linear = linearize_flat(f, [2.0, 3.0], [True, False])
    assert len(linear.equations) == 1


def test_results_that_do_not_depend_on_the_active_inputs() -> None:
    outs, linear = linearize_flat(
        lambda x, y: [apply(neg, y), 1.0, apply(neg, x)], [1.0, 2.0], [True, False]
    )
    assert [a is None for a in linear.outputs] == [True, True, False]
    pushed = linear.push_forward([1.0])
    assert [float(x) for x in pushed] == [0.0, 0.0, -1.0]
    assert linear.pull_back([5.0, 5.0, None]) == [None]
    assert float(linear.pull_back([5.0, 5.0, 2.0])[0]) == -2.0
    assert len(outs) == 3


def test_graph_in_two_parts() -> None:
    graph, _ = trace_to_graph(lambda x, y: [apply(mul, apply(mul, x, x), y), x], [VECTOR, VECTOR])
    parts = linearize_graph(graph, (True, False))
    verify(parts.primal)
    verify(parts.tangent)
    assert linearize_graph(graph, (True, False)) is parts
    assert parts.out_active == (True, True)
    x, y, dx = (numpy.full(3, v, numpy.float32) for v in (2, 3, 1))
    outs = parts.primal.run(EVAL.apply, [x, y])
    residuals = parts.residuals([x, y], outs[2:])
    found = parts.spread_tangents(parts.tangent.run(EVAL.apply, [*residuals, dx]))
    numpy.testing.assert_array_equal(found[0], numpy.full(3, 12))
    numpy.testing.assert_array_equal(found[1], dx)


def test_inputs_are_not_stored_twice_as_residuals() -> None:
    graph, _ = trace_to_graph(lambda x, y: [apply(mul, x, y)], [VECTOR, VECTOR])
    parts = linearize_graph(graph, (True, True))
    assert len(parts.primal.outputs) == 1
    assert sorted(i for i in parts.residual_inputs if i is not None) == [0, 1]


def test_zero_tangents_on_demand() -> None:
    graph, _ = trace_to_graph(lambda x, y: [apply(neg, y)], [VECTOR, VECTOR])
    assert linearize_graph(graph, (True, False)).out_active == (False,)
    parts = linearize_graph(graph, (True, False), (True,))
    assert parts.out_active == (True,)
    verify(parts.tangent)
    out = parts.tangent.run(EVAL.apply, [numpy.ones(3, numpy.float32)])
    numpy.testing.assert_array_equal(out[0], numpy.zeros(3))


def test_zeros_atom_of_a_scalar_and_an_array() -> None:
    for t in (VECTOR, array_type((), "float32")):
        atom, equations = zeros_atom(t)
        graph = Graph([], equations, [atom])
        verify(graph)
        numpy.testing.assert_array_equal(graph.run(EVAL.apply, [])[0], numpy.zeros(t.shape))


def test_the_function_runs_once_and_the_map_many_times() -> None:
    calls = []

    def f(x):
        calls.append(1)
        return np.sin(x) * x

    y, f_jvp = nl.linearize(f, 2.0)
    slopes = [float(f_jvp(float(i))) for i in range(3)]
    assert calls == [1]
    numpy.testing.assert_allclose(y, numpy.sin(2) * 2, rtol=1e-6)
    slope = numpy.cos(2) * 2 + numpy.sin(2)
    numpy.testing.assert_allclose(slopes, [0, slope, 2 * slope], rtol=1e-6)


def test_the_map_can_be_transformed() -> None:
    _, f_jvp = nl.linearize(np.sin, 0.5)
    cos = numpy.cos(0.5)
    numpy.testing.assert_allclose(nl.jit(f_jvp)(1.0), cos, rtol=1e-6)
    numpy.testing.assert_allclose(nl.grad(f_jvp)(3.0), cos, rtol=1e-6)
    numpy.testing.assert_allclose(nl.vmap(f_jvp)(np.arange(3.0)), cos * numpy.arange(3), rtol=1e-6)


def test_linearize_inside_jit_and_grad() -> None:
    def f(x):
        _, f_jvp = nl.linearize(np.sin, x)
        return f_jvp(1.0) * f_jvp(2.0)

    expected = 2 * numpy.cos(0.3) ** 2
    numpy.testing.assert_allclose(nl.jit(f)(0.3), expected, rtol=1e-6)
    slope = -4 * numpy.cos(0.3) * numpy.sin(0.3)
    numpy.testing.assert_allclose(nl.grad(f)(0.3), slope, rtol=1e-6)
    numpy.testing.assert_allclose(nl.jit(nl.grad(f))(0.3), slope, rtol=1e-6)


def test_linearize_through_control_flow() -> None:
    def f(x):
        def step(c, _):
            return lax.cond(c > 1.0, lambda v: v * x, lambda v: v + x, c), c

        return lax.scan(step, 0.0, None, length=4)

    (last, all_), f_jvp = nl.linearize(f, 2.0)
    assert float(last) == 16.0
    d_last, d_all = f_jvp(1.0)
    assert float(d_last) == 32.0
    numpy.testing.assert_array_equal(all_, [0, 2, 4, 8])
    numpy.testing.assert_array_equal(d_all, [0, 1, 4, 12])


def test_linearize_with_auxiliary_data() -> None:
    y, f_jvp, aux = nl.linearize(lambda x: (x * x, {"twice": 2 * x}), 3.0, has_aux=True)
    assert (float(y), float(f_jvp(1.0)), float(aux["twice"])) == (9.0, 6.0, 6.0)


def test_tangents_must_fit() -> None:
    _, f_jvp = nl.linearize(lambda x: x, np.ones(3))
    with pytest.raises(TypeError, match="shape"):
        f_jvp(np.ones(2))
    with pytest.raises(TypeError, match="structure"):
        f_jvp(np.ones(3), np.ones(3))


def _loop(x):
    return lax.while_loop(
        lambda s: s[0] < 2, lambda s: (s[0] + 1, np.sin(s[1])), (0, x), max_steps=3
    )[1]


STRUCTURED = {
    "call": nl.jit(np.sin),
    "scan": lambda x: lax.scan(lambda c, _: (np.sin(c), c * c), x, length=2)[1].sum(),
    "cond": lambda x: lax.cond(x > 0, np.sin, np.cos, x),
    "while": _loop,
    "checkpoint": nl.checkpoint(lambda x: np.sin(np.sin(x))),
    "batch": lambda x: nl.vmap(nl.jit(np.sin))(x * np.arange(3.0)).sum(),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_rules_of_the_user_with_calls_loops_and_branches_inside(name) -> None:
    f = STRUCTURED[name]
    custom = nl.custom_jvp(lambda x: lax.stop_gradient(f(x)))
    custom.defjvp(lambda primals, tangents: nl.jvp(f, primals, tangents))
    whole = nl.custom_jvp(lambda x: lax.stop_gradient(f(x)))
    whole.defjvp(nl.jit(lambda primals, tangents: nl.jvp(f, primals, tangents)))
    nested = nl.custom_jvp(lambda x: lax.stop_gradient(custom(x)))
    nested.defjvp(lambda primals, tangents: nl.jvp(custom, primals, tangents))
    x, slope = 0.3, nl.grad(f)(0.3)
    for g in (custom, nl.jit(whole), nl.checkpoint(nested)):
        numpy.testing.assert_allclose(nl.grad(g)(x), slope, rtol=1e-5)
        y, push = nl.linearize(g, x)
        numpy.testing.assert_allclose(y, f(x), rtol=1e-6)
        numpy.testing.assert_allclose(push(2.0), 2 * slope, rtol=1e-5)
    second = nl.jit(nl.hessian(lambda x: lax.cond(x > 0, nested, np.cos, x)))
    numpy.testing.assert_allclose(second(x), nl.jit(nl.hessian(f))(x), rtol=1e-5)
