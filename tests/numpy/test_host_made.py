"""Small arrays made of numbers: remembered, exact, and in memory of their own."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np


def aligned(count: int) -> numpy.ndarray:
    """Float32 zeros that begin at a multiple of 64 bytes."""
    memory = numpy.zeros(count + 16, numpy.float32)
    start = (-memory.ctypes.data % 64) // 4
    return memory[start : start + count]


def test_a_second_call_gives_the_same_in_other_memory() -> None:
    for make in (
        lambda: np.zeros((2, 3), "int8"),
        lambda: np.ones(4, dtype=bool),
        lambda: np.full((2,), 2.5),
        lambda: np.arange(1, 9, 2),
        lambda: np.linspace(0.0, 1.0, 7),
    ):
        first, second = make(), make()
        assert first.placement is second.placement
        numpy.testing.assert_array_equal(first, second)
        first.delete()
        assert not second.is_deleted()
        numpy.testing.assert_array_equal(second, make())


def test_equal_numbers_that_differ_are_kept_apart() -> None:
    assert numpy.signbit(np.full(2, -0.0)).all()
    assert not numpy.signbit(np.full(2, 0.0)).any()
    assert np.full(2, 1).dtype == "int32"
    assert np.full(2, 1.0).dtype == "float32"
    assert np.full(2, True).dtype == "bool"
    assert np.zeros(2).dtype == "float32"
    with nl.enable_x64():
        assert np.zeros(2).dtype == "float64"
        assert np.asarray([1.0]).dtype == "float64"


def test_a_dtype_that_is_narrowed_warns_each_time() -> None:
    for _ in range(3):
        with pytest.warns(UserWarning, match="float64"):
            np.zeros(3, "float64")


def test_a_shape_that_is_no_shape_still_raises() -> None:
    np.zeros((2, 2))
    with pytest.raises(TypeError):
        np.zeros((2.0, 2.0))


def test_under_jit_they_are_traced() -> None:
    np.zeros(3)
    graph = nl.make_jaxpr(lambda x: x + np.zeros(3))(np.ones(3))
    assert len(graph.inputs) == 1


def test_asarray_shares_aligned_memory_only() -> None:
    x = aligned(64)
    assert numpy.shares_memory(numpy.asarray(np.asarray(x)), x)
    assert np.asarray(x).unsafe_buffer_pointer() == x.ctypes.data
    assert not numpy.shares_memory(numpy.asarray(np.asarray(x[1:])), x)
    assert not numpy.shares_memory(numpy.asarray(np.asarray(x[::2])), x)
    assert not numpy.shares_memory(numpy.asarray(np.asarray(x, copy=True)), x)
    assert not numpy.shares_memory(numpy.asarray(np.array(x)), x)
    assert not numpy.shares_memory(numpy.asarray(np.asarray(x, dtype="int32")), x)


def test_shared_memory_is_not_overwritten_by_donation() -> None:
    x = aligned(64)
    shared = np.asarray(x)
    nl.jit(lambda x: x + 1.0, donate_argnums=0)(shared).block_until_ready()
    assert not x.any()


def test_numpy_asarray_never_copies() -> None:
    x = np.arange(20.0)
    assert numpy.asarray(x).ctypes.data == x.unsafe_buffer_pointer()
    assert numpy.shares_memory(numpy.asarray(x), numpy.asarray(x))


@pytest.mark.parametrize(
    "value, dtype",
    [
        ([1, 2], "int32"),
        ([[1, 2.5], [True, 3]], "float32"),
        ([True, False], "bool"),
        ((1j, 2), "complex64"),
    ],
)
def test_lists_of_numbers(value: object, dtype: str) -> None:
    for _ in range(2):
        found = np.asarray(value)
        assert (found.dtype, found.weak_type) == (numpy.dtype(dtype), False)
        numpy.testing.assert_array_equal(found, numpy.asarray(value, dtype))


def test_a_known_mask_reads_the_same_as_in_numpy() -> None:
    x = numpy.arange(24.0, dtype=numpy.float32).reshape(4, 3, 2)
    for mask in (x[:, 0, 0] > 5, x[:, :, 0] % 4 == 0, x > 7.0, numpy.zeros(4, bool)):
        numpy.testing.assert_array_equal(np.asarray(x)[mask], x[mask])
        numpy.testing.assert_array_equal(np.asarray(x)[np.asarray(mask)], x[mask])
    with pytest.raises(IndexError):
        np.asarray(x)[numpy.ones(3, bool)]
