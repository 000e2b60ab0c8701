"""NumPy's searches in the place of programs. See `api.host_program`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.host_program import Kernel
from ..core.types import ArrayType
from ..runtime.host_memory import aligned
from .host_sorting import permutation

_FEW = 4096
"""Up to so many values, the program answers sooner (measured)."""


def _alike(a: Any, b: Any) -> bool:
    """Whether both are arrays of one real dtype, so that nothing is promoted."""
    if not isinstance(a, ArrayType) or not isinstance(b, ArrayType):
        return False
    if a.size >= 1 << 31 or b.size >= 1 << 31:
        return False
    return a.dtype == b.dtype and a.kind in "iuf" and a.dtype.itemsize >= 4


def _places(a: np.ndarray, v: np.ndarray, side: Any) -> np.ndarray:
    """`np.searchsorted`; many values are sorted first, so that searches stay in the cache."""
    if a.size < 1 << 16 or v.size < 1 << 14 or v.size < a.size >> 4:
        return np.searchsorted(a, v, side)
    flat = v.reshape(-1)
    order = permutation([flat], 0)
    found = aligned(flat.shape, np.int32)
    found[order] = np.searchsorted(a, flat[order], side)
    return found.reshape(v.shape)


def searchsorted(a: Any, v: Any, sorter: Any, side: str) -> Kernel | None:
    """Where values enter a sorted vector."""
    if sorter is not None or not _alike(a, v) or v.size <= _FEW or a.size <= 64:
        return None
    return lambda x, y: _places(x, y, side)


def isin(element: Any, test_elements: Any, invert: bool) -> Kernel | None:
    """Which elements occur in another array."""
    if not _alike(element, test_elements) or element.size <= _FEW or test_elements.size <= 64:
        return None
    if element.kind != "f":
        return lambda x, y: np.isin(x, y, invert=invert)

    def kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        y = np.sort(y, axis=None)
        places = _places(y, x, "left")
        places[places == y.size] = 0
        return np.not_equal(y[places], x) if invert else np.equal(y[places], x)

    return kernel


__all__ = ["isin", "searchsorted"]
