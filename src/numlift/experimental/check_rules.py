"""Checks that are made without being asked for: NaN, division by zero, indices out of bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import iinfo
from ..core.op import Op
from ..core.source import Source
from ..core.tracing import apply, type_of
from ..ops.compare import eq, gt, lt, ne
from ..ops.elementwise import IntegerPow
from ..ops.elementwise_binary import Div, Rem, or_
from ..ops.elementwise_misc import BitcastConvertType, OptimizationBarrier, StopGradient
from ..ops.gather import Gather
from ..ops.indices import ONE_HOT, gather_numbers
from ..ops.reductions import ArgMax, ReduceOr
from ..ops.resharding import Reshard
from ..ops.scatter import Scatter, ScatterApply
from ..ops.shape import Iota
from ..ops.slicing import DynamicSlice, DynamicUpdateSlice
from ..structural.arith import Convert, Select, add, select
from ..structural.families import Structural
from ..structural.shape import ReduceSum, reshape
from .check_errors import DivisionByZeroError, DivisionSite, IndexSite, NaNError, NaNSite, OOBError

Found = tuple[Any, Any, Sequence[Any]]
"""Site, whether it fails, values for its message."""

_MOVERS = (Select, Convert, BitcastConvertType, OptimizationBarrier, StopGradient, Reshard)
INT32 = np.dtype(np.int32)


def automatic_checks_of(
    op: Op,
    values: Sequence[Any],
    results: Sequence[Any],
    categories: frozenset[Any],
    source: Source | None,
) -> Iterator[Found]:
    """The checks of one application of an operation."""
    if OOBError in categories:
        yield from _index_check(op, values, source)
    if DivisionByZeroError in categories:
        divisor = _divisor(op, values)
        if divisor is not None and not _is_fine_number(divisor):
            zero = type_of(divisor).dtype.type(0)
            yield DivisionSite(source), any_of(apply(eq, divisor, zero)), []
    if NaNError in categories and makes_numbers(op):
        for x in results:
            if type_of(x).inexact and type_of(x).size:
                yield NaNSite(op.name, source), any_of(apply(ne, x, x)), []


def _divisor(op: Op, values: Sequence[Any]) -> Any:
    """What an operation divides by, or None."""
    if isinstance(op, (Div, Rem)):
        return values[1]
    return values[0] if isinstance(op, IntegerPow) and op.exponent < 0 else None


def _is_fine_number(x: Any) -> bool:
    """Whether a divisor is a number in the program that is not zero."""
    return isinstance(x, (bool, int, float, complex, np.generic)) and bool(x != 0)


def makes_numbers(op: Op) -> bool:
    """Whether an operation computes, and does not only move elements."""
    if isinstance(op, ReduceSum):
        return True
    return not isinstance(op, (Structural, *_MOVERS)) and not isinstance(
        op, (Scatter, DynamicUpdateSlice)
    )


def any_of(bools: Any) -> Any:
    """Whether any element is true."""
    n = type_of(bools).ndim
    return apply(ReduceOr.of(tuple(range(n))), bools) if n else bools


def _index_check(op: Op, values: Sequence[Any], source: Source | None) -> Iterator[Found]:
    if isinstance(op, Gather):
        if op.mode is ONE_HOT or op.asked:
            return
        numbers, sizes, indices = op.numbers, op.slice_sizes, values[1]
    elif isinstance(op, (Scatter, ScatterApply)):
        if op.mode is ONE_HOT or op.asked:
            return
        numbers, indices = gather_numbers(op.numbers), values[1]
        window = op.as_set() if isinstance(op, ScatterApply) else op
        sizes = window.window(type_of(values[0]), _updates_type(op, values))
    elif isinstance(op, (DynamicSlice, DynamicUpdateSlice)):
        yield from _start_checks(op, values, source)
        return
    else:
        return
    t, axes = type_of(indices), tuple(numbers.start_index_map)
    if not t.size or not axes:
        return
    shape = type_of(values[0]).shape
    extents = [shape[a] for a in axes]
    upper = [shape[a] - sizes[a] for a in axes]
    bad = outside(indices, extents, upper, op.wrap)
    place = apply(ArgMax.of(0, INT32), reshape(bad, (t.size,)))
    flat = reshape(indices, (t.size,))
    index = apply(DynamicSlice.of((1,), False, (0,)), flat, place)
    position = apply(Rem.of(), place, np.int32(len(axes)))
    yield IndexSite(shape, axes, source), any_of(bad), [index, position]


def _updates_type(op: Any, values: Sequence[Any]) -> Any:
    if len(values) > 2:
        return type_of(values[2])
    return type_of(values[0]).update(shape=op.update_shape)


def _start_checks(op: Any, values: Sequence[Any], source: Source | None) -> Iterator[Found]:
    """Start indices are scalars; an axis that is taken whole is checked, too."""
    x = type_of(values[0])
    if isinstance(op, DynamicSlice):
        sizes, starts = op.sizes, values[1:]
    else:
        sizes, starts = type_of(values[1]).shape, values[2:]
    for axis, start in enumerate(starts):
        n = x.shape[axis]
        if isinstance(start, (int, np.integer)) and 0 <= start <= n - sizes[axis]:
            continue
        bad = outside(start, [n], [n - sizes[axis]], op.wrap)
        yield IndexSite(x.shape, (axis,), source), bad, [start, np.int32(0)]


def outside(indices: Any, extents: list[int], upper: list[int], wrap: bool) -> Any:
    """Which entries of index vectors (in the last axis; or a scalar) are out of bounds."""
    t = type_of(indices)
    info = iinfo(t.dtype)
    extents = [min(n, info.max) for n in extents]
    limit = [min(n, info.max) for n in upper]
    bad = apply(gt, indices, _entries(limit, t))
    if t.kind == "u":
        return bad
    negative = apply(lt, indices, t.dtype.type(0))
    if not wrap:
        return apply(or_, bad, negative)
    from_end = apply(add, indices, _entries(extents, t))
    shifted = apply(select, negative, indices, from_end)
    bad = apply(gt, shifted, _entries(limit, t))
    return apply(or_, bad, apply(lt, shifted, t.dtype.type(0)))


def _entries(numbers: list[int], t: Any) -> Any:
    """A scalar, or an array like the indices with numbers[i] at entry i of each vector."""
    if len(set(numbers)) == 1:
        return t.dtype.type(numbers[0])
    place = apply(Iota.of(INT32, t.shape, t.ndim - 1, None))
    found: Any = t.dtype.type(numbers[-1])
    for i, n in enumerate(numbers[:-1]):
        here = apply(eq, place, INT32.type(i))
        found = apply(select, here, found, t.dtype.type(n))
    return found


__all__ = ["automatic_checks_of"]
