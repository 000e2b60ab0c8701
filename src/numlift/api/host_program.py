"""Eager calls on CPU that a NumPy kernel answers instead of a compiled program.

The function is traced as ever, so that errors, dtypes and weak types are those of the program; but
what runs is a kernel on read-only views of the arguments' memory, and the array that it fills
becomes the result without a copy. `library(host=plan)` asks the plan of a function once for each
program that would be compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.dtype_kinds import is_native
from ..core.types import ArrayType
from ..runtime import buffers, xla
from ..runtime.array import Array
from ..runtime.failures import failure
from ..runtime.host_memory import hand_over
from ..runtime.memories import other_kind
from ..runtime.placement import Placement, placement
from ..sharding.named import SingleDeviceSharding
from .program_places import choose_devices

Kernel = Callable[..., Any]
Plan = Callable[..., "Kernel | None"]
"""The parameters of the function, with an `ArrayType` for each array: a kernel, or None for "the
program is better". A kernel takes one read-only NumPy array a leaf and returns an array, or a tuple
with one a result, in memory that nobody else uses."""


class Results(list[Any]):
    """Buffers, behind the face of what an executable returns."""

    __slots__ = ()

    def consume_with_handlers(self, handlers: Any) -> Results:
        """The buffers; there is nothing to be done with them."""
        return self


class HostProgram:
    """A kernel in the place of a compiled program."""

    __slots__ = ("name", "kernel", "arguments", "placements")

    def __init__(
        self,
        name: str,
        kernel: Kernel,
        arguments: Sequence[Placement],
        placements: Sequence[Placement],
    ):
        self.name, self.kernel = name, kernel
        self.arguments, self.placements = list(arguments), list(placements)

    def __call__(self, leaves: Sequence[Array]) -> list[Array]:
        """The results for arrays.

        Raises:
            DeletedBufferError: an argument was deleted or donated.
            OutOfMemoryError: there is no memory for the result.
        """
        given = [x.buffer for x in leaves]
        try:
            found = self.run(given)
        except xla.JaxRuntimeError as error:
            raise self.failure(given, error) from error
        return [Array(b, p) for b, p in zip(found, self.placements, strict=True)]

    def run(self, given: Sequence[Any]) -> Results:
        """Wait for the buffers, run the kernel, and make its results buffers."""
        return answer(self, given)

    def failure(self, given: Sequence[Any], error: Exception) -> Exception:
        """The exception that says why a run failed.

        Raises:
            DeletedBufferError: if that is the reason.
        """
        for buffer, where in zip(given, self.arguments, strict=True):
            buffers.check_alive(buffer, where)
        types = {f"argument {i}": p.type for i, p in enumerate(self.arguments)}
        return failure(error, self.name, types)


def answer(program: HostProgram, given: Sequence[Any]) -> Results:
    """Run a kernel on buffers."""
    try:
        made = program.kernel(*map(xla.host_array, given))
        if type(made) is not tuple:
            made = (made,)
        return Results(map(hand_over, made, program.placements))
    except MemoryError as error:
        raise program.failure(given, error) from error


def result_placements(
    name: str, placements: Sequence[Placement], out_types: Sequence[ArrayType]
) -> list[Placement] | None:
    """Where a program for these arguments would leave its results.

    None unless all bytes lie in the memory of the host, as elements that NumPy knows.
    """
    if not all(map(_in_host_memory, placements)) or not all(map(_is_plain, out_types)):
        return None
    (device,), _ = choose_devices(name, placements, None, None, None)
    if any(p.sharding.device_order != (device,) for p in placements):
        return None
    committed = any(p.committed for p in placements)
    return [placement(t, SingleDeviceSharding(device), committed) for t in out_types]


def _in_host_memory(where: Placement) -> bool:
    return (
        where.on_cpu
        and isinstance(where.sharding, SingleDeviceSharding)
        and other_kind(where.sharding) is None
        and _is_plain(where.type)
    )


def _is_plain(t: ArrayType) -> bool:
    return t.sharding is None and is_native(t.dtype)


__all__ = ["HostProgram", "Kernel", "Plan", "Results", "answer", "result_placements"]
