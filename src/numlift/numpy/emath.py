"""Functions that leave the real numbers where they must: the square root of -1 is 1j.

Whether a result is complex depends on the values, so values must be known: under a transformation
convert to complex first and use the functions of `numlift.numpy`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import promote_types
from ..core.tracing import Tracer, type_of
from . import arithmetic, exponential, powers, trigonometric
from .array_values import convert_to
from .creation import asarray


def _outside(name: str, x: Any, is_outside: Callable[[Any], Any]) -> Any:
    """`x` as an inexact array; complex if an element is outside of the domain of real results."""
    x = asarray(x)
    if isinstance(x, Tracer):
        if type_of(x).kind == "c":
            return x
        raise errors.TracerArrayConversionError(
            errors.explain(
                f"emath.{name}",
                "the dtype of the result depends on the values, which are not known yet",
                {"x": x.type},
                try_=f"np.{name}(x.astype(complex))",
            )
        )
    if type_of(x).kind == "c" or not bool(is_outside(np.asarray(x)).any()):
        return x
    floats = x.dtype if type_of(x).kind == "f" else asarray(0.0).dtype
    return convert_to(x, promote_types(floats, np.complex64))


def _negative(x: Any) -> Any:
    return x < 0


def _beyond_one(x: Any) -> Any:
    return abs(x) > 1


def sqrt(x: Any) -> Any:
    """Square root that leaves the real numbers: complex if an element is negative.

    The dtype depends on values, so they must be known: under a transformation convert to complex
    first.

    Args:
        x: array or number.

    Returns:
        Array of the shape of `x`: float where all elements are >= 0, else complex64 (float64:
        complex128).

    Raises:
        TracerArrayConversionError: x is real and traced.

    Derivative: that of `numpy.sqrt`, of complex `x`.

    Example:
        >>> import numlift.numpy as np
        >>> np.emath.sqrt(np.asarray([4.0, 9.0]))
        Array([2., 3.], dtype=float32)
        >>> np.emath.sqrt(np.asarray([-4.0, 4.0]))
        Array([0.+2.j, 2.+0.j], dtype=complex64)
    """
    return exponential.sqrt(_outside("sqrt", x, _negative))


def log(x: Any) -> Any:
    """Natural logarithm that leaves the real numbers: complex if an element is negative.

    The imaginary part of a negative number's logarithm is pi. The dtype depends on values, so they
    must be known: under a transformation convert to complex first.

    Args:
        x: array or number.

    Returns:
        Array of the shape of `x`: float where all elements are >= 0, else complex64 (float64:
        complex128).

    Raises:
        TracerArrayConversionError: x is real and traced.

    Derivative: that of `numpy.log`, of complex `x`.

    Example:
        >>> import numlift.numpy as np
        >>> np.emath.log(np.asarray([1.0, 0.0]))
        Array([  0., -inf], dtype=float32)
        >>> np.emath.log(np.asarray([-1.0, 1.0]))
        Array([0.+3.1415927j, 0.+0.j       ], dtype=complex64)
    """
    return exponential.log(_outside("log", x, _negative))


def log10(x: Any) -> Any:
    """Logarithm to base 10 that leaves the real numbers: complex if an element is negative.

    The dtype depends on values, so they must be known: under a transformation convert to complex
    first.

    Args:
        x: array or number.

    Returns:
        Array of the shape of `x`: float where all elements are >= 0, else complex64 (float64:
        complex128).

    Raises:
        TracerArrayConversionError: x is real and traced.

    Derivative: that of `numpy.log10`, of complex `x`.

    Example:
        >>> import numlift.numpy as np
        >>> np.emath.log10(np.asarray([-100.0, 100.0]))
        Array([2.+1.3643764j, 2.+0.j       ], dtype=complex64)
    """
    return exponential.log10(_outside("log10", x, _negative))


def log2(x: Any) -> Any:
    """Logarithm to base 2 that leaves the real numbers: complex if an element is negative.

    The dtype depends on values, so they must be known: under a transformation convert to complex
    first.

    Args:
        x: array or number.

    Returns:
        Array of the shape of `x`: float where all elements are >= 0, else complex64 (float64:
        complex128).

    Raises:
        TracerArrayConversionError: x is real and traced.

    Derivative: that of `numpy.log2`, of complex `x`.

    Example:
        >>> import numlift.numpy as np
        >>> np.emath.log2(np.asarray([-8.0, 8.0]))
        Array([3.+4.53236j, 3.+0.j     ], dtype=complex64)
    """
    return exponential.log2(_outside("log2", x, _negative))


def logn(n: Any, x: Any) -> Any:
    """Logarithm of x to base n, log(x) / log(n); complex if an element of one of them is negative.

    The dtype depends on values, so they must be known: under a transformation convert to complex
    first.

    Args:
        n: base, array or number.
        x: array or number; broadcast with `n`.

    Returns:
        Array of the broadcast shape: float, or complex64 (float64: complex128).

    Raises:
        TracerArrayConversionError: x or n is real and traced.
        ShapeError: the shapes do not broadcast.

    Derivative: 1 / (x log(n)) in `x`, of complex arrays.

    Example:
        >>> import numlift.numpy as np
        >>> np.emath.logn(2, np.asarray([4.0, 8.0]))
        Array([2., 3.], dtype=float32)
        >>> np.emath.logn(2, np.asarray([-4.0]))
        Array([2.+4.53236j], dtype=complex64)
    """
    return arithmetic.divide(log(x), log(n))


def power(x: Any, p: Any) -> Any:
    """Power x ** p that leaves the real numbers: complex if an element of x is negative.

    Integers with a negative exponent are computed as floats; a Python integer as `p` is exact. The
    dtype depends on values, so they must be known: under a transformation convert to complex first.

    Args:
        x: base, array or number.
        p: exponent, array or number; broadcast with `x`.

    Returns:
        Array of the broadcast shape: in the promoted dtype, or complex64 (float64: complex128).

    Raises:
        TracerArrayConversionError: x is real and traced.
        ShapeError: the shapes do not broadcast.

    Derivative: that of `numpy.power`, of complex `x`.

    Example:
        >>> import numlift.numpy as np
        >>> np.emath.power(np.asarray([2, 4]), -2)
        Array([0.25  , 0.0625], dtype=float32)
        >>> print(np.emath.power(np.asarray([-1.0]), 0.5).imag)
        [1.]
    """
    x = _outside("power", x, _negative)
    if type(p) is int and (p >= 0 or type_of(x).inexact):
        return powers.power(x, p)
    p = asarray(p)
    if type_of(p).kind in "iu" and not isinstance(p, Tracer) and bool((np.asarray(p) < 0).any()):
        p = p.astype(float)
    return powers.power(x, p)


def arccos(x: Any) -> Any:
    """Inverse cosine (radians) that leaves the real numbers: complex outside [-1, 1].

    The dtype depends on values, so they must be known: under a transformation convert to complex
    first.

    Args:
        x: array or number.

    Returns:
        Array of the shape of `x`: float where all elements are in [-1, 1], else complex64 (float64:
        complex128).

    Raises:
        TracerArrayConversionError: x is real and traced.

    Derivative: that of `numpy.arccos`, of complex `x`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.emath.arccos(np.asarray([0.5, -1.0])))
        [1.0471976 3.1415927]
        >>> print(np.emath.arccos(2.0))
        -1.316958j
    """
    return trigonometric.arccos(_outside("arccos", x, _beyond_one))


def arcsin(x: Any) -> Any:
    """Inverse sine (radians) that leaves the real numbers: complex outside [-1, 1].

    The dtype depends on values, so they must be known: under a transformation convert to complex
    first.

    Args:
        x: array or number.

    Returns:
        Array of the shape of `x`: float where all elements are in [-1, 1], else complex64 (float64:
        complex128).

    Raises:
        TracerArrayConversionError: x is real and traced.

    Derivative: that of `numpy.arcsin`, of complex `x`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.emath.arcsin(np.asarray([0.5, -1.0])))
        [ 0.5235988 -1.5707964]
        >>> print(np.emath.arcsin(2.0))
        (1.5707964+1.316958j)
    """
    return trigonometric.arcsin(_outside("arcsin", x, _beyond_one))


def arctanh(x: Any) -> Any:
    """Inverse hyperbolic tangent that leaves the real numbers: complex outside [-1, 1].

    The dtype depends on values, so they must be known: under a transformation convert to complex
    first.

    Args:
        x: array or number.

    Returns:
        Array of the shape of `x`: float where all elements are in [-1, 1], else complex64 (float64:
        complex128).

    Raises:
        TracerArrayConversionError: x is real and traced.

    Derivative: that of `numpy.arctanh`, of complex `x`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.emath.arctanh(np.asarray([0.5, 1.0])))
        [0.54930615        inf]
        >>> print(np.emath.arctanh(2.0))
        (0.54930615+1.5707964j)
    """
    return trigonometric.arctanh(_outside("arctanh", x, _beyond_one))


__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]


def __dir__() -> list[str]:
    return sorted(__all__)
