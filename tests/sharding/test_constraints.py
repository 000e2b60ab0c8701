"""Sharding constraints inside programs whose arguments have no mesh."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import AxisType, NamedSharding, P, lax


@pytest.fixture(scope="module")
def mesh() -> nl.Mesh:
    """Four by two devices, split by the compiler."""
    return nl.make_mesh((4, 2), ("a", "b"), axis_types=(AxisType.Auto, AxisType.Auto))


def test_the_constraint_brings_the_mesh(mesh):
    rows = NamedSharding(mesh, P("a"))
    double = nl.jit(lambda y: nl.with_sharding_constraint(y * 2, rows))
    for f in (double, nl.jit(lambda y: double(y))):
        y = f(np.ones((8, 8)))
        assert y.sharding.spec == P("a")
        assert y.sum() == 128.0


def test_an_argument_on_another_device_is_an_error(mesh):
    x = nl.device_put(numpy.ones(8, "f4"), nl.devices()[3])
    with pytest.raises(nl.errors.DeviceError, match="names a mesh of 8 devices"):
        nl.jit(lambda y: nl.with_sharding_constraint(y, NamedSharding(mesh, P("a"))))(x)


def test_reductions_that_no_collective_knows(mesh):
    host = numpy.arange(64, dtype="int32").reshape(8, 8)
    x = nl.device_put(host, NamedSharding(mesh, P("a", "b")))
    assert lax.reduce_xor(x, axes=(0, 1)) == numpy.bitwise_xor.reduce(host, axis=None)
    total = lax.reduce(x, np.int32(0), lambda a, b: a + b * 1, (0,))
    assert total.tolist() == host.sum(0).tolist()
