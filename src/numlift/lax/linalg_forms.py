"""Forms of matrices under similarity, polar factors, tridiagonal systems, changed factors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import errors
from ..api.custom import custom_jvp
from ..core.tracing import apply, type_of
from ..ops.compare import eq, lt
from ..ops.elementwise import sqrt
from ..ops.elementwise_binary import div
from ..ops.linalg import solve_triangle
from ..ops.linalg_bands import TridiagonalSolve
from ..ops.linalg_calls import identity, masked, product, transposed, triangle
from ..ops.linalg_polar import Polar
from ..ops.linalg_similar import Hessenberg, Schur, Tridiagonal
from ..structural.arith import add, convert, mul, select, sub
from ..structural.shape import broadcast, reshape
from .slicing import dynamic_index_in_dim, dynamic_update_index_in_dim
from .while_loops import fori_loop


def check_square(function: str, x: Any) -> None:
    """Raise unless the last two axes hold square matrices."""
    t = type_of(x)
    if t.ndim < 2 or t.shape[-1] != t.shape[-2]:
        raise errors.ShapeError(
            errors.explain(function, "the last two axes must hold square matrices", {"x": t})
        )


def hessenberg(a: Any) -> tuple[Any, Any]:
    """Hessenberg form H = Q^H a Q: zero below the first subdiagonal.

    Args:
        a: (..., n, n).

    Returns:
        (h, taus): H on and above the subdiagonal of h and, below it, the vectors of the
        reflections whose product is Q; taus (..., n - 1) their factors. ``householder_product(
        h[..., 1:, :-1], taus)`` is Q without its first row and column.

    Raises:
        ShapeError: not square.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import hessenberg
        >>> h, taus = hessenberg(np.array([[1.0, 2.0], [3.0, 4.0]], "f4"))
        >>> print(h, taus)
        [[1. 2.]
         [3. 4.]] [0.]
    """
    check_square("hessenberg", a)
    h, taus = apply(Hessenberg.of(), a)
    return h, taus


def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Any, Any, Any, Any]:
    """Tridiagonal form T = Q^H a Q of Hermitian matrices.

    Args:
        a: (..., n, n); one triangle is read.
        lower: which one.

    Returns:
        (h, d, e, taus): d (..., n) and e (..., n - 1) are the diagonals of T, real. Beyond them,
        in the triangle that was read, h holds the vectors of the reflections whose product is Q;
        taus (..., n - 1) are their factors.

    Raises:
        ShapeError: not square.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import tridiagonal
        >>> _, d, e, _ = tridiagonal(np.array([[2.0, 1.0], [1.0, 3.0]], "f4"))
        >>> print(d, e)
        [2. 3.] [1.]
    """
    check_square("tridiagonal", a)
    return tuple(apply(Tridiagonal.of(bool(lower)), a))  # type: ignore[return-value]


def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Any = None,
) -> Any:
    """Schur form ``x = Z @ T @ Z^H``: T is upper triangular, Z unitary.

    Args:
        x: (..., n, n). For real matrices T has 2 x 2 blocks on its diagonal, one for each pair of
            conjugate eigenvalues; these matrices run on CPU only.
        compute_schur_vectors: return Z also.
        sort_eig_vals, select_callable: not available, as in JAX.

    Returns:
        (T, Z), or (T,). It has no derivative.

    Raises:
        ShapeError: not square.  ValueArgumentError: `sort_eig_vals`.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import schur
        >>> t, z = schur(np.array([[1.0, 2.0], [0.0, 3.0]], "f4"))
        >>> print(t)
        [[1. 2.]
         [0. 3.]]
    """
    check_square("schur", x)
    if sort_eig_vals or select_callable is not None:
        raise errors.ValueArgumentError(
            errors.explain(
                "schur",
                "eigenvalues cannot be sorted",
                try_="sort_eig_vals=False and no select_callable",
            )
        )
    return tuple(apply(Schur.of(bool(compute_schur_vectors)), x))


def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[Any, Any] | None = None,
) -> tuple[Any, Any, Any, Any]:
    """Polar decomposition ``x = U @ H``, by the dynamically weighted Halley iteration.

    Args:
        x: (..., m, n), m >= n.
        is_hermitian: `x` is Hermitian; the result is the same.
        max_iterations: limit of the number of steps; default 20.
        eps: the precision that is wanted; default that of the dtype.
        dynamic_shape: (rows, columns): elements beyond them count as zero.

    Returns:
        (U, H, number of steps, whether they were enough): U has orthonormal columns and H is
        Hermitian and not negative. The derivative is right for full column rank.

    Raises:
        ShapeError: m < n.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import qdwh
        >>> u, h, steps, converged = qdwh(np.array([[0.0, 2.0], [-3.0, 0.0]], "f4"))
        >>> print((u @ h).round(2) + 0.0, converged)
        [[ 0.  2.]
         [-3.  0.]] True
    """
    t = type_of(x)
    if is_hermitian:
        check_square("qdwh", x)
    if dynamic_shape is not None and t.ndim > 1:
        for axis, size in zip((t.ndim - 2, t.ndim - 1), dynamic_shape, strict=True):
            place = np.arange(t.shape[axis], dtype=np.int32)
            kept = apply(lt, place, convert(size, np.dtype(np.int32), False))
            mask = broadcast(kept, t.shape, (axis,), t.sharding)
            x = apply(select, mask, t.dtype.type(0), x)
    limit = None if max_iterations is None else operator.index(max_iterations)
    return tuple(apply(Polar.of(limit, None if eps is None else float(eps)), x))  # type: ignore[return-value]


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    """x with ``T @ x = b``, for tridiagonal T.

    Args:
        dl: (..., n) the lower diagonal: ``dl[i] = T[i, i - 1]``; dl[0] is not used.
        d: (..., n) the diagonal.
        du: (..., n) the upper diagonal: ``du[i] = T[i, i + 1]``; the last is not used.
        b: (..., n, k).
        perturb_singular: change a pivot that is zero a little, for inverse iteration; else
            solutions of singular systems are NaN.

    Returns:
        Array of the shape of `b`. Derivatives follow from the equation.

    Raises:
        ShapeError: sizes that do not agree.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import tridiagonal_solve
        >>> d, o = np.array([2.0, 2.0], "f4"), np.array([1.0, 1.0], "f4")
        >>> print(tridiagonal_solve(o, d, o, np.array([[3.0], [3.0]], "f4")))
        [[1.]
         [1.]]
    """
    if type_of(b).ndim < 2:
        raise errors.ShapeError(
            errors.explain(
                "tridiagonal_solve",
                "b must hold columns: it needs two axes at least",
                {"b": type_of(b)},
                try_="b[..., None]",
            )
        )
    return apply(TridiagonalSolve.of(bool(perturb_singular)), dl, d, du, b)


def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Any:
    """``alpha * a @ a^T + beta * c`` for real matrices.

    Args:
        a_matrix: (..., n, k).
        c_matrix: (..., n, n), symmetric.
        alpha, beta: factors.
        symmetrize_output: copy the lower triangle to the upper one.

    Returns:
        (..., n, n). Without `symmetrize_output` only its lower triangle is promised.

    Raises:
        DTypeError: not real floats.  ShapeError: sizes that do not agree.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import symmetric_product
        >>> print(symmetric_product(np.array([[1.0], [2.0]], "f4"), np.eye(2, dtype="f4"), beta=1))
        [[2. 2.]
         [2. 5.]]
    """
    t, u = type_of(a_matrix), type_of(c_matrix)
    if t.kind != "f" or u.dtype != t.dtype:
        raise errors.DTypeError(
            errors.explain(
                "symmetric_product",
                "both matrices must be real, of one floating dtype",
                {"a_matrix": t, "c_matrix": u},
            )
        )
    if t.ndim < 2 or u.shape != (*t.shape[:-1], t.shape[-2]):
        raise errors.ShapeError(
            errors.explain(
                "symmetric_product",
                "c must be square, with as many rows as a",
                {"a_matrix": t, "c_matrix": u},
            )
        )
    kind = t.dtype.type
    found = apply(mul, product(a_matrix, transposed(a_matrix)), kind(alpha))
    found = apply(add, found, apply(mul, c_matrix, kind(beta)))
    if not symmetrize_output:
        return found
    return apply(add, triangle(found, True), transposed(triangle(found, True, -1)))


@custom_jvp
def _updated(r: Any, w: Any) -> Any:
    """Rotations of the rows of R with the row w, first to last."""
    n = type_of(r).shape[-1]
    kind = type_of(r).dtype.type

    def step(k: Any, carry: Any) -> Any:
        r, w = carry
        row = dynamic_index_in_dim(r, k, 0, keepdims=False)
        x = dynamic_index_in_dim(row, k, 0, keepdims=False)
        y = dynamic_index_in_dim(w, k, 0, keepdims=False)
        size = apply(sqrt, apply(add, apply(mul, x, x), apply(mul, y, y)))
        none = apply(eq, size, kind(0))
        safe = apply(select, none, size, kind(1))
        c = apply(select, none, apply(div, x, safe), kind(1))
        s = apply(select, none, apply(div, y, safe), kind(0))
        new = apply(add, apply(mul, row, c), apply(mul, w, s))
        w = apply(sub, apply(mul, w, c), apply(mul, row, s))
        return dynamic_update_index_in_dim(r, new, k, 0), w

    return triangle(fori_loop(0, n, step, (r, w))[0], False)


@_updated.defjvp
def _updated_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """With M = R^T R + w w^T and N the new factor: dN = Phi(N^-T dM N^-1) N, Phi the upper
    triangle with half the diagonal."""
    (r, w), (dr, dw) = primals, tangents
    new = _updated(r, w)
    r, dr = triangle(r, False), triangle(dr, False)
    n = type_of(w).shape[0]
    outer = product(reshape(dw, (n, 1)), reshape(w, (1, n)))
    half = apply(add, product(transposed(dr), r), outer)
    change = apply(add, half, transposed(half))
    inner = solve_triangle(new, change, False, left=False)
    inner = transposed(solve_triangle(new, transposed(inner), False, left=False))
    t = type_of(inner)
    low = apply(mul, masked(inner, identity(t.shape[-1], np.bool_)), t.dtype.type(0.5))
    return new, product(apply(add, triangle(inner, False, 1), low), new)


def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """The upper triangular N with ``N^T @ N = R^T @ R + w @ w^T``, in n**2 steps.

    Args:
        r_matrix: (n, n) R, upper triangular, real.
        w_vector: (n,) w.

    Returns:
        (n, n).

    Raises:
        DTypeError: not real floats.  ShapeError: sizes that do not agree.

    Example:
        >>> import numpy as np
        >>> from numlift.lax.linalg import cholesky_update
        >>> print(cholesky_update(np.array([[3.0]], "f4"), np.array([4.0], "f4")))
        [[5.]]
    """
    t, u = type_of(r_matrix), type_of(w_vector)
    if t.kind != "f" or u.dtype != t.dtype:
        raise errors.DTypeError(
            errors.explain(
                "cholesky_update",
                "both operands must be real, of one floating dtype",
                {"r_matrix": t, "w_vector": u},
            )
        )
    if t.ndim != 2 or t.shape[0] != t.shape[1] or u.shape != t.shape[:1]:
        raise errors.ShapeError(
            errors.explain(
                "cholesky_update",
                "r_matrix must be a square matrix and w_vector a vector of its size",
                {"r_matrix": t, "w_vector": u},
                try_="nl.vmap for batches",
            )
        )
    return _updated(r_matrix, w_vector)


__all__ = [
    "cholesky_update",
    "hessenberg",
    "qdwh",
    "schur",
    "symmetric_product",
    "tridiagonal",
    "tridiagonal_solve",
]
