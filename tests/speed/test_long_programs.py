"""Programs of many thousands of operations: no recursion, linear work, few garbage collections."""

from __future__ import annotations

import copy
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import numlift as nl
import numlift.numpy as np
from numlift.core.collector import PORTION, collect_less
from numlift.core.verify import verify
from numlift.transforms.simplify import simplify
from tests.speed.test_budgets import count_calls

LENGTH = 6_000


def chain(length: int) -> Callable[[Any], Any]:
    """A function with about `length` operations in a row, and a scalar result."""

    def f(x: Any) -> Any:
        for _ in range(length // 3):
            x = np.sin(x) * 2.0 + x
        return np.sum(x)

    return f


TRACES: dict[str, Callable[[int], object]] = {
    "trace": lambda n: nl.make_jaxpr(chain(n))(np.ones(3)),
    "gradient": lambda n: nl.make_jaxpr(nl.grad(chain(n)))(np.ones(3)),
    "batch": lambda n: nl.make_jaxpr(nl.vmap(chain(n)))(np.ones((2, 3))),
    "batch of gradients": lambda n: nl.make_jaxpr(nl.vmap(nl.grad(chain(n))))(np.ones((2, 3))),
    "gradient of jit": lambda n: nl.make_jaxpr(nl.grad(nl.jit(chain(n))))(np.ones(3)),
    "gradient of checkpoint": lambda n: nl.make_jaxpr(nl.grad(nl.checkpoint(chain(n))))(np.ones(3)),
    "tangent": lambda n: nl.make_jaxpr(lambda x: nl.jvp(chain(n), (x,), (x,)))(np.ones(3)),
    "gradient of a wide sum": lambda n: nl.make_jaxpr(
        nl.grad(lambda x: sum([np.sin(x) for _ in range(n // 3)], x))
    )(1.0),
    "lowering": lambda n: nl.jit(chain(n)).lower(np.ones(3)),
    "lowering of a gradient": lambda n: nl.jit(nl.grad(chain(n))).lower(np.ones(3)),
}


@pytest.fixture(autouse=True)
def _no_checks(set_flag: Callable[[str, Any], None]) -> None:
    set_flag("enable_checks", False)  # the verifier is for tests only


@pytest.fixture
def low_limit() -> Iterator[None]:
    """A recursion limit that a recursive walk of a long program exceeds at once."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 200)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.usefixtures("low_limit")
def test_no_recursion(name: str) -> None:
    TRACES[name](LENGTH)


@pytest.mark.usefixtures("low_limit")
def test_no_recursion_over_a_graph() -> None:
    graph = nl.make_jaxpr(nl.grad(chain(LENGTH)))(np.ones(3))
    verify(graph)
    assert str(graph).count("\n") > LENGTH
    smaller = simplify(graph)
    assert len(smaller.equations) > LENGTH
    copied = copy.deepcopy(smaller)
    assert len(copied.equations) == len(smaller.equations)
    del graph, smaller, copied
    gc.collect()


@pytest.mark.parametrize("name", TRACES)
def test_work_is_linear_in_the_length(name: str) -> None:
    run = TRACES[name]
    run(30)
    counts = [count_calls(lambda n=n: run(n)) for n in (300, 600, 2400)]
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    assert second <= 6.3 * first + 200, counts


def collections_while(f: Callable[[], object]) -> list[int]:
    """Generations that the collector looked at while `f` ran."""
    found: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            found.append(info["generation"])

    gc.collect()
    gc.callbacks.append(note)
    try:
        f()
    finally:
        gc.callbacks.remove(note)
    return found


@pytest.mark.parametrize("name", TRACES)
def test_long_traces_are_rarely_interrupted_by_the_collector(name: str) -> None:
    # Each end of an outermost part gives the collector a turn; in between it has few.
    assert len(collections_while(lambda: TRACES[name](LENGTH))) <= 12


def test_the_threshold_comes_back() -> None:
    before = gc.get_threshold()
    nl.make_jaxpr(np.sin)(1.0)
    assert gc.get_threshold() == before
    inside: list[Any] = []

    def fails(x: Any) -> Any:
        inside.append(gc.get_threshold())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        nl.jit(fails)(1.0)
    assert inside == [(PORTION, *before[1:])]
    assert gc.get_threshold() == before


def test_the_users_own_threshold_stays() -> None:
    before = gc.get_threshold()
    try:
        with collect_less, collect_less:
            gc.set_threshold(500, 5, 5)
        assert gc.get_threshold() == (500, 5, 5)
        for own in ((0, 10, 10), (PORTION * 2, 10, 10)):
            gc.set_threshold(*own)
            with collect_less:
                assert gc.get_threshold() == own
            assert gc.get_threshold() == own
    finally:
        gc.set_threshold(*before)


def test_threads_share_the_threshold() -> None:
    before = gc.get_threshold()
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with collect_less:
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with collect_less:
        thread.start()
        assert entered.wait(10)
    assert gc.get_threshold()[0] == PORTION  # the other thread is still inside
    leave.set()
    thread.join()
    assert gc.get_threshold() == before
