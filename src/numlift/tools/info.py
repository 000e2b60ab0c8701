"""What Numlift finds on this machine: versions, devices, flags, the cache, and the plugins."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable
from typing import Any

from ..config import get as flag
from ..errors import DeviceError
from ..flags import flags as known_flags
from ..runtime import devices, disk_cache, plugins

PACKAGES = ("numlift", "jaxlib", "numpy", "ml_dtypes", "scipy")

_VARIABLES = ("XLA_FLAGS", "XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_PREALLOCATE",
              "CUDA_VISIBLE_DEVICES", "TPU_LIBRARY_PATH", "PJRT_NPROC", "LD_LIBRARY_PATH",
              "TF_CPP_MIN_LOG_LEVEL")  # fmt: skip


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    found["python"] = f"{platform.python_version()} ({platform.python_implementation()})"
    found["system"] = platform.platform()
    return found


def _memory() -> int | None:
    """Bytes of memory of this machine; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _device_facts(device: devices.Device) -> dict[str, Any]:
    stats = device.memory_stats() if device.platform != "cpu" else None
    return {
        "id": device.id,
        "platform": device.platform,
        "kind": device.device_kind,
        "process": device.process_index,
        "bytes_limit": stats.get("bytes_limit") if stats else None,
        "bytes_in_use": stats.get("bytes_in_use") if stats else None,
    }


def _devices() -> dict[str, Any]:
    try:
        default = devices.backend()
    except DeviceError as error:
        return {"error": str(error), "default_backend": None, "list": []}
    return {
        "error": None,
        "default_backend": default.platform,
        "process_index": default.process_index,
        "process_count": default.process_count,
        "list": [_device_facts(d) for d in default.local_devices],
    }


def _flags() -> dict[str, Any]:
    """Flags that differ from their default, by name."""
    values = {name: flag(name) for name in known_flags}
    return {n: v for n, v in values.items() if v != known_flags[n].default}


def _environment() -> dict[str, str]:
    return {
        n: v for n, v in sorted(os.environ.items()) if n.startswith("NUMLIFT_") or n in _VARIABLES
    }


def cache_facts() -> dict[str, Any]:
    """Folder, limit and content of the persistent compilation cache."""
    count, size = disk_cache.cache_at(disk_cache.folder()).size()
    return {
        "enabled": disk_cache.enabled(),
        "folder": str(disk_cache.folder()),
        "entries": count,
        "bytes": size,
        "max_bytes": flag("compilation_cache_max_bytes"),
    }


def collect() -> dict[str, Any]:
    """All facts, as values that `json.dumps` takes. Starts the default backend.

    Example:
        >>> sorted(collect())
        ['cache', 'devices', 'environment', 'flags', 'machine', 'plugins', 'versions']
    """
    return {
        "versions": _versions(),
        "machine": {"cpus": os.cpu_count(), "memory_bytes": _memory()},
        "devices": _devices(),
        "flags": {n: v if _plain(v) else repr(v) for n, v in _flags().items()},
        "environment": _environment(),
        "cache": cache_facts(),
        "plugins": [r._asdict() for r in plugins.report()],
    }


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def in_bytes(size: int | None) -> str:
    """A size for people: ``1.5 GiB``.

    Example:
        >>> in_bytes(1536)
        '1.5 KiB'
    """
    if size is None:
        return "unknown"
    if size < 0:
        return "no limit"
    amount, unit = float(size), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


# --- text -----------------------------------------------------------------------------------------


def _section(title: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    return [title, *(f"  {name:<{width}}  {value}" for name, value in rows), ""]


def _device_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    if facts["error"]:
        return [("error", facts["error"].replace("\n", "; "))]
    rows = [("default backend", facts["default_backend"])]
    if facts["process_count"] > 1:
        rows.append(("process", f"{facts['process_index']} of {facts['process_count']}"))
    for d in facts["list"]:
        memory = ""
        if d["bytes_limit"]:
            memory = f", {in_bytes(d['bytes_in_use'])} of {in_bytes(d['bytes_limit'])} in use"
        rows.append((f"{d['platform']}:{d['id']}", f"{d['kind']}{memory}"))
    return rows


def _plugin_lines(reports: list[dict[str, Any]]) -> list[str]:
    lines = ["Accelerators"]
    for r in reports:
        version = f" {r['version']}" if r["version"] else ""
        lines.append(f"  {r['platform']}: {r['status']}{version}")
        if r["library"]:
            lines.append(f"    library: {r['library']}")
        else:
            lines.append(f"    looked for: {', '.join(r['looked_for'])}")
        lines.append(f"    hardware: {r['hardware'] or 'no sign of it'}")
        if r["reason"] and r["status"] == "broken":
            lines += [f"    {line}" for line in r["reason"].splitlines()]
        elif r["status"] == "missing":
            lines.append(f"    to get it: {r['install']}")
    return [*lines, ""]


def cache_lines(facts: dict[str, Any]) -> list[str]:
    """The facts of `cache_facts` as lines of text."""
    state = "on" if facts["enabled"] else "off"
    return _section(
        "Compilation cache",
        [
            ("state", state),
            ("folder", facts["folder"]),
            ("programs", str(facts["entries"])),
            ("size", f"{in_bytes(facts['bytes'])} of {in_bytes(facts['max_bytes'])}"),
        ],
    )


def render(facts: dict[str, Any]) -> str:
    """The facts of `collect` as text for people, and for reports of mistakes."""
    versions = facts["versions"]
    machine = facts["machine"]
    lines = _section("Versions", [(n, v or "not installed") for n, v in versions.items()])
    lines += _section(
        "Machine",
        [("CPUs", str(machine["cpus"])), ("memory", in_bytes(machine["memory_bytes"]))],
    )
    lines += _section("Devices", _device_rows(facts["devices"]))
    lines += _plugin_lines(facts["plugins"])
    lines += cache_lines(facts["cache"])
    flags = [(n, str(v)) for n, v in facts["flags"].items()]
    lines += _section("Flags that are not at their default", flags or [("none", "")])
    lines += _section("Environment", facts["environment"].items() or [("none", "")])
    return "\n".join(line.rstrip() for line in lines)
