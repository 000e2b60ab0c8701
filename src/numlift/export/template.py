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
import math
import random
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import errors
from ..core.dim_scope import SymbolicScope
from ..core.dims import CLOSE, OPEN, OPERATIONS, Atom, Dim
from ..runtime import xla

_MARK = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
_NUMBER = re.compile(r"(-?\d+)")
_DENSE = re.compile(r'dense<([^<>"]*)> : tensor<([^<>]*)>')
_LONG = re.compile(r'"0x[0-9A-Fa-f]{64,}"')
_SAMPLES = 4
_TRIES = 60
_SMALL = 16


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
    sizes = {m: scope.parse(m) for m in marks}
    for tries in range(_TRIES):
        samples = _samples(sizes, scope, symbols, numbers, loose=tries > 0)
        table = None if samples is None else _table(marks, samples)
        if samples is None or table is None:
            continue
        try:
            texts = [printed(s.__getitem__) for s in samples]
        except Exception:
            if tries:
                continue  # values that are not right may break a rule of an operation
            raise
        merged = [_merged(group, table) for group in zip(*texts, strict=True)]
        if None not in merged and _agrees(merged, sizes, scope, symbols, numbers, printed):
            return merged
    raise errors.ValueArgumentError(
        errors.explain(
            "export",
            "no sizes were found that satisfy the constraints and tell the expressions apart",
            {"expressions": ", ".join(marks), "symbols": scope.describe()},
            try_="fewer constraints, or constraints with smaller numbers",
        )
    )


def _agrees(
    templates: Sequence[Any],
    sizes: Mapping[str, Any],
    scope: SymbolicScope,
    symbols: Sequence[str],
    numbers: random.Random,
    printed: Callable[[Callable[[str], Any]], list[str]],
) -> bool:
    """Whether the templates give what is printed for further sizes."""
    samples = _samples(sizes, scope, symbols, numbers, loose=False)
    if samples is None:
        return False
    value = samples[0].__getitem__
    return all(
        _merged([filled(t, lambda text: _plain(text, value)), want], {}) is not None
        for t, want in zip(templates, printed(value), strict=True)
    )


def _plain(text: str, value: Callable[[str], Any]) -> int:
    """Value of an expression of a template, or of its negative."""
    return -value(text[2:-1]) if text.startswith("-(") else value(text)


def _samples(
    marks: Mapping[str, Any],
    scope: SymbolicScope,
    symbols: Sequence[str],
    numbers: random.Random,
    loose: bool,
) -> list[dict[str, int]] | None:
    """Values of the expressions for some large random sizes; None if none were found.

    If `loose`, operations such as min(b, 5) get values of their own, near the right ones: the
    shapes of a program agree as polynomials of symbols and operations, whatever values these have.
    """
    found = []
    signs: dict[str, int] = {}
    texts = " ".join(marks)
    for i in range(_SAMPLES):
        sizes = scope.sample(symbols, numbers, 6 + i, 9 + i)
        if sizes is None:
            return None
        right, shifted = _Values(sizes), _Values(sizes, signs, numbers, texts)
        made = {}
        for m, x in marks.items():
            made[m] = right.number(x)
            if loose:
                if shifted.number(x) < 0 <= made[m]:
                    return None  # no size of an axis
                made[m] = shifted.number(x)
        found.append(made)
    return found


class _Values:
    """Values of sizes where the symbols have these values, and operations right ones or others."""

    def __init__(
        self,
        sizes: Mapping[str, int],
        signs: dict[str, int] | None = None,
        numbers: random.Random | None = None,
        texts: str = "",
    ):
        self.atoms: dict[str, int] = dict(sizes)
        self.signs, self.numbers, self.texts = signs, numbers, texts

    def number(self, x: Any) -> int:
        """Value of an int or a `Dim`."""
        if type(x) is not Dim:
            return x
        return sum(c * math.prod([self.atom(a) ** p for a, p in mono]) for mono, c in x.terms)

    def atom(self, atom: Atom) -> int:
        """Value of a symbol or an operation, the same one each time."""
        found = self.atoms.get(atom.text)
        if found is None:
            found = OPERATIONS[atom.kind](*map(self.number, atom.args))
            if self.numbers is not None and self.signs is not None:
                found = self._shifted(atom, found, self.numbers, self.signs)
            self.atoms[atom.text] = found
        return found

    def _shifted(
        self, atom: Atom, value: int, numbers: random.Random, signs: dict[str, int]
    ) -> int:
        pair = {"mod": "floordiv", "floordiv": "mod"}.get(atom.kind)
        if pair is not None and atom.text.replace(atom.kind, pair, 1) in self.texts:
            return value  # d * floordiv(e, d) + mod(e, d) is e
        if abs(value) < _SMALL:
            return value + numbers.randint(_SMALL, 2 * _SMALL)
        if atom.kind == "floordiv":
            return value  # convolutions and windows check their sizes with it
        sign = signs.setdefault(atom.text, numbers.choice((-1, 1)))
        return value + sign * numbers.randint(2, _SMALL)


def _table(
    marks: Sequence[str], samples: list[dict[str, int]]
) -> dict[tuple[int, ...], str] | None:
    """Values of the expressions -> expression; None where values leave a doubt."""
    table: dict[tuple[int, ...], str] = {}
    for m in marks:
        values = tuple([s[m] for s in samples])
        if values in table or len(set(values)) == 1:
            return None
        table[values] = m
    for values, m in list(table.items()):
        table.setdefault(tuple([-v for v in values]), f"-({m})")
    return table


def _unfolded(texts: Sequence[str]) -> list[str]:
    """Texts in which a list of numbers is a list in all, also where the numbers are equal.

    MLIR prints ``dense<[4, 3]>``, but ``dense<4>`` for two fours.
    """
    found = [_DENSE.findall(t) for t in texts]
    if len({len(f) for f in found}) > 1:
        return list(texts)
    for k, group in enumerate(zip(*found, strict=True)):
        if any(body.startswith("[") for body, _ in group):
            for f, (body, kind) in zip(found, group, strict=True):
                if not body.startswith("["):
                    *sizes, _ = kind.split("x")
                    for n in reversed(sizes):
                        body = f"[{', '.join([body] * int(n))}]"
                    f[k] = (body, kind)
    made = []
    for t, f in zip(texts, found, strict=True):
        rest = iter(f)
        made.append(
            _DENSE.sub(lambda m, rest=rest: "dense<{}> : tensor<{}>".format(*next(rest)), t)
        )
    return made


def _merged(texts: Sequence[str], table: Mapping[tuple[int, ...], str]) -> str | None:
    """One template of texts that differ in numbers; None if they differ in more."""
    long = _LONG.findall(texts[0])
    if any(_LONG.findall(t) != long for t in texts[1:]):
        return None
    texts = _unfolded([_LONG.sub('"long"', t) for t in texts])
    parts = [_NUMBER.split(t) for t in texts]
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
