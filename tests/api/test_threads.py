"""Many threads trace, compile and run at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy

import numlift as nl
import numlift.numpy as np
from numlift.core.tracing import EVAL, current

WORKERS = 8


def at_once(f) -> list:
    """f(0), f(1), ... started together in threads; their results."""
    barrier = threading.Barrier(WORKERS)

    def start(i: int):
        barrier.wait()
        return f(i)

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(start, range(WORKERS)))


def test_one_function_from_many_threads() -> None:
    f = nl.jit(lambda x: np.sin(x) * x + 1.0)
    found = at_once(lambda i: [float(f(float(i))) for _ in range(5)])
    for i, values in enumerate(found):
        numpy.testing.assert_allclose(values, numpy.sin(i) * i + 1, rtol=1e-5)


def test_many_types_from_many_threads() -> None:
    f = nl.jit(lambda x: nl.vmap(nl.grad(lambda v: v**3))(x))
    found = at_once(lambda i: [f(np.full(1 + (i + j) % 4, float(i))) for j in range(4)])
    for i, results in enumerate(found):
        for j, x in enumerate(results):
            numpy.testing.assert_allclose(x, numpy.full(1 + (i + j) % 4, 3.0 * i * i), rtol=1e-6)


def test_transformations_do_not_see_each_other() -> None:
    def work(i: int):
        for _ in range(10):
            value, slope = nl.value_and_grad(lambda x: np.sum(nl.vmap(np.sin)(x * i)))(np.ones(3))
        return float(value), numpy.asarray(slope), current.get() is EVAL

    for i, (value, slope, at_rest) in enumerate(at_once(work)):
        numpy.testing.assert_allclose(value, 3 * numpy.sin(i), rtol=1e-5)
        numpy.testing.assert_allclose(slope, numpy.full(3, i * numpy.cos(i)), rtol=1e-5, atol=1e-6)
        assert at_rest


def test_flags_belong_to_a_thread() -> None:
    f = nl.jit(lambda x: x + np.ones(2))

    def work(i: int):
        if i % 2:
            with nl.enable_x64():
                return [str(f(1.0).dtype) for _ in range(10)]
        return [str(f(1.0).dtype) for _ in range(10)]

    for i, dtypes in enumerate(at_once(work)):
        assert set(dtypes) == {"float64" if i % 2 else "float32"}


def test_eager_operations_from_many_threads() -> None:
    nl.clear_caches()
    found = at_once(lambda i: float(np.sum(np.sort(np.asarray([3.0, i, 1.0])) * 2.0)))
    assert found == [2.0 * (4 + i) for i in range(WORKERS)]


def test_caches_cleared_while_others_run() -> None:
    f = nl.jit(lambda x: x * 2.0)

    def work(i: int):
        for _ in range(20):
            if i == 0:
                nl.clear_caches()
                f.clear_cache()
            assert float(f(float(i))) == 2.0 * i
            assert float(np.sin(0.0)) == 0.0
        return True

    assert all(at_once(work))


def test_a_nested_function_traced_by_many() -> None:
    inner = nl.jit(lambda x: np.sin(x) * np.cos(x))
    outers = [nl.jit(lambda x, i=i: inner(x) + inner(x + i)) for i in range(WORKERS)]
    found = at_once(lambda i: float(outers[i](0.5)))
    g = lambda x: numpy.sin(x) * numpy.cos(x)
    numpy.testing.assert_allclose(found, [g(0.5) + g(0.5 + i) for i in range(WORKERS)], rtol=1e-5)


def test_a_trace_does_not_catch_work_of_another_thread() -> None:
    inside, done = threading.Event(), threading.Event()
    other: list = []

    def elsewhere() -> None:
        inside.wait(10)
        other.append(float(np.sin(0.5) * 2.0))
        done.set()

    thread = threading.Thread(target=elsewhere)
    thread.start()

    @nl.jit
    def f(x):
        inside.set()
        assert done.wait(30)
        return x + 1.0

    assert float(f(1.0)) == 2.0
    thread.join()
    numpy.testing.assert_allclose(other, [2 * numpy.sin(0.5)], rtol=1e-6)
