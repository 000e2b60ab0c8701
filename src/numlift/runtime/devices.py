"""Clients of XLA by platform, made on first use, and the devices that they hold."""

from __future__ import annotations

import copyreg
import os
import re
import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

from .. import config
from ..errors import DeviceError, user_depth
from . import logs, plugins, xla

PLATFORMS = ("tpu", "cuda", "rocm", "cpu")
"""Platforms in the order in which the default one is looked for."""

ALIASES = {"gpu": ("cuda", "rocm")}
"""Names that stand for the first available of several platforms."""

Device: TypeAlias = xla.Device
"""A device, as jaxlib gives it: `id, platform, device_kind, process_index, memory_stats()`, ..."""


class Backend:
    """One client of XLA: the devices of one platform in this process and its peers."""

    __slots__ = ("client", "devices", "local_devices", "platform", "process_index", "single")

    def __init__(self, platform: str, client: xla.Client) -> None:
        self.platform = platform
        self.client = client
        self.devices: tuple[Device, ...] = tuple(client.devices())
        self.local_devices: tuple[Device, ...] = tuple(client.local_devices())
        self.process_index: int = client.process_index()
        self.single = {d: xla.DeviceList((d,)) for d in self.local_devices}
        """One-device `DeviceList` of each local device."""

    @property
    def process_count(self) -> int:
        return len({d.process_index for d in self.devices})

    def __repr__(self) -> str:
        return f"Backend({self.platform}, {len(self.devices)} devices)"


class ClientOptions:
    """What the client of several processes needs; set by `use_distributed` before the first use."""

    __slots__ = ("link", "local_device_ids", "process_count", "process_index")

    def __init__(
        self,
        link: Any = None,
        process_index: int = 0,
        process_count: int = 1,
        local_device_ids: tuple[int, ...] | None = None,
    ) -> None:
        self.link, self.process_index, self.process_count = link, process_index, process_count
        self.local_device_ids = local_device_ids


_lock = threading.RLock()
_backends: dict[str, Backend] = {}
_failures: dict[str, str] = {}
_default: Backend | None = None
_client_options = ClientOptions()
_on_start: list[Callable[[Backend], None]] = []


# --- starting -------------------------------------------------------------------------------------


def use_distributed(options: ClientOptions) -> None:
    """Make the clients part of a group of processes.

    Raises:
        DeviceError: a client exists already.
    """
    global _client_options
    with _lock:
        if _backends:
            raise DeviceError(
                "distributed.initialize: devices are already in use in this process\n"
                f"  started: {', '.join(_backends)}\n"
                "Try: call distributed.initialize() before any array or device is made"
            )
        _client_options = options


def on_backend_start(hook: Callable[[Backend], None]) -> None:
    """Call `hook(backend)` for each backend, those that exist and those still to start."""
    with _lock:
        _on_start.append(hook)
        for started in _backends.values():
            hook(started)


def started_backends() -> tuple[Backend, ...]:
    """The backends in use so far; starts none."""
    return tuple(_backends.values())


def cpu_device_count() -> int | None:
    """Number of CPU devices asked for; None leaves it to ``XLA_FLAGS`` (1 without it)."""
    asked = config.get("num_cpu_devices")
    if asked is None:
        return None
    if "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", ""):
        found = re.search(
            r"xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", "")
        )
        if found and int(found[1]) != asked:
            raise DeviceError(
                "devices: two different numbers of CPU devices were asked for\n"
                f"  num_cpu_devices: {asked}\n"
                f"  XLA_FLAGS: --xla_force_host_platform_device_count={found[1]}\n"
                "Try: remove the flag from XLA_FLAGS"
            )
    return asked


def _make_cpu_client() -> xla.Client:
    options: dict[str, Any] = {}
    count = cpu_device_count()
    if count is not None:
        options["num_devices"] = count
    if _client_options.link is not None:
        options |= {
            "distributed_client": _client_options.link,
            "node_id": _client_options.process_index,
            "num_nodes": _client_options.process_count,
            "collectives": xla.make_gloo_collectives(_client_options.link),
        }
    return xla.make_cpu_client(**options)


def _make_client(platform: str) -> xla.Client:
    if platform == "cpu":
        return _make_cpu_client()
    o = _client_options
    return plugins.make_client(
        platform, o.link, o.process_index, o.process_count, o.local_device_ids
    )


