"""Edge cases of reductions and scans: ties, zeros, NaN, empty axes, errors."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import numlift.numpy  # noqa: F401  (installs the operators)
from numlift import errors, grad, hessian, lax
from numlift.core.tracing import apply
from numlift.structural.arith import add, mul


def total(x):
    """Sum of all elements."""
    return lax.reduce_sum(x, tuple(range(x.ndim)))


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_prod_derivatives_with_zeros(zeros):
    x = np.float32([2, 3, 4, 5])
    x[1 : 1 + zeros] = 0
    got = np.asarray(grad(lambda v: lax.reduce_prod(v, (0,)))(x))
    others = [np.prod(np.delete(x, i)) for i in range(4)]
    np.testing.assert_allclose(got, others)
    second = np.asarray(hessian(lambda v: lax.reduce_prod(v, (0,)))(x))
    for i in range(4):
        for j in range(4):
            expected = 0.0 if i == j else np.prod(np.delete(x, [i, j]))
            np.testing.assert_allclose(second[i, j], expected)


def test_cumprod_derivative_with_zeros():
    x = np.float32([2, 0, 3, 0, 4])
    got = np.asarray(grad(lambda v: total(lax.cumprod(v)))(x))
    eps = 1e-4
    expected = [
        (np.cumprod(x + eps * e).sum() - np.cumprod(x - eps * e).sum()) / (2 * eps)
        for e in np.eye(5)
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


def test_ties_share_the_cotangent_equally():
    x = np.float32([3, 1, 3, 3])
    np.testing.assert_allclose(
        np.asarray(grad(lambda v: lax.reduce_max(v, (0,)))(x)), [1 / 3, 0, 1 / 3, 1 / 3], rtol=1e-6
    )
    np.testing.assert_allclose(np.asarray(grad(lambda v: lax.reduce_min(v, (0,)))(x)), [0, 1, 0, 0])


def test_cummax_ties_and_first_infinity():
    got = np.asarray(grad(lambda v: total(lax.cummax(v)))(np.float32([1, 1])))
    np.testing.assert_allclose(got, [1.5, 0.5])
    got = np.asarray(grad(lambda v: lax.cummax(v)[0])(np.float32([-np.inf, 1])))
    np.testing.assert_allclose(got, [1, 0])


def test_nan_wins():
    x = np.float32([1, np.nan, 3, np.nan])
    assert np.isnan(np.asarray(lax.reduce_max(x, (0,))))
    assert np.isnan(np.asarray(lax.reduce_min(x, (0,))))
    assert int(np.asarray(lax.argmax(x, 0, np.int32))) == 1
    assert int(np.asarray(lax.argmin(x, 0, np.int32))) == 1
    np.testing.assert_array_equal(np.asarray(lax.cummax(x)), np.maximum.accumulate(x))


@pytest.mark.parametrize("shape", [(3, 64, 64), (4099,), (100, 100), (1000, 300)])
def test_nan_wins_in_large_arrays(shape, rng):
    """XLA's own maximum over many elements loses NaN on CPU."""
    x = rng.standard_normal(shape).astype(np.float32)
    x[tuple(rng.integers(0, n) for n in shape)] = np.nan
    for axis in range(x.ndim):
        np.testing.assert_array_equal(np.asarray(lax.reduce_max(x, (axis,))), x.max(axis))
        np.testing.assert_array_equal(np.asarray(lax.reduce_min(x, (axis,))), x.min(axis))
        np.testing.assert_array_equal(np.asarray(lax.argmax(x, axis, np.int32)), x.argmax(axis))
        np.testing.assert_array_equal(np.asarray(lax.argmin(x, axis, np.int32)), x.argmin(axis))


def test_complex_extremes_are_lexicographic():
    x = np.complex64([1 + 2j, 1 + 3j, 0 + 9j, 1 - 1j])
    assert np.asarray(lax.reduce_max(x, (0,))) == x.max()
    assert np.asarray(lax.reduce_min(x, (0,))) == x.min()
    assert int(np.asarray(lax.argmax(x, 0, np.int32))) == x.argmax()
    x[2] = complex(0, np.nan)
    assert np.isnan(np.asarray(lax.reduce_max(x, (0,))))


def test_empty_axes():
    x = np.zeros((0, 3), np.float32)
    assert np.asarray(lax.reduce_max(x, (0,))).tolist() == [-np.inf] * 3
    assert np.asarray(lax.reduce_prod(x, (0,))).tolist() == [1.0] * 3
    assert np.asarray(lax.reduce_min(np.zeros((0,), np.int8), (0,))) == 127
    assert np.asarray(lax.cumsum(x)).shape == (0, 3)
    with pytest.raises(errors.ShapeError, match="argmax: axis 0 is empty"):
        lax.argmax(x, 0, np.int32)


def test_small_floats_add_up_in_float32():
    x = np.full(4096, 0.1, ml_dtypes.bfloat16)
    exact = float(x[0]) * 4096
    assert abs(float(np.asarray(lax.reduce_sum(x, (0,)))) - exact) / exact < 1e-2
    assert abs(float(np.asarray(lax.cumsum(x)[-1])) - exact) / exact < 1e-2


def test_cumlogsumexp_does_not_overflow():
    x = np.float32([-np.inf, 1000, 1001, -1000, -np.inf])
    got = np.asarray(lax.cumlogsumexp(x))
    np.testing.assert_allclose(got, np.logaddexp.accumulate(x.astype(np.float64)), rtol=1e-6)
    slope = np.asarray(grad(lambda v: lax.cumlogsumexp(v)[-1])(x))
    np.testing.assert_allclose(slope, [0, 1 / (1 + np.e), np.e / (1 + np.e), 0, 0], rtol=1e-4)


@pytest.mark.parametrize("n", [1, 2, 4, 5, 16, 17, 100, 1000, 5000])
def test_scans_of_many_lengths(n, rng):
    x = rng.standard_normal(n).astype(np.float32)
    np.testing.assert_allclose(
        np.asarray(lax.cumsum(x)), np.cumsum(x.astype(np.float64)), atol=1e-4
    )
    np.testing.assert_array_equal(
        np.asarray(lax.cummax(x, reverse=True)), np.maximum.accumulate(x[::-1])[::-1]
    )
    i = rng.integers(-5, 5, (n, 2)).astype(np.int32)
    np.testing.assert_array_equal(np.asarray(lax.cumsum(i)), np.cumsum(i, 0))


def test_reduce_uses_the_initial_value():
    x = np.int32([4, 5])
    assert int(np.asarray(lax.reduce(x, 10, lambda a, b: apply(add, a, b), (0,)))) == 19
    assert int(np.asarray(lax.reduce(x, 3, lambda a, b: apply(mul, a, b), (0,)))) == 60


def test_errors():
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(errors.AxisError, match="reduce_sum"):
        lax.reduce_sum(x, (2,))
    with pytest.raises(errors.AxisError, match="repeated"):
        lax.reduce_max(x, (0, -2))
    with pytest.raises(errors.DTypeError, match="cumsum"):
        lax.cumsum(np.ones(3, bool))
    with pytest.raises(errors.DTypeError, match="index_dtype"):
        lax.argmax(x, 0, np.float32)
    with pytest.raises(errors.DTypeError, match="one dtype"):
        lax.reduce(x, np.int32(0), lambda a, b: apply(add, a, b), (0,))
    with pytest.raises(errors.TreeError, match="structure"):
        lax.reduce(x, 0.0, lambda a, b: (a, b), (0,))
