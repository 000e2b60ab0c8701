"""Linear algebra where it is hard: singular matrices, equal values, empty ones, many shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numlift as nl
from numlift import errors

linalg, lax = nl.numpy.linalg, nl.lax.linalg
RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def x64() -> Any:
    with nl.enable_x64(True):
        yield


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(np.asarray(x), -1, -2))


def cofactors(a: Any) -> Any:
    """Derivatives of det by definition."""
    found = np.zeros_like(a)
    for i, j in np.ndindex(a.shape):
        minor = np.delete(np.delete(a, i, 0), j, 1)
        found[i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return found


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_derivatives_of_det_at_every_rank(dtype: str) -> None:
    x = RNG.normal(size=(5, 4, 4)).astype(dtype)
    if dtype == "c16":
        x += 1j * RNG.normal(size=x.shape)
    x = np.stack([a[:, :k] @ a[:k] for k, a in enumerate(x)])  # ranks 0 ... 4
    slope = nl.jit(nl.vmap(nl.grad(linalg.det, holomorphic=dtype == "c16")))
    np.testing.assert_allclose(np.asarray(slope(x)), [cofactors(a) for a in x], atol=1e-12)
    change, e = RNG.normal(size=x.shape).astype(dtype), 1e-5
    found = np.asarray(nl.jvp(slope, (x,), (change,))[1])
    wanted = [(cofactors(a + e * t) - cofactors(a - e * t)) / (2 * e) for a, t in zip(x, change)]
    np.testing.assert_allclose(found, wanted, atol=1e-7)


def test_polar_factors_at_equal_singular_values() -> None:
    change = RNG.normal(size=(4, 3))
    for x in (np.eye(4, 3), np.diag([2.0, 2.0, 1.0, 1.0])[:, :3]):

        def whole(a: Any) -> Any:
            u, _, vh = linalg.svd(a, full_matrices=False)
            return u @ vh

        found = np.asarray(nl.jvp(whole, (x,), (change,))[1])
        wanted = np.asarray(nl.jvp(lambda a: lax.qdwh(a)[0], (x,), (change,))[1])
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_projectors_on_eigenvalues_that_are_nearly_equal() -> None:
    q = np.linalg.qr(RNG.normal(size=(5, 5)))[0]
    x = (q * [1.0, 1.0, 1.0, 3.0, 3.0]) @ q.T  # equal to rounding only

    def projector(a: Any) -> Any:
        v = linalg.eigh(a).eigenvectors[:, :3]
        return v @ v.T

    change = RNG.normal(size=x.shape)
    change, e = change + change.T, 1e-6
    found = np.asarray(nl.jvp(projector, (x,), (change,))[1])
    after, before = (np.asarray(projector(x + h * change)) for h in (e, -e))
    np.testing.assert_allclose(found, (after - before) / (2 * e), atol=1e-7)


def test_complete_bases_move_as_their_span() -> None:
    x, change, e = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2)), 1e-6
    for basis in (lambda a: lax.qr(a)[0], lambda a: linalg.svd(a)[0]):

        def rest(a: Any, basis: Any = basis) -> Any:
            q = basis(a)[:, 2:]
            return q @ q.T

        found = np.asarray(nl.jvp(rest, (x,), (change,))[1])
        difference = np.asarray(rest(x + e * change)) - np.asarray(rest(x - e * change))
        np.testing.assert_allclose(found, difference / (2 * e), atol=1e-8)


@pytest.mark.parametrize("order", ["nuc", 2, -2, "fro"])
def test_norms_of_zero_have_derivative_zero(order: Any) -> None:
    found = nl.grad(lambda x: linalg.norm(x, order))(np.zeros((2, 2)))
    np.testing.assert_array_equal(np.asarray(found), 0)


def test_changed_cholesky_factor() -> None:
    r, w = np.triu(RNG.normal(size=(4, 4))) + 3 * np.eye(4), RNG.normal(size=4)
    new = np.asarray(lax.cholesky_update(r, w))
    np.testing.assert_allclose(new.T @ new, r.T @ r + np.outer(w, w), atol=1e-12)

    def by_definition(r: Any, w: Any) -> Any:
        return linalg.cholesky(r.T @ r + nl.numpy.outer(w, w), upper=True)

    tangents = (np.triu(RNG.normal(size=r.shape)), RNG.normal(size=4))
    found, wanted = (
        np.asarray(nl.jvp(f, (r, w), tangents)[1]) for f in (lax.cholesky_update, by_definition)
    )
    np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_derivatives_through_reflectors() -> None:
    x, change, e = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), 1e-6
    taus = np.array([0.3, 0.4])

    def f(a: Any) -> Any:
        return lax.householder_product(a[:, :2], taus)

    out, found = nl.jvp(f, (x,), (change,))
    wanted = (np.asarray(f(x + e * change)) - np.asarray(f(x - e * change))) / (2 * e)
    np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-8)
    ct = RNG.normal(size=out.shape)
    back = np.asarray(nl.vjp(f, x)[1](ct)[0])
    np.testing.assert_allclose((back * change).sum(), (ct * wanted).sum(), rtol=1e-7)


def test_options() -> None:
    x = RNG.normal(size=(4, 3))
    q, r, order = map(np.asarray, lax.qr(x, pivoting=True))
    np.testing.assert_allclose(q @ r, x[:, order], atol=1e-13)
    assert (np.diff(np.abs(np.diagonal(r))) <= 0).all()
    s = np.linalg.svd(x, compute_uv=False)
    u, some, vh = lax.svd(x, full_matrices=False, subset_by_index=(1, 3))
    np.testing.assert_allclose(np.asarray(some), s[1:])
    assert u.shape == (4, 2) and vh.shape == (2, 3)
    for algorithm in lax.SvdAlgorithm:
        found = lax.svd(x, compute_uv=False, algorithm=algorithm)
        np.testing.assert_allclose(np.asarray(found), s, rtol=1e-12)
    assert linalg.matrix_rank(np.diag([1.0, 0.1]), tol=0.5) == 1
    residuals = linalg.lstsq(x, x[:, :2], numpy_resid=True)[1]
    assert residuals.shape == (2,) and linalg.lstsq(x.T, x[0, :], numpy_resid=True)[1].size == 0
    t, z = map(np.asarray, lax.schur(x[:3]))
    np.testing.assert_allclose(z @ t @ z.T, x[:3], atol=1e-13)
    h, taus = lax.hessenberg(x[:3])
    q = np.eye(3)
    q[1:, 1:] = np.asarray(lax.householder_product(h[1:, :-1], taus))
    np.testing.assert_allclose(q @ np.triu(np.asarray(h), -1) @ q.T, x[:3], atol=1e-13)


def test_errors() -> None:
    x = np.eye(3)
    for call, kind, text in (
        (lambda: lax.eigh(x, subset_by_index=(2, 5)), errors.ValueArgumentError, "subset_by_index"),
        (lambda: lax.svd(x, subset_by_index=(0, 1)), errors.ValueArgumentError, "full_matrices"),
        (lambda: lax.eigh(x, implementation=lax.EighImplementation.QDWH), ValueError, "QDWH"),
        (lambda: lax.schur(x, sort_eig_vals=True), errors.ValueArgumentError, "sorted"),
        (lambda: lax.qdwh(x[:2]), errors.ShapeError, "as many rows"),
        (lambda: lax.tridiagonal_solve(x[0], x[0], x[0], x[0]), errors.ShapeError, "columns"),
        (lambda: lax.ormqr(x, x[0], x[:2]), errors.ShapeError, "axis 0 of c"),
        (lambda: lax.symmetric_product(x + 0j, x + 0j), errors.DTypeError, "real"),
        (lambda: lax.cholesky_update(x, x), errors.ShapeError, "vector"),
        (lambda: linalg.matrix_rank(x, 1.0, tol=1.0), ValueError, "both"),
        (lambda: linalg.inv(x.astype("f2")), errors.DTypeError, "float32"),
        (lambda: nl.jvp(lax.schur, (x,), (x,)), errors.GradError, "smooth"),
    ):
        with pytest.raises(kind, match=text):
            call()


def test_singular_and_infinite_input() -> None:
    ones = np.ones((3, 3))
    assert not np.isfinite(np.asarray(linalg.inv(ones))).any()
    assert not np.isfinite(np.asarray(linalg.solve(0 * ones, ones[0]))).all()
    for bad in (np.nan, np.inf):
        for f in (linalg.eigh, linalg.svd, linalg.eig, linalg.pinv, linalg.inv):
            found = f(bad * ones)
            for y in found if isinstance(found, tuple) else (found,):
                assert np.isnan(np.asarray(y)).all()


SHAPES = st.tuples(st.sampled_from([(), (2,), (0,), (2, 1)]), st.integers(0, 4), st.integers(0, 4))


@settings(max_examples=6, deadline=None, derandomize=True)
@given(SHAPES, st.sampled_from(["f4", "f8", "c8", "c16", "i4"]))
def test_shapes(shape: Any, dtype: str) -> None:
    """Every function at any shape gives its input back, or what NumPy gives."""
    batch, m, n = shape
    x = RNG.normal(size=(*batch, n, m)) * 5
    x = (x + 1j * RNG.normal(size=x.shape) if dtype[0] == "c" else x).astype(dtype)
    x = np.swapaxes(x, -1, -2)  # not contiguous
    tol = 1e-3 if dtype in ("f4", "c8", "i4") else 1e-10
    with nl.enable_x64(True):
        q, r = map(np.asarray, linalg.qr(x))
        np.testing.assert_allclose(q @ r, x, atol=tol)
        u, s, vh = map(np.asarray, linalg.svd(x, full_matrices=False))
        np.testing.assert_allclose((u * s[..., None, :]) @ vh, x, atol=tol)
        full = [y.shape for y in linalg.svd(x)]
        assert full == [(*batch, m, m), (*batch, min(m, n)), (*batch, n, n)]
        np.testing.assert_allclose(np.asarray(x @ linalg.pinv(x) @ x), x, atol=10 * tol)
        y = x[..., : min(m, n), : min(m, n)]
        np.testing.assert_allclose(np.asarray(linalg.det(y)), np.linalg.det(y), atol=tol, rtol=tol)
        w, v = map(np.asarray, linalg.eig(y))
        np.testing.assert_allclose(y @ v, v * w[..., None, :], atol=tol)
        h = y + adjoint(y)
        w, v = map(np.asarray, linalg.eigh(h))
        np.testing.assert_allclose((v * w[..., None, :]) @ adjoint(v), h, atol=10 * tol)
