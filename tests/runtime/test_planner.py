from __future__ import annotations

import numpy as np
import pytest

from numlift.runtime import compile as compiling
from numlift.runtime import devices, planner, xla

EMITTERS = "xla_cpu_use_fusion_emitters" in xla.option_names()


def program(*lines, of="tensor<4x4xf32>"):
    body = "\n".join(f"    {line}" for line in lines)
    return (
        f"module @m {{\n  func.func public @main(%a: {of}) -> {of} {{\n{body}\n"
        f"    return %0 : {of}\n  }}\n}}"
    ).replace("T", of)


ADD = "%0 = stablehlo.add %a, %a : T"
PRODUCT = "%0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (T, T) -> T"
GENERIC = '%0 = "stablehlo.sine"(%a) : (T) -> T'


def test_facts():
    assert planner.facts(program(ADD)) == (1, True, False)
    assert planner.facts(program(ADD, of="tensor<f32>")) == (1, True, True)
    assert planner.facts(program(GENERIC)) == (1, True, False)
    assert planner.facts(program("%1 = stablehlo.sine %a : T", PRODUCT)) == (2, False, False)
    assert planner.facts(program("%0 = call @f(%a) : (T) -> T")) == (1, False, False)
    assert planner.facts(program("%0 = func.call @f(%a) : (T) -> T")) == (1, False, False)
    assert planner.facts(program("%0 = stablehlo.custom_call @f(%a) : (T) -> T"))[1] is False
    assert planner.facts(program("%0:2 = stablehlo.while(%i = %a) : T, T"))[1] is False
    assert planner.facts("") == (0, True, True)


def test_other_platforms_keep_their_defaults():
    assert planner.plan(program(ADD), "cuda") == {}


def test_rules():
    level, emitters = "xla_backend_optimization_level", "xla_cpu_use_fusion_emitters"
    scalar = planner.plan(program(ADD, of="tensor<f32>"), "cpu")
    assert scalar == ({level: 0, emitters: False} if EMITTERS else {level: 0})
    assert planner.plan(program(ADD), "cpu") == ({emitters: False} if EMITTERS else {})
    small = planner.plan(program(PRODUCT), "cpu")
    assert small == ({"xla_disable_hlo_passes": "fusion-wrapper"} if EMITTERS else {})
    many = [f"%{i} = stablehlo.sine %a : T" for i in range(1, 20)]
    assert planner.plan(program(*many, PRODUCT), "cpu") == {}


UNARY = {
    "tanh": np.tanh, "exponential": np.exp, "log": np.log, "sine": np.sin, "cosine": np.cos,
    "sqrt": np.sqrt, "negate": np.negative, "abs": np.abs, "log_plus_one": np.log1p,
    "exponential_minus_one": np.expm1,
}  # fmt: skip


@pytest.mark.parametrize("dtype, element", [("f4", "f32"), ("f8", "f64"), ("c8", "complex<f32>")])
@pytest.mark.parametrize("op", UNARY)
def test_planned_programs_compute_the_same(op, dtype, element):
    x = np.array([0.1, 0.5, 1.0, 3.0, 20.0] * 7, dtype)
    result = f"tensor<35x{'f32' if op == 'abs' and dtype == 'c8' else element}>"
    text = (
        f"module @m {{ func.func public @main(%a: tensor<35x{element}>) -> {result} {{\n"
        f"%0 = stablehlo.{op} %a : (tensor<35x{element}>) -> {result}\n return %0 : {result} }} }}"
    )
    executable = compiling.compile_module(text, devices=(devices.local_devices()[0],))
    expected = UNARY[op](x)

    class Aval:
        def __init__(self, dtype):
            self.shape, self.dtype, self.weak_type = (35,), np.dtype(dtype), False

    here = xla.XlaSharding(executable.devices)
    array = xla.put([x], Aval(dtype), here)
    handler = xla.result_handler(Aval(expected.dtype), here)
    (found,) = executable.execute([array]).consume_with_handlers([handler])
    rtol = 1e-12 if dtype == "f8" else 1e-5
    np.testing.assert_allclose(xla.host_array(found), expected, rtol=rtol, atol=rtol / 10)
