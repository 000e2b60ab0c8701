"""Python's collector of cyclic garbage is asked less often while programs are traced.

A trace makes a few container objects an operation, and nearly all of them live on in the graph.
With the usual thresholds the collector looks at them again and again: a program of 50,000
operations took twice as long an operation as one of 1,000. Meanwhile it is not off: garbage of the
traced function itself is still found, in larger portions.
"""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
PORTION = 100_000
"""New container objects between two collections: some 10 MB of small objects."""
_lock = threading.RLock()  # not a Lock: a finaliser that traces may run while it is held
_depth = 0
_before: tuple[int, int, int] | None = None


class CollectLess:
    """``with collect_less:`` raises the threshold of the youngest generation; threads share it.

    What the user sets inside, and a collector that is off or has a higher threshold, stay as they
    are.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        global _depth, _before
        with _lock:
            _depth += 1
            if _depth == 1:
                before = gc.get_threshold()
                if 0 < before[0] < PORTION:
                    gc.set_threshold(PORTION, *before[1:])
                    _before = before

    def __exit__(self, *exc: object) -> None:
        global _depth, _before
        with _lock:
            _depth -= 1
            if _depth == 0 and _before is not None:
                if gc.get_threshold()[0] == PORTION:
                    gc.set_threshold(*_before)
                _before = None


collect_less = CollectLess()


def collecting_less(function: F) -> F:
    """Decorator: the function runs inside ``with collect_less:``."""

    @functools.wraps(function)
    def quiet(*args: Any, **kwargs: Any) -> Any:
        with collect_less:
            return function(*args, **kwargs)

    return quiet  # type: ignore[return-value]
