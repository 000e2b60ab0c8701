"""Lifted code meets Python: types, `math`, globals, closures, defaults, loops and errors."""

from __future__ import annotations

import functools
import math
from math import atan2, sqrt

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import numlift as nl
from numlift import errors

X = np.array([0.5, 1.5, 2.0, -1.0])
TABLE = np.array([3.0, 1.0, 4.0, 1.0])
COUNT = 0


def check(program, *args) -> None:
    expected, found = program(*args), nl.lift(program)(*args)
    for x, y in zip(nl.tree.leaves(found), nl.tree.leaves(expected), strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(x, y, rtol=1e-12)


KINDS = [
    lambda x: isinstance(x, np.ndarray),
    lambda x: isinstance(x, float),
    lambda x: isinstance(x, (int, np.integer)),
    lambda x: isinstance(x, np.floating),
    lambda x: isinstance(x, np.number | list),
    lambda x: isinstance(x, np.generic),
    lambda x: type(x) is np.ndarray,
    lambda x: type(x) == np.ndarray,  # noqa: E721
    lambda x: type(x) in (float, np.float64),
    lambda x: isinstance(type(x), type) and issubclass(type(x), np.ndarray),
    lambda x: np.isscalar(x),
    lambda x: isinstance(x[0] if np.ndim(x) else x, np.ndarray),
    lambda x: isinstance(np.asarray(x), np.ndarray),
    lambda x: isinstance(np.sum(x), np.float64),
    lambda x: isinstance((1, "a")[1], str),
]


@pytest.mark.parametrize("asks", KINDS, ids=range(len(KINDS)))
@pytest.mark.parametrize(
    "x", [X, X.astype(np.float32), 3.0, 2, np.float64(3), np.int32(2), np.True_]
)
def test_types_are_those_of_numpy(asks, x) -> None:
    check(lambda x: (asks(x) + 2) * x, x)


def test_types_of_results_of_python_numbers_are_those_of_numpy() -> None:
    a = np.ones(3, np.float32)
    check(lambda x, a: (a * x, a * np.sin(x), a * np.asarray(x), a * math.sin(x)), 3.0, a)


def test_math_takes_scalars() -> None:
    def program(x, s):
        near = math.isclose(s, s + 1e-12), math.isclose(s, 1.0)
        return (
            math.sin(x[0]) + sqrt(x[1]) * atan2(s, 2),
            math.log(x[2], 3) + math.log(x[1]) + math.pow(x[0], s),
            math.floor(x[3]), math.ceil(x[0]), math.trunc(x[1]), math.gamma(x[2]),
            math.lgamma(s), math.erf(s), math.pi * x, math.factorial(4), *near,
        )  # fmt: skip

    check(program, X, 2.5)
    with pytest.raises(TypeError, match="np.sin"):
        nl.lift(lambda x: math.sin(x))(X)


def test_rounding() -> None:
    check(lambda x: (round(x[1]), round(x[0], 1), abs(x[3]), divmod(x[1], 2)), X)


def test_global_arrays_take_traced_places() -> None:
    check(lambda x: (TABLE[np.argmax(x)], TABLE[np.argsort(x)], TABLE * x, len(TABLE)), X)


def test_arrays_from_outside_cannot_be_written() -> None:
    captured = np.zeros(4)

    def into_global(x):
        TABLE[0] += 1
        return TABLE * x

    def into_closure(x):
        captured[0] = x[0]
        return captured

    def into_default(x, a=np.zeros(4)):  # noqa: B008
        a += 1
        return a * x

    for program in (into_global, into_closure, into_default):
        with pytest.raises(errors.ValueArgumentError, match="outside of the function"):
            nl.lift(program)(X)
    assert TABLE[0] == 3 and not captured.any()


def count() -> int:
    return COUNT


def test_assigned_names_reach_their_module_and_other_functions() -> None:
    def program(x):
        global COUNT
        COUNT += 1
        return x * count()

    global COUNT
    COUNT = 4
    np.testing.assert_array_equal(nl.lift(program)(X), X * 5)
    assert COUNT == 5

    n = 0

    def increase():
        nonlocal n
        n += 1

    def counting(x):
        increase()
        return x * n

    np.testing.assert_array_equal(nl.lift(counting)(X), X)
    assert n == 1


def test_functions_in_defaults_and_decorators_write_too() -> None:
    def first(x):
        a = np.zeros(3)
        a[0] = x[0]
        return a

    def doubled(f):
        @functools.wraps(f)
        def inner(*args):
            out = np.zeros(3)
            out[:] = f(*args) * 2
            return out

        return inner

    twice = doubled(first)
    check(lambda x, f=first, g=twice: f(x) + g(x), X)


def test_known_places_and_numbers_that_do_not_fit_are_errors_as_in_numpy() -> None:
    def writes_outside(x):
        a = x * 1
        a[7] = 1
        return a

    def adds_too_much(x):
        a = x.astype(np.int8)
        a += 300
        return a

    def out_of_another_kind(x):
        return np.add(x, 1, out=np.zeros(4, int))

    programs = [
        (writes_outside, IndexError),
        (lambda x: (x * 1)[[0, 9]], IndexError),
        (lambda x: (x * 1)[np.ones(3, bool)], IndexError),
        (adds_too_much, OverflowError),
        (lambda x: x.astype(np.uint8) + 256, OverflowError),
        (lambda x: np.put(x.astype(np.uint8), 0, 1) or x.astype(np.uint8) * -1, OverflowError),
        (out_of_another_kind, TypeError),
    ]
    for program, error in programs:
        for run in (program, nl.lift(program)):
            with pytest.raises(error):
                run(X)


def test_views_that_functions_make_of_known_memory_are_never_old() -> None:
    def windows(x):
        a = np.zeros(4)
        b = as_strided(a, (2, 2), (8, 8))
        a[1] = x[0]
        return b

    def several(x):
        a = np.zeros(4)
        b, c = np.broadcast_arrays(a, np.zeros((2, 4)))
        a[1] = x[0]
        d, _ = np.broadcast_arrays(a, np.zeros((2, 4)))
        a[2] = x[1]
        return b, c, d

    check(several, X)
    with pytest.raises(errors.ValueArgumentError, match="copy"):
        nl.lift(windows)(X)
