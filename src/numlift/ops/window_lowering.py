"""StableHLO for windows that slide over an array.

XLA's `reduce_window` is a scalar loop on CPU, and its `select_and_scatter` a while loop. Slices of
the padded array, one a window position, fuse to vectorised code: 2 to 7 times faster for pooling,
7 to 25 times for its derivative.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..core.dims import max_size
from ..core.types import ArrayType, array_type

MOST_SLICES = 64
"""Windows with more positions than this use XLA's own windowed operations."""


class Window(NamedTuple):
    """A window: its size, steps, padding (low, high) and dilations, one entry an axis."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    base_dilation: tuple[int, ...]
    window_dilation: tuple[int, ...]

    def out_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """How many places the window takes along each axis."""
        found = []
        for n, w, s, (low, high), b, d in zip(shape, *self, strict=True):
            total = ((n - 1) * b + 1 if n else 0) + low + high
            span = (w - 1) * d + 1
            found.append((total - span) // s + 1 if total >= span else 0)
        return tuple(found)

    def padded_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Shape after dilation and padding; never negative."""
        return tuple(
            max_size(0, ((n - 1) * b + 1 if n else 0) + low + high)
            for n, (low, high), b in zip(shape, self.padding, self.base_dilation, strict=True)
        )

    def with_axis(self, at: int) -> Window:
        """The window with one more axis, over which it does not reach."""
        fields: list[Any] = [
            (*f[:at], one, *f[at:]) for f, one in zip(self, (1, 1, (0, 0), 1, 1), strict=True)
        ]
        return Window(*fields)

    def is_padded(self) -> bool:
        """Whether some window position may lie outside the operand's elements."""
        return any(p != (0, 0) for p in self.padding) or any(b > 1 for b in self.base_dilation)

    def positions(self) -> Iterator[tuple[int, ...]]:
        """Offsets inside the window, in row-major order."""
        return itertools.product(*map(range, self.sizes))

    def attributes(self, dilations: bool = True) -> str:
        """Text of the StableHLO attributes."""
        pads = [list(p) for p in self.padding]
        text = (
            f"window_dimensions = {_i64s(self.sizes)}, window_strides = {_i64s(self.strides)}, "
            f"padding = dense<{pads}> : tensor<{len(pads)}x2xi64>"
        )
        if dilations:
            text += (
                f", base_dilations = {_i64s(self.base_dilation)}, "
                f"window_dilations = {_i64s(self.window_dilation)}"
            )
        return text


