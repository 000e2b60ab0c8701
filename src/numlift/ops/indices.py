"""What gather, scatter and dynamic slices share: dimension numbers, modes, arrays of indices."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..core.dims import known
from ..core.tracing import apply, type_of
from ..core.types import ArrayType, array_type
from ..sharding import rules
from ..structural.arith import Convert
from ..structural.shape import Reshape
from .elementwise_binary import min_

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
LARGEST = np.iinfo(np.int32).max


class GatherScatterMode(enum.Enum):
    """What gather and scatter do with indices that are out of bounds.

    CLIP: the index is moved to the nearest one such that the whole window is in bounds.
    FILL_OR_DROP: gather fills the window with `fill_value`; scatter drops the update.
    PROMISE_IN_BOUNDS: you promise that it does not happen. If it does, gather clips, scatter
    drops, and derivatives may be wrong.
    ONE_HOT: gather gives zeros, as a product with one-hot vectors would; scatter drops.
    """

    CLIP = 1
    FILL_OR_DROP = 2
    PROMISE_IN_BOUNDS = 3
    ONE_HOT = 4

    @staticmethod
    def from_any(mode: Any) -> GatherScatterMode:
        """The mode that a string, a mode or None stands for.

        Args:
            mode: ``"clip"``, ``"fill"`` or ``"drop"``, ``"promise_in_bounds"``, ``"one_hot"``, a
                member, or None for PROMISE_IN_BOUNDS.
        """
        if isinstance(mode, GatherScatterMode):
            return mode
        found = _MODES.get(mode) if mode is None or isinstance(mode, str) else None
        if found is None:
            raise errors.ValueArgumentError(
                errors.explain(
                    "mode",
                    f"{mode!r} is not a way to treat indices out of bounds",
                    try_='one of "clip", "fill", "drop", "promise_in_bounds"',
                )
            )
        return found


def is_asked(mode: Any) -> bool:
    """Whether the caller says what happens out of bounds, so that it is no mistake."""
    return mode is not None and GatherScatterMode.from_any(mode) is not PROMISE_IN_BOUNDS


_MODES = {
    None: GatherScatterMode.PROMISE_IN_BOUNDS,
    "clip": GatherScatterMode.CLIP,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "drop": GatherScatterMode.FILL_OR_DROP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
    "one_hot": GatherScatterMode.ONE_HOT,
}
CLIP = GatherScatterMode.CLIP
FILL_OR_DROP = GatherScatterMode.FILL_OR_DROP
PROMISE_IN_BOUNDS = GatherScatterMode.PROMISE_IN_BOUNDS
ONE_HOT = GatherScatterMode.ONE_HOT


class GatherDimensionNumbers(NamedTuple):
    """Which axes mean what in a gather. The last axis of the indices holds the index vectors.

    Attributes:
        offset_dims: axes of the result that run over a window, ascending.
        collapsed_slice_dims: axes of the operand with window size 1 that the result lacks.
        start_index_map: for each entry of an index vector, the axis of the operand it indexes.
        operand_batching_dims: axes of the operand that go along with ...
        start_indices_batching_dims: ... these axes of the indices, pair by pair.
    """

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes mean what in a scatter. The last axis of the indices holds the index vectors.

    Attributes:
        update_window_dims: axes of the updates that run over a window, ascending.
        inserted_window_dims: axes of the operand with window size 1 that the updates lack.
        scatter_dims_to_operand_dims: for each entry of an index vector, the operand's axis.
        operand_batching_dims: axes of the operand that go along with ...
        scatter_indices_batching_dims: ... these axes of the indices, pair by pair.
    """

    update_window_dims: Sequence[int]
    inserted_window_dims: Sequence[int]
    scatter_dims_to_operand_dims: Sequence[int]
    operand_batching_dims: Sequence[int] = ()
    scatter_indices_batching_dims: Sequence[int] = ()


def as_tuples(numbers: Any) -> Any:
    """Dimension numbers whose entries are tuples of Python ints, so that they can be hashed."""
    return type(numbers)(*[tuple([int(d) for d in dims]) for dims in numbers])


def scatter_numbers(d: GatherDimensionNumbers) -> ScatterDimensionNumbers:
    """The scatter that puts elements where this gather takes them from."""
    return ScatterDimensionNumbers(*d)


def gather_numbers(d: ScatterDimensionNumbers) -> GatherDimensionNumbers:
    """The gather that takes elements from where this scatter puts them."""
    return GatherDimensionNumbers(*d)  # type: ignore[arg-type]


def shifted(dims: Sequence[int]) -> tuple[int, ...]:
    """Axes after a new axis was put in front."""
    return tuple([d + 1 for d in dims])


