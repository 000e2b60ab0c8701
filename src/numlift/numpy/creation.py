"""Making arrays: from values, filled with one value, copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.sharding import reshard
from ..core.dtypes import (
    KeyDType,
    canonicalize_dtype,
    iinfo,
    is_python_scalar,
    set_array_maker,
    user_dtype,
)
from ..core.integers import check_integer, integer_overflow
from ..core.tracing import EVAL, Value, apply, current, type_of
from ..core.types import array_type
from ..lax.arguments import static_ints
from ..ops.random import RandomWrap
from ..runtime.array import Array
from ..runtime.placement import default_placement
from ..runtime.transfer import as_array, device_put
from ..structural.arith import Convert
from ..structural.shape import Broadcast, reshape
from .array_values import NOT_NUMBERS, convert_to, from_value
from .host_made import host_made
from .util import as_value, broadcast_shape, broadcast_to_shape

_HOST_LIMIT = 1 << 16
"""Eager arrays of up to so many elements are filled by NumPy: nothing has to be compiled."""
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
    """An array with the value of `object`.

    Args:
        object: array, number, or nested lists of these (traced values may be among them).
        dtype: dtype of the result; by default that of the parts, promoted. Python numbers give
            int32, float32 and complex64 (64-bit if x64 is on); one number alone is weakly typed.
        copy: whether the result must not share memory with `object`.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        ndmin: least number of axes; new ones come first.
        subok: accepted; there are no subclasses of arrays.
        ndmax: greatest number of axes, as in NumPy; 0 sets no limit.
        like: must be None.
        device: device or `Sharding` to put it on.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Raises:
        ArgumentError: `object` is not made of numbers.  ValueArgumentError: None, ragged lists,
        no order, or too many axes.  OverflowError: a Python integer does not fit.

    Example:
        >>> import numlift.numpy as np
        >>> np.array([[1, 2], [3, 4]], ndmin=3).shape
        (1, 2, 2)
    """
    unused("array", order, like)
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
        ValueArgumentError: no order of NumPy.  ArgumentError: `like` was given.
    """
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
    """`a` as an array: itself if it is one and fits.

    On CPU the result shares the memory of a NumPy array of the same dtype that is aligned to 64
    bytes and in row-major order, such as the result of ``numpy.asarray(x)``: do not write to it any
    more. Other NumPy arrays are copied.

    Args:
        a: array, number, or nested lists of these.
        dtype: dtype of the result.
        order: see `array`.
        copy: True always copies; False raises if a copy would be needed.
        device, like, out_sharding: see `array`.

    Raises:
        ValueArgumentError: `copy` is False and `a` is no array of that dtype already.

    Example:
        >>> import numlift.numpy as np
        >>> np.asarray([1, 2], dtype="float32")
        Array([1., 2.], dtype=float32)
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

    Example:
        >>> import numlift.numpy as np
        >>> np.copy(np.asarray([1, 2]))
        Array([1, 2], dtype=int32)
    """
    return array(a, copy=True, order=order, subok=subok)


