"""einsum against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np

CASES: list[tuple[str, tuple[tuple[int, ...], ...]]] = [
    ("ij,jk", ((2, 3), (3, 4))),
    ("ij,jk->ki", ((2, 3), (3, 4))),
    ("ii", ((3, 3),)),
    ("ii->i", ((3, 3),)),
    ("iij->j", ((3, 3, 2),)),
    ("iii->i", ((3, 3, 3),)),
    ("iiii", ((2, 2, 2, 2),)),
    ("ij->", ((2, 3),)),
    ("ba", ((2, 3),)),
    ("i,j", ((2,), (3,))),
    ("i,i->", ((3,), (3,))),
    ("i,i->i", ((3,), (3,))),
    ("ij,j->ij", ((2, 3), (3,))),
    ("bij,bjk->bik", ((5, 2, 3), (5, 3, 4))),
    ("bij,bjk->ikb", ((5, 2, 3), (5, 3, 4))),
    ("...ij,...jk", ((5, 2, 3), (3, 4))),
    ("...ij,...jk->...ik", ((1, 2, 3), (5, 3, 4))),
    ("i...->...", ((2, 3, 4),)),
    ("...,...", ((2, 3), (3,))),
    ("i...,i...->...", ((2, 3), (2, 3))),
    ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 5))),
    ("ij,jk,kl,lm,mi", ((2, 3), (3, 4), (4, 5), (5, 6), (6, 2))),
    ("a,ab,abc->abc", ((2,), (2, 3), (2, 3, 4))),
    ("iij,jkk->ik", ((2, 2, 3), (3, 4, 4))),
    (",ij", ((), (2, 3))),
    ("->", ((),)),
    ("ik,kj->", ((2, 3), (3, 4))),
    ("i,i", ((1,), (3,))),
    ("ab,cd,ef->fbdace", ((2, 3), (2, 3), (2, 3))),
    (" i j , j k -> i k ", ((2, 3), (3, 4))),
]


@pytest.mark.parametrize(("text", "shapes"), CASES)
def test_as_numpy(text: str, shapes: Any, rng: numpy.random.Generator) -> None:
    operands = [rng.normal(size=s).astype("f4") for s in shapes]
    wanted = numpy.einsum(text, *operands)
    for found in (np.einsum(text, *operands), nl.jit(lambda *x: np.einsum(text, *x))(*operands)):
        assert found.shape == wanted.shape
        numpy.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_lists_of_axes(rng: numpy.random.Generator) -> None:
    a, b = rng.normal(size=(2, 3)).astype("f4"), rng.normal(size=(3, 4)).astype("f4")
    for found in (
        np.einsum(a, [0, 1], b, [1, 2], [0, 2]),
        np.einsum(a, [0, 1], b, [1, 2]),
        np.einsum(a, [Ellipsis, 1], b, [1, 2], [Ellipsis, 2]),
    ):
        numpy.testing.assert_allclose(found, a @ b, rtol=1e-5)


@pytest.mark.parametrize("optimize", [True, False, "greedy", "optimal"])
def test_orders(optimize: Any, rng: numpy.random.Generator) -> None:
    a, b, c = (rng.normal(size=s).astype("f4") for s in ((2, 3), (3, 4), (4, 5)))
    found = np.einsum("ij,jk,kl->il", a, b, c, optimize=optimize)
    numpy.testing.assert_allclose(found, a @ b @ c, rtol=1e-4, atol=1e-5)


def test_path(rng: numpy.random.Generator) -> None:
    operands = [rng.normal(size=s).astype("f4") for s in ((2, 3), (3, 4), (4, 5))]
    path, info = np.einsum_path("ij,jk,kl->il", *operands)
    assert path == [(0, 1), (0, 1)]
    assert "Complete contraction" in str(info)
    np.einsum("ij,jk,kl->il", *operands, optimize=path)


def test_one_product_is_one_dot() -> None:
    graph = str(nl.make_jaxpr(lambda a, b: np.einsum("bij,bjk->bik", a, b))(
        np.ones((5, 2, 3)), np.ones((5, 3, 4))
    ))  # fmt: skip
    assert graph.count("dot_general") == 1
    assert "transpose" not in graph


def test_dtypes() -> None:
    x = numpy.array([100, 100], "i1")
    assert np.einsum("i,i", x, x, preferred_element_type="int32") == 20000
    assert np.einsum("i,i", x, x).dtype == "int8"
    eye = numpy.eye(3, dtype=bool)
    assert np.einsum("ij->i", eye).tolist() == [True] * 3
    assert not np.einsum("i,i", eye[0], eye[1])


def test_derivatives_and_batches(rng: numpy.random.Generator) -> None:
    a, b = rng.normal(size=(5, 2, 3)).astype("f4"), rng.normal(size=(3, 4)).astype("f4")
    da, db = nl.grad(lambda a, b: np.einsum("nij,jk->", a, b), argnums=(0, 1))(a, b)
    numpy.testing.assert_allclose(da, numpy.broadcast_to(b.sum(1), a.shape), rtol=1e-4, atol=1e-4)
    numpy.testing.assert_allclose(db[:, 0], a.sum((0, 1)), rtol=1e-4, atol=1e-4)
    found = nl.vmap(lambda a: np.einsum("ij,jk->ki", a, b))(a)
    numpy.testing.assert_allclose(found, numpy.einsum("nij,jk->nki", a, b), rtol=1e-4, atol=1e-4)
    diagonal = nl.grad(lambda x: np.einsum("ii->", x))(np.ones((3, 3)))
    assert diagonal.tolist() == numpy.eye(3).tolist()


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("ij,jk", ((2, 3), (2, 3))),
        ("ij->k", ((2, 3),)),
        ("ij,jk", ((2, 3),)),
        ("ijk", ((2, 3),)),
        ("ij->ii", ((2, 3),)),
    ],
)
def test_errors(text: str, shapes: Any) -> None:
    with pytest.raises(ValueError, match="einsum: "):
        np.einsum(text, *[numpy.ones(s) for s in shapes])
