"""Exchange of parts of different sizes over a named axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import apply, type_of
from ..ops.reductions import ArgMax
from .arithmetic import add, clamp, sub
from .bits import bitwise_and
from .compare import ge, lt, select
from .indexing import GatherDimensionNumbers, GatherScatterMode, gather
from .parallel import all_gather, axis_index, axis_size
from .reductions import reduce_or
from .representation import convert_element_type
from .shape import broadcast_in_dim, broadcasted_iota, concatenate, reshape
from .slicing import dynamic_index_in_dim


def ragged_all_to_all(
    operand: Any,
    output: Any,
    input_offsets: Any,
    send_sizes: Any,
    output_offsets: Any,
    recv_sizes: Any,
    *,
    axis_name: Any,
    axis_index_groups: Any = None,
) -> Any:
    """Each position of a named axis sends rows to each other one, as many as it likes.

    Position s sends ``operand[input_offsets[r] : input_offsets[r] + send_sizes[r]]`` to position r,
    which finds it in its result from row ``output_offsets[r]`` (of the sender) on.

    Args:
        operand: (n, ...), the rows to send.
        output: (m, ...), what stays where nothing arrives.
        input_offsets, send_sizes, output_offsets: (size of the axis,) ints: where the rows for each
            receiver begin, how many they are, and where they go in its output.
        recv_sizes: (size of the axis,) ints: how many rows come from each sender. Only its shape
            is checked.
        axis_name: the named axis.
        axis_index_groups: must be None.

    Returns:
        (m, ...): the new output.

    Raises:
        ShapeError: the rows of operand and output or the vectors have other shapes.
        DTypeError: operand and output differ, or offsets are no integers.

    Works under `vmap` with that axis name (JAX: in `shard_map` only); everything is gathered
    everywhere. Both derivatives are defined.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> rows = np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 4.0]])
        >>> starts, sizes = np.array([[0, 1], [0, 2]]), np.array([[1, 2], [2, 1]])
        >>> to, back = np.array([[0, 0], [1, 2]]), np.array([[1, 2], [2, 1]])
        >>> f = lambda *xs: nl.lax.ragged_all_to_all(*xs, axis_name="i")
        >>> print(nl.vmap(f, axis_name="i")(rows, np.zeros((2, 3)), starts, sizes, to, back))
        [[1. 3. 3.]
         [2. 2. 4.]]
    """
    name = "ragged_all_to_all"
    if axis_index_groups is not None:
        raise errors.ValueArgumentError(
            errors.explain(name, "axis_index_groups is not defined for vmap axes")
        )
    size = axis_size(axis_name)
    vectors = {
        "input_offsets": input_offsets, "send_sizes": send_sizes,
        "output_offsets": output_offsets, "recv_sizes": recv_sizes,
    }  # fmt: skip
    _check(name, operand, output, vectors, size)
    t, u, me = type_of(operand), type_of(output), axis_index(axis_name)
    starts, counts, places = (
        dynamic_index_in_dim(
            all_gather(convert_element_type(v, np.int32), axis_name), me, 1, keepdims=False
        )
        for v in (input_offsets, send_sizes, output_offsets)
    )
    sent = all_gather(operand, axis_name)  # (size, n, ...)
    n, m = t.shape[0], u.shape[0]
    row = broadcasted_iota(np.int32, (size, m), 1)
    first, count, start = (broadcast_in_dim(v, (size, m), (0,)) for v in (places, counts, starts))
    arrives = bitwise_and(ge(row, first), lt(row, add(first, count)))
    sender = apply(ArgMax.of(0, np.dtype(np.int32)), arrives)
    source = add(start, sub(row, first))
    source = clamp(np.int32(0), source, np.int32(max(n - 1, 0)))
    if not n or not m:
        return output
    line = broadcasted_iota(np.int32, (m,), 0)
    pairs = _columns(sender, line)
    one = gather(
        source, pairs, GatherDimensionNumbers((), (0, 1), (0, 1)), (1, 1),
        mode=GatherScatterMode.PROMISE_IN_BOUNDS,
    )  # fmt: skip
    rest = tuple(range(1, t.ndim))
    rows = gather(
        sent, _columns(sender, one), GatherDimensionNumbers(rest, (0, 1), (0, 1)),
        (1, 1, *t.shape[1:]), mode=GatherScatterMode.PROMISE_IN_BOUNDS,
    )  # fmt: skip
    found = broadcast_in_dim(reduce_or(arrives, (0,)), u.shape, (0,))
    return select(found, rows, output)


def _columns(a: Any, b: Any) -> Any:
    m = type_of(a).shape[0]
    return concatenate([reshape(a, (m, 1)), reshape(b, (m, 1))], 1)


def _check(name: str, operand: Any, output: Any, vectors: dict[str, Any], size: int) -> None:
    t, u = type_of(operand), type_of(output)
    if not t.ndim or t.ndim != u.ndim or t.shape[1:] != u.shape[1:]:
        raise errors.ShapeError(
            errors.explain(name, "operand and output must have rows of one shape",
                           {"operand": t, "output": u})
        )  # fmt: skip
    if t.dtype != u.dtype:
        raise errors.DTypeError(
            errors.explain(name, "operand and output must have one dtype",
                           {"operand": t, "output": u}, try_="output.astype(operand.dtype)")
        )  # fmt: skip
    for word, v in vectors.items():
        w = type_of(v)
        if w.shape != (size,):
            raise errors.ShapeError(
                errors.explain(name, f"{word} needs one entry for each of the {size} positions",
                               {word: w})
            )  # fmt: skip
        if w.kind not in "iu":
            raise errors.DTypeError(
                errors.explain(name, f"{word} must be integers", {word: w},
                               try_=f"{word}.astype('int32')")
            )  # fmt: skip


__all__ = ["ragged_all_to_all"]
