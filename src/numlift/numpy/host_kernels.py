"""What NumPy computes in the place of a program, in eager calls on CPU: see `api.host_program`.

Each plan has the name and the parameters of its function. The function itself was traced with the
same arguments, so they are valid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.host_program import Kernel
from ..core.types import ArrayType
from ..runtime.host_memory import aligned, aligned_copy, claimed
from .host_sorting import ordered, permutation

_FEW = {"diff": 4096, "argsort": 1536, "lexsort": 1536, "argmax": 256}
"""Up to so many elements, a program answers sooner than several calls of NumPy (measured)."""
_FEW_ELSE = 512


def _few(function: str, t: ArrayType) -> bool:
    return t.size <= _FEW.get(function, _FEW_ELSE)


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
    if _few("sort", a):
        return None
    if descending:
        return _along(lambda x, i: np.flip(ordered(x, i), i), axis)
    return _along(ordered, axis)


def argsort(
    a: ArrayType, axis: Any = -1, kind: Any = None, order: Any = None, *,
    stable: Any = True, descending: bool = False, dtype: Any = None,
) -> Kernel | None:  # fmt: skip
    """The indices that sort, stably."""
    if _few("argsort", a):
        return None

    def backwards(x: np.ndarray, i: int) -> np.ndarray:
        return x.shape[i] - 1 - np.flip(permutation([np.flip(x, i)], i), i)

    return _along(backwards if descending else lambda x, i: permutation([x], i), axis)


def lexsort(keys: Any, axis: int) -> Kernel | None:
    """The indices that sort by several keys."""
    if isinstance(keys, ArrayType) or _few("lexsort", keys[0]):  # lists of numbers are one array
        return None
    return lambda *xs: permutation(xs[::-1], axis)


def _places(kth: Any) -> list[int]:
    """Positions as NumPy takes them: True is 1, as in the program."""
    return list(map(int, kth)) if isinstance(kth, tuple) else [int(kth)]


def partition(
    a: ArrayType, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None
) -> Kernel | None:
    """NumPy's partition; the program sorts."""
    places = _places(kth)
    if _few("partition", a) or not places:
        return None

    def kernel(x: np.ndarray, i: int) -> np.ndarray:
        made = aligned_copy(x)
        made.partition(places, i)
        return made

    return _along(kernel, axis)


def argpartition(
    a: ArrayType, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None
) -> Kernel | None:
    """NumPy's indices; the program sorts."""
    places = _places(kth)
    if _few("argpartition", a) or not places:
        return None
    return _along(lambda x, i: np.argpartition(x, places, i), axis)


def _extreme(find: Kernel, a: ArrayType, axis: Any, keepdims: Any) -> Kernel | None:
    """NumPy is faster along the last axis, and slower across rows and for half precision."""
    if _few("argmax", a) or a.kind == "c" or a.kind == "f" and a.dtype.itemsize == 2:
        return None
    if axis is not None and axis % a.ndim != a.ndim - 1:
        return None
    keep = bool(keepdims)
    return lambda x: np.asarray(find(claimed(x), axis, None, keepdims=keep))


def argmax(a: ArrayType, axis: Any = None, out: Any = None, keepdims: Any = None) -> Kernel | None:
    """The index of the first greatest element, or of the first NaN."""
    return _extreme(np.ndarray.argmax, a, axis, keepdims)


def argmin(a: ArrayType, axis: Any = None, out: Any = None, keepdims: Any = None) -> Kernel | None:
    """The index of the first least element, or of the first NaN."""
    return _extreme(np.ndarray.argmin, a, axis, keepdims)


def diff(
    a: ArrayType, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None
) -> Kernel | None:
    """Differences of neighbours, once."""
    if _few("diff", a) or n != 1 or prepend is not None or append is not None:
        return None
    step = np.not_equal if a.kind == "b" else np.subtract
    axis = axis % a.ndim
    shape = (*a.shape[:axis], max(a.shape[axis] - 1, 0), *a.shape[axis + 1 :])
    front = (slice(None),) * axis
    above, below = (*front, slice(1, None)), (*front, slice(None, -1))

    def kernel(x: np.ndarray) -> np.ndarray:
        made = aligned(shape, x.dtype)
        with np.errstate(all="ignore"):
            step(x[above], x[below], out=made)
        return made

    return kernel


__all__ = ["argmax", "argmin", "argpartition", "argsort", "diff", "lexsort", "partition", "sort"]
