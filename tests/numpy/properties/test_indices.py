"""Random indices: x[i], its gradient, x.at[i] with every update, against NumPy in place.

Index arrays have every integer dtype, also ones that cannot hold the size of the axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy
import pytest
from hypothesis import strategies as st

import numlift as nl
import numlift.numpy as np
from numlift.errors import NumliftError
from tests.numpy.properties.comparing import outcome
from tests.numpy.properties.drawing import Call, text
from tests.numpy.properties.test_parity import EXAMPLES, SEED
from tests.random_programs.runs import run

SHAPES = ((5,), (2, 3), (4, 1, 2), (300,), (), (2, 0, 3))
DTYPES = ("int32", "uint8", "int8", "int64", "uint32", "int16")
SPANS = (slice(None), slice(1, None), slice(None, None, -1), slice(-2, None), slice(0, 9, 2))
ODD = (1.5, "a", (), slice(0.5, None), numpy.array([0.5]), slice(None, None, 0), {1: 2})


@dataclass
class Example:
    """An array, an index, and the update of `at`.

    Attributes:
        inside: the same index with arrays clipped to the bounds, as reads are.
    """

    x: Any
    index: tuple[Any, ...]
    inside: tuple[Any, ...]
    update: str
    traced: bool

    def __repr__(self) -> str:
        return f"x = {text(self.x)}; x[{text(self.index)}], update {self.update}"


def entry(draw: Any, size: int) -> tuple[Any, Any, int]:
    """(An entry for an axis of this size, the same clipped, rank of an array or -1)."""
    how = draw(st.integers(0, 5))
    if how == 0:
        low, high = -size - (draw(st.integers(0, 9)) == 9), size - (draw(st.integers(0, 9)) != 9)
        i = draw(st.integers(low, max(low, high)))
        return (numpy.int32(i) if draw(st.booleans()) else i,) * 2 + (-1,)
    if how in (1, 2):
        return (draw(st.sampled_from(SPANS)),) * 2 + (-1,)
    if how == 3 and 0 < size < 9:
        mask = numpy.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
        return mask, mask, -1
    dtype = numpy.iinfo(draw(st.sampled_from(DTYPES)))
    low, high = max(dtype.min, -size), min(dtype.max, size - 1)
    if draw(st.integers(0, 5)) == 5:
        low, high = max(dtype.min, -size - 2), min(dtype.max, size + 2)
    values = draw(st.lists(st.integers(low, max(low, high)), min_size=2, max_size=2))
    rows = numpy.array(values, dtype.dtype)
    wide = rows.astype("int64")
    inside = numpy.clip(numpy.where(wide < 0, wide + size, wide), 0, max(size - 1, 0))
    return rows, inside, 1


@st.composite
def examples(draw: Any) -> Example:
    """Arrays and indices, mostly good ones."""
    shape = draw(st.sampled_from(SHAPES))
    x = (numpy.arange(numpy.prod(shape, dtype=int)) - 3).reshape(shape)
    x = x.astype(draw(st.sampled_from(["float32", "int32", "float32", "uint8"])))
    index, inside = [], []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        one, other, _ = entry(draw, size)
        index.append(one)
        inside.append(other)
    for extra in draw(st.sampled_from([(), (), (None,), (Ellipsis,), (None, Ellipsis)])):
        place = draw(st.integers(0, len(index)))
        index.insert(place, extra)
        inside.insert(place, extra)
    if draw(st.integers(0, 9)) == 9:
        odd = draw(st.sampled_from([*ODD, 0, Ellipsis]))
        index, inside = [*index, odd], [*inside, odd]
    update = draw(st.sampled_from(["set", "add", "multiply", "min", "max", "subtract"]))
    return Example(x, tuple(index), tuple(inside), update, draw(st.booleans()))


def dynamic(e: Example) -> Any:
    """x[index] as a function of the array and of the index arrays."""
    places = [
        k for k, i in enumerate(e.index) if isinstance(i, numpy.ndarray) and i.dtype.kind in "iu"
    ]

    def read(x: Any, rows: list[Any]) -> Any:
        index = list(e.index)
        for k, i in zip(places, rows, strict=True):
            index[k] = i
        return x[tuple(index)]

    return read, [e.index[k] for k in places]


def told(e: Example, got: Any, theirs: Exception) -> None:
    """Whether an error is of NumPy's class; a traced or device index of others may be clamped."""
    assert isinstance(got, NumliftError), f"{e!r}\n{got!r}\nNumPy: {theirs!r}"
    kinds = (IndexError, TypeError) if isinstance(theirs, (IndexError, TypeError)) else ValueError
    assert isinstance(got, kinds), f"{e!r}\n{got!r}\nNumPy: {theirs!r}"


