"""Every exception of Numlift, and the way their messages are built.

One class stands for one kind of mistake. Each is also a subclass of the built-in exception that
NumPy (or Python) raises for the same mistake, so existing ``except`` clauses keep working.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Iterable, Mapping
from types import CodeType, FrameType
from typing import Any

import numpy as np

__all__ = [
    "ArgumentError",
    "AutostageError",
    "AxisError",
    "CompileError",
    "ConcretizationTypeError",
    "DTypeError",
    "DeletedBufferError",
    "DeviceError",
    "DonationError",
    "ExecutionError",
    "GradError",
    "GraphVerifyError",
    "ImmutableArrayError",
    "InconclusiveDimensionOperation",
    "IndexingError",
    "IntegerOverflowError",
    "InternalError",
    "JaxRuntimeError",
    "KeyReuseError",
    "LinAlgError",
    "NonConcreteBooleanIndexError",
    "NotElementwiseError",
    "NumliftError",
    "OutOfMemoryError",
    "RefError",
    "ShapeError",
    "ShardingError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TreeError",
    "TypePromotionError",
    "UnboundAxisError",
    "UnexpectedTracerError",
    "UnhashableStaticError",
    "ValueArgumentError",
    "VmapError",
    "ZeroStepError",
    "ZeroSumError",
    "explain",
    "locate",
    "name_calls",
    "reason",
]


class NumliftError(Exception):
    """Base class of every exception that Numlift raises on purpose."""


class RefError(NumliftError, ValueError):
    """A mutable array was used where it has no value, by two names, or where it cannot change."""


class ShapeError(NumliftError, ValueError):
    """Shapes of operands do not fit together, or a shape is impossible."""


class LinAlgError(ShapeError, np.linalg.LinAlgError):
    """Arrays that are no (square) matrices where linear algebra needs them."""


class DTypeError(NumliftError, TypeError):
    """A dtype is unknown, unsupported, or wrong for this function."""


class AxisError(NumliftError, np.exceptions.AxisError):
    """An axis is out of range or repeated. Also NumPy's `AxisError` (ValueError, IndexError)."""

    def __init__(self, message: str) -> None:
        np.exceptions.AxisError.__init__(self, message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self),)


class ArgumentError(NumliftError, TypeError):
    """An argument has the wrong Python type, is missing, or is not accepted."""


class UnhashableStaticError(NumliftError, ValueError):
    """A static argument of a jitted function cannot be hashed."""


class ValueArgumentError(NumliftError, ValueError):
    """An argument has the right type and a value that is not allowed."""


class InconclusiveDimensionOperation(NumliftError, ValueError):
    """A question about a symbolic size has different answers for different sizes, or is open."""


class IntegerOverflowError(NumliftError, OverflowError):
    """A Python integer does not fit into the integer dtype that it would get."""


class IndexingError(NumliftError, IndexError):
    """An index is malformed, has too many entries, or is statically out of range."""


class ZeroSumError(NumliftError, ZeroDivisionError):
    """Weights add up to 0, so that nothing can be divided by their sum."""


class ZeroStepError(NumliftError, ZeroDivisionError):
    """A range has step 0."""


class TypePromotionError(NumliftError, ValueError):
    """Dtypes have no implicit common dtype, or strict promotion forbids it."""


class ConcretizationTypeError(NumliftError, TypeError):
    """A concrete Python value was needed where only a traced value is known."""


class TracerArrayConversionError(NumliftError, TypeError):
    """A traced value was converted to a NumPy array."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A traced value was used as the condition of a Python `if`, `while`, `and` or `or`."""


class TracerIntegerConversionError(NumliftError, TypeError):
    """A traced value was used where Python needs an integer, such as a list index."""


class AutostageError(NumliftError, TypeError):
    """`jit(autostage=True)` cannot turn Python control flow into staged control flow."""


class NonConcreteBooleanIndexError(IndexingError):
    """A traced boolean mask was used as an index: the shape of the result is unknown."""


class UnexpectedTracerError(NumliftError, TypeError):
    """A traced value leaked out of the function that was being traced."""


class NotElementwiseError(NumliftError, RuntimeError):
    """A fold with a function of whole axes, such as ``np.matmul.reduce``."""


class KeyReuseError(NumliftError, RuntimeError):
    """A random key was consumed twice while `debug_key_reuse` is on."""


