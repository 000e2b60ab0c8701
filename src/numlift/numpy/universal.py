"""NumPy's universal functions as `ufunc` objects: the names that users call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import (
    arithmetic,
    complex_parts,
    elementwise,
    exponential,
    extrema,
    float_pairs,
    floats,
    logic,
    powers,
    products,
    reductions,
    rounding,
    trigonometric,
)
from .cumulative import cumprod, cumsum
from .ufuncs import ufunc

_FOLDS: dict[str, dict[str, Any]] = {
    "add": {"reduce": reductions.sum, "accumulate": cumsum, "at": "add", "promotes": True},
    "multiply": {
        "reduce": reductions.prod, "accumulate": cumprod, "at": "multiply", "promotes": True,
    },
    "subtract": {"at": "subtract"},
    "maximum": {"reduce": reductions.max, "at": "max"},
    "minimum": {"reduce": reductions.min, "at": "min"},
    "logical_and": {"reduce": reductions.all},
    "logical_or": {"reduce": reductions.any},
}  # fmt: skip
"""Folds that have an operation of their own."""

_ANY_ORDER = frozenset(
    [
        "add", "multiply", "maximum", "minimum", "fmax", "fmin", "hypot", "logaddexp",
        "logaddexp2", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
        "bitwise_xor", "gcd",
    ]
)  # fmt: skip
"""Functions that NumPy folds over several axes at once."""


def _made(function: Callable[..., Any], name: str | None = None) -> ufunc:
    name = name or str(function.__name__)
    like: np.ufunc = getattr(np, name)
    return ufunc(
        function,
        like.nin,
        like.nout,
        name=name,
        identity=like.identity,
        any_order=name in _ANY_ORDER,
        like=like,
        **_FOLDS.get(name, {}),
    )


absolute = _made(elementwise.absolute)
add = _made(arithmetic.add)
arccos = _made(trigonometric.arccos)
arccosh = _made(trigonometric.arccosh)
arcsin = _made(trigonometric.arcsin)
arcsinh = _made(trigonometric.arcsinh)
arctan = _made(trigonometric.arctan)
arctan2 = _made(trigonometric.arctan2)
arctanh = _made(trigonometric.arctanh)
bitwise_and = _made(logic.bitwise_and)
bitwise_count = _made(logic.bitwise_count)
bitwise_or = _made(logic.bitwise_or)
bitwise_xor = _made(logic.bitwise_xor)
cbrt = _made(exponential.cbrt)
ceil = _made(rounding.ceil)
conjugate = _made(complex_parts.conjugate)
copysign = _made(float_pairs.copysign)
cos = _made(trigonometric.cos)
cosh = _made(trigonometric.cosh)
deg2rad = _made(trigonometric.deg2rad)
degrees = _made(trigonometric.degrees, "degrees")
divide = _made(arithmetic.divide)
divmod = _made(arithmetic.divmod)
equal = _made(logic.equal)
exp = _made(exponential.exp)
exp2 = _made(exponential.exp2)
expm1 = _made(exponential.expm1)
fabs = _made(elementwise.fabs)
float_power = _made(powers.float_power)
floor = _made(rounding.floor)
floor_divide = _made(arithmetic.floor_divide)
fmax = _made(extrema.fmax)
fmin = _made(extrema.fmin)
fmod = _made(arithmetic.fmod)
frexp = _made(floats.frexp)
gcd = _made(powers.gcd)
greater = _made(logic.greater)
greater_equal = _made(logic.greater_equal)
heaviside = _made(float_pairs.heaviside)
hypot = _made(trigonometric.hypot)
invert = _made(logic.invert)
isfinite = _made(floats.isfinite)
isinf = _made(floats.isinf)
isnan = _made(floats.isnan)
lcm = _made(powers.lcm)
ldexp = _made(float_pairs.ldexp)
left_shift = _made(logic.left_shift)
less = _made(logic.less)
less_equal = _made(logic.less_equal)
log = _made(exponential.log)
log10 = _made(exponential.log10)
log1p = _made(exponential.log1p)
log2 = _made(exponential.log2)
logaddexp = _made(exponential.logaddexp)
logaddexp2 = _made(exponential.logaddexp2)
logical_and = _made(logic.logical_and)
logical_not = _made(logic.logical_not)
logical_or = _made(logic.logical_or)
logical_xor = _made(logic.logical_xor)
matmul = _made(products.matmul)
matvec = _made(products.matvec)
maximum = _made(extrema.maximum)
minimum = _made(extrema.minimum)
modf = _made(floats.modf)
multiply = _made(arithmetic.multiply)
negative = _made(elementwise.negative)
nextafter = _made(float_pairs.nextafter)
not_equal = _made(logic.not_equal)
positive = _made(elementwise.positive)
power = _made(powers.power)
rad2deg = _made(trigonometric.rad2deg)
radians = _made(trigonometric.radians, "radians")
reciprocal = _made(elementwise.reciprocal)
remainder = _made(arithmetic.remainder)
right_shift = _made(logic.right_shift)
rint = _made(rounding.rint)
sign = _made(elementwise.sign)
signbit = _made(floats.signbit)
sin = _made(trigonometric.sin)
sinh = _made(trigonometric.sinh)
spacing = _made(floats.spacing)
sqrt = _made(exponential.sqrt)
square = _made(elementwise.square)
subtract = _made(arithmetic.subtract)
tan = _made(trigonometric.tan)
tanh = _made(trigonometric.tanh)
trunc = _made(rounding.trunc)
vecdot = _made(products.vecdot)
vecmat = _made(products.vecmat)

abs = absolute
acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
bitwise_invert = invert
bitwise_left_shift = left_shift
bitwise_not = invert
bitwise_right_shift = right_shift
conj = conjugate
mod = remainder
pow = power
true_divide = divide

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matvec",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "vecdot",
    "vecmat",
]
