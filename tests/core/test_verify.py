"""The verifier finds each way in which a graph can be malformed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax
from numlift.core.graph import Equation, Graph, Literal, Var
from numlift.core.types import array_type
from numlift.core.verify import verify
from numlift.errors import GraphVerifyError
from numlift.ops.call import call_of
from numlift.structural.arith import add, neg

VECTOR = array_type((3,), "float32")


@pytest.fixture(autouse=True)
def _not_by_itself(set_flag: Callable[[str, Any], None]) -> None:
    set_flag("enable_checks", False)  # else graphs are verified when they are made


OTHER = array_type((4,), "float32")


def test_a_good_graph_passes() -> None:
    def f(x):
        return lax.fori_loop(0, 3, lambda i, c: lax.cond(c > 0, np.sin, np.cos, c), x)

    verify(nl.make_jaxpr(nl.jit(f))(1.0))
    verify(nl.make_jaxpr(nl.vmap(nl.jit(f)))(np.ones(3)))


def test_a_variable_that_is_not_defined() -> None:
    x, y = Var(VECTOR), Var(VECTOR)
    with pytest.raises(GraphVerifyError, match=r"undefined variable in a:float32\[3\] = neg b"):
        verify(Graph([], [Equation(neg, [x], [y])], [y]))


def test_equations_out_of_order() -> None:
    x, y, z = Var(VECTOR), Var(VECTOR), Var(VECTOR)
    equations = [Equation(neg, [y], [z]), Equation(neg, [x], [y])]
    with pytest.raises(GraphVerifyError, match="undefined"):
        verify(Graph([x], equations, [z]))


def test_a_variable_that_is_defined_twice() -> None:
    x, y = Var(VECTOR), Var(VECTOR)
    with pytest.raises(GraphVerifyError, match=r"defined twice \(neg\)"):
        verify(Graph([x], [Equation(neg, [x], [y]), Equation(neg, [x], [y])], [y]))
    with pytest.raises(GraphVerifyError, match=r"defined twice \(input\)"):
        verify(Graph([x, x], [], [x]))


def test_a_result_of_the_wrong_type() -> None:
    x, y = Var(VECTOR), Var(OTHER)
    with pytest.raises(GraphVerifyError, match=r"types should be \[float32\[3\]\]"):
        verify(Graph([x], [Equation(neg, [x], [y])], [y]))


def test_an_output_that_is_not_defined() -> None:
    with pytest.raises(GraphVerifyError, match="an output is not defined"):
        verify(Graph([], [], [Var(VECTOR)]))


def test_literals_are_always_defined() -> None:
    one, y = Literal(1.0, array_type((), "float32", True)), Var(VECTOR)
    x = Var(VECTOR)
    verify(Graph([x], [Equation(add, [x, one], [y])], [y, one]))


def test_graphs_inside_operations_are_verified() -> None:
    x, y = Var(VECTOR), Var(VECTOR)
    bad = Graph([x], [Equation(neg, [Var(VECTOR)], [y])], [y], "inner")
    a, b = Var(VECTOR), Var(VECTOR)
    with pytest.raises(GraphVerifyError, match="graph inner"):
        verify(Graph([a], [Equation(call_of(bad), [a], [b])], [b]))


def test_the_message_shows_the_graph() -> None:
    x, y = Var(VECTOR), Var(OTHER)
    with pytest.raises(GraphVerifyError) as caught:
        verify(Graph([x], [Equation(neg, [x], [y])], [y], "model"))
    assert "graph model" in str(caught.value)
    assert "b:float32[4] = neg a" in str(caught.value)


def test_graphs_are_verified_when_they_are_made(set_flag: Callable[[str, Any], None]) -> None:
    set_flag("enable_checks", True)
    with pytest.raises(GraphVerifyError, match="not defined"):
        Graph([], [], [Var(VECTOR)])
