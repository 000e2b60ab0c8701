"""Meshes: named grids of devices. Data only; nothing here talks to a device."""

from __future__ import annotations

import collections
import enum
import math
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..config import replace
from ..errors import ArgumentError, ShardingError, explain


class AxisType(enum.Enum):
    """Who decides how arrays are split over a mesh axis.

    `Auto`: the compiler. `Explicit`: the types of the arrays, visible while tracing. `Manual`:
    the body of a `shard_map`, which sees one shard and calls collectives.
    """

    Auto = "auto"
    Explicit = "explicit"
    Manual = "manual"

    def __repr__(self) -> str:
        return self.name


def _axis_types(function: str, axis_types: Any, names: tuple[str, ...]) -> tuple[AxisType, ...]:
    if axis_types is None:
        return (AxisType.Auto,) * len(names)
    types = (axis_types,) * len(names) if isinstance(axis_types, AxisType) else tuple(axis_types)
    for t in types:
        if not isinstance(t, AxisType):
            raise ArgumentError(
                explain(
                    function,
                    f"axis_types holds {t!r}, not an AxisType",
                    try_="axis_types=(AxisType.Auto,) * number_of_axes",
                )
            )
    if len(types) != len(names):
        raise ShardingError(
            explain(
                function,
                f"{len(types)} axis types for {len(names)} axis names",
                {"axis_names": names, "axis_types": types},
                try_="one AxisType for each axis name",
            )
        )
    return types


def _axis_names(function: str, axis_names: Any, ndim: int) -> tuple[str, ...]:
    names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
    if len(names) != ndim:
        raise ShardingError(
            explain(
                function,
                f"{ndim} mesh axes need as many names, got {len(names)}",
                {"axis_names": names},
                try_="one name for each dimension of the device grid",
            )
        )
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(
                explain(
                    function,
                    f"axis names are strings, got {name!r}",
                    {"axis_names": names},
                    try_=repr(str(name)),
                )
            )
    if len(set(names)) != len(names):
        raise ShardingError(
            explain(
                function,
                "axis names must differ",
                {"axis_names": names},
                try_="another name for the repeated axis",
            )
        )
    return names


class _Axes:
    """What concrete and abstract meshes share: names, sizes and types of the axes."""

    __slots__ = ("axis_names", "axis_sizes", "axis_types", "shape", "size", "__weakref__")

    axis_names: tuple[str, ...]
    axis_sizes: tuple[int, ...]
    axis_types: tuple[AxisType, ...]
    shape: collections.OrderedDict[str, int]
    size: int

    def _set_axes(
        self, sizes: tuple[int, ...], names: tuple[str, ...], types: tuple[AxisType, ...]
    ) -> None:
        self.axis_names, self.axis_sizes, self.axis_types = names, sizes, types
        self.shape = collections.OrderedDict(zip(names, sizes, strict=True))
        self.size = math.prod(sizes) if sizes else 0

    @property
    def shape_tuple(self) -> tuple[tuple[str, int], ...]:
        """Pairs of axis name and size."""
        return tuple(self.shape.items())

    @property
    def empty(self) -> bool:
        """True for the mesh without axes."""
        return not self.axis_names

    def axis_type(self, name: str) -> AxisType:
        """The type of the axis called `name`."""
        return self.axis_types[self.axis_names.index(name)]

    def _axes_of(self, kind: AxisType) -> tuple[str, ...]:
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return tuple(name for name, t in pairs if t is kind)

    @property
    def auto_axes(self) -> tuple[str, ...]:
        """Names of the Auto axes."""
        return self._axes_of(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple[str, ...]:
        """Names of the Explicit axes."""
        return self._axes_of(AxisType.Explicit)

    @property
    def manual_axes(self) -> tuple[str, ...]:
        """Names of the Manual axes."""
        return self._axes_of(AxisType.Manual)

    @property
    def are_all_axes_auto(self) -> bool:
        """True if there are axes and all of them are Auto."""
        return bool(self.axis_types) and set(self.axis_types) == {AxisType.Auto}

    @property
    def are_all_axes_explicit(self) -> bool:
        """True if there are axes and all of them are Explicit."""
        return bool(self.axis_types) and set(self.axis_types) == {AxisType.Explicit}

    @property
    def are_all_axes_manual(self) -> bool:
        """True if there are axes and all of them are Manual."""
        return bool(self.axis_types) and set(self.axis_types) == {AxisType.Manual}

    def _axes_repr(self) -> str:
        sizes = ", ".join(f"{name!r}: {size}" for name, size in self.shape.items())
        return f"{sizes}, axis_types={self.axis_types}"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo: dict):
        return self


