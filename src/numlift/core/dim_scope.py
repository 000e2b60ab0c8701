"""Scopes of symbolic sizes: symbols of one scope are the same, with the constraints on them."""

from __future__ import annotations

import ast
import operator
import random
from collections.abc import Mapping, Sequence
from typing import Any

from .. import errors
from .dim_bounds import LARGEST
from .dim_terms import Atom, Mono, Terms, terms_of
from .dims import OPERATIONS, Dim, Size, atom_size, size_text

_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARISONS: dict[type, str] = {
    ast.GtE: ">=",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.Lt: "<",
    ast.Eq: "==",
}


class SymbolicScope:
    """Where symbols are defined: symbols of equal names in one scope are equal.

    Every symbol is at least 1, unless a constraint such as ``"b >= 0"`` says else. A symbol, or
    another single term, that an equation has on one side is replaced by the other side everywhere;
    other constraints decide comparisons. Calls of the exported function check all of them.

    Args:
        constraints_str: comparisons of two expressions with ``>=``, ``<=``, ``>``, ``<`` or ``==``.

    Raises:
        ValueArgumentError: a constraint cannot be read, or holds for no sizes.

    Example:
        >>> from numlift import export
        >>> scope = export.SymbolicScope(["b >= 4", "mod(b, 4) == 0"])
        >>> b, k = export.symbolic_shape("b, k", scope=scope)
        >>> b >= 2, (3 * b) % 4, b // 4 * 4 == b
        (True, 0, True)
    """

    def __init__(self, constraints_str: Sequence[str] = ()):
        if isinstance(constraints_str, str):
            raise errors.ValueArgumentError(
                errors.explain(
                    "SymbolicScope",
                    "constraints must be a sequence of texts",
                    {"constraints_str": constraints_str},
                    try_=f"[{constraints_str!r}]",
                )
            )
        self._atoms: dict[str, Atom] = {}
        self.constraints: tuple[str, ...] = tuple(constraints_str)
        self.checks: list[tuple[str, Dim]] = []
        self.rules: list[tuple[Mono, int, Terms]] = []
        self.inequalities: list[Terms] = []
        self.multiples: list[tuple[Atom, int, Atom]] = []
        self.low: dict[str, int] = {}
        self.high: dict[str, int] = {}
        self.decided: dict[Any, Any] = {}
        for text in self.constraints:
            self._constrain(text)

    def __repr__(self) -> str:
        return f"SymbolicScope({list(self.constraints)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return SymbolicScope, (self.constraints,)

    def describe(self) -> str:
        """The symbols and what is known about them, for messages."""
        names = sorted(a.text for a in self._atoms.values() if a.kind == "symbol")
        known = [f"{n} >= {self.low.get(n, 1)}" for n in names]
        return ", ".join([*known, *self.constraints])

    def atom(self, kind: str, args: tuple[Any, ...], text: str) -> Atom:
        """The one atom of this text."""
        return self._atoms.get(text) or self._atoms.setdefault(text, Atom(kind, args, text))

    def symbol(self, name: str) -> Size:
        """The symbol of this name (what it equals, if a constraint says so)."""
        return atom_size(self, "symbol", name)

    # ---- reading -----------------------------------------------------------------------------

    def parse(self, text: str) -> Size:
        """The size that an expression stands for."""
        return self._size(_read(text, text), text)

    def _size(self, node: Any, text: str) -> Size:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name):
            return self.symbol(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            inner = self._size(node.operand, text)
            return -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            a, b = self._size(node.left, text), self._size(node.right, text)
            if isinstance(node.op, ast.Pow) and (type(b) is Dim or b < 0):
                raise syntax(text, "an exponent must be a number that is not negative")
            return self._divided(_OPERATORS[type(node.op)], a, b, text)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            function = OPERATIONS.get(node.func.id)
            if function is not None and len(node.args) == 2 and not node.keywords:
                a, b = [self._size(x, text) for x in node.args]
                return self._divided(function, a, b, text)
        raise syntax(text, f"{ast.unparse(node)!r} is no size")

    @staticmethod
    def _divided(function: Any, a: Size, b: Size, text: str) -> Size:
        try:
            return function(a, b)
        except ZeroDivisionError:
            raise syntax(text, "division by zero") from None

    # ---- constraints -------------------------------------------------------------------------

    def _constrain(self, text: str) -> None:
        node = _read(text, text)
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            raise syntax(text, "a constraint compares two expressions once")
        sign = _COMPARISONS.get(type(node.ops[0]))
        if sign is None:
            raise syntax(text, "a constraint has one of >=, <=, >, <, ==")
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        a, b = self._size(node.left, text), self._size(node.comparators[0], text)
        if sign in ("<=", "<"):
            a, b = b, a
        difference: Any = a - b - (sign in (">", "<"))
        if type(difference) is not Dim:
            if difference < 0 or (sign == "==" and difference):
                raise errors.ValueArgumentError(
                    errors.explain("SymbolicScope", f"the constraint {text} never holds")
                )
            return
        self.decided.clear()
        # an equation is checked as it stands: here it holds by definition
        plain = difference if sign != "==" else SymbolicScope().parse(f"({left}) - ({right})")
        if type(plain) is Dim:
            self.checks.append((text, plain))
        if sign != "==":
            self._at_least_zero(difference)
        elif not (self._replace(a, b) or self._replace(b, a)):
            self._at_least_zero(difference)
            self._at_least_zero(-difference)  # type: ignore[arg-type]

    def _at_least_zero(self, x: Dim) -> None:
        terms = terms_of(x)
        self.inequalities.append(terms)
        c = terms.get((), 0)
        others = [(m, k) for m, k in terms.items() if m]
        if len(others) != 1:
            return
        ((mono, k),) = others
        (atom, power), *more = mono
        if more or power != 1 or atom.kind != "symbol":
            return
        name = atom.text
        if k > 0:
            self.low[name] = max(self.low.get(name, 0), -(c // k))
        else:
            self.high[name] = min(self.high.get(name, c // -k), c // -k)

    def _replace(self, left: Size, right: Size) -> bool:
        """Make `left`, if it is one term, the name of `right`."""
        terms = terms_of(left)
        if len(terms) != 1 or () in terms:
            return False
        ((mono, k),) = terms.items()
        if _holds(right, {a for a, _ in mono}):
            return False
        self.rules.append((mono, k, terms_of(right)))
        ((atom, power), *more) = mono
        if atom.kind == "mod" and right == 0 and not more and power == k == 1:
            self._multiple(*atom.args)
        return True

    def _multiple(self, e: Any, d: Any) -> None:
        terms = terms_of(e)
        if len(terms) == 1 and type(d) is int:
            ((mono, k),) = terms.items()
            if k == 1 and len(mono) == 1 and mono[0][1] == 1:
                whole = self.atom("floordiv", (e, d), f"floordiv({size_text(e)}, {d})")
                self.multiples.append((mono[0][0], d, whole))

    def sample(
        self, symbols: Sequence[str], numbers: random.Random, few: int, many: int
    ) -> dict[str, int] | None:
        """Sizes of `few` to `many` bits that satisfy the constraints; None if none were found."""
        for _ in range(400):
            sizes = {}
            for name in symbols:
                low = self.low.get(name, 1)
                bits = numbers.randint(few, many)
                n = max(low, (1 << bits - 1) + numbers.getrandbits(bits - 1))
                if n == low:
                    n += numbers.getrandbits(bits)
                n = min(n, self.high.get(name, n))
                for atom, step, _ in self.multiples:
                    if atom.text == name:
                        n = -(-n // step) * step
                sizes[name] = n
            if not self.broken(sizes):
                return sizes
        return None

    def broken(self, sizes: Mapping[str, Any]) -> list[str]:
        """Constraints that these sizes of the symbols break, with the values of both sides."""
        found = [
            f"{name} >= 1 ({name} is {n})"
            for name, n in sizes.items()
            if name not in self.low and not n >= 1
        ]
        found += [
            f"{name} <= {LARGEST} ({name} is {n})"
            for name, n in sizes.items()
            if type(n) is not Dim and n > LARGEST
        ]
        for text, difference in self.checks:
            names = difference.symbols()
            if not names <= set(sizes):
                continue  # an equation that names one symbol by others
            value = difference.evaluate(sizes)
            if not (value == 0 if "==" in text else value >= 0):
                values = ", ".join(f"{n} is {sizes[n]}" for n in sorted(names))
                found.append(f"{text} ({values})")
        return found


def _holds(x: Size, atoms: set[Atom]) -> bool:
    """Whether an expression has one of the atoms in it."""
    if type(x) is not Dim:
        return False
    for mono, _ in x.terms:
        for atom, _ in mono:
            if atom in atoms or any(_holds(a, atoms) for a in atom.args if type(a) is Dim):
                return True
    return False


def _read(text: str, whole: str) -> Any:
    try:
        return ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except SyntaxError:
        raise syntax(whole, "it is no expression") from None


def syntax(text: str, why: str) -> errors.ValueArgumentError:
    """The error for a text that is no expression of sizes."""
    return errors.ValueArgumentError(
        errors.explain(
            "symbolic_shape",
            f"cannot read {text!r}: {why}",
            try_="names, numbers, + - *, floordiv(a, b), mod(a, b), max(a, b), min(a, b)",
        )
    )
