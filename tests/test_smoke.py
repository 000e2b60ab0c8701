"""A few fast tests that cross every part. CI also runs them on the newest Python and jaxlib."""

from __future__ import annotations

import sys

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax, random

pytestmark = pytest.mark.smoke


def loss(params, x, y):
    for w, b in params:
        x = np.tanh(x @ w + b)
    return np.mean((x - y) ** 2)


@pytest.fixture
def network():
    keys = random.split(random.key(0), 3)
    params = [(random.normal(k, (3, 3)) * 0.5, np.zeros(3)) for k in keys[:2]]
    return params, random.normal(keys[2], (5, 3)), np.ones((5, 3))


def test_no_other_library_is_loaded() -> None:
    assert "jax" not in sys.modules


def test_eager_numpy_calls_equal_numpy(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(3, 4)).astype(numpy.float32)
    numpy.testing.assert_allclose(np.sum(np.sin(x), axis=1), numpy.sin(x).sum(1), rtol=1e-5)
    numpy.testing.assert_array_equal(np.sort(x, axis=0)[::-1], numpy.sort(x, axis=0)[::-1])
    numpy.testing.assert_allclose(x @ np.asarray(x.T), x @ x.T, rtol=1e-5)


def test_jit_equals_eager(network) -> None:
    numpy.testing.assert_allclose(nl.jit(loss)(*network), loss(*network), rtol=1e-5)


def test_gradient_equals_finite_differences(network) -> None:
    params, x, y = network
    gradient = nl.jit(nl.grad(loss, argnums=1))(params, x, y)
    direction = numpy.ones(x.shape, numpy.float32)
    step = 1e-2
    up, down = loss(params, x + step * direction, y), loss(params, x - step * direction, y)
    numpy.testing.assert_allclose(np.sum(gradient), (up - down) / (2 * step), rtol=2e-2, atol=1e-4)


def test_python_control_flow_under_grad() -> None:
    def f(x):
        while x < 10.0:
            x = x * x
        return x

    assert float(nl.grad(f)(2.0)) == 32.0


def test_vmap_of_grad_of_scan() -> None:
    def last(x):
        return lax.scan(lambda c, _: (c * x, c), 1.0, None, length=3)[0]

    xs = np.asarray([1.0, 2.0, 3.0])
    numpy.testing.assert_allclose(nl.vmap(nl.grad(last))(xs), 3 * numpy.asarray(xs) ** 2, rtol=1e-6)


def test_hessian_of_a_quadratic() -> None:
    a = numpy.asarray([[2.0, 1.0], [1.0, 3.0]], numpy.float32)
    hessian = nl.hessian(lambda x: 0.5 * x @ a @ x)(np.ones(2))
    numpy.testing.assert_allclose(hessian, a, rtol=1e-6)


def test_sharded_sum_over_all_devices() -> None:
    mesh = nl.make_mesh((len(nl.devices()),), ("i",))
    sharding = nl.NamedSharding(mesh, nl.P("i"))
    x = nl.device_put(np.arange(8.0 * len(nl.devices())), sharding)
    assert x.sharding == sharding
    assert float(nl.jit(np.sum)(x)) == float(numpy.arange(8.0 * len(nl.devices())).sum())


def test_typed_errors_teach() -> None:
    with pytest.raises(ValueError, match="Try:"):
        np.ones((2, 3)) + np.ones((4, 5))
