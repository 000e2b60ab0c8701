"""NumPy's arithmetic on two arrays: sums, products, quotients, remainders."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import compare, elementwise
from ..ops import elementwise_binary as binary
from ..ops.elementwise_misc import stop_gradient
from ..structural import arith
from .operands import (
    inexact_pair,
    not_for_complex,
    number_of,
    pair,
)
from .util import as_value, broadcast_operands, cast, promote


@library(2)
def add(x1: Any, x2: Any, /) -> Any:
    """Sum x1 + x2, element by element; of bools it is `logical_or`.

    Args:
        x1: array or number of any dtype; integers wrap around.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        IntegerOverflowError: a Python integer does not fit into the dtype of the array beside it.

    Derivative: 1 in both.

    Differences from NumPy: int32 and float32 meet in float32 (there float64), as in JAX; `out` must
    be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.add(np.asarray([[0], [10]]), np.asarray([1, 2, 3]))
        Array([[ 1,  2,  3],
               [11, 12, 13]], dtype=int32)
        >>> np.add(np.asarray([250], dtype=np.uint8), 10)
        Array([4], dtype=uint8)
    """
    x1, x2 = pair(x1, x2, "add")
    return apply(arith.add, x1, x2)


@library(2)
def subtract(x1: Any, x2: Any, /) -> Any:
    """Difference x1 - x2, element by element; not defined for bools (use `logical_xor`).

    Args:
        x1: array or number of any dtype but bool; integers wrap around.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        DTypeError: both are bools.
        ShapeError: the shapes do not broadcast.
        IntegerOverflowError: a Python integer does not fit into the dtype of the array beside it.

    Derivative: 1 in x1, -1 in x2.

    Differences from NumPy: int32 and float32 meet in float32 (there float64), as in JAX; `out` must
    be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.subtract(np.asarray([3, 2]), 0.5)
        Array([2.5, 1.5], dtype=float32, weak_type=True)
        >>> np.subtract(np.asarray([3], dtype=np.uint8), np.asarray([5], dtype=np.uint8))
        Array([254], dtype=uint8)
    """
    x1, x2 = pair(x1, x2, "subtract")
    if type_of(x1).kind == "b":
        raise no_bool("subtract", x1, "np.logical_xor(x1, x2)")
    return apply(arith.sub, x1, x2)


def no_bool(function: str, x: Any, advice: str) -> errors.DTypeError:
    """The error of a function that takes no bools."""
    return errors.DTypeError(
        errors.explain(function, "is not defined for bools", {"x": type_of(x)}, try_=advice)
    )


@library(2)
def multiply(x1: Any, x2: Any, /) -> Any:
    """Product x1 * x2, element by element; of bools it is `logical_and`.

    For products of matrices use `matmul`.

    Args:
        x1: array or number of any dtype; integers wrap around.
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        IntegerOverflowError: a Python integer does not fit into the dtype of the array beside it.

    Derivative: x2 in x1, and x1 in x2.

    Differences from NumPy: int32 and float32 meet in float32 (there float64), as in JAX; `out` must
    be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> import numlift as nl
        >>> np.multiply(np.asarray([[1], [10]]), np.asarray([1, 2, 3]))
        Array([[ 1,  2,  3],
               [10, 20, 30]], dtype=int32)
        >>> [float(d) for d in nl.grad(np.multiply, argnums=(0, 1))(3.0, 5.0)]
        [5.0, 3.0]
    """
    x1, x2 = pair(x1, x2, "multiply")
    return apply(arith.mul, x1, x2)


@library(2)
def divide(x1: Any, x2: Any, /) -> Any:
    """Quotient x1 / x2, element by element, always as a float or complex number.

    Division by zero gives inf, -inf or (0 / 0) nan, without a warning.

    Args:
        x1: array or number, real or complex; integers and bools become float32 (x64: float64).
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the shapes do not broadcast.

    Derivative: 1 / x2 in x1, and -x1 / x2**2 in x2; inf or nan where x2 is 0.

    Differences from NumPy: integers of every width become float32 (there int8 becomes float16,
    int32 float64); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.divide(np.asarray([1, -2, 0]), np.asarray([2, 0, 0]))
        Array([ 0.5, -inf,  nan], dtype=float32)
    """
    x1, x2 = inexact_pair(x1, x2, "divide")
    return apply(binary.div, x1, x2)


@library(2)
def floor_divide(x1: Any, x2: Any, /) -> Any:
    """Quotient rounded down to a whole number, floor(x1 / x2), in the dtype of the operands.

    Floats divided by 0 give inf, -inf or nan.

    Args:
        x1: array or number, real; bools count as int32 (x64: int64).
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        DTypeError: an operand is complex.
        ShapeError: the shapes do not broadcast.

    Derivative: 0 in both.

    Differences from NumPy: integers divided by 0 are -2, and 0 // 0 is -1; unsigned ones have all
    bits set (there 0 and a warning); bools give int32 (there int8); `out` must be None and `where`
    True.

    Example:
        >>> import numlift.numpy as np
        >>> np.floor_divide(np.asarray([7, -7]), 2)
        Array([ 3, -4], dtype=int32)
        >>> np.floor_divide(np.asarray([7.5, -7.5, 1.0]), np.asarray([2.0, 2.0, 0.0]))
        Array([ 3., -4., inf], dtype=float32)
    """
    return _floor_divide(*numbers(x1, x2, "floor_divide"))


def _floor_divide(x: Any, y: Any) -> Any:
    t = type_of(x)
    if t.kind == "u":
        return apply(binary.div, x, y)
    if t.kind == "i":
        q = apply(binary.div, x, y)
        signs_differ = apply(compare.ne, apply(elementwise.sign, x), apply(elementwise.sign, y))
        inexact_ = apply(compare.ne, apply(binary.rem, x, y), number_of(t)(0))
        down = apply(binary.and_, signs_differ, inexact_)
        return apply(arith.select, down, q, apply(arith.sub, q, number_of(t)(1)))
    if t.kind == "c":
        raise not_for_complex("floor_divide", x)
    return _float_divmod(x, y)[0]


def _float_divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """Quotient and remainder as Python has them: r has the sign of y, q is floor((x - r) / y)."""
    number = number_of(type_of(x))
    zero, one = number(0), number(1)
    r = apply(binary.rem, x, y)
    q = apply(binary.div, apply(arith.sub, x, r), y)
    other_sign = apply(compare.ne, apply(elementwise.sign, y), apply(elementwise.sign, r))
    adjust = apply(binary.and_, other_sign, apply(compare.ne, r, zero))
    zero_or_r = _zeros_as_divisor(r, apply(compare.lt, y, zero))
    r = apply(arith.select, adjust, zero_or_r, apply(arith.add, r, y))
    q = apply(arith.select, adjust, q, apply(arith.sub, q, one))
    q = apply(elementwise.round_, q)
    quotient = apply(stop_gradient, apply(binary.div, x, y))
    q = apply(arith.select, apply(compare.eq, q, zero), q, apply(arith.mul, quotient, zero))
    # x / 0 is the quotient then: infinite with the right sign, or nan
    return apply(arith.select, apply(compare.eq, y, zero), q, quotient), r


def numbers(x1: Any, x2: Any, function: str) -> Any:
    """`pair`, with bools as the default integer."""
    x1, x2 = promote(as_value(x1, function, "x1"), as_value(x2, function, "x2"))
    t = type_of(x1)
    if t.kind == "b":
        dtype = type_of(0).dtype
        x1, x2 = cast(x1, t, dtype), cast(x2, type_of(x2), dtype)
    return broadcast_operands(function, x1, x2)


@library(2)
def remainder(x1: Any, x2: Any, /) -> Any:
    """Remainder x1 - x2 * floor(x1 / x2), with the sign of x2: Python's ``%``.

    Integers modulo 0 are 0, floats are nan. A remainder 0.0 has the sign of x2, too.

    Args:
        x1: array or number, real; bools count as int32 (x64: int64).
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        DTypeError: an operand is complex.
        ShapeError: the shapes do not broadcast.

    Derivative: 1 in x1, -floor(x1 / x2) in x2, also at the jumps; nan in x2 where x2 is 0.

    Differences from NumPy: bools give int32 (there int8); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.remainder(np.asarray([7, -7, 5]), np.asarray([3, 3, 0]))
        Array([1, 2, 0], dtype=int32)
        >>> np.remainder(np.asarray([7.5, -7.5]), 2.0)
        Array([1.5, 0.5], dtype=float32)
    """
    x, y = numbers(x1, x2, "remainder")
    t = type_of(x)
    if t.kind == "c":
        raise not_for_complex("remainder", x)
    r = _truncated_remainder(x, y)
    if t.kind == "u":
        return r
    zero = number_of(t)(0)
    not_zero, negative = apply(compare.ne, r, zero), apply(compare.lt, y, zero)
    differ = apply(compare.ne, apply(compare.lt, r, zero), negative)
    adjust = apply(binary.and_, differ, not_zero)
    moved = apply(arith.add, r, y)
    if t.kind == "f":
        r = _zeros_as_divisor(r, negative)
    return apply(arith.select, adjust, r, moved)


def _zeros_as_divisor(r: Any, negative: Any) -> Any:
    """`r` where its zeros have the sign of the divisor; with the derivative that it has."""
    number = number_of(type_of(r))
    zero = apply(arith.select, negative, number(0), number(-0.0))
    nothing = apply(arith.sub, apply(stop_gradient, r), r)  # but its derivative
    return apply(arith.select, apply(compare.eq, r, number(0)), r, apply(arith.sub, zero, nothing))


@library(2)
def fmod(x1: Any, x2: Any, /) -> Any:
    """Remainder x1 - x2 * trunc(x1 / x2), with the sign of x1: C's ``%``.

    Integers modulo 0 are 0, floats are nan.

    Args:
        x1: array or number, real; bools count as int32 (x64: int64).
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        DTypeError: an operand is complex.
        ShapeError: the shapes do not broadcast.

    Derivative: 1 in x1, -trunc(x1 / x2) in x2, also at the jumps; nan in x2 where x2 is 0.

    Differences from NumPy: bools give int32 (there int8); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.fmod(np.asarray([7, -7, 5]), np.asarray([3, 3, 0]))
        Array([ 1, -1,  0], dtype=int32)
        >>> np.fmod(np.asarray([7.5, -7.5]), 2.0)
        Array([ 1.5, -1.5], dtype=float32)
    """
    x, y = numbers(x1, x2, "fmod")
    if type_of(x).kind == "c":
        raise not_for_complex("fmod", x)
    return _truncated_remainder(x, y)


def _truncated_remainder(x: Any, y: Any) -> Any:
    """Remainder with the sign of x; of integers by 0 it is 0, as NumPy has it."""
    t = type_of(x)
    if t.kind in "iu":
        number = number_of(t)
        # the hardware leaves x, so that the divisor must not be 0
        y = apply(arith.select, apply(compare.eq, y, number(0)), y, number(1))
    return apply(binary.rem, x, y)


@library(2)
def divmod(x1: Any, x2: Any, /) -> tuple[Any, Any]:
    """Quotient rounded down and remainder together: ``(floor_divide(x1, x2), remainder(x1, x2))``.

    Args:
        x1: array or number, real; bools count as int32 (x64: int64).
        x2: array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Two arrays of the broadcast shape, in the promoted dtype, with quotient * x2 + remainder =
        x1.

    Raises:
        DTypeError: an operand is complex.
        ShapeError: the shapes do not broadcast.

    Derivative: 0 of the quotient; 1 and -quotient of the remainder.

    Differences from NumPy: those of `floor_divide`.

    Example:
        >>> import numlift.numpy as np
        >>> np.divmod(np.asarray([7, -7]), 3)
        (Array([ 2, -3], dtype=int32), Array([1, 2], dtype=int32))
        >>> quotient, rest = np.divmod(np.asarray([3.5, -3.5]), 1.0)
        >>> print(quotient, rest)
        [ 3. -4.] [0.5 0.5]
    """
    x, y = numbers(x1, x2, "divmod")
    if type_of(x).kind == "f":
        return _float_divmod(x, y)
    return _floor_divide(x, y), remainder(x, y)


true_divide, mod = divide, remainder

__all__ = [
    "add",
    "divide",
    "divmod",
    "floor_divide",
    "fmod",
    "mod",
    "multiply",
    "remainder",
    "subtract",
    "true_divide",
]
