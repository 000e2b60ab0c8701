"""Arrays joined along a new axis and taken apart again; values as arrays of the current trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..api.sharding import reshard
from ..core.dtypes import python_scalar_dtype
from ..core.tracing import Value, apply, type_of
from ..ops.shape import Concatenate, Split
from ..runtime.array import Array
from ..structural.arith import Convert
from ..structural.shape import Broadcast, Reshape, reshape
from .arguments import axis_in_range


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of one shape and dtype joined along a new axis.

    Args:
        operands: the arrays, at least one.
        axis: position of the new axis in the result; negative from the end.

    Returns:
        The array, of one rank more.

    Raises:
        ValueArgumentError: no operands.
        ShapeError, DTypeError: they differ.
        AxisError: the axis is out of range.

    Differences from NumPy: nothing is promoted (`numlift.numpy.stack` promotes).

    Example:
        >>> import numpy as np
        >>> from numlift.lax import stack
        >>> stack([np.int32([1, 2]), np.int32([3, 4])], axis=1).tolist()
        [[1, 3], [2, 4]]
    """
    if not len(operands):
        raise errors.ValueArgumentError(errors.explain("stack", "needs at least one operand"))
    types = [type_of(x) for x in operands]
    first = types[0]
    shown = {f"operands[{i}]": t for i, t in enumerate(types)}
    if any(t.shape != first.shape for t in types):
        raise errors.ShapeError(errors.explain("stack", "operands must have one shape", shown))
    if any(t.dtype != first.dtype for t in types):
        raise errors.DTypeError(
            errors.explain(
                "stack",
                "operands must have one dtype",
                shown,
                try_="nl.numpy.stack, which promotes",
            )
        )
    axis = axis_in_range("stack", axis, first.ndim + 1, operands[0])
    shape = (*first.shape[:axis], 1, *first.shape[axis:])
    return apply(Concatenate.of(axis), *[apply(Reshape.of(shape, None), x) for x in operands])


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """The slices of an array along an axis, without that axis.

    Args:
        x: array of rank 1 or more.
        axis: along which to take it apart; negative from the end.

    Returns:
        A tuple with one array for each position along the axis.

    Raises:
        AxisError: the axis is out of range.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import unstack
        >>> [y.tolist() for y in unstack(np.int32([[1, 2], [3, 4]]), axis=1)]
        [[1, 3], [2, 4]]
    """
    t = type_of(x)
    axis = axis_in_range("unstack", axis, t.ndim, x)
    n, shape = t.shape[axis], t.shape[:axis] + t.shape[axis + 1 :]
    if not n:
        return ()
    return tuple(reshape(part, shape) for part in apply(Split.of((1,) * n, axis), x))


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """An array repeated to the shape (and, on Explicit meshes, the sharding) of another one.

    Args:
        arr: array whose shape broadcasts by NumPy's rule; it keeps its dtype.
        like_arr: array whose shape and sharding are taken.

    Returns:
        The repeated array.

    Raises:
        ShapeError: the shape does not broadcast.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import broadcast_like
        >>> broadcast_like(np.int32([1, 2, 3]), np.zeros((2, 3))).tolist()
        [[1, 2, 3], [1, 2, 3]]
    """
    t, like = type_of(arr), type_of(like_arr)
    skipped = like.ndim - t.ndim
    if skipped < 0 or any(
        n not in (1, m) for n, m in zip(t.shape, like.shape[skipped:], strict=True)
    ):
        raise errors.ShapeError(
            errors.explain(
                "broadcast_like", "the shape of arr must broadcast to that of like_arr",
                {"arr": t, "like_arr": like},
            )
        )  # fmt: skip
    dims = tuple(range(skipped, like.ndim))
    out = apply(Broadcast.of(like.shape, dims, like.sharding), arr)
    known = isinstance(like_arr, Array) and like.sharding is not None
    return reshard(out, like_arr.sharding) if known else out


def stage(x: Any, /) -> Any:
    """A value as an array of the current trace: numbers and NumPy arrays become operations.

    Args:
        x: array or number. Python numbers stay weakly typed.

    Returns:
        An array; inside of a trace, a traced one.

    Example:
        >>> from numlift.lax import stage
        >>> stage(2).dtype
        dtype('int32')
    """
    if isinstance(x, Value):
        return x
    t = type_of(x)
    return apply(Convert.of(t.dtype, t.weak_type), x)


def shape_as_value(shape: Sequence[Any]) -> Any:
    """A shape as an array of integers, whose sizes may be traced.

    Args:
        shape: sequence of integers.

    Returns:
        A vector of the default integer dtype.

    Example:
        >>> from numlift.lax import shape_as_value
        >>> shape_as_value((2, 3)).tolist()
        [2, 3]
    """
    dtype = python_scalar_dtype(int)
    if all(isinstance(n, (int, np.integer)) for n in shape):
        return stage(np.asarray([int(n) for n in shape], dtype))
    return stack([apply(Convert.of(dtype, False), n) for n in shape])


__all__ = ["broadcast_like", "shape_as_value", "stack", "stage", "unstack"]
