"""Differences, numerical derivatives and integrals, and convolutions of vectors."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..api.library import library
from ..core.dtypes import user_dtype
from ..core.integers import check_number
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..lax.arguments import static_int
from ..lax.conv import conv_general_dilated
from ..ops.compare import ne
from ..ops.elementwise_binary import div
from ..structural.arith import add, conjugated, convert, mul, sub
from ..structural.shape import ReduceSum
from . import host_kernels
from .pieces import binary, join, part, reshape_to, reverse
from .util import (
    as_value,
    broadcast_to_shape,
    check_axes,
    check_axis,
    need_word,
    promote,
    to_inexact,
)


def _step(x: Any, axis: int) -> Any:
    """Differences of neighbours along an axis; for bools: whether they differ."""
    t = type_of(x)
    n = t.shape[axis]
    op = ne if t.kind == "b" else sub
    return apply(op, part(x, axis, min(1, n), n), part(x, axis, 0, max(n - 1, 0)))


@library(host=host_kernels.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours, ``a[i+1] - a[i]``, taken `n` times along an axis.

    Args:
        a: array of rank >= 1. For bools the result says where neighbours differ.
        n: how many times; not negative.
        axis: the axis.
        prepend, append: values put before and after `a` along the axis first; scalars are
            broadcast.

    Returns:
        Array, shorter by `n` along the axis.

    Raises:
        ValueArgumentError: `n` is negative.  ShapeError: rank 0.  AxisError: no such axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.diff(np.array([1, 4, 9])))
        [3 5]
    """
    x = as_value(a, "diff")
    t = type_of(x)
    n = static_int("diff", "n", n)
    if n < 0:
        raise errors.ValueArgumentError(
            errors.explain("diff", f"n must not be negative, but is {n}")
        )
    if n == 0:
        return reshape_to(x, t.shape)
    if t.ndim == 0:
        raise errors.ShapeError(errors.explain("diff", "a needs at least one axis", {"a": t}))
    axis = check_axis("diff", axis, t.ndim)
    parts = [x]
    for value, at in ((prepend, 0), (append, 2)):
        if value is not None:
            v = as_value(value, "diff", "append" if at else "prepend")
            check_number("diff", v, t)
            if type_of(v).ndim == 0:
                v = broadcast_to_shape(v, (*t.shape[:axis], 1, *t.shape[axis + 1 :]))
            parts.insert(at, v)
    x = join(promote(*parts), axis)
    for _ in range(n):
        x = _step(x, axis)
    return x


