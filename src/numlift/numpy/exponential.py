"""NumPy's exponentials, logarithms and roots."""

from __future__ import annotations

import math
from typing import Any

from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops import compare
from ..ops import elementwise as ops
from ..ops import elementwise_binary as binary
from ..structural import arith
from .operands import inexact, inexact_pair, number_of, real_inexact, real_pair


@library(1)
def sqrt(x: Any, /) -> Any:
    """Square root; nan for negative real numbers. Derivative 1 / (2 sqrt(x)), inf at 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.sqrt(np.asarray([4, 9]))
        Array([2., 3.], dtype=float32)
    """
    return apply(ops.sqrt, inexact(x, "sqrt"))


@library(1)
def cbrt(x: Any, /) -> Any:
    """Real cube root, also of negative numbers. Derivative inf at 0.

    Example:
        >>> import numlift.numpy as np
        >>> np.cbrt(np.asarray([8.0, -27.0]))
        Array([ 2., -3.], dtype=float32)
    """
    return apply(ops.cbrt, real_inexact(x, "cbrt"))


@library(1)
def exp(x: Any, /) -> Any:
    """e**x.

    Example:
        >>> import numlift.numpy as np
        >>> np.exp(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    return apply(ops.exp, inexact(x, "exp"))


@library(1)
def exp2(x: Any, /) -> Any:
    """2**x, exact for whole x.

    Example:
        >>> import numlift.numpy as np
        >>> np.exp2(np.asarray([3, -1]))
        Array([8. , 0.5], dtype=float32)
    """
    return apply(ops.exp2, inexact(x, "exp2"))


@library(1)
def expm1(x: Any, /) -> Any:
    """e**x - 1, exact for small x.

    Example:
        >>> import numlift.numpy as np
        >>> np.expm1(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(ops.expm1, inexact(x, "expm1"))


@library(1)
def log(x: Any, /) -> Any:
    """Natural logarithm: -inf at 0, nan for negative real numbers. Derivative 1 / x.

    Example:
        >>> import numlift.numpy as np
        >>> np.log(1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(ops.log, inexact(x, "log"))


@library(1)
def log1p(x: Any, /) -> Any:
    """log(1 + x), exact for small x.

    Example:
        >>> import numlift.numpy as np
        >>> np.log1p(0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return apply(ops.log1p, inexact(x, "log1p"))


def _log_to_base(x: Any, base: float) -> Any:
    y, factor = apply(ops.log, x), 1 / math.log(base)
    if type_of(y).kind != "c":
        return _scaled(y, factor)
    # by parts: the imaginary part of log(0) = -inf + 0j must not become nan
    return apply(
        arith.complex_, _scaled(apply(arith.real, y), factor), _scaled(apply(arith.imag, y), factor)
    )


def _scaled(x: Any, factor: float) -> Any:
    return apply(arith.mul, x, number_of(type_of(x))(factor))


@library(1)
def log2(x: Any, /) -> Any:
    """Logarithm to base 2.

    Example:
        >>> import numlift.numpy as np
        >>> np.log2(np.asarray([1.0, 8.0]))
        Array([0., 3.], dtype=float32)
    """
    return _log_to_base(inexact(x, "log2"), 2.0)


@library(1)
def log10(x: Any, /) -> Any:
    """Logarithm to base 10.

    Example:
        >>> import numlift.numpy as np
        >>> np.log10(1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return _log_to_base(inexact(x, "log10"), 10.0)


@library(2)
def logaddexp(x1: Any, x2: Any, /) -> Any:
    """log(exp(x1) + exp(x2)) without overflow.

    Derivative: exp(x1 - result) and exp(x2 - result); 1/2 each at equal infinities.

    Example:
        >>> import numlift.numpy as np
        >>> np.logaddexp(0.0, 0.0)
        Array(0.6931472, dtype=float32, weak_type=True)
    """
    x, y = inexact_pair(x1, x2, "logaddexp")
    t = type_of(x)
    if t.kind == "c":
        x, y = _by_real_part(x, y)
        return apply(arith.add, x, apply(ops.log1p, apply(ops.exp, apply(arith.sub, y, x))))
    return _log_add(x, y)


def _by_real_part(x: Any, y: Any) -> tuple[Any, Any]:
    """(larger real part, smaller real part)."""
    swap = apply(compare.lt, apply(arith.real, x), apply(arith.real, y))
    return apply(arith.select, swap, x, y), apply(arith.select, swap, y, x)


def _log_add(x: Any, y: Any, power: Any = ops.exp, scale: float = 1.0) -> Any:
    """log(e**x + e**y) of real operands; to another base with its `power` and 1 / log(base)."""
    big = apply(binary.max_, x, y)
    gap = apply(arith.sub, x, y)
    # inf - inf is nan: both are the same infinity then, and the answer is their (halved) sum
    same = apply(compare.ne, gap, gap)
    number = number_of(type_of(gap))
    safe = apply(arith.select, same, gap, number(0))
    tail = apply(
        ops.log1p,
        apply(power, apply(arith.neg, apply(ops.abs_, safe))),
    )
    if scale != 1.0:
        tail = _scaled(tail, scale)
    both = apply(arith.add, x, y)
    smooth = apply(arith.add, big, tail)
    return apply(arith.select, same, smooth, apply(arith.mul, both, number(0.5)))


@library(2)
def logaddexp2(x1: Any, x2: Any, /) -> Any:
    """log2(2**x1 + 2**x2) without overflow.

    Example:
        >>> import numlift.numpy as np
        >>> np.logaddexp2(3.0, 3.0)
        Array(4., dtype=float32, weak_type=True)
    """
    x, y = real_pair(x1, x2, "logaddexp2")
    return _log_add(x, y, ops.exp2, 1 / math.log(2))


__all__ = [
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "sqrt",
]
