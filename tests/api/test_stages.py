"""trace, lower and compile by hand."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors


@nl.jit
def model(params, x):
    return {"y": np.tanh(params["w"] @ x) + params["b"]}


ARGS = ({"w": numpy.ones((2, 3), numpy.float32), "b": 0.5}, numpy.ones(3, numpy.float32))


def test_traced() -> None:
    traced = model.trace(*ARGS)
    assert traced.fun_name == "model"
    assert traced.out_info == {"y": nl.ShapeDtypeStruct((2,), "float32")}
    assert "tanh" in str(traced.jaxpr)
    assert traced.in_tree == nl.tree.structure((ARGS, {}))
    assert traced.out_tree == nl.tree.structure({"y": 0})


def test_abstract_arguments() -> None:
    x = nl.ShapeDtypeStruct((3,), "float32")
    w = nl.ShapeDtypeStruct((2, 3), "float32")
    lowered = model.lower({"w": w, "b": 0.5}, x)
    assert lowered.out_info["y"].shape == (2,)
    assert "tensor<2x3xf32>" in lowered.as_text()
    compiled = lowered.compile()
    numpy.testing.assert_allclose(compiled(*ARGS)["y"], model(*ARGS)["y"], rtol=1e-6)
    assert model.eval_shape({"w": w, "b": 0.5}, x)["y"].shape == (2,)


def test_texts() -> None:
    lowered = model.lower(*ARGS)
    assert lowered.as_text() == lowered.as_text("stablehlo") == lowered.compiler_ir()
    assert "func.func public @main" in lowered.as_text()
    assert lowered.as_text("hlo").startswith("HloModule")
    assert "HloModule" in lowered.compile().as_text()
    with pytest.raises(ValueError, match="dialect"):
        lowered.as_text("assembler")


def test_analyses() -> None:
    compiled = nl.jit(lambda a, b: a @ b).lower(np.ones((8, 16)), np.ones((16, 4))).compile()
    assert compiled.cost_analysis()["flops"] >= 2 * 8 * 16 * 4
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == 4 * (8 * 16 + 16 * 4)
    assert memory.output_size_in_bytes == 4 * 8 * 4
    assert nl.jit(np.sin).lower(np.ones(4)).cost_analysis()


def test_shardings_of_a_compiled_function() -> None:
    compiled = model.lower(*ARGS).compile()
    assert all(s.device_set == {nl.devices()[0]} for s in compiled.input_shardings)
    assert compiled.output_shardings["y"].device_set == {nl.devices()[0]}


def test_compiled_functions_check_their_arguments() -> None:
    compiled = nl.jit(lambda x, y: x + y).lower(np.ones(3), 1.0).compile()
    numpy.testing.assert_array_equal(compiled(numpy.zeros(3, "f4"), 2.0), [2, 2, 2])
    with pytest.raises(errors.ArgumentError, match=r"(?s)argument 0.*float32\[3\].*float32\[4\]"):
        compiled(np.ones(4), 1.0)
    with pytest.raises(errors.ArgumentError, match="structure"):
        compiled(np.ones(3))
    with pytest.raises(errors.ArgumentError, match="cannot be transformed"):
        nl.grad(lambda x: compiled(x, 1.0)[0])(np.ones(3))


def test_static_arguments_and_keywords_of_stages() -> None:
    f = nl.jit(lambda x, n, *, k: x * n + k, static_argnums=1)
    compiled = f.lower(1.0, 3, k=2.0).compile()
    assert float(compiled(2.0, 3, k=1.0)) == 7.0
    assert float(f.trace(1.0, 3, k=2.0).lower().compile()(2.0, 3, k=1.0)) == 7.0


def test_captured_arrays_of_stages() -> None:
    w = np.arange(3.0)
    compiled = nl.jit(lambda x: x + w).lower(np.ones(3)).compile()
    numpy.testing.assert_array_equal(compiled(np.ones(3)), [1, 2, 3])


def test_options_of_the_compiler() -> None:
    lowered = nl.jit(lambda x: x + 1).lower(1.0)
    options = {"xla_backend_optimization_level": 0}
    assert float(lowered.compile(compiler_options=options)(1.0)) == 2.0
    assert float(nl.jit(lambda x: x + 1, compiler_options=options)(1.0)) == 2.0
    with pytest.raises((ValueError, RuntimeError), match="no_such_option"):
        lowered.compile(compiler_options={"xla_no_such_option": 1})


def test_compiling_again_is_the_same_program() -> None:
    f = nl.jit(lambda x: np.sin(x) + 1)
    first, second = f.lower(1.0).compile(), f.lower(1.0).compile()
    assert first.runtime_executable() is second.runtime_executable()


def test_stages_of_transformed_functions() -> None:
    f = nl.jit(nl.vmap(nl.grad(lambda x: np.sin(x) * x)))
    lowered = f.lower(nl.ShapeDtypeStruct((5,), "float32"))
    x = numpy.linspace(0, 1, 5, dtype=numpy.float32)
    expected = numpy.cos(x) * x + numpy.sin(x)
    numpy.testing.assert_allclose(lowered.compile()(x), expected, rtol=1e-5)


def test_eval_shape_and_make_jaxpr() -> None:
    out = nl.eval_shape(lambda x: (x @ x.T, 1), nl.ShapeDtypeStruct((2, 3), "float32"))
    assert out[0].shape == (2, 2) and out[1].dtype == "int32"
    graph = nl.make_jaxpr(lambda x: x * 2.0)(1.0)
    assert "mul" in str(graph)
    graph, shape = nl.make_jaxpr(lambda x: x * 2.0, return_shape=True)(np.ones(3))
    assert shape.shape == (3,)