def check_indices(function: str, t: ArrayType, operands: dict[str, ArrayType]) -> None:
    """Raise unless `t` is the type of an array of index vectors."""
    if t.kind not in "iu":
        raise errors.DTypeError(
            errors.explain(
                function,
                f"indices must be integers, not {t.dtype}",
                operands,
                try_="indices.astype(int)",
            )
        )
    if not t.ndim:
        raise errors.ShapeError(
            errors.explain(
                function,
                "indices need a last axis that holds the index vectors",
                operands,
                try_="indices[None]",
            )
        )


def check_numbers(
    function: str,
    numbers: GatherDimensionNumbers,
    sizes: Sequence[int],
    x: ArrayType,
    indices: ArrayType,
) -> None:
    """Raise unless dimension numbers and window sizes fit the operand and the indices.

    Args:
        function: name for the message.
        numbers: of a gather, or those of a scatter as a gather's.
        sizes: size of the window in each axis of the operand.
        x: type of the operand.
        indices: type of the indices.
    """
    rule = _broken_rule(numbers, sizes, x, indices)
    if rule is not None:
        raise errors.ShapeError(
            errors.explain(
                function,
                rule,
                {
                    "operand": x,
                    "indices": indices,
                    "window": tuple(sizes),
                    "dimension_numbers": numbers,
                },
            )
        )


def _broken_rule(
    d: GatherDimensionNumbers, sizes: Sequence[int], x: ArrayType, indices: ArrayType
) -> str | None:
    rank, batch_rank = x.ndim, indices.ndim - 1
    gone = d.collapsed_slice_dims + d.operand_batching_dims
    for what, dims, bound in (
        ("collapsed, inserted and batching dimensions of the operand", gone, rank),
        ("indexed dimensions of the operand", d.start_index_map + d.operand_batching_dims, rank),
        ("batching dimensions of the indices", d.start_indices_batching_dims, batch_rank),
        ("window dimensions", d.offset_dims, len(d.offset_dims) + batch_rank),
    ):
        if len(set(dims)) != len(dims) or not all(0 <= i < bound for i in dims):
            return f"{what} {dims} must be different and in range({bound})"
    if list(d.offset_dims) != sorted(d.offset_dims):
        return f"window dimensions {d.offset_dims} must ascend"
    if len(sizes) != rank or len(d.offset_dims) + len(gone) != rank:
        return (
            f"the operand has {rank} axes: each must be a window axis, collapsed (inserted) or a "
            f"batching axis, and have a window size"
        )
    if indices.shape[-1] != len(d.start_index_map):
        return (
            f"index vectors have {indices.shape[-1]} entries (the last axis of the indices), but "
            f"{len(d.start_index_map)} axes of the operand are indexed"
        )
    for i, (n, size) in enumerate(zip(x.shape, sizes, strict=True)):
        if not 0 <= size <= n:
            return f"the window has size {size} in axis {i} of the operand, which has size {n}"
        if (i in d.collapsed_slice_dims and size != 1) or (
            i in d.operand_batching_dims and size > 1
        ):
            return f"axis {i} is collapsed or batching, so its window must have size 1, not {size}"
    if len(d.operand_batching_dims) != len(d.start_indices_batching_dims):
        return "operand and indices must have equally many batching dimensions"
    for i, j in zip(d.operand_batching_dims, d.start_indices_batching_dims, strict=True):
        if x.shape[i] != indices.shape[j]:
            return (
                f"batching axis {i} of the operand has size {x.shape[i]}, its partner {j} of the "
                f"indices has size {indices.shape[j]}"
            )
    return None


def count_of_windows(indices: ArrayType, batching: Sequence[int]) -> int:
    """How many index vectors there are for each index of the batching axes."""
    count = 1
    for i, n in enumerate(indices.shape[:-1]):
        if i not in batching:
            count *= n
    return count


# ---- in rules ---------------------------------------------------------------------------------


def keep_if_divisible(function: str, entries: list[Any], old: Any, new: Any, x: ArrayType) -> Any:
    """Sharding of a result whose sizes changed: a split axis must still divide evenly.

    Args:
        function: name for the message.
        entries: one entry of the spec for each axis of the result.
        old, new: sizes before and after.
        x: type of the operand, which has a sharding.
    """
    mesh = x.sharding.mesh
    for i, entry in enumerate(entries):
        if entry is None or old[i] == new[i]:
            continue
        ways = 1
        for name in rules.axis_names_in(entry):
            ways *= mesh.shape[name]
        if new[i] % ways:
            raise errors.ShardingError(
                errors.explain(
                    function,
                    f"axis {i} is split over {entry!r} in {ways} parts, which do not divide its "
                    f"new size {new[i]} (it was {old[i]})",
                    {"operand": x},
                    try_="x.at[...].get(out_sharding=P(...)), or nl.reshard(x, P(...)) first",
                )
            )
    return rules.named(mesh, entries)


