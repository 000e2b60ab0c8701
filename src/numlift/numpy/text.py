"""Arrays and numbers as text: NumPy's own functions, on the values of our arrays."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..core.tracing import Tracer
from ..runtime.array import Array

get_printoptions, set_printoptions = np.get_printoptions, np.set_printoptions
printoptions = np.printoptions
base_repr, binary_repr, typename = np.base_repr, np.binary_repr, np.typename


def check_known(x: Any, function: str) -> None:
    """Raise if `x` is a traced value, for functions that need values.

    Raises:
        TracerArrayConversionError: `x` is a traced value.
    """
    if isinstance(x, Tracer):
        raise errors.TracerArrayConversionError(
            errors.explain(
                function,
                "needs values, and traced values are not known yet",
                {"x": x.type},
                try_="nl.debug.print('{x}', x=x) or nl.debug.callback",
            )
        )


def values_of(x: Any, function: str) -> Any:
    """`x` for NumPy: arrays as NumPy arrays, everything else as it is."""
    check_known(x, function)
    return np.asarray(x) if isinstance(x, Array) else x


@explains
def array2string(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
    separator: str = " ",
    prefix: str = "",
    *,
    formatter: dict[str, Callable[..., str]] | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sign: str | None = None,
    floatmode: str | None = None,
    suffix: str = "",
    legacy: str | None = None,
) -> str:
    """Text of the values of an array, without its dtype.

    Args:
        a: array, number or nested lists; its values must be known.
        max_line_width: longest line, by default that of `set_printoptions`, as for all options.
        precision: digits after the point.
        suppress_small: print numbers near 0 as 0.
        separator: text between elements.
        prefix: text that will stand before: it shortens lines and indents all but the first.
        formatter: functions that print elements, by kinds of dtypes ("float", "int", "bool", ...).
        threshold: number of elements above which only the edges are printed.
        edgeitems: how many of each edge.
        sign: "-" only negative signs, "+" all, " " a space for positive ones.
        floatmode: "fixed", "unique", "maxprec" or "maxprec_equal".
        suffix: text that will stand after: it shortens the lines.
        legacy: version of NumPy to print as.

    Returns:
        A str.

    Raises:
        TracerArrayConversionError: `a` is traced.

    Example:
        >>> import numlift.numpy as np
        >>> np.array2string(np.asarray([1.0, 2.5]), separator=", ", sign="+")
        '[+1. , +2.5]'
    """
    options: dict[str, Any] = {
        "formatter": formatter, "threshold": threshold, "edgeitems": edgeitems, "sign": sign,
        "floatmode": floatmode, "suffix": suffix, "legacy": legacy,
    }  # fmt: skip
    return np.array2string(
        np.asarray(values_of(a, "array2string")),
        max_line_width, precision, suppress_small, separator, prefix, **options,
    )  # fmt: skip


@explains
def array_repr(
    arr: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Text of an array with its dtype, as `repr` gives it.

    Args:
        arr: array.
        max_line_width: longest line, by default that of `set_printoptions`, as for all options.
        precision: digits after the point.
        suppress_small: print numbers near 0 as 0.

    Returns:
        A str; of traced values their type.

    Example:
        >>> import numlift.numpy as np
        >>> np.array_repr(np.asarray([1.234, 2.0]), precision=1)
        'Array([1.2, 2. ], dtype=float32)'
    """
    with np.printoptions(**_options(max_line_width, precision, suppress_small)):
        return repr(arr)


