"""Slices, gather and scatter of `lax`: modes, index dtypes, derivatives at edges, errors."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
from numlift import errors, lax

X = np.arange(6, dtype=np.float32).reshape(2, 3)
V = np.arange(5, dtype=np.float32)
ELEMENT = lax.GatherDimensionNumbers((), (0,), (0,))
PLACE = lax.ScatterDimensionNumbers((), (0,), (0,))


def total(x):
    """Weighted sum, so that every element has another derivative."""
    return lax.reduce_sum(lax.mul(x, np.arange(1, 1 + x.size, dtype=np.float32)), (0,))


@pytest.mark.parametrize("start", [-9, -2, 0, 3, 9])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint32"])
def test_dynamic_start_indices_wrap_then_clamp(start, dtype) -> None:
    if start < 0 and dtype.startswith("u"):
        pytest.skip("unsigned")
    index = np.asarray(start, dtype)
    first = max(0, min(start + 5 if start < 0 else start, 3))
    want = V[first : first + 2]
    np.testing.assert_array_equal(lax.dynamic_slice(V, (index,), (2,)), want)
    np.testing.assert_array_equal(
        nl.jit(lambda x, i: lax.dynamic_slice(x, (i,), (2,)))(V, index), want
    )


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_narrow_indices_into_long_axes(dtype) -> None:
    x = np.arange(300)
    for i in (0, 100, np.iinfo(dtype).max, *([-1, -128] if dtype == "int8" else [])):
        index = np.asarray(i, dtype)
        assert int(nl.jit(lambda x, i: lax.dynamic_index_in_dim(x, i, keepdims=False))(x, index)) \
            == x[i]  # fmt: skip
    out = nl.jit(lambda x, i: lax.gather(x, i, ELEMENT, (1,), mode="clip"))(
        x, np.array([[np.iinfo(dtype).max]], dtype)
    )
    assert int(out[0]) == np.iinfo(dtype).max


def test_unsigned_indices_do_not_become_negative() -> None:
    index = np.array([2**32 - 1], np.uint32)
    out = lax.gather(V, index[:, None], ELEMENT, (1,), mode="fill", fill_value=7)
    np.testing.assert_array_equal(out, [7])
    out = lax.scatter(V, index[:, None], np.ones(1, np.float32), PLACE, mode="drop")
    np.testing.assert_array_equal(out, V)
    np.testing.assert_array_equal(lax.dynamic_slice(V, (index[0],), (2,)), V[3:])


def test_without_negative_indices() -> None:
    with pytest.raises(errors.ValueArgumentError, match="negative"):
        lax.dynamic_slice(V, (-1,), (2,), allow_negative_indices=False)
    out = nl.jit(lambda x, i: lax.dynamic_slice(x, (i,), (2,), allow_negative_indices=False))(V, -1)
    np.testing.assert_array_equal(out, V[:2])
    mixed = nl.jit(
        lambda x, i: lax.dynamic_slice(x, (i, i), (1, 1), allow_negative_indices=(True, False))
    )(X, -1)
    np.testing.assert_array_equal(mixed, X[1:, :1])


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("float32", np.nan), ("int8", -128), ("uint16", 65535), ("bool", True), ("complex64", np.nan)],
)
def test_what_fill_fills_with(dtype, value) -> None:
    out = np.asarray(lax.gather(np.zeros(3, dtype), np.array([[3]]), ELEMENT, (1,), mode="fill"))
    assert out.dtype == dtype
    np.testing.assert_array_equal(out.real, np.asarray([value]))


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds", "one_hot", None])
def test_modes_of_gather(mode) -> None:
    out = lax.gather(V, np.array([[9], [-1], [2]]), ELEMENT, (1,), mode=mode)
    want = {"fill": [np.nan, np.nan, 2], "one_hot": [0, 0, 2]}.get(mode, [4, 0, 2])
    np.testing.assert_array_equal(out, np.asarray(want, np.float32))


def test_windows_that_are_partly_out_of_bounds() -> None:
    window = lax.ScatterDimensionNumbers((1,), (), (0,))
    index, updates = np.array([[4], [-1]]), np.full((2, 3), 9, np.float32)
    np.testing.assert_array_equal(lax.scatter(V, index, updates, window, mode="drop"), V)
    clipped = lax.scatter(V, index, updates, window, mode="clip")
    np.testing.assert_array_equal(clipped, [9, 9, 9, 9, 9])
    one = lax.scatter(V, index[:1], updates[:1], window, mode="drop")
    np.testing.assert_array_equal(one, V)


def test_derivative_of_gather_out_of_bounds() -> None:
    index = np.array([[9], [-1], [2]])
    for mode, want in (("clip", [2, 0, 3, 0, 1]), ("fill", [0, 0, 3, 0, 0])):
        grad = nl.grad(
            lambda x, mode=mode: total(lax.gather(x, index, ELEMENT, (1,), mode=mode, fill_value=0))
        )(V)
        np.testing.assert_array_equal(grad, want)


def test_only_the_update_that_won_has_a_derivative() -> None:
    index = np.array([[1], [1], [3], [9]])

    def loss(x, u):
        return total(lax.scatter(x, index, u, PLACE, mode="drop"))

    u = np.array([5, 6, 7, 8], np.float32)
    out = np.asarray(lax.scatter(V, index, u, PLACE, mode="drop"))
    dx, du = nl.grad(loss, (0, 1))(V, u)
    np.testing.assert_array_equal(dx, [1, 0, 3, 0, 5])
    winner = int(out[1]) - 5
    want = np.array([0, 0, 4, 0], np.float32)
    want[winner] = 2
    np.testing.assert_array_equal(du, want)


def test_the_value_of_a_scatter_is_exact_under_differentiation() -> None:
    index = np.array([[1], [1]])
    for value in (-0.0, np.inf, np.nan, 3.0):
        u = np.full(2, value, np.float32)
        out, _ = nl.jvp(lambda u: lax.scatter(V, index, u, PLACE), (u,), (np.ones_like(u),))
        np.testing.assert_array_equal(out, np.array([0, value, 2, 3, 4], np.float32))
        assert np.signbit(np.asarray(out)[1]) == np.signbit(np.float32(value))


def test_scatter_mul_with_zeros_and_repeated_indices() -> None:
    index = np.array([[1], [1], [2]])

    def loss(u):
        return total(lax.scatter_mul(V + 1, index, u, PLACE))

    for u in ([0, 3, 2], [0, 0, 0], [2, 3, 0]):
        u = np.array(u, np.float32)
        want = [2 * 2 * u[1], 2 * 2 * u[0], 3 * 3]
        np.testing.assert_allclose(nl.grad(loss)(u), want)


def test_equal_extrema_share_the_derivative() -> None:
    index = np.array([[1], [1]])

    def loss(x, u):
        return lax.reduce_sum(lax.scatter_max(x, index, u, PLACE), (0,))

    dx, du = nl.grad(loss, (0, 1))(V, np.array([1, 1], np.float32))
    np.testing.assert_allclose(dx, [1, 1 / 3, 1, 1, 1])
    np.testing.assert_allclose(du, [1 / 3, 1 / 3])


def test_scatter_apply_repeats_and_its_derivative() -> None:
    index = np.array([[1], [1], [3]])
    out = lax.scatter_apply(V + 1, index, lambda v: v * v, PLACE, update_shape=(3,))
    np.testing.assert_array_equal(out, [1, 16, 3, 16, 5])
    with pytest.raises(errors.GradError, match="unique_indices"):
        nl.grad(lambda x: total(lax.scatter_apply(x, index, lambda v: v * v, PLACE,
                                                  update_shape=(3,))))(V)  # fmt: skip
    y = nl.device_put(V)
    with pytest.raises(errors.ArgumentError, match="from outside"):
        lax.scatter_apply(V, index, lambda v: v * y[0], PLACE, update_shape=(3,))


def test_vmap_of_gather_and_scatter_stays_one_operation() -> None:
    def read(x, i):
        return lax.gather(x, i, ELEMENT, (1,))

    def write(x, i, u):
        return lax.scatter_add(x, i, u, PLACE)

    x, i, u = np.ones((4, 5)), np.zeros((4, 2, 1), int), np.ones((4, 2))
    for axes in ((0, 0), (0, None), (None, 0)):
        args = [a if d == 0 else a[0] for a, d in zip((x, i), axes, strict=True)]
        text = str(nl.make_jaxpr(nl.vmap(read, in_axes=axes))(*args))
        assert text.count("gather[") == 1
    text = str(nl.make_jaxpr(nl.vmap(write))(x, i, u))
    assert text.count("scatter_add[") == 1


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: lax.slice(V, (-1,), (5,)), errors.ShapeError, "does not hold in axis 0"),
        (lambda: lax.slice(V, (3,), (2,)), errors.ShapeError, "start 3, limit 2"),
        (lambda: lax.slice(V, (0,), (9,)), errors.ShapeError, "size 5"),
        (lambda: lax.slice(V, (0,), (5,), (0,)), errors.ShapeError, "stride 0"),
        (lambda: lax.slice(X, (0,), (1,)), errors.ShapeError, "each of the 2 axes"),
        (lambda: lax.index_in_dim(V, 5), IndexError, "index 5 is out of bounds for axis 0"),
        (lambda: lax.dynamic_slice(V, (1,), (9,)), errors.ShapeError, "slice_sizes"),
        (lambda: lax.dynamic_slice(V, (1, 2), (1,)), errors.ShapeError, "one start index"),
        (lambda: lax.dynamic_slice(V, (1.0,), (1,)), errors.DTypeError, "integer scalar"),
        (lambda: lax.dynamic_update_slice(V, 9, (0,)), errors.ShapeError, "rank"),
        (lambda: lax.dynamic_update_slice(V, V.astype(int), (0,)), errors.DTypeError, "same dtype"),
        (lambda: lax.gather(V, np.array([[1.0]]), ELEMENT, (1,)), errors.DTypeError, "integers"),
        (lambda: lax.gather(V, np.array([[1]]), ELEMENT, (2,)), errors.ShapeError, "size 1, not 2"),
        (lambda: lax.gather(V, np.array([[1, 2]]), ELEMENT, (1,)), errors.ShapeError, "entries"),
        (lambda: lax.gather(V, np.int32(1), ELEMENT, (1,)), errors.ShapeError, "last axis"),
        (lambda: lax.scatter(V, np.array([[1]]), np.ones(2, np.float32), PLACE),
         errors.ShapeError, "index vectors form"),
        (lambda: lax.scatter(V, np.array([[1]]), np.ones(1, int), PLACE),
         errors.DTypeError, "same dtype"),
        (lambda: lax.gather(V, np.array([[1]]), ELEMENT, (1,), mode="wrap"),
         errors.ValueArgumentError, "clip"),
        (lambda: lax.scatter_min(V + 0j, np.array([[1]]), np.ones(1, complex), PLACE),
         errors.DTypeError, "operand 0 must be"),
        (lambda: lax.index_take(X, (np.array([0]), np.array([0, 1])), (0, 1)),
         errors.ShapeError, "one length"),
    ],
)  # fmt: skip
def test_errors(call, error, text) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "uint4"])
def test_small_dtypes(dtype) -> None:
    x = nl.device_put(np.arange(4)).astype(dtype)
    index = np.array([[3], [0]])
    out = lax.gather(x, index, ELEMENT, (1,))
    np.testing.assert_array_equal(np.asarray(out).astype(int), [3, 0])
    out = lax.scatter_add(x, index, out, PLACE)
    np.testing.assert_array_equal(np.asarray(out).astype(int), [0, 1, 2, 6])
