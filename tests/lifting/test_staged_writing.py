"""Branches and loops on values write into arrays in lifted code."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
from numlift import errors

from .test_writing import check_equal

X = np.array([0.5, 1.5, 2.0, -1.0])
A = np.eye(4) * 4 + np.outer(X, X)


def branches(x):
    a = np.zeros(4)
    b = a[1:]
    if x[0] > 0:
        a[0] = x[0]
    else:
        a[1] = x[1]
    if x[3] > 0:
        a += 1
    c = x.copy()
    d = c
    if x[0] > 0:
        c += 1
        c *= 2
        c[c > 1] = 0
    return a, b, c, d


def branches_in_loops(x):
    a = np.zeros(4)
    b = a
    for v in x:
        if v > 0:
            a[0] += v
    a[1] = 3
    return a, b


def loops(x):
    a = x.copy()
    w, other = a[1:], a
    i = 0
    while i < x[1]:
        a[0] += 1
        a[i + 1] = 7
        i += 1
    a[0] *= 2
    b = np.zeros(4)
    part = b[1:]
    i = 0
    while i < x[1]:
        part[0] += x[0]
        for j in range(2):
            part[j] += x[j] * i
        i += 1
    return a, w, other, b, part, i


def replaced(x):
    a = np.ones(4)
    first, i = a, 0
    while i < x[1]:
        a = a + first
        i += 1
    a[0] = 5
    return a, first


def smoothed(x):
    y, n = np.zeros_like(x), (x > -9).sum()
    for i in range(1, n - 1):
        y[i] = x[i - 1 : i + 2].mean()
    return y


def back_substitution(x):
    n, y = (x > -9).sum(), np.zeros(4)
    for i in range(n - 1, -1, -1):
        y[i] = (x[i] - A[i, i + 1 :] @ y[i + 1 :]) / A[i, i]
    return y


PROGRAMS = [branches, branches_in_loops, loops, replaced, smoothed, back_substitution]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_give_what_numpy_gives(program) -> None:
    check_equal(nl.lift(program, autostage=True)(X), program(X))


def reads_a_view(x):
    a = x.copy()
    w, i, total = a[1:], 0, 0.0
    while i < x[1]:
        a[1] += 1
        total += w[0]
        i += 1
    return total


def writes_array_and_view(x):
    a = np.zeros(4)
    w, i = a[1:], 0
    while i < x[1]:
        w[0] += x[0]
        a[1] += 1
        i += 1
    return a, w


def branch_reads_a_view(x):
    a = x.copy()
    w, total = a[1:], 0.0
    if x[0] > 0:
        a[1] = 5
        total = w[0]
    return total


@pytest.mark.parametrize("program", [reads_a_view, writes_array_and_view, branch_reads_a_view])
def test_shared_memory_in_blocks_is_an_error(program) -> None:
    with pytest.raises(errors.ValueArgumentError, match=r"under another name(?s:.*)a\.copy\(\)"):
        nl.lift(program, autostage=True)(X)


def test_arguments_belong_to_the_caller() -> None:
    def program(x):
        i = 0
        while i < x[1]:
            x[0] += 1
            i += 1
        return x

    with pytest.raises(errors.ValueArgumentError, match="cannot write into an argument"):
        nl.lift(program, autostage=True)(X)


def test_elements_of_containers_are_not_written_in_blocks() -> None:
    def program(x):
        tables = {"a": np.zeros(4)}
        if x[0] > 0:
            tables["a"][0] = x[0]
        return tables["a"]

    with pytest.raises(errors.AutostageError, match="not a local variable"):
        nl.lift(program, autostage=True)(X)
