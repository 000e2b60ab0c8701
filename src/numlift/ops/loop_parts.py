"""What the operations of a loop's backward pass share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.graph import Graph
from ..core.tracing import apply
from ..core.types import ArrayType, array_type
from ..structural.arith import add, select
from ..transforms.vmap import place_batch, vmap_graph
from .call import HigherOrder, call_of
from .compare import lt
from .scan import stacked
from .sweep_graphs import INDEX, run_graph, traced


class GivenStates:
    """The layout of what a forward pass keeps.

    First the sizes of two stacks of states, that of the stage before and that of the last stage,
    and the direction in which the second grows (see `sweep_lowering`); the step of each slot; then
    the slots, one array a state, in whose last row is the initial state.
    """

    HEAD: ClassVar[int] = 4
    POSITIONS: ClassVar[int] = 3

    @staticmethod
    def types(state: Sequence[ArrayType], checkpoints: int) -> list[ArrayType]:
        """Types of the kept values, for the types of the states."""
        slots = checkpoints + 2
        steps = array_type((slots,), INDEX.dtype)
        return [INDEX, INDEX, INDEX, steps, *(stacked(t, slots) for t in state)]


makers: dict[str, Callable[..., Any]] = {}
"""`BoundedWhile`, entered by its file, which builds on this one."""


def counted_loop(step: Graph, n_consts: int, max_steps: int, checkpoints: int, save: bool) -> Any:
    """A bounded while loop that takes n steps: (n; consts; i, state) -> (i, state), steps, ...

    Args:
        step: (consts, state) -> state.
    """

    def make() -> Any:
        types = step.in_types
        state = types[n_consts:]
        condition = traced(lambda n, i, *_: [apply(lt, i, n)], [INDEX, INDEX, *state], "count")

        def run(*args: Any) -> list[Any]:
            consts, i, values = args[:n_consts], args[n_consts], args[n_consts + 1 :]
            return [apply(add, i, np.int32(1)), *run_graph(step, [*consts, *values])]

        body = traced(run, [*types[:n_consts], INDEX, *state], step.name)
        return makers["loop"](condition, body, 1, n_consts, max_steps, checkpoints, save)

    return step.cached(("counted", n_consts, max_steps, checkpoints, save), make)


def vmapped_step(
    step: Graph, size: int, fixed: Sequence[int | None], wide: Sequence[bool], axis: Any
) -> tuple[Graph, list[bool]]:
    """A step of a loop over batches, and which of its states are batched then.

    Args:
        step: (fixed inputs, state) -> state.
        size: number of examples.
        fixed: batch axes of the fixed inputs.
        wide: which states are batched at first.
        axis: see `vmap_graph`.
    """
    wide = list(wide)
    while True:
        dims = (*fixed, *(0 if w else None for w in wide))
        graph, found = vmap_graph(step, size, dims, tuple(wide), axis)
        grown = [w or d is not None for w, d in zip(wide, found, strict=True)]
        if grown == wide:
            return graph, wide
        wide = grown


def placed(
    values: Sequence[Any],
    dims: Sequence[int | None],
    size: int,
    wide: Sequence[bool],
    to: int = 0,
) -> list[Any]:
    """Values with their batch axis at `to` where they are batched in the loop."""
    return [
        place_batch(x, d, size, to if w else None)
        for x, d, w in zip(values, dims, wide, strict=True)
    ]


def wide_with(dims: Sequence[int | None], active: Sequence[bool], moved: Any) -> list[bool]:
    """Which values are batched, or have a tangent that is."""
    return [any([d is not None, on and next(moved)]) for d, on in zip(dims, active, strict=True)]


class LinearLoop(HigherOrder):
    """A linear operation whose value is a graph, and which has a transpose rule of its own.

    The first input is the number of steps.
    """

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        """Always: the number of steps depends on values."""
        return True

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        return apply(self, apply(select, on, np.int32(0), args[0]), *args[1:])

    def expanded(self) -> Graph:
        """The same function by operations that have derivatives."""
        raise NotImplementedError

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return call_of(self.expanded(), True).jvp(primals, tangents)

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return call_of(self.expanded(), True).linearize(primals, tangents)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        return ctx.inline(self.expanded(), operands)
