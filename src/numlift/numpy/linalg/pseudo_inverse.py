"""Least squares, pseudo-inverse, rank and condition: what singular values tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...api.bad_calls import explains
from ...api.custom import custom_jvp
from ...api.library import library
from ...core.dims import Dim, max_size
from ...core.tracing import type_of
from ...ops.linalg_calls import adjoint, columns, product
from ...structural.arith import convert
from ...structural.dim_value import size_as
from ..reductions import max, sum
from ..selection import where
from ..util import as_value, broadcast_to_shape, to_inexact
from .decompositions import matrices, svd, svdvals
from .norms import norm
from .solving import inv


def _cutoff(x: Any, rtol: Any, factor: float) -> Any:
    """The relative tolerance, or machine precision times the longer axis times `factor`."""
    t = type_of(x)
    if rtol is not None:
        return convert(as_value(rtol, "linalg.pinv", "rtol"), np.finfo(t.dtype).dtype)
    eps = np.finfo(t.dtype).eps
    real = np.dtype(np.finfo(t.dtype).dtype)
    longer = max_size(*t.shape[-2:])
    if type(longer) is Dim:
        return size_as(longer, real) * (factor * eps)
    return real.type(factor * longer * eps)


@custom_jvp
def _pinv(x: Any, rtol: Any) -> Any:
    u, s, vh = svd(x, full_matrices=False)
    if type_of(s).shape[-1] == 0:
        return adjoint(x)
    keep = s > rtol[..., None] * s[..., :1]
    inverse = where(keep, 1 / where(keep, s, 1), 0).astype(type_of(x).dtype)
    v = adjoint(vh)
    return product(v * columns(inverse, v), adjoint(u))


@_pinv.defjvp
def _pinv_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Golub and Pereyra 1973, for constant rank."""
    (a, rtol), da = primals, tangents[0]
    p = _pinv(a, rtol)
    ph, dh = adjoint(p), adjoint(da)
    out = -product(p, product(da, p))
    moved = product(product(p, ph), dh)
    out = out + moved - product(moved, product(a, p))
    moved = product(dh, product(ph, p))
    return p, out + moved - product(p, product(a, moved))


