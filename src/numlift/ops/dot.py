"""dot_general: products of arrays summed over shared axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from .. import errors
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type, dtype_kind
from ..sharding import rules
from ..structural.shape import Transpose
from .bilinear import Bilinear
from .precision import (
    CPU_PRESETS,
    CanonicalPrecision,
    DotAlgorithm,
    DotAlgorithmPreset,
    precision_text,
    preset_algorithm,
)

_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


@cache
def product_dtype(a: Any, b: Any) -> Any:
    """dtype of a product of two dtypes: the greater kind, then the wider, then the signed one."""
    if a == b:
        return a
    kinds = dtype_kind(a), dtype_kind(b)
    wide = max((a, b), key=_order)
    if "c" in kinds and np.dtype("f8") in (a, b):
        return np.dtype("c16")
    return wide


def _order(dtype: Any) -> tuple[Any, ...]:
    kind = dtype_kind(dtype)
    reach = float(ml_dtypes.finfo(dtype).max) if kind == "f" else 0.0
    return _RANK[kind], bit_width(dtype), kind == "i", reach


def bit_width(dtype: Any) -> int:
    """Bits of a number of this dtype."""
    kind = dtype_kind(dtype)
    if kind == "f":
        return int(ml_dtypes.finfo(dtype).bits)
    return int(dtype.name.lstrip("uint")) if kind in "iu" else 8 * dtype.itemsize


def others(ndim: int, *taken: Sequence[int]) -> tuple[int, ...]:
    """The axes below `ndim` that are in none of `taken`, ascending."""
    return tuple(i for i in range(ndim) if not any(i in t for t in taken))


class DotGeneral(Bilinear):
    """Sum of products over contracted axes, for each index of the batch axes.

    The result's axes are the batch axes, the free axes of lhs, the free axes of rhs.
    """

    lhs_contract: tuple[int, ...]
    rhs_contract: tuple[int, ...]
    lhs_batch: tuple[int, ...]
    rhs_batch: tuple[int, ...]
    precision: CanonicalPrecision = None
    preferred: Any = None
    sharding: Any = None

    def out_type(self, *types: ArrayType) -> ArrayType:
        x, y = types
        xs, ys = x.shape, y.shape
        self._check(x, y)
        natural = product_dtype(x.dtype, y.dtype)
        dtype = self.preferred or natural
        if self.preferred is not None:
            self._check_preferred(natural, types)
        shape = (
            *[xs[i] for i in self.lhs_batch],
            *[xs[i] for i in others(x.ndim, self.lhs_contract, self.lhs_batch)],
            *[ys[i] for i in others(y.ndim, self.rhs_contract, self.rhs_batch)],
        )
        sharding = self.sharding
        if sharding is None and (x.sharding is not None or y.sharding is not None):
            sharding = self.shard(x, y)
        return array_type(shape, dtype, False, sharding)

    def _check(self, x: ArrayType, y: ArrayType) -> None:
        for t in (x, y):
            if t.kind not in _RANK:
                raise errors.DTypeError(
                    errors.explain(
                        "dot_general", "operands must be bool or numbers", {"lhs": x, "rhs": y}
                    )
                )
        for what, lhs, rhs in (
            ("contracting", self.lhs_contract, self.rhs_contract),
            ("batch", self.lhs_batch, self.rhs_batch),
        ):
            if len(lhs) != len(rhs):
                raise self._error(
                    f"lhs and rhs must have equally many {what} dimensions, got {lhs} and {rhs}",
                    x, y,
                )  # fmt: skip
            for i, j in zip(lhs, rhs, strict=True):
                if not (0 <= i < x.ndim and 0 <= j < y.ndim):
                    raise self._error(f"{what} dimensions {lhs} and {rhs} are out of range", x, y)
                if x.shape[i] != y.shape[j]:
                    raise self._error(
                        f"{what} dimensions must have equal sizes: axis {i} of lhs has size "
                        f"{x.shape[i]}, axis {j} of rhs has size {y.shape[j]}", x, y,
                    )  # fmt: skip
        for side, axes in (
            ("lhs", self.lhs_contract + self.lhs_batch),
            ("rhs", self.rhs_contract + self.rhs_batch),
        ):
            if len(set(axes)) != len(axes):
                raise self._error(
                    f"a dimension of {side} is named twice in contracting and batch dimensions "
                    f"{axes}", x, y,
                )  # fmt: skip

    def _error(self, rule: str, x: ArrayType, y: ArrayType) -> errors.ShapeError:
        numbers = ((self.lhs_contract, self.rhs_contract), (self.lhs_batch, self.rhs_batch))
        return errors.ShapeError(
            errors.explain(
                "dot_general", rule, {"lhs": x, "rhs": y, "dimension_numbers": numbers},
                try_="swap or transpose an operand, or name other axes in dimension_numbers",
            )
        )  # fmt: skip

    def _check_preferred(self, natural: Any, types: Sequence[ArrayType]) -> None:
        kinds = dtype_kind(natural), dtype_kind(self.preferred)
        if kinds[0] in "iu" and kinds[1] in "iu" and bit_width(self.preferred) < bit_width(natural):
            raise errors.DTypeError(
                errors.explain(
                    "dot_general",
                    f"preferred_element_type {self.preferred} is narrower than the {natural} of "
                    "the operands",
                    {"lhs": types[0], "rhs": types[1]},
                    try_="convert the result: dot_general(...).astype(...)",
                )
            )

    # ---- derivatives and batching ------------------------------------------------------------

    def transpose_lhs(self, ct: Any, x: ArrayType, y: Any) -> Any:
        return self._transpose(ct, x, y, True)

    def transpose_rhs(self, ct: Any, x: Any, y: ArrayType) -> Any:
        return self._transpose(ct, y, x, False)

    def _transpose(self, ct: Any, linear: ArrayType, other: Any, left: bool) -> Any:
        """Cotangent of the linear operand: contract ct and the other over its free axes."""
        contract, batch = self.lhs_contract, self.lhs_batch
        other_contract, other_batch = self.rhs_contract, self.rhs_batch
        if not left:
            contract, other_contract = other_contract, contract
            batch, other_batch = other_batch, batch
        nb, free = len(batch), others(linear.ndim, contract, batch)
        other_free = others(type_of(other).ndim, other_contract, other_batch)
        first = nb + len(free) if left else nb
        summed = tuple(range(first, first + len(other_free)))
        # Result axes: batch, the linear operand's free axes, other's contracted axes ascending.
        ascending = sorted(other_contract)
        origin = [*batch, *free, *(contract[other_contract.index(r)] for r in ascending)]
        order = tuple(origin.index(a) for a in range(linear.ndim))
        # The cotangent is placed as its operand is, replicated if that has no sharding.
        spec, mesh = rules.spec_of(linear), rules.mesh_of([linear, type_of(ct), type_of(other)])
        sharding = rules.named(mesh, [spec[a] for a in origin])
        op = DotGeneral.of(
            summed, other_free, tuple(range(nb)), other_batch, self._flipped(left),
            linear.dtype, sharding,
        )  # fmt: skip
        out = apply(op, ct, other)
        return out if order == tuple(range(linear.ndim)) else apply(Transpose.of(order), out)

    def _flipped(self, left: bool) -> CanonicalPrecision:
        """Precision of the transposed product, whose first operand is the cotangent."""
        p = self.precision
        if left or not isinstance(p, tuple) or isinstance(p, DotAlgorithm):
            return p
        return p[1], p[0]

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x, y = args
        dx, dy = dims
        lc, rc, lb, rb = self.lhs_contract, self.rhs_contract, self.lhs_batch, self.rhs_batch
        if dx is not None and dy is not None:
            lb, rb = (dx, *_shifted(lb, dx)), (dy, *_shifted(rb, dy))
            lc, rc, out = _shifted(lc, dx), _shifted(rc, dy), 0
        elif dx is not None:
            lc, lb = _shifted(lc, dx), _shifted(lb, dx)
            out = len(lb) + others(type_of(x).ndim, lc, lb).index(dx)
        else:
            assert dy is not None
            rc, rb = _shifted(rc, dy), _shifted(rb, dy)
            lhs_free = type_of(x).ndim - len(lc) - len(lb)
            out = len(rb) + lhs_free + others(type_of(y).ndim, rc, rb).index(dy)
        sharding = self.sharding
        if sharding is not None:
            entries = list(sharding.spec.padded(_out_rank(self, x, y, dims)))
            entries.insert(out, None)
            sharding = rules.named(sharding.mesh, entries)
        op = DotGeneral.of(lc, rc, lb, rb, self.precision, self.preferred, sharding)
        return apply(op, x, y), out

    def shard(self, *types: ArrayType) -> Any:
        x, y = types
        xs, ys = rules.spec_of(x), rules.spec_of(y)
        for i, j in zip(self.lhs_contract, self.rhs_contract, strict=True):
            if xs[i] is not None and ys[j] is not None:
                same = xs[i] == ys[j]
                raise errors.ShardingError(
                    errors.explain(
                        "dot_general",
                        f"the contracting dimensions (axis {i} of lhs, axis {j} of rhs) are both "
                        + (
                            f"sharded over {xs[i]!r}, so it is ambiguous how the sum should be "
                            "placed"
                            if same
                            else f"sharded, over {xs[i]!r} and {ys[j]!r}"
                        ),
                        {"lhs": x, "rhs": y},
                        try_="out_sharding=P(...) names the placement of the result: P() sums over "
                        "devices and replicates"
                        if same
                        else "nl.reshard(x, P(...)) one operand first",
                    )
                )
        entries = []
        for i, j in zip(self.lhs_batch, self.rhs_batch, strict=True):
            if xs[i] is not None and ys[j] is not None and xs[i] != ys[j]:
                raise rules.conflict(
                    "dot_general", f"batch axes {i} and {j} are sharded differently", types
                )
            entries.append(xs[i] if xs[i] is not None else ys[j])
        entries += [xs[i] for i in others(x.ndim, self.lhs_contract, self.lhs_batch)]
        entries += [ys[j] for j in others(y.ndim, self.rhs_contract, self.rhs_batch)]
        used = [n for e in entries for n in rules.axis_names_in(e)]
        if len(used) != len(set(used)):
            raise rules.conflict(
                "dot_general", "one mesh axis would shard two axes of the result", types
            )
        return rules.named(rules.mesh_of(types), entries)

    # ---- lowering ----------------------------------------------------------------------------

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (out,) = outs
        sides, result = self._storage(ctx.platform, types, out)
        names = [
            convert(ctx, name, t, array_type(t.shape, d))
            for name, t, d in zip(operands, types, sides, strict=True)
        ]
        x, y = (array_type(t.shape, d) for t, d in zip(types, sides, strict=True))
        z = array_type(out.shape, result)
        batch = ""
        if self.lhs_batch:
            batch = f"batching_dims = {list(self.lhs_batch)} x {list(self.rhs_batch)}, "
        algorithm = self._algorithm(x.dtype, y.dtype, result)
        extra = "" if algorithm is None else f", algorithm = {algorithm.mlir()}"
        name = ctx.emit(
            f"stablehlo.dot_general {names[0]}, {names[1]}, {batch}contracting_dims = "
            f"{list(self.lhs_contract)} x {list(self.rhs_contract)}, precision = "
            f"{precision_text(self.precision)}{extra} : ({x.mlir}, {y.mlir}) -> {z.mlir}"
        )
        return convert(ctx, name, z, array_type(out.shape, out.dtype))

    def _algorithm(self, x: Any, y: Any, out: Any) -> DotAlgorithm | None:
        if isinstance(self.precision, DotAlgorithm):
            return self.precision
        preset = self.precision
        if isinstance(preset, DotAlgorithmPreset) and preset is not DotAlgorithmPreset.DEFAULT:
            return preset_algorithm(preset, x, y, out)[0]
        return None

    def _storage(
        self, platform: str, types: Sequence[ArrayType], out: ArrayType
    ) -> tuple[tuple[Any, Any], Any]:
        """dtypes in which the operands enter the product and in which it is summed."""
        natural = product_dtype(types[0].dtype, types[1].dtype)
        p = self.precision
        if isinstance(p, DotAlgorithm):
            return (types[0].dtype, types[1].dtype), as_accumulator(p.accumulation_type)
        if isinstance(p, DotAlgorithmPreset) and p is not DotAlgorithmPreset.DEFAULT:
            if platform == "cpu" and p not in CPU_PRESETS:
                raise errors.ValueArgumentError(
                    errors.explain(
                        "dot_general",
                        f"precision {p.name} is not supported on CPU",
                        {"lhs": types[0], "rhs": types[1]},
                        try_="precision=None, or one of " + ", ".join(sorted(_CPU_NAMES)),
                    )
                )
            algorithm, left, right = preset_algorithm(p, types[0].dtype, types[1].dtype, out.dtype)
            lhs = types[0].dtype if types[0].dtype in left else left[0]
            rhs = types[1].dtype if types[1].dtype in right else right[0]
            return (lhs, rhs), as_accumulator(algorithm.accumulation_type)
        return storage_dtypes(platform, natural, out.dtype)


_CPU_NAMES = [p.name for p in CPU_PRESETS]


def as_accumulator(dtype: Any) -> Any:
    """numpy.dtype of an accumulation type (tf32 is stored as float32)."""
    return np.dtype("f4") if isinstance(dtype, str) and dtype == "tf32" else np.dtype(dtype)


@cache
def storage_dtypes(platform: str, natural: Any, out: Any) -> tuple[tuple[Any, Any], Any]:
    """Storage without an algorithm.

    XLA's CPU backend multiplies f32, f64, complex and i32 with fast kernels and everything else
    with plain loops (up to 50 times slower): narrow integers go through i32, whose low bits are
    the same, and bools through f32, which counts.
    """
    kind, want = dtype_kind(natural), dtype_kind(out)
    if kind == "b":
        count = np.dtype("f4") if want == "b" else out
        return storage_dtypes(platform, count, count)
    if kind in "iu" and want in "iu":
        if bit_width(out) <= 32 and platform == "cpu":
            return (np.dtype("i4"),) * 2, np.dtype("i4")
        if bit_width(natural) < 8:
            return (np.dtype("i4"),) * 2, out
        return (natural, natural), out if kind == want else natural
    if kind == want == "f" and bit_width(out) >= bit_width(natural):
        return (natural, natural), out
    if kind == want:
        return (natural, natural), natural
    if _RANK[want] > _RANK[kind]:
        return (out, out), out
    return (natural, natural), natural


def convert(ctx: Any, name: str, source: ArrayType, target: ArrayType) -> str:
    """Convert inside a lowering; to bool compares with zero, complex to real drops the rest."""
    if source.dtype == target.dtype:
        return name
    if source.kind == "c" and target.kind != "c":
        part = array_type(source.shape, "f4" if source.dtype == np.dtype("c8") else "f8")
        name = ctx.emit(f"stablehlo.real {name} : ({source.mlir}) -> {part.mlir}")
        return convert(ctx, name, part, target)
    if target.kind == "b":
        zero = ctx.full(0, source)
        return ctx.emit(
            f"stablehlo.compare NE, {name}, {zero} : ({source.mlir}, {source.mlir}) -> "
            f"{target.mlir}"
        )
    return ctx.convert(name, source, target)


def _shifted(axes: Sequence[int], batch: int) -> tuple[int, ...]:
    """Axes of an operand after a batch axis was put in at `batch`."""
    return tuple([a + (a >= batch) for a in axes])


def _out_rank(op: DotGeneral, x: Any, y: Any, dims: Sequence[int | None]) -> int:
    """Rank of the result without the batch axis of vmap."""
    batched = sum(d is not None for d in dims)
    shared = len(op.lhs_batch) + 2 * len(op.lhs_contract)
    return type_of(x).ndim + type_of(y).ndim - batched - shared
