"""Meshes, partition specs and shardings: which device holds which part of an array."""

from .base import Sharding
from .context import get_abstract_mesh, get_mesh, set_mesh, use_abstract_mesh, use_mesh
from .mesh import AbstractMesh, AxisType, Mesh
from .named import NamedSharding, SingleDeviceSharding, TiledSharding
from .spec import UNCONSTRAINED, P, PartitionSpec
from .text import sdy_sharding_text, sdy_spec_text, sdy_text

__all__ = [
    "UNCONSTRAINED",
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "P",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "TiledSharding",
    "get_abstract_mesh",
    "get_mesh",
    "sdy_sharding_text",
    "sdy_spec_text",
    "sdy_text",
    "set_mesh",
    "use_abstract_mesh",
    "use_mesh",
]
