"""Rounding to whole numbers and to decimal places. All derivatives are 0."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..api.library import library
from ..core.tracing import apply, type_of
from ..lax.arguments import static_int
from ..ops import compare
from ..ops import elementwise as ops
from ..ops import elementwise_binary as binary
from ..structural import arith
from .elementwise import as_array_of_itself, no_out
from .operands import inexact, not_for_complex, number_of
from .util import as_value, cast


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
    """Largest whole number that is not larger than x.

    Args:
        x: array or number, real; integers and bools stay as they are.

    Returns:
        Array of the shape and dtype of `x`: whole floats are floats.

    Raises:
        DTypeError: x is complex.

    Derivative: 0 everywhere, also at the steps.

    Differences from NumPy: `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.floor(np.asarray([1.5, -1.5, 2.0, np.inf]))
        Array([ 1., -2.,  2., inf], dtype=float32)
    """
    return _whole(x, "floor", ops.floor)


@library(1)
def ceil(x: Any, /) -> Any:
    """Smallest whole number that is not smaller than x; of (-1, 0) it is -0.0.

    Args:
        x: array or number, real; integers and bools stay as they are.

    Returns:
        Array of the shape and dtype of `x`: whole floats are floats.

    Raises:
        DTypeError: x is complex.

    Derivative: 0 everywhere, also at the steps.

    Differences from NumPy: `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.ceil(np.asarray([1.5, -1.5, -0.5, np.inf]))
        Array([ 2., -1., -0., inf], dtype=float32)
    """
    return _whole(x, "ceil", ops.ceil)


@library(1)
def trunc(x: Any) -> Any:
    """x without its fraction: the nearest whole number towards 0; of (-1, 0) it is -0.0.

    Args:
        x: array or number, real; integers and bools stay as they are.

    Returns:
        Array of the shape and dtype of `x`: whole floats are floats.

    Raises:
        DTypeError: x is complex.

    Derivative: 0 everywhere, also at the steps.

    Differences from NumPy: `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.trunc(np.asarray([1.7, -1.7, -0.5]))
        Array([ 1., -1., -0.], dtype=float32)
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
    up = apply(compare.lt, x, number_of(type_of(x))(0))
    return apply(arith.select, up, apply(ops.floor, x), apply(ops.ceil, x))


@library(1)
def fix(x: Any, out: None = None) -> Any:
    """x without its fraction: the same as `trunc`.

    Args:
        x: array or number, real; integers and bools stay as they are.
        out: must be None.

    Returns:
        Array of the shape and dtype of `x`: whole floats are floats.

    Raises:
        DTypeError: x is complex.
        ArgumentError: `out` is given.

    Derivative: 0 everywhere, also at the steps.

    Example:
        >>> import numlift.numpy as np
        >>> np.fix(np.asarray([1.7, -1.7]))
        Array([ 1., -1.], dtype=float32)
    """
    no_out("fix", out)
    return trunc(x)


@library(1)
def rint(x: Any, /) -> Any:
    """Nearest whole number, half-way cases to the even one; always a float.

    Of complex numbers both parts are rounded.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 0 everywhere, also at the steps.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.rint(np.asarray([0.5, 1.5, -2.5, 2.6]))
        Array([ 0.,  2., -2.,  3.], dtype=float32)
    """
    return _by_parts(inexact(x, "rint"), lambda part: apply(ops.round_even, part))


def _by_parts(x: Any, function: Any) -> Any:
    """A function of real numbers, applied to real and imaginary parts of complex ones."""
    if type_of(x).kind != "c":
        return function(x)
    return apply(arith.complex_, function(apply(arith.real, x)), function(apply(arith.imag, x)))


@library(1)
def round(a: Any, decimals: int = 0, out: None = None) -> Any:
    """`a` rounded to `decimals` places, half-way cases to the even digit.

    It is rint(a * 10**decimals) / 10**decimals: 2.5 is exactly half-way, 1.005 is not, as it is no
    float. Of complex numbers both parts are rounded; half precision is computed in float32.

    Args:
        a: array or number of any dtype.
        decimals: number of places, a Python integer; negative ones round to tens, hundreds, ...
        out: must be None.

    Returns:
        Array of the shape and dtype of `a`.

    Raises:
        ArgumentError: `decimals` is no integer, or `out` is given.
        TracerIntegerConversionError: `decimals` is traced.

    Derivative: 0 everywhere, also at the steps.

    Differences from NumPy: bools stay bools (there float16, or a TypeError with `decimals`); with
    negative `decimals` they are int32.

    Example:
        >>> import numlift.numpy as np
        >>> np.round(np.asarray([1.25, 2.375, -0.5]), 1)
        Array([ 1.2,  2.4, -0.5], dtype=float32)
        >>> np.round(np.asarray([15, 25, 127]), -1)
        Array([ 20,  20, 130], dtype=int32)
    """
    no_out("round", out)
    decimals = static_int("round", "decimals", decimals)
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
    number = number_of(type_of(x))
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
        return apply(arith.mul, x, number_of(t)(0))
    number = number_of(t)
    step, half = number(10**digits), number(10**digits // 2)
    rest = apply(binary.rem, x, step)
    base = apply(arith.sub, x, rest)
    size = apply(ops.abs_, rest) if t.kind == "i" else rest
    odd = apply(compare.ne, apply(binary.rem, apply(binary.div, base, step), number(2)), number(0))
    tie = apply(binary.and_, apply(compare.eq, size, half), odd)
    away = apply(binary.or_, apply(compare.gt, size, half), tie)
    move = apply(arith.mul, apply(ops.sign, rest), step)
    return apply(arith.add, base, apply(arith.select, away, number(0), move))


around = round

__all__ = ["around", "ceil", "fix", "floor", "rint", "round", "trunc"]
