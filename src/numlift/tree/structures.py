"""Questions about one structure or one node: its children, whether it is a leaf."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

from ..errors import ArgumentError, TreeError, explain
from .functions import IsLeaf, tree_leaves
from .nodes import GetAttrKey, PyTreeDef, _pytree, registry


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether the structure is that of a single leaf (None is a node, not a leaf).

    Args:
        treedef: a structure.

    Returns:
        A Python bool. Asks about a structure; `is_leaf` and `all_leaves` ask about values.

    Example:
        >>> from numlift import tree
        >>> tree.treedef_is_leaf(tree.structure(1)), tree.treedef_is_leaf(tree.structure((1,)))
        (True, False)
    """
    return treedef.num_nodes == 1 and treedef.num_leaves == 1


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """Structures of the children of the root.

    Args:
        treedef: a structure.

    Returns:
        One structure for each child, in the order of the leaves; empty for a leaf and for None.

    Example:
        >>> from numlift import tree
        >>> tree.treedef_children(tree.structure((1, [2])))
        [PyTreeDef(*), PyTreeDef([*])]
    """
    return treedef.children()


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """Structure of a tuple of trees with these structures.

    Args:
        treedefs: structures of the items.

    Returns:
        The structure of ``(tree0, tree1, ...)``, made without any of the trees.

    Raises:
        ArgumentError: an item is no structure.

    Example:
        >>> from numlift import tree
        >>> tree.treedef_tuple([tree.structure(1), tree.structure([2])])
        PyTreeDef((*, [*]))
    """
    defs = list(treedefs)
    wrong = next((d for d in defs if not isinstance(d, PyTreeDef)), None)
    if wrong is not None:
        raise ArgumentError(
            explain("treedef_tuple", "every item must be a structure (PyTreeDef), not a "
                    f"{type(wrong).__name__}", try_="treedef_tuple([tree_structure(tree), ...])")
        )  # fmt: skip
    return _pytree.treedef_tuple(registry, defs)


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether none of the items is a container (or all are leaves by `is_leaf`).

    Args:
        iterable: any objects; it is consumed.
        is_leaf: ``item -> bool``; an item for which it holds counts as a leaf.

    Returns:
        A Python bool; True for no items. None counts as a container.

    Example:
        >>> from numlift import tree
        >>> tree.all_leaves([1, "x"]), tree.all_leaves([1, (2,)])
        (True, False)
    """
    if is_leaf is None:
        return _pytree.all_leaves(registry, iterable)
    items = list(iterable)
    leaves = tree_leaves(items, is_leaf)
    return len(items) == len(leaves) and builtins.all(
        a is b for a, b in zip(items, leaves, strict=True)
    )


def is_tree_node(kind: type) -> bool:
    """Whether instances of this class are containers (namedtuples and None included).

    Args:
        kind: a class, not an instance.

    Returns:
        A Python bool. Subclasses of containers are leaves, unless registered, or namedtuples.

    Example:
        >>> from numlift import tree
        >>> tree.is_tree_node(dict), tree.is_tree_node(int)
        (True, False)
    """
    if registry.is_node(kind) or kind is type(None):
        return True
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def flatten_one_level(tree: Any) -> tuple[Any, Any]:
    """Children of a container and what else it holds, without going into the children.

    Args:
        tree: a container; not a leaf.

    Returns:
        ``(children, data)``: an iterable of the children in the order of the leaves, and what
        rebuilds the node beside them (the sorted keys of a dict, the static data of a registered
        class).

    Raises:
        TreeError: `tree` is a leaf.

    Example:
        >>> from numlift import tree
        >>> tree.flatten_one_level({"b": 1, "a": (2, 3)})
        (((2, 3), 1), ('a', 'b'))
    """
    found = registry.flatten_one_level(tree)
    if found is None:
        raise _not_a_container("flatten_one_level", tree)
    return found


def flatten_one_level_with_keys(tree: Any) -> tuple[Any, Any]:
    """As `flatten_one_level`, with pairs (key, child).

    Args:
        tree: a container; not a leaf.

    Returns:
        ``(pairs, data)``: a list of the pairs, and the data that `flatten_one_level` gives.

    Raises:
        TreeError: `tree` is a leaf.

    Example:
        >>> from numlift import tree
        >>> tree.flatten_one_level_with_keys([5, 6])[0]
        [(SequenceKey(idx=0), 5), (SequenceKey(idx=1), 6)]
    """
    found = registry.flatten_one_level_with_keys(tree)
    if found is None:
        raise _not_a_container("flatten_one_level_with_keys", tree)
    pairs, data = found
    fields = getattr(tree, "_fields", None) if isinstance(tree, tuple) else None
    if fields is not None:  # jaxlib names every child of a namedtuple after the first field
        pairs = zip(map(GetAttrKey, fields), tree, strict=True)
    return list(pairs), data


def _not_a_container(function: str, tree: Any) -> TreeError:
    return TreeError(
        f"{function}: a {type(tree).__name__} is a leaf, which has no children\n"
        "Try: numlift.tree.is_leaf(x) first"
    )


def is_leaf(x: Any) -> bool:
    """Whether a value is a leaf: not a container and not None.

    Args:
        x: any object.

    Returns:
        A Python bool. A class that is not registered is a leaf, whatever it holds.

    Example:
        >>> from numlift import tree
        >>> tree.is_leaf(1.0), tree.is_leaf([1.0]), tree.is_leaf(None)
        (True, False, False)
    """
    return _pytree.all_leaves(registry, (x,))
