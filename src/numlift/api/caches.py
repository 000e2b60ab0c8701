"""Forget what was traced and compiled."""

from __future__ import annotations

from . import eager, program


def clear_caches() -> None:
    """Forget compiled programs of eager operations and executables shared between functions.

    Jitted functions keep their own entries until they are deleted or `clear_cache()` is called on
    them. The persistent cache on disk is not touched.
    """
    eager.clear_caches()
    program.clear_executables()
