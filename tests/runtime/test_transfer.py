"""Making arrays of values and moving them: dtypes, aliasing, resharding, trees, parts, guards."""

from __future__ import annotations

import itertools
import logging
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numlift as nl
from numlift.core.dtypes import KeyDType
from numlift.core.types import array_type
from numlift.errors import (
    ArgumentError,
    DeviceError,
    DTypeError,
    ShapeError,
    ShardingError,
    TreeError,
    ValueArgumentError,
)
from numlift.runtime.devices import devices
from numlift.runtime.global_arrays import (
    make_array_from_callback,
    make_array_from_process_local_data,
    make_array_from_single_device_arrays,
)
from numlift.runtime.mesh_utils import make_mesh
from numlift.runtime.transfer import (
    as_array,
    block_until_ready,
    constant,
    copy_to_host_async,
    device_get,
    device_put,
    retype,
)
from numlift.sharding import AxisType, NamedSharding, P, SingleDeviceSharding, set_mesh

SPECS = [P(), P("x"), P("y"), P("x", "y"), P("y", "x"), P(("x", "y")), P(None, ("y", "x"))]


def mesh():
    return make_mesh((4, 2), ("x", "y"), AxisType.Auto)


def aligned(count: int, dtype: str = "float32") -> np.ndarray:
    size = np.dtype(dtype).itemsize
    raw = np.zeros(count * size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * size].view(dtype)


# --- as_array -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "narrow", "wide", "weak"),
    [
        (True, "bool", "bool", False),
        (3, "int32", "int64", True),
        (2.5, "float32", "float64", True),
        (1j, "complex64", "complex128", True),
        (np.float64(1), "float32", "float64", False),
        (np.int8(1), "int8", "int8", False),
        (np.arange(3), "int32", "int64", False),
        (np.arange(3, dtype=np.uint64), "uint32", "uint64", False),
        (np.ones(2, np.complex128), "complex64", "complex128", False),
        ([1, 2], "int32", "int64", False),
        ([[1.5], [2]], "float32", "float64", False),
        ((True, False), "bool", "bool", False),
        ([], "float32", "float64", False),
    ],
    ids=str,
)
def test_dtypes_and_weak_types(value, narrow, wide, weak):
    for x64, dtype in ((False, narrow), (True, wide)):
        with nl.enable_x64(x64):
            a = as_array(value)
        assert (a.dtype, a.weak_type) == (np.dtype(dtype), weak)
        np.testing.assert_array_equal(np.asarray(a), np.asarray(value))


def test_asked_dtypes():
    assert as_array(1, "bfloat16").dtype.name == "bfloat16" and not as_array(1, "int8").weak_type
    assert as_array([1.7, -1.7], int).tolist() == [1, -1]
    assert as_array(np.arange(3), "float16").tolist() == [0, 1, 2]
    a = as_array(2.0)
    assert as_array(a) is a and as_array(a, "float32") is not a
    assert not as_array(a, "float32").weak_type and as_array(a, "int32").tolist() == 2
    assert as_array(a, a.type) is a
    assert as_array(3, array_type((), np.float32, True)).weak_type
    on = device_put(1.5, devices()[2])
    assert as_array(on, "float16").device is devices()[2]
    words = np.zeros((2, 2), np.uint32)
    assert as_array(words, KeyDType("threefry2x32")).shape == (2,)
    assert retype(a, a.type.update(weak_type=False)).weak_type is False


def test_values_out_of_range():
    with pytest.raises(OverflowError):
        as_array(2**40)
    with pytest.raises(OverflowError):
        as_array(300, "uint8")
    with nl.enable_x64():
        assert as_array(2**40).tolist() == 2**40
    assert as_array(np.float64(1e300)).tolist() == np.inf
    assert as_array(np.int64(2**32 + 5)).tolist() == 5


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ("text", ArgumentError, "not an array of numbers"),
        (None, DTypeError, "object"),
        ([1, None], DTypeError, "object"),
        (object(), DTypeError, "object"),
        (np.array("2020-01-01", "M8[D]"), DTypeError, "datetime64"),
        ([[1], [1, 2]], ShapeError, "different lengths"),
        (np.ma.masked_array([1, 2], [True, False]), ArgumentError, "masked arrays"),
    ],
)
def test_refuses_values(value, kind, words):
    with pytest.raises(kind, match=words):
        as_array(value)


def test_refuses_types():
    with pytest.raises(ShapeError, match="not of type float32"):
        as_array([1.0], array_type((2,), np.float32))
    with pytest.raises(ShapeError, match="not of type float32"):
        as_array(as_array([1.0]), array_type((2,), np.float32))
    with pytest.raises(ShapeError, match="key<fry>"):
        as_array(np.zeros((2, 3), np.uint32), KeyDType("threefry2x32"))
    with pytest.raises(ArgumentError, match="got str"):
        as_array(1.0, None, "cpu")


