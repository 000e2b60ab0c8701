"""Evenly spaced numbers: arange, linspace, logspace, geomspace."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.dims import Dim, as_size, known, max_size
from ..core.dtypes import is_python_scalar, result_type_of, user_dtype
from ..core.tracing import EVAL, Tracer, Value, apply, current, type_of
from ..ops import compare
from ..ops import elementwise as ops
from ..ops import elementwise_binary as binary
from ..ops.elementwise_misc import OptimizationBarrier
from ..ops.shape import Iota
from ..runtime.transfer import as_array
from ..structural import arith
from ..structural.dim_value import size_as
from ..structural.families import move_batch
from .creation import placed, unused
from .host_made import host_made
from .host_values import need_no_zero
from .util import (
    as_value,
    broadcast_operands,
    broadcast_shape,
    broadcast_to_shape,
    check_axis,
    expand,
    to_inexact,
)

_HOST_LIMIT = 1 << 16


def _known(x: Any, argument: str) -> Any:
    """An argument of `arange` as a Python or NumPy number."""
    if isinstance(x, Tracer):
        value = x.concrete()
        if value is None:
            raise errors.ConcretizationTypeError(
                errors.explain(
                    "arange",
                    f"{argument} must be known while tracing: it sets the length of the result",
                    {argument: x.type},
                    try_="compute it from x.shape, mark it static_argnums in jit, or use "
                    "np.arange(n)[...] < stop as a mask",
                )
            )
        x = value
    if isinstance(x, (Value, np.ndarray)):
        x = np.asarray(x)
        if x.shape:
            raise errors.ValueArgumentError(
                errors.explain("arange", f"{argument} must be a number", {argument: x})
            )
        return x[()]
    if is_python_scalar(x) or isinstance(x, (np.generic, Dim)):
        return x
    raise errors.ArgumentError(
        errors.explain("arange", f"{argument} must be a number", {argument: x})
    )


@host_made
def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    like: None = None,
    out_sharding: Any = None,
) -> Any:
    """``start, start + step, start + 2 step, ...`` up to `stop`, which is not included.

    Element i is ``start + i * step``, computed in the dtype of the result.

    Args:
        start: first number; the end (from 0) if `stop` is not given.
        stop: the end, excluded.
        step: difference of neighbours, 1 by default; may be negative.
        dtype: dtype of the result; by default int32 for integers and float32 for floats (64 bits
            wide if x64 is on).
        device: device or `Sharding` to make it on.
        like: must be None.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array of shape ``(ceil((stop - start) / step),)``, empty if that is negative.

    Raises:
        ConcretizationTypeError: an argument is traced, so that the length is not known.
        ZeroStepError: `step` is 0.  ValueArgumentError: an argument is an array with axes or
        complex, or the length is not finite.  DTypeError: `dtype` is bool.

    Example:
        >>> import numlift.numpy as np
        >>> np.arange(2, 8, 3)
        Array([2, 5], dtype=int32)
        >>> np.arange(1.0, 0.0, -0.25)
        Array([1.  , 0.75, 0.5 , 0.25], dtype=float32)
    """
    unused("arange", None, like)
    if stop is None:
        start, stop = 0, start
    names = ("start", "stop", "step")
    given = [
        _known(x, name) for x, name in zip((start, stop, step), names, strict=True) if x is not None
    ]
    if dtype is None:
        wanted = result_type_of(tuple((type_of(x).dtype, type_of(x).weak_type) for x in given))[0]
    else:
        wanted = user_dtype(dtype, "arange", False)
    first, end, delta = given[0], given[1], given[2] if len(given) > 2 else 1
    if wanted.kind == "b":
        raise errors.DTypeError(
            errors.explain("arange", f"{wanted} numbers have no range", try_="dtype=int or float")
        )
    if not _exact(delta):
        raise errors.ZeroStepError(
            errors.explain("arange", "step is 0, so the end is never reached", try_="step=1")
        )
    if Dim in (type(first), type(end), type(delta)):
        length = _symbolic_length(first, end, delta)
    else:
        length = _length(_exact(first), _exact(end), _exact(delta))
    return placed(_range(length, first, delta, wanted), device, out_sharding)


def _length(first: Any, end: Any, delta: Any) -> int:
    if any(isinstance(x, (complex, np.complexfloating)) for x in (first, end, delta)):
        raise errors.ValueArgumentError(
            errors.explain(
                "arange",
                "complex numbers have no order, so start, stop and step must be real",
                {"start": first, "stop": end, "step": delta},
                try_="real arguments and dtype=complex",
            )
        )
    steps = (end - first) / delta
    if not math.isfinite(steps):
        raise errors.ValueArgumentError(
            errors.explain(
                "arange",
                "the length, (stop - start) / step, is not finite",
                {"start": first, "stop": end, "step": delta},
                try_="finite start and stop",
            )
        )
    return max(0, math.ceil(steps))


def _symbolic_length(first: Any, end: Any, delta: Any) -> Any:
    for name, x in (("start", first), ("stop", end), ("step", delta)):
        if not isinstance(x, (int, np.integer, Dim)):
            raise errors.ArgumentError(
                errors.explain(
                    "arange",
                    f"{name} must be an integer where another argument is a symbolic size",
                    {"start": first, "stop": end, "step": delta},
                    try_="np.arange(n) * step + start",
                )
            )
    if type(delta) is Dim:
        return max_size(0, -((first - end) // delta))
    return max_size(0, (end - first + delta - (1 if delta > 0 else -1)) // delta)


def _exact(x: Any) -> Any:
    return x.item() if isinstance(x, np.generic) and x.dtype.kind in "biuf" else x


def _range(length: int, first: Any, delta: Any, dtype: Any) -> Any:
    """first + i * delta for i < length."""
    if Dim in (type(length), type(first), type(delta)):
        values = apply(Iota.of(dtype, (length,), 0, None))
        if type(delta) is Dim or delta != 1:
            values = apply(arith.mul, values, size_as(delta, dtype))
        return values if first == 0 else apply(arith.add, values, size_as(first, dtype))
    first, delta = (np.asarray(_exact(x)).astype(dtype)[()] for x in (first, delta))
    if current.get() is EVAL and length <= _HOST_LIMIT:
        with np.errstate(all="ignore"):
            values = (np.arange(length).astype(dtype) * delta + first).astype(dtype)
        return as_array(values, dtype, explicit=True)
    values = apply(Iota.of(dtype, (length,), 0, None))
    if delta != 1:
        values = apply(arith.mul, values, delta)
    return values if first == 0 else apply(arith.add, values, first)


def _first_axis_to(x: Any, axis: int) -> Any:
    return move_batch(x, 0, axis)


def _count(num: Any, function: str) -> int:
    try:
        n = as_size(num)
    except TypeError:
        if isinstance(num, Tracer):
            raise errors.TracerIntegerConversionError(
                errors.explain(
                    function,
                    "num must be known while tracing, but it is a traced value",
                    {"num": num.type},
                    try_="compute it from x.shape, or mark the argument static_argnums in jit",
                )
            ) from None
        raise errors.ArgumentError(
            errors.explain(
                function, "num must be an int", {"num": num}, try_="int(num), if it is a number"
            )
        ) from None
    if n < 0:
        raise errors.ValueArgumentError(
            errors.explain(function, f"num, the number of samples, is negative: {n}")
        )
    return n


@host_made
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`.

    Sample i is ``start (1 - t) + stop t`` with ``t = i / (num - 1)``, or ``i / num`` without the
    end point. The first one is exactly `start`, and the last one exactly `stop`.

    Args:
        start: number or array where the samples start.
        stop: number or array where they end; broadcast with `start`.
        num: number of samples, known while tracing.
        endpoint: whether `stop` is the last sample.
        retstep: also return the difference of neighbours.
        dtype: dtype of the result, by default the floating one of the ends; integers are rounded
            down.
        axis: axis of the samples in the result.
        device: device or `Sharding` to put it on.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array of the broadcast shape with an axis of length `num` more; with `retstep` a pair with
        the step, an array of the broadcast shape (nan if there is none). Derivatives: 1 - t in
        `start`, t in `stop`.

    Raises:
        ArgumentError: `num` is no known int.  ValueArgumentError: it is negative.  ShapeError: the
        ends do not broadcast.

    Example:
        >>> import numlift.numpy as np
        >>> np.linspace(0, 1, 5)
        Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
        >>> np.linspace(np.zeros(2), np.asarray([1.0, 10.0]), 3, axis=-1)
        Array([[ 0. ,  0.5,  1. ],
               [ 0. ,  5. , 10. ]], dtype=float32)
    """
    n = _count(num, "linspace")
    wanted = None if dtype is None else user_dtype(dtype, "linspace", False)
    out, step = _linspace(start, stop, n, bool(endpoint), wanted, axis)
    out = placed(out, device, out_sharding)
    return (out, step) if retstep else out


