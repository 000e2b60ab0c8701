"""`python -m benchmarks.run`: measure numlift and its peers, and show the ratios.

Each library has a process of its own, and rounds alternate between them, case by case, so that a
slow moment of the machine hits both. The best of all samples counts.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from benchmarks.processes import ROOT, Library
from benchmarks.registry import CASES, Case
from benchmarks.report import Result, print_table, write_json

LONGEST_CASE = 6.0  # seconds after which a case gets no further round


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--only", metavar="PATTERN", help="cases that contain or match PATTERN")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--subject", default="numlift", choices=["numlift", "jax"])
    parser.add_argument("--subject-python", default=sys.executable, metavar="PATH")
    parser.add_argument(
        "--peer-python", default=str(ROOT / ".venv-bench/bin/python"), metavar="PATH"
    )
    parser.add_argument("--output", default=str(ROOT / "output/benchmarks.json"), metavar="FILE")
    return parser.parse_args()


def chosen(pattern: str | None) -> list[Case]:
    """The cases whose name contains or matches the pattern."""
    for module in ("startup", "cases", "functions", "numpy_cases"):
        importlib.import_module(f"benchmarks.{module}")
    return [
        case
        for name, case in CASES.items()
        if pattern is None or pattern in name or fnmatch.fnmatch(name, pattern)
    ]


def record(result: Result, library: str, answer: dict) -> None:
    """Add the samples of a round, or keep the error and ask no more."""
    if "error" in answer:
        result.errors[library] = answer["error"]
    else:
        result.times.setdefault(library, []).extend(answer["times"])


def run_start(case: Case, libraries: dict[str, Library], rounds: int) -> Result:
    """Rounds of a start-up case, each round one new process a library."""
    result = Result(case)
    with tempfile.TemporaryDirectory(prefix="bench-start-") as folder:
        for round_ in range(rounds + (case.cache == "warm")):
            for label, library in libraries.items():
                if label in result.errors:
                    continue
                cache = Path(folder) / label / ("warm" if case.cache == "warm" else str(round_))
                cache.mkdir(parents=True, exist_ok=True)
                answer = library.start(case, cache)
                if round_ or case.cache == "cold":  # the first warm round only fills the cache
                    record(result, label, answer)
    return result


def run_case(case: Case, libraries: dict[str, Library], rounds: int, seconds: float) -> Result:
    """Alternating rounds of a case in the long-lived workers."""
    result = Result(case)
    begin = time.perf_counter()
    for round_ in range(rounds):
        if round_ >= 2 and time.perf_counter() - begin > LONGEST_CASE:
            break
        order = list(libraries.items())
        for label, library in order if round_ % 2 == 0 else reversed(order):
            if label not in result.errors:
                record(result, label, library.measure(case, seconds))
    return result


def main() -> int:
    """Run what the command line asks for; 1 if some case failed."""
    options = parse()
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    cases = chosen(options.only)
    if options.list:
        console.print("\n".join(case.name for case in cases), highlight=False)
        return 0
    if not cases:
        console.print(f"no case matches {options.only!r}. Try: --list")
        return 1
    if not Path(options.peer_python).exists():
        console.print(f"{options.peer_python} is missing. Try: make bench")
        return 1
    subject = "subject" if options.subject == "jax" else options.subject
    libraries = {
        subject: Library(options.subject, options.subject_python),
        "jax": Library("jax", options.peer_python),
        "numpy": Library("numpy", options.subject_python),
    }
    start_rounds, rounds, seconds = (1, 3, 0.03) if options.quick else (3, 15, 0.06)
    results = []
    try:
        with console.status("measuring") as status:
            for case in cases:
                status.update(case.name)
                peers = ["jax", "numpy"] if case.against == "numpy" else ["jax"]
                taking_part = {label: libraries[label] for label in (subject, *peers)}
                if case.cache is None:
                    results.append(run_case(case, taking_part, rounds, seconds))
                else:
                    results.append(run_start(case, taking_part, start_rounds))
    finally:
        for library in libraries.values():
            library.close()
    print_table(results, subject, console)
    versions = {label: library.version for label, library in libraries.items()}
    write_json(results, subject, versions, Path(options.output))
    console.print(f"written: {options.output}")
    return int(any(result.errors for result in results))


if __name__ == "__main__":
    sys.exit(main())
