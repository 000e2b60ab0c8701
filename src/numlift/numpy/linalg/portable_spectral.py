"""Eigenvalues of Hermitian matrices, singular values and polar factors as array operations.

Jacobi's method turns pairs of rows and columns, half as many pairs at once as there are rows. A
round-robin brings all pairs together in a sweep. It is slower than LAPACK's methods, and as
accurate, for small singular values more so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tracing import type_of
from ...lax.while_loops import fori_loop, while_loop
from ...ops.linalg_calls import adjoint, product
from ...ops.linalg_polar import Polar
from ...ops.linalg_spectral import Eigh, Svd
from ...structural.arith import real_dtype
from ..joining import concatenate
from ..selection import where
from .portable import basis, number, portable, qr_packed, squares, upper

_SWEEPS = 30


def _round(h: int) -> np.ndarray:
    """Order that makes the next pairs (i, i + h) of 2 h players; the first stays in its place."""
    top, bottom = list(range(h)), list(range(h, 2 * h))
    if h > 1:
        top, bottom = [0, bottom[0], *top[1:-1]], [*bottom[1:], top[-1]]
    return np.array(top + bottom, np.int32)


def _rotation(low: Any, high: Any, between: Any) -> tuple[Any, Any, Any]:
    """Cosine, sine and phase that make pairs orthogonal: `between` is the product of each pair,
    `low` and `high` are those of its parts with themselves."""
    size = abs(between)
    none = size == 0
    safe = where(none, 1, size)
    phase = where(none, number(size, between) + 1, between / number(safe, between))
    slope = (high - low) / (2 * safe)
    steep = where(slope >= 0, 1, -1) / (abs(slope) + (1 + slope * slope) ** 0.5)
    t = where(none, 0, steep).astype(type_of(size).dtype)
    c = 1 / (1 + t * t) ** 0.5
    return c, c * t, phase


def _turn(x: Any, c: Any, s: Any, phase: Any) -> Any:
    """Pairs of columns (first half, second half) turned."""
    h = type_of(x).shape[1] // 2
    first, second = x[:, :h], x[:, h:] * phase.conj()
    c, s = number(c, x), number(s, x)
    return concatenate([c * first - s * second, s * first + c * second], 1)


def _jacobi(a: Any) -> tuple[Any, Any]:
    """Diagonal and vectors of Hermitian matrices with an even number of rows."""
    n = type_of(a).shape[0]
    h, order = n // 2, _round(n // 2)
    eps = np.finfo(type_of(a).dtype).eps
    whole = squares(a).sum() ** 0.5
    one = np.eye(n, dtype=np.bool_)
    paired = np.eye(n, k=h, dtype=np.bool_) | np.eye(n, k=-h, dtype=np.bool_)
    zero = type_of(a).dtype.type(0)

    def turn(_: Any, carry: Any) -> Any:
        a, v = carry
        entries = a.diagonal().real
        c, s, phase = _rotation(entries[:h], entries[h:], a[:h, h:].diagonal())
        a = adjoint(_turn(adjoint(_turn(a, c, s, phase)), c, s, phase))
        a = where(paired, zero, a)
        v = _turn(v, c, s, phase)
        return a[order][:, order], v[:, order]

    def rest(a: Any) -> Any:
        return squares(where(one, zero, a)).sum() ** 0.5

    def sweep(carry: Any) -> Any:
        i, _, a, v = carry
        a, v = fori_loop(0, n - 1, turn, (a, v))
        return i + 1, rest(a), a, v

    start = (np.int32(0), rest(a), a, np.eye(n, dtype=type_of(a).dtype))
    goes_on = lambda c: (c[1] > eps * whole) & (c[0] < _SWEEPS)  # noqa: E731
    _, _, a, v = while_loop(goes_on, sweep, start)
    return a.diagonal().real, v


def _even(a: Any) -> Any:
    """Square matrices with a row and column of zeros more, if their number is odd."""
    n = type_of(a).shape[0]
    if n % 2 == 0:
        return a
    dtype = type_of(a).dtype
    a = concatenate([a, np.zeros((1, n), dtype)], 0)
    return concatenate([a, np.zeros((n + 1, 1), dtype)], 1)


def hermitian_of(a: Any, low: bool) -> Any:
    """The Hermitian matrix of which one triangle is given."""
    n, zero = type_of(a).shape[0], type_of(a).dtype.type(0)
    part = np.tri(n, n, -1, np.bool_)
    below = where(part if low else part.T, a, zero)
    middle = where(np.eye(n, dtype=np.bool_), number(a.diagonal().real, a), zero)
    return below + adjoint(below) + middle


def _finite(x: Any, outs: list[Any]) -> list[Any]:
    """NaN everywhere for matrices that hold inf or NaN, as LAPACK."""
    fine = (squares(x * 0) == 0).all()
    return [where(fine, y, type_of(y).dtype.type(np.nan)) for y in outs]


def eigh_of(a: Any) -> tuple[Any, Any]:
    """Ascending eigenvalues, and vectors."""
    n = type_of(a).shape[0]
    scale = abs(a).max()
    scale = where(scale > 0, scale, 1)
    w, v = _jacobi(_even(a / scale))
    order = w[:n].argsort()
    return w[:n][order] * scale, v[:n, :n][:, order]


@portable(Eigh, 2)
def eigh(op: Any, a: Any) -> list[Any]:
    """Jacobi's method."""
    a = hermitian_of(a, op.low)
    return _finite(a, list(eigh_of(a)))


