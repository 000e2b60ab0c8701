"""`polyfit` and `roots` against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numlift as nl
from numlift import errors

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


@pytest.mark.parametrize("options", [{"cov": True}, {"cov": "unscaled"}, {"full": True}])
@pytest.mark.parametrize("columns", [1, 2])
def test_polyfit_with_its_quality(options: dict[str, Any], columns: int) -> None:
    x = np.arange(6.0)
    y = np.stack([x**2 - x + 0.5 * np.sin(3 * x), np.cos(x)], 1)
    y = y[:, 0] if columns == 1 else y
    found, wanted = nl.numpy.polyfit(x, y, 2, **options), np.polyfit(x, y, 2, **options)
    assert len(found) == len(wanted)
    for a, b in list(zip(found, wanted, strict=True))[: 4 if "full" in options else None]:
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4)
    with pytest.raises(errors.ValueArgumentError, match="more than 3 points"):
        nl.numpy.polyfit(x[:3], y[:3], 2, cov=True)
    assert nl.numpy.polyfit(x[:3], y[:3], 2, cov="unscaled")[0].shape == (3, *y.shape[1:])
