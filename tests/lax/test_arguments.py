"""Static integer arguments: anything else is an error that names the argument."""

from __future__ import annotations

import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax

X, M = np.arange(3.0), np.ones((2, 2))
CALLS = {
    "top_k": lambda n: lax.top_k(X, n),
    "sort": lambda n: lax.sort((X, X), num_keys=n),
    "collapse": lambda n: lax.collapse(M, n),
    "concatenate": lambda n: lax.concatenate([X, X], n),
    "iota": lambda n: lax.broadcasted_iota(int, (2, 2), n),
    "slice_in_dim": lambda n: lax.slice_in_dim(X, 0, 2, n),
    "dynamic_slice_in_dim": lambda n: lax.dynamic_slice_in_dim(X, 0, n),
    "reduce_precision": lambda n: lax.reduce_precision(X, n, 3),
    "rot90": lambda n: np.rot90(M, n),
    "diff": lambda n: np.diff(X, n),
    "tensordot": lambda n: np.tensordot(X, X, n),
    "polyder": lambda n: np.polyder(X, n),
    "polyint": lambda n: np.polyint(X, n),
    "tril_indices": lambda n: np.tril_indices(3, n),
    "matrix_power": lambda n: np.linalg.matrix_power(M, n),
    "bincount": lambda n: np.bincount(np.arange(3), minlength=n),
    "fftfreq": lambda n: np.fft.fftfreq(n),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wrong", [1.5, "x", [0]])
def test_what_is_no_integer(name, wrong) -> None:
    with pytest.raises(errors.NumliftError, match=r"\w+: .*\bint"):
        CALLS[name](wrong)


def test_a_traced_value() -> None:
    with pytest.raises(errors.TracerIntegerConversionError, match="top_k: k must be known"):
        nl.jit(lambda k: lax.top_k(X, k))(2)


def test_operands_and_strides_that_are_no_sequence() -> None:
    with pytest.raises(errors.ArgumentError, match="concatenate: operands must be a sequence"):
        lax.concatenate(True, 0)
    with pytest.raises(errors.ValueArgumentError, match="window_strides must be 1 positive ints"):
        lax.conv(np.ones((1, 1, 3)), np.ones((1, 1, 2)), 1.5, "SAME")


def test_unravel_index_of_shapes_beyond_32_bits(enable_x64) -> None:
    assert [int(i) for i in np.unravel_index(2**40 + 5, (2**20, 2**21))] == [2**19, 5]
    assert int(np.unravel_index(np.int8(3), (2**40,))[0]) == 3


def test_unravel_index_of_shapes_beyond_the_integers() -> None:
    with pytest.raises(errors.IntegerOverflowError, match="unravel_index"):
        np.unravel_index(3, 10**12)
