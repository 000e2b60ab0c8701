"""Lifted functions have the dtypes and values of NumPy: promotion, universal functions, folds."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numlift as nl

DTYPES = "?bhilBHILefdFD"
UFUNCS = sorted({f.__name__ for f in vars(np).values() if isinstance(f, np.ufunc)})
BINARY = [n for n in UFUNCS if getattr(np, n).nin == 2 and getattr(np, n).signature is None]
UNARY = [n for n in UFUNCS if getattr(np, n).nin == 1 and n != "isnat"]  # of dates only
PAIRS = [(a, b) for a in DTYPES for b in "?bHLefF"]
LOOSE = {2: 4e-3, 4: 4e-6, 8: 1e-12}

pytestmark = pytest.mark.filterwarnings("ignore")


def data(code: str) -> np.ndarray:
    kind = np.dtype(code).kind
    rows = {"b": [1, 0, 1, 0], "u": [3, 0, 2, 1], "i": [3, 0, 2, 1], "c": [1.5 + 0.5j, -0.5, 2, 1]}
    return np.array(rows.get(kind, [1.5, -0.5, 2, 0.25])).astype(code)


def same_as_numpy(f: Callable[..., Any], rows: list[tuple[Any, ...]]) -> None:
    """One program for all rows that NumPy takes."""
    wanted, taken = [], []
    for row in rows:
        try:
            wanted.append(f(*row))
        except (TypeError, ValueError):
            continue
        taken.append(row)
    assert taken, "NumPy takes none of these"
    found = nl.lift(lambda rows: [f(*row) for row in rows])(taken)
    for row, w, g in zip(taken, wanted, found, strict=True):
        for a, b in zip(*[x if isinstance(x, tuple) else (x,) for x in (w, g)], strict=True):
            a, b = np.asarray(a), np.asarray(b)
            dtypes = [getattr(x, "dtype", x) for x in row]
            assert a.dtype == b.dtype, (dtypes, a.dtype, b.dtype)
            loose = LOOSE.get(np.finfo(a.dtype).dtype.itemsize, 0) if a.dtype.kind in "fc" else 0
            np.testing.assert_allclose(b, a, rtol=loose, atol=loose, err_msg=str(dtypes))


@pytest.mark.parametrize("name", UNARY)
def test_universal_functions_of_one_argument(name: str) -> None:
    part = slice(None, None, 2) if name == "reciprocal" else ...  # NumPy's 1 / 0 depends on the CPU
    same_as_numpy(getattr(np, name), [(data(a)[part],) for a in DTYPES])


@pytest.mark.parametrize("name", BINARY)
def test_universal_functions_of_two_arguments(name: str) -> None:
    same_as_numpy(getattr(np, name), [(data(a), data(b)) for a, b in PAIRS])


OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "eq", "and_", "lshift"]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_with_python_and_numpy_numbers(name: str) -> None:
    op = getattr(operator, name)
    floats = () if name in ("and_", "lshift") else (0.5, np.float32(2))
    for k in (2, True, np.int8(3), *floats):
        same_as_numpy(lambda x, k=k: op(x, k), [(data(a),) for a in DTYPES])
        same_as_numpy(lambda x, k=k: op(k, x), [(data(a),) for a in DTYPES])


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{
        name: getattr(np, name)
        for name in (
            "sum", "prod", "mean", "std", "var", "min", "any", "argmax", "cumsum", "cumprod",
            "nansum", "nanmean", "average", "sort", "argsort", "diff", "cov", "corrcoef",
            "count_nonzero", "vander", "histogram", "polyint", "polyder", "trapezoid",
        )
    },
    "where": lambda x: np.where(x != 0, x, 0.5),
    "interp": lambda x: np.interp([0.5], np.arange(4), x.real),
    "quantiles": lambda x: np.quantile(x.real + 0, [0.3, 0.5]),
    "norm": np.linalg.norm,
    "fft": np.fft.fft,
    "list": lambda x: np.array([x[0], 1]),
    "concatenate": lambda x: np.concatenate([x, [1.5]]),
    "append": lambda x: np.append(x, 1.5),
    "bincount": lambda x: np.bincount([0, 1, 1, 2], weights=x.real),
    "dot": lambda x: x @ x,
    "einsum": lambda x: np.einsum("i,i", x, x),
    "sum of a list": lambda x: np.sum([x[0], 2]),
    "round": lambda x: np.round(x + 0 * x[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    codes = DTYPES[1:] if name not in ("histogram", "quantiles") else "bhilBHILefd"
    same_as_numpy(FUNCTIONS[name], [(data(a),) for a in codes])


def test_comparisons_are_by_value() -> None:
    small = np.array([-3, 0, 100], np.int8)
    large, signed = np.array([2**63, 3], np.uint64), np.array([-1, 3])
    same_as_numpy(lambda x: x < 300, [(small,)])
    same_as_numpy(lambda x: x == -300, [(small,)])
    same_as_numpy(lambda x, y: x < y, [(signed, large), (large, signed)])


def test_division_of_integers_by_zero_gives_zero() -> None:
    for name in ("floor_divide", "remainder", "fmod", "divmod"):
        same_as_numpy(getattr(np, name), [(np.array([7, -7, 0]), np.array([0, 2, 0]))])


def test_python_arguments_stay_weak() -> None:
    x = np.ones(2, np.float32)
    for s in (2, 2.5, np.float32(2), np.float64(2), np.int16(3)):
        same_as_numpy(lambda s, x: (x * s, s / 3 * x, np.sin(s) * x, x @ x * s), [(s, x)])


def test_the_mode_is_a_flag() -> None:
    i, f = np.ones(2, np.int32), np.ones(2, np.float32)
    with nl.enable_x64(), nl.numpy_dtype_promotion("numpy"):
        assert (nl.numpy.asarray(i) + f).dtype == np.float64
        assert nl.numpy.sin(np.ones(2, np.int16)).dtype == np.float32
    with nl.enable_x64():
        assert (nl.numpy.asarray(i) + f).dtype == np.float32


def test_means_that_pad_bools_are_true_unless_they_are_zero() -> None:
    for x in ([True, False], [False, False], [True, True, False]):
        x = np.array(x)
        found = nl.lift(lambda x: np.pad(x, 1, mode="mean"))(x)
        np.testing.assert_array_equal(found, np.pad(x, 1, mode="mean"))
