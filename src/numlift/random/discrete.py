"""Integers, coin flips, permutations and choices."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from .. import errors, lax
from ..api.library import library
from ..core.dims import Dim
from ..core.dtypes import python_scalar_dtype
from ..core.tracing import type_of
from ..core.types import dtype_kind
from ..lax.arguments import axis_in_range
from ..numpy.util import as_value, broadcast_shape
from ..structural.dim_value import dim_value
from .common import (
    as_shape,
    float_dtype,
    int_dtype,
    joint_shape,
    parameter,
    refuse_sharding,
    spread,
)
from .continuous import standard_gumbel
from .keys import check_key
from .uniform import between, draw_bits, keys_of, two_units, unit


def randint(
    key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Integers uniform in [minval, maxval).

    Args:
        key: a random key.
        shape: shape of the result.
        minval, maxval: ends, integers or arrays that broadcast to `shape`; clamped to the range of
            the dtype. Where maxval <= minval the result is minval.
        dtype: integer dtype; default int32 (int64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`.

    Raises:
        DTypeError: `dtype` is not an integer dtype.

    Differences from NumPy: a tiny bias is left if the number of values is no power of two (two
    words are drawn a number, so it is below 2**-32).

    Example:
        >>> from numlift.random import randint
        >>> from numlift import random
        >>> x = randint(random.key(0), (100,), 0, 6)
        >>> int(x.min()) >= 0 and int(x.max()) <= 5
        True
    """
    function = "random.randint"
    dtype = int_dtype(function, dtype)
    low, _ = _bound(function, "minval", minval, dtype)
    high, above = _bound(function, "maxval", maxval, dtype)
    shape = joint_shape(function, shape, minval=low, maxval=high)
    return _randint(key, low, high, above, shape, dtype, out_sharding)


def _bound(function: str, name: str, x: Any, dtype: Any) -> tuple[Any, Any]:
    """An end clamped to the dtype's range, and whether it lay above."""
    info = ml_dtypes.iinfo(dtype)
    if isinstance(x, (int, float)):
        number = int(x)
        return dtype.type(min(max(number, info.min), info.max)), number > info.max
    value = as_value(x, function, name)
    t = type_of(value)
    if t.kind not in "biuf":
        raise errors.DTypeError(
            errors.explain(function, f"{name} must be an integer, not {t.dtype}", {name: t},
                           try_=f"{name}.astype(int)")
        )  # fmt: skip
    if t.kind not in "iu":
        value = lax.convert_element_type(value, python_scalar_dtype(int))
        t = type_of(value)
    own = ml_dtypes.iinfo(t.dtype)
    above: Any = False
    if own.max > info.max:
        top = t.dtype.type(info.max)
        above, value = lax.gt(value, top), lax.min(value, top)
    if own.min < info.min:
        value = lax.max(value, t.dtype.type(info.min))
    return lax.convert_element_type(value, dtype), above


@library(4)
def _randint(
    key: Any, low: Any, high: Any, above: Any, shape: tuple[int, ...], dtype: Any, sharding: Any
) -> Any:
    typed, _ = check_key("random.randint", key)
    return integers(
        typed, spread(low, shape), spread(high, shape), spread(above, shape), shape, dtype, sharding
    )


