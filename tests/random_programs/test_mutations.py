"""The random programs find wrong rules: each is put into a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHIN = 100
"""Examples within which a wrong rule must be found."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sin-jvp", "sum-vmap", "dot-transpose", "broadcast-transpose"])
def test_a_wrong_rule_is_found(name: str) -> None:
    found = subprocess.run(
        [
            *(sys.executable, "-m", "tests.random_programs.fuzz", "--no-shrink"),
            *("--break", name, "--seed", "5", "--examples", str(WITHIN)),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1, found.stdout + found.stderr
    assert "AssertionError: leaf" in found.stdout
    assert "import numlift as nl" in found.stdout  # the program, as source
