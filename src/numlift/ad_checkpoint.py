"""Rematerialisation: `checkpoint`, names for values, and what a gradient keeps."""

from __future__ import annotations

from .api.checkpoint import (
    checkpoint,
    checkpoint_name,
    print_saved_residuals,
    saved_residuals,
)

remat = checkpoint

__all__ = ["checkpoint", "checkpoint_name", "print_saved_residuals", "remat", "saved_residuals"]
