"""`ShapeDtypeStruct`: a stand-in for an array when only its type matters."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .. import errors
from ..core.dims import Dim
from ..core.dtypes import KeyDType, canonicalize_dtype
from ..core.tracing import Value, type_of
from ..core.types import ArrayType, array_type
from ..runtime.placement import sharded_type


class ShapeDtypeStruct:
    """Shape, dtype and optional sharding of an array, without its values.

    Args:
        shape: tuple of ints, or symbolic sizes of `export.symbolic_shape`.
        dtype: anything that NumPy takes as a dtype, or a PRNG key dtype.
        sharding: a sharding, or None.
        weak_type: True for the type of a Python scalar.

    Example:
        >>> ShapeDtypeStruct((2, 3), "float32")
        ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("shape", "dtype", "sharding", "weak_type")

    def __init__(self, shape: Any, dtype: Any, *, sharding: Any = None, weak_type: bool = False):
        if dtype is None:
            raise errors.ArgumentError(
                errors.explain(
                    "ShapeDtypeStruct",
                    "dtype must be given, not None",
                    try_='ShapeDtypeStruct((2, 3), "float32")',
                )
            )
        try:
            self.shape: tuple[Any, ...] = tuple(
                [d if type(d) is Dim else operator.index(d) for d in shape]
            )
        except TypeError:
            raise errors.ArgumentError(
                errors.explain(
                    "ShapeDtypeStruct",
                    "shape must be a tuple of ints",
                    {"shape": shape},
                    try_="(3,) for a vector, () for a scalar",
                )
            ) from None
        self.dtype = dtype if isinstance(dtype, KeyDType) else np.dtype(dtype)
        self.sharding, self.weak_type = sharding, weak_type

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise errors.ArgumentError("len() of an unsized ShapeDtypeStruct (rank 0)")
        return self.shape[0]

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """A copy with some attributes changed."""
        return ShapeDtypeStruct(
            changes.get("shape", self.shape),
            changes.get("dtype", self.dtype),
            sharding=changes.get("sharding", self.sharding),
            weak_type=changes.get("weak_type", self.weak_type),
        )

    def __repr__(self) -> str:
        extra = f", sharding={self.sharding}" if self.sharding is not None else ""
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype}{extra}{weak})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.sharding, self.weak_type


def abstract_type(x: Any) -> ArrayType:
    """Type of an array, a number, or anything with `shape` and `dtype`."""
    if isinstance(x, Value):
        return x.type
    if isinstance(x, ArrayType):
        return x
    if hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, (np.ndarray, np.generic)):
        dtype = x.dtype if isinstance(x.dtype, KeyDType) else canonicalize_dtype(x.dtype)
        t = array_type(tuple(x.shape), dtype, bool(getattr(x, "weak_type", False)))
        sharding = getattr(x, "sharding", None)
        return t if sharding is None else sharded_type(t, sharding)
    return type_of(x)


def struct_of(t: ArrayType, sharding: Any = None) -> ShapeDtypeStruct:
    """The public description of a type."""
    sharding = t.sharding if sharding is None else sharding
    return ShapeDtypeStruct(t.shape, t.dtype, sharding=sharding, weak_type=t.weak_type)
