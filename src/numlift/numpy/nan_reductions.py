"""Reductions and cumulative functions that skip NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.library import library
from ..core.tracing import Value, apply, type_of
from ..ops import reductions as ops
from ..ops.compare import le
from ..ops.elementwise import sqrt
from ..ops.elementwise_binary import and_, max_, min_, not_
from ..structural.arith import select
from ..structural.shape import ReduceSum
from .cumulative import accumulated
from .elementwise import no_out
from .host_values import need_numbers
from .means import mean_over, one_of_ddof, variance
from .reducing import (
    as_dtype,
    asked_dtype,
    axes_of,
    is_nan,
    mask_of,
    not_empty,
    reduced,
    wide_float,
)
from .reductions import index_of_extreme, max, min, prod, sum
from .util import as_value


def filled(x: Any, value: Any) -> Any:
    """`x` with a number instead of each NaN."""
    t = type_of(x)
    return apply(select, is_nan(x), x, t.dtype.type(value)) if t.inexact else x


def _usable(function: str, x: Any, where: Any) -> Any:
    """Bools: not NaN, and in the `where` mask."""
    good = apply(not_, is_nan(x))
    if where is None:
        return good
    return apply(and_, good, mask_of(function, where, type_of(x).shape))


@library(1)
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Sum over axes with NaN as 0; 0 if all are NaN.

    Args:
        a: array of any shape and dtype; without NaN the result is that of `sum`.
        axis: int or ints; None is all axes.
        dtype: dtype to add in and to return. None: bools and integers of fewer than 32 bits become
            int32 or uint32 (64 bits with x64 on); floats of two bytes are added in float32.
        out: must be None: arrays are immutable.
        keepdims: keep the summed axes, with size 1.
        initial: number that is added to the sum.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.

    Returns:
        Array of the axes that stay. Derivative: 1 for every element that counts, 0 for NaN.

    Raises:
        AxisError: an axis is out of range.  DTypeError: `where` holds no bools.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> x = np.asarray([1.0, np.nan, 2.0])
        >>> print(np.nansum(x), nl.grad(np.nansum)(x))
        3.0 [1. 0. 1.]
    """
    x = filled(as_value(a, "nansum"), 0)
    if where is not None:
        where = mask_of("nansum", where, type_of(x).shape)
    return sum(x, axis, dtype, out, keepdims, initial, where)


@library(1)
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Product over axes with NaN as 1; 1 if all are NaN.

    Args:
        a: array of any shape and dtype; without NaN the result is that of `prod`.
        axis: int or ints; None is all axes.
        dtype: dtype to multiply in and to return. None: bools and integers of fewer than 32 bits
            become int32 or uint32 (64 bits with x64 on).
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.
        initial: number that the product is multiplied by.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.

    Returns:
        Array of the axes that stay. Derivative: the product of the other elements that count, and 0
        for NaN.

    Raises:
        AxisError: an axis is out of range.  DTypeError: `where` holds no bools.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.nanprod(np.asarray([[3.0, np.nan], [2.0, 5.0]]), axis=0))
        [6. 5.]
    """
    x = filled(as_value(a, "nanprod"), 1)
    if where is not None:
        where = mask_of("nanprod", where, type_of(x).shape)
    return prod(x, axis, dtype, out, keepdims, initial, where)


def _nan_extreme(
    function: str, op: Any, plain: Any, combine: Any, a: Any, axis: Any, out: Any, keepdims: bool,
    initial: Any, where: Any,
) -> Any:  # fmt: skip
    x = as_value(a, function)
    t = type_of(x)
    if not t.inexact or where is not None and initial is None:
        return plain(x, axis, out, keepdims, initial, where)
    no_out(function, out)
    axes = axes_of(function, axis, x)
    if initial is None:
        not_empty(plain.__name__, x, axes)
    usable = _usable(function, x, where)
    result = reduced(
        op, apply(select, usable, t.dtype.type(op.of(()).identity(t.dtype)), x), axes, keepdims
    )
    found = reduced(ops.ReduceOr, usable, axes, keepdims)
    result = apply(select, found, t.dtype.type(np.nan), result)
    if initial is not None:
        start = as_dtype(as_value(initial, function, "initial"), t.dtype)
        result = apply(select, found, start, apply(combine, result, start))
    return result


@library(1)
def nanmax(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Greatest element over axes that is not NaN; NaN if all are.

    Args:
        a: array of any shape and dtype; without NaN the result is that of `max`.
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.
        initial: number, the least possible result; needed for no elements and with `where`.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.

    Returns:
        Array of the axes that stay, of the dtype of `a`. Derivative: equal elements share it; 0 for
        NaN, also where all are.

    Raises:
        ShapeError: no elements and no `initial`.  ValueArgumentError: `where` without `initial`.

    Differences from NumPy: no warning where all elements are NaN.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1.0, np.nan], [np.nan, np.nan]])
        >>> print(np.nanmax(x, axis=1), np.nanmax(x, axis=1, initial=0))
        [ 1. nan] [1. 0.]
    """
    return _nan_extreme("nanmax", ops.ReduceMax, max, max_, a, axis, out, keepdims, initial, where)


