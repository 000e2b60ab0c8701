"""Traced parts of a function: blocks, steps and conditions as functions of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.graph import Graph
from ..core.refs import Ref, View, forget, load, store
from ..core.staging import current_stage, trace_to_graph
from ..core.tracing import current
from ..core.types import ArrayType


class Body:
    """A traced part. What it does to refs happens when it is called.

    Attributes:
        graph: of (captured values, values of refs, arguments) -> results, last values of refs.
        captured: values that it closes over.
        views: ref -> view.
    """

    __slots__ = ("captured", "graph", "views")

    def __init__(self, graph: Graph, captured: list[Any], views: dict[Ref, View]):
        self.graph, self.captured, self.views = graph, captured, views

    @property
    def acts(self) -> bool:
        """Whether it does more than computing its results."""
        return bool(self.graph.effects) or any(v.written for v in self.views.values())

    def __call__(self, *args: Any) -> list[Any]:
        given = [*self.captured, *map(load, self.views), *args]
        outs = self.graph.run(current.get().apply, given)
        for ref, view in reversed(self.views.items()):
            if view.written:
                store(ref, outs.pop())
        return outs


def traced_body(
    function: Callable[..., Sequence[Any]], types: Sequence[ArrayType], label: str, name: str
) -> Body:
    """Trace a flat function, which may use refs from outside."""
    views: dict[Ref, View] = {}

    def with_refs(*args: Any) -> list[Any]:
        outs = function(*args)
        views.update(current_stage().accept_views())
        return [*outs, *(v.value for v in views.values() if v.written)]

    graph, captured = trace_to_graph(with_refs, types, label=label, name=name)
    forget(views)
    return Body(graph, captured, views)
