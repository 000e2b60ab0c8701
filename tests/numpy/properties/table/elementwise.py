"""Functions of each element, of one, two or three operands."""

from __future__ import annotations

from typing import Any

import numpy

from tests.numpy.properties.drawing import Call, Draw, call
from tests.numpy.properties.rows import Table, but, rows


def unary(kinds: str = "fiubc", low: float = -3, high: float = 3) -> Any:
    """Rows draw one operand."""

    def draw(d: Draw) -> Call:
        return call(d.array(kinds, low=low, high=high))

    return draw


def binary(kinds: str = "fiubc", **more: Any) -> Any:
    """Rows draw two operands that broadcast."""

    def draw(d: Draw) -> Call:
        return call(*d.operands(kinds, **more))

    return draw


TABLE: Table = {}
SMOOTH = {"smooth": True}
TABLE |= rows("exp exp2 expm1 sin cos sinh cosh tanh arctan arcsinh", unary("fiub"), **SMOOTH)
TABLE |= rows("tan", unary("fiub", -1.2, 1.2), **SMOOTH)
TABLE |= rows("arcsin arccos arctanh", unary("fiub", -0.9, 0.9), **SMOOTH)
TABLE |= rows("log log2 log10 sqrt reciprocal", unary("fc", 0.2, 4), **SMOOTH)
TABLE |= rows("cbrt log1p", unary("fiub", 0.2, 4), **SMOOTH)
TABLE |= rows("arccosh", unary("fiub", 1.2, 4), **SMOOTH)
TABLE |= rows("negative positive square", unary("fiubc"), **SMOOTH)
TABLE |= rows("absolute real imag conjugate", unary("fiubc"), **SMOOTH)
TABLE |= rows("fabs", unary("fiub"), **SMOOTH)
TABLE |= rows("sign floor ceil trunc rint", unary("fiu"), **SMOOTH)
TABLE |= rows("fix", unary("fiub"), **SMOOTH)
TABLE |= rows("degrees radians deg2rad rad2deg", unary("fiu"), **SMOOTH)
TABLE |= rows("sinc i0", unary("f"), **SMOOTH)
TABLE |= rows("isnan isinf isfinite", unary("fiubc"))
TABLE |= rows("isneginf isposinf signbit", unary("fiub"))
TABLE |= rows("iscomplex isreal logical_not", unary("fiubc"))
TABLE |= rows("spacing", lambda d: call(d.array("f", dtype="float32")), narrow=False)
TABLE |= rows("frexp", unary("f"), narrow=False)
# The sign of a zero fraction or remainder is not NumPy's: the derivative there is 1.
TABLE |= rows("modf", unary("f"), narrow=False, zeros=False)
TABLE |= rows("invert", unary("iubf"))
TABLE |= rows("bitwise_count", unary("iu"))
but(TABLE, "square", zeros=False)

TABLE |= rows("add subtract multiply", binary(), smooth=True, scaled=True)
TABLE |= rows("divide", binary("fiuc", low=0.5), smooth=True, scaled=True)
TABLE |= rows("maximum minimum fmax fmin", binary("fiub"), smooth=True, zeros=False)
TABLE |= rows("arctan2 hypot logaddexp logaddexp2", binary("f"), smooth=True)
TABLE |= rows("copysign", binary("f"), smooth=True)
TABLE |= rows("heaviside", binary("f"), smooth=True)
TABLE |= rows("nextafter", binary("f"), narrow=False)
TABLE |= rows("equal not_equal", binary())
TABLE |= rows("less less_equal greater greater_equal", binary("fiub"))
TABLE |= rows("logical_and logical_or logical_xor", binary())
TABLE |= rows("bitwise_and bitwise_or bitwise_xor", binary("iubf"))
TABLE |= rows("gcd lcm", binary("iu", special=False))
TABLE |= rows("floor_divide fmod", binary("fiu"), narrow=False, smooth=True)
TABLE |= rows("remainder divmod", binary("fiu"), narrow=False, smooth=True, zeros=False)


def draw_power(d: Draw) -> Call:
    x = d.array("fiu", *d.pair()[:1], low=0.25, high=3, special=False)
    if x.dtype.kind in "iu":
        return call(x, d.array("iu", x.shape, low=0, dtype=x.dtype.name, special=False))
    return call(x, d.pick([2, -1, 0.5, 0]) if d.chance(2) else d.array("f", x.shape))


TABLE |= rows("power", draw_power, smooth=True)
TABLE |= rows("float_power", draw_power, smooth=True, own_dtype="the default float, not float64")


def draw_shift(d: Draw) -> Call:
    x = d.array("iu", d.pair()[0])
    return call(x, d.array("iu", x.shape, low=0, high=7, dtype=x.dtype.name, special=False))


TABLE |= rows("left_shift right_shift", draw_shift)


