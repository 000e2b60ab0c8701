"""`LoopTangent`: the derivative of a while loop, written down for reverse mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.graph import Graph
from ..core.op import Linear
from ..core.tracing import apply
from ..core.types import ArrayType
from ..structural.families import move_batch
from ..structural.shape import full
from ..transforms.jvp import instantiate
from .loop_parts import GivenStates, LinearLoop, counted_loop, placed, vmapped_step, wide_with
from .reductions import ReduceMax
from .sweep import sweep_of
from .sweep_graphs import (
    INDEX,
    BackwardStep,
    Flags,
    LinearStep,
    chosen,
    lane_forward,
    tangent_types,
    traced,
)


class LoopTangent(LinearLoop):
    """The tangent of the last state of a loop, from the tangents of consts and the first state.

    Inputs are n, consts, s[0], what the forward pass kept, tangents of the active consts and of the
    active states. Results are the tangents of the active states.
    """

    name = "loop_tangent"
    step: Graph
    n_consts: int
    max_steps: int
    checkpoints: int
    consts: Flags
    state: Flags

    def __init__(
        self,
        step: Graph,
        n_consts: int,
        max_steps: int,
        checkpoints: int,
        consts: Flags,
        state: Flags,
    ):
        super().__init__(step, n_consts, max_steps, checkpoints, consts, state)
        self.axis_names = step.axis_names
        self.k = len(step.outputs)

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """Split inputs behind n into consts, state, what was kept, tangents."""
        c = 1 + self.n_consts
        g = c + self.k + GivenStates.HEAD + self.k
        return (
            list(values[1:c]),
            list(values[c : c + self.k]),
            list(values[c + self.k : g]),
            list(values[g:]),
        )

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return tangent_types(self.step.out_types, self.state)

    def linear(self) -> LinearStep:
        """The linearised step."""
        return LinearStep.of(self.step, self.consts, self.state)

    def expanded(self) -> Graph:
        body = self.linear().tangents(self.n_consts)
        n_dc = sum(self.consts)

        def run(*args: Any) -> list[Any]:
            consts, state, _, d = self.parts(args)
            loop = counted_loop(body, self.n_consts + n_dc, self.max_steps, self.checkpoints, False)
            found = apply(loop, args[0], *consts, *d[:n_dc], np.int32(0), *state, *d[n_dc:])
            return found[1 + self.k : -1]

        def make() -> Graph:
            types = [*self.step.in_types, *GivenStates.types(self.step.out_types, self.checkpoints)]
            d_types = tangent_types(self.step.in_types, (*self.consts, *self.state))
            return traced(run, [INDEX, *types, *d_types], self.step.name, "jvp")

        return self.step.cached(("expanded", self), make)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        consts, state, kept, d = self.parts(inputs)
        linear = self.linear()
        back = BackwardStep.of(linear, self.n_consts, tuple([c is not None for c in ct]))
        loop = sweep_of(
            linear.forward, back.graph, self.n_consts, self.max_steps, self.checkpoints, True
        )
        flags, n_sums = (*back.consts, *back.state), sum(back.consts)
        types = back.graph.out_types
        start = [
            *(full(t) for t in types[:n_sums]),
            *(
                instantiate(c, t)
                for c, t in zip(chosen(ct, back.state), types[n_sums:], strict=True)
            ),
        ]
        found = iter(apply(loop, inputs[0], *consts, *state, *kept, *start))
        cts = [next(found) if on else None for on in flags]
        cts = [c if type(x) is Linear else None for c, x in zip(cts, d, strict=True)]
        return [None] * (len(inputs) - len(d)) + cts

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        consts, state, kept, d = self.parts(args)
        c_dims, s_dims, g_dims, d_dims = self.parts(dims)
        head = GivenStates.HEAD
        if dims[0] is not None:
            step = lane_forward(self.step, self.n_consts)
            count = move_batch(args[0], dims[0], 0)
            loop = self._around(
                step,
                self.n_consts + 1 + self.k,
                (*self.consts, False, *[False] * self.k),
                (False, *self.state),
            )
            at = GivenStates.POSITIONS
            first = [apply(ReduceMax.of((0,)), count), *consts, count, *state]
            first_dims = [None, *c_dims, 0, *s_dims]
            return loop.batch(
                size,
                [*first, np.int32(0), *state, *kept[:head], kept[at], *kept[head:], *d],
                [*first_dims, None, *s_dims, *g_dims[:head], g_dims[at], *g_dims[head:], *d_dims],
                axis,
            )
        moved = iter([x is not None for x in d_dims])
        c_wide = wide_with(c_dims, self.consts, moved)
        s_wide = wide_with(s_dims, self.state, moved)
        s_wide = [w or g is not None for w, g in zip(s_wide, g_dims[head:], strict=True)]
        c_in = [0 if w else None for w in c_wide]
        step, s_wide = vmapped_step(self.step, size, c_in, s_wide, axis)
        loop = self._around(step, self.n_consts, self.consts, self.state)
        wide = chosen([*c_wide, *s_wide], (*self.consts, *self.state))
        found = apply(
            loop,
            args[0],
            *placed(consts, c_dims, size, c_wide),
            *placed(state, s_dims, size, s_wide),
            *kept[:head],
            *placed(kept[head:], g_dims[head:], size, s_wide, 1),
            *placed(d, d_dims, size, wide),
        )
        return found, [0 if w else None for w in wide[sum(self.consts) :]]

    def _around(self, step: Graph, n_consts: int, consts: Flags, state: Flags) -> LoopTangent:
        key = ("loop tangent", n_consts, self.max_steps, self.checkpoints, consts, state)
        return step.cached(
            key,
            lambda: LoopTangent(step, n_consts, self.max_steps, self.checkpoints, consts, state),
        )
