"""Conversions and questions about memory that NumPy has: trivial for immutable arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..core.tracing import Tracer
from .creation import array, asarray
from .text import values_of

asanyarray = asarray

_FLAGS = frozenset(
    ["C", "C_CONTIGUOUS", "CONTIGUOUS", "A", "ALIGNED", "E", "ENSUREARRAY"]
    + ["F", "F_CONTIGUOUS", "FORTRAN"]
)
_WRITEABLE = frozenset(["W", "WRITEABLE", "O", "OWNDATA"])


def ascontiguousarray(a: Any, dtype: Any = None, *, like: None = None) -> Any:
    """`a` as an array with at least one axis; arrays have no memory order here.

    Args:
        a: array, number, or nested lists of these.
        dtype: dtype of the result; by default as for `array`.
        like: must be None.

    Returns:
        Array of the shape of `a`; (1,) for numbers.

    Raises:
        What `array` raises.

    Example:
        >>> import numlift.numpy as np
        >>> np.ascontiguousarray(1).shape
        (1,)
    """
    return array(a, dtype, copy=False, ndmin=1, like=like)


def asfortranarray(a: Any, dtype: Any = None, *, like: None = None) -> Any:
    """`a` as an array with at least one axis; arrays have no memory order here.

    Args:
        a: array, number, or nested lists of these.
        dtype: dtype of the result; by default as for `array`.
        like: must be None.

    Returns:
        Array of the shape of `a`; (1,) for numbers.

    Raises:
        What `array` raises.

    Differences from NumPy: the values do not lie column by column in memory; no function here asks.

    Example:
        >>> import numlift.numpy as np
        >>> np.asfortranarray([[1, 2], [3, 4]])
        Array([[1, 2],
               [3, 4]], dtype=int32)
    """
    return array(a, dtype, copy=False, ndmin=1, like=like)


@explains
def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> Any:
    """`a` as an array, after a check that no element is nan or infinite.

    Args:
        a: array, number, or nested lists of these; its values must be known.
        dtype: dtype of the result; by default as for `array`.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.

    Returns:
        Array of the shape of `a`.

    Raises:
        ValueArgumentError: an element is nan or infinite.  TracerArrayConversionError: `a` is
        traced.

    Example:
        >>> import numlift.numpy as np
        >>> np.asarray_chkfinite([1.0, 2.0])
        Array([1., 2.], dtype=float32)
        >>> np.asarray_chkfinite([1.0, np.inf])
        Traceback (most recent call last):
        numlift.errors.ValueArgumentError: asarray_chkfinite: array must not contain infs or NaNs
        ...
    """
    x = asarray(a, dtype, order=order)
    if isinstance(x, Tracer):
        values_of(x, "asarray_chkfinite")
    if x.type.inexact and not bool(np.isfinite(x.astype(complex)._numpy()).all()):
        raise errors.ValueArgumentError(
            errors.explain(
                "asarray_chkfinite", "array must not contain infs or NaNs", {"a": x.type}
            )
        )
    return x


@explains
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: None = None) -> Any:
    """`a` as an array that meets NumPy's requirements: all but being writeable are met here.

    Args:
        a: array, number, or nested lists of these.
        dtype: dtype of the result; by default as for `array`.
        requirements: names of NumPy's flags, or their first letters, in a list or a string: "C",
            "F", "A", "E" and so on.
        like: must be None.

    Returns:
        Array of the shape of `a`.

    Raises:
        ValueArgumentError: "W" or "O" (own writeable memory) is among them, or both "C" and "F".
        KeyError: a name is no flag.

    Example:
        >>> import numlift.numpy as np
        >>> np.require([1, 2], requirements=["C", "A"])
        Array([1, 2], dtype=int32)
    """
    flags = {str(r).upper() for r in (requirements or ())}
    for flag in sorted(flags):
        if flag in _WRITEABLE:
            raise errors.ValueArgumentError(
                errors.explain(
                    "require", f"{flag!r}: arrays are immutable", try_="numpy.require(a, ...)"
                )
            )
        if flag not in _FLAGS:
            raise KeyError(flag)
    if flags & {"C", "C_CONTIGUOUS", "CONTIGUOUS"} and flags & {"F", "F_CONTIGUOUS", "FORTRAN"}:
        raise errors.ValueArgumentError(
            errors.explain("require", 'Cannot specify both "C" and "F" order')
        )
    return asarray(a, dtype, like=like)


def isfortran(a: Any) -> bool:
    """False: arrays have no memory order here.

    Args:
        a: array.

    Returns:
        A bool of Python.

    Raises:
        ArgumentError: `a` is no array.

    Example:
        >>> import numlift.numpy as np
        >>> np.isfortran(np.ones((2, 3)))
        False
    """
    if not hasattr(a, "ndim"):
        raise errors.ArgumentError(errors.explain("isfortran", "a must be an array"))
    return False


@explains
def may_share_memory(a: Any, b: Any, /, max_work: int = 0) -> bool:
    """Whether the memory of two arrays may overlap: a quick answer from its bounds.

    Values on the CPU are compared. Arrays are immutable, so sharing cannot be seen in results.

    Args:
        a: array; its values must be known.
        b: another one.
        max_work: how hard to look, as `numpy.may_share_memory` takes it; 0: at the bounds only.

    Returns:
        A bool of Python.

    Raises:
        TracerArrayConversionError: an argument is traced.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.ones(2)
        >>> np.may_share_memory(x, x), np.may_share_memory(x, np.copy(x))
        (True, False)
    """
    return np.may_share_memory(
        values_of(a, "may_share_memory"), values_of(b, "may_share_memory"), max_work
    )


@explains
def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Whether two arrays have an element in the same memory: the exact answer.

    Values on the CPU are compared. Arrays are immutable, so sharing cannot be seen in results.

    Args:
        a: array; its values must be known.
        b: another one.
        max_work: how hard to look, as `numpy.shares_memory` takes it; -1: until the answer is
            found.

    Returns:
        A bool of Python.

    Raises:
        TracerArrayConversionError: an argument is traced.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.ones(2)
        >>> np.shares_memory(x, x), np.shares_memory(x, np.copy(x))
        (True, False)
    """
    return np.shares_memory(values_of(a, "shares_memory"), values_of(b, "shares_memory"), max_work)


__all__ = [
    "asanyarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "isfortran",
    "may_share_memory",
    "require",
    "shares_memory",
]