@library()
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours of the flattened array, with values put before and after them.

    Args:
        ary: array of any shape, not bool; n elements.
        to_end: values after the differences, flattened and converted to the dtype of `ary`.
        to_begin: values before them.

    Returns:
        Vector of the dtype of `ary`: n - 1 differences ``ary[i + 1] - ary[i]`` and the values.

    Raises:
        DTypeError: `ary` is bool; `diff` says where bools differ.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.ediff1d(np.array([1, 4, 9]), to_begin=0, to_end=[7, 8]))
        [0 3 5 7 8]
    """
    x = as_value(ary, "ediff1d", "ary")
    t = type_of(x)
    if t.kind == "b":
        raise errors.DTypeError(
            errors.explain("ediff1d", "bools cannot be subtracted", {"ary": t}, try_="np.diff")
        )
    parts = [_step(reshape_to(x, (t.size,)), 0)]
    for value, at in ((to_begin, 0), (to_end, 2)):
        if value is not None:
            v = as_value(value, "ediff1d", "to_end" if at else "to_begin")
            check_number("ediff1d", v, t)
            v = convert(_of_kind(v, t), t.dtype)
            parts.insert(at, reshape_to(v, (type_of(v).size,)))
    return join(parts, 0)


def _of_kind(v: Any, t: ArrayType) -> Any:
    """`v` if numbers of its kind can become those of `t`: no floats integers, no complex real."""
    if "biufc".index(type_of(v).kind) > "biufc".index(t.kind) and (t.kind, type_of(v).kind) != (
        "i",
        "u",
    ):
        raise errors.DTypeError(
            errors.explain(
                "ediff1d",
                f"values of dtype {type_of(v).dtype} do not fit between those of {t.dtype}",
                {"ary": t, "value": type_of(v)},
                try_="ary.astype(...) first",
            )
        )
    return v


@library()
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int | None = None) -> Any:
    """Numerical derivative along axes: central differences inside, one-sided ones at the ends.

    Args:
        f: array of samples; integers become floats.
        *varargs: nothing (spacing 1), one spacing for all axes, or one for each: a number, or a
            vector of coordinates.
        axis: int or ints; None is all axes.
        edge_order: 1 or 2, the order of accuracy at the ends; None is 1.

    Returns:
        An array of the shape of `f`, or a list with one for each axis.

    Raises:
        ShapeError: fewer than ``edge_order + 1`` samples, or coordinates of another length.
        ValueArgumentError: `edge_order` is not 1 or 2.  ArgumentError: another number of spacings
        than of axes.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.gradient(np.array([1.0, 4.0, 9.0])))
        [3. 4. 5.]
    """
    (x,) = to_inexact(as_value(f, "gradient", "f"))
    t = type_of(x)
    axes = check_axes("gradient", axis, t.ndim)
    order = 1 if edge_order is None else static_int("gradient", "edge_order", edge_order)
    if order not in (1, 2):
        raise errors.ValueArgumentError(
            errors.explain("gradient", "edge_order must be 1 or 2", {"edge_order": edge_order})
        )
    if len(varargs) not in (0, 1, len(axes)):
        raise errors.ArgumentError(
            errors.explain(
                "gradient", f"{len(varargs)} spacings are given for {len(axes)} axes", {"f": t}
            )
        )
    spacings = varargs or (1.0,)
    spacings = spacings * len(axes) if len(spacings) == 1 else spacings
    found = []
    for i, h in zip(axes, spacings, strict=True):
        if t.shape[i] < order + 1:
            raise errors.ShapeError(
                errors.explain("gradient", f"axis {i} needs at least {order + 1} samples", {"f": t})
            )
        found.append(_derivative(x, as_value(h, "gradient", "spacing"), i, order))
    return found[0] if len(found) == 1 and (axis is None or not _is_many(axis)) else found


def _is_many(axis: Any) -> bool:
    return isinstance(axis, (tuple, list)) and len(axis) != 1


def _derivative(x: Any, h: Any, axis: int, order: int) -> Any:
    t, u = type_of(x), type_of(h)
    n = t.shape[axis]
    h = convert(h, t.dtype)
    if u.ndim == 0:
        gaps = broadcast_to_shape(h, (n - 1,))
    elif u.shape == (n,):
        gaps = _step(h, 0)
    else:
        raise errors.ShapeError(
            errors.explain(
                "gradient",
                f"coordinates must be a vector of the {n} positions along axis {axis}",
                {"f": t, "coordinates": u},
            )
        )
    shape = tuple(n - 1 if i == axis else 1 for i in range(t.ndim))
    gaps = reshape_to(gaps, shape)
    slopes = binary(div, "gradient", _step(x, axis), gaps)
    ends = [_end(slopes, gaps, axis, order, left) for left in (True, False)]
    if n == 2:
        return join(ends, axis)
    a, b = part(gaps, axis, 0, n - 2), part(gaps, axis, 1, n - 1)
    p, q = part(slopes, axis, 0, n - 2), part(slopes, axis, 1, n - 1)
    weighted = binary(add, "gradient", binary(mul, "gradient", p, b), binary(mul, "gradient", q, a))
    inside = binary(div, "gradient", weighted, apply(add, a, b))
    return join([ends[0], inside, ends[1]], axis)


def _end(slopes: Any, gaps: Any, axis: int, order: int, left: bool) -> Any:
    """Derivative at an end: the slope beside it, for order 2 extrapolated with the next one."""
    m = type_of(slopes).shape[axis]
    i, j = (0, 1) if left else (m - 1, m - 2)
    near = part(slopes, axis, i, i + 1)
    if order == 1:
        return near
    next_ = part(slopes, axis, j, j + 1)
    a, b = part(gaps, axis, i, i + 1), part(gaps, axis, j, j + 1)
    weight = binary(div, "gradient", a, apply(add, a, b))
    return apply(add, near, binary(mul, "gradient", apply(sub, near, next_), weight))


@library(arrays=2)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integral of samples by the trapezoidal rule: ``sum (x[i+1] - x[i]) (y[i+1] + y[i]) / 2``.

    Args:
        y: samples; integers become floats.
        x: their positions: a vector, or an array that broadcasts with `y`; None is evenly spaced.
        dx: the spacing, if `x` is None.
        axis: the axis to integrate along.

    Returns:
        Array without that axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.trapezoid(np.array([1.0, 2.0, 3.0])))
        4.0
    """
    y = as_value(y, "trapezoid", "y")
    if x is None:
        y, width = to_inexact(y, as_value(dx, "trapezoid", "dx"))
        axis = check_axis("trapezoid", axis, type_of(y).ndim)
    else:
        y, x = to_inexact(y, as_value(x, "trapezoid", "x"))
        t, u = type_of(y), type_of(x)
        axis = check_axis("trapezoid", axis, t.ndim)
        if u.ndim == 1:
            width = _step(x, 0)
            n = type_of(width).shape[0]
            width = reshape_to(width, (n, *(1,) * (t.ndim - 1 - axis)))
        else:
            width = _step(x, check_axis("trapezoid", axis - t.ndim, u.ndim))
    n = type_of(y).shape[axis]
    pairs = apply(add, part(y, axis, min(1, n), n), part(y, axis, 0, max(n - 1, 0)))
    areas = binary(mul, "trapezoid", pairs, width)
    areas = apply(mul, areas, type_of(areas).dtype.type(0.5))
    shift = type_of(areas).ndim - type_of(pairs).ndim
    return apply(ReduceSum.of((axis + shift,)), areas)


