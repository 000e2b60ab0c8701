"""Where elements are: nonzero, argwhere, flatnonzero, extract, compress.

The number of such elements is not known while tracing. Outside of jit they are found on the host;
inside, `size=` says how many to return.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .. import errors
from ..api.library import library
from ..core.tracing import Tracer, apply, type_of
from ..ops.compare import lt
from ..ops.cumulative import CumSum
from ..ops.elementwise_binary import div, rem
from ..ops.shape import Concatenate, Iota
from ..runtime.host_memory import presentable
from ..runtime.transfer import as_array
from ..structural.arith import convert, select
from ..structural.shape import ReduceSum, reshape
from .binary_search import insertion_points
from .elementwise import no_out
from .logic import truth
from .pieces import take, take_static
from .reducing import as_dtype, constant, flat, int_dtype
from .util import as_value, broadcast_to_shape, check_axis


def known(function: str, x: Any, argument: str) -> np.ndarray:
    """`x` as a NumPy array, because the shape of the result depends on its values."""
    found = x.concrete() if isinstance(x, Tracer) else x
    if found is None or isinstance(found, Tracer):
        raise errors.ConcretizationTypeError(
            errors.explain(
                function,
                f"the shape of the result depends on the values of {argument}, which are not "
                "known while tracing",
                {argument: type_of(x)},
                try_=f"{function}(..., size=n): it returns exactly n, padded with fill_value",
            )
        )
    return np.asarray(found)


def handed(value: np.ndarray, dtype: np.dtype[Any] | None = None) -> Any:
    """A NumPy array that nobody else uses as an array, converted to `dtype`."""
    dtype = value.dtype if dtype is None else dtype
    return as_array(presentable(value, dtype), may_alias=True)


def static_size(function: str, size: Any) -> int:
    """The `size` argument as an int."""
    try:
        n = operator.index(size)
    except TypeError:
        n = -1
    if n < 0:
        raise errors.ValueArgumentError(
            errors.explain(function, "size must be a non-negative int", {"size": size})
        )
    return n


def first_true(mask: Any, size: int) -> tuple[Any, Any]:
    """Positions of the first `size` True elements of a vector, and how many there are.

    Positions that do not exist are the length of the vector.
    """
    dtype = int_dtype()
    n = type_of(mask).shape[0]
    if n == 0:
        return constant((size,), dtype, 0), constant((), dtype, 0)
    counts = apply(CumSum.of(0, False), convert(mask, dtype))
    wanted = apply(Iota.of(dtype, (size,), 0, None))
    places = insertion_points(counts, wanted, "right")
    return convert(places, dtype), apply(ReduceSum.of((0,)), convert(mask, dtype))


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Any, ...]:
    """Indices of the elements that are not zero, in row-major order; NaN is not zero.

    ``a[nonzero(a)]`` are these elements.

    Args:
        a: array with at least one axis, any dtype.
        size: int, how many to return; needed under jit. None is all of them.
        fill_value: index (or one an axis) that pads the result up to `size`; None is 0.

    Returns:
        Tuple of ``a.ndim`` vectors, one an axis, in int32 (int64 with x64 on).

    Raises:
        ConcretizationTypeError: traced, and no size.  ShapeError: rank 0.
        ValueArgumentError: another number of indices in `fill_value` than of axes.

    Example:
        >>> import numlift.numpy as np
        >>> rows, columns = np.nonzero(np.asarray([[0, 3], [4, 0]]))
        >>> print(rows, columns)
        [0 1] [1 0]
    """
    x = as_value(a, "nonzero")
    if type_of(x).ndim == 0:
        raise errors.ShapeError(
            errors.explain(
                "nonzero", "a scalar has no axis along which to point", {"a": type_of(x)},
                try_="np.atleast_1d(a)",
            )
        )  # fmt: skip
    if size is None:
        dtype = int_dtype()
        found = np.nonzero(known("nonzero", x, "a"))
        return tuple(handed(i, dtype) for i in found)
    ndim = type_of(x).ndim
    many = isinstance(fill_value, (tuple, list)) or getattr(fill_value, "ndim", 0) > 0
    fills = tuple(fill_value) if many else (0 if fill_value is None else fill_value,) * ndim
    if len(fills) != ndim:
        raise errors.ValueArgumentError(
            errors.explain(
                "nonzero", f"fill_value needs one index for each of {ndim} axes",
                {"fill_value": fill_value},
            )
        )  # fmt: skip
    return tuple(_nonzero(x, fills, static_size("nonzero", size)))


@library(2)
def _nonzero(x: Any, fills: Any, size: int) -> list[Any]:
    shape, dtype = type_of(x).shape, int_dtype()
    places, count = first_true(flat(truth(x, "nonzero", "a")), size)
    real = apply(lt, apply(Iota.of(dtype, (size,), 0, None)), count)
    found = []
    for i, n in enumerate(shape):
        step = math.prod(shape[i + 1 :])
        index = places if step in (0, 1) else apply(div, places, dtype.type(step))
        index = apply(rem, index, dtype.type(n)) if n and i else index
        fill = as_dtype(as_value(fills[i], "nonzero", "fill_value"), dtype)
        found.append(apply(select, real, broadcast_to_shape(fill, (size,)), index))
    return found


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Indices in the flattened array of the elements that are not zero; NaN is not zero.

    Args:
        a: array of any shape and dtype.
        size: int, how many to return; needed under jit. None is all of them.
        fill_value: index that pads the result up to `size`; None is 0.

    Returns:
        Vector of int32 (int64 with x64 on), ascending.

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.flatnonzero(np.asarray([[0, 3], [0, 4]])))
        [1 3]
        >>> print(np.flatnonzero(np.asarray([0, 3]), size=3, fill_value=-1))
        [ 1 -1 -1]
    """
    return nonzero(flat(as_value(a, "flatnonzero")), size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Index vectors of the elements that are not zero (NaN is not), one a row, in row-major order.

    Args:
        a: array of any shape and dtype.
        size: int, how many to return; needed under jit. None is all of them.
        fill_value: index (or one an axis) that pads the result up to `size`; None is 0.

    Returns:
        int32 array (int64 with x64 on) of shape ``(count, a.ndim)``.

    Raises:
        ConcretizationTypeError: traced, and no size.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.argwhere(np.asarray([[0, 3], [0, 4]])))
        [[0 1]
         [1 1]]
    """
    x = as_value(a, "argwhere")
    if type_of(x).ndim == 0:
        count = size
        if count is None:
            count = int(known("argwhere", x, "a") != 0)
        return constant((static_size("argwhere", count), 0), int_dtype(), 0)
    found = nonzero(x, size=size, fill_value=fill_value)
    return apply(Concatenate.of(1), *[reshape(i, (type_of(i).size, 1)) for i in found])


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """Elements of the flattened array where a condition holds: ``ravel(arr)[ravel(condition)]``.

    Args:
        condition: array of bools, or of numbers that count as true unless 0.
        arr: array of the same size.
        size: int, how many to return; needed under jit. None is all of them.
        fill_value: number that pads the result up to `size`.

    Returns:
        Vector of the dtype of `arr`. The derivative goes to the elements that were taken.

    Raises:
        ConcretizationTypeError: the condition is traced, and no size.
        IndexingError: the condition holds beyond the end of `arr`.

    Example:
        >>> import numlift.numpy as np
        >>> x = np.asarray([[1, 2], [3, 4]])
        >>> print(np.extract(x > 1, x))
        [2 3 4]
    """
    return compress(
        flat(as_value(condition, "extract", "condition")),
        flat(as_value(arr, "extract", "arr")),
        size=size,
        fill_value=fill_value,
    )


def compress(
    condition: Any,
    a: Any,
    axis: Any = None,
    out: None = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
) -> Any:
    """Slices of an array along an axis where a condition holds.

    Args:
        condition: vector of bools, not longer than the axis (what is missing counts as False).
        a: array of any shape and dtype.
        axis: int; None uses the flattened array.
        out: must be None: arrays are immutable.
        size: int, how many slices to return; needed under jit. None is all of them.
        fill_value: number that pads the result up to `size`.

    Returns:
        Array of the dtype of `a`, shorter along the axis. The derivative goes to the slices that
        were taken.

    Raises:
        ConcretizationTypeError: the condition is traced, and no size.
        ShapeError: the condition is no vector.
        IndexingError: the condition holds beyond the end of the axis.

    Example:
        >>> import numlift.numpy as np
        >>> print(np.compress(np.asarray([False, True]), np.asarray([[1, 2], [3, 4]]), axis=0))
        [[3 4]]
    """
    no_out("compress", out)
    mask, x = as_value(condition, "compress", "condition"), as_value(a, "compress")
    if type_of(mask).ndim != 1:
        raise errors.ShapeError(
            errors.explain("compress", "condition must have one axis", {"condition": type_of(mask)})
        )
    if axis is None:
        x, axis = flat(x), 0
    axis = check_axis("compress", axis, type_of(x).ndim)
    n = type_of(x).shape[axis]
    if size is None:
        places = np.flatnonzero(known("compress", mask, "condition"))
        if places.size and places[-1] >= n:
            raise errors.IndexingError(
                errors.explain(
                    "compress",
                    f"the condition holds at {places[-1]}, beyond the {n} elements of axis {axis}",
                    {"condition": type_of(mask), "a": type_of(x)},
                )
            )
        return take_static(x, places, axis)
    return _compress(mask, x, fill_value, axis, static_size("compress", size))


@library(3)
def _compress(mask: Any, x: Any, fill: Any, axis: int, size: int) -> Any:
    t = type_of(x)
    places, count = first_true(truth(mask, "compress", "condition"), size)
    dtype = type_of(places).dtype
    real = apply(lt, apply(Iota.of(dtype, (size,), 0, None)), count)
    places = apply(select, real, dtype.type(0), places)
    fill = as_dtype(as_value(fill, "compress", "fill_value"), t.dtype)
    shape = (*t.shape[:axis], size, *t.shape[axis + 1 :])
    if not t.shape[axis]:
        return broadcast_to_shape(fill, shape)
    column = reshape(real, tuple(size if i == axis else 1 for i in range(t.ndim)))
    return apply(
        select,
        broadcast_to_shape(column, shape),
        broadcast_to_shape(fill, shape),
        take(x, places, axis),
    )


__all__ = ["argwhere", "compress", "extract", "flatnonzero", "nonzero"]
