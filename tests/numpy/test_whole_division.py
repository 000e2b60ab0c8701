"""Integer division where the divisor is 0: also of constants, which end XLA's compiler."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax

DTYPES = ("int8", "int32", "uint8", "uint32")


@pytest.mark.parametrize("dtype", DTYPES)
def test_constants(dtype: str) -> None:
    one, zero = numpy.ones((), dtype)[()], numpy.zeros((), dtype)[()]
    bits = -1 if dtype[0] == "i" else numpy.iinfo(dtype).max

    @nl.jit
    def f() -> tuple[object, ...]:
        wide, nothing = lax.full((3,), one), lax.full((3,), zero)
        return lax.div(one, zero), lax.rem(one, zero), lax.div(wide, nothing), lax.rem(wide, zero)

    results = [numpy.asarray(y) for y in f()]
    for found, wanted in zip(results, (bits, 1, bits, 1), strict=True):
        assert found.dtype == dtype
        assert (found == wanted).all()


def test_smallest_by_minus_one() -> None:
    low = numpy.int32(-(2**31))
    quotient, rest = nl.jit(
        lambda: (lax.div(low, numpy.int32(-1)), lax.rem(low, numpy.int32(-1)))
    )()
    assert int(quotient) == -(2**31)
    assert int(rest) == 0


def test_mean_of_nothing_as_integer() -> None:
    assert np.mean(numpy.zeros((0,), "int32"), dtype="int32").shape == ()
    assert np.mean(numpy.zeros((2, 0, 3), "int32"), axis=1, dtype="int32").shape == (2, 3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_values(dtype: str) -> None:
    info = numpy.iinfo(dtype)
    x = numpy.array([info.min, info.max, 7, 5, 1], dtype)
    y = numpy.array([info.max if info.min == 0 else -1, 3, 0, 2, 5], dtype)
    quotient, rest = numpy.asarray(lax.div(x, y)), numpy.asarray(lax.rem(x, y))
    kept = y != 0
    exact = x[kept].astype("int64")
    signs = numpy.sign(exact) * numpy.sign(y[kept].astype("int64"))
    wanted = abs(exact) // abs(y[kept].astype("int64")) * signs
    assert (quotient[kept] == wanted.astype(dtype)).all()
    assert (rest[kept] == numpy.fmod(exact, y[kept].astype("int64")).astype(dtype)).all()
    assert quotient[2] == (-1 if info.min else info.max)
    assert rest[2] == 7


@pytest.mark.parametrize("name", ["fmod", "remainder"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_remainder_by_zero_is_zero(name: str, dtype: str) -> None:
    x, y = numpy.array([5, 0, 7, 9], dtype), numpy.array([0, 0, 4, 0], dtype)
    found = numpy.asarray(getattr(np, name)(x, y))
    with numpy.errstate(divide="ignore"):
        numpy.testing.assert_array_equal(found, getattr(numpy, name)(x, y))
