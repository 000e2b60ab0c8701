"""Factorisations as array operations, for platforms without a library of them.

Each function works on one matrix; `portable` maps it over batches and gives it to its operation.
Loops have known bounds, so that derivatives in both modes exist. Sums of products are written as
reductions, which are exact in the dtype on every platform, or as products in full precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...api.vmap import vmap
from ...core.tracing import apply, type_of
from ...lax.while_loops import fori_loop
from ...ops.elementwise_misc import stop_gradient
from ...ops.linalg_calls import PORTABLE, MatrixOp, adjoint
from ...ops.linalg_factors import Lu
from ...ops.linalg_qr import ApplyReflectors, Householder, Qr, QrPivoted
from ...ops.linalg_similar import Hessenberg, Tridiagonal
from ..diagonals import eye
from ..selection import where

I32 = np.dtype(np.int32)


def portable(op: type[MatrixOp], *ranks: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: make a function of the operation and single matrices its portable algorithm.

    Args:
        op: the operation.
        ranks: number of axes of each operand without batches.
    """

    def register(core: Callable[..., Any]) -> Callable[..., Any]:
        def run(op: MatrixOp, *xs: Any) -> Any:
            shape = type_of(xs[0]).shape
            batch = shape[: len(shape) - ranks[0]]
            if not batch:
                return core(op, *xs)
            flat = [x.reshape(math.prod(batch), *type_of(x).shape[len(batch) :]) for x in xs]
            outs = vmap(partial(core, op))(*flat)
            return [y.reshape(*batch, *type_of(y).shape[1:]) for y in outs]

        PORTABLE[op] = run
        return core

    return register


def places(n: int) -> np.ndarray:
    """0, 1, ... n - 1."""
    return np.arange(n, dtype=I32)


def squares(x: Any) -> Any:
    """|x|**2."""
    return x * x if type_of(x).kind != "c" else x.real * x.real + x.imag * x.imag


def taxicab(x: Any) -> Any:
    """|re| + |im|, by which LAPACK compares complex numbers."""
    return abs(x) if type_of(x).kind != "c" else abs(x.real) + abs(x.imag)


def number(x: Any, like: Any) -> Any:
    """A real array in the dtype of another array."""
    return x.astype(type_of(like).dtype)


def reflector(x: Any, k: Any) -> tuple[Any, Any, Any]:
    """v (1 at k, 0 before) and tau with (1 - conj(tau) v v^H) x = beta e_k for the part of `x`
    from k on, as LAPACK's `larfg`; beta is real."""
    kind = type_of(x).dtype.type
    at = places(type_of(x).shape[0])
    scale = apply(stop_gradient, abs(where(at >= k, x, kind(0))).max())
    scale = where(scale > 0, scale, 1)
    alpha = x[k] / scale
    tail = where(at > k, x / scale, kind(0))
    rest = squares(tail).sum()
    trivial = rest == 0
    if type_of(x).kind == "c":
        trivial = trivial & (alpha.imag == 0)
    size = where(trivial, 1, squares(alpha) + rest) ** 0.5
    beta = where(alpha.real >= 0, -size, size)
    tau = where(trivial, kind(0), (beta - alpha) / beta)
    v = where(at == k, kind(1), tail / where(trivial, kind(1), alpha - beta))
    return v, tau, where(trivial, alpha.real, beta) * scale


def reflected(x: Any, v: Any, factor: Any) -> Any:
    """(1 - factor v v^H) x."""
    return x - factor * v[:, None] * (v.conj()[:, None] * x).sum(0)


def reflected_right(x: Any, v: Any, factor: Any) -> Any:
    """x (1 - factor v v^H)."""
    return x - factor * (x * v).sum(1)[:, None] * v.conj()


def vector_of(h: Any, k: Any, shift: int = 0) -> Any:
    """The vector of reflector k that an array holds below its diagonal (or `shift` lower)."""
    kind = type_of(h).dtype.type
    at = places(type_of(h).shape[0])
    return where(at > k + shift, h[:, k], kind(0)) + (at == k + shift)


def _eliminate(k: Any, a: Any, taus: Any) -> tuple[Any, Any]:
    """One step of QR: column k becomes beta and a reflector."""
    m, n = type_of(a).shape
    v, tau, beta = reflector(a[:, k], k)
    column = where(places(m) == k, number(beta, a), where(places(m) > k, v, a[:, k]))
    later = where(places(n) > k, reflected(a, v, tau.conj()), a)
    a = where(places(n) == k, column[:, None], later)
    return a, where(places(type_of(taus).shape[0]) == k, tau, taus)


def _zeros(n: int, like: Any) -> Any:
    return np.zeros(n, type_of(like).dtype)


def qr_packed(a: Any) -> tuple[Any, Any]:
    """LAPACK's `geqrf`: R, reflectors below it, and taus."""
    k = min(type_of(a).shape)
    return fori_loop(0, k, lambda i, c: _eliminate(i, *c), (a, _zeros(k, a)))


def basis(h: Any, taus: Any, columns: int) -> Any:
    """The first columns of Q, from reflectors and their taus."""
    m, k = type_of(h).shape[0], type_of(taus).shape[0]
    one = np.eye(m, columns, dtype=type_of(h).dtype)
    return fori_loop(0, k, lambda i, q: reflected(q, vector_of(h, k - 1 - i), taus[k - 1 - i]), one)


