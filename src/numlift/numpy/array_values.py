"""What can become an array: values of ours and of NumPy, numbers, nested lists of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .. import config, errors
from ..core.dtypes import (
    KeyDType,
    all_dtypes,
    canonicalize_dtype,
    is_python_scalar,
    python_scalar_dtype,
    result_type_of,
)
from ..core.integers import check_integer, integer_overflow
from ..core.tracing import EVAL, Tracer, Value, apply, current, type_of
from ..runtime.array import Array
from ..runtime.transfer import as_array, learn_quick_array, quick_array
from ..structural.arith import Convert
from .util import stack_nested

NOT_NUMBERS = "OUSmMV"
"""Kinds of NumPy's dtypes whose elements are no numbers, most of them."""
_NUMBERS = {bool, int, float, complex}


def from_value(x: Any, dtype: Any, copy: bool) -> Any:
    """A value of any kind as an array: of ours, of NumPy, a number, or nested lists of these."""
    if isinstance(x, Value):
        if dtype is not None and (dtype != x.type.dtype or x.type.weak_type):
            return convert_to(x, dtype)
        return x._clone() if copy and type(x) is Array and current.get() is EVAL else x
    if isinstance(x, (np.ndarray, np.generic)):
        return _from_numpy(x, dtype)
    if is_python_scalar(x):
        return _from_number(x, dtype)
    if isinstance(x, (list, tuple)):
        return _from_sequence(x, dtype)
    for protocol in ("__numlift_array__", "__jax_array__"):
        method = getattr(x, protocol, None)
        if method is not None:
            return from_value(method(), dtype, copy)
    if x is None:
        raise errors.ValueArgumentError(
            errors.explain("array", "None is not an array", try_="np.nan, or leave it out")
        )
    found = np.asarray(x)
    _check_numbers(found)
    return as_array(found, dtype)


def _from_numpy(x: Any, dtype: Any) -> Any:
    if dtype is not None or type(x) is not np.ndarray:
        if x.dtype.kind in NOT_NUMBERS and not isinstance(dtype, KeyDType):
            _check_numbers(x)
        return as_array(x, dtype)
    made = quick_array(x)
    if made is None:
        _check_numbers(x)
        made = as_array(x)
        learn_quick_array(x, made)
    return made


def _check_numbers(x: Any) -> None:
    if x.dtype.kind in NOT_NUMBERS and x.dtype.names is None and x.dtype.name not in _EXTRA:
        raise errors.ArgumentError(
            errors.explain(
                "array",
                f"a value of dtype {x.dtype} is not made of numbers",
                {"object": repr(x)[:80]},
                try_="numbers, bools, or nested lists of them with equal lengths",
            )
        )


_EXTRA = frozenset(str(d.name) for d in all_dtypes if d.kind == "V")
"""Dtypes of numbers that NumPy itself calls void."""


def _from_number(x: Any, dtype: Any) -> Any:
    if current.get() is EVAL:
        return as_array(x, dtype)
    if dtype is not None:
        return apply(Convert.of(dtype, False), x)
    kind = python_scalar_dtype(type(x))
    if isinstance(x, int) and not isinstance(x, bool):
        check_integer("array", x)
    return apply(Convert.of(kind, not isinstance(x, bool)), x)


def _leaf_types(x: Any) -> set[type]:
    """Types of the leaves of nested lists and tuples."""
    kinds = set(map(type, x))
    if list in kinds or tuple in kinds:
        nested = [y for y in x if type(y) is list or type(y) is tuple]
        kinds -= {list, tuple}
        kinds.update(*map(_leaf_types, nested))
    return kinds


@lru_cache(maxsize=256)
def _dtype_of_numbers(kinds: frozenset[type], state: Any) -> Any:
    """Dtype of an array of Python numbers of these types."""
    pairs = [(python_scalar_dtype(kind), kind is not bool) for kind in kinds]
    return result_type_of(tuple(sorted(pairs, key=str)))[0]


def _from_numbers(x: Any, dtype: Any) -> Any:
    """Nested lists of Python numbers only."""
    try:
        found = np.asarray(x, dtype)
    except OverflowError:
        raise integer_overflow("array", None, dtype) from None
    except ValueError as error:
        raise errors.ValueArgumentError(errors.explain("array", str(error))) from None
    return _from_numpy(found, None)


def _from_sequence(x: Any, dtype: Any) -> Any:
    kinds = _leaf_types(x)
    if dtype is None and kinds and kinds <= _NUMBERS:
        return _from_numbers(x, _dtype_of_numbers(frozenset(kinds), config.current()))
    leaves: list[Any] = []
    _collect(x, leaves)
    if any(isinstance(leaf, Tracer) for leaf in leaves) or (
        current.get() is not EVAL and any(isinstance(leaf, Value) for leaf in leaves)
    ):
        return convert_to(stack_nested(x, "array", "object"), dtype)
    if any(isinstance(leaf, Value) and isinstance(leaf.type.dtype, KeyDType) for leaf in leaves):
        return stack_nested(x, "array", "object")
    if dtype is None and leaves:
        dtype = _common_dtype(leaves)
    try:
        found = np.asarray(_to_host(x), None if isinstance(dtype, KeyDType) else dtype)
    except OverflowError:
        raise integer_overflow("array", None, dtype) from None
    except ValueError as error:
        raise errors.ValueArgumentError(errors.explain("array", str(error))) from None
    _check_numbers(found)
    return as_array(found, dtype)


def _collect(x: Any, leaves: list[Any]) -> None:
    for item in x:
        if isinstance(item, (list, tuple)):
            _collect(item, leaves)
        elif item is None:
            raise errors.ValueArgumentError(
                errors.explain("array", "None is not an array", try_="np.nan for a missing number")
            )
        else:
            for protocol in ("__numlift_array__", "__jax_array__"):
                if hasattr(item, protocol):
                    item = getattr(item, protocol)()
            leaves.append(item)


def _common_dtype(leaves: list[Any]) -> Any:
    """Promoted dtype of the parts of a list; None if NumPy must find out."""
    pairs = set()
    for kind in set(map(type, leaves)):
        if kind in (bool, int, float, complex):
            pairs.add((python_scalar_dtype(kind), kind is not bool))
    for leaf in leaves:
        if type(leaf) not in (bool, int, float, complex):
            dtype = getattr(leaf, "dtype", None)
            if dtype is None or getattr(dtype, "kind", "O") in "OUSmM":
                return None
            weak = isinstance(leaf, Value) and leaf.type.weak_type
            pairs.add((canonicalize_dtype(dtype), weak))
    return result_type_of(tuple(sorted(pairs, key=str)))[0]


def _to_host(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_to_host(item) for item in x]
    for protocol in ("__numlift_array__", "__jax_array__"):
        if hasattr(x, protocol):
            x = getattr(x, protocol)()
    return x._numpy() if isinstance(x, Array) else x


def convert_to(x: Any, dtype: Any) -> Any:
    """A value with another dtype (not weak); None leaves it. Complex to real drops a part."""
    t = type_of(x)
    if dtype is None or (t.dtype == dtype and not t.weak_type and isinstance(x, Value)):
        return x
    return apply(Convert.of(dtype, False), x)
