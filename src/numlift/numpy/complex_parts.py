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
    """Real part; real arrays stay as they are.

    Example:
        >>> import numlift.numpy as np
        >>> np.real(np.asarray([1 + 2j]))
        Array([1.], dtype=float32)
    """
    x = as_value(val, "real", "val")
    return apply(arith.real, x) if type_of(x).kind == "c" else as_array_of_itself(x)


@library(1)
def imag(val: Any) -> Any:
    """Imaginary part; zeros of the same dtype for real arrays.

    Example:
        >>> import numlift.numpy as np
        >>> np.imag(np.asarray([1 + 2j]))
        Array([2.], dtype=float32)
    """
    x = as_value(val, "imag", "val")
    t = type_of(x)
    return apply(arith.imag, x) if t.kind == "c" else full(t.update(weak_type=False))


@library(1)
def conjugate(x: Any, /) -> Any:
    """Complex conjugate; real arrays stay as they are.

    Example:
        >>> import numlift.numpy as np
        >>> np.conjugate(np.asarray([1 + 2j]))
        Array([1.-2.j], dtype=complex64)
    """
    x = as_value(x, "conjugate", "x")
    return apply(arith.conj, x) if type_of(x).kind == "c" else as_array_of_itself(x)


@library(1)
def angle(z: Any, deg: bool = False) -> Any:
    """Angle of a complex number in (-pi, pi], in degrees if `deg`. Derivative 0 at 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.angle(np.asarray([1j, -1]), deg=True)
        Array([ 90., 180.], dtype=float32)
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
    """Whether the imaginary part is not 0, element by element.

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
    """Whether the imaginary part is 0, element by element.

    Example:
        >>> import numlift.numpy as np
        >>> np.isreal(np.asarray([1 + 2j, 3]))
        Array([False,  True], dtype=bool)
    """
    return apply(binary.not_, iscomplex(x))


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype of x is complex, whatever its values.

    Example:
        >>> import numlift.numpy as np
        >>> np.iscomplexobj(np.asarray([1 + 0j])), np.iscomplexobj(1.0)
        (True, False)
    """
    return type_of(as_value(x, "iscomplexobj", "x")).kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether the dtype of x is not complex.

    Example:
        >>> import numlift.numpy as np
        >>> np.isrealobj(np.asarray([1 + 0j])), np.isrealobj(1.0)
        (False, True)
    """
    return not iscomplexobj(x)


def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real part if all imaginary parts are near 0, else `a`. Needs known values.

    Args:
        a: array.
        tol: how near: in machine epsilons if greater than 1, else an absolute bound.

    Raises:
        TracerBoolConversionError: `a` is traced and its value is not known.

    Example:
        >>> import numlift.numpy as np
        >>> np.real_if_close(np.asarray([1 + 1e-9j]))
        Array([1.], dtype=float32)
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
