"""Random orthogonal matrices."""

from __future__ import annotations

from typing import Any

from .. import lax
from .. import numpy as np
from ..api.library import library
from ..core.tracing import type_of
from .common import as_shape, float_dtype, refuse_sharding
from .keys import check_key
from .uniform import normal


@library(1)
def orthogonal(
    key: Any,
    n: int,
    shape: Any = (),
    dtype: Any = None,
    m: int | None = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Uniformly distributed orthogonal (or unitary) matrices, or their first rows or columns.

    Q of the QR factorisation of a normal matrix whose R has a positive diagonal.

    Args:
        key: a random key.
        n: number of rows.
        shape: shape of the result without its last two axes.
        dtype: floating or complex dtype; default float32 (float64 with ``enable_x64``).
        m: number of columns; default n.
        out_sharding: must be None.

    Returns:
        (*shape, n, m); its rows are orthonormal if n <= m, its columns if n >= m.

    Example:
        >>> import numlift as nl
        >>> from numlift.random import orthogonal
        >>> from numlift import random
        >>> q = orthogonal(random.key(0), 3)
        >>> bool(abs(q @ q.T - nl.numpy.eye(3)).max() < 1e-5)
        True
    """
    function = "random.orthogonal"
    refuse_sharding(function, out_sharding)
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype, "fc")
    shape = as_shape(function, shape)
    (n,) = as_shape(function, n)
    m = n if m is None else as_shape(function, m)[0]
    q = orthonormal_columns(normal(typed, (*shape, max(n, m), min(n, m)), dtype))
    return np.conj(np.swapaxes(q, -1, -2)) if n < m else q


def orthonormal_columns(a: Any) -> Any:
    """Q of the QR factorisation of tall matrices (..., n, m) whose R has a positive diagonal.

    Gram-Schmidt, column by column, each made orthogonal twice: that is as exact as reflections
    for the well-conditioned matrices of normal numbers that it is used on.
    """
    t = type_of(a)

    def step(j: Any, q: Any) -> Any:
        column = lax.dynamic_slice_in_dim(a, j, 1, axis=t.ndim - 1)
        for _ in range(2):
            column = column - q @ (np.conj(np.swapaxes(q, -1, -2)) @ column)
        length = np.sqrt(np.sum(np.real(column * np.conj(column)), axis=-2, keepdims=True))
        column = column / length.astype(t.dtype)
        return lax.dynamic_update_slice_in_dim(q, column, j, axis=t.ndim - 1)

    return lax.fori_loop(0, t.shape[-1], step, np.zeros(t.shape, t.dtype))


__all__ = ["orthogonal", "orthonormal_columns"]
