"""pad: arrays with a margin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.dims import Dim, as_size, max_size
from ..core.integers import check_number
from ..core.tracing import apply, type_of
from ..core.types import array_type
from ..lax.arguments import static_int
from ..ops.compare import ge
from ..ops.elementwise import round_even
from ..ops.elementwise_binary import div, max_, min_, rem
from ..ops.reductions import ReduceMax, ReduceMin
from ..ops.shape import Iota, Pad
from ..ops.sorting import Sort
from ..structural.arith import add, convert, mul, select, sub
from ..structural.dim_value import size_as
from ..structural.shape import ReduceSum, Reshape, full
from .functional import apply_along_axis
from .pieces import binary, concrete_array, join, part, reshape_to, spread_axis, take, take_static
from .util import as_value, to_inexact

Widths = tuple[tuple[int, int], ...]

_OPTIONS = {
    "constant": ("constant_values",),
    "linear_ramp": ("end_values",),
    "maximum": ("stat_length",),
    "minimum": ("stat_length",),
    "mean": ("stat_length",),
    "median": ("stat_length",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "edge": (),
    "wrap": (),
    "empty": (),
}


@explains
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """`array` with a margin before and after each axis.

    Args:
        array: array.
        pad_width: int, (before, after), one such pair for each axis, or a dict from axis to pair.
        mode: what the margin holds: "constant" (`constant_values`, default 0), "edge",
            "linear_ramp" (to `end_values`, default 0), "maximum", "minimum", "mean", "median" (of
            the `stat_length` nearest elements, default all), "reflect" and "symmetric"
            (`reflect_type` "even" or "odd"), "wrap", "empty" (zeros here), or a function
            ``f(vector, (before, after), axis, kwargs)`` that returns the filled vector.
        **kwargs: the options named above, each a value, a pair, or one pair for each axis.

    Returns:
        The padded array. Derivatives flow to every element that the margin was made from.

    Raises:
        ValueArgumentError: negative widths, an unknown mode, or an option of another mode.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.pad(np.array([1, 2, 3]), (1, 2), mode="reflect"))
        [2 1 2 3 2 1]
    """
    x = as_value(array, "pad", "array")
    ndim = type_of(x).ndim
    widths = _widths(pad_width, ndim)
    if callable(mode):
        return _pad_by_function(x, widths, mode, kwargs)
    if mode not in _OPTIONS:
        raise errors.ValueArgumentError(
            errors.explain("pad", f"mode must be one of {', '.join(_OPTIONS)}", {"mode": mode})
        )
    for name in kwargs:
        if name not in _OPTIONS[mode]:
            raise errors.ValueArgumentError(
                errors.explain("pad", f"mode {mode!r} has no option {name!r}")
            )
    if mode in ("constant", "empty"):
        values = kwargs.get("constant_values", 0)
        if type(values) is not int or values:
            _check_fits(values, type_of(x))
        return _pad_constant(x, values, widths)
    if mode == "linear_ramp":
        return _pad_ramp(x, kwargs.get("end_values", 0), widths)
    if mode in _STATISTICS:
        return _pad_statistic(x, widths, mode, _stat_length(kwargs.get("stat_length"), ndim))
    kind = kwargs.get("reflect_type", "even")
    if kind not in ("even", "odd"):
        raise errors.ValueArgumentError(
            errors.explain("pad", "reflect_type must be 'even' or 'odd'", {"reflect_type": kind})
        )
    return _pad_moved(x, widths, mode, kind == "odd")


def _widths(pad_width: Any, ndim: int) -> Widths:
    if isinstance(pad_width, dict):
        found: list[tuple[int, int]] = [(0, 0)] * ndim
        for axis, pair in pad_width.items():
            before, after = pair if isinstance(pair, (tuple, list)) else (pair, pair)
            found[static_int("pad", "axis", axis)] = (as_size(before), as_size(after))
        widths = tuple(found)
    else:
        widths = _pairs("pad_width", pad_width, ndim)
    if [n for pair in widths for n in pair if n < 0]:  # a generator is a call for each number
        raise errors.ValueArgumentError(
            errors.explain("pad", "widths must not be negative", {"pad_width": pad_width})
        )
    return widths


def _pairs(name: str, given: Any, ndim: int) -> Widths:
    """One (before, after) pair of ints for each axis."""
    if type(given) is int:
        return ((given, given),) * ndim
    if type(given) is tuple and len(given) == ndim and all(map(_is_pair, given)):
        return given
    why = "it gives the shape of the result"
    if _holds_symbols(given):
        sizes = np.broadcast_to(np.asarray(given, object), (ndim, 2))
        return tuple([(as_size(a), as_size(b)) for a, b in sizes])
    if isinstance(given, (tuple, list)):
        given = [
            [concrete_array("pad", y, name, why) for y in x]
            if isinstance(x, (tuple, list))
            else concrete_array("pad", x, name, why)
            for x in given
        ]
    try:
        found = np.asarray(concrete_array("pad", given, name, why))
        if found.dtype.kind not in "iu":
            raise errors.ArgumentError(
                errors.explain("pad", f"{name} must be integers", {name: given})
            )
        wide = np.broadcast_to(found, (ndim, 2))
    except ValueError:
        raise errors.ValueArgumentError(
            errors.explain(
                "pad", f"{name} must be a number, a pair, or {ndim} pairs", {name: given}
            )
        ) from None
    return tuple((int(a), int(b)) for a, b in wide)


def _is_pair(x: Any) -> bool:
    return type(x) is tuple and len(x) == 2 and type(x[0]) is int is type(x[1])


def _holds_symbols(given: Any) -> bool:
    if isinstance(given, (tuple, list)):
        return any(map(_holds_symbols, given))
    return type(given) is Dim


def _stat_length(given: Any, ndim: int) -> Widths | None:
    if given is None:
        return None
    lengths = _pairs("stat_length", given, ndim)
    if any(n < 1 for pair in lengths for n in pair):
        raise errors.ValueArgumentError(
            errors.explain("pad", "stat_length must be positive", {"stat_length": given})
        )
    return lengths


def _side_values(values: Any, ndim: int, name: str) -> list[tuple[Any, Any]]:
    """One (before, after) pair of scalars for each axis, from any nesting of values."""
    if not isinstance(values, (tuple, list)):
        t = type_of(values)
        if t.ndim == 0:
            return [(values, values)] * ndim
        rows = [reshape_to(part(values, 0, i, i + 1), t.shape[1:]) for i in range(t.shape[0])]
        return _side_values(rows, ndim, name)
    rows = [_row(v) for v in values]
    if all(len(r) == 1 for r in rows):
        if len(rows) in (1, 2):
            return [(rows[0][0], rows[-1][0])] * ndim
        if len(rows) == ndim:
            return [(r[0], r[0]) for r in rows]
    elif len(rows) in (1, ndim):
        pairs = [(r[0], r[-1]) for r in rows]
        return pairs * ndim if len(rows) == 1 else pairs
    raise errors.ValueArgumentError(
        errors.explain("pad", f"{name} must be a value, a pair, or {ndim} pairs", {name: values})
    )


def _check_fits(values: Any, t: Any) -> None:
    """Raise if a Python int does not fit: lists of numbers become arrays, which would wrap."""
    if isinstance(values, (tuple, list)):
        for v in values:
            _check_fits(v, t)
    else:
        check_number("pad", values, t)


def _row(v: Any) -> list[Any]:
    if isinstance(v, (tuple, list)):
        return list(v)
    t = type_of(v)
    if t.ndim == 0:
        return [v]
    return [reshape_to(part(v, 0, i, i + 1), ()) for i in range(t.shape[0])]


def _config(ndim: int, axis: int, before: int, after: int) -> tuple[tuple[int, int, int], ...]:
    return tuple((before, after, 0) if i == axis else (0, 0, 0) for i in range(ndim))


@library(arrays=2)
def _pad_constant(x: Any, values: Any, widths: Widths) -> Any:
    t = type_of(x)
    if t.kind == "k":
        raise errors.DTypeError(
            errors.explain(
                "pad",
                "no number can stand beside typed PRNG keys",
                {"array": t},
                try_='mode="edge" or "wrap", which repeat keys, or nl.numpy.concatenate',
            )
        )
    if not t.ndim:
        return reshape_to(x, ())
    sides = _side_values(values, t.ndim, "constant_values")
    pairs = [tuple(convert(v, t.dtype, t.weak_type) for v in pair) for pair in sides]
    if not isinstance(values, (tuple, list)) and type_of(values).ndim == 0:
        return apply(Pad.of(tuple((a, b, 0) for a, b in widths)), x, pairs[0][0])
    for i, ((a, b), (low, high)) in enumerate(zip(widths, pairs, strict=True)):
        x = apply(Pad.of(_config(t.ndim, i, a, 0)), x, low)
        x = apply(Pad.of(_config(t.ndim, i, 0, b)), x, high)
    return x


def _check_not_empty(n: int, axis: int) -> None:
    if n == 0:
        raise errors.ValueArgumentError(
            errors.explain(
                "pad", f"axis {axis} is empty, so there is nothing to fill a margin from"
            )
        )


@library(arrays=2)
def _pad_ramp(x: Any, ends: Any, widths: Widths) -> Any:
    pairs = _side_values(ends, type_of(x).ndim, "end_values")
    for i, ((a, b), (low, high)) in enumerate(zip(widths, pairs, strict=True)):
        n = type_of(x).shape[i]
        if a == b == 0:
            continue
        _check_not_empty(n, i)
        parts = [x]
        if a:
            parts.insert(0, _ramp(part(x, i, 0, 1), low, a, i, False))
        if b:
            parts.append(_ramp(part(x, i, n - 1, n), high, b, i, True))
        x = join(parts, i)
    return reshape_to(x, type_of(x).shape)


def _ramp(edge: Any, end: Any, width: int, axis: int, falling: bool) -> Any:
    """Values from `end` (included) to `edge` (excluded), or reversed."""
    t = type_of(edge)
    exact = t.kind in "iub"
    (e,) = to_inexact(edge) if not exact else (_widened(edge),)
    kind = type_of(e).dtype
    shape = (*t.shape[:axis], width, *t.shape[axis + 1 :])
    step = convert(
        apply(
            Iota.of(np.dtype("i4"), shape, axis, None),
        ),
        kind,
    )
    if falling:
        step = apply(sub, kind.type(width - 1), step)
    end, size = convert(end, kind), kind.type(width)
    rise = apply(mul, spread_axis(apply(sub, e, end), axis, width), step)
    if exact:
        # Rounded down, as NumPy does: what is left over is made positive first.
        left = apply(rem, apply(add, apply(rem, rise, size), size), size)
        part_of = apply(div, apply(sub, rise, left), size)
    else:
        part_of = apply(div, rise, size)
    return convert(apply(add, part_of, end), t.dtype, t.weak_type)


def _widened(x: Any) -> Any:
    """Integers with room for their products with small numbers."""
    wide = type_of(0).dtype
    return x if type_of(x).dtype.itemsize > wide.itemsize else convert(x, wide)


@library()
def _pad_statistic(x: Any, widths: Widths, mode: str, lengths: Widths | None) -> Any:
    statistic = _STATISTICS[mode]
    for i, (a, b) in enumerate(widths):
        n = type_of(x).shape[i]
        if a == b == 0:
            continue
        _check_not_empty(n, i)
        first, last = (n, n) if lengths is None else (min(k, n) for k in lengths[i])
        parts = [x]
        before = statistic(part(x, i, 0, first), i)
        if a:
            parts.insert(0, spread_axis(before, i, a))
        if b:
            after = before if first == last == n else statistic(part(x, i, n - last, n), i)
            parts.append(spread_axis(after, i, b))
        x = join(parts, i)
    return reshape_to(x, type_of(x).shape)


def _kept(x: Any, axis: int) -> Any:
    shape = type_of(x).shape
    return apply(Reshape.of((*shape[:axis], 1, *shape[axis:]), None), x)


def _maximum(x: Any, axis: int) -> Any:
    return _kept(apply(ReduceMax.of((axis,)), x), axis)


def _minimum(x: Any, axis: int) -> Any:
    return _kept(apply(ReduceMin.of((axis,)), x), axis)


def _rounded(mean: Any, like: Any) -> Any:
    """A mean in the dtype of what it is the mean of."""
    t = type_of(like)
    if t.kind in "iu":
        mean = apply(round_even, mean)
    return convert(mean, t.dtype, t.weak_type)


def _mean(x: Any, axis: int) -> Any:
    (y,) = to_inexact(x)
    total = apply(ReduceSum.of((axis,)), y)
    count = type_of(y).dtype.type(type_of(x).shape[axis])
    return _rounded(_kept(apply(div, total, count), axis), x)


def _median(x: Any, axis: int) -> Any:
    n = type_of(x).shape[axis]
    (y,) = apply(Sort.of(axis, 1), x)
    (y,) = to_inexact(y)
    low, high = part(y, axis, (n - 1) // 2, (n - 1) // 2 + 1), part(y, axis, n // 2, n // 2 + 1)
    return _rounded(apply(mul, apply(add, low, high), type_of(y).dtype.type(0.5)), x)


_STATISTICS: dict[str, Callable[[Any, int], Any]] = {
    "maximum": _maximum,
    "minimum": _minimum,
    "mean": _mean,
    "median": _median,
}


@library()
def _pad_moved(x: Any, widths: Widths, mode: str, odd: bool) -> Any:
    """Modes whose margins are elements of the array, at known places."""
    for i, (a, b) in enumerate(widths):
        n = type_of(x).shape[i]
        if a == b == 0:
            continue
        _check_not_empty(n, i)
        if Dim in (type(n), type(a), type(b)):
            x = take(x, _symbolic_places(n, a, b, mode, odd), i)
            continue
        if mode == "edge" or (n == 1 and mode == "reflect"):
            x = take_static(x, np.clip(np.arange(-a, n + b), 0, n - 1), i)
        elif mode == "wrap":
            x = take_static(x, np.arange(-a, n + b) % n, i)
        else:
            x = _reflected(x, a, b, i, mode == "symmetric", odd)
    return reshape_to(x, type_of(x).shape)


def _symbolic_places(n: Any, before: Any, after: Any, mode: str, odd: bool) -> Any:
    """Which elements an axis of symbolic size and its margins hold."""
    if odd and mode in ("reflect", "symmetric"):
        raise errors.InconclusiveDimensionOperation(
            errors.explain(
                "pad", f"an odd reflection needs a number for the size of the axis, not {n}",
                try_='reflect_type="even"',
            )
        )  # fmt: skip
    place = apply(Iota.of(_INDEX, (n + before + after,), 0, None))
    place = apply(sub, place, size_as(before, _INDEX))
    if mode == "edge":
        last = size_as(n - 1, _INDEX)
        return apply(max_, apply(min_, place, last), _INDEX.type(0))
    if mode == "wrap":
        return _modulo(place, n)
    symmetric = mode == "symmetric"
    period = 2 * n if symmetric else max_size(2 * (n - 1), 1)
    phase = _modulo(place, period)
    back = apply(sub, size_as(period - symmetric, _INDEX), phase)
    return apply(select, apply(ge, phase, size_as(n, _INDEX)), phase, back)


_INDEX = np.dtype(np.int32)


def _modulo(place: Any, n: Any) -> Any:
    """The rest in [0, n) of a division by n > 0."""
    size = size_as(n, _INDEX)
    return apply(rem, apply(add, apply(rem, place, size), size), size)


def _reflected(x: Any, before: int, after: int, axis: int, symmetric: bool, odd: bool) -> Any:
    """Reflection at the edge elements, or (symmetric) at the borders beside them.

    An odd reflection f(-k) = 2 f(0) - f(k) at both ends makes f grow by 2 (last - first) with
    each period; so every element of the margin is a sum of three elements.
    """
    n = type_of(x).shape[axis]
    period = 2 * n if symmetric else 2 * (n - 1)
    k = np.arange(-before, n + after)
    phase = k % period
    back = phase >= n
    index = np.where(back, period - phase - (1 if symmetric else 0), phase)
    out = take_static(x, index, axis)
    if not odd:
        return out
    cycle = (k - phase) // period
    dtype = type_of(x).dtype
    shape = [1] * type_of(x).ndim
    shape[axis] = len(k)
    sign, last, first = (
        np.asarray(v).astype(dtype).reshape(shape)
        for v in (np.where(back, -1, 1), 2 * cycle + 2 * back, -2 * cycle)
    )
    out = binary(mul, "pad", out, sign)
    out = binary(add, "pad", out, binary(mul, "pad", part(x, axis, n - 1, n), last))
    return binary(add, "pad", out, binary(mul, "pad", part(x, axis, 0, 1), first))


def _pad_by_function(
    x: Any, widths: Widths, function: Callable[..., Any], kwargs: dict[str, Any]
) -> Any:
    t = type_of(x)
    zero = full(array_type((), t.dtype))
    out = _pad_constant(x, zero, widths)
    for i, pair in enumerate(widths):
        out = apply_along_axis(function, i, out, pair, i, kwargs)
    return out


__all__ = [
    "pad",
]