def column(x: Any) -> Any:
    """Indices as index vectors of one entry: a new last axis of size 1."""
    return apply(Reshape.of((*type_of(x).shape, 1), None), x)


def signed(x: Any) -> Any:
    """Indices as int32 (64-bit ones as int64); too great unsigned ones become the greatest."""
    t = type_of(x)
    if t.dtype == INT32 or t.dtype == INT64:
        return x
    wide = INT64 if t.dtype.itemsize == 8 else INT32
    if t.kind == "u" and t.dtype.itemsize >= 4:
        x = apply(min_, x, t.dtype.type(np.iinfo(wide).max))
    return apply(Convert.of(wide, False), x)


# ---- in lowerings -----------------------------------------------------------------------------


def ints(values: Sequence[Any]) -> str:
    """Integers as MLIR text, without the brackets."""
    return ", ".join(map(str, values))


def wide_indices(
    ctx: Any, name: str, t: ArrayType, extents: Sequence[int]
) -> tuple[str, ArrayType]:
    """Indices as int32, or int64 where that is needed; unsigned ones never become negative.

    Args:
        ctx: the builder.
        name, t: operand text and type of the indices.
        extents: sizes of the indexed axes.
    """
    long = t.dtype == INT64 or any(known(n, 0) > LARGEST for n in extents)
    wide = array_type(t.shape, INT64 if long else INT32)
    if t.kind == "u" and t.dtype.itemsize >= wide.dtype.itemsize:
        limit = ctx.full(np.iinfo(wide.dtype).max, t)
        name = ctx.emit(f"stablehlo.minimum {name}, {limit} : {t.mlir}")
    return ctx.convert(name, t, wide), wide


def per_entry(ctx: Any, values: Sequence[int], t: ArrayType) -> str:
    """Constant like the indices: values[i] at entry i of each index vector."""
    if len(set(values)) == 1 or not t.ndim:
        return ctx.full(values[0], t)
    row = array_type((len(values),), t.dtype)
    return ctx.broadcast(ctx.integers(values, row), row, t, (t.ndim - 1,))


def wrapped(ctx: Any, name: str, t: ArrayType, extents: Sequence[int]) -> str:
    """Negative indices counted from the end: i + n where i < 0."""
    if not t.size:
        return name
    bools = array_type(t.shape, np.bool_).mlir
    zero = ctx.full(0, t)
    negative = ctx.emit(
        f"stablehlo.compare LT, {name}, {zero}, SIGNED : ({t.mlir}, {t.mlir}) -> {bools}"
    )
    plus = ctx.emit(f"stablehlo.add {name}, {per_entry(ctx, extents, t)} : {t.mlir}")
    return ctx.emit(f"stablehlo.select {negative}, {plus}, {name} : {bools}, {t.mlir}")


def clamped(ctx: Any, name: str, t: ArrayType, upper: Sequence[int]) -> str:
    """Indices moved into 0 .. upper, entry by entry."""
    if not t.size:
        return name
    low, high = ctx.full(0, t), per_entry(ctx, upper, t)
    return ctx.emit(f"stablehlo.clamp {low}, {name}, {high} : {t.mlir}")


def inside(ctx: Any, name: str, t: ArrayType, upper: Sequence[int]) -> tuple[str, ArrayType]:
    """For each index vector: whether all its entries are in 0 .. upper."""
    each, whole = array_type(t.shape, np.bool_), array_type(t.shape[:-1], np.bool_)
    if not t.size:
        return ctx.full(True, whole), whole
    kept = clamped(ctx, name, t, upper)
    same = ctx.emit(
        f"stablehlo.compare EQ, {kept}, {name}, SIGNED : ({t.mlir}, {t.mlir}) -> {each.mlir}"
    )
    if t.shape[-1] == 1:
        return ctx.emit(f"stablehlo.reshape {same} : ({each.mlir}) -> {whole.mlir}"), whole
    return ctx.reduce("stablehlo.and", same, True, each, whole, (t.ndim - 1,)), whole


def entry(ctx: Any, name: str, t: ArrayType, i: int) -> str:
    """Entry i of the only index vector, as a scalar."""
    one = array_type((1,) * t.ndim, t.dtype)
    if t.shape[-1] != 1:
        parts = ", ".join(["0:1"] * (t.ndim - 1) + [f"{i}:{i + 1}"])
        name = ctx.emit(f"stablehlo.slice {name} [{parts}] : ({t.mlir}) -> {one.mlir}")
    return ctx.emit(f"stablehlo.reshape {name} : ({one.mlir}) -> {array_type((), t.dtype).mlir}")
