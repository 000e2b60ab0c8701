"""The worker processes: environments, requests and answers."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.registry import Case

ROOT = Path(__file__).resolve().parent.parent
START_TIMEOUT = 600


def environment(cache: Path) -> dict[str, str]:
    """What a worker sees: one CPU device, and both libraries keep every program in `cache`."""
    # A pinned OpenBLAS kernel would slow NumPy down and flatter us.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    kept.pop("NUMLIFT_NUM_CPU_DEVICES", None)
    # Installed packages come with bytecode; a source tree must be allowed to keep its own.
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    kept.pop("XLA_FLAGS", None)
    for prefix in ("NUMLIFT", "JAX"):
        kept[f"{prefix}_PLATFORMS"] = "cpu"
        kept[f"{prefix}_COMPILATION_CACHE_DIR"] = str(cache)
        kept[f"{prefix}_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        kept[f"{prefix}_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    kept["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    kept["TF_CPP_MIN_LOG_LEVEL"] = "2"
    return kept


@dataclass
class Library:
    """A library under test: its name and the Python that has it. Starts its worker when asked."""

    name: str
    python: str
    version: str = "unknown"
    _process: subprocess.Popen[str] | None = None
    _folder: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)

    def _worker(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._folder = tempfile.TemporaryDirectory(prefix="bench-cache-")
            self._process = subprocess.Popen(
                [self.python, "-m", "benchmarks.worker", self.name],
                cwd=ROOT,
                env=environment(Path(self._folder.name)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.version = self._answer().get("version", "unknown")
        return self._process

    def _answer(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process = None
            return {"error": f"the {self.name} worker ended; its message is above"}
        return json.loads(line)

    def measure(self, case: Case, seconds: float) -> dict[str, Any]:
        """One round of a case in the long-lived worker."""
        process = self._worker()
        assert process.stdin is not None
        try:
            print(
                json.dumps({"case": case.name, "seconds": seconds}), file=process.stdin, flush=True
            )
        except BrokenPipeError:
            self._process = None
            return {"error": f"the {self.name} worker ended; its message is above"}
        return self._answer()

    def start(self, case: Case, cache: Path) -> dict[str, Any]:
        """One round of a start-up case: a process of its own."""
        done = subprocess.run(
            [self.python, "-m", "benchmarks.worker", self.name, "--start", case.name],
            cwd=ROOT,
            env=environment(cache),
            capture_output=True,
            text=True,
            timeout=START_TIMEOUT,
            check=False,
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no message"]
            return {"error": lines[-1][:200]}
        return json.loads(done.stdout.splitlines()[-1])

    def close(self) -> None:
        """End the worker."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(timeout=30)
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
