"""Python's operators on arrays and traced values.

The common cases go straight to `apply`: two operands of one type, or an array and a Python number
that takes the array's dtype. Everything else is the NumPy function of that name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..api.eager import concrete
from ..core.dims import Dim
from ..core.tracing import EVAL, Value, current
from ..ops import compare, elementwise
from ..ops import elementwise_binary as binary
from ..ops.elementwise import IntegerPow
from ..structural import arith
from . import arithmetic, logic, powers
from .operands import number_beside

_current = current.get
_ARRAYS = (Value, np.ndarray, np.generic, bool, int, float, complex)


def is_operand(x: Any) -> bool:
    """Whether an operator takes `x`; others (strings, lists, foreign classes) get their turn."""
    if isinstance(x, Value):
        return True
    if isinstance(x, _ARRAYS):
        return getattr(getattr(x, "dtype", None), "kind", "f") not in "OUSmM"
    kind = type(x)
    if hasattr(kind, "__array_ufunc__"):  # an array class that computes itself (NEP 13)
        return kind is Dim
    return hasattr(kind, "__numlift_array__") or hasattr(kind, "__jax_array__")


def _apply_with(op: Any, number: Any, x: Any, reflected: bool) -> Any:
    """``x <op> number`` or the reverse; eagerly the number is an array that is shared."""
    interpreter = _current()
    if interpreter is EVAL:
        number = concrete(number, op.name)
    return interpreter.apply(op, (number, x) if reflected else (x, number))


def _operator(
    op: Any, function: Callable[[Any, Any], Any], kinds: str
) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """``x <op> y`` and its reflected form. `kinds`: dtypes that go straight to the operation."""

    def forward(self: Any, other: Any) -> Any:
        t = self.type
        if t.kind in kinds:
            if isinstance(other, Value):
                if other.type is t:
                    return _current().apply(op, (self, other))
            else:
                number = number_beside(t, other)
                if number is not None:
                    return _apply_with(op, number, self, False)
        return function(self, other) if is_operand(other) else NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        t = self.type
        if t.kind in kinds:
            number = number_beside(t, other)
            if number is not None:
                return _apply_with(op, number, self, True)
        return function(other, self) if is_operand(other) else NotImplemented

    return forward, reflected


_TABLE: dict[str, tuple[Any, Callable[[Any, Any], Any], str]] = {
    "add": (arith.add, arithmetic.add, "biufc"),
    "sub": (arith.sub, arithmetic.subtract, "iufc"),
    "mul": (arith.mul, arithmetic.multiply, "biufc"),
    "truediv": (binary.div, arithmetic.divide, "fc"),
    "floordiv": (None, arithmetic.floor_divide, ""),
    "mod": (None, arithmetic.remainder, ""),
    "divmod": (None, arithmetic.divmod, ""),
    "and": (binary.and_, logic.bitwise_and, "biu"),
    "or": (binary.or_, logic.bitwise_or, "biu"),
    "xor": (binary.xor, logic.bitwise_xor, "biu"),
    "lshift": (binary.shift_left, logic.left_shift, "iu"),
    "rshift": (None, logic.right_shift, ""),
}

_COMPARISONS: dict[str, tuple[Any, Callable[[Any, Any], Any], str]] = {
    "eq": (compare.eq, logic.equal, "biufck"),
    "ne": (compare.ne, logic.not_equal, "biufck"),
    "lt": (compare.lt, logic.less, "biuf"),
    "le": (compare.le, logic.less_equal, "biuf"),
    "gt": (compare.gt, logic.greater, "biuf"),
    "ge": (compare.ge, logic.greater_equal, "biuf"),
}


def _comparison(
    op: Any, function: Callable[[Any, Any], Any], kinds: str
) -> Callable[[Any, Any], Any]:
    """``x <op> y``; lists are compared element by element, as in NumPy, not by identity."""
    forward = _operator(op, function, kinds)[0]

    def compare(self: Any, other: Any) -> Any:
        if type(other) is list or type(other) is tuple:
            return function(self, other)
        return forward(self, other)

    return compare


def _power(self: Any, other: Any) -> Any:
    if type(other) is int and (self.type.inexact or (other >= 0 and self.type.kind in "iu")):
        op = elementwise.square if other == 2 else IntegerPow.of(other)
        return _current().apply(op, (self,))
    return powers.power(self, other) if is_operand(other) else NotImplemented


def _reflected_power(self: Any, other: Any) -> Any:
    return powers.power(other, self) if is_operand(other) else NotImplemented


def _negative(self: Any) -> Any:
    if self.type.kind == "b":
        raise arithmetic.no_bool("negative", self, "np.logical_not(x)")
    return _current().apply(arith.neg, (self,))


def _positive(self: Any) -> Any:
    return self


def _absolute(self: Any) -> Any:
    return _current().apply(elementwise.abs_, (self,)) if self.type.kind in "ifc" else self


def _invert(self: Any) -> Any:
    return logic.invert(self)


def install(cls: type) -> None:
    """Give `cls` Python's operators."""
    for name, row in _TABLE.items():
        forward, reflected = _operator(*row)
        _name(cls, f"__{name}__", forward)
        _name(cls, f"__r{name}__", reflected)
    for name, row in _COMPARISONS.items():
        _name(cls, f"__{name}__", _comparison(*row))
    for name, function in {
        "__pow__": _power,
        "__rpow__": _reflected_power,
        "__neg__": _negative,
        "__pos__": _positive,
        "__abs__": _absolute,
        "__invert__": _invert,
    }.items():
        _name(cls, name, function)


def _name(cls: type, name: str, function: Any) -> None:
    function.__name__ = name
    function.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(cls, name, function)
