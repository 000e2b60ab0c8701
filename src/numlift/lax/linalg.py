"""Factorisations of matrices and the systems they solve; other axes than the last two are batches.

Dtypes are float32, float64, complex64 and complex128. Where an algorithm fails (a matrix that is
not positive definite, no convergence) the results are NaN. Triangular systems and Cholesky run on
every platform, the rest on CPU.
"""

from __future__ import annotations

from typing import Any

from .. import errors
from ..core.tracing import apply, type_of
from ..ops.linalg import Cholesky, TriangularSolve
from ..ops.linalg_calls import adjoint, conjugated
from ..ops.linalg_factors import Householder, Lu, PivotsToPermutation, Qr
from ..ops.linalg_spectral import Eig, Eigh, Svd
from ..structural.arith import add, mul
from ..structural.shape import reshape


def symmetrize(op: Any, x: Any) -> Any:
    """(x + x^H) / 2, the operand of `op`, which checks it first."""
    t = type_of(x)
    if t.sharding is not None:
        op.out_type(t)
    return apply(mul, apply(add, x, adjoint(x)), type_of(x).dtype.type(0.5))


def _square(function: str, x: Any) -> None:
    t = type_of(x)
    if t.ndim < 2 or t.shape[-1] != t.shape[-2]:
        raise errors.ShapeError(
            errors.explain(function, "the last two axes must hold square matrices", {"x": t})
        )


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """Lower triangular L with ``L @ L^H = x``, for Hermitian positive definite matrices.

    Args:
        x: (..., n, n).
        symmetrize_input: use (x + x^H) / 2; else the lower triangle is read.

    Returns:
        (..., n, n); NaN where the matrix is not positive definite.

    Raises:
        ShapeError: not square.  DTypeError: another dtype.

    Example:
        >>> import numpy as np
        >>> print(cholesky(np.array([[4.0, 2.0], [2.0, 2.0]], "f4")))
        [[2. 0.]
         [1. 1.]]
    """
    _square("cholesky", x)
    op = Cholesky.of()
    return apply(op, symmetrize(op, x) if symmetrize_input else x)


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """x with ``op(a) @ x = b`` (or ``x @ op(a) = b``), `a` triangular.

    Args:
        a: (..., n, n); the other triangle is not read.
        b: (..., n, k) if `left_side`, else (..., k, n); or one axis less: a vector a matrix.
        left_side: `a` stands to the left of x.
        lower: `a` is lower triangular.
        transpose_a, conjugate_a: what op does.
        unit_diagonal: take the diagonal of `a` to be 1.

    Returns:
        Array of the shape of `b`.

    Raises:
        ShapeError: sizes that do not agree.  DTypeError: different or other dtypes.

    Example:
        >>> import numpy as np
        >>> a = np.array([[2.0, 0.0], [1.0, 1.0]], "f4")
        >>> print(triangular_solve(a, np.array([2.0, 3.0], "f4"), left_side=True, lower=True))
        [1. 2.]
    """
    _square("triangular_solve", a)
    vector = type_of(b).ndim == type_of(a).ndim - 1
    if vector:
        b = _expanded(b, left_side)
    if conjugate_a:
        a = conjugated(a)
    x = apply(TriangularSolve.of(left_side, lower, transpose_a, unit_diagonal), a, b)
    return _squeezed(x, left_side) if vector else x


def _expanded(b: Any, column: bool) -> Any:
    shape = type_of(b).shape
    new = (*shape, 1) if column else (*shape[:-1], 1, shape[-1])
    return reshape(b, new)


def _squeezed(x: Any, column: bool) -> Any:
    shape = type_of(x).shape
    return reshape(x, shape[:-1] if column else (*shape[:-2], shape[-1]))


def lu(x: Any) -> tuple[Any, Any, Any]:
    """LU factorisation with row swaps: ``x[permutation] = L @ U``.

    Args:
        x: (..., m, n).

    Returns:
        (lu, pivots, permutation): L below the diagonal (its own is 1) and U above in one array;
        pivots (..., min(m, n)), int32: in step i row i was swapped with row pivots[i]; the
        permutation (..., m) that the swaps make. Derivatives need a leading square part that is
        not singular.

    Example:
        >>> import numpy as np
        >>> found, pivots, permutation = lu(np.array([[1.0, 2.0], [4.0, 4.0]], "f4"))
        >>> print(found, permutation)
        [[4.   4.  ]
         [0.25 1.  ]] [1 0]
    """
    return tuple(apply(Lu.of(), x))  # type: ignore[return-value]


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """The permutation of rows that the pivots of `lu` make.

    Args:
        pivots: (..., k) int32, counted from 0.
        permutation_size: number of rows.

    Returns:
        (..., permutation_size) int32.

    Example:
        >>> import numpy as np
        >>> print(lu_pivots_to_permutation(np.array([2, 2], "i4"), 3))
        [2 0 1]
    """
    return apply(PivotsToPermutation.of(permutation_size), pivots)


