"""`Scan`: a loop with a fixed number of steps, a carry, inputs and outputs by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.graph import Graph
from ..core.op import Linear
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import select
from ..structural.families import move_batch
from ..transforms.jvp import instantiate, jvp_graph
from ..transforms.simplify import pruned_graph
from ..transforms.vmap import place_batch, vmap_graph
from .call import HigherOrder, Pruned, guarded, open_ended
from .loop_lowering import ScanLowering
from .scan_counts import counts_by_lane, masked_body
from .scan_known import known_carry, transpose_around
from .scan_linear import LinearScan
from .scan_transpose import TransposedScan

Flags = tuple[bool, ...]


def stacked(t: ArrayType, length: int) -> ArrayType:
    """Type of `length` values of type `t`, stacked along a new leading axis."""
    sharding = t.sharding
    if sharding is not None:
        sharding = rules.named(sharding.mesh, (None, *rules.spec_of(t)))
    return array_type((length, *t.shape), t.dtype, t.weak_type, sharding)


def rearranged(graph: Graph, inputs: Sequence[int], outputs: Sequence[int]) -> Graph:
    """The graph with its inputs and outputs in another order (outputs may be dropped)."""
    return Graph(
        [graph.inputs[i] for i in inputs],
        graph.equations,
        [graph.outputs[i] for i in outputs],
        graph.name,
    )


class Scan(HigherOrder):
    """carry, y[i] = body(consts, carry, x[i]) for i = 0 .. length-1 (or backwards).

    Inputs are consts, carry, xs in this order; results are the last carry and the stacked ys.
    If `counted`, the first const is the number of steps to take, an int32 scalar in [0, length]:
    the loop takes steps 0 .. count-1 (backwards if `reverse`), and later ys are zero.
    """

    name = "scan"
    body: Graph
    length: int
    reverse: bool
    n_consts: int
    n_carry: int
    unroll: int = 1
    counted: bool = False

    def __init__(
        self,
        body: Graph,
        length: int,
        reverse: bool,
        n_consts: int,
        n_carry: int,
        unroll: int = 1,
        counted: bool = False,
    ):
        super().__init__(body, length, reverse, n_consts, n_carry, unroll, counted)
        self.effects, self.axis_names = body.effects, body.axis_names

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        """Whether the number of steps depends on values."""
        return self.counted or open_ended(self.body)

    def guard(self, on: Any, args: Sequence[Any]) -> list[Any]:
        body, first, rest = self.body, list(args[: self.counted]), args[self.counted :]
        if self.counted:
            first = [apply(select, on, np.int32(0), first[0])]
        if not open_ended(body):
            return apply(self, *first, *rest)
        body = guarded(body)
        if self.counted:
            n, outs = len(body.inputs), range(len(body.outputs))
            order = [1, 0, *range(2, n)]
            body = body.cached("count first", lambda: rearranged(guarded(self.body), order, outs))
        return apply(self.with_body(body, self.n_consts + 1, self.n_carry), *first, on, *rest)

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Split inputs into consts, carry and xs."""
        c, k = self.n_consts, self.n_consts + self.n_carry
        return list(values[:c]), list(values[c:k]), list(values[k:])

    def with_body(
        self, body: Graph, n_consts: int, n_carry: int, reverse: bool | None = None
    ) -> Scan:
        """The same loop around another body."""
        back = self.reverse if reverse is None else reverse
        return body.cached(
            ("scan", self.length, back, n_consts, n_carry, self.unroll, self.counted),
            lambda: Scan(body, self.length, back, n_consts, n_carry, self.unroll, self.counted),
        )

    def prune(self, used: tuple[bool, ...]) -> Pruned | None:
        """A loop without ys, carries, consts and xs that nobody needs."""
        c, k, n = self.n_consts, self.n_carry, len(self.body.inputs)
        wanted = used
        while True:
            body, ins = pruned_graph(self.body, wanted)
            carried = {i - c for i in ins if c <= i < c + k}
            grown = tuple([w or i in carried for i, w in enumerate(wanted)])
            if grown == wanted:
                break
            wanted = grown
        carry = [i for i in range(k) if wanted[i]]
        order = sorted({*ins, *(c + i for i in carry), *([0] if self.counted else [])})
        if len(order) == n and all(wanted):
            return None
        inputs = [self.body.inputs[i] for i in order]
        body = Graph(inputs, body.equations, body.outputs, body.name)
        n_consts = sum(i < c for i in order)
        kept = [i for i, w in enumerate(wanted) if w]
        return self.with_body(body, n_consts, len(carry)), order, kept

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        outs = self.body.out_types
        return [*outs[: self.n_carry], *(stacked(t, self.length) for t in outs[self.n_carry :])]

    # ---- forward mode ------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        k, n_out = self.n_carry, len(self.body.outputs)
        consts, carry, xs = self.parts([d is not None for d in tangents])
        while True:
            active = (*consts, *carry, *xs)
            body, out_active = jvp_graph(self.body, active, (*carry, *([False] * (n_out - k))))
            grown = [a or b for a, b in zip(carry, out_active[:k], strict=True)]
            if grown == carry:
                break
            carry = grown
        ins = _interleave(len(consts), k, len(xs), active)
        where = {i: n_out + sum(out_active[:i]) for i in range(n_out) if out_active[i]}
        outs = [*range(k), *(where[i] for i in range(k) if carry[i])]
        outs += [*range(k, n_out), *(where[i] for i in range(k, n_out) if out_active[i])]
        scan = self.with_body(
            body.cached(("jvp scan", active), lambda: rearranged(body, ins, outs)),
            len(consts) + sum(consts),
            k + sum(carry),
        )
        args = _with_tangents(self, primals, tangents, carry)
        found = apply(scan, *args)
        return _split_results(found, k, n_out, carry, out_active)

    # ---- linearisation -----------------------------------------------------------------------

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Primal loop that keeps residuals, and a linear loop over them."""
        parts = self.linear(tuple(d is not None for d in tangents))
        found = apply(parts.primal, *primals)
        return found[: len(self.body.outputs)], parts.tangents(found, primals, tangents)

    def linear(self, active: Flags) -> LinearScan:
        """How the loop is linearised in the active inputs."""
        return self.body.cached(("linear scan", self, active), lambda: LinearScan(self, active))

    # ---- transposition -----------------------------------------------------------------------

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        consts, _, xs = self.parts([type(x) is Linear for x in inputs])
        k = self.n_carry
        known = known_carry(self, inputs)
        init = inputs[self.n_consts : self.n_consts + k]
        if any(known) or not all(type_of_input(x).inexact for x in init):
            return transpose_around(self, known, ct, inputs)
        # A known initial value (often zeros) makes the loop affine: it is transposed as linear.
        linear = (*consts, *([True] * k), *xs)
        active = tuple([c is not None for c in ct])
        parts = self.body.cached(
            ("transposed scan", self, linear, active),
            lambda: TransposedScan(self, linear, active),
        )
        return parts.cotangents(ct, inputs)

    # ---- batching ----------------------------------------------------------------------------

    def batch(
        self, size: int, args: Sequence[Any], dims: Sequence[int | None], axis: Any
    ) -> tuple[Any, Any]:
        if self.counted and dims[0] is not None:
            args, dims = counts_by_lane(self, args, dims)
            masked = self.with_body(masked_body(self), self.n_consts + 1, self.n_carry)
            return masked.batch(size, args, dims, axis)
        consts, carry, xs = self.parts([d is not None for d in dims])
        k, n_out = self.n_carry, len(self.body.outputs)
        while True:
            in_dims = tuple(0 if b else None for b in (*consts, *carry, *xs))
            forced = (*carry, *([False] * (n_out - k)))
            body, out_dims = vmap_graph(self.body, size, in_dims, forced, axis)
            grown = [a or d is not None for a, d in zip(carry, out_dims[:k], strict=True)]
            if grown == carry:
                break
            carry = grown
        ys = [d is not None for d in out_dims[k:]]
        if any(d not in (0, None) for d in out_dims):
            forced = (*carry, *ys)
            body, out_dims = vmap_graph(self.body, size, in_dims, forced, axis)
        c_args, k_args, x_args = self.parts(args)
        c_dims, k_dims, x_dims = self.parts(dims)
        moved = [move_batch(x, d, 0) for x, d in zip(c_args, c_dims, strict=True)]
        moved += [
            place_batch(x, d, size, 0 if b else None)
            for x, d, b in zip(k_args, k_dims, carry, strict=True)
        ]
        moved += [move_batch(x, d, 1) for x, d in zip(x_args, x_dims, strict=True)]
        found = apply(self.with_body(body, self.n_consts, k), *moved)
        return found, [*(0 if b else None for b in carry), *(1 if b else None for b in ys)]

    # ---- lowering ----------------------------------------------------------------------------

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        return ScanLowering(self, types).run(ctx, operands)


def type_of_input(x: Any) -> ArrayType:
    """Type of a transpose rule's input, linear or known."""
    return x.type if type(x) is Linear else type_of(x)


