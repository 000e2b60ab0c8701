"""Making arrays of values, and moving arrays between host, devices and shardings."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config, tree
from ..core.dtypes import KeyDType, canonicalize_dtype, is_python_scalar, python_scalar_dtype
from ..core.integers import integer_overflow
from ..core.tracing import Tracer
from ..core.types import ArrayType, array_type
from ..errors import (
    ArgumentError,
    ShapeError,
    ShardingError,
    TracerArrayConversionError,
    ValueArgumentError,
    explain,
)
from ..sharding.base import Sharding
from ..sharding.mesh import Mesh
from ..sharding.named import NamedSharding, SingleDeviceSharding
from ..sharding.spec import PartitionSpec
from . import buffers, xla
from .array import Array
from .guards import guard
from .memories import Space
from .placement import (
    Placement,
    default_placement,
    default_sharding,
    placement,
    sharded_type,
)

_SCALARS = frozenset({bool, int, float, complex})


def as_array(
    x: Any,
    type: Any = None,
    sharding: Any = None,
    *,
    may_alias: bool = False,
    explicit: bool = False,
) -> Array:
    """`x` as an `Array`: itself if it is one and fits, else a new one with a copy of the value.

    Args:
        x: array, NumPy array or scalar, Python scalar, or nested lists of these.
        type: dtype of the result, or its `ArrayType`; None takes it from `x` (64-bit dtypes are
            narrowed unless x64 is on; Python scalars are weakly typed).
        sharding: device or `Sharding` of the result; None is the default device, uncommitted.
        may_alias: True lets the array use the memory of a NumPy array in place where it is aligned
            to 64 bytes. Later writes to that memory would change the array.
        explicit: True where the user asked for a transfer, for the transfer guards.

    Raises:
        DTypeError: `x` is not made of numbers.
        ShapeError: `x` has not the shape of `type`, or is a ragged list.
        OverflowError: a Python integer does not fit its dtype.
    """
    if x.__class__ is Array:
        return _from_array(x, type, sharding)
    if isinstance(x, Tracer):
        raise _no_tracer("asarray", x)
    convert = getattr(x, "__numlift_array__", None)
    if convert is not None:
        return as_array(convert(), type, sharding)
    value, of = host_value(x, type)
    where = default_placement(of) if sharding is None else placed(of, sharding)
    if config.watch().transfer_guard_host_to_device != "allow":
        guard("host_to_device", of, explicit)
    return Array(buffers.put(value, where, may_alias), where)


_ready: dict[tuple[Any, ...], tuple[Placement, Any]] = {}
"""(dtype, shape, flags) of NumPy arrays seen before -> placement, and dtype to cast to or None."""


def quick_array(x: np.ndarray) -> Array | None:
    """`as_array` of a plain NumPy array whose dtype and shape were seen before; else None.

    Call `learn_quick_array` once for a dtype and shape that `as_array` accepted.
    """
    known = _ready.get((x.dtype, x.shape, config.current()))
    if known is None or config.watch().transfer_guard_host_to_device != "allow":
        return None
    where, dtype = known
    value = x if dtype is None else _cast(x, dtype)
    return Array(buffers.put_one(value, where), where)


def learn_quick_array(x: np.ndarray, made: Array) -> None:
    """Let `quick_array` take arrays of the dtype and shape of `x`, which became `made`."""
    dtype = made.type.physical.dtype
    if x.dtype.isnative and made.placement.single:
        if len(_ready) >= 4096:
            _ready.clear()
        cast = None if dtype == x.dtype else dtype
        _ready[(x.dtype, x.shape, config.current())] = (made.placement, cast)


def quick_operands(values: Sequence[Any]) -> tuple[list[Placement], list[Any]] | None:
    """Placements and buffers of arrays, Python numbers and NumPy arrays that were seen before.

    The buffers of numbers are shared: never donate them.

    Returns:
        None if a value needs a closer look: something else, or a NumPy array of a new kind.
    """
    flags = config.in_force()
    state = flags.state
    places: list[Placement] = []
    found: list[Any] = []
    for x in values:
        kind = x.__class__
        if kind is Array:
            where, buffer = x.placement, x.buffer
        elif kind is np.ndarray:
            known = _ready.get((x.dtype, x.shape, state))
            if known is None or flags.watch.transfer_guard_host_to_device != "allow":
                return None
            where, dtype = known
            buffer = buffers.put_one(x if dtype is None else _cast(x, dtype), where)
        elif kind in _SCALARS:
            made = _constant(x, 0.0, state, None) if x and kind is not complex else constant(x)
            where, buffer = made.placement, made.buffer
        else:
            return None
        places.append(where)
        found.append(buffer)
    return places, found


def _from_array(x: Array, type: Any, sharding: Any) -> Array:
    if type is not None:
        wanted = type if isinstance(type, ArrayType) else None
        dtype = canonicalize_dtype(type, True) if wanted is None else wanted.dtype
        if wanted is not None and wanted.shape != x.type.shape:
            raise _wrong_shape(x.type.shape, wanted)
        if dtype is not x.type.dtype and dtype != x.type.dtype:
            where = x.placement.sharding if sharding is None else sharding
            return as_array(x._numpy(), type, where)
        if wanted is not None and wanted.weak_type != x.type.weak_type:
            x = retype(x, x.type.update(weak_type=wanted.weak_type))
        elif wanted is None and x.type.weak_type:
            x = retype(x, x.type.update(weak_type=False))
    return x if sharding is None else put(x, sharding)


def retype(x: Array, type: ArrayType) -> Array:
    """The same memory as an array of another type with the same storage (weak type, keys)."""
    return Array(x.buffer, placement(type, x.placement.sharding, x.placement.committed))


def _wrong_shape(shape: tuple[int, ...], type: ArrayType) -> ShapeError:
    return ShapeError(
        explain("asarray", f"a value of shape {shape} is not of type {type!r}", try_="reshape it")
    )


def _no_tracer(function: str, x: Tracer) -> TracerArrayConversionError:
    return TracerArrayConversionError(
        explain(
            function,
            "a traced value has no memory on a device yet",
            {"x": x.type},
            try_="functions of numlift.numpy, which can be traced",
        )
    )


def host_value(x: Any, type: Any) -> tuple[np.ndarray, ArrayType]:
    """What `as_array` would put on a device: NumPy array of the physical dtype, and the type."""
    if isinstance(type, ArrayType):
        value = _as_numpy(x, type.physical.dtype)
        if value.shape != type.physical.shape:
            raise _wrong_shape(value.shape, type)
        return value, type
    if type is not None:
        dtype = canonicalize_dtype(type, allow_extended=True)
        if isinstance(dtype, KeyDType):
            value = _as_numpy(x, dtype.storage)
            shape = value.shape[: value.ndim - len(dtype.key_shape)]
            of = array_type(shape, dtype)
            if of.physical.shape != value.shape:
                raise _wrong_shape(value.shape, of)
            return value, of
        value = _as_numpy(x, dtype)
        return value, array_type(value.shape, dtype)
    if x.__class__ in _SCALARS or is_python_scalar(x):
        dtype = python_scalar_dtype(x.__class__)
        return _as_numpy(x, dtype), array_type((), dtype, not isinstance(x, bool))
    value = _as_numpy(x, None)
    dtype = canonicalize_dtype(value.dtype)
    if dtype != value.dtype:
        value = _cast(value, dtype)
    return value, array_type(value.shape, dtype)


def _as_numpy(x: Any, dtype: Any) -> np.ndarray:
    if isinstance(x, np.ma.MaskedArray):
        raise ArgumentError(
            explain(
                "asarray", "masked arrays are not supported", {"x": x.dtype},
                try_="x.filled(value)",
            )
        )  # fmt: skip
    if isinstance(x, np.ndarray):
        if not x.dtype.isnative:
            x = x.astype(x.dtype.newbyteorder("="))
        return np.asarray(x) if dtype is None or x.dtype == dtype else _cast(x, dtype)
    try:
        if dtype is None or isinstance(x, np.generic):
            value = np.asarray(x)
            if value.dtype.kind in "SU":
                raise ArgumentError(
                    explain(
                        "asarray",
                        f"a {type(x).__name__} is not an array of numbers",
                        {"value": repr(x)[:80]},
                        try_="arrays, numbers, or nested lists of them",
                    )
                )
            return value if dtype is None or value.dtype == dtype else _cast(value, dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(x, dtype)
    except OverflowError:
        raise integer_overflow("asarray", x, dtype or python_scalar_dtype(int)) from None
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ShapeError(
            explain(
                "asarray",
                "the nested lists have rows of different lengths",
                {"x": x},
                try_="rows of one length, padded where needed",
            )
        ) from None


def _cast(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if value.dtype.kind in "iub" and dtype.kind in "iub":  # wraps without a warning
        return value.astype(dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # out of range is defined: inf, or wraps
        return value.astype(dtype)


@functools.lru_cache(maxsize=2048, typed=True)
def _constant(x: Any, sign: float, state: config.State, place: Any) -> Array:
    return as_array(x, None, place)


def constant(x: bool | int | float | complex, sharding: Sharding | None = None) -> Array:
    """A Python scalar as a weakly typed array that is shared: never delete or donate it.

    The same scalar gives the same array, so operands of eager calls cost one look-up.
    """
    sign = 0.0
    if x.__class__ is complex or (not x and x.__class__ is float):
        # -0.0 == 0.0, but they are different constants, also as a part of a complex number.
        sign = math.copysign(1, x.real) + 2 * math.copysign(1, x.imag)
    return _constant(x, sign, config.current(), sharding)


# --- where to put it --------------------------------------------------------------------------


def to_sharding(place: Any, function: str = "device_put") -> Sharding:
    """The sharding that a device, sharding or `PartitionSpec` (on the current mesh) means.

    Raises:
        ArgumentError: it is none of these.
        ShardingError: a spec where no mesh is current.
    """
    if isinstance(place, Sharding):
        return place
    if isinstance(place, xla.Device):
        return SingleDeviceSharding(place)
    if isinstance(place, PartitionSpec):
        mesh = config.current().mesh
        if not isinstance(mesh, Mesh):
            raise ShardingError(
                explain(
                    function,
                    "a PartitionSpec needs a current mesh",
                    {"spec": place},
                    try_="with set_mesh(mesh): ..., or NamedSharding(mesh, spec)",
                )
            )
        return NamedSharding(mesh, place)
    raise ArgumentError(
        explain(
            function,
            f"needs a device, a sharding or a PartitionSpec, got {place.__class__.__name__}",
            {"device": place},
            try_="devices()[0], or NamedSharding(mesh, P(...))",
        )
    )


def placed(type: ArrayType, place: Any) -> Placement:
    """Committed placement of a value of this type on a device or sharding."""
    sharding = to_sharding(place)
    return placement(sharded_type(type, sharding), sharding, True)


_put_tracer: Callable[..., Any] | None = None


def set_tracer_put(put: Callable[..., Any]) -> None:
    """Install what `device_put` does with traced values: ``put(x, sharding_or_None)``."""
    global _put_tracer
    _put_tracer = put


def put(x: Any, place: Any = None, may_alias: bool | None = None, donate: bool = False) -> Any:
    """One value on a device or sharding; `device_put` for a leaf.

    Args:
        x: anything that `as_array` takes; traced values go to the hook of `set_tracer_put`.
        place: device, `Sharding`, `PartitionSpec` or `memory.Space`; None leaves arrays where they
            are.
        may_alias: False forces a copy; None and True share memory where that is safe.
        donate: True ends the life of `x`, so that its memory can be used.
    """
    if isinstance(x, Tracer):
        if _put_tracer is None:
            raise _no_tracer("device_put", x)
        if place is None or isinstance(place, Space):
            return _put_tracer(x, place)
        return _put_tracer(x, to_sharding(place))
    if isinstance(place, Space):
        place = _in_space(x, place)
    if not isinstance(x, Array):
        return as_array(x, None, place, may_alias=may_alias is True, explicit=True)
    if place is None:
        target = x.placement
    else:
        target = placed(x.type, place)
    return _move(x, target, may_alias, donate)


def _in_space(x: Any, space: Space) -> Sharding | None:
    """Where `x` is, in a memory of its devices."""
    if space is Space.Any:
        return None
    return (x.sharding if isinstance(x, Array) else default_sharding()).with_memory_kind(space.kind)


def _move(x: Array, target: Placement, may_alias: bool | None, donate: bool) -> Array:
    source, how = x.placement, xla.ArrayCopySemantics
    if source.sharding.device_order != target.sharding.device_order:
        guard("device_to_device", x.type, explicit=True)
    if target is source and not donate and may_alias is not False:
        buffers.check_alive(x.buffer, source)
        return x
    if not donate:
        semantics = how.ALWAYS_COPY if may_alias is False else how.REUSE_INPUT
        return Array(buffers.move(x.buffer, source, target, semantics), target)
    # A buffer that shares memory with `x` would end with it, so the parts are copied first.
    moved = buffers.move(x.buffer, source, target, how.ALWAYS_COPY)
    x.delete()
    return Array(moved, target)


def to_host(x: Any) -> Any:
    """An `Array` as a read-only NumPy array; other values as they are."""
    if isinstance(x, Array):
        if not x.placement.on_cpu:
            guard("device_to_host", x.type, explicit=True)
        if isinstance(x.type.dtype, KeyDType):
            return x._numpy()
        return buffers.to_numpy(x.buffer, x.placement)
    if isinstance(x, Tracer):
        raise _no_tracer("device_get", x)
    return x


# --- trees ------------------------------------------------------------------------------------


def _is_place(x: Any) -> bool:
    return x is None or isinstance(x, (Sharding, PartitionSpec, xla.Device, Space))


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: Any = False,
    may_alias: Any = None,
) -> Any:
    """Put the arrays of a tree on devices. The copies run in the background.

    Args:
        x: tree of arrays, NumPy arrays and scalars.
        device: a device, a `Sharding`, or a `PartitionSpec` on the current mesh, for all leaves;
            or a `memory.Space`: memory of the host or of the device, on the devices where the
            values are; or a tree of these that is a prefix of `x`. None leaves arrays where they
            are and puts other values on the default device, uncommitted.
        src: where the values are now; only checked, since arrays know it themselves.
        donate: True (or a prefix tree of booleans) ends the life of the arrays in `x`.
        may_alias: False (or a prefix tree) forces copies; None and True let results share memory
            with arrays of `x`. Memory of NumPy arrays is always copied, because its owner may write
            to it, except with True: then it is shared where it is aligned to 64 bytes.

    Returns:
        The tree with committed arrays (uncommitted where `device` is None).

    Raises:
        ShardingError: a sharding does not divide a shape evenly, a spec has no mesh, or the devices
            have no such memory.
        ValueArgumentError: both donate and `may_alias=True`.

    Example:
        >>> from numlift import device_put, devices
        >>> device_put({"a": 1.5}, devices()[0])["a"]
        Array(1.5, dtype=float32, weak_type=True)
    """
    leaves, treedef = tree.raw_flatten(x)
    n = len(leaves)

    def spread(name: str, value: Any) -> list[Any]:
        if _is_place(value) or isinstance(value, bool):
            return [value] * n
        return tree.broadcast_prefix(value, treedef, _is_place, "device_put", name, "x")

    places, donated, shared = (
        spread("device", device),
        spread("donate", donate),
        spread("may_alias", may_alias),
    )
    if src is not None:
        _check_source(leaves, spread("src", src))
    if any(d and s for d, s in zip(donated, shared, strict=True)):
        raise ValueArgumentError(
            explain(
                "device_put",
                "a donated array cannot share its memory",
                {"donate": donate, "may_alias": may_alias},
                try_="one of the two",
            )
        )
    moved = map(put, leaves, places, shared, donated)
    return treedef.unflatten(moved)


def _check_source(leaves: list[Any], sources: list[Any]) -> None:
    for leaf, source in zip(leaves, sources, strict=True):
        if source is None or not isinstance(leaf, Array):
            continue
        said = to_sharding(source)
        if not leaf.sharding.is_equivalent_to(said, leaf.ndim):
            raise ShardingError(
                explain(
                    "device_put",
                    "src is not where the array is",
                    {"src": said, "x": leaf.type, "its sharding": leaf.sharding},
                    try_="leave src out",
                )
            )


def device_get(x: Any) -> Any:
    """The arrays of a tree as NumPy arrays (read-only; on CPU they share memory).

    Copies of all arrays start at once, then each is waited for. Other leaves stay as they are.

    Args:
        x: tree of arrays.

    Returns:
        A tree of the same structure; an array of dtype bfloat16 (or another of few bits) becomes a
        NumPy array of the extension dtype.

    Raises:
        DeletedBufferError: an array was deleted or donated.
        DeviceError: parts of an array belong to other processes.

    Example:
        >>> import numlift.numpy as np
        >>> from numlift import device_get
        >>> device_get({"a": np.arange(3)})
        {'a': array([0, 1, 2], dtype=int32)}
    """
    leaves, treedef = tree.raw_flatten(x)
    for leaf in leaves:
        if isinstance(leaf, Array):
            leaf.copy_to_host_async()
    return treedef.unflatten(map(to_host, leaves))


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays of a tree are computed; return the tree.

    Raises what went wrong in the first computation that failed.

    Args:
        x: tree; leaves that are no arrays are ready.

    Returns:
        `x`.

    Raises:
        ExecutionError: of the first computation that failed; what a Python callback raised is
            raised as it is.
        DeletedBufferError: an array was deleted or donated.

    Example:
        >>> import time
        >>> import numlift as nl
        >>> start = time.perf_counter()
        >>> x = nl.block_until_ready(nl.numpy.ones(1000) * 2)
        >>> seconds = time.perf_counter() - start  # with the computation, not only its start
    """
    if type(x) is Array:
        return x.block_until_ready()
    arrays = [leaf for leaf in tree.raw_flatten(x)[0] if isinstance(leaf, Array)]
    try:
        xla.batched_block_until_ready([a.buffer for a in arrays])
    except xla.JaxRuntimeError:
        for a in arrays:  # finds which one failed, and explains it
            a.block_until_ready()
        raise
    return x


def copy_to_host_async(x: Any) -> Any:
    """Begin to copy the arrays of a tree to the host; return the tree."""
    for leaf in tree.raw_flatten(x)[0]:
        if isinstance(leaf, Array):
            leaf.copy_to_host_async()
    return x
