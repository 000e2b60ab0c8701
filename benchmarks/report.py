"""Results, the table on the screen and the JSON file."""

from __future__ import annotations

import json
import platform
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.registry import Case

GROWTH_LIMIT = 13.0  # ten times the operations may take at most this many times as long
GROWTH_PAIRS = (
    ("growth/trace 1k ops", "growth/trace 10k ops"),
    ("growth/trace a gradient, 1k ops", "growth/trace a gradient, 10k ops"),
    ("growth/trace vmap, 1k ops", "growth/trace vmap, 10k ops"),
    ("growth/lower 1k ops", "growth/lower 10k ops"),
)


@dataclass
class Result:
    """The samples of one case, by library, and what went wrong."""

    case: Case
    times: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def best(self, library: str) -> float | None:
        """The fastest sample in seconds."""
        return min(self.times[library]) if self.times.get(library) else None

    def ratio(self, subject: str) -> float | None:
        """The subject's best over the peer's: below one, the subject is faster."""
        ours, theirs = self.best(subject), self.best(self.case.against)
        return ours / theirs if ours and theirs else None


def show_seconds(seconds: float | None) -> str:
    """A duration with a unit that keeps it readable."""
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def growth(results: list[Result], subject: str) -> list[tuple[str, float]]:
    """How much longer ten times the operations took, for each pair that was measured."""
    best = {result.case.name: result.best(subject) for result in results}
    found = []
    for small, large in GROWTH_PAIRS:
        few, many = best.get(small), best.get(large)
        if few and many:
            found.append((large.replace("10k", "10k / 1k"), many / few))
    return found


def geometric_means(results: list[Result], subject: str) -> dict[str, float]:
    """Family of cases, the part of the name before the slash -> geometric mean of the ratios."""
    ratios: dict[str, list[float]] = {}
    for result in results:
        ratio = result.ratio(subject)
        if ratio is not None:
            ratios.setdefault(result.case.name.partition("/")[0], []).append(ratio)
    return {
        family: statistics.geometric_mean(found)
        for family, found in ratios.items()
        if len(found) > 1
    }


def print_table(results: list[Result], subject: str, console: Console) -> None:
    """One row a case, then growth, means, and how many goals were met."""
    table = Table(title=f"{subject}: best time of a call, and its ratio to the peer's")
    table.add_column("case", no_wrap=True)
    for heading in (subject, "jax", "numpy", "ratio", "goal"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    met = judged = 0
    for result in results:
        ratio = result.ratio(subject)
        mark, style = "", "dim"
        if result.errors:
            mark, style = "error", "red"
        elif ratio is not None:
            judged += 1
            ok = ratio <= result.case.goal
            met += ok
            mark, style = ("met", "green") if ok else ("missed", "yellow")
        table.add_row(
            escape(result.case.name),
            *(show_seconds(result.best(library)) for library in (subject, "jax", "numpy")),
            "-" if ratio is None else f"{ratio:.2f}",
            f"{result.case.goal:.2f}",
            f"[{style}]{mark}[/]",
        )
    console.print(table)
    for name, factor in growth(results, subject):
        verdict = "met" if factor <= GROWTH_LIMIT else "missed"
        console.print(f"{name}: x{factor:.1f} (limit x{GROWTH_LIMIT:.0f}) {verdict}")
    for family, mean in geometric_means(results, subject).items():
        console.print(f"{family}: geometric mean of the ratios {mean:.2f}")
    for result in results:
        for library, message in result.errors.items():
            console.print(f"[red]{result.case.name}: {library}: {message}[/]", soft_wrap=True)
    console.print(f"{met} of {judged} goals met")


def write_json(results: list[Result], subject: str, versions: dict[str, str], path: Path) -> None:
    """Everything that the table shows, medians and the machine too."""
    cases = [
        {
            "case": escape(result.case.name),
            "goal": result.case.goal,
            "against": result.case.against,
            "ratio": result.ratio(subject),
            "min": {library: min(times) for library, times in result.times.items() if times},
            "median": {
                library: statistics.median(times)
                for library, times in result.times.items()
                if times
            },
            "samples": {library: len(times) for library, times in result.times.items()},
            "errors": result.errors,
        }
        for result in results
    ]
    document = {
        "subject": subject,
        "versions": versions,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "growth": dict(growth(results, subject)),
        "geometric means": geometric_means(results, subject),
        "cases": cases,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")
