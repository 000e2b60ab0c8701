"""Linear scans whose carry is partly known: counters, keys, and whatever does not depend on x.

Such a loop is not linear in all of its carry. It is cut in two: a loop of what is known, which also
gives the known carries at the start of each step, and a linear loop that takes these as xs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import errors
from ..core.graph import Equation, Graph, Literal
from ..core.op import Linear
from ..core.tracing import apply
from ..transforms.simplify import drop_unused

if TYPE_CHECKING:
    from .scan import Scan


def known_carry(scan: Scan, inputs: Sequence[Any]) -> list[bool]:
    """Which carries depend on known values only, in every step."""
    consts, carry, xs = scan.parts([type(x) is not Linear for x in inputs])
    while True:
        known = {
            v
            for v, k in zip(scan.body.inputs, (*consts, *carry, *xs), strict=True)
            if k
        }  # fmt: skip
        _walk(scan.body.equations, known)
        found = [
            k and (type(a) is Literal or a in known)
            for k, a in zip(carry, scan.body.outputs[: scan.n_carry], strict=True)
        ]
        if found == carry:
            return found
        carry = found


def _walk(equations: Sequence[Equation], known: set[Any]) -> None:
    """Add the results of equations that only depend on what is known."""
    for eq in equations:
        if all(type(a) is Literal or a in known for a in eq.inputs):
            known.update(eq.outputs)


def transpose_around(
    scan: Scan, carry: Sequence[bool], ct: Sequence[Any], inputs: Sequence[Any]
) -> list[Any]:
    """Cotangents of the linear inputs of a loop whose carries marked by `carry` are known."""
    body, c, k = scan.body, scan.n_consts, scan.n_carry
    for v, is_known in zip(body.inputs[c : c + k], carry, strict=True):
        if not v.type.inexact and not is_known:
            raise errors.GradError(
                errors.explain(
                    "transpose of scan",
                    "the carry holds integers that depend on linear values",
                    {"carry": v.type},
                    try_="lax.stop_gradient of what the integers are made of",
                )
            )
    states = _states(scan, carry, inputs)
    rest = [i for i in range(k) if not carry[i]]
    ys = [i for i in range(k, len(body.outputs)) if body.out_types[i].inexact]
    order = [*range(c), *(c + i for i in rest), *range(c + k, len(body.inputs))]
    order += [c + i for i in range(k) if carry[i]]
    outs = [*rest, *ys]
    key = ("linear part", scan, tuple(order), tuple(outs))
    graph = body.cached(key, lambda: _part(body, order, outs))
    loop = scan.with_body(graph, c, len(rest))
    given = [*(inputs[i] for i in order[: len(order) - sum(carry)]), *states]
    found = loop.transpose([ct[i] for i in outs], *given)
    cts: list[Any] = [None] * len(inputs)
    for i, x in zip(order, found, strict=True):
        cts[i] = x
    return [x if type(v) is Linear else None for x, v in zip(cts, inputs, strict=True)]


def _part(body: Graph, order: Sequence[int], outs: Sequence[int]) -> Graph:
    outputs = [body.outputs[i] for i in outs]
    equations = drop_unused(list(body.equations), outputs)
    return Graph([body.inputs[i] for i in order], equations, outputs, body.name)


def _states(scan: Scan, carry: Sequence[bool], inputs: Sequence[Any]) -> list[Any]:
    """The known carries at the start of each step, stacked."""
    body, c, k = scan.body, scan.n_consts, scan.n_carry
    known = [i for i in range(k) if carry[i]]

    def forward() -> tuple[Graph, list[int]]:
        outputs = [*(body.outputs[i] for i in known), *(body.inputs[c + i] for i in known)]
        equations = drop_unused(list(body.equations), outputs)
        used = {a for eq in equations for a in eq.inputs} | set(outputs)
        order = [
            i
            for i, v in enumerate(body.inputs)
            if v in used or (c <= i < c + k and carry[i - c]) or (scan.counted and i == 0)
        ]
        return Graph([body.inputs[i] for i in order], equations, outputs, body.name), order

    graph, order = body.cached(("known part", scan, tuple(carry)), forward)
    loop = scan.with_body(graph, sum(i < c for i in order), len(known))
    return list(apply(loop, *(inputs[i] for i in order))[len(known) :])
