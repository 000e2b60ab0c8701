"""vmap(spmd_axis_name=...): the batch axis of constrained values takes that mesh axis."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import AxisType, NamedSharding, P, errors, lax

X = numpy.ones((4, 2), "float32")


def mesh_of(kind: AxisType) -> Any:
    return nl.make_mesh((4, 2), ("x", "y"), axis_types=(kind, kind))


def constrained(a: Any) -> Any:
    return nl.with_sharding_constraint(a * 2, P("y"))


def specs(f: Any) -> list[Any]:
    """Specs of all sharding constraints in the graph of f(X)."""
    found = []

    def look(graph: Any) -> None:
        for eq in graph.equations:
            if eq.op.name == "sharding_constraint":
                found.append(tuple(eq.op.sharding.spec))
            for inner in getattr(eq.op, "graphs", list)():
                look(inner)

    look(nl.make_jaxpr(f)(X))
    return found


@pytest.mark.parametrize("name", ["x", ("x",)])
def test_constraints_get_the_mesh_axis(name: Any) -> None:
    loop = lambda a: lax.scan(lambda c, _: (constrained(c), None), a, None, 2)[0]
    loss = nl.grad(lambda a: (constrained(a) ** 2).sum())
    with nl.set_mesh(mesh_of(AxisType.Auto)):
        for f in (constrained, nl.jit(constrained), loop, nl.jit(loop), loss):
            found = specs(nl.vmap(f, spmd_axis_name=name))
            assert found
            assert all(spec == ("x", "y") for spec in found)
        y = nl.jit(nl.vmap(constrained, spmd_axis_name=name))(X)
        assert y.sharding.spec == P("x", "y")
        numpy.testing.assert_array_equal(y, 2 * X)


def test_without_a_name_the_batch_axis_is_left_to_the_compiler() -> None:
    with nl.set_mesh(mesh_of(AxisType.Auto)):
        assert specs(nl.vmap(constrained)) == [(P.UNCONSTRAINED, "y")]
        assert specs(nl.vmap(constrained, in_axes=1)) == [(P.UNCONSTRAINED, "y")]


def test_nested_batches_take_one_axis_each() -> None:
    mesh = nl.make_mesh((2, 2, 2), ("x", "y", "z"), axis_types=(AxisType.Auto,) * 3)
    with nl.set_mesh(mesh):
        inner = nl.vmap(lambda a: nl.with_sharding_constraint(a, P("z")), spmd_axis_name="y")
        graph = nl.make_jaxpr(nl.vmap(inner, spmd_axis_name="x"))(np.ones((2, 2, 2)))
    assert tuple(graph.equations[-1].op.sharding.spec) == ("x", "y", "z")


def test_explicit_axes() -> None:
    mesh = mesh_of(AxisType.Explicit)
    with nl.set_mesh(mesh):
        f = lambda a: nl.reshard(a * 2, P("y"))
        split = nl.device_put(X, NamedSharding(mesh, P("x")))
        assert repr(nl.typeof(nl.jit(nl.vmap(f))(X))) == "float32[4,2@y]"
        assert repr(nl.typeof(nl.jit(nl.vmap(f, spmd_axis_name="x"))(X))) == "float32[4@x,2@y]"
        for options in ({}, {"spmd_axis_name": "x"}):
            assert repr(nl.typeof(nl.jit(nl.vmap(f, **options))(split))) == "float32[4@x,2@y]"


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
def test_an_axis_cannot_be_used_twice(kind: AxisType) -> None:
    f = constrained if kind is AxisType.Auto else lambda a: nl.reshard(a, P("y"))
    with (
        nl.set_mesh(mesh_of(kind)),
        pytest.raises(errors.ShardingError, match="also shards an axis of the example"),
    ):
        nl.jit(nl.vmap(f, spmd_axis_name="y"))(X)
