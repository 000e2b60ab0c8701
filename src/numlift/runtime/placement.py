"""Placements: type, sharding and commitment of an array as one interned object.

Dispatch keys hold placements; a placement caches what jaxlib needs to build such an array.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from .. import config
from ..core.dims import Dim
from ..core.types import ArrayType
from ..errors import ShardingError, explain
from ..sharding.base import Sharding, is_local, shard_shape
from ..sharding.mesh import AxisType, Mesh
from ..sharding.named import NamedSharding, SingleDeviceSharding, TiledSharding
from ..sharding.spec import UNCONSTRAINED, PartitionSpec
from . import devices, xla


class Placement:
    """What an array is and where it lives. Made only by `placement`, which interns.

    Attributes:
        type: its `ArrayType`.
        sharding: which device holds which part.
        committed: True if the user chose the devices; others follow the committed operands.
        xla_sharding: `sharding` as jaxlib sees it.
        handler: jaxlib's builder of such arrays from the results of a run.
        device_list: jaxlib's list of the devices, in order.
        local_devices: plain list of the devices of this process, in order.
        single: True for one device.
        on_cpu: True if the devices are CPUs, so that reading is not a transfer.
    """

    __slots__ = (
        "__weakref__",
        "committed",
        "device_list",
        "handler",
        "local_devices",
        "on_cpu",
        "sharding",
        "single",
        "type",
        "xla_sharding",
    )

    type: ArrayType
    sharding: Sharding
    committed: bool
    xla_sharding: xla.XlaSharding
    handler: Any
    device_list: Any
    local_devices: list[Any]
    single: bool
    on_cpu: bool

    def __repr__(self) -> str:
        committed = "" if self.committed else ", uncommitted"
        return f"Placement({self.type!r}, {self.sharding!r}{committed})"

    def __reduce__(self):
        return placement, (self.type, self.sharding, self.committed)


_interned: weakref.WeakValueDictionary[tuple, Placement] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def placement(type: ArrayType, sharding: Sharding, committed: bool = True) -> Placement:
    """The one `Placement` with these properties.

    Raises:
        ShardingError: the sharding does not divide the shape, or its memory does not exist.
    """
    key = (type, sharding, committed)
    known = _interned.get(key)
    if known is not None:
        return known
    made = _build(type, sharding, committed)
    with _lock:
        return _interned.setdefault(key, made)


def _build(type: ArrayType, sharding: Sharding, committed: bool) -> Placement:
    physical = type.physical
    shard_shape(sharding, physical.shape)
    made = object.__new__(Placement)
    made.type, made.sharding, made.committed = type, sharding, committed
    made.xla_sharding = xla_sharding(sharding, physical.ndim)
    # arrays have numbers for sizes: a type with symbolic ones is only traced
    symbolic = any(isinstance(d, Dim) for d in physical.shape)
    made.handler = None if symbolic else xla.result_handler(physical, made.xla_sharding, committed)
    made.device_list = made.xla_sharding.device_list
    made.local_devices = list(local_devices(sharding))
    made.single = len(sharding.device_order) == 1
    made.on_cpu = sharding.device_order[0].platform == "cpu"
    return made


def default_sharding() -> SingleDeviceSharding:
    """The device for new arrays that nobody placed."""
    if config.current().default_device is None:
        return SingleDeviceSharding(devices.backend().local_devices[0])
    return SingleDeviceSharding(devices.default_device())


def default_placement(type: ArrayType) -> Placement:
    """Uncommitted on the default device."""
    return placement(type, default_sharding(), False)


def sharded_type(type: ArrayType, sharding: Sharding) -> ArrayType:
    """`type` with the part of `sharding` that types show: the Explicit axes of its mesh."""
    if not isinstance(sharding, NamedSharding) or not sharding.mesh.explicit_axes:
        return type if type.sharding is None else type.update(sharding=None)
    mesh = sharding.mesh
    entries: list[Any] = []
    for entry in sharding.spec.padded(type.ndim):
        if entry is None or entry is UNCONSTRAINED:
            entries.append(None)
            continue
        names = (entry,) if isinstance(entry, str) else entry
        entries.append(tuple(n for n in names if mesh.axis_type(n) is AxisType.Explicit))
    shown = NamedSharding(mesh.abstract_mesh, PartitionSpec(*entries))
    return type if type.sharding is shown else type.update(sharding=shown)


def local_devices(sharding: Sharding) -> tuple[Any, ...]:
    """The devices of this process in the order of the sharding: the order of the shards."""
    if sharding.is_fully_addressable:
        return sharding.device_order
    return tuple([d for d in sharding.device_order if is_local(d)])


# --- to jaxlib --------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def device_list(order: tuple[Any, ...]) -> Any:
    """jaxlib's `DeviceList` of these devices."""
    return xla.DeviceList(order)


@functools.lru_cache(maxsize=4096)
def xla_sharding(sharding: Sharding, ndim: int) -> xla.XlaSharding:
    """`sharding` for arrays of `ndim` dimensions as jaxlib sees it."""
    order = device_list(sharding.device_order)
    kind = sharding.memory_kind
    if kind is not None and kind not in order.memory_kinds:
        raise ShardingError(
            explain(
                "sharding",
                f"the devices have no memory {kind!r}",
                {"devices": list(sharding.device_order)},
                try_=f"memory_kind one of {tuple(order.memory_kinds)}",
            )
        )
    return xla.XlaSharding(order, hlo_sharding(sharding, ndim), kind)


