"""Dtypes, constants and questions about arrays, as NumPy names them."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ..api.bad_calls import explains
from ..core.dtypes import (
    as_dtype,
    bfloat16,
    bool_,
    complex64,
    complex128,
    dtype_of,
    finfo,
    float4_e2m1fn,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    iinfo,
    int2,
    int4,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    issubdtype,
    promote_types,
    result_type,
    uint2,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ..core.tracing import Value, type_of
from .util import as_value, check_axes

dtype = np.dtype
ndarray = Value
"""What `isinstance(x, np.ndarray)` asks for: arrays and traced values alike."""

bool = bool_
int_, uint, float_, complex_ = int64, uint64, float64, complex128
single, double, csingle, cdouble = float32, float64, complex64, complex128
generic, number, inexact, flexible = np.generic, np.number, np.inexact, np.flexible
integer, signedinteger, unsignedinteger = np.integer, np.signedinteger, np.unsignedinteger
floating, complexfloating = np.floating, np.complexfloating
character, object_ = np.character, np.object_
ComplexWarning = np.exceptions.ComplexWarning

e, pi, inf, nan, euler_gamma, newaxis = math.e, math.pi, math.inf, math.nan, np.euler_gamma, None
s_, index_exp = np.s_, np.index_exp


@explains
def can_cast(from_: Any, to: Any, casting: str = "safe") -> builtins.bool:
    """Whether a dtype, or the dtype of an array, converts to another one under a casting rule.

    Args:
        from_: array, dtype, or name of a dtype.
        to: dtype, or its name.
        casting: "no" (only the same), "equiv", "safe" (keeps every value), "same_kind" (safe, or
            within a kind such as the floats) or "unsafe" (all).

    Returns:
        A bool of Python. bfloat16 and the other small dtypes are known.

    Raises:
        DTypeError: one is no dtype, as Python numbers.  ValueError: unknown `casting`.

    Example:
        >>> import numlift.numpy as np
        >>> np.can_cast("int32", "float64"), np.can_cast("int32", "float32")
        (True, False)
        >>> np.can_cast("float32", "bfloat16", casting="same_kind")
        True
    """
    source = dtype_of(from_) if isinstance(from_, (Value, np.ndarray)) else as_dtype(from_)
    return builtins.bool(np.can_cast(source, as_dtype(to), casting))


def shape(a: Any) -> tuple[int, ...]:
    """Shape of an array, number or nested list; known of traced values too.

    Args:
        a: array, number, or nested lists of these.

    Returns:
        Tuple of ints, empty for numbers.

    Raises:
        ArgumentError: ragged lists, or not made of numbers.

    Example:
        >>> import numlift.numpy as np
        >>> np.shape([[1, 2, 3]]), np.shape(1.5)
        ((1, 3), ())
    """
    return _shape(a, "shape")


def _shape(a: Any, function: str) -> tuple[int, ...]:
    found = getattr(a, "shape", None)
    return tuple(found) if found is not None else type_of(as_value(a, function)).shape


def ndim(a: Any) -> int:
    """Number of axes of an array, number or nested list; known of traced values too.

    Args:
        a: array, number, or nested lists of these.

    Returns:
        An int, 0 for numbers.

    Raises:
        ArgumentError: ragged lists, or not made of numbers.

    Example:
        >>> import numlift.numpy as np
        >>> np.ndim([[1, 2, 3]]), np.ndim(1.5)
        (2, 0)
    """
    found = getattr(a, "ndim", None)
    return found if found is not None else len(_shape(a, "ndim"))


def size(a: Any, axis: Any = None) -> int:
    """Number of elements of an array, or along axes; known of traced values too.

    Args:
        a: array, number, or nested lists of these.
        axis: axis or tuple of axes to count along; None is all.

    Returns:
        An int: the product of the sizes of the axes.

    Raises:
        AxisError: no such axis.  ValueArgumentError: ragged lists.
        ArgumentError: not made of numbers.

    Example:
        >>> import numlift.numpy as np
        >>> np.size([[1, 2, 3]]), np.size([[1, 2, 3]], axis=0)
        (3, 1)
    """
    dims = _shape(a, "size")
    if axis is None:
        return math.prod(dims)
    return math.prod(dims[i] for i in check_axes("size", axis, len(dims)))


def isscalar(element: Any) -> builtins.bool:
    """Whether `element` is a number, a string, a NumPy scalar, or an array without axes.

    Args:
        element: anything.

    Returns:
        A bool of Python.

    Differences from NumPy: arrays without axes count, because reductions return them where NumPy
    returns scalars.

    Example:
        >>> import numlift.numpy as np
        >>> np.isscalar(1.5), np.isscalar(np.sum(np.ones(3))), np.isscalar(np.ones(1))
        (True, True, False)
    """
    if isinstance(element, (Value, np.ndarray)):
        return element.ndim == 0
    return builtins.bool(np.isscalar(element))


def iterable(y: Any) -> builtins.bool:
    """Whether `y` can be iterated over; arrays can if they have an axis.

    Args:
        y: anything.

    Returns:
        A bool of Python.

    Example:
        >>> import numlift.numpy as np
        >>> np.iterable([1]), np.iterable(np.ones(2)), np.iterable(np.ones(()))
        (True, True, False)
    """
    try:
        iter(y)
    except TypeError:
        return False
    return True


__all__ = [
    "ComplexWarning",
    "bfloat16",
    "bool",
    "bool_",
    "can_cast",
    "cdouble",
    "character",
    "complex128",
    "complex64",
    "complex_",
    "complexfloating",
    "csingle",
    "double",
    "dtype",
    "e",
    "euler_gamma",
    "finfo",
    "flexible",
    "float16",
    "float32",
    "float4_e2m1fn",
    "float64",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float_",
    "floating",
    "generic",
    "iinfo",
    "index_exp",
    "inexact",
    "inf",
    "int16",
    "int2",
    "int32",
    "int4",
    "int64",
    "int8",
    "int_",
    "integer",
    "isdtype",
    "isscalar",
    "issubdtype",
    "iterable",
    "nan",
    "ndarray",
    "ndim",
    "newaxis",
    "number",
    "object_",
    "pi",
    "promote_types",
    "result_type",
    "s_",
    "shape",
    "signedinteger",
    "single",
    "size",
    "uint",
    "uint16",
    "uint2",
    "uint32",
    "uint4",
    "uint64",
    "uint8",
    "unsignedinteger",
]
