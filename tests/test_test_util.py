"""check_grads accepts right rules and finds wrong ones."""

from __future__ import annotations

import functools

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.test_util import check_grads, check_jvp, check_vjp

X = numpy.asarray([0.3, -0.8, 1.2], numpy.float32)


@nl.custom_jvp
def wrong(x):
    """A sine with a wrong derivative."""
    return np.sin(x)


wrong.defjvp(lambda primals, tangents: (np.sin(primals[0]), tangents[0] * 3.0))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_right_derivatives(order: int) -> None:
    check_grads(lambda x, y: np.sin(x) * np.exp(y), (X, 0.4), order)


def test_trees_integers_and_one_mode() -> None:
    def f(d, n):
        return {"out": d["a"] ** n, "same": n}

    check_grads(f, ({"a": X}, 3), 2, modes="fwd")
    check_grads(f, ({"a": X}, 3), 2, modes=["rev"])


def test_complex_functions() -> None:
    z = X + 1j * X[::-1]
    check_grads(lambda z: z**2, (z.astype("complex64"),), 2)
    check_grads(np.conj, (z.astype("complex64"),), 1)
    check_grads(lambda z: np.abs(z), (z.astype("complex64"),), 1)
    check_grads(lambda x: x * (1 + 2j), (X,), 1)


def test_other_widths() -> None:
    check_grads(np.tanh, (X.astype("bfloat16"),), 1)
    with nl.enable_x64():
        check_grads(np.tanh, (X.astype("float64"),), 2, atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_wrong_derivatives(mode: str) -> None:
    with pytest.raises(AssertionError, match=mode):
        check_grads(wrong, (X,), 1, modes=mode)
    with pytest.raises(AssertionError, match=f"{mode} of {mode}"):
        check_grads(second_order_wrong, (X,), 2, modes=mode)


@nl.custom_jvp
def second_order_wrong(x):
    """A square whose second derivative is wrong."""
    return x * x


second_order_wrong.defjvp(
    lambda primals, tangents: (primals[0] ** 2, tangents[0] * 2 * nl.lax.stop_gradient(primals[0]))
)


def test_given_rules() -> None:
    check_jvp(np.sin, functools.partial(nl.jvp, np.sin), (X,))
    check_vjp(np.sin, functools.partial(nl.vjp, np.sin), (X,))
    with pytest.raises(AssertionError, match="mine"):
        check_jvp(np.sin, functools.partial(nl.jvp, np.cos), (X,), err_msg="mine")
    with pytest.raises(AssertionError):
        check_vjp(np.sin, lambda x: (np.sin(x), lambda c: (c,)), (X,))


def test_errors() -> None:
    with pytest.raises(errors.ArgumentError, match="modes"):
        check_grads(np.sin, (X,), 1, modes="both")
    with pytest.raises(errors.ValueArgumentError, match="order"):
        check_grads(np.sin, (X,), 0)