def test_memory_is_copied_unless_asked():
    x = aligned(16)
    kept, shared = as_array(x), as_array(x, may_alias=True)
    assert shared.unsafe_buffer_pointer() == x.ctypes.data != kept.unsafe_buffer_pointer()
    x[0] = 9
    assert kept.tolist()[0] == 0 and shared.tolist()[0] == 9
    assert device_put(x, may_alias=True).unsafe_buffer_pointer() == x.ctypes.data
    assert device_put(x).unsafe_buffer_pointer() != x.ctypes.data


@given(st.permutations([0, 1, 2]), st.sampled_from([1, 2, -1, -2]), st.sampled_from([">f4", "<f8"]))
def test_any_layout(axes, step, dtype):
    x = np.arange(60, dtype=dtype).reshape(3, 4, 5).transpose(axes)[:, ::step]
    np.testing.assert_array_equal(np.asarray(as_array(x)), x)
    np.testing.assert_array_equal(np.asarray(as_array(x[0, 0])), x[0, 0])


def test_constants_are_shared():
    assert constant(2.0) is constant(2.0) and constant(2.0).weak_type
    assert constant(1) is not constant(1.0) and constant(1) is not constant(True)
    assert constant(0.0) is not constant(-0.0) and np.signbit(np.asarray(constant(-0.0)))
    assert np.signbit(np.asarray(constant(complex(0, -0.0))).imag)
    assert not np.signbit(np.asarray(constant(complex(0, 0.0))).imag)
    with nl.enable_x64():
        assert constant(2.0).dtype == np.float64
    assert constant(2.0, SingleDeviceSharding(devices()[1])).device is devices()[1]


def test_default_device():
    with nl.default_device(devices()[3]):
        a = as_array([1.0])
        assert a.device is devices()[3] and not a.committed
        assert constant(5.0).device is devices()[3]
    assert as_array([1.0]).device is devices()[0]


