"""Compares results of Numlift with NumPy's: structure, shape, dtype, values, errors.

Dtypes. Results that are no floats have NumPy's dtype, of at most 32 bits unless 64-bit types are
on. The precision of a float result is that of the widest float operand, else the default's: NumPy
instead takes integers of 8 bits as float16 and of 32 bits as float64. `dtype=` decides as in NumPy.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy

from tests.numpy.properties.drawing import Call, narrow

BITS_32 = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
COMPLEX = {"float32": "complex64", "float64": "complex128"}
TOLERANCE = {"float32": 2e-5, "float64": 1e-11}
NARROW_FLOATS = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")


def map_tree(f: Any, x: Any) -> Any:
    """f of each array inside tuples, lists and dicts."""
    if isinstance(x, (tuple, list)):
        items = [map_tree(f, y) for y in x]
        return items if isinstance(x, list) else tuple(items)
    if isinstance(x, dict):
        return {k: map_tree(f, y) for k, y in x.items()}
    return f(x) if isinstance(x, numpy.ndarray) else x


def map_call(f: Any, c: Call) -> Call:
    """f of each operand."""
    return Call(map_tree(f, c.args), map_tree(f, c.kwargs))


def operands(c: Call) -> list[Any]:
    """All operands of a call."""
    found: list[Any] = []
    map_call(lambda x: found.append(x) or x, c)
    return found


def leaves(x: Any) -> list[Any]:
    """Arrays and numbers inside a result."""
    if isinstance(x, (tuple, list)):
        return [leaf for y in x for leaf in leaves(y)]
    return [x]


def is_float(dtype: Any) -> bool:
    """Whether a dtype is a float or complex, narrow ones included."""
    return dtype.kind in "fc" or dtype.name in NARROW_FLOATS


def mapped(dtype: Any, x64: bool) -> str:
    """The dtype under the 32-bit rule."""
    return str(dtype.name) if x64 else BITS_32.get(dtype.name, dtype.name)


def widest(c: Call, x64: bool) -> str:
    """The widest real float type among operands, "" without floats."""
    order = ("", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "float32", "float64")
    best = 0
    for x in operands(c):
        if is_float(x.dtype):
            name = mapped(x.dtype, x64).replace("complex64", "float32")
            best = max(best, order.index(name.replace("complex128", "float64")))
    return order[best]


def expected_dtype(c: Call, result: Any, x64: bool) -> str:
    """The dtype that Numlift's result has where NumPy's has `result.dtype`."""
    dtype = numpy.asarray(result).dtype
    wanted = c.kwargs.get("dtype")
    if not is_float(dtype) or wanted is not None:
        return mapped(dtype, x64) if wanted is None else mapped(numpy.dtype(wanted), x64)
    real = widest(c, x64) or ("float64" if x64 else "float32")
    return COMPLEX.get(real, "complex64") if dtype.kind == "c" else real


def widened(c: Call) -> Call:
    """Operands for the reference: narrow floats as float32, of integers alone 64 bits."""

    def widen(x: Any) -> Any:
        return x.astype("float32") if x.dtype.name in NARROW_FLOATS else x

    return map_call(widen, c)


def wider_integers(c: Call) -> Call:
    """Integers and bools as int64, so that floats made from them are precise."""
    return map_call(lambda x: x.astype("int64") if x.dtype.kind in "iub" else x, c)


def outcome(f: Any, c: Call) -> Any:
    """The result, or the exception."""
    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return f(*c.args, **c.kwargs)
    except Exception as error:
        return error


def reference(f: Any, c: Call) -> tuple[Any, Any]:
    """(NumPy's result as precise as it can be, the same in the dtypes that NumPy chooses)."""
    c = widened(c)
    plain = outcome(f, c)
    if isinstance(plain, Exception):
        return plain, plain
    floats = [is_float(numpy.asarray(x).dtype) for x in leaves(plain)]
    if any(floats) and not any(is_float(x.dtype) for x in operands(c)):
        precise = outcome(f, wider_integers(c))
        if not isinstance(precise, Exception):
            return precise, plain
    return plain, plain


def compare(
    got: Any, want: Any, types: list[str] | None, scaled: float, zeros: bool, factor: float = 1.0
) -> Iterator[str]:
    """What differs. `types` are expected dtypes; `scaled` is added to magnitudes of errors."""
    many = isinstance(want, (tuple, list))
    if many != isinstance(got, (tuple, list)):
        yield f"one is a sequence: {got!r}, expected {want!r}"
        return
    ours, theirs = leaves(got), leaves(want)
    if len(ours) != len(theirs):
        yield f"{len(ours)} results, expected {len(theirs)}"
        return
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if isinstance(b, (str, type, numpy.dtype)) or b is None:
            if a != b:
                yield f"{a!r}, expected {b!r}"
            continue
        array = hasattr(a, "dtype")
        a, b = numpy.asarray(a), numpy.asarray(b)
        if a.shape != b.shape:
            yield f"result {i}: shape {a.shape}, expected {b.shape}"
        elif types is not None and array and a.dtype.name != types[i]:
            yield f"result {i}: dtype {a.dtype.name}, expected {types[i]}"
        elif problem := different(a, b, scaled, zeros, factor):
            yield f"result {i}: {problem}\n{a!r}\nexpected\n{b!r}"


def different(a: Any, b: Any, scale: float, zeros: bool, factor: float) -> str:
    """ "" if values agree as far as their precision says."""
    if not is_float(a.dtype):
        if is_float(b.dtype):
            return "" if numpy.array_equal(a.astype("float64"), b) else "values"
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            b = b.astype(a.dtype)  # wraps: sums of 64 bits in NumPy, of 32 here
        return "" if numpy.array_equal(a, b) else "values"
    if a.dtype.kind == "c" or b.dtype.kind == "c":
        a, b = a.astype(numpy.promote_types(a.dtype, "complex64")), numpy.asarray(b, "complex128")
        return different(a.real, b.real, scale, False, factor) or different(
            a.imag, b.imag, scale, False, factor
        )
    return different_floats(a, b, scale, zeros, factor)


def different_floats(a: Any, b: Any, scale: float, zeros: bool, factor: float) -> str:
    """ "" if real floats agree."""
    info = ml_dtypes.finfo(a.dtype)
    narrow_float = a.dtype.name in NARROW_FLOATS
    tolerance = factor * TOLERANCE.get(a.dtype.name, 4 * float(info.eps))
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        big = numpy.abs(b.astype("float64")) > float(info.max) * (0.5 if narrow_float else 0.999)
        rounded = b.astype("float64")
        low = numpy.minimum(TOLERANCE.get(b.dtype.name, 1), 1) if b.dtype.kind == "f" else 0
        tolerance = max(tolerance, factor * low)
        a = a.astype("float64")
        b = numpy.where(big & ~narrow_float, numpy.sign(rounded) * math.inf, rounded)
        near = a == numpy.where(big, b, rounded)
        near |= numpy.abs(a - rounded) <= tolerance * (numpy.abs(rounded) + scale) + 2 * float(
            info.smallest_normal
        )
    near |= numpy.isnan(a) & numpy.isnan(b)
    near |= big & (numpy.abs(a) > float(info.max) * 0.4)
    if narrow_float:
        near |= big
    if not near.all():
        return "values"
    both = (a == 0) & (b == 0)
    if zeros and numpy.any(both & (numpy.signbit(a) != numpy.signbit(b))):
        return "sign of zero"
    return ""


def scale_of(c: Call, result: Any) -> float:
    """The largest finite magnitude among operands and results."""
    best = 1.0
    for x in [*operands(c), *leaves(result)]:
        x = numpy.asarray(x)
        if x.size and (is_float(x.dtype) or x.dtype.kind in "iu"):
            with numpy.errstate(all="ignore"):
                magnitude = numpy.abs(x.astype("complex128" if x.dtype.kind == "c" else "float64"))
            finite = magnitude[numpy.isfinite(magnitude)]
            best = max(best, float(finite.max(initial=0.0)))
    return best


def as_error(numpys: Exception) -> type[Exception]:
    """The class that Numlift's exception must be of."""
    for kind in (numpy.exceptions.AxisError, numpy.linalg.LinAlgError):
        if isinstance(numpys, kind):
            return kind
    for builtin in (OverflowError, ZeroDivisionError, IndexError, ValueError, TypeError):
        if isinstance(numpys, builtin):
            return builtin
    return type(numpys)


__all__ = ["compare", "narrow", "outcome", "reference"]
