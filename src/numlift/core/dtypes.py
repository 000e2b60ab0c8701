"""Dtypes: their limits, and which dtype an operation on mixed dtypes has.

Dtypes are `numpy.dtype` objects (those of `ml_dtypes` for bfloat16, float8 and int4), plus
`KeyDType` for typed random keys. The dtypes themselves are in `dtype_table`, their kinds in
`dtype_kinds`; everything of these that others need is also a name of this module.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from .. import errors
from ..config import current
from .dtype_kinds import CUSTOM_KIND, is_native, isdtype, issubdtype
from .dtype_table import (
    DTYPES,
    NAMES,
    KeyDType,
    ScalarType,
    all_dtypes,
    as_dtype,
    bfloat16,
    bool_,
    complex64,
    complex128,
    dtype_mlir,
    dtype_short_name,
    extended,
    float0,
    float4_e2m1fn,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    int2,
    int4,
    int8,
    int16,
    int32,
    int64,
    jax_numpy_dtype,
    prng_key,
    scalar_type,
    scalar_types,
    set_array_maker,
    uint2,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
    unsupported,
)

__all__ = [
    "KeyDType",
    "ScalarType",
    "all_dtypes",
    "as_dtype",
    "bfloat16",
    "bool_",
    "canonicalize_dtype",
    "complex128",
    "complex64",
    "dtype_mlir",
    "dtype_of",
    "dtype_short_name",
    "extended",
    "finfo",
    "float0",
    "float16",
    "float32",
    "float4_e2m1fn",
    "float64",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "iinfo",
    "int16",
    "int2",
    "int32",
    "int4",
    "int64",
    "int8",
    "is_python_scalar",
    "is_weakly_typed",
    "isdtype",
    "issubdtype",
    "jax_numpy_dtype",
    "prng_key",
    "promote_types",
    "python_scalar_dtype",
    "result_type",
    "result_type_of",
    "scalar_type",
    "scalar_type_of",
    "scalar_types",
    "set_array_maker",
    "tangent_dtype",
    "uint16",
    "uint2",
    "uint32",
    "uint4",
    "uint64",
    "uint8",
    "unsupported",
    "user_dtype",
]

_PYTHON_SCALARS = (bool, int, float, complex)
_WIDE: dict[Any, np.dtype[Any]] = {
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.uint32),
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}
_PYTHON_DTYPE: dict[type, np.dtype[Any]] = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}


def is_python_scalar(x: Any) -> bool:
    """Whether x is a Python bool, int, float or complex (NumPy scalars are not)."""
    if type(x) in _PYTHON_DTYPE:
        return True
    return isinstance(x, _PYTHON_SCALARS) and not isinstance(x, np.generic)


def _is_value(x: Any) -> bool:
    """Whether x is an array or a number, and not the name of a dtype."""
    return is_python_scalar(x) or (
        hasattr(x, "dtype") and not isinstance(x, (type, ScalarType, np.dtype))
    )


def canonicalize_dtype(dtype: Any, allow_extended: bool = False) -> Any:
    """The dtype that arrays really get: 64-bit ones become 32-bit unless `enable_x64` is on.

    Args:
        dtype: anything that names a dtype.
        allow_extended: accept random-key dtypes (and return them).

    Returns:
        A NumPy dtype: the same, or the one of half the width. A random-key dtype stays as it is.

    Raises:
        DTypeError: not a dtype of arrays (object, string, datetime, structured ...).

    Example:
        >>> from numlift.dtypes import canonicalize_dtype
        >>> canonicalize_dtype("int64"), canonicalize_dtype(bool)
        (dtype('int32'), dtype('bool'))
    """
    dtype = as_dtype(dtype)
    if isinstance(dtype, KeyDType):
        if not allow_extended:
            raise errors.DTypeError(
                errors.explain(
                    "dtype", "a random-key dtype is not a number", {"dtype": dtype},
                    try_="random.key_data(keys) gives the words of keys",
                )
            )  # fmt: skip
        return dtype
    if dtype not in NAMES:
        raise unsupported(dtype)
    if dtype in _WIDE and not current().enable_x64:
        return _WIDE[dtype]
    return dtype


def user_dtype(dtype: Any, function: str, allow_extended: bool = True) -> Any:
    """Canonical dtype for a dtype that a user asked for; warns if 64 bits are truncated.

    Python's `int`, `float` and `complex` mean the default width and do not warn.

    Args:
        dtype: anything that names a dtype.
        function: named in the warning.
        allow_extended: accept random-key dtypes (and return them).

    Returns:
        The dtype, as from `canonicalize_dtype`.

    Raises:
        DTypeError: not a dtype of arrays.
    """
    asked = as_dtype(dtype)
    result = canonicalize_dtype(asked, allow_extended)
    by_class = isinstance(dtype, type) and dtype in _PYTHON_DTYPE
    if asked in _WIDE and result != asked and not by_class:
        warnings.warn(
            f"Explicitly requested dtype {asked.name} requested in {function} is not "
            f"available, and will be truncated to dtype {result.name}. To enable more dtypes, "
            "call numlift.config.update('enable_x64', True) or set the environment variable "
            "NUMLIFT_ENABLE_X64=1.",
            UserWarning,
            stacklevel=errors.user_depth(),
        )
    return result


def python_scalar_dtype(kind: type) -> np.dtype:
    """Canonical dtype of Python scalars of this class: bool, int32, float32, complex64 (or 64-bit).

    Args:
        kind: `bool`, `int`, `float`, `complex` or a subclass.

    Returns:
        A NumPy dtype.

    Raises:
        DTypeError: another class.

    Example:
        >>> python_scalar_dtype(float)
        dtype('float32')
    """
    found = _PYTHON_DTYPE.get(kind)
    if found is None:
        for base in _PYTHON_SCALARS:
            if issubclass(kind, base):
                found = _PYTHON_DTYPE[base]
                break
        else:
            raise unsupported(kind)
    return _WIDE[found] if found in _WIDE and not current().enable_x64 else found


def dtype_of(x: Any) -> Any:
    """Canonical dtype of an array, NumPy or Python scalar, or of a dtype-like thing.

    Raises:
        DTypeError: `x` has no array dtype.
    """
    if type(x) in _PYTHON_DTYPE:
        return python_scalar_dtype(type(x))
    dtype = getattr(x, "dtype", None)
    if dtype is None or isinstance(x, type):
        if is_python_scalar(x):
            return python_scalar_dtype(type(x))
        dtype = as_dtype(x)
    return canonicalize_dtype(dtype, allow_extended=True)


def scalar_type_of(x: Any) -> type:
    """Python class of the scalars that behave like x: bool, int, float or complex.

    Args:
        x: array, number, or dtype.

    Returns:
        The class.

    Raises:
        DTypeError: `x` has no dtype of numbers.

    Example:
        >>> import numpy as np
        >>> from numlift.dtypes import scalar_type_of
        >>> scalar_type_of(np.float32(1))
        <class 'float'>
    """
    dtype = dtype_of(x)
    if dtype.kind == "b":
        return bool
    for kind, python in (
        (np.integer, int), (np.floating, float), (np.complexfloating, complex),
    ):  # fmt: skip
        if issubdtype(dtype, kind):
            return python
    raise unsupported(dtype)


def is_weakly_typed(x: Any) -> bool:
    """Whether the dtype of x gives way to others: Python scalars and arrays made of them only."""
    if type(x) in _PYTHON_DTYPE:
        return type(x) is not bool
    weak = getattr(x, "weak_type", None)
    if weak is None:
        return is_python_scalar(x) and not isinstance(x, bool)
    return bool(weak)


def finfo(dtype: Any) -> Any:
    """Limits of a floating dtype, or of the parts of a complex one.

    Args:
        dtype: dtype, its name, or an array or number, whose dtype counts.

    Returns:
        An object with `bits`, `eps` (distance from 1 to the next number), `max`, `min`, `tiny` (the
        least normal number), `nmant` and others, as `numpy.finfo` (`ml_dtypes.finfo` for its
        types).

    Raises:
        ValueArgumentError: no floating dtype.

    Differences from NumPy: a number of Python has the default dtype, float32 unless x64 is on.

    Example:
        >>> import numlift.numpy as np
        >>> float(np.finfo("float32").eps), np.finfo("bfloat16").bits
        (1.1920928955078125e-07, 16)
    """
    dtype = dtype_of(dtype) if _is_value(dtype) else as_dtype(dtype)
    if not issubdtype(dtype, np.inexact):
        raise errors.ValueArgumentError(
            errors.explain("finfo", f"{dtype_short_name(dtype)} is not a floating dtype",
                           {"dtype": dtype}, try_=f"iinfo({dtype_short_name(dtype)!r})")
        )  # fmt: skip
    return ml_dtypes.finfo(dtype) if dtype.type in CUSTOM_KIND else np.finfo(dtype)


def iinfo(dtype: Any) -> Any:
    """Limits of an integer dtype.

    Args:
        dtype: dtype, its name, or an array or number, whose dtype counts.

    Returns:
        An object with `bits`, `min` and `max`, as `numpy.iinfo` (`ml_dtypes.iinfo` for int2 and
        int4).

    Raises:
        ValueArgumentError: no integer dtype.

    Example:
        >>> import numlift.numpy as np
        >>> np.iinfo("int8").min, np.iinfo("uint4").max
        (-128, 15)
    """
    dtype = dtype_of(dtype) if _is_value(dtype) else as_dtype(dtype)
    if not issubdtype(dtype, np.integer):
        raise errors.ValueArgumentError(
            errors.explain("iinfo", f"{dtype_short_name(dtype)} is not an integer dtype",
                           {"dtype": dtype}, try_=f"finfo({dtype_short_name(dtype)!r})")
        )  # fmt: skip
    return ml_dtypes.iinfo(dtype) if dtype.type in CUSTOM_KIND else np.iinfo(dtype)


def tangent_dtype(dtype: Any) -> np.dtype:
    """Dtype of tangents of values of this dtype: itself if floating or complex, else `float0`."""
    if not isinstance(dtype, KeyDType) and issubdtype(dtype, np.inexact):
        return as_dtype(dtype)
    return float0


# --- promotion -----------------------------------------------------------------------------

_INT, _FLOAT, _COMPLEX = "int*", "float*", "complex*"
_WEAK_DTYPE = {_INT: DTYPES["int64"], _FLOAT: DTYPES["float64"], _COMPLEX: DTYPES["complex128"]}
_SMALL_FLOATS = tuple(n for n in DTYPES if n.startswith(("float4", "float8")))
_SMALL_INTS = ("int2", "int4", "uint2", "uint4")
_ABOVE: dict[str, tuple[str, ...]] = {
    "bool": (_INT,),
    _INT: ("int8", "uint8", *_SMALL_INTS),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": (_FLOAT,),
    "uint8": ("int16", "uint16"),
    "uint16": ("int32", "uint32"),
    "uint32": ("int64", "uint64"),
    "uint64": (_FLOAT,),
    _FLOAT: ("bfloat16", "float16", _COMPLEX, *_SMALL_FLOATS),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    _COMPLEX: ("complex64",),
    "complex64": ("complex128",),
}
"""The published promotion lattice: each dtype, and those directly above it. ``*`` marks the weak
ones. Types without an entry (int4, float8 ...) have nothing above them."""

_ABOVE_STRICT: dict[str, tuple[str, ...]] = {
    _INT: (_FLOAT, *(n for n in DTYPES if n.startswith(("int", "uint")))),
    _FLOAT: (_COMPLEX, *(n for n in DTYPES if n.startswith(("float", "bfloat")))),
    _COMPLEX: ("complex64", "complex128"),
}
"""Promotion under ``numpy_dtype_promotion='strict'``: only weak types give way."""


def _closure(above: dict[str, tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """Every node and all nodes at or above it."""
    found: dict[str, frozenset[str]] = {}

    def visit(node: str) -> frozenset[str]:
        if node not in found:
            found[node] = frozenset([node]).union(*(visit(n) for n in above.get(node, ())))
        return found[node]

    for node in (*DTYPES, *_WEAK_DTYPE):
        visit(node)
    return found


_UPPER = {"standard": _closure(_ABOVE), "strict": _closure(_ABOVE_STRICT)}


@functools.cache
def _join(nodes: frozenset[str], mode: str) -> str | None:
    """The least node that is at or above all of these, or None."""
    upper = _UPPER[mode]
    common = frozenset.intersection(*(upper[n] for n in nodes))
    for node in common:
        if upper[node] >= common:
            return node
    return None


def _promotion_error(nodes: Sequence[str], mode: str) -> errors.TypePromotionError:
    names = sorted(set(nodes))
    rule = f"{' and '.join(names)} have no common dtype to promote to"
    if mode == "strict" and _join(frozenset(nodes), "standard") is not None:
        rule += " while numpy_dtype_promotion is 'strict'"
    elif any(n in _SMALL_INTS for n in names):
        rule += ": integers of 2 and 4 bits are never promoted implicitly"
    elif any(n in _SMALL_FLOATS for n in names):
        rule += ": floats of 4 and 8 bits are never promoted implicitly"
    wide = next((n for n in names if n not in _SMALL_INTS + _SMALL_FLOATS and "*" not in n), "")
    return errors.TypePromotionError(
        errors.explain("result_type", rule, try_=f"x.astype({wide or 'float32'!r}) for the others")
    )


@functools.lru_cache(maxsize=8192)
def _result_type(types: tuple[tuple[Any, bool], ...], x64: bool, mode: str) -> tuple[Any, bool]:
    """`result_type_of` for one setting of the flags that matter to it."""
    if not types:
        raise errors.ValueArgumentError("result_type: at least one array or dtype is needed")
    dtypes = [_WIDE.get(d, d) if not x64 else d for d, _ in types]
    first = dtypes[0]
    weak = all(w for _, w in types)
    if all(d == first for d in dtypes):
        return first, weak and first != bool_.dtype
    for dtype in dtypes:
        if dtype not in NAMES or dtype == float0:
            raise errors.TypePromotionError(
                errors.explain(
                    "result_type", f"{dtype_short_name(dtype)} mixes with no other dtype",
                    {f"operand {i}": d for i, d in enumerate(dtypes)},
                    try_="convert the operands to one dtype first",
                )
            )  # fmt: skip
    if mode == "numpy":
        result = _numpy_result(dtypes, [w for _, w in types])
        if result is not None:
            return (_WIDE.get(result, result) if not x64 else result), weak
        mode = "standard"
    if weak:
        nodes = [NAMES[d] for d in dtypes]
        mode = "standard"
    else:
        nodes = [_node(d, w) for d, (_, w) in zip(dtypes, types, strict=True)]
    found = _join(frozenset(nodes), mode)
    if found is None:
        raise _promotion_error(nodes, mode)
    result = _WEAK_DTYPE[found] if found in _WEAK_DTYPE else DTYPES[found]
    return (_WIDE.get(result, result) if not x64 else result), weak or found in _WEAK_DTYPE


_NUMBER_OF_KIND: dict[str, Any] = {"i": 0, "u": 0, "f": 0.0, "c": 0j}


def _numpy_result(dtypes: Sequence[Any], weak: Sequence[bool]) -> Any:
    """NumPy's result type, where weak dtypes stand for Python numbers.

    None for dtypes that are not NumPy's own, such as bfloat16.
    """
    if not all(map(is_native, dtypes)):
        return None
    numbers = _NUMBER_OF_KIND
    return np.result_type(
        *[numbers.get(d.kind, d) if w else d for d, w in zip(dtypes, weak, strict=True)]
    )


def _node(dtype: Any, weak: bool) -> str:
    if not weak or dtype.kind == "b":
        return NAMES[dtype]
    return _FLOAT if issubdtype(dtype, np.floating) else _COMPLEX if dtype.kind == "c" else _INT


def result_type_of(types: Sequence[tuple[Any, bool]]) -> tuple[Any, bool]:
    """Dtype and weakness of an operation on operands with these (dtype, weak) pairs. Memoised.

    Raises:
        TypePromotionError: there is no common dtype.
    """
    state = current()
    return _result_type(tuple(types), state.enable_x64, state.numpy_dtype_promotion)


def promote_types(a: Any, b: Any) -> Any:
    """The smallest dtype in the promotion lattice that two dtypes convert to.

    Args:
        a: dtype, its name, or Python's `int`, `float` or `complex`, which stand for weak numbers.
        b: another one.

    Returns:
        A dtype; unlike that of `result_type` not narrowed to 32 bits.

    Raises:
        TypePromotionError: there is none (int4 with int8, float8 with float32 ...).  DTypeError: an
        argument is no dtype.

    Differences from NumPy: integers never make floats wider, so that int32 and float32 give
    float32.

    Example:
        >>> import numlift.numpy as np
        >>> np.promote_types("int32", "float16"), np.promote_types("bfloat16", "float16")
        (dtype('float16'), dtype('float32'))
        >>> np.promote_types("uint8", "int8"), np.promote_types("int8", int)
        (dtype('int16'), dtype('int8'))
    """
    pair = tuple(
        (_PYTHON_DTYPE[t], t is not bool) if isinstance(t, type) and t in _PYTHON_DTYPE
        else (as_dtype(t), False)
        for t in (a, b)
    )  # fmt: skip
    return _result_type(pair, True, current().numpy_dtype_promotion)[0]


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """Dtype of an operation on these arrays, numbers and dtypes.

    Args:
        *args: arrays, Python numbers (weak), NumPy scalars, dtypes, names of dtypes, or Python's
            `int`, `float`, `complex` (weak). Weak ones give way within their kind.
        return_weak_type_flag: return ``(dtype, weak)``.

    Returns:
        A dtype, 32 bits wide at most (complex64) unless x64 is on.

    Raises:
        TypePromotionError: there is no common dtype.  ValueArgumentError: no arguments.
        DTypeError: an argument has no dtype.

    Differences from NumPy: as in `promote_types`; and arrays made of one Python number are weak
    too.

    Example:
        >>> import numlift.numpy as np
        >>> np.result_type("int8", 2.5), np.result_type("bfloat16", 2.5), np.result_type("int8", 2)
        (dtype('float32'), dtype(bfloat16), dtype('int8'))
    """
    found = result_type_of([_dtype_and_weak(x) for x in args])
    return found if return_weak_type_flag else found[0]


def _dtype_and_weak(x: Any) -> tuple[Any, bool]:
    if isinstance(x, type) and x in _PYTHON_DTYPE:
        return python_scalar_dtype(x), x is not bool
    return dtype_of(x), is_weakly_typed(x)
