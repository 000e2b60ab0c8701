"""softmax and its kin, standardisation, one-hot vectors."""

from __future__ import annotations

import math
from typing import Any

from .. import errors, lax
from .. import numpy as np
from ..api.library import library
from ..core.dtypes import python_scalar_dtype, user_dtype
from ..core.tracing import type_of
from ..numpy.operands import inexact
from ..numpy.util import as_value, check_axes


def _shift(x: Any, axes: tuple[int, ...], where: Any) -> Any:
    """The largest element (0 if it is infinite), kept as axes of size 1, without a derivative."""
    real = np.real(x) if type_of(x).kind == "c" else x
    lowest = type_of(real).dtype.type(-math.inf)
    real = lax.stop_gradient(real)
    kept = real if where is None else np.where(where, real, lowest)
    top = np.max(kept, axis=axes, keepdims=True, initial=lowest)
    return np.where(np.isfinite(top), top, type_of(real).dtype.type(0))


def _exponentials(x: Any, axes: tuple[int, ...], where: Any) -> tuple[Any, Any, Any, Any]:
    """x minus its shift, exp of that (0 where masked), their sum, and the shift."""
    shift = _shift(x, axes, where)
    moved = x - shift
    if where is None:
        powers = np.exp(moved)
    else:
        # exp must not see masked elements: inf there would give NaN derivatives.
        zero = type_of(x).dtype.type(0)
        moved = np.where(where, moved, zero)
        powers = np.where(where, np.exp(moved), zero)
    return moved, powers, np.sum(powers, axis=axes, keepdims=True), shift


def _not_zero(total: Any) -> Any:
    return np.where(total == 0, type_of(total).dtype.type(1), total)


@library(1)
def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """``exp(x) / sum(exp(x))`` along axes, without overflow: probabilities from logits.

    Args:
        x: array; integers become the default float.
        axis: axis, tuple of axes, or None for all.
        where: mask of the elements that take part; the others give 0.

    Returns:
        Array of the shape and floating dtype of `x`, which sums to 1 along the axes.

    Raises:
        AxisError: no such axis.

    Differences from JAX: if every element is -inf (or masked) the result and the derivative are 0,
    not nan.

    Example:
        >>> from numlift import nn
        >>> nn.softmax([1000.0, 1000.0]).tolist()
        [0.5, 0.5]
    """
    x = inexact(x, "nn.softmax")
    axes = check_axes("nn.softmax", axis, type_of(x).ndim)
    _, powers, total, _ = _exponentials(x, axes, where)
    return powers / _not_zero(total)


@library(1)
def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """``log(softmax(x)) = x - logsumexp(x)`` along axes, without underflow.

    Args:
        x: array; integers become the default float.
        axis: axis, tuple of axes, or None for all.
        where: mask of the elements that take part; the others give -inf.

    Returns:
        Array of the shape and floating dtype of `x`.

    Raises:
        AxisError: no such axis.

    Differences from JAX: if every element is -inf the result is -inf and the derivative finite, not
    nan.

    Example:
        >>> from numlift import nn
        >>> nn.log_softmax([0.0, -1000.0]).tolist()
        [0.0, -1000.0]
    """
    x = inexact(x, "nn.log_softmax")
    axes = check_axes("nn.log_softmax", axis, type_of(x).ndim)
    moved, _, total, _ = _exponentials(x, axes, where)
    found = moved - np.log(_not_zero(total))
    if where is None:
        return found
    return np.where(where, found, type_of(x).dtype.type(-math.inf))


@library(1)
def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """``log(sum(b * exp(a)))`` along axes, without overflow.

    Args:
        a: array; integers become the default float.
        axis: axis, tuple of axes, or None for all.
        b: factors that broadcast with `a`; default 1. A factor 0 takes its element out.
        keepdims: keep the summed axes with size 1.
        return_sign: return (log of the absolute value, sign), for sums that may be negative.
        where: mask of the elements that take part.

    Returns:
        Array without the axes; -inf for the sum over nothing. Derivative: the softmax, and 0 if the
        sum is 0 (all elements -inf).

    Raises:
        AxisError: no such axis.

    Differences from JAX: the derivative where all elements are -inf is 0, not nan.

    Example:
        >>> from numlift import nn
        >>> round(float(nn.logsumexp([1000.0, 1000.0])), 2)
        1000.69
    """
    a = inexact(a, "nn.logsumexp")
    if b is not None:
        factors = inexact(b, "nn.logsumexp")
        a, factors = np.broadcast_arrays(*np_promote(a, factors))
        # A factor of 0 takes its element out, also where exp(a) is infinite.
        used = factors != 0
        where = used if where is None else np.logical_and(where, used)
    axes = check_axes("nn.logsumexp", axis, type_of(a).ndim)
    _, powers, total, shift = _exponentials(a, axes, where)
    if b is not None:
        total = np.sum(powers * factors, axis=axes, keepdims=True)
    sign = np.sign(total)
    size = np.abs(total) if return_sign else total
    nothing = total == 0
    lowest = type_of(size).dtype.type(-math.inf)
    found = np.where(nothing, lowest, np.log(_not_zero(size)) + shift)
    if not keepdims:
        found, sign = np.squeeze(found, axes), np.squeeze(sign, axes)
    return (found, sign) if return_sign else found


