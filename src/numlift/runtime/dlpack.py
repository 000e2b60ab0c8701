"""Exchange of arrays with other libraries without copying, by the DLPack protocol."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import canonicalize_dtype
from ..core.types import array_type
from ..errors import ArgumentError, DeviceError, DTypeError, explain
from ..sharding.named import SingleDeviceSharding
from . import devices, xla
from .array import Array
from .placement import placement
from .transfer import as_array, put

_CPU = (1, 3)  # plain host memory, and pinned by CUDA
_CUDA, _ROCM = (2, 13), (10, 11)


def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> Array:
    """An array that shares the memory of an array of another library.

    Memory is shared if it is aligned to 64 bytes and its strides are those of a transposed array;
    otherwise, and with `copy=True`, it is copied. Do not write to shared memory. 64-bit dtypes are
    narrowed (so copied) unless x64 is on. Other than in JAX, strided and read-only NumPy arrays are
    copied too.

    Args:
        external_array: object with `__dlpack__` and `__dlpack_device__`, such as a NumPy array or
            a PyTorch tensor.
        device: device or sharding of one device for the result; None keeps it where it is.
        copy: True always copies, False never does, None copies where it must.

    Raises:
        ArgumentError: no DLPack object, or a copy is needed and `copy=False`.
        DTypeError: Numlift has no such dtype.
        DeviceError: there is no device of that kind here.

    Example:
        >>> import numpy as np
        >>> from_dlpack(np.arange(3, dtype="float32"))
        Array([0., 1., 2.], dtype=float32)
    """
    if not hasattr(external_array, "__dlpack__") or not hasattr(
        external_array, "__dlpack_device__"
    ):
        capsule = type(external_array).__name__ == "PyCapsule"
        raise ArgumentError(
            explain(
                "from_dlpack",
                "a bare capsule does not say on which device it is"
                if capsule
                else f"{type(external_array).__name__} does not speak DLPack",
                try_="the array itself, which has __dlpack__ and __dlpack_device__"
                if capsule
                else "numlift.numpy.asarray(x)",
            )
        )
    kind, number = external_array.__dlpack_device__()
    home = _device(int(kind), int(number))
    x = _shared(external_array, home, copy)
    dtype = canonicalize_dtype(x.type.dtype)
    if dtype != x.type.dtype:
        x = as_array(x, _checked_copy(copy, f"{x.type.dtype} becomes {dtype}", dtype), home)
    return x if device is None else put(x, device)


def _shared(external_array: Any, home: Any, copy: bool | None) -> Array:
    """The array on its own device, sharing memory where that is possible."""
    try:
        made = _import(external_array, home, copy)
    except ArgumentError:
        # Strided or read-only memory of NumPy: jaxlib refuses it, a copy is always possible.
        if copy is False or not isinstance(external_array, np.ndarray):
            raise
        return as_array(external_array, None, home)
    type_ = array_type(tuple(made.aval.shape), made.aval.dtype)
    where = placement(type_, SingleDeviceSharding(home), True)
    x = Array(xla.rewrap(made, type_, where.xla_sharding), where)
    # jaxlib shares aligned memory even if a copy was asked for. Its owner may write to it as soon
    # as we return, so the copy must be finished then.
    return put(x, may_alias=False).block_until_ready() if copy else x


def _checked_copy(copy: bool | None, why: str, dtype: Any) -> Any:
    if copy is False:
        raise ArgumentError(
            explain(
                "from_dlpack",
                f"{why}, which needs a copy",
                try_='copy=None, or config.update("enable_x64", True)',
            )
        )
    return dtype


def _device(kind: int, number: int) -> Any:
    if kind in _CPU:
        return devices.backend("cpu").local_devices[0]
    platform = "cuda" if kind in _CUDA else "rocm" if kind in _ROCM else None
    if platform is not None:
        for device in devices.backend(platform).local_devices:
            if device.local_hardware_id == number:
                return device
    raise DeviceError(
        explain(
            "from_dlpack",
            f"there is no device here for DLPack device ({kind}, {number})",
            try_="move the array to the CPU in its own library first",
        )
    )


def _import(external_array: Any, home: Any, copy: bool | None) -> xla.ArrayImpl:
    stream = None
    if home.platform == "cpu":
        capsule = _export(external_array, {})
    else:
        stream = home.get_stream_for_external_ready_events()
        capsule = _export(external_array, {"stream": stream})
    try:
        return xla.from_dlpack(capsule, home, stream, copy)
    except (xla.JaxRuntimeError, ValueError, TypeError, RuntimeError) as error:
        text = str(error)
        if "dtype" in text.lower() or "type code" in text.lower() or "DLDataType" in text:
            raise DTypeError(
                explain(
                    "from_dlpack", f"the dtype cannot be imported ({text})",
                    {"x": getattr(external_array, "dtype", None)},
                    try_="convert it in its own library first",
                )
            ) from error  # fmt: skip
        raise ArgumentError(
            explain(
                "from_dlpack",
                f"the memory cannot be used ({text})",
                try_="a contiguous copy of the array, or copy=None",
            )
        ) from error


def _export(external_array: Any, options: dict[str, Any]) -> Any:
    try:
        return external_array.__dlpack__(**options)
    except BufferError as error:
        # NumPy refuses to export read-only memory in the unversioned protocol.
        raise ArgumentError(
            explain(
                "from_dlpack",
                f"the array does not give its memory away ({error})",
                try_="x.copy() first",
            )
        ) from error


def to_dlpack(x: Array, stream: int | None = None, copy: bool | None = None) -> Any:
    """DLPack capsule that shares the memory of `x`.

    Most libraries take the array itself: `torch.from_dlpack(x)`.

    Args:
        x: array on one device.
        stream: stream of the consumer on GPU.
        copy: True gives a capsule of a copy.
    """
    return x.__dlpack__(stream=stream, copy=copy)
