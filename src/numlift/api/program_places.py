"""Where a program runs, and how its inputs and results are placed on these devices."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import config, errors
from ..core.graph import Graph
from ..ops.call import HigherOrder
from ..runtime.placement import (
    Placement,
    default_sharding,
    hlo_sharding,
    placement,
    sharded_type,
    sharding_from_hlo,
)
from ..sharding.mesh import Mesh
from ..sharding.named import NamedSharding, SingleDeviceSharding
from ..sharding.spec import PartitionSpec


def choose_devices(
    name: str,
    placements: Sequence[Placement],
    in_shardings: Sequence[Any] | None,
    out_shardings: Sequence[Any] | None,
    context: Any,
) -> tuple[tuple[Any, ...], Mesh | None]:
    """Devices of the program, in order, and the mesh over them if there are several."""
    asked = [s for s in (*(in_shardings or ()), *(out_shardings or ())) if s is not None]
    shardings = [p.sharding for p in placements if p.committed] + asked
    orders = {s.device_order: s for s in shardings}
    if len(orders) > 1:
        several = {o: s for o, s in orders.items() if len(o) > 1}
        singles = {o for o in orders if len(o) == 1}
        if len(several) != 1 or singles:
            raise errors.DeviceError(
                errors.explain(
                    name,
                    "arguments are committed to different devices",
                    {f"argument {i}": (p.type, p.sharding) for i, p in enumerate(placements)},
                    try_="nl.device_put(x, sharding) all arguments onto the same devices",
                )
            )
        orders = several
    if orders:
        order, sharding = next(iter(orders.items()))
        meshes: list[Any] = [s.mesh for s in shardings if isinstance(s, NamedSharding)]
        if meshes:
            return order, meshes[0]
        if isinstance(context, Mesh) and context.device_tuple == order:
            return order, context
        return order, flat_mesh(order) if len(order) > 1 else None
    if isinstance(context, Mesh):
        return context.device_tuple, context
    for p in placements:
        if config.current().default_device is None or len(p.sharding.device_order) > 1:
            return p.sharding.device_order, None
    return default_sharding().device_order, None


def constraint_mesh(graph: Graph) -> Mesh | None:
    """The mesh that a sharding constraint inside the graph names, if any."""
    for eq in graph.equations:
        sharding = getattr(eq.op, "sharding", None)
        if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh):
            return sharding.mesh
        if isinstance(eq.op, HigherOrder):
            for inner in eq.op.graphs():
                found = constraint_mesh(inner)
                if found is not None:
                    return found
    return None


def flat_mesh(order: tuple[Any, ...]) -> Mesh:
    """A mesh for devices that came without one."""
    return Mesh(np.array(order, dtype=object), ("devices",))


def target_placement(
    have: Placement, order: tuple[Any, ...], mesh: Mesh | None, wanted: Any
) -> Placement:
    """Where an argument must be when the program runs."""
    if wanted is not None and not isinstance(wanted, NamedSharding):
        return placement(have.type, wanted, True)
    if wanted is not None:
        return placement(sharded_type(have.type, wanted), wanted, True)
    if mesh is None:
        if have.sharding.device_order == order:
            return have
        return placement(have.type, SingleDeviceSharding(order[0]), have.committed)
    sharding = have.sharding
    if isinstance(sharding, NamedSharding) and sharding.mesh is mesh:
        return have
    if sharding.device_order == order:
        ndim = have.type.physical.ndim
        hlo = hlo_sharding(sharding, ndim)
        named = sharding_from_hlo(hlo, order, ndim, mesh, sharding.memory_kind)
        if isinstance(named, NamedSharding):
            return placement(have.type, named, True)
    return placement(have.type, NamedSharding(mesh, PartitionSpec()), True)


def result_sharding(
    t: Any, order: tuple[Any, ...], mesh: Mesh | None, wanted: Any, kind: str | None = None
) -> Any:
    """Sharding of a result: as asked, as its type says, or None: the compiler's choice.

    `kind` is the memory that the program leaves it in.
    """
    if wanted is not None:
        return wanted
    if mesh is None:
        return SingleDeviceSharding(order[0], memory_kind=kind)
    if t.sharding is not None and not mesh.auto_axes:
        return NamedSharding(mesh, t.sharding.spec, memory_kind=kind)
    if mesh.are_all_axes_explicit:
        # what a type without sharding says
        return NamedSharding(mesh, PartitionSpec(), memory_kind=kind)
    return None


def match_donated(
    graph: Graph, donated: Sequence[int], fixed: Mapping[int, int | None], mesh: Mesh | None
) -> dict[int, int | None]:
    """Which output takes over the memory of which donated input; of some this is fixed."""
    free = [o for o in range(len(graph.outputs)) if o not in fixed.values()]
    found: dict[int, int | None] = {i: o if mesh is None else None for i, o in fixed.items()}
    unused = []
    for i in donated:
        t = graph.inputs[i].type
        for o in free:
            u = graph.out_types[o]
            if u.shape == t.shape and u.dtype == t.dtype:
                free.remove(o)
                found[i] = o if mesh is None else None
                break
        else:
            unused.append(t)
    if unused:
        warnings.warn(
            f"{graph.name}: donated buffers were not usable, because no result has the type "
            f"{', '.join(map(str, unused))}",
            stacklevel=errors.user_depth(),
        )
    return found
