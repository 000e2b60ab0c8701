"""Exported programs over several devices: on how many they run, and how their values are split.

The shardings are inside of the program, as constraints on its arguments and results, so that a
call needs no more than a program over as many devices. Partition i of the exported program is
partition i of the program that calls it, whatever the names of the mesh axes are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import errors
from ..api.program_places import choose_devices, constraint_mesh
from ..config import current as current_flags
from ..core.graph import Graph
from ..core.types import ArrayType
from ..runtime import xla
from ..runtime.array import Array
from ..runtime.placement import Placement, hlo_sharding, sharding_from_hlo
from ..sharding.base import Sharding
from ..sharding.mesh import Mesh
from ..sharding.named import NamedSharding
from ..transforms.simplify import simplify

Texts = tuple["str | None", ...]
"""For each value, XLA's description of how it is split; None leaves it to the compiler."""


class Spread(NamedTuple):
    """How a program is spread over devices.

    Attributes:
        mesh: the mesh that it was exported on.
        ins, outs: shardings of arguments and results; None leaves them to the compiler.
    """

    mesh: Mesh
    ins: tuple[NamedSharding | None, ...]
    outs: tuple[NamedSharding | None, ...]


def spread_of(
    name: str,
    graph: Graph,
    captured: Sequence[Array],
    placements: Sequence[Placement],
    asked: tuple[Sequence[Any] | None, Sequence[Any] | None],
) -> Spread | None:
    """How a jitted function runs on these arguments; None on one device."""
    places = [*(x.placement for x in captured), *placements]
    context = current_flags().mesh or constraint_mesh(simplify(graph))
    order, mesh = choose_devices(name, places, *asked, context)
    if len(order) == 1 or mesh is None:
        return None
    ins = asked[0] or [None] * len(placements)
    given = [
        wanted or (p.sharding if p.committed else None)
        for wanted, p in zip(ins, placements, strict=True)
    ]
    types = graph.in_types[len(captured) :]
    outs = asked[1] or [None] * len(graph.out_types)
    return Spread(
        mesh,
        tuple([_named(s, t, mesh) for s, t in zip(given, types, strict=True)]),
        tuple([_named(s, t, mesh) for s, t in zip(outs, graph.out_types, strict=True)]),
    )


def _named(sharding: Any, t: ArrayType, mesh: Mesh) -> NamedSharding | None:
    """A sharding, or the one that the type shows, on the mesh of the program."""
    if sharding is None:
        return None if t.sharding is None else NamedSharding(mesh, t.sharding.spec)
    if isinstance(sharding, NamedSharding) and sharding.mesh is mesh:
        return sharding
    if len(sharding.device_order) == 1:
        return None
    ndim = t.physical.ndim
    hlo = hlo_sharding(sharding, ndim)
    found = sharding_from_hlo(hlo, mesh.device_tuple, ndim, mesh)
    return found if isinstance(found, NamedSharding) else None


def texts_of(shardings: Sequence[NamedSharding | None], types: Sequence[ArrayType]) -> Texts:
    """Shardings in a form that knows nothing of meshes."""
    return tuple(
        [
            None if s is None else str(hlo_sharding(s, t.physical.ndim))
            for s, t in zip(shardings, types, strict=True)
        ]
    )


def on_mesh(
    texts: Texts, types: Sequence[ArrayType], mesh: Any, devices: int, function: str
) -> tuple[Sharding | None, ...]:
    """Shardings on a mesh of the user's.

    Raises:
        ShardingError: the mesh has another number of devices.
    """
    if not isinstance(mesh, Mesh) or mesh.size != devices:
        size = getattr(mesh, "size", mesh)
        raise errors.ShardingError(
            errors.explain(
                function,
                f"it was exported for {devices} devices, but the mesh has {size}",
                {"mesh": mesh},
                try_=f"a mesh of {devices} devices",
            )
        )
    found = []
    for text, t in zip(texts, types, strict=True):
        hlo = None if text is None else xla.HloSharding.from_string(text)
        place = sharding_from_hlo(hlo, mesh.device_tuple, t.physical.ndim, mesh)
        found.append(None if text is None else place)
    return tuple(found)


def check_devices(function: str, exported: int, caller: int) -> None:
    """Raise DeviceError if a program calls one that was exported for another number of devices."""
    if exported not in (1, caller):
        raise errors.DeviceError(
            errors.explain(
                function,
                f"it was exported for {exported} devices and is called in a program over {caller}",
                try_=f"arguments on a mesh of {exported} devices: nl.device_put(x, "
                "NamedSharding(mesh, P(...))), or with nl.set_mesh(mesh)",
            )
        )
