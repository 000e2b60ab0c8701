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


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (5, 2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_orthogonal(shape, dtype):
    x = numpy.asarray(initializers.orthogonal(2.0)(KEY, shape, dtype))
    assert x.shape == shape and x.dtype == dtype
    flat = x.reshape(-1, shape[-1]) / 2
    small = flat.conj().T @ flat if flat.shape[0] >= flat.shape[1] else flat @ flat.conj().T
    npt.assert_allclose(small, numpy.eye(len(small)), atol=1e-5)


def test_orthogonal_values():
    found = initializers.orthogonal()(KEY, (3, 4)).ravel()[:3]
    npt.assert_allclose(found, [0.8337945938, -0.0403975211, -0.2545092402], atol=1e-5)
    assert initializers.orthogonal(column_axis=0)(KEY, (3, 2, 2)).shape == (3, 2, 2)


def test_delta_orthogonal():
    x = numpy.asarray(initializers.delta_orthogonal()(KEY, (3, 3, 2, 4)))
    npt.assert_allclose(x[1, 1] @ x[1, 1].T, numpy.eye(2), atol=1e-5)
    assert numpy.count_nonzero(x) == 8


def test_random_orthogonal():
    q = numpy.asarray(random.orthogonal(KEY, 3, (2,), m=5))
    npt.assert_allclose(q @ q.transpose(0, 2, 1), numpy.broadcast_to(numpy.eye(3), (2, 3, 3)),
                        atol=1e-5)  # fmt: skip
    q = numpy.asarray(random.orthogonal(random.key(42), 3, dtype="complex64"))
    npt.assert_allclose(q @ q.conj().T, numpy.eye(3), atol=1e-5)
    npt.assert_allclose(
        random.orthogonal(random.key(42), 2),
        [[-0.09528422, 0.99545008], [0.99545008, 0.09528428]], atol=1e-5,
    )  # fmt: skip
