"""Collectives over named axes: psum and its kin."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core.tracing import apply, named_axes, type_of
from ..core.types import ArrayType
from ..ops.collectives import (
    AllGather,
    AllToAll,
    AxisIndex,
    Collective,
    Pmax,
    Pmin,
    Ppermute,
    Psum,
    PsumScatter,
)
from ..ops.compare import eq
from ..ops.elementwise_binary import div
from ..structural.arith import add, convert, mul, select
from ..tree import tree_map
from .arguments import static_int


def _names(function: str, axis_name: Any) -> tuple[Any, ...]:
    names = axis_name if isinstance(axis_name, (tuple, list)) else (axis_name,)
    known = named_axes()
    for n in names:
        if n not in known:
            raise errors.UnboundAxisError(
                errors.explain(
                    function,
                    f"no axis named {n!r} is in scope",
                    {"named axes": list(known) or "none"},
                    try_=f"nl.vmap(f, axis_name={n!r})",
                )
            )
    return tuple(names)


def _one(function: str, axis_name: Any) -> tuple[Any, int]:
    names = _names(function, axis_name)
    if len(names) != 1:
        raise errors.ValueArgumentError(
            errors.explain(function, "takes one axis name", {"axis_name": axis_name})
        )
    return names[0], named_axes()[names[0]]


def _no_groups(function: str, groups: Any) -> None:
    if groups is not None:
        raise errors.ValueArgumentError(
            errors.explain(
                function,
                "axis_index_groups is not defined for vmap axes",
                try_="two nested vmaps with two axis names, and one of them here",
            )
        )


def _each(op: Collective, x: Any) -> Any:
    return tree_map(lambda leaf: apply(op, leaf), x)


def axis_size(axis_name: Any) -> int:
    """Number of positions along a named axis (the product, for several names).

    Args:
        axis_name: name of an axis in scope, or a tuple of names.

    Returns:
        An int, known while tracing.

    Raises:
        UnboundAxisError: no such axis.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.vmap(lambda x: x * nl.lax.axis_size("i"), axis_name="i")(np.ones(3)))
        [3. 3. 3.]
    """
    return _total(_names("axis_size", axis_name))


def _total(names: tuple[Any, ...]) -> int:
    known = named_axes()
    return math.prod(known[n] for n in names)


def axis_index(axis_name: Any) -> Any:
    """Position along a named axis, int32; row-major over several names.

    Args:
        axis_name: name of an axis in scope, or a tuple of names.

    Returns:
        A scalar, which differs between the positions.

    Raises:
        UnboundAxisError: no such axis.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.vmap(lambda x: x + nl.lax.axis_index("i"), axis_name="i")(np.zeros(3)))
        [0. 1. 2.]
    """
    known = named_axes()
    total: Any = None
    for n in _names("axis_index", axis_name):
        index = apply(AxisIndex.of((n,)))
        if total is None:
            total = index
        else:
            total = apply(add, apply(mul, total, np.int32(known[n])), index)
    return total


def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Sum over a named axis (or several); for a Python number, the number times the size.

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope, or a tuple of names.
        axis_index_groups: must be None.

    Returns:
        The pytree, with the same values at all positions.

    Raises:
        UnboundAxisError: no such axis.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.vmap(lambda x: x / nl.lax.psum(x, "i"), axis_name="i")(np.array([1.0, 3.0])))
        [0.25 0.75]
    """
    _no_groups("psum", axis_index_groups)
    names = _names("psum", axis_name)
    size = axis_size(names)

    def one(leaf: Any) -> Any:
        if isinstance(leaf, (int, float, complex)) and not isinstance(leaf, bool):
            return leaf * size
        if type_of(leaf).kind == "b":
            leaf = convert(leaf, "int32")
        return apply(Psum.of(names), leaf)

    return tree_map(one, x)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Mean over a named axis; integers become float32.

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope, or a tuple of names.
        axis_index_groups: must be None.

    Returns:
        The pytree, with the same values at all positions.

    Raises:
        UnboundAxisError: no such axis.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.vmap(lambda x: x - nl.lax.pmean(x, "i"), axis_name="i")(np.array([1.0, 3.0])))
        [-1.  1.]
    """
    size = _total(_names("pmean", axis_name))

    def mean(total: Any) -> Any:
        if isinstance(total, (int, float, complex)):
            return total / size
        t = type_of(total)
        if not t.inexact:
            total = convert(total, "float32")
        return apply(div, total, type_of(total).dtype.type(size))

    return tree_map(mean, psum(x, axis_name, axis_index_groups=axis_index_groups))


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Maximum over a named axis. Equal values share the derivative equally (JAX has none).

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope, or a tuple of names.
        axis_index_groups: must be None.

    Returns:
        The pytree, with the same values at all positions.

    Raises:
        UnboundAxisError: no such axis.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.vmap(lambda x: nl.lax.pmax(x, "i"), axis_name="i")(np.array([1.0, 3.0])))
        [3. 3.]
    """
    _no_groups("pmax", axis_index_groups)
    return _each(Pmax.of(_names("pmax", axis_name)), x)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """Minimum over a named axis. Equal values share the derivative equally (JAX has none).

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope, or a tuple of names.
        axis_index_groups: must be None.

    Returns:
        The pytree, with the same values at all positions.

    Raises:
        UnboundAxisError: no such axis.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.vmap(lambda x: nl.lax.pmin(x, "i"), axis_name="i")(np.array([1.0, 3.0])))
        [1. 1.]
    """
    _no_groups("pmin", axis_index_groups)
    return _each(Pmin.of(_names("pmin", axis_name)), x)


