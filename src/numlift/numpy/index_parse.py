"""What an index such as ``x[1:, None, i, mask]`` means, axis by axis."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..core.dims import Dim, as_size, is_nonnegative, max_size, min_size
from ..core.tracing import Tracer, Value, type_of
from ..core.types import ArrayType
from ..structural.dim_value import size_as
from .index_arrays import extremes

FUNCTION = "indexing"


class New(NamedTuple):
    """A new axis of size 1 (None)."""


class Span(NamedTuple):
    """A slice of an axis: `size` elements from `start` on, every step-th; then maybe reversed."""

    axis: int
    start: int
    size: int
    step: int
    backwards: bool
    whole: bool

    @property
    def limit(self) -> int:
        """Where the slice ends (excluded)."""
        return self.start + (self.size - 1) * self.step + 1 if self.size else self.start


class Static(NamedTuple):
    """An integer known now and in bounds, not negative."""

    axis: int
    value: int


class Scalar(NamedTuple):
    """An integer scalar that is traced or on a device, or known and out of bounds."""

    axis: int
    value: Any


class Many(NamedTuple):
    """An array of integers; axis -1 is a bool scalar, which indexes no axis."""

    axis: int
    value: Any


Item = New | Span | Static | Scalar | Many


class Parsed(NamedTuple):
    """An index: its items in the order of the index."""

    items: list[Item]
    advanced: bool
    """Whether there is an array of integers or bools."""
    dynamic: bool
    """Whether there is an integer scalar that is not known or not in bounds."""


class MaskIndex(Exception):
    """Raised by `parse` for a bool array whose value is not known."""

    def __init__(self, mask: Any, position: int, count: int) -> None:
        super().__init__()
        self.mask, self.position, self.count = mask, position, count


def broken(rule: str, t: ArrayType, index: Any, try_: str | None = None) -> errors.IndexingError:
    """The error for an index that breaks a rule."""
    shown = type_of(index) if isinstance(index, Value) else index
    return errors.IndexingError(
        errors.explain(FUNCTION, rule, {"array": t, "index": shown}, try_=try_)
    )


def traced_mask(mask: Any, t: ArrayType) -> errors.IndexingError:
    """The error for a traced mask where its value is needed."""
    return errors.NonConcreteBooleanIndexError(
        errors.explain(
            FUNCTION,
            "a bool array as index must be known while tracing, because the shape of the result "
            "depends on its values",
            {"array": t, "mask": type_of(mask)},
            try_="where(mask, x, 0) keeps the shape; x.at[mask].set(value) works too",
        )
    )


def parse(index: Any, t: ArrayType, strict: bool = True, wrap: bool = True) -> Parsed:
    """Items of an index.

    Args:
        index: what is between the brackets.
        t: type of the indexed array.
        strict: a known integer that is out of bounds is an error.
        wrap: negative integers count from the end.

    Raises:
        IndexingError: malformed index, too many entries, or out of bounds.
        MaskIndex: a bool array's value is not known.
    """
    entries = [_convert(e, t) for e in (index if isinstance(index, tuple) else (index,))]
    used = sum([_axes_used(e) for e in entries])
    if used > t.ndim:
        raise broken(
            f"too many indices: the array has {t.ndim} axes, but {used} are indexed",
            t,
            index,
            f"at most {t.ndim} indices; None adds an axis",
        )
    ellipses = [i for i, e in enumerate(entries) if e is Ellipsis]
    if len(ellipses) > 1:
        raise broken(
            "an index can have only one ellipsis (...)", t, index, "a slice : for each other axis"
        )
    whole = [_WHOLE] * (t.ndim - used)
    if ellipses:
        entries[ellipses[0] : ellipses[0] + 1] = whole
    else:
        entries += whole
    items: list[Item] = []
    axis = 0
    for position, entry in enumerate(entries):
        axis = _add(items, entry, axis, t, strict, wrap, (position, len(entries)))
    advanced = any(type(i) is Many for i in items)
    return Parsed(items, advanced, any(type(i) is Scalar for i in items))


_WHOLE = slice(None)


def _convert(entry: Any, t: ArrayType) -> Any:
    """An entry as int, slice, None, Ellipsis, bool, NumPy array or `Value`."""
    kind = type(entry)
    if kind is int or kind is slice or entry is None or entry is Ellipsis or kind is bool:
        return entry
    if isinstance(entry, Value):
        return _convert_value(entry, t)
    if kind is Dim:
        return entry
    if isinstance(entry, (list, tuple)):
        entry = _from_list(entry, t)
        if isinstance(entry, Value):
            return _convert_value(entry, t)
    if isinstance(entry, (np.ndarray, np.generic)):
        if entry.dtype == np.bool_:
            return entry if entry.ndim else bool(entry)
        if entry.dtype.kind in "iu":
            return entry if entry.ndim else int(entry)
    elif hasattr(entry, "__index__") and not isinstance(entry, type):
        return operator.index(entry)
    elif (
        isinstance(entry, np.memmap) or hasattr(entry, "__array__") and not isinstance(entry, type)
    ):
        return _convert(np.asarray(entry), t)
    shown = None if isinstance(entry, type) else getattr(entry, "dtype", None)
    raise broken(
        "an index is an integer, a slice, None, ..., or an array of integers or bools, not "
        + (f"an array of {shown}" if shown is not None else f"a {kind.__name__}"),
        t,
        entry,
        "x.astype(int) for whole numbers that are floats"
        if shown is not None
        else "int(index), or x[name] of a dict of arrays for names",
    )


def _convert_value(entry: Any, t: ArrayType) -> Any:
    u = entry.type
    if u.kind == "b":
        known = entry.concrete() if isinstance(entry, Tracer) else entry
        if known is None or isinstance(known, Tracer):
            return entry
        known = np.asarray(known)
        return known if known.ndim else bool(known)
    if u.kind not in "iu":
        raise broken(f"an array of {u.dtype} cannot be an index", t, entry, "x.astype(int)")
    return entry


def _from_list(entry: Any, t: ArrayType) -> Any:
    if _holds_tracers(entry):
        raise broken(
            "a list of traced values cannot be an index", t, "list", "np.stack the list first"
        )
    try:
        found = np.asarray(entry)
    except ValueError:
        found = None
    if found is None or found.dtype.kind not in "biuf":
        raise broken(
            "a list as index must hold integers or bools",
            t,
            entry,
            "a tuple for one index an axis, or a list of integers",
        )
    return found.astype(np.int32) if not found.size else found


def _holds_tracers(entry: Any) -> bool:
    if isinstance(entry, (list, tuple)):
        return any(_holds_tracers(e) for e in entry)
    return isinstance(entry, Tracer)


def _axes_used(entry: Any) -> int:
    """How many axes of the array an entry indexes."""
    if entry is None or entry is Ellipsis or type(entry) is bool:
        return 0
    if isinstance(entry, np.ndarray) and entry.dtype == np.bool_:
        return entry.ndim
    if isinstance(entry, Value) and entry.type.kind == "b":
        return entry.type.ndim
    return 1


def _add(
    items: list[Item],
    entry: Any,
    axis: int,
    t: ArrayType,
    strict: bool,
    wrap: bool,
    place: tuple[int, int],
) -> int:
    """Append the items of one entry; returns the next axis."""
    kind = type(entry)
    if entry is None:
        items.append(New())
        return axis
    if kind is slice:
        items.append(_span(entry, axis, t))
        return axis + 1
    if kind is int or kind is Dim:
        items.append(_integer(entry, axis, t, strict, wrap))
        return axis + 1
    if kind is bool:
        items.append(Many(-1, np.zeros(int(entry), np.int32)))
        return axis
    if isinstance(entry, np.ndarray):
        if entry.dtype == np.bool_:
            return _mask(items, entry, axis, t)
        if strict and entry.size:
            _check_known(entry, axis, t, wrap)
        items.append(Many(axis, entry))
        return axis + 1
    if entry.type.kind == "b":
        raise MaskIndex(entry, *place)
    items.append(Many(axis, entry) if entry.type.ndim else Scalar(axis, entry))
    return axis + 1


def _check_known(index: np.ndarray, axis: int, t: ArrayType, wrap: bool) -> None:
    """Raise if an element of a known array of indices is out of bounds, as NumPy does."""
    size = t.shape[axis]
    if type(size) is Dim:
        return
    for value in extremes(index):
        if not (-size if wrap else 0) <= value < size:
            raise broken(
                f"index {value} is out of bounds for axis {axis} with size {size}",
                t,
                index,
                try_="x.at[index].get(mode='clip') or mode='fill' to allow it",
            )


def _integer(value: int, axis: int, t: ArrayType, strict: bool, wrap: bool) -> Item:
    size = t.shape[axis]
    if type(size) is Dim or type(value) is Dim:
        return _symbolic_integer(value, size, axis, wrap)
    lowest = -size if wrap else 0
    if lowest <= value < size:
        return Static(axis, value + size if value < 0 else value)
    if strict:
        raise broken(
            f"index {value} is out of bounds for axis {axis} with size {size}",
            t,
            value,
            f"an index from {-size} to {size - 1}"
            if size
            else "an array with elements: the axis is empty",
        )
    limit = np.iinfo(np.int32)
    return Scalar(axis, np.int32(min(max(value, limit.min), limit.max)))


def _span(entry: slice, axis: int, t: ArrayType) -> Span:
    size = t.shape[axis]
    if entry.start is None and entry.stop is None and entry.step is None:
        return Span(axis, 0, size, 1, False, True)
    if Dim in (type(size), type(entry.start), type(entry.stop), type(entry.step)):
        return _symbolic_span(entry, axis, t)
    try:
        start, stop, step = entry.indices(size)
    except TypeError:
        raise _slice_error(entry, axis, t) from None
    except ValueError:
        raise errors.ValueArgumentError(
            errors.explain(
                FUNCTION, "the step of a slice cannot be 0", {"array": t}, try_="x[::1] or x[::-1]"
            )
        ) from None
    count = len(range(start, stop, step))
    if step < 0:
        start, step = start + (count - 1) * step, -step
        backwards = count > 1
    else:
        backwards = False
    if count <= 1:
        step = 1
    if count == 0:
        start = 0
    whole = count == size and not backwards
    return Span(axis, start, count, step, backwards, whole)


def _symbolic_integer(value: Any, size: Any, axis: int, wrap: bool) -> Item:
    """An index that is known to be inside, or one that the program looks at."""
    negative = is_nonnegative(-1 - value)
    place = value + size if negative and wrap else value
    if negative is not None and is_nonnegative(place) and is_nonnegative(size - 1 - place):
        return Static(axis, place)
    return Scalar(axis, size_as(value, np.dtype(np.int32)))


def _symbolic_span(entry: slice, axis: int, t: ArrayType) -> Span:
    """`_span` where the size of the axis or a bound is symbolic."""
    size = t.shape[axis]
    try:
        step = 1 if entry.step is None else operator.index(entry.step)
        start, stop = [None if x is None else as_size(x) for x in (entry.start, entry.stop)]
    except TypeError:
        raise _slice_error(entry, axis, t) from None
    if step == 0:
        raise errors.ValueArgumentError(
            errors.explain(
                FUNCTION, "the step of a slice cannot be 0", {"array": t}, try_="x[::1] or x[::-1]"
            )
        )
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first, last = (low, high) if step > 0 else (high, low)
    start = first if start is None else _bound(start, low, high, size)
    stop = last if stop is None else _bound(stop, low, high, size)
    # the ceiling of (stop - start) / step
    count = max_size(0, (stop - start + step - (1 if step > 0 else -1)) // step)
    if step < 0:
        start = start + (count - 1) * step
    whole = count == size and step == 1
    return Span(axis, start, count, abs(step), step < 0, whole)


def _bound(x: Any, low: Any, high: Any, size: Any) -> Any:
    """A bound of a slice, counted from the end if it is negative, inside the axis."""
    if x < 0:
        return max_size(x + size, low)
    return min_size(x, high)


def _slice_error(entry: slice, axis: int, t: ArrayType) -> Exception:
    parts = (entry.start, entry.stop, entry.step)
    if any(isinstance(p, Tracer) for p in parts):
        return broken(
            f"the bounds of a slice must be known while tracing (axis {axis})",
            t,
            "slice of traced values",
            "lax.dynamic_slice_in_dim(x, start, size), whose start may be traced",
        )
    shown = [type_of(p) if isinstance(p, Value) else p for p in parts]
    return errors.ArgumentError(
        errors.explain(
            FUNCTION,
            f"the bounds of a slice must be integers or None (axis {axis})",
            {"array": t, "start, stop, step": shown},
        )
    )


def _mask(items: list[Item], mask: np.ndarray, axis: int, t: ArrayType) -> int:
    """A known mask is as many arrays of integers as it has axes."""
    for i, n in enumerate(mask.shape):
        if n != t.shape[axis + i]:
            raise broken(
                f"the mask has size {n} in axis {i}, but axis {axis + i} of the array has size "
                f"{t.shape[axis + i]}",
                t,
                mask,
                "a mask of the shape of the axes that it indexes",
            )
    for i, found in enumerate(np.nonzero(mask)):
        items.append(Many(axis + i, found.astype(np.int32)))
    return axis + mask.ndim


def is_group(items: Sequence[Item]) -> tuple[int, bool]:
    """Position of the first integer or array item, and whether all of them are neighbours."""
    places = [i for i, item in enumerate(items) if not isinstance(item, (New, Span))]
    if not places:
        return 0, True
    return places[0], places[-1] - places[0] + 1 == len(places)
