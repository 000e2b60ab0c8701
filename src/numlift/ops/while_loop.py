"""`While`: a loop that runs until its condition is false."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.graph import Graph
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType, array_type
from ..structural.arith import select
from ..structural.families import move_batch
from ..structural.shape import broadcast
from ..transforms.jvp import instantiate, jvp_graph
from ..transforms.simplify import pruned_graph
from ..transforms.vmap import batched_type, place_batch, vmap_graph
from .call import FLAG, HigherOrder, Pruned, call_of, guarded, open_ended
from .callback import DEBUG, IO, ORDERED, quiet
from .elementwise_binary import and_
from .loop_lowering import emit_while
from .reductions import ReduceOr
from .scan import rearranged


class While(HigherOrder):
    """carry = body(body consts, carry) while condition(condition consts, carry).

    Inputs are condition consts, body consts and carry, in this order.
    """

    name = "while"
    condition: Graph
    body: Graph
    n_condition: int
    n_body: int

    def __init__(self, condition: Graph, body: Graph, n_condition: int, n_body: int):
        super().__init__(condition, body, n_condition, n_body)
        self.effects = condition.effects | body.effects
        self.axis_names = tuple(dict.fromkeys((*condition.axis_names, *body.axis_names), 0))

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Split inputs into condition consts, body consts and carry."""
        return while_parts(self, values)

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        """Always: the number of steps depends on values."""
        return True

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        condition = guarded_condition(self.condition)
        loop = self.body.cached(
            ("guarded", condition),
            lambda: While(condition, self.body, self.n_condition + 1, self.n_body),
        )
        return apply(loop, on, *args)

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        return self.body.out_types

    def prune(self, used: tuple[bool, ...]) -> Pruned | None:
        """A loop without carries and consts that nobody needs."""
        found = pruned_loop(self, used)
        if found is None:
            return None
        condition, body, n_c, order, carry = found
        return While(condition, body, n_c, len(order) - n_c - len(carry)), order, carry

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        _, d_consts, d_carry = self.parts(tangents)
        consts = [d is not None for d in d_consts]
        body, carry = jvp_body(self.body, consts, [d is not None for d in d_carry])
        k = len(carry)
        extra = [t for t, a in zip(self.body.out_types, carry, strict=True) if a]
        n_b = self.n_body + sum(consts)
        loop = body.cached(
            ("jvp while", self.condition, self.n_condition),
            lambda: While(with_unused(self.condition, extra), body, self.n_condition, n_b),
        )
        c_args, b_args, init = self.parts(primals)
        d_init = [
            instantiate(d, type_of(x)) for d, x, a in zip(d_carry, init, carry, strict=True) if a
        ]
        found = apply(
            loop, *c_args, *b_args, *(d for d in d_consts if d is not None), *init, *d_init
        )
        rest = iter(found[k:])
        return found[:k], [next(rest) if a else None for a in carry]

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Run the loop now; the tangent loop (written down) runs it again with tangents."""
        if IO in self.effects:
            raise errors.GradError(
                errors.explain(
                    "grad of while_loop",
                    "the loop would run twice, and with it an io_callback inside",
                    try_="nl.jvp, lax.scan, or debug.callback for a callback without results",
                )
            )
        outs = apply(self, *primals)
        again = self
        if DEBUG in self.effects:
            again = While(quiet(self.condition), quiet(self.body), self.n_condition, self.n_body)
        _, d_outs = again.jvp(primals, tangents)
        return outs, d_outs

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        raise errors.GradError(
            errors.explain(
                "grad of while_loop",
                "reverse mode needs a loop whose number of steps is known while tracing",
                try_=_bounded_loop(self.body.name),
            )
        )

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        c_dims, b_dims, k_dims = self.parts([None if d is None else 0 for d in dims])
        carry = [d is not None for d in k_dims]
        while True:
            k_in = [0 if b else None for b in carry]
            body, out_dims = vmap_graph(self.body, size, (*b_dims, *k_in), tuple(carry), axis)
            condition, (test_dim,) = vmap_graph(self.condition, size, (*c_dims, *k_in), None, axis)
            grown = [a or d is not None for a, d in zip(carry, out_dims, strict=True)]
            if test_dim is not None:
                grown = [True] * len(carry)
            if grown == carry:
                break
            carry = grown
        c_args, b_args, init = self.parts(args)
        old_c, old_b, old_k = self.parts(dims)
        moved = [move_batch(x, d, 0) for x, d in zip(c_args, old_c, strict=True)]
        body_args = [move_batch(x, d, 0) for x, d in zip(b_args, old_b, strict=True)]
        start = [
            place_batch(x, d, size, 0 if b else None)
            for x, d, b in zip(init, old_k, carry, strict=True)
        ]
        n_b = self.n_body
        if test_dim is not None:
            if IO in self.effects:
                raise errors.VmapError(
                    errors.explain(
                        "vmap of while_loop",
                        "examples stop at different steps, so an io_callback inside would also be "
                        "called for examples that are done",
                        try_="lax.map instead of vmap, or debug.callback",
                    )
                )
            if open_ended(self.body):
                inner = (0, *b_dims, *k_in)
                body, _ = vmap_graph(guarded(self.body), size, inner, tuple(carry), axis)
            key = ("batched while", self.condition, size, tuple(c_dims), tuple(b_dims), axis)
            loop = self.body.cached(key, lambda: self._per_lane(condition, body, size))
            active = apply(call_of(condition, True), *moved, *start)
            found = apply(loop, *moved, *body_args, *active, *start)[1:]
            return found, [0] * len(found)
        loop = body.cached(("while", condition), lambda: While(condition, body, len(moved), n_b))
        found = apply(loop, *moved, *body_args, *start)
        return found, [0 if b else None for b in carry]

    def _per_lane(self, condition: Graph, body: Graph, size: int) -> While:
        """Go on while any lane goes on; lanes that are done keep their carry.

        The first carry says which lanes go on. If there are loops in the body, it takes that too.
        """
        n_c, n_b = self.n_condition, self.n_body
        b_types = body.in_types[-n_b - len(self.body.outputs) :][:n_b]
        k_types = [batched_type(t, size) for t in self.body.out_types]
        lanes = array_type((size,), np.dtype(np.bool_))

        def step(*values: Any) -> list[Any]:
            run = current.get().apply
            c_values, b_values = values[:n_c], values[n_c : n_c + n_b]
            active, carry = values[n_c + n_b], values[n_c + n_b + 1 :]
            on = [active] if open_ended(self.body) else []
            new = body.run(run, [*on, *b_values, *carry])
            kept = [
                apply(select, broadcast(active, type_of(x).shape, (0,)), x, y)
                for x, y in zip(carry, new, strict=True)
            ]
            (again,) = condition.run(run, [*c_values, *kept])
            return [apply(and_, active, again), *kept]

        test, _ = trace_to_graph(
            lambda active, *_: [apply(ReduceOr.of((0,)), active)], [lanes, *k_types], name="any"
        )
        types = [*condition.in_types[:n_c], *b_types, lanes, *k_types]
        loop, _ = trace_to_graph(step, types, name=self.body.name)
        return While(test, loop, 0, n_c + n_b)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        n_c, n_b = self.n_condition, self.n_body
        carry_types = [t.physical for t in self.body.out_types]
        all_types = [*(t.physical for t in types[: n_c + n_b]), *carry_types]

        def test(b: Any, names: list[str]) -> list[str]:
            return b.inline(self.condition, [*names[:n_c], *names[n_c + n_b :]])

        def do(b: Any, names: list[str]) -> list[str]:
            return [*names[: n_c + n_b], *b.inline(self.body, names[n_c:])]

        ordered = ORDERED in self.effects
        return emit_while(ctx, operands, all_types, test, do, ordered)[n_c + n_b :]


def _bounded_loop(name: str) -> str:
    """What to write in place of a loop without a bound.

    Args:
        name: of its body; `autostage` calls that of a Python loop for_LINE or while_LINE.
    """
    kind, _, line = name.partition("_")
    if kind in ("for", "while") and line.isdigit():
        call = "fori_loop(a, b, body, value" if kind == "for" else "while_loop(test, body, value"
        return (
            f"lax.{call}, max_steps=N) in place of the `{kind}` on line {line}: with a bound N "
            "it is differentiable; or forward mode (nl.jvp, nl.jacfwd)"
        )
    return (
        "max_steps=N (a bound) makes while_loop and fori_loop differentiable; or lax.scan, "
        "fori_loop with int bounds, or forward mode (nl.jvp, nl.jacfwd)"
    )


def guarded_condition(condition: Graph) -> Graph:
    """(on, *inputs) -> on and the condition."""

    def make() -> Graph:
        inner = guarded(condition) if open_ended(condition) else None

        def run(on: Any, *args: Any) -> list[Any]:
            given = args if inner is None else (on, *args)
            (test,) = (inner or condition).run(current.get().apply, given)
            return [apply(and_, on, test)]

        return trace_to_graph(run, [FLAG, *condition.in_types], name=condition.name)[0]

    return condition.cached("guarded condition", make)


def while_parts(loop: Any, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Split inputs of a while loop into condition consts, body consts and carry."""
    c, b = loop.n_condition, loop.n_condition + loop.n_body
    return list(values[:c]), list(values[c:b]), list(values[b:])


