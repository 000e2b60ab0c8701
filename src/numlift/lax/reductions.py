"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..api.sharding import reshard
from ..core.dtypes import user_dtype
from ..core.graph import Graph
from ..core.staging import trace_to_graph
from ..core.tracing import Tracer, Value, apply, type_of
from ..core.types import ArrayType, array_type
from ..ops import reductions as ops
from ..ops.elementwise_binary import And, Max, Min, Or, Xor, and_, max_, min_, or_, xor
from ..ops.reduce_by import Reduce
from ..structural.arith import Add, Mul, add, convert, mul
from ..structural.shape import ReduceSum, full
from ..tree import tree_flatten, tree_unflatten
from .shape import axis_in_range, static_ints


def _axes(function: str, operand: Any, axes: Any) -> tuple[int, ...]:
    """Axes as distinct numbers in range, negative ones counted from the end."""
    t = type_of(operand)
    found = tuple(
        axis_in_range(function, a, t.ndim, operand) for a in static_ints(function, "axes", axes)
    )
    if len(set(found)) != len(found):
        raise errors.AxisError(
            errors.explain(function, f"an axis is repeated in {tuple(axes)}", {"operand": t})
        )
    return found


def reduce_sum(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Any:
    """Sum over axes: ``out = sum(operand[i, ...] for i in axes)``.

    Floats of one or two bytes are added up in float32 and rounded once.

    Args:
        operand: numbers.
        axes: which axes to sum over; negative ones count from the end.
        out_sharding: sharding of the result, on meshes with Explicit axes.

    Returns:
        Array of the operand's dtype, without these axes; 0 where there is nothing to add.

    Raises:
        AxisError: an axis is out of range or repeated.
        DTypeError: bool (convert first: `numlift.numpy.sum` does).

    Differences from JAX: negative axes are accepted.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import reduce_sum
        >>> reduce_sum(np.ones((2, 3), np.float32), (1,)).tolist()
        [3.0, 3.0]
    """
    out = apply(ReduceSum.of(_axes("reduce_sum", operand, axes)), operand)
    return out if out_sharding is None else reshard(out, out_sharding)


def reduce_prod(operand: Any, axes: Sequence[int]) -> Any:
    """Product over axes.

    Its derivative multiplies the other elements together instead of dividing by one, so it is
    finite and exact where elements are zero, to any order.

    Args:
        operand: numbers.
        axes: which axes to multiply over.

    Returns:
        Array of the operand's dtype, without these axes; 1 where there is nothing to multiply.

    Raises:
        AxisError: an axis is out of range or repeated.
        DTypeError: bool.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import reduce_prod
        >>> float(reduce_prod(np.float32([2, 3, 4]), (0,)))
        24.0
    """
    return apply(ops.ReduceProd.of(_axes("reduce_prod", operand, axes)), operand)


def reduce_max(operand: Any, axes: Sequence[int]) -> Any:
    """Greatest element over axes; NaN if there is one, -inf (or the least value) if none at all.

    Derivative: the greatest elements share the cotangent equally.

    Args:
        operand: any dtype; complex numbers are ordered by real, then imaginary part.
        axes: which axes to reduce.

    Returns:
        Array of the operand's dtype, without these axes.

    Raises:
        AxisError: an axis is out of range or repeated.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import reduce_max
        >>> float(reduce_max(np.float32([2, 7, 4]), (0,)))
        7.0
    """
    return apply(ops.ReduceMax.of(_axes("reduce_max", operand, axes)), operand)


def reduce_min(operand: Any, axes: Sequence[int]) -> Any:
    """Least element over axes; NaN if there is one, inf (or the greatest value) if none at all.

    Derivative: the least elements share the cotangent equally.

    Args:
        operand: any dtype; complex numbers are ordered by real, then imaginary part.
        axes: which axes to reduce.

    Returns:
        Array of the operand's dtype, without these axes.

    Raises:
        AxisError: an axis is out of range or repeated.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import reduce_min
        >>> float(reduce_min(np.float32([2, 7, 4]), (0,)))
        2.0
    """
    return apply(ops.ReduceMin.of(_axes("reduce_min", operand, axes)), operand)


def reduce_and(operand: Any, axes: Sequence[int]) -> Any:
    """Bitwise "and" over axes (logical for bool): what `all` is made of.

    Args:
        operand: bools or integers.
        axes: which axes to reduce.

    Returns:
        Array of the operand's dtype, without these axes; True, or -1 (all bits), for nothing.

    Raises:
        AxisError: an axis is out of range or repeated.
        DTypeError: floats or complex numbers.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import reduce_and
        >>> bool(reduce_and(np.array([True, False]), (0,)))
        False
    """
    return apply(ops.ReduceAnd.of(_axes("reduce_and", operand, axes)), operand)


def reduce_or(operand: Any, axes: Sequence[int]) -> Any:
    """Bitwise "or" over axes (logical for bool): what `any` is made of.

    Args:
        operand: bools or integers.
        axes: which axes to reduce.

    Returns:
        Array of the operand's dtype, without these axes; False or 0 for nothing.

    Raises:
        AxisError: an axis is out of range or repeated.
        DTypeError: floats or complex numbers.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import reduce_or
        >>> bool(reduce_or(np.array([True, False]), (0,)))
        True
    """
    return apply(ops.ReduceOr.of(_axes("reduce_or", operand, axes)), operand)


def reduce_xor(operand: Any, axes: Sequence[int]) -> Any:
    """Bitwise "xor" over axes (parity for bool).

    Args:
        operand: bools or integers.
        axes: which axes to reduce.

    Returns:
        Array of the operand's dtype, without these axes; False or 0 for nothing.

    Raises:
        AxisError: an axis is out of range or repeated.
        DTypeError: floats or complex numbers.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import reduce_xor
        >>> int(reduce_xor(np.int32([1, 3]), (0,)))
        2
    """
    return apply(ops.ReduceXor.of(_axes("reduce_xor", operand, axes)), operand)


def _index_dtype(function: str, index_dtype: Any) -> Any:
    dtype = user_dtype(index_dtype, function)
    if array_type((), dtype).kind not in "iu":
        raise errors.DTypeError(
            errors.explain(
                function,
                f"index_dtype must be an integer dtype, not {dtype}",
                try_="index_dtype=np.int32",
            )
        )
    return dtype


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Index of the greatest element along an axis: the first one, and a NaN before all numbers.

    Args:
        operand: any dtype.
        axis: along which to search; it must not be empty.
        index_dtype: integer dtype of the result.

    Returns:
        Array of `index_dtype`, without the axis.

    Raises:
        ShapeError: the axis is empty.
        AxisError: it is out of range.
        DTypeError: `index_dtype` is no integer dtype.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import argmax
        >>> int(argmax(np.float32([1, 5, 5]), 0, np.int32))
        1
    """
    axis = axis_in_range("argmax", axis, type_of(operand).ndim, operand)
    return apply(ops.ArgMax.of(axis, _index_dtype("argmax", index_dtype)), operand)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Index of the least element along an axis: the first one, and a NaN before all numbers.

    Args:
        operand: any dtype.
        axis: along which to search; it must not be empty.
        index_dtype: integer dtype of the result.

    Returns:
        Array of `index_dtype`, without the axis.

    Raises:
        ShapeError: the axis is empty.
        AxisError: it is out of range.
        DTypeError: `index_dtype` is no integer dtype.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import argmin
        >>> int(argmin(np.float32([4, 1, 1]), 0, np.int32))
        1
    """
    axis = axis_in_range("argmin", axis, type_of(operand).ndim, operand)
    return apply(ops.ArgMin.of(axis, _index_dtype("argmin", index_dtype)), operand)


# ---- reduce by any computation -------------------------------------------------------------------

_MONOIDS: dict[type, tuple[type, Any, str]] = {
    Add: (ReduceSum, add, "iufc"),
    Mul: (ops.ReduceProd, mul, "iufc"),
    Max: (ops.ReduceMax, max_, "biuf"),
    Min: (ops.ReduceMin, min_, "biuf"),
    And: (ops.ReduceAnd, and_, "biu"),
    Or: (ops.ReduceOr, or_, "biu"),
    Xor: (ops.ReduceXor, xor, "biu"),
}
_IDENTITIES: dict[type, Callable[[Any], Any]] = {
    Add: lambda dtype: 0,
    Mul: lambda dtype: 1,
    Max: ops.lowest,
    Min: ops.highest,
    And: lambda dtype: ops.ReduceAnd.of(()).identity(dtype),
    Or: lambda dtype: 0,
    Xor: lambda dtype: 0,
}


def monoid_of(graph: Graph) -> type | None:
    """The class of the one operation that a computation of two scalars is, if it is just one."""
    if len(graph.equations) != 1 or len(graph.inputs) != 2:
        return None
    (eq,) = graph.equations
    if type(eq.op) not in _MONOIDS or list(graph.outputs) != list(eq.outputs):
        return None
    return type(eq.op) if set(eq.inputs) == set(graph.inputs) else None


def is_identity(monoid: type, value: Any, dtype: Any) -> bool:
    """Whether a concrete initial value is the neutral element."""
    if isinstance(value, Value):
        return False
    return bool(np.asarray(value).astype(dtype) == _IDENTITIES[monoid](dtype))


def scalar_computation(
    function: str, computation: Callable[..., Any], types: Sequence[ArrayType], tree: Any
) -> Graph:
    """Graph of ``computation(x, y)`` on scalars of these types, x and y being trees."""
    scalars = [array_type((), t.dtype) for t in types]
    n = len(scalars)

    def flat(*args: Any) -> list[Any]:
        result = computation(tree_unflatten(tree, args[:n]), tree_unflatten(tree, args[n:]))
        leaves, found = tree_flatten(result)
        if found != tree:
            raise errors.TreeError(
                errors.explain(
                    function,
                    "computation must return the structure of its operands",
                    {"operands": tree, "result": found},
                )
            )
        return [convert(x, t.dtype) for x, t in zip(leaves, scalars, strict=True)]

    graph, captured = trace_to_graph(flat, scalars * 2, label=function, name="computation")
    if captured:
        graph = _with_constants(function, graph, captured)
    for t, out in zip(scalars, graph.out_types, strict=True):
        if out.shape != () or out.dtype != t.dtype:
            raise errors.DTypeError(
                errors.explain(
                    function,
                    "computation must return scalars of the operands' dtypes",
                    {"expected": t, "returned": out},
                )
            )
    return graph


def _with_constants(function: str, graph: Graph, captured: Sequence[Any]) -> Graph:
    """The graph with the captured values, which must be known scalars, as literals.

    The computation becomes a region of scalars of the program, which takes no other inputs.
    """
    known: list[Any] = []
    for x in captured:
        t = type_of(x)
        if isinstance(x, Tracer) or t.kind == "k" or t.size != 1:
            raise errors.ArgumentError(
                errors.explain(
                    function,
                    "computation uses a traced value or an array of many elements from outside",
                    {"value": t},
                    try_="a number or a known array of one element; or pass it as one more "
                    "operand, broadcast to the shape of the others",
                )
            )
        known.append(np.asarray(x).reshape(t.shape).astype(t.dtype))
    n = len(known)

    def run(*args: Any) -> list[Any]:
        constants = [k[()] if not k.ndim else broadcast(k.item(0), k) for k in known]
        return graph.run(lambda op, xs: apply(op, *xs), [*constants, *args])

    def broadcast(value: Any, like: Any) -> Any:
        return full(array_type(like.shape, like.dtype), like.dtype.type(value))

    return trace_to_graph(run, graph.in_types[n:], label=function, name=graph.name)[0]


def operands_and_starts(
    function: str, operands: Any, init_values: Any
) -> tuple[list[Any], list[Any], Any]:
    """Leaves of both trees, initial values converted if they are Python scalars, and the tree."""
    xs, tree = tree_flatten(operands)
    starts, start_tree = tree_flatten(init_values)
    if start_tree != tree:
        raise errors.TreeError(
            errors.explain(
                function,
                "init_values must have the structure of the operands",
                {"operands": tree, "init_values": start_tree},
            )
        )
    if not xs:
        raise errors.ArgumentError(errors.explain(function, "needs at least one operand"))
    made = []
    for x, s in zip(xs, starts, strict=True):
        t, u = type_of(x), type_of(s)
        if u.ndim:
            raise errors.ShapeError(
                errors.explain(function, "init_values must be scalars", {"init_value": u})
            )
        if u.weak_type and not isinstance(s, Value):
            s = np.asarray(s).astype(t.dtype)[()]
        elif u.dtype != t.dtype:
            raise errors.DTypeError(
                errors.explain(
                    function,
                    "an operand and its initial value must have one dtype",
                    {"operand": t, "init_value": u},
                    try_="a Python number as init_value takes the operand's dtype",
                )
            )
        made.append(s)
    return xs, made, tree


def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any:
    """Reduce arrays over axes by any associative computation of two scalars.

    ``computation`` is applied in an unspecified order, starting from ``init_values``. If it is a
    single add, mul, max, min, and, or, xor, the dedicated reduction is used.

    Args:
        operands: array, or tree of arrays of one shape, reduced together.
        init_values: scalar for each operand: the neutral element.
        computation: takes two trees of scalars and returns one. It may use known numbers and
            arrays of one element from outside.
        dimensions: axes to reduce.
        out_sharding: sharding of the results, on meshes with Explicit axes.

    Returns:
        Tree of arrays without these axes.

    Raises:
        ArgumentError: computation uses traced values or larger arrays from outside.

    Derivative: through log2(n) elementwise steps for general computations, both modes.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import reduce
        >>> int(reduce(np.int32([1, 2, 3]), 0, lambda x, y: x + y, (0,)))
        6
    """
    if out_sharding is not None:
        return reshard(reduce(operands, init_values, computation, dimensions), out_sharding)
    xs, starts, tree = operands_and_starts("reduce", operands, init_values)
    axes = _axes("reduce", xs[0], dimensions)
    graph = scalar_computation("reduce", computation, [type_of(x) for x in xs], tree)
    monoid = monoid_of(graph)
    if monoid is not None:
        reduction, combine, kinds = _MONOIDS[monoid]
        t = type_of(xs[0])
        if t.kind in kinds:
            out = apply(reduction.of(axes), xs[0])  # type: ignore[attr-defined]
            if not is_identity(monoid, starts[0], t.dtype):
                out = apply(combine, starts[0], out)
            return tree_unflatten(tree, [out])
    return tree_unflatten(tree, apply(Reduce.of(graph, axes), *xs, *starts))
