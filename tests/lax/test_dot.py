"""dot_general: errors, dtypes, precision, shardings, and how many Python calls a trace costs."""

from __future__ import annotations

import sys

import numpy
import numpy.testing as npt
import pytest

import numlift as nl
from numlift import errors, lax

MATRIX = (((1,), (0,)), ((), ()))


def ones(*shape, dtype="f"):
    return numpy.ones(shape, dtype)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: lax.dot_general(ones(2, 3), ones(4, 2), MATRIX), errors.ShapeError,
         "axis 1 of lhs has size 3, axis 0 of rhs has size 4"),
        (lambda: lax.dot_general(ones(2, 3), ones(3, 2), (((2,), (0,)), ((), ()))),
         errors.ShapeError, "out of range"),
        (lambda: lax.dot_general(ones(2, 3), ones(3, 2), (((1,), ()), ((), ()))),
         errors.ShapeError, "equally many"),
        (lambda: lax.dot_general(ones(3, 3), ones(3, 3), (((1, 1), (0, 1)), ((), ()))),
         errors.ShapeError, "twice"),
        (lambda: lax.dot_general(ones(2), ones(2), "ij"), errors.ArgumentError,
         "dimension_numbers"),
        (lambda: lax.dot(ones(2, 3), ones(2, 3)), errors.ShapeError, "inner"),
        (lambda: lax.dot(ones(2, 3), ones(3, 2), precision="best"), errors.ValueArgumentError,
         "precision"),
        (lambda: lax.dot(ones(2, 2, dtype="i4"), ones(2, 2, dtype="i4"),
                         preferred_element_type="int8"), errors.DTypeError, "narrower"),
        (lambda: lax.dot(ones(2, 2), ones(2, 2), precision="TF32_TF32_F32"),
         errors.ValueArgumentError, "CPU"),
        (lambda: lax.dot(ones(2, 2), ones(2, 2), out_sharding=3), errors.ArgumentError,
         "PartitionSpec"),
        (lambda: lax.dot(nl.random.key(0), ones(2)), errors.ShapeError, "vectors"),
        (lambda: lax.batch_matmul(ones(2), ones(2)), errors.ShapeError, "rank"),
    ],
)  # fmt: skip
def test_errors_teach(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("a", "b", "out"),
    [
        ("float32", "bfloat16", "float32"),
        ("float16", "bfloat16", "bfloat16"),
        ("int8", "float32", "float32"),
        ("int8", "uint8", "int8"),
        ("uint32", "int32", "int32"),
        ("bool", "int32", "int32"),
        ("bool", "bool", "bool"),
        ("float32", "complex64", "complex64"),
        ("float8_e4m3fn", "float8_e5m2", "float8_e5m2"),
        ("int4", "int8", "int8"),
    ],
)
def test_mixed_dtypes(a, b, out):
    x, y = nl.numpy.ones((2, 2), a), nl.numpy.ones((2, 2), b)
    z = lax.dot(x, y)
    assert z.dtype == out
    npt.assert_array_equal(
        numpy.asarray(z.astype("float32")), numpy.full((2, 2), 2 - (out == "bool"))
    )


def test_preferred_element_types():
    x = ones(2, 3, dtype="i1") * 100
    found = lax.dot(x, x.T, preferred_element_type="int32")
    npt.assert_array_equal(found, numpy.full((2, 2), 30000))
    z = (ones(2, 2) + 1j).astype("c8")
    npt.assert_array_equal(lax.dot(z, z, preferred_element_type="float32"), (z @ z).real)
    assert lax.dot(ones(2, 2), ones(2, 2), preferred_element_type="complex64").dtype == "c8"


def test_derivative_of_mixed_dtypes():
    z = (numpy.arange(4).reshape(2, 2) * (1 + 2j)).astype("c8")
    slope = nl.grad(lambda x: lax.dot(x, z).real.sum())(ones(2, 2))
    npt.assert_allclose(slope, numpy.ones((2, 2)) @ z.real.T)


