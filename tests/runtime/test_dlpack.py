"""DLPack both ways: shared memory, every dtype, copies, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
from numlift import errors
from numlift.errors import ArgumentError, DeviceError, DTypeError, ShardingError
from numlift.runtime.devices import devices
from numlift.runtime.dlpack import from_dlpack, to_dlpack
from numlift.runtime.mesh_utils import make_mesh
from numlift.runtime.transfer import as_array, device_put
from numlift.sharding import NamedSharding, P

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "complex64", "complex128"]  # fmt: skip


def aligned(count: int, dtype: str) -> np.ndarray:
    size = np.dtype(dtype).itemsize
    raw = np.zeros(count * size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * size].view(dtype)


class Capsule:
    """An array of another library that knows nothing but DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return to_dlpack(self.array)

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_ways_share_memory(dtype, enable_x64):
    x = aligned(8, dtype)
    x[:] = np.arange(8) % 2
    a = from_dlpack(x)
    assert a.dtype == dtype and a.committed and a.unsafe_buffer_pointer() == x.ctypes.data
    back = np.from_dlpack(a)
    assert back.ctypes.data == x.ctypes.data and back.dtype == dtype
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_small_floats(dtype):
    a = as_array([1, 0, 1], dtype)
    b = from_dlpack(Capsule(a))
    assert b.dtype == a.dtype and b.tolist() == [1, 0, 1]
    assert b.unsafe_buffer_pointer() == a.unsafe_buffer_pointer()


def test_copies():
    x = aligned(8, "float32")
    a = from_dlpack(x, copy=True)
    x[0] = 5
    assert a.tolist()[0] == 0
    b = as_array([1.0, 2.0])
    c = from_dlpack(Capsule(b))
    assert c.unsafe_buffer_pointer() == b.unsafe_buffer_pointer()
    fresh = np.from_dlpack(b, copy=True)
    assert fresh.ctypes.data != b.unsafe_buffer_pointer() and fresh.tolist() == [1, 2]
    assert from_dlpack(x, device=devices()[2]).device is devices()[2]


def test_memory_that_cannot_be_shared():
    x = np.arange(12.0, dtype=np.float32)
    assert from_dlpack(x[::2]).tolist() == x[::2].tolist()
    x.flags.writeable = False
    assert from_dlpack(x).tolist() == x.tolist()
    assert from_dlpack(np.arange(6, dtype="f").reshape(2, 3).T).shape == (3, 2)
    assert from_dlpack(np.arange(3)).dtype == np.int32
    for bad in (np.arange(12, dtype="f")[::2], np.arange(3)):
        with pytest.raises(ArgumentError):
            from_dlpack(bad, copy=False)
    x64 = aligned(4, "int64")
    with pytest.raises(ArgumentError, match="int64 becomes int32, which needs a copy"):
        from_dlpack(x64, copy=False)
    with nl.enable_x64():
        assert from_dlpack(x64, copy=False).dtype == np.int64


def test_device():
    assert as_array(1).__dlpack_device__() == (1, 0)
    assert device_put(1, devices()[3]).__dlpack_device__() == (1, 0)
    assert np.from_dlpack(device_put([1.0], devices()[3])[0].to_device(devices()[1])) == 1


def test_refuses():
    with pytest.raises(ArgumentError, match="list does not speak DLPack"):
        from_dlpack([1])
    with pytest.raises(ArgumentError, match="bare capsule"):
        from_dlpack(to_dlpack(as_array([1.0])))
    with pytest.raises(DeviceError, match="no device here for DLPack device"):
        from_dlpack(Capsule(as_array([1.0]), (8, 0)))
    s = device_put(np.ones(8), NamedSharding(make_mesh((8,), "x"), P("x")))
    for use in (lambda: s.__dlpack__(), lambda: s.__dlpack_device__()):
        with pytest.raises(ShardingError, match="several devices"):
            use()
    with pytest.raises(DeviceError, match="not"):
        as_array(1.0).__dlpack__(dl_device=(2, 0))
    with pytest.raises(DTypeError):
        from_dlpack(np.array(["a"]))


def test_what_dlpack_cannot_do():
    with pytest.raises(errors.DTypeError, match="DLPack has no int4"):
        nl.numpy.ones(3, "int4").__dlpack__()
    with pytest.raises(errors.ValueArgumentError, match="no streams on CPU"):
        nl.numpy.ones(3).__dlpack__(stream=5)
    a = nl.numpy.arange(3, dtype="bfloat16")
    assert nl.numpy.from_dlpack(a).tolist() == [0, 1, 2]  # NumPy itself has no bfloat16 there
