"""`BoundedWhile`: a while loop with a bound on its steps, differentiable in reverse mode.

Reverse mode needs the states of the loop backwards. The forward loop keeps every s-th state only,
with s near the square root of the bound; the backward loop takes these segments last to first,
computes the states inside a segment again and goes back through them. So about 2 sqrt(max_steps)
states are in memory at a time, and each step that was taken is computed three times: forward,
again, backward. Steps that were not taken cost nothing.

Source: A. Griewank, A. Walther, "Evaluating Derivatives", 2nd ed., SIAM 2008, chapter 12 (two-level
checkpointing); the same, "Algorithm 799: revolve", ACM TOMS 26 (2000), for the binomial scheme,
which would need fewer states and more steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.graph import Graph, Var
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType
from ..structural.arith import add, convert, mul, sub
from ..structural.families import move_batch
from ..structural.shape import ReduceSum
from ..transforms.jvp import instantiate
from ..transforms.vmap import place_batch, vmap_graph
from .bounded_lowering import BoundedLowering
from .call import FLAG, HigherOrder, Pruned, call_of, guarded, open_ended
from .callback import IO, quiet
from .compare import gt
from .elementwise_binary import and_, max_, min_
from .elementwise_misc import stop_gradient
from .reductions import ReduceOr
from .remat import Checkpoint
from .scan import Scan, stacked
from .scan_counts import INDEX, choose
from .shape import Iota
from .while_loop import guarded_condition, jvp_body, pruned_loop, while_parts, with_unused


class BoundedWhile(HigherOrder):
    """carry = body(consts, carry) while condition(consts, carry), for at most max_steps steps.

    Inputs are condition consts, body consts and carry. Results are the last carry, the number of
    steps (int32) and, if `save`, the carry at the start of each segment, stacked.
    """

    name = "bounded_while"
    condition: Graph
    body: Graph
    n_condition: int
    n_body: int
    max_steps: int
    save: bool = False

    def __init__(
        self,
        condition: Graph,
        body: Graph,
        n_condition: int,
        n_body: int,
        max_steps: int,
        save: bool = False,
    ):
        super().__init__(condition, body, n_condition, n_body, max_steps, save)
        self.effects = condition.effects | body.effects
        self.axis_names = tuple(dict.fromkeys((*condition.axis_names, *body.axis_names), 0))
        self.spacing = max(1, math.isqrt(max(0, max_steps - 1)) + 1)
        self.segments = -(-max_steps // self.spacing)

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        """Always: the number of steps depends on values."""
        return True

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        condition = guarded_condition(self.condition)
        loop = self.body.cached(
            ("guarded", condition, self.max_steps, self.save),
            lambda: BoundedWhile(
                condition, self.body, self.n_condition + 1, self.n_body, self.max_steps, self.save
            ),
        )
        return apply(loop, on, *args)

    def saving(self) -> BoundedWhile:
        """The same loop, which also returns the states at the starts of segments."""
        if self.save:
            return self
        return self.body.cached(
            ("saving while", self.condition, self.n_condition, self.max_steps),
            lambda: BoundedWhile(
                self.condition, self.body, self.n_condition, self.n_body, self.max_steps, True
            ),
        )

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        outs = self.body.out_types
        kept = [stacked(t, self.segments) for t in outs] if self.save else []
        return [*outs, INDEX, *kept]

    def prune(self, used: tuple[bool, ...]) -> Pruned | None:
        """A loop without carries and consts that nobody needs."""
        k = len(self.body.outputs)
        stacks = used[k + 1 :] or (False,) * k
        found = pruned_loop(self, [a or b for a, b in zip(used[:k], stacks, strict=True)])
        if found is None:
            return None
        condition, body, n_c, order, carry = found
        save = any(stacks)
        loop = BoundedWhile(
            condition, body, n_c, len(order) - n_c - len(carry), self.max_steps, save
        )
        return loop, order, [*carry, k, *(k + 1 + i for i in carry if save)]

    # ---- differentiation ---------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        _, d_consts, d_carry = while_parts(self, tangents)
        consts = [d is not None for d in d_consts]
        body, carry = jvp_body(self.body, consts, [d is not None for d in d_carry])
        extra = [t for t, a in zip(self.body.out_types, carry, strict=True) if a]
        loop = body.cached(
            ("jvp bounded while", self.condition, self.n_condition, self.max_steps, self.save),
            lambda: BoundedWhile(
                with_unused(self.condition, extra),
                body,
                self.n_condition,
                self.n_body + sum(consts),
                self.max_steps,
                self.save,
            ),
        )
        c_args, b_args, init = while_parts(self, primals)
        d_init = [
            instantiate(d, type_of(x)) for d, x, a in zip(d_carry, init, carry, strict=True) if a
        ]
        found = apply(
            loop, *c_args, *b_args, *(d for d in d_consts if d is not None), *init, *d_init
        )
        k, n = len(carry), len(carry) + len(d_init)
        outs, d_outs = found[:k], iter(found[k:n])
        kept, d_kept = found[n + 1 : n + 1 + k], iter(found[n + 1 + k :])
        tangents = [next(d_outs) if a else None for a in carry]
        if not self.save:
            return [*outs, found[n]], [*tangents, None]
        d_stacks = [next(d_kept) if a else None for a in carry]
        return [*outs, found[n], *kept], [*tangents, None, *d_stacks]

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Run the loop, keeping the starts of segments; then write a loop over segments down."""
        _, consts, init = while_parts(self, primals)
        _, d_consts, d_init = while_parts(self, tangents)
        k = len(init)
        if IO in self.effects:
            raise errors.GradError(
                errors.explain(
                    "grad of while_loop",
                    "steps are computed again in the backward pass, and with them an io_callback",
                    try_="nl.jvp, lax.scan, or debug.callback for a callback without results",
                )
            )
        found = apply(self.saving(), *primals)
        outs, steps, starts = found[:k], found[k], found[k + 1 :]
        counts = self._segment_counts(steps)
        taken = apply(ReduceSum.of((0,)), convert(apply(gt, counts, np.int32(0)), np.int32))
        loop = self._segment_loop()
        nothing = [None]
        parts = loop.linear((False, *(d is not None for d in (*d_consts, *d_init)), False))
        # The body of the loop over segments keeps its own inputs only, so its residuals are known.
        at = {v: i for i, v in enumerate(parts.primal.body.inputs)}
        first = 1 + len(consts)
        kept = [starts[at[v] - first] for v in parts.stacked]
        loop_found = [*outs, *(starts if self.save else ()), *kept]
        d_found = parts.tangents(
            loop_found, [taken, *consts, *init, counts], [*nothing, *d_consts, *d_init, *nothing]
        )
        return (found if self.save else [*outs, steps]), [*d_found[:k], None, *d_found[k:]]

    def _segment_counts(self, steps: Any) -> Any:
        """Number of steps taken in each segment."""
        segment = apply(Iota.of(INDEX.dtype, (self.segments,), 0))
        left = apply(sub, steps, apply(mul, segment, np.int32(self.spacing)))
        return apply(max_, apply(min_, left, np.int32(self.spacing)), np.int32(0))

    def _segment_loop(self) -> Scan:
        """Scan over segments: (segments, body consts; carry; steps in the segment)."""

        def make() -> Scan:
            n_b, k, body = self.n_body, len(self.body.outputs), quiet(self.body)
            counted = Graph([Var(INDEX), *body.inputs], body.equations, body.outputs, body.name)
            steps = Scan(counted, self.spacing, False, 1 + n_b, k, 1, True)
            types = self.body.in_types
            inner, _ = trace_to_graph(
                lambda *xs: apply(steps, *xs), [INDEX, *types], name=self.body.name
            )
            segment = Checkpoint(inner, None, False)

            def run(*args: Any) -> list[Any]:
                carry = args[1 + n_b : 1 + n_b + k]
                found = apply(segment, args[-1], *args[1:-1])
                return [*found, *carry] if self.save else found

            outer, _ = trace_to_graph(run, [INDEX, *types, INDEX], name=self.body.name)
            return Scan(outer, self.segments, False, 1 + n_b, k, 1, True)

        return self.body.cached(("segments", self.n_body, self.max_steps, self.save), make)

    # ---- batching ----------------------------------------------------------------------------

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        c_dims, b_dims, k_dims = while_parts(self, [None if d is None else 0 for d in dims])
        carry = [d is not None for d in k_dims]
        while True:
            k_in = [0 if b else None for b in carry]
            body, out_dims = vmap_graph(self.body, size, (*b_dims, *k_in), tuple(carry), axis)
            condition, (test_dim,) = vmap_graph(self.condition, size, (*c_dims, *k_in), None, axis)
            grown = [a or d is not None for a, d in zip(carry, out_dims, strict=True)]
            if test_dim is not None:
                return self._batch_lanes(size, args, dims, axis)
            if grown == carry:
                break
            carry = grown
        consts = [move_batch(x, d, 0) for x, d in zip(args, dims, strict=True)][: -len(carry)]
        start = [
            place_batch(x, d, size, 0 if b else None)
            for x, d, b in zip(args[len(consts) :], dims[len(consts) :], carry, strict=True)
        ]
        loop = body.cached(
            ("bounded while", condition, self.n_condition, self.max_steps, self.save),
            lambda: BoundedWhile(
                condition, body, self.n_condition, self.n_body, self.max_steps, self.save
            ),
        )
        found = apply(loop, *consts, *start)
        stacks = [1 if b else None for b in carry] if self.save else []
        return found, [*(0 if b else None for b in carry), None, *stacks]

    def _batch_lanes(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        """Lanes stop at different steps: go on while any does; the others keep their carry."""
        if IO in self.effects:
            raise errors.VmapError(
                errors.explain(
                    "vmap of while_loop",
                    "examples stop at different steps, so an io_callback inside would also be "
                    "called for examples that are done",
                    try_="lax.map instead of vmap, or debug.callback",
                )
            )
        n_c, n_b = self.n_condition, self.n_body
        consts, init = args[: n_c + n_b], args[n_c + n_b :]
        k = len(init)
        forced = (True,) * (k + 2)
        in_dims = [None if d is None else 0 for d in dims]
        lane_dims = (*in_dims[: n_c + n_b], *([0] * (2 * k + 2)))
        body, _ = vmap_graph(self._lane_body(), size, lane_dims, forced, axis)
        moved = [move_batch(x, d, 0) for x, d in zip(consts, dims, strict=False)]
        start = [place_batch(x, d, size, 0) for x, d in zip(init, dims[n_c + n_b :], strict=True)]
        test_dims = (*in_dims[:n_c], *([0] * k))
        test, _ = vmap_graph(self.condition, size, test_dims, (True,), axis)
        active = apply(call_of(test, True), *moved[:n_c], *start)

        def make() -> BoundedWhile:
            condition, _ = trace_to_graph(
                lambda on, *_: [apply(ReduceOr.of((0,)), on)], body.out_types, name="any"
            )
            return BoundedWhile(condition, body, 0, n_c + n_b + k, self.max_steps, self.save)

        loop = body.cached(("lanes", self.max_steps, self.save), make)
        safe = [apply(stop_gradient, x) if type_of(x).inexact else x for x in start]
        counts = place_batch(np.int32(0), None, size, 0)
        found = apply(loop, *moved, *safe, *active, *start, counts)
        outs, stacks = found[1 : k + 2], found[k + 4 : 2 * k + 4]
        return [*outs, *stacks], [*([0] * (k + 1)), *([1] * len(stacks))]

    def _lane_body(self) -> Graph:
        """(condition consts, body consts, safe carry, on, carry, steps) -> (on, carry, steps).

        A lane that has stopped computes a step of its safe carry, the initial one, and drops the
        result: at its last carry the step may have no finite derivative, and 0 * inf is NaN.
        """
        n_c, n_b, k = self.n_condition, self.n_body, len(self.body.outputs)
        guards = open_ended(self.body)
        body = guarded(self.body) if guards else self.body

        def step(*values: Any) -> list[Any]:
            run = current.get().apply
            c_values, b_values = values[:n_c], values[n_c : n_c + n_b]
            safe, rest = values[n_c + n_b : n_c + n_b + k], values[n_c + n_b + k :]
            active, carry, steps = rest[0], rest[1:-1], rest[-1]
            held = [choose(active, x, s) for x, s in zip(carry, safe, strict=True)]
            on = [active] if guards else []
            new = body.run(run, [*on, *b_values, *held])
            kept = [choose(active, x, old) for x, old in zip(new, carry, strict=True)]
            (again,) = self.condition.run(run, [*c_values, *kept])
            taken = apply(add, steps, convert(active, np.int32))
            return [apply(and_, active, again), *kept, taken]

        def make() -> Graph:
            k_types = self.body.in_types[n_b:]
            c_types = self.condition.in_types[:n_c]
            types = [*c_types, *self.body.in_types[:n_b], *k_types, FLAG, *k_types, INDEX]
            return trace_to_graph(step, types, name=self.body.name)[0]

        return self.body.cached(("lane body", self.condition, n_c, n_b), make)

    # ---- lowering ----------------------------------------------------------------------------

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        return BoundedLowering(self, types).run(ctx, operands)
