"""`x.at[index]` against NumPy's in-place updates, and its options."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
import numlift.numpy as nnp
from numlift import errors, lax

from .test_indexing import INDICES, A, X, name, valid

V = np.arange(5, dtype=np.float32)


def total(x):
    return lax.reduce_sum(x, (0,))


@pytest.mark.parametrize("index", [i for i in INDICES if valid(i)][::2], ids=name)
def test_updates_agree_with_numpy(index) -> None:
    shape = X[index].shape
    values = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) + 1
    x = nl.device_put(X)
    want = X.copy()
    np.add.at(want, index, values)
    np.testing.assert_array_equal(x.at[index].add(values), want)
    np.testing.assert_array_equal(nl.jit(lambda x, v: x.at[index].add(v))(X, values), want)
    want = X.copy()
    want[index] = -7
    np.testing.assert_array_equal(x.at[index].set(-7), want)
    np.testing.assert_array_equal(nl.jit(lambda x: x.at[index].set(-7))(X), want)


@pytest.mark.parametrize(
    ("method", "ufunc"),
    [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("mul", np.multiply),
     ("divide", np.divide), ("power", np.power), ("min", np.minimum), ("max", np.maximum)],
)  # fmt: skip
def test_every_method_applies_repeated_updates(method, ufunc) -> None:
    for index in (np.array([3, 1, 3]), slice(1, 4), slice(None, None, 2)):
        want = V.copy()
        ufunc.at(want, index, np.float32(2))
        got = getattr(nl.device_put(V).at[index], method)(2.0)
        np.testing.assert_allclose(got, want)
        got = nl.jit(lambda x, i=index: getattr(x.at[i], method)(2.0))(V)
        np.testing.assert_allclose(got, want)


def test_apply() -> None:
    x = nl.device_put(V)
    np.testing.assert_array_equal(
        x.at[np.array([2, 2, 3])].apply(lambda v: v * 10), [0, 1, 200, 30, 4]
    )
    np.testing.assert_allclose(x.at[1:3].apply(nnp.exp), x.at[1:3].set(np.exp(V[1:3])), 1e-6)
    np.testing.assert_array_equal(x.at[V > 2].apply(lambda v: v * 2), [0, 1, 2, 6, 8])


def test_traced_masks() -> None:
    mask = np.array([0, 1, 0, 1, 1], bool)
    for f, want in (
        (lambda x, m: x.at[m].set(9), [0, 9, 2, 9, 9]),
        (lambda x, m: x.at[m].set(x * 10), [0, 10, 2, 30, 40]),
        (lambda x, m: x.at[m].add(1), [0, 2, 2, 4, 5]),
        (lambda x, m: x.at[m].divide(2), [0, 0.5, 2, 1.5, 2]),
        (lambda x, m: x.at[m].apply(lambda v: v + 1), [0, 2, 2, 4, 5]),
        (lambda x, m: x.at[m, ...].set(9), [0, 9, 2, 9, 9]),
    ):
        np.testing.assert_allclose(nl.jit(f)(V, mask), want)
    rows = nl.jit(lambda x, m: x.at[m].set(np.arange(3.0)))(np.zeros((2, 3), np.float32), mask[:2])
    np.testing.assert_array_equal(rows, [[0, 0, 0], [0, 1, 2]])
    with pytest.raises(errors.NonConcreteBooleanIndexError, match="where"):
        nl.jit(lambda x, m: x.at[m].set(np.arange(3.0)))(V, mask)
    with pytest.raises(errors.NonConcreteBooleanIndexError, match="where"):
        nl.jit(lambda x, m: x.at[m].get())(V, mask)


def test_indices_out_of_bounds() -> None:
    x, far = nl.device_put(V), np.array([7, -7, -1])
    np.testing.assert_array_equal(x.at[far].set(9), [0, 1, 2, 3, 9])
    np.testing.assert_array_equal(x.at[far].set(9, mode="clip"), [9, 1, 2, 3, 9])
    np.testing.assert_array_equal(x.at[7].set(9), V)
    np.testing.assert_array_equal(x.at[7].set(9, mode="clip"), [0, 1, 2, 3, 9])
    np.testing.assert_array_equal(nl.jit(lambda x, i: x.at[i].add(1))(V, 7), V)
    assert float(x.at[20].get()) == 4
    assert np.isnan(x.at[20].get(mode="fill"))
    assert float(x.at[20].get(mode="fill", fill_value=-1)) == -1
    np.testing.assert_array_equal(x.at[far].get(mode="fill", fill_value=3), [3, 3, 4])
    with pytest.raises(errors.ValueArgumentError, match="promise_in_bounds"):
        x.at[far].get(mode="wrap")


def test_without_negative_indices() -> None:
    x = nl.device_put(V)
    got = x.at[np.array([-1, 2])].get(wrap_negative_indices=False, mode="fill")
    np.testing.assert_array_equal(got, [np.nan, 2])
    np.testing.assert_array_equal(x.at[-1].set(9, wrap_negative_indices=False), V)
    np.testing.assert_array_equal(x.at[-1].set(9), [0, 1, 2, 3, 9])
    got = x.at[np.array([-1, 2])].set(9, wrap_negative_indices=False)
    np.testing.assert_array_equal(got, [0, 1, 9, 3, 4])


@pytest.mark.parametrize(
    ("dtype", "value", "want"),
    [("int32", 1.5, 1), ("float32", 1j, 0), ("bool", 2, True), ("int8", np.int32(300), 44),
     ("bfloat16", np.float32(3), 3)],
)  # fmt: skip
def test_values_that_lose_information_warn(dtype, value, want) -> None:
    x = nl.device_put(np.zeros(2)).astype(dtype)
    with pytest.warns(FutureWarning, match="do not fit"):
        out = x.at[0].set(value)
    assert out.dtype == x.dtype
    assert np.asarray(out)[0] == want


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("float32", 3), ("float32", np.float64(3)), ("complex64", 3.0), ("uint8", 3)],
)
def test_values_that_fit_do_not_warn(dtype, value) -> None:
    assert np.asarray(nl.device_put(np.zeros(2, dtype)).at[0].set(value))[0] == 3


def test_values_broadcast() -> None:
    x = nl.device_put(np.zeros((2, 3), np.float32))
    np.testing.assert_array_equal(x.at[:, 0].set(np.ones(2)), [[1, 0, 0]] * 2)
    np.testing.assert_array_equal(x.at[0].set(np.ones((1, 3))), [[1, 1, 1], [0, 0, 0]])
    with pytest.raises(errors.ShapeError, match=r"values of shape \(2,\) do not broadcast"):
        x.at[0].set(np.ones(2))


def test_derivatives() -> None:
    def loss(x, v, index):
        return total(x.at[index].set(v) * np.arange(1, 6, dtype=np.float32))

    dx, dv = nl.grad(loss, (0, 1))(V, np.ones(2, np.float32), np.array([3, 0]))
    np.testing.assert_array_equal(dx, [0, 2, 3, 0, 5])
    np.testing.assert_array_equal(dv, [4, 1])
    dx, dv = nl.grad(loss, (0, 1))(V, np.ones(3, np.float32), slice(None, None, 2))
    np.testing.assert_array_equal(dx, [0, 2, 0, 4, 0])
    np.testing.assert_array_equal(dv, [1, 3, 5])
    index = np.array([1, 3])
    unique = nl.grad(lambda x: total(x.at[index].apply(lambda v: v * v, unique_indices=True)))
    np.testing.assert_array_equal(unique(V), [1, 2, 1, 6, 1])
    basic = nl.grad(lambda x: total(x.at[1].apply(lambda v: v * v)))
    np.testing.assert_array_equal(basic(V), [1, 2, 1, 1, 1])


def test_vmap_with_indices() -> None:
    x, i = np.zeros((3, 4), np.float32), np.array([1, 3, 9])
    out = nl.vmap(lambda x, i: x.at[i].add(1))(x, i)
    np.testing.assert_array_equal(out, [[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    out = nl.vmap(lambda i: nl.device_put(X[0]).at[i].set(0.0))(A)
    want = np.stack([X[0]] * 3)
    want[np.arange(3), A] = 0
    np.testing.assert_array_equal(out, want)


def test_a_number_that_does_not_fit_is_an_error():
    x = nnp.arange(3)
    with pytest.raises(OverflowError, match="does not fit into int32"):
        x.at[1].set(300_000_000_000)
    with pytest.raises(OverflowError, match="-1 does not fit into uint8"):
        x.astype("uint8").at[0].set(-1)
    with pytest.raises(OverflowError, match="300 does not fit into int8"):
        x.astype("int8").at[0].set(300)
