"""Typed random keys and the bits they give.

Keys of shape S are uint32[S, n] in memory. An operation on keys of shape S works on each key by
itself, so batching only moves the batch axis to the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import errors
from ..core.dtypes import KeyDType
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import add, mul, sub
from ..structural.families import Opaque, batch_first, check_kind, check_same_dtype
from ..structural.shape import Broadcast
from . import rbg, threefry
from .identities import accumulator

_U32 = np.dtype(np.uint32)


class KeyOp(Opaque):
    """Operation on keys, one by one; results append axes to the keys' shape."""

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, *[batch_first(x, d, size) for x, d in zip(args, dims, strict=True)]), 0

    def physical(self, *types: ArrayType) -> Op:
        return self

    def appended(self, key: ArrayType, n: int) -> Any:
        """Sharding of a result with n more axes than the keys."""
        if key.sharding is None:
            return None
        return rules.named(key.sharding.mesh, [*rules.spec_of(key), *[None] * n])


def check_key(op: Op, t: ArrayType) -> KeyDType:
    """The key dtype of an operand; raise if it has none."""
    if t.kind != "k":
        raise errors.DTypeError(
            errors.explain(
                op.name,
                f"needs a typed random key, but the operand has dtype {t.dtype}",
                {"key": t},
                try_="nl.random.key(0), or nl.random.wrap_key_data(words) for raw uint32 words",
            )
        )
    return t.dtype


def barrier(ctx: Any, keys: str, t: ArrayType) -> str:
    """Keep new keys as they are in memory.

    Otherwise XLA repeats their whole computation in every use of each word, and again for keys
    made from keys: eight splits in a row took 6 s to compile instead of 0.9 s.
    """
    return ctx.emit(f"stablehlo.optimization_barrier {keys} : {t.mlir}")


