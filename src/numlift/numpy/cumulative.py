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
    """Cumulative sum: ``out[i] = a[0] + ... + a[i]``.

    Args:
        a: array.
        axis: int; None adds along the flattened array.
        dtype: dtype to add in and to return. By default bools and small integers become int32 or
            uint32 (64 bits with x64 on).
        out: must be None.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.cumsum(np.asarray([1, 2, 3])))
        [1 3 6]
    """
    return accumulated("cumsum", a, axis, dtype, out)


@library(1)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Cumulative product: ``out[i] = a[0] * ... * a[i]``; the derivative may meet zeros.

    Args:
        a, axis, dtype, out: as in `cumsum`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.cumprod(np.asarray([1, 2, 3])))
        [1 2 6]
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
    """Cumulative sum along an axis, by the array API.

    Args:
        x: array with at least one axis.
        axis: int; may be left out for one axis.
        dtype, out: as in `cumsum`.
        include_initial: start with a 0, so that the axis grows by one.

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
    """Cumulative product along an axis, by the array API.

    Args:
        x, axis, dtype, out: as in `cumulative_sum`.
        include_initial: start with a 1, so that the axis grows by one.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.cumulative_prod(np.asarray([2, 3]), include_initial=True))
        [1 2 6]
    """
    no_out("cumulative_prod", out)
    return _with_initial("cumulative_prod", x, axis, dtype, include_initial, 1)


__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum"]
