"""Look at values, arrays and shardings while a program runs."""

from __future__ import annotations

from .api.debug_callbacks import callback
from .api.debug_callbacks import print_values as print
from .api.debugger import breakpoint
from .runtime.display import inspect_array_sharding, visualize_array_sharding, visualize_sharding

__all__ = [
    "breakpoint",
    "callback",
    "inspect_array_sharding",
    "print",
    "visualize_array_sharding",
    "visualize_sharding",
]
