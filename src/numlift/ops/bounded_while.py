"""`BoundedWhile`: a while loop with a bound on its steps, differentiable in reverse mode.

Reverse mode needs the states of the loop backwards. The forward loop keeps some of them, as
`checkpoint_schedule` says; its tangent is a `LoopTangent`, whose transpose goes back through the
steps (`Sweep`) and computes again what was not kept. Steps that were not taken cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.graph import Graph
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType
from ..structural.arith import add, convert
from ..structural.families import move_batch
from ..transforms.jvp import instantiate
from ..transforms.vmap import place_batch, vmap_graph
from .bounded_lowering import BoundedLowering
from .call import FLAG, HigherOrder, Pruned, call_of, guarded, open_ended
from .callback import IO, quiet, without_effect
from .checks import CHECK
from .elementwise_binary import and_
from .elementwise_misc import stop_gradient
from .loop_parts import GivenStates, makers
from .loop_tangent import LoopTangent
from .reductions import ReduceOr
from .scan_counts import INDEX, choose
from .sweep_graphs import LinearStep
from .while_loop import guarded_condition, jvp_body, pruned_loop, while_parts, with_unused


class BoundedWhile(HigherOrder):
    """carry = body(consts, carry) while condition(consts, carry), for at most max_steps steps.

    Inputs are condition consts, body consts and carry. Results are the last carry, the number of
    steps (int32) and, if `save`, what a backward pass needs (`GivenStates`).
    """

    name = "bounded_while"
    condition: Graph
    body: Graph
    n_condition: int
    n_body: int
    max_steps: int
    checkpoints: int
    save: bool = False

    def __init__(
        self,
        condition: Graph,
        body: Graph,
        n_condition: int,
        n_body: int,
        max_steps: int,
        checkpoints: int,
        save: bool = False,
    ):
        super().__init__(condition, body, n_condition, n_body, max_steps, checkpoints, save)
        self.effects = condition.effects | body.effects
        self.axis_names = tuple(dict.fromkeys((*condition.axis_names, *body.axis_names), 0))

    def _around(
        self,
        condition: Graph,
        body: Graph,
        n_condition: int | None = None,
        n_body: int | None = None,
        save: bool | None = None,
    ) -> BoundedWhile:
        """The same kind of loop around other graphs, kept with them."""
        fields = (
            self.n_condition if n_condition is None else n_condition,
            self.n_body if n_body is None else n_body,
            self.max_steps,
            self.checkpoints,
            self.save if save is None else save,
        )
        return body.cached(
            ("bounded while", condition, *fields), lambda: BoundedWhile(condition, body, *fields)
        )

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        """Always: the number of steps depends on values."""
        return True

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        loop = self._around(guarded_condition(self.condition), self.body, self.n_condition + 1)
        return apply(loop, on, *args)

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        outs = self.body.out_types
        kept = GivenStates.types(outs, self.checkpoints) if self.save else []
        return [*outs, INDEX, *kept]

    def prune(self, used: tuple[bool, ...]) -> Pruned | None:
        """A loop without carries and consts that nobody needs."""
        k = len(self.body.outputs)
        first = k + 1 + GivenStates.HEAD
        stacks = used[first:] or (False,) * k
        save = any(used[k + 1 :])
        found = pruned_loop(self, [a or b for a, b in zip(used[:k], stacks, strict=True)])
        if found is None:
            if save == self.save:
                return None
            loop = self._around(self.condition, self.body, save=save)
            return loop, [*range(len(self.body.inputs) + self.n_condition)], [*range(k + 1)]
        condition, body, n_c, order, carry = found
        loop = self._around(condition, body, n_c, len(order) - n_c - len(carry), save)
        outs = [*carry, k]
        if save:
            outs += [*range(k + 1, first), *(first + i for i in carry)]
        return loop, order, outs

    # ---- differentiation ---------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        _, d_consts, d_carry = while_parts(self, tangents)
        consts = [d is not None for d in d_consts]
        body, carry = jvp_body(self.body, consts, [d is not None for d in d_carry])
        extra = [t for t, a in zip(self.body.out_types, carry, strict=True) if a]
        condition = self.condition.cached(
            ("with unused", tuple(extra)), lambda: with_unused(self.condition, extra)
        )
        loop = self._around(condition, body, self.n_condition, self.n_body + sum(consts))
        c_args, b_args, init = while_parts(self, primals)
        d_init = [
            instantiate(d, type_of(x)) for d, x, a in zip(d_carry, init, carry, strict=True) if a
        ]
        found = apply(
            loop, *c_args, *b_args, *(d for d in d_consts if d is not None), *init, *d_init
        )
        k, n = len(carry), len(carry) + len(d_init)
        tangents = _spread(found[k:n], carry)
        if not self.save:
            return [*found[:k], found[n]], [*tangents, None]
        first = n + 1 + GivenStates.HEAD
        outs = [*found[:k], *found[n : first + k]]
        d_stacks = _spread(found[first + k :], carry)
        return outs, [*tangents, *[None] * (1 + GivenStates.HEAD), *d_stacks]

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Run the loop, keeping some states; its tangent is a `LoopTangent`."""
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
        flags = tuple([d is not None for d in d_consts])
        linear = LinearStep.of(self.body, flags, tuple([d is not None for d in d_init]))
        found = apply(self._around(self.condition, linear.forward, save=True), *primals)
        body = without_effect(quiet(self.body), CHECK)
        op = body.cached(
            ("tangent", self.n_body, self.max_steps, self.checkpoints, flags, linear.state),
            lambda: LoopTangent(
                body, self.n_body, self.max_steps, self.checkpoints, flags, linear.state
            ),
        )
        d_start = [
            instantiate(d, type_of(x))
            for d, x, on in zip(d_init, init, linear.state, strict=True)
            if on
        ]
        moved = [d for d in d_consts if d is not None]
        rest = iter(apply(op, found[k], *consts, *init, *found[k + 1 :], *moved, *d_start))
        d_outs = [next(rest) if on else None for on in linear.state]
        # Nobody asks for derivatives of the kept states: `Sweep` knows where they come from.
        outs = found if self.save else found[: k + 1]
        return outs, [*d_outs, *[None] * (len(outs) - k)]

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
        found = apply(self._around(condition, body), *consts, *start)
        outs = [0 if b else None for b in carry]
        if not self.save:
            return found, [*outs, None]
        head = [None] * (1 + GivenStates.HEAD)
        return found, [*outs, *head, *(1 if b else None for b in carry)]

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

        condition = body.cached(
            "any lane",
            lambda: trace_to_graph(
                lambda on, *_: [apply(ReduceOr.of((0,)), on)],
                body.out_types,
                name="any",
            )[0],
        )
        loop = self._around(condition, body, 0, n_c + n_b + k)
        safe = [apply(stop_gradient, x) if type_of(x).inexact else x for x in start]
        counts = place_batch(np.int32(0), None, size, 0)
        found = apply(loop, *moved, *safe, *active, *start, counts)
        outs = found[1 : k + 2]
        if not self.save:
            return outs, [0] * (k + 1)
        first = k + 3 + GivenStates.HEAD
        head, stacks = found[k + 3 : first], found[first + 1 : first + 1 + k]
        dims = [*[0] * (k + 1), *[None] * GivenStates.HEAD, *[1] * k]
        return [*outs, *head, *stacks], dims

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


def _spread(found: Sequence[Any], active: Sequence[bool]) -> list[Any]:
    """One tangent a carry; None where it has none."""
    rest = iter(found)
    return [next(rest) if a else None for a in active]


makers["loop"] = BoundedWhile
