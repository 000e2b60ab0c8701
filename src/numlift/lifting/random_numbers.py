"""NumPy's random numbers in lifted code: drawn once, when the function is compiled, so an error.

A generator that the function makes from a seed draws the same numbers in each call, as it should.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from .. import errors

GENERATORS = (np.random.Generator, np.random.RandomState)


def _refused(name: str) -> errors.ValueArgumentError:
    return errors.ValueArgumentError(
        errors.explain(
            "lift",
            f"{name} would draw once, when the function is compiled, and not in each call",
            try_="random arrays as arguments of the function, nl.random with a key, or "
            "rng = np.random.default_rng(seed) inside of the function for numbers that are the "
            "same in each call",
        )
    )


class OutsideGenerator:
    """A generator that was made outside of the lifted function."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _refused(f"a generator's {name}")


class _Random(ModuleType):
    """`numpy.random`, without the functions that draw from the global state."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np.random, name)
        if isinstance(getattr(found, "__self__", None), np.random.RandomState):

            def refuse(*args: Any, **kwargs: Any) -> Any:
                raise _refused(f"np.random.{name}")

            return refuse
        return _seeded if name == "default_rng" else found


def _seeded(seed: Any = None) -> Any:
    if seed is None:
        raise _refused("np.random.default_rng() without a seed")
    return np.random.default_rng(seed)


RANDOM = _Random("numpy.random", np.random.__doc__)

__all__ = ["GENERATORS", "RANDOM", "OutsideGenerator"]
