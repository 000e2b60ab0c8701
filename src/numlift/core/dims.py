"""Symbolic sizes: integer polynomials over symbols, `floordiv`, `mod`, `max` and `min`.

A `Dim` stands where an array has a size that is not known while tracing. It is immutable, in
normal form, and computes like an int: a result that is a constant is an int, never a `Dim`. So
`ArrayType.shape` may hold it, and the rules of operations need not know.

Equality is equality of normal forms, False where it is not known: `b == 1` is False, although `b`
may be 1 in a call. Orders are decided from bounds (`dim_bounds`) and raise where they cannot be.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import errors
from . import dim_bounds
from .dim_terms import Atom, Mono, Terms, add_terms, divided, terms_of, times
from .dim_text import CLOSE, OPEN, mono_text, terms_text, text_is_marked

if TYPE_CHECKING:
    from .dim_scope import SymbolicScope

Size: TypeAlias = "int | Dim"

_ROUNDS = 256


class Dim:
    """A size that is known only when an exported program is called."""

    __slots__ = ("scope", "terms", "_hash", "__weakref__")
    __array_ufunc__ = None  # NumPy's arrays and numbers leave operators to this class
    scope: SymbolicScope
    terms: tuple[tuple[Mono, int], ...]
    _hash: int

    # ---- text --------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The expression, such as ``2*b + 1``."""
        return terms_text(self.terms)

    def __str__(self) -> str:
        text = self.text
        return f"{OPEN}{text}{CLOSE}" if text_is_marked() else text

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(str(self), "" if spec == "d" else spec)

    # ---- identity ----------------------------------------------------------------------------

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            type(other) is Dim
            and self._hash == other._hash
            and self.scope is other.scope
            and self.terms == other.terms
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return True  # as `self != 0`

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Dim:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.scope, self.text)

    # ---- constants ---------------------------------------------------------------------------

    def __index__(self) -> int:
        raise errors.InconclusiveDimensionOperation(
            errors.explain(
                "symbolic size",
                f"{self.text} is used where a number must be known while tracing",
                try_="keep it symbolic (x.shape[0] // 2, not int(...)), or give this axis a number",
            )
        )

    __int__ = __float__ = __complex__ = __round__ = __trunc__ = __index__  # type: ignore

    def __numlift_array__(self) -> Any:
        return value_of[0](self)

    __jax_array__ = __numlift_array__

    # ---- arithmetic --------------------------------------------------------------------------

    def __neg__(self) -> Size:
        return build(self.scope, {m: -c for m, c in self.terms})

    def __pos__(self) -> Size:
        return self

    def __abs__(self) -> Size:
        low, high = self.bounds()
        if low >= 0:
            return self
        return -self if high <= 0 else max_size(self, -self)

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, (int, np.integer)) and exponent >= 0:
            result: Any = 1
            for _ in range(int(exponent)):
                result = result * self
            return result
        return _as_array(operator.pow, self, exponent, False)

    def __rpow__(self, base: Any) -> Any:
        return _as_array(operator.pow, self, base, True)

    def __truediv__(self, other: Any) -> Any:
        return _as_array(operator.truediv, self, other, False)

    def __rtruediv__(self, other: Any) -> Any:
        return _as_array(operator.truediv, self, other, True)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    if TYPE_CHECKING:

        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __rfloordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __rmod__(self, other: Any) -> Any: ...

    # ---- order -------------------------------------------------------------------------------

    def bounds(self) -> tuple[float, float]:
        """Smallest and largest value that it can have, as far as known."""
        return dim_bounds.bounds(self.scope, dict(self.terms))

    def __ge__(self, other: Any) -> Any:
        return _ordered(self, other, ">=")

    def __le__(self, other: Any) -> Any:
        return _ordered(self, other, "<=")

    def __gt__(self, other: Any) -> Any:
        return _ordered(self, other, ">")

    def __lt__(self, other: Any) -> Any:
        return _ordered(self, other, "<")

    # ---- values ------------------------------------------------------------------------------

    def symbols(self) -> set[str]:
        """Names of the symbols in it."""
        found: set[str] = set()
        for mono, _ in self.terms:
            for atom, _ in mono:
                if atom.kind == "symbol":
                    found.add(atom.text)
                else:
                    for x in atom.args:
                        if type(x) is Dim:
                            found |= x.symbols()
        return found

    def evaluate(self, sizes: Mapping[str, Any]) -> Any:
        """Its value where the symbols have these sizes (ints, or `Dim`s of another scope)."""
        total: Any = 0
        for mono, c in self.terms:
            product: Any = c
            for atom, power in mono:
                product = product * _atom_value(atom, sizes) ** power
            total = total + product
        return total


