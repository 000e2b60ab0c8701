"""Random values are fixed for good, and do not depend on how a call is made."""

from __future__ import annotations

import numpy
import numpy.testing as npt
import pytest

import numlift as nl
from numlift import random

from .values import CLOSE, EXACT, OLD_LAYOUT

P = numpy.array([0.1, 0.2, 0.3, 0.4], "f")
LOGITS = numpy.log(numpy.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], "f"))


def value(expression: str) -> numpy.ndarray:
    names = {"random": random, "numpy": numpy, "KEY": random.key(42), "P": P, "LOGITS": LOGITS}
    return numpy.asarray(eval(expression, names))


@pytest.mark.parametrize(("expression", "wanted"), EXACT)
def test_integers(expression, wanted):
    npt.assert_array_equal(value(expression), wanted)


@pytest.mark.parametrize(("expression", "wanted"), CLOSE)
def test_floats(expression, wanted):
    found = value(expression)
    wide = found.astype("c8" if found.dtype.kind == "c" else "f4")
    tolerance = 4e-3 if found.dtype.itemsize == 2 else 2e-6
    npt.assert_allclose(wide, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("expression", "wanted"), OLD_LAYOUT)
def test_older_layout(expression, wanted, set_flag):
    set_flag("threefry_partitionable", False)
    npt.assert_array_equal(value(expression), wanted)


def test_64_bits(enable_x64):
    key = random.key(42)
    npt.assert_array_equal(
        random.bits(key, (2,)), numpy.array([7871734211187709741, 276886910877598708], "u8")
    )
    npt.assert_allclose(
        random.uniform(key, (3,)),
        [0.4267275666499091, 0.015010069515314584, 0.5741444178995352],
        rtol=1e-15,
    )
    npt.assert_array_equal(random.randint(key, (6,), 0, 10), [5, 8, 3, 1, 5, 6])
    npt.assert_array_equal(random.key_data(random.key(-(2**40))), [4294967040, 0])


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_jit_and_vmap_change_nothing(impl):
    keys = random.split(random.key(3, impl=impl), 4)
    eager = [numpy.asarray(random.normal(k, (3, 2))) for k in keys]
    batched = nl.vmap(lambda k: random.normal(k, (3, 2)))(keys)
    npt.assert_array_equal(batched, eager)
    npt.assert_array_equal(nl.jit(lambda k: random.normal(k, (3, 2)))(keys[0]), eager[0])


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_split_and_fold_in_of_batches(impl):
    keys = random.split(random.key(3, impl=impl), (2, 3))
    flat = [keys[i, j] for i in range(2) for j in range(3)]
    both = nl.vmap(nl.vmap(lambda k: random.split(k, 2)))(keys)
    npt.assert_array_equal(
        random.key_data(both).reshape(6, 2, -1),
        [numpy.asarray(random.key_data(random.split(k, 2))) for k in flat],
    )
    data = numpy.arange(6, dtype=numpy.uint32).reshape(2, 3)
    folded = nl.vmap(nl.vmap(random.fold_in))(keys, data)
    npt.assert_array_equal(
        random.key_data(folded).reshape(6, -1),
        [numpy.asarray(random.key_data(random.fold_in(k, i))) for i, k in enumerate(flat)],
    )
    same_key = nl.vmap(random.fold_in, (None, 0))(keys[0, 0], data[0])
    assert same_key.shape == (3,)


def test_seed_is_traceable():
    made = nl.jit(lambda s: random.key_data(random.key(s)))(7)
    npt.assert_array_equal(made, [0, 7])
    many = nl.vmap(lambda s: random.key_data(random.key(s)))(numpy.arange(3))
    npt.assert_array_equal(many, [[0, 0], [0, 1], [0, 2]])


def test_seed_offset(set_flag):
    set_flag("random_seed_offset", 5)
    npt.assert_array_equal(random.key_data(random.key(2)), [0, 7])
