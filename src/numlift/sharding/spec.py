"""PartitionSpec: which mesh axes split which dimension of an array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import ArgumentError, ShardingError, explain


class _Unconstrained:
    """The entry that leaves a dimension to the compiler. One instance: `UNCONSTRAINED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"

    def __copy__(self) -> _Unconstrained:
        return self

    def __deepcopy__(self, memo: dict) -> _Unconstrained:
        return self


UNCONSTRAINED = _Unconstrained()

Entry = None | str | tuple[str, ...] | _Unconstrained


def _entry(entry: Any) -> Entry:
    """An entry in its one form: a tuple of one name is the name, of none is None."""
    if entry is None or isinstance(entry, str) or entry is UNCONSTRAINED:
        return entry
    if isinstance(entry, (tuple, list)) and all(isinstance(n, str) for n in entry):
        if len(entry) > 1:
            return tuple(entry)
        return entry[0] if entry else None
    raise ArgumentError(
        explain(
            "PartitionSpec",
            f"entries are None, mesh axis names, tuples of names or P.UNCONSTRAINED, got {entry!r}",
            try_='P("x", None, ("y", "z"))',
        )
    )


def _name_set(what: str, names: Any) -> frozenset[str]:
    found = frozenset({names} if isinstance(names, str) else names)
    for name in found:
        if not isinstance(name, str):
            raise ArgumentError(
                explain(
                    "PartitionSpec",
                    f"{what} holds mesh axis names, got {name!r}",
                    try_=f'{what}={{"x"}}',
                )
            )
    return found


class PartitionSpec:
    """How the dimensions of an array are split over the axes of a mesh. Short name: `P`.

    Entry `i` says how dimension `i` is split: None not at all, `"x"` over mesh axis x,
    `("x", "y")` over both (x is the major one), `P.UNCONSTRAINED` as the compiler likes. Missing
    entries at the end mean None.

    Args:
        *partitions: one entry for each dimension.
        unreduced: mesh axes over which the array is a sum that has not been added up yet.
        reduced: mesh axes over which the cotangent will be unreduced.

    A spec behaves like a tuple of its entries and compares equal to one.

    Example:
        >>> P("x", None, ("y", "z"))
        P('x', None, ('y', 'z'))
        >>> P("x").padded(3)
        ('x', None, None)
    """

    __slots__ = ("_entries", "_hash", "reduced", "unreduced")

    UNCONSTRAINED = UNCONSTRAINED

    _entries: tuple[Entry, ...]
    unreduced: frozenset[str]
    reduced: frozenset[str]

    def __init__(
        self, *partitions: Any, unreduced: Iterable[str] = (), reduced: Iterable[str] = ()
    ) -> None:
        self._entries = tuple([_entry(p) for p in partitions])
        self.unreduced = _name_set("unreduced", unreduced)
        self.reduced = _name_set("reduced", reduced)
        plain = not self.unreduced and not self.reduced  # then it hashes like the equal tuple
        self._hash = hash(self._entries if plain else (self._entries, self.unreduced, self.reduced))
        self._check_repeats()

    def _check_repeats(self) -> None:
        seen: set[str] = set()
        for name in [*self.axes(), *self.unreduced, *self.reduced]:
            if name in seen:
                raise ShardingError(
                    explain(
                        "PartitionSpec",
                        f"mesh axis {name!r} is used twice; an axis splits one dimension",
                        {"spec": self},
                        try_=f"{name!r} in one entry only",
                    )
                )
            seen.add(name)

    def axes(self) -> tuple[str, ...]:
        """All mesh axes that split a dimension, in the order of the dimensions."""
        found: list[str] = []
        for entry in self._entries:
            if isinstance(entry, str):
                found.append(entry)
            elif isinstance(entry, tuple):
                found.extend(entry)
        return tuple(found)

    def padded(self, ndim: int) -> tuple[Any, ...]:
        """The entries as a tuple of length `ndim`: None for the missing ones.

        Raises:
            ShardingError: there are more entries than dimensions.
        """
        missing = ndim - len(self._entries)
        if missing < 0:
            raise ShardingError(
                explain(
                    "PartitionSpec",
                    f"{len(self._entries)} entries for an array of {ndim} dimensions",
                    {"spec": self},
                    try_=f"at most {ndim} entries: P({', '.join(map(repr, self[:ndim]))})",
                )
            )
        return self._entries + (None,) * missing

    @property
    def partitions(self) -> tuple[Any, ...]:
        """The entries as a tuple."""
        return self._entries

    def update(self, **changes: Any) -> PartitionSpec:
        """The spec with some of partitions, unreduced and reduced replaced."""
        return PartitionSpec(
            *changes.get("partitions", self._entries),
            unreduced=changes.get("unreduced", self.unreduced),
            reduced=changes.get("reduced", self.reduced),
        )

    def index(self, value: Any) -> int:
        """Position of the first entry equal to `value`."""
        return self._entries.index(_entry(value))

    def count(self, value: Any) -> int:
        """Number of entries equal to `value`."""
        return self._entries.count(_entry(value))

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries)

    def __getitem__(self, index: Any) -> Any:
        return self._entries[index]

    def __contains__(self, value: Any) -> bool:
        return value in self._entries

    def __add__(self, other: Any) -> PartitionSpec:
        if isinstance(other, PartitionSpec):
            return PartitionSpec(
                *self._entries,
                *other._entries,
                unreduced=self.unreduced | other.unreduced,
                reduced=self.reduced | other.reduced,
            )
        if isinstance(other, tuple):
            return self.update(partitions=self._entries + other)
        return NotImplemented

    def __radd__(self, other: Any) -> PartitionSpec:
        if isinstance(other, tuple):
            return self.update(partitions=other + self._entries)
        return NotImplemented

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, PartitionSpec):
            return (
                self._hash == other._hash
                and self._entries == other._entries
                and self.unreduced == other.unreduced
                and self.reduced == other.reduced
            )
        if isinstance(other, tuple) and not self.unreduced and not self.reduced:
            try:
                return self._entries == tuple([_entry(e) for e in other])
            except ArgumentError:
                return False
        return NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        parts = [repr(e) for e in self._entries]
        for name in ("unreduced", "reduced"):
            axes = getattr(self, name)
            if axes:
                parts.append(f"{name}={{{', '.join(map(repr, sorted(axes)))}}}")
        return f"P({', '.join(parts)})"

    def __reduce__(self):
        return _rebuild, (self._entries, self.unreduced, self.reduced)


def _rebuild(
    entries: tuple[Any, ...], unreduced: frozenset[str], reduced: frozenset[str]
) -> PartitionSpec:
    return PartitionSpec(*entries, unreduced=unreduced, reduced=reduced)


P = PartitionSpec