def _rebuild(scope: SymbolicScope, text: str) -> Size:
    return scope.parse(text)


value_of: list[Callable[[Dim], Any]] = []
"""How a size becomes an array: `export.symbolic` enters it."""


def _atom_value(atom: Atom, sizes: Mapping[str, Any]) -> Any:
    if atom.kind == "symbol":
        return sizes[atom.text]
    a, b = [x.evaluate(sizes) if type(x) is Dim else x for x in atom.args]
    return OPERATIONS[atom.kind](a, b)


def _as_array(op: Callable[[Any, Any], Any], x: Dim, other: Any, reflected: bool) -> Any:
    """An operator that leaves the integers: on the array that stands for the size."""
    if not isinstance(other, (int, float, complex, np.ndarray, np.generic, Dim)):
        return NotImplemented
    mine = x.__numlift_array__()
    if type(other) is Dim:
        other = other.__numlift_array__()
    return op(other, mine) if reflected else op(mine, other)


def _ordered(x: Dim, other: Any, sign: str) -> Any:
    if isinstance(other, (np.ndarray, float)) and not (
        isinstance(other, float) and other.is_integer()
    ):
        return _as_array(_ORDERS[sign], x, other, False)
    if not isinstance(other, (int, np.integer, float, Dim)):
        return NotImplemented
    other = other if type(other) is Dim else int(other)
    difference = x - other if sign in (">=", "<") else other - x
    found = is_nonnegative(difference)
    if found is None:
        raise errors.InconclusiveDimensionOperation(
            errors.explain(
                "symbolic size",
                f"whether {x.text} {sign} {size_text(other)} differs between the sizes that the "
                "symbols may have",
                {"symbols": x.scope.describe()},
                try_=f'symbolic_shape(..., constraints=["{x.text} {sign} {size_text(other)}"])',
            )
        )
    return found if sign in (">=", "<=") else not found


_ORDERS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


def is_nonnegative(x: Size) -> bool | None:
    """Whether a size is >= 0 always (True), never (False), or that is not known (None)."""
    if type(x) is not Dim:
        return x >= 0
    return dim_bounds.is_nonnegative(x.scope, dict(x.terms))


# ---- normal forms --------------------------------------------------------------------------------


def nearest_quotient(c: int, k: int) -> int:
    """q such that c - q*k lies in (-|k|/2, |k|/2]: one normal form for every sum."""
    size = abs(k)
    rest = c % size
    if 2 * rest > size:
        rest -= size
    return (c - rest) // k


def build(scope: SymbolicScope, terms: Terms) -> Size:
    """The normal form of a polynomial: rules of the scope and of floordiv applied."""
    terms = {m: c for m, c in terms.items() if c}
    for _ in range(_ROUNDS):
        change = _rewritten(scope, terms)
        if change is None:
            return _made(scope, terms)
        terms = change
    raise errors.ValueArgumentError(
        errors.explain("symbolic size", "its constraints rewrite each other for ever")
    )


def _made(scope: SymbolicScope, terms: Terms) -> Size:
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    made = object.__new__(Dim)
    made.scope = scope
    made.terms = tuple(sorted(terms.items(), key=_order))
    made._hash = hash((id(scope), made.terms))
    return made


def _order(item: tuple[Mono, int]) -> tuple[int, str]:
    mono = item[0]
    return -sum(p for _, p in mono), mono_text(mono)


def _rewritten(scope: SymbolicScope, terms: Terms) -> Terms | None:
    for mono, c in terms.items():
        for lead, k, right in scope.rules:
            rest = divided(mono, lead)
            if rest is not None and (q := nearest_quotient(c, k)):
                return _replaced(terms, mono, q, k, rest, right)
        for atom, _ in mono:
            if atom.kind == "floordiv":
                found = _multiplied_back(scope, terms, mono, c, atom)
                if found is not None:
                    return found
    return None


