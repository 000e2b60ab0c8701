"""Graph -> StableHLO text."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax
from numlift.transforms.lower import lower_graph, module_name


def text_of(f, *args, **options) -> str:
    return nl.jit(f, **options).lower(*args).as_text()


def test_a_module_has_a_public_main() -> None:
    text = text_of(lambda x: x + x, np.ones((2, 3)))
    assert "func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>)" in text
    assert "stablehlo.add" in text
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize(
    "name, expected", [("f", "jit_f"), ("<lambda>", "jit__lambda_"), ("a.b-c", "jit_a_b_c")]
)
def test_symbols(name: str, expected: str) -> None:
    assert module_name(name) == expected


def test_the_module_is_named_after_the_function() -> None:
    def model(x):
        return x + 1.0

    assert "@jit_model" in text_of(model, 1.0)


def test_scalar_literals_become_splat_constants() -> None:
    text = text_of(lambda x: x * 2.0 + 2.0, np.ones((4,)))
    assert text.count("stablehlo.constant") == 1
    assert "dense<2" in text and "tensor<4xf32>" in text


def test_literals_have_all_their_digits() -> None:
    value = 0.1234567890123
    text = text_of(lambda x: x + value, 1.0)
    found = nl.jit(lambda x: x + value)(0.0)
    assert numpy.float32(found) == numpy.float32(value)
    assert "dense<" in text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), -0.0, 1e-45, 3e38])
def test_unusual_literals(value: float) -> None:
    found = numpy.float32(nl.jit(lambda: np.asarray(value, "float32"))())
    numpy.testing.assert_array_equal(found, numpy.float32(value))
    assert numpy.signbit(found) == numpy.signbit(value)


def test_a_jitted_function_called_twice_is_one_private_function() -> None:
    inner = nl.jit(lambda x: np.sin(x) * np.cos(x) + np.exp(x))
    text = text_of(lambda x, y: inner(x) + inner(y), 1.0, 2.0)
    assert text.count("func.func private") == 1
    assert text.count("call @") == 2


def test_equal_functions_written_twice_share_a_body() -> None:
    def make():
        return nl.jit(lambda x: np.sin(x) * np.cos(x) + np.exp(x))

    f, g = make(), make()
    text = text_of(lambda x, y: f(x) + g(y), 1.0, 2.0)
    assert text.count("func.func private") == 1


def test_small_or_inline_functions_are_written_in_place() -> None:
    small = nl.jit(lambda x: x + 1.0)
    assert "private" not in text_of(lambda x: small(x) * 2.0, 1.0)
    large = nl.jit(lambda x: np.sin(x) * np.cos(x) + np.exp(x), inline=True)
    assert "private" not in text_of(lambda x: large(x) + large(2 * x), 1.0)


def test_captured_arrays_are_arguments() -> None:
    w = np.arange(100.0)
    text = text_of(lambda x: x + w, np.ones(100))
    assert "%arg1: tensor<100xf32>" in text
    assert "dense<[" not in text and 'dense<"' not in text


def test_numpy_arrays_are_arguments_too() -> None:
    w = numpy.arange(100, dtype=numpy.float32)
    assert "%arg1: tensor<100xf32>" in text_of(lambda x: x + w, np.ones(100))


def test_unused_arguments_are_dropped_unless_asked_for() -> None:
    assert "%arg1" not in text_of(lambda x, y: x, 1.0, 2.0)
    assert "%arg1" in text_of(lambda x, y: x, 1.0, 2.0, keep_unused=True)


def test_functions_without_arguments_or_results() -> None:
    assert "@main() -> (tensor<3xf32>)" in text_of(lambda: np.zeros(3))
    assert "@main() -> ()" in text_of(lambda x: None, 1.0)


def test_platforms_change_the_text() -> None:
    graph = nl.make_jaxpr(lambda x: np.sin(x))(np.ones(3))
    cpu, _ = lower_graph(graph, platform="cpu")
    gpu, _ = lower_graph(graph, platform="cuda")
    assert "stablehlo.sine" in gpu
    assert cpu != ""


def test_donated_arguments_are_marked() -> None:
    text = text_of(lambda x: x + 1.0, np.ones(3), donate_argnums=0)
    assert "tf.aliasing_output = 0" in text


def test_control_flow_is_lowered_as_regions() -> None:
    text = text_of(lambda x: lax.fori_loop(0, 3, lambda i, c: np.sin(c) + i, x), 1.0)
    assert "stablehlo.while" in text
    text = text_of(lambda x: lax.cond(x > 0, np.sin, np.cos, x), 1.0)
    assert "stablehlo.case" in text or "stablehlo.if" in text


def test_the_same_program_has_the_same_text() -> None:
    def make():
        def f(x):
            return np.sin(x) @ np.ones((3, 3)) + nl.jit(np.cos)(x)

        return text_of(f, np.ones(3))

    assert make() == make()
