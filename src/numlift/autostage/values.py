"""Values of variables that staged blocks share: which parts are arrays, and how branches merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import Tracer, Value, type_of
from ..core.types import ArrayType, array_type
from ..runtime.transfer import as_array
from ..structural.arith import convert
from ..tree import tree_flatten, tree_unflatten

_NUMBERS = (bool, int, float, complex, np.generic)


class Undefined:
    """A variable without value; says why when it is read."""

    def __init__(self, name: str, reason: str | None = None, try_: str | None = None):
        self.name, self.reason, self.try_ = name, reason, try_

    def error(self, function: str, line: str | None = None) -> Exception:
        """What reading the variable raises."""
        if self.reason is None:
            return UnboundLocalError(
                f"cannot access local variable {self.name!r} where it is not associated with "
                "a value"
            )
        return errors.AutostageError(
            errors.explain(function, self.reason, line=line, try_=self.try_)
        )


UNSET = Undefined("result")


def is_traced(x: Any) -> bool:
    """Whether Python cannot ask for the truth of `x` because it is not known while tracing."""
    if not isinstance(x, Value):
        convert = getattr(type(x), "__numlift_array__", None)
        if convert is None:
            return False
        x = convert(x)
    return isinstance(x, Tracer) and x.concrete() is None


def is_array(x: Any) -> bool:
    """Whether a leaf can be a value of a program."""
    if isinstance(x, np.ndarray) and not isinstance(x, Value):
        return x.dtype.kind not in "OUSmM"
    return isinstance(x, (Value, *_NUMBERS)) or hasattr(x, "__numlift_array__")


def same(a: Any, b: Any) -> bool:
    """Whether two leaves are one Python object or equal constants."""
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, (Value, np.ndarray)):
        return False
    if isinstance(a, (bool, int, float, complex, str, bytes, slice, np.generic)):
        return repr(a) == repr(b)  # tells -0.0 from 0.0, and takes nan for nan
    return False


def plain(t: ArrayType) -> ArrayType:
    """A type that is not weak."""
    return t.update(weak_type=False) if t.weak_type else t


def common(a: ArrayType, b: ArrayType) -> ArrayType | None:
    """The type of a value that comes from either; None if there is none.

    A weak (Python) number takes the dtype of the other side, as in arithmetic.
    """
    if a.shape != b.shape or a.sharding is not b.sharding:
        return None
    if a.dtype == b.dtype:
        return a if a.weak_type and b.weak_type else plain(a)
    if b.weak_type and not a.weak_type and _rank(b) <= _rank(a):
        return a
    if a.weak_type and not b.weak_type and _rank(a) <= _rank(b):
        return b
    if a.weak_type and b.weak_type:
        return a if _rank(a) >= _rank(b) else b
    if a.weak_type or b.weak_type:  # float literal against an integer array: its float type
        wide = a if a.weak_type else b
        return array_type(a.shape, wide.dtype, False, a.sharding)
    return None


def _rank(t: ArrayType) -> int:
    return "biufc".find(t.kind) - (t.kind == "u")


def fits(x: Any, t: ArrayType) -> Any:
    """`x` as a value of type `t`, of the same shape."""
    found = type_of(x)
    return x if found is t and isinstance(x, Value) else convert(lifted(x), t.dtype, t.weak_type)


def lifted(x: Any) -> Any:
    """A leaf as an array or traced value."""
    if isinstance(x, Value):
        return x
    convert = getattr(type(x), "__numlift_array__", None)
    return lifted(convert(x)) if convert is not None else as_array(x)


def zeros(t: ArrayType) -> Any:
    """A filler of a type, for variables that are written before they are read."""
    return convert(as_array(np.zeros(t.shape, t.dtype)), t.dtype, t.weak_type)


class Shared:
    """A value taken apart: structure, leaves, and the text of its type."""

    __slots__ = ("value", "leaves", "tree")

    def __init__(self, value: Any):
        self.value = value
        self.leaves, self.tree = tree_flatten(value)

    def describe(self) -> str:
        """Short text for messages."""
        if isinstance(self.value, Undefined):
            return "undefined"
        if len(self.leaves) == 1 and self.leaves[0] is self.value:
            return describe_leaf(self.value)
        return f"a {type(self.value).__name__} with {len(self.leaves)} values"

    def copy(self) -> Any:
        """The value in fresh containers, which a block may change."""
        return tree_unflatten(self.tree, self.leaves)


def describe_leaf(x: Any) -> str:
    """Type of an array, else type and value of an object."""
    if is_array(x):
        return repr(type_of(x))
    return "None" if x is None else f"{type(x).__name__} {repr(x)[:40]}"


class Outcome:
    """What variables are after a block that was traced: structures, and places of new leaves."""

    def __init__(self, values: Sequence[Any], owner: Any):
        self.shared = [Shared(v) for v in values]
        self.places: list[list[int | None]] = []
        self.outputs: list[Any] = []
        self.types: list[ArrayType] = []
        self.origins: dict[int, tuple[Any, Any]] = {}
        for s in self.shared:
            row: list[int | None] = []
            for i, x in enumerate(s.leaves):
                if is_array(x):
                    row.append(len(self.outputs))
                    self.outputs.append(x)
                    self.types.append(type_of(x))
                    if isinstance(x, Tracer) and x.owner is owner:
                        s.leaves[i] = _Inside()
                else:
                    row.append(None)
            self.places.append(row)

    def note(self, again: dict[int, tuple[Any, Any]]) -> None:
        """Remember which arrays inside stood for which that can be written into."""
        for old, new in again.values():
            self.origins[id(old)] = self.origins[id(new)] = (old, new)

    def origin(self, x: Any) -> Any:
        """The array from before the block that `x` is, or None."""
        return self.origins.get(id(x), (None,))[0]


def joined(a: Outcome, b: Outcome, x: Any, y: Any, value: Any) -> Any:
    """What a leaf that is `x` after one branch and `y` after the other is after both."""
    old = a.origin(x)
    if old is not None and old is b.origin(y):
        return old.__numlift_become__(old.__numlift_again__(value))
    for leaf in (x, y):
        again = getattr(type(leaf), "__numlift_again__", None)
        if again is not None:
            return again(leaf, value)
    return value


class _Inside:
    """Stands for a value that exists only inside a trace."""


class Merged:
    """One variable after two branches: leaves that are fixed, and which outputs to select."""

    def __init__(
        self,
        tree: Any,
        leaves: list[Any],
        chosen: list[tuple[int, int, int, ArrayType]],
        others: list[Any],
    ):
        self.tree, self.leaves, self.chosen, self.others = tree, leaves, chosen, others


def merge(
    name: str, a: Outcome, b: Outcome, i: int, label: str, left: tuple[str, str]
) -> Merged | Undefined | None:
    """How variable number `i` comes out of two branches; None if it is the same object in both.

    Args:
        left: how each branch ends: ``return``, another ``jump``, or empty. After a return no
            variable is read, and after a jump none that has no value yet: zeros stand for them.
    """
    x, y = a.shared[i], b.shared[i]
    if x.value is y.value and not _holds_new(x) and not _holds_new(y):
        return None
    plan = _plan(name, a, b, i, label)
    if isinstance(plan, Undefined):
        internal = name.startswith("_nl_")
        for mine, other, gone in ((x, b, left[0]), (y, a, left[1])):
            unset = isinstance(mine.value, Undefined) and mine.value.reason is None
            if isinstance(other.shared[i].value, Undefined):
                continue
            if unset and (internal or gone) or (gone == "return" and not internal):
                return _filled(other, i, other is a)
    return plan


def _plan(name: str, a: Outcome, b: Outcome, i: int, label: str) -> Merged | Undefined:
    x, y = a.shared[i], b.shared[i]
    for mine, other in ((x, y), (y, x)):
        if isinstance(mine.value, Undefined):
            if mine.value.reason:
                return mine.value
            if isinstance(other.value, Undefined):
                return other.value
            return Undefined(
                name,
                f"variable {name!r} is assigned in only one branch of the {label}",
                f"give {name} a value before the {label}, or in both branches",
            )
    if x.tree != y.tree:
        return _conflict(name, x.describe(), y.describe(), label)
    leaves, chosen = [], []
    for k, (p, q) in enumerate(zip(x.leaves, y.leaves, strict=True)):
        leaves.append(p)
        if same(p, q):
            continue
        u, v = a.places[i][k], b.places[i][k]
        if u is None or v is None:
            return _conflict(name, _leaf(p, a, u), _leaf(q, b, v), label)
        t = common(a.types[u], b.types[v])
        if t is None:
            return _conflict(name, repr(a.types[u]), repr(b.types[v]), label)
        chosen.append((k, u, v, t))
    return Merged(x.tree, leaves, chosen, y.leaves)


def _holds_new(s: Shared) -> bool:
    return any(isinstance(x, _Inside) for x in s.leaves)


def _leaf(x: Any, o: Outcome, place: int | None) -> str:
    return describe_leaf(x) if place is None else repr(o.types[place])


def _filled(there: Outcome, i: int, first: bool) -> Merged:
    """A variable that has its value from one branch; the other side is never read."""
    s = there.shared[i]
    chosen = []
    for k, place in enumerate(there.places[i]):
        if place is not None:
            u, v = (place, -1) if first else (-1, place)
            chosen.append((k, u, v, there.types[place]))
    return Merged(s.tree, list(s.leaves), chosen, s.leaves)


def _conflict(name: str, x: str, y: str, label: str) -> Undefined:
    what = f"variable {name!r}" if name else "the value"
    if name.startswith("_nl_"):
        what = "the result of the function"
    return Undefined(
        name,
        f"{what} is {x} after one branch of the {label} and {y} after the other",
        "give both branches values of one shape and dtype, for example x.astype(...)",
    )


def pick(outcome: Outcome, outs: list[Any], place: int, t: ArrayType) -> Any:
    """An output of a branch as a value of the common type."""
    return zeros(t) if place < 0 else fits(outs[place], t)
