"""`jit(f, autostage=True)`: Python's `if`, `while` and `for` on traced values.

The source of the function is rewritten twice (`jumps`, then `rewrite`) and compiled under its own
file name and lines (`source`). The rewritten function decides while it runs: a condition that is
known runs as plain Python, a traced one is staged (`runtime`, `values`, `loops`, `iteration`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from .. import errors
from ..api.jit import set_autostage
from . import runtime
from .called import set_rewrite
from .source import rewritten


def autostage(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The function with control flow that may depend on traced values.

    The function, functions defined inside it, and functions of the user that it calls are
    rewritten: plain functions, lambdas, methods, objects with `__call__`, `functools.partial`, also
    with decorators that are functions of the user. Functions of libraries are called as they are,
    and so are generators, and functions that are handed to transformations (`nl.vmap(f)`,
    `lax.scan(f, ...)`) and not called by the rewritten code.

    Args:
        fun: a function, method, `functools.partial`, or object with `__call__`, written in Python.

    Returns:
        A function with the same arguments and results, for `jit`, `vmap` or `grad`.

    Raises:
        AutostageError: the source is not available, or a decorator hides the function.

    Example:
        >>> import numlift as nl
        >>> from numlift.autostage import autostage
        >>> def collatz(n):
        ...     steps = 0
        ...     while n != 1:
        ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
        ...         steps += 1
        ...     return steps
        >>> print(nl.jit(autostage(collatz))(27))
        111
    """
    if isinstance(fun, functools.partial):
        return functools.partial(autostage(fun.func), *fun.args, **fun.keywords)
    if isinstance(fun, MethodType):
        return MethodType(autostage(fun.__func__), fun.__self__)
    if isinstance(fun, FunctionType):
        original = getattr(fun, "__wrapped__", None)
        if original is not None and getattr(original, "__code__", None) is not fun.__code__:
            raise _refused(
                fun,
                "the function is hidden by another decorator, which would not be rewritten",
                "put @nl.jit(autostage=True) next to the def, below the other decorators",
            )
        return rewritten(fun, runtime)
    call = inspect.getattr_static(type(fun), "__call__", None)
    if isinstance(call, FunctionType) and not isinstance(fun, type):
        if not hasattr(fun, "__wrapped__"):
            return MethodType(autostage(call), fun)
    raise _refused(
        fun,
        f"a {type(fun).__name__} has no Python source that could be rewritten",
        "pass a plain function, before jit, vmap or other transformations are applied to it",
    )


def _refused(fun: Any, rule: str, try_: str) -> errors.AutostageError:
    name = getattr(fun, "__name__", type(fun).__name__)
    return errors.AutostageError(errors.explain(f"autostage({name})", rule, try_=try_))


__all__ = ["autostage"]


set_autostage(autostage)
set_rewrite(lambda function: rewritten(function, runtime))
