"""Meshes of the devices that are there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ShardingError, explain
from ..sharding.mesh import AxisType, Mesh
from . import devices as runtime_devices


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: str | Sequence[str],
    axis_types: Any = None,
    *,
    devices: Sequence[Any] | None = None,
) -> Mesh:
    """A mesh over the devices of the default platform.

    Args:
        axis_shapes: size of each axis; one of them may be -1, for as many as there are devices.
        axis_names: name of each axis.
        axis_types: `AxisType` of each axis, or one for all. None means Explicit, as in JAX; a
            `Mesh` made directly has Auto axes.
        devices: the devices to use, in order; None takes all of the default platform. More devices
            than the mesh needs are left out.

    Returns:
        A `Mesh` whose last axis varies fastest over the devices.

    Raises:
        ShardingError: there are too few devices, a size is not positive, or there are not as many
            names as axes.

    Example:
        >>> from numlift import make_mesh
        >>> make_mesh((1,), ("x",)).axis_names
        ('x',)
    """
    found = runtime_devices.devices() if devices is None else list(devices)
    sizes = _sizes((axis_shapes,) if isinstance(axis_shapes, int) else axis_shapes, len(found))
    needed = math.prod(sizes)
    if needed > len(found):
        cpu = bool(found) and found[0].platform == "cpu" and devices is None
        raise ShardingError(
            explain(
                "make_mesh",
                f"a mesh of shape {sizes} needs {needed} devices, there are {len(found)}",
                try_=f'config.update("num_cpu_devices", {needed}) right after `import numlift`, or '
                f"NUMLIFT_NUM_CPU_DEVICES={needed} in the environment, for {needed} virtual CPU "
                "devices"
                if cpu
                else "smaller axes",
            )
        )
    grid = np.empty(needed, dtype=object)
    grid[:] = found[:needed]
    types = AxisType.Explicit if axis_types is None else axis_types
    return Mesh(grid.reshape(sizes), axis_names, types)


def _sizes(axis_shapes: Sequence[int], available: int) -> tuple[int, ...]:
    sizes = tuple([int(s) for s in axis_shapes])
    if sizes.count(-1) > 1 or any(s < 1 and s != -1 for s in sizes):
        raise ShardingError(
            explain(
                "make_mesh",
                f"axis sizes are positive, and at most one is -1, got {sizes}",
                try_="(-1,) for one axis over all devices",
            )
        )
    if -1 not in sizes:
        return sizes
    known = math.prod(s for s in sizes if s != -1)
    if available % known:
        raise ShardingError(
            explain(
                "make_mesh",
                f"{available} devices do not divide by {known}",
                {"axis_shapes": sizes},
                try_="axis sizes that divide the number of devices",
            )
        )
    return tuple([available // known if s == -1 else s for s in sizes])
