"""Functions as bytes."""

from __future__ import annotations

import collections
import pathlib
import subprocess
import sys
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, export, lax, random
from numlift.export.container import EXECUTABLE, FUNCTION, pack, unpack

Pair = collections.namedtuple("Pair", "a b")
export.register_namedtuple_serialization(Pair, serialized_name="tests.Pair")


class Scaled:
    def __init__(self, x: Any, unit: str) -> None:
        self.x, self.unit = x, unit


nl.tree_util.register_pytree_node(
    Scaled, lambda s: ((s.x,), s.unit), lambda unit, xs: Scaled(xs[0], unit)
)
export.register_pytree_node_serialization(
    Scaled,
    serialized_name="tests.Scaled",
    serialize_auxdata=str.encode,
    deserialize_auxdata=bytes.decode,
    from_children=lambda unit, xs: Scaled(xs[0], unit),
)


def again(exported: export.Exported, vjp_order: int = 0) -> export.Exported:
    return export.deserialize(exported.serialize(vjp_order))


def test_round_trip() -> None:
    w = np.arange(400.0).reshape(20, 20)

    @nl.jit
    def model(x, n, *, k):
        return {"y": np.sin(x) @ w + k, "n": n}

    made = export.export(model)(nl.ShapeDtypeStruct((20,), "float32"), 3, k=1.0)
    read = again(made)
    assert read.fun_name == "model" and read.nr_devices == 1 and read.platforms == ("cpu",)
    assert read.in_tree == made.in_tree and read.out_tree == made.out_tree
    assert read.in_avals == made.in_avals and read.out_avals == made.out_avals
    assert read.in_avals[0] == nl.ShapeDtypeStruct((20,), "float32")
    assert read.serialize() == made.serialize()
    assert "stablehlo.sine" in read.mlir_module()
    x = numpy.linspace(0, 1, 20, dtype="f4")
    for f in (made.call, read.call, nl.jit(read.call)):
        out = f(x, 3, k=1.0)
        numpy.testing.assert_array_equal(out["y"], model(x, 3, k=1.0)["y"])
        assert int(out["n"]) == 3


