"""Meshes, partition specs and shardings: which device holds which part of an array."""

from typing import Any

from .base import Sharding
from .context import get_abstract_mesh, get_mesh, set_mesh, use_abstract_mesh, use_mesh
from .mesh import AbstractDevice, AbstractMesh, AxisType, Mesh
from .named import (
    NamedSharding,
    SingleDeviceSharding,
    TiledSharding,
    make_single_device_sharding,
)
from .spec import UNCONSTRAINED, P, PartitionSpec
from .text import sdy_sharding_text, sdy_spec_text, sdy_text

auto_axes: Any
explicit_axes: Any
reshard: Any
# Functions of arrays, which live above this package: entered by `numlift` itself.

__all__ = [
    "UNCONSTRAINED",
    "AbstractDevice",
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "P",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "TiledSharding",
    "auto_axes",
    "explicit_axes",
    "get_abstract_mesh",
    "get_mesh",
    "make_single_device_sharding",
    "reshard",
    "sdy_sharding_text",
    "sdy_spec_text",
    "sdy_text",
    "set_mesh",
    "use_abstract_mesh",
    "use_mesh",
]


def __dir__() -> list[str]:
    return sorted(__all__)
