"""Functions over NumPy arrays, run as compiled programs."""

from __future__ import annotations

from .lift import lift

__all__ = ["lift"]


def __dir__() -> list[str]:
    return sorted(__all__)
