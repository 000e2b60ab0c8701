"""Which results of NumPy share memory with their argument, and how writes go through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tracing import Value
from ..tree import tree_map
from .writable import Getter, Putter, Writable, wrap

ATTRIBUTES: dict[str, tuple[Getter, Putter | None]] = {
    "T": (lambda x: x.T, lambda whole, new: new.T),
    "mT": (lambda x: x.mT, lambda whole, new: new.mT),
    "real": (lambda x: x.real, None),
    "imag": (lambda x: x.imag, None),
    "flat": (lambda x: x.reshape(-1), lambda whole, new: new.reshape(whole.shape)),
}


def _same_elements(whole: Any, new: Any) -> Any:
    return new.reshape(whole.shape)


_RESHAPING = ("squeeze", "expand_dims", "atleast_1d", "atleast_2d", "atleast_3d")
_PERMUTING = ("transpose", "permute_dims", "matrix_transpose", "swapaxes", "moveaxis", "rollaxis")
_FLIPPING = ("flip", "fliplr", "flipud")
_CONTIGUOUS = ("reshape", "ravel")
_FOLLOWED = frozenset({
    *_RESHAPING, *_PERMUTING, *_FLIPPING, *_CONTIGUOUS, "rot90", "broadcast_to", "diagonal",
    "real", "imag", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray",
    "asarray_chkfinite", "require", "view", "diag",
})  # fmt: skip
_ITSELF = frozenset({
    "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite", "require",
})  # fmt: skip
"""Functions that return an array that needs no change itself."""
_LISTS = frozenset({"split", "array_split", "hsplit", "vsplit", "dsplit", "unstack"})


def _order_of_axes(get: Getter, whole: Any) -> Any:
    """Positions of the elements of a view in the whole array, as an array of integers."""
    return get(np.arange(whole.size).reshape(whole.shape))


def _scattered(get: Getter) -> Putter:
    """Write through any view that shows every element once: by where its elements come from."""

    def put(whole: Any, new: Any) -> Any:
        places = np.argsort(np.ravel(_order_of_axes(get, whole)), kind="stable")
        return new.reshape(-1)[places].reshape(whole.shape)

    return put


def _is_root(x: Writable) -> bool:
    return x._parent is None


def joined(name: str, run: Callable[[Any, Any], Any], found: Any, args: Any, kwargs: Any) -> Any:
    """The result of a function whose first argument is writable: a view of it, or a new array."""
    owner: Writable = args[0]
    value, rest = owner.read(), args[1:]
    if found is value and name in _ITSELF and not kwargs.get("copy"):
        return owner
    if not isinstance(found, (np.ndarray, Value)):
        if name in _LISTS:
            return [
                Writable(part, owner, lambda x, i=i: run((x, *rest), kwargs)[i])
                for i, part in enumerate(found)
            ]
        return tree_map(wrap, found)
    if kwargs.get("copy") or (
        isinstance(found, np.ndarray) and not np.may_share_memory(found, value)
    ):
        return wrap(found)
    if name not in _FOLLOWED:
        # NumPy shares memory here, or would not: only its own arrays tell.
        return Writable(found, owner) if isinstance(found, np.ndarray) else wrap(found)

    def get(x: Any) -> Any:
        return run((x, *rest), kwargs)

    return Writable(found, owner, get, _putter(name, owner, get))


def _putter(name: str, owner: Writable, get: Getter) -> Putter | None:
    if name in _RESHAPING or (name in _CONTIGUOUS and _is_root(owner)):
        return _same_elements
    if name in _PERMUTING or name in _FLIPPING or name == "rot90":
        return _scattered(get)
    return None
