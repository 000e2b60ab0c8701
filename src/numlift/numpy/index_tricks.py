"""Arrays written with brackets: r_ and c_."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import type_of
from .joining import concatenate
from .pieces import permute, reshape_to
from .util import as_value

__all__ = ["c_", "r_"]


def _range(item: slice) -> np.ndarray:
    """The numbers of ``start:stop:step``; a step ``nj`` means n numbers including `stop`."""
    start = 0 if item.start is None else item.start
    step = 1 if item.step is None else item.step
    if item.stop is None:
        raise errors.ValueArgumentError(
            errors.explain("r_", "a slice needs an end: start:stop:step", {"slice": item})
        )
    if isinstance(step, complex):
        found = np.linspace(start, item.stop, int(abs(step)))
    else:
        found = np.arange(start, item.stop, step)
    return found.astype(type_of(found.dtype.type(0)).dtype)


class _Joiner:
    """Object whose brackets join arrays, numbers and ranges along an axis."""

    def __init__(self, name: str, axis: int, ndmin: int, first: int):
        self.name, self.axis, self.ndmin, self.first = name, axis, ndmin, first

    def __getitem__(self, key: Any) -> Any:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, first = self.axis, self.ndmin, self.first
        if items and isinstance(items[0], str):
            axis, ndmin, first = self._directive(items.pop(0))
        if not items:
            raise errors.ValueArgumentError(errors.explain(self.name, "there is nothing to join"))
        return concatenate([self._array(x, ndmin, first) for x in items], axis)

    def _directive(self, text: str) -> tuple[int, int, int]:
        """(axis, ndmin, first axis) from a string such as ``"0,2"`` or ``"0,2,1"``."""
        try:
            numbers = [int(x) for x in text.split(",")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise errors.ValueArgumentError(
                errors.explain(
                    self.name,
                    f"the directive {text!r} must be one to three integers",
                    try_='"axis,ndmin,first_axis"; matrices ("r", "c") are not supported',
                )
            )
        given = dict(zip(("axis", "ndmin", "first"), numbers, strict=False))
        return (
            given["axis"],
            given.get("ndmin", self.ndmin),
            given.get("first", self.first),
        )

    def _array(self, item: Any, ndmin: int, first: int) -> Any:
        if isinstance(item, str):
            raise errors.ValueArgumentError(
                errors.explain(self.name, "a directive must come first", {"item": item})
            )
        x = _range(item) if isinstance(item, slice) else as_value(item, self.name, "item")
        shape = type_of(x).shape
        rank = len(shape)
        ndmin = max(ndmin, 1)
        if rank >= ndmin:
            return reshape_to(x, shape)
        missing = ndmin - rank
        x = reshape_to(x, (1,) * missing + shape)
        if first == -1 or rank == 0:
            return x
        # The array's own axes start at `first`; the new ones of size 1 fill the other places.
        start = first + (missing + 1 if first < 0 else 0)
        axes = list(range(ndmin))
        return permute(x, axes[:start] + axes[missing:] + axes[start:missing])


r_ = _Joiner("r_", 0, 1, -1)
"""Join along the first axis: ``r_[0:3, 9, x]``; a string first gives axis, rank, first axis."""
c_ = _Joiner("c_", -1, 2, 0)
"""Join along the last axis, vectors as columns: ``c_[x, y]``."""
