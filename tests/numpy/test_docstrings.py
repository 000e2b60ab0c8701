"""Every public function of `numlift.numpy` has its own full text, with an example that runs.

Whether the examples are right is checked by running them: they are doctests.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import numlift.numpy as np
from numlift.core.dtype_table import ScalarType

MODULES = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft}


def _is_ours(f: Any) -> bool:
    """A function of this library: no class, no dtype, nothing that NumPy made."""
    if not callable(f) or isinstance(f, (type, ScalarType)) or inspect.ismodule(f):
        return False
    return str(getattr(f, "__module__", "")).startswith("numlift")


FUNCTIONS: dict[str, Any] = {
    f"{module}.{name}": getattr(namespace, name)
    for module, namespace in MODULES.items()
    for name in sorted(vars(namespace))
    if not name.startswith("_") and _is_ours(getattr(namespace, name))
}


def _section(doc: str, title: str) -> str:
    """Text under `title:` up to the next title."""
    found = re.search(rf"^{title}:\n((?:(?:[ ]{{4}}.*)?\n)*)", doc + "\n", re.MULTILINE)
    return found[1] if found else ""


def missing(f: Any) -> list[str]:
    """What the text of a function lacks."""
    doc = inspect.getdoc(f) or ""
    lacks = []
    if ">>>" not in _section(doc, "Example"):
        lacks.append("an example")
    if not _section(doc, "Returns").strip():
        lacks.append("Returns")
    described = _section(doc, "Args")
    for name in inspect.signature(f).parameters:
        if not re.search(rf"(?<!\w){name}(?!\w)", described):
            lacks.append(f"the argument {name}")
    return lacks


@pytest.mark.parametrize("name", FUNCTIONS)
def test_text_is_complete(name: str) -> None:
    lacks = missing(FUNCTIONS[name])
    assert not lacks, f"the text of {name} lacks {', '.join(lacks)}"


@pytest.mark.parametrize("module", MODULES)
def test_names_are_exported(module: str) -> None:
    """A function moved to another file must not be lost from `__all__`."""
    here = {name.removeprefix(f"{module}.") for name in FUNCTIONS if name.startswith(f"{module}.")}
    assert {name for name in here if "." not in name} <= set(MODULES[module].__all__)


def test_what_is_missing_is_found() -> None:
    def bare(x: Any, axis: int) -> None:
        """Nothing.

        Args:
            x: array along an axis_.
        """

    assert missing(bare) == ["an example", "Returns", "the argument axis"]
