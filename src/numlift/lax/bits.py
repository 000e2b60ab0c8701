"""Functions of the bits of integers."""

from __future__ import annotations

from typing import Any

from ..core.tracing import apply
from ..ops import elementwise_binary as ops
from .operands import binary

_and, _or, _xor, _not, _mulhi = ops.and_, ops.or_, ops.xor, ops.not_, ops.mulhi
_shift_left, _shift_right_logical = ops.shift_left, ops.shift_right_logical
_shift_right_arithmetic = ops.shift_right_arithmetic
_population_count, _clz = ops.population_count, ops.clz


def bitwise_and(x: Any, y: Any) -> Any:
    """Bitwise and; logical and of bools.

    Args:
        x, y: arrays of integer or bool numbers of one dtype and shape; Python numbers and
        rank 0 broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import bitwise_and
        >>> int(bitwise_and(6, 3))
        2
    """
    return binary(_and, x, y)


def bitwise_or(x: Any, y: Any) -> Any:
    """Bitwise or; logical or of bools.

    Args:
        x, y: arrays of integer or bool numbers of one dtype and shape; Python numbers and
        rank 0 broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import bitwise_or
        >>> int(bitwise_or(6, 3))
        7
    """
    return binary(_or, x, y)


def bitwise_xor(x: Any, y: Any) -> Any:
    """Bitwise exclusive or; logical exclusive or of bools.

    Args:
        x, y: arrays of integer or bool numbers of one dtype and shape; Python numbers and
        rank 0 broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import bitwise_xor
        >>> int(bitwise_xor(6, 3))
        5
    """
    return binary(_xor, x, y)


def bitwise_not(x: Any) -> Any:
    """Bitwise complement; logical not of bools.

    Args:
        x: array of integer or bool numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Example:
        >>> from numlift.lax import bitwise_not
        >>> int(bitwise_not(0))
        -1
    """
    return apply(_not, x)


def shift_left(x: Any, y: Any) -> Any:
    """Shift to the left.

    ``x << y``; 0 if y is negative or at least the number of bits.

    Args:
        x, y: arrays of integer numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import shift_left
        >>> int(shift_left(3, 2))
        12
    """
    return binary(_shift_left, x, y)


def shift_right_arithmetic(x: Any, y: Any) -> Any:
    """Shift to the right with copies of the sign bit.

    ``x >> y``; all sign bits if y is negative or at least the number of bits.

    Args:
        x, y: arrays of integer numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import shift_right_arithmetic
        >>> int(shift_right_arithmetic(-8, 1))
        -4
    """
    return binary(_shift_right_arithmetic, x, y)


def shift_right_logical(x: Any, y: Any) -> Any:
    """Shift to the right with zeros.

    0 if y is negative or at least the number of bits.

    Args:
        x, y: arrays of integer numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import shift_right_logical
        >>> int(shift_right_logical(8, 1))
        4
    """
    return binary(_shift_right_logical, x, y)


def mulhi(x: Any, y: Any) -> Any:
    """Upper half of the product, which has twice the bits.

    ``(x * y) >> bits``, computed without overflow.

    Args:
        x, y: arrays of integer numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import mulhi
        >>> int(mulhi(1 << 30, 12))
        3
    """
    return binary(_mulhi, x, y)


def population_count(x: Any) -> Any:
    """Number of bits that are set.

    Args:
        x: array of integer numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Example:
        >>> from numlift.lax import population_count
        >>> int(population_count(7))
        3
    """
    return apply(_population_count, x)


def clz(x: Any) -> Any:
    """Number of leading bits that are zero.

    Args:
        x: array of integer numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Example:
        >>> from numlift.lax import clz
        >>> int(clz(1))
        31
    """
    return apply(_clz, x)
