"""Checks of one call: value, jit, vmap against a loop, derivatives against differences."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy
from hypothesis import reject
from hypothesis import strategies as st

import numlift as nl
import numlift.numpy as np
from numlift.config import replace as flags
from numlift.errors import NumliftError
from tests.numpy.properties import comparing
from tests.numpy.properties.comparing import map_call, operands, outcome
from tests.numpy.properties.differences import known
from tests.numpy.properties.drawing import Call, Draw
from tests.numpy.properties.rows import Row


@dataclass
class Example:
    """One call of one function. Its repr is what a failure shows."""

    name: str
    row: Row
    call: Call
    x64: bool

    def __repr__(self) -> str:
        return f"np.{self.name}{self.call!r} with enable_x64={self.x64}"


@st.composite
def examples(draw: Any, name: str, row: Row, smooth: bool = False) -> Example:
    """Calls of a function."""
    x64 = smooth or draw(st.integers(0, 2)) == 2
    return Example(name, row, row.draw(Draw(draw, x64, smooth)), x64)


def find(module: Any, name: str) -> Any:
    """A function by its dotted name."""
    for part in name.split("."):
        module = getattr(module, part)
    return module


def bound(f: Any, c: Call) -> Any:
    """A function of a list of operands alone."""

    def run(xs: list[Any]) -> Any:
        rest = iter(xs)
        filled = map_call(lambda _: next(rest), c)
        return f(*filled.args, **filled.kwargs)

    return run


def fail(example: Example, what: str) -> None:
    """Raise with the call."""
    raise AssertionError(f"{example!r}\n{what}")


def check(example: Example) -> None:
    """Value, and by a hash of the call one of: jit, vmap."""
    with flags(enable_x64=example.x64):
        got = check_value(example)
        if got is None:
            return
        way = zlib.crc32(repr(example.call).encode()) % 4
        if way < 2 and example.row.jit and operands(example.call):
            check_jit(example, got)
        elif way == 2 and example.row.vmap and example.row.jit and operands(example.call):
            check_vmap(example)


def check_value(example: Example) -> Any:
    """Compare with NumPy; the value, or None if there is none to go on with."""
    row, c = example.row, example.call
    got = outcome(find(np, example.name), c)
    theirs = row.reference or find(numpy, example.name)
    precise, plain = comparing.reference(theirs, row.as_numpy(c) if row.as_numpy else c)
    if known(example, got, plain):
        return None
    if isinstance(plain, Exception):
        check_error(example, got, plain)
        return None
    if isinstance(got, Exception):
        if not isinstance(got, NumliftError):
            raise AssertionError(f"{example!r}\nexpected {plain!r}") from got
        fail(example, f"{type(got).__name__}: {got}\nexpected {plain!r}")
    if row.normal:
        got, precise, plain = map(row.normal, (got, precise, plain))
    narrow = any(x.dtype.name in comparing.NARROW_FLOATS for x in operands(c))
    if narrow and not row.narrow:
        return got
    types = None
    if not row.own_dtype:
        types = [comparing.expected_dtype(c, x, example.x64) for x in comparing.leaves(plain)]
    scale = comparing.scale_of(c, precise) if row.scaled else 0.0
    found = comparing.compare(
        got, precise, types, scale, row.zeros and not narrow, row.tolerance * (1 + 3 * narrow)
    )
    for problem in found:
        fail(example, problem)
    return got


def check_error(example: Example, got: Any, plain: Exception) -> None:
    """NumPy's class of error, as a NumliftError that explains."""
    expected = f"NumPy raises {type(plain).__name__}: {plain}"
    if not isinstance(got, Exception):
        fail(example, f"{got!r}\n{expected}")
    if not isinstance(got, NumliftError):
        raise AssertionError(f"{example!r}\n{expected}") from got
    if not isinstance(got, comparing.as_error(plain)):
        fail(example, f"{type(got).__name__}: {got}\n{expected}")
    if len(str(got)) < 20:
        fail(example, f"message too short: {got}")


def check_jit(example: Example, got: Any) -> None:
    """The compiled function gives what the eager one gives."""
    f = bound(find(np, example.name), example.call)
    compiled = outcome(nl.jit(f), Call((operands(example.call),)))
    if isinstance(compiled, Exception):
        raise AssertionError(f"{example!r}\nunder jit") from compiled
    types = [numpy.asarray(x).dtype.name for x in comparing.leaves(got)]
    scale = comparing.scale_of(example.call, got) if example.row.scaled else 0.0
    for problem in comparing.compare(compiled, got, types, scale, example.row.zeros):
        fail(example, f"under jit: {problem}")


