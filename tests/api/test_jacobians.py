"""jacobian, jacfwd, jacrev, hessian, hvp; and what derivatives of complex functions mean."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.core.dtypes import float0

X = numpy.asarray([1.0, 2.0], numpy.float32)
Z = numpy.asarray([1 + 2j, 3 - 1j], numpy.complex64)


def same(found, expected) -> None:
    assert nl.tree.structure(found) == nl.tree.structure(expected)
    for a, b in zip(nl.tree.leaves(found), nl.tree.leaves(expected), strict=True):
        a = numpy.asarray(a)
        assert a.shape == numpy.shape(b)
        numpy.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


MODES = {
    "forward": nl.jacfwd,
    "reverse": nl.jacrev,
    "auto": nl.jacobian,
    "jacobian forward": lambda f, *a, **k: nl.jacobian(f, *a, mode="forward", **k),
    "jacobian reverse": lambda f, *a, **k: nl.jacobian(f, *a, mode="reverse", **k),
}


@pytest.mark.parametrize("mode", MODES)
def test_trees_of_arguments_and_results(mode: str) -> None:
    def f(d, e):
        return {"o": d["a"] * e[0], "s": d["b"]}

    found = MODES[mode](f, argnums=(0, 1))({"a": X, "b": 2.0}, (3.0,))
    by_a, zero = {"a": 3 * numpy.eye(2), "b": numpy.zeros(2)}, {"a": numpy.zeros(2), "b": 1.0}
    same(found, {"o": (by_a, (X,)), "s": (zero, (0.0,))})


@pytest.mark.parametrize("mode", MODES)
def test_auxiliary_data_keywords_and_negative_argnums(mode: str) -> None:
    def f(a, b, *, k):
        return a * b * k, {"sum": a.sum()}

    found, aux = MODES[mode](f, argnums=-1, has_aux=True)(np.asarray(X), 2.0, k=2.0)
    same(found, 2 * X)
    same(aux, {"sum": 3.0})


@pytest.mark.parametrize("mode", MODES)
def test_shapes_of_edge_cases(mode: str) -> None:
    jac = MODES[mode]
    same(jac(lambda x: x * 2)(np.zeros((0,))), numpy.zeros((0, 0)))
    same(jac(lambda x: 3.0)(X), numpy.zeros(2))
    same(jac(lambda x: x**2)(3.0), 6.0)
    same(jac(lambda t: t[0])((X, None)), (numpy.eye(2), None))
    assert jac(lambda x: x[:, None] * np.ones((1, 3)))(X).shape == (2, 3, 2)
    half = jac(lambda t: t[0].sum() + t[1].astype("float32").sum())((X, X.astype("float16")))
    same(half, (numpy.ones(2), numpy.ones(2)))


@pytest.mark.parametrize("mode", MODES)
def test_under_jit_vmap_and_grad(mode: str) -> None:
    jac = MODES[mode](lambda x: x**3)
    same(nl.jit(jac)(X), numpy.diag(3 * X**2))
    batch = numpy.stack([X, 2 * X])
    same(nl.vmap(jac)(batch), numpy.stack([numpy.diag(3 * X**2), numpy.diag(12 * X**2)]))
    same(nl.grad(lambda x: np.sum(jac(x)))(X), 6 * X)


def test_auto_takes_the_mode_with_fewer_passes() -> None:
    many, one = numpy.ones(5, numpy.float32), numpy.ones((), numpy.float32)
    text = str(nl.make_jaxpr(nl.jacobian(lambda x: np.sum(np.sin(x))))(many))
    assert "5,5" not in text  # one row, not five columns
    text = str(nl.make_jaxpr(nl.jacobian(lambda x: np.sin(x) * np.ones(5)))(one))
    assert "5,5" not in text  # one column, not five rows


def test_integers() -> None:
    i = numpy.asarray([1, 2], numpy.int32)
    same(nl.jacrev(lambda x: x * 1.0, allow_int=True)(i), numpy.zeros((2, 2)))
    same(nl.jacobian(lambda x, n: x * n, (0, 1), allow_int=True)(X, i)[1], numpy.zeros((2, 2)))
    same(nl.jacfwd(lambda x: (x, np.asarray(i)))(X), (numpy.eye(2), numpy.zeros((2, 2))))
    same(nl.jacobian(lambda x: (x, np.asarray(i)))(X), (numpy.eye(2), numpy.zeros((2, 2))))
    found = nl.grad(lambda d: d["a"][0] * d["b"], allow_int=True)({"a": X, "b": 3})
    assert found["b"].dtype == float0
    zero = numpy.zeros((), float0)
    same(nl.jvp(lambda x, n: x * n, (2.0, 3), (1.0, zero)), (6.0, 3.0))
    assert nl.vjp(lambda x, n: x * n, 2.0, 3)[1](1.0)[1].dtype == float0


def test_errors() -> None:
    i = numpy.asarray([1, 2], numpy.int32)
    with pytest.raises(errors.GradError, match=r"jacfwd.*must be a float, but is int32"):
        nl.jacfwd(lambda x: x)(i)
    with pytest.raises(errors.GradError, match=r"jacrev.*must be a float, but is int32"):
        nl.jacrev(lambda x: x * 1.0)(i)
    with pytest.raises(errors.GradError, match="forward mode needs real arguments"):
        nl.jacfwd(lambda z: np.abs(z))(Z)
    with pytest.raises(errors.GradError, match="results must be real"):
        nl.jacrev(lambda x: x * 1j)(X)
    with pytest.raises(errors.GradError, match="holomorphic=True needs complex"):
        nl.jacobian(lambda x: x, holomorphic=True)(X)
    with pytest.raises(errors.GradError, match="real floating-point"):
        nl.grad(lambda x: x * 1j)(1.0)
    with pytest.raises(errors.ArgumentError, match="mode must be one of"):
        nl.jacobian(lambda x: x, mode="sideways")
    with pytest.raises(errors.ArgumentError, match="argnums=3"):
        nl.jacrev(lambda x: x, argnums=3)(X)
    with pytest.raises(errors.ArgumentError, match="primals must be"):
        nl.hvp(lambda x: x, X, X)


# ---- complex functions: the values are those that JAX gives --------------------------------------


def test_complex_results_of_real_arguments() -> None:
    same(nl.jacfwd(lambda x: x * (1 + 2j))(X), (1 + 2j) * numpy.eye(2))
    same(nl.jacobian(lambda x: x * (1 + 2j))(X), (1 + 2j) * numpy.eye(2))
    same(nl.jvp(lambda x: x * 1j, (1.0,), (2.0,)), (1j, 2j))
    same(nl.vjp(lambda x: x * (3 + 4j), 1.0)[1](1j + 0), (-4.0,))
    same(nl.vjp(nl.lax.complex, 1.0, 2.0)[1](3 + 4j), (3.0, -4.0))


def test_real_results_of_complex_arguments() -> None:
    same(nl.grad(lambda z: np.sum(np.abs(z) ** 2))(Z), 2 * Z.conj())
    same(nl.jacrev(lambda z: np.abs(z) ** 2)(Z), numpy.diag(2 * Z.conj()))
    same(nl.jacobian(lambda z: np.abs(z) ** 2)(Z), numpy.diag(2 * Z.conj()))
    same(nl.grad(lambda z: (z * z).real)(1 + 2j), 2 + 4j)
    same(nl.grad(lambda z: (z * z).imag)(1 + 2j), 4 - 2j)
    same(nl.vjp(np.real, 1 + 2j)[1](1.0), (1 + 0j,))
    same(nl.vjp(np.imag, 1 + 2j)[1](1.0), (-1j,))
    mixed = nl.jacrev(lambda t: (t[0] * t[1].real, t[1].imag))((X, Z))
    diag = numpy.diag
    same(mixed, ((diag([1.0, 3.0]), diag([1.0, 2.0])), (numpy.zeros((2, 2)), -1j * numpy.eye(2))))


@pytest.mark.parametrize("mode", MODES)
def test_holomorphic_functions(mode: str) -> None:
    same(MODES[mode](lambda z: z**2 * 1j, holomorphic=True)(Z), numpy.diag(2j * Z))
    # not holomorphic: the derivative along the real axis
    same(MODES[mode](lambda z: 2 * np.conj(z), holomorphic=True)(Z), 2 * numpy.eye(2))
    same(nl.grad(lambda z: z * z * z, holomorphic=True)(1 + 2j), -9 + 12j)


def test_cotangents_of_complex_functions() -> None:
    same(nl.jvp(np.conj, (1 + 2j,), (1j,)), (1 - 2j, -1j))
    same(nl.vjp(lambda z: z * (3 + 4j), 1 + 0j)[1](1j), (-4 + 3j,))
    same(nl.vjp(np.conj, 1 + 0j)[1](1j), (-1j,))


# ---- second derivatives --------------------------------------------------------------------------


def test_hessians() -> None:
    tree = nl.hessian(lambda d: (d["a"] ** 2).sum() * d["b"])({"a": np.asarray(X), "b": 2.0})
    same(tree, {"a": {"a": 4 * numpy.eye(2), "b": 2 * X}, "b": {"a": 2 * X, "b": 0.0}})
    found = nl.hessian(lambda a, b: (a**2).sum() * b, argnums=(0, 1))(np.asarray(X), 2.0)
    same(found, ((4 * numpy.eye(2), 2 * X), (2 * X, 0.0)))
    found, aux = nl.hessian(lambda x: ((x**3).sum(), {"k": x.sum()}), has_aux=True)(np.asarray(X))
    same(found, numpy.diag(6 * X))
    same(aux, {"k": 3.0})
    found = nl.hessian(lambda z: (z**3).sum(), holomorphic=True)(np.asarray(Z))
    same(found, numpy.diag(6 * Z))


def test_hessian_vector_products() -> None:
    x, v = np.asarray([1.0, 2.0, 0.5]), np.asarray([0.3, -1.0, 2.0])

    def f(x):
        return np.sum(np.sin(x) * x[::-1]) ** 2

    expected = nl.hessian(f)(x) @ v
    same(nl.hvp(f, (x,), (v,)), expected)
    same(nl.jit(lambda x, v: nl.hvp(f, (x,), (v,)))(x, v), expected)
    same(
        nl.vmap(lambda v: nl.hvp(f, (x,), (v,)))(np.stack([v, 2 * v])),
        numpy.stack([expected, 2 * expected]),
    )
    both = nl.hvp(lambda a, b: (a**2).sum() * b, (x, 2.0), (v, 1.0))
    same(both, (4 * v + 2 * x, 2 * (x * v).sum()))
    tree = nl.hvp(lambda d: d["a"] ** 2 * d["b"], ({"a": 2.0, "b": 3.0},), ({"a": 1.0, "b": 0.0},))
    same(tree, {"a": 6.0, "b": 4.0})


def test_vjp_and_linearize_with_auxiliary_data() -> None:
    def f(x):
        return x * x, {"k": x}

    value, pull, aux = nl.vjp(f, np.asarray(X), has_aux=True)
    same((value, pull(X), aux), (X * X, (2 * X * X,), {"k": X}))
    value, push, aux = nl.linearize(f, np.asarray(X), has_aux=True)
    same((value, push(X), aux), (X * X, 2 * X * X, {"k": X}))
