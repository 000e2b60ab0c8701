"""Samples of loops, branches, calls, custom rules, rematerialisation and named axes."""

from __future__ import annotations

from typing import Any

import numpy as np

import numlift as nl
import numlift.numpy as nlp
from numlift import lax
from numlift.ad_checkpoint import checkpoint_name
from numlift.custom_derivatives import linear_call
from numlift.memory import Space

from . import Sample
from .slicing import arrays

F = ("float32", "float64")
FC = (*F, "complex128")


def positive(*shapes: tuple[int, ...]) -> Any:
    """Inputs between 0.5 and 1.5."""
    return lambda rng, dtype: tuple(rng.uniform(0.5, 1.5, s).astype(dtype) for s in shapes)


def small(*shapes: tuple[int, ...]) -> Any:
    """Inputs that a recurrence keeps small."""
    make = arrays(*shapes)
    return lambda rng, dtype: tuple((0.2 * x).astype(x.dtype) for x in make(rng, dtype))


def with_number(shape: tuple[int, ...], *numbers: Any) -> Any:
    """Inputs between 0.5 and 1.5, then one of the numbers."""

    def make(rng: Any, dtype: Any) -> tuple[Any, ...]:
        return rng.uniform(0.5, 1.5, shape).astype(dtype), np.asarray(rng.choice(numbers))

    return make


def scan_rows(x: Any, xs: Any) -> Any:
    """A recurrence that keeps every carry."""
    return lax.scan(lambda c, v: (nlp.sin(c) * v + x, c * v), x, xs)


def scan_rows_oracle(x: np.ndarray, xs: np.ndarray) -> Any:
    c, ys = x, []
    for v in xs:
        ys.append(c * v)
        c = np.sin(c) * v + x
    return c, np.stack(ys)


def double_until(x: Any, limit: Any) -> Any:
    """Doubles x until its sum reaches the limit."""
    return lax.while_loop(lambda c: c.sum() < limit, lambda c: c * 2.0, x)


def double_until_oracle(x: np.ndarray, limit: Any) -> np.ndarray:
    while x.sum() < limit:
        x = x * 2.0
    return x


@nl.custom_jvp
def logged(x: Any) -> Any:
    """log(1 + exp(x)) with its own derivative."""
    return nlp.log(1 + nlp.exp(x))


@logged.defjvp
def _logged_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return logged(x), dx / (1 + nlp.exp(-x))


@nl.custom_vjp
def cubed(x: Any, y: Any) -> Any:
    """x^3 y with its own reverse rule."""
    return x * x * x * y


cubed.defvjp(
    lambda x, y: (cubed(x, y), (x, y)), lambda kept, ct: (
        3 * ct * kept[0] * kept[0] * kept[1], ct * kept[0] * kept[0] * kept[0]
    ),
)  # fmt: skip

inner = nl.jit(lambda x, y: (nlp.sin(x) * y, nlp.cos(x)))


def named(f: Any) -> Any:
    """`f` of the elements of a vector that are named i."""
    return lambda x: nl.vmap(f, axis_name="i")(x)


