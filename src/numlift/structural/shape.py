"""Operations on shapes that transformations emit: broadcast, reshape, transpose, reduce_sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.op import Linear, Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from .families import Structural, _shape_ops, batch_first, check_kind


def key_dims(t: ArrayType) -> int:
    """Number of storage dimensions behind the visible ones (1 for PRNG keys, else 0)."""
    return t.physical.ndim - t.ndim


class Broadcast(Structural):
    """broadcast_in_dim: operand axis i becomes axis dims[i] of the result, others are new.

    An operand axis of size 1 is repeated. `sharding` gives the result's sharding (Explicit axes).
    """

    name = "broadcast_in_dim"
    shape: tuple[int, ...]
    dims: tuple[int, ...]
    sharding: Any = None

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        shape, dims = self.shape, self.dims
        ok = len(dims) == x.ndim and all(a < b for a, b in zip(dims, dims[1:], strict=False))
        ok = ok and all(
            0 <= d < len(shape) and n in (1, shape[d]) for d, n in zip(dims, x.shape, strict=True)
        )
        if not ok:
            raise errors.ShapeError(
                errors.explain(
                    "broadcast_in_dim",
                    "operand axis i must have size 1 or shape[broadcast_dimensions[i]], and the "
                    "dimensions must increase",
                    {"operand": x, "shape": shape, "broadcast_dimensions": dims},
                )
            )
        sharding = self.sharding
        if sharding is None and x.sharding is not None:
            sharding = self.shard(x)
        return array_type(shape, x.dtype, x.weak_type, sharding)

    def shard(self, *types: ArrayType) -> Any:
        (x,) = types
        entries: list[Any] = [None] * len(self.shape)
        for d, n, entry in zip(self.dims, x.shape, rules.spec_of(x), strict=True):
            entries[d] = entry if n == self.shape[d] else None
        return rules.named(x.sharding.mesh, entries)

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        (x,) = inputs
        t = x.type
        kept = {d for d, n in zip(self.dims, t.shape, strict=True) if n == self.shape[d]}
        summed = tuple(i for i, n in enumerate(self.shape) if i not in kept and n != 1)
        if summed:
            ct = apply(ReduceSum.of(summed), ct)
        return (reshape(ct, t.shape, t.sharding),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x = batch_first(args[0], dims[0], size)
        inner = tuple(d + 1 for d in self.dims)
        return apply(Broadcast.of((size, *self.shape), (0, *inner), None), x), 0

    def physical(self, *types: ArrayType) -> Op:
        (x,) = types
        tail = x.dtype.key_shape
        extra = tuple(range(len(self.shape), len(self.shape) + len(tail)))
        return Broadcast.of(self.shape + tail, self.dims + extra, None)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return ctx.broadcast(operands[0], types[0], outs[0], self.dims)


class Reshape(Structural):
    """The same elements in row-major order under another shape."""

    shape: tuple[int, ...]
    sharding: Any = None

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        if math.prod(self.shape) != x.size or any(d < 0 for d in self.shape):
            raise errors.ShapeError(
                errors.explain(
                    "reshape",
                    f"cannot give {x.size} elements the shape {self.shape} "
                    f"({math.prod(self.shape)} elements)",
                    {"x": x},
                    try_="use -1 for one axis to let its size be computed",
                )
            )
        sharding = self.sharding
        if sharding is None and x.sharding is not None:
            sharding = self.shard(x)
        return array_type(self.shape, x.dtype, x.weak_type, sharding)

    def shard(self, *types: ArrayType) -> Any:
        (x,) = types
        mesh, spec = x.sharding.mesh, rules.spec_of(x)
        entries: list[Any] = [None] * len(self.shape)
        for old, new in _groups(x.shape, self.shape):
            names = [rules.axis_names_in(spec[i]) for i in old]
            if any(names) and not self._spread(mesh, names, new, entries):
                axis = next(i for i, n in zip(old, names, strict=True) if n)
                raise errors.ShardingError(
                    errors.explain(
                        f"reshape to {self.shape}",
                        f"cannot keep the sharding of axis {axis}",
                        {"operand": x},
                        try_="out_sharding=P(...), or nl.reshard(x, P(...)) first",
                    )
                )
        return rules.named(mesh, entries)

    def _spread(
        self, mesh: Any, names: list[tuple[Any, ...]], new: list[int], entries: list[Any]
    ) -> bool:
        """Enter the mesh axes of one run of axes for those that it becomes; False if it fails.

        Axes that merge hand on the mesh axes of the leading ones. An axis that is split gives the
        first parts as many of its mesh axes as they hold; a part goes on only when it is full.
        """
        count = sum(1 for n in names if n)
        if not new or not all(names[:count]) or (count > 1 and len(new) > 1):
            return False
        left = [n for group in names for n in group]
        for axis in new:
            taken, size = [], self.shape[axis]
            while left and size % mesh.shape[left[0]] == 0:
                size //= mesh.shape[left[0]]
                taken.append(left.pop(0))
            if taken:
                entries[axis] = taken[0] if len(taken) == 1 else tuple(taken)
            if size != 1:
                break
        return not left

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        t = inputs[0].type
        return (reshape(ct, t.shape, t.sharding),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x = batch_first(args[0], dims[0], size)
        return apply(Reshape.of((size, *self.shape), None), x), 0

    def physical(self, *types: ArrayType) -> Op:
        return Reshape.of(self.shape + types[0].dtype.key_shape, None)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return ctx.emit(f"stablehlo.reshape {operands[0]} : ({types[0].mlir}) -> {outs[0].mlir}")


def _groups(old: tuple[int, ...], new: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    """Smallest runs of axes of equal product, without axes of size 1."""
    left = [i for i, n in enumerate(old) if n != 1]
    right = [i for i, n in enumerate(new) if n != 1]
    groups = []
    while left or right:
        a, b = left[:1], right[:1]
        left, right = left[1:], right[1:]
        while math.prod(old[i] for i in a) != math.prod(new[i] for i in b):
            if math.prod(old[i] for i in a) < math.prod(new[i] for i in b):
                a.append(left.pop(0))
            else:
                b.append(right.pop(0))
        groups.append((a, b))
    return groups


class Transpose(Structural):
    """Axes in another order: axis i of the result is axis permutation[i] of the operand."""

    permutation: tuple[int, ...]

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        if sorted(self.permutation) != list(range(x.ndim)):
            raise errors.ShapeError(
                errors.explain(
                    "transpose",
                    f"{self.permutation} is not a permutation of the {x.ndim} axes",
                    {"x": x},
                )
            )
        sharding = None if x.sharding is None else self.shard(x)
        return array_type(
            tuple(x.shape[p] for p in self.permutation), x.dtype, x.weak_type, sharding
        )

    def shard(self, *types: ArrayType) -> Any:
        (x,) = types
        spec = rules.spec_of(x)
        return rules.named(x.sharding.mesh, [spec[p] for p in self.permutation])

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        order = [0] * len(self.permutation)
        for i, p in enumerate(self.permutation):
            order[p] = i
        return (apply(Transpose.of(tuple(order)), ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        (d,) = dims
        assert d is not None
        order = (d, *(p + (p >= d) for p in self.permutation))
        return apply(Transpose.of(order), args[0]), 0

    def physical(self, *types: ArrayType) -> Op:
        (x,) = types
        return Transpose.of(self.permutation + tuple(range(x.ndim, x.physical.ndim)))

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        dims = ", ".join(map(str, self.permutation))
        return ctx.emit(
            f"stablehlo.transpose {operands[0]}, dims = [{dims}] : "
            f"({types[0].mlir}) -> {outs[0].mlir}"
        )


class ReduceSum(Structural):
    """Sum over axes."""

    axes: tuple[int, ...]

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        check_kind(self, types, "iufc")
        for a in self.axes:
            if not 0 <= a < x.ndim:
                raise errors.AxisError(
                    errors.explain("reduce_sum", f"axis {a} is out of range", {"x": x})
                )
        sharding = None if x.sharding is None else self.shard(x)
        return array_type(dropped(x.shape, self.axes), x.dtype, x.weak_type, sharding)

    def shard(self, *types: ArrayType) -> Any:
        (x,) = types
        return rules.named(x.sharding.mesh, dropped(rules.spec_of(x), self.axes))

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        t = inputs[0].type
        kept = tuple(i for i in range(t.ndim) if i not in self.axes)
        return (apply(Broadcast.of(t.shape, kept, t.sharding), ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        (d,) = dims
        assert d is not None
        axes = tuple(a + (a >= d) for a in self.axes)
        return apply(ReduceSum.of(axes), args[0]), d - sum(a < d for a in axes)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return ctx.reduce("stablehlo.add", operands[0], 0, types[0], outs[0], self.axes)


def dropped(entries: tuple[Any, ...], axes: Sequence[int]) -> tuple[Any, ...]:
    """`entries` without the positions in `axes`."""
    return tuple(e for i, e in enumerate(entries) if i not in axes)


_shape_ops.update(broadcast=Broadcast.of, transpose=Transpose.of)


def reshape(x: Any, shape: tuple[int, ...], sharding: Any = None) -> Any:
    """`x` under another shape (nothing is emitted if it has it already)."""
    if type_of(x).shape == shape:
        return x
    return apply(Reshape.of(shape, sharding), x)


def broadcast(x: Any, shape: tuple[int, ...], dims: Sequence[int], sharding: Any = None) -> Any:
    """`x` broadcast into `shape`, its axis i being axis dims[i]."""
    if type_of(x).shape == shape:
        return x
    return apply(Broadcast.of(shape, tuple(dims), sharding), x)


def full(type_: ArrayType, value: Any = 0) -> Any:
    """An array of this type with one value everywhere."""
    scalar = type_.dtype.type(value)
    if not type_.shape:
        return scalar
    return apply(Broadcast.of(type_.shape, (), type_.sharding), scalar)


def sum_to(ct: Any, type_: ArrayType) -> Any:
    """Sum a cotangent to the shape of an operand that had rank 0 and was broadcast."""
    if type_of(ct).shape == type_.shape:
        return ct
    return apply(ReduceSum.of(tuple(range(type_of(ct).ndim))), ct)


__all__ = [
    "Broadcast",
    "Linear",
    "ReduceSum",
    "Reshape",
    "Transpose",
    "broadcast",
    "dropped",
    "full",
    "key_dims",
    "reshape",
    "sum_to",
]
