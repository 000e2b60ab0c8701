"""How many Python calls tracing one operation may cost. Counted, not timed: the same everywhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax

DIMENSIONS = (((1,), (0,)), ((), ()))

BUDGETS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "sin": (lax.sin, 18),
    "x + x": (lambda x: x + x, 36),
    "x * 2.0": (lambda x: x * 2.0, 40),
    "dot_general": (lambda x: lax.dot_general(x, x, DIMENSIONS), 40),
}


def count_calls(f: Callable[[], object]) -> int:
    """Python-level calls (not those of C functions) while `f` runs."""
    count = 0

    def profile(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        f()
    finally:
        sys.setprofile(before)
    return count


def trace(step: Callable[[Any], Any], length: int) -> Callable[[], object]:
    x = np.ones((4, 4))

    def chain(x: Any) -> Any:
        for _ in range(length):
            x = step(x)
        return x

    return lambda: nl.make_jaxpr(chain)(x)


@pytest.mark.parametrize("name", BUDGETS)
def test_calls_per_traced_op(name: str, set_flag: Callable[[str, Any], None]) -> None:
    set_flag("enable_checks", False)  # the verifier is for tests only
    step, budget = BUDGETS[name]
    trace(step, 3)()  # fills the caches that a long program finds full
    short, long = count_calls(trace(step, 100)), count_calls(trace(step, 300))
    assert (long - short) / 200 <= budget
