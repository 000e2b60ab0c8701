from __future__ import annotations

import gc
import importlib.util
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from numlift.runtime import devices, logs, xla
from tests.runtime.child import run

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16",
          ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]  # fmt: skip


class Aval:
    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.weak_type = shape, np.dtype(dtype), False


@pytest.fixture
def here():
    return xla.XlaSharding(devices.local_devices()[:1])


def put(value, here, alias=False):
    value = np.asarray(value)
    return xla.put([value], Aval(value.shape, value.dtype), here, alias=alias)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (2, 3)])
def test_round_trip_in_every_dtype(here, dtype, shape):
    value = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
    array = put(value, here)
    back = xla.host_array(array)
    assert back.dtype == value.dtype
    assert back.shape == shape
    np.testing.assert_array_equal(back, value)
    assert not back.flags.writeable


def test_put_copies_and_alias_shares(here):
    raw = np.zeros(4 * 8 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    value = raw[start : start + 32].view(np.float32)
    copied, shared = put(value, here), put(value, here, alias=True)
    value[0] = 7
    assert xla.host_array(copied)[0] == 0
    assert xla.host_array(shared)[0] == 7
    assert xla.buffer_pointer(shared) == value.ctypes.data


def test_reading_is_a_view_of_the_memory(here):
    array = put(np.arange(8.0), here)
    assert xla.host_array(array).ctypes.data == xla.buffer_pointer(array)


def test_deleted_array_raises(here):
    array = put(np.arange(8.0), here)
    array.delete()
    with pytest.raises(xla.JaxRuntimeError, match="deleted"):
        xla.host_array(array)


def test_dlpack_shares_memory(here):
    array = put(np.arange(8, dtype=np.float32), here)
    back = xla.from_dlpack(xla.to_dlpack(array), devices.local_devices()[0])
    assert xla.buffer_pointer(back) == xla.buffer_pointer(array)
    np.testing.assert_array_equal(xla.host_array(back), np.arange(8))


def test_copy_keeps_the_aval(here):
    array = put(np.arange(3.0), here)
    (copy,) = xla.copy_to([array], here, xla.ArrayCopySemantics.ALWAYS_COPY)
    assert xla.buffer_pointer(copy) != xla.buffer_pointer(array)
    assert copy.aval is array.aval


def test_no_jax_is_reentrant_and_restores_modules(here):
    import sys

    before = {n: sys.modules.get(n) for n in ("jax", "jax._src.sharding_impls")}
    array = put(np.arange(3.0), here)

    def read():
        for _ in range(200):
            xla.shards(array)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with xla.no_jax, xla.no_jax:
        xla.shards(array)
    assert {n: sys.modules.get(n) for n in before} == before


def test_memory_of_dropped_arrays_is_freed(here):
    client = devices.backend().client
    gc.collect()
    before = len(client.live_arrays())
    array = put(np.arange(3.0), here)
    assert len(client.live_arrays()) == before + 1
    del array
    assert len(client.live_arrays()) == before


SHARDED = """
import numpy as np
from numlift import config
config.update("num_cpu_devices", 4)
from numlift.runtime import devices, xla
d = devices.devices()
class Aval: shape, dtype, weak_type = (8,), np.dtype("f4"), False
x = np.arange(8, dtype="f4")
rows = xla.XlaSharding(d, xla.HloSharding.iota_tile((4,)))
a = xla.put([x[i:i+2] for i in range(0, 8, 2)], Aval, rows)
b = xla.assemble(xla.shards(a), Aval, rows)
assert np.array_equal(np.concatenate([xla.host_array(s) for s in xla.shards(b)]), x)
try:
    xla.host_array(a)
except ValueError as e:
    assert "split over devices" in str(e)
else:
    raise AssertionError
r = xla.put([x] * 4, Aval, xla.XlaSharding(d))
assert np.array_equal(xla.host_array(r), x)
import sys
assert "jax" not in sys.modules
"""


def test_arrays_over_several_devices():
    assert run(SHARDED) == ""


USE_ALL = """
import numpy as np, sys
from numlift.runtime import devices, xla
class Aval: shape, dtype, weak_type = (8,), np.dtype("f4"), False
here = xla.XlaSharding(devices.devices())
a = xla.put([np.arange(8, dtype="f4")], Aval, here)
xla.shards(a), xla.buffer_pointer(a), xla.host_array(a), xla.start_host_copy(a)
b = xla.from_dlpack(xla.to_dlpack(a), devices.devices()[0])
assert np.array_equal(xla.host_array(b), np.arange(8))
"""


def test_an_installed_jax_is_never_imported(tmp_path: Path):
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text("raise SystemExit('jax was imported')")
    assert run(USE_ALL + "assert 'jax' not in sys.modules\n", tmp_path) == ""


WITH_JAX = """
import jax.numpy as jnp
y = jax.jit(lambda v: jnp.sin(v) + 1)(jnp.arange(3.0))
assert np.allclose(y, np.sin(np.arange(3.0)) + 1) and y.shape == (3,) and y.dtype == "float32"
assert np.asarray(jax.grad(lambda v: v * v)(3.0)) == 6
assert jax.device_put(np.arange(8.0)).addressable_shards[0].data.shape == (8,)
"""


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.parametrize("order", ["before", "after"])
def test_a_real_jax_in_the_same_process_keeps_working(order):
    parts = [USE_ALL, "import jax\n" + WITH_JAX + USE_ALL]
    run("".join(parts if order == "after" else parts[1:]), PYTHONWARNINGS="default")


def test_start_up_imports_nothing_heavy():
    run(
        USE_ALL
        + "bad = [m for m in sys.modules if m.split('.')[0] == 'scipy' or 'jaxlib.mlir' in m]\n"
        + "assert not bad, bad\n"
    )


def test_xla_is_silent_unless_asked():
    code = "from numlift.runtime import devices; devices.devices()"
    assert run(code) == ""
    assert "device count" in run(code, NUMLIFT_LOG="info")
    assert "device count" in run(code, NUMLIFT_LOG_LEVEL="DEBUG")
    assert "NUMLIFT_LOG: 'loud' is not a level" in run(code, NUMLIFT_LOG="loud", expect=1)


@pytest.mark.parametrize(
    "text, number", [("info", 0), (" Warning", 1), ("error", 2), ("off", 3), ("1", 1)]
)
def test_levels(text, number):
    assert logs.level_number(text) == number


def test_option_names():
    assert "xla_backend_optimization_level" in xla.option_names()


def test_unsupported_jaxlib_is_refused(tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(
        "import jaxlib.version\njaxlib.version.__version__ = '0.4.30'\n"
    )
    assert 'Try: pip install "jaxlib' in run("import numlift.runtime.xla", tmp_path, expect=1)
