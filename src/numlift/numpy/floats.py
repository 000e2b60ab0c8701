"""Functions that look into numbers: classes and parts of floats, real and imaginary parts."""

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
from ..ops.reductions import ReduceAnd
from ..ops.special import BesselI0e
from ..structural import arith
from ..structural.shape import full
from .arithmetic import sign_bit
from .elementwise import as_array_of_itself, no_out
from .operands import inexact, not_for_complex, number_of, real_inexact
from .rounding import truncated
from .util import as_value

_bool = np.dtype(np.bool_)
_i0e = BesselI0e.of()


def _constant(t: ArrayType, value: bool) -> Any:
    """A bool array like `t` with one value."""
    return full(t.update(dtype=_bool, weak_type=False), value)


def _parts(x: Any, test: Any, join: Any) -> Any:
    """A test of floats on x; complex: of both parts, joined by `and` or `or`."""
    if type_of(x).kind != "c":
        return test(x)
    return apply(join, test(apply(arith.real, x)), test(apply(arith.imag, x)))


@library(1)
def isfinite(x: Any, /) -> Any:
    """Whether x is neither infinite nor nan; True for integers.

    Example:
        >>> import numlift.numpy as np
        >>> np.isfinite(np.asarray([1.0, np.inf, np.nan]))
        Array([ True, False, False], dtype=bool)
    """
    x = as_value(x, "isfinite", "x")
    if not type_of(x).inexact:
        return _constant(type_of(x), True)
    return _parts(x, lambda p: apply(ops.is_finite, p), binary.and_)


@library(1)
def isinf(x: Any, /) -> Any:
    """Whether x is infinite; complex: whether a part is.

    Example:
        >>> import numlift.numpy as np
        >>> np.isinf(np.asarray([1.0, -np.inf, np.nan]))
        Array([False,  True, False], dtype=bool)
    """
    x = as_value(x, "isinf", "x")
    if not type_of(x).inexact:
        return _constant(type_of(x), False)
    return _parts(x, _infinite, binary.or_)


def _infinite(x: Any) -> Any:
    return apply(compare.eq, apply(ops.abs_, x), number_of(type_of(x))(np.inf))


@library(1)
def isnan(x: Any, /) -> Any:
    """Whether x is nan (not a number).

    Example:
        >>> import numlift.numpy as np
        >>> np.isnan(np.asarray([1.0, np.inf, np.nan]))
        Array([False, False,  True], dtype=bool)
    """
    x = as_value(x, "isnan", "x")
    return apply(compare.ne, x, x) if type_of(x).inexact else _constant(type_of(x), False)


def _one_infinity(x: Any, function: str, infinity: float) -> Any:
    x = as_value(x, function, "x")
    t = type_of(x)
    if t.kind == "c":
        raise not_for_complex(function, x)
    if t.kind != "f":
        return _constant(t, False)
    return apply(compare.eq, x, number_of(t)(infinity))


@library(1)
def isposinf(x: Any, out: None = None) -> Any:
    """Whether x is +inf.

    Example:
        >>> import numlift.numpy as np
        >>> np.isposinf(np.asarray([np.inf, -np.inf]))
        Array([ True, False], dtype=bool)
    """
    no_out("isposinf", out)
    return _one_infinity(x, "isposinf", np.inf)


@library(1)
def isneginf(x: Any, out: None = None) -> Any:
    """Whether x is -inf.

    Example:
        >>> import numlift.numpy as np
        >>> np.isneginf(np.asarray([np.inf, -np.inf]))
        Array([False,  True], dtype=bool)
    """
    no_out("isneginf", out)
    return _one_infinity(x, "isneginf", -np.inf)


@library(1)
def signbit(x: Any, /) -> Any:
    """Whether the sign bit is set: True for negative numbers, and for -0.0.

    Example:
        >>> import numlift.numpy as np
        >>> np.signbit(np.asarray([1.0, -0.0]))
        Array([False,  True], dtype=bool)
    """
    x = as_value(x, "signbit", "x")
    t = type_of(x)
    if t.kind == "c":
        raise not_for_complex("signbit", x)
    if t.kind == "f":
        return sign_bit(x)
    return apply(compare.lt, x, number_of(t)(0)) if t.kind == "i" else _constant(t, False)


@library(1)
def spacing(x: Any, /) -> Any:
    """Distance to the next float away from 0, with the sign of x. Derivative 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.spacing(1.0) == 2.0 ** -23
        Array(True, dtype=bool)
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
    """Mantissa in [0.5, 1) (with the sign of x) and exponent with x = mantissa * 2**exponent.

    0, infinities and nan have exponent 0. CPUs flush subnormal numbers to 0 first. Derivative of
    the mantissa: 2**-exponent.

    Example:
        >>> import numlift.numpy as np
        >>> np.frexp(np.asarray([6.0, 0.0]))
        (Array([0.75, 0.  ], dtype=float32), Array([3, 0], dtype=int32))
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
    """Fraction and whole part, both with the sign of x. Derivatives 1 and 0.

    A fraction 0.0 of a whole number has no sign, where NumPy's has that of x.

    Example:
        >>> import numlift.numpy as np
        >>> np.modf(np.asarray([1.5, -2.25]))
        (Array([ 0.5 , -0.25], dtype=float32), Array([ 1., -2.], dtype=float32))
    """
    no_out("modf", out)
    x = real_inexact(x, "modf")
    whole = truncated(x)
    number = number_of(type_of(x))
    fraction = apply(arith.sub, x, whole)
    return apply(arith.select, _infinite(x), fraction, number(0)), whole


