"""Bad calls raise an error that is also of the class that NumPy raises for the same call."""

from __future__ import annotations

import warnings
from itertools import groupby
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift.errors import NumliftError

A = numpy.arange(6.0).reshape(2, 3)
V = numpy.arange(3)
S = numpy.eye(3)
BUILT_IN = (
    TypeError, ValueError, IndexError, RuntimeError, ZeroDivisionError, OverflowError, KeyError,
    AttributeError, numpy.exceptions.AxisError, numpy.linalg.LinAlgError,
)  # fmt: skip


def call(name: str, *args: Any, **options: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """One bad call."""
    return name, args, options


# fmt: off
CALLS = [
    call("sum", A, axis=2), call("sum", A, axis=(0, 0)), call("sum", A, axis=1.5),
    call("sum", A, "x"), call("mean", A, axis=-3), call("max", numpy.zeros((0, 3))),
    call("max", numpy.zeros((0, 3)), axis=0), call("argmax", numpy.zeros(0)),
    call("argmin", A, axis=5), call("min", A, where=A>1), call("cumsum", A, axis=2),
    call("cumprod", A, axis=2), call("sort", A, axis=2), call("sort", A, kind="foo"),
    call("argsort", A, axis=-3), call("partition", V, 5), call("partition", V, 1, kind="foo"),
    call("argpartition", V, -4), call("reshape", A, (4, 2)), call("reshape", A, (-1, -1)),
    call("reshape", A, (4, -1)), call("reshape", A, (2, 3), order="Z"), call("reshape", A, "ab"),
    call("ravel", A, order="Z"), call("transpose", A, (0, 0)), call("transpose", A, (0, )),
    call("transpose", A, (0, 2)), call("moveaxis", A, 0, 2), call("moveaxis", A, (0, 1), 0),
    call("moveaxis", A, (0, 0), (0, 1)), call("swapaxes", A, 0, 2), call("rollaxis", A, 3),
    call("squeeze", A, 0), call("squeeze", A, 2), call("expand_dims", A, 4),
    call("expand_dims", A, (0, 0)), call("broadcast_to", A, (3, 2)),
    call("broadcast_to", A, (3, )), call("broadcast_arrays", A, numpy.ones(2)),
    call("broadcast_shapes", (2, ), (3, )), call("concatenate", [A, V]), call("concatenate", []),
    call("concatenate", [A, A], axis=2), call("concatenate", [1, 2]),
    call("concatenate", A, axis=3), call("concatenate", 5), call("stack", [A, V]),
    call("stack", []), call("stack", [A, A], axis=4), call("vstack", [A, numpy.ones(2)]),
    call("hstack", [A, V]), call("dstack", [A, V]), call("column_stack", [A, numpy.ones(3)]),
    call("block", []), call("block", [[A], [numpy.ones((1, 2))]]), call("split", A, 4),
    call("split", A, 2, axis=3), call("split", V, 2), call("array_split", V, 0),
    call("hsplit", numpy.float64(1), 2), call("vsplit", V, 2), call("dsplit", A, 2),
    call("dot", A, A), call("dot", A, numpy.ones(2)), call("matmul", A, A), call("matmul", A, 1.0),
    call("inner", A, numpy.ones(2)), call("vdot", A, V), call("tensordot", A, A, 1),
    call("tensordot", A, A, ((0, ), (1, ))), call("tensordot", A, A, ((0, 1), (1, ))),
    call("kron", A), call("cross", A, numpy.ones((2, 4))),
    call("cross", numpy.ones(4), numpy.ones(4)), call("trace", V),
    call("trace", A, axis1=0, axis2=0), call("diagonal", A, axis1=3),
    call("diagonal", A, axis1=1, axis2=1), call("diagonal", V), call("einsum", "ij, jk", A, A),
    call("einsum", "ij", V), call("einsum", "ij->k", A), call("einsum", "i$", V),
    call("einsum", "i, j", V), call("diag", numpy.ones((2, 2, 2))), call("eye", -1),
    call("eye", 2.5), call("tril", V), call("vander", A), call("diagflat"),
    call("diag_indices_from", A), call("diag_indices_from", V), call("tril_indices_from", V),
    call("zeros", -1), call("zeros", (2, -1)), call("zeros", "a"), call("zeros", 2.5),
    call("ones", (2, "a")), call("full", (2, ), [1, 2, 3]), call("full", -2, 1),
    call("zeros", 2, dtype="foo"), call("array", [[1], [1, 2]]), call("array", [1], dtype="foo"),
    call("array", 300, dtype="int8"), call("array", [-1], dtype="uint8"),
    call("asarray", [1], copy=False), call("array", [1], order="Z"), call("array", [[1]], ndmax=1),
    call("arange"), call("arange", 1, 5, 0), call("arange", 0, 10, dtype="bool"),
    call("linspace", 0, 1, -1), call("linspace", 0, 1, 2.5), call("linspace", 0, 1, "a"),
    call("logspace", 0, 1, -1), call("take", A, 5, axis=2), call("take", V, 0, mode="foo"),
    call("take_along_axis", A, numpy.zeros(2, int), 1), call("choose", [0, 5], [V, V]),
    call("choose", 0.5, [V]), call("compress", [True], A, axis=2),
    call("compress", A>1, A, axis=0), call("delete", V, 5), call("delete", A, 0, axis=3),
    call("delete", V, 0.5), call("insert", V, 5, 1), call("insert", A, 0, 1, axis=3),
    call("append", A, V, axis=0), call("append", A, A, axis=3), call("repeat", V, -1),
    call("repeat", V, [1, 2]), call("repeat", A, 2, axis=2), call("tile", V, -1),
    call("tile", V, 1.5), call("roll", A, 1, axis=2), call("roll", A, (1, 2), axis=(0, 1, 1)),
    call("rot90", V), call("rot90", A, axes=(0, 0)), call("rot90", A, axes=(0, 2)),
    call("flip", A, 2), call("fliplr", V), call("flipud", numpy.float64(1)), call("resize", V, -1),
    call("pad", V, (1, 2, 3)), call("pad", V, -1), call("pad", V, 1, mode="foo"),
    call("pad", V, 1, mode="constant", foo=1), call("pad", numpy.zeros(0), 1, mode="edge"),
    call("pad", V, 1.5), call("trim_zeros", V, "x"), call("where", A>1, A),
    call("where", A>1, A, numpy.ones(2)), call("select", [A>1], [A, A]), call("select", [], []),
    call("piecewise", V, [V>1], [1, 2, 3]), call("clip"), call("interp", 1.0, V, numpy.ones(2)),
    call("interp", 1.0, [], []), call("interp", 1.0, V, V, period=0), call("unwrap", A, axis=2),
    call("gradient", numpy.ones(1)), call("gradient", V, edge_order=3), call("gradient", V, 1, 2),
    call("gradient", numpy.ones(2), edge_order=2), call("gradient", A, axis=2),
    call("diff", V, -1), call("diff", A, axis=2), call("diff", numpy.float64(1)), call("ediff1d"),
    call("trapezoid", A, axis=2), call("trapezoid", V, numpy.ones(5)), call("convolve", V, []),
    call("convolve", V, V, "foo"), call("convolve", A, V), call("correlate", V, A),
    call("correlate", V, V, "foo"), call("histogram", V, 0), call("histogram", V, [1, 0]),
    call("histogram", V, -1), call("histogram", V, range=(1, 0)),
    call("histogram", V, 2, weights=numpy.ones(5)), call("histogram", V, "foo"),
    call("histogram", V, range=(0, numpy.inf)), call("histogram", V, [[1]]),
    call("histogram2d", V, numpy.ones(5)), call("histogramdd", V.reshape(3, 1), bins=[1, 2]),
    call("bincount", [-1]), call("bincount", A.astype(int)), call("bincount", V, minlength=-1),
    call("bincount", V, numpy.ones(5)), call("digitize", 1j, V), call("digitize", V, A),
    call("searchsorted", A, 1), call("searchsorted", V, 1, side="foo"), call("percentile", V, 101),
    call("percentile", V, -1), call("quantile", V, 2), call("quantile", V, .5, method="foo"),
    call("quantile", A, .5, axis=2), call("median", A, axis=2),
    call("average", V, weights=numpy.ones(5)), call("average", A, weights=numpy.ones(5)),
    call("average", A, weights=V), call("cov", numpy.ones((2, 2, 2))), call("cov", V, ddof=1.5),
    call("cov", V, fweights=[1.5, 1, 1]), call("corrcoef", numpy.ones((2, 2, 2))),
    call("var", A, axis=2), call("std", A, axis=3), call("nanmax", A, axis=2), call("nanmin", []),
    call("count_nonzero", A, axis=2), call("ptp", []), call("unique", A, axis=2), call("isin"),
    call("union1d", V), call("unravel_index", 0.5, (2, )),
    call("unravel_index", 0, (2, ), order="Z"), call("ravel_multi_index", ([0.5], ), (2, )),
    call("ravel_multi_index", ([5], ), (2, )), call("ravel_multi_index", ([0], [0]), (2, )),
    call("ravel_multi_index", ([0], ), (2, ), mode="foo"), call("ix_", A),
    call("meshgrid", V, indexing="foo"), call("meshgrid", V, foo=1), call("packbits", [0.5]),
    call("packbits", [1], axis=2), call("unpackbits", [1]),
    call("unpackbits", numpy.uint8([1]), bitorder="foo"), call("apply_along_axis", abs, 3, A),
    call("apply_over_axes", numpy.sum, A, 3), call("vectorize", 3),
    call("vectorize", abs, signature="foo"), call("poly", numpy.ones((2, 3))),
    call("polyfit", V, V, -1), call("polyfit", V, numpy.ones(5), 1), call("polyfit", A, V, 1),
    call("polyfit", [], [], 1), call("polyder", V, -1), call("polyint", V, -1),
    call("polydiv", V, [0.0]), call("roots", A), call("polyval"), call("lexsort", 1),
    call("lexsort", []), call("can_cast", "i4", "foo"), call("can_cast", "i4", "i8", "foo"),
    call("result_type"), call("promote_types", "i4", "foo"), call("finfo", "i4"),
    call("iinfo", "f4"), call("dtype", "foo"), call("sin", "a"), call("sin", None),
    call("sin", [1, "b"]), call("add", A, numpy.ones(2)), call("add", 1), call("negative", A>1),
    call("subtract", A>1, A>1), call("sign", A>1), call("left_shift", A, 1),
    call("bitwise_and", A, 1), call("invert", A), call("gcd", A, 1), call("floor_divide", 1j, 2),
    call("maximum", "a", 1), call("hypot", 1j, 1), call("cbrt", 1j), call("floor", 1j),
    call("ceil", 1j), call("heaviside", 1j, 1), call("power", 2, -1), call("power", V, -1),
    call("ldexp", 1.0, 0.5), call("frexp", 1j), call("modf", 1j), call("isposinf", 1j),
    call("nextafter", 1j, 1), call("copysign", 1j, 1), call("fmod", 1j, 1), call("deg2rad", 1j),
    call("fabs", 1j), call("signbit", 1j), call("spacing", 1j), call("rint", "a"),
    call("round", A, 1.5), call("round", "a"), call("allclose", A, numpy.ones(2)),
    call("isclose", A, numpy.ones(2)), call("i0", 1j), call("sinc", "a"), call("bartlett", "a"),
    call("linalg.inv", A), call("linalg.inv", V), call("linalg.det", A), call("linalg.det", V),
    call("linalg.slogdet", A), call("linalg.solve", A, V), call("linalg.solve", S, numpy.ones(2)),
    call("linalg.cholesky", A), call("linalg.cholesky", V), call("linalg.eig", A),
    call("linalg.eigh", A), call("linalg.eigvals", V), call("linalg.eigvalsh", A),
    call("linalg.eigh", S, UPLO="Z"), call("linalg.svd", V), call("linalg.qr", V),
    call("linalg.qr", A, mode="foo"), call("linalg.pinv", V), call("linalg.matrix_power", A, 2),
    call("linalg.matrix_power", S, 1.5), call("linalg.matrix_power", V, 2),
    call("linalg.norm", A, "foo"), call("linalg.norm", V, "fro"),
    call("linalg.norm", A, axis=(0, 1, 2)), call("linalg.norm", numpy.ones((2, 2, 2)), 2),
    call("linalg.norm", A, axis=3), call("linalg.norm", A, 3, axis=(0, 1)),
    call("linalg.norm", A, axis=(0, 0)), call("linalg.lstsq", A, V),
    call("linalg.lstsq", numpy.ones((2, 2, 2)), V), call("linalg.cond", V),
    call("linalg.cond", []), call("linalg.multi_dot", [A]), call("linalg.multi_dot", [A, A]),
    call("linalg.tensorinv", A, ind=0), call("linalg.tensorsolve", A, V),
    call("linalg.cross", numpy.ones(2), numpy.ones(2)), call("linalg.vector_norm", A, axis=3),
    call("linalg.trace", V), call("linalg.diagonal", V), call("linalg.outer", A, V),
    call("linalg.matrix_transpose", V), call("linalg.tensorinv", numpy.ones((2, 3)), ind=1),
    call("fft.fft", V, 0), call("fft.fft", V, -1), call("fft.fft", V, norm="foo"),
    call("fft.fft", A, axis=2), call("fft.fft", numpy.float64(1)), call("fft.fft2", V),
    call("fft.fftn", A, axes=(0, 5)), call("fft.irfft", V, 0), call("fft.rfft", 1j*V),
    call("fft.hfft", V, 0), call("fft.fftfreq", 0.5), call("fft.fftfreq", 0),
    call("fft.rfftfreq", "a"), call("fft.fftshift", A, axes=3), call("fft.irfftn", A, s=(0, 2)),
    call("fft.fft", []), call("sin", [[1, 2], [3]]), call("add", [[1], [1, 2]], 1),
    call("digitize", [1.0, 2.0], [1.0, 3.0, 2.0]), call("digitize", 1.0, numpy.array([1, 3, 2])),
    call("geomspace", 0, 5, 3), call("geomspace", [1, 2], [3, 0]),
    call("select", [numpy.array([1, 0])], [V[:2]]), call("nanargmax", [numpy.nan, numpy.nan]),
    call("nanargmin", numpy.full((2, 3), numpy.nan), axis=1),
    call("average", V, weights=[1, -1, 0]), call("average", A, 0, weights=[1.0, -1.0]),
    call("average", A, 0, weights=[1.0, 2.0, 3.0]), call("arange", numpy.nan),
    call("einsum", "i,i", V, 0.5 * V, dtype="int32"), call("einsum", "i", V, order="Z"),
    call("einsum", "i", V, casting="foo", dtype="f4"),
    call("einsum", "i,i,i", V, V, V, optimize=1.5),
    call("sum", A, initial=1j), call("hstack", [V, V], casting="foo"), call("zeros", b"ab"),
    call("eye", b"ab"), call("ravel", A, order=3),
    call("packbits", [1], bitorder=3), call("sort", V, kind=3), call("sort", V, order="x"),
    call("interp", 1.0, V, V, period=1j), call("array", V, ndmin="a"), call("array", V, ndmin=65),
    call("fft.fft2", A, s=3), call("hanning", numpy.nan),
    call("zeros", 2, order=[1]), call("fft.fft", V, 1j), call("vectorize", abs, excluded=3),
]
# fmt: on
BY_NAME = {n: list(g) for n, g in groupby(sorted(CALLS, key=lambda c: c[0]), lambda c: c[0])}


def find(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


def classes_of_numpy(name: str, args: Any, options: Any) -> list[type] | None:
    """Built-in classes of NumPy's error; None if this version of NumPy accepts the call."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            find(numpy, name)(*args, **options)
    except Exception as error:
        return [c for c in BUILT_IN if isinstance(error, c)]
    return None


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: np.vecdot(x, x, axis=9), "vecdot"),
        (lambda x: np.nanmax(x, axis=9), "nanmax"),
        (lambda x: nl.jit(lambda y: np.nanmax(y, axis=9))(x), "nanmax"),
        (lambda x: np.allclose(x, np.ones(5)), "allclose"),
        (lambda x: np.maximum(np.int8(3), 300), "maximum"),
        (lambda x: np.add.reduce(x, axis=9), "add.reduce"),
        (lambda x: np.cov(x, ddof=(1, 2)), "cov"),
        (lambda x: nl.jit(lambda y: np.std(y, ddof="a"))(x), "std"),
        (lambda x: x.mean(axis=9), "mean"),
        (lambda x: np.linalg.svd(x, subset_by_index=()), "svd"),
        (lambda x: np.zeros(3, dtype="foo"), "zeros"),
    ],
)
def test_errors_name_the_function_that_was_called(call: Any, name: str) -> None:
    with pytest.raises(NumliftError, match=f"^{name}: "):
        call(np.ones((2, 3)))


def test_errors_of_the_users_functions_pass() -> None:
    with pytest.raises(ZeroDivisionError, match="^mine$"):
        np.apply_along_axis(fails, 0, np.ones((2, 3)))
    with pytest.raises(TypeError, match="^mine$"):
        np.fromfunction(lambda i: fails(i, TypeError), (3,))


def fails(x: Any, kind: type[Exception] = ZeroDivisionError) -> Any:
    raise kind("mine")


@pytest.mark.parametrize("number", [300, -300, 2**40, -(2**70)])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searches_for_integers_beyond_the_dtype(number: int, side: str) -> None:
    a = numpy.array([-128, 1, 127], "int8")
    wide = a.astype(object)
    assert np.searchsorted(np.asarray(a), number, side) == numpy.searchsorted(wide, number, side)
    assert np.digitize(number, np.asarray(a), side == "left") == (3 if number > 0 else 0)
    assert not np.isin(np.asarray(a), number).any()
    assert not np.isin(number, np.asarray(a))


def test_values_on_devices_are_not_looked_at() -> None:
    nan = np.full(2, np.nan)
    assert np.nanargmax(nan) == -1
    assert np.digitize(1.0, np.asarray([1.0, 3.0, 2.0])).shape == ()
    assert np.isnan(np.average(np.ones(2), weights=np.zeros(2)))
    assert np.isnan(np.geomspace(np.asarray(0.0), 5.0, 3)[1])


def test_einsum_computes_in_a_dtype() -> None:
    x = np.arange(6).reshape(2, 3)
    assert np.einsum("ij->i", x, dtype="float32", casting="unsafe").dtype == "float32"
    assert np.einsum("ij,ij", x, x, dtype=complex, order="F") == 55
    assert np.einsum("ij,", x, 2, dtype="float32", casting="unsafe").dtype == "float32"
    with pytest.raises(TypeError, match="cannot cast operand 1 to int32"):
        np.einsum("ij,", x, 2.5, dtype="int32")


@pytest.mark.parametrize("name", BY_NAME)
def test_classes_of_errors(name: str) -> None:
    for _, args, options in BY_NAME[name]:
        classes = classes_of_numpy(name, args, options)
        if classes is None:
            continue
        with pytest.raises(BUILT_IN) as found:
            find(np, name)(*args, **options)
        assert all(isinstance(found.value, c) for c in classes), (args, options, found.value)
