"""Kinds of dtypes: `issubdtype` and `isdtype`, which know the dtypes of `ml_dtypes` too."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .. import errors
from .dtype_table import DTYPES, KeyDType, ScalarType, as_dtype

_ARRAY_API_KINDS: dict[str, tuple[type, ...]] = {
    "bool": (np.bool_,),
    "signed integer": (np.signedinteger,),
    "unsigned integer": (np.unsignedinteger,),
    "integral": (np.integer,),
    "real floating": (np.floating,),
    "complex floating": (np.complexfloating,),
    "numeric": (np.number,),
}

CUSTOM_KIND: dict[type, type] = {}
for _name, _dtype in DTYPES.items():
    if hasattr(ml_dtypes, _name):
        CUSTOM_KIND[_dtype.type] = (
            np.unsignedinteger
            if _name.startswith("uint")
            else np.signedinteger
            if _name.startswith("int")
            else np.floating
        )


def _scalar_class(x: Any) -> type:
    """NumPy scalar class for the first or second argument of `issubdtype`."""
    if isinstance(x, KeyDType):
        return x.type
    if isinstance(x, ScalarType):
        return x.dtype.type
    if isinstance(x, type) and issubclass(x, np.generic):
        return x
    return as_dtype(x).type


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a kind, such as `np.floating`, or exactly another dtype.

    bfloat16 and float8 are `floating`, int4 and int2 `signedinteger`, and the dtypes of random keys
    `dtypes.prng_key` and `dtypes.extended`.

    Args:
        arg1: dtype, its name, or a kind.
        arg2: kind, dtype, or its name.

    Returns:
        A bool of Python.

    Raises:
        DTypeError: a name or type is no dtype.

    Example:
        >>> import numlift as nl, numlift.numpy as np
        >>> np.issubdtype("bfloat16", np.floating), np.issubdtype(np.int32, np.floating)
        (True, False)
        >>> np.issubdtype(nl.random.key(0).dtype, nl.dtypes.prng_key)
        True
    """
    if isinstance(arg2, KeyDType):
        return arg1 is arg2
    a, b = _scalar_class(arg1), _scalar_class(arg2)
    if a is b:
        return True
    kind = CUSTOM_KIND.get(a)
    if kind is not None:
        return issubclass(kind, b)
    return issubclass(a, b)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind of the array API standard.

    Args:
        dtype: dtype, or its name.
        kind: a dtype, or one of ``"bool"``, ``"signed integer"``, ``"unsigned integer"``,
            ``"integral"``, ``"real floating"``, ``"complex floating"``, ``"numeric"``, or a tuple
            of these, of which one is enough.

    Returns:
        A bool of Python.

    Raises:
        ValueArgumentError: unknown `kind`.  DTypeError: `dtype` is none.

    Differences from NumPy: names of dtypes are taken, and bfloat16, float8 and int4 have kinds.

    Example:
        >>> import numlift.numpy as np
        >>> np.isdtype("bfloat16", "real floating"), np.isdtype(np.int8, ("bool", "numeric"))
        (True, True)
    """
    dtype = as_dtype(dtype)
    for one in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(one, str) and one in _ARRAY_API_KINDS:
            if any(issubdtype(dtype, c) for c in _ARRAY_API_KINDS[one]):
                return True
        elif isinstance(one, str) and one not in DTYPES:
            raise errors.ValueArgumentError(
                errors.explain(
                    "isdtype", f"{one!r} is not a kind of dtype", {"kind": kind},
                    try_="one of " + ", ".join(repr(k) for k in _ARRAY_API_KINDS),
                )
            )  # fmt: skip
        elif dtype == as_dtype(one):
            return True
    return False


def is_native(dtype: Any) -> bool:
    """Whether a dtype is NumPy's own: not bfloat16, float8, int4 or that of random keys."""
    return isinstance(dtype, np.dtype) and dtype.isbuiltin == 1


__all__ = ["CUSTOM_KIND", "is_native", "isdtype", "issubdtype"]