def _start(platform: str) -> Backend:
    """The backend of one platform; raises DeviceError, with the reason, if there is none."""
    started = _backends.get(platform)
    if started is not None:
        return started
    with _lock:
        if platform in _backends:
            return _backends[platform]
        if platform in _failures:
            raise DeviceError(_failures[platform])
        config.freeze_backend()
        logs.apply_level()
        try:
            made = Backend(platform, _make_client(platform))
        except plugins.PluginError as error:
            _failures[platform] = str(error)
            raise DeviceError(str(error)) from error
        xla.seal(made.local_devices[0])
        for hook in _on_start:
            hook(made)
        _backends[platform] = made
        return made


def _warn_before_fork() -> None:
    """A forked child has the memory of a running backend, but none of its threads."""
    if _backends:
        warnings.warn(
            "os.fork: the child would wait for ever for threads of numlift's backend that it does "
            "not have\nTry: multiprocessing.get_context('spawn') or subprocess; or fork before "
            "the first array is made",
            RuntimeWarning,
            stacklevel=user_depth(),
        )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_warn_before_fork)


def _wanted_platforms() -> tuple[tuple[str, ...], bool]:
    """Platforms to try in order, and whether the user named them."""
    asked = config.get("platforms")
    if not asked:
        return PLATFORMS, False
    names = asked.split(",") if isinstance(asked, str) else list(asked)
    names = [name.strip().lower() for name in names if name.strip()]
    for name in names:
        _check_name(name)
    return tuple(names), True


def _check_name(name: str) -> None:
    if name not in PLATFORMS and name not in ALIASES:
        raise DeviceError(
            f"devices: there is no platform {name!r}\n"
            f"  platforms: {', '.join(PLATFORMS)}; gpu means cuda or rocm\n"
            'Try: devices("cpu")'
        )


def backend(platform: str | Backend | None = None) -> Backend:
    """The backend of a platform, started on first use.

    Args:
        platform: ``"cpu"``, ``"cuda"``, ``"rocm"``, ``"tpu"``, ``"gpu"`` (cuda or rocm), or None
            for the default one.

    Raises:
        DeviceError: no such platform here; says why and how to get it.
    """
    if platform is None:
        return _default if _default is not None else _start_default()
    if isinstance(platform, Backend):
        return platform
    started = _backends.get(platform)
    if started is not None:
        return started
    name = platform.lower()
    _check_name(name)
    reasons = []
    for candidate in ALIASES.get(name, (name,)):
        try:
            return _start(candidate)
        except DeviceError as error:
            reasons.append(str(error))
    raise DeviceError("\n".join(reasons))


def _start_default() -> Backend:
    global _default
    with _lock:
        if _default is not None:
            return _default
        names, explicit = _wanted_platforms()
        reasons = []
        for name in names:
            if not explicit and name != "cpu" and not plugins.installed(name):
                continue
            try:
                _default = backend(name)
                return _default
            except DeviceError as error:
                reasons.append(str(error))
                if not explicit:
                    plugins.warn_unused(name, str(error))
        raise DeviceError("\n".join(reasons))


# --- what users ask -------------------------------------------------------------------------------


_backend = backend  # functions below have a parameter of this name


def default_backend() -> str:
    """Name of the platform that arrays live on by default: ``"cpu"``, ``"cuda"``, ...

    Returns:
        Its name: ``"cpu"``, ``"cuda"``, ``"rocm"`` or ``"tpu"``, or that of a plugin.

    Raises:
        DeviceError: no platform of the flag `platforms` can be used.

    Example:
        >>> import numlift as nl
        >>> nl.default_backend() == nl.devices()[0].platform
        True
    """
    return backend().platform


def devices(backend: str | None = None) -> list[Device]:
    """All devices of a platform, those of other processes included.

    Args:
        backend: name of the platform; None for the default one.

    Returns:
        A new list, in the order of the devices' `id`.

    Raises:
        DeviceError: the platform is not available.

    Example:
        >>> import numlift as nl
        >>> nl.devices("cpu")[0].platform
        'cpu'
    """
    return list(_backend(backend).devices)


