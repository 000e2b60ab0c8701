"""Reading elements: ``x[index]`` with all of NumPy's indices.

Basic indices (integers, slices, None, ...) become one slice. Arrays of integers become one gather.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .. import config, errors
from ..api.library import library
from ..core.dims import Dim
from ..core.staging import Stage
from ..core.tracing import EVAL, Interpreter, Value, apply, current, type_of
from ..core.types import ArrayType
from ..lax.dot import as_sharding
from ..lax.indexing import static_scalar
from ..lax.shape import broadcast_shapes
from ..lax.slicing import stack_columns
from ..ops.gather import Gather
from ..ops.indices import (
    CLIP,
    INT32,
    INT64,
    LARGEST,
    PROMISE_IN_BOUNDS,
    GatherDimensionNumbers,
    GatherScatterMode,
    is_asked,
)
from ..ops.shape import Rev
from ..ops.slicing import DynamicSlice, Slice
from ..runtime.transfer import as_array
from ..structural import arith
from ..structural.dim_value import size_as
from ..structural.shape import Reshape, full
from .index_parse import (
    Item,
    Many,
    MaskIndex,
    New,
    Scalar,
    Span,
    Static,
    broken,
    is_group,
    parse,
    traced_mask,
)
from .util import broadcast_to_shape

mode_of = GatherScatterMode.from_any


def staging() -> bool:
    """Whether operations are being written down, so that constants are free.

    Otherwise every operation is compiled as it is met: then an index that is an argument of the
    program serves all indices, and a loop over ``x[i]`` compiles once.
    """
    frame: Interpreter | None = current.get()
    while frame is not None:
        if type(frame) is Stage:
            return True
        frame = frame.parent
    return False


# ---- basic indices ----------------------------------------------------------------------------


class BasicRead(NamedTuple):
    """How to read a basic index of arrays of one shape."""

    steps: tuple[Any, ...]
    """Operations to apply one after the other."""
    gather: Any
    """The first operation instead, when nothing is staged ..."""
    rows: np.ndarray | None
    """... and its second operand; None if there is none."""
    rest: tuple[Any, ...]
    """The operations after `gather`."""


_plans: dict[tuple[Any, ...], BasicRead] = {}
_LIMIT = 1 << 14


def basic_key(index: Any) -> Any:
    """A hashable form of an index of Python ints, slices of them, None and ...; else None."""
    kind = type(index)
    if kind is int:
        return index
    if kind is not tuple:
        index = (index,)
    key: list[Any] = []
    for e in index:
        kind = type(e)
        if kind is int or e is None or e is Ellipsis:
            key.append(e)
        elif kind is slice:
            parts = (e.start, e.stop, e.step)
            for p in parts:
                if p is not None and type(p) is not int:
                    return None
            key.append(parts)
        else:
            return None
    return tuple(key)


def _has_known_integers(index: Any) -> bool:
    """Whether NumPy arrays of integers are in an index."""
    for e in index if type(index) is tuple else (index,):
        if isinstance(e, np.ndarray) and e.dtype.kind in "iu":
            return True
    return False


def getitem(x: Any, index: Any) -> Any:
    """``x[index]``.

    Integer scalars and arrays that are traced or on a device and out of bounds are clamped, as
    they cannot be checked; Python integers, lists and NumPy arrays out of bounds raise.

    Raises:
        IndexingError: malformed, too many entries, or a known index out of bounds.
        NonConcreteBooleanIndexError: the index is a traced mask.
    """
    t = x.type
    key = basic_key(index)
    if key is None:
        if current.get() is EVAL:
            if _has_known_integers(index):
                parse(index, t)  # raises where one of them is out of bounds
            found = _of_mask(index, t) or template(index)
            if found is not None:
                return _read_template((x, *found[1]), found[0], None)
        elif isinstance(index, Value) and not index.type.ndim and index.type.kind in "iu":
            op, zeros = _leading(t.shape)
            if op is not None:
                return apply(op, x, index, *zeros)
        return read(x, index)
    plan = _plans.get((t.shape, key))
    if plan is None:
        plan = _plan(index, t)
        if len(_plans) >= _LIMIT:
            _plans.clear()
        _plans[t.shape, key] = plan
    steps = plan.steps
    if plan.gather is not None and t.sharding is None and not staging():
        x = apply(plan.gather, x, on_device(plan.rows))
        steps = plan.rest
    for op in steps:
        x = apply(op, x)
    return x


@lru_cache(maxsize=4096)
def _leading(shape: tuple[int, ...]) -> tuple[DynamicSlice | None, tuple[Any, ...]]:
    """How to take one traced index of the first axis."""
    if not shape or not shape[0]:
        return None, ()
    return DynamicSlice.of((1, *shape[1:]), True, (0,)), (INT32.type(0),) * (len(shape) - 1)


def _plan(index: Any, t: ArrayType) -> BasicRead:
    items = parse(index, t).items
    first = static_slice(items, t)
    rest = finishing(items)
    steps = rest if first is None else (first, *rest)
    spans = [i for i in items if type(i) is Span]
    indexed = [i for i in items if type(i) is Static or (type(i) is Span and not i.whole)]
    starts = [i.value if type(i) is Static else i.start for i in indexed]
    symbolic = any(type(n) is Dim for n in (*t.shape, *starts))
    if first is None or symbolic or any(s.step != 1 for s in spans):
        return BasicRead(steps, None, None, ())
    drop = tuple([i.axis for i in items if type(i) is Static])
    sizes = [1] * t.ndim
    for s in spans:
        sizes[s.axis] = s.size
    moving = [i for i in indexed if sizes[i.axis] != t.shape[i.axis] or type(i) is Static]
    numbers = GatherDimensionNumbers(
        tuple(range(t.ndim - len(drop))), drop, tuple([i.axis for i in moving])
    )
    starts = [i.value if type(i) is Static else i.start for i in moving]
    rows = np.asarray(starts, INT64 if any(s > LARGEST for s in starts) else INT32)
    op = Gather.of(numbers, tuple(sizes), PROMISE_IN_BOUNDS, None, True, True, False, None)
    return BasicRead(steps, op, rows, rest)


def static_slice(items: Sequence[Item], t: ArrayType) -> Slice | None:
    """The slice that takes the spans and static integers of an index; None if that is all."""
    starts, limits, strides = [0] * t.ndim, list(t.shape), [1] * t.ndim
    drop = []
    for item in items:
        if type(item) is Span:
            starts[item.axis], limits[item.axis] = item.start, item.limit
            strides[item.axis] = item.step
        elif type(item) is Static:
            starts[item.axis], limits[item.axis] = item.value, item.value + 1
            drop.append(item.axis)
    if not drop and limits == list(t.shape) and not any(starts) and all(k == 1 for k in strides):
        return None
    return Slice.of(
        tuple(starts),
        tuple(limits),
        None if all(k == 1 for k in strides) else tuple(strides),
        tuple(drop),
    )


def finishing(items: Sequence[Item]) -> tuple[Any, ...]:
    """Operations after the spans of a basic index were taken: reversals and new axes."""
    kept = [i for i in items if type(i) is Span]
    backwards = tuple([n for n, s in enumerate(kept) if s.backwards])
    found: list[Any] = [Rev.of(backwards)] if backwards else []
    if any(type(i) is New for i in items):
        shape = tuple([i.size if type(i) is Span else 1 for i in items if type(i) in (Span, New)])
        found.append(Reshape.of(shape, None))
    return tuple(found)


_small: dict[tuple[Any, ...], Any] = {}
_SMALL = 64


def on_device(x: Any) -> Any:
    """A NumPy array or scalar as an array on the default device; small ones are kept."""
    if isinstance(x, Value):
        return x
    x = np.asarray(x)
    if x.nbytes > _SMALL:
        return as_array(x)
    key = (x.dtype, x.shape, x.tobytes(), config.current())
    found = _small.get(key)
    if found is None:
        if len(_small) >= _LIMIT:
            _small.clear()
        found = _small[key] = as_array(x)
    return found


# ---- other indices ----------------------------------------------------------------------------


def read(
    x: Any,
    index: Any,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
    fill_value: Any = None,
    wrap: bool = True,
    out_sharding: Any = None,
    strict: bool = True,
) -> Any:
    """``x[index]`` with the options of ``x.at[index].get()``."""
    t = x.type
    try:
        parsed = parse(index, t, strict and mode is None, wrap)
    except MaskIndex as found:
        raise traced_mask(found.mask, t) from None
    chosen = CLIP if mode is None else mode_of(mode)
    if not parsed.advanced and out_sharding is None:
        if not parsed.dynamic:
            first = static_slice(parsed.items, t)
            for op in (*([] if first is None else [first]), *finishing(parsed.items)):
                x = apply(op, x)
            return x
        signs = any(type_of(i.value).kind == "i" for i in parsed.items if type(i) is Scalar)
        if mode is None and (wrap or not signs):
            return _dynamic(x, parsed.items)
    x, items = _cut(x, parsed.items)
    fill_value = static_scalar("get", "fill_value", fill_value)
    sharding, asked = out_sharding, is_asked(mode)
    options = (chosen, fill_value, unique_indices, indices_are_sorted, wrap, sharding, asked)
    return _gather(x, items, index, options)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Stands for an array in the template of an index."""

    position: int


