"""A symbolic size as a value: what ``x * x.shape[0]`` multiplies by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.dims import Dim
from ..core.dtypes import python_scalar_dtype
from ..core.op import Op
from ..core.tracing import apply
from ..core.types import ArrayType, array_type
from .arith import convert


class DimValue(Op):
    """The size as a weakly typed integer scalar."""

    dim: Any

    def out_type(self, *types: ArrayType) -> ArrayType:
        return array_type((), python_scalar_dtype(int), True)

    def run_eagerly(self, arrays: Sequence[Any]) -> Any:
        raise errors.InconclusiveDimensionOperation(
            errors.explain(
                "symbolic size",
                f"{self.dim} is used as a number outside of a function that is traced for export",
                try_="use it in the function: export.export(jit(f))(ShapeDtypeStruct((b,), ...))",
            )
        )

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return ctx.full(self.dim, outs[0])


def dim_value(dim: Dim) -> Any:
    """The array that stands for a size."""
    return apply(DimValue.of(dim))


def size_as(n: Any, dtype: Any) -> Any:
    """A size as a number of this dtype: a NumPy scalar, or an array if the size is symbolic."""
    return convert(dim_value(n), dtype) if type(n) is Dim else dtype.type(n)
