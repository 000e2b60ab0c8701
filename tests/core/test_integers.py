"""Python integers that no array can hold are refused, with advice."""

import pytest

import numlift as nl
import numlift.numpy as np

BIG = 2**40
CALLS = [
    lambda: np.array(BIG), lambda: np.asarray([BIG, 1]), lambda: np.full(3, BIG),
    lambda: np.ones(3, int) + BIG, lambda: nl.jit(lambda x: x)(BIG),
    lambda: nl.jit(lambda x: x + BIG)(np.ones(3, int)),
    lambda: nl.vmap(lambda x: x + BIG)(np.ones(3, int)),
    lambda: nl.lax.fori_loop(0, BIG, lambda i, c: c, 0), lambda: nl.lax.full((2,), BIG),
    lambda: np.where(True, BIG, 1), lambda: np.ones(3, int).at[0].set(BIG), lambda: np.int32(BIG),
    lambda: nl.jit(lambda: np.asarray(BIG))(), lambda: np.array(2**70),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_too_large_for_32_bits(call):
    with pytest.raises(OverflowError, match="enable_x64"):
        call()


@pytest.mark.parametrize("call", CALLS[:-1])
def test_64_bits_take_it(call):
    if call is CALLS[7] or call is CALLS[11]:  # an endless loop, and a type that stays narrow
        return
    with nl.enable_x64(True):
        call()


@pytest.mark.parametrize(
    "call", [lambda: np.array(300, "int8"), lambda: np.array([300], "uint8"), lambda: np.uint8(-1)]
)
def test_too_large_for_the_dtype_asked_for(call):
    with pytest.raises(OverflowError, match="does not fit into u?int8"):
        call()


def test_too_large_for_64_bits():
    with nl.enable_x64(True), pytest.raises(OverflowError, match="a float"):
        np.array(2**70)


def test_what_fits_the_dtype_is_taken():
    assert (np.ones(3, "uint32") * (2**32 - 1)).tolist() == [2**32 - 1] * 3
    assert np.full(2, BIG, float).dtype == "float32"
    assert float(np.ones(()) * BIG) == float(BIG)
    f = nl.jit(lambda x: x & 0xFFFFFFFF)
    assert f(np.uint32(7)).tolist() == 7