def integers(
    key: Any, low: Any, high: Any, above: Any, shape: tuple[int, ...], dtype: Any,
    sharding: Any = None,
) -> Any:  # fmt: skip
    """Uniform integers from two words each: (first * 2**bits + second) modulo the span."""
    width = max(ml_dtypes.iinfo(dtype).bits, 32)
    word = np.dtype(f"uint{width}")
    first, second = keys_of(key, 2)
    upper = draw_bits(first, shape, width, sharding)
    lower = draw_bits(second, shape, width, sharding)
    signed = np.dtype(f"{'u' if dtype_kind(dtype) == 'u' else ''}int{width}")
    low, high = (lax.convert_element_type(v, signed) for v in (low, high))
    some = lax.gt(high, low)
    span = lax.convert_element_type(lax.sub(high, low), word)
    extra = lax.convert_element_type(lax.bitwise_and(above, some), word)
    span = lax.select_n(some, word.type(1), lax.add(span, extra))
    factor = lax.rem(word.type(2 ** (width // 2)), span)
    factor = lax.rem(lax.mul(factor, factor), span)
    offset = lax.add(lax.mul(lax.rem(upper, span), factor), lax.rem(lower, span))
    offset = lax.convert_element_type(lax.rem(offset, span), signed)
    return lax.convert_element_type(lax.add(low, offset), dtype)


def bernoulli(
    key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", *, out_sharding: Any = None
) -> Any:
    """True with probability p.

    Args:
        key: a random key.
        p: probability of True, floating.
        shape: shape of the result; default that of `p`.
        mode: ``"low"`` compares one uniform number, so probabilities below the dtype's epsilon
            are off; ``"high"`` draws twice the bits.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Bool array of `shape`.

    Raises:
        DTypeError: `p` is not floating.

    Example:
        >>> from numlift.random import bernoulli
        >>> from numlift import random
        >>> bernoulli(random.key(0), 0.5, (3,)).dtype
        dtype('bool')
    """
    function = "random.bernoulli"
    check_mode(function, mode)
    p = as_value(p, function, "p")
    t = type_of(p)
    if t.kind != "f":
        raise errors.DTypeError(
            errors.explain(function, f"p must be floating, not {t.dtype}", {"p": t},
                           try_="p=float(p)")
        )  # fmt: skip
    return _bernoulli(key, p, joint_shape(function, shape, p=p), mode, out_sharding)


def check_mode(function: str, mode: Any) -> None:
    """Raise unless mode is "low" or "high"."""
    if mode not in ("low", "high"):
        raise errors.ValueArgumentError(
            errors.explain(function, f"mode must be 'low' or 'high', not {mode!r}", {"mode": mode},
                           try_="mode='low'")
        )  # fmt: skip


@library(2)
def _bernoulli(key: Any, p: Any, shape: tuple[int, ...], mode: str, sharding: Any) -> Any:
    typed, _ = check_key("random.bernoulli", key)
    dtype = type_of(p).dtype
    p = spread(parameter("random.bernoulli", "p", p, dtype), shape)
    if mode == "low":
        return lax.lt(unit(typed, shape, dtype, sharding), p)
    # U = u + eps * v with two draws; U < p is decided as eps * v < p - u, without rounding U.
    u, v = two_units(typed, shape, dtype)
    eps = dtype.type(ml_dtypes.finfo(dtype).eps)
    return lax.lt(lax.mul(v, eps), lax.sub(p, u))


@library(1)
def rademacher(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """-1 or 1 with equal probability.

    Args:
        key: a random key.
        shape: shape of the result.
        dtype: integer or floating dtype; default int32 (int64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`; the mean is 0, the variance 1.

    Example:
        >>> from numlift.random import rademacher
        >>> from numlift import random
        >>> int(abs(rademacher(random.key(0), (4,))).sum())
        4
    """
    function = "random.rademacher"
    typed, _ = check_key(function, key)
    dtype = int_dtype(function, dtype, "iufc")
    u = unit(typed, as_shape(function, shape), python_scalar_dtype(float), out_sharding)
    heads = lax.lt(u, u.dtype.type(0.5))
    return lax.select_n(heads, dtype.type(-1), dtype.type(1))


@library(2)
def geometric(
    key: Any, p: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Number of trials until the first success: P(k) = (1 - p)**(k - 1) p, k >= 1.

    Args:
        key: a random key.
        p: probability of success, in (0, 1].
        shape: shape of the result; default that of `p`.
        dtype: integer dtype; default int32 (int64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`, at least 1; the mean is 1 / p.

    Example:
        >>> from numlift.random import geometric
        >>> from numlift import random
        >>> int(geometric(random.key(0), 1.0))
        1
    """
    function = "random.geometric"
    typed, _ = check_key(function, key)
    dtype = int_dtype(function, dtype)
    real = python_scalar_dtype(float)
    p = parameter(function, "p", p, real)
    shape = joint_shape(function, shape, p=p)
    tiny = real.type(np.finfo(real).tiny)
    u = between(typed, shape, real, tiny, real.type(1), out_sharding)
    trials = lax.floor(lax.div(lax.log(u), spread(lax.log1p(lax.neg(p)), shape)))
    return lax.convert_element_type(lax.add(trials, real.type(1)), dtype)


def permutation(
    key: Any, x: Any, axis: int = 0, independent: bool = False, *, out_sharding: Any = None
) -> Any:
    """The slices of an array along an axis in random order.

    Args:
        key: a random key.
        x: an array, or an int n for the numbers 0 to n - 1.
        axis: axis to permute.
        independent: permute every vector along the axis on its own.
        out_sharding: must be None.

    Returns:
        Array of the shape and dtype of `x`, or int32 (x64: int64) of shape (n,).

    Raises:
        AxisError: axis out of range.  ShapeError: a negative int.
        DTypeError: a scalar that is no integer.

    Differences from NumPy: `independent`.

    Example:
        >>> from numlift.random import permutation
        >>> from numlift import random
        >>> sorted(permutation(random.key(0), 4).tolist())
        [0, 1, 2, 3]
    """
    function = "random.permutation"
    refuse_sharding(function, out_sharding)
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        if x < 0:
            raise errors.ShapeError(
                errors.explain(function, "n must not be negative", {"x": x}, try_="a positive n")
            )
        return _numbers(key, int(x))
    if type(x) is Dim:
        return _numbers(key, x)
    value = as_value(x, function, "x")
    t = type_of(value)
    if not t.ndim:
        if t.kind not in "iu":
            raise errors.DTypeError(
                errors.explain(function, "x must be an array or an int", {"x": t},
                               try_="random.permutation(key, 10)")
            )  # fmt: skip
        return _numbers(key, int(value))
    axis = axis_in_range(function, axis, t.ndim)
    return _permutation(key, value, axis, bool(independent))


@library(1)
def _numbers(key: Any, n: int) -> Any:
    typed, _ = check_key("random.permutation", key)
    return shuffle(typed, lax.iota(python_scalar_dtype(int), n), 0)


@library(2)
def _permutation(key: Any, x: Any, axis: int, independent: bool) -> Any:
    typed, _ = check_key("random.permutation", key)
    t = type_of(x)
    if independent or t.ndim == 1:
        return shuffle(typed, x, axis)
    order = shuffle(typed, lax.iota(python_scalar_dtype(int), t.shape[axis]), 0)
    return take(x, order, axis)


def shuffle(key: Any, x: Any, axis: int) -> Any:
    """Sort by random words, often enough that ties between words hardly matter.

    With n elements a sort by 32-bit words leaves about n**2 / 2**33 ties, in which the old order
    survives; rounds are added until n**3 is below the number of all words.
    """
    t = type_of(x)
    if type(t.size) is Dim:
        for rounds in range(3):
            key, subkey = keys_of(key, 2)
            large = lax.gt(dim_value(t.size), int(_WORDS ** (rounds / 3)))
            x = lax.cond(large, lambda s, y: _shuffled(s, y, axis), lambda s, y: y, subkey, x)
        return x
    rounds = math.ceil(3 * math.log(max(1, t.size)) / math.log(_WORDS))
    for _ in range(rounds):
        key, subkey = keys_of(key, 2)
        x = _shuffled(subkey, x, axis)
    return x


_WORDS = 2**32 - 1


def _shuffled(key: Any, x: Any, axis: int) -> Any:
    words = draw_bits(key, type_of(x).shape, 32)
    return lax.sort_key_val(words, x, axis)[1]


def take(x: Any, indices: Any, axis: int) -> Any:
    """Slices of `x` along an axis at a vector of indices that are in range."""
    t, n = type_of(x), type_of(indices).shape[0]
    others = tuple(i for i in range(t.ndim) if i != axis)
    sizes = tuple(1 if i == axis else d for i, d in enumerate(t.shape))
    numbers = lax.GatherDimensionNumbers(
        offset_dims=others, collapsed_slice_dims=(axis,), start_index_map=(axis,)
    )
    return lax.gather(
        x, lax.reshape(indices, (n, 1)), numbers, sizes,
        indices_are_sorted=False, unique_indices=False, mode="promise_in_bounds",
    )  # fmt: skip


def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Any:
    """Random slices of an array, or numbers below n.

    Args:
        key: a random key.
        a: an array, or an int n for the numbers 0 to n - 1.
        shape: shape of what is drawn; it takes the place of `axis` in the result.
        replace: draw with replacement.
        p: probabilities, one a slice; default equal ones.
        axis: axis of `a` to draw from.
        mode: with `p` and no replacement, the mode of `gumbel`.

    Returns:
        Array of the dtype of `a` (for an int int32, with x64 int64), whose shape is that of `a`
        with `shape` in the place of `axis`.

    Raises:
        ValueArgumentError: nothing to draw from, or more drawn than there are, or `p` has another
            length.

    Example:
        >>> from numlift.random import choice
        >>> from numlift import random
        >>> choice(random.key(0), 10, (3,), replace=False).shape
        (3,)
    """
    function = "random.choice"
    shape = as_shape(function, shape)
    if isinstance(a, (int, np.integer)) and not isinstance(a, bool):
        n, value, axis = int(a), None, 0
    else:
        value = as_value(a, function, "a")
        t = type_of(value)
        if not t.ndim:
            n, value, axis = int(value), None, 0
        else:
            axis = axis_in_range(function, axis, t.ndim)
            n = t.shape[axis]
    count = math.prod(shape)
    rule = ""
    if n <= 0 and count:
        rule = "there is nothing to draw from"
    elif not replace and count > n:
        rule = f"cannot draw {count} of {n} without replacement"
    if p is not None:
        p = as_value(p, function, "p")
        if type_of(p).shape != (n,):
            rule = f"p must have shape ({n},), not {type_of(p).shape}"
    if rule:
        raise errors.ValueArgumentError(
            errors.explain(function, rule, {"a": a, "shape": shape}, try_="replace=True")
        )
    if mode is not None:
        check_mode(function, mode)
    chosen = _choice(key, p, n, shape, bool(replace), mode or "low")
    return chosen if value is None else _pick(value, chosen, axis, shape)


@library(2)
def _choice(key: Any, p: Any, n: int, shape: tuple[int, ...], replace: bool, mode: str) -> Any:
    """Indices below n."""
    typed, _ = check_key("random.choice", key)
    index = python_scalar_dtype(int)
    count = math.prod(shape)
    if not count:
        return lax.full(shape, 0, index)
    if p is None:
        if replace:
            return integers(typed, index.type(0), index.type(n), False, shape, index)
        order = shuffle(typed, lax.iota(index, n), 0)
        return lax.reshape(lax.slice_in_dim(order, 0, count), shape)
    t = type_of(p)
    dtype = t.dtype if t.kind == "f" else python_scalar_dtype(float)
    p = parameter("random.choice", "p", p, dtype)
    if replace:
        totals = lax.cumsum(p, 0)
        u = lax.sub(dtype.type(1), unit(typed, shape, dtype))
        r = lax.mul(u, lax.squeeze(lax.slice_in_dim(totals, n - 1, n), (0,)))
        return first_not_below(totals, r, index)
    weights = lax.add(standard_gumbel(typed, (n,), dtype, mode), lax.log(p))
    found = lax.top_k(weights, count)[1]
    return lax.reshape(lax.convert_element_type(found, index), shape)


def first_not_below(totals: Any, r: Any, dtype: Any) -> Any:
    """For each r the first index whose total is at least r, by bisection."""
    n = type_of(totals).shape[0]
    shape = type_of(r).shape
    flat = lax.reshape(r, (math.prod(shape),))
    low = lax.full(flat.shape, 0, np.int32)
    high = lax.full(flat.shape, n - 1, np.int32)
    for _ in range(max(n - 1, 0).bit_length()):
        middle = lax.shift_right_logical(lax.add(low, high), np.int32(1))
        below = lax.lt(take(totals, middle, 0), flat)
        low = lax.select(below, lax.min(lax.add(middle, np.int32(1)), high), low)
        high = lax.select(below, high, middle)
    return lax.reshape(lax.convert_element_type(low, dtype), shape)


@library(2)
def _pick(x: Any, indices: Any, axis: int, shape: tuple[int, ...]) -> Any:
    old = type_of(x).shape
    found = take(x, lax.reshape(indices, (math.prod(shape),)), axis)
    return lax.reshape(found, (*old[:axis], *shape, *old[axis + 1 :]))


def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Indices drawn with probabilities ``softmax(logits)``, as argmax of logits + Gumbel noise.

    Args:
        key: a random key.
        logits: unnormalised log probabilities.
        axis: axis of the categories.
        shape: shape of the result; it must end in (or broadcast with) the shape of `logits`
            without `axis`. Default that shape.
        replace: False draws the leading axes of `shape` without replacement.
        mode: ``"low"`` (default) or ``"high"``, see `gumbel`.
        out_sharding: must be None.

    Returns:
        Indices of the default int dtype.

    Raises:
        ShapeError: `shape` does not fit.
        ValueArgumentError: more draws without replacement than categories.

    Example:
        >>> from numlift.random import categorical
        >>> from numlift import random
        >>> import numpy as np
        >>> int(categorical(random.key(0), np.array([0.0, -np.inf])))
        0
    """
    function = "random.categorical"
    if mode is not None:
        check_mode(function, mode)
    refuse_sharding(function, out_sharding)
    logits = as_value(logits, function, "logits")
    t = type_of(logits)
    if not t.ndim:
        raise errors.ShapeError(
            errors.explain(function, "logits must have an axis of categories", {"logits": t},
                           try_="logits of shape (n,)")
        )  # fmt: skip
    axis = axis_in_range(function, axis, t.ndim)
    batch = t.shape[:axis] + t.shape[axis + 1 :]
    wanted = batch if shape is None else as_shape(function, shape)
    if len(wanted) < len(batch) or broadcast_shape(function, wanted, batch) != wanted:
        raise errors.ShapeError(
            errors.explain(function, f"shape {wanted} must end in the batch shape {batch}",
                           {"logits": t, "axis": axis}, try_=f"shape=(10, *{batch})")
        )  # fmt: skip
    prefix = wanted[: len(wanted) - len(batch)]
    if not replace and math.prod(prefix) > t.shape[axis]:
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                f"cannot draw {math.prod(prefix)} of {t.shape[axis]} categories without "
                "replacement", {"logits": t}, try_="replace=True",
            )
        )  # fmt: skip
    if replace:
        return _categorical(key, logits, axis, wanted, mode or "low")
    return _without_replacement(key, logits, axis, prefix, wanted, mode or "low")


def _noisy(function: str, logits: Any) -> tuple[Any, Any]:
    """Logits as floats, and their dtype."""
    t = type_of(logits)
    dtype = t.dtype if t.kind == "f" else python_scalar_dtype(float)
    return parameter(function, "logits", logits, dtype), float_dtype(function, dtype)


@library(2)
def _categorical(key: Any, logits: Any, axis: int, shape: tuple[int, ...], mode: str) -> Any:
    typed, _ = check_key("random.categorical", key)
    logits, dtype = _noisy("random.categorical", logits)
    t = type_of(logits)
    extra = len(shape) - (t.ndim - 1)
    place = extra + axis
    full = (*shape[:place], t.shape[axis], *shape[place:])
    noise = standard_gumbel(typed, full, dtype, mode)
    wide = lax.broadcast_in_dim(logits, full, tuple(range(extra, len(full))))
    return lax.argmax(lax.add(noise, wide), place, python_scalar_dtype(int))


@library(2)
def _without_replacement(
    key: Any, logits: Any, axis: int, prefix: tuple[int, ...], shape: tuple[int, ...], mode: str
) -> Any:
    typed, _ = check_key("random.categorical", key)
    logits, dtype = _noisy("random.categorical", logits)
    t = type_of(logits)
    noise = standard_gumbel(typed, t.shape, dtype, mode)
    noisy = lax.add(noise, logits)
    order = (*(i for i in range(t.ndim) if i != axis), axis)
    noisy = lax.transpose(noisy, order)
    found = lax.top_k(noisy, math.prod(prefix))[1]
    found = lax.transpose(found, (t.ndim - 1, *range(t.ndim - 1)))
    batch = found.shape[1:]
    found = lax.reshape(found, (*prefix, *batch))
    return lax.broadcast_in_dim(found, shape, tuple(range(len(shape))))
