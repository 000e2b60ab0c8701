"""Iteration over indices, elements and broadcast operands, as NumPy has it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .creation import asarray
from .manipulation import broadcast_arrays
from .util import broadcast_shape

ndindex = np.ndindex


class ndenumerate:
    """Iterator over pairs (index, element) of an array; elements are arrays of rank 0.

    Under a transformation each element is an operation of its own: prefer whole arrays.

    Args:
        arr: array, or nested lists.

    Example:
        >>> import numlift.numpy as np
        >>> [(i, int(x)) for i, x in np.ndenumerate(np.asarray([[1, 2]]))]
        [((0, 0), 1), ((0, 1), 2)]
    """

    def __init__(self, arr: Any):
        self._array = asarray(arr)
        self._indices = ndindex(*self._array.shape)

    def __next__(self) -> tuple[tuple[int, ...], Any]:
        index = next(self._indices)
        return index, self._array[index]

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], Any]]:
        return self


class broadcast:
    """What broadcasting operands gives: its shape, and an iterator over tuples of elements.

    Args:
        args: arrays, numbers or nested lists.

    Raises:
        ShapeError: they do not broadcast.

    Example:
        >>> import numlift.numpy as np
        >>> b = np.broadcast(np.ones((2, 1)), np.ones(3))
        >>> b.shape, b.size, b.nd
        ((2, 3), 6, 2)
    """

    def __init__(self, *args: Any):
        self._operands = [asarray(x) for x in args]
        shapes = [x.shape for x in self._operands]
        self.shape: tuple[int, ...] = (
            broadcast_shape("broadcast", *shapes, operands=self._operands) if shapes else ()
        )
        self.reset()

    @property
    def nd(self) -> int:
        """Number of axes."""
        return len(self.shape)

    ndim = nd

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def numiter(self) -> int:
        """Number of operands."""
        return len(self._operands)

    @property
    def index(self) -> int:
        """How many tuples were taken already."""
        return self._index

    @property
    def iters(self) -> tuple[Iterator[Any], ...]:
        """An iterator over each operand's broadcast elements."""
        return tuple(iter(x.ravel()) for x in broadcast_arrays(*self._operands))

    def reset(self) -> None:
        """Start again."""
        self._index = 0
        self._tuples: Iterator[Any] | None = None

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[Any, ...]:
        if self._tuples is None:
            self._tuples = zip(*self.iters, strict=True)
        found: tuple[Any, ...] = next(self._tuples)
        self._index += 1
        return found


__all__ = ["broadcast", "ndenumerate", "ndindex"]
