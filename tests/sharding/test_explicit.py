"""Operations on arrays that are split along the axes they work on, and meshes of both kinds."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import AxisType, NamedSharding, P, errors, lax

E, A = AxisType.Explicit, AxisType.Auto
X = numpy.arange(64, dtype="float32").reshape(8, 8)


def mesh_of(*kinds: AxisType) -> Any:
    return nl.make_mesh((4, 2), ("x", "y"), axis_types=kinds)


def put(x: Any, *spec: Any, mesh: Any = None) -> Any:
    return nl.device_put(x, NamedSharding(mesh or mesh_of(E, E), P(*spec)))


def shown(x: Any) -> str:
    return str(nl.typeof(x)).removeprefix("float32")


RESHAPES: list[Any] = [
    ((8, 8), ("x", "y"), (64,), "[64@(x,y)]"),
    ((8, 8), ("x", None), (64,), "[64@x]"),
    ((4, 4, 4), ("x", "y", None), (16, 4), "[16@(x,y),4]"),
    ((4, 2, 8), ("x", "y", None), (64,), "[64@(x,y)]"),
    ((64,), (("x", "y"),), (4, 16), "[4@x,16@y]"),
    ((64,), (("x", "y"),), (8, 8), "[8@(x,y),8]"),
    ((64,), ("x",), (4, 4, 4), "[4@x,4,4]"),
    ((8, 8), ("x", "y"), (8, 2, 4), "[8@x,2@y,4]"),
    ((8, 8), ("x", "y"), (1, 64), "[1,64@(x,y)]"),
]


@pytest.mark.parametrize("shape, spec, new, wanted", RESHAPES)
def test_reshape_joins_and_splits_mesh_axes(
    shape: tuple[int, ...], spec: Any, new: Any, wanted: str
) -> None:
    value = X.reshape(shape)
    found = put(value, *spec).reshape(new)
    assert shown(found) == wanted
    numpy.testing.assert_array_equal(found, value.reshape(new))
    back = nl.grad(lambda a: (a.reshape(new) ** 2).sum())(put(value, *spec))
    assert shown(back) == shown(put(value, *spec))
    numpy.testing.assert_array_equal(back, 2 * value)


@pytest.mark.parametrize(
    "shape, spec, new",
    [
        ((8, 8), (None, "y"), (64,)),
        ((8, 8), ("x", None), (2, 32)),
        ((8, 8), ("x", "y"), (16, 4)),
        ((4, 4, 4), ("x", None, "y"), (64,)),
    ],
)
def test_reshapes_that_lose_a_sharding(shape: Any, spec: Any, new: Any) -> None:
    x = put(X.reshape(-1)[: numpy.prod(shape)].reshape(shape), *spec)
    with pytest.raises(errors.ShardingError, match=r"cannot keep the sharding of axis .*"):
        x.reshape(new)
    with nl.set_mesh(mesh_of(E, E)):
        out = lax.reshape(x, new, out_sharding=P(*[None] * len(new)))
    assert "@" not in shown(out)


@pytest.mark.parametrize("spec", [("x", "y"), ("y", None), (("x", "y"), None)])
@pytest.mark.parametrize(
    "function",
    [
        np.ravel, np.argmax, np.trace, np.fft.fft, np.fft.fft2, np.fft.ifft,
        lambda a: lax.reduce_window(a, 0.0, lax.add, (2, 2), (1, 1), "SAME"),
        lambda a: lax.reduce_window(a, -numpy.inf, lax.max, (3, 3), (1, 1), "SAME"),
        lambda a: lax.reduce_window(a, 1.0, lambda p, q: p * q + 0 * p, (1, 2), (1, 1), "SAME"),
        nl.grad(lambda a: (lax.reduce_window(
            a, -numpy.inf, lax.max, (2, 3), (1, 1), "SAME") * X).sum()),
        lambda a: lax.conv(a[None, None], numpy.ones((1, 1, 3, 3), "f"), (1, 1), "SAME"),
    ],
)  # fmt: skip
def test_axes_that_are_split_give_what_whole_ones_give(function: Any, spec: Any) -> None:
    found = nl.jit(function)(put(X, *spec))
    numpy.testing.assert_allclose(found, function(X), rtol=1e-4, atol=1e-3)


def test_windows_keep_a_sharding_that_divides() -> None:
    x = put(X, "x", "y")
    pooled = lax.reduce_window(x, -numpy.inf, lax.max, (2, 2), (2, 2), "VALID")
    assert shown(pooled) == "[4@x,4@y]"
    with pytest.raises(errors.ShardingError, match="4 parts, which do not divide its new size 7"):
        lax.reduce_window(x, -numpy.inf, lax.max, (2, 1), (1, 1), "VALID")
    with pytest.raises(errors.ShardingError, match="do not divide its new size 5"):
        np.fft.rfft(x)


@pytest.mark.parametrize("name", ["cholesky", "eigh", "inv", "det", "svd", "qr"])
def test_matrices_must_be_whole(name: str) -> None:
    with pytest.raises(errors.ShardingError, match=f"{name}|lu") as caught:
        getattr(np.linalg, name)(put(X, "x", "y"))
    assert "needs whole matrices" in str(caught.value)


def test_constraints_on_auto_axes_beside_explicit_ones() -> None:
    mesh = mesh_of(E, A)
    x = put(X, "x", None, mesh=mesh)
    with nl.set_mesh(mesh):
        y = nl.jit(lambda a: lax.with_sharding_constraint(a, P(None, "y")))(x)
        assert shown(y) == "[8@x,8]" and tuple(y.sharding.spec) == ("x", "y")
        z = nl.jit(lambda a: lax.with_sharding_constraint(a, P("y")))(x)
        assert z.sharding.spec[0] == ("x", "y")
        assert tuple((y + x).sharding.spec) == ("x", "y")  # the compiler keeps Auto axes
        assert shown(y.sum(0)) == "[8]" and shown(y.sum(1)) == "[8@x]"
        numpy.testing.assert_array_equal(nl.grad(lambda a: (a * a).sum())(y), 2 * X)
        with pytest.raises(errors.ShardingError, match="Auto ones only, not 'x'"):
            nl.jit(lambda a: lax.with_sharding_constraint(a, P("x", "y")))(x)
        for reshard in (nl.reshard, nl.jit(nl.reshard, static_argnums=1)):
            assert shown(reshard(x, P(None, "x"))) == "[8,8@x]"
            with pytest.raises(errors.ShardingError, match="'y' is Auto"):
                reshard(x, P("x", "y"))


def test_replicated_results_stay_replicated_over_explicit_axes() -> None:
    mesh = mesh_of(E, A)
    x = put(X, "x", "y", mesh=mesh)
    with nl.set_mesh(mesh):
        found = nl.jit(lambda a: (a.sum(0), a.T @ nl.reshard(a, P(None, None))))(
            nl.reshard(x, P(None, None))
        )
    for t in found:
        assert "x" not in str(t.sharding.spec)
