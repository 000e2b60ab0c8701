"""Functions of lax beyond the operations: composites, sinks, ragged products, stacks, scales."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax

R = lax.RaggedDotDimensionNumbers


# ---- composites and sinks -----------------------------------------------------------------------

tangent = lax.composite(lambda x, *, k=1, **_: np.sin(x) * k, "test.tangent", version=2)


def test_a_composite_is_its_decomposition() -> None:
    numpy.testing.assert_allclose(tangent(1.0, k=2), 2 * numpy.sin(1), rtol=1e-6)
    numpy.testing.assert_allclose(nl.vmap(tangent)(np.ones(3)), numpy.sin(1), rtol=1e-6)
    numpy.testing.assert_allclose(nl.grad(nl.grad(tangent))(1.0), -numpy.sin(1), rtol=1e-6)
    pair = lax.composite(lambda d, y: {"s": d["a"] + y, "a": d["a"]}, "test.pair")
    assert {k: float(v) for k, v in pair({"a": 1.0}, 2.0).items()} == {"s": 3, "a": 1}
    key = lax.composite(lambda k: nl.random.fold_in(k, 1), "test.key")(nl.random.key(0))
    assert (
        nl.random.key_data(key) == nl.random.key_data(nl.random.fold_in(nl.random.key(0), 1))
    ).all()


def test_a_composite_in_the_program() -> None:
    attributes: dict[str, Any] = {
        "k": 2, "s": 'a"', "t": (1, 2.5), "d": {"q": True}, "a": numpy.float32([1, 2]), "n": None,
    }  # fmt: skip
    f = nl.jit(lambda x: tangent(x, **attributes))
    text = f.lower(1.0).as_text()
    assert 'stablehlo.composite "test.tangent"' in text and "version = 2 : i32" in text
    assert "t = [1 : i64, 2.5 : f64], d = {q = true}" in text and "dense<[1.0, 2.0]>" in text
    assert ", n =" not in text
    numpy.testing.assert_allclose(f(1.0), 2 * numpy.sin(1), rtol=1e-6)


def test_captured_arrays_are_operands_of_a_composite() -> None:
    y = np.arange(3.0)
    f = lax.composite(lambda x: x * y, "test.closure")
    numpy.testing.assert_array_equal(nl.jit(f)(2.0), [0, 2, 4])
    numpy.testing.assert_array_equal(
        nl.jit(lambda z: lax.composite(lambda x: x * z, "t.c")(2.0))(y), 2 * y
    )


def test_wrong_composites() -> None:
    for name in ("", "tangent", "a b.c", 3):
        with pytest.raises(errors.ValueArgumentError, match="words with dots"):
            lax.composite(lambda x: x, name)  # type: ignore[arg-type]
    with pytest.raises(errors.ArgumentError, match="'k' has no text"):
        tangent(1.0, k=object())


@pytest.mark.parametrize("keep", [False, True])
def test_sinks_keep_values_in_the_program(keep: bool) -> None:
    def f(x: Any) -> Any:
        assert lax.dce_sink({"a": x * 3, "b": 1}, prevent_mlir_dce=keep) is None
        return x * x

    text = nl.jit(f).lower(1.0).as_text()
    assert text.count("stablehlo.multiply") == 2 and ("@dce_sink" in text) is keep
    assert (
        float(nl.jit(f)(2.0)) == 4 == float(nl.grad(f)(2.0)) == float(nl.linearize(f, 2.0)[1](1.0))
    )
    assert nl.vmap(f)(np.arange(3.0)).tolist() == [0, 1, 4]
    assert lax.scan(lambda c, x: (c, f(x)), 0.0, np.arange(3.0))[1].tolist() == [0, 1, 4]
    assert lax.dce_sink(nl.random.key(0)) is None


# ---- joining and lifting ------------------------------------------------------------------------


def test_stack_and_unstack() -> None:
    x, y = numpy.arange(6.0, dtype="f").reshape(2, 3), numpy.ones((2, 3), "f")
    for axis in (0, 1, 2, -1):
        found = lax.stack([x, y], axis)
        numpy.testing.assert_array_equal(found, numpy.stack([x, y], axis))
        for a, b in zip(lax.unstack(found, axis), (x, y), strict=True):
            numpy.testing.assert_array_equal(a, b)
    assert lax.unstack(np.ones((0, 2))) == () and lax.stack([1.0, 2.0]).tolist() == [1, 2]
    numpy.testing.assert_array_equal(
        nl.grad(lambda v: (lax.stack([v, v * v]) * 2).sum())(x), 2 + 4 * x
    )
    with pytest.raises(errors.DTypeError, match="one dtype"):
        lax.stack([x, y.astype("int32")])
    with pytest.raises(errors.ShapeError, match="one shape"):
        lax.stack([x, y[0]])
    with pytest.raises(errors.ValueArgumentError, match="at least one"):
        lax.stack([])
    with pytest.raises(errors.AxisError):
        lax.unstack(numpy.float32(1))


def test_broadcast_like() -> None:
    x = numpy.arange(3, dtype="int32")
    found = lax.broadcast_like(x, numpy.zeros((2, 3)))
    numpy.testing.assert_array_equal(found, numpy.broadcast_to(x, (2, 3)))
    assert found.dtype == "int32" and lax.broadcast_like(1.0, x).shape == (3,)
    with pytest.raises(errors.ShapeError, match="must broadcast"):
        lax.broadcast_like(numpy.ones((2, 1)), x)
    mesh = nl.make_mesh((4, 2), ("x", "y"), axis_types=(nl.AxisType.Explicit,) * 2)
    like = nl.device_put(numpy.ones((4, 2), "f"), nl.NamedSharding(mesh, nl.P("x", "y")))
    for f in (lax.broadcast_like, nl.jit(lax.broadcast_like)):
        assert str(nl.typeof(f(numpy.ones(2, "f"), like))) == "float32[4@x,2@y]"


def test_values_of_the_current_trace() -> None:
    assert lax.stage(2).weak_type and lax.stage(numpy.arange(2)).dtype == "int32"
    graph = nl.make_jaxpr(lambda: (lax.stage(2.0), lax.shape_as_value((2, 3))))()
    assert len(graph.outputs) == 2
    assert lax.shape_as_value((2, 3)).tolist() == [2, 3] and lax.shape_as_value(()).shape == (0,)
    assert nl.jit(lambda n: lax.shape_as_value((n, 3)))(2).tolist() == [2, 3]


def test_rng_uniform() -> None:
    x = lax.rng_uniform(2.0, 3.0, (1000,))
    assert x.shape == (1000,) and x.min() >= 2 and x.max() < 3 and x.std() > 0.2
    n = lax.rng_uniform(0, 10, (1000,))
    assert n.dtype == "int32" and set(n.tolist()) == set(range(10))
    a, b = nl.jit(lambda: (lax.rng_uniform(0.0, 1.0, (4,)), lax.rng_uniform(0.0, 1.0, (4,))))()
    assert (a != b).any()  # equal calls are not merged
    rows = nl.vmap(lambda lo: lax.rng_uniform(lo, lo + 1, (50,)))(np.arange(3.0))
    assert (rows >= np.arange(3.0)[:, None]).all() and (rows < np.arange(1.0, 4)[:, None]).all()
    assert lax.rng_uniform(numpy.float16(0), numpy.float16(1), ()).dtype == "float16"
    with pytest.raises(errors.ShapeError, match="scalars"):
        lax.rng_uniform(numpy.zeros(2, "f"), numpy.float32(1), (2,))
    with pytest.raises(errors.VmapError, match="floats"):
        nl.vmap(lambda n: lax.rng_uniform(n, n + 2, (2,)))(np.arange(3))


def test_shape_of_transposed_convolutions() -> None:
    layouts = ("NHWC", "HWIO", "NHWC")
    for padding in ("SAME", "VALID"):
        for stride in (1, 2, 3):
            found = lax.conv_transpose_shape_tuple(
                (1, 8, 7, 3), (3, 2, 3, 4), (stride,) * 2, padding, layouts
            )
            out = lax.conv_transpose(
                np.ones((1, 8, 7, 3)), np.ones((3, 2, 3, 4)), (stride,) * 2, padding,
                dimension_numbers=layouts,
            )  # fmt: skip
            assert out.shape == found
    assert lax.conv_transpose_shape_tuple(
        (1, 8, 8, 3), (3, 3, 3, 4), (2, 2), [(1, 1), (0, 2)], layouts
    ) == (1, 15, 15, 4)


# ---- ragged axes --------------------------------------------------------------------------------


def test_a_ragged_own_axis() -> None:
    rng = numpy.random.default_rng(0)
    x, w = rng.normal(size=(2, 5, 3)).astype("f"), rng.normal(size=(2, 3, 2, 4)).astype("f")
    sizes = numpy.array([[1, 2], [3, 2]])
    numbers = R((([2], [1]), ([0], [2])), [1], [0])
    found = lax.ragged_dot_general(x, w, sizes, numbers)
    wanted = numpy.zeros((2, 5, 4))
    for b in range(2):
        start = 0
        for g in range(2):
            rows = slice(start, start + sizes[b, g])
            wanted[b, rows] = x[b, rows] @ w[g, :, b]
            start += sizes[b, g]
    numpy.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    simple = R((([1], [1]), ([], [])), [0], [0])
    numpy.testing.assert_allclose(
        lax.ragged_dot_general(x[0], w[:, :, 0], sizes[0], simple),
        lax.ragged_dot(x[0], w[:, :, 0], sizes[0]), rtol=1e-6,
    )  # fmt: skip


def test_a_ragged_contracting_axis() -> None:
    rng = numpy.random.default_rng(0)
    x, y = rng.normal(size=(2, 5, 3)).astype("f"), rng.normal(size=(2, 5, 4)).astype("f")
    sizes = numpy.array([[1, 2], [3, 2]])
    numbers = R((([1], [1]), ([0], [0])), [1], [])
    found = lax.ragged_dot_general(x, y, sizes, numbers)
    assert found.shape == (2, 2, 3, 4)
    for b in range(2):
        start = 0
        for g in range(2):
            rows = slice(start, start + sizes[b, g])
            numpy.testing.assert_allclose(
                found[g, b], x[b, rows].T @ y[b, rows], rtol=1e-4, atol=1e-6
            )
            start += sizes[b, g]
    same = lax.ragged_dot_general(x, y, sizes[0], numbers)
    numpy.testing.assert_allclose(same[:, 0], found[:, 0], rtol=1e-6)


def test_a_ragged_batch_axis_changes_nothing() -> None:
    x, y = numpy.ones((4, 2, 3), "f"), numpy.ones((4, 3, 5), "f")
    found = lax.ragged_dot_general(x, y, numpy.array([1, 2]), R((([2], [1]), ([0], [0])), [0], []))
    numpy.testing.assert_array_equal(found, x @ y)


def test_wrong_ragged_products() -> None:
    x, w, s = numpy.ones((4, 3), "f"), numpy.ones((2, 3, 5), "f"), numpy.array([1, 2])
    good = (([1], [1]), ([], []))
    for numbers in (R(good, [0, 1], [0]), R(good, [0], []), R(good, [7], [0]), 3):
        with pytest.raises(errors.ArgumentError):
            lax.ragged_dot_general(x, w, s, numbers)
    with pytest.raises(errors.DTypeError, match="integers"):
        lax.ragged_dot_general(x, w, s.astype("f"), R(good, [0], [0]))
    with pytest.raises(errors.ShapeError, match="numbers of groups"):
        lax.ragged_dot_general(x, w, numpy.array([1, 2, 1]), R(good, [0], [0]))
    with pytest.raises(errors.ArgumentError, match="group_offset"):
        lax.ragged_dot_general(x, w, s, R(good, [0], [0]), group_offset=numpy.array([0]))


def _exchanged(x: Any, out: Any, starts: Any, sizes: Any, places: Any) -> Any:
    found = out.copy()
    for s in range(len(x)):
        for r in range(len(x)):
            n = sizes[s, r]
            found[r, places[s, r] : places[s, r] + n] = x[s, starts[s, r] : starts[s, r] + n]
    return found


def test_ragged_all_to_all() -> None:
    rng = numpy.random.default_rng(0)
    sizes = rng.integers(0, 3, (3, 3))
    starts = numpy.cumsum(sizes, 1) - sizes
    places = numpy.cumsum(sizes, 0) - sizes
    x, out = rng.normal(size=(3, 6, 2)).astype("f"), rng.normal(size=(3, 7, 2)).astype("f")

    def f(*args: Any) -> Any:
        return lax.ragged_all_to_all(*args, axis_name="i")

    run = nl.vmap(f, axis_name="i")
    numpy.testing.assert_array_equal(
        run(x, out, starts, sizes, places, sizes.T), _exchanged(x, out, starts, sizes, places)
    )
    back = nl.grad(lambda v: (run(v, out, starts, sizes, places, sizes.T) ** 2).sum())(x)
    used = _exchanged(numpy.ones_like(x), 0 * out, starts, sizes, places).sum()
    assert int((back != 0).sum()) == used
    with pytest.raises(errors.ShapeError, match="one entry for each of the 3"):
        run(x, out, starts[:, :2], sizes, places, sizes)
    with pytest.raises(errors.DTypeError, match="one dtype"):
        run(x, out.astype("int32"), starts, sizes, places, sizes)
    with pytest.raises(errors.UnboundAxisError):
        f(x[0], out[0], starts[0], sizes[0], places[0], sizes[0])


def test_pcast() -> None:
    f = nl.vmap(lambda x: lax.pcast(x, "i", to="varying") * 2, axis_name="i")
    assert f(np.arange(3)).tolist() == [0, 2, 4]
    with pytest.raises(errors.UnboundAxisError):
        lax.pcast(1.0, "i", to="varying")
    with pytest.raises(errors.ValueArgumentError, match="to must be"):
        lax.pcast(1.0, "i", to="other")


# ---- scales -------------------------------------------------------------------------------------


def test_scaled_dot() -> None:
    rng = numpy.random.default_rng(0)
    x, y = rng.normal(size=(2, 3, 8)).astype("f"), rng.normal(size=(2, 8, 5)).astype("f")
    s, t = rng.uniform(size=(2, 3, 2)).astype("f"), rng.uniform(size=(2, 4, 5)).astype("f")
    wanted = (x * s.repeat(4, 2)) @ (y * t.repeat(2, 1))
    found = lax.scaled_dot(x, y, lhs_scale=s, rhs_scale=t, preferred_element_type="float32")
    numpy.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert lax.scaled_dot(x, y).dtype == "bfloat16"
    numbers = (((2,), (1,)), ((0,), (0,)))
    again = lax.scaled_dot(
        x, y, lhs_scale=s, dimension_numbers=numbers, preferred_element_type="float32"
    )
    numpy.testing.assert_allclose(again, (x * s.repeat(4, 2)) @ y, rtol=1e-4, atol=1e-5)
    small = lax.scaled_dot(
        x[0].astype("float8_e4m3fn") if hasattr(x, "x") else np.asarray(x[0], "float8_e4m3fn"),
        np.asarray(y[0], "float8_e4m3fn"), lhs_scale=np.asarray(s[0], "float8_e8m0fnu"),
    )  # fmt: skip
    assert small.shape == (3, 5)
    gradient = nl.grad(
        lambda v: lax.scaled_dot(x, y, lhs_scale=v, preferred_element_type="float32").sum()
    )(s)
    wanted = (x * y.sum(2)[:, None, :]).reshape(2, 3, 2, 4).sum(3)
    numpy.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-4)
    with pytest.raises(errors.ShapeError, match="sizes that divide it"):
        lax.scaled_dot(x, y, lhs_scale=numpy.ones((2, 3, 3), "f"))
    with pytest.raises(errors.ShapeError, match="rank 2 or 3"):
        lax.scaled_dot(x[0, 0], y[0, 0])


# ---- reductions by computations -----------------------------------------------------------------


def test_computations_with_constants_from_outside() -> None:
    one, pair = np.ones(2)[0], np.ones((1, 1)) * 2
    x = numpy.arange(1.0, 5, dtype="f")
    assert float(lax.reduce(x, 0.0, lambda a, b: a + b * one, (0,))) == 10
    assert float(lax.reduce(x, 0.0, lambda a, b: a + b * pair[0, 0] / 2, (0,))) == 10
    found = lax.reduce_window(x, 0.0, lambda a, b: a + b * one, (2,), (1,), "VALID")
    assert found.tolist() == [3, 5, 7]
    assert float(nl.jit(lambda v: lax.reduce(v, 0.0, lambda a, b: a + b * one, (0,)))(x)) == 10
    for call in (
        lambda k: lax.reduce(x, 0.0, lambda a, b: a + b * k, (0,)),
        lambda k: lax.reduce_window(x, 0.0, lambda a, b: a + b * k, (2,), (1,), "VALID"),
    ):
        with pytest.raises(errors.ArgumentError, match="traced value"):
            nl.jit(call)(2.0)


def test_reductions_to_a_sharding() -> None:
    mesh = nl.make_mesh((4, 2), ("x", "y"), axis_types=(nl.AxisType.Explicit,) * 2)
    x = nl.device_put(numpy.ones((8, 8), "f"), nl.NamedSharding(mesh, nl.P("x", None)))
    with nl.set_mesh(mesh):
        out = lax.reduce(x, 0.0, lax.add, (0,), out_sharding=nl.P("y"))
    assert str(nl.typeof(out)) == "float32[8@y]" and out.tolist() == [8.0] * 8


@pytest.mark.parametrize("name", ["cummax", "cummin", "cumlogsumexp"])
@pytest.mark.parametrize("n", [1, 3, 40, 500])
def test_complex_scans(name: str, n: int) -> None:
    rng = numpy.random.default_rng(0)
    x = (rng.normal(size=n) + 1j * rng.normal(size=n)).astype("complex64")
    x[n // 2 :] = x[: n - n // 2]  # equal elements
    if name == "cumlogsumexp":
        wanted = numpy.cumsum(numpy.exp(x.astype("complex128")))
        numpy.testing.assert_allclose(numpy.exp(lax.cumlogsumexp(x)), wanted, rtol=2e-4)
        return
    best = numpy.maximum if name == "cummax" else numpy.minimum
    numpy.testing.assert_array_equal(getattr(lax, name)(x), best.accumulate(x))