# --- complex numbers -----------------------------------------------------------------------


@library(1)
def real(val: Any) -> Any:
    """Real part; real arrays stay as they are.

    Example:
        >>> import numlift.numpy as np
        >>> np.real(np.asarray([1 + 2j]))
        Array([1.], dtype=float32)
    """
    x = as_value(val, "real", "val")
    return apply(arith.real, x) if type_of(x).kind == "c" else as_array_of_itself(x)


@library(1)
def imag(val: Any) -> Any:
    """Imaginary part; zeros of the same dtype for real arrays.

    Example:
        >>> import numlift.numpy as np
        >>> np.imag(np.asarray([1 + 2j]))
        Array([2.], dtype=float32)
    """
    x = as_value(val, "imag", "val")
    t = type_of(x)
    return apply(arith.imag, x) if t.kind == "c" else full(t.update(weak_type=False))


@library(1)
def conjugate(x: Any, /) -> Any:
    """Complex conjugate; real arrays stay as they are.

    Example:
        >>> import numlift.numpy as np
        >>> np.conjugate(np.asarray([1 + 2j]))
        Array([1.-2.j], dtype=complex64)
    """
    x = as_value(x, "conjugate", "x")
    return apply(arith.conj, x) if type_of(x).kind == "c" else as_array_of_itself(x)


@library(1)
def angle(z: Any, deg: bool = False) -> Any:
    """Angle of a complex number in (-pi, pi], in degrees if `deg`. Derivative 0 at 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.angle(np.asarray([1j, -1]), deg=True)
        Array([ 90., 180.], dtype=float32)
    """
    z = inexact(z, "angle")
    if type_of(z).kind == "c":
        re, im = apply(arith.real, z), apply(arith.imag, z)
    else:
        re, im = z, full(type_of(z))
    found = apply(binary.atan2, im, re)
    if not deg:
        return found
    return apply(arith.mul, found, number_of(type_of(found))(180 / math.pi))


@library(1)
def iscomplex(x: Any) -> Any:
    """Whether the imaginary part is not 0, element by element.

    Example:
        >>> import numlift.numpy as np
        >>> np.iscomplex(np.asarray([1 + 2j, 3]))
        Array([ True, False], dtype=bool)
    """
    x = as_value(x, "iscomplex", "x")
    t = type_of(x)
    if t.kind != "c":
        return _constant(t, False)
    im = apply(arith.imag, x)
    return apply(compare.ne, im, number_of(type_of(im))(0))


@library(1)
def isreal(x: Any) -> Any:
    """Whether the imaginary part is 0, element by element.

    Example:
        >>> import numlift.numpy as np
        >>> np.isreal(np.asarray([1 + 2j, 3]))
        Array([False,  True], dtype=bool)
    """
    return apply(binary.not_, iscomplex(x))


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype of x is complex, whatever its values.

    Example:
        >>> import numlift.numpy as np
        >>> np.iscomplexobj(np.asarray([1 + 0j])), np.iscomplexobj(1.0)
        (True, False)
    """
    return type_of(as_value(x, "iscomplexobj", "x")).kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether the dtype of x is not complex.

    Example:
        >>> import numlift.numpy as np
        >>> np.isrealobj(np.asarray([1 + 0j])), np.isrealobj(1.0)
        (False, True)
    """
    return not iscomplexobj(x)


def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real part if all imaginary parts are near 0, else `a`. Needs known values.

    Args:
        a: array.
        tol: how near: in machine epsilons if greater than 1, else an absolute bound.

    Raises:
        TracerBoolConversionError: `a` is traced and its value is not known.

    Example:
        >>> import numlift.numpy as np
        >>> np.real_if_close(np.asarray([1 + 1e-9j]))
        Array([1.], dtype=float32)
    """
    x = as_value(a, "real_if_close", "a")
    if type_of(x).kind != "c":
        return as_array_of_itself(x)
    im = imag(x)
    bound = tol * float(finfo(type_of(im).dtype).eps) if tol > 1 else tol
    near = apply(compare.lt, apply(ops.abs_, im), number_of(type_of(im))(bound))
    every = ReduceAnd.of(tuple(range(type_of(near).ndim)))
    return real(x) if apply(every, near) else as_array_of_itself(x)


# --- other functions -----------------------------------------------------------------------


@library(1)
def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x), and 1 at 0. Its derivatives at 0 are the true ones (0, -pi**2/3).

    Example:
        >>> import numlift.numpy as np
        >>> np.sinc(np.asarray([0.0, 0.5]))
        Array([1.       , 0.63661975], dtype=float32)
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

    Example:
        >>> import numlift.numpy as np
        >>> np.i0(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    x = real_inexact(x, "i0")
    return apply(arith.mul, apply(ops.exp, apply(ops.abs_, x)), apply(_i0e, x))


conj = conjugate

__all__ = [
    "angle",
    "conj",
    "conjugate",
    "frexp",
    "i0",
    "imag",
    "iscomplex",
    "iscomplexobj",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "modf",
    "real",
    "real_if_close",
    "signbit",
    "sinc",
    "spacing",
]
