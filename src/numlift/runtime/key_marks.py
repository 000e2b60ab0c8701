"""Which random keys were used: marks of key arrays, kept while the flag debug_key_reuse is on.

Each element of a key array has a number, its identity. Arrays that hold the same key (a slice of a
slice, a copy) have the same number there. A number is in `used` after something consumed the key.
Marks are forgotten with the last array that has the number.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

_fresh = itertools.count(1)
_lock = threading.RLock()
_arrays: dict[int, tuple[weakref.ref[Any], np.ndarray]] = {}
_holders: dict[int, int] = {}
used: dict[int, str] = {}
"""Identity of a key -> where it was consumed."""


def fresh(shape: tuple[int, ...]) -> np.ndarray:
    """New identities for keys of this shape."""
    n = int(np.prod(shape, dtype=np.int64))
    with _lock:
        return np.fromiter(itertools.islice(_fresh, n), np.int64, n).reshape(shape)


def identities(x: Any) -> np.ndarray:
    """The identities of the elements of a key array."""
    known = _arrays.get(id(x))
    if known is None or known[0]() is not x:
        set_identities(x, fresh(x.shape))
        known = _arrays[id(x)]
    return known[1]


def set_identities(x: Any, found: np.ndarray) -> None:
    """Say which keys the elements of an array are."""
    place = id(x)

    def forget(dead: weakref.ref[Any]) -> None:
        with _lock:
            if place in _arrays and _arrays[place][0] is dead:
                del _arrays[place]
            _let_go(found)

    with _lock:
        for number in np.unique(found).tolist():
            _holders[number] = _holders.get(number, 0) + 1
        _arrays[place] = weakref.ref(x, forget), found


def _let_go(found: np.ndarray) -> None:
    for number in np.unique(found).tolist():
        _holders[number] -= 1
        if not _holders[number]:
            del _holders[number]
            used.pop(number, None)


def consume(uses: Iterable[tuple[int, str]]) -> None:
    """Remember uses of keys that some array still holds."""
    with _lock:
        used.update((number, where) for number, where in uses if number in _holders)


__all__ = ["consume", "fresh", "identities", "set_identities", "used"]
