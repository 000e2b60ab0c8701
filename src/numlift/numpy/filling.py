"""Arrays filled with one value: zeros, ones, full, and those like another array."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import KeyDType, canonicalize_dtype, is_python_scalar, user_dtype
from ..core.integers import check_integer
from ..core.tracing import EVAL, Value, apply, current, type_of
from ..core.types import array_type
from ..lax.arguments import static_ints
from ..ops.random import RandomWrap
from ..runtime.array import Array
from ..runtime.transfer import as_array
from ..structural.arith import Convert
from ..structural.shape import Broadcast
from .array_values import convert_to
from .creation import placed, unused
from .host_made import host_made
from .util import as_value, broadcast_shape, broadcast_to_shape

_HOST_LIMIT = 1 << 16
"""Eager arrays of up to so many elements are filled by NumPy: nothing has to be compiled."""


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
    """An array of zeros.

    Args:
        shape: an int or a sequence of ints, known while tracing.
        dtype: dtype of the result, by default float32 (float64 if x64 is on); a dtype of PRNG keys
            gives keys whose words are 0.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        device: device or `Sharding` to make it on.
        like: must be None.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array of shape `shape`, without a derivative.

    Raises:
        ArgumentError: `shape` does not hold integers.  ShapeError: one is negative.

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
    """An array of ones.

    Args:
        shape: an int or a sequence of ints, known while tracing.
        dtype: dtype of the result, by default float32 (float64 if x64 is on).
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        device: device or `Sharding` to make it on.
        like: must be None.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array of shape `shape`, without a derivative.

    Raises:
        ArgumentError: `shape` does not hold integers.  ShapeError: one is negative.

    Example:
        >>> import numlift.numpy as np
        >>> np.ones(3), np.ones((), bool)
        (Array([1., 1., 1.], dtype=float32), Array(True, dtype=bool))
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

    Args:
        shape: an int or a sequence of ints, known while tracing.
        dtype: dtype of the result, by default float32 (float64 if x64 is on).
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        device: device or `Sharding` to make it on.
        like: must be None.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array of shape `shape`, without a derivative.

    Raises:
        ArgumentError: `shape` does not hold integers.  ShapeError: one is negative.

    Differences from NumPy: the values are always 0.

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
    """An array filled with one value, or with an array that is repeated.

    Args:
        shape: an int or a sequence of ints, known while tracing.
        fill_value: number, or array that broadcasts to `shape`.
        dtype: dtype of the result, by default that of `fill_value`; a Python number gives a weakly
            typed array.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        device: device or `Sharding` to make it on.
        like: must be None.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array of shape `shape`; linear in `fill_value`.

    Raises:
        ShapeError: `fill_value` does not broadcast to `shape`, or a size is negative.
        ArgumentError: `shape` does not hold integers.  OverflowError: a Python integer does not fit
        into `dtype`.

    Differences from JAX: an integer that does not fit raises instead of wrapping around, as in
    NumPy.

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
        weak = dtype is None and t.weak_type and t.kind != "b"  # bools have one type
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
    """Zeros with the shape and dtype of `a`.

    Args:
        a: array, number or nested lists; of anything with a shape and a dtype (a
            `ShapeDtypeStruct`) no values are needed. Its (Explicit) sharding is kept.
        dtype: dtype instead of that of `a`.
        shape: shape instead of that of `a`.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        subok: accepted; there are no subclasses of arrays.
        device: device or `Sharding` to make it on.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array without a derivative; weakly typed if `a` is and no `dtype` is given.

    Raises:
        ArgumentError: `a` is no array, or `shape` does not hold integers.

    Example:
        >>> import numlift.numpy as np
        >>> np.zeros_like(np.asarray([[1, 2], [3, 4]]))
        Array([[0, 0],
               [0, 0]], dtype=int32)
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
    """Ones with the shape and dtype of `a`.

    Args:
        a: array, number or nested lists; of anything with a shape and a dtype (a
            `ShapeDtypeStruct`) no values are needed. Its (Explicit) sharding is kept.
        dtype: dtype instead of that of `a`.
        shape: shape instead of that of `a`.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        subok: accepted; there are no subclasses of arrays.
        device: device or `Sharding` to make it on.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array without a derivative; weakly typed if `a` is and no `dtype` is given.

    Raises:
        ArgumentError: `a` is no array, or `shape` does not hold integers.

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

    Args:
        prototype: array, number or nested lists; of anything with a shape and a dtype (a
            `ShapeDtypeStruct`) no values are needed. Its (Explicit) sharding is kept.
        dtype: dtype instead of that of `prototype`.
        shape: shape instead of that of `prototype`.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        subok: accepted; there are no subclasses of arrays.
        device: device or `Sharding` to make it on.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array without a derivative; weakly typed if `prototype` is and no `dtype` is given.

    Raises:
        ArgumentError: `prototype` is no array, or `shape` does not hold integers.

    Differences from NumPy: the values are always 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.empty_like(np.asarray([1, 2]), dtype=float)
        Array([0., 0.], dtype=float32)
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
    """`fill_value` with the shape and dtype of `a`.

    Args:
        a: array, number or nested lists; of anything with a shape and a dtype (a
            `ShapeDtypeStruct`) no values are needed. Its (Explicit) sharding is kept.
        fill_value: number, or array that broadcasts to the shape; converted to the dtype.
        dtype: dtype instead of that of `a`.
        shape: shape instead of that of `a`.
        order: accepted ("K", "A", "C", "F" or None); arrays have no memory order here.
        subok: accepted; there are no subclasses of arrays.
        device: device or `Sharding` to make it on.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array; linear in `fill_value`.

    Raises:
        ShapeError: `fill_value` does not broadcast.  OverflowError: a Python integer does not fit
        into the dtype.

    Example:
        >>> import numlift.numpy as np
        >>> np.full_like(np.asarray([1, 2]), 7.9)
        Array([7, 7], dtype=int32)
    """
    unused("full_like", order)
    return _like("full_like", a, fill_value, dtype, shape, device, out_sharding)


__all__ = [
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]
