"""Graphs: running them, their effects, what is kept with them."""

from __future__ import annotations

import gc
import weakref

import numpy
import pytest

from numlift.core.graph import Equation, Graph, Literal, Var, effects_of
from numlift.core.op import Op
from numlift.core.tracing import EVAL
from numlift.core.types import ArrayType, array_type
from numlift.structural.arith import add, mul

VECTOR = array_type((3,), "float32")


class Noisy(Op):
    """An operation with an effect."""

    effects = frozenset({"noise"})

    def out_type(self, *types: ArrayType) -> ArrayType:
        return types[0]


class Pair(Op):
    """An operation with two results."""

    multi = True

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return [types[0], types[0]]


def square_plus(value: float) -> Graph:
    """x -> x * x + value."""
    x, y, z = Var(VECTOR), Var(VECTOR), Var(VECTOR)
    literal = Literal(value, array_type((), "float32", True))
    return Graph([x], [Equation(mul, [x, x], [y]), Equation(add, [y, literal], [z])], [z, x])


def test_run_computes_the_outputs() -> None:
    x = numpy.asarray([1.0, 2.0, 3.0], numpy.float32)
    z, same = square_plus(1.0).run(EVAL.apply, [x])
    numpy.testing.assert_array_equal(z, x * x + 1)
    assert same is x


def test_run_needs_one_value_an_input() -> None:
    with pytest.raises(ValueError, match="zip"):
        square_plus(1.0).run(EVAL.apply, [])


def test_run_of_an_operation_with_several_results() -> None:
    x, a, b = Var(VECTOR), Var(VECTOR), Var(VECTOR)
    graph = Graph([x], [Equation(Pair.of(), [x], [a, b])], [b, a])
    assert graph.run(lambda op, args: [args[0], -args[0]], [2]) == [-2, 2]


def test_an_output_may_be_a_literal_or_an_input() -> None:
    x = Var(VECTOR)
    literal = Literal(7, array_type((), "int32", True))
    graph = Graph([x], [], [literal, x, literal])
    assert graph.run(EVAL.apply, ["value"]) == [7, "value", 7]
    assert graph.out_types == [literal.type, VECTOR, literal.type]
    assert graph.in_types == [VECTOR]


def test_effects_are_those_of_the_equations() -> None:
    x, y = Var(VECTOR), Var(VECTOR)
    loud = Equation(Noisy.of(), [x], [y])
    assert Graph([x], [loud], [y]).effects == {"noise"}
    assert square_plus(0.0).effects == frozenset()
    assert effects_of([]) == frozenset()


def test_cache_makes_once_and_dies_with_the_graph() -> None:
    graph = square_plus(1.0)
    made = []

    class Kept:
        pass

    def make() -> Kept:
        made.append(1)
        return Kept()

    first = graph.cached("key", make)
    assert graph.cached("key", make) is first
    assert graph.cached(("key", 2), make) is not first
    assert len(made) == 2
    alive = weakref.ref(first)
    del first, graph
    gc.collect()
    assert alive() is None
