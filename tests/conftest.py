"""Set-up shared by all tests: eight virtual CPU devices, fixed seeds, one compile cache."""

from __future__ import annotations

import os

# These must be set before numlift is imported: the client reads them when it starts.
os.environ.setdefault("NUMLIFT_NUM_CPU_DEVICES", "8")
os.environ.setdefault("NUMLIFT_PLATFORMS", "cpu")

import random
from collections.abc import Callable, Iterator

import numpy
import pytest
from hypothesis import HealthCheck, settings

import numlift

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


def _with_flag(name: str, value: object) -> Iterator[None]:
    before = getattr(numlift.config, name)
    numlift.config.update(name, value)
    try:
        yield
    finally:
        numlift.config.update(name, before)


@pytest.fixture
def enable_x64() -> Iterator[None]:
    """64-bit types are on during the test."""
    yield from _with_flag("numlift_enable_x64", True)


@pytest.fixture
def set_flag() -> Iterator[Callable[[str, object], None]]:
    """`set_flag(name, value)` sets a flag until the test ends."""
    before: dict[str, object] = {}

    def set_one(name: str, value: object) -> None:
        before.setdefault(name, getattr(numlift.config, name))
        numlift.config.update(name, value)

    yield set_one
    for name, value in before.items():
        numlift.config.update(name, value)
