"""The dtypes there are: dtypes of random keys, names, and the scalar type objects.

Dtypes are `numpy.dtype` objects (those of `ml_dtypes` for bfloat16, float8 and int4), plus
`KeyDType` for typed random keys. `ScalarType` objects such as `float32` stand for a dtype and
make arrays when called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .. import errors


class extended(np.generic):
    """Kind of all dtypes that NumPy does not know, for `issubdtype`."""


class prng_key(extended):
    """Kind of typed random keys, for `issubdtype`."""


_KEY_TAGS = {"threefry2x32": "fry", "rbg": "rbg", "unsafe_rbg": "urbg"}
_KEY_SHAPES = {"threefry2x32": (2,), "rbg": (4,), "unsafe_rbg": (4,)}
_key_dtypes: dict[str, KeyDType] = {}


class KeyDType:
    """Dtype of typed random keys of one generator. One object a generator: compare by identity.

    Attributes:
        impl: name of the generator, such as ``threefry2x32``.
        name: what is printed, such as ``key<fry>``.
        key_shape: shape of the words that one key is stored as.
        storage: dtype of those words.
        itemsize: bytes of one key.
        type: `prng_key`.
    """

    __slots__ = ("impl", "itemsize", "key_shape", "name", "storage", "tag")

    impl: str
    tag: str
    name: str
    key_shape: tuple[int, ...]
    storage: np.dtype
    itemsize: int

    type = prng_key
    kind = "O"
    fields = None
    subdtype = None
    shape = ()

    def __new__(
        cls, impl: str, key_shape: tuple[int, ...] | None = None, tag: str | None = None
    ) -> KeyDType:
        known = _key_dtypes.get(impl)
        if known is not None:
            if key_shape is not None and tuple(key_shape) != known.key_shape:
                raise errors.DTypeError(
                    f"KeyDType: generator {impl!r} has keys of shape {known.key_shape}, "
                    f"not {tuple(key_shape)}\nTry: another name for the new generator"
                )
            return known
        if key_shape is None:
            if impl not in _KEY_SHAPES:
                raise errors.DTypeError(
                    f"KeyDType: unknown generator {impl!r}\n"
                    f"Try: one of {', '.join(sorted(_KEY_SHAPES))}, or register it first"
                )
            key_shape = _KEY_SHAPES[impl]
        made = object.__new__(cls)
        made.impl, made.tag = impl, tag or _KEY_TAGS.get(impl, impl)
        made.name = f"key<{made.tag}>"
        made.key_shape, made.storage = tuple(key_shape), np.dtype(np.uint32)
        made.itemsize = int(np.prod(made.key_shape)) * made.storage.itemsize
        return _key_dtypes.setdefault(impl, made)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyDType, (self.impl, self.key_shape, self.tag)


# --- names ---------------------------------------------------------------------------------

_MLIR = {
    "bool": "i1",
    "int2": "i2", "int4": "i4", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint2": "ui2", "uint4": "ui4", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32",
    "uint64": "ui64",
    "float4_e2m1fn": "f4E2M1FN",
    "float8_e3m4": "f8E3M4", "float8_e4m3": "f8E4M3", "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e5m2": "f8E5M2", "float8_e5m2fnuz": "f8E5M2FNUZ", "float8_e8m0fnu": "f8E8M0FNU",
    "bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64",
    "complex64": "complex<f32>", "complex128": "complex<f64>",
}  # fmt: skip


def _numpy_dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


DTYPES: dict[str, np.dtype] = {name: _numpy_dtype(name) for name in _MLIR}
NAMES: dict[np.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}
MLIR_NAMES: dict[np.dtype, str] = {dtype: _MLIR[name] for name, dtype in DTYPES.items()}

float0: np.dtype = np.dtype([("float0", np.void, 0)])
"""Dtype of the tangent of integers and booleans: a vector space of dimension zero."""
MLIR_NAMES[float0] = "i1"
NAMES[float0] = "float0"

all_dtypes: tuple[np.dtype, ...] = tuple(DTYPES.values())
"""Every array dtype, without `float0` and the key dtypes."""


def dtype_mlir(dtype: Any) -> str:
    """Element type in MLIR text: ``f32``, ``ui8``, ``complex<f32>``; signless integers are ``i8``.

    A key dtype gives the type of its words; `float0` gives ``i1`` (JAX does the same).
    """
    found = MLIR_NAMES.get(dtype) if not isinstance(dtype, KeyDType) else "ui32"
    if found is None:
        raise unsupported(dtype)
    return found


def dtype_short_name(dtype: Any) -> str:
    """Name for printing: ``float32``, ``bool``, ``float8_e4m3fn``, ``key<fry>``, ``float0``."""
    if isinstance(dtype, KeyDType):
        return dtype.name
    found = NAMES.get(dtype)
    return found if found is not None else np.dtype(dtype).name


def unsupported(dtype: Any) -> errors.DTypeError:
    """The error for a dtype that arrays cannot have."""
    name = getattr(dtype, "name", None) or repr(dtype)
    near = errors.near_names(dtype, DTYPES) if isinstance(dtype, str) else []
    hint = "convert with x.astype(...) in NumPy first, to one of " + ", ".join(DTYPES)
    if near:
        hint = " or ".join(map(repr, near))
    return errors.DTypeError(
        errors.explain(
            "dtype",
            f"{name} is not a dtype of arrays here; bool, numbers and random keys are",
            {"dtype": dtype},
            try_=hint,
        )
    )


# --- scalar types --------------------------------------------------------------------------

_make_array: Callable[[Any, np.dtype], Any] | None = None


def set_array_maker(make: Callable[[Any, np.dtype], Any]) -> None:
    """Install what ``float32(x)`` calls: ``make(x, dtype)``. The NumPy layer does this once."""
    global _make_array
    _make_array = make


class ScalarType:
    """A dtype as an object that is callable: ``float32(3)`` is an array of that dtype.

    It equals the NumPy scalar type and dtype of the same name, hashes like the scalar type, is
    accepted wherever NumPy takes a dtype, and works as second argument of `isinstance`.
    """

    dtype: np.dtype

    def __init__(self, dtype: np.dtype, name: str) -> None:
        self.dtype = dtype
        self.__name__ = name
        self.__doc__ = f"Scalar type {name}: a dtype, and a function that makes arrays of it."

    def __call__(self, x: Any = 0) -> Any:
        if _make_array is None:
            raise errors.InternalError(f"{self.__name__}: numlift.numpy is not loaded")
        return _make_array(x, self.dtype)

    def __eq__(self, other: object) -> Any:
        return self is other or self.dtype.type == other

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.dtype.type)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self.dtype.type)

    def __repr__(self) -> str:
        return f"<scalar type {self.__name__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return scalar_type, (self.dtype,)


SCALAR_TYPES: dict[np.dtype, ScalarType] = {
    dtype: ScalarType(dtype, "bool_" if name == "bool" else name) for name, dtype in DTYPES.items()
}


def as_dtype(x: Any) -> Any:
    """`numpy.dtype` or `KeyDType` of a dtype-like thing, not canonicalised.

    Strings may name `ml_dtypes` types (``"bfloat16"``, ``"float8_e4m3fn"``, ``"int4"``).
    """
    if isinstance(x, (np.dtype, KeyDType)):
        return x
    if isinstance(x, ScalarType):
        return x.dtype
    if isinstance(x, str):
        found = DTYPES.get(x)
        if found is not None:
            return found
        for key in list(_key_dtypes.values()):  # another thread may add one
            if key.name == x:
                return key
    elif x is None:
        raise errors.DTypeError(
            errors.explain("dtype", "None is not a dtype", try_="leave the argument out")
        )
    try:
        return np.dtype(x)
    except (TypeError, ValueError):  # ValueError: it has a `dtype` that is none of NumPy's
        raise unsupported(x) from None


def scalar_type(dtype: Any) -> ScalarType:
    """The `ScalarType` of a dtype.

    Example:
        >>> scalar_type("int4")
        <scalar type int4>
    """
    dtype = as_dtype(dtype)
    found = SCALAR_TYPES.get(dtype)
    if found is None:
        raise unsupported(dtype)
    return found


bool_ = SCALAR_TYPES[DTYPES["bool"]]
int2, int4, int8, int16, int32, int64 = (
    SCALAR_TYPES[DTYPES[n]] for n in ("int2", "int4", "int8", "int16", "int32", "int64")
)
uint2, uint4, uint8, uint16, uint32, uint64 = (
    SCALAR_TYPES[DTYPES[n]] for n in ("uint2", "uint4", "uint8", "uint16", "uint32", "uint64")
)
bfloat16, float16, float32, float64 = (
    SCALAR_TYPES[DTYPES[n]] for n in ("bfloat16", "float16", "float32", "float64")
)
float4_e2m1fn = SCALAR_TYPES[DTYPES["float4_e2m1fn"]]
float8_e3m4 = SCALAR_TYPES[DTYPES["float8_e3m4"]]
float8_e4m3 = SCALAR_TYPES[DTYPES["float8_e4m3"]]
float8_e4m3fn = SCALAR_TYPES[DTYPES["float8_e4m3fn"]]
float8_e4m3fnuz = SCALAR_TYPES[DTYPES["float8_e4m3fnuz"]]
float8_e4m3b11fnuz = SCALAR_TYPES[DTYPES["float8_e4m3b11fnuz"]]
float8_e5m2 = SCALAR_TYPES[DTYPES["float8_e5m2"]]
float8_e5m2fnuz = SCALAR_TYPES[DTYPES["float8_e5m2fnuz"]]
float8_e8m0fnu = SCALAR_TYPES[DTYPES["float8_e8m0fnu"]]
complex64, complex128 = SCALAR_TYPES[DTYPES["complex64"]], SCALAR_TYPES[DTYPES["complex128"]]

scalar_types: dict[str, ScalarType] = {s.__name__: s for s in SCALAR_TYPES.values()}
"""Every scalar type by its public name (``bool_``, ``int8``, ...)."""

jax_numpy_dtype: tuple[str, ...] = tuple(scalar_types)
"""Public names of the scalar types."""
