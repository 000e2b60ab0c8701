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
from .operands import inexact, inexact_pair, number_of, real_inexact, real_pair, scaled


@library(1)
def sin(x: Any, /) -> Any:
    """Sine of an angle in radians; nan at +-inf.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype. Real ones are in
        [-1, 1].

    Derivative: cos(x).

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> print(np.sin(np.asarray([0.0, np.pi / 6, np.pi / 2])))
        [0.  0.5 1. ]
        >>> nl.grad(np.sin)(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return apply(trig.sin, inexact(x, "sin"))


@library(1)
def cos(x: Any, /) -> Any:
    """Cosine of an angle in radians; nan at +-inf.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype. Real ones are in
        [-1, 1].

    Derivative: -sin(x).

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> print(np.cos(np.asarray([0.0, np.pi / 3, np.pi])))
        [ 1.          0.49999997 -1.        ]
        >>> nl.grad(np.cos)(np.pi / 2)
        Array(-1., dtype=float32, weak_type=True)
    """
    return apply(trig.cos, inexact(x, "cos"))


@library(1)
def tan(x: Any, /) -> Any:
    """Tangent sin(x) / cos(x) of an angle in radians; nan at +-inf.

    No float is exactly pi / 2, so the poles give large numbers, not inf.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 + tan(x)**2.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> print(np.tan(np.asarray([0.0, np.pi / 4, -np.pi / 4])))
        [ 0.  1. -1.]
        >>> nl.grad(np.tan)(np.pi / 4)
        Array(2., dtype=float32, weak_type=True)
    """
    return apply(trig.tan, inexact(x, "tan"))


@library(1)
def arcsin(x: Any, /) -> Any:
    """Inverse sine in radians: the angle in [-pi/2, pi/2] whose sine is x.

    Real numbers outside [-1, 1] give nan. Complex results have cuts along the real axis outside
    [-1, 1]; on them the imaginary part is positive.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 / sqrt(1 - x**2), which is inf at -1 and 1, and nan outside.

    Differences from NumPy: the sign of a zero imaginary part does not choose the side of the cut;
    integers of every width become float32; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.arcsin(np.asarray([0.5, 1.0, 2.0])))
        [0.5235988 1.5707964       nan]
        >>> print(np.arcsin(np.asarray([2 + 0j])))
        [1.5707964+1.316958j]
    """
    return apply(trig.asin, inexact(x, "arcsin"))


@library(1)
def arccos(x: Any, /) -> Any:
    """Inverse cosine in radians: the angle in [0, pi] whose cosine is x.

    Real numbers outside [-1, 1] give nan. Complex results have cuts along the real axis outside
    [-1, 1]; on them the imaginary part is negative.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: -1 / sqrt(1 - x**2), which is -inf at -1 and 1, and nan outside.

    Differences from NumPy: the sign of a zero imaginary part does not choose the side of the cut;
    integers of every width become float32; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.arccos(np.asarray([0.5, -1.0, 2.0])))
        [1.0471976 3.1415927       nan]
        >>> print(np.arccos(np.asarray([2 + 0j])))
        [0.-1.316958j]
    """
    return apply(trig.acos, inexact(x, "arccos"))


@library(1)
def arctan(x: Any, /) -> Any:
    """Inverse tangent in radians: the angle in [-pi/2, pi/2] whose tangent is x.

    For the angle of a point in the plane use `arctan2`. Complex results have cuts along the
    imaginary axis beyond -1j and 1j, where the sign of the zero real part chooses the side.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 / (1 + x**2), which is 0 at +-inf.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> print(np.arctan(np.asarray([1.0, -1.0, np.inf])))
        [ 0.7853981 -0.7853981  1.5707964]
        >>> nl.grad(np.arctan)(1.0)
        Array(0.5, dtype=float32, weak_type=True)
    """
    return apply(trig.atan, inexact(x, "arctan"))


@library(1)
def sinh(x: Any, /) -> Any:
    """Hyperbolic sine (exp(x) - exp(-x)) / 2; float32 overflows to +-inf beyond +-89.4.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: cosh(x).

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> print(np.sinh(np.asarray([0.0, 1.0, -1.0, 100.0])))
        [ 0.         1.1752012 -1.1752012        inf]
        >>> nl.grad(np.sinh)(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return apply(trig.sinh, inexact(x, "sinh"))


@library(1)
def cosh(x: Any, /) -> Any:
    """Hyperbolic cosine (exp(x) + exp(-x)) / 2; float32 overflows to inf beyond +-89.4.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype. Real ones are at
        least 1.

    Derivative: sinh(x).

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> print(np.cosh(np.asarray([0.0, 1.0, -1.0, 100.0])))
        [1.        1.5430806 1.5430806       inf]
        >>> nl.grad(np.cosh)(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(trig.cosh, inexact(x, "cosh"))


@library(1)
def tanh(x: Any, /) -> Any:
    """Hyperbolic tangent sinh(x) / cosh(x), without overflow; -1 and 1 at -inf and inf.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype. Real ones are in
        [-1, 1].

    Derivative: 1 - tanh(x)**2, which is 0 at +-inf.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> print(np.tanh(np.asarray([0.0, 1.0, -100.0])))
        [ 0.         0.7615942 -1.       ]
        >>> nl.grad(np.tanh)(1.0)
        Array(0.41997433, dtype=float32, weak_type=True)
    """
    return apply(trig.tanh, inexact(x, "tanh"))


@library(1)
def arcsinh(x: Any, /) -> Any:
    """Inverse hyperbolic sine: the number whose `sinh` is x, defined for all real x.

    Complex results have cuts along the imaginary axis beyond -1j and 1j; on them the real part is
    positive.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 / sqrt(1 + x**2), which is 0 at +-inf.

    Differences from NumPy: the sign of a zero real part does not choose the side of the cut;
    integers of every width become float32; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> print(np.arcsinh(np.asarray([1.0, -1.0, 1e30])))
        [ 0.88137364 -0.88137364 69.7707    ]
        >>> nl.grad(np.arcsinh)(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return apply(trig.asinh, inexact(x, "arcsinh"))


@library(1)
def arccosh(x: Any, /) -> Any:
    """Inverse hyperbolic cosine: the number >= 0 whose `cosh` is x; nan for real x < 1.

    Complex results have a cut along the real axis below 1; on it the imaginary part is positive.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 / sqrt(x**2 - 1), which is inf at 1, 0 at inf, and nan below 1 (JAX: a number
    below -1).

    Differences from NumPy: the sign of a zero imaginary part does not choose the side of the cut;
    integers of every width become float32; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> print(np.arccosh(np.asarray([1.0, 2.0, 0.5])))
        [0.       1.316958      nan]
        >>> nl.grad(np.arccosh)(1.0)
        Array(inf, dtype=float32, weak_type=True)
    """
    return apply(trig.acosh, inexact(x, "arccosh"))


@library(1)
def arctanh(x: Any, /) -> Any:
    """Inverse hyperbolic tangent: the number whose `tanh` is x; +-inf at +-1.

    Real numbers outside [-1, 1] give nan. Complex results have cuts along the real axis outside
    [-1, 1], where the sign of the zero imaginary part chooses the side.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: 1 / (1 - x**2), which is inf at -1 and 1.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.arctanh(np.asarray([0.5, 1.0, 2.0])))
        [0.54930615        inf        nan]
        >>> print(np.arctanh(np.asarray([2 + 0j])))
        [0.54930615+1.5707964j]
    """
    return apply(trig.atanh, inexact(x, "arctanh"))


@library(2)
def arctan2(x1: Any, x2: Any, /) -> Any:
    """Angle in radians of the point with ordinate x1 and abscissa x2, in [-pi, pi].

    It is arctan(x1 / x2) moved to the right quadrant; signed zeros choose the side: ``arctan2(0.0,
    -0.0)`` is pi, ``arctan2(-0.0, -1.0)`` is -pi.

    Args:
        x1: ordinate, array or number; integers and bools become float32 (x64: float64).
        x2: abscissa, array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the shapes do not broadcast.

    Derivative: x2 / r**2 in x1 and -x1 / r**2 in x2, where r is the distance to the origin; 0 at
    the origin (JAX: nan).

    Differences from NumPy: complex numbers pass, and give ``-1j * log((x2 + 1j * x1) / r)`` (there
    a TypeError); integers of every width become float32; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> print(np.arctan2(np.asarray([1.0, 1.0, -1.0]), np.asarray([1.0, -1.0, -1.0])))
        [ 0.7853982  2.3561945 -2.3561945]
        >>> [float(d) for d in nl.grad(np.arctan2, argnums=(0, 1))(1.0, 2.0)]
        [0.4000000059604645, -0.20000000298023224]
    """
    x1, x2 = inexact_pair(x1, x2, "arctan2")
    return apply(binary.atan2, x1, x2)


@library(2)
def hypot(x1: Any, x2: Any, /) -> Any:
    """Length sqrt(x1**2 + x2**2) of the hypotenuse, without overflow on the way.

    It is inf if one side is infinite, even beside nan.

    Args:
        x1: one leg, array or number, real; integers and bools become float32 (x64: float64).
        x2: the other leg; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        DTypeError: an operand is complex.
        ShapeError: the shapes do not broadcast.

    Derivative: x1 / hypot in x1 and x2 / hypot in x2; 0 at the origin (JAX: 0.5); nan beside inf.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.hypot(np.asarray([3.0, 3e30]), np.asarray([4.0, 4e30]))
        Array([5.e+00, 5.e+30], dtype=float32)
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

    Args:
        x: array or number, real; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats keep their dtype.

    Raises:
        DTypeError: x is complex.

    Derivative: pi / 180.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.deg2rad(np.asarray([90, 180, -360])))
        [ 1.5707964  3.1415927 -6.2831855]
    """
    return scaled(real_inexact(x, "deg2rad"), math.pi / 180)


@library(1)
def rad2deg(x: Any, /) -> Any:
    """Radians as degrees: x * 180 / pi.

    Args:
        x: array or number, real; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats keep their dtype.

    Raises:
        DTypeError: x is complex.

    Derivative: 180 / pi.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.rad2deg(np.asarray([np.pi / 2, -1.0])))
        [ 90.      -57.29578]
    """
    return scaled(real_inexact(x, "rad2deg"), 180 / math.pi)


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