def template(index: Any) -> tuple[Any, list[Any]] | None:
    """An index with its integer arrays taken out: hashable, and the arrays; None if it is not."""
    leaves: list[Any] = []
    key: list[Any] = []
    for e in index if type(index) is tuple else (index,):
        kind = type(e)
        if kind is int or e is None or e is Ellipsis:
            key.append(e)
        elif kind is slice:
            parts = (e.start, e.stop, e.step)
            if any(p is not None and type(p) is not int for p in parts):
                return None
            key.append(parts)
        elif isinstance(e, (Value, np.ndarray)) and type_of(e).kind in "iu":
            key.append(Leaf(len(leaves)))
            leaves.append(on_device(e))
        else:
            return None
    return tuple(key), leaves


def _of_mask(index: Any, t: ArrayType) -> tuple[Any, list[Any]] | None:
    """`template` of an index that is one known mask: of the places where it is True."""
    if not isinstance(index, (Value, np.ndarray)):
        return None
    u = type_of(index)
    if u.kind != "b" or not u.ndim or u.shape != t.shape[: u.ndim] or max(u.shape) > LARGEST:
        return None
    places = np.nonzero(np.asarray(index))
    return tuple(map(Leaf, range(u.ndim))), [on_device(rows) for rows in places]


def from_template(key: Any, leaves: Sequence[Any]) -> tuple[Any, ...]:
    """The index that a template stands for."""
    return tuple(
        [
            leaves[e.position] if type(e) is Leaf else slice(*e) if type(e) is tuple else e
            for e in key
        ]
    )


