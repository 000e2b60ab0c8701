"""Factorisations, eigenvalues and singular values."""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import errors
from ...api.library import library
from ...core.tracing import type_of
from ...lax import linalg as _lax
from ...ops.linalg_calls import adjoint, columns
from ..selection import where
from ..taking import take_along_axis
from ..util import as_value, to_inexact


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Any
    eigenvectors: Any


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Any
    R: Any


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Any
    S: Any
    Vh: Any


def matrices(function: str, a: Any, square: bool = False) -> Any:
    """The argument as floating matrices; raises if it has no (square) ones."""
    (x,) = to_inexact(as_value(a, function))
    t = type_of(x)
    if t.ndim < 2 or (square and t.shape[-1] != t.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise errors.LinAlgError(
            errors.explain(
                function,
                f"the last two axes must hold {kind}",
                {"a": t},
                try_="np.linalg.lstsq or np.linalg.pinv" if t.ndim > 1 else "np.atleast_2d(a)",
            )
        )
    return x


def _triangle_of(function: str, x: Any, uplo: Any) -> Any:
    """Hermitian matrices from one triangle; "L" or "U"."""
    if uplo not in ("L", "U"):
        raise errors.ValueArgumentError(
            errors.explain(function, f"UPLO must be 'L' or 'U', not {uplo!r}", {"a": type_of(x)})
        )
    return x if uplo == "L" else adjoint(x)


@library(arrays=1)
def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Any:
    """Triangular factors of Hermitian positive definite matrices.

    Lower triangular L with ``L @ L^H = a``, or upper triangular U with ``U^H @ U = a``.

    Args:
        a: (..., n, n), Hermitian and positive definite; integers become floats.
        upper: return the upper triangular factor U.
        symmetrize_input: use ``(a + a^H) / 2``; else one triangle is read.

    Returns:
        (..., n, n), with a positive diagonal; nan where a matrix is not positive definite.

    Raises:
        LinAlgError: not square.

    Differences from NumPy: matrices that are not positive definite do not raise; both triangles are
    read unless `symmetrize_input` is false.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 2.0]])))
        [[2. 0.]
         [1. 1.]]
    """
    x = matrices("linalg.cholesky", a, True)
    if upper and not symmetrize_input:
        x = adjoint(x)
    low = _lax.cholesky(x, symmetrize_input=symmetrize_input)
    return adjoint(low) if upper else low


@library(arrays=1)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and upper triangular R with ``a = Q @ R``.

    Args:
        a: (..., m, n); integers become floats.
        mode: "reduced" (Q has min(m, n) columns), "complete" (m columns) or "r" (R only).

    Returns:
        A named tuple (Q, R), or R. In mode "complete" derivatives of the columns of Q that `a` does
        not determine are those of functions of their span.

    Raises:
        LinAlgError: not matrices.  ValueArgumentError: unknown mode.

    Differences from NumPy: no mode "raw".

    Example:
        >>> import numlift.numpy as np
        >>> q, r = np.linalg.qr(np.ones((3, 2)))
        >>> q.shape, r.shape
        ((3, 2), (2, 2))
    """
    x = matrices("linalg.qr", a)
    if mode not in ("reduced", "complete", "r"):
        raise errors.ValueArgumentError(
            errors.explain(
                "linalg.qr",
                f"mode must be 'reduced', 'complete' or 'r', not {mode!r}",
                {"a": type_of(x)},
            )
        )
    q, r = _lax.qr(x, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


@library(arrays=1)
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """Singular value decomposition ``a = U @ diag(S) @ Vh``.

    Args:
        a: (..., m, n); integers become floats.
        full_matrices: U is (..., m, m) and Vh (..., n, n); else min(m, n) columns and rows.
        compute_uv: False: return S only.
        hermitian: `a` is Hermitian: found by `eigh`.
        subset_by_index: (start, stop): only these of the singular values.

    Returns:
        A named tuple (U, S, Vh), or S; S is (..., min(m, n)), real and descending. Derivatives with
        equal or zero singular values are those of functions that depend on their common subspaces
        only. Vectors beyond the singular values move as their span does.

    Raises:
        LinAlgError: not matrices.  ValueArgumentError: `subset_by_index` does not fit.

    Differences from NumPy: nan gives nan where NumPy raises LinAlgError.

    Example:
        >>> import numlift.numpy as np
        >>> u, s, vh = np.linalg.svd(np.array([[0.0, 2.0], [1.0, 0.0]]))
        >>> print(s)
        [2. 1.]
        >>> print(abs(u @ np.diag(s) @ vh))
        [[0. 2.]
         [1. 0.]]
    """
    x = matrices("linalg.svd", a, hermitian)
    if hermitian and subset_by_index is None:
        return _hermitian_svd(x, compute_uv)
    found = _lax.svd(
        x,
        full_matrices=full_matrices,
        compute_uv=compute_uv,
        subset_by_index=subset_by_index,
    )
    return SVDResult(*found) if compute_uv else found


def _hermitian_svd(x: Any, compute_uv: bool) -> Any:
    vectors, w = _lax.eigh(x)
    size = abs(w)
    order = (-size).argsort(axis=-1)
    s = take_along_axis(size, order, axis=-1)
    if not compute_uv:
        return s
    picked = order[..., None, :]
    u = take_along_axis(vectors, picked, axis=-1)
    signs = where(take_along_axis(w, order, axis=-1) < 0, -1, 1).astype(type_of(x).dtype)
    return SVDResult(u, s, adjoint(u * columns(signs, u)))


def svdvals(x: Any, /) -> Any:
    """Singular values of matrices: `svd` without vectors.

    Args:
        x: (..., m, n); integers become floats.

    Returns:
        Real (..., min(m, n)), descending. Derivatives with equal singular values are those of
        functions that treat them alike, such as their sum.

    Raises:
        LinAlgError: not matrices.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.svdvals(np.array([[0.0, 2.0], [1.0, 0.0]])))
        [2. 1.]
    """
    return svd(x, compute_uv=False)


@library(arrays=1)
def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices: ``a = V @ diag(w) @ V^H``.

    Args:
        a: (..., n, n); integers become floats.
        UPLO: "L" (default) or "U": the triangle that is read if `symmetrize_input` is false.
        symmetrize_input: use ``(a + a^H) / 2``.

    Returns:
        A named tuple (eigenvalues, eigenvectors): real (..., n), ascending, and (..., n, n) with
        the vectors as columns. Derivatives with equal eigenvalues are those of functions that
        depend on their common subspace only, as a projection or a trace (see `lax.linalg.eigh`).

    Raises:
        LinAlgError: not square.  ValueArgumentError: unknown `UPLO`.

    Differences from NumPy: both triangles are read unless `symmetrize_input` is false.

    Example:
        >>> import numlift.numpy as np
        >>> w, v = np.linalg.eigh(np.diag(np.array([3.0, 1.0])))
        >>> print(w, abs(v[:, 0]))
        [1. 3.] [0. 1.]
    """
    x = _triangle_of("linalg.eigh", matrices("linalg.eigh", a, True), UPLO or "L")
    v, w = _lax.eigh(x, symmetrize_input=symmetrize_input)
    return EighResult(w, v)


