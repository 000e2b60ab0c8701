"""StableHLO text to executables: options, the persistent cache, errors, and what XLA made of it."""

from __future__ import annotations

import functools
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import config
from ..core.dim_text import OPEN
from ..errors import CompileError, InconclusiveDimensionOperation, ValueArgumentError
from . import devices as device_table
from . import disk_cache, planner, xla
from .devices import Backend, Device
from .failures import failure, is_memory_failure

Option = str | bool | int | float


class MemoryAnalysis(NamedTuple):
    """Bytes that one run of a program needs on each device."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int
    alias_size_in_bytes: int
    """Outputs that live in the memory of donated arguments."""
    peak_memory_in_bytes: int
    generated_code_size_in_bytes: int


class Executable:
    """A compiled program on its devices.

    `execute(buffers)` starts a run and returns the results object of jaxlib, whose
    `consume_with_handlers` makes the arrays. It checks the number and the byte size of arguments
    only, so callers must pass the right types.
    """

    __slots__ = (
        "_blob",
        "_request",
        "_size",
        "backend",
        "devices",
        "execute",
        "from_cache",
        "loaded",
        "text",
    )

    def __init__(
        self,
        loaded: xla.LoadedExecutable,
        backend: Backend,
        devices: tuple[Device, ...],
        text: str,
        from_cache: bool,
        request: _Request,
        blob: bytes | None = None,
        size: int | None = None,
    ) -> None:
        self.loaded, self.backend, self.devices = loaded, backend, devices
        self.text = text
        self.from_cache = from_cache
        self._request, self._blob = request, blob
        self._size = size
        self.execute: Callable[[Sequence[xla.ArrayImpl]], Any] = loaded.execute_sharded

    def hlo_text(self) -> str:
        """The HLO that XLA made of the program after its optimisations."""
        return self.loaded.get_hlo_text()

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates: ``flops``, ``bytes accessed``, ``transcendentals``, ..."""
        found = self.loaded.cost_analysis()
        return dict(found[0] if isinstance(found, list) else found)

    def memory_analysis(self) -> MemoryAnalysis:
        """Bytes of arguments, results and scratch space of one run, on each device."""
        stats = self.loaded.get_compiled_memory_stats()
        code = getattr(stats, "generated_code_size_in_bytes", 0)
        return MemoryAnalysis(
            stats.argument_size_in_bytes,
            stats.output_size_in_bytes,
            stats.temp_size_in_bytes,
            stats.alias_size_in_bytes,
            stats.peak_memory_in_bytes,
            code,
        )

    def serialize(self) -> bytes:
        """Machine code and options, for `load_executable` on equal hardware and jaxlib.

        XLA cannot serialise what it loaded itself (the machine code is missing in the result, and
        running it fails), so a program from the cache is compiled again.
        """
        if self._blob is not None:
            return self._blob
        if not self.from_cache:
            return self.loaded.serialize()
        devices = _device_list(self.devices)
        return _compile(self.text, self.backend, devices, self._request).serialize()

    def size_in_bytes(self) -> int:
        """Size of the serialised program; 0 where the platform cannot do that."""
        if self._size is None:
            try:
                self._size = len(self.serialize())
            except xla.JaxRuntimeError:
                self._size = 0
        return self._size

    @property
    def fingerprint(self) -> bytes | None:
        """Hash by which XLA knows the compiled program; None where the platform gives none."""
        return self.loaded.fingerprint

    def parameter_shardings(self) -> list[xla.HloSharding] | None:
        """How XLA expects each argument to be split; None for programs of one partition."""
        return _read_shardings(self.loaded.get_parameter_shardings())

    def output_shardings(self) -> list[xla.HloSharding] | None:
        """How each result is split; None for programs of one partition."""
        return _read_shardings(self.loaded.get_output_shardings())

    def __repr__(self) -> str:
        place = f"{len(self.devices)} {self.backend.platform} device(s)"
        return f"Executable({place})"


def _read_shardings(found: Sequence[xla.OpSharding] | None) -> list[xla.HloSharding] | None:
    if found is None:
        return None
    return [xla.HloSharding.from_proto(proto) for proto in found]


# --- options --------------------------------------------------------------------------------------


class _Request(NamedTuple):
    """Everything besides the text that a compilation depends on."""

    device_ids: tuple[int, ...]
    num_partitions: int
    spmd: bool
    propagate_to_outputs: tuple[bool, ...]
    propagate_to_parameters: tuple[bool, ...]
    overrides: tuple[tuple[str, Option], ...]

    def options(self) -> xla.CompileOptions:
        """The options object of jaxlib.

        `build` is a variable because jaxlib does not keep the object alive behind a longer
        expression: reading through a temporary crashes.
        """
        made = xla.CompileOptions()
        build = made.executable_build_options
        replicas = len(self.device_ids) // self.num_partitions
        ids = np.array(self.device_ids, np.int32).reshape(replicas, self.num_partitions)
        assignment = xla.DeviceAssignment.create(ids)
        for target in (made, build):
            target.num_replicas = replicas
            target.num_partitions = self.num_partitions
            target.device_assignment = assignment
        build.use_spmd_partitioning = self.spmd
        build.use_shardy_partitioner = self.spmd
        if self.spmd:
            build.allow_spmd_sharding_propagation_to_output = list(self.propagate_to_outputs)
            build.allow_spmd_sharding_propagation_to_parameters = list(self.propagate_to_parameters)
        if self.overrides:
            made.env_option_overrides = list(self.overrides)
        return made

    def key_parts(self) -> tuple[object, ...]:
        """What the machine code depends on: a program of one device fits all equal devices."""
        if len(self.device_ids) == 1:
            return self._replace(device_ids=())
        return self


