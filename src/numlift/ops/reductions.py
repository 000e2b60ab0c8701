"""Reductions over axes: max, min, prod, and, or, xor, argmax, argmin, and by any computation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import errors
from ..core.dims import known
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import convert, mul
from ..structural.families import check_kind
from ..structural.shape import Broadcast, ReduceSum, Transpose, dropped, reshape
from .compare import eq
from .cumulative import CumProd, shift
from .elementwise_binary import div
from .identities import accumulator, highest, lowest

_BOOL = np.dtype(np.bool_)


def check_axes(function: str, x: ArrayType, axes: Sequence[int]) -> None:
    """Raise if an axis is out of range or repeated."""
    for a in axes:
        if not 0 <= a < x.ndim:
            raise errors.AxisError(
                errors.explain(
                    function,
                    f"axis {a} is out of range for {x.ndim} axes",
                    {"operand": x},
                    try_=f"axes from 0 to {x.ndim - 1}" if x.ndim else "no axes",
                )
            )
    if len(set(axes)) != len(axes):
        raise errors.AxisError(
            errors.explain(function, f"an axis is repeated in {tuple(axes)}", {"operand": x})
        )


class Reduction(Op):
    """Reduction of one array over `axes`, with one StableHLO operation."""

    axes: tuple[int, ...]
    hlo: ClassVar[str] = ""
    accepts: ClassVar[str] = "biuf"

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        check_kind(self, types, self.accepts)
        check_axes(self.name, x, self.axes)
        sharding = None if x.sharding is None else self.shard(x)
        return array_type(dropped(x.shape, self.axes), x.dtype, x.weak_type, sharding)

    def shard(self, *types: ArrayType) -> Any:
        (x,) = types
        return rules.named(x.sharding.mesh, dropped(rules.spec_of(x), self.axes))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, *primals), None

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        (d,) = dims
        assert d is not None
        axes = tuple(a + (a >= d) for a in self.axes)
        return apply(type(self).of(axes), args[0]), d - sum(a < d for a in axes)

    def identity(self, dtype: Any) -> Any:
        """Neutral element."""
        raise NotImplementedError

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,), (out,) = types, outs
        wide_x = array_type(x.shape, self.storage(x.dtype))
        wide_out = array_type(out.shape, wide_x.dtype)
        name = ctx.convert(operands[0], x, wide_x)
        start = self.identity(wide_x.dtype)
        name = ctx.reduce(self.hlo, name, start, wide_x, wide_out, self.axes)
        return ctx.convert(name, wide_out, out)

    def storage(self, dtype: Any) -> Any:
        """dtype in which XLA reduces: int2 and int4 have no kernels of their own on CPU."""
        return accumulator(dtype) if dtype.itemsize == 1 else dtype


def spread_back(y: Any, like: ArrayType, axes: tuple[int, ...]) -> Any:
    """The result of a reduction repeated over the axes that were reduced."""
    kept = tuple(i for i in range(like.ndim) if i not in axes)
    return apply(Broadcast.of(like.shape, kept, like.sharding), y)


class Extreme(Reduction):
    """Max and min. Equal elements share the cotangent equally."""

    accepts = "biufc"
    direction: ClassVar[str] = "GT"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x,), (dx,) = primals, tangents
        y = apply(self, x)
        t = type_of(x)
        if any(type(t.shape[a]) is int and not t.shape[a] for a in self.axes):
            return y, None
        chosen = convert(apply(eq, x, spread_back(y, t, self.axes)), t.dtype)
        total = ReduceSum.of(self.axes)
        count = apply(total, chosen)
        return y, apply(div, apply(total, apply(mul, dx, chosen)), count)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        split = ctx.module.mesh is not None and not ctx.manual
        if types[0].kind == "c":
            name = replicated(ctx, operands[0], types[0]) if split else operands[0]
            return self._lower_by(ctx, name, types[0], outs[0], complex_choice)
        if types[0].kind == "b":
            hlo = "stablehlo.or" if self.direction == "GT" else "stablehlo.and"
            start = self.identity(types[0].dtype)
            return ctx.reduce(hlo, operands[0], start, types[0], outs[0], self.axes)
        if types[0].kind == "f" and ctx.platform == "cpu":
            dtype = self.storage(types[0].dtype)
            wide, wide_out = (array_type(t.shape, dtype) for t in (types[0], outs[0]))
            x = ctx.convert(operands[0], types[0], wide)
            if split:
                return ctx.convert(self._lower_split(ctx, x, wide, wide_out), wide_out, outs[0])
            return ctx.convert(
                self._lower_by(ctx, x, wide, wide_out, float_choice), wide_out, outs[0]
            )
        return super().lower(ctx, operands, types, outs)

    def _lower_split(self, ctx: Any, x: str, type_: ArrayType, out: ArrayType) -> str:
        """Float extremes over devices: their exchange knows single operations, no computations."""
        bools, found = array_type(type_.shape, _BOOL), array_type(out.shape, _BOOL)
        best = ctx.reduce(self.hlo, x, self.identity(type_.dtype), type_, out, self.axes)
        invalid = _compare(ctx, "NE", x, x, type_, bools)
        invalid = ctx.reduce("stablehlo.or", invalid, False, bools, found, self.axes)
        nan = ctx.full(math.nan, out)
        return ctx.emit(f"stablehlo.select {invalid}, {nan}, {best} : {found.mlir}, {out.mlir}")

    def _lower_by(
        self, ctx: Any, x: str, type_: ArrayType, out: ArrayType, choose: Callable[..., str]
    ) -> str:
        """Reduce by a choice between two elements, given as text."""
        if not self.axes:
            return x
        scalar = array_type((), type_.dtype)
        start = ctx.full(self.identity(type_.dtype), scalar)
        region = ctx.region(
            [scalar, scalar], lambda c, n: [choose(c, n[0], n[1], scalar, self.direction)], [scalar]
        )
        return ctx.emit(
            f'"stablehlo.reduce"({x}, {start}) <{{dimensions = array<i64: '
            f"{', '.join(map(str, self.axes))}>}}> ({region}) : "
            f"({type_.mlir}, {scalar.mlir}) -> {out.mlir}"
        )


def replicated(ctx: Any, name: str, t: ArrayType) -> str:
    """A value on all devices of the program."""
    dims = ", ".join(["{}"] * t.ndim)
    return ctx.emit(f"sdy.sharding_constraint {name} <@mesh, [{dims}]> : {t.mlir}")


def float_choice(ctx: Any, x: str, y: str, type_: ArrayType, direction: str) -> str:
    """The greater (GT) or lesser (LT) of two floats; NaN before any number.

    XLA on CPU vectorises `stablehlo.maximum` and then loses NaN; this form it does not touch.
    """
    pair = f"FLOAT : ({type_.mlir}, {type_.mlir}) -> tensor<i1>"
    better = ctx.emit(f"stablehlo.compare {direction[0]}E, {x}, {y}, {pair}")
    nan = ctx.emit(f"stablehlo.compare NE, {x}, {x}, {pair}")
    take = ctx.emit(f"stablehlo.or {better}, {nan} : tensor<i1>")
    return ctx.emit(f"stablehlo.select {take}, {x}, {y} : tensor<i1>, {type_.mlir}")


def complex_choice(ctx: Any, x: str, y: str, type_: ArrayType, direction: str) -> str:
    """The greater (GT) or lesser (LT) of two complex numbers, ordered by (real, imaginary)."""
    part = array_type((), np.float32 if type_.dtype == np.complex64 else np.float64)
    (xr, xi), (yr, yi) = (
        [ctx.emit(f"stablehlo.{p} {v} : ({type_.mlir}) -> {part.mlir}") for p in ("real", "imag")]
        for v in (x, y)
    )

    def test(kind: str, a: str, b: str) -> str:
        return ctx.emit(
            f"stablehlo.compare {kind}, {a}, {b}, FLOAT : ({part.mlir}, {part.mlir}) -> tensor<i1>"
        )

    def join(word: str, a: str, b: str) -> str:
        return ctx.emit(f"stablehlo.{word} {a}, {b} : tensor<i1>")

    x_nan = join("or", test("NE", xr, xr), test("NE", xi, xi))
    y_good = join("and", test("EQ", yr, yr), test("EQ", yi, yi))
    tie = join("and", test("EQ", xr, yr), test(direction, xi, yi))
    better = join("and", join("or", test(direction, xr, yr), tie), y_good)
    take = join("or", x_nan, better)
    return ctx.emit(f"stablehlo.select {take}, {x}, {y} : tensor<i1>, {type_.mlir}")


class ReduceMax(Extreme):
    """Greatest element; NaN if there is one."""

    hlo = "stablehlo.maximum"

    def identity(self, dtype: Any) -> Any:
        return lowest(dtype)


class ReduceMin(Extreme):
    """Least element; NaN if there is one."""

    hlo = "stablehlo.minimum"
    direction = "LT"

    def identity(self, dtype: Any) -> Any:
        return highest(dtype)


class ReduceProd(Reduction):
    """Product. The derivative multiplies the other elements, so zeros do no harm."""

    hlo = "stablehlo.multiply"
    accepts = "iufc"

    def identity(self, dtype: Any) -> Any:
        return 1

    def storage(self, dtype: Any) -> Any:
        return accumulator(dtype)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x,), (dx,) = primals, tangents
        y = apply(self, x)
        x, dx = (axes_to_one(v, self.axes) for v in (x, dx))
        last = type_of(x).ndim - 1
        before = shift(apply(CumProd.of(last, False), x), last, 1)
        after = shift(apply(CumProd.of(last, True), x), last, 1, True)
        others = apply(mul, before, after)
        return y, apply(ReduceSum.of((last,)), apply(mul, dx, others))


def axes_to_one(x: Any, axes: tuple[int, ...]) -> Any:
    """`x` with these axes moved behind the others and joined to one."""
    t = type_of(x)
    kept = tuple(i for i in range(t.ndim) if i not in axes)
    order = kept + tuple(sorted(axes))
    if order != tuple(range(t.ndim)):
        x = apply(Transpose.of(order), x)
    shape = (*(t.shape[i] for i in kept), math.prod(t.shape[a] for a in axes))
    return reshape(x, shape)


class Bitwise(Reduction):
    """and, or, xor over bits (for bool: logical)."""

    accepts = "biu"


class ReduceAnd(Bitwise):
    """Bits set in all elements."""

    hlo = "stablehlo.and"

    def identity(self, dtype: Any) -> Any:
        return np.True_ if dtype == _BOOL else ~dtype.type(0)


class ReduceOr(Bitwise):
    """Bits set in any element."""

    hlo = "stablehlo.or"

    def identity(self, dtype: Any) -> Any:
        return dtype.type(0)


class ReduceXor(ReduceOr):
    """Parity of each bit."""

    hlo = "stablehlo.xor"

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> Any:
        # No collective of XLA on CPU combines partial results by xor.
        if ctx.platform == "cpu" and ctx.module.mesh is not None and not ctx.manual:
            operands = [replicated(ctx, operands[0], types[0])]
        return super().lower(ctx, operands, types, outs)


class ArgExtreme(Op):
    """Index of the first greatest or least element along an axis; NaN counts as such.

    Two plain reductions (the extreme, then the least index that holds it) are vectorised; one
    reduction over (value, index) pairs is not: 0.2 ms against 4.4 ms for a million floats on CPU.
    """

    axis: int
    index_dtype: Any
    extreme: ClassVar[type[Extreme]] = Extreme

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        check_kind(self, types, "biufc")
        check_axes(self.name, x, (self.axis,))
        if x.shape[self.axis] == 0:
            raise errors.ShapeError(
                errors.explain(
                    self.name,
                    f"axis {self.axis} is empty, so there is no element to point at",
                    {"operand": x},
                    try_="check x.shape before the call",
                )
            )
        sharding = None if x.sharding is None else self.shard(x)
        return array_type(dropped(x.shape, (self.axis,)), self.index_dtype, False, sharding)

    def shard(self, *types: ArrayType) -> Any:
        (x,) = types
        return rules.named(x.sharding.mesh, dropped(rules.spec_of(x), (self.axis,)))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, *primals), None

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        (d,) = dims
        assert d is not None
        axis = self.axis + (self.axis >= d)
        return apply(type(self).of(axis, self.index_dtype), args[0]), d - (axis < d)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,), (out,) = types, outs
        wide = array_type(x.shape, accumulator(x.dtype) if x.dtype.itemsize == 1 else x.dtype)
        name = ctx.convert(operands[0], x, wide)
        last = self.axis == x.ndim - 1
        if ctx.platform == "cpu" and last and known(x.shape[-1], 0) >= _LONG and out.size:
            place = self._blocked(ctx, name, wide, out)
        else:
            place = self._first(ctx, name, wide, self.axis)
        index = array_type(out.shape, _index_dtype(x.shape[self.axis]))
        return ctx.convert(place, index, out)

    def _first(self, ctx: Any, x: str, type_: ArrayType, axis: int) -> str:
        """Index of the first extreme along an axis, or of the first NaN."""
        n = type_.shape[axis]
        best_type = array_type(dropped(type_.shape, (axis,)), type_.dtype)
        best = self.extreme.of((axis,)).lower(ctx, [x], [type_], [best_type])
        kept = tuple(i for i in range(type_.ndim) if i != axis)
        best = ctx.broadcast(best, best_type, type_, kept)
        index = array_type(type_.shape, _index_dtype(n))
        bools = array_type(type_.shape, _BOOL)
        found = _compare(ctx, "EQ", x, best, type_, bools)
        if type_.kind in "fc":
            invalid = _compare(ctx, "NE", x, x, type_, bools)
            found = ctx.emit(f"stablehlo.or {found}, {invalid} : {bools.mlir}")
        places = ctx.emit(f"stablehlo.iota dim = {axis} : {index.mlir}")
        beyond = ctx.full(n, index)
        places = ctx.emit(
            f"stablehlo.select {found}, {places}, {beyond} : {bools.mlir}, {index.mlir}"
        )
        out = array_type(best_type.shape, index.dtype)
        return ctx.reduce("stablehlo.minimum", places, n, index, out, (axis,))

    def _blocked(self, ctx: Any, x: str, type_: ArrayType, out: ArrayType) -> str:
        """Look for the block with the extreme first: only floats' extremes are vectorised."""
        n, rows = type_.shape[-1], out.size
        width = _block_width(n)
        blocks = -(-n // width)
        flat, grown = (array_type((rows, k), type_.dtype) for k in (n, blocks * width))
        cut = array_type((rows, blocks, width), type_.dtype)
        scalar, index = array_type((), type_.dtype), _index_dtype(n)
        x = ctx.reshape(x, type_, flat)
        if n < blocks * width:
            fill = ctx.full(self.extreme.of(()).identity(type_.dtype), scalar)
            x = ctx.emit(
                f"stablehlo.pad {x}, {fill}, low = [0, 0], high = [0, {blocks * width - n}], "
                f"interior = [0, 0] : ({flat.mlir}, {scalar.mlir}) -> {grown.mlir}"
            )
        x = ctx.reshape(x, grown, cut)
        tops = array_type((rows, blocks), type_.dtype)
        best = self.extreme.of((2,)).lower(ctx, [x], [cut], [tops])
        place, vector = array_type((rows,), index), array_type((rows, 1), index)
        block = ctx.convert(
            self._first(ctx, best, tops, 1), array_type((rows,), _index_dtype(blocks)), place
        )
        column = ctx.reshape(block, place, vector)
        one = array_type((rows, width), type_.dtype)
        part = ctx.emit(
            f'"stablehlo.gather"({x}, {column}) <{{dimension_numbers = #stablehlo.gather<'
            "offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], "
            "start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, "
            f"indices_are_sorted = false, slice_sizes = array<i64: 1, 1, {width}>}}> : "
            f"({cut.mlir}, {vector.mlir}) -> {one.mlir}"
        )
        inner = ctx.convert(
            self._first(ctx, part, one, 1), array_type((rows,), _index_dtype(width)), place
        )
        size = ctx.full(width, place)
        start = ctx.emit(f"stablehlo.multiply {block}, {size} : {place.mlir}")
        found = ctx.emit(f"stablehlo.add {start}, {inner} : {place.mlir}")
        return ctx.reshape(found, place, array_type(out.shape, index))


_LONG = 256
"""From this length on, blocks are worth while."""


def _index_dtype(n: int) -> Any:
    return np.dtype(np.int32 if known(n, 0) < 2**31 else np.int64)


def _block_width(n: int) -> int:
    """About the square root of n; a divisor of n if there is one nearby."""
    root = math.isqrt(n)
    return next((w for w in range(root, root // 4, -1) if n % w == 0), root)


_COMPARE = {"f": ", FLOAT", "c": ", FLOAT", "i": ", SIGNED", "u": ", UNSIGNED", "b": ", UNSIGNED"}


def _compare(ctx: Any, kind: str, x: str, y: str, type_: ArrayType, out: ArrayType) -> str:
    return ctx.emit(
        f"stablehlo.compare {kind}, {x}, {y}{_COMPARE[type_.kind]} : "
        f"({type_.mlir}, {type_.mlir}) -> {out.mlir}"
    )


class ArgMax(ArgExtreme):
    """Index of the first greatest element along an axis."""

    name = "argmax"
    extreme = ReduceMax


class ArgMin(ArgExtreme):
    """Index of the first least element along an axis."""

    name = "argmin"
    extreme = ReduceMin
