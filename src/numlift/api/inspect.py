"""Look at what a function becomes: `make_jaxpr`, `eval_shape`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..core.graph import Graph
from ..tree import tree_flatten
from .shapes import abstract_type, struct_of
from .signature import Statics
from .tracing import check_callable, name_of, trace_function


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of ``fun(*args, **kwargs)`` without computing it.

    Args:
        fun: the function.
        *args, **kwargs: arrays, numbers or `ShapeDtypeStruct`s.

    Returns:
        `ShapeDtypeStruct`s in the structure of the result.

    Example:
        >>> import numlift as nl
        >>> nl.eval_shape(lambda x: x @ x.T, nl.ShapeDtypeStruct((2, 3), "float32"))
        ShapeDtypeStruct(shape=(2, 2), dtype=float32)
    """
    leaves, tree = tree_flatten((args, kwargs))
    traced = trace_function(fun, tree, [abstract_type(x) for x in leaves], label="eval_shape")
    return traced.out_tree.unflatten([struct_of(t) for t in traced.graph.out_types])


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function that returns the graph of `fun` for given arguments.

    Args:
        fun: the function.
        static_argnums: arguments that stay Python values.
        axis_env: (name, size) of named axes that collectives inside may use.
        return_shape: also return the `ShapeDtypeStruct`s of the result.

    Example:
        >>> import numlift as nl
        >>> print(nl.make_jaxpr(lambda x: x * 2.0)(1.0))
        { lambda a:~float32[]. let
            b:~float32[] = mul a 2.0:~float32[]
          in (b,) }
    """
    check_callable(fun, "make_jaxpr")
    statics = Statics(fun, static_argnums, None)

    @functools.wraps(fun, assigned=("__module__", "__name__", "__qualname__"), updated=())
    def make(*args: Any, **kwargs: Any) -> Graph | tuple[Graph, Any]:
        fixed, rest, named = statics.split(args, kwargs)
        leaves, tree = tree_flatten((rest, named))
        traced = trace_function(
            statics.bind(fun, fixed),
            tree,
            [abstract_type(x) for x in leaves],
            label="make_jaxpr",
            axis_sizes=dict(axis_env or ()),
        )
        if not return_shape:
            return traced.graph
        shapes = traced.out_tree.unflatten([struct_of(t) for t in traced.graph.out_types])
        return traced.graph, shapes

    made: Any = make
    made.__name__ = f"make_jaxpr({name_of(fun)})"
    return made
