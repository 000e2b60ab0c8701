"""The code in README.md and the guide runs and prints what the pages say; links lead somewhere."""

from __future__ import annotations

import json
import pkgutil
import re
import runpy
import tomllib
from pathlib import Path

import pytest

import numlift
from tests.examples.pages import FENCE, ROOT, Block, blocks, check_excerpt, check_page, run

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_CODE = [p for p in PAGES if any(b.language == "python" for b in blocks(p))]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
README = ROOT / "README.md"


def names(pages: list[Path]) -> list[str]:
    return [str(p.relative_to(ROOT)) for p in pages]


@pytest.mark.parametrize("page", WITH_CODE, ids=names(WITH_CODE))
def test_code_of_a_page(page: Path) -> None:
    assert check_page(page) > 0


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_inside_the_repository(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))
    for target in LINK.findall(text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: no {target}"


def test_readme_names_every_device_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    text = README.read_text()
    for extra in {"cuda13", "cuda12", "rocm7", "tpu"} & set(extras):
        assert f"[{extra}]" in text
    assert set(re.findall(r"\.\[(\w+)\]", text)) <= set(extras)


def test_readme_names_targets_that_make_knows() -> None:
    rules = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"make ([a-z0-9]+)", README.read_text())) <= set(rules)


def test_wrong_pages_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for wrong in ("print(1 + 1)  # 3", "1 + 1  # raises TypeError", "len(3)  # raises KeyError"):
        with pytest.raises(AssertionError, match="page.md:2"):
            run(Block("python", wrong, 1), {}, page)
    file = tmp_path / "file.py"
    file.write_text("a\nb\n")
    check_excerpt(Block("python", "# src/file.py\na\n...\nb\n", 1), file)
    with pytest.raises(AssertionError, match="no such line"):
        check_excerpt(Block("python", "# src/file.py\nb\na\n", 1), file)


def test_benchmark_results_fill_the_table(tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "readme_benchmarks.py"))
    page, results = tmp_path / "README.md", tmp_path / "benchmarks.json"
    page.write_text(README.read_text())
    assert script["main"]([str(results), str(page)]) == 1
    case = {
        "case": "jit/dispatch",
        "goal": 1.1,
        "ratio": 0.5,
        "min": {"numlift": 2e-6, "jax": 4e-6},
    }
    document = {
        "python": "3.12",
        "machine": "x86_64",
        "versions": {"numlift": "9"},
        "cases": [case],
    }
    for wanted in ("| jit/dispatch | 2 us | 4 us | - | 0.50 | 1.10 |", "1 of 1 goals are met"):
        results.write_text(json.dumps(document))
        assert script["main"]([str(results), str(page)]) == 0
        assert wanted in page.read_text()
    after = README.read_text().split("<!-- benchmarks: end -->")[1]
    assert page.read_text().split("<!-- benchmarks: end -->")[1] == after


def test_line_counts_of_the_tour_are_about_right() -> None:
    """`python scripts/tour_lines.py` brings them up to date."""
    script = runpy.run_path(str(ROOT / "scripts" / "tour_lines.py"))
    rows = script["ROW"].findall((ROOT / "docs" / "tour.md").read_text())
    assert len(rows) > 15
    for _, files, _, lines, _ in rows:
        found = script["lines_of"](files)
        assert 0.5 < found / int(lines) < 2, f"{files}: {found} lines"


def test_names_in_the_glossary_exist() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text()
    words = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\|[^|]*\|([^|]*)\|", text, re.MULTILINE)))
    sources = [p.read_text() for p in (ROOT / "src" / "numlift").rglob("*.py")]
    known = set(re.findall(r"\w+", "\n".join(sources)))
    assert len(words) > 10
    assert set(words) <= known


INSIDE = {
    "api",
    "autostage",
    "core",
    "flags",
    "hlo",
    "ops",
    "runtime",
    "scopes",
    "structural",
    "tools",
    "transforms",
}


def test_every_public_module_has_a_page_of_reference() -> None:
    modules = {m.name for m in pkgutil.iter_modules(numlift.__path__)} - INSIDE
    pages = {p.stem.split(".")[0] for p in (ROOT / "docs" / "reference").glob("*.md")}
    assert {m for m in modules if not m.startswith("_")} <= pages


def test_what_the_readme_calls_missing_is_missing() -> None:
    """If this fails, take the name off the list "Not there yet": somebody has written it."""
    text = README.read_text().split("Not there yet")[1].split("\nCode written for JAX")[0]
    names = re.findall(r"`([\w.]+)`", text)
    assert len(names) > 5
    for name in names:
        found: object = numlift
        for part in name.split("."):
            found = getattr(found, part, None)
        assert found is None, f"numlift.{name} is there"
