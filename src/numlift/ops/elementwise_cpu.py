"""Lowerings of elementary functions that are faster on CPU than XLA's own, which call libm.

They are straight-line float arithmetic, so that LLVM vectorises them. Arguments of sin and cos are
reduced modulo pi/2 in float64 by Cody and Waite's method ("Software Manual for the Elementary
Functions", 1980), the huge ones with the idea of Payne and Hanek ("Radian reduction for
trigonometric functions", 1983) that only some bits of 2/pi matter for an exponent. The polynomials
are near-minimax fits made for this file, with errors below 0.1 units in the last place of float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ..core.dims import known
from ..core.types import ArrayType
from .elementwise_text import Term

SMALL = 256
"""Arrays with fewer elements keep XLA's operation, which compiles faster."""

F4, F8, I4 = np.dtype("f4"), np.dtype("f8"), np.dtype("i4")
_SIN = (-0.16666654939987477, 0.008332177906400123, -0.00019517265755313035)
_COS = (0.04166664686006958, -0.0013887367193989926, 2.4438413637251403e-05)
_ATAN = (
    -0.3333332743335359,
    0.19999692610712902,
    -0.1428013074019032,
    0.11060244546321793,
    -0.08818848314126543,
    0.06759572139705275,
    -0.04494644597173853,
    0.02276034106076475,
    -0.007422637766638461,
    0.0011348783429572932,
)
_ASIN = (
    0.1666665987188637,
    0.07500510916958564,
    0.044515720496420025,
    0.03181760931442931,
    0.014402614995534118,
    0.03756518835636664,
)
# The first 256 bits of 2 / pi after the point.
_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561
HALF_PI_HIGH, HALF_PI_LOW = 1.5707963705062866, -4.371139000186241e-08
"""pi / 2 as a sum of two float32 numbers."""


def fast_lowering(op: Any, ctx: Any, operands: list[str], out: ArrayType) -> str | None:
    """The result of a faster lowering for this platform, dtype and size, if there is one."""
    if ctx.platform != "cpu" or known(out.size, SMALL) < SMALL:
        return None
    formula = FORMULAS.get(op.name)
    if formula is None or out.dtype not in _THROUGH_FLOAT32:
        return None
    terms = [Term(ctx, name, out).to(F4) for name in operands]
    return formula(*terms).to(out.dtype).name


_THROUGH_FLOAT32 = frozenset({F4, np.dtype("f2"), np.dtype(ml_dtypes.bfloat16)})


# --- powers of two -------------------------------------------------------------------------


def exp2_text(ctx: Any, operand: str, out: ArrayType, accuracy: str = "") -> str:
    """2**x = 2**n e**(f log 2) with whole n and |f| <= 1/2: exact for whole x. On all platforms."""
    x = Term(ctx, operand, out)
    if out.kind == "c":
        return (x * math.log(2)).exp().name
    if out.dtype.itemsize < 4:
        return exp2_real(x.to(F4), accuracy).to(out.dtype).name
    return exp2_real(x, accuracy).name


def exp2_real(x: Term, accuracy: str = "") -> Term:
    """2**x for float32 or float64."""
    wide = x.type.dtype.itemsize == 8
    limit = 2046.0 if wide else 254.0
    near = x.unary("stablehlo.round_nearest_even").limited(2.0 - limit, limit)
    fraction = (x - near) * math.log(2)
    # The factor 2**n in two halves, because n may reach twice the largest exponent.
    whole = near.to(np.int64 if wide else I4)
    first = whole.binary("stablehlo.shift_right_arithmetic", 1)
    text = f"stablehlo.exponential {fraction.name}{accuracy} : {x.type.mlir}"
    value = Term(x.ctx, x.ctx.emit(text), x.type)
    return value * power_of_two(first, x.type.dtype) * power_of_two(whole - first, x.type.dtype)


def power_of_two(n: Term, dtype: Any) -> Term:
    """2**n for an int32 (float32) or int64 (float64) term within the normal exponents."""
    bias, shift = (1023, 52) if dtype.itemsize == 8 else (127, 23)
    return (n + bias).binary("stablehlo.shift_left", shift).bits_as(dtype)


# --- sine and cosine -----------------------------------------------------------------------


def _turns(shift: int) -> tuple[float, float]:
    """2**shift 2/pi modulo 4 as the sum of a number of 29 bits and a float64."""
    value = (_TWO_OVER_PI << shift) % (4 << 256)  # in units of 2**-256
    high = value >> 229
    return high / (1 << 27), (value - (high << 229)) / (1 << 256)


def reduced(x: Term) -> tuple[Term, Term]:
    """r in [-pi/4, pi/4] (float32) and q (int32): x = q pi/2 + r modulo 2 pi, for x >= 0."""
    scaled = x
    high, low = (x.constant_of(F8, value) for value in _turns(0))
    for start in (44, 65, 86, 107):
        # x is a multiple of 2**shift, so 2/pi counts modulo 2**(2 - shift) only.
        shift = start - 23
        beyond = x >= 2.0**start
        scaled = beyond.where(x * 2.0**-shift, scaled)
        first, second = _turns(shift)
        high, low = beyond.where(first, high), beyond.where(second, low)
    wide = scaled.to(F8)
    # Quarter circles: an exact product (24 and 29 bits), and a small correction.
    turns, correction = wide * high, wide * low
    turns = turns - 4.0 * (0.25 * turns).unary("stablehlo.round_nearest_even")
    whole = (turns + correction).unary("stablehlo.round_nearest_even")
    rest = ((turns - whole) + correction) * (math.pi / 2)
    # A float64 plus 1.5 2**52 has its whole value in the low bits: no check of the range.
    return rest.to(F4), (whole + 1.5 * 2.0**52).bits_as(np.int64).to(I4)


