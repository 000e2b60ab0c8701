"""NumPy's reductions against NumPy: every dtype, axis, mask; errors as NumPy raises them."""

from __future__ import annotations

import numpy as np
import pytest

import numlift.numpy as lnp
from numlift import errors, grad, jit, jvp, vmap

DTYPES = ("float32", "float16", "int32", "int8", "uint8", "bool", "complex64")
AXES = (None, 1, (0, -1))


def sample(dtype, rng):
    """Shape (3, 4, 5)."""
    if dtype == "complex64":
        return (rng.standard_normal((3, 4, 5)) + 1j * rng.standard_normal((3, 4, 5))).astype(dtype)
    if dtype.startswith(("float", "int")):
        scale = 1 if dtype == "float16" else 3
        return (rng.standard_normal((3, 4, 5)) * scale).astype(dtype)
    return rng.integers(1 if dtype == "uint8" else 0, 3, (3, 4, 5)).astype(dtype)


def check(name, x, **options):
    """Compare a function with NumPy's; returns the dtype."""
    got = getattr(lnp, name)(x, **options)
    wide = x.astype(np.float64) if x.dtype == np.float16 else x
    expected = getattr(np, name)(wide, **options)
    tolerance = 1e-2 if x.dtype == np.float16 else 1e-5
    assert got.shape == np.shape(expected)
    np.testing.assert_allclose(
        np.asarray(got).astype(np.complex128), expected, rtol=tolerance, atol=tolerance
    )
    return np.asarray(got).dtype


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_against_numpy(dtype, axis, keepdims, rng):
    x = sample(dtype, rng)
    mask = rng.random((3, 4, 5)) > 0.4
    mask[:, :2] = True
    for name in ("sum", "prod", "mean", "var", "std", "all", "any"):
        check(name, x, axis=axis, keepdims=keepdims)
        check(name, x, axis=axis, keepdims=keepdims, where=mask)
    for name in ("max", "min", "count_nonzero"):
        check(name, x, axis=axis, keepdims=keepdims)
    if dtype not in ("bool", "complex64"):
        check("max", x, axis=axis, keepdims=keepdims, initial=2, where=mask)
        check("ptp", x, axis=axis, keepdims=keepdims)
    if not isinstance(axis, tuple):
        check("argmax", x, axis=axis, keepdims=keepdims)
        check("argmin", x, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("bool", "int32"), ("int8", "int32"), ("uint8", "uint32"), ("float16", "float16"),
     ("int32", "int32")],
)  # fmt: skip
def test_dtype_of_sums(dtype, expected):
    x = np.ones(3, dtype)
    assert lnp.sum(x).dtype == expected
    assert lnp.cumsum(x).dtype == expected
    assert lnp.prod(x).dtype == expected
    assert lnp.sum(x, dtype="float32").dtype == "float32"
    if dtype != "bool":
        assert lnp.sum(x, promote_integers=False).dtype == dtype


def test_half_precision_does_not_overflow():
    x = np.full(4000, 60.0, np.float16)
    assert float(lnp.mean(x)) == 60.0
    assert float(lnp.var(x)) == 0.0


def test_variance_options(rng):
    x = rng.standard_normal((3, 4)).astype(np.float32)
    mean = x.mean(1, keepdims=True)
    for options in ({"ddof": 1}, {"correction": 1}, {"mean": mean, "ddof": 1}):
        check("var", x, axis=1, **options)
    assert np.isnan(float(lnp.var(np.float32([1]), ddof=1)))
    with pytest.raises(errors.ValueArgumentError, match="two names"):
        lnp.var(x, ddof=1, correction=2)


def test_average(rng):
    x = rng.standard_normal((3, 4)).astype(np.float32)
    w = rng.random(4).astype(np.float32)
    got, weight = lnp.average(x, axis=1, weights=w, returned=True)
    expected, total = np.average(x, axis=1, weights=w, returned=True)
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    np.testing.assert_allclose(weight, total, rtol=1e-5)
    with pytest.raises(errors.ArgumentError, match="axis must be given"):
        lnp.average(x, weights=w)