@library()
def _read_template(values: tuple[Any, ...], key: Any, options: Any) -> Any:
    """A read as one program, when arrays are known."""
    x, *leaves = values
    index = from_template(key, leaves)
    return read(x, index) if options is None else read(x, index, **dict(options))


def _dynamic(x: Any, items: list[Item]) -> Any:
    """Scalars and spans: one dynamic slice."""
    if any(type(i) is Span and i.step != 1 for i in items):
        x, items = _cut(x, items)
    shape = x.type.shape
    starts: list[Any] = [INT32.type(0)] * len(shape)
    sizes = list(shape)
    drop = []
    for item in items:
        if type(item) is Span:
            starts[item.axis], sizes[item.axis] = small(item.start), item.size
        elif type(item) is not New:
            value = item.value
            starts[item.axis] = small(value) if type(value) in (int, Dim) else value
            sizes[item.axis] = 1
            drop.append(item.axis)
    for axis in drop:
        if not shape[axis]:
            raise broken(f"axis {axis} has size 0 and no elements", x.type, "integer")
    x = apply(DynamicSlice.of(tuple(sizes), True, tuple(drop)), x, *starts)
    for op in finishing(items):
        x = apply(op, x)
    return x


def small(value: int) -> Any:
    """A known index as a typed scalar."""
    if type(value) is Dim:
        return size_as(value, np.dtype(INT32))
    return np.int64(value) if value > LARGEST else np.int32(value)


def _cut(x: Any, items: list[Item]) -> tuple[Any, list[Item]]:
    """Take the spans of an index with other items; returns the rest, whose spans are whole."""
    spans = [i for i in items if type(i) is Span]
    op = static_slice(spans, x.type)
    if op is not None:
        x = apply(op, x)
    backwards = tuple([s.axis for s in spans if s.backwards])
    if backwards:
        x = apply(Rev.of(backwards), x)
    return x, [Span(i.axis, 0, i.size, 1, False, True) if type(i) is Span else i for i in items]


class Layout(NamedTuple):
    """Where the axes of the index arrays are in the result."""

    shape: tuple[int, ...]
    """Common shape of the index arrays."""
    place: int
    """Position of their axes among those of the spans."""
    full: tuple[int, ...]
    """Shape of the result, with its new axes."""


def layout_of(items: Sequence[Item], t: ArrayType) -> Layout:
    """NumPy's rule: the axes of neighbouring index arrays are where the arrays are, else first.

    Raises:
        IndexingError: the index arrays do not broadcast.
    """
    shapes = [i.value.shape for i in items if type(i) is Many]
    try:
        shape = broadcast_shapes(*shapes)
    except errors.ShapeError:
        text = ", ".join(map(str, shapes))
        rule = f"index arrays of shapes {text} do not broadcast together"
        raise broken(rule, t, f"arrays of shapes {text}") from None
    first, together = is_group(items)
    place = 0
    sizes: list[int] = []
    for n, item in enumerate(items):
        if n == first and together:
            place = sum([type(i) is Span for i in items[:n]])
            sizes += shape
        if type(item) is Span:
            sizes.append(item.size)
        elif type(item) is New:
            sizes.append(1)
    if not together:
        sizes = [*shape, *sizes]
    return Layout(shape, place, tuple(sizes))


