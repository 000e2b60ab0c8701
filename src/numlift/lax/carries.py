"""The carry of a loop: its types settle, and must come out as they went in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..api.tracing import TracedFunction
from ..core.tracing import type_of
from ..core.types import ArrayType
from ..structural.arith import convert
from ..tree import explain_structure_mismatch, keystr, tree_flatten_with_path, tree_unflatten


def check_carry(
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


def settle(
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
    check_carry(function, body_name, in_tree, out_tree, [type_of(x) for x in init], outs)
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
