"""Shapes, joining, padding, moving elements: against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors

X = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
I = (X * 7 % 11).astype("i4")
MASK = X % 3 == 0


def same(found: Any, wanted: Any) -> None:
    """Same tree of arrays: shapes, kinds and values."""
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for f, w in zip(found, wanted, strict=True):
            same(f, w)
        return
    wanted = numpy.asarray(wanted)
    assert found.shape == wanted.shape
    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-5, atol=1e-5)


SAME_NAME: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda m: m.reshape(X, (4, -1)),
    "reshape F": lambda m: m.reshape(X, (4, -1), order="F"),
    "reshape int": lambda m: m.reshape(X, 24),
    "ravel": lambda m: m.ravel(X),
    "ravel F": lambda m: m.ravel(X, order="F"),
    "transpose": lambda m: m.transpose(X),
    "transpose axes": lambda m: m.transpose(X, (1, -1, 0)),
    "matrix_transpose": lambda m: m.matrix_transpose(X),
    "permute_dims": lambda m: m.permute_dims(X, (2, 0, 1)),
    "moveaxis": lambda m: m.moveaxis(X, 0, -1),
    "moveaxis many": lambda m: m.moveaxis(X, (0, 1), (-1, 0)),
    "rollaxis": lambda m: m.rollaxis(X, 2, 1),
    "rollaxis end": lambda m: m.rollaxis(X, 0, 3),
    "swapaxes": lambda m: m.swapaxes(X, 0, -1),
    "expand_dims": lambda m: m.expand_dims(X, (0, -1)),
    "squeeze": lambda m: m.squeeze(X[:1, :, :1]),
    "squeeze axis": lambda m: m.squeeze(X[:1, :, :1], axis=-1),
    "broadcast_to": lambda m: m.broadcast_to(X[:, :1], (5, 2, 3, 4)),
    "broadcast_arrays": lambda m: list(m.broadcast_arrays(X[:, :1], X[0])),
    "atleast_1d": lambda m: m.atleast_1d(numpy.float32(3)),
    "atleast_2d": lambda m: list(m.atleast_2d(X[0, 0], X)),
    "atleast_3d": lambda m: m.atleast_3d(X[0, 0]),
    "atleast_3d matrix": lambda m: m.atleast_3d(X[0]),
    "flip": lambda m: m.flip(X),
    "flip axes": lambda m: m.flip(X, (0, -1)),
    "fliplr": lambda m: m.fliplr(X),
    "flipud": lambda m: m.flipud(X),
    "rot90": lambda m: [m.rot90(X, k, (2, 0)) for k in range(-1, 4)],
    "roll": lambda m: m.roll(X, 5),
    "roll axis": lambda m: m.roll(X, -1, 1),
    "roll axes": lambda m: m.roll(X, (1, 2), (0, 1)),
    "roll twice": lambda m: m.roll(X, (1, 2), 1),
    "tile": lambda m: m.tile(X, (2, 1, 3)),
    "tile more": lambda m: m.tile(X, (2, 1, 1, 2)),
    "tile zero": lambda m: m.tile(X, 0),
    "repeat": lambda m: m.repeat(X, 2),
    "repeat axis": lambda m: m.repeat(X, 3, 1),
    "repeat array": lambda m: m.repeat(X, numpy.array([1, 0, 5]), 1),
    "resize": lambda m: m.resize(X, (5, 7)),
    "resize less": lambda m: m.resize(X, (3,)),
    "trim_zeros": lambda m: m.trim_zeros(numpy.array([0, 1, 0, 2, 0])),
    "trim_zeros front": lambda m: m.trim_zeros(numpy.array([0, 1, 0, 2, 0]), "f"),
    "trim_zeros all": lambda m: m.trim_zeros(numpy.zeros(3)),
    "concatenate": lambda m: m.concatenate([X, X[:, :1]], 1),
    "concatenate flat": lambda m: m.concatenate([X, X[0]], axis=None),
    "concatenate rows": lambda m: m.concatenate(X, 1),
    "concat": lambda m: m.concat([X, X], axis=-1),
    "stack": lambda m: m.stack([X, I], -1),
    "stack rows": lambda m: m.stack(X, 1),
    "vstack": lambda m: m.vstack([X[0, 0], X[0]]),
    "hstack": lambda m: m.hstack([X[0], X[1, :, :1]]),
    "hstack vectors": lambda m: m.hstack([X[0, 0], X[0, 1]]),
    "dstack": lambda m: m.dstack([X[0], X[1]]),
    "column_stack": lambda m: m.column_stack([X[0], X[0, :, 0]]),
    "block": lambda m: m.block([[X[0], numpy.ones((3, 1))], [numpy.ones((1, 5))]]),
    "array_split": lambda m: list(m.array_split(X, 3, -1)),
    "split": lambda m: list(m.split(X, 2, -1)),
    "split at": lambda m: list(m.split(X, [1, 3], -1)),
    "split odd places": lambda m: list(m.split(X, [3, 1, -1, 9], -1)),
    "hsplit": lambda m: list(m.hsplit(X, 3)),
    "vsplit": lambda m: list(m.vsplit(X, 2)),
    "dsplit": lambda m: list(m.dsplit(X, [1])),
    "append": lambda m: m.append(X, X[0]),
    "append axis": lambda m: m.append(X, X, 1),
    "insert": lambda m: m.insert(X, 1, 9),
    "insert many": lambda m: m.insert(X, [1, 1, 0], [7, 8, 9]),
    "insert row": lambda m: m.insert(X, 1, numpy.arange(4), 1),
    "insert slice": lambda m: m.insert(X, slice(1, 3), [1.0, 2.0], 2),
    "insert mask": lambda m: m.insert(X, numpy.array([True, False, True]), 3, 1),
    "delete": lambda m: m.delete(X, 1),
    "delete many": lambda m: m.delete(X, [0, 2], 1),
    "delete slice": lambda m: m.delete(X, slice(0, 2), -1),
    "delete mask": lambda m: m.delete(X, numpy.array([True, False, True]), 1),
    "packbits": lambda m: [m.packbits(MASK, a, o) for a in (None, 1) for o in ("big", "little")],
    "unpackbits": lambda m: [
        m.unpackbits(numpy.arange(6, dtype="u1"), count=c) for c in (None, 5, -3, 60)
    ],
    "choose": lambda m: m.choose(I[0] % 3, [X[0], X[0, :1], numpy.float32(7)]),
    "choose wrap": lambda m: m.choose(I[0] - 5, [X[0], X[1]], mode="wrap"),
    "choose clip": lambda m: m.choose(I[0] - 5, [X[0], X[1]], mode="clip"),
    "r_": lambda m: m.r_[1:3, 5, X[0, 0]],
    "r_ points": lambda m: m.r_[0:1:5j],
    "r_ directive": lambda m: m.r_["0,3,0", X[0]],
    "c_": lambda m: m.c_[X[0, 0], X[0, 1]],
    "apply_along_axis": lambda m: m.apply_along_axis(lambda v: m.outer(v, v), 1, X),
    "apply_over_axes": lambda m: m.apply_over_axes(lambda a, i: m.flip(a, i), X, (0, 2)),
    "diff": lambda m: m.diff(X * X, 2, 1),
    "diff bool": lambda m: m.diff(MASK),
    "diff ends": lambda m: m.diff(X, prepend=0, append=X),
    "ediff1d": lambda m: m.ediff1d(X, [1, 2], 3),
    "gradient": lambda m: list(m.gradient(X * X)),
    "gradient second": lambda m: m.gradient(X * X, 2.0, axis=1, edge_order=2),
    "gradient points": lambda m: m.gradient(X * X, numpy.array([0, 1, 3, 7.0]), axis=2),
    "trapezoid": lambda m: m.trapezoid(X * X, dx=2, axis=1),
    "trapezoid points": lambda m: m.trapezoid(X * X, numpy.array([0, 1, 5]), axis=1),
}


@pytest.mark.parametrize("name", SAME_NAME)
def test_as_numpy(name: str) -> None:
    if name == "matrix_transpose" and not hasattr(numpy, "matrix_transpose"):
        pytest.skip("an older NumPy")
    same(SAME_NAME[name](np), SAME_NAME[name](numpy))


WIDTHS = [2, (1, 2), ((1, 0), (0, 2), (1, 1)), ((5, 7), (8, 6), (9, 9))]
MODES: list[dict[str, Any]] = [
    {"mode": "constant"},
    {"mode": "constant", "constant_values": ((3, 4), (5, 6), (7, 8))},
    {"mode": "edge"},
    {"mode": "linear_ramp", "end_values": 3},
    {"mode": "maximum"},
    {"mode": "minimum", "stat_length": 2},
    {"mode": "mean"},
    {"mode": "median", "stat_length": (1, 2)},
    {"mode": "reflect"},
    {"mode": "reflect", "reflect_type": "odd"},
    {"mode": "symmetric"},
    {"mode": "symmetric", "reflect_type": "odd"},
    {"mode": "wrap"},
]


@pytest.mark.parametrize("how", MODES, ids=str)
@pytest.mark.parametrize("x", [X * X, I], ids=["float", "int"])
def test_pad(how: dict[str, Any], x: Any) -> None:
    for width in WIDTHS[2:] if x is I else WIDTHS[1::2]:
        same(np.pad(x, width, **how), numpy.pad(x, width, **how))


def test_pad_by_function() -> None:
    def fill(v: Any, width: Any, axis: int, options: Any) -> Any:
        return v.at[: width[0]].set(options["with"])

    def fill_numpy(v: Any, width: Any, axis: int, options: Any) -> None:
        v[: width[0]] = options["with"]

    same(np.pad(X, (1, 0), fill, **{"with": 7}), numpy.pad(X, (1, 0), fill_numpy, **{"with": 7}))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "bfloat16", "complex64"])
def test_dtypes_are_kept(dtype: str) -> None:
    x = np.asarray(X).astype(dtype)
    for y in (
        np.roll(x, 1), np.tile(x, 2), np.repeat(x, 2, 0), np.concatenate([x, x]), np.pad(x, 1),
        np.stack([x, x]), np.flip(x), np.insert(x, 0, 1), np.resize(x, (3,)), np.pad(x, 1, "edge"),
    ):  # fmt: skip
        assert y.dtype == x.dtype


def test_traced_shifts_repeats_and_positions() -> None:
    same(nl.jit(lambda x, s: np.roll(x, s, 1))(X, -2), numpy.roll(X, -2, 1))
    same(
        nl.jit(lambda x, s: np.roll(x, s, (0, 1)))(X, numpy.array([1, 5])),
        numpy.roll(X, (1, 5), (0, 1)),
    )
    repeat = nl.jit(lambda x, r: np.repeat(x, r, axis=1, total_repeat_length=6))
    same(repeat(X, numpy.array([1, 0, 5])), numpy.repeat(X, [1, 0, 5], 1))
    same(repeat(X, numpy.array([2, 0, 1])), numpy.repeat(X, [2, 0, 4], 1))
    same(nl.jit(lambda x, i: np.delete(x, i, 1))(X, -1), numpy.delete(X, -1, 1))
    unique = nl.jit(lambda x, i: np.delete(x, i, 2, assume_unique_indices=True))
    same(unique(X, numpy.array([3, 0])), numpy.delete(X, [3, 0], 2))


def test_place() -> None:
    wanted = X.copy()
    numpy.place(wanted, MASK, [1, 2, 3])
    same(np.place(X, MASK, [1, 2, 3], inplace=False), wanted)
    with pytest.raises(ValueError, match="immutable"):
        np.place(X, MASK, [1])


def test_derivatives_reach_every_source() -> None:
    for f in (
        lambda x: np.pad(x, 3, "reflect", reflect_type="odd"),
        lambda x: np.pad(x, 2, "linear_ramp"),
        lambda x: np.repeat(x, numpy.array([1, 2, 0, 3])),
        lambda x: np.roll(x, 2),
        lambda x: np.insert(x, 1, x[0]),
        lambda x: np.gradient(x),
        lambda x: np.trapezoid(x, x * x),
    ):
        x = np.asarray(X[0, 0])
        primal, push = nl.linearize(f, x)
        rows = np.stack([push(e) for e in np.eye(4)])
        same(nl.jacrev(f)(x), numpy.moveaxis(numpy.asarray(rows), 0, -1))
        same(nl.vmap(f)(np.stack([x, 2 * x]))[1], f(2 * x))


def test_vectorize() -> None:
    f = np.vectorize(np.dot, signature="(n),(n)->()")
    a, b = numpy.ones((5, 1, 3), "f4"), numpy.ones((2, 3), "f4")
    same(f(a, b), numpy.full((5, 2), 3.0))
    same(nl.jit(f)(a, b), numpy.full((5, 2), 3.0))
    g = np.vectorize(lambda x, y, power=1: x * y**power, excluded={"power"})
    same(g(numpy.ones((5, 1)), numpy.full(3, 2.0), power=3), numpy.full((5, 3), 8.0))
    with pytest.raises(ValueError, match="core axis 'n'"):
        f(numpy.ones(3), numpy.ones(4))
    with pytest.raises(ValueError, match="signature"):
        np.vectorize(np.dot, signature="n,n->")


WRONG: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "reshape": (lambda: np.reshape(X, (5, 5)), ValueError),
    "reshape -1": (lambda: np.reshape(X, (5, -1)), ValueError),
    "reshape order": (lambda: np.reshape(X, 24, order="Q"), ValueError),
    "transpose": (lambda: np.transpose(X, (0, 1)), ValueError),
    "transpose twice": (lambda: np.transpose(X, (0, 1, 1)), ValueError),
    "squeeze": (lambda: np.squeeze(X, 0), ValueError),
    "axis": (lambda: np.swapaxes(X, 0, 3), IndexError),
    "broadcast_to": (lambda: np.broadcast_to(X, (3, 3, 4)), ValueError),
    "concatenate": (lambda: np.concatenate([X, X[0]]), ValueError),
    "concatenate nothing": (lambda: np.concatenate([]), ValueError),
    "concatenate scalars": (lambda: np.concatenate([1, 2]), ValueError),
    "stack": (lambda: np.stack([X, X[0]]), ValueError),
    "split": (lambda: np.split(X, 5, -1), ValueError),
    "insert": (lambda: np.insert(X, 9, 0, axis=0), IndexError),
    "delete": (lambda: np.delete(X, 9, axis=0), IndexError),
    "pad": (lambda: np.pad(X, -1), ValueError),
    "pad mode": (lambda: np.pad(X, 1, "mirror"), ValueError),
    "pad option": (lambda: np.pad(X, 1, "edge", stat_length=2), ValueError),
    "repeat": (lambda: np.repeat(X, numpy.array([1, 2]), 1), ValueError),
    "repeat traced": (lambda: nl.jit(lambda r: np.repeat(X, r, 1))(numpy.ones(3, int)), TypeError),
    "choose": (lambda: np.choose(I, [X, X]), ValueError),
    "tile": (lambda: np.tile(X, -1), ValueError),
    "atleast": (lambda: np.vsplit(X[0, 0], 2), ValueError),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_teach(name: str) -> None:
    call, kind = WRONG[name]
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, errors.NumliftError)
    assert ": " in str(caught.value)


@pytest.mark.parametrize("shape", [(-1, 3), -3])
def test_broadcast_to_negative_size(shape):
    with pytest.raises(errors.ShapeError, match="broadcast_to"):
        np.broadcast_to(np.ones((1, 3)), shape)
