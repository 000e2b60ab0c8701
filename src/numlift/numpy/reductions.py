"""NumPy's reductions: sums, products, extremes and where they are, all, any."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.library import library
from ..core.dtypes import issubdtype
from ..core.tracing import apply, type_of
from ..ops import reductions as ops
from ..ops.elementwise_binary import max_, min_
from ..structural.arith import add, mul, sub
from ..structural.shape import ReduceSum
from . import host_kernels, host_reductions
from .elementwise import no_out
from .logic import truth
from .reducing import (
    as_dtype,
    asked_dtype,
    axes_of,
    flat,
    int_dtype,
    masked,
    not_empty,
    reduced,
    sum_dtype,
    total,
)
from .util import as_value, check_axis, expand


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
    if t.kind == "c" and not issubdtype(dtype, np.complexfloating):
        raise errors.DTypeError(
            errors.explain(
                function, f"initial is complex, and the result is {dtype}", {"initial": t},
                try_="initial.real, or dtype=complex",
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
    """Sum over axes; 0 for no elements.

    Args:
        a: array of any shape and dtype.
        axis: int or ints; None is all axes.
        dtype: dtype to add in and to return. None: bools and integers of fewer than 32 bits become
            int32 or uint32 (64 bits with x64 on); floats of two bytes are added in float32.
        out: must be None: arrays are immutable.
        keepdims: keep the summed axes, with size 1.
        initial: number that is added to the sum.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.
        promote_integers: False keeps the dtype of small integers.

    Returns:
        Array of the axes that stay. Derivative: 1 for every element that counts, else 0.

    Raises:
        AxisError: an axis is out of range.  DTypeError: `where` holds no bools.
        ShapeError: `where` does not fit `a`, or `initial` is no scalar.

    Differences from NumPy: integers are added in 32 bits unless x64 is on.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1, 2], [3, 4]])
        >>> print(np.sum(x), np.sum(x, axis=0), np.sum(x, where=x > 1, initial=100))
        10 [4 6] 109
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
    """Product over axes; 1 for no elements.

    Args:
        a: array of any shape and dtype.
        axis: int or ints; None is all axes.
        dtype: dtype to multiply in and to return. None: bools and integers of fewer than 32 bits
            become int32 or uint32 (64 bits with x64 on).
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.
        initial: number that the product is multiplied by.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.
        promote_integers: False keeps the dtype of small integers.

    Returns:
        Array of the axes that stay. Derivative: the product of the other elements, exact also where
        elements are zero: nothing is divided.

    Raises:
        AxisError: an axis is out of range.  DTypeError: `where` holds no bools.
        ShapeError: `where` does not fit `a`, or `initial` is no scalar.

    Differences from NumPy: integers are multiplied in 32 bits unless x64 is on.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> x = np.asarray([0.0, 2.0, 3.0])
        >>> print(np.prod(x), nl.grad(np.prod)(x))
        0.0 [6. 0. 0.]
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


@library(1, host=host_reductions.max)
def max(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Greatest element over axes; NaN if there is one.

    Args:
        a: array of any shape and dtype; complex numbers are ordered by real, then imaginary part.
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.
        initial: number of the dtype of `a`, the least possible result; needed for no elements and
            with `where`.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.

    Returns:
        Array of the axes that stay, of the dtype of `a`. Derivative: equal elements share it, so
        that three equal ones get 1/3 each.

    Raises:
        ShapeError: no elements and no `initial`.  ValueArgumentError: `where` without `initial`.
        AxisError: an axis is out of range.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> x = np.asarray([1.0, 5.0, 5.0])
        >>> print(np.max(x), nl.grad(np.max)(x))
        5.0 [0.  0.5 0.5]
    """
    return _extreme("max", ops.ReduceMax, max_, a, axis, out, keepdims, initial, where)


