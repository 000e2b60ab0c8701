"""Memories of a device: `device_put` to a space, memory kinds of shardings, offloaded residuals."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.ad_checkpoint import checkpoint_name
from numlift.memory import Space

KINDS = ["pinned_host", "unpinned_host", "device"]
X = numpy.arange(4, dtype="float32")


def single(kind: str | None) -> nl.sharding.SingleDeviceSharding:
    return nl.sharding.SingleDeviceSharding(nl.devices()[0], memory_kind=kind)


def offload(dst: str = "pinned_host") -> Any:
    return nl.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["kept"],
        names_which_can_be_offloaded=["moved"],
        offload_src="device",
        offload_dst=dst,
    )


def moved(x: Any) -> Any:
    return np.sin(checkpoint_name(np.sin(x), "moved"))


@pytest.mark.parametrize("kind", KINDS)
def test_eager_arrays_go_to_a_memory_and_back(kind: str) -> None:
    x = nl.device_put(X, single(kind))
    assert x.sharding.memory_kind == kind
    numpy.testing.assert_array_equal(x, X)
    numpy.testing.assert_array_equal(x + 1, X + 1)
    back = nl.device_put(x, single(kind).with_memory_kind("device"))
    assert back.sharding.memory_kind == "device"


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_where_out_shardings_says(kind: str) -> None:
    f = nl.jit(lambda x: x * 2, out_shardings=single(kind))
    y = f(X)
    assert y.sharding.memory_kind == kind
    numpy.testing.assert_array_equal(y, X * 2)
    numpy.testing.assert_array_equal(nl.jit(lambda x: x * 2, in_shardings=single(kind))(X), X * 2)
    compiled = f.lower(X).compile()
    text = compiled.as_text()
    assert ("S(5)" in text) == (kind == "pinned_host") and ("S(6)" in text) == (kind[0] == "u")


def test_spaces_outside_of_programs() -> None:
    x = nl.device_put({"a": X, "b": 1.5}, Space.Host)
    assert {v.sharding.memory_kind for v in x.values()} == {"pinned_host"}
    assert nl.device_put(x, Space.Any)["a"] is x["a"]
    y = nl.device_put(x["a"], Space.Device)
    assert y.sharding.memory_kind == "device"
    mesh = nl.make_mesh((1,), ("x",))
    z = nl.device_put(X, nl.NamedSharding(mesh, nl.P("x")))
    host = nl.device_put(z, Space.Host).sharding
    assert host == nl.NamedSharding(mesh, nl.P("x"), memory_kind="pinned_host")


def test_spaces_inside_programs() -> None:
    def f(x: Any) -> Any:
        return nl.device_put(nl.device_put(np.sin(x), Space.Host), Space.Device) * 2

    numpy.testing.assert_allclose(nl.jit(f)(X), 2 * numpy.sin(X), rtol=1e-6)
    numpy.testing.assert_allclose(nl.vmap(f)(X), 2 * numpy.sin(X), rtol=1e-6)
    numpy.testing.assert_allclose(
        nl.jit(nl.grad(lambda x: f(x).sum()))(X), 2 * numpy.cos(X), rtol=1e-6
    )
    numpy.testing.assert_allclose(
        nl.jvp(f, (X,), (numpy.ones_like(X),))[1], 2 * numpy.cos(X), rtol=1e-6
    )
    text = nl.jit(f).lower(X).as_text()
    assert text.index('placement = "pinned_host"') < text.index('placement = "device"')
    key = nl.jit(lambda k: nl.device_put(k, Space.Host))(nl.random.key(1))
    assert key.sharding.memory_kind == "pinned_host"


def test_a_result_stays_in_the_memory_that_it_was_put_in() -> None:
    def host(x: Any) -> Any:
        return nl.device_put(x * 2, Space.Host)

    def steps(x: Any) -> Any:
        return nl.lax.scan(lambda c, y: (c + y, nl.device_put(y, Space.Host)), 0.0, x)

    assert nl.jit(host)(X).sharding.memory_kind == "pinned_host"
    assert nl.jit(nl.jit(host))(X).sharding.memory_kind == "pinned_host"
    total, ys = nl.jit(steps)(X)
    assert (total.sharding.memory_kind, ys.sharding.memory_kind) == (None, "pinned_host")
    numpy.testing.assert_array_equal(ys, X)


def test_arguments_in_host_memory_are_fetched_unless_the_program_says_when() -> None:
    x = nl.device_put(X, Space.Host)
    text = nl.jit(lambda x: x * 2).lower(x).as_text()
    assert 'mhlo.memory_kind = "pinned_host"' in text
    assert text.index("annotate_device_placement(%arg0)") < text.index("multiply")

    def f(x: Any) -> Any:
        return nl.lax.scan(lambda c, y: (c + nl.device_put(y, Space.Device), None), 0.0, x)[0]

    text = nl.jit(f).lower(x).as_text()
    assert "annotate_device_placement(%arg0)" not in text and text.count("annotate") == 1
    numpy.testing.assert_array_equal(nl.jit(f)(x), X.sum())


@pytest.mark.parametrize("wrap", [lambda f: f, nl.jit])
def test_offloaded_residuals(wrap: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(nl.checkpoint(moved, policy=offload())(x))

    wanted = numpy.cos(numpy.sin(X)) * numpy.cos(X)
    numpy.testing.assert_allclose(wrap(nl.grad(f))(X), wanted, rtol=1e-5, atol=1e-6)
    numpy.testing.assert_allclose(
        wrap(nl.vmap(nl.grad(f)))(X[None]), wanted[None], rtol=1e-5, atol=1e-6
    )
    plain = nl.hessian(lambda x: np.sum(np.sin(np.sin(x))))(X)
    numpy.testing.assert_allclose(wrap(nl.hessian(f))(X), plain, rtol=1e-5, atol=1e-5)


def test_offloaded_residuals_go_to_the_host_and_back() -> None:
    def f(x: Any) -> Any:
        return np.sum(nl.checkpoint(moved, policy=offload())(x))

    text = nl.jit(nl.grad(f)).lower(X).as_text()
    assert text.count("stablehlo.sine") == 1 and text.count("annotate_device_placement") == 2
    kinds = []

    def forward(x: Any) -> Any:
        return nl.linearize(nl.checkpoint(moved, policy=offload()), x)[1].residuals()

    kinds = [r.sharding.memory_kind for r in forward(np.asarray(X)) if hasattr(r, "sharding")]
    assert "pinned_host" in kinds


def test_offloading_inside_scan() -> None:
    def f(x: Any, wrap: Any) -> Any:
        return nl.lax.scan(lambda c, _: (wrap(c), None), x, None, length=3)[0].sum()

    wanted = nl.grad(lambda x: f(x, moved))(X)
    found = nl.jit(nl.grad(lambda x: f(x, nl.checkpoint(moved, policy=offload()))))(X)
    numpy.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_offloading_products_without_batch_axes() -> None:
    a = numpy.linspace(0, 1, 16, dtype="float32").reshape(4, 4)
    policy = nl.checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host")

    def f(x: Any) -> Any:
        return np.sin(np.sin(a @ x)).sum()

    found = nl.jit(nl.grad(lambda x: nl.checkpoint(f, policy=policy)(x)))
    numpy.testing.assert_allclose(found(X), nl.grad(f)(X), rtol=1e-5)
    assert found.lower(X).as_text().count('placement = "pinned_host"') == 1


def test_both_policies() -> None:
    both = nl.checkpoint_policies.save_from_both_policies(
        nl.checkpoint_policies.nothing_saveable, offload()
    )
    text = nl.jit(nl.grad(lambda x: nl.checkpoint(moved, policy=both)(x))).lower(1.0).as_text()
    assert '"pinned_host"' in text


def test_a_name_is_in_one_list() -> None:
    with pytest.raises(errors.ValueArgumentError, match=r"in both lists: \['a'\]"):
        nl.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["a"],
            names_which_can_be_offloaded=["a"],
            offload_src="device",
            offload_dst="pinned_host",
        )


def test_memories_that_do_not_exist() -> None:
    policy = offload("drum")
    for f in (
        nl.grad(lambda x: nl.checkpoint(moved, policy=policy)(x)),
        nl.jit(lambda x: nl.device_put(x, single("drum"))),
        lambda x: nl.device_put(x, single("drum")),
        nl.jit(lambda x: x, out_shardings=single("drum")),
    ):
        with pytest.raises(errors.ShardingError, match="no memory 'drum'"):
            f(1.0)
