"""`random.multivariate_normal` has the mean and covariance asked for."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
from numlift import errors

COV = np.array([[2.0, 0.5], [0.5, 1.0]], "f4")
MEAN = np.array([1.0, 2.0], "f4")


@pytest.mark.parametrize("method", ["cholesky", "eigh", "svd"])
def test_moments(method: str) -> None:
    key = nl.random.key(1)
    found = nl.random.multivariate_normal(key, MEAN, COV, (20000,), method=method)
    x = np.asarray(found)
    assert x.shape == (20000, 2)
    assert x.dtype == np.float32
    np.testing.assert_allclose(x.mean(0), MEAN, atol=0.05)
    np.testing.assert_allclose(np.cov(x.T), COV, atol=0.06)


def test_errors_and_batches() -> None:
    key = nl.random.key(0)
    assert nl.random.multivariate_normal(key, np.zeros((3, 2), "f4"), COV).shape == (3, 2)
    with pytest.raises(errors.ShapeError, match="cov"):
        nl.random.multivariate_normal(key, np.zeros(3, "f4"), COV)
    with pytest.raises(errors.ValueArgumentError, match="method"):
        nl.random.multivariate_normal(key, MEAN, COV, method="lu")
