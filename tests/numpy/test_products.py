"""matmul, dot and their relatives, norms, polynomials, convolutions: against NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax

RNG = numpy.random.default_rng(7)


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape).astype("f4")


def complex_normal(*shape: int) -> Any:
    return (normal(*shape) + 1j * normal(*shape)).astype("c8")


def close(found: Any, wanted: Any, tolerance: float = 2e-4) -> None:
    assert found.shape == numpy.shape(wanted)
    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=tolerance, atol=tolerance)


SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4)), ((3,), (5, 3, 4)),
    ((7, 1, 5, 2, 3), (6, 1, 3, 4)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((1, 1, 2, 3), (1, 3, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_matmul_broadcasts(a: Any, b: Any) -> None:
    x, y = normal(*a), normal(*b)
    close(np.matmul(x, y), numpy.matmul(x, y))
    close(nl.jit(lambda x, y: x @ y)(x, y), numpy.matmul(x, y))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "float16", "complex64"])
def test_matmul_dtypes(dtype: str) -> None:
    x, y = (normal(4, 4) * 3).astype(dtype), (normal(4, 4) * 3).astype(dtype)
    found, wanted = np.matmul(x, y), numpy.matmul(x, y)
    assert found.dtype == wanted.dtype
    close(found, wanted, 1e-2)


def test_precision_and_wider_sums() -> None:
    x = numpy.full((2, 300), 100, numpy.int8)
    assert np.matmul(x, x.T, preferred_element_type="int32")[0, 0] == 3_000_000
    y = normal(3, 3)
    close(np.matmul(y, y, precision=lax.Precision.HIGHEST), y @ y)
    close(np.dot(y, y, precision="highest"), y @ y)


PAIRS: dict[str, Callable[[Any], Any]] = {}
A, B = complex_normal(2, 3), complex_normal(2, 3)
P, Q = normal(2, 3, 4), normal(4, 3, 6)
U, V = normal(5, 3), normal(5, 3)
PAIRS |= {
    "dot": lambda m: m.dot(P, Q.swapaxes(0, 1)[:, :4]),
    "dot scalar": lambda m: m.dot(2.0, U),
    "inner": lambda m: m.inner(A, B),
    "inner stacks": lambda m: m.inner(P, P[0]),
    "vdot": lambda m: m.vdot(A, B),
    "outer": lambda m: m.outer(A, U),
    "tensordot": lambda m: m.tensordot(P, Q, [[1, 2], [1, 0]]),
    "tensordot int": lambda m: m.tensordot(P, Q, 1),
    "tensordot none": lambda m: m.tensordot(P, U, 0),
    "kron": lambda m: m.kron(P, U),
    "cross": lambda m: m.cross(U, V),
    "cross axes": lambda m: m.cross(U.T, V, axisa=0, axisc=0),
    "cross one": lambda m: m.cross(U, V[0]),
    "trace": lambda m: [m.trace(P, k, 1, 2) for k in (-3, -1, 0, 2, 5)],
    "trace int8": lambda m: m.trace(numpy.full((3, 3), 100, "i1")),
    "convolve": lambda m: [
        m.convolve(U[:n, 0], V[:k, 1], how)
        for n, k in ((5, 3), (2, 5), (4, 4), (4, 2))
        for how in ("full", "same", "valid")
    ],
    "correlate": lambda m: [
        m.correlate(U[:n, 0], V[:k, 1], how)
        for n, k in ((5, 3), (2, 5), (4, 4), (3, 4))
        for how in ("full", "same", "valid")
    ],
    "correlate complex": lambda m: m.correlate(A[0], B[1], "full"),
    "polyval": lambda m: m.polyval(U[0], V),
    "polyval long": lambda m: m.polyval(numpy.full(40, 0.1, "f4"), V / 9),
    "polyadd": lambda m: m.polyadd(U[0], V[0, :2]),
    "polysub": lambda m: m.polysub(U[0, :1], V[0]),
    "polymul": lambda m: m.polymul(U[0], V[0]),
    "poly": lambda m: m.poly(U[:, 0]),
    "polyder": lambda m: m.polyder(U[0], 2),
    "polyint": lambda m: m.polyint(U[0], 2, [3, 4]),
    "norm": lambda m: m.linalg.norm(P),
    "norm orders": lambda m: [
        m.linalg.norm(P, p, 1) for p in (0, 1, 2, 3, -1, 0.5, numpy.inf, -numpy.inf)
    ],
    "norm complex": lambda m: m.linalg.norm(A, axis=0, keepdims=True),
    "norm matrices": lambda m: [
        m.linalg.norm(P, p, (2, 0)) for p in (None, "fro", 1, -1, numpy.inf, -numpy.inf)
    ],
    "multi_dot": lambda m: m.linalg.multi_dot([U, U.T, V, V.T, U[:, 0]]),
    "matrix_power": lambda m: [m.linalg.matrix_power(P[:, :, :3], n) for n in (0, 1, 2, 5)],
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_as_numpy(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's, about cross
        wanted = PAIRS[name](numpy)
    found = PAIRS[name](np)
    if isinstance(wanted, list):
        for f, w in zip(found, wanted, strict=True):
            close(f, w)
    else:
        close(found, wanted)


def test_gufuncs() -> None:
    m = normal(5, 3, 4)
    close(np.matvec(m, U[0].repeat(2)[:4]), m @ U[0].repeat(2)[:4])
    close(np.vecmat(A, m[:, None]), (A.conj()[None, :, None] @ m[:, None])[:, :, 0])
    close(np.vecdot(A, B), (A.conj() * B).sum(-1))
    close(np.vecdot(A, B, axis=0), (A.conj() * B).sum(0))


def test_polydiv() -> None:
    quotient, rest = np.polydiv(numpy.array([1.0, 5, 7]), numpy.array([1.0, 2]))
    assert quotient.tolist() == [1, 3]
    assert rest.tolist() == [0, 0, 1]
    assert np.polydiv(numpy.array([1.0, 5, 7]), numpy.array([1.0, 2]), trim_leading_zeros=True)[
        1
    ].tolist() == [1]


def test_traced_offset() -> None:
    found = nl.jit(lambda x, k: np.trace(x, k, 1, 2))
    for k in (-2, 0, 3):
        close(found(P, k), numpy.trace(P, k, 1, 2))


def test_derivatives() -> None:
    x, y = np.asarray(normal(4, 2, 3)), np.asarray(normal(3, 5))
    dx, dy = nl.grad(lambda x, y: np.einsum("nik->", x @ y), argnums=(0, 1))(x, y)
    close(dx, numpy.broadcast_to(numpy.asarray(y).sum(1), x.shape))
    close(dy, numpy.broadcast_to(numpy.asarray(x).sum((0, 1))[:, None], y.shape))
    close(nl.vmap(lambda x: x @ y)(x), numpy.asarray(x) @ numpy.asarray(y))
    assert nl.grad(np.linalg.norm)(np.zeros(3)).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: np.matmul(normal(3), normal(4)),
        lambda: np.matmul(1.0, normal(3)),
        lambda: np.matmul(normal(2, 2, 3), normal(3, 3, 2)),
        lambda: np.dot(normal(2, 3), normal(2, 3)),
        lambda: np.tensordot(normal(2, 3), normal(2, 3), 1),
        lambda: np.cross(normal(4), normal(4)),
        lambda: np.trace(normal(4)),
        lambda: np.convolve(normal(4, 4), normal(4)),
        lambda: np.linalg.norm(normal(4), "nope"),
        lambda: np.linalg.multi_dot([normal(2, 2)]),
    ],
)
def test_errors(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=": "):
        call()
