"""Samples of matrix operations: functions that do not depend on signs and phases of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

import numlift.numpy as nnp
from numlift import lax

from . import COMPLEX, Sample

WIDE = ("float32", "float64", *COMPLEX)
LOOSE = {"float32": 2e-4, "complex64": 2e-4, "float64": 1e-9, "complex128": 1e-9}
EYE = np.eye(3)


def matrices(*shapes: tuple[int, ...]) -> Any:
    """`inputs` of a sample: random matrices far from singular ones."""

    def make(rng: Any, dtype: Any) -> tuple[np.ndarray, ...]:
        found = []
        for s in shapes:
            x = rng.normal(size=s)
            if np.dtype(dtype).kind == "c":
                x = x + 1j * rng.normal(size=s)
            found.append((x / 3 + (np.diag([1.0, 2.0, 3.5]) if s == (3, 3) else 0)).astype(dtype))
        return tuple(found)

    return make


def positive(a: Any) -> Any:
    """a a^H + 1, by either library."""
    xp: Any = np if isinstance(a, np.ndarray) else nnp
    return a @ xp.conj(a).T + EYE.astype(a.dtype)


def hermitian(a: Any) -> Any:
    """(a + a^H) / 2, by either library."""
    xp: Any = np if isinstance(a, np.ndarray) else nnp
    return (a + xp.conj(a).T) / 2


def unphased(v: Any) -> Any:
    """Columns times the conjugate of their first component, by either library."""
    return v * v[:1].conj()


def row(name: str, function: Any, oracle: Any, *shapes: tuple[int, ...], **more: Any) -> Sample:
    """A sample of matrices of these shapes, differentiated by the first."""
    options: dict[str, Any] = {"dtypes": WIDE, "differentiable": (0,), "tolerances": LOOSE} | more
    return Sample(f"linalg/{name}", function, matrices(*shapes), oracle, **options)


def reflectors(a: Any) -> Any:
    """A product of reflectors from the columns of a matrix, all with factor 0.3."""
    return lax.linalg.householder_product(a, nnp.full((2,), 0.3, a.dtype))


def reflectors_by_numpy(a: np.ndarray) -> np.ndarray:
    """The same by definition: product of 1 - tau v v^H, v with a leading 1."""
    product = np.eye(3, dtype=a.dtype)
    for j in range(2):
        v = np.concatenate([np.zeros(j), [1.0], a[j + 1 :, j]]).astype(a.dtype)
        product = product @ (np.eye(3) - 0.3 * np.outer(v, v.conj()))
    return product[:, :2]


def full_reflectors_by_numpy(a: np.ndarray) -> np.ndarray:
    """All columns of the same product."""
    wide = np.concatenate([a, np.zeros((3, 1), a.dtype)], 1)
    product = np.eye(3, dtype=a.dtype)
    for j in range(2):
        v = np.concatenate([np.zeros(j), [1.0], wide[j + 1 :, j]])
        product = product @ (np.eye(3) - 0.3 * np.outer(v, v))
    return product


def tridiagonal_by_numpy(a: np.ndarray) -> np.ndarray:
    """The matrix with these rows as lower, main (plus 3) and upper diagonal."""
    return np.diag(a[1] + 3) + np.diag(a[0][1:], -1) + np.diag(a[2][:-1], 1)


SAMPLES = [
    row(
        "cholesky",
        lambda a: lax.linalg.cholesky(positive(a)),
        lambda a: np.linalg.cholesky(positive(a)),
        (3, 3),
        complex_derivative=False,
    ),
    row(
        "triangular_solve",
        lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True),
        lambda a, b: scipy.linalg.solve_triangular(a, b, lower=True),
        (3, 3),
        (3, 2),
        differentiable=(0, 1),
    ),
    row("lu", lambda a: lax.linalg.lu(a)[0], lambda a: scipy.linalg.lu_factor(a)[0], (3, 3)),
    row(
        "lu/permutation",
        lambda a: lax.linalg.lu(a)[2],
        lambda a: np.argmax(scipy.linalg.lu(a)[0].T, axis=1),
        (3, 3),
        differentiable=(),
    ),
    Sample(
        "linalg/lu_pivots_to_permutation",
        lambda p: lax.linalg.lu_pivots_to_permutation(p, 3),
        lambda rng, dtype: (np.array([2, 2, 2], dtype),),
        lambda p: np.array([2, 0, 1]),
        ("int32",),
    ),
    row("solve", nnp.linalg.solve, np.linalg.solve, (3, 3), (3, 2), differentiable=(0, 1)),
    row(
        "qr",
        lambda a: nnp.abs(lax.linalg.qr(a, full_matrices=False)[1]),
        lambda a: np.abs(np.linalg.qr(a)[1]),
        (3, 3),
        complex_derivative=False,
    ),
    row(
        "eigh",
        lambda a: lax.linalg.eigh(hermitian(a))[1],
        lambda a: np.linalg.eigvalsh(hermitian(a)),
        (3, 3),
        complex_derivative=False,
    ),
    row(
        "svd",
        lambda a: lax.linalg.svd(a, compute_uv=False),
        lambda a: np.linalg.svd(a, compute_uv=False),
        (3, 2),
        complex_derivative=False,
    ),
    row(
        "eig",
        lambda a: (nnp.linalg.eigvals(a) ** 3).sum().real,
        lambda a: (np.linalg.eigvals(a) ** 3).sum().real,
        (3, 3),
        complex_derivative=False,
    ),
    *(
        row(
            f"eig/{side} vectors",
            lambda a, side=side: unphased(
                lax.linalg.eig(
                    a,
                    compute_left_eigenvectors=side == "left",
                    compute_right_eigenvectors=side == "right",
                )[1]
            ),
            lambda a, side=side: unphased(
                scipy.linalg.eig(a, left=side == "left", right=side == "right")[1]
            ),
            (3, 3),
        )
        for side in ("left", "right")
    ),
    row(
        "householder_product",
        reflectors,
        reflectors_by_numpy,
        (3, 2),
        dtypes=("float32", "float64"),
        differentiable=(),
    ),
    row(
        "ormqr",
        lambda a, c: lax.linalg.ormqr(a, nnp.full((2,), 0.3, a.dtype), c),
        lambda a, c: full_reflectors_by_numpy(a) @ c,
        (3, 2),
        (3, 2),
        dtypes=("float32", "float64"),
        differentiable=(1,),
    ),
    row(
        "qr_pivoted",
        lambda a: nnp.abs(lax.linalg.qr(a, pivoting=True, full_matrices=False)[1]),
        lambda a: np.abs(scipy.linalg.qr(a, pivoting=True, mode="economic")[1]),
        (3, 3),
        complex_derivative=False,
    ),
    row(
        "hessenberg",
        lambda a: nnp.abs(nnp.triu(lax.linalg.hessenberg(a)[0], -1)),
        lambda a: np.abs(scipy.linalg.hessenberg(a)),
        (3, 3),
        differentiable=(),
    ),
    row(
        "tridiagonal",
        lambda a: nnp.abs(lax.linalg.tridiagonal(hermitian(a))[2]),
        lambda a: np.abs(np.diagonal(scipy.linalg.hessenberg(hermitian(a)), -1)),
        (3, 3),
        differentiable=(),
    ),
    row(
        "schur",
        lambda a: nnp.sort(nnp.diagonal(lax.linalg.schur(a)[0]).real),
        lambda a: np.sort(np.linalg.eigvals(a).real),
        (3, 3),
        dtypes=COMPLEX,
        differentiable=(),
    ),
    row(
        "tridiagonal_solve",
        lambda a, b: lax.linalg.tridiagonal_solve(a[0], a[1] + 3, a[2], b),
        lambda a, b: np.linalg.solve(tridiagonal_by_numpy(a), b),
        (3, 4),
        (4, 2),
        differentiable=(0, 1),
    ),
    row(
        "polar",
        lambda a: lax.linalg.qdwh(a)[0],
        lambda a: scipy.linalg.polar(a)[0],
        (3, 2),
        dtypes=("float32", "float64"),
        second_order=False,
    ),
]
