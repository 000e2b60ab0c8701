"""Arrays made of parts: from a callback, from one-device arrays, from the data of a process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import KeyDType, canonicalize_dtype
from ..core.types import array_type
from ..errors import DTypeError, ShapeError, ShardingError, explain
from ..sharding.base import Sharding, shard_shape
from ..sharding.mesh import is_local
from . import buffers
from .array import Array
from .placement import Placement, local_devices, placement, sharded_type
from .transfer import host_value, to_sharding


def make_array_from_callback(
    shape: Sequence[int],
    sharding: Any,
    data_callback: Callable[[tuple[slice, ...]], Any],
    dtype: Any = None,
) -> Array:
    """An array whose parts a function supplies, so that the whole never exists on the host.

    Args:
        shape: shape of the whole array.
        sharding: `Sharding` (or device, or spec on the current mesh) of the array.
        data_callback: given the index of a part (a tuple of slices), gives its data. It is called
            once for each different part that devices of this process hold.
        dtype: dtype of the array; None takes that of the first part. Needed in a process that
            holds no part.

    Returns:
        An array of this shape and sharding.

    Raises:
        ShapeError: the data of a part has the wrong shape.
        ShardingError: the sharding does not divide `shape`.

    Example:
        >>> import numpy as np
        >>> from numlift import make_array_from_callback
        >>> from numlift.runtime.devices import devices
        >>> full = np.arange(4)
        >>> make_array_from_callback((4,), devices()[0], lambda index: full[index])
        Array([0, 1, 2, 3], dtype=int32)
    """
    function = "make_array_from_callback"
    sharding, shape = to_sharding(sharding, function), tuple(shape)
    part = shard_shape(sharding, shape)
    known: dict[Any, np.ndarray] = {}
    pieces = []
    for device, index in sharding.devices_indices_map(shape).items():
        if not is_local(device):
            continue
        key = tuple([(s.start, s.stop) for s in index])
        if key not in known:
            known[key] = _part(function, data_callback(index), dtype, part, index)
            if dtype is None:
                dtype = known[key].dtype
        pieces.append(known[key])
    return _from_parts(function, shape, sharding, pieces, dtype)


def _part(function: str, data: Any, dtype: Any, part: tuple[int, ...], index: Any) -> np.ndarray:
    value = host_value(data, dtype)[0]
    if value.shape != part:
        raise ShapeError(
            explain(
                function,
                f"the part at {index} has shape {part}, its data {value.shape}",
                try_="return full_array[index] from the callback",
            )
        )
    return value


def _from_parts(
    function: str, shape: tuple[int, ...], sharding: Sharding, pieces: list[np.ndarray], dtype: Any
) -> Array:
    if dtype is None:
        raise DTypeError(
            explain(function, "this process holds no part, so the dtype is unknown", try_="dtype=")
        )
    dtype = canonicalize_dtype(dtype)
    where = placement(sharded_type(array_type(shape, dtype), sharding), sharding, True)
    return Array(buffers.put_pieces(pieces, where), where)


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Any, arrays: Sequence[Array], *, dtype: Any = None
) -> Array:
    """One array of parts that are on their devices already. Nothing is copied.

    Args:
        shape: shape of the whole array.
        sharding: `Sharding` of the whole array.
        arrays: one array for each device of this process in the sharding, in any order.
        dtype: dtype; needed only in a process that holds no part.

    Returns:
        An array of this shape and sharding, over the buffers of the parts.

    Raises:
        ShapeError: a part has the wrong shape.
        DTypeError: the parts have different dtypes.
        ShardingError: the devices of the parts are not those of the sharding.

    Example:
        >>> import numlift as nl
        >>> x = nl.numpy.arange(4)
        >>> y = nl.make_array_from_single_device_arrays((4,), x.sharding, [x])
        >>> y
        Array([0, 1, 2, 3], dtype=int32)
    """
    function = "make_array_from_single_device_arrays"
    sharding, shape, arrays = to_sharding(sharding, function), tuple(shape), list(arrays)
    part = shard_shape(sharding, shape)
    for x in arrays:
        if not isinstance(x, Array) or not x.placement.single:
            raise ShardingError(
                explain(
                    function,
                    "each part must be an array on one device",
                    {"part": x.type if isinstance(x, Array) else x},
                    try_="device_put(part, device)",
                )
            )
        dtype = x.type.dtype if dtype is None else dtype
        if x.type.dtype != dtype:
            raise DTypeError(
                explain(
                    function,
                    f"the parts have different dtypes: {dtype} and {x.type.dtype}",
                    try_=f"part.astype({dtype})",
                )
            )
        if x.shape != part:
            raise ShapeError(
                explain(
                    function,
                    f"an array of shape {shape} with this sharding has parts of shape {part}",
                    {"part": x.type, "sharding": sharding},
                    try_="parts of that shape, or another global shape",
                )
            )
    if dtype is None:
        raise DTypeError(
            explain(function, "there are no parts to take the dtype of", try_="dtype=")
        )
    if not isinstance(dtype, KeyDType):
        dtype = canonicalize_dtype(dtype)
    where = placement(sharded_type(array_type(shape, dtype), sharding), sharding, True)
    return Array(buffers.assemble(_in_order(function, arrays, where), where), where)


def _in_order(function: str, arrays: list[Array], where: Placement) -> list[Any]:
    """Buffers of the parts in the order of the devices; refuses other devices."""
    by_device = {x.device: x for x in arrays}
    wanted = local_devices(where.sharding)
    if len(by_device) != len(arrays) or set(by_device) != set(wanted):
        raise ShardingError(
            explain(
                function,
                f"{len(arrays)} parts do not cover the {len(wanted)} devices of this process, "
                "each once",
                {"devices of the parts": [x.device for x in arrays], "needed": list(wanted)},
                try_="one part on each of sharding.addressable_devices",
            )
        )
    for x in arrays:
        buffers.check_alive(x.buffer, x.placement)
    return [by_device[d].buffer for d in wanted]


def make_array_from_process_local_data(
    sharding: Any, local_data: Any, global_shape: Sequence[int] | None = None
) -> Array:
    """A global array of the data that each process has.

    Args:
        sharding: `Sharding` of the whole array.
        local_data: array with the parts of this process side by side, in the order of the whole.
            In a dimension where it is as long as the whole, it holds the whole dimension.
        global_shape: shape of the whole array; None works it out, taking all processes to have
            equal amounts.

    Returns:
        An array of the global shape, the dtype of `local_data`, and this sharding.

    Raises:
        ShapeError: `local_data` is not as long as the parts of this process together.
        ShardingError: the sharding does not divide the shape.

    Example:
        >>> import numlift as nl
        >>> import numpy as np
        >>> mesh = nl.make_mesh((nl.process_count(),), ("data",))
        >>> rows = nl.NamedSharding(mesh, nl.P("data"))
        >>> nl.make_array_from_process_local_data(rows, np.ones((2, 3), np.float32)).shape
        (2, 3)
    """
    function = "make_array_from_process_local_data"
    sharding = to_sharding(sharding, function)
    data = host_value(local_data, None)[0]
    tiling = sharding.tiling(data.ndim)
    mine = [c for d, c in zip(sharding.device_order, tiling.coords, strict=True) if is_local(d)]
    held = [sorted({c[dim] for c in mine}) for dim in range(data.ndim)]
    if global_shape is None:
        shape = tuple(
            size * count // max(len(h), 1)
            for size, count, h in zip(data.shape, tiling.counts, held, strict=True)
        )
    else:
        shape = tuple(global_shape)
    part = shard_shape(sharding, shape)
    for dim, size in enumerate(data.shape):
        if size not in (shape[dim], part[dim] * len(held[dim])):
            raise ShapeError(
                explain(
                    function,
                    f"dimension {dim} of local_data has size {size}; the parts of this process "
                    f"have {part[dim] * len(held[dim])} of {shape[dim]}",
                    {"local_data": data, "sharding": sharding},
                    try_=f"the rows of this process only, or global_shape={data.shape}",
                )
            )
    pieces = []
    for coords in mine:
        index = []
        for dim, c in enumerate(coords):
            at = c if data.shape[dim] == shape[dim] else held[dim].index(c)
            index.append(slice(at * part[dim], (at + 1) * part[dim]))
        pieces.append(data[tuple(index)])
    return _from_parts(function, shape, sharding, pieces, data.dtype)
