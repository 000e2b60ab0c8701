"""What the reducing functions share: axes, masks, dtypes of results, kept axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..core.dtypes import user_dtype
from ..core.tracing import apply, type_of
from ..core.types import array_type
from ..ops import compare
from ..ops.elementwise_binary import div, or_
from ..ops.reductions import axes_to_one
from ..structural.arith import imag, real, select
from ..structural.shape import Broadcast, ReduceSum, full, reshape
from .util import as_value, broadcast_to_shape, cast, check_axes, expand, to_inexact

BOOL = np.dtype(np.bool_)
NARROW = np.dtype(np.float32)


def int_dtype() -> Any:
    """Default integer: int32, or int64 with x64 on."""
    return np.dtype(np.int64 if config.current().enable_x64 else np.int32)


def sum_dtype(dtype: Any) -> Any:
    """dtype of a sum: bools and small integers become the default integer, signed or not."""
    kind = array_type((), dtype).kind
    default = int_dtype()
    if kind == "b":
        return default
    if kind in "iu" and dtype.itemsize < default.itemsize:
        return default if kind == "i" else np.dtype(f"u{default.itemsize}")
    return dtype


def as_dtype(x: Any, dtype: Any) -> Any:
    """`x` with another dtype, not weakly typed; numbers stay scalars."""
    return cast(x, type_of(x), dtype)


def asked_dtype(function: str, dtype: Any) -> Any:
    """Canonical dtype of a `dtype` argument; None stays None."""
    return None if dtype is None else user_dtype(dtype, function)


def mask_of(function: str, where: Any, shape: tuple[int, ...]) -> Any:
    """The `where` argument as bools of the operand's shape."""
    mask = as_value(where, function, "where")
    t = type_of(mask)
    if t.kind != "b":
        raise errors.DTypeError(
            errors.explain(
                function, f"where must be bools, not {t.dtype}", {"where": t}, try_="where != 0"
            )
        )
    if t.ndim > len(shape) or any(
        n not in (1, m) for n, m in zip(reversed(t.shape), reversed(shape), strict=False)
    ):
        raise errors.ShapeError(
            errors.explain(
                function, "where must broadcast to the shape of a", {"where": t, "a": shape}
            )
        )
    return broadcast_to_shape(mask, shape)


def masked(function: str, x: Any, where: Any, fill: Any) -> Any:
    """`x` with `fill` where the mask is False."""
    if where is None:
        return x
    t = type_of(x)
    return apply(select, mask_of(function, where, t.shape), t.dtype.type(fill), x)


def reduced(op: type, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """`x` reduced over axes by an operation, which stay with size 1 if `keepdims`."""
    out = apply(op.of(axes), x)  # type: ignore[attr-defined]
    return expand(out, axes) if keepdims and axes else out


def total(x: Any, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    """Sum over axes."""
    return reduced(ReduceSum, x, axes, keepdims)


def axes_of(function: str, axis: Any, x: Any) -> tuple[int, ...]:
    """The `axis` argument as axes."""
    return check_axes(function, axis, type_of(x).ndim)


def size_over(x: Any, axes: Sequence[int]) -> int:
    """Number of elements that are reduced to one."""
    shape = type_of(x).shape
    return math.prod(shape[a] for a in axes)


def not_empty(function: str, x: Any, axes: tuple[int, ...]) -> None:
    """Raise as NumPy does for a reduction of nothing that has no identity."""
    if size_over(x, axes) == 0:
        raise errors.ShapeError(
            errors.explain(
                function,
                f"zero-size array to reduction operation {function} which has no identity",
                {"a": type_of(x), "axis": axes},
                try_="initial=... gives the result for no elements",
            )
        )


def wide_float(x: Any, dtype: Any) -> tuple[Any, Any]:
    """`x` as a float in which means are computed, and the dtype of the result.

    Floats of one or two bytes are computed in float32.
    """
    if dtype is None:
        (x,) = to_inexact(x)
        dtype = type_of(x).dtype
    narrow = dtype.itemsize <= 2 and array_type((), dtype).kind == "f"
    return as_dtype(x, NARROW if narrow else dtype), dtype


def divided(x: Any, count: Any) -> Any:
    """x / count, where count is an int or an array of integers; 0 / 0 is NaN."""
    t = type_of(x)
    count = t.dtype.type(count) if isinstance(count, (int, float)) else as_dtype(count, t.dtype)
    return apply(div, x, count)


def is_nan(x: Any) -> Any:
    """Bools: NaN, or a NaN part of a complex number."""
    if type_of(x).kind == "c":
        parts = [apply(compare.ne, p, p) for p in (apply(real, x), apply(imag, x))]
        return apply(or_, *parts)
    return apply(compare.ne, x, x)


def constant(shape: tuple[int, ...], dtype: Any, value: Any) -> Any:
    """An array with one value everywhere."""
    return full(array_type(shape, np.dtype(dtype)), value)


def spread(x: Any, shape: tuple[int, ...], axes: Sequence[int]) -> Any:
    """The result of a reduction without kept axes, repeated over them."""
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    return apply(Broadcast.of(shape, kept, None), x)


def joined_axes(x: Any, axes: tuple[int, ...]) -> Any:
    """`x` with these axes behind the others and joined to one."""
    return axes_to_one(x, axes)


def flat(x: Any) -> Any:
    """`x` with one axis."""
    return reshape(x, (type_of(x).size,))
