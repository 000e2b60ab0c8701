"""Cumulative sums and products."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops.cumulative import CumProd, CumSum
from ..ops.shape import Pad
from .elementwise import no_out
from .reducing import as_dtype, asked_dtype, flat, sum_dtype
from .util import as_value, check_axis


def accumulated(function: str, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """Cumulative sum or product (as the function's name says) along an axis, or flattened."""
    no_out(function, out)
    x = as_value(a, function)
    dtype = asked_dtype(function, dtype)
    if axis is None:
        x, axis = flat(x), 0
    t = type_of(x)
    axis = check_axis(function, axis, t.ndim)
    x = as_dtype(x, sum_dtype(t.dtype) if dtype is None else dtype)
    op = CumSum if function.endswith("sum") else CumProd
    return apply(op.of(axis, False), x)


@library(1)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Cumulative sum along an axis: ``out[i] = a[0] + ... + a[i]``.

    Args:
        a: array of any shape and dtype.
        axis: int; None adds along the flattened array.
        dtype: dtype to add in and to return. None: bools and integers of fewer than 32 bits become
            int32 or uint32 (64 bits with x64 on).
        out: must be None: arrays are immutable.

    Returns:
        Array of the shape of `a`, or a vector of ``a.size`` elements for axis None. The derivative
        is the cumulative sum from the other end.

    Raises:
        AxisError: the axis is out of range.  ArgumentError: it is no int.

    Differences from JAX: small integers are widened, as in NumPy.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1, 2], [3, 4]])
        >>> print(np.cumsum(x), np.cumsum(x, axis=1))
        [ 1  3  6 10] [[1 3]
         [3 7]]
    """
    return accumulated("cumsum", a, axis, dtype, out)


@library(1)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Cumulative product along an axis: ``out[i] = a[0] * ... * a[i]``.

    Args:
        a: array of any shape and dtype.
        axis: int; None multiplies along the flattened array.
        dtype: dtype to multiply in and to return. None: bools and integers of fewer than 32 bits
            become int32 or uint32 (64 bits with x64 on).
        out: must be None: arrays are immutable.

    Returns:
        Array of the shape of `a`, or a vector of ``a.size`` elements for axis None. The derivative
        is exact where elements are zero too: nothing is divided.

    Raises:
        AxisError: the axis is out of range.  ArgumentError: it is no int.

    Differences from JAX: small integers are widened, as in NumPy.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> x = np.asarray([2.0, 0.0, 3.0])
        >>> print(np.cumprod(x), nl.grad(lambda x: np.cumprod(x).sum())(x))
        [2. 0. 0.] [1. 8. 0.]
    """
    return accumulated("cumprod", a, axis, dtype, out)


def _with_initial(
    function: str, x: Any, axis: Any, dtype: Any, include_initial: bool, initial: int
) -> Any:
    t = type_of(as_value(x, function, "x"))
    if axis is None:
        if t.ndim != 1:
            raise errors.ValueArgumentError(
                errors.explain(
                    function, f"axis is needed for an array with {t.ndim} axes", {"x": t},
                    try_="axis=0",
                )
            )  # fmt: skip
        axis = 0
    axis = check_axis(function, axis, t.ndim)
    result = accumulated(function, x, axis, dtype, None)
    if not include_initial:
        return result
    config = [(0, 0, 0)] * t.ndim
    config[axis] = (1, 0, 0)
    return apply(Pad.of(tuple(config)), result, type_of(result).dtype.type(initial))


@library(1)
def cumulative_sum(
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    include_initial: bool = False,
) -> Any:
    """Cumulative sum along an axis, by the array API: ``out[i] = x[0] + ... + x[i]``.

    Args:
        x: array with at least one axis, any dtype.
        axis: int; may be None if there is one axis only.
        dtype: dtype to add in and to return. None: bools and integers of fewer than 32 bits become
            int32 or uint32 (64 bits with x64 on).
        out: must be None: arrays are immutable.
        include_initial: start with a 0, so that the axis grows by one.

    Returns:
        Array of the shape of `x`, one longer along the axis if `include_initial`.

    Raises:
        ValueArgumentError: axis is None and there is not one axis.  AxisError: it is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.cumulative_sum(np.asarray([1, 2]), include_initial=True))
        [0 1 3]
    """
    no_out("cumulative_sum", out)
    return _with_initial("cumulative_sum", x, axis, dtype, include_initial, 0)


@library(1)
def cumulative_prod(
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    include_initial: bool = False,
) -> Any:
    """Cumulative product along an axis, by the array API: ``out[i] = x[0] * ... * x[i]``.

    Args:
        x: array with at least one axis, any dtype.
        axis: int; may be None if there is one axis only.
        dtype: dtype to multiply in and to return. None: bools and integers of fewer than 32 bits
            become int32 or uint32 (64 bits with x64 on).
        out: must be None: arrays are immutable.
        include_initial: start with a 1, so that the axis grows by one.

    Returns:
        Array of the shape of `x`, one longer along the axis if `include_initial`.

    Raises:
        ValueArgumentError: axis is None and there is not one axis.  AxisError: it is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.cumulative_prod(np.asarray([2, 3]), include_initial=True))
        [1 2 6]
    """
    no_out("cumulative_prod", out)
    return _with_initial("cumulative_prod", x, axis, dtype, include_initial, 1)


__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum"]
