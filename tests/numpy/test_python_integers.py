"""Python integers beside integer arrays: they take the array's dtype or are refused, never wrap."""

from __future__ import annotations

import operator
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numlift as nl
import numlift.numpy as np
from numlift.errors import IntegerOverflowError

DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]
COMPARISONS = [
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]
ARITHMETIC = [operator.add, operator.sub, operator.mul, np.maximum, np.minimum, np.bitwise_xor]


def values(dtype: str) -> numpy.ndarray:
    limits = numpy.iinfo(dtype)
    return numpy.asarray([limits.min, limits.min + 1, 0, 1, 77, limits.max - 1, limits.max], dtype)


def numpys(f: Any) -> Any:
    return getattr(numpy, f.__name__, f)


@given(st.sampled_from(DTYPES), st.integers(-(2**34), 2**34), st.sampled_from(COMPARISONS))
def test_comparisons_with_any_integer(dtype: str, n: int, f: Any) -> None:
    x = values(dtype)
    for compared in (f, nl.jit(f, static_argnums=1)):
        got = compared(np.asarray(x), n)
        assert got.dtype == bool
        numpy.testing.assert_array_equal(got, f(x, n))
    numpy.testing.assert_array_equal(f(n, np.asarray(x)), f(n, x))


@given(st.sampled_from(DTYPES), st.integers(-(2**33), 2**33), st.sampled_from(ARITHMETIC))
def test_arithmetic_takes_the_dtype_or_raises(dtype: str, n: int, f: Any) -> None:
    x = values(dtype)
    limits = numpy.iinfo(dtype)
    for called in (f, nl.jit(f, static_argnums=1)):
        if limits.min <= n <= limits.max:
            got = called(np.asarray(x), n)
            with numpy.errstate(over="ignore"):
                expected = numpys(f)(x, n)
            assert got.dtype == expected.dtype == dtype and not got.weak_type
            numpy.testing.assert_array_equal(got, expected)
        else:
            with pytest.raises(OverflowError, match=f"{n} does not fit into {dtype}"):
                called(np.asarray(x), n)
            with pytest.raises(OverflowError):
                numpys(f)(x, n)


@pytest.mark.parametrize("dtype", DTYPES)
def test_clip_ignores_bounds_that_nothing_passes(dtype: str) -> None:
    x = values(dtype)
    for low, high in ((-(2**40), 2**40), (None, 2**33), (-(2**33), 5), (3, 2**40)):
        got = np.clip(np.asarray(x), low, high)
        assert got.dtype == dtype
        numpy.testing.assert_array_equal(got, numpy.clip(x, low, high))


@pytest.mark.parametrize("function", [np.divide, np.arctan2, np.hypot, np.copysign, np.float_power])
def test_floats_of_integers_take_any_integer(function: Any) -> None:
    x = numpy.asarray([1, 2, 250], "uint8")
    expected = numpys(function)(x.astype("float32"), -300)
    numpy.testing.assert_allclose(function(np.asarray(x), -300), expected, rtol=1e-6, atol=1e-38)
    numpy.testing.assert_allclose(
        nl.jit(lambda a: function(a, -300))(np.asarray(x)), expected, rtol=1e-6, atol=1e-38
    )


REFUSED = {
    "where": lambda x: np.where(x > 0, x, 300),
    "at set": lambda x: x.at[0].set(300),
    "at add": lambda x: x.at[0].add(-1),
    "full": lambda x: np.full(3, 300, "uint8"),
    "full_like": lambda x: np.full_like(x, -1),
    "insert": lambda x: np.insert(x, 0, 300),
    "append": lambda x: np.append(x, 300),
    "diff": lambda x: np.diff(x, prepend=300),
    "ediff1d": lambda x: np.ediff1d(x, to_end=300),
    "max": lambda x: np.max(x, initial=300),
    "reduce": lambda x: np.maximum.reduce(x, initial=-300),
    "select": lambda x: np.select([x > 0], [x], 300),
    "shift": lambda x: x << 300,
    "remainder": lambda x: x % 300,
    "gcd": lambda x: np.gcd(x, 300),
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_function_wraps_a_python_integer(name: str) -> None:
    x = np.asarray([1, 2, 3], dtype="uint8")
    for f in (REFUSED[name], nl.jit(REFUSED[name])):
        with pytest.raises(IntegerOverflowError, match="does not fit into uint8"):
            f(x)


def test_hash_constants_beside_uint32() -> None:
    x = numpy.arange(5, dtype="uint32")

    def mixed(a: Any) -> Any:
        a = (a ^ (a >> 16)) * 0x85EBCA6B
        a = (a ^ (a >> 13)) * 0xC2B2AE35
        return (a ^ (a >> 16)) & 0xFFFFFFFF

    expected = mixed(x)
    for f in (mixed, nl.jit(mixed), nl.vmap(mixed)):
        got = f(np.asarray(x))
        assert got.dtype == "uint32"
        numpy.testing.assert_array_equal(got, expected)
    numpy.testing.assert_array_equal(
        np.multiply(np.asarray(x), 0x85EBCA6B), numpy.multiply(x, 0x85EBCA6B)
    )


def test_end_values_of_another_kind_are_refused() -> None:
    with pytest.raises(TypeError, match="do not fit between those of int32"):
        np.ediff1d(np.arange(3), to_end=0.5)
    with pytest.raises(TypeError):
        numpy.ediff1d(numpy.arange(3), to_end=0.5)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_calls_are_remembered_by_dtype(order: tuple[int, int]) -> None:
    """Numbers beside narrow and default integers take different programs."""
    xs = [np.asarray([1, 2], dtype="uint8"), np.asarray([1, 2])]
    for i in (*order, *order):
        got = np.add(xs[i], 200)
        assert got.dtype == xs[i].dtype
        assert got.tolist() == [201, 202]
        assert np.add(xs[i], 0.5).dtype == "float32"
