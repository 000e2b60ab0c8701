"""`Ref`: a mutable array. Graphs stay pure: each stage keeps a view of the refs that it meets.

A ref belongs to the interpreter that was current when it was made, its owner, which holds its
value. Under the owner a ref is read and written directly. A stage in between turns the value that
the ref has when the staged program is called into an input of the graph, and the value that it has
at the end into an output (`Stage.views`); who staged the function passes one and stores the other.
"""

from __future__ import annotations

import threading
from typing import Any

from .. import errors
from .source import describe, user_site
from .tracing import EVAL, Interpreter, Tracer, current, leaked
from .types import ArrayType


class Ref:
    """A mutable array, made by `new_ref`.

    ``ref[index]`` reads, ``ref[index] = value`` writes, ``ref[...]`` means the whole array, with
    all of NumPy's indices. It is no array itself: functions take ``ref[...]``.

    Functions under `jit`, `vmap`, `grad`, `scan` and the others take refs as arguments or close
    over them; what they write is seen afterwards. They cannot return refs.
    """

    __slots__ = ("type", "owner", "value", "written", "argument", "lent", "lock", "site",
                 "__weakref__")  # fmt: skip

    array_hint = "pass ref[...], the value that the ref has now"
    type: ArrayType
    owner: Interpreter
    value: Any

    def __init__(self, type_: ArrayType, owner: Interpreter, value: Any):
        self.type, self.owner, self.value = type_, owner, value
        self.written = self.argument = False
        self.lent: Interpreter | None = None
        self.lock = threading.RLock()
        self.site = None if owner is EVAL else user_site()

    # ---- what it is --------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self.type.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the elements; it never changes."""
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
    def weak_type(self) -> bool:
        """True if the initial value came from Python scalars only."""
        return self.type.weak_type

    @property
    def sharding(self) -> Any:
        """Which device holds which part of its value."""
        return peek(self).sharding

    @property
    def aval(self) -> ArrayType:
        """The type of its value."""
        return self.type

    def __repr__(self) -> str:
        value = self.value
        if value is None:
            word = "ended" if self.argument else "frozen"
            return f"Ref({self.type!r}, {word})"
        if self.owner is not EVAL:
            return f"Ref({self.type!r}) in {self.owner.describe()}"
        if _viewed():
            return f"Ref({self.type!r})"
        with self.lock:
            return "Ref" + repr(self.value).removeprefix("Array")

    def __len__(self) -> int:
        if not self.type.shape:
            raise errors.ArgumentError(
                errors.explain("len", "a ref without dimensions has no length", {"ref": self.type})
            )
        return self.type.shape[0]

    def __bool__(self) -> bool:
        raise _no_array("bool", self)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise _no_array("array", self)


class View:
    """What a stage knows about a ref from outside: the input and the value that it has now."""

    __slots__ = ("var", "value", "written")

    def __init__(self, var: Any, value: Any):
        self.var, self.value, self.written = var, value, False


def frame_of(ref: Ref) -> Interpreter:
    """Where the current value is: the innermost stage up to the owner, or the owner.

    Raises:
        RefError: the owner is not at work here, or the ref is lent to a `vmap` or `jvp`.
    """
    frame: Interpreter | None = current.get()
    found: Interpreter | None = None
    owner, lent = ref.owner, ref.lent
    while frame is not owner:
        if frame is None:
            raise _lost(ref)
        if found is None and frame.keeps_views:
            found = frame
        if frame is lent:
            raise aliased(frame.describe(), ref, "is an argument and closed over as well")
        frame = frame.parent
    if ref.value is None:
        raise errors.RefError(
            errors.explain(
                "ref",
                "the ref was frozen, so it has no value any more",
                {"ref": ref.type},
                try_="use what nl.freeze returned, or new_ref of it",
            )
        )
    return found or owner


def peek(ref: Ref) -> Any:
    """The current value. It may be a buffer that the next write takes: read it at once."""
    frame = frame_of(ref)
    return ref.value if frame is ref.owner else _view(frame, ref).value


def load(ref: Ref) -> Any:
    """The current value, to be handed to an operation and then forgotten."""
    value = peek(ref)
    # A transformation without a stage may keep what it gets, such as residuals.
    return value.__copy__() if ref.owner is EVAL and current.get() is not EVAL else value


