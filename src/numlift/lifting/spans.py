"""Slices whose bounds are traced: ``a[i:i+2]`` and ``a[:i]``.

Where stop minus start is the same for every value, as in ``a[i-1:i+n]``, the slice is a window:
an array of known size. Other slices, as ``a[:i]``, select elements whose number is not known, like
a mask does.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from .. import numpy as nlnp
from ..core.graph import Literal
from ..core.staging import Staged
from ..core.tracing import Value, type_of
from ..structural.arith import Add, Convert, Mul, Neg, Sub
from ..transforms.vmap import Batched
from .selection import Selection, cast

_Linear = tuple[dict[Any, int], int]
"""Variable -> coefficient, and the constant: 2 i + 3 is ({i: 2}, 3)."""


def _linear(x: Any) -> _Linear:
    """An integer as a sum of multiples of variables and a constant."""
    while type(x) is Batched:
        x = x.value
    if not isinstance(x, Value):
        return {}, int(x)
    if type(x) is not Staged:
        return {id(x): 1}, 0
    made = {v: eq for eq in x.owner.equations for v in eq.outputs}
    return _linear_atom(x.atom, made, x.owner.captured, 32)


def _linear_atom(atom: Any, made: Any, captured: Any, depth: int) -> _Linear:
    if type(atom) is Literal:
        return {}, int(atom.value)
    if atom in captured:
        return _linear(captured[atom])
    eq = made.get(atom)
    kind = None if eq is None or not depth else type(eq.op)
    if kind not in (Add, Sub, Mul, Neg, Convert) or any(t.type.kind not in "iu" for t in eq.inputs):
        return {atom: 1}, 0
    parts = [_linear_atom(y, made, captured, depth - 1) for y in eq.inputs]
    if kind is Convert:
        return parts[0]
    if kind is Neg:
        return _sum(({}, 0), parts[0], -1)
    if kind is not Mul:
        return _sum(parts[0], parts[1], 1 if kind is Add else -1)
    for factor, other in (parts, parts[::-1]):
        if not factor[0]:
            return _sum(({}, 0), other, factor[1])
    return {atom: 1}, 0


def _sum(a: _Linear, b: _Linear, factor: int) -> _Linear:
    found = dict(a[0])
    for x, n in b[0].items():
        found[x] = found.get(x, 0) + factor * n
    return {x: n for x, n in found.items() if n}, a[1] + factor * b[1]


def _difference(stop: Any, start: Any) -> int | None:
    """``stop - start`` if it is known."""
    variables, constant = _sum(_linear(stop), _linear(start), -1)
    return None if variables else constant


def _is_open(x: Any) -> bool:
    return isinstance(x, slice) and (isinstance(x.start, Value) or isinstance(x.stop, Value))


def _bound(x: Any, size: int) -> Any:
    """A bound of a slice as NumPy reads it: from the end if negative, up to the size."""
    return nlnp.clip(nlnp.where(x < 0, x + size, x), 0, size)


@cache
def _numbers(n: int) -> np.ndarray:
    return np.arange(n)  # one object: conditions on it are seen to be the same


def _window(x: slice, size: int) -> Any:
    """Places of a slice of known length; outside of the array where NumPy's would be shorter."""
    if x.start is None or x.stop is None:
        return None
    length = _difference(x.stop, x.start)
    if length is None:
        return None
    step = 1 if x.step is None else int(x.step)
    number = max(0, -(-length // step))
    start, stop = nlnp.asarray(x.start), nlnp.asarray(x.stop)
    found = start + step * np.arange(number)
    found = nlnp.where(stop < 0, found + size, found)
    is_apart = (start < 0) != (stop < 0)
    return nlnp.where(is_apart | (found < 0), size, found)


def _mask(x: slice, size: int) -> Any:
    if x.step not in (None, 1):
        raise _refused("a slice of unknown length has a step", size)
    place = _numbers(size)
    found: Any = None
    if x.start is not None:
        found = nlnp.greater_equal(place, _bound(nlnp.asarray(x.start), size))
    if x.stop is not None:
        below = nlnp.less(place, _bound(nlnp.asarray(x.stop), size))
        found = below if found is None else found & below
    return found


def _refused(what: str, size: int) -> errors.IndexingError:
    return errors.IndexingError(
        errors.explain(
            "lift",
            f"{what}, on an axis of size {size}",
            try_="a[i:i+n] with a known n, one slice of unknown length in an index, or "
            "np.where(np.arange(len(a)) < i, a, 0)",
        )
    )


class Windows(NamedTuple):
    """An index with slices of known length at traced places.

    Args:
        index: the rest of the index, with full slices in their place.
        places: (axis of ``whole[index]``, places along it) of each.
    """

    index: Any
    places: tuple[tuple[int, Any], ...]

    def read(self, whole: Any) -> Any:
        """The elements; NaN (or the least integer) outside of the array."""
        part = nlnp.asarray(whole)[self.index]
        for axis, places in self.places:
            part = nlnp.take(part, places, axis=axis, mode="fill")
        return part

    def layout(self, above: np.ndarray | None) -> Any:
        """An array that lies in memory as these elements do, of one that lies as the array."""
        if above is None:
            return None
        parts = self.index if type(self.index) is tuple else (self.index,)
        found = above[tuple([0 if isinstance(x, Value) else x for x in parts])]
        for axis, places in self.places:
            found = found[(slice(None),) * axis + (slice(0, places.shape[0]),)]
        return found

    def written(self, whole: Any, new: Any) -> Any:
        """The array with other elements there; outside of it nothing is written."""
        whole, new = nlnp.asarray(whole), nlnp.asarray(new)
        part = whole[self.index]
        if new.dtype != whole.dtype:
            new = cast(new, whole.dtype)
        return whole.at[self.index].set(_put(part, self.places, new))


def _put(part: Any, places: Any, new: Any) -> Any:
    (axis, at), *others = places
    if others:
        new = _put(nlnp.take(part, at, axis=axis, mode="fill"), others, new)
    return part.at[(slice(None),) * axis + (at,)].set(new, mode="drop")


def span(index: Any, whole: Any) -> Windows | Selection | None:
    """What an index with slices of traced bounds selects; None if it has none."""
    parts = list(index) if type(index) is tuple else [index]
    if not any(map(_is_open, parts)):
        return None
    shape = np.shape(whole)
    if any(
        np.ndim(x) or isinstance(x, Value) and type_of(x).kind == "b"
        for x in parts
        if x is not None and x is not ... and not isinstance(x, slice)
    ):
        raise _refused("a slice with traced bounds stands with an array in one index", shape[0])
    places, masks = [], []
    axis = at = 0
    for i, x in enumerate(parts):
        if x is ...:
            used = sum(y is not None for y in parts[:i] + parts[i + 1 :])
            axis, at = axis + len(shape) - used, at + len(shape) - used
            continue
        if _is_open(x):
            found = _window(x, shape[axis])
            if found is None:
                masks.append((at, _mask(x, shape[axis])))
            else:
                places.append((at, found))
            parts[i] = slice(None)
        at += x is None or isinstance(x, slice)
        axis += x is not None
    if not masks:
        return Windows(tuple(parts), tuple(places))
    if places or len(masks) > 1:
        raise _refused("an index has several slices with traced bounds", shape[0])
    at, mask = masks[0]
    return Selection(mask, at, tuple(parts), mask.shape)


__all__ = ["Windows", "span"]
