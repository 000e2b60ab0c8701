"""NumPy's reductions: sums, extremes, means, variances, all, any, argmax."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import reductions as ops
from ..ops.elementwise import abs_, sqrt, square
from ..ops.elementwise_binary import div, max_, min_
from ..structural.arith import add, mul, sub
from ..structural.dim_value import size_as
from ..structural.shape import ReduceSum
from .elementwise import no_out
from .logic import truth
from .reducing import (
    as_dtype,
    asked_dtype,
    axes_of,
    divided,
    flat,
    int_dtype,
    mask_of,
    masked,
    not_empty,
    reduced,
    size_over,
    sum_dtype,
    total,
    wide_float,
)
from .util import as_value, broadcast_to_shape, check_axis, expand, promote, to_inexact


def _start(function: str, initial: Any, dtype: Any) -> Any:
    """`initial` as an operand: one number, because an array would silently broadcast."""
    start = as_value(initial, function, "initial")
    t = type_of(start)
    if t.shape:
        raise errors.ShapeError(
            errors.explain(
                function, "initial must be one number", {"initial": t},
                try_=f"{function}(a) and then combine it with the array",
            )
        )  # fmt: skip
    return as_dtype(start, dtype)


def _accumulated(
    function: str, op: type, combine: Any, neutral: int, a: Any, axis: Any, dtype: Any, out: Any,
    keepdims: bool, initial: Any, where: Any, promote_integers: bool,
) -> Any:  # fmt: skip
    no_out(function, out)
    x = as_value(a, function)
    dtype = asked_dtype(function, dtype)
    t = type_of(x)
    if dtype is None:
        dtype = sum_dtype(t.dtype) if promote_integers or t.kind == "b" else t.dtype
    x = masked(function, as_dtype(x, dtype), where, neutral)
    result = reduced(op, x, axes_of(function, axis, x), keepdims)
    if initial is not None:
        result = apply(combine, result, _start(function, initial, dtype))
    return result


@library(1)
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Any:
    """Sum over axes.

    Args:
        a: array.
        axis: int or ints to sum over; None is all.
        dtype: dtype to add in and to return. By default bools and small integers become int32 or
            uint32 (64 bits with x64 on); floats of two bytes are added in float32.
        out: must be None.
        keepdims: keep the axes with size 1.
        initial: number to start from.
        where: bools: which elements to add.
        promote_integers: False keeps the dtype of small integers.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.sum(np.asarray([[1, 2], [3, 4]]), axis=0))
        [4 6]
    """
    return _accumulated(
        "sum", ReduceSum, add, 0, a, axis, dtype, out, keepdims, initial, where, promote_integers
    )


@library(1)
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Any:
    """Product over axes; its derivative is exact where elements are zero.

    Args:
        a, axis, dtype, out, keepdims, initial, where, promote_integers: as in `sum`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.prod(np.asarray([1.0, 2.0, 4.0])))
        8.0
    """
    return _accumulated(
        "prod", ops.ReduceProd, mul, 1, a, axis, dtype, out, keepdims, initial, where,
        promote_integers,
    )  # fmt: skip


def _extreme(
    function: str, op: Any, combine: Any, a: Any, axis: Any, out: Any, keepdims: bool, initial: Any,
    where: Any,
) -> Any:  # fmt: skip
    no_out(function, out)
    x = as_value(a, function)
    axes = axes_of(function, axis, x)
    if initial is None:
        not_empty(function, x, axes)
        if where is not None:
            raise errors.ValueArgumentError(
                errors.explain(
                    function, "where needs initial, the result for no elements",
                    try_=f"{function}(a, where=mask, initial=...)",
                )
            )  # fmt: skip
    dtype = type_of(x).dtype
    x = masked(function, x, where, op.of(()).identity(dtype))
    result = reduced(op, x, axes, keepdims)
    if initial is not None:
        result = apply(combine, result, _start(function, initial, dtype))
    return result


@library(1)
def max(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Greatest element over axes; NaN if there is one. Equal ones share the derivative.

    Args:
        a: array; complex numbers are ordered by real, then imaginary part.
        axis: int or ints; None is all.
        out: must be None.
        keepdims: keep the axes with size 1.
        initial: least value of the result; needed for empty axes and with ``where``.
        where: bools: which elements to look at.

    Raises:
        ShapeError: no elements and no ``initial``.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.max(np.asarray([1.0, 5.0, 3.0])))
        5.0
    """
    return _extreme("max", ops.ReduceMax, max_, a, axis, out, keepdims, initial, where)


