"""Eigenvalues and singular values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dims import Dim, min_size
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..structural.arith import (
    add,
    complex_,
    complex_dtype,
    conj,
    conjugated,
    convert,
    imag,
    mul,
    neg,
    real,
    real_dtype,
    select,
    sub,
)
from ..structural.shape import ReduceSum, broadcast
from .compare import eq, le
from .elementwise import abs_
from .elementwise_misc import stop_gradient
from .linalg_calls import (
    SOLVERS,
    MatrixOp,
    adjoint,
    columns,
    diagonal,
    flag,
    info_of,
    lapack,
    option,
    or_nan,
    product,
    rows,
    safe_reciprocal,
    solver,
    times,
    window,
)
from .linalg_factors import Lu, LuSolve, joined, part
from .reductions import ReduceMax


class Eigh(MatrixOp):
    """Ascending eigenvalues and eigenvectors of Hermitian matrices, of which a triangle is read."""

    square = True
    low: bool
    method: str = "default"

    def cores(self, *types: ArrayType) -> Any:
        n, dtype = types[0].shape[-1], types[0].dtype
        return [((n,), real_dtype(dtype)), ((n, n), dtype)]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """dw = diag(V^H da V); dV = V (F * V^H da V), F[i, j] = 1 / (w[j] - w[i]), or 0 where the
        eigenvalues are equal to rounding."""
        w, v = apply(self, primals[0])
        inner = product(adjoint(v), product(tangents[0], v))
        dtype = type_of(v).dtype
        wide = convert(w, dtype)
        gaps = inverse_gaps(wide, inner)
        return [w, v], [_real(diagonal(inner)), product(v, times(gaps, inner))]

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        if self.method == "jacobi" and types[0].size and ctx.platform not in SOLVERS:
            return list(self.lower_portable(ctx, operands, types, outs))
        return list(super().lower(ctx, operands, types, outs))

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,), (w, v) = types, outs
        if not x.size:
            return [ctx.full(0, w), ctx.full(0, v)]
        name = "heevd" if x.kind == "c" else "syevd"
        options = f"{option('mode', 'V')}, {option('uplo', 'L' if self.low else 'U')}"
        return self._by(lapack, name, options, ctx, operands, types, outs)

    def lower_solver(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        which = {"default": 0, "qr": 1, "jacobi": 2}[self.method]
        options = f"algorithm = {which} : ui8, {flag('lower', self.low)}"
        return self._by(solver, "syevd", options, ctx, operands, types, outs)

    def _by(
        self, call: Any, name: str, options: str, ctx: Any, operands: Any, types: Any, outs: Any
    ) -> list[str]:
        (x,), (w, v) = types, outs
        vectors, values, info = call(
            ctx, name, [(operands[0], x, True)],
            [(v, True), (w, False), (info_of(x), False)], options,
        )  # fmt: skip
        n = x.ndim - 2
        return [or_nan(ctx, values, w, info, n), or_nan(ctx, vectors, v, info, n)]


def inverse_gaps(w: Any, like: Any) -> Any:
    """1 / (w[j] - w[i]) as matrices; 0 where that is below the rounding of the largest |w|."""
    differences = apply(sub, columns(w, like), rows(w, like))
    size = _size(w)
    t = type_of(size)
    n = t.shape[-1]
    if type(n) is not Dim and n:
        largest = apply(ReduceMax.of((t.ndim - 1,)), size)
        limit = apply(mul, largest, t.dtype.type(n * np.finfo(t.dtype).eps))
        gap = _size(differences)
        spread = broadcast(
            limit,
            type_of(gap).shape,
            tuple(range(t.ndim - 1)),
            t.sharding and type_of(gap).sharding,
        )
        kind = type_of(differences).dtype.type
        differences = apply(select, apply(le, gap, spread), differences, kind(0))
    return safe_reciprocal(differences)


def _size(x: Any) -> Any:
    """Sizes of numbers without derivative: |re| + |im|."""
    x = apply(stop_gradient, x)
    if type_of(x).kind != "c":
        return apply(abs_, x)
    return apply(add, apply(abs_, apply(real, x)), apply(abs_, apply(imag, x)))


def _real(x: Any) -> Any:
    return apply(real, x) if type_of(x).kind == "c" else x


class Svd(MatrixOp):
    """Singular values (descending), then U and V^H if `vectors`: a = U diag(s) V^H."""

    full: bool
    vectors: bool
    method: str = "default"

    def cores(self, *types: ArrayType) -> Any:
        (m, n), dtype = types[0].shape[-2:], types[0].dtype
        k = min_size(m, n)
        values = ((k,), real_dtype(dtype))
        if not self.vectors:
            return [values]
        p, q = (m, n) if self.full else (k, k)
        return [values, ((m, p), dtype), ((q, n), dtype)]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        a, da = primals[0], tangents[0]
        m, n = type_of(a).shape[-2:]
        k = min_size(m, n)
        if not self.vectors:
            s, u, vh = apply(Svd.of(False, True, self.method), a)
            inner = product(adjoint(u), product(da, adjoint(vh)))
            return [s], [_real(diagonal(inner))]
        s, u, vh = apply(self, a)
        whole_u, whole_vh = u, vh
        extra_u, extra_v = self.full and not _same(m, k), self.full and not _same(n, k)
        if extra_u:
            u = part(u, (0, m), (0, k))
        if extra_v:
            vh = part(vh, (0, k), (0, n))
        inner = product(adjoint(u), product(da, adjoint(vh)))
        du, dv = _turned(da, s, u, vh, inner)
        if extra_u:
            du = joined(du, _carried(u, du, part(whole_u, (0, m), (k, m))), -1)
        if extra_v:
            v, rest = adjoint(vh), adjoint(part(whole_vh, (k, n), (0, n)))
            dv = joined(dv, _carried(v, dv, rest), -1)
        return [s, whole_u, whole_vh], [_real(diagonal(inner)), du, adjoint(dv)]

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        portable = self.method == "polar" or (
            self.method == "jacobi" and ctx.platform not in SOLVERS
        )
        if portable and types[0].size:
            return list(self.lower_portable(ctx, operands, types, outs))
        return list(super().lower(ctx, operands, types, outs))

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,), s = types, outs[0]
        batch, (m, n) = x.shape[:-2], x.shape[-2:]
        k = min_size(m, n)
        p, q = (m, n) if self.full else (k, k)
        u, vh = array_type((*batch, m, p), x.dtype), array_type((*batch, q, n), x.dtype)
        mode = ("A" if self.full else "S") if self.vectors else "N"
        status = info_of(x)
        _, values, left, right, info = lapack(
            ctx, "gesvd" if self.method == "qr" else "gesdd", [(operands[0], x, True)],
            [(x, True), (s, False), (u, True), (vh, True), (status, False)],
            option("mode", mode),
        )  # fmt: skip
        found = [values, left, right][: len(outs)]
        if not x.size:
            return found
        return [or_nan(ctx, y, t, info, x.ndim - 2) for y, t in zip(found, outs, strict=True)]

    def lower_solver(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> Any:
        """gesvdj (Jacobi) up to 1024 rows and columns, which gives V, else gesvd."""
        (x,), s = types, outs[0]
        m, n = x.shape[-2:]
        if self.method == "qr" or (self.method == "default" and max(m, n) > _JACOBI_LIMIT):
            return self._by_gesvd(ctx, operands[0], x, outs)
        batch = x.shape[:-2]
        u, v = array_type((*batch, m, m), x.dtype), array_type((*batch, n, n), x.dtype)
        options = f"{flag('compute_uv', self.vectors)}, {flag('full_matrices', True)}"
        _, values, left, right, info = solver(
            ctx, "gesvdj", [(operands[0], x, True)],
            [(x, True), (s, False), (u, True), (v, True), (info_of(x), False)], options,
        )  # fmt: skip
        found = [values]
        if self.vectors:
            right = _adjoint_text(ctx, right, v)
            found += [window(ctx, left, u, outs[1]), window(ctx, right, v, outs[2])]
        return [or_nan(ctx, y, t, info, x.ndim - 2) for y, t in zip(found, outs, strict=True)]

    def _by_gesvd(self, ctx: Any, name: str, x: ArrayType, outs: Any) -> list[str]:
        """gesvd wants m >= n: wide matrices are passed as their transposes, row by row."""
        batch, (m, n) = x.shape[:-2], x.shape[-2:]
        k, wide = min_size(m, n), m < n
        p, q = (m, n) if self.full or not self.vectors else (k, k)
        u, vh = array_type((*batch, m, p), x.dtype), array_type((*batch, q, n), x.dtype)
        first, second = (vh, u) if wide else (u, vh)
        options = ", ".join(
            (
                flag("compute_uv", self.vectors),
                flag("full_matrices", self.full or not self.vectors),
                flag("transposed", wide),
            )
        )
        tall = not wide
        _, values, one, two, info = solver(
            ctx, "gesvd", [(name, x, tall)],
            [(x, tall), (outs[0], False), (first, tall), (second, tall), (info_of(x), False)],
            options,
        )  # fmt: skip
        left, right = (two, one) if wide else (one, two)
        found = [values, left, right][: len(outs)]
        return [or_nan(ctx, y, t, info, x.ndim - 2) for y, t in zip(found, outs, strict=True)]


_JACOBI_LIMIT = 1024


def _same(m: Any, k: Any) -> bool:
    return m is k or bool(m == k)


def _adjoint_text(ctx: Any, x: str, t: ArrayType) -> str:
    """Conjugate transpose of square matrices."""
    order = [*range(t.ndim - 2), t.ndim - 1, t.ndim - 2]
    x = ctx.emit(f"stablehlo.transpose {x}, dims = {order} : ({t.mlir}) -> {t.mlir}")
    return str(conj.lower(ctx, [x], [t], [t])) if t.kind == "c" else x


def _carried(basis: Any, change: Any, rest: Any) -> Any:
    """Tangent of vectors that stay orthogonal to a basis and do not turn among themselves."""
    return apply(neg, product(basis, product(adjoint(change), rest)))


def _turned(da: Any, s: Any, u: Any, vh: Any, inner: Any) -> tuple[Any, Any]:
    """Tangents of U and V, with F[i, j] = 1 / (s[j] - s[i]), or 0, and G[i, j] = 1 / (s[j] + s[i]):

    U^H dU = (F * (P + P^H) + G * (P - P^H)) / 2 and V^H dV = (F * (P + P^H) - G * (P - P^H)) / 2,
    P = U^H da V. What turns U against V thus does not depend on gaps. With equal singular values
    these are the tangents of functions that depend on their common subspaces only.
    """
    t = type_of(da)
    m, n = t.shape[-2:]
    k = min_size(m, n)
    wide = convert(s, t.dtype)
    half = t.dtype.type(0.5)
    back = adjoint(inner)
    total = apply(add, columns(wide, inner), rows(wide, inner))
    same = times(apply(mul, apply(add, inner, back), half), inverse_gaps(wide, inner))
    odd = times(apply(mul, apply(sub, inner, back), half), safe_reciprocal(total))
    du, dv = product(u, apply(add, same, odd)), product(adjoint(vh), apply(sub, same, odd))
    inverse = safe_reciprocal(wide)
    if not _same(m, k):
        rest = apply(sub, product(da, adjoint(vh)), product(u, inner))
        du = apply(add, du, times(rest, columns(inverse, rest)))
    if not _same(n, k):
        rest = apply(sub, product(adjoint(da), u), product(adjoint(vh), back))
        dv = apply(add, dv, times(rest, columns(inverse, rest)))
    return du, dv


class Eig(MatrixOp):
    """Eigenvalues of square matrices, then left and right eigenvectors if asked for; complex."""

    square = True
    left: bool
    right: bool
    vector_derivatives: bool = True

    def cores(self, *types: ArrayType) -> Any:
        n, dtype = types[0].shape[-1], types[0].dtype
        dtype = complex_dtype(real_dtype(dtype))
        return [((n,), dtype), *[((n, n), dtype)] * (self.left + self.right)]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """With C = V^-1 da V: dw = diag(C); dV = V (F * C) with F[i, j] = 1 / (w[j] - w[i]), or 0,
        made to keep what LAPACK fixes in each vector. Left vectors are right ones of a^H."""
        if (self.left or self.right) and not self.vector_derivatives:
            raise self.no_derivative(
                "enable_eigvec_derivs=False forbids derivatives of eigenvectors",
                "enable_eigvec_derivs=True",
            )
        da = convert(tangents[0], complex_dtype(real_dtype(type_of(tangents[0]).dtype)))
        w, *left, v = apply(Eig.of(self.left, True, self.vector_derivatives), primals[0])
        inner = _in_basis(v, da)
        outs, tangents_out = [w], [diagonal(inner)]
        if self.left:
            outs += left
            back = _in_basis(left[0], adjoint(da))
            tangents_out.append(_turned_eigenvectors(conjugated(w), left[0], back))
        if self.right:
            outs.append(v)
            tangents_out.append(_turned_eigenvectors(w, v, inner))
        return outs, tangents_out

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        (x,), w = types, outs[0]
        v = array_type(x.shape, w.dtype)
        if not x.size:
            return [ctx.full(0, t) for t in outs]
        options = (
            f"{option('compute_left', 'V' if self.left else 'N')}, "
            f"{option('compute_right', 'V' if self.right else 'N')}"
        )
        part = array_type(w.shape, x.dtype)
        values = [(part, False)] * (1 if x.kind == "c" else 2)
        results = [*values, (v, True), (v, True), (info_of(x), False)]
        *found, left, right, info = lapack(
            ctx, "geev", [(operands[0], x, True)], results, options, ()
        )
        value = found[0]
        if x.kind != "c":
            value = ctx.emit(
                f"stablehlo.complex {found[0]}, {found[1]} : ({part.mlir}, {part.mlir}) -> {w.mlir}"
            )
        kept = [value, *[left] * self.left, *[right] * self.right]
        return [or_nan(ctx, y, t, info, x.ndim - 2) for y, t in zip(kept, outs, strict=True)]


def _in_basis(v: Any, da: Any) -> Any:
    """V^-1 da V."""
    lu, _, order = apply(Lu.of(), apply(stop_gradient, v))
    return apply(LuSolve.of(False), v, lu, order, product(da, v))


def _turned_eigenvectors(w: Any, v: Any, inner: Any) -> Any:
    """Tangents of eigenvectors of norm 1 whose largest component is real.

    A vector may be changed by any factor, so that adding a multiple of it to its tangent is free.
    The real part of the multiple keeps the norm, the imaginary part the component real. Vectors of
    equal eigenvalues are not mixed, as in `Eigh`.
    """
    gaps = inverse_gaps(w, inner)
    moved = product(v, times(gaps, inner))
    stretch = apply(real, diagonal(product(adjoint(v), moved)))
    turn = _summed(times(_pivots(v), apply(imag, moved)))
    return apply(sub, moved, times(v, columns(apply(complex_, stretch, turn), v)))


def _pivots(v: Any) -> Any:
    """1 over the largest component of each column, at its place; 0 elsewhere.

    LAPACK makes the imaginary part of the largest component an exact zero. Of components of equal
    size (both in a rotation by 90 degrees, for example) it is therefore the one that is real.
    """
    fixed = apply(stop_gradient, v)
    part = apply(real, fixed)
    kind = type_of(part).dtype.type
    is_real = apply(eq, apply(imag, fixed), kind(0))
    size = apply(select, is_real, kind(-1), times(part, part))
    axis = type_of(size).ndim - 2
    largest = apply(eq, size, columns(apply(ReduceMax.of((axis,)), size), size))
    found = apply(real, v)
    weight = apply(select, largest, kind(0), found)
    return times(weight, columns(safe_reciprocal(_summed(times(weight, weight))), weight))


def _summed(x: Any) -> Any:
    """Sums of the columns of matrices."""
    return apply(ReduceSum.of((type_of(x).ndim - 2,)), x)
