"""scan, fori_loop and map: values, derivatives, what their gradients keep, what is left out."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax


def close(a: Any, b: Any, rtol: float = 1e-5) -> None:
    numpy.testing.assert_allclose(numpy.asarray(a), numpy.asarray(b), rtol=rtol, atol=1e-6)


def loop(x: Any, xs: Any, **options: Any) -> Any:
    def step(carry: Any, a: Any) -> Any:
        total, count = carry
        total = np.sin(total) * a + total
        return (total, count + 1), (total, count)

    return lax.scan(step, (x, 0), xs, **options)


def in_python(x: float, xs: Any, reverse: bool = False) -> Any:
    total, ys = x, []
    for a in reversed(xs) if reverse else xs:
        total = numpy.sin(total) * a + total
        ys.append(total)
    return total, ys[::-1] if reverse else ys


XS = numpy.array([0.5, -1.0, 2.0, 0.3, 1.5], "float32")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, True])
def test_values_and_gradients(reverse: bool, unroll: Any) -> None:
    def f(x: Any) -> Any:
        (total, _), (ys, _) = loop(x, XS, reverse=reverse, unroll=unroll)
        return total + (ys * ys).sum()

    (total, count), (ys, counts) = loop(0.7, XS, reverse=reverse, unroll=unroll)
    want, want_ys = in_python(0.7, XS, reverse)
    close(total, want)
    close(ys, want_ys)
    assert int(count) == 5
    order = [4, 3, 2, 1, 0] if reverse else [0, 1, 2, 3, 4]
    numpy.testing.assert_array_equal(counts, order)
    h = 1e-2
    slope = (f(0.7 + h) - f(0.7 - h)) / (2 * h)
    close(nl.grad(f)(0.7), slope, 1e-2)
    close(nl.jvp(f, (0.7,), (1.0,))[1], nl.grad(f)(0.7))


def test_length_zero() -> None:
    carry, ys = lax.scan(lambda c, a: (c + a, c * a), 3.0, np.zeros((0, 2)).sum(1))
    assert float(carry) == 3.0
    assert ys.shape == (0,)
    f = lambda c: lax.scan(lambda c, _: (c * 2, c), c, None, 0)[0]
    assert float(nl.grad(f)(3.0)) == 1.0
    close(nl.vmap(f)(np.arange(3.0)), [0, 1, 2])
    assert float(lax.fori_loop(5, 3, lambda i, x: x * 2, 1.5)) == 1.5
    assert lax.map(lambda x: x * 2, np.zeros((0, 3))).shape == (0, 3)


def test_weak_carries_take_the_dtype_of_the_body() -> None:
    assert lax.scan(lambda c, a: (c + a, None), 0, np.ones(3, "bfloat16"))[0].dtype == "bfloat16"
    assert lax.scan(lambda c, a: (c + a, None), 0, np.ones(3, "int8"))[0].dtype == "int8"
    both, _ = lax.scan(lambda c, a: ((c[1], c[0] + a), None), (0, 0.0), np.ones(4))
    assert [x.dtype.name for x in both] == ["float32", "float32"]


def test_a_carry_that_changes_shows_its_path() -> None:
    with pytest.raises(errors.ShapeError, match=r"carry\['a'\]") as caught:
        lax.scan(lambda c, _: ({"a": c["a"][:1]}, None), {"a": np.ones(2)}, None, 3)
    assert "float32[2] in" in str(caught.value)
    assert "float32[1] out" in str(caught.value)


def temp_bytes(f: Any, *args: Any) -> int:
    memory = nl.jit(f).lower(*args).compile().memory_analysis()
    return memory.temp_size_in_bytes


def test_memory_of_a_long_gradient_is_linear_with_one_state_a_step() -> None:
    def f(w: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = np.tanh(w * h + x)
            return h, h.sum()

        return lax.scan(step, np.zeros(16), xs)[1].sum()

    xs = np.ones((10_000, 16))
    state = 10_000 * 16 * 4
    assert temp_bytes(nl.grad(f), np.ones(16), xs) < 2.2 * state  # h and 1 - tanh(...)**2


@pytest.mark.parametrize("options", [{"unroll": 4}, {"reverse": True}])
def test_memory_is_linear_with_every_option(options: Any) -> None:
    def loss(x: Any, xs: Any) -> Any:
        def step(c: Any, a: Any) -> Any:
            c = np.sin(c) * a
            return c, c.sum()

        last, ys = lax.scan(step, x, xs, **options)
        return last.sum() + ys.sum()

    def size(f: Any, n: int) -> int:
        args = np.ones(256), np.ones(n)
        return nl.jit(f).lower(*args).compile().memory_analysis().temp_size_in_bytes

    back = nl.grad(loss)
    forth = lambda x, xs: nl.jvp(loss, (x, xs), (x, xs))
    assert (size(back, 3000) - size(back, 1000)) / 2000 == pytest.approx(256 * 4, rel=0.1)
    assert (size(forth, 3000) - size(forth, 1000)) / 2000 < 32


def test_values_that_depend_on_consts_only_are_kept_once() -> None:
    def f(b: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            return h * np.sin(np.exp(b) * 0.5) * x, None

        return lax.scan(step, np.ones(16), xs)[0].sum()

    b, xs = np.full(16, -0.3), np.full((200, 1), 1.9)
    size = temp_bytes(nl.grad(f), b, xs)
    assert size < 1.5 * 200 * 16 * 4  # h for each step
    h = 1e-3
    v = numpy.linspace(0.5, 1.5, 16, dtype="float32")
    slope = (f(b + h * v, xs) - f(b - h * v, xs)) / (2 * h)
    close((nl.grad(f)(b, xs) * v).sum(), slope, 1e-2)


def lowered(f: Any, *args: Any) -> str:
    return nl.jit(f).lower(*args).as_text()


def test_results_that_nobody_uses_are_not_computed() -> None:
    def scanned(x: Any) -> Any:
        step = lambda s, a: ((s[0] + a, np.sin(s[1])), (s[0] * 2, np.cos(s[1])))
        (c, _), (ys, _) = lax.scan(step, (x, x), np.arange(5.0))
        return c + ys.sum()

    def looped(x: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, np.sin(s[1])), (x, x))[0]

    def bounded(x: Any) -> Any:
        body = lambda s: (s[0] + 1, np.sin(s[1]))
        return nl.grad(lambda x: lax.while_loop(lambda s: s[0] < 3, body, (x, x), max_steps=9)[0])(
            x
        )

    def branched(x: Any) -> Any:
        return lax.cond(x > 0, lambda x: (x, np.sin(x)), lambda x: (-x, np.cos(x)), x)[0]

    def called(x: Any) -> Any:
        return nl.jit(lambda x, y: (x * 3, np.sin(y)))(x, np.cos(x))[0]

    for f, value in ((scanned, 41), (looped, 3), (bounded, 1), (branched, 1), (called, 3)):
        text = lowered(f, 1.0)
        assert "sine" not in text, f
        assert "cosine" not in text, f
        assert float(nl.jit(f)(1.0)) == value


def test_an_unused_carry_that_others_need_stays() -> None:
    def f(x: Any) -> Any:
        step = lambda s, _: ((s[0] + s[1], s[1] * 2.0), None)
        return lax.scan(step, (0.0, x), None, 4)[0][0]

    assert float(nl.jit(f)(1.0)) == 15.0
    assert float(nl.jit(nl.grad(f))(1.0)) == 15.0


def test_fori_loop_with_known_bounds_has_reverse_mode() -> None:
    f = lambda x: lax.fori_loop(2, 6, lambda i, c: c * x + i, x)

    def python(x: float) -> float:
        c = x
        for i in range(2, 6):
            c = c * x + i
        return c

    h = 1e-3
    close(f(1.1), python(1.1))
    close(nl.jit(nl.grad(f))(1.1), (python(1.1 + h) - python(1.1 - h)) / (2 * h), 1e-4)
    curvature = (python(1.1 + h) - 2 * python(1.1) + python(1.1 - h)) / h**2
    close(nl.grad(nl.grad(f))(1.1), curvature, 1e-3)
    close(nl.vmap(nl.grad(f))(np.array([1.1, 0.0]))[0], nl.grad(f)(1.1))


@pytest.mark.parametrize("batch_size", [None, 2, 7])
def test_map_under_every_transformation(batch_size: int | None) -> None:
    def f(xs: Any, w: Any) -> Any:
        return lax.map(lambda x: np.sin(x * w), xs, batch_size=batch_size)

    w = 1.3
    close(f(XS, w), numpy.sin(XS * w))
    close(nl.jit(f)(XS, w), numpy.sin(XS * w))
    want = XS * numpy.cos(XS * w)
    close(nl.jvp(lambda w: f(XS, w), (w,), (1.0,))[1], want)
    close(nl.jacrev(f, 1)(XS, w), want)
    close(nl.grad(lambda w: f(XS, w).sum())(w), want.sum())
    second = -(XS**2) * numpy.sin(XS * w)
    close(nl.grad(nl.grad(lambda w: f(XS, w).sum()))(w), second.sum())
    ws = numpy.array([1.3, 0.2], "float32")
    close(nl.vmap(f, (None, 0))(XS, ws), numpy.sin(XS * ws[:, None]))
    close(nl.vmap(nl.grad(lambda w: f(XS, w).sum()))(ws)[0], want.sum())


def test_numpy_vectorize_under_every_transformation() -> None:
    def dot(a: Any, b: Any) -> Any:
        return (a * b).sum()

    f = np.vectorize(dot, signature="(n),(n)->()")
    a = numpy.linspace(0, 1, 6, dtype="float32").reshape(2, 3)
    b = numpy.linspace(1, 2, 3, dtype="float32")
    close(f(a, b), a @ b)
    close(nl.jit(f)(a, b), a @ b)
    close(nl.grad(lambda a: f(a, b).sum())(a), numpy.broadcast_to(b, (2, 3)))
    close(nl.jvp(lambda b: f(a, b), (b,), (b,))[1], a @ b)
    close(nl.vmap(f, (0, None))(a, b), a @ b)
    close(nl.vmap(nl.grad(f), (0, None))(a, b), numpy.broadcast_to(b, (2, 3)))
    close(nl.hessian(lambda a: (f(a, b) ** 2).sum())(a[0]), 2 * numpy.outer(b, b))


def test_negative_length():
    with pytest.raises(errors.ValueArgumentError, match="length must not be negative"):
        lax.scan(lambda c, _: (c, c), 1, None, length=-1)
