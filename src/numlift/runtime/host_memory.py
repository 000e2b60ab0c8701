"""NumPy memory that becomes the memory of arrays on CPU without a copy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import buffers, xla
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


class _Memory:
    """Memory of another array, without its flags."""

    __slots__ = ("__array_interface__",)

    def __init__(self, interface: dict[str, Any]):
        self.__array_interface__ = interface


def claimed(x: np.ndarray) -> np.ndarray:
    """The elements of `x`, for functions of NumPy that copy read-only arrays and write to none.

    Only for as long as `x` lives.
    """
    if x.nbytes <= _SMALL:
        return x
    interface = x.__array_interface__
    interface["data"] = (interface["data"][0], False)
    return np.asarray(_Memory(interface))


def hand_over(value: np.ndarray, where: Placement) -> xla.ArrayImpl:
    """A buffer with the contents of `value`, converted to the dtype of `where`.

    Args:
        value: of the shape of `where.type`. If it is writable, aligned and of the right dtype, its
            memory becomes that of the buffer: nobody may write to it any more.
        where: one CPU device.
    """
    dtype = where.type.dtype
    value = presentable(value, dtype)
    if value.nbytes <= _SMALL:
        return buffers.put_one(value, where)
    return buffers.put(value, where, alias=True)


def presentable(value: np.ndarray, dtype: Any) -> np.ndarray:
    """`value`, which nobody else uses, converted to `dtype` in memory that an `Array` can take."""
    if value.size * dtype.itemsize <= _SMALL:
        if value.dtype == dtype and value.flags.c_contiguous:
            return value
        return value.astype(dtype, order="C")
    flags = value.flags
    shared = (
        flags.writeable
        and flags.c_contiguous
        and value.dtype == dtype
        and not value.__array_interface__["data"][0] % _ALIGNMENT
    )
    return value if shared else aligned_copy(value, dtype)


__all__ = ["aligned", "aligned_copy", "claimed", "hand_over", "presentable"]
