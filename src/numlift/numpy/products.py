"""Products that sum: matmul, matvec, vecmat, vecdot, dot, inner, vdot, tensordot."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .. import config, errors
from ..api.library import library
from ..core.dtypes import user_dtype
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..lax.arguments import static_int
from ..lax.dot import as_sharding
from ..ops.dot import DotGeneral
from ..ops.precision import canonical_precision
from ..ops.shape import Squeeze
from ..sharding.rules import named
from ..structural.arith import Convert, conjugated, convert, mul
from ..structural.shape import Transpose
from .elementwise import no_out
from .pieces import moved, reshape_to
from .reducing import asked_dtype
from .util import as_value, broadcast_shape, check_axes, check_axis, promote

_configured = config.current
_dot = DotGeneral.of


def contract(
    x: Any,
    y: Any,
    numbers: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]],
    precision: Any = None,
    preferred: Any = None,
    sharding: Any = None,
) -> Any:
    """`dot_general` on promoted operands; weakly typed if both operands are."""
    if precision is not None or _configured().default_matmul_precision is not None:
        precision = canonical_precision(precision)
    out = apply(_dot(*numbers, precision, preferred, sharding), x, y)
    if type_of(x).weak_type and type_of(y).weak_type and preferred is None:
        return apply(Convert.of(type_of(out).dtype, True), out)
    return out


def operands(function: str, a: Any, b: Any, names: tuple[str, str] = ("a", "b")) -> list[Any]:
    """Two arguments, promoted."""
    return promote(as_value(a, function, names[0]), as_value(b, function, names[1]))


class _Plan:
    """How a stack of products becomes one dot_general."""

    __slots__ = ("squeeze_x", "squeeze_y", "numbers", "order")

    def __init__(self, x: tuple[int, ...], y: tuple[int, ...], cores: tuple[int, int, int, int]):
        core_x, contract_x, core_y, contract_y = cores
        nx, ny = len(x) - core_x, len(y) - core_y
        rank = max(nx, ny)
        kept_x, kept_y = list(range(nx)), list(range(ny))
        both, only_x, only_y = [], [], []
        for i in range(rank):
            j, k = i - (rank - nx), i - (rank - ny)
            if j < 0:
                only_y.append(i)
            elif k < 0:
                only_x.append(i)
            elif x[j] == y[k]:
                both.append((i, j, k))
            elif x[j] == 1:
                kept_x.remove(j)
                only_y.append(i)
            else:
                kept_y.remove(k)
                only_x.append(i)
        self.squeeze_x = tuple(j for j in range(nx) if j not in kept_x)
        self.squeeze_y = tuple(k for k in range(ny) if k not in kept_y)
        mx, my = len(kept_x), len(kept_y)
        self.numbers = (
            (mx + contract_x,),
            (my + contract_y,),
            tuple(kept_x.index(j) for _, j, _ in both),
            tuple(kept_y.index(k) for _, _, k in both),
        )
        # Axes of the dot's result, by their place in the final one.
        free_x = list(range(rank, rank + core_x - 1))
        free_y = list(range(rank + core_x - 1, rank + core_x + core_y - 2))
        made = [i for i, _, _ in both] + only_x + free_x + only_y + free_y
        order = tuple(made.index(i) for i in range(len(made)))
        self.order = None if order == tuple(range(len(order))) else order


_plan = lru_cache(maxsize=4096)(_Plan)


def _stacked(
    function: str,
    x: Any,
    y: Any,
    cores: tuple[int, int, int, int],
    precision: Any,
    preferred: Any,
    out_sharding: Any = None,
) -> Any:
    """Product over core axes for each index of the broadcast leading axes.

    `cores` is (core axes of x, contracted one, core axes of y, contracted one).
    """
    t, u = type_of(x), type_of(y)
    _check_cores(function, t, u, cores)
    plan = _plan(t.shape, u.shape, cores)
    if plan.squeeze_x:
        x = apply(Squeeze.of(plan.squeeze_x), x)
    if plan.squeeze_y:
        y = apply(Squeeze.of(plan.squeeze_y), y)
    sharding = out_sharding
    if sharding is not None:
        sharding = as_sharding(sharding, (x, y), function)
        if plan.order is not None and sharding is not None:
            spec = sharding.spec.padded(len(plan.order))
            sharding = named(sharding.mesh, [spec[plan.order.index(i)] for i in range(len(spec))])
    out = contract(x, y, plan.numbers, precision, preferred, sharding)
    return out if plan.order is None else apply(Transpose.of(plan.order), out)


def _check_cores(
    function: str, t: ArrayType, u: ArrayType, cores: tuple[int, int, int, int]
) -> None:
    for i, (side, core) in enumerate(((t, cores[0]), (u, cores[2]))):
        if side.ndim < core:
            raise errors.ShapeError(
                errors.explain(
                    function,
                    f"operand {i} needs at least {core} axes, but has {side.ndim}",
                    {"operand 0": t, "operand 1": u},
                    try_="np.multiply for scalars" if side.ndim == 0 else "x[None] adds an axis",
                )
            )
    i, j = t.ndim - cores[0] + cores[1], u.ndim - cores[2] + cores[3]
    if t.shape[i] != u.shape[j]:
        raise errors.ShapeError(
            errors.explain(
                function,
                f"the sizes that are summed over must agree: axis {i} of operand 0 has size "
                f"{t.shape[i]}, axis {j} of operand 1 has size {u.shape[j]}",
                {"operand 0": t, "operand 1": u},
                try_="np.matrix_transpose(x) of one operand, or np.einsum to name the axes",
            )
        )
    broadcast_shape(function, t.shape[: t.ndim - cores[0]], u.shape[: u.ndim - cores[2]])


_MATRICES = ((1,), (0,), (), ())


@library(arrays=2)
def matmul(
    a: Any,
    b: Any,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Matrix product, also of stacks of matrices: ``out[..., i, j] = sum_k a[..., i, k] b[..., k, j]``.

    Args:
        a, b: arrays of rank >= 1. A vector is a row as `a` and a column as `b`, and its axis is
            left out of the result. Axes before the last two are broadcast.
        precision: None, a `lax.Precision` or its name, a pair, or a dot algorithm.
        preferred_element_type: dtype to sum in and to return.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        The product, in the common dtype of `a` and `b`.

    Raises:
        ShapeError: inner sizes differ, leading axes do not broadcast, or an operand is a scalar.

    Differences from NumPy: the accumulation of narrow floats is XLA's; no ``out``, ``axes``.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1])))
        [3 7]
    """  # noqa: E501
    x, y = operands("matmul", a, b)
    t, u = type_of(x), type_of(y)
    if preferred_element_type is not None:
        preferred_element_type = user_dtype(preferred_element_type, "matmul")
    if t.ndim == 2 == u.ndim and t.shape[1] == u.shape[0] and out_sharding is None:
        return contract(x, y, _MATRICES, precision, preferred_element_type)
    core_x, core_y = min(t.ndim, 2), min(u.ndim, 2)
    cores = (max(core_x, 1), max(core_x, 1) - 1, max(core_y, 1), 0)
    return _stacked("matmul", x, y, cores, precision, preferred_element_type, out_sharding)


