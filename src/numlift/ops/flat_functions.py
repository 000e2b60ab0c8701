"""Flat functions (values -> list of values, None allowed) run by way of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.graph import Atom, Graph
from ..core.refs import load, store
from ..core.staging import Stage
from ..core.tracing import current, type_of
from .call import guarded, open_ended

Flat = Callable[..., Sequence[Any]]


class Rebound(Stage):
    """A stage in which some values stand for others.

    The user's rules close over tracers. When a rule runs, the trace that they belong to may have
    ended, or may be another one than that of the arguments: their places are taken by arguments.
    """

    __slots__ = ("substitutes",)
    substitutes: Mapping[int, Any]

    def lift(self, x: Any) -> Atom:
        return super().lift(self.substitutes.get(id(x), x))


def rebound_flat(function: Flat, captured: Sequence[Any]) -> Flat:
    """`function` with the values of `captured`, which it closes over, as leading arguments."""
    n = len(captured)

    def run(*args: Any) -> list[Any]:
        substitutes = {id(x): y for x, y in zip(captured, args[:n], strict=True)}
        return _by_graph(function, args[n:], substitutes, lambda g, xs: _run(g, xs), True)

    return run


def guarded_flat(function: Flat) -> Flat:
    """`function` with a bool scalar in front; where it is False no loop inside takes a step."""

    def run(on: Any, *args: Any) -> list[Any]:
        def use(graph: Graph, xs: list[Any]) -> list[Any]:
            return _run(guarded(graph), [on, *xs]) if open_ended(graph) else _run(graph, xs)

        return _by_graph(function, args, {}, use)

    return run


def _run(graph: Graph, values: Sequence[Any]) -> list[Any]:
    return graph.run(current.get().apply, values)


def _by_graph(
    function: Flat,
    args: Sequence[Any],
    substitutes: Mapping[int, Any],
    use: Callable[[Graph, list[Any]], list[Any]],
    with_refs: bool = False,
) -> list[Any]:
    """Results of `function` by way of a graph that `use` runs; None and counts stay as they are."""
    stage = Rebound(current.get(), "custom")
    stage.substitutes = substitutes
    given = [x for x in args if x is not None]
    tracers = iter([stage.new_input(type_of(x)) for x in given])
    token = current.set(stage)
    try:
        outs = list(function(*[None if x is None else next(tracers) for x in args]))
        plain = {i: x for i, x in enumerate(outs) if x is None or type(x) is Count}
        views = stage.accept_views() if with_refs else {}
        last = [view.value for view in views.values() if view.written]
        graph, captured = stage.finish([*(x for i, x in enumerate(outs) if i not in plain), *last])
    finally:
        stage.alive = False
        current.reset(token)
    found = iter(use(graph, [*captured, *map(load, views), *given]))
    results = [plain[i] if i in plain else next(found) for i in range(len(outs))]
    for ref, view in views.items():
        if view.written:
            store(ref, next(found))
    return results


class Count(int):
    """A number of results at the end of what a forward rule returns."""
