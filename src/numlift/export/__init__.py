"""Functions as bytes: export in one process, call in another without the Python source."""

from __future__ import annotations

from .exported import Exported, deserialize, export
from .trees import register_namedtuple_serialization, register_pytree_node_serialization

__all__ = [
    "Exported",
    "deserialize",
    "export",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
]
