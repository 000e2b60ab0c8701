"""Transfer guards: log or refuse copies between host and devices."""

from __future__ import annotations

import logging
from typing import Any

from .. import config
from ..errors import DeviceError, explain

_logger = logging.getLogger("numlift")


def guard(direction: str, what: Any, explicit: bool = False) -> None:
    """Apply the transfer guard of one direction.

    Args:
        direction: `host_to_device`, `device_to_device` or `device_to_host`.
        what: type of what is copied, for the message.
        explicit: True where the user asked for the copy (`device_put`, `device_get`).

    Raises:
        DeviceError: the guard disallows it.
    """
    level = getattr(config.watch(), "transfer_guard_" + direction)
    if level == "allow" or (explicit and not level.endswith("_explicit")):
        return
    words = direction.replace("_", " ")
    if level.startswith("log"):
        _logger.warning("transfer %s: %s", words, what)
        return
    kind = "explicit" if explicit else "implicit"
    raise DeviceError(
        explain(
            "transfer_guard",
            f"transfer_guard disallows an {kind} transfer {words} here",
            {"value": what},
            try_="device_put or device_get where the copy is meant, "
            f'or transfer_guard_{direction}("allow")',
        )
    )
