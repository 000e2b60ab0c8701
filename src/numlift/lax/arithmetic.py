"""Arithmetic on two arrays: sums, products, powers, extremes, angles."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import user_dtype
from ..core.tracing import apply, type_of
from ..ops import elementwise_binary as ops
from ..ops.elementwise import IntegerPow
from ..structural import arith
from ..structural.arith import convert
from .operands import SCALARS, binary, broadcasting, nary, numbers

_neg = arith.neg
_add, _sub, _mul, _complex = arith.add, arith.sub, arith.mul, arith.complex_
_div, _rem, _max, _min, _pow = ops.div, ops.rem, ops.max_, ops.min_, ops.pow_
_atan2, _nextafter, _clamp, _integer_pow = ops.atan2, ops.nextafter, ops.clamp, IntegerPow.of


def neg(x: Any) -> Any:
    """Negative.

    ``-x``

    Args:
        x: array of all kinds of numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: -1.

    Example:
        >>> from numlift.lax import neg
        >>> float(neg(1.0))
        -1.0
    """
    return apply(_neg, x)


def add(x: Any, y: Any) -> Any:
    """Sum.

    ``x + y``

    Args:
        x, y: arrays of numeric numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: 1 in each.

    Differences: accepts bool (or), which JAX's does not.

    Example:
        >>> from numlift.lax import add
        >>> float(add(1.0, 2.0))
        3.0
    """
    return binary(_add, x, y)


def sub(x: Any, y: Any) -> Any:
    """Difference.

    ``x - y``

    Args:
        x, y: arrays of numeric numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: 1 in x, -1 in y.

    Example:
        >>> from numlift.lax import sub
        >>> float(sub(1.0, 2.0))
        -1.0
    """
    return binary(_sub, x, y)


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Any:
    """Product.

    ``x * y``

    Args:
        x, y: arrays of one dtype and shape; Python numbers and rank 0 broadcast.
        out_dtype: dtype of the result; a wider one is used for the product too.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: y in x, x in y.

    Differences: accepts bool (and), which JAX's does not.

    Example:
        >>> from numlift.lax import mul
        >>> float(mul(2.0, 3.0))
        6.0
    """
    if out_dtype is None:
        return binary(_mul, x, y)
    dtype = user_dtype(out_dtype, "mul")
    x, y = numbers("mul", x, y)
    if dtype.itemsize >= type_of(x).dtype.itemsize:
        x, y = convert(x, dtype), convert(y, dtype)
    return convert(binary(_mul, x, y), dtype)


def div(x: Any, y: Any) -> Any:
    """Quotient.

    ``x / y``; integers truncate towards 0, and give -1 (all bits set) for y = 0.

    Args:
        x, y: arrays of numeric numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: 1 / y in x, -x / y**2 in y.

    Differences: NumPy's // rounds down.

    Example:
        >>> from numlift.lax import div
        >>> float(div(1.0, 4.0)), int(div(-7, 2))
        (0.25, -3)
    """
    return binary(_div, x, y)


def rem(x: Any, y: Any) -> Any:
    """Remainder with the sign of x.

    ``x - y * trunc(x / y)``; NaN for a float y = 0, x for an integer y = 0.

    Args:
        x, y: arrays of real numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: 1 in x, -trunc(x / y) in y.

    Differences: NumPy's % has the sign of y.

    Example:
        >>> from numlift.lax import rem
        >>> float(rem(-5.0, 3.0))
        -2.0
    """
    return binary(_rem, x, y)


def max(x: Any, y: Any) -> Any:
    """The larger element.

    NaN if one is NaN; complex numbers are ordered by real, then imaginary part.

    Args:
        x, y: arrays of numeric numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: 1 in the larger, 0 in the other; 1/2 in each for a tie.

    Example:
        >>> from numlift.lax import max
        >>> float(max(1.0, 2.0))
        2.0
    """
    return binary(_max, x, y)


def min(x: Any, y: Any) -> Any:
    """The smaller element.

    NaN if one is NaN; complex numbers are ordered by real, then imaginary part.

    Args:
        x, y: arrays of numeric numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: 1 in the smaller, 0 in the other; 1/2 in each for a tie.

    Example:
        >>> from numlift.lax import min
        >>> float(min(1.0, 2.0))
        1.0
    """
    return binary(_min, x, y)


def pow(x: Any, y: Any) -> Any:
    """Power.

    ``x**y``; x**0 is 1 for every x.

    Args:
        x: floating or complex array.
        y: array of the dtype of x or of an integer dtype, or a Python number.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: y x**(y - 1) in x, and 0 for y = 0; log(x) x**y in y, and 0 for x = 0.

    Differences: JAX has NaN for the derivative in x at x = y = 0.

    Example:
        >>> from numlift.lax import pow
        >>> float(pow(2.0, 0.5))
        1.4142
    """
    if type(y) is int and -9 < y < 9 and type(x) not in SCALARS:
        return apply(_integer_pow(y), x)
    if type_of(y).kind in "iu":
        return broadcasting(_pow, x, y)
    return binary(_pow, x, y)


def atan2(x: Any, y: Any) -> Any:
    """Angle of the point (y, x), from -pi to pi.

    ``atan(x / y)`` in the quadrant of the point.

    Args:
        x, y: arrays of floating or complex numbers of one dtype and shape; Python numbers
        and rank 0 broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: y / r**2 in x, -x / r**2 in y with r**2 = x**2 + y**2; 0 at the origin.

    Differences: JAX has NaN for the derivatives at the origin.

    Example:
        >>> from numlift.lax import atan2
        >>> float(atan2(1.0, -1.0))
        2.3562
    """
    return binary(_atan2, x, y)


def nextafter(x1: Any, x2: Any) -> Any:
    """The next number after x1 in the direction of x2.

    Args:
        x1, x2: arrays of floating numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: none (GradError).

    Example:
        >>> from numlift.lax import nextafter
        >>> float(nextafter(1.0, 2.0)) > 1
        True
    """
    return binary(_nextafter, x1, x2)


def complex(x: Any, y: Any) -> Any:
    """Complex numbers from real and imaginary parts.

    ``x + i y``

    Args:
        x, y: arrays of float32 or float64 numbers of one dtype and shape; Python numbers
        and rank 0 broadcast.

    Returns:
        Array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Derivative: 1 in x, i in y.

    Example:
        >>> from numlift.lax import complex
        >>> complex(1.0, 2.0).dtype
        dtype('complex64')
    """
    return binary(_complex, x, y)


def clamp(min: Any, x: Any, max: Any) -> Any:
    """Limits x to the interval from min to max.

    ``minimum(maximum(x, min), max)``; NaN stays NaN.

    Args:
        min, max: bounds: rank 0, Python numbers, or arrays of the shape of x.
        x: array of the dtype of the bounds.

    Returns:
        Array of the shape of x.

    Raises:
        DTypeError: dtypes differ.
        ShapeError: a bound has neither rank 0 nor the shape of x.

    Derivative: in x 1 strictly between the bounds, else 0; in a bound 1 where it is the result.

    Example:
        >>> from numlift.lax import clamp
        >>> float(clamp(0.0, 1.5, 1.0))
        1.0
    """
    return nary(_clamp, min, x, max)
