"""Typical mistakes with derivatives and with functions that bring rules of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import numlift as nl
import numlift.numpy as np
from numlift import lax
from numlift.custom_batching import custom_vmap, sequential_vmap
from numlift.custom_derivatives import custom_transpose, linear_call, zero_from_primal
from numlift.experimental.jet import jet

V = numpy.ones(3, numpy.float32)
M = numpy.ones((2, 3), numpy.float32)
N = numpy.arange(3)


def square(x):
    return np.sum(x * x)


def sum_of_two(x, y):
    return np.sum(x * y)


def while_loop(x):
    return lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x)


def with_jvp(rule: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one argument with this forward rule."""

    @nl.custom_jvp
    def scaled(x):
        return x * 2.0

    scaled.defjvp(rule)
    return scaled


def with_vjp(fwd: Callable[..., Any], bwd: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one argument with this reverse rule, summed."""

    @nl.custom_vjp
    def scaled(x):
        return x * 2.0

    scaled.defvjp(fwd, bwd)
    return lambda x: np.sum(scaled(x))


def of_two(bwd: Callable[..., Any]) -> Callable[..., Any]:
    """A function of an array and a dict with this backward rule, summed."""

    @nl.custom_vjp
    def layer(x, params):
        return x * params["w"]

    layer.defvjp(lambda x, params: (layer(x, params), None), bwd)
    return lambda x, params: np.sum(layer(x, params))


def with_vmap(rule: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one argument with this batching rule."""

    @custom_vmap
    def scaled(x):
        return x * 2.0

    scaled.def_vmap(rule)
    return scaled


def keep(x):
    return x * 2.0, x


def no_rule(kind: Callable[..., Any]) -> object:
    @kind
    def scaled(*xs):
        return xs[0] * 2.0

    return scaled(1.0, 1.0)


def keyword_only() -> object:
    @nl.custom_jvp
    def scaled(x, *, factor):
        return x * factor

    scaled.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    return scaled(1.0, factor=2.0)


def differentiated_index() -> object:
    @nl.custom_vjp
    def f(x):
        return x * 2.0

    f.defvjp(keep, lambda res, ct: (ct,))
    return nl.grad(lambda x, s: np.sum(f(x)) + s)(V, 1)


def converted_twice() -> object:
    converted, consts = nl.closure_convert(lambda x: x * 2.0, 1.0)
    return converted(1.0, *consts, 3.0)


def converted_tree() -> object:
    converted, consts = nl.closure_convert(lambda x: x["a"] * 2.0, {"a": 1.0})
    return converted({"b": 1.0}, *consts)


def transposed(result: Callable[..., Any]) -> object:
    divide = custom_transpose(lambda r, x: x / r)
    divide.def_transpose(result)
    return nl.grad(lambda x: divide(4.0, x))(1.0)


MISUSES: dict[str, dict[str, Callable[[], Any]]] = {
    "grad": {
        "no function": lambda: nl.grad(3.0),
        "called at once": lambda: nl.grad(square, V),
        "result is a vector": lambda: nl.grad(lambda x: x * 2.0)(V),
        "result is a pair": lambda: nl.grad(lambda x: (square(x), x))(V),
        "result is None": lambda: nl.grad(lambda x: None)(V),
        "integers": lambda: nl.grad(square)(N),
        "bool": lambda: nl.grad(square)(True),
        "text": lambda: nl.grad(lambda x: 1.0)("text"),
        "integer inside a tree": lambda: nl.grad(lambda p: p["w"] * 1.0)({"w": 1.0, "n": 3}),
        "complex result": lambda: nl.grad(lambda x: x * 1j)(1.0),
        "argnums out of range": lambda: nl.grad(square, argnums=1)(V),
        "argnums repeated": lambda: nl.grad(sum_of_two, argnums=(0, 0))(V, V),
        "argnums is text": lambda: nl.grad(sum_of_two, argnums="x")(V, V),
        "argument by name": lambda: nl.grad(square)(x=V),
        "has_aux without a pair": lambda: nl.grad(square, has_aux=True)(V),
        "loop of unknown length": lambda: nl.grad(while_loop)(1.0),
    },
    "value_and_grad": {
        "result is a vector": lambda: nl.value_and_grad(lambda x: x)(V),
        "argnums out of range": lambda: nl.value_and_grad(square, argnums=(0, 2))(V),
        "has_aux with three results": lambda: nl.value_and_grad(
            lambda x: (square(x), x, x), has_aux=True
        )(V),
        "integers": lambda: nl.value_and_grad(square)(N),
    },
    "jvp": {
        "no tuples": lambda: nl.jvp(np.sin, V, V),
        "number of tangents": lambda: nl.jvp(sum_of_two, (V, V), (V,)),
        "structure": lambda: nl.jvp(lambda p: p["a"], ({"a": V},), ({"b": V},)),
        "shape": lambda: nl.jvp(np.sin, (V,), (M,)),
        "dtype": lambda: nl.jvp(np.sin, (V,), (N,)),
        "tangent of integers": lambda: nl.jvp(lambda n: n * 2, (N,), (V,)),
        "no function": lambda: nl.jvp(V, (V,), (V,)),
        "has_aux without a pair": lambda: nl.jvp(np.sin, (V,), (V,), has_aux=True),
    },
    "vjp": {
        "no function": lambda: nl.vjp(V, V),
        "text": lambda: nl.vjp(np.sin, "text"),
        "structure of the cotangent": lambda: nl.vjp(lambda x: (x, x), V)[1](V),
        "shape of the cotangent": lambda: nl.vjp(np.sin, V)[1](M),
        "dtype of the cotangent": lambda: nl.vjp(np.sin, V)[1](N),
        "number of cotangents": lambda: nl.vjp(lambda x: (x, x), V)[1](V, V),
        "has_aux without a pair": lambda: nl.vjp(np.sin, V, has_aux=True),
    },
    "linearize": {
        "shape of the tangent": lambda: nl.linearize(np.sin, V)[1](M),
        "number of tangents": lambda: nl.linearize(np.sin, V)[1](V, V),
        "structure of the tangent": lambda: nl.linearize(lambda p: p["a"], {"a": V})[1](V),
        "text": lambda: nl.linearize(np.sin, "text"),
    },
    "linear_transpose": {
        "not linear": lambda: nl.linear_transpose(np.sin, V)(V),
        "product of arguments": lambda: nl.linear_transpose(sum_of_two, V, V)(1.0),
        "shape of the cotangent": lambda: nl.linear_transpose(lambda x: 2.0 * x, V)(M),
        "text": lambda: nl.linear_transpose(lambda x: x, "text"),
    },
    "jacfwd": {
        "integers": lambda: nl.jacfwd(np.sin)(N),
        "complex argument": lambda: nl.jacfwd(np.real)(1j),
        "argnums out of range": lambda: nl.jacfwd(np.sin, argnums=2)(V),
        "text result": lambda: nl.jacfwd(lambda x: "text")(V),
    },
    "jacrev": {
        "integers": lambda: nl.jacrev(np.sin)(N),
        "integer result": lambda: nl.jacrev(lambda x: np.asarray(x, "int32"))(V),
        "complex result": lambda: nl.jacrev(lambda x: x * 1j)(V),
        "argnums out of range": lambda: nl.jacrev(np.sin, argnums=-2)(V),
    },
    "jacobian": {
        "integers": lambda: nl.jacobian(np.sin)(N),
        "has_aux without a pair": lambda: nl.jacobian(np.sin, has_aux=True)(V),
    },
    "hessian": {
        "integers": lambda: nl.hessian(square)(N),
        "argnums out of range": lambda: nl.hessian(square, argnums=1)(V),
        "loop of unknown length": lambda: nl.hessian(while_loop)(1.0),
    },
    "hvp": {
        "result is a vector": lambda: nl.hvp(np.sin, (V,), (V,)),
        "no tuples": lambda: nl.hvp(square, V, V),
        "shape of the tangent": lambda: nl.hvp(square, (V,), (M,)),
        "integers": lambda: nl.hvp(square, (N,), (N,)),
    },
    "custom_jvp": {
        "no function": lambda: nl.custom_jvp(3.0),
        "no rule": lambda: no_rule(nl.custom_jvp),
        "nondiff_argnums out of range": lambda: nl.custom_jvp(square, nondiff_argnums=(3,)),
        "nondiff_argnames": lambda: nl.custom_jvp(square, nondiff_argnames=("y",)),
        "keyword-only argument": keyword_only,
        "rule without a pair": lambda: nl.grad(with_jvp(lambda p, t: p[0]))(1.0),
        "rule with a trailing tuple": lambda: nl.grad(with_jvp(lambda p, t: (p[0], t)))(1.0),
        "shape of the tangent": lambda: nl.jvp(
            with_jvp(lambda p, t: (p[0], np.sum(t[0]))), (V,), (V,)
        ),
        "dtype of the tangent": lambda: nl.jvp(
            with_jvp(lambda p, t: (p[0], np.asarray(t[0], "int32"))), (V,), (V,)
        ),
        "not linear in the tangent": lambda: nl.grad(
            with_jvp(lambda p, t: (p[0], np.sin(t[0])))
        )(1.0),
    },
    "custom_vjp": {
        "no function": lambda: nl.custom_vjp(3.0),
        "no rule": lambda: no_rule(nl.custom_vjp),
        "fwd without a pair": lambda: nl.grad(
            with_vjp(lambda x: x * 2.0, lambda res, ct: (ct,))
        )(V),
        "fwd with three results": lambda: nl.grad(
            with_vjp(lambda x: (x, x, x), lambda res, ct: (ct,))
        )(V),
        "fwd with text": lambda: nl.grad(
            with_vjp(lambda x: ("text", x), lambda res, ct: (ct,))
        )(V),
        "residual is text": lambda: nl.grad(
            with_vjp(lambda x: (x, "mode"), lambda res, ct: (ct,))
        )(V),
        "bwd without a tuple": lambda: nl.grad(with_vjp(keep, lambda res, ct: ct))(V),
        "bwd with None": lambda: nl.grad(with_vjp(keep, lambda res, ct: None))(V),
        "bwd with too many": lambda: nl.grad(with_vjp(keep, lambda res, ct: (ct, ct)))(V),
        "bwd of another shape": lambda: nl.grad(
            with_vjp(keep, lambda res, ct: (np.sum(ct),))
        )(V),
        "bwd of another dtype": lambda: nl.grad(
            with_vjp(keep, lambda res, ct: (np.asarray(ct, "int32"),))
        )(V),
        "bwd with text": lambda: nl.grad(with_vjp(keep, lambda res, ct: ("text",)))(V),
        "bwd without a name of a dict": lambda: nl.grad(
            of_two(lambda res, ct: (ct, {"v": ct})), argnums=(0, 1)
        )(V, {"w": V}),
        "bwd with too few": lambda: nl.grad(of_two(lambda res, ct: (ct,)))(V, {"w": V}),
    },
    "custom_gradient": {
        "no pair": lambda: nl.custom_gradient(lambda x: x * 2.0)(1.0),
        "no pullback": lambda: nl.custom_gradient(lambda x: (x, x))(1.0),
        "number of cotangents": lambda: nl.grad(
            nl.custom_gradient(lambda x, y: (x * y, lambda ct: ct * y))
        )(1.0, 2.0),
        "shape of the cotangent": lambda: nl.grad(
            lambda x: np.sum(nl.custom_gradient(lambda x: (x, lambda ct: np.sum(ct)))(x))
        )(V),
    },
    "closure_convert": {
        "no function": lambda: nl.closure_convert(3.0, 1.0),
        "number of values": converted_twice,
        "structure": converted_tree,
        "text": lambda: nl.closure_convert(lambda x: x, "text"),
    },
    "custom_derivatives.custom_transpose": {
        "no function": lambda: custom_transpose(3.0),
        "no rule": lambda: no_rule(custom_transpose),
        "shape of the cotangent": lambda: transposed(lambda r, ct: np.ones(3) * ct),
        "structure of the cotangent": lambda: transposed(lambda r, ct: (ct, ct)),
    },
    "custom_derivatives.linear_call": {
        "shape of the cotangent": lambda: linear_call(
            lambda r, x: x * r, lambda r, ct: np.sum(ct), 2.0, V
        ),
        "structure of the cotangent": lambda: linear_call(
            lambda r, x: x["a"] * r, lambda r, ct: ct, 2.0, {"a": V}
        ),
        "text": lambda: linear_call(lambda r, x: x, lambda r, ct: ct, "text", V),
    },
    "custom_derivatives.zero_from_primal": {
        "text": lambda: zero_from_primal("text"),
    },
    "custom_batching.custom_vmap": {
        "no rule": lambda: no_rule(custom_vmap),
        "rule without a pair": lambda: nl.vmap(with_vmap(lambda n, b, x: x))(V),
        "flags unlike the result": lambda: nl.vmap(with_vmap(lambda n, b, x: (x, (True, True))))(V),
        "no batch axis": lambda: nl.vmap(with_vmap(lambda n, b, x: (np.sum(x), True)))(V),
    },
    "custom_batching.sequential_vmap": {
        "no function": lambda: sequential_vmap(3.0),
        "no batch": lambda: nl.vmap(sequential_vmap(np.sin))(1.0),
    },
    "experimental.jet.jet": {
        "orders differ": lambda: jet(sum_of_two, (V, V), ((V, V), (V,))),
        "number of series": lambda: jet(sum_of_two, (V, V), ((V,),)),
        "shape of a term": lambda: jet(np.sin, (V,), ((M,),)),
        "integers": lambda: jet(np.sin, (N,), ((V,),)),
        "no tuples": lambda: jet(np.sin, V, V),
    },
}  # fmt: skip
