"""Sorting, the k largest elements, and scans by any associative function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..core.dims import Dim
from ..core.tracing import apply, type_of
from ..ops.shape import Concatenate, Pad, Rev
from ..ops.slicing import Slice
from ..ops.sorting import Sort, TopK
from ..structural.arith import add, neg
from ..structural.shape import Transpose
from ..tree import tree_flatten, tree_unflatten
from .arguments import static_int
from .shape import axis_in_range


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sort along an axis, ascending; several arrays are put into the order of the first ones.

    NaNs come last. -0.0 equals 0.0. Complex numbers are ordered by real, then imaginary part.

    Args:
        operand: array, or sequence of arrays of one shape.
        dimension: axis to sort along.
        is_stable: kept for compatibility: the sort is always stable.
        num_keys: how many of the arrays are keys, the first one being the most significant.

    Returns:
        Array, or tuple of arrays.

    Derivative: tangents are permuted like the elements.

    Differences from JAX: sorting a single array puts -0.0 before 0.0 (JAX keeps their order).

    Raises:
        ArgumentError: no operand.
        ShapeError: the shapes of the operands differ.
        AxisError: the axis is out of range.
        ValueArgumentError: `num_keys` is not from 1 to the number of operands.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import sort
        >>> sort(np.float32([3, 1, 2])).tolist()
        [1.0, 2.0, 3.0]
    """
    many = isinstance(operand, (tuple, list))
    operands = list(operand) if many else [operand]
    if not operands:
        raise errors.ArgumentError(errors.explain("sort", "needs at least one operand"))
    axis = axis_in_range("sort", dimension, type_of(operands[0]).ndim, operands[0])
    outs = apply(Sort.of(axis, static_int("sort", "num_keys", num_keys)), *operands)
    return tuple(outs) if many else outs[0]


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> Any:
    """Sort keys along an axis and put the values into the same order.

    Args:
        keys: array of any dtype; complex keys are compared by real, then imaginary part.
        values: array of the same shape, of any dtype.
        dimension: axis along which to sort.
        is_stable: whether equal keys keep their order.

    Returns:
        (keys, values): two arrays, sorted in ascending order of the keys, NaN last.

    Raises:
        ShapeError: the shapes differ.
        AxisError: the axis is out of range.

    Derivative: tangents of both move along with the elements.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import sort_key_val
        >>> k, v = sort_key_val(np.float32([3, 1, 2]), np.int32([0, 1, 2]))
        >>> k.tolist(), v.tolist()
        ([1.0, 2.0, 3.0], [1, 2, 0])
    """
    return sort((keys, values), dimension, is_stable, 1)


def top_k(operand: Any, k: int, *, axis: int = -1) -> Any:
    """The k largest elements along an axis, largest first, and their int32 indices.

    Of equal elements the first comes first. NaN counts as the largest.

    Args:
        operand: real numbers or bools.
        k: how many, from 0 to the size of the axis.
        axis: along which to choose.

    Returns:
        (values, indices).

    Derivative: tangents are taken at the indices.

    Raises:
        ValueArgumentError: `k` is negative or above the size of the axis.
        DTypeError: complex numbers have no order.
        AxisError: the axis is out of range.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import top_k
        >>> values, places = top_k(np.float32([1, 9, 4]), 2)
        >>> values.tolist(), places.tolist()
        ([9.0, 4.0], [1, 2])
    """
    t = type_of(operand)
    axis = axis_in_range("top_k", axis, t.ndim, operand)
    last = t.ndim - 1
    op = TopK.of(static_int("top_k", "k", k))
    if axis == last:
        return tuple(apply(op, operand))
    order = list(range(t.ndim))
    order[axis], order[last] = last, axis
    swap = Transpose.of(tuple(order))
    return tuple(apply(swap, x) for x in apply(op, apply(swap, operand)))


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> Any:
    """The k largest elements along an axis and their indices; exact here on every platform.

    Args:
        operand: real floats.
        k: how many.
        reduction_dimension: along which to choose.
        recall_target: fraction that must be right, in (0, 1]; the result is always exact.
        reduction_input_size_override: accepted for compatibility: an exact result needs no size.
        aggregate_to_topk: accepted for compatibility: exactly k elements are always returned.

    Returns:
        (values, indices), as `top_k`.

    Raises:
        ValueArgumentError: `k` is above the size of the axis, or `recall_target` is not in (0, 1].
        DTypeError: `operand` is no real float.
        AxisError: the axis is out of range.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import approx_max_k
        >>> approx_max_k(np.float32([1, 9, 4]), 1)[1].tolist()
        [1]
    """
    _check_approximate("approx_max_k", operand, recall_target)
    return top_k(operand, k, axis=reduction_dimension)


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> Any:
    """The k smallest elements along an axis and their indices; exact here on every platform.

    Args:
        operand, k, reduction_dimension, recall_target, reduction_input_size_override,
            aggregate_to_topk: as in `approx_max_k`.

    Returns:
        (values, indices), smallest first.

    Raises:
        ValueArgumentError: `k` is above the size of the axis, or `recall_target` is not in (0, 1].
        DTypeError: `operand` is no real float.
        AxisError: the axis is out of range.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import approx_min_k
        >>> approx_min_k(np.float32([1, 9, 4]), 1)[0].tolist()
        [1.0]
    """
    _check_approximate("approx_min_k", operand, recall_target)
    values, places = top_k(apply(neg, operand), k, axis=reduction_dimension)
    return apply(neg, values), places


