"""Options of `jit`, donation, disable_jit, evaluation while tracing, memory and caches."""

from __future__ import annotations

import gc

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.sharding import NamedSharding, SingleDeviceSharding


def test_donated_memory_is_used_again() -> None:
    f = nl.jit(lambda x, y: (x + y).astype(x.dtype), donate_argnums=0)
    x, y = np.arange(4096.0), np.ones(4096)
    place = x.unsafe_buffer_pointer()
    z = f(x, y)
    assert x.is_deleted() and not y.is_deleted()
    assert z.unsafe_buffer_pointer() == place
    compiled = f.lower(z, y).compile()
    assert compiled.memory_analysis().alias_size_in_bytes == 4 * 4096
    with pytest.raises(errors.DeletedBufferError, match="donated"):
        f(x, y)


def test_donation_by_name_and_in_trees() -> None:
    f = nl.jit(lambda *, state, x: {k: v + x for k, v in state.items()}, donate_argnames="state")
    state = {"a": np.ones(8), "b": np.zeros(8)}
    out = f(state=state, x=1.0)
    assert all(v.is_deleted() for v in state.values())
    numpy.testing.assert_array_equal(out["a"], numpy.full(8, 2.0))


def test_donation_that_cannot_be_used_warns() -> None:
    f = nl.jit(lambda x: x.sum(), donate_argnums=0)
    with pytest.warns(UserWarning, match=r"donated buffers were not usable.*float32\[5\]") as w:
        f(np.ones(5))
    assert w[0].filename == __file__


def test_mistakes_of_donation() -> None:
    with pytest.raises(errors.DonationError, match="no such parameter"):
        nl.jit(lambda x: x, donate_argnums=1)
    with pytest.raises(errors.DonationError, match="'z'.*no such parameter"):
        nl.jit(lambda x: x, donate_argnames="z")
    with pytest.raises(errors.DonationError, match="static"):
        nl.jit(lambda x, y: x, donate_argnums=0, static_argnames="x")
    x = np.ones(7)
    with pytest.raises(errors.DonationError, match="passed twice"):
        nl.jit(lambda x, y: x + y, donate_argnums=0)(x, x)
    nl.jit(lambda *xs: xs[3] + 1, donate_argnums=3)(1.0, 1.0, 1.0, np.ones(3))


def test_keep_unused() -> None:
    def f(x, y):
        return x + 1

    assert "%arg1" not in nl.jit(f).lower(1.0, 2.0).as_text()
    kept = nl.jit(f, keep_unused=True)
    assert "%arg1" in kept.lower(1.0, 2.0).as_text()
    assert float(kept(1.0, 2.0)) == 2.0


def test_inline() -> None:
    def f(x):
        return np.sin(x) * np.cos(x) + np.tan(x)

    def outer(g):
        return nl.jit(lambda x: g(x) + g(x + 1)).lower(1.0).as_text()

    assert outer(nl.jit(f)).count("func.func private") == 1
    assert "func.func private" not in outer(nl.jit(f, inline=True))


def test_device_and_backend() -> None:
    last = nl.devices()[-1]
    assert nl.jit(lambda x: x + 1, device=last)(np.ones(2)).devices() == {last}
    assert nl.jit(lambda x: x + 1, backend="cpu")(np.ones(2)).devices() == {nl.devices()[0]}
    with pytest.raises(errors.ValueArgumentError, match="not both"):
        nl.jit(lambda x: x, device=last, backend="cpu")
    with pytest.raises(errors.DeviceError):
        nl.jit(lambda x: x, backend="abacus")


def test_shardings_are_prefix_trees() -> None:
    mesh = nl.make_mesh((2,), ("i",))
    split = NamedSharding(mesh, nl.P("i"))
    whole = NamedSharding(mesh, nl.P())
    f = nl.jit(
        lambda p, x: {"y": p["w"] * x, "z": x},
        in_shardings=(split, whole),
        out_shardings={"y": whole, "z": split},
    )
    out = f({"w": np.ones(4), "b": np.ones(2)}, np.ones(4))
    assert out["y"].sharding.spec == nl.P() and out["z"].sharding.spec == nl.P("i")
    one = SingleDeviceSharding(nl.devices()[1])
    assert nl.jit(lambda x: x + 1, in_shardings=one)(np.ones(2)).devices() == {nl.devices()[1]}
    with pytest.raises(errors.TreeError, match=r"jit\(<lambda>\): in_shardings must have"):
        nl.jit(lambda x: x, in_shardings=(None, None))(1.0)
    with pytest.raises(errors.TreeError, match="out_shardings must have"):
        nl.jit(lambda x: x, out_shardings=(split, split))(np.ones(2))


