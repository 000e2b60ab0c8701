"""Derivatives: grad, value_and_grad, jvp, vjp, linearize."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.collector import collecting_less
from ..core.dtypes import float0
from ..core.tracing import Tracer, type_of
from ..core.types import ArrayType
from ..runtime.array import Array
from ..structural.arith import convert
from ..structural.shape import full
from ..transforms.jvp import instantiate, jvp_flat, tangent_type
from ..transforms.linearize import LinearMap, linearize_flat
from ..tree import (
    explain_structure_mismatch,
    tree_flatten,
    tree_map,
    tree_unflatten,
)
from .differentiated import canonical_argnums, check_inputs, check_result, choose_arguments, fits
from .door import door
from .eager import concrete
from .leaks import leak_checked
from .ref_tangents import refs_with_tangents
from .tracing import argument_path, check_argument, check_callable, flatten_output, name_of


def as_operand(x: Any) -> Any:
    """Arrays and tracers as they are; NumPy arrays and numbers become arrays."""
    return x if isinstance(x, (Array, Tracer)) else concrete(x, "grad")


def _zero_tangent(t: ArrayType) -> Any:
    """float0 zeros: the tangent of integers and bools."""
    return np.zeros(t.shape, float0)


# ---- jvp and linearize -----------------------------------------------------------------------


@door
def jvp(
    fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False
) -> tuple[Any, ...]:
    """Value and directional derivative: (f(x), df(x)[dx]), in forward mode.

    Args:
        fun: function of arrays or pytrees of arrays.
        primals: tuple of arguments.
        tangents: tuple of directions, structured like `primals`; float0 zeros for integers.
        has_aux: `fun` returns (result, auxiliary data).

    Returns:
        (result, tangent), and auxiliary data if `has_aux`.

    Raises:
        ArgumentError: structure, shape or dtype of a tangent differs from its primal.

    Example:
        >>> import numlift as nl
        >>> y, dy = nl.jvp(nl.numpy.sin, (0.0,), (2.0,))
        >>> print(y, dy)
        0.0 2.0
    """
    return push_along("jvp", fun, primals, tangents, has_aux)


def push_along(
    label: str, fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False
) -> tuple[Any, ...]:
    """`jvp` under the name of the transformation that the user called."""
    check_callable(fun, label)
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise errors.ArgumentError(
            errors.explain(
                label,
                "primals and tangents must be tuples or lists of arguments",
                {"primals": type(primals).__name__, "tangents": type(tangents).__name__},
                try_=f"nl.{label}(f, (x,), (dx,))",
            )
        )
    leaves, tree = tree_flatten(tuple(primals))
    d_leaves, d_tree = tree_flatten(tuple(tangents))
    if tree != d_tree:
        raise errors.ArgumentError(
            errors.explain(
                label,
                "tangents must have the structure of primals: "
                f"{explain_structure_mismatch(tree, d_tree, 'primals', 'tangents')}",
                try_=f"one tangent for each array of primals: nl.{label}(f, (x, y), (dx, dy))",
            )
        )
    name = f"{label}({name_of(fun)})"
    lent = refs_with_tangents(name, leaves, d_leaves)
    if lent is not None:
        fun = lent.opened(fun, tree_flatten((tuple(primals), {}))[1])
        leaves, d_leaves = lent.values(leaves), lent.values(d_leaves)
    for x in (*leaves, *d_leaves):
        if getattr(x, "dtype", None) != float0:
            check_argument(x, lambda: "an argument", name)
    values = [as_operand(x) for x in leaves]
    directions = [_direction(x, d, name) for x, d in zip(values, d_leaves, strict=True)]
    result = _push_through(fun, label, tree, values, directions, has_aux)
    if lent is not None:
        lent.put()
    return result


@leak_checked
def _push_through(
    fun: Callable[..., Any],
    label: str,
    tree: Any,
    values: list[Any],
    directions: list[Any],
    has_aux: bool,
) -> tuple[Any, ...]:
    found: list[Any] = []

    def flat(*xs: Any) -> Sequence[Any]:
        result = fun(*tree_unflatten(tree, xs))
        if has_aux:
            result, aux = _split_aux(result, label)
            found.append(aux)
        outs, out_tree = flatten_output(result, name_of(fun), label)
        found.append(out_tree)
        return outs

    outs, d_outs = jvp_flat(flat, values, directions)
    out_tree = found[-1]
    outs = [as_operand(x) for x in outs]
    d_outs = [
        as_weak_as(_output_tangent(d, type_of(x)), type_of(x))
        for x, d in zip(outs, d_outs, strict=True)
    ]
    result = tree_unflatten(out_tree, outs), tree_unflatten(out_tree, d_outs)
    return (*result, _strip(found[0])) if has_aux else result


def _strip(aux: Any) -> Any:
    """Auxiliary data with duals of finished interpreters replaced by their primals."""
    return tree_map(lambda x: _primal(x), aux)


def _primal(x: Any) -> Any:
    while isinstance(x, Tracer) and not x.owner.alive and hasattr(x, "primal"):
        x = x.primal
    return x


def _output_tangent(d: Any, t: ArrayType) -> Any:
    if not t.inexact:
        return _zero_tangent(t)
    return as_operand(instantiate(d, t))


def as_weak_as(d: Any, t: ArrayType) -> Any:
    """A derivative, weakly typed where the value of type `t` that it belongs to is."""
    if not t.weak_type or not t.inexact:
        return d
    return convert(d, t.dtype, True)


def _direction(x: Any, d: Any, function: str) -> Any:
    t = type_of(x)
    if getattr(d, "dtype", None) == float0:
        if t.inexact:
            raise errors.ArgumentError(
                errors.explain(function, "a float0 tangent belongs to integers only", {"primal": t})
            )
        return None
    if not t.inexact:
        raise errors.ArgumentError(
            errors.explain(
                function,
                f"the tangent of a {t.dtype} primal must have dtype float0",
                {"primal": t, "tangent": type_of(d)},
                try_="np.zeros(shape, dtype=nl.dtypes.float0), or convert the primal to float",
            )
        )
    d = as_operand(d)
    u = type_of(d)
    if not fits(u, t):
        raise errors.ArgumentError(
            errors.explain(
                function,
                "a tangent must have the shape and dtype of its primal",
                {"primal": t, "tangent": u},
                try_="np.ones_like(primal), or tangent.astype(primal.dtype)",
            )
        )
    return d if u.dtype == t.dtype else convert(d, t.dtype, True)


@door
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Value at a point and the derivative there as a linear function.

    Computes `fun` once; the linear function can then be called many times.

    Args:
        fun: function of arrays or pytrees of arrays.
        *primals: the point.
        has_aux: `fun` returns (result, auxiliary data).

    Returns:
        (result, f_jvp), and auxiliary data if `has_aux`; ``f_jvp(*tangents)`` is df[tangents].

    Raises:
        ArgumentError: `fun` is not callable, or an argument is no array; from the linear function:
            a tangent has not the structure, shape and dtype of its primal.

    Example:
        >>> import numlift as nl
        >>> y, f_jvp = nl.linearize(lambda x: x * x, 3.0)
        >>> print(y, f_jvp(1.0))
        9.0 6.0
    """
    check_callable(fun, "linearize")
    point = linearize_at(fun, primals, "linearize", has_aux)

    @door
    def f_jvp(*tangents: Any) -> Any:
        """The derivative applied to tangents."""
        d_leaves, d_tree = tree_flatten(tangents)
        if d_tree != point.in_tree:
            raise errors.ArgumentError(
                errors.explain(
                    "linearize",
                    "tangents must have the structure of the primals: "
                    f"{explain_structure_mismatch(point.in_tree, d_tree, 'primals', 'tangents')}",
                    try_="one tangent for each argument of the function: f_jvp(dx, dy)",
                )
            )
        directions = [
            _direction(x, d, "linearize") for x, d in zip(point.values, d_leaves, strict=True)
        ]
        found = point.linear.push_forward(
            [d for d, a in zip(directions, point.active, strict=True) if a]
        )
        d_outs = [_output_tangent(d, t) for d, t in zip(found, point.linear.out_types, strict=True)]
        return tree_unflatten(point.out_tree, d_outs)

    f_jvp.residuals = lambda: list(point.linear.known.values())  # type: ignore[attr-defined]
    result = point.result(), f_jvp
    return (*result, point.aux) if has_aux else result


