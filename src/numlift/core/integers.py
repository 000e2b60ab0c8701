"""Python integers have no limit, those of arrays have one: what is too large must not wrap."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .. import errors
from ..config import current
from .dtypes import iinfo, issubdtype, python_scalar_dtype
from .types import ArrayType


@lru_cache(maxsize=64)
def _numbers_of(dtype: Any) -> range | None:
    """The numbers of an integer dtype; None for others."""
    if not issubdtype(dtype, np.integer):
        return None
    return range(int(iinfo(dtype).min), int(iinfo(dtype).max) + 1)


def fits(x: int, dtype: Any) -> bool:
    """Whether a Python int is one of the numbers of a dtype; all but integer dtypes take all."""
    numbers = _numbers_of(dtype)
    return numbers is None or x in numbers


def plain_integer(x: Any) -> Any:
    """Integers of subclasses of int, such as those of `IntEnum`, as Python ints; others stay."""
    return int(x) if isinstance(x, int) and type(x) is not bool else x


def check_integer(function: str, x: int, dtype: Any = None) -> None:
    """Raise if a Python int does not fit into `dtype` (None: the default integer dtype).

    Raises:
        IntegerOverflowError: it does not.
    """
    if dtype is None:
        dtype = python_scalar_dtype(int)
    if not fits(x, dtype):
        raise integer_overflow(function, x, dtype)


def check_number(function: str, x: Any, t: ArrayType) -> None:
    """Raise if `x` is a Python int that does not fit beside an array of type `t`.

    Raises:
        IntegerOverflowError: it does not.
    """
    if isinstance(x, int) and type(x) is not bool and t.kind in "iu":
        check_integer(function, int(x), None if t.weak_type else t.dtype)


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


__all__ = ["check_integer", "check_number", "fits", "integer_overflow", "plain_integer"]
