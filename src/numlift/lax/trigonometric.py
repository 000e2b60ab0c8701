"""Trigonometric and hyperbolic functions, and their inverses."""

from __future__ import annotations

from typing import Any

from ..core.tracing import apply
from ..ops import elementwise_trig as ops
from .operands import accurate

_sin, _cos, _tan, _tanh = ops.sin, ops.cos, ops.tan, ops.tanh
_asin, _acos, _atan, _sinh, _cosh = ops.asin, ops.acos, ops.atan, ops.sinh, ops.cosh
_asinh, _acosh, _atanh = ops.asinh, ops.acosh, ops.atanh


def sin(x: Any, *, accuracy: Any = None) -> Any:
    """Sine of an angle in radians.

    ``sin(x)``; NaN for infinite x.

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: cos(x).

    Example:
        >>> from numlift.lax import sin
        >>> float(sin(0.0))
        0.0
    """
    return apply(_sin if accuracy is None else accurate(_sin, accuracy), x)


def cos(x: Any, *, accuracy: Any = None) -> Any:
    """Cosine of an angle in radians.

    ``cos(x)``; NaN for infinite x.

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: -sin(x).

    Example:
        >>> from numlift.lax import cos
        >>> float(cos(0.0))
        1.0
    """
    return apply(_cos if accuracy is None else accurate(_cos, accuracy), x)


def tan(x: Any, *, accuracy: Any = None) -> Any:
    """Tangent of an angle in radians.

    ``sin(x) / cos(x)``

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 + y**2.

    Example:
        >>> from numlift.lax import tan
        >>> float(tan(0.0))
        0.0
    """
    return apply(_tan if accuracy is None else accurate(_tan, accuracy), x)


def asin(x: Any) -> Any:
    """Inverse sine, in radians from -pi/2 to pi/2.

    NaN for real x outside [-1, 1].

    Args:
        x: array of floating or complex numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 / sqrt(1 - x**2); inf at -1 and 1.

    Example:
        >>> from numlift.lax import asin
        >>> float(asin(1.0))
        1.570796
    """
    return apply(_asin, x)


def acos(x: Any) -> Any:
    """Inverse cosine, in radians from 0 to pi.

    NaN for real x outside [-1, 1].

    Args:
        x: array of floating or complex numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: -1 / sqrt(1 - x**2); -inf at -1 and 1.

    Example:
        >>> from numlift.lax import acos
        >>> float(acos(0.0))
        1.570796
    """
    return apply(_acos, x)


def atan(x: Any) -> Any:
    """Inverse tangent, in radians from -pi/2 to pi/2.

    Args:
        x: array of floating or complex numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 / (1 + x**2).

    Example:
        >>> from numlift.lax import atan
        >>> float(atan(1.0))
        0.785398
    """
    return apply(_atan, x)


def sinh(x: Any) -> Any:
    """Hyperbolic sine.

    ``(exp(x) - exp(-x)) / 2``

    Args:
        x: array of floating or complex numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: cosh(x).

    Example:
        >>> from numlift.lax import sinh
        >>> float(sinh(0.0))
        0.0
    """
    return apply(_sinh, x)


def cosh(x: Any) -> Any:
    """Hyperbolic cosine.

    ``(exp(x) + exp(-x)) / 2``

    Args:
        x: array of floating or complex numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: sinh(x).

    Example:
        >>> from numlift.lax import cosh
        >>> float(cosh(0.0))
        1.0
    """
    return apply(_cosh, x)


def tanh(x: Any, *, accuracy: Any = None) -> Any:
    """Hyperbolic tangent.

    ``sinh(x) / cosh(x)``

    Args:
        x: array of floating or complex numbers, or a Python number.
        accuracy: None, an `AccuracyMode`, or a `Tolerance`.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 - y**2.

    Example:
        >>> from numlift.lax import tanh
        >>> float(tanh(0.0))
        0.0
    """
    return apply(_tanh if accuracy is None else accurate(_tanh, accuracy), x)


def asinh(x: Any) -> Any:
    """Inverse hyperbolic sine.

    ``log(x + sqrt(x**2 + 1))``

    Args:
        x: array of floating or complex numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 / sqrt(x**2 + 1).

    Example:
        >>> from numlift.lax import asinh
        >>> float(asinh(0.0))
        0.0
    """
    return apply(_asinh, x)


def acosh(x: Any) -> Any:
    """Inverse hyperbolic cosine.

    NaN for real x below 1.

    Args:
        x: array of floating or complex numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 / sqrt(x**2 - 1); inf at 1.

    Example:
        >>> from numlift.lax import acosh
        >>> float(acosh(1.0))
        0.0
    """
    return apply(_acosh, x)


def atanh(x: Any) -> Any:
    """Inverse hyperbolic tangent.

    Infinite at -1 and 1, NaN for real x beyond.

    Args:
        x: array of floating or complex numbers, or a Python number.

    Returns:
        Array of the shape and dtype of x.

    Raises:
        DTypeError: x has another kind of dtype.

    Derivative: 1 / (1 - x**2); inf at -1 and 1.

    Example:
        >>> from numlift.lax import atanh
        >>> float(atanh(0.0))
        0.0
    """
    return apply(_atanh, x)
