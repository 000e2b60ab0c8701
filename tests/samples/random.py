"""Samples of random bits from keys, given as words so that they can be batched."""

from __future__ import annotations

from typing import Any

import numpy as np

from numlift import random

from . import Sample

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def encrypt(key: np.ndarray, x0: Any, x1: Any) -> tuple[Any, Any]:
    """Threefry-2x32 with 20 rounds, as published."""
    with np.errstate(over="ignore"):
        keys = [key[0], key[1], key[0] ^ key[1] ^ np.uint32(0x1BD11BDA)]
        x0, x1 = x0 + keys[0], x1 + keys[1]
        for group in range(5):
            for r in ROTATIONS[group % 2]:
                x0 = x0 + x1
                x1 = (x1 << np.uint32(r) | x1 >> np.uint32(32 - r)) ^ x0
            x0 = x0 + keys[(group + 1) % 3]
            x1 = x1 + keys[(group + 2) % 3] + np.uint32(group + 1)
        return x0, x1


def counted(key: np.ndarray, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The two words of every element of an array."""
    index = np.arange(np.prod(shape, dtype=int), dtype=np.uint32).reshape(shape)
    return encrypt(key, np.zeros_like(index), index)


def bits(key: np.ndarray) -> np.ndarray:
    """32 random bits an element."""
    a, b = counted(key, (3, 4))
    return a ^ b


def words(rng: Any, dtype: Any) -> tuple[np.ndarray, ...]:
    """Words of a key."""
    return (rng.integers(0, 2**32, 2, dtype=np.uint32),)


def typed(function: Any) -> Any:
    """A function of a typed key as one of its words."""
    return lambda data: function(random.wrap_key_data(data))


SAMPLES = [
    Sample("random/bits", typed(lambda k: random.bits(k, (3, 4), "uint32")), words, bits,
           dtypes=("uint32",)),
    Sample("random/bits 8", typed(lambda k: random.bits(k, (3, 4), "uint8")), words,
           lambda w: bits(w).astype(np.uint8), dtypes=("uint32",)),
    Sample("random/split", typed(lambda k: random.key_data(random.split(k, 5))), words,
           lambda w: np.stack(counted(w, (5,)), -1), dtypes=("uint32",)),
    Sample("random/fold_in", typed(lambda k: random.key_data(random.fold_in(k, 7))), words,
           lambda w: np.stack(encrypt(w, np.uint32(0), np.uint32(7))), dtypes=("uint32",)),
    Sample("random/uniform", typed(lambda k: random.uniform(k, (3, 4), "float32")), words,
           lambda w: (bits(w) >> np.uint32(9)).astype(np.float32) / np.float32(2**23),
           dtypes=("uint32",)),
]  # fmt: skip