def pruned_loop(
    loop: Any, used: Sequence[bool]
) -> tuple[Graph, Graph, int, list[int], list[int]] | None:
    """Parts of a while loop that the used carries need.

    Returns:
        None if all are needed, else: condition, body, number of condition consts, positions of
        inputs, positions of carries.
    """
    n_c, n_b, k = loop.n_condition, loop.n_body, len(loop.body.outputs)
    test, test_ins = pruned_graph(loop.condition, (True,))
    wanted = tuple([u or n_c + i in test_ins for i, u in enumerate(used)])
    while True:
        body, body_ins = pruned_graph(loop.body, wanted)
        grown = tuple([w or n_b + i in body_ins for i, w in enumerate(wanted)])
        if grown == wanted:
            break
        wanted = grown
    carry = [i for i in range(k) if wanted[i]]
    c_consts = [i for i in test_ins if i < n_c]
    b_consts = [i for i in body_ins if i < n_b]
    if len(c_consts) == n_c and len(b_consts) == n_b and len(carry) == k:
        return None
    c_inputs = [loop.condition.inputs[i] for i in (*c_consts, *(n_c + i for i in carry))]
    b_inputs = [loop.body.inputs[i] for i in (*b_consts, *(n_b + i for i in carry))]
    order = [*c_consts, *(n_c + i for i in b_consts), *(n_c + n_b + i for i in carry)]
    condition = Graph(c_inputs, test.equations, test.outputs, test.name)
    body = Graph(b_inputs, body.equations, body.outputs, body.name)
    return condition, body, len(c_consts), order, carry