def test_nan_functions(rng):
    x = rng.standard_normal((3, 4, 5)).astype(np.float32)
    x[x > 1] = np.nan
    for name in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd"):
        for axis in AXES:
            check(name, x, axis=axis)
    for name in ("nanargmax", "nanargmin", "nancumsum", "nancumprod"):
        check(name, x, axis=1)
    empty = np.full((2, 3), np.nan, np.float32)
    assert np.isnan(lnp.nanmax(empty, axis=1)).all()
    assert lnp.nanargmin(lnp.asarray(empty), axis=1).tolist() == [-1, -1]
    with pytest.raises(ValueError, match="nanargmin: all values are NaN"):
        lnp.nanargmin(empty, axis=1)
    assert np.isnan(lnp.nanmean(empty)).all()


def test_gradients_skip_nan():
    x = np.float32([1, np.nan, 3])
    np.testing.assert_allclose(grad(lnp.nanmean)(x), [0.5, 0, 0.5])
    np.testing.assert_allclose(grad(lnp.nanvar)(x), [-1, 0, 1])
    np.testing.assert_allclose(grad(lnp.nanmax)(x), [0, 0, 1])


def test_under_jit_and_vmap(rng):
    x = rng.standard_normal((3, 4)).astype(np.float32)
    np.testing.assert_allclose(jit(lambda v: lnp.std(v, axis=1))(x), x.std(1), rtol=1e-5)
    np.testing.assert_allclose(vmap(lnp.mean)(x), x.mean(1), rtol=1e-5)
    np.testing.assert_array_equal(vmap(lnp.argmax)(x), x.argmax(1))


def test_cumulative():
    x = np.int8([[1, 2], [3, 4]])
    check("cumsum", x)
    check("cumprod", x, axis=0)
    check("cumulative_sum", x, axis=1, include_initial=True)
    check("cumulative_prod", x, axis=0, include_initial=True)
    with pytest.raises(ValueError, match="axis is needed"):
        lnp.cumulative_sum(x)


def test_errors_are_numpys():
    empty = np.zeros((0, 3), np.float32)
    for f in (lnp.max, lnp.min):
        with pytest.raises(ValueError, match="zero-size array to reduction operation"):
            f(empty)
    assert lnp.max(empty, axis=1).shape == (0,)
    with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
        lnp.argmax(empty)
    with pytest.raises(ValueError, match="initial"):
        lnp.max(np.ones(3), where=np.ones(3, bool))
    with pytest.raises(np.exceptions.AxisError):
        lnp.sum(empty, axis=2)
    with pytest.raises(ValueError, match="twice"):
        lnp.sum(empty, axis=(0, -2))
    with pytest.raises(TypeError, match="immutable"):
        lnp.sum(empty, out=np.zeros(()))
    assert float(lnp.sum(empty)) == 0.0
    assert float(lnp.prod(empty)) == 1.0


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_initial_is_one_number(name):
    with pytest.raises(errors.ShapeError, match="initial must be one number"):
        getattr(lnp, name)(lnp.ones((2, 3)), initial=lnp.ones(3))


@pytest.mark.parametrize("name", ["sum", "mean", "any", "std", "nansum", "nanprod", "prod"])
def test_where_must_be_bools(name: str) -> None:
    with pytest.raises(errors.DTypeError, match=f"{name}: where must be bools, not int32"):
        getattr(np, name)(lnp.ones(3), where=lnp.array([1, 0, 1]))


@pytest.mark.parametrize("name", ["max", "min"])
def test_derivative_of_the_extreme_of_nothing_is_zero(name):
    def f(x):
        return getattr(lnp, name)(x, axis=1, initial=2.0)

    value, tangent = jvp(f, (np.zeros((3, 0), np.float32),), (np.zeros((3, 0), np.float32),))
    assert np.asarray(value).tolist() == [2, 2, 2]
    assert np.asarray(tangent).tolist() == [0, 0, 0]
