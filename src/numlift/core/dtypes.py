"""Dtypes: their names, kinds and limits, and which dtype an operation on mixed dtypes has.

Dtypes are `numpy.dtype` objects (those of `ml_dtypes` for bfloat16, float8 and int4), plus
`KeyDType` for typed random keys. `ScalarType` objects such as `float32` stand for a dtype and
make arrays when called.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from .. import errors
from ..config import current

# --- typed random keys ---------------------------------------------------------------------


class extended(np.generic):  # noqa: N801  (NumPy names scalar kinds in lower case)
    """Kind of all dtypes that NumPy does not know, for `issubdtype`."""


class prng_key(extended):  # noqa: N801
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

    __slots__ = ("impl", "tag", "name", "key_shape", "storage", "itemsize")

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


_DTYPES: dict[str, np.dtype] = {name: _numpy_dtype(name) for name in _MLIR}
_NAME_OF: dict[np.dtype, str] = {dtype: name for name, dtype in _DTYPES.items()}
_MLIR_OF: dict[np.dtype, str] = {dtype: _MLIR[name] for name, dtype in _DTYPES.items()}

float0: np.dtype = np.dtype([("float0", np.void, 0)])
"""Dtype of the tangent of integers and booleans: a vector space of dimension zero."""
_MLIR_OF[float0] = "i1"
_NAME_OF[float0] = "float0"

all_dtypes: tuple[np.dtype, ...] = tuple(_DTYPES.values())
"""Every array dtype, without `float0` and the key dtypes."""


def dtype_mlir(dtype: Any) -> str:
    """Element type in MLIR text: ``f32``, ``ui8``, ``complex<f32>``; signless integers are ``i8``.

    A key dtype gives the type of its words; `float0` gives ``i1`` (JAX does the same).
    """
    found = _MLIR_OF.get(dtype) if not isinstance(dtype, KeyDType) else "ui32"
    if found is None:
        raise _unsupported(dtype)
    return found


def dtype_short_name(dtype: Any) -> str:
    """Name for printing: ``float32``, ``bool``, ``float8_e4m3fn``, ``key<fry>``, ``float0``."""
    if isinstance(dtype, KeyDType):
        return dtype.name
    found = _NAME_OF.get(dtype)
    return found if found is not None else np.dtype(dtype).name


def _unsupported(dtype: Any) -> errors.DTypeError:
    name = getattr(dtype, "name", None) or repr(dtype)
    return errors.DTypeError(
        errors.explain(
            "dtype",
            f"{name} is not a dtype of arrays here; bool, numbers and random keys are",
            {"dtype": dtype},
            try_="convert with x.astype(...) in NumPy first, to one of " + ", ".join(_DTYPES),
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
        return scalar_type_of, (self.dtype,)


_SCALARS: dict[np.dtype, ScalarType] = {
    dtype: ScalarType(dtype, "bool_" if name == "bool" else name)
    for name, dtype in _DTYPES.items()
}


def scalar_type_of(x: Any) -> ScalarType:
    """The `ScalarType` of a dtype, array or Python scalar.

    Example:
        >>> scalar_type_of(1.5)
        <scalar type float32>
    """
    dtype = dtype_of(x) if _is_value(x) else as_dtype(x)
    found = _SCALARS.get(dtype)
    if found is None:
        raise _unsupported(dtype)
    return found


bool_ = _SCALARS[_DTYPES["bool"]]
int2, int4, int8, int16, int32, int64 = (
    _SCALARS[_DTYPES[n]] for n in ("int2", "int4", "int8", "int16", "int32", "int64")
)
uint2, uint4, uint8, uint16, uint32, uint64 = (
    _SCALARS[_DTYPES[n]] for n in ("uint2", "uint4", "uint8", "uint16", "uint32", "uint64")
)
bfloat16, float16, float32, float64 = (
    _SCALARS[_DTYPES[n]] for n in ("bfloat16", "float16", "float32", "float64")
)
float4_e2m1fn = _SCALARS[_DTYPES["float4_e2m1fn"]]
float8_e3m4 = _SCALARS[_DTYPES["float8_e3m4"]]
float8_e4m3 = _SCALARS[_DTYPES["float8_e4m3"]]
float8_e4m3fn = _SCALARS[_DTYPES["float8_e4m3fn"]]
float8_e4m3fnuz = _SCALARS[_DTYPES["float8_e4m3fnuz"]]
float8_e4m3b11fnuz = _SCALARS[_DTYPES["float8_e4m3b11fnuz"]]
float8_e5m2 = _SCALARS[_DTYPES["float8_e5m2"]]
float8_e5m2fnuz = _SCALARS[_DTYPES["float8_e5m2fnuz"]]
float8_e8m0fnu = _SCALARS[_DTYPES["float8_e8m0fnu"]]
complex64, complex128 = _SCALARS[_DTYPES["complex64"]], _SCALARS[_DTYPES["complex128"]]

scalar_types: dict[str, ScalarType] = {s.__name__: s for s in _SCALARS.values()}
"""Every scalar type by its public name (``bool_``, ``int8``, ...)."""

# --- kinds ---------------------------------------------------------------------------------

_PYTHON_SCALARS = (bool, int, float, complex)
_WIDE = {
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.uint32),
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}
_PYTHON_DTYPE = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}


def is_python_scalar(x: Any) -> bool:
    """Whether x is a Python bool, int, float or complex (NumPy scalars are not)."""
    if type(x) in _PYTHON_DTYPE:
        return True
    return isinstance(x, _PYTHON_SCALARS) and not isinstance(x, np.generic)


def _is_value(x: Any) -> bool:
    """Whether x is an array or a number, and not the name of a dtype."""
    return is_python_scalar(x) or (
        hasattr(x, "dtype") and not isinstance(x, (type, ScalarType, np.dtype))
    )


def as_dtype(x: Any) -> Any:
    """`numpy.dtype` or `KeyDType` of a dtype-like thing, not canonicalised.

    Strings may name `ml_dtypes` types (``"bfloat16"``, ``"float8_e4m3fn"``, ``"int4"``).
    """
    if isinstance(x, (np.dtype, KeyDType)):
        return x
    if isinstance(x, ScalarType):
        return x.dtype
    if isinstance(x, str):
        found = _DTYPES.get(x)
        if found is not None:
            return found
        for key in _key_dtypes.values():
            if key.name == x:
                return key
    elif x is None:
        raise errors.DTypeError(
            errors.explain("dtype", "None is not a dtype", try_="leave the argument out")
        )
    try:
        return np.dtype(x)
    except TypeError:
        raise _unsupported(x) from None


def canonicalize_dtype(dtype: Any, allow_extended: bool = False) -> Any:
    """The dtype that arrays really get: 64-bit ones become 32-bit unless `enable_x64` is on.

    Args:
        dtype: anything that names a dtype.
        allow_extended: accept random-key dtypes (and return them).

    Raises:
        DTypeError: not a dtype of arrays (object, string, datetime, structured ...).
    """
    dtype = as_dtype(dtype)
    if isinstance(dtype, KeyDType):
        if not allow_extended:
            raise errors.DTypeError(
                errors.explain(
                    "dtype", "a random-key dtype is not a number", {"dtype": dtype},
                    try_="random.key_data(keys) gives the words of keys",
                )
            )  # fmt: skip
        return dtype
    if dtype not in _NAME_OF:
        native = dtype.newbyteorder("=") if dtype.kind in "iufc" else dtype
        if native not in _NAME_OF:
            raise _unsupported(dtype)
        dtype = native
    if dtype in _WIDE and not current().enable_x64:
        return _WIDE[dtype]
    return dtype


def user_dtype(dtype: Any, function: str, allow_extended: bool = True) -> Any:
    """Canonical dtype for a dtype that a user asked for; warns if 64 bits are truncated.

    Python's `int`, `float` and `complex` mean the default width and do not warn.
    """
    asked = as_dtype(dtype)
    result = canonicalize_dtype(asked, allow_extended)
    if asked in _WIDE and result is not asked and result != asked:
        if not (isinstance(dtype, type) and dtype in _PYTHON_DTYPE):
            warnings.warn(
                f"Explicitly requested dtype {asked.name} requested in {function} is not "
                f"available, and will be truncated to dtype {result.name}. To enable more dtypes, "
                "call numlift.config.update('enable_x64', True) or set the environment variable "
                "NUMLIFT_ENABLE_X64=1.",
                UserWarning,
                stacklevel=errors.user_depth(),
            )
    return result



def python_scalar_dtype(kind: type) -> np.dtype:
    """Canonical dtype of Python scalars of this class: bool, int32, float32, complex64 (or 64-bit).

    Example:
        >>> python_scalar_dtype(float)
        dtype('float32')
    """
    found = _PYTHON_DTYPE.get(kind)
    if found is None:
        for base in _PYTHON_SCALARS:
            if issubclass(kind, base):
                found = _PYTHON_DTYPE[base]
                break
        else:
            raise _unsupported(kind)
    return _WIDE[found] if found in _WIDE and not current().enable_x64 else found


def dtype_of(x: Any) -> Any:
    """Canonical dtype of an array, NumPy or Python scalar, or of a dtype-like thing.

    Raises:
        DTypeError: `x` has no array dtype.
    """
    if type(x) in _PYTHON_DTYPE:
        return python_scalar_dtype(type(x))
    dtype = getattr(x, "dtype", None)
    if dtype is None or isinstance(x, type):
        if is_python_scalar(x):
            return python_scalar_dtype(type(x))
        dtype = as_dtype(x)
    return canonicalize_dtype(dtype, allow_extended=True)


def is_weakly_typed(x: Any) -> bool:
    """Whether the dtype of x gives way to others: Python scalars and arrays made of them only."""
    if type(x) in _PYTHON_DTYPE:
        return type(x) is not bool
    weak = getattr(x, "weak_type", None)
    if weak is None:
        return is_python_scalar(x) and not isinstance(x, bool)
    return bool(weak)


_CUSTOM_KIND: dict[type, type] = {}
for _name, _dtype in _DTYPES.items():
    if hasattr(ml_dtypes, _name):
        _CUSTOM_KIND[_dtype.type] = (
            np.unsignedinteger
            if _name.startswith("uint")
            else np.signedinteger
            if _name.startswith("int")
            else np.floating
        )


def _scalar_class(x: Any) -> type:
    """NumPy scalar class for the first or second argument of `issubdtype`."""
    if isinstance(x, KeyDType):
        return x.type
    if isinstance(x, ScalarType):
        return x.dtype.type
    if isinstance(x, type) and issubclass(x, np.generic):
        return x
    return as_dtype(x).type


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a kind, such as `numpy.floating`, or of exactly another dtype.

    Unlike NumPy's, it knows bfloat16 and float8 as `floating`, int4 as `signedinteger`, and random
    keys as `prng_key` and `extended`.

    Example:
        >>> issubdtype("bfloat16", np.floating), issubdtype(KeyDType("rbg"), prng_key)
        (True, True)
    """
    if isinstance(arg2, KeyDType):
        return arg1 is arg2
    a, b = _scalar_class(arg1), _scalar_class(arg2)
    if a is b:
        return True
    kind = _CUSTOM_KIND.get(a)
    if kind is not None:
        return b is not np.generic and issubclass(kind, b) or b is np.generic
    return issubclass(a, b)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind of the array API standard.

    Args:
        dtype: any dtype-like.
        kind: a dtype, or one of ``"bool"``, ``"signed integer"``, ``"unsigned integer"``,
            ``"integral"``, ``"real floating"``, ``"complex floating"``, ``"numeric"``, or a tuple
            of these.
    """
    dtype = as_dtype(dtype)
    for one in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(one, str) and one in _ARRAY_API_KINDS:
            if any(issubdtype(dtype, c) for c in _ARRAY_API_KINDS[one]):
                return True
        elif isinstance(one, str) and one not in _DTYPES:
            raise errors.ValueArgumentError(
                errors.explain(
                    "isdtype", f"{one!r} is not a kind of dtype", {"kind": kind},
                    try_="one of " + ", ".join(repr(k) for k in _ARRAY_API_KINDS),
                )
            )  # fmt: skip
        elif dtype == as_dtype(one):
            return True
    return False


_ARRAY_API_KINDS: dict[str, tuple[type, ...]] = {
    "bool": (np.bool_,),
    "signed integer": (np.signedinteger,),
    "unsigned integer": (np.unsignedinteger,),
    "integral": (np.integer,),
    "real floating": (np.floating,),
    "complex floating": (np.complexfloating,),
    "numeric": (np.number,),
}


def finfo(dtype: Any) -> Any:
    """Limits of a floating or complex dtype, as `numpy.finfo` (`ml_dtypes.finfo` for its types).

    Example:
        >>> float(finfo("float32").eps)
        1.1920928955078125e-07
    """
    dtype = dtype_of(dtype) if _is_value(dtype) else as_dtype(dtype)
    if not issubdtype(dtype, np.inexact):
        raise errors.ValueArgumentError(
            errors.explain("finfo", f"{dtype_short_name(dtype)} is not a floating dtype",
                           {"dtype": dtype}, try_=f"iinfo({dtype_short_name(dtype)!r})")
        )  # fmt: skip
    return ml_dtypes.finfo(dtype) if dtype.type in _CUSTOM_KIND else np.finfo(dtype)


def iinfo(dtype: Any) -> Any:
    """Limits of an integer dtype, as `numpy.iinfo` (`ml_dtypes.iinfo` for int2 and int4).

    Example:
        >>> iinfo("int4").max
        7
    """
    dtype = dtype_of(dtype) if _is_value(dtype) else as_dtype(dtype)
    if not issubdtype(dtype, np.integer):
        raise errors.ValueArgumentError(
            errors.explain("iinfo", f"{dtype_short_name(dtype)} is not an integer dtype",
                           {"dtype": dtype}, try_=f"finfo({dtype_short_name(dtype)!r})")
        )  # fmt: skip
    return ml_dtypes.iinfo(dtype) if dtype.type in _CUSTOM_KIND else np.iinfo(dtype)


def tangent_dtype(dtype: Any) -> np.dtype:
    """Dtype of tangents of values of this dtype: itself if floating or complex, else `float0`."""
    if not isinstance(dtype, KeyDType) and issubdtype(dtype, np.inexact):
        return as_dtype(dtype)
    return float0


jax_numpy_dtype: tuple[str, ...] = tuple(scalar_types)
"""Public names of the scalar types."""
