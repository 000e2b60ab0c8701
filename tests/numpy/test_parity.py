"""What `docs/numpy_parity.md` says about NumPy's names is true for the installed NumPy."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy
import pytest

ROOT = Path(__file__).parents[2]


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


reasons = _script("numpy_parity_reasons")
parity = _script("numpy_parity")
IS_DOCUMENTED = f"NumPy {'.'.join(numpy.__version__.split('.')[:2])};" in parity.PAGE.read_text()


def test_every_name_is_here_or_has_a_reason() -> None:
    assert parity.problems(known_only=not IS_DOCUMENTED) == []


@pytest.mark.skipif(not IS_DOCUMENTED, reason="the page is written from another NumPy")
def test_the_page_is_up_to_date() -> None:
    assert parity.page() == parity.PAGE.read_text(), "run scripts/numpy_parity.py"


def test_problems_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(reasons.LEFT_OUT["numpy"], "sin", "no")
    monkeypatch.setitem(reasons.ARGUMENTS["numpy"], "median", "no")
    monkeypatch.delitem(reasons.LEFT_OUT["numpy"], "poly1d")
    monkeypatch.delitem(reasons.ARGUMENTS["numpy"], "stack")
    found = parity.problems()
    for name in ("sin", "median", "poly1d", "stack"):
        assert any(line.startswith(f"numpy.{name}") for line in found)
