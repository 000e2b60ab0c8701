"""Operands of elementwise functions: one or two arrays or numbers, promoted and broadcast."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import config, errors
from ..core.integers import check_number, fits, plain_integer
from ..core.tracing import Value, apply, type_of
from ..core.types import ArrayType
from ..structural import arith
from ..structural.arith import convert
from .util import as_value, broadcast_operands, promote, to_inexact

_state = config.current
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_I32, _I64 = np.dtype(np.int32), np.dtype(np.int64)
_C64, _C128 = np.dtype(np.complex64), np.dtype(np.complex128)
_HALF = 2.0**15
_I32_RANGE = range(-(2**31), 2**31)
_I64_RANGE = range(-(2**63), 2**63)


def number_beside(t: ArrayType, x: Any) -> Any:
    """Python number `x` as an operand next to an array of type `t`.

    None if the array itself would have to change its dtype, so that both must be promoted, or if
    the number does not fit.
    """
    kind, dtype = type(x), t.dtype
    if t.kind == "f":
        if kind is float or kind is int:
            if dtype is (_F64 if _state().enable_x64 else _F32):
                return float(x)
            # a float64 array of a scope that ended is narrowed together with the number
            if t.weak_type or dtype is _F64:
                return None
            return dtype.type(x) if -_HALF < x < _HALF else _rounded(x, dtype)
    elif t.kind == "i" or t.kind == "u":
        if kind is int:
            if dtype is _I32 and not _state().enable_x64:
                return x if x in _I32_RANGE else None
            if dtype is _I64 and _state().enable_x64:
                return x if x in _I64_RANGE else None
            if t.weak_type or dtype.itemsize == 8 or not fits(x, dtype):
                return None
            return dtype.type(x)
    elif t.kind == "c" and kind in (int, float, complex):
        if dtype is (_C128 if _state().enable_x64 else _C64):
            return complex(x)
        return None if t.weak_type or dtype is _C128 else dtype.type(x)
    return None


def _rounded(x: float, dtype: Any) -> Any:
    """A number in a small floating dtype: beyond the largest it is an infinity, silently."""
    with np.errstate(over="ignore"):
        return dtype.type(float(x))


_PYTHON = {"i": int, "f": float, "c": complex}


def number_of(t: ArrayType) -> Callable[[Any], Any]:
    """What makes constants to go with operands of type `t`: weak ones stay weak."""
    return _PYTHON[t.kind] if t.weak_type else t.dtype.type


def scaled(x: Any, factor: float) -> Any:
    """Operand `x` times a number, which does not change its dtype."""
    return apply(arith.mul, x, number_of(type_of(x))(factor))


def inexact(x: Any, function: str) -> Any:
    """`x` as a floating or complex operand: integers and bools become the default float."""
    if isinstance(x, Value) and x.type.inexact:
        return x
    return to_inexact(as_value(x, function, "x"))[0]


def real_inexact(x: Any, function: str) -> Any:
    """`inexact` for functions that are not defined for complex numbers."""
    x = inexact(x, function)
    if type_of(x).kind == "c":
        raise not_for_complex(function, x)
    return x


def not_for_complex(function: str, x: Any) -> errors.DTypeError:
    """The error for a complex operand of a function of real numbers."""
    return errors.DTypeError(
        errors.explain(
            function,
            "is not defined for complex numbers",
            {"x": type_of(x)},
            try_="x.real, x.imag or abs(x)",
        )
    )


def pair(x: Any, y: Any, function: str) -> Any:
    """Two operands of one dtype and (rank 0 aside) one shape."""
    if isinstance(x, Value) and isinstance(y, Value) and x.type is y.type:
        return x, y
    near = _with_number(x, y)
    if near is not None:
        return near
    x, y = as_value(x, function, "x1"), as_value(y, function, "x2")
    check_number(function, x, type_of(y))
    check_number(function, y, type_of(x))
    return broadcast_operands(function, *promote(x, y))


def comparable(x: Any, y: Any, function: str) -> Any:
    """`pair` for comparisons: a Python int may be larger or smaller than all of the array's."""
    x, y = plain_integer(x), plain_integer(y)
    if type(y) is int and _is_beyond(y, x):
        return _zeros_and_sign(x, y)
    if type(x) is int and _is_beyond(x, y):
        return _zeros_and_sign(y, x)[::-1]
    return pair(x, y, function)


def within(x: Any, other: Any) -> Any:
    """`x`, or an infinity for a Python int beyond all numbers of the integer dtype of `other`.

    For functions that compare elements but give none back.
    """
    if isinstance(x, int) and _is_beyond(x, other):
        return math.inf if x > 0 else -math.inf
    return x


def _is_beyond(number: int, x: Any) -> bool:
    if not isinstance(x, (Value, np.ndarray, np.generic)):
        return False
    t = type_of(x)
    return t.kind in "iu" and not fits(number, t.dtype)


def _zeros_and_sign(x: Any, number: int) -> tuple[Any, Any]:
    """Operands that compare as integers `x` and a number beyond their range do."""
    zeros = convert(apply(arith.mul, x, number_of(x.type)(0)), _I32)
    return zeros, np.int32(1 if number > 0 else -1)


def _with_number(x: Any, y: Any) -> Any:
    """An array and a Python number that takes its dtype, as a pair; else None."""
    if isinstance(x, Value):
        number = number_beside(x.type, y)
        return None if number is None else (x, number)
    if isinstance(y, Value):
        number = number_beside(y.type, x)
        return None if number is None else (number, y)
    return None


def inexact_pair(x: Any, y: Any, function: str) -> Any:
    """`pair` with integers and bools as the default float."""
    if isinstance(x, Value) and isinstance(y, Value) and x.type is y.type and x.type.inexact:
        return x, y
    near = _with_number(x, y)
    if near is not None and (type_of(x).inexact and type_of(y).inexact):
        return near
    x, y = to_inexact(as_value(x, function, "x1"), as_value(y, function, "x2"))
    return broadcast_operands(function, x, y)


def real_pair(x: Any, y: Any, function: str) -> Any:
    """`inexact_pair` for functions that are not defined for complex numbers."""
    x, y = inexact_pair(x, y, function)
    if type_of(x).kind == "c":
        raise not_for_complex(function, x)
    return x, y


def need_integers(function: str, *xs: Any, accepts: str = "iu") -> None:
    """Raise unless every operand is an integer array (or bool, if "b" is accepted)."""
    for x in xs:
        t: ArrayType = type_of(x)
        if t.kind not in accepts:
            words = "integers or bools" if "b" in accepts else "integers"
            raise errors.DTypeError(
                errors.explain(
                    function,
                    f"operands must be {words}, not {t.dtype}",
                    {f"operand {i}": type_of(y) for i, y in enumerate(xs)},
                    try_="x.astype('int32')",
                )
            )
