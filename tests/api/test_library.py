"""Public array functions run as one cached program on concrete arrays."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.api.library import freeze, library


@pytest.fixture
def traced():
    """A library function with one array and two options, and a list of its traces."""
    traces = []

    @library(arrays=1)
    def scaled(x, factor=2.0, axis=None, *, where=None):
        """x * factor, summed."""
        traces.append((factor, axis))
        y = np.asarray(x) * factor
        if where is not None:
            y = np.where(where, y, 0.0)
        return y.sum(axis)

    return scaled, traces


def test_one_trace_a_type_and_options(traced) -> None:
    scaled, traces = traced
    x = np.ones((2, 3))
    for _ in range(3):
        assert float(scaled(x)) == 12.0
        assert float(scaled(x, 3.0)) == 18.0
        assert scaled(x, axis=0).shape == (3,)
    assert len(traces) == 3
    scaled(np.ones((4, 3)))
    assert len(traces) == 4


def test_options_of_different_type_differ(traced) -> None:
    scaled, traces = traced
    x = np.ones(3, "int32")
    assert [str(scaled(x, f).dtype) for f in (2, 2.0, True, 2)] == [
        "int32",
        "float32",
        "int32",
        "int32",
    ]
    assert len(traces) == 3


def test_lists_as_options_are_tuples(traced) -> None:
    scaled, traces = traced
    x = np.ones((2, 3))
    assert float(scaled(x, axis=[0, 1])) == float(scaled(x, axis=(0, 1))) == 12.0
    assert len(traces) <= 2


def test_arrays_as_options(traced) -> None:
    scaled, traces = traced
    x = np.asarray([1.0, 2.0, 3.0])
    for mask in ([True, False, True], [False, True, False]):
        expected = 2 * numpy.asarray(x)[numpy.asarray(mask)].sum()
        assert float(scaled(x, where=numpy.asarray(mask))) == expected
        assert float(scaled(x, where=np.asarray(mask))) == expected
    assert float(scaled(x, np.asarray(10.0))) == 60.0
    assert len(traces) == 2


def test_numpy_arrays_numbers_and_lists(traced) -> None:
    scaled, traces = traced
    assert float(scaled(numpy.ones(3, "f4"))) == 6.0
    assert float(scaled([1.0, 2.0])) == 6.0
    assert float(scaled(3.0)) == 6.0
    assert float(scaled([[1, 2], [3, 4]])) == 20.0
    assert len(traces) == 4
    for _ in range(2):
        assert float(scaled([5.0, 6.0])) == 22.0
        assert scaled([[7.0]], axis=0).shape == (1,)
        assert float(scaled(7.0)) == 14.0
        assert float(scaled(7.0, numpy.float32(3))) == 21.0
        assert float(scaled(7.0, numpy.float32(5))) == 35.0
    assert len(traces) == 6


def test_under_transformations_it_is_only_called(traced) -> None:
    scaled, traces = traced
    text = str(nl.make_jaxpr(lambda x: scaled(x))(np.ones(3)))
    assert "call" not in text
    numpy.testing.assert_allclose(nl.grad(scaled)(np.ones(3)), [2, 2, 2])
    numpy.testing.assert_allclose(nl.vmap(scaled)(np.ones((2, 3))), [6, 6])
    assert len(traces) == 3


def test_unhashable_options(traced) -> None:
    scaled, _ = traced
    with pytest.raises(TypeError, match="hashable"):
        scaled(np.ones(3), axis={1, 2})
    assert freeze([1, [2, (3,)]]) == (1, (2, (3,)))


def test_what_is_no_array_is_reported_by_the_function(traced) -> None:
    scaled, _ = traced
    for bad in ("text", None, object()):
        with pytest.raises((TypeError, ValueError), match="array"):
            scaled(bad)


def test_leaked_tracers(traced) -> None:
    scaled, _ = traced
    kept = []
    nl.jit(lambda x: kept.append(x) or x)(np.ones(3))
    with pytest.raises(errors.UnexpectedTracerError):
        scaled(kept[0])


def test_flags_are_part_of_the_key(traced) -> None:
    scaled, traces = traced
    assert scaled(1.0).dtype == "float32"
    with nl.enable_x64():
        assert scaled(1.0).dtype == "float64"
    assert scaled(1.0).dtype == "float32"
    assert len(traces) == 2
    with nl.disable_jit():
        scaled(1.0)
    assert len(traces) == 3


def test_debug_nans_names_the_function() -> None:
    with nl.debug_nans(), pytest.raises(FloatingPointError, match="NaN"):
        np.log(-1.0)


def test_names_and_texts_are_kept(traced) -> None:
    scaled, _ = traced
    assert scaled.__name__ == "scaled"
    assert scaled.__doc__ == "x * factor, summed."
    assert np.sin.__name__ == "sin"


def test_trees_of_arrays() -> None:
    @library(arrays=2)
    def both(xs, y):
        return {"sum": sum(xs) + y, "first": xs[0]}

    found = both([np.ones(2), numpy.ones(2)], 1.0)
    numpy.testing.assert_array_equal(found["sum"], [3, 3])
    numpy.testing.assert_array_equal(both((1.0, 2.0), 3)["sum"], 6)


def test_arrays_by_keyword() -> None:
    numpy.testing.assert_array_equal(np.add(np.ones(2), np.ones(2)), [2, 2])
    x = np.asarray([3.0, 1.0, 2.0])
    numpy.testing.assert_array_equal(np.sort(a=x), [1, 2, 3])
    numpy.testing.assert_array_equal(np.where(x > 1, x, 0.0), [3, 0, 2])
