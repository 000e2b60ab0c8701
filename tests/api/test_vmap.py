"""vmap as users call it: axes, trees, names, errors, compositions."""

from __future__ import annotations

import functools

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax

X = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)


def equal(found, expected) -> None:
    numpy.testing.assert_allclose(found, expected, rtol=1e-6)


def test_one_argument() -> None:
    equal(nl.vmap(lambda r: r.sum())(X), X.sum(1))
    equal(nl.vmap(lambda r: r.sum(), in_axes=1)(X), X.sum(0))
    equal(nl.vmap(lambda r: r.sum(), in_axes=-1)(X), X.sum(0))


@pytest.mark.parametrize("in_axes", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("out_axes", [0, 1, 2, -1, -2, -3])
def test_in_and_out_axes(in_axes: int, out_axes: int) -> None:
    x = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
    found = nl.vmap(lambda r: r * 2, in_axes=in_axes, out_axes=out_axes)(x)
    equal(found, numpy.moveaxis(2 * x, in_axes, out_axes))


def test_arguments_without_a_batch() -> None:
    equal(nl.vmap(lambda r, s: r * s, in_axes=(0, None))(X, 2.0), 2 * X)
    equal(nl.vmap(lambda r, s: r * s, in_axes=(None, 0))(2.0, X[:, 0]), 2 * X[:, 0])
    equal(nl.vmap(lambda r: r, in_axes=None, axis_size=3)(1.0), [1, 1, 1])
    equal(nl.vmap(lambda: 2.0, axis_size=2)(), [2, 2])


def test_results_without_a_batch() -> None:
    a, b = nl.vmap(lambda r: (r, 1.0), out_axes=(0, None))(X)
    assert a.shape == (2, 3) and b.shape == ()
    equal(nl.vmap(lambda r: np.ones(2))(X), numpy.ones((2, 2)))
    equal(nl.vmap(lambda r: np.ones(2), out_axes=1)(X), numpy.ones((2, 2)))


def test_trees_of_arguments_and_axes() -> None:
    def f(p, x):
        return {"y": p["w"] * x, "b": p["b"]}

    p = {"w": np.ones((3, 2)), "b": 5.0}
    found = nl.vmap(f, in_axes=({"w": 1, "b": None}, 0), out_axes={"y": 1, "b": None})(p, X)
    equal(found["y"], X.T)
    equal(found["b"], 5)
    found = nl.vmap(f, in_axes=({"w": 1, "b": None}, 0))(p, X)
    equal(found["b"], [5, 5])


def test_keyword_arguments_are_batched_over_axis_0() -> None:
    equal(nl.vmap(lambda r, *, s: r * s)(X, s=numpy.asarray([1.0, 2.0], "f4")), X * [[1], [2]])
    equal(nl.vmap(lambda r, s: r * s, in_axes=(0,))(X, s=numpy.ones(2, "f4")), X)


def test_none_in_trees() -> None:
    found = nl.vmap(lambda t: (t[0], None))((X, None))
    equal(found[0], X)
    assert found[1] is None


def test_scalars_have_no_batch_axis() -> None:
    with pytest.raises(errors.VmapError, match=r"in_axes=0 is out of range.*0 axes"):
        nl.vmap(lambda r, s: r * s)(X, 2.0)


@pytest.mark.parametrize(
    "call, match",
    [
        (
            lambda: nl.vmap(lambda a, b: a)(X, X.T),
            r"(?s)one size.*axis 0 of size 2.*axis 0 of size 3",
        ),
        (lambda: nl.vmap(lambda a: a, in_axes=2)(X), "out of range"),
        (lambda: nl.vmap(lambda a: a, in_axes=-3)(X), "out of range"),
        (lambda: nl.vmap(lambda a: a, in_axes=None)(X), "axis_size"),
        (lambda: nl.vmap(lambda a: a, axis_size=3)(X), "axis_size=3"),
        (lambda: nl.vmap(lambda a, b: a, in_axes=(0,))(X, X), "in_axes has 1 entries"),
        (lambda: nl.vmap(lambda a: a, in_axes=({"a": 0},))(X), "does not fit"),
        (lambda: nl.vmap(lambda a: a, in_axes=(True,))(X), "ints and None"),
        (lambda: nl.vmap(lambda a: a, out_axes=None)(X), "depends on the batch"),
        (lambda: nl.vmap(lambda a: a, out_axes=(0, 1))(X), "out_axes does not fit"),
        (lambda: nl.vmap(lambda a: a, out_axes=5)(X), "out of range"),
    ],
)
def test_mistakes(call, match) -> None:
    with pytest.raises(errors.VmapError, match=match):
        call()


def test_what_is_no_function_or_array() -> None:
    with pytest.raises(TypeError, match="expected a function"):
        nl.vmap(3)
    with pytest.raises(TypeError, match="in_axes"):
        nl.vmap(np.sin, in_axes="rows")
    with pytest.raises(TypeError, match="argument 0"):
        nl.vmap(np.sin)("text")


def test_nested() -> None:
    x, y, z = (numpy.arange(n, dtype=numpy.float32) for n in (2, 3, 4))
    f = nl.vmap(
        nl.vmap(nl.vmap(lambda a, b, c: a * 100 + b * 10 + c, (None, None, 0)), (None, 0, None)),
        (0, None, None),
    )
    equal(f(x, y, z), x[:, None, None] * 100 + y[:, None] * 10 + z)


@pytest.mark.parametrize("wrap", [lambda f: f, nl.jit], ids=["plain", "jit"])
def test_gradients_per_example(wrap) -> None:
    def loss(w, x, y):
        return (np.dot(w, x) - y) ** 2

    w = numpy.asarray([1.0, -1.0, 2.0], "f4")
    y = numpy.asarray([1.0, 2.0], "f4")
    found = wrap(nl.vmap(nl.grad(loss), in_axes=(None, 0, 0)))(w, X, y)
    equal(found, 2 * (X @ w - y)[:, None] * X)
    total = nl.grad(lambda w: nl.vmap(functools.partial(loss, w))(X, y).sum())(w)
    equal(total, found.sum(0))
    assert wrap(nl.vmap(nl.hessian(loss), in_axes=(None, 0, 0)))(w, X, y).shape == (2, 3, 3)


def test_closures_over_outer_batches() -> None:
    def outer(a):
        return nl.vmap(lambda b: a * b)(np.arange(3.0))

    equal(nl.vmap(outer)(np.arange(2.0)), numpy.outer(numpy.arange(2), numpy.arange(3)))
    equal(nl.grad(lambda a: outer(a).sum())(1.0), 3)
    equal(nl.jit(nl.vmap(nl.grad(lambda a: outer(a * a).sum())))(np.arange(2.0)), [0, 6])


def test_named_axes() -> None:
    equal(
        nl.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(np.arange(3.0)), numpy.arange(3) / 3
    )
    equal(nl.vmap(lambda x: lax.axis_index("i") * x, axis_name="i")(np.ones(3)), [0, 1, 2])
    two = nl.vmap(
        nl.vmap(lambda x: lax.psum(x, ("i", "j")) + lax.pmax(x, "j"), axis_name="j"), axis_name="i"
    )
    equal(two(X), X.sum() + X.max(1, keepdims=True) * numpy.ones((2, 3)))
    with pytest.raises(NameError, match="'k'"):
        nl.vmap(lambda x: lax.psum(x, "k"), axis_name="i")(np.ones(3))
    equal(nl.vmap(nl.jit(lambda x: lax.psum(x, "i")), axis_name="i")(np.ones(3)), [3, 3, 3])
    slope = nl.grad(lambda x: nl.vmap(lambda v: lax.psum(v, "i") * v, axis_name="i")(x).sum())
    equal(slope(np.arange(3.0)), [6, 6, 6])


def test_integers_bools_and_complex_numbers() -> None:
    n = numpy.arange(6).reshape(2, 3)
    assert nl.vmap(lambda r: r.sum())(n).dtype == "int32"
    equal(nl.vmap(lambda r: (r > 2).any())(n), [False, True])
    equal(nl.vmap(lambda r: (r * 1j).sum())(X), 1j * X.sum(1))


def test_indexing_with_batches() -> None:
    table = np.arange(10.0)
    equal(nl.vmap(lambda i: table[i])(np.asarray([3, 1, 4])), [3, 1, 4])
    equal(nl.vmap(lambda r, i: r[i])(X, np.asarray([2, 0])), [2, 3])
    found = nl.vmap(lambda r, i: r.at[i].set(-1.0))(X, np.asarray([2, 0]))
    equal(found, [[0, 1, -1], [-1, 4, 5]])


def test_names_are_kept() -> None:
    def loss(x):
        """Its text."""
        return x

    assert nl.vmap(loss).__name__ == "loss"


def test_in_axes_as_a_list() -> None:
    equal(nl.vmap(lambda a, b: a + b, in_axes=[0, None])(X, 1.0), X + 1)


def test_random_numbers_per_example() -> None:
    keys = nl.random.split(nl.random.key(0), 4)
    found = nl.vmap(nl.random.normal)(keys)
    equal(found, [float(nl.random.normal(k)) for k in keys])
    found = nl.vmap(lambda k: nl.random.split(k, 2))(keys)
    assert found.shape == (4, 2)
