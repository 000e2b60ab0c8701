"""NumPy's universal functions as `ufunc` objects: the names that users call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import (
    arithmetic,
    complex_parts,
    elementwise,
    floats,
    logic,
    powers,
    products,
    reductions,
    rounding,
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
arccos = _made(elementwise.arccos)
arccosh = _made(elementwise.arccosh)
arcsin = _made(elementwise.arcsin)
arcsinh = _made(elementwise.arcsinh)
arctan = _made(elementwise.arctan)
arctan2 = _made(arithmetic.arctan2)
arctanh = _made(elementwise.arctanh)
bitwise_and = _made(logic.bitwise_and)
bitwise_count = _made(logic.bitwise_count)
bitwise_or = _made(logic.bitwise_or)
bitwise_xor = _made(logic.bitwise_xor)
cbrt = _made(elementwise.cbrt)
ceil = _made(rounding.ceil)
conjugate = _made(complex_parts.conjugate)
copysign = _made(arithmetic.copysign)
cos = _made(elementwise.cos)
cosh = _made(elementwise.cosh)
deg2rad = _made(elementwise.deg2rad)
degrees = _made(elementwise.degrees, "degrees")
divide = _made(arithmetic.divide)
divmod = _made(arithmetic.divmod)
equal = _made(logic.equal)
exp = _made(elementwise.exp)
exp2 = _made(elementwise.exp2)
expm1 = _made(elementwise.expm1)
fabs = _made(elementwise.fabs)
float_power = _made(powers.float_power)
floor = _made(rounding.floor)
floor_divide = _made(arithmetic.floor_divide)
fmax = _made(arithmetic.fmax)
fmin = _made(arithmetic.fmin)
fmod = _made(arithmetic.fmod)
frexp = _made(floats.frexp)
gcd = _made(powers.gcd)
greater = _made(logic.greater)
greater_equal = _made(logic.greater_equal)
heaviside = _made(arithmetic.heaviside)
hypot = _made(arithmetic.hypot)
invert = _made(logic.invert)
isfinite = _made(floats.isfinite)
isinf = _made(floats.isinf)
isnan = _made(floats.isnan)
lcm = _made(powers.lcm)
ldexp = _made(arithmetic.ldexp)
left_shift = _made(logic.left_shift)
less = _made(logic.less)
less_equal = _made(logic.less_equal)
log = _made(elementwise.log)
log10 = _made(elementwise.log10)
log1p = _made(elementwise.log1p)
log2 = _made(elementwise.log2)
logaddexp = _made(arithmetic.logaddexp)
logaddexp2 = _made(arithmetic.logaddexp2)
logical_and = _made(logic.logical_and)
logical_not = _made(logic.logical_not)
logical_or = _made(logic.logical_or)
logical_xor = _made(logic.logical_xor)
matmul = _made(products.matmul)
matvec = _made(products.matvec)
maximum = _made(arithmetic.maximum)
minimum = _made(arithmetic.minimum)
modf = _made(floats.modf)
multiply = _made(arithmetic.multiply)
negative = _made(elementwise.negative)
nextafter = _made(arithmetic.nextafter)
not_equal = _made(logic.not_equal)
positive = _made(elementwise.positive)
power = _made(powers.power)
rad2deg = _made(elementwise.rad2deg)
radians = _made(elementwise.radians, "radians")
reciprocal = _made(elementwise.reciprocal)
remainder = _made(arithmetic.remainder)
right_shift = _made(logic.right_shift)
rint = _made(rounding.rint)
sign = _made(elementwise.sign)
signbit = _made(floats.signbit)
sin = _made(elementwise.sin)
sinh = _made(elementwise.sinh)
spacing = _made(floats.spacing)
sqrt = _made(elementwise.sqrt)
square = _made(elementwise.square)
subtract = _made(arithmetic.subtract)
tan = _made(elementwise.tan)
tanh = _made(elementwise.tanh)
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
