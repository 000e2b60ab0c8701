"""Methods of the user's classes in lifted code.

A class keeps its identity (`isinstance`, pytrees, `super`), so no copy of it can be made. Instead
its methods are replaced while a lifted function is traced: in the tracing thread they run as lifted
code, in other threads as they are. Afterwards the class is as it was.
"""

from __future__ import annotations

import functools
import sysconfig
from collections.abc import Callable, Iterator
from threading import RLock, get_ident
from types import FunctionType
from typing import Any

import numpy as np

from ..errors import is_internal
from .writable import Writable

LIBRARIES = tuple({sysconfig.get_path(p) for p in ("stdlib", "purelib", "platlib")})
_LOCK = RLock()
_installed: dict[tuple[type, str], _Replaced] = {}
_ABSENT = object()
_FROM_OUTSIDE = (np.ndarray, FunctionType, np.random.Generator, np.random.RandomState)


def is_users(code: Any) -> bool:
    """Whether a code object is the user's: of no library and not Numlift's."""
    file = code.co_filename
    return not (file.startswith((*LIBRARIES, "<frozen")) or is_internal(code))


class _Replaced:
    """An attribute of a class that is something else in some threads."""

    def __init__(self, cls: type, name: str):
        self.cls, self.name = cls, name
        self.original = vars(cls).get(name, _ABSENT)
        self.inside: dict[int, list[Any]] = {}

    def dispatching(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A function that runs what the thread has installed, else `original`."""
        inside = self.inside

        @functools.wraps(original)
        def method(*args: Any, **kwargs: Any) -> Any:
            changes = inside.get(get_ident())
            return (changes[-1](original) if changes else original)(*args, **kwargs)

        method.__numlift_inside__ = (  # type: ignore[attr-defined]
            lambda: inside[get_ident()][-1](original) if get_ident() in inside else original
        )
        return method

    def put(self) -> None:
        made = _mapped(self.original, self.dispatching)
        if self.original is _ABSENT:  # __getattribute__
            made = self.dispatching(self.cls.__getattribute__)
        type.__setattr__(self.cls, self.name, made)
        if isinstance(made, functools.cached_property):
            made.__set_name__(self.cls, self.name)

    def restore(self) -> None:
        if self.original is _ABSENT:
            type.__delattr__(self.cls, self.name)
        else:
            type.__setattr__(self.cls, self.name, self.original)


def _mapped(x: Any, change: Callable[[Any], Any]) -> Any:
    """A method, property, static or class method with other functions."""
    if isinstance(x, FunctionType):
        return change(x)
    if isinstance(x, (staticmethod, classmethod)):
        return type(x)(change(x.__func__))
    if isinstance(x, functools.cached_property):
        return functools.cached_property(change(x.func))
    if isinstance(x, property):
        parts = (x.fget, x.fset, x.fdel)
        return property(*[f if f is None else change(f) for f in parts], doc=x.__doc__)
    return x


def _functions(x: Any) -> list[Any]:
    """The user's functions of an attribute of a class."""
    found: list[Any] = []

    def note(f: Any) -> Any:
        found.append(f)
        return f

    _mapped(x, note)
    return [f for f in found if isinstance(f, FunctionType) and is_users(f.__code__)]


def _users(cls: type) -> Iterator[type]:
    """The classes that `cls` is made of whose methods are the user's."""
    for c in cls.__mro__:
        if any(_functions(x) for x in tuple(vars(c).values())):
            yield c


class Classes:
    """The classes and objects that a lifted function reaches.

    Args:
        changed: function of the user -> the one for lifted code.
    """

    def __init__(self, changed: Callable[[Any], Any]):
        self.changed = changed
        self.seen: dict[int, Any] = {}
        self.known: set[type] = set()
        self.found: list[tuple[type, str]] = []
        self.objects: list[Any] = []
        self.depth = 0

    def visit(self, x: Any) -> None:
        """Remember a class, or the classes of an object and of its attributes."""
        if (
            id(x) in self.seen
            or type(x).__module__ == "builtins"
            and not isinstance(x, (type, list, tuple, dict))
        ):
            return
        self.seen[id(x)] = x
        if isinstance(x, type):
            self._class(x)
        elif isinstance(x, dict):
            for y in tuple(x.values()):
                self.visit(y)
        elif isinstance(x, (list, tuple)):
            for y in tuple(x):
                self.visit(y)
        elif any(_users(type(x))):
            self._class(type(x))
            if hasattr(x, "__dict__"):
                self.objects.append(x)
                self.visit(vars(x))

    def _class(self, cls: type) -> None:
        for c in _users(cls):
            if c in self.known:
                continue
            self.known.add(c)
            names = [name for name, x in vars(c).items() if _functions(x)]
            if not any("__getattribute__" in vars(b) for b in c.__mro__[:-1]):
                names.append("__getattribute__")
            for name in names:
                self.found.append((c, name))
                for f in _functions(vars(c).get(name)):
                    self.changed(f)
                if self.depth:
                    self._install((c, name))

    def _install(self, key: tuple[type, str]) -> None:
        with _LOCK:
            entry = _installed.get(key)
            if entry is None:
                entry = _installed[key] = _Replaced(*key)
                entry.put()
            change = self._reading if entry.original is _ABSENT else self.changed
            entry.inside.setdefault(get_ident(), []).append(change)

    def _reading(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`__getattribute__` of objects whose arrays and functions come from outside."""

        def read(x: Any, name: str) -> Any:
            found = original(x, name)
            if name[:2] != "__" and isinstance(found, _FROM_OUTSIDE):
                return self.changed(found)
            return found

        return read

    def __enter__(self) -> None:
        self.depth += 1
        if self.depth == 1:
            for key in self.found:
                self._install(key)

    def __exit__(self, *error: Any) -> None:
        self.depth -= 1
        if self.depth:
            return
        with _LOCK:
            for key in reversed(self.found):
                entry, me = _installed[key], get_ident()
                entry.inside[me].pop()
                if not entry.inside[me]:
                    del entry.inside[me]
                if not entry.inside:
                    entry.restore()
                    del _installed[key]
        for x in self.objects:
            for name, value in tuple(vars(x).items()):
                if type(value) is Writable and isinstance(value.read(), np.ndarray):
                    vars(x)[name] = value.read()


__all__ = ["LIBRARIES", "Classes", "is_users"]
