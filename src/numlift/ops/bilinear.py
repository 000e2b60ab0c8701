"""Bilinear operations: linear in each of two operands (dot_general, convolution)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..structural.arith import add
from ..structural.families import is_linear


class Bilinear(Op):
    """z = f(x, y), linear in x and in y: dz = f(dx, y) + f(x, dy)."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, y = primals
        dx, dy = tangents
        z = apply(self, x, y)
        if not type_of(z).inexact:
            return z, None
        dz = None if dx is None else apply(self, dx, y)
        if dy is not None:
            term = apply(self, x, dy)
            dz = term if dz is None else apply(add, dz, term)
        return z, dz

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, y = inputs
        if is_linear(x):
            return self.transpose_lhs(ct, x.type, y), None
        return None, self.transpose_rhs(ct, x, y.type)

    def transpose_lhs(self, ct: Any, x: ArrayType, y: Any) -> Any:
        """Cotangent of the first operand, which has type `x`."""
        raise NotImplementedError

    def transpose_rhs(self, ct: Any, x: Any, y: ArrayType) -> Any:
        """Cotangent of the second operand, which has type `y`."""
        raise NotImplementedError