class GradError(NumliftError, TypeError):
    """A function cannot be differentiated as asked: wrong output, input or rule."""


class TreeError(NumliftError, ValueError):
    """Trees of containers (pytrees) do not have the structure that is needed."""


class ShardingError(NumliftError, ValueError):
    """Shardings, meshes and partition specs do not fit the arrays or each other."""


class DeviceError(NumliftError, RuntimeError):
    """A device or platform is missing, or arrays live on incompatible devices."""


class CompileError(NumliftError, RuntimeError):
    """XLA refused a program that Numlift built."""


class ExecutionError(NumliftError, RuntimeError):
    """A program or transfer failed while it ran. The exception of XLA is its ``__cause__``."""


class OutOfMemoryError(ExecutionError, MemoryError):
    """Memory of a device or of the host ran out."""


JaxRuntimeError = ExecutionError
"""The name that JAX has for failures of running programs."""


class ImmutableArrayError(NumliftError, TypeError):
    """An array was assigned to in place. Use ``x.at[i].set(v)``."""


class DeletedBufferError(NumliftError, RuntimeError):
    """An array was used after it was deleted or donated."""


class DonationError(NumliftError, ValueError):
    """Arguments cannot be donated as asked."""


class UnboundAxisError(NumliftError, NameError):
    """A collective names a mapped axis that does not exist here."""


class VmapError(NumliftError, ValueError):
    """`vmap` was given axes or sizes that do not fit its arguments."""


class GraphVerifyError(NumliftError, AssertionError):
    """A graph broke one of its invariants: a mistake inside Numlift or in a user's op."""


class InternalError(NumliftError, RuntimeError):
    """Something that cannot happen did: a mistake inside Numlift."""


def explain(
    function: str,
    rule: str,
    operands: Mapping[str, Any] | None = None,
    line: str | None = None,
    try_: str | None = None,
) -> str:
    """The text of an error message in the form that all of Numlift uses.

    Call it only after a check has failed: it builds strings and looks at the stack.

    Args:
        function: public name of the function that broke the rule, such as ``"reshape"``. If the
            user called another one of `name_calls`, which used it, that one is named.
        rule: the rule that broke, with axes and sizes.
        operands: name of an operand to its type or value; texts are printed as they are, of
            everything else the `repr`.
        line: ``file:line: source`` of the user's own call. By default `locate()` finds it.
        try_: one concrete change that would help, without the word "Try".

    Returns:
        The message, several lines.

    Example:
        >>> from numlift.errors import explain
        >>> print(explain("add", "shapes differ in axis 0 (3 and 4)", {"x": 3.0},
        ...               line="model.py:7: y = a + b", try_="a[:, None] + b"))
        add: shapes differ in axis 0 (3 and 4)
          x: 3.0
          at model.py:7: y = a + b
        Try: a[:, None] + b
    """
    if line is None:
        line = locate()
    parts = [f"{_called() or function}: {rule}"]
    if operands:
        parts += [f"  {name}: {_short(value)}" for name, value in operands.items()]
    if line is not None:
        parts.append(f"  at {line}")
    if try_ is not None:
        parts.append(f"Try: {try_}")
    return "\n".join(parts)


def reason(error: BaseException) -> str:
    """The rule alone of an explained error, for a message that says more about where it broke.

    Args:
        error: an error whose message `explain` made, or any other.

    Returns:
        The first line of its message, without the name of the function in front.

    Example:
        >>> from numlift.errors import ShapeError, reason
        >>> reason(ShapeError("add: shapes differ\\n  x: float32[3]"))
        'shapes differ'
    """
    first = str(error).partition("\n")[0]
    return first.partition(": ")[2] or first


def _short(value: Any, limit: int = 200) -> str:
    """`repr` of an operand, or a text itself; a NumPy array by its type only; long ones are cut."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{list(value.shape)}".replace(" ", "")
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_inside: dict[str, bool] = {}


def is_internal(code: CodeType) -> bool:
    """Whether a code object belongs to Numlift itself (not to its user)."""
    return is_internal_file(code.co_filename)


def is_internal_file(name: str) -> bool:
    """Whether a file belongs to Numlift itself."""
    known = _inside.get(name)
    if known is None:
        known = _inside[name] = os.path.abspath(name).startswith(_PACKAGE)
    return known


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame at or above `frame` that is not Numlift's own, or None."""
    while frame is not None and is_internal(frame.f_code):
        frame = frame.f_back
    return frame


