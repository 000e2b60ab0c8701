"""Values, the current interpreter, and `apply`, through which every operation goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import errors
from .dims import Dim
from .dtypes import canonicalize_dtype, python_scalar_dtype
from .op import Op
from .source import Source, describe
from .types import ArrayType, array_type


class Value:
    """Base of everything that is an array to the user: `Array` and `Tracer`.

    Operators and methods are installed by `numlift.numpy.methods`.
    """

    __slots__ = ("__weakref__",)
    __array_priority__ = 100
    type: ArrayType


class Tracer(Value):
    """Stands for an array while a function is being traced."""

    __slots__ = ("owner", "type")
    owner: Interpreter

    def concrete(self) -> Any:
        """The value if it is known while tracing, else None."""
        return None

    def origin(self) -> Source | None:
        """Where the tracer was made, if that was kept."""
        return None

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        return self

    def __repr__(self) -> str:
        return f"Traced<{self.type}> in {self.owner.describe()}"


class Interpreter:
    """What `apply` hands operations to. Owns the tracers it makes; others go to the parent."""

    __slots__ = ("parent", "alive")
    axis_name: Any = None
    scope: str | None = None
    """Named scopes that operations are written in; None if the interpreter writes nothing."""
    substitutes: Mapping[int, Any] = MappingProxyType({})
    """Values that stand in for others while a user's rule runs, by identity of the latter."""
    keeps_views = False
    """Whether refs from outside are seen by way of a view (`core.refs`)."""
    parent: Interpreter | None
    alive: bool

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        """Apply an operation to values of which some may be this interpreter's tracers."""
        raise NotImplementedError

    def apply_custom(self, call: Any, args: Sequence[Any]) -> list[Any]:
        """Apply a function that carries its own derivative rule (`ops.custom`)."""
        raise NotImplementedError

    def describe(self) -> str:
        """Short name for messages, such as ``grad``."""
        return type(self).__name__.lower()


class Evaluate(Interpreter):
    """The bottom interpreter: runs operations on concrete arrays.

    How is decided above (`api.eager` sets `execute`), because it needs lowering and the runtime.
    """

    __slots__ = ("execute",)
    execute: Callable[[Op, Sequence[Any]], Any]

    def __init__(self) -> None:
        self.parent, self.alive = None, True

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        return self.execute(op, args)

    def apply_custom(self, call: Any, args: Sequence[Any]) -> list[Any]:
        return call.function(*args)


EVAL = Evaluate()
current: ContextVar[Interpreter] = ContextVar("numlift_interpreter", default=EVAL)


def apply(op: Op, *args: Any) -> Any:
    """Apply `op` under the current interpreter."""
    return current.get().apply(op, args)


class interpreting:
    """``with interpreting(i):`` makes `i` the current interpreter."""

    __slots__ = ("interpreter", "token")

    def __init__(self, interpreter: Interpreter):
        self.interpreter = interpreter

    def __enter__(self) -> Interpreter:
        self.token = current.set(self.interpreter)
        return self.interpreter

    def __exit__(self, *exc: object) -> None:
        current.reset(self.token)


class in_scope:
    """``with in_scope(name):`` operations that are written down get `name` as their scope.

    It stands in the scope of every stage below the current interpreter, so that it also holds for
    operations that a transformation hands down. One object may be entered repeatedly.
    """

    __slots__ = ("name", "saved")

    def __init__(self, name: str):
        self.name = name
        self.saved: list[list[tuple[Interpreter, str]]] = []

    def __enter__(self) -> None:
        found: list[tuple[Interpreter, str]] = []
        frame: Interpreter | None = current.get()
        while frame is not None:
            scope = frame.scope
            if scope is not None:
                found.append((frame, scope))
                frame.scope = f"{scope}/{self.name}" if scope else self.name
            frame = frame.parent
        self.saved.append(found)

    def __exit__(self, *exc: object) -> None:
        for frame, scope in self.saved.pop():
            frame.scope = scope


def type_of(x: Any) -> ArrayType:
    """The `ArrayType` of a value, NumPy array or Python scalar."""
    if isinstance(x, Value):
        return x.type
    kind = type(x)
    if kind in _SCALARS:
        return array_type((), python_scalar_dtype(kind), True)
    if isinstance(x, (np.ndarray, np.generic)):
        dtype = x.dtype if x.dtype.isnative else x.dtype.newbyteorder("=")
        return array_type(x.shape, canonicalize_dtype(dtype))
    if kind is Dim:
        return array_type((), python_scalar_dtype(int), True)
    if isinstance(x, _SCALARS):
        base = next(k for k in _SCALARS if isinstance(x, k))
        return array_type((), python_scalar_dtype(base), True)
    convert = getattr(x, "__numlift_array__", None)
    if convert is not None:
        return convert().type
    raise errors.ArgumentError(
        errors.explain(
            "array argument",
            f"a value of type {kind.__module__}.{kind.__qualname__} is not an array",
            {"value": repr(x)[:80]},
            try_=getattr(
                kind,
                "array_hint",
                "pass an array, a NumPy array or a number (nl.numpy.asarray converts lists)",
            ),
        )
    )


_SCALARS = (bool, int, float, complex)


def named_axes(interpreter: Interpreter | None = None) -> dict[Any, int]:
    """Named axes in scope, innermost first: name -> size."""
    found: dict[Any, int] = {}
    frame: Interpreter | None = interpreter or current.get()
    while frame is not None:
        for name, size in getattr(frame, "axis_sizes", {}).items():
            found.setdefault(name, size)
        frame = frame.parent
    return found


def leaked(x: Tracer) -> errors.UnexpectedTracerError:
    """The error for a tracer whose interpreter has ended."""
    return errors.UnexpectedTracerError(
        errors.explain(
            "leaked tracer",
            f"a traced value of {x.owner.describe()} was used after that trace had ended",
            {"value": x.type, "created at": describe(x.origin())},
            try_="return the value from the traced function instead of storing it outside",
        )
    )
