"""Functions on trees: flatten, map, reduce, transpose, with and without paths."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import ArgumentError, TreeError, ValueArgumentError, explain
from .nodes import KeyPath, PyTreeDef, SequenceKey, _pytree, raw_flatten, registry
from .prefix import broadcast_prefix, explain_structure_mismatch, prefix_errors

IsLeaf = Callable[..., bool] | None
_MISSING: Any = object()


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Leaves of a tree, depth first, and its structure.

    Dict keys are visited in sorted order; None is a node without leaves.

    Args:
        tree: any nesting of tuples, lists, dicts, namedtuples and registered classes.
        is_leaf: ``node -> bool``; where it holds, the node is a leaf.

    Returns:
        ``(leaves, treedef)``; ``treedef.unflatten(leaves)`` rebuilds the tree.

    Raises:
        TreeError: the keys of a dict cannot be sorted.

    Example:
        >>> from numlift import tree
        >>> tree.flatten({"b": (2, 3), "a": 1, "c": None})
        ([1, 2, 3], PyTreeDef({'a': *, 'b': (*, *), 'c': None}))
    """
    try:
        return raw_flatten(tree, is_leaf)
    except ValueError as error:
        better = _unsortable(tree, is_leaf)
        if better is None:
            raise
        raise better from error
    except TypeError as error:
        if is_leaf is None or callable(is_leaf):
            raise
        raise ArgumentError(
            explain(
                "tree_flatten",
                "is_leaf must be callable",
                {"is_leaf": is_leaf},
                try_="is_leaf=lambda x: x is None",
            )
        ) from error


def _unsortable(tree: Any, is_leaf: IsLeaf) -> TreeError | None:
    """The error with the path of the first dict whose keys do not compare, if there is one."""

    def search(node: Any, path: KeyPath) -> tuple[KeyPath, dict[Any, Any]] | None:
        if is_leaf is not None and is_leaf(node):
            return None
        if type(node) is dict:
            try:
                items: Any = [(_pytree.DictKey(k), node[k]) for k in sorted(node)]
            except Exception:
                return path, node
        else:
            one = registry.flatten_one_level(node)
            items = [] if one is None else [(SequenceKey(i), c) for i, c in enumerate(one[0])]
        for key, child in items:
            found = search(child, (*path, key))
            if found is not None:
                return found
        return None

    found = search(tree, ())
    if found is None:
        return None
    path, node = found
    kinds = sorted({type(k).__name__ for k in node})
    return TreeError(
        explain("tree_flatten", f"the keys of the dict at {_where(path)} cannot be sorted "
                f"({', '.join(kinds)})", {"keys": list(node)}, try_="keys of one type")
    )  # fmt: skip


