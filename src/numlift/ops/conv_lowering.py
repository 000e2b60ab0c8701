"""How convolutions are written in StableHLO, and how they are kept fast on CPU.

XLA's CPU backend has one fast kernel: float32/float64 with axes (batch, spatial, feature) and
kernel (spatial, in, out). Other layouts, dtypes and batch groups run as plain loops, ten times
slower and twenty times longer to compile, so they are brought into that form here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..core.dims import known, max_size
from ..core.types import ArrayType, array_type, dtype_kind
from .dot import bit_width, convert, storage_dtypes
from .precision import precision_text

_MOST_TAPS = 64


class Named(NamedTuple):
    """A value inside a lowering: its name and type."""

    name: str
    type: ArrayType


class Window(NamedTuple):
    """Geometry of a convolution whose axes are (batch, spatial, feature) x (spatial, in, out)."""

    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    lhs_dilation: tuple[int, ...]
    rhs_dilation: tuple[int, ...]
    feature_groups: int


def lower_conv(op: Any, ctx: Any, operands: list[str], types: Any, out: ArrayType) -> str:
    """StableHLO of a `ConvGeneralDilated`."""
    plain = array_type(out.shape, out.dtype)
    if 0 in out.shape or 0 in types[0].shape or 0 in types[1].shape:
        return ctx.full(0, plain)
    x, y = (Named(n, array_type(t.shape, t.dtype)) for n, t in zip(operands, types, strict=True))
    if types[0].kind == "c":
        result = _complex(op, ctx, x, y, out.shape)
    else:
        enter, leave = _storage(ctx.platform, types[0].dtype, out.dtype)
        result = _real(op, ctx, cast(ctx, x, enter), cast(ctx, y, enter), out.shape, leave)
    return cast(ctx, result, out.dtype).name


def cast(ctx: Any, x: Named, dtype: Any) -> Named:
    """`x` converted to another dtype."""
    target = array_type(x.type.shape, dtype)
    source = x.type
    if source.kind == "f" and target.kind in "iu" and bit_width(target.dtype) < 64:
        # Sums of narrow integers were taken in float64: wrap around instead of saturating.
        wide = array_type(source.shape, np.int64)
        x, source = Named(convert(ctx, x.name, source, wide), wide), wide
    return Named(convert(ctx, x.name, source, target), target)


def _storage(platform: str, natural: Any, out: Any) -> tuple[Any, Any]:
    """dtype of the operands and dtype of the sums."""
    kind, bits = dtype_kind(natural), bit_width(natural)
    (enter, _), leave = storage_dtypes("any", natural, out)
    if platform == "cpu":
        if kind in "iu" and bits <= 16 and dtype_kind(out) in "iu":
            # Exact: products have at most 32 bits, and float64 holds 53.
            return np.dtype("f8"), np.dtype("f8")
        if enter != leave or (bits == 8 and kind == "f"):
            wide = max(enter, leave, np.dtype("f4"), key=bit_width)
            return wide, wide
    return enter, leave


def _complex(op: Any, ctx: Any, x: Named, y: Named, shape: tuple[int, ...]) -> Named:
    """(a + ib) * (c + id) from four real convolutions; XLA has no fast complex ones."""
    part = np.dtype("f4") if x.type.dtype == np.dtype("c8") else np.dtype("f8")

    def take(what: str, z: Named) -> Named:
        t = array_type(z.type.shape, part)
        return Named(ctx.emit(f"stablehlo.{what} {z.name} : ({z.type.mlir}) -> {t.mlir}"), t)

    a, b, c, d = take("real", x), take("imag", x), take("real", y), take("imag", y)
    ac, bd, ad, bc = (
        _real(op, ctx, p, q, shape, part) for p, q in ((a, c), (b, d), (a, d), (b, c))
    )
    t = ac.type
    re = ctx.emit(f"stablehlo.subtract {ac.name}, {bd.name} : {t.mlir}")
    im = ctx.emit(f"stablehlo.add {ad.name}, {bc.name} : {t.mlir}")
    z = array_type(shape, x.type.dtype)
    return Named(ctx.emit(f"stablehlo.complex {re}, {im} : {z.mlir}"), z)


def _real(op: Any, ctx: Any, x: Named, y: Named, shape: tuple[int, ...], dtype: Any) -> Named:
    lhs, rhs, out = op.numbers
    if ctx.platform != "cpu":
        window = Window(op.strides, op.padding, op.lhs_dilation, op.rhs_dilation, op.feature_groups)
        numbers = _numbers_text(op.numbers)
        return _emit(ctx, op, x, y, window, numbers, op.batch_groups, array_type(shape, dtype))
    x = transposed(ctx, x, (lhs[0], *lhs[2:], lhs[1]))
    y = transposed(ctx, y, (*rhs[2:], rhs[1], rhs[0]))
    groups = op.feature_groups
    if known(op.batch_groups, 2) > 1:
        x, groups = _batch_to_features(ctx, x, op.batch_groups), op.batch_groups
    window = Window(op.strides, op.padding, op.lhs_dilation, op.rhs_dilation, groups)
    x, window = _padded(ctx, x, window)
    inner = (shape[out[0]], *(shape[a] for a in out[2:]), shape[out[1]])
    target = array_type(inner, dtype)
    if _is_depthwise(y.type.shape, window):
        z = _depthwise(ctx, x, y, window, target)
    else:
        z = _emit(ctx, op, x, y, window, _channels_last(len(op.strides)), 1, target)
    position = (out[0], *out[2:], out[1])
    return transposed(ctx, z, tuple(position.index(a) for a in range(len(shape))))


def transposed(ctx: Any, x: Named, order: tuple[int, ...]) -> Named:
    """`x` with its axes in another order."""
    if order == tuple(range(len(order))):
        return x
    t = array_type(tuple(x.type.shape[a] for a in order), x.type.dtype)
    dims = ", ".join(map(str, order))
    return Named(
        ctx.emit(f"stablehlo.transpose {x.name}, dims = [{dims}] : ({x.type.mlir}) -> {t.mlir}"), t
    )


def reshaped(ctx: Any, x: Named, shape: tuple[int, ...]) -> Named:
    """`x` under another shape."""
    if shape == x.type.shape:
        return x
    t = array_type(shape, x.type.dtype)
    return Named(ctx.emit(f"stablehlo.reshape {x.name} : ({x.type.mlir}) -> {t.mlir}"), t)


def _batch_to_features(ctx: Any, x: Named, groups: int) -> Named:
    """Batch groups are feature groups of an operand whose batch blocks lie side by side."""
    n, *middle, c = x.type.shape
    x = reshaped(ctx, x, (groups, n // groups, *middle, c))
    last = x.type.ndim - 1
    x = transposed(ctx, x, (*range(1, last), 0, last))
    return reshaped(ctx, x, (n // groups, *middle, groups * c))


def _padded(ctx: Any, x: Named, window: Window) -> tuple[Named, Window]:
    """Crop explicitly, and dilate float64 explicitly: the fast kernel does neither."""
    dilate = x.type.dtype == np.dtype("f8") or known(window.feature_groups, 2) > 1
    low, high, inner, padding, dilation = [0], [0], [0], [], []
    for (before, after), d in zip(window.padding, window.lhs_dilation, strict=True):
        expand = d > 1 and dilate
        take_all = expand or before < 0 or after < 0
        low.append(before if take_all else 0)
        high.append(after if take_all else 0)
        inner.append(d - 1 if take_all else 0)
        padding.append((0, 0) if take_all else (before, after))
        dilation.append(1 if take_all else d)
    if not any(low) and not any(high) and not any(inner):
        return x, window
    x = pad(ctx, x, [*low, 0], [*high, 0], [*inner, 0])
    return x, window._replace(padding=tuple(padding), lhs_dilation=tuple(dilation))


def pad(ctx: Any, x: Named, low: list[int], high: list[int], inner: list[int]) -> Named:
    """`x` with zeros around and between its elements."""
    shape = tuple(
        n + max_size(n - 1, 0) * i + a + b
        for n, a, b, i in zip(x.type.shape, low, high, inner, strict=True)
    )
    t, scalar = array_type(shape, x.type.dtype), array_type((), x.type.dtype)
    zero = ctx.full(0, scalar)
    return Named(
        ctx.emit(
            f"stablehlo.pad {x.name}, {zero}, low = {low}, high = {high}, interior = {inner} : "
            f"({x.type.mlir}, {scalar.mlir}) -> {t.mlir}"
        ),
        t,
    )


def _is_depthwise(kernel: tuple[int, ...], window: Window) -> bool:
    """One input feature a group, a small kernel: better as a sum of shifted products."""
    return (
        known(window.feature_groups, 2) > 1
        and kernel[-2] == 1
        and known(math.prod(kernel[:-2]), _MOST_TAPS + 1) <= _MOST_TAPS
        and all(d == 1 for d in window.lhs_dilation)
    )


def _depthwise(ctx: Any, x: Named, y: Named, window: Window, out: ArrayType) -> Named:
    """Sum over kernel taps of shifted (and strided) inputs times one kernel row."""
    dtype = x.type.dtype
    x = pad(
        ctx, x, [0, *(a for a, _ in window.padding), 0], [0, *(b for _, b in window.padding), 0],
        [0] * x.type.ndim,
    )  # fmt: skip
    groups, spatial = window.feature_groups, out.shape[1:-1]
    multiple = out.shape[-1] // groups
    wide = array_type((*out.shape[:-1], groups, multiple), dtype)
    *_, taps_in, features = y.type.shape
    total = None
    for tap in product(*(range(k) for k in y.type.shape[:-2])):
        starts = [t * d for t, d in zip(tap, window.rhs_dilation, strict=True)]
        part = _strided_slice(ctx, x, starts, window.strides, spatial)
        row = _slice(ctx, y, [*tap, 0, 0], [*(t + 1 for t in tap), taps_in, features])
        row = reshaped(ctx, row, (groups, multiple))
        a = ctx.broadcast(part.name, part.type, wide, tuple(range(part.type.ndim)))
        b = ctx.broadcast(row.name, row.type, wide, (wide.ndim - 2, wide.ndim - 1))
        term = ctx.emit(f"stablehlo.multiply {a}, {b} : {wide.mlir}")
        total = term if total is None else ctx.emit(f"stablehlo.add {total}, {term} : {wide.mlir}")
    assert total is not None
    return reshaped(ctx, Named(total, wide), out.shape)


def _strided_slice(
    ctx: Any, x: Named, starts: Sequence[int], strides: Sequence[int], sizes: Sequence[int]
) -> Named:
    """The spatial window of `x` that one kernel tap sees."""
    ends = [a + (n - 1) * s + 1 for a, n, s in zip(starts, sizes, strides, strict=True)]
    first, last = x.type.shape[0], x.type.shape[-1]
    return _slice(ctx, x, [0, *starts, 0], [first, *ends, last], [1, *strides, 1])


def _slice(
    ctx: Any, x: Named, starts: list[int], ends: list[int], strides: list[int] | None = None
) -> Named:
    steps = strides or [1] * len(starts)
    ranges = ", ".join(f"{a}:{b}:{s}" for a, b, s in zip(starts, ends, steps, strict=True))
    shape = tuple(-(-(b - a) // s) for a, b, s in zip(starts, ends, steps, strict=True))
    t = array_type(shape, x.type.dtype)
    return Named(ctx.emit(f"stablehlo.slice {x.name} [{ranges}] : ({x.type.mlir}) -> {t.mlir}"), t)


def _emit(
    ctx: Any, op: Any, x: Named, y: Named, window: Window, numbers: str, batch_groups: int,
    out: ArrayType,
) -> Named:  # fmt: skip
    pads = ", ".join(f"[{a}, {b}]" for a, b in window.padding)
    sizes = "" if not window.strides else (
        f"stride = {list(window.strides)}, pad = [{pads}], "
        f"lhs_dilate = {list(window.lhs_dilation)}, rhs_dilate = {list(window.rhs_dilation)}"
    )  # fmt: skip
    first, second = precision_text(op.precision)[1:-1].split(", ")
    return Named(
        ctx.emit(
            f"stablehlo.convolution({x.name}, {y.name}) dim_numbers = {numbers}, "
            f"window = {{{sizes}}} {{batch_group_count = {batch_groups} : i64, "
            f"feature_group_count = {window.feature_groups} : i64, precision_config = "
            f"[#stablehlo<precision {first}>, #stablehlo<precision {second}>]}} : "
            f"({x.type.mlir}, {y.type.mlir}) -> {out.mlir}"
        ),
        out,
    )


def _axes_text(spec: Sequence[int], first: str, second: str) -> str:
    labels = [""] * len(spec)
    labels[spec[0]], labels[spec[1]] = first, second
    for i, a in enumerate(spec[2:]):
        labels[a] = str(i)
    return "[" + ", ".join(labels) + "]"


def _numbers_text(numbers: Any) -> str:
    lhs, rhs, out = numbers
    return f"{_axes_text(lhs, 'b', 'f')}x{_axes_text(rhs, 'o', 'i')}->{_axes_text(out, 'b', 'f')}"


def _channels_last(n: int) -> str:
    """Text for (batch, spatial, feature) x (spatial, in, out)."""
    spatial = tuple(range(1, n + 1))
    kernel = tuple(range(n))
    return _numbers_text(((0, n + 1, *spatial), (n + 1, n, *kernel), (0, n + 1, *spatial)))
