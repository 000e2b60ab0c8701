"""`interp` along symbolic sizes: a binary search whose length is not known."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import export


@pytest.mark.parametrize("n", [1, 2, 3, 7, 33])
def test_interp(n) -> None:
    (b,) = export.symbolic_shape("b")
    spec = nl.ShapeDtypeStruct((b,), "float32")
    exported = export.export(nl.jit(lambda x, xp, fp: np.interp(x, xp, fp)))(spec, spec, spec)
    rng = numpy.random.default_rng(n)
    x, fp = rng.normal(size=(2, n)).astype("float32")
    xp = numpy.sort(rng.normal(size=n)).astype("float32")
    found = export.deserialize(exported.serialize()).call(x, xp, fp)
    numpy.testing.assert_allclose(found, numpy.interp(x, xp, fp), rtol=1e-4, atol=1e-5)
