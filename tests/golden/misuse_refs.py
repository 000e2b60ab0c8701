"""Typical mistakes with mutable arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import numlift as nl
import numlift.numpy as np
from numlift import lax

V = numpy.ones(3, numpy.float32)
M = numpy.ones((2, 3), numpy.float32)


def put(ref, index, value):
    ref[index] = value


def frozen():
    ref = nl.new_ref(V)
    nl.freeze(ref)
    return ref


def ended():
    kept: list[Any] = []
    nl.jit(lambda x: kept.append(nl.new_ref(x)))(V)
    return kept[0]


def refused(transform: Callable[..., Any], *args: Any) -> Any:
    """A function that writes to a ref from outside, transformed."""
    ref = nl.new_ref(V)

    def f(x):
        ref[0] = x
        return x

    return transform(f)(*args)


def twice(call: Callable[[Any], Any]) -> Any:
    return call(nl.new_ref(M))


MISUSES: dict[str, dict[str, Callable[[], Any]]] = {
    "new_ref": {
        "list": lambda: nl.new_ref([1.0, 2.0]),
        "ref": lambda: nl.new_ref(nl.new_ref(1.0)),
        "memory_space": lambda: nl.new_ref(1.0, memory_space="host"),
        "kind": lambda: nl.new_ref(1.0, kind="other"),
        "used as an array": lambda: np.sin(nl.new_ref(V)),
        "truth value": lambda: bool(nl.new_ref(1.0)),
        "index out of bounds": lambda: nl.new_ref(V)[3],
        "values of another shape": lambda: put(nl.new_ref(V), slice(2), M),
        "returned": lambda: nl.jit(lambda: nl.new_ref(V))(),
        "used after its trace": lambda: ended()[0],
        "passed twice": lambda: twice(lambda r: nl.jit(lambda a, b: a[0] + b[0])(r, r)),
        "closed over as well": lambda: twice(lambda r: nl.jit(lambda a: a[0] + r[0])(r)),
        "lent to vmap": lambda: twice(lambda r: nl.vmap(lambda a: a[0] + r[0, 0])(r)),
        "batched value": lambda: refused(nl.vmap, V),
        "differentiated value": lambda: refused(nl.grad, 1.0),
        "gradient by a ref": lambda: twice(nl.grad(lambda r: r[0, 0])),
        "tangent": lambda: twice(lambda r: nl.jvp(lambda a: a[0, 0], (r,), (M,))),
        "carry": lambda: twice(lambda r: lax.fori_loop(0, 3, lambda i, c: c, r)),
        "condition writes": lambda: refused(lambda f: lambda x: lax.while_loop(
            lambda x: f(x) < 3, lambda x: x + 1, x), 1.0),
        "linear_transpose": lambda: refused(lambda f: nl.linear_transpose(f, 1.0)),
        "export": lambda: refused(lambda f: nl.export.export(nl.jit(f)), 1.0),
    },
    "freeze": {
        "array": lambda: nl.freeze(V),
        "frozen": lambda: nl.freeze(frozen()),
        "argument": lambda: nl.jit(nl.freeze)(nl.new_ref(V)),
    },
    "ref.get": {
        "array": lambda: nl.ref.get(V, 0),
        "frozen": lambda: nl.ref.get(frozen(), 0),
    },
    "ref.set": {
        "array": lambda: nl.ref.set(V, 0, 1.0),
        "value is a ref": lambda: twice(lambda r: nl.ref.set(r, ..., r)),
    },
    "ref.swap": {
        "array": lambda: nl.ref.swap(V, 0, 1.0),
        "out of bounds": lambda: twice(lambda r: nl.ref.swap(r, 5, 1.0)),
    },
    "ref.addupdate": {
        "array": lambda: nl.ref.addupdate(V, 0, 1.0),
        "shape": lambda: twice(lambda r: nl.ref.addupdate(r, 0, np.ones(2))),
    },
    "ref.empty_ref": {
        "number": lambda: nl.ref.empty_ref(3),
        "memory_space": lambda: nl.ref.empty_ref(nl.ShapeDtypeStruct((2,), "float32"), "host"),
    },
    "ref.free_ref": {
        "array": lambda: nl.ref.free_ref(V),
    },
}  # fmt: skip
