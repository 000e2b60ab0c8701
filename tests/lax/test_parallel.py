"""Collectives over named axes: types of results."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import lax


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "complex64"])
def test_pbroadcast_keeps_dtypes(dtype: str) -> None:
    x = np.asarray(numpy.array([0, 1, 1]), dtype)
    found = nl.vmap(lambda v: lax.pbroadcast(v, "i", 1), axis_name="i")(x)
    assert found.dtype == x.dtype
    assert found.tolist() == [x[1].item()] * 3
