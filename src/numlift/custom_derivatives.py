"""Functions with derivatives of their own, and helpers to write such rules."""

from __future__ import annotations

from .api.custom import custom_jvp, custom_vjp
from .api.gradients import closure_convert, custom_gradient
from .api.linear import custom_transpose, linear_call
from .api.symbolic_zeros import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_transpose",
    "custom_vjp",
    "custom_vjp_primal_tree_values",
    "linear_call",
    "zero_from_primal",
]
