"""Arrays taken apart: split, array_split, hsplit, vsplit, dsplit."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..core.tracing import apply, type_of
from ..lax.arguments import static_int
from ..ops.shape import Split
from .pieces import concrete_array, part, reshape_to
from .util import as_value, check_axis


@explains
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Pieces of an array along an axis, whose sizes may differ by one.

    Args:
        ary: array with at least one axis, any dtype.
        indices_or_sections: int n, the number of pieces, of which the first ones are the longer
            ones; or ints, the positions at which to cut. Not traced.
        axis: int, the axis to cut along.

    Returns:
        List of arrays. Derivatives are joined.

    Raises:
        ValueArgumentError: fewer than one piece.  AxisError: the axis is out of range.

    Differences from NumPy: the pieces are arrays of their own, not views.

    Example:
        >>> import numlift.numpy as np
        >>> [p.shape for p in np.array_split(np.arange(5), 2)]
        [(3,), (2,)]
    """
    return _split("array_split", ary, indices_or_sections, axis)


@explains
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Pieces of an array along an axis, of equal size or cut at given positions.

    Args:
        ary: array.
        indices_or_sections: int, the number of equal pieces; or the positions at which to cut.
        axis: the axis to cut along.

    Returns:
        List of arrays. Derivatives are joined.

    Raises:
        ValueArgumentError: the size is no multiple of the number of pieces.

    Example:
        >>> import numlift.numpy as np
        >>> [print(p) for p in np.split(np.arange(4), [1, 3])] and None
        [0]
        [1 2]
        [3]
    """
    return _split("split", ary, indices_or_sections, axis)


@explains
def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Pieces of an array along axis 1, or along axis 0 for vectors: the inverse of `hstack`.

    Args:
        ary: array with at least one axis, any dtype.
        indices_or_sections: int, the number of equal pieces; or ints, the positions at which to
            cut.

    Returns:
        List of arrays. Derivatives are joined.

    Raises:
        ShapeError: rank 0.  ValueArgumentError: the size is no multiple of the number of pieces.

    Example:
        >>> import numlift.numpy as np
        >>> [p.shape for p in np.hsplit(np.zeros((2, 4)), [1])]
        [(2, 1), (2, 3)]
    """
    x = _of_rank("hsplit", ary, 1)
    return _split("hsplit", x, indices_or_sections, 0 if type_of(x).ndim == 1 else 1)


@explains
def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Pieces of an array along axis 0, for at least two axes: the inverse of `vstack`.

    Args:
        ary: array with at least two axes, any dtype.
        indices_or_sections: int, the number of equal pieces; or ints, the positions at which to
            cut.

    Returns:
        List of arrays. Derivatives are joined.

    Raises:
        ShapeError: fewer than two axes.
        ValueArgumentError: the size is no multiple of the number of pieces.

    Example:
        >>> import numlift.numpy as np
        >>> [p.shape for p in np.vsplit(np.zeros((2, 4)), 2)]
        [(1, 4), (1, 4)]
    """
    return _split("vsplit", _of_rank("vsplit", ary, 2), indices_or_sections, 0)


@explains
def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Pieces of an array along axis 2, for at least three axes: the inverse of `dstack`.

    Args:
        ary: array with at least three axes, any dtype.
        indices_or_sections: int, the number of equal pieces; or ints, the positions at which to
            cut.

    Returns:
        List of arrays. Derivatives are joined.

    Raises:
        ShapeError: fewer than three axes.
        ValueArgumentError: the size is no multiple of the number of pieces.

    Example:
        >>> import numlift.numpy as np
        >>> [p.shape for p in np.dsplit(np.zeros((1, 2, 4)), 2)]
        [(1, 2, 2), (1, 2, 2)]
    """
    return _split("dsplit", _of_rank("dsplit", ary, 3), indices_or_sections, 2)


def _of_rank(function: str, ary: Any, rank: int) -> Any:
    x = as_value(ary, function, "ary")
    if type_of(x).ndim < rank:
        raise errors.ShapeError(
            errors.explain(function, f"ary needs at least {rank} axes", {"ary": type_of(x)})
        )
    return x


def _split(function: str, ary: Any, where: Any, axis: int) -> list[Any]:
    x = as_value(ary, function, "ary")
    t = type_of(x)
    axis = check_axis(function, axis, t.ndim)
    n = t.shape[axis]
    if not isinstance(where, (int, np.integer)):
        why = "it gives the shapes of the pieces"
        if isinstance(where, (tuple, list)):
            where = [concrete_array(function, w, "indices_or_sections", why) for w in where]
        where = concrete_array(function, where, "indices_or_sections", why)
    if np.ndim(where) == 0:
        sizes = _sections(function, n, static_int(function, "indices_or_sections", where), t)
        return apply(Split.of(sizes, axis), x)
    ends = [slice(None, int(w)).indices(n)[1] for w in where]
    return _cut(x, axis, tuple(zip([0, *ends], [*ends, n], strict=True)))


@library(1)
def _cut(x: Any, axis: int, places: tuple[tuple[int, int], ...]) -> list[Any]:
    """The parts from start to stop along an axis; empty where stop is not behind start."""
    shape = type_of(x).shape
    pieces = []
    for start, stop in places:
        stop = max(start, stop)
        size = (*shape[:axis], stop - start, *shape[axis + 1 :])
        pieces.append(reshape_to(part(x, axis, start, stop), size))
    return pieces


def _sections(function: str, n: int, count: int, t: Any) -> tuple[int, ...]:
    if count < 1:
        raise errors.ValueArgumentError(
            errors.explain(function, f"the number of pieces must be positive, not {count}")
        )
    each, more = divmod(n, count)
    if more and function != "array_split":
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                f"size {n} cannot be divided into {count} equal pieces",
                {"ary": t},
                try_="np.array_split, whose pieces may differ by one",
            )
        )
    return (each + 1,) * more + (each,) * (count - more)


__all__ = ["array_split", "dsplit", "hsplit", "split", "vsplit"]
