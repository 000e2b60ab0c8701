"""A tree of arrays as one vector, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import errors
from .api.library import library
from .core.dtypes import KeyDType, result_type
from .core.tracing import type_of
from .core.types import ArrayType
from .lax import convert_element_type, real
from .numpy.creation import asarray
from .numpy.joining import concatenate
from .numpy.manipulation import ravel, reshape
from .tree import tree_flatten, tree_unflatten


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """One vector with the elements of all leaves of a tree, and the function that undoes it.

    Both directions are linear in the float leaves and may be traced, differentiated and batched.

    Args:
        pytree: tree of arrays and numbers.

    Returns:
        (vector, unravel). The vector has the promoted dtype of the leaves. ``unravel(vector)`` is a
        tree of the same structure and shapes; leaves get their own dtypes back if these differ,
        else the dtype of the vector it is given.

    Raises:
        DTypeError: a leaf is an array of PRNG keys; or `unravel` gets another dtype than that of
            the vector, where leaves differ in dtype.
        ShapeError: `unravel` gets an array of another shape.

    Example:
        >>> import numlift.numpy as np
        >>> from numlift.flatten_util import ravel_pytree
        >>> vector, unravel = ravel_pytree({"w": np.ones((2, 2)), "b": np.zeros(1)})
        >>> print(vector)
        [0. 1. 1. 1. 1.]
        >>> unravel(2 * vector)["w"].shape
        (2, 2)
    """
    leaves, tree = tree_flatten(pytree)
    types = [type_of(x) for x in leaves]
    for t in types:
        if isinstance(t.dtype, KeyDType):
            raise errors.DTypeError(
                errors.explain(
                    "ravel_pytree",
                    "PRNG keys are no numbers that a vector could hold",
                    {"leaf": t},
                    try_="nl.random.key_data(keys)",
                )
            )
    if not leaves:
        return asarray(np.zeros(0, np.float32)), _Unravel(tree, (), None)
    dtype = result_type(*leaves)
    vector = _joined(leaves, dtype)
    mixed = any(t.dtype != dtype for t in types)
    return vector, _Unravel(tree, tuple(types), dtype if mixed else None)


@library(arrays=1)
def _joined(leaves: list[Any], dtype: Any) -> Any:
    return concatenate([convert_element_type(ravel(x), dtype) for x in leaves])


@library(arrays=1)
def _split(vector: Any, unravel: _Unravel) -> list[Any]:
    start, leaves = 0, []
    for u in unravel.types:
        leaf = reshape(vector[start : start + u.size], u.shape)
        if unravel.dtype is not None:
            if unravel.dtype.kind == "c" and u.kind != "c":
                leaf = real(leaf)
            leaf = convert_element_type(leaf, u.dtype)
        leaves.append(leaf)
        start += u.size
    return leaves


class _Unravel:
    """Vector -> tree. Equal for equal trees of types, so that it may be a static argument."""

    __slots__ = ("tree", "types", "dtype")

    def __init__(self, tree: Any, types: tuple[ArrayType, ...], dtype: Any):
        self.tree, self.types, self.dtype = tree, types, dtype

    def __call__(self, vector: Any) -> Any:
        t = type_of(vector)
        size = sum(u.size for u in self.types)
        if t.shape != (size,):
            raise errors.ShapeError(
                errors.explain(
                    "unravel",
                    f"the vector must have shape ({size},)",
                    {"vector": t},
                    try_="pass a vector shaped like the one from ravel_pytree",
                )
            )
        if self.dtype is not None and t.dtype != self.dtype:
            raise errors.DTypeError(
                errors.explain(
                    "unravel",
                    f"the vector must be {self.dtype}, because leaves differ in dtype",
                    {"vector": t},
                    try_=f"vector.astype({str(self.dtype)!r})",
                )
            )
        leaves = _split(vector, self) if self.types else []
        return tree_unflatten(self.tree, leaves)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unravel) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.tree, self.types, self.dtype


__all__ = ["ravel_pytree"]


def __dir__() -> list[str]:
    return sorted(__all__)
