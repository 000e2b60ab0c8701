"""Sorting, searching, nonzero and sets against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import numlift.numpy as lnp
from numlift import errors, grad, jit, jvp, vjp

same = np.testing.assert_array_equal


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_sort_and_argsort(axis, rng):
    x = rng.integers(-5, 5, (4, 30)).astype(np.float32)
    x[0, 3] = np.nan
    same(lnp.sort(x, axis), np.sort(x, axis))
    same(lnp.argsort(x, axis), np.argsort(x, axis, kind="stable"))
    down = np.argsort(-x, axis, kind="stable")
    if axis is not None:
        same(lnp.argsort(np.nan_to_num(x), axis, descending=True),
             np.argsort(-np.nan_to_num(x), axis, kind="stable"))  # fmt: skip
        assert down.shape == x.shape


def test_sort_variants():
    assert lnp.argsort([1, 2, 2, 0], descending=True).tolist() == [1, 2, 0, 3]
    assert lnp.sort([3, 1, 2], descending=True).tolist() == [3, 2, 1]
    assert lnp.lexsort(([2, 1, 1], [0, 1, 0])).tolist() == [2, 0, 1]
    assert lnp.sort_complex([2, 1]).tolist() == [1, 2]
    assert lnp.partition(np.array([3, 1, 2]), 1).tolist() == [1, 2, 3]
    assert lnp.argpartition(np.array([3, 1, 2]), -1).tolist() == [1, 2, 0]
    same(grad(lambda x: (lnp.sort(x) * np.float32([1, 2, 3])).sum())(np.float32([5, 1, 3])),
         [3, 1, 2])  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 16, 17, 1000])
def test_searchsorted_and_digitize(n, rng):
    a = np.sort(rng.integers(0, 50, n).astype(np.float32))
    v = rng.integers(-1, 52, (7, 9)).astype(np.float32)
    v[0, 0] = np.nan
    a[n - n // 8 :] = np.nan
    for side in ("left", "right"):
        same(lnp.searchsorted(a, v, side), np.searchsorted(a, v, side))
    edges = np.sort(rng.integers(0, 50, n))
    values = rng.integers(-1, 52, 7)
    for right in (False, True):
        same(lnp.digitize(values, edges, right), np.digitize(values, edges, right))
        if n > 1:
            back = edges[::-1].copy()
            same(lnp.digitize(values, back, right), np.digitize(values, back, right))


def test_searchsorted_with_sorter(rng):
    a = rng.standard_normal(20).astype(np.float32)
    order = np.argsort(a)
    v = np.float32([0, 1])
    same(lnp.searchsorted(a, v, sorter=order), np.searchsorted(a, v, sorter=order))


def test_nonzero_family(rng):
    x = rng.integers(-1, 2, (4, 5))
    for got, expected in zip(lnp.nonzero(x), np.nonzero(x), strict=True):
        same(got, expected)
    same(lnp.argwhere(x), np.argwhere(x))
    same(lnp.flatnonzero(x), np.flatnonzero(x))
    same(lnp.extract(x > 0, x), np.extract(x > 0, x))
    same(lnp.compress([True, False, True], x, axis=1), np.compress([True, False, True], x, axis=1))
    for size in (3, 30):
        got = jit(lambda v, size=size: lnp.nonzero(v, size=size, fill_value=-1))(x)
        for g, expected in zip(got, np.nonzero(x), strict=True):
            same(g, np.concatenate([expected, [-1] * 30])[:size])
    got = jit(lambda c, v: lnp.compress(c, v, axis=1, size=3, fill_value=9))
    same(got(np.array([True, False, True]), x)[:, 2], [9] * 4)
    with pytest.raises(errors.ConcretizationTypeError, match="size=n"):
        jit(lnp.nonzero)(x)
    with pytest.raises(ValueError, match="scalar"):
        lnp.nonzero(3)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_unique(axis, rng):
    x = rng.integers(0, 3 if axis is None else 2, (5, 3) if axis == 0 else (2, 6))
    expected = np.unique(x, True, True, True, axis)
    for got, e in zip(lnp.unique(x, True, True, True, axis), expected, strict=True):
        same(got, e)
    k = expected[1].size
    for size in (k, k + 2, 1):
        values, index, inverse, counts = jit(
            lambda v, size=size: lnp.unique(v, True, True, True, axis, size=size)
        )(x)
        m = min(k, size)
        same(inverse, expected[2])
        same(counts[:m], expected[3][:m])
        assert not np.asarray(counts[m:]).any()
        same(index[:m], expected[1][:m])
        at = axis or 0
        same(np.take(np.asarray(values), range(m), at), np.take(expected[0], range(m), at))


def test_unique_nan():
    x = np.float32([np.nan, 1, np.nan])
    assert lnp.unique(x).shape == lnp.unique(x, size=2).shape
    assert lnp.unique_values(x).shape == (3,)
    same(lnp.unique(x, size=3), [1, np.nan, 1])
    same(lnp.unique(x, size=3, equal_nan=False), [1, np.nan, np.nan])


def test_sets_of_float64_arrays_of_other_ranks() -> None:
    """Both arrays are narrowed, also the one that is flattened first."""
    a = np.array([[1.4467, -2.3533, 2.3967], [0.4967, -1.4033, -0.4533]])
    b = np.array([0.4967, 2.3967, -1.4033])
    for name in ("intersect1d", "setdiff1d", "setxor1d", "union1d"):
        got, expected = getattr(lnp, name)(a, b), getattr(np, name)(a, b)
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_sets():
    x, y = np.array([3, 1, 1, 5, 3, 7]), np.array([1, 5, 9])
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        same(getattr(lnp, name)(x, y), getattr(np, name)(x, y))
        expected = getattr(np, name)(x, y)
        got = jit(lambda a, b, name=name: getattr(lnp, name)(a, b, size=8))(x, y)
        same(got[: len(expected)], expected)
    values, i, j = jit(lambda a, b: lnp.intersect1d(a, b, return_indices=True, size=4))(x, y)
    assert (values.tolist(), i.tolist(), j.tolist()) == ([1, 5, 1, 1], [1, 3, 6, 6], [0, 1, 3, 3])
    assert lnp.unique_counts(x).counts.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("n", [0, 3, 40])
def test_isin(n, rng):
    x, y = rng.integers(0, 60, (5, 6)), rng.integers(0, 60, n)
    same(lnp.isin(x, y), np.isin(x, y))
    same(lnp.isin(x, y, invert=True), np.isin(x, y, invert=True))


def test_errors():
    with pytest.raises(errors.ValueArgumentError, match="side"):
        lnp.searchsorted(np.ones(2), 1.0, "middle")
    with pytest.raises(np.exceptions.AxisError):
        lnp.sort(np.float32(3))
    with pytest.raises(errors.ValueArgumentError, match="kind"):
        lnp.sort(np.ones(2), kind="fast")
    with pytest.raises(errors.ShapeError, match="empty array"):
        lnp.unique(np.ones(0), size=2)


@pytest.mark.parametrize("dtype", ["complex64", "float32", "bool"])
@pytest.mark.parametrize(("shape", "axis"), [((0,), 0), ((2, 0), 0), ((2, 0), 1), ((1, 2), 0)])
def test_nothing_to_sort(dtype, shape, axis):
    x = np.zeros(shape, dtype)
    for function in (lnp.sort, lnp.argsort):
        assert function(x, axis=axis).shape == shape
    assert lnp.lexsort((x, x), axis=axis).shape == shape


@pytest.mark.parametrize("name", ["sort", "median", "partition"])
@pytest.mark.parametrize(("shape", "axis"), [((2, 0), 0), ((0, 3), 1)])
def test_derivatives_of_sorting_nothing(name, shape, axis):
    def f(x):
        return lnp.partition(x, 0, axis) if name == "partition" else getattr(lnp, name)(x, axis)

    x = np.zeros(shape, np.float32)
    y, pull = vjp(f, x)
    assert pull(y)[0].shape == shape
    assert jvp(f, (x,), (x,))[1].shape == y.shape


def test_place_of_partition_is_told():
    with pytest.raises(ValueError, match="kth is 3, but axis 0 has size 3"):
        lnp.partition(np.arange(3), 3)
