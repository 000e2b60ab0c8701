"""Scans along one axis: cumulative sum, product, max, min, logsumexp, and linear recurrences.

All derivatives go through one operation, `Recurrence` (h_i = a_i h_{i-1} + b_i), which is its own
family: its tangent and its transpose are recurrences again. So they are finite where x has zeros
(cumprod) and where exponentials would overflow (cumlogsumexp), to any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .. import errors
from ..core.dims import known
from ..core.op import Op
from ..core.staging import trace_to_graph
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import add, convert, imag, mul, real, select, sub
from ..structural.families import batch_first, check_kind, is_linear
from .compare import eq
from .elementwise import exp, is_finite, log
from .elementwise_binary import max_, min_
from .identities import accumulator, highest, lowest
from .scan_chunks import chunked_scan, fits_chunks
from .scan_lowering import inclusive_scan
from .shape import Pad

_SHORT = 16
"""Up to this length one windowed reduction is faster than a loop (2.9 ms against 4.4 ms for 10)."""


def shift(x: Any, axis: int, fill: Any, reverse: bool = False) -> Any:
    """`x` moved one place along `axis`, away from where a scan starts; `fill` enters there."""
    t = type_of(x)
    config = [(0, 0, 0)] * t.ndim
    config[axis] = (-1, 1, 0) if reverse else (1, -1, 0)
    return apply(Pad.of(tuple(config)), x, t.dtype.type(fill))


class Scan(Op):
    """An inclusive scan along `axis`; from the end if `reverse`."""

    axis: int
    reverse: bool
    accepts: ClassVar[str] = "iufc"

    def out_type(self, *types: ArrayType) -> ArrayType:
        check_kind(self, types, self.accepts)
        x = types[0]
        if not 0 <= self.axis < x.ndim:
            raise errors.AxisError(
                errors.explain(
                    self.name,
                    f"axis {self.axis} is out of range for {x.ndim} axes",
                    {"operand": x},
                    try_=f"an axis from 0 to {x.ndim - 1}" if x.ndim else "x.reshape(1)",
                )
            )
        return self.result_type(*types)

    def result_type(self, *types: ArrayType) -> ArrayType:
        """Type of the result, once kinds and axis are checked."""
        (x,) = types
        if x.sharding is not None:
            self.shard(x)
        return x

    def shard(self, *types: ArrayType) -> Any:
        for t in types:
            name = rules.spec_of(t)[self.axis]
            if name is not None:
                raise errors.ShardingError(
                    errors.explain(
                        self.name,
                        f"axis {self.axis} is sharded over {name!r}, and a scan along it would "
                        "need every device to wait for the one before",
                        {f"operand {i}": u for i, u in enumerate(types)},
                        try_=f"nl.reshard(x, P(...)) with None for axis {self.axis}",
                    )
                )
        return rules.merge(self.name, types)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        (d,) = dims
        assert d is not None
        return apply(type(self).of(self.axis + (self.axis >= d), self.reverse), args[0]), d

    def flipped(self) -> Op:
        """The scan from the other end."""
        return type(self).of(self.axis, not self.reverse)


class Recurrence(Scan):
    """h_i = a_i h_{i-1} + b_i along an axis, with h = 0 before the first element."""

    accepts = "fc"

    def result_type(self, *types: ArrayType) -> ArrayType:
        a, b = types
        if a.shape != b.shape or a.dtype != b.dtype:
            raise errors.ShapeError(
                errors.explain(self.name, "a and b must have one type", {"a": a, "b": b})
            )
        sharding = None
        if a.sharding is not None or b.sharding is not None:
            sharding = self.shard(*types)
        return array_type(b.shape, b.dtype, False, sharding)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        a, b = primals
        da, db = tangents
        h = apply(self, a, b)
        if da is not None:
            term = apply(mul, da, shift(h, self.axis, 0, self.reverse))
            db = term if db is None else apply(add, db, term)
        return h, apply(self, a, db)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        a, b = inputs
        if is_linear(a):
            raise errors.InternalError("recurrence: is not linear in its factors")
        factors = shift(a, self.axis, 0, not self.reverse)
        return None, apply(self.flipped(), factors, ct)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        a, b = (batch_first(x, d, size) for x, d in zip(args, dims, strict=True))
        return apply(Recurrence.of(self.axis + 1, self.reverse), a, b), 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (out,) = outs
        wide = array_type(out.shape, accumulator(out.dtype))
        names = [ctx.convert(x, t, wide) for x, t in zip(operands, types, strict=True)]
        found = inclusive_scan(ctx, _compose, (1, 0), names, wide, self.axis, self.reverse)
        return ctx.convert(found[1], wide, out)


def _compose(ctx: Any, first: Sequence[str], then: Sequence[str], type_: ArrayType) -> list[str]:
    """(a1, b1) before (a2, b2) is (a2 a1, a2 b1 + b2)."""
    t = type_.mlir
    a = ctx.emit(f"stablehlo.multiply {first[0]}, {then[0]} : {t}")
    scaled = ctx.emit(f"stablehlo.multiply {first[1]}, {then[0]} : {t}")
    return [a, ctx.emit(f"stablehlo.add {scaled}, {then[1]} : {t}")]


class MonoidScan(Scan):
    """Scan with one StableHLO operation."""

    hlo: ClassVar[str] = ""
    widens: ClassVar[bool] = False
    """Whether small floats are accumulated in float32."""

    def identity(self, dtype: Any) -> Any:
        """Neutral element."""
        raise NotImplementedError

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (out,) = outs
        wide = array_type(out.shape, accumulator(out.dtype)) if self.widens else out
        x = ctx.convert(operands[0], types[0], wide)
        n = out.shape[self.axis]
        if 4 < known(n, 0) <= _SHORT and out.size and out.kind != "c":
            x = self._windowed(ctx, x, wide)
        elif known(n, 0) > _SHORT and fits_chunks(ctx, wide, self.axis):
            x = self._chunked(ctx, x, wide)
        else:
            (x,) = inclusive_scan(
                ctx, self._combine, (self.identity(wide.dtype),), [x], wide, self.axis, self.reverse
            )
        return ctx.convert(x, wide, out)

    def _combine(
        self, ctx: Any, first: Sequence[str], then: Sequence[str], type_: ArrayType
    ) -> list[str]:
        return [ctx.emit(f"{self.hlo} {first[0]}, {then[0]} : {type_.mlir}")]

    def _chunked(self, ctx: Any, x: str, type_: ArrayType) -> str:
        turn = f"dims = [{self.axis}] : {type_.mlir}"
        if self.reverse:
            x = ctx.emit(f"stablehlo.reverse {x}, {turn}")
        summed = self.hlo == "stablehlo.add" and type_.kind == "f"
        carried = np.dtype("f8") if summed else type_.dtype
        x = chunked_scan(
            ctx,
            lambda c, before, later, t: self._combine(c, [before], [later], t)[0],
            self.identity(type_.dtype),
            x,
            type_,
            self.axis,
            carried,
        )
        return ctx.emit(f"stablehlo.reverse {x}, {turn}") if self.reverse else x

    def _windowed(self, ctx: Any, x: str, type_: ArrayType) -> str:
        n, scalar = type_.shape[self.axis], array_type((), type_.dtype)
        window, padding = [1] * type_.ndim, [[0, 0] for _ in type_.shape]
        window[self.axis] = n
        padding[self.axis] = [0, n - 1] if self.reverse else [n - 1, 0]
        start = ctx.full(self.identity(type_.dtype), scalar)
        region = ctx.region(
            [scalar, scalar],
            lambda c, names: [c.emit(f"{self.hlo} {names[0]}, {names[1]} : {scalar.mlir}")],
            [scalar],
        )
        return ctx.emit(
            f'"stablehlo.reduce_window"({x}, {start}) <{{window_dimensions = array<i64: '
            f"{', '.join(map(str, window))}>, padding = dense<{padding}> : "
            f"tensor<{type_.ndim}x2xi64>}}> ({region}) : "
            f"({type_.mlir}, {scalar.mlir}) -> {type_.mlir}"
        )


class CumSum(MonoidScan):
    """y_i = x_0 + ... + x_i."""

    name = "cumsum"
    hlo = "stablehlo.add"
    widens = True

    def identity(self, dtype: Any) -> Any:
        return 0

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, primals[0]), apply(self, tangents[0])

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(self.flipped(), ct),)


class CumProd(MonoidScan):
    """y_i = x_0 * ... * x_i."""

    name = "cumprod"
    hlo = "stablehlo.multiply"
    widens = True

    def identity(self, dtype: Any) -> Any:
        return 1

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x,), (dx,) = primals, tangents
        y = apply(self, x)
        before = shift(y, self.axis, 1, self.reverse)
        step = Recurrence.of(self.axis, self.reverse)
        return y, apply(step, x, apply(mul, dx, before))


class _Extreme(MonoidScan):
    """cummax and cummin: the tangent comes from the element chosen; two equal ones share it."""

    accepts = "biufc"
    choice: ClassVar[Any] = None
    """Max or min of two elements; of complex ones, by real, then imaginary part."""

    def _combine(
        self, ctx: Any, first: Sequence[str], then: Sequence[str], type_: ArrayType
    ) -> list[str]:
        if type_.kind != "c":
            return super()._combine(ctx, first, then, type_)
        return [self.choice.lower(ctx, [first[0], then[0]], (type_, type_), (type_,))]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x,), (dx,) = primals, tangents
        y = apply(self, x)
        if dx is None or not type_of(y).inexact:
            return y, None
        dtype = type_of(y).dtype
        # NaN before the first element: no comparison holds, so the first one is always chosen.
        before = shift(y, self.axis, np.nan, self.reverse)
        kept = convert(apply(eq, before, y), dtype)
        half = apply(mul, convert(apply(eq, before, x), dtype), dtype.type(0.5))
        share = apply(sub, kept, half)
        own = apply(sub, dtype.type(1), share)
        step = Recurrence.of(self.axis, self.reverse)
        return y, apply(step, share, apply(mul, dx, own))


class CumMax(_Extreme):
    """y_i = max(x_0, ..., x_i)."""

    name = "cummax"
    hlo = "stablehlo.maximum"
    choice = max_

    def identity(self, dtype: Any) -> Any:
        return lowest(dtype)


class CumMin(_Extreme):
    """y_i = min(x_0, ..., x_i)."""

    name = "cummin"
    hlo = "stablehlo.minimum"
    choice = min_

    def identity(self, dtype: Any) -> Any:
        return highest(dtype)


class CumLogSumExp(Scan):
    """y_i = log(exp(x_0) + ... + exp(x_i)), without overflow."""

    name = "cumlogsumexp"
    accepts = "fc"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x,), (dx,) = primals, tangents
        y = apply(self, x)
        base = finite_or_zero(y)
        before = shift(y, self.axis, -np.inf, self.reverse)
        keep = apply(exp, apply(sub, before, base))
        own = apply(exp, apply(sub, x, base))
        return y, apply(Recurrence.of(self.axis, self.reverse), keep, apply(mul, dx, own))

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (out,) = outs
        wide = array_type(out.shape, accumulator(out.dtype))
        x = ctx.convert(operands[0], types[0], wide)
        (y,) = ctx.inline(_log_sum_graph(self, wide), [x])
        return ctx.convert(y, wide, out)


def finite_or_zero(x: Any) -> Any:
    """`x` where it is finite, else 0."""
    t = type_of(x)
    zero = t.dtype.type(0)
    if t.kind != "c":
        return apply(select, apply(is_finite, x), zero, x)
    x = apply(select, apply(is_finite, apply(real, x)), zero, x)
    return apply(select, apply(is_finite, apply(imag, x)), zero, x)


@lru_cache(maxsize=256)
def _log_sum_graph(op: CumLogSumExp, type_: ArrayType) -> Any:
    """m + log(s), where m is the running maximum and s the sum of exp(x - m), rescaled.

    For complex x, m is the maximum of the real parts.
    """

    def compute(x: Any) -> list[Any]:
        highest_yet = apply(CumMax.of(op.axis, op.reverse), apply(real, x) if is_complex else x)
        top = finite_or_zero(highest_yet)
        before = shift(highest_yet, op.axis, -np.inf, op.reverse)
        keep = apply(exp, apply(sub, before, top))
        if is_complex:
            keep, top = convert(keep, type_.dtype), convert(top, type_.dtype)
        total = apply(Recurrence.of(op.axis, op.reverse), keep, apply(exp, apply(sub, x, top)))
        return [apply(add, top, apply(log, total))]

    is_complex = type_.kind == "c"
    return trace_to_graph(compute, [type_.update(sharding=None)], name="cumlogsumexp")[0]
