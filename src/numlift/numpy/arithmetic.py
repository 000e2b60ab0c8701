"""NumPy's arithmetic on two arrays: sums, products, quotients, remainders, powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import compare, elementwise
from ..ops import elementwise_binary as binary
from ..ops.elementwise_misc import BitcastConvertType
from ..structural import arith
from .operands import (
    inexact_pair,
    need_integers,
    not_for_complex,
    number_of,
    pair,
    real_inexact,
    real_pair,
)
from .util import as_value, broadcast_operands, cast, promote


@library(2)
def add(x1: Any, x2: Any, /) -> Any:
    """Sum x1 + x2, element by element with broadcasting; bools: logical or.

    Args:
        x1, x2: arrays or numbers.

    Returns:
        Array of the promoted dtype. Derivative: 1 in both.

    Raises:
        ShapeError: the shapes do not broadcast.  TypePromotionError: no common dtype.

    Example:
        >>> import numlift.numpy as np
        >>> np.add(np.asarray([1, 2]), 0.5)
        Array([1.5, 2.5], dtype=float32, weak_type=True)
    """
    x1, x2 = pair(x1, x2, "add")
    return apply(arith.add, x1, x2)


@library(2)
def subtract(x1: Any, x2: Any, /) -> Any:
    """Difference x1 - x2. Not defined for bools (use `logical_xor`).

    Example:
        >>> import numlift.numpy as np
        >>> np.subtract(np.asarray([3, 2]), 1)
        Array([2, 1], dtype=int32)
    """
    x1, x2 = pair(x1, x2, "subtract")
    if type_of(x1).kind == "b":
        raise no_bool("subtract", x1, "np.logical_xor(x1, x2)")
    return apply(arith.sub, x1, x2)


def no_bool(function: str, x: Any, advice: str) -> errors.DTypeError:
    """The error of a function that takes no bools."""
    return errors.DTypeError(
        errors.explain(function, "is not defined for bools", {"x": type_of(x)}, try_=advice)
    )


@library(2)
def multiply(x1: Any, x2: Any, /) -> Any:
    """Product x1 * x2; bools: logical and.

    Example:
        >>> import numlift.numpy as np
        >>> np.multiply(np.asarray([3, 2]), 2)
        Array([6, 4], dtype=int32)
    """
    x1, x2 = pair(x1, x2, "multiply")
    return apply(arith.mul, x1, x2)


@library(2)
def divide(x1: Any, x2: Any, /) -> Any:
    """Quotient x1 / x2; integers are divided as floats. x / 0 is inf or nan, without a warning.

    Example:
        >>> import numlift.numpy as np
        >>> np.divide(np.asarray([1, 2]), np.asarray([2, 4]))
        Array([0.5, 0.5], dtype=float32)
    """
    x1, x2 = inexact_pair(x1, x2, "divide")
    return apply(binary.div, x1, x2)


@library(2)
def floor_divide(x1: Any, x2: Any, /) -> Any:
    """Quotient rounded down, floor(x1 / x2).

    Integers keep their dtype; x // 0 is then -2 for x != 0 and -1 for x == 0 where x1 is signed,
    all bits set where it is unsigned (NumPy gives 0 and warns). Derivative 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.floor_divide(np.asarray([7, -7]), 2)
        Array([ 3, -4], dtype=int32)
    """
    return _floor_divide(*numbers(x1, x2, "floor_divide"))


def _floor_divide(x: Any, y: Any) -> Any:
    t = type_of(x)
    if t.kind == "u":
        return apply(binary.div, x, y)
    if t.kind == "i":
        q = apply(binary.div, x, y)
        signs_differ = apply(compare.ne, apply(elementwise.sign, x), apply(elementwise.sign, y))
        inexact_ = apply(compare.ne, apply(binary.rem, x, y), number_of(t)(0))
        down = apply(binary.and_, signs_differ, inexact_)
        return apply(arith.select, down, q, apply(arith.sub, q, number_of(t)(1)))
    if t.kind == "c":
        raise not_for_complex("floor_divide", x)
    return _float_divmod(x, y)[0]


def _float_divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Quotient and remainder as Python has them: r has the sign of y, q is floor((x - r) / y)."""
    number = number_of(type_of(x))
    zero, one = number(0), number(1)
    r = apply(binary.rem, x, y)
    q = apply(binary.div, apply(arith.sub, x, r), y)
    other_sign = apply(compare.ne, apply(elementwise.sign, y), apply(elementwise.sign, r))
    adjust = apply(binary.and_, other_sign, apply(compare.ne, r, zero))
    r = apply(arith.select, adjust, r, apply(arith.add, r, y))
    q = apply(arith.select, adjust, q, apply(arith.sub, q, one))
    q = apply(elementwise.round_, q)
    quotient = apply(binary.div, x, y)
    q = apply(arith.select, apply(compare.eq, q, zero), q, apply(arith.mul, quotient, zero))
    # x / 0 is the quotient then: infinite with the right sign, or nan
    return apply(arith.select, apply(compare.eq, y, zero), q, quotient), r


