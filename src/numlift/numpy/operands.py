"""Operands of elementwise functions: one or two arrays or numbers, promoted and broadcast."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..core.tracing import Value, type_of
from ..core.types import ArrayType
from .util import as_value, broadcast_operands, promote, to_inexact


def inexact(x: Any, function: str) -> Any:
    """`x` as a floating or complex operand: integers and bools become the default float."""
    if isinstance(x, Value) and x.type.inexact:
        return x
    return to_inexact(as_value(x, function, "x"))[0]


def real_inexact(x: Any, function: str) -> Any:
    """`inexact` for functions that are not defined for complex numbers."""
    x = inexact(x, function)
    if type_of(x).kind == "c":
        raise not_for_complex(function, x)
    return x


def not_for_complex(function: str, x: Any) -> errors.DTypeError:
    """The error for a complex operand of a function of real numbers."""
    return errors.DTypeError(
        errors.explain(
            function,
            "is not defined for complex numbers",
            {"x": type_of(x)},
            try_="x.real, x.imag or abs(x)",
        )
    )


def pair(x: Any, y: Any, function: str) -> Any:
    """Two operands of one dtype and (rank 0 aside) one shape."""
    if isinstance(x, Value) and isinstance(y, Value) and x.type is y.type:
        return x, y
    x, y = promote(as_value(x, function, "x1"), as_value(y, function, "x2"))
    return broadcast_operands(function, x, y)


def inexact_pair(x: Any, y: Any, function: str) -> Any:
    """`pair` with integers and bools as the default float."""
    if isinstance(x, Value) and isinstance(y, Value) and x.type is y.type and x.type.inexact:
        return x, y
    x, y = to_inexact(as_value(x, function, "x1"), as_value(y, function, "x2"))
    return broadcast_operands(function, x, y)


def real_pair(x: Any, y: Any, function: str) -> Any:
    """`inexact_pair` for functions that are not defined for complex numbers."""
    x, y = inexact_pair(x, y, function)
    if type_of(x).kind == "c":
        raise not_for_complex(function, x)
    return x, y


def need_integers(function: str, *xs: Any, accepts: str = "iu") -> None:
    """Raise unless every operand is an integer array (or bool, if "b" is accepted)."""
    for x in xs:
        t: ArrayType = type_of(x)
        if t.kind not in accepts:
            words = "integers or bools" if "b" in accepts else "integers"
            raise errors.DTypeError(
                errors.explain(
                    function,
                    f"operands must be {words}, not {t.dtype}",
                    {f"operand {i}": type_of(y) for i, y in enumerate(xs)},
                    try_="x.astype('int32')",
                )
            )
