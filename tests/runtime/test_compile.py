from __future__ import annotations

import re
import threading

import numpy as np
import pytest

from numlift import config
from numlift.errors import CompileError, ValueArgumentError
from numlift.runtime import compile as compiling
from numlift.runtime import devices, xla
from tests.runtime.child import run

DOUBLE = """module @double {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}"""

CHOLESKY = """module @cholesky {
  func.func public @main(%a: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>) {
    %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {api_version = 4 : i32,
      backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
      result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
      : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>)
    return %0#0, %0#1 : tensor<3x3xf64>, tensor<i32>
  }
}"""

CALLBACK = """module @callback {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {api_version = 4 : i32,
      backend_config = {index = 0 : ui64}} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}"""


class Aval:
    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.weak_type = shape, np.dtype(dtype), False


def one_device():
    return tuple(devices.local_devices()[:1])


def call(executable, *values, outputs):
    here = xla.XlaSharding(executable.devices)
    arrays = [xla.put([v], Aval(v.shape, v.dtype), here) for v in values]
    handlers = [xla.result_handler(Aval(shape, dtype), here) for shape, dtype in outputs]
    results = executable.execute(arrays).consume_with_handlers(handlers)
    return [xla.host_array(r) for r in results]


@pytest.fixture(params=["compiled", "from the cache"])
def double(request, tmp_path, monkeypatch):
    """The program as XLA made it, and as it comes back from the persistent cache."""
    monkeypatch.setenv("NUMLIFT_COMPILATION_CACHE", "1")
    before = config.get("compilation_cache_dir"), config.get("enable_compilation_cache")
    config.update("compilation_cache_dir", tmp_path)
    config.update("enable_compilation_cache", True)
    made = compiling.compile_module(DOUBLE, devices=one_device())
    if request.param == "from the cache":
        made = compiling.compile_module(DOUBLE, devices=one_device())
    config.update("compilation_cache_dir", before[0])
    config.update("enable_compilation_cache", before[1])
    assert made.from_cache == (request.param == "from the cache")
    return made


def test_runs(double):
    x = np.arange(4, dtype=np.float32)
    (y,) = call(double, x, outputs=[((4,), "f4")])
    np.testing.assert_array_equal(y, 2 * x)


def test_what_xla_made_of_it(double):
    assert double.hlo_text().startswith("HloModule double")
    assert double.cost_analysis()["flops"] == 4
    memory = double.memory_analysis()
    assert memory.argument_size_in_bytes == memory.output_size_in_bytes == 16
    assert memory.peak_memory_in_bytes >= 32
    assert memory.alias_size_in_bytes == 0
    assert double.parameter_shardings() is None
    assert double.output_shardings() is None
    assert isinstance(double.fingerprint, bytes)
    assert repr(double) == "Executable(1 cpu device(s))"
    assert double.text == DOUBLE


