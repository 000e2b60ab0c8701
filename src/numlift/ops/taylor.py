"""Taylor mode of operations that hold graphs: the terms of a loop travel in its carry.

`jet_graph` gives a graph of values and terms; a loop, branch or call around it has all terms of its
results. So a `scan` stays one scan, whose cost grows with the order as that of its body does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.graph import Graph
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType
from ..structural.arith import convert
from ..structural.constant import closed
from ..transforms.jet import Terms, bilinear, by_graph, inlined, jet_flat, quotients
from ..transforms.jvp import instantiate, tangent_type
from .bounded_while import BoundedWhile
from .call import Call
from .cond import Cond
from .conv import ConvGeneralDilated
from .dot import DotGeneral
from .elementwise_binary import Div
from .loop_parts import GivenStates
from .platform import PlatformDependent
from .remat import Again, Checkpoint
from .scan import Scan, rearranged
from .while_loop import While, while_parts, with_unused

Flags = tuple[bool, ...]
Found = tuple[list[Any], list[Terms]]


def jet_graph(graph: Graph, active: Flags, order: int, wanted: Flags = ()) -> tuple[Graph, Flags]:
    """Graph of (inputs, `order` terms of each active input) -> (outputs, terms of active outputs).

    Args:
        graph: what to follow along a curve.
        active: which inputs have terms.
        order: number of terms.
        wanted: outputs that get terms even if they are zero.

    Returns:
        The graph, and which outputs have terms.
    """
    n, out_types = len(graph.inputs), graph.out_types
    wanted = wanted or (False,) * len(out_types)

    def make() -> tuple[Graph, Flags]:
        found: list[bool] = []

        def run(*args: Any) -> list[Any]:
            terms = _grouped(active, args[n:], order)
            outs, rows = jet_flat(
                lambda *xs: graph.run(current.get().apply, xs), args[:n], terms, order
            )
            found[:] = [
                t.inexact and (w or any(d is not None for d in row))
                for t, row, w in zip(out_types, rows, wanted, strict=True)
            ]
            kept = zip(out_types, rows, found, strict=True)
            return [*outs, *(_as_type(d, t) for t, row, a in kept if a for d in row)]

        types = graph.in_types
        more = [
            tangent_type(t) for t, a in zip(types, active, strict=True) if a for _ in range(order)
        ]
        made, captured = trace_to_graph(run, [*types, *more], label="jet", name=graph.name)
        return closed(made, captured), tuple(found)

    return graph.cached(("jet", active, order, wanted), make)


def _as_type(d: Any, t: ArrayType) -> Any:
    """A term in exactly the type that terms of a value of type `t` have."""
    d, u = instantiate(d, t), tangent_type(t)
    return d if type_of(d) is u else convert(d, u.dtype, False)


def _grouped(active: Sequence[bool], flat: Sequence[Any], order: int) -> list[Terms]:
    """One group of `order` values for each active place, None for the others."""
    rest = iter(flat)
    return [[next(rest) for _ in range(order)] if a else None for a in active]


def _flat(values: Sequence[Any], terms: Sequence[Terms], active: Sequence[bool], order: int) -> Any:
    """Terms of the active values, zeros where there are none."""
    found: list[Any] = []
    for x, row, a in zip(values, terms, active, strict=True):
        if a:
            found += [_as_type(d, type_of(x)) for d in row or [None] * order]
    return found


def _flags(terms: Sequence[Terms]) -> Flags:
    return tuple([t is not None for t in terms])


def _checkpoint(op: Any, order: int, values: Sequence[Any], terms: Sequence[Terms]) -> Found:
    active = _flags(terms)
    graph, out = jet_graph(op.graph, active, order)
    found = apply(op.around(graph), *values, *_flat(values, terms, active, order))
    n = len(out)
    return found[:n], _grouped(out, found[n:], order)


def _cond(op: Any, order: int, values: Sequence[Any], terms: Sequence[Terms]) -> Found:
    index, *operands = values
    active = _flags(terms[1:])
    out: Flags = ()
    for branch in op.branches:
        mine = jet_graph(branch, active, order)[1]
        out = tuple([a or b for a, b in zip(mine, out or mine, strict=True)])
    branches = tuple([jet_graph(b, active, order, out)[0] for b in op.branches])
    given = _flat(operands, terms[1:], active, order)
    found = apply(op.around(branches), index, *operands, *given)
    n = len(out)
    return found[:n], _grouped(out, found[n:], order)


def _carried(
    body: Graph, before: Flags, carry: Flags, after: Flags, order: int
) -> tuple[Graph, Flags, Flags]:
    """(jet of a loop's body, carries with terms, outputs with terms): carries in = carries out."""
    k, rest = len(carry), (False,) * (len(body.outputs) - len(carry))
    while True:
        graph, out = jet_graph(body, (*before, *carry, *after), order, (*carry, *rest))
        grown = tuple([a or b for a, b in zip(carry, out[:k], strict=True)])
        if grown == carry:
            return graph, carry, out
        carry = grown


def _places(active: Flags, order: int, groups: Sequence[int]) -> list[int]:
    """Positions of values and terms so that each group of values is followed by its terms."""
    found: list[int] = []
    n, start, seen = len(active), 0, 0
    for size in groups:
        found += range(start, start + size)
        for a in active[start : start + size]:
            if a:
                found += range(n + seen, n + seen + order)
                seen += order
        start += size
    return found


def _regrouped(body: Graph, active: Flags, out: Flags, order: int, sizes: Any, n_carry: int) -> Any:
    ins = _places(active, order, sizes)
    outs = _places(out, order, [n_carry, len(out) - n_carry])
    return body.cached(("jet loop", active, order), lambda: rearranged(body, ins, outs))


def _loop_results(found: Sequence[Any], out: Flags, k: int, order: int) -> Found:
    """Values and terms from results in which carries and their terms come first."""
    m = k + order * sum(out[:k])
    n = m + len(out) - k
    terms = [*_grouped(out[:k], found[k:m], order), *_grouped(out[k:], found[n:], order)]
    return [*found[:k], *found[m:n]], terms


def _scan(op: Any, order: int, values: Sequence[Any], terms: Sequence[Terms]) -> Found:
    consts, carry, xs = map(tuple, op.parts(_flags(terms)))
    graph, carry, out = _carried(op.body, consts, carry, xs, order)
    k, active = op.n_carry, (*consts, *carry, *xs)
    body = _regrouped(graph, active, out, order, [op.n_consts, k, len(xs)], k)
    scan = op.with_body(body, op.n_consts + order * sum(consts), k + order * sum(carry))
    args: list[Any] = []
    for part, part_terms, on in zip(
        op.parts(values), op.parts(terms), (consts, carry, xs), strict=True
    ):
        args += [*part, *_flat(part, part_terms, on, order)]
    return _loop_results(apply(scan, *args), out, k, order)


def _while(op: Any, order: int, values: Sequence[Any], terms: Sequence[Terms]) -> Found:
    _, consts, carry = map(tuple, while_parts(op, _flags(terms)))
    graph, carry, out = _carried(op.body, consts, carry, (), order)
    k, active = len(carry), (*consts, *carry)
    body = _regrouped(graph, active, out, order, [op.n_body, k], k)
    extra = body.in_types[len(body.inputs) - order * sum(carry) :]
    condition = body.cached(
        ("jet condition", op.condition), lambda: with_unused(op.condition, extra)
    )
    n_body = op.n_body + order * sum(consts)
    last = op.fields[4:]  # the bound of a bounded loop, and whether it keeps states
    bounds = [getattr(op, f) for f in last]
    loop = body.cached(
        ("jet while", condition, op.n_condition, *bounds),
        lambda: type(op)(condition, body, op.n_condition, n_body, *bounds),
    )
    tests, fixed, init = while_parts(op, values)
    _, fixed_terms, init_terms = while_parts(op, terms)
    given = [*fixed, *_flat(fixed, fixed_terms, consts, order)]
    given += [*init, *_flat(init, init_terms, carry, order)]
    found = apply(loop, *tests, *given)
    m = k + order * sum(carry)
    outs, rows = _loop_results(found[:m], carry, k, order)
    if not bounds:
        return outs, rows
    outs, rows = [*outs, found[m]], [*rows, None]  # the number of steps
    if op.save:
        first = m + 1 + GivenStates.HEAD
        saved, saved_rows = _loop_results(found[first:], carry, k, order)
        outs = [*outs, *found[m + 1 : first], *saved]
        rows = [*rows, *[None] * GivenStates.HEAD, *saved_rows]
    return outs, rows


bilinear.update({DotGeneral, ConvGeneralDilated})
quotients.add(Div)
inlined.add(Call)
by_graph.update(
    {
        Checkpoint: _checkpoint,
        Again: _checkpoint,
        Cond: _cond,
        PlatformDependent: _cond,
        Scan: _scan,
        While: _while,
        BoundedWhile: _while,
    }
)

__all__ = ["jet_flat", "jet_graph"]
