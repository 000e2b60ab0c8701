"""How values are stored and traced: dtypes, bits, complex parts, constants, barriers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import errors, tree
from ..core.dtypes import KeyDType, dtype_of, user_dtype
from ..core.tracing import Value, apply, type_of
from ..core.types import array_type
from ..ops.elementwise_misc import (
    BitcastConvertType,
    ReducePrecision,
)
from ..ops.elementwise_misc import (
    optimization_barrier as _barrier,
)
from ..ops.elementwise_misc import (
    stop_gradient as _stop,
)
from ..ops.random import RandomWrap
from ..runtime.transfer import put
from ..structural import arith
from ..structural.arith import Convert
from ..structural.shape import Broadcast
from .arguments import static_int, static_ints
from .operands import SCALARS

_real, _imag, _conj, _complex = arith.real, arith.imag, arith.conj, arith.complex_
_convert, _bitcast, _reduce_precision = Convert.of, BitcastConvertType.of, ReducePrecision.of


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """Array with another dtype.

    Floats become integers by truncation towards 0 (out of range: the nearest bound; NaN: 0),
    integers wrap around, complex numbers lose their imaginary part, anything not 0 is True.

    Args:
        operand: array or Python number.
        new_dtype: dtype; 64-bit ones become 32-bit unless x64 is on.

    Returns:
        Array of the shape of `operand`, never weakly typed.

    Raises:
        DTypeError: `operand` holds typed PRNG keys, or `new_dtype` is None.

    Derivative: 1 between floating and complex dtypes, else 0.

    Example:
        >>> from numlift.lax import convert_element_type
        >>> int(convert_element_type(-1.5, "int32"))
        -1
    """
    dtype = user_dtype(new_dtype, "convert_element_type")
    if isinstance(operand, Value):
        t = operand.type
        if t.dtype == dtype and not t.weak_type:
            return operand
    elif type(operand) is int:
        operand = _wrapped(operand, dtype)
        t = type_of(operand)
    else:
        t = type_of(operand)
    if t.kind == "c" and array_type((), dtype).kind in "iuf":
        warnings.warn(
            "Casting complex values to real discards the imaginary part",
            np.exceptions.ComplexWarning,
            stacklevel=errors.user_depth(),
        )
    return apply(_convert(dtype), operand)


def _wrapped(x: int, dtype: Any) -> Any:
    """A Python integer of any size as a NumPy scalar; integer dtypes wrap around."""
    if array_type((), dtype).kind in "iu":
        mask = (1 << 64) - 1
        return np.uint64(x & mask).astype(dtype)
    return np.float64(x).astype(dtype)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The bits of an array read as another dtype.

    Args:
        operand: array of integers or floats (bool and complex only to their own dtype).
        new_dtype: dtype of the result.

    Returns:
        Array of the shape of `operand`. A dtype with fewer bits adds a last axis for the parts of
        an element; one with more bits takes the last axis away, which must have that size.

    Raises:
        DTypeError: bool or complex values are involved.
        ShapeError: the last axis has not the size of one new element.
        ValueArgumentError: `operand` holds typed PRNG keys.

    Derivative: 0.

    Example:
        >>> from numlift.lax import bitcast_convert_type
        >>> hex(int(bitcast_convert_type(1.0, "int32")))
        '0x3f800000'
    """
    return apply(_bitcast(user_dtype(new_dtype, "bitcast_convert_type")), operand)


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Array rounded to a float format with fewer bits, kept in its dtype.

    Args:
        operand: floating array.
        exponent_bits: bits of the exponent, at least 1.
        mantissa_bits: bits of the mantissa, at least 0.

    Returns:
        Array of the type of `operand`.

    Raises:
        DTypeError: `operand` is not floating.
        ValueArgumentError: a number of bits is too small.

    Derivative: 1. Differences from JAX: tangents are not rounded.

    Example:
        >>> from numlift.lax import reduce_precision
        >>> float(reduce_precision(1.1, 5, 3))
        1.125
    """
    op = _reduce_precision(
        static_int("reduce_precision", "exponent_bits", exponent_bits),
        static_int("reduce_precision", "mantissa_bits", mantissa_bits),
    )
    return apply(op, operand)


def real(x: Any) -> Any:
    """Real part of a complex array.

    Args:
        x: complex array.

    Returns:
        Real array of the shape of x.

    Raises:
        DTypeError: x is not complex.

    Derivative: 1 in the real part, 0 in the imaginary part.

    Example:
        >>> from numlift.lax import real
        >>> float(real(1 + 2j))
        1.0
    """
    return apply(_real, x)


def imag(x: Any) -> Any:
    """Imaginary part of a complex array.

    Args:
        x: complex array.

    Returns:
        Real array of the shape of x.

    Raises:
        DTypeError: x is not complex.

    Derivative: 0 in the real part, 1 in the imaginary part.

    Example:
        >>> from numlift.lax import imag
        >>> float(imag(1 + 2j))
        2.0
    """
    return apply(_imag, x)


def conj(x: Any) -> Any:
    """Complex conjugate.

    Args:
        x: complex, float32 or float64 array.

    Returns:
        Complex array of the shape of x, also for real x.

    Raises:
        DTypeError: x is of another kind.

    Derivative: conj(dx); it is linear over the reals only.

    Example:
        >>> from numlift.lax import conj, imag
        >>> bool(imag(conj(1 + 2j)) == -2)
        True
    """
    t = type_of(x)
    if t.kind == "f":
        return apply(_complex, x, 0.0 if t.weak_type else t.dtype.type(0))
    return apply(_conj, x)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, sharding: Any = None) -> Any:
    """Array with one value everywhere.

    Args:
        shape: sizes of the axes, or one integer.
        fill_value: a number or array of rank 0.
        dtype: dtype of the result; None takes that of `fill_value`.
        sharding: `Sharding` or device of the result, or None.

    Returns:
        Array of that shape; weakly typed if `fill_value` is a Python number and dtype is None.

    Raises:
        ShapeError: `fill_value` is not of rank 0, or a size is negative.
        DTypeError: a complex number for a real dtype.

    Derivative: the sum over the result in `fill_value`.

    Example:
        >>> from numlift.lax import full
        >>> full((2, 3), 1.5).shape
        (2, 3)
    """
    sizes = static_ints("full", "shape", shape)
    t = type_of(fill_value)
    if t.ndim:
        raise errors.ShapeError(
            errors.explain(
                "full",
                "fill_value must be of rank 0",
                {"fill_value": t},
                try_="lax.broadcast_in_dim, or nl.numpy.full, which broadcasts",
            )
        )
    if any(n < 0 for n in sizes):
        raise errors.ShapeError(
            errors.explain("full", "sizes must not be negative", {"shape": sizes})
        )
    value = fill_value if dtype is None else _filled("full", fill_value, dtype)
    out = apply(Broadcast.of(sizes, (), None), value)
    return out if sharding is None else put(out, sharding)


def _filled(function: str, value: Any, dtype: Any) -> Any:
    """A rank-0 value in a dtype."""
    dtype = user_dtype(dtype, function)
    t = type_of(value)
    if isinstance(dtype, KeyDType) and t.dtype is not dtype:
        words = apply(Broadcast.of(dtype.key_shape, (), None), _filled(function, value, np.uint32))
        return apply(RandomWrap.of(dtype.impl), words)
    if t.kind == "c" and array_type((), dtype).kind not in "cb":
        raise errors.DTypeError(
            errors.explain(
                function,
                f"a complex number has no value of dtype {dtype}",
                {"fill_value": t, "dtype": dtype},
                try_="pass its real part",
            )
        )
    if type(value) is int:
        return _wrapped(value, dtype)
    return value if t.dtype == dtype and not t.weak_type else apply(_convert(dtype), value)


def full_like(
    x: Any, fill_value: Any, dtype: Any = None, shape: Any = None, sharding: Any = None
) -> Any:
    """Array like another one, with one value everywhere.

    Args:
        x: array, or anything with shape and dtype.
        fill_value: a number or array of rank 0 (for PRNG keys: what their words are).
        dtype: dtype of the result; None takes that of x.
        shape: shape of the result; None takes that of x.
        sharding: `Sharding` or device of the result, or None.

    Returns:
        The array.

    Raises:
        ShapeError: `fill_value` is not of rank 0.
        DTypeError: a complex number for a real dtype.

    Example:
        >>> from numlift.lax import full, full_like
        >>> full_like(full((3,), 1.0), 2).dtype
        dtype('float32')
    """
    duck = not isinstance(x, (Value, np.ndarray, np.generic)) and hasattr(x, "shape")
    t = array_type(tuple(x.shape), user_dtype(x.dtype, "full_like")) if duck else type_of(x)
    sizes = t.shape if shape is None else static_ints("full_like", "shape", shape)
    value = _filled("full_like", fill_value, t.dtype if dtype is None else dtype)
    if type_of(fill_value).ndim:
        raise errors.ShapeError(
            errors.explain(
                "full_like", "fill_value must be of rank 0", {"fill_value": type_of(fill_value)}
            )
        )
    if dtype is None and t.weak_type and type(fill_value) in SCALARS:
        value = apply(_convert(t.dtype, True), value)
    inherited = t.sharding if shape is None and sharding is None else None
    out = apply(Broadcast.of(sizes, (), inherited), value)
    return out if sharding is None else put(out, sharding)


def empty(shape: Any, dtype: Any, *, out_sharding: Any = None) -> Any:
    """Array whose contents do not matter: filled with zeros.

    Args:
        shape: sizes of the axes, or one integer.
        dtype: dtype of the result; None is the default float.
        out_sharding: `Sharding` or device of the result, or None.

    Returns:
        The array.

    Raises:
        ShapeError: a size is negative.
        DTypeError: no dtype of arrays.

    Example:
        >>> from numlift.lax import empty
        >>> empty((2,), "int32").shape
        (2,)
    """
    return full(shape, 0, float if dtype is None else dtype, sharding=out_sharding)


def stop_gradient(x: Any) -> Any:
    """The same values with derivative zero, in every mode of differentiation.

    Args:
        x: tree of arrays and numbers.

    Returns:
        The same tree; integers, bools and PRNG keys, which have no derivative, are passed through.

    Raises:
        ArgumentError: a leaf is not an array.

    Example:
        >>> from numlift.lax import stop_gradient
        >>> float(stop_gradient(2.0))
        2.0
    """
    return tree.map(_stopped, x)


def _stopped(x: Any) -> Any:
    return apply(_stop, x) if type_of(x).inexact else x


def optimization_barrier(operand: Any, /) -> Any:
    """The same values, which the compiler computes all before any use of the result.

    Args:
        operand: tree of arrays.

    Returns:
        The same tree.

    Raises:
        ArgumentError: a leaf is not an array.

    Derivative: 1; tangents and cotangents pass through barriers of their own.

    Example:
        >>> from numlift.lax import optimization_barrier
        >>> [float(x) for x in optimization_barrier((1.0, 2.0))]
        [1.0, 2.0]
    """
    leaves, structure = tree.flatten(operand)
    return tree.unflatten(structure, apply(_barrier, *leaves)) if leaves else operand


def dtype(x: Any) -> Any:
    """Dtype of an array or number, or of a dtype-like thing, as arrays have it.

    Args:
        x: array, NumPy or Python number, or dtype.

    Returns:
        A `numpy.dtype` (or a PRNG key dtype); 64-bit ones only if x64 is on.

    Raises:
        DTypeError: x has no dtype of arrays.

    Example:
        >>> from numlift.lax import dtype
        >>> dtype(1.5)
        dtype('float32')
    """
    return dtype_of(x)
