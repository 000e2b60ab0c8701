"""Complex numbers: their parts, conjugates and angles, and which arrays are complex."""

from __future__ import annotations

import math
from typing import Any

from ..api.library import library
from ..core.dtypes import finfo
from ..core.tracing import apply, type_of
from ..ops import compare
from ..ops import elementwise as ops
from ..ops import elementwise_binary as binary
from ..ops.reductions import ReduceAnd
from ..structural import arith
from ..structural.shape import full
from .elementwise import as_array_of_itself
from .floats import constant
from .operands import inexact, number_of
from .util import as_value


@library(1)
def real(val: Any) -> Any:
    """Real part of numbers.

    Args:
        val: array or number of any dtype.

    Returns:
        Array of the shape of `val`: float32 of complex64, float64 of complex128; others stay as
        they are. Linear, with derivative 1.

    Example:
        >>> import numlift.numpy as np
        >>> np.real(np.asarray([1 + 2j, 3]))
        Array([1., 3.], dtype=float32)
    """
    x = as_value(val, "real", "val")
    return apply(arith.real, x) if type_of(x).kind == "c" else as_array_of_itself(x)


@library(1)
def imag(val: Any) -> Any:
    """Imaginary part of numbers.

    Args:
        val: array or number of any dtype.

    Returns:
        Array of the shape of `val`: float32 of complex64, float64 of complex128; of real arrays
        zeros of their dtype. Linear.

    Example:
        >>> import numlift.numpy as np
        >>> np.imag(np.asarray([1 + 2j, 3]))
        Array([2., 0.], dtype=float32)
    """
    x = as_value(val, "imag", "val")
    t = type_of(x)
    return apply(arith.imag, x) if t.kind == "c" else full(t.update(weak_type=False))


@library(1)
def conjugate(x: Any, /) -> Any:
    """Complex conjugate: ``real(x) - 1j * imag(x)``.

    Args:
        x: array or number of any dtype.

    Returns:
        Array of the shape and dtype of `x`; real arrays stay as they are. Its derivative is a
        conjugate too.

    Differences from NumPy: bool stays bool, not int8.

    Example:
        >>> import numlift.numpy as np
        >>> np.conjugate(np.asarray([1 + 2j]))
        Array([1.-2.j], dtype=complex64)
    """
    x = as_value(x, "conjugate", "x")
    return apply(arith.conj, x) if type_of(x).kind == "c" else as_array_of_itself(x)


@library(1)
def angle(z: Any, deg: bool = False) -> Any:
    """Angle of complex numbers, ``arctan2(imag(z), real(z))``, in (-pi, pi].

    Args:
        z: array or number; real ones have the angle 0, or pi if negative.
        deg: give degrees instead of radians.

    Returns:
        Array of real numbers of the shape of `z`: the default float for integers. Derivative at 0:
        0.

    Differences from JAX: the derivative at 0 is 0, not nan.

    Example:
        >>> import numlift.numpy as np
        >>> np.angle(np.asarray([1j, -1, 1 - 1j]), deg=True)
        Array([ 90., 180., -45.], dtype=float32)
    """
    z = inexact(z, "angle")
    if type_of(z).kind == "c":
        re, im = apply(arith.real, z), apply(arith.imag, z)
    else:
        re, im = z, full(type_of(z))
    found = apply(binary.atan2, im, re)
    if not deg:
        return found
    return apply(arith.mul, found, number_of(type_of(found))(180 / math.pi))


@library(1)
def iscomplex(x: Any) -> Any:
    """Whether the imaginary part is not 0, element by element; `iscomplexobj` asks for the dtype.

    Args:
        x: array or number of any dtype.

    Returns:
        Bool array of the shape of `x`; False for real dtypes. All derivatives are 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.iscomplex(np.asarray([1 + 2j, 3]))
        Array([ True, False], dtype=bool)
    """
    x = as_value(x, "iscomplex", "x")
    t = type_of(x)
    if t.kind != "c":
        return constant(t, False)
    im = apply(arith.imag, x)
    return apply(compare.ne, im, number_of(type_of(im))(0))


@library(1)
def isreal(x: Any) -> Any:
    """Whether the imaginary part is 0, element by element; `isrealobj` asks for the dtype.

    Args:
        x: array or number of any dtype.

    Returns:
        Bool array of the shape of `x`; True for real dtypes. All derivatives are 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.isreal(np.asarray([1 + 2j, 3]))
        Array([False,  True], dtype=bool)
    """
    return apply(binary.not_, iscomplex(x))


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex, whatever the values are; known of traced values too.

    Args:
        x: array, number, or nested lists of these.

    Returns:
        A bool of Python.

    Example:
        >>> import numlift.numpy as np
        >>> np.iscomplexobj(np.asarray([1 + 0j])), np.iscomplexobj(1.0)
        (True, False)
    """
    return type_of(as_value(x, "iscomplexobj", "x")).kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex, whatever the values are; known of traced values too.

    Args:
        x: array, number, or nested lists of these.

    Returns:
        A bool of Python.

    Example:
        >>> import numlift.numpy as np
        >>> np.isrealobj(np.asarray([1 + 0j])), np.isrealobj(1.0)
        (False, True)
    """
    return not iscomplexobj(x)


def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real parts if all imaginary parts are near 0, else `a` as it is.

    The dtype of the result depends on values, so these must be known.

    Args:
        a: array or number.
        tol: how near: below ``tol`` machine epsilons if greater than 1, else below ``tol`` itself.

    Returns:
        Array of the shape of `a`: real, or complex as before.

    Raises:
        TracerBoolConversionError: `a` is complex and traced, so that its values are not known.

    Example:
        >>> import numlift.numpy as np
        >>> np.real_if_close(np.asarray([1 + 1e-9j]))
        Array([1.], dtype=float32)
        >>> np.real_if_close(np.asarray([1 + 0.5j]))
        Array([1.+0.5j], dtype=complex64)
    """
    x = as_value(a, "real_if_close", "a")
    if type_of(x).kind != "c":
        return as_array_of_itself(x)
    im = imag(x)
    bound = tol * float(finfo(type_of(im).dtype).eps) if tol > 1 else tol
    near = apply(compare.lt, apply(ops.abs_, im), number_of(type_of(im))(bound))
    every = ReduceAnd.of(tuple(range(type_of(near).ndim)))
    return real(x) if apply(every, near) else as_array_of_itself(x)


conj = conjugate

__all__ = [
    "angle",
    "conj",
    "conjugate",
    "imag",
    "iscomplex",
    "iscomplexobj",
    "isreal",
    "isrealobj",
    "real",
    "real_if_close",
]