class RandomSeed(KeyOp):
    """Keys from integer seeds: 64 bits of seed are the two words, high word first."""

    impl: str

    def out_type(self, *types: ArrayType) -> ArrayType:
        (seed,) = types
        if seed.kind not in "biu":
            raise errors.DTypeError(
                errors.explain(
                    "random.key", "the seed must be an integer", {"seed": seed},
                    try_="random.key(int(seed))",
                )
            )  # fmt: skip
        return array_type(seed.shape, KeyDType(self.impl), False, seed.sharding)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (x,), (t,) = operands, types
        flat = array_type(t.shape, _U32)
        if t.dtype.itemsize == 8:
            wide = array_type(t.shape, np.uint64)
            if t.kind == "i":
                x = ctx.emit(f"stablehlo.bitcast_convert {x} : ({t.mlir}) -> {wide.mlir}")
            high = threefry.binary(ctx, "shift_right_logical", x, ctx.full(32, wide), wide)
            high = threefry.convert(ctx, high, wide, flat)
            low = threefry.convert(ctx, x, wide, flat)
        else:
            low = threefry.convert(ctx, x, array_type(t.shape, t.dtype), flat)
            high = ctx.full(0, flat)
        pair = [high, low]
        return threefry.join(ctx, pair * (KeyDType(self.impl).key_shape[0] // 2), flat)


class RandomWrap(KeyOp):
    """Keys from their words."""

    impl: str

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        dtype = KeyDType(self.impl)
        n = len(dtype.key_shape)
        if x.dtype != dtype.storage or x.ndim < n or x.shape[x.ndim - n :] != dtype.key_shape:
            raise errors.ShapeError(
                errors.explain(
                    "random.wrap_key_data",
                    f"keys of {self.impl} are uint32 arrays of shape (..., "
                    f"{', '.join(map(str, dtype.key_shape))})",
                    {"key_bits_array": x},
                    try_="impl=... names another generator",
                )
            )
        batch = x.shape[: x.ndim - n]
        sharding = None
        if x.sharding is not None:
            sharding = rules.named(x.sharding.mesh, rules.spec_of(x)[: len(batch)])
        return array_type(batch, dtype, False, sharding)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return operands[0]


class RandomUnwrap(KeyOp):
    """The words of keys."""

    def out_type(self, *types: ArrayType) -> ArrayType:
        (key,) = types
        dtype = check_key(self, key)
        sharding = self.appended(key, len(dtype.key_shape))
        return array_type(key.shape + dtype.key_shape, dtype.storage, False, sharding)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return operands[0]


class RandomClone(KeyOp):
    """The same keys, which debug_key_reuse takes for new ones.

    With the name of a function, the function consumes the given ones.
    """

    consumer: str | None = None

    def out_type(self, *types: ArrayType) -> ArrayType:
        check_key(self, types[0])
        return types[0]

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return operands[0]


class RandomSplit(KeyOp):
    """Independent new keys of a shape from each key."""

    shape: tuple[int, ...]
    partitionable: bool = True

    def out_type(self, *types: ArrayType) -> ArrayType:
        (key,) = types
        check_key(self, key)
        sharding = self.appended(key, len(self.shape))
        return array_type(key.shape + self.shape, key.dtype, False, sharding)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        key, stored, out = operands[0], types[0].physical, outs[0].physical
        if 0 in out.shape:
            return ctx.full(0, out)
        if types[0].dtype.impl == "unsafe_rbg":
            return rbg.unsafe_split(ctx, key, stored, self.shape)
        flat = array_type(outs[0].shape, _U32)
        parts = []
        for start in range(0, stored.shape[-1], 2):
            pair = threefry.words(ctx, key, stored, start)
            if self.partitionable:
                parts.append(threefry.join(ctx, threefry.split(ctx, pair, self.shape), flat))
            else:
                parts.append(threefry.old_split(ctx, pair, self.shape))
        return barrier(ctx, rbg.side_by_side(ctx, parts, array_type((*flat.shape, 2), _U32)), out)


class RandomFoldIn(KeyOp):
    """New keys from keys and uint32 numbers of the same shape."""

    def out_type(self, *types: ArrayType) -> ArrayType:
        key, data = types
        check_key(self, key)
        if data.dtype != _U32 or data.shape != key.shape:
            raise errors.ShapeError(
                errors.explain(
                    "random.fold_in", "data must be uint32 of the key's shape",
                    {"key": key, "data": data}, try_="vmap over keys and data",
                )
            )  # fmt: skip
        return key

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        key, data = operands
        stored = types[0].physical
        flat = array_type(types[0].shape, _U32)
        if types[0].dtype.impl == "unsafe_rbg":
            return rbg.unsafe_fold_in(ctx, key, stored, data)
        parts = []
        for start in range(0, stored.shape[-1], 2):
            pair = threefry.words(ctx, key, stored, start)
            parts.append(threefry.join(ctx, threefry.fold_in(ctx, pair, data), flat))
        made = rbg.side_by_side(ctx, parts, array_type((*flat.shape, 2), _U32))
        return barrier(ctx, made, stored)


class RandomBits(KeyOp):
    """Uniformly random unsigned integers: `shape` of them from each key."""

    shape: tuple[int, ...]
    width: int
    partitionable: bool = True
    sharding: Any = None

    def out_type(self, *types: ArrayType) -> ArrayType:
        (key,) = types
        check_key(self, key)
        sharding = self.sharding or self.appended(key, len(self.shape))
        return array_type(key.shape + self.shape, f"uint{self.width}", False, sharding)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        op = self if self.sharding is None else self.replace(sharding=None)
        return apply(op, batch_first(args[0], dims[0], size)), 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (t,), (out,) = types, outs
        if 0 in out.shape:
            return ctx.full(0, array_type(out.shape, out.dtype))
        if t.dtype.impl != "threefry2x32":
            return rbg.bits(ctx, operands[0], t.physical, self.shape, self.width)
        pair = threefry.words(ctx, operands[0], t.physical)
        make = threefry.bits if self.partitionable else threefry.old_bits
        return make(ctx, pair, self.shape, self.width)


class RngBitGenerator(Opaque):
    """(new state, random bits) from XLA's own generators."""

    multi: ClassVar[bool] = True
    shape: tuple[int, ...]
    dtype: Any
    algorithm: str = "DEFAULT"

    def out_type(self, *types: ArrayType) -> list[ArrayType]:
        (key,) = types
        fine = (key.dtype == _U32 and key.shape[-1:] == (4,)) or (
            key.dtype == np.uint64 and key.shape[-1:] == (2,)
        )
        if not fine:
            raise errors.ShapeError(
                errors.explain(
                    "rng_bit_generator", "the key must be uint32[..., 4] or uint64[..., 2]",
                    {"key": key}, try_="np.zeros(4, np.uint32)",
                )
            )  # fmt: skip
        return [key, array_type(key.shape[:-1] + self.shape, self.dtype)]

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, batch_first(args[0], dims[0], size)), [0, 0]

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> list[str]:
        return rbg.generator(ctx, operands[0], types[0], self.shape, self.dtype, self.algorithm)


class RngUniform(Opaque):
    """Numbers in [a, b) from the state of the device."""

    shape: tuple[int, ...]
    effects = frozenset(("random",))

    def out_type(self, *types: ArrayType) -> ArrayType:
        a, b = types
        check_kind(self, types, "iuf")
        check_same_dtype(self, types)
        if a.ndim or b.ndim:
            raise errors.ShapeError(
                errors.explain("rng_uniform", "a and b must be scalars", {"a": a, "b": b})
            )
        return array_type(self.shape, a.dtype)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        t = type_of(args[0])
        if t.kind != "f":
            raise errors.VmapError(
                errors.explain(
                    "vmap of rng_uniform", "different bounds need floats",
                    {"a": t, "b": type_of(args[1])}, try_="random.randint",
                )
            )  # fmt: skip
        found = apply(RngUniform.of((size, *self.shape)), t.dtype.type(0), t.dtype.type(1))
        a, b = (
            apply(Broadcast.of((size, *self.shape), () if d is None else (0,), None), x)
            for x, d in zip(args, dims, strict=True)
        )
        return apply(add, a, apply(mul, found, apply(sub, b, a))), 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        (out,) = outs
        wide = array_type(out.shape, accumulator(out.dtype))
        scalar = array_type((), wide.dtype)
        a, b = (ctx.convert(x, t, scalar) for x, t in zip(operands, types, strict=True))
        sizes = ctx.integers(out.shape, array_type((out.ndim,), np.int64))
        found = ctx.emit(
            f'"stablehlo.rng"({a}, {b}, {sizes}) <{{rng_distribution = #stablehlo<rng_distribution '
            f"UNIFORM>}}> : ({scalar.mlir}, {scalar.mlir}, tensor<{out.ndim}xi64>) -> {wide.mlir}"
        )
        return ctx.convert(found, wide, out)


unwrap = RandomUnwrap()
fold_in = RandomFoldIn()
