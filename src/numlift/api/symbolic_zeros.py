"""Zeros that are known to be zero: what rules with ``symbolic_zeros=True`` see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.dtypes import float0
from ..core.tracing import type_of
from ..core.types import ArrayType
from ..structural.shape import full
from ..transforms.jvp import tangent_type
from ..tree import tree_map


class SymbolicZero:
    """A tangent or cotangent that is zero everywhere and was never made.

    Attributes:
        aval: its type, with shape and dtype; dtype float0 for tangents of integers.
    """

    __slots__ = ("aval",)

    def __init__(self, aval: Any):
        self.aval = aval

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array that it stands for."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """dtype of the array that it stands for."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.aval.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicZero) and self.aval == other.aval

    def __hash__(self) -> int:
        return hash((SymbolicZero, self.aval))

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval!r})"


@dataclass(frozen=True)
class CustomVJPPrimal:
    """An argument of the forward rule of a `custom_vjp` function with symbolic zeros.

    Attributes:
        value: the argument.
        perturbed: whether a derivative with respect to it may be wanted.
    """

    value: Any
    perturbed: bool


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """The tree with the value of each `CustomVJPPrimal`.

    Args:
        tree: what the forward rule of a `custom_vjp` with ``symbolic_zeros=True`` receives.

    Returns:
        A tree of the same structure; other leaves stay as they are.

    Example:
        >>> from numlift.custom_derivatives import CustomVJPPrimal, custom_vjp_primal_tree_values
        >>> custom_vjp_primal_tree_values({"x": CustomVJPPrimal(2.0, True)})
        {'x': 2.0}
    """
    return tree_map(lambda leaf: leaf.value if isinstance(leaf, CustomVJPPrimal) else leaf, tree)


def zero_tangent(t: ArrayType, symbolic: bool) -> Any:
    """A zero tangent of a value of type `t`: an array, or a `SymbolicZero`."""
    if not t.inexact:
        zeros = np.zeros(t.shape, float0)
        return SymbolicZero(type_of(zeros)) if symbolic else zeros
    return SymbolicZero(tangent_type(t)) if symbolic else full(tangent_type(t))


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """A zero tangent for a primal value.

    Args:
        val: array, number, or a pytree of them.
        symbolic_zeros: give a `SymbolicZero` instead of an array.

    Returns:
        Zeros of the shape and dtype of `val`; of dtype float0 for integers and bools.

    Example:
        >>> from numlift.custom_derivatives import zero_from_primal
        >>> zero_from_primal(2.0, symbolic_zeros=True)
        SymbolicZero(float32[])
    """
    return tree_map(lambda x: zero_tangent(type_of(x), symbolic_zeros), val)


def is_zero(x: Any) -> bool:
    """Whether a tangent or cotangent is known to be zero: None, symbolic, or float0."""
    return x is None or isinstance(x, SymbolicZero) or getattr(x, "dtype", None) == float0