def numbers(x1: Any, x2: Any, function: str) -> Any:
    """`pair`, with bools as the default integer."""
    x1, x2 = promote(as_value(x1, function, "x1"), as_value(x2, function, "x2"))
    t = type_of(x1)
    if t.kind == "b":
        dtype = type_of(0).dtype
        x1, x2 = cast(x1, t, dtype), cast(x2, type_of(x2), dtype)
    return broadcast_operands(function, x1, x2)


@library(2)
def remainder(x1: Any, x2: Any, /) -> Any:
    """Remainder x1 - x2 * floor(x1 / x2), with the sign of x2. Integers: x % 0 is 0.

    A remainder 0.0 may have the other sign than NumPy's, as its derivative is that of others.

    Derivative: 1 in x1, -floor(x1 / x2) in x2.

    Example:
        >>> import numlift.numpy as np
        >>> np.remainder(np.asarray([7, -7]), 3)
        Array([1, 2], dtype=int32)
    """
    x, y = numbers(x1, x2, "remainder")
    t = type_of(x)
    if t.kind == "c":
        raise not_for_complex("remainder", x)
    zero = number_of(t)(0)
    if t.kind in "iu":
        # x % 0 is 0, as NumPy has it: the hardware leaves x
        y = apply(arith.select, apply(compare.eq, y, zero), y, number_of(t)(1))
    r = apply(binary.rem, x, y)
    if t.kind == "u":
        return r
    not_zero = apply(compare.ne, r, zero)
    differ = apply(compare.ne, apply(compare.lt, r, zero), apply(compare.lt, y, zero))
    adjust = apply(binary.and_, differ, not_zero)
    return apply(arith.select, adjust, r, apply(arith.add, r, y))


@library(2)
def fmod(x1: Any, x2: Any, /) -> Any:
    """Remainder of the division rounded towards zero, with the sign of x1.

    Example:
        >>> import numlift.numpy as np
        >>> np.fmod(np.asarray([7, -7]), 3)
        Array([ 1, -1], dtype=int32)
    """
    x, y = numbers(x1, x2, "fmod")
    if type_of(x).kind == "c":
        raise not_for_complex("fmod", x)
    return apply(binary.rem, x, y)


@library(2)
def divmod(x1: Any, x2: Any, /) -> tuple[Any, Any]:
    """``(floor_divide(x1, x2), remainder(x1, x2))``.

    Example:
        >>> import numlift.numpy as np
        >>> np.divmod(np.asarray([7, -7]), 3)
        (Array([ 2, -3], dtype=int32), Array([1, 2], dtype=int32))
    """
    x, y = numbers(x1, x2, "divmod")
    if type_of(x).kind == "f":
        return _float_divmod(x, y)
    return _floor_divide(x, y), remainder(x, y)


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


