"""custom_linear_solve, custom_root, platform_dependent."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax

A = numpy.array([[3.0, 1.0], [0.5, 2.0]], "float32")
B = numpy.array([1.0, 2.0], "float32")


def close(a: Any, b: Any, rtol: float = 1e-4) -> None:
    numpy.testing.assert_allclose(numpy.asarray(a), numpy.asarray(b), rtol=rtol, atol=1e-5)


def jacobi(matvec: Any, b: Any) -> Any:
    """Iterations in a loop that has no reverse mode of its own."""
    diagonal = np.stack([matvec(np.array([1.0, 0.0]))[0], matvec(np.array([0.0, 1.0]))[1]])

    def step(s: Any) -> Any:
        return s[0] + (b - matvec(s[0])) / diagonal, s[1] + 1

    return lax.while_loop(lambda s: s[1] < 60, step, (b, 0))[0]


def f(a: Any, b: Any) -> Any:
    return (lax.custom_linear_solve(lambda x: a @ x, b, jacobi, jacobi) ** 2).sum()


@pytest.mark.parametrize("wrap", [lambda f: f, nl.jit])
def test_linear_solve_to_second_order(wrap: Any) -> None:
    x = numpy.linalg.solve(A, B)
    adjoint = numpy.linalg.solve(A.T, 2 * x)
    close(wrap(f)(A, B), (x**2).sum())
    d_a, d_b = wrap(nl.grad(f, (0, 1)))(A, B)
    close(d_b, adjoint)
    close(d_a, -numpy.outer(adjoint, x))
    inverse = numpy.linalg.inv(A)
    close(wrap(nl.hessian(f, 1))(A, B), 2 * inverse.T @ inverse)
    close(wrap(nl.jacrev(nl.grad(f, 1)))(A, B), wrap(nl.jacfwd(nl.grad(f, 1)))(A, B), 1e-3)
    many = wrap(nl.vmap(nl.grad(f, (0, 1)), (0, None)))(numpy.stack([A, A]), B)
    close(many[0][1], d_a)
    close(many[1][1], d_b)
    total = wrap(nl.grad(lambda a: nl.vmap(f, (None, 0))(a, numpy.stack([B, B])).sum()))(A)
    close(total, 2 * d_a)


def test_linear_solve_options_and_mistakes() -> None:
    x, aux = lax.custom_linear_solve(
        lambda x: 2 * x, 3.0, lambda mv, b: (b / mv(1.0), {"steps": 5}), has_aux=True
    )
    close(x, 1.5)
    assert int(aux["steps"]) == 5
    symmetric = lambda b: lax.custom_linear_solve(
        lambda x: {"a": 2 * x["a"]}, {"a": b}, lambda mv, b: {"a": b["a"] / 2}, symmetric=True
    )["a"]
    close(nl.grad(symmetric)(1.0), 0.5)
    with pytest.raises(errors.GradError, match="transposed system"):
        nl.grad(lambda b: lax.custom_linear_solve(lambda x: 2 * x, b, lambda mv, b: b / 2))(1.0)
    with pytest.raises(errors.TreeError, match="matvec must return"):
        lax.custom_linear_solve(lambda x: (x,), 1.0, lambda mv, b: b)
    with pytest.raises(errors.TreeError, match="solve must return"):
        lax.custom_linear_solve(lambda x: x, 1.0, lambda mv, b: np.ones(2))


def root(a: Any, start: Any = 1.0) -> Any:
    def newton(f: Any, x: Any) -> Any:
        return lax.while_loop(lambda x: np.abs(f(x)) > 1e-5, lambda x: x - f(x) / (2 * x), x)

    return lax.custom_root(lambda x: x * x - a, start, newton, lambda g, y: y / g(1.0))


def test_root() -> None:
    aa = numpy.array([4.0, 9.0], "float32")
    want = 0.5 / numpy.sqrt(aa)
    close(root(4.0), 2)
    close(nl.grad(root)(4.0), 0.25)
    close(nl.grad(nl.jit(root))(4.0), 0.25)
    close(nl.jvp(root, (4.0,), (1.0,))[1], 0.25)
    close(nl.grad(root, 1)(4.0, 1.0), 0)
    close(nl.jit(nl.grad(nl.grad(root)))(4.0), -1 / 32)
    close(nl.vmap(nl.grad(root))(aa), want)
    close(nl.grad(lambda a: nl.vmap(root)(a).sum())(aa), want)
    x, steps = lax.custom_root(
        lambda x: x - 3.0, 0.0, lambda f, x: (x - f(x), 1), lambda g, y: y / g(1.0), has_aux=True
    )
    close(x, 3)
    assert int(steps) == 1
    with pytest.raises(errors.TreeError, match="structure and shapes of its argument"):
        lax.custom_root(lambda x: (x,), 1.0, lambda f, x: x, lambda g, y: y)
    with pytest.raises(errors.TreeError, match="structure of the initial guess"):
        lax.custom_root(lambda x: x, 1.0, lambda f, x: (x, x), lambda g, y: y)


def test_platform_dependent() -> None:
    def g(x: Any) -> Any:
        return lax.platform_dependent(x, cpu=np.sin, gpu=np.cos)

    close(g(1.0), numpy.sin(1.0))
    close(nl.grad(g)(1.0), numpy.cos(1.0))
    close(nl.jit(nl.grad(nl.jit(g)))(1.0), numpy.cos(1.0))
    close(nl.hessian(g)(1.0), -numpy.sin(1.0))
    close(nl.vmap(nl.grad(g))(B), numpy.cos(B))
    assert "cosine" not in nl.jit(g).lower(1.0).as_text()
    close(lax.platform_dependent(1.0, 2.0, tpu=lambda x, y: x, default=lambda x, y: y), 2)


def test_platform_dependent_mistakes() -> None:
    with pytest.raises(errors.ArgumentError, match="for the platform cpu"):
        lax.platform_dependent(1.0, cuda=lambda x: x)
    with pytest.raises(errors.ArgumentError, match="unknown platforms"):
        lax.platform_dependent(1.0, abacus=lambda x: x)
    with pytest.raises(errors.ArgumentError, match="no function"):
        lax.platform_dependent(1.0)
    with pytest.raises(errors.ArgumentError, match="expected functions"):
        lax.platform_dependent(1.0, cpu=3)
    with pytest.raises(errors.TreeError, match="one structure"):
        lax.platform_dependent(1.0, cpu=lambda x: x, default=lambda x: (x,))
