"""NumPy's mathematical functions of one argument: exponentials, roots, angles, rounding."""

from __future__ import annotations

import math
from typing import Any

from .. import errors
from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import elementwise as ops
from ..ops import elementwise_binary as binary
from ..ops import elementwise_trig as trig
from ..structural import arith
from .arithmetic import no_bool
from .operands import inexact, number_of, real_inexact
from .util import as_value, cast


@library(1)
def negative(x: Any, /) -> Any:
    """-x; unsigned integers wrap around.

    Raises:
        DTypeError: x is bool.

    Example:
        >>> import numlift.numpy as np
        >>> np.negative(np.asarray([1, -2]))
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
        >>> import numlift.numpy as np
        >>> np.positive(np.asarray([1, -2]))
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
        >>> import numlift.numpy as np
        >>> np.absolute(np.asarray([1, -2]))
        Array([1, 2], dtype=int32)
    """
    x = as_value(x, "absolute", "x")
    return apply(ops.abs_, x) if type_of(x).kind in "ifc" else as_array_of_itself(x)


@library(1)
def fabs(x: Any, /) -> Any:
    """|x| of real numbers, as floats.

    Example:
        >>> import numlift.numpy as np
        >>> np.fabs(np.asarray([1, -2]))
        Array([1., 2.], dtype=float32)
    """
    return apply(ops.abs_, real_inexact(x, "fabs"))


@library(1)
def sign(x: Any, /) -> Any:
    """-1, 0 or 1; nan for nan; complex: x / |x|. Derivative 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.sign(np.asarray([-3.0, 0.0, 2.0]))
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
        >>> import numlift.numpy as np
        >>> np.square(np.asarray([2, -3]))
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
        >>> import numlift.numpy as np
        >>> np.reciprocal(np.asarray([2, 4]))
        Array([0.5 , 0.25], dtype=float32)
    """
    return apply(ops.reciprocal, inexact(x, "reciprocal"))


# --- exponentials, logarithms, roots -------------------------------------------------------


@library(1)
def sqrt(x: Any, /) -> Any:
    """Square root; nan for negative real numbers. Derivative 1 / (2 sqrt(x)), inf at 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.sqrt(np.asarray([4, 9]))
        Array([2., 3.], dtype=float32)
    """
    return apply(ops.sqrt, inexact(x, "sqrt"))


@library(1)
def cbrt(x: Any, /) -> Any:
    """Real cube root, also of negative numbers. Derivative inf at 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.cbrt(np.asarray([8.0, -27.0]))
        Array([ 2., -3.], dtype=float32)
    """
    return apply(ops.cbrt, real_inexact(x, "cbrt"))


