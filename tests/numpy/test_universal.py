"""Every universal function of NumPy, with every method, against NumPy's."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors

UFUNCS = sorted(
    name
    for name, u in vars(numpy).items()
    if isinstance(u, numpy.ufunc) and u.__name__ == name and name != "isnat"
)
FOLDS = [n for n in UFUNCS if numpy.__dict__[n].nin == 2 and numpy.__dict__[n].nout == 1]
FOLDS = [n for n in FOLDS if numpy.__dict__[n].signature is None]
X = numpy.asarray([[1.5, -2.0, 0.5], [3.0, numpy.nan, 2.0]], numpy.float32)
I = numpy.asarray([[6, 3, 2], [5, 1, 4]], numpy.int32)
B = numpy.asarray([[1, 0, 1], [1, 1, 1]], bool)
EMPTY = numpy.zeros((0, 3), numpy.float32)
NARROW = {"int64": "int32", "float64": "float32", "complex128": "complex64", "uint64": "uint32"}
BUILT_IN = (TypeError, ValueError, IndexError, RuntimeError)


def same(ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    """Equal values and dtypes (32 bits wide), or an error of the same built-in class."""
    try:
        with numpy.errstate(all="ignore"):
            wanted = numpy.asarray(theirs())
    except Exception as error:
        classes = tuple(c for c in BUILT_IN if isinstance(error, c))
        with pytest.raises(classes):
            ours()
        return
    found = ours()
    name = str(wanted.dtype)
    if name not in ("float16", "int8"):  # small integers are computed in the default float
        assert str(found.dtype) == NARROW.get(name, name)
    numpy.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-5)


def skipped(name: str, x: Any) -> bool:
    """NumPy's ldexp folds floats of integers; division by zero gives integers of its own."""
    division = ("floor_divide", "fmod", "remainder")
    return name == "ldexp" or (x.dtype == bool and name in division)


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("x", [X, I, B, EMPTY], ids=["float", "int", "bool", "empty"])
def test_folds(name: str, x: Any) -> None:
    if skipped(name, x):
        return
    f, g = getattr(np, name), getattr(numpy, name)
    same(lambda: f.reduce(x), lambda: g.reduce(x))
    same(lambda: f.reduce(x, None, keepdims=True), lambda: g.reduce(x, None, keepdims=True))
    same(lambda: f.accumulate(x, 1), lambda: g.accumulate(x, 1))
    same(lambda: f.reduceat(x, [0, 2, 1], 1), lambda: g.reduceat(x, [0, 2, 1], 1))
    if x is I:
        mask = numpy.asarray([[True, False, True]])
        same(lambda: f.reduce(x, 1, initial=1), lambda: g.reduce(x, 1, initial=1))
        same(lambda: f.reduce(x, 1, where=mask), lambda: g.reduce(x, 1, where=mask))
        same(lambda: f.outer(x, x[0]), lambda: g.outer(x, x[0]))


def updated(g: numpy.ufunc, x: Any) -> Any:
    y = x.copy()
    g.at(y, ([0, 0, 1], [1, 1, 2]), x[0])
    return y


@pytest.mark.parametrize("name", [n for n in FOLDS if n != "ldexp"])
def test_at(name: str) -> None:
    f, g = getattr(np, name), getattr(numpy, name)
    for x in (X, I):
        same(
            lambda x=x: f.at(x, ([0, 0, 1], [1, 1, 2]), x[0], inplace=False),
            lambda x=x: updated(g, x),
        )


@pytest.mark.parametrize("name", UFUNCS)
def test_attributes_and_options(name: str) -> None:
    f, g = getattr(np, name), getattr(numpy, name)
    assert isinstance(f, np.ufunc) and f.__name__ == name
    assert (f.nin, f.nout, f.nargs) == (g.nin, g.nout, g.nargs)
    assert f.identity == g.identity and f.signature == g.signature
    assert f.ntypes == len(f.types) > 0 and set(f.types) <= set(g.types)
    assert pickle.loads(pickle.dumps(f)) is f
    if g.signature is not None or g.nout > 1:
        return
    args = (I,) * g.nin
    for dtype in ("f4", "?"):
        if (name, dtype) != ("reciprocal", "?"):
            same(lambda: f(*args, dtype=dtype), lambda: g(*args, dtype=dtype))  # noqa: B023
    wanted = f(*args)
    found = f(*args, None, where=True, order="K", subok=True)
    numpy.testing.assert_array_equal(found, wanted)
    with pytest.raises(errors.ArgumentError, match="where= without out="):
        f(*args, where=I > 0)
    for call in (lambda: f(*args, out=I), lambda: f(), lambda: f(*args, unknown=1)):
        with pytest.raises(errors.ArgumentError):
            call()


def test_errors_of_methods() -> None:
    calls: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
        ("sin", "reduce", (X,), {}),
        ("sin", "outer", (X, X), {}),
        ("matmul", "reduce", (X,), {}),
        ("matmul", "accumulate", (X,), {}),
        ("matmul", "outer", (X, X), {}),
        ("divmod", "reduce", (X,), {}),
        ("add", "reduce", (X,), {"axis": 2}),
        ("add", "accumulate", (5,), {}),
        ("add", "accumulate", (X,), {"axis": (0, 1)}),
        ("add", "accumulate", (X,), {"axis": None}),
        ("add", "reduceat", (X, [5]), {}),
        ("add", "reduceat", (X, [-1]), {}),
        ("subtract", "reduce", (EMPTY,), {}),
        ("maximum", "reduce", (X,), {"where": X > 0}),
        ("less", "reduce", (X,), {}),
    ]
    for name, method, args, options in calls:
        same(
            lambda: getattr(getattr(np, name), method)(*args, **options),  # noqa: B023
            lambda: getattr(getattr(numpy, name), method)(*args, **options),  # noqa: B023
        )


def test_axes_of_products() -> None:
    a, b = numpy.random.default_rng(0).normal(size=(2, 3, 4, 4)).astype("f4")
    for options in ({"axes": [(0, 1), (1, 2), (0, 2)]}, {"axes": [(-2, -1), (-2, -1), (-1, -2)]}):
        same(lambda: np.matmul(a, b, **options), lambda: numpy.matmul(a, b, **options))  # noqa: B023
    for options in ({"axis": 0}, {"axis": 1, "keepdims": True}, {"axes": [0, 1]}, {"axes": [0]}):
        same(lambda: np.vecdot(a, b, **options), lambda: numpy.vecdot(a, b, **options))  # noqa: B023
    same(
        lambda: np.matvec(a, b, axes=[(0, 1), 2, 0]),
        lambda: numpy.matvec(a, b, axes=[(0, 1), 2, 0]),
    )
    same(lambda: np.matmul(a, b, axis=0), lambda: numpy.matmul(a, b, axis=0))
    assert np.matmul(a, b, precision="highest").shape == (3, 4, 4)


def test_under_transformations() -> None:
    assert nl.grad(lambda x: np.add.reduce(np.sin(x)))(numpy.ones(3, "f4")).shape == (3,)
    numpy.testing.assert_allclose(nl.jit(np.fmax.reduce)(X), numpy.fmax.reduce(X), rtol=1e-6)
    assert nl.vmap(np.hypot)(X, X).shape == (2, 3)
    f = nl.jit(lambda x: np.add(x, 1, dtype="int32", casting="unsafe"))
    assert f(X[:1]).tolist() == [[2, -1, 1]]
