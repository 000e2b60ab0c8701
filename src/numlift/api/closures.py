"""Finding the traced values that a Python function closes over."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable
from typing import Any

from ..core.tracing import Tracer
from ..tree import tree_leaves

_DEPTH = 4


def closed_over(functions: Iterable[Any]) -> list[Tracer]:
    """Tracers of living traces that functions hold: in cells, defaults, bound arguments, instances.

    Functions found there are looked into as well. Values that a function reaches in another way
    (globals, attributes of other objects) are not found.
    """
    found: dict[int, Tracer] = {}
    seen: set[int] = set()
    for function in functions:
        _look(function, found, seen, 0)
    return list(found.values())


def _look(x: Any, found: dict[int, Tracer], seen: set[int], depth: int) -> None:
    if isinstance(x, Tracer):
        if x.owner.alive:
            found.setdefault(id(x), x)
        return
    if depth > _DEPTH or id(x) in seen:
        return
    if isinstance(x, types.MethodType):
        _look_all(
            (x.__func__, *vars(x.__self__).values())
            if hasattr(x.__self__, "__dict__")
            else (x.__func__,),
            x,
            found,
            seen,
            depth,
        )
    elif isinstance(x, functools.partial):
        _look_all((x.func, *x.args, *x.keywords.values()), x, found, seen, depth)
    elif isinstance(x, types.FunctionType):
        cells = [c.cell_contents for c in x.__closure__ or () if _filled(c)]
        defaults = (*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values())
        wrapped = getattr(x, "__wrapped__", None)
        _look_all((*cells, *defaults, wrapped), x, found, seen, depth)
    elif isinstance(x, (tuple, list, dict)) and x:
        _look_all(tree_leaves(x), x, found, seen, depth)
    elif hasattr(x, "traced_parts"):
        _look_all(x.traced_parts(), x, found, seen, depth)


def _look_all(
    values: Iterable[Any], owner: Any, found: dict[int, Tracer], seen: set[int], depth: int
) -> None:
    seen.add(id(owner))
    for value in values:
        _look(value, found, seen, depth + 1)


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  (an empty cell raises)
    except ValueError:
        return False
    return True
