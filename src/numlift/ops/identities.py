"""Neutral elements of max and min, and the dtype in which sums are accumulated."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..core.dtypes import finfo, iinfo
from ..core.types import dtype_kind


@cache
def lowest(dtype: Any) -> Any:
    """Neutral element of max: -inf, the least finite number, the least integer, False."""
    kind = dtype_kind(dtype)
    if kind == "b":
        return np.False_
    if kind in "iu":
        return dtype.type(iinfo(dtype).min)
    if kind == "c":
        return dtype.type(complex(-np.inf, -np.inf))
    return dtype.type(-np.inf) if has_infinity(dtype) else dtype.type(finfo(dtype).min)


@cache
def highest(dtype: Any) -> Any:
    """Neutral element of min: inf, the greatest finite number, the greatest integer, True."""
    kind = dtype_kind(dtype)
    if kind == "b":
        return np.True_
    if kind in "iu":
        return dtype.type(iinfo(dtype).max)
    if kind == "c":
        return dtype.type(complex(np.inf, np.inf))
    return dtype.type(np.inf) if has_infinity(dtype) else dtype.type(finfo(dtype).max)


def has_infinity(dtype: Any) -> bool:
    """Whether a floating dtype can hold infinity (several float8 cannot)."""
    with np.errstate(all="ignore"):
        return bool(np.isinf(np.float64(np.asarray(np.inf).astype(dtype))))


@cache
def accumulator(dtype: Any) -> Any:
    """float32 for floats of one or two bytes, int32 for integers below one byte, else `dtype`."""
    if dtype_kind(dtype) == "f" and dtype.itemsize <= 2:
        return np.dtype(np.float32)
    if dtype.name in ("int2", "int4"):
        return np.dtype(np.int32)
    if dtype.name in ("uint2", "uint4"):
        return np.dtype(np.uint32)
    return dtype
