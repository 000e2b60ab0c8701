"""Python's own functions in lifted code: what asks for the type of a value, and `math`.

Arrays and scalars are writable or traced values there, and code that asks shall go the way it goes
with NumPy: ``isinstance(x, float)`` holds for a Python float and for `numpy.float64`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .. import numpy as nlnp
from ..core.tracing import Value, apply
from ..numpy.creation import Convert
from ..numpy.scipy_ufuncs import SCIPY_UFUNCS
from .masked_calls import counted
from .scalars import PYTHON, plain_type
from .writable import Writable, has_traced, is_writable, plain

_PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def kind_of(x: Writable) -> type:
    """The type that a value has in NumPy."""
    value = x.read()
    if not isinstance(value, Value) or not x.is_scalar():
        return np.ndarray
    if getattr(value, "weak_type", False):
        return _PYTHON.get(value.type.kind, object)
    dtype = value.type.dtype
    return dtype.type if isinstance(dtype, np.dtype) else object


def _isinstance(x: Any, kinds: Any) -> bool:
    kinds = tuple(map(plain_type, kinds)) if type(kinds) is tuple else plain_type(kinds)
    if not is_writable(x):
        return isinstance(x, kinds)
    return isinstance(x, kinds) or issubclass(kind_of(x), kinds)


class _Type:
    """`type` in lifted code. It is no class, so that `isinstance` can ask it."""

    def __call__(self, x: Any, *rest: Any, **kwargs: Any) -> Any:
        if rest or not is_writable(x):
            return type(x, *rest, **kwargs)
        found = kind_of(x)
        return ARRAY_CLASS.get(found, found)

    def __instancecheck__(self, x: Any) -> bool:
        return isinstance(x, type)

    def __subclasscheck__(self, kind: type) -> bool:
        return issubclass(kind, type)

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (type,)

    def __getattr__(self, name: str) -> Any:
        return getattr(type, name)

    def __getitem__(self, item: Any) -> Any:
        return type[item]

    def __or__(self, other: Any) -> Any:
        return type | other

    def __ror__(self, other: Any) -> Any:
        return other | type


ARRAY_CLASS: dict[type, Any] = {}
"""What stands for `numpy.ndarray` in lifted code."""
BUILTINS: dict[str, Any] = {"isinstance": _isinstance, "len": counted, "type": _Type(), **PYTHON}
"""Name -> what it means in lifted code that does not define it."""

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log": lambda x, base=None: nlnp.log(x) if base is None else nlnp.log(x) / nlnp.log(base),
    "pow": nlnp.power,
    "floor": lambda x: nlnp.floor(x).astype(int),
    "ceil": lambda x: nlnp.ceil(x).astype(int),
    "trunc": lambda x: nlnp.trunc(x).astype(int),
    "erf": SCIPY_UFUNCS["erf"],
    "erfc": SCIPY_UFUNCS["erfc"],
    "gamma": SCIPY_UFUNCS["gamma"],
    "lgamma": SCIPY_UFUNCS["gammaln"],
    "isclose": lambda a, b, *, rel_tol=1e-9, abs_tol=0.0: (
        (a == b)
        | (nlnp.abs(a - b) <= nlnp.maximum(rel_tol * nlnp.maximum(abs(a), abs(b)), abs_tol))
    ),
}
_SAME_NAMES = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cos", "cosh",
    "degrees", "exp", "exp2", "expm1", "fabs", "fmod", "hypot", "isfinite", "isinf", "isnan",
    "log10", "log1p", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip
for _name in _SAME_NAMES:
    _FUNCTIONS[_name] = getattr(nlnp, _name)


def _math_function(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        values = plain(args)
        if not has_traced(values):
            return theirs(*values, **kwargs)
        for x in values:
            if np.ndim(x):
                raise TypeError(
                    f"math.{theirs.__name__}: only scalars, not arrays. Try: np.{theirs.__name__}"
                )
        found = ours(*map(nlnp.asarray, values), **kwargs)
        return Writable(apply(Convert.of(found.dtype, True), found), scalar=True)  # as Python's

    return function


class _Math(ModuleType):
    """`math`, whose functions take traced scalars."""

    def __getattr__(self, name: str) -> Any:
        return getattr(math, name)


MATH = _Math("math", math.__doc__)
MATH_FUNCTIONS: dict[int, Callable[..., Any]] = {}
"""id of a function of `math` -> the one for lifted code."""
for _name, _ours in _FUNCTIONS.items():
    _theirs = getattr(math, _name)
    MATH_FUNCTIONS[id(_theirs)] = _math_function(_theirs, _ours)
    setattr(MATH, _name, MATH_FUNCTIONS[id(_theirs)])
