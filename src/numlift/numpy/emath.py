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
    """Square root; complex if an element is negative.

    Example:
        >>> import numlift.numpy as np
        >>> np.emath.sqrt(np.asarray([-4.0, 4.0]))
        Array([0.+2.j, 2.+0.j], dtype=complex64)
    """
    return exponential.sqrt(_outside("sqrt", x, _negative))


def log(x: Any) -> Any:
    """Natural logarithm; complex if an element is negative.

    Example:
        >>> import numlift.numpy as np
        >>> np.emath.log(np.asarray(-1.0)).imag
        Array(3.1415927, dtype=float32)
    """
    return exponential.log(_outside("log", x, _negative))


def log10(x: Any) -> Any:
    """Logarithm to base 10; complex if an element is negative."""
    return exponential.log10(_outside("log10", x, _negative))


def log2(x: Any) -> Any:
    """Logarithm to base 2; complex if an element is negative."""
    return exponential.log2(_outside("log2", x, _negative))


def logn(n: Any, x: Any) -> Any:
    """Logarithm of `x` to base `n`; complex if one of them is negative.

    Example:
        >>> import numlift.numpy as np
        >>> np.emath.logn(2, np.asarray([4.0, 8.0]))
        Array([2., 3.], dtype=float32)
    """
    return arithmetic.divide(log(x), log(n))


def power(x: Any, p: Any) -> Any:
    """`x` to the power `p`; complex if an element of `x` is negative.

    Integers with a negative power are computed as floats.

    Example:
        >>> import numlift.numpy as np
        >>> np.emath.power(np.asarray([-2.0]), 2)
        Array([4.+0.j], dtype=complex64)
    """
    x = _outside("power", x, _negative)
    p = asarray(p)
    if type_of(p).kind in "iu" and not isinstance(p, Tracer) and bool((np.asarray(p) < 0).any()):
        p = p.astype(float)
    return powers.power(x, p)


def arccos(x: Any) -> Any:
    """Inverse cosine; complex if an element is outside [-1, 1]."""
    return trigonometric.arccos(_outside("arccos", x, _beyond_one))


def arcsin(x: Any) -> Any:
    """Inverse sine; complex if an element is outside [-1, 1]."""
    return trigonometric.arcsin(_outside("arcsin", x, _beyond_one))


def arctanh(x: Any) -> Any:
    """Inverse hyperbolic tangent; complex if an element is outside [-1, 1]."""
    return trigonometric.arctanh(_outside("arctanh", x, _beyond_one))


__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]
