"""Accelerator plugins (CUDA, ROCm, TPU): where they are looked for, how they are loaded.

The wheels that bring XLA for accelerators are published as companions of jaxlib. Their Python
packages import `jax` when imported, so nothing of them is: the shared library is found by the
folder of the package, and only their C++ extension modules, which know no `jax`, are loaded.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import os
import pathlib
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from . import xla


class PluginError(Exception):
    """Why a platform cannot be used here; the message says how to get it."""


class Candidate(NamedTuple):
    """One package that can bring a platform."""

    package: str
    """Importable package whose folder holds the library."""
    extension: str | None
    """Package with the C++ extension modules; None if the platform needs none."""
    distribution: str
    """Name of the wheel with the extension, whose version must fit jaxlib."""
    extra: str
    """Extra of Numlift that installs all of it."""


LIBRARIES = {"cuda": "xla_cuda_plugin.so", "rocm": "xla_rocm_plugin.so", "tpu": "libtpu.so"}

CANDIDATES: dict[str, tuple[Candidate, ...]] = {
    "cuda": tuple(
        Candidate(
            f"jax_plugins.xla_cuda{v}",
            f"jax_cuda{v}_plugin",
            f"jax-cuda{v}-plugin",
            f"cuda{v}",
        )
        for v in (13, 12)
    ),
    "rocm": tuple(
        Candidate(
            f"jax_plugins.xla_rocm{v}",
            f"jax_rocm{v}_plugin",
            f"jax-rocm{v}-plugin",
            "rocm7",
        )
        for v in (10, 7)
    ),
    "tpu": (Candidate("libtpu", None, "libtpu", "tpu"),),
}

_NVIDIA_LIBRARIES = (
    "cuda_runtime/lib/libcudart.so.*",
    "cuda_nvrtc/lib/libnvrtc.so.*",
    "cublas/lib/libcublasLt.so.*",
    "cublas/lib/libcublas.so.*",
    "nccl/lib/libnccl.so.*",
    "cuda_cupti/lib/libcupti.so.*",
    "nvjitlink/lib/libnvJitLink.so.*",
    "cusparse/lib/libcusparse.so.*",
    "cusolver/lib/libcusolver.so.*",
    "cufft/lib/libcufft.so.*",
    "nvshmem/lib/libnvshmem_host.so.*",
    "cudnn/lib/libcudnn.so.*",
    "cu13/lib/lib*.so.*",
)
"""Libraries of the `nvidia-*` wheels in the order in which they need each other. CUDA 13 wheels
share the one folder `cu13`."""

_KERNEL_MODULES = ("gpu_solver", "gpu_linalg", "gpu_prng", "gpu_sparse")


class Found(NamedTuple):
    """A library that brings a platform."""

    platform: str
    candidate: Candidate
    library: str
    version: str | None


def _folders(package: str) -> Iterator[pathlib.Path]:
    """Folders of a package, without running any code of the package itself."""
    try:
        spec = importlib.util.find_spec(package)
    except (ModuleNotFoundError, ValueError):
        return
    if spec is not None:
        yield from map(pathlib.Path, spec.submodule_search_locations or ())


def _version(distribution: str) -> str | None:
    import importlib.metadata  # brings the email package along: 15 ms that CPU users do not need

    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _find_library(platform: str, candidate: Candidate) -> str | None:
    if platform == "tpu" and os.environ.get("TPU_LIBRARY_PATH"):
        return os.environ["TPU_LIBRARY_PATH"]
    for folder in _folders(candidate.package):
        for name in (LIBRARIES[platform], f"{platform}_plugin.so"):
            if (folder / name).exists():
                return str(folder / name)
    return None


@functools.cache
def find(platform: str) -> Found | None:
    """The first library that brings a platform, or None. Loads nothing."""
    for candidate in CANDIDATES.get(platform, ()):
        library = _find_library(platform, candidate)
        if library is not None:
            return Found(platform, candidate, library, _version(candidate.distribution))
    return None


def installed(platform: str) -> bool:
    """Whether a library for the platform is on this machine (it may still not work)."""
    return platform == "cpu" or find(platform) is not None


def install_line(platform: str) -> str:
    """The command that brings a platform."""
    extra = CANDIDATES[platform][0].extra
    return f'pip install "numlift[{extra}]"'


# --- checks before loading ------------------------------------------------------------------------


def hardware(platform: str) -> str | None:
    """What hints at the hardware of a platform on this machine, or None if nothing does."""
    signs = {
        "cuda": ("/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg"),
        "rocm": ("/dev/kfd",),
        "tpu": ("/dev/accel0", "/dev/vfio/0"),
    }
    for path in signs.get(platform, ()):
        if os.path.exists(path):
            return path
    return None


def _check_present(platform: str) -> Found:
    found = find(platform)
    if found is None:
        looked = ", ".join(c.package for c in CANDIDATES[platform])
        raise PluginError(
            f"devices: no {platform} plugin is installed\n"
            f"  looked for: {looked}\n"
            f"Try: {install_line(platform)}"
        )
    if not os.path.exists(found.library):
        raise PluginError(
            f"devices: the {platform} library does not exist\n"
            f"  library: {found.library} (from TPU_LIBRARY_PATH)\n"
            "Try: unset TPU_LIBRARY_PATH"
        )
    return found


def _check_version(found: Found) -> None:
    """The extension modules share C++ objects with jaxlib, so their versions must be equal."""
    if found.platform != "cuda":
        return
    name = found.candidate.distribution
    if found.version is None:
        raise PluginError(
            f"devices: {found.candidate.package} is installed without {name}\n"
            f"  library: {found.library}\n"
            f"  jaxlib: {xla.VERSION}\n"
            f'Try: pip install "{name}[with-cuda]=={xla.VERSION}"'
        )
    if found.version != xla.VERSION:
        raise PluginError(
            f"devices: {name} and jaxlib have different versions\n"
            f"  {name}: {found.version}\n"
            f"  jaxlib: {xla.VERSION}\n"
            f'Try: pip install "{name}[with-cuda]=={xla.VERSION}"'
        )


def _check_driver(found: Found) -> None:
    if found.platform != "cuda" or os.environ.get("NUMLIFT_MOCK_GPU_TOPOLOGY"):
        return
    for name in ("libcuda.so.1", "libcuda.so"):
        try:
            ctypes.CDLL(name)
            return
        except OSError:
            continue
    raise PluginError(
        "devices: the NVIDIA driver is missing (libcuda.so.1 cannot be loaded)\n"
        f"  plugin: {found.candidate.package} in {found.library}\n"
        "Try: install the NVIDIA driver (nvidia-smi must work), or NUMLIFT_PLATFORMS=cpu"
    )


# --- loading --------------------------------------------------------------------------------------


def _preload_nvidia() -> None:
    """Load the CUDA libraries that pip installed, so that the plugin finds them by name."""
    for root in _folders("nvidia"):
        for pattern in _NVIDIA_LIBRARIES:
            for path in sorted(root.glob(pattern)):
                try:
                    ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
                except OSError:
                    continue  # a system library may serve instead; otherwise loading says why


def _import_extension(found: Found, module: str) -> ModuleType:
    name = f"{found.candidate.extension}.{module}"
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PluginError(
            f"devices: {name} cannot be loaded\n"
            f"  reason: {error}\n"
            f'Try: pip install "{found.candidate.distribution}[with-cuda]=={xla.VERSION}"'
        ) from error


def _register_gpu_kernels(found: Found, api: Any) -> None:
    """Give XLA the custom types and calls of the extension: callbacks, solvers, random bits."""
    extension = _import_extension(found, f"{found.platform}_plugin_extension")
    platform = found.platform.upper()
    client = xla.xla_client
    client.register_custom_type_handler(
        platform, functools.partial(extension.register_custom_type, api)
    )
    client.register_custom_call_handler(
        platform, functools.partial(extension.register_custom_call_target, api)
    )
    for name, value in extension.ffi_types().items():
        client.register_custom_type(name, value, platform=platform)
    for name, value in extension.ffi_handlers().items():
        client.register_custom_call_target(name, value, platform=platform, api_version=1)
    for module in _KERNEL_MODULES:
        kernels = importlib.import_module(f"jaxlib.{module}")
        for platform_name, entries in kernels.registrations().items():
            for name, value, version in entries:
                client.register_custom_call_target(
                    name, value, platform=platform_name, api_version=version
                )


@functools.cache
def _load(platform: str) -> Found:
    """Load the library of a platform into this process, once."""
    found = _check_present(platform)
    _check_version(found)
    _check_driver(found)
    if platform == "cuda":
        _preload_nvidia()
    try:
        api = xla.load_plugin(platform, found.library)
    except xla.JaxRuntimeError as error:
        raise PluginError(
            f"devices: the {platform} library cannot be loaded\n"
            f"  library: {found.library}\n"
            f"  reason: {error}\n"
            f"Try: {install_line(platform)}, or NUMLIFT_PLATFORMS=cpu"
        ) from error
    if found.candidate.extension is not None:
        _register_gpu_kernels(found, api)
    return found


def _options(
    platform: str, node: int, nodes: int, local_device_ids: tuple[int, ...] | None
) -> dict[str, Any]:
    if platform == "tpu":
        return {}
    options = dict(xla.xla_client.generate_pjrt_gpu_plugin_options())
    options["platform_name"] = "ROCM" if platform == "rocm" else "cuda"
    if local_device_ids is not None:
        options["visible_devices"] = list(local_device_ids)
    if nodes > 1:
        options |= {"node_id": node, "num_nodes": nodes}
    topology = os.environ.get("NUMLIFT_MOCK_GPU_TOPOLOGY")
    if topology:
        options |= {"enable_mock_nccl": True, "mock_gpu_topology": topology}
    return options


def make_client(
    platform: str,
    link: Any = None,
    node: int = 0,
    nodes: int = 1,
    local_device_ids: tuple[int, ...] | None = None,
) -> xla.Client:
    """The client of an accelerator platform.

    Args:
        platform: ``"cuda"``, ``"rocm"`` or ``"tpu"``.
        link: client of the coordination service of several processes, or None.
        node: position of this process.
        nodes: number of processes.
        local_device_ids: which of the local GPUs to use; None for all.

    Raises:
        PluginError: no plugin, a wrong version, no driver, or no device.
    """
    found = _load(platform)
    try:
        client = xla.make_c_api_client(
            platform, _options(platform, node, nodes, local_device_ids), link
        )
    except (xla.JaxRuntimeError, RuntimeError) as error:
        raise PluginError(
            f"devices: the {platform} plugin finds no usable device\n"
            f"  library: {found.library}\n"
            f"  reason: {str(error).splitlines()[0] if str(error) else type(error).__name__}\n"
            "Try: nvidia-smi (CUDA) or rocminfo (ROCm) to see the devices, or NUMLIFT_PLATFORMS=cpu"
        ) from error
    if not client.local_devices():
        raise PluginError(
            f"devices: the {platform} plugin has no device\n"
            f"  library: {found.library}\n"
            "Try: NUMLIFT_PLATFORMS=cpu"
        )
    return client


def warn_unused(platform: str, reason: str) -> None:
    """Say, once, that an installed plugin is not used and the next platform takes its place."""
    if platform in ("rocm", "tpu") and hardware(platform) is None:
        return  # libtpu and the like are often installed where there is no such hardware
    if platform == "cuda" and hardware("cuda") is None and "driver is missing" in reason:
        return  # a CUDA image on a machine without a GPU is common; `numlift info` tells
    warnings.warn(
        f"{reason}\n(the next platform is used; NUMLIFT_PLATFORMS=cpu silences this)", stacklevel=2
    )


# --- reporting ------------------------------------------------------------------------------------


class PlatformReport(NamedTuple):
    """What is known about one platform on this machine."""

    platform: str
    status: str
    """``"usable"``, ``"installed"`` (not tried) or ``"missing"`` or ``"broken"``."""
    library: str | None
    version: str | None
    hardware: str | None
    looked_for: tuple[str, ...]
    reason: str | None
    install: str | None


def _report_one(platform: str, probe: bool) -> PlatformReport:
    found = find(platform)
    looked = tuple(c.package for c in CANDIDATES[platform])
    reason, status = None, "installed"
    try:
        found = _check_present(platform)
        _check_version(found)
        _check_driver(found)
        if probe:
            _load(platform)
            status = "usable"
    except PluginError as error:
        reason = str(error)
        status = "missing" if found is None else "broken"
    return PlatformReport(
        platform,
        status,
        found.library if found else None,
        found.version if found else None,
        hardware(platform),
        looked,
        reason,
        install_line(platform) if status != "usable" else None,
    )


def report(probe: bool = False) -> list[PlatformReport]:
    """Each accelerator platform: where it was looked for, whether it works, what would bring it.

    Args:
        probe: also load the libraries that are there, which may take a second each.
    """
    return [_report_one(platform, probe) for platform in CANDIDATES]
