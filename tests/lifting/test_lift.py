"""`lift`: NumPy in, NumPy out, compiled."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from numpy import asarray as to_array

import numlift as nl
import numlift.numpy as nlnp
from numlift import errors
from numlift.core.tracing import Value
from numlift.lifting.relink import relink

X = np.array([0.5, 1.5, 2.0])
scale = 3.0


def helper(x):
    return np.asarray(x) * scale


def mutual(x, depth=2):
    return np.asarray(x) if depth == 0 else mutual(x, depth - 1) + 1


def energy(x):
    x = np.ascontiguousarray(np.asarray(x, dtype=float))
    pair = np.array([x.sum(), 1.0])
    return {"sum": np.sum(np.sin(helper(x))), "pair": pair, "same": to_array(x), "m": mutual(x)}


def test_values_dtypes_and_classes_are_those_of_numpy() -> None:
    expected, found = energy(X), nl.lift(energy)(X)
    assert set(found) == set(expected)
    for name, value in expected.items():
        assert type(found[name]) is type(value)
        assert found[name].dtype == value.dtype
        np.testing.assert_allclose(found[name], value, rtol=1e-14)
    assert not nl.config.enable_x64


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.complex128, np.uint8])
def test_every_dtype_is_kept(dtype) -> None:
    x = np.arange(3).astype(dtype)
    found = nl.lift(lambda x: np.concatenate([x, x]))(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.concatenate([x, x]))


def test_results_belong_to_the_caller() -> None:
    same = nl.lift(lambda x: x)
    found = same(X)
    found[0] = 100
    assert X[0] == 0.5
    assert same(X)[0] == 0.5


def test_one_program_for_equal_types() -> None:
    traces = []

    @nl.lift
    def f(x):
        traces.append(x)
        return np.sum(x)

    f(X), f(X + 1), f(X.astype(np.float32)), f(X)
    assert len(traces) == 2


def test_a_changed_global_is_seen_by_a_new_trace() -> None:
    lifted = nl.lift(helper)
    np.testing.assert_allclose(lifted(X), X * 3)
    np.testing.assert_allclose(lifted(X[:2]), X[:2] * 3)


def test_composition_with_transformations_on_both_sides() -> None:
    loss = lambda x: np.sum(helper(x) ** 2)
    inner = nl.lift(nl.grad(loss))(X)
    assert type(inner) is np.ndarray and inner.dtype == np.float64
    np.testing.assert_allclose(inner, 18 * X)
    outer = nl.grad(nl.lift(loss))(nlnp.asarray(X))
    assert isinstance(outer, Value)
    np.testing.assert_allclose(outer, 18 * X, rtol=1e-6)
    np.testing.assert_allclose(nl.lift(nl.vmap(loss))(np.stack([X, X])), [loss(X)] * 2)
    np.testing.assert_allclose(nl.lift(nl.hessian(loss))(X), 18 * np.eye(3))


def test_methods_partials_and_closures() -> None:
    class Model:
        weight = 2.0

        def __call__(self, x):
            return np.asarray(x) * self.weight

        def method(self, x):
            return np.array([np.asarray(x).sum(), self.weight])

    def outer(offset):
        def inner(x):
            return np.asarray(x) + later(offset)

        def later(y):
            return np.asarray(y) * 2

        return inner

    np.testing.assert_allclose(nl.lift(Model().method)(X), [4, 2])
    np.testing.assert_allclose(nl.lift(outer(1.0))(X), X + 2)
    np.testing.assert_allclose(nl.lift(functools.partial(helper))(X), 3 * X)


def test_static_arguments_and_options() -> None:
    total = nl.lift(lambda x, axis: np.sum(x, axis), static_argnums=1)
    assert total(np.ones((2, 3)), 1).shape == (2,)
    named = nl.lift(static_argnames="n")(lambda x, n=2: np.tile(x, n))
    assert named(X, n=3).shape == (9,)
    single = nl.lift(lambda x: x * 2, x64=False)
    assert single(X).dtype == np.float32


def test_control_flow_on_values() -> None:
    @nl.lift(autostage=True)
    def steps(n):
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    assert steps(6) == 8
    assert steps(27) == 111


def test_calls_that_cannot_be_traced_say_which() -> None:
    with pytest.raises(errors.ArgumentError, match="lift"):
        nl.lift(3)
    with pytest.raises(errors.TracerArrayConversionError, match="numpy.array2string"):
        nl.lift(lambda x: np.array2string(x))(X)
    with pytest.raises(errors.TracerBoolConversionError):
        nl.lift(lambda x: x if x.sum() > 0 else -x)(X)


def test_relinking_keeps_what_it_need_not_change() -> None:
    assert relink(helper).__wrapped__.__globals__["scale"] is scale
    assert helper.__globals__["np"] is np


def halved_if_large(x):
    if x[0] > 1:
        x = x / 2
    y = np.zeros(3)
    y[0] = x[1]
    return y


def test_lift_inside_of_lifted_code():
    def program(x):
        y = nl.lift(halved_if_large, autostage=True)(x)
        y[1] = 5.0
        return y + 1

    expected = halved_if_large(X) + np.array([1.0, 6.0, 1.0])
    for autostage in (False, True):
        found = nl.lift(program, autostage=autostage)(X)
        np.testing.assert_allclose(found, expected)
