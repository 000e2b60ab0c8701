"""Elementwise functions: values against NumPy in many dtypes, dtypes, derivatives, edge points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors

WIDE = numpy.asarray([-2.5, -1.0, -0.5, 0.0, 0.25, 1.0, 1.5, 3.0])
UNIT = numpy.asarray([-1.0, -0.75, -0.5, 0.0, 0.25, 0.5, 0.9, 1.0])
POSITIVE = numpy.asarray([0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0, 9.0])

# name -> (sample values, kinds of dtype that it takes)
UNARY: dict[str, tuple[numpy.ndarray, str]] = {
    "absolute": (WIDE, "ifc"), "negative": (WIDE, "ifc"), "positive": (WIDE, "ifc"),
    "square": (WIDE, "ifc"), "sign": (WIDE, "if"), "fabs": (WIDE, "if"),
    "reciprocal": (POSITIVE, "fc"), "sqrt": (POSITIVE, "ifc"), "cbrt": (WIDE, "if"),
    "exp": (WIDE, "ifc"), "exp2": (WIDE, "ifc"), "expm1": (WIDE, "ifc"),
    "log": (POSITIVE, "fc"), "log2": (POSITIVE, "fc"), "log10": (POSITIVE, "fc"),
    "log1p": (POSITIVE, "ifc"), "sin": (WIDE, "ifc"), "cos": (WIDE, "ifc"),
    "tan": (UNIT, "ifc"), "arcsin": (UNIT, "if"), "arccos": (UNIT, "if"),
    "arctan": (WIDE, "ifc"), "sinh": (WIDE, "ifc"), "cosh": (WIDE, "ifc"),
    "tanh": (WIDE, "ifc"), "arcsinh": (WIDE, "if"), "arccosh": (1 + POSITIVE, "f"),
    "arctanh": (UNIT[1:-1], "f"), "deg2rad": (WIDE, "if"), "rad2deg": (WIDE, "if"),
    "floor": (WIDE, "if"), "ceil": (WIDE, "if"), "trunc": (WIDE, "if"), "rint": (WIDE, "ifc"),
    "fix": (WIDE, "f"), "round": (WIDE, "ifc"), "isfinite": (WIDE, "ifc"), "isinf": (WIDE, "ifc"),
    "isnan": (WIDE, "ifc"), "isposinf": (WIDE, "if"), "isneginf": (WIDE, "if"),
    "signbit": (WIDE, "if"), "spacing": (WIDE, "f"), "frexp": (WIDE, "f"), "modf": (WIDE, "f"),
    "real": (WIDE, "ifc"), "imag": (WIDE, "ifc"), "conjugate": (WIDE, "ifc"),
    "angle": (WIDE, "fc"), "iscomplex": (WIDE, "ifc"), "isreal": (WIDE, "ifc"),
    "sinc": (WIDE, "if"), "i0": (WIDE, "f"), "logical_not": (WIDE, "ifc"),
}  # fmt: skip

DTYPES = {"i": "int32", "f": "float32", "c": "complex64"}


def sample(values: numpy.ndarray, kind: str) -> numpy.ndarray:
    if kind == "c":
        return (values + 1j * values[::-1]).astype(numpy.complex64)
    return values.astype(DTYPES[kind])


def check(found: Any, wanted: Any, rtol: float = 3e-6) -> None:
    if isinstance(wanted, tuple):
        for a, b in zip(found, wanted, strict=True):
            check(a, b, rtol)
        return
    wanted = numpy.asarray(wanted)
    assert found.shape == wanted.shape
    narrow = {"float64": "float32", "complex128": "complex64", "int64": "int32"}
    assert found.dtype.name == narrow.get(wanted.dtype.name, wanted.dtype.name)
    numpy.testing.assert_allclose(found, wanted.astype(found.dtype), rtol=rtol, atol=2e-6)


@pytest.mark.parametrize("name", UNARY)
def test_unary_functions_equal_numpy(name: str) -> None:
    values, kinds = UNARY[name]
    for kind in kinds:
        x = sample(values, kind)
        with numpy.errstate(all="ignore"):
            wanted = getattr(numpy, name)(x)
        check(getattr(np, name)(x), wanted)


@pytest.mark.parametrize("name", ["sin", "exp", "sqrt", "tanh", "floor", "round", "absolute"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_keeps_its_dtype(name: str, dtype: str) -> None:
    x = np.asarray(POSITIVE, dtype=dtype)
    found = getattr(np, name)(x)
    assert found.dtype == dtype
    wanted = getattr(numpy, name)(numpy.asarray(x).astype(numpy.float32))
    numpy.testing.assert_allclose(numpy.asarray(found).astype(numpy.float32), wanted, rtol=1e-2)


BINARY: dict[str, str] = {
    "add": "ifcb", "subtract": "ifc", "multiply": "ifcb", "divide": "ifc", "floor_divide": "ifb",
    "remainder": "ifb", "fmod": "if", "divmod": "if", "float_power": "f", "maximum": "ifb",
    "minimum": "ifb", "fmax": "if", "fmin": "if", "hypot": "if", "arctan2": "if",
    "copysign": "if", "nextafter": "f", "heaviside": "f", "logaddexp": "f", "logaddexp2": "f",
    "gcd": "i", "lcm": "i", "equal": "ifcb", "not_equal": "ifcb", "less": "ifcb",
    "less_equal": "ifc", "greater": "ifc", "greater_equal": "ifc", "logical_and": "ifcb",
    "logical_or": "ifcb", "logical_xor": "ifcb", "bitwise_and": "ib", "bitwise_or": "ib",
    "bitwise_xor": "ib", "left_shift": "i", "right_shift": "i",
}  # fmt: skip
LEFT = numpy.asarray([[7.5, -3.0, 2.0], [-6.25, 0.0, 1.0]])
RIGHT = numpy.asarray([2.5, 4.0, 3.0])


def operand(values: numpy.ndarray, kind: str) -> numpy.ndarray:
    if kind == "b":
        return values > 1
    return sample(values, kind) if kind != "c" else (values + 2j).astype(numpy.complex64)


@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_equal_numpy(name: str) -> None:
    for kind in BINARY[name]:
        x, y = operand(LEFT, kind), operand(RIGHT, kind)
        if name == "float_power":
            x = abs(x)
        if kind == "b" and name in ("floor_divide", "remainder"):
            y = numpy.ones_like(y)
            wanted = getattr(numpy, name)(x.astype(numpy.int32), y.astype(numpy.int32))
        else:
            with numpy.errstate(all="ignore"):
                wanted = getattr(numpy, name)(x, y)
        check(getattr(np, name)(x, y), wanted)


def test_power() -> None:
    x = numpy.asarray([1, -1, 2, -3, 0], numpy.int32)
    check(
        np.power(x, numpy.asarray([3, 3, 4, 5, 0], numpy.int32)),
        numpy.asarray([1, -1, 16, -243, 1], numpy.int32),
    )
    negative = np.power(x, numpy.asarray([-3, -3, -1, -2, 0], numpy.int32))
    check(negative, numpy.asarray([1, -1, 0, 0, 1], numpy.int32))
    check(np.power(x, 3), x**3)
    f = numpy.asarray([1.5, -2.0, 0.5], numpy.float32)
    check(np.power(f, 3), f**3)
    check(np.power(f, numpy.asarray([2, 3, -2], numpy.int32)), numpy.asarray([2.25, -8, 4], "f4"))
    assert np.power(np.asarray([True]), 2).dtype == "int32"
    with pytest.raises(errors.ValueArgumentError, match="negative power"):
        np.power(x, -1)


def test_integer_division_by_zero_is_defined() -> None:
    x = np.asarray([1, -2, 0])
    assert np.remainder(x, 0).tolist() == [0, 0, 0]
    assert numpy.isnan(np.asarray([1.0, -1.0]) % 0.0).all()
    assert (np.asarray([1.0, -1.0]) // 0.0).tolist() == [numpy.inf, -numpy.inf]


def test_ldexp_reaches_the_ends_of_the_range() -> None:
    x = numpy.asarray([1.5, 1.5, 1.0], numpy.float32)
    n = numpy.asarray([127, -149, 3], numpy.int32)
    check(np.ldexp(x, n), numpy.ldexp(x, n))
    with pytest.raises(errors.DTypeError, match="ldexp"):
        np.ldexp(1.0, 2.0)


def test_frexp_of_special_numbers() -> None:
    x = numpy.asarray([-0.0, 0.0, numpy.inf, -numpy.inf, 6.5, 3e38, 2e-38], numpy.float32)
    mantissa, exponent = np.frexp(x)
    wanted = numpy.frexp(x)
    numpy.testing.assert_array_equal(mantissa, wanted[0])
    numpy.testing.assert_array_equal(exponent, wanted[1])


def test_copysign_and_signbit_see_negative_zero() -> None:
    assert float(np.copysign(2.0, -0.0)) == -2
    assert np.signbit(np.asarray([-0.0, 0.0, -numpy.nan])).tolist() == [True, False, True]


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
def test_round_to_places(decimals: int) -> None:
    x = numpy.asarray([12.345, -250.0, 0.5, 1.5, 349.99], numpy.float32)
    check(np.round(x, decimals), numpy.round(x, decimals))
    n = numpy.asarray([15, 25, -35, 149, 250, 350, -1050], numpy.int32)
    check(np.round(n, decimals), numpy.round(n, decimals))


GRADIENTS: list[tuple[str, Callable[..., Any], tuple[float, ...], tuple[float, ...]]] = [
    ("abs at 0", np.abs, (0.0,), (0.0,)),
    ("sqrt at 0", np.sqrt, (0.0,), (numpy.inf,)),
    ("max tie", np.maximum, (2.0, 2.0), (0.5, 0.5)),
    ("min tie", np.minimum, (2.0, 2.0), (0.5, 0.5)),
    ("0**y", np.power, (0.0, 2.0), (0.0, 0.0)),
    ("x**0", np.power, (0.0, 0.0), (0.0, 0.0)),
    ("x**0 elsewhere", np.power, (3.0, 0.0), (0.0, 1.0986123)),
    ("hypot at 0", np.hypot, (0.0, 0.0), (0.0, 0.0)),
    ("hypot", np.hypot, (3.0, 4.0), (0.6, 0.8)),
    ("hypot tie", np.hypot, (2.0, 2.0), (0.70710678, 0.70710678)),
    ("arctan2 at 0", np.arctan2, (0.0, 0.0), (0.0, 0.0)),
    ("copysign", np.copysign, (3.0, -2.0), (-1.0, 0.0)),
    ("remainder", np.remainder, (7.5, 2.0), (1.0, -3.0)),
    ("floor_divide", np.floor_divide, (7.5, 2.0), (0.0, 0.0)),
    ("floor_divide by 0", np.floor_divide, (1.0, 0.0), (0.0, 0.0)),
    ("floor_divide 0 by 0", np.floor_divide, (0.0, 0.0), (0.0, 0.0)),
    ("floor_divide by nan", np.floor_divide, (1.0, numpy.nan), (0.0, 0.0)),
    ("logaddexp", np.logaddexp, (1.0, 1.0), (0.5, 0.5)),
    ("fmax", np.fmax, (1.0, 3.0), (0.0, 1.0)),
    ("sinc at 0", np.sinc, (0.0,), (0.0,)),
    ("sign", np.sign, (2.0,), (0.0,)),
    ("mod frac", lambda x: np.modf(x)[0], (2.5,), (1.0,)),
]  # fmt: skip


@pytest.mark.parametrize("row", GRADIENTS, ids=lambda row: row[0])
def test_derivatives_at_edge_points(row: Any) -> None:
    _, function, point, wanted = row
    found = nl.grad(function, argnums=tuple(range(len(point))))(*point)
    numpy.testing.assert_allclose([float(d) for d in found], wanted, rtol=1e-5, atol=1e-6)


def test_second_derivative_of_sinc_at_zero() -> None:
    found = float(nl.grad(nl.grad(np.sinc))(0.0))
    assert abs(found + numpy.pi**2 / 3) < 1e-4


@pytest.mark.parametrize("name", ["sin", "sinc", "frexp", "round", "modf", "spacing"])
def test_jit_and_vmap_agree_with_eager(name: str) -> None:
    function = getattr(np, name)
    x = np.asarray(WIDE.reshape(2, 4).astype(numpy.float32))
    for f in (nl.jit(function), nl.vmap(function), nl.vmap(function, 1, 1)):
        nl.tree.map(lambda a, b: numpy.testing.assert_allclose(a, b, rtol=1e-6), f(x), function(x))


def test_promotion_with_python_numbers() -> None:
    small, half = np.asarray([1, 2], dtype="int8"), np.asarray([1.0], dtype="bfloat16")
    assert (small + 1).dtype == "int8" and (small * 2.5).dtype == "float32"
    assert (half + 1).dtype == "bfloat16" and (half * 2.5).dtype == "bfloat16"
    assert (small + numpy.float16(1)).dtype == "float16"
    with pytest.raises(OverflowError):
        np.asarray([1]) + 2**40


def test_errors_teach() -> None:
    with pytest.raises(errors.DTypeError, match="negative") as caught:
        np.negative(np.asarray([True]))
    assert isinstance(caught.value, TypeError)
    with pytest.raises(errors.DTypeError, match="bitwise_and: operands must be integers or bools"):
        np.bitwise_and(1.0, 2.0)
    with pytest.raises(ValueError, match="axis -1 has sizes 2, 3"):
        np.add(numpy.ones(2), numpy.ones(3))
    with pytest.raises(TypeError):
        np.sin("a")


@pytest.mark.parametrize("name", ["log2", "log10"])
def test_complex_logarithm_of_zero(name: str) -> None:
    found = numpy.asarray(getattr(np, name)(np.asarray([0j, -1 + 0j, complex(-1.0, -0.0)])))
    with numpy.errstate(divide="ignore"):
        wanted = getattr(numpy, name)(numpy.asarray([0j, -1 + 0j, complex(-1.0, -0.0)]))
    numpy.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_log2_is_exact_at_powers_of_two(dtype):
    with nl.enable_x64(dtype == "float64"):
        limits = np.finfo(dtype)
        powers = numpy.arange(limits.minexp, limits.maxexp)
        x = np.asarray(2.0 ** powers.astype(numpy.float64), dtype)
        for f in (np.log2, nl.jit(np.log2), nl.vmap(np.log2)):
            assert f(x).dtype == dtype
            numpy.testing.assert_array_equal(f(x).astype("float32"), powers)
        gradient = nl.vmap(nl.grad(np.log2))(x[3:-3])
        expected = 1 / (numpy.asarray(x[3:-3], numpy.float64) * numpy.log(2))
        numpy.testing.assert_allclose(
            numpy.asarray(gradient).astype("float64"), expected, rtol=4 * float(limits.eps)
        )


def test_log2_elsewhere():
    x = numpy.asarray(
        [0.0, -0.0, -1, -2, numpy.inf, -numpy.inf, numpy.nan, 3, 5, 0.1], numpy.float32
    )
    with numpy.errstate(all="ignore"):
        numpy.testing.assert_allclose(np.log2(x), numpy.log2(x), rtol=3e-7)
    assert np.log2(8.0).weak_type and float(nl.grad(nl.grad(np.log2))(8.0)) < 0
