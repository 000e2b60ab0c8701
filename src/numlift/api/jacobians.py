"""Derivatives of arrays by arrays: jacobian, jacfwd, jacrev, hessian, hvp."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import type_of
from ..core.types import ArrayType, array_type
from ..structural.shape import full, reshape
from ..tree import tree_unflatten
from .autodiff import (
    Point,
    as_weak_as,
    linearize_at,
    push_along,
    slope_of,
)
from .differentiated import canonical_argnums, check_inputs, choose_arguments
from .door import door
from .tracing import check_callable, name_of
from .vmap import vmap

_MODES = ("auto", "forward", "reverse")


def jacobian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    *,
    mode: str = "auto",
) -> Callable[..., Any]:
    """The Jacobian of `fun` in the mode that needs fewer passes.

    ``J[i, j] = d result[i] / d argument[j]``. The function is linearised once; then one pass a
    column (forward) or a row (reverse) runs, all of them batched.

    Args:
        fun: function of arrays or pytrees of arrays, with any result.
        argnums: argument or arguments to differentiate with respect to.
        has_aux: `fun` returns (result, auxiliary data).
        holomorphic: arguments and result are complex and `fun` is holomorphic.
        allow_int: allow integer arguments; the derivative by them is zero.
        mode: ``"forward"``, ``"reverse"``, or ``"auto"``: reverse mode if results have fewer
            elements than arguments, else forward mode. Real functions of complex arguments take
            reverse mode, complex functions of real arguments forward mode.

    Returns:
        A function whose result has the structure of the result of `fun`; each leaf of shape r
        there is replaced by the structure of the argument (a tuple of them if `argnums` is a
        sequence), whose leaves of shape s are arrays of shape r + s. With `has_aux` a pair of that
        and the auxiliary data.

    Raises:
        GradError: a dtype cannot be differentiated in the mode.
        ArgumentError: `mode` is none of the three, or `argnums` names no argument.

    JAX's `jacobian` is always reverse mode; use ``mode="reverse"`` for its errors.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.jacobian(lambda x: np.stack([x[0] * x[1], x[0]]))(np.array([2.0, 3.0])))
        [[3. 2.]
         [1. 0.]]
    """
    if mode not in _MODES:
        raise errors.ArgumentError(
            errors.explain(
                "jacobian",
                f"mode must be one of {', '.join(_MODES)}",
                {"mode": repr(mode)},
                try_="mode='auto'",
            )
        )
    return _jacobian("jacobian", mode, fun, argnums, has_aux, holomorphic, allow_int)


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `fun`, one column at a time in forward mode (good for few inputs).

    Args:
        fun: function of arrays or pytrees of arrays, with any result.
        argnums: argument or arguments to differentiate with respect to.
        has_aux: `fun` returns (result, auxiliary data).
        holomorphic: arguments are complex and `fun` is holomorphic.

    Returns:
        A function whose result has, for each result leaf of shape r and argument leaf of shape s,
        an array of shape r + s.

    Raises:
        GradError: an argument is no float (no complex number with `holomorphic`).

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.jacfwd(lambda x: np.stack([x[0] * x[1], x[0]]))(np.array([2.0, 3.0])))
        [[3. 2.]
         [1. 0.]]
    """
    return _jacobian("jacfwd", "forward", fun, argnums, has_aux, holomorphic, False)


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `fun`, one row at a time in reverse mode (good for few results).

    Args:
        fun: function of arrays or pytrees of arrays, with any result.
        argnums: argument or arguments to differentiate with respect to.
        has_aux: `fun` returns (result, auxiliary data).
        holomorphic: arguments and result are complex and `fun` is holomorphic.
        allow_int: allow integer arguments; the derivative by them is zero.

    Returns:
        As `jacfwd`.

    Raises:
        GradError: a result is no float (no complex number with `holomorphic`).

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.jacrev(lambda x: x * x)(np.array([2.0, 3.0])))
        [[4. 0.]
         [0. 6.]]
    """
    return _jacobian("jacrev", "reverse", fun, argnums, has_aux, holomorphic, allow_int)


def _jacobian(
    label: str,
    mode: str,
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
) -> Callable[..., Any]:
    check_callable(fun, label)
    nums, name = canonical_argnums(argnums, label), name_of(fun)

    @door
    @functools.wraps(fun, assigned=("__module__", "__name__", "__qualname__"), updated=())
    def jacobian_fun(*args: Any, **kwargs: Any) -> Any:
        chosen = tuple(choose_arguments(args, nums, name, label))
        for position, tree in zip(nums, chosen, strict=True):
            complex_ok = mode != "forward"
            check_inputs(tree, position, name, holomorphic, allow_int, complex_ok, label)
        places = [n % len(args) for n in nums]

        def partial(*chosen_args: Any) -> Any:
            full_args = list(args)
            for place, value in zip(places, chosen_args, strict=True):
                full_args[place] = value
            return fun(*full_args, **kwargs)

        partial.__name__ = name
        point = linearize_at(partial, chosen, label, has_aux)
        how = _cheaper(point, holomorphic) if mode == "auto" else mode
        if how == "reverse":
            for t in point.linear.out_types:
                _check_row(t, f"{label}({name})", holomorphic)
        blocks = _by_columns(point) if how == "forward" else _by_rows(point)
        result = _assemble(blocks, point, isinstance(argnums, (tuple, list)))
        return (result, point.aux) if has_aux else result

    return jacobian_fun


def _cheaper(point: Point, holomorphic: bool) -> str:
    """The mode with fewer passes, of those that the dtypes allow."""
    linear = point.linear
    if not holomorphic:
        if any(t.kind == "c" for t in linear.in_types):
            return "reverse"
        if any(t.kind != "f" for t in linear.out_types):
            return "forward"
    columns, rows = sum(t.size for t in linear.in_types), sum(t.size for t in linear.out_types)
    return "reverse" if rows < columns else "forward"


def _check_row(t: ArrayType, function: str, holomorphic: bool) -> None:
    if t.kind != ("c" if holomorphic else "f"):
        words = "complex with holomorphic=True" if holomorphic else "real floating-point"
        raise errors.GradError(
            errors.explain(
                function,
                f"results must be {words} in reverse mode",
                {"result": t},
                try_="nl.jacfwd, or holomorphic=True if the function is holomorphic"
                if t.kind == "c"
                else "return floats, or use nl.jacfwd",
            )
        )


def _basis(types: Sequence[ArrayType]) -> list[Any]:
    """Unit vectors of the concatenated arrays, one leading row each."""
    total, start, found = sum(t.size for t in types), 0, []
    for t in types:
        rows = np.zeros((total, t.size), t.dtype)
        rows[start : start + t.size] = np.eye(t.size, dtype=t.dtype)
        found.append(rows.reshape((total, *t.shape)))
        start += t.size
    return found


def _zeros(out: ArrayType, by: ArrayType) -> Any:
    """The derivative by an integer argument."""
    return full(array_type((*out.shape, *by.shape), by.dtype))


def _by_columns(point: Point) -> list[list[Any]]:
    """Forward mode: one list a result leaf, with one block an argument leaf."""
    linear = point.linear
    columns = []
    if linear.in_types:
        push = vmap(lambda tangents: linear.push_forward(tangents), in_axes=0, out_axes=-1)
        columns = push(_basis(linear.in_types))
    blocks = []
    for i, t in enumerate(linear.out_types):
        start, row = 0, []
        for x, active in zip(point.values, point.active, strict=True):
            u = type_of(x)
            if not active:
                row.append(_zeros(t, u))
                continue
            part = columns[i][..., start : start + u.size]
            row.append(as_weak_as(reshape(part, (*t.shape, *u.shape)), t))
            start += u.size
        blocks.append(row)
    return blocks


def _by_rows(point: Point) -> list[list[Any]]:
    """Reverse mode: one list a result leaf, with one block an argument leaf."""
    linear = point.linear
    rows: list[Any] = []
    if linear.out_types and linear.in_types:
        rows = vmap(lambda cts: _pulled(point, cts))(_basis(linear.out_types))
    blocks, start = [], 0
    for t in linear.out_types:
        found, row = iter(rows), []
        for x, active in zip(point.values, point.active, strict=True):
            u = type_of(x)
            if not active:
                row.append(_zeros(t, u))
                continue
            part = next(found)[start : start + t.size]
            row.append(as_weak_as(reshape(part, (*t.shape, *u.shape)), u))
        blocks.append(row)
        start += t.size
    return blocks


def _pulled(point: Point, cts: Sequence[Any]) -> list[Any]:
    linear = point.linear
    found = linear.pull_back(cts)
    return [full(t) if c is None else c for c, t in zip(found, linear.in_types, strict=True)]


def _assemble(blocks: Any, point: Point, several: bool) -> Any:
    rows = []
    for row in blocks:
        args = tree_unflatten(point.in_tree, row)
        rows.append(args if several else args[0])
    return tree_unflatten(point.out_tree, rows)


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The matrix of second derivatives, forward mode over reverse mode.

    ``H[i, j] = d2 f / dx[i] dx[j]``, in front of it the shape of the result of `fun`.

    Args:
        fun: function of arrays or pytrees of arrays.
        argnums: argument or arguments to differentiate with respect to.
        has_aux: `fun` returns (result, auxiliary data).
        holomorphic: arguments and result are complex and `fun` is holomorphic.

    Returns:
        A function whose result nests the structure of the argument in itself: for leaves of shapes
        s and t an array of shape r + s + t. With `has_aux` a pair of that and the auxiliary data.

    Raises:
        GradError: a dtype cannot be differentiated.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0])))
        [[6. 4.]
         [4. 0.]]
    """
    inner = _jacobian("hessian", "reverse", fun, argnums, has_aux, holomorphic, False)
    return _jacobian("hessian", "forward", inner, argnums, has_aux, holomorphic, False)


