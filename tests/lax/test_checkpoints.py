"""Bounded loops in reverse mode: derivatives of every order, and what they keep."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.experimental import checkify

X = numpy.random.default_rng(0).normal(size=(3, 3)) * 0.5
V = numpy.random.default_rng(1).normal(size=(3, 3))
STEPS, BOUND, FEW = 7, 9, 2


@pytest.fixture(autouse=True)
def _float64() -> Any:
    with nl.enable_x64():
        yield


def looped(x: Any, n: Any = STEPS) -> Any:
    """The condition and the body close over differentiated arrays; a part of the carry is fixed."""

    def body(state: Any) -> Any:
        s, fixed, i = state
        return np.tanh(x @ s) + fixed * 0.1, fixed, i + 1

    def go_on(state: Any) -> Any:
        return (state[2] < n) & (x[0, 0] < 100)

    start = (x[0], x[1], 0)
    return lax.while_loop(go_on, body, start, max_steps=BOUND, checkpoints=FEW)[0].sum()


def unrolled(x: Any, n: int = STEPS) -> Any:
    s = x[0]
    for _ in range(n):
        s = np.tanh(x @ s) + x[1] * 0.1
    return s.sum()


def hvp(f: Any) -> Any:
    return nl.grad(lambda x: (nl.grad(f)(x) * V).sum())


DERIVATIVES = {
    "grad": nl.grad,
    "grad of grad": hvp,
    "jvp of grad": lambda f: lambda x: nl.jvp(nl.grad(f), (x,), (V,))[1],
    "grad of jvp": lambda f: nl.grad(lambda x: nl.jvp(f, (x,), (V,))[1]),
    "linearize of grad": lambda f: lambda x: nl.linearize(nl.grad(f), x)[1](V),
    "grad of linearize": lambda f: nl.grad(lambda x: nl.linearize(f, x)[1](V)),
    "third": lambda f: nl.grad(lambda x: (hvp(f)(x) * V).sum()),
    "jvp of hvp": lambda f: lambda x: nl.jvp(hvp(f), (x,), (V,))[1],
    "hessian": nl.hessian,
    "vmap of hvp": lambda f: lambda x: nl.vmap(hvp(f))(np.stack([x, V])),
    "grad of vmap of grad": lambda f: nl.grad(
        lambda x: (nl.vmap(nl.grad(f))(np.stack([x, V * x])) ** 2).sum()
    ),
    "hvp of checkpoint": lambda f: hvp(nl.checkpoint(f)),
    "hvp through scan": lambda f: hvp(
        lambda x: lax.scan(lambda c, _: (c * 0.9 + f(c) * 0.1, None), x, None, length=2)[0].sum()
    ),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_equal_those_of_the_unrolled_loop(name: str) -> None:
    derivative = DERIVATIVES[name]
    found, want = nl.jit(derivative(looped))(X), nl.jit(derivative(unrolled))(X)
    numpy.testing.assert_allclose(found, want, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 8, 9])
def test_every_number_of_steps(n: int) -> None:
    numpy.testing.assert_allclose(
        nl.grad(looped)(X, n), nl.grad(lambda x: unrolled(x, n))(X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("order", [1, 2])
def test_lanes_with_different_numbers_of_steps(order: int) -> None:
    counts = numpy.array([0, 3, 9, 1], "int32")
    f, g = looped, unrolled
    if order == 2:
        f = lambda x, n: (nl.grad(looped)(x, n) * V).sum()
        g = lambda x, n: (nl.grad(lambda y: unrolled(y, n))(x) * V).sum()
    found = nl.jit(nl.vmap(nl.grad(f), (None, 0)))(X, counts)
    want = [nl.grad(lambda x, n=int(n): g(x, n))(X) for n in counts]
    numpy.testing.assert_allclose(found, np.stack(want), rtol=1e-8, atol=1e-10)


def test_custom_rules_in_the_body_to_second_order() -> None:
    @nl.custom_vjp
    def f(x: Any) -> Any:
        return np.sin(x)

    f.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (ct * np.cos(x) * 2.0,))

    def loss(x: Any, step: Any) -> Any:
        options = {"max_steps": 6, "checkpoints": 1}
        out = lax.while_loop(
            lambda s: s[1] < 5, lambda s: (step(s[0]), s[1] + 1), (x, 0), **options
        )
        return out[0]

    def python(x: Any, step: Any) -> Any:
        for _ in range(5):
            x = step(x)
        return x

    for order in (nl.grad, lambda h: nl.grad(nl.grad(h))):
        found = order(lambda x: loss(x, f))(0.7)
        assert float(found) == pytest.approx(float(order(lambda x: python(x, f))(0.7)), rel=1e-9)


def test_a_body_with_complex_numbers() -> None:
    def f(x: Any, loop: bool) -> Any:
        step = lambda z: z * z * 0.5 + np.conj(z) * (0.3 + 0.2j)
        z = x + 0.1j
        if loop:
            body = lambda s: (step(s[0]), s[1] + 1)
            z = lax.while_loop(lambda s: s[1] < 4, body, (z, 0), max_steps=5, checkpoints=1)[0]
        else:
            for _ in range(4):
                z = step(z)
        return z.real + 2 * z.imag

    for order in (nl.grad, lambda h: nl.grad(nl.grad(h))):
        a, b = (float(order(lambda x, w=w: f(x, w))(0.4)) for w in (True, False))
        assert a == pytest.approx(b, rel=1e-10)


def temp_bytes(f: Any, *args: Any) -> int:
    return nl.jit(f).lower(*args).compile().memory_analysis().temp_size_in_bytes


def long(x: Any, n: Any, bound: int, checkpoints: int | None) -> Any:
    body = lambda s: (np.sin(s[0]) * 1.1, s[1] + 1)
    options = {"max_steps": bound, "checkpoints": checkpoints}
    return lax.while_loop(lambda s: s[1] < n, body, (x, 0), **options)[0].sum()


def test_memory_is_that_of_the_checkpoints() -> None:
    row = 8 * 1000
    x = numpy.ones(1000)
    for c in (4, 40):
        size = temp_bytes(nl.grad(lambda x, n, c=c: long(x, n, 100_000, c)), x, 3)
        assert c * row < size < (c + 10) * row
    size = temp_bytes(nl.grad(lambda x, n: long(x, n, 10_000, None)), x, 3)
    assert size < 155 * row


def test_a_second_derivative_keeps_twice_as_much() -> None:
    row = 8 * 1000
    x = numpy.ones(1000)
    second = nl.grad(lambda x, n: nl.grad(lambda y: long(y, n, 1000, 20))(x).sum())
    assert temp_bytes(second, x, 3) < 3 * 22 * row + 20 * row
    forward = lambda x, n: nl.jvp(lambda y: nl.grad(lambda z: long(z, n, 1000, 20))(y), (x,), (x,))
    assert temp_bytes(forward, x, 3) < 2 * 22 * row + 20 * row


def test_what_no_step_changes_is_not_kept() -> None:
    def f(x: Any, w: Any) -> Any:
        body = lambda s: (np.sin(s[0]) * s[2].sum(), s[1] + 1, s[2])
        start = (x, 0, w)
        return lax.while_loop(lambda s: s[1] < 5, body, start, max_steps=99, checkpoints=50)[0]

    assert temp_bytes(nl.grad(f, (0, 1)), 0.5, numpy.ones(10_000)) < 8 * 10_000 * 8


def test_random_keys_in_the_carry_to_second_order() -> None:
    def body(s: Any) -> Any:
        x, i, key = s
        key = nl.random.fold_in(key, 1)
        return np.tanh(x + nl.random.uniform(key, (3,)) * x), i + 1, key

    def f(x: Any, loop: bool) -> Any:
        s = (x, 0, nl.random.key(0))
        if loop:
            return (lax.while_loop(lambda s: s[1] < 3, body, s, max_steps=5)[0] ** 2).sum()
        for _ in range(3):
            s = body(s)
        return (s[0] ** 2).sum()

    x = numpy.array([0.1, 0.5, -0.3])
    numpy.testing.assert_allclose(nl.hessian(f)(x, True), nl.hessian(f)(x, False), rtol=1e-9)


def test_fori_loop_with_traced_bounds() -> None:
    power = lambda x, n: lax.fori_loop(0, n, lambda i, y: x * y, 1.0, max_steps=10)
    assert float(nl.jit(nl.grad(power))(2.0, 3)) == 12.0
    assert numpy.isnan(nl.jit(nl.grad(power))(2.0, 11))
    found = nl.jit(nl.vmap(nl.grad(nl.grad(power)), (None, 0)))(2.0, np.arange(5))
    numpy.testing.assert_allclose(found, [0, 0, 2, 12, 48])
    with pytest.raises(errors.GradError, match="max_steps=N"):
        nl.jit(nl.grad(lambda x, n: lax.fori_loop(0, n, lambda i, y: y * x, 1.0)))(2.0, 3)


def test_fori_loop_with_known_bounds_and_checkpoints() -> None:
    f = lambda x, **options: lax.fori_loop(2, 30, lambda i, y: np.sin(x * y) + i, 1.0, **options)
    want = float(nl.grad(f)(0.3))
    assert float(nl.grad(lambda x: f(x, checkpoints=3))(0.3)) == pytest.approx(want, rel=1e-10)
    assert float(nl.grad(lambda x: f(x, max_steps=28))(0.3)) == pytest.approx(want, rel=1e-10)
    with pytest.raises(errors.ValueArgumentError, match="more steps than max_steps"):
        f(0.3, max_steps=27)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "few"])
def test_checkpoints_must_be_a_known_positive_int(bad: Any) -> None:
    with pytest.raises(errors.ValueArgumentError, match="checkpoints"):
        lax.while_loop(lambda v: v < 3, lambda v: v, 1, max_steps=5, checkpoints=bad)


def test_checkpoints_need_a_bound() -> None:
    with pytest.raises(errors.ArgumentError, match="max_steps=N"):
        lax.while_loop(lambda v: v < 3, lambda v: v, 1, checkpoints=2)


@pytest.mark.parametrize("python", [False, True])
@pytest.mark.parametrize(
    "result, kind",
    [
        (lambda v: (v < 3,), errors.TreeError),
        (lambda v: None, errors.TreeError),
        (lambda v: 1, errors.DTypeError),
        (lambda v: v, errors.DTypeError),
        (lambda v: np.ones(1) > 0, errors.DTypeError),
    ],
)
def test_conditions_return_a_bool_scalar(result: Any, kind: Any, python: bool) -> None:
    with nl.disable_jit(python), pytest.raises(kind, match="must return a bool scalar"):
        lax.while_loop(result, lambda v: v + 1, 0)


def test_effects_in_the_body() -> None:
    seen: list[float] = []

    def noisy(x: Any) -> Any:
        def body(v: Any) -> Any:
            nl.debug.callback(lambda a: seen.append(float(a)), v)
            checkify.check(v > 0, "negative")
            return v * 1.5

        return lax.while_loop(lambda v: v < 10, body, x, max_steps=20, checkpoints=2)

    error, slope = checkify.checkify(nl.grad(noisy))(1.0)
    nl.effects_barrier()
    assert error.get() is None
    assert float(slope) == pytest.approx(1.5**6)
    assert len(seen) == 6  # steps that are computed again are quiet

    def calls(x: Any) -> Any:
        def body(v: Any) -> Any:
            return nl.experimental.io_callback(lambda a: a, nl.ShapeDtypeStruct((), v.dtype), v) * 2

        return lax.while_loop(lambda v: v < 10, body, x, max_steps=20)

    with pytest.raises(errors.GradError):
        nl.grad(calls)(1.0)
