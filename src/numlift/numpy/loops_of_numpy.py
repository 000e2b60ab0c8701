"""Which dtypes NumPy's universal functions compute in: asked from NumPy itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from .. import errors
from ..core.dtype_kinds import is_native
from ..core.dtypes import canonicalize_dtype, user_dtype
from ..core.integers import fits
from ..core.tracing import Value, type_of
from ..tree import tree_leaves
from .array_values import convert_to
from .creation import asarray
from .selection import where as choose
from .util import as_value

_ABSENT = frozenset("gGOmMSUV")
"""Type codes of NumPy's dtypes that do not exist here: long double, objects, dates, text."""
_NUMBERS = {int: int, float: float, complex: complex}
_PYTHON = {"i": int, "f": float, "c": complex}


def types_of(ufunc: np.ufunc | None) -> list[str]:
    """NumPy's loops for dtypes that exist here."""
    return [] if ufunc is None else [t for t in ufunc.types if not _ABSENT & set(t)]


def in_loop(
    ufunc: np.ufunc | None,
    call: Callable[[Any, dict[str, Any]], Any],
    name: str,
    args: tuple[Any, ...],
    options: dict[str, Any],
    dtype: Any,
    signature: Any,
    casting: str,
) -> Any:
    """Call with operands in the dtypes that NumPy chooses for `dtype`, `signature`, `casting`.

    Raises:
        DTypeError: there is no such loop, or an operand cannot be cast by the rule.
    """
    if ufunc is None:
        raise errors.ArgumentError(
            errors.explain(name, "dtype= is for NumPy's own functions", try_="x.astype(dtype)")
        )
    asked = _signature(ufunc, name, dtype, signature)
    return _call_in_loop(ufunc, call, name, args, options, asked, casting)


def _call_in_loop(
    ufunc: np.ufunc,
    call: Callable[[Any, dict[str, Any]], Any],
    name: str,
    args: Sequence[Any],
    options: dict[str, Any],
    asked: Any,
    casting: str,
) -> Any:
    arrays = [x if type(x) in _NUMBERS else asarray(x) for x in args]
    types = [
        _NUMBERS.get(type(x)) or (_PYTHON[x.type.kind] if x.type.weak_type else x.dtype)
        for x in arrays
    ]
    try:
        chosen = {} if asked is None else {"signature": asked}
        loop = ufunc.resolve_dtypes((*types, *[None] * ufunc.nout), casting=casting, **chosen)
    except TypeError as error:
        raise errors.DTypeError(
            errors.explain(
                name,
                f"{error} (casting={casting!r})",
                {f"argument {i}": type_of(x) for i, x in enumerate(args)},
                try_="x.astype(dtype)",
            )
        ) from None
    wanted = [_ours(d) for d in loop[: ufunc.nin]]
    stays = wanted.count(wanted[0]) == len(wanted) and any(type(x) not in _NUMBERS for x in arrays)
    operands = [  # Python numbers adopt the dtype of the others, and powers look at them
        x if stays and type(x) in _NUMBERS else convert_to(asarray(x), d)
        for x, d in zip(arrays, wanted, strict=True)
    ]
    found = call(operands, options)
    wanted = [_ours(d) for d in loop[ufunc.nin :]]
    if ufunc.nout == 1:
        return convert_to(found, wanted[0])
    return tuple([convert_to(x, d) for x, d in zip(found, wanted, strict=True)])


def as_numpy(
    ufunc: np.ufunc, call: Callable[..., Any], name: str, args: tuple[Any, ...], options: Any
) -> Any:
    """Call as NumPy would: ``numpy_dtype_promotion="numpy"``.

    Dtypes that are not NumPy's own, such as bfloat16, keep Numlift's rules, and so do operands that
    all stand for Python numbers.
    """
    values = [as_value(x, name, f"x{i + 1}") for i, x in enumerate(args)]
    types = [type_of(x) for x in values]
    if not all(is_native(t.dtype) for t in types) or all(t.weak_type for t in types):
        return call(values, options)
    if len(values) == 2 and ufunc in _COMPARISONS:
        compared = _compared(ufunc, call, values, types, options)
        if compared is not None:
            return compared
    found = _call_in_loop(ufunc, call, name, values, options, None, "same_kind")
    if ufunc in _DIVISIONS and type_of(tree_leaves(found)[0]).kind in "biu":
        return _by_zero(values[1], found)
    return found


