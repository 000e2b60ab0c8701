"""Windows of arrays: slice, dynamic_slice, dynamic_update_slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import max_size, min_size
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import Convert
from ..structural.families import Structural, batch_first, check_same_dtype, is_linear
from ..structural.shape import Broadcast, Reshape, dropped, full
from .indices import (
    CLIP,
    INT32,
    INT64,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
    column,
    ints,
    keep_if_divisible,
    shifted,
    signed,
    wide_indices,
    wrapped,
)

_moves: dict[str, Any] = {}
"""What batches and transposes here need from modules that build on this one: "pad", "concatenate"
(`ops.shape`), "gather" (`ops.gather`), "scatter" (`ops.scatter`)."""


class Slice(Structural):
    """Elements from starts (included) to limits (excluded), every strides-th.

    The axes `drop`, whose window has size 1, are left out of the result.
    """

    starts: tuple[int, ...]
    limits: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    drop: tuple[int, ...] = ()

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        starts, limits = self.starts, self.limits
        strides = self.strides or (1,) * x.ndim
        if not len(starts) == len(limits) == len(strides) == x.ndim:
            raise self._error(
                f"start_indices, limit_indices and strides need one entry for each of the "
                f"{x.ndim} axes", x,
            )  # fmt: skip
        shape = []
        for i, (a, b, k, n) in enumerate(zip(starts, limits, strides, x.shape, strict=True)):
            if not 0 <= a <= b <= n:
                raise self._error(
                    f"0 <= start <= limit <= size does not hold in axis {i}: start {a}, limit "
                    f"{b}, size {n}", x,
                )  # fmt: skip
            if k < 1:
                raise self._error(f"stride {k} of axis {i} is not positive", x)
            shape.append(-((a - b) // k))
        out = tuple(shape)
        sharding = None
        if x.sharding is not None:
            sharding = keep_if_divisible("slice", list(rules.spec_of(x)), x.shape, out, x)
        made = array_type(out, x.dtype, x.weak_type, sharding)
        return without(made, self.drop) if self.drop else made

    def _error(self, rule: str, x: ArrayType) -> errors.ShapeError:
        shown = {
            "operand": x,
            "start_indices": self.starts,
            "limit_indices": self.limits,
            "strides": self.strides,
        }
        return errors.ShapeError(errors.explain("slice", rule, shown))

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        shape = inputs[0].type.shape
        ct = restored(ct, self.drop)
        out = type_of(ct)
        strides = self.strides or (1,) * len(shape)
        config = []
        for a, k, n, m in zip(self.starts, strides, shape, out.shape, strict=True):
            config.append((a, n - a - (m + max_size(m - 1, 0) * (k - 1)), k - 1))
        return (apply(_moves["pad"](tuple(config)), ct, out.dtype.type(0)),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        (d,) = dims
        assert d is not None
        starts = self.starts[:d] + (0,) + self.starts[d:]
        limits = self.limits[:d] + (size,) + self.limits[d:]
        strides = self.strides
        if strides is not None:
            strides = strides[:d] + (1,) + strides[d:]
        drop, place = shifted_drop(self.drop, d)
        return apply(Slice.of(starts, limits, strides, drop), args[0]), place

    def physical(self, *types: ArrayType) -> Op:
        tail = types[0].dtype.key_shape
        strides = None if self.strides is None else self.strides + (1,) * len(tail)
        return Slice.of(self.starts + (0,) * len(tail), self.limits + tail, strides, self.drop)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,), (out,) = types, outs
        if x.shape == out.shape:
            return operands[0]
        strides = self.strides or (1,) * x.ndim
        bounds = zip(self.starts, self.limits, strides, strict=True)
        window = array_type(tuple([-((a - b) // k) for a, b, k in bounds]), x.dtype)
        if self.strides is None:
            parts = [f"{a}:{b}" for a, b in zip(self.starts, self.limits, strict=True)]
        else:
            triples = zip(self.starts, self.limits, self.strides, strict=True)
            parts = [f"{a}:{b}:{k}" for a, b, k in triples]
        name = operands[0]
        if window.shape != x.shape:
            name = ctx.emit(
                f"stablehlo.slice {name} [{', '.join(parts)}] : ({x.mlir}) -> {window.mlir}"
            )
        return dropped_axes(ctx, name, window, out)


def without(t: ArrayType, drop: Sequence[int]) -> ArrayType:
    """The type without the axes `drop`."""
    sharding = t.sharding
    if sharding is not None:
        sharding = rules.named(sharding.mesh, dropped(rules.spec_of(t), drop))
    return array_type(dropped(t.shape, drop), t.dtype, t.weak_type, sharding)


def restored(ct: Any, drop: Sequence[int]) -> Any:
    """A cotangent with the dropped axes again, as axes of size 1."""
    if not drop:
        return ct
    shape = list(type_of(ct).shape)
    for axis in drop:
        shape.insert(axis, 1)
    return apply(Reshape.of(tuple(shape), None), ct)


def shifted_drop(drop: tuple[int, ...], batch: int) -> tuple[tuple[int, ...], int]:
    """Dropped axes after a batch axis was put in at `batch`, and where it is in the result."""
    return tuple([i + (i >= batch) for i in drop]), batch - sum([i < batch for i in drop])


def dropped_axes(ctx: Any, name: str, window: ArrayType, out: ArrayType) -> str:
    """Emit the reshape from a window to the result, if they differ."""
    if window.shape == out.shape:
        return name
    return ctx.emit(f"stablehlo.reshape {name} : ({window.mlir}) -> {out.mlir}")


def check_starts(function: str, types: Sequence[ArrayType], x: ArrayType) -> None:
    """Raise unless there is one integer scalar for each axis of `x`."""
    if len(types) != x.ndim:
        raise errors.ShapeError(
            errors.explain(
                function,
                f"there must be one start index for each of the {x.ndim} axes, but there are "
                f"{len(types)}",
                {"operand": x},
            )
        )
    for i, t in enumerate(types):
        if t.kind not in "iu" or t.ndim:
            raise errors.DTypeError(
                errors.explain(
                    function,
                    f"start index {i} must be an integer scalar",
                    {"operand": x, f"start index {i}": t},
                )
            )


def lower_starts(
    ctx: Any, operands: Sequence[str], types: Sequence[ArrayType], shape: Sequence[int], wrap: bool
) -> tuple[list[str], str]:
    """Scalar start indices with one common type: their operand texts and the MLIR type."""
    names, found = [], []
    for name, t, n in zip(operands, types, shape, strict=True):
        name, wide = wide_indices(ctx, name, t, (n,))
        names.append(name)
        found.append(wide)
    scalar = array_type((), INT64 if any(t.dtype == INT64 for t in found) else INT32)
    names = [ctx.convert(name, t, scalar) for name, t in zip(names, found, strict=True)]
    if wrap:
        names = [
            wrapped(ctx, name, scalar, (n,)) if t.kind == "i" else name
            for name, t, n in zip(names, types, shape, strict=True)
        ]
    return names, scalar.mlir


def index_vectors(size: int, starts: Sequence[Any], dims: Sequence[int | None]) -> Any:
    """Start indices of a batch as rows (size, n)."""
    columns = []
    wide = INT32
    if not starts:
        return np.zeros((size, 0), INT32)
    starts = [signed(s) for s in starts]
    if any(type_of(s).dtype == INT64 for s in starts):
        wide = INT64
    for s, d in zip(starts, dims, strict=True):
        if type_of(s).dtype != wide:
            s = apply(Convert.of(wide, False), s)
        columns.append(apply(Broadcast.of((size, 1), (), None), s) if d is None else column(s))
    return columns[0] if len(columns) == 1 else apply(_moves["concatenate"](1), *columns)


class DynamicSlice(Structural):
    """The window of the given sizes at start indices that are operands (one scalar an axis).

    Start indices are moved such that the window is in bounds. With `wrap`, negative ones count
    from the end first. The axes `drop`, whose window has size 1, are left out of the result.
    """

    sizes: tuple[int, ...]
    wrap: bool = False
    drop: tuple[int, ...] = ()

    def out_type(self, *types: ArrayType) -> ArrayType:
        x, *starts = types
        check_starts("dynamic_slice", starts, x)
        sizes = self.sizes
        if len(sizes) != x.ndim or any(not 0 <= m <= n for m, n in zip(sizes, x.shape)):
            raise errors.ShapeError(
                errors.explain(
                    "dynamic_slice",
                    f"slice_sizes {sizes} must be at most the sizes of the {x.ndim} axes",
                    {"operand": x},
                )
            )
        sharding = None
        if x.sharding is not None:
            sharding = keep_if_divisible("dynamic_slice", list(rules.spec_of(x)), x.shape, sizes, x)
        made = array_type(sizes, x.dtype, x.weak_type, sharding)
        return without(made, self.drop) if self.drop else made

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, *starts = inputs
        zeros = full(x.type)
        ct = restored(ct, self.drop)
        ct_x = apply(DynamicUpdateSlice.of(self.wrap), zeros, ct, *starts)
        return (ct_x, *[None] * len(starts))

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x, *starts = args
        dx, *d_starts = dims
        sizes, gather = self.sizes, _moves["gather"]
        if all(d is None for d in d_starts):
            assert dx is not None
            drop, place = shifted_drop(self.drop, dx)
            starts.insert(dx, INT32.type(0))
            wide = DynamicSlice.of(sizes[:dx] + (size,) + sizes[dx:], self.wrap, drop)
            return apply(wide, x, *starts), place
        shape = type_of(x).shape
        if dx is not None:
            shape = shape[:dx] + shape[dx + 1 :]
        moving = [i for i, n in enumerate(shape) if n != sizes[i]]
        rows = index_vectors(size, [starts[i] for i in moving], [d_starts[i] for i in moving])
        offset = tuple(range(1, len(sizes) + 1 - len(self.drop)))
        if dx is None:
            numbers = GatherDimensionNumbers(offset, self.drop, tuple(moving))
            return apply(gather(numbers, sizes, CLIP, None, False, False, self.wrap), x, rows), 0
        numbers = GatherDimensionNumbers(
            offset, shifted(self.drop), tuple([i + 1 for i in moving]), (0,), (0,)
        )
        x, sizes = batch_first(x, dx, size), (min_size(1, size), *sizes)
        return apply(gather(numbers, sizes, CLIP, None, True, True, self.wrap), x, rows), 0

    def physical(self, *types: ArrayType) -> Op:
        return PaddedDynamicSlice.of(self.sizes + types[0].dtype.key_shape, self.wrap, self.drop)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x, *starts), (out,) = types, outs
        if x.shape == out.shape:
            return operands[0]
        names, scalar = lower_starts(ctx, operands[1:], starts, x.shape, self.wrap)
        window = array_type(self.sizes, x.dtype)
        name = emit_dynamic_slice(ctx, operands[0], x, names, scalar, window)
        return dropped_axes(ctx, name, window, out)


def emit_dynamic_slice(
    ctx: Any, x: str, x_type: ArrayType, starts: Sequence[str], scalar: str, out: ArrayType
) -> str:
    """Emit a dynamic slice; `starts` all have the MLIR type `scalar`."""
    names = ", ".join([x, *starts])
    kinds = ", ".join([x_type.mlir, *[scalar] * len(starts)])
    return ctx.emit(
        f"stablehlo.dynamic_slice {names}, sizes = [{ints(out.shape)}] : ({kinds}) -> {out.mlir}"
    )


def emit_dynamic_update(
    ctx: Any, x: str, t: ArrayType, u: str, u_type: ArrayType, starts: Sequence[str], scalar: str
) -> str:
    """Emit a dynamic update; `starts` all have the MLIR type `scalar`."""
    names = ", ".join([x, u, *starts])
    kinds = ", ".join([t.mlir, u_type.mlir, *[scalar] * len(starts)])
    return ctx.emit(f"stablehlo.dynamic_update_slice {names} : ({kinds}) -> {t.mlir}")


class DynamicUpdateSlice(Op):
    """Operand with the window at the start indices replaced by an update.

    Operands: x, update, one scalar start index an axis. Start indices behave as in DynamicSlice.
    """

    wrap: bool = False

    def out_type(self, *types: ArrayType) -> ArrayType:
        x, update, *starts = types
        check_starts("dynamic_update_slice", starts, x)
        check_same_dtype(self, types[:2])
        if update.ndim != x.ndim or any(m > n for m, n in zip(update.shape, x.shape)):
            raise errors.ShapeError(
                errors.explain(
                    "dynamic_update_slice",
                    "update must have the rank of operand and be no larger in any axis",
                    {"operand": x, "update": update},
                )
            )
        return array_type(x.shape, x.dtype, x.weak_type and update.weak_type, x.sharding)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, update, *starts = primals
        dx, du = tangents[:2]
        out = apply(self, x, update, *starts)
        if dx is None:
            dx = full(type_of(x).update(weak_type=False))
        if du is None:
            du = full(type_of(update).update(weak_type=False))
        return out, apply(self, dx, du, *starts)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        x, update, *starts = inputs
        shape = (update.type if is_linear(update) else type_of(update)).shape
        ct_x = ct_update = None
        if is_linear(x):
            ct_x = apply(self, ct, full(type_of(ct).update(shape=shape, sharding=None)), *starts)
        if is_linear(update):
            ct_update = apply(DynamicSlice.of(shape, self.wrap), ct, *starts)
        return (ct_x, ct_update, *[None] * len(starts))

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x, update, *starts = args
        dx, du, *d_starts = dims
        x, update = batch_first(x, dx, size), batch_first(update, du, size)
        if all(d is None for d in d_starts):
            return apply(self, x, update, INT32.type(0), *starts), 0
        shape, window = type_of(x).shape[1:], type_of(update).shape[1:]
        moving = [i for i, n in enumerate(shape) if n != window[i]]
        if not moving:
            return update, 0
        rows = index_vectors(size, [starts[i] for i in moving], [d_starts[i] for i in moving])
        numbers = ScatterDimensionNumbers(
            tuple(range(1, len(window) + 1)), (), tuple([i + 1 for i in moving]), (0,), (0,)
        )
        scatter = _moves["scatter"](numbers, CLIP, True, True, self.wrap)
        return apply(scatter, x, rows, update), 0

    def physical(self, *types: ArrayType) -> Op:
        return PaddedDynamicUpdateSlice.of(self.wrap)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        x, update, *starts = types
        if x.shape == update.shape:
            return operands[1]
        names, scalar = lower_starts(ctx, operands[2:], starts, x.shape, self.wrap)
        return emit_dynamic_update(ctx, operands[0], x, operands[1], update, names, scalar)


class PaddedDynamicSlice(DynamicSlice):
    """DynamicSlice of key words: the axes behind those with a start index are taken whole."""

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        zero, zero_type = ctx.full(0, array_type((), INT32)), array_type((), INT32)
        extra = types[0].ndim - (len(types) - 1)
        types = [*types, *[zero_type] * extra]
        return super().lower(ctx, [*operands, *[zero] * extra], types, outs)


class PaddedDynamicUpdateSlice(DynamicUpdateSlice):
    """DynamicUpdateSlice of key words: the axes behind are replaced whole."""

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        zero, zero_type = ctx.full(0, array_type((), INT32)), array_type((), INT32)
        extra = types[0].ndim - (len(types) - 2)
        types = [*types, *[zero_type] * extra]
        return super().lower(ctx, [*operands, *[zero] * extra], types, outs)
