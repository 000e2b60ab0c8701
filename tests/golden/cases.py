"""The programs and mistakes whose printed form is kept in golden files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import numlift as nl
import numlift.numpy as np
from numlift import lax, random

V = numpy.ones(3, numpy.float32)
M = numpy.ones((2, 3), numpy.float32)
N = numpy.arange(3)


def network(params, x):
    for w, b in params:
        x = np.tanh(x @ w + b)
    return np.mean(x**2)


PARAMS = [(numpy.ones((3, 4), "f4"), numpy.ones(4, "f4")), (numpy.ones((4, 1), "f4"), 0.5)]

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "arithmetic": (lambda x: (x + 1) * 2.0 - x / x, (V,)),
    "weak numbers": (lambda x, s: x * s + 2, (V, 3.0)),
    "softmax": (lambda x: np.exp(x) / np.sum(np.exp(x)), (V,)),
    "matmul": (lambda x, y: x @ y, (M, V)),
    "indexing": (lambda x: (x[0], x[1:], x[:, None], x[..., -1]), (M,)),
    "update at an index": (lambda x: x.at[1].add(2.0), (V,)),
    "where": (lambda x: np.where(x > 0, x, 0.0), (V,)),
    "reductions": (lambda x: (x.sum(0), x.mean(), x.max(1)), (M,)),
    "gradient of sin": (nl.grad(lambda x: np.sin(x)), (1.0,)),
    "second derivative": (nl.grad(nl.grad(lambda x: x**3)), (1.0,)),
    "gradient of a network": (nl.grad(network), (PARAMS, M)),
    "jvp": (lambda x: nl.jvp(np.tanh, (x,), (x,)), (V,)),
    "batched product": (nl.vmap(lambda x, y: x @ y, (0, None)), (M, V)),
    "batched gradient": (nl.vmap(nl.grad(lambda x: np.sum(x * np.sin(x)))), (M,)),
    "nested jit": (lambda x: nl.jit(lambda y: np.sin(y) + np.cos(y) * y)(x) * 2.0, (V,)),
    "scan": (lambda x: lax.scan(lambda c, v: (c + v, c * v), 0.0, x), (V,)),
    "gradient of scan": (nl.grad(lambda x: lax.scan(lambda c, v: (c * v, c), 1.0, x)[0]), (V,)),
    "cond": (lambda x: lax.cond(x > 0, np.sin, np.cos, x), (1.0,)),
    "while": (lambda x: lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x), (1.0,)),
    "random numbers": (lambda: random.normal(random.key(0), (2,)), ()),
    "results without arguments": (lambda: (np.zeros(2), 1, 2.5), ()),
}


def leak():
    kept = []
    nl.jit(lambda x: kept.append(np.sin(x)) or x)(1.0)
    return kept[0] + 1.0


def use_deleted():
    x = np.ones(3)
    x.delete()
    return x + 1


def use_donated():
    x = np.ones(3)
    nl.jit(lambda x: x + 1, donate_argnums=0)(x)
    return x + 1


def assign():
    x = np.ones(3)
    x[0] = 1.0


def carry_changes(c, x):
    return c.astype("int32"), x


@nl.custom_vjp
def custom(x):
    return x


custom.defvjp(lambda x: (x, None), lambda res, ct: (ct, ct))


ERRORS: dict[str, Callable[[], Any]] = {
    # shapes
    "add: shapes": lambda: np.ones((2, 3)) + np.ones((4, 5)),
    "lax.add: shapes": lambda: lax.add(np.ones(2), np.ones(3)),
    "lax.add: dtypes": lambda: lax.add(np.ones(2), np.ones(2, "int32")),
    "matmul": lambda: np.ones((2, 3)) @ np.ones((2, 3)),
    "matmul: scalar": lambda: np.matmul(np.ones(3), 2.0),
    "dot": lambda: np.dot(np.ones((2, 3)), np.ones(2)),
    "reshape": lambda: np.reshape(np.ones(6), (4, 2)),
    "reshape: two unknown sizes": lambda: np.ones(6).reshape(-1, -1),
    "concatenate": lambda: np.concatenate([np.ones((2, 3)), np.ones((2, 4))]),
    "concatenate: ranks": lambda: np.concatenate([np.ones((2, 3)), np.ones(3)]),
    "concatenate: nothing": lambda: np.concatenate([]),
    "stack": lambda: np.stack([np.ones(2), np.ones(3)]),
    "broadcast_to": lambda: np.broadcast_to(np.ones(3), (2,)),
    "transpose": lambda: np.transpose(np.ones((2, 3)), (0, 0)),
    "squeeze": lambda: np.squeeze(np.ones((2, 3)), 0),
    "einsum": lambda: np.einsum("ij,jk->ik", np.ones((2, 3)), np.ones((2, 3))),
    # axes and indices
    "sum: axis": lambda: np.sum(np.ones((2, 3)), axis=2),
    "sum: repeated axis": lambda: np.sum(np.ones((2, 3)), axis=(0, 0)),
    "index: too many": lambda: np.ones((2, 3))[0, 0, 0],
    "index: float": lambda: np.ones(3)[1.5],
    "index: text": lambda: np.ones(3)["a"],
    "index: mask under jit": lambda: nl.jit(lambda x: x[x > 0])(V),
    "item assignment": assign,
    # dtypes
    "sin of integers": lambda: lax.sin(N),
    "dtype: unknown": lambda: np.zeros(3, "float23"),
    "array of text": lambda: np.asarray(["a", "b"]),
    "array of ragged lists": lambda: np.asarray([[1, 2], [3]]),
    "compare complex numbers": lambda: lax.lt(np.ones(2, "complex64"), np.ones(2, "complex64")),
    # tracing
    "if on a traced value": lambda: nl.jit(lambda x: 1.0 if x > 0 else 2.0)(1.0),
    "float of a traced value": lambda: nl.jit(lambda x: float(x))(1.0),
    "range of a traced value": lambda: nl.jit(lambda n: list(range(n)))(3),
    "NumPy on a traced value": lambda: nl.jit(lambda x: numpy.asarray(x))(1.0),
    "shape from a traced value": lambda: nl.jit(lambda n: np.zeros(n))(3),
    "leaked tracer": leak,
    "nonzero under jit": lambda: nl.jit(np.nonzero)(V),
    # jit
    "jit: argument": lambda: nl.jit(lambda x: x)({"name": "text"}),
    "jit: result": lambda: nl.jit(lambda x: {"a": "text"})(1.0),
    "jit: unhashable": lambda: nl.jit(lambda x, n: x, static_argnums=1)(1.0, [1]),
    "jit: static position": lambda: nl.jit(lambda x: x, static_argnums=2),
    "jit: static name": lambda: nl.jit(lambda x: x, static_argnames="y"),
    "jit: no function": lambda: nl.jit(3),
    "deleted array": use_deleted,
    "donated array": use_donated,
    # grad
    "grad: not a scalar": lambda: nl.grad(lambda x: x)(V),
    "grad: integer": lambda: nl.grad(lambda x: x * 2.0)(3),
    "grad: integer result": lambda: nl.grad(lambda x: 3)(1.0),
    "grad: complex": lambda: nl.grad(lambda x: x)(1j),
    "grad: argnums": lambda: nl.grad(lambda x: x, 1)(1.0),
    "grad: has_aux": lambda: nl.grad(lambda x: x, has_aux=True)(1.0),
    "grad: while loop": lambda: nl.grad(PROGRAMS["while"][0])(1.0),
    "jvp: tangent": lambda: nl.jvp(np.sin, (V,), (M,)),
    "vjp: cotangent": lambda: nl.vjp(lambda x: (x, x), V)[1](V),
    "jacrev: integer result": lambda: nl.jacrev(lambda x: np.asarray(x, "int32"))(V),
    "custom_vjp: number of cotangents": lambda: nl.grad(custom)(1.0),
    # vmap
    "vmap: sizes": lambda: nl.vmap(lambda x, y: x)(V, M),
    "vmap: scalar": lambda: nl.vmap(lambda x: x)(1.0),
    "vmap: in_axes": lambda: nl.vmap(lambda x, y: x, in_axes=(0,))(V, V),
    "vmap: out_axes": lambda: nl.vmap(lambda x: x, out_axes=None)(V),
    "vmap: no batch": lambda: nl.vmap(lambda x: x, in_axes=None)(V),
    "vmap: shapes of one example": lambda: nl.vmap(lambda x: x + np.ones(2))(M),
    "unbound axis name": lambda: lax.psum(V, "i"),
    # control flow
    "scan: carry": lambda: lax.scan(carry_changes, np.zeros(()), V),
    "scan: lengths": lambda: lax.scan(lambda c, x: (c, None), 0.0, (V, M)),
    "scan: no pair": lambda: lax.scan(lambda c, x: c, 0.0, V),
    "cond: branches": lambda: lax.cond(True, lambda x: x, lambda x: (x, x), 1.0),
    "cond: dtypes of branches": lambda: lax.cond(True, lambda: V, lambda: N),
    "cond: predicate": lambda: lax.cond(V, lambda: 1.0, lambda: 2.0),
    "while: condition": lambda: lax.while_loop(lambda c: c, lambda c: c, V),
    "while: body": lambda: lax.while_loop(lambda c: True, lambda c: (c, c), 1.0),
    # sharding and random numbers
    "mesh: too many devices": lambda: nl.make_mesh((64,), ("i",)),
    "sharding: sizes": lambda: nl.device_put(
        V, nl.NamedSharding(nl.make_mesh((2,), ("i",)), nl.P("i"))
    ),
    "sharding: unknown axis": lambda: nl.NamedSharding(nl.make_mesh((2,), ("i",)), nl.P("j")),
    "random: no key": lambda: random.normal(3, (2,)),
    "random: shape": lambda: random.normal(random.key(0), (-1,)),
    "random: batch of keys": lambda: random.normal(random.split(random.key(0)), (2,)),
    # trees
    "tree.map: structures": lambda: nl.tree.map(lambda a, b: a, {"a": 1}, {"b": 1}),
}
