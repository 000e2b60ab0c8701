"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...api.library import library
from ...core.tracing import apply, type_of
from ...ops.compare import eq, ne
from ...ops.elementwise import abs_, sqrt
from ...ops.elementwise_binary import pow_
from ...ops.reductions import ReduceMax, ReduceMin
from ...structural.arith import add, convert, imag, mul, real, select
from ...structural.shape import ReduceSum, Reshape
from ..manipulation import moveaxis
from ..util import as_value, check_axes, to_inexact
from .decompositions import svdvals

_INF = float("inf")


@library()
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Norm of vectors or matrices.

    Args:
        x: array; integers become floats.
        ord: for vectors a number p, ``sum(|x|**p)**(1/p)``, or inf, -inf (largest, smallest
            absolute value), 0 (number of elements that are not zero). For matrices "fro", 1, -1
            (largest, smallest sum of a column), inf, -inf (of a row), 2, -2 (largest, smallest
            singular value), "nuc" (their sum). None is 2 for vectors and "fro" for matrices.
        axis: int (vectors), pair (matrices); None is all axes: with `ord` None of the flattened
            array.
        keepdims: keep the axes with size 1.

    Returns:
        Real array, without the axes. The derivative of the Euclidean and p-norms at zero is zero;
        largest elements that are equal share the derivative equally.

    Raises:
        ValueArgumentError: unknown `ord`, too many axes, or the smallest one of no elements.

    Differences from JAX: derivatives at zero are zero instead of nan.

    Example:
        >>> import numlift as nl, numlift.numpy as np
        >>> print(np.linalg.norm(np.array([3.0, 4.0])))
        5.0
        >>> print(nl.grad(np.linalg.norm)(np.zeros(2)))
        [0. 0.]
    """
    (x,) = to_inexact(as_value(x, "norm", "x"))
    ndim = type_of(x).ndim
    if axis is None and ord is None:
        return _kept(_euclidean(x, tuple(range(ndim))), x, tuple(range(ndim)), keepdims)
    axes = check_axes("norm", axis, ndim)
    if len(axes) == 1:
        out = _vector("norm", x, 2 if ord is None else ord, axes)
    elif len(axes) == 2:
        out = _matrix(x, "fro" if ord is None else ord, axes)
    else:
        raise errors.ValueArgumentError(
            errors.explain(
                "norm", f"one or two axes are needed, not {len(axes)}", {"x": type_of(x)},
                try_="axis=0 for vectors, axis=(-2, -1) for matrices",
            )
        )  # fmt: skip
    return _kept(out, x, axes, keepdims)


@library()
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norm of the vectors along one or several axes, which count as one vector.

    Args:
        x: array; integers become floats.
        axis: int or ints; None is all axes.
        keepdims: keep the axes with size 1.
        ord: a number p, ``sum(|x|**p)**(1/p)``, or inf, -inf (largest, smallest absolute value), 0
            (number of elements that are not zero).

    Returns:
        Real array, without the axes. The derivative of the Euclidean and p-norms at zero is zero.

    Raises:
        ValueArgumentError: unknown `ord`, or the smallest one of no elements.  AxisError: no such
        axis.

    Differences from JAX: derivatives at zero are zero instead of nan.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.vector_norm(np.array([[3.0, 4.0], [0.0, 1.0]]), axis=1))
        [5. 1.]
    """
    (x,) = to_inexact(as_value(x, "vector_norm", "x"))
    axes = check_axes("vector_norm", axis, type_of(x).ndim)
    return _kept(_vector("vector_norm", x, ord, axes), x, axes, keepdims)


