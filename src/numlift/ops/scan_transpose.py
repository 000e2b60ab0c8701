"""Transposition of `Scan`: the loop that carries cotangents from the last step to the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.graph import Graph
from ..core.op import Linear
from ..core.refs import load, store
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current
from ..structural.arith import add
from ..structural.constant import closed
from ..structural.shape import full
from ..transforms.jvp import instantiate, tangent_type
from ..transforms.transpose import transpose_with_refs

if TYPE_CHECKING:
    from .scan import Scan

Flags = tuple[bool, ...]


class TransposedScan:
    """The backward loop of a scan that is linear in some inputs.

    Its body takes (known consts, cotangents of consts, cotangents of the carry, known xs,
    cotangents of ys) and returns (cotangents of consts, of the carry, of xs). Only those that can
    be different from zero take part. Refs that backward rules of the user's read are known consts;
    those that they write are carried after the cotangents of the carry.

    Args:
        scan: the loop.
        linear: which inputs are linear; all carries are taken as linear.
        ct_active: which results have a cotangent.
    """

    def __init__(self, scan: Scan, linear: Flags, ct_active: Flags):
        k = scan.n_carry
        self.scan, self.linear, self.y_active = scan, linear, ct_active[k:]
        self.consts, _, self.xs = scan.parts(linear)
        n_lc = self.consts.count(True)
        carry = ct_active[:k]
        while True:
            flags = (*carry, *self.y_active)
            made = transpose_with_refs(scan.body, linear, flags)
            self.back, found = made.graph, made.active
            grown = tuple([a or b for a, b in zip(carry, found[n_lc : n_lc + k], strict=True)])
            if grown == carry:
                break
            carry = grown
        self.carry, self.found = carry, found
        self.const_active, self.x_active = found[:n_lc], found[n_lc + k :]
        self.views, self.written = made.refs, made.written
        self.read = [ref for ref, view in made.refs.items() if not view.written]
        n_kc = self.consts.count(False) + len(self.read)
        n_k = sum(self.const_active) + sum(carry) + len(self.written)
        self.loop = scan.with_body(self._body(), n_kc, n_k, not scan.reverse)

    def _body(self) -> Graph:
        scan, k = self.scan, self.scan.n_carry
        n_kc, n_kx = self.consts.count(False), self.xs.count(False)
        n_c, n_k = sum(self.const_active), sum(self.carry)
        types = [t for t, a in zip(scan.body.in_types, self.linear, strict=True) if a]
        n_lc = len(self.const_active)

        n_w = len(self.written)

        def run(*args: Any) -> list[Any]:
            n_r = len(self.read)
            refs = dict(zip(self.read, args[:n_r], strict=True))
            known_c, rest = args[n_r : n_r + n_kc], args[n_r + n_kc :]
            ct_c, rest = rest[:n_c], rest[n_c:]
            ct_k, rest = rest[:n_k], rest[n_k:]
            refs.update(zip(self.written, rest, strict=False))
            rest = rest[n_w:]
            known_x, ct_y = rest[:n_kx], rest[n_kx:]
            given = [*(refs[ref] for ref in self.views), *known_c, *known_x, *ct_k, *ct_y]
            values = iter(self.back.run(current.get().apply, given))
            cts = [next(values) if a else None for a in self.found]
            sums = [c for c in cts[:n_lc] if c is not None]
            carried = [
                instantiate(c, t)
                for c, t, a in zip(
                    cts[n_lc : n_lc + k], types[n_lc : n_lc + k], self.carry, strict=True
                )
                if a
            ]
            return [
                *(apply(add, a, b) for a, b in zip(ct_c, sums, strict=True)),
                *carried,
                *values,
                *(c for c in cts[n_lc + k :] if c is not None),
            ]

        known = [t for t, a in zip(scan.body.in_types, self.linear, strict=True) if not a]
        outs = scan.body.out_types
        ins = [
            *(ref.type for ref in self.read),
            *known[:n_kc],
            *_chosen(types[:n_lc], self.const_active),
            *_chosen(types[n_lc : n_lc + k], self.carry),
            *(ref.type for ref in self.written),
            *known[n_kc:],
            *_chosen(outs[k:], self.y_active),
        ]
        made, captured = trace_to_graph(run, ins, label="transpose", name=scan.body.name)
        return closed(made, captured)

    def cotangents(self, ct: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """One cotangent or None an input of the scan."""
        scan, k = self.scan, self.scan.n_carry
        first, last = scan.n_consts, scan.n_consts + k
        known_c = [x for x in inputs[:first] if type(x) is not Linear]
        known_x = [x for x in inputs[last:] if type(x) is not Linear]
        linear_c = [x.type for x in inputs[:first] if type(x) is Linear]
        start = [full(t) for t in _chosen(linear_c, self.const_active)]
        outs = scan.body.out_types
        ends = [
            instantiate(c, t) for c, t, a in zip(ct[:k], outs[:k], self.carry, strict=True) if a
        ]
        ys = [c for c in ct[k:] if c is not None]
        if self.views:
            known_c = [*map(load, self.read), *known_c]
            ends += map(load, self.written)
        found = iter(apply(self.loop, *known_c, *start, *ends, *known_x, *ys))
        ct_c = iter([next(found) if a else None for a in self.const_active])
        ct_k = [next(found) if a else None for a in self.carry]
        for ref in self.written:
            store(ref, next(found))
        ct_x = iter([next(found) if a else None for a in self.x_active])
        return [
            *(next(ct_c) if a else None for a in self.consts),
            *(
                c if type(x) is Linear else None
                for c, x in zip(ct_k, inputs[first:last], strict=True)
            ),
            *(next(ct_x) if a else None for a in self.xs),
        ]


def _chosen(types: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """Types of the tangents that are there."""
    return [tangent_type(t) for t, a in zip(types, flags, strict=True) if a]
