"""Branches that are staged: cond, switch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..api.refs import hide_refs, put, ref_places
from ..api.tracing import TracedFunction, name_of
from ..core.graph import Graph
from ..core.refs import load
from ..core.staging import trace_to_graph
from ..core.tracing import Tracer, apply, current, type_of
from ..core.types import ArrayType
from ..ops.cond import cond_of
from ..ops.elementwise_binary import max_, min_
from ..ops.platform import PlatformDependent
from ..runtime.array import Array
from ..structural.arith import convert
from ..tree import (
    explain_structure_mismatch,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
)
from .refs import branches_with_refs
from .staging import operands_of, trace_body, value_of

_PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


def cond(pred: Any, true_fun: Any, false_fun: Any, *operands: Any, **named: Any) -> Any:
    """``true_fun(*operands) if pred else false_fun(*operands)``, staged.

    Under `jit` only the chosen branch runs; under `vmap` with a batched `pred` both run and the
    results are selected.

    Args:
        pred: bool or number scalar; numbers are true unless zero.
        true_fun, false_fun: functions with results of one structure and equal types.
        *operands: arguments, pytrees.
        **named: more operands by any name; the functions get them by position, after the others.

    Returns:
        What the chosen function returned: a pytree of arrays.

    Raises:
        ArgumentError: one of the functions is not callable.
        DTypeError: `pred` is no scalar, or the branches give different dtypes.
        ShapeError: the branches give different shapes.
        TreeError: the branches give different structures.

    Example:
        >>> import numlift as nl
        >>> print(nl.lax.cond(True, lambda x: x + 1, lambda x: x - 1, 10))
        11
    """
    operands = (*operands, *named.values()) if named else operands
    if not callable(true_fun) or not callable(false_fun):
        raise errors.ArgumentError(
            errors.explain(
                "cond",
                "true_fun and false_fun must be functions",
                {"true_fun": true_fun, "false_fun": false_fun},
                try_="nl.lax.cond(pred, lambda x: ..., lambda x: ..., x)",
            )
        )
    if not isinstance(pred, (Array, Tracer)):
        type_of(pred)  # says that text is no array
        pred = value_of(pred)
    t = type_of(pred)
    if t.shape or t.kind not in "biuf":
        raise errors.DTypeError(
            errors.explain(
                "cond",
                "pred must be a bool scalar",
                {"pred": t},
                try_="np.where(pred, a, b) for an array of conditions",
            )
        )
    if config.current().disable_jit and not isinstance(pred, Tracer):
        return true_fun(*operands) if pred else false_fun(*operands)
    index = convert(convert(pred, np.bool_), np.int32)
    return _branch("cond", index, (false_fun, true_fun), operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """``branches[clamp(index, 0, n-1)](*operands)``, staged.

    Args:
        index: integer scalar; below 0 it means the first branch, above n-1 the last.
        branches: n functions with results of one structure and equal types.
        *operands: arguments, pytrees.

    Returns:
        What the chosen function returned: a pytree of arrays. Under `vmap` with a batched `index`
        all branches run and the results are selected.

    Raises:
        ValueArgumentError: there are no branches.
        ArgumentError: a branch is not callable.
        DTypeError: `index` is no integer scalar, or the branches give different dtypes.
        ShapeError: the branches give different shapes.
        TreeError: the branches give different structures.

    Example:
        >>> import numlift as nl
        >>> print(nl.lax.switch(2, [lambda x: x, lambda x: -x, lambda x: x * x], 5))
        25
    """
    branches = tuple(branches)
    if not branches:
        raise errors.ValueArgumentError(
            errors.explain("switch", "branches is empty", try_="at least one function")
        )
    if not all(callable(b) for b in branches):
        raise errors.ArgumentError(
            errors.explain(
                "switch",
                "branches must be functions",
                {f"branches[{i}]": b for i, b in enumerate(branches) if not callable(b)},
                try_="lambda *args: value for a branch that is a value",
            )
        )
    if not isinstance(index, (Array, Tracer)):
        index = value_of(index)
    t = type_of(index)
    if t.shape or t.kind not in "iu":
        raise errors.DTypeError(
            errors.explain(
                "switch",
                "index must be an integer scalar",
                {"index": t},
                try_="index.astype(int); np.choose or vmap for an array of indices",
            )
        )
    if len(branches) == 1:
        return branches[0](*operands)
    if config.current().disable_jit and not isinstance(index, Tracer):
        return branches[min(max(int(index), 0), len(branches) - 1)](*operands)
    return _branch("switch", _clamped(index, len(branches)), branches, operands)


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """The function for the platform that the program runs on, applied to `args`.

    The choice is made when the program is lowered, and the functions for other platforms are not
    part of it. All transformations apply to each function.

    Args:
        *args: arguments, pytrees.
        default: function for platforms without one of their own; None makes these an error.
        **per_platform: functions by platform: cpu, cuda, rocm, tpu, or gpu for both cuda and rocm.
            All must give results of one structure, shapes and dtypes.

    Returns:
        What the chosen function returned: a pytree of arrays.

    Raises:
        ArgumentError: no function was given, or none for the platform; an unknown platform.
        TreeError, ShapeError, DTypeError: the results differ.

    Example:
        >>> import numlift as nl
        >>> print(nl.lax.platform_dependent(2.0, cpu=lambda x: x + 1, default=lambda x: x - 1))
        3.0
    """
    unknown = [p for p in per_platform if p not in (*_PLATFORMS, "gpu")]
    if unknown or not (per_platform or default):
        raise errors.ArgumentError(
            errors.explain(
                "platform_dependent",
                f"unknown platforms {unknown}" if unknown else "no function was given",
                try_=f"functions by the names {', '.join(_PLATFORMS)}, or default=",
            )
        )
    platforms: list[tuple[str, ...]] = [
        ("cuda", "rocm") if p == "gpu" else (p,) for p in per_platform
    ]
    functions = [*per_platform.values()]
    if default is not None:
        platforms.append(())
        functions.append(default)
    for f in functions:
        if not callable(f):
            raise errors.ArgumentError(
                errors.explain("platform_dependent", "expected functions", {"given": f})
            )
    places = tuple(platforms)

    def make(graphs: tuple[Graph, ...]) -> PlatformDependent:
        return graphs[0].cached(
            ("platform", graphs, places), lambda: PlatformDependent(graphs, places)
        )

    return _branch("platform_dependent", np.int32(0), functions, args, make)


def _clamped(index: Any, n: int) -> Any:
    """The index as int32 in [0, n)."""
    t = type_of(index)
    top = min(n - 1, np.iinfo(t.dtype).max if t.dtype.kind in "iu" else n - 1)
    low = apply(max_, index, t.dtype.type(0))
    return convert(apply(min_, low, t.dtype.type(top)), np.int32)


def _branch(
    function: str,
    index: Any,
    branches: Sequence[Any],
    operands: tuple[Any, ...],
    make: Callable[[tuple[Graph, ...]], Any] = cond_of,
) -> Any:
    leaves, whole = tree_flatten((operands, {}))
    if ref_places(leaves):
        hidden = [hide_refs(b, whole, leaves) for b in branches]
        branches, operands = [h[0] for h in hidden], tuple(hidden[0][2])
    values, tree = operands_of(operands, f"{function}: operands")
    types = [type_of(x) for x in values]
    args = tree_unflatten(tree, values)
    traces = [trace_body(b, args, types, function) for b in branches]
    _check_branches(function, branches, traces)
    traces, refs, written = branches_with_refs(traces)
    if refs:
        values, types = [*map(load, refs), *values], [*(r.type for r in refs), *types]
    captured: list[Any] = []
    for t in traces:
        captured += [x for x in t.captured if not any(x is y for y in captured)]
    where = {id(x): i for i, x in enumerate(captured)}
    captured_types = [type_of(x) for x in captured]
    key = (
        "branches",
        tuple(t.graph for t in traces),
        *(tuple(where[id(x)] for x in t.captured) for t in traces),
    )
    wanted = _branch_types(traces)
    graphs = traces[0].graph.cached(
        key,
        lambda: tuple(_aligned(t, where, captured_types, types, wanted) for t in traces),
    )
    outs = apply(make(graphs), index, *captured, *values)
    if written:
        n_out = len(outs) - len(written)
        put(written, outs[n_out:])
        outs = outs[:n_out]
    return tree_unflatten(traces[0].out_tree, outs)


def _branch_types(traces: Sequence[TracedFunction]) -> list[ArrayType]:
    """Result types: weak only where every branch's result is weak."""
    return [
        ts[0]
        if all(t is ts[0] for t in ts)
        else ts[0].update(weak_type=all(t.weak_type for t in ts))
        for ts in zip(*(t.graph.out_types for t in traces), strict=True)
    ]


