"""The stages of a jitted function."""

from __future__ import annotations

from .api.stages import Compiled, Lowered, Traced

__all__ = ["Compiled", "Lowered", "Traced"]
