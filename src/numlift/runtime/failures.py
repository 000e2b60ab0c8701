"""What a user reads when a program or a transfer fails, instead of what XLA says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..core.types import ArrayType
from ..errors import ExecutionError, OutOfMemoryError, explain

_SHOWN = 4
_BYTES = re.compile(r"(\d[\d.]*) ?(bytes|B|[KMGTP]i?B)\b")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
_MEMORY = ("RESOURCE_EXHAUSTED", "Out of memory", "out of memory", "bad_alloc")


def is_memory_failure(error: BaseException) -> bool:
    """Whether an exception says that memory ran out."""
    return isinstance(error, MemoryError) or any(word in str(error) for word in _MEMORY)


def gib(n: float) -> str:
    """A number of bytes as text."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if n >= size:
            return f"{n / size:,.4g} {unit}" if n < 1000 * size else f"{n / size:,.0f} {unit}"
    return f"{n:.0f} bytes"


def bytes_of(t: ArrayType) -> int:
    """Bytes of all elements of an array."""
    physical = t.physical
    return physical.size * physical.dtype.itemsize


def failure(
    error: BaseException, function: str, values: Mapping[str, ArrayType], devices: Any = None
) -> Exception:
    """The exception to raise from `error`.

    Args:
        error: of XLA, or a MemoryError.
        function: what was running: a public function, an operation or ``jit(f)``.
        values: names and types of arguments and results; the largest are shown.
        devices: where it ran.
    """
    if is_memory_failure(error):
        return OutOfMemoryError(_memory_text(str(error), function.lstrip("_"), values, devices))
    said = str(error).strip().split("\n")[0][:300]
    shown: dict[str, Any] = {"reason": said, **_largest(values)}
    return ExecutionError(explain(function, "the program failed while it ran", shown))


def _largest(values: Mapping[str, ArrayType]) -> dict[str, str]:
    """The types of the largest values, with their sizes."""
    order = sorted(values.items(), key=lambda item: -bytes_of(item[1]))[:_SHOWN]
    return {name: f"{t!r}, {gib(bytes_of(t))}" for name, t in order}


def _memory_text(said: str, function: str, values: Mapping[str, ArrayType], devices: Any) -> str:
    found = _BYTES.search(said)
    wanted = ""
    if found is not None:
        n = float(found[1].rstrip(".")) * _UNITS.get(found[2][0], 1)
        wanted = f": {gib(n)} could not be allocated"
    where = "" if devices is None else f" on {devices}"
    return explain(
        function,
        f"out of memory{where}{wanted}",
        _largest(values),
        try_="smaller arrays or dtypes (bfloat16), lax.map(f, xs, batch_size=...) over parts, "
        "nl.checkpoint for gradients, donate_argnums in jit, or a sharding over more devices",
    )


__all__ = ["bytes_of", "failure", "gib", "is_memory_failure"]
