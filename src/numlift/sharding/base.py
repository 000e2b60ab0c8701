"""What all shardings share: from a grid of tiles to shapes, indices and devices."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import ShardingError, explain
from .mesh import is_local

Index = tuple[slice, ...]


class Tiling(NamedTuple):
    """How an array is cut and which piece each device holds.

    Args:
        counts: number of pieces along each dimension.
        coords: for each device, in order, the position of its piece along each dimension.
    """

    counts: tuple[int, ...]
    coords: tuple[tuple[int, ...], ...]


class Sharding:
    """Which device holds which part of an array. Base class of all shardings.

    Subclasses are interned: equal shardings are the same object, so they are cheap parts of cache
    keys. They give `device_order` (the devices in order) and `tiling(ndim)`.
    """

    __slots__ = ("__weakref__",)

    memory_kind: str | None

    @property
    def device_order(self) -> tuple[Any, ...]:
        """The devices in order."""
        raise NotImplementedError

    def tiling(self, ndim: int) -> Tiling:
        """How an array of `ndim` dimensions is cut. Raises ShardingError if it cannot be."""
        raise NotImplementedError

    def with_memory_kind(self, kind: str | None) -> Sharding:
        """The same sharding in the memory called `kind`."""
        raise NotImplementedError

    @property
    def num_devices(self) -> int:
        """Number of devices."""
        return len(self.device_order)

    @property
    def device_set(self) -> set[Any]:
        """The devices that hold a part."""
        return set(self.device_order)

    @property
    def addressable_devices(self) -> set[Any]:
        """The devices of this process that hold a part."""
        return {d for d in self.device_order if is_local(d)}

    @property
    def is_fully_addressable(self) -> bool:
        """True if all devices belong to this process."""
        return _all_local(self)

    @property
    def is_fully_replicated(self) -> bool:
        """True if every device holds the whole array."""
        raise NotImplementedError

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """Shape of the part that one device holds.

        Args:
            global_shape: shape of the whole array.

        Raises:
            ShardingError: a dimension does not divide evenly.
        """
        return shard_shape(self, tuple(global_shape))

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index]:
        """For each device, the index (a tuple of slices) of its part in the whole array."""
        indices = shard_indices(self, tuple(global_shape))
        return dict(zip(self.device_order, indices, strict=True))

    def addressable_devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index]:
        """The same as `devices_indices_map` for the devices of this process only."""
        everything = self.devices_indices_map(global_shape)
        return {d: index for d, index in everything.items() if is_local(d)}

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """True if both put the same parts of any `ndim`-dimensional array on the same devices."""
        if self is other:
            return True
        return (
            self.device_order == other.device_order
            and _same_memory(self, other)
            and self.tiling(ndim) == other.tiling(ndim)
        )

    def split_by(self, dim: int) -> str:
        """What splits dimension `dim`, for messages."""
        raise NotImplementedError

    def __copy__(self) -> Sharding:
        return self

    def __deepcopy__(self, memo: dict) -> Sharding:
        return self


@functools.lru_cache(maxsize=1024)
def _all_local(sharding: Sharding) -> bool:
    return all(is_local(d) for d in sharding.device_order)


def _same_memory(a: Sharding, b: Sharding) -> bool:
    if a.memory_kind == b.memory_kind or not a.device_order:
        return True
    default = a.device_order[0].default_memory().kind
    return (a.memory_kind or default) == (b.memory_kind or default)


@functools.lru_cache(maxsize=4096)
def shard_shape(sharding: Sharding, global_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of one part; the cached body of `Sharding.shard_shape`."""
    counts = sharding.tiling(len(global_shape)).counts
    for dim, (size, count) in enumerate(zip(global_shape, counts, strict=True)):
        if size % count:
            raise ShardingError(
                explain(
                    "sharding",
                    f"dimension {dim} of size {size} does not divide into {count} equal parts "
                    f"({sharding.split_by(dim)})",
                    {"shape": global_shape, "sharding": sharding},
                    try_=f"pad dimension {dim} to {math.ceil(size / count) * count}, "
                    "or split another dimension",
                )
            )
    return tuple([size // count for size, count in zip(global_shape, counts, strict=True)])


@functools.lru_cache(maxsize=4096)
def shard_indices(sharding: Sharding, global_shape: tuple[int, ...]) -> tuple[Index, ...]:
    """For each device, in order, the index of its part. `slice(None)` where nothing is cut."""
    shape = shard_shape(sharding, global_shape)
    tiling = sharding.tiling(len(global_shape))
    whole = slice(None)
    return tuple(
        tuple(
            whole if count == 1 else slice(c * part, (c + 1) * part)
            for c, part, count in zip(coords, shape, tiling.counts, strict=True)
        )
        for coords in tiling.coords
    )


@functools.lru_cache(maxsize=1024)
def replica_ids(sharding: Sharding, ndim: int) -> tuple[int, ...]:
    """For each device, in order, how many earlier devices hold the same part."""
    seen: dict[tuple[int, ...], int] = {}
    ids = []
    for coords in sharding.tiling(ndim).coords:
        ids.append(seen.get(coords, 0))
        seen[coords] = ids[-1] + 1
    return tuple(ids)
