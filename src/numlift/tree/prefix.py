"""Prefixes of trees, and messages that show where two structures part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import TreeError, explain
from .nodes import PyTreeDef, child_keys, raw_flatten, registry

IsLeaf = Callable[..., bool] | None


def _path_text(name: str, path: tuple[Any, ...]) -> str:
    return name + "".join(str(key) for key in path)


def _is_namedtuple(kind: type) -> bool:
    return issubclass(kind, tuple) and kind is not tuple and hasattr(kind, "_fields")


def _describe(data: tuple[type, Any] | None, count: int) -> str:
    """A node in words: ``a tuple of length 2``, ``a dict with keys ['a']``, ``a leaf``."""
    if data is None:
        return "a leaf"
    kind, aux = data
    if kind is type(None):
        return "None"
    if kind is tuple or kind is list:
        return f"a {kind.__name__} of length {count}"
    if kind is dict:
        return f"a dict with keys {list(aux)}"
    if _is_namedtuple(kind):
        return f"a {kind.__name__}"
    return f"a {kind.__name__} with {count} children and static data {aux!r}"


def _same_node(a: tuple[type, Any] | None, b: tuple[type, Any] | None) -> bool:
    if a is None or b is None:
        return a is b
    return a[0] is b[0] and bool(a[1] == b[1])


def _key_difference(a: Any, b: Any) -> str:
    if a is None or b is None or a[0] is not dict or b[0] is not dict:
        return ""
    missing = [k for k in a[1] if k not in b[1]]
    extra = [k for k in b[1] if k not in a[1]]
    parts = [f"missing {missing}"] if missing else []
    parts += [f"unexpected {extra}"] if extra else []
    return f" ({', '.join(parts)})"


def _as_treedef(x: Any) -> PyTreeDef:
    return x if isinstance(x, PyTreeDef) else raw_flatten(x)[1]


def explain_structure_mismatch(a: Any, b: Any, name_a: str, name_b: str) -> str | None:
    """Where and how the structures of two trees differ, or None if they are equal.

    Args:
        a: a tree or its `PyTreeDef`.
        b: another one.
        name_a: what the message calls the first.
        name_b: what it calls the second.

    Returns:
        One sentence about the first place, depth first, where the nodes differ; or None.

    Example:
        >>> from numlift import tree
        >>> tree.explain_structure_mismatch({"w": (1, 2)}, {"w": [1, 2]}, "carry in", "carry out")
        "carry in['w'] is a tuple of length 2, carry out['w'] is a list of length 2"
    """
    def_a, def_b = _as_treedef(a), _as_treedef(b)
    if def_a == def_b:
        return None
    path: tuple[Any, ...] = ()
    while True:
        data_a, data_b = def_a.node_data(), def_b.node_data()
        kids_a, kids_b = def_a.children(), def_b.children()
        pairs = zip(child_keys(def_a), kids_a, kids_b, strict=False)
        below = next(((k, x, y) for k, x, y in pairs if x != y), None)
        if not _same_node(data_a, data_b) or len(kids_a) != len(kids_b) or below is None:
            return (
                f"{_path_text(name_a, path)} is {_describe(data_a, len(kids_a))}, "
                f"{_path_text(name_b, path)} is {_describe(data_b, len(kids_b))}"
                + _key_difference(data_a, data_b)
            )
        path, def_a, def_b = (*path, below[0]), below[1], below[2]


class _Walk:
    """One walk over a prefix (values) and a full structure (treedef) side by side."""

    __slots__ = ("errors", "is_leaf", "leaves", "names")

    def __init__(self, is_leaf: IsLeaf, prefix_name: str, full_name: str) -> None:
        self.leaves: list[Any] = []
        self.errors: list[str] = []
        self.is_leaf = is_leaf
        self.names = (prefix_name, full_name)

    def visit(self, prefix: Any, full: PyTreeDef, path: tuple[Any, ...]) -> None:
        one = None
        if self.is_leaf is None or not self.is_leaf(prefix):
            one = registry.flatten_one_level(prefix)
        if one is None:
            self.leaves += [prefix] * full.num_leaves
            return
        kind = type(prefix)
        kids, aux = list(one[0]), one[1]
        if kind is dict:
            aux = list(aux)
        elif _is_namedtuple(kind) and aux is kind:
            aux = None
        data, children = full.node_data(), full.children()
        if not _same_node((kind, aux), data) or len(kids) != len(children):
            self.errors.append(
                f"{_path_text(self.names[0], path)} is {_describe((kind, aux), len(kids))}, "
                f"{_path_text(self.names[1], path)} is {_describe(data, len(children))}"
                + _key_difference((kind, aux), data)
            )
            return
        for key, kid, child in zip(child_keys(full), kids, children, strict=True):
            self.visit(kid, child, (*path, key))


def prefix_errors(
    prefix_tree: Any,
    full_tree: Any,
    is_leaf: IsLeaf = None,
    prefix_name: str = "prefix",
    full_name: str = "tree",
) -> list[str]:
    """Every place where a tree is not a prefix of another one, in words; empty if it is.

    Args:
        prefix_tree: tree with leaves where `full_tree` may have subtrees.
        full_tree: a tree or its `PyTreeDef`.
        is_leaf: ``node of prefix_tree -> bool``.
        prefix_name: what the messages call the prefix.
        full_name: what they call the full tree.

    Returns:
        One sentence for each place; what is below such a place is not compared.

    Example:
        >>> from numlift import tree
        >>> tree.prefix_errors((0, None), (1, 2), None, "in_axes", "args")
        ['in_axes[1] is None, args[1] is a leaf']
    """
    walk = _Walk(is_leaf, prefix_name, full_name)
    walk.visit(prefix_tree, _as_treedef(full_tree), ())
    return walk.errors


def broadcast_prefix(
    prefix_tree: Any,
    full_tree: Any,
    is_leaf: IsLeaf = None,
    function: str = "broadcast_prefix",
    prefix_name: str = "prefix",
    full_name: str = "tree",
) -> list[Any]:
    """One value for each leaf of `full_tree`: the leaf of the prefix above it.

    Args:
        prefix_tree: tree with leaves where `full_tree` may have subtrees.
        full_tree: a tree or its `PyTreeDef`.
        is_leaf: ``node of prefix_tree -> bool``; use ``lambda x: x is None`` where None is a value.
        function: named in the error message.
        prefix_name: what the message calls the prefix.
        full_name: what it calls the full tree.

    Returns:
        A list in the order of ``leaves(full_tree)``; a value of the prefix is repeated, not copied.

    Raises:
        TreeError: `prefix_tree` is no prefix; the message shows where.

    Example:
        >>> from numlift import tree
        >>> tree.broadcast_prefix((0, 1), ([5, 6], {"a": 7}))
        [0, 0, 1]
    """
    walk = _Walk(is_leaf, prefix_name, full_name)
    walk.visit(prefix_tree, _as_treedef(full_tree), ())
    if walk.errors:
        raise TreeError(
            explain(
                function,
                f"{prefix_name} is not a prefix of {full_name}: " + "; ".join(walk.errors[:3]),
                {prefix_name: prefix_tree},
                try_=f"one value for all of {full_name}, or the same containers as in {full_name}",
            )
        )
    return walk.leaves


def _is_none(x: Any) -> bool:
    return x is None


def flatten_axes(
    function: str,
    treedef: PyTreeDef,
    axis_tree: Any,
    prefix_name: str = "in_axes",
    full_name: str = "args",
) -> list[Any]:
    """One axis for each leaf of a structure, from a prefix tree in which None is a value.

    Args:
        function: named in the error message.
        treedef: the structure.
        axis_tree: prefix of it: axes and None, such as ``(0, None)`` or ``{"w": 0, "b": None}``.
        prefix_name: what the message calls the axes.
        full_name: what it calls the structure.

    Returns:
        A list in the order of the leaves, of axes and None.

    Raises:
        TreeError: `axis_tree` is no prefix of the structure.

    Example:
        >>> from numlift import tree
        >>> tree.flatten_axes("vmap", tree.structure((1, [2, 3])), (0, None))
        [0, None, None]
    """
    if axis_tree is None or type(axis_tree) is int:
        return [axis_tree] * treedef.num_leaves
    return broadcast_prefix(axis_tree, treedef, _is_none, function, prefix_name, full_name)
