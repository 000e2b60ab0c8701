"""Printed graphs, StableHLO and error messages equal those in the golden files.

After an intended change: ``UPDATE_GOLDEN=1 python -m pytest tests/golden`` rewrites the files; read
the difference before committing it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import numlift as nl
from tests.golden.cases import ERRORS, PROGRAMS

FOLDER = Path(__file__).parent
UPDATE = os.environ.get("UPDATE_GOLDEN") == "1"
LINE = re.compile(r"^=== (.*) ===$", re.MULTILINE)


def read(file: str) -> dict[str, str]:
    """Sections of a golden file: name -> text."""
    path = FOLDER / file
    if not path.exists():
        return {}
    _, *parts = LINE.split(path.read_text(encoding="utf-8"))
    return {n: t.strip("\n") for n, t in zip(parts[::2], parts[1::2], strict=True)}


def check(file: str, name: str, text: str) -> None:
    """Compare with the golden text, or write it."""
    text = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    sections = read(file)
    if UPDATE:
        sections[name] = text
        body = "\n\n".join(f"=== {n} ===\n{t}" for n, t in sorted(sections.items()))
        (FOLDER / file).write_text(body + "\n", encoding="utf-8")
        return
    assert name in sections, f"no golden text of {name!r} in {file}: see the top of this file"
    assert text == sections[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph(name: str) -> None:
    f, args = PROGRAMS[name]
    check("graphs.txt", name, str(nl.make_jaxpr(f)(*args)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_stablehlo(name: str) -> None:
    f, args = PROGRAMS[name]
    check("stablehlo.txt", name, nl.jit(f).lower(*args).as_text())


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str) -> None:
    def run(call: Callable[[], object]) -> BaseException:
        try:
            call()
        except Exception as error:
            return error
        raise AssertionError(f"{name}: no error")

    error = run(ERRORS[name])
    assert isinstance(error, nl.errors.NumliftError), repr(error)
    text = re.sub(r"(\w+\.py):\d+", r"\1:N", str(error))
    text = re.sub(r"0x[0-9a-f]+", "0x...", text)
    text = re.sub(r"\S*/(\w+\.py)", r"\1", text)
    check("errors.txt", name, f"{type(error).__name__}: {text}")


def test_no_section_is_left_over() -> None:
    for file, cases in (
        ("graphs.txt", PROGRAMS),
        ("stablehlo.txt", PROGRAMS),
        ("errors.txt", ERRORS),
    ):
        assert sorted(read(file)) == sorted(cases), file