def _ends(start: Any, stop: Any, function: str, dtype: Any) -> tuple[Any, Any]:
    """Both ends as float arrays of one shape; not weakly typed."""
    x, y = to_inexact(as_value(start, function, "start"), as_value(stop, function, "stop"))
    if dtype is not None and type_of(dtype.type(0)).inexact:
        wide = result_type_of(((type_of(x).dtype, type_of(x).weak_type), (dtype, False)))[0]
    else:
        wide = type_of(x).dtype
    x, y = arith.convert(x, wide), arith.convert(y, wide)
    shape = broadcast_shape(function, type_of(x).shape, type_of(y).shape)
    x, y = broadcast_operands(function, x, y)
    return broadcast_to_shape(x, shape), broadcast_to_shape(y, shape)


@library(2)
def _linspace(
    start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, axis: int
) -> tuple[Any, Any]:
    x, y = _ends(start, stop, "linspace", dtype)
    t = type_of(x)
    real = arith.real_dtype(t.dtype)
    axis = check_axis("linspace", axis, t.ndim + 1)
    div = num - 1 if endpoint else num
    if div > 0:
        step = apply(binary.div, apply(arith.sub, y, x), size_as(div, t.dtype))
    else:
        step = apply(arith.mul, apply(arith.sub, y, x), t.dtype.type(np.nan))
    samples = _spaced(x, y, num, div, endpoint, real)
    if dtype is not None:
        if dtype.kind in "iu" and t.kind == "f":
            samples = apply(ops.floor, samples)
        samples = arith.convert(samples, dtype)
    return _first_axis_to(samples, axis), step


