"""Choosing and repairing values: where, select, piecewise, clip, nan_to_num, near equality."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.dtypes import finfo
from ..core.integers import check_number, fits, plain_integer
from ..core.tracing import Value, apply, type_of
from ..ops import compare
from ..ops import elementwise as ops
from ..ops import elementwise_binary as binary
from ..ops.reductions import ReduceAnd
from ..structural import arith
from .elementwise import no_out
from .floats import isfinite
from .logic import truth
from .nonzero import nonzero
from .operands import comparable, inexact_pair, not_for_complex, number_of
from .util import as_value, broadcast_operands, broadcast_shape, broadcast_to_shape, cast, promote


def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """x where the condition holds, else y; with the condition alone its `nonzero` indices.

    Args:
        condition: bools, or numbers that count as true unless 0.
        x, y: arrays or numbers; both or none.
        size, fill_value: see `nonzero` (for the condition alone).

    Returns:
        Array of the promoted dtype and broadcast shape. Derivatives flow to the chosen side only.
        The side not chosen is still computed: a derivative that is infinite or nan there (log(x)
        at 0) gives nan. Choose the argument first: ``log(where(x > 0, x, 1))``.

    Raises:
        ValueArgumentError: only one of x and y is given.  ArgumentError: `size` or
        `fill_value` beside them.
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import numlift.numpy as np
        >>> np.where(np.asarray([True, False]), 1.0, np.asarray([5.0, 6.0]))
        Array([1., 6.], dtype=float32)
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise errors.ValueArgumentError(
            errors.explain("where", "needs both x and y, or neither", try_="where(c, x, 0)")
        )
    if size is not None or fill_value is not None:
        raise errors.ArgumentError(
            errors.explain("where", "size and fill_value belong to where(condition) alone")
        )
    return _where(condition, x, y)


