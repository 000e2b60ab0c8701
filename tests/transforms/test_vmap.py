"""Batching: where batch axes are, what is not batched, graphs over batches."""

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
from numlift.transforms.vmap import (
    Batch,
    batched_type,
    place_batch,
    unbatched_type,
    vmap_flat,
    vmap_graph,
)

VECTOR = array_type((3,), "float32")
MATRIX = array_type((2, 3), "float32")


def test_types_of_batches_and_examples() -> None:
    assert batched_type(VECTOR, 2) is MATRIX
    assert batched_type(VECTOR, 5, 1) is array_type((3, 5), "float32")
    assert unbatched_type(MATRIX, 0) is VECTOR
    assert unbatched_type(MATRIX, 1) is array_type((2,), "float32")


def test_a_batch_looks_like_one_example() -> None:
    seen = []
    vmap_flat(lambda x, y: [seen.append((x.type, y)) or x], 2, [np.ones((3, 2)), 1.5], [1, None])
    assert seen == [(VECTOR, 1.5)]


def test_operations_without_a_batch_go_to_the_parent() -> None:
    def f(x, y):
        z = apply(neg, y)
        assert type(z) is type(np.ones(1))
        return [x, z]

    outs, dims = vmap_flat(f, 2, [np.ones((2, 3)), np.ones(3)], [0, None])
    assert dims == [0, None]
    numpy.testing.assert_array_equal(outs[1], -numpy.ones(3))


def test_mixed_axes() -> None:
    x, y = (numpy.arange(6, dtype="f4").reshape(s) for s in ((2, 3), (3, 2)))
    outs, dims = vmap_flat(lambda a, b: [apply(add, a, b)], 2, [*map(np.asarray, (x, y))], [0, 1])
    found = place_batch(outs[0], dims[0], 2, 0)
    numpy.testing.assert_array_equal(found, x + y.T)


def test_place_batch() -> None:
    x = np.ones((2, 3))
    assert place_batch(x, 0, 2, None) is x
    assert place_batch(x, None, 5, 0).shape == (5, 2, 3)
    assert place_batch(x, None, 5, 2).shape == (2, 3, 5)
    assert place_batch(x, 0, 2, 1).shape == (3, 2)


def test_a_batch_is_dead_after_its_run() -> None:
    kept = []
    vmap_flat(lambda x: [kept.append(x) or x], 2, [np.ones(2)], [0])
    with pytest.raises(errors.UnexpectedTracerError, match="vmap"):
        apply(neg, kept[0])


def test_graph_over_batches() -> None:
    graph, _ = trace_to_graph(lambda x, y: [apply(mul, x, y), apply(neg, y), x], [VECTOR, VECTOR])
    made, dims = vmap_graph(graph, 2, (0, None))
    verify(made)
    assert dims == (0, None, 0)
    assert made.in_types == [MATRIX, VECTOR]
    assert vmap_graph(graph, 2, (0, None))[0] is made
    forced, dims = vmap_graph(graph, 2, (0, None), (None, True, None))
    assert dims == (0, 0, 0)
    assert forced.out_types[1] is MATRIX
    out = forced.run(EVAL.apply, [numpy.ones((2, 3), "f4"), numpy.arange(3, dtype="f4")])
    numpy.testing.assert_array_equal(out[1], [[0, -1, -2]] * 2)


def test_nested_batches() -> None:
    x, y = numpy.arange(3.0, dtype="f4"), numpy.arange(4.0, dtype="f4")
    inner = nl.vmap(lambda a, b: a * 10 + b, in_axes=(None, 0))
    found = nl.vmap(inner, in_axes=(0, None))(x, y)
    numpy.testing.assert_array_equal(found, x[:, None] * 10 + y)
    outer_last = nl.vmap(inner, in_axes=(0, None), out_axes=-1)(x, y)
    numpy.testing.assert_array_equal(outer_last, (x[:, None] * 10 + y).T)


def test_two_batches_of_different_size_of_one_function() -> None:
    f = nl.jit(lambda a, b: np.sin(a) + b)
    found = nl.vmap(nl.vmap(f, in_axes=(0, None)), in_axes=(None, 0))(
        np.arange(3.0), np.arange(2.0)
    )
    expected = numpy.sin(numpy.arange(3)) + numpy.arange(2)[:, None]
    numpy.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_python_branch_on_a_batch_is_an_error() -> None:
    with pytest.raises(errors.TracerBoolConversionError):
        nl.vmap(lambda x: x if x > 0 else -x)(np.ones(3))


def test_a_python_branch_on_what_is_not_batched_works() -> None:
    found = nl.vmap(lambda x, s: x if s > 0 else -x, in_axes=(0, None))(np.arange(3.0), -1.0)
    numpy.testing.assert_array_equal(found, [0, -1, -2])


def test_conditions_that_are_batched_become_selections() -> None:
    def f(x):
        return lax.cond(x > 0, lambda v: v * 2.0, lambda v: v - 1.0, x)

    numpy.testing.assert_array_equal(nl.vmap(f)(np.asarray([-1.0, 0.0, 3.0])), [-2, -1, 6])


def test_loops_of_different_length() -> None:
    def f(x):
        return lax.while_loop(lambda c: c < 20.0, lambda c: c * 2.0, x)

    numpy.testing.assert_array_equal(nl.vmap(f)(np.asarray([1.0, 5.0, 30.0])), [32, 20, 30])


def test_an_empty_batch() -> None:
    assert nl.vmap(np.sin)(np.zeros((0, 3))).shape == (0, 3)
    assert nl.vmap(nl.grad(np.sin))(np.zeros(0)).shape == (0,)


def test_the_interpreter_knows_its_axis() -> None:
    batch = Batch(EVAL, 4, "i")
    assert batch.axis_sizes == {"i": 4}
    assert batch.describe() == "vmap"
    assert Batch(EVAL, 4).axis_sizes == {}


def test_errors_speak_of_one_example() -> None:
    with pytest.raises(errors.ShapeError) as caught:
        nl.vmap(lambda x: lax.dot_general(x, x, (((1,), (0,)), ((), ()))))(np.ones((5, 4)))
    assert "float32[4]" in str(caught.value)
    assert "float32[5,4]" not in str(caught.value)
    with pytest.raises(errors.ShapeError) as caught:
        nl.vmap(lambda x: lax.add(x, np.ones(3)))(np.ones((5, 4)))
    assert "float32[4]" in str(caught.value)
