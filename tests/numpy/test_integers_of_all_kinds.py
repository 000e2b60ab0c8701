"""Integers of other classes, of any size, as fills and as indices: never wrapped silently."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift.errors import IndexingError, IntegerOverflowError


class Big(enum.IntEnum):
    BIG = 300
    SMALL = 3


class Mine(int):
    """An integer of a class of the user's."""


BYTES = numpy.asarray([1, 2, 250], "uint8")
VALUES = numpy.arange(4, dtype="float32")


def both(f: Callable[[Any], Any], x: Any) -> list[Any]:
    """`f` of an array, eagerly twice and compiled."""
    return [f(np.asarray(x)), f(np.asarray(x)), nl.jit(f)(np.asarray(x))]


@pytest.mark.parametrize("n", [Big.BIG, Mine(300), Mine(-1)])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: x + n,
        np.multiply,
        lambda x, n: np.where(x > 1, x, n),
        lambda x, n: x.at[0].max(n),
        lambda x, n: np.add.outer(x, n),
    ],
)
def test_integers_of_subclasses_do_not_wrap(f: Any, n: Any) -> None:
    for call in (f, nl.jit(f, static_argnums=1)):
        with pytest.raises(IntegerOverflowError, match=str(int(n))):
            call(np.asarray(BYTES), n)


def test_integers_of_subclasses_that_fit_or_are_compared() -> None:
    for got in both(lambda x: x + Big.SMALL, BYTES):
        assert got.dtype == "uint8"
        numpy.testing.assert_array_equal(got, BYTES + 3)
    for n in (Big.BIG, Mine(-5)):
        for got in both(lambda x, n=n: (x < n, x != n), BYTES):
            assert bool(got[0].all()) is (n > 1) and bool(got[1].all())
    for got in both(lambda x: np.clip(x, Mine(-5), Big.BIG), BYTES):
        numpy.testing.assert_array_equal(got, BYTES)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_floats_take_integers_of_any_size(dtype: str) -> None:
    for n in (2**31, 2**40, -(10**30)):
        expected = float(np.asarray(float(n), dtype))
        for f in (lambda x, n=n: x + n, lambda x, n=n: np.add(x, n), lambda x, n=n: np.add(n, x)):
            for got in both(f, numpy.zeros(2)):
                assert got.dtype == "float32"
            x = np.zeros(2, dtype)
            for got in (f(x), f(x), nl.jit(f)(x)):
                assert got.dtype == dtype and float(got[0]) == expected
    with pytest.raises(OverflowError):
        np.add(np.ones(2, dtype), 10**400)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.pad(x, 1, constant_values=300),
        lambda x: np.pad(x, 1, constant_values=(0, -1)),
        lambda x: np.piecewise(x, [x > 1], [300, 0]),
        lambda x: np.put(x, 0, 300, inplace=False),
        lambda x: np.place(x, x > 1, 300, inplace=False),
        lambda x: np.fill_diagonal(np.outer(x, x), 300, inplace=False),
        lambda x: np.take(x, np.asarray([10]), mode="fill", fill_value=300),
        lambda x: x.at[np.asarray(10)].get(mode="fill", fill_value=-1),
    ],
)
def test_fills_that_do_not_fit_are_refused(f: Any) -> None:
    for call in (f, nl.jit(f)):
        with pytest.raises(IntegerOverflowError, match="does not fit into uint8"):
            call(np.asarray(BYTES))


WIDE = [2**33 + 1, -(2**33) + 1, 2**31]


@pytest.mark.parametrize("index", WIDE)
@pytest.mark.parametrize("made", [int, numpy.int64, lambda i: numpy.asarray([i])])
def test_wide_known_indices_stay_out_of_bounds(index: int, made: Any) -> None:
    i = made(index)
    last = 3.0 if index > 0 else 0.0
    for got in both(lambda x: np.take(x, i, mode="clip"), VALUES):
        assert numpy.all(numpy.asarray(got) == last)
    for got in both(lambda x: np.take(x, i, mode="fill"), VALUES):
        assert numpy.all(numpy.isnan(got))
    for got in both(lambda x: np.take(x, i, mode="wrap"), VALUES):
        assert numpy.all(numpy.asarray(got) == VALUES[index % 4])
    with pytest.raises(IndexingError, match=str(index)):
        np.take(np.asarray(VALUES), i)
    for mode, place in {"clip": int(last), "wrap": index % 4, "drop": None}.items():
        expected = VALUES.copy()
        if place is not None:
            expected[place] = 9
        for got in both(lambda x, m=mode: np.put(x, i, 9.0, mode=m, inplace=False), VALUES):
            numpy.testing.assert_array_equal(got, expected)


def test_wide_known_indices_along_an_axis() -> None:
    x, i = np.asarray(VALUES).reshape(2, 2), numpy.asarray([[2**33 + 1]])
    for got in both(lambda x: np.take_along_axis(x, i, 1, mode="fill"), x):
        assert numpy.all(numpy.isnan(got))
    for got in both(lambda x: np.take_along_axis(x, i, 1, mode="clip"), x):
        numpy.testing.assert_array_equal(got, [[1], [3]])
    for got in both(lambda x: np.put_along_axis(x, i, 9.0, 1, mode="drop", inplace=False), x):
        numpy.testing.assert_array_equal(got, x)
    unsigned = numpy.asarray([2**63], "uint64")
    for got in both(lambda x: np.take(x, unsigned, mode="fill"), VALUES):
        assert numpy.isnan(got[0])
    assert np.take(np.asarray(VALUES), unsigned, mode="clip")[0] == 3


@pytest.mark.parametrize("f", [np.take, lambda x, i: np.put(x, i, 1, inplace=False)])
def test_indices_of_more_than_64_bits(f: Any) -> None:
    with pytest.raises(IntegerOverflowError, match="does not fit into int64"):
        f(np.asarray(VALUES), 10**30)
    with pytest.raises(IntegerOverflowError, match="does not fit into int64"):
        np.unravel_index(10**30, (2, 2))
    with pytest.raises(ValueError, match="out of bounds"):
        np.unravel_index(2**40, (2, 2))


@pytest.mark.parametrize(
    "f",
    [
        np.sin,
        np.sum,
        np.sort,
        lambda x: np.add(x, 1),
        lambda x: np.add(x, x),
        lambda x: np.take(x, [1]),
        lambda x: np.split(x, 2)[1],
    ],
)
def test_arrays_in_the_other_byte_order(f: Any) -> None:
    other = VALUES.astype(VALUES.dtype.newbyteorder("S"))
    expected = f(np.asarray(VALUES))
    for got in (f(other), f(other), nl.jit(lambda: f(other))(), nl.jit(f)(other)):
        assert got.dtype == "float32"
        numpy.testing.assert_array_equal(got, expected)
    with nl.enable_x64(True):
        assert f(other.astype(">f8")).dtype == "float64"
