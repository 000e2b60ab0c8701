"""Taylor mode against nested jvp, for operations of every kind."""

from __future__ import annotations

import functools

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.experimental.jet import jet

SERIES = (0.7, -0.4, 0.9, 0.3)
W = numpy.asarray([[0.5, -1.0, 0.2], [0.3, 0.8, -0.6], [1.1, 0.1, 0.4]])


def along(f, x, series):
    """Derivatives of f(x(t)) at 0 by nested jvp."""

    def curve(t):
        total, factor = x, 1.0
        for k, d in enumerate(series, 1):
            factor /= k
            total = total + factor * d * t**k
        return f(total)

    found, g = [], curve
    for _ in series:
        g = functools.partial(lambda h, t: nl.jvp(h, (t,), (1.0,))[1], g)
        found.append(g(0.0))
    return found


FUNCTIONS = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "exp": np.exp,
    "expm1": np.expm1,
    "exp2": np.exp2,
    "log": np.log,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "atan": np.arctan,
    "asin": lambda x: np.arcsin(0.3 * x),
    "sqrt": np.sqrt,
    "rsqrt": lax.rsqrt,
    "cbrt": np.cbrt,
    "square": np.square,
    "integer_pow": lambda x: x**3 + x**-2,
    "pow": lambda x: np.power(x, 1.7) + np.power(1.3, x) + np.power(x, x),
    "div": lambda x: np.cos(x) / (1 + x * x),
    "atan2": lambda x: np.arctan2(x, 1 + x),
    "logistic": nl.nn.sigmoid,
    "erf": lax.erf,
    "erf_inv": lambda x: lax.erf_inv(0.3 * x),
    "lgamma": lax.lgamma,
    "logsumexp": lambda x: np.log(np.sum(np.exp(np.stack([x, 2 * x])))),
    "max": lambda x: np.maximum(x, 0.2) * x,
    "where": lambda x: np.where(x > 0.1, np.sin(x), x),
    "abs": lambda x: np.abs(x - 3.0) * x,
    "branch": lambda x: np.sin(x) if x > 0 else x,
    "jit": nl.jit(lambda x: np.sin(x) * np.exp(x)),
    "cond": lambda x: lax.cond(x > 0, lambda x: x * np.sin(x), lambda x: x, x),
    "scan": lambda x: lax.scan(lambda c, _: (np.sin(c) * x, None), x, None, length=3)[0],
    "constant": lambda x: 3.0,
    "linear": lambda x: np.reshape(np.stack([x, -x]), (2, 1))[::-1].T[0, 0] + 1,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_nested_jvp(name: str) -> None:
    f = FUNCTIONS[name]
    order = 3 if name in ("scan", "erf_inv", "pow") else 4
    with nl.enable_x64():
        value, found = jet(f, (0.8,), (SERIES[:order],))
        numpy.testing.assert_allclose(value, f(np.asarray(0.8)), rtol=1e-12)
        numpy.testing.assert_allclose(found, along(f, 0.8, SERIES[:order]), rtol=1e-9, atol=1e-11)


def test_products_of_matrices() -> None:
    with nl.enable_x64():
        directions = [W.T, W @ W, W - 1]
        f = lambda x: np.tanh(x @ W) @ x.T
        value, found = jet(f, (W,), (directions,))
        numpy.testing.assert_allclose(value, f(W))
        for a, b in zip(found, along(f, W, directions), strict=True):
            numpy.testing.assert_allclose(a, b, rtol=1e-9)


def test_high_order_is_cheap() -> None:
    order = 20
    ones = (1.0,) + (0.0,) * (order - 1)
    with nl.enable_x64():
        _, found = jet(np.sin, (0.5,), (ones,))
        expected = [numpy.sin(0.5 + k * numpy.pi / 2) for k in range(1, order + 1)]
        numpy.testing.assert_allclose(found, expected, rtol=1e-10)
        _, found = jet(lambda x: 1 / (1 - x), (0.0,), (ones,))
        expected = [numpy.prod(numpy.arange(1.0, k + 1)) for k in range(1, order + 1)]
        numpy.testing.assert_allclose(found, expected, rtol=1e-10)


def test_two_arguments_and_trees() -> None:
    value, (first, second) = jet(lambda x, y: x * y, (0.5, 2.0), ((1.0, 2.0), (1.0, 1.0)))
    numpy.testing.assert_allclose([value, first, second], [1.0, 2.5, 6.5])
    found = jet(lambda d: (d["a"] ** 2, {"n": 3}), ({"a": 2.0},), (({"a": 1.0}, {"a": 0.0}),))
    (value, rest), (terms, other) = found
    numpy.testing.assert_allclose([value, *terms], [4.0, 4.0, 2.0])
    assert rest["n"] == 3 and [float(x) for x in other["n"]] == [0, 0]


def test_order_zero_and_other_dtypes() -> None:
    value, found = jet(lambda x: x * 2, (0.5,), ((),))
    assert float(value) == 1.0 and found == []
    value, found = jet(np.sin, (np.float16(0.5),), ((1.0, 0.0),))
    assert value.dtype == found[0].dtype == numpy.float16
    value, found = jet(np.exp, (1j,), ((1.0 + 0j, 0j),))
    numpy.testing.assert_allclose(found, [numpy.exp(1j)] * 2, rtol=1e-6)


def test_under_transformations() -> None:
    second = lambda x: jet(np.sin, (x,), ((1.0, 0.0),))[1][1]
    expected = -numpy.sin(0.3)
    numpy.testing.assert_allclose(nl.jit(second)(0.3), expected, rtol=1e-6)
    numpy.testing.assert_allclose(nl.grad(second)(0.3), -numpy.cos(0.3), rtol=1e-6)
    batch = numpy.asarray([0.3, 0.6], numpy.float32)
    numpy.testing.assert_allclose(nl.vmap(second)(batch), -numpy.sin(batch), rtol=1e-6)
    numpy.testing.assert_allclose(jet(second, (0.3,), ((1.0,),))[1][0], -numpy.cos(0.3), rtol=1e-6)
    slope = jet(nl.grad(np.sin), (0.3,), ((1.0, 0.0),))[1]
    numpy.testing.assert_allclose(slope, [-numpy.sin(0.3), -numpy.cos(0.3)], rtol=1e-6)


def test_custom_rules() -> None:
    @nl.custom_jvp
    def f(x):
        return np.sin(x)

    f.defjvp(lambda p, d: (f(p[0]), 2 * np.cos(p[0]) * d[0]))
    _, found = jet(f, (0.3,), ((1.0, 0.0),))
    numpy.testing.assert_allclose(found, [2 * numpy.cos(0.3), -2 * numpy.sin(0.3)], rtol=1e-6)


def test_long_programs() -> None:
    def f(x):
        for _ in range(600):
            x = x + 0.001 * x
        return x

    _, found = jet(f, (1.0,), ((1.0, 1.0),))
    numpy.testing.assert_allclose(found, [1.001**600] * 2, rtol=1e-3)


def test_errors() -> None:
    with pytest.raises(errors.ArgumentError, match="one length"):
        jet(lambda x, y: x * y, (0.5, 2.0), ((1.0, 2.0), (1.0,)))
    with pytest.raises(errors.ArgumentError, match="shape and dtype"):
        jet(np.sin, (0.5,), ((numpy.ones(2, numpy.float32),),))
    with pytest.raises(errors.GradError, match="int32"):
        jet(lambda x: x * 2, (3,), ((1,),))
    with pytest.raises(errors.ArgumentError, match="structure"):
        jet(lambda d: d["a"], ({"a": 1.0},), ((1.0,),))
