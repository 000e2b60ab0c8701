"""What is known about the order of symbolic sizes: intervals, and constraints added to them.

A polynomial has the interval that follows from the intervals of its symbols and operations. Where
that does not decide, multiples of what is known to be >= 0 (constraints of the scope, and facts
such as ``d * floordiv(e, d) <= e``) are taken away: what is left must be >= 0 by its interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .dim_terms import Atom, Mono, Terms, add_terms, divided, terms_of, times

if TYPE_CHECKING:
    from .dim_scope import SymbolicScope

_INF = math.inf
LARGEST = 2**31 - 1
"""Largest size: exported programs count in int32."""
_DEPTH = 3
_STEPS = 60
"""So many polynomials are looked at before a question counts as open."""
Interval = tuple[float, float]


def bounds(scope: SymbolicScope, terms: Terms) -> Interval:
    """Smallest and largest value of a polynomial, as far as intervals tell."""
    low: float = 0
    high: float = 0
    for mono, c in terms.items():
        a, b = _mono_bounds(scope, mono)
        a, b = (_times(a, c), _times(b, c)) if c >= 0 else (_times(b, c), _times(a, c))
        low, high = low + a, high + b
    return low, high


def _times(a: float, b: float) -> float:
    return 0 if a == 0 or b == 0 else a * b


def _mono_bounds(scope: SymbolicScope, mono: Mono) -> Interval:
    found: Interval = (1, 1)
    for atom, power in mono:
        a, b = atom_bounds(scope, atom)
        if power % 2 == 0 and a < 0:
            top = max(_power(a, power), _power(b, power))
            a, b = (0 if b >= 0 else _power(b, power)), top
        else:
            a, b = _power(a, power), _power(b, power)
        corners = [_times(x, y) for x in found for y in (a, b)]
        found = min(corners), max(corners)
    return found


def _power(x: float, n: int) -> float:
    made: float = 1
    for _ in range(n):
        made = _times(made, x)
    return made


def size_bounds(x: Any) -> Interval:
    """Bounds of an int or a `Dim`."""
    return (x, x) if isinstance(x, int) else x.bounds()


def atom_bounds(scope: SymbolicScope, atom: Atom) -> Interval:
    """Bounds of a symbol or an operation."""
    if atom.kind == "symbol":
        return scope.low.get(atom.text, 1), scope.high.get(atom.text, LARGEST)
    first, second = [size_bounds(x) for x in atom.args]
    if atom.kind == "max":
        return max(first[0], second[0]), max(first[1], second[1])
    if atom.kind == "min":
        return min(first[0], second[0]), min(first[1], second[1])
    low, high = second
    if low <= 0:
        return -_INF, _INF  # a divisor that may be negative
    if atom.kind == "mod":
        return 0, min(high - 1, first[1]) if first[0] >= 0 else high - 1
    corners = [_floor(x, y) for x in first for y in second]
    return min(corners), max(corners)


def _floor(x: float, y: float) -> float:
    if abs(x) == _INF:
        return x
    if y == _INF:
        return 0 if x >= 0 else -1
    return x // y


def is_nonnegative(scope: SymbolicScope, terms: Terms) -> bool | None:
    """Whether a polynomial is >= 0 for all sizes (True), for none (False), or unknown (None)."""
    key = frozenset(terms.items())
    found = scope.decided.get(key, 0)
    if found == 0:
        found = scope.decided[key] = _decide(scope, terms)
    return found


def _decide(scope: SymbolicScope, terms: Terms) -> bool | None:
    low, high = bounds(scope, terms)
    if low >= 0:
        return True
    if high < 0:
        return False
    if _Search(scope).proves(terms, _DEPTH):
        return True
    opposite = {m: -c for m, c in terms.items()}
    opposite[()] = opposite.get((), 0) - 1
    return False if _Search(scope).proves(opposite, _DEPTH) else None


class _Search:
    """Looks for a proof that a polynomial is >= 0, for a limited number of steps."""

    def __init__(self, scope: SymbolicScope):
        self.scope, self.left = scope, _STEPS

    def proves(self, terms: Terms, depth: int) -> bool:
        """Whether a proof was found."""
        scope = self.scope
        self.left -= 1
        if bounds(scope, terms)[0] >= 0 or _grows(scope, terms):
            return True
        if depth == 0 or self.left < 0:
            return False
        for atom in _atoms(terms):
            if atom.kind in ("max", "min"):
                # it is one of the two
                if all(self.proves(_substituted(terms, atom, x), depth - 1) for x in atom.args):
                    return True
                break
        for fact in _facts(scope, terms):
            for mono, c in fact.items():
                have = terms.get(mono, 0)
                if mono and have * c > 0:
                    rest = {m: abs(c) * k for m, k in terms.items()}
                    for m, k in fact.items():
                        rest[m] = rest.get(m, 0) - abs(have) * k
                    if self.proves({m: k for m, k in rest.items() if k}, depth - 1):
                        return True
        return False


def _atoms(terms: Terms) -> list[Atom]:
    return list({id(atom): atom for mono in terms for atom, _ in mono}.values())


def _substituted(terms: Terms, atom: Atom, x: Any) -> Terms:
    """A polynomial with the size `x` in the place of an atom."""
    made: Terms = {}
    for mono, c in terms.items():
        power = dict(mono).get(atom, 0)
        product: Terms = {divided(mono, ((atom, power),)) or (): c}
        for _ in range(power):
            grown: Terms = {}
            for m, k in terms_of(x).items():
                add_terms(grown, product, k, m)
            product = grown
        add_terms(made, product)
    return made


def _grows(scope: SymbolicScope, terms: Terms) -> bool:
    """Whether no coefficient is negative if each atom is written as its lower bound plus a rest."""
    shifted: Terms = {}
    for mono, c in terms.items():
        product: Terms = {(): c}
        for atom, power in mono:
            low = atom_bounds(scope, atom)[0]
            if low == -_INF:
                return False
            for _ in range(power):
                grown = add_terms({}, product, int(low))
                product = add_terms(grown, product, 1, ((atom, 1),))
        add_terms(shifted, product)
    return all(k >= 0 for k in shifted.values())


def _facts(scope: SymbolicScope, terms: Terms) -> Iterator[Terms]:
    """Polynomials that are >= 0 and share monomials with `terms`."""
    yield from scope.inequalities
    for atom in _atoms(terms):
        if atom.kind != "symbol":
            yield from _atom_facts(scope, atom)


def _atom_facts(scope: SymbolicScope, atom: Atom) -> Iterator[Terms]:
    a, b = atom.args
    me = ((atom, 1),)
    if atom.kind in ("max", "min"):
        sign = 1 if atom.kind == "max" else -1
        for x in (a, b):
            yield _plus({me: sign}, x, -sign)
        if size_bounds(a)[0] >= 0 and size_bounds(b)[0] >= 0:
            yield _plus(_plus({me: -1}, a, 1), b, 1)
        return
    if size_bounds(b)[0] <= 0:
        return
    if atom.kind == "mod":
        yield _plus({me: -1, (): -1}, b, 1)
        if size_bounds(a)[0] >= 0:
            yield _plus({me: -1}, a, 1)
        return
    product = {times(mono, me): c for mono, c in terms_of(b).items()}
    yield _plus({m: -c for m, c in product.items()}, a, 1)
    yield _plus(_plus({**product, (): product.get((), 0) - 1}, b, 1), a, -1)
    if size_bounds(a)[0] >= 0:
        yield _plus({me: -1}, a, 1)


def _plus(terms: Terms, x: Any, factor: int) -> Terms:
    """A polynomial plus factor * x, for a size `x`."""
    return add_terms(dict(terms), terms_of(x), factor)
