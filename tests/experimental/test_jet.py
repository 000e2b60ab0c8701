"""Taylor mode against nested jvp, for operations of every kind."""

from __future__ import annotations

import functools

import numpy
import pytest
import scipy.special

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.core.graph import Graph
from numlift.core.staging import trace_to_graph
from numlift.core.tracing import type_of
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


# ---- high orders against Cauchy's integral ------------------------------------------------------

ORDER = 10
CURVE = (0.7, -0.4, 0.9, 0.3, 0.0, -1.1, 0.5, 0.2, 0.0, 0.6)


def by_cauchy(f, x, series, radius=0.25, n=128):
    """Derivatives of f(x(t)) at 0 for an analytic NumPy function: a Fourier sum on a circle."""
    t = radius * numpy.exp(2j * numpy.pi * numpy.arange(n) / n)
    factorials = numpy.cumprod(numpy.arange(1.0, len(series) + 1))
    curve = x + sum(
        d / k * t ** (i + 1) for i, (d, k) in enumerate(zip(series, factorials, strict=True))
    )
    values = numpy.asarray([f(c) for c in curve])
    coefficients = numpy.fft.fft(values) / n
    return [coefficients[k].real / radius**k * factorials[k - 1] for k in range(1, len(series) + 1)]


def steps(c, x, n=3):
    for _ in range(n):
        c = numpy.sin(c) * x
    return c


ANALYTIC = {
    "tan": (np.tan, numpy.tan),
    "tanh": (np.tanh, numpy.tanh),
    "sqrt": (np.sqrt, numpy.sqrt),
    "logistic": (nl.nn.sigmoid, lambda x: 1 / (1 + numpy.exp(-x))),
    "pow": (lambda x: np.power(x, x), lambda x: x**x),
    "integer_pow": (lambda x: x**3 + x**-2, lambda x: x**3 + x**-2),
    "div": (lambda x: np.cos(x) / (1 + x), lambda x: numpy.cos(x) / (1 + x)),
    "atan2": (lambda x: np.arctan2(x, 1 + x), lambda x: numpy.arctan(x / (1 + x))),
    "asinh": (np.arcsinh, numpy.arcsinh),
    "erf": (lambda x: lax.erf(x) * 1.0, lambda x: scipy.special.erf(x)),
    "cumprod": (
        lambda x: np.cumprod(np.stack([x, np.sin(x), x * x]))[-1],
        lambda x: x * numpy.sin(x) * x * x,
    ),
    "cumsum": (lambda x: np.cumsum(np.stack([x, x**5]))[-1], lambda x: x + x**5),
    "dot": (
        lambda x: np.dot(np.stack([x, np.exp(x)]), np.stack([np.sin(x), x])),
        lambda x: x * numpy.sin(x) + x * numpy.exp(x),
    ),
    "conv": (
        lambda x: np.convolve(np.stack([x, np.exp(x)]), np.stack([np.sin(x), x]))[1],
        lambda x: x * x + numpy.exp(x) * numpy.sin(x),
    ),
    "solve": (
        lambda x: np.linalg.solve(
            np.stack([np.stack([x + 2, x * x]), np.stack([np.sin(x), 3 + x])]), np.stack([x, x**3])
        )[0],
        lambda x: numpy.linalg.solve(
            numpy.stack([[x + 2, x * x], [numpy.sin(x), 3 + x]]), numpy.stack([x, x**3])
        )[0],
    ),
    "cholesky": (
        lambda x: np.linalg.cholesky(np.stack([np.stack([x + 2, x]), np.stack([x, 3 + x])]))[1, 1],
        lambda x: numpy.sqrt(3 + x - x * x / (x + 2)),
    ),
    "scan": (
        lambda x: lax.scan(lambda c, _: (np.sin(c) * x, None), x, None, length=3)[0],
        lambda x: steps(x, x),
    ),
    "scan_ys": (
        lambda x: lax.scan(lambda c, y: (c * y, c + y), x, np.stack([x, np.exp(x)]))[1][1],
        lambda x: x * x + numpy.exp(x),
    ),
    "scan_grows": (
        lambda x: lax.scan(lambda c, y: ((c[1], c[1] * y), None), (1.0, 1.0), np.stack([x, x, x]))[
            0
        ][1],
        lambda x: x**3,
    ),
    "fori": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: np.sin(c) * x, x),
        lambda x: steps(x, x),
    ),
    "while": (
        lambda x: lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, np.sin(c[1]) * x), (0, x)
        )[1],
        lambda x: steps(x, x),
    ),
    "bounded_while": (
        lambda x: lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, np.sin(c[1]) * x), (0, x), max_steps=9
        )[1],
        lambda x: steps(x, x),
    ),
    "cond": (
        lambda x: lax.cond(x > 0, lambda x: x * np.sin(x), lambda x: 1.0, x),
        lambda x: x * numpy.sin(x),
    ),
    "switch": (
        lambda x: lax.switch(2, [lambda x: 1.0, lambda x: x, np.exp], x),
        numpy.exp,
    ),
    "checkpoint": (
        nl.checkpoint(lambda x: np.sin(np.sin(x))),
        lambda x: numpy.sin(numpy.sin(x)),
    ),
    "nested_loops": (
        lambda x: lax.scan(
            lambda c, _: (lax.fori_loop(0, 2, lambda i, d: np.sin(d) * x, c), None),
            x,
            None,
            length=2,
        )[0],
        lambda x: steps(x, x, 4),
    ),
}


