"""What NumPy computes in the place of a program, in eager calls on CPU: see `api.host_program`.

Each plan has the name and the parameters of its function. The function itself was traced with the
same arguments, so they are valid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.host_program import Kernel
from ..core.types import ArrayType
from ..runtime.host_memory import aligned_copy
from .host_sorting import ordered, permutation

_FEW = 256
"""Up to so many elements, a program answers sooner than several calls of NumPy."""


def _along(kernel: Kernel, axis: Any) -> Kernel:
    """A kernel of (array, axis) for this axis; None is that of the flattened array."""
    if axis is None:
        return lambda x: kernel(x.reshape(-1), 0)
    return lambda x: kernel(x, axis)


def sort(
    a: ArrayType, axis: Any = -1, kind: Any = None, order: Any = None, *,
    stable: Any = True, descending: bool = False,
) -> Kernel | None:  # fmt: skip
    """The elements in order."""
    if a.size <= _FEW:
        return None
    if descending:
        return _along(lambda x, i: np.flip(ordered(x, i), i), axis)
    return _along(ordered, axis)


def argsort(
    a: ArrayType, axis: Any = -1, kind: Any = None, order: Any = None, *,
    stable: Any = True, descending: bool = False, dtype: Any = None,
) -> Kernel | None:  # fmt: skip
    """The indices that sort, stably."""
    if a.size <= _FEW:
        return None

    def backwards(x: np.ndarray, i: int) -> np.ndarray:
        return x.shape[i] - 1 - np.flip(permutation([np.flip(x, i)], i), i)

    return _along(backwards if descending else lambda x, i: permutation([x], i), axis)


def lexsort(keys: Any, axis: int) -> Kernel | None:
    """The indices that sort by several keys."""
    if isinstance(keys, ArrayType) or keys[0].size <= _FEW:  # lists of numbers are one array
        return None
    return lambda *xs: permutation(xs[::-1], axis)


def partition(
    a: ArrayType, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None
) -> Kernel | None:
    """NumPy's partition; the program sorts."""
    if a.size <= _FEW:
        return None

    def kernel(x: np.ndarray, i: int) -> np.ndarray:
        made = aligned_copy(x)
        made.partition(kth, i)
        return made

    return _along(kernel, axis)


def argpartition(
    a: ArrayType, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None
) -> Kernel | None:
    """NumPy's indices; the program sorts."""
    if a.size <= _FEW:
        return None
    return _along(lambda x, i: np.argpartition(x, kth, i), axis)


__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort"]
