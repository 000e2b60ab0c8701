"""scan under `disable_jit`: a Python loop, for debugging."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import errors
from ..api.refs import put
from ..core.refs import Ref
from ..core.tracing import apply, current, type_of
from ..ops.shape import Concatenate
from ..ops.slicing import Slice
from ..structural.shape import reshape
from ..tree import tree_flatten, tree_leaves, tree_unflatten
from .refs import OpenRefs


def scan_in_python(
    f: Any, init: Any, xs: list[Any], tree: Any, n: int, reverse: bool, opened: OpenRefs
) -> Any:
    """scan under disable_jit: a Python loop, for debugging."""
    carry, ys, row_refs = init, [], []
    for i in reversed(range(n)) if reverse else range(n):
        rows, made = _rows_of(opened, xs, i)
        carry, y = f(carry, tree_unflatten(tree, rows))
        ys.append(y)
        row_refs.append(made)
    if not ys:
        raise errors.ValueArgumentError(
            errors.explain("scan", "a scan of length 0 needs tracing, which disable_jit forbids")
        )
    if reverse:
        ys.reverse()
        row_refs.reverse()
    _put_rows(opened, row_refs)
    columns = zip(*(tree_leaves(y) for y in ys), strict=True)
    stacked = [
        apply(Concatenate.of(0), *(reshape(v, (1, *type_of(v).shape)) for v in column))
        for column in columns
    ]
    return carry, tree_unflatten(tree_flatten(ys[0])[1], stacked)


def _take_row(x: Any, i: int) -> Any:
    t = type_of(x)
    start = (i,) + (0,) * (t.ndim - 1)
    stop = (i + 1, *t.shape[1:])
    return reshape(apply(Slice.of(start, stop, None), x), t.shape[1:])


def _rows_of(opened: OpenRefs, xs: Sequence[Any], i: int) -> tuple[list[Any], list[Ref]]:
    """One row of each of `xs`, where those of refs are refs; and these."""
    rows = [_take_row(x, i) for x in xs]
    made = []
    for place in opened.refs:
        row = rows[place]
        rows[place] = Ref(type_of(row), current.get(), row)
        made.append(rows[place])
    return rows, made


def _put_rows(opened: OpenRefs, rows: Sequence[Sequence[Ref]]) -> None:
    """Give refs what was written to their rows, one list of refs a row."""
    for ref, column in zip(opened.refs.values(), zip(*rows, strict=True), strict=True):
        if any(row.written for row in column):
            parts = [reshape(row.value, (1, *row.type.shape)) for row in column]
            put([ref], [apply(Concatenate.of(0), *parts)])
