"""conv_general_dilated: convolutions of any layout, stride, dilation and grouping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import errors
from ..core.dims import known, max_size
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import convert
from ..structural.shape import Transpose, reshape
from .bilinear import Bilinear
from .conv_lowering import lower_conv
from .dot import product_dtype
from .precision import CanonicalPrecision
from .shape import Rev


class ConvDimensionNumbers(NamedTuple):
    """Where the axes of a convolution are.

    Attributes:
        lhs_spec: axes of lhs: batch, feature, then the spatial axes in order.
        rhs_spec: axes of rhs: output feature, input feature, spatial axes.
        out_spec: axes of the result: batch, feature, spatial axes.
    """

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


class ConvGeneralDilated(Bilinear):
    """out[b, o, y] = sum over i, k of lhs[b, i, y * stride + k * rhs_dilation] * rhs[o, i, k].

    `padding` is one pair a spatial axis (negative crops), after `lhs_dilation` put zeros between
    the elements of lhs.
    """

    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    lhs_dilation: tuple[int, ...]
    rhs_dilation: tuple[int, ...]
    numbers: ConvDimensionNumbers
    feature_groups: int = 1
    batch_groups: int = 1
    precision: CanonicalPrecision = None
    preferred: Any = None
    sharding: Any = None

    def out_type(self, *types: ArrayType) -> ArrayType:
        x, y = types
        self._check(x, y)
        sharding = self.sharding
        if sharding is None and (x.sharding is not None or y.sharding is not None):
            sharding = self.shard(x, y)
        return array_type(self.out_shape(x, y), self.preferred or x.dtype, False, sharding)

    def out_shape(self, x: ArrayType, y: ArrayType) -> tuple[int, ...]:
        """Shape of the result."""
        lhs, rhs, out = self.numbers
        shape = [0] * x.ndim
        shape[out[0]] = x.shape[lhs[0]] // self.batch_groups
        shape[out[1]] = y.shape[rhs[0]]
        for i, size in enumerate(self._spatial(x.shape, y.shape)):
            shape[out[2 + i]] = size
        return tuple(shape)

    def _spatial(self, x: tuple[int, ...], y: tuple[int, ...]) -> list[int]:
        """Spatial sizes of the result."""
        sizes = []
        for i, (low, high) in enumerate(self.padding):
            n = dilated(x[self.numbers.lhs_spec[2 + i]], self.lhs_dilation[i]) + low + high
            k = dilated(y[self.numbers.rhs_spec[2 + i]], self.rhs_dilation[i])
            sizes.append(max_size((n - k) // self.strides[i] + 1, 0) if n >= 0 else 0)
        return sizes

    def _check(self, x: ArrayType, y: ArrayType) -> None:
        if x.kind not in "biufc" or y.kind not in "biufc":
            raise errors.DTypeError(self._text("operands must be bool or numbers", x, y))
        if x.dtype != y.dtype:
            raise errors.DTypeError(
                self._text("operands must have the same dtype", x, y, "x.astype(...) on one")
            )
        lhs, rhs, _ = self.numbers
        features, groups = x.shape[lhs[1]], self.feature_groups
        outputs, inputs = y.shape[rhs[0]], y.shape[rhs[1]]
        rule = ""
        if groups < 1 or self.batch_groups < 1:
            rule = "feature_group_count and batch_group_count must be positive"
        elif known(groups, 2) > 1 and known(self.batch_groups, 2) > 1:
            rule = (
                "at most one of feature_group_count and batch_group_count may be above 1, got "
                f"{groups} and {self.batch_groups}"
            )
        elif features % groups or x.shape[lhs[0]] % self.batch_groups:
            rule = (
                f"feature_group_count={groups} must divide the feature size {features} of lhs, "
                f"and batch_group_count={self.batch_groups} its batch size {x.shape[lhs[0]]}"
            )
        elif features // groups != inputs:
            rule = (
                f"the input feature size of rhs (axis {rhs[1]}) must be the feature size of lhs "
                f"(axis {lhs[1]}) / feature_group_count: {inputs} is not {features} // {groups}"
            )
        elif outputs % (groups * self.batch_groups):
            rule = (
                f"the output feature size {outputs} of rhs (axis {rhs[0]}) must be a multiple of "
                f"the group count {groups * self.batch_groups}"
            )
        if rule:
            raise errors.ShapeError(
                self._text(rule, x, y, "dimension_numbers=('NHWC', 'HWIO', 'NHWC') or other specs")
            )

    def _text(self, rule: str, x: ArrayType, y: ArrayType, try_: str | None = None) -> str:
        return errors.explain(
            "conv_general_dilated", rule, {"lhs": x, "rhs": y, "dimension_numbers": self.numbers},
            try_=try_,
        )  # fmt: skip

    # ---- derivatives -------------------------------------------------------------------------

    def transpose_lhs(self, ct: Any, x: ArrayType, y: Any) -> Any:
        """Convolve the (dilated) cotangent with the mirrored kernel, in and out swapped."""
        lhs, rhs, out = self.numbers
        ys, cs = type_of(y).shape, type_of(ct).shape
        padding = []
        for i, (low, _) in enumerate(self.padding):
            kernel = dilated(ys[rhs[2 + i]], self.rhs_dilation[i])
            before = kernel - 1 - low
            full = dilated(x.shape[lhs[2 + i]], self.lhs_dilation[i]) + kernel - 1
            padding.append((before, full - dilated(cs[out[2 + i]], self.strides[i]) - before))
        groups = self.feature_groups * self.batch_groups
        kernel_spec = rhs
        if known(self.feature_groups, 2) > 1:
            y = regroup(y, rhs[0], rhs[1], self.feature_groups)
        elif known(self.batch_groups, 2) > 1:
            # Here rhs is [(g, o), i]: it becomes [(g, i), o] by the same move.
            y = regroup(y, rhs[0], rhs[1], self.batch_groups)
        swapped = (kernel_spec[1], kernel_spec[0], *kernel_spec[2:])
        numbers = ConvDimensionNumbers(out, swapped, lhs)
        op = ConvGeneralDilated.of(
            self.lhs_dilation, tuple(padding), self.strides, self.rhs_dilation, numbers, groups, 1,
            self.precision, x.dtype, None if known(self.batch_groups, 2) > 1 else x.sharding,
        )  # fmt: skip
        result = apply(op, *same_dtype(ct, apply(Rev.of(rhs[2:]), y)))
        if known(self.batch_groups, 2) > 1:
            result = regroup(result, lhs[1], lhs[0], self.batch_groups)
        return result

    def transpose_rhs(self, ct: Any, x: Any, y: ArrayType) -> Any:
        """Convolve lhs with the cotangent as kernel, batch and feature swapped."""
        lhs, rhs, out = self.numbers
        xs, cs = type_of(x).shape, type_of(ct).shape
        padding = []
        for i, (low, _) in enumerate(self.padding):
            window = dilated(cs[out[2 + i]], self.strides[i])
            size = dilated(xs[lhs[2 + i]], self.lhs_dilation[i])
            kernel = dilated(y.shape[rhs[2 + i]], self.rhs_dilation[i])
            padding.append((low, kernel - 1 + window - size - low))
        numbers = ConvDimensionNumbers(
            (lhs[1], lhs[0], *lhs[2:]), (out[1], out[0], *out[2:]), (rhs[1], rhs[0], *rhs[2:])
        )
        op = ConvGeneralDilated.of(
            self.rhs_dilation, tuple(padding), self.lhs_dilation, self.strides, numbers,
            self.batch_groups, self.feature_groups, self.precision, y.dtype, y.sharding,
        )  # fmt: skip
        return apply(op, *same_dtype(x, ct))

    # ---- batching ----------------------------------------------------------------------------

    def vmap(self, size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, Any]:
        x, y = args
        dx, dy = dims
        lhs, rhs, out = self.numbers
        features, batches = self.feature_groups, self.batch_groups
        op = self if self.sharding is None else self.replace(sharding=None)
        if dx is not None and dy is not None:
            if known(batches, 2) > 1:
                x = merge_axis(x, dx, lhs[0], 1)
                op = op.replace(batch_groups=size * batches)
            else:
                x = merge_axis(x, dx, lhs[1], 1)
                op = op.replace(feature_groups=size * features)
            y = merge_axis(y, dy, rhs[0], 1)
            return split_axis(apply(op, x, y), out[1], 1, size)
        if dx is not None:
            result = apply(op, merge_axis(x, dx, lhs[0], batches), y)
            return split_axis(result, out[0], 1, size)
        assert dy is not None
        groups = features * batches
        result = apply(op, x, merge_axis(y, dy, rhs[0], groups))
        return split_axis(result, out[1], groups, size)

    def shard(self, *types: ArrayType) -> Any:
        x, y = types
        lhs, rhs, out = self.numbers
        xs, ys = rules.spec_of(x), rules.spec_of(y)
        if xs[lhs[1]] is not None or any(ys[a] is not None for a in rhs[1:]):
            raise rules.conflict(
                "conv_general_dilated",
                "the feature axis of lhs may not be sharded, and of rhs only that of the output",
                types,
            )
        grouped = self.feature_groups * self.batch_groups > 1
        if grouped and (
            ys[rhs[0]] is not None or (self.batch_groups > 1 and xs[lhs[0]] is not None)
        ):
            raise rules.conflict("conv_general_dilated", "a grouped axis may not be sharded", types)
        entries: list[Any] = [None] * x.ndim
        entries[out[0]], entries[out[1]] = xs[lhs[0]], ys[rhs[0]]
        for a, b in zip(out[2:], lhs[2:], strict=True):
            entries[a] = xs[b]
        used = [n for e in entries for n in rules.axis_names_in(e)]
        if len(used) != len(set(used)):
            raise rules.conflict(
                "conv_general_dilated", "one mesh axis would shard two axes of the result", types
            )
        sharding = rules.named(rules.mesh_of(types), entries)
        if sharding is not None:
            rules.check_divides("conv_general_dilated", sharding, self.out_shape(x, y), types)
        return sharding

    def lower(self, ctx: Any, operands: list[str], types: Any, outs: Any) -> str:
        return lower_conv(self, ctx, operands, types, outs[0])


def dilated(size: int, dilation: int) -> int:
    """Size after `dilation - 1` zeros were put between neighbours."""
    return 0 if size == 0 else (size - 1) * dilation + 1


def same_dtype(x: Any, y: Any) -> tuple[Any, Any]:
    """Both operands in the wider of their dtypes (a cotangent may be wider than the kernel)."""
    dtype = product_dtype(type_of(x).dtype, type_of(y).dtype)
    return convert(x, dtype), convert(y, dtype)


def regroup(x: Any, source: int, target: int, groups: int) -> Any:
    """Move the outer factor `groups` of axis `source` to the front of axis `target`."""
    shape = list(type_of(x).shape)
    shape[source] //= groups
    wide = list(shape)
    wide.insert(source, groups)
    x = reshape(x, tuple(wide))
    order = [a for a in range(len(wide)) if a != source]
    place = target if target < source else target + 1
    order.insert(order.index(place), source)
    shape[target] *= groups
    return reshape(apply(Transpose.of(tuple(order)), x), tuple(shape))


def merge_axis(x: Any, dim: int, axis: int, groups: int) -> Any:
    """Merge axis `dim` into `axis` (counted without it), inside its `groups` outer blocks."""
    shape = type_of(x).shape
    rest = shape[:dim] + shape[dim + 1 :]
    size, place = shape[dim], axis if axis < dim else axis + 1
    final = list(rest)
    final[axis] *= size
    inner = rest[axis] // groups
    if groups == 1:
        order = [a for a in range(len(shape)) if a != dim]
        order.insert(order.index(place), dim)
        return reshape(_transpose(x, order), tuple(final))
    wide = list(shape)
    wide[place : place + 1] = [groups, inner]
    x = reshape(x, tuple(wide))
    moved = dim if dim < place else dim + 1
    order = [a for a in range(len(wide)) if a != moved]
    order.insert(order.index(place) + 1, moved)
    return reshape(_transpose(x, order), tuple(final))


def split_axis(x: Any, axis: int, groups: int, size: int) -> tuple[Any, int]:
    """Undo `merge_axis` on a result: returns it and where the axis of length `size` is."""
    shape = list(type_of(x).shape)
    inner = shape[axis] // (groups * size)
    if groups == 1:
        shape[axis : axis + 1] = [size, inner]
        return reshape(x, tuple(shape)), axis
    wide = [*shape[:axis], groups, size, inner, *shape[axis + 1 :]]
    x = reshape(x, tuple(wide))
    order = list(range(len(wide)))
    order[axis], order[axis + 1] = order[axis + 1], order[axis]
    shape[axis : axis + 1] = [size, groups * inner]
    return reshape(_transpose(x, order), tuple(shape)), axis


def _transpose(x: Any, order: list[int]) -> Any:
    if order == list(range(len(order))):
        return x
    return apply(Transpose.of(tuple(order)), x)