def _where(path: KeyPath) -> str:
    return f"tree{keystr(path)}"


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree with this structure and these leaves: the inverse of `tree_flatten`.

    Args:
        treedef: the structure.
        leaves: as many objects as it has leaves, of any kind; an iterable is consumed.

    Returns:
        The tree: new containers around the given objects.

    Raises:
        ArgumentError: `treedef` is no structure.
        TreeError: the number of leaves is not that of the structure.

    Example:
        >>> from numlift import tree
        >>> tree.unflatten(tree.structure({"a": 0, "b": [0]}), [1, 2])
        {'a': 1, 'b': [2]}
    """
    if not isinstance(treedef, PyTreeDef):
        raise ArgumentError(
            explain(
                "tree_unflatten",
                f"the first argument must be a structure (PyTreeDef), not a "
                f"{type(treedef).__name__}",
                try_="tree_unflatten(tree_structure(tree), leaves)",
            )
        )
    if not isinstance(leaves, (list, tuple)):
        leaves = list(leaves)
    if len(leaves) != treedef.num_leaves:
        raise TreeError(
            explain(
                "tree_unflatten",
                f"the structure has {treedef.num_leaves} leaves, {len(leaves)} are given",
                {"treedef": treedef},
                try_="the leaves that tree_flatten gave, one for each *",
            )
        )
    return treedef.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Leaves of a tree, depth first.

    Args:
        tree: any tree.
        is_leaf: ``node -> bool``; where it holds, the node is a leaf.

    Returns:
        A new list; None and empty containers have no leaves.

    Example:
        >>> from numlift import tree
        >>> tree.leaves([1, (2, None), {"x": 3}])
        [1, 2, 3]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """Structure of a tree: hashable, comparable, and printable.

    Args:
        tree: any tree; its leaves are not kept.
        is_leaf: ``node -> bool``; where it holds, the node is a leaf.

    Returns:
        The `PyTreeDef`.

    Example:
        >>> from numlift import tree
        >>> tree.structure((1, [2]))
        PyTreeDef((*, [*]))
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """The tree of ``f(x, *ys)`` for each leaf x and what is in its place in the other trees.

    Args:
        f: function of as many arguments as there are trees.
        tree: decides the structure of the result.
        *rest: trees with the same structure, or with subtrees where `tree` has leaves.
        is_leaf: ``node of tree -> bool``.

    Returns:
        A tree with the structure of `tree`, of whatever `f` returns. None is a node without leaves,
        so `f` is not called on it: use ``is_leaf=lambda x: x is None`` where None is a value.

    Raises:
        ArgumentError: `f` is no function.
        TreeError: a tree of `rest` has another structure; the message shows where.

    Example:
        >>> from numlift import tree
        >>> tree.map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
        {'a': 11, 'b': (22, 33)}
    """
    if not callable(f):
        raise ArgumentError(
            explain(
                "tree_map",
                f"the first argument must be a function, not a {type(f).__name__}",
                try_="tree_map(lambda x: ..., tree)",
            )
        )
    leaves, treedef = tree_flatten(tree, is_leaf)
    if not rest:
        return treedef.unflatten(builtins.map(f, leaves))
    others = [_flatten_up_to("tree_map", i, tree, treedef, r, is_leaf) for i, r in enumerate(rest)]
    return treedef.unflatten(builtins.map(f, leaves, *others))


def _flatten_up_to(
    function: str, i: int, tree: Any, treedef: PyTreeDef, other: Any, is_leaf: IsLeaf
) -> list[Any]:
    try:
        return treedef.flatten_up_to(other)
    except ValueError as error:
        found = prefix_errors(tree, other, is_leaf, "tree", f"rest[{i}]")
        if not found:
            raise
        raise TreeError(
            explain(function, found[0], try_="trees of one structure, or is_leaf=... to stop above")
        ) from error


