"""The shardings: named axes of a mesh, one device, or tiles chosen by the compiler."""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from typing import Any

from ..errors import ArgumentError, ShardingError, explain
from .base import Sharding, Tiling
from .mesh import AbstractMesh, Mesh, axis_size
from .spec import UNCONSTRAINED, PartitionSpec

_interned: weakref.WeakValueDictionary[tuple, Any] = weakref.WeakValueDictionary()
_lock = threading.Lock()


class NamedSharding(Sharding):
    """Dimensions of an array split over the named axes of a mesh.

    Args:
        mesh: a `Mesh`; an `AbstractMesh` gives a sharding without devices.
        spec: a `PartitionSpec`.
        memory_kind: memory of the devices, such as `"pinned_host"`; None is the default one.

    Raises:
        ShardingError: `spec` names an axis that the mesh does not have.

    Example:
        >>> mesh = AbstractMesh((4, 2), ("x", "y"))
        >>> NamedSharding(mesh, PartitionSpec("x")).shard_shape((8, 3))
        (2, 3)
    """

    __slots__ = ("_tilings", "memory_kind", "mesh", "spec")

    mesh: Mesh | AbstractMesh
    spec: PartitionSpec
    _tilings: dict[int, Tiling]

    def __new__(
        cls,
        mesh: Mesh | AbstractMesh,
        spec: PartitionSpec,
        *,
        memory_kind: str | None = None,
    ) -> NamedSharding:
        key = (mesh, spec, memory_kind)
        if type(spec) is PartitionSpec:
            known = _interned.get(key)
            if known is not None:
                return known
        _check_named(mesh, spec)
        with _lock:
            known = _interned.get(key)
            if known is None:
                known = _interned[key] = object.__new__(cls)
                known.mesh, known.spec, known.memory_kind = key
                known._tilings = {}
            return known

    @property
    def device_order(self) -> tuple[Any, ...]:
        if isinstance(self.mesh, AbstractMesh):
            raise ShardingError(
                explain(
                    "NamedSharding",
                    "an AbstractMesh has no devices",
                    {"sharding": self},
                    try_="NamedSharding(mesh, spec) with a Mesh of devices",
                )
            )
        return self.mesh.device_tuple

    @property
    def num_devices(self) -> int:
        """Number of devices, known also without them."""
        return self.mesh.size

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh without its devices."""
        return self.mesh.abstract_mesh

    @property
    def is_fully_replicated(self) -> bool:
        return all(axis_size(self.mesh, e) == 1 for e in self.spec if e is not UNCONSTRAINED)

    def tiling(self, ndim: int) -> Tiling:
        known = self._tilings.get(ndim)
        if known is None:
            known = self._tilings[ndim] = self._tile(ndim)
        return known

    def _tile(self, ndim: int) -> Tiling:
        mesh, entries = self.mesh, self._split(ndim)
        counts = tuple([axis_size(mesh, names) for names in entries])
        where = {name: i for i, name in enumerate(mesh.axis_names)}
        coords = []
        for point in itertools.product(*map(range, mesh.axis_sizes)):
            position = []
            for names in entries:
                at = 0
                for name in names:
                    at = at * mesh.shape[name] + point[where[name]]
                position.append(at)
            coords.append(tuple(position))
        return Tiling(counts, tuple(coords))

    def _split(self, ndim: int) -> list[tuple[str, ...]]:
        """For each dimension the tuple of axes that split it; unconstrained ones are not."""
        return [
            () if e is None or e is UNCONSTRAINED else (e,) if isinstance(e, str) else e
            for e in self.spec.padded(ndim)
        ]

    def with_spec(self, spec: PartitionSpec) -> NamedSharding:
        """The same mesh and memory with another spec (a sequence of entries is fine)."""
        if not isinstance(spec, PartitionSpec):
            spec = PartitionSpec(*spec)
        return NamedSharding(self.mesh, spec, memory_kind=self.memory_kind)

    def with_memory_kind(self, kind: str | None) -> NamedSharding:
        return NamedSharding(self.mesh, self.spec, memory_kind=kind)

    def split_by(self, dim: int) -> str:
        entry = self.spec[dim]
        names = (entry,) if isinstance(entry, str) else entry
        sizes = ", ".join(f"{n!r} of size {self.mesh.shape[n]}" for n in names)
        return f"mesh {'axis' if len(names) == 1 else 'axes'} {sizes}"

    def __repr__(self) -> str:
        memory = f", memory_kind={self.memory_kind}" if self.memory_kind is not None else ""
        return f"NamedSharding(mesh={self.mesh!r}, spec={self.spec!r}{memory})"

    def __reduce__(self):
        return _named, (self.mesh, self.spec, self.memory_kind)


def _named(mesh: Any, spec: PartitionSpec, memory_kind: str | None) -> NamedSharding:
    return NamedSharding(mesh, spec, memory_kind=memory_kind)


def _check_named(mesh: Any, spec: Any) -> None:
    if not isinstance(mesh, (Mesh, AbstractMesh)):
        raise ArgumentError(
            explain(
                "NamedSharding",
                f"mesh must be a Mesh, got {type(mesh).__name__}",
                try_='NamedSharding(make_mesh((n,), ("x",)), P("x"))',
            )
        )
    if not isinstance(spec, PartitionSpec):
        raise ArgumentError(
            explain(
                "NamedSharding",
                f"spec must be a PartitionSpec, got {spec!r}",
                try_=f"P{spec!r}" if isinstance(spec, tuple) else f"P({spec!r})",
            )
        )
    for name in [*spec.axes(), *sorted(spec.unreduced | spec.reduced)]:
        if name not in mesh.shape:
            raise ShardingError(
                explain(
                    "NamedSharding",
                    f"the mesh has no axis {name!r}",
                    {"mesh": mesh, "spec": spec},
                    try_=f"one of the axes {mesh.axis_names}",
                )
            )


class SingleDeviceSharding(Sharding):
    """The whole array on one device.

    Args:
        device: the device.
        memory_kind: memory of the device; None is the default one.
    """

    __slots__ = ("_order", "memory_kind")

    _order: tuple[Any, ...]

    def __new__(cls, device: Any, *, memory_kind: str | None = None) -> SingleDeviceSharding:
        key = (device, memory_kind)
        known = _interned.get(key)
        if known is not None:
            return known
        if not hasattr(device, "process_index"):
            raise ArgumentError(
                explain(
                    "SingleDeviceSharding",
                    f"needs a device, got {type(device).__name__}",
                    try_="SingleDeviceSharding(devices()[0])",
                )
            )
        with _lock:
            known = _interned.get(key)
            if known is None:
                known = _interned[key] = object.__new__(cls)
                known._order, known.memory_kind = (device,), memory_kind
            return known

    @property
    def device(self) -> Any:
        """The device."""
        return self._order[0]

    @property
    def device_order(self) -> tuple[Any, ...]:
        return self._order

    @property
    def is_fully_replicated(self) -> bool:
        return True

    def tiling(self, ndim: int) -> Tiling:
        return _whole(ndim)

    def with_memory_kind(self, kind: str | None) -> SingleDeviceSharding:
        return SingleDeviceSharding(self.device, memory_kind=kind)

    def split_by(self, dim: int) -> str:
        return "one device"

    def __repr__(self) -> str:
        memory = f", memory_kind={self.memory_kind}" if self.memory_kind is not None else ""
        return f"SingleDeviceSharding(device={self.device!r}{memory})"

    def __reduce__(self):
        return _single, (self.device, self.memory_kind)


def _single(device: Any, memory_kind: str | None) -> SingleDeviceSharding:
    return SingleDeviceSharding(device, memory_kind=memory_kind)


@functools.cache
def _whole(ndim: int) -> Tiling:
    return Tiling((1,) * ndim, ((0,) * ndim,))


def make_single_device_sharding(device: Any, *, memory_kind: str | None = None) -> Any:
    """All of an array on one device; the same as `SingleDeviceSharding`.

    Args:
        device: one of `numlift.devices()`.
        memory_kind: memory of the device, such as ``"pinned_host"``; None is the default one.

    Returns:
        The `SingleDeviceSharding`.

    Raises:
        ArgumentError: not a device.

    Example:
        >>> import numlift as nl
        >>> from numlift.sharding import make_single_device_sharding
        >>> make_single_device_sharding(nl.devices()[0]).num_devices
        1
    """
    return SingleDeviceSharding(device, memory_kind=memory_kind)


class TiledSharding(Sharding):
    """Tiles over devices without names: what the compiler chose where no mesh fits.

    Args:
        devices: the devices in order.
        counts: number of parts along each dimension.
        coords: for each device, in order, the position of its part along each dimension.
        memory_kind: memory of the devices; None is the default one.

    A tiling of no dimensions (`counts == ()`) is replicated and fits arrays of any rank.
    """

    __slots__ = ("_order", "_tiles", "memory_kind")

    _order: tuple[Any, ...]
    _tiles: Tiling

    def __new__(
        cls,
        devices: tuple[Any, ...],
        counts: tuple[int, ...] = (),
        coords: tuple[tuple[int, ...], ...] | None = None,
        *,
        memory_kind: str | None = None,
    ) -> TiledSharding:
        devices = tuple(devices)
        if coords is None:
            coords = ((0,) * len(counts),) * len(devices)
        if len(coords) != len(devices):
            raise ShardingError(
                explain(
                    "TiledSharding",
                    f"{len(coords)} parts for {len(devices)} devices",
                    try_="one position for each device",
                )
            )
        tiles = Tiling(tuple(counts), tuple(coords))
        if set(tiles.counts) <= {1}:
            tiles = Tiling((), ((),) * len(devices))
        key = (devices, tiles, memory_kind)
        with _lock:
            known = _interned.get(key)
            if known is None:
                known = _interned[key] = object.__new__(cls)
                known._order, known._tiles, known.memory_kind = key
            return known

    @property
    def device_order(self) -> tuple[Any, ...]:
        return self._order

    @property
    def is_fully_replicated(self) -> bool:
        return not self._tiles.counts

    def tiling(self, ndim: int) -> Tiling:
        counts, coords = self._tiles
        if not counts:
            return Tiling((1,) * ndim, ((0,) * ndim,) * len(coords))
        if len(counts) != ndim:
            raise ShardingError(
                explain(
                    "TiledSharding",
                    f"tiles of {len(counts)} dimensions for an array of {ndim}",
                    {"sharding": self},
                    try_="a NamedSharding of the rank of the array",
                )
            )
        return self._tiles

    def with_memory_kind(self, kind: str | None) -> TiledSharding:
        return TiledSharding(self.device_order, *self._tiles, memory_kind=kind)

    def split_by(self, dim: int) -> str:
        return f"tiles {self._tiles.counts} over {len(self.device_order)} devices"

    def __repr__(self) -> str:
        ids = [d.id for d in self.device_order]
        counts = self._tiles.counts or "replicated"
        memory = f", memory_kind={self.memory_kind}" if self.memory_kind is not None else ""
        return f"TiledSharding({counts}, devices={ids}{memory})"

    def __reduce__(self):
        return _tiled, (self.device_order, *self._tiles, self.memory_kind)


def _tiled(devices: Any, counts: Any, coords: Any, memory_kind: str | None) -> TiledSharding:
    return TiledSharding(devices, counts, coords, memory_kind=memory_kind)
