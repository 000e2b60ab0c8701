"""Static arguments of lax functions: shapes, axes, Python numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import Dim, as_size
from ..core.tracing import Tracer, type_of
from ..core.types import ArrayType


def static_ints(function: str, name: str, values: Any) -> tuple[int, ...]:
    """A shape or list of axes as a tuple of Python ints.

    Raises:
        ArgumentError: an entry is no integer.
        TracerIntegerConversionError: an entry is a traced value.
    """
    try:
        if isinstance(values, (int, np.integer)):
            return (int(values),)
        if type(values) is Dim:
            return (values,)  # type: ignore[return-value]
        if isinstance(values, (bytes, bytearray)):  # whose items would be integers
            raise TypeError
        return tuple([v if type(v) is int else as_size(v) for v in values])
    except TypeError:
        for v in values if isinstance(values, (tuple, list)) else (values,):
            if isinstance(v, Tracer):
                raise errors.TracerIntegerConversionError(
                    errors.explain(
                        function,
                        f"{name} must be known while tracing, but it holds a traced value",
                        {name: v.type},
                        try_="compute it from x.shape, or mark the argument static_argnums in jit",
                    )
                ) from None
        raise errors.ArgumentError(
            errors.explain(function, f"{name} must hold integers", {name: values})
        ) from None


def static_int(function: str, name: str, value: Any) -> int:
    """A static argument as a Python int.

    Raises:
        ArgumentError: it is no integer.
        TracerIntegerConversionError: it is a traced value.
    """
    if type(value) is int:
        return value
    try:
        return as_size(value)
    except TypeError:
        static_ints(function, name, (value,))  # raises if it is traced
        raise
    except OverflowError as error:
        raise errors.IntegerOverflowError(
            errors.explain(function, f"{name} is larger than any size", {name: value})
        ) from error


def axis_in_range(function: str, axis: Any, ndim: int, operand: Any = None) -> int:
    """`axis` as a number in range(ndim); negative ones count from the end.

    Raises:
        AxisError: out of range.
    """
    try:
        index = axis if type(axis) is int else operator.index(axis)
    except TypeError:
        (index,) = static_ints(function, "axis", (axis,))
    if not -ndim <= index < ndim:
        raise errors.AxisError(
            errors.explain(
                function,
                f"axis {index} is out of range for an array with {ndim} axes",
                None if operand is None else {"operand": type_of(operand)},
            )
        )
    return index + ndim if index < 0 else index


def axes_in_range(function: str, axes: Any, ndim: int, operand: Any = None) -> tuple[int, ...]:
    """Several axes, each in range(ndim) and different.

    Raises:
        AxisError: out of range or repeated.
    """
    found = tuple(
        [axis_in_range(function, a, ndim, operand) for a in static_ints(function, "axes", axes)]
    )
    if len(set(found)) != len(found):
        raise errors.AxisError(
            errors.explain(
                function,
                f"axes {tuple(axes)} name one axis twice",
                None if operand is None else {"operand": type_of(operand)},
            )
        )
    return found


_FITS = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}


def like_operand(x: Any, t: ArrayType) -> Any:
    """A Python number as a number of dtype `t.dtype`, if it is of a fitting kind; else `x`."""
    fits = _FITS.get(type(x))
    return t.dtype.type(x) if fits is not None and t.kind in fits else x
