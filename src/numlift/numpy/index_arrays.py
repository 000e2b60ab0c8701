"""Arrays of indices: their checks and dtypes, and how those along one axis are gathered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import Dim
from ..core.integers import check_integer, fits
from ..core.tracing import type_of
from ..structural.arith import convert
from .util import as_value

_WIDE = np.dtype(np.int64)


def integer_indices(function: str, indices: Any) -> Any:
    """Indices as an array or scalar of integers; bools become integers.

    Raises:
        DTypeError: not integers.  IntegerOverflowError: a Python int with more than 64 bits.
    """
    value = as_value(indices, function, "indices")
    t = type_of(value)
    if isinstance(value, np.ndarray) and not value.size and t.kind == "f":
        return value.astype(np.int32)
    if t.kind == "b":
        return convert(value, np.dtype(np.int32))
    if type(value) is int:
        if fits(value, t.dtype):
            return t.dtype.type(value)
        check_integer(function, value, _WIDE)
        return _WIDE.type(value)
    if t.kind not in "iu":
        raise errors.DTypeError(
            errors.explain(
                function,
                f"indices must be integers, not {t.dtype}",
                {"indices": t},
                try_="indices.astype(int)",
            )
        )
    return value


def extremes(indices: np.ndarray) -> tuple[int, int]:
    """The least and the greatest of an array of integers that is not empty."""
    if indices.size > 32:
        return int(indices.min()), int(indices.max())
    numbers = indices.ravel().tolist()  # faster than two reductions of a small array
    return min(numbers), max(numbers)


def check_known(function: str, indices: Any, size: Any, axis: int | None, try_: str) -> None:
    """Raise if an index that Python knows is out of bounds, as NumPy does.

    Those of arrays on devices and of traced values are not looked at.

    Raises:
        IndexingError: it is.
    """
    if not isinstance(indices, (np.ndarray, np.generic)) or not indices.size or type(size) is Dim:
        return
    for index in extremes(indices):
        if not -size <= index < size:
            where = "an array" if axis is None else f"axis {axis}"
            raise errors.IndexingError(
                errors.explain(
                    function,
                    f"index {index} is out of bounds for {where} with size {size}",
                    {"indices": type_of(indices)},
                    try_=try_,
                )
            )


def narrowed(indices: Any, size: Any, wrap: bool) -> Any:
    """Known indices with more bits than those of arrays; the others stay.

    What is out of bounds stays so, which casting to fewer bits would not ensure.

    Args:
        indices: from `integer_indices`.
        size: of the axis.
        wrap: whether indices are meant modulo the size.
    """
    if not isinstance(indices, (np.ndarray, np.generic)):
        return indices
    dtype = type_of(indices).dtype
    if dtype.itemsize >= indices.dtype.itemsize:
        return indices
    if wrap and type(size) is not Dim and size:
        return np.remainder(indices, indices.dtype.type(size)).astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(indices, limits.min, limits.max).astype(dtype)


def size_like(t: Any, size: int) -> Any:
    """A size as a number of the indices' dtype, or of int32 where it would not fit."""
    return t.dtype.type(size) if size <= np.iinfo(t.dtype).max else np.int32(size)


def without(shape: Sequence[int], axis: int) -> tuple[int, ...]:
    """A shape without one axis."""
    return (*shape[:axis], *shape[axis + 1 :])


def along_numbers(
    shape: Sequence[int], indices: Sequence[int], axis: int
) -> tuple[tuple[Any, ...], list[int], tuple[int, ...]]:
    """Dimension numbers for indices along one axis; the other axes go along or broadcast.

    Returns:
        The numbers, which axes of the indices stay as batch axes, and the window sizes.
    """
    offset, collapsed, kept, sizes = [], [axis], [], []
    operand_batch: list[int] = []
    index_batch: list[int] = []
    for d, (n, m) in enumerate(zip(shape, indices, strict=True)):
        if d == axis:
            kept.append(d)
            sizes.append(1)
        elif m == 1:  # the same indices for all: a window axis
            offset.append(d)
            sizes.append(n)
        else:
            sizes.append(1)
            if n == m:
                operand_batch.append(d)
                index_batch.append(len(kept))
            else:  # the operand has size 1 there
                collapsed.append(d)
            kept.append(d)
    numbers = (
        tuple(offset),
        tuple(sorted(collapsed)),
        (axis,),
        tuple(operand_batch),
        tuple(index_batch),
    )
    return numbers, kept, tuple(sizes)