def _check_approximate(function: str, operand: Any, recall_target: float) -> None:
    t = type_of(operand)
    if t.kind != "f":
        raise errors.DTypeError(
            errors.explain(
                function, "the operand must be a real float", {"operand": t},
                try_="lax.top_k for integers",
            )
        )  # fmt: skip
    if not 0 < recall_target <= 1:
        raise errors.ValueArgumentError(
            errors.explain(
                function, "recall_target must be in (0, 1]", {"recall_target": recall_target}
            )
        )


# ---- associative scan ----------------------------------------------------------------------------


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Inclusive scan by an associative function of two trees of arrays.

    ``out[i] = fn(fn(elems[0], elems[1]), ..., elems[i])``, computed in about 2 log2(n) calls of
    ``fn`` on slices along ``axis``.

    Args:
        fn: associative; takes and returns trees of arrays like ``elems``, along any length.
        elems: tree of arrays of one size along ``axis``.
        reverse: scan from the end: the first argument of ``fn`` then stands for later elements.
        axis: along which to scan.

    Returns:
        A tree like `elems`: the same shapes; entry i along the axis combines the entries up to i.

    Raises:
        ArgumentError: `fn` is not callable.
        ShapeError: the arrays have different sizes along the axis.
        TreeError: `fn` returns another structure.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import associative_scan
        >>> associative_scan(lambda a, b: a + b, np.float32([1, 2, 3])).tolist()
        [1.0, 3.0, 6.0]
    """
    name = "associative_scan"
    if not callable(fn):
        raise errors.ArgumentError(errors.explain(name, "fn must be callable", {"fn": fn}))
    xs, tree = tree_flatten(elems)
    if not xs:
        return elems
    axis = axis_in_range(name, axis, type_of(xs[0]).ndim, xs[0])
    for x in xs:
        t = type_of(x)
        if t.ndim <= axis or t.shape[axis] != type_of(xs[0]).shape[axis]:
            raise errors.ShapeError(
                errors.explain(
                    name,
                    f"all arrays must have one size along axis {axis}",
                    {f"array {i}": type_of(v) for i, v in enumerate(xs)},
                )
            )

    def combine(first: list[Any], then: list[Any]) -> list[Any]:
        found, out_tree = tree_flatten(fn(tree_unflatten(tree, first), tree_unflatten(tree, then)))
        if out_tree != tree:
            raise errors.TreeError(
                errors.explain(
                    name, "fn must return the structure of its arguments",
                    {"elems": tree, "returned": out_tree},
                )
            )  # fmt: skip
        return found

    flip = Rev.of((axis,))
    if reverse:
        xs = [apply(flip, x) for x in xs]
        return tree_unflatten(tree, [apply(flip, x) for x in _scan(combine, xs, axis)])
    return tree_unflatten(tree, _scan(combine, xs, axis))


Leaves = list[Any]


def _scan(combine: Callable[[Leaves, Leaves], Leaves], xs: Leaves, axis: int) -> Leaves:
    n = type_of(xs[0]).shape[axis]
    if type(n) is Dim:
        raise errors.InconclusiveDimensionOperation(
            errors.explain(
                "associative_scan",
                f"the number of its rounds depends on the symbolic size {n} of axis {axis}",
                {"elems": type_of(xs[0])},
                try_="lax.scan, or cumsum, cumprod, cummax, cummin, cumlogsumexp",
            )
        )
    if n < 2:
        return xs
    firsts = _every_second(xs, axis, 0, n - 1)
    seconds = _every_second(xs, axis, 1, n)
    odd = _scan(combine, combine(firsts, seconds), axis)
    if n == 2:
        return _interleave(_every_second(xs, axis, 0, 1), odd, axis)
    later = _every_second(xs, axis, 2, n)
    before = odd if n % 2 else _cut(odd, axis, 0, n // 2 - 1)
    even = combine(before, later)
    head = _every_second(xs, axis, 0, 1)
    even = [apply(Concatenate.of(axis), h, e) for h, e in zip(head, even, strict=True)]
    return _interleave(even, odd, axis)


def _slices(xs: Leaves, axis: int, start: int, stop: int, step: int) -> Leaves:
    made = []
    for x in xs:
        shape = type_of(x).shape
        starts, stops, steps = [0] * len(shape), list(shape), [1] * len(shape)
        starts[axis], stops[axis], steps[axis] = start, stop, step
        made.append(apply(Slice.of(tuple(starts), tuple(stops), tuple(steps)), x))
    return made


def _every_second(xs: Leaves, axis: int, start: int, stop: int) -> Leaves:
    return _slices(xs, axis, start, stop, 2)


def _cut(xs: Leaves, axis: int, start: int, stop: int) -> Leaves:
    return _slices(xs, axis, start, stop, 1)


def _interleave(even: Sequence[Any], odd: Sequence[Any], axis: int) -> Leaves:
    """even[0], odd[0], even[1], odd[1], ... along an axis; -0.0 is the neutral element of add."""
    made = []
    for x, y in zip(even, odd, strict=True):
        t = type_of(x)
        n, m = t.shape[axis], type_of(y).shape[axis]
        config = [(0, 0, 0)] * t.ndim
        config[axis] = (0, m - n + 1, 1)
        spread = apply(Pad.of(tuple(config)), x, t.dtype.type(-0.0))
        config[axis] = (1, n - m, 1)
        other = apply(Pad.of(tuple(config)), y, t.dtype.type(-0.0))
        made.append(apply(add, spread, other))
    return made
