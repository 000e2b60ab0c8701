"""examples/tour.ipynb is the tour as a notebook, without outputs, and runs from top to bottom."""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.examples.pages import ROOT

NOTEBOOK = ROOT / "examples" / "tour.ipynb"
SCRIPT = ROOT / "scripts" / "make_notebook.py"


@pytest.fixture(scope="module")
def notebook() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


def test_it_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    script = runpy.run_path(str(SCRIPT))
    assert script["main"](["--check"]) == 0, capsys.readouterr().out


def test_an_old_notebook_is_noticed() -> None:
    script = runpy.run_path(str(SCRIPT))
    source = (ROOT / "examples" / "tour.py").read_text()
    made = script["make"](source.replace("the third derivative is", "the third one is"))
    assert nbformat.writes(made) + "\n" != NOTEBOOK.read_text()


def test_outputs_are_stripped(notebook: Any) -> None:
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) >= 10
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


def test_chapters_are_those_of_the_tour(notebook: Any) -> None:
    titles = [c.source.splitlines()[0] for c in notebook.cells if c.cell_type == "markdown"]
    assert [t.split(". ")[0] for t in titles[1:]] == ["## 1", "## 2", "## 3", "## 4", "## 5"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_it_runs(notebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMLIFT_NUM_CPU_DEVICES", "8")
    monkeypatch.setenv("NUMLIFT_TOUR_OUTPUT", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "jupyter"))
    client = NotebookClient(notebook, timeout=120, kernel_name="python3")
    done = client.execute(cwd=str(tmp_path), env=dict(os.environ))
    said = "".join(text_of(o) for c in done.cells if c.cell_type == "code" for o in c.outputs)
    assert said.count("✓") >= 16
    assert "✗" not in said
    assert said.rstrip().endswith("All claims hold.")
    kinds = [kind for c in done.cells for o in c.get("outputs", ()) for kind in o.get("data", {})]
    assert kinds.count("image/png") == 2


def text_of(output: Any) -> str:
    """Plain text of one output."""
    return output.get("text", "") or output.get("data", {}).get("text/plain", "")
