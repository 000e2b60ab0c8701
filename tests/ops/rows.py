"""Programs and comparisons shared by the properties of the samples table."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy

from numlift.api.autodiff import jvp, vjp
from numlift.api.jit import jit
from numlift.api.tracing import trace_function
from numlift.api.vmap import vmap
from numlift.config import replace
from numlift.core.dtypes import as_dtype
from numlift.core.graph import Graph
from numlift.core.tracing import type_of
from numlift.core.types import dtype_kind
from numlift.tree import tree_flatten, tree_leaves
from tests import samples
from tests.samples import Sample

BATCH = 3
FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""Options for programs that run once: they need not run fast."""
WIDE = frozenset(("float64", "complex128", "int64", "uint64"))
TOLERANCE = {
    "float8_e5m2": 0.13,
    "float8_e4m3fn": 0.07,
    "float8_e4m3b11fnuz": 0.07,
    "bfloat16": 1.6e-2,
    "float16": 2e-3,
    "float32": 1e-5,
    "float64": 1e-11,
    "complex64": 1e-5,
    "complex128": 1e-11,
}
DERIVATIVE_TOLERANCE = {
    "bfloat16": 6e-2,
    "float16": 1e-2,
    "float32": 2e-4,
    "complex64": 2e-4,
    "float64": 1e-6,
    "complex128": 1e-6,
}


def all_rows() -> list[Sample]:
    """Every row of every file of `tests/samples`, in order of file names."""
    found: list[Sample] = []
    for module in pkgutil.iter_modules(samples.__path__):
        found += importlib.import_module(f"tests.samples.{module.name}").SAMPLES
    return found


def scope(dtype: str) -> AbstractContextManager[Any]:
    """64-bit types are on for the dtypes that need them."""
    return replace(enable_x64=True) if dtype in WIDE else nullcontext()


def seed_of(*parts: Any) -> numpy.random.Generator:
    """A generator that depends on the row only, not on the order of tests."""
    return numpy.random.default_rng(zlib.crc32(repr(parts).encode()))


def derivative_dtype(row: Sample, kind: str) -> str | None:
    """The most precise dtype of a kind ("f" or "c") that the row has."""
    wanted = ("float64", "float32") if kind == "f" else ("complex128", "complex64")
    return next((d for d in wanted if d in row.dtypes), None)


def derivative_dtypes(row: Sample) -> list[str]:
    """Dtypes in which the derivatives of a row are compared with finite differences."""
    if not row.differentiable:
        return []
    kinds = "fc" if row.complex_derivative else "f"
    return [d for d in (derivative_dtype(row, k) for k in kinds) if d is not None]


