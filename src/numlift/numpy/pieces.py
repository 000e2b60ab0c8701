"""Parts of arrays along one axis, and binary arithmetic with promotion and broadcasting.

The helpers that functions which move elements are written with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import as_size
from ..core.op import Op
from ..core.tracing import Tracer, Value, apply, type_of
from ..ops.gather import Gather
from ..ops.indices import GatherDimensionNumbers, GatherScatterMode
from ..ops.shape import Concatenate, Rev
from ..ops.slicing import Slice
from ..structural.shape import Broadcast, Reshape, Transpose
from .util import broadcast_operands, promote

_MOST_RUNS = 8


def static_shape(function: str, shape: Any, argument: str = "shape") -> tuple[int, ...]:
    """An int or a sequence of ints as a tuple of ints.

    Raises:
        ArgumentError: not an int or a sequence of ints.
    """
    try:
        if isinstance(shape, (tuple, list)):
            return tuple([as_size(n) for n in shape])
        if getattr(shape, "ndim", 0) == 1:
            return tuple([as_size(n) for n in shape])
        return (as_size(shape),)
    except TypeError:
        if isinstance(shape, Tracer) or (
            isinstance(shape, (tuple, list)) and any(isinstance(n, Tracer) for n in shape)
        ):
            raise errors.ConcretizationTypeError(
                errors.explain(
                    function,
                    f"{argument} must be known when the function is traced",
                    {argument: shape},
                    try_="static_argnums of jit, or x.shape instead of computed sizes",
                )
            ) from None
        raise errors.ArgumentError(
            errors.explain(
                function, f"{argument} must be an int or a sequence of ints", {argument: shape}
            )
        ) from None


def concrete_array(function: str, x: Any, argument: str, why: str) -> np.ndarray:
    """`x` as a NumPy array.

    Raises:
        ConcretizationTypeError: `x` is traced.
    """
    found = x.concrete() if isinstance(x, Tracer) else x
    if found is None or isinstance(found, Tracer):
        raise errors.ConcretizationTypeError(
            errors.explain(
                function,
                f"{argument} must be known when the function is traced, because {why}",
                {argument: x},
                try_="call it outside jit, or pass the value as a static argument",
            )
        )
    return np.asarray(found)


def part(x: Any, axis: int, start: int, stop: int, step: int = 1) -> Any:
    """``x[..., start:stop:step, ...]`` along `axis`, for 0 <= start <= stop <= size."""
    shape = type_of(x).shape
    if start == 0 and stop == shape[axis] and step == 1:
        return x
    starts, limits = [0] * len(shape), list(shape)
    starts[axis], limits[axis] = start, stop
    strides = None
    if step != 1:
        strides = tuple([step if i == axis else 1 for i in range(len(shape))])
    return apply(Slice.of(tuple(starts), tuple(limits), strides), x)


def reverse(x: Any, *axes: int) -> Any:
    """Elements in reverse order along axes."""
    return apply(Rev.of(axes), x)


def join(parts: Sequence[Any], axis: int) -> Any:
    """Arrays of one dtype after each other along `axis`."""
    return parts[0] if len(parts) == 1 else apply(Concatenate.of(axis), *parts)


def spread_axis(x: Any, axis: int, size: int) -> Any:
    """An axis of size 1 repeated `size` times."""
    shape = type_of(x).shape
    if shape[axis] == size:
        return x
    wide = (*shape[:axis], size, *shape[axis + 1 :])
    return apply(Broadcast.of(wide, tuple(range(len(shape))), None), x)


def reshape_to(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` under another shape; always an array."""
    if isinstance(x, Value) and type_of(x).shape == shape:
        return x
    return apply(Reshape.of(shape, None), x)


def permute(x: Any, order: Sequence[int]) -> Any:
    """Axes in another order; always an array."""
    order = tuple(order)
    if isinstance(x, Value) and order == tuple(range(len(order))):
        return x
    return apply(Transpose.of(order), x)


def moved(x: Any, source: int, target: int) -> Any:
    """`x` with one axis moved."""
    if source == target:
        return x
    order = [i for i in range(type_of(x).ndim) if i != source]
    order.insert(target, source)
    return apply(Transpose.of(tuple(order)), x)


def take(x: Any, indices: Any, axis: int, mode: Any = GatherScatterMode.PROMISE_IN_BOUNDS) -> Any:
    """Slices of `x` at a vector of non-negative indices along `axis`."""
    shape = type_of(x).shape
    count = type_of(indices).shape[0]
    numbers = GatherDimensionNumbers(
        tuple([i for i in range(len(shape)) if i != axis]), (axis,), (axis,)
    )
    sizes = (*shape[:axis], 1, *shape[axis + 1 :])
    column = apply(Reshape.of((count, 1), None), indices)
    return apply(Gather.of(numbers, sizes, mode), x, column)


def take_static(x: Any, indices: np.ndarray, axis: int) -> Any:
    """`take` for indices known now: a few slices if they consist of a few runs, else a gather."""
    n = type_of(x).shape[axis]
    if len(indices) == 0:
        return part(x, axis, 0, 0)
    found = _runs(indices)
    if found is None:
        return take(x, indices.astype(np.int32 if n < 2**31 else np.int64), axis)
    parts = []
    for start, step, count in found:
        if step == 0:
            parts.append(spread_axis(part(x, axis, start, start + 1), axis, count))
        elif step == 1:
            parts.append(part(x, axis, start, start + count))
        else:
            parts.append(reverse(part(x, axis, start - count + 1, start + 1), axis))
    return join(parts, axis)


def _runs(indices: np.ndarray) -> list[tuple[int, int, int]] | None:
    """(start, step, count) of runs with step 1, -1 or 0; None if there are many."""
    steps = np.diff(indices)
    runs: list[tuple[int, int, int]] = []
    i = 0
    while i < len(indices):
        if len(runs) == _MOST_RUNS:
            return None
        step = int(steps[i]) if i < len(steps) else 1
        if step not in (-1, 0, 1):
            runs.append((int(indices[i]), 1, 1))
            i += 1
            continue
        breaks = np.flatnonzero(steps[i:] != step)
        count = int(breaks[0]) + 1 if len(breaks) else len(indices) - i
        runs.append((int(indices[i]), step, count))
        i += count
    return runs


def binary(op: Op, function: str, x: Any, y: Any) -> Any:
    """An elementwise operation on two operands, promoted and broadcast."""
    return apply(op, *broadcast_operands(function, *promote(x, y)))
