"""Look at arrays and shardings while a program runs."""

from __future__ import annotations

from .runtime.display import inspect_array_sharding, visualize_array_sharding, visualize_sharding

__all__ = ["inspect_array_sharding", "visualize_array_sharding", "visualize_sharding"]