def local_devices(process_index: int | None = None, backend: str | None = None) -> list[Device]:
    """The devices of one process (of this one by default).

    Args:
        process_index: which process; None for this one.
        backend: name of the platform; None for the default one.

    Returns:
        A new list: the devices that this process can put data on.

    Raises:
        DeviceError: the platform is not available, or no process has that index.

    Example:
        >>> import numlift as nl
        >>> {d.process_index for d in nl.local_devices()} == {nl.process_index()}
        True
    """
    chosen = _backend(backend)
    if process_index is None or process_index == chosen.process_index:
        return list(chosen.local_devices)
    found = [d for d in chosen.devices if d.process_index == process_index]
    if not found:
        raise DeviceError(
            f"local_devices: there is no process {process_index}\n"
            f"  processes: 0 to {chosen.process_count - 1}\n"
            "Try: local_devices()"
        )
    return found


def device_count(backend: str | None = None) -> int:
    """Number of devices of a platform over all processes.

    Args:
        backend: name of the platform; None for the default one.

    Returns:
        ``len(devices(backend))``, at least 1.

    Raises:
        DeviceError: the platform is not available.

    Example:
        >>> import numlift as nl
        >>> nl.device_count() >= nl.local_device_count() >= 1
        True
    """
    return len(_backend(backend).devices)


def local_device_count(backend: str | None = None) -> int:
    """Number of devices of a platform in this process.

    Args:
        backend: name of the platform; None for the default one.

    Returns:
        ``len(local_devices(backend=backend))``, at least 1. On CPU it is the flag
        `num_cpu_devices`.

    Raises:
        DeviceError: the platform is not available.

    Example:
        >>> import numlift as nl
        >>> nl.local_device_count() == len(nl.local_devices())
        True
    """
    return len(_backend(backend).local_devices)


def process_index(backend: str | None = None) -> int:
    """Position of this process in its group; 0 alone.

    Args:
        backend: name of the platform; None for the default one.

    Returns:
        An int from 0 to ``process_count() - 1``.

    Raises:
        DeviceError: the platform is not available.

    Example:
        >>> import numlift as nl
        >>> nl.process_index() in nl.process_indices()
        True
    """
    return _backend(backend).process_index


def process_indices(backend: str | None = None) -> list[int]:
    """Positions of all processes of the group.

    Args:
        backend: name of the platform; None for the default one.

    Returns:
        The `process_index` of each process that has devices, in ascending order.

    Raises:
        DeviceError: the platform is not available.

    Example:
        >>> import numlift as nl
        >>> len(nl.process_indices()) == nl.process_count()
        True
    """
    return sorted({d.process_index for d in _backend(backend).devices})


def process_count(backend: str | None = None) -> int:
    """Number of processes of the group; 1 alone.

    Args:
        backend: name of the platform; None for the default one.

    Returns:
        An int, at least 1.

    Raises:
        DeviceError: the platform is not available.

    Example:
        >>> import numlift as nl
        >>> batch = 64
        >>> mine = batch // nl.process_count()  # rows of this process
    """
    return _backend(backend).process_count


def backend_of(device: Device) -> Backend:
    """The backend that a device belongs to.

    Raises:
        DeviceError: the device belongs to a client that Numlift did not start.
    """
    for known in _backends.values():
        if device.client is known.client:
            return known
    raise DeviceError(
        f"device: {device} was not made by Numlift\nTry: a device from numlift.devices()"
    )


def default_device() -> Device:
    """The device on which new arrays are put: `config.default_device`, else the first local one."""
    chosen = config.get("default_device")
    if chosen is None:
        return (_default or backend()).local_devices[0]
    if isinstance(chosen, str):
        return backend(chosen).local_devices[0]
    return chosen


# --- pickling -------------------------------------------------------------------------------------


def _find_device(platform: str, number: int) -> Device:
    for device in backend(platform).devices:
        if device.id == number:
            return device
    raise DeviceError(
        f"unpickle: there is no device {number} of platform {platform} here\n"
        f"  devices: {list(backend(platform).devices)}\n"
        "  Try: unpickle in a process with the same devices"
    )


def _reduce_device(device: Device) -> tuple[Any, ...]:
    return _find_device, (backend_of(device).platform, device.id)


copyreg.pickle(Device, _reduce_device)
