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
from tests.golden.entry_points import MISUSES, MODULES, NOT_ASKED, OTHER_CLASSES, entry_points

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


def cases_of(file: str) -> list[str]:
    """Names of the mistakes whose messages a golden file holds."""
    return [name for name, (place, _) in MISUSES.items() if place == file]


def message(call: Callable[[], object], cls: type[Exception]) -> str:
    """Class and text of what a mistake raises, without numbers of lines, versions and addresses."""
    with pytest.raises(cls) as found:
        call()
    text = re.sub(r"(\w+\.py):\d+", r"\1:N", str(found.value))
    text = re.sub(r" line \d+", " line N", text)
    text = re.sub(r"0x[0-9a-f]+", "0x...", text)
    text = re.sub(r"\S*/(\w+\.py)", r"\1", text)
    text = re.sub(r"(jaxlib: )[\d.]+", r"\1N", text)
    return f"{found.type.__name__}: {text}"


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str) -> None:
    check("errors.txt", name, message(ERRORS[name], nl.errors.NumliftError))


@pytest.mark.parametrize("name", MISUSES)
def test_misuse(name: str) -> None:
    file, call = MISUSES[name]
    cls = OTHER_CLASSES.get(name, nl.errors.NumliftError)
    check(f"{file}.txt", name, message(call, cls))


def test_every_entry_point_has_a_golden_error() -> None:
    asked = {name.partition(": ")[0] for name in MISUSES}
    missing = [path for path in entry_points() if path not in asked]
    assert not missing, f"add typical mistakes to tests/golden/misuse_*.py: {missing}"


def test_no_exemption_is_left_over() -> None:
    assert not NOT_ASKED & {name.partition(": ")[0] for name in MISUSES}
    assert set(OTHER_CLASSES) <= set(MISUSES)


def test_no_section_is_left_over() -> None:
    for file, cases in (
        ("graphs.txt", PROGRAMS),
        ("stablehlo.txt", PROGRAMS),
        ("errors.txt", ERRORS),
        *((f"{file}.txt", cases_of(file)) for file in MODULES),
    ):
        assert sorted(read(file)) == sorted(cases), file