def _replaced(terms: Terms, mono: Mono, q: int, k: int, rest: Mono, right: Terms) -> Terms:
    """Of the monomial, q*k are replaced by q * rest * right."""
    made = add_terms(dict(terms), {mono: -q * k})
    return add_terms(made, right, q, rest)


def _multiplied_back(
    scope: SymbolicScope, terms: Terms, mono: Mono, c: int, atom: Atom
) -> Terms | None:
    """d * floordiv(e, d) is e - mod(e, d)."""
    e, d = atom.args
    parts = terms_of(d)
    if len(parts) != 1:
        return None
    ((factor, k),) = parts.items()
    rest = divided(mono, times(((atom, 1),), factor))
    if rest is None or not (q := nearest_quotient(c, k)):
        return None
    right = add_terms(terms_of(e), terms_of(e % d), -1)
    return _replaced(terms, mono, q, k, rest, right)


def scope_of(function: str, *sizes: Size) -> SymbolicScope:
    """The scope of sizes of which one is a `Dim`.

    Raises:
        ValueArgumentError: they belong to two scopes.
    """
    scopes = {id(x.scope): x.scope for x in sizes if type(x) is Dim}
    if len(scopes) > 1:
        raise errors.ValueArgumentError(
            errors.explain(
                f"symbolic size {function}",
                "the sizes belong to two scopes, and nothing relates their symbols",
                {f"operand {i}": size_text(x) for i, x in enumerate(sizes)},
                try_="scope = export.SymbolicScope(); symbolic_shape(..., scope=scope) for both",
            )
        )
    return next(iter(scopes.values()))


def _binary(name: str, compute: Callable[..., Size]) -> tuple[Callable[..., Any], ...]:
    op = getattr(operator, name)

    def forward(self: Dim, other: Any) -> Any:
        if type(other) is Dim or isinstance(other, (int, np.integer)):
            other = other if type(other) is Dim else int(other)
            return compute(scope_of(name, self, other), self, other)
        return _as_array(op, self, other, False)

    def reflected(self: Dim, other: Any) -> Any:
        if isinstance(other, (int, np.integer)):
            return compute(self.scope, int(other), self)
        return _as_array(op, self, other, True)

    return forward, reflected


def _sum(scope: SymbolicScope, a: Size, b: Size) -> Size:
    return build(scope, add_terms(terms_of(a), terms_of(b)))


def _difference(scope: SymbolicScope, a: Size, b: Size) -> Size:
    return build(scope, add_terms(terms_of(a), terms_of(b), -1))


def _product(scope: SymbolicScope, a: Size, b: Size) -> Size:
    made: Terms = {}
    for mono, c in terms_of(b).items():
        add_terms(made, terms_of(a), c, mono)
    return build(scope, made)


def _split(scope: SymbolicScope, e: Size, d: Size) -> tuple[Size, Size]:
    """(q, r) with e == q*d + r, where r holds what d does not divide."""
    if type(d) is not Dim and d == 0:
        raise ZeroDivisionError(f"symbolic size: {size_text(e)} is divided by zero")
    if type(e) is not Dim and type(d) is not Dim:
        return divmod(e, d)
    left, by = terms_of(e), sorted(terms_of(d).items(), key=_order)
    (lead, k), whole = by[0], dict(by)
    quotient: Terms = {}
    for _ in range(_ROUNDS):
        for mono, c in sorted(left.items(), key=_order):
            rest = divided(mono, lead)
            if rest is None:
                continue
            q = c // k if not mono or c % k == 0 else 0
            if q and (len(by) == 1 or c % k == 0):
                add_terms(quotient, {rest: q})
                add_terms(left, whole, -q, rest)
                break
        else:
            break
    else:
        return 0, e
    return build(scope, quotient), build(scope, left)


