"""gather and scatter: reads and updates at arrays of indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..core.staging import trace_to_graph
from ..core.tracing import Value, apply, type_of
from ..core.types import ArrayType, array_type
from ..ops.gather import Gather
from ..ops.indices import (
    CLIP,
    FILL_OR_DROP,
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    as_tuples,
    count_of_windows,
    gather_numbers,
    is_asked,
)
from ..ops.scatter import (
    Scatter,
    ScatterAdd,
    ScatterApply,
    ScatterMax,
    ScatterMin,
    ScatterMul,
    ScatterSet,
    ScatterSub,
)
from ..structural.shape import broadcast, reshape
from ..transforms.vmap import vmap_flat
from .arguments import like_operand, static_ints

mode_of = GatherScatterMode.from_any


class _NegativeZero(float):
    """-0.0 as a parameter: unlike the number it does not equal 0.0, so caches keep them apart."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is _NegativeZero

    def __hash__(self) -> int:
        return hash(_NegativeZero)


_NEGATIVE_ZERO = _NegativeZero(-0.0)


def static_scalar(function: str, name: str, value: Any) -> Any:
    """A Python number or None from a number that is known now.

    Raises:
        ArgumentError: the value is traced, or no scalar.
    """
    if isinstance(value, (np.generic, np.ndarray)) and np.ndim(value) == 0:
        value = np.asarray(value).item()
    if type(value) is float and value == 0 and math.copysign(1.0, value) < 0:
        return _NEGATIVE_ZERO
    if value is None or type(value) in (bool, int, float, complex, _NegativeZero):
        return value
    raise errors.ArgumentError(
        errors.explain(
            function,
            f"{name} must be a Python number",
            {name: type_of(value) if isinstance(value, Value) else value},
            try_="use where(in_bounds, x, value) for a value that is computed",
        )
    )


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Any,
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Any:
    """Windows of an array at start indices; the general form behind NumPy's indexing.

    Each vector along the last axis of ``start_indices`` names a window of ``slice_sizes``. The
    result has the other axes of ``start_indices`` (batch axes) and, at ``offset_dims``, the axes
    of the windows that are neither collapsed nor batching.

    Args:
        operand: array.
        start_indices: integers; the last axis holds index vectors.
        dimension_numbers: which axes mean what.
        slice_sizes: size of the window in each axis of the operand.
        unique_indices: you promise that no two windows overlap.
        indices_are_sorted: you promise that the index vectors ascend.
        mode: a `GatherScatterMode`, its name, or None for PROMISE_IN_BOUNDS (clips in fact).
        fill_value: what FILL_OR_DROP fills with; None is NaN for floats, the least value for
            signed and the greatest for unsigned integers, True for bools.

    Returns:
        Array of the operand's dtype.

    Raises:
        ShapeError: the numbers do not fit operand and indices.
        DTypeError: the indices are no integers.

    Derivative: linear in operand; its transpose is `scatter_add`. Filled elements have none.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import GatherDimensionNumbers, gather
        >>> rows = GatherDimensionNumbers((1,), (0,), (0,))
        >>> gather(np.zeros((5, 3)), np.array([[4], [0]]), rows, (1, 3)).shape
        (2, 3)
    """
    op = Gather.of(
        as_tuples(dimension_numbers),
        static_ints("gather", "slice_sizes", slice_sizes),
        mode_of(mode),
        static_scalar("gather", "fill_value", fill_value),
        bool(unique_indices),
        bool(indices_are_sorted),
        False,
        None,
        is_asked(mode),
    )
    return apply(op, operand, start_indices)


def _scatter(
    kind: type[Scatter],
    operand: Any,
    indices: Any,
    updates: Any,
    numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Any,
) -> Any:
    op = kind.of(
        as_tuples(numbers),
        mode_of(mode),
        bool(unique_indices),
        bool(indices_are_sorted),
        False,
        is_asked(mode),
    )
    return apply(op, operand, indices, like_operand(updates, type_of(operand)))


