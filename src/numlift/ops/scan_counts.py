"""Counted scans under `vmap`: lanes that take different numbers of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.graph import Graph
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current, type_of
from ..core.types import array_type
from ..structural.arith import select
from ..structural.families import move_batch
from .compare import lt
from .reductions import ReduceMax
from .shape import Iota

if TYPE_CHECKING:
    from .scan import Scan

INDEX = array_type((), np.dtype(np.int32))


def counts_by_lane(
    scan: Scan, args: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], list[int | None]]:
    """Arguments of the masked loop: the largest count, the counts, ..., and the step as an x."""
    count = move_batch(args[0], dims[0], 0)
    steps = apply(Iota.of(INDEX.dtype, (scan.length,), 0))
    return (
        [apply(ReduceMax.of((0,)), count), count, *args[1:], steps],
        [None, 0, *dims[1:], None],
    )


def masked_body(scan: Scan) -> Graph:
    """Body of a lane that takes part in the first `count` steps only.

    Inputs are (steps of the loop, count of the lane, other consts, carry, xs, step).
    """
    c, k = scan.n_consts, scan.n_carry

    def run(*args: Any) -> list[Any]:
        count, step = args[1], args[-1]
        carry = args[1 + c : 1 + c + k]
        active = apply(lt, step, count)
        found = scan.body.run(current.get().apply, args[1:-1])
        kept = [choose(active, a, b) for a, b in zip(found[:k], carry, strict=True)]
        return [*kept, *(_or_zero(active, y) for y in found[k:])]

    def make() -> Graph:
        types = [INDEX, *scan.body.in_types, INDEX]
        return trace_to_graph(run, types, name=scan.body.name)[0]

    return scan.body.cached(("masked scan", c, k), make)


def _or_zero(active: Any, y: Any) -> Any:
    t = type_of(y)
    return y if t.kind == "k" else choose(active, y, t.dtype.type(0))  # keys have no zero


def choose(active: Any, on_true: Any, on_false: Any) -> Any:
    """`on_true` where the scalar `active` holds, else `on_false`."""
    return apply(select, active, on_false, on_true)
