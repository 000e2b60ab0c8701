"""Crosses each row of `tests/samples` with every property that an operation must have."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy
import pytest

from numlift.api.autodiff import jvp, vjp
from numlift.api.jit import jit
from numlift.api.vmap import vmap
from numlift.core.graph import Graph
from numlift.core.op import Op
from numlift.core.types import dtype_kind
from numlift.core.verify import verify
from numlift.transforms.jvp import jvp_graph
from numlift.transforms.linearize import linearize_graph
from numlift.transforms.simplify import simplify
from numlift.transforms.transpose import transpose_graph
from numlift.transforms.vmap import vmap_graph
from numlift.tree import tree_leaves
from tests.ops.rows import (
    BATCH,
    all_close,
    all_rows,
    as_numpy,
    batch_axes,
    batched,
    case,
    check_difference,
    derivative_dtypes,
    examples,
    inner,
    scope,
    stacked,
    wide,
)
from tests.samples import Sample

ROWS = all_rows()


def parameters(dtypes: Any) -> list[Any]:
    """One test a row and dtype."""
    return [pytest.param(r, d, id=f"{r.name}-{d}") for r in ROWS for d in dtypes(r)]


def one_dtype(row: Sample) -> list[str]:
    """float32 if the row has it, else its first dtype."""
    return ["float32" if "float32" in row.dtypes else row.dtypes[0]]


def reverse(row: Sample) -> list[str]:
    """Dtypes for reverse mode."""
    return derivative_dtypes(row) if row.transposable else []


def reverse_once(row: Sample) -> list[str]:
    """The first of the dtypes for reverse mode."""
    return reverse(row)[:1]


def second(row: Sample) -> list[str]:
    """Dtypes for second derivatives."""
    return reverse(row) if row.second_order else []


def single_precision(row: Sample) -> list[str]:
    """float32, where it is not checked by finite differences already."""
    dtypes = reverse(row)
    return ["float32"] if "float64" in dtypes and "float32" in row.dtypes else []


def half_precision(row: Sample) -> list[str]:
    """bfloat16 or float16, in turn."""
    found = [d for d in ("bfloat16", "float16") if d in row.dtypes]
    if not found or "float64" not in reverse(row):
        return []
    return [found[len(row.name) % len(found)]]


def test_names_are_unique() -> None:
    counts = Counter(row.name for row in ROWS)
    assert not [name for name, n in counts.items() if n > 1]


WITHOUT_ROW = {
    "collectives": "vmap turns them into others (see psum, ...); sharded: tests/sharding",
    "random": "random numbers have no oracle: tests/random",
    "callback": "they call the host: tests/api/test_callbacks.py",
    "resharding": "they change placements only: tests/sharding",
    "checks": "they raise: tests/api/test_checkify.py",
    "operation": "calls of exported programs: tests/export",
    "dim_value": "symbolic sizes, in exports only: tests/export",
}
NOT_USED_ALONE = {
    # Made by derivatives, batching, lowering or dead ends of tracing only.
    "Again",
    "ArgSort",
    "ArrayConstant",
    "BetaDensity",
    "BoundedWhile",
    "CustomCall",
    "EqTo",
    "GammaDensity",
    "KeyEqual",
    "LeTo",
    "LoopTangent",
    "LtTo",
    "PaddedDynamicSlice",
    "PaddedDynamicUpdateSlice",
    "SelectAndGatherAdd",
    "SelectAndScatterAdd",
    "RngUniform",  # random: tests/lax/test_names.py
    "Sink",  # it has no results: tests/lax/test_names.py
    "RandomClone",  # applied under debug_key_reuse only: tests/api/test_key_reuse.py
    "Recurrence",
    "Sweep",
    "SweepTangent",
    "VjpTangent",
    "_Apply",
}


def operations(graph: Graph) -> set[type[Op]]:
    """Classes of the operations of a graph and of the graphs inside them."""
    found: set[type[Op]] = set()
    for eq in graph.equations:
        found.add(type(eq.op))
        for field in eq.op.fields:
            value = getattr(eq.op, field)
            for inside in value if isinstance(value, tuple) else (value,):
                if isinstance(inside, Graph):
                    found |= operations(inside)
    return found


def subclasses(kind: type[Op]) -> set[type[Op]]:
    """All subclasses of an operation class in the package."""
    below = kind.__subclasses__()
    return {*below, *(s for b in below for s in subclasses(b))}


def test_every_operation_has_a_row() -> None:
    used: set[type[Op]] = set()
    for row in ROWS:
        (dtype,) = one_dtype(row)
        with scope(dtype):
            used |= operations(case(row, dtype).graph()[0])
    missing = [
        f"{kind.__module__}.{kind.__name__}"
        for kind in subclasses(Op) - used
        if kind.__module__.startswith("numlift.")
        and kind.__module__.rsplit(".", 1)[1] not in WITHOUT_ROW
        and not kind.__subclasses__()
        and kind.__name__ not in NOT_USED_ALONE
    ]
    assert not missing, "\n".join(sorted(missing))


@pytest.mark.parametrize("row, dtype", parameters(lambda row: row.dtypes))
def test_value(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        if row.oracle is None:
            assert one.outputs is not None
            return
        args = [wide(x) if isinstance(x, (numpy.ndarray, numpy.generic)) else x for x in one.args]
        with numpy.errstate(all="ignore"):
            expected = row.oracle(*args)
        if not isinstance(expected, (tuple, list)):
            expected = (expected,)
        all_close(one.outputs, expected, one.tolerance, one.name)


@pytest.mark.parametrize("row, dtype", parameters(one_dtype))
def test_eager_equals_jit(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        found = tree_leaves(row.function(*one.args))
        all_close(found, one.outputs, one.tolerance, one.name)


@pytest.mark.parametrize("row, dtype", parameters(derivative_dtypes))
def test_jvp_equals_differences(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        values, tangents, _ = one.derivative
        outputs = [y for y in one.outputs if dtype_kind(y.dtype) in "fc"]
        all_close(values, outputs, max(one.tolerance, 1e-12), f"{one.name}: value under jvp")

        def moved(step: float) -> list[Any]:
            return as_numpy(one.first(one.moved(step), one.directions, one.cotangents))[0]

        check_difference(tangents, moved, one, f"{one.name}: jvp")


@pytest.mark.parametrize("row, dtype", parameters(reverse))
def test_vjp_is_the_transpose_of_jvp(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        _, tangents, cotangents = one.derivative
        for x, c in zip(one.chosen(one.args), cotangents, strict=True):
            assert (c.shape, c.dtype) == (x.shape, x.dtype), f"{one.name}: type of the cotangent"
        left = inner(one.cotangents, tangents)
        right = inner(cotangents, one.directions)
        size = sum(numpy.abs(wide(t) * wide(c)).sum() for t, c in zip(tangents, one.cotangents))
        tolerance = 1e-9 if dtype in ("float64", "complex128") else 1e-3
        tolerance = max(tolerance, row.tolerances.get(dtype, 0.0))
        assert abs(left - right) <= tolerance * max(size, abs(right)), (
            f"{one.name}: <ct, J dx> = {left}, but <ct J, dx> = {right}"
        )


@pytest.mark.parametrize("row, dtype", parameters(second))
def test_second_derivatives(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        forward, back = as_numpy(one.second(one.args, one.directions, one.cotangents))

        def gradient(step: float) -> list[Any]:
            return as_numpy(one.first(one.moved(step), one.directions, one.cotangents))[2]

        check_difference(forward, gradient, one, f"{one.name}: forward over reverse")
        all_close(back, forward, one.derivative_tolerance, f"{one.name}: reverse over reverse")


@pytest.mark.parametrize(
    "row, dtype", parameters(lambda r: single_precision(r) + half_precision(r))
)
def test_derivatives_in_lower_precision(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        _, tangents, cotangents = one.derivative
        args = [x.astype("float64") if dtype_kind(x.dtype) == "f" else x for x in one.args]
    with scope("float64"):
        exact = case(row, "float64")
        directions = [wide(x) for x in one.directions]
        cts = [wide(x) for x in one.cotangents]
        _, wide_tangents, wide_cotangents = as_numpy(exact.first(args, directions, cts))
    tolerance = one.derivative_tolerance
    all_close(tangents, wide_tangents, tolerance, f"{one.name}: jvp")
    all_close(cotangents, wide_cotangents, tolerance, f"{one.name}: vjp")


NOT_BATCHED = {
    "iota": "the argument gives the dtype only",
    "broadcasted_iota": "the argument gives the dtype only",
}


@pytest.mark.parametrize("row, dtype", parameters(one_dtype))
def test_vmap_equals_loop(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        axes = batch_axes(row, one.args)
        assert bool(axes) != (row.name in NOT_BATCHED)
        if not axes:
            return
        many = [stacked(one.batch, a) for a in axes]
        found = batched(lambda *args: tuple(tree_leaves(row.function(*args))), axes)(many)
        for i, (a, results) in enumerate(zip(axes, as_numpy(found), strict=True)):
            loop = [as_numpy(one.value(*args)) for args in examples(one.batch, a)]
            expected = [numpy.stack(ys, -1 if i == 1 else 0) for ys in zip(*loop, strict=True)]
            tolerance = max(one.tolerance, 1e-12)
            all_close(results, expected, tolerance, f"{one.name}: vmap with in_axes={a}")


@pytest.mark.parametrize("row, dtype", parameters(reverse_once))
def test_vmap_and_grad_commute(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        axes = batch_axes(row, one.args)[0]
        assert all(axes[i] == 0 for i in row.differentiable)
        dxs = [numpy.stack([dx * (1 + i) for i in range(BATCH)]) for dx in one.directions]
        cts = [numpy.stack([ct * (1 + i) for i in range(BATCH)]) for ct in one.cotangents]

        @jit
        def both(args: Any, dxs: Any, cts: Any) -> Any:
            def example(args: Any, dxs: Any, cts: Any) -> Any:
                chosen, function = one.chosen(args), one.inexact(args)
                return jvp(function, tuple(chosen), tuple(dxs))[1], one.pull(function, chosen, cts)

            def whole(*chosen: Any) -> Any:
                return vmap(lambda args, xs: one.inexact(args)(*xs), in_axes=(list(axes), 0))(
                    list(args), list(chosen)
                )

            inside = vmap(example, in_axes=(list(axes), 0, 0))(args, dxs, cts)
            outside = vjp(whole, *one.chosen(args))[1](cts)
            return *inside, outside

        found = as_numpy(both(stacked(one.batch, axes), dxs, cts))
        loop = [
            as_numpy(one.first(args, [x[i] for x in dxs], [c[i] for c in cts]))
            for i, args in enumerate(examples(one.batch, axes))
        ]
        tangents, cotangents = (
            [numpy.stack(ys) for ys in zip(*(r[k] for r in loop), strict=True)] for k in (1, 2)
        )
        tolerance = max(one.tolerance * 10, 1e-10 if dtype == "float64" else 1e-4)
        all_close(found[0], tangents, tolerance, f"{one.name}: vmap of jvp")
        all_close(found[1], cotangents, tolerance, f"{one.name}: vmap of vjp")
        all_close(found[2], cotangents, tolerance, f"{one.name}: vjp of vmap")


def check_graph(graph: Graph) -> None:
    """The graph is well formed, before and after it is simplified."""
    verify(graph)
    simple = simplify(graph)
    verify(simple)
    assert simple.out_types == graph.out_types
    assert len(simple.equations) <= len(graph.equations)


@pytest.mark.parametrize("row, dtype", parameters(one_dtype))
def test_graphs_are_well_formed(row: Sample, dtype: str) -> None:
    with scope(dtype):
        one = case(row, dtype)
        graph, n_captured = one.graph()
        check_graph(graph)
        axes = next(iter(batch_axes(row, one.args)), None)
        if axes is not None:
            check_graph(vmap_graph(graph, BATCH, ((None,) * n_captured + axes))[0])
        if not row.differentiable or dtype not in ("float32", "float64"):
            return
        active = tuple(i - n_captured in row.differentiable for i in range(len(graph.inputs)))
        check_graph(jvp_graph(graph, active)[0])
        parts = linearize_graph(graph, active)
        check_graph(parts.primal)
        check_graph(parts.tangent)
        if row.transposable:
            n = len(parts.residual_inputs)
            linear = tuple(i >= n for i in range(len(parts.tangent.inputs)))
            ct_active = (True,) * len(parts.tangent.outputs)
            check_graph(transpose_graph(parts.tangent, linear, ct_active)[0])
