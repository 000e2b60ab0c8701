"""Readable text of graphs."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax
from numlift.core.graph import Graph, Literal, Var
from numlift.core.printing import Names, atom_text, graph_text
from numlift.core.types import array_type


def test_names_go_on_after_z() -> None:
    names = Names()
    texts = [names[Var(array_type((), "float32"))] for _ in range(26 * 27 + 1)]
    assert texts[:3] == ["a", "b", "c"]
    assert texts[25:28] == ["z", "aa", "ab"]
    assert texts[701:703] == ["zz", "aaa"]
    assert len(set(texts)) == len(texts)


def test_a_variable_keeps_its_name() -> None:
    names, x = Names(), Var(array_type((), "float32"))
    assert names[x] == names[x] == "a"


def test_a_small_graph() -> None:
    graph = nl.make_jaxpr(lambda x: np.sin(x) * x)(numpy.ones(3, numpy.float32))
    assert graph_text(graph) == (
        "{ lambda a:float32[3]. let\n"
        "    b:float32[3] = sin a\n"
        "    c:float32[3] = mul b a\n"
        "  in (c,) }"
    )
    assert str(graph) == graph_text(graph)


def test_an_empty_graph() -> None:
    assert graph_text(Graph([], [], [])) == "{ lambda . let\n  in () }"


@pytest.mark.parametrize(
    "value, type_, text",
    [
        (2.0, array_type((), "float32", True), "2.0:~float32[]"),
        (3, array_type((), "int8"), "3:int8[]"),
        (True, array_type((), "bool"), "True:bool[]"),
    ],
)
def test_literals_have_their_type(value: object, type_: object, text: str) -> None:
    assert atom_text(Literal(value, type_), Names()) == text


def test_parameters_and_several_outputs() -> None:
    def f(x):
        return lax.reshape(x, (6,)), lax.reduce_sum(x, (0,))

    text = graph_text(nl.make_jaxpr(f)(np.ones((2, 3))))
    assert "(6,)" in text
    assert "in (b, c) }" in text


def test_inner_graphs_are_indented() -> None:
    text = graph_text(nl.make_jaxpr(nl.jit(lambda x: np.sin(np.cos(x)) + 1.0))(1.0))
    lines = text.splitlines()
    inner = next(line for line in lines if "= cos" in line)
    outer = next(line for line in lines if "call" in line)
    assert len(inner) - len(inner.lstrip()) > len(outer) - len(outer.lstrip())
