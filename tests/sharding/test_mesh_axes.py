"""auto_axes, explicit_axes, abstract devices."""

from __future__ import annotations

import pickle
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import AxisType, NamedSharding, P, errors, lax
from numlift.sharding import (
    AbstractDevice,
    AbstractMesh,
    auto_axes,
    explicit_axes,
    make_single_device_sharding,
)

E, A = AxisType.Explicit, AxisType.Auto
X = numpy.arange(64, dtype="float32").reshape(8, 8)[::-1]


def mesh_of(*kinds: AxisType) -> Any:
    return nl.make_mesh((4, 2), ("x", "y"), axis_types=kinds)


def put(mesh: Any, *spec: Any) -> Any:
    return nl.device_put(X, NamedSharding(mesh, P(*spec)))


def shown(x: Any) -> str:
    return str(nl.typeof(x)).removeprefix("float32")


@pytest.mark.parametrize("wrap", [lambda f: f, nl.jit])
def test_sorting_along_a_split_axis(wrap: Any) -> None:
    mesh = mesh_of(E, E)
    seen = []

    def inner(a: Any) -> Any:
        seen.append((shown(a), nl.sharding.get_abstract_mesh().auto_axes))
        return np.sort(a, 0) @ a.T

    f = wrap(auto_axes(inner, out_sharding=P("x", "y")))
    with nl.set_mesh(mesh):
        found = f(put(mesh, "x", "y"))
    assert seen == [("[8,8]", ("x", "y"))] and shown(found) == "[8@x,8@y]"
    numpy.testing.assert_array_equal(found, numpy.sort(X, 0) @ X.T)


def test_some_axes_only() -> None:
    mesh = mesh_of(E, E)
    with nl.set_mesh(mesh):

        @auto_axes(axes="x", out_sharding={"r": P("y", None), "s": P()})
        def f(a: Any, *, b: Any) -> Any:
            assert shown(a) == "[8,8@y]" and nl.sharding.get_mesh().explicit_axes == ("y",)
            a = lax.with_sharding_constraint(a, P("x"))
            return {"r": (a + b).T, "s": a.sum()}

        found = f(put(mesh, "x", "y"), b=1.0)
    assert shown(found["r"]) == "[8@y,8]" and shown(found["s"]) == "[]"
    numpy.testing.assert_array_equal(found["r"], (X + 1).T)


def test_derivatives_and_batches() -> None:
    mesh = mesh_of(E, E)
    f = auto_axes(lambda a: np.cumsum(a, 0) ** 2, out_sharding=P("x", None))
    plain = nl.grad(lambda a: (np.cumsum(a, 0) ** 2).sum())
    with nl.set_mesh(mesh):
        x = put(mesh, "x", "y")
        g = nl.grad(lambda a: f(a).sum())(x)
        assert shown(g) == "[8@x,8@y]"
        numpy.testing.assert_allclose(g, plain(X), rtol=1e-5)
        out, tangent = nl.jvp(f, (x,), (x,))
        assert shown(out) == shown(tangent) == "[8@x,8]"
        numpy.testing.assert_allclose(tangent, 2 * numpy.cumsum(X, 0) ** 2, rtol=1e-5)
        h = auto_axes(lambda v: np.sort(v), out_sharding=P("x"))
        rows = nl.vmap(h)(put(mesh, None, "x"))
    numpy.testing.assert_array_equal(rows, numpy.sort(X, 1))


def test_the_sharding_in_the_call() -> None:
    mesh = mesh_of(E, E)
    with nl.set_mesh(mesh):
        assert shown(auto_axes(lambda a: a * 2)(put(mesh, "x"), out_sharding=P("y"))) == "[8@y,8]"
        with pytest.raises(errors.ShardingError, match="results is not known"):
            auto_axes(lambda a: a)(put(mesh, "x"))
        with pytest.raises(errors.ShardingError, match="called 'z'"):
            auto_axes(lambda a: a, axes="z", out_sharding=P())(put(mesh, "x"))
        with pytest.raises(errors.ShardingError, match="does not divide"):
            auto_axes(lambda a: a[:3], out_sharding=P("x"))(put(mesh, "x"))
    with pytest.raises(errors.ShardingError, match="no current mesh"):
        auto_axes(lambda a: a, out_sharding=P())(X)


def test_explicit_axes() -> None:
    for kinds in ((A, A), (E, A)):
        mesh = mesh_of(*kinds)
        seen = []

        def inner(a: Any, seen: Any = seen) -> Any:
            seen.append(shown(a))
            return nl.reshard(a * 2, P("y", "x"))

        with nl.set_mesh(mesh):
            x = put(mesh)
            found = explicit_axes(inner, in_sharding=P("x", "y"))(x)
            jitted = nl.jit(explicit_axes(inner, in_sharding=P("x", "y")))(x)
            g = nl.grad(lambda v: explicit_axes(inner, in_sharding=P("x", "y"))(v).sum())(x)
            with pytest.raises(errors.ShardingError, match="arguments is not known"):
                explicit_axes(inner)(x)
        assert set(seen) == {"[8@x,8@y]"}
        for y in (found, jitted):
            numpy.testing.assert_array_equal(y, 2 * X)
        numpy.testing.assert_array_equal(g, numpy.full_like(X, 2))
        assert "@y" not in shown(found)


def test_abstract_devices() -> None:
    device = AbstractDevice("H100", 132, "gpu")
    mesh = AbstractMesh((4, 2), ("x", "y"), abstract_device=device)
    assert mesh.abstract_device is device and "device_kind=H100, num_cores=132" in repr(mesh)
    assert mesh is AbstractMesh(
        (4, 2), ("x", "y"), abstract_device=AbstractDevice("H100", 132, "gpu")
    )
    assert mesh is not AbstractMesh((4, 2), ("x", "y"))
    assert mesh.update_axis_types({"x": E}).abstract_device is device
    assert mesh.update(abstract_device=None) is AbstractMesh((4, 2), ("x", "y"))
    assert pickle.loads(pickle.dumps(mesh)) is mesh
    assert AbstractMesh((1,), "x").abstract_device is None


def test_one_device() -> None:
    sharding = make_single_device_sharding(nl.devices()[0])
    assert sharding is nl.sharding.SingleDeviceSharding(nl.devices()[0])
    assert nl.sharding.reshard is nl.reshard
