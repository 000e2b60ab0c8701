"""What the debugging flags do after each run of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import config
from ..core.graph import Graph
from .key_reuse import KeyCheck, has_keys
from .number_checks import NumberCheck

Check = Callable[[Sequence[Any], Sequence[Any]], None]


def program_check(
    name: str, graph: Graph, captured: Sequence[Any] = (), eager: bool = False
) -> Check | None:
    """A function of the results and arguments of each run, or None if no flag asks for one.

    Args:
        name: of the program, for messages.
        graph: what the program computes.
        captured: values of the graph's leading inputs.
        eager: the program is one call of a public function: the user's line is that of the call,
            not the one that traced the program first.
    """
    state = config.current()
    checks: list[Check] = []
    if state.debug_key_reuse and has_keys(graph):
        checks.append(KeyCheck(name, graph, captured, eager))
    if state.debug_nans or state.debug_infs:
        checks.append(NumberCheck(name, graph, captured, eager))
    if len(checks) < 2:
        return checks[0] if checks else None

    def both(results: Sequence[Any], arguments: Sequence[Any]) -> None:
        for check in checks:
            check(results, arguments)

    return both
