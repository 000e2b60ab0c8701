"""Lifted code reads and writes the elements of masks whose values are traced."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
from numlift import errors

from .test_writing import check_equal

X = np.array([0.5, 1.5, 2.0, -1.0])
N = np.arange(12.0).reshape(3, 4) / 5 - 1


def equal_masks(x):
    a = x.copy()
    a[a > 0] = np.log(a[a > 0])
    m, same = a > 0, a > 0
    a[m] = np.sqrt(a[same]) * 2 + a[m]
    a[a > a[a > 0].mean()] = 0
    a[(a > 0) & (a < 2)] *= 3
    a[~(a > 1)] = np.clip(a[~(a > 1)], -0.5, 0.2)
    return a


def other_masks(x):
    a, b = np.zeros(4), x.copy()
    a[x > 0] = [1.0, 2.0, 3.0]
    b[x > 1] = x[x < 1]
    c = x.copy()
    c[c[0] > 0] = 3
    return a, b, c, (x[x > 0] * np.array([1, 2, 3.0])).sum(), (x[x > 1] + x[x < 1]).sum()


def rows(x):
    a = N.copy()
    m = a[:, 0] > x[0] - 1.2
    a[m] = x
    a[m] += 1
    a[m, 0] = 7
    a[:, x > 0] *= 2
    a[m] = a[m] * a[m, 1:2]
    s = N[N[:, 1] > x[3] + 0.3]
    return (
        a, s.sum(axis=0), s.mean(0), s.sum(axis=1).max(), s.max(axis=1).sum(), s.sum(),
        s[:, 0].sum(), s[0], s[-1, 1], (s @ x).sum(), np.linalg.norm(s, axis=0),
        np.cumsum(s, axis=1).sum(axis=0), np.average(s, axis=0), np.median(s, axis=0),
    )  # fmt: skip


def other_axes(x):
    a = np.arange(24.0).reshape(2, 3, 4)
    a[0, :, x > 0] = x[:3]
    a[:, :, x < 0] = 0
    a[a > x[0] + 8] = 3
    a[1, a[1] > 2] = 4
    b = N.copy()
    b[1, x > 0] = 5
    b[0, x < 1] = x[x < 1]
    b[..., x > 1] = x[x > 1]
    return a, a[0, :, x > 0].sum(axis=0), a[:, :, x > 1].sum(axis=2), b


def reductions(x):
    s = x[x > 0]
    return (
        s.sum(), s.mean(), np.std(s), s.max(), np.min(s), len(s), s.size, (x > 0).sum(),
        s.shape[0], np.median(s), np.percentile(s, 30), np.quantile(s, [0.1, 0.9]), s.var(ddof=1),
        s.prod(), np.any(s > 1), s.all(), np.ptp(s), s.argmax(), np.argmin(s), np.cumsum(s)[-1],
        np.add.reduce(s), np.dot(s, s), s @ s, np.interp(s, [0, 1.0, 2], [0, 5.0, 7]).sum(),
        s.astype(int).sum(), 2 ** s.sum(), (x[0] * s).sum(), (3 - s).sum(), np.linalg.norm(s),
        np.average(s, weights=s), np.count_nonzero(s > 1), np.max(np.abs(x[x < 0])), s[0], s[-1],
        s[1], np.where(s > 1, 1, 0).sum(), s[s > 1].sum(),
    )  # fmt: skip


def places(x):
    i = np.where(x > 0)[0]
    a = np.zeros(4)
    a[i] = x[i] * 2
    a[i] += 1
    b = N.copy()
    r, c = np.where(b > x[0])
    b[r, c] = -1
    r, c = np.nonzero(b > -1)
    np.add.at(a, i, 1.0)
    np.add.at(a, np.array([0, 1, 1, 2])[x > 0], x[x > 0])
    return (
        a, b, len(i), i[0], i[-1], i.size, x[i].sum(), b[r, c].sum(), (r * c).sum(),
        np.argwhere(x[0] < N).sum(axis=0), np.flatnonzero(x[0] < N).max(), i.max(),
    )  # fmt: skip


def parts_of_parts(x):
    b = x[x > 0]
    b[b > 1] = 10
    b -= 1
    a = np.zeros(4, dtype=int)
    a[x > 0] = x[x > 0] * 3
    a[~(x > 0)] = -1
    a[x > 1] -= 1
    return b.sum(), b[b < 5].sum(), a


def k_means(x):
    centres = np.array([0.0, 2.0])
    for _ in range(3):
        distances = np.array([np.abs(x - c) for c in centres])
        labels = distances.argmin(axis=0)
        for k in range(2):
            centres[k] = x[labels == k].mean()
    return centres


def pseudo_inverse(x):
    u, s, vt = np.linalg.svd(N * x, full_matrices=False)
    keep = s > 1e-3 * s[0]
    return np.sum(1 / s[keep]), keep.sum()


PROGRAMS = [
    equal_masks, other_masks, rows, other_axes, reductions, places, parts_of_parts, k_means,
    pseudo_inverse,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_give_what_numpy_gives(program) -> None:
    check_equal(nl.lift(program)(X), program(X))


def test_programs_are_batched() -> None:
    batch = np.stack([X, X + 1])
    check_equal(nl.lift(nl.vmap(equal_masks))(batch), np.stack([equal_masks(x) for x in batch]))


def test_functions_see_selected_elements_only() -> None:
    def loss(x):
        a = x.copy()
        a[a > 0] = np.log(a[a > 0])
        return a.sum() + np.sqrt(x[x > 0]).sum() + np.std(x[x > 0])

    x = np.array([0.0, 1.0, 2.0, -1.0])
    gradient = nl.lift(nl.grad(loss))(x)
    np.testing.assert_allclose(gradient[[0, 3]], 1.0)
    for i in (1, 2):
        step = np.eye(4)[i] * 1e-6
        np.testing.assert_allclose(gradient[i], (loss(x + step) - loss(x - step)) / 2e-6, rtol=1e-6)


def test_masks_of_other_shapes_are_the_errors_of_numpy() -> None:
    for program in (lambda x: N[x > 0].sum(), lambda x: x[x[0] < N].sum()):
        with pytest.raises(errors.IndexingError, match="a mask of shape"):
            nl.lift(program)(X)
    with pytest.raises(errors.DTypeError, match="cannot be written into"):

        def complex_into_real(x):
            a = np.zeros(4)
            a[x > 0] = x[x > 0] * 1j
            return a

        nl.lift(complex_into_real)(X)
    with pytest.raises(errors.DTypeError, match="cannot be written into"):

        def floats_into_integers(x):
            a = np.zeros(4, int)
            a[x > 0] += x[x > 0]
            return a

        nl.lift(floats_into_integers)(X)
