"""Functions that look into floats: their classes, parts and neighbours; sinc and i0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api.library import library
from ..core.dtypes import finfo
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..ops import compare
from ..ops import elementwise as ops
from ..ops import elementwise_binary as binary
from ..ops import elementwise_trig as trig
from ..ops.elementwise_misc import BitcastConvertType, StopGradient
from ..ops.special import BesselI0e
from ..structural import arith
from ..structural.shape import full
from .elementwise import no_out
from .float_pairs import sign_bit
from .operands import inexact, not_for_complex, number_of, real_inexact
from .rounding import truncated
from .util import as_value

_bool = np.dtype(np.bool_)
_i0e = BesselI0e.of()


def constant(t: ArrayType, value: bool) -> Any:
    """A bool array like `t` with one value."""
    return full(t.update(dtype=_bool, weak_type=False), value)


def _parts(x: Any, test: Any, join: Any) -> Any:
    """A test of floats on x; complex: of both parts, joined by `and` or `or`."""
    if type_of(x).kind != "c":
        return test(x)
    return apply(join, test(apply(arith.real, x)), test(apply(arith.imag, x)))


@library(1)
def isfinite(x: Any, /) -> Any:
    """Whether x is neither infinite nor nan.

    Args:
        x: array or number of any dtype; of complex numbers both parts must be finite.

    Returns:
        Bool array of the shape of `x`; True for integers and bools. All derivatives are 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.isfinite(np.asarray([1.0, np.inf, np.nan]))
        Array([ True, False, False], dtype=bool)
    """
    x = as_value(x, "isfinite", "x")
    if not type_of(x).inexact:
        return constant(type_of(x), True)
    return _parts(x, lambda p: apply(ops.is_finite, p), binary.and_)


@library(1)
def isinf(x: Any, /) -> Any:
    """Whether x is infinite, of either sign.

    Args:
        x: array or number of any dtype; of complex numbers one infinite part is enough, whatever
            the other one is.

    Returns:
        Bool array of the shape of `x`; False for integers and bools. All derivatives are 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.isinf(np.asarray([1.0, -np.inf, np.nan, complex(np.nan, np.inf)]))
        Array([False,  True, False,  True], dtype=bool)
    """
    x = as_value(x, "isinf", "x")
    if not type_of(x).inexact:
        return constant(type_of(x), False)
    return _parts(x, _infinite, binary.or_)


def _infinite(x: Any) -> Any:
    return apply(compare.eq, apply(ops.abs_, x), number_of(type_of(x))(np.inf))


@library(1)
def isnan(x: Any, /) -> Any:
    """Whether x is nan (not a number).

    Args:
        x: array or number of any dtype; of complex numbers one part that is nan is enough.

    Returns:
        Bool array of the shape of `x`; False for integers and bools. All derivatives are 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.isnan(np.asarray([1.0, np.inf, np.nan]))
        Array([False, False,  True], dtype=bool)
    """
    x = as_value(x, "isnan", "x")
    return apply(compare.ne, x, x) if type_of(x).inexact else constant(type_of(x), False)


def _one_infinity(x: Any, function: str, infinity: float) -> Any:
    x = as_value(x, function, "x")
    t = type_of(x)
    if t.kind == "c":
        raise not_for_complex(function, x)
    if t.kind != "f":
        return constant(t, False)
    return apply(compare.eq, x, number_of(t)(infinity))


@library(1)
def isposinf(x: Any, out: None = None) -> Any:
    """Whether x is +inf.

    Args:
        x: array or number of real numbers.
        out: must be None.

    Returns:
        Bool array of the shape of `x`; False for integers and bools. All derivatives are 0.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> import numlift.numpy as np
        >>> np.isposinf(np.asarray([np.inf, -np.inf, np.nan]))
        Array([ True, False, False], dtype=bool)
    """
    no_out("isposinf", out)
    return _one_infinity(x, "isposinf", np.inf)


@library(1)
def isneginf(x: Any, out: None = None) -> Any:
    """Whether x is -inf.

    Args:
        x: array or number of real numbers.
        out: must be None.

    Returns:
        Bool array of the shape of `x`; False for integers and bools. All derivatives are 0.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> import numlift.numpy as np
        >>> np.isneginf(np.asarray([np.inf, -np.inf, np.nan]))
        Array([False,  True, False], dtype=bool)
    """
    no_out("isneginf", out)
    return _one_infinity(x, "isneginf", -np.inf)


@library(1)
def signbit(x: Any, /) -> Any:
    """Whether the sign bit is set: True for negative numbers, for -0.0, and for nan with that bit.

    Args:
        x: array or number of real numbers.

    Returns:
        Bool array of the shape of `x`; False for unsigned integers and bools. All derivatives are
        0.

    Raises:
        DTypeError: `x` is complex.

    Example:
        >>> import numlift.numpy as np
        >>> np.signbit(np.asarray([1.0, -0.0, -np.inf]))
        Array([False,  True,  True], dtype=bool)
    """
    x = as_value(x, "signbit", "x")
    t = type_of(x)
    if t.kind == "c":
        raise not_for_complex("signbit", x)
    if t.kind == "f":
        return sign_bit(x)
    return apply(compare.lt, x, number_of(t)(0)) if t.kind == "i" else constant(t, False)


@library(1)
def spacing(x: Any, /) -> Any:
    """Distance from x to the next float of its dtype away from 0, with the sign of x.

    Args:
        x: array or number of real numbers; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`; nan for infinities and nan. A step function:
        the derivative is 0.

    Raises:
        DTypeError: `x` is complex.

    Differences from NumPy and JAX: the greatest finite number has the gap below it, not inf. The
    spacing of 0 is the least subnormal number, which CPUs flush to 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.spacing(np.asarray([1.0, -2.0])) * 2.0**23
        Array([ 1., -2.], dtype=float32)
    """
    x = apply(StopGradient.of(), real_inexact(x, "spacing"))
    t = type_of(x)
    limits = finfo(t.dtype)
    size = apply(ops.abs_, x)
    away = apply(binary.nextafter, size, number_of(t)(np.inf))
    gap = apply(arith.sub, away, size)
    # the step to infinity is none: the largest number has the gap below it
    top = number_of(t)(2.0 ** (limits.maxexp - 1 - limits.nmant))
    gap = apply(arith.select, apply(ops.is_finite, away), top, gap)
    gap = apply(arith.select, apply(ops.is_finite, x), number_of(t)(np.nan), gap)
    return apply(arith.select, sign_bit(x), gap, apply(arith.neg, gap))


@library(1)
def frexp(x: Any, /) -> tuple[Any, Any]:
    """Mantissa and exponent of floats: ``x = mantissa * 2**exponent`` with |mantissa| in [0.5, 1).

    Args:
        x: array or number of real numbers; integers become the default float.

    Returns:
        (mantissa, exponent), both of the shape of `x`: the mantissa in its floating dtype and with
        its sign, the exponent in int32. 0, infinities and nan are their own mantissa, with exponent
        0. Derivative of the mantissa: ``2**-exponent``, so 1 at 0.

    Raises:
        DTypeError: `x` is complex.

    Differences from NumPy: CPUs flush subnormal numbers to 0 first.

    Example:
        >>> import numlift.numpy as np
        >>> np.frexp(np.asarray([6.0, -0.5, 0.0]))
        (Array([ 0.75, -0.5 ,  0.  ], dtype=float32), Array([3, 0, 0], dtype=int32))
    """
    x = real_inexact(x, "frexp")
    t = type_of(x)
    wide = x if t.dtype.itemsize >= 4 else arith.convert(x, np.float32)
    mantissa, exponent = _frexp(wide)
    return arith.convert(mantissa, t.dtype, t.weak_type), exponent


def _frexp(x: Any) -> tuple[Any, Any]:
    t = type_of(x)
    limits, number = finfo(t.dtype), number_of(t)
    word = np.dtype(f"i{t.dtype.itemsize}")
    fraction, bias = limits.nmant, limits.maxexp - 1
    # subnormal numbers become normal ones first
    tiny = apply(compare.lt, apply(ops.abs_, x), number(limits.smallest_normal))
    scaled = apply(arith.mul, x, number(2.0 ** (fraction + 1)))
    y = apply(arith.select, tiny, x, scaled)
    bits = apply(BitcastConvertType.of(word), arith.convert(y, t.dtype))
    field = apply(binary.shift_right_logical, bits, word.type(fraction))
    field = apply(binary.and_, field, word.type(2 * limits.maxexp - 1))
    exponent = apply(arith.sub, field, word.type(bias - 1))
    shift = apply(arith.select, tiny, word.type(0), word.type(fraction + 1))
    exponent = apply(arith.sub, exponent, shift)
    special = apply(
        binary.or_,
        apply(compare.eq, x, number(0)),
        apply(binary.not_, apply(ops.is_finite, x)),
    )
    exponent = apply(arith.select, special, exponent, word.type(0))
    half = apply(binary.div, exponent, word.type(2))
    rest = apply(arith.sub, exponent, half)
    first = apply(ops.exp2, arith.convert(apply(arith.neg, half), t.dtype))
    second = apply(ops.exp2, arith.convert(apply(arith.neg, rest), t.dtype))
    mantissa = apply(arith.mul, apply(arith.mul, x, first), second)
    return mantissa, arith.convert(exponent, np.int32)


@library(1)
def modf(x: Any, /, out: None = None) -> tuple[Any, Any]:
    """Fraction and whole part of floats, both with the sign of x: ``x = fraction + whole``.

    Args:
        x: array or number of real numbers; integers become the default float.
        out: must be None.

    Returns:
        (fraction, whole), both of the shape and floating dtype of `x`; of infinities (0, x).
        Derivatives: 1 and 0, at whole numbers too.

    Raises:
        DTypeError: `x` is complex.

    Differences from NumPy: a fraction 0.0 has no sign. From JAX: infinities have the fraction 0,
    not nan.

    Example:
        >>> import numlift.numpy as np
        >>> np.modf(np.asarray([1.5, -2.25, -np.inf]))
        (Array([ 0.5 , -0.25,  0.  ], dtype=float32), Array([  1.,  -2., -inf], dtype=float32))
    """
    no_out("modf", out)
    x = real_inexact(x, "modf")
    whole = truncated(x)
    number = number_of(type_of(x))
    fraction = apply(arith.sub, x, whole)
    return apply(arith.select, _infinite(x), fraction, number(0)), whole


# --- other functions -----------------------------------------------------------------------


@library(1)
def sinc(x: Any) -> Any:
    """``sin(pi x) / (pi x)``, and 1 at 0: the sinc function of signal processing.

    Args:
        x: array or number; integers become the default float. Complex numbers are taken.

    Returns:
        Array of the shape and floating dtype of `x`. Derivatives at 0 are the limits, of every
        order: 0, -pi**2 / 3, ... Near 0 the function is its Taylor series.

    Example:
        >>> import numlift as nl, numlift.numpy as np
        >>> np.sinc(np.asarray([0.0, 0.5]))
        Array([1.       , 0.63661975], dtype=float32)
        >>> nl.grad(np.sinc)(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    x = inexact(x, "sinc")
    t = type_of(x)
    number = number_of(t)
    z = apply(arith.mul, x, number(math.pi))
    # near 0 the series: its terms are below rounding error from z**8 on
    small = apply(compare.lt, _size(z), _size_type(t).type(0.25))
    square = apply(ops.square, apply(arith.select, small, number(0), z))
    series = number(1 / 362880)
    for coefficient in (-1 / 5040, 1 / 120, -1 / 6, 1.0):
        series = apply(arith.add, apply(arith.mul, series, square), number(coefficient))
    safe = apply(arith.select, small, z, number(1))
    return apply(arith.select, small, apply(binary.div, apply(trig.sin, safe), safe), series)


def _size(z: Any) -> Any:
    return apply(ops.abs_, z)


def _size_type(t: ArrayType) -> Any:
    return arith.real_dtype(t.dtype)


@library(1)
def i0(x: Any) -> Any:
    """Modified Bessel function of the first kind and order 0.

    An even function that grows like ``exp(|x|)``: ``i0(x) = sum_k (x**2 / 4)**k / (k!)**2``.
    Computed as ``exp(|x|)`` times `lax.bessel_i0e`.

    Args:
        x: array or number of real numbers; integers become the default float.

    Returns:
        Array of the shape and floating dtype of `x`. Derivative: the function of order 1, 0 at 0.

    Raises:
        DTypeError: `x` is complex.

    Differences from JAX: the second derivative at 0 is 1/2 (JAX 0.10.2: 0).

    Example:
        >>> import numlift.numpy as np
        >>> np.i0(np.asarray([1.0, -1.0, 2.0]))
        Array([1.2660658, 1.2660658, 2.2795854], dtype=float32)
    """
    x = real_inexact(x, "i0")
    return apply(arith.mul, apply(ops.exp, apply(ops.abs_, x)), apply(_i0e, x))


__all__ = [
    "frexp",
    "i0",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "modf",
    "signbit",
    "sinc",
    "spacing",
]
