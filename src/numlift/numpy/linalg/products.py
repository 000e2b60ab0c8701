"""Products under the names of the array API standard; chains and powers of matrices."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ... import errors
from ...api.library import library
from ...core.tracing import apply, type_of
from ...lax.arguments import static_int
from ...structural.arith import convert
from ...structural.shape import Broadcast
from .. import diagonals, outer_products, products
from ..diagonals import eye
from ..elementwise import no_out
from ..products import matmul as _matmul
from ..util import as_value, check_axis, promote
from .solving import inv


def matmul(
    x1: Any, x2: Any, /, *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """Matrix products over the last two axes: `numpy.matmul` by its name in the array API standard.

    Args:
        x1: (..., m, k), or a vector (k,).
        x2: (..., k, n), or a vector (k,); batch axes broadcast.
        precision: how exact the multiplication must be where hardware offers several ways.
        preferred_element_type: dtype to sum in and to return.

    Returns:
        (..., m, n), without the axes that vectors lack. Linear in both operands.

    Raises:
        ShapeError: sizes do not agree, or an operand has no axes.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.matmul(np.array([[1, 2], [3, 4]]), np.array([1, 10])))
        [21 43]
    """
    return _matmul(x1, x2, precision=precision, preferred_element_type=preferred_element_type)


def vecdot(
    x1: Any,
    x2: Any,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Scalar products of vectors along an axis: ``sum(conj(x1) * x2, axis)``.

    Args:
        x1: array of vectors, which are conjugated.
        x2: array of vectors; the other axes broadcast.
        axis: axis of the vectors, counted from the end of each operand.
        precision: how exact the multiplication must be where hardware offers several ways.
        preferred_element_type: dtype to sum in and to return.

    Returns:
        Array of the broadcast shape without `axis`. Linear in `x2`, and in the conjugate of `x1`.

    Raises:
        ShapeError: sizes do not agree.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.vecdot(np.array([1j, 2]), np.array([1j, 2])))
        (5+0j)
    """
    return products.vecdot(
        x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type
    )


