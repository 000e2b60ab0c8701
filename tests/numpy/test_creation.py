"""Creation of arrays: values and dtypes against NumPy, options, errors."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors

NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32"}


def same(found: Any, wanted: Any, rtol: float = 1e-6) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b, rtol)
        return
    wanted = numpy.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype.name == NARROW.get(wanted.dtype.name, wanted.dtype.name)
    numpy.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-6)


VALUES: list[Any] = [
    1, 2.5, True, 1 + 2j, [], [1, 2], [1, 2.5], [True, 2], [[1, 2], [3, 4]], [1.0, 1j], (1, 2),
    numpy.arange(3), numpy.float64(3), numpy.ones((2, 0)), [numpy.arange(2), [3, 4]], range(3),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_array_equals_numpy(value: Any) -> None:
    same(np.array(value), numpy.array(value))
    same(np.asarray(value), numpy.asarray(value))


def test_dtypes_of_mixed_lists() -> None:
    assert np.array([numpy.int8(3), 1]).dtype == "int8"
    assert np.array([np.float32(1), 2]).dtype == "float32"
    assert np.array([np.asarray(1, dtype="bfloat16"), 2.5]).dtype == "bfloat16"
    assert np.array(1.0).weak_type and not np.array([1.0]).weak_type
    assert not np.array(1.0, dtype=float).weak_type


def test_lists_of_traced_values() -> None:
    def f(x: Any) -> Any:
        return (np.array([[x, 1.0], [2.0, x * x]]) * np.asarray([1.0, 3.0])).sum()

    assert float(nl.grad(f)(2.0)) == 13.0
    assert float(nl.jit(f)(2.0)) == f(2.0) == 19.0
    assert nl.vmap(lambda x: np.array([x, 0.0]))(np.arange(3.0)).shape == (3, 2)


def test_array_options() -> None:
    x = np.asarray([1.5, 2.5])
    assert np.asarray(x) is x and np.array(x, copy=False) is x and np.array(x) is not x
    assert np.asarray(x, copy=False) is x
    assert np.array([1, 2], ndmin=3).shape == (1, 1, 2)
    assert np.array(x, dtype="int8").tolist() == [1, 2]
    assert np.asarray([1], device=nl.devices()[0]).devices() == {nl.devices()[0]}
    assert np.asarray(numpy.zeros(2, ml_dtypes.bfloat16)).dtype == "bfloat16"
    for call in (
        lambda: np.array([1.0], order="Z"),
        lambda: np.asarray([1.0], copy=False),
        lambda: np.array(None),
        lambda: np.array([1, None]),
        lambda: np.array([[1, 2], [3]]),
    ):
        with pytest.raises(errors.ValueArgumentError):
            call()
    for bad in ("a", {1: 2}, ["a"], object()):
        with pytest.raises(TypeError):
            np.array(bad)
    with pytest.raises(OverflowError):
        np.array(2**40)
    with pytest.raises(OverflowError):
        np.int8(300)


def test_objects_that_convert_themselves() -> None:
    class Old:
        def __array__(self, dtype: Any = None, copy: Any = None) -> numpy.ndarray:
            return numpy.asarray([1, 2])

    class New:
        def __jax_array__(self) -> Any:
            return np.asarray([3.0])

    assert np.asarray(Old()).tolist() == [1, 2]
    assert np.asarray(New()).tolist() == [3.0]
    assert (np.asarray([1.0]) + New()).tolist() == [4.0]


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_filled_arrays(name: str) -> None:
    make = getattr(np, name)
    value = 1 if name == "ones" else 0
    for shape in (3, (2, 3), [2, 0], (), numpy.asarray([2, 2]), numpy.int64(2)):
        found = make(shape)
        assert found.dtype == "float32" and bool((numpy.asarray(found) == value).all())
        assert found.shape == numpy.zeros(shape).shape
    assert make(2, "bfloat16").dtype == "bfloat16" and make(2, bool).dtype == "bool"
    assert make((300, 300), int).dtype == "int32"  # too large to be filled by NumPy
    assert nl.jit(lambda: make((2, 2)))().shape == (2, 2)
    for bad in (-1, (2, -3)):
        with pytest.raises(ValueError, match="negative"):
            make(bad)
    for bad_type in (2.5, "a", None):
        with pytest.raises(TypeError):
            make(bad_type)
    with pytest.raises(errors.TracerIntegerConversionError):
        nl.jit(make)(3)


def test_full_and_likes() -> None:
    same(np.full((2, 2), 7), numpy.full((2, 2), 7))
    same(np.full((2, 2), [1.0, 2.0]), numpy.full((2, 2), [1.0, 2.0]))
    assert np.full(2, 1.0).weak_type and not np.full(2, 1.0, float).weak_type
    x = np.asarray([1, 2])
    same(np.full_like(x, 2.5), numpy.full_like(numpy.asarray([1, 2]), 2.5))
    assert np.zeros_like(x).dtype == "int32" and np.ones_like(x, float).dtype == "float32"
    assert np.ones_like(x, shape=(2, 3)).shape == (2, 3)
    assert np.zeros_like(nl.ShapeDtypeStruct((2,), "int8")).dtype == "int8"
    assert np.zeros_like(2.0).weak_type
    assert np.zeros_like([1, 2]).tolist() == [0, 0]
    assert nl.grad(lambda v: np.full((2, 2), v).sum())(1.0) == 4.0
    with pytest.raises(errors.ShapeError):
        np.full((2,), numpy.ones(3))


ARANGE: list[tuple[Any, ...]] = [
    (5,), (5.0,), (1, 5, 2), (0, 1, 0.25), (5, 1, -2), (0,), (2.5,), (3, 1), (0, 10, 3),
    (-1.0, 1.0, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("args", ARANGE, ids=repr)
def test_arange(args: tuple[Any, ...]) -> None:
    wanted = numpy.arange(*args)
    same(np.arange(*args), wanted)
    same(nl.jit(lambda: np.arange(*args))(), wanted)


def test_arange_options_and_errors() -> None:
    assert np.arange(3, dtype="int8").dtype == "int8"
    assert np.arange(3, dtype="bfloat16").tolist() == [0.0, 1.0, 2.0]
    assert np.arange(np.asarray(3)).tolist() == [0, 1, 2]
    assert np.arange(100_000)[-1] == 99_999
    with pytest.raises(ZeroDivisionError):
        np.arange(0, 5, 0)
    with pytest.raises(errors.ConcretizationTypeError, match="stop must be known"):
        nl.jit(np.arange)(3)
    with pytest.raises(TypeError):
        np.arange("a")


def test_arange_of_complex_dtype() -> None:
    wanted = numpy.arange(1, 4, 2, dtype="complex64")
    same(np.arange(1, 4, 2, dtype=complex), wanted)
    same(nl.jit(lambda: np.arange(1, 4, 2, dtype=complex))(), wanted)
    for stop in (3j, numpy.complex64(3), np.asarray(3j)):
        with pytest.raises(ValueError, match="complex numbers have no order"):
            np.arange(stop)


@pytest.mark.parametrize("stop", [numpy.nan, numpy.inf])
def test_arange_without_length(stop: float) -> None:
    with pytest.raises(errors.ValueArgumentError, match="is not finite"):
        np.arange(stop)


def test_fortran_arrays_have_an_axis() -> None:
    same(np.asfortranarray(1.5), numpy.asfortranarray(numpy.float32(1.5)))


SPACES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("linspace", (0, 1, 5), {}), ("linspace", (0, 10, 5), {"dtype": int}),
    ("linspace", (0, 1, 5), {"endpoint": False, "retstep": True}), ("linspace", (2, 3, 1), {}),
    ("linspace", (0, 1, 0), {}), ("linspace", ([1, 2], [3.0, 5.0], 4), {"axis": -1}),
    ("linspace", (0, 1j, 3), {}), ("linspace", (-3, 3), {}), ("linspace", (3, -3, 7), {}),
    ("logspace", (0, 2, 5), {}), ("logspace", (0, 3, 4), {"base": 2.0, "endpoint": False}),
    ("geomspace", (1, 256, 9), {}), ("geomspace", (-1, -1000, 4), {}),
    ("geomspace", (1000, 1, 4), {"endpoint": False}), ("geomspace", ([1, 2], [8, 16], 4), {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "options"), SPACES)
def test_spaced_numbers(name: str, args: Any, options: dict[str, Any]) -> None:
    same(getattr(np, name)(*args, **options), getattr(numpy, name)(*args, **options), 3e-6)


def test_spaced_numbers_are_exact_at_the_ends_and_differentiable() -> None:
    x = np.linspace(0.1, 0.7, 7)
    assert x[0] == numpy.float32(0.1) and x[-1] == numpy.float32(0.7)
    g = nl.grad(lambda a, b: np.linspace(a, b, 3)[1], (0, 1))(1.0, 2.0)
    assert [float(v) for v in g] == [0.5, 0.5]
    assert float(np.linspace(0, 1, 1, endpoint=False, retstep=True)[1]) == 1.0
    assert numpy.isnan(float(np.linspace(0, 1, 1, retstep=True)[1]))
    with pytest.raises(ValueError, match="negative"):
        np.linspace(0, 1, -1)


MATRICES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("eye", (3,), {}), ("eye", (2, 3), {"k": 1, "dtype": int}), ("eye", (3, 2), {"k": -1}),
    ("identity", (2,), {}), ("tri", (2, 3), {}), ("tri", (3,), {"k": -1, "dtype": int}),
    ("tril", (numpy.arange(6.0).reshape(2, 3),), {}),
    ("triu", (numpy.arange(12).reshape(2, 2, 3),), {"k": 1}),
    ("diag", (numpy.arange(3),), {}), ("diag", (numpy.arange(3),), {"k": -2}),
    ("diag", (numpy.arange(3),), {"k": 1}), ("diag", (numpy.arange(6).reshape(2, 3),), {}),
    ("diag", (numpy.arange(6).reshape(2, 3),), {"k": 2}),
    ("diag", (numpy.arange(6).reshape(2, 3),), {"k": -5}),
    ("diagonal", (numpy.arange(24).reshape(2, 3, 4),), {"offset": 1, "axis1": 2, "axis2": 0}),
    ("diagonal", (numpy.arange(24).reshape(2, 3, 4),), {"offset": -1}),
    ("diagflat", ([[1, 2], [3, 4]],), {"k": 1}), ("vander", ([2.0, 3.0],), {"N": 4}),
    ("vander", ([2, 3],), {"increasing": True}), ("vander", ([0.0, 3.0],), {}),
    ("tril_indices", (3,), {"k": 1, "m": 4}), ("triu_indices", (3,), {}),
    ("diag_indices", (3,), {"ndim": 3}), ("indices", ((2, 3),), {}),
    ("indices", ((2, 3),), {"sparse": True}), ("meshgrid", ([1, 2], [3.0, 4.0, 5.0]), {}),
    ("meshgrid", ([1, 2], [3, 4, 5], [6]), {"indexing": "ij", "sparse": True}),
    ("meshgrid", ([1, 2], 3), {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "options"), MATRICES)
def test_matrices_and_grids(name: str, args: Any, options: dict[str, Any]) -> None:
    wanted = getattr(numpy, name)(*args, **options)
    same(getattr(np, name)(*args, **options), wanted)


def test_fill_diagonal() -> None:
    for shape in ((3, 3), (2, 4), (5, 2), (2, 2, 2)):
        for wrap in (False, True):
            for value in (9.0, [1.0, 2.0, 3.0]):
                wanted = numpy.zeros(shape, numpy.float32)
                numpy.fill_diagonal(wanted, value, wrap)
                same(np.fill_diagonal(np.zeros(shape), value, wrap, inplace=False), wanted)
    with pytest.raises(errors.ImmutableArrayError):
        np.fill_diagonal(np.zeros((2, 2)), 1)
    with pytest.raises(errors.ShapeError, match="val must not be empty"):
        np.fill_diagonal(np.zeros((2, 2)), np.zeros(0), inplace=False)


def test_diagonals_differentiate_and_batch() -> None:
    x = np.arange(12.0).reshape(3, 4)
    g = nl.grad(lambda m: (np.diagonal(m, 1) * np.asarray([1.0, 2.0, 3.0])).sum())(x)
    same(g, numpy.diag([1.0, 2.0, 3.0], 1)[:3])
    batch = np.arange(24.0).reshape(2, 3, 4)
    same(nl.vmap(np.diag)(batch), numpy.diagonal(numpy.asarray(batch), 0, 1, 2))
    same(nl.vmap(np.diag)(x), numpy.stack([numpy.diag(r) for r in numpy.asarray(x)]))
    assert nl.jit(lambda k: np.eye(2, k=k))(1).tolist() == [[0.0, 1.0], [0.0, 0.0]]
    same(np.triu(np.ones(3)), numpy.triu(numpy.ones(3)))  # broadcast to a square


def test_mgrid_and_ogrid() -> None:
    same(np.mgrid[0:3, 0:1:3j], numpy.mgrid[0:3, 0:1:3j])
    same(np.ogrid[0:3, 0:2], list(numpy.ogrid[0:3, 0:2]))
    same(np.mgrid[0:4:2], numpy.mgrid[0:4:2])
    with pytest.raises(TypeError):
        np.mgrid[1]


def test_fromfunction() -> None:
    same(
        np.fromfunction(lambda i, j: i * 2 + j, (2, 3)),
        numpy.fromfunction(lambda i, j: i * 2 + j, (2, 3)),
    )
    assert np.fromfunction(lambda i, j: 1.0, (2, 3), dtype=int).shape == (2, 3)


def test_from_memory_and_text(tmp_path: Path) -> None:
    assert np.frombuffer(b"abc", "uint8").tolist() == [97, 98, 99]
    assert np.fromstring("1 2", dtype=int, sep=" ").tolist() == [1, 2]
    assert np.fromiter(iter([1, 2]), float).dtype == "float32"
    numpy.asarray([1.0, 2.0]).tofile(tmp_path / "x")
    assert np.fromfile(tmp_path / "x").tolist() == [1.0, 2.0]
    assert np.from_dlpack(numpy.arange(3.0, dtype="f4")).tolist() == [0.0, 1.0, 2.0]


def test_save_and_load() -> None:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    file.seek(0)
    assert np.load(file).tolist() == [0, 1, 2]
    file = io.BytesIO()
    np.savez(file, np.arange(2), b=np.ones(2))
    file.seek(0)
    assert set(np.load(file).files) == {"arr_0", "b"}
    file = io.BytesIO()
    numpy.save(file, numpy.zeros(2, "V1"))
    file.seek(0)
    with pytest.raises(TypeError, match="view"):
        np.load(file)


def test_dtypes_as_functions_and_questions() -> None:
    assert np.float32(3).dtype == "float32" and np.bfloat16([1, 2]).shape == (2,)
    assert isinstance(np.ones(2), np.ndarray)
    nl.jit(lambda x: [None, x][isinstance(x, np.ndarray)])(1.0)
    assert np.result_type(np.ones(2, "int8"), 1.5) == "float32"
    assert np.promote_types("int32", "float16") == "float16"
    assert np.can_cast("int32", "float64") and not np.can_cast(np.ones(2), "int8")
    assert np.issubdtype(np.bfloat16, np.floating) and np.iinfo("int8").max == 127
    assert np.shape([[1, 2]]) == (1, 2) and np.ndim(1.0) == 0 and np.size(np.ones((2, 3)), 1) == 3
    assert np.isscalar(1) and not np.isscalar(np.ones(1)) and not np.iterable(1)
    assert np.array_repr(np.ones(2)) == "Array([1., 1.], dtype=float32)"
    assert np.array_str(np.ones(2), precision=1) == "[1. 1.]"
    assert np.e == numpy.e and np.newaxis is None


def test_x64(enable_x64: None) -> None:
    assert np.zeros(2).dtype == "float64" and np.arange(2).dtype == "int64"
    assert np.linspace(0, 1, 3).dtype == "float64" and np.array([1.0]).dtype == "float64"
    assert np.eye(2).dtype == "float64" and np.tril_indices(2)[0].dtype == "int64"


def test_explicit_64_bits_warn_when_truncated() -> None:
    with pytest.warns(UserWarning, match="truncated"):
        assert np.zeros(2, "float64").dtype == "float32"


KEYS = nl.random.split(nl.random.key(0), 3)


@pytest.mark.parametrize(
    "make, word",
    [
        (lambda: np.zeros_like(KEYS), 0),
        (lambda: np.ones_like(KEYS), 1),
        (lambda: np.empty_like(KEYS), 0),
        (lambda: np.full_like(KEYS, 7), 7),
        (lambda: np.zeros(3, KEYS.dtype), 0),
        (lambda: np.empty(3, KEYS.dtype), 0),
        (lambda: np.ones(3, KEYS.dtype), 1),
        (lambda: np.full(3, 7, KEYS.dtype), 7),
        (lambda: nl.vmap(np.zeros_like)(KEYS), 0),
        (lambda: nl.jit(lambda k: nl.lax.full_like(k, 7))(KEYS), 7),
        (lambda: nl.lax.full((3,), 7, KEYS.dtype), 7),
        (lambda: nl.lax.empty((3,), KEYS.dtype), 0),
        (lambda: np.zeros_like(nl.ShapeDtypeStruct((3,), KEYS.dtype)), 0),
    ],
)
def test_arrays_of_keys_are_filled_in_their_words(make: Any, word: int) -> None:
    made = make()
    assert made.dtype == KEYS.dtype and made.shape == (3,)
    assert (nl.random.key_data(made) == word).all()


def test_keys_fill_arrays_of_keys() -> None:
    for made in (np.full_like(KEYS, KEYS[1]), nl.lax.full_like(KEYS, KEYS[1])):
        assert (nl.random.key_data(made) == nl.random.key_data(KEYS[1])).all()
    with pytest.raises(errors.DTypeError, match="keys"):
        np.pad(KEYS, 1)
    assert np.pad(KEYS, 1, mode="edge").shape == (5,)


def test_a_step_of_zero() -> None:
    for step in (0, 0.0):
        with pytest.raises(ZeroDivisionError, match="arange: step is 0"):
            np.arange(1, 5, step)


def test_full_of_bools_is_not_weak():
    assert not np.full(2, False).weak_type and np.full(2, 1).weak_type