def jvp_body(body: Graph, consts: list[bool], carry: list[bool]) -> tuple[Graph, list[bool]]:
    """(consts, d consts, carry, d carry) -> (carry, d carry), and which carries have tangents.

    Args:
        body: (consts, carry) -> carry.
        consts, carry: which inputs have a tangent at first.
    """
    while True:
        active = (*consts, *carry)
        made, out_active = jvp_graph(body, active, tuple(carry))
        grown = [a or b for a, b in zip(carry, out_active, strict=True)]
        if grown == carry:
            break
        carry = grown
    n_b, k, n_dc = len(consts), len(carry), sum(consts)
    d_c = range(n_b + k, n_b + k + n_dc)
    d_k = range(n_b + k + n_dc, n_b + k + n_dc + sum(carry))
    order = [*range(n_b), *d_c, *range(n_b, n_b + k), *d_k]
    ordered = made.cached("while order", lambda: rearranged(made, order, range(len(made.outputs))))
    return ordered, carry


def with_unused(graph: Graph, types: Sequence[ArrayType]) -> Graph:
    """The graph with further inputs that it does not use."""
    made, _ = trace_to_graph(
        lambda *xs: graph.run(current.get().apply, xs[: len(graph.inputs)]),
        [*graph.in_types, *types],
        name=graph.name,
    )
    return made


def moving_carries(body: Graph, n_body: int) -> list[bool]:
    """Which carries a step may change; all, if it would be none."""
    ins = body.inputs[n_body:]
    moving = [v is not a for v, a in zip(ins, body.outputs, strict=True)]
    return moving if any(moving) else [True] * len(moving)


def without_fixed(
    condition: Graph, body: Graph, n_condition: int, n_body: int, moving: Sequence[bool]
) -> tuple[Graph, Graph, int, int]:
    """A loop whose fixed carries are the last consts of both, so that nobody keeps them.

    Returns:
        condition, body, number of condition consts, number of body consts.
    """
    fixed = [i for i, m in enumerate(moving) if not m]
    rest = [i for i, m in enumerate(moving) if m]
    if not fixed:
        return condition, body, n_condition, n_body

    def order(n: int) -> list[int]:
        return [*range(n), *(n + i for i in fixed), *(n + i for i in rest)]

    return (
        rearranged(condition, order(n_condition), [0]),
        rearranged(body, order(n_body), rest),
        n_condition + len(fixed),
        n_body + len(fixed),
    )
