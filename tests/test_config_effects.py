"""Scopes of flags do what they say: devices, precision, promotion, guards, logs, checks."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.core.graph import Equation, Graph, Var
from numlift.core.types import array_type
from numlift.structural.arith import add

A, B = numpy.ones(3, numpy.float32), numpy.ones((2, 3), numpy.float32)


# ---- devices -------------------------------------------------------------------------------------

TWO_DEVICES = """
import numpy, numlift as nl, numlift.numpy as np
nl.config.update("num_cpu_devices", 2)
first, second = nl.devices()
x = np.ones(3)
with nl.default_device(second):
    made = [
        np.ones(3), np.arange(3), np.asarray(numpy.ones(3)), nl.device_put(1.0), x + 1, np.sin(x),
        nl.jit(lambda x: x * 2)(x), nl.jit(lambda: np.ones(2))(), np.ones(3) + x,
        nl.random.normal(nl.random.key(0), (2,)), nl.grad(lambda x: np.sum(x**2))(x),
    ]
    kept = nl.device_put(x, first) + 1
assert all(y.devices() == {second} and not y.committed for y in made), made
assert kept.devices() == {first} and kept.committed
assert np.ones(3).devices() == {first}
"""


def test_default_device() -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES], env=env, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    with nl.default_device("cpu"):
        assert next(iter(np.ones(2).devices())).platform == "cpu"
    with pytest.raises(errors.ValueArgumentError, match="default_device"):
        nl.default_device("nonsense")


# ---- precision of products -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "word"),
    [("highest", "HIGHEST"), ("float32", "HIGHEST"), ("tensorfloat32", "HIGH"), ("high", "HIGH")],
)
def test_default_matmul_precision(name: str, word: str) -> None:
    products = {
        "matmul": lambda a: a @ a,
        "einsum": lambda a: np.einsum("ij,jk", a, a),
        "lax.dot": lambda a: nl.lax.dot(a, a),
        "conv": lambda a: nl.lax.conv(a[None, None], a[None, None], (1, 1), "SAME"),
        "gradient": nl.grad(lambda a: np.sum(a @ a)),
    }
    for f in products.values():
        with nl.default_matmul_precision(name):
            text = nl.jit(f).lower(np.ones((4, 4))).as_text()
        assert word in text
        assert word not in nl.jit(f).lower(np.ones((4, 4))).as_text()


# ---- promotion -----------------------------------------------------------------------------------

SPREADING = {
    "add": lambda: A + np.asarray(B),
    "where": lambda: np.where(np.asarray(A) > 0, B, 0),
    "maximum": lambda: np.maximum(A, B),
    "jit": lambda: nl.jit(np.hypot)(A, B),
    "grad": lambda: nl.grad(lambda a: np.sum(np.arctan2(a, B)))(A),
    "clip": lambda: np.clip(B, A, A),
}
ALLOWED = {
    "number": lambda: 2 + np.asarray(B),
    "rank 0": lambda: np.asarray(2.0) + np.asarray(B),
    "size 1": lambda: np.ones((1, 3)) + np.asarray(B),
    "matmul": lambda: np.matmul(A, numpy.ones((2, 3, 4), numpy.float32)),
    "broadcast_to": lambda: np.broadcast_to(A, (2, 3)),
    "set": lambda: np.asarray(B).at[:].set(A),
}


@pytest.mark.parametrize("name", SPREADING)
def test_rank_promotion(name: str) -> None:
    with nl.numpy_rank_promotion("raise"), pytest.raises(errors.ShapeError, match="different rank"):
        SPREADING[name]()
    with nl.numpy_rank_promotion("warn"), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        SPREADING[name]()
    assert any("different ranks" in str(w.message) for w in found)
    assert all(w.filename == __file__ for w in found)
    SPREADING[name]()


@pytest.mark.parametrize("name", ALLOWED)
def test_no_rank_promotion(name: str) -> None:
    with nl.numpy_rank_promotion("raise"):
        ALLOWED[name]()


def test_strict_dtype_promotion() -> None:
    i, f = np.arange(3), np.ones(3)
    with nl.numpy_dtype_promotion("strict"):
        for mixed in (
            lambda: i + f,
            lambda: i + 1.0,
            lambda: f + 1j,
            lambda: np.concatenate([i, f]),
            lambda: np.asarray(True) + f,
            lambda: np.ones(2, "float16") + np.ones(2, "float32"),
            lambda: np.promote_types("int32", "float32"),
            lambda: f.at[0].set(i[0]),
            lambda: nl.jit(lambda a, b: a * b)(i, f),
        ):
            with pytest.raises(errors.TypePromotionError, match="strict"):
                mixed()
        assert (i + 1).dtype == i.dtype and (f * 2).dtype == f.dtype
        assert np.sin(i).dtype == np.mean(i).dtype == f.dtype
        assert nl.grad(lambda x: np.sum(np.sin(x) ** 2) / 3)(f).dtype == f.dtype
        assert nl.random.normal(nl.random.key(0), (2,)).dtype == f.dtype
    assert (i + f).dtype == f.dtype


# ---- transfers -----------------------------------------------------------------------------------


def test_transfer_guard(caplog) -> None:
    x = np.ones(3)
    f = nl.jit(lambda x: x * 2)
    f(A), f(x)
    with nl.transfer_guard("disallow"):
        f(x)
        nl.device_get(x), nl.device_put(A)  # asked for: allowed
    with nl.transfer_guard("disallow"), pytest.raises(errors.DeviceError, match="host to device"):
        f(A)
    with (
        nl.transfer_guard_host_to_device("disallow_explicit"),
        pytest.raises(errors.DeviceError, match="explicit"),
    ):
        nl.device_put(A)
    with nl.transfer_guard("log"), caplog.at_level(logging.WARNING, "numlift"):
        f(A)
    assert "host to device" in caplog.text


def test_transfer_guard_of_implicit_moves() -> None:
    first, second = nl.devices()[:2]
    x = nl.device_put(np.ones(3), first)
    near = np.ones(3) * 2
    f = nl.jit(lambda x: x + 1)
    with nl.default_device(second):
        assert f(near).devices() == {second}
        with (
            nl.transfer_guard_device_to_device("disallow"),
            pytest.raises(errors.DeviceError, match="implicit transfer device to device"),
        ):
            f(near)
        with nl.transfer_guard_device_to_device("disallow"):
            assert f(x).devices() == {first}
            assert nl.device_put(x, second).devices() == {second}


# ---- logs ----------------------------------------------------------------------------------------


def test_log_compiles(caplog) -> None:
    def doubled_and_halved(x):
        return x * 2 / 2 + 41.25

    with nl.log_compiles(), caplog.at_level(logging.WARNING, "numlift"):
        nl.jit(doubled_and_halved)(A)
        nl.jit(doubled_and_halved)(A)
    lines = [r.getMessage() for r in caplog.records if "doubled_and_halved" in r.getMessage()]
    assert len(lines) >= 1 and all(r.name == "numlift" for r in caplog.records)
    assert " s" in lines[0] and ("compiled" in lines[0] or "disk cache" in lines[0])
    if len(lines) > 1:
        assert "memory cache" in lines[1]
    caplog.clear()
    nl.jit(lambda x: x * 3)(A)
    assert not caplog.records


# ---- leaks ---------------------------------------------------------------------------------------

KEPT: list = []


def keeps(x):
    y = np.sin(x)
    KEPT.append(y)  # the line above made it
    return y * 2


def returns(x):
    return np.sum(np.sin(x) * 2), {"aux": x}


TRACES = {
    "jit": lambda f: nl.jit(lambda x: f(x))(A),
    "grad": lambda f: nl.grad(lambda x: np.sum(f(x)))(A),
    "jvp": lambda f: nl.jvp(f, (A,), (A,)),
    "linearize": lambda f: nl.linearize(f, A)[1](A),
    "vmap": lambda f: nl.vmap(f)(B),
    "make_jaxpr": lambda f: nl.make_jaxpr(lambda x: f(x))(A),
    "jit of grad": lambda f: nl.jit(nl.grad(lambda x: np.sum(f(x))))(A),
}


@pytest.mark.parametrize("name", TRACES)
def test_tracer_leaks_are_reported(name: str) -> None:
    KEPT.clear()
    try:
        with nl.check_tracer_leaks(), pytest.raises(errors.UnexpectedTracerError) as info:
            TRACES[name](keeps)
    finally:
        KEPT.clear()
    text = str(info.value)
    assert "still referenced" in text and "y = np.sin(x)" in text
    assert "test_config_effects" in text.split("held by")[1]


@pytest.mark.parametrize("name", TRACES)
def test_no_false_leaks(name: str) -> None:
    with nl.check_tracer_leaks():
        TRACES[name](lambda x: nl.lax.sin(x) * 2)


def test_no_false_leaks_from_auxiliary_data_and_loops() -> None:
    with nl.check_tracer_leaks():
        nl.grad(returns, has_aux=True)(A)
        nl.vjp(returns, A, has_aux=True)
        nl.jvp(returns, (A,), (A,), has_aux=True)
        nl.jit(lambda x: nl.lax.scan(lambda c, y: (c + y, c * 2), 0.0, x))(A)


def test_leaks_are_not_looked_for_without_the_flag() -> None:
    nl.jit(lambda x: keeps(x))(A)
    KEPT.clear()


# ---- graphs --------------------------------------------------------------------------------------


def test_enable_checks() -> None:
    t = array_type((3,), "float32")
    x, y = Var(t), Var(array_type((2,), "float32"))
    with nl.enable_checks():
        with pytest.raises(errors.GraphVerifyError, match="types should be"):
            Graph([x], [Equation(add, [x, x], [y])], [y])
        with pytest.raises(errors.GraphVerifyError, match="undefined"):
            Graph([], [Equation(add, [x, x], [Var(t)])], [])
        nl.jit(nl.grad(lambda x: np.sum(np.where(x > 0, np.exp(x), x) ** 2)))(A)
        nl.hessian(lambda x: np.sum(nl.jit(np.tanh)(x)))(A)
        nl.grad(lambda x: nl.lax.scan(lambda c, y: (c * y, c), 1.0, x)[0])(A)
        nl.vmap(lambda x: nl.lax.cond(x[0] > 0, np.sin, np.cos, x))(B)
    with nl.enable_checks(False):
        Graph([x], [Equation(add, [x, x], [y])], [y])
