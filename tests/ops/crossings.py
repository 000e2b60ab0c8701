"""Programs behind `test_crossings.py`: rows of the samples table in higher orders and in loops."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

import numlift.numpy as nlp
from numlift import lax
from numlift.api.autodiff import jvp, vjp
from numlift.api.jit import jit
from numlift.api.vmap import vmap
from numlift.core.dtypes import as_dtype
from numlift.core.tracing import type_of
from numlift.core.types import dtype_kind
from numlift.tree import tree_leaves
from tests.ops.rows import (
    BATCH,
    FAST,
    Case,
    as_numpy,
    batch_axes,
    case,
    examples,
    normal,
    stacked,
)
from tests.samples import Sample

MIXES = tuple("".join(modes) for modes in itertools.product("fr", repeat=3))
"""Forward (f) and reverse (r) modes of a third derivative, the innermost first."""


def pick(choices: Sequence[Any], *key: Any) -> Any:
    """One of the choices, decided by the key only."""
    return choices[zlib.crc32(repr(key).encode()) % len(choices)]


def inexact(row: Sample) -> list[str]:
    """Float and complex dtypes of a row."""
    return [d for d in row.dtypes if dtype_kind(as_dtype(d)) in "fc"]


def integral(row: Sample) -> list[str]:
    """Integer and bool dtypes of a row."""
    return [d for d in row.dtypes if dtype_kind(as_dtype(d)) in "iub"]


# ---- third derivatives -----------------------------------------------------------------------


def along(mode: str, function: Callable[..., Any], dxs: Sequence[Any]) -> Callable[..., Any]:
    """The derivative of a real scalar along `dxs`, in forward (f) or reverse (r) mode."""

    def forward(*xs: Any) -> Any:
        return jvp(function, xs, tuple(dxs))[1]

    def reverse(*xs: Any) -> Any:
        y, pull = vjp(function, *xs)
        parts = pull(numpy.ones((), y.dtype))
        return sum(nlp.real(nlp.sum(c * dx)) for c, dx in zip(parts, dxs, strict=True))

    return forward if mode == "f" else reverse


def third_program(one: Case, mixes: Sequence[str]) -> Callable[..., Any]:
    """(args, dxs, cts) -> second derivative of Re <ct, f> along dx, and the third in each mix."""

    def run(args: Any, dxs: Any, cts: Any) -> Any:
        function, chosen = one.inexact(args), one.chosen(args)

        def scalar(*xs: Any) -> Any:
            ys = function(*xs)
            return sum(nlp.real(nlp.sum(c * y)) for c, y in zip(cts, ys, strict=True))

        def mixed(modes: str) -> Any:
            found = scalar
            for mode in modes:
                found = along(mode, found, dxs)
            return found(*chosen)

        return mixed("ff"), [mixed(modes) for modes in mixes]

    return jit(run, compiler_options=FAST)


# ---- loops -----------------------------------------------------------------------------------

STEPS = 2


def in_scan(body: Callable[..., Any], carry: Any, xs: Any) -> Any:
    """The loop of the library."""
    return lax.scan(body, carry, xs, length=STEPS)


def unrolled(body: Callable[..., Any], carry: Any, xs: Any) -> Any:
    """The same loop in Python."""
    found = []
    for t in range(STEPS):
        carry, y = body(carry, [x[t] for x in xs])
        found.append(y)
    return carry, [nlp.stack(ys) for ys in zip(*found, strict=True)]


class Loop:
    """A row as the body of a loop of two steps.

    The first differentiable argument is carried: two draws of it that change places in each step.
    The others are closed over; what is not differentiable comes from the scanned-over arrays.
    """

    def __init__(self, one: Case):
        self.one, row = one, one.row
        active = row.differentiable if dtype_kind(as_dtype(one.dtype)) in "fc" else ()
        self.carried = list(active[:1])
        self.closed = [i for i in active if i not in self.carried]
        self.scanned = [
            i
            for i, x in enumerate(one.args)
            if isinstance(x, (numpy.ndarray, numpy.generic)) and i not in active
        ]
        first, second = self.example(0), self.example(BATCH - 1)
        self.inputs, self.xs = (
            [numpy.stack(pair) for pair in zip(a, b, strict=True)]
            for a, b in zip(first, second, strict=True)
        )

    def example(self, k: int) -> tuple[list[Any], list[Any]]:
        """Carried and closed-over arguments, then scanned-over arrays, from draw k on."""
        draws = [self.one.batch[(k + t) % BATCH] for t in range(STEPS)]
        inputs = [draws[0][i] for i in self.carried + self.closed]
        inputs += [draws[1][i] for i in self.carried]
        return inputs, [numpy.stack([draw[i] for draw in draws]) for i in self.scanned]

    def run(self, loop: Callable[..., Any], inputs: Sequence[Any], xs: Any) -> list[Any]:
        """Everything that the loop returns."""
        one, n = self.one, len(self.carried)
        closed = dict(zip(self.closed, inputs[n : n + len(self.closed)], strict=True))
        start = (list(inputs[:n]), list(inputs[n + len(self.closed) :]))

        def body(carry: Any, xs: Any) -> Any:
            now, other = carry
            args = list(one.args)
            for i, x in (
                *zip(self.carried, now, strict=True),
                *zip(self.scanned, xs, strict=True),
                *closed.items(),
            ):
                args[i] = x
            return (other, now), list(tree_leaves(one.row.function(*args)))

        carry, ys = loop(body, start, xs)
        return [*tree_leaves(carry), *ys]

    def columns(self) -> list[str]:
        """What is defined for the row: value, jvp, vjp."""
        if not self.inputs:
            return ["value"]
        return ["value", "jvp", "vjp"] if self.one.row.transposable else ["value", "jvp"]

    def compute(
        self, loop: Callable[..., Any], column: str, inputs: Any, dxs: Any, xs: Any
    ) -> list[Any]:
        """One column of the loop."""

        def inexact_results(*inputs: Any) -> list[Any]:
            return [y for y in self.run(loop, inputs, xs) if type_of(y).inexact]

        if column == "value":
            return self.run(loop, inputs, xs)
        if column == "jvp":
            ys, dys = jvp(inexact_results, tuple(inputs), tuple(dxs))
            return [*ys, *dys]
        ys, pull = vjp(inexact_results, *inputs)
        cts = [numpy.full(y.shape, 0.5 + i, y.dtype) for i, y in enumerate(ys)]
        return [*ys, *pull(cts)]

    def compared(self, column: str) -> list[Any]:
        """A column by scan and by the plain loop; then the same under vmap."""
        operands = self.inputs, [normal(("loop", i), x) for i, x in enumerate(self.inputs)], self.xs

        def run(*operands: Any) -> Any:
            def at(i: int) -> Any:
                return [[x[i] for x in xs] for xs in operands]

            batched = vmap(partial(self.compute, in_scan, column), axis_size=2)(*operands)
            plain = [self.compute(unrolled, column, *at(i)) for i in range(2)]
            return self.compute(in_scan, column, *at(0)), batched, plain

        scan, batched, plain = as_numpy(jit(run, compiler_options=FAST)(*operands))
        together = [numpy.stack(ys) for ys in zip(*plain, strict=True)]
        return [(scan, plain[0]), (batched, together)]


# ---- batches ---------------------------------------------------------------------------------


def commuted(one: Case, axes: tuple[int | None, ...], out_axis: int) -> dict[str, tuple[Any, Any]]:
    """vmap of jvp, vmap of vjp and vjp of vmap with what a loop over the examples gives."""
    row = one.row
    own = [axes[i] for i in row.differentiable]

    def batch(xs: Sequence[Any], places: Sequence[int | None]) -> list[Any]:
        return [
            x if axis is None else numpy.stack([x * (1 + k) for k in range(BATCH)], axis)
            for x, axis in zip(xs, places, strict=True)
        ]

    out_axes = [out_axis] * len(one.cotangents)
    dxs, cts = batch(one.directions, own), batch(one.cotangents, out_axes)
    args = stacked(one.batch, axes)

    @jit
    def both(args: Any, dxs: Any, cts: Any) -> Any:
        def example(args: Any, dxs: Any, cts: Any) -> Any:
            chosen, function = one.chosen(args), one.inexact(args)
            tangents = jvp(function, tuple(chosen), tuple(dxs))[1]
            return list(tangents), list(one.pull(function, chosen, cts))

        def whole(*chosen: Any) -> Any:
            return vmap(
                lambda args, xs: one.inexact(args)(*xs),
                in_axes=(list(axes), own), out_axes=out_axis,
            )(list(args), list(chosen))  # fmt: skip

        inside = vmap(
            example, in_axes=(list(axes), own, out_axes), out_axes=(out_axis, 0)
        )(args, dxs, cts)  # fmt: skip
        return *inside, list(vjp(whole, *one.chosen(args))[1](cts))

    found = as_numpy(both(args, dxs, cts))
    loop = [
        as_numpy(
            one.first(
                single,
                [x if a is None else numpy.take(x, k, a) for x, a in zip(dxs, own, strict=True)],
                [numpy.take(c, k, out_axis) for c in cts],
            )
        )
        for k, single in enumerate(examples(one.batch, axes))
    ]
    tangents = [numpy.stack(ys, out_axis) for ys in zip(*(r[1] for r in loop), strict=True)]
    cotangents = [numpy.stack(cs) for cs in zip(*(r[2] for r in loop), strict=True)]
    summed = [
        c.sum(0).astype(c.dtype) if a is None else numpy.moveaxis(c, 0, a)
        for c, a in zip(cotangents, own, strict=True)
    ]
    return {
        "vmap of jvp": (found[0], tangents),
        "vmap of vjp": (found[1], cotangents),
        "vjp of vmap": (found[2], summed),
    }


def other_axes(row: Sample, dtype: str) -> tuple[int, tuple[int | None, ...]]:
    """One of the `in_axes` after the first, and the output axis to go with it."""
    every = batch_axes(row, case(row, dtype).args)
    i = pick(range(1, len(every)), row.name, "axes") if len(every) > 1 else 0
    return (-1 if i == 1 else 0), every[i]


# ---- dtypes ----------------------------------------------------------------------------------


def derivatives_together(row: Sample, dtypes: Sequence[str]) -> dict[str, Any]:
    """J dx and ct J in several dtypes, of one program."""
    cases = {d: case(row, d) for d in dtypes}

    @jit
    def every(inputs: dict[str, Any]) -> dict[str, Any]:
        return {d: list(cases[d]._first(*given)[1:]) for d, given in inputs.items()}

    inputs = {d: (c.args, c.directions, c.cotangents) for d, c in cases.items()}
    found = every(inputs)
    return {d: as_numpy(found[d]) for d in dtypes}