@library(2)
def hypot(x1: Any, x2: Any, /) -> Any:
    """Length of the hypotenuse sqrt(x1**2 + x2**2), without overflow on the way.

    Derivative: x1 / hypot and x2 / hypot, and 0 at the origin.

    Example:
        >>> import numlift.numpy as np
        >>> np.hypot(3.0, 4.0)
        Array(5., dtype=float32, weak_type=True)
    """
    x, y = real_pair(x1, x2, "hypot")
    t = type_of(x)
    zero, one = number_of(t)(0), number_of(t)(1)
    x, y = apply(elementwise.abs_, x), apply(elementwise.abs_, y)
    infinite = apply(
        binary.or_,
        apply(compare.eq, x, number_of(t)(np.inf)),
        apply(compare.eq, y, number_of(t)(np.inf)),
    )
    swap = apply(compare.lt, x, y)
    big, small = apply(arith.select, swap, x, y), apply(arith.select, swap, y, x)
    nothing = apply(compare.eq, big, zero)
    ratio = apply(binary.div, small, apply(arith.select, nothing, big, one))
    root = apply(elementwise.sqrt, apply(arith.add, apply(elementwise.square, ratio), one))
    length = apply(arith.mul, big, root)
    length = apply(arith.select, nothing, length, zero)
    return apply(arith.select, infinite, length, number_of(t)(np.inf))


@library(2)
def arctan2(x1: Any, x2: Any, /) -> Any:
    """Angle of the point (x2, x1) in (-pi, pi]. Derivative 0 at the origin (JAX: nan).

    Example:
        >>> import numlift.numpy as np
        >>> np.arctan2(1.0, 0.0)
        Array(1.5707964, dtype=float32, weak_type=True)
    """
    x1, x2 = inexact_pair(x1, x2, "arctan2")
    return apply(binary.atan2, x1, x2)


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
def logaddexp(x1: Any, x2: Any, /) -> Any:
    """log(exp(x1) + exp(x2)) without overflow.

    Derivative: exp(x1 - result) and exp(x2 - result); 1/2 each at equal infinities.

    Example:
        >>> import numlift.numpy as np
        >>> np.logaddexp(0.0, 0.0)
        Array(0.6931472, dtype=float32, weak_type=True)
    """
    x, y = inexact_pair(x1, x2, "logaddexp")
    t = type_of(x)
    if t.kind == "c":
        x, y = _by_real_part(x, y)
        return apply(
            arith.add, x, apply(elementwise.log1p, apply(elementwise.exp, apply(arith.sub, y, x)))
        )
    return _log_add(x, y)


def _by_real_part(x: Any, y: Any) -> tuple[Any, Any]:
    """(larger real part, smaller real part)."""
    swap = apply(compare.lt, apply(arith.real, x), apply(arith.real, y))
    return apply(arith.select, swap, x, y), apply(arith.select, swap, y, x)


def _log_add(x: Any, y: Any) -> Any:
    """log(e**x + e**y) of real operands."""
    big = apply(binary.max_, x, y)
    gap = apply(arith.sub, x, y)
    # inf - inf is nan: both are the same infinity then, and the answer is their (halved) sum
    same = apply(compare.ne, gap, gap)
    number = number_of(type_of(gap))
    safe = apply(arith.select, same, gap, number(0))
    tail = apply(
        elementwise.log1p,
        apply(elementwise.exp, apply(arith.neg, apply(elementwise.abs_, safe))),
    )
    both = apply(arith.add, x, y)
    smooth = apply(arith.add, big, tail)
    return apply(arith.select, same, smooth, apply(arith.mul, both, number(0.5)))


@library(2)
def logaddexp2(x1: Any, x2: Any, /) -> Any:
    """log2(2**x1 + 2**x2) without overflow.

    Example:
        >>> import numlift.numpy as np
        >>> np.logaddexp2(3.0, 3.0)
        Array(4., dtype=float32, weak_type=True)
    """
    x, y = real_pair(x1, x2, "logaddexp2")
    scale = number_of(type_of(x))(np.log(2))
    joined = _log_add(apply(arith.mul, x, scale), apply(arith.mul, y, scale))
    return apply(binary.div, joined, scale)


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


true_divide, mod, atan2 = divide, remainder, arctan2

__all__ = [
    "add",
    "arctan2",
    "atan2",
    "copysign",
    "divide",
    "divmod",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "hypot",
    "ldexp",
    "logaddexp",
    "logaddexp2",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "nextafter",
    "remainder",
    "subtract",
    "true_divide",
]