@library(1)
def exp(x: Any, /) -> Any:
    """e**x.

    Example:
        >>> import numlift.numpy as np
        >>> np.exp(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return apply(ops.exp, inexact(x, "exp"))


@library(1)
def exp2(x: Any, /) -> Any:
    """2**x, exact for whole x.

    Example:
        >>> import numlift.numpy as np
        >>> np.exp2(np.asarray([3, -1]))
        Array([8. , 0.5], dtype=float32)
    """
    return apply(ops.exp2, inexact(x, "exp2"))


@library(1)
def expm1(x: Any, /) -> Any:
    """e**x - 1, exact for small x.

    Example:
        >>> import numlift.numpy as np
        >>> np.expm1(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(ops.expm1, inexact(x, "expm1"))


@library(1)
def log(x: Any, /) -> Any:
    """Natural logarithm: -inf at 0, nan for negative real numbers. Derivative 1 / x.

    Example:
        >>> import numlift.numpy as np
        >>> np.log(1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(ops.log, inexact(x, "log"))


@library(1)
def log1p(x: Any, /) -> Any:
    """log(1 + x), exact for small x.

    Example:
        >>> import numlift.numpy as np
        >>> np.log1p(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(ops.log1p, inexact(x, "log1p"))


def _log_to_base(x: Any, base: float) -> Any:
    y = apply(ops.log, x)
    return apply(binary.div, y, number_of(type_of(y))(math.log(base)))


@library(1)
def log2(x: Any, /) -> Any:
    """Logarithm to base 2.

    Example:
        >>> import numlift.numpy as np
        >>> np.log2(np.asarray([1.0, 8.0]))
        Array([0., 3.], dtype=float32)
    """
    return _log_to_base(inexact(x, "log2"), 2.0)


@library(1)
def log10(x: Any, /) -> Any:
    """Logarithm to base 10.

    Example:
        >>> import numlift.numpy as np
        >>> np.log10(1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return _log_to_base(inexact(x, "log10"), 10.0)


# --- trigonometric and hyperbolic functions ------------------------------------------------


@library(1)
def sin(x: Any, /) -> Any:
    """Sine of an angle in radians.

    Example:
        >>> import numlift.numpy as np
        >>> np.sin(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.sin, inexact(x, "sin"))


@library(1)
def cos(x: Any, /) -> Any:
    """Cosine of an angle in radians.

    Example:
        >>> import numlift.numpy as np
        >>> np.cos(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return apply(trig.cos, inexact(x, "cos"))


@library(1)
def tan(x: Any, /) -> Any:
    """Tangent of an angle in radians.

    Example:
        >>> import numlift.numpy as np
        >>> np.tan(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.tan, inexact(x, "tan"))


@library(1)
def arcsin(x: Any, /) -> Any:
    """Inverse sine in [-pi/2, pi/2]; nan for real |x| > 1. Derivative inf at +-1.

    Example:
        >>> import numlift.numpy as np
        >>> np.arcsin(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.asin, inexact(x, "arcsin"))


@library(1)
def arccos(x: Any, /) -> Any:
    """Inverse cosine in [0, pi]; nan for real |x| > 1. Derivative -inf at +-1.

    Example:
        >>> import numlift.numpy as np
        >>> np.arccos(1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.acos, inexact(x, "arccos"))


@library(1)
def arctan(x: Any, /) -> Any:
    """Inverse tangent in [-pi/2, pi/2].

    Example:
        >>> import numlift.numpy as np
        >>> np.arctan(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.atan, inexact(x, "arctan"))


@library(1)
def sinh(x: Any, /) -> Any:
    """Hyperbolic sine.

    Example:
        >>> import numlift.numpy as np
        >>> np.sinh(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.sinh, inexact(x, "sinh"))


@library(1)
def cosh(x: Any, /) -> Any:
    """Hyperbolic cosine.

    Example:
        >>> import numlift.numpy as np
        >>> np.cosh(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return apply(trig.cosh, inexact(x, "cosh"))


@library(1)
def tanh(x: Any, /) -> Any:
    """Hyperbolic tangent.

    Example:
        >>> import numlift.numpy as np
        >>> np.tanh(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.tanh, inexact(x, "tanh"))


@library(1)
def arcsinh(x: Any, /) -> Any:
    """Inverse hyperbolic sine.

    Example:
        >>> import numlift.numpy as np
        >>> np.arcsinh(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.asinh, inexact(x, "arcsinh"))


@library(1)
def arccosh(x: Any, /) -> Any:
    """Inverse hyperbolic cosine; nan for real x < 1. Derivative inf at 1.

    Example:
        >>> import numlift.numpy as np
        >>> np.arccosh(1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.acosh, inexact(x, "arccosh"))


@library(1)
def arctanh(x: Any, /) -> Any:
    """Inverse hyperbolic tangent; nan for real |x| > 1. Derivative inf at +-1.

    Example:
        >>> import numlift.numpy as np
        >>> np.arctanh(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.atanh, inexact(x, "arctanh"))


@library(1)
def deg2rad(x: Any, /) -> Any:
    """Degrees as radians: x * pi / 180.

    Example:
        >>> import numlift.numpy as np
        >>> np.deg2rad(180.0)
        Array(3.1415927, dtype=float32, weak_type=True)
    """
    return _scaled(real_inexact(x, "deg2rad"), math.pi / 180)


@library(1)
def rad2deg(x: Any, /) -> Any:
    """Radians as degrees: x * 180 / pi.

    Example:
        >>> import numlift.numpy as np
        >>> np.rad2deg(np.pi)
        Array(180., dtype=float32, weak_type=True)
    """
    return _scaled(real_inexact(x, "rad2deg"), 180 / math.pi)


def _scaled(x: Any, factor: float) -> Any:
    t = type_of(x)
    return apply(arith.mul, x, factor if t.weak_type else number_of(t)(factor))


def no_out(function: str, out: Any) -> None:
    """Raise if an `out` argument was given: arrays cannot be written to."""
    if out is not None:
        raise errors.ArgumentError(
            errors.explain(
                function, "out must be None: arrays are immutable", try_="use the returned array"
            )
        )


abs = absolute
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
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "log",
    "log10",
    "log1p",
    "log2",
    "negative",
    "positive",
    "rad2deg",
    "radians",
    "reciprocal",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
]
