"""NumPy's methods and properties of arrays, on arrays and traced values alike.

A function whose first parameter is the array is a method as it is: ``x.sum(0)`` is ``sum(x, 0)``.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import errors
from ..core.dtypes import user_dtype
from ..core.tracing import apply, type_of
from ..ops.elementwise_misc import BitcastConvertType, bits_of
from ..structural import arith
from . import (
    array_api,
    choosing,
    complex_parts,
    creation,
    cumulative,
    diagonals,
    joining,
    manipulation,
    means,
    products,
    rearranging,
    reductions,
    rounding,
    selection,
    sorting,
    taking,
)
from .nonzero import compress
from .nonzero import nonzero as find_nonzero
from .operators import is_operand
from .text import check_known, html_of, values_of


def _sizes(args: tuple[Any, ...]) -> Any:
    """The shape or axes in ``f(2, 3)`` or ``f((2, 3))``."""
    if len(args) == 1 and not isinstance(args[0], int):
        return args[0]
    return args


class ArrayMethods:
    """Methods that differ from the functions of their names; `install` copies them."""

    type: Any

    @property
    def T(self: Any) -> Any:
        """The array with its axes in reverse order."""
        return manipulation.transpose(self)

    @property
    def mT(self: Any) -> Any:
        """The array with its last two axes swapped."""
        return manipulation.matrix_transpose(self)

    @property
    def real(self: Any) -> Any:
        """Real part."""
        return complex_parts.real(self) if self.type.kind == "c" else self

    @property
    def imag(self: Any) -> Any:
        """Imaginary part; zeros for real arrays."""
        return complex_parts.imag(self)

    @property
    def flat(self: Any) -> Any:
        """All elements as an array with one axis (NumPy: an iterator with assignment)."""
        return manipulation.ravel(self)

    def reshape(
        self: Any,
        *args: Any,
        order: str = "C",
        copy: bool | None = None,
        out_sharding: Any = None,
    ) -> Any:
        """The same elements in another shape; see `numlift.numpy.reshape`. No sizes: rank 0."""
        return manipulation.reshape(self, _sizes(args), order, copy=copy, out_sharding=out_sharding)

    def transpose(self: Any, *args: Any) -> Any:
        """The array with its axes in another order; see `numlift.numpy.transpose`."""
        return manipulation.transpose(self, _sizes(args) if args else None)

    def flatten(self: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
        """All elements along one axis."""
        return manipulation.ravel(self, order, out_sharding=out_sharding)

    def astype(
        self: Any,
        dtype: Any,
        copy: bool = False,
        device: Any = None,
        *,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
    ) -> Any:
        """The array with another dtype, if `casting` allows it; see `numlift.numpy.astype`."""
        creation.unused("astype", order)
        if casting != "unsafe":
            _check_casting(self, dtype, casting)
        return creation.astype(self, dtype, copy=copy, device=device)

    def copy(self: Any, order: str = "C") -> Any:
        """A copy in memory of its own."""
        return creation.copy(self, order)

    def clone(self: Any) -> Any:
        """A copy in memory of its own."""
        return creation.copy(self)

    def clip(self: Any, min: Any = None, max: Any = None, out: None = None) -> Any:
        """Values limited to [min, max]; see `numlift.numpy.clip`."""
        return selection.clip(self, min, max, out)

    def _repr_html_(self: Any) -> str | None:
        """What notebooks show: type and sharding above the values; None for traced values."""
        return html_of(self)

    def tofile(self: Any, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file as bytes or text; arguments as for NumPy's method."""
        values_of(self, "tofile").tofile(fid, sep, format)

    def dumps(self: Any) -> bytes:
        """The pickle of the array, which `pickle.loads` reads."""
        check_known(self, "dumps")
        return pickle.dumps(self)

    def dump(self: Any, file: Any) -> None:
        """Write `dumps` to a file, open for binary writing or given by its path."""
        data = self.dumps()
        if hasattr(file, "write"):
            file.write(data)
        else:
            Path(file).write_bytes(data)

    def view(self: Any, dtype: Any = None, type: None = None) -> Any:
        """The same bytes read as another dtype (a copy, unlike NumPy's).

        The last axis grows or shrinks with the sizes of the dtypes. Complex numbers are read as
        pairs of floats, bools as bytes.
        """
        if type is not None:
            raise errors.ArgumentError(errors.explain("view", "type must be None"))
        return view(self, dtype)

    def byteswap(self: Any, inplace: bool = False) -> Any:
        """The array with the bytes of each element in reverse order; `inplace` must be False."""
        if inplace:
            raise errors.ImmutableArrayError(
                errors.explain("byteswap", "arrays are immutable", try_="x = x.byteswap()")
            )
        t = self.type
        if t.dtype.itemsize == 1 or t.kind == "b":
            return self
        if t.kind == "c":
            parts = view(self, arith.real_dtype(t.dtype))
            return view(parts.byteswap(), t.dtype)
        size = t.dtype.itemsize
        octets = apply(BitcastConvertType.of(np.dtype(np.uint8)), self)
        swapped = rearranging.flip(octets, -1)
        assert octets.type.shape[-1] == size
        return apply(BitcastConvertType.of(t.dtype), swapped)

    def compress(
        self: Any,
        condition: Any,
        axis: int | None = None,
        out: None = None,
        *,
        size: int | None = None,
        fill_value: Any = 0,
    ) -> Any:
        """Slices where a condition holds; see `numlift.numpy.compress`."""
        return compress(condition, self, axis, out=out, size=size, fill_value=fill_value)

    def __round__(self: Any, ndigits: int | None = None) -> Any:
        rounded = rounding.round(self, ndigits or 0)
        return rounded if ndigits is not None else creation.astype(rounded, int)

    def __contains__(self: Any, item: Any) -> bool:
        return bool((self == item).any())

    def __matmul__(self: Any, other: Any) -> Any:
        return products.matmul(self, other) if is_operand(other) else NotImplemented

    def __rmatmul__(self: Any, other: Any) -> Any:
        return products.matmul(other, self) if is_operand(other) else NotImplemented

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The module with the functions of the array API standard.

        Raises:
            ValueArgumentError: `api_version` is not a version of the standard.
        """
        array_api.check_version(api_version)
        return sys.modules["numlift.numpy"]

    def __reversed__(self: Any) -> Iterator[Any]:
        return iter(rearranging.flip(self, 0))


def _check_casting(x: Any, dtype: Any, casting: str) -> None:
    wanted = user_dtype(float if dtype is None else dtype, "astype")
    if not np.can_cast(x.type.dtype, wanted, casting):  # type: ignore[arg-type]
        raise errors.DTypeError(
            errors.explain(
                "astype",
                f"cannot cast to {wanted} according to the rule {casting!r}",
                {"x": x.type},
                try_="casting='unsafe'",
            )
        )


def view(x: Any, dtype: Any) -> Any:
    """The bytes of `x` as another dtype."""
    t = type_of(x)
    wanted = user_dtype(t.dtype if dtype is None else dtype, "view")
    if wanted == t.dtype:
        return x
    kind = type_of(wanted.type(0)).kind
    if t.kind == "b":
        return view(arith.convert(x, np.uint8), wanted)
    if kind == "b":
        octets = view(x, np.dtype(np.uint8))
        return apply(arith.Convert.of(wanted, False), octets)
    if t.kind == "c":
        part = arith.real_dtype(t.dtype)
        pair = [manipulation.expand_dims(apply(op, x), -1) for op in (arith.real, arith.imag)]
        flat = manipulation.reshape(
            joining.concatenate(pair, -1), (*t.shape[:-1], 2 * t.shape[-1]) if t.shape else (2,)
        )
        return view(flat, wanted) if wanted != part else flat
    if kind == "c":
        flat = view(x, arith.real_dtype(wanted))
        shape = type_of(flat).shape
        if not shape or shape[-1] % 2:
            raise _bad_view(t, wanted)
        pairs = manipulation.reshape(flat, (*shape[:-1], shape[-1] // 2, 2))
        return apply(arith.complex_, pairs[..., 0], pairs[..., 1])
    return _bits_view(x, t, wanted)


def _bad_view(t: Any, wanted: Any) -> errors.ShapeError:
    return errors.ShapeError(
        errors.explain(
            "view",
            f"the bytes of the last axis do not divide into elements of {wanted}",
            {"x": t},
            try_="x.astype(dtype) to convert the values instead",
        )
    )


def _bits_view(x: Any, t: Any, wanted: Any) -> Any:
    old, new = bits_of(t), bits_of(type_of(wanted.type(0)))
    x = arith.convert(x, t.dtype)
    if old == new:
        return apply(BitcastConvertType.of(wanted), x)
    if not t.shape or (t.shape[-1] * old) % new:
        raise _bad_view(t, wanted)
    if old > new:
        split = apply(BitcastConvertType.of(wanted), x)
        return manipulation.reshape(split, (*t.shape[:-1], t.shape[-1] * (old // new)))
    times = new // old
    parts = manipulation.reshape(x, (*t.shape[:-1], t.shape[-1] // times, times))
    return apply(BitcastConvertType.of(wanted), parts)


FUNCTIONS: dict[str, Any] = {
    "all": reductions.all,
    "any": reductions.any,
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "argpartition": sorting.argpartition,
    "argsort": sorting.argsort,
    "choose": choosing.choose,
    "conj": complex_parts.conj,
    "conjugate": complex_parts.conjugate,
    "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum,
    "diagonal": diagonals.diagonal,
    "dot": products.dot,
    "max": reductions.max,
    "mean": means.mean,
    "min": reductions.min,
    "nonzero": find_nonzero,
    "prod": reductions.prod,
    "ptp": reductions.ptp,
    "ravel": manipulation.ravel,
    "repeat": rearranging.repeat,
    "round": rounding.round,
    "searchsorted": sorting.searchsorted,
    "sort": sorting.sort,
    "squeeze": manipulation.squeeze,
    "std": means.std,
    "sum": reductions.sum,
    "swapaxes": manipulation.swapaxes,
    "take": taking.take,
    "trace": diagonals.trace,
    "var": means.var,
}
"""Methods that are NumPy functions as they are."""

_NOT_COPIED = {"__module__", "__dict__", "__weakref__", "__doc__", "__annotations__", "type"}


def install(cls: type) -> None:
    """Give `cls` NumPy's methods."""
    for name, function in FUNCTIONS.items():
        setattr(cls, name, function)
    for name, member in vars(ArrayMethods).items():
        if name not in _NOT_COPIED and name != "__qualname__":
            setattr(cls, name, member)