@library(arrays=2)
def matvec(x1: Any, x2: Any, /) -> Any:
    """Product of matrices and vectors: ``out[..., i] = sum_k x1[..., i, k] x2[..., k]``.

    Args:
        x1: array of shape (..., n, k): matrices.
        x2: array of shape (..., k): vectors. Leading axes are broadcast.

    Returns:
        Array of shape (..., n), in the common dtype. Linear in each operand, and so are
        derivatives.

    Raises:
        ShapeError: inner sizes differ, leading axes do not broadcast, or too few axes.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.matvec(np.array([[1, 2], [3, 4]]), np.array([[1, 1], [0, 1]])))
        [[3 7]
         [2 4]]
    """
    x, y = operands("matvec", x1, x2, ("x1", "x2"))
    return _stacked("matvec", x, y, (2, 1, 1, 0), None, None)


@library(arrays=2)
def vecmat(x1: Any, x2: Any, /) -> Any:
    """Product of vectors and matrices: ``out[..., j] = sum_k conj(x1[..., k]) x2[..., k, j]``.

    Args:
        x1: array of shape (..., k): vectors, conjugated if complex.
        x2: array of shape (..., k, m): matrices. Leading axes are broadcast.

    Returns:
        Array of shape (..., m), in the common dtype.

    Raises:
        ShapeError: inner sizes differ, leading axes do not broadcast, or too few axes.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.vecmat(np.array([1, 1]), np.array([[1, 2], [3, 4]])))
        [4 6]
    """
    x, y = operands("vecmat", x1, x2, ("x1", "x2"))
    return _stacked("vecmat", conjugated(x), y, (1, 0, 2, 0), None, None)