def test_serialize_and_load(double):
    blob = double.serialize()
    again = compiling.load_executable(blob, devices=one_device())
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(call(again, x, outputs=[((4,), "f4")])[0], 2 * x)
    third = compiling.load_executable(again.serialize(), devices=one_device())
    np.testing.assert_array_equal(call(third, x, outputs=[((4,), "f4")])[0], 2 * x)
    with pytest.raises(CompileError, match="cannot load these bytes"):
        compiling.load_executable(blob[: len(blob) // 2], devices=one_device())


def test_donation_is_in_the_text():
    text = DOUBLE.replace("%a: tensor<4xf32>)", "%a: tensor<4xf32> {tf.aliasing_output = 0 : i32})")
    executable = compiling.compile_module(text, devices=one_device())
    assert executable.memory_analysis().alias_size_in_bytes == 16
    here = xla.XlaSharding(executable.devices)
    x = xla.put([np.ones(4, np.float32)], Aval((4,), "f4"), here)
    executable.execute([x]).consume_with_handlers([xla.result_handler(Aval((4,), "f4"), here)])
    assert x.is_deleted()


@pytest.mark.parametrize("value", [0, 1, np.int64(1)])
def test_compiler_options(value):
    compiling.compile_module(
        DOUBLE,
        devices=one_device(),
        compiler_options={
            "xla_backend_optimization_level": value,
            "xla_cpu_enable_fast_math": False,
        },
    )


def test_unknown_option_names_the_nearest():
    with pytest.raises(ValueArgumentError, match="Try: 'xla_backend_optimization_level'"):
        compiling.compile_module(
            DOUBLE, devices=one_device(), compiler_options={"xla_backend_optimisation_level": 1}
        )


@pytest.mark.parametrize("options", [{"xla_backend_optimization_level": "x"}, {"a": [1]}, {3: 1}])
def test_wrong_option_values(options):
    with pytest.raises(ValueArgumentError, match="compiler_options"):
        compiling.compile_module(DOUBLE, devices=one_device(), compiler_options=options)


def test_mistake_in_the_text_is_shown():
    with pytest.raises(CompileError, match=re.escape("at line 3, column 10: %0 = stablehlo.adx")):
        compiling.compile_module(DOUBLE.replace(".add", ".adx"), devices=one_device())


def test_no_entry():
    with pytest.raises(CompileError, match="must have a main function"):
        compiling.compile_module(DOUBLE.replace("@main", "@f"), devices=one_device())


def test_unregistered_custom_call():
    text = CALLBACK.replace("xla_ffi_python_cpu_callback", "no_such_target")
    with pytest.raises(CompileError, match=r"custom call 'no_such_target'\n(.*\n)*Try: ffi"):
        compiling.compile_module(text, devices=one_device())


def test_partitions_must_divide_devices():
    with pytest.raises(CompileError, match="2 partitions do not divide 1 devices"):
        compiling.compile_module(DOUBLE, devices=one_device(), num_partitions=2)


def test_lapack_is_bound_on_first_use():
    executable = compiling.compile_module(CHOLESKY, devices=one_device())
    a = np.array([[4.0, 2, 0], [2, 5, 1], [0, 1, 3]])
    factor, info = call(executable, a, outputs=[((3, 3), "f8"), ((), "i4")])
    assert info == 0
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(a))


def test_host_callbacks():
    executable = compiling.compile_module(
        CALLBACK, devices=one_device(), host_callbacks=[lambda x: (np.asarray(x) * 3,)]
    )
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(call(executable, x, outputs=[((4,), "f4")])[0], 3 * x)


def test_error_of_a_callback_reaches_the_reader():
    def fail(x):
        raise ValueError("not today")

    executable = compiling.compile_module(CALLBACK, devices=one_device(), host_callbacks=[fail])
    with pytest.raises(xla.JaxRuntimeError, match="not today"):
        call(executable, np.ones(4, np.float32), outputs=[((4,), "f4")])


def test_many_threads_compile():
    done = []

    def work(i):
        text = DOUBLE.replace("@double", f"@double{i}")
        executable = compiling.compile_module(text, devices=one_device())
        (y,) = call(executable, np.full(4, i, np.float32), outputs=[((4,), "f4")])
        done.append(y[0] == 2 * i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert done == [True] * 6


SPLIT = '''
import numpy as np
from numlift import config
config.update("num_cpu_devices", 4)
from numlift.runtime import devices, xla, compile as c
TEXT = """module @m { sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32>, tensor<f32>) {
 %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
 %c = stablehlo.constant dense<0.0> : tensor<f32>
 %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
 return %0, %1 : tensor<8x8xf32>, tensor<f32> } }"""
class Aval:
    dtype, weak_type = np.dtype("f4"), False
    def __init__(self, *shape): self.shape = shape
d = tuple(devices.devices())
e = c.compile_module(TEXT, devices=d, num_partitions=4, spmd=True)
into, = e.parameter_shardings()
out = e.output_shardings()
assert str(into) == "{devices=[4,1]<=[4]}" and out[1].is_replicated()
x = np.random.default_rng(0).random((8, 8)).astype("f")
a = xla.put([x[i:i + 2] for i in range(0, 8, 2)], Aval(8, 8), xla.XlaSharding(d, into))
handlers = [xla.result_handler(Aval(*s), xla.XlaSharding(d, h)) for s, h in zip([(8, 8), ()], out)]
product, total = e.execute([a]).consume_with_handlers(handlers)
pieces = np.concatenate([xla.host_array(s) for s in xla.shards(product)])
np.testing.assert_allclose(pieces, x @ x, rtol=1e-5)
np.testing.assert_allclose(xla.host_array(total), (x @ x).sum(), rtol=1e-5)
print(e.from_cache)
'''


def test_program_split_over_devices_and_its_cached_form(tmp_path):
    on = {"NUMLIFT_COMPILATION_CACHE": "1", "NUMLIFT_COMPILATION_CACHE_DIR": str(tmp_path)}
    assert run(SPLIT, **on).split() == ["False"]
    assert run(SPLIT, **on).split() == ["True"]


ONE_PROGRAM_TWO_DEVICES = f'''
import numpy as np
from numlift import config
config.update("num_cpu_devices", 2)
from numlift.runtime import devices, xla, compile as c
TEXT = """{DOUBLE}"""
class Aval: shape, dtype, weak_type = (4,), np.dtype("f4"), False
seen = []
for device in devices.devices():
    e = c.compile_module(TEXT, devices=(device,))
    here = xla.XlaSharding((device,))
    a = xla.put([np.ones(4, "f")], Aval, here)
    r, = e.execute([a]).consume_with_handlers([xla.result_handler(Aval, here)])
    assert xla.host_array(r)[0] == 2 and list(r._sharding.device_list) == [device]
    seen.append(e.from_cache)
print(seen)
'''


def test_cached_program_moves_to_an_equal_device(tmp_path):
    on = {"NUMLIFT_COMPILATION_CACHE": "1", "NUMLIFT_COMPILATION_CACHE_DIR": str(tmp_path)}
    assert run(ONE_PROGRAM_TWO_DEVICES, **on).strip() == "[False, True]"