def _check_options(options: Mapping[str, Any] | None) -> dict[str, Option]:
    checked: dict[str, Option] = {}
    for name, value in (options or {}).items():
        if isinstance(value, np.generic):
            value = value.item()
        if not isinstance(name, str) or not isinstance(value, str | bool | int | float):
            raise ValueArgumentError(
                f"compiler_options: an option is a name and a str, bool, int or float\n"
                f"  option: {name!r}: {value!r}\n"
                'Try: compiler_options={"xla_backend_optimization_level": 1}'
            )
        checked[name] = value
    return checked


# --- compiling ------------------------------------------------------------------------------------


def compile_module(
    text: str,
    *,
    devices: tuple[Device, ...],
    num_partitions: int = 1,
    compiler_options: Mapping[str, Any] | None = None,
    spmd: bool = False,
    cache_key_extra: tuple[object, ...] = (),
    host_callbacks: Sequence[Callable[..., Any]] = (),
    propagate_to_outputs: Sequence[bool] = (True,),
    propagate_to_parameters: Sequence[bool] = (False,),
    located_text: str = "",
) -> Executable:
    """Compile a StableHLO module for devices, or load it from the persistent cache.

    Args:
        text: the module; its entry is ``func.func public @main``. Donation is part of it
            (``tf.aliasing_output``, ``jax.buffer_donor``), and so are shardings (``sdy``).
        devices: where it runs, in the order of the device assignment (replicas, then partitions).
        num_partitions: into how many pieces its arrays are split; divides ``len(devices)``.
        compiler_options: flags of XLA by name for this program only; they win over the plan.
        spmd: True lets Shardy split the program over the partitions.
        cache_key_extra: values with a stable `repr` that the result also depends on.
        host_callbacks: Python functions that the text calls by ``index``. Such programs are never
            kept on disk.
        propagate_to_outputs: whether XLA may choose the sharding of results without one; one
            entry for all, or one for each.
        propagate_to_parameters: the same for arguments.
        located_text: the module with locations (names, files and lines of operations), if there
            is one: it is what XLA gets, and not part of any key.

    Raises:
        CompileError: XLA refuses the program.
        ValueArgumentError: an option that XLA does not know, or a value that it does not take.
    """
    if not devices or len(devices) % num_partitions:
        raise CompileError(
            f"compile: {num_partitions} partitions do not divide {len(devices)} devices"
        )
    backend = device_table.backend_of(devices[0])
    overrides = planner.plan(text, backend.platform) | _check_options(compiler_options)
    request = _Request(
        tuple([d.id for d in devices]),
        num_partitions,
        spmd,
        tuple(propagate_to_outputs),
        tuple(propagate_to_parameters),
        tuple(sorted(overrides.items())),
    )
    if backend.platform == "cpu" and any(k in text for k in _KERNELS):
        ensure_lapack()
    if host_callbacks:
        device_list = _device_list(devices)
        callbacks = list(host_callbacks)
        loaded = _compile(located_text or text, backend, device_list, request, callbacks)
        return Executable(loaded, backend, devices, text, False, request)
    return _cached(text, located_text or text, backend, devices, request, cache_key_extra)


@functools.lru_cache(maxsize=256)
def _device_list(devices: tuple[Device, ...]) -> xla.DeviceList:
    return xla.DeviceList(devices)


def _cached(
    text: str,
    located_text: str,
    backend: Backend,
    devices: tuple[Device, ...],
    request: _Request,
    extra: tuple[object, ...],
) -> Executable:
    device_list = _device_list(devices)
    store = disk_cache.cache() if backend.process_count == 1 else None
    if store is None:
        loaded = _compile(located_text, backend, device_list, request)
        return Executable(loaded, backend, devices, text, False, request)
    parts = (*request.key_parts(), extra)
    key = disk_cache.make_key(text, backend.client, devices[0].device_kind, parts)
    size: int | None = None
    found = _load_entry(store, key, backend, device_list, request)
    if found is not None:
        loaded, size = found
        return Executable(loaded, backend, devices, text, True, request, size=size)
    start = time.perf_counter()
    loaded = _compile(located_text, backend, device_list, request)
    if time.perf_counter() - start >= config.get("persistent_cache_min_compile_time_secs"):
        blob = loaded.serialize()
        size = len(blob)
        if size >= config.get("persistent_cache_min_entry_size_bytes"):
            store.store(key, blob)
    return Executable(loaded, backend, devices, text, False, request, size=size)


