"""Diagonals and triangles: eye, tri, tril, triu, diagonal, trace, diag, vander."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.dims import as_size
from ..core.dtypes import user_dtype
from ..core.integers import check_number
from ..core.tracing import EVAL, apply, current, type_of
from ..ops import compare
from ..ops.shape import Iota, Pad
from ..ops.slicing import Slice
from ..runtime.transfer import as_array
from ..structural import arith
from ..structural.shape import Broadcast, ReduceSum, Transpose, reshape
from .creation import placed, unused
from .elementwise import no_out
from .filling import shape_of
from .powers import power
from .reducing import asked_dtype, sum_dtype
from .util import as_value, cast, check_axes, check_axis, expand

_INT = np.dtype(np.int32)
_HOST_LIMIT = 1 << 16


def whole(function: str, name: str, x: Any) -> int:
    """An argument that must be an int.

    Raises:
        ArgumentError: it is none.
    """
    try:
        return as_size(x)
    except TypeError:
        raise errors.ArgumentError(
            errors.explain(function, f"{name} must be an int", {name: x})
        ) from None


def _band(shape: tuple[int, ...], k: Any, relation: Any) -> Any:
    """Bool array over the last two axes: column <relation> row + k."""
    row = apply(Iota.of(_INT, shape, len(shape) - 2, None))
    column = apply(Iota.of(_INT, shape, len(shape) - 1, None))
    if not isinstance(k, int) or k:
        k = np.int32(k) if isinstance(k, int) else arith.convert(as_value(k, "eye", "k"), _INT)
        row = apply(arith.add, row, k)
    return apply(relation, column, row)


def _one_size(function: str, name: str, n: Any) -> Any:
    sizes = shape_of(function, n)
    if len(sizes) != 1 or isinstance(n, (list, tuple)):
        raise errors.ArgumentError(errors.explain(function, f"{name} must be an int", {name: n}))
    return sizes[0]


def _banded(function: str, N: Any, M: Any, k: Any, dtype: Any, relation: Any, host: Any) -> Any:
    n = _one_size(function, "N", N)
    m = n if M is None else _one_size(function, "M", M)
    wanted = user_dtype(float if dtype is None else dtype, function, False)
    if isinstance(k, (int, np.integer)):
        k = int(k)
        if current.get() is EVAL and n * m <= _HOST_LIMIT:
            return as_array(host(n, m, k), wanted, explicit=True)
    mask = _band((n, m), k, relation)
    return cast(mask, type_of(mask), wanted)


@explains
def eye(
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: None = None,
    out_sharding: Any = None,
) -> Any:
    """Ones on diagonal number k of an N by M matrix, zeros elsewhere: ``out[i, j] = (j == i + k)``.

    Args:
        N: int, the number of rows.
        M: int, the number of columns; None is N.
        k: int; 0 is the main diagonal, positive numbers lie above it. May be a traced scalar.
        dtype: dtype of the result; None is float32 (float64 with x64 on).
        order: accepted for compatibility: arrays have one layout.
        device: device or sharding of the result.
        like: must be None: this function makes arrays of Numlift.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of shape (N, M). A diagonal that lies outside gives zeros only.

    Raises:
        ShapeError: N or M is negative.  ArgumentError: N or M is no int.

    Example:
        >>> import numlift.numpy as np
        >>> np.eye(2, 3, k=1, dtype=int)
        Array([[0, 1, 0],
               [0, 0, 1]], dtype=int32)
    """
    unused("eye", order, like)
    return placed(_banded("eye", N, M, k, dtype, compare.eq, np.eye), device, out_sharding)


@explains
def identity(n: Any, dtype: Any = None, *, like: None = None) -> Any:
    """The n by n identity matrix: ones on the main diagonal, zeros elsewhere.

    Args:
        n: int, the number of rows and of columns.
        dtype: dtype of the result; None is float32 (float64 with x64 on).
        like: must be None: this function makes arrays of Numlift.

    Returns:
        Array of shape (n, n); `eye` also makes other shapes and diagonals.

    Raises:
        ShapeError: n is negative.  ArgumentError: n is no int.

    Example:
        >>> import numlift.numpy as np
        >>> np.identity(2)
        Array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype, like=like)


