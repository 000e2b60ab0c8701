"""Quantiles without a sort: NumPy's partition finds the elements, a program does the rest.

See `api.host_program`. The arithmetic between two elements stays a program, because compilers
round a product and a sum once where NumPy rounds twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..api.host_program import Kernel
from ..core.types import ArrayType
from ..runtime.host_memory import aligned_copy
from .host_sorting import has_negative_zero, ordered

_FEW = 8192
"""Up to so many elements, the program answers sooner (measured)."""
_ROWS = 64
"""Rows shorter than this are sorted by the program."""

Rest = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def worthwhile(a: ArrayType, q: Any, n: int) -> bool:
    """Whether partitions of rows of `n` elements beat the program, for a quantile that is known."""
    return isinstance(q, (int, float)) and a.size > _FEW and n >= _ROWS and a.kind != "c"


def kernel(axes: Sequence[int], dtype: np.dtype[Any], below: Sequence[int], rest: Rest) -> Kernel:
    """Quantiles over axes.

    Args:
        axes: the axes that are searched.
        dtype: the float in which quantiles are computed.
        below: for each quantile, how many elements are less than the one below it.
        rest: from the elements below and above each quantile, in a last axis, and where an element
            is NaN, to the result.
    """

    def run(x: np.ndarray) -> np.ndarray:
        kept = [i for i in range(x.ndim) if i not in axes]
        shape = [x.shape[i] for i in kept]
        rows = x.transpose(*kept, *axes).reshape(*shape, -1)
        found, last = elements(rows, dtype, below), rows.shape[-1] - 1
        lower = np.stack([found[k] for k in below], -1).astype(dtype, copy=False)
        upper = np.stack([found[min(k + 1, last)] for k in below], -1).astype(dtype, copy=False)
        if x.dtype.kind == "f":
            undefined = np.isnan(rows.max(-1, keepdims=True))
        else:
            undefined = np.zeros((*shape, 1), np.bool_)
        return np.asarray(rest(lower, upper, np.broadcast_to(undefined, lower.shape)))

    return run


def elements(rows: np.ndarray, dtype: np.dtype[Any], below: Sequence[int]) -> dict[int, np.ndarray]:
    """The elements at these places, and at the next ones, of the sorted rows."""
    last = rows.shape[-1] - 1
    places = sorted({k for b in below for k in (b, min(b + 1, last))})
    narrow = rows.dtype.kind == "f" and rows.dtype.itemsize == 2  # NumPy's are slow
    work = aligned_copy(rows, dtype if narrow else None)
    found: dict[int, np.ndarray] = {}
    start = 0
    for k in places:
        part = work[..., start:]
        if k == start and k:
            found[k] = part.min(-1)
            continue
        part.partition(k - start, axis=-1)
        found[k] = work[..., k].copy()
        start = k + 1
    signed = work.dtype.kind == "f" and not all(v.all() for v in found.values())
    if signed and has_negative_zero(work):
        full = ordered(rows, rows.ndim - 1)
        return {k: full[..., k].astype(dtype, copy=False) for k in places}
    return found


__all__ = ["elements", "kernel", "worthwhile"]
