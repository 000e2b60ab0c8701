"""Edge cases of sorting: NaN, zeros, ties, keys of every width, errors."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import numlift.numpy  # noqa: F401  (installs the operators)
from numlift import errors, grad
from numlift.config import replace
from numlift.core.tracing import apply
from numlift.lax import sorting as lax
from numlift.ops.sorting import ArgSort

DTYPES = [
    "bool", "int8", "uint8", "int16", "int32", "uint32", "float16", "float32", "complex64",
    "bfloat16", "float8_e4m3fn", "int4", "uint2",
]  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(name, rng):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    x = rng.integers(0, 4, (3, 40)) - (0 if name.startswith(("u", "bool")) else 2)
    x = (x + 1j * rng.integers(0, 3, x.shape) if name == "complex64" else x).astype(dtype)
    wide = x.astype(np.complex128 if name == "complex64" else np.float64)
    for axis in (0, 1):
        got = np.asarray(lax.sort(x, axis)).astype(wide.dtype)
        np.testing.assert_array_equal(got, np.sort(wide, axis))
        order = np.asarray(apply(ArgSort.of(axis), x))
        np.testing.assert_array_equal(order, np.argsort(wide, axis, kind="stable"))


@pytest.mark.parametrize("name", ["float64", "int64", "uint64", "complex128"])
def test_wide_keys(name, rng):
    with replace(enable_x64=True):
        x = (rng.integers(-5, 5, 60) * 10**9 + rng.integers(0, 3, 60)).astype(name)
        np.testing.assert_array_equal(np.asarray(lax.sort(x)), np.sort(x))
        order = np.asarray(apply(ArgSort.of(0), x))
        np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))
        if name != "complex128":
            values, places = lax.top_k(x, 5)
            best = np.argsort(-x if name != "uint64" else ~x, kind="stable")[:5]
            np.testing.assert_array_equal(np.asarray(places), best)
            np.testing.assert_array_equal(np.asarray(values), x[best])


def test_nan_last_and_zeros_equal():
    x = np.float32([np.nan, 1, -np.nan, -np.inf, np.inf])
    np.testing.assert_array_equal(np.asarray(lax.sort(x)), [-np.inf, 1, np.inf, np.nan, np.nan])
    keys = np.float32([0.0, -0.0, -1, np.nan, -0.0, 0.0, -np.nan])
    k, v = lax.sort((keys, np.arange(7, dtype=np.int32)))
    assert np.asarray(v).tolist() == [2, 0, 1, 4, 5, 3, 6]
    assert np.signbit(np.asarray(k)[1:5]).tolist() == [False, True, True, False]


def test_several_keys():
    a = np.int32([1, 0, 1, 0])
    b = np.float32([2, 5, 1, 5])
    outs = lax.sort([a, b, np.arange(4, dtype=np.int32)], num_keys=2)
    assert np.asarray(outs[2]).tolist() == [1, 3, 2, 0]


def test_top_k_ties_and_nan():
    values, places = lax.top_k(np.float32([1, 3, np.nan, 3, -np.nan]), 4)
    assert np.asarray(places).tolist() == [2, 4, 1, 3]
    assert np.asarray(lax.top_k(np.int32([5, 7, 7]), 2)[1]).tolist() == [1, 2]
    assert np.asarray(lax.approx_min_k(np.float32([5, 1, 7]), 2)[0]).tolist() == [1, 5]
    assert np.asarray(lax.top_k(np.float32([1, 2]), 0)[0]).shape == (0,)


def test_top_k_derivative():
    slope = grad(lambda x: lax.top_k(x, 2)[0][1])(np.float32([4, 9, 7]))
    assert np.asarray(slope).tolist() == [0, 0, 1]


@pytest.mark.parametrize("n", range(8))
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(n, reverse):
    x = np.arange(2 * n, dtype=np.float32).reshape(2, n)
    got = lax.associative_scan(lambda a, b: {"x": a["x"] + b["x"]}, {"x": x}, reverse, 1)["x"]
    expected = np.flip(np.cumsum(np.flip(x, 1), 1), 1) if reverse else np.cumsum(x, 1)
    np.testing.assert_array_equal(np.asarray(got), expected)


def test_reversed_scan_calls_with_the_later_elements_first():
    got = lax.associative_scan(lambda a, b: a, np.int32([1, 2, 3]), reverse=True)
    assert np.asarray(got).tolist() == [3, 3, 3]


def test_errors():
    x = np.float32([1, 2, 3])
    with pytest.raises(errors.AxisError, match="sort"):
        lax.sort(x, 1)
    with pytest.raises(errors.ValueArgumentError, match="num_keys"):
        lax.sort((x, x), num_keys=3)
    with pytest.raises(errors.ShapeError, match="equal shapes"):
        lax.sort((x, x[:2]))
    with pytest.raises(errors.ValueArgumentError, match="k must be from 0 to 3"):
        lax.top_k(x, 4)
    with pytest.raises(errors.DTypeError, match="approx_max_k"):
        lax.approx_max_k(np.int32([1]), 1)
