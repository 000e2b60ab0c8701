"""NumPy's algebraic functions of one argument: signs, absolute values, squares, reciprocals."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import compare
from ..ops import elementwise as ops
from ..structural import arith
from .arithmetic import no_bool
from .operands import inexact, number_of, real_inexact
from .util import as_value, cast


@library(1)
def negative(x: Any, /) -> Any:
    """The opposite -x, element by element.

    Integers wrap around: of unsigned ones ``2**bits - x``, and the smallest signed one is its own
    opposite.

    Args:
        x: array or number of any dtype but bool.

    Returns:
        Array of the shape and dtype of `x`; 0.0 becomes -0.0.

    Raises:
        DTypeError: x is bool.

    Derivative: -1.

    Differences from NumPy: `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.negative(np.asarray([1, 0, 255], dtype=np.uint8))
        Array([255,   0,   1], dtype=uint8)
    """
    x = as_value(x, "negative", "x")
    if type_of(x).kind == "b":
        raise no_bool("negative", x, "np.logical_not(x)")
    return apply(arith.neg, x)


@library(1)
def positive(x: Any, /) -> Any:
    """The array +x: `x` itself, with its sign.

    Args:
        x: array or number of any dtype.

    Returns:
        Array of the shape and dtype of `x`.

    Derivative: 1.

    Differences from NumPy: bools pass (there a TypeError); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.positive(np.asarray([-1, 2], dtype=np.int8))
        Array([-1,  2], dtype=int8)
    """
    return as_array_of_itself(as_value(x, "positive", "x"))


def as_array_of_itself(x: Any) -> Any:
    """A number or NumPy array as a value of the current trace."""
    t = type_of(x)
    return apply(arith.Convert.of(t.dtype, t.weak_type), x)


@library(1)
def absolute(x: Any, /) -> Any:
    """Absolute value |x|; of a complex number its modulus, the root of re**2 + im**2.

    The modulus does not overflow on the way. The smallest signed integer has no opposite, and
    stays.

    Args:
        x: array or number of any dtype.

    Returns:
        Array of the shape of `x`, in its dtype; real floats for complex `x` (complex64: float32).

    Derivative: sign(x), and 0 at 0 (JAX: 1 at 0.0); of the modulus too.

    Differences from NumPy: `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.absolute(np.asarray([3 + 4j, -2.0]))
        Array([5., 2.], dtype=float32)
        >>> np.absolute(np.asarray([-128, -127], dtype=np.int8))
        Array([-128,  127], dtype=int8)
    """
    x = as_value(x, "absolute", "x")
    return apply(ops.abs_, x) if type_of(x).kind in "ifc" else as_array_of_itself(x)


@library(1)
def fabs(x: Any, /) -> Any:
    """Absolute value |x| of real numbers, always as a float.

    Args:
        x: array or number, real; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats keep their dtype.

    Raises:
        DTypeError: x is complex. Use `absolute`.

    Derivative: sign(x), and 0 at 0 (JAX: 1 at 0.0).

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.fabs(np.asarray([-2, 0, 3]))
        Array([2., 0., 3.], dtype=float32)
    """
    return apply(ops.abs_, real_inexact(x, "fabs"))


@library(1)
def sign(x: Any, /) -> Any:
    """Sign of x: -1, 0 or 1; nan for nan; of complex numbers x / |x|, and 0 at 0.

    Args:
        x: array or number of any dtype but bool.

    Returns:
        Array of the shape and dtype of `x`.

    Raises:
        DTypeError: x is bool.

    Derivative: 0 everywhere.

    Differences from NumPy: `out` must be None and `where` True. (As there, -0.0 gives 0.0.)

    Example:
        >>> import numlift.numpy as np
        >>> np.sign(np.asarray([-3.0, 0.0, np.nan]))
        Array([-1.,  0., nan], dtype=float32)
        >>> np.sign(np.asarray([3 + 4j]))
        Array([0.6+0.8j], dtype=complex64)
    """
    x = as_value(x, "sign", "x")
    if type_of(x).kind == "b":
        raise no_bool("sign", x, "x.astype('int32')")
    signs, t = apply(ops.sign, x), type_of(x)
    if t.kind not in "fc":
        return signs
    zero = number_of(t)(0)  # of -0.0 too, whose sign XLA keeps
    return apply(arith.select, apply(compare.eq, x, zero), signs, zero)


@library(1)
def square(x: Any, /) -> Any:
    """The square x * x, element by element; complex numbers are not conjugated.

    Args:
        x: array or number of any dtype; bools count as 0 and 1, and integers wrap around.

    Returns:
        Array of the shape and dtype of `x`; int32 (x64: int64) for bools.

    Derivative: 2 x.

    Differences from NumPy: bools give int32 (there int8); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.square(np.asarray([1 + 2j, -3.0]))
        Array([-3.+4.j,  9.-0.j], dtype=complex64)
        >>> np.square(np.asarray([15, 16], dtype=np.uint8))
        Array([225,   0], dtype=uint8)
    """
    x = as_value(x, "square", "x")
    t = type_of(x)
    if t.kind == "b":
        x = cast(x, t, type_of(0).dtype)
    return apply(ops.square, x)


@library(1)
def reciprocal(x: Any, /) -> Any:
    """The reciprocal 1 / x, element by element; of +-0.0 it is +-inf.

    Args:
        x: array or number, real or complex; integers and bools become float32 (x64: float64).

    Returns:
        Array of the shape of `x`; floats and complex numbers keep their dtype.

    Derivative: -1 / x**2, which is -inf at 0.

    Differences from NumPy: integers become float32 (there they are divided as integers, so that 1 /
    2 is 0); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.reciprocal(np.asarray([2, -4, 0]))
        Array([ 0.5 , -0.25,   inf], dtype=float32)
    """
    return apply(ops.reciprocal, inexact(x, "reciprocal"))


def no_out(function: str, out: Any) -> None:
    """Raise if an `out` argument was given: arrays cannot be written to."""
    if out is not None:
        raise errors.ArgumentError(
            errors.explain(
                function, "out must be None: arrays are immutable", try_="use the returned array"
            )
        )


abs = absolute

__all__ = [
    "abs",
    "absolute",
    "fabs",
    "negative",
    "positive",
    "reciprocal",
    "sign",
    "square",
]
