"""Families of operations: most rules of a primitive come from the family it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .. import errors
from ..core.op import Linear, Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules

BOOL = "bool"
KIND_WORDS = {
    "b": "bool",
    "i": "signed integer",
    "u": "unsigned integer",
    "f": "float",
    "c": "complex",
    "k": "PRNG key",
    "0": "float0",
}


def move_batch(x: Any, dim: int | None, to: int) -> Any:
    """Move the batch axis of `x` from `dim` to `to`."""
    if dim is None or dim == to:
        return x
    order = [i for i in range(type_of(x).ndim) if i != dim]
    order.insert(to, dim)
    return apply(_shape_ops["transpose"](tuple(order)), x)


def batch_first(x: Any, dim: int | None, size: int) -> Any:
    """`x` with a batch axis in front: moved there, or made by broadcasting."""
    if dim is None:
        t = type_of(x)
        return apply(
            _shape_ops["broadcast"]((size, *t.shape), tuple(range(1, t.ndim + 1)), None), x
        )
    return move_batch(x, dim, 0)


_shape_ops: dict[str, Any] = {}
"""`Transpose.of` and `Broadcast.of`, entered by `structural.shape`, which builds on this file."""


def check_kind(op: Op, types: Sequence[ArrayType], accepts: str) -> None:
    """Raise if an operand is not of an accepted kind of dtype."""
    for i, t in enumerate(types):
        if t.kind not in accepts:
            wanted = ", ".join(KIND_WORDS[k] for k in accepts)
            raise errors.DTypeError(
                errors.explain(
                    op.name,
                    f"operand {i} must be {wanted}, but its dtype is {t.dtype}",
                    {f"operand {j}": u for j, u in enumerate(types)},
                    try_="convert it first: x.astype(...)",
                )
            )


def check_same_dtype(op: Op, types: Sequence[ArrayType]) -> None:
    """Raise if operands have different dtypes."""
    first = types[0].dtype
    for t in types[1:]:
        if t.dtype is not first and t.dtype != first:
            raise errors.DTypeError(
                errors.explain(
                    op.name,
                    "operands must have the same dtype",
                    {f"operand {j}": u for j, u in enumerate(types)},
                    try_="use nl.numpy functions, which promote, or lax.convert_element_type",
                )
            )


def common_shape(op: Op, types: Sequence[ArrayType]) -> tuple[int, ...]:
    """Shape of an elementwise result: operands have one shape or rank 0."""
    shape: tuple[int, ...] = ()
    for t in types:
        if t.ndim:
            if not shape:
                shape = t.shape
            elif t.shape != shape:
                raise errors.ShapeError(
                    errors.explain(
                        op.name,
                        "operands must have equal shapes (or rank 0)",
                        {f"operand {j}": u for j, u in enumerate(types)},
                        try_="use nl.numpy functions, which broadcast, or lax.broadcast_in_dim",
                    )
                )
    return shape


class Elementwise(Op):
    """Operation on arrays of one shape and dtype, element by element; rank-0 operands broadcast.

    Class attributes: `hlo` (mnemonic such as ``stablehlo.sine``), `accepts` (kinds of dtype),
    `result` (None: the operands' dtype, or "bool").
    """

    broadcasts_scalars = True
    hlo: ClassVar[str] = ""
    accepts: ClassVar[str] = "biufc"
    result: ClassVar[str | None] = None

    def out_type(self, *types: ArrayType) -> ArrayType:
        check_kind(self, types, self.accepts)
        check_same_dtype(self, types)
        weak = all(t.weak_type for t in types) and self.result is None
        dtype = self.out_dtype(*[t.dtype for t in types])
        sharding = None
        for t in types:
            if t.sharding is not None:
                sharding = self.shard(*types)
                break
        return array_type(common_shape(self, types), dtype, weak, sharding)

    def out_dtype(self, *dtypes: Any) -> Any:
        """dtype of the result."""
        return dtypes[0] if self.result is None else self.result

    def shard(self, *types: ArrayType) -> Any:
        return rules.merge(self.name, types)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, *primals), None

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        ranks = [type_of(x).ndim - (d is not None) for x, d in zip(args, dims, strict=True)]
        rank = max(ranks)
        batched = [d for d in dims if d is not None]
        same = all(d == batched[0] for d in batched)
        if same and all(
            r == rank if d is not None else r == 0 for r, d in zip(ranks, dims, strict=True)
        ):
            return apply(self, *args), batched[0]
        shape = next(
            _without(type_of(x).shape, d)
            for x, d, r in zip(args, dims, ranks, strict=True)
            if r == rank
        )
        moved = []
        for x, d, r in zip(args, dims, ranks, strict=True):
            if r == rank and (d is not None or rank):
                moved.append(batch_first(x, d, size))
            elif d is None:
                moved.append(x)
            else:
                moved.append(apply(_shape_ops["broadcast"]((size, *shape), (0,), None), x))
        return apply(self, *moved), 0

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return ctx.emit(f"{self.hlo} {', '.join(operands)} : {outs[0].mlir}")


def _without(shape: tuple[int, ...], dim: int | None) -> tuple[int, ...]:
    return shape if dim is None else shape[:dim] + shape[dim + 1 :]


class Unary(Elementwise):
    """y = f(x); subclasses give `derivative(x, y)`, the factor f'(x)."""

    accepts = "fc"

    def derivative(self, x: Any, y: Any) -> Any:
        """f'(x), where y = f(x); None where the derivative is zero everywhere."""
        return None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x = primals[0]
        y = apply(self, x)
        factor = self.derivative(x, y)
        return y, None if factor is None else apply(_arith["mul"], tangents[0], factor)


class LinearUnary(Elementwise):
    """y = L(x), linear in x: the tangent goes through the operation itself."""

    accepts = "iufc"

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, primals[0]), apply(self, tangents[0])


class Binary(Elementwise):
    """z = f(x, y); subclasses give `derivative0` and `derivative1`, the factors df/dx and df/dy."""

    def derivative0(self, x: Any, y: Any, z: Any) -> Any:
        """df/dx, or None if it is zero everywhere."""
        return None

    def derivative1(self, x: Any, y: Any, z: Any) -> Any:
        """df/dy, or None if it is zero everywhere."""
        return None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, y = primals
        z = apply(self, x, y)
        dx, dy = tangents
        dz = None
        if dx is not None:
            factor = self.derivative0(x, y, z)
            if factor is not None:
                dz = apply(_arith["mul"], dx, factor)
        if dy is not None:
            factor = self.derivative1(x, y, z)
            if factor is not None:
                term = apply(_arith["mul"], dy, factor)
                dz = term if dz is None else apply(_arith["add"], dz, term)
        return z, dz


class Predicate(Elementwise):
    """Elementwise operation with a bool result, so without a derivative."""

    result = BOOL


_arith: dict[str, Any] = {}
"""The singletons `add` and `mul`, entered by `structural.arith`, which builds on this file."""


class Structural(Op):
    """Linear operation on one array that only moves elements: the tangent goes through it."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        x, *rest = primals
        return apply(self, x, *rest), apply(self, tangents[0], *rest)


class Opaque(Op):
    """Operation whose result carries no derivative (integers, bools, keys, random bits)."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = apply(self, *primals)
        return out, [None] * len(out) if self.multi else None


def is_linear(x: Any) -> bool:
    """Whether a transpose rule's input stands for a linear one."""
    return type(x) is Linear