def check_vmap(example: Example) -> None:
    """A batch of two, along any axis, gives what two calls give."""
    f, xs = bound(find(np, example.name), example.call), operands(example.call)
    number = zlib.crc32(repr(example.call).encode()) // 4
    other = [numpy.roll(x.ravel()[::-1], 1).reshape(x.shape) for x in xs]
    axes = [number % (x.ndim + 1) for x in xs]
    batch = [numpy.stack(p, a) for *p, a in zip(xs, other, axes, strict=True)]
    lanes = [outcome(f, Call((lane,))) for lane in (xs, other)]
    if any(isinstance(lane, Exception) for lane in lanes):
        return
    got = outcome(nl.vmap(f, in_axes=(axes,)), Call((batch,)))
    if isinstance(got, Exception):
        raise AssertionError(f"{example!r}\nunder vmap with in_axes={axes}") from got
    for i, lane in enumerate(lanes):
        part = nl.tree.map(lambda x, i=i: numpy.asarray(x)[i], got)
        types = [numpy.asarray(x).dtype.name for x in comparing.leaves(lane)]
        scale = comparing.scale_of(example.call, lane) if example.row.scaled else 0.0
        for problem in comparing.compare(part, lane, types, scale, example.row.zeros):
            fail(example, f"lane {i} under vmap with in_axes={axes}: {problem}")


def check_derivatives(example: Example) -> None:
    """Forward and reverse mode against central differences of NumPy's function."""
    xs = operands(example.call)
    active = [i for i, x in enumerate(xs) if x.dtype.kind in "fc"]
    if not active:
        reject()
    theirs = bound(example.row.reference or find(numpy, example.name), example.call)
    plain = outcome(theirs, Call((xs,)))
    if isinstance(plain, Exception) or known(example, None, plain):
        reject()
    if example.row.steep and not numpy.all(plain):
        reject()
    rng = numpy.random.default_rng(len(repr(example.call)))
    tangents = [direction(rng, xs[i]) for i in active]

    def fill(values: Any) -> list[Any]:
        new = list(xs)
        for i, v in zip(active, values, strict=True):
            new[i] = v
        return new

    with flags(enable_x64=True):
        ours = bound(find(np, example.name), example.call)

        def f(*values: Any) -> list[Any]:
            results = comparing.leaves(ours(fill(values)))
            return [y for y in results if numpy.dtype(y.dtype).kind in "fc"]

        def moved(h: float) -> list[Any]:
            values = [xs[i] + h * t for i, t in zip(active, tangents, strict=True)]
            results = [numpy.asarray(y) for y in comparing.leaves(theirs(fill(values)))]
            return [y for y in results if y.dtype.kind in "fc"]

        compare_derivatives(example, f, [xs[i] for i in active], tangents, moved, rng)


def direction(rng: Any, x: Any) -> Any:
    """A random tangent."""
    t = rng.standard_normal(x.shape)
    return numpy.asarray(t + 1j * rng.standard_normal(x.shape) if x.dtype.kind == "c" else t)


def compare_derivatives(
    example: Example, f: Any, xs: list[Any], tangents: list[Any], moved: Any, rng: Any
) -> None:
    """<ct, J t> from differences, jvp and vjp."""
    h = 1e-5
    plus, minus, plus2, minus2 = moved(h), moved(-h), moved(2 * h), moved(-2 * h)
    if not plus:
        reject()
    wide = [(p - m) / (4 * h) for p, m in zip(plus2, minus2, strict=True)]
    close = [(p - m) / (2 * h) for p, m in zip(plus, minus, strict=True)]
    scale = max([1.0, *(float(numpy.abs(y).max(initial=0)) for y in close)])
    if not all(numpy.allclose(a, b, 1e-4, 1e-4 * scale) for a, b in zip(wide, close, strict=True)):
        reject()
    _, jvp = nl.jvp(f, tuple(xs), tuple(tangents))
    values, pull = nl.vjp(f, *xs)
    cotangents = [direction(rng, numpy.asarray(y)).astype(y.dtype) for y in values]
    pulled = pull([np.asarray(ct) for ct in cotangents])
    for i, (got, want) in enumerate(zip(jvp, close, strict=True)):
        if not numpy.allclose(numpy.asarray(got), want, 1e-5, 1e-6 * scale):
            fail(example, f"jvp of result {i}: {got!r}\nexpected {want!r}\ntangents {tangents!r}")
    forward = sum(inner(ct, y) for ct, y in zip(cotangents, jvp, strict=True))
    back = sum(inner(t, y) for t, y in zip(tangents, pulled, strict=True))
    if not abs(forward - back) <= 1e-9 * (1 + scale + abs(forward)) * 10:
        fail(example, f"<ct, jvp> = {forward}, <vjp, t> = {back}\ncotangents {cotangents!r}")


def inner(a: Any, b: Any) -> float:
    """Re(sum(a * b)), without conjugation."""
    return float(numpy.real(numpy.sum(numpy.asarray(a) * numpy.asarray(b))))
