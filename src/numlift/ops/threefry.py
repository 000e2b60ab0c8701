"""The counter-based generator Threefry-2x32, 20 rounds, written in StableHLO.

Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A block
cipher maps two counter words to two random words under a key of two words. Each element of a
result gets its own counter from its index, so the numbers do not depend on how an array is split.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dims import Dim, known
from ..core.types import ArrayType, array_type

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_U32 = np.dtype(np.uint32)
_U64 = np.dtype(np.uint64)


def binary(ctx: Any, op: str, a: str, b: str, t: ArrayType) -> str:
    """One elementwise operation of two operands."""
    return ctx.emit(f"stablehlo.{op} {a}, {b} : {t.mlir}")


def convert(ctx: Any, x: str, source: ArrayType, target: ArrayType) -> str:
    """Convert between integer types (truncating, or filling with zeros)."""
    if source.dtype == target.dtype:
        return x
    return ctx.emit(f"stablehlo.convert {x} : ({source.mlir}) -> {target.mlir}")


def words(ctx: Any, key: str, t: ArrayType, start: int = 0) -> tuple[str, str, ArrayType]:
    """Two words of keys of storage type `t` (uint32[S, n]), and the type of each (uint32[S])."""
    batch = t.shape[:-1]
    thin, flat = array_type((*batch, 1), _U32), array_type(batch, _U32)
    found = []
    for i in (start, start + 1):
        ranges = ", ".join([*(f"0:{n}" for n in batch), f"{i}:{i + 1}"])
        part = ctx.emit(f"stablehlo.slice {key} [{ranges}] : ({t.mlir}) -> {thin.mlir}")
        found.append(ctx.emit(f"stablehlo.reshape {part} : ({thin.mlir}) -> {flat.mlir}"))
    return found[0], found[1], flat


def join(ctx: Any, parts: list[str], t: ArrayType) -> str:
    """Words uint32[S] side by side along a new last axis."""
    thin = array_type((*t.shape, 1), _U32)
    out = array_type((*t.shape, len(parts)), _U32)
    names = [ctx.emit(f"stablehlo.reshape {p} : ({t.mlir}) -> {thin.mlir}") for p in parts]
    types = ", ".join([thin.mlir] * len(parts))
    return ctx.emit(
        f"stablehlo.concatenate {', '.join(names)}, dim = {t.ndim} : ({types}) -> {out.mlir}"
    )


def encrypt(
    ctx: Any, key: tuple[str, str, ArrayType], x0: str, x1: str, t: ArrayType
) -> tuple[str, str]:
    """Threefry-2x32 of counters x0, x1 of type `t`, whose leading axes are those of the key."""
    k0, k1, small = key
    dims = tuple(range(small.ndim))
    parity = ctx.full(_PARITY, small)
    k2 = binary(ctx, "xor", binary(ctx, "xor", k0, k1, small), parity, small)
    schedule = [k0, k1, k2]

    def spread(name: str) -> str:
        return ctx.broadcast(name, small, t, dims)

    x0 = binary(ctx, "add", x0, spread(k0), t)
    x1 = binary(ctx, "add", x1, spread(k1), t)
    for group in range(5):
        for r in _ROTATIONS[group % 2]:
            x0 = binary(ctx, "add", x0, x1, t)
            left = binary(ctx, "shift_left", x1, ctx.full(r, t), t)
            right = binary(ctx, "shift_right_logical", x1, ctx.full(32 - r, t), t)
            x1 = binary(ctx, "xor", binary(ctx, "or", left, right, t), x0, t)
        injected = binary(ctx, "add", schedule[(group + 2) % 3], ctx.full(group + 1, small), small)
        x0 = binary(ctx, "add", x0, spread(schedule[(group + 1) % 3]), t)
        x1 = binary(ctx, "add", x1, spread(injected), t)
    return x0, x1


def counters(ctx: Any, batch: int, t: ArrayType) -> tuple[str, str]:
    """High and low words of the row-major index over the axes of `t` after the first `batch`.

    Sums of iotas rather than a reshaped iota: elementwise, so a sharded array needs no exchange.
    """
    shape = t.shape[batch:]
    size = math.prod(shape)
    big = known(size, 0) > 2**32
    if type(size) is Dim:  # in the program, so that a size above what fits is refused
        ctx.full(size, array_type((), np.int64))
    wide = array_type(t.shape, _U64 if big else _U32)
    total, stride = None, 1
    for axis in reversed(range(len(shape))):
        term = ctx.emit(f"stablehlo.iota dim = {batch + axis} : {wide.mlir}")
        if stride > 1:
            term = binary(ctx, "multiply", term, ctx.full(stride, wide), wide)
        total = term if total is None else binary(ctx, "add", total, term, wide)
        stride *= shape[axis]
    if total is None:
        return ctx.full(0, t), ctx.full(0, t)
    if not big:
        return ctx.full(0, t), total
    high = binary(ctx, "shift_right_logical", total, ctx.full(32, wide), wide)
    return convert(ctx, high, wide, t), convert(ctx, total, wide, t)


def split(ctx: Any, key: tuple[str, str, ArrayType], shape: tuple[int, ...]) -> list[str]:
    """The two words of `shape` new keys a key."""
    small = key[2]
    t = array_type(small.shape + shape, _U32)
    high, low = counters(ctx, small.ndim, t)
    return list(encrypt(ctx, key, high, low, t))


def fold_in(ctx: Any, key: tuple[str, str, ArrayType], data: str) -> list[str]:
    """The words of the keys folded with uint32 data of the same shape."""
    small = key[2]
    return list(encrypt(ctx, key, ctx.full(0, small), data, small))


def bits(ctx: Any, key: tuple[str, str, ArrayType], shape: tuple[int, ...], width: int) -> str:
    """Random bits of 8, 16, 32 or 64 bits an element, `shape` of them a key."""
    small = key[2]
    t = array_type(small.shape + shape, _U32)
    high, low = encrypt(ctx, key, *counters(ctx, small.ndim, t), t)
    if width == 64:
        return pair(ctx, high, low, t)
    mixed = binary(ctx, "xor", high, low, t)
    return convert(ctx, mixed, t, array_type(t.shape, f"uint{width}"))


def pair(ctx: Any, high: str, low: str, t: ArrayType) -> str:
    """uint64 from its two words."""
    wide = array_type(t.shape, _U64)
    top = binary(ctx, "shift_left", convert(ctx, high, t, wide), ctx.full(32, wide), wide)
    return binary(ctx, "or", top, convert(ctx, low, t, wide), wide)


# ---- the older layout (flag threefry_partitionable off) --------------------------------------


def halves(ctx: Any, key: tuple[str, str, ArrayType], count: int) -> tuple[str, ArrayType]:
    """`count` words a key: counters 0, 1, ... cut into two halves that are encrypted together."""
    small = key[2]
    half = (count + 1) // 2
    t = array_type((*small.shape, half), _U32)
    low = ctx.emit(f"stablehlo.iota dim = {small.ndim} : {t.mlir}")
    high = binary(ctx, "add", low, ctx.full(half, t), t)
    if count % 2:
        last = binary_compare(ctx, high, ctx.full(count, t), t)
        zero = ctx.full(0, t)
        flags = array_type(t.shape, np.bool_)
        high = ctx.emit(f"stablehlo.select {last}, {high}, {zero} : {flags.mlir}, {t.mlir}")
    a, b = encrypt(ctx, key, low, high, t)
    both = array_type((*small.shape, 2 * half), _U32)
    joined = ctx.emit(
        f"stablehlo.concatenate {a}, {b}, dim = {small.ndim} : ({t.mlir}, {t.mlir}) -> {both.mlir}"
    )
    return cut(ctx, joined, both, 0, count)


def binary_compare(ctx: Any, a: str, b: str, t: ArrayType) -> str:
    """a < b for unsigned integers."""
    flags = array_type(t.shape, np.bool_)
    return ctx.emit(
        f"stablehlo.compare LT, {a}, {b}, UNSIGNED : ({t.mlir}, {t.mlir}) -> {flags.mlir}"
    )


def cut(ctx: Any, x: str, t: ArrayType, start: int, end: int) -> tuple[str, ArrayType]:
    """Part of the last axis."""
    if (start, end) == (0, t.shape[-1]):
        return x, t
    ranges = ", ".join([*(f"0:{n}" for n in t.shape[:-1]), f"{start}:{end}"])
    out = array_type((*t.shape[:-1], end - start), t.dtype)
    return ctx.emit(f"stablehlo.slice {x} [{ranges}] : ({t.mlir}) -> {out.mlir}"), out


def reshape(ctx: Any, x: str, source: ArrayType, target: ArrayType) -> str:
    """The same elements under another shape."""
    if source.shape == target.shape:
        return x
    return ctx.emit(f"stablehlo.reshape {x} : ({source.mlir}) -> {target.mlir}")


def old_split(ctx: Any, key: tuple[str, str, ArrayType], shape: tuple[int, ...]) -> str:
    """Storage of the new keys: consecutive pairs of words."""
    x, t = halves(ctx, key, 2 * math.prod(shape))
    return reshape(ctx, x, t, array_type((*key[2].shape, *shape, 2), _U32))


def old_bits(ctx: Any, key: tuple[str, str, ArrayType], shape: tuple[int, ...], width: int) -> str:
    """Random bits: words of the older layout joined to 64 bits, or cut into 8 or 16."""
    small = key[2]
    size = math.prod(shape)
    out = array_type((*small.shape, *shape), f"uint{width}")
    if width == 64:
        x, t = halves(ctx, key, 2 * size)
        a, part = cut(ctx, x, t, 0, size)
        b, _ = cut(ctx, x, t, size, 2 * size)
        return reshape(ctx, pair(ctx, a, b, part), array_type(part.shape, _U64), out)
    per_word = 32 // width
    x, t = halves(ctx, key, -(-size // per_word))
    if width < 32:
        fine = array_type((*t.shape, per_word), out.dtype)
        x = ctx.emit(f"stablehlo.bitcast_convert {x} : ({t.mlir}) -> {fine.mlir}")
        flat = array_type((*small.shape, t.shape[-1] * per_word), out.dtype)
        x, t = cut(ctx, reshape(ctx, x, fine, flat), flat, 0, size)
    return reshape(ctx, x, t, out)