@pytest.mark.parametrize("name", ANALYTIC)
def test_order_ten(name: str) -> None:
    f, reference = ANALYTIC[name]
    with nl.enable_x64():
        _, found = nl.jit(lambda x, s: jet(f, (x,), (s,)))(0.8, list(CURVE))
        expected = by_cauchy(reference, 0.8, CURVE)
        numpy.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def size(graph) -> int:
    """Number of operations of a graph and of the graphs inside."""
    n = len(graph.equations)
    for eq in graph.equations:
        for field in eq.op.fields:
            value = getattr(eq.op, field)
            for x in value if isinstance(value, tuple) else (value,):
                n += size(x) if isinstance(x, Graph) else 0
    return n


@pytest.mark.parametrize("name", [*ANALYTIC, *(n for n in FUNCTIONS if n != "branch")])
def test_cost_is_polynomial(name: str) -> None:
    f = ANALYTIC[name][0] if name in ANALYTIC else FUNCTIONS[name]
    sizes = []
    for order in (4, 8):
        made = trace_to_graph(
            lambda x, *s: nl.tree_util.tree_leaves(jet(f, (x,), (s,))),
            [type_of(numpy.float32(1))] * (order + 1),
        )[0]
        sizes.append(size(made))
    assert sizes[1] <= 8 * sizes[0]  # cubic at most


def test_loops_under_transformations() -> None:
    def second(x):
        return jet(ANALYTIC["scan"][0], (x,), ((1.0, 0.0),))[1][1]

    def plain(x):
        f = ANALYTIC["scan"][0]
        return nl.grad(nl.grad(f))(x)

    with nl.enable_x64():
        for x in (0.8, 0.3):
            numpy.testing.assert_allclose(second(x), plain(x), rtol=1e-10)
            numpy.testing.assert_allclose(nl.grad(second)(x), nl.grad(plain)(x), rtol=1e-9)
        xs = numpy.asarray([0.8, 0.3])
        numpy.testing.assert_allclose(nl.vmap(second)(xs), [plain(x) for x in xs], rtol=1e-9)
        nested = jet(second, (0.8,), ((1.0,),))[1][0]
        numpy.testing.assert_allclose(nested, nl.grad(plain)(0.8), rtol=1e-9)


def test_effects_in_loops_happen_once(capfd) -> None:
    def body(c, _):
        nl.debug.print("step {}", c)
        return c * 2, None

    nl.jit(lambda x: jet(lambda y: lax.scan(body, y, None, length=2)[0], (x,), ((1.0, 0.0),)))(1.0)
    nl.effects_barrier()
    assert capfd.readouterr().out == "step 1.0\nstep 2.0\n"


def test_rules_that_loop() -> None:
    """A rule of the user whose tangent runs a loop over the series being defined."""

    @nl.custom_jvp
    def f(x):
        return np.exp(x)

    @f.defjvp
    def rule(primals, tangents):
        (x,), (dx,) = primals, tangents
        y = f(x)
        return y, lax.fori_loop(0, 1, lambda i, c: c * y, dx)

    with nl.enable_x64():
        _, found = jet(f, (0.3,), ((1.0, 0.0, 0.0, 0.0, 0.0),))
        numpy.testing.assert_allclose(found, [numpy.exp(0.3)] * 5, rtol=1e-10)
