"""Laws between transformations, on random programs: none needs the reference's derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import strategies as st

import numlift as nl
import numlift.numpy as np
from numlift.config import replace as flags
from tests.random_programs.examples import Example, examples
from tests.random_programs.runs import run
from tests.random_programs.trees import all_floats, leaves

PLAIN: st.SearchStrategy[Example] = examples(statements=(3, 7), depth=(0, 0))


def close(a: Any, b: Any, tolerance: float = 1e-10) -> None:
    """Assert that trees agree in structure, types and values."""
    assert nl.tree.structure(a) == nl.tree.structure(b)
    for x, y in zip(nl.tree.leaves(a), nl.tree.leaves(b), strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        numpy.testing.assert_allclose(
            numpy.asarray(x, numpy.float64),
            numpy.asarray(y, numpy.float64),
            rtol=tolerance,
            atol=tolerance * (1 + numpy.max(numpy.abs(numpy.asarray(y, numpy.float64)), initial=0)),
        )


def loss(f: Callable[..., Any]) -> Callable[..., Any]:
    """A scalar made of the floats of the result."""

    def scalar(*args: Any) -> Any:
        found = [x for x in nl.tree.leaves(f(*args)) if np.issubdtype(x.dtype, np.floating)]
        return sum((np.sum(np.sin(x)) for x in found), np.zeros(()))

    return scalar


def directions(example: Example, args: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Positions of float parameters, and tangents for them."""
    wrt = tuple(i for i, tree in enumerate(example.signature.params) if all_floats(tree))
    rng = numpy.random.default_rng(example.seed + 1)
    tangents = [
        nl.tree.map(lambda x: rng.normal(size=x.shape).astype(x.dtype), args[i]) for i in wrt
    ]
    return wrt, tangents


def compiled(example: Example, f: Any, args: Any) -> None:
    """jit, checkpoint and a traced graph change nothing."""
    expected = f(*args)
    close(nl.jit(f)(*args), expected)
    close(nl.checkpoint(f)(*args), expected)
    close(nl.jit(nl.checkpoint(nl.jit(f)))(*args), expected)


def batches(example: Example, f: Any, args: Any) -> None:
    """vmap is a stack of single calls, whatever the axes; two nested ones commute."""
    batch = nl.tree.map(lambda x: np.stack([x, x[..., ::-1] if x.ndim else x + x, x]), args)
    single = [f(*nl.tree.map(lambda x, i=i: x[i], batch)) for i in range(3)]
    expected = nl.tree.map(lambda *rows: numpy.stack(rows), *single)
    close(nl.vmap(f)(*batch), expected)
    moved = nl.tree.map(lambda x: np.moveaxis(x, 0, -1), batch)
    got = nl.jit(nl.vmap(f, in_axes=-1, out_axes=-1))(*moved)
    close(nl.tree.map(lambda x: np.moveaxis(x, -1, 0), got), expected)
    grid = nl.tree.map(lambda x: np.stack([x, x * x]), batch)
    rows = nl.vmap(nl.vmap(f))(*grid)
    columns = nl.vmap(nl.vmap(f, in_axes=0), in_axes=1, out_axes=1)(*grid)
    close(rows, columns)


def derivatives(example: Example, f: Any, args: Any) -> None:
    """grad is vjp, forward is reverse, and both are what linearize writes down."""
    wrt, tangents = directions(example, args)
    signature = example.signature
    if not wrt:
        return
    scalar = loss(f)

    def part(*xs: Any) -> Any:
        full = list(args)
        for i, x in zip(wrt, xs, strict=True):
            full[i] = x
        return scalar(*full)

    xs = [args[i] for i in wrt]
    every = tuple(range(len(wrt)))
    _, slope = nl.jvp(part, tuple(xs), tuple(tangents)) if signature.forward else (None, None)
    if signature.forward:
        close(nl.jit(lambda *a: nl.jvp(part, a, tuple(tangents))[1])(*xs), slope)
        close(nl.linearize(part, *xs)[1](*tangents), slope)
    if signature.reverse:
        gradient = nl.grad(part, argnums=every)(*xs)
        value, back = nl.vjp(part, *xs)
        close(back(np.ones_like(value)), gradient)
        close(nl.grad(nl.checkpoint(part), argnums=every)(*xs), gradient)
        close(nl.jit(nl.grad(nl.jit(part), argnums=every))(*xs), gradient)
    if signature.reverse and signature.forward:
        flat = zip(nl.tree.leaves(gradient), nl.tree.leaves(tangents), strict=True)
        close(sum((np.sum(g * t) for g, t in flat), np.zeros(())), slope)
        close(nl.jacfwd(part, argnums=every)(*xs), gradient)


def batches_of_derivatives(example: Example, f: Any, args: Any) -> None:
    """vmap of grad is grad of the sum of vmap; vmap of jvp is jvp of vmap."""
    wrt, tangents = directions(example, args)
    if not wrt:
        return
    scalar = loss(f)
    batch = nl.tree.map(lambda x: np.stack([x, -x if x.dtype != bool else ~x]), args)
    if example.signature.reverse:
        one = nl.vmap(nl.grad(scalar, argnums=wrt))(*batch)
        two = nl.grad(lambda *a: np.sum(nl.vmap(scalar)(*a)), argnums=wrt)(*batch)
        close(one, two)
    if example.signature.forward and len(wrt) == len(args):
        moving = tuple(nl.tree.map(lambda t: numpy.stack([t, t * t]), tangents))
        one = nl.vmap(lambda a, t: nl.jvp(scalar, a, t))(tuple(batch), moving)
        two = nl.jvp(nl.vmap(scalar), tuple(batch), moving)
        close(one, two)


LAWS = {f.__name__: f for f in (compiled, batches, derivatives, batches_of_derivatives)}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_law(law: str) -> None:
    def check(example: Example) -> None:
        example.expected()  # discards examples near a kink
        if example.dtype != "float64" or not leaves(example.signature.params):
            return
        with flags(enable_x64=True):
            args = nl.tree.map(np.asarray, example.args())
            LAWS[law](example, example.transformed(), args)

    run(PLAIN, check, 15, 20261201)
