"""Cumulative sums, products, extremes and log-sum-exps along an axis."""

from __future__ import annotations

from typing import Any

from ..core.tracing import apply, type_of
from ..ops import cumulative as scans
from .shape import axis_in_range


def _scan(function: str, op: type, operand: Any, axis: int, reverse: bool) -> Any:
    axis = axis_in_range(function, axis, type_of(operand).ndim, operand)
    return apply(op.of(axis, bool(reverse)), operand)  # type: ignore[attr-defined]


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Cumulative sum: ``out[i] = operand[0] + ... + operand[i]``.

    Small floats are added up in float32. On CPU the sum runs in blocks, so it is also more
    accurate than adding in order.

    Args:
        operand: numbers.
        axis: along which to add.
        reverse: add from the end.

    Returns:
        Array of the operand's shape and dtype.

    Raises:
        AxisError: the axis is out of range.
        DTypeError: bool.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import cumsum
        >>> cumsum(np.float32([1, 2, 3])).tolist()
        [1.0, 3.0, 6.0]
    """
    return _scan("cumsum", scans.CumSum, operand, axis, reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Cumulative product: ``out[i] = operand[0] * ... * operand[i]``.

    Derivative: a linear recurrence without division, so exact where elements are zero.

    Args:
        operand: numbers.
        axis: along which to multiply.
        reverse: multiply from the end.

    Returns:
        Array of the operand's shape and dtype.

    Raises:
        AxisError: the axis is out of range.
        DTypeError: bool.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import cumprod
        >>> cumprod(np.float32([1, 2, 3])).tolist()
        [1.0, 2.0, 6.0]
    """
    return _scan("cumprod", scans.CumProd, operand, axis, reverse)


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Cumulative maximum: ``out[i] = max(operand[0], ..., operand[i])``; NaN from the first on.

    Derivative: goes to the element that is the maximum; where an element equals the maximum
    before it, each gets half.

    Args:
        operand: any dtype; complex numbers are ordered by real, then imaginary part.
        axis: along which to compare.
        reverse: compare from the end.

    Returns:
        Array of the operand's shape and dtype.

    Raises:
        AxisError: the axis is out of range.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import cummax
        >>> cummax(np.float32([1, 3, 2])).tolist()
        [1.0, 3.0, 3.0]
    """
    return _scan("cummax", scans.CumMax, operand, axis, reverse)


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Cumulative minimum: ``out[i] = min(operand[0], ..., operand[i])``; NaN from the first on.

    Derivative: goes to the element that is the minimum; where an element equals the minimum
    before it, each gets half.

    Args:
        operand: any dtype; complex numbers are ordered by real, then imaginary part.
        axis: along which to compare.
        reverse: compare from the end.

    Returns:
        Array of the operand's shape and dtype.

    Raises:
        AxisError: the axis is out of range.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import cummin
        >>> cummin(np.float32([3, 1, 2])).tolist()
        [3.0, 1.0, 1.0]
    """
    return _scan("cummin", scans.CumMin, operand, axis, reverse)


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Cumulative log-sum-exp: ``out[i] = log(exp(operand[0]) + ... + exp(operand[i]))``.

    Neither the value nor the derivative overflows; elements may be -inf.

    Args:
        operand: floats, or complex numbers (then it is one of the logarithms of the sum).
        axis: along which to add.
        reverse: add from the end.

    Returns:
        Array of the operand's shape and dtype.

    Raises:
        AxisError: the axis is out of range.
        DTypeError: bool or integers.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import cumlogsumexp
        >>> cumlogsumexp(np.float32([1000, 1000])).tolist()
        [1000.0, 1000.6931762695312]
    """
    return _scan("cumlogsumexp", scans.CumLogSumExp, operand, axis, reverse)
