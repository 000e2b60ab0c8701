"""Loops over the leading axis of arrays: scan, map."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from .. import config, errors
from ..api.tracing import TracedFunction, name_of
from ..api.vmap import vmap
from ..core.dims import as_size
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..ops.shape import Concatenate
from ..ops.slicing import Slice
from ..sharding import rules
from ..structural.shape import reshape
from ..tree import (
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
)
from .carries import settle
from .python_loops import scan_in_python
from .refs import OpenRefs, run_scan
from .staging import operands_of, trace_body

_LEAF = tree_flatten(0)[1]


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
        _split_transpose: accepted for code written for JAX; the gradient is split as it pays.

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
        pair, types_out = traced.out_tree.children(), traced.graph.out_types
        if len(pair) != 2 or traced.out_tree.node_data()[0] not in (tuple, list):
            raise errors.TreeError(
                errors.explain(
                    "scan",
                    f"{name} must return a pair (carry, y)",
                    {"returned": types_out[0] if traced.out_tree == _LEAF else traced.out_tree},
                    try_="return carry, None if there is no y",
                )
            )
        y_trees[:] = [pair[1]]
        return traced, types_out[: pair[0].num_leaves], pair[0]

    carry, traced = settle("scan", name, carry, trace, in_tree)
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


def map(f: Callable[..., Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """``stack([f(x) for x in xs])`` as a compiled loop, one element (or batch) at a time.

    Args:
        f: function of one element.
        xs: pytree of arrays with equal leading sizes.
        batch_size: elements that are computed at once with `vmap`.

    Returns:
        The results, stacked along a new leading axis: a pytree like that of ``f(x)``.

    Raises:
        ArgumentError: `f` is not callable, or `xs` has no arrays.
        ShapeError: leading sizes differ, or an array of `xs` is a scalar.
        ValueArgumentError: `batch_size` is not positive.

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
        operands_of(OpenRefs(xs).tree, "map: xs")
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


__all__ = ["map", "scan"]