def _axis(function: str, axis: Any, ndim: int) -> int:
    i = static_int(function, "axis", axis)
    if not -ndim <= i < ndim:
        raise errors.AxisError(
            errors.explain(
                function,
                f"axis {i} is out of range for one example with {ndim} axes",
                try_="count axes without the one that vmap maps over",
            )
        )
    return i % ndim


def _check_split(function: str, t: ArrayType, axis: int, name: Any, size: int, tiled: bool) -> None:
    """Raise unless an axis splits over the positions of a named axis."""
    found = t.shape[axis]
    if (found % size) if tiled else (found != size):
        words = "a multiple of" if tiled else "equal to"
        raise errors.ShapeError(
            errors.explain(
                function,
                f"the size of axis {axis} must be {words} that of the named axis {name!r}, {size}",
                {"x": t},
                try_="tiled=True to split into equal blocks"
                if not tiled and found % size == 0
                else f"np.pad or reshape axis {axis} first",
            )
        )


def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Any = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """The values at all positions of a named axis, stacked (or concatenated if `tiled`).

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope.
        axis_index_groups: must be None.
        axis: the new axis, or the one along which values are concatenated.
        tiled: concatenate instead of stacking.
        to: how the result is marked, see `pcast`: without effect here.

    Returns:
        The pytree, with the same values at all positions.

    Raises:
        UnboundAxisError: no such axis.
        AxisError: `axis` is out of range.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.vmap(lambda x: nl.lax.all_gather(x, "i"), axis_name="i")(np.arange(2)))
        [[0 1]
         [0 1]]
    """
    _no_groups("all_gather", axis_index_groups)
    name, size = _one("all_gather", axis_name)
    pcast(x, name, to=to)

    def one(leaf: Any) -> Any:
        at = _axis("all_gather", axis, type_of(leaf).ndim + (not tiled))
        return apply(AllGather.of((name,), size, at, tiled), leaf)

    return tree_map(one, x)


