"""NumPy's mathematical functions of one argument: exponentials, roots, angles, rounding."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from .. import errors
from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import compare
from ..ops import elementwise as ops
from ..ops import elementwise_binary as binary
from ..ops import elementwise_trig as trig
from ..structural import arith
from .arithmetic import no_bool
from .operands import inexact, not_for_complex, real_inexact
from .util import as_value, cast


@library(1)
def negative(x: Any, /) -> Any:
    """-x; unsigned integers wrap around.

    Raises:
        DTypeError: x is bool.

    Example:
        >>> negative(np.asarray([1, -2]))
        Array([-1,  2], dtype=int32)
    """
    x = as_value(x, "negative", "x")
    if type_of(x).kind == "b":
        raise no_bool("negative", x, "np.logical_not(x)")
    return apply(arith.neg, x)


@library(1)
def positive(x: Any, /) -> Any:
    """+x: a copy of x.

    Example:
        >>> positive(np.asarray([1, -2]))
        Array([ 1, -2], dtype=int32)
    """
    return as_array_of_itself(as_value(x, "positive", "x"))


def as_array_of_itself(x: Any) -> Any:
    """A number or NumPy array as a value of the current trace."""
    t = type_of(x)
    return apply(arith.Convert.of(t.dtype, t.weak_type), x)


@library(1)
def absolute(x: Any, /) -> Any:
    """|x|; complex: the modulus, a real array. Derivative sign(x), 0 at 0.

    Example:
        >>> absolute(np.asarray([1, -2]))
        Array([1, 2], dtype=int32)
    """
    x = as_value(x, "absolute", "x")
    return apply(ops.abs_, x) if type_of(x).kind in "ifc" else as_array_of_itself(x)


@library(1)
def fabs(x: Any, /) -> Any:
    """|x| of real numbers, as floats.

    Example:
        >>> fabs(np.asarray([1, -2]))
        Array([1., 2.], dtype=float32)
    """
    return apply(ops.abs_, real_inexact(x, "fabs"))


@library(1)
def sign(x: Any, /) -> Any:
    """-1, 0 or 1; nan for nan; complex: x / |x|. Derivative 0.

    Example:
        >>> sign(np.asarray([-3.0, 0.0, 2.0]))
        Array([-1.,  0.,  1.], dtype=float32)
    """
    x = as_value(x, "sign", "x")
    if type_of(x).kind == "b":
        raise no_bool("sign", x, "x.astype('int32')")
    return apply(ops.sign, x)


@library(1)
def square(x: Any, /) -> Any:
    """x * x; bools count as integers.

    Example:
        >>> square(np.asarray([2, -3]))
        Array([4, 9], dtype=int32)
    """
    x = as_value(x, "square", "x")
    t = type_of(x)
    if t.kind == "b":
        x = cast(x, t, type_of(0).dtype)
    return apply(ops.square, x)


@library(1)
def reciprocal(x: Any, /) -> Any:
    """1 / x; integers become floats (NumPy: integer division).

    Example:
        >>> reciprocal(np.asarray([2, 4]))
        Array([0.5 , 0.25], dtype=float32)
    """
    return apply(ops.reciprocal, inexact(x, "reciprocal"))


# --- exponentials, logarithms, roots -------------------------------------------------------


@library(1)
def sqrt(x: Any, /) -> Any:
    """Square root; nan for negative real numbers. Derivative 1 / (2 sqrt(x)), inf at 0.

    Example:
        >>> sqrt(np.asarray([4, 9]))
        Array([2., 3.], dtype=float32)
    """
    return apply(ops.sqrt, inexact(x, "sqrt"))


@library(1)
def cbrt(x: Any, /) -> Any:
    """Real cube root, also of negative numbers. Derivative inf at 0.

    Example:
        >>> cbrt(np.asarray([8.0, -27.0]))
        Array([ 2., -3.], dtype=float32)
    """
    return apply(ops.cbrt, real_inexact(x, "cbrt"))


@library(1)
def exp(x: Any, /) -> Any:
    """e**x.

    Example:
        >>> exp(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return apply(ops.exp, inexact(x, "exp"))


@library(1)
def exp2(x: Any, /) -> Any:
    """2**x, exact for whole x.

    Example:
        >>> exp2(np.asarray([3, -1]))
        Array([8. , 0.5], dtype=float32)
    """
    return apply(ops.exp2, inexact(x, "exp2"))


@library(1)
def expm1(x: Any, /) -> Any:
    """e**x - 1, exact for small x.

    Example:
        >>> expm1(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(ops.expm1, inexact(x, "expm1"))


@library(1)
def log(x: Any, /) -> Any:
    """Natural logarithm: -inf at 0, nan for negative real numbers. Derivative 1 / x.

    Example:
        >>> log(1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(ops.log, inexact(x, "log"))


@library(1)
def log1p(x: Any, /) -> Any:
    """log(1 + x), exact for small x.

    Example:
        >>> log1p(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(ops.log1p, inexact(x, "log1p"))


def _log_to_base(x: Any, base: float) -> Any:
    y = apply(ops.log, x)
    return apply(binary.div, y, type_of(y).dtype.type(math.log(base)))


@library(1)
def log2(x: Any, /) -> Any:
    """Logarithm to base 2.

    Example:
        >>> log2(np.asarray([1.0, 8.0]))
        Array([0., 3.], dtype=float32)
    """
    return _log_to_base(inexact(x, "log2"), 2.0)


@library(1)
def log10(x: Any, /) -> Any:
    """Logarithm to base 10.

    Example:
        >>> log10(1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return _log_to_base(inexact(x, "log10"), 10.0)


# --- trigonometric and hyperbolic functions ------------------------------------------------


@library(1)
def sin(x: Any, /) -> Any:
    """Sine of an angle in radians.

    Example:
        >>> sin(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.sin, inexact(x, "sin"))


@library(1)
def cos(x: Any, /) -> Any:
    """Cosine of an angle in radians.

    Example:
        >>> cos(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return apply(trig.cos, inexact(x, "cos"))


@library(1)
def tan(x: Any, /) -> Any:
    """Tangent of an angle in radians.

    Example:
        >>> tan(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.tan, inexact(x, "tan"))


@library(1)
def arcsin(x: Any, /) -> Any:
    """Inverse sine in [-pi/2, pi/2]; nan for real |x| > 1. Derivative inf at +-1.

    Example:
        >>> arcsin(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.asin, inexact(x, "arcsin"))


@library(1)
def arccos(x: Any, /) -> Any:
    """Inverse cosine in [0, pi]; nan for real |x| > 1. Derivative -inf at +-1.

    Example:
        >>> arccos(1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.acos, inexact(x, "arccos"))


@library(1)
def arctan(x: Any, /) -> Any:
    """Inverse tangent in [-pi/2, pi/2].

    Example:
        >>> arctan(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.atan, inexact(x, "arctan"))


@library(1)
def sinh(x: Any, /) -> Any:
    """Hyperbolic sine.

    Example:
        >>> sinh(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.sinh, inexact(x, "sinh"))


@library(1)
def cosh(x: Any, /) -> Any:
    """Hyperbolic cosine.

    Example:
        >>> cosh(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return apply(trig.cosh, inexact(x, "cosh"))


@library(1)
def tanh(x: Any, /) -> Any:
    """Hyperbolic tangent.

    Example:
        >>> tanh(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.tanh, inexact(x, "tanh"))


@library(1)
def arcsinh(x: Any, /) -> Any:
    """Inverse hyperbolic sine.

    Example:
        >>> arcsinh(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.asinh, inexact(x, "arcsinh"))


@library(1)
def arccosh(x: Any, /) -> Any:
    """Inverse hyperbolic cosine; nan for real x < 1. Derivative inf at 1.

    Example:
        >>> arccosh(1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.acosh, inexact(x, "arccosh"))


@library(1)
def arctanh(x: Any, /) -> Any:
    """Inverse hyperbolic tangent; nan for real |x| > 1. Derivative inf at +-1.

    Example:
        >>> arctanh(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.atanh, inexact(x, "arctanh"))


@library(1)
def deg2rad(x: Any, /) -> Any:
    """Degrees as radians: x * pi / 180.

    Example:
        >>> deg2rad(180.0)
        Array(3.1415927, dtype=float32, weak_type=True)
    """
    return _scaled(real_inexact(x, "deg2rad"), math.pi / 180)


@library(1)
def rad2deg(x: Any, /) -> Any:
    """Radians as degrees: x * 180 / pi.

    Example:
        >>> rad2deg(np.pi)
        Array(180., dtype=float32, weak_type=True)
    """
    return _scaled(real_inexact(x, "rad2deg"), 180 / math.pi)


def _scaled(x: Any, factor: float) -> Any:
    t = type_of(x)
    return apply(arith.mul, x, factor if t.weak_type else t.dtype.type(factor))


# --- rounding ------------------------------------------------------------------------------


def _whole(x: Any, function: str, op: Any) -> Any:
    x = as_value(x, function, "x")
    t = type_of(x)
    if t.kind in "biu":
        return as_array_of_itself(x)
    if t.kind == "c":
        raise not_for_complex(function, x)
    return apply(op, x)


@library(1)
def floor(x: Any, /) -> Any:
    """Largest whole number <= x; integers stay as they are. Derivative 0.

    Example:
        >>> floor(np.asarray([1.5, -1.5]))
        Array([ 1., -2.], dtype=float32)
    """
    return _whole(x, "floor", ops.floor)


@library(1)
def ceil(x: Any, /) -> Any:
    """Smallest whole number >= x; integers stay as they are. Derivative 0.

    Example:
        >>> ceil(np.asarray([1.5, -1.5]))
        Array([ 2., -1.], dtype=float32)
    """
    return _whole(x, "ceil", ops.ceil)


@library(1)
def trunc(x: Any) -> Any:
    """x without its fraction, rounded towards 0; integers stay as they are. Derivative 0.

    Example:
        >>> trunc(np.asarray([1.5, -1.5]))
        Array([ 1., -1.], dtype=float32)
    """
    x = as_value(x, "trunc", "x")
    t = type_of(x)
    if t.kind in "biu":
        return as_array_of_itself(x)
    if t.kind == "c":
        raise not_for_complex("trunc", x)
    return truncated(x)


def truncated(x: Any) -> Any:
    """A real float rounded towards 0; the zero of (-1, 0) keeps its sign."""
    up = apply(compare.lt, x, type_of(x).dtype.type(0))
    return apply(arith.select, up, apply(ops.floor, x), apply(ops.ceil, x))


@library(1)
def fix(x: Any, out: None = None) -> Any:
    """x rounded towards 0: the same as `trunc`.

    Example:
        >>> fix(np.asarray([1.5, -1.5]))
        Array([ 1., -1.], dtype=float32)
    """
    no_out("fix", out)
    return trunc(x)


@library(1)
def rint(x: Any, /) -> Any:
    """The nearest whole number, half-way cases to the even one; a float. Derivative 0.

    Example:
        >>> rint(np.asarray([0.5, 1.5, -2.5]))
        Array([ 0.,  2., -2.], dtype=float32)
    """
    return _by_parts(inexact(x, "rint"), lambda part: apply(ops.round_even, part))


def _by_parts(x: Any, function: Any) -> Any:
    """A function of real numbers, applied to real and imaginary parts of complex ones."""
    if type_of(x).kind != "c":
        return function(x)
    return apply(
        arith.complex_, function(apply(arith.real, x)), function(apply(arith.imag, x))
    )


@library(1)
def round(a: Any, decimals: int = 0, out: None = None) -> Any:
    """`a` rounded to `decimals` places, half-way cases to the even one. Derivative 0.

    Args:
        a: array or number; integers keep their dtype.
        decimals: number of places; negative ones round to tens, hundreds, ...
        out: must be None.

    Example:
        >>> round(np.asarray([1.25, 2.375]), 1)
        Array([1.2, 2.4], dtype=float32)
    """
    no_out("round", out)
    x = as_value(a, "round", "a")
    t = type_of(x)
    if t.kind in "biu":
        return as_array_of_itself(x) if decimals >= 0 else _round_integer(x, -decimals)
    return _by_parts(x, lambda part: _round_float(part, decimals))


def _round_float(x: Any, decimals: int) -> Any:
    if decimals == 0:
        return apply(ops.round_even, x)
    t = type_of(x)
    narrow = t.dtype.itemsize < 4
    if narrow:
        # 10**decimals of a half-precision number overflows
        x = apply(arith.Convert.of(np.dtype(np.float32), t.weak_type), x)
    number = type_of(x).dtype.type
    factor = number(10.0 ** builtins.abs(decimals))
    up, down = (arith.mul, binary.div) if decimals > 0 else (binary.div, arith.mul)
    y = apply(down, apply(ops.round_even, apply(up, x, factor)), factor)
    # a number so large that it overflows has no fraction to round
    fits = apply(ops.is_finite, apply(up, x, factor))
    y = apply(arith.select, fits, x, y)
    return apply(arith.Convert.of(t.dtype, t.weak_type), y) if narrow else y


def _round_integer(x: Any, digits: int) -> Any:
    """Integers to a multiple of 10**digits, half-way cases to the even multiple."""
    t = type_of(x)
    if t.kind == "b":
        x = cast(x, t, type_of(0).dtype)
        t = type_of(x)
    if 10**digits > np.iinfo(t.dtype).max:
        return apply(arith.mul, x, t.dtype.type(0))
    number = t.dtype.type
    step, half = number(10**digits), number(10**digits // 2)
    rest = apply(binary.rem, x, step)
    base = apply(arith.sub, x, rest)
    size = apply(ops.abs_, rest) if t.kind == "i" else rest
    odd = apply(
        compare.ne, apply(binary.rem, apply(binary.div, base, step), number(2)), number(0)
    )
    tie = apply(binary.and_, apply(compare.eq, size, half), odd)
    away = apply(binary.or_, apply(compare.gt, size, half), tie)
    move = apply(arith.mul, apply(ops.sign, rest), step)
    return apply(arith.add, base, apply(arith.select, away, number(0), move))


def no_out(function: str, out: Any) -> None:
    """Raise if an `out` argument was given: arrays cannot be written to."""
    if out is not None:
        raise errors.ArgumentError(
            errors.explain(
                function, "out must be None: arrays are immutable", try_="use the returned array"
            )
        )


abs = absolute
around = round
degrees, radians = rad2deg, deg2rad
asin, acos, atan = arcsin, arccos, arctan
asinh, acosh, atanh = arcsinh, arccosh, arctanh

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "around",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fix",
    "floor",
    "log",
    "log10",
    "log1p",
    "log2",
    "negative",
    "positive",
    "rad2deg",
    "radians",
    "reciprocal",
    "rint",
    "round",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
