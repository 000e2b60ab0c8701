"""Which memories a device has, and how users name them."""

from __future__ import annotations

import enum
from typing import Any

from ..errors import ShardingError, explain
from .devices import Device


class Space(enum.Enum):
    """A memory by its role, for `device_put`.

    Attributes:
        Device: the memory that programs compute in.
        Host: memory of the host that the device can copy to and from (``pinned_host``).
        Any: wherever the value is.

    Example:
        >>> import numlift as nl
        >>> x = nl.device_put(1.5, nl.memory.Space.Host)
        >>> x.sharding.memory_kind
        'pinned_host'
    """

    Device = enum.auto()
    Host = enum.auto()
    Any = enum.auto()

    @property
    def kind(self) -> str | None:
        """Name of the memory; None for `Any`."""
        return {"Device": "device", "Host": "pinned_host"}.get(self.name)

    def __repr__(self) -> str:
        return f"Space.{self.name}"


def default_kind(devices: tuple[Device, ...]) -> str:
    """The memory of the devices that programs compute in."""
    return devices[0].default_memory().kind


def other_kind(sharding: Any) -> str | None:
    """The memory of a sharding, None if it is the one that programs compute in."""
    kind = sharding.memory_kind
    return None if kind is None or kind == default_kind(sharding.device_order) else kind


def check_kind(function: str, kind: str, device: Device, line: str | None = None) -> None:
    """Raise ShardingError if a device has no memory of this kind."""
    kinds = tuple(m.kind for m in device.addressable_memories())
    if kind not in kinds:
        raise ShardingError(
            explain(
                function,
                f"the devices have no memory {kind!r}",
                {"device": device},
                line=line,
                try_=f"one of {kinds}",
            )
        )
