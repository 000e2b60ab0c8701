"""Running out of memory and other failures of programs give errors of Numlift."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.core.types import array_type
from numlift.runtime import failures, xla

HUGE = 10**13  # elements: more than any machine for tests has

CASES = {
    "eager": lambda: np.full(HUGE, 1.0),
    "library": lambda: np.tile(np.ones(10**6), (10**7,)),
    "jit": lambda: nl.jit(lambda x: np.broadcast_to(x, (HUGE,)) * 2.0)(1.0),
    "scan": lambda: lax.scan(lambda c, x: (c, np.ones(10**9)), 0.0, None, length=10**4)[1],
    "random": lambda: nl.random.normal(nl.random.key(0), (HUGE,)),
    "device_put": lambda: nl.device_put(onp.broadcast_to(onp.float32(1), (HUGE,))),
    "asarray": lambda: np.asarray(onp.broadcast_to(onp.float32(1), (HUGE,))),
}


@pytest.mark.parametrize("name", CASES)
def test_out_of_memory(name: str) -> None:
    with pytest.raises(errors.OutOfMemoryError) as info:
        nl.block_until_ready(CASES[name]())
    text = str(info.value)
    assert "out of memory" in text and "GiB" in text and "Try: " in text
    assert f"float32[{HUGE}]" in text or name == "scan"
    assert isinstance(info.value, (MemoryError, RuntimeError, errors.JaxRuntimeError))
    assert isinstance(info.value.__cause__, (xla.JaxRuntimeError, MemoryError))


@pytest.mark.parametrize(
    "shape", [(10**10, 10**10), (2**61,), (2**63,), (2**40, 2**40, 2), (2**62, 0)]
)
def test_shapes_beyond_addresses(shape: tuple[int, ...]) -> None:
    # XLA would end the process.
    with pytest.raises(errors.ShapeError, match="larger than any memory"):
        nl.jit(lambda x: lax.full(shape, x))(np.float32(1))
    assert nl.eval_shape(lambda: np.zeros(shape)).shape == shape


def test_shapes_of_keys_beyond_addresses() -> None:
    with pytest.raises(errors.ShapeError, match="larger than any memory"):
        nl.random.split(nl.random.key(0), 2**60)


def test_waiting_for_a_tree_explains_which_array_failed() -> None:
    big = nl.jit(lambda x: np.outer(x, x))(np.ones(10**6, np.float32))
    with pytest.raises(errors.OutOfMemoryError, match=r"float32\[1000000,1000000\]"):
        nl.block_until_ready({"a": np.ones(2), "b": [1, big, np.ones(3)]})
    gone = np.ones(4)
    gone.delete()
    for tree in (gone, [np.ones(2), gone]):
        with pytest.raises(errors.DeletedBufferError, match=r"float32\[4\]"):
            nl.block_until_ready(tree)
    assert nl.block_until_ready([1, None, "a"]) == [1, None, "a"]


def test_a_later_failure_names_the_array() -> None:
    x = nl.jit(lambda x: np.outer(x, x))(np.ones(10**6, np.float32))
    with pytest.raises(errors.OutOfMemoryError, match=r"float32\[1000000,1000000\]"):
        onp.asarray(x)


def test_other_failures_keep_their_reason() -> None:
    found = failures.failure(
        RuntimeError("INTERNAL: it broke\nmore"), "jit(f)", {"x": array_type((2,), "float32")}
    )
    assert type(found) is errors.ExecutionError
    assert "jit(f): the program failed while it ran" in str(found)
    assert "INTERNAL: it broke" in str(found) and "more" not in str(found)


@pytest.mark.parametrize(
    ("n", "text"),
    [(12, "12 bytes"), (4096, "4 KiB"), (3 * 2**20, "3 MiB"), (2**42, "4,096 GiB")],
)
def test_sizes(n: int, text: str) -> None:
    assert failures.gib(n) == text


def test_small_types_are_not_oversized() -> Any:
    assert array_type((2**30, 2**30), "int8").mlir == "tensor<1073741824x1073741824xi8>"
