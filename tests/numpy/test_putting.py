"""put against NumPy."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors


@pytest.mark.parametrize("mode", ["wrap", "clip", None])
def test_put_equals_numpy(mode: str | None) -> None:
    x = numpy.arange(6.0, dtype=numpy.float32).reshape(2, 3)
    indices = [0, 4, 2] if mode is None else [0, 8, -9]
    for values in ([10.0, 20.0], 7.0, [1.0, 2.0, 3.0, 4.0]):
        wanted = x.copy()
        numpy.put(wanted, indices, values, mode=mode or "raise")
        found = np.put(x, numpy.asarray(indices), values, mode, inplace=False)
        numpy.testing.assert_array_equal(found, wanted)


def test_put_out_of_bounds() -> None:
    assert np.put(np.zeros(2), np.asarray([5]), 1.0, inplace=False).tolist() == [0.0, 0.0]
    assert np.put(np.zeros(2), [5], 1.0, "drop", inplace=False).tolist() == [0.0, 0.0]
    with pytest.raises(IndexError, match="put: index 5 is out of bounds for an array with size 2"):
        np.put(np.zeros(2), numpy.asarray([1, 5]), 1.0, inplace=False)
    assert np.put(np.zeros(2), numpy.asarray([-1]), 1.0, inplace=False).tolist() == [0.0, 1.0]


def test_put_differentiates_and_teaches() -> None:
    f = lambda x, v: (np.put(x, numpy.asarray([1]), v, inplace=False) ** 2).sum()
    gx, gv = nl.grad(f, (0, 1))(np.asarray([1.0, 2.0]), 3.0)
    assert gx.tolist() == [2.0, 0.0] and float(gv) == 6.0
    with pytest.raises(errors.ImmutableArrayError, match="inplace=False"):
        np.put(np.zeros(2), 0, 1.0)
    with pytest.raises(errors.ValueArgumentError, match="mode"):
        np.put(np.zeros(2), 0, 1.0, "raise", inplace=False)
