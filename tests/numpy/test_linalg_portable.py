"""Algorithms made of array operations, as on platforms without LAPACK, against LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numlift as nl
from numlift.core.tracing import apply
from numlift.ops.linalg_bands import TridiagonalSolve
from numlift.ops.linalg_calls import PORTABLE, MatrixOp
from numlift.ops.linalg_factors import Lu
from numlift.ops.linalg_polar import Polar
from numlift.ops.linalg_qr import ApplyReflectors, Householder, Qr, QrPivoted
from numlift.ops.linalg_similar import Hessenberg, Schur, Tridiagonal
from numlift.ops.linalg_spectral import Eig, Eigh, Svd

RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def x64() -> Any:
    with nl.enable_x64(True):
        yield


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def run(op: MatrixOp, *xs: Any) -> list[np.ndarray]:
    """Results of the portable algorithm."""
    return [np.asarray(y) for y in nl.jit(lambda *zs: PORTABLE[type(op)](op, *zs))(*xs)]


def test_every_algorithm_is_there() -> None:
    ops = {Lu, Qr, QrPivoted, Householder, ApplyReflectors, Hessenberg, Tridiagonal, Schur, Polar}
    assert ops | {Eig, Eigh, Svd, TridiagonalSolve} == set(PORTABLE)


@pytest.mark.parametrize("op", [Lu.of(), Qr.of(True), QrPivoted.of(False)], ids=repr)
@pytest.mark.parametrize("shape", [(2, 5, 3), (3, 4)])
def test_factors_are_those_of_lapack(op: Any, shape: Any) -> None:
    x = normal(*shape)
    for found, wanted in zip(run(op, x), apply(op, x), strict=True):
        np.testing.assert_allclose(found, np.asarray(wanted), atol=1e-13)
        assert found.dtype == wanted.dtype


@pytest.mark.parametrize("op", [Hessenberg.of(), Tridiagonal.of(True), Tridiagonal.of(False)])
@pytest.mark.parametrize("n", [1, 4])
def test_similar_forms_are_those_of_lapack(op: Any, n: int) -> None:
    x = normal(n, n)
    for found, wanted in zip(run(op, x), apply(op, x), strict=True):
        np.testing.assert_allclose(found, np.asarray(wanted), atol=1e-13)


@pytest.mark.parametrize(("left", "turned"), [(True, False), (True, True), (False, True)])
def test_products_with_reflectors(left: bool, turned: bool) -> None:
    op, h, taus, c = ApplyReflectors.of(left, turned), normal(4, 3), normal(3), normal(4, 4)
    np.testing.assert_allclose(run(op, h, taus, c)[0], apply(op, h, taus, c), atol=1e-12)
    one = Householder.of()
    np.testing.assert_allclose(run(one, h, taus)[0], apply(one, h, taus), atol=1e-12)


def low_rank(m: int, n: int) -> Any:
    return normal(m, 1) @ normal(1, n)


MATRICES = {
    "random": normal(2, 5, 3),
    "wide": normal(3, 4),
    "low rank": low_rank(4, 4),
    "zero": np.zeros((3, 3)),
    "equal": np.eye(4),
    "number": np.full((1, 1), -2.0),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("method", ["jacobi", "polar"])
def test_singular_values(name: str, method: str) -> None:
    x = MATRICES[name]
    s, u, vh = run(Svd.of(True, True, method), x)
    k, tol = s.shape[-1], 1e-14 * max(1.0, np.abs(x).max())
    np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, atol=10 * tol)
    for q in (u, adjoint(vh)):
        np.testing.assert_allclose(adjoint(q) @ q, np.eye(q.shape[-1]) + 0 * q[..., :1, :1],
                                   atol=2e-14)  # fmt: skip
    np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False), atol=10 * tol)


def test_small_singular_values_are_accurate() -> None:
    x = (np.linalg.qr(RNG.normal(size=(4, 4)))[0] * 10.0 ** -np.arange(0, 40, 10)).T
    found = run(Svd.of(False, False, "jacobi"), x.T)[0]
    np.testing.assert_allclose(found, 10.0 ** -np.arange(0, 40, 10), rtol=1e-13)


@pytest.mark.parametrize("n", [1, 5])
def test_hermitian_matrices(n: int) -> None:
    x = normal(2, n, n)
    whole = np.tril(x) + adjoint(np.tril(x, -1))
    whole[:, range(n), range(n)] = whole[:, range(n), range(n)].real
    w, v = run(Eigh.of(True), x)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(x), atol=1e-13)
    np.testing.assert_allclose((v * w[:, None]) @ adjoint(v), whole, atol=1e-13)
    np.testing.assert_allclose(run(Eigh.of(False), x)[0], np.linalg.eigvalsh(x, "U"), atol=1e-13)


@pytest.mark.parametrize("x", [normal(2, 5, 5), np.roll(np.eye(4), 1, 0), np.zeros((2, 2)),
                               np.eye(3) + np.eye(3, k=1)], ids=range(4))  # fmt: skip
def test_general_matrices(x: Any) -> None:
    w, left, right = run(Eig.of(True, True), x)
    np.testing.assert_allclose(x @ right, right * w[..., None, :], atol=1e-12)
    np.testing.assert_allclose(adjoint(left) @ x, w[..., None] * adjoint(left), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(right, axis=-2), 1, rtol=1e-13)
    t, z = run(Schur.of(True), x.astype("c16"))
    np.testing.assert_allclose(z @ t @ adjoint(z), x, atol=1e-12)
    assert not np.tril(t, -1).any()


def test_what_is_not_finite_ends() -> None:
    x = np.full((3, 3), np.nan)
    for op in (Eigh.of(True), Svd.of(False, True), Eig.of(False, True)):
        assert all(np.isnan(y).all() for y in run(op, x))


@pytest.mark.parametrize("n", [1, 5])
def test_tridiagonal_systems(n: int) -> None:
    dl, d, du = normal(3, n)
    b = normal(n, 2)
    for middle in (d, 0 * d + (n == 1)):
        op = TridiagonalSolve.of(False)
        found, wanted = run(op, dl, middle, du, b)[0], np.asarray(apply(op, dl, middle, du, b))
        np.testing.assert_allclose(found, wanted, atol=1e-11)
    for perturb in (False, True):
        found = run(TridiagonalSolve.of(perturb), 0 * dl, 0 * d, 0 * du, b)[0]
        assert np.isfinite(found).all() == perturb


def lowered(f: Any, platform: str, *xs: Any) -> str:
    """The program for another platform."""
    return str(nl.export.export(nl.jit(f), platforms=[platform])(*xs).mlir_module())


def everything(x: Any) -> Any:
    linalg = nl.numpy.linalg
    return (
        linalg.solve(x, x), linalg.det(x), linalg.qr(x), linalg.svd(x), linalg.eigh(x),
        linalg.eig(x), linalg.pinv(x), nl.lax.linalg.hessenberg(x), linalg.cholesky(x),
        nl.lax.linalg.tridiagonal(x), nl.lax.linalg.tridiagonal_solve(x[0], x[1], x[2], x),
        nl.lax.linalg.qr(x, pivoting=True),
    )  # fmt: skip


def test_other_platforms() -> None:
    x = nl.ShapeDtypeStruct((4, 4), np.float32)
    assert "custom_call" not in lowered(everything, "tpu", x)
    for platform, prefix in (("cuda", "cu"), ("rocm", "hip")):
        text = lowered(everything, platform, x)
        assert "lapack" not in text
        for function in ("getrf", "geqrf", "orgqr", "gesvdj", "syevd", "sytrd"):
            assert f"@{prefix}solver_{function}_ffi" in text
        assert f"@{prefix}sparse_gtsv2_ffi" in text
