"""Attributes of traced values, and what happens when Python asks them for a value.

Under `grad` and `jvp` the value is known, so Python's `if`, `while` and `int()` work; `float()` is
an error, because its result has no derivative.
Under `jit`, `vmap` and inside loops it is not: the errors here say what to write instead.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import errors
from ..core.source import describe
from ..core.suggest import suggest
from ..core.tracing import Tracer, apply, leaked
from ..core.types import ArrayType
from ..ops.slicing import Slice
from ..runtime.transfer import as_array
from ..structural.shape import reshape


def value_of(x: Tracer) -> Any:
    """The value of a traced array as an `Array` if it is known, else None.

    Raises:
        UnexpectedTracerError: its trace has ended.
    """
    if not x.owner.alive:
        raise leaked(x)
    found = x.concrete()
    return None if found is None else as_array(found)


def facts(x: Tracer) -> dict[str, Any]:
    """What a message says about a traced value."""
    origin = x.origin()
    shown = {"value": x.type, "traced by": x.owner.describe()}
    if origin is not None:
        shown["made at"] = describe(origin)
    return shown


def _or_static(x: Tracer, hint: str) -> str:
    """Advice that makes an argument static; not under vmap: each example has its own value."""
    return "" if x.owner.describe().startswith("vmap") else hint


def _need_number(x: Tracer, function: str) -> Any:
    value = value_of(x)
    if value is not None:
        return value
    raise errors.ConcretizationTypeError(
        errors.explain(
            function,
            f"the value of a traced array is not known while {x.owner.describe()} is tracing",
            facts(x),
            try_=f"keep it an array (x.astype({'int' if function == 'int' else 'float'}))"
            + _or_static(
                x, ", or static_argnums= for an argument that shapes or Python code depend on"
            ),
        )
    )


def _need_scalar(x: Tracer, function: str) -> Any:
    """The value, if Python numbers made of it lose no derivative."""
    value = _need_number(x, function)
    if not x.type.inexact:
        return value
    raise errors.ConcretizationTypeError(
        errors.explain(
            function,
            f"{x.owner.describe()} follows this value, and a Python number has no derivative",
            facts(x),
            try_=f"leave {function} away; np.exp(x) instead of math.exp(x); nl.lift(f) for code "
            "that writes into NumPy arrays; lax.stop_gradient(x) first if no derivative is wanted",
        )
    )


_GENERAL = (
    "np.where(condition, x, y) to choose between values, "
    "lax.cond(condition, f, g, *operands) to choose between computations, "
    "lax.while_loop for a loop; & | ~ instead of and, or, not"
)


def _instead(x: Tracer) -> str:
    """What to write instead of the condition that is running."""
    text = suggest(errors.user_frame(sys._getframe(1))) or _GENERAL
    if not _or_static(x, "static"):
        return text
    ways = ["static_argnums= if the condition depends on arguments that rarely change"]
    if x.owner.describe().startswith("jit("):
        ways.insert(0, "nl.jit(f, autostage=True), which rewrites the function itself")
    return "\n".join([text, *(f"Or: {way}" for way in ways)])


class TracerProtocol:
    """Attributes and conversions that `install` copies to `Tracer`."""

    type: ArrayType

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self.type.shape

    @property
    def dtype(self) -> Any:
        """A `numpy.dtype`, or the dtype of typed random keys."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.type.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.type.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.type.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.type.size * self.type.dtype.itemsize

    @property
    def weak_type(self) -> bool:
        """True if the dtype yields to others: the value comes from Python scalars only."""
        return self.type.weak_type

    @property
    def aval(self) -> ArrayType:
        """Its type."""
        return self.type

    @property
    def sharding(self: Any) -> Any:
        """Its sharding: known while tracing only on meshes with Explicit axes."""
        return self._known("sharding")

    @property
    def device(self: Any) -> Any:
        """The device if the value is known (under `grad`); None while a program is traced.

        ``device=x.device`` of creation functions thus leaves the place to the compiler.
        """
        value = value_of(self)
        return None if value is None else value.device

    @property
    def committed(self: Any) -> bool:
        """Whether the user chose the devices, if the value is known (under `grad`)."""
        return self._known("committed")

    def devices(self: Any) -> set[Any]:
        """The devices, if the value is known (under `grad`)."""
        return self._known("devices")()

    @property
    def is_fully_addressable(self: Any) -> bool:
        """Whether this process can read every part, if the value is known."""
        return self._known("is_fully_addressable")

    @property
    def is_fully_replicated(self: Any) -> bool:
        """Whether every device holds the whole array, if the value is known."""
        return self._known("is_fully_replicated")

    def _known(self: Any, name: str) -> Any:
        if name == "sharding" and self.type.sharding is not None:
            return self.type.sharding
        value = value_of(self)
        if value is None:
            raise errors.ConcretizationTypeError(
                errors.explain(
                    name,
                    "a traced value has no place in memory yet",
                    facts(self),
                    try_="nl.typeof(x).sharding on a mesh with Explicit axes, or read "
                    f"x.{name} outside the traced function",
                )
            )
        return getattr(value, name)

    def block_until_ready(self) -> Any:
        """The value itself: there is nothing to wait for while tracing."""
        return self

    def copy_to_host_async(self) -> None:
        """Nothing: there is no value to copy while tracing."""

    def __bool__(self: Any) -> bool:
        value = value_of(self)
        if value is not None:
            return bool(value)
        raise errors.TracerBoolConversionError(
            errors.explain(
                "bool",
                f"`if`, `while`, `and`, `or` and `not` need a value, which is not known while "
                f"{self.owner.describe()} is tracing",
                facts(self),
                try_=_instead(self),
            )
        )

    def __int__(self: Any) -> int:
        return int(_need_number(self, "int"))

    def __float__(self: Any) -> float:
        return float(_need_scalar(self, "float"))

    def __complex__(self: Any) -> complex:
        return complex(_need_scalar(self, "complex"))

    def __floor__(self: Any) -> int:
        return math.floor(_need_number(self, "floor"))

    def __ceil__(self: Any) -> int:
        return math.ceil(_need_number(self, "ceil"))

    def __trunc__(self: Any) -> int:
        return int(_need_number(self, "trunc"))

    def __index__(self: Any) -> int:
        value = value_of(self)
        if value is not None:
            return value.__index__()
        raise errors.TracerIntegerConversionError(
            errors.explain(
                "index",
                "Python needs an integer here, and the value of a traced array is not known while "
                f"{self.owner.describe()} is tracing",
                facts(self),
                try_=_or_static(self, "static_argnums= for sizes and axes; ")
                + "np.asarray(items)[i] to index a list or "
                "NumPy array with a traced integer; lax.fori_loop instead of range(n)",
            )
        )

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if not self.owner.alive:
            raise leaked(self)
        known = self.concrete() is not None
        raise errors.TracerArrayConversionError(
            errors.explain(
                "array",
                "a traced value cannot become a NumPy array: "
                + ("its derivative would be lost" if known else "its value is not known yet"),
                facts(self),
                try_="leave the conversion away, use numlift.numpy.asarray, or nl.lift(f), which "
                "changes such calls; "
                + (
                    "numpy.asarray(lax.stop_gradient(x)) if no derivative is wanted"
                    if known
                    else "nl.pure_callback to call NumPy code, nl.debug.print to look at a value"
                ),
            )
        )

    def item(self: Any, *args: Any) -> Any:
        """The one element (or the element at `args`) as a Python scalar, if it is known."""
        return _need_scalar(self, "item").item(*args)

    def tolist(self: Any) -> Any:
        """Nested lists of Python scalars, if the value is known."""
        return _need_scalar(self, "tolist").tolist()

    def tobytes(self: Any, order: Any = "C") -> bytes:
        """The elements as bytes, if the value is known."""
        return _need_number(self, "tobytes").tobytes(order)

    def __len__(self) -> int:
        if not self.type.shape:
            raise errors.ArgumentError(
                errors.explain(
                    "len", "an array without dimensions has no length", {"x": self.type},
                    try_="x.size, which is 1",
                )
            )  # fmt: skip
        return self.type.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.type.shape:
            raise errors.ArgumentError(
                errors.explain(
                    "iter", "an array without dimensions has no rows", {"x": self.type},
                    try_="np.atleast_1d(x)",
                )
            )  # fmt: skip
        return _rows(self, self.type.shape)

    def __hash__(self) -> int:
        raise errors.ArgumentError(
            errors.explain(
                "hash",
                "unhashable type: a traced value is compared element by element, so it cannot be "
                "a key",
                {"x": self.type},
                try_="pass it as an argument instead of storing it in a dict, set or lru_cache",
            )
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        raise errors.ImmutableArrayError(
            errors.explain(
                "array",
                "elements cannot be assigned in place",
                {"x": self.type},
                try_="x = x.at[index].set(value)",
            )
        )

    def __delitem__(self, index: Any) -> None:
        raise errors.ImmutableArrayError(
            errors.explain(
                "array",
                "elements cannot be deleted in place",
                {"x": self.type},
                try_="np.delete(x, index)",
            )
        )

    def __format__(self: Any, spec: str) -> str:
        if not spec:
            return repr(self)
        return format(_need_number(self, "format").item(), spec)


def _rows(x: Any, shape: tuple[int, ...]) -> Iterator[Any]:
    rest = shape[1:]
    for i in range(shape[0]):
        starts, limits = (i, *(0 for _ in rest)), (i + 1, *rest)
        yield reshape(apply(Slice.of(starts, limits, None), x), rest)


_NOT_COPIED = {"__module__", "__dict__", "__weakref__", "__doc__", "__annotations__", "type"}


def install(cls: type) -> None:
    """Copy `TracerProtocol` to `cls`."""
    for name, member in vars(TracerProtocol).items():
        if name not in _NOT_COPIED and name != "__qualname__":
            setattr(cls, name, member)
