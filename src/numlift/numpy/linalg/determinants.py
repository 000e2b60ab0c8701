"""Determinants of matrices of any size, differentiable where they are singular too.

The derivative of det is the matrix of cofactors. In the bases of the singular vectors, where the
matrix is diag(s), they are products of all singular values but one, and their derivatives are
products of all but two: no division is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...api.custom import custom_jvp
from ...core.tracing import apply, type_of
from ...core.types import array_type
from ...lax.branches import cond
from ...ops.cumulative import CumProd
from ...ops.elementwise_misc import stop_gradient
from ...ops.linalg_calls import adjoint, columns, diagonal, product, transposed
from ...ops.linalg_factors import Lu, LuSolve
from ...structural.arith import conjugated
from ...structural.shape import full
from ..diagonals import eye
from ..joining import concatenate
from ..reductions import prod, sum
from ..selection import where
from ..util import broadcast_to_shape
from .decompositions import svd


def solve_square(a: Any, b: Any) -> Any:
    """a^-1 b for arrays of matrices with equal batch axes."""
    lu, _, order = apply(Lu.of(), apply(stop_gradient, a))
    return apply(LuSolve.of(False), a, lu, order, b)


def parity(x: Any) -> tuple[Any, Any]:
    """Diagonal of U, and the sign of the permutation."""
    t = type_of(x)
    lu, pivots, _ = apply(Lu.of(), x)
    swaps = sum(pivots != np.arange(t.shape[-1], dtype=np.int32), axis=-1)
    return diagonal(lu), (1 - 2 * (swaps % 2)).astype(t.dtype)


def _sign_and_entries(x: Any) -> Any:
    entries, sign = parity(x)
    return sign * prod(entries, axis=-1)


@custom_jvp
def determinant(x: Any) -> Any:
    """det of square matrices, by LU."""
    return _sign_and_entries(x)


@determinant.defjvp
def _determinant_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (x,), (dx,) = primals, tangents
    return determinant(x), sum(cofactors(x) * dx, axis=(-2, -1))


@custom_jvp
def cofactors(x: Any) -> Any:
    """Derivatives of det by each element: det(x) x^-T where that is accurate."""
    entries, _ = parity(x)
    size = abs(entries)
    good = (size.min(axis=-1) > np.finfo(type_of(x).dtype).eps ** 0.25 * size.max(axis=-1)).all()
    return cond(good, _by_inverse, _by_singular_values, x)


def _by_inverse(x: Any) -> Any:
    t = type_of(x)
    one = broadcast_to_shape(eye(t.shape[-1], dtype=t.dtype), t.shape)
    return transposed(solve_square(x, one)) * _sign_and_entries(x)[..., None, None]


def _bases(x: Any) -> tuple[Any, Any, Any, Any]:
    """U, singular values, V^H, and det(U) det(V^H)."""
    u, s, vh = svd(x)
    return u, s, vh, (_sign_and_entries(u) * _sign_and_entries(vh))[..., None, None]


def _by_singular_values(x: Any) -> Any:
    u, s, vh, turn = _bases(x)
    u = conjugated(u)
    left = _exclusive(s, False) * _exclusive(s, True)
    return turn * product(u * columns(left.astype(type_of(x).dtype), u), conjugated(vh))


@cofactors.defjvp
def _cofactors_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """With B = U^H dx V: (i, i) gets the sum over j of p[i, j] B[j, j], (i, j) -p[i, j] B[j, i],
    where p[i, j] is the product of all singular values but i and j."""
    (x,), (dx,) = primals, tangents
    u, s, vh, turn = _bases(x)
    n, dtype = type_of(x).shape[-1], type_of(x).dtype
    changed = product(adjoint(u), product(dx, adjoint(vh)))
    rest = _all_but_two(s).astype(dtype)
    on = (rest * diagonal(changed)[..., None, :]).sum(-1)
    inner = where(np.eye(n, dtype=np.bool_), on[..., None], -rest * transposed(changed))
    return cofactors(x), turn * product(conjugated(u), product(inner, conjugated(vh)))


def _all_but_two(s: Any) -> Any:
    """Products of all elements but i and j; 0 on the diagonal."""
    n = type_of(s).shape[-1]
    later = np.tri(n, n, -1, np.bool_).T
    between = _exclusive(where(later, s[..., None, :], 1), False)
    before, after = _exclusive(s, False)[..., None], _exclusive(s, True)[..., None, :]
    found = where(later, before * between * after, 0)
    return found + transposed(found)


def _exclusive(s: Any, reverse: bool) -> Any:
    """Products of the elements before each one, or after it."""
    found = apply(CumProd.of(type_of(s).ndim - 1, reverse), s)
    t = type_of(s)
    one = full(array_type((*t.shape[:-1], 1), t.dtype), 1)
    if reverse:
        return concatenate([found[..., 1:], one], -1)
    return concatenate([one, found[..., :-1]], -1)


__all__ = ["cofactors", "determinant", "parity", "solve_square"]
