"""interp and unwrap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.dim_bounds import LARGEST
from ..core.dims import known
from ..core.dtypes import result_type_of
from ..core.tracing import apply, type_of
from ..lax.slicing import slice_in_dim
from ..lax.sorting import sort
from ..ops import compare
from ..ops import elementwise as ops
from ..ops import elementwise_binary as binary
from ..ops.cumulative import CumSum
from ..ops.shape import Concatenate
from ..structural import arith
from ..structural.dim_value import size_as
from ..structural.shape import Broadcast, full, reshape
from .arithmetic import remainder
from .operands import not_for_complex, number_of
from .pieces import take
from .util import as_value, check_axis, promote, to_inexact


@explains
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Piecewise linear interpolation of points (xp, fp) at x.

    Args:
        x: where to evaluate.
        xp: increasing vector of abscissas (sorted here if `period` is given).
        fp: values at xp; may be complex.
        left, right: values outside xp; by default the first and last of fp. "extrapolate" goes on
            along the outermost segment.
        period: abscissas repeat with this period.

    Returns:
        Array with the shape of x. Derivatives flow to x, xp and fp; at a point of xp that of the
        segment to its right.

    Raises:
        ShapeError: xp and fp are no vectors of one length.  ValueArgumentError: period is 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.interp(1.5, np.asarray([1.0, 2.0]), np.asarray([10.0, 20.0]))
        Array(15., dtype=float32)
    """
    ends = []
    for name, value in (("left", left), ("right", right)):
        if isinstance(value, str) and value != "extrapolate":
            raise errors.ValueArgumentError(
                errors.explain("interp", f"{name} must be a number or 'extrapolate'", {name: value})
            )
        ends.append(value)
    if period is not None and isinstance(period, (int, float)) and period == 0:
        raise errors.ValueArgumentError(errors.explain("interp", "period must not be 0"))
    modes = tuple(e if e is None or isinstance(e, str) else "value" for e in ends)
    values = [e if m == "value" else 0 for e, m in zip(ends, modes, strict=True)]
    return _interp(x, xp, fp, *values, period, modes)


@library(6)
def _interp(
    x: Any, xp: Any, fp: Any, left: Any, right: Any, period: Any, modes: tuple[Any, Any]
) -> Any:
    x, xp = to_inexact(as_value(x, "interp", "x"), as_value(xp, "interp", "xp"))
    (fp,) = to_inexact(as_value(fp, "interp", "fp"))
    # Places between the points are as precise as the values.
    x, xp, _ = promote(x, xp, np.zeros((), np.zeros((), type_of(fp).dtype).real.dtype))
    if type_of(xp).shape != type_of(fp).shape or type_of(xp).ndim != 1 or not type_of(xp).size:
        raise errors.ShapeError(
            errors.explain(
                "interp",
                "xp and fp must be vectors of one length, with at least one element",
                {"xp": type_of(xp), "fp": type_of(fp)},
            )
        )
    for real in (x, 0 if period is None else as_value(period, "interp", "period")):
        if type_of(real).kind == "c":
            raise not_for_complex("interp", real)
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, period)
    shape = type_of(x).shape
    flat = reshape(x, (type_of(x).size,))
    return reshape(_segments(flat, xp, fp, left, right, modes, period is not None), shape)


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """x and xp folded into one period, xp sorted and one point added at either end."""
    period = arith.convert(as_value(period, "interp", "period"), type_of(xp).dtype)
    period = apply(ops.abs_, period)
    x, xp = remainder(x, period), remainder(xp, period)
    xp, fp = _sorted_by(xp, fp)
    n = type_of(xp).shape[0]
    first_x, last_x = slice_in_dim(xp, 0, 1), slice_in_dim(xp, n - 1, n)
    first_f, last_f = slice_in_dim(fp, 0, 1), slice_in_dim(fp, n - 1, n)
    joined = Concatenate.of(0)
    xp = apply(joined, apply(arith.sub, last_x, period), xp, apply(arith.add, first_x, period))
    return x, xp, apply(joined, last_f, fp, first_f)


def _sorted_by(xp: Any, fp: Any) -> tuple[Any, Any]:
    if type_of(fp).kind != "c":
        xp, fp = promote(xp, fp)
        pair = sort((xp, fp), num_keys=1)
        return pair[0], pair[1]
    xp, re, im = sort((xp, apply(arith.real, fp), apply(arith.imag, fp)), num_keys=1)
    return xp, apply(arith.complex_, re, im)