def test_default_precision_flag(set_flag):
    text = nl.jit(lax.dot).lower(ones(2, 2), ones(2, 2)).as_text()
    assert "DEFAULT, DEFAULT" in text
    with nl.default_matmul_precision("highest"):
        text = nl.jit(lambda x: lax.dot(x, x)).lower(ones(2, 2)).as_text()
    assert "HIGHEST, HIGHEST" in text
    given = nl.jit(lambda x: lax.dot(x, x, precision=("high", None))).lower(ones(2, 2)).as_text()
    assert "HIGH, DEFAULT" in given


def test_transposed_precision_follows_its_operand():
    def f(x, y):
        return lax.dot(x, y, precision=("highest", "default")).sum()

    text = nl.jit(nl.grad(f, (0, 1))).lower(ones(2, 3), ones(3, 4)).as_text()
    assert "HIGHEST, DEFAULT" in text and "DEFAULT, HIGHEST" in text


def test_presets_and_algorithms():
    x = numpy.random.default_rng(0).normal(size=(8, 8)).astype("f")
    for preset in lax.DotAlgorithmPreset:
        if preset.name.startswith(("ANY", "TF32")) or preset.name.endswith("X9"):
            continue
        found = lax.dot(x, x, precision=preset)
        assert found.dtype == numpy.float32
        npt.assert_allclose(found, x @ x, rtol=0.1, atol=0.1)
    algorithm = lax.DotAlgorithm(numpy.float32, numpy.float32, numpy.float32)
    npt.assert_allclose(lax.dot(x, x, precision=algorithm), x @ x, rtol=1e-5, atol=1e-5)


def test_vmap_is_one_product():
    def count(in_axes, *shapes):
        graph = nl.make_jaxpr(nl.vmap(lambda x, y: lax.dot(x, y), in_axes))(
            *(ones(*s) for s in shapes)
        )
        return str(graph).count("dot_general"), str(graph).count("transpose[")

    assert count((0, 0), (5, 2, 3), (5, 3, 4)) == (1, 0)
    assert count((0, None), (5, 2, 3), (3, 4)) == (1, 0)
    # The one transpose brings the result's batch axis to the front, as out_axes=0 asks.
    assert count((None, 2), (2, 3), (3, 4, 5)) == (1, 1)


def test_trace_budget():
    x = ones(2, 2)
    calls = 0

    def profile(frame, event, arg):
        nonlocal calls
        calls += event == "call"

    def f(x):
        nonlocal calls
        lax.dot_general(x, x, MATRIX)
        calls = 0
        sys.setprofile(profile)
        lax.dot_general(x, x, MATRIX)
        sys.setprofile(None)
        return x

    nl.make_jaxpr(f)(x)
    assert calls <= 40


def test_ragged_products():
    rng = numpy.random.default_rng(0)
    x, w = rng.normal(size=(7, 3)).astype("f"), rng.normal(size=(3, 3, 4)).astype("f")
    sizes = numpy.array([2, 0, 4])
    wanted = numpy.concatenate([x[:2] @ w[0], x[2:6] @ w[2], numpy.zeros((1, 4))])
    npt.assert_allclose(lax.ragged_dot(x, w, sizes), wanted, rtol=1e-5, atol=1e-6)
    slope = nl.grad(lambda w: lax.ragged_dot(x, w, sizes).sum())(w)
    npt.assert_allclose(slope[1], numpy.zeros((3, 4)))
    npt.assert_allclose(slope[2][:, 0], x[2:6].sum(0), rtol=1e-5)
    many = nl.vmap(lax.ragged_dot, (None, None, 0))(x, w, numpy.stack([sizes, sizes]))
    npt.assert_allclose(many[1], wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(errors.ShapeError, match="ragged_dot"):
        lax.ragged_dot(x, w[0], sizes)
