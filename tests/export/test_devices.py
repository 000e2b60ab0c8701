"""Exported programs over several devices."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, export

X = numpy.arange(8, dtype="float32")
KINDS = [nl.AxisType.Auto, nl.AxisType.Explicit]


def mesh_of(n: int = 4, name: str = "x", kind: Any = nl.AxisType.Auto) -> Any:
    return nl.make_mesh((n,), (name,), axis_types=(kind,), devices=nl.devices()[:n])


def split(mesh: Any, *names: Any) -> Any:
    return nl.NamedSharding(mesh, nl.P(*names))


def exported(mesh: Any) -> Any:
    f = nl.jit(
        lambda x, y: {"scaled": x * y, "sum": (x * x).sum()},
        in_shardings=(split(mesh, "x"), None),
        out_shardings={"scaled": split(mesh, "x"), "sum": None},
    )
    struct = nl.ShapeDtypeStruct
    return export.export(f)(struct((8,), "float32"), struct((), "float32"))


def test_attributes_survive_the_file() -> None:
    e = exported(mesh_of())
    for made in (e, export.deserialize(e.serialize())):
        assert made.nr_devices == 4
        assert made.in_shardings_hlo == ("{devices=[4]<=[4]}", None)
        assert made.out_shardings_hlo == ("{devices=[4]<=[4]}", None)
        other = mesh_of(name="rows")
        assert made.in_shardings_jax(other) == (split(other, "rows"), None)
        assert made.out_shardings_jax(other)[0] == split(other, "rows")
        assert made.module_kept_var_idx == (0, 1)
        assert (made.ordered_effects, made.unordered_effects) == ((), ())
        assert "nr_devices=4" in repr(made)
        assert "sdy" in made.mlir_module() or "Sharding" in made.mlir_module()
        with pytest.raises(errors.ShardingError, match="4 devices, but the mesh has 2"):
            made.in_shardings_jax(mesh_of(2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_calls_on_other_meshes(kind: Any, jitted: bool, shape: tuple[int, ...]) -> None:
    made = export.deserialize(exported(mesh_of()).serialize())
    names = ("a", "b")[: len(shape)]
    mesh = nl.make_mesh(shape, names, axis_types=(kind,) * len(shape), devices=nl.devices()[:4])
    call = nl.jit(made.call) if jitted else made.call
    for spec in (nl.P("a"), nl.P(), nl.P(names)):
        x = nl.device_put(X, nl.NamedSharding(mesh, spec))
        out = call(x, numpy.float32(3))
        numpy.testing.assert_array_equal(out["scaled"], X * 3)
        numpy.testing.assert_array_equal(out["sum"], (X * X).sum())
        assert out["scaled"].sharding.num_devices == 4


@pytest.mark.parametrize("kind", KINDS)
def test_the_program_splits_its_values(kind: Any) -> None:
    mesh = mesh_of(kind=kind)
    f = nl.jit(lambda x: np.sin(x) * 2)
    made = export.export(f)(nl.device_put(X, split(mesh, "x")))
    assert made.in_shardings_hlo == ("{devices=[4]<=[4]}",)
    replicated = nl.device_put(X, split(mesh_of(), None))
    text = nl.jit(made.call).lower(replicated).compile().as_text()
    assert "f32[2]" in text  # each device works on its part
    numpy.testing.assert_allclose(made.call(replicated), numpy.sin(X) * 2, rtol=1e-6)


def test_constraints_inside() -> None:
    mesh = mesh_of()

    def f(x: Any) -> Any:
        y = nl.lax.with_sharding_constraint(x * 2, split(mesh, "x"))
        return nl.lax.fori_loop(0, 3, lambda i, c: c + y, y)

    made = export.deserialize(export.export(nl.jit(f))(X).serialize())
    assert made.nr_devices == 4
    with nl.set_mesh(mesh_of(name="other")):
        numpy.testing.assert_array_equal(nl.jit(made.call)(X), X * 8)


def test_captured_arrays() -> None:
    mesh = mesh_of()
    w = nl.device_put(X, split(mesh, "x"))
    made = export.export(nl.jit(lambda x: x + w))(X)
    numpy.testing.assert_array_equal(made.call(nl.device_put(X, split(mesh, "x"))), 2 * X)


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives(kind: Any) -> None:
    mesh = mesh_of(kind=kind)
    f = nl.jit(lambda x: (np.sin(x) * x).sum())
    e = export.export(f)(nl.device_put(X, split(mesh, "x")))
    made = export.deserialize(e.serialize(vjp_order=1))
    assert made.vjp().nr_devices == 4
    x = nl.device_put(X, split(mesh_of(name="rows"), "rows"))
    wanted = numpy.cos(X) * X + numpy.sin(X)
    for g in (nl.grad(made.call), nl.jit(nl.grad(made.call))):
        numpy.testing.assert_allclose(g(x), wanted, rtol=1e-5)


def test_donation_is_up_to_the_caller() -> None:
    mesh = mesh_of()
    made = export.export(nl.jit(lambda x: x + 1, donate_argnums=0))(
        nl.device_put(X, split(mesh, "x"))
    )
    x = nl.device_put(X, split(mesh, "x"))
    made.call(x)
    assert not x.is_deleted()
    nl.jit(made.call, donate_argnums=0)(x)
    assert x.is_deleted()


def test_one_device_programs_run_on_many() -> None:
    made = export.export(nl.jit(lambda x: x * 2))(X)
    assert made.nr_devices == 1 and made.in_shardings_hlo == (None,)
    out = made.call(nl.device_put(X, split(mesh_of(), "x")))
    numpy.testing.assert_array_equal(out, 2 * X)


def test_another_number_of_devices() -> None:
    made = exported(mesh_of())
    for x, n in ((X, 1), (nl.device_put(X, split(mesh_of(2), "x")), 2)):
        with pytest.raises(errors.DeviceError, match=f"4 devices .* over {n}"):
            made.call(x, numpy.float32(1))


def test_symbolic_sizes_need_one_device() -> None:
    f = nl.jit(lambda x: x * 2, in_shardings=split(mesh_of(), "x"))
    (n,) = export.symbolic_shape("4*n")
    with pytest.raises(errors.ValueArgumentError, match="symbolic sizes"):
        export.export(f)(nl.ShapeDtypeStruct((n,), "float32"))
