"""What the rows of the table draw from: dtypes, shapes, values, axes, options.

Every new shape or dtype compiles programs, so both come from short lists; values come from a seed,
in flavours: small numbers, special floats (NaN, infinities, -0.0), and extremes of integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy
from hypothesis import strategies as st

SHAPES = ((3,), (2, 3), (), (0,), (1, 3), (2, 0, 3), (4, 1, 2))
PAIRS = (
    ((3,), (3,)), ((2, 3), (3,)), ((), (3,)), ((2, 3), (2, 3)), ((1, 3), (2, 3)), ((), ()),
    ((4, 1, 2), (1, 2)), ((0,), ()), ((2, 0, 3), (3,)), ((2, 3), (1, 3)),
)  # fmt: skip
MISFITS = (((2, 3), (2,)), ((3,), (0,)), ((2, 3), (4, 1, 2)))
NARROW = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
DTYPES = {
    False: {
        "b": ("bool",),
        "i": ("int32", "int32", "int8", "int64"),
        "u": ("uint8", "uint32"),
        "f": ("float32", "float32", "float32", "float64"),
        "c": ("complex64",),
    },
    True: {
        "b": ("bool",),
        "i": ("int64", "int64", "int32"),
        "u": ("uint8", "uint64"),
        "f": ("float64", "float64", "float32"),
        "c": ("complex128", "complex64"),
    },
}
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, -2.5, 3.0)


def narrow(name: str) -> Any:
    """The NumPy dtype, also of the types of ml_dtypes."""
    return numpy.dtype(getattr(ml_dtypes, name, name))


@dataclass
class Call:
    """Arguments of one call; NumPy arrays are its operands, all else is static."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        shown = [text(a) for a in self.args]
        shown += [f"{k}={text(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join(shown)})"


def text(x: Any) -> str:
    """An argument as it can be pasted into a script."""
    if isinstance(x, numpy.ndarray):
        return f"numpy.array({x.tolist()}, '{x.dtype}')" + (
            f".reshape({x.shape})" if x.size == 0 else ""
        )
    if isinstance(x, (list, tuple)):
        inner = ", ".join(map(text, x))
        return f"[{inner}]" if isinstance(x, list) else f"({inner},)"
    return repr(x)


def call(*args: Any, **kwargs: Any) -> Call:
    """The arguments of a call."""
    return Call(args, kwargs)


class Draw:
    """Draws the arguments of one call.

    Attributes:
        x64: whether 64-bit types are on.
        smooth: only valid calls, with float operands of 64 bits away from kinks and ties.
        narrow: "" or the one narrow float type of this call.
    """

    def __init__(self, draw: Callable[[Any], Any], x64: bool, smooth: bool = False) -> None:
        self.draw, self.x64, self.smooth = draw, x64, smooth
        self.narrow = "" if smooth or x64 or not self.chance(8) else self.pick(NARROW)
        self.arrays_drawn = 0

    # Choices.

    def pick(self, options: Sequence[Any]) -> Any:
        """One of the options; a failing example shrinks to the first."""
        return self.draw(st.sampled_from(list(options)))

    def chance(self, n: int) -> bool:
        """True once in n times."""
        return bool(self.draw(st.integers(0, n - 1)) == n - 1)

    def wrong(self, n: int = 12) -> bool:
        """Whether this call shall break a rule here."""
        return not self.smooth and self.chance(n)

    def flag(self) -> bool:
        """Yes or no."""
        return bool(self.draw(st.booleans()))

    def integer(self, low: int, high: int) -> int:
        """An integer in [low, high]."""
        return int(self.draw(st.integers(low, high)))

    def options(self, **values: Sequence[Any]) -> dict[str, Any]:
        """Each keyword in half of the calls, with one of its values."""
        return {k: self.pick(v) for k, v in values.items() if self.flag()}

    # Arrays.

    def shape(self, shapes: Sequence[Any] = SHAPES, rank: int = 0) -> tuple[int, ...]:
        """A shape of at least this rank."""
        return tuple(self.pick([s for s in shapes if len(s) >= rank]))

    def pair(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Two shapes that broadcast, rarely two that do not; in either order."""
        first, second = self.pick(MISFITS if self.wrong(16) else PAIRS)
        return (second, first) if self.chance(3) else (first, second)

    def dtype(self, kinds: str) -> str:
        """A dtype of one of these kinds; floats are likelier."""
        if self.smooth:
            for kind, name in (("f", "float64"), ("c", "complex128")):
                if kind in kinds and not (kind == "f" and "c" in kinds and self.chance(3)):
                    return name
        if self.narrow.startswith("float8") and "f" in kinds:
            return self.narrow  # never promoted implicitly
        if self.narrow and "f" in kinds:
            return str(self.pick((self.narrow, self.narrow, "float32")))
        kind = self.pick(("f" if "f" in kinds else "") + kinds)
        return str(self.pick(DTYPES[self.x64][kind]))

    def array(
        self,
        kinds: str = "fiubc",
        shape: tuple[int, ...] | None = None,
        low: float = -3.0,
        high: float = 3.0,
        dtype: str | None = None,
        special: bool = True,
    ) -> Any:
        """An array. `low` and `high` bound small values, `special` allows the others."""
        shape = self.shape() if shape is None else shape
        dtype = self.dtype(kinds) if dtype is None else dtype
        self.arrays_drawn += 1
        rng = numpy.random.default_rng(self.integer(0, 255))
        if self.smooth and narrow(dtype).kind in "fc":
            return self.spread(rng, shape, dtype, low, high)
        flavour = self.pick((0, 0, 1)) if special and dtype not in ("float64", "int64") else 0
        if special and self.x64:
            flavour = self.pick((0, 0, 1))
        values = (small, unusual)[flavour](rng, shape, narrow(dtype), low, high)
        return numpy.asarray(values).astype(narrow(dtype)).reshape(shape)

    def spread(self, rng: Any, shape: Any, dtype: str, low: float, high: float) -> Any:
        """Distinct values far from each other and from integers, also between arrays."""
        count = math.prod(shape)
        offset = (0.31 + 0.23 * self.arrays_drawn) % 1.0
        places = (rng.permutation(count) + offset) / max(count, 1)
        values = low + (0.02 + 0.95 * places) * (high - low) + 0.0137
        if narrow(dtype).kind == "c":
            values = values + 1j * rng.permutation(values)
        return numpy.asarray(values).astype(dtype).reshape(shape)

    def operands(self, kinds: str = "fiubc", **more: Any) -> tuple[Any, Any]:
        """Two arrays that broadcast, mostly of the same dtype; rarely a Python number."""
        first, second = self.pair()
        x = self.array(kinds, first, **more)
        if second == () and not self.smooth and self.chance(2):
            return x, self.pick([2, 1] if "f" not in kinds else [2, 0.5, 1])
        same = not self.chance(4) and x.dtype.kind in kinds
        y = self.array(kinds, second, dtype=x.dtype.name if same else None, **more)
        return x, y

    # Axes.

    def axis(self, x: Any) -> int:
        """One axis of x, rarely a wrong one."""
        rank = numpy.ndim(x)
        if self.wrong() or not rank:
            return self.pick([rank, -rank - 1]) if not self.smooth else 0
        return self.integer(-rank, rank - 1)

    def axes(self, x: Any) -> Any:
        """None, an axis or a tuple of axes, rarely repeated or wrong ones."""
        rank = numpy.ndim(x)
        how = self.integer(0, 3)
        if how == 0 or not rank:
            return None
        if how == 1:
            return self.axis(x)
        if self.wrong(6):
            return self.pick([(0, 0), (0, -rank), (rank,), (0, rank + 1)])
        chosen = [a for a in range(rank) if self.flag()]
        return tuple(a - rank if self.flag() else a for a in chosen)


def small(rng: Any, shape: Any, dtype: Any, low: float, high: float) -> Any:
    """Small numbers: binary fractions that every float type holds."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape)
    if dtype.kind in "iu":
        return rng.integers(max(0 if dtype.kind == "u" else -99, math.ceil(low)), high + 1, shape)
    values = rng.integers(math.ceil(low * 4), math.floor(high * 4) + 1, shape) / 4
    if dtype.kind == "c":
        return values + 1j * rng.permutation(values.ravel()).reshape(shape)
    return values


def unusual(rng: Any, shape: Any, dtype: Any, low: float, high: float) -> Any:
    """Extremes of integers; NaN, infinities and zeros of both signs among floats."""
    if dtype.kind in "iu":
        info = numpy.iinfo(dtype)
        values = [info.min, info.min + 1, 0, 1, info.max - 1, info.max]
        return numpy.array(values, dtype)[rng.integers(0, 6, shape)]
    if dtype.kind in "bc":
        return small(rng, shape, dtype, low, high)
    return numpy.array(SPECIAL)[rng.integers(0, len(SPECIAL), shape)]
