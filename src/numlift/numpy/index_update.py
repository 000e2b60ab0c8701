"""Changed copies: ``x.at[index].set(v)`` and its relatives, with all of NumPy's indices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..api.library import library
from ..core.dtypes import dtype_short_name, result_type_of
from ..core.integers import check_integer
from ..core.tracing import EVAL, Value, apply, current, type_of
from ..core.types import ArrayType, array_type
from ..ops.elementwise_binary import max_, min_
from ..ops.indices import (
    CLIP,
    FILL_OR_DROP,
    INT32,
    LARGEST,
    PROMISE_IN_BOUNDS,
    GatherScatterMode,
    ScatterDimensionNumbers,
    is_asked,
)
from ..ops.scatter import (
    Scatter,
    ScatterAdd,
    ScatterMax,
    ScatterMin,
    ScatterMul,
    ScatterSet,
    ScatterSub,
)
from ..ops.shape import Pad, Rev
from ..ops.slicing import DynamicUpdateSlice
from ..structural.arith import add, convert, mul, select, sub
from ..structural.shape import Broadcast, Reshape, full
from .index_parse import (
    Item,
    Many,
    MaskIndex,
    New,
    Parsed,
    Scalar,
    Span,
    Static,
    broken,
    parse,
    traced_mask,
)
from .indexing import (
    Layout,
    from_template,
    index_rows,
    layout_of,
    on_device,
    small,
    static_slice,
    template,
)
from .util import as_value, broadcast_to_shape

mode_of = GatherScatterMode.from_any
_COMBINE: dict[type[Scatter], Any] = {
    ScatterAdd: add,
    ScatterSub: sub,
    ScatterMul: mul,
    ScatterMin: min_,
    ScatterMax: max_,
}


class Options(NamedTuple):
    """The keyword arguments of updates."""

    indices_are_sorted: bool = False
    unique_indices: bool = False
    mode: Any = None
    wrap: bool = True


def update(
    kind: type[Scatter],
    x: Any,
    index: Any,
    values: Any,
    options: Options,
    in_place: bool = False,
) -> Any:
    """``x.at[index].set(values)``, or another kind of update.

    Args:
        kind: of update.
        x, index, values, options: what to update.
        in_place: on a known array, the result may take over the memory of `x`.
    """
    t = x.type
    values = as_value(values, "at[...]", "values")
    if current.get() is EVAL:
        found = template(index)
        if found is not None:
            values = on_device(cast_values(values, t))
            movable = options.wrap and t.sharding is None
            window = _window(index, found, t) if movable else None
            if window is not None:
                numbers, rows, backwards, shapes = window
                put: Any = _put_window_in_place if in_place else _put_window
                return put(x, values, on_device(rows), kind, numbers, backwards, shapes)
            put = _put_template_in_place if in_place else _put_template
            return put((x, values, *found[1]), found[0], kind, options)
    return _update(kind, x, index, values, options)


def _update(kind: type[Scatter], x: Any, index: Any, values: Any, options: Options) -> Any:
    t = x.type
    try:
        parsed = parse(index, t, False, options.wrap)
    except MaskIndex as found:
        return _masked(kind, x, index, values, found)
    values = cast_values(values, t)
    if not parsed.advanced and not parsed.dynamic:
        return _basic(kind, x, parsed.items, values)
    if parsed.advanced and _is_mask(index) and _fits_rest(values, t, np.ndim(index)):
        return _where(kind, x, np.asarray(index), values)
    plan = plan_update(parsed, t, options)
    if plan.empty:
        plan.check(values)
        return x
    op = kind.of(
        plan.numbers, plan.mode, plan.unique, plan.ordered, plan.wrap, is_asked(options.mode)
    )
    return apply(op, x, plan.rows, plan.arranged(values))


def cast_values(values: Any, t: ArrayType) -> Any:
    """Values of an update with the dtype of the array.

    Warns (FutureWarning) if that may lose information; Python numbers adopt the dtype silently
    where their kind fits.
    """
    u = type_of(values)
    if isinstance(values, int) and type(values) is not bool:
        check_integer("at[...]", int(values), t.dtype)
    if u.dtype == t.dtype:
        return values
    if u.kind == "k" or t.kind == "k":
        raise errors.DTypeError(
            errors.explain(
                "at[...]", "random keys and numbers do not mix", {"array": t, "values": u}
            )
        )
    common, _ = result_type_of(((t.dtype, t.weak_type), (u.dtype, u.weak_type)))
    if common != t.dtype and not (t.weak_type and u.kind == t.kind):
        warnings.warn(
            errors.explain(
                "at[...]",
                f"values of dtype {dtype_short_name(u.dtype)} do not fit into "
                f"{dtype_short_name(t.dtype)}; they are converted, which may lose information",
                {"array": t, "values": u},
                try_=f"values.astype({dtype_short_name(t.dtype)!r}), or convert the array first",
            ),
            FutureWarning,
            stacklevel=errors.user_depth(),
        )
    if isinstance(values, Value) or np.ndim(values):
        return convert(values, t.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(values).astype(t.dtype)[()]


# ---- on known arrays: one program ---------------------------------------------------------------


@library()
def _put_template(values: tuple[Any, ...], key: Any, kind: type[Scatter], options: Options) -> Any:
    """An update as one program."""
    x, updates, *leaves = values
    return _update(kind, x, from_template(key, leaves), updates, Options(*options))


_windows: dict[tuple[Any, ...], Any] = {}


def _window(index: Any, found: tuple[Any, list[Any]], t: ArrayType) -> Any:
    """One window at known starts: (numbers, starts, reversed axes, shapes); None if it is not."""
    key, leaves = found
    if leaves:
        return None
    name = (t.shape, key)
    try:
        return _windows[name]
    except KeyError:
        planned = _plan_window(parse(index, t, False), t)
    if len(_windows) >= 1 << 14:
        _windows.clear()
    _windows[name] = planned
    return planned


def _plan_window(parsed: Parsed, t: ArrayType) -> Any:
    items = parsed.items
    spans = [i for i in items if type(i) is Span]
    if parsed.dynamic or any(s.step != 1 or not s.size for s in spans):
        return None
    moving = [i for i in items if type(i) is Static or (type(i) is Span and not i.whole)]
    starts = [i.value if type(i) is Static else i.start for i in moving]
    rows = np.asarray(starts, np.int64 if any(s > LARGEST for s in starts) else INT32)
    numbers = ScatterDimensionNumbers(
        tuple(range(len(spans))),
        tuple([i.axis for i in items if type(i) is Static]),
        tuple([i.axis for i in moving]),
    )
    full_shape = tuple([i.size if type(i) is Span else 1 for i in items if type(i) in (Span, New)])
    backwards = tuple([n for n, s in enumerate(spans) if s.backwards])
    return numbers, rows, backwards, (full_shape, tuple([s.size for s in spans]))


@library(3)
def _put_window(
    x: Any,
    values: Any,
    rows: Any,
    kind: type[Scatter],
    numbers: ScatterDimensionNumbers,
    backwards: tuple[int, ...],
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
) -> Any:
    """An update of one window whose place is an operand: one program serves all places."""
    whole, inner = shapes
    values = _reshape(fit(values, whole, x.type), inner)
    if backwards and type_of(values).ndim:
        values = apply(Rev.of(backwards), values)
    op = kind.of(ScatterDimensionNumbers(*numbers), CLIP, True, True, False)
    return apply(op, x, rows, _spread(values, inner))


_put_template_in_place = library(in_place=True)(_put_template.__wrapped__)  # type: ignore[attr-defined]
_put_window_in_place = library(3, True)(_put_window.__wrapped__)  # type: ignore[attr-defined]


# ---- masks ------------------------------------------------------------------------------------


def _is_mask(index: Any) -> bool:
    """Whether an index is one known bool array with axes."""
    if isinstance(index, Value):
        return index.type.kind == "b" and index.type.ndim > 0
    return isinstance(index, np.ndarray) and index.dtype == np.bool_ and index.ndim > 0


def _fits_rest(values: Any, t: ArrayType, masked: int) -> bool:
    """Whether values do not depend on which elements the mask selects."""
    shape = type_of(values).shape
    rest = t.shape[masked:]
    if len(shape) > len(rest) and all(n == 1 for n in shape[: len(shape) - len(rest)]):
        shape = shape[len(shape) - len(rest) :]
    return len(shape) <= len(rest) and all(
        n in (1, m) for n, m in zip(reversed(shape), reversed(rest))
    )


def _masked(kind: type[Scatter], x: Any, index: Any, values: Any, found: MaskIndex) -> Any:
    """An update where a traced mask is True."""
    t, mask = x.type, found.mask
    alone = found.position == 0 and (
        not isinstance(index, tuple)
        or all(e is Ellipsis or (type(e) is slice and e == slice(None)) for e in index[1:])
    )
    m = type_of(mask)
    if alone and m.shape == t.shape[: m.ndim]:
        same = type_of(values).shape == t.shape
        if same or _fits_rest(values, t, m.ndim):
            return _where(kind, x, mask, cast_values(values, t))
    elif alone:
        raise broken(f"the mask has shape {m.shape}, the array {t.shape}", t, mask)
    raise traced_mask(mask, t)


def _where(kind: type[Scatter], x: Any, mask: Any, values: Any) -> Any:
    t = x.type
    m, v = type_of(mask), type_of(values)
    if m.shape != t.shape[: m.ndim]:
        raise broken(f"the mask has shape {m.shape}, the array {t.shape}", t, mask)
    if v.ndim > t.ndim or (v.ndim and v.shape != t.shape):
        rest = t.shape[m.ndim :]
        if v.ndim > len(rest):
            values = apply(Reshape.of(v.shape[v.ndim - len(rest) :], None), values)
        if rest:
            values = broadcast_to_shape(values, t.shape)
    if m.ndim < t.ndim:
        mask = apply(Broadcast.of(t.shape, tuple(range(m.ndim)), None), mask)
    if kind is not ScatterSet:
        values = apply(_COMBINE[kind], x, values)
    return apply(select, mask, x, values)


# ---- basic indices ----------------------------------------------------------------------------


def _basic(kind: type[Scatter], x: Any, items: Sequence[Item], values: Any) -> Any:
    """Spans and known integers in bounds: no scatter is needed."""
    t = x.type
    spans = [i for i in items if type(i) is Span]
    shape = tuple([i.size if type(i) is Span else 1 for i in items if type(i) in (Span, New)])
    values = fit(values, shape, t)
    inner = tuple([s.size for s in spans])
    values = _reshape(values, inner)
    backwards = tuple([n for n, s in enumerate(spans) if s.backwards])
    if backwards and type_of(values).ndim:
        values = apply(Rev.of(backwards), values)
    if 0 in inner:
        return x
    strided = any(s.step != 1 for s in spans)
    if kind is not ScatterSet:
        window = static_slice(items, t)
        old = x if window is None else apply(window, x)
        values = apply(_COMBINE[kind], old, values)
    sizes = [1] * t.ndim
    for s in spans:
        sizes[s.axis] = s.size
    if strided:
        return _put_strided(x, items, _spread(values, tuple(sizes)))
    starts = [np.int32(0)] * t.ndim
    for item in items:
        if type(item) is not New:
            starts[item.axis] = small(item.start if type(item) is Span else item.value)
    return apply(DynamicUpdateSlice.of(False), x, _spread(values, tuple(sizes)), *starts)


def _put_strided(x: Any, items: Sequence[Item], values: Any) -> Any:
    """Values between elements that stay: padded apart and selected, which XLA fuses."""
    t = x.type
    config: list[tuple[int, int, int]] = [(0, 0, 0)] * t.ndim
    for item in items:
        if type(item) is Span:
            config[item.axis] = (item.start, t.shape[item.axis] - item.limit, item.step - 1)
        elif type(item) is Static:
            config[item.axis] = (item.value, t.shape[item.axis] - item.value - 1, 0)
    pad = Pad.of(tuple(config))
    ones = full(array_type(type_of(values).shape, np.dtype(np.bool_)), True)
    mask = apply(pad, ones, np.False_)
    filler = t.dtype.type(0)
    return apply(select, mask, x, apply(pad, values, filler))


# ---- values -----------------------------------------------------------------------------------


def fit(values: Any, shape: tuple[int, ...], t: ArrayType) -> Any:
    """Values broadcast to the shape of the indexed part; a scalar stays one.

    Raises:
        ShapeError: they do not broadcast.
    """
    v = type_of(values).shape
    if v == shape or not v:
        return values
    if len(v) > len(shape) and all(n == 1 for n in v[: len(v) - len(shape)]):
        values = apply(Reshape.of(v[len(v) - len(shape) :], None), values)
        v = type_of(values).shape
    if len(v) > len(shape) or any(n not in (1, m) for n, m in zip(reversed(v), reversed(shape))):
        raise errors.ShapeError(
            errors.explain(
                "at[...]",
                f"values of shape {v} do not broadcast to the indexed part, which has shape "
                f"{shape}",
                {"array": t, "values": type_of(values)},
            )
        )
    return broadcast_to_shape(values, shape)


def _reshape(values: Any, shape: tuple[int, ...]) -> Any:
    """Values without the new axes of the index; a scalar stays one."""
    v = type_of(values).shape
    return values if v == shape or not v else apply(Reshape.of(shape, None), values)


def _spread(values: Any, shape: tuple[int, ...]) -> Any:
    """Values as an array of this shape."""
    t = type_of(values)
    if t.shape == shape:
        return values
    if t.ndim:
        return apply(Reshape.of(shape, None), values)
    return apply(Broadcast.of(shape, (), None), values)


# ---- other indices ----------------------------------------------------------------------------


class UpdatePlan(NamedTuple):
    """A scatter for an index: everything but the values."""

    numbers: ScatterDimensionNumbers
    rows: Any
    mode: GatherScatterMode
    unique: bool
    ordered: bool
    wrap: bool
    full: tuple[int, ...]
    """Shape of the indexed part, with new axes."""
    inner: tuple[int, ...]
    """Shape of the updates."""
    backwards: tuple[int, ...]
    type: ArrayType
    empty: bool

    def check(self, values: Any) -> None:
        """Raise if values do not fit the indexed part."""
        fit(values, self.full, self.type)

    def arranged(self, values: Any) -> Any:
        """Values as updates of the scatter."""
        values = _reshape(fit(values, self.full, self.type), self.inner)
        if self.backwards and type_of(values).ndim:
            values = apply(Rev.of(self.backwards), values)
        return _spread(values, self.inner)


class Column(NamedTuple):
    """Indices along one axis: how their axes lie among the batch axes."""

    axis: int
    value: Any
    strided: int | None
    """Position among the spans, if these are the elements of a slice with a step."""


def plan_update(parsed: Parsed, t: ArrayType, options: Options) -> UpdatePlan:
    """The scatter that changes the elements of an index."""
    items = parsed.items
    layout = layout_of(items, t)
    spans = [i for i in items if type(i) is Span]
    columns = [
        Column(i.axis, i.value, None)
        for i in items
        if isinstance(i, (Static, Scalar, Many)) and i.axis >= 0
    ]
    for n, s in enumerate(spans):
        if s.step != 1:
            columns.append(Column(s.axis, np.arange(s.start, s.limit, s.step, INT32), n))
        elif not s.whole:
            columns.append(Column(s.axis, np.asarray(s.start), None))
    inner = [s.size for s in spans]
    inner[layout.place : layout.place] = layout.shape
    batch = _batch_axes(layout, spans)
    shape = tuple([inner[i] for i in batch])
    if 0 in layout.full:
        return _nothing(layout, inner, t)
    for c in columns:
        if not t.shape[c.axis]:
            raise broken(f"axis {c.axis} has size 0, so every index is out of bounds", t, "array")
    values = [_placed(c, layout, spans, batch) for c in columns]
    limits = [t.shape[c.axis] for c in columns]
    rows, hints = index_rows(values, limits, shape, options.wrap)
    mode = FILL_OR_DROP if options.mode is None else mode_of(options.mode)
    unique, ordered = options.unique_indices, options.indices_are_sorted
    if hints is not None:
        if hints.inside:
            mode = CLIP if math.prod(shape) == 1 else PROMISE_IN_BOUNDS
        unique, ordered = unique or hints.unique, ordered or hints.ordered
    windows = [s.axis for s in spans if s.step == 1]
    numbers = ScatterDimensionNumbers(
        tuple([i for i in range(len(inner)) if i not in batch]),
        tuple([i for i in range(t.ndim) if i not in windows]),
        tuple([c.axis for c in columns]),
    )
    shift = len(layout.shape)
    backwards = tuple(
        [n + (shift if n >= layout.place else 0) for n, s in enumerate(spans) if s.backwards]
    )
    return UpdatePlan(
        numbers, rows, mode, unique, ordered, options.wrap, layout.full, tuple(inner), backwards, t,
        False,
    )  # fmt: skip


def _nothing(layout: Layout, inner: Sequence[int], t: ArrayType) -> UpdatePlan:
    numbers = ScatterDimensionNumbers((), (), ())
    return UpdatePlan(
        numbers, None, CLIP, False, False, False, layout.full, tuple(inner), (), t, True
    )


def _batch_axes(layout: Layout, spans: Sequence[Span]) -> list[int]:
    """Axes of the updates that run over index vectors."""
    rank = len(layout.shape)
    axes = list(range(layout.place, layout.place + rank))
    for n, s in enumerate(spans):
        if s.step != 1:
            axes.append(n + (rank if n >= layout.place else 0))
    return sorted(axes)


def _placed(column: Column, layout: Layout, spans: Sequence[Span], batch: Sequence[int]) -> Any:
    """Indices with axes of size 1, such that they broadcast to the batch axes."""
    value, rank = column.value, len(layout.shape)
    own = np.ndim(value) if not isinstance(value, Value) else value.type.ndim
    if not own:
        return value
    if column.strided is not None:
        n = column.strided
        axis = n + (rank if n >= layout.place else 0)
        sizes = [len(value) if b == axis else 1 for b in batch]
        return value.reshape(sizes)
    given = iter(value.shape)
    inner = range(layout.place + rank - own, layout.place + rank)
    sizes = [next(given) if b in inner else 1 for b in batch]
    if tuple(sizes) == tuple(value.shape):
        return value
    if isinstance(value, np.ndarray):
        return value.reshape(sizes)
    return apply(Reshape.of(tuple(sizes), None), value)
