"""`check_tracer_leaks`: traced values that are still referenced after their trace has ended.

Nothing is done unless the flag is on. If it is, the function being traced runs under `Watching`,
which notes the line that made each traced value, and the garbage collector is asked at the end.
"""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable, Sequence
from types import FrameType, FunctionType, ModuleType
from typing import Any

from .. import config, errors
from ..core.collector import collect_less
from ..core.op import Op
from ..core.source import Source, describe, user_site
from ..core.tracing import Interpreter, Tracer, current

_sites: dict[int, tuple[weakref.ref[Tracer], Source | None]] = {}
"""Identity of a traced value (they cannot be hashed) -> where it was made."""
_kept: dict[int, tuple[weakref.ref[Tracer]]] = {}
"""Identity of a traced value -> the value, for those that rules of staged calls close over."""
_SHOWN = 5


class Watching(Interpreter):
    """Hands everything to its parent and notes where the results were made."""

    __slots__ = ()
    parent: Interpreter

    def __init__(self, parent: Interpreter):
        self.parent, self.alive = parent, True

    def describe(self) -> str:
        return self.parent.describe()

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        return _noted(self.parent, self.parent.apply, op, args)

    def apply_custom(self, call: Any, args: Sequence[Any]) -> list[Any]:
        return _noted(self.parent, self.parent.apply_custom, call, args)


def _noted(parent: Interpreter, apply: Callable[..., Any], op: Any, args: Sequence[Any]) -> Any:
    token = current.set(parent)
    try:
        made = apply(op, args)
    finally:
        current.reset(token)
    for x in made if isinstance(made, list) else [made]:
        if isinstance(x, Tracer) and not _is_known(x, _sites):
            key = id(x)
            _sites[key] = weakref.ref(x, lambda _, key=key: _sites.pop(key, None)), user_site()
    return made


def keep(values: Sequence[Tracer]) -> None:
    """Say that a graph keeps these values on purpose: rules written by the user close over them."""
    if config.current().check_tracer_leaks:
        for x in values:
            if not _is_known(x, _kept):
                key = id(x)
                _kept[key] = (weakref.ref(x, lambda _, key=key: _kept.pop(key, None)),)


def _is_known(x: Tracer, table: dict[int, Any]) -> bool:
    found = table.get(id(x))
    return found is not None and found[0]() is x


def leak_checked(trace: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for ``trace(fun, ...)``, which traces `fun` and returns nothing of that trace."""

    @functools.wraps(trace)
    def checked(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not config.current().check_tracer_leaks:
            with collect_less:
                return trace(fun, *args, **kwargs)
        before = {id(x): (weakref.ref(x),) for x in _ended()}
        result = trace(_watched(fun), *args, **kwargs)
        gc.collect()
        found = [x for x in _ended() if not _is_known(x, before) and not _is_known(x, _kept)]
        if found:
            raise _report(fun, found)
        return result

    return checked


def _watched(fun: Callable[..., Any]) -> Callable[..., Any]:
    """`fun` under `Watching`."""

    @functools.wraps(fun, updated=())
    def watched(*args: Any, **kwargs: Any) -> Any:
        token = current.set(Watching(current.get()))
        try:
            return fun(*args, **kwargs)
        finally:
            current.reset(token)

    return watched


def _ended() -> list[Tracer]:
    """All traced values in memory whose trace has ended."""
    return [x for x in gc.get_objects() if isinstance(x, Tracer) and not x.owner.alive]


def _report(fun: Any, found: list[Tracer]) -> errors.UnexpectedTracerError:
    lines: dict[str, Any] = {}
    for i, x in enumerate(found[:_SHOWN]):
        site = _sites[id(x)][1] if _is_known(x, _sites) else x.origin()
        made = "it is an argument" if site is None else f"created at {describe(site)}"
        holder = _holder(x, found)
        lines[f"leak {i}"] = f"{x.type} of {x.owner.describe()}: {made}; held by {holder}"
    if len(found) > _SHOWN:
        lines["more"] = len(found) - _SHOWN
    name = getattr(fun, "__name__", type(fun).__name__)
    return errors.UnexpectedTracerError(
        errors.explain(
            f"check_tracer_leaks({name})",
            "traced values are still referenced after their trace has ended",
            lines,
            try_="return these values from the function instead of storing them outside",
        )
    )


def _holder(x: Tracer, found: list[Tracer]) -> str:
    """What keeps a leaked value alive, in a few words."""
    for holder in gc.get_referrers(x):
        if holder is found or isinstance(holder, FrameType):
            continue
        for owner in gc.get_referrers(holder):
            if isinstance(owner, ModuleType):
                return f"a global of module {owner.__name__}"
            if isinstance(owner, FunctionType):
                return f"the function {owner.__qualname__}"
            if getattr(owner, "__dict__", None) is holder:
                return f"an attribute of a {type(owner).__name__}"
        return f"a {type(holder).__name__}"
    return "a local variable"


__all__ = ["keep", "leak_checked"]
