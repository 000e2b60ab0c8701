"""NumPy's algebraic functions of one argument: signs, absolute values, squares, reciprocals."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import elementwise as ops
from ..structural import arith
from .arithmetic import no_bool
from .operands import inexact, real_inexact
from .util import as_value, cast


@library(1)
def negative(x: Any, /) -> Any:
    """-x; unsigned integers wrap around.

    Raises:
        DTypeError: x is bool.

    Example:
        >>> import numlift.numpy as np
        >>> np.negative(np.asarray([1, -2]))
        Array([-1,  2], dtype=int32)
    """
    x = as_value(x, "negative", "x")
    if type_of(x).kind == "b":
        raise no_bool("negative", x, "np.logical_not(x)")
    return apply(arith.neg, x)


@library(1)
def positive(x: Any, /) -> Any:
    """+x: a copy of x.

    Example:
        >>> import numlift.numpy as np
        >>> np.positive(np.asarray([1, -2]))
        Array([ 1, -2], dtype=int32)
    """
    return as_array_of_itself(as_value(x, "positive", "x"))


def as_array_of_itself(x: Any) -> Any:
    """A number or NumPy array as a value of the current trace."""
    t = type_of(x)
    return apply(arith.Convert.of(t.dtype, t.weak_type), x)


@library(1)
def absolute(x: Any, /) -> Any:
    """|x|; complex: the modulus, a real array. Derivative sign(x), 0 at 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.absolute(np.asarray([1, -2]))
        Array([1, 2], dtype=int32)
    """
    x = as_value(x, "absolute", "x")
    return apply(ops.abs_, x) if type_of(x).kind in "ifc" else as_array_of_itself(x)


@library(1)
def fabs(x: Any, /) -> Any:
    """|x| of real numbers, as floats.

    Example:
        >>> import numlift.numpy as np
        >>> np.fabs(np.asarray([1, -2]))
        Array([1., 2.], dtype=float32)
    """
    return apply(ops.abs_, real_inexact(x, "fabs"))


@library(1)
def sign(x: Any, /) -> Any:
    """-1, 0 or 1; nan for nan; complex: x / |x|. Derivative 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.sign(np.asarray([-3.0, 0.0, 2.0]))
        Array([-1.,  0.,  1.], dtype=float32)
    """
    x = as_value(x, "sign", "x")
    if type_of(x).kind == "b":
        raise no_bool("sign", x, "x.astype('int32')")
    return apply(ops.sign, x)


@library(1)
def square(x: Any, /) -> Any:
    """x * x; bools count as integers.

    Example:
        >>> import numlift.numpy as np
        >>> np.square(np.asarray([2, -3]))
        Array([4, 9], dtype=int32)
    """
    x = as_value(x, "square", "x")
    t = type_of(x)
    if t.kind == "b":
        x = cast(x, t, type_of(0).dtype)
    return apply(ops.square, x)


@library(1)
def reciprocal(x: Any, /) -> Any:
    """1 / x; integers become floats (NumPy: integer division).

    Example:
        >>> import numlift.numpy as np
        >>> np.reciprocal(np.asarray([2, 4]))
        Array([0.5 , 0.25], dtype=float32)
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
