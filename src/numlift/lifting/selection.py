"""Reading and writing at the places of a traced mask, among other indices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import errors
from .. import numpy as nlnp
from ..core.tracing import Value
from .masked import Masked, is_unknown, places_of


class Selection(NamedTuple):
    """What an index with a traced mask selects of an array.

    Args:
        like: elements of the mask, with the axis they have in the result.
        index: plain index. With `sizes`, full slices stand for the mask; else arrays of places.
        sizes: shape of the mask if its axes are neighbours in ``whole[index]``, else None.
    """

    mask: Any
    axis: int
    index: Any
    sizes: tuple[int, ...] | None

    def read(self, whole: Any) -> Masked:
        """The elements."""
        part = self._part(nlnp.asarray(whole))
        return Masked(part, self.mask, self.axis, filled=False)

    def _part(self, whole: Any) -> Any:
        part = whole[self.index]
        if self.sizes is None:
            return part
        after = part.shape[self.axis + max(len(self.sizes), 1) :]
        return part.reshape((*part.shape[: self.axis], self.mask.size, *after))

    def written(self, whole: Any, new: Any) -> tuple[Any, Any]:
        """Index and value to write there, for the elements `new` (`Masked`, array or scalar)."""
        whole = nlnp.asarray(whole)
        part = self._part(whole)
        mine = Masked(part, self.mask, self.axis)
        new = mine.aligned(new)
        if self.sizes is None:
            return self._dropping(whole), new
        if np.ndim(new) > part.ndim:  # NumPy ignores leading axes of size 1
            new = nlnp.reshape(new, np.shape(new)[np.ndim(new) - part.ndim :])
        new = nlnp.asarray(new)
        if new.dtype != part.dtype:
            new = cast(new, part.dtype)
        chosen = nlnp.where(mine.held(), nlnp.broadcast_to(new, part.shape), part)
        return self.index, chosen.reshape(whole[self.index].shape)

    def _dropping(self, whole: Any) -> Any:
        """The index with places outside of the array where the mask does not hold."""
        found = list(self.index)
        axis = 0
        for i, x in enumerate(found):
            if x is None:
                continue
            if x is ...:
                axis = whole.ndim - sum(y is not None for y in found[i + 1 :])
                continue
            if isinstance(x, Value) and x.type.ndim:
                found[i] = nlnp.where(self.mask, x, whole.shape[axis])
            axis += 1
        return tuple(found)


def cast(new: Any, dtype: Any) -> Any:
    """Elements as an assignment of NumPy's casts them.

    Raises:
        DTypeError: complex elements for a real array.
    """
    if not np.can_cast(new.dtype, dtype, "unsafe") or (new.dtype.kind == "c" and dtype.kind != "c"):
        raise errors.DTypeError(
            errors.explain(
                "lift",
                f"elements of dtype {new.dtype} cannot be written into {dtype}",
                try_="take the real part, or make the array with dtype=complex",
            )
        )
    return new.astype(dtype)


def _is_mask(x: Any) -> bool:
    return isinstance(x, Value) and x.type.kind == "b" and is_unknown(x)


def _is_number(x: Any) -> bool:
    if isinstance(x, Value):
        return not x.type.ndim and x.type.kind in "iu"
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def selection(index: Any, whole: Any) -> Selection | None:
    """The selection if a traced mask (or places of one) is part of `index`, else None."""
    parts = list(index) if type(index) is tuple else [index]
    if not any(type(x) is Masked or _is_mask(x) for x in parts):
        return None
    shape = np.shape(whole)
    _check(parts, shape)
    masks = [i for i, x in enumerate(parts) if _is_mask(x)]
    others = [x for x in parts if not _is_mask(x)]
    if len(masks) == 1 and all(_is_simple(x) for x in others):
        found = _of_slices(parts, masks[0], shape)
        if found is not None:
            return found
    return _of_places(parts, shape)


def _is_simple(x: Any) -> bool:
    return x is None or x is ... or isinstance(x, slice) or _is_number(x)


def _consumed(x: Any) -> int:
    """Axes of the array that a part of an index belongs to."""
    if x is None or x is ...:
        return 0
    return int(x.ndim) if _is_mask(x) else 1


def _check(parts: list[Any], shape: tuple[int, ...]) -> None:
    axis = 0
    for i, x in enumerate(parts):
        if x is ...:
            axis = len(shape) - sum(map(_consumed, parts[i + 1 :]))
            continue
        if _is_mask(x) and shape[axis : axis + x.ndim] != x.shape:
            raise errors.IndexingError(
                errors.explain(
                    "lift",
                    f"a mask of shape {x.shape} does not fit axes {axis} to {axis + x.ndim - 1} "
                    f"of sizes {shape[axis : axis + x.ndim]}",
                    {"mask": x.type},
                    try_="a mask of the shape of the array, or of its first axes",
                )
            )
        axis += _consumed(x)
    if axis > len(shape):
        raise errors.IndexingError(
            errors.explain("lift", f"{axis} indices for an array of {len(shape)} axes")
        )


def _of_slices(parts: list[Any], at: int, shape: tuple[int, ...]) -> Selection | None:
    mask = parts[at]
    axis = 0
    for i, x in enumerate(parts[:at]):
        if x is ...:
            axis += len(shape) - sum(map(_consumed, parts[:i] + parts[i + 1 :]))
        elif not _is_number(x):
            axis += 1
    numbers = [i for i, x in enumerate(parts) if _is_number(x) or i == at]
    if axis and numbers[-1] - numbers[0] >= len(numbers):
        return None  # NumPy puts the selected elements in front
    full: list[Any] = [slice(None)] * mask.ndim or [None]
    return Selection(
        mask.reshape(-1), axis, (*parts[:at], *full, *parts[at + 1 :]), tuple(mask.shape)
    )


def _of_places(parts: list[Any], shape: tuple[int, ...]) -> Selection:
    found: list[Any] = []
    for x in parts:
        if _is_mask(x):
            if not x.ndim:
                raise errors.IndexingError(
                    errors.explain(
                        "lift",
                        "a traced bool stands among other indices",
                        {"index": x.type},
                        try_="np.where(condition, new, old)",
                    )
                )
            found += places_of(x)
        else:
            found.append(x)
    first = next(x for x in found if type(x) is Masked)
    many = [i for i, x in enumerate(found) if not (x is None or x is ... or isinstance(x, slice))]
    index = []
    for i, x in enumerate(found):
        if type(x) is Masked and x.dtype.kind == "b":
            raise x.refused("a selection of a selection is no index")
        if i in many and not _is_number(x):
            x = nlnp.asarray(first.aligned(nlnp.asarray(x) if type(x) is list else x))
            if x.ndim > 1:
                raise first.refused("they are an index together with an array of rank 2")
        index.append(x)
    before = found[: many[0]]
    has_ellipsis = any(x is ... for x in before)
    axis = len(before) - has_ellipsis
    if has_ellipsis:
        axis += len(shape) - sum(x is not None and x is not ... for x in found)
    if many[-1] - many[0] >= len(many):
        axis = 0
    return Selection(first.mask, axis, tuple(index), None)


def scattered(index: Any, whole: Any, new: Any) -> tuple[Any, Any]:
    """Index and value of ``ufunc.at(whole, index, new)``, for an index that `selection` knows."""
    found = _of_places(list(index) if type(index) is tuple else [index], np.shape(whole))
    whole = nlnp.asarray(whole)
    mine = Masked(whole[found.index], found.mask, found.axis)
    return found._dropping(whole), mine.aligned(new)


__all__ = ["Selection", "cast", "scattered", "selection"]
