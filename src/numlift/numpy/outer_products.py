"""Products element by element: outer, kron, cross."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..api.library import library
from ..core.tracing import apply, type_of
from ..ops.shape import Concatenate
from ..structural.arith import mul, sub
from .elementwise import no_out
from .pieces import binary, moved, part, reshape_to
from .products import operands
from .util import check_axis


@library(arrays=2)
def outer(a: Any, b: Any, out: None = None) -> Any:
    """All products of two elements: ``out[i, j] = a[i] * b[j]``.

    Args:
        a: array, flattened; n elements.
        b: array, flattened; m elements. Nothing is conjugated.
        out: must be None: arrays are immutable.

    Returns:
        Array of shape (n, m), in the common dtype.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.outer(np.array([1, 2]), np.array([3, 4])))
        [[3 4]
         [6 8]]
    """
    no_out("outer", out)
    x, y = operands("outer", a, b)
    x, y = reshape_to(x, (type_of(x).size, 1)), reshape_to(y, (1, type_of(y).size))
    return binary(mul, "outer", x, y)


@library(arrays=2)
def kron(a: Any, b: Any) -> Any:
    """Kronecker product: every element of `a` times all of `b`.

    ``out[i * r + k, j * s + l] = a[i, j] * b[k, l]`` for matrices, `b` of shape (r, s).

    Args:
        a: array of any shape.
        b: array of any shape; missing leading axes of either have size 1.

    Returns:
        Array of the common dtype, whose sizes are the products of the sizes of `a` and `b`.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.kron(np.array([1, 10]), np.array([1, 2])))
        [ 1  2 10 20]
        >>> print(np.kron(np.eye(2, dtype=int), np.array([[1, 2]])))
        [[1 2 0 0]
         [0 0 1 2]]
    """
    x, y = operands("kron", a, b)
    t, u = type_of(x), type_of(y)
    rank = max(t.ndim, u.ndim)
    s, r = (1,) * (rank - t.ndim) + t.shape, (1,) * (rank - u.ndim) + u.shape
    x = reshape_to(x, tuple(n for i in s for n in (i, 1)))
    y = reshape_to(y, tuple(n for i in r for n in (1, i)))
    return reshape_to(binary(mul, "kron", x, y), tuple(i * j for i, j in zip(s, r, strict=True)))


@library(arrays=2)
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Cross products of vectors of two or three components along an axis.

    ``(a[1]b[2] - a[2]b[1], a[2]b[0] - a[0]b[2], a[0]b[1] - a[1]b[0])``; two components have a zero
    third one, and of two such vectors only the third component is returned.

    Args:
        a: array with an axis of size 2 or 3.
        b: array with an axis of size 2 or 3; its other axes are broadcast with those of `a`.
        axisa: int, the axis of the vectors in `a`.
        axisb: int, the axis of the vectors in `b`.
        axisc: int, the axis of the vectors in the result, if it has one.
        axis: int, replaces all three; None leaves them.

    Returns:
        Array of the broadcast shape and common dtype, with vectors of three components, or without
        the axis if both operands have two.

    Raises:
        ShapeError: vectors of other sizes.  AxisError: an axis is out of range.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.cross(np.array([1, 0, 0]), np.array([0, 1, 0])))
        [0 0 1]
        >>> print(np.cross(np.array([1, 2]), np.array([3, 4])))
        -2
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = operands("cross", a, b)
    t, u = type_of(x), type_of(y)
    x = moved(x, check_axis("cross", axisa, t.ndim, "axisa"), t.ndim - 1)
    y = moved(y, check_axis("cross", axisb, u.ndim, "axisb"), u.ndim - 1)
    n, m = type_of(x).shape[-1], type_of(y).shape[-1]
    if n not in (2, 3) or m not in (2, 3):
        raise errors.ShapeError(
            errors.explain(
                "cross", f"vectors must have 2 or 3 components, not {n} and {m}", {"a": t, "b": u}
            )
        )
    p, q = _components(x), _components(y)
    third = _difference(p[0], q[1], p[1], q[0])
    if n == m == 2:
        return third
    zero = type_of(x).dtype.type(0)
    p, q = (p + [zero])[:3], (q + [zero])[:3]
    rows = [_difference(p[1], q[2], p[2], q[1]), _difference(p[2], q[0], p[0], q[2]), third]
    shape = type_of(third).shape
    rows = [reshape_to(r, (*shape, 1)) for r in rows]
    from_last = len(shape)
    return moved(
        apply(Concatenate.of(from_last), *rows),
        from_last,
        check_axis("cross", axisc, from_last + 1, "axisc"),
    )


def _components(x: Any) -> list[Any]:
    shape = type_of(x).shape
    last = len(shape) - 1
    return [reshape_to(part(x, last, i, i + 1), shape[:-1]) for i in range(shape[-1])]


def _difference(p: Any, q: Any, r: Any, s: Any) -> Any:
    """p * q - r * s."""
    return apply(sub, binary(mul, "cross", p, q), binary(mul, "cross", r, s))


__all__ = ["cross", "kron", "outer"]
