"""Lifted code takes slices whose bounds are traced."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
from numlift import errors

from .test_writing import check_equal

X = np.array([0.5, 1.5, 2.0, -1.0])
N = np.arange(12.0).reshape(3, 4) / 5 - 1
I = np.int64(1)


def windows(x, i):
    n = 2
    return (
        x[i : i + 2], x[i : i + n] * 1, N[:, i - 1 : i + 2] + x[0], x[i : i + 2, None],
        x[i + 1 : i - 1 : -1], x[2 * i : 2 * i + 2], x[i : i + 2][::-1], x[i - 1 : i + 3 : 2],
        x[slice(i, i + 2)], x[n * i : n * (i + 1)], x[-i - 2 : -i], N[i - 1 : i + 1, 0],
        N[None, i, i : i + 2], x[i:i],
    )  # fmt: skip


def writes(x, i):
    a = np.zeros((3, 4))
    a[:, i - 1 : i + 1] += x[0]
    a[i : i + 2, i - 1 : i + 1] = x[:2]
    a[..., i : i + 1] += x[0]
    b = x.copy()
    w = b[i : i + 2]
    w[0] = 9.0
    b[i + 1] = 7
    b[2 * i : 2 * i + 2] += 1
    c = np.zeros(4, int)
    c[i + 2 : i + 4] = 1  # beyond the border
    return a, b, w, c


def unknown_lengths(x, i):
    s = x[i:]
    return (
        x[:i].sum(), x[i:].sum(), x[i + 1 :].max(), x[:i] @ x[:i], len(s), x[-i:].sum(),
        x[:-i].sum(), s[0], N[i, :i] @ x[:i], N[i:].sum(axis=0), np.mean(x[i : len(x)]),
        np.dot(x[:i], N[0, :i]), x[i:2].sum(), x[: i + 9].sum(),
    )  # fmt: skip


def unknown_lengths_written(x, i):
    a = N.copy()
    a[i:, 0] = x[0]
    a[0, i:] *= 2
    a[1, :i] -= a[0, :i] * x[0]
    w = a[2, i:]
    w += 1
    a[2, i] = 100
    return a, w.sum()


@pytest.mark.parametrize(
    "program", [windows, writes, unknown_lengths, unknown_lengths_written], ids=lambda f: f.__name__
)
def test_slices_give_what_numpy_gives(program) -> None:
    check_equal(nl.lift(program)(X, I), program(X, I))


def test_windows_in_vmap_and_grad() -> None:
    at = np.arange(3)
    found = nl.lift(nl.vmap(lambda i: X[i : i + 2] * X[i : i + 2].sum()))(at)
    check_equal(found, np.stack([X[i : i + 2] * X[i : i + 2].sum() for i in at]))
    gradient = nl.lift(nl.grad(lambda x, i: np.sum(x[i : i + 2] ** 2)))(X, I)
    check_equal(gradient, np.array([0.0, 3.0, 4.0, 0.0]))


def test_elements_beyond_the_border_are_seen() -> None:
    found = nl.lift(lambda x, i: x[i : i + 2])(X, np.int64(3))
    check_equal(found, np.array([-1.0, np.nan]))
    check_equal(nl.lift(lambda x, i: x[i - 1 : i + 1])(X, np.int64(0)), np.full(2, np.nan))


def test_cholesky_with_slices_up_to_the_loop_variable() -> None:
    def cholesky(a, order):
        factor = np.zeros_like(a)
        for j in range(len(a)):
            k = order[j]
            factor[k, k] = np.sqrt(a[k, k] - factor[k, :k] @ factor[k, :k])
            for i in range(j + 1, len(a)):
                factor[i, k] = (a[i, k] - factor[i, :k] @ factor[k, :k]) / factor[k, k]
        return factor

    a, order = np.eye(4) * 4 + np.outer(X, X), np.arange(4)
    check_equal(nl.lift(cholesky)(a, order), cholesky(a, order))


@pytest.mark.parametrize(
    "program",
    [
        lambda x, i: N[i:, i:].sum(),
        lambda x, i: N[[0, 1], i : i + 2],
        lambda x, i: x[:i:2].sum(),
        lambda x, i: N[i : i + 2, i:],
    ],
)
def test_other_slices_say_what_to_write(program) -> None:
    with pytest.raises(errors.IndexingError, match=r"a\[i:i\+n\] with a known n"):
        nl.lift(program)(X, I)


def test_the_number_of_elements_of_a_slice_is_no_size() -> None:
    with pytest.raises(errors.NonConcreteBooleanIndexError, match="they were returned"):
        nl.lift(lambda x, i: x[:i])(X, I)
