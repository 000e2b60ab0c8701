"""cond and switch whose choice is batched: loops run for the examples that chose them only.

The loops here never end for the other examples, so a mistake shows as a test that hangs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax

XS = numpy.array([1.0, 0.0, 50.0, -3.0], "float32")


def doublings(x: Any) -> Any:
    """How often x must be doubled to reach 100; never ends for x <= 0."""
    return lax.while_loop(lambda s: s[0] < 100.0, lambda s: (s[0] * 2.0, s[1] + 1.0), (x, 0.0))[1]


def in_scan(x: Any) -> Any:
    return lax.scan(lambda c, a: (c + doublings(x * a), None), 0.0, np.array([1.0, 1.0]))[0] / 2


def in_fori(x: Any) -> Any:
    return lax.fori_loop(0, np.int32(x > -9), lambda i, c: c + doublings(x), 0.0)


@nl.custom_jvp
def with_rule(x: Any) -> Any:
    return doublings(x)


with_rule.defjvps(lambda dx, out, x: dx * 0)
LOOPS: dict[str, Callable[[Any], Any]] = {
    "while_loop": doublings,
    "jit": nl.jit(doublings),
    "checkpoint": nl.checkpoint(doublings),
    "scan": in_scan,
    "fori_loop": in_fori,
    "custom_jvp": with_rule,
    "switch": lambda x: lax.switch(np.int32(x > 20), [doublings, doublings], x),
    "cond": lambda x: lax.cond(x > 20, doublings, doublings, x),
    "bounded": lambda x: lax.while_loop(
        lambda s: s[0] < 100.0, lambda s: (s[0] * 2.0, s[1] + 1.0), (x, 0.0), max_steps=9
    )[1],
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_in_a_branch_runs_for_its_examples_only(name: str) -> None:
    def f(x: Any) -> Any:
        return lax.cond(x > 0, LOOPS[name], lambda x: -1.0, x)

    for vmapped in (nl.vmap(f), nl.jit(nl.vmap(f))):
        numpy.testing.assert_array_equal(vmapped(XS), [7, -1, 1, -1])
    numpy.testing.assert_array_equal(nl.vmap(f)(np.zeros(2)), [-1, -1])
    numpy.testing.assert_array_equal(nl.vmap(nl.vmap(f))(XS.reshape(2, 2)), [[7, -1], [1, -1]])
    out, tangent = nl.jvp(nl.vmap(f), (XS,), (XS,))
    numpy.testing.assert_array_equal(out, [7, -1, 1, -1])
    numpy.testing.assert_array_equal(tangent, [0, 0, 0, 0])


def test_gradients_of_a_bounded_loop_in_a_branch() -> None:
    def loop(x: Any) -> Any:
        return lax.while_loop(lambda s: s < 100.0, lambda s: s * 2.0, x, max_steps=20)

    def f(x: Any) -> Any:
        return lax.switch(np.int32(x > 0), [lambda x: x * 3.0, loop], x)

    for derivative in (nl.vmap(nl.grad(f)), nl.grad(lambda x: nl.vmap(f)(x).sum())):
        numpy.testing.assert_array_equal(nl.jit(derivative)(XS), [128, 3, 2, 3])


@pytest.mark.parametrize("max_steps", [None, 4])
def test_a_loop_in_a_loop_rests_for_examples_that_are_done(max_steps: int | None) -> None:
    def body(x: Any) -> Any:  # counts down to 0, so it never ends for a negative number
        lax.while_loop(lambda v: v != 0, lambda v: v - 1, np.int32(x))
        rest = lax.while_loop(lambda v: v != 0, lambda v: v - 1, np.int32(x))
        return -x + rest

    def f(x: Any) -> Any:
        return lax.while_loop(lambda v: v > 0, body, x, max_steps=max_steps)

    numpy.testing.assert_array_equal(nl.vmap(f)(np.array([3.0, -2.0, 5.0])), [-3, -2, -5])


def test_one_choice_for_the_whole_batch_runs_one_branch() -> None:
    def f(p: Any, x: Any) -> Any:
        return lax.cond(p, doublings, lambda x: -x, x)

    numpy.testing.assert_array_equal(nl.vmap(f, (None, 0))(False, XS), -XS)