def test_many_threads():
    results = []

    def work(i):
        for _ in range(50):
            results.append(float(as_array(np.float32(i))) == i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 200 and all(results)


# --- moving ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), list(itertools.product(SPECS, SPECS)), ids=repr)
def test_resharding(a, b):
    x = np.arange(64.0, dtype=np.float32).reshape(8, 8)
    m = mesh()
    first = device_put(x, NamedSharding(m, a))
    for options in ({}, {"may_alias": False}, {"donate": True}):
        second = device_put(first, NamedSharding(m, b), **options)
        assert second.sharding is NamedSharding(m, b) and second.committed
        np.testing.assert_array_equal(np.asarray(second), x)
        assert first.is_deleted() == ("donate" in options)


def test_between_devices_and_meshes():
    x = np.arange(8.0, dtype=np.float32)
    a = device_put(x, devices()[1])
    b = device_put(a, NamedSharding(mesh(), P("x")))
    c = device_put(b, devices()[5])
    d = device_put(
        c, NamedSharding(make_mesh((2,), "z", AxisType.Auto, devices=devices()[6:]), P("z"))
    )
    for y in (a, b, c, d):
        np.testing.assert_array_equal(np.asarray(y), x)
    assert c.device is devices()[5] and d.devices() == set(devices()[6:8])
    back = device_put(d, NamedSharding(make_mesh((2,), "z", AxisType.Auto), P("z")))
    assert back.devices() == set(devices()[:2])
    np.testing.assert_array_equal(np.asarray(back), x)


def test_memory_kinds():
    s = NamedSharding(mesh(), P("x"))
    a = device_put(np.arange(8.0), s.with_memory_kind("pinned_host"))
    assert a.sharding.memory_kind == "pinned_host"
    assert a.addressable_shards[0].data.sharding.memory_kind == "pinned_host"
    b = device_put(a, s)
    assert b.sharding is s and b.tolist() == list(range(8))
    assert device_put(b, s.with_memory_kind("pinned_host")).tolist() == list(range(8))


def test_staying_where_it_is():
    a = as_array([1.0])
    assert device_put(a) is a
    b = device_put(a, devices()[0])
    assert b is not a and b.committed and not a.committed
    assert b.unsafe_buffer_pointer() == a.unsafe_buffer_pointer()
    assert device_put(b, devices()[0]) is b
    c = device_put(b, may_alias=False)
    assert c.unsafe_buffer_pointer() != b.unsafe_buffer_pointer()
    d = device_put(c, donate=True)
    assert c.is_deleted() and d.tolist() == [1.0]


def test_trees():
    m = mesh()
    s = NamedSharding(m, P("x"))
    tree = {"w": np.ones((8, 2)), "b": (1.5, np.int8(2), None)}
    out = device_put(tree, {"w": s, "b": devices()[2]})
    assert out["w"].sharding is s and out["b"][0].device is devices()[2] and out["b"][2] is None
    assert out["b"][0].weak_type and out["b"][1].dtype == np.int8
    assert not device_put(tree, {"w": s, "b": None})["b"][0].committed
    with set_mesh(m):
        assert device_put([np.ones(8)], P("y"))[0].sharding is NamedSharding(m, P("y"))
        assert device_put([np.ones(8)] * 2, [P("y"), P()])[1].sharding.spec == P()
    got = device_get(out)
    assert isinstance(got["w"], np.ndarray) and not got["w"].flags.writeable
    assert got["w"].tolist() == [[1, 1]] * 8 and device_get({"a": 1, "b": "s"}) == {
        "a": 1,
        "b": "s",
    }
    assert block_until_ready(out) is out and copy_to_host_async(out) is out
    donated = device_put(out, donate={"w": True, "b": False})
    assert out["w"].is_deleted() and not out["b"][0].is_deleted()
    assert donated["w"].tolist() == [[1, 1]] * 8
    assert device_put(donated, src={"w": s, "b": None})["w"] is donated["w"]


def test_device_put_refuses():
    s = NamedSharding(mesh(), P("x"))
    with pytest.raises(ShardingError, match=r"size 6 .*mesh axis 'x' of size 4"):
        device_put(np.ones(6), s)
    with pytest.raises(ShardingError, match="needs a current mesh"):
        device_put(1.0, P())
    with pytest.raises(ShardingError, match="1 entries for an array of 0"):
        device_put(1.0, s)
    with pytest.raises(TreeError, match="device is not a prefix of x"):
        device_put((1, 2), (s,))
    with pytest.raises(ArgumentError, match="got str"):
        device_put(1, "cpu")
    with pytest.raises(ValueArgumentError, match="donated array cannot share"):
        device_put(1, donate=True, may_alias=True)
    with pytest.raises(ShardingError, match="src is not where"):
        device_put(as_array(1), src=devices()[1])


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_arrays_of_parts(spec):
    x = np.arange(64, dtype=np.int16).reshape(8, 8)
    s = NamedSharding(mesh(), spec)
    calls = []
    a = make_array_from_callback((8, 8), s, lambda i: calls.append(i) or x[i])
    assert len(calls) == len({str(c) for c in calls})
    parts = [p.data for p in a.addressable_shards]
    b = make_array_from_single_device_arrays([8, 8], s, parts[::-1])
    c = make_array_from_process_local_data(s, x)
    for y in (a, b, c, make_array_from_process_local_data(s, x, (8, 8))):
        assert y.sharding is s and y.dtype == np.int16 and y.committed
        np.testing.assert_array_equal(np.asarray(y), x)
    assert (
        a.addressable_data(0).unsafe_buffer_pointer()
        == b.addressable_data(0).unsafe_buffer_pointer()
    )


def test_parts_as_other_things():
    s = NamedSharding(mesh(), P("x"))
    a = make_array_from_callback((4,), s, lambda i: [i[0].start], "float16")
    assert a.tolist() == [0, 1, 2, 3] and a.dtype == np.float16
    b = make_array_from_callback((4,), s, lambda i: as_array([i[0].start]))
    assert b.dtype == np.int32
    assert make_array_from_callback((), devices()[1], lambda i: 7).tolist() == 7


def test_parts_refused():
    s = NamedSharding(mesh(), P("x"))
    good = [device_put(np.zeros(2, np.float32), d) for d in devices()[:8]]
    make = make_array_from_single_device_arrays
    with pytest.raises(ShapeError, match=r"parts of shape \(4,\)"):
        make((16,), s, good)
    with pytest.raises(ShardingError, match="7 parts do not cover the 8"):
        make((8,), s, good[:7])
    with pytest.raises(ShardingError, match="do not cover"):
        make((8,), s, good[:7] + good[:1])
    with pytest.raises(DTypeError, match="different dtypes"):
        make((8,), s, good[:7] + [device_put(np.zeros(2, np.int8), devices()[7])])
    with pytest.raises(ShardingError, match="an array on one device"):
        make((8,), s, [np.zeros(2)] * 8)
    with pytest.raises(DTypeError, match="no parts"):
        make((8,), s, [])
    with pytest.raises(ShapeError, match=r"has shape \(2,\), its data \(3,\)"):
        make_array_from_callback((8,), s, lambda i: np.zeros(3))
    with pytest.raises(ShardingError, match="does not divide"):
        make_array_from_callback((6,), s, lambda i: np.zeros(3))
    with pytest.raises(ShapeError, match="local_data has size 8"):
        make_array_from_process_local_data(s, np.zeros(8), (16,))


# --- guards ---------------------------------------------------------------------------------------


def test_guard_host_to_device(caplog):
    x = np.ones(2, np.float32)
    with nl.transfer_guard_host_to_device("disallow"):
        with pytest.raises(DeviceError, match="implicit transfer host to device"):
            as_array(x)
        assert device_put(x).tolist() == [1, 1]
    explicit = pytest.raises(DeviceError, match="explicit transfer host to device")
    with nl.transfer_guard_host_to_device("disallow_explicit"), explicit:
        device_put(x)
    logger = logging.getLogger("numlift")
    logger.addHandler(caplog.handler)
    try:
        with nl.transfer_guard_host_to_device("log"):
            as_array(x)
    finally:
        logger.removeHandler(caplog.handler)
    assert "transfer host to device: float32[2]" in caplog.text


def test_guard_device_to_device():
    a = as_array([1.0])
    with nl.transfer_guard_device_to_device("disallow_explicit"):
        with pytest.raises(DeviceError, match="device to device"):
            device_put(a, devices()[1])
        assert device_put(a, devices()[0]).tolist() == [1.0]
