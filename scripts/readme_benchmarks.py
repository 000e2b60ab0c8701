"""Write the results of `make bench` into the table of README.md.

python scripts/readme_benchmarks.py [output/benchmarks.json [README.md]]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.report import show_seconds  # noqa: E402

BEGIN, END = "<!-- benchmarks: begin", "<!-- benchmarks: end -->"
HIDDEN = "numpy/"  # so many cases that nobody would read the table
LIBRARIES = ("numlift", "jax", "numpy")


def case_row(case: dict[str, Any]) -> str:
    """One line of the table."""
    times = [show_seconds(case["min"].get(name)) for name in LIBRARIES]
    ratio = "-" if case["ratio"] is None else f"{case['ratio']:.2f}"
    return f"| {case['case']} | {' | '.join(times)} | {ratio} | {case['goal']:.2f} |"


def section(document: dict[str, Any]) -> str:
    """Text between the two markers."""
    cases = [c for c in document["cases"] if not c["case"].startswith(HIDDEN)]
    judged = [c for c in cases if c["ratio"] is not None]
    met = sum(c["ratio"] <= c["goal"] for c in judged)
    versions = ", ".join(f"{name} {v}" for name, v in document["versions"].items())
    lines = [
        "## Measured against JAX and NumPy",
        "",
        "Best time of a call, or of a process for the start-up cases. The ratio is ours over the",
        f"peer's: below 1 Numlift is faster. {met} of {len(judged)} goals are met. Python",
        f"{document['python']} on {document['machine']}, {versions}.",
        "`make bench` measures again, and `.venv/bin/python scripts/readme_benchmarks.py` writes "
        "this table.",
        "",
        "| case | Numlift | JAX | NumPy | ratio | goal |",
        "|---|---|---|---|---|---|",
        *map(case_row, cases),
    ]
    return "\n".join(lines)


def filled(readme: str, document: dict[str, Any]) -> str:
    """The page with its table made from the results."""
    before, rest = readme.split(BEGIN, 1)
    marker, rest = rest.split("\n", 1)
    _, after = rest.split(END, 1)
    return f"{before}{BEGIN}{marker}\n{section(document)}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Fill the table; the exit status."""
    results = Path(arguments[0]) if arguments else ROOT / "output" / "benchmarks.json"
    page = Path(arguments[1]) if len(arguments) > 1 else ROOT / "README.md"
    if not results.exists():
        print(f"{results} is not there. Try: make bench", file=sys.stderr)
        return 1
    page.write_text(filled(page.read_text(), json.loads(results.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
