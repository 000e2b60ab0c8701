"""Memory and time of gradients of loops: a long scan on both libraries, and bounded while loops.

python -m benchmarks.loops                 # this library
python -m benchmarks.loops --peer PYTHON   # also the scan of the peer, which PYTHON has
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

from benchmarks.registry import Lib, load

ROOT = Path(__file__).resolve().parent.parent
STEPS = 10_000
WIDTH = 256
CHECKPOINTS = (6, 13, 37, None, 1000, STEPS - 1)


def measure(lib: Lib, gradient: Callable[..., Any], *args: Any) -> dict[str, float]:
    """Temporary bytes of the compiled gradient, and the best of three times in milliseconds."""
    compiled = lib.top.jit(gradient).lower(*args).compile()
    times = []
    for _ in range(4):  # the first call warms up
        start = time.perf_counter()
        lib.ready(compiled(*args))
        times.append((time.perf_counter() - start) * 1e3)
    return {"bytes": compiled.memory_analysis().temp_size_in_bytes, "ms": min(times[1:])}


def step_of(lib: Lib) -> Callable[[Any], Any]:
    """One step of a small recurrent network."""
    w = lib.np.asarray(numpy.random.default_rng(0).normal(size=(WIDTH, WIDTH)).astype("f4") / 16)
    return lambda s: lib.np.tanh(w @ s)


def long_scan(lib: Lib) -> dict[str, float]:
    """Gradient of a scan of STEPS steps."""
    step = step_of(lib)

    def loss(x: Any) -> Any:
        return lib.lax.scan(lambda s, _: (step(s), None), x, None, length=STEPS)[0].sum()

    return measure(lib, lib.top.grad(loss), lib.np.ones(WIDTH, "float32"))


def bounded_loop(lib: Lib, checkpoints: int | None) -> dict[str, float]:
    """Gradient of a while loop of STEPS steps that keeps some states."""
    step = step_of(lib)

    def loss(x: Any, n: Any) -> Any:
        out = lib.lax.while_loop(
            lambda s: s[1] < n,
            lambda s: (step(s[0]), s[1] + 1),
            (x, 0),
            max_steps=STEPS,
            checkpoints=checkpoints,
        )
        return out[0].sum()

    x = lib.np.ones(WIDTH, "float32")
    return measure(lib, lib.top.grad(loss), x, lib.np.asarray(STEPS, "int32"))


def show(name: str, found: dict[str, float]) -> None:
    print(f"{name:40} {found['bytes'] / 1e3:12,.0f} kB {found['ms']:10.1f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="a Python that has the peer")
    parser.add_argument("--scan-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.scan_of:
        print(json.dumps(long_scan(load(options.scan_of))))
        return
    lib = load("numlift")
    show(f"grad of scan, {STEPS} steps", long_scan(lib))
    if options.peer:
        command = [options.peer, "-m", "benchmarks.loops", "--scan-of", "jax"]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, check=True
        )
        show("the same, peer", json.loads(done.stdout.splitlines()[-1]))
    for checkpoints in CHECKPOINTS:
        word = "default" if checkpoints is None else str(checkpoints)
        show(f"grad of while_loop, checkpoints: {word}", bounded_loop(lib, checkpoints))


if __name__ == "__main__":
    sys.exit(main())
