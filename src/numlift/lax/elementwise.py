"""Elementwise functions of one array: rounding, exponentials, logarithms, roots, powers."""

from __future__ import annotations

import operator
from typing import Any

from .. import errors
from ..core.tracing import Tracer, apply
from ..ops import elementwise as ops
from ..ops.elementwise import AccuracyMode, RoundingMethod, Tolerance
from .operands import accurate

_abs, _sign, _floor, _ceil, _is_finite = ops.abs_, ops.sign, ops.floor, ops.ceil, ops.is_finite
_round, _round_even = ops.round_, ops.round_even
_exp, _exp2, _expm1, _log, _log1p = ops.exp, ops.exp2, ops.expm1, ops.log, ops.log1p
_logistic, _sqrt, _rsqrt, _cbrt = ops.logistic, ops.sqrt, ops.rsqrt, ops.cbrt
_square, _reciprocal, _integer_pow = ops.square, ops.reciprocal, ops.IntegerPow.of


def abs(x: Any) -> Any:
    """Absolute value; the modulus of complex numbers.

    ``|x|``, or ``sqrt(re**2 + im**2)``.

    Args:
        x: array of signed, floating or complex numbers, or a Python number.

    Returns:
        Array of the shape of x; real if x is complex.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: sign(x), so 0 at 0; for complex x the real part of conj(x / |x|) dx, and 0 at 0.

    Differences: JAX has derivative 1 at a real 0.

    Example:
        >>> from numlift.lax import abs
        >>> float(abs(-2.5))
        2.5
    """
    return apply(_abs, x)


def sign(x: Any) -> Any:
    """Sign of each element: -1, 0 or 1.

    For complex numbers x / |x|, and 0 at 0. NaN gives NaN, -0.0 gives -0.0.

    Args:
        x: array of all kinds of numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 0; of a complex number the turn along the unit circle.

    Differences: JAX has derivative 0 for complex x too.

    Example:
        >>> from numlift.lax import sign
        >>> float(sign(-2.5))
        -1.0
    """
    return apply(_sign, x)


def floor(x: Any) -> Any:
    """Largest whole number that is not above x.

    Args:
        x: array of floating numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 0.

    Example:
        >>> from numlift.lax import floor
        >>> float(floor(-1.5))
        -2.0
    """
    return apply(_floor, x)


def ceil(x: Any) -> Any:
    """Smallest whole number that is not below x.

    Args:
        x: array of floating numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 0.

    Example:
        >>> from numlift.lax import ceil
        >>> float(ceil(-1.5))
        -1.0
    """
    return apply(_ceil, x)


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """Nearest whole number.

    Args:
        x: array of floating numbers, or a Python number.
        rounding_method: where numbers half-way between two whole numbers go.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 0.

    Differences: NumPy rounds halves to even; the default here rounds them away from 0.

    Example:
        >>> from numlift.lax import RoundingMethod, round
        >>> float(round(0.5)), float(round(0.5, RoundingMethod.TO_NEAREST_EVEN))
        (1.0, 0.0)
    """
    away = RoundingMethod(rounding_method) is RoundingMethod.AWAY_FROM_ZERO
    return apply(_round if away else _round_even, x)


def is_finite(x: Any) -> Any:
    """Whether each element is neither infinite nor NaN.

    Args:
        x: array of floating numbers, or a Python number.

    Returns:
        Bool array of the shape of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Example:
        >>> from numlift.lax import is_finite
        >>> bool(is_finite(1.0))
        True
    """
    return apply(_is_finite, x)


def exp(x: Any, *, accuracy: Any = None) -> Any:
    """Exponential function.

    ``e**x``

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: exp(x).

    Example:
        >>> from numlift.lax import exp
        >>> float(exp(1.0))
        2.71828
    """
    return apply(_exp if accuracy is None else accurate(_exp, accuracy), x)


def exp2(x: Any, *, accuracy: Any = None) -> Any:
    """Power of two.

    ``2**x``; exact for whole x.

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: log(2) 2**x.

    Example:
        >>> from numlift.lax import exp2
        >>> float(exp2(3.0))
        8.0
    """
    return apply(_exp2 if accuracy is None else accurate(_exp2, accuracy), x)


