"""Forget what was traced and compiled; what is in memory."""

from __future__ import annotations

import gc

from ..runtime.array import Array
from ..runtime.devices import devices
from . import dispatch, eager, program


def clear_caches() -> None:
    """Forget traces and programs of all jitted functions and of eager operations.

    What is needed again is traced again, and compiled or loaded from the cache on disk, which is
    not touched.

    Returns:
        None.

    Example:
        >>> import numlift as nl
        >>> f = nl.jit(lambda x: x + 1)
        >>> _ = f(1.0)
        >>> nl.clear_caches()
        >>> f.stats().programs
        0
    """
    dispatch.clear_jitted()
    eager.clear_caches()
    program.clear_executables()


def live_arrays(platform: str | None = None) -> list[Array]:
    """Arrays that hold memory now, those that Numlift keeps itself (constants) included.

    Args:
        platform: only arrays on devices of this platform, such as ``"cpu"``; by default, of the
            default backend.

    Returns:
        The arrays, in no particular order.

    Raises:
        DeviceError: the platform is not available.

    Example:
        >>> import numlift as nl
        >>> x = nl.numpy.arange(5)
        >>> any(y is x for y in nl.live_arrays())
        True
    """
    wanted = set(devices(platform))
    found = []
    for x in gc.get_objects():
        if type(x) is Array and not x.is_deleted() and not wanted.isdisjoint(x.devices()):
            found.append(x)
    return found
