"""Functions that leave the real numbers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors

INSIDE = numpy.asarray([0.25, 0.5, 1.0], "float32")
OUTSIDE = numpy.asarray([0.5, -4.0, -8.0], "float32")
BEYOND = numpy.asarray([0.5, 2.0, -3.0], "float32")
UNARY = {
    "sqrt": OUTSIDE, "log": OUTSIDE, "log2": OUTSIDE, "log10": OUTSIDE,
    "arccos": BEYOND, "arcsin": BEYOND, "arctanh": BEYOND,
}  # fmt: skip


def same(found: Any, wanted: Any) -> None:
    found = numpy.asarray(found)
    assert (found.dtype.kind == "c") == (wanted.dtype.kind == "c")
    numpy.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", UNARY)
def test_unary_functions(name: str) -> None:
    ours, theirs = getattr(np.emath, name), getattr(numpy.emath, name)
    with numpy.errstate(divide="ignore"):
        for x in (INSIDE, UNARY[name], INSIDE[:0], UNARY[name].astype("complex64")):
            same(ours(x), theirs(x))


def test_logn() -> None:
    same(np.emath.logn(2, OUTSIDE), numpy.emath.logn(2, OUTSIDE))
    same(np.emath.logn(-2.0, INSIDE), numpy.emath.logn(-2.0, INSIDE))


@pytest.mark.parametrize("p", [0, 2, 3, -2, 0.5, [1, -2, 2]])
@pytest.mark.parametrize("x", [[1, 2, 4], [-2, 2, 4], [-2.0, 0.5, 1.0]])
def test_power(x: Any, p: Any) -> None:
    same(np.emath.power(x, p), numpy.emath.power(numpy.asarray(x), p))


def test_whole_powers_are_exact() -> None:
    found = numpy.asarray(np.emath.power([-2, 4], 2))
    assert (found == numpy.asarray([4, 16])).all()


@pytest.mark.parametrize("name", UNARY)
def test_values_must_be_known(name: str) -> None:
    with pytest.raises(errors.TracerArrayConversionError, match=f"emath.{name}"):
        nl.jit(getattr(np.emath, name))(1.0)
    nl.jit(getattr(np.emath, name))(0.5 + 0j)
