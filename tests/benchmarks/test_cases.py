"""Every benchmark case runs on Numlift: a case that fails would be found only by `make bench`."""

from __future__ import annotations

import importlib

import pytest

from benchmarks.registry import CASES, load

for module in (
    "benchmarks.cases",
    "benchmarks.functions",
    "benchmarks.numpy_cases",
    "benchmarks.startup",
):
    importlib.import_module(module)

# The large ones do the same work as their small neighbours.
NAMES = [name for name in CASES if "10k" not in name and "ODE" not in name]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_case_runs(name: str) -> None:
    case = CASES[name]
    case.prepare(load("numlift"))()
    if case.against == "numpy":
        case.prepare(load("numpy"))()
