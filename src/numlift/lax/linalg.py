"""Factorisations of matrices and the systems they solve; other axes than the last two are batches.

Dtypes are float32, float64, complex64 and complex128. Where an algorithm fails (a matrix that is
not positive definite, no convergence) the results are NaN. On CPU LAPACK computes, on GPUs the
vendor's solver where it has the function; elsewhere algorithms made of array operations do.
"""

from __future__ import annotations

import enum
import operator
from typing import Any

from .. import errors
from ..core.tracing import apply, type_of
from ..ops.linalg import Cholesky, TriangularSolve
from ..ops.linalg_calls import adjoint
from ..ops.linalg_factors import Lu, PivotsToPermutation
from ..ops.linalg_qr import ApplyReflectors, Householder, Qr, QrPivoted
from ..ops.linalg_spectral import Eig, Eigh, Svd
from ..ops.slicing import Slice
from ..structural.arith import add, conjugated, mul
from ..structural.shape import reshape
from .linalg_forms import (
    check_square,
    cholesky_update,
    hessenberg,
    qdwh,
    schur,
    symmetric_product,
    tridiagonal,
    tridiagonal_solve,
)


def symmetrize(op: Any, x: Any) -> Any:
    """(x + x^H) / 2, the operand of `op`, which checks it first."""
    t = type_of(x)
    if t.sharding is not None:
        op.out_type(t)
    return apply(mul, apply(add, x, adjoint(x)), type_of(x).dtype.type(0.5))


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
        >>> from numlift.lax.linalg import cholesky
        >>> print(cholesky(np.array([[4.0, 2.0], [2.0, 2.0]], "f4")))
        [[2. 0.]
         [1. 1.]]
    """
    check_square("cholesky", x)
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
        >>> from numlift.lax.linalg import triangular_solve
        >>> a = np.array([[2.0, 0.0], [1.0, 1.0]], "f4")
        >>> print(triangular_solve(a, np.array([2.0, 3.0], "f4"), left_side=True, lower=True))
        [1. 2.]
    """
    check_square("triangular_solve", a)
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
        >>> from numlift.lax.linalg import lu
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
        >>> from numlift.lax.linalg import lu_pivots_to_permutation
        >>> print(lu_pivots_to_permutation(np.array([2, 2], "i4"), 3))
        [2 0 1]
    """
    return apply(PivotsToPermutation.of(permutation_size), pivots)


def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None
) -> Any:
    """Q with orthonormal columns and upper triangular R with ``x = Q @ R``.

    Args:
        x: (..., m, n).
        pivoting: exchange columns, so that the diagonal of R descends: ``x[:, order] = Q @ R``.
        full_matrices: Q is (..., m, m); else (..., m, min(m, n)).
        use_magma: a library of GPUs that Numlift does not use; None or False.

    Returns:
        (Q, R), or (Q, R, order) with order (..., n) int32. Derivatives of columns of Q that `x`
        does not determine (m > n and full) are those of functions of their span.

    Raises:
        ValueArgumentError: `use_magma`.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import qr
        >>> q, r = qr(np.ones((3, 2), "f4"), full_matrices=False)
        >>> q.shape, r.shape
        ((3, 2), (2, 2))
        >>> print(qr(np.array([[1.0, 2.0]], "f4"), pivoting=True)[2])
        [1 0]
    """
    _no_magma("qr", use_magma)
    return tuple(apply((QrPivoted if pivoting else Qr).of(bool(full_matrices)), x))


def _no_magma(function: str, use_magma: bool | None) -> None:
    if use_magma:
        raise errors.ValueArgumentError(
            errors.explain(function, "Numlift does not use MAGMA", try_="use_magma=None")
        )


def householder_product(a: Any, taus: Any) -> Any:
    """Product of the elementary reflections that a QR factorisation stores.

    Args:
        a: (..., m, n), m >= n; column i below the diagonal is the ith vector.
        taus: (..., k) their factors, k <= n.

    Returns:
        (..., m, n): the first n columns of the product.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import householder_product
        >>> print(abs(householder_product(np.zeros((2, 2), "f4"), np.zeros(2, "f4"))))
        [[1. 0.]
         [0. 1.]]
    """
    return apply(Householder.of(), a, taus)


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """Products with the Q of a QR factorisation, without forming it.

    Args:
        a: (..., m, n): column i below the diagonal is the ith reflector.
        taus: (..., k) their factors, k <= min(m, n).
        c: (..., m, p) if `left`, else (..., p, m).
        left: ``Q @ c``; else ``c @ Q``.
        transpose: with Q^H in place of Q.

    Returns:
        Array of the shape of `c`.

    Raises:
        ShapeError: sizes that do not agree.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import ormqr
        >>> a, tau = np.array([[1.0], [0.0]], "f4"), np.array([2.0], "f4")
        >>> print(ormqr(a, tau, np.eye(2, dtype="f4")))
        [[-1.  0.]
         [ 0.  1.]]
    """
    return apply(ApplyReflectors.of(bool(left), bool(transpose)), a, taus, c)


class EighImplementation(enum.Enum):
    """Methods of `eigh`: QR iteration, Jacobi's, or polar decomposition (not available)."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class EigImplementation(enum.Enum):
    """Libraries of `eig`; LAPACK's method is the only one."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class SvdAlgorithm(enum.Enum):
    """Methods of `svd`: the platform's best, QR iteration, Jacobi's, or polar decomposition."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"


def _subset(function: str, subset: Any, n: Any) -> tuple[int, int] | None:
    """A range of indices within 0 ... n, or None for all."""
    if subset is None:
        return None
    start, stop = (operator.index(i) for i in subset)
    if not 0 <= start < stop <= n:
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                f"subset_by_index must be (start, stop) with 0 <= start < stop <= {n}, not "
                f"({start}, {stop})",
            )
        )
    return None if (start, stop) == (0, n) else (start, stop)


