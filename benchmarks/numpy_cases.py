"""Eager calls on large arrays against NumPy itself: is this library a replacement for it?

Each function runs on 1e3, 1e5 and 1e6 elements, of float32 and of int32. The bodies are the same
for all libraries.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from benchmarks.registry import Lib, case

GOAL = 1.1
SIZES = {"1e3": 1_000, "1e5": 100_000, "1e6": 1_000_000}
DTYPES = ("float32", "int32")


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the bodies compute with."""

    x: Any
    y: Any
    ordered: Any  # the elements of y, ascending
    square: Any  # as many elements in a matrix
    some: Any  # n // 100 elements of y
    rows: Any  # n int32 indices
    mask: Any


# name -> (library, inputs) -> value
FUNCTIONS: dict[str, Callable[[Lib, Inputs], object]] = {
    "sort": lambda lib, d: lib.np.sort(d.x),
    "argsort": lambda lib, d: lib.np.argsort(d.x),
    "partition": lambda lib, d: lib.np.partition(d.x, d.x.size // 3),
    "median": lambda lib, d: lib.np.median(d.x),
    "percentile": lambda lib, d: lib.np.percentile(d.x, 30.0),
    "unique": lambda lib, d: lib.np.unique(d.x),
    "argmax": lambda lib, d: lib.np.argmax(d.x),
    "max": lambda lib, d: lib.np.max(d.x),
    "any": lambda lib, d: lib.np.any(d.mask),
    "sum": lambda lib, d: lib.np.sum(d.x),
    "cumsum": lambda lib, d: lib.np.cumsum(d.x),
    "diff": lambda lib, d: lib.np.diff(d.x),
    "searchsorted": lambda lib, d: lib.np.searchsorted(d.ordered, d.x),
    "nonzero": lambda lib, d: lib.np.nonzero(d.mask),
    "count_nonzero": lambda lib, d: lib.np.count_nonzero(d.x),
    "isin": lambda lib, d: lib.np.isin(d.x, d.some),
    "where": lambda lib, d: lib.np.where(d.mask, d.x, d.y),
    "x*x + x*2": lambda lib, d: d.x * d.x + d.x * 2,
    "sin": lambda lib, d: lib.np.sin(d.x),
    "matmul": lambda lib, d: d.square @ d.square,
    "transposed copy": lambda lib, d: lib.np.array(d.square.T, order="C"),
    "take": lambda lib, d: lib.np.take(d.x, d.rows),
    "concatenate": lambda lib, d: lib.np.concatenate([d.x, d.y]),
    "histogram": lambda lib, d: lib.np.histogram(d.x, 50),
    "bincount": lambda lib, d: lib.np.bincount(d.rows),
    "interp": lambda lib, d: lib.np.interp(d.x, d.ordered, d.y),
}


def inputs(lib: Lib, size: int, dtype: str) -> Inputs:
    """The same numbers for every library."""
    rng = numpy.random.default_rng(0)

    def numbers() -> numpy.ndarray:
        if dtype == "int32":
            return rng.integers(-size, size, size, numpy.int32)
        return rng.standard_normal(size, numpy.float32)

    x, y = numbers(), numbers()
    side = math.isqrt(size)
    hosts = (
        x, y, numpy.sort(y), x[: side * side].reshape(side, side), y[: size // 100],
        rng.integers(0, size, size, numpy.int32), rng.uniform(size=size) < 0.5,
    )  # fmt: skip
    return Inputs(*map(lib.np.asarray, hosts))


def _register(function: str, label: str, dtype: str) -> None:
    def prepare(lib: Lib) -> Callable[[], object]:
        body, found = FUNCTIONS[function], inputs(lib, SIZES[label], dtype)
        return lambda: lib.ready(body(lib, found))

    case(f"numpy/{function} {dtype} {label}", goal=GOAL, against="numpy")(prepare)


for _function in FUNCTIONS:
    for _dtype in DTYPES:
        for _label in SIZES:
            _register(_function, _label, _dtype)
