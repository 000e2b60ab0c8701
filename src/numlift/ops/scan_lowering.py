"""StableHLO for inclusive scans of an associative operation along one axis.

XLA has no scan. Its `reduce_window` reads every window again, and a log-step scan passes over
memory log(n) times. On CPU the axis is therefore cut into blocks; a loop walks through all blocks
at once, one contiguous row a step, and the totals of the blocks are scanned in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.dims import Dim, known
from ..core.types import ArrayType, array_type

Combine = Callable[[Any, Sequence[str], Sequence[str], ArrayType], list[str]]
"""(ctx, earlier operands, later operands, type of each) -> combined operands."""

_LONGEST_BLOCK = 256
_FEW = 4
_INDEX = array_type((), np.int32)


def inclusive_scan(
    ctx: Any,
    combine: Combine,
    identity: Sequence[Any],
    operands: Sequence[str],
    type_: ArrayType,
    axis: int,
    reverse: bool,
) -> list[str]:
    """Operand texts of the scan of arrays of one type along `axis`.

    Args:
        ctx: where to emit.
        combine: emits the associative operation, element by element.
        identity: its neutral element, one number an operand.
        operands: texts of the operands.
        type_: type of each operand.
        axis: along which to scan.
        reverse: scan from the end.
    """
    shape = type_.shape
    n = shape[axis]
    if known(n, 2) <= 1 or type_.size == 0:
        return list(operands)
    names = list(operands)
    if reverse:
        names = [_reverse(ctx, x, type_, axis) for x in names]
    before, after = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    flat = array_type((before, n, after), type_.dtype)
    names = [ctx.reshape(x, type_, flat) for x in names]
    if type(n) is Dim or (ctx.platform == "cpu" and n > _FEW):
        names = _blocked(ctx, combine, identity, names, flat)
    else:
        names = _log_steps(ctx, combine, identity, names, flat)
    names = [ctx.reshape(x, flat, type_) for x in names]
    if reverse:
        names = [_reverse(ctx, x, type_, axis) for x in names]
    return names


def block_length(n: int, row: int) -> int:
    """How many elements of an axis of size n a block holds, if one step handles `row` lines.

    A length that divides n is preferred, because then nothing has to be padded. A symbolic axis is
    one block.
    """
    if type(n) is Dim or known(row, 1024) >= 1024 or n <= 16:
        return n
    longest = min(n, max(8, min(_LONGEST_BLOCK, math.isqrt(n * row))))
    for length in range(longest, longest // 2, -1):
        if n % length == 0:
            return length
    return longest


def _blocked(
    ctx: Any, combine: Combine, identity: Sequence[Any], names: list[str], type_: ArrayType
) -> list[str]:
    before, n, after = type_.shape
    length = block_length(n, before * after)
    blocks = -(-n // length)
    padded = array_type((before, blocks * length, after), type_.dtype)
    names = [
        _pad(ctx, x, type_, padded, value, after=padded.shape[1] - n)
        for x, value in zip(names, identity, strict=True)
    ]
    rows = array_type((length, before, blocks, after), type_.dtype)
    names = [_to_rows(ctx, x, padded, rows) for x in names]
    flat = array_type((length, before * blocks * after), type_.dtype)
    names = _row_loop(ctx, combine, [ctx.reshape(x, rows, flat) for x in names], flat)
    if blocks > 1:
        names = _add_carries(ctx, combine, identity, names, flat, rows)
    names = [_from_rows(ctx, ctx.reshape(x, flat, rows), rows, padded) for x in names]
    return [_slice_axis(ctx, x, padded, 1, 0, n) for x in names]


def _add_carries(
    ctx: Any,
    combine: Combine,
    identity: Sequence[Any],
    names: list[str],
    flat: ArrayType,
    rows: ArrayType,
) -> list[str]:
    """Combine each block with everything before it."""
    length, before, blocks, after = rows.shape
    totals_type = array_type((before, blocks, after), flat.dtype)
    last = array_type((1, flat.shape[1]), flat.dtype)
    totals = [
        ctx.reshape(_slice_axis(ctx, x, flat, 0, length - 1, length), last, totals_type)
        for x in names
    ]
    step = _blocked if blocks > _FEW else _log_steps
    totals = step(ctx, combine, identity, totals, totals_type)
    carries = [
        _pad(ctx, x, totals_type, totals_type, value, before=1, after=-1)
        for x, value in zip(totals, identity, strict=True)
    ]
    line = array_type((flat.shape[1],), flat.dtype)
    wide = [ctx.broadcast(ctx.reshape(x, totals_type, line), line, flat, (1,)) for x in carries]
    return combine(ctx, wide, names, flat)


def _row_loop(ctx: Any, combine: Combine, names: list[str], type_: ArrayType) -> list[str]:
    """A while loop that makes row i of the result from row i-1 and row i of the operands.

    One operand is overwritten in place. With several, a step would read rows of one buffer after
    writing another, and XLA would copy whole buffers each step: they get buffers of their own.
    """
    length, width = type_.shape
    if length == 1:
        return names
    row = array_type((1, width), type_.dtype)
    count = len(names)
    first = [_slice_axis(ctx, x, type_, 0, 0, 1) for x in names]
    targets = names if count == 1 else [_first_row_only(ctx, x, row, type_) for x in first]
    sources = [] if count == 1 else names
    types = [_INDEX, *[row] * count, *[type_] * (count + len(sources))]
    start = ctx.full(1, _INDEX)

    def condition(ctx: Any, args: list[str]) -> list[str]:
        limit = ctx.full(length, _INDEX)
        i = _INDEX.mlir
        return [
            ctx.emit(f"stablehlo.compare LT, {args[0]}, {limit}, SIGNED : ({i}, {i}) -> tensor<i1>")
        ]

    def step(ctx: Any, args: list[str]) -> list[str]:
        i, carried, buffers = args[0], args[1 : 1 + count], args[1 + count : 1 + 2 * count]
        read = args[1 + 2 * count :] or buffers
        zero, one = ctx.full(0, _INDEX), ctx.full(1, _INDEX)
        t = _INDEX.mlir
        here = [
            ctx.emit(
                f"stablehlo.dynamic_slice {x}, {i}, {zero}, sizes = [1, {width}] : "
                f"({type_.mlir}, {t}, {t}) -> {row.mlir}"
            )
            for x in read
        ]
        made = combine(ctx, carried, here, row)
        written = [
            ctx.emit(
                f"stablehlo.dynamic_update_slice {x}, {y}, {i}, {zero} : "
                f"({type_.mlir}, {row.mlir}, {t}, {t}) -> {type_.mlir}"
            )
            for x, y in zip(buffers, made, strict=True)
        ]
        return [
            ctx.emit(f"stablehlo.add {i}, {one} : {t}"),
            *made,
            *written,
            *args[1 + 2 * count :],
        ]

    test = ctx.region(types, condition, [array_type((), np.bool_)])
    body = ctx.region(types, step, types)
    inner = ", ".join(t.mlir for t in types)
    found = ctx.emit_many(
        f'"stablehlo.while"({", ".join([start, *first, *targets, *sources])}) ({test}, {body}) : '
        f"({inner}) -> ({inner})",
        len(types),
    )
    return list(found[1 + count : 1 + 2 * count])


def _first_row_only(ctx: Any, first: str, row: ArrayType, type_: ArrayType) -> str:
    """A buffer that holds its first row; the others are written later."""
    scalar = array_type((), type_.dtype)
    zero = ctx.full(0, scalar)
    return ctx.emit(
        f"stablehlo.pad {first}, {zero}, low = [0, 0], high = [{type_.shape[0] - 1}, 0], "
        f"interior = [0, 0] : ({row.mlir}, {scalar.mlir}) -> {type_.mlir}"
    )


def _log_steps(
    ctx: Any, combine: Combine, identity: Sequence[Any], names: list[str], type_: ArrayType
) -> list[str]:
    """log2(n) passes, each combining with the element 1, 2, 4, ... before."""
    distance = 1
    while distance < type_.shape[1]:
        shifted = [
            _pad(ctx, x, type_, type_, value, before=distance, after=-distance)
            for x, value in zip(names, identity, strict=True)
        ]
        names = combine(ctx, shifted, names, type_)
        distance *= 2
    return names


# ---- lines of text -------------------------------------------------------------------------------


def _reverse(ctx: Any, x: str, type_: ArrayType, axis: int) -> str:
    return ctx.emit(f"stablehlo.reverse {x}, dims = [{axis}] : {type_.mlir}")


def _to_rows(ctx: Any, x: str, padded: ArrayType, rows: ArrayType) -> str:
    length, before, blocks, after = rows.shape
    cut = array_type((before, blocks, length, after), rows.dtype)
    x = ctx.reshape(x, padded, cut)
    if before * blocks == 1:
        return ctx.reshape(x, cut, rows)
    return ctx.emit(f"stablehlo.transpose {x}, dims = [2, 0, 1, 3] : ({cut.mlir}) -> {rows.mlir}")


def _from_rows(ctx: Any, x: str, rows: ArrayType, padded: ArrayType) -> str:
    length, before, blocks, after = rows.shape
    cut = array_type((before, blocks, length, after), rows.dtype)
    if before * blocks == 1:
        return ctx.reshape(x, rows, padded)
    x = ctx.emit(f"stablehlo.transpose {x}, dims = [1, 2, 0, 3] : ({rows.mlir}) -> {cut.mlir}")
    return ctx.reshape(x, cut, padded)


def _slice_axis(ctx: Any, x: str, type_: ArrayType, axis: int, start: int, stop: int) -> str:
    if start == 0 and stop == type_.shape[axis]:
        return x
    shape = (*type_.shape[:axis], stop - start, *type_.shape[axis + 1 :])
    ranges = [f"0:{n}" for n in type_.shape]
    ranges[axis] = f"{start}:{stop}"
    out = array_type(shape, type_.dtype)
    return ctx.emit(f"stablehlo.slice {x} [{', '.join(ranges)}] : ({type_.mlir}) -> {out.mlir}")


def _pad(
    ctx: Any,
    x: str,
    type_: ArrayType,
    out: ArrayType,
    value: Any,
    before: int = 0,
    after: int = 0,
) -> str:
    """Pad axis 1 of three with a number; a negative amount cuts off."""
    if before == 0 and after == 0:
        return x
    scalar = array_type((), type_.dtype)
    fill = ctx.full(value, scalar)
    return ctx.emit(
        f"stablehlo.pad {x}, {fill}, low = [0, {before}, 0], high = [0, {after}, 0], "
        f"interior = [0, 0, 0] : ({type_.mlir}, {scalar.mlir}) -> {out.mlir}"
    )
