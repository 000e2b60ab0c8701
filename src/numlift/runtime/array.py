"""`Array`: the value users hold. A jaxlib buffer and the placement that says what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import config
from ..core.dtypes import KeyDType, dtype_short_name, issubdtype
from ..core.tracing import Value, type_of
from ..core.types import ArrayType
from ..errors import (
    ArgumentError,
    DeviceError,
    DTypeError,
    ImmutableArrayError,
    ShardingError,
    ValueArgumentError,
    explain,
)
from ..sharding.base import Sharding, replica_ids, shard_indices, shard_shape
from ..sharding.mesh import is_local
from ..sharding.named import SingleDeviceSharding
from . import buffers, key_marks, xla
from .guards import guard
from .placement import Placement, default_placement, local_devices, placement, sharded_type


class Shard:
    """The part of an array that one device holds.

    Attributes:
        device: the device.
        index: where the part lies in the whole array, a tuple of slices.
        replica_id: how many earlier devices hold the same part.
        data: the part as an array on the device; None if the device is in another process.
    """

    __slots__ = ("data", "device", "index", "replica_id")

    def __init__(
        self, device: Any, index: tuple[slice, ...], replica_id: int, data: Array | None
    ) -> None:
        self.device, self.index, self.replica_id, self.data = device, index, replica_id, data

    def __repr__(self) -> str:
        return (
            f"Shard(device={self.device!r}, index={self.index}, "
            f"replica_id={self.replica_id}, data={self.data!r})"
        )


class Array(Value):
    """An immutable array on one or more devices.

    Made by functions such as `numlift.numpy.asarray`, `device_put` and every jitted function. It
    behaves like a NumPy array whose elements cannot be assigned; `x.at[i].set(v)` gives a changed
    copy. `np.asarray(x)` shares its memory on CPU and is read-only.

    Computations run in the background: an array may exist before its value does. Reading the value
    waits for it and raises what went wrong.
    """

    __slots__ = ("buffer", "placement", "type")

    buffer: xla.ArrayImpl
    type: ArrayType
    placement: Placement

    def __init__(self, buffer: xla.ArrayImpl, placement: Placement) -> None:
        self.buffer = buffer
        self.type = placement.type
        self.placement = placement

    # --- what it is ---------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self.type.shape

    @property
    def dtype(self) -> Any:
        """A `numpy.dtype`, or the dtype of typed random keys."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.type.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.type.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.type.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements of the whole array, each counted once."""
        return self.type.size * self.type.dtype.itemsize

    @property
    def weak_type(self) -> bool:
        """True if the dtype yields to others: the array comes from Python scalars only."""
        return self.type.weak_type

    @property
    def aval(self) -> ArrayType:
        """Its type."""
        return self.type

    # --- where it is --------------------------------------------------------------------------

    @property
    def sharding(self) -> Sharding:
        """Which device holds which part."""
        return self.placement.sharding

    @property
    def committed(self) -> bool:
        """True if the user chose the devices, so that computations must run there."""
        return self.placement.committed

    @property
    def device(self) -> Any:
        """The device, or the sharding if there are several devices."""
        sharding = self.placement.sharding
        return sharding.device_order[0] if self.placement.single else sharding

    def devices(self) -> set[Any]:
        """The devices that hold a part."""
        return self.placement.sharding.device_set

    @property
    def is_fully_addressable(self) -> bool:
        """True if this process can read every part."""
        return self.placement.sharding.is_fully_addressable

    @property
    def is_fully_replicated(self) -> bool:
        """True if every device holds the whole array."""
        return self.placement.sharding.is_fully_replicated

    @property
    def addressable_shards(self) -> list[Shard]:
        """The parts on devices of this process."""
        return [s for s in self.global_shards if s.data is not None]

    @property
    def global_shards(self) -> list[Shard]:
        """The parts on all devices; those of other processes have no data."""
        sharding, shape = self.placement.sharding, self.type.shape
        pieces = iter(self._pieces())
        return [
            Shard(device, index, replica, next(pieces) if is_local(device) else None)
            for device, index, replica in zip(
                sharding.device_order,
                shard_indices(sharding, shape),
                replica_ids(sharding, len(shape)),
                strict=True,
            )
        ]

    def addressable_data(self, index: int) -> Array:
        """The part on device number `index` of this process."""
        return self._pieces()[index]

    def _pieces(self) -> list[Array]:
        where = self.placement
        shape = shard_shape(where.sharding, self.type.shape)
        kind = where.sharding.memory_kind
        part = self.type.update(shape=shape, sharding=None)
        return [
            Array(buffer, placement(part, SingleDeviceSharding(device, memory_kind=kind), True))
            for buffer, device in zip(
                buffers.shards(self.buffer, where), local_devices(where.sharding), strict=True
            )
        ]

    def to_device(self, device: Any, *, stream: Any = None) -> Array:
        """A copy on another device or with another sharding (array API standard).

        Args:
            device: a device or a `Sharding`.
            stream: must be None.
        """
        if stream is not None:
            raise ArgumentError(
                explain(
                    "to_device", "streams are not supported", {"stream": stream}, try_="stream=None"
                )
            )
        sharding = device if isinstance(device, Sharding) else SingleDeviceSharding(device)
        target = placement(sharded_type(self.type, sharding), sharding, True)
        if not self.placement.single or self.device != device:
            guard("device_to_device", self.type, explicit=True)
        semantics = xla.ArrayCopySemantics.REUSE_INPUT
        return Array(buffers.move(self.buffer, self.placement, target, semantics), target)

    # --- waiting and deleting -----------------------------------------------------------------

    def block_until_ready(self) -> Array:
        """Wait until the value is computed; return the array itself.

        Raises:
            DeletedBufferError: the array was deleted or donated.
            RuntimeError: the computation failed.
        """
        buffers.wait(self.buffer, self.placement)
        return self

    def is_ready(self) -> bool:
        """True if the value is there, so that reading it does not wait."""
        buffers.check_alive(self.buffer, self.placement)
        return self.buffer.is_ready()

    def copy_to_host_async(self) -> None:
        """Begin to copy the value to the host, so that reading it later is quick."""
        for buffer in buffers.shards(self.buffer, self.placement):
            xla.start_host_copy(buffer)

    def delete(self) -> None:
        """Free the memory now. The array cannot be used any more."""
        self.buffer.delete()

    def is_deleted(self) -> bool:
        """True if the array was deleted or donated."""
        return self.buffer.is_deleted()

    def on_device_size_in_bytes(self) -> int:
        """Bytes that the array takes on its devices together, padding included."""
        pieces = buffers.shards(self.buffer, self.placement)
        return sum(p.on_device_size_in_bytes() for p in pieces)

    def unsafe_buffer_pointer(self) -> int:
        """Address of the memory. It is only valid while the array lives."""
        if not self.placement.single:
            raise ShardingError(
                explain(
                    "unsafe_buffer_pointer",
                    "the array has parts on several devices",
                    {"x": self.type, "sharding": self.sharding},
                    try_="x.addressable_shards[0].data.unsafe_buffer_pointer()",
                )
            )
        buffers.wait(self.buffer, self.placement)
        return xla.buffer_pointer(self.buffer)

    # --- to NumPy and Python ------------------------------------------------------------------

    def _numpy(self) -> np.ndarray:
        """Read-only NumPy array of the value."""
        if isinstance(self.type.dtype, KeyDType):
            raise DTypeError(
                explain(
                    "array",
                    "typed random keys cannot become a NumPy array",
                    {"x": self.type},
                    try_="random.key_data(x)",
                )
            )
        return self._words()

    def _words(self) -> np.ndarray:
        """Read-only NumPy array of the stored words; differs from the value only for keys."""
        if not self.placement.on_cpu:
            guard("device_to_host", self.type)
        return buffers.to_numpy(self.buffer, self.placement)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = self._numpy()
        if dtype is not None and np.dtype(dtype) != value.dtype:
            if copy is False:
                raise ValueArgumentError(
                    explain(
                        "array",
                        f"{value.dtype.name} cannot become {np.dtype(dtype).name} without a copy",
                        {"x": self.type},
                        try_="copy=None",
                    )
                )
            return value.astype(dtype)
        return value.copy() if copy else value

    def _scalar(self, function: str) -> Any:
        if self.type.shape:
            raise ArgumentError(
                explain(
                    function,
                    "only an array without dimensions is a Python scalar",
                    {"x": self.type},
                    try_="x.item() if it has one element",
                )
            )
        return self._numpy()[()]

    def _real_scalar(self, function: str) -> Any:
        if self.type.kind == "c":
            raise ArgumentError(
                explain(
                    function,
                    "a complex number has no value as a real one",
                    {"x": self.type},
                    try_="x.real, x.imag or abs(x)",
                )
            )
        return self._scalar(function)

    def __bool__(self) -> bool:
        if self.type.size != 1:
            many = self.type.size > 1
            raise ValueArgumentError(
                explain(
                    "bool",
                    f"the truth value of an array of {self.type.size} elements is ambiguous",
                    {"x": self.type},
                    try_="x.any() or x.all()" if many else "x.size > 0",
                )
            )
        return bool(self._numpy().reshape(())[()])

    def __int__(self) -> int:
        return int(self._real_scalar("int"))

    def __float__(self) -> float:
        return float(self._real_scalar("float"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        dtype = self.type.dtype
        if self.type.shape or isinstance(dtype, KeyDType) or not issubdtype(dtype, np.integer):
            raise ArgumentError(
                explain(
                    "index",
                    "only an integer array without dimensions is a Python index",
                    {"x": self.type},
                    try_="int(x) if it has one element",
                )
            )
        return int(self._scalar("index"))

    def item(self, *args: Any) -> Any:
        """The one element (or the element at `args`) as a Python scalar."""
        if not args and self.type.size != 1:
            raise ValueArgumentError(
                explain(
                    "item",
                    f"an array of {self.type.size} elements is not one Python scalar",
                    {"x": self.type},
                    try_="x[0].item(), or x.tolist()",
                )
            )
        return self._numpy().item(*args)

    def tolist(self) -> Any:
        """Nested lists of Python scalars; a scalar for an array without dimensions."""
        return self._numpy().tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The elements as bytes, in row-major (`"C"`) or column-major (`"F"`) order."""
        return self._numpy().tobytes(order)

    # --- as a container -----------------------------------------------------------------------

    def __len__(self) -> int:
        if not self.type.shape:
            raise ArgumentError(
                explain(
                    "len", "an array without dimensions has no length", {"x": self.type},
                    try_="x.size, which is 1",
                )
            )  # fmt: skip
        return self.type.shape[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.type.shape:
            raise ArgumentError(
                explain(
                    "iter", "an array without dimensions has no rows", {"x": self.type},
                    try_="x.item() for its value",
                )
            )  # fmt: skip
        return self._rows()

    def _rows(self) -> Iterator[Array]:
        """Rows by way of the host: no program has to be compiled for it."""
        where = self.placement
        type, sharding, committed = self.type, where.sharding, where.committed
        if not where.single:
            first = local_devices(sharding)[0]
            sharding, committed = SingleDeviceSharding(first), False
        row = placement(type.update(shape=type.shape[1:], sharding=None), sharding, committed)
        words = buffers.to_numpy(self.buffer, where)
        follow = type.kind == "k" and config.current().debug_key_reuse
        for i in range(type.shape[0]):
            made = Array(buffers.put_one(words[i, ...], row), row)
            if follow:
                key_marks.set_identities(made, np.asarray(key_marks.identities(self)[i]))
            yield made

    def __setitem__(self, index: Any, value: Any) -> None:
        text = f"x = x.at[{_index_text(index)}].set({_value_text(value)})"
        raise ImmutableArrayError(
            explain("array", "elements cannot be assigned in place", {"x": self.type}, try_=text)
        )

    def __delitem__(self, index: Any) -> None:
        raise ImmutableArrayError(
            explain(
                "array", "elements cannot be deleted in place", {"x": self.type},
                try_=f"numpy.delete(x, {_index_text(index)})",
            )
        )  # fmt: skip

    def __hash__(self) -> int:
        raise ArgumentError(
            explain(
                "hash",
                "unhashable type: an array is compared element by element, so it cannot be a key",
                {"x": self.type},
                try_="x.item() or tuple(x.tolist()) as the key; for an argument that is static in "
                "jit, pass a NumPy-free value",
            )
        )

    # --- text ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self.buffer.is_deleted():
            return f"Array({self.type!r}, deleted)"
        if not self.is_fully_addressable and not self.is_fully_replicated:
            return f"Array({self.type!r}, sharding={self.sharding!r})"
        if isinstance(self.type.dtype, KeyDType):
            head = f"Array({self.type.shape}, dtype={self.type.dtype.name}) overlaying:\n"
            return head + str(self._words())
        tail = f"dtype={dtype_short_name(self.type.dtype)}"
        tail += ", weak_type=True" if self.type.weak_type else ""
        if not self.placement.single and not self.is_fully_replicated:
            tail += f", sharding={getattr(self.sharding, 'spec', self.sharding)!r}"
        return _array_text(self._numpy(), tail)

    def __str__(self) -> str:
        if isinstance(self.type.dtype, KeyDType) or self.buffer.is_deleted():
            return repr(self)
        return str(self._numpy())

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self.type.shape:
            raise ArgumentError(
                explain(
                    "format",
                    f"format {spec!r} is for numbers, not for an array with dimensions",
                    {"x": self.type},
                    try_="format(x.item(), ...) or str(x)",
                )
            )
        return format(self._numpy().item(), spec)

    # --- copies and other libraries -----------------------------------------------------------

    def _clone(self) -> Array:
        semantics = xla.ArrayCopySemantics.ALWAYS_COPY
        where = self.placement
        return Array(buffers.move(self.buffer, where, where, semantics), where)

    def __copy__(self) -> Array:
        return self._clone()

    def __deepcopy__(self, memo: dict) -> Array:
        return self._clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._words(), self.type.update(sharding=None))

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """DLPack capsule that shares the memory (array API standard)."""
        self._check_dlpack(dl_device, stream)
        source = self._clone() if copy else self
        buffers.wait(source.buffer, source.placement)
        return xla.to_dlpack(source.buffer, stream, max_version=max_version)

    def _check_dlpack(self, dl_device: tuple[int, int] | None, stream: Any = None) -> None:
        if not self.placement.single or isinstance(self.type.dtype, KeyDType):
            keys = isinstance(self.type.dtype, KeyDType)
            raise ShardingError(
                explain(
                    "__dlpack__",
                    "random keys have no DLPack type"
                    if keys
                    else "it has parts on several devices",
                    {"x": self.type},
                    try_="random.key_data(x)" if keys else "x.addressable_shards[0].data",
                )
            )
        if self.type.dtype.name in _NOT_IN_DLPACK:
            raise DTypeError(
                explain("__dlpack__", f"DLPack has no {self.type.dtype}", {"x": self.type},
                        try_="x.astype('int8')")
            )  # fmt: skip
        here = self.__dlpack_device__()
        if stream is not None and here[0] == _DLPACK_CPU:
            raise ValueArgumentError(
                explain(
                    "__dlpack__", "there are no streams on CPU, so stream must be None",
                    {"stream": stream}, try_="stream=None",
                )
            )  # fmt: skip
        if dl_device is not None and tuple(map(int, dl_device)) != here:
            raise DeviceError(
                explain(
                    "__dlpack__",
                    f"the array is on DLPack device {here}, not {tuple(dl_device)}",
                    {"x": self.type},
                    try_="device_put(x, device) first",
                )
            )

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's kind and number of the device: (1, 0) for CPU."""
        if not self.placement.single:
            self._check_dlpack(None)
        device = self.placement.sharding.device_order[0]
        if device.platform == "cpu":
            return _DLPACK_CPU, 0
        kind = _DLPACK_ROCM if "rocm" in device.client.platform_version else _DLPACK_CUDA
        return kind, device.local_hardware_id


_NOT_IN_DLPACK = frozenset(("int2", "int4", "uint2", "uint4"))
_DLPACK_CPU, _DLPACK_CUDA, _DLPACK_ROCM = 1, 2, 10


def _unpickle(words: np.ndarray, type: ArrayType) -> Array:
    where = default_placement(type)
    return Array(buffers.put(words, where), where)


def _index_text(index: Any) -> str:
    """An index as the user wrote it, nearly."""
    if isinstance(index, tuple):
        inside = ", ".join(map(_index_text, index))
        return f"({inside},)" if len(index) == 1 else inside or "()"
    if isinstance(index, slice):
        ends = ["" if e is None else _index_text(e) for e in (index.start, index.stop)]
        step = "" if index.step is None else f":{_index_text(index.step)}"
        return ":".join(ends) + step
    if index is Ellipsis:
        return "..."
    if isinstance(index, (Value, np.ndarray)) and type_of(index).ndim:
        return "mask" if type_of(index).dtype == np.bool_ else "index"
    return _value_text(index)


def _value_text(value: Any) -> str:
    if isinstance(value, Array) and not value.shape and not value.is_deleted():
        value = value.item() if not isinstance(value.dtype, KeyDType) else value
    elif isinstance(value, np.generic):
        value = value.item()
    text = repr(value)
    return "value" if isinstance(value, Value) or len(text) > 30 or "\n" in text else text


def _array_text(value: np.ndarray, tail: str) -> str:
    """Text such as ``Array([1., 2.], dtype=float32)``, broken into lines as NumPy does."""
    head = "Array("
    if value.size:
        body = np.array2string(value, separator=", ", prefix=head, suffix=",")
    else:
        body = "[]" if value.shape == (0,) else f"[], shape={value.shape}"
    last = body[body.rfind("\n") + 1 :]
    first = len(head) if "\n" not in body else 0
    wide = first + len(last) + len(tail) + 3 > np.get_printoptions()["linewidth"]
    return f"{head}{body},{chr(10) + ' ' * len(head) if wide else ' '}{tail})"