_abstract: weakref.WeakValueDictionary[tuple, AbstractMesh] = weakref.WeakValueDictionary()
_meshes: weakref.WeakValueDictionary[tuple, Mesh] = weakref.WeakValueDictionary()
_lock = threading.Lock()
_scope = replace()  # leaving it leaves whichever scope is innermost


@dataclass(frozen=True)
class AbstractDevice:
    """A kind of device, without a device of that kind.

    Attributes:
        device_kind: its name, such as ``"NVIDIA H100"``.
        num_cores: how many cores it has, or None.
        platform: ``"cpu"``, ``"gpu"`` or ``"tpu"``.

    Example:
        >>> AbstractMesh((2,), "x", abstract_device=AbstractDevice("cpu", None, "cpu"))
        AbstractMesh('x': 2, axis_types=(Auto,), device_kind=cpu, num_cores=None, platform=cpu)
    """

    device_kind: str
    num_cores: int | None
    platform: str

    def __str__(self) -> str:
        return (
            f"device_kind={self.device_kind}, num_cores={self.num_cores}, platform={self.platform}"
        )


class AbstractMesh(_Axes):
    """Sizes, names and types of mesh axes, without devices.

    Types of arrays and traced programs know this much of a mesh. Equal abstract meshes are the
    same object.

    Args:
        axis_sizes: size of each axis.
        axis_names: name of each axis.
        axis_types: `AxisType` of each axis, or one for all; None means Auto.
        abstract_device: what kind of devices it is for, if that is known.

    Example:
        >>> AbstractMesh((4, 2), ("x", "y")).shape["x"]
        4
    """

    __slots__ = ("abstract_device",)

    abstract_device: AbstractDevice | None

    def __new__(
        cls,
        axis_sizes: Sequence[int],
        axis_names: str | Sequence[str],
        axis_types: Any = None,
        *,
        abstract_device: AbstractDevice | None = None,
    ) -> AbstractMesh:
        sizes = tuple(int(s) for s in axis_sizes)
        if any(s < 1 for s in sizes):
            raise ShardingError(
                explain(
                    "AbstractMesh",
                    "axis sizes must be at least 1",
                    {"axis_sizes": sizes},
                    try_="leave out the empty axis",
                )
            )
        names = _axis_names("AbstractMesh", axis_names, len(sizes))
        axes = (sizes, names, _axis_types("AbstractMesh", axis_types, names))
        with _lock:
            known = _abstract.get((*axes, abstract_device))
            if known is None:
                known = _abstract[(*axes, abstract_device)] = object.__new__(cls)
                known._set_axes(*axes)
                known.abstract_device = abstract_device
            return known

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh itself."""
        return self

    def update_axis_types(self, changes: Mapping[str, AxisType]) -> AbstractMesh:
        """The mesh with other types for the axes named in `changes`."""
        return self.update(axis_types=_changed_types(self, changes))

    def update(
        self,
        axis_sizes: Sequence[int] | None = None,
        axis_names: Sequence[str] | None = None,
        axis_types: Any = None,
        **others: Any,
    ) -> AbstractMesh:
        """The mesh with some of sizes, names and types replaced."""
        return AbstractMesh(
            self.axis_sizes if axis_sizes is None else axis_sizes,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
            **{"abstract_device": self.abstract_device, **others},
        )

    def __repr__(self) -> str:
        if self.empty:
            return "AbstractMesh()"
        device = "" if self.abstract_device is None else f", {self.abstract_device}"
        return f"AbstractMesh({self._axes_repr()}{device})"

    def __reduce__(self):
        return _rebuild, (self.axis_sizes, self.axis_names, self.axis_types, self.abstract_device)


def _rebuild(sizes: Any, names: Any, types: Any, device: Any) -> AbstractMesh:
    return AbstractMesh(sizes, names, types, abstract_device=device)


def _changed_types(mesh: _Axes, changes: Mapping[str, AxisType]) -> tuple[AxisType, ...]:
    for name in changes:
        if name not in mesh.shape:
            raise ShardingError(
                explain(
                    "update_axis_types",
                    f"no mesh axis is called {name!r}",
                    {"mesh": mesh},
                    try_=f"one of {mesh.axis_names}",
                )
            )
    pairs = zip(mesh.axis_names, mesh.axis_types, strict=True)
    return tuple(changes.get(name, t) for name, t in pairs)


class Mesh(_Axes):
    """A grid of devices with a name for each axis.

    Equal meshes (same devices in the same grid, same names and types) are the same object, so a
    mesh is cheap to hash and compare.

    Args:
        devices: array (any nesting of sequences) of devices; its shape is the shape of the mesh.
        axis_names: one name for each dimension of `devices`.
        axis_types: an `AxisType` for each axis, or one for all; None means Auto.

    Raises:
        ShardingError: repeated devices or names, or their number does not fit.

    `with mesh:` makes it the current mesh, as `set_mesh` does.

    Example:
        >>> import numlift as nl
        >>> Mesh(nl.devices()[:1], ("x",)).shape["x"]
        1
    """

    __slots__ = ("devices", "device_tuple", "_abstract")

    devices: np.ndarray
    device_tuple: tuple[Any, ...]
    _abstract: AbstractMesh | None

    def __new__(cls, devices: Any, axis_names: str | Sequence[str], axis_types: Any = None) -> Mesh:
        grid = _device_grid(devices)
        names = _axis_names("Mesh", axis_names, grid.ndim)
        types = _axis_types("Mesh", axis_types, names)
        flat = tuple(grid.flat) if names else ()
        if len(set(flat)) != len(flat):
            raise ShardingError(
                explain(
                    "Mesh",
                    "a device appears more than once",
                    {"devices": list(flat)},
                    try_="each device in one place of the grid",
                )
            )
        strange = [d for d in flat if not hasattr(d, "platform")]
        if strange:
            raise ArgumentError(
                explain(
                    "Mesh",
                    f"the grid must hold devices, but holds a {type(strange[0]).__name__}",
                    {"devices": list(flat)},
                    try_="Mesh(numpy.array(nl.devices()), ...), or nl.make_mesh",
                )
            )
        if names and not flat:
            raise ShardingError(
                explain(
                    "Mesh",
                    f"the grid of shape {grid.shape} holds no device",
                    try_="leave out the empty axis",
                )
            )
        key = (flat, grid.shape, names, types)
        with _lock:
            known = _meshes.get(key)
            if known is None:
                known = _meshes[key] = object.__new__(cls)
                known._set_axes(grid.shape, names, types)
                grid.flags.writeable = False
                known.devices, known.device_tuple, known._abstract = grid, flat, None
            return known

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """Sizes, names and types of the axes, without the devices."""
        if self._abstract is None:
            self._abstract = AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)
        return self._abstract

    @property
    def device_ids(self) -> np.ndarray:
        """Array of the ids of the devices, in the shape of the mesh."""
        return np.array([d.id for d in self.device_tuple], dtype=np.int64).reshape(
            self.devices.shape
        )

    @property
    def local_devices(self) -> list[Any]:
        """The devices of the mesh that belong to this process."""
        return [d for d in self.device_tuple if is_local(d)]

    @property
    def is_multi_process(self) -> bool:
        """True if a device of the mesh belongs to another process."""
        return any(not is_local(d) for d in self.device_tuple)

    def update_axis_types(self, changes: Mapping[str, AxisType]) -> Mesh:
        """The mesh with other types for the axes named in `changes`."""
        return Mesh(self.devices, self.axis_names, _changed_types(self, changes))

    def __repr__(self) -> str:
        return "Mesh()" if self.empty else f"Mesh({self._axes_repr()})"

    def __reduce__(self):
        return Mesh, (self.devices, self.axis_names, self.axis_types)

    def __enter__(self) -> Mesh:
        replace(mesh=self).__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        _scope.__exit__(*exc)


def _device_grid(devices: Any) -> np.ndarray:
    """Object array of the devices; NumPy must not look inside a device."""
    if isinstance(devices, np.ndarray) and devices.dtype == object:
        return devices.copy()
    shape, level = [], devices
    while isinstance(level, (list, tuple, np.ndarray)):
        shape.append(len(level))
        if not len(level):
            break
        level = level[0]
    grid = np.empty(shape, dtype=object)
    for index in np.ndindex(*shape):
        level = devices
        for i in index:
            level = level[i]
        grid[index] = level
    return grid


def is_local(device: Any) -> bool:
    """True if `device` belongs to this process."""
    return device.process_index == device.client.process_index()


def axis_size(mesh: _Axes, names: str | tuple[str, ...] | None) -> int:
    """Number of pieces that the named mesh axes make of a dimension."""
    if names is None:
        return 1
    if isinstance(names, str):
        return mesh.shape[names]
    return math.prod(mesh.shape[name] for name in names)
