"""Linear algebra in extended precision, which NumPy's LAPACK does not do: textbook elimination."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy


def each_matrix(function: Callable[..., Any], *arrays: Any) -> Any:
    """Apply a function of matrices along leading axes."""
    batch = arrays[0].shape[:-2]
    if not batch:
        return function(*arrays)
    flat = [a.reshape(-1, *a.shape[-2:]) for a in arrays]
    out = numpy.stack([function(*one) for one in zip(*flat, strict=True)])
    return out.reshape(*batch, *out.shape[1:])


def eliminate(a: Any, b: Any) -> tuple[Any, Any]:
    """(solution of a x = b, determinant of a) without pivoting: `a` is diagonally dominant."""
    a, b, n = a.copy(), b.copy(), len(a)
    determinant = a.dtype.type(1)
    for k in range(n):
        determinant *= a[k, k]
        for i in range(n):
            if i != k:
                factor = a[i, k] / a[k, k]
                a[i] -= factor * a[k]
                b[i] -= factor * b[k]
    return b / numpy.diag(a)[:, None], determinant


def solve(a: Any, b: Any) -> Any:
    """x with a x = b."""
    return each_matrix(lambda a, b: eliminate(a, b)[0], a, b)


def inverse(a: Any) -> Any:
    """The inverse."""
    return solve(a, numpy.broadcast_to(numpy.eye(a.shape[-1], dtype=a.dtype), a.shape))


def determinant(a: Any) -> Any:
    """The determinant."""
    return numpy.asarray(each_matrix(lambda a: eliminate(a, a)[1], a))


def cholesky(a: Any) -> Any:
    """Lower triangular factor."""

    def factor(a: Any) -> Any:
        lower = numpy.zeros_like(a)
        for i in range(len(a)):
            for j in range(i + 1):
                rest = a[i, j] - lower[i, :j] @ lower[j, :j]
                lower[i, j] = numpy.sqrt(rest) if i == j else rest / lower[j, j]
        return lower

    return each_matrix(factor, a)
