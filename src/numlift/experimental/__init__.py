"""Parts whose interface may still change."""

from __future__ import annotations

from ..api.callbacks import io_callback

__all__ = ["io_callback"]