@door
def hvp(fun: Callable[..., Any], primals: Any, tangents: Any, holomorphic: bool = False) -> Any:
    """The Hessian of `fun` times a vector, without forming the Hessian.

    ``H v = d/dt grad f(x + t v)`` at t = 0: forward mode over reverse mode. It costs a few
    evaluations of `fun`, whatever the size of its arguments.

    Args:
        fun: function with a scalar result.
        primals: tuple of arguments, all differentiated.
        tangents: tuple of vectors, structured like `primals`.
        holomorphic: arguments and result are complex and `fun` is holomorphic.

    Returns:
        The product, structured like the argument; a tuple, one an argument, if there are several
        (the off-diagonal blocks of the Hessian are included).

    Raises:
        GradError: the result is not a scalar, or a dtype cannot be differentiated.
        ArgumentError: a tangent differs from its primal in structure, shape or dtype.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> x, v = np.array([2.0, 3.0]), np.array([1.0, 0.0])
        >>> print(nl.hvp(lambda x: x[0] ** 2 * x[1], (x,), (v,)))
        [6. 4.]
    """
    check_callable(fun, "hvp")
    if not isinstance(primals, (tuple, list)) or not primals:
        raise errors.ArgumentError(
            errors.explain(
                "hvp",
                "primals must be a tuple or list of at least one argument",
                {"primals": type(primals).__name__},
                try_="nl.hvp(f, (x,), (v,))",
            )
        )
    slope = slope_of("hvp", fun, tuple(range(len(primals))), holomorphic=holomorphic)
    product = push_along("hvp", slope, primals, tangents)[1]
    return product[0] if len(primals) == 1 else product
