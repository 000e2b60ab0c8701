"""`numpy.linalg`: values against NumPy, derivatives against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numlift as nl
from numlift import errors

RNG = np.random.default_rng(1)
REAL = RNG.normal(size=(2, 4, 4))
COMPLEX = REAL + 1j * RNG.normal(size=REAL.shape)
linalg = nl.numpy.linalg


@pytest.fixture(autouse=True)
def x64() -> Any:
    with nl.enable_x64(True):
        yield


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(np.asarray(x), -1, -2))


VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "inv": lambda m, x: m.inv(x),
    "det": lambda m, x: [m.det(x), m.det(x[:, :3, :3]), m.det(x[:, :2, :2])],
    "slogdet": lambda m, x: m.slogdet(x),
    "solve": lambda m, x: [m.solve(x, x[:, :, :2]), m.solve(x, x[0, 0])],
    "pinv": lambda m, x: [m.pinv(x[:, :, :3]), m.pinv(x[:, :3])],
    "matrix_power": lambda m, x: m.matrix_power(x, -3),
    "norm": lambda m, x: [m.norm(x, o, (1, 2)) for o in (2, -2, "nuc")],
    "cond": lambda m, x: [m.cond(x, o) for o in (None, 2, -2, 1, -1, "fro", np.inf, -np.inf)],
    "svd": lambda m, x: m.svd(x, compute_uv=False),
    "lstsq": lambda m, x: list(m.lstsq(x[0][:, :3], x[1][:, 0])),
    "matrix_rank": lambda m, x: [m.matrix_rank(np.ones((2, 3, 3))), m.matrix_rank(x)],
    "tensorinv": lambda m, x: m.tensorinv(x[0].reshape(2, 2, 4)),
    "tensorsolve": lambda m, x: m.tensorsolve(x[0].reshape(2, 2, 4), x[1][0].reshape(2, 2)),
}


@pytest.mark.parametrize("x", [REAL, COMPLEX], ids=["real", "complex"])
@pytest.mark.parametrize("name", VALUES)
def test_values(name: str, x: Any) -> None:
    found, wanted = VALUES[name](linalg, x), VALUES[name](np.linalg, x)
    pairs = [(found, wanted)] if hasattr(wanted, "shape") else zip(found, wanted, strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_factors_give_the_matrix_back(dtype: str) -> None:
    x = COMPLEX.astype(dtype) if dtype[0] == "c" else REAL.astype(dtype)
    tol = 1e-4 if dtype in ("f4", "c8") else 1e-10

    def near(a: Any, b: Any) -> None:
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), atol=tol * 10, rtol=tol)

    for wide in (x, x[:, :3], x[:, :, :3]):
        for mode in ("reduced", "complete"):
            q, r = map(np.asarray, linalg.qr(wide, mode))
            near(q @ r, wide)
            near(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (2, *q.shape[-1:] * 2)))
        u, s, vh = map(np.asarray, linalg.svd(wide, full_matrices=False))
        near((u * s[:, None]) @ vh, wide)
        k = s.shape[-1]
        lu, _, order = map(np.asarray, nl.lax.linalg.lu(wide))
        low = np.tril(lu[:, :, :k], -1) + np.eye(wide.shape[-2], k)
        near(low @ np.triu(lu[:, :k]), np.take_along_axis(wide, order[..., None], -2))
    h = x + adjoint(x)
    w, v = map(np.asarray, linalg.eigh(h))
    near((v * w[:, None]) @ adjoint(v), h)
    u, s, vh = map(np.asarray, linalg.svd(h, hermitian=True))
    near((u * s[:, None]) @ vh, h)
    w, v = map(np.asarray, linalg.eig(x))
    near(x @ v, v * w[:, None])
    p = x @ adjoint(x) + np.eye(4, dtype=dtype)
    low, up = linalg.cholesky(p), linalg.cholesky(p, upper=True)
    near(np.asarray(low) @ adjoint(low), p)
    near(up, adjoint(low))


def _turned(x: Any) -> Any:
    u, s, vh = linalg.svd(x, full_matrices=False)
    return (u * nl.numpy.arange(1.0, s.shape[-1] + 1)) @ vh


def _weighted(x: Any) -> Any:
    w, v = linalg.eigh(x)
    return (v * nl.numpy.arange(1.0, 5)) @ nl.numpy.conj(nl.numpy.matrix_transpose(v)), w


DERIVATIVES: dict[str, Callable[[Any], Any]] = {
    "inv": linalg.inv,
    "det": linalg.det,
    "logdet": lambda x: linalg.slogdet(x)[1],
    "pinv": lambda x: linalg.pinv(x[:, :, :3]),
    "pinv wide": lambda x: linalg.pinv(x[:, :3]),
    "eigvals": linalg.eigvals,
    "lstsq": lambda x: linalg.lstsq(x[0][:, :3], x[1])[0],
    "nuc": lambda x: linalg.norm(x, "nuc", (-2, -1)),
    "cond": linalg.cond,
    "qr": lambda x: linalg.qr(x)[0],
    "qr tall": lambda x: linalg.qr(x[:, :, :3])[0],
    "qr wide": lambda x: linalg.qr(x[:, :3])[1],
    "svd": _turned,
    "svd tall": lambda x: _turned(x[:, :, :3]),
    "svd wide": lambda x: _turned(x[:, :3]),
    "eigh": lambda x: _weighted(x)[0],
    "eigvalsh": lambda x: _weighted(x)[1],
    "lu": lambda x: nl.lax.linalg.lu(x[:, :3])[0],
    "lu tall": lambda x: nl.lax.linalg.lu(x[:, :, :3])[0],
    "cholesky": lambda x: linalg.cholesky(
        x @ nl.numpy.conj(nl.numpy.matrix_transpose(x)) + nl.numpy.eye(4)
    ),
}


@pytest.mark.parametrize("x", [REAL, COMPLEX], ids=["real", "complex"])
@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives(name: str, x: Any) -> None:
    f, rng, e = nl.jit(DERIVATIVES[name]), np.random.default_rng(0), 1e-6
    t = rng.normal(size=x.shape).astype(x.dtype)
    if x.dtype.kind == "c":
        t = t + 1j * rng.normal(size=x.shape)
    x = nl.numpy.asarray(x)
    _, found = nl.jvp(f, (x,), (nl.numpy.asarray(t),))
    found = np.asarray(found)
    wanted = (np.asarray(f(x + e * t)) - np.asarray(f(x - e * t))) / (2 * e)
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)
    ct = rng.normal(size=found.shape).astype(found.dtype)
    back = np.asarray(nl.vjp(f, x)[1](nl.numpy.asarray(ct))[0])
    np.testing.assert_allclose((back * t).real.sum(), (ct * found).real.sum(), rtol=1e-6)


def test_second_derivative_at_equal_eigenvalues() -> None:
    hessian = nl.hessian(lambda x: linalg.slogdet(x)[1])(nl.numpy.eye(2))
    wanted = -np.eye(2)[:, None, None, :] * np.eye(2)[None, :, :, None]
    np.testing.assert_allclose(np.asarray(hessian), wanted, atol=1e-12)
    slope = nl.grad(lambda x: nl.numpy.sum(linalg.eigvalsh(x) ** 2))(nl.numpy.eye(3))
    np.testing.assert_allclose(np.asarray(slope), 2 * np.eye(3), atol=1e-12)


def test_vmap_is_a_loop() -> None:
    found = nl.vmap(linalg.solve, in_axes=(0, None))(REAL, REAL[0])
    np.testing.assert_allclose(np.asarray(found), np.linalg.solve(REAL, REAL[0]), rtol=1e-9)
    found = nl.vmap(linalg.pinv, in_axes=2)(REAL.transpose(1, 2, 0))
    np.testing.assert_allclose(np.asarray(found), np.linalg.pinv(REAL), rtol=1e-8)


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3), (0, 4, 4)])
def test_empty(shape: tuple[int, ...]) -> None:
    x = np.ones(shape)
    assert np.asarray(linalg.inv(x)).shape == shape
    np.testing.assert_array_equal(np.asarray(linalg.det(x)), np.linalg.det(x))


def test_tolerances() -> None:
    x = np.diag([1.0, 0.1, 1e-3])
    assert linalg.matrix_rank(x, 1e-2) == 2
    for rtol in (1e-2, np.array([1e-2, 0.5])):
        y = np.stack([x, x]) if np.ndim(rtol) else x
        found = nl.jit(linalg.pinv)(y, rtol)
        np.testing.assert_allclose(np.asarray(found), np.linalg.pinv(y, rtol), atol=1e-12)
        np.testing.assert_allclose(np.asarray(linalg.pinv(y, rtol)), found, atol=1e-12)


def test_failures() -> None:
    assert np.isnan(np.asarray(linalg.cholesky(-np.eye(2)))).any()
    with pytest.raises(errors.ShapeError, match=r"inv: .*square"):
        linalg.inv(np.ones((2, 3)))
    with pytest.raises(errors.ShapeError, match=r"solve: .*rows"):
        linalg.solve(np.eye(2), np.ones((3, 1)))
    with pytest.raises(errors.ValueArgumentError, match="mode"):
        linalg.qr(np.eye(2), "raw")
    with pytest.raises(errors.GradError, match="enable_eigvec_derivs=True"):
        nl.jvp(
            lambda x: nl.lax.linalg.eig(x, enable_eigvec_derivs=False)[1],
            (nl.numpy.eye(2),),
            (nl.numpy.eye(2),),
        )


def test_derivatives_of_eigenvectors_keep_what_lapack_fixes() -> None:
    # Both components of a rotation's eigenvectors have the same size; one of them is real.
    turn, change = np.array([[0.0, -1.0], [1.0, 0.0]]), np.array([[0.5, 2.0], [1.0, -0.3]])
    _, (w, u, v) = nl.jvp(nl.lax.linalg.eig, (turn,), (change,))
    vectors = np.linalg.eig(turn)[1]
    np.testing.assert_allclose(np.asarray(w).sum(), np.trace(change), atol=1e-12)
    for d in (u, v):
        np.testing.assert_allclose(np.sum(vectors.conj() * np.asarray(d), 0).real, 0, atol=1e-12)
        np.testing.assert_allclose(np.asarray(d)[0].imag, 0, atol=1e-12)
    # Signs and phases too are those of LAPACK: the tangent is the difference of its results.
    for x in (REAL, COMPLEX):
        a, change = x[0] + np.diag([1.0, 3.0, 5.0, 8.0]), x[1]
        found = nl.jvp(nl.lax.linalg.eig, (a,), (change,))[1]
        after, before = (nl.lax.linalg.eig(a + h * change) for h in (1e-6, -1e-6))
        for d, y, z in zip(found, after, before, strict=True):
            difference = (np.asarray(y) - np.asarray(z)) / 2e-6
            np.testing.assert_allclose(np.asarray(d), difference, atol=1e-7)
    # Equal eigenvalues: vectors of the common subspace are not mixed, and nothing is infinite.
    _, found = nl.jvp(nl.lax.linalg.eig, (np.eye(3),), (np.ones((3, 3)),))
    assert all(np.isfinite(np.asarray(d)).all() for d in found)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_triangular_solve(left: bool, transpose: bool) -> None:
    for lower in (True, False):
        a = np.tril(COMPLEX) if lower else np.triu(COMPLEX)
        b = COMPLEX[:, :, :2] if left else COMPLEX[:, :2]
        x = np.asarray(
            nl.lax.linalg.triangular_solve(
                COMPLEX, b, left_side=left, lower=lower, transpose_a=transpose, conjugate_a=True
            )
        )
        op = adjoint(a) if transpose else a.conj()
        np.testing.assert_allclose(op @ x if left else x @ op, b, atol=1e-9)


@pytest.mark.parametrize("order", [0, 1, 2, 3, np.inf])
def test_norms_of_nothing_are_zero(order: float) -> None:
    assert float(linalg.vector_norm(np.ones(0), ord=order)) == 0
    assert linalg.vector_norm(np.ones((2, 0)), ord=order, axis=1).tolist() == [0, 0]


@pytest.mark.parametrize("order", ["fro", "nuc", 1, 2, np.inf])
def test_norms_of_empty_matrices_are_zero(order: float | str) -> None:
    for shape in ((0, 3), (3, 0), (0, 0)):
        assert float(linalg.matrix_norm(np.ones(shape), ord=order)) == 0


def test_nothing_has_no_smallest_element() -> None:
    with pytest.raises(ValueError, match="vector_norm: there is no smallest one"):
        linalg.vector_norm(np.ones(0), ord=-np.inf)
    with pytest.raises(ValueError, match="norm: there is no smallest one"):
        linalg.norm(np.ones((3, 0)), ord=-1)