class Case:
    """One row at one dtype: its arguments and the compiled programs that properties share.

    Attributes:
        args: the arguments, as NumPy arrays.
        batch: further draws of the arguments.
    """

    def __init__(self, row: Sample, dtype: str):
        self.row, self.dtype, self.name = row, dtype, f"{row.name} in {dtype}"
        generator = seed_of(row.name, dtype)
        draws = [row.inputs(generator, as_dtype(dtype)) for _ in range(BATCH)]
        self.args, self.batch = draws[0], draws
        self.value = jit(lambda *args: tuple(tree_leaves(row.function(*args))))
        self.first = jit(self._first, compiler_options=FAST)
        self.second = jit(self._second, compiler_options=FAST)

    @property
    def tolerance(self) -> float:
        """Relative tolerance of values."""
        return self.row.tolerances.get(self.dtype, TOLERANCE.get(self.dtype, 0.0))

    @property
    def derivative_tolerance(self) -> float:
        """Relative tolerance of derivatives."""
        return max(DERIVATIVE_TOLERANCE[self.dtype], 10 * self.row.tolerances.get(self.dtype, 0.0))

    def chosen(self, args: Sequence[Any]) -> list[Any]:
        """The arguments that have a derivative."""
        return [args[i] for i in self.row.differentiable]

    def inexact(self, args: Sequence[Any]) -> Callable[..., list[Any]]:
        """The inexact results as a function of the differentiable arguments."""

        def function(*chosen: Any) -> list[Any]:
            full = list(args)
            for place, x in zip(self.row.differentiable, chosen, strict=True):
                full[place] = x
            leaves = tree_leaves(self.row.function(*full))
            return [y for y in leaves if type_of(y).inexact]

        return function

    def _first(self, args: Any, dxs: Any, cts: Any) -> Any:
        """Values, J dx and (if there is a reverse mode) ct J."""
        function, chosen = self.inexact(args), self.chosen(args)
        ys, dys = jvp(function, tuple(chosen), tuple(dxs))
        return ys, dys, self.pull(function, chosen, cts) if self.row.transposable else ()

    def pull(
        self, function: Callable[..., Any], chosen: Sequence[Any], cts: Any
    ) -> tuple[Any, ...]:
        """ct J."""
        return vjp(function, *chosen)[1](list(cts))

    def _second(self, args: Any, dxs: Any, cts: Any) -> Any:
        """The derivative of x -> ct J(x) along dx, forward and reverse."""
        function, chosen = self.inexact(args), self.chosen(args)

        def gradient(*xs: Any) -> Any:
            return self.pull(function, xs, cts)

        forward = jvp(gradient, tuple(chosen), tuple(dxs))[1]
        return forward, vjp(gradient, *chosen)[1](tuple(dxs))

    @functools.cached_property
    def directions(self) -> list[numpy.ndarray]:
        """One tangent a differentiable argument."""
        return [normal(("dx", self.row.name, i), x) for i, x in enumerate(self.chosen(self.args))]

    @functools.cached_property
    def outputs(self) -> list[numpy.ndarray]:
        """The results, as NumPy arrays."""
        together = values_together(self.row, self.dtype in WIDE)
        return as_numpy(together.get(self.dtype) or self.value(*self.args))

    @functools.cached_property
    def cotangents(self) -> list[numpy.ndarray]:
        """One cotangent an inexact result."""
        inexact = [y for y in self.outputs if dtype_kind(y.dtype) in "fc"]
        return [normal(("ct", self.row.name, i), y) for i, y in enumerate(inexact)]

    @functools.cached_property
    def derivative(self) -> tuple[Any, Any, Any]:
        """Values, J dx and ct J, as NumPy arrays."""
        return as_numpy(self.first(self.args, self.directions, self.cotangents))

    def moved(self, step: float) -> list[Any]:
        """The arguments moved along the directions."""
        args = list(self.args)
        for place, dx in zip(self.row.differentiable, self.directions, strict=True):
            args[place] = (args[place] + step * dx).astype(args[place].dtype)
        return args

    def graph(self) -> tuple[Graph, int]:
        """The traced row and the number of captured values, its leading inputs."""
        tree = tree_flatten((tuple(self.args), {}))[1]
        types = [type_of(x) for x in self.args]
        traced = trace_function(self.row.function, tree, types)
        return traced.graph, len(traced.captured)


_cases: dict[tuple[str, str], Case] = {}
_LIMIT = 40


def case(row: Sample, dtype: str) -> Case:
    """The case of a row and a dtype; properties that run one after the other share it."""
    key = (row.name, dtype)
    found = _cases.get(key)
    if found is None:
        if len(_cases) >= _LIMIT:
            _cases.pop(next(iter(_cases)))
        found = _cases[key] = Case(row, dtype)
    return found


_together: dict[tuple[str, bool], dict[str, Any]] = {}


def values_together(row: Sample, is_wide: bool) -> dict[str, Any]:
    """Results in all narrow (or wide) dtypes of a row, from one program: compiling is what costs.

    Empty if some dtype fails: the tests of the single dtypes then show which and how.
    """
    key = (row.name, is_wide)
    found = _together.get(key)
    if found is None:
        dtypes = [d for d in row.dtypes if (d in WIDE) == is_wide]
        many = {d: case(row, d).args for d in dtypes}

        @jit
        def every(many: dict[str, Any]) -> dict[str, Any]:
            return {d: tuple(tree_leaves(row.function(*args))) for d, args in many.items()}

        try:
            found = every(many)
        except Exception:
            found = {}
        if len(_together) >= 4:
            _together.pop(next(iter(_together)))
        _together[key] = found
    return found


def normal(key: Any, like: Any) -> numpy.ndarray:
    """Normal numbers of the shape and dtype of `like` (complex if it is)."""
    generator = seed_of(key)
    x = generator.normal(size=like.shape)
    if dtype_kind(like.dtype) == "c":
        x = x + 1j * generator.normal(size=like.shape)
    return numpy.asarray(x).astype(like.dtype)


def as_numpy(tree: Any) -> Any:
    """A nested tuple of arrays as NumPy arrays."""
    if isinstance(tree, (tuple, list)):
        return [as_numpy(x) for x in tree]
    return numpy.asarray(tree)


def wide(x: Any) -> numpy.ndarray:
    """Float and complex numbers in double precision; others as they are."""
    x = numpy.asarray(x)
    kind = dtype_kind(x.dtype)
    if kind in "fc":
        return x.astype(numpy.complex128 if kind == "c" else numpy.float64)
    return x


