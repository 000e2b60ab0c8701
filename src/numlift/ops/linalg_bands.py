"""Tridiagonal systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import add, neg, sub
from ..structural.families import is_linear
from ..structural.shape import broadcast, full
from .linalg_calls import (
    SOLVERS,
    MatrixOp,
    info_of,
    kernel,
    lapack,
    or_nan,
    times,
)
from .shape import Concatenate
from .slicing import Slice


class TridiagonalSolve(MatrixOp):
    """x with T x = b, T by its diagonals, all of length n; linear in b.

    The first element of the lower and the last of the upper diagonal are not used.
    """

    multi = False
    perturb: bool

    def check(self, types: Sequence[ArrayType]) -> None:
        b = types[3]
        super().check([b, *types[:3]])
        if any(t.shape != b.shape[:-1] for t in types[:3]):
            raise errors.ShapeError(
                errors.explain(
                    self.name,
                    "the diagonals must have the shape of a column of b, one entry a row",
                    {"dl": types[0], "d": types[1], "du": types[2], "b": b},
                )
            )

    def out_type(self, *types: ArrayType) -> ArrayType:
        self.check(types)
        b = types[3]
        entries = self._batch_entries([b, *types[:3]])
        sharding = None
        if entries is not None:
            sharding = rules.named(rules.mesh_of(types), [*entries, None, None])
        return array_type(b.shape, b.dtype, False, sharding)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """T dx = db - dT x."""
        dl, d, du, b = primals
        x = apply(self, dl, d, du, b)
        moved, db = _times(tangents[:3], x), tangents[3]
        if moved is not None:
            db = apply(neg, moved) if db is None else apply(sub, db, moved)
        return x, None if db is None else apply(self, dl, d, du, db)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        dl, d, du, b = inputs
        if not is_linear(b) or is_linear(dl) or is_linear(d) or is_linear(du):
            raise self.no_derivative("a solution is linear in b only", "nl.grad, nl.jvp")
        return None, None, None, apply(self, _moved(du, 1, 0), d, _moved(dl, -1, 0), ct)

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        b = types[3]
        if not b.size:
            return operands[3]
        ins = [(x, t, i == 3) for i, (x, t) in enumerate(zip(operands, types, strict=True))]
        if self.perturb:
            return kernel(ctx, "tridiagonal_solve_perturbed_ffi", ins, [(b, True)], "", ())[0]
        results = [*((t, False) for t in types[:3]), (b, True), (info_of(b), False)]
        aliases = tuple((i, i) for i in range(4))
        *_, x, info = lapack(ctx, "gtsv", ins, results, "", aliases)
        return or_nan(ctx, x, b, info, b.ndim - 2)

    def lower_solver(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> Any:
        b = types[3]
        if self.perturb or b.shape[-2] < _LEAST:
            return None
        ins = [(x, t, i == 3) for i, (x, t) in enumerate(zip(operands, types, strict=True))]
        _, sparse = SOLVERS[ctx.platform]
        # These kernels want zeros in the places that are not used.
        for i, at in ((0, 0), (2, -1)):
            ins[i] = (_with_zero(ctx, operands[i], types[i], at), types[i], False)
        return kernel(ctx, f"{sparse}_gtsv2_ffi", ins, [(b, True)], "", ((3, 0),))[0]


_LEAST = 3
"""The kernels on GPUs need this many rows."""


def _with_zero(ctx: Any, x: str, t: ArrayType, at: int) -> str:
    """Vectors with 0 at their first or last place."""
    n = t.shape[-1]
    one, scalar = array_type((*t.shape[:-1], 1), t.dtype), array_type((), "int32")
    start = [ctx.full(0, scalar)] * (t.ndim - 1) + [ctx.full(at % n, scalar)]
    return str(
        ctx.emit(
            f"stablehlo.dynamic_update_slice {x}, {ctx.full(0, one)}, {', '.join(start)} : "
            f"({t.mlir}, {one.mlir}, {', '.join([scalar.mlir] * t.ndim)}) -> {t.mlir}"
        )
    )


def _moved(x: Any, step: int, axis_from_end: int) -> Any:
    """x[i - step] along an axis counted from the end, with zeros moving in."""
    t = type_of(x)
    axis = t.ndim - 1 - axis_from_end
    n = t.shape[axis]
    low, high = (0, n - 1) if step > 0 else (1, n)
    start, stop = [0] * t.ndim, list(t.shape)
    start[axis], stop[axis] = low, high
    kept = apply(Slice.of(tuple(start), tuple(stop)), x)
    shape = (*t.shape[:axis], 1, *t.shape[axis + 1 :])
    edge = full(array_type(shape, t.dtype, False, t.sharding))
    return apply(Concatenate.of(axis), *((edge, kept) if step > 0 else (kept, edge)))


def _times(diagonals: Sequence[Any], x: Any) -> Any:
    """Tridiagonal matrices, of which diagonals may be None, times x."""
    total = None
    shape, sharding = type_of(x).shape, type_of(x).sharding
    for d, step in zip(diagonals, (1, 0, -1), strict=True):
        if d is not None:
            wide = broadcast(d, shape, tuple(range(len(shape) - 1)), sharding)
            term = times(wide, _moved(x, step, 1) if step else x)
            total = term if total is None else apply(add, total, term)
    return total
