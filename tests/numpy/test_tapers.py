"""Windows against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_windows(name: str, size: int) -> None:
    found = np.asarray(getattr(nl.numpy, name)(size))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, getattr(np, name)(size), atol=1e-6)


def test_kaiser():
    for m in (-1, 0, 1, 2, 3, 12):
        found = nl.numpy.kaiser(m, 5.0)
        assert np.allclose(found, np.kaiser(m, 5.0), atol=1e-6)
    slope = nl.grad(lambda beta: nl.numpy.kaiser(6, beta).sum())(2.0)
    assert abs(slope - (np.kaiser(6, 2.001) - np.kaiser(6, 1.999)).sum() / 0.002) < 1e-3