@library(arrays=2)
def vecdot(
    x1: Any,
    x2: Any,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Scalar products of vectors along an axis: ``sum_k conj(x1[..., k]) x2[..., k]``.

    Args:
        x1: array of rank >= 1, conjugated if complex.
        x2: array of rank >= 1; the axes besides those of the vectors are broadcast with those of
            `x1`.
        axis: int, the axis of the vectors, in each operand.
        precision: None, a `lax.Precision` or its name, a pair, or a dot algorithm.
        preferred_element_type: dtype to sum in and to return; None is the common dtype.

    Returns:
        Array of the broadcast shape without the axis.

    Raises:
        ShapeError: sizes along the axis differ, or an operand is a scalar.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.vecdot(np.array([[1, 2], [3, 4]]), np.array([1, 1])))
        [3 7]
    """
    x, y = operands("vecdot", x1, x2, ("x1", "x2"))
    n, m = type_of(x).ndim, type_of(y).ndim
    x = moved(x, check_axis("vecdot", axis, n), n - 1)
    y = moved(y, check_axis("vecdot", axis, m), m - 1)
    preferred = asked_dtype("vecdot", preferred_element_type)
    return _stacked("vecdot", conjugated(x), y, (1, 0, 1, 0), precision, preferred)


@library(arrays=2)
def dot(
    a: Any,
    b: Any,
    out: None = None,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Product summed over the last axis of `a` and the second last (or only) axis of `b`.

    For matrices the matrix product, for vectors the scalar product; a scalar multiplies. Unlike
    `matmul`, leading axes are not broadcast: every row of `a` meets every column of `b`.

    Args:
        a: array of any shape.
        b: array of any shape.
        out: must be None: arrays are immutable.
        precision: None, a `lax.Precision` or its name, a pair, or a dot algorithm.
        preferred_element_type: dtype to sum in and to return; None is the common dtype.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array of the other axes of `a`, then those of `b`. Small integers are not widened.

    Raises:
        ShapeError: the summed sizes differ.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.dot(np.array([1, 2]), np.array([3, 4])))
        11
        >>> np.dot(np.ones((2, 3, 4)), np.ones((5, 4, 6))).shape
        (2, 3, 5, 6)
    """
    no_out("dot", out)
    x, y = operands("dot", a, b)
    t, u = type_of(x), type_of(y)
    i, j = t.ndim - 1, max(u.ndim - 2, 0)
    return _over("dot", x, y, i, j, precision, preferred_element_type, out_sharding)


