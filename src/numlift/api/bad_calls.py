"""Errors that Python or NumPy raise for bad arguments, in the form of Numlift's own errors."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from .. import errors
from ..core.tracing import Value, type_of

F = TypeVar("F", bound=Callable[..., Any])

_OF_CLASS: tuple[tuple[type[Exception], type[errors.NumliftError]], ...] = (
    (OverflowError, errors.IntegerOverflowError),
    (IndexError, errors.IndexingError),
    (ValueError, errors.ValueArgumentError),
    (TypeError, errors.ArgumentError),
    (AttributeError, errors.ArgumentError),
)
_NUMPY = os.path.dirname(np.__file__) + os.sep


def explained(
    function: Callable[..., Any], error: Exception, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Exception:
    """An error of Numlift for one of Python's that a library function met on its arguments.

    Such an error tells of an argument that the function cannot use, like a dict for an axis. It
    keeps its class and text. Errors of Numlift, of other classes and of the user's own code that
    the function called are returned as they are.
    """
    if isinstance(error, errors.NumliftError) or _in_users_code(error.__traceback__):
        return error
    for kind, ours in _OF_CLASS:
        if isinstance(error, kind):
            text = f"an argument does not fit: {error}"
            name = getattr(function, "__name__", "call")
            return ours(errors.explain(name, text, _shown(function, args, kwargs)))
    return error


def explains(function: F) -> F:
    """Decorator: `explained` errors, for functions that `library` does not make programs."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
            found = explained(function, error, args, kwargs)
            if found is error:
                raise
            raise found from error

    return call  # type: ignore[return-value]


def _in_users_code(tb: TracebackType | None) -> bool:
    while tb is not None:
        code = tb.tb_frame.f_code
        if not errors.is_internal(code) and not code.co_filename.startswith(_NUMPY):
            return True
        tb = tb.tb_next
    return False


def _shown(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Names of the arguments with types of arrays and values of all else."""
    try:
        named = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {}
    return {k: type_of(x) if isinstance(x, Value) else x for k, x in named.items()}


__all__ = ["explained", "explains"]
