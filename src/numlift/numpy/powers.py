"""Powers, and functions of whole numbers: power, float_power, gcd, lcm."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..api.library import library
from ..core.tracing import apply, type_of
from ..lax.while_loops import while_loop
from ..ops import compare, elementwise
from ..ops import elementwise_binary as binary
from ..ops.elementwise import IntegerPow
from ..ops.reductions import ReduceOr
from ..structural import arith
from ..structural.shape import full
from .arithmetic import numbers
from .operands import inexact_pair, need_integers, number_of
from .util import as_value, broadcast_operands, broadcast_to_shape, cast, promote


def power(x1: Any, x2: Any, /) -> Any:
    """Power x1 ** x2, element by element; 0 ** 0 is 1.

    A Python integer as x2 becomes repeated multiplication. Integers to integers stay integers, and
    wrap around; negative real numbers to a fraction give nan (`emath.power` gives complex ones).

    Args:
        x1: base, array or number; bools count as int32 (x64: int64).
        x2: exponent, array or number; promoted with `x1` to one dtype, and broadcast. A float base
            keeps its dtype with integer exponents.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ValueError: integers to a negative Python integer.
        ShapeError: the shapes do not broadcast.

    Derivative: x2 * x1**(x2 - 1) in x1, which is 0 for x2 = 0 at every x1 (JAX: nan at 0 ** 0);
    x1**x2 log(x1) in x2, which is 0 where x1 is 0 and x2 >= 0, and nan for negative x1.

    Differences from NumPy: an array of negative integers as x2 gives the whole part, 0 (but 1 or -1
    for x1 = 1, -1), not a ValueError; `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.power(np.asarray([2, 3, -2]), 3)
        Array([ 8, 27, -8], dtype=int32)
        >>> print(np.power(np.asarray([4.0, -8.0]), np.asarray([0.5, 1 / 3])))
        [ 2. nan]
    """
    if type(x2) is int:
        return _whole_power(x1, x2)
    return _power(x1, x2)


@library(1)
def _whole_power(x: Any, n: int) -> Any:
    x = as_value(x, "power", "x1")
    t = type_of(x)
    if t.kind == "b":
        x = cast(x, t, type_of(0).dtype)
        t = type_of(x)
    if t.kind in "iu" and n < 0:
        raise errors.ValueArgumentError(
            errors.explain(
                "power",
                f"integers cannot be raised to the negative power {n}",
                {"x1": t},
                try_=f"x1 ** {float(n)}",
            )
        )
    return whole_power(x, n)


def whole_power(x: Any, n: int) -> Any:
    """x**n of a float, complex or (n >= 0) integer operand."""
    return apply(elementwise.square if n == 2 else IntegerPow.of(n), x)


@library(2)
def _power(x1: Any, x2: Any, /) -> Any:
    x, y = as_value(x1, "power", "x1"), as_value(x2, "power", "x2")
    t, u = type_of(x), type_of(y)
    if t.inexact and u.kind in "iu" and not isinstance(y, int):
        # A float to an array of integers: exact, also for negative bases
        if promote(x, y)[0] is x:
            return apply(binary.pow_, *broadcast_operands("power", x, y))
    x, y = numbers(x, y, "power")
    if type_of(x).kind in "iu":
        return _integer_power(x, y)
    return apply(binary.pow_, x, y)


def _integer_power(x: Any, n: Any) -> Any:
    """Integers to integers, by squaring for as long as an exponent has bits left."""
    x, n = same_shape(x, n)
    t = type_of(x)
    zero, one = number_of(t)(0), number_of(t)(1)
    negative = apply(compare.lt, n, zero)
    result = full(t.update(weak_type=False), 1)
    rest = apply(arith.select, negative, n, zero)
    _, result, _ = while_loop(_exponent_left, _square_and_multiply, (x, result, rest))
    # 1 and -1 have integer reciprocals; other bases give 0
    odd = apply(compare.ne, apply(binary.and_, n, one), zero)
    unit = apply(arith.select, apply(compare.eq, x, one), zero, one)
    if t.kind == "i":
        minus = number_of(t)(-1)
        sign = apply(arith.select, odd, one, minus)
        unit = apply(arith.select, apply(compare.eq, x, minus), unit, sign)
    return apply(arith.select, negative, result, unit)


def _exponent_left(state: Any) -> Any:
    rest = state[2]
    left = apply(compare.ne, rest, number_of(type_of(rest))(0))
    return apply(ReduceOr.of(tuple(range(type_of(rest).ndim))), left)


def _square_and_multiply(state: Any) -> Any:
    x, result, rest = state
    number = number_of(type_of(x))
    odd = apply(compare.ne, apply(binary.and_, rest, number(1)), number(0))
    result = apply(arith.select, odd, result, apply(arith.mul, result, x))
    return apply(arith.mul, x, x), result, apply(binary.shift_right_logical, rest, number(1))


def same_shape(x: Any, y: Any) -> tuple[Any, Any]:
    """Both operands in the larger shape, rank 0 included, with one type that is not weak."""
    shape = type_of(x).shape or type_of(y).shape
    dtype = type_of(x).dtype
    x = broadcast_to_shape(arith.convert(x, dtype), shape)
    y = broadcast_to_shape(arith.convert(y, dtype), shape)
    if type_of(x).sharding is not type_of(y).sharding:
        # a sum takes the sharding of both
        zero = dtype.type(0)
        nothing = apply(arith.add, apply(arith.mul, x, zero), apply(arith.mul, y, zero))
        x, y = apply(arith.add, x, nothing), apply(arith.add, y, nothing)
    return x, y


@library(2)
def float_power(x1: Any, x2: Any, /) -> Any:
    """Power x1 ** x2 in floating point: integers become floats before.

    So negative exponents work for integers too, and large powers do not wrap around.

    Args:
        x1: base, array or number; integers and bools become float32 (x64: float64).
        x2: exponent, array or number; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        ShapeError: the shapes do not broadcast.

    Derivative: that of `power`.

    Differences from NumPy: floats and complex numbers keep their dtype, integers become float32
    (there everything is float64 or complex128); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.float_power(np.asarray([2, 4]), -1)
        Array([0.5 , 0.25], dtype=float32)
    """
    x1, x2 = inexact_pair(x1, x2, "float_power")
    return apply(binary.pow_, x1, x2)


@library(2)
def gcd(x1: Any, x2: Any) -> Any:
    """Greatest common divisor of |x1| and |x2|, by Euclid's algorithm; gcd(0, 0) is 0.

    Args:
        x1: array or number of integers.
        x2: array or number of integers; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype. It is not negative, except where the
        smallest integer has no opposite.

    Raises:
        DTypeError: an operand is neither integer nor bool.
        ShapeError: the shapes do not broadcast.

    Derivative: none: integers have none.

    Differences from NumPy: two bools count as int32 (there a TypeError); `out` must be None and
    `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.gcd(np.asarray([12, -18, 0]), 8)
        Array([4, 2, 8], dtype=int32)
        >>> np.gcd.reduce(np.asarray([12, 18, 30]))
        Array(6, dtype=int32)
    """
    x, y = numbers(x1, x2, "gcd")
    need_integers("gcd", x, y)
    return _gcd(x, y)


def _gcd(x: Any, y: Any) -> Any:
    x, y = same_shape(x, y)
    if type_of(x).kind == "i":
        x, y = apply(elementwise.abs_, x), apply(elementwise.abs_, y)
    return while_loop(_remainder_left, _euclid_step, (x, y))[0]


def _remainder_left(state: Any) -> Any:
    y = state[1]
    left = apply(compare.ne, y, number_of(type_of(y))(0))
    return apply(ReduceOr.of(tuple(range(type_of(y).ndim))), left)


def _euclid_step(state: Any) -> Any:
    x, y = state
    zero, one = number_of(type_of(y))(0), number_of(type_of(y))(1)
    done = apply(compare.eq, y, zero)
    rest = apply(binary.rem, x, apply(arith.select, done, y, one))
    return apply(arith.select, done, y, x), apply(arith.select, done, rest, zero)


@library(2)
def lcm(x1: Any, x2: Any) -> Any:
    """Least common multiple of |x1| and |x2|; 0 if one of them is 0.

    Integers wrap around: a multiple that the dtype cannot hold is wrong.

    Args:
        x1: array or number of integers.
        x2: array or number of integers; promoted with `x1` to one dtype, and broadcast.

    Returns:
        Array of the broadcast shape, in the promoted dtype.

    Raises:
        DTypeError: an operand is neither integer nor bool.
        ShapeError: the shapes do not broadcast.

    Derivative: none: integers have none.

    Differences from NumPy: int32 overflows where int64, the default there, does not; two bools
    count as int32 (there a TypeError); `out` must be None and `where` True.

    Example:
        >>> import numlift.numpy as np
        >>> np.lcm(np.asarray([4, -6, 0]), 6)
        Array([12,  6,  0], dtype=int32)
        >>> np.lcm.reduce(np.asarray([2, 3, 4]))
        Array(12, dtype=int32)
    """
    x, y = numbers(x1, x2, "lcm")
    need_integers("lcm", x, y)
    t = type_of(x)
    if t.kind == "i":
        x, y = apply(elementwise.abs_, x), apply(elementwise.abs_, y)
    g = _gcd(x, y)
    zero, one = number_of(t)(0), number_of(t)(1)
    none = apply(compare.eq, g, zero)
    result = apply(arith.mul, x, apply(binary.div, y, apply(arith.select, none, g, one)))
    return apply(arith.select, none, result, zero)


pow = power

__all__ = ["float_power", "gcd", "lcm", "pow", "power"]
