"""Tridiagonal systems as array operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tracing import type_of
from ...lax.loops import scan
from ...ops.linalg_bands import TridiagonalSolve
from ..joining import concatenate
from ..selection import where
from .portable import portable, taxicab


@portable(TridiagonalSolve, 1, 1, 1, 2)
def tridiagonal_solve(op: Any, dl: Any, d: Any, du: Any, b: Any) -> list[Any]:
    """Elimination with row exchange, as LAPACK's `gtsv`, then back substitution."""
    dtype = type_of(b).dtype
    zero, one = dtype.type(0), dtype.type(1)
    size = taxicab(d).max() + taxicab(dl[1:]).max(initial=0) + taxicab(du[:-1]).max(initial=0)
    least = where(size > 0, size, 1) * np.finfo(dtype).eps ** 2

    def safe(x: Any) -> Any:
        return where(taxicab(x) <= least, least.astype(dtype), x) if op.perturb else x

    def eliminate(row: Any, new: Any) -> Any:
        first, second, value = row
        low, middle, high, right = new
        swap = taxicab(low) > taxicab(first)
        pivot = safe(where(swap, low, first))
        factor = where(swap, first, low) / where(pivot == 0, one, pivot)
        above = (where(swap, middle, second), where(swap, high, zero), where(swap, right, value))
        rest = (
            where(swap, second, middle) - factor * above[0],
            where(swap, zero, high) - factor * above[1],
            where(swap, value, right) - factor * above[2],
        )
        return rest, (pivot, *above)

    last = concatenate([du[:-1], np.zeros(1, dtype)])
    (first, _, value), rows = scan(
        eliminate, (d[0], last[0], b[0]), (dl[1:], d[1:], last[1:], b[1:])
    )
    end = value / safe(first)

    def substitute(known: Any, row: Any) -> Any:
        pivot, second, third, right = row
        x = (right - second * known[0] - third * known[1]) / pivot
        return (x, known[0]), x

    _, xs = scan(substitute, (end, end * 0), rows, reverse=True)
    found = concatenate([xs, end[None]], 0)
    fine = (rows[0] != 0).all() & (safe(first) != 0)
    return [where(fine, found, dtype.type(np.nan))]


__all__ = ["tridiagonal_solve"]
