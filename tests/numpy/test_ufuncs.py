"""Methods of universal functions against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors

X = numpy.asarray([[3.0, -1.0, 2.0], [0.5, 4.0, -2.0]], numpy.float32)
I = numpy.asarray([[6, 3, 12], [5, 9, 10]], numpy.int32)


def same(found: Any, wanted: Any) -> None:
    numpy.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize(
    "name", ["add", "multiply", "maximum", "minimum", "subtract", "hypot", "logaddexp"]
)
@pytest.mark.parametrize("axis", [0, 1])
def test_reduce_and_accumulate_floats(name: str, axis: int) -> None:
    f, g = getattr(np, name), getattr(numpy, name)
    same(f.reduce(X, axis), g.reduce(X, axis))
    same(f.reduce(X, axis, keepdims=True), g.reduce(X, axis, keepdims=True))
    same(f.accumulate(X, axis), g.accumulate(X, axis))
    same(nl.jit(f.accumulate)(X), g.accumulate(X))


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"])
def test_reduce_integers(name: str) -> None:
    f, g = getattr(np, name), getattr(numpy, name)
    same(f.reduce(I, 1), g.reduce(I, 1))
    same(f.accumulate(I, 1), g.accumulate(I, 1))


def test_reduce_options() -> None:
    same(np.add.reduce(X, None), X.sum())
    same(np.hypot.reduce(X, axis=(0, 1)), numpy.hypot.reduce(X.ravel()))
    mask = X > 0
    same(np.add.reduce(X, 1, where=mask), numpy.add.reduce(X, 1, where=mask))
    same(np.hypot.reduce(X, 1, where=mask), numpy.hypot.reduce(X, 1, where=mask))
    same(np.subtract.reduce(X, 1, initial=10.0), numpy.asarray([6.0, 7.5]))
    same(np.logical_or.reduce(X > 3, 0), numpy.logical_or.reduce(X > 3, 0))
    with pytest.raises(errors.ValueArgumentError, match="empty axis"):
        np.subtract.reduce(np.zeros(0))
    with pytest.raises(errors.ArgumentError):
        np.add.reduce(X, out=X)


@pytest.mark.parametrize("name", ["add", "subtract", "maximum"])
def test_reduceat(name: str) -> None:
    x = numpy.arange(8, dtype=numpy.float32) ** 1.5
    for indices in ([0, 4, 1, 5], [2], [0, 3, 3, 6]):
        wanted = getattr(numpy, name).reduceat(x, indices)
        same(getattr(np, name).reduceat(x, numpy.asarray(indices)), wanted)


def test_outer_and_at() -> None:
    same(np.subtract.outer(X, X[0]), numpy.subtract.outer(X, X[0]))
    for name in ("add", "multiply", "maximum", "power", "subtract", "floor_divide"):
        wanted = abs(X[0]).copy()
        getattr(numpy, name).at(wanted, [0, 2, 0], numpy.float32(1.5))
        found = getattr(np, name).at(abs(X[0]), numpy.asarray([0, 2, 0]), 1.5, inplace=False)
        same(found, wanted)
    same(np.negative.at(X[0], numpy.asarray([1]), inplace=False), [3.0, 1.0, 2.0])
    with pytest.raises(errors.ImmutableArrayError):
        np.add.at(X, 0, 1.0)


def test_frompyfunc() -> None:
    def step(x: Any, y: Any) -> Any:
        assert x.shape == ()
        return x + 2 * y

    f = np.frompyfunc(step, 2, 1, identity=0)
    assert f.nin == 2 and f.nout == 1 and f.nargs == 3 and isinstance(f, np.ufunc)
    same(f(X, X[0]), X + 2 * X[0])
    same(f.reduce(X, 1), 2 * X.sum(1))
    same(f.outer(X[0], X[1]), X[0][:, None] + 2 * X[1])
    with pytest.raises(errors.ArgumentError, match="2 arguments"):
        f(X)
