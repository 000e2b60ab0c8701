"""Sorting with NumPy, in the order of the operations `Sort` and `ArgSort`.

NumPy sorts plain numbers with vector instructions, several times faster than XLA's `std::sort`,
but neither stably nor with -0.0 before 0.0. So indices are sorted together with their keys, in one
64-bit integer each, as `ops.sort_lowering` does; and floats as integers where zeros have signs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..runtime.host_memory import aligned, aligned_copy

_U32, _U64, _I32 = np.dtype(np.uint32), np.dtype(np.uint64), np.dtype(np.int32)
_INTEGERS = {n: np.dtype(f"i{n}") for n in (2, 4, 8)}
_LEAST = {n: np.iinfo(t).min for n, t in _INTEGERS.items()}  # the bits of -0.0


def ordered(x: np.ndarray, axis: int) -> np.ndarray:
    """A copy of `x` in ascending order along an axis, NaN last, -0.0 before 0.0."""
    if x.dtype.kind == "c":
        order = permutation([x], axis)
        made = aligned(x.shape, x.dtype)
        made[...] = np.take_along_axis(x, order, axis)
        return made
    made = aligned_copy(x)
    if x.dtype.kind == "f" and (x.dtype.itemsize == 2 or has_negative_zero(made)):
        bits = _as_integers(made)
        bits.sort(axis=axis)
        _flip_negative(bits)
    else:
        made.sort(axis=axis)
    return made


def permutation(keys: Sequence[np.ndarray], axis: int) -> np.ndarray:
    """int32 indices that sort along an axis by the first key, then the second, ...; stable."""
    aside = axis not in (-1, keys[0].ndim - 1)
    if aside:
        keys = [np.moveaxis(key, axis, -1) for key in keys]
    words = [w for key in keys for w in _key_words(key)]
    n = words[0].shape[-1]
    place = np.arange(n, dtype=_U64)
    order: np.ndarray | None = None
    for word in reversed(words):
        if order is not None:
            word = np.take_along_axis(word, order, -1)
        packed = np.left_shift(word, _U64.type(32), dtype=_U64)
        packed |= place
        packed.sort(axis=-1)
        found = packed.astype(_I32)  # the low half
        order = found if order is None else np.take_along_axis(order, found, -1)
    assert order is not None
    return np.moveaxis(order, -1, axis) if aside else order


def different(x: np.ndarray, equal_nan: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """The different real elements of a vector in order, and how often each occurs.

    None if zeros have signs: which of them stands for both is a matter of places.
    """
    if x.dtype.kind == "f" and has_negative_zero(x):
        return None
    x = ordered(x, 0)
    starts = _starts(x, equal_nan)
    return x[starts], np.diff(starts, append=x.size)


def described(x: np.ndarray, equal_nan: bool) -> tuple[np.ndarray, ...]:
    """The different real elements of a vector, where each is first, inverse and counts."""
    order = permutation([x], 0)
    x = x[order]
    starts = _starts(x, equal_nan)
    first = np.zeros(x.size, np.int32)
    first[starts[1:]] = 1
    inverse = np.empty(x.size, np.int32)
    inverse[order] = np.cumsum(first, dtype=np.int32)
    return x[starts], order[starts], inverse, np.diff(starts, append=x.size)


def _starts(x: np.ndarray, equal_nan: bool) -> np.ndarray:
    """Where in an ordered vector a new element begins."""
    first = np.ones(x.size, np.bool_)
    np.not_equal(x[1:], x[:-1], out=first[1:])
    if equal_nan and x.dtype.kind == "f":
        numbers = x.size - np.count_nonzero(np.isnan(x))
        first[numbers + 1 :] = False
    return np.flatnonzero(first)


def _key_words(x: np.ndarray) -> list[np.ndarray]:
    """Unsigned 32-bit words, most significant first, that compare like the elements of `x`.

    NaNs are equal and greatest; -0.0 equals 0.0; complex numbers by real, then imaginary part.
    """
    kind = x.dtype.kind
    if kind == "c":
        return [*_key_words(x.real), *_key_words(x.imag)]
    if kind == "f":
        wide = np.dtype(np.float64 if x.dtype.itemsize == 8 else np.float32)
        x = _as_integers(np.add(x, wide.type(0), dtype=wide))  # 0.0 for -0.0
    elif kind == "i" and x.dtype.itemsize < 4:
        x = x.astype(_I32)
    if x.dtype.kind == "i":
        unsigned = np.dtype(f"u{x.dtype.itemsize}")
        x = np.ascontiguousarray(x).view(unsigned) ^ unsigned.type(1 << (8 * unsigned.itemsize - 1))
    if x.dtype.itemsize == 8:
        return [(x >> _U64.type(32)).astype(_U32), x.astype(_U32)]
    return [x.astype(_U32, copy=False)]


def has_nan(x: np.ndarray) -> bool:
    """Whether an element is NaN: the greatest then is."""
    return x.size > 0 and bool(np.isnan(x.max()))


def has_negative_zero(x: np.ndarray) -> bool:
    size = x.dtype.itemsize
    return x.size > 0 and bool(x.view(_INTEGERS[size]).min() == _LEAST[size])


def _as_integers(x: np.ndarray) -> np.ndarray:
    """The memory of floats, overwritten by signed integers of the same order; NaN is one."""
    if has_nan(x):
        x[np.isnan(x)] = np.nan
    bits = x.view(_INTEGERS[x.dtype.itemsize])
    _flip_negative(bits)
    return bits


def _flip_negative(bits: np.ndarray) -> None:
    """Bits of floats <-> signed integers of the same order, in place (its own inverse)."""
    dtype = bits.dtype
    sign = bits >> dtype.type(8 * dtype.itemsize - 1)
    sign &= ~_LEAST[dtype.itemsize]
    bits ^= sign


__all__ = ["described", "different", "has_nan", "has_negative_zero", "ordered", "permutation"]
