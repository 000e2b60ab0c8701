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
    """The solution x of ``a @ x = b``.

    Args:
        a: (..., n, n).
        b: a vector (n,), or (..., n, k).

    Returns:
        x, of the shape of `b` with batch axes broadcast; inf or NaN if `a` is singular (NumPy
        raises). Derivatives follow from the equation.

    Raises:
        ShapeError: `a` is not square, or sizes do not agree.

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
    """Inverses of square matrices; inf or NaN where they are singular (NumPy raises).

    Raises:
        ShapeError: not square.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    x = matrices("linalg.inv", a, True)
    return solve_square(x, _identity_like(x))


@library(arrays=1)
def slogdet(a: Any, *, method: str | None = None) -> Any:
    """Sign (or phase) and logarithm of the absolute value of determinants.

    Args:
        a: (..., n, n).
        method: None or "lu".

    Returns:
        A named tuple (sign, logabsdet), with ``det = sign * exp(logabsdet)``: 0 and -inf for
        singular matrices, where the derivative is not defined.

    Raises:
        ShapeError: not square.  ValueArgumentError: unknown method.

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
        a: (..., n, n).

    Returns:
        (...). First and second derivatives are right for singular matrices too.

    Raises:
        ShapeError: not square.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.det(np.array([[1.0, 2.0], [3.0, 4.0]])))
        -2.0
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

    Raises:
        ShapeError: the map is not square.  ValueArgumentError: `ind` is not positive.

    Example:
        >>> import numlift.numpy as np
        >>> np.linalg.tensorinv(np.eye(6).reshape(2, 3, 6), 2).shape
        (6, 2, 3)
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
    """x with ``tensordot(a, x, x.ndim) = b``.

    Args:
        a: array of shape b.shape + x.shape.
        b: right-hand side.
        axes: axes of `a` to move to its end first.

    Raises:
        ShapeError: the map is not square.

    Example:
        >>> import numlift.numpy as np
        >>> np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 6), np.ones((2, 3))).shape
        (6,)
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
