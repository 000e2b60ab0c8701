"""Public functions on small arrays, called eagerly: what a call costs outside the computation.

The mix covers every family; `report.py` gives the geometric mean of the ratios.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from benchmarks.registry import Lib, case

GOAL = 0.4
Body = Callable[[Lib, Any, Any], object]

# name -> (library, x, y) -> value; x and y have shape (4, 5), and floats without order
FUNCTIONS: dict[str, Body] = {
    # operators and elementwise functions
    "x + y": lambda lib, x, y: x + y,
    "x * 2.0": lambda lib, x, y: x * 2.0,
    "x > 0.5": lambda lib, x, y: x > 0.5,
    "x ** 2": lambda lib, x, y: x**2,
    "x + y[0]": lambda lib, x, y: x + y[0],
    "np.sin": lambda lib, x, y: lib.np.sin(x),
    "np.maximum with a number": lambda lib, x, y: lib.np.maximum(x, 0.0),
    "np.clip": lambda lib, x, y: lib.np.clip(x, 0.2, 0.8),
    "np.round": lambda lib, x, y: lib.np.round(x, 1),
    "np.isnan": lambda lib, x, y: lib.np.isnan(x),
    "np.where": lambda lib, x, y: lib.np.where(x > 0.5, x, 0.0),
    "np.allclose": lambda lib, x, y: lib.np.allclose(x, y),
    "astype": lambda lib, x, y: x.astype("int32"),
    # reductions, order
    "np.sum": lambda lib, x, y: lib.np.sum(x, axis=0),
    "x.mean()": lambda lib, x, y: x.mean(),
    "np.std": lambda lib, x, y: lib.np.std(x, axis=1, keepdims=True),
    "np.max": lambda lib, x, y: lib.np.max(x),
    "np.argmax": lambda lib, x, y: lib.np.argmax(x, axis=-1),
    "np.prod": lambda lib, x, y: lib.np.prod(x),
    "np.any": lambda lib, x, y: lib.np.any(x > 1.5),
    "np.cumsum": lambda lib, x, y: lib.np.cumsum(x, axis=1),
    "np.sort": lambda lib, x, y: lib.np.sort(x),
    "np.argsort": lambda lib, x, y: lib.np.argsort(x, axis=0),
    "np.median": lambda lib, x, y: lib.np.median(x, axis=0),
    "np.percentile": lambda lib, x, y: lib.np.percentile(x, 30.0),
    "np.searchsorted": lambda lib, x, y: lib.np.searchsorted(x[0], y[0]),
    "np.unique with size": lambda lib, x, y: lib.np.unique(x, size=20),
    # shapes
    "x.reshape": lambda lib, x, y: x.reshape(5, 4),
    "x.T": lambda lib, x, y: x.T,
    "np.concatenate": lambda lib, x, y: lib.np.concatenate([x, y], axis=1),
    "np.stack": lambda lib, x, y: lib.np.stack((x, y)),
    "np.split": lambda lib, x, y: lib.np.split(x, 2),
    "np.pad": lambda lib, x, y: lib.np.pad(x, ((1, 1), (0, 2))),
    "np.tile": lambda lib, x, y: lib.np.tile(x, (2, 1)),
    "np.repeat": lambda lib, x, y: lib.np.repeat(x, 3, axis=0),
    "np.flip": lambda lib, x, y: lib.np.flip(x, 0),
    "np.roll": lambda lib, x, y: lib.np.roll(x, 1, axis=1),
    "np.broadcast_to": lambda lib, x, y: lib.np.broadcast_to(x, (3, 4, 5)),
    # indices
    "x[0]": lambda lib, x, y: x[0],
    "x[1:3, ::2]": lambda lib, x, y: x[1:3, ::2],
    "x[array]": lambda lib, x, y: x[_ROWS],
    "x[mask]": lambda lib, x, y: x[_MASK],
    "x.at[0].set": lambda lib, x, y: x.at[0].set(1.0),
    "x.at[array].add": lambda lib, x, y: x.at[_ROWS].add(1.0),
    "np.take": lambda lib, x, y: lib.np.take(x, _ROWS, axis=0),
    # products and linear algebra
    "x @ y.T": lambda lib, x, y: x @ y.T,
    "np.dot": lambda lib, x, y: lib.np.dot(x, y[0]),
    "np.einsum": lambda lib, x, y: lib.np.einsum("ij,kj->ik", x, y),
    "np.outer": lambda lib, x, y: lib.np.outer(x[0], y[0]),
    "np.tensordot": lambda lib, x, y: lib.np.tensordot(x, y, axes=2),
    "np.linalg.norm": lambda lib, x, y: lib.np.linalg.norm(x),
    "np.linalg.solve": lambda lib, x, y: lib.np.linalg.solve(x[:, :4], y[:, 0]),
    "np.linalg.inv": lambda lib, x, y: lib.np.linalg.inv(x[:, :4]),
    # new arrays
    "np.zeros": lambda lib, x, y: lib.np.zeros((4, 5)),
    "np.full": lambda lib, x, y: lib.np.full((4, 5), 2.5),
    "np.arange": lambda lib, x, y: lib.np.arange(10),
    "np.linspace": lambda lib, x, y: lib.np.linspace(0.0, 1.0, 10),
    "np.asarray of a list": lambda lib, x, y: lib.np.asarray([[1.0, 2.0], [3.0, 4.0]]),
    "np.asarray of NumPy's": lambda lib, x, y: lib.np.asarray(_HOST),
    # other families
    "np.interp": lambda lib, x, y: lib.np.interp(x, lib.np.ravel(x), lib.np.ravel(y)),
    "np.diff": lambda lib, x, y: lib.np.diff(x),
    "nn.softmax": lambda lib, x, y: lib.nn.softmax(x),
    "random.normal": lambda lib, x, y: lib.random.normal(lib.random.key(0), (4, 5)),
    "random.split": lambda lib, x, y: lib.random.split(lib.random.key(0)),
    # to Python and NumPy
    "float(x[0, 0])": lambda lib, x, y: float(x[0, 0]),
    "iteration": lambda lib, x, y: list(x),
    "numpy.asarray(x)": lambda lib, x, y: numpy.asarray(x),
}  # fmt: skip

_ROWS = numpy.array([0, 2, 1])
_MASK = numpy.array([True, False, True, True])
_HOST = numpy.ones((4, 5), numpy.float32)


def _register(name: str, body: Body) -> None:
    def prepare(lib: Lib) -> Callable[[], object]:
        rng = numpy.random.default_rng(0)
        x = lib.np.asarray(rng.uniform(size=(4, 5)).astype(numpy.float32))
        y = x + 1.0
        return lambda: lib.ready(body(lib, x, y))

    case(f"functions/{name}", goal=GOAL)(prepare)


for _name, _body in FUNCTIONS.items():
    _register(_name, _body)
