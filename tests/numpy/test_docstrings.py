"""Every public function of `numlift.numpy` has its own full text, with an example that runs.

Whether the examples are right is checked by running them: they are doctests.
"""

from __future__ import annotations

from typing import Any

import pytest

import numlift.numpy as np
from tests.docstrings import is_ours, missing, unbound, wrong

MODULES = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft}
FUNCTIONS: dict[str, Any] = {
    f"{module}.{name}": getattr(namespace, name)
    for module, namespace in MODULES.items()
    for name in sorted(vars(namespace))
    if not name.startswith("_") and is_ours(getattr(namespace, name))
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_text_is_complete(name: str) -> None:
    lacks = missing(FUNCTIONS[name])
    assert not lacks, f"the text of {name} lacks {', '.join(lacks)}"
    false = wrong(FUNCTIONS[name])
    assert not false, f"the text of {name} tells of what is not there: {', '.join(false)}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_example_can_be_copied(name: str) -> None:
    names = unbound(FUNCTIONS[name])
    assert not names, f"the example of {name} does not import {', '.join(names)}"


@pytest.mark.parametrize("module", MODULES)
def test_names_are_exported(module: str) -> None:
    """A function moved to another file must not be lost from `__all__`."""
    here = {name.removeprefix(f"{module}.") for name in FUNCTIONS if name.startswith(f"{module}.")}
    assert {name for name in here if "." not in name} <= set(MODULES[module].__all__)
