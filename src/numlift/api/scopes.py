"""Names for parts of a program: they appear in profiles and in printed HLO."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .. import errors
from ..core.tracing import in_scope
from .tracing import check_callable, name_of

F = TypeVar("F", bound=Callable[..., Any])


class named_scope:
    """Scope whose operations carry a name in profiles and in HLO; also a decorator.

    Operations of ``with named_scope("layer"):`` in a jitted function `f` are called
    ``jit(f)/layer/sin`` (XLA's `op_name`). Scopes nest. Reverse derivatives are in
    ``transpose(layer)``. Outside of traced functions a scope does nothing.

    Args:
        name: a text without double quotes.

    Raises:
        ArgumentError: the name is not a text.

    Example:
        >>> import numlift as nl
        >>> @nl.jit
        ... def f(x):
        ...     with nl.named_scope("layer"):
        ...         return nl.numpy.sin(x)
        >>> '"jit(f)/layer/sin"' in f.lower(1.0).as_text(debug_info=True)
        True
    """

    __slots__ = ("name", "scope")

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise errors.ArgumentError(
                errors.explain("named_scope", "the name must be a text", {"name": name})
            )
        self.name, self.scope = name, in_scope(name)

    def __enter__(self) -> str:
        self.scope.__enter__()
        return self.name

    def __exit__(self, *exc: object) -> None:
        self.scope.__exit__(*exc)

    def __call__(self, fun: F) -> F:
        name = self.name

        @functools.wraps(fun)
        def scoped(*args: Any, **kwargs: Any) -> Any:
            # A fresh object for each call: the decorated function may run in several threads.
            with in_scope(name):
                return fun(*args, **kwargs)

        return scoped  # type: ignore[return-value]


def named_call(fun: F | None = None, *, name: str | None = None) -> Any:
    """A function whose operations are inside a named scope.

    Args:
        fun: the function. Without it, a decorator is returned.
        name: name of the scope; by default that of the function.

    Returns:
        The wrapped function: same values and types, with the name in the text of programs and in
        profiles. Without `fun`, a decorator.

    Raises:
        ArgumentError: `fun` is not callable.

    Example:
        >>> import numlift as nl
        >>> layer = nl.named_call(nl.numpy.sin, name="layer")
        >>> '"jit(sin)/layer/sin"' in nl.jit(layer).lower(1.0).as_text(debug_info=True)
        True
    """
    if fun is None:
        return functools.partial(named_call, name=name)
    check_callable(fun, "named_call")
    return named_scope(name_of(fun) if name is None else name)(fun)
