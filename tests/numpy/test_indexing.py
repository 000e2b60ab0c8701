"""`x[index]` against NumPy, on known arrays and traced, and the errors it teaches with."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
import numlift.numpy as nnp
from numlift import errors, lax

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
A, B = np.array([2, 0, -1]), np.array([[1], [-2]])
ROWS = np.array([True, False, True])

INDICES = [
    0, -1, (1, 2), (1, 2, 3), slice(None), slice(1, 3), slice(None, None, -1), slice(5, 0, -2),
    slice(2, 1), (slice(None), 1), (Ellipsis, 0), (0, Ellipsis), (Ellipsis,), (), None,
    (None, 0, None, slice(1, 3), None), (slice(None), slice(None, None, 2), slice(-2, None)),
    A, (A,), [0, 2], ([0, 1], [1, 2]), (A, 1), (slice(None), A), (A, slice(None), A),
    (A, slice(None), 2), (0, slice(None), A), (0, A), (slice(None), A, A), (Ellipsis, A),
    (A, B, 0), (B, slice(1, 3), A), (None, A), (A, None, A),
    (slice(None, None, -1), A, slice(1, 3)),
    (A, slice(None, None, 2), slice(None, None, -1)), ROWS, (ROWS, 0),
    (slice(None), np.array([True, False, True, False])), X > 30, X[..., 0] > 20,
    (X[..., 0] > 20, 1),
    True, False, (True, 0), (A, True), np.array([], int), (slice(None), np.array([], int), A[:0]),
    np.int8(1), np.array(1), (np.array(1), slice(None)), np.bool_(True), np.array(False),
]  # fmt: skip


def name(index) -> str:
    return str(index).replace("\n", "")[:40]


def valid(index) -> bool:
    try:
        X[index]
    except IndexError:
        return False
    return True


@pytest.mark.parametrize("index", [i for i in INDICES if valid(i)], ids=name)
def test_reads_agree_with_numpy(index) -> None:
    want = X[index]
    for got in (nl.device_put(X)[index], nl.jit(lambda x: x[index])(X)):
        assert got.shape == want.shape
        np.testing.assert_array_equal(got, want)


def test_malformed_mask_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="mask has size 1"):
        nl.device_put(X)[ROWS[:1]]


@pytest.mark.parametrize(
    "index",
    [
        lambda i, a: i,
        lambda i, a: (slice(None), i),
        lambda i, a: (i, slice(1, 3), i),
        lambda i, a: (slice(None, None, -2), i),
        lambda i, a: (None, i, Ellipsis, None),
        lambda i, a: a,
        lambda i, a: (a, i),
        lambda i, a: (i, slice(None), a),
        lambda i, a: (slice(None), a, B),
        lambda i, a: (Ellipsis, a),
    ],
)
def test_traced_integers_agree_with_numpy(index) -> None:
    i, a = np.int32(-1), A.astype(np.int32)
    want = X[index(i, a)]
    x, j, b = nl.device_put(X), nl.device_put(i), nl.device_put(a)
    for got in (nl.jit(lambda x, i, a: x[index(i, a)])(X, i, a), x[index(j, b)]):
        assert got.shape == want.shape
        np.testing.assert_array_equal(got, want)


def test_indices_out_of_bounds_are_clamped_where_they_cannot_be_checked() -> None:
    x = nl.device_put(np.arange(5))
    assert int(nl.jit(lambda x, i: x[i])(x, 7)) == 4
    np.testing.assert_array_equal(x[nnp.array([7, -7, -1])], [4, 0, 4])
    np.testing.assert_array_equal(x[nnp.array([7, 1])], [4, 1])


def test_iteration_and_unpacking() -> None:
    a, b, c = nl.device_put(X)
    np.testing.assert_array_equal(b, X[1])
    assert [int(v) for v in nl.device_put(np.arange(3))] == [0, 1, 2]


def test_a_loop_over_known_integers_compiles_once() -> None:
    x = nl.device_put(np.arange(7.0, dtype=np.float32).reshape(7, 1))
    from_loop = [float(x[i, 0]) for i in range(7)]
    assert from_loop == list(range(7))


def test_empty_axes() -> None:
    x = nl.device_put(np.zeros((0, 3)))
    assert x[nnp.array([], int)].shape == (0, 3)
    with pytest.raises(IndexError, match="axis 0 has size 0"):
        x[nnp.array([0])]
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 0"):
        x[0]
    with pytest.raises(IndexError, match="size 0"):
        nl.jit(lambda x, i: x[i])(x, 0)


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (3, IndexError, "index 3 is out of bounds for axis 0 with size 3"),
        ((0, -5), IndexError, "index -5 is out of bounds for axis 1 with size 4"),
        ((0, 0, 0, 0), IndexError, "too many indices: the array has 3 axes, but 4"),
        ((Ellipsis, Ellipsis), IndexError, "one ellipsis"),
        (1.0, IndexError, "not a float"),
        (np.array([1.0]), IndexError, "not an array of float64"),
        ("a", IndexError, "not a str"),
        (np.float32, IndexError, "not a type"),
        (slice(1.0, 2), TypeError, "integers or None"),
        (slice(None, None, 0), ValueError, "cannot be 0"),
        (np.array([True]), IndexError, "mask has size 1 in axis 0"),
        ((A, np.array([0, 1])), IndexError, "do not broadcast"),
    ],
    ids=name,
)
def test_errors(index, error, text) -> None:
    with pytest.raises(error, match=text):
        nl.device_put(X)[index]
    with pytest.raises(error, match=text):
        nl.jit(lambda x: x[index])(X)


def test_traced_masks_and_slice_bounds_teach() -> None:
    with pytest.raises(errors.NonConcreteBooleanIndexError, match="where"):
        nl.jit(lambda x: x[x > 1])(X)
    with pytest.raises(IndexError, match="dynamic_slice_in_dim"):
        nl.jit(lambda x, i: x[i : i + 1])(X, 1)


def test_what_is_traced() -> None:
    def lines(f, *args):
        text = str(nl.make_jaxpr(f)(*args))
        return [n for n in ("slice[", "dynamic_slice[", "gather[", "reshape[") if n in text]

    assert lines(lambda x: x[0], X) == ["slice["]
    assert lines(lambda x: x[:, 1:3, 0], X) == ["slice["]
    assert lines(lambda x, i: x[i], X, 0) == ["slice[", "dynamic_slice["]  # one is the other's tail
    assert lines(lambda x: x[A], X) == ["gather["]
    assert str(nl.make_jaxpr(lambda x, i: x[i, 1:])(X, 0)).count(" = ") == 1


def test_derivatives() -> None:
    weights = np.arange(1, 61, dtype=np.float32)

    def loss(x, index):
        part = x[index]
        return lax.reduce_sum(lax.reshape(part, (part.size,)) * weights[: part.size], (0,))

    for index in (0, (slice(None), slice(None, None, -2)), A, (A, slice(None), A), X > 30):
        want = np.zeros_like(X)
        part = X[index]
        np.add.at(want, index, weights[: part.size].reshape(part.shape))
        np.testing.assert_array_equal(nl.grad(lambda x, i=index: loss(x, i))(X), want)


def test_vmap() -> None:
    i = np.array([1, 3, -1])
    np.testing.assert_array_equal(nl.vmap(lambda x, i: x[i])(X, i), X[np.arange(3), i])
    np.testing.assert_array_equal(
        nl.vmap(lambda i: nl.device_put(X)[:, i])(i), X[:, i].swapaxes(0, 1)
    )
    np.testing.assert_array_equal(nl.vmap(lambda x: x[A], 1, 1)(X), X[A])


@pytest.mark.parametrize("index", [[0, 5], [[1], [-6]], np.array([200], "uint8"), (1, [4])])
def test_known_arrays_out_of_bounds_raise_as_in_numpy(index: object) -> None:
    x = np.arange(20).reshape(5, 4)
    with pytest.raises(IndexError):
        x[index]
    for function in (lambda x: x[index], nl.jit(lambda x: x[index])):
        with pytest.raises(errors.IndexingError, match="is out of bounds for axis"):
            function(nnp.asarray(x))


def test_indices_on_a_device_are_clamped() -> None:
    x = nnp.arange(5)
    rows = nnp.asarray([0, -6, -7, 7])
    for function in (lambda i: x[i], nl.jit(lambda i: x[i])):
        assert np.asarray(function(rows)).tolist() == [0, 0, 0, 4]
