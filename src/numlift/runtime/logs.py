"""How much of XLA's own log reaches standard error.

The level comes from ``NUMLIFT_LOG``, else ``TF_CPP_MIN_LOG_LEVEL``, else the flag `log_level`.
With the default of that flag nothing is printed: XLA's lines speak to its developers, and what goes
wrong reaches users of Numlift as an exception.
"""

from __future__ import annotations

import os

from jaxlib import utils

from .. import config
from ..errors import ValueArgumentError

LEVELS = {"debug": 0, "info": 0, "warning": 1, "error": 2, "off": 3}
"""Words for ``NUMLIFT_LOG``, and the lowest severity of XLA that is still printed."""

_FROM_FLAG = {"NOTSET": 0, "DEBUG": 0, "INFO": 0, "WARNING": 3, "ERROR": 3, "CRITICAL": 3}


def level_number(level: str) -> int:
    """The number that XLA knows a level by: 0 prints all, 3 only what ends the process.

    Args:
        level: one of ``debug, info, warning, error, off`` in any case, or 0 to 3.

    Raises:
        ValueArgumentError: any other text.

    Example:
        >>> level_number("info")
        0
    """
    text = level.strip().lower()
    if text in LEVELS:
        return LEVELS[text]
    if text in {"0", "1", "2", "3"}:
        return int(text)
    raise ValueArgumentError(
        f"NUMLIFT_LOG: {level!r} is not a level\n"
        f"  levels: {', '.join(LEVELS)} (or 0 to 3)\n"
        "Try: NUMLIFT_LOG=info"
    )


def chosen_level() -> int:
    """The level in force: the two environment variables, else the flag `log_level`."""
    for name in ("NUMLIFT_LOG", "TF_CPP_MIN_LOG_LEVEL"):
        text = os.environ.get(name)
        if text:
            return level_number(text)
    return _FROM_FLAG[config.get("log_level")]


def apply_level() -> int:
    """Set XLA's level for this process and return it."""
    number = chosen_level()
    utils.absl_set_min_log_level(number)
    return number