@library(1)
def min(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Least element over axes; NaN if there is one. Equal ones share the derivative.

    Args:
        a, axis, out, keepdims, where: as in `max`.
        initial: greatest value of the result.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.min(np.asarray([4.0, 2.0, 3.0])))
        2.0
    """
    return _extreme("min", ops.ReduceMin, min_, a, axis, out, keepdims, initial, where)


amax, amin = max, min


@library(1)
def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """Greatest minus least element over axes.

    Args:
        a, axis, out, keepdims: as in `max`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.ptp(np.asarray([4, 2, 7])))
        5
    """
    no_out("ptp", out)
    x = as_value(a, "ptp")
    axes = axes_of("ptp", axis, x)
    not_empty("ptp", x, axes)
    return apply(
        sub, reduced(ops.ReduceMax, x, axes, keepdims), reduced(ops.ReduceMin, x, axes, keepdims)
    )


def _logical(
    function: str, op: type, fill: bool, a: Any, axis: Any, out: Any, keepdims: bool, where: Any
) -> Any:
    no_out(function, out)
    x = masked(function, truth(a, function, "a"), where, fill)
    return reduced(op, x, axes_of(function, axis, x), keepdims)


@library(1)
def all(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Any:
    """Whether all elements over axes are true (not zero); True for none.

    Args:
        a, axis, out, keepdims, where: as in `sum`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.all(np.asarray([True, False])))
        False
    """
    return _logical("all", ops.ReduceAnd, True, a, axis, out, keepdims, where)


@library(1)
def any(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Any:
    """Whether an element over axes is true (not zero); False for none.

    Args:
        a, axis, out, keepdims, where: as in `sum`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.any(np.asarray([True, False])))
        True
    """
    return _logical("any", ops.ReduceOr, False, a, axis, out, keepdims, where)


@library(1)
def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Number of elements over axes that are not zero.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.count_nonzero(np.asarray([3, 0, 2])))
        2
    """
    x = as_dtype(truth(a, "count_nonzero", "a"), int_dtype())
    return total(x, axes_of("count_nonzero", axis, x), keepdims)


def index_of_extreme(function: str, op: type, x: Any, axis: Any, keepdims: Any) -> Any:
    """Index of an extreme along one axis, or in the flattened array."""
    t = type_of(x)
    if t.size == 0 and (axis is None or t.shape[check_axis(function, axis, t.ndim)] == 0):
        raise errors.ShapeError(
            errors.explain(
                function, f"attempt to get {function} of an empty sequence", {"a": t},
                try_="check a.size before the call",
            )
        )  # fmt: skip
    if axis is None:
        out = apply(op.of(0, int_dtype()), flat(x))  # type: ignore[attr-defined]
        return expand(out, range(t.ndim)) if keepdims and t.ndim else out
    axis = check_axis(function, axis, t.ndim)
    out = apply(op.of(axis, int_dtype()), x)  # type: ignore[attr-defined]
    return expand(out, (axis,)) if keepdims else out


@library(1)
def argmax(a: Any, axis: Any = None, out: None = None, keepdims: bool | None = None) -> Any:
    """Index of the first greatest element along an axis; a NaN counts as the greatest.

    Args:
        a: array.
        axis: int; None searches the flattened array.
        out: must be None.
        keepdims: keep the axis with size 1.

    Raises:
        ShapeError: nothing to search.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.argmax(np.asarray([1, 5, 5])))
        1
    """
    no_out("argmax", out)
    return index_of_extreme("argmax", ops.ArgMax, as_value(a, "argmax"), axis, keepdims)


@library(1)
def argmin(a: Any, axis: Any = None, out: None = None, keepdims: bool | None = None) -> Any:
    """Index of the first least element along an axis; a NaN counts as the least.

    Args:
        a, axis, out, keepdims: as in `argmax`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.argmin(np.asarray([4, 1, 1])))
        1
    """
    no_out("argmin", out)
    return index_of_extreme("argmin", ops.ArgMin, as_value(a, "argmin"), axis, keepdims)


