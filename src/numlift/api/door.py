"""The door between users and the inside: errors leave it without inner frames."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from .. import config
from ..core.source import internal_files

F = TypeVar("F", bound=Callable[..., Any])


def trim(error: BaseException) -> None:
    """Drop the frames of Numlift from the traceback of an error (flag `traceback_filtering`)."""
    if config.get("traceback_filtering") == "off":
        return
    frames = []
    tb = error.__traceback__
    while tb is not None:
        if not internal_files[tb.tb_frame.f_code.co_filename]:
            frames.append(tb)
        tb = tb.tb_next
    rebuilt: TracebackType | None = None
    for tb in reversed(frames):
        rebuilt = TracebackType(rebuilt, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    error.__traceback__ = rebuilt


def door(function: F) -> F:
    """Decorator for functions that users call: trims what they raise."""

    @functools.wraps(function)
    def through(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            trim(error)
            raise

    return through  # type: ignore[return-value]
