"""Crosses each row of `tests/samples` with orders, loops and batches.

The table of all crossings is in docs/proof_by_crossing.md.

A row is never left out silently. Where a crossing cannot hold, the row is listed with its reason,
and the test then demands the failure: a list that is too long fails as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy
import pytest

import numlift as nl
from numlift.api.autodiff import jvp, vjp
from numlift.api.jit import jit
from numlift.api.vmap import vmap
from numlift.core.dtypes import float0
from numlift.core.tracing import type_of
from numlift.core.types import ArrayType
from numlift.errors import GradError
from numlift.tree import tree_leaves
from tests.ops.crossings import (
    MIXES,
    Loop,
    commuted,
    derivatives_together,
    inexact,
    integral,
    other_axes,
    pick,
    third_program,
)
from tests.ops.rows import (
    DERIVATIVE_TOLERANCE,
    TOLERANCE,
    WIDE,
    Case,
    all_close,
    all_rows,
    as_numpy,
    batch_axes,
    case,
    derivative_dtypes,
    difference,
    scope,
    stacked,
    wide,
)
from tests.samples import Sample

ROWS = all_rows()
DIFFERENTIABLE = [row for row in ROWS if row.differentiable]
SMOOTH = [row for row in DIFFERENTIABLE if derivative_dtypes(row)]
"""The others have dtypes of 8 and 16 bits only: see `test_derivatives_in_every_dtype`."""


EVERYTHING = "NUMLIFT_EVERY_CROSSING" in os.environ
"""Set it for all eight mixes of modes and all rows of an operation; that takes many minutes."""


def one_an_operation(rows: Sequence[Sample]) -> list[Sample]:
    """One of the rows of each operation: its name is what stands before a slash."""
    groups: dict[str, list[Sample]] = {}
    for row in rows:
        # All rows of linear algebra are of different operations.
        name = row.name if row.name.startswith("linalg/") else row.name.split("/")[0]
        groups.setdefault(name, []).append(row)
    return list(rows) if EVERYTHING else [pick(found, name) for name, found in groups.items()]


def parameters(rows: Sequence[Sample], dtype: Callable[[Sample], str]) -> list[Any]:
    """One test a row, in the dtype that the function chooses."""
    return [pytest.param(row, dtype(row), id=f"{row.name}-{dtype(row)}") for row in rows]


def refused(listed: dict[str, str], row: Sample) -> AbstractContextManager[Any]:
    """Demands an error for the rows that are listed, with the reason as message."""
    return pytest.raises(GradError, match=listed[row.name]) if row.name in listed else nullcontext()


def one_of(place: str, choices: Callable[[Sample], Sequence[str]]) -> Callable[[Sample], str]:
    """A chooser of dtypes that takes turns from row to row."""
    return lambda row: pick(choices(row), row.name, place)


# ---- orders ----------------------------------------------------------------------------------

NO_THIRD = {
    "igamma": "no derivative in the parameter a",
    "igammac": "no derivative in the parameter a",
}


def mixes_of(row: Sample) -> Sequence[str]:
    """One mix that begins in forward and one that begins in reverse mode; rows take turns."""
    return MIXES if EVERYTHING else [pick(MIXES[:4], row.name, "f"), pick(MIXES[4:], row.name, "r")]


@pytest.mark.parametrize("row, dtype", parameters(SMOOTH, one_of("3", derivative_dtypes)))
def test_third_derivatives_in_every_mix_of_modes(row: Sample, dtype: str) -> None:
    with scope(dtype), refused(NO_THIRD, row):
        one = case(row, dtype)
        mixes = [m for m in mixes_of(row) if row.transposable or m == "fff"] or ["fff"]
        program = third_program(one, mixes)

        def second(step: float) -> list[Any]:
            return [numpy.asarray(program(one.moved(step), one.directions, one.cotangents)[0])]

        value, third = as_numpy(program(one.args, one.directions, one.cotangents))
        (expected,) = difference(second, dtype)
        size = max(abs(float(value)), abs(float(expected)))
        is_wide = dtype in WIDE
        for modes, found in zip(mixes, third, strict=True):
            exact = 1e-7 if is_wide else 2e-3
            same = abs(float(found) - float(third[0])) <= max(exact, one.tolerance) * size
            assert same, f"{one.name}: {modes} gives {found}, {mixes[0]} gives {third[0]}"
            near = abs(float(found) - float(expected)) <= (1e-4 if is_wide else 5e-2) * size
            assert near, f"{one.name}: {modes} gives {found}, differences give {expected}"


# ---- dtypes ----------------------------------------------------------------------------------


def narrow(row: Sample) -> list[str]:
    """Inexact dtypes of a row without those that finite differences check."""
    return [d for d in inexact(row) if d not in derivative_dtypes(row)]


NARROW = [row for row in DIFFERENTIABLE if narrow(row)]
DERIVATIVES = {**dict.fromkeys(("float8_e4m3fn", "float8_e4m3b11fnuz"), 0.3), "float8_e5m2": 0.5}


@pytest.mark.parametrize("row", NARROW, ids=lambda row: row.name)
def test_derivatives_in_every_dtype(row: Sample) -> None:
    for is_wide in (False, True):
        dtypes = [d for d in narrow(row) if (d in WIDE) == is_wide]
        if not dtypes:
            continue
        with scope(dtypes[0]):
            found = derivatives_together(row, dtypes)
            cases = {d: case(row, d) for d in dtypes}
        for d in dtypes:
            check_against_wide(row, cases[d], found[d])


def check_against_wide(row: Sample, one: Case, found: Any) -> None:
    """Compare derivatives with those of the same program in double precision."""
    same_kind = "complex128" if one.dtype.startswith("complex") else "float64"

    args = [
        wide(x) if isinstance(x, (numpy.ndarray, numpy.generic)) and type_of(x).inexact else x
        for x in one.args
    ]
    with scope(same_kind):
        exact = case(row, same_kind) if same_kind in row.dtypes else Case(row, same_kind)
        out_types = [t for t in exact.graph()[0].out_types if t.inexact]
        cts = [c.astype(t.dtype) for c, t in zip(one.cotangents, out_types, strict=True)]
        _, *expected = as_numpy(exact.first(args, [wide(x) for x in one.directions], cts))
    base = {**DERIVATIVE_TOLERANCE, **DERIVATIVES}[one.dtype]
    tolerance = max(base, 10 * row.tolerances.get(one.dtype, 0.0))
    for mode, a, b in zip(("jvp", "vjp"), found, expected, strict=True):
        all_close(a, b, tolerance, f"{one.name}: {mode}")
    for x, c in zip(one.chosen(one.args), found[1], strict=False):
        assert c.dtype == x.dtype, f"{one.name}: dtype of the cotangent"


INTEGRAL = [row for row in ROWS if integral(row)]


def zero_like(t: ArrayType) -> numpy.ndarray:
    """A zero tangent of a value of type `t`: float0 for integers and bools."""
    return numpy.zeros(t.shape, t.dtype if t.inexact else float0)


def same_types(found: Sequence[Any], values: Sequence[Any]) -> bool:
    """Whether derivatives have the shapes and dtypes that belong to the values."""
    expected = [zero_like(type_of(x)) for x in values]
    return [(d.shape, d.dtype) for d in found] == [(z.shape, z.dtype) for z in expected]


@pytest.mark.parametrize("row", INTEGRAL, ids=lambda row: row.name)
def test_tangents_of_integers_are_float0(row: Sample) -> None:
    def both(*args: Any) -> Any:
        def flat(*args: Any) -> list[Any]:
            return tree_leaves(row.function(*args))

        ys, dys = jvp(flat, args, tuple(zero_like(type_of(x)) for x in args))
        assert same_types(dys, ys)
        ys, pull = vjp(flat, *args)
        assert same_types(pull([zero_like(type_of(y)) for y in ys]), args)
        return ys

    for dtype in integral(row):
        with scope(dtype):
            nl.eval_shape(both, *case(row, dtype).args)


ONE_WAY = [row for row in ROWS if row.differentiable and not row.transposable]


@pytest.mark.parametrize("row", ONE_WAY, ids=lambda row: row.name)
def test_reverse_mode_is_refused(row: Sample) -> None:
    dtype = derivative_dtypes(row)[0]
    with scope(dtype), pytest.raises(GradError, match="max_steps"):
        one = case(row, dtype)
        one.pull(one.inexact(one.args), one.chosen(one.args), one.cotangents)


# ---- loops -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row, dtype", parameters(one_an_operation(ROWS), one_of("scan", lambda row: row.dtypes))
)
def test_inside_a_scan(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        loop = Loop(one)
        column = pick(loop.columns(), row.name, "column")
        single, batched = loop.compared(column)
        tolerance = max(10 * one.tolerance, 10 * TOLERANCE.get(dtype, 0.0))
        all_close(*single, tolerance, f"{one.name}: {column} of scan")
        all_close(*batched, tolerance, f"{one.name}: vmap of {column} of scan")


# ---- batches ---------------------------------------------------------------------------------

REVERSIBLE = [row for row in SMOOTH if row.transposable]


@pytest.mark.parametrize("row, dtype", parameters(REVERSIBLE, one_of("vmap", derivative_dtypes)))
def test_vmap_and_derivatives_commute_at_other_axes(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        out_axis, axes = other_axes(row, dtype)
        tolerance = max(one.tolerance * 10, 1e-10 if dtype in WIDE else 1e-4)
        for name, (found, expected) in commuted(one, axes, out_axis).items():
            all_close(found, expected, tolerance, f"{one.name}: {name} with in_axes={axes}")


# ---- programs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row, dtype", parameters(one_an_operation(SMOOTH), one_of("jit", derivative_dtypes))
)
def test_jit_inside_outside_and_not_at_all(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        modes = ["jvp", "vjp", "vmap"] if row.transposable else ["jvp", "vmap"]
        mode = pick(modes, row.name, "mode")
        axes = next(iter(batch_axes(row, one.args)), None)

        def transformed(wrap: Callable[..., Any]) -> Callable[..., Any]:
            def apply(args: Any, dxs: Any, cts: Any) -> Any:
                function, chosen = wrap(one.inexact(args)), one.chosen(args)
                if mode == "jvp":
                    return list(jvp(function, tuple(chosen), tuple(dxs))[1])
                if mode == "vjp":
                    return list(vjp(function, *chosen)[1](list(cts)))
                whole = wrap(lambda *args: list(tree_leaves(row.function(*args))))
                return vmap(whole, in_axes=axes)(*args)

            return apply

        args = stacked(one.batch, axes) if mode == "vmap" else one.args
        operands = args, one.directions, one.cotangents
        plain = as_numpy(transformed(lambda f: f)(*operands))
        inside = as_numpy(transformed(jit)(*operands))
        outside = as_numpy(jit(transformed(lambda f: f))(*operands))
        tolerance = max(one.tolerance * 10, 1e-10 if dtype in WIDE else 1e-4)
        all_close(inside, plain, tolerance, f"{one.name}: {mode} of jit")
        all_close(outside, plain, tolerance, f"{one.name}: jit of {mode}")
