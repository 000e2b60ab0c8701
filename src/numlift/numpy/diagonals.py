"""Diagonals and triangles: eye, tri, tril, triu, diag, diagonal, vander and index functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.library import library
from ..core.dims import as_size
from ..core.dtypes import user_dtype
from ..core.tracing import EVAL, apply, current, type_of
from ..lax.arguments import static_int
from ..ops import compare
from ..ops.shape import Iota, Pad
from ..ops.slicing import Slice
from ..runtime.transfer import as_array
from ..structural import arith
from ..structural.shape import Broadcast, Transpose, reshape
from .creation import placed, shape_of, unused
from .powers import power
from .ranges import arange
from .util import as_value, cast, check_axis, expand

_INT = np.dtype(np.int32)
_HOST_LIMIT = 1 << 16


def _whole(function: str, name: str, x: Any) -> int:
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


def _banded(function: str, N: Any, M: Any, k: Any, dtype: Any, relation: Any, host: Any) -> Any:
    n = shape_of(function, N)[0]
    m = n if M is None else shape_of(function, M)[0]
    wanted = user_dtype(float if dtype is None else dtype, function, False)
    if isinstance(k, (int, np.integer)):
        k = int(k)
        if current.get() is EVAL and n * m <= _HOST_LIMIT:
            return as_array(host(n, m, k), wanted, explicit=True)
    mask = _band((n, m), k, relation)
    return cast(mask, type_of(mask), wanted)


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
    """Ones on diagonal number k of an N by M matrix, zeros elsewhere.

    Args:
        N, M: number of rows and columns (M = N by default).
        k: 0 is the main diagonal, positive numbers lie above it. May be traced.
        dtype: dtype of the result, the default float.
        order, device, like, out_sharding: see `zeros`.

    Example:
        >>> import numlift.numpy as np
        >>> np.eye(2, dtype=int)
        Array([[1, 0],
               [0, 1]], dtype=int32)
    """
    unused("eye", order, like)
    return placed(_banded("eye", N, M, k, dtype, compare.eq, np.eye), device, out_sharding)


def identity(n: Any, dtype: Any = None, *, like: None = None) -> Any:
    """The n by n identity matrix.

    Example:
        >>> import numlift.numpy as np
        >>> np.identity(2)
        Array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype, like=like)


def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = None, *, like: None = None) -> Any:
    """Ones at and below diagonal k of an N by M matrix, zeros above.

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

    A vector stands for a square of equal rows.

    Example:
        >>> import numlift.numpy as np
        >>> np.tril(np.ones((2, 2), int))
        Array([[1, 0],
               [1, 1]], dtype=int32)
    """
    return _triangle("tril", m, k, True)


@library(1)
def triu(m: Any, k: int = 0) -> Any:
    """The upper triangle of the last two axes: elements below diagonal k become 0.

    A vector stands for a square of equal rows.

    Example:
        >>> import numlift.numpy as np
        >>> np.triu(np.ones((2, 2), int))
        Array([[1, 1],
               [0, 1]], dtype=int32)
    """
    return _triangle("triu", m, k, False)


# --- diagonals -----------------------------------------------------------------------------


@library(1)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Diagonal number `offset` over two axes; it becomes the last axis of the result.

    Example:
        >>> import numlift.numpy as np
        >>> np.diagonal(np.asarray([[1, 2], [3, 4]]))
        Array([1, 4], dtype=int32)
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
    return last_diagonal(x, _whole("diagonal", "offset", offset))


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
def diag(v: Any, k: int = 0) -> Any:
    """Diagonal k of a matrix, or the matrix with a vector on diagonal k and zeros elsewhere.

    Example:
        >>> import numlift.numpy as np
        >>> np.diag(np.asarray([1, 2]))
        Array([[1, 0],
               [0, 2]], dtype=int32)
    """
    x = as_value(v, "diag", "v")
    t = type_of(x)
    k = _whole("diag", "k", k)
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
    """A matrix with all elements of `v` on diagonal k.

    Example:
        >>> import numlift.numpy as np
        >>> np.diagflat([[1, 2]])
        Array([[1, 0],
               [0, 2]], dtype=int32)
    """
    x = as_value(v, "diagflat", "v")
    return _on_diagonal(reshape(x, (type_of(x).size,)), _whole("diagflat", "k", k))


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """A copy of `a` with `val` on its main diagonal.

    Args:
        a: array with at least 2 axes, all of one length if there are more than 2.
        val: number, or array whose elements are used in turn.
        wrap: in tall matrices, go on after the diagonal has left the matrix.
        inplace: must be False: arrays are immutable.

    Example:
        >>> import numlift.numpy as np
        >>> np.fill_diagonal(np.zeros((2, 2)), 5, inplace=False)
        Array([[5., 0.],
               [0., 5.]], dtype=float32)
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
    v = arith.convert(v, t.dtype)
    size = t.size
    if t.ndim == 2:
        step = t.shape[1] + 1
        end = size if wrap or t.shape[0] <= t.shape[1] else t.shape[1] * t.shape[1]
    else:
        step, end = sum(t.shape[0] ** i for i in range(t.ndim)), size
    count = -(-end // step) if end else 0
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


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """Vandermonde matrix: row i holds the powers of x[i].

    Args:
        x: vector.
        N: number of columns, by default the length of x.
        increasing: powers 0, 1, 2, ... from left to right instead of right to left.

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
    n = t.shape[0] if N is None else _whole("vander", "N", N)
    if n < 0:
        raise errors.ValueArgumentError(errors.explain("vander", f"N is negative: {n}"))
    exponents = np.arange(n, dtype=np.int32)
    exponents = exponents if increasing else exponents[::-1]
    return power(expand(x, (1,)), exponents)