@library(1)
def nanmin(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Least element over axes that is not NaN; NaN if all are.

    Args:
        a: array of any shape and dtype; without NaN the result is that of `min`.
        axis: int or ints; None is all axes.
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.
        initial: number, the greatest possible result; needed for no elements and with `where`.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.

    Returns:
        Array of the axes that stay, of the dtype of `a`. Derivative: equal elements share it; 0 for
        NaN, also where all are.

    Raises:
        ShapeError: no elements and no `initial`.  ValueArgumentError: `where` without `initial`.

    Differences from NumPy: no warning where all elements are NaN.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1.0, np.nan], [np.nan, np.nan]])
        >>> print(np.nanmin(x, axis=1), np.nanmin(x))
        [ 1. nan] 1.0
    """
    return _nan_extreme("nanmin", ops.ReduceMin, min, min_, a, axis, out, keepdims, initial, where)


def _nan_index(
    function: str, op: Any, fill: Any, a: Any, axis: Any, out: Any, keepdims: Any
) -> Any:
    no_out(function, out)
    x = as_value(a, function)
    t = type_of(x)
    if not t.inexact:
        return index_of_extreme(function, op, x, axis, keepdims)
    place = index_of_extreme(function, op, filled(x, fill(t.dtype)), axis, keepdims)
    axes = axes_of(function, axis, x)
    none = reduced(ops.ReduceAnd, is_nan(x), axes, bool(keepdims))
    return apply(select, none, place, type_of(place).dtype.type(-1))


def nanargmax(a: Any, axis: Any = None, out: None = None, keepdims: bool | None = None) -> Any:
    """Index of the first greatest element that is not NaN; -1 if all are.

    Args:
        a: array of any shape and dtype; without NaN the result is that of `argmax`.
        axis: int; None searches the flattened array.
        out: must be None: arrays are immutable.
        keepdims: keep the searched axis (all of them for None), with size 1.

    Returns:
        int32 array (int64 with x64 on) of the axes that stay. It has no derivative.

    Raises:
        ShapeError: nothing to search.  ArgumentError: axis is no int.  AxisError: out of range.
        ValueArgumentError: all values of a list or NumPy array are NaN along the axis.

    Differences from NumPy: -1 where all values of an array on a device or of a traced one are NaN,
    as in JAX: to look at them would wait for the device.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[np.nan, 1.0, 3.0], [np.nan, np.nan, np.nan]])
        >>> print(np.nanargmax(x, axis=1))
        [ 2 -1]
    """
    if not isinstance(a, Value):
        need_numbers("nanargmax", a, axis)
    return _nanargmax(a, axis, out, keepdims)


@library(1)
def _nanargmax(a: Any, axis: Any, out: None, keepdims: bool | None) -> Any:
    return _nan_index("nanargmax", ops.ArgMax, ops.lowest, a, axis, out, keepdims)


def nanargmin(a: Any, axis: Any = None, out: None = None, keepdims: bool | None = None) -> Any:
    """Index of the first least element that is not NaN; -1 if all are.

    Args:
        a: array of any shape and dtype; without NaN the result is that of `argmin`.
        axis: int; None searches the flattened array.
        out: must be None: arrays are immutable.
        keepdims: keep the searched axis (all of them for None), with size 1.

    Returns:
        int32 array (int64 with x64 on) of the axes that stay. It has no derivative.

    Raises:
        ShapeError: nothing to search.  ArgumentError: axis is no int.  AxisError: out of range.
        ValueArgumentError: all values of a list or NumPy array are NaN along the axis.

    Differences from NumPy: -1 where all values of an array on a device or of a traced one are NaN,
    as in JAX: to look at them would wait for the device.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[np.nan, 1.0, 3.0], [np.nan, np.nan, np.nan]])
        >>> print(np.nanargmin(x, axis=1))
        [ 1 -1]
    """
    if not isinstance(a, Value):
        need_numbers("nanargmin", a, axis)
    return _nanargmin(a, axis, out, keepdims)


@library(1)
def _nanargmin(a: Any, axis: Any, out: None, keepdims: bool | None) -> Any:
    return _nan_index("nanargmin", ops.ArgMin, ops.highest, a, axis, out, keepdims)


@library(1)
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Any = None,
) -> Any:
    """Mean over axes of the elements that are not NaN; NaN if all are.

    Args:
        a: array of any shape and dtype; integers become float32 (float64 with x64 on).
        axis: int or ints; None is all axes.
        dtype: dtype to compute in and to return; floats of two bytes are computed in float32.
        out: must be None: arrays are immutable.
        keepdims: keep the reduced axes, with size 1.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.

    Returns:
        Array of the axes that stay, of the dtype of `a` if that is inexact. Derivative: 1 / count
        for every element that counts, 0 for NaN.

    Raises:
        AxisError: an axis is out of range.  DTypeError: `where` holds no bools.

    Differences from NumPy: no warning where all elements are NaN.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1.0, np.nan, 3.0], [np.nan, np.nan, 5.0]])
        >>> print(np.nanmean(x), np.nanmean(x, axis=0))
        3.0 [ 1. nan  4.]
    """
    no_out("nanmean", out)
    x, dtype = wide_float(as_value(a, "nanmean"), asked_dtype("nanmean", dtype))
    usable = _usable("nanmean", x, where)
    axes = axes_of("nanmean", axis, x)
    return as_dtype(mean_over("nanmean", x, axes, usable, keepdims), dtype)


@library(1)
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Variance over axes of the elements that are not NaN, of which there are `count`.

    ``sum(abs(a - nanmean(a))**2) / (count - ddof)``, the sum over these elements.

    Args:
        a: array of any shape and dtype; integers become float32 (float64 with x64 on).
        axis: int or ints; None is all axes.
        dtype: dtype to compute in and to return; floats of two bytes are computed in float32.
        out: must be None: arrays are immutable.
        ddof: number that is taken off the count; 1 gives the unbiased estimate from a sample.
        keepdims: keep the reduced axes, with size 1.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.
        mean: the mean over these axes, kept with size 1, if it is known already.
        correction: another name of `ddof`.

    Returns:
        Real array of the axes that stay; NaN where ``count <= ddof``. The derivative is 0 for NaN.

    Raises:
        AxisError: an axis is out of range.  ValueArgumentError: different ddof and correction.

    Differences from NumPy: no warning where no elements are left.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1.0, np.nan, 3.0], [np.nan, np.nan, 5.0]])
        >>> print(np.nanvar(x, axis=1), np.nanvar(x, axis=1, ddof=1))
        [1. 0.] [ 2. nan]
    """
    ddof = one_of_ddof("nanvar", ddof, correction)
    result, dtype = _nan_variance("nanvar", a, axis, dtype, out, ddof, keepdims, where, mean)
    return as_dtype(result, dtype)


