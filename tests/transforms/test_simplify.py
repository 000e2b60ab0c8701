"""Simplification: unused equations go, equal ones are merged, meaning stays."""

from __future__ import annotations

import numpy

import numlift as nl
import numlift.numpy as np
from numlift import lax
from numlift.core.graph import Equation, Graph, Var
from numlift.core.op import Op
from numlift.core.staging import trace_to_graph
from numlift.core.tracing import EVAL, apply
from numlift.core.types import ArrayType, array_type
from numlift.core.verify import verify
from numlift.structural.arith import add, mul, neg
from numlift.transforms.simplify import simplify

VECTOR = array_type((3,), "float32")


class Loud(Op):
    """An operation that must neither be dropped nor merged."""

    effects = frozenset({"io"})

    def out_type(self, *types: ArrayType) -> ArrayType:
        return types[0]


def ops_of(graph: Graph) -> list[Op]:
    return [eq.op for eq in graph.equations]


def test_unused_equations_are_dropped() -> None:
    def f(x):
        unused = apply(neg, apply(mul, x, x))
        assert unused is not None
        return [apply(add, x, x)]

    graph, _ = trace_to_graph(f, [VECTOR])
    assert ops_of(simplify(graph)) == [add]
    assert len(graph.equations) == 3


def test_equal_equations_are_merged() -> None:
    def f(x, y):
        a, b = apply(mul, x, y), apply(mul, x, y)
        return [apply(add, apply(neg, a), apply(neg, b)), b]

    graph, _ = trace_to_graph(f, [VECTOR, VECTOR])
    simple = simplify(graph)
    verify(simple)
    assert ops_of(simple) == [mul, neg, add]
    x = numpy.asarray([1, 2, 3], numpy.float32)
    for a, b in zip(simple.run(EVAL.apply, [x, x]), graph.run(EVAL.apply, [x, x]), strict=True):
        numpy.testing.assert_array_equal(a, b)


def test_order_of_operands_matters() -> None:
    graph, _ = trace_to_graph(lambda x, y: [apply(mul, x, y), apply(mul, y, x)], [VECTOR, VECTOR])
    assert len(simplify(graph).equations) == 2


def test_merging_can_be_switched_off() -> None:
    graph, _ = trace_to_graph(lambda x: [apply(neg, x), apply(neg, x)], [VECTOR])
    assert len(simplify(graph, cse=False).equations) == 2
    assert len(simplify(graph).equations) == 1


def test_zeros_of_both_signs_are_different_and_nan_is_itself() -> None:
    graph, _ = trace_to_graph(
        lambda x: [apply(mul, x, v) for v in (0.0, -0.0, float("nan"), float("nan"))], [VECTOR]
    )
    assert len(simplify(graph).equations) == 3


def test_literals_of_different_types_are_different() -> None:
    graph, _ = trace_to_graph(
        lambda x: [apply(mul, x, v) for v in (2.0, numpy.float32(2.0), 2.0)], [VECTOR]
    )
    assert len(simplify(graph).equations) == 2


def test_effects_stay_in_number_and_order() -> None:
    x, a, b = Var(VECTOR), Var(VECTOR), Var(VECTOR)
    graph = Graph([x], [Equation(Loud.of(), [x], [a]), Equation(Loud.of(), [x], [b])], [x])
    assert len(simplify(graph).equations) == 2


def test_inputs_and_outputs_stay() -> None:
    graph, _ = trace_to_graph(lambda x, y: [y, 1.0, y], [VECTOR, VECTOR])
    simple = simplify(graph)
    assert simple.inputs == graph.inputs and simple.outputs == graph.outputs
    assert simplify(graph) is simple


def test_the_calls_of_one_jitted_function_are_merged() -> None:
    f = nl.jit(lambda x: np.sin(np.cos(x)) * np.exp(x))
    graph = nl.make_jaxpr(lambda x: f(x) + f(x))(1.0)
    assert sum(eq.op.name == "call" for eq in simplify(graph).equations) == 1


def test_the_value_computed_only_for_the_gradient_is_dropped() -> None:
    graph = nl.make_jaxpr(nl.grad(lambda x: np.sum(np.sin(x))))(np.ones(3))
    names = [eq.op.name for eq in simplify(graph).equations]
    assert "sin" not in names and "cos" in names


def test_random_programs_keep_their_meaning() -> None:
    generator = numpy.random.default_rng(0)
    binary = [lax.add, lax.mul, lax.sub, lax.max]
    for _ in range(10):
        plan = [
            (binary[generator.integers(4)], *generator.integers(0, 3 + i, size=2))
            for i in range(12)
        ]

        def f(*xs, plan=plan):
            values = list(xs)
            for op, i, j in plan:
                values.append(op(values[i], values[j]))
            return values[-2:]

        args = [generator.normal(size=3).astype(numpy.float32) for _ in range(3)]
        graph = nl.make_jaxpr(f)(*args)
        simple = simplify(graph)
        verify(simple)
        for a, b in zip(simple.run(EVAL.apply, args), f(*args), strict=True):
            numpy.testing.assert_allclose(a, b, rtol=1e-6)
