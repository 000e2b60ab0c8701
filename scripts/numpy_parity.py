"""Compare `numlift.numpy` with the installed NumPy, and write `docs/numpy_parity.md`.

    python scripts/numpy_parity.py            # write the page
    python scripts/numpy_parity.py --check    # exit status 1 if it is out of date

Every public name of NumPy's main namespace, of `linalg`, `fft` and `emath`, and every method of its
arrays is either here or in `LEFT_OUT` with a reason. Every argument that a caller of NumPy could
miss is in `ARGUMENTS` with a reason. `problems` says where that is not so.
"""

from __future__ import annotations

import inspect
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from numpy_parity_reasons import ARGUMENTS, LEFT_OUT, PLATFORM

import numlift.numpy as ours

MISSING = object()
PAGE = Path(__file__).parents[1] / "docs" / "numpy_parity.md"
MAIN = "numpy"
METHODS = "numpy.ndarray"
SPACES: dict[str, tuple[Any, Any]] = {
    MAIN: (np, ours),
    "numpy.linalg": (np.linalg, ours.linalg),
    "numpy.fft": (np.fft, ours.fft),
    "numpy.emath": (np.emath, ours.emath),
    METHODS: (np.ndarray, type(ours.zeros(1))),
}
_P = inspect.Parameter
_BY_PLACE = (_P.POSITIONAL_ONLY, _P.POSITIONAL_OR_KEYWORD)
_BY_NAME = (_P.KEYWORD_ONLY, _P.POSITIONAL_OR_KEYWORD)


def names(space: str) -> list[str]:
    """Public names of one of NumPy's namespaces, without those of a single platform."""
    return [n for n in dir(SPACES[space][0]) if n[0] != "_" and n not in PLATFORM]


def lookup(space: str, name: str) -> tuple[Any, Any]:
    """NumPy's object of a name, and ours or `MISSING`."""
    theirs, own = SPACES[space]
    find = inspect.getattr_static if space == METHODS else getattr
    return getattr(theirs, name), find(own, name, MISSING)


def kind(thing: Any) -> str:
    """What a name is, in a word."""
    if isinstance(thing, np.ufunc):
        return "universal function"
    if isinstance(thing, types.ModuleType):
        return "module"
    if isinstance(thing, type):
        return "dtype" if issubclass(thing, np.generic) else "class"
    if isinstance(thing, types.GetSetDescriptorType):
        return "attribute"
    return "function" if callable(thing) else "constant"


def signature(thing: Any) -> inspect.Signature | None:
    """The parameters of a function; None for what is not called or does not tell."""
    if not callable(thing) or isinstance(thing, (type, np.ufunc)):
        return None
    try:
        return inspect.signature(thing)
    except (TypeError, ValueError):
        return None


def default(value: Any) -> Any:
    """A default such that those that mean the same are equal: nothing given."""
    if value is np._NoValue or value is None or value is False or value in _SAME:
        return None
    return value


_SAME: tuple[Any, ...] = (float, int, bool, True, "K", "C", "L", "auto", "greedy", 1)
"""Defaults of NumPy that None stands for here; their arguments say what None means."""


def differences(theirs: inspect.Signature, own: inspect.Signature) -> tuple[list[str], list[str]]:
    """(what a caller of NumPy could miss, arguments that are only ours)."""
    missed: list[str] = []
    wanted, found = theirs.parameters, own.parameters
    places = [n for n, p in found.items() if p.kind in _BY_PLACE]
    star = any(p.kind is _P.VAR_POSITIONAL for p in found.values())
    named = {n for n, p in found.items() if p.kind in _BY_NAME}
    open_ended = any(p.kind is _P.VAR_KEYWORD for p in found.values())
    for i, (name, p) in enumerate(wanted.items()):
        if p.kind in (_P.VAR_POSITIONAL, _P.VAR_KEYWORD):
            continue
        if p.kind in _BY_NAME and name not in named and not open_ended:
            missed.append(f"`{name}` is missing" if name not in found else f"no `{name}=`")
        elif p.kind in _BY_PLACE and not star and name in found and name not in places:
            missed.append(f"`{name}` by name only")
        elif p.kind is _P.POSITIONAL_OR_KEYWORD and name in places and places.index(name) != i:
            missed.append(f"`{name}` at another place")
        elif name in found and p.default is not _P.empty:
            a, b = default(p.default), default(found[name].default)
            if a != b and (found[name].default is not None or a == "raise"):
                missed.append(f"`{name}={found[name].default!r}`")
    extra = [f"`{n}`" for n, p in found.items() if n not in wanted and p.kind is _P.KEYWORD_ONLY]
    return missed, extra


