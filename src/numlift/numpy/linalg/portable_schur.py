"""Schur form, eigenvalues and eigenvectors of general matrices as array operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...core.tracing import type_of
from ...lax.while_loops import fori_loop, while_loop
from ...ops.linalg_calls import adjoint, product
from ...ops.linalg_similar import Schur
from ...ops.linalg_spectral import Eig
from ...structural.arith import complex_dtype, real_dtype
from ..joining import concatenate
from ..selection import where
from .portable import basis, number, places, portable, squares, taxicab
from .portable import hessenberg as _hessenberg

_STEPS_EACH = 40
"""Limit of the number of QR steps, for each eigenvalue."""


def _givens(x: Any, y: Any) -> tuple[Any, Any]:
    """c (real) and s with c x + s y = r and -conj(s) x + c y = 0."""
    scale = taxicab(x) + taxicab(y)
    none = scale == 0
    scale = where(none, 1, scale)
    x, y = x / scale, y / scale
    size = squares(x)
    whole = where(none, 1, size + squares(y)) ** 0.5
    flat = size == 0
    length = where(flat, 1, size) ** 0.5
    phase = where(flat, number(size, x) + 1, x / length)
    c = where(none, 1, where(flat, 0, length / whole))
    return c, where(none, type_of(x).dtype.type(0), phase * y.conj() / whole)


def _shift(h: Any, at: Any, tries: Any) -> Any:
    """The eigenvalue of the last 2 x 2 block that is closer to its last entry; now and then
    another number, which ends cycles."""
    a, b, c, d = h[at - 1, at - 1], h[at - 1, at], h[at, at - 1], h[at, at]
    middle = (a + d) / 2
    root = ((a - d) * (a - d) / 4 + b * c) ** 0.5
    first, second = middle + root, middle - root
    chosen = where(taxicab(first - d) < taxicab(second - d), first, second)
    odd = d + number(taxicab(c), h) * type_of(h).dtype.type(0.75)
    return where(tries % 10 == 9, odd, chosen)


def _chase(h: Any, z: Any, low: Any, at: Any, shift: Any) -> tuple[Any, Any]:
    """One QR step with a shift on rows low ... at."""
    index = places(type_of(h).shape[0])

    def step(carry: Any) -> Any:
        k, h, z = carry
        first = k == low
        before = where(first, k, k - 1)
        x = where(first, h[k, k] - shift, h[k, before])
        c, s = _givens(x, h[k + 1, before])
        c = number(c, h)
        upper, lower = h[k], h[k + 1]
        h = where(index[:, None] == k, c * upper + s * lower, h)
        h = where(index[:, None] == k + 1, c * lower - s.conj() * upper, h)
        h, z = (_columns(m, k, c, s, index) for m in (h, z))
        return k + 1, h, z

    _, h, z = while_loop(lambda carry: carry[0] < at, step, (low, h, z))
    return h, z


def _columns(m: Any, k: Any, c: Any, s: Any, index: Any) -> Any:
    left, right = m[:, k], m[:, k + 1]
    m = where(index == k, (c * left + s.conj() * right)[:, None], m)
    return where(index == k + 1, (c * right - s * left)[:, None], m)


def schur_of(a: Any) -> tuple[Any, Any, Any]:
    """Triangular T and unitary Z with a = Z T Z^H for complex matrices, and whether all steps
    together were enough: Hessenberg form, then QR steps with shifts."""
    n = type_of(a).shape[0]
    eps = np.finfo(type_of(a).dtype).eps
    zero = type_of(a).dtype.type(0)
    packed, taus = _hessenberg(None, a)
    h = where(np.tri(n, n, -2, np.bool_), zero, packed)
    z = np.eye(n, dtype=type_of(a).dtype)
    if n > 1:
        z = _padded(basis(packed[1:, : n - 1], taus, n - 1))
    index = places(n)
    floor = np.finfo(type_of(a).dtype).tiny * (n / eps)

    def step(carry: Any) -> Any:
        at, tries, total, h, z = carry
        entries = taxicab(h.diagonal())
        below = taxicab(h.diagonal(-1))
        neighbours = entries[1:] + entries[:-1]
        small = below <= eps * neighbours + floor
        cut = (index[:-1] < at) & small
        split = where(cut, index[1:], 0).max(initial=0).astype(index.dtype)
        done = split == at
        clear = (index[:, None] == split) & (index == split - 1) & (split > 0)
        h = where(clear, zero, h)
        shift = _shift(h, where(at > 0, at, 1), tries)
        h, z = _chase(h, z, where(done, at, split), at, shift)
        return (
            where(done, at - 1, at).astype(index.dtype),
            where(done, 0, tries + 1).astype(index.dtype),
            total + 1,
            h,
            z,
        )

    most = np.int32(_STEPS_EACH * n)
    start = (np.int32(n - 1), np.int32(0), np.int32(0), h, z)
    goes_on = lambda c: (c[0] > 0) & (c[2] < most)  # noqa: E731
    at, _, _, h, z = while_loop(goes_on, step, start)
    return where(np.tri(n, n, -1, np.bool_), zero, h), z, at <= 0


def _padded(q: Any) -> Any:
    """1 and then q along the diagonal."""
    n, dtype = type_of(q).shape[0], type_of(q).dtype
    q = concatenate([np.zeros((1, n), dtype), q], 0)
    return concatenate([np.eye(n + 1, 1, dtype=dtype), q], 1)


def _vectors(t: Any) -> Any:
    """Columns x[:, k] with T x = t[k, k] x, T upper triangular: back substitution, all columns at
    once. Equal eigenvalues count as different by the rounding of the largest entry."""
    n = type_of(t).shape[0]
    dtype = type_of(t).dtype
    w = t.diagonal()
    least = taxicab(t).max() * np.finfo(dtype).eps
    least = where(least > 0, least, np.finfo(dtype).tiny)
    index = places(n)

    def step(i: Any, x: Any) -> Any:
        row = n - 1 - i
        known = (where(index > row, t[row], dtype.type(0))[:, None] * x).sum(0)
        gap = t[row, row] - w
        gap = where(taxicab(gap) < least, number(least, t), gap)
        found = where(index > row, -known / gap, dtype.type(0))
        return where(index[:, None] == row, found + (index == row), x)

    return fori_loop(0, n, step, np.zeros((n, n), dtype))


def _normal(v: Any) -> Any:
    """Columns of norm 1 whose largest component is real, as LAPACK's."""
    scale = taxicab(v).max(0)
    v = v / number(where(scale > 0, scale, 1), v)
    size = squares(v)
    n = type_of(v).shape[0]
    place = places(n)[:, None] == size.argmax(0)
    largest = where(place, v, type_of(v).dtype.type(0)).sum(0)
    v = v * (largest.conj() / number(abs(largest), v))
    v = v / number(squares(v).sum(0) ** 0.5, v)
    return where(place, number(v.real, v), v)