def _exact(scope: SymbolicScope, e: Size, d: Size) -> Size | None:
    """e // d where a constraint mod(b, n) == 0 makes it exact: b is n * floordiv(b, n)."""
    if type(e) is not Dim or type(d) is Dim:
        return None
    terms = terms_of(e)
    for atom, n, whole in scope.multiples:
        for mono in list(terms):
            for factor, power in mono:
                if factor is atom:
                    c = terms.pop(mono)
                    rest = divided(mono, ((atom, power),))
                    add_terms(terms, {times(rest, ((whole, power),)): c * n**power})  # type: ignore
    if any(c % d for c in terms.values()):
        return None
    return build(scope, {m: c // d for m, c in terms.items()})


def _floordiv(scope: SymbolicScope, e: Size, d: Size) -> Size:
    q, r = _split(scope, e, d)
    if type(r) is not Dim and (r == 0 or (type(d) is not Dim)):
        return q + (0 if type(d) is Dim else r // d)  # type: ignore[operator]
    if _is_rest(r, d):
        return q
    exact = _exact(scope, r, d)
    return q + (atom_size(scope, "floordiv", r, d) if exact is None else exact)


def _mod(scope: SymbolicScope, e: Size, d: Size) -> Size:
    _, r = _split(scope, e, d)
    if type(r) is not Dim and type(d) is not Dim:
        return r % d
    if r == 0 or _is_rest(r, d):
        return r
    return atom_size(scope, "mod", r, d) if _exact(scope, r, d) is None else 0


def _is_rest(r: Size, d: Size) -> bool:
    """Whether 0 <= r < d is known."""
    return is_nonnegative(r) is True and is_nonnegative(d - r - 1) is True


def max_size(*sizes: Any) -> Any:
    """The largest of sizes; symbolic where it is not known which one that is."""
    for x in sizes:
        if type(x) is Dim:
            return _extreme("max", sizes)
    return max(sizes)


def min_size(*sizes: Any) -> Any:
    """The smallest of sizes; symbolic where it is not known which one that is."""
    for x in sizes:
        if type(x) is Dim:
            return _extreme("min", sizes)
    return min(sizes)


def _extreme(kind: str, sizes: tuple[Any, ...]) -> Any:
    found = sizes[0]
    for x in sizes[1:]:
        if type(x) is not Dim and type(found) is not Dim:
            found = max(found, x) if kind == "max" else min(found, x)
            continue
        scope = scope_of(kind, x, found)
        larger = is_nonnegative(found - x)
        if larger is None:
            less = is_nonnegative(x - found)
            larger = None if less is None else not less
        if larger is None:
            found = atom_size(scope, kind, *sorted((found, x), key=size_text))
        elif larger is not (kind == "max"):
            found = x
    return found


def atom_size(scope: SymbolicScope, kind: str, *args: Any) -> Size:
    """The size that is one atom."""
    text = args[0] if kind == "symbol" else f"{kind}({', '.join(map(size_text, args))})"
    atom = scope.atom(kind, args, text)
    low, high = dim_bounds.atom_bounds(scope, atom)
    return int(low) if low == high else build(scope, {((atom, 1),): 1})


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "max": max_size,
    "min": min_size,
}
for _name, _compute in {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "floordiv": _floordiv,
    "mod": _mod,
}.items():
    _forward, _reflected = _binary(_name, _compute)
    setattr(Dim, f"__{_name}__", _forward)
    setattr(Dim, f"__r{_name}__", _reflected)


# ---- text ----------------------------------------------------------------------------------------


def size_text(x: Any) -> str:
    """Text of a size without marks."""
    return x.text if type(x) is Dim else str(x)


def as_size(x: Any) -> Any:
    """An int, or a `Dim` as it is: `operator.index` for sizes.

    Raises:
        TypeError: no integer.
    """
    return x if type(x) is Dim else operator.index(x)


def known(x: Any, else_: int) -> int:
    """A size if it is a number, else `else_`: for choices between lowerings that both are right."""
    return else_ if type(x) is Dim else x


def is_symbolic_dim(x: Any) -> bool:
    """Whether a size is symbolic.

    Args:
        x: a size, such as an entry of a shape.

    Returns:
        True for symbolic sizes, False for numbers.

    Example:
        >>> from numlift import export
        >>> b, four = export.symbolic_shape("b, 4")
        >>> export.is_symbolic_dim(b), export.is_symbolic_dim(four)
        (True, False)
    """
    return type(x) is Dim
