"""The generators `rbg` and `unsafe_rbg`: bits from XLA's RngBitGenerator.

Fast on accelerators; the numbers depend on the platform. Keys have four words: seeded and split as
two Threefry keys (`rbg`), or by the bit generator itself (`unsafe_rbg`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.types import ArrayType, array_type
from .threefry import binary, convert, join, reshape

_U32, _U64 = np.dtype(np.uint32), np.dtype(np.uint64)
_STRIDE = 10


def side_by_side(ctx: Any, parts: list[str], t: ArrayType) -> str:
    """Concatenate along the last axis."""
    if len(parts) == 1:
        return parts[0]
    out = array_type((*t.shape[:-1], t.shape[-1] * len(parts)), t.dtype)
    types = ", ".join([t.mlir] * len(parts))
    return ctx.emit(
        f"stablehlo.concatenate {', '.join(parts)}, dim = {t.ndim - 1} : ({types}) -> {out.mlir}"
    )


def generator(
    ctx: Any, key: str, t: ArrayType, shape: tuple[int, ...], dtype: Any, algorithm: str = "DEFAULT"
) -> list[str]:
    """[new state, bits] of states uint32[S, 4] or uint64[S, 2]; a loop over S."""
    batch = t.shape[:-1]
    one_state, one_bits = array_type(t.shape[-1:], t.dtype), array_type(shape, dtype)
    if not batch:
        return _single(ctx, key, one_state, one_bits, algorithm)
    n = math.prod(batch)
    rows = array_type((n, t.shape[-1]), t.dtype)
    all_bits = array_type((n, *shape), dtype)
    key = reshape(ctx, key, t, rows)
    index = array_type((), np.int32)
    carried = [index, rows, all_bits]
    start = [ctx.full(0, index), key, ctx.full(0, all_bits)]
    flag = array_type((), np.bool_)

    def condition(ctx: Any, names: list[str]) -> list[str]:
        limit = ctx.full(n, index)
        return [
            ctx.emit(
                f"stablehlo.compare LT, {names[0]}, {limit}, SIGNED : "
                f"({index.mlir}, {index.mlir}) -> {flag.mlir}"
            )
        ]

    def body(ctx: Any, names: list[str]) -> list[str]:
        i, states, found = names
        zero = ctx.full(0, index)
        row = array_type((1, t.shape[-1]), t.dtype)
        state = ctx.emit(
            f"stablehlo.dynamic_slice {states}, {i}, {zero}, sizes = [1, {t.shape[-1]}] : "
            f"({rows.mlir}, {index.mlir}, {index.mlir}) -> {row.mlir}"
        )
        state = reshape(ctx, state, row, one_state)
        state, made = _single(ctx, state, one_state, one_bits, algorithm)
        states = _put(ctx, states, rows, reshape(ctx, state, one_state, row), row, i, zero)
        wide = array_type((1, *shape), dtype)
        made = ctx.emit(f"stablehlo.reshape {made} : ({one_bits.mlir}) -> {wide.mlir}")
        found = _put(ctx, found, all_bits, made, wide, i, zero)
        return [binary(ctx, "add", i, ctx.full(1, index), index), states, found]

    texts = [
        ctx.region(carried, condition, [flag]),
        ctx.region(carried, body, carried),
    ]
    types = ", ".join(c.mlir for c in carried)
    out = ctx.emit_many(
        f'"stablehlo.while"({", ".join(start)}) ({texts[0]}, {texts[1]}) : ({types}) -> ({types})',
        3,
    )
    return [
        reshape(ctx, out[1], rows, t),
        reshape(ctx, out[2], all_bits, array_type(batch + shape, dtype)),
    ]


def _put(
    ctx: Any, whole: str, t: ArrayType, part: str, part_type: ArrayType, i: str, zero: str
) -> str:
    starts = ", ".join([i, *[zero] * (t.ndim - 1)])
    index = ", ".join(["tensor<i32>"] * t.ndim)
    return ctx.emit(
        f"stablehlo.dynamic_update_slice {whole}, {part}, {starts} : "
        f"({t.mlir}, {part_type.mlir}, {index}) -> {t.mlir}"
    )


def _single(ctx: Any, key: str, t: ArrayType, out: ArrayType, algorithm: str) -> list[str]:
    state = array_type((2,), _U64)
    if t.dtype == _U32:
        pairs = array_type((2, 2), _U32)
        key = reshape(ctx, key, t, pairs)
        key = ctx.emit(f"stablehlo.bitcast_convert {key} : ({pairs.mlir}) -> {state.mlir}")
    made = out if out.dtype.itemsize >= 4 else array_type(out.shape, _U32)
    new, bits = ctx.emit_many(
        f"stablehlo.rng_bit_generator {key}, algorithm = {algorithm} : ({state.mlir}) -> "
        f"({state.mlir}, {made.mlir})",
        2,
    )
    if t.dtype == _U32:
        pairs = array_type((2, 2), _U32)
        new = ctx.emit(f"stablehlo.bitcast_convert {new} : ({state.mlir}) -> {pairs.mlir}")
        new = reshape(ctx, new, pairs, t)
    return [new, convert(ctx, bits, made, out)]


def bits(ctx: Any, key: str, t: ArrayType, shape: tuple[int, ...], width: int) -> str:
    """Random bits of a width, `shape` of them for each key."""
    return generator(ctx, key, t, shape, np.dtype(f"uint{width}"))[1]


def unsafe_split(ctx: Any, key: str, t: ArrayType, shape: tuple[int, ...]) -> str:
    """New keys straight from the bit generator: every tenth row of four words."""
    n = math.prod(shape)
    made = bits(ctx, key, t, (n * _STRIDE, 4), 32)
    batch = t.shape[:-1]
    full = array_type((*batch, n * _STRIDE, 4), _U32)
    rows = array_type((*batch, n, 4), _U32)
    ranges = ", ".join([*(f"0:{b}" for b in batch), f"0:{n * _STRIDE}:{_STRIDE}", "0:4"])
    picked = ctx.emit(f"stablehlo.slice {made} [{ranges}] : ({full.mlir}) -> {rows.mlir}")
    return reshape(ctx, picked, rows, array_type((*batch, *shape, 4), _U32))


def unsafe_fold_in(ctx: Any, key: str, t: ArrayType, data: str) -> str:
    """The key xor the last of ten rows generated from the data as seed."""
    batch = t.shape[:-1]
    flat = array_type(batch, _U32)
    zero = ctx.full(0, flat)
    made = bits(ctx, join(ctx, [zero, data] * 2, flat), t, (_STRIDE, 4), 32)
    full, row = array_type((*batch, _STRIDE, 4), _U32), array_type((*batch, 1, 4), _U32)
    ranges = ", ".join([*(f"0:{b}" for b in batch), f"{_STRIDE - 1}:{_STRIDE}", "0:4"])
    last = ctx.emit(f"stablehlo.slice {made} [{ranges}] : ({full.mlir}) -> {row.mlir}")
    return binary(ctx, "xor", key, reshape(ctx, last, row, t), t)
