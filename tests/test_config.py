"""Flags: values, scopes, threads, environment, and the interned state."""

import contextlib
import enum
import importlib
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from numlift import errors, scopes
from numlift import flags as table
from numlift.config import config, current, replace, update, watch

module = importlib.import_module("numlift.config")  # nl.config is the object that users set


@pytest.fixture(autouse=True)
def restored():
    before = {name: module.get(name) for name in table.flags}
    yield
    for name, value in before.items():
        if module.get(name) != value:
            update(name, value)


def test_state_is_interned_and_immutable():
    start = current()
    assert current() is start
    with replace(enable_x64=True):
        wide = current()
        assert wide is not start
    with scopes.enable_x64():
        assert current() is wide
    with replace(enable_x64=False):
        assert current() is start
    with pytest.raises(AttributeError, match="immutable"):
        start.enable_x64 = True
    assert pickle.loads(pickle.dumps(wide)) is wide
    assert "enable_x64=True" in repr(wide)
    assert "debug_nans" not in repr(wide)
    assert wide.values()["enable_x64"] is True


@pytest.mark.parametrize("name", [n for n, f in table.flags.items() if f.kind != "process"])
def test_every_scoped_flag(name):
    before = module.get(name)
    if isinstance(before, bool):
        other = not before
    else:
        other = {
            "numpy_rank_promotion": "warn", "numpy_dtype_promotion": "strict",
            "default_prng_impl": "rbg", "default_matmul_precision": "highest",
            "default_device": "cpu", "mesh": object(), "random_seed_offset": 7,
        }.get(name, "log")  # fmt: skip
    with replace(**{name: other}):
        assert module.get(name) == other
        assert getattr(config, "jax_" + name) == other
    assert module.get(name) == before
    scope = getattr(module, name, None)
    if callable(scope):
        with scope(other):
            assert getattr(config, name) == other
    update("jax_" + name, other)
    assert module.get(name) == other


def test_scopes_nest_and_are_reentrant():
    scope = scopes.enable_x64()
    with scope, scopes.enable_x64(False), scope:
        assert current().enable_x64
    with scope, scopes.debug_nans():
        assert current().enable_x64
        assert current().debug_nans
    assert not current().enable_x64


def test_scope_as_decorator():
    @scopes.enable_x64()
    def inside(n):
        """Doc."""
        return current().enable_x64 and (n == 0 or inside(n - 1))

    assert inside(3)
    assert inside.__doc__ == "Doc."
    assert not current().enable_x64


def test_scope_ends_on_exceptions():
    with contextlib.suppress(ZeroDivisionError), scopes.disable_jit():
        raise ZeroDivisionError
    assert not current().disable_jit


def test_update_inside_a_scope_is_seen_except_for_the_overridden_flag():
    with scopes.enable_x64():
        update("debug_nans", True)
        update("enable_x64", False)
        assert current().debug_nans
        assert current().enable_x64
        assert current() is current()
        update("log_compiles", True)
        assert watch().log_compiles
    assert current().debug_nans
    assert not current().enable_x64


def test_scopes_are_per_thread_and_updates_are_global():
    seen = {}

    def look():
        seen["x64"] = current().enable_x64
        seen["nans"] = current().debug_nans

    update("debug_nans", True)
    with scopes.enable_x64():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == {"x64": False, "nans": True}


def test_watch_flags_are_not_in_the_state():
    before = current()
    with scopes.log_compiles(), scopes.transfer_guard("disallow"):
        assert current() is before
        assert watch().log_compiles
        assert watch().transfer_guard_device_to_host == "disallow"
        assert config.transfer_guard == "disallow"
        with scopes.transfer_guard_host_to_device("allow"):
            assert watch().transfer_guard_host_to_device == "allow"
            assert config.transfer_guard is None
    assert watch().transfer_guard_host_to_device == "allow"


