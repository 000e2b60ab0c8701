"""Random bits, and the uniform and normal distributions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .. import config, lax
from ..api.library import library
from ..core.tracing import apply
from ..core.types import dtype_kind
from ..lax.dot import as_sharding
from ..numpy.util import as_value
from ..ops.random import RandomBits
from .common import (
    as_shape,
    float_dtype,
    int_dtype,
    joint_shape,
    number,
    parameter,
    spread,
)
from .keys import check_key, split


def draw_bits(key: Any, shape: tuple[int, ...], width: int, sharding: Any = None) -> Any:
    """Unsigned integers of a width from a checked key."""
    if sharding is not None:
        sharding = as_sharding(sharding, (), "random.bits")
    partitionable = config.current().threefry_partitionable
    return apply(RandomBits.of(shape, width, partitionable, sharding), key)


@library(1)
def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Uniformly random unsigned integers over the whole range of the dtype.

    Args:
        key: a random key.
        shape: shape of the result.
        dtype: uint8, uint16, uint32 or uint64; default uint32 (uint64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`; every bit is 0 or 1 with equal probability.

    Raises:
        DTypeError: not an unsigned dtype.

    Example:
        >>> from numlift.random import bits
        >>> from numlift import random
        >>> bits(random.key(0), (2,)).dtype
        dtype('uint32')
    """
    typed, _ = check_key("random.bits", key)
    if dtype is None:
        dtype = np.uint64 if config.current().enable_x64 else np.uint32
    dtype = int_dtype("random.bits", dtype, "u")
    width = ml_dtypes.iinfo(dtype).bits
    found = draw_bits(typed, as_shape("random.bits", shape), max(width, 8), out_sharding)
    return found if width >= 8 else lax.convert_element_type(found, dtype)


def unit(key: Any, shape: tuple[int, ...], dtype: Any, sharding: Any = None) -> Any:
    """Uniform numbers in [0, 1): random bits become the mantissa of numbers in [1, 2)."""
    info = ml_dtypes.finfo(dtype)
    width, mantissa = info.bits, info.nmant
    drawn = 8 if mantissa < 8 else width
    word = draw_bits(key, shape, drawn, sharding)
    word = lax.shift_right_logical(word, np.dtype(f"uint{drawn}").type(drawn - mantissa))
    storage = np.dtype(f"uint{width}")
    if drawn != width:
        word = lax.convert_element_type(word, storage)
    one = np.ones((), dtype).view(storage)[()]
    number_in_1_2 = lax.bitcast_convert_type(lax.bitwise_or(word, one), dtype)
    return lax.sub(number_in_1_2, dtype.type(1))


def between(key: Any, shape: tuple[int, ...], dtype: Any, low: Any, high: Any,
            sharding: Any = None) -> Any:  # fmt: skip
    """Uniform numbers in [low, high), which are scalars or arrays of the result's shape."""
    u = unit(key, shape, dtype, sharding)
    # Rounding may give low - eps or high: the lower end is held here, the upper one is allowed.
    return lax.max(low, lax.add(lax.mul(u, lax.sub(high, low)), low))


def uniform(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    *,
    out_sharding: Any = None,
) -> Any:
    """Uniform numbers in [minval, maxval).

    ``minval + (maxval - minval) * u`` where u is a multiple of the dtype's epsilon in [0, 1).

    Args:
        key: a random key.
        shape: shape of the result.
        dtype: floating dtype; default float32 (float64 with ``enable_x64``).
        minval, maxval: ends, numbers or arrays that broadcast to `shape`.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`; the mean is (minval + maxval) / 2.

    Raises:
        DTypeError: `dtype` is not floating.
        ShapeError: an end does not broadcast to `shape`.

    Example:
        >>> from numlift.random import uniform
        >>> from numlift import random
        >>> x = uniform(random.key(0), (1000,))
        >>> bool((x >= 0).all() and (x < 1).all())
        True
    """
    function = "random.uniform"
    dtype = float_dtype(function, dtype)
    if type(minval) is float and type(maxval) is float and minval == 0.0 and maxval == 1.0:
        return _unit(key, as_shape(function, shape), dtype, out_sharding)
    low = as_value(minval, function, "minval")
    high = as_value(maxval, function, "maxval")
    shape = joint_shape(function, shape, minval=low, maxval=high)
    return _uniform(key, low, high, shape, dtype, out_sharding)


@library(1)
def _unit(key: Any, shape: tuple[int, ...], dtype: Any, sharding: Any) -> Any:
    return unit(check_key("random.uniform", key)[0], shape, dtype, sharding)


@library(3)
def _uniform(
    key: Any, low: Any, high: Any, shape: tuple[int, ...], dtype: Any, sharding: Any
) -> Any:
    typed, _ = check_key("random.uniform", key)
    low = spread(parameter("random.uniform", "minval", low, dtype), shape)
    high = spread(parameter("random.uniform", "maxval", high, dtype), shape)
    return between(typed, shape, dtype, low, high, sharding)


@library(1)
def normal(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Standard normal numbers, by inverting the distribution function.

    ``sqrt(2) * erf_inv(u)`` with u uniform in (-1, 1). Complex numbers have independent real and
    imaginary parts of variance 1/2.

    Args:
        key: a random key.
        shape: shape of the result.
        dtype: floating or complex dtype; default float32 (float64 with ``enable_x64``).
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of `shape` and `dtype`; the mean is 0, the variance 1.

    Raises:
        DTypeError: `dtype` is neither floating nor complex.

    Example:
        >>> from numlift.random import normal
        >>> from numlift import random
        >>> normal(random.key(0), (2, 3)).shape
        (2, 3)
    """
    function = "random.normal"
    typed, _ = check_key(function, key)
    dtype = float_dtype(function, dtype, "fc")
    shape = as_shape(function, shape)
    if dtype_kind(dtype) == "c":
        part = np.dtype("f4") if dtype == np.dtype("c8") else np.dtype("f8")
        first, second = pair_of_keys(typed)
        z = lax.complex(standard_normal(first, shape, part, out_sharding),
                        standard_normal(second, shape, part, out_sharding))  # fmt: skip
        return lax.div(z, dtype.type(np.sqrt(2)))
    return standard_normal(typed, shape, dtype, out_sharding)


def standard_normal(key: Any, shape: tuple[int, ...], dtype: Any, sharding: Any = None) -> Any:
    """`normal` of a real dtype from a checked key."""
    low = np.nextafter(dtype.type(-1), dtype.type(0), dtype=dtype)
    u = between(key, shape, dtype, low, number(dtype, 1), sharding)
    return lax.mul(lax.erf_inv(u), dtype.type(np.sqrt(2)))


def two_units(key: Any, shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    """Two independent `unit` arrays from one key."""
    both = unit(key, (2, *shape), dtype)
    first, second = (lax.squeeze(lax.slice_in_dim(both, i, i + 1), (0,)) for i in range(2))
    return first, second


def pair_of_keys(key: Any) -> tuple[Any, Any]:
    """Two new keys from a checked key."""
    first, second = keys_of(key, 2)
    return first, second


def keys_of(key: Any, n: int) -> list[Any]:
    """n new keys from a checked key, one by one."""
    many = split(key, n)
    return [lax.squeeze(lax.slice_in_dim(many, i, i + 1), (0,)) for i in range(n)]


__all__ = ["bits", "normal", "uniform"]
