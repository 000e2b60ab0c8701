"""Unusual arguments of grad, vjp, jvp, linear_transpose, hvp: right, or an error that explains."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as onp
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors


class Model:
    def method(self, x: Any) -> Any:
        return x**2

    def __call__(self, x: Any) -> Any:
        return x**3


@nl.tree_util.register_dataclass
@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


def decorated(f: Any) -> Any:
    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return call


KEY = nl.random.key(0)
ZERO = onp.zeros((0, 3), onp.float32)
GRADS = {
    "zero size": (lambda: nl.grad(lambda x: np.sum(x * x))(ZERO), ZERO),
    "empty tree": (lambda: nl.grad(lambda p: 1.0)({}), {}),
    "none leaf": (lambda: nl.grad(lambda p: p[0] ** 2)((2.0, None)), (4.0, None)),
    "none argument": (lambda: nl.grad(lambda x, y: x**2)(2.0, None), 4.0),
    "numpy scalar": (lambda: nl.grad(lambda x: x**2)(onp.float32(2)), 4.0),
    "bool, allow_int": (
        lambda: nl.grad(lambda x: x * 2.0, allow_int=True)(True),
        onp.zeros((), nl.dtypes.float0),
    ),
    "key beside": (lambda: nl.grad(lambda x, k: x * 3 + 0 * nl.random.normal(k))(1.0, KEY), 3.0),
    "dataclass": (lambda: nl.grad(lambda d: d.a * d.b)(Pair(2.0, 3.0)).a, 3.0),
    "option": (lambda: nl.grad(lambda x, m: x**2 if m == "a" else x)(2.0, "a"), 4.0),
    "keyword": (lambda: nl.grad(lambda x, *, y: x * y)(2.0, y=3.0), 3.0),
    "partial": (lambda: nl.grad(functools.partial(lambda a, x: a * x, 3.0))(2.0), 3.0),
    "method": (lambda: nl.grad(Model().method)(2.0), 4.0),
    "callable": (lambda: nl.grad(Model())(2.0), 12.0),
    "decorated": (lambda: nl.grad(decorated(lambda x, y: x * y), argnums=-1)(2.0, 3.0), 2.0),
    "numpy argnums": (lambda: nl.grad(lambda x, y: x * y, argnums=onp.int64(1))(2.0, 3.0), 2.0),
    "numpy argnums, jacobian": (
        lambda: nl.jacfwd(lambda x, y: x * y, argnums=onp.int64(1))(2.0, 3.0),
        2.0,
    ),
    "unused": (lambda: nl.grad(lambda x, y: x, argnums=1)(2.0, ZERO), ZERO),
    "same result twice": (lambda: nl.vjp(lambda x: (x, x), 2.0)[1]((1.0, 2.0))[0], 3.0),
    "text as aux": (lambda: nl.grad(lambda x: (x**2, "aux"), has_aux=True)(2.0), (4.0, "aux")),
    "integer tangent": (lambda: nl.jvp(lambda x: x * 2.0, (1.0,), (1,))[1], 2.0),
    "integer cotangent": (lambda: nl.vjp(lambda x: x * 2.0, 1.0)[1](1)[0], 2.0),
    "number for float16": (
        lambda: nl.jvp(lambda x: x * 2, (onp.float16(1),), (1.0,))[1],
        onp.float16(2),
    ),
    "number as ct of float16": (
        lambda: nl.vjp(lambda x: x * x, onp.float16(1))[1](1)[0],
        onp.float16(2),
    ),
    "transpose, integer ct": (lambda: nl.linear_transpose(lambda x: x * 2.0, 1.0)(1)[0], 2.0),
    "transpose of checkpoint": (
        lambda: nl.linear_transpose(nl.checkpoint(lambda x: 3 * x), 2.0)(1.0)[0],
        3.0,
    ),
    "transpose with none": (
        lambda: nl.linear_transpose(lambda p: p[0] * 2, (1.0, None))(1.0)[0],
        (2.0, None),
    ),
    "hvp of a tree": (
        lambda: nl.hvp(lambda p: p["a"] ** 3, ({"a": 2.0, "b": None},), ({"a": 1.0, "b": None},))[
            "a"
        ],
        12.0,
    ),
}


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("name", GRADS)
def test_right(name: str, jit: bool) -> None:
    call, wanted = GRADS[name]
    if jit and name in ("text as aux", "bool, allow_int", "dataclass"):
        pytest.skip("the result is no array")
    found = nl.jit(call)() if jit else call()
    got, tree = nl.tree.flatten(found)
    want, wanted_tree = nl.tree.flatten(wanted)
    assert tree == wanted_tree
    for a, b in zip(got, want, strict=True):
        if isinstance(b, str):
            assert a == b
        elif onp.asarray(b).dtype == nl.dtypes.float0:
            assert a.dtype == b.dtype
        else:
            assert a.shape == onp.shape(b)
            assert isinstance(b, float) or a.dtype == b.dtype
            onp.testing.assert_array_equal(onp.asarray(a), onp.asarray(b))


ERRORS = {
    "int": (lambda: nl.grad(lambda x: x)(2), "must be a float"),
    "key": (lambda: nl.grad(nl.random.normal)(KEY), "Try: random keys by closure"),
    "keyword only": (lambda: nl.grad(lambda *, x: x)(x=2.0), "0 positional arguments"),
    "unregistered": (lambda: nl.grad(lambda d: 1.0)(Model()), "which is not an array"),
    "same argnum": (lambda: nl.grad(lambda x, y: x, argnums=(1, -1))(1.0, 2.0), "given twice"),
    "mixed holomorphic": (
        lambda: nl.grad(lambda p: p[0] * p[1], holomorphic=True)((1j, 1.0)),
        r"argument 0\[1\] is float32",
    ),
    "complex tangent": (lambda: nl.jvp(lambda x: x, (1.0,), (1j,)), "shape and dtype"),
    "complex cotangent": (lambda: nl.vjp(lambda x: x, 1.0)[1](1j), "shape and dtype"),
    "affine jvp tree": (lambda: nl.jvp(lambda x: x, (1.0,), (1.0, 2.0)), "structure of primals"),
    "not linear": (lambda: nl.linear_transpose(lambda x: x * x, 1.0)(1.0), "not linear"),
    "hvp of integers": (lambda: nl.hvp(lambda x: x * 2.0, (1,), (1,)), "float0"),
    "hvp of vectors": (lambda: nl.hvp(lambda x: x, (ZERO,), (ZERO,)), "scalar"),
    "no pair": (lambda: nl.grad(lambda x: x, has_aux=True)(1.0), "must return a pair"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_explained(name: str) -> None:
    call, text = ERRORS[name]
    with pytest.raises(errors.NumliftError, match=text):
        call()
