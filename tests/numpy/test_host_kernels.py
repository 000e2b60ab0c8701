"""NumPy's kernels in eager calls: the same values as the compiled program, and when they run."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.api import host_program, library

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the kernels that ran."""
    found: list[str] = []
    answer = host_program.answer

    def counted(program: Any, arguments: Any) -> Any:
        found.append(program.name)
        return answer(program, arguments)

    monkeypatch.setattr(host_program, "answer", counted)
    return found


def values(dtype: str, shape: tuple[int, ...]) -> numpy.ndarray:
    """Ties, and for floats NaN of both signs, infinities and zeros of both signs."""
    rng = numpy.random.default_rng(0)
    v = rng.integers(-20, 20, shape)
    if dtype == "bool":
        return v > 0
    if dtype in ("int64", "uint64"):
        wide = rng.integers(0, 2**62, shape)
        return numpy.where(v > 0, wide, wide.flat[0]).astype(dtype)
    x = v.astype(dtype)
    if x.dtype.kind in "fc":
        for value, where in ((-0.0, 0), (0.0, 1), (numpy.nan, 7), (-numpy.nan, 9), (numpy.inf, 5)):
            x[v == where] = value
    if x.dtype.kind == "c":
        x.imag[v == 3] = numpy.nan
        x.imag[v == 4] = -1
    return x


def same(a: Any, b: Any) -> None:
    """Equal types, values and signs of zeros."""
    assert a.type == b.type
    assert a.placement is b.placement
    x, y = numpy.asarray(a), numpy.asarray(b)
    numpy.testing.assert_array_equal(x, y)
    if x.dtype.kind == "c":
        x, y = x.view(x.real.dtype), y.view(y.real.dtype)
    if x.dtype.kind == "f":
        number = ~numpy.isnan(x)
        numpy.testing.assert_array_equal(numpy.signbit(x)[number], numpy.signbit(y)[number])


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float16", "float32", "complex64"])
def test_orders_are_those_of_the_program(dtype: str, runs: list[str]) -> None:
    with nl.enable_x64(True):
        x = np.array(values(dtype, (13, 9, 15)))
        for function in (np.sort, np.argsort):
            for options in (
                {"axis": None},
                {"descending": True},
                {"axis": -2, "kind": "stable"},
            ):
                compiled = nl.jit(lambda x, f=function, o=options: f(x, **o))
                same(function(x, **options), compiled(x))
        keys = (x, np.flip(x, 0))
        same(np.lexsort(keys), nl.jit(np.lexsort)(keys))
    assert runs == ["sort"] * 3 + ["argsort"] * 3 + ["_lexsort"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_and_differences_are_those_of_the_program(dtype: str, runs: list[str]) -> None:
    with nl.enable_x64(True):
        x = np.array(values(dtype, (60, 80)))
        for f in (np.argmax, np.argmin):
            for options in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}):
                same(f(x, **options), nl.jit(lambda x, f=f, o=options: f(x, **o))(x))
        for axis in (0, -1):
            same(np.diff(x, axis=axis), nl.jit(lambda x, a=axis: np.diff(x, axis=a))(x))
    assert runs.count("diff") == 2
    assert ("argmax" in runs) == ("argmin" in runs) == (dtype[0] != "c" and dtype != "float16")


@pytest.mark.parametrize("dtype", ["int32", "float32", "float16"])
def test_partitions(dtype: str) -> None:
    x = values(dtype, (60, 80))
    for axis, k in ((0, 7), (-1, (3, -2)), (None, 100)):
        numpy.testing.assert_array_equal(
            np.partition(np.array(x), k, axis), numpy.partition(x, k, axis)
        )
        order = np.argpartition(np.array(x), k, axis)
        taken = np.take_along_axis(np.array(x), order, axis)
        places = list(k) if isinstance(k, tuple) else [k]
        expected = numpy.sort(x, axis)
        at = (slice(None), places) if axis == -1 else places
        numpy.testing.assert_array_equal(numpy.asarray(taken)[at], expected[at])


def test_partition_takes_places_as_the_program_does() -> None:
    x = values("float32", (40, 30))
    for kth in (True, (), numpy.int64(3), [2, True]):
        for size in (5, 40):  # below and above what a kernel is for
            found = numpy.asarray(np.partition(np.array(x[:size]), kth))
            numpy.testing.assert_array_equal(numpy.sort(found), numpy.sort(x[:size]))
            order = np.argpartition(np.array(x[:size]), kth)
            assert numpy.asarray(order).shape == (size, 30)
            for k in kth if isinstance(kth, (tuple, list)) else [kth]:
                numpy.testing.assert_array_equal(found[:, int(k)], numpy.sort(x[:size])[:, int(k)])


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("dtype", DTYPES[:11])
def test_unique(dtype: str, equal_nan: bool) -> None:
    with nl.enable_x64(True):
        x = values(dtype, (60, 80))
        found = np.unique(np.array(x), return_counts=True, equal_nan=equal_nan)
        expected = numpy.unique(x, return_counts=True, equal_nan=equal_nan)
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype
            numpy.testing.assert_array_equal(a, b)
        numpy.testing.assert_array_equal(np.unique(np.array(x), equal_nan=equal_nan), expected[0])


def test_no_program_is_compiled(runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "compile_graph", None)  # a call would fail
    x = np.array(values("float32", (170, 59)))
    np.sort(x), np.argsort(x), np.partition(x, 3), np.argmax(x), np.diff(x)
    assert runs == ["sort", "argsort", "partition", "argmax", "diff"]


