"""softmax and its kin, one-hot vectors, standardisation."""

from __future__ import annotations

import numpy
import numpy.testing as npt
import pytest
from scipy import special

import numlift as nl
from numlift import errors, nn

INF = numpy.inf
A = numpy.random.default_rng(0).normal(size=(3, 4, 5)).astype("f") * 10


@pytest.mark.parametrize("axis", [-1, 0, (0, 2), None])
def test_softmax_and_log_softmax(axis):
    npt.assert_allclose(nn.softmax(A, axis), special.softmax(A, axis), rtol=1e-5)
    npt.assert_allclose(nn.log_softmax(A, axis), special.log_softmax(A, axis), rtol=1e-5)
    npt.assert_allclose(nn.logsumexp(A, axis), special.logsumexp(A, axis), rtol=1e-5)


def test_masks():
    keep = A > 0
    keep[:, 0] = True
    found = nn.softmax(A, where=keep)
    npt.assert_allclose(found, special.softmax(numpy.where(keep, A, -INF), -1), rtol=1e-5)
    npt.assert_allclose(nn.logsumexp(A, where=keep), special.logsumexp(A[keep]), rtol=1e-6)
    npt.assert_allclose(
        nn.logmeanexp(A, axis=1, where=keep),
        special.logsumexp(numpy.where(keep, A, -INF), 1) - numpy.log(keep.sum(1)),
        rtol=1e-5, atol=1e-5,
    )  # fmt: skip
    assert numpy.isneginf(numpy.asarray(nn.log_softmax(A, where=keep))[~keep]).all()


def test_rows_of_minus_infinity_are_finite():
    x = numpy.array([[0, 1, 2], [-INF, -INF, -INF]], "f")
    npt.assert_array_equal(nn.softmax(x)[1], [0, 0, 0])
    npt.assert_array_equal(nn.log_softmax(x)[1], [-INF] * 3)
    assert nn.logsumexp(x, axis=1)[1] == -INF
    for f in (nn.softmax, nn.log_softmax, lambda v: nn.logsumexp(v, axis=-1)):
        slope = numpy.asarray(nl.grad(lambda v, f=f: f(v).ravel()[::3].sum())(x))
        assert numpy.isfinite(slope).all()
    npt.assert_array_equal(nn.softmax(x, where=numpy.zeros(3, bool)), numpy.zeros((2, 3)))


def test_logsumexp_factors_and_signs():
    a, b = numpy.array([1.0, 2.0], "f"), numpy.array([1.0, -1.0], "f")
    value, sign = nn.logsumexp(a, b=b, return_sign=True)
    npt.assert_allclose(value, numpy.log(numpy.e**2 - numpy.e), rtol=1e-6)
    assert sign == -1
    assert numpy.isnan(nn.logsumexp(a, b=b))
    npt.assert_allclose(nn.logsumexp(numpy.array([INF, 1.0]), b=numpy.array([0.0, 2.0])),
                        1 + numpy.log(2), rtol=1e-6)  # fmt: skip
    assert nn.logsumexp(numpy.zeros(0)) == -INF
    assert nn.logsumexp(numpy.array([INF, 0.0])) == INF
    assert nn.logsumexp(A, axis=1, keepdims=True).shape == (3, 1, 5)
    z = numpy.array([1 + 1j, 2], "c8")
    npt.assert_allclose(nn.logsumexp(z), numpy.log(numpy.exp(z).sum()), rtol=1e-6)


def test_softmax_derivative():
    x, v = A[0, 0], A[1, 0]
    _, dy = nl.jvp(nn.softmax, (x,), (v,))
    y = special.softmax(x.astype("d"))
    npt.assert_allclose(dy, y * (v - (y * v).sum()), rtol=1e-4, atol=1e-6)


def test_one_hot():
    npt.assert_array_equal(
        nn.one_hot(numpy.array([0, 2, -1, 5]), 3), [[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    )
    assert nn.one_hot(numpy.zeros((2, 4), int), 3, axis=0).shape == (3, 2, 4)
    assert nn.one_hot(1, 3, dtype=int).dtype == numpy.int32
    npt.assert_array_equal(nn.one_hot(numpy.array([True, False]), 2), [[0, 1], [1, 0]])


@pytest.mark.parametrize("algorithm", ["fast", "stable"])
def test_standardize(algorithm):
    found = nn.standardize(A, axis=(0, 1), epsilon=1e-3, algorithm=algorithm)
    wanted = (A - A.mean((0, 1))) / numpy.sqrt(A.var((0, 1)) + 1e-3)
    npt.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)
    keep = A > 0
    masked = numpy.ma.array(A, mask=~keep)
    found = nn.standardize(A, axis=-1, where=keep, algorithm=algorithm)
    mean, variance = masked.mean(-1, keepdims=True), masked.var(-1, keepdims=True)
    npt.assert_allclose(found, (A - mean) / numpy.sqrt(variance + 1e-5), rtol=5e-2, atol=5e-2)


def test_standardize_refuses_other_algorithms():
    with pytest.raises(errors.ValueArgumentError, match="algorithm"):
        nn.standardize(A, algorithm="x")