# --- indices -------------------------------------------------------------------------------


def _indices(found: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
    dtype = type_of(0).dtype
    return tuple(as_array(i, dtype, explicit=True) for i in found)


def tril_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[Any, Any]:
    """Row and column numbers of the lower triangle of an n by m matrix.

    Example:
        >>> import numlift.numpy as np
        >>> np.tril_indices(2)
        (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    rows, columns = _indices(
        np.tril_indices(static_int("tril_indices", "n", n), static_int("tril_indices", "k", k), m)
    )
    return rows, columns


def triu_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[Any, Any]:
    """Row and column numbers of the upper triangle of an n by m matrix.

    Example:
        >>> import numlift.numpy as np
        >>> np.triu_indices(2)
        (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    rows, columns = _indices(
        np.triu_indices(static_int("triu_indices", "n", n), static_int("triu_indices", "k", k), m)
    )
    return rows, columns


def _matrix_shape(arr: Any, function: str) -> tuple[int, int]:
    shape = tuple(arr.shape) if hasattr(arr, "shape") else type_of(as_value(arr, function)).shape
    if len(shape) != 2:
        raise errors.ShapeError(errors.explain(function, "arr must have 2 axes", {"shape": shape}))
    return shape[0], shape[1]


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """`tril_indices` for the shape of a matrix.

    Example:
        >>> import numlift.numpy as np
        >>> np.tril_indices_from(np.ones((1, 2)))
        (Array([0], dtype=int32), Array([0], dtype=int32))
    """
    n, m = _matrix_shape(arr, "tril_indices_from")
    return tril_indices(n, k, m)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """`triu_indices` for the shape of a matrix.

    Example:
        >>> import numlift.numpy as np
        >>> np.triu_indices_from(np.ones((1, 2)))
        (Array([0, 0], dtype=int32), Array([0, 1], dtype=int32))
    """
    n, m = _matrix_shape(arr, "triu_indices_from")
    return triu_indices(n, k, m)


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """Indices of the main diagonal of an array with `ndim` axes of length n.

    Example:
        >>> import numlift.numpy as np
        >>> np.diag_indices(2)
        (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    n, ndim = _whole("diag_indices", "n", n), _whole("diag_indices", "ndim", ndim)
    if n < 0 or ndim < 0:
        raise errors.ValueArgumentError(
            errors.explain(
                "diag_indices", "n and ndim must not be negative", {"n": n, "ndim": ndim}
            )
        )
    return (arange(n),) * ndim


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """`diag_indices` for an array whose axes have one length.

    Example:
        >>> import numlift.numpy as np
        >>> np.diag_indices_from(np.ones((2, 2)))
        (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    shape = tuple(arr.shape) if hasattr(arr, "shape") else type_of(as_value(arr, "arr")).shape
    if len(shape) < 2 or len(set(shape)) > 1:
        raise errors.ShapeError(
            errors.explain(
                "diag_indices_from",
                "needs at least 2 axes, all of one length",
                {"shape": shape},
            )
        )
    return diag_indices(shape[0], len(shape))


def mask_indices(n: int, mask_func: Any, k: Any = 0, *, size: int | None = None) -> tuple[Any, Any]:
    """Indices of the elements that ``mask_func(ones((n, n)), k)`` keeps.

    Args:
        n: size of the matrix.
        mask_func: function such as `tril` or `triu`.
        k: passed on to it.
        size: length of the result: cut, or filled up with 0.

    Raises:
        TracerArrayConversionError: the mask depends on traced values.

    Example:
        >>> import numlift.numpy as np
        >>> np.mask_indices(2, np.triu)
        (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    mask = mask_func(as_array(np.ones((n, n), np.int32), explicit=True), k)
    found = np.nonzero(np.asarray(mask))
    if size is not None:
        found = tuple(np.pad(i[:size], (0, max(0, size - len(i)))) for i in found)
    rows, columns = _indices(found)
    return rows, columns


__all__ = [
    "diag",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "eye",
    "fill_diagonal",
    "identity",
    "mask_indices",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "vander",
]
