"""Propagation of Explicit shardings: what several ops' `shard` rules share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import errors
from ..core.types import ArrayType
from .named import NamedSharding
from .spec import PartitionSpec


def spec_of(type_: ArrayType) -> tuple[Any, ...]:
    """One entry a dimension: None, a mesh axis name, or a tuple of names."""
    if type_.sharding is None:
        return (None,) * type_.ndim
    return tuple(type_.sharding.spec.padded(type_.ndim))


def mesh_of(types: Sequence[ArrayType]) -> Any:
    """The mesh of the first type that has a sharding, else None."""
    for t in types:
        if t.sharding is not None:
            return t.sharding.mesh
    return None


def named(mesh: Any, entries: Sequence[Any]) -> NamedSharding | None:
    """Sharding with these entries; None when there is no mesh."""
    return None if mesh is None else NamedSharding(mesh, PartitionSpec(*entries))


def axis_names_in(entry: Any) -> tuple[Any, ...]:
    """Mesh axes of one entry of a spec, as a tuple."""
    if entry is None:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


def merge(function: str, types: Sequence[ArrayType]) -> NamedSharding | None:
    """Common sharding of operands of one shape: an unsharded dimension takes the other's axes.

    Raises:
        ShardingError: two operands shard a dimension over different mesh axes, or one mesh axis
            would shard two dimensions.
    """
    full = [t for t in types if t.ndim]
    mesh = mesh_of(full)
    if mesh is None:
        return named(mesh_of(types), ())
    merged = list(spec_of(full[0]))
    for t in full[1:]:
        for i, entry in enumerate(spec_of(t)):
            if merged[i] is None:
                merged[i] = entry
            elif entry is not None and entry != merged[i]:
                raise conflict(function, f"operands shard axis {i} differently", types)
    used = [n for e in merged for n in axis_names_in(e)]
    if len(used) != len(set(used)):
        raise conflict(function, "one mesh axis would shard two axes of the result", types)
    return named(mesh, merged)


def check_divides(
    function: str, sharding: NamedSharding, shape: tuple[int, ...], types: Sequence[ArrayType]
) -> None:
    """Raise if a dimension of a result does not divide evenly over its mesh axes."""
    for i, (n, entry) in enumerate(zip(shape, sharding.spec.padded(len(shape)), strict=True)):
        ways = math.prod(sharding.mesh.shape[name] for name in axis_names_in(entry))
        if n % ways:
            raise conflict(
                function,
                f"axis {i} of the result, of size {n}, does not divide into the {ways} parts that "
                f"{entry!r} has",
                types,
            )


def conflict(function: str, rule: str, types: Sequence[ArrayType]) -> errors.ShardingError:
    """The error for operands whose shardings cannot be combined."""
    return errors.ShardingError(
        errors.explain(
            function,
            rule,
            {f"operand {i}": t for i, t in enumerate(types)},
            try_="nl.reshard(x, P(...)) one operand first",
        )
    )
