"""Operations on concrete arrays: one cached program each."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax
from numlift.api import eager


def test_operations_run_at_once() -> None:
    x = np.ones(3)
    y = lax.sin(x)
    assert isinstance(y, nl.Array)
    numpy.testing.assert_allclose(y, numpy.sin(numpy.ones(3)), rtol=1e-6)


@pytest.mark.parametrize(
    "x", [2.0, 3, True, 1j, numpy.float32(2), numpy.ones(2), numpy.ones((0, 2))]
)
def test_operands_of_every_kind(x) -> None:
    numpy.testing.assert_allclose(lax.add(x, x), numpy.asarray(x) + numpy.asarray(x))


def test_programs_are_kept_by_type_and_flags() -> None:
    nl.clear_caches()
    for _ in range(3):
        lax.sin(np.ones(5))
    first = len(eager._programs)
    lax.sin(np.ones(5))
    assert len(eager._programs) == first
    lax.sin(np.ones(6))
    with nl.enable_x64():
        lax.sin(np.ones(6))
    assert len(eager._programs) >= first + 2
    nl.clear_caches()
    assert len(eager._programs) == 0


def test_the_table_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(eager, "_LIMIT", 4)
    nl.clear_caches()
    for n in range(1, 12):
        lax.neg(np.zeros(n))
    assert len(eager._programs) <= 4


def test_operations_with_several_results() -> None:
    values, indices = lax.top_k(np.asarray([1.0, 3.0, 2.0]), 2)
    numpy.testing.assert_array_equal(values, [3, 2])
    numpy.testing.assert_array_equal(indices, [1, 2])


def test_higher_order_operations() -> None:
    assert float(lax.fori_loop(0, 3, lambda i, c: c * 2.0, 1.0)) == 8.0
    assert float(lax.cond(True, np.sin, np.cos, 0.0)) == 0.0
    carry, ys = lax.scan(lambda c, x: (c + x, c), 0.0, np.arange(4.0))
    assert float(carry) == 6.0 and ys.shape == (4,)


def test_results_stay_on_the_device_of_the_operands() -> None:
    device = nl.devices()[-1]
    x = nl.device_put(np.ones(3), device)
    assert lax.add(x, 1.0).devices() == {device}
    assert (x * np.ones(3)).devices() == {device}


def test_sharded_operands_give_sharded_results() -> None:
    n = len(nl.devices())
    mesh = nl.make_mesh((n,), ("i",))
    sharding = nl.NamedSharding(mesh, nl.P("i"))
    x = nl.device_put(np.arange(2.0 * n), sharding)
    assert (x * 2.0).sharding == sharding
    assert float((x * 2.0).sum()) == float(numpy.arange(2.0 * n).sum() * 2)


def test_debug_nans_names_the_operation() -> None:
    with nl.debug_nans(), pytest.raises(FloatingPointError, match=r"(?s)log.*NaN"):
        lax.log(np.asarray(-1.0))
    with nl.debug_infs(), pytest.raises(FloatingPointError, match="infinity"):
        lax.div(1.0, 0.0)
    with nl.debug_nans(), pytest.raises(FloatingPointError, match=r"jit\("):
        nl.jit(lambda x: np.log(x) * 2)(-1.0)
    with nl.debug_nans():
        assert float(lax.log(np.asarray(1.0))) == 0.0
    assert numpy.isnan(lax.log(np.asarray(-1.0)))


def test_tracers_of_other_traces_are_refused() -> None:
    kept = []
    nl.jit(lambda x: kept.append(x) or x)(1.0)
    with pytest.raises(errors.UnexpectedTracerError):
        eager.concrete(kept[0], "f")
    with pytest.raises(TypeError):
        lax.sin("text")


def test_type_errors_before_anything_runs() -> None:
    with pytest.raises(errors.ShapeError, match=r"(?s)float32\[2\].*float32\[3\]"):
        lax.add(np.ones(2), np.ones(3))
    with pytest.raises(errors.DTypeError):
        lax.sin(np.ones(3, "int32"))