def _over(
    function: str, x: Any, y: Any, i: int, j: int, precision: Any, preferred: Any,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Product summed over axis i of x and axis j of y; scalars multiply."""
    t, u = type_of(x), type_of(y)
    preferred = asked_dtype(function, preferred)
    if not t.ndim or not u.ndim:
        out = apply(mul, x, y)
        return out if preferred is None else convert(out, preferred)
    if t.shape[i] != u.shape[j]:
        raise errors.ShapeError(
            errors.explain(
                function,
                f"the sizes that are summed over must agree: axis {i} of a has size {t.shape[i]}, "
                f"axis {j} of b has size {u.shape[j]}",
                {"a": t, "b": u},
                try_="np.transpose one operand, or np.einsum to name the axes",
            )
        )
    if out_sharding is not None:
        out_sharding = as_sharding(out_sharding, (x, y), function)
    return contract(x, y, ((i,), (j,), (), ()), precision, preferred, out_sharding)


@library(arrays=2)
def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Product summed over the last axis of both operands; a scalar multiplies.

    ``out[i, j] = sum_k a[i, k] b[j, k]`` for matrices; nothing is conjugated.

    Args:
        a: array of any shape.
        b: array of any shape, with a last axis as long as that of `a`.
        precision: None, a `lax.Precision` or its name, a pair, or a dot algorithm.
        preferred_element_type: dtype to sum in and to return; None is the common dtype.

    Returns:
        Array of the other axes of `a`, then those of `b`.

    Raises:
        ShapeError: the last axes have different sizes.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.inner(np.array([[1, 2], [3, 4]]), np.array([[1, 1], [0, 1]])))
        [[3 2]
         [7 4]]
    """
    x, y = operands("inner", a, b)
    i, j = type_of(x).ndim - 1, type_of(y).ndim - 1
    return _over("inner", x, y, i, j, precision, preferred_element_type)


@library(arrays=2)
def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Scalar product of all elements, `a` conjugated: ``sum conj(a) * b``.

    Args:
        a: array, flattened.
        b: array with as many elements, flattened.
        precision: None, a `lax.Precision` or its name, a pair, or a dot algorithm.
        preferred_element_type: dtype to sum in and to return; None is the common dtype.

    Returns:
        Array of rank 0. ``vdot(a, a)`` is the sum of ``abs(a)**2``.

    Raises:
        ShapeError: different numbers of elements.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.vdot(np.array([1j, 2]), np.array([1j, 2])))
        (5+0j)
    """
    x, y = operands("vdot", a, b)
    x = reshape_to(conjugated(x), (type_of(x).size,))
    y = reshape_to(y, (type_of(y).size,))
    return _over("vdot", x, y, 0, 0, precision, preferred_element_type)


@library(arrays=2)
def tensordot(
    a: Any,
    b: Any,
    axes: Any = 2,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Product summed over several axes.

    Args:
        a: array of any shape.
        b: array of any shape.
        axes: int n, the last n axes of `a` and the first n of `b`; or a pair of ints or sequences:
            the axes of `a` and those of `b` that go with them.
        precision: None, a `lax.Precision` or its name, a pair, or a dot algorithm.
        preferred_element_type: dtype to sum in and to return; None is the common dtype.
        out_sharding: sharding of the result, on Explicit mesh axes.

    Returns:
        Array with the other axes of `a`, then those of `b`.

    Raises:
        ShapeError: summed sizes differ.

    Example:
        >>> import numlift.numpy as np
        >>> np.tensordot(np.ones((2, 3, 4)), np.ones((4, 3)), axes=((1, 2), (1, 0))).shape
        (2,)
    """
    x, y = operands("tensordot", a, b)
    t, u = type_of(x), type_of(y)
    i, j = _summed_axes(axes, t, u)
    if len(i) != len(j) or any(t.shape[p] != u.shape[q] for p, q in zip(i, j, strict=True)):
        raise errors.ShapeError(
            errors.explain(
                "tensordot",
                f"axes {i} of a and {j} of b must be equally many, of equal sizes",
                {"a": t, "b": u, "axes": axes},
            )
        )
    if out_sharding is not None:
        out_sharding = as_sharding(out_sharding, (x, y), "tensordot")
    preferred = asked_dtype("tensordot", preferred_element_type)
    return contract(x, y, (i, j, (), ()), precision, preferred, out_sharding)


def _summed_axes(axes: Any, t: ArrayType, u: ArrayType) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if not isinstance(axes, (tuple, list, np.ndarray)):
        n = static_int("tensordot", "axes", axes)
        if not 0 <= n <= min(t.ndim, u.ndim):
            raise errors.ValueArgumentError(
                errors.explain(
                    "tensordot", f"axes={n} is more than the axes of an operand, or negative",
                    {"a": t, "b": u},
                )
            )  # fmt: skip
        return tuple(range(t.ndim - n, t.ndim)), tuple(range(n))
    if len(axes) != 2:
        raise errors.ValueArgumentError(
            errors.explain("tensordot", "axes must be an int or a pair", {"axes": axes})
        )
    first, second = (a if isinstance(a, (tuple, list, np.ndarray)) else (a,) for a in axes)
    return check_axes("tensordot", tuple(first), t.ndim), check_axes(
        "tensordot", tuple(second), u.ndim
    )


__all__ = [
    "dot",
    "inner",
    "matmul",
    "matvec",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]