@explains
def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = None, *, like: None = None) -> Any:
    """Ones at and below diagonal k of an N by M matrix, zeros above: ``out[i, j] = (j <= i + k)``.

    ``tri(n) @ x`` are the running sums of x.

    Args:
        N: int, the number of rows.
        M: int, the number of columns; None is N.
        k: int; 0 is the main diagonal, positive numbers lie above it.
        dtype: dtype of the result; None is float32 (float64 with x64 on).
        like: must be None: this function makes arrays of Numlift.

    Returns:
        Array of shape (N, M).

    Raises:
        ShapeError: N or M is negative.  ArgumentError: N or M is no int.

    Example:
        >>> import numlift.numpy as np
        >>> np.tri(2, 3, dtype=int)
        Array([[1, 0, 0],
               [1, 1, 0]], dtype=int32)
    """
    unused("tri", None, like)
    return _banded("tri", N, M, k, dtype, compare.le, np.tri)


def _triangle(function: str, m: Any, k: Any, lower: bool) -> Any:
    x = as_value(m, function, "m")
    t = type_of(x)
    if not t.ndim:
        raise errors.ArgumentError(
            errors.explain(function, "needs an array with an axis", {"m": t}, try_="m[None, None]")
        )
    shape = t.shape
    if t.ndim == 1:  # as NumPy: every row of a square
        shape = shape * 2
        x = apply(Broadcast.of(shape, (1,), None), x)
    zero = t.dtype.type(0)
    if lower:
        return apply(arith.select, _band(shape, k, compare.le), zero, x)
    return apply(arith.select, _band(shape, k, compare.ge), zero, x)


@library(1)
def tril(m: Any, k: int = 0) -> Any:
    """The lower triangle of the last two axes: elements above diagonal k become 0.

    Args:
        m: array of shape (..., rows, columns), any dtype. A vector of n elements stands for n equal
            rows.
        k: int; 0 is the main diagonal, positive numbers lie above it.

    Returns:
        Array of the shape (n by n for a vector) and dtype of `m`. Derivative: 1 at the elements
        that are kept, 0 at the others.

    Raises:
        ArgumentError: `m` is a scalar.

    Example:
        >>> import numlift.numpy as np
        >>> np.tril(np.asarray([[1, 2, 3], [4, 5, 6]]))
        Array([[1, 0, 0],
               [4, 5, 0]], dtype=int32)
    """
    return _triangle("tril", m, k, True)


@library(1)
def triu(m: Any, k: int = 0) -> Any:
    """The upper triangle of the last two axes: elements below diagonal k become 0.

    Args:
        m: array of shape (..., rows, columns), any dtype. A vector of n elements stands for n equal
            rows.
        k: int; 0 is the main diagonal, positive numbers lie above it.

    Returns:
        Array of the shape (n by n for a vector) and dtype of `m`. Derivative: 1 at the elements
        that are kept, 0 at the others.

    Raises:
        ArgumentError: `m` is a scalar.

    Example:
        >>> import numlift.numpy as np
        >>> np.triu(np.asarray([[1, 2, 3], [4, 5, 6]]), k=1)
        Array([[0, 2, 3],
               [0, 0, 6]], dtype=int32)
    """
    return _triangle("triu", m, k, False)


# --- diagonals -----------------------------------------------------------------------------