def hlo_sharding(sharding: Sharding, ndim: int) -> Any:
    """XLA's description of the tiling, in the form that XLA gives back for it."""
    if isinstance(sharding, NamedSharding):
        if sharding.spec.unreduced:
            raise ShardingError(
                explain(
                    "sharding",
                    "an unreduced array exists only inside a program",
                    {"sharding": sharding},
                    try_="the same spec without unreduced=",
                )
            )
        sharding.spec.padded(ndim)  # refuses a spec that is too long, also if replicated
        if not sharding.is_fully_replicated:
            return _named_hlo(sharding, ndim)
    if sharding.is_fully_replicated:
        return xla.HloSharding.replicate()
    return _tiled_hlo(sharding, ndim)


def _named_hlo(sharding: NamedSharding, ndim: int) -> Any:
    mesh, counts = sharding.mesh, sharding.tiling(ndim).counts
    used = [mesh.axis_names.index(name) for name in sharding.spec.axes()]
    left = [i for i in range(len(mesh.axis_names)) if i not in used]
    rest = mesh.size
    for count in counts:
        rest //= count
    dims, types = list(counts), []
    if rest > 1:
        dims, types = [*dims, rest], [xla.OpSharding.Type.REPLICATED]
    return xla.HloSharding.iota_tile(dims, list(mesh.axis_sizes), used + left, types)


def _tiled_hlo(sharding: Sharding, ndim: int) -> Any:
    counts, coords = sharding.tiling(ndim)
    order = sorted(range(len(coords)), key=lambda i: (coords[i], i))
    total = 1
    for count in counts:
        total *= count
    rest = len(coords) // total
    dims = [*counts, rest] if rest > 1 else counts
    last = " last_tile_dim_replicate" if rest > 1 else ""
    listed = ",".join(map(str, order))
    return xla.HloSharding.from_string(f"{{devices=[{','.join(map(str, dims))}]{listed}{last}}}")


# --- from jaxlib ------------------------------------------------------------------------------


def sharding_from_hlo(
    hlo: Any,
    order: Sequence[Any],
    ndim: int,
    mesh: Mesh | None = None,
    memory_kind: str | None = None,
) -> Sharding:
    """The sharding of a result as the compiler chose it.

    Args:
        hlo: `HloSharding` or `OpSharding` read back from an executable; None is replicated.
        order: devices of the executable, in order.
        ndim: number of dimensions of the result.
        mesh: mesh to name the axes with, if its devices are `order`.
        memory_kind: memory of the result.

    Returns:
        A `NamedSharding` on `mesh` if there is one that describes it, a `SingleDeviceSharding` for
        one device, else a `TiledSharding`.
    """
    order = tuple(order)
    if hlo is None:
        hlo = xla.HloSharding.replicate()
    elif isinstance(hlo, xla.OpSharding):
        hlo = xla.HloSharding.from_proto(hlo)
    if len(order) == 1 and mesh is None:
        return SingleDeviceSharding(order[0], memory_kind=memory_kind)
    tiled = _tiles_of(hlo, order, ndim, memory_kind)
    if mesh is not None and mesh.device_tuple == order:
        named = _name_tiles(tiled, mesh, ndim)
        if named is not None:
            return named
    if len(order) == 1:
        return SingleDeviceSharding(order[0], memory_kind=memory_kind)
    return tiled


def _tiles_of(hlo: Any, order: tuple[Any, ...], ndim: int, kind: str | None) -> TiledSharding:
    if hlo.is_replicated() or hlo.is_unknown() or ndim == 0:
        return TiledSharding(order, memory_kind=kind)
    if not hlo.is_tiled():
        raise ShardingError(
            explain(
                "sharding",
                f"the compiler chose {hlo} for a result, which no array can have",
                try_="out_shardings= for this result",
            )
        )
    dims = list(hlo.tile_assignment_dimensions())
    counts = tuple(dims[:ndim])
    per_tile = 1
    for extra in dims[ndim:]:
        per_tile *= extra
    coords: list[tuple[int, ...]] = [()] * len(order)
    for place, device in enumerate(hlo.tile_assignment_devices()):
        tile, position = place // per_tile, []
        for count in reversed(counts):
            position.append(tile % count)
            tile //= count
        coords[device] = tuple(reversed(position))
    return TiledSharding(order, counts, tuple(coords), memory_kind=kind)


def _name_tiles(tiled: TiledSharding, mesh: Mesh, ndim: int) -> NamedSharding | None:
    """The spec on `mesh` that gives these tiles, or None.

    One step along a mesh axis moves the piece of a dimension by a fixed stride; the axes of a
    dimension are those that move it, the largest stride first.
    """
    if tiled.is_fully_replicated:
        return NamedSharding(mesh, PartitionSpec(), memory_kind=tiled.memory_kind)
    coords = tiled.tiling(ndim).coords
    step = mesh.size
    strides: list[list[tuple[int, str]]] = [[] for _ in range(ndim)]
    for name, size in mesh.shape.items():
        step //= size
        if size == 1:
            continue
        for dim in range(ndim):
            stride = coords[step][dim] - coords[0][dim]
            if stride > 0:
                strides[dim].append((stride, name))
    entries = [tuple(name for _, name in sorted(s, reverse=True)) for s in strides]
    while entries and not entries[-1]:
        entries.pop()
    names = [n for e in entries for n in e]
    if len(set(names)) != len(names):
        return None
    named = NamedSharding(mesh, PartitionSpec(*entries), memory_kind=tiled.memory_kind)
    return named if named.tiling(ndim) == tiled.tiling(ndim) else None