def _taken(x: Any, axis: int, subset: tuple[int, int] | None) -> Any:
    if subset is None:
        return x
    shape = type_of(x).shape
    axis += len(shape)
    start, stop = [0] * len(shape), list(shape)
    start[axis], stop[axis] = subset
    return apply(Slice.of(tuple(start), tuple(stop)), x)


def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Any, Any]:
    """Eigenvectors and eigenvalues of Hermitian matrices.

    Args:
        x: (..., n, n).
        lower: which triangle is read if `symmetrize_input` is false.
        symmetrize_input: use (x + x^H) / 2.
        sort_eigenvalues: they are always ascending.
        subset_by_index: (start, stop): only these of the ascending eigenvalues.
        implementation: the method; None is the platform's best. JACOBI runs on every platform.

    Returns:
        (v, w): columns of v are the eigenvectors of the ascending eigenvalues w (real).
        Derivatives with equal eigenvalues are those of functions that depend on their common
        subspace only, as a projection or a trace; ``V f(w) V^H`` is none, if f is not constant
        near these eigenvalues.

    Raises:
        ValueArgumentError: the method QDWH, or a range that does not fit.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import eigh
        >>> v, w = eigh(np.diag(np.array([3.0, 1.0], "f4")))
        >>> print(w)
        [1. 3.]
    """
    check_square("eigh", x)
    method = "default"
    if implementation is not None:
        method = EighImplementation(implementation).value
        if method == "qdwh":
            raise errors.ValueArgumentError(
                errors.explain(
                    "eigh",
                    "the method QDWH is not available",
                    try_="implementation=EighImplementation.JACOBI, or None",
                )
            )
    subset = _subset("eigh", subset_by_index, type_of(x).shape[-1])
    op = Eigh.of(bool(lower), method)
    w, v = apply(op, symmetrize(op, x) if symmetrize_input else x)
    return _taken(v, -1, subset), _taken(w, -1, subset)


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """Singular value decomposition ``x = U @ diag(s) @ V^H``.

    Args:
        x: (..., m, n).
        full_matrices: U is (..., m, m) and V^H (..., n, n); else min(m, n) columns and rows.
        compute_uv: False: singular values only.
        subset_by_index: (start, stop): only these of the descending singular values.
        algorithm: the method; None is the platform's best. JACOBI and POLAR run on every
            platform, QR on CPU and GPUs.

    Returns:
        (U, s, V^H), or s; s is real and descending. Derivatives with equal or zero singular values
        are those of functions that depend on their common subspaces only. Vectors beyond the
        singular values (`full_matrices`) move as their span does.

    Raises:
        ValueArgumentError: a range that does not fit, or with `full_matrices`.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import svd
        >>> print(svd(np.diag(np.array([1.0, 2.0], "f4")), compute_uv=False))
        [2. 1.]
    """
    t = type_of(x)
    subset = None
    if subset_by_index is not None and t.ndim > 1:
        subset = _subset("svd", subset_by_index, min(t.shape[-2:]))
        if subset is not None and full_matrices and compute_uv:
            raise errors.ValueArgumentError(
                errors.explain(
                    "svd",
                    "subset_by_index chooses singular vectors, and full_matrices asks for more",
                    {"x": t},
                    try_="full_matrices=False",
                )
            )
    method = "default" if algorithm is None else SvdAlgorithm(algorithm).value.lower()
    found = apply(Svd.of(bool(full_matrices and compute_uv), bool(compute_uv), method), x)
    if not compute_uv:
        return _taken(found[0], -1, subset)
    s, u, vh = found
    return _taken(u, -1, subset), _taken(s, -1, subset), _taken(vh, -2, subset)


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = True,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Any]:
    """Eigenvalues and eigenvectors of square matrices; all results are complex.

    Eigenvectors have norm 1 and a largest component that is real, as LAPACK's. Their derivative
    keeps both. It needs distinct eigenvalues, and one component that is larger than the others.

    Args:
        x: (..., n, n).
        compute_left_eigenvectors: return U with ``U^H @ x = diag(w) @ U^H``.
        compute_right_eigenvectors: return V with ``x @ V = V @ diag(w)``.
        enable_eigvec_derivs: False forbids derivatives of eigenvectors (the default in JAX).
        implementation: None or LAPACK; other platforms than CPU have one method.
        use_magma: a library of GPUs that Numlift does not use; None or False.

    Returns:
        [w], then U and V if asked for. The order is LAPACK's on CPU.

    Raises:
        GradError: a derivative of eigenvectors that `enable_eigvec_derivs` forbids.
        ValueArgumentError: another library.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import eig
        >>> eig(np.eye(2, dtype="f4"))[0].dtype
        dtype('complex64')
    """
    check_square("eig", x)
    _no_magma("eig", use_magma)
    if implementation not in (None, EigImplementation.LAPACK):
        raise errors.ValueArgumentError(
            errors.explain("eig", f"{implementation} is not available", try_="implementation=None")
        )
    left, right = bool(compute_left_eigenvectors), bool(compute_right_eigenvectors)
    return list(apply(Eig.of(left, right, bool(enable_eigvec_derivs)), x))


__all__ = [
    "EigImplementation",
    "EighImplementation",
    "SvdAlgorithm",
    "cholesky",
    "cholesky_update",
    "eig",
    "eigh",
    "hessenberg",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "ormqr",
    "qdwh",
    "qr",
    "schur",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal",
    "tridiagonal_solve",
]


def __dir__() -> list[str]:
    return sorted(__all__)