def np_promote(x: Any, y: Any) -> list[Any]:
    """Two operands of one dtype."""
    dtype = np.result_type(x, y)
    return [np.asarray(x, dtype), np.asarray(y, dtype)]


@library(1)
def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Any:
    """``log(mean(exp(x)))`` along axes, without overflow.

    Args:
        x: array; integers become the default float.
        axis: axis, tuple of axes, or None for all.
        where: mask of the elements that take part.
        keepdims: keep the axes with size 1.

    Returns:
        Array without the axes. Derivative: the softmax.

    Raises:
        AxisError: no such axis.

    Differences from JAX: -inf for no elements, not nan.

    Example:
        >>> from numlift import nn
        >>> float(nn.logmeanexp([2000.0, 2000.0]))
        2000.0
    """
    x = inexact(x, "nn.logmeanexp")
    t = type_of(x)
    axes = check_axes("nn.logmeanexp", axis, t.ndim)
    total = logsumexp(x, axis=axes, where=where, keepdims=keepdims)
    if where is None:
        return total - math.log(max(math.prod(t.shape[a] for a in axes), 1))
    counted = np.broadcast_to(np.asarray(where), t.shape)
    count = np.sum(counted, axis=axes, keepdims=keepdims)
    return total - np.log(count.astype(type_of(total).dtype))


@library(1)
def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Any:
    """``(x - mean) / sqrt(variance + epsilon)`` along axes.

    Args:
        x: array; integers become the default float.
        axis: axis, tuple of axes, or None for all.
        mean: array that broadcasts with `x`; default that of `x` along the axes.
        variance: array that broadcasts with `x`; default that of `x` along the axes.
        epsilon: keeps the root away from 0.
        where: mask of the elements that mean and variance are taken over.
        algorithm: ``"fast"`` takes the variance as mean square minus squared mean, in one pass;
            ``"stable"`` takes the mean squared distance from the mean.

    Returns:
        Array of the broadcast shape and floating dtype of `x`.

    Raises:
        ValueArgumentError: another algorithm.  AxisError: no such axis.

    Example:
        >>> from numlift import nn
        >>> [round(v, 3) for v in nn.standardize([1.0, 2.0, 3.0]).tolist()]
        [-1.225, 0.0, 1.225]
    """
    x = inexact(x, "nn.standardize")
    axes = check_axes("nn.standardize", axis, type_of(x).ndim)
    if algorithm not in ("fast", "stable"):
        raise errors.ValueArgumentError(
            errors.explain("nn.standardize", "algorithm must be 'fast' or 'stable'",
                           {"algorithm": algorithm}, try_="algorithm='stable'")
        )  # fmt: skip
    if mean is None:
        mean = np.mean(x, axis=axes, keepdims=True, where=where)
    if variance is None:
        if algorithm == "fast":
            square = np.mean(np.square(x), axis=axes, keepdims=True, where=where)
            variance = square - np.square(mean)
        else:
            variance = np.mean(np.square(x - mean), axis=axes, keepdims=True, where=where)
    return (x - mean) * lax.rsqrt(inexact(variance + epsilon, "nn.standardize"))


@library(1)
def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Any:
    """Vectors with a 1 at the positions `x` and 0 elsewhere; all 0 for positions out of range.

    Args:
        x: array or number: positions, from 0.
        num_classes: length of the vectors, known while tracing.
        dtype: dtype of the result; default the default float.
        axis: where the new axis goes in the result.

    Returns:
        Array of the shape of `x` with a new axis of size `num_classes`, without a derivative.

    Raises:
        ShapeError: `num_classes` is negative.  AxisError: no such axis.

    Example:
        >>> from numlift import nn
        >>> nn.one_hot([0, 2, 5], 3, dtype=int).tolist()
        [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    """
    function = "nn.one_hot"
    x = np.asarray(as_value(x, function, "x"))
    t = type_of(x)
    dtype = python_scalar_dtype(float) if dtype is None else user_dtype(dtype, function)
    (axis,) = check_axes(function, axis, t.ndim + 1)
    if num_classes < 0:
        raise errors.ShapeError(
            errors.explain(function, "num_classes must not be negative",
                           {"num_classes": num_classes}, try_="num_classes=10")
        )  # fmt: skip
    shape = (*t.shape[:axis], num_classes, *t.shape[axis:])
    number = lax.broadcasted_iota(t.dtype if t.kind != "b" else "int32", shape, axis)
    wide = np.expand_dims(x if t.kind != "b" else x.astype("int32"), axis)
    return (wide == number).astype(dtype)
