"""Comparisons, and selections by their results."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..core.tracing import apply, type_of
from ..ops import compare as ops
from ..structural import arith
from .operands import SCALARS, binary, numbers

_eq, _ne, _lt, _le, _gt, _ge = ops.eq, ops.ne, ops.lt, ops.le, ops.gt, ops.ge
_select = arith.select


def eq(x: Any, y: Any) -> Any:
    """Whether x == y, element by element.

    False where one is NaN. Typed PRNG keys can be compared.

    Args:
        x, y: arrays of all kinds of numbers of one dtype and shape; Python numbers and rank
        0 broadcast.

    Returns:
        Bool array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import eq
        >>> bool(eq(1.0, 1.0))
        True
    """
    return binary(_eq, x, y)


def ne(x: Any, y: Any) -> Any:
    """Whether x != y, element by element.

    True where one is NaN. Typed PRNG keys can be compared.

    Args:
        x, y: arrays of all kinds of numbers of one dtype and shape; Python numbers and rank
        0 broadcast.

    Returns:
        Bool array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import ne
        >>> bool(ne(1.0, 2.0))
        True
    """
    return binary(_ne, x, y)


def lt(x: Any, y: Any) -> Any:
    """Whether x < y, element by element.

    False where one is NaN.

    Args:
        x, y: arrays of real numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Bool array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import lt
        >>> bool(lt(1.0, 2.0))
        True
    """
    return binary(_lt, x, y)


def le(x: Any, y: Any) -> Any:
    """Whether x <= y, element by element.

    False where one is NaN.

    Args:
        x, y: arrays of real numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Bool array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import le
        >>> bool(le(1.0, 1.0))
        True
    """
    return binary(_le, x, y)


def gt(x: Any, y: Any) -> Any:
    """Whether x > y, element by element.

    False where one is NaN.

    Args:
        x, y: arrays of real numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Bool array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import gt
        >>> bool(gt(2.0, 1.0))
        True
    """
    return binary(_gt, x, y)


def ge(x: Any, y: Any) -> Any:
    """Whether x >= y, element by element.

    False where one is NaN.

    Args:
        x, y: arrays of real numbers of one dtype and shape; Python numbers and rank 0
        broadcast.

    Returns:
        Bool array of the common shape.

    Raises:
        DTypeError: dtypes differ, or are of another kind.
        ShapeError: shapes differ.

    Example:
        >>> from numlift.lax import ge
        >>> bool(ge(1.0, 1.0))
        True
    """
    return binary(_ge, x, y)


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Elements of `on_true` where `pred` holds, else of `on_false`.

    Args:
        pred: bool array of the shape of the cases, or of rank 0; other numbers mean ``pred != 0``.
        on_true, on_false: arrays of one shape and dtype; a Python number beside an array
            broadcasts.

    Returns:
        Array of the shape of the cases.

    Raises:
        DTypeError: the cases have different dtypes.
        ShapeError: shapes do not fit.

    Derivative: that of the case taken; 0 in the other.

    Example:
        >>> from numlift.lax import select
        >>> float(select(True, 1.0, 2.0))
        1.0
    """
    if type_of(pred).kind != "b":
        pred = apply(_ne, pred, type_of(pred).dtype.type(0))
    return select_n(pred, on_false, on_true)


def select_n(which: Any, *cases: Any) -> Any:
    """Elements of ``cases[which]``, element by element.

    Args:
        which: bool (two cases at most) or int32 array of the shape of the cases, or of rank 0;
            integers below 0 take the first case, too large ones the last.
        cases: arrays of one shape and dtype.

    Returns:
        Array of the shape of the cases.

    Raises:
        ArgumentError: there is no case, or more than two for a bool selector.
        DTypeError: `which` is neither bool nor int32, or the cases have different dtypes.
        ShapeError: shapes do not fit.

    Derivative: that of the case taken; 0 in the others.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import select_n
        >>> float(select_n(np.int32(1), 1.0, 2.0, 3.0))
        2.0
    """
    if not cases:
        raise errors.ValueArgumentError(
            errors.explain("select_n", "there must be at least one case", try_="select_n(which, x)")
        )
    if not SCALARS.isdisjoint(map(type, cases)):
        cases = numbers("select_n", *cases)
    return apply(_select, which, *cases)
