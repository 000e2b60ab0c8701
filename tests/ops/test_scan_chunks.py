"""Cumulative operations along long last axes on CPU: values, edges of chunks, rounding."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax

SCANS = {
    "cumsum": (lax.cumsum, numpy.cumsum),
    "cumprod": (lax.cumprod, numpy.cumprod),
    "cummax": (lax.cummax, numpy.maximum.accumulate),
    "cummin": (lax.cummin, numpy.minimum.accumulate),
}


def integers(shape: tuple[int, ...]) -> numpy.ndarray:
    return numpy.random.default_rng(0).integers(-9, 9, shape).astype(numpy.int32) | 1


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "shape, axis", [((17,), 0), ((24,), 0), ((3, 33), 1), ((2, 2, 64), 2), ((4, 40, 1), 1)]
)
def test_exact_values(name: str, reverse: bool, shape: tuple[int, ...], axis: int) -> None:
    ours, theirs = SCANS[name]
    x = integers(shape)
    turned = numpy.flip(x, axis) if reverse else x
    options: dict[str, Any] = {"dtype": x.dtype} if name in ("cumsum", "cumprod") else {}
    with numpy.errstate(over="ignore"):
        expected = theirs(turned, axis=axis, **options)
    found = numpy.asarray(ours(np.asarray(x), axis=axis, reverse=reverse))
    numpy.testing.assert_array_equal(found, numpy.flip(expected, axis) if reverse else expected)


def test_nan_and_infinity_stay_from_where_they_are() -> None:
    x = numpy.ones((2, 50), numpy.float32)
    x[0, 30] = numpy.nan
    found = numpy.asarray(np.cumsum(np.asarray(x), axis=1))
    assert numpy.isnan(found[0]).sum() == 20
    assert numpy.isfinite(found[1]).all()  # nothing comes over from the row before
    x[0, 30] = numpy.inf
    assert numpy.isinf(numpy.asarray(np.cumsum(np.asarray(x), axis=1))[0]).sum() == 20


def test_long_float_sums_do_not_lose_digits() -> None:
    x = numpy.random.default_rng(0).normal(size=1_000_000).astype(numpy.float32)
    exact = numpy.cumsum(x.astype(numpy.float64))
    error = numpy.abs(numpy.asarray(np.cumsum(np.asarray(x))) - exact).max()
    assert error < numpy.abs(numpy.cumsum(x) - exact).max() / 10


def test_derivative_and_batches() -> None:
    x = np.asarray(numpy.linspace(0.5, 1.5, 40, dtype=numpy.float32))
    slope = nl.grad(lambda x: np.sum(np.cumsum(x) * np.arange(40.0)))(x)
    numpy.testing.assert_allclose(slope, numpy.arange(40.0)[::-1].cumsum()[::-1], rtol=1e-6)
    rows = np.stack([x, x * 2.0])
    numpy.testing.assert_array_equal(nl.vmap(np.cumsum)(rows)[1], np.cumsum(rows[1]))
