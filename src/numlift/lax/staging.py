"""What loops and branches share: tracing of their bodies, operands."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..api.tracing import TracedFunction, trace_function
from ..core.tracing import Tracer, named_axes, type_of
from ..core.types import ArrayType
from ..runtime.array import Array
from ..runtime.transfer import as_array
from ..tree import keystr, tree_flatten, tree_flatten_with_path

_traces: weakref.WeakKeyDictionary[Any, dict[Any, TracedFunction]] = weakref.WeakKeyDictionary()


def trace_body(
    fun: Callable[..., Any], args: tuple[Any, ...], types: Sequence[ArrayType], label: str
) -> TracedFunction:
    """Trace `fun(*args)` for argument types; remembered for as long as `fun` lives."""
    tree = tree_flatten((args, {}))[1]
    axes = tuple(named_axes().items())
    key = (tree, tuple(types), config.current(), axes, label)
    try:
        known = _traces.setdefault(fun, {})
    except TypeError:  # not hashable or not weakly referable, such as some callables
        known = {}
    found = known.get(key)
    if found is None:
        found = trace_function(fun, tree, types, label=label)
        if found.reusable:
            known[key] = found
    return found


def operands_of(tree: Any, function: str) -> tuple[list[Any], Any]:
    """Leaves of a tree of arrays as operands, and the structure."""
    leaves, structure = tree_flatten(tree)
    for path, x in tree_flatten_with_path(tree)[0]:
        try:
            type_of(x)
        except errors.ArgumentError as error:
            raise errors.ArgumentError(
                errors.explain(function, f"{keystr(path) or 'the value'} is not an array: {error}")
            ) from None
    return [_operand(x) for x in leaves], structure


def _operand(x: Any) -> Any:
    """An array, a tracer, or a number that becomes a literal of the graph."""
    if isinstance(x, (Array, Tracer)):
        return x
    kind = type(x)
    if kind is float or kind is bool or kind is complex or isinstance(x, np.generic):
        return x
    if kind is int and -(2**31) <= x < 2**31:
        return x
    return as_array(x)
