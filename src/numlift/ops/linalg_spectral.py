"""Eigenvalues and singular values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dims import min_size
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..structural.arith import (
    add,
    complex_,
    complex_dtype,
    convert,
    imag,
    mul,
    real,
    real_dtype,
    select,
    sub,
)
from ..structural.shape import ReduceSum
from .compare import eq
from .elementwise_misc import stop_gradient
from .linalg_calls import (
    MatrixOp,
    adjoint,
    columns,
    conjugated,
    diagonal,
    identity,
    info_of,
    lapack,
    masked,
    option,
    or_nan,
    product,
    rows,
    safe_reciprocal,
    times,
)
from .linalg_factors import Lu, LuSolve
from .reductions import ReduceMax


class Eigh(MatrixOp):
    """Ascending eigenvalues and eigenvectors of Hermitian matrices, of which a triangle is read."""

    square = True
    low: bool

    def cores(self, *types: ArrayType) -> Any:
        n, dtype = types[0].shape[-1], types[0].dtype
        return [((n,), real_dtype(dtype)), ((n, n), dtype)]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """dw = diag(V^H da V); dV = V (F * V^H da V), F[i, j] = 1 / (w[j] - w[i]), or 0."""
        w, v = apply(self, primals[0])
        inner = product(adjoint(v), product(tangents[0], v))
        dtype = type_of(v).dtype
        wide = convert(w, dtype)
        gaps = safe_reciprocal(apply(sub, columns(wide, inner), rows(wide, inner)))
        return [w, v], [_real(diagonal(inner)), product(v, times(gaps, inner))]

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        self.refuse_platform(ctx)
        (x,), (w, v) = types, outs
        if not x.size:
            return [ctx.full(0, w), ctx.full(0, v)]
        name = "heevd" if x.kind == "c" else "syevd"
        options = f"{option('mode', 'V')}, {option('uplo', 'L' if self.low else 'U')}"
        vectors, values, info = lapack(
            ctx, name, [(operands[0], x, True)],
            [(v, True), (w, False), (info_of(x), False)], options,
        )  # fmt: skip
        n = x.ndim - 2
        return [or_nan(ctx, values, w, info, n), or_nan(ctx, vectors, v, info, n)]


def _real(x: Any) -> Any:
    return apply(real, x) if type_of(x).kind == "c" else x


class Svd(MatrixOp):
    """Singular values (descending), then U and V^H if `vectors`: a = U diag(s) V^H."""

    full: bool
    vectors: bool

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
        if self.vectors and self.full and m != n:
            raise self.no_derivative(
                "singular vectors beyond the singular values are not determined by the matrix",
                "full_matrices=False",
            )
        s, u, vh = apply(Svd.of(False, True), a)
        inner = product(adjoint(u), product(da, adjoint(vh)))
        ds = _real(diagonal(inner))
        if not self.vectors:
            return [s], [ds]
        du, dvh = _turned(a, da, s, u, vh, inner)
        return [s, u, vh], [ds, du, dvh]

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        self.refuse_platform(ctx)
        (x,), s = types, outs[0]
        batch, (m, n) = x.shape[:-2], x.shape[-2:]
        k = min_size(m, n)
        p, q = (m, n) if self.full else (k, k)
        u, vh = array_type((*batch, m, p), x.dtype), array_type((*batch, q, n), x.dtype)
        mode = ("A" if self.full else "S") if self.vectors else "N"
        status = info_of(x)
        _, values, left, right, info = lapack(
            ctx, "gesdd", [(operands[0], x, True)],
            [(x, True), (s, False), (u, True), (vh, True), (status, False)],
            option("mode", mode),
        )  # fmt: skip
        found = [values, left, right][: len(outs)]
        if not x.size:
            return found
        return [or_nan(ctx, y, t, info, x.ndim - 2) for y, t in zip(found, outs, strict=True)]


def _turned(a: Any, da: Any, s: Any, u: Any, vh: Any, inner: Any) -> tuple[Any, Any]:
    """Tangents of U and V^H; with equal singular values, those of functions that depend on the
    subspaces only."""
    t = type_of(a)
    m, n = t.shape[-2:]
    k = min_size(m, n)
    wide = convert(s, t.dtype)
    across, down = columns(wide, inner), rows(wide, inner)
    squares = apply(mul, apply(sub, across, down), apply(add, across, down))
    gaps = safe_reciprocal(squares)
    back = adjoint(inner)
    left = times(gaps, apply(add, times(inner, across), times(down, back)))
    right = times(gaps, apply(add, times(down, inner), times(back, across)))
    inverse = safe_reciprocal(wide)
    if t.kind == "c":
        left = apply(add, left, _phases(inner, back, inverse))
    du, dv = product(u, left), product(adjoint(vh), right)
    if m > k:
        moved = product(da, adjoint(vh))
        rest = apply(sub, moved, product(u, inner))
        du = apply(add, du, times(rest, columns(inverse, rest)))
    if n > k:
        moved = product(adjoint(da), u)
        rest = apply(sub, moved, product(adjoint(vh), back))
        dv = apply(add, dv, times(rest, columns(inverse, rest)))
    return du, adjoint(dv)


def _phases(inner: Any, back: Any, inverse: Any) -> Any:
    """Diagonal part of U^H dU: the imaginary part of the diagonal of U^H da V, over s."""
    half = type_of(inner).dtype.type(0.5)
    odd = times(apply(mul, apply(sub, inner, back), half), rows(inverse, inner))
    return masked(odd, identity(type_of(odd).shape[-1], np.bool_))


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

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        self.refuse_platform(ctx)
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
    gaps = safe_reciprocal(apply(sub, columns(w, inner), rows(w, inner)))
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
