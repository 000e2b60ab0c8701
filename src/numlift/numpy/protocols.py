"""NumPy's own functions on our arrays: `__array_ufunc__` and `__array_function__`.

Code that says ``import numpy as np`` calls `np.sin(x)` or `np.linalg.norm(x)`; NumPy asks its
arguments who computes. The answer is the function of the same name in `numlift.numpy`, so such
code can be differentiated, compiled and batched as it is. What has no counterpart (files, printing,
comparing memory) runs in NumPy itself where values are known.

Source: NEP 13 (universal functions) and NEP 18 (array functions).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import Tracer, Value
from ..runtime.array import Array
from ..tree import tree_leaves, tree_map
from .scipy_ufuncs import SCIPY_UFUNCS
from .ufuncs import ufunc as Ufunc

_NUMBERS = (bool, int, float, complex, str, bytes, list, tuple, type(None))
_IN_PLACE = ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask")
_INSTEAD = {
    "copyto": "np.where(mask, new, old)",
    "putmask": "np.where(mask, new, old)",
    "may_share_memory": "no question about memory: values are immutable",
    "shares_memory": "no question about memory: values are immutable",
    "array2string": "nl.debug.print('{x}', x=x)",
    "array_repr": "nl.debug.print('{x}', x=x)",
    "array_str": "nl.debug.print('{x}', x=x)",
    "save": "nl.debug.callback(np.save, name, x)",
    "savetxt": "nl.debug.callback(np.savetxt, name, x)",
    "savez": "nl.debug.callback(np.savez, name, x)",
    "savez_compressed": "nl.debug.callback(np.savez_compressed, name, x)",
}
_IN_NUMPY = frozenset({"array_repr", "array_str", "array2string", "save", "savez", "savetxt"})
"""Functions with a counterpart of ours that NumPy runs all the same: text and files."""


@cache
def _functions() -> Mapping[Any, Callable[..., Any]]:
    """NumPy function -> ours, for every public name that both have."""
    ours = sys.modules["numlift.numpy"]
    found: dict[Any, Callable[..., Any]] = {}
    spaces: list[tuple[ModuleType, Any]] = [
        (np, ours),
        (np.linalg, ours.linalg),
        (np.fft, ours.fft),
        (np.emath, ours.emath),
    ]
    for theirs, space in spaces:
        for name in dir(theirs):
            function, counterpart = getattr(theirs, name), getattr(space, name, None)
            if callable(function) and callable(counterpart) and not isinstance(function, type):
                found.setdefault(function, counterpart)
    return found


def _ufunc_of(ufunc: np.ufunc) -> Callable[..., Any] | None:
    found = _functions().get(ufunc)
    special = sys.modules.get("scipy.special")
    if found is None and getattr(special, ufunc.__name__, None) is ufunc:
        return SCIPY_UFUNCS.get(ufunc.__name__)
    return found


def _is_foreign(kinds: Iterable[type], protocol: str) -> bool:
    """Whether one of the types is an array class of somebody else, who shall decide."""
    return any(
        not issubclass(k, (Value, np.ndarray, np.generic, *_NUMBERS)) and hasattr(k, protocol)
        for k in kinds
    )


def _in_numpy(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run NumPy's function on the values of our arrays, which share their memory."""
    args, kwargs = tree_map(
        lambda x: np.asarray(x) if isinstance(x, Array) else x,
        (tuple(args), dict(kwargs)),
        is_leaf=lambda x: x is None,
    )
    return function(*args, **kwargs)


def _traced(args: Any) -> bool:
    return any(isinstance(x, Tracer) for x in tree_leaves(args))


def _immutable(name: str) -> errors.ImmutableArrayError:
    return errors.ImmutableArrayError(
        errors.explain(
            f"numpy.{name}",
            "the result was to be written into a Numlift array, which is immutable",
            try_="leave out= away and use the result: y = f(x); x.at[i].set(y) writes a part",
        )
    )


def _needs_values(name: str, what: str, try_: str) -> errors.TracerArrayConversionError:
    return errors.TracerArrayConversionError(
        errors.explain(f"numpy.{name}", f"{what}, and traced values are not known yet", try_=try_)
    )


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """What `np.sin(x)`, `np.add.reduce(x)` and ``ndarray + x`` compute."""
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    out = kwargs.pop("out", None)
    into = () if out is None else tuple(x for x in out if x is not None)
    if _is_foreign(map(type, (*inputs, *into)), "__array_ufunc__"):
        return NotImplemented
    if any(isinstance(x, Value) for x in into):
        raise _immutable(name)
    if into or method == "at":
        return _write(ufunc, method, name, inputs, kwargs, out)
    function = _ufunc_of(ufunc)
    if function is None:
        if _traced((inputs, kwargs)):
            raise errors.TracerArrayConversionError(
                errors.explain(
                    f"numpy.ufunc {name}",
                    "this function is compiled for NumPy and cannot be traced",
                    try_="nl.pure_callback to call it, or write it with NumPy's functions",
                )
            )
        return _in_numpy(getattr(ufunc, method), inputs, kwargs)
    if not isinstance(function, Ufunc):
        function = Ufunc(function, ufunc.nin, ufunc.nout, name=ufunc.__name__, like=ufunc)
    return (function if method == "__call__" else getattr(function, method))(*inputs, **kwargs)


def _write(
    ufunc: np.ufunc, method: str, name: str, inputs: Any, kwargs: dict[str, Any], out: Any
) -> Any:
    """Calls that write into a NumPy array run in NumPy."""
    if method == "at" and isinstance(inputs[0], Value):
        raise errors.ImmutableArrayError(
            errors.explain(
                f"numpy.{name}",
                "writes into its first argument, and Numlift arrays are immutable",
                try_="y = x.at[indices].add(values)  (set, multiply, min, max, apply, ...)",
            )
        )
    if _traced((inputs, kwargs)):
        raise _needs_values(
            name, "the result was to be written into a NumPy array", "a = a + x instead of a += x"
        )
    if out is not None:
        kwargs["out"] = out
    return _in_numpy(getattr(ufunc, method), inputs, kwargs)


def array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """What `np.sum(x)`, `np.linalg.norm(x)` and `np.concatenate([x, y])` compute."""
    if _is_foreign(types, "__array_function__"):
        return NotImplemented
    name: str = func.__name__
    out = kwargs.get("out")
    if any(isinstance(x, Value) for x in tree_leaves(out)):
        raise _immutable(name)
    function = _functions().get(func)
    in_place = name in _IN_PLACE and not (args and isinstance(args[0], Value))
    if name in ("copyto", "putmask") and not in_place:
        raise _immutable(name)
    if function is not None and out is None and not in_place and name not in _IN_NUMPY:
        return function(*args, **kwargs)
    if not _traced((args, kwargs)):
        return _in_numpy(func, args, kwargs)
    if out is not None or in_place:
        raise _needs_values(
            name,
            "the result was to be written into a NumPy array",
            _INSTEAD.get(name, "leave out= away and use the result"),
        )
    raise _needs_values(
        name,
        "this function has no counterpart that can be traced",
        _INSTEAD.get(name, "nl.pure_callback to call it on values"),
    )


def install(cls: type) -> None:
    """Let NumPy's functions on `cls` be computed by Numlift."""
    cls.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
    cls.__array_function__ = array_function  # type: ignore[attr-defined]
