"""Derivatives of arrays by arrays: jacfwd, jacrev, hessian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import type_of
from ..core.types import ArrayType
from ..structural.shape import reshape
from ..tree import tree_flatten, tree_unflatten
from .autodiff import (
    as_operand,
    canonical_argnums,
    check_callable,
    check_inputs,
    choose_arguments,
    linearize,
    vjp,
)
from .door import door
from .tracing import name_of
from .vmap import vmap


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `fun`, one column at a time in forward mode (good for few inputs).

    Returns:
        A function whose result has, for each result leaf of shape r and argument leaf of shape s,
        an array of shape r + s.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.jacfwd(lambda x: np.stack([x[0] * x[1], x[0]]))(np.array([2.0, 3.0])))
        [[3. 2.]
         [1. 0.]]
    """
    check_callable(fun, "jacfwd")
    nums, name = canonical_argnums(argnums), name_of(fun)

    @door
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = tuple(choose_arguments(args, nums, name))
        for position, tree in zip(nums, chosen, strict=True):
            check_inputs(tree, position, name, holomorphic, False, allow_complex=False)
        places = [n % len(args) for n in nums]
        aux: list[Any] = []

        def partial(*chosen_args: Any) -> Any:
            full_args = list(args)
            for place, value in zip(places, chosen_args, strict=True):
                full_args[place] = value
            return fun(*full_args, **kwargs)

        leaves, tree = tree_flatten(chosen)
        values = [as_operand(x) for x in leaves]
        point_args = tree_unflatten(tree, values)
        found = linearize(partial, *point_args, has_aux=has_aux)
        if has_aux:
            aux.append(found[2])
        push = vmap(found[1], in_axes=0, out_axes=-1)
        columns = push(*tree_unflatten(tree, _basis(values)))
        out_leaves, out_tree = tree_flatten(found[0])
        blocks = [
            _split_last(c, type_of(y).shape, values)
            for c, y in zip(tree_flatten(columns)[0], out_leaves, strict=True)
        ]
        result = _assemble(blocks, out_tree, tree, isinstance(argnums, int))
        return (result, aux[0]) if has_aux else result

    return jacobian


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `fun`, one row at a time in reverse mode (good for few results).

    Returns:
        As `jacfwd`.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.jacrev(lambda x: x * x)(np.array([2.0, 3.0])))
        [[4. 0.]
         [0. 6.]]
    """
    check_callable(fun, "jacrev")
    nums, name = canonical_argnums(argnums), name_of(fun)

    @door
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = tuple(choose_arguments(args, nums, name))
        for position, tree in zip(nums, chosen, strict=True):
            check_inputs(tree, position, name, holomorphic, allow_int)
        places = [n % len(args) for n in nums]

        def partial(*chosen_args: Any) -> Any:
            full_args = list(args)
            for place, value in zip(places, chosen_args, strict=True):
                full_args[place] = value
            return fun(*full_args, **kwargs)

        found = vjp(partial, *chosen, has_aux=has_aux)
        out_leaves, out_tree = tree_flatten(found[0])
        for y in out_leaves:
            _check_row(type_of(y), name, holomorphic)
        rows = vmap(found[1])(tree_unflatten(out_tree, _basis(out_leaves)))
        row_leaves, tree = tree_flatten(rows)
        by_input = [_split_first(r, out_leaves) for r in row_leaves]
        blocks = [[per_out[i] for per_out in by_input] for i in range(len(out_leaves))]
        result = _assemble(blocks, out_tree, tree, isinstance(argnums, int))
        return (result, found[2]) if has_aux else result

    return jacobian


def _check_row(t: ArrayType, name: str, holomorphic: bool) -> None:
    if t.kind != ("c" if holomorphic else "f"):
        raise errors.GradError(
            errors.explain(
                f"jacrev({name})",
                "results must be complex with holomorphic=True, else real floating-point",
                {"result": t},
            )
        )


def _basis(leaves: Sequence[Any]) -> list[Any]:
    """Unit vectors of the concatenated leaves, one leading row each."""
    sizes = [type_of(x).size for x in leaves]
    total, start, found = sum(sizes), 0, []
    for x, size in zip(leaves, sizes, strict=True):
        t = type_of(x)
        rows = np.zeros((total, size), t.dtype)
        rows[start : start + size] = np.eye(size, dtype=t.dtype)
        found.append(rows.reshape((total, *t.shape)))
        start += size
    return found


def _split_last(columns: Any, shape: tuple[int, ...], inputs: Sequence[Any]) -> list[Any]:
    start, found = 0, []
    for x in inputs:
        t = type_of(x)
        part = columns[..., start : start + t.size]
        found.append(reshape(part, (*shape, *t.shape)))
        start += t.size
    return found


def _split_first(rows: Any, outputs: Sequence[Any]) -> list[Any]:
    start, found = 0, []
    tail = type_of(rows).shape[1:]
    for y in outputs:
        t = type_of(y)
        found.append(reshape(rows[start : start + t.size], (*t.shape, *tail)))
        start += t.size
    return found


def _assemble(blocks: Any, out_tree: Any, in_tree: Any, single: bool) -> Any:
    rows = []
    for row in blocks:
        args = tree_unflatten(in_tree, row)
        rows.append(args[0] if single else args)
    return tree_unflatten(out_tree, rows)


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The matrix of second derivatives, forward mode over reverse mode.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0])))
        [[6. 4.]
         [4. 0.]]
    """
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)