@library(arrays=2)
def convolve(
    a: Any,
    v: Any,
    mode: str = "full",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Convolution of two vectors: ``out[k] = sum_i a[i] v[k - i]``.

    Args:
        a: vector of n >= 1 elements; integers become floats.
        v: vector of m >= 1 elements; integers become floats.
        mode: "full" (n + m - 1 values), "same" (as many as the longer vector), or "valid" (only
            where the vectors overlap completely).
        precision: None, a `lax.Precision` or its name, a pair, or a dot algorithm.
        preferred_element_type: dtype to sum in and to return; None is the promoted inexact dtype.

    Returns:
        Vector. The derivative in each operand is a correlation with the other.

    Raises:
        ShapeError: not vectors, or empty.  ValueArgumentError: unknown mode.

    Differences from NumPy: integers are convolved as floats.

    Example:
        >>> import numlift.numpy as np
        >>> x, v = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0])
        >>> print(np.convolve(x, v), np.convolve(x, v, "valid"))
        [0. 1. 2. 3.] [1. 2.]
    """
    x, y = _vectors("convolve", a, v)
    if type_of(x).shape[0] < type_of(y).shape[0]:
        x, y = y, x
    return _slide("convolve", x, reverse(y, 0), mode, precision, preferred_element_type)


@library(arrays=2)
def correlate(
    a: Any,
    v: Any,
    mode: str = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Cross-correlation of two vectors: ``out[k] = sum_i a[i + k] conj(v[i])``.

    Args:
        a: vector of n >= 1 elements; integers become floats.
        v: vector of m >= 1 elements, conjugated; integers become floats.
        mode: "full" (n + m - 1 values), "same" (as many as the longer vector), or "valid" (only
            where the vectors overlap completely).
        precision: None, a `lax.Precision` or its name, a pair, or a dot algorithm.
        preferred_element_type: dtype to sum in and to return; None is the promoted inexact dtype.

    Returns:
        Vector. The derivative in `a` is a convolution with `v`.

    Raises:
        ShapeError: not vectors, or empty.  ValueArgumentError: unknown mode.

    Differences from NumPy: integers are correlated as floats.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.correlate(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0])))
        [2. 3.]
    """
    x, y = _vectors("correlate", a, v)
    y = conjugated(y)
    how = (mode, precision, preferred_element_type)
    if type_of(x).shape[0] >= type_of(y).shape[0]:
        return _slide("correlate", x, y, *how)
    return reverse(_slide("correlate", y, x, *how), 0)


def _vectors(function: str, a: Any, v: Any) -> list[Any]:
    xs = to_inexact(as_value(a, function), as_value(v, function, "v"))
    if any(type_of(x).ndim != 1 or type_of(x).size == 0 for x in xs):
        raise errors.ShapeError(
            errors.explain(
                function,
                "operands must be vectors with at least one element",
                {"a": type_of(xs[0]), "v": type_of(xs[1])},
                try_="nl.scipy.signal.convolve for more axes",
            )
        )
    return xs


def _slide(function: str, x: Any, y: Any, mode: str, precision: Any, preferred: Any) -> Any:
    """Scalar products of `y` with the windows of the longer `x`."""
    n, m = type_of(x).shape[0], type_of(y).shape[0]
    need_word(function, "mode", mode)
    if mode not in ("full", "same", "valid"):
        raise errors.ValueArgumentError(
            errors.explain(function, "mode must be 'full', 'same' or 'valid'", {"mode": mode})
        )
    padding = {"full": (m - 1, m - 1), "same": (m // 2, (m - 1) // 2), "valid": (0, 0)}[mode]
    if preferred is not None:
        preferred = user_dtype(preferred, function)
    out = conv_general_dilated(
        reshape_to(x, (1, 1, n)),
        reshape_to(y, (1, 1, m)),
        (1,),
        [padding],
        precision=precision,
        preferred_element_type=preferred,
    )
    return reshape_to(out, type_of(out).shape[2:])


__all__ = [
    "convolve",
    "correlate",
    "diff",
    "ediff1d",
    "gradient",
    "trapezoid",
]