def _one_sided(a: Any) -> tuple[Any, Any]:
    """a J with orthogonal columns, and J, for square matrices with an even number of rows."""
    n = type_of(a).shape[0]
    h, order = n // 2, _round(n // 2)
    eps = np.finfo(type_of(a).dtype).eps
    floor = eps * eps * squares(a).sum()

    def turn(_: Any, carry: Any) -> Any:
        a, v, worst = carry
        sizes = squares(a).sum(0)
        between = (a[:, :h].conj() * a[:, h:]).sum(0)
        both = (sizes[:h] * sizes[h:]) ** 0.5
        worst = where(abs(between) > eps * both + floor, 1, 0).max() + worst
        c, s, phase = _rotation(sizes[:h], sizes[h:], between)
        return _turn(a, c, s, phase)[:, order], _turn(v, c, s, phase)[:, order], worst

    def sweep(carry: Any) -> Any:
        i, _, a, v = carry
        a, v, worst = fori_loop(0, n - 1, turn, (a, v, np.int32(0)))
        return i + 1, worst, a, v

    start = (np.int32(0), np.int32(1), a, np.eye(n, dtype=type_of(a).dtype))
    goes_on = lambda c: (c[1] > 0) & (c[0] < _SWEEPS)  # noqa: E731
    _, _, a, v = while_loop(goes_on, sweep, start)
    return a, v


def _completed(x: Any, columns: int) -> Any:
    """Orthonormal columns from orthogonal ones in descending order, of which some may be zero."""
    h, taus = qr_packed(x)
    q, entries = basis(h, taus, columns), h.diagonal()
    size = abs(entries)
    none = size == 0
    phase = where(none, number(size, x) + 1, entries / number(where(none, 1, size), x))
    k = type_of(phase).shape[0]
    return concatenate([q[:, :k] * phase, q[:, k:]], 1) if columns > k else q * phase


def svd_of(a: Any, full: bool) -> tuple[Any, Any, Any]:
    """QR, then one-sided Jacobi on R^H, which is close to diagonal already."""
    m, n = type_of(a).shape
    if m < n:
        s, u, vh = svd_of(adjoint(a), full)
        return s, adjoint(vh), adjoint(u)
    scale = abs(a).max()
    scale = where(scale > 0, scale, 1)
    h, taus = qr_packed(a / scale)
    q = basis(h, taus, m if full else n)
    x, turned = _one_sided(_even(adjoint(upper(h[:n]))))
    x, turned = x[:n, :n], turned[:n, :n]
    sizes = squares(x).sum(0) ** 0.5
    order = (-sizes).argsort()
    v = _completed(x[:, order], n)
    u = product(q[:, :n], turned[:, order])
    if full and m > n:
        u = concatenate([u, q[:, n:]], 1)
    return sizes[order] * scale, u, adjoint(v)


def _by_polar(a: Any, full: bool) -> tuple[Any, Any, Any]:
    """a = W H; with H = V diag(w) V^H, the left vectors are W V."""
    m, n = type_of(a).shape
    if m < n:
        s, u, vh = _by_polar(adjoint(a), full)
        return s, adjoint(vh), adjoint(u)
    w, h, _, _ = polar_of(a, None, None)
    values, v = eigh_of(h)
    values, v = abs(values[::-1]), v[:, ::-1]
    return values, _completed(product(w, v), m if full else n), adjoint(v)


@portable(Svd, 2)
def svd(op: Any, a: Any) -> list[Any]:
    """Jacobi's method, or the polar decomposition and `eigh`."""
    run = _by_polar if op.method == "polar" else svd_of
    found = run(a, op.full)
    return _finite(a, list(found if op.vectors else found[:1]))


def polar_of(a: Any, limit: Any, eps: Any) -> tuple[Any, Any, Any, Any]:
    """Dynamically weighted Halley iteration by QR (Nakatsukasa, Bai and Gygi 2010)."""
    m, n = type_of(a).shape
    real = real_dtype(type_of(a).dtype)
    tiny = real.type(np.finfo(real).eps if eps is None else eps)
    scale = squares(a / where(abs(a).max() > 0, abs(a).max(), 1)).sum() ** 0.5
    scale = scale * where(abs(a).max() > 0, abs(a).max(), 1)
    scale = where(scale > 0, scale, 1)
    one = np.eye(n, dtype=type_of(a).dtype)

    def step(carry: Any) -> Any:
        i, x, low, _ = carry
        low2 = low * low
        cube = (4 * (1 - low2) / (low2 * low2)) ** (1 / 3)
        root = (1 + cube) ** 0.5
        p = root + 0.5 * (8 - 4 * cube + 8 * (2 - low2) / (low2 * root)) ** 0.5
        q = (p - 1) ** 2 / 4
        r = p + q - 1
        h, taus = qr_packed(concatenate([x * number(r**0.5, x), one], 0))
        both = basis(h, taus, n)
        moved = product(both[:m], adjoint(both[m:]))
        new = number(q / r, x) * x + number((p - q / r) / r**0.5, x) * moved
        low = low * (p + q * low2) / (1 + r * low2)
        return i + 1, new, where(low > 1, 1, low).astype(real), squares(new - x).sum() ** 0.5

    most = np.int32(20 if limit is None else limit)
    goal = real.type((4 * tiny) ** (1 / 3))
    start = (np.int32(0), a / scale, tiny, real.type(np.inf))
    goes_on = lambda c: (c[0] < most) & ((c[3] > goal) | (1 - c[2] > 4 * tiny))  # noqa: E731
    count, x, _, change = while_loop(goes_on, step, start)
    h = product(adjoint(x), a)
    half = real.type(0.5)
    return x, (h + adjoint(h)) * half, count, change <= goal


@portable(Polar, 2)
def polar(op: Any, a: Any) -> list[Any]:
    """The factors, the number of steps, and whether they were enough."""
    return list(polar_of(a, op.limit, op.eps))


__all__ = ["eigh_of", "polar_of", "svd_of"]