def test_wrong_static_arguments() -> None:
    with pytest.raises(errors.ArgumentError, match="static_argnums"):
        nl.jit(lambda x: x, static_argnums="x")
    with pytest.raises(errors.ArgumentError, match="static_argnames"):
        nl.jit(lambda x: x, static_argnames=0)


def test_disable_jit_everywhere() -> None:
    seen: list[float] = []

    def note(x):
        seen.append(float(x))
        return x + 1

    @nl.custom_jvp
    def rule(x):
        return note(x)

    rule.defjvp(lambda p, t: (rule(*p), t[0] * 10.0))
    with nl.disable_jit():
        nl.jit(note)(1.0)
        lax.scan(lambda c, x: (note(c), x), 2.0, np.ones(2))
        lax.while_loop(lambda x: x < 6, note, 4.0)
        lax.fori_loop(0, 1, lambda i, x: note(x), 6.0)
        lax.cond(True, note, lambda x: x, 7.0)
        lax.switch(0, [note, lambda x: x], 8.0)
        nl.checkpoint(note)(9.0)
        rule(10.0)
        lax.map(note, np.asarray([11.0]))
        assert float(nl.grad(nl.jit(lambda x: rule(x) * 1.0))(12.0)) == 10.0
        assert float(nl.grad(nl.checkpoint(np.sin))(0.0)) == 1.0
    assert seen == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]


def test_ensure_compile_time_eval() -> None:
    @nl.jit
    def f(x):
        with nl.ensure_compile_time_eval():
            n = int(np.sum(np.arange(4))) + int(nl.jit(lambda: np.ones(3).sum())())
        return x * n

    assert float(f(2.0)) == 18.0
    assert float(nl.grad(f)(2.0)) == 9.0

    @nl.jit
    def g(x):
        with nl.ensure_compile_time_eval():
            return x + np.ones(2)

    with pytest.raises(errors.UnexpectedTracerError):
        g(np.ones(2))

    @nl.jit
    def h(x):
        try:
            with nl.ensure_compile_time_eval():
                raise KeyError
        except KeyError:
            return x + 1

    assert float(h(1.0)) == 2.0


def test_make_jaxpr_options() -> None:
    make = nl.make_jaxpr(lambda x, n: x * n, static_argnums=1, return_shape=True)
    graph, shape = make(np.ones(3), 2.0)
    assert len(graph.inputs) == 1 and shape == nl.ShapeDtypeStruct((3,), "float32")
    graph = nl.make_jaxpr(lambda x: lax.psum(x, "i"), axis_env=[("i", 4)])(1.0)
    assert "psum" in str(graph)
    assert "sin" in str(nl.make_jaxpr(np.sin)(nl.ShapeDtypeStruct((2,), "float32")))


def test_eval_shape_takes_anything_with_shape_and_dtype() -> None:
    class Spec:
        shape, dtype = (2, 3), numpy.dtype("int8")

    out = nl.eval_shape(lambda x, *, k: {"a": x + k}, Spec(), k=numpy.int8(1))
    assert out == {"a": nl.ShapeDtypeStruct((2, 3), "int8")}
    with pytest.raises(errors.ArgumentError):
        nl.eval_shape(lambda x: x, "text")


def test_clear_caches() -> None:
    f = nl.jit(lambda x: x + 1)
    f(1.0)
    assert f.stats().programs == 1
    nl.clear_caches()
    assert f.stats().programs == 0
    f(1.0)
    assert f.stats().traces == 2
    f.clear_cache()
    assert f.stats().programs == 0


def test_live_arrays() -> None:
    x = np.full(123, 4.0)
    y = nl.device_put(np.ones(3), nl.devices()[1])
    found = nl.live_arrays()
    assert any(a is x for a in found) and any(a is y for a in found)
    key = id(x)
    x.delete()
    assert not any(id(a) == key for a in nl.live_arrays("cpu"))
    del found
    gc.collect()
