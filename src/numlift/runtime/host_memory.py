"""NumPy memory that becomes the memory of arrays on CPU without a copy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import buffers
from .array import Array
from .placement import Placement

_ALIGNMENT = 64  # bytes; XLA copies what begins elsewhere
_SMALL = 1 << 14  # bytes that are copied faster than they are shared


def aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array without values in memory that an `Array` can take over."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if size <= _SMALL:
        return np.empty(shape, dtype)
    room = np.empty(size + _ALIGNMENT, np.uint8)
    start = -room.__array_interface__["data"][0] % _ALIGNMENT
    return room[start : start + size].view(dtype).reshape(shape)


def aligned_copy(x: np.ndarray, dtype: Any = None) -> np.ndarray:
    """A writable, contiguous copy of an array in memory that an `Array` can take over."""
    made = aligned(x.shape, x.dtype if dtype is None else dtype)
    np.copyto(made, x, casting="unsafe")
    return made


def hand_over(value: np.ndarray, where: Placement) -> Array:
    """An array with the contents of `value`, converted to the dtype of `where`.

    Args:
        value: of the shape of `where.type`. If it is writable, aligned and of the right dtype, its
            memory becomes that of the array: nobody may write to it any more.
        where: one CPU device.
    """
    dtype = where.type.dtype
    if value.size * dtype.itemsize <= _SMALL:
        value = value.astype(dtype, order="C", copy=False)
        return Array(buffers.put_one(value, where), where)
    flags = value.flags
    shared = (
        flags.writeable
        and flags.c_contiguous
        and value.dtype == dtype
        and not value.__array_interface__["data"][0] % _ALIGNMENT
    )
    if not shared:
        value = aligned_copy(value, dtype)
    return Array(buffers.put(value, where, alias=True), where)


__all__ = ["aligned", "aligned_copy", "hand_over"]