def test_another_process_without_the_source(tmp_path: pathlib.Path) -> None:
    data = export.export(nl.jit(lambda x: np.cumsum(x) * 2))(np.ones(5)).serialize(vjp_order=1)
    (tmp_path / "f.bin").write_bytes(data)
    code = (
        "import sys, pathlib, numlift as nl\n"
        "f = nl.export.deserialize(pathlib.Path(sys.argv[1]).read_bytes()).call\n"
        "x = nl.numpy.arange(5.0)\n"
        "print(f(x).tolist(), nl.grad(lambda x: f(x)[2])(x).tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "f.bin")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[0] == "[0.0, 2.0, 6.0, 12.0, 20.0] [2.0, 2.0, 2.0, 0.0, 0.0]"


def test_derivatives() -> None:
    f = nl.jit(lambda x, n: (np.sin(x) * n, n + 1))
    x = np.linspace(0.0, 1.0, 4)
    made = export.export(f)(x, 2)
    assert made.has_vjp()
    read = again(made, vjp_order=2)

    def first(g):
        return nl.grad(lambda x: np.sum(g(x, 2)[0] ** 2))

    def second(g):
        return nl.grad(lambda x: np.sum(first(g)(x) * np.cos(x)))

    numpy.testing.assert_allclose(first(read.call)(x), first(f)(x), rtol=1e-6)
    numpy.testing.assert_allclose(second(read.call)(x), second(f)(x), rtol=1e-5)
    (dx,) = read.vjp().call(x, 2, np.ones(4))
    numpy.testing.assert_allclose(dx, 2 * numpy.cos(numpy.asarray(x)), rtol=1e-6)

    plain = again(made)
    assert not plain.has_vjp()
    with pytest.raises(errors.GradError, match="vjp_order=1"):
        first(plain.call)(x)
    with pytest.raises(errors.GradError):
        again(made, 1).vjp().vjp()


def test_functions_of_integers_have_an_empty_derivative() -> None:
    read = again(export.export(nl.jit(lambda n: n * 2))(3), vjp_order=1)
    assert int(read.call(4)) == 8
    assert read.vjp().call(4) == ()


def test_inside_other_programs() -> None:
    f = again(export.export(nl.jit(lambda x: np.sort(x) + np.tanh(x)))(np.ones(6))).call
    g = again(export.export(nl.jit(lambda x: x - 1))(np.ones(6))).call
    x = np.linspace(-1.0, 1.0, 6)[::-1]

    def both(x):
        return f(f(x)) + g(x) + lax.fori_loop(0, 2, lambda i, x: g(x), x)

    lowered = nl.jit(both).lower(x)
    assert lowered.as_text().count("_main(") >= 4

    def expected(x):
        return numpy.sort(x) + numpy.tanh(x)

    n = numpy.asarray(x)
    close = expected(expected(n)) + (n - 1) + (n - 2)
    numpy.testing.assert_allclose(lowered.compile()(x), close, rtol=1e-5, atol=1e-6)
    # An exported function may call exported functions.
    outer = again(export.export(nl.jit(lambda x: f(x) * 2))(x))
    numpy.testing.assert_allclose(outer.call(x), 2 * expected(n), rtol=1e-5, atol=1e-6)


def test_it_cannot_be_vectorised_or_pushed_forward() -> None:
    call = again(export.export(nl.jit(np.sin))(1.0)).call
    with pytest.raises(errors.VmapError, match="cannot be vectorised"):
        nl.vmap(call)(np.ones(3))
    with pytest.raises(TypeError):
        nl.jvp(call, (1.0,), (1.0,))


def test_structures() -> None:
    arguments = (
        Pair(1.0, [np.ones(2), None]),
        {"b": 1.0, "a": ()},
        collections.OrderedDict([("z", 1.0), ("a", Scaled(2.0, "m"))]),
    )
    f = nl.jit(lambda *xs: (xs, xs[0].a))
    read = again(export.export(f)(*arguments))
    out, one = read.call(*arguments)
    assert isinstance(out[0], Pair) and list(out[2]) == ["z", "a"] and out[2]["a"].unit == "m"
    assert float(one) == 1.0 and out[0].b[1] is None

    Other = collections.namedtuple("Other", "x")
    made = export.export(nl.jit(lambda p: p.x))(Other(1.0))
    assert float(made.call(Other(3.0))) == 3.0
    with pytest.raises(errors.TreeError, match="Other"):
        made.serialize()
    with pytest.raises(errors.ValueArgumentError, match="registered"):
        export.register_namedtuple_serialization(Pair, serialized_name="tests.Pair")
    with pytest.raises(errors.ValueArgumentError, match="not a named tuple"):
        export.register_namedtuple_serialization(dict, serialized_name="d")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float16", "bfloat16", "complex64"])
def test_dtypes(dtype: str) -> None:
    big = np.asarray(numpy.arange(300) % 3).astype(dtype)
    small = big[:5]
    f = nl.jit(lambda x: (x, big, small, np.where(x, big[0], x)))
    read = again(export.export(f)(small))
    for a, b in zip(read.call(small), f(small), strict=True):
        assert a.dtype == b.dtype
        numpy.testing.assert_array_equal(a, b)


def test_sixty_four_bits(enable_x64: None) -> None:
    read = again(export.export(nl.jit(lambda x: x + 1))(numpy.float64(1)))
    assert read.call(numpy.float64(1)).dtype == "float64"
    with nl.enable_x64(False), pytest.raises(errors.ArgumentError, match="float64"):
        read.call(numpy.float64(1))


def test_random_keys() -> None:
    fixed = random.key(3)
    f = nl.jit(lambda key: (random.split(key)[0], random.uniform(key) + random.uniform(fixed)))
    read = again(export.export(f)(random.key(0)))
    assert read.in_avals[0].dtype == random.key(0).dtype
    for a, b in zip(read.call(random.key(7)), f(random.key(7)), strict=True):
        assert a.dtype == b.dtype and bool(np.all(a == b))


def test_static_arguments_are_fixed() -> None:
    f = nl.jit(lambda x, n: x * n, static_argnames="n")
    assert float(again(export.export(f)(1.0, n=3)).call(2.0)) == 6.0


def test_platforms() -> None:
    f = nl.jit(lambda x: np.sin(x))
    made = export.export(f, platforms=["cuda", "tpu", "cpu", "cpu"])(np.ones(3))
    assert again(made).platforms == ("cuda", "tpu", "cpu")
    assert "sine" in made.mlir_module("tpu")
    numpy.testing.assert_array_equal(again(made).call(np.ones(3)), np.sin(np.ones(3)))
    other = again(export.export(f, platforms=["tpu"])(np.ones(3)))
    with pytest.raises(errors.DeviceError, match=r"(?s)'cpu'.*platforms: tpu"):
        other.call(np.ones(3))
    with pytest.raises(errors.ValueArgumentError, match="no program for"):
        other.mlir_module("cpu")
    for wrong in (["abacus"], [], "cpu"):
        with pytest.raises(errors.ValueArgumentError, match="platforms must be"):
            export.export(f, platforms=wrong)


def test_mistakes_of_calls() -> None:
    call = again(export.export(nl.jit(lambda x: x))(np.ones(3))).call
    with pytest.raises(errors.ArgumentError, match=r"(?s)argument 0 has.*float32\[3\].*\[4\]"):
        call(np.ones(4))
    with pytest.raises(errors.ArgumentError, match="another type"):
        call(np.ones(3, dtype=int))
    with pytest.raises(errors.ArgumentError, match="not an array"):
        call("text")
    with pytest.raises(errors.TreeError, match="structure"):
        call(np.ones(3), 1.0)


def test_what_cannot_be_exported() -> None:
    with pytest.raises(errors.ArgumentError, match="jitted function"):
        export.export(np.sin)

    @nl.jit
    def printing(x):
        nl.debug.print("{}", x)
        return x

    with pytest.raises(errors.ValueArgumentError, match="calls Python"):
        export.export(printing)(1.0)


def test_damaged_files() -> None:
    data = export.export(nl.jit(np.sin))(1.0).serialize()
    for wrong in (b"", b"NLEXPORT", b"PK" + data, data[:-1], data[:30], data[:-5] + b"12345"):
        with pytest.raises(errors.ValueArgumentError, match=r"export\.deserialize"):
            export.deserialize(wrong)
    newer = data[:8] + (99).to_bytes(4, "little") + data[12:]
    with pytest.raises(errors.ValueArgumentError, match="format 99"):
        export.deserialize(newer)
    assert float(export.deserialize(bytearray(data)).call(0.0)) == 0.0


def test_every_damaged_byte_is_found() -> None:
    data = export.export(nl.jit(np.sin))(1.0).serialize()
    end = 16 + int.from_bytes(data[12:16], "little")
    for i in [*range(8), *range(12, end), *range(end, len(data), 97)]:
        damaged = bytearray(data)
        damaged[i] ^= 1
        if b'"check"' not in damaged:
            continue  # as in files of the first releases, whose headers had no checksum
        with pytest.raises(errors.ValueArgumentError, match=r"export\.deserialize"):
            export.deserialize(bytes(damaged))


def test_container() -> None:
    data = pack(EXECUTABLE, {"a": 1}, [b"", b"xyz"])
    header, blobs = unpack(EXECUTABLE, data, "f")
    assert header["a"] == 1 and blobs == [b"", b"xyz"]
    with pytest.raises(errors.ValueArgumentError, match="f: these bytes"):
        unpack(FUNCTION, data, "f")
