"""Functions of two arrays that look at the sign, the exponent or the last bit of a float."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import compare, elementwise
from ..ops import elementwise_binary as binary
from ..ops.elementwise_misc import BitcastConvertType
from ..structural import arith
from .operands import need_integers, number_of, real_inexact, real_pair
from .util import as_value, broadcast_operands, cast


@library(2)
def copysign(x1: Any, x2: Any, /) -> Any:
    """|x1| with the sign of x2, which counts for 0.0, -0.0 and nan too.

    Args:
        x1: array or number, real; integers and bools become float32 (x64: float64).
        x2: array or number, whose sign is taken; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        DTypeError: an operand is complex.
        ShapeError: the shapes do not broadcast.

    Derivative: sign(x1) sign(x2) in x1, and 0 at x1 = 0 (JAX: 1 or -1); 0 in x2.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.copysign(np.asarray([1.0, -2.0, 3.0]), np.asarray([-0.0, 5.0, -1.0]))
        Array([-1.,  2., -3.], dtype=float32)
    """
    x, y = real_pair(x1, x2, "copysign")
    size = apply(elementwise.abs_, x)
    return apply(arith.select, sign_bit(y), size, apply(arith.neg, size))


def sign_bit(x: Any) -> Any:
    """Whether the sign bit of a float is set (also of -0.0 and nan)."""
    word = np.dtype(f"i{type_of(x).dtype.itemsize}")
    bits = apply(BitcastConvertType.of(word), arith.convert(x, type_of(x).dtype))
    return apply(compare.lt, bits, word.type(0))


@library(2)
def nextafter(x1: Any, x2: Any, /) -> Any:
    """The neighbour of x1 among the floats of its dtype, in the direction of x2.

    Where both are equal it is x2; nan if one of them is nan.

    Args:
        x1: array or number, real; integers and bools become float32 (x64: float64).
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        DTypeError: an operand is complex.
        ShapeError: the shapes do not broadcast.

    Derivative: none; to ask for one is a GradError.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> step = np.nextafter(1.0, 2.0) - 1
        >>> print(step == np.finfo(np.float32).eps)
        True
        >>> np.nextafter(np.asarray([0, 1], dtype=np.float16), 1)
        Array([6.e-08, 1.e+00], dtype=float16)
    """
    x1, x2 = real_pair(x1, x2, "nextafter")
    return apply(binary.nextafter, x1, x2)


@library(2)
def heaviside(x1: Any, x2: Any, /) -> Any:
    """Step function: 0 for x1 < 0, x2 for x1 == 0, 1 for x1 > 0, and nan for nan.

    Args:
        x1: array or number, real; integers and bools become float32 (x64: float64).
        x2: value at the step, usually 0, 0.5 or 1; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        DTypeError: an operand is complex.
        ShapeError: the shapes do not broadcast.

    Derivative: 0 in x1, also at the step; in x2 it is 1 where x1 == 0, else 0.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.heaviside(np.asarray([-1.0, 0.0, 2.0]), 0.5)
        Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, y = real_pair(x1, x2, "heaviside")
    number = number_of(type_of(x))
    step = apply(arith.select, apply(compare.gt, x, number(0)), number(0), number(1))
    step = apply(arith.select, apply(compare.eq, x, number(0)), step, y)
    return apply(arith.select, apply(compare.ne, x, x), step, number(np.nan))


@library(2)
def ldexp(x1: Any, x2: Any, /) -> Any:
    """x1 * 2**x2 for integers x2: `x1` with another exponent, the inverse of `frexp`.

    It is exact, also where 2**x2 alone would overflow, as long as the result is a normal number.

    Args:
        x1: array or number, real; integers and bools become float32 (x64: float64).
        x2: exponents, an array or number of integers or bools; broadcast with `x1`.

    Returns:
        Array of the broadcast shape, in the dtype of `x1`.

    Raises:
        DTypeError: x1 is complex, or x2 is neither integer nor bool.
        ShapeError: the shapes do not broadcast.

    Derivative: 2**x2 in x1 (JAX: 1 where x1 is 0 or infinite); the exponents have none.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.ldexp(np.asarray([0.75, 1e-30]), np.asarray([2, 200]))
        Array([3.000000e+00, 1.606938e+30], dtype=float32)
        >>> np.ldexp(*np.frexp(np.asarray([10.0, -0.3])))
        Array([10. , -0.3], dtype=float32)
    """
    x, n = real_inexact(x1, "ldexp"), as_value(x2, "ldexp", "x2")
    need_integers("ldexp", n, accepts="biu")
    if type_of(n).kind == "b":
        n = cast(n, type_of(n), type_of(0).dtype)
    x, n = broadcast_operands("ldexp", x, n)
    t, u = type_of(x), type_of(n)
    # Three factors of at most 2**(n/3): none overflows before the product does
    three = u.dtype.type(3)
    third = apply(binary.div, n, three)
    rest = apply(arith.sub, n, apply(arith.mul, third, u.dtype.type(2)))
    step = apply(elementwise.exp2, cast(third, type_of(third), t.dtype, t.weak_type))
    last = apply(elementwise.exp2, cast(rest, type_of(rest), t.dtype, t.weak_type))
    return apply(arith.mul, apply(arith.mul, apply(arith.mul, x, step), step), last)


__all__ = [
    "copysign",
    "heaviside",
    "ldexp",
    "nextafter",
]
