"""Communication over named axes. Under `vmap` a named axis is the batch axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.op import Op
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..structural.arith import convert, mul
from ..structural.families import batch_first, move_batch
from ..structural.shape import ReduceSum, full, reshape
from ..transforms.vmap import Batch
from .compare import eq
from .elementwise_binary import div
from .gather import Gather
from .indices import GatherDimensionNumbers
from .reductions import ReduceMax, ReduceMin
from .shape import Concatenate, Iota


class Collective(Op):
    """Operation over the named axes in the field `axes`."""

    axes: tuple[Any, ...]

    def __init__(self, *values: Any, **named: Any):
        super().__init__(*values, **named)
        self.axis_names = self.axes

    def out_type(self, *types: ArrayType) -> ArrayType:
        return types[0]

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        return apply(self, *args), dims[0]

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        """Apply over the batch axis of `batch`, which is one of the named axes."""
        raise NotImplementedError

    def rest(self, batch: Batch) -> tuple[Any, ...]:
        """The other named axes."""
        return tuple(a for a in self.axes if a != batch.axis_name)

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> Any:
        raise errors.UnboundAxisError(
            errors.explain(
                self.name,
                f"no axis named {self.axes[0]!r} is in scope",
                try_=f"nl.vmap(f, axis_name={self.axes[0]!r})",
            )
        )


class Psum(Collective):
    """Sum over named axes."""

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        (x,), (d,) = args, dims
        if d is None:
            out = apply(mul, x, type_of(x).dtype.type(batch.size))
        else:
            out = apply(ReduceSum.of((d,)), x)
        rest = self.rest(batch)
        return (apply(Psum.of(rest), out) if rest else out), None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, primals[0]), apply(self, tangents[0])

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(self, ct),)


class Pmax(Collective):
    """Maximum over named axes. Equal values share the derivative equally."""

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        (x,), (d,) = args, dims
        out = x if d is None else apply(self.reduction.of((d,)), x)
        rest = self.rest(batch)
        return (apply(type(self).of(rest), out) if rest else out), None

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x,), (dx,) = primals, tangents
        out = apply(self, x)
        chosen = convert(apply(eq, x, out), type_of(x).dtype)
        total = Psum.of(self.axes)
        return out, apply(div, apply(total, apply(mul, dx, chosen)), apply(total, chosen))

    @property
    def reduction(self) -> Any:
        """The reduction over one axis."""
        return ReduceMax


class Pmin(Pmax):
    """Minimum over named axes. Equal values share the derivative equally."""

    @property
    def reduction(self) -> Any:
        return ReduceMin


class AxisIndex(Collective):
    """Position along a named axis, int32."""

    def out_type(self, *types: ArrayType) -> ArrayType:
        return array_type((), np.int32)

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        return apply(Iota.of(np.dtype("i4"), (batch.size,), 0, None)), 0


class AllGather(Collective):
    """The values of all positions, stacked along `axis` (or concatenated if `tiled`)."""

    axes: tuple[Any, ...]
    size: int
    axis: int
    tiled: bool

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        shape = list(x.shape)
        if self.tiled:
            shape[self.axis] *= self.size
        else:
            shape.insert(self.axis, self.size)
        return array_type(tuple(shape), x.dtype, x.weak_type)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, primals[0]), apply(self, tangents[0])

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(PsumScatter.of(self.axes, self.size, self.axis, self.tiled), ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x = batch_first(args[0], dims[0], size)
        return apply(AllGather.of(self.axes, self.size, self.axis + 1, self.tiled), x), 0

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        (x,), (d,) = args, dims
        out = (
            move_batch(batch_first(x, None, self.size), 0, self.axis)
            if d is None
            else (move_batch(x, d, self.axis))
        )
        if self.tiled:
            shape = list(type_of(out).shape)
            shape[self.axis : self.axis + 2] = [shape[self.axis] * shape[self.axis + 1]]
            out = reshape(out, tuple(shape))
        return out, None


class PsumScatter(Collective):
    """Sum over a named axis, of which each position keeps one part along `axis`."""

    axes: tuple[Any, ...]
    size: int
    axis: int
    tiled: bool

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        shape = list(x.shape)
        if self.tiled:
            if shape[self.axis] % self.size:
                raise self._wrong(x)
            shape[self.axis] //= self.size
        elif shape[self.axis] != self.size:
            raise self._wrong(x)
        else:
            del shape[self.axis]
        return array_type(tuple(shape), x.dtype, x.weak_type)

    def _wrong(self, x: ArrayType) -> errors.ShapeError:
        rule = "divide by" if self.tiled else "equal"
        return errors.ShapeError(
            errors.explain(
                "psum_scatter",
                f"axis {self.axis} of size {x.shape[self.axis]} must {rule} the size "
                f"{self.size} of the named axis {self.axes[0]!r}",
                {"x": x},
            )
        )

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, primals[0]), apply(self, tangents[0])

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(AllGather.of(self.axes, self.size, self.axis, self.tiled), ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x = batch_first(args[0], dims[0], size)
        return apply(PsumScatter.of(self.axes, self.size, self.axis + 1, self.tiled), x), 0

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        total, _ = Psum.of(self.axes).vmap_axis(batch, args, dims)
        if not self.tiled:
            return total, self.axis
        shape = list(type_of(total).shape)
        shape[self.axis : self.axis + 1] = [self.size, shape[self.axis] // self.size]
        return reshape(total, tuple(shape)), self.axis


class Ppermute(Collective):
    """Send values along a named axis by (source, target) pairs; others receive zeros."""

    axes: tuple[Any, ...]
    pairs: tuple[tuple[int, int], ...]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, primals[0]), apply(self, tangents[0])

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        return (apply(Ppermute.of(self.axes, tuple((b, a) for a, b in self.pairs)), ct),)

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        x = batch_first(args[0], dims[0], batch.size)
        t = type_of(x)
        # one more row of zeros, for the positions that receive nothing
        padded = apply(Concatenate.of(0), x, full(array_type((1, *t.shape[1:]), t.dtype)))
        source = np.full((batch.size, 1), batch.size, np.int32)
        for a, b in self.pairs:
            source[b] = a
        offsets = tuple(range(1, t.ndim))
        numbers = GatherDimensionNumbers(offsets, (0,), (0,))
        return apply(Gather.of(numbers, (1, *t.shape[1:])), padded, source), 0


class AllToAll(Collective):
    """Split along `split_axis`, exchange over the named axis, join along `concat_axis`."""

    axes: tuple[Any, ...]
    size: int
    split_axis: int
    concat_axis: int
    tiled: bool

    def out_type(self, *types: ArrayType) -> ArrayType:
        (x,) = types
        shape = list(x.shape)
        n = shape[self.split_axis]
        if n % self.size if self.tiled else n != self.size:
            rule = "divide by" if self.tiled else "equal"
            raise errors.ShapeError(
                errors.explain(
                    "all_to_all",
                    f"split_axis {self.split_axis} of size {n} must {rule} the size {self.size} "
                    f"of the named axis {self.axes[0]!r}",
                    {"x": x},
                )
            )
        if self.tiled:
            shape[self.split_axis] //= self.size
            shape[self.concat_axis] *= self.size
        else:
            del shape[self.split_axis]
            shape.insert(self.concat_axis, self.size)
        return array_type(tuple(shape), x.dtype, x.weak_type)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return apply(self, primals[0]), apply(self, tangents[0])

    def transpose(self, ct: Any, *inputs: Any) -> Sequence[Any]:
        back = AllToAll.of(self.axes, self.size, self.concat_axis, self.split_axis, self.tiled)
        return (apply(back, ct),)

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x = batch_first(args[0], dims[0], size)
        op = self.replace(split_axis=self.split_axis + 1, concat_axis=self.concat_axis + 1)
        return apply(op, x), 0

    def vmap_axis(
        self, batch: Batch, args: Sequence[Any], dims: Sequence[int | None]
    ) -> tuple[Any, Any]:
        x = batch_first(args[0], dims[0], self.size)
        shape = list(type_of(x).shape[1:])
        if self.tiled:
            split = shape.copy()
            split[self.split_axis : self.split_axis + 1] = [
                self.size,
                shape[self.split_axis] // self.size,
            ]
            x = reshape(x, (self.size, *split))
        # axes are now (source, ..., part, ...): the part becomes the batch axis
        x = move_batch(x, self.split_axis + 1, 0)
        x = move_batch(x, 1, self.concat_axis + 1)
        if self.tiled:
            joined = list(type_of(x).shape)
            at = self.concat_axis + 1
            joined[at : at + 2] = [joined[at] * joined[at + 1]]
            x = reshape(x, tuple(joined))
        return x, 0
