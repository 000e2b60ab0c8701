"""Programs with symbolic sizes: StableHLO text in which sizes stand in brackets.

A program is lowered once, with every symbolic size written as its expression between white square
brackets. Numbers in the place of the expressions give the program that lowering for these sizes
gives. Files hold the text, compressed.
"""

from __future__ import annotations

import functools
import random
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import errors
from ..core.dim_bounds import LARGEST
from ..core.dim_scope import SymbolicScope
from ..core.dim_text import CLOSE, OPEN
from ..core.dims import Dim
from ..runtime import xla

_MARK = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
_FUNCTION = re.compile(r"^func\.func (?:public|private) @(\w+)", re.MULTILINE)


def filled(text: str, value: Callable[[str], Any]) -> str:
    """A template with `value(expression)` in the place of each expression."""
    known: dict[str, str] = {}

    def put(match: re.Match[str]) -> str:
        found = known.get(match[1])
        if found is None:
            found = known[match[1]] = str(value(match[1]))
        return found

    return _MARK.sub(put, text)


def evaluator(scope: SymbolicScope, sizes: Mapping[str, Any]) -> Callable[[str], Any]:
    """expression -> its value for these sizes of the symbols (numbers, or sizes of a caller).

    Raises:
        ValueArgumentError: (from the function) a number does not fit int32.
    """

    def value(text: str) -> Any:
        parsed = scope.parse(text)
        found = parsed.evaluate(sizes) if type(parsed) is Dim else parsed
        if type(found) is not Dim and not -LARGEST <= found <= LARGEST:
            given = ", ".join(f"{k} = {n}" for k, n in sizes.items())
            raise errors.ValueArgumentError(
                errors.explain(
                    "exported function",
                    f"{text} is {found} with {given}, and programs with symbolic sizes count in "
                    "int32",
                    try_="export for these sizes",
                )
            )
        return found

    return value


def packed_template(text: str, scope: SymbolicScope, symbols: Sequence[str], version: str) -> bytes:
    """A template as bytes, after a trial with some sizes.

    Raises:
        ValueArgumentError: no sizes that satisfy the constraints were found.
    """
    sizes = scope.sample(symbols, random.Random(0), 5, 8)
    if sizes is None:
        raise errors.ValueArgumentError(
            errors.explain(
                "export",
                "no sizes were found that satisfy the constraints",
                {"symbols": scope.describe()},
                try_="fewer constraints, or constraints with smaller numbers",
            )
        )
    xla.portable_artifact(filled(text, evaluator(scope, sizes)), version)
    return zlib.compress(text.encode(), 9)


def template_text(template: bytes) -> str:
    """The text of a packed template."""
    return zlib.decompress(template).decode()


@functools.lru_cache(maxsize=64)
def _functions(template: bytes) -> tuple[list[str], list[str]]:
    """Names and texts of the functions of a module, its main function first."""
    text = template_text(template)
    starts = [m.start() for m in _FUNCTION.finditer(text)]
    parts = [text[a:b] for a, b in zip(starts, [*starts[1:], text.rindex("}")], strict=True)]
    return _FUNCTION.findall(text), [p.rstrip() for p in parts]


def filled_functions(
    template: bytes, scope: SymbolicScope, sizes: Mapping[str, Any]
) -> tuple[str, list[str]]:
    """Functions for these sizes, private and with names that occur nowhere else.

    Returns:
        The name of the entry, and the texts of the functions.
    """
    names, texts = _functions(template)
    given = ", ".join(f"{k} = {n.text if type(n) is Dim else n}" for k, n in sizes.items())
    prefix = xla.unique_prefix(template + given.encode())
    value = evaluator(scope, sizes)
    own = re.compile(f"@({'|'.join(names)})\\b")
    made = [
        own.sub(lambda m: f"@{prefix}{m[1]}", filled(t, value)).replace(
            "func.func public", "func.func private", 1
        )
        for t in texts
    ]
    return f"{prefix}main", made