class Point:
    """A function linearised at a point."""

    __slots__ = ("in_tree", "values", "active", "outs", "out_tree", "linear", "aux")
    in_tree: Any
    values: list[Any]
    active: list[bool]
    outs: list[Any]
    out_tree: Any
    linear: LinearMap
    aux: Any

    def result(self) -> Any:
        """The value of the function."""
        return tree_unflatten(self.out_tree, self.outs)


@leak_checked
def linearize_at(fun: Callable[..., Any], args: Any, transformation: str, has_aux: bool) -> Point:
    """Run a function at a point and write its derivative there down."""
    point = Point()
    leaves, tree = tree_flatten(args)
    for x in leaves:
        check_argument(
            x, lambda x=x: argument_path(args, {}, x), f"{transformation}({name_of(fun)})"
        )
    point.in_tree = tree
    point.values = [as_operand(x) for x in leaves]
    point.active = [type_of(x).inexact for x in point.values]
    point.aux = None

    def flat(*xs: Any) -> Sequence[Any]:
        result = fun(*tree_unflatten(tree, xs))
        if has_aux:
            result, point.aux = _split_aux(result, transformation)
        outs, point.out_tree = flatten_output(result, name_of(fun), transformation)
        return outs

    point.outs, point.linear = linearize_flat(flat, point.values, point.active)
    point.outs = [as_operand(x) for x in point.outs]
    if has_aux:
        point.aux = _strip(point.aux)
    return point


