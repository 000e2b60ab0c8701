"""Functions as bytes: export in one process, call in another without the Python source."""

from __future__ import annotations

from ..core.dim_scope import SymbolicScope
from ..core.dims import is_symbolic_dim
from .exported import Exported, default_export_platform, deserialize, export
from .symbolic import symbolic_args_specs, symbolic_shape
from .trees import register_namedtuple_serialization, register_pytree_node_serialization

__all__ = [
    "Exported",
    "SymbolicScope",
    "default_export_platform",
    "deserialize",
    "export",
    "is_symbolic_dim",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
    "symbolic_args_specs",
    "symbolic_shape",
]


def __dir__() -> list[str]:
    return sorted(__all__)
