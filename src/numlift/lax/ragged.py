"""Products of matrices whose rows fall into groups of traced sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..core.tracing import type_of
from .arithmetic import sub
from .bits import bitwise_and
from .compare import ge, lt, select
from .cumulative import cumsum
from .dot import dot_general
from .representation import convert_element_type, full_like
from .shape import broadcast_in_dim, broadcasted_iota, transpose


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
        >>> import numpy as np
        >>> from numlift.lax import ragged_dot
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


class RaggedDotDimensionNumbers(NamedTuple):
    """Axes of `ragged_dot_general`.

    Attributes:
        dot_dimension_numbers: as for `dot_general`.
        lhs_ragged_dimensions: the one axis of lhs that falls into groups.
        rhs_group_dimensions: the axis of rhs with one entry a group, or none.
    """

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Any:
    """`dot_general` where an axis of lhs falls into groups of traced sizes.

    What the axis is to the product decides what groups do (b: batch, k: contracting axes):

    1. an own axis m of lhs: ``[b, m, k] [g, b, k, n] -> [b, m, n]``, each row meets the rhs of its
       group; rows after the last group give 0.
    2. a contracting axis: ``[b, m, k] [b, k, n] -> [g, b, m, n]``, one sum a group.
    3. a batch axis: groups change nothing.

    Args:
        lhs, rhs: arrays.
        group_sizes: (..., g) ints: sizes for each index of the batch axes, and of the other axes
            of the kind of the ragged one that stand before it; or (g,) for all alike.
        ragged_dot_dimension_numbers: a `RaggedDotDimensionNumbers`.
        precision, preferred_element_type, out_sharding: as in `dot_general`.
        group_offset: must be None.

    Returns:
        The product, of the wider dtype of lhs and rhs, or of `preferred_element_type`; its axes as
        above, with batch axes, other axes of lhs and other axes of rhs as in `dot_general`.

    Raises:
        ShapeError: shapes do not fit.  DTypeError: sizes are no integers.
        ArgumentError: not one ragged axis, or a group axis where none belongs.

    The work is that of g products.

    Example:
        >>> import numpy as np
        >>> from numlift.lax import RaggedDotDimensionNumbers, ragged_dot_general
        >>> x, sizes = np.ones((3, 2), "f"), np.array([2, 1])
        >>> numbers = RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
        >>> ragged_dot_general(x, np.ones((3, 1), "f"), sizes, numbers).tolist()
        [[[2.0], [2.0]], [[1.0], [1.0]]]
    """
    if group_offset is not None:
        raise errors.ArgumentError(
            errors.explain("ragged_dot_general", "group_offset is not supported",
                           {"group_offset": group_offset})
        )  # fmt: skip
    numbers = _ragged_numbers(lhs, rhs, group_sizes, ragged_dot_dimension_numbers)
    (lc, rc), (lb, rb), ragged, group = numbers
    options = {"precision": precision, "preferred_element_type": preferred_element_type,
               "out_sharding": out_sharding}  # fmt: skip
    if ragged in lb:
        return dot_general(lhs, rhs, ((lc, rc), (lb, rb)), **options)
    outer = _outer(type_of(lhs).ndim, lc, lb, ragged)
    kept = _by_group(lhs, group_sizes, (*lb, *outer), ragged)  # a group axis in front
    lc1, lb1 = (tuple(a + 1 for a in axes) for axes in (lc, lb))
    if group is not None:
        return dot_general(kept, rhs, (((0, *lc1), (group, *rc)), (lb1, rb)), **options)
    found = dot_general(kept, rhs, ((lc1, rc), (lb1, rb)), **options)
    n = len(lb)  # behind the batch axes, where the group axis now is
    order = (n, *range(n), *range(n + 1, type_of(found).ndim))
    return transpose(found, order)


def _outer(ndim: int, contracting: Any, batch: Any, ragged: int) -> tuple[int, ...]:
    """Axes of lhs of the kind of the ragged one that stand before it."""
    if ragged in contracting:
        return tuple(contracting[: contracting.index(ragged)])
    own = [a for a in range(ndim) if a not in contracting and a not in batch]
    return tuple(own[: own.index(ragged)])


def _by_group(lhs: Any, sizes: Any, leading: tuple[int, ...], ragged: int) -> Any:
    """(g, *lhs): lhs where an element is in the group, else 0."""
    t, s = type_of(lhs), type_of(sizes)
    groups = s.shape[-1]
    wanted = tuple(t.shape[a] for a in leading)
    if s.shape[:-1] not in ((), wanted):
        raise errors.ShapeError(
            errors.explain(
                "ragged_dot_general", f"group_sizes must have the shape {(*wanted, groups)} or "
                f"{(groups,)}", {"lhs": t, "group_sizes": s},
            )
        )  # fmt: skip
    sizes = convert_element_type(sizes, np.int32)
    ends = cumsum(sizes, s.ndim - 1)
    shape = (groups, *t.shape)
    places = tuple(a + 1 for a in leading) if s.ndim > 1 else ()
    order = (s.ndim - 1, *range(s.ndim - 1))
    row = broadcasted_iota(np.int32, shape, ragged + 1)
    places, order = _increasing((0, *places), order)
    starts, stops = (
        broadcast_in_dim(transpose(x, order), shape, places) for x in (sub(ends, sizes), ends)
    )
    inside = bitwise_and(ge(row, starts), lt(row, stops))
    wide = broadcast_in_dim(lhs, shape, range(1, t.ndim + 1))
    return select(inside, wide, full_like(wide, 0))


def _increasing(places: Any, order: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Both sequences, sorted by place."""
    pairs = sorted(zip(places, order, strict=True))
    return tuple(p for p, _ in pairs), tuple(o for _, o in pairs)


def _ragged_numbers(lhs: Any, rhs: Any, sizes: Any, numbers: Any) -> Any:
    """(contracting axes, batch axes, ragged axis, group axis or None), checked."""
    a, b, s = type_of(lhs), type_of(rhs), type_of(sizes)
    shown = {"lhs": a, "rhs": b, "group_sizes": s, "ragged_dot_dimension_numbers": numbers}
    try:
        ((lc, rc), (lb, rb)), ragged, group = numbers
        lc, rc, lb, rb, ragged, group = map(tuple, (lc, rc, lb, rb, ragged, group))
    except (TypeError, ValueError):
        raise errors.ArgumentError(
            errors.explain("ragged_dot_general", "needs RaggedDotDimensionNumbers", shown)
        ) from None
    own = ragged and ragged[0] not in lc + lb
    if len(ragged) != 1 or not 0 <= ragged[0] < a.ndim or len(group) != bool(own):
        raise errors.ArgumentError(
            errors.explain(
                "ragged_dot_general", "needs one ragged axis of lhs, and one group axis of rhs if "
                "that is neither contracted nor a batch axis, else none", shown,
            )
        )  # fmt: skip
    if s.kind not in "iu" or not s.ndim:
        raise errors.DTypeError(
            errors.explain("ragged_dot_general", "group_sizes must be an array of integers", shown)
        )
    if group and b.shape[group[0]] != s.shape[-1]:
        raise errors.ShapeError(
            errors.explain("ragged_dot_general", "rhs and group_sizes have different numbers of "
                           "groups", shown)
        )  # fmt: skip
    return (lc, rc), (lb, rb), ragged[0], group[0] if group else None


__all__ = ["RaggedDotDimensionNumbers", "ragged_dot", "ragged_dot_general"]
