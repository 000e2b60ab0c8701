"""Eager calls of public functions: how many programs a second call runs, and how many it makes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import numlift.numpy as np
from numlift.api.dispatch import Entry
from numlift.api.program import Program

M = numpy.random.default_rng(0).uniform(0.1, 0.9, (4, 4)).astype(numpy.float32)
I = numpy.array([0, 2, 1, 3], numpy.int32)
ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (M,), (M, M), (M[0],), (M[0], M[0]), (M, M, M), (M[0], M[0], M[0]), (M, I), (I,), (I, I),
    (M, 1), (M, 0, 1), (3,), (0.5, 2.0), (M > 0.5,), (M > 0.5, M), (M > 0.5, M, M),
)  # fmt: skip

# name -> why a call runs more than one program
SEVERAL = dict.fromkeys(
    ("argwhere", "delete", "extract", "histogram", "histogram2d", "histogramdd", "insert",
     "intersect1d", "setdiff1d", "setxor1d", "union1d"),
    "values decide the shapes: one program finds them, another one uses them",
)  # fmt: skip


class Runs:
    """Counts what goes through the entrances of compiled programs."""

    def __init__(self) -> None:
        self.count = 0
        self.changed: list[tuple[Any, Any]] = []

    def counted(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def through(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            return run(*args, **kwargs)

        return through

    def __enter__(self) -> Runs:
        for x in gc.get_objects():
            if type(x) in (Program, Entry):
                self.changed.append((x, x.run))
                x.run = self.counted(x.run)
        return self

    def __exit__(self, *exc: object) -> None:
        for x, run in self.changed:
            x.run = run


def calls(module: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Public functions of a module, each with the first arguments that it takes."""
    for name in sorted(module.__all__):
        function = getattr(module, name)
        if not callable(function) or isinstance(function, type):
            continue
        for arguments in ARGUMENTS:
            values = [np.array(a) if isinstance(a, numpy.ndarray) else a for a in arguments]
            try:
                function(*values)
            except Exception:
                continue
            yield name, lambda f=function, v=values: f(*v)
            break


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_second_call_of_a_public_function_is_one_program() -> None:
    with numpy.printoptions():  # some calls set them
        known = [row for module in (np, np.linalg, np.fft) for row in calls(module)]
        assert len(known) > 400
        for _, call in known:
            call()
    found = set()
    with numpy.printoptions(), Runs() as runs:
        for name, call in known:
            runs.count = 0
            call()
            if runs.count > 1:
                found.add(name)
    assert found == set(SEVERAL)


SHORT: dict[str, tuple[Callable[[Any], object], int]] = {
    "np.sin(x)": (np.sin, 5),
    "np.maximum(x, 0.0)": (lambda x: np.maximum(x, 0.0), 12),
    "np.where(x > 0.5, x, 0.0)": (lambda x: np.where(x > 0.5, x, 0.0), 22),
    "np.sum(x, axis=0)": (lambda x: np.sum(x, axis=0), 7),
    "np.take(x, host)": (lambda x: np.take(x, I), 30),
    "x[0]": (lambda x: x[0], 10),
    "x[1:3, ::2]": (lambda x: x[1:3, ::2], 8),
    "x[mask]": (lambda x: x[M[:, 0] > 0.2], 28),
    "x.at[0].set(1.0)": (lambda x: x.at[0].set(1.0), 30),
    "float(x[0, 0])": (lambda x: float(x[0, 0]), 22),
    "np.pad(x, 1)": (lambda x: np.pad(x, ((1, 1), (0, 2))), 25),
    "np.zeros((4, 5))": (lambda x: np.zeros((4, 5)), 9),
    "np.full((4, 5), 2.5)": (lambda x: np.full((4, 5), 2.5), 9),
    "np.arange(10)": (lambda x: np.arange(10), 9),
    "np.linspace(0, 1, 9)": (lambda x: np.linspace(0.0, 1.0, 9), 9),
    "np.asarray(list)": (lambda x: np.asarray([[1.0, 2.0], [3.0, 4.0]]), 26),
    "numpy.asarray(x)": (numpy.asarray, 6),
}


@pytest.mark.parametrize("name", SHORT)
def test_python_calls_of_an_eager_call(name: str) -> None:
    body, limit = SHORT[name]
    x = np.array(M)
    for _ in range(3):
        body(x)
    assert count_calls(lambda: body(x)) - 1 <= limit


def test_iteration_makes_no_program() -> None:
    x = np.array(M)
    list(x)
    with Runs() as runs:
        rows = list(x)
    assert runs.count == 0  # one copy a row, from memory that is shared
    numpy.testing.assert_array_equal(rows, M)


def count_calls(f: Callable[[], object]) -> int:
    """Python-level calls while `f` runs."""
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