def snapshot(ref: Ref) -> Any:
    """The current value, to be kept."""
    with ref.lock:
        value = peek(ref)
        return value.__copy__() if ref.owner is EVAL else value


def store(ref: Ref, value: Any, fresh: bool = False) -> None:
    """Give a ref a new value of its type.

    Args:
        ref: the ref.
        value: the value, valid in the current interpreter.
        fresh: nobody else holds the value, so that it need not be copied.

    Raises:
        RefError: the value belongs to a transformation inside of the one that the ref is from.
    """
    home = frame_of(ref)
    if isinstance(value, Tracer):
        if not value.owner.alive:
            raise leaked(value)
        frame: Interpreter | None = current.get()
        while frame is not home and frame is not None:
            if value.owner is frame:
                raise _foreign(ref, value, frame)
            frame = frame.parent
    if home is not ref.owner:
        view = _view(home, ref)
        view.value, view.written = value, True
        return
    ref.value = value if fresh or ref.owner is not EVAL else value.__copy__()
    ref.written = True


def _view(stage: Any, ref: Ref) -> View:
    """The view that a stage has of a ref; made when it is first met."""
    views = stage.views
    if views is None:
        views = stage.views = {}
    view = views.get(ref)
    if view is None:
        tracer = stage.new_view(ref.type)
        view = views[ref] = View(tracer.atom, tracer)
    return view


def forget(views: dict[Ref, View]) -> None:
    """Let go of the traced values of views when the trace has ended."""
    for view in views.values():
        view.value = None


def _viewed() -> bool:
    """Whether refs from outside are seen by way of a view here."""
    frame: Interpreter | None = current.get()
    while frame is not None and not frame.keeps_views:
        frame = frame.parent
    return frame is not None


# ---- errors ------------------------------------------------------------------------------------


def aliased(function: str, ref: Ref, how: str) -> errors.RefError:
    """The error for one ref by two names."""
    return errors.RefError(
        errors.explain(
            function,
            f"one ref by two names: it {how}",
            {"ref": ref.type},
            try_="use it by one of them only",
        )
    )


def lost_value(ref: Ref) -> errors.RefError:
    """The error for a ref whose memory went to a program that failed, or that was deleted."""
    return errors.RefError(
        errors.explain(
            "ref",
            "the ref has lost its value: a program that was changing it failed",
            {"ref": ref.type},
            try_="ref[...] = value, which gives it a new one",
        )
    )


def unsupported(function: str, views: Any) -> errors.RefError:
    """The error for functions under which refs from outside cannot be used."""
    written = any(v.written for v in views.values())
    return errors.RefError(
        errors.explain(
            function,
            f"the function {'writes' if written else 'reads'} a ref that was made outside of it, "
            "which is not possible here",
            {f"ref {i}": ref.type for i, ref in enumerate(views)},
            try_="pass the value (ref[...]) as an argument and return what is to be written",
        )
    )


def _no_array(function: str, ref: Ref) -> errors.ArgumentError:
    return errors.ArgumentError(
        errors.explain(function, "a ref is no array", {"ref": ref.type}, try_=ref.array_hint)
    )


def _lost(ref: Ref) -> errors.RefError:
    place = ref.owner.describe()
    if ref.owner.alive:
        rule = f"a ref that was made under {place} was used outside of it or in another thread"
    else:
        rule = f"a ref that was made under {place} was used after that trace had ended"
    return errors.RefError(
        errors.explain(
            "ref",
            rule,
            {"ref": ref.type, "made at": describe(ref.site)},
            try_="return ref[...] or nl.freeze(ref) from the function",
        )
    )


def _foreign(ref: Ref, value: Tracer, frame: Interpreter) -> errors.RefError:
    name = frame.describe()
    if name.startswith("vmap"):
        what, try_ = "batched", "pass the ref as an argument of the batched function, in_axes=0"
    else:
        what = "differentiated"
        try_ = (
            "write nl.lax.stop_gradient(value); or return the value (has_aux=True); or make the "
            "ref inside the differentiated function"
        )
    return errors.RefError(
        errors.explain(
            "ref",
            f"a {what} value was written to a ref from outside of {name}",
            {"ref": ref.type, "value": value.type},
            try_=try_,
        )
    )


__all__ = [
    "Ref",
    "View",
    "aliased",
    "forget",
    "load",
    "lost_value",
    "peek",
    "snapshot",
    "store",
    "unsupported",
]
