"""`float`, `int`, `complex` and NumPy's scalar types in lifted code: calls of them are casts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as nlnp
from ..core.dtypes import canonicalize_dtype
from ..core.tracing import apply
from ..numpy.creation import Convert
from .masked import Masked
from .writable import Writable, has_traced, is_writable, plain, wrap


class ScalarType:
    """Stands for a type of numbers. It is no class, so that `isinstance` can ask it."""

    def __init__(self, kind: type, weak: bool):
        self.kind, self.weak = kind, weak
        self.dtype = np.dtype(kind)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or not (is_writable(args[0]) or has_traced(args[0])):
            return self.kind(*plain(args), **kwargs)
        value = plain(args[0])
        if type(value) is Masked:
            raise value.refused(f"{self.kind.__name__} of them")
        if not has_traced(value):
            return self.kind(value)
        found = nlnp.asarray(value)
        if self.weak and found.size == 1 and found.ndim:
            found = found.reshape(())
        if self.weak and found.ndim or self.kind in (float, int) and found.dtype.kind == "c":
            raise TypeError(
                f"{self.kind.__name__}: only real arrays with one element can be converted to "
                f"Python scalars, not {found.type}"
            )
        dtype = canonicalize_dtype(self.dtype)
        found = found.real if found.dtype.kind == "c" and dtype.kind != "c" else found
        found = found.astype(dtype)
        if self.weak:
            return Writable(apply(Convert.of(found.dtype, True), found), scalar=True)
        return wrap(found)

    def __instancecheck__(self, x: Any) -> bool:
        return isinstance(x, self.kind)

    def __subclasscheck__(self, kind: type) -> bool:
        return issubclass(kind, self.kind)

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (self.kind,)

    def __eq__(self, other: Any) -> bool:
        return other is self or self.kind == other

    def __hash__(self) -> int:
        return hash(self.kind)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kind, name)

    def __or__(self, other: Any) -> Any:
        return self.kind | plain_type(other)

    def __ror__(self, other: Any) -> Any:
        return plain_type(other) | self.kind

    def __repr__(self) -> str:
        return repr(self.kind)

    def __numlift_plain__(self) -> type:
        return self.kind


def plain_type(x: Any) -> Any:
    """The type itself."""
    return x.kind if type(x) is ScalarType else x


PYTHON = {kind.__name__: ScalarType(kind, True) for kind in (float, int, complex)}
NUMPY: dict[type, ScalarType] = {
    kind: ScalarType(kind, False)
    for kind in np.sctypeDict.values()
    if np.dtype(kind).kind in "biufc" and np.dtype(kind).char not in "gG"
}