def _load_entry(
    store: disk_cache.DiskCache,
    key: str,
    backend: Backend,
    device_list: xla.DeviceList,
    request: _Request,
) -> tuple[xla.LoadedExecutable, int] | None:
    """The program of a cache entry and the entry's size; None if there is no usable one."""
    blob = store.load(key)
    if blob is None:
        return None
    try:
        loaded = backend.client.deserialize_executable(blob, device_list, request.options())
        return loaded, len(blob)
    except xla.JaxRuntimeError as error:
        store.discard(key, f"XLA cannot load it ({str(error).splitlines()[0]})")
        return None


def _compile(
    text: str,
    backend: Backend,
    device_list: xla.DeviceList,
    request: _Request,
    callbacks: list[Callable[..., Any]] | None = None,
) -> xla.LoadedExecutable:
    client, options = backend.client, request.options()
    try:
        if callbacks is None:
            return client.compile_and_load(text, device_list, options)
        module = xla.parse_module(text)
        return client.compile_and_load(module, device_list, options, host_callbacks=callbacks)
    except xla.JaxRuntimeError as error:
        raise _explain(error, text) from error


def load_executable(
    blob: bytes,
    *,
    devices: tuple[Device, ...],
    num_partitions: int = 1,
    spmd: bool = False,
    text: str = "",
) -> Executable:
    """The program that `Executable.serialize` wrote, on the given devices.

    Raises:
        CompileError: the bytes are damaged or come from another version or kind of device.
    """
    backend = device_table.backend_of(devices[0])
    ids = tuple([d.id for d in devices])
    request = _Request(ids, num_partitions, spmd, (True,), (False,), ())
    if backend.platform == "cpu" and any(k.encode() in blob for k in _KERNELS):
        ensure_lapack()
    try:
        loaded = backend.client.deserialize_executable(
            blob, _device_list(devices), request.options()
        )
    except xla.JaxRuntimeError as error:
        raise CompileError(
            f"load_executable: XLA cannot load these bytes\n  reason: {error}\n"
            "Try: compile the program again on this machine"
        ) from error
    return Executable(loaded, backend, devices, text, False, request, blob)


# --- errors ---------------------------------------------------------------------------------------

_PLACE = re.compile(r"-:(\d+):(\d+): error: ([^\n]*)")
_OPTION = re.compile(r"No such compile option: '?([\w.]+)'?")
_TARGET = re.compile(r"No (?:FFI handler|registered implementation)[^\n]*? for (?:custom call to )?"
                     r'"?([\w.$-]+)"?')  # fmt: skip


def _explain(error: Exception, text: str) -> Exception:
    """The error of Numlift for what XLA said."""
    said = str(error)
    if OPEN in text:
        return InconclusiveDimensionOperation(
            "compile: a program with symbolic sizes cannot run as it stands\n"
            "Try: export.export(jit(f))(...), and call what it returns with arrays"
        )
    if is_memory_failure(error):
        return failure(error, "compile: the program needs too much memory", {})
    option = _OPTION.search(said)
    if option:
        import difflib  # only where an error is explained: it takes 5 ms to import

        close = difflib.get_close_matches(option[1], xla.option_names(), n=1)
        return ValueArgumentError(
            f"compiler_options: XLA has no option {option[1]!r}\n"
            f"  jaxlib: {xla.VERSION}\n"
            + (f"Try: {close[0]!r}" if close else f"Try: remove {option[1]!r}")
        )
    if "option" in said and "INVALID_ARGUMENT" in said and "-:" not in said:
        return ValueArgumentError(f"compiler_options: XLA does not take a value\n  reason: {said}")
    place = _PLACE.search(said)
    if place:
        lines = text.splitlines()
        row = int(place[1])
        source = lines[row - 1].strip() if row <= len(lines) else ""
        return CompileError(
            f"compile: the program is not valid StableHLO: {place[3]}\n"
            f"  at line {row}, column {place[2]}: {source}\n"
            "This is a mistake in a `lower` rule, not in your program."
        )
    target = _TARGET.search(said)
    if target:
        return CompileError(
            f"compile: no function is registered for the custom call {target[1]!r}\n"
            f"  reason: {said.splitlines()[0]}\n"
            f"Try: ffi.register_ffi_target({target[1]!r}, ...) before the call"
        )
    return CompileError(f"compile: XLA refused the program\n  reason: {said}")


# --- LAPACK ---------------------------------------------------------------------------------------

_KERNELS = ("lapack_", "tridiagonal_solve_perturbed")
"""What the names of the kernels of matrices on CPU begin with."""
_lapack_lock = threading.Lock()
_lapack_ready = False


def ensure_lapack() -> None:
    """Register jaxlib's LAPACK kernels and bind them to SciPy's LAPACK, once.

    Done when the first program needs it: it imports `scipy.linalg`, 100 ms. Running such a program
    without it would end the process.
    """
    global _lapack_ready
    if _lapack_ready:
        return
    with _lapack_lock:
        if not _lapack_ready:
            xla.register_lapack()
            _lapack_ready = True
