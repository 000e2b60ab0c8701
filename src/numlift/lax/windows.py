"""Reductions over windows that slide over an array: what pooling is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..core.tracing import apply, type_of
from ..core.types import ArrayType
from ..ops.elementwise_binary import Max, Min
from ..ops.window_lowering import Window
from ..ops.windows import (
    ReduceWindow,
    ReduceWindowMax,
    ReduceWindowMin,
    ReduceWindowSum,
    check_window,
)
from ..structural.arith import Add
from ..tree import tree_unflatten
from .conv_shapes import pad_width, padtype_to_pads
from .reductions import is_identity, monoid_of, operands_and_starts, scalar_computation
from .shape import static_ints

_DEDICATED: dict[type, tuple[type, str]] = {
    Add: (ReduceWindowSum, "iufc"),
    Max: (ReduceWindowMax, "biuf"),
    Min: (ReduceWindowMin, "biuf"),
}


def make_window(
    function: str,
    x: ArrayType,
    window_dimensions: Any,
    window_strides: Any,
    padding: Any,
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Window:
    """A checked `Window` for an operand; None for strides and dilations stands for ones."""
    ones = (1,) * x.ndim

    def ints(name: str, values: Any) -> tuple[int, ...]:
        return ones if values is None else static_ints(function, name, values)

    sizes = static_ints(function, "window_dimensions", window_dimensions)
    strides = ints("window_strides", window_strides)
    base, dilation = ints("base_dilation", base_dilation), ints("window_dilation", window_dilation)
    window = Window(sizes, strides, ((0, 0),) * x.ndim, base, dilation)
    check_window(function, x, window)
    if isinstance(padding, str):
        shape = [(n - 1) * b + 1 if n else 0 for n, b in zip(x.shape, base, strict=True)]
        spans = [(w - 1) * d + 1 for w, d in zip(sizes, dilation, strict=True)]
        pads: Any = padtype_to_pads(shape, spans, strides, padding)
    else:
        pads = padding
    try:
        pairs = tuple((pad_width(low), pad_width(high)) for low, high in pads)
    except (TypeError, ValueError):
        raise errors.ArgumentError(
            errors.explain(
                function,
                "padding must be 'SAME', 'SAME_LOWER', 'VALID' or one pair (low, high) an axis",
                {"padding": padding},
                try_=f"padding={[(0, 0)] * x.ndim}",
            )
        ) from None
    window = window._replace(padding=pairs)
    check_window(function, x, window)
    return window


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Reduce each window of an array by a computation of two scalars.

    ``out[i] = reduce(computation, padded[i * stride + k * dilation] for k in window)``

    Args:
        operand: array, or tree of arrays of one shape, reduced together.
        init_value: scalar for each operand: the neutral element, which padding is filled with.
        computation: takes two trees of scalars, returns one. Single add, max and min are
            recognised (with their neutral element as init_value) and much faster on CPU.
        window_dimensions: size of the window along each axis.
        window_strides: steps of the window; default 1.
        padding: ``"VALID"``, ``"SAME"``, ``"SAME_LOWER"``, or a pair (low, high) for each axis,
            negative to cut off.
        base_dilation: 1 + how many fill elements stand between neighbours.
        window_dilation: distance of the window's elements.

    Returns:
        Tree of arrays, one element a window position.

    Derivative: of a maximum (minimum), the first greatest (least) element of each window gets it
    all. Differences from JAX: general computations can be differentiated too, and the derivative
    of max and min works for any dilation.

    Raises:
        ShapeError: not one size, stride or padding for each axis.
        ValueArgumentError: an unknown padding, or a stride or dilation below 1.
        TreeError: `computation` returns another structure.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import reduce_window
        >>> from numlift.lax import max
        >>> x = np.float32([1, 3, 2, 5])
        >>> reduce_window(x, -np.inf, max, (2,), (2,)).tolist()
        [3.0, 5.0]
    """
    xs, starts, tree = operands_and_starts("reduce_window", operand, init_value)
    t = type_of(xs[0])
    window = make_window(
        "reduce_window", t, window_dimensions, window_strides, padding, base_dilation,
        window_dilation,
    )  # fmt: skip
    graph = scalar_computation("reduce_window", computation, [type_of(x) for x in xs], tree)
    monoid = monoid_of(graph)
    if monoid in _DEDICATED and is_identity(monoid, starts[0], t.dtype):
        op, kinds = _DEDICATED[monoid]
        if t.kind in kinds:
            return tree_unflatten(tree, [apply(op.of(window), xs[0])])  # type: ignore[attr-defined]
    return tree_unflatten(tree, apply(ReduceWindow.of(window, graph), *xs, *starts))


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Shape of the result of `reduce_window`.

    Args:
        operand_shape: shape of the array, rank n.
        window_dimensions: n window sizes.
        window_strides: n positive ints.
        padding: n pairs (low, high).
        base_dilation, window_dilation: n positive ints each, or None for ones.

    Returns:
        n sizes: ``(padded size - dilated window) // stride + 1``, 0 where the window does not fit.

    Example:
        >>> from numlift.lax import reduce_window_shape_tuple
        >>> reduce_window_shape_tuple((5, 5), (3, 3), (2, 2), [(0, 0), (1, 1)])
        (2, 3)
    """
    ones = (1,) * len(operand_shape)
    return Window(
        tuple(window_dimensions), tuple(window_strides), tuple(padding),
        tuple(base_dilation or ones), tuple(window_dilation or ones),
    ).out_shape(operand_shape)  # fmt: skip