def count_of(function: str, x: Any, where: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Number of elements that a mean is taken of: an int, or integers if there is a mask."""
    if where is None:
        return size_over(x, axes)
    return total(as_dtype(mask_of(function, where, type_of(x).shape), int_dtype()), axes, keepdims)


def mean_over(function: str, x: Any, axes: tuple[int, ...], where: Any, keepdims: bool) -> Any:
    """Mean of floats over axes."""
    added = total(masked(function, x, where, 0), axes, keepdims)
    return divided(added, count_of(function, x, where, axes, keepdims))


@library(1)
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Any:
    """Mean over axes: sum / count; NaN of nothing.

    Args:
        a: array; integers become float32 (float64 with x64 on).
        axis: int or ints; None is all.
        dtype: dtype to compute in and to return; floats of two bytes are computed in float32.
        out: must be None.
        keepdims: keep the axes with size 1.
        where: bools: which elements to average.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.mean(np.asarray([1, 2, 4, 5])))
        3.0
    """
    no_out("mean", out)
    x, dtype = wide_float(as_value(a, "mean"), asked_dtype("mean", dtype))
    return as_dtype(mean_over("mean", x, axes_of("mean", axis, x), where, keepdims), dtype)


def variance(
    function: str, x: Any, axes: tuple[int, ...], where: Any, keepdims: bool, removed: Any,
    mean: Any = None,
) -> Any:  # fmt: skip
    """Mean square distance from the mean, divided by the count less `removed`."""
    if mean is None:
        middle = mean_over(function, x, axes, where, True)
    else:
        middle = as_dtype(as_value(mean, function, "mean"), type_of(x).dtype)
    t = type_of(x)
    distance = apply(sub, x, broadcast_to_shape(middle, t.shape))
    distance = apply(square, apply(abs_, distance) if t.kind == "c" else distance)
    added = total(masked(function, distance, where, 0), axes, keepdims)
    count = count_of(function, x, where, axes, keepdims)
    if isinstance(count, int):
        left = count - removed
        return divided(added, left if left > 0 else 0)
    u = type_of(added)
    left = apply(sub, as_dtype(count, u.dtype), u.dtype.type(removed))
    return apply(div, added, apply(max_, left, u.dtype.type(0)))


def one_of_ddof(function: str, ddof: Any, correction: Any) -> Any:
    """`ddof` under either of its names."""
    if correction is None:
        return ddof
    if ddof not in (0, correction):
        raise errors.ValueArgumentError(
            errors.explain(
                function, "ddof and correction are two names of one thing",
                {"ddof": ddof, "correction": correction}, try_="give one of them",
            )
        )  # fmt: skip
    return correction


def _variance(
    function: str, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: bool, where: Any,
    mean: Any, correction: Any,
) -> tuple[Any, Any]:  # fmt: skip
    no_out(function, out)
    ddof = one_of_ddof(function, ddof, correction)
    x, dtype = wide_float(as_value(a, function), asked_dtype(function, dtype))
    result = variance(function, x, axes_of(function, axis, x), where, keepdims, ddof, mean)
    if type_of(x).kind == "c":
        dtype = type_of(result).dtype
    return result, dtype


@library(1)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Variance over axes: mean of ``abs(a - mean(a))**2``, with count - ddof as the divisor.

    Args:
        a, axis, dtype, out, keepdims, where: as in `mean`.
        ddof, correction: what is taken off the count (two names of one thing).
        mean: the mean, with kept axes, if it is known already.

    Returns:
        Real array; NaN if no elements are left.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.var(np.asarray([1.0, 3.0])))
        1.0
    """
    result, dtype = _variance("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    return as_dtype(result, dtype)


@library(1)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Standard deviation over axes: the square root of `var`, with the same arguments.

    Derivative: infinite or NaN where all elements are equal.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.std(np.asarray([1.0, 3.0])))
        1.0
    """
    result, dtype = _variance("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    return as_dtype(apply(sqrt, result), dtype)


def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """Weighted mean over axes: ``sum(a * weights) / sum(weights)``.

    Args:
        a: array.
        axis: int or ints; None is all.
        weights: array of the shape of `a`, or of the sizes of `axis`.
        returned: return ``(average, sum of weights)``.
        keepdims: keep the axes with size 1.

    Raises:
        ShapeError: the weights fit neither `a` nor `axis`.

    Differences from NumPy: weights that add up to zero give NaN or infinity, not an error.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.average(np.asarray([1.0, 4.0]), weights=np.asarray([2.0, 1.0])))
        2.0
    """
    return _average(a, weights, axis, returned, keepdims)


@library(2)
def _average(a: Any, weights: Any, axis: Any, returned: bool, keepdims: bool) -> Any:
    (x,) = to_inexact(as_value(a, "average"))
    axes = axes_of("average", axis, x)
    if weights is None:
        x, dtype = wide_float(x, None)
        result = as_dtype(mean_over("average", x, axes, None, keepdims), dtype)
        count = size_as(size_over(x, axes), dtype)
        return (result, broadcast_to_shape(count, type_of(result).shape)) if returned else result
    x, w = promote(x, as_value(weights, "average", "weights"))
    shape = type_of(x).shape
    if type_of(w).shape != shape:
        if axis is None:
            raise errors.ArgumentError(
                errors.explain(
                    "average", "axis must be given where the shapes of a and weights differ",
                    {"a": type_of(x), "weights": type_of(w)}, try_="axis=...",
                )
            )  # fmt: skip
        if type_of(w).shape != tuple(shape[i] for i in axes):
            raise errors.ShapeError(
                errors.explain(
                    "average", "weights must have the shape of a, or the sizes of axis",
                    {"a": type_of(x), "weights": type_of(w), "axis": axis},
                )
            )  # fmt: skip
        w = expand(w, [i for i in range(len(shape)) if i not in axes])
        w = broadcast_to_shape(w, shape)
    weight = total(w, axes, keepdims)
    result = apply(div, total(apply(mul, x, w), axes, keepdims), weight)
    return (result, weight) if returned else result


__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "max", "mean",
    "min", "prod", "ptp", "std", "sum", "var",
]  # fmt: skip
