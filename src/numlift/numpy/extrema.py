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
    """The larger of two numbers, element by element; nan if one of them is nan.

    Complex numbers compare by their real parts, and where these are equal by their imaginary parts.
    For bools it is `logical_or`.

    Args:
        x1: array or number of any dtype.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the shapes do not broadcast.

    Derivative: 1 for the larger operand and 0 for the other one; 1/2 each at a tie; 0 beside nan.

    Differences from NumPy: 0.0 is larger than -0.0; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> np.maximum(np.asarray([1.0, 5.0, np.nan]), 3)
        Array([ 3.,  5., nan], dtype=float32)
        >>> [float(d) for d in nl.grad(np.maximum, argnums=(0, 1))(2.0, 2.0)]
        [0.5, 0.5]
    """
    x1, x2 = pair(x1, x2, "maximum")
    return apply(binary.max_, x1, x2)


@library(2)
def minimum(x1: Any, x2: Any, /) -> Any:
    """The smaller of two numbers, element by element; nan if one of them is nan.

    Complex numbers compare by their real parts, and where these are equal by their imaginary parts.
    For bools it is `logical_and`.

    Args:
        x1: array or number of any dtype.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the shapes do not broadcast.

    Derivative: 1 for the smaller operand and 0 for the other one; 1/2 each at a tie; 0 beside nan.

    Differences from NumPy: -0.0 is smaller than 0.0; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> np.minimum(np.asarray([1.0, 5.0, np.nan]), 3)
        Array([ 1.,  3., nan], dtype=float32)
        >>> [float(d) for d in nl.grad(np.minimum, argnums=(0, 1))(1.0, 2.0)]
        [1.0, 0.0]
    """
    x1, x2 = pair(x1, x2, "minimum")
    return apply(binary.min_, x1, x2)


@library(2)
def fmax(x1: Any, x2: Any) -> Any:
    """The larger of two numbers, element by element; nan only if both are nan.

    It is `maximum` with nan taken for a missing value.

    Args:
        x1: array or number of any dtype.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the shapes do not broadcast.

    Derivative: 1 for the operand that was chosen and 0 for the other one; 1/2 each at a tie (JAX: 0
    and 1).

    Differences from NumPy: 0.0 is larger than -0.0; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.fmax(np.asarray([1.0, 5.0, np.nan]), 3)
        Array([3., 5., 3.], dtype=float32)
    """
    x, y = pair(x1, x2, "fmax")
    return _ignore_nan(x, y, binary.max_)


@library(2)
def fmin(x1: Any, x2: Any) -> Any:
    """The smaller of two numbers, element by element; nan only if both are nan.

    It is `minimum` with nan taken for a missing value.

    Args:
        x1: array or number of any dtype.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the shapes do not broadcast.

    Derivative: 1 for the operand that was chosen and 0 for the other one; 1/2 each at a tie (JAX: 0
    and 1).

    Differences from NumPy: -0.0 is smaller than 0.0; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.fmin(np.asarray([1.0, 5.0, np.nan]), 3)
        Array([1., 3., 3.], dtype=float32)
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
