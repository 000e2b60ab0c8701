"""Array: attributes, conversion, text, errors, copies, for every dtype and sharding."""

from __future__ import annotations

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from numlift.core.dtypes import KeyDType, all_dtypes
from numlift.core.types import array_type
from numlift.errors import (
    ArgumentError,
    DeletedBufferError,
    DTypeError,
    ImmutableArrayError,
    ShardingError,
    ValueArgumentError,
)
from numlift.runtime import xla
from numlift.runtime.devices import devices
from numlift.runtime.mesh_utils import make_mesh
from numlift.runtime.placement import default_placement, placement, sharding_from_hlo, xla_sharding
from numlift.runtime.transfer import as_array, device_put
from numlift.sharding import (
    AxisType,
    NamedSharding,
    P,
    SingleDeviceSharding,
    TiledSharding,
)

SPECS = [P(), P("x"), P("y"), P("x", "y"), P("y", "x"), P(("x", "y")), P(None, ("y", "x"))]


def mesh(kind: AxisType = AxisType.Auto):
    return make_mesh((4, 2), ("x", "y"), kind)


def values(dtype: np.dtype, shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    numbers = np.resize([1, 0, 1, 1, 0], shape)
    return numbers.astype(dtype)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (2, 3)], ids=str)
@pytest.mark.parametrize("dtype", all_dtypes, ids=str)
def test_every_dtype_round_trips(dtype, shape, enable_x64):
    x = values(dtype, shape)
    a = as_array(x)
    assert a.dtype == dtype and a.shape == shape and not a.weak_type
    back = np.asarray(a)
    assert back.dtype == dtype and back.shape == shape and not back.flags.writeable
    assert back.tobytes() == x.tobytes()
    again = pickle.loads(pickle.dumps(a))
    assert again.type is a.type and np.asarray(again).tobytes() == x.tobytes()
    assert repr(a).endswith(f"dtype={dtype})") or "\n" in repr(a)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int4", "bool", "complex64"])
def test_sharded_arrays_assemble(spec, dtype):
    x = np.arange(64).reshape(8, 8).astype(dtype)
    a = device_put(x, NamedSharding(mesh(), spec))
    assert np.asarray(a).tobytes() == x.tobytes() and a.dtype == x.dtype
    assert a.is_fully_replicated == (spec == P()) and a.is_fully_addressable
    assert len(a.addressable_shards) == 8 == len(a.global_shards)
    for shard in a.addressable_shards:
        assert shard.data.devices() == {shard.device} and shard.data.committed
        assert np.asarray(shard.data).tobytes() == x[shard.index].tobytes()
    assert a.on_device_size_in_bytes() >= 0 and a.is_ready() in (True, False)
    assert np.asarray(a.addressable_data(7)).tobytes() == x[shard.index].tobytes()


def test_attributes():
    a = as_array(np.ones((2, 3), np.float32))
    assert (a.shape, a.dtype, a.ndim, a.size, a.nbytes, a.itemsize) == (
        (2, 3), np.float32, 2, 6, 24, 4)  # fmt: skip
    assert a.aval is a.type is array_type((2, 3), np.float32)
    assert a.sharding is SingleDeviceSharding(devices()[0]) and not a.committed
    assert a.device is devices()[0] and a.devices() == {devices()[0]}
    assert len(a) == 2 and a.is_fully_addressable and a.is_fully_replicated
    s = NamedSharding(mesh(), P("x"))
    b = device_put(np.ones(8), s)
    assert b.device is s and b.sharding is s and b.committed and b.devices() == set(devices())


def test_numpy_shares_memory():
    a = as_array(np.arange(4.0, dtype=np.float32))
    assert np.asarray(a).ctypes.data == a.unsafe_buffer_pointer()
    copied = np.array(a)
    assert copied.flags.writeable and copied.ctypes.data != a.unsafe_buffer_pointer()
    assert np.asarray(a, dtype=np.float64).dtype == np.float64
    assert np.asarray(a, dtype=np.float32, copy=False).ctypes.data == a.unsafe_buffer_pointer()
    with pytest.raises(ValueArgumentError, match="without a copy"):
        np.asarray(a, dtype=np.float64, copy=False)
    x = np.arange(4.0, dtype=np.float32)
    b = as_array(x)
    x[0] = 9
    assert np.asarray(b)[0] == 0


