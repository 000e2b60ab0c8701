"""Lifted solvers whose loops end by a condition on values."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl

from .test_writing import check_equal

B = np.array([0.5, 1.5, 2.0, -1.0])
A = np.eye(4) * 4 + np.outer(B, B)


def conjugate_gradients(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p, rs, k = r.copy(), r @ r, 0
    while True:
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        k += 1
        if np.sqrt(new) < 1e-10:
            break
        p = r + (new / rs) * p
        rs = new
    return x, k


def conjugate_gradients_for(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p, rs = r.copy(), r @ r
    for k in range(10):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        if np.sqrt(new) < 1e-10:
            break
        p = r + (new / rs) * p
        rs = new
    return x, k


def conjugate_gradients_while(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p, rs, it = r.copy(), r @ r, 0
    while np.linalg.norm(r) > 1e-10 and it < 100:
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p, rs = r + (new / rs) * p, new
        it += 1
    return x, it


def power_iteration(a, b):
    v, value = np.ones(4), 0.0
    while True:
        w = a @ v
        v = w / np.linalg.norm(w)
        new = v @ a @ v
        if abs(new - value) < 1e-12:
            break
        value = new
    return new


def jacobi(a, b):
    x = np.zeros(4)
    for _ in range(100):
        x_new = np.zeros_like(x)
        for i in range(4):
            x_new[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
        if np.allclose(x, x_new, atol=1e-12):
            break
        x = x_new
    return x


def newton(a, b):
    x = a[0, 0]
    for _ in range(50):
        new = x - (x**2 - 2) / (2 * x)
        if abs(new - x) < 1e-12:
            return new
        x = new
    return x


SOLVERS = [
    conjugate_gradients, conjugate_gradients_for, conjugate_gradients_while, power_iteration,
    jacobi, newton,
]  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda f: f.__name__)
def test_solvers_give_what_numpy_gives(solver) -> None:
    check_equal(nl.lift(solver, autostage=True)(A, B), solver(A, B))
