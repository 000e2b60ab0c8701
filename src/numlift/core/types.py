"""Types of array values, interned so that equal types are the same object."""

from __future__ import annotations

import math
import threading
import weakref
from typing import Any, ClassVar

import numpy as np

from .. import errors
from .dim_text import CLOSE, OPEN
from .dims import Dim
from .dtypes import KeyDType, dtype_mlir, dtype_short_name


class ArrayType:
    """Shape, dtype, weak-scalar flag and (on Explicit meshes) sharding of an array.

    Made only by `array_type`, which interns: two equal types are one object, so caches compare
    types by identity. jaxlib reads `shape`, `dtype` and `weak_type` from it.
    """

    __slots__ = (
        "shape",
        "dtype",
        "weak_type",
        "sharding",
        "ndim",
        "size",
        "mlir",
        "physical",
        "kind",
        "inexact",
        "__weakref__",
    )

    shape: tuple[Any, ...]
    """Sizes: ints, or `Dim`s where functions are exported with symbolic sizes."""
    dtype: Any
    weak_type: bool
    sharding: Any
    ndim: int
    size: int
    mlir: str
    physical: ArrayType
    kind: str
    inexact: bool
    addressable: ClassVar[bool] = True
    """Whether 63 bits can count its bytes."""

    def __repr__(self) -> str:
        """Text such as ``float32[3,4]``; ``~`` marks a weak type, ``@`` a sharded dimension."""
        dims = [str(d) for d in self.shape]
        if self.sharding is not None:
            for i, names in enumerate(self.sharding.spec.padded(self.ndim)):
                if names is not None:
                    label = names if isinstance(names, str) else "(" + ",".join(names) + ")"
                    dims[i] += f"@{label}"
        weak = "~" if self.weak_type else ""
        return f"{weak}{dtype_short_name(self.dtype)}[{','.join(dims)}]"

    def __reduce__(self):
        return array_type, (self.shape, self.dtype, self.weak_type, self.sharding)

    def update(self, **changes: Any) -> ArrayType:
        """The type with some of shape, dtype, weak_type, sharding replaced."""
        get = changes.get
        return array_type(
            get("shape", self.shape),
            get("dtype", self.dtype),
            get("weak_type", self.weak_type),
            get("sharding", self.sharding),
        )


class OversizedType(ArrayType):
    """A type of more bytes than addresses: it may be traced, but no program can hold it."""

    __slots__ = ()
    addressable = False

    @property
    def mlir(self) -> str:  # type: ignore[override]
        """Raises: XLA ends the process for such a type.

        Raises:
            ShapeError: always.
        """
        bits = math.log2(math.prod(n for n in self.shape if n)) if self.shape else 0
        raise errors.ShapeError(
            errors.explain(
                "compile",
                f"an array of shape {self.shape} is larger than any memory: its sizes multiply to "
                f"2**{bits:.0f} elements, and 2**63 bytes is the limit",
                {"array": repr(self)},
                try_="a smaller shape",
            )
        )


_interned: weakref.WeakValueDictionary[tuple, ArrayType] = weakref.WeakValueDictionary()
_lock = threading.RLock()  # the type of keys asks for that of their words


def array_type(
    shape: tuple[Any, ...], dtype: Any, weak_type: bool = False, sharding: Any = None
) -> ArrayType:
    """The one `ArrayType` with these properties.

    Args:
        shape: tuple of non-negative ints, or `Dim`s.
        dtype: anything `numpy.dtype` accepts, or a `KeyDType`.
        weak_type: True for values that come from Python scalars.
        sharding: a `NamedSharding` with Explicit axes, or None. A spec without mesh axes is the
            same as None: replicated.
    """
    key = (shape, dtype, weak_type, sharding)
    try:
        known = _interned.get(key)
    except TypeError:
        known = None
    if known is not None:
        return known
    if not isinstance(dtype, KeyDType):
        dtype = np.dtype(dtype)
    if sharding is not None and not sharding.spec.axes():
        sharding = None
    key = (tuple(shape), dtype, bool(weak_type), sharding)
    with _lock:
        known = _interned.get(key)
        if known is None:
            known = _interned[key] = _build(*key)
        return known


def _build(shape: tuple[Any, ...], dtype: Any, weak_type: bool, sharding: Any) -> ArrayType:
    storage, word = _stored(shape, dtype)
    fits = _fits(storage, word)
    made = object.__new__(ArrayType if fits else OversizedType)
    made.shape, made.dtype, made.weak_type, made.sharding = shape, dtype, weak_type, sharding
    made.ndim, made.size = len(shape), math.prod(shape)
    made.kind = dtype_kind(dtype)
    made.inexact = made.kind in "fc"
    if fits:
        made.mlir = tensor_mlir(storage, dtype_mlir(word))
    made.physical = array_type(storage, word) if isinstance(dtype, KeyDType) else made
    return made


def _stored(shape: tuple[Any, ...], dtype: Any) -> tuple[tuple[Any, ...], Any]:
    """Shape and dtype in memory."""
    if isinstance(dtype, KeyDType):
        return shape + dtype.key_shape, dtype.storage
    return shape, dtype


def _fits(shape: tuple[Any, ...], dtype: Any) -> bool:
    """Whether all products of sizes are bytes that 63 bits can count; XLA forms them all."""
    n: Any = dtype.itemsize
    for size in shape:
        if size and type(size) is not Dim:
            n = n * size
            if n >= 2**63:
                return False
    return True


def dtype_kind(dtype: Any) -> str:
    """One letter: b bool, i int, u unsigned, f float, c complex, k PRNG key, 0 float0.

    Unlike `numpy.dtype.kind` it knows bfloat16, float8, int4 and their kin.
    """
    if isinstance(dtype, KeyDType):
        return "k"
    if dtype.kind in "biufc":
        return dtype.kind
    name = dtype.name
    for start, kind in (("int", "i"), ("uint", "u"), ("float", "f"), ("bfloat", "f")):
        if name.startswith(start):
            return kind
    return "0"


def tensor_mlir(shape: tuple[Any, ...], element: str) -> str:
    """MLIR text of a tensor type, such as ``tensor<3x4xf32>``; symbolic sizes are in brackets."""
    sizes = [f"{OPEN}{d.text}{CLOSE}x" if type(d) is Dim else f"{d}x" for d in shape]
    return f"tensor<{''.join(sizes)}{element}>"
