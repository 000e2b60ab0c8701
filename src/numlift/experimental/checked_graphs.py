"""Graphs with error values: what `checkify` makes of a function.

A checked graph has the outputs of the graph, then a code (int32: 0, or 1 + the number of the first
site that failed) and the values that the sites keep for their messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.graph import Equation, Graph, Literal
from ..core.staging import trace_to_graph
from ..core.tracing import apply, current, type_of
from ..core.types import ArrayType
from ..ops.bounded_while import BoundedWhile
from ..ops.call import Call, call_of
from ..ops.checks import CHECK, Check
from ..ops.compare import eq
from ..ops.cond import Cond
from ..ops.custom import CustomCall, CustomRule
from ..ops.loop_parts import GivenStates
from ..ops.remat import Checkpoint
from ..ops.scan import Scan
from ..ops.while_loop import While
from ..structural.arith import add, convert, select
from ..structural.shape import full
from ..transforms.vmap import place_batch, vmap_flat
from .check_errors import CheckSite, FailedCheckError, Site
from .check_rules import automatic_checks_of

INT = np.dtype(np.int32)
Categories = frozenset[Any]


class Checked(NamedTuple):
    """A graph with error values, and its sites with the number of values each keeps."""

    graph: Graph
    sites: tuple[Site, ...]
    counts: tuple[int, ...]

    def split(self, found: Sequence[Any], n: int) -> tuple[list[Any], list[Any]]:
        """The n outputs of the graph, and the error values."""
        return list(found[:n]), list(found[n:])

    @property
    def error_types(self) -> list[ArrayType]:
        """Types of the error values."""
        return self.graph.out_types[len(self.graph.outputs) - 1 - sum(self.counts) :]

    def no_error(self) -> list[Any]:
        """Error values that say that nothing failed."""
        return [full(t) for t in self.error_types]


class ErrorState:
    """Collects error values while a graph is interpreted."""

    def __init__(self) -> None:
        self.code: Any = None
        self.sites: list[Site] = []
        self.counts: list[int] = []
        self.values: list[Any] = []

    def add(self, site: Site, bad: Any, values: Sequence[Any]) -> None:
        """One check: it fails if `bad` is true; `values` are for its message."""
        number = INT.type(len(self.sites) + 1)
        self._first(apply(select, bad, INT.type(0), number))
        self.sites.append(site)
        self.counts.append(len(values))
        self.values += [_strong(x) for x in values]

    def merge(self, inner: Checked, error: Sequence[Any]) -> None:
        """The error values of a graph inside."""
        code, *values = error
        base = len(self.sites)
        if base:
            shifted = apply(add, code, INT.type(base))
            code = apply(select, apply(eq, code, INT.type(0)), shifted, code)
        self._first(code)
        self.sites += inner.sites
        self.counts += inner.counts
        self.values += values

    def _first(self, code: Any) -> None:
        if self.code is None:
            self.code = code
        else:
            none = apply(eq, self.code, INT.type(0))
            self.code = apply(select, none, self.code, code)


def _strong(x: Any) -> Any:
    t = type_of(x)
    return convert(x, t.dtype, False) if t.weak_type else x


def earlier(old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    """Error values of two runs of one graph: the first error is kept."""
    return unless(old[0], old, new)


def unless(code: Any, old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    """`new` if the code says that nothing failed, else `old`."""
    none = apply(eq, code, INT.type(0))
    return [apply(select, none, a, b) for a, b in zip(old, new, strict=True)]


def checked_graph(graph: Graph, categories: Categories) -> Checked:
    """The graph with error values for these categories (kept with the graph)."""
    return graph.cached(("checked", categories), lambda: _checked(graph, categories))


def _checked(graph: Graph, categories: Categories) -> Checked:
    state = ErrorState()

    def run(*args: Any) -> list[Any]:
        outs = interpret(graph, args, categories, state)
        code = INT.type(0) if state.code is None else state.code
        return [*outs, code, *state.values]

    made, captured = trace_to_graph(run, graph.in_types, label="checkify", name=graph.name)
    assert not captured
    return Checked(made, tuple(state.sites), tuple(state.counts))


def interpret(
    graph: Graph, args: Sequence[Any], categories: Categories, state: ErrorState
) -> list[Any]:
    """Apply the equations of a graph with their checks."""
    env: dict[Any, Any] = dict(zip(graph.inputs, args, strict=True))
    for eq_ in graph.equations:
        values = [a.value if type(a) is Literal else env[a] for a in eq_.inputs]
        found = _apply_checked(eq_, values, categories, state)
        env.update(zip(eq_.outputs, found, strict=True))
    return [a.value if type(a) is Literal else env[a] for a in graph.outputs]


def _apply_checked(
    eq_: Equation, values: list[Any], categories: Categories, state: ErrorState
) -> list[Any]:
    op = eq_.op
    if isinstance(op, Check):
        if FailedCheckError in categories:
            site = CheckSite(op.message, eq_.source)
            state.add(site, apply(select, values[0], np.True_, np.False_), values[1:])
        return []
    for kind, rule in _HIGHER:
        if isinstance(op, kind):
            return rule(op, values, categories, state)
    found = apply(op, *values)
    results = list(found) if op.multi else [found]
    for site, bad, kept in automatic_checks_of(op, values, results, categories, eq_.source):
        state.add(site, bad, kept)
    return results


# ---- operations with graphs ------------------------------------------------------------------


def _call(op: Call, values: list[Any], categories: Categories, state: ErrorState) -> list[Any]:
    inner = checked_graph(op.graph, categories)
    if not inner.sites:
        return _plain(op, [inner.graph], values)
    if isinstance(op, Checkpoint):
        found = apply(op.around(inner.graph), *values)
    else:
        found = apply(call_of(inner.graph, op.inline), *values)
    outs, error = inner.split(found, len(op.graph.outputs))
    state.merge(inner, error)
    return outs


def _plain(op: Any, checked: Sequence[Graph], values: list[Any]) -> list[Any]:
    """An operation without a site inside, as it is; checks that are off are left out."""
    if CHECK in op.effects:
        op = op.with_graphs([_outputs_only(g) for g in checked])
    return apply(op, *values)


def _outputs_only(checked: Graph) -> Graph:
    """A checked graph without sites, without its code."""
    return checked.cached(
        "outputs only",
        lambda: Graph(checked.inputs, checked.equations, checked.outputs[:-1], checked.name),
    )


def _cond(op: Cond, values: list[Any], categories: Categories, state: ErrorState) -> list[Any]:
    inner = [checked_graph(b, categories) for b in op.branches]
    if not any(c.sites for c in inner):
        return _plain(op, [c.graph for c in inner], values)
    n = len(op.branches[0].outputs)

    def branch(i: int) -> Graph:
        def run(*args: Any) -> list[Any]:
            found = inner[i].graph.run(current.get().apply, args)
            outs, error = inner[i].split(found, n)
            all_of_it = ErrorState()
            for j, c in enumerate(inner):
                all_of_it.merge(c, error if j == i else c.no_error())
            return [*outs, all_of_it.code, *all_of_it.values]

        return trace_to_graph(run, op.branches[i].in_types, name=op.branches[i].name)[0]

    key = ("checked cond", op, categories)
    graphs = op.branches[0].cached(key, lambda: tuple(branch(i) for i in range(len(inner))))
    found = apply(op.around(graphs), *values)
    sites = tuple(s for c in inner for s in c.sites)
    counts = tuple(k for c in inner for k in c.counts)
    state.merge(Checked(graphs[0], sites, counts), found[n:])
    return list(found[:n])


def _scan(op: Scan, values: list[Any], categories: Categories, state: ErrorState) -> list[Any]:
    inner = checked_graph(op.body, categories)
    if not inner.sites:
        return _plain(op, [inner.graph], values)
    c, k, e = op.n_consts, op.n_carry, len(inner.error_types)

    def body() -> Graph:
        def run(*args: Any) -> list[Any]:
            front, old, xs = args[: c + k], args[c + k : c + k + e], args[c + k + e :]
            found = inner.graph.run(current.get().apply, [*front, *xs])
            outs, error = inner.split(found, len(op.body.outputs))
            return [*outs[:k], *earlier(old, error), *outs[k:]]

        types = op.body.in_types
        ins = [*types[: c + k], *inner.error_types, *types[c + k :]]
        return trace_to_graph(run, ins, name=op.body.name)[0]

    graph = op.body.cached(("checked scan", categories, c, k), body)
    args = [*values[: c + k], *inner.no_error(), *values[c + k :]]
    found = apply(op.with_body(graph, c, k + e), *args)
    state.merge(inner, found[k : k + e])
    return [*found[:k], *found[k + e :]]


def _while(
    op: While | BoundedWhile, values: list[Any], categories: Categories, state: ErrorState
) -> list[Any]:
    """The condition is checked before the loop and after each step."""
    test = checked_graph(op.condition, categories)
    step = checked_graph(op.body, categories)
    if not test.sites and not step.sites:
        return _plain(op, [test.graph, step.graph], values)
    a, b = op.n_condition, op.n_body
    k, e, f = len(op.body.outputs), len(step.error_types), len(test.error_types)
    plain_test = _value_only(test)

    def graphs() -> tuple[Graph, Graph]:
        def condition(*args: Any) -> list[Any]:
            return plain_test.run(current.get().apply, [*args[:a], *args[a : a + k]])

        def body(*args: Any) -> list[Any]:
            c_args, b_args, rest = args[:a], args[a : a + b], args[a + b :]
            carry, old_step, old_test = rest[:k], rest[k : k + e], rest[k + e :]
            run = current.get().apply
            outs, error = step.split(step.graph.run(run, [*b_args, *carry]), k)
            _, test_error = test.split(test.graph.run(run, [*c_args, *outs]), 1)
            # An error of the condition came before this step, one of this step before the next.
            kept = unless(old_test[0], old_step, earlier(old_step, error))
            later = unless(kept[0], old_test, earlier(old_test, test_error))
            return [*outs, *kept, *later]

        errors_ = [*step.error_types, *test.error_types]
        carry = op.body.out_types
        c_types, b_types = op.condition.in_types[:a], op.body.in_types[:b]
        return (
            trace_to_graph(condition, [*c_types, *carry, *errors_], name=op.condition.name)[0],
            trace_to_graph(body, [*c_types, *b_types, *carry, *errors_], name=op.body.name)[0],
        )

    key = ("checked while", op.condition, categories, a, b)
    condition, body = op.body.cached(key, graphs)
    c_args, carry = values[:a], values[a + b :]
    started = test.graph.run(current.get().apply, [*c_args, *carry])
    args = [*c_args, *values[: a + b], *carry, *step.no_error(), *started[1:]]
    if isinstance(op, BoundedWhile):
        loop: Any = BoundedWhile(condition, body, a, a + b, op.max_steps, op.checkpoints, op.save)
    else:
        loop = While(condition, body, a, a + b)
    found = apply(loop, *args)
    # At most one of the two has an error.
    state.merge(step, found[k : k + e])
    state.merge(test, found[k + e : k + e + f])
    rest = found[k + e + f :]
    if isinstance(op, BoundedWhile) and op.save:
        return [*found[:k], *rest[: 1 + GivenStates.HEAD + k]]
    return [*found[:k], *rest]


def _value_only(test: Checked) -> Graph:
    """The condition without its error values."""
    graph = test.graph
    return graph.cached(
        "value only",
        lambda: Graph(graph.inputs, graph.equations, graph.outputs[:1], graph.name),
    )


def _custom(
    op: CustomCall, values: list[Any], categories: Categories, state: ErrorState
) -> list[Any]:
    """The rule stays, and its results are followed by error values, which have no derivative."""
    inner = checked_graph(op.graph, categories)
    if not inner.sites:
        return _plain(op, [inner.graph], values)
    found = current.get().apply_custom(_checked_rule(op, inner), values)
    outs, error = inner.split(found, len(op.graph.outputs))
    state.merge(inner, error)
    return outs


def _checked_rule(op: CustomCall, inner: Checked) -> CustomRule:
    """The custom rule of the checked function; the rule's own checks are left out."""
    rule, n, e = op.rule, len(op.graph.outputs), len(inner.error_types)

    def function(*args: Any) -> list[Any]:
        return inner.graph.run(current.get().apply, args)

    def tangents(*args: Any) -> list[Any]:
        found = _unchecked(rule.tangents, args)
        half, primals = len(found) // 2, args[: len(op.graph.inputs)]
        return [*found[:half], *function(*primals)[n:], *found[half:], *([None] * e)]

    def forward(active: tuple[bool, ...]) -> Callable[..., list[Any]]:
        def run(*args: Any) -> list[Any]:
            count: list[int] = []

            def arrays(*xs: Any) -> list[Any]:
                found = list(rule.forward(active)(*xs))
                count[:] = [found.pop()]
                return found

            found = _unchecked(arrays, args)
            m = count[0]
            return [*found[:m], *function(*args)[n:], *found[m:], m + e]

        return run

    def backward(*args: Any) -> list[Any]:
        return list(rule.backward(*args[: len(args) - e]))

    def batch_rule(size: int, flags: Sequence[bool]) -> tuple[Any, list[bool]]:
        flat, found = rule.batch_rule(size, flags)

        def run(*args: Any) -> list[Any]:
            outs = _unchecked(flat, args)
            dims = [0 if f else None for f in flags]
            wide, out_dims = vmap_flat(function, size, args, dims)
            pairs = list(zip(wide, out_dims, strict=True))[n:]
            found.extend([True] * e)
            return [*outs, *(place_batch(x, d, size, 0) for x, d in pairs)]

        return run, found

    return CustomRule(
        function,
        rule.name,
        None if rule.tangents is None else tangents,
        None if rule.forward is None else forward,
        None if rule.backward is None else backward,
        None if rule.batch_rule is None else batch_rule,
        rule.n_hidden,
    )


def _unchecked(flat: Any, args: Sequence[Any]) -> list[Any]:
    """Results of a flat function without its checks; arguments and results may be None."""
    holes: list[bool] = []

    def run(*values: Any) -> list[Any]:
        given = iter(values)
        found = flat(*[None if x is None else next(given) for x in args])
        holes[:] = [x is None for x in found]
        return [x for x in found if x is not None]

    known = [x for x in args if x is not None]
    graph, captured = trace_to_graph(run, [type_of(x) for x in known], label="checkify")
    graph = _outputs_only(checked_graph(graph, frozenset()).graph)
    results = iter(graph.run(current.get().apply, [*captured, *known]))
    return [None if hole else next(results) for hole in holes]


_HIGHER: tuple[tuple[type, Any], ...] = (
    (Call, _call),
    (Cond, _cond),
    (Scan, _scan),
    (While, _while),
    (BoundedWhile, _while),
    (CustomCall, _custom),
)

__all__ = ["Checked", "checked_graph"]