@library(arrays=1)
def pinv(a: Any, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Any:
    """Moore-Penrose pseudo-inverses: ``pinv(a) @ b`` is the least squares solution of least norm.

    Args:
        a: (..., m, n); integers become floats.
        rtol: number or (...): singular values up to `rtol` times the largest count as zero; default
            10 * max(m, n) * machine precision.
        hermitian: `a` is Hermitian; the result is the same.
        rcond: older name of `rtol`.

    Returns:
        (..., n, m). The derivative is that at constant rank.

    Raises:
        LinAlgError: not matrices.  ArgumentError: both `rtol` and `rcond`.

    Differences from NumPy: the default `rtol` depends on the size and dtype of `a`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.pinv(np.array([[2.0, 0.0], [0.0, 0.0]])))
        [[0.5 0. ]
         [0.  0. ]]
    """
    if rcond is not None:
        if rtol is not None:
            raise errors.ArgumentError(
                errors.explain("linalg.pinv", "rcond is another name of rtol", try_="rtol=... only")
            )
        rtol = rcond
    x = matrices("linalg.pinv", a, hermitian)
    tolerance = _cutoff(x, rtol, 10.0)
    real = np.finfo(type_of(x).dtype).dtype
    batch = type_of(x).shape[:-2]
    return _pinv(x, broadcast_to_shape(tolerance.astype(real), batch))


@library(arrays=1)
def matrix_rank(M: Any, rtol: Any = None, hermitian: bool = False, *, tol: Any = None) -> Any:
    """Number of singular values above `rtol` times the largest.

    Args:
        M: (..., m, n), or a vector: 1 unless it is zero.
        rtol: number or (...); default max(m, n) * machine precision.
        hermitian: `M` is Hermitian; the result is the same.
        tol: absolute bound, instead of `rtol`.

    Returns:
        Integers (...), without a derivative.

    Raises:
        ValueArgumentError: both `rtol` and `tol`.

    Differences from NumPy: the second argument is `rtol`, not `tol`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.matrix_rank(np.ones((3, 3))), np.linalg.matrix_rank(np.eye(3)))
        1 3
    """
    if rtol is not None and tol is not None:
        raise errors.ValueArgumentError(
            errors.explain("linalg.matrix_rank", "`tol` and `rtol` can't be both set")
        )
    (x,) = to_inexact(as_value(M, "linalg.matrix_rank", "M"))
    if type_of(x).ndim < 2:
        return (x != 0).any().astype(np.int32)
    s = svd(x, compute_uv=False, hermitian=hermitian)
    if type_of(s).shape[-1] == 0:
        return sum(s > 0, axis=-1)
    if tol is not None:
        limit = convert(as_value(tol, "linalg.matrix_rank", "tol"), type_of(s).dtype)
        return sum(s > limit[..., None], axis=-1)
    return sum(s > (_cutoff(x, rtol, 1.0) * max(s, axis=-1))[..., None], axis=-1)


@library(arrays=1)
def cond(x: Any, p: Any = None) -> Any:
    """Condition numbers: the norm of a matrix times that of its inverse.

    They say by how much a relative error of b can grow in the solution of ``a @ x = b``.

    Args:
        x: (..., m, n); square unless `p` is None, 2 or -2. Integers become floats.
        p: order of the norm, as in `norm`; None is 2.

    Returns:
        Real (...); inf or nan for singular matrices.

    Raises:
        LinAlgError: not square where it must be.  ShapeError: empty matrices.

    Differences from NumPy: zero matrices give nan.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.cond(np.array([[4.0, 0.0], [0.0, 2.0]])))
        2.0
    """
    a = matrices("linalg.cond", x, p not in (None, 2, -2))
    if 0 in type_of(a).shape[-2:]:
        raise errors.ShapeError(
            errors.explain("linalg.cond", "matrices must not be empty", {"x": type_of(a)})
        )
    if p in (None, 2, -2):
        s = svdvals(a)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return norm(a, p, (-2, -1)) * norm(inv(a), p, (-2, -1))


@explains
def lstsq(
    a: Any, b: Any, rcond: Any = None, *, numpy_resid: bool = False
) -> tuple[Any, Any, Any, Any]:
    """Least squares: the x of least norm that minimises ``norm(b - a @ x)``.

    Args:
        a: (m, n); integers become floats.
        b: (m,) or (m, k).
        rcond: singular values up to `rcond` times the largest count as zero; default
            max(m, n) * machine precision.
        numpy_resid: return an empty array of residuals where NumPy does: where the rank is below n,
            or m <= n. The rank must be known: not within `jit`.

    Returns:
        (x, residuals, rank, singular values): x is (n,) or (n, k); residuals, (1,) or (k,), are the
        sums of ``|b - a @ x|**2``. Differentiable at constant rank.

    Raises:
        LinAlgError: `a` is no matrix, or sizes do not agree.

    Differences from NumPy: residuals are always there, unless `numpy_resid` is true.

    Example:
        >>> import numlift.numpy as np
        >>> x, *_ = np.linalg.lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
        >>> print(x.round(3))
        [2.]
    """
    x, residuals, rank, s = _lstsq(a, b, rcond)
    m, n = as_value(a, "linalg.lstsq").shape
    if numpy_resid and (m <= n or int(rank) < n):
        residuals = residuals[:0]
    return x, residuals, rank, s


@library(arrays=2)
def _lstsq(a: Any, b: Any, rcond: Any) -> tuple[Any, Any, Any, Any]:
    x, y = to_inexact(as_value(a, "linalg.lstsq"), as_value(b, "linalg.lstsq", "b"))
    t, u = type_of(x), type_of(y)
    if t.ndim != 2 or u.ndim not in (1, 2) or u.shape[0] != t.shape[0]:
        raise errors.LinAlgError(
            errors.explain(
                "linalg.lstsq", "a must be a matrix, and b have as many rows", {"a": t, "b": u}
            )
        )
    tolerance = _cutoff(x, rcond, 1.0)
    found = pinv(x, tolerance) @ y
    rest = abs(y - x @ found) ** 2
    s = svdvals(x)
    rank = sum(s > tolerance * s[:1], axis=-1)
    return found, sum(rest, axis=0, keepdims=u.ndim == 1), rank, s


__all__ = ["cond", "lstsq", "matrix_rank", "pinv"]
