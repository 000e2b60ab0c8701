"""Operators, methods and attributes of arrays and traced values; what traced values refuse."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax

A = numpy.asarray([[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]], numpy.float32)
B = numpy.asarray([2.0, -0.5, 3.0], numpy.float32)
I, J = numpy.asarray([7, -7, 5], numpy.int32), numpy.asarray([3, 2, -2], numpy.int32)

FLOAT_OPERATORS: list[Callable[..., Any]] = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, divmod,
]  # fmt: skip
INT_OPERATORS: list[Callable[..., Any]] = [
    *FLOAT_OPERATORS, operator.and_, operator.or_, operator.xor,
]  # fmt: skip


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
        return
    wanted = numpy.asarray(wanted)
    assert isinstance(found, nl.Array)
    assert found.dtype.name == {"float64": "float32", "int64": "int32"}.get(
        wanted.dtype.name, wanted.dtype.name
    )
    numpy.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("op", FLOAT_OPERATORS, ids=lambda f: f.__name__)
def test_operators_on_floats(op: Callable[..., Any]) -> None:
    a, b = np.asarray(A), np.asarray(B)
    wanted = op(A, B)
    same(op(a, b), wanted)
    same(op(a, B), wanted)
    same(op(A, b), wanted)  # NumPy on the left gives way
    same(op(a, 2.0), op(A, numpy.float32(2.0)))
    same(op(2.0, a), op(numpy.float32(2.0), A))
    same(nl.jit(op)(a, b), wanted)


@pytest.mark.parametrize("op", INT_OPERATORS, ids=lambda f: f.__name__)
def test_operators_on_integers(op: Callable[..., Any]) -> None:
    i, j = np.asarray(I), np.asarray(J)
    same(op(i, j), op(I, J))
    same(op(i, 3), op(I, numpy.int32(3)))
    same(op(3, j), op(numpy.int32(3), J))


def test_other_operators() -> None:
    a, i = np.asarray(A), np.asarray(I)
    same(-a, -A)
    same(+a, A)
    same(abs(a), abs(A))
    same(~i, ~I)
    same(i << 2, I << 2)
    same(i >> 1, I >> 1)
    same(1 << abs(i), 1 << abs(I))
    same(a**2, A**2)
    same(a**3, A**3)
    same(2.0**a, 2.0**A)
    same(i**2, I**2)
    same(a @ B, A @ B)
    same(A @ np.asarray(B), A @ B)
    same(round(a), A.round().astype(int))
    same(round(a, 1), A.round(1))
    assert 3.0 in a and 9.0 not in a
    b = a
    b += 1
    assert b is not a and float(a[0, 0]) == 1.5


def test_foreign_operands_get_their_turn() -> None:
    class Foreign:
        def __radd__(self, other: Any) -> str:
            return "mine"

        def __eq__(self, other: object) -> Any:
            return "equal"

    x = np.ones(2)
    assert x + Foreign() == "mine" and (x == Foreign()) == "equal"
    assert (x == None) is False and (x != "a") is True  # noqa: E711
    for bad in ("a", [1, 2], None, {}):
        with pytest.raises(TypeError, match="unsupported operand"):
            x + bad


METHODS: list[Callable[[Any], Any]] = [
    lambda x: x.T, lambda x: x.reshape(3, 2), lambda x: x.reshape((3, -1)), lambda x: x.ravel(),
    lambda x: x.flatten(), lambda x: x.transpose(), lambda x: x.transpose(1, 0),
    lambda x: x.transpose((1, 0)), lambda x: x.swapaxes(0, 1), lambda x: x[None].squeeze(0),
    lambda x: x.dot(x.T), lambda x: x.clip(0, 2), lambda x: x.round(1), lambda x: x.repeat(2, 1),
    lambda x: x.take(numpy.asarray([0, 2]), axis=1), lambda x: x.diagonal(), lambda x: x.trace(),
    lambda x: x.real, lambda x: x.imag, lambda x: x.conj(), lambda x: x.copy(),
    lambda x: x.astype("int32"), lambda x: x.view("int32"), lambda x: x.view("uint8"),
    lambda x: x.mT, lambda x: x[1:, ::2], lambda x: x.sum(), lambda x: x.sum(0),
    lambda x: x.mean(axis=1, keepdims=True), lambda x: x.max(), lambda x: x.min(1),
    lambda x: x.std(), lambda x: x.var(0, ddof=1), lambda x: x.prod(1), lambda x: x.cumsum(1),
    lambda x: x.cumprod(0), lambda x: (x > 0).all(), lambda x: (x > 0).any(0), lambda x: x.ptp()
    if hasattr(x, "ptp") else numpy.ptp(x),
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_methods_equal_numpy(method: Callable[[Any], Any]) -> None:
    same(method(np.asarray(A)), method(A))
    same(nl.jit(method)(A), method(A))


SORTING: list[Callable[[Any], Any]] = [
    lambda x: x.argmax(1), lambda x: x.argmin(), lambda x: x.argsort(0),
    lambda x: x.searchsorted(0.7) if x.ndim == 1 else x.ravel().argmax(), lambda x: x.nonzero(),
]  # fmt: skip


@pytest.mark.parametrize("method", SORTING)
def test_methods_that_give_positions(method: Callable[[Any], Any]) -> None:
    same(method(np.asarray(A)), method(A))


def test_views_of_all_kinds() -> None:
    c = np.asarray([1 + 2j, 3 + 4j])
    assert c.view("float32").tolist() == [1.0, 2.0, 3.0, 4.0]
    assert np.arange(4.0).view("complex64").tolist() == [1j, 2 + 3j]
    assert np.asarray([True, False]).view("uint8").tolist() == [1, 0]
    assert np.arange(4, dtype="uint8").view("uint16").tolist() == [256, 770]
    with pytest.raises(errors.ShapeError, match="view"):
        np.arange(3, dtype="uint8").view("uint16")
    x = np.asarray(I)
    same(x.byteswap(), I.byteswap())
    assert c.byteswap().byteswap().tolist() == c.tolist()


def test_attributes_of_traced_values() -> None:
    def f(x: Any) -> Any:
        assert x.shape == (2, 3) and x.ndim == 2 and x.size == 6 and x.dtype == "float32"
        assert x.itemsize == 4 and x.nbytes == 24 and not x.weak_type and len(x) == 2
        assert isinstance(x, np.ndarray) and x.block_until_ready() is x
        rows = list(x)
        assert len(rows) == 2 and rows[0].shape == (3,)
        with pytest.raises(errors.ImmutableArrayError, match="x.at"):
            x[0] = 1
        with pytest.raises(TypeError, match="unhashable"):
            hash(x)
        assert "Traced" in f"{x}"
        return rows[0] + rows[1]

    same(nl.jit(f)(A), A[0] + A[1])
    nl.grad(lambda x: f(x)[0])(A)


def test_python_control_flow_under_grad() -> None:
    def f(x: Any) -> Any:
        if x > 1 and bool(x):
            return x * int(x) + math.floor(x) - math.ceil(x) * math.trunc(x)
        return x

    assert float(nl.grad(f)(2.5)) == 2
    assert [1, 2, 3][np.asarray(1)] == 2
    assert nl.grad(lambda x: x * [1.0, 5.0][int(x)])(1.0) == 5.0


def _written(x: Any) -> Any:
    a = numpy.zeros(2)
    a[0] = 2 * x
    return a.sum()


@pytest.mark.parametrize("transform", [nl.grad, lambda f: lambda x: nl.jvp(f, (x,), (1.0,)),
                                       lambda f: lambda x: nl.linearize(f, x)])  # fmt: skip
@pytest.mark.parametrize("call", [
    lambda x: x * float(x), lambda x: x * math.exp(x), lambda x: x * x.item(),
    lambda x: (complex(x) * x).real, lambda x: x * x.tolist(), lambda x: x * numpy.float64(x),
    lambda x: x * float(f"{float(x)}"),
])  # fmt: skip
def test_python_numbers_do_not_drop_derivatives(transform: Any, call: Any) -> None:
    with pytest.raises(TypeError, match=r"derivative"):
        transform(call)(3.0)
    still = lambda x: x * float(lax.stop_gradient(x))
    assert nl.grad(still)(3.0) == 3.0


def test_writing_into_numpy_arrays_does_not_drop_derivatives() -> None:
    with pytest.raises(ValueError) as caught:
        nl.grad(_written)(3.0)
    assert "nl.lift" in str(caught.value.__cause__)
    assert nl.grad(nl.lift(_written))(3.0) == 2.0


STAGED: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: 1 if x else 0, errors.TracerBoolConversionError, "lax.cond"),
    (lambda x: x and x, errors.TracerBoolConversionError, "np.where"),
    (float, errors.ConcretizationTypeError, "astype"),
    (int, errors.ConcretizationTypeError, "astype"),
    (complex, errors.ConcretizationTypeError, "known"),
    (lambda x: x.item(), errors.ConcretizationTypeError, "known"),
    (lambda x: x.tolist(), errors.ConcretizationTypeError, "known"),
    (lambda x: [1, 2][x.astype(int)], errors.TracerIntegerConversionError, "static_argnums"),
    (lambda x: range(x.astype(int)), errors.TracerIntegerConversionError, "fori_loop"),
    (numpy.asarray, errors.TracerArrayConversionError, "pure_callback"),
    (lambda x: x.committed, errors.ConcretizationTypeError, "outside the traced function"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "error", "advice"), STAGED)
def test_traced_values_refuse_and_teach(
    function: Callable[[Any], Any], error: type[Exception], advice: str
) -> None:
    with pytest.raises(error, match=advice) as caught:
        nl.jit(function)(1.0)
    assert isinstance(caught.value, TypeError)
    assert "float32[]" in str(caught.value) or "int32[]" in str(caught.value)


def test_message_names_the_users_line() -> None:
    def decide(x: Any) -> Any:
        y = x * 2
        if y > 3:
            return y
        return x

    with pytest.raises(errors.TracerBoolConversionError) as caught:
        nl.jit(decide)(1.0)
    assert "if y > 3:" in str(caught.value) and "jit(decide)" in str(caught.value)


def test_conversion_under_grad_would_lose_the_derivative() -> None:
    with pytest.raises(errors.TracerArrayConversionError, match="stop_gradient"):
        nl.grad(lambda x: numpy.asarray(x))(1.0)
    assert nl.grad(lambda x: x * float(numpy.asarray(lax.stop_gradient(x))))(0.0) == 0.0


def test_vmap_has_no_single_value() -> None:
    with pytest.raises(errors.TracerBoolConversionError, match="vmap"):
        nl.vmap(lambda x: x if x > 0 else -x)(np.ones(3))


def test_leaked_values() -> None:
    kept: list[Any] = []
    nl.jit(lambda x: kept.append(x * 2) or x)(1.0)
    (x,) = kept
    for use in (lambda: x + 1, lambda: bool(x), lambda: float(x), lambda: numpy.asarray(x)):
        with pytest.raises(errors.UnexpectedTracerError, match="trace had ended"):
            use()


def test_copies() -> None:
    x = np.asarray(A)
    for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy()):
        assert y is not x
        same(y, A)
    assert x.__array_namespace__() is np


def test_iterating_under_vmap_and_jit() -> None:
    f = lambda x: sum(v * i for i, v in enumerate(x))
    same(nl.vmap(f)(A), A[:, 1] + 2 * A[:, 2])
    same(nl.jit(f)(B), B[1] + 2 * B[2])


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128"])
def test_arrays_of_an_ended_x64_scope_beside_numbers(dtype):
    with nl.enable_x64(True):
        x = np.ones(2, dtype)
    narrow = {"float64": "float32", "int64": "int32", "complex128": "complex64"}[dtype]
    for y in (x + 1, 1 + x, x * 2, 2 - x):
        assert y.dtype == narrow


def test_lists_are_compared_by_element():
    x = np.arange(3)
    assert (x == [0, 1, 5]).tolist() == [True, True, False]
    assert (x != (0, 1, 2)).tolist() == [False, False, False]


def test_complex_numbers_are_not_real_ones():
    with pytest.raises(TypeError, match=r"x\.real"):
        float(np.array(1 + 2j))


def test_reshape_without_sizes_is_rank_0():
    assert np.array(3).reshape().shape == np.ones((1, 1)).reshape().shape == ()
    with pytest.raises(errors.ShapeError, match="3 elements"):
        np.ones(3).reshape()