def _interleave(n_c: int, n_k: int, n_x: int, active: Flags) -> list[int]:
    """Input order consts, d consts, carry, d carry, xs, d xs of a graph with tangents last."""
    n = n_c + n_k + n_x
    where = {i: n + sum(active[:i]) for i in range(n) if active[i]}
    order: list[int] = []
    for start, stop in ((0, n_c), (n_c, n_c + n_k), (n_c + n_k, n)):
        order += range(start, stop)
        order += [where[i] for i in range(start, stop) if active[i]]
    return order


def _with_tangents(
    scan: Scan, primals: Sequence[Any], tangents: Sequence[Any], carry: Sequence[bool]
) -> list[Any]:
    consts, init, xs = scan.parts(primals)
    d_consts, d_init, d_xs = scan.parts(tangents)
    return [
        *consts,
        *(d for d in d_consts if d is not None),
        *init,
        *(instantiate(d, type_of(x)) for d, x, a in zip(d_init, init, carry, strict=True) if a),
        *xs,
        *(d for d in d_xs if d is not None),
    ]


def _split_results(
    found: Sequence[Any], k: int, n_out: int, carry: Sequence[bool], out_active: Flags
) -> tuple[list[Any], list[Any]]:
    n_dk = sum(carry)
    outs, d_carry = list(found[:k]), iter(found[k : k + n_dk])
    ys = found[k + n_dk : k + n_dk + n_out - k]
    d_ys = iter(found[k + n_dk + n_out - k :])
    tangents = [next(d_carry) if a else None for a in carry]
    tangents += [next(d_ys) if a else None for a in out_active[k:]]
    return [*outs, *ys], tangents
