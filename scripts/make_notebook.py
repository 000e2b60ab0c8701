"""Make examples/tour.ipynb from examples/tour.py: the same chapters, as cells without outputs.

python scripts/make_notebook.py          write the notebook
python scripts/make_notebook.py --check  fail if it is out of date
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parents[1]
SOURCE, NOTEBOOK = ROOT / "examples" / "tour.py", ROOT / "examples" / "tour.ipynb"
CHAPTER = re.compile(r"^# ---- \d+\. .* -+$", re.MULTILINE)

INTRODUCTION = """# The five-minute tour

Derivatives, compilation, batching, eight devices, immutability. Every claim is checked while it is
shown; a false one stops the notebook with an error.

This notebook is made from `examples/tour.py` by `scripts/make_notebook.py`: change that file
instead.
"""
PICTURES = """from IPython.display import Image, display

for file in files:
    display(Image(filename=str(file)))"""
END = """console.print("All claims hold.")"""


def body(function: ast.FunctionDef, lines: list[str]) -> tuple[str, str]:
    """Markdown of a chapter's heading, and the source of its statements as a cell."""
    call = function.body[1].value  # type: ignore[attr-defined]  # after the docstring: heading(...)
    number, title, text = (ast.literal_eval(argument) for argument in call.args)
    first, last = function.body[2].lineno, function.body[-1].end_lineno
    code = textwrap.dedent("\n".join(lines[first - 1 : last]))
    return f"## {number}. {title}\n\n{text}", code


def chapter(source: str) -> list[Any]:
    """Cells of one chapter: heading, its functions, its statements."""
    lines = source.splitlines()
    functions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
    main = next(f for f in reversed(functions) if calls_heading(f))
    text, code = body(main, lines)
    helpers = "\n".join(lines[: main.lineno - 1]).strip()
    cells = [new_markdown_cell(text)]
    if helpers:
        cells.append(new_code_cell(helpers))
    return [*cells, new_code_cell(code)]


def calls_heading(function: ast.FunctionDef) -> bool:
    """Whether a function is a chapter: its first statement is a heading."""
    statement = function.body[1] if len(function.body) > 1 else None
    return isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("heading(")


def make(source: str) -> Any:
    """The notebook of the tour's source."""
    setup, *chapters = CHAPTER.split(source)
    setup = setup.split('"""', 2)[2].strip()  # without the module's docstring
    cells = [new_markdown_cell(INTRODUCTION.strip()), new_code_cell(setup)]
    for text in chapters:
        cells += chapter(text.split("\ndef main()")[0])
        if "save_pictures" in cells[-1].source:
            cells.append(new_code_cell(PICTURES))
    cells.append(new_code_cell(END))
    for i, cell in enumerate(cells):
        cell.id = f"cell-{i:02}"
    notebook = new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.validate(notebook)
    return notebook


def main(arguments: list[str]) -> int:
    """Write or check the notebook; the exit status."""
    text = nbformat.writes(make(SOURCE.read_text())) + "\n"
    if "--check" in arguments:
        if not NOTEBOOK.exists() or NOTEBOOK.read_text() != text:
            print(f"{NOTEBOOK.name} is out of date. Try: python scripts/make_notebook.py")
            return 1
        return 0
    NOTEBOOK.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