def test_python_scalars():
    assert float(as_array(1.5)) == 1.5 and int(as_array(3)) == 3 and bool(as_array(True))
    assert complex(as_array(1 + 2j)) == 1 + 2j and int(as_array(2.7)) == 2
    assert ["a", "b"][as_array(1)] == "b" and list(range(as_array(3))) == [0, 1, 2]
    assert bool(as_array([[2.0]])) and not bool(as_array([0]))
    assert as_array([7]).item() == 7 and as_array([[1, 2]]).item(1) == 2
    assert as_array([7], "bfloat16").item() == 7.0 and type(as_array(True).item()) is bool
    assert as_array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert as_array(np.int16([1, 2])).tobytes() == b"\1\0\2\0"
    assert as_array([[1, 2], [3, 4]]).tobytes("F") == np.int32([1, 3, 2, 4]).tobytes()


@pytest.mark.parametrize(
    ("use", "kind", "words"),
    [
        (lambda a: float(a), TypeError, "float: only an array without dimensions"),
        (lambda a: int(a), TypeError, "without dimensions"),
        (lambda a: complex(a), TypeError, "without dimensions"),
        (lambda a: bool(a), ValueError, "x.any.. or x.all"),
        (lambda a: bool(as_array([])), ValueError, "x.size > 0"),
        (lambda a: [][a], TypeError, "without dimensions"),
        (lambda a: [][as_array(1.0)], TypeError, "integer array"),
        (lambda a: a.item(), ValueError, "not one Python scalar"),
        (lambda a: len(as_array(1)), TypeError, "no length"),
        (lambda a: iter(as_array(1)), TypeError, "no rows"),
        (lambda a: hash(a), TypeError, "unhashable type"),
        (lambda a: f"{a:.2f}", TypeError, "format '.2f' is for numbers"),
        (lambda a: a.to_device(devices()[0], stream=1), ArgumentError, "streams"),
    ],
)
def test_refuses(use, kind, words):
    with pytest.raises(kind, match=words) as caught:
        use(as_array([[1.0, 2.0]]))
    assert "Try:" in str(caught.value)


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (0, "0"),
        (-1, "-1"),
        (2, "2"),
        (slice(None), ":"),
        (slice(1, None), "1:"),
        (slice(None, 5, 2), ":5:2"),
        ((0, slice(1, 2)), "0, 1:2"),
        ((1,), "(1,)"),
        (Ellipsis, "..."),
        ((Ellipsis, None), "..., None"),
        (np.array([True, False]), "mask"),
        (np.array([0, 1]), "index"),
        (np.int64(3), "3"),
    ],
    ids=str,
)
def test_assignment_names_the_replacement(index, text):
    a = as_array([1.0, 2.0])
    with pytest.raises(ImmutableArrayError) as caught:
        a[index] = 5
    assert f"Try: x = x.at[{text}].set(5)" in str(caught.value)


def test_assignment_of_values():
    a = as_array([1.0, 2.0])
    for value, text in [(as_array(2.5), "2.5"), (np.float32(1), "1.0"), (a, "value")]:
        with pytest.raises(ImmutableArrayError, match=rf"at\[mask\].set\({text}\)"):
            a[as_array([True, False])] = value
    with pytest.raises(ImmutableArrayError, match="deleted in place"):
        del a[0]


def test_iteration():
    a = as_array(np.arange(6).reshape(3, 2))
    rows = list(a)
    assert [r.tolist() for r in rows] == [[0, 1], [2, 3], [4, 5]]
    assert rows[0].type is array_type((2,), np.int32)
    x, y = as_array([1.5, 2.5])
    assert (float(x), float(y)) == (1.5, 2.5) and list(as_array(np.zeros((0, 2)))) == []
    s = device_put(np.arange(16.0).reshape(8, 2), NamedSharding(mesh(), P("x", "y")))
    assert [r.tolist() for r in s] == np.arange(16.0).reshape(8, 2).tolist()
    on = device_put(np.arange(2), devices()[3])
    assert all(r.device is devices()[3] and r.committed for r in on)


