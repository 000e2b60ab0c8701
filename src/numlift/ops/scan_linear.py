"""Linearisation of `Scan`: what the primal loop keeps, and the tangent loop that reads it.

A residual of one step is one of four: a const or an x of the loop, which is there anyway; a value
that depends on consts only, which is computed once outside; or a carry or another value, which the
primal loop stacks as one more y.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.graph import Equation, Graph, Literal, Var
from ..core.tracing import apply, type_of
from ..structural.shape import Broadcast
from ..transforms.jvp import instantiate
from ..transforms.linearize import LinearizedGraph, linearize_graph
from .call import call_of

if TYPE_CHECKING:
    from .scan import Scan


class LinearScan:
    """A scan split into a primal loop and a linear loop.

    Attributes:
        primal: the loop with the kept values as further ys.
        stacked: body variables that the primal loop must keep, one a further y.
        tangent: the linear loop.
        out_active: which results have a tangent.
        carry: which carries have a tangent.
    """

    def __init__(self, scan: Scan, active: tuple[bool, ...]):
        self.scan = scan
        self.k, self.n_out = scan.n_carry, len(scan.body.outputs)
        consts, carry, xs = scan.parts(active)
        while True:
            flags = (*consts, *carry, *xs)
            wanted = (*carry, *([False] * (self.n_out - self.k)))
            split = linearize_graph(scan.body, flags, wanted)
            grown = [a or b for a, b in zip(carry, split.out_active[: self.k], strict=True)]
            if grown == carry:
                break
            carry = grown
        self.carry, self.out_active = carry, split.out_active
        self._sort_residuals(split)
        body = split.primal
        outputs = [*body.outputs[: self.n_out], *self.stacked]
        self.primal = scan.with_body(
            Graph(body.inputs, body.equations, outputs, body.name), scan.n_consts, self.k
        )
        self.tangent = self._tangent_loop(split, sum(consts), sum(carry))

    def _sort_residuals(self, split: LinearizedGraph) -> None:
        """Where each residual comes from: `self.sources`, `self.stacked`, `self.hoisted`."""
        body, c, first_x = split.primal, self.scan.n_consts, self.scan.n_consts + self.k
        inputs = {v: i for i, v in enumerate(body.inputs)}
        fixed = depending_on(body, body.inputs[:c])
        known = {a: i for i, a in enumerate(body.outputs) if self.k <= i < self.n_out}
        atoms = self._narrowed(split)
        self.sources: list[tuple[str, int]] = []
        self.stacked: list[Any] = []
        hoisted: list[Any] = []
        for atom in atoms:
            i = inputs.get(atom, -1)
            if 0 <= i < c or i >= first_x:
                self.sources.append(("input", i))
            elif type(atom) is Literal or atom in fixed:
                self.sources.append(("hoisted", len(hoisted)))
                hoisted.append(atom)
            else:
                if atom not in known:
                    known[atom] = self.n_out + len(self.stacked)
                    self.stacked.append(atom)
                self.sources.append(("found", known[atom]))
        self.hoisted = Graph(body.inputs[:c], _needed(body, fixed, hoisted), hoisted, body.name)

    def _narrowed(self, split: LinearizedGraph) -> list[Any]:
        """Residuals as atoms of the primal body; what was broadcast is broadcast again.

        Sets `self.residual_vars`, the variables of the tangent body that stand for the residuals,
        and `self.prelude`, equations of the tangent body that broadcast.
        """
        body = split.primal
        extra = iter(body.outputs[self.n_out :])
        atoms = [next(extra) if i is None else body.inputs[i] for i in split.residual_inputs]
        broadcasts = {eq.outputs[0]: eq for eq in body.equations if type(eq.op) is Broadcast}
        pairs = list(zip(atoms, split.tangent.inputs, strict=False))
        plain = [(a, v) for a, v in pairs if a not in broadcasts]
        place: dict[Any, Var] = dict(plain)
        self.prelude: list[Equation] = []
        for atom, var in pairs:
            made = []
            while atom in broadcasts:
                eq = broadcasts[atom]
                atom = eq.inputs[0]
                source = place.get(atom) or Var(atom.type)
                made.append(Equation(eq.op, (source,), (var,), eq.source, eq.scope))
                var = source
            if made and atom not in place:
                place[atom] = var
                plain.append((atom, var))
            self.prelude += reversed(made)
        self.residual_vars = [v for _, v in plain]
        return [a for a, _ in plain]

    def _tangent_loop(self, split: LinearizedGraph, n_dc: int, n_dk: int) -> Scan:
        """Inputs: (count), invariant residuals, d consts, d carry, stacked residuals, d xs."""
        c, tangent, n = self.scan.n_consts, split.tangent, len(split.residual_inputs)
        self.invariant = [
            p
            for p, (kind, i) in enumerate(self.sources)
            if kind == "hoisted" or (i < c and kind == "input")
        ]
        outside = set(self.invariant)
        self.by_step = [p for p in range(len(self.sources)) if p not in outside]
        d_inputs = tangent.inputs[n:]
        inputs = [
            *(self.residual_vars[p] for p in self.invariant),
            *d_inputs[: n_dc + n_dk],
            *(self.residual_vars[p] for p in self.by_step),
            *d_inputs[n_dc + n_dk :],
        ]
        if self.scan.counted:
            inputs.insert(0, Var(self.scan.body.in_types[0]))
        equations = [*self.prelude, *tangent.equations]
        body = Graph(inputs, equations, tangent.outputs, tangent.name)
        n_consts = self.scan.counted + len(self.invariant) + n_dc
        return self.scan.with_body(body, n_consts, n_dk)

    def tangents(
        self, found: Sequence[Any], primals: Sequence[Any], tangents: Sequence[Any]
    ) -> list[Any]:
        """Tangents of the results; `found` are the results of the primal loop."""
        outside: list[Any] = []
        if self.hoisted.outputs:
            outside = apply(call_of(self.hoisted, True), *primals[: self.scan.n_consts])
        place = {"input": primals, "found": found, "hoisted": outside}
        residuals = [place[kind][i] for kind, i in self.sources]
        d_consts, d_init, d_xs = self.scan.parts(tangents)
        _, init, _ = self.scan.parts(primals)
        args = [primals[0]] if self.scan.counted else []
        args += [residuals[p] for p in self.invariant]
        args += [d for d in d_consts if d is not None]
        args += [
            instantiate(d, type_of(x))
            for d, x, a in zip(d_init, init, self.carry, strict=True)
            if a
        ]
        args += [residuals[p] for p in self.by_step]
        args += [d for d in d_xs if d is not None]
        rest = iter(apply(self.tangent, *args))
        return [next(rest) if a else None for a in self.out_active]


def depending_on(graph: Graph, inputs: Sequence[Var]) -> set[Any]:
    """Variables that depend on these inputs only, by operations that are safe to run once more.

    Loops that may not end are left out: they must not run if the graph itself does not.
    """
    fixed: set[Any] = set(inputs)
    for eq in graph.equations:
        if eq.op.effects or eq.op.open_ended:
            continue
        if all(type(a) is Literal or a in fixed for a in eq.inputs):
            fixed.update(eq.outputs)
    return fixed


def _needed(graph: Graph, fixed: set[Any], outputs: Sequence[Any]) -> list[Equation]:
    wanted = {a for a in outputs if type(a) is Var}
    kept = []
    for eq in reversed(graph.equations):
        if any(v in wanted for v in eq.outputs):
            kept.append(eq)
            wanted.update(a for a in eq.inputs if type(a) is Var)
    kept.reverse()
    return kept
