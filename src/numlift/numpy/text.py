"""Arrays and numbers as text: NumPy's own functions, on the values of our arrays."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from .. import errors
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
    """Text of the values of an array; arguments as for `numpy.array2string`.

    Example:
        >>> import numlift.numpy as np
        >>> np.array2string(np.asarray([1.0, 2.5]), separator=", ")
        '[1. , 2.5]'
    """
    options: dict[str, Any] = {
        "formatter": formatter, "threshold": threshold, "edgeitems": edgeitems, "sign": sign,
        "floatmode": floatmode, "suffix": suffix, "legacy": legacy,
    }  # fmt: skip
    return np.array2string(
        np.asarray(values_of(a, "array2string")),
        max_line_width, precision, suppress_small, separator, prefix, **options,
    )  # fmt: skip


def array_repr(
    arr: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Text of an array with its dtype; arguments as for `numpy.array_repr`.

    Example:
        >>> import numlift.numpy as np
        >>> np.array_repr(np.asarray([1.0, 2.0]), precision=1)
        'Array([1., 2.], dtype=float32)'
    """
    with np.printoptions(**_options(max_line_width, precision, suppress_small)):
        return repr(arr)


def array_str(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Text of the values of an array; arguments as for `numpy.array_str`.

    Example:
        >>> import numlift.numpy as np
        >>> np.array_str(np.asarray([1.0, 2.0]))
        '[1. 2.]'
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
    """A float as digits without an exponent; arguments as for `numpy.format_float_positional`.

    Example:
        >>> import numlift.numpy as np
        >>> np.format_float_positional(np.asarray(0.1))
        '0.1'
    """
    return np.format_float_positional(
        _number(x, "format_float_positional"), precision, unique, fractional, trim, sign,
        pad_left, pad_right, min_digits,
    )  # fmt: skip


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
    """A float with an exponent; arguments as for `numpy.format_float_scientific`.

    Example:
        >>> import numlift.numpy as np
        >>> np.format_float_scientific(np.asarray(1500.0, dtype="float32"))
        '1.5e+03'
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
