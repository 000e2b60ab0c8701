"""Every operation, batched over a symbolic axis, is the program that a number gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import pytest

import numlift as nl
from numlift import export
from numlift.api.autodiff import vjp
from numlift.api.stages import trace_arguments
from numlift.core.dim_text import marked_dims
from numlift.core.dtypes import as_dtype
from numlift.core.tracing import type_of
from numlift.export.exported import module_text
from numlift.export.template import evaluator, filled
from numlift.runtime import xla
from numlift.tree import tree_leaves
from tests.ops.rows import all_rows, scope, seed_of
from tests.samples import Sample

SIZE = 700
"""Large enough for the lowerings that symbolic sizes get."""


def program(function: Callable[..., Any], args: Sequence[Any]) -> str:
    """StableHLO of a function, with symbolic sizes in brackets."""
    staged = trace_arguments(nl.jit(function)._info, tuple(args), {})
    captured = [xla.host_array(x.buffer) for x in staged.traced.captured_arrays()]
    with marked_dims():
        return module_text(staged.jaxpr, captured, "cpu", "f")


def same_program(row: Sample, dtype: str, function: Callable[..., Any]) -> None:
    types = [type_of(x) for x in row.inputs(seed_of(row.name, dtype), as_dtype(dtype))]
    batched = batched_arguments(row, len(types))

    def structs(n: Any) -> list[Any]:
        return [
            nl.ShapeDtypeStruct((n, *t.shape) if b else t.shape, t.dtype)
            for t, b in zip(types, batched, strict=True)
        ]

    (b,) = export.symbolic_shape("b")
    template = program(function, structs(b))
    assert filled(template, evaluator(b.scope, {"b": SIZE})) == program(function, structs(SIZE))


def batched_arguments(row: Sample, n: int) -> list[bool]:
    return [row.vmappable is None or i in row.vmappable for i in range(n)]


def batched(row: Sample) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        axes = [0 if b else None for b in batched_arguments(row, len(args))]
        return nl.vmap(row.function, in_axes=axes)(*args)

    return function


def pulled_back(row: Sample) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        def inexact(*chosen: Any) -> list[Any]:
            full = list(args)
            for i, x in zip(row.differentiable, chosen, strict=True):
                full[i] = x
            return [y for y in tree_leaves(batched(row)(*full)) if type_of(y).inexact]

        outs, back = vjp(inexact, *[args[i] for i in row.differentiable])
        return back([nl.numpy.ones_like(y) for y in outs])

    return function


def dtype_of(row: Sample) -> str:
    return "float32" if "float32" in row.dtypes else row.dtypes[0]


ROWS = [r for r in all_rows() if r.vmappable is None or r.vmappable]


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_programs_of_rows(row: Sample) -> None:
    with scope(dtype_of(row)):
        same_program(row, dtype_of(row), batched(row))


BY_SIZE = {"reduce_prod/012"}
"""Rows whose derivative has running products, which are cut into chunks by their known length."""
DERIVATIVES = [r for r in ROWS if r.differentiable and r.transposable]


@pytest.mark.parametrize(
    "row", [r for r in DERIVATIVES if r.name not in BY_SIZE], ids=lambda r: r.name
)
def test_programs_of_derivatives(row: Sample) -> None:
    with scope(dtype_of(row)):
        same_program(row, dtype_of(row), pulled_back(row))


@pytest.mark.parametrize("row", [r for r in DERIVATIVES if r.name in BY_SIZE], ids=lambda r: r.name)
def test_values_of_derivatives_that_are_lowered_by_size(row: Sample) -> None:
    (x,) = row.inputs(seed_of(row.name, "float32"), as_dtype("float32"))
    x = numpy.stack([numpy.asarray(x)] * 5)
    (b,) = export.symbolic_shape("b")
    f = nl.jit(pulled_back(row))
    exported = export.export(f)(nl.ShapeDtypeStruct((b, *x.shape[1:]), "float32"))
    for got, want in zip(exported.call(x), f(x), strict=True):
        numpy.testing.assert_allclose(got, want, rtol=1e-5)


def test_numbers_are_equal_to_the_bit() -> None:
    """Also where a lowering depends on the size: exports take that of large ones."""
    (b,) = export.symbolic_shape("b")
    f = nl.jit(lambda x: nl.numpy.tanh(x) @ nl.numpy.sin(x).T)
    exported = export.export(f)(nl.ShapeDtypeStruct((b, 64), "float32"))
    x = numpy.random.default_rng(0).random((300, 64)).astype("float32")
    numpy.testing.assert_array_equal(exported.call(x), f(x))
