"""What `import numlift` must not load: modules that few programs need and that take their time."""

from __future__ import annotations

import subprocess
import sys

LATE = (
    "numlift.export", "numlift.experimental", "numlift.autostage", "numlift.random", "numlift.nn",
    "tempfile", "fractions", "decimal", "bz2", "lzma", "difflib", "email", "asyncio",
    "multiprocessing", "unittest", "opt_einsum", "scipy",
)  # fmt: skip


def test_modules_that_are_loaded_when_used() -> None:
    code = f"import sys, numlift; print([m for m in {LATE!r} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert found.stdout.strip() == "[]"
