"""Solutions of equations, differentiated through the equation: custom_linear_solve, custom_root."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..api.closures import closed_over
from ..api.linear import linear_transpose
from ..api.tracing import TracedFunction, name_of, trace_function
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType
from ..ops.call import call_of
from ..ops.custom import CustomRule
from ..ops.elementwise_misc import stop_gradient
from ..ops.linear_solve import LinearSolve
from ..structural.arith import neg
from ..transforms.jvp import instantiate, jvp_flat
from ..tree import tree_flatten, tree_unflatten
from .staging import operands_of

Solver = Callable[[Callable[[Any], Any], Any], Any]


def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Solver,
    transpose_solve: Solver | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The solution x of ``matvec(x) = b``, whatever way `solve` finds it.

    Derivatives follow from the equation: A dx = db - dA x, and in reverse mode b's cotangent is the
    solution of the transposed system. The solver is not differentiated, so it may use loops, and
    values that it closes over have no derivative.

    Args:
        matvec: linear function of x; may close over values that are differentiated.
        b: right-hand side, a pytree with the structure of x.
        solve: (matvec, b) -> x, or (x, auxiliary values) if `has_aux`.
        transpose_solve: (vecmat, b) -> solution of the transposed system; needed in reverse mode.
        symmetric: A equals its transpose: `solve` also solves the transposed system.
        has_aux: the solvers also return auxiliary values, which have no derivative.

    Returns:
        x, or (x, auxiliary values).

    Raises:
        TreeError, DTypeError: matvec or a solver does not return values like `b`.
        GradError: reverse mode without a transposed solver.

    Example:
        >>> import numlift as nl
        >>> f = lambda a: nl.lax.custom_linear_solve(
        ...     lambda x: a * x, 6.0, lambda matvec, b: b / matvec(1.0), symmetric=True
        ... )
        >>> print(f(2.0), nl.grad(f)(2.0))
        3.0 -1.5
    """
    if transpose_solve is None and symmetric:
        transpose_solve = solve
    values, tree = operands_of(b, "custom_linear_solve: b")
    types = [type_of(x) for x in values]
    product = _traced("matvec", matvec, tree, types, tree)
    solution = _traced("solve", lambda v: solve(matvec, v), tree, types, tree, has_aux)
    vecmat: TracedFunction | None = None
    back: TracedFunction | None = None
    if transpose_solve is not None:
        example = tree_unflatten(tree, types)

        def transposed(v: Any) -> Any:
            return matvec(v) if symmetric else linear_transpose(matvec, example)(v)[0]

        vecmat = _traced("the transpose of matvec", transposed, tree, types, tree)
        back = _traced(
            "transpose_solve", lambda v: transpose_solve(transposed, v), tree, types, tree, has_aux
        )
    found = (product, vecmat, solution, back)
    counts = tuple([0 if t is None else len(t.captured) for t in found])
    systems = tuple([None if t is None else t.graph for t in found])
    captured = [x for t in found if t is not None for x in t.captured]
    outs = apply(LinearSolve(systems, counts), *captured, *values)
    return tree_unflatten(solution.out_tree, outs)


def _traced(
    name: str,
    fun: Callable[[Any], Any],
    tree: Any,
    types: list[ArrayType],
    wanted: Any,
    has_aux: bool = False,
) -> TracedFunction:
    """Trace a function of one value; its result must be like the argument."""
    _, in_tree = tree_flatten(((tree_unflatten(tree, types),), {}))
    traced = trace_function(fun, in_tree, types, label="custom_linear_solve")
    out_tree = traced.out_tree
    if has_aux:
        children = out_tree.children()
        if len(children) != 2:
            raise errors.TreeError(
                errors.explain(
                    "custom_linear_solve",
                    f"with has_aux=True {name} must return a pair (x, auxiliary values)",
                    {"returned": out_tree},
                )
            )
        out_tree = children[0]
    outs = traced.graph.out_types[: len(types)]
    same = [(a.shape, a.dtype) == (b.shape, b.dtype) for a, b in zip(outs, types, strict=False)]
    if out_tree != wanted or not all(same):
        raise errors.TreeError(
            errors.explain(
                "custom_linear_solve",
                f"{name} must return values with the structure, shapes and dtypes of b",
                {
                    "b": tree_unflatten(tree, types),
                    "returned": tree_unflatten(traced.out_tree, traced.graph.out_types),
                },
            )
        )
    return traced