def expm1(x: Any, *, accuracy: Any = None) -> Any:
    """Exponential minus one, accurate for small x.

    ``e**x - 1``

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: exp(x).

    Example:
        >>> from numlift.lax import expm1
        >>> float(expm1(1e-8))
        1e-08
    """
    return apply(_expm1 if accuracy is None else accurate(_expm1, accuracy), x)


def log(x: Any, *, accuracy: Any = None) -> Any:
    """Natural logarithm.

    ``log(x)``; -inf at 0, NaN below.

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 / x; inf at 0.

    Example:
        >>> from numlift.lax import log
        >>> float(log(1.0))
        0.0
    """
    return apply(_log if accuracy is None else accurate(_log, accuracy), x)


def log1p(x: Any, *, accuracy: Any = None) -> Any:
    """Logarithm of one plus x, accurate for small x.

    ``log(1 + x)``

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 / (1 + x); inf at -1.

    Example:
        >>> from numlift.lax import log1p
        >>> float(log1p(1e-8))
        1e-08
    """
    return apply(_log1p if accuracy is None else accurate(_log1p, accuracy), x)


def logistic(x: Any, *, accuracy: Any = None) -> Any:
    """Logistic (sigmoid) function.

    ``1 / (1 + exp(-x))``

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: y (1 - y).

    Example:
        >>> from numlift.lax import logistic
        >>> float(logistic(0.0))
        0.5
    """
    return apply(_logistic if accuracy is None else accurate(_logistic, accuracy), x)


def sqrt(x: Any, *, accuracy: Any = None) -> Any:
    """Square root.

    ``sqrt(x)``; NaN for real x below 0.

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 / (2 sqrt(x)); inf at 0.

    Example:
        >>> from numlift.lax import sqrt
        >>> float(sqrt(9.0))
        3.0
    """
    return apply(_sqrt if accuracy is None else accurate(_sqrt, accuracy), x)


def rsqrt(x: Any, *, accuracy: Any = None) -> Any:
    """Reciprocal of the square root.

    ``1 / sqrt(x)``; inf at 0.

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: -y / (2 x); -inf at 0.

    Example:
        >>> from numlift.lax import rsqrt
        >>> float(rsqrt(4.0))
        0.5
    """
    return apply(_rsqrt if accuracy is None else accurate(_rsqrt, accuracy), x)


def cbrt(x: Any, *, accuracy: Any = None) -> Any:
    """Cube root, real for negative x too.

    ``sign(x) |x|**(1/3)``

    Args:
        x: array of floating numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 / (3 y**2); inf at 0.

    Example:
        >>> from numlift.lax import cbrt
        >>> float(cbrt(-8.0))
        -2.0
    """
    return apply(_cbrt if accuracy is None else accurate(_cbrt, accuracy), x)


def square(x: Any) -> Any:
    """Square.

    ``x * x``

    Args:
        x: array of all kinds of numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 2 x.

    Example:
        >>> from numlift.lax import square
        >>> float(square(3.0))
        9.0
    """
    return apply(_square, x)


def reciprocal(x: Any) -> Any:
    """Reciprocal.

    ``1 / x``; inf at 0.

    Args:
        x: array of floating or complex numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: -1 / x**2; -inf at 0.

    Example:
        >>> from numlift.lax import reciprocal
        >>> float(reciprocal(4.0))
        0.25
    """
    return apply(_reciprocal, x)


def integer_pow(x: Any, y: int) -> Any:
    """Power with a Python integer as exponent, by repeated squaring.

    ``x**y``; ``x**0`` is 1 for every x.

    Args:
        x: array of all kinds of numbers, or a Python number.
        y: the exponent; not negative if x is an integer array.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: y x**(y - 1); 0 for y = 0, for every x.

    Example:
        >>> from numlift.lax import integer_pow
        >>> float(integer_pow(2.0, 10))
        1024.0
    """
    try:
        exponent = operator.index(y)
    except TypeError:
        exponent = _whole(y)
    return apply(_integer_pow(exponent), x)


def _whole(y: Any) -> int:
    """A float with a whole value as an int."""
    if not isinstance(y, Tracer):
        try:
            number = int(y)
        except (TypeError, ValueError, OverflowError):
            pass
        else:
            if number == y:
                return number
    raise errors.ArgumentError(
        errors.explain(
            "integer_pow",
            "the exponent must be a Python integer",
            {"y": y},
            try_="lax.pow(x, y)",
        )
    )


__all__ = [
    "AccuracyMode",
    "RoundingMethod",
    "Tolerance",
]