@library(1, host=host_reductions.min)
def min(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Least element over axes; NaN if there is one.

    Args:
        a: array of any shape and dtype; complex numbers are ordered by real, then imaginary part.
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.
        initial: number of the dtype of `a`, the greatest possible result; needed for no elements
            and with `where`.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.

    Returns:
        Array of the axes that stay, of the dtype of `a`. Derivative: equal elements share it, so
        that three equal ones get 1/3 each.

    Raises:
        ShapeError: no elements and no `initial`.  ValueArgumentError: `where` without `initial`.
        AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[4.0, 2.0], [3.0, np.nan]])
        >>> print(np.min(x, axis=1), np.min(x, initial=np.inf, where=~np.isnan(x)))
        [ 2. nan] 2.0
    """
    return _extreme("min", ops.ReduceMin, min_, a, axis, out, keepdims, initial, where)


amax, amin = max, min


@library(1, host=host_reductions.ptp)
def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """Range of the elements over axes: ``max(a) - min(a)``; NaN if there is one.

    Args:
        a: array of integers, floats or complex numbers.
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.

    Returns:
        Array of the axes that stay, of the dtype of `a`, in which small integers may overflow.
        Derivative: 1 at the greatest and -1 at the least element; equal ones share it, and it is 0
        where all elements are equal.

    Raises:
        ShapeError: no elements.  DTypeError: bools.  AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.ptp(np.asarray([[4, 2, 7], [5, 5, 5]]), axis=1))
        [5 0]
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


@library(1, host=host_reductions.all)
def all(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Any:
    """Whether all elements over axes are true (not zero; NaN is true); True for no elements.

    Args:
        a: array of any shape and dtype.
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.

    Returns:
        Array of bools with the axes that stay.

    Raises:
        AxisError: an axis is out of range.  DTypeError: `where` holds no bools.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.all(np.asarray([[1, 2], [3, 0]]), axis=1))
        [ True False]
    """
    return _logical("all", ops.ReduceAnd, True, a, axis, out, keepdims, where)


@library(1, host=host_reductions.any)
def any(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Any:
    """Whether an element over axes is true (not zero; NaN is true); False for no elements.

    Args:
        a: array of any shape and dtype.
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.

    Returns:
        Array of bools with the axes that stay.

    Raises:
        AxisError: an axis is out of range.  DTypeError: `where` holds no bools.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.any(np.asarray([[1, 0], [0, 0]]), axis=1))
        [ True False]
    """
    return _logical("any", ops.ReduceOr, False, a, axis, out, keepdims, where)


@library(1, host=host_reductions.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Number of elements over axes that are not zero; NaN counts.

    Args:
        a: array of any shape and dtype.
        axis: int or ints; None is all axes.
        keepdims: keep the reduced axes, with size 1.

    Returns:
        int32 array (int64 with x64 on) of the axes that stay.

    Raises:
        AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.count_nonzero(np.asarray([[3, 0, 2], [0, 0, 1]]), axis=1))
        [2 1]
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


@library(1, host=host_kernels.argmax)
def argmax(a: Any, axis: Any = None, out: None = None, keepdims: bool | None = None) -> Any:
    """Index of the first greatest element along an axis; a NaN counts as the greatest.

    Args:
        a: array of any shape and dtype; complex numbers are ordered by real, then imaginary part.
        axis: int; None searches the flattened array.
        out: must be None: arrays are immutable.
        keepdims: keep the searched axis (all of them for None), with size 1.

    Returns:
        int32 array (int64 with x64 on) of the axes that stay. It has no derivative.

    Raises:
        ShapeError: nothing to search.  ArgumentError: axis is no int.  AxisError: out of range.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1, 5, 5], [9, 0, 2]])
        >>> print(np.argmax(x), np.argmax(x, axis=1))
        3 [1 0]
    """
    no_out("argmax", out)
    return index_of_extreme("argmax", ops.ArgMax, as_value(a, "argmax"), axis, keepdims)


@library(1, host=host_kernels.argmin)
def argmin(a: Any, axis: Any = None, out: None = None, keepdims: bool | None = None) -> Any:
    """Index of the first least element along an axis; a NaN counts as the least.

    Args:
        a: array of any shape and dtype; complex numbers are ordered by real, then imaginary part.
        axis: int; None searches the flattened array.
        out: must be None: arrays are immutable.
        keepdims: keep the searched axis (all of them for None), with size 1.

    Returns:
        int32 array (int64 with x64 on) of the axes that stay. It has no derivative.

    Raises:
        ShapeError: nothing to search.  ArgumentError: axis is no int.  AxisError: out of range.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[4, 1, 1], [9, 0, 2]])
        >>> print(np.argmin(x), np.argmin(x, axis=1))
        4 [1 1]
    """
    no_out("argmin", out)
    return index_of_extreme("argmin", ops.ArgMin, as_value(a, "argmin"), axis, keepdims)


__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "max", "min", "prod", "ptp",
    "sum",
]  # fmt: skip
