"""Shardings: shapes, indices, replicas and equivalence against counting by hand."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numlift.errors import ArgumentError, ShardingError
from numlift.runtime.devices import devices
from numlift.sharding import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    P,
    SingleDeviceSharding,
    TiledSharding,
    sdy_sharding_text,
    sdy_spec_text,
    sdy_text,
)
from numlift.sharding.base import replica_ids, shard_indices


def mesh(*shape: int, names: str = "xyz") -> Mesh:
    grid = np.empty(int(np.prod(shape)), object)
    grid[:] = devices()[: grid.size]
    return Mesh(grid.reshape(shape), tuple(names[: len(shape)]))


SPECS = [P(), P("x"), P("y"), P("x", "y"), P("y", "x"), P(None, "x"), P(("x", "y")),
         P(("y", "x")), P(None, ("y", "x")), P(P.UNCONSTRAINED, "y")]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_parts_cover_the_array(spec):
    m = mesh(4, 2)
    s = NamedSharding(m, spec)
    x = np.arange(64).reshape(8, 8)
    seen = np.zeros_like(x)
    for index, replica in zip(shard_indices(s, (8, 8)), replica_ids(s, 2), strict=True):
        assert x[index].shape == s.shard_shape((8, 8))
        if replica == 0:
            seen[index] += 1
    assert (seen == 1).all()
    assert list(s.devices_indices_map((8, 8))) == devices()[:8]
    assert s.addressable_devices_indices_map((8, 8)) == s.devices_indices_map((8, 8))


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_index_of_each_device(spec):
    m = mesh(4, 2)
    indices = NamedSharding(m, spec).devices_indices_map((8, 8))
    for i, j in itertools.product(range(4), range(2)):
        at = {"x": i, "y": j}
        for dim, names in enumerate(spec.padded(2)):
            names = () if names in (None, P.UNCONSTRAINED) else names
            number, count = 0, 1
            for name in (names,) if isinstance(names, str) else names:
                number, count = number * m.shape[name] + at[name], count * m.shape[name]
            part = 8 // count
            start, stop, _ = indices[m.devices[i, j]][dim].indices(8)
            assert (start, stop) == (number * part, (number + 1) * part)


def test_interned():
    m = mesh(4, 2)
    s = NamedSharding(m, P("x"))
    assert NamedSharding(m, P(("x",))) is s and s.with_spec(("x",)) is s
    assert NamedSharding(m, P("x", None)) is not s
    assert NamedSharding(m, P("x"), memory_kind="pinned_host") is not s
    assert s.with_memory_kind("pinned_host").with_memory_kind(None) is s
    assert pickle.loads(pickle.dumps(s)) is s
    one = SingleDeviceSharding(devices()[1])
    assert SingleDeviceSharding(devices()[1]) is one and pickle.loads(pickle.dumps(one)) is one


def test_equivalent():
    m = mesh(4, 2)
    s = NamedSharding(m, P("x"))
    assert s.is_equivalent_to(NamedSharding(m, P("x", None)), 2)
    assert not s.is_equivalent_to(NamedSharding(m, P("y")), 2)
    assert s.is_equivalent_to(s.with_memory_kind("device"), 2)
    assert not s.is_equivalent_to(s.with_memory_kind("pinned_host"), 2)
    tiles = TiledSharding(devices()[:8], *s.tiling(2))
    assert tiles.is_equivalent_to(s, 2) and s.is_equivalent_to(tiles, 2)
    one = mesh(1)
    assert NamedSharding(one, P("x")).is_equivalent_to(SingleDeviceSharding(devices()[0]), 1)


def test_replicated_and_devices():
    m = mesh(4, 2)
    assert NamedSharding(m, P()).is_fully_replicated
    assert not NamedSharding(m, P(None, "y")).is_fully_replicated
    assert NamedSharding(mesh(1, 2), P("x")).is_fully_replicated
    s = NamedSharding(m, P("x"))
    assert s.device_set == set(devices()[:8]) == s.addressable_devices
    assert s.is_fully_addressable and s.num_devices == 8
    one = SingleDeviceSharding(devices()[3])
    assert one.is_fully_replicated and one.device is devices()[3]
    assert one.shard_shape((3, 4)) == (3, 4)
    assert one.devices_indices_map((3,)) == {devices()[3]: (slice(None),)}


def test_tiled():
    d = devices()[:4]
    s = TiledSharding(d, (2, 1), ((0, 0), (1, 0), (0, 0), (1, 0)))
    assert s.shard_shape((4, 3)) == (2, 3) and replica_ids(s, 2) == (0, 0, 1, 1)
    assert TiledSharding(d, (1, 1)) is TiledSharding(d) and TiledSharding(d).is_fully_replicated
    assert TiledSharding(d).shard_shape((5,)) == (5,)
    with pytest.raises(ShardingError, match="tiles of 2 dimensions for an array of 1"):
        s.shard_shape((4,))
    with pytest.raises(ShardingError, match="1 parts for 4 devices"):
        TiledSharding(d, (4,), ((0,),))
    assert pickle.loads(pickle.dumps(s)) is s


def test_abstract():
    s = NamedSharding(AbstractMesh((4, 2), ("x", "y")), P("x"))
    assert s.shard_shape((8, 3)) == (2, 3) and s.num_devices == 8
    with pytest.raises(ShardingError, match="no devices"):
        s.device_set


def test_refuses():
    m = mesh(4, 2)
    with pytest.raises(ShardingError, match=r"dimension 1 of size 6 .*mesh axis 'x' of size 4"):
        NamedSharding(m, P(None, "x")).shard_shape((2, 6))
    with pytest.raises(ShardingError, match="pad dimension 0 to 16"):
        NamedSharding(m, P(("x", "y"))).shard_shape((9,))
    with pytest.raises(ShardingError, match="the mesh has no axis 'z'"):
        NamedSharding(m, P("z"))
    with pytest.raises(ShardingError, match="2 entries for an array of 1"):
        NamedSharding(m, P("x", "y")).shard_shape((8,))
    with pytest.raises(ArgumentError, match=r"Try: P\('x', None\)"):
        NamedSharding(m, ("x", None))
    with pytest.raises(ArgumentError, match="mesh must be a Mesh"):
        NamedSharding(devices()[0], P())
    with pytest.raises(ArgumentError, match="needs a device"):
        SingleDeviceSharding("cpu")


@given(st.permutations(["x", "y", "z"]), st.integers(0, 3))
def test_any_split_of_three_axes(names, cut):
    spec = P(tuple(names[:cut]), tuple(names[cut:]))
    s = NamedSharding(mesh(2, 2, 2), spec)
    assert s.shard_shape((8, 8)) == (8 >> cut, 8 >> (3 - cut))
    parts = {tuple((i.start, i.stop) for i in index) for index in shard_indices(s, (8, 8))}
    assert len(parts) == 8


def test_sdy_text():
    m = AbstractMesh((4, 2), ("x", "y"), AxisType.Explicit)
    assert sdy_text(m) == 'sdy.mesh @mesh = <["x"=4, "y"=2]>'
    assert sdy_text(AbstractMesh((), ()), "m") == "sdy.mesh @m = <[]>"
    assert sdy_spec_text(P("x", None), 3) == '<@mesh, [{"x"}, {}, {}]>'
    assert sdy_spec_text(P(P.UNCONSTRAINED, ("x", "y")), 2) == '<@mesh, [{?}, {"x", "y"}]>'
    assert sdy_spec_text(P(unreduced={"y", "x"}), 1) == '<@mesh, [{}], unreduced={"x", "y"}>'
    text = sdy_sharding_text(NamedSharding(m, P("y")), 1, "m0")
    assert text == '#sdy.sharding<@m0, [{"y"}]>'
