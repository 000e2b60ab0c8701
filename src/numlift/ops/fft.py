"""Discrete Fourier transforms of the last axes."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import complex_, complex_dtype, conj, mul, real, real_dtype
from ..structural.families import Structural, batch_first, check_kind
from ..structural.shape import broadcast
from .indices import ints, keep_if_divisible
from .shape import Pad


class FftType(enum.IntEnum):
    """FFT: forward, complex. IFFT: its inverse. RFFT: forward, of real numbers, without the
    redundant half. IRFFT: its inverse."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


class Fft(Structural):
    """Discrete Fourier transform of the last `len(lengths)` axes.

    Forward: X[k] = sum_j x[j] exp(-2 pi i j k / n); the inverse has the other sign and 1/n.
    """

    kind: FftType
    lengths: tuple[int, ...]

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        kind, lengths = self.kind, self.lengths
        check_kind(self, types, "f" if kind is FftType.RFFT else "c")
        wanted = ("f4", "f8") if kind is FftType.RFFT else ("c8", "c16")
        if x.dtype.str[1:] not in wanted:
            raise errors.DTypeError(
                errors.explain("fft", f"{kind.name} takes {' or '.join(wanted)}", {"x": x})
            )
        rank = len(lengths)
        shape = lengths if kind is not FftType.IRFFT else half(lengths)
        if not 1 <= rank <= 3 or x.shape[x.ndim - rank :] != shape:
            raise errors.ShapeError(
                errors.explain(
                    "fft",
                    f"{kind.name} of 1 to 3 lengths {lengths} needs the last axes {shape}",
                    {"x": x},
                )
            )
        dtype = {
            FftType.RFFT: complex_dtype,
            FftType.IRFFT: real_dtype,
        }.get(kind, lambda d: d)(x.dtype)
        sharding = None if x.sharding is None else self.shard(x)
        return array_type(self._shape(x), dtype, False, sharding)

    def _shape(self, x: ArrayType) -> tuple[int, ...]:
        out = half(self.lengths) if self.kind is FftType.RFFT else self.lengths
        return x.shape[: x.ndim - len(out)] + out

    def shard(self, *types: ArrayType) -> Any:
        (x,) = types
        return keep_if_divisible("fft", list(rules.spec_of(x)), x.shape, self._shape(x), x)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        kind, lengths = self.kind, self.lengths
        if kind is FftType.RFFT:
            full = self._widen(ct)
            return (apply(real, apply(Fft.of(FftType.FFT, lengths), full)),)
        if kind is FftType.IRFFT:
            found = apply(conj, apply(Fft.of(FftType.RFFT, lengths), ct))
            return (apply(mul, found, self._weights(type_of(found))),)
        return (apply(self, ct),)

    def _widen(self, ct: Any) -> Any:
        """The cotangent of a half spectrum, with zeros for the half that is left out."""
        t, n = type_of(ct), self.lengths[-1]
        config = ((0, 0, 0),) * (t.ndim - 1) + ((0, n - t.shape[-1], 0),)
        return apply(Pad.of(config), ct, t.dtype.type(0))

    def _weights(self, t: ArrayType) -> Any:
        """How often each entry of a half spectrum occurs in the whole one, over its size."""
        n = self.lengths[-1]
        count = np.full(t.shape[-1], 2.0)
        count[0] = 1
        if n % 2 == 0:
            count[-1] = 1
        weights = (count / math.prod(self.lengths)).astype(t.dtype)
        return broadcast(weights, t.shape, (t.ndim - 1,), t.sharding)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, batch_first(args[0], dims[0], size)), 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,), (out,) = types, outs
        if x.size == 0 or out.size == 0:
            return ctx.full(0, out)
        return ctx.emit(
            f"stablehlo.fft {operands[0]}, type = {self.kind.name}, "
            f"length = [{ints(self.lengths)}] : ({x.mlir}) -> {out.mlir}"
        )


def half(lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the spectrum of real numbers, without its redundant half."""
    return (*lengths[:-1], lengths[-1] // 2 + 1)


def as_complex(x: Any) -> Any:
    """A floating operand as a complex one."""
    t = type_of(x)
    return x if t.kind == "c" else apply(complex_, x, t.dtype.type(0))
