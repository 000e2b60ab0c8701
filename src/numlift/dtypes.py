"""Dtypes: limits, kinds and promotion, under the names of `jax.dtypes`.

>>> from numlift import dtypes
>>> dtypes.canonicalize_dtype("float64"), dtypes.issubdtype("bfloat16", "float16")
(dtype('float32'), False)
>>> dtypes.result_type("int8", 2.5), dtypes.float0
(dtype('float32'), dtype([('float0', 'V')]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .core.dtypes import (
    KeyDType,
    as_dtype,
    bfloat16,
    canonicalize_dtype,
    extended,
    finfo,
    float0,
    iinfo,
    isdtype,
    issubdtype,
    prng_key,
    promote_types,
    result_type,
    scalar_type_of,
)
from .errors import TypePromotionError


def itemsize_bits(dtype: Any) -> int:
    """Bits of one element: 4 for int4, 32 for float32; bool takes 8.

    Args:
        dtype: anything that names a dtype; 64-bit dtypes keep their size, whatever `enable_x64`
            says.

    Returns:
        An int. For random keys it is the bits of their words: 64 for threefry.

    Raises:
        DTypeError: not a dtype of arrays.

    Example:
        >>> from numlift.dtypes import itemsize_bits
        >>> itemsize_bits("int4"), itemsize_bits("float32")
        (4, 32)
    """
    found = as_dtype(dtype)
    if isinstance(found, KeyDType):
        return 8 * found.itemsize
    canonicalize_dtype(found)  # refuses what is no dtype of arrays
    if issubdtype(found, np.integer):
        return int(iinfo(found).bits)
    return int(finfo(found).bits) if issubdtype(found, np.floating) else 8 * int(found.itemsize)


__all__ = [
    "TypePromotionError",
    "bfloat16",
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "isdtype",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "promote_types",
    "result_type",
    "scalar_type_of",
]


def __dir__() -> list[str]:
    return sorted(__all__)
