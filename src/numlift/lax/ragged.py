"""Products of matrices whose rows fall into groups of traced sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import type_of
from .arithmetic import sub
from .bits import bitwise_and
from .compare import ge, lt, select
from .dot import dot_general
from .reductions import cumsum
from .representation import convert_element_type, full_like
from .shape import broadcast_in_dim, broadcasted_iota


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Rows of lhs times the matrix of the group that each row is in.

    ``out[i] = lhs[i] @ rhs[g]`` where group g takes the next ``group_sizes[g]`` rows; rows after
    the last group give 0.

    Args:
        lhs: (m, k).
        rhs: (g, k, n).
        group_sizes: (g,) ints.
        precision, preferred_element_type, out_sharding: as in `dot_general`.
        group_offset: must be None.

    Returns:
        (m, n).

    Raises:
        ShapeError: shapes are not these.
        DTypeError: sizes are no integers.

    The work is that of g products of the whole lhs.

    Example:
        >>> x, w = np.ones((3, 2), "f"), np.stack([np.ones((2, 4)), np.zeros((2, 4))]).astype("f")
        >>> ragged_dot(x, w, np.array([2, 1])).sum(1).tolist()
        [8.0, 8.0, 0.0]
    """
    a, b, s = type_of(lhs), type_of(rhs), type_of(group_sizes)
    if not (a.ndim == 2 and b.ndim == 3 and s.shape == b.shape[:1] and a.shape[1] == b.shape[1]):
        raise errors.ShapeError(
            errors.explain(
                "ragged_dot", "shapes must be (m, k), (g, k, n) and (g,)",
                {"lhs": a, "rhs": b, "group_sizes": s}, try_="vmap over leading axes",
            )
        )  # fmt: skip
    if s.kind not in "iu":
        raise errors.DTypeError(
            errors.explain("ragged_dot", f"group_sizes must be integers, not {s.dtype}",
                           {"group_sizes": s}, try_="group_sizes.astype('int32')")
        )  # fmt: skip
    if group_offset is not None:
        raise errors.ArgumentError(
            errors.explain("ragged_dot", "group_offset is not supported",
                           {"group_offset": group_offset}, try_="rhs[offset:]")
        )  # fmt: skip
    groups, (m, k) = b.shape[0], a.shape
    sizes = convert_element_type(group_sizes, np.int32)
    ends = cumsum(sizes, 0)
    row = broadcasted_iota(np.int32, (groups, m), 1)
    starts, stops = (broadcast_in_dim(x, (groups, m), (0,)) for x in (sub(ends, sizes), ends))
    inside = bitwise_and(ge(row, starts), lt(row, stops))
    wide = broadcast_in_dim(lhs, (groups, m, k), (1, 2))
    kept = select(broadcast_in_dim(inside, (groups, m, k), (0, 1)), wide, full_like(wide, 0))
    numbers = (((0, 2), (0, 1)), ((), ()))
    return dot_general(
        kept, rhs, numbers, precision, preferred_element_type, out_sharding=out_sharding
    )


__all__ = ["ragged_dot"]
