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
