"""NumPy's reductions in the place of programs: extremes, truth, counts. See `api.host_program`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..api.host_program import Kernel
from ..core.types import ArrayType

_FEW = 8192
"""Up to so many elements, a program answers sooner (measured)."""


def _unfit(a: ArrayType, axis: Any) -> bool:
    """Whether the program is better, or the axes are not one int or all."""
    if a.size <= _FEW or a.kind == "c" or (a.kind == "f" and a.dtype.itemsize == 2):
        return True
    return axis is not None and type(axis) is not int


def _across(a: ArrayType, axis: Any) -> bool:
    """Whether a reduction goes over rows, where XLA has vector instructions for integers."""
    return axis is not None and axis % a.ndim != a.ndim - 1 and a.kind in "iu"


def _extreme(
    find: Callable[..., Any], place: Callable[..., Any], a: ArrayType, axis: Any, keepdims: Any
) -> Kernel | None:
    if _unfit(a, axis) or _across(a, axis):
        return None
    keep = bool(keepdims)
    if a.kind != "f":
        return lambda x: np.asarray(find(x, axis, keepdims=keep))

    def kernel(x: np.ndarray) -> np.ndarray:
        found = np.asarray(find(x, axis, keepdims=keep))
        if found.all():
            return found
        # Of zeros the program gives the first one, with its sign.
        where = place(x, axis, keepdims=True)
        first = x.reshape(-1)[where] if axis is None else np.take_along_axis(x, where, axis)
        return first.reshape(found.shape)

    return kernel


def max(
    a: ArrayType, axis: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = None, where: Any = None,
) -> Kernel | None:  # fmt: skip
    """The greatest element."""
    if initial is not None or where is not None:
        return None
    return _extreme(np.max, np.argmax, a, axis, keepdims)


def min(
    a: ArrayType, axis: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = None, where: Any = None,
) -> Kernel | None:  # fmt: skip
    """The least element."""
    if initial is not None or where is not None:
        return None
    return _extreme(np.min, np.argmin, a, axis, keepdims)


def ptp(a: ArrayType, axis: Any = None, out: Any = None, keepdims: Any = False) -> Kernel | None:
    """The greatest element minus the least one."""
    if axis is not None or _unfit(a, axis):
        return None
    keep = bool(keepdims)

    def kernel(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            # Adding 0 makes 0.0 of -0.0, which is 0.0 minus 0.0 of different signs.
            return np.asarray(np.ptp(x, keepdims=keep)) + x.dtype.type(0)

    return kernel


def _truth(find: Callable[..., Any], a: ArrayType, axis: Any, keepdims: Any) -> Kernel | None:
    if _unfit(a, axis):
        return None
    keep = bool(keepdims)
    return lambda x: np.asarray(find(x, axis, keepdims=keep))


def all(
    a: ArrayType, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> Kernel | None:
    """Whether all elements are true."""
    return None if where is not None else _truth(np.all, a, axis, keepdims)


def any(
    a: ArrayType, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> Kernel | None:
    """Whether one element is true."""
    return None if where is not None else _truth(np.any, a, axis, keepdims)


def count_nonzero(a: ArrayType, axis: Any = None, keepdims: Any = False) -> Kernel | None:
    """The number of elements that are not zero."""
    if axis is not None or a.kind not in "biu" or _unfit(a, axis):
        return None
    shape = (1,) * a.ndim if keepdims else ()
    return lambda x: np.asarray(np.count_nonzero(x)).reshape(shape)


__all__ = ["all", "any", "count_nonzero", "max", "min", "ptp"]
