"""Code in Markdown pages: found, run, and compared with what the page says it prints.

A ```` ```python ```` block is run, all blocks of a page in one namespace. In it

- ``print(x)  # 3.0`` must print ``3.0`` (``...`` stands for any text);
- ``arr[0] = 1  # raises TypeError`` must raise;
- a block whose first line is ``# src/numlift/...`` is an excerpt: not run, but its lines must be in
  that file, in order (``...`` stands for lines left out).
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import math
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
SAYS = re.compile(r"\)  # (?P<text>.+)$")
RAISES = re.compile(r"  # raises (?P<name>\w+)")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
EXCERPT = re.compile(r"# (?P<path>src/\S+\.py)$")


class Block(NamedTuple):
    """One fenced block: language, text, and where it begins."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """Fenced blocks of a page."""
    text = page.read_text()
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(found[2], textwrap.dedent(found[3]), line)


def excerpt_path(block: Block) -> Path | None:
    """The file that a block quotes, or None if the block is a program."""
    found = EXCERPT.match(block.text.splitlines()[0]) if block.text else None
    return ROOT / found["path"] if found else None


def check_excerpt(block: Block, path: Path) -> None:
    """Raise if a line of the block is not in the file, or out of order."""
    lines = iter([line.strip() for line in path.read_text().splitlines()])
    for wanted in block.text.splitlines()[1:]:
        wanted = wanted.strip()
        if wanted and wanted != "...":
            assert wanted in lines, f"line {block.line}: {path.name} has no such line: {wanted}"


def run(block: Block, names: dict[str, Any], page: Path) -> None:
    """Run a program, statement by statement, and compare what it prints."""
    source = block.text.splitlines()
    file = f"<{page.name}:{block.line}>"
    linecache.cache[file] = (len(block.text), None, block.text.splitlines(True), file)
    for statement in ast.parse(block.text).body:
        place = f"{page.name}:{block.line + statement.lineno}"
        last = source[statement.end_lineno - 1]
        code = compile(ast.Module([statement], []), file, "exec")
        said = io.StringIO()
        raises, says = RAISES.search(last), SAYS.search(last)
        with contextlib.redirect_stdout(said):
            if raises:
                check_raises(code, names, raises["name"], place)
            else:
                exec(code, names)
        if says and not raises and last.lstrip().startswith("print("):
            check_said(said.getvalue().strip(), says["text"], place)


def check_raises(code: Any, names: dict[str, Any], name: str, place: str) -> None:
    """Raise unless the code raises an exception with this class name among its bases."""
    classes: set[str] = set()
    try:
        exec(code, names)
    except Exception as error:
        classes = {c.__name__ for c in type(error).__mro__}
    assert name in classes, f"{place}: {name} was not raised, but {sorted(classes)}"


def check_said(said: str, wanted: str, place: str) -> None:
    """Compare printed text with the page: numbers to four digits, whatever the white space."""
    if "..." in wanted:
        pattern = r".*".join(re.escape(" ".join(p.split())) for p in wanted.split("..."))
        same = re.fullmatch(pattern, " ".join(said.split())) is not None
    else:
        ours, theirs = NUMBER.findall(said), NUMBER.findall(wanted)
        same = NUMBER.sub("#", said).split() == NUMBER.sub("#", wanted).split()
        same = same and all(
            math.isclose(float(a), float(b), rel_tol=1e-4, abs_tol=1e-6)
            for a, b in zip(ours, theirs, strict=True)
        )
    assert same, f"{place}: it prints {said!r}"


def check_page(page: Path) -> int:
    """Check all Python blocks of a page; how many there were."""
    names: dict[str, Any] = {"__name__": "__page__"}
    count = 0
    for block in blocks(page):
        if block.language != "python":
            continue
        count += 1
        path = excerpt_path(block)
        if path is None:
            run(block, names, page)
        else:
            check_excerpt(block, path)
    return count
