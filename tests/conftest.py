"""Set-up shared by all tests: fixed seeds, a quiet Hypothesis, fixtures that change flags."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, settings

from numlift.config import get, replace, update

settings.register_profile(
    "numlift",
    derandomize=True,
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    database=None,
)
settings.load_profile("numlift")

SEED = 20261201


@pytest.fixture(autouse=True)
def _fixed_seeds() -> None:
    """Every test starts from the same random state, in whatever order tests run."""
    random.seed(SEED)
    numpy.random.seed(SEED)


@pytest.fixture
def rng() -> numpy.random.Generator:
    """A NumPy generator with a fixed seed."""
    return numpy.random.default_rng(SEED)


@pytest.fixture
def enable_x64() -> Iterator[None]:
    """64-bit types are on during the test."""
    with replace(enable_x64=True):
        yield


@pytest.fixture
def set_flag() -> Iterator[Callable[[str, Any], None]]:
    """`set_flag(name, value)` sets a flag for all threads until the test ends."""
    before: dict[str, Any] = {}

    def set_one(name: str, value: Any) -> None:
        before.setdefault(name, get(name))
        update(name, value)

    yield set_one
    for name, value in before.items():
        update(name, value)