@library(1)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal over two axes: ``out[..., i] = a[i, i + offset, ...]`` for the first two.

    Args:
        a: array with at least 2 axes, any dtype.
        offset: int, which diagonal: 0 is the main one, positive numbers lie above it.
        axis1: int, the axis that counts as rows.
        axis2: int, the axis that counts as columns.

    Returns:
        Array of the dtype of `a`: the axes that stay, then the diagonal as the last axis. It is
        empty if the diagonal lies outside. The derivative goes back to the elements that were
        taken.

    Raises:
        ShapeError: fewer than 2 axes.  ValueArgumentError: axis1 and axis2 are one axis.
        AxisError: an axis is out of range.

    Differences from NumPy: the result is an array of its own, not a view of `a`.

    Example:
        >>> import numlift.numpy as np
        >>> np.diagonal(np.asarray([[1, 2, 3], [4, 5, 6]]), offset=1)
        Array([2, 6], dtype=int32)
        >>> np.diagonal(np.zeros((2, 3, 4)), axis1=0, axis2=2).shape
        (3, 2)
    """
    x = as_value(a, "diagonal", "a")
    t = type_of(x)
    if t.ndim < 2:
        raise errors.ShapeError(
            errors.explain("diagonal", "needs an array with at least 2 axes", {"a": t})
        )
    first = check_axis("diagonal", axis1, t.ndim, "axis1")
    second = check_axis("diagonal", axis2, t.ndim, "axis2")
    if first == second:
        raise errors.ValueArgumentError(
            errors.explain("diagonal", "axis1 and axis2 must differ", {"axis1": axis1})
        )
    rest = tuple(i for i in range(t.ndim) if i not in (first, second))
    order = (*rest, first, second)
    if order != tuple(range(t.ndim)):
        x = apply(Transpose.of(order), x)
    return last_diagonal(x, whole("diagonal", "offset", offset))


def last_diagonal(x: Any, k: int) -> Any:
    """Diagonal k of the last two axes: every (columns + 1)th element from its first."""
    shape = type_of(x).shape
    *batch, n, m = shape
    row, column = max(0, -k), max(0, k)
    length = max(0, min(n - row, m - column))
    flat = reshape(x, (*batch, n * m))
    start = row * m + column if length else 0
    stop = start + (length - 1) * (m + 1) + 1 if length else 0
    zeros, ones = (0,) * len(batch), (1,) * len(batch)
    return apply(Slice.of((*zeros, start), (*batch, stop), (*ones, m + 1)), flat)


@library(1)
def trace(
    a: Any,
    offset: Any = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: None = None,
) -> Any:
    """Sum of the elements on a diagonal of two axes: ``sum_i a[i, i + offset]``.

    Args:
        a: array of rank >= 2, any dtype.
        offset: int, which diagonal: 0 is the main one, positive numbers lie above it. May be
            traced.
        axis1: int, the axis that counts as rows.
        axis2: int, the axis that counts as columns.
        dtype: dtype to add in and to return. None: bools and integers of fewer than 32 bits become
            int32 or uint32 (64 bits with x64 on).
        out: must be None: arrays are immutable.

    Returns:
        Array of the axes that stay. Derivative: 1 on the diagonal, else 0.

    Raises:
        ShapeError: fewer than two axes.  AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.array([[1, 2], [3, 4]])
        >>> print(np.trace(x), np.trace(x, offset=1))
        5 2
    """
    no_out("trace", out)
    x = as_value(a, "trace")
    t = type_of(x)
    if t.ndim < 2:
        raise errors.ShapeError(errors.explain("trace", "a needs at least two axes", {"a": t}))
    i, j = check_axes("trace", (axis1, axis2), t.ndim)
    x = arith.convert(x, asked_dtype("trace", dtype) or sum_dtype(t.dtype))
    if isinstance(offset, (int, np.integer)):
        return apply(ReduceSum.of((t.ndim - 2,)), diagonal(x, int(offset), i, j))
    row = apply(Iota.of(_INT, t.shape, i, None))
    column = apply(Iota.of(_INT, t.shape, j, None))
    on = apply(
        compare.eq, apply(arith.add, row, arith.convert(as_value(offset, "trace"), _INT)), column
    )
    zero = type_of(x).dtype.type(0)
    return apply(ReduceSum.of(tuple(sorted((i, j)))), apply(arith.select, on, zero, x))


@library(1)
def diag(v: Any, k: int = 0) -> Any:
    """Diagonal k of a matrix, or the matrix with a vector on diagonal k and zeros elsewhere.

    Args:
        v: vector or matrix, any dtype.
        k: int, which diagonal: 0 is the main one, positive numbers lie above it.

    Returns:
        For a vector of n elements a square matrix with ``n + abs(k)`` rows; for a matrix the vector
        on its diagonal. The dtype is that of `v`; the derivative goes the other way.

    Raises:
        ShapeError: `v` has neither 1 nor 2 axes.  ArgumentError: k is no int.

    Differences from NumPy: the diagonal of a matrix is an array of its own, not a view.

    Example:
        >>> import numlift.numpy as np
        >>> np.diag(np.asarray([1, 2]), k=1)
        Array([[0, 1, 0],
               [0, 0, 2],
               [0, 0, 0]], dtype=int32)
        >>> np.diag(np.asarray([[1, 2], [3, 4]]))
        Array([1, 4], dtype=int32)
    """
    x = as_value(v, "diag", "v")
    t = type_of(x)
    k = whole("diag", "k", k)
    if t.ndim == 1:
        return _on_diagonal(x, k)
    if t.ndim == 2:
        return last_diagonal(x, k)
    raise errors.ShapeError(
        errors.explain(
            "diag", "needs an array with 1 or 2 axes", {"v": t}, try_="np.diagonal(v) for more"
        )
    )


def _on_diagonal(x: Any, k: int) -> Any:
    t = type_of(x)
    n = t.shape[0] + abs(k)
    zero = t.dtype.type(0)
    if k:
        x = apply(Pad.of(((0, abs(k), 0),)), x, zero)
    # above the main diagonal element i is in row i, below it in column i
    rows = apply(Broadcast.of((n, n), (0 if k >= 0 else 1,), None), x)
    return apply(arith.select, _band((n, n), k, compare.eq), zero, rows)


@library(1)
def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with all elements of `v`, in row-major order, on diagonal k.

    Args:
        v: array of any shape and dtype; unlike `diag`, matrices are flattened.
        k: int, which diagonal: 0 is the main one, positive numbers lie above it.

    Returns:
        Square matrix of the dtype of `v`, with ``v.size + abs(k)`` rows.

    Raises:
        ArgumentError: k is no int.

    Example:
        >>> import numlift.numpy as np
        >>> np.diagflat([[1, 2]])
        Array([[1, 0],
               [0, 2]], dtype=int32)
    """
    x = as_value(v, "diagflat", "v")
    return _on_diagonal(reshape(x, (type_of(x).size,)), whole("diagflat", "k", k))