def tensordot(
    x1: Any,
    x2: Any,
    /,
    *,
    axes: Any = 2,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Product summed over several axes of both operands.

    Args:
        x1: array.
        x2: array.
        axes: an int n (the last n axes of `x1` with the first n of `x2`), or a pair of sequences of
            axes that are summed together.
        precision: how exact the multiplication must be where hardware offers several ways.
        preferred_element_type: dtype to sum in and to return.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array with the other axes of `x1`, then those of `x2`. Linear in both operands.

    Raises:
        ShapeError: sizes do not agree.

    Example:
        >>> import numlift.numpy as np
        >>> np.linalg.tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
        (2, 4)
        >>> np.linalg.tensordot(np.ones((2, 3, 5)), np.ones((5, 4, 2)), axes=([0, 2], [2, 0])).shape
        (3, 4)
    """
    return products.tensordot(
        x1,
        x2,
        axes,
        precision=precision,
        preferred_element_type=preferred_element_type,
        out_sharding=out_sharding,
    )


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross products of vectors of three components along an axis.

    Args:
        x1: array of vectors.
        x2: array of vectors; the other axes broadcast.
        axis: axis of the components.

    Returns:
        Array of the broadcast shape: vectors at right angles to both. Linear in both operands.

    Raises:
        ShapeError: other numbers of components.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.cross(np.array([1, 0, 0]), np.array([0, 1, 0])))
        [0 0 1]
    """
    sides = [as_value(x, "cross", name) for x, name in ((x1, "x1"), (x2, "x2"))]
    for x, name in zip(sides, ("x1", "x2"), strict=True):
        t = type_of(x)
        if t.shape[check_axis("cross", axis, t.ndim)] != 3:
            raise errors.ShapeError(
                errors.explain(
                    "linalg.cross",
                    "vectors must have three components",
                    {name: t},
                    try_="np.cross, which also takes two",
                )
            )
    return outer_products.cross(*sides, axis=axis)


def outer(x1: Any, x2: Any, /) -> Any:
    """All products of elements of two vectors: ``out[i, j] = x1[i] * x2[j]``.

    Args:
        x1: vector (m,).
        x2: vector (n,).

    Returns:
        (m, n) of the promoted dtype. Linear in both operands.

    Raises:
        ShapeError: not vectors; `numpy.outer` flattens others.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.outer(np.array([1, 2]), np.array([3, 4, 5])))
        [[ 3  4  5]
         [ 6  8 10]]
    """
    x, y = as_value(x1, "outer", "x1"), as_value(x2, "outer", "x2")
    if type_of(x).ndim != 1 or type_of(y).ndim != 1:
        raise errors.ShapeError(
            errors.explain(
                "linalg.outer",
                "operands must be vectors",
                {"x1": type_of(x), "x2": type_of(y)},
                try_="np.outer, which flattens its operands",
            )
        )
    return outer_products.outer(x, y)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Diagonals of the matrices in the last two axes.

    Args:
        x: (..., m, n).
        offset: which diagonal: 0 the main one, positive ones above it, negative ones below.

    Returns:
        (..., k), where k is the length of the diagonal; 0 outside the matrix.

    Raises:
        ShapeError: fewer than two axes.

    Differences from NumPy's `numpy.diagonal`: the last two axes, not the first two.

    Example:
        >>> import numlift.numpy as np
        >>> a = np.array([[1, 2], [3, 4]])
        >>> print(np.linalg.diagonal(a), np.linalg.diagonal(a, offset=1))
        [1 4] [2]
    """
    return diagonals.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sums of the diagonals of the matrices in the last two axes.

    Args:
        x: (..., m, n).
        offset: which diagonal: 0 the main one, positive ones above it, negative ones below.
        dtype: dtype to sum in and to return; by default that of `x`, the default integer for
            smaller ones.

    Returns:
        (...). Linear.

    Raises:
        ShapeError: fewer than two axes.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.trace(np.array([[1, 2], [3, 4]])))
        5
    """
    return diagonals.trace(x, offset, -2, -1, dtype)


@lru_cache(maxsize=256)
def _splits(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Where to split each part of a chain of matrices with the fewest multiplications."""
    n = len(sizes) - 1
    cost = dict.fromkeys([(i, i) for i in range(n)], 0)
    best: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i, j], best[i, j] = min(options)
    return best


@library()
def multi_dot(arrays: Any, *, out: None = None, precision: Any = None) -> Any:
    """Product of a chain of matrices, in the order with the fewest multiplications.

    Args:
        arrays: at least two matrices; the first and the last may be vectors.
        out: must be None.
        precision: how exact the multiplications must be where hardware offers several ways.

    Returns:
        (m, n) for a first matrix with m rows and a last one with n columns; vectors leave their
        axis out. Linear in every factor.

    Raises:
        ValueArgumentError: fewer than two.  ShapeError: other ranks, or sizes that do not agree.

    Example:
        >>> import numlift.numpy as np
        >>> a, b, c = np.ones((2, 9)), np.ones((9, 9)), np.ones(9)
        >>> print(np.linalg.multi_dot([a, b, c]))
        [81. 81.]
    """
    no_out("linalg.multi_dot", out)
    if len(arrays) < 2:
        raise errors.ValueArgumentError(
            errors.explain("multi_dot", f"at least two arrays are needed, not {len(arrays)}")
        )
    xs = promote(*[as_value(x, "multi_dot", "arrays") for x in arrays])
    types = [type_of(x) for x in xs]
    for i, t in enumerate(types):
        if t.ndim != 2 and not (t.ndim == 1 and i in (0, len(xs) - 1)):
            raise errors.ShapeError(
                errors.explain(
                    "multi_dot",
                    "arrays must be matrices (the first and the last may be vectors)",
                    {f"arrays[{i}]": t},
                )
            )
    first = 1 if types[0].ndim == 1 else types[0].shape[0]
    last = 1 if types[-1].ndim == 1 else types[-1].shape[1]
    best = _splits((first, *[t.shape[0] for t in types[1:]], last))

    def product(i: int, j: int) -> Any:
        if i == j:
            return xs[i]
        k = best[i, j]
        return _matmul(product(i, k), product(k + 1, j), precision=precision)

    return product(0, len(xs) - 1)


@library()
def matrix_power(a: Any, n: int) -> Any:
    """Product of `n` copies of each square matrix, by repeated squaring.

    Args:
        a: (..., m, m).
        n: int, known while tracing; 0 gives identity matrices, negative numbers powers of the
            inverse.

    Returns:
        (..., m, m) of the dtype of `a`; floats for negative `n`, with inf or nan where a matrix is
        singular.

    Raises:
        LinAlgError: not square.  ArgumentError: `n` is no int.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.linalg.matrix_power(np.array([[1, 1], [0, 1]]), 3))
        [[1 3]
         [0 1]]
    """
    x = as_value(a, "matrix_power")
    t = type_of(x)
    n = static_int("matrix_power", "n", n)
    if t.ndim < 2 or t.shape[-1] != t.shape[-2]:
        raise errors.LinAlgError(
            errors.explain("matrix_power", "the last two axes must be of equal size", {"a": t})
        )
    if n < 0:
        x, n = inv(x), -n
    if n == 0:
        one = convert(eye(t.shape[-1], dtype=t.dtype), t.dtype)
        return apply(Broadcast.of(t.shape, (t.ndim - 2, t.ndim - 1), None), one)
    out = None
    while n:
        if n & 1:
            out = x if out is None else _matmul(out, x)
        n >>= 1
        if n:
            x = _matmul(x, x)
    return out
