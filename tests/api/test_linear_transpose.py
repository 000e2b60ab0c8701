"""linear_transpose: loops with counters and keys, branches, calls, and what is not linear."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, lax

X = np.asarray([0.5, -1.0, 2.0])
W = np.sin(X)
ONE = numpy.float32(0)


def counting(c: Any, y: Any) -> Any:
    return (c[0] + 1, c[1] * 0.5 + y * c[0]), c[1]


LINEAR: dict[str, Any] = {
    "counter": lambda x: lax.scan(lambda c, y: ((c[0] + 1, c[1] + y * 2), None), (0, 0.0), x)[0][1],
    "counter is used": lambda x: lax.scan(counting, (0, ONE), x)[0][1],
    "counter and ys": lambda x: lax.scan(counting, (2, ONE), x)[1],
    "backwards": lambda x: lax.scan(counting, (5, ONE), x, reverse=True)[1],
    "integer ys": lambda x: lax.scan(lambda i, y: (i + 1, (i, y * i)), 0, x)[1][1],
    "bool": lambda x: lax.scan(
        lambda c, y: ((~c[0], np.where(c[0], c[1] + y, c[1])), None), (True, ONE), x
    )[0][1],
    "key": lambda x: lax.scan(
        lambda c, y: (
            (nl.random.split(c[0])[0], c[1] + y * nl.random.uniform(nl.random.split(c[0])[1])),
            None,
        ),
        (nl.random.key(0), ONE),
        x,
    )[0][1],
    "known float": lambda x: lax.scan(
        lambda c, y: ((c[0] * 0.5, c[1] + y * c[0]), None), (numpy.float32(1), ONE), x
    )[0][1],
    "known initial value": lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c), ONE, x)[1],
    "consts": lambda x: lax.scan(lambda c, w: ((c[0] + 1, c[1] + w * x), None), (0, 0 * x), W)[0][
        1
    ],
    "fori": lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2 + x[i], x[0] * 0.0),
    "fori with updates": lambda x: lax.fori_loop(0, 3, lambda i, c: c.at[i].add(x[i] * i), x * 0),
    "nested": lambda x: lax.fori_loop(
        0, 2, lambda i, c: lax.fori_loop(0, 2, lambda j, d: d * 0.5 + x * (i + j), c), x
    ),
    "cond": lambda x: lax.cond(W[0] > 0, lambda x: x * W, lambda x: x * 3, x),
    "switch": lambda x: lax.switch(np.asarray(1), [lambda x: x, lambda x: x * np.cos(W)], x),
    "call": nl.jit(lambda x: x * np.sin(W)),
    "checkpoint": nl.checkpoint(lambda x: x * np.sin(W)),
    "map": lambda x: lax.map(lambda y: y * 3, x),
    "vmap of scan": lambda x: nl.vmap(
        lambda y: lax.scan(lambda c, w: ((c[0] + 1, c[1] + y * w * c[0]), None), (0, y * 0), W)[0][
            1
        ]
    )(x),
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("jitted", [False, True])
def test_adjoint(name: str, jitted: bool) -> None:
    f = LINEAR[name]
    y = f(X)
    ct = numpy.asarray(numpy.linspace(-1, 2, y.size), "float32").reshape(y.shape)
    transposed = nl.linear_transpose(f, X)
    (found,) = (nl.jit(transposed) if jitted else transposed)(ct)
    assert found.shape == X.shape
    numpy.testing.assert_allclose(numpy.vdot(ct, y), numpy.vdot(found, X), rtol=1e-5)
    numpy.testing.assert_allclose(found, nl.vjp(f, X)[1](ct)[0], rtol=1e-5)


def test_transpose_of_the_transpose() -> None:
    f = LINEAR["counter and ys"]
    back = nl.linear_transpose(f, X)
    again = nl.linear_transpose(lambda ct: back(ct)[0], f(X))
    numpy.testing.assert_allclose(again(X)[0], f(X), rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        np.sin,
        lambda x: x * x,
        lambda x: lax.scan(lambda c, y: (c * y, None), 1.0, x)[0],
        lambda x: lax.scan(lambda c, y: ((c[0] + 1, c[1] * y), None), (0, 1.0), x)[0][1],
        lambda x: lax.cond(x[0] > 0, lambda x: x * 2, lambda x: x * 3, x),
        lambda x: np.where(x > 0, x, 2 * x),
        lambda x: x[np.argmax(x)],
        lambda x: lax.scan(lambda c, y: (c + (y > 0).astype(int), y * c), 0, x)[1],
        lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1],
        nl.nn.relu,
    ],
)
def test_what_is_not_linear_is_refused(f: Any) -> None:
    with pytest.raises(errors.GradError, match="not linear"):
        nl.linear_transpose(f, X)(f(X))


def test_while_says_why() -> None:
    f = lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1]
    with pytest.raises(errors.GradError, match="number of steps is known"):
        nl.linear_transpose(f, X)(X)