def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Any:
    """`x` with another dtype. Complex to real keeps the real part, float to integer truncates.

    Args:
        x: array.
        dtype: the new dtype; None is the default float.
        copy: True copies also if the dtype is the same.
        device: device or `Sharding` of the result.

    Example:
        >>> import numlift.numpy as np
        >>> np.astype(np.asarray([1.7, -1.7]), int)
        Array([ 1, -1], dtype=int32)
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


# --- filled arrays -------------------------------------------------------------------------


def shape_of(function: str, shape: Any) -> tuple[int, ...]:
    """A shape argument as a tuple of ints >= 0.

    Raises:
        ArgumentError: not integers.  ShapeError: negative.
    """
    if isinstance(shape, Value) and not shape.type.shape:
        shape = (shape,)
    if isinstance(shape, np.ndarray) and not shape.shape:
        shape = (int(shape),)
    sizes = static_ints(function, "shape", shape)
    for n in sizes:
        if n < 0:
            raise errors.ShapeError(
                errors.explain(function, "sizes must not be negative", {"shape": sizes})
            )
    return sizes


def filled(
    function: str,
    shape: Any,
    value: Any,
    dtype: Any,
    device: Any = None,
    out_sharding: Any = None,
    weak: bool = False,
) -> Any:
    """An array with one Python or NumPy number everywhere (for PRNG keys: in their words)."""
    sizes = shape_of(function, shape)
    if isinstance(dtype, KeyDType):
        words = filled(function, sizes + dtype.key_shape, value, dtype.storage)
        return placed(apply(RandomWrap.of(dtype.impl), words), device, out_sharding)
    t = array_type(sizes, dtype, weak)
    if current.get() is EVAL and t.size <= _HOST_LIMIT and t.addressable:
        x = as_array(np.full(sizes, value, t.dtype), t, explicit=True)
    elif sizes:
        scalar = value if weak else t.dtype.type(value)
        x = apply(Broadcast.of(sizes, (), None), scalar)
    else:
        x = apply(Convert.of(t.dtype, weak), value if weak else t.dtype.type(value))
    return placed(x, device, out_sharding)


def _float_dtype(dtype: Any, function: str) -> Any:
    return user_dtype(float if dtype is None else dtype, function)


@host_made
def zeros(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: None = None,
    out_sharding: Any = None,
) -> Any:
    """An array of zeros; the default dtype is float32 (float64 if x64 is on).

    A dtype of PRNG keys gives keys whose words are 0.

    Args:
        shape: an int or a sequence of ints.
        dtype: dtype of the result.
        order, like: see `array`.
        device: device or `Sharding` to make it on.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Example:
        >>> import numlift.numpy as np
        >>> np.zeros((2, 2), int)
        Array([[0, 0],
               [0, 0]], dtype=int32)
    """
    unused("zeros", order, like)
    return filled("zeros", shape, 0, _float_dtype(dtype, "zeros"), device, out_sharding)


@host_made
def ones(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: None = None,
    out_sharding: Any = None,
) -> Any:
    """An array of ones; arguments as for `zeros`.

    Example:
        >>> import numlift.numpy as np
        >>> np.ones(3)
        Array([1., 1., 1.], dtype=float32)
    """
    unused("ones", order, like)
    return filled("ones", shape, 1, _float_dtype(dtype, "ones"), device, out_sharding)


@host_made
def empty(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: None = None,
    out_sharding: Any = None,
) -> Any:
    """An array of zeros: memory without a value does not exist here.

    Example:
        >>> import numlift.numpy as np
        >>> np.empty(2)
        Array([0., 0.], dtype=float32)
    """
    unused("empty", order, like)
    return filled("empty", shape, 0, _float_dtype(dtype, "empty"), device, out_sharding)


@host_made
def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: None = None,
    out_sharding: Any = None,
) -> Any:
    """An array filled with `fill_value`, a number or an array that broadcasts to `shape`.

    Example:
        >>> import numlift.numpy as np
        >>> np.full((2, 2), np.asarray([1.0, 2.0]))
        Array([[1., 2.],
               [1., 2.]], dtype=float32)
    """
    unused("full", order, like)
    wanted = None if dtype is None else user_dtype(dtype, "full")
    return _full("full", shape, fill_value, wanted, device, out_sharding)


def _full(function: str, shape: Any, value: Any, dtype: Any, device: Any, out_sharding: Any) -> Any:
    value = as_value(value, function, "fill_value")
    t = type_of(value)
    if is_python_scalar(value) or (isinstance(value, np.generic)):
        weak = dtype is None and t.weak_type
        if isinstance(value, int) and not isinstance(value, bool):
            check_integer(function, value, dtype)
        target = t.dtype if dtype is None else dtype
        if np.iscomplexobj(value) and target.kind != "c":
            value = value.real
        return filled(function, shape, value, target, device, out_sharding, weak)
    sizes = shape_of(function, shape)
    value = convert_to(value, dtype) if dtype is not None else value
    if broadcast_shape(function, sizes, t.shape) != sizes:
        raise errors.ShapeError(
            errors.explain(function, f"fill_value must broadcast to {sizes}", {"fill_value": t})
        )
    x = broadcast_to_shape(value, sizes)
    return placed(x if isinstance(x, Value) else as_array(x), device, out_sharding)


def _like(
    function: str, a: Any, value: Any, dtype: Any, shape: Any, device: Any, out_sharding: Any
) -> Any:
    if hasattr(a, "shape") and hasattr(a, "dtype"):
        like_shape, like_dtype = a.shape, canonicalize_dtype(a.dtype, True)
        weak, sharding = bool(getattr(a, "weak_type", False)), None
        if type(a) is Array and not a.placement.single:
            device = a.sharding if device is None and shape is None else device
        elif isinstance(a, Value):
            sharding = a.type.sharding
    else:
        t = type_of(as_value(a, function, "a"))
        like_shape, like_dtype, weak, sharding = t.shape, t.dtype, t.weak_type, None
    target = like_dtype if dtype is None else user_dtype(dtype, function)
    weak = weak and dtype is None
    sizes = like_shape if shape is None else shape
    if out_sharding is None and device is None and shape is None:
        out_sharding = sharding
    if isinstance(value, (int, float)) and function != "full_like":
        number = {"b": bool, "f": float, "c": complex}.get(array_type((), target).kind, int)
        return filled(function, sizes, number(value), target, device, out_sharding, weak)
    return _full(function, sizes, value, target, device, out_sharding)


def zeros_like(
    a: Any,
    dtype: Any = None,
    shape: Any = None,
    *,
    order: str = "K",
    subok: bool = True,
    device: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Zeros with the shape and dtype of `a` (which needs nothing else: a `ShapeDtypeStruct` does).

    Args:
        a: what to take shape, dtype and (Explicit) sharding from.
        dtype, shape: override those of `a`.
        order, subok: see `array`.
        device, out_sharding: see `zeros`.

    Example:
        >>> import numlift.numpy as np
        >>> np.zeros_like(np.asarray([1, 2]))
        Array([0, 0], dtype=int32)
    """
    unused("zeros_like", order)
    return _like("zeros_like", a, 0, dtype, shape, device, out_sharding)