def psum_scatter(
    x: Any,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Sum over a named axis, of which each position keeps its part along scatter_dimension.

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope.
        scatter_dimension: the axis of `x` that is split over the positions.
        axis_index_groups: must be None.
        tiled: each position keeps a block of that axis; without it the axis has the size of the
            named one, and is gone in the result.

    Returns:
        The pytree of parts.

    Raises:
        UnboundAxisError: no such axis.
        ShapeError: the axis cannot be split.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> x = np.array([[1, 2], [3, 4]])
        >>> print(nl.vmap(lambda row: nl.lax.psum_scatter(row, "i"), axis_name="i")(x))
        [4 6]
    """
    _no_groups("psum_scatter", axis_index_groups)
    name, size = _one("psum_scatter", axis_name)

    def one(leaf: Any) -> Any:
        t = type_of(leaf)
        at = _axis("psum_scatter", scatter_dimension, t.ndim)
        _check_split("psum_scatter", t, at, name, size, tiled)
        return apply(PsumScatter.of((name,), size, at, tiled), leaf)

    return tree_map(one, x)


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Send values along a named axis by (source, destination) pairs; the others get zeros.

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope.
        perm: pairs of positions; no source and no destination twice.

    Returns:
        The pytree of what was received.

    Raises:
        UnboundAxisError: no such axis.
        ValueArgumentError: a position is out of range, or there twice.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> shift = [(0, 1), (1, 2), (2, 0)]
        >>> print(nl.vmap(lambda x: nl.lax.ppermute(x, "i", shift), axis_name="i")(np.arange(3)))
        [2 0 1]
    """
    name, size = _one("ppermute", axis_name)
    try:
        pairs = tuple((operator.index(a), operator.index(b)) for a, b in perm)
    except (TypeError, ValueError):
        raise errors.ArgumentError(
            errors.explain(
                "ppermute",
                "perm must hold pairs (source, destination) of ints",
                {"perm": perm},
                try_="[(i, (i + 1) % n) for i in range(n)] sends every value one place on",
            )
        ) from None
    for side in (0, 1):
        found = [p[side] for p in pairs]
        if len(set(found)) != len(found) or any(not 0 <= i < size for i in found):
            raise errors.ValueArgumentError(
                errors.explain(
                    "ppermute",
                    f"sources and destinations must be distinct and in [0, {size})",
                    {"perm": pairs},
                )
            )
    return _each(Ppermute.of((name,), pairs), x)


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """Position i gets the value of position perm[i].

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope.
        perm: a permutation of the positions.

    Returns:
        The pytree of what was received.

    Raises:
        UnboundAxisError: no such axis.
        ValueArgumentError: no permutation.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> f = lambda x: nl.lax.pshuffle(x, "i", [2, 0, 1])
        >>> print(nl.vmap(f, axis_name="i")(np.arange(3)))
        [2 0 1]
    """
    _, size = _one("pshuffle", axis_name)
    if sorted(perm) != list(range(size)):
        raise errors.ValueArgumentError(
            errors.explain(
                "pshuffle", f"perm must be a permutation of range({size})", {"perm": perm}
            )
        )
    return ppermute(x, axis_name, [(int(p), i) for i, p in enumerate(perm)])


def pswapaxes(x: Any, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Swap a named axis with an axis of the array.

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope.
        axis: an axis of `x` with the size of the named one.
        axis_index_groups: must be None.

    Returns:
        The pytree with the axes swapped.

    Raises:
        UnboundAxisError: no such axis.
        ShapeError: the sizes differ.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> x = np.array([[1, 2], [3, 4]])
        >>> print(nl.vmap(lambda row: nl.lax.pswapaxes(row, "i", 0), axis_name="i")(x))
        [[1 3]
         [2 4]]
    """
    return _exchange("pswapaxes", x, axis_name, axis, axis, axis_index_groups, False)


def all_to_all(
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Split along `split_axis`, exchange over the named axis, join along `concat_axis`.

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope.
        split_axis: part i of this axis goes to position i.
        concat_axis: the parts that arrive are joined along this axis, in the order of positions.
        axis_index_groups: must be None.
        tiled: parts are blocks that are concatenated. Without it `split_axis` has the size of the
            named axis and goes away, and `concat_axis` is new.

    Returns:
        The pytree of what was received.

    Raises:
        UnboundAxisError: no such axis.
        ShapeError: the axis cannot be split.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> x = np.arange(8).reshape(2, 4)
        >>> f = lambda row: nl.lax.all_to_all(row, "i", 0, 0, tiled=True)
        >>> print(nl.vmap(f, axis_name="i")(x))
        [[0 1 4 5]
         [2 3 6 7]]
    """
    return _exchange("all_to_all", x, axis_name, split_axis, concat_axis, axis_index_groups, tiled)


def _exchange(
    function: str,
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    groups: Any,
    tiled: bool,
) -> Any:
    _no_groups(function, groups)
    name, size = _one(function, axis_name)

    def one(leaf: Any) -> Any:
        t = type_of(leaf)
        split = _axis(function, split_axis, t.ndim)
        concat = _axis(function, concat_axis, t.ndim)
        _check_split(function, t, split, name, size, tiled)
        return apply(AllToAll.of((name,), size, split, concat, tiled), leaf)

    return tree_map(one, x)


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """The value at position `source` of a named axis, everywhere.

    Args:
        x: pytree of arrays.
        axis_name: name of an axis in scope.
        source: a position.

    Returns:
        The pytree, with the same values at all positions.

    Raises:
        UnboundAxisError: no such axis.
        ValueArgumentError: no such position.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> print(nl.vmap(lambda x: nl.lax.pbroadcast(x, "i", 1), axis_name="i")(np.arange(3)))
        [1 1 1]
    """
    _, size = _one("pbroadcast", axis_name)
    if not 0 <= source < size:
        raise errors.ValueArgumentError(
            errors.explain("pbroadcast", f"source must be in [0, {size})", {"source": source})
        )

    def one(leaf: Any) -> Any:
        here = apply(eq, axis_index(axis_name), np.int32(source))
        t = type_of(leaf)
        kept = apply(select, here, t.dtype.type(0), leaf)
        return convert(psum(kept, axis_name), t.dtype, t.weak_type)  # sums of bools are int32

    return tree_map(one, x)


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """A value marked as varying (or not) over named axes: here all values may vary, so `x` itself.

    Args:
        x: pytree of arrays.
        axis_name: named axis in scope, or several.
        to: ``"varying"``, ``"reduced"`` or ``"unreduced"``.

    Returns:
        `x`, unchanged.

    Raises:
        UnboundAxisError: no such axis.
        ValueArgumentError: another word.

    Example:
        >>> import numlift as nl
        >>> import numlift.numpy as np
        >>> from numlift.lax import pcast
        >>> print(nl.vmap(lambda x: pcast(x, "i", to="varying"), axis_name="i")(np.arange(2)))
        [0 1]
    """
    if to not in ("varying", "reduced", "unreduced"):
        raise errors.ValueArgumentError(
            errors.explain(
                "pcast", "to must be 'varying', 'reduced' or 'unreduced'", {"to": to},
                try_="to='varying'",
            )
        )  # fmt: skip
    _names("pcast", axis_name)
    return x