def wave(x: Term, ahead: int) -> Term:
    """sin(x + ahead pi / 2)."""
    r, quadrant = reduced(abs(x))
    square = r * r
    sine = r + r * square * square.polynomial(_SIN)
    cosine = 1.0 - 0.5 * square + square * square * square.polynomial(_COS)
    if ahead:
        quadrant = quadrant + ahead
    odd = quadrant.binary("stablehlo.and", 1).equal(1)
    value = odd.where(cosine, sine).bits_as(I4)
    # Bit 1 of the quadrant is the sign: moved into the sign bit of the result.
    sign = quadrant.binary("stablehlo.and", 2).binary("stablehlo.shift_left", 30)
    if not ahead:
        sign = sign.binary("stablehlo.xor", x.bits_as(I4).binary("stablehlo.and", -(2**31)))
    return value.binary("stablehlo.xor", sign).bits_as(F4)


# --- inverse functions ---------------------------------------------------------------------


def with_sign_of(value: Term, x: Term) -> Term:
    """A positive value with the sign of x, also of -0."""
    sign = x.bits_as(I4).binary("stablehlo.and", -(2**31))
    return value.bits_as(I4).binary("stablehlo.or", sign).bits_as(F4)


def angle(t: Term, inverted: Term) -> Term:
    """atan(t) for 0 <= t <= 1, or pi/2 - atan(t) where `inverted`."""
    square = t * t
    value = t + t * square * square.polynomial(_ATAN)
    return inverted.where(HALF_PI_HIGH - (value - HALF_PI_LOW), value)


def atan(x: Term) -> Term:
    """Inverse tangent."""
    size = abs(x)
    large = size > 1.0
    return with_sign_of(angle(large.where(1.0 / size, size), large), x)


def atan2(y: Term, x: Term) -> Term:
    """Angle of the point (x, y)."""
    a, b = abs(y), abs(x)
    steep = a > b
    low, high = steep.where(b, a), steep.where(a, b)
    ratio = low / high
    ratio = (high.equal(0.0)).where(0.0, low.equal(math.inf).where(1.0, ratio))
    value = angle(ratio, steep)
    left = x.bits_as(I4) < 0
    value = left.where(2 * HALF_PI_HIGH - (value - 2 * HALF_PI_LOW), value)
    value = (x.is_nan() | y.is_nan()).where(math.nan, value)
    return with_sign_of(value, y)


def arc(x: Term) -> tuple[Term, Term, Term]:
    """s with |x| = s or 1 - 2 s**2, asin(s), and which: whether |x| > 1/2."""
    size = abs(x)
    large = size > 0.5
    half = 0.5 * (1.0 - size)
    square = large.where(half, x * x)
    s = large.where(half.sqrt(), size)
    return s, s + s * square * square.polynomial(_ASIN), large


def asin(x: Term) -> Term:
    """Inverse sine."""
    _, value, large = arc(x)
    return with_sign_of(large.where(HALF_PI_HIGH - (2.0 * value - HALF_PI_LOW), value), x)


def acos(x: Term) -> Term:
    """Inverse cosine."""
    _, value, large = arc(x)
    minus = x < 0.0
    double = 2.0 * value
    outer = minus.where(2 * HALF_PI_HIGH - (double - 2 * HALF_PI_LOW), double)
    signed = minus.where(-value, value)
    return large.where(outer, HALF_PI_HIGH - (signed - HALF_PI_LOW))


# --- powers --------------------------------------------------------------------------------


def logarithm2(x: Term) -> Term:
    """log2 of a positive float64, to about 1e-12; -inf at 0, inf at inf."""
    bits = x.bits_as(np.int64)
    # Split x = 2**n m with m in [sqrt(1/2), sqrt(2)).
    offset = bits - 0x3FE6A09E667F3BCD
    n = offset.binary("stablehlo.shift_right_arithmetic", 52)
    m = (bits - n.binary("stablehlo.shift_left", 52)).bits_as(F8)
    s = (m - 1.0) / (m + 1.0)
    series = (s * s).polynomial([2 / math.log(2) / (2 * k + 1) for k in range(8)])
    value = n.to(I4).to(F8) + s * series
    return x.equal(0.0).where(-math.inf, x.equal(math.inf).where(math.inf, value))


def power(x: Term, y: Term) -> Term:
    """x**y through 2**(y log2 |x|) in float64, with the special cases of C's pow."""
    wide, exponent = x.to(F8), y.to(F8)
    scaled = (exponent * logarithm2(abs(wide))).limited(-300.0, 300.0)
    near = scaled.unary("stablehlo.round_nearest_even")
    fraction = scaled - near
    value = fraction.polynomial([math.log(2) ** k / math.factorial(k) for k in range(10)])
    whole = near.to(I4).to(np.int64)
    value = (value * power_of_two(whole, F8)).to(F4)
    half = exponent * 0.5
    is_whole = y.unary("stablehlo.floor").equal(y)
    odd = is_whole & half.unary("stablehlo.floor").compare("NE", half)
    negative = x.bits_as(I4) < 0
    value = (negative & odd).where(-value, value)
    undefined = (x < 0.0) & (x > -math.inf) & ~is_whole
    value = undefined.where(math.nan, value)
    one = y.equal(0.0) | x.equal(1.0) | (x.equal(-1.0) & abs(y).equal(math.inf))
    nan = (x.is_nan() | y.is_nan()) & ~one
    return one.where(1.0, nan.where(x + y, value))


FORMULAS: dict[str, Callable[..., Term]] = {
    "sin": lambda x: wave(x, 0),
    "cos": lambda x: wave(x, 1),
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "atan2": atan2,
    "pow": power,
}
