"""Moving data: NumPy to buffers and back, buffers between devices. Below `Array`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import DeletedBufferError, DeviceError, ShardingError, explain
from ..sharding.base import replica_ids, shard_indices, shard_shape
from ..sharding.mesh import is_local
from . import xla
from .failures import failure
from .placement import Placement, local_devices

_device_put = xla.batched_device_put


def put(value: np.ndarray, where: Placement, alias: bool = False) -> xla.ArrayImpl:
    """A buffer with the contents of `value`, cut as the placement says.

    Args:
        value: array of the physical shape and dtype of `where.type`.
        where: its placement.
        alias: True lets the buffer use the memory of `value`; later writes would show through.
    """
    if where.single:
        return _put([value], where, alias)
    indices = shard_indices(where.sharding, value.shape)
    order = where.sharding.device_order
    pieces = [value[i] for d, i in zip(order, indices, strict=True) if is_local(d)]
    return put_pieces(pieces, where, alias)


def _put(pieces: Sequence[Any], where: Placement, alias: bool) -> xla.ArrayImpl:
    try:
        return xla.batched_device_put(
            where.type.physical,
            where.xla_sharding,
            pieces,
            where.local_devices,
            where.committed,
            host_buffer_semantics=xla.ALIAS if alias else xla.COPY,
            enable_x64=True,
        )
    except (xla.JaxRuntimeError, MemoryError) as error:
        raise failure(error, "device_put", {"array": where.type}, _places(where)) from error


def put_one(value: np.ndarray, where: Placement) -> xla.ArrayImpl:
    """A copy of `value` on the one device of `where`."""
    try:
        return _device_put(
            where.type.physical,
            where.xla_sharding,
            [value],
            where.local_devices,
            where.committed,
            False,
            xla.COPY,
            True,
        )
    except (xla.JaxRuntimeError, MemoryError) as error:
        raise failure(error, "device_put", {"array": where.type}, _places(where)) from error


def put_pieces(
    pieces: Sequence[np.ndarray], where: Placement, alias: bool = False
) -> xla.ArrayImpl:
    """A buffer of the given parts, one for each device of this process, in order."""
    part = shard_shape(where.sharding, where.type.physical.shape)
    parts: list[np.ndarray] = []
    seen: set[int] = set()
    for piece in pieces:
        # `ascontiguousarray` makes rank 1 of rank 0.
        try:
            piece = np.ascontiguousarray(piece).reshape(part)
        except MemoryError as error:
            raise failure(error, "device_put", {"array": where.type}) from error
        # jaxlib refuses to copy from one address twice in a call.
        if not alias and piece.ctypes.data in seen:
            piece = piece.copy()
        seen.add(piece.ctypes.data)
        parts.append(piece)
    return _put(parts, where, alias)


def shards(buffer: xla.ArrayImpl, where: Placement) -> list[xla.ArrayImpl]:
    """The one-device buffers, in the order of `local_devices(where.sharding)`."""
    check_alive(buffer, where)
    return [buffer] if where.single else xla.shards(buffer)


def to_numpy(buffer: xla.ArrayImpl, where: Placement) -> np.ndarray:
    """Read-only NumPy array of physical shape and dtype; a view of the memory where possible.

    Raises:
        DeletedBufferError: it was deleted or donated.
        DeviceError: parts of it belong to other processes.
    """
    try:
        if where.single:
            return xla.host_array(buffer)
        return _assemble(buffer, where)
    except (xla.JaxRuntimeError, MemoryError) as error:
        check_alive(buffer, where)
        raise failure(error, "array", {"array": where.type}) from error


def _assemble(buffer: xla.ArrayImpl, where: Placement) -> np.ndarray:
    sharding, physical = where.sharding, where.type.physical
    pieces = shards(buffer, where)
    if sharding.is_fully_replicated and pieces:
        return xla.host_array(pieces[0])
    if not sharding.is_fully_addressable:
        raise DeviceError(
            explain(
                "array",
                "parts of the array belong to other processes and cannot be read here",
                {"array": where.type, "sharding": sharding},
                try_="x.addressable_shards for the parts of this process, "
                "or replicate it with a jitted identity and out_shardings=P()",
            )
        )
    out = np.empty(physical.shape, physical.dtype)
    indices = shard_indices(sharding, physical.shape)
    replicas = replica_ids(sharding, physical.ndim)
    for piece, index, replica in zip(pieces, indices, replicas, strict=True):
        if replica == 0:
            out[index] = xla.host_array(piece)
    out.flags.writeable = False
    return out


def check_alive(buffer: xla.ArrayImpl, where: Placement) -> None:
    """Raise DeletedBufferError if the buffer was deleted or donated."""
    if buffer.is_deleted():
        raise DeletedBufferError(
            explain(
                "array",
                "it was deleted or donated and cannot be used any more",
                {"array": where.type},
                try_="use the result of the call that it was donated to, or do not donate it",
            )
        )


def wait(buffer: xla.ArrayImpl, where: Placement) -> None:
    """Wait until the value is there; raises what went wrong while it was computed."""
    try:
        buffer.block_until_ready()
    except xla.JaxRuntimeError as error:
        check_alive(buffer, where)
        raise failure(error, "array", {"array": where.type}, _places(where)) from error


def _places(where: Placement) -> str:
    """Where a value is, for messages."""
    order = where.sharding.device_order
    return str(order[0]) if len(order) == 1 else f"{len(order)} devices"


def move(
    buffer: xla.ArrayImpl, source: Placement, target: Placement, semantics: Any
) -> xla.ArrayImpl:
    """The buffer placed as `target`, which has the same physical type.

    Parts that stay whole go from device to device; the host is used only where parts must be cut
    or joined.

    Args:
        buffer: placed as `source`.
        source: its placement.
        target: placement of the result.
        semantics: of `xla.ArrayCopySemantics`.
    """
    check_alive(buffer, source)
    ndim = target.type.physical.ndim
    a, b = source.sharding, target.sharding
    if len(a.device_order) == len(b.device_order) and a.tiling(ndim) == b.tiling(ndim):
        return _same_tiles(buffer, source, target, semantics)
    if not (a.is_fully_addressable and b.is_fully_addressable):
        return _from_local_pieces(buffer, source, target)
    held = _pieces_by_index(buffer, source)
    wanted = _indices(target)
    pieces = [_find(held, index, device) for device, index in wanted]
    if all(p is not None for p in pieces):
        return _copy_pieces(pieces, target, semantics)
    return put(to_numpy(buffer, source), target)


def _same_tiles(
    buffer: xla.ArrayImpl, source: Placement, target: Placement, semantics: Any
) -> xla.ArrayImpl:
    reuse = semantics is xla.ArrayCopySemantics.REUSE_INPUT
    same_memory = source.xla_sharding.memory_kind == target.xla_sharding.memory_kind
    if reuse and same_memory and source.device_list == target.device_list:
        if source.xla_sharding is target.xla_sharding:
            return buffer
        return xla.rewrap(buffer, target.type.physical, target.xla_sharding)
    devices_differ = source.sharding.device_order != target.sharding.device_order
    clients_differ = (
        devices_differ
        and source.sharding.device_order[0].client is not target.sharding.device_order[0].client
    )
    if clients_differ:
        return put(to_numpy(buffer, source), target)
    if devices_differ and not target.sharding.is_fully_addressable:
        return _from_local_pieces(buffer, source, target)
    try:
        return xla.copy_to([buffer], target.xla_sharding, semantics)[0]
    except xla.JaxRuntimeError as error:
        raise failure(error, "device_put", {"array": target.type}, _places(target)) from error


def _indices(where: Placement) -> list[tuple[Any, tuple[slice, ...]]]:
    shape = where.type.physical.shape
    pairs = zip(where.sharding.device_order, shard_indices(where.sharding, shape), strict=True)
    return [(d, i) for d, i in pairs if is_local(d)]


def _pieces_by_index(
    buffer: xla.ArrayImpl, where: Placement
) -> dict[Any, dict[Any, xla.ArrayImpl]]:
    """Index of a part -> device -> the buffer of the part."""
    held: dict[Any, dict[Any, xla.ArrayImpl]] = {}
    pieces = shards(buffer, where)
    for (device, index), piece in zip(_indices(where), pieces, strict=True):
        held.setdefault(_hashable(index), {})[device] = piece
    return held


def _hashable(index: tuple[slice, ...]) -> tuple[Any, ...]:
    return tuple([(s.start, s.stop) for s in index])


def _find(held: dict[Any, dict[Any, Any]], index: tuple[slice, ...], device: Any) -> Any:
    """A buffer with this part, best on the device itself; None if a part must be cut or joined."""
    by_device = held.get(_hashable(index))
    if not by_device:
        return None
    return by_device.get(device) or next(iter(by_device.values()))


def _copy_pieces(
    pieces: Sequence[xla.ArrayImpl], target: Placement, semantics: Any
) -> xla.ArrayImpl:
    if semantics is xla.ArrayCopySemantics.ALWAYS_COPY:
        pieces = [xla.copy_to([p], p._sharding, semantics)[0] for p in pieces]
    return _put(pieces, target, False)


def _from_local_pieces(
    buffer: xla.ArrayImpl, source: Placement, target: Placement
) -> xla.ArrayImpl:
    """Between shardings over several processes: only with parts that are here already."""
    held = _pieces_by_index(buffer, source)
    pieces = [_find(held, index, device) for device, index in _indices(target)]
    if all(p is not None for p in pieces):
        return _copy_pieces(pieces, target, xla.ArrayCopySemantics.REUSE_INPUT)
    if source.sharding.is_fully_replicated or source.sharding.is_fully_addressable:
        return put(to_numpy(buffer, source), target)
    raise ShardingError(
        explain(
            "device_put",
            "the new parts are not all on devices of this process",
            {"from": source.sharding, "to": target.sharding},
            try_="jit(lambda x: x, out_shardings=new) in every process",
        )
    )


def assemble(pieces: Sequence[xla.ArrayImpl], where: Placement) -> xla.ArrayImpl:
    """One buffer of existing one-device buffers, in the order of the local devices, uncopied."""
    if len(pieces) != len(local_devices(where.sharding)):
        raise ShardingError(
            explain(
                "make_array_from_single_device_arrays",
                f"{len(pieces)} arrays for {len(local_devices(where.sharding))} devices "
                "of this process",
                {"sharding": where.sharding},
                try_="one array for each addressable device of the sharding",
            )
        )
    return xla.assemble(pieces, where.type.physical, where.xla_sharding, where.committed)
