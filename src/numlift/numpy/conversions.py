"""Conversions and questions about memory that NumPy has: trivial for immutable arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
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

    Example:
        >>> import numlift.numpy as np
        >>> np.ascontiguousarray(1).shape
        (1,)
    """
    return array(a, dtype, copy=False, ndmin=1, like=like)


def asfortranarray(a: Any, dtype: Any = None, *, like: None = None) -> Any:
    """`a` as an array; arrays have no memory order here.

    Example:
        >>> import numlift.numpy as np
        >>> np.asfortranarray([1, 2])
        Array([1, 2], dtype=int32)
    """
    return array(a, dtype, copy=False, ndmin=1, like=like)


def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> Any:
    """`a` as an array without NaN and infinity.

    Raises:
        ValueArgumentError: an element is NaN or infinite.
        TracerArrayConversionError: traced values are not known yet.

    Example:
        >>> import numlift.numpy as np
        >>> np.asarray_chkfinite([1.0, 2.0])
        Array([1., 2.], dtype=float32)
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


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: None = None) -> Any:
    """`a` as an array that meets NumPy's requirements: all but being writeable are met here.

    Args:
        a: array, number, or nested lists of these.
        dtype: dtype of the result.
        requirements: flag or flags of NumPy: "C", "F", "A", "E", ...

    Raises:
        ValueArgumentError: "W" or "O" is among them, or both "C" and "F".  KeyError: no flag.

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

    Example:
        >>> import numlift.numpy as np
        >>> np.isfortran(np.ones((2, 3)))
        False
    """
    if not hasattr(a, "ndim"):
        raise errors.ArgumentError(errors.explain("isfortran", "a must be an array"))
    return False


def may_share_memory(a: Any, b: Any, /, max_work: int = 0) -> bool:
    """Whether two arrays might use the same memory; see `numpy.may_share_memory`.

    Values on the CPU are compared; being immutable, no difference can be seen.
    """
    return np.may_share_memory(
        values_of(a, "may_share_memory"), values_of(b, "may_share_memory"), max_work
    )


def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Whether two arrays use the same memory; see `numpy.shares_memory` and `may_share_memory`."""
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
