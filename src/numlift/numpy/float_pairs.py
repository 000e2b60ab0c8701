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
    """|x1| with the sign of x2 (which may be -0.0). Derivative: +-1 in x1, 0 in x2.

    Example:
        >>> import numlift.numpy as np
        >>> np.copysign(2.0, -0.0)
        Array(-2., dtype=float32, weak_type=True)
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
    """The next floating-point number after x1 towards x2. No derivative.

    Example:
        >>> import numlift.numpy as np
        >>> np.nextafter(1.0, 2.0) > 1
        Array(True, dtype=bool)
    """
    x1, x2 = real_pair(x1, x2, "nextafter")
    return apply(binary.nextafter, x1, x2)


@library(2)
def heaviside(x1: Any, x2: Any, /) -> Any:
    """Step function: 0 for x1 < 0, x2 for x1 == 0, 1 for x1 > 0, nan for nan.

    Derivative: 0 in x1; in x2 it is 1 where x1 == 0.

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
    """x1 * 2**x2 for integers x2, exact also where 2**x2 alone would overflow.

    Derivative: 2**x2 in x1.

    Raises:
        DTypeError: x2 is not an integer array.

    Example:
        >>> import numlift.numpy as np
        >>> np.ldexp(1.5, 3)
        Array(12., dtype=float32, weak_type=True)
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
