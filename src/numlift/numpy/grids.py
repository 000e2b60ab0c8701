"""Grids of coordinates: meshgrid, mgrid, ogrid, indices, fromfunction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..api.bad_calls import explains
from ..api.library import library
from ..api.vmap import vmap
from ..core.dtypes import user_dtype
from ..core.tracing import apply, type_of
from ..runtime.transfer import as_array
from ..structural.shape import Broadcast, reshape
from .creation import array, unused
from .filling import shape_of
from .joining import stack
from .ranges import arange
from .util import as_value


@explains
def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Any, ...]:
    """Coordinate arrays of a grid from one vector an axis.

    Args:
        *xi: n vectors, or numbers, which count as vectors of one element.
        copy: must be True: arrays share no memory here.
        sparse: keep axes of length 1, to be broadcast.
        indexing: "xy": the first vector runs along axis 1 and the second along axis 0, as in plots;
            "ij": vector i runs along axis i, as in matrices.

    Returns:
        Tuple of n arrays with n axes, each of the dtype of its vector: array i repeats `xi[i]` over
        the other axes.

    Raises:
        ShapeError: an argument has more than one axis.  ValueArgumentError: unknown `indexing`, or
        `copy` is not True.

    Differences from NumPy: arguments with more axes are not flattened.

    Example:
        >>> import numlift.numpy as np
        >>> x, y = np.meshgrid(np.asarray([1, 2, 3]), np.asarray([10, 20]))
        >>> x + y
        Array([[11, 12, 13],
               [21, 22, 23]], dtype=int32)
    """
    if not copy:
        raise errors.ValueArgumentError(
            errors.explain("meshgrid", "copy must be True", try_="leave copy out")
        )
    if indexing not in ("xy", "ij"):
        raise errors.ValueArgumentError(
            errors.explain(
                "meshgrid", f"indexing must be 'xy' or 'ij', not {indexing!r}", try_="indexing='ij'"
            )
        )
    vectors = [as_value(x, "meshgrid", f"x{i}") for i, x in enumerate(xi)]
    sizes = []
    for i, x in enumerate(vectors):
        if type_of(x).ndim > 1:
            raise errors.ShapeError(
                errors.explain(
                    "meshgrid", "arguments must be vectors", {f"x{i}": type_of(x)},
                    try_="x.ravel()",
                )
            )  # fmt: skip
        sizes.append(type_of(x).size)
    order = list(range(len(sizes)))
    if indexing == "xy" and len(sizes) > 1:
        order[:2] = [1, 0]
    full = tuple(sizes[i] for i in order)
    result = []
    for i, x in enumerate(vectors):
        axis = order.index(i)
        shape = (
            full if not sparse else tuple(sizes[i] if j == axis else 1 for j in range(len(full)))
        )
        vector = reshape(x, (sizes[i],)) if type_of(x).ndim == 0 else x
        result.append(apply(Broadcast.of(shape, (axis,), None), vector))
    return tuple(result)


class _Grid:
    """Base of `mgrid` and `ogrid`."""

    def __init__(self, grid: Any, name: str, doc: str):
        self._grid, self.__name__, self.__doc__ = grid, name, doc

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        for s in slices:
            if not isinstance(s, slice):
                raise errors.ArgumentError(
                    errors.explain(self.__name__, "takes slices only", {"key": key},
                                   try_=f"np.{self.__name__}[0:3, 0:4]")
                )  # fmt: skip
        found = self._grid[key]
        if isinstance(found, (tuple, list)):
            return [as_array(x, explicit=True) for x in found]
        return as_array(found, explicit=True)

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


mgrid = _Grid(
    np.mgrid, "mgrid", "Dense grid: ``mgrid[0:3, 0:1:5j]``; an imaginary step counts samples."
)
ogrid = _Grid(np.ogrid, "ogrid", "Open grid: as `mgrid`, with axes of length 1 to be broadcast.")


@explains
def indices(dimensions: Any, dtype: Any = None, sparse: bool = False) -> Any:
    """Row, column, ... numbers of every element of an array.

    Args:
        dimensions: shape of the array: an int or n ints.
        dtype: dtype of the result, by default the default integer.
        sparse: keep axes of length 1, to be broadcast.

    Returns:
        Array of shape ``(n, *dimensions)``: element ``[k, i_0, ..., i_{n-1}]`` is ``i_k``. With
        `sparse` a tuple of n arrays.

    Raises:
        ArgumentError: `dimensions` does not hold integers.  ShapeError: one is negative.

    Example:
        >>> import numlift.numpy as np
        >>> rows, columns = np.indices((2, 3))
        >>> 10 * rows + columns
        Array([[ 0,  1,  2],
               [10, 11, 12]], dtype=int32)
    """
    shape = shape_of("indices", dimensions)
    wanted = user_dtype(int if dtype is None else dtype, "indices", False)
    if not shape:
        return () if sparse else array(np.empty((0,), wanted))
    return _numbers(shape, wanted, bool(sparse))


@library(0)
def _numbers(shape: tuple[int, ...], dtype: Any, sparse: bool) -> Any:
    """The numbers along each axis of an array."""
    found = []
    for axis, n in enumerate(shape):
        full = shape if not sparse else tuple(n if j == axis else 1 for j in range(len(shape)))
        found.append(apply(Broadcast.of(full, (axis,), None), arange(n, dtype=dtype)))
    return tuple(found) if sparse else stack(found)


@explains
def fromfunction(
    function: Callable[..., Any],
    shape: Any,
    *,
    dtype: Any = float,
    like: None = None,
    **kwargs: Any,
) -> Any:
    """The array with ``function(i, j, ...)`` as element [i, j, ...].

    Args:
        function: takes one coordinate an axis. It is mapped over the grid with `vmap`, so it sees
            numbers, and may return trees of arrays.
        shape: an int or a sequence of ints: the shape of the grid.
        dtype: dtype of the coordinates, by default the default float.
        like: must be None.
        **kwargs: passed on to `function`.

    Returns:
        What `function` returns, with the axes of the grid before its own.

    Raises:
        ArgumentError: `shape` does not hold integers.  ShapeError: one is negative.

    Differences from NumPy: NumPy hands whole arrays to `function`, so that a constant result stays
    one number; here it fills the grid.

    Example:
        >>> import numlift.numpy as np
        >>> np.fromfunction(lambda i, j: i + 2 * j, (2, 2), dtype=int)
        Array([[0, 2],
               [1, 3]], dtype=int32)
        >>> np.fromfunction(lambda i: np.asarray([i, i**2]), 3).shape
        (3, 2)
    """
    unused("fromfunction", None, like)
    sizes = shape_of("fromfunction", shape)
    call = lambda *args: function(*args, **kwargs)  # noqa: E731
    for axis in range(len(sizes)):
        in_axes = [0 if i == len(sizes) - 1 - axis else None for i in range(len(sizes))]
        call = vmap(call, in_axes=tuple(in_axes))
    return call(*(arange(n, dtype=dtype) for n in sizes))


__all__ = ["fromfunction", "indices", "meshgrid", "mgrid", "ogrid"]
