"""Functions of `lax` on shapes: what they return, and the errors they teach with."""

from __future__ import annotations

import numpy as np
import pytest

import numlift as nl
from numlift import errors, lax

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_results_are_arrays_even_where_nothing_changes() -> None:
    for out in (
        lax.reshape(X, (2, 3)),
        lax.transpose(X, (0, 1)),
        lax.broadcast_in_dim(X, (2, 3), (0, 1)),
        lax.squeeze(X, ()),
        lax.expand_dims(X, ()),
        lax.rev(X, ()),
        lax.concatenate([X], 0),
    ):
        assert isinstance(out, nl.Array)
        np.testing.assert_array_equal(out, X)


def test_an_array_that_needs_no_change_is_returned() -> None:
    x = nl.device_put(X)
    assert lax.reshape(x, (2, 3)) is x
    assert lax.squeeze(x, ()) is x


def test_concatenate_many_operands() -> None:
    pieces = [np.full((1, 2), i, np.int32) for i in range(300)]
    np.testing.assert_array_equal(lax.concatenate(pieces, 0), np.concatenate(pieces))


def test_python_numbers_take_the_operands_dtype() -> None:
    assert lax.pad(X, 1, [(1, 0, 0), (0, 0, 0)]).dtype == np.float32
    with pytest.raises(errors.DTypeError):
        lax.pad(np.arange(3), 1.5, [(1, 0, 0)])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: lax.reshape(X, (4, 2)), errors.ShapeError, "6 elements"),
        (lambda: lax.reshape(X, (-1, -1)), errors.ShapeError, "only one size"),
        (lambda: lax.reshape(X, (-1, 4)), errors.ShapeError, "no solution"),
        (lambda: lax.transpose(X, (0, 0)), errors.ShapeError, "permutation"),
        (lambda: lax.broadcast_in_dim(X, (2, 4), (0, 1)), errors.ShapeError, "size 1"),
        (lambda: lax.broadcast(X, (-1,)), errors.ShapeError, "negative"),
        (lambda: lax.squeeze(X, (0,)), errors.ShapeError, "has size 2, not 1"),
        (lambda: lax.squeeze(X, (2,)), errors.AxisError, "out of range"),
        (lambda: lax.expand_dims(X, (0, 0)), errors.AxisError, "twice"),
        (lambda: lax.collapse(X, 2, 1), errors.AxisError, "start"),
        (lambda: lax.concatenate([], 0), errors.ShapeError, "at least one"),
        (lambda: lax.concatenate([X, X.astype(int)], 0), errors.DTypeError, "same dtype"),
        (lambda: lax.concatenate([X, X[:, :1]], 0), errors.ShapeError, "except in axis 0"),
        (lambda: lax.concatenate([X, X], 2), errors.AxisError, "out of range"),
        (lambda: lax.concatenate([X, X], -1), errors.AxisError, "out of range"),
        (lambda: lax.split(X, (1, 1), 1), errors.ShapeError, "add up"),
        (lambda: lax.split(X, (4, -1), 1), errors.ShapeError, "non-negative"),
        (lambda: lax.pad(X, 0, [(0, 0, 0)]), errors.ShapeError, "each of 2 axes"),
        (lambda: lax.pad(X, 0, [(0, 0, -1), (0, 0, 0)]), errors.ShapeError, "interior"),
        (lambda: lax.pad(X, 0, [(-2, -1, 0), (0, 0, 0)]), errors.ShapeError, "negative size -1"),
        (lambda: lax.pad(X, X, [(0, 0, 0)] * 2), errors.ShapeError, "scalar"),
        (lambda: lax.rev(X, (0, 0)), errors.AxisError, "twice"),
        (lambda: lax.iota(bool, 3), errors.DTypeError, "numbers"),
        (lambda: lax.iota("int32", -1), errors.ShapeError, "negative"),
        (lambda: lax.broadcasted_iota("int32", (2,), 1), errors.ShapeError, "range"),
        (lambda: lax.tile(X, (2,)), errors.ShapeError, "each of 2 axes"),
        (lambda: lax.broadcast_shapes((2,), (3,)), errors.ShapeError, "2 and 3"),
        (lambda: lax.reshape(X, ("a",)), errors.ArgumentError, "integers"),
    ],
)
def test_errors(call, error, text) -> None:
    with pytest.raises(error, match=text):
        call()


def test_a_traced_size_is_an_error_that_teaches() -> None:
    with pytest.raises(errors.TracerIntegerConversionError, match="static_argnums"):
        nl.jit(lambda x, n: lax.reshape(x, (n, 3)))(X, 2)


@pytest.mark.parametrize(
    ("dtype", "kind"), [("bfloat16", "f"), ("float8_e4m3fn", "f"), ("int4", "i"), ("uint2", "u")]
)
def test_iota_of_small_dtypes(dtype, kind) -> None:
    out = lax.iota(dtype, 3)
    assert out.type.kind == kind
    np.testing.assert_array_equal(np.asarray(out).astype(int), [0, 1, 2])


def test_pad_derivative_does_not_see_infinities_of_the_other_operand() -> None:
    def loss(v):
        return lax.reduce_sum(lax.pad(np.array([np.inf, 1.0]), v, [(1, 1, 0)]), (0,))

    assert float(nl.grad(loss)(2.0)) == 2.0
