"""Give a user's function a NumPy whose conversions take traced values.

NumPy asks nobody before it converts: `np.asarray(x)` of a traced value must fail. So `lift` runs
a copy of the function in which the names that mean NumPy, and NumPy's conversion functions, mean
the ones below. Functions that it calls by a global name or from a closure are copied as well.
"""

from __future__ import annotations

import functools
import sysconfig
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .. import numpy as nlnp
from ..core.tracing import Value
from ..errors import is_internal
from ..tree import tree_leaves


def _convert(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    theirs = getattr(np, name)

    @functools.wraps(theirs)
    def converted(*args: Any, **kwargs: Any) -> Any:
        if not any(isinstance(x, Value) for x in tree_leaves((args, kwargs))):
            return theirs(*args, **kwargs)
        for option in ("order", "subok", "like"):  # traced values have no layout
            kwargs.pop(option, None)
        return ours(*args, **kwargs)

    return converted


def _require(a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    return nlnp.asarray(a, dtype)


CONVERSIONS: dict[str, Callable[..., Any]] = {
    "array": _convert("array", nlnp.array),
    "asarray": _convert("asarray", nlnp.asarray),
    "asanyarray": _convert("asanyarray", nlnp.asarray),
    "asarray_chkfinite": _convert("asarray_chkfinite", nlnp.asarray),
    "ascontiguousarray": _convert("ascontiguousarray", nlnp.asarray),
    "asfortranarray": _convert("asfortranarray", nlnp.asarray),
    "require": _convert("require", _require),
    "vectorize": nlnp.vectorize,
}
_FOUND_BY = {id(getattr(np, name)): function for name, function in CONVERSIONS.items()}


class _TracedNumPy(ModuleType):
    """`numpy`, but with conversions that take traced values."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


_TRACED_NUMPY = _TracedNumPy("numpy", np.__doc__)
_TRACED_NUMPY.__dict__.update(CONVERSIONS)
_LIBRARIES = tuple({sysconfig.get_path(p) for p in ("stdlib", "purelib", "platlib")})


def relink(fun: Any) -> Any:
    """A copy of a user's function that sees the conversions above.

    Functions of libraries, and functions that are reached as attributes of a module or an object,
    stay as they are.
    """
    return _Relinker().changed(fun)


def _names(code: CodeType) -> set[str]:
    """Global names that a code object may use, with the functions defined in it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names(constant)
    return found


class _Relinker:
    def __init__(self) -> None:
        self.made: dict[int, Any] = {}

    def changed(self, x: Any) -> Any:
        """What stands in the place of `x`: `x` itself if nothing needs to change."""
        if x is np:
            return _TRACED_NUMPY
        if isinstance(x, FunctionType):
            made = self.made.get(id(x))
            return self._function(x) if made is None else made
        if isinstance(x, MethodType):
            return MethodType(self.changed(x.__func__), x.__self__)
        if isinstance(x, functools.partial):
            return functools.partial(self.changed(x.func), *x.args, **x.keywords)
        return _FOUND_BY.get(id(x), x)

    def _function(self, fun: FunctionType) -> Any:
        code = fun.__code__
        internal = is_internal(code)  # a transformation: the user's function is in its closure
        if not internal and code.co_filename.startswith(_LIBRARIES):
            return fun
        if internal and not fun.__closure__:
            return fun
        names = fun.__globals__ if internal else dict(fun.__globals__)
        cells = tuple(CellType() for _ in fun.__closure__ or ())
        made = FunctionType(code, names, fun.__name__, fun.__defaults__, cells)
        self.made[id(fun)] = made
        functools.update_wrapper(made, fun)
        made.__kwdefaults__ = fun.__kwdefaults__
        for cell, old in zip(cells, fun.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.changed(old.cell_contents)
            except ValueError:  # a name that is not bound yet
                continue
        if not internal:
            for name in _names(code):
                if name in names:
                    names[name] = self.changed(names[name])
        return made


__all__ = ["CONVERSIONS", "relink"]
