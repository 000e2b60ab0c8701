"""What the text of a public function must have: sections, every argument, an example."""

from __future__ import annotations

import builtins
import doctest
import inspect
import re
import symtable
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from numlift import errors
from numlift.core.dtype_table import ScalarType

_NAME = re.compile(r"\*{0,2}(\w+)")


def is_ours(f: Any) -> bool:
    """A function of this library: no class, no dtype, nothing that NumPy or Python made."""
    if not callable(f) or isinstance(f, (type, ScalarType)) or inspect.ismodule(f):
        return False
    return str(getattr(f, "__module__", "")).startswith("numlift")


def functions_of(module: ModuleType) -> dict[str, Any]:
    """The public functions of a module: those of `__all__`, or all without an underscore."""
    names = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
    return {n: getattr(module, n) for n in sorted(names) if is_ours(getattr(module, n))}


def section(doc: str, title: str) -> str:
    """Text under `title:` up to the next title."""
    found = re.search(rf"^{title}:\n((?:(?:[ ]{{4}}.*)?\n)*)", doc + "\n", re.MULTILINE)
    return found[1] if found else ""


def _entries(text: str) -> list[str]:
    """Names in front of the colon of each entry of a section: ``a, b: text`` has two."""
    heads = re.findall(r"^ {4}(\*{0,2}\w+(?:, \*{0,2}\w+)*):(?: |$)", text, re.MULTILINE)
    return [_NAME.fullmatch(name)[1] for head in heads for name in head.split(", ")]  # type: ignore[index]


def missing(f: Any) -> list[str]:
    """What the text of a function lacks."""
    doc = inspect.getdoc(f) or ""
    lacks = []
    if ">>>" not in section(doc, "Example"):
        lacks.append("an example")
    if not section(doc, "Returns").strip():
        lacks.append("Returns")
    described = section(doc, "Args")
    for name in inspect.signature(f).parameters:
        if not re.search(rf"(?<!\w){name}(?!\w)", described):
            lacks.append(f"the argument {name}")
    return lacks


def wrong(f: Any) -> list[str]:
    """What the text of a function tells of and does not exist: arguments and exceptions."""
    doc = inspect.getdoc(f) or ""
    parameters = inspect.signature(f).parameters
    found = [f"no argument {n}" for n in _entries(section(doc, "Args")) if n not in parameters]
    home = vars(inspect.getmodule(f))
    for name in _entries(section(doc, "Raises")):
        error = getattr(errors, name, None) or getattr(builtins, name, None) or home.get(name)
        if not (isinstance(error, type) and issubclass(error, BaseException)):
            found.append(f"no exception {name}")
    return found


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _scopes(child)


def unbound(f: Any) -> list[str]:
    """Names that the example of a function uses and does not make: nobody can copy it.

    A doctest has the names of the module it stands in, so running the example does not tell. Names
    of Python count where that module has its own of them: `slice` of `numlift.lax`, say.
    """
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(f) or "")
    top = symtable.symtable("".join(e.source for e in examples), "example", "exec")
    made = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    used = {
        s.get_name()
        for scope in _scopes(top)
        for s in scope.get_symbols()
        if s.is_referenced() and (scope is top or s.is_global())
    }
    home = vars(inspect.getmodule(f))
    return sorted(n for n in used - made if n in home or not hasattr(builtins, n))
