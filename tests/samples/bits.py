"""Samples of operations on the bits of integers that have no NumPy function of the same name."""

from __future__ import annotations

from typing import Any

import numpy as np

from numlift import lax

from . import INTS, Sample


def integers(n: int) -> Any:
    """n arrays of integers of the whole range, with its ends."""

    def make(rng: Any, dtype: Any) -> tuple[np.ndarray, ...]:
        info = np.iinfo(dtype)
        ends = [info.min, info.max, 0, 1]
        return tuple(
            np.concatenate([rng.permutation(np.asarray(ends, dtype)), draw])
            for draw in rng.integers(info.min, info.max, (n, 4), dtype, endpoint=True)
        )

    return make


def leading_zeros(x: np.ndarray) -> np.ndarray:
    """Zero bits before the first one."""
    width = x.dtype.itemsize * 8
    return np.asarray([width - (int(v) % (1 << width)).bit_length() for v in x], x.dtype)


def high_product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Upper half of the exact product."""
    width = x.dtype.itemsize * 8
    return np.asarray([(int(a) * int(b)) >> width for a, b in zip(x, y, strict=True)], x.dtype)


SAMPLES: list[Sample] = [
    Sample("clz", lambda x: lax.clz(x), integers(1), leading_zeros, INTS),
    Sample("mulhi", lambda x, y: lax.mulhi(x, y), integers(2), high_product, INTS),
]
