"""The backward pass of a while loop: `Sweep`, and its derivative `SweepTangent`.

A loop takes n steps s' = F(consts, s). The transpose of its derivative goes there and back:
a = B(consts, s, a) from the last state to the first, where states that were not kept are computed
again (`checkpoint_schedule`). B is linear in a.
The derivative of a `Sweep` is a `Sweep` again, in both modes and under `vmap`, so that derivatives
of every order keep a bounded number of states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.graph import Graph
from ..core.op import Linear
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..structural.arith import select
from ..structural.families import move_batch
from ..structural.shape import full
from ..transforms.jvp import instantiate, jvp_graph
from ..transforms.simplify import pruned_graph
from .call import HigherOrder, Pruned
from .loop_parts import GivenStates, LinearLoop, counted_loop, placed, vmapped_step, wide_with
from .reductions import ReduceMax
from .scan import rearranged
from .sweep_graphs import (
    INDEX,
    Flags,
    LinearStep,
    adjoint_step,
    chosen,
    lane_backward,
    lane_forward,
    second_backward,
    tangent_types,
    traced,
)
from .sweep_lowering import SweepLowering
from .while_loop import jvp_body


class Sweep(HigherOrder):
    """There and back: s[i+1] = F(consts, s[i]) for i < n, then a[i] = B(consts, s[i], a[i+1]).

    Inputs are n (an int32 scalar in [0, max_steps]), consts, s[0], what a forward pass kept (if
    `given`: see `GivenStates`) and a[n]. Results are a[0]. B is linear in a.
    """

    name = "sweep"
    forward: Graph
    backward: Graph
    n_consts: int
    max_steps: int
    checkpoints: int
    given: bool = False

    def __init__(
        self,
        forward: Graph,
        backward: Graph,
        n_consts: int,
        max_steps: int,
        checkpoints: int,
        given: bool = False,
    ):
        super().__init__(forward, backward, n_consts, max_steps, checkpoints, given)
        self.axis_names = tuple(dict.fromkeys((*forward.axis_names, *backward.axis_names), 0))

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        """Always: the number of steps depends on values."""
        return True

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        return apply(self, apply(select, on, np.int32(0), args[0]), *args[1:])

    def around(self, forward: Graph, backward: Graph, n_consts: int, given: bool) -> Sweep:
        """The same kind of pass of another loop."""
        return sweep_of(forward, backward, n_consts, self.max_steps, self.checkpoints, given)

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """Split inputs behind n into consts, state, what was given, a."""
        c, k = 1 + self.n_consts, len(self.forward.outputs)
        g = c + k + (GivenStates.HEAD + k if self.given else 0)
        return list(values[1:c]), list(values[c : c + k]), list(values[c + k : g]), [*values[g:]]

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return self.backward.out_types

    def prune(self, used: tuple[bool, ...]) -> Pruned | None:
        """A sweep without results, states and consts that nobody needs."""
        c, k, m = self.n_consts, len(self.forward.outputs), len(used)
        wanted = used
        while True:
            backward, b_ins = pruned_graph(self.backward, wanted)
            grown = tuple([w or c + k + i in b_ins for i, w in enumerate(wanted)])
            if grown == wanted:
                break
            wanted = grown
        states = tuple([c + i in b_ins for i in range(k)])
        while True:
            forward, f_ins = pruned_graph(self.forward, states)
            grown = tuple([w or c + i in f_ins for i, w in enumerate(states)])
            if grown == states:
                break
            states = grown
        consts = [i for i in range(c) if i in b_ins or i in f_ins]
        if len(consts) == c and all(states) and all(wanted):
            return None
        state = [i for i in range(k) if states[i]]
        outs = [i for i in range(m) if wanted[i]]
        ins = [*consts, *(c + i for i in state)]
        f_inputs = [self.forward.inputs[i] for i in ins]
        b_inputs = [self.backward.inputs[i] for i in (*ins, *(c + k + i for i in outs))]
        loop = self.around(
            Graph(f_inputs, forward.equations, forward.outputs, forward.name),
            Graph(b_inputs, backward.equations, backward.outputs, backward.name),
            len(consts),
            self.given,
        )
        order, first = [0, *(1 + i for i in ins)], 1 + c + k
        if self.given:
            order += range(first, first + GivenStates.HEAD)
            first += GivenStates.HEAD
            order += [first + i for i in state]
            first += k
        return loop, [*order, *(first + i for i in outs)], outs

    # ---- differentiation ---------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        consts, state, kept, a = self.parts(primals)
        d_consts, d_state, d_kept, d_a = self.parts(tangents)
        c_on = [d is not None for d in d_consts]
        forward, s_on = jvp_body(self.forward, c_on, [d is not None for d in d_state])
        a_on, n_a = [d is not None for d in d_a], len(a)
        while True:
            flags = (*c_on, *s_on, *a_on)
            backward, found = jvp_graph(self.backward, flags, tuple(a_on))
            grown = [x or y for x, y in zip(a_on, found, strict=True)]
            if grown == a_on:
                break
            a_on = grown
        sizes = (len(consts), len(state), n_a)
        order = _interleaved(sizes, flags)
        ordered = backward.cached(
            ("sweep order", sizes),
            lambda: rearranged(backward, order, range(len(backward.outputs))),
        )
        loop = self.around(forward, ordered, len(consts) + sum(c_on), self.given)
        d_start = [
            instantiate(d, type_of(x)) for d, x, on in zip(d_state, state, s_on, strict=True) if on
        ]
        if self.given:
            stacks = kept[GivenStates.HEAD :]
            d_stacks = d_kept[GivenStates.HEAD :]
            kept = [
                *kept,
                *(
                    instantiate(d, type_of(x))
                    for d, x, on in zip(d_stacks, stacks, s_on, strict=True)
                    if on
                ),
            ]
        outs = apply(
            loop,
            primals[0],
            *consts,
            *chosen(d_consts, c_on),
            *state,
            *d_start,
            *kept,
            *a,
            *(instantiate(d, t) for d, t, on in zip(d_a, self._a_types, a_on, strict=True) if on),
        )
        rest = iter(outs[n_a:])
        return outs[:n_a], [next(rest) if on else None for on in a_on]

    @property
    def _a_types(self) -> list[ArrayType]:
        return self.backward.out_types

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Sweep now; the tangent is a sweep in a, or a `SweepTangent`."""
        consts, state, kept, a = self.parts(primals)
        d_consts, d_state, _, d_a = self.parts(tangents)
        outs = apply(self, *primals)
        d_start = [instantiate(d, type_of(x)) for d, x in zip(d_a, a, strict=True)]
        if all(d is None for d in (*d_consts, *d_state)):
            return outs, apply(self, primals[0], *consts, *state, *kept, *d_start)
        loop = self.around(self.forward, self.backward, self.n_consts, False)
        flags = (
            tuple([d is not None for d in d_consts]),
            tuple([d is not None for d in d_state]),
        )
        op = SweepTangent.of_sweep(loop, *flags)
        moved = [d for d in (*d_consts, *d_state) if d is not None]
        return outs, apply(op, primals[0], *consts, *state, *a, *moved, *d_start)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        """Linear in a: cotangents go through the transposed B, from the first step to the last."""
        consts, state, kept, a = self.parts(inputs)
        types = self._a_types
        start = [instantiate(c, t) for c, t in zip(ct, types, strict=True)]
        loop = AdjointLoop.of(self.forward, self.backward, self.n_consts)
        fixed, moving = loop.split(start)
        op = counted_loop(loop.step, loop.n_consts, self.max_steps, self.checkpoints, False)
        outs = apply(op, inputs[0], *consts, *fixed, np.int32(0), *state, *moving)
        found = loop.merge(fixed, outs[1 + len(state) : -1])
        cts = [c if type(x) is Linear else None for c, x in zip(found, a, strict=True)]
        return [None] * (len(inputs) - len(a)) + cts

    # ---- batching ----------------------------------------------------------------------------

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        if dims[0] is not None:
            return self._batch_lanes(size, args, dims, axis)
        consts, state, kept, a = self.parts(args)
        c_dims, s_dims, g_dims, a_dims = self.parts(dims)
        if any(d is not None for d in g_dims[: GivenStates.HEAD]):
            # The examples come from different loops (branches of a cond): forward once more.
            loop = self.around(self.forward, self.backward, self.n_consts, False)
            n = 1 + len(consts) + len(state)
            rest = [*args[:n], *a]
            return loop.batch(size, rest, [*dims[:n], *a_dims], axis)
        c_in = [None if d is None else 0 for d in c_dims]
        stacks = g_dims[GivenStates.HEAD :]
        wide = [d is not None for d in s_dims]
        if kept:
            wide = [w or g is not None for w, g in zip(wide, stacks, strict=True)]
        forward, wide = vmapped_step(self.forward, size, c_in, wide, axis)
        s_in = [0 if w else None for w in wide]
        b_wide = [d is not None for d in a_dims]
        backward, b_wide = vmapped_step(self.backward, size, [*c_in, *s_in], b_wide, axis)
        loop = self.around(forward, backward, self.n_consts, self.given)
        found = apply(
            loop,
            args[0],
            *(move_batch(x, d, 0) for x, d in zip(consts, c_dims, strict=True)),
            *placed(state, s_dims, size, wide),
            *kept[: GivenStates.HEAD],
            *placed(kept[GivenStates.HEAD :], stacks, size, wide if kept else [], 1),
            *placed(a, a_dims, size, b_wide),
        )
        return found, [0 if w else None for w in b_wide]

    def _batch_lanes(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        """Lanes take different numbers of steps: the state gets the step, consts the counts."""
        consts, state, kept, a = self.parts(args)
        c_dims, s_dims, g_dims, a_dims = self.parts(dims)
        n_c = self.n_consts
        forward = lane_forward(self.forward, n_c)
        backward = lane_backward(self.forward, self.backward, n_c)
        loop = self.around(forward, backward, n_c + 1 + len(state), self.given)
        count = move_batch(args[0], dims[0], 0)
        if self.given:
            at = GivenStates.POSITIONS
            kept.insert(GivenStates.HEAD, kept[at])
            g_dims.insert(GivenStates.HEAD, g_dims[at])
        return loop.batch(
            size,
            [
                apply(ReduceMax.of((0,)), count),
                *consts,
                count,
                *state,
                np.int32(0),
                *state,
                *kept,
                *a,
            ],
            [None, *c_dims, 0, *s_dims, None, *s_dims, *g_dims, *a_dims],
            axis,
        )

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        return SweepLowering(self, types).run(ctx, operands)


class AdjointLoop:
    """The loop that takes b through the transposed B, first step to last, next to the state.

    What of b is the same in every step is a const of this loop, so that no state of it is kept.

    Attributes:
        step: (consts, fixed b, state, moving b) -> (state, moving b).
        n_consts: number of consts, fixed b among them.
    """

    def __init__(self, forward: Graph, backward: Graph, n_consts: int):
        graph = adjoint_step(forward, backward)
        n, k = len(forward.inputs), len(forward.outputs)
        b_in, b_out = graph.inputs[n:], graph.outputs[k:]
        self.fixed = [v is a for v, a in zip(b_in, b_out, strict=True)]
        self.n_consts = n_consts + sum(self.fixed)
        self.order = self.place(range(n_consts), range(n_consts, n), range(n, n + len(b_in)))
        moving = [k + i for i, f in enumerate(self.fixed) if not f]
        self.step = rearranged(graph, self.order, [*range(k), *moving])

    @classmethod
    def of(cls, forward: Graph, backward: Graph, n_consts: int) -> AdjointLoop:
        """The loop of a sweep, kept with it."""
        key = ("adjoint loop", forward, n_consts)
        return backward.cached(key, lambda: cls(forward, backward, n_consts))

    def split(self, b: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The fixed and the moving part of b."""
        return chosen(b, self.fixed), chosen(b, [not f for f in self.fixed])

    def merge(self, fixed: Sequence[Any], moving: Sequence[Any]) -> list[Any]:
        """b from its two parts."""
        one, two = iter(fixed), iter(moving)
        return [next(one) if f else next(two) for f in self.fixed]

    def place(self, consts: Sequence[Any], state: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        """Inputs in the order of `step`."""
        fixed, moving = self.split(b)
        return [*consts, *fixed, *state, *moving]


class SweepTangent(LinearLoop):
    """The tangent of a `Sweep`, from those of some consts, of some states and of a[n].

    Inputs are n, consts, s[0], a[n], and the tangents; results are the tangents of a[0].
    """

    name = "sweep_tangent"
    forward: Graph
    backward: Graph
    n_consts: int
    max_steps: int
    checkpoints: int
    consts: Flags
    state: Flags

    def __init__(
        self,
        forward: Graph,
        backward: Graph,
        n_consts: int,
        max_steps: int,
        checkpoints: int,
        consts: Flags,
        state: Flags,
    ):
        super().__init__(forward, backward, n_consts, max_steps, checkpoints, consts, state)
        self.axis_names = tuple(dict.fromkeys((*forward.axis_names, *backward.axis_names), 0))

    @classmethod
    def of_sweep(cls, sweep: Sweep, consts: Flags, state: Flags) -> SweepTangent:
        """The tangent of a sweep, kept with its graph."""
        fields = (sweep.n_consts, sweep.max_steps, sweep.checkpoints, consts, state)
        return sweep.backward.cached(
            ("sweep tangent", sweep.forward, *fields),
            lambda: cls(sweep.forward, sweep.backward, *fields),
        )

    def sweep(self) -> Sweep:
        """The sweep that this is the tangent of, without kept states."""
        return sweep_of(
            self.forward, self.backward, self.n_consts, self.max_steps, self.checkpoints, False
        )

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """Split inputs behind n into consts, state, a, tangents."""
        c, m = 1 + self.n_consts, len(self.backward.outputs)
        k = c + len(self.forward.outputs)
        return [*values[1:c]], [*values[c:k]], [*values[k : k + m]], [*values[k + m :]]

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return self.backward.out_types

    def expanded(self) -> Graph:
        flags = (*self.consts, *self.state)
        types, a_types = self.forward.in_types, self.backward.out_types

        def run(*args: Any) -> list[Any]:
            consts, state, a, d = self.parts(args)
            moved = iter(d)
            tangents = [next(moved) if on else None for on in flags]
            primals = [args[0], *consts, *state, *a]
            _, d_outs = self.sweep().jvp(primals, [None, *tangents, *moved])
            return [instantiate(d, t) for d, t in zip(d_outs, a_types, strict=True)]

        def make() -> Graph:
            ins = [INDEX, *types, *a_types, *tangent_types(types, flags), *a_types]
            return traced(run, ins, self.forward.name, "jvp")

        return self.backward.cached(("expanded", self), make)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        """There with the cotangents (`AdjointLoop`), and back to those of consts and state."""
        consts, state, a, d = self.parts(inputs)
        a_types, n_c = self.backward.out_types, self.n_consts
        linear = LinearStep.of(self.forward, self.consts, self.state)
        start = [instantiate(c, t) for c, t in zip(ct, a_types, strict=True)]
        loop = AdjointLoop.of(self.forward, self.backward, n_c)
        fixed, moving = loop.split(start)
        op = counted_loop(loop.step, loop.n_consts, self.max_steps, self.checkpoints, True)
        there = apply(op, inputs[0], *consts, *fixed, np.int32(0), *state, *moving)
        k, m, head = len(state), len(a), GivenStates.HEAD
        first = 1 + k + len(moving)
        kept = there[first + 1 :]
        back = second_backward(self.forward, self.backward, n_c, self.consts, linear.state)
        order = [*loop.order, *range(len(loop.order), len(back.inputs))]
        ordered = back.cached(
            ("fixed first", tuple(order)),
            lambda: rearranged(back, order, range(len(back.outputs))),
        )
        sweep = sweep_of(loop.step, ordered, loop.n_consts, self.max_steps, self.checkpoints, True)
        zeros = [full(t) for t in back.out_types[m:]]
        states = [*kept[:head], *kept[head + 1 :]]  # without the counter's
        found = apply(sweep, inputs[0], *consts, *fixed, *state, *moving, *states, *a, *zeros)[m:]
        n_dc = sum(self.consts)
        wanted = [x for x, on in zip(self.state, linear.state, strict=True) if on]
        cts = [*found[:n_dc], *chosen(found[n_dc:], wanted)]
        cts += loop.merge(fixed, there[1 + k : first])
        cts = [c if type(x) is Linear else None for c, x in zip(cts, d, strict=True)]
        return [None] * (len(inputs) - len(d)) + cts

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        consts, state, a, d = self.parts(args)
        c_dims, s_dims, a_dims, d_dims = self.parts(dims)
        if dims[0] is not None:
            count = move_batch(args[0], dims[0], 0)
            most = apply(ReduceMax.of((0,)), count)
            loop = self._lanes()
            return loop.batch(
                size,
                [most, *consts, count, *state, np.int32(0), *state, *a, *d],
                [None, *c_dims, 0, *s_dims, None, *s_dims, *a_dims, *d_dims],
                axis,
            )
        moved = iter([x is not None for x in d_dims])
        c_wide = wide_with(c_dims, self.consts, moved)
        s_wide = wide_with(s_dims, self.state, moved)
        a_wide = wide_with(a_dims, [True] * len(a), moved)
        c_in = [0 if w else None for w in c_wide]
        forward, s_wide = vmapped_step(self.forward, size, c_in, s_wide, axis)
        fixed = [*c_in, *(0 if w else None for w in s_wide)]
        backward, a_wide = vmapped_step(self.backward, size, fixed, a_wide, axis)
        sweep = sweep_of(forward, backward, self.n_consts, self.max_steps, self.checkpoints, False)
        d_wide = [*chosen([*c_wide, *s_wide], (*self.consts, *self.state)), *a_wide]
        found = apply(
            SweepTangent.of_sweep(sweep, self.consts, self.state),
            args[0],
            *placed(consts, c_dims, size, c_wide),
            *placed(state, s_dims, size, s_wide),
            *placed(a, a_dims, size, a_wide),
            *placed(d, d_dims, size, d_wide),
        )
        return found, [0 if w else None for w in a_wide]

    def _lanes(self) -> SweepTangent:
        n_c, k = self.n_consts, len(self.forward.outputs)
        sweep = sweep_of(
            lane_forward(self.forward, n_c),
            lane_backward(self.forward, self.backward, n_c),
            n_c + 1 + k,
            self.max_steps,
            self.checkpoints,
            False,
        )
        consts = (*self.consts, False, *[False] * k)
        return SweepTangent.of_sweep(sweep, consts, (False, *self.state))


def sweep_of(
    forward: Graph, backward: Graph, n_consts: int, max_steps: int, checkpoints: int, given: bool
) -> Sweep:
    """The one `Sweep` of two graphs, kept with them."""
    return backward.cached(
        ("sweep", forward, n_consts, max_steps, checkpoints, given),
        lambda: Sweep(forward, backward, n_consts, max_steps, checkpoints, given),
    )


def _interleaved(sizes: tuple[int, int, int], active: Sequence[bool]) -> list[int]:
    """Input order consts, d consts, state, d state, a, d a of a graph with tangents last."""
    n, order, start = sum(sizes), [], 0
    where = {i: n + sum(active[:i]) for i in range(n) if active[i]}
    for size in sizes:
        here = range(start, start + size)
        order += [*here, *(where[i] for i in here if active[i])]
        start += size
    return order
