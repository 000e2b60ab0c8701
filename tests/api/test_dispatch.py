"""Calls of jitted functions by the quick table: same results and errors as the long way."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors


def thrice(call: Callable[[], Any]) -> list[Any]:
    """First call (traces), second (fills the quick table), third (uses it)."""
    return [call() for _ in range(3)]


def test_kinds_of_arguments_take_turns() -> None:
    f = nl.jit(lambda x, y: (x + y, x * y))
    values = [
        np.ones(3), numpy.full(3, 2.0, "f4"), 2.0, 3, True, 1j, np.float32(2), numpy.float64(3),
    ]  # fmt: skip
    for _ in range(3):
        for x in values:
            for y in values:
                for found, expected in zip(f(x, y), (np.add(x, y), np.multiply(x, y)), strict=True):
                    numpy.testing.assert_allclose(
                        numpy.asarray(found), numpy.asarray(expected), rtol=1e-6
                    )


def test_zeros_keep_their_sign() -> None:
    f = nl.jit(lambda x, s: np.copysign(x, s))
    x = np.ones(2)
    for _ in range(3):
        assert f(x, 0.0)[0] == 1 and f(x, -0.0)[0] == -1
    g = nl.jit(lambda x, s: np.copysign(x, s), static_argnums=1)
    for _ in range(3):
        assert g(x, 0.0)[0] == 1 and g(x, -0.0)[0] == -1


def test_static_values_and_keywords() -> None:
    @functools.partial(nl.jit, static_argnums=0, static_argnames="mode")
    def f(n, x, mode="add", scale=1.0):
        return (x + n if mode == "add" else x * n) * scale

    x = np.ones(2)
    for _ in range(3):
        assert f(2, x)[0] == 3 and f(3, x)[0] == 4
        assert f(3, x, mode="mul")[0] == 3
        assert f(3, x, scale=2.0)[0] == 8
        assert f(3, x=x, mode="mul", scale=2.0)[0] == 6
        assert f(True, x)[0] == 2
        with pytest.raises(errors.ValueArgumentError, match="hashable"):
            f([1], x)


def test_flags_are_part_of_the_key() -> None:
    f = nl.jit(lambda x: x * 2)
    thrice(lambda: f(1))
    assert f(1).dtype == "int32"
    with nl.enable_x64(True):
        assert thrice(lambda: f(1))[2].dtype == "int64"
    assert f(1).dtype == "int32"
    with nl.disable_jit():
        assert f(1) == 2


def test_transformations_see_the_call() -> None:
    f = nl.jit(lambda x: np.sin(x) * 2.0)
    x = np.ones(())
    thrice(lambda: f(x))
    assert float(nl.grad(f)(x)) == pytest.approx(2 * numpy.cos(1.0))
    graph = nl.make_jaxpr(lambda y: f(y) + f(x))(x)
    assert [eq.op.name for eq in graph.equations].count("call") == 2


def test_donated_and_deleted_arrays() -> None:
    f = nl.jit(lambda x, s: x * s, donate_argnums=0)
    for _ in range(3):
        x = np.ones(3) * 2
        assert f(x, 2.0)[0] == 4
        with pytest.raises(errors.DeletedBufferError):
            f(x, 2.0)
    g = nl.jit(lambda x: x * 2)
    x = np.ones(3)
    thrice(lambda: g(x))
    x.delete()
    with pytest.raises(errors.DeletedBufferError):
        g(x)


def test_captured_and_unused_arrays() -> None:
    big = np.arange(4.0)
    f = nl.jit(lambda x, unused, y: x * big + y)
    x = np.ones(4)
    for found in thrice(lambda: f(x, x * 5, x)):
        assert numpy.asarray(found).tolist() == [1, 2, 3, 4]
    big.delete()
    with pytest.raises(errors.DeletedBufferError):
        f(x, x, x)


def test_no_arguments_and_trees() -> None:
    f = nl.jit(lambda *xs: sum(np.sum(leaf) for leaf in nl.tree.leaves(xs)))
    x = np.ones(2)
    for _ in range(3):
        assert f() == 0
        assert f(x) == 2
        assert f((x,)) == 2
        assert f({"a": x}, x, 1.0) == 5
        assert f(None, x) == 2


def test_clearing_forgets_quick_calls() -> None:
    traced = []
    f = nl.jit(lambda x: traced.append(1) or x)
    x = np.ones(2)
    thrice(lambda: f(x))
    f.clear_cache()
    f(x)
    assert len(traced) == 2


def test_each_new_shape_is_compiled() -> None:
    f = nl.jit(lambda x: x * 2)
    for n in range(1, 40):
        assert thrice(lambda n=n: f(np.ones(n)))[2].shape == (n,)
        assert f(numpy.ones(n, "f4")).shape == (n,)


def test_numbers_given_by_name_are_not_donated() -> None:
    # Numbers become arrays that later calls share.
    f = nl.jit(lambda x, *, s: x * s, donate_argnames="s")
    x = np.ones(())
    for _ in range(4):
        assert f(x, s=1.25) == 1.25
        assert x * 1.25 == 1.25


def test_several_static_names_in_any_order() -> None:
    f = nl.jit(lambda x, *, a, b: x * a + b, static_argnames=("a", "b"))
    x = np.ones(())
    for _ in range(3):
        assert f(x, a=2, b=3) == f(x, b=3, a=2) == 5 and f(x, a=3, b=2) == 5
        assert f(x, b=2, a=2.5) == 4.5
    with pytest.raises(ValueError, match="hashable"):
        f(x, a=[1], b=2)
