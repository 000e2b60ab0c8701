"""Measures one library in one process.

`python -m benchmarks.worker LIB` reads requests, one JSON object a line, and answers each with one.
`python -m benchmarks.worker LIB --start CASE` times one start-up case from before the import.
"""

from __future__ import annotations

import time

BEGIN = time.perf_counter()  # the clock of start-up cases: before any import that a library needs

import importlib
import json
import sys
from collections.abc import Callable

from benchmarks.registry import CASES, Lib, load

SAMPLE_SECONDS = 0.004  # a sample repeats the call until it takes at least this long


def start(name: str, case_name: str) -> None:
    """Import the library, run the case once, and print the seconds since this file began."""
    importlib.import_module("benchmarks.startup")  # registers its cases
    CASES[case_name].prepare(load(name))()
    seconds = time.perf_counter() - BEGIN
    print(json.dumps({"times": [seconds]}), flush=True)


def repeats(call: Callable[[], object]) -> int:
    """How many calls make a sample long enough for the clock."""
    count = 1
    while True:
        begin = time.perf_counter()
        for _ in range(count):
            call()
        seconds = time.perf_counter() - begin
        if seconds >= SAMPLE_SECONDS:
            return count
        count *= 2 if seconds * 8 > SAMPLE_SECONDS else 8


def measure(call: Callable[[], object], count: int, seconds: float) -> list[float]:
    """Seconds a call, one entry a sample, for about `seconds` in all."""
    samples: list[float] = []
    end = time.perf_counter() + seconds
    while not samples or time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(count):
            call()
        samples.append((time.perf_counter() - begin) / count)
    return samples


def serve(lib: Lib) -> None:
    """Answer requests from standard input until it ends."""
    prepared: dict[str, tuple[Callable[[], object], int]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name = request["case"]
        try:
            if name not in prepared:
                call = CASES[name].prepare(lib)
                call()  # traces and compiles
                prepared[name] = (call, repeats(call))
            answer = {"times": measure(*prepared[name], request["seconds"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        print(json.dumps(answer), flush=True)


def main() -> None:
    if "--start" in sys.argv:
        start(sys.argv[1], sys.argv[3])
        return
    # Only here: they import NumPy, and start-up cases count that.
    for module in ("benchmarks.cases", "benchmarks.functions", "benchmarks.numpy_cases"):
        importlib.import_module(module)
    lib = load(sys.argv[1])
    print(json.dumps({"version": getattr(lib.top, "__version__", "unknown")}), flush=True)
    serve(lib)


if __name__ == "__main__":
    main()
