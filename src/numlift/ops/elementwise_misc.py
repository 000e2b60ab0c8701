"""Operations on representation and tracing: bit casts, reduced precision, barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.dtypes import iinfo
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.families import Elementwise, batch_first, check_kind


def bits_of(t: ArrayType) -> int:
    """Number of bits of one element, as stored."""
    return iinfo(t.dtype).bits if t.kind in "iu" else 8 * t.dtype.itemsize


class BitcastConvertType(Op):
    """The bits of x as another dtype; a narrower one adds a last axis, a wider one removes it."""

    dtype: Any

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        if x.kind == "k":
            raise errors.ValueArgumentError(
                errors.explain(
                    "bitcast_convert_type",
                    "typed PRNG keys have no bits of their own",
                    {"operand": x},
                    try_="nl.random.key_data(key) gives the words of keys",
                )
            )
        new = array_type((), self.dtype)
        if x.dtype == new.dtype:
            return x.update(weak_type=False)
        for t in (x, new):
            if t.kind in "bc0":
                raise errors.DTypeError(
                    errors.explain(
                        "bitcast_convert_type",
                        "bool and complex values have no bit casts to other dtypes",
                        {"operand": x, "new_dtype": new.dtype},
                        try_="x.view(dtype)",
                    )
                )
        return array_type(self.out_shape(x, new), self.dtype, False, self.out_sharding(x, new))

    @staticmethod
    def out_shape(x: ArrayType, new: ArrayType) -> tuple[int, ...]:
        """Shape of the result."""
        old_bits, new_bits = bits_of(x), bits_of(new)
        if old_bits == new_bits:
            return x.shape
        if old_bits > new_bits:
            return (*x.shape, old_bits // new_bits)
        last = x.shape[-1] if x.ndim else 1
        if not x.ndim or last * old_bits != new_bits:
            raise errors.ShapeError(
                errors.explain(
                    "bitcast_convert_type",
                    f"the last axis must hold {new_bits // old_bits} elements of {old_bits} bits "
                    f"for one of {new_bits} bits, but it has {last if x.ndim else 'rank 0'}",
                    {"operand": x, "new_dtype": new.dtype},
                    try_=f"x.reshape(..., {new_bits // old_bits})",
                )
            )
        return x.shape[:-1]

    def out_sharding(self, x: ArrayType, new: ArrayType) -> Any:
        """Sharding of the result: that of x, with the last axis added or dropped."""
        if x.sharding is None:
            return None
        entries, change = list(rules.spec_of(x)), bits_of(x) - bits_of(new)
        if change > 0:
            entries.append(None)
        elif change < 0 and entries.pop() is not None:
            raise rules.conflict(
                "bitcast_convert_type", "the last axis, which is joined, must not be sharded", [x]
            )
        return rules.named(x.sharding.mesh, entries)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, *primals), None

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x, d = args[0], dims[0]
        if bits_of(type_of(x)) == bits_of(array_type((), self.dtype)):
            return apply(self, x), d
        return apply(self, batch_first(x, d, size)), 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,), (out,) = types, outs
        if x.dtype == out.dtype:
            return operands[0]
        return ctx.emit(f"stablehlo.bitcast_convert {operands[0]} : ({x.mlir}) -> {out.mlir}")


class ReducePrecision(Elementwise):
    """x rounded to a float format with fewer bits, still stored in its dtype. Derivative 1."""

    accepts = "f"
    exponent_bits: int
    mantissa_bits: int

    def out_type(self, *types: ArrayType) -> ArrayType:
        check_kind(self, types, "f")
        if self.exponent_bits < 1 or self.mantissa_bits < 0:
            raise errors.ValueArgumentError(
                errors.explain(
                    "reduce_precision",
                    "exponent_bits must be at least 1 and mantissa_bits at least 0",
                    {
                        "exponent_bits": self.exponent_bits,
                        "mantissa_bits": self.mantissa_bits,
                    },
                )
            )
        return types[0]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, *primals), tangents[0]

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        form = f"e{self.exponent_bits}m{self.mantissa_bits}"
        return ctx.emit(
            f"stablehlo.reduce_precision {operands[0]}, format = {form} : {outs[0].mlir}"
        )


class StopGradient(Elementwise):
    """x itself, with derivative zero."""

    def out_type(self, *types: ArrayType) -> ArrayType:
        return types[0]

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return operands[0]


class OptimizationBarrier(Op):
    """Its operands, computed all before any use of a result: XLA moves nothing across."""

    multi = True

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return list(types)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        outs = apply(self, *primals)
        known = [d for d in tangents if d is not None]
        moved = iter(apply(self, *known))
        return outs, [None if d is None else next(moved) for d in tangents]

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        known = [c for c in ct if c is not None]
        moved = iter(apply(self, *known) if known else ())
        return [None if c is None else next(moved) for c in ct]

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, *args), list(dims)

    def physical(self, *types: ArrayType) -> Op:
        return self

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        if not operands:
            return []
        return ctx.emit_many(
            f"stablehlo.optimization_barrier {', '.join(operands)} : "
            f"{', '.join(t.mlir for t in outs)}",
            len(operands),
        )


stop_gradient, optimization_barrier = StopGradient.of(), OptimizationBarrier.of()
