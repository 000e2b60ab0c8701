"""Trees of containers (pytrees): what nested tuples, lists, dicts and classes have in common.

The short names (`map`, `flatten`, `leaves` ...) are those of `jax.tree`; the long ones
(`tree_map`, `register_pytree_node` ...) are those of `jax.tree_util`. Hot paths inside the package
use `raw_flatten`, the bare C++ method: positional arguments only, and none of our messages.
"""

from __future__ import annotations

from .functions import (
    keystr,
    tree_all,
    tree_broadcast,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_with_path,
    tree_reduce,
    tree_reduce_associative,
    tree_structure,
    tree_transpose,
    tree_unflatten,
)
from .nodes import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    Partial,
    PyTreeDef,
    SequenceKey,
    child_keys,
    default_registry,
    raw_flatten,  # for the package, not public
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
    registry,
    static,
)
from .prefix import broadcast_prefix, explain_structure_mismatch, flatten_axes, prefix_errors
from .structures import (
    all_leaves,
    flatten_one_level,
    flatten_one_level_with_keys,
    is_leaf,
    is_tree_node,
    treedef_children,
    treedef_is_leaf,
    treedef_tuple,
)

all = tree_all
broadcast = tree_broadcast
flatten = tree_flatten
flatten_with_path = tree_flatten_with_path
leaves = tree_leaves
leaves_with_path = tree_leaves_with_path
map = tree_map
map_with_path = tree_map_with_path
reduce = tree_reduce
reduce_associative = tree_reduce_associative
structure = tree_structure
transpose = tree_transpose
unflatten = tree_unflatten

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all",
    "all_leaves",
    "broadcast",
    "broadcast_prefix",
    "child_keys",
    "default_registry",
    "explain_structure_mismatch",
    "flatten",
    "flatten_axes",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "flatten_with_path",
    "is_leaf",
    "is_tree_node",
    "keystr",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "prefix_errors",
    "reduce",
    "reduce_associative",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "registry",
    "static",
    "structure",
    "transpose",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
    "unflatten",
]


def __dir__() -> list[str]:
    return sorted(__all__)
