"""Arrays as text, as NumPy prints them."""

from __future__ import annotations

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.sharding import NamedSharding, PartitionSpec


def test_text_is_that_of_numpy() -> None:
    rng = numpy.random.default_rng(0)
    for shape in ((), (3,), (2, 3), (2, 2, 2), (0, 3), (2000, 2), (40, 40)):
        x = rng.normal(size=shape).astype("f4")
        assert str(np.asarray(x)) == str(x)
        assert np.array2string(np.asarray(x), precision=2) == numpy.array2string(x, precision=2)
        assert np.array_str(np.asarray(x), precision=3) == numpy.array_str(x, precision=3)
        if x.size:
            inside = numpy.array2string(x, separator=", ", prefix="Array(", suffix=",")
            text = " ".join(repr(np.asarray(x)).split())
            assert text == " ".join(f"Array({inside}, dtype=float32)".split())
    with np.printoptions(precision=2, threshold=5):
        x = rng.normal(size=9).astype("f4")
        assert str(np.asarray(x)) == str(x) and "..." in repr(np.asarray(x))
    assert np.get_printoptions() == numpy.get_printoptions()


def test_numbers_as_text() -> None:
    x = np.asarray(1.5)
    assert f"{x:.3f} {np.asarray(3):05d} {x}" == "1.500 00003 1.5"
    assert np.format_float_positional(x) == "1.5"
    assert np.format_float_scientific(np.asarray(1500.0)) == "1.5e+03"
    assert np.base_repr(5) == "101" and np.binary_repr(5, 8) == "00000101"
    with pytest.raises(errors.ArgumentError, match="format"):
        f"{np.ones(2):.2f}"
    for f in (np.array2string, np.format_float_positional, np.format_float_scientific):
        with pytest.raises(errors.TracerArrayConversionError, match=f.__name__):
            nl.jit(lambda y, f=f: f(y))(x)


def test_notebooks_and_shardings() -> None:
    assert "float32[3]" in np.ones(3)._repr_html_() and "&lt;" in nl.random.key(0)._repr_html_()
    nl.jit(lambda x: [][0] if x._repr_html_() is not None else x)(1.0)
    devices = nl.devices()
    if len(devices) > 1:
        mesh = nl.make_mesh((2,), ("x",), devices=devices[:2])
        x = nl.device_put(np.ones(4), NamedSharding(mesh, PartitionSpec("x")))
        assert repr(x).endswith("sharding=P('x'))") and "P(" in x._repr_html_()