def _aligned(
    traced: TracedFunction,
    where: dict[int, int],
    captured_types: list[ArrayType],
    types: list[ArrayType],
    wanted: list[ArrayType],
) -> Graph:
    """The branch as a graph of all captured values and the operands."""
    mine = [where[id(x)] for x in traced.captured]
    n = len(captured_types)

    def run(*args: Any) -> list[Any]:
        outs = traced.graph.run(current.get().apply, [*(args[i] for i in mine), *args[n:]])
        return [
            convert(x, t.dtype, t.weak_type) if type_of(x) is not t else x
            for x, t in zip(outs, wanted, strict=True)
        ]

    return trace_to_graph(run, [*captured_types, *types], name=traced.graph.name)[0]


def _check_branches(function: str, branches: Sequence[Any], traces: Sequence[Any]) -> None:
    first = traces[0]
    for i, t in enumerate(traces[1:], 1):
        a_name, b_name = "branch 0", f"branch {i}"
        if function == "cond":
            a_name, b_name = "false_fun", "true_fun"
        names = f"{name_of(branches[0])} ({a_name}) and {name_of(branches[i])} ({b_name})"
        if t.out_tree != first.out_tree:
            raise errors.TreeError(
                errors.explain(
                    function,
                    f"{names} must return results of one structure: "
                    f"{explain_structure_mismatch(first.out_tree, t.out_tree, a_name, b_name)}",
                    try_="return the same containers from each branch",
                )
            )
        wrong = {}
        paths = [p for p, _ in tree_flatten_with_path(tree_unflatten(t.out_tree, t.out_types))[0]]
        for path, a, b in zip(paths, first.out_types, t.out_types, strict=True):
            if a.shape != b.shape or a.dtype != b.dtype:
                wrong[f"result{keystr(path)}"] = f"{a!r} and {b!r}"
        if wrong:
            pairs = zip(first.out_types, t.out_types, strict=True)
            shapes = any(a.shape != b.shape for a, b in pairs)
            raise (errors.ShapeError if shapes else errors.DTypeError)(
                errors.explain(
                    function,
                    f"{names} must return results of equal shapes and dtypes",
                    wrong,
                    try_="np.broadcast_to or np.pad in one branch"
                    if shapes
                    else "x.astype(...) in one branch",
                )
            )
