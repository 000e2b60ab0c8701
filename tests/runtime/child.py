"""Runs code in a process of its own: start-up, environment and crashes cannot be tested here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src"


def run(code: str, *paths: Path, expect: int = 0, **environment: str) -> str:
    """Standard output and error of `code`, with folders before the search path.

    Variables of Numlift and XLA are dropped from the environment, the cache is off, and warnings
    are errors, unless `environment` says otherwise.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NUMLIFT_", "XLA_", "JAX_")) and name != "PYTHONWARNINGS"
    }
    inherited |= {
        "PYTHONPATH": os.pathsep.join(map(str, [*paths, SOURCES])),
        "PYTHONWARNINGS": "error",
        "NUMLIFT_COMPILATION_CACHE": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=inherited | environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    assert done.returncode == expect, done.stdout
    return done.stdout
