"""The arithmetic of the benchmark report."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.registry import Case
from benchmarks.report import (
    Result,
    geometric_means,
    growth,
    print_table,
    show_seconds,
    write_json,
)


def result(name: str, ours: float, theirs: float, goal: float = 1.0) -> Result:
    made = Result(Case(name, goal, lambda lib: lambda: None))
    made.times = {"numlift": [ours, ours * 2], "jax": [theirs * 3, theirs]}
    return made


@pytest.mark.parametrize(
    "seconds, text",
    [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.5e-6, "4.5 us"), (3e-9, "3 ns"), (None, "-")],
)
def test_durations_have_a_readable_unit(seconds: float | None, text: str) -> None:
    assert show_seconds(seconds) == text


def test_ratio_is_best_over_best() -> None:
    assert result("a/b", 1.0, 4.0).ratio("numlift") == 0.25


def test_growth_needs_both_sizes() -> None:
    small, large = (
        result("growth/trace 1k ops", 1.0, 1.0),
        result("growth/trace 10k ops", 11.0, 9.0),
    )
    assert growth([small, large], "numlift") == [("growth/trace 10k / 1k ops", 11.0)]
    assert growth([small], "numlift") == []


def test_geometric_mean_of_a_family() -> None:
    results = [result("a/one", 1.0, 4.0), result("a/two", 1.0, 1.0), result("b/x[0]", 1.0, 1.0)]
    assert geometric_means(results, "numlift") == {"a": pytest.approx(0.5)}


def test_table_and_file_agree(tmp_path: Path) -> None:
    failed = result("a/failed", 1.0, 1.0)
    failed.errors["numlift"] = "ValueError: no"
    results = [result("a/met", 1.0, 4.0), result("a/missed", 4.0, 1.0), failed]
    console = Console(file=io.StringIO(), width=120)
    print_table(results, "numlift", console)
    shown = console.file.getvalue()
    assert "1 of 2 goals met" in shown
    assert "ValueError: no" in shown
    path = tmp_path / "deep" / "benchmarks.json"
    write_json(results, "numlift", {"numlift": "0.1.0"}, path)
    cases = json.loads(path.read_text())["cases"]
    assert [case["ratio"] for case in cases] == [0.25, 4.0, 1.0]
    assert cases[2]["errors"] == {"numlift": "ValueError: no"}
