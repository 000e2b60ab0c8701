"""Functions of SciPy that follow the array API standard, on our arrays, in their own process.

SciPy reads `SCIPY_ARRAY_API` when it is imported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import scipy

PROGRAM = r"""
import json, warnings
warnings.simplefilter("ignore")
import numpy as np
import scipy.constants, scipy.fft, scipy.integrate, scipy.signal, scipy.special, scipy.stats
from scipy.spatial.transform import Rotation
import numlift as nl

nl.config.update("enable_x64", True)
X = np.linspace(0.1, 3, 12).reshape(4, 3) ** 1.5
TRACED = {
    "skew": lambda a: scipy.stats.skew(a),
    "kurtosis": lambda a: scipy.stats.kurtosis(a),
    "gmean": lambda a: scipy.stats.gmean(a),
    "sem": lambda a: scipy.stats.sem(a),
    "kstat": lambda a: scipy.stats.kstat(a, axis=1),
    "circmean": lambda a: scipy.stats.circmean(a, axis=1),
    "softmax": lambda a: scipy.special.softmax(a, axis=1),
    "xlogy": lambda a: scipy.special.xlogy(a, a),
    "fft": lambda a: scipy.fft.fft(a),
    "rfft": lambda a: scipy.fft.rfft(a),
    "fftshift": lambda a: scipy.fft.fftshift(a),
    "trapezoid": lambda a: scipy.integrate.trapezoid(a),
    "cumulative_trapezoid": lambda a: scipy.integrate.cumulative_trapezoid(a),
    "fftconvolve": lambda a: scipy.signal.fftconvolve(a, a),
    "rotation": lambda a: Rotation.from_rotvec(a).as_matrix(),
    "convert_temperature": lambda a: scipy.constants.convert_temperature(a, "C", "K"),
}
LIFTED = {
    "zscore": lambda a: scipy.stats.zscore(a),
    "gzscore": lambda a: scipy.stats.gzscore(a),
    "logsumexp": lambda a: scipy.special.logsumexp(a, axis=1),
    "log_softmax": lambda a: scipy.special.log_softmax(a, axis=1),
    "hilbert": lambda a: scipy.signal.hilbert(a),
}
ONE_AXIS = [getattr(scipy.stats, name) for name in ("skew", "gmean", "circmean")]
found = {}


def record(name, run, expected, kind):
    try:
        got = run()
        good = isinstance(got, kind) and np.allclose(np.asarray(got), expected)
        found[name] = "ok" if good else f"{type(got)} {got} instead of {expected}"
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"


for name, f in TRACED.items():
    expected = f(X)
    record(f"eager {name}", lambda: f(nl.numpy.asarray(X)), expected, nl.Array)
    record(f"jit {name}", lambda: nl.jit(f)(X), expected, nl.Array)
for name, f in LIFTED.items():
    record(f"lift {name}", lambda: nl.lift(f)(X), f(X), np.ndarray)
for f in ONE_AXIS:
    row = lambda a: f(a[None], axis=1)[0]
    name = f.__name__
    record(f"one axis: {name}", lambda: nl.jit(f)(X[:, 1]), f(X[:, 1]), nl.Array)
    record(f"row: {name}", lambda: nl.jit(row)(X[:, 1]), f(X[:, 1]), nl.Array)
    record(f"vmap of row: {name}", lambda: nl.jit(nl.vmap(row))(X), f(X, axis=1), nl.Array)
    step = 1e-6 * np.eye(4)[2]
    slope = (f(X[:, 1] + step) - f(X[:, 1] - step)) / 2e-6
    record(f"grad: {name}", lambda: nl.grad(f)(X[:, 1])[2], slope, nl.Array)
    record(f"grad of row: {name}", lambda: nl.jit(nl.grad(row))(X[:, 1])[2], slope, nl.Array)
    record(f"lift of row: {name}", lambda: nl.lift(row)(X[:, 1]), f(X[:, 1]), np.floating)
step = np.zeros_like(X)
step[1, 2] = 1e-6
loss = lambda a: scipy.stats.skew(a).sum()
slope = (loss(X + step) - loss(X - step)) / 2e-6
record("grad skew", lambda: nl.grad(loss)(X)[1, 2], slope, nl.Array)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def results() -> dict[str, str]:
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def test_functions_of_scipy_on_our_arrays(results: dict[str, str]) -> None:
    assert len(results) == 2 * 16 + 5 + 6 * 3 + 1
    bad = {name: r for name, r in results.items() if r != "ok" and not name.startswith("one axis")}
    assert bad == {}


def test_a_sample_of_one_axis_under_jit(results: dict[str, str]) -> None:
    """From version 1.18 on, SciPy asks whether such a sample has a NaN, except of JAX's arrays.

    When this changes, docs/howto/plain_numpy.md changes too.
    """
    asks = tuple(int(part) for part in scipy.__version__.split(".")[:2]) >= (1, 18)
    wanted = "TracerBoolConversionError" if asks else "ok"
    found = {name: r.partition(":")[0] for name, r in results.items() if name[:8] == "one axis"}
    assert found == dict.fromkeys(found, wanted)
    assert len(found) == 3
