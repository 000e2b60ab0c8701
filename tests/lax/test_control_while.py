"""while_loop: results, bounded loops in reverse mode, loops whose lanes stop at different steps."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax


def power(x: Any, max_steps: int = 30) -> Any:
    """x ** k for the smallest k with x ** k >= 100."""
    return lax.while_loop(
        lambda s: s[0] < 100.0, lambda s: (s[0] * s[1], s[1]), (x, x), max_steps=max_steps
    )[0]


def reference(x: float) -> tuple[float, float, float]:
    """Value and two derivatives of `power`."""
    k = 1
    while x**k < 100:
        k += 1
    return x**k, k * x ** (k - 1), k * (k - 1) * x ** (k - 2)


XS = numpy.array([1.5, 3.0, 200.0, 2.0], "float32")
WANTED = numpy.array([reference(float(x)) for x in XS])
TRANSFORMED = {
    "vmap": (lambda x: nl.vmap(power)(x), 0),
    "vmap of grad": (lambda x: nl.vmap(nl.grad(power))(x), 1),
    "grad of vmap": (nl.grad(lambda x: nl.vmap(power)(x).sum()), 1),
    "jvp of vmap": (lambda x: nl.jvp(nl.vmap(power), (x,), (np.ones_like(x),))[1], 1),
    "vmap of jvp": (nl.vmap(lambda x: nl.jvp(power, (x,), (np.ones_like(x),))[1]), 1),
    "vmap of grad of grad": (nl.vmap(nl.grad(nl.grad(power))), 2),
    "vmap of jacfwd of grad": (nl.vmap(nl.jacfwd(nl.grad(power))), 2),
    "grad of vmap of grad": (nl.grad(lambda x: nl.vmap(nl.grad(power))(x).sum()), 2),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformations_of_a_bounded_loop(name: str) -> None:
    function, order = TRANSFORMED[name]
    found = nl.jit(function)(XS)
    numpy.testing.assert_allclose(found, WANTED[:, order], rtol=1e-4)


@pytest.mark.parametrize("x", [1.5, 200.0])
def test_eager_derivatives_of_one_example(x: float) -> None:
    value, slope, curvature = reference(x)
    assert float(power(x)) == pytest.approx(value, rel=1e-5)
    assert float(nl.grad(power)(x)) == pytest.approx(slope, rel=1e-5)
    assert float(nl.grad(nl.grad(power))(x)) == pytest.approx(curvature, rel=1e-5)


def test_a_bound_that_is_too_low_gives_nan() -> None:
    assert numpy.isnan(power(1.5, 3))
    assert numpy.isnan(nl.grad(lambda x: power(x, 3))(1.5))
    assert float(nl.grad(lambda x: power(x, 0))(300.0)) == 1.0
    assert numpy.isnan(power(1.0, 0))
    out, count = lax.while_loop(
        lambda s: s[0] < 9.0, lambda s: (s[0] + 1, s[1] + 1), (1j.real, 0), max_steps=4
    )
    assert numpy.isnan(out)
    assert int(count) == 4
    z = lax.while_loop(lambda z: z.real < 9, lambda z: z + 1, 1j, max_steps=4)
    assert numpy.isnan(z.real)
    assert numpy.isnan(z.imag)


def test_the_exact_bound_is_enough() -> None:
    assert float(power(10.0, 1)) == 100.0
    assert float(nl.grad(lambda x: power(x, 1))(10.0)) == 20.0


def test_integers_keys_and_consts_in_the_carry() -> None:
    def f(x: Any, scale: Any) -> Any:
        def body(s: Any) -> Any:
            key, i, y = s
            key, sub = nl.random.split(key)
            return key, i + 1, y * scale + nl.random.normal(sub)

        return lax.while_loop(lambda s: s[1] < 4, body, (nl.random.key(0), 0, x), max_steps=9)[2]

    d_x, d_scale = nl.jit(nl.grad(f, (0, 1)))(0.5, 1.1)
    h = 1e-2
    assert float(d_x) == pytest.approx(1.1**4, rel=1e-5)
    slope = (f(0.5, 1.1 + h) - f(0.5, 1.1 - h)) / (2 * h)
    assert float(d_scale) == pytest.approx(float(slope), rel=1e-2)
    both = nl.vmap(nl.grad(f, (0, 1)), (0, None))(np.array([0.5, 0.5]), 1.1)
    numpy.testing.assert_allclose(both[0], [float(d_x)] * 2, rtol=1e-5)
    numpy.testing.assert_allclose(both[1], [float(d_scale)] * 2, rtol=1e-5)


def test_inside_scan_to_second_order() -> None:
    def f(x: Any) -> Any:
        c, ys = lax.scan(lambda c, a: (power(c * 0.01 * a + 1.2), c), x, np.array([1.0, 2.0]))
        return c + ys.sum()

    def python(x: float) -> float:
        c, total = x, 0.0
        for a in (1.0, 2.0):
            total += c
            y = v = c * 0.01 * a + 1.2
            while y < 100:
                y *= v
            c = y
        return c + total

    h = 1e-4
    slope = (python(1.3 + h) - python(1.3 - h)) / (2 * h)
    curvature = (python(1.3 + h) - 2 * python(1.3) + python(1.3 - h)) / h**2
    assert float(nl.jit(nl.grad(f))(1.3)) == pytest.approx(slope, rel=1e-4)
    assert float(nl.jit(nl.grad(nl.grad(f)))(1.3)) == pytest.approx(curvature, rel=1e-3)


def test_lanes_that_stopped_leak_no_nan() -> None:
    # At 0 the step sqrt(x) * scale has no finite derivative; lane 0 stops there at once.
    def f(x: Any, scale: Any) -> Any:
        body = lambda s: (np.sqrt(s[0]) * scale, s[1] - 1)
        return lax.while_loop(lambda s: s[1] > 0, body, (x, (x > 0) * 3), max_steps=5)[0]

    xs = np.array([4.0, 1.0])
    for fun in (
        nl.grad(lambda s: nl.vmap(f, (0, None))(xs, s).sum()),
        lambda s: nl.vmap(nl.grad(f, 1), (0, None))(xs, s).sum(),
    ):
        assert numpy.isfinite(fun(1.5))


def test_memory_grows_with_the_root_of_the_bound() -> None:
    def f(x: Any, n: Any, limit: int) -> Any:
        body = lambda s: (np.sin(s[0]), s[1] + 1)
        return lax.while_loop(lambda s: s[1] < n, body, (x, 0), max_steps=limit)[0].sum()

    sizes = []
    for limit in (100, 10_000):
        step = nl.jit(nl.grad(f), static_argnums=2)
        compiled = step.lower(np.ones(1000), 3, limit).compile()
        sizes.append(compiled.memory_analysis().temp_size_in_bytes)
    assert sizes[1] < 15 * sizes[0]  # 100 times as many steps
    assert sizes[1] < 3 * 100 * 4000


def test_the_graph_keeps_its_structure_under_disable_jit() -> None:
    with nl.disable_jit():
        assert float(power(10.0, 1)) == 100.0
        assert numpy.isnan(power(1.5, 3))


def test_reverse_mode_without_bound_says_what_to_do() -> None:
    loop = lambda x: lax.while_loop(lambda v: v < 3.0, lambda v: v * 2, x)
    with pytest.raises(errors.GradError, match="max_steps=N"):
        nl.grad(loop)(1.0)
    assert float(nl.jvp(loop, (1.0,), (1.0,))[1]) == 4.0


@pytest.mark.parametrize("bad", [-1, 2.5, 2**31, "many"])
def test_max_steps_must_be_a_known_int(bad: Any) -> None:
    with pytest.raises(errors.ValueArgumentError, match="max_steps"):
        lax.while_loop(lambda v: v < 3, lambda v: v, 1, max_steps=bad)
    with pytest.raises(errors.ValueArgumentError, match="known while tracing"):
        nl.jit(lambda n: power(2.0, n))(5)


def test_weak_carry_settles() -> None:
    out = lax.while_loop(lambda v: v < 3, lambda v: v + np.float32(1), 0)
    assert out.dtype == numpy.float32