@explains
def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """A copy of `a` with `val` on its main diagonal, the elements ``a[i, i, ..., i]``.

    Args:
        a: array with at least 2 axes, all of one length if there are more than 2.
        val: number, or array whose elements are used in turn; converted to the dtype of `a`.
        wrap: in matrices with more rows than columns, start a new diagonal one row after each end.
        inplace: must be False: arrays are immutable.

    Returns:
        Array of the shape and dtype of `a`. Derivative: 0 in the elements of `a` that are replaced,
        and sums over its places in each element of `val`.

    Raises:
        ImmutableArrayError: inplace is True.  ShapeError: fewer than 2 axes, more than 2 of
        different lengths, or `val` is empty.

    Differences from NumPy: the result is returned, and ``inplace=False`` is required, as in JAX.

    Example:
        >>> import numlift.numpy as np
        >>> np.fill_diagonal(np.zeros((2, 3)), np.asarray([5, 6]), inplace=False)
        Array([[5., 0., 0.],
               [0., 6., 0.]], dtype=float32)
    """
    if inplace:
        raise errors.ImmutableArrayError(
            errors.explain(
                "fill_diagonal",
                "arrays are immutable",
                try_="a = np.fill_diagonal(a, val, inplace=False)",
            )
        )
    return _fill_diagonal(a, val, bool(wrap))


