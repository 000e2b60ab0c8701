"""Lowerings of elementary functions that are faster or more accurate than XLA's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.types import ArrayType
from .elementwise_text import Term

LOWERINGS: dict[tuple[str, Any], Callable[[Any, str, ArrayType], str]] = {}
"""(operation name, dtype) -> lowering on CPU."""


def exp2_text(ctx: Any, operand: str, out: ArrayType, accuracy: str = "") -> str:
    """2**x = 2**n e**(f log 2) with whole n and |f| <= 1/2: exact for whole x."""
    x = Term(ctx, operand, out)
    if out.kind == "c":
        return (x * math.log(2)).unary("stablehlo.exponential").name
    if out.dtype.itemsize < 4:
        return exp2_real(x.to(np.float32), accuracy).to(out.dtype).name
    return exp2_real(x, accuracy).name


def exp2_real(x: Term, accuracy: str = "") -> Term:
    """2**x for float32 or float64."""
    wide = x.type.dtype.itemsize == 8
    limit = 2046.0 if wide else 254.0
    top = x.constant(limit)
    bottom = x.constant(2.0 - limit)
    near = x.unary("stablehlo.round_nearest_even")
    near = bottom.binary("stablehlo.maximum", near).binary("stablehlo.minimum", top)
    fraction = (x - near) * math.log(2)
    # The factor 2**n in two halves, because n may reach twice the largest exponent.
    whole = near.to(np.int64 if wide else np.int32)
    first = whole.binary("stablehlo.shift_right_arithmetic", 1)
    text = f"stablehlo.exponential {fraction.name}{accuracy} : {x.type.mlir}"
    value = Term(x.ctx, x.ctx.emit(text), x.type)
    return value * power_of_two(first, x.type.dtype) * power_of_two(whole - first, x.type.dtype)


def power_of_two(n: Term, dtype: Any) -> Term:
    """2**n for an int32 (float32) or int64 (float64) term within the normal exponents."""
    bias, shift = (1023, 52) if dtype.itemsize == 8 else (127, 23)
    return (n + bias).binary("stablehlo.shift_left", shift).bits_as(dtype)
