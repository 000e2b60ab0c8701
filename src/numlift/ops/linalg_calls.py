"""What operations on matrices share: LAPACK calls in StableHLO, and products of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .. import errors
from ..config import current as state
from ..core.dims import Dim, min_size
from ..core.op import Op
from ..core.staging import trace_to_graph
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import conjugated, convert, mul, select, sub
from ..structural.constant import closed
from ..structural.families import batch_first, check_same_dtype
from ..structural.shape import Broadcast, Transpose, broadcast, reshape
from .call import Call, call_of
from .compare import eq, ge, le
from .dot import DotGeneral
from .elementwise_binary import div
from .precision import Precision
from .shape import Iota
from .slicing import Slice

I32 = np.dtype(np.int32)
SOLVERS = {"cuda": ("cusolver", "cusparse"), "rocm": ("hipsolver", "hipsparse")}
"""Prefixes of the kernels for dense and tridiagonal matrices on GPUs."""
PORTABLE: dict[type[Op], Callable[..., Sequence[Any]]] = {}
"""Algorithms as array operations; `numlift.lax.linalg_portable` and its neighbours fill it."""
_PREFIX = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}
_ALIAS = (
    "#stablehlo.output_operand_alias<output_tuple_indices = [{out}], operand_index = {operand}, "
    "operand_tuple_indices = []>"
)


class MatrixOp(Op):
    """Operation on the matrices in the last two axes of its operands; other axes are batches."""

    multi = True
    square: ClassVar[bool] = False

    def cores(self, *types: ArrayType) -> list[tuple[tuple[int, ...], Any]]:
        """Shape without batch axes, and dtype, of each result."""
        raise NotImplementedError

    def out_type(self, *types: ArrayType) -> Any:
        self.check(types)
        batch = types[0].shape[:-2]
        entries = self._batch_entries(types)
        outs = []
        for shape, dtype in self.cores(*types):
            sharding = None
            if entries is not None:
                sharding = rules.named(rules.mesh_of(types), [*entries, *[None] * len(shape)])
            outs.append(array_type((*batch, *shape), dtype, False, sharding))
        return outs if self.multi else outs[0]

    def check(self, types: Sequence[ArrayType]) -> None:
        """Raise unless operands are matrices of one of LAPACK's dtypes."""
        for i, t in enumerate(types):
            if t.dtype.str[1:] not in _PREFIX:
                raise errors.DTypeError(
                    errors.explain(
                        self.name,
                        f"operand {i} must be float32, float64, complex64 or complex128",
                        {f"operand {j}": u for j, u in enumerate(types)},
                        try_="x.astype(np.float32)",
                    )
                )
        check_same_dtype(self, types)
        x = types[0]
        if x.ndim < 2 or (self.square and x.shape[-1] != x.shape[-2]):
            kind = "square matrices" if self.square else "matrices"
            raise errors.ShapeError(
                errors.explain(self.name, f"the last two axes must hold {kind}", {"a": x})
            )

    def _batch_entries(self, types: Sequence[ArrayType]) -> list[Any] | None:
        """Mesh axes of the batch axes; an error if matrices are split over devices."""
        if all(t.sharding is None for t in types):
            return None
        merged: list[Any] = [None] * (types[0].ndim - 2)
        for i, t in enumerate(types):
            spec, n = rules.spec_of(t), types[0].ndim - 2
            if any(e is not None for e in spec[n:]):
                raise errors.ShardingError(
                    errors.explain(
                        self.name,
                        f"the axes of the matrices of operand {i} are sharded, and each device "
                        "needs whole matrices",
                        {f"operand {j}": u for j, u in enumerate(types)},
                        try_="nl.reshard(x, P(...)) with None for these axes",
                    )
                )
            for j, entry in enumerate(spec[:n]):
                if merged[j] is not None and entry is not None and merged[j] != entry:
                    raise rules.conflict(self.name, "batch axes are sharded differently", types)
                merged[j] = entry if merged[j] is None else merged[j]
        return merged

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        moved = [batch_first(x, d, size) for x, d in zip(args, dims, strict=True)]
        outs = apply(self, *moved)
        return outs, [0] * len(outs) if self.multi else 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> Any:
        """LAPACK on CPU, the vendor's solver on GPUs where it has the function, else the portable
        algorithm."""
        if ctx.platform == "cpu" or not all(t.size for t in types):
            return self.lower_lapack(ctx, operands, types, outs)
        if ctx.platform in SOLVERS:
            found = self.lower_solver(ctx, operands, types, outs)
            if found is not None:
                return found
        return self.lower_portable(ctx, operands, types, outs)

    def lower_lapack(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> Any:
        """By LAPACK."""
        raise NotImplementedError

    def lower_solver(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> Any:
        """By cuSOLVER or hipSOLVER; None if they lack the function."""
        return None

    def lower_portable(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> Any:
        """By array operations only."""
        plain = tuple(array_type(t.shape, t.dtype) for t in types)
        found = ctx.inline(algorithm(self, plain, state()).graph, operands)
        return found if self.multi else found[0]

    def no_derivative(self, why: str, try_: str) -> errors.GradError:
        """The error for results whose derivative is not defined."""
        return errors.GradError(errors.explain(f"derivative of {self.name}", why, try_=try_))


class ByAlgorithm(MatrixOp):
    """Differentiated through its portable algorithm."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        found = algorithm(self, tuple(map(type_of, primals)), state()).jvp(primals, tangents)
        return found if self.multi else (found[0][0], found[1][0])

    def linearize(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        call = algorithm(self, tuple(map(type_of, primals)), state())
        found = call.linearize(primals, tangents)
        return found if self.multi else (found[0][0], found[1][0])


@lru_cache(maxsize=1024)
def algorithm(op: MatrixOp, types: tuple[ArrayType, ...], flags: Any) -> Call:
    """A call of the portable algorithm of an operation."""
    run = PORTABLE[type(op)]
    graph, captured = trace_to_graph(lambda *xs: list(run(op, *xs)), types, name=op.name)
    return call_of(closed(graph, captured))


# ---- LAPACK ----------------------------------------------------------------------------------


def _layout(t: ArrayType, matrix: bool) -> str:
    n = t.ndim
    order = [n - 2, n - 1, *range(n - 3, -1, -1)] if matrix else list(range(n - 1, -1, -1))
    return f"dense<{order}> : tensor<{n}xindex>" if n else "dense<> : tensor<0xindex>"


def option(name: str, character: str) -> str:
    """An option of a LAPACK function, as an attribute."""
    return f"{name} = {ord(character)} : ui8"


def window(ctx: Any, x: str, t: ArrayType, out: ArrayType) -> str:
    """The first elements of an array along each axis, as a StableHLO operand."""
    if t.shape == out.shape:
        return x
    ranges = ", ".join(f"0:{n}" for n in out.shape)
    return str(ctx.emit(f"stablehlo.slice {x} [{ranges}] : ({t.mlir}) -> {out.mlir}"))


def info_of(t: ArrayType) -> ArrayType:
    """Type of LAPACK's status of each matrix."""
    return array_type(t.shape[:-2], I32)


def lapack(
    ctx: Any,
    function: str,
    operands: Sequence[tuple[str, ArrayType, bool]],
    outs: Sequence[tuple[ArrayType, bool]],
    options: str = "",
    aliases: Sequence[tuple[int, int]] = ((0, 0),),
) -> list[str]:
    """Call a LAPACK function; types come with whether they are matrices (columns first).

    `aliases` are pairs (operand, result) that share memory.
    """
    t = operands[0][1]
    if any(u.size == 0 for u in [t, *[u for u, _ in outs[:1]]]):
        return [_of_nothing(ctx, u) for u, _ in outs]
    target = f"lapack_{_PREFIX[t.dtype.str[1:]]}{function}_ffi"
    return kernel(ctx, target, operands, outs, options, aliases)


def kernel(
    ctx: Any,
    target: str,
    operands: Sequence[tuple[str, ArrayType, bool]],
    outs: Sequence[tuple[ArrayType, bool]],
    options: str = "",
    aliases: Sequence[tuple[int, int]] = ((0, 0),),
) -> list[str]:
    """Call a kernel by its name; the arguments are those of `lapack`."""
    many = len(outs) > 1
    shared = ", ".join(_ALIAS.format(out=o if many else "", operand=i) for i, o in aliases)
    ins = ", ".join(u.mlir for _, u, _ in operands)
    results = ", ".join(u.mlir for u, _ in outs)
    return list(
        ctx.emit_many(
            f"stablehlo.custom_call @{target}({', '.join(n for n, _, _ in operands)}) "
            f"{{api_version = 4 : i32, backend_config = {{{options}}}, "
            f"operand_layouts = [{', '.join(_layout(u, m) for _, u, m in operands)}], "
            f"result_layouts = [{', '.join(_layout(u, m) for u, m in outs)}], "
            f"output_operand_aliases = [{shared}]}} : ({ins}) -> ({results})",
            len(outs),
        )
    )


def solver(
    ctx: Any,
    function: str,
    operands: Sequence[tuple[str, ArrayType, bool]],
    outs: Sequence[tuple[ArrayType, bool]],
    options: str = "",
    aliases: Sequence[tuple[int, int]] = ((0, 0),),
) -> list[str]:
    """Call a function of cuSOLVER or hipSOLVER, as `lapack`."""
    dense, _ = SOLVERS[ctx.platform]
    return kernel(ctx, f"{dense}_{function}_ffi", operands, outs, options, aliases)


def flag(name: str, value: bool) -> str:
    """An option that is true or false, as an attribute."""
    return f"{name} = {'true' if value else 'false'}"


def _of_nothing(ctx: Any, t: ArrayType) -> str:
    """A result for matrices without elements: the square ones that remain are orthogonal."""
    if t.kind == "i" or t.ndim < 2 or not t.size:
        return str(ctx.full(0, t))
    one = np.eye(*t.shape[-2:], dtype=t.dtype)
    core = array_type(one.shape, t.dtype)
    return str(ctx.broadcast(ctx.array(one), core, t, (t.ndim - 2, t.ndim - 1)))


def or_nan(ctx: Any, x: str, t: ArrayType, info: str, rank: int, relation: str = "EQ") -> str:
    """`x` where LAPACK's status (of the first `rank` axes) is 0 (or >= 0: "GE"), else NaN."""
    if not t.size:
        return x
    status = array_type(t.shape[:rank], I32)
    flag, wide = array_type(status.shape, np.bool_), array_type(t.shape, np.bool_)
    good = ctx.emit(
        f"stablehlo.compare {relation}, {info}, {ctx.full(0, status)}, SIGNED : "
        f"({status.mlir}, {status.mlir}) -> {flag.mlir}"
    )
    good = ctx.broadcast(good, flag, wide, tuple(range(rank)))
    bad = ctx.full(t.dtype.type(complex(np.nan, np.nan) if t.kind == "c" else np.nan), t)
    return str(ctx.emit(f"stablehlo.select {good}, {x}, {bad} : {wide.mlir}, {t.mlir}"))


# ---- products of matrices, for derivatives ----------------------------------------------------


def product(x: Any, y: Any) -> Any:
    """x @ y for two arrays of matrices with equal batch axes, in full precision."""
    n = type_of(x).ndim
    batch = tuple(range(n - 2))
    both = (Precision.HIGHEST, Precision.HIGHEST)
    return apply(DotGeneral.of((n - 1,), (n - 2,), batch, batch, both), x, y)


def transposed(x: Any) -> Any:
    """Matrices with rows and columns swapped."""
    n = type_of(x).ndim
    return apply(Transpose.of((*range(n - 2), n - 1, n - 2)), x)


def adjoint(x: Any) -> Any:
    """Conjugate transpose."""
    return conjugated(transposed(x))


def masked(x: Any, mask: np.ndarray) -> Any:
    """Matrices with zeros where `mask` is False."""
    t = type_of(x)
    which = (
        mask
        if t.ndim == 2
        else apply(Broadcast.of(t.shape, (t.ndim - 2, t.ndim - 1), t.sharding), mask)
    )
    return apply(select, which, t.dtype.type(0), x)


def triangle_text(ctx: Any, shape: tuple[Any, ...], lower: bool) -> str:
    """Which elements of a matrix lie in the lower or upper triangle, as a StableHLO operand."""
    if not any(type(n) is Dim for n in shape):
        mask = np.tri(*shape, dtype=np.bool_) if lower else np.triu(np.ones(shape, np.bool_))
        return str(ctx.array(mask))
    t, flags = array_type(shape, np.int32).mlir, array_type(shape, np.bool_).mlir
    row, column = (ctx.emit(f"stablehlo.iota dim = {i} : {t}") for i in range(2))
    sign = "LE" if lower else "GE"
    return str(
        ctx.emit(f"stablehlo.compare {sign}, {column}, {row}, SIGNED : ({t}, {t}) -> {flags}")
    )


def _symbolic_triangle(shape: tuple[Any, ...], lower: bool, k: int) -> Any:
    row, column = (apply(Iota.of(np.dtype(np.int32), shape, i, None)) for i in range(2))
    return apply(le if lower else ge, apply(sub, column, np.int32(k)), row)


def identity(n: Any, dtype: Any) -> Any:
    """The identity matrix."""
    if type(n) is not Dim:
        return np.eye(n, dtype=dtype)
    row, column = (apply(Iota.of(np.dtype(np.int32), (n, n), i, None)) for i in range(2))
    return convert(apply(eq, column, row), np.dtype(dtype))


def triangle(x: Any, lower: bool, k: int = 0) -> Any:
    """The lower triangle up to diagonal k, or the upper one from it."""
    shape = type_of(x).shape[-2:]
    if any(type(n) is Dim for n in shape):
        return masked(x, _symbolic_triangle(shape, lower, k))
    ones = np.ones(type_of(x).shape[-2:], np.bool_)
    return masked(x, np.tril(ones, k) if lower else np.triu(ones, k))


def diagonal(x: Any) -> Any:
    """Main diagonals, as vectors."""
    t = type_of(x)
    *batch, n, m = t.shape
    k = min_size(n, m)
    flat = reshape(x, (*batch, n * m), t.sharding and _vectors(t))
    stop = (k - 1) * (m + 1) + 1 if k else 0
    nb = len(batch)
    op = Slice.of((0,) * (nb + 1), (*batch, stop), (*(1,) * nb, m + 1))
    return apply(op, flat)


def _vectors(t: ArrayType) -> Any:
    """Sharding of matrices, for vectors in their place."""
    return rules.named(rules.mesh_of([t]), [*rules.spec_of(t)[:-2], None])


def columns(w: Any, like: Any) -> Any:
    """Vectors as matrices of the type's shape whose columns are constant: entry (i, j) is w[j]."""
    t = type_of(like)
    dims = (*range(t.ndim - 2), t.ndim - 1)
    return broadcast(w, t.shape, dims, t.sharding)


def rows(w: Any, like: Any) -> Any:
    """Vectors as matrices of the type's shape whose rows are constant: entry (i, j) is w[i]."""
    t = type_of(like)
    return broadcast(w, t.shape, tuple(range(t.ndim - 1)), t.sharding)


def safe_reciprocal(x: Any) -> Any:
    """1/x, and 0 where x is 0."""
    kind = type_of(x).dtype.type
    zero = apply(eq, x, kind(0))
    return apply(select, zero, apply(div, kind(1), apply(select, zero, x, kind(1))), kind(0))


def times(x: Any, y: Any) -> Any:
    """Product element by element."""
    return apply(mul, x, y)