@library()
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norm of the matrices in the last two axes.

    Args:
        x: (..., m, n); integers become floats.
        keepdims: keep the last two axes with size 1.
        ord: "fro" (root of the sum of squares), 1, -1 (largest, smallest sum of a column), inf,
            -inf (of a row), 2, -2 (largest, smallest singular value) or "nuc" (their sum).

    Returns:
        Real (...). The derivative of "fro" at zero is zero.

    Raises:
        ShapeError: fewer than two axes.  ValueArgumentError: unknown `ord`, or the smallest one of
        no elements.

    Differences from JAX: the derivative at zero is zero instead of nan.

    Example:
        >>> import numlift.numpy as np
        >>> a = np.array([[1.0, -2.0], [3.0, 4.0]])
        >>> print(np.linalg.matrix_norm(a, ord=1), np.linalg.matrix_norm(a, ord=np.inf))
        6.0 7.0
    """
    (x,) = to_inexact(as_value(x, "matrix_norm", "x"))
    n = type_of(x).ndim
    if n < 2:
        raise errors.ShapeError(
            errors.explain("matrix_norm", "x needs at least two axes", {"x": type_of(x)})
        )
    axes = (n - 2, n - 1)
    return _kept(_matrix(x, ord, axes), x, axes, keepdims)


def _kept(out: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if not keepdims:
        return out
    return apply(
        Reshape.of(tuple(1 if i in axes else n for i, n in enumerate(type_of(x).shape)), None), out
    )


def _squares(x: Any) -> Any:
    if type_of(x).kind != "c":
        return apply(mul, x, x)
    a, b = apply(real, x), apply(imag, x)
    return apply(add, apply(mul, a, a), apply(mul, b, b))


def _euclidean(x: Any, axes: tuple[int, ...]) -> Any:
    return _root(apply(ReduceSum.of(axes), _squares(x)), sqrt)


def _root(total: Any, op: Any, *rest: Any) -> Any:
    """A root whose derivative at zero is zero."""
    kind = type_of(total).dtype.type
    empty = apply(eq, total, kind(0))
    safe = apply(select, empty, total, kind(1))
    return apply(select, empty, apply(op, safe, *rest), kind(0))


def _vector(function: str, x: Any, order: Any, axes: tuple[int, ...]) -> Any:
    if isinstance(order, str):
        raise errors.ValueArgumentError(
            errors.explain(function, f"ord={order!r} is no norm of vectors", {"x": type_of(x)})
        )
    t = type_of(x)
    if _equals(order, 2):
        return _euclidean(x, axes)
    if _equals(order, 0):
        used = apply(ne, x, t.dtype.type(0))
        size = apply(abs_, x)
        return apply(ReduceSum.of(axes), convert(used, type_of(size).dtype))
    size = apply(abs_, x)
    if _equals(order, _INF):
        return _largest(size, axes)
    if _equals(order, -_INF):
        return _smallest(function, size, axes)
    if _equals(order, 1):
        return apply(ReduceSum.of(axes), size)
    dtype = type_of(size).dtype
    p = convert(as_value(order, function, "ord"), dtype)
    total = apply(ReduceSum.of(axes), apply(pow_, size, p))
    inverse = 1 / order if isinstance(order, (int, float)) else None
    if inverse is None or order < 0:
        return apply(pow_, total, _inverse(p))
    return _root(total, pow_, dtype.type(inverse))


def _largest(size: Any, axes: tuple[int, ...]) -> Any:
    """The largest of numbers >= 0 along axes: 0 of none."""
    op = ReduceSum if _none(size, axes) else ReduceMax
    return apply(op.of(axes), size)


def _smallest(function: str, size: Any, axes: tuple[int, ...]) -> Any:
    if _none(size, axes):
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                "there is no smallest one of no elements",
                {"x": type_of(size)},
                try_="another ord, such as inf",
            )
        )
    return apply(ReduceMin.of(axes), size)


def _none(x: Any, axes: tuple[int, ...]) -> bool:
    """Whether there is nothing to reduce along axes."""
    shape = type_of(x).shape
    return any(type(shape[i]) is int and shape[i] == 0 for i in axes)


def _inverse(p: Any) -> Any:
    return apply(pow_, p, type_of(p).dtype.type(-1))


def _equals(order: Any, value: float) -> bool:
    return isinstance(order, (int, float, np.number)) and order == value


def _matrix(x: Any, order: Any, axes: tuple[int, ...]) -> Any:
    row, column = axes
    if order in ("fro", "f"):
        return _euclidean(x, tuple(sorted(axes)))
    if order in (1, -1, _INF, -_INF):
        summed, kept = (row, column) if abs(order) == 1 else (column, row)
        sums = apply(ReduceSum.of((summed,)), apply(abs_, x))
        left = kept - (kept > summed)
        return _largest(sums, (left,)) if order > 0 else _smallest("norm", sums, (left,))
    if order in (2, -2, "nuc"):
        s = svdvals(moveaxis(x, (row, column), (-2, -1)))
        last = type_of(s).ndim - 1
        zero = type_of(s).dtype.type(0)
        s = apply(select, apply(eq, s, zero), s, zero)  # derivative 0 there, as that of abs
        if order == "nuc":
            return apply(ReduceSum.of((last,)), s)
        return _largest(s, (last,)) if order > 0 else _smallest("norm", s, (last,))
    raise errors.ValueArgumentError(
        errors.explain(
            "norm",
            f"ord={order!r} is no norm of matrices",
            {"x": type_of(x)},
            try_="'fro', 'nuc', 1, -1, 2, -2, inf or -inf",
        )
    )
