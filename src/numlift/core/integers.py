"""Python integers have no limit, those of arrays have one: what is too large must not wrap."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..config import current
from .dtypes import iinfo, python_scalar_dtype

_SMALL = range(-(2**31), 2**31)


def check_integer(function: str, x: int, dtype: Any = None) -> None:
    """Raise if a Python int fits neither the integer `dtype` nor the default integer dtype.

    One that fits the default dtype only wraps around, as the conversion of an array does. Other
    dtypes than integers take all.

    Raises:
        IntegerOverflowError: it fits neither.
    """
    if x in _SMALL or (dtype is not None and dtype.kind not in "iuV"):
        return
    default = python_scalar_dtype(int)
    if not any(iinfo(d).min <= x <= iinfo(d).max for d in (default, dtype or default)):
        raise integer_overflow(function, x, dtype or default)


def integer_overflow(function: str, x: Any, dtype: Any) -> errors.IntegerOverflowError:
    """The error for Python integers that are too large for a dtype."""
    wide = dtype.itemsize >= 8 or current().enable_x64
    return errors.IntegerOverflowError(
        errors.explain(
            function,
            f"the integer {x} does not fit into {dtype}"
            if isinstance(x, int)
            else f"an integer does not fit into {dtype}",
            {"range": f"{iinfo(dtype).min} to {iinfo(dtype).max}"},
            try_="a float: 1.0 * x"
            if dtype.itemsize >= 8
            else "a wider dtype"
            if wide
            else 'nl.config.update("enable_x64", True) for 64-bit integers, or a float',
        )
    )


__all__ = ["check_integer", "integer_overflow"]