def _split_aux(result: Any, transformation: str) -> tuple[Any, Any]:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise errors.ArgumentError(
            errors.explain(
                transformation,
                "with has_aux=True the function must return a pair (result, auxiliary data)",
                {"returned": result.type if isinstance(result, Tracer) else type(result).__name__},
                try_="return loss, aux",
            )
        )
    return result[0], result[1]


# ---- reverse mode ----------------------------------------------------------------------------


@door
def vjp(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False, reduce_axes: Any = ()
) -> Any:
    """Value at a point and the function that pulls cotangents back, in reverse mode.

    Args:
        fun: function of arrays or pytrees of arrays.
        *primals: the point.
        has_aux: `fun` returns (result, auxiliary data).
        reduce_axes: accepted for compatibility; must be empty.

    Returns:
        (result, f_vjp), and auxiliary data if `has_aux`. ``f_vjp(ct)`` returns one cotangent an
        argument, ct J; zeros of dtype float0 for integer arguments.

    Raises:
        ArgumentError: `fun` is not callable, an argument is no array, or with `has_aux` the result
            is no pair; from the pullback: the cotangent has not the structure, shape and dtype of
            the result.

    Example:
        >>> import numlift as nl
        >>> y, f_vjp = nl.vjp(lambda a, b: a * b, 2.0, 5.0)
        >>> da, db = f_vjp(1.0)
        >>> print(da, db)
        5.0 2.0
    """
    check_callable(fun, "vjp")
    if reduce_axes:
        raise errors.ArgumentError("vjp: reduce_axes is not supported; use lax.psum on the result")
    point = linearize_at(fun, primals, "vjp", has_aux)

    @door
    def f_vjp(*cts: Any) -> Any:
        """Cotangents of the arguments."""
        if len(cts) != 1:
            raise errors.ArgumentError(
                errors.explain(
                    f"vjp({name_of(fun)})",
                    f"takes one cotangent, structured like the result, but got {len(cts)}",
                    try_="f_vjp((ct_a, ct_b)) for a function that returns a tuple",
                )
            )
        return _pull_back(point, cts[0])

    result = point.result(), f_vjp
    return (*result, point.aux) if has_aux else result


@collecting_less
def _pull_back(point: Point, ct: Any, weak: bool = False) -> Any:
    """Cotangents of the arguments; with `weak` those of Python scalars are weakly typed."""
    cts, ct_tree = tree_flatten(ct)
    if ct_tree != point.out_tree:
        raise errors.ArgumentError(
            errors.explain(
                "vjp",
                "the cotangent must have the structure of the result: "
                f"{explain_structure_mismatch(point.out_tree, ct_tree, 'result', 'cotangent')}",
                try_="one cotangent for each array of the result, in the same containers",
            )
        )
    checked = [_cotangent(c, t) for c, t in zip(cts, point.linear.out_types, strict=True)]
    found = iter(point.linear.pull_back(checked))
    results = []
    for x, a in zip(point.values, point.active, strict=True):
        t = type_of(x)
        if not a:
            results.append(_zero_tangent(t))
            continue
        found_ct = _finish_cotangent(next(found), t)
        results.append(as_weak_as(found_ct, t) if weak else found_ct)
    return tree_unflatten(point.in_tree, results)


def _finish_cotangent(c: Any, t: ArrayType) -> Any:
    """A cotangent as an array of the primal's type."""
    if c is None:
        return as_operand(full(tangent_type(t)))
    return as_operand(c)


def _cotangent(c: Any, t: ArrayType) -> Any:
    if not t.inexact:
        return None
    if not isinstance(c, np.generic):  # a typed scalar stays a literal of the graph
        c = as_operand(c)
    return checked_cotangent("vjp", c, t)


