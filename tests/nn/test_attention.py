"""Attention against its definition."""

from __future__ import annotations

import numpy
import numpy.testing as npt
import pytest
from scipy import special

import numlift as nl
from numlift import errors, nn

RNG = numpy.random.default_rng(0)
B, T, S, N, K, H = 2, 4, 5, 4, 2, 3
Q = RNG.normal(size=(B, T, N, H)).astype("f")
KEYS, V = (RNG.normal(size=(B, S, K, H)).astype("f") for _ in range(2))


def reference(allowed=None, bias=0.0, scale=None):
    keys, values = (numpy.repeat(x, N // K, 2) for x in (KEYS, V))
    scores = numpy.einsum("btnh,bsnh->bnts", Q, keys) * (scale or H**-0.5) + bias
    if allowed is not None:
        scores = numpy.where(allowed, scores, -1e30)
    return numpy.einsum("bnts,bsnh->btnh", special.softmax(scores, -1), values)


def test_plain_and_grouped_heads():
    npt.assert_allclose(nn.dot_product_attention(Q, KEYS, V), reference(), rtol=1e-4, atol=1e-5)
    single = nn.dot_product_attention(Q[0], KEYS[0], V[0])
    npt.assert_allclose(single, reference()[0], rtol=1e-4, atol=1e-5)


def test_masks():
    row, column = numpy.arange(T)[:, None], numpy.arange(S)[None, :]
    bias = RNG.normal(size=(1, N, T, S)).astype("f")
    mask = RNG.random((B, 1, T, S)) < 0.7
    lengths = numpy.array([3, 5])
    cases = [
        ({"is_causal": True}, {"allowed": column <= row}),
        ({"mask": mask}, {"allowed": mask}),
        ({"bias": bias, "scale": 0.3}, {"bias": bias, "scale": 0.3}),
        ({"local_window_size": (1, 0)}, {"allowed": (column >= row - 1) & (column <= row)}),
        ({"local_window_size": 2}, {"allowed": abs(column - row) <= 2}),
        ({"key_value_seq_lengths": lengths},
         {"allowed": column[None, None] < lengths[:, None, None, None]}),
    ]  # fmt: skip
    for options, wanted in cases:
        found = nn.dot_product_attention(Q, KEYS, V, **options)
        npt.assert_allclose(found, reference(**wanted), rtol=1e-4, atol=1e-5)


def test_query_lengths_residual_and_dead_rows():
    found = nn.dot_product_attention(Q, KEYS, V, query_seq_lengths=numpy.array([2, 4]))
    npt.assert_array_equal(found[0, 2:], numpy.zeros((2, N, H)))
    npt.assert_allclose(found[1], reference()[1], rtol=1e-4, atol=1e-5)
    _, residual = nn.dot_product_attention(Q, KEYS, V, return_residual=True)
    assert residual.shape == (B, T, N)
    dead = nn.dot_product_attention(Q, KEYS, V, mask=numpy.zeros((1, 1, T, S), bool))
    npt.assert_allclose(dead[0, 0, 0], V[0, :, 0].mean(0), rtol=1e-4, atol=1e-6)


def test_derivative_and_batching():
    slope = nl.grad(lambda q: nn.dot_product_attention(q, KEYS, V, is_causal=True).sum())(Q)
    assert slope.shape == Q.shape and numpy.isfinite(numpy.asarray(slope)).all()
    mapped = nl.vmap(nn.dot_product_attention)(Q, KEYS, V)
    npt.assert_allclose(mapped, reference(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("q", "k", "v"),
    [
        ((4, 2, 3), (4, 2, 3), (4, 2, 4)),
        ((4, 3, 3), (4, 2, 3), (4, 2, 3)),
        ((4, 3), (4, 3), (4, 3)),
    ],
)
def test_shapes_must_fit(q, k, v):
    with pytest.raises(errors.ShapeError, match="attention"):
        nn.dot_product_attention(*(numpy.ones(s, "f") for s in (q, k, v)))


def test_implementation():
    with pytest.raises(errors.ValueArgumentError, match="implementation"):
        nn.dot_product_attention(Q, KEYS, V, implementation="cudnn")