@library(arrays=1)
def eigvalsh(a: Any, UPLO: str = "L", *, symmetrize_input: bool = True) -> Any:
    """Eigenvalues of Hermitian matrices: `eigh` without vectors.

    Args:
        a: (..., n, n); integers become floats.
        UPLO: "L" or "U": the triangle that is read if `symmetrize_input` is false.
        symmetrize_input: use ``(a + a^H) / 2``.

    Returns:
        Real (..., n), ascending. Derivatives with equal eigenvalues are those of functions that
        treat them alike, such as their sum.

    Raises:
        LinAlgError: not square.  ValueArgumentError: unknown `UPLO`.

    Differences from NumPy: both triangles are read unless `symmetrize_input` is false.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.eigvalsh(np.array([[2.0, 1.0], [1.0, 2.0]])).round(4))
        [1. 3.]
    """
    x = _triangle_of("linalg.eigvalsh", matrices("linalg.eigvalsh", a, True), UPLO)
    return _lax.eigh(x, symmetrize_input=symmetrize_input)[1]


@library(arrays=1)
def eig(a: Any) -> Any:
    """Eigenvalues and right eigenvectors of square matrices: ``a @ V = V @ diag(w)``.

    Args:
        a: (..., n, n); integers become floats.

    Returns:
        A named tuple (eigenvalues, eigenvectors), always complex: (..., n), in LAPACK's order, and
        (..., n, n) with the vectors as columns. Vectors have norm 1 and a largest component that is
        real. The derivative keeps both; it needs distinct eigenvalues, and one component that is
        larger than the others.

    Raises:
        LinAlgError: not square.

    Differences from NumPy: complex also where all eigenvalues are real.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.eig(np.array([[0.0, -1.0], [1.0, 0.0]])).eigenvalues)
        [0.+1.j 0.-1.j]
    """
    x = matrices("linalg.eig", a, True)
    return EigResult(*_lax.eig(x, compute_left_eigenvectors=False))


@library(arrays=1)
def eigvals(a: Any) -> Any:
    """Eigenvalues of square matrices: `eig` without vectors.

    Args:
        a: (..., n, n); integers become floats.

    Returns:
        Complex (..., n), in LAPACK's order. The derivative needs as many independent eigenvectors
        as rows.

    Raises:
        LinAlgError: not square.

    Differences from NumPy: complex also where all eigenvalues are real.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.eigvals(np.array([[0.0, -1.0], [1.0, 0.0]])))
        [0.+1.j 0.-1.j]
    """
    x = matrices("linalg.eigvals", a, True)
    return _lax.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]


__all__ = ["cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]
