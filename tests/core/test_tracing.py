"""Values, the current interpreter, types of all kinds of values."""

from __future__ import annotations

import contextvars
import threading

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.core.staging import Stage
from numlift.core.tracing import (
    EVAL,
    Interpreter,
    Tracer,
    Value,
    apply,
    current,
    interpreting,
    named_axes,
    type_of,
)
from numlift.core.types import array_type
from numlift.structural.arith import neg


@pytest.mark.parametrize(
    "value, text",
    [
        (True, "~bool[]"),
        (1, "~int32[]"),
        (1.5, "~float32[]"),
        (2j, "~complex64[]"),
        (numpy.float64(2), "float32[]"),
        (numpy.zeros((2, 3), numpy.int64), "int32[2,3]"),
        (numpy.zeros(0, numpy.uint8), "uint8[0]"),
        (numpy.bool_(True), "bool[]"),
    ],
)
def test_type_of(value: object, text: str) -> None:
    assert repr(type_of(value)) == text


def test_type_of_with_wide_types(enable_x64: None) -> None:
    assert repr(type_of(1.0)) == "~float64[]"
    assert repr(type_of(numpy.zeros(2, numpy.int64))) == "int64[2]"


def test_type_of_subclasses_of_numbers() -> None:
    class Celsius(float):
        pass

    assert repr(type_of(Celsius(3.0))) == "~float32[]"


@pytest.mark.parametrize("value", ["text", None, [1.0], {"a": 1}, object()])
def test_type_of_what_is_no_array(value: object) -> None:
    with pytest.raises(errors.ArgumentError, match="is not an array"):
        type_of(value)


def test_types_are_one_object() -> None:
    assert type_of(np.zeros(3)) is array_type((3,), "float32")


def test_interpreting_sets_and_restores() -> None:
    stage = Stage(EVAL)
    assert current.get() is EVAL
    with interpreting(stage) as same:
        assert same is stage
        assert current.get() is stage
    assert current.get() is EVAL
    with pytest.raises(KeyError), interpreting(stage):
        raise KeyError
    assert current.get() is EVAL


def test_other_threads_evaluate() -> None:
    found = []
    with interpreting(Stage(EVAL)):
        thread = threading.Thread(target=lambda: found.append(current.get()))
        thread.start()
        thread.join()
    assert found == [EVAL]


def test_a_copied_context_traces() -> None:
    stage = Stage(EVAL)
    with interpreting(stage):
        context = contextvars.copy_context()
    assert context.run(current.get) is stage


def test_apply_evaluates_by_default() -> None:
    assert float(apply(neg, 2.0)) == -2.0


def test_classes_of_values() -> None:
    seen = []

    def f(x: object) -> object:
        seen.append(x)
        return x

    nl.jit(f)(1.0)
    nl.grad(f)(1.0)
    nl.vmap(f)(np.ones(2))
    assert all(isinstance(x, Tracer) and isinstance(x, Value) for x in seen)
    assert isinstance(np.ones(2), Value) and not isinstance(np.ones(2), Tracer)


def test_tracers_show_their_type_and_transformation() -> None:
    texts = []

    def f(x: object) -> object:
        texts.append(repr(x))
        return x

    nl.jit(f)(1.0)
    nl.vmap(f)(np.ones((2, 3)))
    nl.grad(f)(1.0)
    assert "float32[]" in texts[0] and "jit" in texts[0]
    assert "float32[3]" in texts[1] and "vmap" in texts[1]
    assert "grad" in texts[2]


def test_named_axes_are_found_from_inside_out() -> None:
    found = []

    def f(x: object) -> object:
        found.append(named_axes())
        return x

    nl.vmap(nl.vmap(f, axis_name="i"), axis_name="j")(np.ones((2, 3)))
    assert found == [{"i": 3, "j": 2}]
    assert list(found[0]) == ["i", "j"]
    assert named_axes() == {}


def test_interpreters_must_say_how_to_apply() -> None:
    with pytest.raises(NotImplementedError):
        Interpreter().apply(neg, [1.0])
    with pytest.raises(NotImplementedError):
        Interpreter().apply_custom(None, [])
