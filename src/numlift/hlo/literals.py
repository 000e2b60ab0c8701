"""Numbers and arrays written as MLIR text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dims import Dim
from ..core.types import dtype_kind

_LONG = 256
"""Arrays of so many elements are written as bytes: 20 times as fast as numbers."""
_WHOLE_BYTES = frozenset(
    [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
    + ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
)


def number_text(value: Any, dtype: Any) -> str:
    """One element, exact: decimal where MLIR reads it back to the same bits, else the bits."""
    kind = dtype_kind(dtype)
    if type(value) is Dim and kind in "iu":
        return str(value)
    if kind == "b":
        return "true" if value else "false"
    if kind in "iu":
        return str(int(value))
    if kind == "c":
        part = np.dtype("f4") if dtype == np.complex64 else np.dtype("f8")
        z = complex(value)
        return f"({number_text(z.real, part)}, {number_text(z.imag, part)})"
    return _float_text(value, dtype)


def _float_text(value: Any, dtype: Any) -> str:
    size = dtype.itemsize
    if size in (4, 8):
        x = float(dtype.type(value))
        if math.isfinite(x):
            return f"{x:.17e}" if size == 8 else f"{x:.9e}"
    bits = np.asarray(value).astype(dtype).reshape(1).view(f"u{size}")[0]
    digits = 2 * size
    if dtype.name.startswith(("float4_", "float6_")):
        return f"{float(np.asarray(value).astype(dtype)):.6e}"
    return f"0x{int(bits):0{digits}X}"


def array_text(x: np.ndarray) -> str:
    """Body of ``dense<...>`` for a whole array."""
    if x.ndim == 0:
        return number_text(x[()], x.dtype)
    if x.size == 0:
        return ""
    if x.size >= _LONG and x.dtype.name in _WHOLE_BYTES:
        return f'"0x{np.ascontiguousarray(x).tobytes().hex()}"'
    return "[" + ", ".join(array_text(row) for row in x) + "]"