@explains
def array_str(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Text of the values of an array, as `str` gives it.

    Args:
        a: array.
        max_line_width: longest line, by default that of `set_printoptions`, as for all options.
        precision: digits after the point.
        suppress_small: print numbers near 0 as 0.

    Returns:
        A str; of traced values their type.

    Example:
        >>> import numlift.numpy as np
        >>> np.array_str(np.asarray([1.0, 1e-9]), suppress_small=True)
        '[1. 0.]'
    """
    with np.printoptions(**_options(max_line_width, precision, suppress_small)):
        return str(a)


def _options(width: Any, precision: Any, suppress: Any) -> dict[str, Any]:
    given = {"linewidth": width, "precision": precision, "suppress": suppress}
    return {name: value for name, value in given.items() if value is not None}


def html_of(x: Any) -> str | None:
    """An array as HTML: its type and sharding above its values; None for traced values."""
    if not isinstance(x, Array):
        return None
    title = repr(x.type)
    if not x.is_deleted() and not x.placement.single:
        title += f" on {getattr(x.sharding, 'spec', x.sharding)!r}"
    known = not x.is_deleted() and (x.is_fully_addressable or x.is_fully_replicated)
    body = str(x) if known else repr(x)
    return f"<b>{escape(title)}</b><pre>{escape(body)}</pre>"


def _number(x: Any, function: str) -> Any:
    x = values_of(x, function)
    return x[()] if isinstance(x, np.ndarray) else x


@explains
def format_float_positional(
    x: Any,
    precision: int | None = None,
    unique: bool = True,
    fractional: bool = True,
    trim: str = "k",
    sign: bool = False,
    pad_left: int | None = None,
    pad_right: int | None = None,
    min_digits: int | None = None,
) -> str:
    """A float as digits without an exponent.

    Args:
        x: number, or array without axes; its value must be known.
        precision: most digits after the point; None: no limit.
        unique: the fewest digits that tell the number from others of its dtype; else exactly
            `precision` digits.
        fractional: count `precision` from the point, else from the first digit.
        trim: what to do with zeros at the end: "k" keeps them, "." cuts them, "0" leaves one, "-"
            cuts the point too.
        sign: print a plus sign.
        pad_left: fill up with spaces to so many characters before the point.
        pad_right: fill up with spaces to so many characters after it.
        min_digits: least digits after the point.

    Returns:
        A str.

    Raises:
        TracerArrayConversionError: `x` is traced.  TypeError: it has axes.

    Example:
        >>> import numlift.numpy as np
        >>> np.format_float_positional(np.asarray(1e-7)), np.format_float_positional(2.5, sign=True)
        ('0.0000001', '+2.5')
    """
    return np.format_float_positional(
        _number(x, "format_float_positional"), precision, unique, fractional, trim, sign,
        pad_left, pad_right, min_digits,
    )  # fmt: skip


@explains
def format_float_scientific(
    x: Any,
    precision: int | None = None,
    unique: bool = True,
    trim: str = "k",
    sign: bool = False,
    pad_left: int | None = None,
    exp_digits: int | None = None,
    min_digits: int | None = None,
) -> str:
    """A float as digits with an exponent.

    Args:
        x: number, or array without axes; its value must be known.
        precision: most digits after the point; None: no limit.
        unique: the fewest digits that tell the number from others of its dtype; else exactly
            `precision` digits.
        trim: what to do with zeros at the end: "k" keeps them, "." cuts them, "0" leaves one, "-"
            cuts the point too.
        sign: print a plus sign.
        pad_left: fill up with spaces to so many characters before the point.
        exp_digits: least digits of the exponent.
        min_digits: least digits after the point.

    Returns:
        A str.

    Raises:
        TracerArrayConversionError: `x` is traced.  TypeError: it has axes.

    Example:
        >>> import numlift.numpy as np
        >>> np.format_float_scientific(np.asarray(1500.0), exp_digits=3)
        '1.5e+003'
    """
    return np.format_float_scientific(
        _number(x, "format_float_scientific"), precision, unique, trim, sign, pad_left,
        exp_digits, min_digits,
    )  # fmt: skip


__all__ = [
    "array2string",
    "array_repr",
    "array_str",
    "base_repr",
    "binary_repr",
    "format_float_positional",
    "format_float_scientific",
    "get_printoptions",
    "printoptions",
    "set_printoptions",
    "typename",
]
