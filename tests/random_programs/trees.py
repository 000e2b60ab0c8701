"""Types of values, and trees of tuples, lists and dictionaries, without any help from Numlift."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Leaf:
    """An array of the program: `kind` is "float" (the dtype under test), "int" or "bool"."""

    shape: tuple[int, ...]
    kind: str = "float"

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for n in self.shape:
            count *= n
        return count


@dataclass(frozen=True)
class Ref:
    """A leaf of a variable: `t3["a"][0]` is Ref("t3", ("a", 0))."""

    name: str
    path: tuple[Any, ...] = ()

    @property
    def text(self) -> str:
        """The expression in source code."""
        return self.name + "".join(f"[{p!r}]" for p in self.path)


def is_container(tree: Any) -> bool:
    """Whether `tree` is an inner node."""
    return isinstance(tree, (tuple, list, dict))


def children(tree: Any) -> list[tuple[Any, Any]]:
    """(key, child) pairs in the order of leaves: dictionaries by sorted key."""
    if isinstance(tree, dict):
        return [(k, tree[k]) for k in sorted(tree)]
    return list(enumerate(tree))


def rebuild(tree: Any, values: list[Any]) -> Any:
    """A container like `tree` around new children."""
    if isinstance(tree, dict):
        return dict(zip(sorted(tree), values, strict=True))
    return type(tree)(values)


def tree_map(f: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Apply `f` to the leaves of trees of one structure."""
    if is_container(tree):
        inner = [tree_map(f, child, *(o[k] for o in others)) for k, child in children(tree)]
        return rebuild(tree, inner)
    return f(tree, *others)


def leaves(tree: Any) -> list[Any]:
    """Leaves from left to right."""
    if is_container(tree):
        return [leaf for _, child in children(tree) for leaf in leaves(child)]
    return [tree]


def unflatten(tree: Any, values: list[Any]) -> Any:
    """A tree like `tree` with `values` as leaves."""
    remaining = iter(values)
    return tree_map(lambda _: next(remaining), tree)


def structure(tree: Any) -> Any:
    """The tree with nothing at its leaves: equal if and only if the structures are."""
    if is_container(tree):
        inner = [(k, structure(child)) for k, child in children(tree)]
        return (type(tree).__name__, tuple(inner))
    return None


def paths(tree: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of each leaf."""
    if is_container(tree):
        return [p for key, child in children(tree) for p in paths(child, (*prefix, key))]
    return [prefix]


def text(tree: Any, leaf: Callable[[Any], str]) -> str:
    """The tree as source code."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{k!r}: {text(tree[k], leaf)}" for k in sorted(tree)) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(text(c, leaf) for c in tree) + "]"
    if isinstance(tree, tuple):
        return "(" + "".join(text(c, leaf) + ", " for c in tree).rstrip(" ") + ")"
    return leaf(tree)


def all_floats(tree: Any) -> bool:
    """Whether every leaf of a tree of types is a float."""
    return all(leaf.kind == "float" for leaf in leaves(tree))