def compared(space: str, name: str) -> tuple[list[str], list[str]]:
    """`differences` of one name; nothing where there are no parameters to compare."""
    theirs, own = lookup(space, name)
    if space == METHODS and name == "T":
        return [], []
    a, b = signature(theirs), signature(own)
    return ([], []) if a is None or b is None else differences(a, b)


def problems(known_only: bool = False) -> list[str]:
    """Names and arguments that are neither here nor explained, and explanations of nothing.

    Args:
        known_only: say nothing about names that the tables do not know (another NumPy).
    """
    found = []
    for space in SPACES:
        out, reasons = LEFT_OUT.get(space, {}), ARGUMENTS.get(space, {})
        for name in names(space):
            _, own = lookup(space, name)
            if own is MISSING and name not in out and not known_only:
                found.append(f"{space}.{name} is neither here nor left out with a reason")
            if own is not MISSING and name in out:
                found.append(f"{space}.{name} is here, but listed as left out")
            if own is MISSING:
                continue
            missed, _ = compared(space, name)
            if missed and name not in reasons and not known_only:
                found.append(f"{space}.{name}: {', '.join(missed)}: no reason is given")
            if name in reasons and not missed and not known_only:
                found.append(f"{space}.{name}: a reason is given, but nothing differs")
        for name in () if known_only else sorted({*out, *reasons} - set(names(space))):
            found.append(f"{space}.{name} is explained, but NumPy has no such name")
    return found


def table(space: str) -> list[str]:
    """The lines of one namespace's tables."""
    out, reasons = LEFT_OUT.get(space, {}), ARGUMENTS.get(space, {})
    here, missing = [], []
    for name in names(space):
        theirs, own = lookup(space, name)
        if own is MISSING:
            missing.append(f"| `{name}` | {kind(theirs)} | {out.get(name, '')} |")
            continue
        missed, extra = compared(space, name)
        text = ", ".join(missed)
        if text:
            text += f": {reasons.get(name, '')}"
        if extra:
            text += ("; " if text else "") + "also " + ", ".join(extra)
        here.append(f"| `{name}` | {kind(theirs)} | {text} |")
    lines = [f"## `{space}`", "", f"{len(here)} names are here, {len(missing)} are left out.", ""]
    lines += ["| name | kind | arguments that differ |", "|---|---|---|", *here, ""]
    if missing:
        lines += ["| left out | kind | reason |", "|---|---|---|", *missing, ""]
    return lines


HEAD = """# NumPy's names, one by one

This page is written by `scripts/numpy_parity.py` from NumPy {version}; a test keeps it true. It
compares `numlift.numpy` with NumPy's main namespace, `linalg`, `fft`, `emath` and the methods of
arrays. What holds for every function:

- Results have 32-bit dtypes unless x64 is on; dtypes are promoted as `docs/reference/dtypes.md`
  says (Python numbers take the dtype of the array beside them).
- Arrays are immutable: `out` is accepted as None only; functions that write into an argument take
  `inplace=False` and return the changed array, or are left out.
- `order`, `subok` and `like` are accepted and mean nothing: there is no memory order, there are no
  subclasses. `where`, `initial`, `keepdims` left out are None or False.
- "also" lists arguments that NumPy does not have. Sizes that depend on values (`nonzero`, `unique`)
  need `size=` under a transformation.
- Universal functions have NumPy's attributes and methods, and the options `dtype`, `signature`,
  `casting`; `where=` needs `out=`, which cannot be: use `where(mask, result, other)`.
"""


def page() -> str:
    """The text of the page."""
    version = ".".join(np.__version__.split(".")[:2])
    lines = [HEAD.format(version=version)]
    for space in SPACES:
        lines += table(space)
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Write or check the page; print problems."""
    text = page()
    found = problems()
    print("\n".join(found))
    if "--check" in sys.argv:
        return 1 if found or PAGE.read_text() != text else 0
    PAGE.write_text(text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