def scatter(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with windows replaced by updates.

    Each vector along the last axis of ``scatter_indices`` names where a window of updates goes.
    If an element is written twice, one of the updates wins; which one is up to the device.

    Args:
        operand: array.
        scatter_indices: integers; the last axis holds index vectors.
        updates: array of the operand's dtype: the other axes of ``scatter_indices`` and, at
            ``update_window_dims``, the window.
        dimension_numbers: which axes mean what.
        indices_are_sorted: you promise that the index vectors ascend.
        unique_indices: you promise that no element is written twice.
        mode: a `GatherScatterMode`, its name, or None for PROMISE_IN_BOUNDS (drops in fact).

    Returns:
        Array like the operand.

    Raises:
        ShapeError: the numbers do not fit operand, indices and updates.
        DTypeError: dtypes differ, or the indices are no integers.

    Derivative: linear in operand and updates; only the update that won has one.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import ScatterDimensionNumbers, scatter
        >>> places = ScatterDimensionNumbers((), (0,), (0,))
        >>> print(scatter(np.zeros(4), np.array([[3], [1]]), np.array([7.0, 8.0]), places))
        [0. 8. 0. 7.]
    """
    return _scatter(
        ScatterSet, operand, scatter_indices, updates, dimension_numbers,
        indices_are_sorted, unique_indices, mode,
    )  # fmt: skip


def scatter_add(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with updates added to windows; arguments as in `scatter`.

    An element that is named several times gets the sum of all its updates.

    Args:
        operand, scatter_indices, updates, dimension_numbers: as in `scatter`.
        indices_are_sorted, unique_indices, mode: as in `scatter`.

    Returns:
        Array like the operand.

    Raises:
        ShapeError, DTypeError: as in `scatter`.

    Derivative: linear in operand and updates; its transpose is `gather`.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import ScatterDimensionNumbers, scatter_add
        >>> places = ScatterDimensionNumbers((), (0,), (0,))
        >>> print(scatter_add(np.zeros(3), np.array([[1], [1]]), np.array([7.0, 8.0]), places))
        [ 0. 15.  0.]
    """
    return _scatter(
        ScatterAdd, operand, scatter_indices, updates, dimension_numbers,
        indices_are_sorted, unique_indices, mode,
    )  # fmt: skip


def scatter_sub(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with updates subtracted from windows; arguments as in `scatter`.

    Args:
        operand, scatter_indices, updates, dimension_numbers: as in `scatter`.
        indices_are_sorted, unique_indices, mode: as in `scatter`.

    Returns:
        Array like the operand.

    Raises:
        ShapeError, DTypeError: as in `scatter`.

    Derivative: linear in operand and updates.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import ScatterDimensionNumbers, scatter_sub
        >>> places = ScatterDimensionNumbers((), (0,), (0,))
        >>> print(scatter_sub(np.zeros(3), np.array([[1], [1]]), np.array([7.0, 8.0]), places))
        [  0. -15.   0.]
    """
    return _scatter(
        ScatterSub, operand, scatter_indices, updates, dimension_numbers,
        indices_are_sorted, unique_indices, mode,
    )  # fmt: skip


def scatter_mul(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with windows multiplied by updates; arguments as in `scatter`.

    Args:
        operand, scatter_indices, updates, dimension_numbers: as in `scatter`.
        indices_are_sorted, unique_indices, mode: as in `scatter`.

    Returns:
        Array like the operand.

    Raises:
        ShapeError, DTypeError: as in `scatter`.

    Derivative: exact, also for elements that are named several times and for zeros among the
    updates. Second derivatives of elements named several times need updates that are not zero.

    Differences from JAX: the derivative by updates does not need ``unique_indices=True``.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import ScatterDimensionNumbers, scatter_mul
        >>> places = ScatterDimensionNumbers((), (0,), (0,))
        >>> print(scatter_mul(np.ones(3), np.array([[1], [1]]), np.array([2.0, 4.0]), places))
        [1. 8. 1.]
    """
    return _scatter(
        ScatterMul, operand, scatter_indices, updates, dimension_numbers,
        indices_are_sorted, unique_indices, mode,
    )  # fmt: skip


def scatter_min(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The minimum of windows of the operand and updates; arguments as in `scatter`.

    Args:
        operand, scatter_indices, updates, dimension_numbers: as in `scatter`.
        indices_are_sorted, unique_indices, mode: as in `scatter`.

    Returns:
        Array like the operand.

    Raises:
        ShapeError, DTypeError: as in `scatter`; complex numbers have no order.

    Derivative: equal minima share it evenly.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import ScatterDimensionNumbers, scatter_min
        >>> places = ScatterDimensionNumbers((), (0,), (0,))
        >>> print(scatter_min(np.ones(3), np.array([[1], [2]]), np.array([-2.0, 4.0]), places))
        [ 1. -2.  1.]
    """
    return _scatter(
        ScatterMin, operand, scatter_indices, updates, dimension_numbers,
        indices_are_sorted, unique_indices, mode,
    )  # fmt: skip


def scatter_max(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The maximum of windows of the operand and updates; arguments as in `scatter`.

    Args:
        operand, scatter_indices, updates, dimension_numbers: as in `scatter`.
        indices_are_sorted, unique_indices, mode: as in `scatter`.

    Returns:
        Array like the operand.

    Raises:
        ShapeError, DTypeError: as in `scatter`; complex numbers have no order.

    Derivative: equal maxima share it evenly.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import ScatterDimensionNumbers, scatter_max
        >>> places = ScatterDimensionNumbers((), (0,), (0,))
        >>> print(scatter_max(np.ones(3), np.array([[1], [2]]), np.array([-2.0, 4.0]), places))
        [1. 1. 4.]
    """
    return _scatter(
        ScatterMax, operand, scatter_indices, updates, dimension_numbers,
        indices_are_sorted, unique_indices, mode,
    )  # fmt: skip


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Any = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with a scalar function applied to the elements of windows.

    An element that is named k times gets the function k times, unless ``unique_indices``.

    Args:
        operand: array.
        scatter_indices: integers; the last axis holds index vectors.
        func: scalar -> scalar of the same dtype.
        dimension_numbers: which axes mean what.
        update_shape: the shape that updates would have.
        indices_are_sorted, unique_indices, mode: as in `scatter`.

    Returns:
        Array like the operand.

    Raises:
        ShapeError: the numbers do not fit, or the function's result is no scalar.
        DTypeError: the function's result has another dtype.
        GradError: a derivative is asked for, and indices may repeat.

    Derivative: that of the function, where ``unique_indices=True`` (or there is one window).

    Differences from JAX: unique indices are differentiable.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import ScatterDimensionNumbers, scatter_apply
        >>> places = ScatterDimensionNumbers((), (0,), (0,))
        >>> i = np.array([[0], [2], [2]])
        >>> print(scatter_apply(np.ones(3), i, lambda v: v * 3, places, update_shape=(3,)))
        [3. 1. 9.]
    """
    return apply_at(
        operand,
        scatter_indices,
        func,
        as_tuples(dimension_numbers),
        static_ints("scatter_apply", "update_shape", update_shape),
        bool(indices_are_sorted),
        bool(unique_indices),
        mode_of(mode),
        False,
        is_asked(mode),
    )


def apply_at(
    x: Any,
    indices: Any,
    func: Callable[[Any], Any],
    numbers: ScatterDimensionNumbers,
    update_shape: tuple[int, ...],
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    wrap: bool,
    asked: bool,
) -> Any:
    """`scatter_apply` with canonical arguments; with `wrap` negative indices count from the end."""
    t, i = type_of(x), type_of(indices)
    updates = array_type(update_shape, t.dtype, t.weak_type)
    batching = numbers.scatter_indices_batching_dims
    if unique_indices or count_of_windows(i, batching) <= 1:
        put = ScatterSet.of(numbers, mode, True, indices_are_sorted, wrap, asked)
        put.out_type(t, i, updates)
        take = Gather.of(
            gather_numbers(numbers),
            put.window(t, updates),
            CLIP if mode is CLIP else FILL_OR_DROP,
            None if mode is CLIP else 0,
            True,
            indices_are_sorted,
            wrap,
            None,
            asked,
        )
        return apply(put, x, indices, map_elements(func, apply(take, x, indices)))
    scalar = array_type((), t.dtype, t.weak_type)
    graph, captured = trace_to_graph(lambda v: [func(v)], [scalar], label="scatter_apply")
    if captured:
        raise errors.ArgumentError(
            errors.explain(
                "scatter_apply",
                "a function for indices that may repeat cannot use arrays from outside",
                {"operand": t, "array from outside": type_of(captured[0])},
                try_="pass unique_indices=True if the indices are different",
            )
        )
    _check_result(graph.out_types[0], t)
    op = ScatterApply.of(graph, update_shape, numbers, mode, indices_are_sorted, wrap, asked)
    return apply(op, x, indices)


def map_elements(func: Callable[[Any], Any], x: Any) -> Any:
    """A scalar function applied to every element."""
    t = type_of(x)
    if not t.ndim:
        out = func(x)
        _check_result(type_of(out), t)
        return out
    flat = reshape(x, (t.size,))
    outs, dims = vmap_flat(lambda v: [func(v)], t.size, [flat], [0])
    out = outs[0]
    u = type_of(out)
    one = u if dims[0] is None else array_type((1,) * (u.ndim - 1), u.dtype)
    _check_result(one, t)
    if dims[0] is None:
        return broadcast(out, t.shape, ())
    return reshape(out, t.shape)


def _check_result(out: ArrayType, x: ArrayType) -> None:
    if out.ndim:
        raise errors.ShapeError(
            errors.explain("scatter_apply", "the function must return a scalar", {"result": out})
        )
    if out.dtype != x.dtype:
        raise errors.DTypeError(
            errors.explain(
                "scatter_apply",
                f"the function returned {out.dtype} for {x.dtype}",
                {"operand": x, "result": out},
                try_=f"convert its result: .astype({x.dtype.name!r})",
            )
        )


__all__ = [
    "GatherDimensionNumbers",
    "GatherScatterMode",
    "ScatterDimensionNumbers",
    "gather",
    "scatter",
    "scatter_add",
    "scatter_apply",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_sub",
]
