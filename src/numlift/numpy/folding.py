"""The methods of universal functions: fold over axes, accumulate, fold over slices, update."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..core.integers import check_number
from ..core.tracing import type_of
from ..lax.loops import scan
from ..lax.sorting import associative_scan
from ..lax.while_loops import fori_loop
from ..runtime.array import Array
from .array_values import convert_to
from .creation import as_owned
from .filling import full
from .joining import concatenate
from .manipulation import broadcast_arrays, broadcast_to, moveaxis, ravel, reshape
from .ranges import arange
from .selection import where as choose
from .util import check_axis

Function = Callable[..., Any]


def first_axes(x: Any, axes: tuple[int, ...]) -> Any:
    """`x` with the folded axes joined into a first one."""
    kept = [i for i in range(x.ndim) if i not in axes]
    moved = x.transpose((*axes, *kept))
    return reshape(moved, (-1 if x.size else _product(x, axes), *(x.shape[i] for i in kept)))


def _product(x: Any, axes: tuple[int, ...]) -> int:
    n = 1
    for i in axes:
        n *= x.shape[i]
    return n


def fold(name: str, func: Function, rows: Any, start: Any, masks: Any, any_order: bool) -> Any:
    """Fold `func` along the first axis of `rows`, from `start` if there is one."""
    if start is None:
        if not rows.shape[0]:
            raise errors.ValueArgumentError(
                errors.explain(
                    f"{name}.reduce",
                    "an empty axis has no result for a function without identity",
                    {"array": type_of(rows)},
                    try_="initial=",
                )
            )
    row = rows[0] if rows.shape[0] else full(rows.shape[1:], 0, rows.dtype)
    settled = type_of(func(row, row)).dtype
    rows = convert_to(rows, settled)
    if start is not None:
        check_number(f"{name}.reduce", start, type_of(rows))
        start = broadcast_to(convert_to(as_owned(start), settled), rows.shape[1:])
    if any_order:
        return _fold_halves(func, rows, start, masks, settled)
    if start is None:
        start, rows = rows[0], rows[1:]

    def step(total: Any, row: Any) -> tuple[Any, None]:
        value, mask = row
        found = convert_to(func(total, value), settled)
        return (found if masks is None else choose(mask, found, total)), None

    return scan(step, start, (rows, masks))[0]


def _fold_halves(func: Function, rows: Any, start: Any, masks: Any, settled: Any) -> Any:
    """The fold of a function that may be applied in any order, as log2(n) steps on halves."""
    if masks is not None:
        rows = choose(masks, rows, start)
    while rows.shape[0] > 1:
        half = rows.shape[0] // 2
        pairs = convert_to(func(rows[:half], rows[half : 2 * half]), settled)
        rows = concatenate([pairs, rows[2 * half :]]) if rows.shape[0] % 2 else pairs
    if start is None:
        return rows[0]
    return convert_to(func(start, rows[0]), settled) if rows.shape[0] else start


def accumulate(func: Function, x: Any, axis: int, any_order: bool) -> Any:
    """All intermediate results of a fold along an axis."""
    rows = moveaxis(x, axis, 0)
    if not rows.shape[0]:
        return x
    settled = type_of(func(rows[0], rows[0])).dtype
    rows = convert_to(rows, settled)

    def combine(total: Any, row: Any) -> Any:
        return convert_to(func(total, row), settled)

    if any_order:
        return moveaxis(associative_scan(combine, rows), 0, axis)

    def step(total: Any, row: Any) -> tuple[Any, Any]:
        found = combine(total, row)
        return found, found

    results = scan(step, rows[0], rows[1:])[1]
    return moveaxis(concatenate([rows[:1], results]), 0, axis)


def reduceat(name: str, func: Function, x: Any, indices: Any, axis: int) -> Any:
    """Folds over slices of an axis: from each index up to the next one."""
    starts = _starts(name, indices, x.shape[axis])
    rows = moveaxis(x, axis, 0)
    n, tail = rows.shape[0], rows.shape[1:]
    row = rows[0] if n else full(tail, 0, rows.dtype)
    settled = type_of(func(row, row)).dtype
    if not starts.shape[0]:
        return moveaxis(full((0, *tail), 0, settled), 0, axis)
    rows = convert_to(rows, settled)
    stops = concatenate([starts[1:], as_owned([n], dtype=starts.dtype)])
    shape = (-1, *(1,) * len(tail))
    first, last = reshape(starts, shape), reshape(stops, shape)

    def step(total: Any, item: Any) -> tuple[Any, None]:
        j, row = item
        found = convert_to(func(total, row), settled)
        total = choose((first < j) & (j < last), found, total)
        return choose(first == j, broadcast_to(row, total.shape), total), None

    result, _ = scan(step, full((starts.shape[0], *tail), 0, settled), (arange(n), rows))
    return moveaxis(result, 0, axis)


def _starts(name: str, indices: Any, n: int) -> Any:
    starts = as_owned(indices, dtype=int if np.size(indices) == 0 else None)
    t = type_of(starts)
    if t.ndim != 1:
        raise errors.ValueArgumentError(
            errors.explain(f"{name}.reduceat", "indices must have one axis", {"indices": t})
        )
    if t.kind not in "iu":
        raise errors.DTypeError(
            errors.explain(f"{name}.reduceat", "indices must be integers", {"indices": t})
        )
    if isinstance(starts, Array):
        bad = [i for i in np.asarray(starts).tolist() if not 0 <= i < n]
        if bad:
            raise errors.IndexingError(
                errors.explain(f"{name}.reduceat", f"index {bad[0]} is out of range [0, {n})")
            )
    return starts


def check_one_axis(name: str, axis: Any, ndim: int) -> int:
    """The axis of `accumulate` and `reduceat`, which take no scalars and one axis."""
    if isinstance(axis, (tuple, list)):
        if len(axis) != 1:
            raise errors.ValueArgumentError(
                errors.explain(name, "does not allow multiple axes", {"axis": axis})
            )
        axis = axis[0]
    if axis is None:
        if ndim > 1:
            raise errors.ValueArgumentError(
                errors.explain(name, "does not allow multiple axes", {"axis": axis})
            )
        axis = 0
    if not ndim:
        raise errors.ArgumentError(
            errors.explain(name, "a scalar has no axis to go along", try_="np.atleast_1d(x)")
        )
    return check_axis(name, operator.index(axis), ndim)


def update_in_turn(func: Function, x: Any, indices: Any, b: Any) -> Any:
    """One element after the other; the index selects from the numbers of the elements."""
    places = reshape(arange(x.size), x.shape)[indices]
    where_, values = broadcast_arrays(places, as_owned(b))
    where_, values = ravel(where_), ravel(values)

    def step(i: Any, flat: Any) -> Any:
        at = where_[i]
        found = convert_to(func(flat[at], values[i]), flat.dtype)
        return flat.at[at].set(found)

    return reshape(fori_loop(0, where_.shape[0], step, ravel(x)), x.shape)