def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _MISSING,
    is_leaf: IsLeaf = None,
) -> Any:
    """``function(... function(function(initializer, x0), x1) ..., xn)`` over the leaves.

    Args:
        function: ``(what the leaves before gave, leaf) -> value``.
        tree: its leaves are taken depth first.
        initializer: value before the first leaf; without it, that is the first leaf.
        is_leaf: ``node -> bool``; where it holds, the node is a leaf.

    Returns:
        The last value of `function`; `initializer` itself for a tree without leaves.

    Raises:
        ArgumentError: no leaves and no initializer.

    Example:
        >>> from numlift import tree
        >>> tree.reduce(lambda a, b: a + b, [1, (2, 3)])
        6
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is not _MISSING:
        return functools.reduce(function, leaves, initializer)
    if not leaves:
        raise ArgumentError(
            explain("tree_reduce", "the tree has no leaves and there is no initializer",
                    {"tree": tree}, try_="tree_reduce(function, tree, 0)")
        )  # fmt: skip
    return functools.reduce(function, leaves)


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _MISSING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Reduction of the leaves in a balanced order, for an associative operation.

    Args:
        operation: associative function of two values.
        tree: its leaves are reduced, neighbours first.
        identity: result for a tree without leaves.
        is_leaf: ``node -> bool``; where it holds, the node is a leaf.

    Returns:
        The value of the last `operation`, about log2(n) calls deep for n leaves: rounding errors
        grow less than in the chain of `tree_reduce`, and halves may run side by side.

    Raises:
        ArgumentError: no leaves and no identity.

    Example:
        >>> from numlift import tree
        >>> tree.reduce_associative(lambda a, b: a + b, [1, 2, {"x": 3}], identity=0)
        6
    """
    values = tree_leaves(tree, is_leaf)
    if not values:
        if identity is _MISSING:
            raise ArgumentError(
                explain("tree_reduce_associative", "the tree has no leaves and no identity is set",
                        {"tree": tree}, try_="identity=0")
            )  # fmt: skip
        return identity
    while len(values) > 1:
        paired = [operation(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = paired + values[len(paired) * 2 :]
    return values[0]


def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves are true.

    Args:
        tree: its leaves are taken by their truth, as in `bool`.
        is_leaf: ``node -> bool``; where it holds, the node is a leaf.

    Returns:
        A Python bool; True for a tree without leaves. A traced leaf has no truth: reduce arrays
        with `numlift.numpy.logical_and` under `jit`.

    Example:
        >>> from numlift import tree
        >>> tree.all({"a": True, "b": [1, "x"]}), tree.all([True, 0])
        (True, False)
    """
    return builtins.all(tree_leaves(tree, is_leaf))


def tree_transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, tree: Any) -> Any:
    """A tree of trees inside out: the outer structure becomes the inner one.

    Args:
        outer_treedef: structure of the outside of `tree`.
        inner_treedef: structure of each of its leaves; None takes that of the first one.
        tree: has the structure ``outer_treedef.compose(inner_treedef)``.

    Returns:
        A tree with the structure ``inner_treedef.compose(outer_treedef)``.

    Raises:
        TreeError: `tree` has not the composed structure.
        ValueArgumentError: one of the structures has no leaves.

    Example:
        >>> from numlift import tree
        >>> outer, inner = tree.structure([0, 0]), tree.structure({"a": 0})
        >>> tree.transpose(outer, inner, [{"a": 1}, {"a": 2}])
        {'a': [1, 2]}
    """
    leaves, treedef = tree_flatten(tree)
    if inner_treedef is None:
        try:
            parts = outer_treedef.flatten_up_to(tree)
        except ValueError as error:
            rule = explain_structure_mismatch(outer_treedef, treedef, "outer_treedef", "tree")
            raise TreeError(explain("tree_transpose", rule or str(error))) from error
        if not parts:
            raise ValueArgumentError(
                explain("tree_transpose", "an outer structure without leaves tells no inner one",
                        {"outer_treedef": outer_treedef}, try_="give inner_treedef")
            )  # fmt: skip
        inner_treedef = tree_structure(parts[0])
    n_outer, n_inner = outer_treedef.num_leaves, inner_treedef.num_leaves
    if n_outer == 0 or n_inner == 0:
        raise ValueArgumentError(
            explain("tree_transpose", "both structures must have leaves",
                    {"outer_treedef": outer_treedef, "inner_treedef": inner_treedef},
                    try_="leave out the empty one")
        )  # fmt: skip
    expected = outer_treedef.compose(inner_treedef)
    if treedef != expected:
        rule = explain_structure_mismatch(expected, treedef, "outer of inner", "tree")
        raise TreeError(
            explain("tree_transpose", rule or "structures differ",
                    {"outer_treedef": outer_treedef, "inner_treedef": inner_treedef},
                    try_="the structures of the outside and of the inside of the tree")
        )  # fmt: skip
    columns = [outer_treedef.unflatten(leaves[i::n_inner]) for i in range(n_inner)]
    return inner_treedef.unflatten(columns)


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """A tree with the structure of `full_tree` whose leaves are those of a prefix of it, repeated.

    Args:
        prefix_tree: tree with leaves where `full_tree` may have subtrees.
        full_tree: decides the structure.
        is_leaf: ``node of prefix_tree -> bool``.

    Returns:
        New containers; a leaf of `prefix_tree` stands, uncopied, at every leaf below its place.

    Raises:
        TreeError: it is no prefix.

    Example:
        >>> from numlift import tree
        >>> tree.broadcast({"a": 1, "b": 2}, {"a": [0, 0], "b": 0})
        {'a': [1, 1], 'b': 2}
    """
    leaves = broadcast_prefix(prefix_tree, full_tree, is_leaf, "tree_broadcast")
    return tree_structure(full_tree).unflatten(leaves)


def tree_flatten_with_path(
    tree: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Like `tree_flatten`, with the path of each leaf: ``([(path, leaf), ...], treedef)``.

    Args:
        tree: any tree.
        is_leaf: ``node -> bool``, or ``(path, node) -> bool`` if `is_leaf_takes_path`.
        is_leaf_takes_path: whether `is_leaf` is called with the path too.

    Returns:
        The pairs in the order of `tree_leaves`, and the structure. A path is a tuple of keys
        (`DictKey`, `SequenceKey`, `GetAttrKey`, `FlattenedIndexKey`); `keystr` prints it.

    Raises:
        TreeError: the keys of a dict cannot be sorted.

    Example:
        >>> from numlift import tree
        >>> [(tree.keystr(path), x) for path, x in tree.flatten_with_path({"a": [1, 2]})[0]]
        [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    stop: Any = is_leaf
    if is_leaf is not None and not is_leaf_takes_path:
        test = is_leaf

        def stop(path: KeyPath, node: Any) -> bool:
            return test(node)

    try:
        return registry.flatten_with_path(tree, stop)
    except ValueError as error:
        better = _unsortable(tree, None if is_leaf_takes_path else is_leaf)
        if better is None:
            raise
        raise better from error


def tree_leaves_with_path(
    tree: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """``[(path, leaf), ...]`` of a tree.

    Args:
        tree: any tree.
        is_leaf: ``node -> bool``, or ``(path, node) -> bool`` if `is_leaf_takes_path`.
        is_leaf_takes_path: whether `is_leaf` is called with the path too.

    Returns:
        A new list of pairs in the order of `tree_leaves`; the path of a lone leaf is ``()``.

    Example:
        >>> from numlift import tree
        >>> tree.leaves_with_path((5,))
        [((SequenceKey(idx=0),), 5)]
    """
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: IsLeaf = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """Like `tree_map` of ``f(path, x, *ys)``.

    Args:
        f: function of a path (tuple of keys) and as many values as there are trees.
        tree: decides the structure of the result.
        *rest: trees with the same structure, or with subtrees where `tree` has leaves.
        is_leaf: ``node -> bool``, or ``(path, node) -> bool`` if `is_leaf_takes_path`.
        is_leaf_takes_path: whether `is_leaf` is called with the path too.

    Returns:
        A tree with the structure of `tree`, of whatever `f` returns.

    Raises:
        TreeError: a tree of `rest` has another structure; the message shows where.

    Example:
        >>> from numlift import tree
        >>> tree.map_with_path(lambda path, x: tree.keystr(path) + f"={x}", {"a": (1, 2)})
        {'a': ("['a'][0]=1", "['a'][1]=2")}
    """
    keyed, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    paths, leaves = [p for p, _ in keyed], [x for _, x in keyed]
    others = []
    for i, other in enumerate(rest):
        stop = None if is_leaf_takes_path else is_leaf
        others.append(_flatten_up_to("tree_map_with_path", i, tree, treedef, other, stop))
    return treedef.unflatten(builtins.map(f, paths, leaves, *others))


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """A path as text: ``['a'][0].b``; with `simple`, only the names: ``a``, ``0``, ``b``.

    Args:
        keys: a path, as `tree_flatten_with_path` gives it.
        simple: only the key, index or name of each step.
        separator: text between the steps.

    Returns:
        The text; empty for the root.

    Example:
        >>> from numlift import tree
        >>> path = tree.leaves_with_path({"a": [1]})[0][0]
        >>> tree.keystr(path), tree.keystr(path, simple=True, separator="/")
        ("['a'][0]", 'a/0')
    """
    return separator.join(_simple(key) if simple else str(key) for key in keys)


def _simple(key: Any) -> str:
    for name in ("key", "idx", "name"):
        if hasattr(key, name):
            return str(getattr(key, name))
    return str(key)