def check_read(e: Example) -> None:
    """x[index], eager and compiled, and its gradient."""
    read, rows = dynamic(e)
    want = outcome(lambda: e.x[e.inside], Call(()))
    got = outcome(read, Call((np.asarray(e.x), rows)))
    if isinstance(want, Exception):
        told(e, got, want)
        return
    if not in_bounds(e):  # known indices raise as in NumPy, others are clamped
        assert isinstance(got, IndexError), f"{e!r}\n{got!r}"
        told(e, got, got)
        got = outcome(read, Call((np.asarray(e.x), [np.asarray(row) for row in rows])))
    found = [got]
    if e.traced:
        found.append(outcome(nl.jit(read), Call((e.x, rows))))
    for y in found:
        assert not isinstance(y, Exception), f"{e!r}\n{y!r}\nexpected {want!r}"
        assert y.dtype == e.x.dtype, repr(e)
        assert numpy.array_equal(numpy.asarray(y), want), f"{e!r}\n{y!r}\nexpected {want!r}"
    if e.traced and e.x.dtype == "float32":
        ct = numpy.arange(want.size, dtype="float32").reshape(want.shape) + 1
        rows = [np.asarray(row) for row in rows]
        (gradient,) = nl.vjp(lambda x: read(x, rows), e.x)[1](np.asarray(ct))
        total = numpy.zeros_like(e.x)
        numpy.add.at(total, e.inside, ct)
        assert numpy.array_equal(numpy.asarray(gradient), total), f"{e!r}\n{gradient!r}\n{total!r}"


UFUNCS = {
    "add": numpy.add, "subtract": numpy.subtract, "multiply": numpy.multiply,
    "min": numpy.minimum, "max": numpy.maximum,
}  # fmt: skip


def in_bounds(e: Example) -> bool:
    """Whether NumPy takes the index as it is."""
    return not isinstance(outcome(lambda: e.x[e.index], Call(())), Exception)


def check_update(e: Example) -> None:
    """x.at[index], every update of repeated indices applied; out of bounds nothing changes."""
    got = outcome(lambda: getattr(np.asarray(e.x).at[e.index], e.update)(2), Call(()))
    shown = outcome(lambda: e.x[e.inside], Call(()))
    if isinstance(shown, Exception):
        if not isinstance(got, Exception):  # Python integers out of bounds: dropped too
            assert any(isinstance(i, (int, numpy.integer)) for i in e.index), f"{e!r}\n{got!r}"
            assert numpy.array_equal(numpy.asarray(got), e.x), f"{e!r}\n{got!r}"
        else:
            assert isinstance(got, NumliftError), f"{e!r}\n{got!r}"
        return
    assert not isinstance(got, Exception), f"{e!r}\n{got!r}"
    if not in_bounds(e):
        return
    want = e.x.copy()
    if e.update == "set":
        want[e.index] = 2
    else:
        UFUNCS[e.update].at(want, e.index, numpy.asarray(2, e.x.dtype))
    assert numpy.array_equal(numpy.asarray(got), want), f"{e!r}\n{got!r}\nexpected {want!r}"


@pytest.mark.filterwarnings("ignore")
def test_reads() -> None:
    run(examples(), check_read, 12 * EXAMPLES, SEED)


@pytest.mark.filterwarnings("ignore")
def test_updates() -> None:
    run(examples(), check_update, 12 * EXAMPLES, SEED)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("how", ["take", "take_along_axis", "getitem", "at", "put"])
def test_narrow_indices_do_not_wrap(dtype: str, how: str) -> None:
    x = numpy.arange(300, dtype="float32")
    rows = numpy.array([0, 127, 200 if dtype == "uint8" else -1, 100], dtype)
    want = x[rows]

    def f(x: Any, rows: Any) -> Any:
        if how == "getitem":
            return x[rows]
        if how == "at":
            return x.at[rows].set(-7.0)
        if how == "put":
            return np.put_along_axis(x, rows, -7.0, 0, inplace=False)
        return np.take(x, rows) if how == "take" else np.take_along_axis(x, rows, 0)

    if how in ("at", "put"):
        want = x.copy()
        want[rows] = -7.0
    for function in (f, nl.jit(f)):
        assert numpy.array_equal(numpy.asarray(function(np.asarray(x), rows)), want)
