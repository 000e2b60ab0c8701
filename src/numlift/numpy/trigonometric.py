"""NumPy's functions of angles: trigonometric and hyperbolic ones, and their inverses."""

from __future__ import annotations

import math
from typing import Any

from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import compare, elementwise
from ..ops import elementwise_binary as binary
from ..ops import elementwise_trig as trig
from ..structural import arith
from .operands import inexact, inexact_pair, number_of, real_inexact, real_pair


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


@library(2)
def arctan2(x1: Any, x2: Any, /) -> Any:
    """Angle of the point (x2, x1) in (-pi, pi]. Derivative 0 at the origin (JAX: nan).

    Example:
        >>> import numlift.numpy as np
        >>> np.arctan2(1.0, 0.0)
        Array(1.5707964, dtype=float32, weak_type=True)
    """
    x1, x2 = inexact_pair(x1, x2, "arctan2")
    return apply(binary.atan2, x1, x2)


@library(2)
def hypot(x1: Any, x2: Any, /) -> Any:
    """Length of the hypotenuse sqrt(x1**2 + x2**2), without overflow on the way.

    Derivative: x1 / hypot and x2 / hypot, and 0 at the origin.

    Example:
        >>> import numlift.numpy as np
        >>> np.hypot(3.0, 4.0)
        Array(5., dtype=float32, weak_type=True)
    """
    x, y = real_pair(x1, x2, "hypot")
    t = type_of(x)
    zero, one = number_of(t)(0), number_of(t)(1)
    x, y = apply(elementwise.abs_, x), apply(elementwise.abs_, y)
    infinite = apply(
        binary.or_,
        apply(compare.eq, x, number_of(t)(math.inf)),
        apply(compare.eq, y, number_of(t)(math.inf)),
    )
    swap = apply(compare.lt, x, y)
    big, small = apply(arith.select, swap, x, y), apply(arith.select, swap, y, x)
    nothing = apply(compare.eq, big, zero)
    ratio = apply(binary.div, small, apply(arith.select, nothing, big, one))
    root = apply(elementwise.sqrt, apply(arith.add, apply(elementwise.square, ratio), one))
    length = apply(arith.mul, big, root)
    length = apply(arith.select, nothing, length, zero)
    return apply(arith.select, infinite, length, number_of(t)(math.inf))


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


atan2 = arctan2
degrees, radians = rad2deg, deg2rad
asin, acos, atan = arcsin, arccos, arctan
asinh, acosh, atanh = arcsinh, arccosh, arctanh

__all__ = [
    "acos",
    "acosh",
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
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "hypot",
    "rad2deg",
    "radians",
    "sin",
    "sinh",
    "tan",
    "tanh",
]