def _i64s(numbers: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


def pad(ctx: Any, x: str, type_: ArrayType, window: Window, fill: Any) -> tuple[str, ArrayType]:
    """The operand after dilation and padding."""
    out = array_type(window.padded_shape(type_.shape), type_.dtype)
    if not window.is_padded():
        return x, out
    scalar = array_type((), type_.dtype)
    value = ctx.full(fill, scalar)
    low, high = ([p[i] for p in window.padding] for i in (0, 1))
    between = [b - 1 for b in window.base_dilation]
    return ctx.emit(
        f"stablehlo.pad {x}, {value}, low = {low}, high = {high}, interior = {between} : "
        f"({type_.mlir}, {scalar.mlir}) -> {out.mlir}"
    ), out


def window_slice(
    ctx: Any, x: str, type_: ArrayType, out: ArrayType, window: Window, position: Sequence[int]
) -> str:
    """The elements that all windows have at one position."""
    result = array_type(out.shape, type_.dtype)
    if result.shape == type_.shape:
        return x
    parts = [
        f"{k * d}:{k * d + (o - 1) * s + 1}:{s}"
        for k, d, o, s in zip(
            position, window.window_dilation, out.shape, window.strides, strict=True
        )
    ]
    return ctx.emit(f"stablehlo.slice {x} [{', '.join(parts)}] : ({type_.mlir}) -> {result.mlir}")


def unslice(
    ctx: Any, x: str, type_: ArrayType, padded: ArrayType, window: Window, position: Sequence[int]
) -> str:
    """The transpose of `window_slice`: zeros everywhere else."""
    if type_.shape == padded.shape:
        return x
    low = [k * d for k, d in zip(position, window.window_dilation, strict=True)]
    between = [s - 1 for s in window.strides]
    high = [
        n - a - (o - 1) * s - 1
        for n, a, o, s in zip(padded.shape, low, type_.shape, window.strides, strict=True)
    ]
    scalar = array_type((), type_.dtype)
    zero = ctx.full(0, scalar)
    return ctx.emit(
        f"stablehlo.pad {x}, {zero}, low = {low}, high = {high}, interior = {between} : "
        f"({type_.mlir}, {scalar.mlir}) -> {padded.mlir}"
    )


def unpad(ctx: Any, x: str, padded: ArrayType, out: ArrayType, window: Window) -> str:
    """The transpose of `pad`: only the operand's own elements."""
    if not window.is_padded():
        return x
    lows = [p[0] for p in window.padding]
    highs = [p[1] for p in window.padding]
    if any(n < 0 for n in lows + highs):
        low, high = ([max_size(-n, 0) for n in ns] for ns in (lows, highs))
        shape = tuple(n + a + b for n, a, b in zip(padded.shape, low, high, strict=True))
        grown, scalar = array_type(shape, padded.dtype), array_type((), padded.dtype)
        zero = ctx.full(0, scalar)
        x = ctx.emit(
            f"stablehlo.pad {x}, {zero}, low = {low}, high = {high}, "
            f"interior = {[0] * len(low)} : ({padded.mlir}, {scalar.mlir}) -> {grown.mlir}"
        )
        padded = grown
    parts = [
        f"{max_size(a, 0)}:{max_size(a, 0) + ((n - 1) * b + 1 if n else 0)}:{b}"
        for a, n, b in zip(lows, out.shape, window.base_dilation, strict=True)
    ]
    return ctx.emit(f"stablehlo.slice {x} [{', '.join(parts)}] : ({padded.mlir}) -> {out.mlir}")


def axis_passes(
    ctx: Any, hlo: str, x: str, type_: ArrayType, window: Window, fill: Any
) -> str | None:
    """A windowed reduction as one pass of slices an axis; None if the windows are too long."""
    steps = [a for a, w in enumerate(window.sizes) if w > 1 or window.strides[a] > 1]
    if any(_slices(window, a) > MOST_SLICES for a in steps):
        return None
    x, type_ = pad(ctx, x, type_, window, fill)
    ones = (1,) * type_.ndim
    for a in sorted(steps, key=lambda a: -window.strides[a]):

        def only(values: Sequence[int], axis: int = a) -> tuple[int, ...]:
            return ones[:axis] + (values[axis],) + ones[axis + 1 :]

        line = Window(
            only(window.sizes), only(window.strides), ((0, 0),) * type_.ndim, ones,
            only(window.window_dilation),
        )  # fmt: skip
        x, type_ = _one_axis(ctx, hlo, x, type_, line, a)
    return x


def _slices(window: Window, axis: int) -> int:
    """How many combinations one pass along an axis needs."""
    size, stride = window.sizes[axis], window.strides[axis]
    return 2 * size.bit_length() if _doubles(size, stride) else size


def _doubles(size: int, stride: int) -> bool:
    return size > 4 * stride


def _one_axis(
    ctx: Any, hlo: str, x: str, type_: ArrayType, line: Window, axis: int
) -> tuple[str, ArrayType]:
    out = array_type(line.out_shape(type_.shape), type_.dtype)
    size, stride, step = line.sizes[axis], line.strides[axis], line.window_dilation[axis]
    if not _doubles(size, stride):
        zero = [0] * type_.ndim
        total = ""
        for k in range(size):
            part = window_slice(ctx, x, type_, out, line, [*zero[:axis], k, *zero[axis + 1 :]])
            total = part if not k else ctx.emit(f"{hlo} {total}, {part} : {out.mlir}")
        return total, out
    # Windows of 1, 2, 4, ... elements, each from two of half the length; the binary digits of
    # `size` say which of them follow one another in the whole window.
    power, length, done, result = x, 1, 0, ""
    n = type_.shape[axis]
    while True:
        have = array_type(_resized(type_.shape, axis, n - (length - 1) * step), type_.dtype)
        if size & length:
            part = _every(ctx, power, have, out, axis, done * step, stride)
            result = part if not result else ctx.emit(f"{hlo} {result}, {part} : {out.mlir}")
            done += length
        if done == size:
            return result, out
        longer = array_type(_resized(type_.shape, axis, n - (2 * length - 1) * step), type_.dtype)
        halves = [_every(ctx, power, have, longer, axis, k * length * step, 1) for k in (0, 1)]
        power = ctx.emit(f"{hlo} {halves[0]}, {halves[1]} : {longer.mlir}")
        length *= 2


def _resized(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _every(
    ctx: Any, x: str, type_: ArrayType, out: ArrayType, axis: int, start: int, stride: int
) -> str:
    if type_.shape == out.shape:
        return x
    parts = [f"0:{n}:1" for n in type_.shape]
    parts[axis] = f"{start}:{start + (out.shape[axis] - 1) * stride + 1}:{stride}"
    return ctx.emit(f"stablehlo.slice {x} [{', '.join(parts)}] : ({type_.mlir}) -> {out.mlir}")


def window_size(window: Window) -> int:
    """Number of positions in the window."""
    return math.prod(window.sizes)
