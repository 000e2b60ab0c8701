"""Functions of NumPy whose dtypes do not follow from promotion alone.

Lifted code runs with ``numpy_dtype_promotion="numpy"``, which gives operators, universal functions
and most others NumPy's dtypes. The rest is here, by kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as nlnp
from ..core.tracing import Value
from ..numpy.array_values import convert_to
from ..tree import tree_map
from .writable import has_traced

_WIDE = frozenset({"corrcoef", "cov", "geomspace", "polyint"})
"""Functions that compute in float64 or complex128, whatever floats they get."""
_QUANTILES = frozenset({"nanpercentile", "nanquantile", "percentile", "quantile"})
"""Functions that do so where the second argument is a list or array."""
_WITH_INT64 = frozenset({"polyder", "vander"})
"""Functions that combine their argument with int64."""
_ARRAYS = {"append": 1, "polyval": 1}
"""Name -> argument that is an array to NumPy although it may be a number."""
_ARRAY_OPTIONS = ("append", "prepend")
_NUMBERS_IN_LISTS = frozenset({"select", "piecewise", "result_type", "ix_", "pad", "choose"})
"""Functions that take Python numbers in a list as numbers; to others lists are arrays."""


def with_numpy_dtypes(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    """`ours`, computing in the dtypes of NumPy's function of that name."""

    def function(*args: Any, **kwargs: Any) -> Any:
        args = tuple([np.asarray(x) if type(x) is range else x for x in args])
        if name not in _NUMBERS_IN_LISTS:
            args = tuple([_strong_list(x) if type(x) in (list, tuple) else x for x in args])
        args = tuple([_argument(name, i, x, args) for i, x in enumerate(args)])
        for option in _ARRAY_OPTIONS:
            if option in kwargs:
                kwargs[option] = _as_element(kwargs[option])
        if name == "bincount" and kwargs.get("weights") is not None:
            kwargs["weights"] = _at_least_float64(kwargs["weights"])
        return _result(name, ours(*args, **kwargs), args, kwargs)

    return function


def _argument(name: str, i: int, x: Any, args: Any) -> Any:
    if name in _WIDE and i < 2 or name == "bincount" and i == 1:
        return _at_least_float64(x)
    if name in _QUANTILES and i == 0 and len(args) > 1 and np.ndim(args[1]):
        return _at_least_float64(x)
    if name in _WITH_INT64 and i == 0 and isinstance(x, Value):
        if name != "vander" or x.type.kind in "biu":
            return convert_to(x, np.promote_types(x.type.dtype, np.int64))
    return _as_element(x) if _ARRAYS.get(name) == i else x


def _result(name: str, found: Any, args: Any, kwargs: Any) -> Any:
    if name == "histogram" and len(args) < 4 and not {"density", "weights"} & set(kwargs):
        bins = kwargs.get("bins", args[1] if len(args) > 1 else 10)
        edges = np.asarray(bins) if np.ndim(bins) == 1 and not has_traced(bins) else found[1]
        return (convert_to(found[0], np.dtype(np.int64)), edges)  # NumPy counts in integers
    if name == "polyder" and isinstance(args[0], Value):
        return convert_to(found, args[0].type.dtype)
    return found


def _at_least_float64(x: Any) -> Any:
    """An array of floats as float64, a complex one as complex128."""
    if not isinstance(x, Value) or x.type.kind not in "fcbiu":
        return x
    return convert_to(x, nlnp.promote_types(x.type.dtype, np.float64))


def _strong_list(x: Any) -> Any:
    return tree_map(_as_element, x, is_leaf=lambda y: y is None) if has_traced(x) else x


def _as_element(x: Any) -> Any:
    """A value as NumPy makes an array of it: Python numbers have 64 bits there."""
    if type(x) in (int, float, complex):
        return np.asarray(x)[()]
    return convert_to(x, x.dtype) if getattr(x, "weak_type", False) else x


__all__ = ["with_numpy_dtypes"]
