"""Indices of diagonals and triangles: tril_indices, triu_indices, diag_indices, mask_indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..core.tracing import type_of
from ..lax.arguments import static_int
from ..runtime.transfer import as_array
from .diagonals import whole
from .ranges import arange
from .util import as_value


def _indices(found: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
    dtype = type_of(0).dtype
    return tuple(as_array(i, dtype, explicit=True) for i in found)


@explains
def tril_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[Any, Any]:
    """Row and column numbers of the lower triangle of an n by m matrix: all with ``j <= i + k``.

    Args:
        n: int, the number of rows.
        k: int; 0 is the main diagonal, positive numbers lie above it.
        m: int, the number of columns; None is n.

    Returns:
        Two int32 vectors (int64 with x64 on) of one length, in row-major order: ``x[rows,
        columns]`` reads the triangle, and ``x.at[rows, columns].set(v)`` writes it.

    Raises:
        ArgumentError: n or k is no int.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1, 2], [3, 4]])
        >>> rows, columns = np.tril_indices(2)
        >>> print(rows, columns, x[rows, columns])
        [0 1 1] [0 0 1] [1 3 4]
    """
    rows, columns = _indices(
        np.tril_indices(static_int("tril_indices", "n", n), static_int("tril_indices", "k", k), m)
    )
    return rows, columns


@explains
def triu_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[Any, Any]:
    """Row and column numbers of the upper triangle of an n by m matrix: all with ``j >= i + k``.

    Args:
        n: int, the number of rows.
        k: int; 0 is the main diagonal, positive numbers lie above it.
        m: int, the number of columns; None is n.

    Returns:
        Two int32 vectors (int64 with x64 on) of one length, in row-major order: ``x[rows,
        columns]`` reads the triangle, and ``x.at[rows, columns].set(v)`` writes it.

    Raises:
        ArgumentError: n or k is no int.

    Example:
        >>> import numlift.numpy as np
        >>> rows, columns = np.triu_indices(3, k=1)
        >>> print(np.zeros((3, 3), int).at[rows, columns].set(np.asarray([7, 8, 9])))
        [[0 7 8]
         [0 0 9]
         [0 0 0]]
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
    """Row and column numbers of the lower triangle of a matrix: `tril_indices` for its shape.

    Args:
        arr: matrix; only its shape counts, so it may be traced.
        k: int; 0 is the main diagonal, positive numbers lie above it.

    Returns:
        Two int32 vectors (int64 with x64 on) of one length, in row-major order.

    Raises:
        ShapeError: `arr` has not 2 axes.  ArgumentError: k is no int.

    Example:
        >>> import numlift.numpy as np
        >>> np.tril_indices_from(np.ones((1, 2)))
        (Array([0], dtype=int32), Array([0], dtype=int32))
    """
    n, m = _matrix_shape(arr, "tril_indices_from")
    return tril_indices(n, k, m)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """Row and column numbers of the upper triangle of a matrix: `triu_indices` for its shape.

    Args:
        arr: matrix; only its shape counts, so it may be traced.
        k: int; 0 is the main diagonal, positive numbers lie above it.

    Returns:
        Two int32 vectors (int64 with x64 on) of one length, in row-major order.

    Raises:
        ShapeError: `arr` has not 2 axes.  ArgumentError: k is no int.

    Example:
        >>> import numlift.numpy as np
        >>> np.triu_indices_from(np.ones((1, 2)))
        (Array([0, 0], dtype=int32), Array([0, 1], dtype=int32))
    """
    n, m = _matrix_shape(arr, "triu_indices_from")
    return triu_indices(n, k, m)


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """Indices of the main diagonal of an array with `ndim` axes of length n: each is arange(n).

    Args:
        n: int, the length of each axis.
        ndim: int, the number of axes.

    Returns:
        Tuple of `ndim` equal int32 vectors (int64 with x64 on) of n elements.

    Raises:
        ValueArgumentError: n or ndim is negative.  ArgumentError: n or ndim is no int.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.zeros((2, 2)).at[np.diag_indices(2)].add(5))
        [[5. 0.]
         [0. 5.]]
    """
    n, ndim = whole("diag_indices", "n", n), whole("diag_indices", "ndim", ndim)
    if n < 0 or ndim < 0:
        raise errors.ValueArgumentError(
            errors.explain(
                "diag_indices", "n and ndim must not be negative", {"n": n, "ndim": ndim}
            )
        )
    return (arange(n),) * ndim


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """Indices of the main diagonal of an array whose axes have one length.

    Args:
        arr: array with at least 2 axes of one length; only its shape counts, so it may be traced.

    Returns:
        Tuple of ``arr.ndim`` equal int32 vectors (int64 with x64 on).

    Raises:
        ShapeError: fewer than 2 axes, or of different lengths.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1, 2], [3, 4]])
        >>> print(x[np.diag_indices_from(x)])
        [1 4]
    """
    shape = (
        tuple(arr.shape)
        if hasattr(arr, "shape")
        else type_of(as_value(arr, "diag_indices_from", "arr")).shape
    )
    if len(shape) < 2 or len(set(shape)) > 1:
        raise errors.ShapeError(
            errors.explain(
                "diag_indices_from",
                "needs at least 2 axes, all of one length",
                {"shape": shape},
            )
        )
    return diag_indices(shape[0], len(shape))


@explains
def mask_indices(n: int, mask_func: Any, k: Any = 0, *, size: int | None = None) -> tuple[Any, Any]:
    """Indices of the elements that ``mask_func(ones((n, n)), k)`` keeps (where it is not zero).

    Args:
        n: int, the number of rows and of columns.
        mask_func: function of a matrix and `k`, such as `tril` or `triu`.
        k: the second argument of `mask_func`.
        size: int, the length of the result, which is cut or filled up with 0; None is all.

    Returns:
        Two int32 vectors (int64 with x64 on), rows and columns, in row-major order.

    Raises:
        TracerArrayConversionError: the mask depends on traced values.

    Example:
        >>> import numlift.numpy as np
        >>> np.mask_indices(3, np.triu, 1)
        (Array([0, 0, 1], dtype=int32), Array([1, 2, 2], dtype=int32))
    """
    mask = mask_func(as_array(np.ones((n, n), np.int32), explicit=True), k)
    found = np.nonzero(np.asarray(mask))
    if size is not None:
        found = tuple(np.pad(i[:size], (0, max(0, size - len(i)))) for i in found)
    rows, columns = _indices(found)
    return rows, columns


__all__ = [
    "diag_indices",
    "diag_indices_from",
    "mask_indices",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
]
