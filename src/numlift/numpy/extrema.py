"""The larger and the smaller of two arrays, element by element."""

from __future__ import annotations

from typing import Any

from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import compare
from ..ops import elementwise_binary as binary
from ..structural import arith
from .operands import pair


@library(2)
def maximum(x1: Any, x2: Any, /) -> Any:
    """The larger one; nan if one is nan. Complex numbers: by real, then imaginary part.

    Derivative: to the larger one; one half to each at a tie.

    Example:
        >>> import numlift.numpy as np
        >>> np.maximum(np.asarray([1.0, 5.0]), 3)
        Array([3., 5.], dtype=float32)
    """
    x1, x2 = pair(x1, x2, "maximum")
    return apply(binary.max_, x1, x2)


@library(2)
def minimum(x1: Any, x2: Any, /) -> Any:
    """The smaller one; nan if one is nan. Complex numbers: by real, then imaginary part.

    Derivative: to the smaller one; one half to each at a tie.

    Example:
        >>> import numlift.numpy as np
        >>> np.minimum(np.asarray([1.0, 5.0]), 3)
        Array([1., 3.], dtype=float32)
    """
    x1, x2 = pair(x1, x2, "minimum")
    return apply(binary.min_, x1, x2)


@library(2)
def fmax(x1: Any, x2: Any) -> Any:
    """The larger one; a nan is ignored if the other is a number.

    Derivative: to the chosen one; one half to each at a tie.

    Example:
        >>> import numlift.numpy as np
        >>> np.fmax(np.asarray([1.0, np.nan]), 3)
        Array([3., 3.], dtype=float32)
    """
    x, y = pair(x1, x2, "fmax")
    return _ignore_nan(x, y, binary.max_)


@library(2)
def fmin(x1: Any, x2: Any) -> Any:
    """The smaller one; a nan is ignored if the other is a number.

    Derivative: to the chosen one; one half to each at a tie.

    Example:
        >>> import numlift.numpy as np
        >>> np.fmin(np.asarray([1.0, np.nan]), 3)
        Array([1., 3.], dtype=float32)
    """
    x, y = pair(x1, x2, "fmin")
    return _ignore_nan(x, y, binary.min_)


def _ignore_nan(x: Any, y: Any, op: Any) -> Any:
    z = apply(op, x, y)
    if not type_of(x).inexact:
        return z
    z = apply(arith.select, apply(compare.ne, y, y), z, x)
    return apply(arith.select, apply(compare.ne, x, x), z, y)


__all__ = [
    "fmax",
    "fmin",
    "maximum",
    "minimum",
]
