"""Elementwise functions: dtypes, special values, derivatives at edge points, error messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numlift import errors, lax
from numlift.api.autodiff import grad, jvp, vjp
from numlift.api.jit import jit
from numlift.api.vmap import vmap

INF, NAN = float("inf"), float("nan")
FLOAT = np.arange(3, dtype="f4")
INT = np.arange(3, dtype="i4")


def slopes(function: Any, *args: float) -> list[float]:
    """First derivative in each argument."""
    return [float(grad(function, argnums=i)(*args)) for i in range(len(args))]


@pytest.mark.parametrize(
    "function, x, expected",
    [
        (lax.abs, 0.0, 0.0),
        (lax.sign, 0.0, 0.0),
        (lax.floor, 0.5, 0.0),
        (lax.sqrt, 0.0, INF),
        (lax.rsqrt, 0.0, -INF),
        (lax.cbrt, 0.0, INF),
        (lax.log, 0.0, INF),
        (lax.log1p, -1.0, INF),
        (lax.asin, 1.0, INF),
        (lax.acos, 1.0, -INF),
        (lax.acosh, 1.0, INF),
        (lax.atanh, 1.0, INF),
        (lax.tanh, 100.0, 0.0),
        (lax.logistic, -200.0, 0.0),
        (lax.reciprocal, 0.0, -INF),
        (lax.erf_inv, 1.0, INF),
        (lax.bessel_i1e, 0.0, 0.5),
        (lambda x: lax.integer_pow(x, 0), 0.0, 0.0),
        (lambda x: lax.integer_pow(x, 1), 0.0, 1.0),
        (lambda x: lax.integer_pow(x, 2), 0.0, 0.0),
        (lambda x: lax.pow(x, 0), 0.0, 0.0),
        (lambda x: lax.pow(x, np.int32(0)), 0.0, 0.0),
        (lax.stop_gradient, 2.0, 0.0),
        (lax.optimization_barrier, 2.0, 1.0),
    ],
)
def test_derivative_at_edge_points(function: Any, x: float, expected: float) -> None:
    assert slopes(function, x) == [expected]


@pytest.mark.parametrize(
    "function, args, expected",
    [
        (lax.max, (1.0, 1.0), [0.5, 0.5]),
        (lax.min, (1.0, 1.0), [0.5, 0.5]),
        (lax.max, (NAN, 1.0), [0.0, 0.0]),
        (lax.pow, (0.0, 0.0), [0.0, 0.0]),
        (lax.pow, (0.0, 1.0), [1.0, 0.0]),
        (lax.pow, (0.0, 2.0), [0.0, 0.0]),
        (lax.pow, (INF, 0.0), [0.0, INF]),
        (lax.atan2, (0.0, 0.0), [0.0, 0.0]),
        (lax.rem, (-5.0, 3.0), [1.0, 1.0]),
        (lax.clamp, (0.0, 0.0, 1.0), [0.0, 0.0, 0.0]),
        (lax.clamp, (0.0, 0.5, 1.0), [0.0, 1.0, 0.0]),
        (lax.clamp, (0.0, -1.0, 1.0), [1.0, 0.0, 0.0]),
        (lax.clamp, (0.0, 2.0, 1.0), [0.0, 0.0, 1.0]),
    ],
)
def test_derivatives_of_several_arguments(
    function: Any, args: tuple[float, ...], expected: list[float]
) -> None:
    assert slopes(function, *args) == expected


def test_second_derivative_of_pow_is_finite() -> None:
    assert float(grad(grad(lax.pow))(0.0, 1.0)) == 0.0
    assert float(grad(grad(lax.pow))(0.0, 2.0)) == 2.0
    assert float(grad(grad(lax.pow), argnums=1)(2.0, 0.0)) == 0.5


def test_complex_derivatives_have_no_conjugation() -> None:
    z = np.complex64(1 + 2j)
    slope = jvp(lax.sin, (z,), (np.complex64(1),))[1]
    np.testing.assert_allclose(np.asarray(slope), np.cos(z), rtol=1e-5)
    (ct,) = vjp(lax.abs, z)[1](np.float32(1))
    np.testing.assert_allclose(np.asarray(ct), (1 - 2j) / np.sqrt(5), rtol=1e-5)
    turn = jvp(lax.sign, (z,), (np.complex64(1j),))[1]
    np.testing.assert_allclose(np.asarray(turn), (1j - 2) / 5**1.5, rtol=1e-5)
    (ct,) = vjp(lax.imag, z)[1](np.float32(1))
    assert complex(np.asarray(ct)) == -1j


def test_integer_division_truncates() -> None:
    x, y = np.array([7, -7, 7, -7], "i4"), np.array([2, 2, -2, -2], "i4")
    assert np.asarray(lax.div(x, y)).tolist() == [3, -3, -3, 3]
    assert np.asarray(lax.rem(x, y)).tolist() == [1, -1, 1, -1]
    assert int(lax.div(np.int32(7), np.int32(0))) == -1
    assert int(lax.rem(np.int32(7), np.int32(0))) == 7
    assert int(lax.div(np.int32(-(2**31)), np.int32(-1))) == -(2**31)


def test_shifts_beyond_the_width() -> None:
    x = np.array([-1, 5], "i4")
    assert np.asarray(lax.shift_left(x, 32)).tolist() == [0, 0]
    assert np.asarray(lax.shift_right_logical(x, 40)).tolist() == [0, 0]
    assert np.asarray(lax.shift_right_arithmetic(x, 40)).tolist() == [-1, 0]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32"])
def test_mulhi(dtype: str, rng: np.random.Generator) -> None:
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, 50, endpoint=True).astype(dtype)
    y = rng.integers(info.min, info.max, 50, endpoint=True).astype(dtype)
    expected = [(int(a) * int(b)) >> info.bits for a, b in zip(x, y, strict=True)]
    assert np.asarray(lax.mulhi(x, y)).tolist() == expected


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.usefixtures("enable_x64")
def test_mulhi_of_64_bits(dtype: str, rng: np.random.Generator) -> None:
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, 50, dtype=dtype, endpoint=True)
    y = rng.integers(info.min, info.max, 50, dtype=dtype, endpoint=True)
    expected = [(int(a) * int(b)) >> 64 for a, b in zip(x, y, strict=True)]
    assert np.asarray(lax.mulhi(x, y)).tolist() == expected


def test_pow_with_large_odd_integers() -> None:
    odd = np.array([2**24 + 1, 2**24 + 2], "i4")
    assert np.asarray(lax.pow(np.float32(-1), odd)).tolist() == [-1.0, 1.0]


def test_python_numbers_take_the_dtype_of_the_array() -> None:
    half = FLOAT.astype("f2")
    assert np.asarray(lax.add(half, 1.5)).dtype == np.float16
    assert np.asarray(lax.add(FLOAT, 1)).dtype == np.float32
    for wrong in (1.5, True, 1j, 2**31):
        with pytest.raises(errors.DTypeError, match="add: "):
            lax.add(INT, wrong)
    with pytest.raises(errors.DTypeError, match="same dtype"):
        lax.add(1, 1.0)
    with pytest.raises(errors.DTypeError, match="same dtype"):
        lax.add(FLOAT, INT)


def test_axes_of_size_one_are_repeated() -> None:
    x = np.arange(3, dtype="f4")[:, None]
    found = lax.mul(x, np.arange(2, dtype="f4")[None, :])
    assert np.asarray(found).tolist() == [[0, 0], [0, 1], [0, 2]]
    with pytest.raises(errors.ShapeError, match="add: operands must have equal shapes"):
        lax.add(FLOAT, np.ones((2, 3), "f4"))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: lax.sin(INT), errors.DTypeError),
        (lambda: jit(lambda x: lax.add(x, [1.0]))(FLOAT), errors.ArgumentError),
        (lambda: lax.floor(np.complex64(1j)), errors.DTypeError),
        (lambda: lax.lt(np.complex64(1j), np.complex64(1j)), errors.DTypeError),
        (lambda: lax.bitwise_and(FLOAT, FLOAT), errors.DTypeError),
        (lambda: lax.integer_pow(INT, -1), errors.DTypeError),
        (lambda: lax.integer_pow(FLOAT, 0.5), errors.ArgumentError),
        (lambda: lax.pow(INT, INT), errors.DTypeError),
        (lambda: lax.erf(np.complex64(1j)), errors.DTypeError),
        (lambda: lax.clamp(FLOAT[:1], FLOAT, FLOAT), errors.ShapeError),
        (lambda: lax.select_n(np.array([True, False, True]), FLOAT, FLOAT, FLOAT),
         errors.ArgumentError),
        (lambda: lax.select_n(np.int32(0)), errors.ValueArgumentError),
        (lambda: lax.select(np.array([True, False]), FLOAT, FLOAT), errors.ShapeError),
        (lambda: lax.reduce_precision(FLOAT, 0, 3), errors.ValueArgumentError),
        (lambda: lax.bitcast_convert_type(np.zeros((3, 3), "u1"), "int32"), errors.ShapeError),
        (lambda: lax.bitcast_convert_type(np.zeros(3, "c8"), "float32"), errors.DTypeError),
        (lambda: lax.full((2,), FLOAT), errors.ShapeError),
        (lambda: lax.full((-1,), 1.0), errors.ShapeError),
        (lambda: lax.full((2,), 1j, "float32"), errors.DTypeError),
        (lambda: lax.exp(FLOAT, accuracy=3), errors.ArgumentError),
        (lambda: grad(lambda x: lax.nextafter(x, 2.0))(1.0), errors.GradError),
        (lambda: grad(lax.polygamma)(1.0, 2.0), errors.GradError),
        (lambda: grad(lax.betainc)(1.0, 2.0, 0.5), errors.GradError),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_convert_element_type() -> None:
    out_of_range = np.array([-1.5, 300.0, NAN, INF], "f4")
    assert np.asarray(lax.convert_element_type(out_of_range, "uint8")).tolist() == [0, 255, 0, 255]
    assert int(lax.convert_element_type(300, "uint8")) == 44
    assert float(lax.convert_element_type(2**40, "float32")) == 2.0**40
    assert not lax.convert_element_type(1.0, "float32").type.weak_type
    with pytest.warns(np.exceptions.ComplexWarning):
        lax.convert_element_type(np.complex64(1j), "float32")


def test_bitcast_changes_the_shape() -> None:
    x = np.arange(6, dtype="f4").reshape(2, 3)
    parts = lax.bitcast_convert_type(x, "uint8")
    assert parts.shape == (2, 3, 4)
    assert np.asarray(lax.bitcast_convert_type(parts, "float32")).tolist() == x.tolist()
    found = vmap(lambda r: lax.bitcast_convert_type(r, "uint8"), in_axes=1)(x)
    assert found.shape == (3, 2, 4)


def test_full() -> None:
    assert lax.full((2,), 1).type.weak_type
    assert np.asarray(lax.full((2,), 300, "int8")).tolist() == [44, 44]
    assert lax.full_like(FLOAT, 1.5, dtype="int32").dtype == np.int32
    assert lax.full_like(FLOAT, 1, shape=(2, 2)).shape == (2, 2)


def test_accuracy() -> None:
    tight = lax.exp(FLOAT, accuracy=lax.Tolerance(rtol=1e-6))
    np.testing.assert_allclose(np.asarray(tight), np.exp(FLOAT), rtol=1e-6)
    assert float(lax.exp(0.0, accuracy=lax.AccuracyMode.HIGHEST)) == 1.0


def ulps(found: Any, exact: np.ndarray) -> float:
    """Largest distance in units of the last place of float32."""
    difference = np.abs(np.asarray(found).astype("f8") - exact)
    return float((difference / np.spacing(np.abs(exact).astype("f4")).astype("f8")).max())


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_of_any_float(name: str, rng: np.random.Generator) -> None:
    bits = rng.integers(0, 2**32, 100_000, dtype=np.uint64).astype(np.uint32)
    x = bits.view("f4")
    x = np.concatenate([x[np.isfinite(x)], rng.normal(size=100_000).astype("f4") * 10])
    x = x[np.abs(x) > 1e-30]
    exact = getattr(np, name)(x.astype("f8"))
    near = np.abs(x) < 1e6
    found = np.asarray(getattr(lax, name)(x))
    assert ulps(found[near], exact[near]) < 2
    np.testing.assert_allclose(found, exact, rtol=2e-7, atol=2e-11)
    ends = np.array([INF, -INF, NAN, 0.0, -0.0] * 60, "f4")
    found = np.asarray(getattr(lax, name)(ends))[:5]
    assert np.isnan(found[:3]).all()
    assert np.signbit(found[3:]).tolist() == [False, name == "sin"]


@pytest.mark.parametrize(
    "name, limit, bound",
    [("asin", 1.0, 2.5), ("acos", 1.0, 1.5), ("atan", 30.0, 1.5)],
)
def test_inverse_functions_on_long_arrays(
    name: str, limit: float, bound: float, rng: np.random.Generator
) -> None:
    x = rng.uniform(-limit, limit, 50_000).astype("f4")
    oracle = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan}[name]
    assert ulps(getattr(lax, name)(x), oracle(x.astype("f8"))) < bound


@pytest.mark.parametrize(
    "function, oracle", [(lax.pow, np.power), (lax.atan2, np.arctan2)], ids=["pow", "atan2"]
)
def test_special_values_on_long_arrays(function: Any, oracle: Any) -> None:
    values = np.array(
        [0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, INF, -INF, NAN, 1e30, -1e30, 2.5, -2.5, 127],
        "f4",
    )
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    found = np.asarray(function(x, y))
    with np.errstate(all="ignore"):
        expected = oracle(x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-37)
    known = ~np.isnan(expected)
    assert (np.signbit(found) == np.signbit(expected))[known].all()


@pytest.mark.parametrize("function", [lambda x: x, jit, vmap], ids=["eager", "jit", "vmap"])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_sine_and_cosine_on_the_imaginary_axis(function: Any, zero: float) -> None:
    x = np.array([complex(zero, b) for b in (0.0, 0.5, -2.0, 300.0, -300.0, INF, -INF)], "c8")
    with np.errstate(all="ignore"):
        pairs = [(lax.sin, np.sin(x)), (lax.cos, np.cos(x))]
    for ours, expected in pairs:
        found = np.asarray(function(ours)(x))
        for part in ("real", "imag"):
            p, q = getattr(found, part), getattr(expected, part)
            np.testing.assert_allclose(p, q, rtol=1e-5)
            np.testing.assert_array_equal(np.signbit(p), np.signbit(q))
    for ours in (lax.sin, lax.cos):
        assert np.isnan(np.asarray(ours(np.complex64(complex(0, NAN))))).all()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_fast_lowerings_agree_with_xla(dtype: str, rng: np.random.Generator) -> None:
    x = rng.uniform(-1, 1, 300).astype(dtype)
    for name in ("sin", "cos", "asin", "acos", "atan"):
        function = getattr(lax, name)
        short = np.concatenate([np.asarray(function(part)) for part in np.split(x, 2)])
        tolerance = 2e-3 if dtype == "float16" else 4e-7
        np.testing.assert_allclose(np.asarray(function(x)), short, rtol=tolerance, atol=1e-7)


def test_incomplete_gamma_for_large_a() -> None:
    special = pytest.importorskip("scipy.special")
    a = np.array([1e2, 1e3, 1e4, 1e6], "f4")
    for factor in (0.9, 1.0, 1.01):
        x = (a * factor).astype("f4")
        expected = special.gammainc(a.astype("f8"), x.astype("f8"))
        np.testing.assert_allclose(np.asarray(lax.igamma(a, x)), expected, rtol=2e-4, atol=1e-37)


def test_ends_of_incomplete_integrals() -> None:
    a, x = np.array([0, 1, 1, 1, -1, INF], "f4"), np.array([1, 0, INF, -1, 1, 1], "f4")
    np.testing.assert_array_equal(np.asarray(lax.igamma(a, x)), [1, 0, 1, NAN, NAN, 0])
    np.testing.assert_array_equal(np.asarray(lax.igammac(a, x)), [0, 1, 0, NAN, NAN, 1])
    a, b = np.array([1, 1, 0, 1, 0, 2], "f4"), np.array([2, 2, 1, 0, 0, 2], "f4")
    x = np.array([0, 1, 0.5, 0.5, 0.5, 1.2], "f4")
    np.testing.assert_array_equal(np.asarray(lax.betainc(a, b, x)), [0, 1, 1, 0, NAN, NAN])


def test_jit_of_trees() -> None:
    tree = {"a": FLOAT, "b": (INT, 2.0)}
    found = jit(lambda t: lax.stop_gradient(lax.optimization_barrier(t)))(tree)
    assert np.asarray(found["a"]).tolist() == FLOAT.tolist()
    assert float(found["b"][1]) == 2.0
