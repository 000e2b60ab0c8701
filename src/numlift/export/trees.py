"""Structures and array types as JSON."""

from __future__ import annotations

import base64
import collections
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..core.dim_scope import SymbolicScope
from ..core.dims import Dim
from ..core.dtypes import KeyDType
from ..core.types import ArrayType, array_type
from ..tree import tree_structure, treedef_is_leaf


class _Custom(NamedTuple):
    cls: type
    name: str
    to_bytes: Callable[[Any], bytes]
    from_bytes: Callable[[bytes], Any]
    build: Callable[[Any, Sequence[Any]], Any]


_by_class: dict[type, _Custom] = {}
_by_name: dict[str, _Custom] = {}
_SCALARS = (str, int, float, bool, type(None))


def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> type:
    """Let exported functions have a named tuple in their arguments or results.

    Args:
        nodetype: the class.
        serialized_name: how it is called in the file; register it under this name before reading.

    Returns:
        The class.

    Raises:
        ValueArgumentError: no named tuple, or the class or the name is registered already.

    Example:
        >>> import collections
        >>> from numlift.export import register_namedtuple_serialization
        >>> Pair = collections.namedtuple("Pair", "a b")
        >>> _ = register_namedtuple_serialization(Pair, serialized_name="doc.Pair")
    """
    if not (issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise errors.ValueArgumentError(
            errors.explain(
                "export.register_namedtuple_serialization",
                f"{nodetype.__name__} is not a named tuple",
                try_="register_pytree_node_serialization",
            )
        )
    return _register(
        nodetype, serialized_name, lambda aux: b"", lambda data: None, lambda aux, xs: nodetype(*xs)
    )


def register_pytree_node_serialization(
    nodetype: type,
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Sequence[Any]], Any],
) -> type:
    """Let exported functions have a registered pytree class in their arguments or results.

    Args:
        nodetype: the class, registered as a pytree node.
        serialized_name: how it is called in the file; register it under this name before reading.
        serialize_auxdata, deserialize_auxdata: the static part of a node to bytes and back.
        from_children: (static part, children) -> node.

    Returns:
        The class.

    Raises:
        ValueArgumentError: the class or the name is registered already.

    Example:
        >>> import numlift as nl
        >>> class Pair:
        ...     def __init__(self, a, b):
        ...         self.a, self.b = a, b
        >>> nl.tree_util.register_pytree_node(
        ...     Pair, lambda p: ((p.a, p.b), None), lambda _, ab: Pair(*ab)
        ... )
        >>> _ = nl.export.register_pytree_node_serialization(
        ...     Pair, serialized_name="doc.Ends", serialize_auxdata=lambda aux: b"",
        ...     deserialize_auxdata=lambda data: None, from_children=lambda aux, ab: Pair(*ab)
        ... )
        >>> f = nl.export.export(nl.jit(lambda p: p.a - p.b))(Pair(1.0, 2.0))
        >>> print(nl.export.deserialize(f.serialize()).call(Pair(5.0, 3.0)))
        2.0
    """
    return _register(
        nodetype, serialized_name, serialize_auxdata, deserialize_auxdata, from_children
    )


def _register(cls: type, name: str, to_bytes: Any, from_bytes: Any, build: Any) -> type:
    if cls in _by_class or name in _by_name:
        raise errors.ValueArgumentError(
            errors.explain(
                "export", f"{cls.__name__} or the name {name!r} is registered for export already"
            )
        )
    _by_class[cls] = _by_name[name] = _Custom(cls, name, to_bytes, from_bytes, build)
    return cls


def tree_to_json(tree: Any) -> Any:
    """A structure as JSON: ``"*"`` is a leaf.

    Raises:
        TreeError: a class or a dictionary key that files cannot hold.
    """
    if treedef_is_leaf(tree):
        return "*"
    kind, aux = tree.node_data()
    children = [tree_to_json(c) for c in tree.children()]
    if kind is type(None):
        return None
    if kind is tuple or kind is list:
        return {kind.__name__: children}
    if kind is dict or kind is collections.OrderedDict:
        for key in aux:
            if not isinstance(key, _SCALARS):
                raise _no_place(f"a dictionary key of type {type(key).__name__}")
        return {kind.__name__: [list(pair) for pair in zip(aux, children, strict=True)]}
    known = _by_class.get(kind)
    if known is None:
        raise _no_place(f"the class {kind.__module__}.{kind.__qualname__}")
    static = base64.b64encode(known.to_bytes(aux)).decode()
    return {"node": known.name, "static": static, "children": children}


def _no_place(what: str) -> errors.TreeError:
    return errors.TreeError(
        errors.explain(
            "export",
            f"{what} in the structure of arguments or results has no form in files",
            try_="export.register_namedtuple_serialization or register_pytree_node_serialization",
        )
    )


def tree_from_json(data: Any) -> Any:
    """The structure that `tree_to_json` wrote."""
    return tree_structure(_build(data))


def _build(data: Any) -> Any:
    if data is None:
        return None
    if data == "*":
        return 0
    if "tuple" in data:
        return tuple(map(_build, data["tuple"]))
    if "list" in data:
        return list(map(_build, data["list"]))
    if "dict" in data:
        return {key: _build(child) for key, child in data["dict"]}
    if "OrderedDict" in data:
        return collections.OrderedDict((key, _build(child)) for key, child in data["OrderedDict"])
    known = _by_name.get(data["node"])
    if known is None:
        raise errors.TreeError(
            errors.explain(
                "export",
                f"the file has nodes of {data['node']!r}, a name that is not registered here",
                try_="register the class under this name before reading the file",
            )
        )
    static = known.from_bytes(base64.b64decode(data["static"]))
    return known.build(static, [_build(c) for c in data["children"]])


def type_to_json(t: ArrayType) -> list[Any]:
    """An array type as JSON; symbolic sizes are texts."""
    name = f"key:{t.dtype.impl}" if isinstance(t.dtype, KeyDType) else t.dtype.name
    return [[d.text if type(d) is Dim else d for d in t.shape], name, t.weak_type]


def type_from_json(data: Sequence[Any], scope: SymbolicScope | None = None) -> ArrayType:
    """The array type that `type_to_json` wrote; symbols belong to `scope`."""
    sizes, name, weak = data
    shape = tuple([scope.parse(d) if scope is not None and type(d) is str else d for d in sizes])
    if name.startswith("key:"):
        return array_type(shape, KeyDType(name[4:]), weak)
    return array_type(shape, np.dtype(name), weak)
