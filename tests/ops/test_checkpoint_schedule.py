"""Binomial checkpoints: the table, the default, and how often a loop computes its steps."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy
import pytest

import numlift as nl
from numlift import lax
from numlift.ops.checkpoint_schedule import (
    LARGEST,
    default_checkpoints,
    reach,
    reach_table,
    repetitions,
    usable,
)


@pytest.mark.parametrize("max_steps, checkpoints", [(1, 1), (50, 3), (10_000, 140), (2**31 - 1, 9)])
def test_the_table_holds_binomials(max_steps: int, checkpoints: int) -> None:
    table = reach_table(max_steps, checkpoints)
    for s in {0, 1, checkpoints, checkpoints + 1}:
        for r in {0, 1, table.shape[1] // 2, table.shape[1] - 1}:
            assert table[s, r] == min(math.comb(s + r, r), LARGEST)
    assert reach(checkpoints + 1, repetitions(max_steps, checkpoints)) > max_steps


def test_the_default_is_the_least_that_takes_each_step_twice() -> None:
    for n in (20, 100, 10_000):
        c = default_checkpoints(n)
        assert repetitions(n, c) == 2
        assert repetitions(n, c - 1) == 3
    assert default_checkpoints(0) == default_checkpoints(1) == 1
    assert default_checkpoints(10_000) == 139
    assert default_checkpoints(2**31 - 1) < 2**17
    assert usable(1) == 1


def counted(counts: Counter[int], max_steps: int, checkpoints: int) -> Any:
    """Gradient of a loop that counts how often it computes each of its steps."""

    def host(i: Any) -> Any:
        counts[int(i)] += 1
        return numpy.int32(i + 1)

    def body(state: Any) -> Any:
        x, i = state
        i = nl.pure_callback(host, nl.ShapeDtypeStruct((), "int32"), i)
        return nl.numpy.sin(x) * 1.1 + i, i

    def loss(x: Any, n: Any) -> Any:
        start = (x, numpy.int32(0))
        options = {"max_steps": max_steps, "checkpoints": checkpoints}
        return lax.while_loop(lambda s: s[1] < n, body, start, **options)[0]

    return nl.jit(nl.grad(loss))


def in_python(x: float, n: int) -> float:
    slope = 1.0
    for i in range(n):
        slope *= math.cos(x) * 1.1
        x = math.sin(x) * 1.1 + i + 1
    return slope


@pytest.mark.parametrize("max_steps, checkpoints", [(30, 1), (40, 2), (60, 4), (60, 59), (300, 22)])
def test_no_step_is_taken_more_often_than_published(max_steps: int, checkpoints: int) -> None:
    counts: Counter[int] = Counter()
    gradient = counted(counts, max_steps, checkpoints)
    for n in (*range(0, 31, 3), max_steps - 1, max_steps):
        counts.clear()
        found = float(gradient(0.3, n))
        assert found == pytest.approx(in_python(0.3, n), rel=2e-3, abs=1e-6)
        taken = [counts[i] for i in range(n)]
        assert min(taken, default=1) >= 1
        # beta(s, r) is the longest chain for s states and r repetitions (Griewank, Walther 2000).
        assert max(taken, default=1) <= repetitions(n, checkpoints)


def test_the_total_is_near_the_optimum() -> None:
    counts: Counter[int] = Counter()
    gradient = counted(counts, 1000, 9)
    for n in (60, 500, 1000):
        counts.clear()
        gradient(0.3, n)
        nl.effects_barrier()
        s, r = 10, repetitions(n, 9)
        optimum = r * n - math.comb(s + r, r - 1) + 1  # steps forward of revolve
        assert optimum <= sum(counts.values()) <= 1.35 * optimum + n