def source_line(filename: str, number: int) -> str:
    """``file:line: source text``; the text is left out if the file cannot be read."""
    text = linecache.getline(filename, number).strip()
    place = f"{os.path.basename(filename)}:{number}"
    return f"{place}: {text}" if text else place


def locate() -> str | None:
    """``file:line: source`` of the user's call that is running, or None if there is none.

    Returns:
        The text, for the innermost frame that is not Numlift's; the source is left out if the file
        cannot be read.

    Example:
        >>> from numlift.errors import locate
        >>> locate()  # called from here
        '<doctest ...>:1: locate()  # called from here'
    """
    frame = user_frame(sys._getframe(1))
    return None if frame is None else source_line(frame.f_code.co_filename, frame.f_lineno)


_named: dict[str, frozenset[str]] = {}
"""Folders of public functions, and the names of these functions."""
_WRAPPERS = frozenset(("call", "through"))
"""Names of the code of decorators that keep what they decorate as `function`."""


def name_calls(folder: str, names: Iterable[str]) -> None:
    """Let errors name these public functions of the files in `folder` if the user calls them.

    A function that is written with others then needs no care: `vecdot` moves axes, and an axis
    that is out of range is an error of `vecdot`, not of `moveaxis`.

    Args:
        folder: absolute path of the folder.
        names: names of the functions.

    Returns:
        None.

    Example:
        >>> import numlift.numpy as np
        >>> np.vecdot(np.ones(3), np.ones(3), axis=1)
        Traceback (most recent call last):
        ...
        numlift.errors.AxisError: vecdot: axis 1 is out of range...
    """
    _named[folder + os.sep] = frozenset(names)


def _called() -> str | None:
    """The function of `name_calls` that the user's code called, if it did."""
    frame: FrameType | None = sys._getframe(2)
    entry = None
    while frame is not None and is_internal(frame.f_code):
        entry, frame = frame, frame.f_back
    if entry is None or frame is None:
        return None
    code, name = entry.f_code, entry.f_code.co_qualname
    if name.startswith("ufunc."):
        method = name.removeprefix("ufunc.")
        name = str(entry.f_locals["self"].__name__)
        if not method.startswith("_"):
            return f"{name}.{method}"
    elif code.co_name in _WRAPPERS:
        function = entry.f_locals.get("function")
        function = getattr(function, "__wrapped__", function)
        code = getattr(function, "__code__", code)
        name = getattr(function, "__name__", name)
    for folder, names in _named.items():
        if name in names and code.co_filename.startswith(folder):
            return name
    return None


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Those of `names` that are written similarly, the most similar one first."""
    import difflib  # only where an error is explained: it takes 5 ms to import

    return difflib.get_close_matches(name, list(names))


@functools.lru_cache(256)
def _near(module: str, name: str) -> list[str]:
    """Similar public names; kept, because libraries ask for the same names again and again."""
    return near_names(name, dir(sys.modules[module]))


def missing_name(module: str, name: str, reason: str | None = None) -> AttributeError:
    """The error for a name that a public module does not have.

    Args:
        module: its name.
        name: what was asked for.
        reason: why this one is left out, if it is on purpose.

    Returns:
        The error, to be raised.

    Example:
        >>> from numlift.errors import missing_name
        >>> print(missing_name("numlift.numpy", "cumsumm"))
        module 'numlift.numpy' has no attribute 'cumsumm'. Try: cumsum or nancumsum or sum
    """
    text = f"module {module!r} has no attribute {name!r}"
    if reason is not None:
        return AttributeError(f"{text}: {reason}")
    # Python and libraries look for names such as `__wrapped__` and expect a cheap no.
    near = [] if name.startswith("_") else _near(module, name)
    return AttributeError(f"{text}. Try: {' or '.join(near)}" if near else text)


def user_depth() -> int:
    """`stacklevel` for `warnings.warn` in the caller, such that it points at the user's line."""
    depth, frame = 1, sys._getframe(1)
    while frame is not None and is_internal(frame.f_code):
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    return depth if frame is not None else 1


def __dir__() -> list[str]:
    return sorted(__all__)