SAMPLES: list[Sample] = [
    Sample("scan", scan_rows, small((3,), (4, 3)), scan_rows_oracle, FC, (0, 1)),
    Sample(
        "scan/reverse",
        lambda xs: lax.scan(lambda c, v: (c * v, c + v), xs[0] * 0 + 1, xs, reverse=True)[1],
        positive((4, 2)),
        lambda xs: np.stack(
            [np.prod(xs[i + 1 :], axis=0) + xs[i] for i in range(len(xs))]
        ),
        F, (0,),
    ),
    Sample(
        "scan/unroll", lambda x: lax.scan(lambda c, _: (c * x, None), x, None, 5, unroll=2)[0],
        positive((2,)), lambda x: x**6, F, (0,),
    ),
    Sample(
        "scan/without steps", lambda x, xs: lax.scan(lambda c, v: (c + v, c), x, xs)[0],
        arrays((2,), (0, 2)), lambda x, xs: x, F, (0, 1),
    ),
    Sample(
        "fori_loop", lambda x: lax.fori_loop(0, 4, lambda i, c: c * x + i, x), positive((2,)),
        lambda x: (((x * x) * x + 1) * x + 2) * x + 3, F, (0,),
    ),
    Sample(
        "while_loop", double_until, with_number((2,), 3.0, 7.0, 20.0), double_until_oracle, F,
        (0,), transposable=False, second_order=False,
    ),
    Sample(
        "cond", lambda x, p: lax.cond(p, lambda v: nlp.sin(v) * v, lambda v: v * x, x),
        with_number((3,), True, False), lambda x, p: np.sin(x) * x if p else x * x, F, (0,),
    ),
    Sample(
        "switch",
        lambda x, i: lax.switch(i, [nlp.sin, lambda v: v, lambda v: 2.0 + 0 * v], x),
        with_number((3,), 0, 1, 2, 5, -1),
        lambda x, i: [np.sin(x), x, 2 + 0 * x][min(max(int(i), 0), 2)], F, (0,),
    ),
    Sample(
        "map", lambda x: lax.map(lambda v: nlp.sin(v).sum() * v, x), arrays((4, 2)),
        lambda x: np.sin(x).sum(1, keepdims=True) * x, F, (0,),
    ),
    Sample(
        "associative_scan", lambda x: lax.associative_scan(nlp.multiply, x), positive((5, 2)),
        lambda x: np.cumprod(x, 0), F, (0,),
    ),
    Sample(
        "call", lambda x, y: inner(inner(x, y)[0], y), arrays((3,), (3,)),
        lambda x, y: (np.sin(np.sin(x) * y) * y, np.cos(np.sin(x) * y)), FC, (0, 1),
    ),
    Sample(
        "checkpoint", lambda x: nl.checkpoint(lambda v: nlp.sin(nlp.exp(v)) * v)(x), arrays((3,)),
        lambda x: np.sin(np.exp(x)) * x, F, (0,),
    ),
    Sample(
        "checkpoint_name", lambda x: checkpoint_name(nlp.sin(x), "sines") * x, arrays((3,)),
        lambda x: np.sin(x) * x, F, (0,),
    ),
    Sample(
        "custom_jvp", lambda x: logged(x), arrays((3,)), lambda x: np.log(1 + np.exp(x)), F, (0,),
    ),
    Sample(
        "psum", named(lambda v: lax.psum(v * v, "i") * v), arrays((4, 2)),
        lambda x: (x * x).sum(0) * x, F, (0,),
    ),
    Sample(
        "pmax", named(lambda v: (lax.pmax(v, "i"), lax.pmin(v, "i"))), arrays((4, 2)),
        lambda x: (np.broadcast_to(x.max(0), x.shape), np.broadcast_to(x.min(0), x.shape)),
    ),
    Sample(
        "all_gather", named(lambda v: lax.all_gather(v, "i") * v), arrays((3, 2)),
        lambda x: x[None] * x[:, None], F, (0,),
    ),
    Sample(
        "ppermute", named(lambda v: lax.ppermute(v, "i", [(0, 2), (1, 0)]) * v), arrays((3, 2)),
        lambda x: np.stack([x[1], 0 * x[0], x[0]]) * x, F, (0,),
    ),
    Sample(
        "all_to_all", named(lambda v: lax.all_to_all(v * v, "i", 0, 0)), arrays((3, 3)),
        lambda x: (x * x).T, F, (0,),
    ),
    Sample(
        "psum_scatter", named(lambda v: lax.psum_scatter(v * v, "i")), arrays((3, 3)),
        lambda x: (x * x).sum(0), F, (0,),
    ),
    Sample(
        "platform_dependent",
        lambda x: lax.platform_dependent(x, default=lambda x: x * x, cpu=lambda x: x * x),
        arrays((3,)), lambda x: x * x, F, (0,),
    ),
    Sample(
        "place",
        lambda x: nl.device_put(nl.device_put(x * x, Space.Host), Space.Device) * x,
        arrays((3,)), lambda x: x * x * x, F, (0,),
    ),
    Sample(
        "composite",
        lambda x, y: lax.composite(lambda a, b, *, k: (nlp.sin(a) * b * k, a), "test.f")(x, y, k=2),
        arrays((3,), (3,)), lambda x, y: (np.sin(x) * y * 2, x), F, (0, 1),
    ),
    Sample(
        "linear_call",
        lambda x, y: linear_call(lambda r, y: r * y, lambda r, ct: r * ct, x, y),
        arrays((3,), (3,)), lambda x, y: x * y, F, (1,),
    ),
    Sample(
        "custom_linear_solve",
        lambda d, b: lax.custom_linear_solve(
            lambda x: (d * d + 1) * x, b, lambda _, b: b / (d * d + 1), symmetric=True
        ),
        arrays((3,), (3,)), lambda d, b: b / (d * d + 1), F, (0, 1),
    ),
]  # fmt: skip