def qr(x: Any, *, full_matrices: bool = True) -> tuple[Any, Any]:
    """Q with orthonormal columns and upper triangular R with ``x = Q @ R``.

    Args:
        x: (..., m, n).
        full_matrices: Q is (..., m, m); else (..., m, min(m, n)).

    Returns:
        (Q, R).

    Raises:
        GradError: derivative of the columns of Q that `x` does not determine (m > n and full).

    Example:
        >>> import numpy as np
        >>> q, r = qr(np.ones((3, 2), "f4"), full_matrices=False)
        >>> q.shape, r.shape
        ((3, 2), (2, 2))
    """
    q, r = apply(Qr.of(full_matrices), x)
    return q, r


def householder_product(a: Any, taus: Any) -> Any:
    """Product of the elementary reflections that a QR factorisation stores.

    Args:
        a: (..., m, n), m >= n; column i below the diagonal is the ith vector.
        taus: (..., k) their factors, k <= n.

    Returns:
        (..., m, n): the first n columns of the product. It has no derivative rule.

    Example:
        >>> import numpy as np
        >>> print(abs(householder_product(np.zeros((2, 2), "f4"), np.zeros(2, "f4"))))
        [[1. 0.]
         [0. 1.]]
    """
    return apply(Householder.of(), a, taus)


def eigh(
    x: Any, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True
) -> tuple[Any, Any]:
    """Eigenvectors and eigenvalues of Hermitian matrices.

    Args:
        x: (..., n, n).
        lower: which triangle is read if `symmetrize_input` is false.
        symmetrize_input: use (x + x^H) / 2.
        sort_eigenvalues: they are always ascending.

    Returns:
        (v, w): columns of v are the eigenvectors of the ascending eigenvalues w (real).
        Derivatives with equal eigenvalues are those of functions that depend on their common
        subspace only.

    Example:
        >>> import numpy as np
        >>> v, w = eigh(np.diag(np.array([3.0, 1.0], "f4")))
        >>> print(w)
        [1. 3.]
    """
    _square("eigh", x)
    op = Eigh.of(lower)
    w, v = apply(op, symmetrize(op, x) if symmetrize_input else x)
    return v, w


def svd(x: Any, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Singular value decomposition ``x = U @ diag(s) @ V^H``.

    Args:
        x: (..., m, n).
        full_matrices: U is (..., m, m) and V^H (..., n, n); else min(m, n) columns and rows.
        compute_uv: False: singular values only.

    Returns:
        (U, s, V^H), or s; s is real and descending. Derivatives with equal or zero singular values
        are those of functions that depend on their common subspaces only.

    Raises:
        GradError: derivative with `full_matrices` of matrices that are not square.

    Example:
        >>> import numpy as np
        >>> print(svd(np.diag(np.array([1.0, 2.0], "f4")), compute_uv=False))
        [2. 1.]
    """
    found = apply(Svd.of(full_matrices and compute_uv, compute_uv), x)
    return (found[1], found[0], found[2]) if compute_uv else found[0]


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = True,
) -> list[Any]:
    """Eigenvalues and eigenvectors of square matrices; all results are complex.

    Eigenvectors have norm 1 and a largest component that is real, as LAPACK's. Their derivative
    keeps both. It needs distinct eigenvalues, and one component that is larger than the others.

    Args:
        x: (..., n, n).
        compute_left_eigenvectors: return U with ``U^H @ x = diag(w) @ U^H``.
        compute_right_eigenvectors: return V with ``x @ V = V @ diag(w)``.
        enable_eigvec_derivs: False forbids derivatives of eigenvectors (the default in JAX).

    Returns:
        [w], then U and V if asked for.

    Raises:
        GradError: a derivative of eigenvectors that `enable_eigvec_derivs` forbids.

    Example:
        >>> import numpy as np
        >>> eig(np.eye(2, dtype="f4"))[0].dtype
        dtype('complex64')
    """
    _square("eig", x)
    left, right = bool(compute_left_eigenvectors), bool(compute_right_eigenvectors)
    return list(apply(Eig.of(left, right, bool(enable_eigvec_derivs)), x))


__all__ = [
    "cholesky",
    "eig",
    "eigh",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "qr",
    "svd",
    "triangular_solve",
]
