"""What a case is, and the two libraries behind one face. Imports neither library nor NumPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

Cache = Literal["cold", "warm"]


@dataclass(frozen=True, slots=True)
class Lib:
    """One library: the top module, its NumPy, lax, random and nn. NumPy has only `np`."""

    name: str
    np: ModuleType
    top: ModuleType
    lax: ModuleType
    random: ModuleType

    @property
    def nn(self) -> ModuleType:
        """Its functions for neural networks; imported at first use, as start-up cases need none."""
        return importlib.import_module(f"{self.name}.nn")

    def ready(self, value: Any) -> Any:
        """Wait until `value`, an array or a pytree of arrays, has been computed."""
        return value if self.name == "numpy" else self.top.block_until_ready(value)


@dataclass(frozen=True, slots=True)
class Case:
    """A named measurement.

    `goal` is the largest ratio, ours over the peer's, that counts as met. `against` names the peer.
    A `cache` makes it a start-up case: one process a sample, and the time of that process counts
    from before the import, with an empty ("cold") or filled ("warm") folder of compiled programs.
    """

    name: str
    goal: float
    prepare: Callable[[Lib], Callable[[], object]]
    against: Literal["jax", "numpy"] = "jax"
    cache: Cache | None = None


CASES: dict[str, Case] = {}


def case(
    name: str,
    *,
    goal: float,
    against: Literal["jax", "numpy"] = "jax",
    cache: Cache | None = None,
) -> Callable[[Callable[[Lib], Callable[[], object]]], Callable[[Lib], Callable[[], object]]]:
    """Register the decorated function: it takes a `Lib` and returns what is to be timed."""

    def register(
        prepare: Callable[[Lib], Callable[[], object]],
    ) -> Callable[[Lib], Callable[[], object]]:
        if name in CASES:
            raise ValueError(f"two cases are named {name!r}")
        CASES[name] = Case(name, goal, prepare, against, cache)
        return prepare

    return register


def load(name: str) -> Lib:
    """Import the library called `name`: "numlift", "jax" or "numpy"."""
    if name == "numpy":
        numpy = importlib.import_module("numpy")
        return Lib(name, np=numpy, top=numpy, lax=numpy, random=numpy.random)
    parts = {part: importlib.import_module(f"{name}.{part}") for part in ("numpy", "lax", "random")}
    top = importlib.import_module(name)
    return Lib(name, np=parts["numpy"], top=top, lax=parts["lax"], random=parts["random"])