def draw_ldexp(d: Draw) -> Call:
    x = d.array("f")
    return call(x, d.array("i", x.shape, dtype="int32", special=False))


TABLE |= rows("ldexp", draw_ldexp, smooth=True, narrow=False)


def draw_angle(d: Draw) -> Call:
    return call(d.array("fc", special=False), **d.options(deg=[True]))


def draw_clip(d: Draw) -> Call:
    x = d.array("fiu", special=False)
    how = d.integer(0, 3)
    low, high = d.array("f", (), dtype=x.dtype.name), d.array("f", (), dtype=x.dtype.name)
    if how == 0:
        return call(x, 1, 2)
    return call(x, low if how != 1 else None, high if how != 2 else None)


def draw_round(d: Draw) -> Call:
    return call(d.array("fiuc", special=False), **d.options(decimals=[1, 0, -1, 2]))


def draw_nan_to_num(d: Draw) -> Call:
    return call(d.array("fiub"), **d.options(nan=[1.5], posinf=[2.0], neginf=[-3.0]))


def draw_isclose(d: Draw) -> Call:
    x, y = d.operands("fiub")
    return call(x, y, **d.options(rtol=[0.5, 0.0], atol=[0.1, 1], equal_nan=[True]))


def draw_unwrap(d: Draw) -> Call:
    x = d.array("f", d.shape(rank=1), low=-9, high=9, special=False)
    return call(x, **d.options(axis=[d.axis(x)], period=[3.0], discont=[2.0]))


TABLE |= rows("angle", draw_angle, smooth=True)
TABLE |= rows("clip", draw_clip, smooth=True, zeros=False)
TABLE |= rows("round around", draw_round, smooth=True)
TABLE |= rows("nan_to_num", draw_nan_to_num, smooth=True)
TABLE |= rows("isclose", draw_isclose, narrow=False)
TABLE |= rows("allclose", draw_isclose, narrow=False)
TABLE |= rows("unwrap", draw_unwrap, scaled=True, smooth=True, narrow=False)
TABLE |= rows("array_equal", lambda d: call(*d.operands(), **d.options(equal_nan=[True])))
TABLE |= rows("array_equiv", lambda d: call(*d.operands()))
TABLE |= rows("real_if_close", unary("fic"), jit=False)
TABLE |= rows("iscomplexobj isrealobj ndim shape iterable", unary(), jit=False)
TABLE |= rows(
    "size", lambda d: (lambda x: call(x, *([d.axis(x)] if d.flag() else [])))(d.array()), jit=False
)
TABLE |= rows(
    "ones_like zeros_like", lambda d: call(d.array(), **d.options(dtype=["int32"], shape=[(2,), 3]))
)
TABLE |= rows(
    "full_like", lambda d: call(d.array(), 1, **d.options(dtype=["int32"], shape=[(2,), 3]))
)
TABLE |= rows("copy", unary(), smooth=True)
TABLE |= rows("asarray", unary(), smooth=True)
TABLE |= rows(
    "array", lambda d: call(d.array(), **d.options(ndmin=[2, 3], dtype=["float32"])), smooth=True
)


def draw_astype(d: Draw) -> Call:
    return call(d.array("iub"), d.pick(["int32", "float32", "complex64", "bool", "uint8", "int8"]))


TABLE |= rows("astype", draw_astype, own_dtype="the dtype is an argument by position")


def draw_where(d: Draw) -> Call:
    x, y = d.operands()
    return call(d.array("bi", d.pair()[0] if d.wrong() else numpy.shape(x)), x, y)


def draw_select(d: Draw) -> Call:
    shape = d.shape()
    n = d.integer(1, 2)
    choices = [d.array("fi", shape) for _ in range(n + d.wrong())]
    return call([d.array("b", shape) for _ in range(n)], choices, **d.options(default=[2]))


def draw_choose(d: Draw) -> Call:
    shape = d.shape()
    index = d.array("i", shape, low=0, high=3 if d.wrong() else 1, dtype="int32", special=False)
    return call(index, [d.array("f", shape), d.array("f", ())], **d.options(mode=["clip", "wrap"]))


def draw_piecewise(d: Draw) -> Call:
    x = d.array("f", special=False)
    functions = [1.5, numpy.square] + ([numpy.negative] if d.flag() else [])
    return call(x, [x > 1, x < 0], functions)


def draw_polyval(d: Draw) -> Call:
    return call(d.array("fi", (3,), special=False), d.array("f", special=False))


TABLE |= rows("where", draw_where, smooth=True, narrow=False)
TABLE |= rows("select", draw_select, smooth=True, narrow=False)
TABLE |= rows("choose", draw_choose, jit=False, smooth=True, narrow=False)
TABLE |= rows("piecewise", draw_piecewise, smooth=True, narrow=False)
TABLE |= rows("polyval", draw_polyval, smooth=True, scaled=True)