def close(found: Any, expected: Any, tolerance: float, what: str) -> None:
    """Compare with a tolerance relative to the largest finite entry; integers exactly."""
    found = numpy.asarray(found)
    expected = numpy.asarray(expected)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, not {expected.shape}"
    kind = dtype_kind(found.dtype)
    with numpy.errstate(all="ignore"):
        expected = expected.astype(found.dtype)
    if kind not in "fc":
        same = numpy.array_equal(found.astype(numpy.int64), expected.astype(numpy.int64))
        assert same, f"{what}: {found!r}, not {expected!r}"
        return
    found, expected = wide(found), wide(expected)
    finite = numpy.abs(expected[numpy.isfinite(expected)])
    scale = finite.max() if finite.size else 0.0
    numpy.testing.assert_allclose(
        found, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True, err_msg=what
    )


def all_close(found: Sequence[Any], expected: Sequence[Any], tolerance: float, what: str) -> None:
    """`close` for lists."""
    assert len(found) == len(expected), f"{what}: {len(found)} results, not {len(expected)}"
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        close(a, b, tolerance, f"{what}, result {i}")


def difference(function: Callable[[float], list[Any]], dtype: str) -> list[numpy.ndarray]:
    """Derivative at 0 by central differences of fourth order."""
    step = 2e-4 if dtype in WIDE else 2e-2
    near = zip(function(step), function(-step), strict=True)
    far = zip(function(2 * step), function(-2 * step), strict=True)
    return [
        (8 * (wide(a) - wide(b)) - (wide(c) - wide(d))) / (12 * step)
        for (a, b), (c, d) in zip(near, far, strict=True)
    ]


def check_difference(
    found: Sequence[Any], function: Callable[[float], list[Any]], one: Case, what: str
) -> None:
    """Compare a derivative with finite differences of `function`."""
    tolerance = one.derivative_tolerance if one.dtype in WIDE else 5e-2
    expected = difference(function, one.dtype)
    values = function(0.0)
    assert len(found) == len(expected), what
    for i, (a, b, y) in enumerate(zip(found, expected, values, strict=True)):
        a = wide(a)
        assert a.shape == b.shape, f"{what}, result {i}: shape {a.shape}, not {b.shape}"
        size = max((float(numpy.abs(z).max()) for z in (b, wide(y)) if z.size), default=0.0)
        numpy.testing.assert_allclose(
            a, b, rtol=tolerance, atol=tolerance * size, err_msg=f"{what}, result {i}"
        )


def inner(a: Sequence[Any], b: Sequence[Any]) -> float:
    """Real part of the sum of products."""
    return float(sum(numpy.sum(wide(x) * wide(y)).real for x, y in zip(a, b, strict=True)))


def batch_axes(row: Sample, args: Sequence[Any]) -> list[tuple[int | None, ...]]:
    """`in_axes` to try: all at the first axis, all at the last, and each argument alone."""
    places = [
        i
        for i in (range(len(args)) if row.vmappable is None else row.vmappable)
        if isinstance(args[i], (numpy.ndarray, numpy.generic))
    ]

    def axes(chosen: dict[int, int]) -> tuple[int | None, ...]:
        return tuple(chosen.get(i) for i in range(len(args)))

    found = [axes(dict.fromkeys(places, 0)), axes(dict.fromkeys(places, -1))]
    if len(places) > 1:
        found += [axes({i: min(1, numpy.ndim(args[i])) if i % 2 else 0}) for i in places]
    return list(dict.fromkeys(found)) if places else []


def stacked(batch: Sequence[Sequence[Any]], axes: Sequence[int | None]) -> list[Any]:
    """Arguments for `vmap`: draws stacked where there is an axis."""
    return [
        batch[0][i] if axis is None else numpy.stack([draw[i] for draw in batch], axis)
        for i, axis in enumerate(axes)
    ]


def examples(batch: Sequence[Sequence[Any]], axes: Sequence[int | None]) -> list[list[Any]]:
    """Arguments of the loop that `vmap` replaces."""
    return [
        [batch[0][i] if axis is None else draw[i] for i, axis in enumerate(axes)] for draw in batch
    ]


def batched(function: Callable[..., Any], axes: Sequence[tuple[int | None, ...]]) -> Any:
    """One program for all variants of in_axes; the second puts results at the last axis."""

    def run(many: Sequence[Sequence[Any]]) -> list[Any]:
        return [
            vmap(function, in_axes=a, out_axes=-1 if i == 1 else 0)(*args)
            for i, (a, args) in enumerate(zip(axes, many, strict=True))
        ]

    return jit(run, compiler_options=FAST)
