"""Derivatives by Python scalars are weakly typed, as the scalars are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax
from numlift.tree import tree_leaves

ONES = np.ones(3, "bfloat16")


def square(x: Any) -> Any:
    return x * x


def weighted(x: Any, y: Any) -> Any:
    return (x * y).sum()


def own_rule(x: Any) -> Any:
    function = nl.custom_vjp(square)
    function.defvjp(lambda p: (p * p, p), lambda p, ct: (2 * p * ct,))
    return function(x)


def weakness(tree: Any) -> list[bool]:
    """Of the leaves."""
    return [x.weak_type for x in tree_leaves(tree)]


SCALARS: dict[str, Callable[[Any], Any]] = {
    "product": square,
    "jit": nl.jit(square),
    "checkpoint": nl.checkpoint(square),
    "branch": lambda x: lax.cond(x > 1, square, lambda x: x, x),
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, c: c * x, x),
    "custom rule": own_rule,
    "constant": lambda x: 1.0,
    "strong constant": lambda x: numpy.float32(1),
    "strong result": lambda x: weighted(x, ONES).astype("float32"),
    "sine": np.sin,
}


@pytest.mark.parametrize("name", SCALARS)
def test_gradient_by_a_python_scalar(name: str) -> None:
    f = SCALARS[name]
    slopes = (nl.grad(f), nl.jit(nl.grad(f)), nl.jacrev(f), nl.jit(nl.jacrev(f)))
    for slope in slopes:
        assert slope(2.0).weak_type
        assert not slope(numpy.float32(2)).weak_type
        assert not slope(np.ones((), "float16")).weak_type


def test_a_step_keeps_the_dtype_of_the_others() -> None:
    assert (ONES * nl.grad(square)(2.0)).dtype == np.bfloat16
    # Also one level up: the inner gradient is weak, so the product is bfloat16.
    value, slope = nl.value_and_grad(lambda x: nl.grad(square)(x) * ONES[0])(2.0)
    assert value.dtype == np.bfloat16
    assert (slope.dtype, slope.weak_type) == (np.float32, True)


def test_each_argument_has_its_own() -> None:
    assert weakness(nl.grad(weighted, (0, 1))(2.0, ONES)) == [True, False]
    assert weakness(nl.value_and_grad(weighted)(2.0, ONES)) == [False, True]
    found = nl.grad(lambda d: d["a"] * d["b"])({"a": 2.0, "b": numpy.float32(3)})
    assert weakness(found) == [True, False]
    assert weakness(nl.grad(nl.grad(square))(2.0)) == [True]
    assert weakness(nl.grad(square, holomorphic=True)(2.0 + 1j)) == [True]


def test_jacobians_in_forward_mode_are_as_weak_as_the_result() -> None:
    assert nl.jacfwd(square)(2.0).weak_type
    assert not nl.jacfwd(lambda x: x * ONES)(2.0).weak_type
    assert nl.jacfwd(lambda x: np.asarray(2.0))(ONES).weak_type
    assert nl.jacrev(lambda x: x * np.ones(3))(2.0).weak_type
    assert nl.hessian(square)(2.0).weak_type


@pytest.mark.parametrize("direction", [1.0, numpy.float32(1)])
def test_tangents_are_as_weak_as_the_result(direction: Any) -> None:
    assert weakness(nl.jvp(square, (2.0,), (direction,))) == [True, True]
    assert weakness(nl.jvp(nl.jit(square), (2.0,), (direction,))) == [True, True]
    assert weakness(nl.jvp(square, (numpy.float32(2),), (direction,))) == [False, False]
    assert weakness(nl.jvp(lambda x: 1.0, (2.0,), (direction,))) == [True, True]


def test_tangents_of_constants_are_arrays() -> None:
    found = nl.linearize(lambda x: (1.0, x, 3), 2.0)[1](1.0)
    assert isinstance(found[0], nl.Array)
    assert found[2].dtype == nl.dtypes.float0
