"""where, select, piecewise, clip, nan_to_num, nearly equal, interp, unwrap against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors

X = numpy.asarray([[-2.0, 0.5, 3.0], [1.0, -0.25, 8.0]], numpy.float32)
SPECIAL = numpy.asarray([1.0, numpy.nan, numpy.inf, -numpy.inf, -2.0], numpy.float32)


def same(found: Any, wanted: Any, rtol: float = 2e-6) -> None:
    wanted = numpy.asarray(wanted)
    assert found.shape == wanted.shape
    numpy.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-6)


def test_where_broadcasts_and_promotes() -> None:
    same(np.where(X > 0, X, 0), numpy.where(X > 0, X, 0))
    same(np.where(X[:, :1] > 0, X, X[0]), numpy.where(X[:, :1] > 0, X, X[0]))
    same(np.where(X > 0, 1, 2.5), numpy.where(X > 0, 1, 2.5))
    same(np.where(True, X, 1.0), X)
    same(np.where(X, 1, 0), numpy.where(X, 1, 0))
    assert np.where(X > 0, 1, 2.5).dtype == "float32"
    assert np.where(True, numpy.int8(1), 2).dtype == "int8"
    for call in (lambda: np.where(X > 0, X), lambda: np.where(X > 0, X, None)):
        with pytest.raises(errors.ValueArgumentError):
            call()
    with pytest.raises(ValueError, match="where"):
        np.where(X > 0, X, numpy.ones(5))


def test_where_passes_derivatives_to_the_chosen_side() -> None:
    g = nl.grad(lambda x: np.where(x > 0, x * x, 3 * x))
    assert float(g(2.0)) == 4.0 and float(g(-1.0)) == 3.0
    # the safe form: choose the argument first
    safe = nl.grad(lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0))
    assert float(safe(0.0)) == 0.0


def test_select() -> None:
    conditions, choices = [X < 0, X > 2], [X, X * 10]
    same(np.select(conditions, choices, -7.0), numpy.select(conditions, choices, -7.0))
    same(np.select(conditions, [1, 2]), numpy.select(conditions, [1, 2]))
    assert nl.jit(lambda x: np.select([x < 0], [x], 5.0))(X).shape == (2, 3)
    for bad in (([], []), ([X > 0], [X, X])):
        with pytest.raises(errors.ValueArgumentError):
            np.select(*bad)


def test_piecewise() -> None:
    parts = [0.5, lambda x: x * 2, lambda x: -x]
    same(np.piecewise(X, [X < 0, X > 2], parts), numpy.piecewise(X, [X < 0, X > 2], parts))
    same(np.piecewise(X[0], X[0] < 0, [1.0, 2.0]), numpy.piecewise(X[0], X[0] < 0, [1.0, 2.0]))
    same(np.piecewise(3.0, [True], [lambda x, k: x * k], 4), 12.0)
    same(np.piecewise(X, [X > 2], [7]), numpy.piecewise(X, [X > 2], [7]))
    with pytest.raises(errors.ValueArgumentError, match="functions"):
        np.piecewise(X, [X < 0], [1, 2, 3])


def test_clip() -> None:
    same(np.clip(X, -1, 2), X.clip(-1, 2))
    same(np.clip(X, None, 2), X.clip(None, 2))
    same(np.clip(X, min=numpy.asarray([0.0, 1.0, 2.0])), X.clip(numpy.asarray([0, 1, 2])))
    same(np.clip(X, a_min=0, a_max=1), X.clip(0, 1))
    same(np.clip(0.5, 0, numpy.ones(3)), numpy.full(3, 0.5))
    same(np.clip(X, 2, 1), X.clip(2, 1))
    assert np.clip(numpy.asarray([1, 2]), 0, 1.5).dtype == "float32"
    assert np.clip(numpy.asarray([1, 2], numpy.int8), 0, 1).dtype == "int8"
    slope = nl.grad(lambda x: np.clip(x, 0.0, 1.0))
    assert [float(slope(v)) for v in (-1.0, 0.0, 0.5, 1.0, 2.0)] == [0, 0.5, 1, 0.5, 0]
    with pytest.raises(errors.DTypeError, match="complex"):
        np.clip(1j, 0, 1)
    with pytest.raises(TypeError):
        np.clip(X, minimum=1)


def test_nan_to_num() -> None:
    same(np.nan_to_num(SPECIAL), numpy.nan_to_num(SPECIAL))
    options = {"nan": 5.0, "posinf": 7.0, "neginf": -7.0}
    same(np.nan_to_num(SPECIAL, **options), numpy.nan_to_num(SPECIAL, **options))
    c = numpy.empty(5, numpy.complex64)
    c.real, c.imag = SPECIAL, SPECIAL[::-1]
    same(np.nan_to_num(c), numpy.nan_to_num(c))
    same(np.nan_to_num(numpy.asarray([1, 2])), [1, 2])
    assert float(nl.grad(np.nan_to_num)(numpy.nan)) == 0.0
    assert np.nan_to_num(SPECIAL.astype(numpy.float16)).dtype == "float16"


@pytest.mark.parametrize("equal_nan", [False, True])
def test_nearly_equal(equal_nan: bool) -> None:
    y = SPECIAL * numpy.float32(1 + 1e-6)
    with numpy.errstate(invalid="ignore"):
        same(
            np.isclose(SPECIAL, y, equal_nan=equal_nan),
            numpy.isclose(SPECIAL, y, equal_nan=equal_nan),
        )
        assert bool(np.allclose(SPECIAL, y, equal_nan=equal_nan)) == equal_nan
    assert bool(np.array_equal(SPECIAL, SPECIAL, equal_nan)) == equal_nan


def test_equality_of_arrays() -> None:
    assert not np.array_equal(X, X[0]) and np.array_equal([1, 2], (1.0, 2.0))
    assert np.array_equiv(X[0], numpy.broadcast_to(X[0], (2, 3)))
    assert not np.array_equiv(X, numpy.ones(5))
    assert not np.array_equal(X, "a")
    assert not np.isclose(1, 2) and np.isclose(1.0, 1.0 + 1e-9, rtol=0.0)
    assert np.isclose(1j, 1j + 1e-9)


XP = numpy.asarray([1.0, 2.0, 4.0, 8.0], numpy.float32)
FP = numpy.asarray([3.0, -1.0, 0.5, 2.0], numpy.float32)
AT = numpy.asarray([[0.0, 1.0, 1.5], [3.0, 8.0, 9.5]], numpy.float32)


@pytest.mark.parametrize(
    "options", [{}, {"left": -5.0}, {"left": 0, "right": 1.0}, {"period": 5.0}, {"period": -3.0}]
)
def test_interp(options: dict[str, Any]) -> None:
    same(np.interp(AT, XP, FP, **options), numpy.interp(AT, XP, FP, **options), 1e-5)


def test_interp_corners() -> None:
    same(np.interp(2.0, [1.0], [5.0]), 5.0)
    same(np.interp(AT, XP, FP + 1j), numpy.interp(AT, XP, FP + 1j))
    same(np.interp(9.0, XP, FP, right="extrapolate"), 2.0 + 1.5 / 4)
    assert abs(float(nl.grad(np.interp)(3.0, XP, FP)) - 0.75) < 1e-6
    weights = nl.grad(lambda f: np.interp(3.0, XP, f))(FP)
    same(weights, [0.0, 0.5, 0.5, 0.0])
    same(nl.vmap(lambda x: np.interp(x, XP, FP))(AT), numpy.interp(AT, XP, FP))
    with pytest.raises(errors.ShapeError, match="one length"):
        np.interp(1.0, XP, FP[:2])
    with pytest.raises(errors.ValueArgumentError, match="period"):
        np.interp(1.0, XP, FP, period=0)


def test_unwrap() -> None:
    angles = numpy.asarray([[0.0, 3.0, 6.2, 0.4, 3.5], [0.0, -3.0, 3.0, 0.1, 6.2]], numpy.float32)
    same(np.unwrap(angles), numpy.unwrap(angles))
    same(np.unwrap(angles, axis=0), numpy.unwrap(angles, axis=0))
    same(np.unwrap(angles, discont=4.0), numpy.unwrap(angles, discont=4.0))
    whole = numpy.asarray([0, 5, 1, 4, 9], numpy.int32)
    same(np.unwrap(whole, period=6), numpy.unwrap(whole, period=6))
    same(nl.jacfwd(np.unwrap)(angles[0]), numpy.eye(5))
