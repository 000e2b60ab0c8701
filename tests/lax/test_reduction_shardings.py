"""Shardings of reductions, scans, windows and sorts on Explicit mesh axes."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
from numlift import errors
from numlift.core.types import array_type
from numlift.ops.cumulative import CumSum
from numlift.ops.reductions import ArgMax, ReduceMax
from numlift.ops.sorting import ArgSort, Sort, TopK
from numlift.ops.window_lowering import Window
from numlift.ops.windows import ReduceWindowSum
from numlift.runtime.devices import devices
from numlift.sharding.mesh import AxisType, Mesh
from numlift.sharding.named import NamedSharding
from numlift.sharding.spec import PartitionSpec as P


@pytest.fixture
def x():
    """float32[4@a, 6]."""
    mesh = Mesh(np.array(devices()[:1]), ("a",), axis_types=(AxisType.Explicit,))
    return array_type((4, 6), np.float32, False, NamedSharding(mesh, P("a", None)))


def spec(t):
    """Spec of a type, padded."""
    return (None,) * t.ndim if t.sharding is None else t.sharding.spec.padded(t.ndim)


def test_reductions_drop_axes(x):
    assert tuple(spec(ReduceMax.of((1,)).out_type(x))) == ("a",)
    assert tuple(spec(ReduceMax.of((0,)).out_type(x))) == (None,)
    assert tuple(spec(ArgMax.of(1, np.dtype("i4")).out_type(x))) == ("a",)


def test_other_axes_keep_their_sharding(x):
    kept = [CumSum.of(1, False).out_type(x), ArgSort.of(1).out_type(x)]
    kept += [*Sort.of(1, 1).out_type(x), *TopK.of(2).out_type(x)]
    for t in kept:
        assert tuple(spec(t)) == ("a", None)
    ones = (1, 1)
    window = Window((1, 3), ones, ((0, 0), (0, 0)), ones, ones)
    assert tuple(spec(ReduceWindowSum.of(window).out_type(x))) == ("a", None)


def test_the_axis_itself_must_not_be_split(x):
    for op in (CumSum.of(0, True), ArgSort.of(0), Sort.of(0, 1)):
        with pytest.raises(errors.ShardingError, match=r"sharded over 'a'[\s\S]*reshard"):
            op.out_type(x)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3fn", "complex64", "int32"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes_over_devices(name, axis, dtype):
    mesh = Mesh(np.array(devices()[:8]).reshape(4, 2), ("a", "b"))
    x = ((np.arange(64) * 37) % 64 / 8).reshape(8, 8)
    x = nl.numpy.asarray(x).astype(dtype)
    if dtype not in ("int32", "complex64"):
        x = x.at[2, 3].set(np.nan)
    split = nl.device_put(x, NamedSharding(mesh, P("a", "b")))
    function = getattr(nl.numpy, name)
    got, want = function(split, axis), function(x, axis)
    assert got.dtype == want.dtype
    got, want = (np.asarray(y).astype(np.complex64) for y in (got, want))
    np.testing.assert_array_equal(got, want)