def _gather(x: Any, items: list[Item], index: Any, options: tuple[Any, ...]) -> Any:
    mode, fill_value, unique, ordered, wrap, sharding, asked = options
    t = x.type
    layout = layout_of(items, t)
    columns = [i for i in items if isinstance(i, (Static, Scalar, Many)) and i.axis >= 0]
    if 0 in layout.shape:
        return full(t.update(shape=layout.full, sharding=None))
    for c in columns:
        if not t.shape[c.axis]:
            raise broken(
                f"axis {c.axis} has size 0, so every index is out of bounds", t, index,
                "an empty array of indices",
            )  # fmt: skip
    axes = tuple([c.axis for c in columns])
    rows, hints = index_rows([c.value for c in columns], [t.shape[a] for a in axes], layout.shape,
                             wrap)  # fmt: skip
    if hints is not None:
        mode = PROMISE_IN_BOUNDS if hints.inside else mode
        ordered, unique = ordered or hints.ordered, unique or hints.unique
    rank = t.ndim - len(axes) + len(layout.shape)
    batch = range(layout.place, layout.place + len(layout.shape))
    numbers = GatherDimensionNumbers(
        tuple([i for i in range(rank) if i not in batch]), tuple(sorted(axes)), axes
    )
    sizes = tuple([1 if i in axes else n for i, n in enumerate(t.shape)])
    if sharding is not None:
        sharding = as_sharding(sharding, (x,), "get")
    op = Gather.of(numbers, sizes, mode, fill_value, unique, ordered, wrap, sharding, asked)
    out = apply(op, x, rows)
    return out if out.type.shape == layout.full else apply(Reshape.of(layout.full, None), out)


class Hints(NamedTuple):
    """What is known about indices that are known."""

    inside: bool
    ordered: bool
    unique: bool


def index_rows(
    columns: Sequence[Any], sizes: Sequence[int], shape: tuple[int, ...], wrap: bool
) -> tuple[Any, Hints | None]:
    """Arrays of indices as one array of index vectors, and what is known about them.

    Args:
        columns: integers, scalars or arrays; known ones are ints or NumPy arrays.
        sizes: size of the axis that each indexes.
        shape: shape to broadcast all to.
        wrap: known negative indices are counted from the end here.
    """
    if not columns:
        return np.zeros((*shape, 0), INT32), Hints(True, False, False)
    known = [
        _normal(c, n, wrap) if not isinstance(c, Value) and type(n) is not Dim else None
        for c, n in zip(columns, sizes, strict=True)
    ]
    if any(type(n) is Dim for n in (*sizes, *shape)):
        wide = [_wide_column(c, n, wrap, shape) for c, n in zip(columns, sizes, strict=True)]
        return stack_columns(wide), None
    if all(k is not None for k in known):
        rows = np.stack([np.broadcast_to(k, shape) for k in known], -1)
        inside = bool(np.all((rows >= 0) & (rows < np.asarray(sizes, np.int64))))
        # Those outside may be clamped to the place of another.
        return rows, Hints(inside, *(_order(rows) if inside else (False, False)))
    parts = [
        np.broadcast_to(k, shape) if k is not None else broadcast_to_shape(c, shape)
        for c, k in zip(columns, known, strict=True)
    ]
    return stack_columns(parts), None


def _wide_column(column: Any, size: Any, wrap: bool, shape: tuple[int, ...]) -> Any:
    """An index array as one operand of symbolic shape; known indices are counted from 0 here."""
    if not isinstance(column, Value):
        if type(size) is not Dim:
            column = _normal(column, size, wrap)
        elif wrap and np.any(np.asarray(column) < 0):
            column = _from_end(np.asarray(column).astype(INT32), size)
    return broadcast_to_shape(column, shape)


def _from_end(column: np.ndarray, size: Dim) -> Any:
    moved = apply(arith.add, column, size_as(size, np.dtype(INT32)))
    return apply(arith.select, column < 0, moved, column)


def _normal(column: Any, size: int, wrap: bool) -> np.ndarray:
    wide = np.asarray(column).astype(np.int64)
    if wrap:
        wide = np.where(wide < 0, wide + size, wide)
        # Before the first: so far outside that counting from the end again does not matter.
        wide = np.where(wide < 0, -LARGEST - 1, wide)
    if size > LARGEST:
        return wide
    return np.clip(wide, -LARGEST - 1, LARGEST).astype(INT32)


_MOST_CHECKED = 4096


def _order(rows: np.ndarray) -> tuple[bool, bool]:
    """Whether single known indices ascend, and whether they are different."""
    if rows.shape[-1] != 1 or rows.size > _MOST_CHECKED:
        return False, math.prod(rows.shape[:-1]) == 1
    flat = rows.ravel()
    steps = np.diff(flat)
    ordered = bool(np.all(steps >= 0))
    unique = bool(np.all(steps > 0)) if ordered else len(np.unique(flat)) == len(flat)
    return ordered, unique
