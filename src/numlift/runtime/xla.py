"""The one door to the jaxlib wheel: names, version differences, and calls kept away from `jax`.

Nothing that jaxlib offers is a documented interface, so every use of it goes through this module.
Supported: jaxlib 0.10 to 0.12. The package `jax` is never imported: jaxlib itself tries to, in
calls that build one-device arrays in C++, and `seal` and `no_jax` stand in its way. A real `jax`
imported earlier or later in the same process keeps working.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import re
import sys
import threading
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import jaxlib.version
import numpy as np
from jaxlib import _hlo, _jax, _profiler, xla_client

VERSION: str = jaxlib.version.__version__
"""Version of the jaxlib wheel, such as ``"0.10.2"``."""

OLDEST, TOO_NEW = (0, 10), (0, 13)
_release = tuple(int(part) for part in VERSION.split(".")[:2])
if not OLDEST <= _release < TOO_NEW:
    raise ImportError(
        f"numlift: jaxlib {VERSION} is not supported.\n"
        f"  supported: {OLDEST[0]}.{OLDEST[1]} up to, not including, {TOO_NEW[0]}.{TOO_NEW[1]}\n"
        'Try: pip install "jaxlib>=0.10.2,<0.13"'
    )

if TYPE_CHECKING:  # the wheel has no type stubs
    ArrayCopySemantics: TypeAlias = Any
    ArrayImpl: TypeAlias = Any
    Client: TypeAlias = Any
    CompileOptions: TypeAlias = Any
    Device: TypeAlias = Any
    DeviceAssignment: TypeAlias = Any
    DeviceList: TypeAlias = Any
    HloSharding: TypeAlias = Any
    HostBufferSemantics: TypeAlias = Any
    LoadedExecutable: TypeAlias = Any
    OpSharding: TypeAlias = Any
    Sharding: TypeAlias = Any
    Traceback: TypeAlias = Any
    JaxRuntimeError: TypeAlias = RuntimeError
else:
    ArrayCopySemantics = _jax.ArrayCopySemantics
    ArrayImpl = _jax.ArrayImpl
    Client = _jax.Client
    CompileOptions = _jax.CompileOptions
    Device = _jax.Device
    DeviceAssignment = _jax.DeviceAssignment
    DeviceList = _jax.DeviceList
    HloSharding = _hlo.HloSharding
    HostBufferSemantics = _jax.HostBufferSemantics
    JaxRuntimeError = _jax.JaxRuntimeError
    LoadedExecutable = _jax.LoadedExecutable
    OpSharding = _hlo.OpSharding
    Sharding = _jax.Sharding
    Traceback = _jax.Traceback

batched_block_until_ready = _jax.batched_block_until_ready

make_cpu_client = xla_client.make_cpu_client
make_c_api_client = xla_client.make_c_api_client
register_custom_call_target = xla_client.register_custom_call_target


def _install_states() -> tuple[Any, ...]:
    """Give jaxlib the three process-wide states that it reads, unless a real jax already did.

    A jax imported later replaces them with its own. Numlift passes `enable_x64=True` itself
    wherever the state would matter, so either owner is fine. None is part of a jit key: a later
    jax would otherwise meet our values in its keys.
    """
    if "jax._src.config" in sys.modules:
        return ()
    x64 = _jax.config.Config("numlift_x64", True)
    disable_jit = _jax.config.Config("numlift_disable_jit", False)
    post_hook = _jax.config.Config("numlift_post_hook", None)
    _jax.jax_jit.set_enable_x64_state(x64)
    _jax.jax_jit.set_disable_jit_state(disable_jit)
    _jax.jax_jit.set_post_hook_state(post_hook)
    _jax.set_tracebacks_enabled(False)  # one per array made: Numlift keeps source lines itself
    return x64, disable_jit, post_hook


_states = _install_states()


class XlaSharding(Sharding):
    """How jaxlib sees a placement: devices in order, memory kind, and the tiling.

    The attributes are slots because a jax imported later puts properties of the same names on the
    base class, and a property of the base wins over an instance attribute.

    Args:
        devices: `DeviceList` or sequence of devices.
        hlo: tiling of the array over the devices; None means replicated.
        memory_kind: name of the memory on the devices, None for the default one.
    """

    __slots__ = ("_internal_device_list", "hlo", "memory_kind")

    def __init__(
        self,
        devices: DeviceList | Sequence[Device],
        hlo: HloSharding | None = None,
        memory_kind: str | None = None,
    ) -> None:
        super().__init__()
        listed: Any = DeviceList(tuple(devices)) if isinstance(devices, tuple | list) else devices
        self._internal_device_list = listed
        self.memory_kind = listed.default_memory_kind if memory_kind is None else memory_kind
        self.hlo = HloSharding.replicate() if hlo is None else hlo

    @property
    def device_list(self) -> DeviceList:
        return self._internal_device_list

    def _to_xla_hlo_sharding(self, ndim: int) -> HloSharding:
        return self.hlo


if _release < (0, 12):

    def result_handler(aval: Any, sharding: Sharding, committed: bool = True) -> Any:
        """Builder of one output array of a run, for `consume_with_handlers`."""
        return _jax.array_result_handler(aval, sharding, committed, _skip_checks=True)

else:

    def result_handler(aval: Any, sharding: Sharding, committed: bool = True) -> Any:
        """Builder of one output array of a run, for `consume_with_handlers`."""
        return _jax.array_result_handler(aval, sharding, committed)


# --- keeping jax out ------------------------------------------------------------------------------

_LEAF = "jax._src.sharding_impls"


def _single_device_sharding(device: Device, memory_kind: str | None = None) -> XlaSharding:
    return XlaSharding((device,), memory_kind=memory_kind)


_leaf, _top = types.ModuleType(_LEAF), types.ModuleType("jax")
_leaf.make_single_device_sharding = _single_device_sharding  # type: ignore[attr-defined]


class _NoJax:
    """Stand-in modules in `sys.modules` while C++ builds one-device arrays.

    Counted, not locked: several threads may be inside at once, and one that waits inside for a
    host callback must not block that callback. The first to enter installs, the last restores.
    """

    __slots__ = ("_depth", "_lock", "_saved")

    def __init__(self) -> None:
        self._depth, self._lock = 0, threading.Lock()
        self._saved: dict[str, Any] = {}

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                modules = sys.modules
                self._saved = {"jax": modules.get("jax"), _LEAF: modules.get(_LEAF)}
                modules[_LEAF] = _leaf
                modules.setdefault("jax", _top)
            self._depth += 1

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                _restore_modules(self._saved)


def _restore_modules(saved: dict[str, Any]) -> None:
    for name, module in saved.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module


no_jax = _NoJax()
"""Context manager (reusable, thread-safe) around calls in which jaxlib would import `jax`."""


class _Shape:
    """The aval of a one-device array that C++ made by itself."""

    __slots__ = ("dtype", "shape", "weak_type")

    def __init__(self, shape: Sequence[int], dtype: Any, weak_type: bool = False) -> None:
        self.shape, self.dtype, self.weak_type = tuple(shape), np.dtype(dtype), weak_type


def _shaped(shape: Sequence[int], dtype: Any, weak_type: bool = False) -> Any:
    """jaxlib keeps this function for good, so it serves a real jax imported later as well."""
    real = getattr(sys.modules.get("jax.core"), "ShapedArray", None)
    if real is None or real is _shaped:
        return _Shape(shape, dtype, weak_type)
    return real(shape, dtype, weak_type)


_seal_lock = threading.Lock()
_sealed = False


def seal(device: Device) -> None:
    """Fill, once, the caches of jaxlib that would otherwise import a real `jax`.

    Called when the first client starts. Does nothing where `jax` is already loaded: jaxlib then
    finds the real names, and they serve us too.
    """
    global _sealed
    with _seal_lock:
        if _sealed or "jax" in sys.modules:
            _sealed = True
            return
        core = types.ModuleType("jax.core")
        named = types.ModuleType("jax._src.named_sharding")
        core.ShapedArray = _shaped  # type: ignore[attr-defined]
        named.check_pspec = lambda mesh, spec: None  # type: ignore[attr-defined]
        stand_ins = {
            "jax": _top,
            "jax._src": types.ModuleType("jax._src"),
            "jax.core": core,
            "jax._src.named_sharding": named,
            _LEAF: _leaf,
        }
        sys.modules.update(stand_ins)
        try:
            _trigger_caches(device)
        finally:
            _restore_modules(dict.fromkeys(stand_ins))
        _sealed = True


def _trigger_caches(device: Device) -> None:
    here = XlaSharding((device,))
    zero = put([np.zeros(1, np.float32)], _Shape((1,), np.float32), here)
    capsule = _jax.buffer_to_dlpack_managed_tensor(zero)
    _jax.dlpack_managed_tensor_to_buffer(capsule, device, None)
    mesh = types.SimpleNamespace(size=1, _internal_device_list=here._internal_device_list)
    _jax.NamedSharding(mesh, ())


# --- arrays ---------------------------------------------------------------------------------------

batched_device_put = _jax.batched_device_put
"""`(aval, sharding, xs, devices, committed=True, force_copy=False, host_buffer_semantics=...,
enable_x64=None)`: always pass `enable_x64=True`, a real jax may own the state."""

COPY = HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
ALIAS = HostBufferSemantics.ZERO_COPY


def put(
    pieces: Sequence[Any],
    aval: Any,
    sharding: Sharding,
    committed: bool = True,
    alias: bool = False,
) -> ArrayImpl:
    """One array from one piece for each addressable device of `sharding`.

    Args:
        pieces: NumPy arrays or `ArrayImpl`s, in the order of the addressable devices.
        aval: type of the whole array; comes back as `.aval`.
        sharding: an `XlaSharding` or another subclass of `Sharding`.
        committed: kept by the array, not used by Numlift.
        alias: True lets the array use NumPy memory in place (later writes show through).
    """
    devices = list(sharding._internal_device_list.addressable_device_list)
    return _jax.batched_device_put(
        aval,
        sharding,
        pieces,
        devices,
        committed,
        host_buffer_semantics=ALIAS if alias else COPY,
        enable_x64=True,
    )


def assemble(
    pieces: Sequence[ArrayImpl], aval: Any, sharding: Sharding, committed: bool = True
) -> ArrayImpl:
    """One array of existing one-device arrays, in device order, without copying."""
    return ArrayImpl(aval, sharding, list(pieces), committed, _skip_checks=True)


def shards(array: ArrayImpl) -> list[ArrayImpl]:
    """The one-device arrays of `array`, in the order of its addressable devices."""
    with no_jax:
        return array._arrays


def host_array(array: ArrayImpl) -> np.ndarray:
    """NumPy array of a one-device or replicated array: a read-only view of its memory if possible.

    A view is possible on CPU for dtypes that the buffer protocol knows (not bfloat16, float8,
    int4); otherwise it is a copy. Waits for the value.

    Raises:
        JaxRuntimeError: the computation of the value failed, or the array was deleted or donated.
    """
    # Wait first: the view of a value whose computation failed would end the process, and the
    # stand-in modules below shall be in place for microseconds only.
    array.block_until_ready()
    try:
        return np.asarray(memoryview(array))
    except (BufferError, TypeError):
        pass
    where = getattr(array._sharding, "hlo", None)
    if where is not None and len(array._sharding.device_list) > 1:
        if not where.is_replicated():
            raise ValueError("host_array: the array is split over devices; read its shards")
        array = shards(array)[0]
    with no_jax:
        value, _ = array._single_device_array_to_np_array_did_copy()
    value.flags.writeable = False
    return value


def start_host_copy(array: ArrayImpl) -> None:
    """Begin copying a one-device array to the host, so that `host_array` finds it there."""
    with no_jax:
        array._copy_single_device_array_to_host_async()


def buffer_pointer(array: ArrayImpl) -> int:
    """Address of the memory of a one-device array."""
    with no_jax:
        return array.unsafe_buffer_pointer()


def copy_to(
    arrays: Sequence[ArrayImpl],
    sharding: Sharding,
    semantics: Any = ArrayCopySemantics.REUSE_INPUT,
) -> list[ArrayImpl]:
    """Each array copied shard by shard to the devices of `sharding`, which must be as many.

    Args:
        arrays: arrays whose shards fit the devices of `sharding` one to one.
        sharding: where the copies go.
        semantics: `REUSE_INPUT` may return the same memory, `ALWAYS_COPY` never does,
            `DONATE_INPUT` ends the life of the inputs.
    """
    n = len(arrays)
    devices = [sharding._internal_device_list] * n
    return _jax.batched_copy_array_to_devices_with_sharding(
        list(arrays), devices, [sharding] * n, [semantics] * n
    )


def rewrap(array: ArrayImpl, aval: Any, sharding: Sharding) -> ArrayImpl:
    """The same memory with another aval and sharding."""
    return array._rewrap_with_aval_and_sharding(aval, sharding)


def to_dlpack(
    array: ArrayImpl,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    copied: bool = False,
) -> Any:
    """DLPack capsule that shares the memory of a one-device array.

    jaxlib 0.10 makes unversioned capsules only and ignores the last two arguments.
    """
    if _release < (0, 12):
        return _jax.buffer_to_dlpack_managed_tensor(array, stream=stream)
    return _jax.buffer_to_dlpack_managed_tensor(
        array, stream=stream, max_version=max_version, copied=copied
    )


def from_dlpack(
    capsule: Any, device: Device, stream: int | None = None, copy: bool | None = None
) -> ArrayImpl:
    """One-device array that shares the memory of a DLPack capsule where alignment allows."""
    with no_jax:
        return _jax.dlpack_managed_tensor_to_buffer(capsule, device, stream, copy=copy)


# --- programs -------------------------------------------------------------------------------------


def stablehlo_to_hlo_text(text: str | bytes, metadata: bool = False) -> str:
    """HLO text of a StableHLO module before optimisation; `metadata`: also names and lines."""
    made = _jax.mlir.mlir_module_to_xla_computation(text)
    return made.get_hlo_module().to_string() if metadata else made.as_hlo_text()


def portable_artifact(text: str | bytes, version: str) -> bytes:
    """Versioned StableHLO bytes, readable by other releases of the compiler."""
    return _jax.mlir.serialize_portable_artifact(text, version)


def live_arrays(client: Client) -> list[ArrayImpl]:
    """All arrays that `client` holds in memory."""
    return client.live_arrays()


@functools.cache
def option_names() -> frozenset[str]:
    """Names of the flags of XLA that a program can be compiled with."""
    made = CompileOptions()
    build = made.executable_build_options
    debug = build.debug_options
    return frozenset(re.findall(r"^(\w+):", str(debug), re.MULTILINE))


# --- plugins and processes ------------------------------------------------------------------------


def load_plugin(platform: str, library: str) -> Any:
    """Open the shared library of a PJRT plugin and start it; the handle that extensions want."""
    api = _jax.load_pjrt_plugin(platform, library, None)
    _profiler.register_plugin_profiler(api)
    if not _jax.pjrt_plugin_initialized(platform):
        _jax.initialize_pjrt_plugin(platform)
    return api


def make_gloo_collectives(link: Any) -> Any:
    """Collectives between CPU processes over TCP."""
    return _jax.make_gloo_tcp_collectives(distributed_client=link)


# --- things that are imported only when needed ----------------------------------------------------


def register_lapack() -> None:
    """Register the LAPACK custom calls of CPU programs and load the library behind them."""
    lapack = importlib.import_module("jaxlib.cpu._lapack")
    lapack.initialize()
    for name, target in lapack.registrations().items():
        register_custom_call_target(name, target, platform="cpu", api_version=1)


def parse_module(text: str) -> Any:
    """MLIR module object of a text; only programs with host callbacks need one (17 ms import)."""
    ir = importlib.import_module("jaxlib.mlir.ir")
    with _mlir_context():
        return ir.Module.parse(text)


@functools.cache
def _mlir_context() -> Any:
    ir = importlib.import_module("jaxlib.mlir.ir")
    extension = importlib.import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext")
    registry = ir.DialectRegistry()
    extension.register_dialects(registry)
    context = ir.Context(load_on_create_dialects=[])
    context.append_dialect_registry(registry)
    for dialect in ("stablehlo", "chlo", "sdy"):
        importlib.import_module(f"jaxlib.mlir.dialects.{dialect}").register_dialect(context)
    context.load_all_available_dialects()
    return context


def portable_version() -> str:
    """StableHLO version that compilers of the last 12 weeks and of at least 4 to come can read."""
    dialect = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
    week = dialect.StablehloCompatibilityRequirement.WEEK_12
    return dialect.get_version_from_compatibility_requirement(week)


def artifact_text(blob: bytes) -> str:
    """StableHLO text of a portable artifact."""
    dialect = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
    with _mlir_context() as context:
        return str(dialect.deserialize_portable_artifact(context, blob))


def unique_prefix(blob: bytes) -> str:
    """Beginning of the names of functions of an artifact."""
    return f"exported_{hashlib.sha256(blob).hexdigest()[:16]}_"


def artifact_functions(blob: bytes) -> tuple[str, list[str]]:
    """Functions of a portable artifact, private and with names that occur nowhere else.

    Returns:
        The name of the entry, and the texts of the functions.
    """
    ir = importlib.import_module("jaxlib.mlir.ir")
    dialect = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
    prefix = unique_prefix(blob)
    with _mlir_context() as context, ir.Location.unknown():
        module = dialect.deserialize_portable_artifact(context, blob)
        for function in module.body.operations:
            name = ir.StringAttr(function.attributes["sym_name"]).value
            ir.SymbolTable.replace_all_symbol_uses(name, prefix + name, module.operation)
            ir.SymbolTable.set_symbol_name(function, prefix + name)
            ir.SymbolTable.set_visibility(function, "private")
        texts = [function.operation.get_asm() for function in module.body.operations]
    return f"{prefix}main", [_MESH_NAMES.sub("", text) for text in texts]


_MESH_NAMES = re.compile(
    r'mhlo\.frontend_attributes = \{xla\.sdy\.sharding = "(?:[^"\\]|\\.)*"\}, '
)
"""Shardings by names of mesh axes, which another module has not; those by devices follow them."""
