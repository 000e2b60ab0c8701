"""The registry of container types, and how users add theirs.

jaxlib's C++ registry does the work; Numlift has an own instance, so that another library in the
process neither sees nor changes its types.
"""

from __future__ import annotations

import collections
import copyreg
import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from jaxlib import _jax

from ..errors import ArgumentError, TreeError

_pytree = _jax.pytree
PyTreeDef = _pytree.PyTreeDef
DictKey = _pytree.DictKey
SequenceKey = _pytree.SequenceKey
GetAttrKey = _pytree.GetAttrKey
FlattenedIndexKey = _pytree.FlattenedIndexKey
KeyEntry = Any
KeyPath = tuple[Any, ...]

Class = TypeVar("Class", bound=type)

registry = _pytree.PyTreeRegistry()
raw_flatten = registry.flatten
"""``raw_flatten(tree, is_leaf=None) -> (leaves, treedef)``: the bare C++ method, for hot paths."""

_registered_with: dict[type, str] = {}
_dataclass_fields: dict[type, tuple[str, ...]] = {}


def _our_registry() -> Any:
    return registry


def _reduce_registry(one: Any) -> Any:
    """Pickle our registry by name, so that a `PyTreeDef` can be pickled; others as they wish."""
    return (_our_registry, ()) if one is registry else one.__reduce__()


copyreg.pickle(_pytree.PyTreeRegistry, _reduce_registry)


def default_registry() -> Any:
    """The registry that all of Numlift uses.

    Returns:
        The registry, with the built-in containers and every class registered since.

    Example:
        >>> from numlift import tree
        >>> tree.default_registry() is tree.registry
        True
    """
    return registry


def _check_class(function: str, nodetype: Any) -> None:
    if not isinstance(nodetype, type):
        raise ArgumentError(
            f"{function}: the node type must be a class\n  nodetype: {nodetype!r}\n"
            f"Try: {function}({type(nodetype).__name__}, ...)"
        )
    if nodetype in _registered_with or registry.is_node(nodetype):
        how = _registered_with.get(nodetype, "being a built-in container")
        raise TreeError(
            f"{function}: {nodetype.__qualname__} is a tree node already, by {how}\n"
            "Try: remove the second registration"
        )


def _check_callable(function: str, **functions: Any) -> None:
    for name, f in functions.items():
        if not callable(f):
            raise ArgumentError(
                f"{function}: {name} must be callable\n  {name}: {f!r}\n"
                f"Try: pass a function as {name}"
            )


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Iterable[Any]], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]]
    | None = None,
) -> None:
    """Make instances of a class tree nodes.

    Args:
        nodetype: the class; subclasses are not included.
        flatten_func: ``node -> (children, static data)``; the static data is hashed and compared.
        unflatten_func: ``(static data, children) -> node``. The children may be any objects.
        flatten_with_keys_func: ``node -> ((key, child) pairs, static data)``, for paths.

    Returns:
        None. The class is a node from now on, in this process.

    Raises:
        ArgumentError: `nodetype` is no class, or one of the functions is not callable.
        TreeError: the class is registered already, or is a built-in container.

    Example:
        >>> from numlift import tree
        >>> class Pair:
        ...     def __init__(self, a, b):
        ...         self.a, self.b = a, b
        >>> tree.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, ab: Pair(*ab))
        >>> tree.leaves([Pair(1, 2), 3])
        [1, 2, 3]
    """
    function = "register_pytree_node"
    _check_class(function, nodetype)
    _check_callable(function, flatten_func=flatten_func, unflatten_func=unflatten_func)
    if flatten_with_keys_func is not None:
        _check_callable(function, flatten_with_keys_func=flatten_with_keys_func)
    registry.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)
    _registered_with[nodetype] = function


def register_pytree_node_class(cls: Class) -> Class:
    """Class decorator: `tree_flatten` and the class method `tree_unflatten` define the node.

    Args:
        cls: class with the method ``tree_flatten(self) -> (children, static data)`` and the class
            method ``tree_unflatten(cls, static data, children)``.

    Returns:
        The same class.

    Raises:
        ArgumentError: one of the methods is missing.
        TreeError: the class is registered already.

    Example:
        >>> from numlift import tree
        >>> @tree.register_pytree_node_class
        ... class Box:
        ...     def __init__(self, x):
        ...         self.x = x
        ...     def tree_flatten(self):
        ...         return (self.x,), None
        ...     @classmethod
        ...     def tree_unflatten(cls, aux, children):
        ...         return cls(*children)
        >>> tree.leaves(Box(7))
        [7]
    """
    _needs_methods("register_pytree_node_class", cls, "tree_flatten", "tree_unflatten")
    register_pytree_node(cls, _call_tree_flatten, cls.tree_unflatten)  # type: ignore[attr-defined]
    return cls


