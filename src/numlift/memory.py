"""Memories of a device: `device_put(x, memory.Space.Host)`, also inside of programs.

Types of arrays do not show the memory. What a program computes with is copied to the device when
the program starts, unless the program itself moves it (`device_put(x, memory.Space.Device)`), so
that a `scan` can fetch one layer at a time. What a program puts on the host and returns stays
there. XLA for CPUs has one memory inside of a program; there only arguments and results differ.
"""

from __future__ import annotations

from .runtime.memories import Space

__all__ = ["Space"]
