"""Edge cases of windowed reductions: padding, infinities, large windows, errors."""

from __future__ import annotations

import numpy as np
import pytest

from numlift import errors
from numlift.api.autodiff import grad, vjp
from numlift.core.tracing import apply
from numlift.lax.reductions import reduce_sum
from numlift.lax.windows import reduce_window, reduce_window_shape_tuple
from numlift.ops.elementwise_binary import max_
from numlift.structural.arith import add


def max_pool(x, *args):
    """Windowed maximum."""
    return reduce_window(x, -np.inf, lambda a, b: apply(max_, a, b), *args)


def test_first_of_equal_elements_gets_the_cotangent():
    x = np.float32([[1, 1], [1, 1]])
    slope = np.asarray(grad(lambda v: reduce_sum(max_pool(v, (2, 2)), (0, 1)))(x))
    np.testing.assert_array_equal(slope, [[1, 0], [0, 0]])


def test_infinite_element_beats_padding():
    x = np.float32([-np.inf, 2])
    _, back = vjp(lambda v: max_pool(v, (2,), (1,), [(1, 0)]), x)
    np.testing.assert_array_equal(np.asarray(back(np.float32([3, 5]))[0]), [3, 5])


@pytest.mark.parametrize("size", [3, 9, 20, 70])
def test_long_windows(size, rng):
    x = rng.standard_normal(100).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(x, size)
    got = reduce_window(x, 0.0, lambda a, b: apply(add, a, b), (size,))
    np.testing.assert_allclose(np.asarray(got), windows.sum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(np.asarray(max_pool(x, (size,))), windows.max(1))
    value, back = vjp(lambda v: max_pool(v, (size,)), x)
    expected = np.zeros(100, np.float32)
    np.add.at(expected, windows.argmax(1) + np.arange(len(windows)), 1)
    np.testing.assert_allclose(np.asarray(back(np.ones(value.shape, np.float32))[0]), expected)


def test_no_window_fits():
    assert np.asarray(max_pool(np.ones(2, np.float32), (3,))).shape == (0,)


def test_integers_and_shape_tuple():
    x = np.int8([1, 5, 2, 7])
    got = reduce_window(x, -128, lambda a, b: apply(max_, a, b), (2,), (2,))
    assert np.asarray(got).tolist() == [5, 7]
    assert reduce_window_shape_tuple((4,), (2,), (2,), [(0, 0)]) == (2,)


def test_errors():
    x = np.ones((4, 4), np.float32)
    with pytest.raises(errors.ShapeError, match="window_dimensions needs one entry"):
        max_pool(x, (2,))
    with pytest.raises(errors.ValueArgumentError, match="at least 1"):
        max_pool(x, (2, 2), (0, 1))
    with pytest.raises(errors.NumliftError, match="SAME"):
        max_pool(x, (2, 2), None, "ROUND")
