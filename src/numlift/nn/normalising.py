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
    """``exp(x) / sum(exp(x))`` along axes, without overflow.

    Args:
        x: input.
        axis: axis, tuple of axes, or None for all.
        where: elements to take part; the others give 0.

    Differences from JAX: if every element is -inf (or masked) the result and the derivative are 0,
    not NaN.

    Example:
        >>> softmax([0.0, 0.0]).tolist()
        [0.5, 0.5]
    """
    x = inexact(x, "nn.softmax")
    axes = check_axes("nn.softmax", axis, type_of(x).ndim)
    _, powers, total, _ = _exponentials(x, axes, where)
    return powers / _not_zero(total)


@library(1)
def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """``log(softmax(x))`` along axes, without underflow.

    Args:
        x: input.
        axis: axis, tuple of axes, or None for all.
        where: elements to take part; the others give -inf.

    Differences from JAX: if every element is -inf the result is -inf and the derivative finite,
    not NaN.

    Example:
        >>> [round(v, 4) for v in log_softmax([0.0, 0.0]).tolist()]
        [-0.6931, -0.6931]
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
        a: input.
        axis: axis, tuple of axes, or None for all.
        b: factors that broadcast with `a`; default 1.
        keepdims: keep the summed axes with size 1.
        return_sign: return (log of the absolute value, sign), for sums that may be negative.
        where: elements to take part.

    The sum over nothing is -inf. The derivative is 0 if the sum is 0 (all elements -inf).

    Differences from JAX: that derivative is 0, not NaN.

    Example:
        >>> round(float(logsumexp([0.0, 0.0])), 4)
        0.6931
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
        x: input.
        axis: axis, tuple of axes, or None for all.
        where: elements to take part.
        keepdims: keep the axes with size 1.

    Example:
        >>> float(logmeanexp([2.0, 2.0]))
        2.0
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
        x: input.
        axis: axis, tuple of axes, or None for all.
        mean, variance: that broadcast with `x`; default those of `x` along the axes.
        epsilon: keeps the root away from 0.
        where: elements that mean and variance are taken over.
        algorithm: ``"fast"`` takes the variance as mean square minus squared mean, in one pass;
            ``"stable"`` takes the mean squared distance from the mean.

    Raises:
        ValueArgumentError: another algorithm.

    Example:
        >>> float(standardize([1.0, 3.0]).sum())
        0.0
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
        x: positions, from 0.
        num_classes: length of the vectors.
        dtype: dtype of the result; default the default float.
        axis: where the new axis goes.

    Example:
        >>> one_hot(1, 3).tolist()
        [0.0, 1.0, 0.0]
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