def ones_like(
    a: Any,
    dtype: Any = None,
    shape: Any = None,
    *,
    order: str = "K",
    subok: bool = True,
    device: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Ones with the shape and dtype of `a`; arguments as for `zeros_like`.

    Example:
        >>> import numlift.numpy as np
        >>> np.ones_like(np.asarray([1, 2]), shape=3)
        Array([1, 1, 1], dtype=int32)
    """
    unused("ones_like", order)
    return _like("ones_like", a, 1, dtype, shape, device, out_sharding)


def empty_like(
    prototype: Any,
    dtype: Any = None,
    shape: Any = None,
    *,
    order: str = "K",
    subok: bool = True,
    device: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Zeros with the shape and dtype of `prototype`: memory without a value does not exist here.

    Example:
        >>> import numlift.numpy as np
        >>> np.empty_like(np.asarray([1, 2]))
        Array([0, 0], dtype=int32)
    """
    unused("empty_like", order)
    return _like("empty_like", prototype, 0, dtype, shape, device, out_sharding)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    shape: Any = None,
    *,
    order: str = "K",
    subok: bool = True,
    device: Any = None,
    out_sharding: Any = None,
) -> Any:
    """`fill_value` with the shape and dtype of `a`; arguments as for `zeros_like`.

    Example:
        >>> import numlift.numpy as np
        >>> np.full_like(np.asarray([1, 2]), 7)
        Array([7, 7], dtype=int32)
    """
    unused("full_like", order)
    return _like("full_like", a, fill_value, dtype, shape, device, out_sharding)


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
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]
