"""Comparisons, logical functions and bitwise functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.library import library
from ..core.tracing import Value, apply, type_of
from ..ops import compare
from ..ops import elementwise_binary as binary
from ..structural import arith
from .arithmetic import numbers
from .operands import comparable, need_integers, number_of, pair
from .util import as_value, broadcast_operands, cast


@library(2)
def equal(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 == x2``, element by element; -0.0 equals 0.0, and nan equals nothing.

    Args:
        x1: array or number of any dtype.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Bool array of the broadcast shape. It is a step in both arguments: all derivatives are 0.

    Raises:
        ShapeError: the shapes do not broadcast.

    Differences from NumPy: int32 and float32 meet in float32, which rounds integers above 2**24.
    From JAX: a Python integer outside the range of the dtype of an array does not wrap around
    first.

    Example:
        >>> import numlift.numpy as np
        >>> np.equal(np.asarray([0.0, 1.0, np.nan]), np.asarray([-0.0, 2.0, np.nan]))
        Array([ True, False, False], dtype=bool)
    """
    x1, x2 = comparable(x1, x2, "equal")
    return apply(compare.eq, x1, x2)


@library(2)
def not_equal(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 != x2``, element by element; nan differs from everything, itself too.

    Args:
        x1: array or number of any dtype.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Bool array of the broadcast shape. It is a step in both arguments: all derivatives are 0.

    Raises:
        ShapeError: the shapes do not broadcast.

    Differences from NumPy and JAX: those of `equal`.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([1.0, np.nan])
        >>> np.not_equal(x, x)
        Array([False,  True], dtype=bool)
    """
    x1, x2 = comparable(x1, x2, "not_equal")
    return apply(compare.ne, x1, x2)


@library(2)
def less(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 < x2``, element by element; False beside nan.

    Complex numbers compare by their real parts, and where these are equal by their imaginary parts.

    Args:
        x1: array or number of any dtype.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Bool array of the broadcast shape. It is a step in both arguments: all derivatives are 0.

    Raises:
        ShapeError: the shapes do not broadcast.

    Differences from NumPy and JAX: those of `equal`.

    Example:
        >>> import numlift.numpy as np
        >>> np.less(np.asarray([1 + 2j, 1 + 3j]), 1 + 3j)
        Array([ True, False], dtype=bool)
    """
    return ordered(compare.lt, compare.lt, *comparable(x1, x2, "less"))


@library(2)
def less_equal(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 <= x2``, element by element; False beside nan.

    Complex numbers compare by their real parts, and where these are equal by their imaginary parts.

    Args:
        x1: array or number of any dtype.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Bool array of the broadcast shape. It is a step in both arguments: all derivatives are 0.

    Raises:
        ShapeError: the shapes do not broadcast.

    Differences from NumPy and JAX: those of `equal`.

    Example:
        >>> import numlift.numpy as np
        >>> np.less_equal(np.asarray([1, 2, 3]), 2)
        Array([ True,  True, False], dtype=bool)
    """
    return ordered(compare.le, compare.lt, *comparable(x1, x2, "less_equal"))


@library(2)
def greater(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 > x2``, element by element; False beside nan.

    Complex numbers compare by their real parts, and where these are equal by their imaginary parts.

    Args:
        x1: array or number of any dtype.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Bool array of the broadcast shape. It is a step in both arguments: all derivatives are 0.

    Raises:
        ShapeError: the shapes do not broadcast.

    Differences from NumPy and JAX: those of `equal`.

    Example:
        >>> import numlift.numpy as np
        >>> np.greater(np.asarray([[1], [3]]), np.asarray([0, 2]))
        Array([[ True, False],
               [ True,  True]], dtype=bool)
    """
    return ordered(compare.gt, compare.gt, *comparable(x1, x2, "greater"))


@library(2)
def greater_equal(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 >= x2``, element by element; False beside nan.

    Complex numbers compare by their real parts, and where these are equal by their imaginary parts.

    Args:
        x1: array or number of any dtype.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Bool array of the broadcast shape. It is a step in both arguments: all derivatives are 0.

    Raises:
        ShapeError: the shapes do not broadcast.

    Differences from NumPy and JAX: those of `equal`.

    Example:
        >>> import numlift.numpy as np
        >>> np.greater_equal(np.asarray([1.0, np.nan, np.inf]), 1.0)
        Array([ True, False,  True], dtype=bool)
    """
    return ordered(compare.ge, compare.gt, *comparable(x1, x2, "greater_equal"))


def ordered(op: Any, strict: Any, x: Any, y: Any) -> Any:
    """A comparison; complex operands are compared like pairs (real, imaginary)."""
    if type_of(x).kind != "c":
        return apply(op, x, y)
    a, b = apply(arith.real, x), apply(arith.real, y)
    same = apply(compare.eq, a, b)
    within = apply(op, apply(arith.imag, x), apply(arith.imag, y))
    return apply(arith.select, same, apply(strict, a, b), within)


# --- logical functions ---------------------------------------------------------------------


def truth(x: Any, function: str, argument: str = "x") -> Any:
    """An operand as a bool: x != 0."""
    x = as_value(x, function, argument)
    t = type_of(x)
    return x if t.kind == "b" else apply(compare.ne, x, number_of(t)(0))


def _truths(x1: Any, x2: Any, function: str) -> Any:
    return broadcast_operands(function, truth(x1, function, "x1"), truth(x2, function, "x2"))


@library(2)
def logical_and(x1: Any, x2: Any, /) -> Any:
    """Whether both elements are true, that is not zero; nan is true.

    Args:
        x1: array or number of any dtype.
        x2: array or number of any dtype; broadcast with `x1`.

    Returns:
        Bool array of the broadcast shape. It is a step in both arguments: all derivatives are 0.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import numlift.numpy as np
        >>> np.logical_and(np.asarray([0.0, 2.0, np.nan]), 1)
        Array([False,  True,  True], dtype=bool)
    """
    return apply(binary.and_, *_truths(x1, x2, "logical_and"))


@library(2)
def logical_or(x1: Any, x2: Any, /) -> Any:
    """Whether at least one of the elements is true, that is not zero; nan is true.

    Args:
        x1: array or number of any dtype.
        x2: array or number of any dtype; broadcast with `x1`.

    Returns:
        Bool array of the broadcast shape. It is a step in both arguments: all derivatives are 0.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import numlift.numpy as np
        >>> np.logical_or(np.asarray([0, 2]), np.asarray([[0], [1]]))
        Array([[False,  True],
               [ True,  True]], dtype=bool)
    """
    return apply(binary.or_, *_truths(x1, x2, "logical_or"))


@library(2)
def logical_xor(x1: Any, x2: Any, /) -> Any:
    """Whether exactly one of the elements is true, that is not zero; nan is true.

    Args:
        x1: array or number of any dtype.
        x2: array or number of any dtype; broadcast with `x1`.

    Returns:
        Bool array of the broadcast shape. It is a step in both arguments: all derivatives are 0.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import numlift.numpy as np
        >>> np.logical_xor(np.asarray([0, 2, 0]), np.asarray([0, 3, 1]))
        Array([False, False,  True], dtype=bool)
    """
    return apply(binary.xor, *_truths(x1, x2, "logical_xor"))


@library(1)
def logical_not(x: Any, /) -> Any:
    """Whether x is false, that is zero; False for nan.

    Args:
        x: array or number of any dtype.

    Returns:
        Bool array of the shape of `x`. It is a step: all derivatives are 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.logical_not(np.asarray([0.0, -0.0, 0.5, np.nan]))
        Array([ True,  True, False, False], dtype=bool)
    """
    return apply(binary.not_, truth(x, "logical_not"))


# --- bitwise functions ---------------------------------------------------------------------


def _bits(x1: Any, x2: Any, function: str) -> Any:
    if isinstance(x1, Value) and isinstance(x2, Value) and x1.type is x2.type:
        x, y = x1, x2
    else:
        x, y = pair(x1, x2, function)
    need_integers(function, x, y, accepts="biu")
    return x, y


@library(2)
def bitwise_and(x1: Any, x2: Any, /) -> Any:
    """``x1 & x2``: the bits that are set in both.

    Args:
        x1: array or number; integers or bools.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape and the promoted dtype; bools stay bool.

    Raises:
        DTypeError: an operand is neither an integer nor a bool.  ShapeError: the shapes do not
        broadcast.  OverflowError: a Python integer does not fit into the dtype of the array.

    Differences from JAX: a Python integer that does not fit raises, as in NumPy.

    Example:
        >>> import numlift.numpy as np
        >>> np.bitwise_and(np.asarray([0b110, 0b101]), 0b011)
        Array([2, 1], dtype=int32)
    """
    return apply(binary.and_, *_bits(x1, x2, "bitwise_and"))


@library(2)
def bitwise_or(x1: Any, x2: Any, /) -> Any:
    """``x1 | x2``: the bits that are set in one of them, or both.

    Args:
        x1: array or number; integers or bools.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape and the promoted dtype; bools stay bool.

    Raises:
        DTypeError: an operand is neither an integer nor a bool.  ShapeError: the shapes do not
        broadcast.  OverflowError: a Python integer does not fit into the dtype of the array.

    Differences from JAX: a Python integer that does not fit raises, as in NumPy.

    Example:
        >>> import numlift.numpy as np
        >>> np.bitwise_or(np.asarray([0b100, 0b101]), 0b011)
        Array([7, 7], dtype=int32)
    """
    return apply(binary.or_, *_bits(x1, x2, "bitwise_or"))


@library(2)
def bitwise_xor(x1: Any, x2: Any, /) -> Any:
    """``x1 ^ x2``: the bits that are set in exactly one of them.

    Args:
        x1: array or number; integers or bools.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape and the promoted dtype; bools stay bool.

    Raises:
        DTypeError: an operand is neither an integer nor a bool.  ShapeError: the shapes do not
        broadcast.  OverflowError: a Python integer does not fit into the dtype of the array.

    Differences from JAX: a Python integer that does not fit raises, as in NumPy.

    Example:
        >>> import numlift.numpy as np
        >>> np.bitwise_xor(np.asarray([0b110, 0b101]), 0b011)
        Array([5, 6], dtype=int32)
    """
    return apply(binary.xor, *_bits(x1, x2, "bitwise_xor"))


@library(1)
def invert(x: Any, /) -> Any:
    """``~x``: every bit turned.

    For signed integers that is ``-x - 1``, for unsigned ones the greatest number minus x, for bools
    `logical_not`.

    Args:
        x: array or number; integers or bools.

    Returns:
        Array of the shape and dtype of `x`.

    Raises:
        DTypeError: `x` is neither an integer nor a bool.

    Example:
        >>> import numlift.numpy as np
        >>> np.invert(np.asarray([0, 5]))
        Array([-1, -6], dtype=int32)
        >>> np.invert(np.asarray([1, 2], "uint8"))
        Array([254, 253], dtype=uint8)
    """
    x = as_value(x, "invert", "x")
    need_integers("invert", x, accepts="biu")
    return apply(binary.not_, x)


@library(2)
def left_shift(x1: Any, x2: Any, /) -> Any:
    """``x1 << x2``: x1 times ``2**x2``, without the bits that leave the dtype.

    0 where `x2` is not less than the number of bits, or negative.

    Args:
        x1: array or number; integers, or bools as the default integer.
        x2: number of places; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape and the promoted dtype.

    Raises:
        DTypeError: an operand is no integer.  ShapeError: the shapes do not broadcast.
        OverflowError: a Python integer does not fit into the dtype of the array.

    Differences from NumPy: two bool arrays give the default integer, not int8.

    Example:
        >>> import numlift.numpy as np
        >>> np.left_shift(np.asarray([1, 3]), np.asarray([[2], [32]]))
        Array([[ 4, 12],
               [ 0,  0]], dtype=int32)
    """
    x, y = numbers(x1, x2, "left_shift")
    need_integers("left_shift", x, y)
    return apply(binary.shift_left, x, y)


@library(2)
def right_shift(x1: Any, x2: Any, /) -> Any:
    """``x1 >> x2``: x1 divided by ``2**x2`` and rounded down.

    Signed integers keep their sign. Where `x2` is not less than the number of bits, or negative,
    the result is 0, and -1 for negative `x1`.

    Args:
        x1: array or number; integers, or bools as the default integer.
        x2: number of places; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape and the promoted dtype.

    Raises:
        DTypeError: an operand is no integer.  ShapeError: the shapes do not broadcast.
        OverflowError: a Python integer does not fit into the dtype of the array.

    Differences from NumPy: two bool arrays give the default integer, not int8.

    Example:
        >>> import numlift.numpy as np
        >>> np.right_shift(np.asarray([9, -9]), np.asarray([[2], [40]]))
        Array([[ 2, -3],
               [ 0, -1]], dtype=int32)
    """
    x, y = numbers(x1, x2, "right_shift")
    need_integers("right_shift", x, y)
    signed = type_of(x).kind == "i"
    return apply(binary.shift_right_arithmetic if signed else binary.shift_right_logical, x, y)


@library(1)
def bitwise_count(x: Any, /) -> Any:
    """Number of bits set in |x|.

    Args:
        x: array or number; integers or bools.

    Returns:
        uint8 array of the shape of `x`.

    Raises:
        DTypeError: `x` is neither an integer nor a bool.

    Example:
        >>> import numlift.numpy as np
        >>> np.bitwise_count(np.asarray([7, -8, 0]))
        Array([3, 1, 0], dtype=uint8)
    """
    x = as_value(x, "bitwise_count", "x")
    t = type_of(x)
    need_integers("bitwise_count", x, accepts="biu")
    if t.kind == "b":
        return arith.convert(x, np.uint8)
    if t.kind == "i":
        # |int8(-128)| is 128 only as an unsigned number; its bits are those of -128
        negative = apply(compare.lt, x, number_of(t)(0))
        x = apply(arith.select, negative, x, apply(arith.neg, x))
    return cast(apply(binary.population_count, x), type_of(x), np.dtype(np.uint8))


bitwise_not = bitwise_invert = invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift

__all__ = [
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "equal",
    "greater",
    "greater_equal",
    "invert",
    "left_shift",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "right_shift",
]