def test_programs_run_for_tracers_flags_and_other_dtypes(runs: list[str]) -> None:
    x = np.array(values("float32", (700,)))
    nl.jit(np.sort)(x), nl.vmap(np.sort)(x.reshape(7, 100)), nl.make_jaxpr(np.sort)(x)
    nl.grad(lambda x: np.sort(x)[3])(x), nl.linearize(np.sort, x)
    np.sort(x.astype("bfloat16"))
    with nl.disable_jit():
        np.sort(x)
    with nl.debug_nans(True):
        np.sort(np.nan_to_num(x))
    assert not runs


def test_arguments_are_not_written_to_and_results_are_their_own(runs: list[str]) -> None:
    h = values("int32", (5000,))
    x = np.asarray(h)
    y = np.sort(x)
    z = np.sort(y)
    numpy.testing.assert_array_equal(x, values("int32", (5000,)))
    y.delete()
    numpy.testing.assert_array_equal(z, numpy.sort(h))
    assert runs == ["sort", "sort"]


def test_deleted_arguments_and_wrong_options_raise_as_ever() -> None:
    x = np.arange(5000.0)
    np.sort(x)
    x.delete()
    with pytest.raises(errors.DeletedBufferError):
        np.sort(x)
    with pytest.raises(errors.AxisError):
        np.sort(np.arange(5000.0), 1)
    with pytest.raises(ValueError, match="kind"):
        np.sort(np.arange(5000.0), kind="quick")


def test_weak_types_and_committed_devices_stay() -> None:
    x = nl.device_put(np.arange(5000.0), nl.devices()[0])
    assert np.sort(x).committed
    weak = np.arange(5000) * 0 + 1.5
    assert np.sort(weak).type == nl.jit(np.sort)(weak).type


REDUCTIONS = (np.max, np.min, np.ptp, np.all, np.any, np.count_nonzero)


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32"])
@pytest.mark.parametrize("function", REDUCTIONS)
def test_reductions_are_those_of_the_program(function: Any, dtype: str) -> None:
    if function is np.ptp and dtype == "bool":
        return
    x = values(dtype, (9, 30, 40))
    if dtype == "float32":
        x[3] = numpy.where(values("int32", (30, 40)) > 0, -0.0, 0.0)
        x[5] = abs(x[5])
    numbers = numpy.nan_to_num(x)
    cases = [np.array(v) for v in (x, numbers, numpy.minimum(numbers, 0).astype(dtype))]
    for options in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}):
        compiled = nl.jit(lambda x: function(x, **options))  # noqa: B023
        for a in cases:
            same(function(a, **options), compiled(a))


@pytest.mark.parametrize("dtype", ["int32", "float16", "float32", "float64"])
def test_quantiles_are_those_of_the_program(dtype: str, runs: list[str]) -> None:
    with nl.enable_x64(dtype == "float64"):
        x = values(dtype, (90, 101))
        cases = [x]
        if dtype != "int32":
            numbers = numpy.nan_to_num(x, posinf=3).astype(dtype)
            cases = [x, numbers, numpy.where(numbers > 0, -0.0, 0.0).astype(dtype)]
        for function in (
            lambda x: np.percentile(x, 33.3, method="nearest"),
            lambda x: np.quantile(x, 0.5, axis=0, keepdims=True),
            lambda x: np.median(x, -1),
        ):
            compiled = nl.jit(function)
            for host in cases:
                a = np.array(host)
                same(function(a), compiled(a))
        assert {"median", "percentile", "quantile"} <= set(runs) or dtype != "float32"


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32"])
@pytest.mark.parametrize("equal_nan", [True, False])
def test_unique_with_places(dtype: str, equal_nan: bool) -> None:
    for shape in ((60, 80), (7,), (0,)):
        x = values(dtype, shape)
        found = np.unique(np.array(x), True, True, True, equal_nan=equal_nan)
        expected = numpy.unique(x, True, True, True, equal_nan=equal_nan)
        for a, b in zip(found, expected, strict=True):
            numpy.testing.assert_array_equal(a, b)
            if b.dtype.kind == "f":
                number = ~numpy.isnan(b)
                numpy.testing.assert_array_equal(
                    numpy.signbit(numpy.asarray(a))[number], numpy.signbit(b)[number]
                )


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_searches_are_those_of_the_program(dtype: str, runs: list[str]) -> None:
    v, a = np.array(values(dtype, (1024, 513))), np.array(numpy.sort(values(dtype, (70000,))))
    for side in ("left", "right"):
        same(np.searchsorted(a, v, side), nl.jit(lambda a, v: np.searchsorted(a, v, side))(a, v))  # noqa: B023
    some = a[1000:] if dtype == "float32" else a[:500]
    for invert in (False, True):
        compiled = nl.jit(lambda v, y: np.isin(v, y, invert=invert))  # noqa: B023
        same(np.isin(v, some, invert=invert), compiled(v, some))
    assert runs == ["_searchsorted"] * 2 + ["_isin"] * 2


def test_indices_of_many_elements() -> None:
    x = values("float32", (300, 200))
    for a, b in zip(np.nonzero(np.array(x > 0)), numpy.nonzero(x > 0), strict=True):
        assert a.dtype == "int32"
        numpy.testing.assert_array_equal(a, b)
