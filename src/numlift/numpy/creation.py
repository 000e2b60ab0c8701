"""Making arrays from values, and copies of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.sharding import reshard
from ..core.dtypes import (
    KeyDType,
    canonicalize_dtype,
    iinfo,
    set_array_maker,
    user_dtype,
)
from ..core.integers import integer_overflow
from ..core.tracing import EVAL, Value, apply, current, type_of
from ..core.types import array_type
from ..lax.arguments import static_int
from ..runtime.array import Array
from ..runtime.placement import default_placement
from ..runtime.transfer import as_array, device_put
from ..structural.arith import Convert
from ..structural.shape import reshape
from .array_values import NOT_NUMBERS, from_value
from .util import as_value

_MOST_AXES = 64  # as in NumPy
_ALIGNED = 64  # bytes; arrays in the memory of others must begin at a multiple


def array(
    object: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    *,
    subok: bool = False,
    ndmax: int = 0,
    like: None = None,
    device: Any = None,
    out_sharding: Any = None,
) -> Any:
    """An array with the values of `object`, in memory of its own.

    Args:
        object: array, number, or nested lists of these (traced values may be among them).
        dtype: dtype of the result; by default that of the parts, promoted. Python numbers give
            int32, float32 and complex64 (64 bits wide if x64 is on); one number alone is weakly
            typed.
        copy: whether the result must not share memory with `object`.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        ndmin: least number of axes; new ones come first.
        subok: accepted; there are no subclasses of arrays.
        ndmax: greatest number of axes, as in NumPy; 0 sets no limit.
        like: must be None.
        device: device or `Sharding` to put it on.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array whose shape is the nesting of the lists, followed by the shape of their elements.
        Linear in traced parts.

    Raises:
        ArgumentError: `object` is not made of numbers.  ValueArgumentError: None, ragged lists, no
        order, or too many axes.  OverflowError: a Python integer does not fit into the dtype.

    Differences from NumPy: no arrays of strings or objects.

    Example:
        >>> import numlift.numpy as np
        >>> np.array([[1, 2], [3, 4.5]])
        Array([[1. , 2. ],
               [3. , 4.5]], dtype=float32)
        >>> np.array([1, 2], ndmin=3).shape
        (1, 1, 2)
    """
    unused("array", order, like)
    ndmin, ndmax = static_int("array", "ndmin", ndmin), static_int("array", "ndmax", ndmax)
    if ndmin > _MOST_AXES:
        raise errors.ValueArgumentError(
            errors.explain("array", f"ndmin must be at most {_MOST_AXES}", {"ndmin": ndmin})
        )
    wanted = None if dtype is None else user_dtype(dtype, "array")
    x = from_value(object, wanted, copy)
    t = type_of(x)
    if ndmax and t.ndim > ndmax:
        raise errors.ValueArgumentError(
            errors.explain("array", f"object has more than ndmax={ndmax} axes", {"object": t})
        )
    if t.ndim < ndmin:
        x = reshape(x, (1,) * (ndmin - t.ndim) + t.shape)
    return placed(x, device, out_sharding)


_ORDERS = frozenset(["K", "A", "C", "F", "k", "a", "c", "f", None])


def unused(function: str, order: Any, like: Any = None) -> None:
    """Check NumPy's arguments without a meaning here: the memory order, and `like`.

    Raises:
        ValueArgumentError: no order of NumPy.  ArgumentError: an order that is no str; `like`.
    """
    if order is not None and not isinstance(order, str):
        raise errors.ArgumentError(
            errors.explain(
                function, f"order must be a str or None, not a {type(order).__name__}",
                try_="order='K'",
            )
        )  # fmt: skip
    if order not in _ORDERS:
        raise errors.ValueArgumentError(
            errors.explain(function, f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
        )
    if like is not None:
        raise errors.ArgumentError(
            errors.explain(
                function,
                "like must be None: this function makes arrays of Numlift",
                try_=f"numpy.{function}(..., like=x)",
            )
        )


def placed(x: Any, device: Any, out_sharding: Any) -> Any:
    """`x` on a device or with a sharding, if one was asked for."""
    if device is not None:
        x = device_put(x, device)
    return x if out_sharding is None else reshard(x, out_sharding)


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Any = None,
    like: None = None,
    out_sharding: Any = None,
) -> Any:
    """`a` as an array: itself if it is one and has the dtype.

    On CPU the result shares the memory of a NumPy array of the same dtype that is aligned to 64
    bytes and in row-major order, such as the result of ``numpy.asarray(x)``: do not write to it any
    more. Other NumPy arrays are copied.

    Args:
        a: array, number, or nested lists of these.
        dtype: dtype of the result; by default as for `array`.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        copy: True always copies; False raises if a copy would be needed.
        device: device or `Sharding` to put it on.
        like: must be None.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array of the shape of `a`.

    Raises:
        ValueArgumentError: `copy` is False and `a` is no array of that dtype already; and what
        `array` raises.

    Differences from JAX: `copy` False does not copy lists and numbers silently.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([1, 2], dtype="float32")
        >>> x
        Array([1., 2.], dtype=float32)
        >>> np.asarray(x) is x
        True
    """
    if copy is False:
        wanted = None if dtype is None else user_dtype(dtype, "asarray")
        if not isinstance(a, Value) or (wanted is not None and wanted != a.type.dtype):
            raise errors.ValueArgumentError(
                errors.explain("asarray", "a copy is needed, and copy is False", try_="copy=None")
            )
    if copy is None and type(a) is np.ndarray and device is None and out_sharding is None:
        shared = _shared(a, dtype)
        if shared is not None:
            return shared
    return array(a, dtype, bool(copy), order, like=like, device=device, out_sharding=out_sharding)


def as_owned(a: Any, dtype: Any = None) -> Any:
    """`asarray` for functions that go on computing after they return: shares with Numlift only."""
    return array(a, dtype, copy=False)


def _shared(x: np.ndarray, dtype: Any) -> Array | None:
    """An array on CPU in the memory of `x`, if it can lie there and has the dtype."""
    if x.__array_interface__["data"][0] % _ALIGNED or not x.flags.c_contiguous:
        return None
    if current.get() is not EVAL or x.dtype.kind in NOT_NUMBERS or not x.dtype.isnative:
        return None
    if canonicalize_dtype(x.dtype) != x.dtype:
        return None
    if dtype is not None and user_dtype(dtype, "asarray") != x.dtype:
        return None
    where = default_placement(array_type(x.shape, x.dtype))
    return as_array(x, may_alias=True) if where.on_cpu and where.single and x.size else None


def copy(a: Any, order: str | None = "K", subok: bool = False) -> Any:
    """A copy of `a` in memory of its own.

    Arrays are immutable, so a copy matters only where memory is given away, as by donation.

    Args:
        a: array, number, or nested lists of these.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        subok: accepted; there are no subclasses of arrays.

    Returns:
        Array of the shape and dtype of `a`. The identity for derivatives.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([1, 2])
        >>> y = np.copy(x)
        >>> y, y is x
        (Array([1, 2], dtype=int32), False)
    """
    return array(a, copy=True, order=order, subok=subok)


def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Any:
    """`x` with another dtype.

    Floats become integers by truncation: nan gives 0, and numbers outside the range its nearest
    end. Complex numbers become real ones by their real part; every number that is not 0 becomes
    True.

    Args:
        x: array, number, or nested lists of these.
        dtype: the new dtype; None is the default float.
        copy: True copies also if the dtype is the same.
        device: device or `Sharding` of the result.

    Returns:
        Array of the shape of `x`. Derivatives pass between floating dtypes, and are 0 through
        integers and bools.

    Raises:
        DTypeError: PRNG keys to or from numbers.

    Differences from NumPy: floats outside the range of an integer dtype do not wrap around.

    Example:
        >>> import numlift.numpy as np
        >>> np.astype(np.asarray([1.7, -1.7, np.nan, 1e20]), int)
        Array([         1,         -1,          0, 2147483647], dtype=int32)
    """
    x = as_value(x, "astype", "x")
    t = type_of(x)
    wanted = user_dtype(float if dtype is None else dtype, "astype")
    if isinstance(wanted, KeyDType) or isinstance(t.dtype, KeyDType):
        if wanted is not t.dtype:
            raise errors.DTypeError(
                errors.explain(
                    "astype",
                    f"{t.dtype} and {wanted} cannot be converted into each other",
                    {"x": t},
                    try_="random.key_data and random.wrap_key_data",
                )
            )
        return x
    if not isinstance(x, Value) or t.dtype != wanted or t.weak_type:
        x = apply(Convert.of(wanted, False), x)
    elif copy:
        x = array(x)
    return placed(x, device, None)


def _make(x: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(x, int) and not isinstance(x, bool) and dtype.kind in "iu":
        dtype = canonicalize_dtype(dtype)
        if not iinfo(dtype).min <= x <= iinfo(dtype).max:
            raise integer_overflow(str(dtype), x, dtype)
    return asarray(x, dtype)


set_array_maker(_make)

__all__ = [
    "array",
    "asarray",
    "astype",
    "copy",
]