def checked_cotangent(function: str, c: Any, t: ArrayType) -> Any:
    """A cotangent of a result of type `t`; weak numbers take its dtype."""
    u = type_of(c)
    if not fits(u, t):
        raise errors.ArgumentError(
            errors.explain(
                function,
                "the cotangent must have the shape and dtype of the result",
                {"result": t, "cotangent": u},
                try_="nl.numpy.ones_like(result)",
            )
        )
    return c if u.dtype == t.dtype else convert(c, t.dtype, True)


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
) -> Callable[..., Any]:
    """A function that returns the value of `fun` and its gradient.

    Args:
        fun: function with a scalar result (rank 0, floating point).
        argnums: argument or arguments to differentiate with respect to.
        has_aux: `fun` returns (scalar, auxiliary data).
        holomorphic: arguments and result are complex and `fun` is holomorphic. Without it a real
            function of a complex argument z = x + iy has the gradient df/dx - i df/dy.
        allow_int: allow integer arguments; their gradient has dtype float0.
        reduce_axes: accepted for compatibility; must be empty.

    Returns:
        A function returning (value, gradient), or ((value, aux), gradient) if `has_aux`. The
        gradient of an argument has its structure; a tuple of them if `argnums` is a sequence.

    Raises:
        GradError: the result is not a scalar, or a dtype cannot be differentiated.

    Example:
        >>> import numlift as nl
        >>> value, slope = nl.value_and_grad(lambda x: x**3)(2.0)
        >>> print(value, slope)
        8.0 12.0
    """
    return _value_and_grad(
        "value_and_grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes
    )


def _value_and_grad(
    label: str,
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    reduce_axes: Any = (),
) -> Callable[..., Any]:
    check_callable(fun, label)
    if reduce_axes:
        raise errors.ArgumentError(
            errors.explain(label, "reduce_axes is not supported", try_="lax.psum on the result")
        )
    nums = canonical_argnums(argnums, label)
    name = name_of(fun)

    @door
    @functools.wraps(fun, assigned=("__module__", "__name__", "__qualname__"), updated=())
    def value_and_grad_fun(*args: Any, **kwargs: Any) -> Any:
        chosen = choose_arguments(args, nums, name, label)
        for position, tree in zip(nums, chosen, strict=True):
            check_inputs(tree, position, name, holomorphic, allow_int, True, label)
        places = [n % len(args) for n in nums]

        def partial(*chosen_args: Any) -> Any:
            full_args = list(args)
            for place, value in zip(places, chosen_args, strict=True):
                full_args[place] = value
            return fun(*full_args, **kwargs)

        partial.__name__ = name
        point = linearize_at(partial, tuple(chosen), label, has_aux)
        check_result(point, f"{label}({name})", holomorphic)
        one = point.linear.out_types[0].dtype.type(1)
        grads = _pull_back(point, tree_unflatten(point.out_tree, [one]), weak=True)
        value = point.result()
        found = grads[0] if not isinstance(argnums, (tuple, list)) else tuple(grads)
        return ((value, point.aux), found) if has_aux else (value, found)

    return value_and_grad_fun


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
) -> Callable[..., Any]:
    """A function that returns the gradient of `fun`, a function with a scalar result.

    For ``x: float32[3]`` the gradient is a float32[3] too: ``g[i] = d fun(x) / d x[i]``.
    `value_and_grad` gives the value along with it, for the same work.

    Args:
        fun: function whose result is a scalar float; its arguments are pytrees of arrays.
        argnums: position, or positions, of the arguments to differentiate with respect to.
        has_aux: `fun` returns (scalar, aux); aux is any pytree, which is not differentiated.
        holomorphic: `fun` is complex-differentiable; arguments and result must be complex.
            Otherwise the gradient by a complex argument is ``du/dx - i du/dy``.
        allow_int: accept integer and bool arguments; their gradient has dtype float0.
        reduce_axes: must be empty; accepted for code written for JAX.

    Returns:
        A function of the arguments of `fun`, returning the gradient, or (gradient, aux) if
        `has_aux`. A gradient has the structure, shapes and dtypes of its argument; for a sequence
        `argnums` it is a tuple of them.

    Raises:
        GradError: at the call: the result is no scalar, or an argument or the result has a dtype
            that cannot be differentiated.
        ArgumentError: `fun` is not callable, or `reduce_axes` is not empty.

    Example:
        >>> import numlift as nl
        >>> print(nl.grad(nl.grad(lambda x: x**3))(2.0))
        12.0
    """
    return slope_of("grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)


def slope_of(
    label: str,
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
) -> Callable[..., Any]:
    """`grad` under the name of the transformation that the user called."""
    both = _value_and_grad(label, fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)

    @functools.wraps(fun, assigned=("__module__", "__name__", "__qualname__"), updated=())
    def grad_fun(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return grad_fun


__all__ = ["grad", "jvp", "linearize", "value_and_grad", "vjp"]
