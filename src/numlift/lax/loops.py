"""Loops that are staged: scan, while_loop, fori_loop, map."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..api.refs import put
from ..api.tracing import TracedFunction, name_of
from ..api.vmap import vmap
from ..core.dims import Dim, as_size, max_size
from ..core.graph import Graph
from ..core.integers import check_integer
from ..core.tracing import Tracer, apply, type_of
from ..core.types import ArrayType, array_type
from ..ops.bounded_while import BoundedWhile
from ..ops.call import call_of
from ..ops.checkpoint_schedule import default_checkpoints
from ..ops.compare import ge, lt
from ..ops.elementwise_binary import and_
from ..ops.shape import Concatenate
from ..ops.slicing import Slice
from ..ops.while_loop import While
from ..sharding import rules
from ..structural.arith import add, complex_, convert, imag, mul, real, select
from ..structural.dim_value import size_as
from ..structural.shape import reshape
from ..tree import (
    explain_structure_mismatch,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_map,
    tree_unflatten,
)
from .python_loops import scan_in_python
from .refs import OpenRefs, loaded, run_scan, while_with_refs
from .staging import explained_arity, operands_of, trace_body


def _check_carry(
    function: str,
    body_name: str,
    in_tree: Any,
    out_tree: Any,
    ins: Sequence[ArrayType],
    outs: Sequence[ArrayType],
) -> None:
    """Raise unless the carry comes out as it went in; shows the path and both types."""
    if in_tree != out_tree:
        raise errors.TreeError(
            errors.explain(
                function,
                f"{body_name} must return a carry with the structure of its input: "
                f"{explain_structure_mismatch(in_tree, out_tree, 'carry in', 'carry out')}",
                try_="return the carry in the containers of the initial value",
            )
        )
    wrong = {}
    paths = [p for p, _ in tree_flatten_with_path(tree_unflatten(in_tree, list(ins)))[0]]
    for path, a, b in zip(paths, ins, outs, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype or a.sharding is not b.sharding:
            wrong[f"carry{keystr(path)}"] = f"{a!r} in, {b!r} out"
    if wrong:
        shapes = any(a.shape != b.shape for a, b in zip(ins, outs, strict=True))
        raise (errors.ShapeError if shapes else errors.DTypeError)(
            errors.explain(
                function,
                f"{body_name} must return a carry with the shapes and dtypes of its input",
                wrong,
                try_="an array of full size from the start, changed with x.at[i].set(...)"
                if shapes
                else "convert the initial value or the result: x.astype(...)",
            )
        )


def _settle(
    function: str,
    body_name: str,
    init: list[Any],
    trace: Callable[[list[Any]], tuple[TracedFunction, list[ArrayType], Any]],
    in_tree: Any,
) -> tuple[list[Any], TracedFunction]:
    """Trace the body until weak types of the carry settle; returns carry and body."""
    for _ in range(3):
        traced, outs, out_tree = trace(init)
        if in_tree == out_tree:
            settled = [_strengthen(x, t) for x, t in zip(init, outs, strict=True)]
            if all(a is b for a, b in zip(settled, init, strict=True)):
                break
            init = settled
        else:
            break
    _check_carry(function, body_name, in_tree, out_tree, [type_of(x) for x in init], outs)
    return init, traced


def _strengthen(x: Any, out: ArrayType) -> Any:
    """A weakly typed initial value takes the dtype that the body gives it."""
    t = type_of(x)
    if not t.weak_type or (out.weak_type and t.dtype == out.dtype):
        return x
    if t.shape == out.shape and _widens(t, out):
        if isinstance(x, (bool, int, float, complex)) and not out.weak_type:
            return out.dtype.type(x)
        return convert(x, out.dtype, out.weak_type)
    return x


def _widens(t: ArrayType, out: ArrayType) -> bool:
    return "biufc".find(t.kind) <= "biufc".find(out.kind) or t.dtype == out.dtype


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[Any, Any]:
    """Loop over the leading axis of `xs` with a carry.

    carry, ys[i] = f(carry, xs[i]) for i = 0 .. length-1. The loop is compiled once whatever its
    length, and is differentiable in both modes with memory linear in the length.

    Args:
        f: (carry, x) -> (carry, y); the carry keeps its structure, shapes and dtypes.
        init: initial carry, a pytree.
        xs: pytree of arrays with equal leading sizes, or None.
        length: number of steps; needed if `xs` has no arrays.
        reverse: go from the last element to the first (ys keep the order of xs).
        unroll: number of steps in one iteration of the compiled loop; True unrolls all.

    Returns:
        (carry, ys): the last carry, and the ys stacked along a new leading axis.

    Raises:
        ShapeError: leading sizes differ.  DTypeError, TreeError: the carry changes its type.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> total, sums = nl.lax.scan(lambda c, x: (c + x, c + x), 0.0, np.arange(4.0))
        >>> print(total, sums)
        6.0 [0. 1. 3. 6.]
    """
    if not callable(f):
        raise errors.ArgumentError(errors.explain("scan", "f must be a function", {"f": f}))
    carry, in_tree = operands_of(init, "scan: init")
    opened = OpenRefs(xs)
    xs = opened.tree
    x_leaves, x_tree = operands_of(xs, "scan: xs")
    steps = _scan_length(xs, x_leaves, length)
    if config.current().disable_jit:
        return scan_in_python(f, init, x_leaves, x_tree, steps, reverse, opened)
    x_types = [_row_type(type_of(x)) for x in x_leaves]
    name = name_of(f)
    y_trees: list[Any] = []
    places = tuple([len(carry) + i for i in opened.refs])

    def trace(carry_values: list[Any]) -> tuple[TracedFunction, list[ArrayType], Any]:
        types = [*(type_of(x) for x in carry_values), *x_types]
        args = (
            tree_unflatten(in_tree, carry_values),
            tree_unflatten(x_tree, x_leaves),
        )
        traced = trace_body(f, args, types, "scan", places)
        pair = traced.out_tree.children()
        if len(pair) != 2 or traced.out_tree.node_data()[0] not in (tuple, list):
            raise errors.TreeError(
                errors.explain(
                    "scan",
                    f"{name} must return a pair (carry, y)",
                    {"returned": traced.out_tree},
                    try_="return carry, None if there is no y",
                )
            )
        y_trees[:] = [pair[1]]
        return traced, traced.graph.out_types[: pair[0].num_leaves], pair[0]

    carry, traced = _settle("scan", name, carry, trace, in_tree)
    per_round = steps if unroll is True else _unroll(unroll)
    outs = run_scan(traced, carry, x_leaves, opened, (steps, reverse, per_round))
    n_k = len(carry)
    return tree_unflatten(in_tree, outs[:n_k]), tree_unflatten(y_trees[0], outs[n_k:])


def _unroll(unroll: Any) -> int:
    try:
        n = operator.index(unroll)
    except TypeError:
        n = -1
    if n < 0:
        raise errors.ValueArgumentError(
            errors.explain(
                "scan",
                "unroll must be a bool or a positive int",
                {"unroll": unroll},
                try_="unroll=4",
            )
        )
    return max(1, n)


def _row_type(t: ArrayType) -> ArrayType:
    sharding = t.sharding
    if sharding is not None:
        sharding = rules.named(sharding.mesh, rules.spec_of(t)[1:])
    return array_type(t.shape[1:], t.dtype, t.weak_type, sharding)


def _scan_length(xs: Any, leaves: Sequence[Any], length: int | None) -> int:
    sizes = {}
    for path, x in tree_flatten_with_path(xs)[0]:
        shape = type_of(x).shape
        if not shape:
            raise errors.ShapeError(
                errors.explain(
                    "scan",
                    f"xs{keystr(path)} has rank 0, but scan loops over the leading axis",
                    {f"xs{keystr(path)}": type_of(x)},
                    try_="close over values that do not change, or put them into the carry",
                )
            )
        sizes[f"xs{keystr(path)}"] = shape[0]
    if length is not None:
        try:
            length = as_size(length)
        except TypeError:
            raise errors.ArgumentError(
                errors.explain(
                    "scan",
                    "length must be a concrete int",
                    {"length": length},
                    try_="static_argnums in jit, or lax.fori_loop, which takes traced bounds",
                )
            ) from None
        if length < 0:
            raise errors.ValueArgumentError(
                errors.explain(
                    "scan", "length must not be negative", {"length": length}, try_="length=0"
                )
            )
    if not sizes:
        if length is None:
            raise errors.ArgumentError(
                errors.explain(
                    "scan",
                    "without arrays in xs, length must be given",
                    try_="lax.scan(f, init, None, length=n)",
                )
            )
        return length
    first = next(iter(sizes.values()))
    if any(n != first for n in sizes.values()) or (length is not None and length != first):
        shown: dict[str, Any] = dict(sizes)
        if length is not None:
            shown["length"] = length
        raise errors.ShapeError(
            errors.explain(
                "scan",
                "the leading axes of xs (and length) must be equal",
                shown,
                try_="x[:n] to cut, or lax.scan over a tree of arrays of one length",
            )
        )
    return first


def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    *,
    max_steps: int | None = None,
    checkpoints: int | None = None,
) -> Any:
    """Repeat ``val = body_fun(val)`` while ``cond_fun(val)`` is true.

    Differentiable in forward mode; in reverse mode, too, if `max_steps` is given. Then the gradient
    keeps about 2 sqrt(max_steps) values of `val` and computes every step three times (two-level
    checkpointing); steps that are not taken cost nothing, in both directions. A gradient of a
    gradient keeps every value.

    Args:
        cond_fun: value -> bool scalar.
        body_fun: value -> value of the same structure, shapes and dtypes.
        init_val: initial value, a pytree.
        max_steps: bound on the number of steps. A loop that has not ended by then is stopped; its
            floating-point results and their derivatives are NaN, so that a bound that is too low
            is seen; integers and bools are those of the last step. To stop there on purpose, count
            the steps in `val` and test the count in `cond_fun`.

    Returns:
        The last value.

    Raises:
        DTypeError, TreeError: the value changes its type, or `cond_fun` returns no bool scalar.
        GradError: reverse mode without `max_steps`.

    Example:
        >>> import numlift as nl
        >>> print(nl.lax.while_loop(lambda x: x < 100.0, lambda x: x * 3.0, 1.0))
        243.0
        >>> tripled = lambda x: nl.lax.while_loop(
        ...     lambda x: x < 100.0, lambda x: x * 3.0, x, max_steps=50
        ... )
        >>> print(nl.grad(tripled)(1.0))
        243.0
    """
    if not callable(cond_fun) or not callable(body_fun):
        raise errors.ArgumentError(
            errors.explain("while_loop", "cond_fun and body_fun must be functions")
        )
    limit = None if max_steps is None else _step_limit(max_steps)
    if checkpoints is None and limit is not None:
        checkpoints = default_checkpoints(limit)
    carry, tree = operands_of(init_val, "while_loop: init_val")
    if config.current().disable_jit:
        return _while_in_python(cond_fun, body_fun, init_val, limit)

    def trace(values: list[Any]) -> tuple[TracedFunction, list[ArrayType], Any]:
        args = (tree_unflatten(tree, values),)
        traced = trace_body(body_fun, args, [type_of(x) for x in values], "while_loop")
        return traced, list(traced.out_types), traced.out_tree

    carry, body = _settle("while_loop", name_of(body_fun), carry, trace, tree)
    args = (tree_unflatten(tree, carry),)
    test = trace_body(cond_fun, args, [type_of(x) for x in carry], "while_loop")
    outs = test.out_types
    if len(outs) != 1 or outs[0].shape or outs[0].kind != "b":
        raise errors.DTypeError(
            errors.explain(
                "while_loop",
                f"{name_of(cond_fun)} must return a bool scalar",
                {"returned": outs[0] if len(outs) == 1 else test.out_tree},
                try_="np.any(...) or np.all(...) of an array of bools",
            )
        )
    bound = () if limit is None else (limit, checkpoints)
    if test.refs is None and body.refs is None:
        graphs = test.graph, body.graph
        return tree_unflatten(tree, _run_while(graphs, test.captured, body.captured, carry, bound))
    loop = while_with_refs(test, body)
    outs = _run_while(
        (loop.test, loop.body),
        [*test.captured, *loaded(loop.test_refs)],
        [*body.captured, *loaded(loop.body_refs)],
        [*carry, *loaded(loop.carried)],
        bound,
    )
    put(loop.carried, outs[len(carry) :])
    return tree_unflatten(tree, outs[: len(carry)])


def _run_while(
    graphs: tuple[Graph, Graph],
    test_known: Sequence[Any],
    body_known: Sequence[Any],
    carry: Sequence[Any],
    bound: tuple[Any, ...],
) -> Any:
    """The last carry of a loop, given condition and body and what they close over."""
    test, body = graphs
    n_c, n_b = len(test_known), len(body_known)
    kind: Any = BoundedWhile if bound else While
    key = ("while op", test, n_c, n_b, *bound)
    op = body.cached(key, lambda: kind(test, body, n_c, n_b, *bound))
    outs = apply(op, *test_known, *body_known, *carry)
    if bound:
        *outs, steps = outs
        (goes_on,) = apply(call_of(test, True), *test_known, *outs)
        exceeded = apply(and_, goes_on, apply(ge, steps, np.int32(bound[0])))
        outs = [_nan_if(exceeded, x) for x in outs]
    return outs


def _step_limit(max_steps: Any) -> int:
    try:
        limit = operator.index(max_steps)
    except TypeError:
        limit = -1
    if not 0 <= limit < 2**31:
        raise errors.ValueArgumentError(
            errors.explain(
                "while_loop",
                "max_steps must be an int that is known while tracing, in [0, 2**31)",
                {"max_steps": max_steps},
            )
        )
    return limit


def _while_in_python(cond_fun: Any, body_fun: Any, value: Any, limit: int | None) -> Any:
    """while_loop under disable_jit: a Python loop, for debugging."""
    steps = 0
    while cond_fun(value):
        if steps == limit:
            return tree_map(lambda x: _nan_if(True, x), value)
        value = body_fun(value)
        steps += 1
    return value


def _nan_if(exceeded: Any, x: Any) -> Any:
    """`x`, or NaN with a NaN derivative; only inexact values."""
    t = type_of(x)
    if not t.inexact:
        return x
    if t.kind == "c":
        parts = (_nan_if(exceeded, apply(real, x)), _nan_if(exceeded, apply(imag, x)))
        return apply(complex_, *parts)
    number = t.dtype.type
    return apply(mul, x, apply(select, exceeded, number(1), number(np.nan)))


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """``for i in range(lower, upper): val = body_fun(i, val)``.

    With int bounds it is a `scan`, differentiable in both modes; with traced bounds a `while_loop`.

    Args:
        lower, upper: int or integer scalars.
        body_fun: (i, value) -> value.
        init_val: initial value, a pytree.
        unroll: steps in one iteration of the compiled loop; needs int bounds.

    Example:
        >>> import numlift as nl
        >>> print(nl.lax.fori_loop(0, 5, lambda i, x: x * 2.0, 1.0))
        32.0
    """
    if not callable(body_fun):
        raise errors.ArgumentError(errors.explain("fori_loop", "body_fun must be a function"))
    for word, bound in (("lower", lower), ("upper", upper)):
        t = type_of(bound)
        if t.shape or t.kind not in "iu":
            raise errors.DTypeError(
                errors.explain(
                    "fori_loop",
                    f"{word} must be an integer scalar",
                    {word: t},
                    try_="int(n), or n.astype(int)",
                )
            )
    static = not isinstance(lower, Tracer) and not isinstance(upper, Tracer)
    dtype = _counter_dtype(lower, upper)
    one = dtype.type(1)
    if static:
        first, last = (x if type(x) is Dim else int(x) for x in (lower, upper))
        if config.current().disable_jit:
            value = init_val
            for i in range(first, last):
                value = body_fun(np.asarray(i, dtype)[()], value)
            return value
        start = size_as(first, dtype)

        def step(carry: Any, _: None) -> tuple[Any, None]:
            i, value = carry
            with explained_arity(body_fun, (i, value), "fori_loop"):
                return (apply(add, i, one), body_fun(i, value)), None

        step.__name__ = name_of(body_fun)
        (_, value), _ = scan(
            step,
            (start, init_val),
            None,
            max_size(0, last - first),
            unroll=1 if unroll is None else unroll,
        )
        return value
    if unroll is not None and unroll != 1:
        raise errors.ValueArgumentError(
            errors.explain("fori_loop", "unroll needs bounds that are known while tracing")
        )

    def go_on(carry: Any) -> Any:
        return apply(lt, carry[0], carry[1])

    def body(carry: Any) -> Any:
        i, end, value = carry
        with explained_arity(body_fun, (i, value), "fori_loop"):
            return apply(add, i, one), end, body_fun(i, value)

    body.__name__ = name_of(body_fun)
    state = (convert(lower, dtype), convert(upper, dtype), init_val)
    return while_loop(go_on, body, state)[2]


def _counter_dtype(lower: Any, upper: Any) -> Any:
    a, b = type_of(lower), type_of(upper)
    for bound in (lower, upper):
        if type(bound) is int:
            check_integer("fori_loop", bound)
    if a.weak_type and not b.weak_type:
        return b.dtype
    if b.weak_type and not a.weak_type:
        return a.dtype
    if a.dtype != b.dtype:
        raise errors.DTypeError(
            errors.explain(
                "fori_loop", "lower and upper must have one dtype", {"lower": a, "upper": b}
            )
        )
    return a.dtype


def map(f: Callable[..., Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """``stack([f(x) for x in xs])`` as a compiled loop, one element (or batch) at a time.

    Args:
        f: function of one element.
        xs: pytree of arrays with equal leading sizes.
        batch_size: elements that are computed at once with `vmap`.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.lax.map(lambda x: x * x, np.arange(3)))
        [0 1 4]
    """
    if not callable(f):
        raise errors.ArgumentError(
            errors.explain("map", "f must be a function", {"f": f}, try_="lax.map(f, xs)")
        )
    if batch_size is None:
        operands_of(xs, "map: xs")
        return scan(lambda _, x: (None, f(x)), None, xs)[1]
    leaves, tree = operands_of(xs, "map: xs")
    n = _scan_length(xs, leaves, None)
    if batch_size < 1:
        raise errors.ValueArgumentError(
            errors.explain("map", "batch_size must be positive", {"batch_size": batch_size})
        )
    rounds, left = divmod(n, batch_size)
    batched = vmap(f)
    parts = []
    if rounds:
        heads = [
            reshape(_rows(x, 0, rounds * batch_size), (rounds, batch_size, *type_of(x).shape[1:]))
            for x in leaves
        ]
        ys = scan(lambda _, x: (None, batched(x)), None, tree_unflatten(tree, heads))[1]
        y_leaves, y_tree = tree_flatten(ys)
        parts.append([reshape(y, (rounds * batch_size, *type_of(y).shape[2:])) for y in y_leaves])
    if left or not rounds:
        tails = [_rows(x, rounds * batch_size, n) for x in leaves]
        y_leaves, y_tree = tree_flatten(batched(tree_unflatten(tree, tails)))
        parts.append(y_leaves)
    joined = [
        column[0] if len(column) == 1 else apply(Concatenate.of(0), *column)
        for column in zip(*parts, strict=True)
    ]
    return tree_unflatten(y_tree, joined)


def _rows(x: Any, start: int, stop: int) -> Any:
    t = type_of(x)
    return apply(Slice.of((start,) + (0,) * (t.ndim - 1), (stop, *t.shape[1:]), None), x)


__all__ = ["fori_loop", "map", "scan", "while_loop"]
