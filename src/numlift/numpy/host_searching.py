"""NumPy's searches in the place of programs. See `api.host_program`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.host_program import Kernel
from ..core.types import ArrayType
from ..runtime.host_memory import aligned
from .binary_search import FEW
from .host_sorting import permutation

_MANY = 1 << 16
"""From so many elements in both arrays, searches of sorted values beat the program (measured)."""
_MANY_INTEGERS = 1 << 19
"""From so many integers, NumPy's `isin` beats the program."""


def _alike(a: Any, b: Any) -> bool:
    """Whether both are arrays of one real dtype, so that nothing is promoted."""
    if not isinstance(a, ArrayType) or not isinstance(b, ArrayType):
        return False
    if a.size >= 1 << 31 or b.size >= 1 << 31:
        return False
    return a.dtype == b.dtype and a.kind in "iuf" and a.dtype.itemsize >= 4


def _places(a: np.ndarray, v: np.ndarray, side: Any) -> np.ndarray:
    """`np.searchsorted` of values that are sorted first, so that searches stay in the cache."""
    flat = v.reshape(-1)
    order = permutation([flat], 0)
    found = aligned(flat.shape, np.int32)
    found[order] = np.searchsorted(a, flat[order], side)
    return found.reshape(v.shape)


def searchsorted(a: Any, v: Any, sorter: Any, side: str) -> Kernel | None:
    """Where values enter a sorted vector."""
    if sorter is not None or not _alike(a, v) or v.size < _MANY or a.size < _MANY:
        return None
    return lambda x, y: _places(x, y, side)


def isin(element: Any, test_elements: Any, invert: bool) -> Kernel | None:
    """Which elements occur in another array."""
    if not _alike(element, test_elements) or test_elements.size <= FEW:
        return None
    if element.kind != "f":
        if element.size < _MANY_INTEGERS:
            return None
        return lambda x, y: np.isin(x, y, invert=invert)
    if element.size < _MANY or test_elements.size < _MANY:
        return None

    def kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        y = np.sort(y, axis=None)
        places = _places(y, x, "left")
        places[places == y.size] = 0
        return np.not_equal(y[places], x) if invert else np.equal(y[places], x)

    return kernel


__all__ = ["isin", "searchsorted"]
