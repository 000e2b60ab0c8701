"""What loops and branches share: tracing of their bodies, operands."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..api.tracing import TracedFunction, name_of, trace_function
from ..core.refs import Ref
from ..core.tracing import Tracer, named_axes, type_of
from ..core.types import ArrayType
from ..runtime.array import Array
from ..runtime.transfer import as_array
from ..tree import keystr, tree_flatten, tree_flatten_with_path

_ARGUMENTS = {
    "scan": "(carry, x)",
    "while_loop": "(value), the whole carry as one argument",
    "fori_loop": "(i, value)",
}
_traces: weakref.WeakKeyDictionary[Any, dict[Any, TracedFunction]] = weakref.WeakKeyDictionary()


def trace_body(
    fun: Callable[..., Any],
    args: tuple[Any, ...],
    types: Sequence[ArrayType],
    label: str,
    refs: tuple[int, ...] = (),
) -> TracedFunction:
    """Trace `fun(*args)` for argument types; remembered for as long as `fun` lives.

    `refs` are the positions of the leaves that are refs.
    """
    tree = tree_flatten((args, {}))[1]
    axes = tuple(named_axes().items())
    key = (tree, tuple(types), config.current(), axes, label, refs)
    try:
        known = _traces.setdefault(fun, {})
    except TypeError:  # not hashable or not weakly referable, such as some callables
        known = {}
    found = known.get(key)
    if found is None:
        with explained_arity(fun, args, label):
            found = trace_function(fun, tree, types, label=label, refs=refs)
        if found.reusable:
            known[key] = found
    return found


class explained_arity:  # noqa: N801  (reads as a statement)
    """Explains a TypeError that comes from calling `fun` with too few or too many arguments."""

    __slots__ = ("fun", "args", "label")

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...], label: str):
        self.fun, self.args, self.label = fun, args, label

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if kind is not TypeError:
            return
        try:
            signature = inspect.signature(self.fun)
        except (TypeError, ValueError):
            return
        try:
            signature.bind(*self.args)
        except TypeError as wrong:
            given = _ARGUMENTS.get(self.label, f"{len(self.args)} operands")
            raise errors.ArgumentError(
                errors.explain(
                    self.label,
                    f"{name_of(self.fun)} is called with {given}: {wrong}",
                    {"signature": f"{name_of(self.fun)}{signature}"},
                )
            ) from None


def operands_of(tree: Any, function: str) -> tuple[list[Any], Any]:
    """Leaves of a tree of arrays as operands, and the structure."""
    leaves, structure = tree_flatten(tree)
    for path, x in tree_flatten_with_path(tree)[0]:
        try:
            type_of(x)
        except errors.ArgumentError as error:
            raise errors.ArgumentError(
                errors.explain(
                    function,
                    f"{keystr(path) or 'the value'} is a {type(x).__name__}, which is not an array",
                    {"value": repr(x)[:80]},
                    try_="close over the ref: what the function writes to it is carried along"
                    if isinstance(x, Ref)
                    else "close over values that are no arrays",
                )
            ) from error
    return [_operand(x) for x in leaves], structure


def value_of(x: Any) -> Any:
    """The array or tracer that `x` is, or that it converts itself to."""
    if isinstance(x, (Array, Tracer)):
        return x
    convert = getattr(type(x), "__numlift_array__", None)
    return as_array(x) if convert is None else value_of(convert(x))


def _operand(x: Any) -> Any:
    """An array, a tracer, or a number that becomes a literal of the graph."""
    if isinstance(x, (Array, Tracer)):
        return x
    kind = type(x)
    convert = getattr(kind, "__numlift_array__", None)
    if convert is not None:
        return _operand(convert(x))
    if kind is float or kind is bool or kind is complex or isinstance(x, np.generic):
        return x
    if kind is int and -(2**31) <= x < 2**31:
        return x
    return as_array(x)
