"""Polynomials as vectors of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.tracing import apply, type_of
from ..core.types import array_type
from ..lax.arguments import static_int
from ..lax.loops import scan
from ..ops.elementwise_binary import div
from ..structural.arith import add, convert, mul, neg, sub
from ..structural.shape import Reshape, full
from .differences import convolve
from .manipulation import atleast_1d
from .pieces import binary, concrete_array, join, part, reshape_to
from .util import as_value, broadcast_shape, broadcast_to_shape, promote, to_inexact

_UNROLLED = 32


def _coefficients(function: str, a: Any, argument: str) -> Any:
    x = as_value(a, function, argument)
    t = type_of(x)
    if t.ndim > 1:
        raise errors.ShapeError(
            errors.explain(function, f"{argument} must be a vector of coefficients", {argument: t})
        )
    return atleast_1d(x)


@library(arrays=2)
def polyval(p: Any, x: Any, *, unroll: int = 16) -> Any:
    """Value of a polynomial: ``p[0] x**(n-1) + ... + p[n-1]``, by Horner's rule.

    Args:
        p: n coefficients, the highest power first; further axes are broadcast with `x`.
        x: array of any shape.
        unroll: int, how many steps of a long loop are written out.

    Returns:
        Array of the shape of `x` and the promoted dtype. The derivative in `x` is that of the
        polynomial, in ``p[i]`` it is the power of x.

    Raises:
        ShapeError: p is a scalar, or its further axes do not fit.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.polyval(np.array([1, 2, 3]), np.array([0, 2])))
        [ 3 11]
    """
    p, x = promote(as_value(p, "polyval", "p"), as_value(x, "polyval", "x"))
    t, u = type_of(p), type_of(x)
    if t.ndim == 0:
        raise errors.ShapeError(errors.explain("polyval", "p needs at least one axis", {"p": t}))
    shape = broadcast_shape("polyval", t.shape[1:], u.shape)
    dtype = u.dtype if u.kind != "b" else type_of(0).dtype
    x = broadcast_to_shape(convert(x, dtype), shape)
    value = full(array_type(shape, dtype))
    rows = convert(p, dtype)

    def step(y: Any, c: Any) -> Any:
        return binary(add, "polyval", apply(mul, y, x), c)

    if t.shape[0] > _UNROLLED:
        return scan(lambda y, c: (step(y, c), None), value, rows, unroll=unroll)[0]
    for i in range(t.shape[0]):
        row = reshape_to(part(rows, 0, i, i + 1), t.shape[1:])
        value = step(value, row) if i else broadcast_to_shape(row, shape)
    return reshape_to(value, shape)


def _same_length(function: str, a1: Any, a2: Any) -> list[Any]:
    xs = promote(_coefficients(function, a1, "a1"), _coefficients(function, a2, "a2"))
    size = max(type_of(x).size for x in xs)
    padded = []
    for x in xs:
        t = type_of(x)
        missing = size - t.size
        padded.append(join([full(array_type((missing,), t.dtype)), x], 0) if missing else x)
    return padded


@library(arrays=2)
def polyadd(a1: Any, a2: Any) -> Any:
    """Sum of two polynomials: their coefficients are added, lined up at the constant.

    Args:
        a1: vector of coefficients, the highest power first; a number is a constant.
        a2: vector of coefficients, the highest power first; a number is a constant.

    Returns:
        Vector as long as the longer one, of the promoted dtype. Leading zeros stay.

    Raises:
        ShapeError: more than one axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.polyadd(np.array([1, 2]), np.array([1, 0, 0])))
        [1 1 2]
    """
    return apply(add, *_same_length("polyadd", a1, a2))


@library(arrays=2)
def polysub(a1: Any, a2: Any) -> Any:
    """Difference of two polynomials: ``a1 - a2``, lined up at the constant.

    Args:
        a1: vector of coefficients, the highest power first; a number is a constant.
        a2: vector of coefficients, the highest power first; a number is a constant.

    Returns:
        Vector as long as the longer one, of the promoted dtype. Leading zeros stay.

    Raises:
        ShapeError: more than one axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.polysub(np.array([1, 2]), np.array([1, 0, 0])))
        [-1  1  2]
    """
    return apply(sub, *_same_length("polysub", a1, a2))


def _trimmed(function: str, x: Any, argument: str) -> Any:
    """Without leading zeros, but at least one coefficient."""
    values = concrete_array(function, x, argument, "its leading zeros give the result's size")
    used = np.flatnonzero(values)
    start = int(used[0]) if len(used) else max(len(values) - 1, 0)
    return part(x, 0, start, len(values))


@explains
def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Any:
    """Product of two polynomials: the convolution of their coefficients.

    Args:
        a1: vector of n coefficients, the highest power first; integers become floats.
        a2: vector of m coefficients, the highest power first; integers become floats.
        trim_leading_zeros: drop the leading zeros of the operands first; not under jit.

    Returns:
        Vector of n + m - 1 coefficients of the promoted inexact dtype.

    Raises:
        ShapeError: more than one axis.
        ConcretizationTypeError: traced, and trim_leading_zeros.

    Differences from NumPy: the result is inexact, and leading zeros stay by default.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.polymul(np.array([1, 2]), np.array([1, 3])))
        [1. 5. 6.]
    """
    x, y = _coefficients("polymul", a1, "a1"), _coefficients("polymul", a2, "a2")
    if trim_leading_zeros:
        x, y = _trimmed("polymul", x, "a1"), _trimmed("polymul", y, "a2")
    return convolve(x, y)


@explains
def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Any, Any]:
    """Quotient and remainder of two polynomials: ``u = quotient * v + remainder``.

    Args:
        u: vector of n coefficients, the highest power first; integers become floats.
        v: vector of m coefficients, the highest power first, of which the first is not zero.
        trim_leading_zeros: drop the leading zeros of the remainder, as NumPy does; not under jit.

    Returns:
        Quotient with n - m + 1 coefficients (a zero for m > n), and remainder with n.

    Raises:
        ShapeError: more than one axis.
        ConcretizationTypeError: traced, and trim_leading_zeros.

    Example:
        >>> import numlift.numpy as np
        >>> print(*np.polydiv(np.array([1.0, 5.0, 7.0]), np.array([1.0, 2.0])))
        [1. 3.] [0. 0. 1.]
    """
    x, y = _coefficients("polydiv", u, "u"), _coefficients("polydiv", v, "v")
    quotient, rest = _polydiv(x, y)
    return quotient, _trimmed("polydiv", rest, "u") if trim_leading_zeros else rest


@library(arrays=2)
def _polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    u, v = to_inexact(u, v)
    n, m = type_of(u).size, type_of(v).size
    if m > n:
        return full(array_type((1,), type_of(u).dtype)), reshape_to(u, (n,))
    first = reshape_to(part(v, 0, 0, 1), ())
    steps = n - m + 1
    found = []
    for k in range(steps):
        q = apply(div, reshape_to(part(u, 0, k, k + 1), ()), first)
        found.append(apply(Reshape.of((1,), None), q))
        window = apply(sub, part(u, 0, k, k + m), apply(mul, v, q))
        pieces = [part(u, 0, 0, k)] if k else []
        pieces.append(window)
        if k + m < n:
            pieces.append(part(u, 0, k + m, n))
        u = join(pieces, 0)
    return join(found, 0), u


@library()
def polyder(p: Any, m: int = 1) -> Any:
    """Derivative of a polynomial, taken `m` times: ``n p[0] x**(n - 1) + ...``.

    Args:
        p: vector of n + 1 coefficients, the highest power first; integers become floats.
        m: int, how many times; not negative.

    Returns:
        Vector of n + 1 - m coefficients; empty if nothing is left.

    Raises:
        ValueArgumentError: `m` is negative.  ShapeError: more than one axis.

    Differences from NumPy: the result is inexact.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.polyder(np.array([1.0, 2.0, 3.0])))
        [2. 2.]
    """
    m = static_int("polyder", "m", m)
    if m < 0:
        raise errors.ValueArgumentError(
            errors.explain("polyder", f"m must not be negative, but is {m}")
        )
    (x,) = to_inexact(_coefficients("polyder", p, "p"))
    for _ in range(m):
        n = type_of(x).size
        powers = np.arange(n - 1, 0, -1).astype(type_of(x).dtype)
        x = apply(mul, part(x, 0, 0, max(n - 1, 0)), powers)
    return x


@library()
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Integral of a polynomial, taken `m` times: ``p[0] x**(n + 1) / (n + 1) + ... + k``.

    Args:
        p: vector of n + 1 coefficients, the highest power first; integers become floats.
        m: int, how many times; not negative.
        k: constants of integration: a number, or a vector of one for each time; None is zero.

    Returns:
        Vector of n + 1 + m coefficients.

    Raises:
        ValueArgumentError: `m` is negative, or a wrong number of constants.
        ShapeError: more than one axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.polyint(np.array([2.0, 2.0]), k=3))
        [1. 2. 3.]
    """
    m = static_int("polyint", "m", m)
    if m < 0:
        raise errors.ValueArgumentError(
            errors.explain("polyint", f"m must not be negative, but is {m}")
        )
    x, constants = to_inexact(
        _coefficients("polyint", p, "p"), _coefficients("polyint", 0 if k is None else k, "k")
    )
    count = type_of(constants).size
    if count not in (1, m):
        raise errors.ValueArgumentError(
            errors.explain("polyint", f"{count} constants are given for m = {m}")
        )
    for i in range(m):
        n = type_of(x).size
        powers = np.arange(n, 0, -1).astype(type_of(x).dtype)
        j = 0 if count == 1 else i
        x = join([apply(div, x, powers), part(constants, 0, j, j + 1)], 0)
    return x


@library()
def poly(seq_of_zeros: Any) -> Any:
    """Coefficients of the polynomial with these roots: ``(x - r[0]) (x - r[1]) ...``.

    Args:
        seq_of_zeros: the roots; integers become floats.

    Returns:
        Coefficients, the highest power first; one more than there are roots.

    Raises:
        ShapeError: not a vector.

    Differences from NumPy: a matrix must be given by its eigenvalues; the result of complex roots
    stays complex.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.poly(np.array([1.0, 2.0])))
        [ 1. -3.  2.]
    """
    (r,) = to_inexact(_coefficients("poly", seq_of_zeros, "seq_of_zeros"))
    t = type_of(r)
    out = full(array_type((1,), t.dtype), 1)
    zero = full(array_type((1,), t.dtype))
    minus = apply(neg, r)
    for i in range(t.size):
        scaled = binary(mul, "poly", out, part(minus, 0, i, i + 1))
        out = apply(add, join([out, zero], 0), join([zero, scaled], 0))
    return out


__all__ = [
    "poly",
    "polyadd",
    "polyder",
    "polydiv",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
]
