"""What tracing, derivatives and compiled programs may cost: counted, the same everywhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax
from numlift.transforms.simplify import simplify

DIMENSIONS = (((1,), (0,)), ((), ()))

Step = Callable[[Any], Any]

CALLS: dict[str, tuple[Step, int]] = {
    "lax.sin": (lax.sin, 10),
    "np.sin": (np.sin, 12),
    "x + x": (lambda x: x + x, 10),
    "x * 2.0": (lambda x: x * 2.0, 16),
    "-x": (lambda x: -x, 10),
    "dot_general": (lambda x: lax.dot_general(x, x, DIMENSIONS), 14),
    "x @ x": (lambda x: x @ x, 36),
    "np.sum": (lambda x: x + np.sum(x), 75),
    "np.where": (lambda x: np.where(x > 0, x, 0.0), 95),
}
GRADIENT_CALLS: dict[str, tuple[Step, int]] = {
    "lax.sin": (lax.sin, 50),
    "x * x": (lambda x: x * x, 90),
    "np.tanh": (np.tanh, 70),
}
EQUATIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]] = {
    "sum of tanh of x @ w": (
        lambda w, x: np.sum(np.tanh(x @ w)),
        (numpy.ones((3, 4), "f4"), numpy.ones((2, 3), "f4")),
        8,
    ),
    "mean of squares": (
        lambda w, x: np.mean((x @ w - 1.0) ** 2),
        (numpy.ones(3, "f4"), numpy.ones((2, 3), "f4")),
        7,
    ),
    "sum of x * x": (lambda x: np.sum(x * x), (numpy.ones(3, "f4"),), 3),
    "sum of sin": (lambda x: np.sum(np.sin(x)), (numpy.ones(3, "f4"),), 3),
    "logsumexp by hand": (
        lambda x: np.log(np.sum(np.exp(x - lax.stop_gradient(np.max(x))))),
        (numpy.ones(3, "f4"),),
        9,
    ),
    "x ** 3": (lambda x: x**3, (2.0,), 4),
    "x[1]": (lambda x: x[1], (numpy.ones(3, "f4"),), 3),
}
FUSIONS: dict[str, tuple[Callable[..., Any], tuple[int, ...], int]] = {
    "x * x + x * 2.0": (lambda x: x * x + x * 2.0, (64,), 1),
    "gradient of an elementwise chain": (
        nl.grad(lambda x: np.sum(np.tanh(x) * np.exp(x) + x)),
        (64,),
        1,
    ),
    "softmax": (lambda x: np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x))), (64,), 6),
}


def count_calls(f: Callable[[], object]) -> int:
    """Python-level calls (not those of C functions) while `f` runs."""
    count = 0

    def profile(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        f()
    finally:
        sys.setprofile(before)
    return count


def calls_per_step(step: Step, transform: Callable[[Step], Step]) -> float:
    """Calls that one more step of a long program adds to its trace."""
    x = np.ones((4, 4))

    def trace(length: int) -> Callable[[], object]:
        def chain(x: Any) -> Any:
            for _ in range(length):
                x = step(x)
            return x

        return lambda: nl.make_jaxpr(transform(chain))(x)

    trace(3)()  # fills the caches that a long program finds full
    return (count_calls(trace(300)) - count_calls(trace(100))) / 200


@pytest.fixture(autouse=True)
def _no_checks(set_flag: Callable[[str, Any], None]) -> None:
    set_flag("enable_checks", False)  # the verifier is for tests only


@pytest.mark.parametrize("name", CALLS)
def test_calls_per_traced_operation(name: str) -> None:
    step, budget = CALLS[name]
    assert calls_per_step(step, lambda f: f) <= budget


@pytest.mark.parametrize("name", CALLS)
def test_calls_per_operation_inside_jit(name: str) -> None:
    step, budget = CALLS[name]
    assert calls_per_step(step, nl.jit) <= budget


@pytest.mark.parametrize("name", GRADIENT_CALLS)
def test_calls_per_operation_of_a_gradient(name: str) -> None:
    step, budget = GRADIENT_CALLS[name]
    found = calls_per_step(step, lambda f: nl.grad(lambda x: np.sum(f(x))))
    assert found <= budget


@pytest.mark.parametrize("name", ["lax.sin", "x + x", "x * 2.0"])
def test_calls_per_batched_operation(name: str) -> None:
    assert calls_per_step(CALLS[name][0], nl.vmap) <= 35


@pytest.mark.parametrize("name", EQUATIONS)
def test_equations_of_a_gradient(name: str) -> None:
    f, args, budget = EQUATIONS[name]
    graph = simplify(nl.make_jaxpr(nl.grad(f))(*args))
    assert len(graph.equations) <= budget, str(graph)


@pytest.mark.parametrize("name", FUSIONS)
def test_fusions_of_the_compiled_program(name: str) -> None:
    f, shape, budget = FUSIONS[name]
    text = nl.jit(f).lower(np.ones(shape)).compile().as_text()
    entry = text[text.index("\nENTRY") :]
    kernels = [
        line
        for line in entry.splitlines()
        if (found := re.search(r"= \S+ (\w[\w-]*)\(", line))
        and found[1] not in ("parameter", "constant", "tuple", "get-tuple-element", "bitcast")
    ]
    assert len(kernels) <= budget, entry


def test_a_call_of_a_compiled_function_is_short() -> None:
    f = nl.jit(lambda x, y: x + y)
    x = np.ones(3)
    one = nl.jit(lambda x: x + 1.0)
    scaled = nl.jit(lambda x, s, mode: x * s, static_argnames="mode")
    slopes = nl.jit(nl.hessian(lambda x: np.sum(np.sin(x) * x)))  # holds a constant array
    host = numpy.ones(3, numpy.float32)
    tree = {f"p{i}": x * i for i in range(10)}
    each = nl.jit(lambda tree: {name: leaf + 1.0 for name, leaf in tree.items()})
    dispatched = {
        "one array": (lambda: one(x), 3),
        "two arrays": (lambda: f(x, x), 6),
        "number and static": (lambda: scaled(x, 2.0, mode="fast"), 13),
        "constant array": (lambda: slopes(x), 6),
        "NumPy array": (lambda: one(host), 10),
        "NumPy array beside another": (lambda: f(x, host), 11),
        "10 leaves in and out": (lambda: each(tree), 11),
        "waiting for 10 leaves": (lambda: nl.block_until_ready(tree), 6),
    }
    for name, (call, limit) in dispatched.items():
        for _ in range(3):
            call()
        assert count_calls(call) <= limit, name
    calls = {
        "np.sin(x)": lambda: np.sin(x),
        "lax.sin(x)": lambda: lax.sin(x),
        "x + x": lambda: x + x,
        "x * 2.0": lambda: x * 2.0,
        "x[0]": lambda: x[0],
    }
    for name, call in calls.items():
        call()
        call()
        assert count_calls(call) <= 20, name


def test_the_graph_of_a_long_program_is_linear_in_its_length() -> None:
    def chain(n: int) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            for _ in range(n):
                x = np.sin(x) * 2.0
            return x

        return f

    sizes = [len(nl.make_jaxpr(nl.grad(chain(n)))(1.0).equations) for n in (50, 100, 200)]
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])
    assert (sizes[2] - sizes[1]) / 100 <= 6
