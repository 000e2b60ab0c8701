"""Initial values: shapes, dtypes, variances."""

from __future__ import annotations

import numpy
import numpy.testing as npt
import pytest

from numlift import errors, random
from numlift.nn import initializers

KEY = random.key(0)
SHAPE = (200, 300)
FAMILIES = {
    "glorot_uniform": 2 / 500,
    "glorot_normal": 2 / 500,
    "xavier_uniform": 2 / 500,
    "xavier_normal": 2 / 500,
    "lecun_uniform": 1 / 200,
    "lecun_normal": 1 / 200,
    "he_uniform": 2 / 200,
    "he_normal": 2 / 200,
    "kaiming_uniform": 2 / 200,
    "kaiming_normal": 2 / 200,
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_variances(name, dtype):
    x = numpy.asarray(getattr(initializers, name)()(KEY, SHAPE, dtype))
    assert x.dtype == dtype and x.shape == SHAPE
    npt.assert_allclose((abs(x) ** 2).mean(), FAMILIES[name], rtol=0.02)
    npt.assert_allclose(abs(x.mean()), 0, atol=1e-3)


@pytest.mark.parametrize(
    ("mode", "count"),
    [("fan_in", 40 * 3), ("fan_out", 50 * 3), ("fan_avg", 135), ("fan_geo_avg", 134.164)],
)
def test_modes_count_axes(mode, count):
    make = initializers.variance_scaling(2.0, mode, "normal", in_axis=1, out_axis=-1, batch_axis=2)
    x = numpy.asarray(make(KEY, (3, 40, 20, 50)))
    npt.assert_allclose(x.var(), 2 / count, rtol=0.02)


def test_simple_ones():
    npt.assert_array_equal(initializers.zeros(KEY, (2,)), [0, 0])
    npt.assert_array_equal(initializers.ones(KEY, (2,), "int32"), [1, 1])
    npt.assert_array_equal(initializers.constant(3.0)(KEY, (2,)), [3, 3])
    x = numpy.asarray(initializers.uniform(5.0)(KEY, (1000,)))
    assert x.min() >= 0 and 4.5 < x.max() < 5
    npt.assert_allclose(numpy.asarray(initializers.normal(2.0)(KEY, (5000,))).std(), 2, rtol=0.05)
    x = numpy.asarray(initializers.truncated_normal(1.0, lower=-1.0, upper=3.0)(KEY, (5000,)))
    assert x.min() > -1 and x.max() < 3
    assert initializers.normal(dtype="float16")(KEY, (2,)).dtype == numpy.float16


def test_first_values():
    found = initializers.glorot_uniform()(KEY, (3, 4)).ravel()[:2]
    npt.assert_allclose(found, [0.8289182186126709, 0.886157751083374], rtol=1e-6)
    found = initializers.he_normal()(KEY, (3, 4)).ravel()[:2]
    npt.assert_allclose(found, [1.3514677286148071, 1.5916844606399536], rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: initializers.glorot_uniform()(KEY, (3,)), "2 axes"),
        (lambda: initializers.variance_scaling(1.0, "x", "normal"), "mode"),
        (lambda: initializers.variance_scaling(1.0, "fan_in", "x"), "distribution"),
        (lambda: initializers.orthogonal()(KEY, (3,)), "2 axes"),
        (lambda: initializers.delta_orthogonal()(KEY, (3, 4, 2)), "in <= out"),
    ],
)
def test_errors_teach(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_integers_are_refused():
    with pytest.raises(errors.DTypeError, match="floating"):
        initializers.normal()(KEY, (2,), "int32")
