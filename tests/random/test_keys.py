"""Typed keys: forms, shapes, errors."""

from __future__ import annotations

import numpy
import numpy.testing as npt
import pytest

import numlift as nl
from numlift import errors, random


def test_typed_and_raw_forms():
    key, raw = random.key(5), random.PRNGKey(5)
    assert key.shape == () and repr(key.dtype) == "key<fry>"
    assert raw.shape == (2,) and raw.dtype == numpy.uint32
    npt.assert_array_equal(random.key_data(key), raw)
    npt.assert_array_equal(random.normal(raw, (3,)), random.normal(key, (3,)))
    npt.assert_array_equal(random.split(raw), random.key_data(random.split(key)))
    npt.assert_array_equal(random.fold_in(raw, 3), random.key_data(random.fold_in(key, 3)))
    again = random.wrap_key_data(raw)
    npt.assert_array_equal(random.key_data(again), raw)
    assert random.key_impl(key) == random.key_impl(raw) == "threefry2x32"


def test_custom_prng_flag(set_flag):
    set_flag("enable_custom_prng", True)
    assert repr(random.PRNGKey(0).dtype) == "key<fry>"


def test_implementations(set_flag):
    assert random.key(0, impl="rbg").dtype is random.key_dtype("rbg")
    assert random.key(0, dtype=random.key_dtype("unsafe_rbg")).dtype.impl == "unsafe_rbg"
    set_flag("default_prng_impl", "rbg")
    assert random.key_impl(random.key(0)) == "rbg"
    assert random.PRNGKey(0).shape == (4,)


def test_keys_are_arrays():
    keys = random.split(random.key(0), (2, 3))
    assert keys.shape == (2, 3) and keys.ndim == 2 and len(keys) == 2
    npt.assert_array_equal(random.key_data(keys[1, 2]), random.key_data(keys)[1, 2])
    npt.assert_array_equal(random.key_data(keys.reshape(6)), random.key_data(keys).reshape(6, 2))
    first, second = random.split(random.key(0))
    assert first.shape == second.shape == ()
    assert nl.jit(lambda k: k)(keys).shape == (2, 3)
    assert random.clone(first) is first


@pytest.mark.parametrize(
    ("seed", "error"),
    [
        (1.5, errors.DTypeError),
        (numpy.arange(2), errors.ShapeError),
        (2**64, errors.ValueArgumentError),
        (-(2**63) - 1, errors.ValueArgumentError),
    ],
)
def test_wrong_seeds(seed, error):
    with pytest.raises(error, match="seed"):
        random.key(seed)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda k: random.key(0, impl="xyz"), errors.ValueArgumentError, "threefry2x32"),
        (lambda k: random.key(0, impl="rbg", dtype="rbg"), errors.ArgumentError, "not both"),
        (lambda k: random.normal(0.5, (2,)), errors.DTypeError, "random key"),
        (lambda k: random.normal(random.split(k), (2,)), errors.ShapeError, "vmap"),
        (lambda k: random.split(random.split(k)), errors.ShapeError, "vmap"),
        (lambda k: random.split(k, -1), errors.ShapeError, "negative"),
        (lambda k: random.fold_in(k, -1), errors.ValueArgumentError, "2\\*\\*32"),
        (lambda k: random.fold_in(k, 1.5), errors.DTypeError, "integer"),
        (lambda k: random.fold_in(k, numpy.arange(2)), errors.ShapeError, "scalar"),
        (lambda k: random.wrap_key_data(numpy.zeros(3, "u4")), errors.ShapeError, "uint32"),
        (lambda k: random.uniform(k, (2,), "int32"), errors.DTypeError, "floating"),
        (lambda k: random.uniform(k, (2,), minval=numpy.zeros(3)), errors.ShapeError, "minval"),
        (lambda k: random.normal(k, (-1,)), errors.ShapeError, "negative"),
        (lambda k: random.bits(k, (2,), "int32"), errors.DTypeError, "unsigned"),
        (lambda k: random.randint(k, (2,), 0, 2, "float32"), errors.DTypeError, "integer"),
        (lambda k: random.bernoulli(k, 1), errors.DTypeError, "floating"),
        (lambda k: random.bernoulli(k, 0.5, mode="x"), errors.ValueArgumentError, "mode"),
        (lambda k: random.choice(k, 3, (5,), False), errors.ValueArgumentError, "draw 5 of 3"),
        (lambda k: random.choice(k, 0, (5,)), errors.ValueArgumentError, "nothing"),
        (lambda k: random.choice(k, 3, p=numpy.ones(2)), errors.ValueArgumentError, "shape"),
        (lambda k: random.categorical(k, numpy.ones(3), shape=()[:0], axis=1), errors.AxisError,
         "axis"),
        (lambda k: random.categorical(k, numpy.ones((2, 3)), shape=(3,)), errors.ShapeError,
         "shape"),
        (lambda k: random.categorical(k, numpy.ones(3), shape=(5,), replace=False),
         errors.ValueArgumentError, "5 of 3"),
        (lambda k: random.dirichlet(k, 1.0), errors.ShapeError, "axis"),
        (lambda k: random.gamma(k, numpy.ones(3), (2,)), errors.ShapeError, "broadcast"),
    ],
)  # fmt: skip
def test_errors_teach(call, error, text):
    with pytest.raises(error, match=text):
        call(random.key(0))


def test_rank0_keys_broadcast_beside_keys():
    keys = random.split(random.key(0), 4)
    mask = numpy.array([True, False, True, False])
    got = nl.numpy.where(mask, keys, keys[0])
    words = random.key_data(keys)
    npt.assert_array_equal(random.key_data(got), numpy.where(mask[:, None], words, words[0]))
    npt.assert_array_equal(keys == keys[0], [True, False, False, False])
    npt.assert_array_equal(keys[0] != keys, [False, True, True, True])
    chosen = nl.vmap(lambda m, k: nl.numpy.where(m, k, keys[1]))(mask, keys)
    npt.assert_array_equal(random.key_data(chosen)[1], words[1])
