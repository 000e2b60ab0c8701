"""Random programs under random transformations give what the slow reference gives."""

from __future__ import annotations

import numpy
import pytest

from tests.random_programs.examples import check, examples
from tests.random_programs.runs import run

pytestmark = pytest.mark.skipif(
    numpy.finfo(numpy.longdouble).eps > 1e-18, reason="no extended precision for the reference"
)

SHARES = {
    "programs": ({"statements": (6, 12), "depth": (0, 1)}, 20),
    "derivatives": ({"statements": (3, 8), "depth": (1, 2)}, 30),
    "stacks": ({"statements": (2, 5), "depth": (2, 4)}, 30),
}


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("part", [0, 1])
def test_agrees_with_the_reference(share: str, part: int) -> None:
    options, count = SHARES[share]
    run(examples(**options), check, count, 20261201 + part)