def _spaced(x: Any, y: Any, num: int, div: int, endpoint: bool, real: Any) -> Any:
    """The samples along a new first axis."""
    t = type_of(x)
    shape = (num, *t.shape)
    i = apply(Iota.of(real, shape, 0, None))
    # Behind the barrier, XLA does not replace the division by an inexact multiplication.
    (count,) = apply(OptimizationBarrier.of(), size_as(max_size(div, 1), real))
    back = apply(arith.sub, count, i)
    x, y = (broadcast_to_shape(expand(v, (0,)), shape) for v in (x, y))
    part, rest = (arith.convert(apply(binary.div, k, count), t.dtype) for k in (i, back))
    mixed = apply(arith.add, apply(arith.mul, x, rest), apply(arith.mul, y, part))
    if t.kind == "f":
        # Divided last, whole numbers stay exact; unless that overflows.
        total = apply(arith.add, apply(arith.mul, x, back), apply(arith.mul, y, i))
        finite = apply(ops.is_finite, total)
        mixed = apply(arith.select, finite, mixed, apply(binary.div, total, count))
        mixed = apply(arith.select, apply(compare.eq, i, real.type(0)), mixed, x)
    if endpoint and known(num, 2) > 1:
        last = apply(compare.eq, i, size_as(div, real))
        mixed = apply(arith.select, last, mixed, y)
    return mixed


