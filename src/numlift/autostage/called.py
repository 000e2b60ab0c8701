"""Which functions are rewritten when rewritten code calls them.

Those of the user: plain functions, lambdas, methods, `__call__` of objects and `functools.partial`
of these, if their source is a file outside of the directories that Python and packages are
installed in, or part of the package that calls them. Functions of libraries, classes, generators,
coroutines, and functions without source are called as they are.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import site
import sysconfig
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

from .. import errors
from .jumps import PREFIX

_SPECIAL = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_known: WeakKeyDictionary[FunctionType, FunctionType] = WeakKeyDictionary()
_rewrite: list[Callable[[FunctionType], FunctionType]] = []


def set_rewrite(rewrite: Callable[[FunctionType], FunctionType]) -> None:
    """Install what changes a function; it needs the runtime, which needs this module."""
    _rewrite[:] = [rewrite]


def staged(function: Any, caller: str) -> Any:
    """What to call instead of `function` from the module named `caller`."""
    kind = type(function)
    if kind is FunctionType:
        return _staged_function(function, caller)
    if kind is MethodType:
        inner = function.__func__
        made = staged(inner, caller)
        return function if made is inner else MethodType(made, function.__self__)
    if kind is functools.partial:
        made = staged(function.func, caller)
        if made is function.func:
            return function
        return functools.partial(made, *function.args, **function.keywords)
    if isinstance(function, type):
        return function
    call = inspect.getattr_static(kind, "__call__", None)
    if type(call) is FunctionType:
        made = _staged_function(call, caller)
        return function if made is call else MethodType(made, function)
    return function


def _staged_function(function: FunctionType, caller: str) -> FunctionType:
    inside = function.__dict__.get("__numlift_inside__")  # a method, in lifted code
    if inside is not None:
        function = inside()
    found = _known.get(function)
    if found is None:
        found = _known[function] = _make(function, caller)
    return found


def _make(function: FunctionType, caller: str) -> FunctionType:
    code = function.__code__
    if code.co_flags & _SPECIAL or any(n.startswith(PREFIX) for n in code.co_freevars):
        return function  # not plain, or rewritten already
    if not _is_users(function, caller):
        return function
    try:
        return _rewrite[0](function)
    except errors.AutostageError:
        return function  # its source cannot be found: Python runs it


def _is_users(function: FunctionType, caller: str) -> bool:
    file = function.__code__.co_filename
    if not linecache.getlines(file, function.__globals__):
        return False
    if file.startswith(_OWN):
        return False
    package = str(function.__module__).partition(".")[0]
    if package == caller.partition(".")[0] != "__main__":
        return True
    return not os.path.abspath(file).startswith(_installed())


_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@functools.cache
def _installed() -> tuple[str, ...]:
    """Directories that hold Python's library and installed packages."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    found = [sysconfig.get_path(n) for n in names]
    found += [*site.getsitepackages(), site.getusersitepackages()]
    return tuple({os.path.abspath(p) + os.sep for p in found if p})
