"""Linear functions: `linear_transpose`, `linear_call`, `custom_transpose`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import errors
from ..core.tracing import apply, type_of
from ..ops.call import call_of
from ..ops.linear_call import LinearCall
from ..transforms.jvp import instantiate, tangent_type
from ..transforms.transpose import transpose_graph
from ..tree import explain_structure_mismatch, tree_flatten, tree_unflatten
from .autodiff import as_operand, check_callable, checked_cotangent
from .door import door
from .tracing import abstract_types, name_of, trace_function


def linear_transpose(fun: Callable[..., Any], *primals: Any, reduce_axes: Any = ()) -> Any:
    """The transpose of a linear function: ct -> the x-cotangents with <ct, f(x)> = <cts, x>.

    A constant that the function adds is ignored (an affine function is transposed as linear).

    Args:
        fun: linear function of its arguments.
        *primals: arguments, or `ShapeDtypeStruct`s; only their shapes and dtypes matter.
        reduce_axes: accepted for compatibility; must be empty.

    Returns:
        A function of a cotangent structured like the result; it returns a tuple with one cotangent
        an argument.

    Raises:
        GradError: the function is not linear in an argument.
        ArgumentError: the cotangent does not fit the result.

    Example:
        >>> import numlift as nl
        >>> transposed = nl.linear_transpose(lambda x, y: 2 * x - y, 1.0, 1.0)
        >>> print([float(ct) for ct in transposed(3.0)])
        [6.0, -3.0]
    """
    check_callable(fun, "linear_transpose")
    if reduce_axes:
        raise errors.ArgumentError("linear_transpose: reduce_axes is not supported")
    leaves, tree = tree_flatten((primals, {}))
    types = abstract_types(leaves, primals, {}, f"linear_transpose({name_of(fun)})")
    traced = trace_function(fun, tree, types, label="linear_transpose")
    out_types = traced.graph.out_types
    linear = (False,) * len(traced.captured) + (True,) * len(types)

    @door
    def transposed(ct: Any) -> Any:
        """Cotangents of the arguments."""
        cts, ct_tree = tree_flatten(ct)
        if ct_tree != traced.out_tree:
            raise errors.ArgumentError(
                errors.explain(
                    "linear_transpose",
                    "the cotangent must have the structure of the result: "
                    + str(
                        explain_structure_mismatch(traced.out_tree, ct_tree, "result", "cotangent")
                    ),
                )
            )
        values = [
            checked_cotangent("linear_transpose", as_operand(c), t)
            for c, t in zip(cts, out_types, strict=True)
        ]
        try:
            graph, active = transpose_graph(traced.graph, linear, (True,) * len(values))
        except (errors.GradError, errors.ArgumentError) as error:
            raise errors.GradError(
                errors.explain(
                    "linear_transpose",
                    f"{name_of(fun)} is not linear in its arguments, or holds an operation that "
                    "has no transpose"
                    + (f" ({_first_line(error)})" if isinstance(error, errors.GradError) else ""),
                    try_="nl.vjp(f, x) transposes the derivative of any function",
                )
            ) from error
        found = iter(apply(call_of(graph), *traced.captured, *values))
        results = [
            as_operand(instantiate(next(found) if a else None, t))
            for a, t in zip(active, types, strict=True)
        ]
        return tree_unflatten(tree, results)[0]

    return transposed


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def linear_call(
    fun: Callable[[Any, Any], Any],
    fun_transpose: Callable[[Any, Any], Any],
    residual_args: Any,
    linear_args: Any,
) -> Any:
    """``fun(residual_args, linear_args)``, whose transpose is ``fun_transpose``.

    Args:
        fun: function that is linear in its second argument.
        fun_transpose: (residual_args, cotangent) -> cotangent of `linear_args`; it should be linear
            in the cotangent, and `fun` is taken as its transpose.
        residual_args, linear_args: pytrees of arrays.

    Returns:
        ``fun(residual_args, linear_args)``. Forward mode differentiates `fun`, reverse mode takes
        `fun_transpose`.

    Raises:
        ArgumentError: the result of `fun_transpose` is not structured like `linear_args`.

    Example:
        >>> import numlift as nl
        >>> f = lambda x: nl.custom_derivatives.linear_call(
        ...     lambda r, x: x / r, lambda r, ct: ct * 10.0, 4.0, x
        ... )
        >>> print(f(2.0), nl.grad(f)(2.0))
        0.5 10.0
    """
    residuals, residual_tree = tree_flatten(residual_args)
    xs, x_tree = tree_flatten(linear_args)
    residuals, xs = [as_operand(r) for r in residuals], [as_operand(x) for x in xs]
    residual_types = [type_of(r) for r in residuals]
    _, in_tree = tree_flatten(((residual_args, linear_args), {}))
    forward = trace_function(
        fun, in_tree, [*residual_types, *(type_of(x) for x in xs)], label="linear_call"
    )
    example = tree_unflatten(forward.out_tree, forward.graph.out_types)
    _, back_tree = tree_flatten(((residual_args, example), {}))
    ct_types = [tangent_type(t) for t in forward.graph.out_types]
    back = trace_function(
        fun_transpose, back_tree, [*residual_types, *ct_types], label="linear_call"
    )
    wrong = back.out_tree != x_tree or any(
        (a.shape, a.dtype) != (type_of(x).shape, type_of(x).dtype)
        for a, x in zip(back.graph.out_types, xs, strict=False)
    )
    if wrong:
        raise errors.ArgumentError(
            errors.explain(
                "linear_call",
                f"{name_of(fun_transpose)} must return cotangents like the linear arguments",
                {
                    "linear_args": tree_unflatten(x_tree, [type_of(x) for x in xs]),
                    "returned": tree_unflatten(back.out_tree, back.graph.out_types),
                },
            )
        )
    op = LinearCall(
        forward.graph, back.graph, len(forward.captured), len(back.captured), len(residuals)
    )
    outs = apply(op, *forward.captured, *back.captured, *residuals, *xs)
    return tree_unflatten(forward.out_tree, outs)


class custom_transpose:  # noqa: N801  (reads as a decorator)
    """A linear function with its own transpose; called as ``f(residual_args, linear_args)``.

    Args:
        fun: (residual_args, linear_args) -> result, linear in `linear_args`.

    Example:
        >>> import numlift as nl
        >>> @nl.custom_derivatives.custom_transpose
        ... def divide(r, x):
        ...     return x / r
        >>> @divide.def_transpose
        ... def divide_transpose(r, ct):
        ...     return ct / r
        >>> print(nl.grad(lambda x: divide(4.0, x))(1.0))
        0.25
    """

    def __init__(self, fun: Callable[[Any, Any], Any]):
        check_callable(fun, "custom_transpose")
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.transpose: Callable[[Any, Any], Any] | None = None

    def def_transpose(self, transpose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Set the transpose: (residual_args, cotangent) -> cotangent of `linear_args`."""
        self.transpose = transpose
        return transpose

    def __call__(self, residual_args: Any, linear_args: Any) -> Any:
        if self.transpose is None:
            raise errors.ArgumentError(
                errors.explain(
                    name_of(self.fun),
                    "no transpose was defined for this custom_transpose function",
                    try_=f"@{name_of(self.fun)}.def_transpose before the first call",
                )
            )
        return linear_call(self.fun, self.transpose, residual_args, linear_args)


__all__ = ["custom_transpose", "linear_call", "linear_transpose"]