def _call_tree_flatten(node: Any) -> Any:
    return node.tree_flatten()


def _call_tree_flatten_with_keys(node: Any) -> Any:
    return node.tree_flatten_with_keys()


def _needs_methods(function: str, cls: Any, *names: str) -> None:
    missing = [name for name in names if not hasattr(cls, name)]
    if missing:
        raise ArgumentError(
            f"{function}: {getattr(cls, '__qualname__', cls)} has no method {', '.join(missing)}\n"
            f"Try: define {missing[0]}"
        )


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]],
    unflatten_func: Callable[[Any, Iterable[Any]], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Like `register_pytree_node`, with a key for every child, so that paths are readable.

    Args:
        nodetype: the class.
        flatten_with_keys: ``node -> ((key, child) pairs, static data)``; a key is a `GetAttrKey`,
            `DictKey`, `SequenceKey`, `FlattenedIndexKey` or anything hashable with a `str`.
        unflatten_func: ``(static data, children) -> node``.
        flatten_func: faster way to get ``(children, static data)``, if there is one.

    Returns:
        None. The class is a node from now on, in this process.

    Raises:
        ArgumentError: `nodetype` is no class, or one of the functions is not callable.
        TreeError: the class is registered already.

    Example:
        >>> from numlift import tree
        >>> class Range:
        ...     def __init__(self, low, high):
        ...         self.low, self.high = low, high
        >>> tree.register_pytree_with_keys(
        ...     Range,
        ...     lambda r: (
        ...         ((tree.GetAttrKey("low"), r.low), (tree.GetAttrKey("high"), r.high)),
        ...         None,
        ...     ),
        ...     lambda _, ends: Range(*ends),
        ... )
        >>> [str(path[0]) for path, _ in tree.flatten_with_path(Range(0, 9))[0]]
        ['.low', '.high']
    """
    function = "register_pytree_with_keys"
    _check_class(function, nodetype)
    _check_callable(function, flatten_with_keys=flatten_with_keys, unflatten_func=unflatten_func)
    if flatten_func is None:

        def flatten_func(node: Any) -> tuple[Iterable[Any], Hashable]:
            keyed, aux = flatten_with_keys(node)
            return [child for _, child in keyed], aux

    registry.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)
    _registered_with[nodetype] = function


def register_pytree_with_keys_class(cls: Class) -> Class:
    """Class decorator: `tree_flatten_with_keys` and the class method `tree_unflatten`.

    Args:
        cls: class with the method ``tree_flatten_with_keys(self) -> ((key, child) pairs, static
            data)`` and the class method ``tree_unflatten(cls, static data, children)``. Its method
            `tree_flatten`, if there is one, is used where no keys are needed.

    Returns:
        The same class.

    Raises:
        ArgumentError: one of the methods is missing.
        TreeError: the class is registered already.

    Example:
        >>> from numlift import tree
        >>> @tree.register_pytree_with_keys_class
        ... class Named:
        ...     def __init__(self, **parts):
        ...         self.parts = parts
        ...     def tree_flatten_with_keys(self):
        ...         names = tuple(self.parts)
        ...         return [(tree.DictKey(n), self.parts[n]) for n in names], names
        ...     @classmethod
        ...     def tree_unflatten(cls, names, children):
        ...         return cls(**dict(zip(names, children)))
        >>> tree.flatten_with_path(Named(w=1, b=2))[0]
        [((DictKey(key='w'),), 1), ((DictKey(key='b'),), 2)]
    """
    _needs_methods(
        "register_pytree_with_keys_class", cls, "tree_flatten_with_keys", "tree_unflatten"
    )
    register_pytree_with_keys(
        cls,
        _call_tree_flatten_with_keys,
        cls.tree_unflatten,  # type: ignore[attr-defined]
        _call_tree_flatten if hasattr(cls, "tree_flatten") else None,
    )
    return cls


def static(**kwargs: Any) -> Any:
    """`dataclasses.field` of a field that is static data, not a child, of a registered dataclass.

    Args:
        **kwargs: as for `dataclasses.field` (``default=``, ``metadata=`` ...).

    Returns:
        The field, whose metadata has ``static=True``. Its values must have a hash and compare equal
        where one trace may serve both: a new value means a new trace under `jit`.

    Example:
        >>> import dataclasses
        >>> from numlift import tree
        >>> @tree.register_dataclass
        ... @dataclasses.dataclass
        ... class Layer:
        ...     w: object
        ...     act: str = tree.static(default="relu")
        >>> tree.leaves(Layer(3.0))
        [3.0]
    """
    metadata = {**(kwargs.pop("metadata", None) or {}), "static": True}
    return dataclasses.field(metadata=metadata, **kwargs)


def register_dataclass(
    nodetype: Any = None,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Any:
    """Make a dataclass a tree node. Also a class decorator, with or without arguments.

    Args:
        nodetype: the class. It is built with ``nodetype(**fields)``.
        data_fields: names of the fields that are children. By default all fields of the
            constructor that are not `static`.
        meta_fields: names of the fields that are static data (hashed and compared).
        drop_fields: names of constructor fields that are neither; they need a default.

    Returns:
        The class.

    Raises:
        ArgumentError: only one of the lists is given, or none for a class that is no dataclass.
        TreeError: the lists overlap or do not match the fields; or registered already.

    Example:
        >>> import dataclasses
        >>> from numlift import tree
        >>> @tree.register_dataclass
        ... @dataclasses.dataclass
        ... class Gaussian:
        ...     mean: float
        ...     sd: float
        ...     name: str = dataclasses.field(default="", metadata={"static": True})
        >>> leaves, treedef = tree.flatten(Gaussian(0.0, 1.0, "noise"))
        >>> leaves, treedef.unflatten([2.0, 3.0])
        ([0.0, 1.0], Gaussian(mean=2.0, sd=3.0, name='noise'))
    """
    if nodetype is None:
        return functools.partial(
            register_dataclass,
            data_fields=data_fields,
            meta_fields=meta_fields,
            drop_fields=drop_fields,
        )
    _check_class("register_dataclass", nodetype)
    data, meta = _node_fields(nodetype, data_fields, meta_fields, tuple(drop_fields))
    registry.register_dataclass_node(nodetype, data, meta)
    _registered_with[nodetype] = "register_dataclass"
    _dataclass_fields[nodetype] = tuple(data)
    return nodetype


def _node_fields(
    nodetype: type,
    data_fields: Sequence[str] | None,
    meta_fields: Sequence[str] | None,
    drop_fields: tuple[str, ...],
) -> tuple[list[str], list[str]]:
    """Names of children and of static fields, checked against the dataclass."""
    name = nodetype.__qualname__
    is_dataclass = dataclasses.is_dataclass(nodetype)
    if (data_fields is None) != (meta_fields is None):
        given = "data_fields" if data_fields is not None else "meta_fields"
        raise ArgumentError(
            f"register_dataclass: only {given} is given for {name}\n"
            "Try: give both data_fields and meta_fields, or neither"
        )
    fields = [f for f in dataclasses.fields(nodetype) if f.init] if is_dataclass else []
    if data_fields is None or meta_fields is None:
        if not is_dataclass:
            raise ArgumentError(
                f"register_dataclass: {name} is no dataclass, so its fields must be listed\n"
                f"Try: register_dataclass({name}, data_fields=[...], meta_fields=[...])"
            )
        kept = [f for f in fields if f.name not in drop_fields]
        return (
            [f.name for f in kept if not f.metadata.get("static", False)],
            [f.name for f in kept if f.metadata.get("static", False)],
        )
    data, meta = list(data_fields), list(meta_fields)
    _no_mismatch(name, "are in both lists", set(data) & set(meta))
    if is_dataclass:
        known = {f.name for f in fields}
        _no_mismatch(name, "are no fields of its constructor", {*data, *meta} - known)
        _no_mismatch(
            name, "are missing (list them in drop_fields to leave them out)",
            known - {*data, *meta, *drop_fields},
        )  # fmt: skip
    return data, meta


def _no_mismatch(name: str, what: str, fields: set[str]) -> None:
    if fields:
        raise TreeError(
            f"register_dataclass: fields {', '.join(sorted(fields))} of {name} {what}\n"
            "Try: name every constructor field once, in data_fields or in meta_fields"
        )


def register_static(cls: Class) -> Class:
    """Class decorator: instances are nodes without leaves, part of the structure (hash, ==).

    Args:
        cls: class whose instances have a hash and compare by value.

    Returns:
        The same class.

    Raises:
        ArgumentError: `cls` is no class.
        TreeError: the class is registered already.

    Example:
        >>> from numlift import tree
        >>> @tree.register_static
        ... class Mode(str):
        ...     pass
        >>> tree.leaves([Mode("a"), 1])
        [1]
    """
    _check_class("register_static", cls)
    registry.register_node(cls, _flatten_static, _unflatten_static)
    _registered_with[cls] = "register_static"
    return cls


def _flatten_static(node: Any) -> tuple[tuple[()], Any]:
    return (), node


def _unflatten_static(node: Any, children: Iterable[Any]) -> Any:
    return node


class Partial(functools.partial):
    """`functools.partial` that is a tree node: bound arguments are children, the function is not.

    Use it to hand a function with array arguments through `jit` and friends.

    Example:
        >>> raw_flatten(Partial(max, 1, key=None))[0]
        [1]
        >>> Partial(pow, 2)(5)
        32
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Partial:
        if isinstance(func, functools.partial) and not isinstance(func, Partial):
            # The bound arguments of a plain partial stay hidden inside the static function:
            # functools would merge them into ours and make them children.
            func = _Opaque(func)
        elif isinstance(func, Partial):
            args, kwargs = (*func.args, *args), {**func.keywords, **kwargs}
            func = func.func
        return super().__new__(cls, func, *args, **kwargs)


class _Opaque:
    """A plain partial as a function that is compared like the partial: by identity."""

    def __init__(self, inner: functools.partial) -> None:
        self.inner = inner

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.inner(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return type(other) is _Opaque and self.inner == other.inner

    def __hash__(self) -> int:
        return hash(self.inner)

    def __repr__(self) -> str:
        return repr(self.inner)


def _register_standard_library() -> None:
    def ordered(node: Any) -> tuple[Any, Any]:
        return tuple(node.values()), tuple(node)

    def ordered_keys(node: Any) -> tuple[Any, Any]:
        return tuple((DictKey(k), v) for k, v in node.items()), tuple(node)

    def sorted_keys(node: Any) -> tuple[Any, ...]:
        return tuple(sorted(node))

    def default(node: Any) -> tuple[Any, Any]:
        keys = sorted_keys(node)
        return tuple(node[k] for k in keys), (node.default_factory, keys)

    def default_keys(node: Any) -> tuple[Any, Any]:
        keys = sorted_keys(node)
        return tuple((DictKey(k), node[k]) for k in keys), (node.default_factory, keys)

    def queue_keys(node: Any) -> tuple[Any, Any]:
        return tuple((SequenceKey(i), v) for i, v in enumerate(node)), node.maxlen

    add = registry.register_node
    add(
        collections.OrderedDict,
        ordered,
        lambda keys, xs: collections.OrderedDict(zip(keys, xs, strict=True)),
        ordered_keys,
    )
    add(
        collections.defaultdict,
        default,
        lambda aux, xs: collections.defaultdict(aux[0], zip(aux[1], xs, strict=True)),
        default_keys,
    )
    add(
        collections.deque,
        lambda node: (tuple(node), node.maxlen),
        lambda maxlen, xs: collections.deque(xs, maxlen),
        queue_keys,
    )
    add(
        Partial,
        lambda p: ((p.args, p.keywords), p.func),
        lambda f, xs: Partial(f, *xs[0], **xs[1]),
        lambda p: (((GetAttrKey("args"), p.args), (GetAttrKey("keywords"), p.keywords)), p.func),
    )


_register_standard_library()


def child_keys(treedef: Any) -> list[Any]:
    """Keys of the children of a treedef's root, as `flatten_with_path` would name them.

    Args:
        treedef: a structure.

    Returns:
        One key a child: `DictKey`, `SequenceKey`, `GetAttrKey`, or `FlattenedIndexKey` for a class
        registered without keys; empty for a leaf.

    Example:
        >>> from numlift import tree
        >>> tree.child_keys(tree.structure({"b": 1, "a": [2]}))
        [DictKey(key='a'), DictKey(key='b')]
    """
    data = treedef.node_data()
    count = len(treedef.children())
    if data is None:
        return []
    kind, aux = data
    if kind is dict:
        return [DictKey(k) for k in aux]
    if kind is tuple or kind is list or kind is collections.deque:
        return [SequenceKey(i) for i in range(count)]
    if kind is collections.OrderedDict:
        return [DictKey(k) for k in aux]
    if kind is collections.defaultdict:
        return [DictKey(k) for k in aux[1]]
    names = _dataclass_fields.get(kind)
    if names is None and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        names = kind._fields
    if names is not None:
        return [GetAttrKey(name) for name in names]
    if kind is Partial:
        return [GetAttrKey("args"), GetAttrKey("keywords")]
    return [FlattenedIndexKey(i) for i in range(count)]
