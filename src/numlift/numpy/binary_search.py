"""Binary search of many values in one sorted vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dim_bounds import LARGEST
from ..core.dims import known
from ..core.tracing import apply, type_of
from ..core.types import array_type
from ..ops.compare import le, lt, ne
from ..ops.elementwise_binary import and_, not_, or_
from ..ops.reductions import ReduceOr
from ..structural.arith import add, convert, imag, real, select
from ..structural.dim_value import size_as
from ..structural.shape import Broadcast, ReduceSum, full, reshape
from .pieces import take

_I32, _I64 = np.dtype(np.int32), np.dtype(np.int64)
FEW = 16
"""Vectors up to this length are compared with every value at once."""


def before(x: Any, y: Any, or_equal: bool) -> Any:
    """x < y (or x <= y) in the order of sorting: NaN last, complex by real, then imaginary."""
    kind = type_of(x).kind
    if kind == "c":
        first = before(apply(real, x), apply(real, y), False)
        after = before(apply(real, y), apply(real, x), False)
        second = before(apply(imag, x), apply(imag, y), or_equal)
        return apply(or_, first, apply(and_, apply(not_, after), second))
    less = apply(le if or_equal else lt, x, y)
    if kind != "f":
        return less
    y_nan = apply(ne, y, y)
    if or_equal:
        return apply(or_, less, y_nan)
    return apply(or_, less, apply(and_, y_nan, apply(not_, apply(ne, x, x))))


def insertion_points(a: Any, v: Any, side: str) -> Any:
    """Integers: where each element of `v` would enter the sorted vector `a` (of one dtype).

    "left": before equal elements, "right": behind them. About log2(n) steps for all of `v` at
    once; each is one gather, and XLA fuses them into one loop.
    """
    n, shape = type_of(a).shape[0], type_of(v).shape
    dtype = _I32 if known(n, 0) < 2**31 else _I64
    flat = reshape(v, (type_of(v).size,))
    count = type_of(flat).shape[0]
    if n == 0 or count == 0:
        return full(array_type(shape, dtype))
    after_equal = side == "right"
    if known(n, FEW + 1) <= FEW:
        grid = (count, n)
        rows, columns = apply(Broadcast.of(grid, (0,)), flat), apply(Broadcast.of(grid, (1,)), a)
        found = apply(ReduceSum.of((1,)), convert(before(columns, rows, after_equal), dtype))
        return reshape(found, shape)
    place = full(array_type((count,), dtype))
    # of a symbolic size only the largest is known
    step = 1 << (known(n, LARGEST).bit_length() - 1)
    while step:
        probe = apply(add, place, dtype.type(step))
        fits = apply(le, probe, size_as(n, dtype))
        index = apply(select, fits, dtype.type(0), apply(add, place, dtype.type(step - 1)))
        passed = apply(and_, before(take(a, index, 0), flat, after_equal), fits)
        place = apply(select, passed, place, probe)
        step >>= 1
    return reshape(place, shape)


def any_equal(x: Any, candidates: Any) -> Any:
    """Whether each element of `x` equals one of a short vector."""
    n, shape = type_of(candidates).shape[0], type_of(x).shape
    wide = (*shape, n)
    left = apply(Broadcast.of(wide, tuple(range(len(shape)))), x)
    right = apply(Broadcast.of(wide, (len(shape),)), candidates)
    same = apply(not_, apply(ne, left, right))
    return apply(ReduceOr.of((len(shape),)), same)