@library(3)
def _where(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(x, Value) and isinstance(y, Value) and x.type is y.type:
        on_true, on_false = x, y
    else:
        on_true, on_false = promote(as_value(x, "where", "x"), as_value(y, "where", "y"))
    return choose_by(truth(condition, "where", "condition"), on_true, on_false, "where")


def choose_by(which: Any, on_true: Any, on_false: Any, function: str) -> Any:
    """Select with broadcasting; the operands have one dtype."""
    t, u, c = type_of(on_true), type_of(on_false), type_of(which)
    if c.shape and not t.shape and not u.shape:
        return apply(arith.select, which, on_false, on_true)
    which, on_true, on_false = broadcast_operands(function, which, on_true, on_false)
    return apply(arith.select, which, on_false, on_true)


@explains
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """The element of the first choice whose condition holds, else `default`.

    Args:
        condlist: sequence of arrays of bools.
        choicelist: sequence of as many arrays or numbers. All are computed, whatever is chosen.
        default: array or number.

    Returns:
        Array of the promoted dtype of the choices and the default, and of the broadcast shape of
        all. Derivatives flow to the chosen elements only.

    Raises:
        ValueArgumentError: different numbers of conditions and choices, or none.
        DTypeError: a condition is not made of bools.  ShapeError: shapes do not broadcast.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([1, 5, 9])
        >>> np.select([x < 3, x < 7], [x, 10 * x], -1)
        Array([ 1, 50, -1], dtype=int32)
    """
    if len(condlist) != len(choicelist):
        raise errors.ValueArgumentError(
            errors.explain(
                "select",
                f"needs as many choices as conditions, got {len(choicelist)} and {len(condlist)}",
            )
        )
    if len(condlist) == 0:
        raise errors.ValueArgumentError(errors.explain("select", "needs at least one condition"))
    return _select(tuple(condlist), tuple(choicelist), default)


@library(3)
def _select(conditions: tuple[Any, ...], choices: tuple[Any, ...], default: Any) -> Any:
    values = promote(*[as_value(x, "select", "choicelist") for x in (*choices, default)])
    masks = [_need_bools(c, i) for i, c in enumerate(conditions)]
    masks_and_values = broadcast_operands("select", *masks, *values)
    masks, values = masks_and_values[: len(masks)], masks_and_values[len(masks) :]
    result = values[-1]
    for mask, value in zip(reversed(masks), reversed(values[:-1]), strict=True):
        result = apply(arith.select, mask, result, value)
    return result


def _need_bools(condition: Any, i: int) -> Any:
    mask = as_value(condition, "select", "condlist")
    if type_of(mask).kind != "b":
        raise errors.DTypeError(
            errors.explain(
                "select",
                f"condition {i} must hold bools, not {type_of(mask).dtype}",
                {f"condlist[{i}]": type_of(mask)},
                try_=f"condlist[{i}] != 0",
            )
        )
    return mask


@explains
def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Functions on parts of an array: funclist[i] where condlist[i] holds (the last such i).

    Args:
        x: array of any shape and dtype.
        condlist: sequence of arrays of bools that broadcast to the shape of x, or one such array.
        funclist: functions or numbers, one a condition; one more is used where none holds (else 0).
        *args: passed to the functions, after x.
        **kw: passed to the functions by name.

    Returns:
        Array of the shape and dtype of x. Derivatives flow through the chosen function only.

    Raises:
        ValueArgumentError: too few or too many functions.

    Differences from NumPy: functions get all of x, not the part where the condition holds, so they
    must work element by element.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([-2.0, 3.0])
        >>> np.piecewise(x, [x < 0], [0.0, lambda v: v * v])
        Array([0., 9.], dtype=float32)
    """
    x = as_value(x, "piecewise", "x")
    t = type_of(x)
    if isinstance(condlist, (Value, np.ndarray)) and condlist.ndim in (0, t.ndim):
        masks = [condlist]
    elif isinstance(condlist, (list, tuple)) and (
        condlist and isinstance(condlist[0], (bool, np.bool_)) and t.ndim
    ):
        masks = [np.asarray(condlist)]
    else:
        masks = list(condlist)
    n = len(masks)
    if len(funclist) not in (n, n + 1):
        raise errors.ValueArgumentError(
            errors.explain(
                "piecewise",
                f"{n} condition(s) need {n} or {n + 1} functions, got {len(funclist)}",
            )
        )
    default = funclist[n] if len(funclist) > n else 0
    result = _piece(default, x, t.dtype, args, kw)
    for mask, function in zip(masks, funclist, strict=False):
        piece = _piece(function, x, t.dtype, args, kw)
        mask = truth(mask, "piecewise", "condlist")
        mask, piece, result = broadcast_operands("piecewise", mask, piece, result)
        result = apply(arith.select, mask, result, piece)
    return broadcast_to_shape(arith.convert(result, t.dtype), t.shape)


def _piece(function: Callable[..., Any] | Any, x: Any, dtype: Any, args: Any, kw: Any) -> Any:
    value = function(x, *args, **kw) if callable(function) else function
    check_number("piecewise", value, type_of(x))
    return arith.convert(as_value(value, "piecewise", "funclist"), dtype)


def _bound(bound: Any, x: Any, beyond: Callable[[Any, Any], bool]) -> Any:
    """A bound of `clip`; none if it is a Python int that no number of x can pass."""
    t, bound = type_of(x), plain_integer(bound)
    if type(bound) is int and t.kind in "iu" and not fits(bound, t.dtype) and beyond(bound, 0):
        return None
    return bound


@library(3)
def _clip(x: Any, low: Any, high: Any) -> Any:
    x = as_value(x, "clip", "arr")
    low, high = _bound(low, x, operator.lt), _bound(high, x, operator.gt)
    named = ((low, "min"), (high, "max"))
    given = [x, *[as_value(v, "clip", name) for v, name in named if v is not None]]
    given = broadcast_operands("clip", *promote(*given))
    if type_of(given[0]).kind == "c":
        raise not_for_complex("clip", given[0])
    result, *bounds = given
    if low is not None:
        result = apply(binary.max_, result, bounds.pop(0))
    if high is not None:
        result = apply(binary.min_, result, bounds.pop(0))
    shape = broadcast_shape("clip", *[type_of(v).shape for v in given])
    return broadcast_to_shape(result, shape)


def clip(
    arr: Any = None, /, min: Any = None, max: Any = None, out: None = None, **names: Any
) -> Any:
    """Values outside of bounds become the bounds: ``minimum(maximum(arr, min), max)``.

    Args:
        arr: array of any shape, not complex; `a` also names it.
        min: lower bound, array or number; None is none. `a_min` also names it.
        max: upper bound, array or number; None is none. `a_max` also names it.
        out: must be None: arrays are immutable.
        **names: the other names of the arguments.

    Returns:
        Array of the promoted dtype and broadcast shape; max where min > max. Derivative in arr: 1
        inside, 0 outside, 1/2 on a bound (the other half belongs to the bound).

    Raises:
        DTypeError: complex numbers.  ArgumentError: no array, or an unknown name.

    Example:
        >>> import numlift.numpy as np
        >>> np.clip(np.asarray([-1.0, 0.5, 3.0]), 0, 1)
        Array([0. , 0.5, 1. ], dtype=float32)
    """
    low, high = names.pop("a_min", min), names.pop("a_max", max)
    arr = names.pop("a", arr)
    no_out("clip", out)
    if names:
        raise errors.ArgumentError(f"clip: unexpected argument {next(iter(names))!r}")
    if arr is None:
        raise errors.ArgumentError(errors.explain("clip", "the array is missing"))
    if low is None and high is None:
        return _itself(arr)
    return _clip(arr, low, high)


@library(1)
def _itself(x: Any) -> Any:
    x = as_value(x, "clip", "arr")
    t = type_of(x)
    return apply(arith.Convert.of(t.dtype, t.weak_type), x)


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """NaN and infinities replaced by numbers; other elements stay.

    Args:
        x: array of any shape and dtype; complex numbers by their real and imaginary parts.
        copy: ignored: x itself never changes.
        nan: replaces NaN.
        posinf: replaces infinity; None is the largest number of the dtype.
        neginf: replaces minus infinity; None is the least number of the dtype.

    Returns:
        Array of the shape and dtype of x. Derivative: 1, and 0 where an element was replaced.

    Example:
        >>> import numlift.numpy as np
        >>> np.nan_to_num(np.asarray([1.0, np.nan, np.inf]), posinf=9.0)
        Array([1., 0., 9.], dtype=float32)
    """
    return _nan_to_num(x, nan, posinf, neginf)


@library(4)
def _nan_to_num(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    x = as_value(x, "nan_to_num", "x")
    t = type_of(x)
    if not t.inexact:
        return _itself(x)
    if t.kind == "c":
        parts = [_replace(apply(part, x), nan, posinf, neginf) for part in (arith.real, arith.imag)]
        return apply(arith.complex_, *parts)
    return _replace(x, nan, posinf, neginf)


def _replace(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    t = type_of(x)
    limits = finfo(t.dtype)
    top = number_of(t)(limits.max) if posinf is None else posinf
    bottom = number_of(t)(limits.min) if neginf is None else neginf
    for found, value in (
        (apply(compare.ne, x, x), nan),
        (apply(compare.eq, x, number_of(t)(np.inf)), top),
        (apply(compare.eq, x, number_of(t)(-np.inf)), bottom),
    ):
        value = as_value(value, "nan_to_num", "nan")
        value = cast(value, type_of(value), t.dtype, t.weak_type and not type_of(value).shape)
        if type_of(value).weak_type != t.weak_type:
            value = arith.convert(value, t.dtype, t.weak_type)
        x = choose_by(found, value, x, "nan_to_num")
    return x


# --- nearly equal --------------------------------------------------------------------------


@library(4)
def _isclose(a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
    x, y = comparable(a, b, "isclose")
    t = type_of(x)
    if not t.inexact:
        if not isinstance(rtol, (int, float)) or rtol or atol:
            x, y = inexact_pair(x, y, "isclose")
            t = type_of(x)
        else:
            return apply(compare.eq, x, y)
    same = apply(compare.eq, x, y)
    gap = apply(ops.abs_, apply(arith.sub, x, y))
    size = apply(ops.abs_, y)
    real = type_of(gap).dtype
    rtol, atol = (arith.convert(as_value(v, "isclose", "rtol"), real) for v in (rtol, atol))
    size, rtol, atol = broadcast_operands("isclose", size, rtol, atol)
    bound = apply(arith.add, atol, apply(arith.mul, rtol, size))
    gap, bound = broadcast_operands("isclose", gap, bound)
    near = apply(compare.le, gap, bound)
    both = apply(binary.and_, isfinite(x), isfinite(y))
    near, both, same = broadcast_operands("isclose", near, both, same)
    near = apply(binary.or_, apply(binary.and_, near, both), same)
    if equal_nan:
        nans = apply(binary.and_, apply(compare.ne, x, x), apply(compare.ne, y, y))
        near = apply(binary.or_, near, nans)
    return near


@explains
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether ``abs(a - b) <= atol + rtol * abs(b)``, element by element, or a and b are equal.

    The rule is not symmetric: b is the reference.

    Args:
        a: array or number.
        b: array or number.
        rtol: relative tolerance, number or array.
        atol: absolute tolerance, number or array.
        equal_nan: whether NaN is close to NaN.

    Returns:
        Array of bools of the broadcast shape.

    Raises:
        ShapeError: shapes do not broadcast.

    Example:
        >>> import numlift.numpy as np
        >>> np.isclose(1.0, np.asarray([1.000001, 1.1]))
        Array([ True, False], dtype=bool)
    """
    return _isclose(a, b, rtol, atol, bool(equal_nan))


def _every(x: Any) -> Any:
    return apply(ReduceAnd.of(tuple(range(type_of(x).ndim))), x)


@library(4)
def _allclose(a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
    return _every(_isclose(a, b, rtol, atol, equal_nan))


@explains
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether ``abs(a - b) <= atol + rtol * abs(b)`` for all elements, or they are equal.

    Args:
        a: array or number.
        b: array or number.
        rtol: relative tolerance, number or array.
        atol: absolute tolerance, number or array.
        equal_nan: whether NaN is close to NaN.

    Returns:
        Array of rank 0, a bool; True for no elements.

    Raises:
        ShapeError: shapes do not broadcast.

    Differences from NumPy: an array, not a Python bool, so that it can be traced.

    Example:
        >>> import numlift.numpy as np
        >>> np.allclose(1.0, np.asarray([1.000001, 1.0]))
        Array(True, dtype=bool)
    """
    return _allclose(a, b, rtol, atol, bool(equal_nan))


@library(2)
def _array_equal(x: Any, y: Any, equal_nan: bool) -> Any:
    x, y = promote(x, y)
    same = apply(compare.eq, x, y)
    if equal_nan and type_of(x).inexact:
        nans = apply(binary.and_, apply(compare.ne, x, x), apply(compare.ne, y, y))
        same = apply(binary.or_, same, nans)
    return _every(same)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether two arrays have one shape and equal elements.

    Args:
        a1: array of any shape and dtype.
        a2: array of any shape and dtype; what is no array is equal to none.
        equal_nan: whether NaN equals NaN.

    Returns:
        Array of rank 0, a bool.

    Differences from NumPy: an array, not a Python bool, so that it can be traced.

    Example:
        >>> import numlift.numpy as np
        >>> np.array_equal(np.asarray([1, 2]), [1, 2])
        Array(True, dtype=bool)
        >>> np.array_equal(np.asarray([1, 1]), 1)
        Array(False, dtype=bool)
    """
    try:
        x, y = as_value(a1, "array_equal", "a1"), as_value(a2, "array_equal", "a2")
    except errors.NumliftError:
        return _constant_bool(False)
    if type_of(x).shape != type_of(y).shape:
        return _constant_bool(False)
    return _array_equal(x, y, bool(equal_nan))


@library(2)
def _array_equiv(x: Any, y: Any) -> Any:
    return _every(apply(compare.eq, *comparable(x, y, "array_equiv")))


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether two arrays are equal after broadcasting to one shape.

    Args:
        a1: array of any shape and dtype.
        a2: array of any shape and dtype; what is no array is equal to none.

    Returns:
        Array of rank 0, a bool; False if the shapes do not broadcast. NaN equals nothing.

    Differences from NumPy: an array, not a Python bool, so that it can be traced.

    Example:
        >>> import numlift.numpy as np
        >>> np.array_equiv(np.asarray([1, 1]), 1)
        Array(True, dtype=bool)
    """
    try:
        x, y = as_value(a1, "array_equiv", "a1"), as_value(a2, "array_equiv", "a2")
        broadcast_shape("array_equiv", type_of(x).shape, type_of(y).shape)
    except errors.NumliftError:
        return _constant_bool(False)
    return _array_equiv(x, y)


def _constant_bool(value: bool) -> Any:
    return apply(arith.Convert.of(np.dtype(np.bool_), False), np.bool_(value))


__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "clip",
    "isclose",
    "nan_to_num",
    "piecewise",
    "select",
    "where",
]
