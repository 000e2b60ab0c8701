"""Covariances and correlations of variables: cov, corrcoef."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.dims import max_size
from ..core.tracing import apply, type_of
from ..ops.dot import DotGeneral
from ..ops.elementwise import sqrt
from ..ops.elementwise_binary import clamp, div, max_
from ..ops.shape import Concatenate
from ..structural.arith import conjugated, mul, real, sub
from ..structural.dim_value import size_as
from ..structural.shape import Broadcast, ReduceSum, Transpose, reshape
from .pieces import part
from .reducing import as_dtype, asked_dtype
from .util import as_value, to_inexact


def _variables(function: str, m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    """Variables as rows of a matrix of floats."""
    given = [as_value(m, function, "m")] + ([] if y is None else [as_value(y, function, "y")])
    rows = []
    for i, x in enumerate(to_inexact(*given)):
        t = type_of(x)
        if t.ndim > 2:
            raise errors.ShapeError(
                errors.explain(function, "needs arrays with at most two axes", {"m": t})
            )
        if t.ndim < 2:
            x = reshape(x, (1, t.size))
        elif not rowvar and (i == 0 or t.shape[0] != 1):  # a row as y stays one, as in NumPy
            x = apply(Transpose.of((1, 0)), x)
        rows.append(x)
    x = rows[0] if len(rows) == 1 else apply(Concatenate.of(0), *rows)
    return x if dtype is None else as_dtype(x, dtype)


@explains
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Any:
    """Covariance matrix: ``sum((x_i - mean(x_i)) * conj(x_j - mean(x_j))) / (n - ddof)``.

    Args:
        m: vector or matrix: variables as rows (or columns, without `rowvar`), n observations along
            the other axis; integers become floats.
        y: more variables, with as many observations.
        rowvar: whether rows are variables.
        bias: divide by n, not by n - 1.
        ddof: int, what is taken off n instead; None leaves that to `bias`.
        fweights: vector of n integers, how often each observation counts.
        aweights: vector of n numbers, how important each observation is.
        dtype: dtype of the result; None is the promoted inexact dtype.

    Returns:
        Matrix with a row and a column for each variable; an array of rank 0 for one variable.

    Raises:
        ShapeError: more than two axes, or weights that do not fit.
        ValueArgumentError: ddof is no integer.  DTypeError: `fweights` are none.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.cov(np.asarray([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
        [[ 1. -1.]
         [-1.  1.]]
    """
    if ddof is not None and ddof != int(ddof):
        raise errors.ValueArgumentError(
            errors.explain("cov", "ddof must be an integer", {"ddof": ddof})
        )
    return _cov(m, y, fweights, aweights, rowvar, bias, ddof, asked_dtype("cov", dtype))


@library(4)
def _cov(
    m: Any, y: Any, fweights: Any, aweights: Any, rowvar: bool, bias: bool, ddof: Any, dtype: Any
) -> Any:
    return _covariance(
        _variables("cov", m, y, rowvar, dtype), fweights, aweights,
        int(not bias) if ddof is None else ddof,
    )  # fmt: skip


def _covariance(x: Any, fweights: Any, aweights: Any, removed: int) -> Any:
    t = type_of(x)
    rows, n = t.shape
    weights: Any = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        w = as_value(given, "cov", name)
        if type_of(w).shape != (n,):
            raise errors.ShapeError(
                errors.explain("cov", f"{name} must be a vector of {n} numbers",
                               {name: type_of(w), "m": t})
            )  # fmt: skip
        if name == "fweights" and type_of(w).kind not in "iu":
            raise errors.DTypeError(
                errors.explain("cov", "fweights must be integers", {name: type_of(w)})
            )
        w = as_dtype(w, t.dtype)
        weights = w if weights is None else apply(mul, weights, w)
    spread = apply(Broadcast.of((rows, n), (1,)), weights) if weights is not None else None
    total = size_as(n, t.dtype) if weights is None else apply(ReduceSum.of((0,)), weights)
    weighted = x if spread is None else apply(mul, x, spread)
    mean = apply(div, apply(ReduceSum.of((1,)), weighted), total)
    x = apply(sub, x, apply(Broadcast.of((rows, n), (0,)), mean))
    left = _degrees(total, weights, aweights, removed, t)
    other = conjugated(x if spread is None else apply(mul, x, spread))
    product = apply(DotGeneral.of((1,), (1,), (), ()), x, other)
    found = apply(div, product, left)
    return reshape(found, ()) if rows == 1 else found


def _degrees(total: Any, weights: Any, aweights: Any, removed: int, t: Any) -> Any:
    """What the sum of products is divided by; at least 0."""
    zero = t.dtype.type(0)
    if weights is None:
        return size_as(max_size(t.shape[1] - removed, 0), t.dtype)
    if removed == 0:
        return total
    taken: Any = t.dtype.type(removed)
    if aweights is not None:
        w = as_dtype(as_value(aweights, "cov", "aweights"), t.dtype)
        squares = apply(ReduceSum.of((0,)), apply(mul, weights, w))
        taken = apply(mul, taken, apply(div, squares, total))
    left = apply(sub, total, taken)
    return left if t.kind == "c" else apply(max_, left, zero)


@explains
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    """Correlation coefficients: ``cov[i, j] / sqrt(cov[i, i] * cov[j, j])``.

    Args:
        x: vector or matrix: variables as rows (or columns, without `rowvar`), observations along
            the other axis; integers become floats.
        y: more variables, with as many observations.
        rowvar: whether rows are variables.
        dtype: dtype of the result; None is the promoted inexact dtype.

    Returns:
        Matrix with values from -1 to 1 (complex: in both parts); NaN for constant variables.

    Raises:
        ShapeError: more than two axes.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.corrcoef(np.asarray([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])))
        [[ 1. -1.]
         [-1.  1.]]
    """
    return _corrcoef(x, y, rowvar, asked_dtype("corrcoef", dtype))


@library(2)
def _corrcoef(x: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    c = _covariance(_variables("corrcoef", x, y, rowvar, dtype), None, None, 1)
    t = type_of(c)
    if t.ndim == 0:
        return apply(div, c, c)
    n = t.shape[0]
    diagonal = [
        reshape(part(part(c, 0, i, i + 1), 1, i, i + 1), (1,)) for i in np.arange(n).tolist()
    ]
    variances = apply(Concatenate.of(0), *diagonal) if n > 1 else diagonal[0]
    if t.kind == "c":
        variances = apply(real, variances)
    deviation = as_dtype(apply(sqrt, variances), t.dtype)
    for axis in (0, 1):
        c = apply(div, c, apply(Broadcast.of((n, n), (axis,)), deviation))
    if t.kind == "c":
        return c
    one = t.dtype.type(1)
    return apply(clamp, -one, c, one)


__all__ = ["corrcoef", "cov"]
