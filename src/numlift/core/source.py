"""Where in the user's program an operation was written.

Only (code object, instruction offset) is kept while tracing; text is made when asked for.
"""

from __future__ import annotations

import linecache
import os
import sys
from types import CodeType
from typing import Any, NamedTuple

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class _Internal(dict[str, bool]):
    """File name -> whether it belongs to Numlift; filled on first sight, then a plain lookup."""

    def __missing__(self, filename: str) -> bool:
        inside = filename.startswith(_PACKAGE) or filename.startswith("<frozen")
        self[filename] = inside
        return inside


internal_files = _Internal()


class Location(NamedTuple):
    """A place in the user's code."""

    filename: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.filename}:{self.line} ({self.function})"

    @property
    def text(self) -> str:
        """The source line itself, stripped; empty if the file cannot be read."""
        return linecache.getline(self.filename, self.line).strip()


Source = tuple[CodeType, int]


def user_site() -> Source | None:
    """(code, instruction offset) of the innermost frame outside Numlift."""
    frame: Any = sys._getframe(1)
    inside = internal_files
    while frame is not None and inside[frame.f_code.co_filename]:
        frame = frame.f_back
    return None if frame is None else (frame.f_code, frame.f_lasti)


def locate(source: Source | None) -> Location | None:
    """Turn a kept site into file, line and function."""
    if source is None:
        return None
    code, offset = source
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= offset < end and number is not None:
            line = number
            break
    return Location(code.co_filename, line, code.co_name)


def describe(source: Source | None) -> str:
    """``file.py:12 (f): y = sin(x)``, or ``unknown place``."""
    place = locate(source)
    if place is None:
        return "unknown place"
    return f"{place}: {place.text}" if place.text else str(place)
