"""take, take_along_axis, put_along_axis, ix_ and raveled indices."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
import numlift.numpy as nnp
from numlift import errors, lax

V = np.arange(5, dtype=np.float32)
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("indices", [1, [1, 0], [[0, 1], [1, 1]]], ids=str)
def test_take(axis, indices) -> None:
    want = np.take(X, indices, axis)
    np.testing.assert_array_equal(nnp.take(X, indices, axis), want)
    got = nl.jit(lambda x, i: nnp.take(x, i, axis))(X, np.asarray(indices))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("mode", "want"), [("fill", [np.nan, 4, np.nan]), ("clip", [4, 0, 0]), ("wrap", [2, 4, 3])]
)
def test_modes_of_take(mode, want) -> None:
    np.testing.assert_array_equal(nnp.take(V, np.array([7, -1, -7]), mode=mode), want)


@pytest.mark.parametrize("indices", [7, -6, [0, 5], np.array([[-6], [0]])], ids=str)
@pytest.mark.parametrize("mode", [None, "raise"])
def test_known_indices_out_of_bounds_raise(indices, mode) -> None:
    for call in (
        lambda: nnp.take(V, indices, mode=mode),
        lambda: nl.jit(lambda x: nnp.take(x, indices, mode=mode))(V),
        lambda: nnp.take(np.ones((3, 5)), indices, axis=1, mode=mode),
    ):
        with pytest.raises(IndexError, match="out of bounds for (an array|axis 1) with size 5"):
            call()
    assert nnp.take(V, [4, -5], mode=mode).tolist() == [4.0, 0.0]
    device = nnp.asarray(indices)
    assert np.isnan(nnp.take(V, device)).any()
    with pytest.raises(ValueError, match="Python knows only"):
        nnp.take(V, device, mode="raise")


def test_take_of_narrow_indices() -> None:
    x = np.arange(300)
    np.testing.assert_array_equal(nnp.take(x, np.array([255], np.uint8), mode="wrap"), [255])
    np.testing.assert_array_equal(nnp.take(x, np.array([-1], np.int8)), [299])
    np.testing.assert_array_equal(nnp.take(V, np.array([9]), mode="fill", fill_value=2), [2])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nnp.take(V, 0, axis=2), errors.AxisError, "out of range"),
        (lambda: nnp.take(V, np.array([1.0])), errors.DTypeError, "integers"),
        (lambda: nnp.take(V[:0], np.array([0])), IndexError, "size 0"),
        (lambda: nnp.take(V, nnp.array(0), mode="raise"), ValueError, "raise"),
        (lambda: nnp.take(V, 0, out=V), TypeError, "out"),
        (lambda: nnp.take_along_axis(X, np.array([0]), 1), ValueError, "as many axes"),
        (lambda: nnp.put_along_axis(V, np.array([0]), 1.0, 0), ValueError, "inplace"),
        (lambda: nnp.ix_(X), ValueError, "vector"),
        (lambda: nnp.ravel_multi_index((1, 7), (3, 4)), ValueError, "axis 1 with size 4"),
        (lambda: nnp.ravel_multi_index((1,), (3, 4)), ValueError, "each of 2 axes"),
        (lambda: nnp.unravel_index(1.5, (3,)), TypeError, "integers"),
        (lambda: nl.jit(lambda i: nnp.ravel_multi_index((i,), (3,)))(0), TypeError, "known"),
    ],
)
def test_errors(call, error, text) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("axis", [0, 1, 2, -1, None])
def test_along_an_axis(axis) -> None:
    indices = np.argsort(-X, axis=axis) if axis is not None else np.argsort(-X, axis=None)
    want = np.take_along_axis(X, indices, axis)
    np.testing.assert_array_equal(nnp.take_along_axis(X, indices, axis), want)
    got = nl.jit(lambda x, i: nnp.take_along_axis(x, i, axis))(X, indices)
    np.testing.assert_array_equal(got, want)
    put = X.copy()
    np.put_along_axis(put, indices, -want, axis)
    got = nnp.put_along_axis(X, indices, -want, axis, inplace=False)
    np.testing.assert_array_equal(got, put)


@pytest.mark.parametrize("shape", [(1, 2, 1), (2, 2, 1), (1, 2, 4), (2, 1, 4)])
def test_along_an_axis_the_others_broadcast(shape) -> None:
    indices = np.arange(np.prod(shape)).reshape(shape) % 3
    want = np.take_along_axis(X, indices, 1)
    np.testing.assert_array_equal(nnp.take_along_axis(X, indices, 1), want)
    one = X[:1]
    np.testing.assert_array_equal(
        nnp.take_along_axis(one, indices, 1), np.take_along_axis(one, indices, 1)
    )
    put = X.copy()
    np.put_along_axis(put, indices, 5.0, 1)
    np.testing.assert_array_equal(nnp.put_along_axis(X, indices, 5.0, 1, inplace=False), put)


def test_along_an_axis_out_of_bounds() -> None:
    far = np.array([7, -1, -7])
    np.testing.assert_array_equal(nnp.take_along_axis(V, far, 0, "fill"), [np.nan, 4, np.nan])
    np.testing.assert_array_equal(nnp.take_along_axis(V, nnp.array(far), 0), [np.nan, 4, np.nan])
    np.testing.assert_array_equal(nnp.take_along_axis(V, far, 0, mode="clip"), [4, 4, 0])
    for indices, mode in ((far, "drop"), (nnp.array(far), None)):
        got = nnp.put_along_axis(V, indices, 9.0, 0, inplace=False, mode=mode)
        np.testing.assert_array_equal(got, [0, 1, 2, 3, 9])
    with pytest.raises(IndexError, match="take_along_axis: index -7 is out of bounds for axis 0"):
        nnp.take_along_axis(V, far, 0)
    with pytest.raises(IndexError, match="put_along_axis: index -7 is out of bounds"):
        nnp.put_along_axis(V, far, 9.0, 0, inplace=False)


def test_derivatives_and_batches() -> None:
    indices = np.array([[0, 0], [1, 2]])
    x = X[0, :2, :3]

    def loss(x):
        return lax.reduce_sum(nnp.take_along_axis(x, indices, 1) * np.float32(2), (0, 1))

    grad = nl.grad(loss)(x)
    np.testing.assert_array_equal(grad, [[4, 0, 0], [0, 2, 2]])
    got = nl.vmap(lambda x, i: nnp.take(x, i))(x, indices)
    np.testing.assert_array_equal(got, np.take_along_axis(x, indices, 1))


def test_ix() -> None:
    rows, columns = nnp.ix_([0, 2], np.array([True, False, True, True]))
    np.testing.assert_array_equal(
        nl.device_put(X[0])[rows, columns], X[0][np.ix_([0, 2], [0, 2, 3])]
    )


@pytest.mark.parametrize("shape", [(3, 4), (7,), (2, 3, 4), (30, 40)])
def test_raveled_indices_go_both_ways(shape) -> None:
    flat = np.arange(np.prod(shape))
    found = nnp.unravel_index(flat, shape)
    for got, want in zip(found, np.unravel_index(flat, shape), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(nnp.ravel_multi_index(found, shape), flat)


def test_raveled_indices_out_of_bounds() -> None:
    found = nnp.unravel_index(nnp.array([1, 30, -1, -30]), (3, 4))
    np.testing.assert_array_equal(np.stack(found), [[0, 2, 2, 0], [1, 3, 3, 0]])
    for known in (12, [1, 30], np.array([-13])):
        with pytest.raises(ValueError, match="out of bounds for an array with size 12"):
            nnp.unravel_index(known, (3, 4))
    pair = (np.array([1, 2]), np.array([1, 7]))
    np.testing.assert_array_equal(nnp.ravel_multi_index(pair, (3, 4), "clip"), [5, 11])
    np.testing.assert_array_equal(nnp.ravel_multi_index(pair, (3, 4), "wrap"), [5, 11])
    assert int(nnp.ravel_multi_index((1, 2), (3, 4), order="F")) == 7
    assert nnp.ravel_multi_index((1, 2), (3, 4), dtype="int8").dtype == np.int8


@pytest.mark.parametrize("read", [
    lambda x, fill: nnp.take(x, 9, mode="fill", fill_value=fill),
    lambda x, fill: x.at[9].get(mode="fill", fill_value=fill),
    lambda x, fill: nl.jit(lambda y: y.at[9].get(mode="fill", fill_value=fill))(x),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_sign_of_a_zero_that_fills_is_kept(read, dtype: str) -> None:
    x = nnp.ones(3, dtype)
    signs = [np.signbit(np.asarray(read(x, fill), np.float32)) for fill in (0.0, -0.0, 0.0)]
    assert signs == [False, True, False]
    assert read(x, np.float32(-0.0)) == 0
    assert float(nl.grad(lambda y: read(y, -0.0))(nnp.ones(3)).sum()) == 0
