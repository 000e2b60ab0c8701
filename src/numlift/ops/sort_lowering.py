"""StableHLO for sorting along one axis.

XLA on CPU sorts one array of integers with `std::stable_sort` and a native comparison, but calls
a compiled comparator for anything else: a million floats with their indices take 1000 ms, the
same as 64-bit integers (key in the high half, index in the low half) 190 ms. So every key becomes
unsigned 32-bit words whose integer order is the wanted order, and the words are sorted from the
least significant one up, each together with the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.types import ArrayType, array_type

_U32, _I32, _U64 = np.dtype("u4"), np.dtype("i4"), np.dtype("u8")


def sort_integers(ctx: Any, x: str, type_: ArrayType, axis: int) -> str:
    """One array of integers, ascending."""
    scalar = array_type((), type_.dtype)
    kind = "SIGNED" if type_.kind == "i" else "UNSIGNED"
    region = ctx.region(
        [scalar, scalar],
        lambda c, names: [
            c.emit(
                f"stablehlo.compare LT, {names[0]}, {names[1]}, {kind} : "
                f"({scalar.mlir}, {scalar.mlir}) -> tensor<i1>"
            )
        ],
        [array_type((), np.bool_)],
    )
    return ctx.emit(
        f'"stablehlo.sort"({x}) <{{dimension = {axis} : i64, is_stable = true}}> ({region}) : '
        f"({type_.mlir}) -> {type_.mlir}"
    )


def sort_one(ctx: Any, x: str, type_: ArrayType, axis: int) -> str:
    """One array of bools, integers or real floats, ascending, NaN last."""
    if type_.kind in "iu":
        wide = _whole_bytes(type_)
        return ctx.convert(sort_integers(ctx, ctx.convert(x, type_, wide), wide, axis), wide, type_)
    if type_.kind == "b":
        wide = array_type(type_.shape, np.uint8)
        made = sort_integers(ctx, ctx.convert(x, type_, wide), wide, axis)
        return _compare(ctx, "NE", made, ctx.full(0, wide), wide)
    wide = _wide_float(type_)
    bits = array_type(type_.shape, f"i{wide.dtype.itemsize}")
    x = canonical(ctx, ctx.convert(x, type_, wide), wide, zero=False)
    x = ctx.emit(f"stablehlo.bitcast_convert {x} : ({wide.mlir}) -> {bits.mlir}")
    x = sort_integers(ctx, _flip_negative(ctx, x, bits), bits, axis)
    x = _flip_negative(ctx, x, bits)
    x = ctx.emit(f"stablehlo.bitcast_convert {x} : ({bits.mlir}) -> {wide.mlir}")
    return ctx.convert(x, wide, type_)


def permutation(ctx: Any, operands: Sequence[str], types: Sequence[ArrayType], axis: int) -> str:
    """int32 indices that sort by the first key, then the second, ...; always stable."""
    words: list[str] = []
    for x, t in zip(operands, types, strict=True):
        words += key_words(ctx, x, t)
    shape = types[0].shape
    index, word, packed = (array_type(shape, d) for d in (_I32, _U32, _U64))
    place = ctx.emit(f"stablehlo.iota dim = {axis} : {packed.mlir}")
    half = ctx.full(32, packed)
    order = ""
    for w in reversed(words):
        if order:
            w = take_along(ctx, w, order, word, index, axis)
        wide = ctx.convert(w, word, packed)
        wide = ctx.emit(f"stablehlo.shift_left {wide}, {half} : {packed.mlir}")
        wide = ctx.emit(f"stablehlo.or {wide}, {place} : {packed.mlir}")
        found = ctx.convert(sort_integers(ctx, wide, packed, axis), packed, index)
        order = take_along(ctx, order, found, index, index, axis) if order else found
    return order


def key_words(ctx: Any, x: str, type_: ArrayType) -> list[str]:
    """Unsigned 32-bit words, most significant first, that compare like the elements of `x`.

    NaNs are equal and greatest; -0.0 equals 0.0; complex numbers by real, then imaginary part.
    """
    word = array_type(type_.shape, _U32)
    if type_.kind == "c":
        part = array_type(type_.shape, "f4" if type_.dtype == np.complex64 else "f8")
        return [
            w
            for name in ("real", "imag")
            for w in key_words(
                ctx, ctx.emit(f"stablehlo.{name} {x} : ({type_.mlir}) -> {part.mlir}"), part
            )
        ]
    if type_.kind == "f":
        wide = _wide_float(type_)
        bits = array_type(type_.shape, f"i{wide.dtype.itemsize}")
        x = canonical(ctx, ctx.convert(x, type_, wide), wide, zero=True)
        x = ctx.emit(f"stablehlo.bitcast_convert {x} : ({wide.mlir}) -> {bits.mlir}")
        x, type_ = _flip_negative(ctx, x, bits), bits
    if type_.kind == "i" and type_.dtype.itemsize < 4:
        wide = array_type(type_.shape, _I32)
        x, type_ = ctx.convert(x, type_, wide), wide
    if type_.kind == "i":
        unsigned = array_type(type_.shape, f"u{type_.dtype.itemsize}")
        x = ctx.emit(f"stablehlo.bitcast_convert {x} : ({type_.mlir}) -> {unsigned.mlir}")
        top = ctx.full(1 << (8 * type_.dtype.itemsize - 1), unsigned)
        x, type_ = ctx.emit(f"stablehlo.xor {x}, {top} : {unsigned.mlir}"), unsigned
    if type_.dtype.itemsize == 8:
        half = ctx.full(32, type_)
        high = ctx.emit(f"stablehlo.shift_right_logical {x}, {half} : {type_.mlir}")
        return [ctx.convert(high, type_, word), ctx.convert(x, type_, word)]
    return [ctx.convert(x, type_, word)]


def canonical(ctx: Any, x: str, type_: ArrayType, zero: bool) -> str:
    """One NaN for all NaNs; with `zero`, 0.0 for -0.0."""
    if zero:
        nought = ctx.full(0, type_)
        is_zero = _compare(ctx, "EQ", x, nought, type_)
        x = _select(ctx, is_zero, nought, x, type_)
    return _select(ctx, _compare(ctx, "NE", x, x, type_), ctx.full(np.nan, type_), x, type_)


def take_along(
    ctx: Any, x: str, indices: str, x_type: ArrayType, index_type: ArrayType, axis: int
) -> str:
    """x[..., indices[..., i], ...]: elements along one axis, the others side by side."""
    out = array_type(index_type.shape, x_type.dtype)
    ndim = x_type.ndim
    others = [i for i in range(ndim) if i != axis]
    column = array_type((*index_type.shape, 1), index_type.dtype)
    vector = ctx.emit(f"stablehlo.reshape {indices} : ({index_type.mlir}) -> {column.mlir}")
    return ctx.emit(
        f'"stablehlo.gather"({x}, {vector}) <{{dimension_numbers = #stablehlo.gather<'
        f"collapsed_slice_dims = [{axis}], operand_batching_dims = {others}, "
        f"start_indices_batching_dims = {others}, start_index_map = [{axis}], "
        f"index_vector_dim = {ndim}>, indices_are_sorted = false, "
        f"slice_sizes = array<i64: {', '.join(['1'] * ndim)}>}}> : "
        f"({x_type.mlir}, {column.mlir}) -> {out.mlir}"
    )


def sort_together(
    ctx: Any, operands: Sequence[str], types: Sequence[ArrayType], axis: int, num_keys: int
) -> list[str]:
    """All operands in one variadic sort, for platforms where that is fast."""
    words: list[str] = []
    for x, t in zip(operands[:num_keys], types[:num_keys], strict=True):
        words += key_words(ctx, x, t)
    word = array_type(types[0].shape, _U32)
    all_types = [word] * len(words) + list(types)
    scalars = [array_type((), t.dtype) for t in all_types]
    pairs = [s for s in scalars for _ in (0, 1)]

    def less(c: Any, names: list[str]) -> list[str]:
        u = scalars[0].mlir
        result = ""
        for i in range(len(words) - 1, -1, -1):
            pair = f"{names[2 * i]}, {names[2 * i + 1]}, UNSIGNED : ({u}, {u}) -> tensor<i1>"
            here = c.emit(f"stablehlo.compare LT, {pair}")
            if result:
                same = c.emit(f"stablehlo.compare EQ, {pair}")
                here_or = c.emit(f"stablehlo.and {same}, {result} : tensor<i1>")
                here = c.emit(f"stablehlo.or {here}, {here_or} : tensor<i1>")
            result = here
        return [result]

    region = ctx.region(pairs, less, [array_type((), np.bool_)])
    inner = ", ".join(t.mlir for t in all_types)
    found = ctx.emit_many(
        f'"stablehlo.sort"({", ".join([*words, *operands])}) <{{dimension = {axis} : i64, '
        f"is_stable = true}}> ({region}) : ({inner}) -> ({inner})",
        len(all_types),
    )
    return list(found[len(words) :])


def _whole_bytes(type_: ArrayType) -> ArrayType:
    small = {"int2": "i1", "int4": "i1", "uint2": "u1", "uint4": "u1"}.get(type_.dtype.name)
    return type_ if small is None else array_type(type_.shape, small)


def _wide_float(type_: ArrayType) -> ArrayType:
    return type_ if type_.dtype.itemsize == 8 else array_type(type_.shape, np.float32)


def _flip_negative(ctx: Any, x: str, bits: ArrayType) -> str:
    """Bits of a float <-> a signed integer of the same order (its own inverse)."""
    width = 8 * bits.dtype.itemsize
    last, low = ctx.full(width - 1, bits), ctx.full((1 << (width - 1)) - 1, bits)
    sign = ctx.emit(f"stablehlo.shift_right_arithmetic {x}, {last} : {bits.mlir}")
    mask = ctx.emit(f"stablehlo.and {sign}, {low} : {bits.mlir}")
    return ctx.emit(f"stablehlo.xor {x}, {mask} : {bits.mlir}")


def _compare(ctx: Any, kind: str, x: str, y: str, type_: ArrayType) -> str:
    bools = array_type(type_.shape, np.bool_)
    word = {"f": "FLOAT", "i": "SIGNED"}.get(type_.kind, "UNSIGNED")
    return ctx.emit(
        f"stablehlo.compare {kind}, {x}, {y}, {word} : ({type_.mlir}, {type_.mlir}) -> {bools.mlir}"
    )


def _select(ctx: Any, which: str, x: str, y: str, type_: ArrayType) -> str:
    bools = array_type(type_.shape, np.bool_)
    return ctx.emit(f"stablehlo.select {which}, {x}, {y} : {bools.mlir}, {type_.mlir}")
