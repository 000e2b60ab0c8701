"""From a user's function over pytrees to a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..core.graph import Graph
from ..core.refs import Ref
from ..core.staging import trace_to_graph
from ..core.tracing import EVAL, Tracer, Value, current
from ..core.types import ArrayType
from ..runtime.array import Array
from ..runtime.transfer import as_array
from ..tree import keystr, tree_flatten, tree_flatten_with_path, tree_unflatten
from .key_reuse import check_keys
from .leaks import leak_checked
from .refs import RefUse, close_refs, open_refs
from .shapes import abstract_type

_NUMBERS = (bool, int, float, complex, np.ndarray, np.generic)


class TracedFunction:
    """A function as a graph.

    Attributes:
        graph: its leading inputs are the captured values.
        captured: arrays and tracers that the function closed over.
        out_tree: structure of the result.
        refs: what it does with refs: further inputs and outputs of the graph; None if nothing.
    """

    __slots__ = ("graph", "captured", "out_tree", "refs", "reusable", "arrays")

    def __init__(
        self, graph: Graph, captured: list[Any], out_tree: Any, refs: RefUse | None = None
    ):
        self.graph, self.captured, self.out_tree, self.refs = graph, captured, out_tree, refs
        self.reusable = not any(isinstance(x, Tracer) for x in captured)
        if refs is not None and any(ref.owner is not EVAL for ref in refs.captured):
            self.reusable = False
        self.arrays: list[Array] | None = None

    @property
    def out_types(self) -> Sequence[ArrayType]:
        """Types of the results."""
        return self.graph.out_types[: self.out_tree.num_leaves]

    def captured_arrays(self) -> list[Array]:
        """The captured values as arrays on devices."""
        if self.arrays is None:
            self.arrays = [as_array(x) for x in self.captured]
        return self.arrays


def name_of(fun: Any) -> str:
    """A name for messages and modules."""
    inner = getattr(fun, "func", None)  # functools.partial
    return getattr(fun, "__name__", None) or (name_of(inner) if inner else type(fun).__name__)


@leak_checked
def trace_function(
    fun: Callable[..., Any],
    in_tree: Any,
    in_types: Sequence[ArrayType],
    *,
    label: str = "jit",
    axis_sizes: dict[Any, int] | None = None,
    refs: Sequence[int] | None = None,
) -> TracedFunction:
    """Trace `fun(*args, **kwargs)`, where `in_tree` is the structure of (args, kwargs).

    Args:
        fun: the function.
        in_tree, in_types: structure and types of the arguments.
        label: the transformation, for messages.
        axis_sizes: named axes.
        refs: positions of the argument leaves that are refs; None if the caller takes no refs,
            neither as arguments nor closed over.
    """
    name = name_of(fun)
    found: list[Any] = []

    def flat(*leaves: Any) -> Sequence[Any]:
        stage = current.get()
        if refs:
            leaves = tuple(open_refs(stage, leaves, refs))
        args, kwargs = tree_unflatten(in_tree, leaves)
        outputs, tree = flatten_output(fun(*args, **kwargs), name, label)
        found.append(tree)
        if refs is not None:
            outputs, use = close_refs(stage, leaves, refs, outputs)
            found.append(use)
        return outputs

    graph, captured = trace_to_graph(
        flat, in_types, label=f"{label}({name})", name=name, axis_sizes=axis_sizes
    )
    if config.current().debug_key_reuse:
        check_keys(graph, captured, f"{label}({name})")
    return TracedFunction(graph, captured, *found)


def flatten_output(result: Any, name: str, label: str) -> tuple[list[Any], Any]:
    """Leaves and structure of what a traced function returned.

    Raises:
        ArgumentError: a leaf is no array or number.
    """
    leaves, tree = tree_flatten(result)
    for i, x in enumerate(leaves):
        if not isinstance(x, Value) and not isinstance(x, _NUMBERS):
            if hasattr(x, "__numlift_array__"):
                leaves[i] = x.__numlift_array__()
                continue
            path = next(keystr(p) for p, leaf in tree_flatten_with_path(result)[0] if leaf is x)
            raise errors.ArgumentError(
                errors.explain(
                    f"{label}({name})",
                    f"the function returned a {type(x).__name__} at output{path}, "
                    "which is not an array",
                    {"value": repr(x)[:80]},
                    try_="return ref[...] or nl.freeze(ref)"
                    if isinstance(x, Ref)
                    else "return arrays, numbers, or tuples, lists and dicts of them",
                )
            )
    return leaves, tree


def check_callable(fun: Any, transformation: str) -> None:
    """Raise if what a transformation got is not a function."""
    if not callable(fun):
        raise errors.ArgumentError(
            errors.explain(
                transformation,
                f"expected a function, got a {type(fun).__name__}",
                {"fun": fun},
                try_=f"{transformation}(f), without calling f",
            )
        )


def abstract_types(
    leaves: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any], function: str
) -> list[ArrayType]:
    """Types of arguments that are only described: arrays, numbers, refs, `ShapeDtypeStruct`."""
    found = []
    for x in leaves:
        if isinstance(x, Ref):
            found.append(x.type)
            continue
        if not hasattr(x, "shape"):
            check_argument(x, lambda x=x: argument_path(args, kwargs, x), function)
        found.append(abstract_type(x))
    return found


def check_argument(x: Any, where: Callable[[], str], function: str) -> None:
    """Raise a clear error if an argument of a transformed function is no array."""
    if isinstance(x, Value) or isinstance(x, _NUMBERS) or hasattr(x, "__numlift_array__"):
        if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "OUSmM":
            raise errors.ArgumentError(
                errors.explain(
                    function, f"{where()} has dtype {x.dtype}, which is not a numeric dtype"
                )
            )
        return
    raise errors.ArgumentError(
        errors.explain(
            function,
            f"{where()} is a {type(x).__name__}, which is not an array",
            {"value": repr(x)[:80]},
            try_="pass ref[...], the value that the ref has now, or close over the ref"
            if isinstance(x, Ref)
            else _advice(function),
        )
    )


def _advice(function: str) -> str:
    """What to do with arguments that are no arrays."""
    if function.startswith("jit("):
        return "mark it static (static_argnums, static_argnames) or pass it by closure"
    if function.startswith("checkpoint("):
        return "mark it static (static_argnums) or pass it by closure"
    return "pass it by closure: lambda x: f(x, value)"


def argument_path(args: tuple[Any, ...], kwargs: dict[str, Any], leaf: Any) -> str:
    """Where a leaf is in a call, such as ``argument 0['w'][1]``."""
    for path, x in tree_flatten_with_path((args, kwargs))[0]:
        if x is leaf:
            kind, position, *rest = path
            first = keystr((position,))
            head = (
                f"argument {first.strip('[]')}" if keystr((kind,)) == "[0]" else f"keyword {first}"
            )
            return head + keystr(tuple(rest))
    return "an argument"
