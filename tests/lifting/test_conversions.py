"""Casts, iterators and windows of NumPy on traced values in lifted code."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
from numlift import errors

from .test_writing import check_equal

X = np.array([0.5, 1.5, 2.0, -1.0])


def casts(x):
    assert isinstance(x[0], np.float64) and isinstance(float(x[0]), float)
    assert np.float64 == x.dtype and np.zeros(2, dtype=float).dtype == np.float64
    return (
        np.float64(x[0]) + np.float64(1), np.int64(x[1]) + 1, np.float32(x), np.complex128(x[0]),
        np.bool_(x[0]), np.float64("1.5"), x.astype(float), np.array([1, 2], dtype=np.float32),
        np.zeros(2, np.int8) + x[0], np.finfo(np.float64).eps, np.full(2, x[0], dtype=int),
        x[0].item() * 2, sum(x.tolist()), np.issubdtype(np.float32, np.floating),
    )  # fmt: skip


def iterators(x):
    total = 0.0
    for v in np.nditer(x):
        total = total + v * v
    for (j,), v in np.ndenumerate(x):
        total = total + j * v
    a = x.copy().reshape(2, 2)
    iterator = np.nditer(a, flags=["multi_index"], op_flags=["readwrite"])
    for v in iterator:
        v[...] = v * 2 + iterator.multi_index[0]
    for j in np.ndindex(2, 2):
        a[j] += x[j[0] * 2 + j[1]]
    return total, a, np.fromiter((v * 2 for v in x), float), np.take(x, range(2))


@np.vectorize
def doubled(v):
    return v * 2


def functions_of_functions(x):
    grid = np.arange(12.0).reshape(3, 4)
    return (
        doubled(x), np.vectorize(lambda v: np.sin(v) + 1)(x),
        np.apply_along_axis(lambda r: r.sum() * r, 1, grid * x),
        np.piecewise(x, [x < 0, x >= 1], [lambda v: -v, lambda v: v**2, 5.0]),
        np.select([x < 0, x > 1], [x, x**2], 7.0),
        np.emath.sqrt(x.astype(complex)),
    )  # fmt: skip


def windows(x):
    view = np.lib.stride_tricks.sliding_window_view
    known = view(np.arange(4.0), 2)
    table = view(np.outer(x, x), (2, 3))
    base = x.copy()
    seen = view(base, 2)
    base[1] = 7 * x[0]
    return view(x, 2).sum(axis=1), known * x[0], table, view(np.outer(x, x), 2, axis=1), seen


PROGRAMS = [casts, iterators, functions_of_functions, windows]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_give_what_numpy_gives(program) -> None:
    check_equal(nl.lift(program)(X), program(X))


def test_conversions_to_python_stay_weak() -> None:
    found = nl.lift(lambda x: (float(x[0]) * x, int(x[1]) * x, complex(x[0]) * x))(
        X.astype(np.float32)
    )
    assert [y.dtype for y in found] == [np.float32, np.float32, np.complex64]
    assert nl.lift(lambda x: int(x[3] * 1.7))(X) == -1


@pytest.mark.parametrize(
    ("program", "error", "text"),
    [
        (lambda x: np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8)), ValueError, "sliding_"),
        (lambda x: bool(x[0]), errors.TracerBoolConversionError, "np.where"),
        (lambda x: np.emath.sqrt(x), errors.TracerArrayConversionError, "astype.complex"),
        (lambda x: np.frompyfunc(lambda v: v, 1, 1)(x), TypeError, "cannot be traced"),
        (lambda x: float(x), TypeError, "one element"),
        (lambda x: np.nditer([x, x]), errors.ArgumentError, "np.ndindex"),
        (lambda x: range(np.int64(x[0])), TypeError, "fori_loop"),
    ],
)
def test_what_needs_values_says_what_to_write(program, error, text) -> None:
    with pytest.raises(error, match=text):
        nl.lift(program)(X)