_COMPARISONS = frozenset(
    [np.less, np.less_equal, np.equal, np.not_equal, np.greater_equal, np.greater]
)
_DIVISIONS = frozenset([np.floor_divide, np.remainder, np.fmod, np.divmod])


def _compared(ufunc: Any, call: Any, values: list[Any], types: list[Any], options: Any) -> Any:
    """Comparisons that no dtype holds both operands of: by value, as in NumPy; else None."""
    for i, (x, t) in enumerate(zip(values, reversed(types), strict=True)):
        if type(x) is int and t.kind in "iu" and not fits(x, t.dtype):
            beyond = list(values)
            beyond[i] = float("inf") if x > 0 else -float("inf")
            beyond[1 - i] = convert_to(asarray(values[1 - i]), np.dtype(np.float64))
            return call(beyond, options)
    kinds = "".join(t.kind for t in types)
    if kinds in ("iu", "ui") and np.promote_types(types[0].dtype, types[1].dtype).kind == "f":
        i = kinds.index("i")
        signed, unsigned = asarray(values[i]), asarray(values[1 - i])
        pair = [unsigned, unsigned]
        pair[i] = convert_to(signed, unsigned.dtype)
        below = ufunc(*((-1, 0) if i == 0 else (0, -1)))
        return choose(signed < 0, below, call(pair, options))
    return None


def _by_zero(divisor: Any, found: Any) -> Any:
    """Quotients and remainders of integers, which are 0 for a divisor of 0 in NumPy."""
    if not isinstance(divisor, Value):
        if np.all(divisor):
            return found
        divisor = asarray(divisor)
    whole = divisor != 0
    if isinstance(found, tuple):
        return tuple([choose(whole, x, 0) for x in found])
    return choose(whole, found, 0)


def _ours(dtype: Any) -> Any:
    return canonicalize_dtype(np.dtype(dtype))


def _signature(ufunc: np.ufunc, name: str, dtype: Any, signature: Any) -> Any:
    if dtype is not None and signature is not None:
        raise errors.ArgumentError(
            errors.explain(name, "takes dtype or signature, not both", try_="signature= alone")
        )
    if dtype is not None:
        return (*[None] * ufunc.nin, *[user_dtype(dtype, name, False)] * ufunc.nout)
    return signature


def check_reduction(ufunc: np.ufunc | None, name: str, dtype: Any, wanted: Any) -> Any:
    """dtype of NumPy's fold of arrays of `dtype` in `wanted`; None if NumPy does not know it.

    Raises:
        DTypeError: NumPy has no such fold.
    """
    if ufunc is None or ufunc.nin != 2 or not is_native(dtype):
        return None
    found = _reduction(ufunc, dtype, wanted if is_native(wanted) else None)
    if isinstance(found, str):
        raise errors.DTypeError(
            errors.explain(name, found, {"array": dtype}, try_="x.astype(dtype)")
        )
    return found


@cache
def _reduction(ufunc: np.ufunc, dtype: Any, wanted: Any) -> Any:
    try:
        return ufunc.reduce(np.ones(1, dtype), dtype=wanted).dtype
    except TypeError as error:
        return str(error)


def check_update(ufunc: np.ufunc | None, name: str, x: Any, b: Any) -> None:
    """Raise if NumPy has no such function of `x` and `b`; results are cast to the dtype of `x`.

    Raises:
        DTypeError: there is no loop for these dtypes.
    """
    t = type_of(x)
    other = () if b is None else (_NUMBERS.get(type(b)) or type_of(b).dtype,)
    if ufunc is None or not all(d in _NUMBERS or is_native(d) for d in (t.dtype, *other)):
        return
    try:
        ufunc.resolve_dtypes((t.dtype, *other, t.dtype), casting="unsafe")
    except TypeError as error:
        raise errors.DTypeError(
            errors.explain(name, str(error), {"a": t}, try_="a.astype(dtype) first")
        ) from None
