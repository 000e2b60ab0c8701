"""Keys of caches: Python counts 0.0 as -0.0 and 1 as True and 1.0, programs do not."""

from __future__ import annotations

from typing import Any

import numpy as np

_EXACT = frozenset((int, bool, str, bytes, type(None)))


def exact(x: Any) -> Any:
    """What stands for `x` in the key of a cache: equal only for the same value of the same type.

    Looks into tuples. Values of other classes stand for themselves.

    Example:
        >>> exact((0.0, 1)) == exact((-0.0, 1)), exact((1,)) == exact((True,))
        (False, False)
        >>> exact(float("nan")) == exact(float("nan"))
        True
    """
    kind = x.__class__
    if kind in _EXACT:
        return kind, x
    if kind is float:
        return (kind, x) if x and x == x else (kind, repr(x))
    if kind is complex:
        return (kind, x) if x.real and x.imag and x == x else (kind, repr(x))
    if isinstance(x, tuple):
        return (kind, *[exact(y) for y in x])
    if isinstance(x, np.generic):
        return kind, x.tobytes()
    return kind, x


def is_ambiguous(x: Any) -> bool:
    """Whether Python finds `x` equal to another number, or not equal to itself."""
    kind = x.__class__
    if kind is float:
        return not x or x != x
    if kind is complex:
        return not (x.real and x.imag) or x != x
    if kind is tuple or kind is list:
        return any(map(is_ambiguous, x))
    return isinstance(x, np.inexact)


__all__ = ["exact", "is_ambiguous"]
