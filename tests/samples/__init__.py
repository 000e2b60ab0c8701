"""The samples table: rows that tests/ops/test_samples.py crosses with every property."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SMALL_INTS = ("int4", "uint4", "int2", "uint2")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz")


@dataclass(frozen=True)
class Sample:
    """How to call one operation and what to compare it with.

    Attributes:
        name: unique row name, such as ``sin`` or ``gather/clip``.
        function: takes the arrays of `inputs`, returns an array or a list/tuple of arrays.
        inputs: (numpy Generator, numpy dtype) -> tuple of NumPy arrays; away from kinks and poles.
        oracle: the same on NumPy arrays (called with float64/complex128 copies of float inputs,
            or the arrays themselves for integers and bools); None: no value comparison.
        dtypes: dtype names that the operation accepts.
        differentiable: positions of the arguments with a derivative, () for none.
        tolerances: dtype name -> relative tolerance, where the default is too strict.
        second_order: whether second derivatives are checked.
        transposable: False if reverse mode is not defined (while loops).
        vmappable: positions of arguments that may be batched (None: all).
        complex_derivative: check derivatives for complex dtypes too.
    """

    name: str
    function: Callable[..., Any]
    inputs: Callable[[Any, Any], tuple[Any, ...]]
    oracle: Callable[..., Any] | None = None
    dtypes: tuple[str, ...] = ("float32", "float64")
    differentiable: tuple[int, ...] = ()
    tolerances: dict[str, float] = field(default_factory=dict)
    second_order: bool = True
    transposable: bool = True
    vmappable: tuple[int, ...] | None = None
    complex_derivative: bool = True