def _segments(
    x: Any, xp: Any, fp: Any, left: Any, right: Any, modes: tuple[Any, Any], periodic: bool
) -> Any:
    n, m = type_of(xp).shape[0], type_of(x).shape[0]
    dtype = result_type_of(tuple((type_of(v).dtype, False) for v in (x, fp)))[0]
    if n == 1:
        inner = apply(Broadcast.of((m,), (0,), None), arith.convert(fp, dtype))
    else:
        i = _place(x, xp, n)
        j = apply(arith.add, i, np.int32(1))
        x0, x1, f0, f1 = take(xp, i, 0), take(xp, j, 0), take(fp, i, 0), take(fp, j, 0)
        width = apply(arith.sub, x1, x0)
        zero, one = number_of(type_of(width))(0), number_of(type_of(width))(1)
        flat = apply(compare.eq, width, zero)
        part = apply(binary.div, apply(arith.sub, x, x0), apply(arith.select, flat, width, one))
        f0, f1, part = (arith.convert(v, dtype) for v in (f0, f1, part))
        inner = apply(arith.add, f0, apply(arith.mul, part, apply(arith.sub, f1, f0)))
        inner = apply(arith.select, flat, inner, f0)
    if periodic:
        return inner
    first, last = slice_in_dim(xp, 0, 1), slice_in_dim(xp, n - 1, n)
    for edge, end, at, value, mode in (
        (compare.lt, first, 0, left, modes[0]),
        (compare.gt, last, n - 1, right, modes[1]),
    ):
        if mode == "extrapolate":
            continue
        if mode is None:
            outside = reshape(slice_in_dim(fp, at, at + 1), ())
        else:
            outside = as_value(value, "interp", "left")
        outside = arith.convert(outside, dtype)
        inner = apply(arith.select, apply(edge, x, reshape(end, ())), inner, outside)
    return inner


def _place(x: Any, xp: Any, n: int) -> Any:
    """Number of the segment that each x lies in, from 0 to n - 2, by binary search."""
    place = full(type_of(x).update(dtype=np.dtype(np.int32), weak_type=False))
    # of a symbolic size only the largest is known
    step = 1 << (known(n, LARGEST) - 1).bit_length()
    last = size_as(n - 1, np.dtype(np.int32))
    while step > 1:
        step //= 2
        further = apply(arith.add, place, np.int32(step))
        inside = apply(compare.le, further, last)
        bound = take(xp, apply(binary.min_, further, last), 0)
        ahead = apply(binary.and_, inside, apply(compare.le, bound, x))
        place = apply(arith.select, ahead, place, further)
    return apply(binary.min_, place, size_as(n - 2, np.dtype(np.int32)))


def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * math.pi) -> Any:
    """Angles with jumps of more than half a period replaced by their complements.

    Args:
        p: array.
        discont: least jump that is replaced, by default (and at least) half a period.
        axis: axis to go along.
        period: size of the range that the values wrap around in.

    Returns:
        Array of the floating dtype of p (integers stay integers for an integer period).
        Derivative: 1.

    Example:
        >>> import numlift.numpy as np
        >>> np.unwrap(np.asarray([0.0, 3.0, 6.0, 9.0]) % (2 * np.pi))
        Array([0., 3., 6., 9.], dtype=float32)
    """
    return _unwrap(p, discont, axis, period)


@library(1)
def _unwrap(p: Any, discont: Any, axis: int, period: Any) -> Any:
    x = as_value(p, "unwrap", "p")
    t = type_of(x)
    if t.kind == "c":
        raise not_for_complex("unwrap", x)
    u = type_of(period)
    dtype = result_type_of(((t.dtype, t.weak_type), (u.dtype, u.weak_type)))[0]
    x = arith.convert(x, dtype)
    t = type_of(x)
    axis = check_axis("unwrap", axis, t.ndim)
    n = t.shape[axis]
    if n < 2:
        return x
    period = arith.convert(as_value(period, "unwrap", "period"), dtype)
    number = dtype.type
    gap = apply(arith.sub, slice_in_dim(x, 1, n, axis=axis), slice_in_dim(x, 0, n - 1, axis=axis))
    half = apply(binary.div, period, number(2))
    low = apply(arith.neg, half)
    folded = remainder(apply(arith.sub, gap, low), period)
    folded = apply(arith.add, folded, low)
    # a jump of exactly half a period keeps its sign
    edge = apply(binary.and_, apply(compare.eq, folded, low), apply(compare.gt, gap, number(0)))
    if t.kind != "f":
        even = apply(compare.eq, remainder(period, number(2)), number(0))
        edge = apply(binary.and_, edge, even)
    folded = apply(arith.select, edge, folded, half)
    fix = apply(arith.sub, folded, gap)
    limit = half
    if discont is not None:
        limit = arith.convert(as_value(discont, "unwrap", "discont"), dtype)
    small = apply(compare.lt, apply(ops.abs_, gap), limit)
    fix = apply(arith.select, small, fix, number(0))
    total = apply(CumSum.of(axis, False), fix)
    tail = apply(arith.add, slice_in_dim(x, 1, n, axis=axis), total)
    return apply(Concatenate.of(axis), slice_in_dim(x, 0, 1, axis=axis), tail)


__all__ = ["interp", "unwrap"]
