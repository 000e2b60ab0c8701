"""Runs of many examples under Hypothesis, with any seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, reject, seed, settings
from hypothesis import strategies as st

from tests.random_programs.reference import Unsuitable


def run(
    strategy: st.SearchStrategy[Any],
    check: Callable[[Any], None],
    examples: int,
    seed_: int,
    shrink: bool = True,
) -> None:
    """Check examples; the exception of the smallest failing one is raised, with its source."""

    def attempt(example: Any) -> None:
        try:
            check(example)
        except Unsuitable:
            reject()

    phases = [Phase.generate, Phase.shrink] if shrink else [Phase.generate]
    limits = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    seed(seed_)(limits(given(strategy)(attempt)))()
