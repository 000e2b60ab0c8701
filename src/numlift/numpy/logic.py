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
from .operands import need_integers, number_of, pair
from .util import as_value, broadcast_operands, cast


@library(2)
def equal(x1: Any, x2: Any, /) -> Any:
    """Whether x1 == x2, element by element; nan equals nothing.

    Example:
        >>> import numlift.numpy as np
        >>> np.equal(np.asarray([1, 2]), 2)
        Array([False,  True], dtype=bool)
    """
    x1, x2 = pair(x1, x2, "equal")
    return apply(compare.eq, x1, x2)


@library(2)
def not_equal(x1: Any, x2: Any, /) -> Any:
    """Whether x1 != x2, element by element; True for nan.

    Example:
        >>> import numlift.numpy as np
        >>> np.not_equal(np.asarray([1, 2]), 2)
        Array([ True, False], dtype=bool)
    """
    x1, x2 = pair(x1, x2, "not_equal")
    return apply(compare.ne, x1, x2)


@library(2)
def less(x1: Any, x2: Any, /) -> Any:
    """Whether x1 < x2, element by element. Complex numbers compare by real, then imaginary part.

    Example:
        >>> import numlift.numpy as np
        >>> np.less(np.asarray([1, 2]), 2)
        Array([ True, False], dtype=bool)
    """
    return ordered(compare.lt, compare.lt, *pair(x1, x2, "less"))


@library(2)
def less_equal(x1: Any, x2: Any, /) -> Any:
    """Whether x1 <= x2, element by element. Complex numbers compare by real, then imaginary part.

    Example:
        >>> import numlift.numpy as np
        >>> np.less_equal(np.asarray([1, 3]), 2)
        Array([ True, False], dtype=bool)
    """
    return ordered(compare.le, compare.lt, *pair(x1, x2, "less_equal"))


@library(2)
def greater(x1: Any, x2: Any, /) -> Any:
    """Whether x1 > x2, element by element. Complex numbers compare by real, then imaginary part.

    Example:
        >>> import numlift.numpy as np
        >>> np.greater(np.asarray([1, 3]), 2)
        Array([False,  True], dtype=bool)
    """
    return ordered(compare.gt, compare.gt, *pair(x1, x2, "greater"))


@library(2)
def greater_equal(x1: Any, x2: Any, /) -> Any:
    """Whether x1 >= x2, element by element. Complex numbers compare by real, then imaginary part.

    Example:
        >>> import numlift.numpy as np
        >>> np.greater_equal(np.asarray([1, 3]), 2)
        Array([False,  True], dtype=bool)
    """
    return ordered(compare.ge, compare.gt, *pair(x1, x2, "greater_equal"))


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
    """Whether both are not zero.

    Example:
        >>> import numlift.numpy as np
        >>> np.logical_and(np.asarray([0, 2]), 1)
        Array([False,  True], dtype=bool)
    """
    return apply(binary.and_, *_truths(x1, x2, "logical_and"))


@library(2)
def logical_or(x1: Any, x2: Any, /) -> Any:
    """Whether one is not zero.

    Example:
        >>> import numlift.numpy as np
        >>> np.logical_or(np.asarray([0, 2]), 0)
        Array([False,  True], dtype=bool)
    """
    return apply(binary.or_, *_truths(x1, x2, "logical_or"))


@library(2)
def logical_xor(x1: Any, x2: Any, /) -> Any:
    """Whether exactly one is not zero.

    Example:
        >>> import numlift.numpy as np
        >>> np.logical_xor(np.asarray([0, 2]), 1)
        Array([ True, False], dtype=bool)
    """
    return apply(binary.xor, *_truths(x1, x2, "logical_xor"))


@library(1)
def logical_not(x: Any, /) -> Any:
    """Whether x is zero.

    Example:
        >>> import numlift.numpy as np
        >>> np.logical_not(np.asarray([0, 2]))
        Array([ True, False], dtype=bool)
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
    """x1 & x2, bit by bit.

    Raises:
        DTypeError: an operand is neither an integer nor a bool.

    Example:
        >>> import numlift.numpy as np
        >>> np.bitwise_and(np.asarray([6, 5]), 3)
        Array([2, 1], dtype=int32)
    """
    return apply(binary.and_, *_bits(x1, x2, "bitwise_and"))


@library(2)
def bitwise_or(x1: Any, x2: Any, /) -> Any:
    """x1 | x2, bit by bit.

    Example:
        >>> import numlift.numpy as np
        >>> np.bitwise_or(np.asarray([4, 5]), 3)
        Array([7, 7], dtype=int32)
    """
    return apply(binary.or_, *_bits(x1, x2, "bitwise_or"))


@library(2)
def bitwise_xor(x1: Any, x2: Any, /) -> Any:
    """x1 ^ x2, bit by bit.

    Example:
        >>> import numlift.numpy as np
        >>> np.bitwise_xor(np.asarray([6, 5]), 3)
        Array([5, 6], dtype=int32)
    """
    return apply(binary.xor, *_bits(x1, x2, "bitwise_xor"))


@library(1)
def invert(x: Any, /) -> Any:
    """~x, all bits turned; bools: logical not.

    Example:
        >>> import numlift.numpy as np
        >>> np.invert(np.asarray([0, 5]))
        Array([-1, -6], dtype=int32)
    """
    x = as_value(x, "invert", "x")
    need_integers("invert", x, accepts="biu")
    return apply(binary.not_, x)


@library(2)
def left_shift(x1: Any, x2: Any, /) -> Any:
    """x1 << x2; 0 where x2 is not less than the number of bits (or negative).

    Example:
        >>> import numlift.numpy as np
        >>> np.left_shift(np.asarray([1, 3]), 2)
        Array([ 4, 12], dtype=int32)
    """
    x, y = numbers(x1, x2, "left_shift")
    need_integers("left_shift", x, y)
    return apply(binary.shift_left, x, y)


@library(2)
def right_shift(x1: Any, x2: Any, /) -> Any:
    """x1 >> x2; signed integers keep their sign, so negative ones are rounded down.

    Example:
        >>> import numlift.numpy as np
        >>> np.right_shift(np.asarray([8, -8]), 2)
        Array([ 2, -2], dtype=int32)
    """
    x, y = numbers(x1, x2, "right_shift")
    need_integers("right_shift", x, y)
    signed = type_of(x).kind == "i"
    return apply(binary.shift_right_arithmetic if signed else binary.shift_right_logical, x, y)


@library(1)
def bitwise_count(x: Any, /) -> Any:
    """Number of bits set in |x|, as uint8.

    Example:
        >>> import numlift.numpy as np
        >>> np.bitwise_count(np.asarray([7, -8]))
        Array([3, 1], dtype=uint8)
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
