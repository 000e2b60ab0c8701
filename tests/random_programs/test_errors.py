"""Random calls, mostly wrong ones: a NumliftError that says so, or what NumPy gives.

Nothing else: no exception of the runtime or of Python's containers from inside, and no other value.
Calls that NumPy refuses may have a value: some indices are clamped, as in compiled programs.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy
import pytest
from hypothesis import strategies as st

import numlift as nl
import numlift.numpy as np
from numlift import lax
from numlift.errors import NumliftError
from tests.random_programs.runs import run

INTS = st.integers(-4, 4)
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)
DTYPES = st.sampled_from(["float32", "float32", "int32", "bool", "complex64", "uint8"])
AXES = st.one_of(INTS, INTS, st.none(), st.lists(INTS, max_size=3).map(tuple))
ODD = st.sampled_from([1.5, "x", (), None, -1, [0, 1], True])
INDEX = st.one_of(
    INTS,
    st.builds(
        slice, st.none() | INTS, st.none() | INTS, st.none() | st.sampled_from([1, -1, 2, 0])
    ),
    st.sampled_from([None, Ellipsis, True, 1.5, "a", [0, 1]]),
    st.lists(st.integers(-2, 2), max_size=2).map(lambda i: numpy.array(i, "int32")),
)


@st.composite
def arrays(draw: Any) -> Any:
    """Small arrays of any shape and dtype."""
    shape, dtype = draw(SHAPES), draw(DTYPES)
    values = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape) % 5
    return (values - (0 if dtype in ("bool", "uint8") else 1)).astype(dtype)


A = arrays()
PARTS = st.lists(A, max_size=3)
SHAPE = st.one_of(st.lists(st.integers(-2, 4), max_size=3).map(tuple), INTS, ODD)
WORDS = {
    "sum": [A, AXES],
    "prod": [A, AXES],
    "max": [A, AXES],
    "mean": [A, AXES],
    "var": [A, AXES],
    "argmax": [A, st.none() | INTS],
    "cumsum": [A, st.none() | INTS],
    "sort": [A, st.none() | INTS],
    "concatenate": [PARTS, INTS],
    "stack": [PARTS, INTS],
    "reshape": [A, SHAPE],
    "transpose": [A, st.none() | st.lists(INTS, max_size=3).map(tuple)],
    "moveaxis": [A, INTS, INTS],
    "swapaxes": [A, INTS, INTS],
    "squeeze": [A, AXES],
    "expand_dims": [A, st.one_of(INTS, st.lists(INTS, max_size=2).map(tuple))],
    "broadcast_to": [A, SHAPE],
    "matmul": [A, A],
    "dot": [A, A],
    "tensordot": [A, A, st.one_of(st.integers(0, 3), st.tuples(INTS, INTS))],
    "einsum": [st.sampled_from(["ij,jk->ik", "i,i->", "ij->ji", "ii->i", "i->ii", "ij,k"]), A, A],
    "outer": [A, A],
    "where": [A, A, A],
    "clip": [A, A, A],
    "add": [A, A],
    "subtract": [A, A],
    "floor_divide": [A, A],
    "power": [A, st.integers(0, 3)],
    "bitwise_and": [A, A],
    "logical_or": [A, A],
    "arctan2": [A, A],
    "flip": [A, AXES],
    "roll": [A, INTS, AXES],
    "repeat": [A, st.integers(-1, 3), st.none() | INTS],
    "tile": [A, st.one_of(st.integers(-1, 3), st.lists(st.integers(0, 2), max_size=3).map(tuple))],
    "pad": [A, st.one_of(st.integers(-1, 2), st.tuples(st.integers(-1, 2), st.integers(0, 2)))],
    "take": [A, st.sampled_from([0, numpy.array([0, 0])]), st.none() | INTS],
    "take_along_axis": [A, A, st.none() | INTS],
    "diag": [A, INTS],
    "diagonal": [A, INTS, INTS, INTS],
    "trace": [A, INTS, INTS, INTS],
    "tril": [A, INTS],
    "split": [A, st.integers(-1, 3), INTS],
    "vstack": [PARTS],
    "full": [SHAPE, st.sampled_from([1, 2.5, True])],
    "arange": [st.sampled_from([0, 3, 2.5]), st.sampled_from([5, -1]), st.sampled_from([1, 2, -1])],
    "linspace": [INTS, INTS, st.integers(-1, 4)],
    "convolve": [A, A, st.sampled_from(["full", "same", "valid", "most"])],
    "cross": [A, A],
    "kron": [A, A],
    "searchsorted": [A, A],
    "unravel_index": [st.integers(0, 3), SHAPE],
    "meshgrid": [A, A],
    "diff": [A, st.integers(-1, 3), INTS],
    "linalg.solve": [A, A],
    "linalg.det": [A],
    "linalg.inv": [A],
    "linalg.norm": [A, st.sampled_from([None, 1, 2, "fro", "bad"]), AXES],
    "fft.fft": [A, st.none() | st.integers(-1, 4), INTS],
}
LAX = {
    "dynamic_slice": [A, st.lists(INTS, max_size=3), SHAPE],
    "dynamic_update_slice": [A, A, st.lists(INTS, max_size=3)],
    "slice": [A, SHAPE, SHAPE, st.none() | SHAPE],
    "pad": [A, A, st.lists(st.tuples(INTS, INTS, INTS), max_size=3)],
    "concatenate": [PARTS, INTS],
    "reshape": [A, SHAPE],
    "transpose": [A, SHAPE],
    "broadcast_in_dim": [A, SHAPE, SHAPE],
    "reduce_sum": [A, st.lists(INTS, max_size=3).map(tuple)],
    "dot": [A, A],
    "dot_general": [A, A, st.tuples(st.tuples(SHAPE, SHAPE), st.tuples(SHAPE, SHAPE))],
    "select": [A, A, A],
    "select_n": [A, A, A],
    "add": [A, A],
    "sin": [A | ODD],
    "sort": [A, INTS],
    "top_k": [A, INTS],
    "cumsum": [A, INTS],
    "rev": [A, st.lists(INTS, max_size=2).map(tuple)],
    "squeeze": [A, st.lists(INTS, max_size=2).map(tuple)],
    "expand_dims": [A, st.lists(INTS, max_size=2).map(tuple)],
    "iota": [DTYPES, INTS],
    "split": [A, st.lists(INTS, max_size=3), INTS],
    "psum": [A, st.sampled_from(["i", 0, None])],
    "clamp": [A, A, A],
    "rem": [A, A],
    "conv": [A, A, SHAPE, st.sampled_from(["SAME", "VALID", "odd"])],
}
STRUCTURES = {
    "scan": [A, st.none() | A, st.none() | INTS],
    "cond": [A, A],
    "switch": [A, A],
    "while_loop": [A, A],
    "fori_loop": [A | ODD, A | ODD, A],
    "vmap": [A, A, st.none() | INTS | ODD],
    "grad": [A, st.one_of(INTS, SHAPE, ODD)],
    "jvp": [A, A],
    "vjp": [A, A],
    "index": [A, st.lists(INDEX, max_size=3).map(tuple)],
    "at_set": [A, st.lists(INDEX, max_size=3).map(tuple), A],
}


def structure(name: str, args: list[Any]) -> Any:
    """A call of a function that takes functions, or an index."""
    x = args[0]
    if name == "scan":
        return lax.scan(lambda c, row: (c if row is None else c + row, c), x, args[1], args[2])
    if name == "cond":
        return lax.cond(x, lambda y: y, lambda y: y[..., None], args[1])
    if name == "switch":
        return lax.switch(x, [lambda y: y, lambda y: y + 1], args[1])
    if name == "while_loop":
        return lax.while_loop(lambda c: np.all(c > 9), lambda c: c + args[1], x)
    if name == "fori_loop":
        return lax.fori_loop(x, args[1], lambda i, c: c + i, args[2])
    if name == "vmap":
        return nl.vmap(lambda a, b: a + b, in_axes=args[2])(x, args[1])
    if name == "grad":
        return nl.grad(lambda a: np.sum(np.sin(a)), argnums=args[1])(x)
    if name == "jvp":
        return nl.jvp(lambda a: a * 2, (x,), (args[1],))
    if name == "vjp":
        return nl.vjp(lambda a: a * 2, x)[1](args[1])
    if name == "index":
        return np.asarray(x)[args[1]]
    return np.asarray(x).at[args[1]].set(args[2])


@dataclass
class Call:
    """One call, in NumPy too where `family` is "np"."""

    family: str
    name: str
    args: list[Any]
    traced: bool

    def value(self) -> Any:
        """The result of Numlift, or its NumliftError."""
        function: Any = {"np": np, "lax": lax}.get(self.family)
        if function is None:
            return structure(self.name, self.args)
        for part in self.name.split("."):
            function = getattr(function, part)
        if not self.traced:
            return function(*self.args)
        flat = [i for i, x in enumerate(self.args) if isinstance(x, numpy.ndarray)]

        def call(*xs: Any) -> Any:
            args = list(self.args)
            for i, x in zip(flat, xs, strict=True):
                args[i] = x
            return function(*args)

        return nl.jit(call)(*[self.args[i] for i in flat])


@st.composite
def calls(draw: Any) -> Call:
    """Random calls."""
    tables = {"np": WORDS, "lax": LAX, "structure": STRUCTURES}
    family = draw(st.sampled_from(["np", "np", "lax", "structure"]))
    name = draw(st.sampled_from(sorted(tables[family])))
    args = [draw(strategy) for strategy in tables[family][name]]
    if draw(st.integers(0, 7)) == 0:
        args[draw(st.integers(0, len(args) - 1))] = draw(ODD)
    return Call(family, name, args, draw(st.booleans()))


def numpy_value(call: Call) -> Any:
    """What NumPy gives, or its exception."""
    function: Any = numpy
    for part in call.name.split("."):
        function = getattr(function, part)
    try:
        with numpy.errstate(all="ignore"):
            return function(*call.args)
    except Exception as error:
        return error


def same(a: Any, b: Any) -> bool:
    """Whether results have the same shapes and about the same values."""
    if isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    a, b = numpy.asarray(a), numpy.asarray(b)
    return a.shape == b.shape and numpy.allclose(a, b, 1e-3, 1e-3, equal_nan=True)


def check(call: Call) -> None:
    """A value that is NumPy's, or an error of Numlift."""
    try:
        value = call.value()
    except NumliftError:
        return
    if call.family != "np" or call.name == "floor_divide" and not numpy.all(call.args[1]):
        return  # integers divided by zero: whatever the device gives
    expected = numpy_value(call)
    if not isinstance(expected, Exception):
        assert same(value, expected), f"{value!r}\nexpected\n{expected!r}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", [0, 1])
def test_wrong_calls_are_told(part: int) -> None:
    run(calls(), check, 250, 20261201 + part)


def test_every_listed_name_exists() -> None:
    for name in LAX:
        assert inspect.isroutine(getattr(lax, name)), name
