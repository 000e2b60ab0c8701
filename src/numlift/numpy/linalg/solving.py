"""Solutions of linear systems, inverses, determinants."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ... import errors
from ...api.library import library
from ...core.tracing import type_of
from ..diagonals import eye
from ..exponential import log
from ..reductions import prod, sum
from ..selection import where
from ..util import as_value, broadcast_shape, broadcast_to_shape, to_inexact
from .decompositions import matrices
from .determinants import determinant, parity, solve_square


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Any
    logabsdet: Any


@library(arrays=2)
def solve(a: Any, b: Any) -> Any:
    """The solutions x of ``a @ x = b``, by LU decomposition with pivots.

    Args:
        a: (..., n, n); integers become floats.
        b: a vector (n,), or (..., n, k) with k right-hand sides; batch axes broadcast.

    Returns:
        x, of the shape of `b` with batch axes broadcast; inf or nan where `a` is singular.
        Derivatives follow from the equation: ``dx = solve(a, db - da @ x)``.

    Raises:
        LinAlgError: `a` is not square.  ShapeError: sizes do not agree.

    Differences from NumPy: singular matrices do not raise.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0])))
        [1.  0.5]
    """
    x, y = to_inexact(as_value(a, "linalg.solve"), as_value(b, "linalg.solve", "b"))
    x = matrices("linalg.solve", x, True)
    vector = type_of(y).ndim == 1
    if vector:
        y = y[:, None]
    t, u = type_of(x), type_of(y)
    if u.ndim < 2 or u.shape[-2] != t.shape[-1]:
        raise errors.ShapeError(
            errors.explain(
                "linalg.solve",
                f"b must be a vector of {t.shape[-1]} or matrices with {t.shape[-1]} rows",
                {"a": t, "b": type_of(as_value(b, "linalg.solve", "b"))},
                try_="b[..., None] for an array of vectors",
            )
        )
    batch = broadcast_shape("linalg.solve", t.shape[:-2], u.shape[:-2])
    x = broadcast_to_shape(x, (*batch, *t.shape[-2:]))
    y = broadcast_to_shape(y, (*batch, *u.shape[-2:]))
    found = solve_square(x, y)
    return found[..., 0] if vector else found


def _identity_like(x: Any) -> Any:
    t = type_of(x)
    return broadcast_to_shape(eye(t.shape[-1], dtype=t.dtype), t.shape)


@library(arrays=1)
def inv(a: Any) -> Any:
    """Inverses of square matrices; to solve equations `solve` is faster and more accurate.

    Args:
        a: (..., n, n); integers become floats.

    Returns:
        (..., n, n), with inf or nan where a matrix is singular. Derivative: ``-inv(a) @ da @
        inv(a)``.

    Raises:
        LinAlgError: not square.

    Differences from NumPy: singular matrices do not raise.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.inv(np.array([[2, 0], [0, 4]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    x = matrices("linalg.inv", a, True)
    return solve_square(x, _identity_like(x))


@library(arrays=1)
def slogdet(a: Any, *, method: str | None = None) -> Any:
    """Sign (or phase) and logarithm of the absolute value of determinants.

    ``det = sign * exp(logabsdet)`` without its overflow, for large matrices and densities.

    Args:
        a: (..., n, n); integers become floats.
        method: None or "lu".

    Returns:
        A named tuple (sign, logabsdet) of shape (...), the second one real: 0 and -inf for singular
        matrices, where the derivative is not defined.

    Raises:
        LinAlgError: not square.  ValueArgumentError: unknown method.

    Differences from JAX: no method "qr".

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.slogdet(np.array([[0.0, 1.0], [1.0, 0.0]])))
        SlogdetResult(sign=Array(-1., dtype=float32), logabsdet=Array(0., dtype=float32))
    """
    x = matrices("linalg.slogdet", a, True)
    if method not in (None, "lu"):
        raise errors.ValueArgumentError(
            errors.explain("linalg.slogdet", f"method must be 'lu', not {method!r}")
        )
    entries, sign = parity(x)
    size = abs(entries)
    units = where(size == 0, 0, entries / where(size == 0, 1, size))
    return SlogdetResult(sign * prod(units, axis=-1), sum(log(size), axis=-1))


@library(arrays=1)
def det(a: Any) -> Any:
    """Determinants of square matrices.

    Args:
        a: (..., n, n); integers become floats.

    Returns:
        (...). The derivative is the matrix of cofactors; first and second derivatives are right for
        singular matrices too.

    Raises:
        LinAlgError: not square.

    Example:
        >>> import numlift as nl, numlift.numpy as np
        >>> a = np.array([[1.0, 2.0], [2.0, 4.0]])
        >>> print(np.linalg.det(a), nl.grad(np.linalg.det)(a), sep="\\n")
        0.0
        [[ 4. -2.]
         [-2.  1.]]
    """
    x = matrices("linalg.det", a, True)
    n = type_of(x).shape[-1]
    if n == 1:
        return x[..., 0, 0]
    if n == 2:
        return x[..., 0, 0] * x[..., 1, 1] - x[..., 0, 1] * x[..., 1, 0]
    if n == 3:
        p, q, r = (x[..., i, :] for i in range(3))
        return (
            p[..., 0] * (q[..., 1] * r[..., 2] - q[..., 2] * r[..., 1])
            - p[..., 1] * (q[..., 0] * r[..., 2] - q[..., 2] * r[..., 0])
            + p[..., 2] * (q[..., 0] * r[..., 1] - q[..., 1] * r[..., 0])
        )
    return determinant(x)


@library(arrays=1)
def tensorinv(a: Any, ind: int = 2) -> Any:
    """Inverse of an array as a linear map from its last axes to its first `ind` axes.

    Args:
        a: array; the sizes of its first `ind` axes and those of the others have equal products.
        ind: number of axes of the result of the map.

    Returns:
        Array of shape ``a.shape[ind:] + a.shape[:ind]``, with which ``tensordot(tensorinv(a), b,
        ind)`` is ``tensorsolve(a, b)``. Singular maps give inf or nan.

    Raises:
        LinAlgError: the map is not square.  ValueArgumentError: `ind` is not positive.

    Example:
        >>> import numlift.numpy as np
        >>> a = 2 * np.eye(6).reshape(2, 3, 6)
        >>> x = np.linalg.tensorinv(a, 2)
        >>> x.shape, x.max()
        ((6, 2, 3), Array(0.5, dtype=float32))
    """
    x = as_value(a, "linalg.tensorinv")
    shape = type_of(x).shape
    if ind <= 0:
        raise errors.ValueArgumentError(
            errors.explain("linalg.tensorinv", f"ind must be positive, but is {ind}")
        )
    flat = matrices("linalg.tensorinv", x.reshape(math.prod(shape[:ind]), -1), True)
    return inv(flat).reshape(*shape[ind:], *shape[:ind])


@library(arrays=2)
def tensorsolve(a: Any, b: Any, axes: tuple[int, ...] | None = None) -> Any:
    """The array x with ``tensordot(a, x, x.ndim) = b``.

    Args:
        a: array of shape ``b.shape + x.shape``, where both have equally many elements.
        b: right-hand side.
        axes: axes of `a` to move to its end first.

    Returns:
        x; inf or nan if the map is singular.

    Raises:
        LinAlgError: the map is not square.

    Example:
        >>> import numlift.numpy as np
        >>> a = 2 * np.eye(6).reshape(6, 2, 3)
        >>> print(np.linalg.tensorsolve(a, np.arange(6)))
        [[0.  0.5 1. ]
         [1.5 2.  2.5]]
    """
    x, y = as_value(a, "linalg.tensorsolve"), as_value(b, "linalg.tensorsolve", "b")
    n = type_of(x).ndim
    if axes is not None:
        last = [i % n for i in axes]
        x = x.transpose(*[i for i in range(n) if i not in last], *last)
    shape = type_of(x).shape[type_of(y).ndim :]
    flat = x.reshape(-1, math.prod(shape))
    return solve(matrices("linalg.tensorsolve", flat, True), y.reshape(-1)).reshape(shape)


__all__ = ["det", "inv", "slogdet", "solve", "tensorinv", "tensorsolve"]