def test_text():
    assert repr(as_array(1.0)) == "Array(1., dtype=float32, weak_type=True)"
    assert repr(as_array([1, 2])) == "Array([1, 2], dtype=int32)"
    assert repr(as_array(np.zeros((0, 3), np.float32))) == "Array([], shape=(0, 3), dtype=float32)"
    assert repr(as_array([])) == "Array([], dtype=float32)"
    assert repr(as_array([[1.5], [2]])) == "Array([[1.5],\n       [2. ]], dtype=float32)"
    long = repr(as_array(np.arange(2000)))
    assert long == "Array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int32)"
    wide = repr(as_array(np.full(5, 0.123456789, np.float32)))
    assert wide.endswith(",\n      dtype=float32)")
    assert str(as_array([1.0, 2.0])) == "[1. 2.]"
    assert f"{as_array(1.5):.3f}|{as_array(3):>4}|{as_array([1])}" == "1.500|   3|[1]"
    assert f"{as_array(2, 'bfloat16'):.1f}" == "2.0"


def test_copies_are_independent():
    a = as_array([1.0, 2.0])
    for b in (copy.copy(a), copy.deepcopy(a), copy.deepcopy({"a": [a]})["a"][0]):
        assert b.type is a.type and b.unsafe_buffer_pointer() != a.unsafe_buffer_pointer()
    b = copy.copy(a)
    a.delete()
    assert b.tolist() == [1.0, 2.0]
    s = device_put(np.arange(8.0), NamedSharding(mesh(), P("x")))
    t = copy.deepcopy(s)
    s.delete()
    assert t.sharding is s.sharding and t.tolist() == list(range(8))
    weak = pickle.loads(pickle.dumps(as_array(2.0)))
    assert weak.weak_type and float(weak) == 2.0


@pytest.mark.parametrize(
    "use",
    [
        np.asarray,
        float,
        lambda a: a.block_until_ready(),
        lambda a: a.is_ready(),
        lambda a: a.addressable_shards,
        lambda a: a.unsafe_buffer_pointer(),
        lambda a: a.copy_to_host_async(),
        lambda a: a.on_device_size_in_bytes(),
        lambda a: device_put(a, devices()[1]),
        lambda a: device_put(a),
        copy.copy,
        pickle.dumps,
        lambda a: a.__dlpack__(),
        lambda a: a.tolist(),
    ],
)
@pytest.mark.parametrize("sharded", [False, True])
def test_deleted(use, sharded):
    a = device_put(1.0, NamedSharding(mesh(), P()) if sharded else None)
    a.delete()
    a.delete()
    assert a.is_deleted() and a.shape == () and a.dtype == np.float32
    assert repr(a) == "Array(~float32[], deleted)"
    with pytest.raises((DeletedBufferError, ShardingError) if sharded else DeletedBufferError):
        use(a)


def test_keys():
    kind = KeyDType("threefry2x32")
    words = np.arange(6, dtype=np.uint32).reshape(3, 2)
    a = as_array(words, kind)
    assert a.shape == (3,) and a.dtype is kind and a.nbytes == 24
    assert repr(a).startswith("Array((3,), dtype=key<fry>) overlaying:\n[[0 1]")
    for use in (np.asarray, lambda k: k.tolist(), lambda k: k.item(0)):
        with pytest.raises(DTypeError, match=r"random\.key_data"):
            use(a)
    assert [k.shape for k in a] == [(), (), ()] and next(iter(a)).dtype is kind
    again = pickle.loads(pickle.dumps(a))
    assert again.type is a.type and repr(again) == repr(a)
    s = device_put(as_array(np.zeros((8, 2), np.uint32), kind), NamedSharding(mesh(), P("x")))
    assert s.addressable_shards[0].data.shape == (2,) and s.dtype is kind
    assert repr(copy.copy(s)) == repr(s)
    with pytest.raises(ShardingError, match="key_data"):
        a.__dlpack__()


