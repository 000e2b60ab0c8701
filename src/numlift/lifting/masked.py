"""``a[mask]`` where the mask is traced: elements whose number is not known.

Code such as ``a[a > 5] -= 1`` or ``a[m] = np.sin(a[m])`` reads elements, computes with each of
them, and writes them back where they came from. So `Masked` keeps an element for every element of
the mask. Those outside of the mask hold a copy of one inside, so that functions and derivatives are
finite there too. Elements of another mask, and arrays of known length, are brought to the places of
this one by counting, which is right whenever NumPy accepts the numbers of elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors, lax
from .. import numpy as nlnp
from ..core.exact import exact
from ..core.graph import Literal
from ..core.staging import Staged
from ..core.tracing import Value
from ..structural.families import Elementwise
from ..structural.shape import Broadcast, Reshape
from ..transforms.vmap import Batched


class Masked:
    """The elements of an array where a traced mask holds.

    Args:
        whole: values; along `axis` one for each element of the mask, in C order.
        mask: bool array of rank 1.
        axis: axis of `whole` that the mask belongs to.
        filled: whether the values outside of the mask are copies of one inside already.
        view: what a slice such as ``a[:i]`` is a view of: it reads the elements as they are now,
            and writes them.
    """

    __slots__ = ("_whole", "axis", "mask", "view")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, whole: Any, mask: Any, axis: int, filled: bool = True, view: Any = None):
        self.mask, self.axis, self.view = mask, axis, view
        self._whole = whole if filled else _filled(whole, self.held(np.ndim(whole)), mask, axis)

    @property
    def whole(self) -> Any:
        """The values."""
        if self.view is not None and self.view.is_old():
            self._whole = self.view.read()._whole
        return self._whole

    @whole.setter
    def whole(self, new: Any) -> None:
        self._whole = new
        if self.view is not None:
            self.view.write(Masked(new, self.mask, self.axis))

    @property
    def dtype(self) -> Any:
        """dtype of the elements."""
        return self.whole.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return int(np.ndim(self.whole))

    def held(self, rank: int | None = None) -> Any:
        """The mask as an array that broadcasts against `whole`."""
        rank = self.ndim if rank is None else rank
        return self.mask.reshape((-1,) + (1,) * (rank - self.axis - 1))

    def count(self) -> Any:
        """Number of elements along the axis of the mask."""
        return nlnp.sum(self.mask)

    def like(self, whole: Any) -> Masked:
        """The results of a function of each element."""
        return Masked(whole, self.mask, np.ndim(whole) - (self.ndim - self.axis))

    def aligned(self, x: Any) -> Any:
        """`x` as an array that broadcasts against `whole`."""
        if type(x) is Masked:
            if x.ndim - x.axis != self.ndim - self.axis:
                raise self.refused("they were combined along another axis")
            if are_same(x.mask, self.mask):
                return x.whole
            last = x.count() - 1
            places = nlnp.searchsorted(nlnp.cumsum(x.mask), self._ranks(last) + 1)
            return nlnp.take(x.whole, places, axis=x.axis, mode="clip")
        if not isinstance(x, Value) and hasattr(type(x), "__numlift_array__"):
            x = x.__numlift_array__()
        from_end = self.ndim - self.axis
        if np.ndim(x) < from_end or np.shape(x)[-from_end] == 1:
            return x
        size = np.shape(x)[-from_end]
        if size >= self.mask.size:
            raise self.refused(f"they were combined with {size} others")
        return nlnp.take(nlnp.asarray(x), self._ranks(size - 1), axis=-from_end, mode="clip")

    def _ranks(self, last: Any) -> Any:
        """Which of the selected elements each one is: 0, 1, ... up to `last`."""
        return nlnp.clip(nlnp.cumsum(self.mask) - 1, 0, last)

    def refused(self, what: str) -> errors.NonConcreteBooleanIndexError:
        """The error for what cannot be done without knowing how many elements there are."""
        return errors.NonConcreteBooleanIndexError(
            errors.explain(
                "lift",
                f"how many elements a traced mask selects is not known: {what}",
                {"array": self.whole.type, "mask": self.mask.type},
                try_="a[mask] = f(a[mask]) with elementwise f, sums and means of a[mask], or "
                "np.where(mask, x, y), which keeps the size",
            )
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise self.refused("they cannot become an array")

    def __len__(self) -> int:
        raise self.refused("their number is traced, and Python's len needs it here")

    def __iter__(self) -> Any:
        raise self.refused("they cannot be iterated over")

    def __bool__(self) -> bool:
        raise self.refused("they cannot be asked whether they are true")


def _filled(whole: Any, held: Any, mask: Any, axis: int) -> Any:
    """`whole` with a copy of a selected element at the places that are not selected."""
    if not whole.size or whole.dtype.kind == "b":
        return whole
    first = lax.stop_gradient(nlnp.take(whole, nlnp.argmax(mask)[None], axis=axis))
    first = nlnp.where(nlnp.any(mask), first, nlnp.ones_like(first))
    return nlnp.where(held, whole, first)


def is_unknown(x: Any) -> bool:
    """Whether the elements of `x` are traced."""
    known = getattr(x, "concrete", None)
    return known is not None and known() is None


def are_same(a: Any, b: Any) -> bool:
    """Whether two traced masks are the same value for certain: one object, or made alike."""
    while type(a) is Batched and type(b) is Batched and a.owner is b.owner and a.dim == b.dim:
        a, b = a.value, b.value
    if a is b:
        return True
    if type(a) is not Staged or type(b) is not Staged or a.owner is not b.owner:
        return False
    made = {x: eq for eq in a.owner.equations[-_LATELY:] for x in eq.outputs}
    return _made_alike(a.atom, b.atom, made)


_LATELY = 1000
"""Masks that are written twice are written near each other: older equations are not searched."""


def _is_one_number(a: Any, b: Any) -> bool:
    literals = type(a) is Literal and type(b) is Literal
    return literals and a.type is b.type and exact(a.value) == exact(b.value)


def _made_alike(a: Any, b: Any, made: dict[Any, Any]) -> bool:
    """Whether two values come from the same ones by the same elementwise operations."""
    todo, compared = [(a, b)], set()
    while todo:
        pair = todo.pop()
        if pair[0] is pair[1] or pair in compared or _is_one_number(*pair):
            continue
        compared.add(pair)
        x, y = made.get(pair[0]), made.get(pair[1])
        if x is None or y is None or x.op is not y.op:
            return False
        if not isinstance(x.op, (Elementwise, Broadcast, Reshape)):
            return False
        todo.extend(zip(x.inputs, y.inputs, strict=True))
    return True


def places_of(mask: Any) -> tuple[Masked, ...]:
    """``np.nonzero(mask)`` for a traced mask."""
    flat = mask.reshape(-1)
    grid = np.indices(mask.shape).reshape(mask.ndim, -1) if mask.ndim else np.zeros((1, 1), int)
    return tuple([Masked(nlnp.asarray(x), flat, 0, filled=False) for x in grid])


__all__ = ["Masked", "are_same", "is_unknown", "places_of"]
