"""Look at values while a program runs: `debug.print` and `debug.callback`."""

from __future__ import annotations

import functools
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import errors
from ..core.tracing import apply
from ..ops.callback import DebugCallback
from ..tree import tree_flatten
from .callbacks import FlatCallback, is_array, operands
from .tracing import name_of


def callback(
    callback: Callable[..., Any] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function that only looks at values, also inside compiled programs.

    Its result is thrown away. Under `vmap` it is called once an example, with the values of that
    example. Under `grad` and `jvp` it is called once, with values, not tangents.

    Args:
        callback: the function; without it, a decorator is returned.
        *args, **kwargs: its arguments: pytrees of arrays, which arrive as NumPy arrays, and of
            anything else, which arrives as it is.
        ordered: calls happen in the order of the program; otherwise calls that do not depend on
            each other may change places in a compiled program.
        partitioned: in a program over several devices, every device calls it with its own parts
            of the arrays, instead of one device with whole ones.

    Returns:
        None; without `callback`, a decorator, whose result calls the decorated function in this
        way.

    Raises:
        ArgumentError: `callback` is no function.
        ValueArgumentError: both `ordered` and `partitioned`.

    Example:
        >>> import numlift as nl
        >>> f = nl.jit(lambda x: nl.debug.callback(lambda y: print("got", y), x + 1))
        >>> f(2.0)
        got 3.0
    """
    if callback is None:
        return lambda f: _decorated(f, ordered, partitioned)
    if not callable(callback):
        raise errors.ArgumentError(
            errors.explain("debug.callback", "callback must be a function", {"callback": callback})
        )
    observe(callback, args, kwargs, ordered, partitioned)
    return None


def _decorated(function: Callable[..., Any], ordered: bool, partitioned: bool) -> Any:
    def call(*args: Any, **kwargs: Any) -> None:
        observe(function, args, kwargs, ordered, partitioned)

    call.__name__, call.__doc__ = name_of(function), function.__doc__
    return call


def observe(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    ordered: bool,
    partitioned: bool = False,
) -> None:
    """Apply a debug callback to pytrees whose leaves may be anything."""
    if ordered and partitioned:
        raise errors.ValueArgumentError(
            errors.explain(
                "debug.callback", "parts on several devices have no order: ordered or partitioned"
            )
        )
    leaves, tree = tree_flatten((tuple(args), dict(kwargs)))
    fixed = {i: x for i, x in enumerate(leaves) if not is_array(x)}
    flat = FlatCallback(function, tree, fixed, None, "debug.callback")
    arrays = operands([x for i, x in enumerate(leaves) if i not in fixed])
    apply(DebugCallback(flat, (), ordered, None, None, partitioned), *arrays)


def check_format(
    function: str, fmt: str, args: Sequence[Any], kwargs: Mapping[str, Any], unused: bool = False
) -> None:
    """Raise unless a format string and its arguments fit.

    Args:
        function: for the message.
        fmt: the format string.
        args, kwargs: its arguments; their values are not looked at.
        unused: whether arguments may be left unused.
    """
    fields = _Fields()
    try:
        fields.vformat(fmt, args, kwargs)
    except IndexError:
        rule = "the format has more fields than there are positional arguments"
        raise MissingFieldError(errors.explain(function, rule, {"format": fmt})) from None
    except KeyError as error:
        rule = f"the format has a field {error} without argument"
        raise MissingNameError(errors.explain(function, rule, {"format": fmt})) from None
    if fields.unused and not unused:
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                f"the format uses no field for: {', '.join(fields.unused)}",
                {"format": fmt},
                try_="add {} or {name}; in an f-string write {{}}, or pass the string alone",
            )
        )


class _Fields(string.Formatter):
    """Formatter that only looks which arguments are used."""

    def __init__(self) -> None:
        self.unused: list[str] = []

    def check_unused_args(
        self, used_args: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        self.unused = [repr(x) for i, x in enumerate(args) if i not in used_args]
        self.unused += [name for name in kwargs if name not in used_args]

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        first = field_name.replace("[", ".").split(".", 1)[0]
        key: Any = int(first) if first.isdigit() else first
        return self.get_value(key, args, kwargs), key


class MissingFieldError(errors.ValueArgumentError, IndexError):
    """A field of a format string has no positional argument."""


class MissingNameError(errors.ValueArgumentError, KeyError):
    """A field of a format string has no keyword argument."""

    __str__ = Exception.__str__


class Printer:
    """Prints its arguments by a format string."""

    __slots__ = ("fmt", "__weakref__")

    def __init__(self, fmt: str):
        self.fmt = fmt

    @property
    def __name__(self) -> str:
        return "print"

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        # One write: lines of several devices do not mix.
        sys.stdout.write(self.fmt.format(*args, **kwargs) + "\n")


def print_values(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Print values, also inside compiled programs: ``print(fmt.format(*args, **kwargs))``.

    Args:
        fmt: format string with ``{}``, ``{name}`` and format specs; no f-string, which would
            format the traced value at once. Without it, a function that prints with these options.
        *args, **kwargs: arrays or anything else.
        ordered: prints appear in the order of the program.
        partitioned: every device prints its own parts.
        skip_format_check: allow arguments that the format does not use.

    Returns:
        None; without `fmt`, a function like this one with these options.

    Raises:
        ArgumentError: `fmt` is no text.
        ValueArgumentError: a field of the format has no argument (the error is an IndexError too),
            an argument has no field, or both `ordered` and `partitioned`.

    Example:
        >>> import numlift as nl
        >>> @nl.jit
        ... def f(x):
        ...     nl.debug.print("x = {x:.2f}", x=x)
        ...     return x
        >>> y = f(1.5)
        x = 1.50
    """
    if fmt is None:
        return functools.partial(
            print_values,
            ordered=ordered,
            partitioned=partitioned,
            skip_format_check=skip_format_check,
        )
    if not isinstance(fmt, str):
        raise errors.ArgumentError(
            errors.explain(
                "debug.print",
                f"the first argument must be a format string, not {type(fmt).__name__}",
                try_='nl.debug.print("x = {}", x)',
            )
        )
    if not skip_format_check:
        check_format("debug.print", fmt, args, kwargs)
    observe(Printer(fmt), args, kwargs, ordered, partitioned)
    return None


__all__ = ["callback", "print_values"]
