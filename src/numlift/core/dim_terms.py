"""Polynomials over the atoms of symbolic sizes: monomials and their integer coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Mono: TypeAlias = "tuple[tuple[Atom, int], ...]"
Terms: TypeAlias = "dict[Mono, int]"


class Atom:
    """A symbol, or one of floordiv, mod, max, min of two sizes. One object each in a scope."""

    __slots__ = ("kind", "args", "text")

    def __init__(self, kind: str, args: tuple[Any, ...], text: str):
        self.kind, self.args, self.text = kind, args, text


def terms_of(x: Any) -> Terms:
    """Monomials of a size, an int or a `Dim`, and their coefficients."""
    if isinstance(x, int):
        return {(): x} if x else {}
    return dict(x.terms)


def add_terms(into: Terms, terms: Mapping[Mono, int], factor: int = 1, mono: Mono = ()) -> Terms:
    """`into` plus factor * mono * terms, in place."""
    for m, c in terms.items():
        key = times(m, mono) if mono else m
        found = into.get(key, 0) + factor * c
        if found:
            into[key] = found
        else:
            into.pop(key, None)
    return into


def times(a: Mono, b: Mono) -> Mono:
    """Product of monomials."""
    if not a or not b:
        return a or b
    powers: dict[Atom, int] = dict(a)
    for atom, p in b:
        powers[atom] = powers.get(atom, 0) + p
    return tuple(sorted(powers.items(), key=lambda item: item[0].text))


def divided(a: Mono, b: Mono) -> Mono | None:
    """a / b if it is a monomial."""
    powers = dict(a)
    for atom, p in b:
        left = powers.get(atom, 0) - p
        if left < 0:
            return None
        powers[atom] = left
    return tuple([(atom, p) for atom, p in powers.items() if p])
