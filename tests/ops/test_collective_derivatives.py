"""Derivatives through collectives over axes of `vmap`, against dense formulas without names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax

N = 4
PAIRS = [(0, 2), (2, 1), (3, 0)]
ORDER = [2, 0, 3, 1]
Function = Callable[[Any], Any]


def moved_rows(x: Any) -> Any:
    """What ppermute with PAIRS does to the examples, which are the first axis."""
    target: list[Any] = [np.zeros_like(x[0])] * N
    for source, place in PAIRS:
        target[place] = x[source]
    return np.stack(target)


def exchanged(x: Any, split: int, joined: int) -> Any:
    """all_to_all by definition: example i gets slice i of every example."""
    got = [[np.take(x[k], i, axis=split) for k in range(N)] for i in range(N)]
    return np.stack([np.stack(parts, axis=joined) for parts in got])


def exchanged_blocks(x: Any, split: int, joined: int) -> Any:
    """The same in tiles."""
    got = [[np.split(x[k], N, axis=split)[i] for k in range(N)] for i in range(N)]
    return np.stack([np.concatenate(parts, axis=joined) for parts in got])


def scattered(x: Any, axis: int, tiled: bool) -> Any:
    """Example i gets slice or block i of the sum."""
    total = x.sum(0)
    if not tiled:
        return np.moveaxis(total, axis, 0)
    return np.stack(np.split(total, N, axis=axis))


# Of one example with axes (3, N) or, in tiles, (3, 2 N).
CASES: dict[str, tuple[Function, Function, tuple[int, ...]]] = {
    "psum": (lambda v: lax.psum(v * v, "i"), lambda x: repeated((x * x).sum(0)), (3, N)),
    "psum of a constant": (lambda v: lax.psum(2.0, "i") * v, lambda x: 2.0 * N * x, (3, N)),
    "pmean": (lambda v: lax.pmean(v * v, "i"), lambda x: repeated((x * x).mean(0)), (3, N)),
    "pmax": (lambda v: lax.pmax(v, "i") * v, lambda x: x.max(0) * x, (3, N)),
    "pmin": (lambda v: lax.pmin(v, "i") * v, lambda x: x.min(0) * x, (3, N)),
    "ppermute": (lambda v: lax.ppermute(v * v, "i", PAIRS), lambda x: moved_rows(x * x), (3, N)),
    "pshuffle": (
        lambda v: lax.pshuffle(v * v, "i", ORDER), lambda x: (x * x)[numpy.array(ORDER)], (3, N),
    ),
    "all_gather": (
        lambda v: lax.all_gather(v * v, "i") * v, lambda x: (x * x)[None] * x[:, None], (3, N),
    ),
    "all_gather at axis 1": (
        lambda v: lax.all_gather(v * v, "i", axis=1),
        lambda x: repeated(np.moveaxis(x * x, 0, 1)), (3, N),
    ),
    "all_gather in tiles": (
        lambda v: lax.all_gather(v * v, "i", axis=1, tiled=True),
        lambda x: repeated(np.concatenate(list(x * x), axis=1)), (3, N),
    ),
    "all_to_all": (
        lambda v: lax.all_to_all(v * v, "i", 1, 0), lambda x: exchanged(x * x, 1, 0), (3, N),
    ),
    "all_to_all, same axis": (
        lambda v: lax.all_to_all(v * v, "i", 1, 1), lambda x: exchanged(x * x, 1, 1), (3, N),
    ),
    "all_to_all in tiles": (
        lambda v: lax.all_to_all(v * v, "i", 1, 0, tiled=True),
        lambda x: exchanged_blocks(x * x, 1, 0), (3, 2 * N),
    ),
    "pswapaxes": (
        lambda v: lax.pswapaxes(v * v, "i", 1), lambda x: np.moveaxis(x * x, 2, 0)
        .transpose(0, 2, 1), (3, N),
    ),
    "psum_scatter": (
        lambda v: lax.psum_scatter(v * v, "i", scatter_dimension=1),
        lambda x: scattered(x * x, 1, False), (3, N),
    ),
    "psum_scatter in tiles": (
        lambda v: lax.psum_scatter(v * v, "i", scatter_dimension=1, tiled=True),
        lambda x: scattered(x * x, 1, True), (3, 2 * N),
    ),
    "axis_index": (
        lambda v: lax.axis_index("i") * v * v,
        lambda x: np.arange(N, dtype="int32")[:, None, None] * x * x, (3, N),
    ),
    "psum in a loop": (
        lambda v: lax.fori_loop(0, 3, lambda k, c: np.sin(c + lax.psum(c, "i")), v),
        lambda x: lax.fori_loop(0, 3, lambda k, c: np.sin(c + c.sum(0)), x), (3, N),
    ),
    "psum in a checkpoint": (
        nl.checkpoint(lambda v: np.sin(lax.psum(v, "i") * v)),
        lambda x: np.sin(x.sum(0) * x), (3, N),
    ),
}  # fmt: skip


def repeated(x: Any) -> Any:
    """The same for each example."""
    return np.broadcast_to(x, (N, *x.shape))


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> numpy.ndarray:
    """Normal numbers, complex for complex dtypes."""
    generator = numpy.random.default_rng(seed)
    x = generator.normal(size=shape)
    return numpy.asarray(x + 1j * generator.normal(size=shape) if "c" in dtype else x).astype(dtype)


def everything(function: Function, x: Any, dx: Any, weights: Any) -> list[Any]:
    """Value, tangent, cotangent, and the second derivative in two mixes."""

    def pull(x: Any) -> Any:
        return nl.vjp(function, x)[1](weights)[0]

    y, dy = nl.jvp(function, (x,), (dx,))
    forward = nl.jvp(pull, (x,), (dx,))[1]
    return [y, dy, pull(x), forward, nl.vjp(pull, x)[1](dx)[0]]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("order", ["outside", "inside"])
def test_collective(name: str, order: str, enable_x64: None) -> None:
    named, dense, shape = CASES[name]
    dtype = "complex128" if len(name) % 2 and not name.startswith(("pm", "psum in")) else "float64"
    x, dx = (numbers((N, *shape), dtype, i) for i in range(2))
    expected = nl.jit(dense)(x)
    weights = numbers(expected.shape, dtype, 2)
    batched = nl.vmap(named, axis_name="i")

    def inside(v: Any, dv: Any, w: Any) -> list[Any]:
        return everything(named, v, dv, w)

    @nl.jit
    def found(x: Any, dx: Any, w: Any) -> list[Any]:
        # The transpose of a collective is one too, so derivatives may be taken in each example.
        if order == "inside":
            return nl.vmap(inside, axis_name="i")(x, dx, w)
        return everything(batched, x, dx, w)

    wanted = nl.jit(lambda x, dx, w: everything(dense, x, dx, w))(x, dx, weights)
    for i, (a, b) in enumerate(zip(found(x, dx, weights), wanted, strict=True)):
        numpy.testing.assert_allclose(
            numpy.asarray(a), numpy.asarray(b), rtol=1e-9, atol=1e-9, err_msg=f"result {i}"
        )


@pytest.mark.parametrize("names", [("i", "j"), ("j", "i"), "i", "j"])
def test_two_axes(names: Any, enable_x64: None) -> None:
    x, dx = (numbers((2, 3, 5), "float64", i) for i in range(2))
    axes = {("i", "j"): (0, 1), ("j", "i"): (0, 1), "i": (0,), "j": (1,)}[names]

    def named(v: Any) -> Any:
        return lax.psum(v * v, names) * np.sin(v)

    def dense(x: Any) -> Any:
        return (x * x).sum(axes, keepdims=True) * np.sin(x)

    both = nl.vmap(nl.vmap(named, axis_name="j"), axis_name="i")
    weights = numbers((2, 3, 5), "float64", 2)
    found = nl.jit(lambda *a: everything(both, *a))(x, dx, weights)
    wanted = nl.jit(lambda *a: everything(dense, *a))(x, dx, weights)
    for a, b in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(a), numpy.asarray(b), rtol=1e-10, atol=1e-10)