@explains
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers evenly spaced on a logarithmic scale: ``base ** linspace(start, stop, num)``.

    Args:
        start: exponent of the first number; number or array.
        stop: exponent of the last one; broadcast with `start`.
        num: number of samples, known while tracing.
        endpoint: whether ``base ** stop`` is the last sample.
        base: number, or array that broadcasts with `start` and `stop`.
        dtype: dtype of the result, by default the floating one of the ends; integers are truncated.
        axis: axis of the samples in the result.

    Returns:
        Array of the broadcast shape with an axis of length `num` more. Differentiable in both ends
        and the base.

    Raises:
        ArgumentError: `num` is no known int.  ValueArgumentError: it is negative.  ShapeError: the
        arguments do not broadcast.

    Example:
        >>> import numlift.numpy as np
        >>> np.logspace(0, 2, 3)
        Array([  1.,  10., 100.], dtype=float32)
        >>> np.logspace(0, 3, 4, base=np.asarray([2.0, 3.0])).shape
        (4, 2)
    """
    n = _count(num, "logspace")
    wanted = None if dtype is None else user_dtype(dtype, "logspace", False)
    return _logspace(start, stop, base, n, bool(endpoint), wanted, axis)


@library(3)
def _logspace(
    start: Any, stop: Any, base: Any, num: int, endpoint: bool, dtype: Any, axis: int
) -> Any:
    x, y = _ends(start, stop, "logspace", dtype)
    (b,) = to_inexact(as_value(base, "logspace", "base"))
    shape = broadcast_shape("logspace", type_of(x).shape, type_of(b).shape)
    x, y = broadcast_to_shape(x, shape), broadcast_to_shape(y, shape)
    axis = check_axis("logspace", axis, type_of(x).ndim + 1)
    real = arith.real_dtype(type_of(x).dtype)
    powers = _spaced(x, y, num, num - 1 if endpoint else num, endpoint, real)
    b = arith.convert(b, type_of(powers).dtype)
    if type_of(b).shape:
        b = broadcast_to_shape(b, type_of(powers).shape)
    out = apply(binary.pow_, b, powers)
    if dtype is not None:
        out = arith.convert(out, dtype)
    return _first_axis_to(out, axis)


@explains
def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers of a geometric progression: each is the one before times the same ratio.

    Sample i is ``start (stop / start)**t`` with t as in `linspace`; the ends are exact.

    Args:
        start: first number; number or array, not 0.
        stop: last number, of the same sign or complex; broadcast with `start`.
        num: number of samples, known while tracing.
        endpoint: whether `stop` is the last sample.
        dtype: dtype of the result, by default the floating one of the ends; integers are truncated,
            so a sample that is a whole number only up to rounding error may be one less.
        axis: axis of the samples in the result.

    Returns:
        Array of the broadcast shape with an axis of length `num` more; nan between ends that are 0
        or have different signs. Differentiable in both ends.

    Raises:
        ArgumentError: `num` is no known int.  ValueArgumentError: it is negative; an end that is a
        number, a list or a NumPy array is 0.  ShapeError: the ends do not broadcast.

    Differences from NumPy: a 0 in an array on a device or a traced one gives nan: to look at it
    would wait for the device.

    Example:
        >>> import numlift.numpy as np
        >>> np.geomspace(-1, -8, 4)
        Array([-1., -2., -4., -8.], dtype=float32)
    """
    n = _count(num, "geomspace")
    need_no_zero("geomspace", start=start, stop=stop)
    wanted = None if dtype is None else user_dtype(dtype, "geomspace", False)
    return _geomspace(start, stop, n, bool(endpoint), wanted, axis)


@library(2)
def _geomspace(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, axis: int) -> Any:
    x, y = _ends(start, stop, "geomspace", dtype)
    t = type_of(x)
    axis = check_axis("geomspace", axis, t.ndim + 1)
    # exp2 of whole numbers is exact, so powers of two stay powers of two
    ratio = apply(ops.log, apply(binary.div, y, x))
    ratio = apply(binary.div, ratio, t.dtype.type(math.log(2)))
    zero = apply(arith.mul, ratio, t.dtype.type(0))
    real = arith.real_dtype(t.dtype)
    powers = _spaced(zero, ratio, num, num - 1 if endpoint else num, endpoint, real)
    shape = type_of(powers).shape
    first, last = (broadcast_to_shape(expand(v, (0,)), shape) for v in (x, y))
    out = apply(arith.mul, first, apply(ops.exp2, powers))
    i = apply(Iota.of(np.dtype(np.int32), shape, 0, None))
    out = apply(arith.select, apply(compare.eq, i, np.int32(0)), out, first)
    if endpoint and num > 1:
        out = apply(arith.select, apply(compare.eq, i, np.int32(num - 1)), out, last)
    if dtype is not None:
        out = arith.convert(out, dtype)
    return _first_axis_to(out, axis)


__all__ = ["arange", "geomspace", "linspace", "logspace"]
