"""Where operations come from, as MLIR locations: name in the user's program, file and line.

An operation's line ends with an alias such as ``loc(#l7)``; the aliases are defined at the end of
the module. XLA keeps them as metadata (``op_name``, ``source_file``), which profilers and HLO dumps
show. Caches know programs by the text without them: moving a function by a line must not compile
it again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from types import CodeType
from typing import Any

from ..core.graph import Equation

_ALIAS = re.compile(r" loc\(#l\d+\)")
_UNSAFE = re.compile(r"[^ !#-\[\]-~]")


def without_locations(text: str) -> str:
    """The text of operations without the aliases at the ends of their lines."""
    return _ALIAS.sub("", text)


class Locations:
    """Aliases of one module."""

    __slots__ = ("aliases", "lines")

    def __init__(self) -> None:
        self.aliases: dict[tuple[str, str, str, Any], str] = {}
        self.lines: list[str] = []

    def alias(self, path: str, eq: Equation) -> str:
        """`` loc(#l7)`` for an equation inside the scopes `path`."""
        key = (path, eq.scope, eq.op.label, eq.source)
        known = self.aliases.get(key)
        if known is None:
            n = len(self.lines)
            known = self.aliases[key] = f" loc(#l{n})"
            name = quoted(path + (f"{eq.scope}/" if eq.scope else "") + eq.op.label)
            source = eq.source
            if source is None:
                self.lines.append(f"#l{n} = loc({name})")
            else:
                code, offset = source
                file = _file_text(code.co_filename)
                self.lines.append(f"#l{n} = loc({name}({file}:{line_of(code, offset)}:0))")
        return known


def quoted(text: str) -> str:
    """An MLIR string."""
    safe = _UNSAFE.sub(lambda m: "".join(f"\\{b:02X}" for b in m[0].encode()), text)
    return f'"{safe}"'


_file_text = lru_cache(maxsize=1024)(quoted)


@lru_cache(maxsize=4096)
def _line_table(code: CodeType) -> tuple[list[int], list[int]]:
    """Offsets at which the instructions of a line begin, and these lines."""
    starts, lines, line = [], [], code.co_firstlineno
    for start, _, number in code.co_lines():
        line = line if number is None else number
        starts.append(start)
        lines.append(line)
    return starts, lines


def line_of(code: CodeType, offset: int) -> int:
    """Line of an instruction."""
    starts, lines = _line_table(code)
    return lines[bisect_right(starts, offset) - 1]
