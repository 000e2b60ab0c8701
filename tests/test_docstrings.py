"""Every public function has its own full text, with an example that runs.

Whether the examples are right is checked by running them: they are doctests.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import pytest

import numlift
from tests.docstrings import functions_of, missing, unbound, wrong

# The rest of `numpy` has tests/numpy/test_docstrings.py.
MODULES = [
    "ad_checkpoint", "autostage", "checkpoint_policies", "config", "custom_batching",
    "custom_derivatives", "debug", "dtypes", "errors", "experimental", "experimental.checkify",
    "experimental.jet", "experimental.serialize_executable", "export", "flatten_util", "lax",
    "lax.linalg", "lifting", "memory", "nn", "nn.initializers", "numpy.emath", "random", "ref",
    "scopes", "sharding", "stages", "test_util", "tree", "tree_util", "typing",
]  # fmt: skip
NOT_PUBLIC = {
    "api": "how transformations are made; its public names are those of the package",
    "core": "types, graphs and operations, for this library and for authors of operations",
    "flags": "the table behind `config`",
    "hlo": "text of programs",
    "ops": "operations, for this library and for authors of operations",
    "runtime": "the client of XLA",
    "structural": "families of operations",
    "tools": "commands, described by their --help",
    "transforms": "rules that transformations apply",
}
EXEMPT = {
    "config.freeze_backend": "the runtime calls it once; an example would change the process",
}
FUNCTIONS: dict[str, Any] = {f"numlift.{n}": f for n, f in functions_of(numlift).items()}
for _module in MODULES:
    _found = functions_of(importlib.import_module(f"numlift.{_module}"))
    FUNCTIONS |= {f"{_module}.{n}": f for n, f in _found.items()}


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - EXEMPT.keys()))
def test_text_is_complete(name: str) -> None:
    lacks = missing(FUNCTIONS[name])
    assert not lacks, f"the text of {name} lacks {', '.join(lacks)}"
    false = wrong(FUNCTIONS[name])
    assert not false, f"the text of {name} tells of what is not there: {', '.join(false)}"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_example_can_be_copied(name: str) -> None:
    names = unbound(FUNCTIONS[name])
    assert not names, f"the example of {name} does not import {', '.join(names)}"


def test_exemptions_are_needed() -> None:
    assert all(name in FUNCTIONS and missing(FUNCTIONS[name]) for name in EXEMPT)


def test_every_module_is_held_to_the_rule() -> None:
    """A new public module is added here, or it is told why not."""
    there = {m.name for m in pkgutil.iter_modules(numlift.__path__) if not m.name.startswith("_")}
    held = {name.partition(".")[0] for name in MODULES}
    assert there == held | NOT_PUBLIC.keys()


def _classes() -> dict[str, type]:
    found = {}
    for name in ["", *MODULES]:
        module = importlib.import_module(f"numlift.{name}".rstrip("."))
        for n in getattr(module, "__all__", ()):
            x = getattr(module, n)
            if isinstance(x, type) and x.__module__.startswith("numlift"):
                found[f"{x.__module__}.{x.__qualname__}"] = x
    return found


CLASSES = _classes()


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_classes_have_a_text(name: str) -> None:
    """Of its own, not that of its base; examples are where the functions are that make it."""
    assert (vars(CLASSES[name]).get("__doc__") or "").strip()
    assert not inspect.getdoc(CLASSES[name]).startswith(CLASSES[name].__name__ + "(")  # type: ignore[union-attr]


def test_what_is_missing_is_found() -> None:
    def bare(x: Any, axis: int) -> None:
        """Nothing.

        Args:
            x: array along an axis_.
        """

    assert missing(bare) == ["an example", "Returns", "the argument axis"]


def test_what_is_not_there_is_found() -> None:
    def odd(x: Any, *args: Any) -> None:
        """Nothing.

        Args:
            x, y: arrays.
            *args: more: of them.

        Raises:
            ShapeError: of `numlift.errors`.
            TypeError, NoSuchError: of Python, and of nobody.
        """

    assert wrong(odd) == ["no argument y", "no exception NoSuchError"]


def test_names_that_nobody_made_are_found() -> None:
    def odd() -> None:
        """Nothing.

        Example:
            >>> import math
            >>> y = [pytest.fail(str(x) + missing) for x in (1, 2)]
            >>> def g(z): return z + y[0] + CLASSES + math.pi + max(z)
        """

    assert unbound(odd) == ["CLASSES", "missing", "pytest"]
    assert unbound(numlift.lax.slice) == []


def test_names_of_python_that_the_module_overrides_are_found() -> None:
    def slice_() -> None:
        """Nothing.

        Example:
            >>> abs(1), slice([1], (0,), (1,)), range(3)
        """

    slice_.__module__ = "numlift.lax.slicing"
    assert unbound(slice_) == ["slice"]