@library(1)
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Standard deviation over axes of the elements that are not NaN: the square root of `nanvar`.

    Args:
        a: array of any shape and dtype; integers become float32 (float64 with x64 on).
        axis: int or ints; None is all axes.
        dtype: dtype to compute in and to return; floats of two bytes are computed in float32.
        out: must be None: arrays are immutable.
        ddof: number that is taken off the count; 1 gives the usual estimate from a sample.
        keepdims: keep the reduced axes, with size 1.
        where: bools that broadcast to the shape of `a`: which elements count; None is all.
        mean: the mean over these axes, kept with size 1, if it is known already.
        correction: another name of `ddof`.

    Returns:
        Real array of the axes that stay; NaN where ``count <= ddof``. Derivative: 0 for NaN, and
        NaN for the others where they are all equal.

    Raises:
        AxisError: an axis is out of range.  ValueArgumentError: different ddof and correction.

    Differences from NumPy: no warning where no elements are left.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.nanstd(np.asarray([1.0, np.nan, 3.0])))
        1.0
    """
    ddof = one_of_ddof("nanstd", ddof, correction)
    result, dtype = _nan_variance("nanstd", a, axis, dtype, out, ddof, keepdims, where, mean)
    return as_dtype(apply(sqrt, result), dtype)


def _nan_variance(
    function: str, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: bool, where: Any,
    mean: Any,
) -> tuple[Any, Any]:  # fmt: skip
    no_out(function, out)
    x, dtype = wide_float(as_value(a, function), asked_dtype(function, dtype))
    usable = _usable(function, x, where)
    axes = axes_of(function, axis, x)
    # Zeros instead of NaN keep the derivative of the unused elements finite.
    t = type_of(x)
    clean = apply(select, usable, t.dtype.type(0), x)
    result = variance(function, clean, axes, usable, keepdims, ddof, mean)
    u = type_of(result)
    count = reduced(ReduceSum, as_dtype(usable, u.dtype), axes, keepdims)
    few = apply(le, count, u.dtype.type(ddof))
    result = apply(select, few, result, u.dtype.type(np.nan))
    return result, u.dtype if t.kind == "c" else dtype


@library(1)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Cumulative sum along an axis with NaN as 0: the sum so far stays at a NaN.

    Args:
        a: array of any shape and dtype; without NaN the result is that of `cumsum`.
        axis: int; None adds along the flattened array.
        dtype: dtype to add in and to return. None: bools and integers of fewer than 32 bits become
            int32 or uint32 (64 bits with x64 on).
        out: must be None: arrays are immutable.

    Returns:
        Array of the shape of `a`, or a vector of ``a.size`` elements for axis None. The derivative
        is 0 for NaN.

    Raises:
        AxisError: the axis is out of range.  ArgumentError: it is no int.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.nancumsum(np.asarray([1.0, np.nan, 2.0])))
        [1. 1. 3.]
    """
    return accumulated("nancumsum", filled(as_value(a, "nancumsum"), 0), axis, dtype, out)


@library(1)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Cumulative product along an axis with NaN as 1: the product so far stays at a NaN.

    Args:
        a: array of any shape and dtype; without NaN the result is that of `cumprod`.
        axis: int; None multiplies along the flattened array.
        dtype: dtype to multiply in and to return. None: bools and integers of fewer than 32 bits
            become int32 or uint32 (64 bits with x64 on).
        out: must be None: arrays are immutable.

    Returns:
        Array of the shape of `a`, or a vector of ``a.size`` elements for axis None. The derivative
        is 0 for NaN.

    Raises:
        AxisError: the axis is out of range.  ArgumentError: it is no int.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.nancumprod(np.asarray([3.0, np.nan, 2.0])))
        [3. 3. 6.]
    """
    return accumulated("nancumprod", filled(as_value(a, "nancumprod"), 1), axis, dtype, out)


__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod",
    "nanstd", "nansum", "nanvar",
]  # fmt: skip
