"""ravel_pytree: both directions, dtypes, transformations, errors."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.flatten_util import ravel_pytree

TREE = {"w": numpy.arange(6, dtype=numpy.float32).reshape(2, 3), "b": [numpy.float32(7), None]}


def test_there_and_back() -> None:
    vector, unravel = ravel_pytree(TREE)
    numpy.testing.assert_array_equal(vector, [7, 0, 1, 2, 3, 4, 5])
    back = unravel(vector * 2)
    numpy.testing.assert_array_equal(back["w"], 2 * TREE["w"])
    assert back["b"][0].shape == () and back["b"][1] is None


def test_mixed_dtypes_come_back() -> None:
    tree = (True, numpy.int32(3), numpy.asarray([2.5], numpy.float16), numpy.complex64(1j))
    vector, unravel = ravel_pytree(tree)
    assert vector.dtype == numpy.complex64
    back = unravel(vector)
    assert [x.dtype.name for x in back] == ["bool", "int32", "float16", "complex64"]
    assert [x.tolist() for x in back] == [True, 3, [2.5], 1j]
    with pytest.raises(errors.DTypeError, match="must be complex64"):
        unravel(vector.real)


def test_one_dtype_follows_the_vector() -> None:
    vector, unravel = ravel_pytree(TREE)
    assert unravel(vector.astype("float16"))["w"].dtype == numpy.float16


def test_no_leaves_and_one_leaf() -> None:
    vector, unravel = ravel_pytree([None, ()])
    assert vector.shape == (0,) and vector.dtype == numpy.float32
    assert unravel(vector) == [None, ()]
    vector, unravel = ravel_pytree(3.0)
    assert vector.tolist() == [3.0] and float(unravel(vector)) == 3.0
    vector, unravel = ravel_pytree((numpy.zeros((0, 2)), 1.0))
    assert unravel(vector)[0].shape == (0, 2)


def test_under_transformations() -> None:
    def loss(tree):
        vector, unravel = ravel_pytree(tree)
        return np.sum(unravel(vector**2)["w"])

    grads = nl.grad(loss)({"w": TREE["w"], "b": [1.0, None]})
    numpy.testing.assert_allclose(grads["w"], 2 * TREE["w"])
    assert float(grads["b"][0]) == 0
    batch = numpy.stack([TREE["w"], 3 * TREE["w"]])
    found = nl.vmap(lambda w: loss({"w": w, "b": [1.0, None]}))(batch)
    numpy.testing.assert_allclose(found, [55.0, 9 * 55.0])
    vector, unravel = ravel_pytree(TREE)
    numpy.testing.assert_array_equal(nl.jit(unravel)(vector)["w"], TREE["w"])
    mixed, back = ravel_pytree((numpy.int32(2), numpy.float32(3)))
    slope = nl.grad(lambda v: back(v)[1] * back(v)[0])(mixed)
    numpy.testing.assert_allclose(slope, [0, 2])


def test_unravel_may_be_a_static_argument() -> None:
    first, second = ravel_pytree(TREE)[1], ravel_pytree(TREE)[1]
    assert first == second and hash(first) == hash(second)
    assert first != ravel_pytree([1.0])[1]


def test_errors() -> None:
    vector, unravel = ravel_pytree(TREE)
    with pytest.raises(errors.ShapeError, match=r"shape \(7,\)"):
        unravel(vector[:3])
    with pytest.raises(errors.DTypeError, match="PRNG keys"):
        ravel_pytree([nl.random.key(0)])
