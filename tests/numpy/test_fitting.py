"""`polyfit` and `roots` against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl

X = np.linspace(-1.0, 1.0, 7)
Y = np.stack([np.sin(X), X**3 + 1], 1)


def test_polyfit() -> None:
    with nl.enable_x64(True):
        for y, w in ((Y, None), (Y[:, 0], X + 2)):
            found = nl.numpy.polyfit(X, y, 2, w=w)
            np.testing.assert_allclose(np.asarray(found), np.polyfit(X, y, 2, w=w), atol=1e-10)


@pytest.mark.parametrize("p", [[1.0, 2, 3], [0.0, 1, -3, 2, 0, 0], [2.0], [0.0, 0], [1j, 2, 1.5]])
def test_roots(p: list[complex]) -> None:
    with nl.enable_x64(True):
        found = np.sort_complex(np.asarray(nl.numpy.roots(np.array(p))))
    np.testing.assert_allclose(found, np.sort_complex(np.roots(p)), atol=1e-10)
