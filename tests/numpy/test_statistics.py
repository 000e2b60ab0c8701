"""Quantiles, histograms, counts and covariances against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import numlift.numpy as lnp
from numlift import errors, grad, jit
from numlift.numpy.quantiles import METHODS

QS = np.float32([0, 0.1, 0.25, 1 / 3, 0.5, 0.5714285, 0.75, 0.9, 1])


def close(got, expected, tolerance=1e-4):
    """Compare up to a tolerance."""
    np.testing.assert_allclose(np.asarray(got), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("method", METHODS)
def test_quantile_methods(method, rng):
    x = rng.standard_normal((3, 7, 4)).astype(np.float32)
    wide = x.astype(np.float64)
    for axis in (None, 1, (0, 2)):
        got = lnp.quantile(x, QS, axis=axis, method=method, keepdims=True)
        close(got, np.quantile(wide, QS, axis=axis, method=method, keepdims=True))
    wide[x > 1] = x[x > 1] = np.nan
    got = lnp.nanquantile(x, QS, axis=1, method=method)
    close(got, np.nanquantile(wide, QS, axis=1, method=method))
    close(lnp.quantile(x, 0.3, axis=1, method=method), np.quantile(wide, 0.3, 1, method=method))


def test_medians_and_percentiles(rng):
    x = rng.standard_normal((3, 8)).astype(np.float32)
    close(lnp.median(x, axis=1), np.median(x, axis=1))
    close(lnp.percentile(x, [10, 50], axis=0), np.percentile(x, [10, 50], axis=0))
    x[0, 3] = np.nan
    close(lnp.nanmedian(x), np.nanmedian(x))
    close(lnp.nanpercentile(x, 20), np.nanpercentile(x, 20))
    assert float(lnp.median(np.float32([np.inf, 1, 2]))) == 2
    assert np.isinf(float(lnp.median(np.float32([np.inf, 1, 2, np.inf]))))
    assert np.isnan(float(lnp.median(np.zeros(0, np.float32))))
    close(grad(lnp.median)(np.float32([3, 1, 2, 9])), [0.5, 0, 0.5, 0])


def test_weighted_quantile(rng):
    x = rng.standard_normal((3, 7)).astype(np.float32)
    w = rng.integers(0, 4, (3, 7)).astype(np.float32)
    options = {"axis": 1, "method": "inverted_cdf", "weights": w}
    close(lnp.quantile(x, QS, **options), np.quantile(x, QS, **options))
    with pytest.raises(errors.ValueArgumentError, match="inverted_cdf"):
        lnp.quantile(x, 0.5, weights=w)


def test_quantile_errors():
    with pytest.raises(ValueError, match="Quantiles must be in the range"):
        lnp.quantile(np.ones(3), 1.5)
    with pytest.raises(ValueError, match="method must be one of"):
        lnp.quantile(np.ones(3), 0.5, method="best")
    with pytest.raises(TypeError, match="complex"):
        lnp.median(np.ones(3, np.complex64))


@pytest.mark.parametrize(
    "options",
    [{}, {"bins": 7}, {"bins": 5, "range": (-1.0, 1.0)}, {"bins": [-1, 0, 0.5, 3]},
     {"density": True}, {"bins": "auto"}],
)  # fmt: skip
def test_histogram(options, rng):
    x = rng.standard_normal(200).astype(np.float32)
    w = rng.random(200).astype(np.float32)
    for more in ({}, {"weights": w}) if options.get("bins") != "auto" else ({},):
        for got, expected in zip(
            lnp.histogram(x, **options, **more), np.histogram(x, **options, **more), strict=True
        ):
            close(got, expected, 1e-3)


def test_histograms_of_points(rng):
    x, y, w = rng.standard_normal((3, 200)).astype(np.float32)
    options = {"bins": [3, [-1, 0, 1]], "density": True, "weights": np.abs(w)}
    for got, expected in zip(
        lnp.histogram2d(x, y, **options), np.histogram2d(x, y, **options), strict=True
    ):
        close(got, expected)
    points = np.stack([x, y, w], 1)
    counts, edges = lnp.histogramdd(points, bins=(2, 3, 4))
    expected, expected_edges = np.histogramdd(points, bins=(2, 3, 4))
    close(counts, expected)
    for got, e in zip(edges, expected_edges, strict=True):
        close(got, e)


def test_bincount(rng):
    x, w = rng.integers(0, 9, 50), rng.random(50).astype(np.float32)
    close(lnp.bincount(x), np.bincount(x))
    close(lnp.bincount(x, minlength=20), np.bincount(x, minlength=20))
    close(lnp.bincount(x, w), np.bincount(x, w))
    got = jit(lambda v: lnp.bincount(v, length=4))(np.array([-1, 2, 2, 9]))
    assert got.tolist() == [1, 0, 2, 0]
    with pytest.raises(ValueError, match="negative"):
        lnp.bincount(np.array([-1]))
    with pytest.raises(errors.ConcretizationTypeError, match="size"):
        jit(lnp.bincount)(x)
    with pytest.raises(TypeError, match="integers"):
        lnp.bincount(w)


@pytest.mark.parametrize(
    "options", [{}, {"bias": True}, {"ddof": 2}, {"fweights": True}, {"aweights": True}]
)
def test_cov(options, rng):
    x = rng.standard_normal((3, 10)).astype(np.float32)
    options = dict(options)
    if "fweights" in options:
        options["fweights"] = rng.integers(1, 4, 10)
    if "aweights" in options:
        options["aweights"] = rng.random(10).astype(np.float32)
    close(lnp.cov(x, **options), np.cov(x, **options))


def test_correlation(rng):
    x = rng.standard_normal((3, 10)).astype(np.float32)
    close(lnp.corrcoef(x), np.corrcoef(x))
    close(lnp.cov(x.T, rowvar=False), np.cov(x.T, rowvar=False))
    close(lnp.cov(x[0], x[1]), np.cov(x[0], x[1]))
    z = x + 1j * x[::-1]
    close(lnp.cov(z), np.cov(z))
    close(lnp.corrcoef(z), np.corrcoef(z))


def test_whole_numbers_on_edges_of_bins():
    x = np.array([-1, 2, -1, 1, 0, 1])
    for bins in (3, 6):
        assert np.asarray(lnp.histogram(x, bins=bins)[0]).tolist() == (
            np.histogram(x, bins=bins)[0].tolist()
        )
    assert np.asarray(lnp.linspace(-3.0, 4.0, 8)).tolist() == [-3, -2, -1, 0, 1, 2, 3, 4]
