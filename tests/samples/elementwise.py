"""Rows for elementwise operations: unary, binary, comparisons, bits, selections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numlift import lax
from tests.samples import COMPLEX, FLOAT8, FLOATS, INTS, SMALL_INTS, Sample

ROUGH = {"float16": 5e-3, "bfloat16": 4e-2}
NARROW = {**ROUGH, **dict.fromkeys(FLOAT8, 0.4)}


def kind_of(dtype: Any) -> str:
    """c for complex, i for signed and u for unsigned integers, b for bool, else f."""
    name = np.dtype(dtype).name
    for start, kind in (("complex", "c"), ("int", "i"), ("uint", "u"), ("bool", "b")):
        if name.startswith(start):
            return kind
    return "f"


def numbers(
    low: float = 0.3, high: float = 0.9, shape: tuple[int, ...] = (3, 4), signs: bool = True
) -> Callable[[Any, Any], Any]:
    """Maker of one array of numbers with low <= |x| <= high, of both signs if `signs`."""

    def make(rng: Any, dtype: Any) -> Any:
        kind = kind_of(dtype)
        if kind == "b":
            return rng.integers(0, 2, shape).astype(bool)
        if kind in "iu":
            top = min(int(max(high, 3)), 7 if np.dtype(dtype).name[-1] == "4" else 100)
            if np.dtype(dtype).name[-2:] == "t2":
                top = 1
            start = -top if kind == "i" and signs else 0
            return rng.integers(start, top, shape, endpoint=True).astype(dtype)
        x = rng.uniform(low, high, shape)
        if signs:
            x = x * rng.choice([-1.0, 1.0], shape)
        if kind == "c":
            x = x + 1j * rng.uniform(low, high, shape)
        return np.asarray(x).astype(dtype)

    return make


def arrays(*makers: Callable[[Any, Any], Any]) -> Callable[[Any, Any], tuple[Any, ...]]:
    """Inputs of a row from one maker an argument."""
    return lambda rng, dtype: tuple(make(rng, dtype) for make in makers)


def unary(
    name: str,
    function: Any,
    oracle: Any,
    make: Any = None,
    dtypes: tuple[str, ...] = FLOATS + COMPLEX,
    **fields: Any,
) -> Sample:
    """Row of a differentiable function of one array."""
    fields.setdefault("tolerances", NARROW)
    fields.setdefault("differentiable", (0,))
    return Sample(name, function, arrays(make or numbers()), oracle, dtypes, **fields)


def binary(
    name: str,
    function: Any,
    oracle: Any,
    x: Any = None,
    y: Any = None,
    dtypes: tuple[str, ...] = FLOATS + COMPLEX,
    **fields: Any,
) -> Sample:
    """Row of a differentiable function of two arrays."""
    fields.setdefault("tolerances", NARROW)
    fields.setdefault("differentiable", (0, 1))
    return Sample(name, function, arrays(x or numbers(), y or numbers()), oracle, dtypes, **fields)


def complex_sign(x: Any) -> Any:
    """x / |x|; NumPy 1 and 2 differ, so it is spelled out."""
    return x / np.abs(x) if np.iscomplexobj(x) else np.sign(x)


NUMBERS = FLOATS + COMPLEX + INTS
positive = numbers(0.3, 2.0, signs=False)
inside = numbers(0.05, 0.8)

UNARY = [
    unary("abs", lax.abs, np.abs, dtypes=FLOATS + COMPLEX + INTS[:4]),
    unary("sign", lax.sign, complex_sign, dtypes=NUMBERS),
    unary("neg", lax.neg, np.negative, dtypes=NUMBERS + FLOAT8),
    unary("floor", lax.floor, np.floor, numbers(0.2, 0.8), FLOATS),
    unary("ceil", lax.ceil, np.ceil, numbers(0.2, 0.8), FLOATS),
    unary("round", lax.round, np.rint, numbers(0.1, 0.4), FLOATS),
    unary(
        "round/even",
        lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
        np.rint,
        numbers(0.6, 0.9),
        FLOATS,
    ),
    unary("exp", lax.exp, np.exp, dtypes=FLOATS + COMPLEX + FLOAT8),
    unary("exp2", lax.exp2, lambda x: np.exp(x * np.log(2))),
    unary("expm1", lax.expm1, np.expm1),
    unary("log", lax.log, np.log, positive),
    unary("log1p", lax.log1p, np.log1p),
    unary("logistic", lax.logistic, lambda x: 1 / (1 + np.exp(-x))),
    unary("sqrt", lax.sqrt, np.sqrt, positive),
    unary("rsqrt", lax.rsqrt, lambda x: 1 / np.sqrt(x), positive),
    unary("cbrt", lax.cbrt, np.cbrt, dtypes=FLOATS),
    unary("square", lax.square, np.square, dtypes=NUMBERS),
    unary("reciprocal", lax.reciprocal, np.reciprocal),
    unary("integer_pow/3", lambda x: lax.integer_pow(x, 3), lambda x: x**3),
    unary("integer_pow/0", lambda x: lax.integer_pow(x, 0), lambda x: x**0, dtypes=NUMBERS),
    unary("integer_pow/1", lambda x: lax.integer_pow(x, 1), lambda x: x, dtypes=NUMBERS),
    unary("integer_pow/-2", lambda x: lax.integer_pow(x, -2), lambda x: x**-2.0),
    unary("sin", lax.sin, np.sin, numbers(0.3, 9.0), FLOATS),
    unary("sin/complex", lax.sin, np.sin, dtypes=COMPLEX),
    unary("cos", lax.cos, np.cos, numbers(0.3, 9.0), FLOATS),
    unary("cos/complex", lax.cos, np.cos, dtypes=COMPLEX),
    unary("tan", lax.tan, np.tan),
    unary("asin", lax.asin, np.arcsin, inside),
    unary("acos", lax.acos, np.arccos, inside),
    unary("atan", lax.atan, np.arctan),
    unary("sinh", lax.sinh, np.sinh),
    unary("cosh", lax.cosh, np.cosh),
    unary("tanh", lax.tanh, np.tanh),
    unary("asinh", lax.asinh, np.arcsinh),
    unary("acosh", lax.acosh, np.arccosh, numbers(1.3, 2.0, signs=False)),
    unary("atanh", lax.atanh, np.arctanh, inside),
    unary("is_finite", lax.is_finite, np.isfinite, dtypes=FLOATS, differentiable=()),
    unary("real", lax.real, np.real, dtypes=COMPLEX),
    unary("imag", lax.imag, np.imag, dtypes=COMPLEX),
    unary("conj", lax.conj, np.conj, dtypes=COMPLEX),
    unary("conj/real", lax.conj, np.conj, dtypes=("float32", "float64")),
    unary("population_count", lax.population_count, np.bitwise_count, numbers(signs=False),
          INTS, differentiable=()),
    unary("bitwise_not", lax.bitwise_not, np.invert, dtypes=(*INTS, "bool"), differentiable=()),
    unary(
        "reduce_precision",
        lambda x: lax.reduce_precision(x, 8, 23),
        lambda x: x.astype("f4").astype(x.dtype),
        dtypes=("float32", "float64"),
        differentiable=(),
    ),
    unary("stop_gradient", lax.stop_gradient, lambda x: x, differentiable=()),
    unary("optimization_barrier", lax.optimization_barrier, lambda x: x, dtypes=NUMBERS),
    unary("convert/float32", lambda x: lax.convert_element_type(x, "float32"),
          lambda x: x.astype("f4"), dtypes=FLOATS[:3], tolerances=ROUGH),
    unary("convert/complex64", lambda x: lax.convert_element_type(x, "complex64"),
          lambda x: x.astype("c8"), dtypes=("float32",)),
    unary("convert/int32", lambda x: lax.convert_element_type(x, "int32"),
          lambda x: x.astype("i4"), numbers(1.2, 9.0), FLOATS + INTS, differentiable=()),
    unary("convert/bool", lambda x: lax.convert_element_type(x, "bool"),
          lambda x: x.astype(bool), dtypes=FLOATS + INTS + COMPLEX, differentiable=()),
    unary("bitcast/same", lambda x: lax.bitcast_convert_type(x, "int32"),
          lambda x: x.astype("f4").view("i4"), dtypes=("float32",), differentiable=()),
    unary("bitcast/narrow", lambda x: lax.bitcast_convert_type(x, "uint8"), None,
          dtypes=("float32", "int16"), differentiable=()),
    unary("bitcast/wide", lambda x: lax.bitcast_convert_type(x, "uint32"),
          lambda x: x.view("u4")[..., 0], dtypes=("uint8",), differentiable=()),
    unary("full_like", lambda x: lax.full_like(x, 2), lambda x: np.full_like(x, 2),
          dtypes=NUMBERS + FLOAT8, differentiable=()),
    unary("full", lambda x: lax.full((2, 3), x), lambda x: np.full((2, 3), x), numbers(shape=())),
]  # fmt: skip

count = numbers(0, 6, signs=False)
BINARY = [
    binary("add", lax.add, np.add, dtypes=NUMBERS + FLOAT8 + SMALL_INTS[:2]),
    binary("add/rank0", lax.add, np.add, y=numbers(shape=())),
    binary("sub", lax.sub, np.subtract, dtypes=NUMBERS),
    binary("sub/rank0", lax.sub, np.subtract, x=numbers(shape=())),
    binary("mul", lax.mul, np.multiply, dtypes=NUMBERS),
    binary("mul/rank0", lax.mul, np.multiply, y=numbers(shape=())),
    binary("div", lax.div, np.divide),
    binary("div/rank0", lax.div, np.divide, y=numbers(shape=())),
    binary("div/rank0 numerator", lax.div, np.divide, x=numbers(shape=())),
    binary("div/int", lax.div, lambda x, y: np.trunc(x / y).astype(x.dtype),
           y=lambda rng, dtype: rng.integers(1, 5, (3, 4)).astype(dtype), dtypes=INTS,
           differentiable=()),
    binary("rem", lax.rem, np.fmod, numbers(2.1, 2.9), numbers(0.7, 0.95), FLOATS),
    binary("rem/int", lax.rem, np.fmod,
           y=lambda rng, dtype: rng.integers(1, 5, (3, 4)).astype(dtype), dtypes=INTS,
           differentiable=()),
    binary("max", lax.max, np.maximum, numbers(0.3, 0.5), numbers(0.6, 0.9), NUMBERS),
    binary("min", lax.min, np.minimum, numbers(0.3, 0.5), numbers(0.6, 0.9), NUMBERS),
    binary("pow", lax.pow, np.power, positive),
    binary("pow/rank0", lax.pow, np.power, positive, numbers(shape=())),
    binary("pow/number", lambda x, y: lax.mul(lax.pow(x, 2.5), y), lambda x, y: x**2.5 * y,
           positive),
    binary("atan2", lax.atan2, np.arctan2, dtypes=FLOATS),
    binary("nextafter", lax.nextafter, np.nextafter, dtypes=("float32", "float64"),
           differentiable=()),
    binary("complex", lax.complex, lambda x, y: x + 1j * y, dtypes=("float32", "float64")),
    binary("bitwise_and", lax.bitwise_and, np.bitwise_and, dtypes=(*INTS, "bool"),
           differentiable=()),
    binary("bitwise_or", lax.bitwise_or, np.bitwise_or, dtypes=(*INTS, "bool"), differentiable=()),
    binary("bitwise_xor", lax.bitwise_xor, np.bitwise_xor, dtypes=(*INTS, "bool"),
           differentiable=()),
    binary("shift_left", lax.shift_left, np.left_shift, y=count, dtypes=INTS, differentiable=()),
    binary("shift_right_arithmetic", lax.shift_right_arithmetic, np.right_shift, y=count,
           dtypes=INTS[:4], differentiable=()),
    binary("shift_right_logical", lax.shift_right_logical, np.right_shift, y=count,
           dtypes=INTS[4:], differentiable=()),
    binary("eq", lax.eq, np.equal, dtypes=(*NUMBERS, "bool"), differentiable=()),
    binary("ne", lax.ne, np.not_equal, dtypes=(*NUMBERS, "bool"), differentiable=()),
    *[
        binary(name, getattr(lax, name), oracle, dtypes=(*FLOATS, *INTS, "bool"), differentiable=())
        for name, oracle in (
            ("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal)
        )
    ],
]  # fmt: skip


def mask(rng: Any, dtype: Any) -> Any:
    """A bool selector."""
    return rng.integers(0, 2, (3, 4)).astype(bool)


def index(rng: Any, dtype: Any) -> Any:
    """An int32 selector of three cases."""
    return rng.integers(0, 3, (3, 4)).astype("int32")


def scalar_mask(rng: Any, dtype: Any) -> Any:
    """A bool selector of rank 0."""
    return np.bool_(True)


TERNARY = [
    Sample("clamp", lax.clamp,
           arrays(numbers(0.1, 0.2), numbers(0.3, 0.9), numbers(1.0, 1.1, signs=False)),
           lambda low, x, high: np.minimum(np.maximum(x, low), high), FLOATS + COMPLEX, (0, 1, 2),
           NARROW),
    Sample("clamp/rank0", lax.clamp,
           arrays(lambda r, d: np.asarray(-0.5, d), numbers(0.3, 0.9),
                  lambda r, d: np.asarray(0.6, d)),
           lambda low, x, high: np.minimum(np.maximum(x, low), high), FLOATS, (0, 1, 2), NARROW),
    Sample("select", lax.select, arrays(mask, numbers(), numbers()), np.where,
           (*NUMBERS, "bool"), (1, 2), NARROW),
    Sample("select/rank0", lax.select, arrays(scalar_mask, numbers(), numbers()), np.where,
           NUMBERS, (1, 2), NARROW),
    Sample("select_n/int", lax.select_n, arrays(index, numbers(), numbers(), numbers()),
           lambda which, *cases: np.choose(which, cases), NUMBERS, (1, 2, 3), NARROW),
    Sample("pow/int", lax.pow,
           arrays(numbers(0.5, 1.5), lambda r, d: r.integers(-3, 4, (3, 4)).astype("int32")),
           lambda x, y: x ** y.astype("f8"), FLOATS + COMPLEX, (0,), NARROW),
    Sample("barrier/two", lambda x, y: lax.optimization_barrier((x, y)),
           arrays(numbers(), numbers(shape=(2,))), lambda x, y: (x, y), FLOATS, (0, 1), NARROW),
]  # fmt: skip

SAMPLES: list[Sample] = UNARY + BINARY + TERNARY