def test_values_are_checked():
    for name, value in [
        ("enable_x64", "maybe"), ("enable_x64", 2), ("enable_x64", None),
        ("numpy_rank_promotion", "loud"), ("default_prng_impl", "xorshift"),
        ("default_matmul_precision", "good"), ("num_cpu_devices", 0), ("num_cpu_devices", 1.5),
        ("num_cpu_devices", "many"), ("log_level", "loud"), ("transfer_guard", "no"),
        ("compilation_cache_max_bytes", -2), ("platforms", 3),
        ("persistent_cache_min_compile_time_secs", "soon"),
        ("persistent_cache_min_compile_time_secs", -1),
    ]:  # fmt: skip
        with pytest.raises(errors.ValueArgumentError, match=f"{name} must be"):
            update(name, value)
    with pytest.raises(errors.ValueArgumentError, match="numpy_rank_promotion must be one of"):
        scopes.numpy_rank_promotion("loud")


def test_accepted_forms():
    class Precision(enum.Enum):
        HIGHEST = 2

    with scopes.default_matmul_precision(Precision.HIGHEST):
        assert current().default_matmul_precision == "highest"
    with scopes.default_matmul_precision("none"):
        assert current().default_matmul_precision is None
    with scopes.enable_x64(np.True_):
        assert current().enable_x64 is True
    with scopes.enable_x64(1):
        assert current().enable_x64 is True
    update("log_level", "debug")
    assert config.log_level == "DEBUG"
    update("jax_logging_level", 40)
    assert config.log_level == "ERROR"
    update("compilation_cache_dir", os.curdir)
    assert config.jax_compilation_cache_dir == os.curdir


def test_unknown_flags_suggest():
    with pytest.raises(errors.ValueArgumentError, match="no flag 'jax_debug_nan'") as caught:
        update("jax_debug_nan", True)
    assert "Try: config.update('debug_nans', ...)" in str(caught.value)
    with pytest.raises(AttributeError, match="no flag"):
        _ = config.not_a_flag
    assert not hasattr(config, "not_a_flag")
    with pytest.raises(errors.ValueArgumentError, match="no flag"):
        replace(colour="red")
    with pytest.raises(AttributeError, match=r"use config.update"):
        config.enable_x64 = True
    with pytest.raises(errors.ValueArgumentError, match="whole process"):
        replace(platforms="cpu")


def test_config_object():
    assert config.values["enable_x64"] is False
    assert "debug_nans" in dir(config)
    assert config.current() is current()
    assert config.x64_enabled is False
    assert config.platform_name == config.platforms


def test_backend_flags_freeze(monkeypatch):
    monkeypatch.setattr(module, "_backend_made", False)
    now = config.num_cpu_devices
    update("num_cpu_devices", 3)
    assert config.num_cpu_devices == 3
    module.freeze_backend()
    update("num_cpu_devices", 3)
    update("log_level", "INFO")
    with pytest.raises(errors.DeviceError, match="once devices are in use") as caught:
        update("num_cpu_devices", 8)
    assert "NUMLIFT_NUM_CPU_DEVICES" in str(caught.value)
    with pytest.raises(errors.DeviceError):
        update("jax_platforms", "tpu")
    monkeypatch.setattr(module, "_backend_made", False)
    update("num_cpu_devices", now)


def run_with(**environment):
    code = "from numlift.config import config as c; print(c.enable_x64, c.num_cpu_devices, "
    code += "c.transfer_guard, c.default_matmul_precision)"
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_environment():
    done = run_with(
        NUMLIFT_ENABLE_X64="1",
        NUMLIFT_NUM_CPU_DEVICES="4",
        NUMLIFT_TRANSFER_GUARD="log",
        NUMLIFT_DEFAULT_MATMUL_PRECISION="high",
    )
    assert done.stdout.split() == ["True", "4", "log", "high"], done.stderr
    assert "enable_x64 must be True or False" in run_with(NUMLIFT_ENABLE_X64="perhaps").stderr
