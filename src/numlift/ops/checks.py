"""`Check`: a condition that must hold; `checkify` turns it into an error value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..runtime.array import Array
from ..structural.families import batch_first
from .reductions import ArgMin, ReduceAnd
from .slicing import DynamicSlice

CHECK = "check"
"""Effect of a check that has not been turned into an error value yet."""


class Check(Op):
    """The first operand, a bool scalar, must be true; the others are values for the message.

    Attributes:
        message: its method `error(values)` makes the exception from the values that were kept.
        debug: outside of `checkify` it does nothing.
    """

    multi = True
    memoise_type = False
    effects = frozenset((CHECK,))
    message: Any
    debug: bool = False

    def __repr__(self) -> str:
        return f"check[{self.message}]"

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return []

    def physical(self, *types: ArrayType) -> Op:
        return self

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, *primals), []

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        """All examples must pass; the message tells of the first that does not."""
        if size == 0:
            return [], []
        pred, *values = args
        first: Any = np.int32(0)
        if dims[0] is not None:
            first = apply(ArgMin.of(0, np.dtype(np.int32)), pred)
            pred = apply(ReduceAnd.of((0,)), pred)
        taken = []
        for x, d in zip(values, dims[1:], strict=True):
            if d is not None:
                x = batch_first(x, d, size)
                shape = type_of(x).shape
                zeros = [np.int32(0)] * (len(shape) - 1)
                x = apply(DynamicSlice.of((1, *shape[1:]), False, (0,)), x, first, *zeros)
            taken.append(x)
        return apply(self, pred, *taken), []

    def run_eagerly(self, args: Sequence[Array]) -> list[Any]:
        """Raise at once if the condition does not hold."""
        if not self.debug and not bool(args[0]):
            raise self.message.error([x._words() for x in args[1:]])
        return []

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[Any]:
        if self.debug:
            return []
        raise errors.ValueArgumentError(
            errors.explain(
                "checkify.check",
                "a check inside a compiled function must be turned into an error value, because "
                "compiled programs cannot raise",
                try_="err, out = checkify.checkify(f)(...); err.throw(), or checkify.debug_check",
            )
        )
