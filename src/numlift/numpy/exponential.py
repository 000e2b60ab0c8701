"""NumPy's exponentials, logarithms and roots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api.library import library
from ..core.dtypes import finfo
from ..core.tracing import apply, type_of
from ..ops import compare
from ..ops import elementwise as ops
from ..ops import elementwise_binary as binary
from ..ops.elementwise_misc import BitcastConvertType, stop_gradient
from ..structural import arith
from .operands import inexact, inexact_pair, number_of, real_inexact, real_pair, scaled


@library(1)
def sqrt(x: Any, /) -> Any:
    """Square root; nan for negative real numbers (`emath.sqrt` gives complex ones).

    Of complex numbers it is the root with real part >= 0. On the cut, the negative real axis, the
    imaginary part is positive.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 / (2 sqrt(x)), which is inf at 0.

    Differences from NumPy: the sign of a zero imaginary part does not choose the side of the cut;
    integers of every width become float32; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.sqrt(np.asarray([4.0, 2.0, -1.0])))
        [2.        1.4142135       nan]
        >>> print(np.sqrt(np.asarray([-4 + 0j])))
        [0.+2.j]
    """
    return apply(ops.sqrt, inexact(x, "sqrt"))


@library(1)
def cbrt(x: Any, /) -> Any:
    """Real cube root; of a negative number it is negative.

    Args:
        x: array or number, real; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats keep their dtype.

    Raises:
        DTypeError: x is complex.

    Derivative: 1 / (3 cbrt(x)**2), which is inf at 0.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.cbrt(np.asarray([1.0, -8.0, 27.0])))
        [ 1. -2.  3.]
    """
    return apply(ops.cbrt, real_inexact(x, "cbrt"))


@library(1)
def exp(x: Any, /) -> Any:
    """Exponential e**x; of complex numbers e**re (cos(im) + 1j sin(im)).

    float32 overflows to inf above 88.7, and below -87.3 it is 0: small numbers are flushed.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: exp(x), which is 0 at -inf.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.exp(np.asarray([0.0, 1.0, -np.inf, 100.0])))
        [1.        2.7182817 0.              inf]
        >>> print(np.exp(np.asarray([1j * np.pi / 2])).imag)
        [1.]
    """
    return apply(ops.exp, inexact(x, "exp"))


@library(1)
def exp2(x: Any, /) -> Any:
    """Power of two 2**x; exact for whole x, as long as the result is a normal number.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 2**x log(2), which is 0 at -inf.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.exp2(np.asarray([3, -1, 0.5])))
        [8.        0.5       1.4142135]
    """
    return apply(ops.exp2, inexact(x, "exp2"))


@library(1)
def expm1(x: Any, /) -> Any:
    """e**x - 1, without the loss of digits that the subtraction has for small x.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: exp(x), which is 0 at -inf.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([1e-8, 1.0])
        >>> print(np.expm1(x), np.exp(x) - 1)
        [9.9999999e-09 1.7182817e+00] [0.        1.7182817]
    """
    return apply(ops.expm1, inexact(x, "expm1"))


@library(1)
def log(x: Any, /) -> Any:
    """Natural logarithm: -inf at 0, nan for negative real numbers (`emath.log` gives complex ones).

    Of complex numbers it is log|x| + 1j angle(x), with the angle in [-pi, pi]. On the cut, the
    negative real axis, the sign of the zero imaginary part chooses the side.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 / x, which is inf at 0.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.log(np.asarray([1.0, np.e, 0.0, -1.0])))
        [  0.   1. -inf  nan]
        >>> print(np.log(np.asarray([-1 + 0j])))
        [0.+3.1415927j]
    """
    return apply(ops.log, inexact(x, "log"))


@library(1)
def log1p(x: Any, /) -> Any:
    """log(1 + x), without the loss of digits that the sum has for small x; -inf at -1, nan below.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 / (1 + x), which is inf at -1.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([1e-8, 1.0])
        >>> print(np.log1p(x), np.log(1 + x))
        [1.000000e-08 6.931472e-01] [0.        0.6931472]
    """
    return apply(ops.log1p, inexact(x, "log1p"))


def _log_to_base(x: Any, base: float) -> Any:
    y, factor = apply(ops.log, x), 1 / math.log(base)
    if type_of(y).kind != "c":
        return scaled(y, factor)
    # by parts: the imaginary part of log(0) = -inf + 0j must not become nan
    return apply(
        arith.complex_, scaled(apply(arith.real, y), factor), scaled(apply(arith.imag, y), factor)
    )


@library(1)
def log2(x: Any, /) -> Any:
    """Logarithm to base 2, log(x) / log(2): -inf at 0, nan for negative real numbers.

    Complex numbers have the cut of `log`.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 / (x log(2)), which is inf at 0.

    Exact for powers of two that are not subnormal.

    Differences from NumPy: integers of every width become float32; `out` must be None and `where`
    True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.log2(np.asarray([1.0, 8.0, 0.25, 0.0])))
        [  0.   3.  -2. -inf]
    """
    x = inexact(x, "log2")
    y = _log_to_base(x, 2.0)
    return y if type_of(y).kind == "c" else _exact_at_powers_of_two(x, y)


def _exact_at_powers_of_two(x: Any, y: Any) -> Any:
    """log2 of real x, of which `y` is a rounded value: the exponent where the mantissa is 1."""
    t = type_of(x)
    limits = finfo(t.dtype)
    word = np.dtype(f"i{t.dtype.itemsize}")
    bits = apply(BitcastConvertType.of(word), arith.convert(x, t.dtype))
    mantissa = apply(binary.and_, bits, word.type(2**limits.nmant - 1))
    field = apply(binary.shift_right_logical, bits, word.type(limits.nmant))
    # subnormal numbers, infinities, nan and negative numbers have the first and the last fields
    is_normal = apply(
        binary.and_,
        apply(compare.gt, field, word.type(0)),
        apply(compare.lt, field, word.type(2 * limits.maxexp - 1)),
    )
    is_power = apply(binary.and_, apply(compare.eq, mantissa, word.type(0)), is_normal)
    exponent = apply(arith.sub, field, word.type(limits.maxexp - 1))
    exponent = arith.convert(exponent, t.dtype, t.weak_type)
    missing = apply(arith.sub, exponent, apply(stop_gradient, y))
    zero = number_of(t)(0)
    return apply(arith.add, y, apply(arith.select, is_power, zero, missing))


@library(1)
def log10(x: Any, /) -> Any:
    """Logarithm to base 10, log(x) / log(10): -inf at 0, nan for negative real numbers.

    Complex numbers have the cut of `log`.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 / (x log(10)), which is inf at 0.

    Differences from NumPy: not exact for all powers of ten: round before you convert to integers;
    integers of every width become float32; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.log10(np.asarray([1.0, 100.0, 0.001, 0.0])))
        [  0.   2.  -3. -inf]
    """
    return _log_to_base(inexact(x, "log10"), 10.0)


@library(2)
def logaddexp(x1: Any, x2: Any, /) -> Any:
    """Logarithm of a sum of exponentials, log(exp(x1) + exp(x2)), without overflow.

    It adds probabilities that are given as logarithms; -inf stands for 0.

    Args:
        x1: array or number, real or complex; integers and bools become float32 (x64: float64).
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the shapes do not broadcast.

    Derivative: the shares exp(x1 - result) and exp(x2 - result), which sum to 1; 1/2 each at equal
    infinities (JAX: 1 or nan).

    Differences from NumPy: complex numbers pass (there a TypeError); integers of every width become
    float32; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.exp(np.logaddexp(np.log(0.25), np.log(0.5))))
        0.75
        >>> np.logaddexp(np.asarray([1000.0, -np.inf]), np.asarray([1000.0, 3.0]))
        Array([1000.6932,    3.    ], dtype=float32)
    """
    x, y = inexact_pair(x1, x2, "logaddexp")
    t = type_of(x)
    if t.kind == "c":
        x, y = _by_real_part(x, y)
        return apply(arith.add, x, apply(ops.log1p, apply(ops.exp, apply(arith.sub, y, x))))
    return _log_add(x, y)


def _by_real_part(x: Any, y: Any) -> tuple[Any, Any]:
    """(larger real part, smaller real part)."""
    swap = apply(compare.lt, apply(arith.real, x), apply(arith.real, y))
    return apply(arith.select, swap, x, y), apply(arith.select, swap, y, x)


def _log_add(x: Any, y: Any, power: Any = ops.exp, scale: float = 1.0) -> Any:
    """log(e**x + e**y) of real operands; to another base with its `power` and 1 / log(base)."""
    big = apply(binary.max_, x, y)
    gap = apply(arith.sub, x, y)
    # inf - inf is nan: both are the same infinity then, and the answer is their (halved) sum
    same = apply(compare.ne, gap, gap)
    number = number_of(type_of(gap))
    safe = apply(arith.select, same, gap, number(0))
    tail = apply(
        ops.log1p,
        apply(power, apply(arith.neg, apply(ops.abs_, safe))),
    )
    if scale != 1.0:
        tail = scaled(tail, scale)
    both = apply(arith.add, x, y)
    smooth = apply(arith.add, big, tail)
    return apply(arith.select, same, smooth, apply(arith.mul, both, number(0.5)))


@library(2)
def logaddexp2(x1: Any, x2: Any, /) -> Any:
    """Logarithm of a sum of powers of two, log2(2**x1 + 2**x2), without overflow.

    Args:
        x1: array or number, real; integers and bools become float32 (x64: float64).
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        DTypeError: an operand is complex.
        ShapeError: the shapes do not broadcast.

    Derivative: the shares 2**(x1 - result) and 2**(x2 - result), which sum to 1; 1/2 each at equal
    infinities (JAX: 1 or nan).

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.logaddexp2(np.asarray([3.0, 2000.0]), np.asarray([3.0, 2000.0]))
        Array([   4., 2001.], dtype=float32)
    """
    x, y = real_pair(x1, x2, "logaddexp2")
    return _log_add(x, y, ops.exp2, 1 / math.log(2))


__all__ = [
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "sqrt",
]
