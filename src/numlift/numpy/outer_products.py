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
    """All products of two elements: ``out[i, j] = a[i] * b[j]``; operands are flattened.

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

    Example:
        >>> import numlift.numpy as np
        >>> print(np.kron(np.array([1, 10]), np.array([1, 2])))
        [ 1  2 10 20]
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

    Args:
        a, b: arrays; other axes are broadcast. Two components have a zero third one.
        axisa, axisb: the axis of the vectors in each operand.
        axisc: the axis of the vectors in the result (which has none if all have two components).
        axis: replaces all three.

    Raises:
        ShapeError: vectors of other sizes.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.cross(np.array([1, 0, 0]), np.array([0, 1, 0])))
        [0 0 1]
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
