"""Cases timed over a whole fresh process: what somebody who starts a script waits for."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from benchmarks.registry import Lib, case


def _first_op(lib: Lib) -> Callable[[], object]:
    return lambda: lib.ready(lib.np.ones(3) + 1.0)


case("start/import and first op, cold cache", goal=0.5, cache="cold")(_first_op)
case("start/import and first op, warm cache", goal=0.5, cache="warm")(_first_op)


def _thirty_calls(lib: Lib) -> Callable[[], object]:
    np = lib.np

    def run() -> None:
        x = np.linspace(0.1, 0.9, 12).reshape(3, 4)
        y = np.arange(12.0).reshape(3, 4)
        s = np.concatenate([x, y], axis=0)
        results = [
            np.sin(x), np.exp(x), np.log(x), np.sqrt(x), np.tanh(x),
            np.arctan2(x, y + 1), np.power(x, 2.5), np.maximum(x, y), np.where(x > 0.5, x, y),
            np.sum(s, axis=1), np.mean(s), np.std(s, axis=0), np.max(s, axis=0),
            np.argmax(s, axis=1), np.cumsum(s, axis=1), np.sort(s, axis=0), np.transpose(x),
            np.einsum("ij,kj->ik", x, y), np.outer(x[0], y[0]), np.clip(x, 0.2, 0.7), np.round(x),
            np.dot(x, y.T), np.stack([x, y]), np.flip(x, axis=1), np.tile(x, (2, 1)),
            np.diag(x[:, :3]), np.eye(3), np.linalg.norm(x),
        ]  # fmt: skip
        lib.ready(results)

    return run


case("start/30 NumPy calls, cold cache", goal=0.7, cache="cold")(_thirty_calls)
case("start/30 NumPy calls, warm cache", goal=0.5, cache="warm")(_thirty_calls)


@case("start/compile an unrolled 20-step ODE, cold cache", goal=0.5, cache="cold")
def _compile_ode(lib: Lib) -> Callable[[], object]:
    np = lib.np

    def field(y):
        return np.stack([y[1], (1.0 - y[0] ** 2) * y[1] - y[0]])

    def solve(y):
        h = 0.05
        for _ in range(20):
            k1 = field(y)
            k2 = field(y + 0.5 * h * k1)
            k3 = field(y + 0.5 * h * k2)
            k4 = field(y + h * k3)
            y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return y

    return lambda: lib.ready(lib.top.jit(solve)(np.ones(2)))


@case("start/compile the gradient of a small network, cold cache", goal=0.8, cache="cold")
def _compile_network(lib: Lib) -> Callable[[], object]:
    np = lib.np

    def loss(layers, x, y):
        for w, b in layers[:-1]:
            x = np.tanh(x @ w + b)
        w, b = layers[-1]
        return np.mean((x @ w + b - y) ** 2)

    def run() -> None:
        sizes = (8, 32, 32, 32, 1)
        layers = [(np.full((m, n), 0.1), np.zeros(n)) for m, n in itertools.pairwise(sizes)]
        lib.ready(lib.top.jit(lib.top.grad(loss))(layers, np.ones((16, 8)), np.ones((16, 1))))

    return run