@portable(Eig, 2)
def eig(op: Any, a: Any) -> list[Any]:
    """Schur form, then back substitution."""
    dtype = complex_dtype(real_dtype(type_of(a).dtype))
    a = a.astype(dtype)
    t, z, fine = schur_of(a)
    outs = [t.diagonal()]
    if op.left:
        # Left vectors are right ones of T^H, which is upper triangular when read backwards.
        back = _vectors(adjoint(t)[::-1, ::-1])[::-1, ::-1]
        outs.append(_normal(product(z, back)))
    if op.right:
        outs.append(_normal(product(z, _vectors(t))))
    fine = fine & (squares(a * 0) == 0).all()
    return [where(fine, y, dtype.type(complex(np.nan, np.nan))) for y in outs]


@portable(Schur, 2)
def schur(op: Any, a: Any) -> list[Any]:
    """The complex Schur form."""
    dtype = type_of(a).dtype
    if dtype.kind != "c":
        raise errors.DeviceError(
            errors.explain(
                "schur",
                "the real Schur form is found on CPU only",
                {"x": type_of(a)},
                try_="x.astype(np.complex64), or nl.device_put(x, nl.devices('cpu')[0])",
            )
        )
    t, z, fine = schur_of(a)
    fine = fine & (squares(a * 0) == 0).all()
    return [where(fine, y, dtype.type(complex(np.nan, np.nan))) for y in (t, z)[: 1 + op.vectors]]


__all__ = ["schur_of"]
