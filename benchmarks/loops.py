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
from typing import Any, NamedTuple

import numpy

from benchmarks.registry import Lib, load

ROOT = Path(__file__).resolve().parent.parent
STEPS = 10_000
ROUNDS = 8
WIDTH = 256
CHECKPOINTS = (6, 13, 37, None, 1000, STEPS - 1)


class Program(NamedTuple):
    """What is measured."""

    run: Callable[[], Any]
    size: int


def compiled(lib: Lib, gradient: Callable[..., Any], *args: Any) -> Program:
    """A compiled gradient, ready to be called, and the bytes it needs besides operands."""
    program = lib.top.jit(gradient).lower(*args).compile()
    size = program.memory_analysis().temp_size_in_bytes
    return Program(lambda: lib.ready(program(*args)), size)


def measured(programs: dict[str, Program]) -> dict[str, dict[str, float]]:
    """Temporary bytes and the best time of each program, in milliseconds.

    They run in turn, so that a busy machine slows all of them.
    """
    best = dict.fromkeys(programs, float("inf"))
    for _ in range(ROUNDS):
        for name, program in programs.items():
            start = time.perf_counter()
            program.run()
            best[name] = min(best[name], (time.perf_counter() - start) * 1e3)
    return {name: {"bytes": programs[name].size, "ms": ms} for name, ms in best.items()}


def step_of(lib: Lib) -> Callable[[Any], Any]:
    """One step of a small recurrent network."""
    w = lib.np.asarray(numpy.random.default_rng(0).normal(size=(WIDTH, WIDTH)).astype("f4") / 16)
    return lambda s: lib.np.tanh(w @ s)


def long_scan(lib: Lib) -> Program:
    """Gradient of a scan of STEPS steps."""
    step = step_of(lib)

    def loss(x: Any) -> Any:
        return lib.lax.scan(lambda s, _: (step(s), None), x, None, length=STEPS)[0].sum()

    return compiled(lib, lib.top.grad(loss), lib.np.ones(WIDTH, "float32"))


def bounded_loop(lib: Lib, checkpoints: int | None) -> Program:
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
    return compiled(lib, lib.top.grad(loss), x, lib.np.asarray(STEPS, "int32"))


def of_peer(python: str) -> dict[str, dict[str, float]]:
    """The scan of the peer, in a process of its own."""
    command = [python, "-m", "benchmarks.loops", "--scan-of", "jax"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="a Python that has the peer")
    parser.add_argument("--scan-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.scan_of:
        scan = long_scan(load(options.scan_of))
        print(json.dumps(measured({f"grad of scan, {options.scan_of}": scan})))
        return
    lib = load("numlift")
    programs = {f"grad of scan, {STEPS} steps": long_scan(lib)}
    for checkpoints in CHECKPOINTS:
        word = "default" if checkpoints is None else str(checkpoints)
        programs[f"grad of while_loop, checkpoints: {word}"] = bounded_loop(lib, checkpoints)
    found = measured(programs)
    if options.peer:
        found |= of_peer(options.peer)
    for name, one in found.items():
        print(f"{name:40} {one['bytes'] / 1e3:12,.0f} kB {one['ms']:10.1f} ms", flush=True)


if __name__ == "__main__":
    sys.exit(main())
