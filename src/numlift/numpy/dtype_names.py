"""NumPy's other names of dtypes, and its questions about which dtype fits."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..core.dtypes import (
    bfloat16,
    bool_,
    canonicalize_dtype,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ..core.tracing import type_of
from .text import values_of
from .util import as_value

half, byte, short, intc, long, longlong, intp = float16, int8, int16, int32, int64, int64, int64
ubyte, ushort, uintc, ulong, ulonglong, uintp = uint8, uint16, uint32, uint64, uint64, uint64

ScalarType = (
    int, float, complex, bool, bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    bfloat16, float16, float32, float64, complex64, complex128,
)  # fmt: skip
"""Python's types of numbers and the scalar types of this package."""

typecodes = {
    "Character": "c",
    "Integer": "bhilq",
    "UnsignedInteger": "BHILQ",
    "Float": "efd",
    "Complex": "FD",
    "AllInteger": "bBhHiIlLqQ",
    "AllFloat": "efdFD",
    "All": "?bhilqBHILQefdFD",
}
"""Type codes of the dtypes that exist here."""

True_, False_ = np.True_, np.False_
little_endian = np.little_endian
exceptions = np.exceptions
mintypecode = np.mintypecode


def common_type(*arrays: Any) -> Any:
    """The floating or complex dtype that arrays are promoted to.

    Integers count as the default float.

    Args:
        *arrays: arrays or numbers.

    Returns:
        A dtype: that of all arrays promoted, and float16 of none.

    Raises:
        DTypeError: an array is bool.

    Differences from NumPy: a dtype instead of its class; integers count as float32 unless x64 is
    on.

    Example:
        >>> import numlift.numpy as np
        >>> np.common_type(np.ones(2, "float16"), np.ones(2, "complex64"))
        dtype('complex64')
        >>> np.common_type(np.ones(2, "int8"))
        dtype('float32')
    """
    found = None
    for i, x in enumerate(arrays):
        t = type_of(as_value(x, "common_type", f"arrays[{i}]"))
        if t.kind not in "iufc":
            raise errors.DTypeError(
                errors.explain(
                    "common_type", "can't get common type for non-numeric array", {f"{i}": t}
                )
            )
        dtype = t.dtype if t.inexact else canonicalize_dtype(np.dtype(float))
        found = dtype if found is None else promote_types(found, dtype)
    return np.dtype(np.float16) if found is None else canonicalize_dtype(found)


@explains
def min_scalar_type(a: Any, /) -> Any:
    """The smallest dtype that holds a number; the dtype of an array with axes.

    Integers that are not negative count as unsigned; floats may lose digits, but not their size.

    Args:
        a: number or array; its values must be known.

    Returns:
        A dtype.

    Raises:
        TracerArrayConversionError: `a` is traced.

    Example:
        >>> import numlift.numpy as np
        >>> np.min_scalar_type(10), np.min_scalar_type(-260), np.min_scalar_type(1e10)
        (dtype('uint8'), dtype('int16'), dtype('float32'))
    """
    return np.min_scalar_type(values_of(a, "min_scalar_type"))


__all__ = [
    "False_",
    "ScalarType",
    "True_",
    "byte",
    "common_type",
    "exceptions",
    "half",
    "intc",
    "intp",
    "little_endian",
    "long",
    "longlong",
    "min_scalar_type",
    "mintypecode",
    "short",
    "typecodes",
    "ubyte",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "ushort",
]