def upper(a: Any) -> Any:
    """The part on and above the diagonal."""
    m, n = type_of(a).shape
    return where(np.tri(m, n, -1, np.bool_), type_of(a).dtype.type(0), a)


@portable(Qr, 2)
def qr(op: Any, a: Any) -> list[Any]:
    """Q and R by reflections."""
    h, taus = qr_packed(a)
    p = type_of(a).shape[0] if op.full else min(type_of(a).shape)
    return [basis(h, taus, p), upper(h[:p])]


@portable(QrPivoted, 2)
def qr_pivoted(op: Any, a: Any) -> list[Any]:
    """Like `qr`; the column with the largest rest comes first."""
    m, n = type_of(a).shape
    k = min(m, n)

    def step(i: Any, carry: Any) -> Any:
        a, taus, order = carry
        rest = squares(where(places(m)[:, None] >= i, a, type_of(a).dtype.type(0))).sum(0)
        chosen = where(places(n) >= i, rest, -1).argmax().astype(I32)
        swap = where(places(n) == i, chosen, where(places(n) == chosen, i, places(n)))
        a, taus = _eliminate(i, a[:, swap], taus)
        return a, taus, order[swap]

    h, taus, order = fori_loop(0, k, step, (a, _zeros(k, a), places(n)))
    p = m if op.full else k
    return [basis(h, taus, p), upper(h[:p]), order]


@portable(Householder, 2, 1)
def householder_product(op: Any, h: Any, taus: Any) -> list[Any]:
    """Product of reflections."""
    return [basis(h, taus, type_of(h).shape[1])]


@portable(ApplyReflectors, 2, 1, 2)
def apply_reflectors(op: Any, h: Any, taus: Any, c: Any) -> list[Any]:
    """Products with Q, reflection by reflection."""
    k = type_of(taus).shape[0]
    backward = op.left != op.adjoint  # Q = H_0 H_1 ...: the last reflection is applied first
    run = reflected if op.left else reflected_right

    def step(i: Any, c: Any) -> Any:
        j = k - 1 - i if backward else i
        return run(c, vector_of(h, j), taus[j].conj() if op.adjoint else taus[j])

    return [fori_loop(0, k, step, c)]


@portable(Lu, 2)
def lu(op: Any, a: Any) -> list[Any]:
    """Gaussian elimination with row exchange."""
    m, n = type_of(a).shape
    k, kind = min(m, n), type_of(a).dtype.type

    def step(i: Any, carry: Any) -> Any:
        a, pivots, order = carry
        chosen = where(places(m) >= i, taxicab(a[:, i]), -1).argmax().astype(I32)
        swap = where(places(m) == i, chosen, where(places(m) == chosen, i, places(m)))
        a = a[swap]
        pivot = a[i, i]
        factors = where(places(m) > i, a[:, i] / where(pivot == 0, kind(1), pivot), kind(0))
        row = where(places(n) > i, a[i], kind(0))
        a = a - factors[:, None] * row
        here = (places(n) == i) & (places(m) > i)[:, None]
        a = where(here, factors[:, None], a)
        return a, where(places(k) == i, chosen, pivots), order[swap]

    return list(fori_loop(0, k, step, (a, np.zeros(k, I32), places(m))))


@portable(Hessenberg, 2)
def hessenberg(op: Any, a: Any) -> list[Any]:
    """Reflections from both sides, column by column; the last one is the identity but for a
    complex number."""
    n = type_of(a).shape[0]

    def step(k: Any, carry: Any) -> Any:
        a, taus = carry
        v, tau, beta = reflector(a[:, k], k + 1)
        at = places(n)
        column = where(at == k + 1, number(beta, a), where(at > k + 1, v, a[:, k]))
        changed = where(places(n) > k, reflected(reflected_right(a, v, tau), v, tau.conj()), a)
        # Columns up to k hold results and reflectors.
        a = where(places(n) == k, column[:, None], changed)
        return a, where(places(max(n - 1, 0)) == k, tau, taus)

    return list(fori_loop(0, max(n - 1, 0), step, (a, _zeros(max(n - 1, 0), a))))


@portable(Tridiagonal, 2)
def tridiagonal(op: Any, a: Any) -> list[Any]:
    """As `hessenberg`, for Hermitian matrices; from the last column if the upper triangle is
    read."""
    if not op.low:
        h, d, e, taus = _tridiagonal(a[::-1, ::-1])
        return [h[::-1, ::-1], d[::-1], e[::-1], taus[::-1]]
    return list(_tridiagonal(a))


def _tridiagonal(a: Any) -> tuple[Any, Any, Any, Any]:
    n, kind = type_of(a).shape[0], type_of(a).dtype.type
    low = where(np.tri(n, n, -1, np.bool_), a, kind(0))
    one = eye(n, dtype=type_of(a).dtype)
    full = low + adjoint(low) + one * number(a.diagonal().real, a)
    h, taus = hessenberg(None, full)
    d = h.diagonal().real
    e = h.diagonal(-1).real
    kept = where(np.tri(n, n, 0, np.bool_), h, a)
    return where(np.eye(n, dtype=np.bool_), number(d, a)[:, None], kept), d, e, taus


__all__ = ["basis", "portable", "qr_packed", "reflector"]