def test_to_device():
    a = as_array([1.0, 2.0])
    b = a.to_device(devices()[4])
    assert b.device is devices()[4] and b.committed and b.tolist() == a.tolist()
    s = NamedSharding(mesh(), P("y"))
    assert a.to_device(s).sharding is s and a.to_device(s).to_device(devices()[0]).tolist() == [
        1,
        2,
    ]


def test_pointer_needs_one_device():
    s = device_put(np.ones(8), NamedSharding(mesh(), P("x")))
    with pytest.raises(ShardingError, match="parts on several devices"):
        s.unsafe_buffer_pointer()


# --- placements -----------------------------------------------------------------------------------


def test_placements_are_interned():
    t = array_type((8, 8), np.float32)
    s = NamedSharding(mesh(), P("x"))
    p = placement(t, s)
    assert placement(t, s) is p and placement(t, s, False) is not p
    assert pickle.loads(pickle.dumps(p)) is p and not p.single and p.on_cpu
    assert p.local_devices == devices()[:8] and "float32[8,8]" in repr(p)
    assert default_placement(t).single and not default_placement(t).committed
    with pytest.raises(ShardingError, match="does not divide"):
        placement(array_type((6,), np.float32), s)
    with pytest.raises(ShardingError, match="no memory 'moon'"):
        placement(t, s.with_memory_kind("moon"))
    with pytest.raises(ShardingError, match="only inside a program"):
        placement(t, s.with_spec(P(unreduced={"x"})))


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_shardings_read_back(spec):
    m = mesh()
    s = NamedSharding(m, spec)
    hlo = xla_sharding(s, 2).hlo
    back = sharding_from_hlo(hlo, devices()[:8], 2, m)
    assert isinstance(back, NamedSharding) and back.tiling(2) == s.tiling(2)
    assert sharding_from_hlo(hlo.to_proto(), devices()[:8], 2, m) is back
    tiles = sharding_from_hlo(hlo, devices()[:8], 2)
    assert isinstance(tiles, TiledSharding) and tiles.is_equivalent_to(s, 2)
    assert xla_sharding(tiles, 2).hlo == hlo


def test_sharding_without_a_name():
    m = mesh()
    hlo = xla.HloSharding.from_string("{devices=[8,1]3,1,2,0,4,5,6,7}")
    assert isinstance(sharding_from_hlo(hlo, devices()[:8], 2, m), TiledSharding)
    half = xla.HloSharding.from_string("{devices=[2,1,4]<=[8] last_tile_dim_replicate}")
    back = sharding_from_hlo(half, devices()[:8], 2, m)
    assert isinstance(back, TiledSharding) and back.shard_shape((6, 1)) == (3, 1)
    assert sharding_from_hlo(None, devices()[:1], 2) is SingleDeviceSharding(devices()[0])
    assert sharding_from_hlo(None, devices()[:8], 2, m) is NamedSharding(m, P())
    with pytest.raises(ShardingError, match="no array can have"):
        sharding_from_hlo(xla.HloSharding.manual(), devices()[:8], 2, m)


def test_types_show_explicit_axes():
    m = mesh(AxisType.Explicit)
    a = device_put(np.zeros((8, 8), np.float32), NamedSharding(m, P("x")))
    assert repr(a.type) == "float32[8@x,8]"
    assert a.type.sharding is NamedSharding(m.abstract_mesh, P("x", None))
    part = m.update_axis_types({"x": AxisType.Auto})
    b = device_put(a, NamedSharding(part, P(("x", "y"))))
    assert repr(b.type) == "float32[8@y,8]"
    assert repr(device_put(b, devices()[0]).type) == "float32[8,8]"
    assert repr(a.addressable_data(0).type) == "float32[2,8]"


def test_ml_dtypes_are_numpy_dtypes():
    assert as_array([1], ml_dtypes.bfloat16).dtype == ml_dtypes.bfloat16
