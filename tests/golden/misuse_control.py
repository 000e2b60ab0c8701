"""Typical mistakes with control flow, batching, collectives and solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import numlift as nl
import numlift.numpy as np
from numlift import lax

V = numpy.ones(3, numpy.float32)
M = numpy.ones((2, 3), numpy.float32)
N = numpy.arange(3)


def grows(c, x):
    return np.concatenate([c, c]), x


def renames(c, x):
    return {"total": c["sum"] + x}, x


def in_vmap(f: Callable[..., Any]) -> object:
    """The result of `f` over an axis named i of size 3."""
    return nl.vmap(f, axis_name="i")(V)


def identity(x):
    return x


def solve(**changed: Any) -> object:
    """A linear system with one part exchanged."""
    parts = {"matvec": lambda x: 2.0 * x, "b": V, "solve": lambda mv, b: b / 2.0, **changed}
    return lax.custom_linear_solve(**parts)


def root(**changed: Any) -> object:
    """A root with one part exchanged."""
    parts = {
        "f": lambda x: x - 1.0,
        "initial_guess": 2.0,
        "solve": lambda f, x: x - f(x),
        "tangent_solve": lambda g, y: y / g(1.0),
        **changed,
    }
    return lax.custom_root(**parts)


def no_transpose() -> object:
    def total(b):
        return np.sum(lax.custom_linear_solve(lambda x: 2.0 * x, b, lambda mv, b: b / 2.0))

    return nl.grad(total)(V)


MISUSES: dict[str, dict[str, Callable[[], Any]]] = {
    "vmap": {
        "no function": lambda: nl.vmap(3.0),
        "sizes": lambda: nl.vmap(lambda x, y: x)(V, M),
        "sizes inside a tree": lambda: nl.vmap(lambda p: p["a"])({"a": V, "b": M}),
        "scalar": lambda: nl.vmap(identity)(1.0),
        "text": lambda: nl.vmap(identity)("text"),
        "no arguments": lambda: nl.vmap(lambda: 1.0)(),
        "in_axes: length": lambda: nl.vmap(lambda x, y: x, in_axes=(0,))(V, V),
        "in_axes: structure": lambda: nl.vmap(lambda p: p["a"], in_axes=({"b": 0},))({"a": V}),
        "in_axes: out of range": lambda: nl.vmap(identity, in_axes=2)(M),
        "in_axes: no integer": lambda: nl.vmap(identity, in_axes="0")(M),
        "in_axes: nothing": lambda: nl.vmap(identity, in_axes=None)(V),
        "out_axes: None": lambda: nl.vmap(identity, out_axes=None)(V),
        "out_axes: out of range": lambda: nl.vmap(identity, out_axes=2)(V),
        "out_axes: structure": lambda: nl.vmap(identity, out_axes=(0, 0))(V),
        "axis_size": lambda: nl.vmap(identity, axis_size=4)(V),
        "shape of one example": lambda: nl.vmap(lambda x: x @ np.ones(2))(M),
        "if on one example": lambda: nl.vmap(lambda x: x if x > 0 else -x)(V),
    },
    "numpy.vectorize": {
        "signature: text": lambda: np.vectorize(identity, signature="n->n"),
        "signature: rank": lambda: np.vectorize(np.dot, signature="(n),(n)->()")(V, 1.0),
        "signature: sizes": lambda: np.vectorize(np.dot, signature="(n),(n)->()")(V, np.ones(2)),
        "signature: number of arguments": lambda: np.vectorize(np.dot, signature="(n),(n)->()")(V),
        "signature: result": lambda: np.vectorize(identity, signature="(n)->()")(V),
        "signature: two results": lambda: np.vectorize(identity, signature="(n)->(n),(n)")(V),
        "shapes": lambda: np.vectorize(lambda x, y: x + y)(V, np.ones(2)),
        "no function": lambda: np.vectorize(3.0),
        "excluded": lambda: np.vectorize(identity, excluded={1.5}),
    },
    "numpy.apply_along_axis": {
        "axis": lambda: np.apply_along_axis(np.sum, 2, M),
    },
    "lax.scan": {
        "no pair": lambda: lax.scan(lambda c, x: c, 0.0, V),
        "three results": lambda: lax.scan(lambda c, x: (c, x, x), 0.0, V),
        "carry: dtype": lambda: lax.scan(lambda c, x: (c + x, None), np.zeros((), int), V),
        "carry: shape": lambda: lax.scan(grows, np.zeros(2), V),
        "carry: structure": lambda: lax.scan(renames, {"sum": 0.0}, V),
        "carry: None": lambda: lax.scan(lambda c, x: (None, c), 0.0, V),
        "lengths": lambda: lax.scan(lambda c, x: (c, None), 0.0, (V, M)),
        "length": lambda: lax.scan(lambda c, x: (c, None), 0.0, V, length=4),
        "no length": lambda: lax.scan(lambda c, x: (c, None), 0.0, None),
        "xs is a scalar": lambda: lax.scan(lambda c, x: (c, None), 0.0, 3.0),
        "xs is text": lambda: lax.scan(lambda c, x: (c, None), 0.0, "text"),
        "traced length": lambda: nl.jit(lambda n: lax.scan(grows, 0.0, None, length=n))(3),
        "body takes one argument": lambda: lax.scan(lambda c: (c, None), 0.0, V),
        "no function": lambda: lax.scan(V, 0.0, V),
        "unroll": lambda: lax.scan(lambda c, x: (c, None), 0.0, V, unroll=-1),
    },
    "lax.while_loop": {
        "condition: array": lambda: lax.while_loop(lambda c: c < 3, lambda c: c, V),
        "condition: number": lambda: lax.while_loop(lambda c: c, lambda c: c, 1.0),
        "condition: pair": lambda: lax.while_loop(lambda c: (True, c), lambda c: c, 1.0),
        "condition: None": lambda: lax.while_loop(lambda c: None, lambda c: c, 1.0),
        "carry: structure": lambda: lax.while_loop(lambda c: True, lambda c: (c, c), 1.0),
        "carry: shape": lambda: lax.while_loop(lambda c: True, lambda c: c[1:], V),
        "carry: dtype": lambda: lax.while_loop(lambda c: c.sum() < 3, lambda c: c + 0.5, N),
        "carry: text": lambda: lax.while_loop(lambda c: True, lambda c: c, "text"),
        "body takes two arguments": lambda: lax.while_loop(
            lambda c: True, lambda i, c: (i, c), (0, 1.0)
        ),
        "gradient": lambda: nl.grad(
            lambda x: lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x)
        )(1.0),
    },
    "lax.fori_loop": {
        "carry: structure": lambda: lax.fori_loop(0, 3, lambda i, c: (c, c), 1.0),
        "carry: dtype": lambda: lax.fori_loop(0, 3, lambda i, c: c + 0.5, N),
        "carry: shape": lambda: lax.fori_loop(0, 3, lambda i, c: c[1:], V),
        "bounds: float": lambda: lax.fori_loop(0, 3.0, lambda i, c: c, 1.0),
        "bounds: array": lambda: lax.fori_loop(0, N, lambda i, c: c, 1.0),
        "body takes one argument": lambda: lax.fori_loop(0, 3, lambda c: c, 1.0),
        "gradient with a traced bound": lambda: nl.jit(
            lambda n, x: nl.grad(lambda x: lax.fori_loop(0, n, lambda i, c: c * x, x))(x)
        )(3, 1.0),
    },
    "lax.cond": {
        "predicate: array": lambda: lax.cond(V > 0, lambda: 1.0, lambda: 2.0),
        "predicate: text": lambda: lax.cond("yes", lambda: 1.0, lambda: 2.0),
        "branches: structure": lambda: lax.cond(True, identity, lambda x: (x, x), 1.0),
        "branches: shape": lambda: lax.cond(True, identity, np.sum, V),
        "branches: dtype": lambda: lax.cond(True, identity, lambda x: x > 0, V),
        "branches: text": lambda: lax.cond(True, lambda: "a", lambda: "b"),
        "branch is a value": lambda: lax.cond(True, V, V),
        "number of operands": lambda: lax.cond(True, lambda x: x, lambda x: x, 1.0, 2.0),
    },
    "lax.switch": {
        "no branches": lambda: lax.switch(0, []),
        "index: float": lambda: lax.switch(1.0, [identity, np.sin], V),
        "index: array": lambda: lax.switch(N, [identity, np.sin], V),
        "branches: structure": lambda: lax.switch(0, [identity, lambda x: {"a": x}], V),
        "branches: shape": lambda: lax.switch(0, [identity, np.sin, np.sum], V),
        "branch is a value": lambda: lax.switch(0, [identity, V], V),
    },
    "lax.platform_dependent": {
        "no case": lambda: lax.platform_dependent(V, tpu=np.sin),
        "structures": lambda: lax.platform_dependent(V, cpu=np.sin, default=lambda x: (x, x)),
        "no functions": lambda: lax.platform_dependent(V),
        "case is a value": lambda: lax.platform_dependent(V, cpu=V),
    },
    "lax.map": {
        "scalar": lambda: lax.map(identity, 1.0),
        "lengths": lambda: lax.map(lambda p: p[0], (V, M)),
        "batch_size": lambda: lax.map(identity, V, batch_size=0),
        "no function": lambda: lax.map(V, V),
    },
    "lax.associative_scan": {
        "axis": lambda: lax.associative_scan(np.add, V, axis=1),
        "lengths": lambda: lax.associative_scan(lambda a, b: a, (V, M)),
        "scalar": lambda: lax.associative_scan(np.add, 1.0),
        "structure": lambda: lax.associative_scan(lambda a, b: (a, b), V),
        "no function": lambda: lax.associative_scan(V, V),
    },
    "lax.custom_linear_solve": {
        "matvec: shape": lambda: solve(matvec=np.sum),
        "matvec: structure": lambda: solve(matvec=lambda x: (x, x)),
        "solve: shape": lambda: solve(solve=lambda mv, b: np.sum(b)),
        "no transpose": no_transpose,
    },
    "lax.custom_root": {
        "f: structure": lambda: root(f=lambda x: (x, x)),
        "f: shape": lambda: root(f=lambda x: np.ones(2) * x),
        "solve: structure": lambda: root(solve=lambda f, x: (x, x)),
        "tangent_solve: shape": lambda: nl.jvp(
            lambda a: root(f=lambda x: x - a, tangent_solve=lambda g, y: np.ones(2) * y),
            (1.0,), (1.0,),
        ),
    },
    "lax.psum": {
        "no such axis": lambda: lax.psum(V, "i"),
        "another axis": lambda: in_vmap(lambda x: lax.psum(x, "j")),
        "text": lambda: in_vmap(lambda x: lax.psum("text", "i")),
        "groups": lambda: in_vmap(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2]])),
        "position": lambda: nl.jit(lambda x: lax.psum(x, 0))(V),
    },
    "lax.pmean": {"no such axis": lambda: lax.pmean(V, "i")},
    "lax.pmax": {"no such axis": lambda: lax.pmax(V, ("i", "j"))},
    "lax.pmin": {"no such axis": lambda: lax.pmin(V, "i")},
    "lax.axis_index": {"no such axis": lambda: lax.axis_index("i")},
    "lax.axis_size": {"no such axis": lambda: lax.axis_size("i")},
    "lax.all_gather": {
        "no such axis": lambda: lax.all_gather(V, "i"),
        "axis": lambda: in_vmap(lambda x: lax.all_gather(x, "i", axis=2)),
        "tiled scalar": lambda: in_vmap(lambda x: lax.all_gather(x, "i", tiled=True)),
    },
    "lax.pcast": {
        "no such axis": lambda: lax.pcast(V, "i", to="varying"),
        "word": lambda: in_vmap(lambda x: lax.pcast(x, "i", to="fixed")),
    },
    "lax.all_to_all": {
        "no such axis": lambda: lax.all_to_all(V, "i", 0, 0),
        "size": lambda: nl.vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")(M),
        "axis": lambda: nl.vmap(lambda x: lax.all_to_all(x, "i", 1, 0), axis_name="i")(M),
    },
    "lax.psum_scatter": {
        "no such axis": lambda: lax.psum_scatter(V, "i"),
        "size": lambda: nl.vmap(lambda x: lax.psum_scatter(x, "i"), axis_name="i")(M),
    },
    "lax.ppermute": {
        "no such axis": lambda: lax.ppermute(V, "i", [(0, 1)]),
        "out of range": lambda: in_vmap(lambda x: lax.ppermute(x, "i", [(0, 3)])),
        "two sources": lambda: in_vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (2, 1)])),
        "no pairs": lambda: in_vmap(lambda x: lax.ppermute(x, "i", [0, 1, 2])),
    },
    "lax.pshuffle": {
        "no such axis": lambda: lax.pshuffle(V, "i", [0]),
        "no permutation": lambda: in_vmap(lambda x: lax.pshuffle(x, "i", [0, 0, 1])),
    },
    "lax.pswapaxes": {
        "no such axis": lambda: lax.pswapaxes(V, "i", 0),
        "size": lambda: nl.vmap(lambda x: lax.pswapaxes(x, "i", 0), axis_name="i")(M),
    },
    "lax.pbroadcast": {
        "no such axis": lambda: lax.pbroadcast(V, "i", 0),
        "source": lambda: in_vmap(lambda x: lax.pbroadcast(x, "i", 3)),
    },
    "lax.stop_gradient": {"text": lambda: lax.stop_gradient("text")},
    "lax.optimization_barrier": {"text": lambda: lax.optimization_barrier("text")},
}  # fmt: skip
