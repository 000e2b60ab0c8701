from __future__ import annotations

import os
import threading

import pytest

from numlift.errors import DeviceError
from numlift.runtime import devices
from tests.runtime.child import run

LIST = "from numlift.runtime import devices as d; print(len(d.devices()), d.default_backend())"


def test_default_platform_and_counts():
    assert devices.default_backend() == "cpu"
    found = devices.devices()
    assert found == devices.devices("cpu") == devices.local_devices()
    assert devices.device_count() == devices.local_device_count() == len(found)
    assert (devices.process_index(), devices.process_count()) == (0, 1)
    assert devices.process_indices() == [0]
    assert devices.default_device() is found[0]
    assert devices.backend_of(found[-1]) is devices.backend()


def test_device_attributes():
    device = devices.devices()[0]
    assert (device.id, device.platform, device.process_index) == (0, "cpu", 0)
    assert device.device_kind
    assert device.memory_stats() is None
    assert devices.default_device() is device


def test_same_client_from_many_threads():
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(devices.backend("CPU"))) for _ in range(8)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(map(id, found)) == {id(devices.backend())}


def test_threads_that_start_the_first_client_share_it():
    run("""
import threading
from numlift.runtime import devices
found = []
threads = [threading.Thread(target=lambda: found.append(devices.backend())) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
assert len(found) == 8 and len(set(map(id, found))) == 1
""")


def test_unknown_platform():
    with pytest.raises(DeviceError, match=r"there is no platform 'npu'\n.*\nTry: devices"):
        devices.devices("npu")


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="there is a GPU")
@pytest.mark.parametrize("name", ["cuda", "rocm", "tpu", "gpu"])
def test_missing_platform_says_how_to_get_it(name):
    with pytest.raises(DeviceError, match='Try: pip install "numlift'):
        devices.devices(name)


def test_no_such_process():
    with pytest.raises(DeviceError, match="there is no process 3"):
        devices.local_devices(3)


def test_number_of_cpu_devices():
    assert run(LIST).split() == ["1", "cpu"]
    assert run(LIST, NUMLIFT_NUM_CPU_DEVICES="3").split() == ["3", "cpu"]
    flag = "--xla_force_host_platform_device_count=2"
    assert run(LIST, XLA_FLAGS=flag).split() == ["2", "cpu"]
    assert run(LIST, XLA_FLAGS=flag, NUMLIFT_NUM_CPU_DEVICES="2").split() == ["2", "cpu"]
    said = run(LIST, XLA_FLAGS=flag, NUMLIFT_NUM_CPU_DEVICES="3", expect=1)
    assert "two different numbers of CPU devices" in said


def test_named_platforms():
    assert run(LIST, NUMLIFT_PLATFORMS="cpu").split() == ["1", "cpu"]
    assert "there is no platform 'npu'" in run(LIST, NUMLIFT_PLATFORMS="npu", expect=1)


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="there is a GPU")
def test_named_platform_that_is_missing_is_an_error_but_the_next_one_serves():
    assert "no cuda plugin is installed" in run(LIST, NUMLIFT_PLATFORMS="cuda", expect=1)
    assert run(LIST, NUMLIFT_PLATFORMS="cuda,cpu").split() == ["1", "cpu"]


def test_flags_are_fixed_once_devices_are_used():
    said = run(
        "from numlift.runtime import devices; from numlift import config\n"
        "devices.devices(); config.update('num_cpu_devices', 2)",
        expect=1,
    )
    assert "cannot change once devices are in use" in said


def test_hooks_see_every_backend():
    seen = []
    devices.backend()
    devices.on_backend_start(seen.append)
    assert seen == list(devices.started_backends())


def test_distributed_after_the_first_use_is_refused():
    devices.backend()
    with pytest.raises(DeviceError, match="already in use"):
        devices.use_distributed(devices.ClientOptions())


def test_default_device_scope():
    run("""
from numlift import config, default_device
config.update("num_cpu_devices", 2)
from numlift.runtime import devices
second = devices.devices()[1]
with default_device(second):
    assert devices.default_device() is second
with default_device("cpu"):
    assert devices.default_device() is devices.devices()[0]
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork_after_the_backend_started_warns():
    code = """
import os, warnings
import numlift as nl
def fork():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
    return [str(w.message) for w in found if "numlift" in str(w.message)]
assert not fork()
nl.numpy.ones(3)
(text,) = fork()
assert "spawn" in text, text
"""
    run(code)
