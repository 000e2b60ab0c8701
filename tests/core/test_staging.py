"""`Stage`: literals, captured values, types, scopes, and what happens after the trace."""

from __future__ import annotations

import numpy
import pytest

import numlift.numpy as np
from numlift import errors
from numlift.core.graph import Literal
from numlift.core.staging import Stage, infer_type, trace_to_graph
from numlift.core.tracing import EVAL, apply, current
from numlift.core.types import array_type
from numlift.structural.arith import add, mul, neg
from numlift.structural.shape import ReduceSum, Reshape

VECTOR = array_type((3,), "float32")


def test_equations_in_the_order_of_the_program() -> None:
    graph, captured = trace_to_graph(lambda x: [apply(neg, apply(mul, x, x))], [VECTOR])
    assert [eq.op for eq in graph.equations] == [mul, neg]
    assert captured == []
    assert graph.equations[0].inputs == [graph.inputs[0]] * 2


def test_operations_on_constants_are_staged_too() -> None:
    graph, _ = trace_to_graph(lambda: [apply(add, 1.0, 2.0)], [])
    assert [eq.op for eq in graph.equations] == [add]


@pytest.mark.parametrize(
    "value",
    [True, 3, -2.5, 1 + 2j, numpy.float32(4), numpy.int8(3), numpy.array(2.0), numpy.bool_(True)],
)
def test_scalars_are_literals(value: object) -> None:
    graph, captured = trace_to_graph(lambda x: [value], [VECTOR])
    (literal,) = graph.outputs
    assert type(literal) is Literal
    assert captured == []
    assert literal.value == value
    assert literal.type.weak_type == (type(value) in (bool, int, float, complex))


def test_signed_zeros_and_nans_stay_what_they_are() -> None:
    graph, _ = trace_to_graph(lambda: [0.0, -0.0, 0, False, float("nan")], [])
    values = [a.value for a in graph.outputs]
    assert [numpy.signbit(v) for v in values[:2]] == [False, True]
    assert [type(v) for v in values] == [float, float, int, bool, float]
    assert numpy.isnan(values[4])


def test_signed_zeros_inside_complex_numbers_stay_what_they_are() -> None:
    def real_part(z: complex) -> float:
        graph, _ = trace_to_graph(lambda x: [apply(mul, x, z)], [array_type((), "complex64")])
        return graph.equations[0].inputs[1].value.real

    assert [numpy.signbit(real_part(complex(r, 1.0))) for r in (0.0, -0.0)] == [False, True]


def test_literals_follow_the_flag_for_wide_types(enable_x64: None) -> None:
    graph, _ = trace_to_graph(lambda: [1.0, 2], [])
    assert [str(t.dtype) for t in graph.out_types] == ["float64", "int64"]


def test_a_captured_array_is_one_leading_input() -> None:
    y = np.arange(3.0)
    z = numpy.ones(3, numpy.float32)
    graph, captured = trace_to_graph(
        lambda x: [apply(add, apply(add, x, y), y), apply(mul, x, z)], [VECTOR]
    )
    assert [id(c) for c in captured] == [id(y), id(z)]
    assert len(graph.inputs) == 3
    assert graph.equations[0].inputs == [graph.inputs[2], graph.inputs[0]]


def test_values_of_an_outer_stage_are_captured() -> None:
    inner_captured = []

    def outer(x: object) -> list[object]:
        graph, captured = trace_to_graph(lambda y: [apply(add, x, y)], [VECTOR])
        inner_captured.extend(captured)
        assert len(graph.inputs) == 2
        return graph.run(current.get().apply, [*captured, x])

    graph, captured = trace_to_graph(outer, [VECTOR])
    assert len(inner_captured) == 1
    assert captured == []
    assert [eq.op for eq in graph.equations] == [add]


def test_the_interpreter_is_restored_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        trace_to_graph(lambda x: 1 / 0, [VECTOR])
    assert current.get() is EVAL


def test_a_value_of_a_finished_trace_is_an_error_that_names_the_line() -> None:
    kept = []

    def leak(x: object) -> list[object]:
        kept.append(apply(neg, x))  # the line that made it
        return [x]

    trace_to_graph(leak, [VECTOR])
    with pytest.raises(errors.UnexpectedTracerError, match="the line that made it") as caught:
        trace_to_graph(lambda x: [apply(add, x, kept[0])], [VECTOR])
    assert "test_staging.py" in str(caught.value)
    with pytest.raises(errors.UnexpectedTracerError):
        apply(neg, kept[0])


def test_types_are_inferred_once() -> None:
    calls = []

    class Counted(type(neg)):  # type: ignore[misc]
        def out_type(self, *types: object) -> object:
            calls.append(types)
            return types[0]

    op = Counted.of()
    infer_type(op, [VECTOR])
    infer_type(op, [VECTOR])
    assert len(calls) == 1
    infer_type(op, [array_type((4,), "float32")])
    assert len(calls) == 2


def test_type_errors_of_operations_reach_the_user() -> None:
    with pytest.raises(errors.ShapeError):
        trace_to_graph(lambda x: [apply(Reshape.of((2,)), x)], [VECTOR])


def test_scopes_are_kept_with_equations() -> None:
    def f(x: object) -> list[object]:
        y = apply(neg, x)
        current.get().scope = "layer"
        return [apply(neg, y)]

    graph, _ = trace_to_graph(f, [VECTOR])
    assert [eq.scope for eq in graph.equations] == ["", "layer"]


def test_a_stage_knows_where_a_variable_was_made() -> None:
    stage = Stage(EVAL)
    x = stage.new_input(VECTOR)
    y = stage.apply(ReduceSum.of((0,)), [x])
    assert x.origin() is None
    assert y.origin()[0].co_filename == __file__
    assert y.type.shape == ()
