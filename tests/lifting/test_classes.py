"""Lifted code goes into methods of the user's classes and functions of the user's modules."""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass, field

import numpy as np
import pytest

import numlift as nl
from numlift import errors

from . import helper_module
from .test_writing import check_equal

X = np.array([0.5, 1.5, 2.0, -1.0])


class Box:
    scale = np.ones(4) * 2

    def __init__(self, n):
        self.a = np.zeros(n)
        self.rows = [np.zeros(n)]
        self.calls = 0

    def step(self, x):
        self.a[0] = x[0]
        self.a += x
        self.calls += 1
        self.b = x * 2
        return self.a

    def copied(self, x):
        a = self.a.copy()
        a[1:] += x[1:]
        return a * self.scale

    @staticmethod
    def filled(x):
        a = np.zeros(4)
        a[:] = x
        return a

    @classmethod
    def made(cls, x):
        box = cls(len(x))
        box.step(x)
        return box

    @property
    def total(self):
        return np.asarray(self.a).sum()

    @functools.cached_property
    def grid(self):
        grid = np.zeros(4)
        grid[0] = 1
        return grid

    def __getitem__(self, i):
        return self.filled(self.a)[i]


class Twice(Box):
    def step(self, x):
        return super().step(x) * 2


@dataclass
class State:
    position: object
    velocity: object
    history: list = field(default_factory=list)

    def kick(self, force):
        self.velocity += force
        self.position[0] = self.velocity[0]
        self.history.append(self.position.copy())
        return self


class Euler:
    def __init__(self, f, dt):
        self.f, self.dt, self.n = f, dt, 0

    def __call__(self, y):
        self.n += 1
        return y + self.dt * self.f(y)


def field_of(y):
    return np.array([-y[0], y[1], y[2] * y[0], 0.0])


EULER = Euler(field_of, 0.1)
BOX = Box(4)
TABLES = {"a": np.zeros(4)}
GENERATOR = np.random.default_rng(0)


def makes_objects(x):
    box, twice = Box(4), Twice(4)
    box.step(x)
    box.step(box.b)
    twice.step(x)
    state = State(np.zeros(4), x.copy()).kick(np.sin(x)).kick(1)
    assert isinstance(box, Box) and isinstance(twice, Box) and type(state) is State
    return (
        box.a, box.b, box.calls, box[0], box.total, box.grid, twice.a, Box.filled(x),
        Box.made(x).a, state.position, state.velocity, state.history,
    )  # fmt: skip


def uses_objects(x):
    bound = BOX.copied
    for _ in range(2):
        x = EULER(x)
    return bound(x), BOX.filled(x), x


def uses_modules(x):
    return helper_module.smoothed(x) + helper_module.TABLE


def containers(x):
    tables = {"a": np.zeros(4), "b": [np.zeros(2) for _ in range(2)]}
    tables["a"][1:] += x[1:]
    tables["b"][1][0] = x[0]
    a = np.zeros((2, 2))
    a.T[0] = x[:2]
    a.flat[3] = x[3]
    a.reshape(-1)[1] = 7 * x[1]
    a.flat[[0, 1]] += x[0]
    out = np.empty(4)
    np.cumsum(x, out=out)
    np.dot(np.ones((3, 4)), x, out=out[:3])
    return tables, a, out


def check(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            check(found[key], expected[key])
    elif isinstance(expected, (tuple, list)):
        for a, b in zip(found, expected, strict=True):
            check(a, b)
    else:
        check_equal(found, expected)


@pytest.mark.parametrize("program", [makes_objects, uses_objects, uses_modules, containers])
def test_programs_give_what_numpy_gives(program) -> None:
    check(nl.lift(program)(X), program(X))


def test_bound_methods_are_lifted() -> None:
    box = Box(4)
    check_equal(nl.lift(box.copied)(X), box.copied(X))
    assert type(box.a) is np.ndarray


def test_classes_are_as_before() -> None:
    before = {c: dict(vars(c)) for c in (Box, Twice, State, Euler)}
    nl.lift(lambda x: makes_objects(x)[:4] + uses_objects(x))(X)
    with pytest.raises(errors.NumliftError):
        nl.lift(lambda x: BOX.step(x))(X)
    assert before == {c: dict(vars(c)) for c in before}


def test_other_threads_run_the_methods_as_they_are() -> None:
    seen, during, done = [], threading.Event(), threading.Event()

    def other() -> None:
        during.wait(60)
        box = Box(4)
        box.step(X)
        seen.append(type(box.a))
        done.set()

    def program(x):
        during.set()
        done.wait(60)
        box = Box(4)
        return box.step(x) * 1

    thread = threading.Thread(target=other)
    thread.start()
    check_equal(nl.lift(program)(X), program(X))
    thread.join()
    assert seen == [np.ndarray]


def test_known_values_reach_objects_once_for_each_trace() -> None:
    box = Box(4)

    def program(x):
        box.calls += 1
        box.grid2 = np.arange(3.0)
        return x * box.grid[0]

    lifted = nl.lift(program)
    lifted(X), lifted(X)
    assert box.calls == 1 and type(box.grid2) is np.ndarray


@pytest.mark.parametrize(
    "program",
    [
        lambda x: BOX.step(x),
        lambda x: BOX.rows[0].__setitem__(0, x[0]),
        lambda x: TABLES["a"].__setitem__(0, x[0]),
    ],
)
def test_arrays_from_outside_are_not_written(program) -> None:
    with pytest.raises(errors.ValueArgumentError, match=r"(?s)outside.*\.copy\(\)|np\.array\(a\)"):
        nl.lift(program)(X)
    assert not BOX.a.any() and not TABLES["a"].any()


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x + np.random.rand(4),
        lambda x: np.random.normal(x),
        lambda x: x + GENERATOR.normal(size=4),
        lambda x: x + np.random.default_rng().normal(size=4),
    ],
)
def test_random_numbers_are_no_constants(program) -> None:
    with pytest.raises(errors.ValueArgumentError, match="would draw once"):
        nl.lift(program)(X)


def test_generators_with_a_seed() -> None:
    def program(x):
        return x + np.random.default_rng(3).normal(size=4)

    check_equal(nl.lift(program)(X), program(X))
