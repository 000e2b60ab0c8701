"""Arrays in files: every dtype comes back as it was."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors
from numlift.core.dtypes import all_dtypes, canonicalize_dtype

DTYPES = sorted({str(canonicalize_dtype(d)) for d in all_dtypes if d.name != "float0"})


def arrays(dtype: str) -> list[Any]:
    return [np.asarray([[0, 1, 0], [1, 1, 0]]).astype(dtype), np.ones((), dtype), np.ones(0, dtype)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trips(dtype: str) -> None:
    for x in arrays(dtype):
        file, archive, small = io.BytesIO(), io.BytesIO(), io.BytesIO()
        np.save(file, x)
        np.savez(archive, x, b=x)
        np.savez_compressed(small, b=x)
        for f in (file, archive, small):
            f.seek(0)
        with np.load(archive) as read, np.load(small) as read_small:
            assert sorted(read) == ["arr_0", "b"] and len(read_small) == 1
            found = [np.load(file), read["b"], read_small["b"], read["arr_0"]]
        found += [pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)]
        for y in found:
            assert y.dtype == x.dtype and y.shape == x.shape
            numpy.testing.assert_array_equal(y.astype(float), x.astype(float))


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_keys(shape: tuple[int, ...]) -> None:
    keys = nl.random.split(nl.random.key(3), shape) if shape else nl.random.key(3)
    file = io.BytesIO()
    np.save(file, keys)
    file.seek(0)
    found = np.load(file)
    assert found.dtype == keys.dtype and found.shape == shape
    assert (nl.random.key_data(found) == nl.random.key_data(keys)).all()
    assert pickle.loads(pickle.dumps(keys)).dtype == keys.dtype


def test_text_files() -> None:
    x = numpy.arange(6.0, dtype="f4").reshape(2, 3)
    file = io.StringIO()
    np.savetxt(file, np.asarray(x), header="h")
    assert file.getvalue().startswith("# h")
    file.seek(0)
    found = np.loadtxt(file)
    assert found.dtype == "float32" and found.tolist() == x.tolist()
    a, b, c = np.loadtxt(io.StringIO("0 1 2\n3 4 5"), unpack=True, dtype=int)
    assert a.tolist() == [0, 3] and c.tolist() == [2, 5] and b.dtype == "int32"
    read = np.genfromtxt(["1,2", ",4"], delimiter=",", filling_values=-1)
    assert read.tolist() == [[1, 2], [-1, 4]]
    with pytest.raises(errors.TracerArrayConversionError, match="savetxt"):
        nl.jit(lambda y: np.savetxt(file, y))(x)
    with pytest.raises(errors.TracerArrayConversionError, match="save"):
        nl.jit(lambda y: np.save(file, y))(x)


def test_errors_of_texts_name_the_function() -> None:
    for name, call in {
        "loadtxt": lambda: np.loadtxt(io.StringIO("1 a")),
        "genfromtxt": lambda: np.genfromtxt(io.StringIO("1 2\n3")),
        "savetxt": lambda: np.savetxt(io.StringIO(), np.ones((2, 2, 2))),
    }.items():
        with pytest.raises(errors.ValueArgumentError, match=f"^{name}: "):
            call()
    with pytest.raises(errors.ArgumentError, match="^fromregex: .*structured"):
        np.fromregex(io.StringIO("1 2"), r"(\d)", "int32")
