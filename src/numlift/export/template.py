"""Programs with symbolic sizes: text in which sizes stand in brackets.

A program is lowered once, with every symbolic size written as its expression between white square
brackets. Numbers in the place of the expressions give the program that lowering for these sizes
gives. Files hold the text in VHLO, the dialect of StableHLO's portable artifacts, whose operations
carry versions: the wheel has no printer that keeps expressions, so the text is printed for several
sizes, and numbers that change with the sizes are matched with the expressions that have their
values.
"""

from __future__ import annotations

import functools
import random
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import errors
from ..core.dim_scope import SymbolicScope
from ..core.dims import CLOSE, OPEN, Dim
from ..runtime import xla

_MARK = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
_NUMBER = re.compile(r"(-?\d+)")
_LONG = re.compile(r'"0x[0-9A-Fa-f]{64,}"')
_SAMPLES = 5
_TRIES = 60


def expressions(text: str) -> list[str]:
    """The expressions of a template, each once."""
    return list(dict.fromkeys(_MARK.findall(text)))


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
    """expression -> its value for these sizes of the symbols."""

    def value(text: str) -> Any:
        parsed = scope.parse(text)
        return parsed.evaluate(sizes) if type(parsed) is Dim else parsed

    return value


def portable_template(
    text: str, scope: SymbolicScope, symbols: Sequence[str], version: str
) -> bytes:
    """A template of StableHLO as one of VHLO, compressed."""

    def printed(values: Callable[[str], Any]) -> str:
        return xla.artifact_versioned_text(xla.portable_artifact(filled(text, values), version))

    found = _reprinted(expressions(text), scope, symbols, lambda v: [printed(v)])
    return zlib.compress(found[0].encode())


def artifact(template: bytes, scope: SymbolicScope, sizes: Mapping[str, int]) -> bytes:
    """The portable artifact of a template for these sizes.

    Raises:
        ValueArgumentError: a size does not fit int32, which programs count in.
    """
    value = evaluator(scope, sizes)

    def checked(text: str) -> int:
        found = value(text)
        if not -(2**31) <= found < 2**31:
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

    return filled(zlib.decompress(template).decode(), checked).encode()


@functools.lru_cache(maxsize=64)
def function_templates(
    template: bytes, scope: SymbolicScope, symbols: tuple[str, ...]
) -> tuple[str, list[str]]:
    """Functions of a template in StableHLO: name of the entry, and their texts as templates."""
    text = zlib.decompress(template).decode()
    prefix = xla.unique_prefix(template)

    def printed(values: Callable[[str], Any]) -> list[str]:
        return xla.artifact_functions(filled(text, values).encode(), prefix)[1]

    return f"{prefix}main", _reprinted(expressions(text), scope, symbols, printed)


def _reprinted(
    marks: Sequence[str],
    scope: SymbolicScope,
    symbols: Sequence[str],
    printed: Callable[[Callable[[str], Any]], list[str]],
) -> list[str]:
    """What `printed` gives for sizes, as templates."""
    numbers = random.Random(len(marks))
    for tries in range(_TRIES):
        samples = _samples(marks, scope, symbols, numbers, tries)
        if samples is None:
            continue
        table = _table(marks, samples, strict=tries < _TRIES // 2)
        if table is None:
            continue
        texts = [printed(s.__getitem__) for s in samples]
        merged = [_merged(group, table) for group in zip(*texts, strict=True)]
        if None not in merged:
            return merged  # type: ignore[return-value]
    raise errors.ValueArgumentError(
        errors.explain(
            "export",
            "no sizes were found that satisfy the constraints and tell the expressions apart",
            {"expressions": ", ".join(marks), "symbols": scope.describe()},
            try_="fewer constraints, or constraints with smaller numbers",
        )
    )


def _samples(
    marks: Sequence[str],
    scope: SymbolicScope,
    symbols: Sequence[str],
    numbers: random.Random,
    tries: int,
) -> list[dict[str, int]] | None:
    found = []
    for _ in range(_SAMPLES):
        sizes = scope.sample(symbols, numbers, 5 + tries // 4)
        if sizes is None:
            return None
        value = evaluator(scope, sizes)
        found.append({m: int(value(m)) for m in marks})
    return found


def _table(
    marks: Sequence[str], samples: list[dict[str, int]], strict: bool
) -> dict[tuple[int, ...], str] | None:
    """Values of the expressions -> expression; if strict, None where values leave a doubt.

    That two expressions have the same values, or that one has one value only, in dozens of random
    samples is taken for the truth.
    """
    table: dict[tuple[int, ...], str] = {}
    for m in marks:
        values = tuple([s[m] for s in samples])
        if strict and (values in table or len(set(values)) == 1):
            return None
        table.setdefault(values, m)
    for values, m in list(table.items()):
        table.setdefault(tuple([-v for v in values]), f"-({m})")
    return table


def _merged(texts: Sequence[str], table: Mapping[tuple[int, ...], str]) -> str | None:
    """One template of texts that differ in numbers; None if they differ in more."""
    long = _LONG.findall(texts[0])
    if any(_LONG.findall(t) != long for t in texts[1:]):
        return None
    parts = [_NUMBER.split(_LONG.sub('"long"', t)) for t in texts]
    if len({len(p) for p in parts}) > 1:
        return None
    made = []
    for i, tokens in enumerate(zip(*parts, strict=True)):
        if len(set(tokens)) == 1:
            made.append(tokens[0])
            continue
        expression = table.get(tuple(map(int, tokens))) if i % 2 else None
        if expression is None:
            return None
        made.append(f"{OPEN}{expression}{CLOSE}")
    rest = iter(long)
    return re.sub('"long"', lambda m: next(rest), "".join(made))
