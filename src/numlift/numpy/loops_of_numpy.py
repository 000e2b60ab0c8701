"""Which dtypes NumPy's universal functions compute in: asked from NumPy itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import canonicalize_dtype, user_dtype
from ..core.tracing import type_of
from .array_values import convert_to
from .creation import asarray

_ABSENT = frozenset("gGOmMSUV")
"""Type codes of NumPy's dtypes that do not exist here: long double, objects, dates, text."""
_NUMBERS = {int: int, float: float, complex: complex}


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
    arrays = [x if type(x) in _NUMBERS else asarray(x) for x in args]
    types = [_NUMBERS.get(type(x)) or x.dtype for x in arrays]
    asked = _signature(ufunc, name, dtype, signature)
    try:
        loop = ufunc.resolve_dtypes(
            (*types, *[None] * ufunc.nout), signature=asked, casting=casting
        )
    except TypeError as error:
        raise errors.DTypeError(
            errors.explain(
                name,
                f"{error} (casting={casting!r})",
                {f"argument {i}": type_of(x) for i, x in enumerate(args)},
                try_="x.astype(dtype)",
            )
        ) from None
    operands = [
        convert_to(asarray(x), _ours(d)) for x, d in zip(arrays, loop[: ufunc.nin], strict=True)
    ]
    found = call(operands, options)
    wanted = [_ours(d) for d in loop[ufunc.nin :]]
    if ufunc.nout == 1:
        return convert_to(found, wanted[0])
    return tuple([convert_to(x, d) for x, d in zip(found, wanted, strict=True)])


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


def _is_numpys_own(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.isbuiltin == 1


def check_reduction(ufunc: np.ufunc | None, name: str, dtype: Any, wanted: Any) -> Any:
    """dtype of NumPy's fold of arrays of `dtype` in `wanted`; None if NumPy does not know it.

    Raises:
        DTypeError: NumPy has no such fold.
    """
    if ufunc is None or ufunc.nin != 2 or not _is_numpys_own(dtype):
        return None
    found = _reduction(ufunc, dtype, wanted if _is_numpys_own(wanted) else None)
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
    if ufunc is None or not all(d in _NUMBERS or _is_numpys_own(d) for d in (t.dtype, *other)):
        return
    try:
        ufunc.resolve_dtypes((t.dtype, *other, t.dtype), casting="unsafe")
    except TypeError as error:
        raise errors.DTypeError(
            errors.explain(name, str(error), {"a": t}, try_="a.astype(dtype) first")
        ) from None
