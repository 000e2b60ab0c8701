"""Look at what a function becomes: `make_jaxpr`, `eval_shape`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..core.graph import Graph
from ..tree import tree_flatten
from .refs import ref_places
from .shapes import struct_of
from .signature import Statics
from .tracing import abstract_types, check_callable, name_of, trace_function


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of ``fun(*args, **kwargs)`` without computing it.

    Args:
        fun: the function.
        *args, **kwargs: arrays, numbers, `ShapeDtypeStruct`s, or refs, which are not changed.

    Returns:
        `ShapeDtypeStruct`s in the structure of the result.

    Raises:
        ArgumentError: `fun` is not callable, or an argument has no shape and dtype.

    Example:
        >>> import numlift as nl
        >>> nl.eval_shape(lambda x: x @ x.T, nl.ShapeDtypeStruct((2, 3), "float32"))
        ShapeDtypeStruct(shape=(2, 2), dtype=float32)
    """
    check_callable(fun, "eval_shape")
    leaves, tree = tree_flatten((args, kwargs))
    types = abstract_types(leaves, args, kwargs, f"eval_shape({name_of(fun)})")
    traced = trace_function(fun, tree, types, label="eval_shape", refs=ref_places(leaves))
    return traced.out_tree.unflatten([struct_of(t) for t in traced.out_types])


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function that returns the graph of `fun` for given arguments.

    The values of refs that `fun` closes over are the first inputs of the graph, and the last values
    of refs that it writes are the last outputs.

    Args:
        fun: the function.
        static_argnums: arguments that stay Python values.
        axis_env: (name, size) of named axes that collectives inside may use.
        return_shape: also return the `ShapeDtypeStruct`s of the result.

    Returns:
        A function of the arguments of `fun`, returning the `Graph`, or (graph, shapes) if
        `return_shape`. Arguments may be `ShapeDtypeStruct`s: nothing is computed.

    Raises:
        ArgumentError: `fun` is not callable.

    Example:
        >>> import numlift as nl
        >>> print(nl.make_jaxpr(lambda x: x * 2.0)(1.0))
        { lambda a:~float32[]. let
            b:~float32[] = mul a 2.0:~float32[]
          in (b,) }
    """
    check_callable(fun, "make_jaxpr")
    statics = Statics(fun, static_argnums, None, "make_jaxpr")

    @functools.wraps(fun, assigned=("__module__", "__name__", "__qualname__"), updated=())
    def make(*args: Any, **kwargs: Any) -> Graph | tuple[Graph, Any]:
        fixed, rest, named = statics.split(args, kwargs)
        leaves, tree = tree_flatten((rest, named))
        traced = trace_function(
            statics.bind(fun, fixed),
            tree,
            abstract_types(leaves, rest, named, f"make_jaxpr({name_of(fun)})"),
            label="make_jaxpr",
            axis_sizes=dict(axis_env or ()),
            refs=ref_places(leaves),
        )
        if not return_shape:
            return traced.graph
        shapes = traced.out_tree.unflatten([struct_of(t) for t in traced.out_types])
        return traced.graph, shapes

    made: Any = make
    made.__name__ = f"make_jaxpr({name_of(fun)})"
    return made