@library(2)
def _fill_diagonal(a: Any, val: Any, wrap: bool) -> Any:
    x, v = as_value(a, "fill_diagonal", "a"), as_value(val, "fill_diagonal", "val")
    t = type_of(x)
    if t.ndim < 2 or (t.ndim > 2 and len(set(t.shape)) > 1):
        raise errors.ShapeError(
            errors.explain(
                "fill_diagonal",
                "needs 2 axes, or more axes of one length",
                {"a": t},
            )
        )
    check_number("fill_diagonal", v, t)
    v = arith.convert(v, t.dtype)
    size = t.size
    if t.ndim == 2:
        step = t.shape[1] + 1
        end = size if wrap or t.shape[0] <= t.shape[1] else t.shape[1] * t.shape[1]
    else:
        step, end = sum(t.shape[0] ** i for i in range(t.ndim)), size
    count = -(-end // step) if end else 0
    if not type_of(v).size:
        raise errors.ShapeError(
            errors.explain("fill_diagonal", "val must not be empty", {"val": type_of(v)})
        )
    if type_of(v).size != 1 and count:
        v = _in_turn(v, count)
        gaps = ((0, size - ((count - 1) * step + 1), step - 1),)
        v = reshape(apply(Pad.of(gaps), v, t.dtype.type(0)), t.shape)
    else:
        v = reshape(v, ())
    mask = np.zeros(size, bool)
    mask[:end:step] = True
    return apply(arith.select, mask.reshape(t.shape), x, v)


def _in_turn(v: Any, count: int) -> Any:
    """`count` elements of v, over and over again."""
    n = type_of(v).size
    v = reshape(v, (n,))
    times = -(-count // n)
    if times > 1:
        v = reshape(apply(Broadcast.of((times, n), (1,), None), v), (times * n,))
    return apply(Slice.of((0,), (count,), None), v)


@explains
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """Vandermonde matrix: row i holds the powers of x[i].

    ``out[i, j] = x[i] ** (N - 1 - j)``, or ``x[i] ** j`` if increasing. With coefficients c,
    ``vander(x, c.size) @ c`` is ``polyval(c, x)``.

    Args:
        x: vector, any dtype.
        N: int, the number of columns; None is the length of x.
        increasing: powers 0, 1, 2, ... from left to right instead of right to left.

    Returns:
        Array of shape ``(x.size, N)`` and the dtype of x (int32 for bools, int64 with x64 on). The
        derivative of a column is ``n x**(n - 1)``, and 0 at x = 0 for the column of ones.

    Raises:
        ShapeError: x is no vector.  ValueArgumentError: N is negative.

    Example:
        >>> import numlift.numpy as np
        >>> np.vander(np.asarray([2, 3]), 3)
        Array([[4, 2, 1],
               [9, 3, 1]], dtype=int32)
    """
    x = as_value(x, "vander", "x")
    t = type_of(x)
    if t.ndim != 1:
        raise errors.ShapeError(errors.explain("vander", "x must be a vector", {"x": t}))
    n = t.shape[0] if N is None else whole("vander", "N", N)
    if n < 0:
        raise errors.ValueArgumentError(errors.explain("vander", f"N is negative: {n}"))
    return _powers_of(x, n, bool(increasing))


@library(1)
def _powers_of(x: Any, n: int, increasing: bool) -> Any:
    """Powers 0 to n - 1 of the elements of a vector, along a last axis."""
    exponents = np.arange(n, dtype=np.int32)
    return power(expand(x, (1,)), exponents if increasing else exponents[::-1])


__all__ = [
    "diag",
    "diagflat",
    "diagonal",
    "eye",
    "fill_diagonal",
    "identity",
    "trace",
    "tri",
    "tril",
    "triu",
    "vander",
]
