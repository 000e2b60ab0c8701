"""The table of flags: name, kind, default, and the check of values. `config` holds the values."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .errors import ValueArgumentError


class Flag(NamedTuple):
    """One flag: `check` turns a given value (or environment text) into the stored one."""

    name: str
    kind: str
    default: Any
    check: Callable[[str, Any], Any]
    help: str


def _wrong(name: str, value: Any, wanted: str) -> ValueArgumentError:
    return ValueArgumentError(
        f"config.update: {name} must be {wanted}\n  value: {value!r}\n"
        f"Try: config.update({name!r}, ...) with {wanted}"
    )


_TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})
_FALSE = frozenset({"0", "false", "f", "no", "n", "off", ""})


def _bool(name: str, value: Any) -> bool:
    if isinstance(value, str):
        low = value.strip().lower()
        if low in _TRUE:
            return True
        if low in _FALSE:
            return False
    elif isinstance(value, (bool, np.bool_)) or (type(value) is int and value in (0, 1)):
        return bool(value)
    raise _wrong(name, value, "True or False")


def _int(least: int) -> Callable[[str, Any], int]:
    def check(name: str, value: Any) -> int:
        try:
            number = int(value) if isinstance(value, str) else value.__index__()
        except (AttributeError, ValueError):
            raise _wrong(name, value, f"an integer >= {least}") from None
        if number < least:
            raise _wrong(name, value, f"an integer >= {least}")
        return number

    return check


def _seconds(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise _wrong(name, value, "a number of seconds") from None
    if not number >= 0:
        raise _wrong(name, value, "a number of seconds >= 0")
    return number


def _optional(check: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    def optional(name: str, value: Any) -> Any:
        if value is None or (isinstance(value, str) and value.strip().lower() in ("", "none")):
            return None
        return check(name, value)

    return optional


def _choice(*allowed: str) -> Callable[[str, Any], str]:
    def check(name: str, value: Any) -> str:
        text = value.name.lower() if isinstance(value, enum.Enum) else value
        if text not in allowed:
            raise _wrong(name, value, "one of " + ", ".join(repr(a) for a in allowed))
        return text

    return check


def _text(name: str, value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise _wrong(name, value, "a string")
    return value


def _log_level(name: str, value: Any) -> str:
    levels = ("NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    if type(value) is int and value % 10 == 0 and 0 <= value <= 50:
        return levels[value // 10]
    return _choice(*levels)(name, value.upper() if isinstance(value, str) else value)


def _anything(name: str, value: Any) -> Any:
    return value


def _device(name: str, value: Any) -> Any:
    if value is None or (hasattr(value, "platform") and hasattr(value, "client")):
        return value
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _PLATFORMS:
            return text
        if text in ("", "none"):
            return None
    raise _wrong(name, value, "a device of devices(), None, or one of " + ", ".join(_PLATFORMS))


_PLATFORMS = ("cpu", "gpu", "tpu", "cuda", "rocm")


def _prng_impl(name: str, value: Any) -> str:
    value = getattr(value, "name", value)
    if value not in prng_impls:
        raise _wrong(name, value, "one of " + ", ".join(repr(p) for p in sorted(prng_impls)))
    return value


prng_impls: set[str] = {"threefry2x32", "rbg", "unsafe_rbg"}
"""Names that `default_prng_impl` accepts; `random` adds those that users register."""

_PRECISIONS = _optional(
    _choice(
        "default", "high", "highest", "fastest", "bfloat16", "bfloat16_3x", "tensorfloat32",
        "float32", "ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY",
        "ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16",
        "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9",
        "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64",
    )
)  # fmt: skip
_GUARDS = _choice("allow", "log", "disallow", "log_explicit", "disallow_explicit")

_FLAGS = (
    Flag("enable_x64", "state", False, _bool, "64-bit dtypes are available and the default"),
    Flag("default_matmul_precision", "state", None, _PRECISIONS, "precision of products"),
    Flag("numpy_rank_promotion", "state", "allow", _choice("allow", "warn", "raise"),
         "implicit broadcasting between different numbers of dimensions"),
    Flag("numpy_dtype_promotion", "state", "standard", _choice("standard", "strict", "numpy"),
         "'strict' refuses implicit promotion between dtypes that are not weak; 'numpy' promotes "
         "as NumPy 2 does"),
    Flag("debug_nans", "state", False, _bool, "raise where a NaN first appears"),
    Flag("debug_infs", "state", False, _bool, "raise where an infinity first appears"),
    Flag("debug_key_reuse", "state", False, _bool, "raise if a random key is consumed twice"),
    Flag("disable_jit", "state", False, _bool, "run jitted functions op by op"),
    Flag("check_tracer_leaks", "state", False, _bool, "raise if a traced value outlives its trace"),
    Flag("enable_checks", "state", False, _bool, "verify graphs after every pass"),
    Flag("default_device", "state", None, _device, "device for new arrays"),
    Flag("default_prng_impl", "state", "threefry2x32", _prng_impl, "generator of new random keys"),
    Flag("threefry_partitionable", "state", True, _bool, "random bits do not depend on sharding"),
    Flag("enable_custom_prng", "state", False, _bool, "random.PRNGKey makes typed keys"),
    Flag("random_seed_offset", "state", 0, _int(-(2**63)), "added to every seed of a new key"),
    Flag("softmax_custom_jvp", "state", True, _bool, "softmax has its own derivative rule"),
    Flag("mesh", "state", None, _anything, "mesh set by `set_mesh`"),
    Flag("log_compiles", "watch", False, _bool, "log every compilation"),
    Flag("explain_cache_misses", "watch", False, _bool, "warn why a jitted function traces again"),
    Flag("transfer_guard_host_to_device", "watch", "allow", _GUARDS, "implicit host to device"),
    Flag("transfer_guard_device_to_device", "watch", "allow", _GUARDS, "implicit device to device"),
    Flag("transfer_guard_device_to_host", "watch", "allow", _GUARDS, "implicit device to host"),
    Flag("platforms", "process", None, _optional(_text), "comma-separated platforms, best first"),
    Flag("num_cpu_devices", "process", None, _optional(_int(1)), "devices of the CPU client"),
    Flag("enable_compilation_cache", "process", True, _bool, "keep compiled programs on disk"),
    Flag("compilation_cache_dir", "process", None, _optional(_text), "its folder"),
    Flag("compilation_cache_max_bytes", "process", 2 << 30, _int(-1), "its limit; -1: none"),
    Flag("persistent_cache_min_compile_time_secs", "process", 0.0, _seconds,
         "programs that compile faster are not kept"),
    Flag("persistent_cache_min_entry_size_bytes", "process", 0, _int(-1),
         "smaller programs are not kept"),
    Flag("raise_persistent_cache_errors", "process", False, _bool, "raise instead of warning"),
    Flag("log_level", "process", "WARNING", _log_level, "level of the 'numlift' logger"),
    Flag("traceback_filtering", "process", "auto",
         _choice("auto", "off", "tracebackhide", "remove_frames", "quiet_remove_frames"),
         "how Numlift's own frames are hidden from tracebacks"),
)  # fmt: skip

flags: dict[str, Flag] = {flag.name: flag for flag in _FLAGS}
"""Every flag by name."""