def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Solver,
    tangent_solve: Solver,
    has_aux: bool = False,
) -> Any:
    """The root x of ``f(x) = 0``, whatever way `solve` finds it.

    Derivatives follow from the implicit function theorem: with f = f(x, p), dx solves the linear
    system (df/dx) dx = -(df/dp) dp. Neither solver nor initial guess are differentiated.

    Args:
        f: function whose result has the structure of x; may close over values that are
            differentiated.
        initial_guess: where `solve` starts, a pytree with the structure of x.
        solve: (f, initial_guess) -> root, or (root, auxiliary values) if `has_aux`.
        tangent_solve: (g, y) -> x with g(x) = y for a linear function g; it must be linear in y,
            and differentiable in reverse mode for gradients (`custom_linear_solve`, or division by
            g(1.0) for scalars).
        has_aux: `solve` also returns auxiliary values, which have no derivative.

    Returns:
        The root, or (root, auxiliary values).

    Raises:
        TreeError: f or solve does not return values like `initial_guess`.

    Example:
        >>> import numlift as nl
        >>> def root(a):
        ...     newton = lambda f, x: nl.lax.fori_loop(0, 9, lambda _, x: x - f(x) / (2 * x), x)
        ...     return nl.lax.custom_root(
        ...         lambda x: x * x - a, 1.0, newton, lambda g, y: y / g(1.0)
        ...     )
        >>> print(root(4.0), nl.grad(root)(4.0))
        2.0 0.25
    """
    values, tree = operands_of(initial_guess, "custom_root: initial_guess")
    values = [apply(stop_gradient, x) if type_of(x).inexact else x for x in values]
    types = [type_of(x) for x in values]
    _, in_tree = tree_flatten(((tree_unflatten(tree, types),), {}))
    traced = trace_function(f, in_tree, types, label="custom_root")
    _check_root(f, traced, tree, types)
    n, k = len(traced.captured), len(types)
    op = call_of(traced.graph)
    out_trees: list[Any] = []

    def function(*args: Any) -> list[Any]:
        def residual(x: Any) -> Any:
            return tree_unflatten(tree, apply(op, *args[:n], *tree_flatten(x)[0]))

        found = solve(residual, tree_unflatten(tree, args[n:]))
        outs, out_tree = tree_flatten(found)
        out_trees.append(_root_tree(name_of(solve), found, out_tree, tree, has_aux))
        return outs

    def tangents(*args: Any) -> list[Any]:
        consts, guess, d_consts = args[:n], args[n : n + k], args[n + k : 2 * n + k]
        outs = list(current.get().apply_custom(rule, [*consts, *guess]))
        root = outs[:k]
        _, moved = jvp_flat(lambda *c: apply(op, *c, *root), consts, d_consts)
        right = [apply(neg, instantiate(d, t)) for d, t in zip(moved, types, strict=True)]

        def g(v: Any) -> Any:
            _, out = jvp_flat(lambda *x: apply(op, *consts, *x), root, tree_flatten(v)[0])
            return tree_unflatten(
                tree, [instantiate(d, t) for d, t in zip(out, types, strict=True)]
            )

        d_root, d_tree = tree_flatten(tangent_solve(g, tree_unflatten(tree, right)))
        _check_tangent(name_of(tangent_solve), d_root, d_tree, tree, types)
        return [*outs, *d_root, *([None] * (len(outs) - k))]

    rule = CustomRule(function, "custom_root", tangents)
    hidden = closed_over([solve, tangent_solve])
    still = [apply(stop_gradient, x) if type_of(x).inexact else x for x in hidden]
    outs = current.get().apply_custom(rule.rebound(hidden), [*still, *traced.captured, *values])
    return tree_unflatten(out_trees[-1], outs)


def _check_root(f: Any, traced: TracedFunction, tree: Any, types: list[ArrayType]) -> None:
    outs = traced.graph.out_types
    same = [a.shape == b.shape for a, b in zip(outs, types, strict=False)]
    if traced.out_tree != tree or not all(same):
        raise errors.TreeError(
            errors.explain(
                "custom_root",
                f"{name_of(f)} must return values with the structure and shapes of its argument",
                {
                    "initial_guess": tree_unflatten(tree, types),
                    "returned": tree_unflatten(traced.out_tree, outs),
                },
            )
        )


def _check_tangent(
    name: str, d_root: Sequence[Any], d_tree: Any, tree: Any, types: list[ArrayType]
) -> None:
    found = [type_of(d) for d in d_root]
    if d_tree != tree or any(a.shape != b.shape for a, b in zip(found, types, strict=True)):
        raise errors.TreeError(
            errors.explain(
                "custom_root",
                f"{name} must return values with the structure and shapes of its second argument",
                {"y": tree_unflatten(tree, types), "returned": tree_unflatten(d_tree, found)},
            )
        )


def _root_tree(name: str, found: Any, out_tree: Any, tree: Any, has_aux: bool) -> Any:
    root = out_tree
    if has_aux:
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise errors.TreeError(
                errors.explain(
                    "custom_root", f"with has_aux=True {name} must return (root, auxiliary values)"
                )
            )
        root = out_tree.children()[0]
    if root != tree:
        raise errors.TreeError(
            errors.explain(
                "custom_root",
                f"{name} must return a root with the structure of the initial guess",
                {"initial_guess": tree, "returned": root},
            )
        )
    return out_tree


__all__ = ["custom_linear_solve", "custom_root"]
