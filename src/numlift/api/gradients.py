"""`closure_convert` and `custom_gradient`: derivative rules that are closures."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import errors
from ..core.tracing import Tracer, current, type_of
from ..tree import Partial, explain_structure_mismatch, tree_flatten, tree_unflatten
from .custom import custom_vjp
from .tracing import TracedFunction, abstract_types, check_callable, name_of, trace_function


class _Converted:
    """A traced function as a function of its arguments and of the values that it closed over."""

    def __init__(self, traced: TracedFunction, in_tree: Any, name: str):
        self.graph, self.out_tree = traced.graph, traced.out_tree
        self.in_tree, self.name = in_tree, name

    def __call__(self, *values: Any) -> Any:
        """Apply to captured values and one argument (`Partial` wants a function)."""
        return self.run(values[:-1], values[-1:])

    def run(self, captured: Any, args: tuple[Any, ...]) -> Any:
        """Apply to arguments of the structure that was traced."""
        leaves, tree = tree_flatten((args, {}))
        if tree != self.in_tree:
            raise errors.ArgumentError(
                errors.explain(
                    f"closure_convert({self.name})",
                    "the arguments must have the structure of the example arguments: "
                    f"{explain_structure_mismatch(self.in_tree, tree, 'example', 'given')}",
                )
            )
        outs = self.graph.run(current.get().apply, [*captured, *leaves])
        return tree_unflatten(self.out_tree, outs)


def _convert(fun: Callable[..., Any], args: tuple[Any, ...]) -> tuple[_Converted, list[Any]]:
    leaves, tree = tree_flatten((args, {}))
    types = abstract_types(leaves, args, {}, f"closure_convert({name_of(fun)})")
    traced = trace_function(fun, tree, types, label="closure_convert")
    return _Converted(traced, tree, name_of(fun)), traced.captured


def _pair(fun: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, Callable[..., Any]]:
    found = fun(*args)
    if not isinstance(found, (tuple, list)) or len(found) != 2 or not callable(found[1]):
        raise errors.ArgumentError(
            errors.explain(
                f"custom_gradient({name_of(fun)})",
                "the function must return a pair (result, pullback)",
                try_="return y, lambda ct: ct * dy_dx",
            )
        )
    return found[0], found[1]


def closure_convert(
    fun: Callable[..., Any], *example_args: Any
) -> tuple[Callable[..., Any], list[Any]]:
    """Turn values that a function closes over, and may be differentiated in, into arguments.

    Args:
        fun: function of arrays or pytrees of arrays.
        *example_args: arguments; only their types and structure matter.

    Returns:
        (converted, consts): ``converted(*args, *consts)`` equals ``fun(*args)``. `consts` are the
        traced floating-point values that `fun` closes over.

    Raises:
        ArgumentError: `fun` is not callable.

    Example:
        >>> import numlift as nl
        >>> def f(x):
        ...     g, consts = nl.closure_convert(lambda y: x * y, 1.0)
        ...     return g(10.0, *consts)
        >>> print(nl.grad(f)(2.0))
        10.0
    """
    check_callable(fun, "closure_convert")
    converted, captured = _convert(fun, example_args)
    hoisted = [i for i, x in enumerate(captured) if isinstance(x, Tracer) and type_of(x).inexact]
    kept = dict(enumerate(captured))
    n = len(example_args)

    def call(*args: Any) -> Any:
        if len(args) != n + len(hoisted):
            raise errors.ArgumentError(
                errors.explain(
                    f"closure_convert({converted.name})",
                    f"expected {n} arguments and {len(hoisted)} converted values, got {len(args)}",
                    try_="converted(*args, *consts) with the consts of the same call",
                )
            )
        values = {**kept, **dict(zip(hoisted, args[n:], strict=True))}
        return converted.run([values[i] for i in range(len(values))], args[:n])

    call.__name__ = converted.name
    for i in hoisted:
        kept[i] = None
    return call, [captured[i] for i in hoisted]


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives its own gradient: it returns its result and a pullback.

    Args:
        fun: arguments -> (result, pullback), where ``pullback(ct)`` returns one cotangent an
            argument (a tuple, or the cotangent itself for one argument). The pullback may close
            over any values of `fun`.

    Returns:
        A function that returns the result, with this derivative.

    Raises:
        ArgumentError: `fun` is not callable; at the call: its result is no pair.

    Example:
        >>> import numlift as nl
        >>> @nl.custom_gradient
        ... def square(x):
        ...     return x * x, lambda ct: 10.0 * ct * x
        >>> print(square(3.0), nl.grad(square)(3.0))
        9.0 30.0
    """

    check_callable(fun, "custom_gradient")

    @functools.wraps(fun)
    def function(*args: Any) -> Any:
        return _pair(fun, args)[0]

    def fwd(*args: Any) -> tuple[Any, Any]:
        result, pullback = _pair(fun, args)
        converted, captured = _convert(pullback, (result,))
        return result, Partial(converted, *captured)

    def bwd(pullback: Any, ct: Any) -> tuple[Any, ...]:
        found = pullback(ct)
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    custom = custom_vjp(function)
    custom.defvjp(fwd, bwd)
    return custom


__all__ = ["closure_convert", "custom_gradient"]
