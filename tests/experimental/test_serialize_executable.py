"""Compiled functions as bytes."""

from __future__ import annotations

import json
import pathlib
import pickle
import subprocess
import sys

import numpy
import pytest

import numlift as nl
import numlift.numpy as np
from numlift import errors, random
from numlift.experimental.serialize_executable import deserialize_and_load, serialize
from numlift.export.container import EXECUTABLE, pack, unpack


def test_round_trip() -> None:
    w = np.arange(12.0).reshape(3, 4)
    key = random.key(1)

    @nl.jit
    def f(p, unused, *, k):
        return {"y": p["x"] @ w + k, "z": random.uniform(key)}

    args = ({"x": numpy.ones(3, "f4")}, 5.0)
    compiled = f.lower(*args, k=2.0).compile()
    loaded = deserialize_and_load(*serialize(compiled))
    out, expected = loaded(*args, k=3.0), f(*args, k=3.0)
    numpy.testing.assert_array_equal(out["y"], expected["y"])
    numpy.testing.assert_array_equal(out["z"], expected["z"])
    assert loaded.fun_name == "f" and loaded.out_info == compiled.out_info
    assert "HloModule" in loaded.as_text()
    again = deserialize_and_load(*serialize(loaded))
    numpy.testing.assert_array_equal(again(*args, k=3.0)["y"], expected["y"])
    with pytest.raises(errors.ArgumentError, match=r"compiled f.*structure"):
        loaded(*args)
    with pytest.raises(errors.ArgumentError, match=r"(?s)argument 0.*float32\[4\]"):
        loaded({"x": np.ones(4)}, 5.0, k=1.0)


def test_another_process(tmp_path: pathlib.Path) -> None:
    compiled = nl.jit(lambda x, n: np.sin(x) * n, static_argnums=1).lower(np.ones(3), 2).compile()
    (tmp_path / "f").write_bytes(pickle.dumps(serialize(compiled)))
    code = (
        "import sys, pathlib, pickle, numlift as nl\n"
        "from numlift.experimental import serialize_executable as s\n"
        "f = s.deserialize_and_load(*pickle.loads(pathlib.Path(sys.argv[1]).read_bytes()))\n"
        "print(f(nl.numpy.zeros(3)).tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "f")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[0.0, 0.0, 0.0]\n"


def test_several_devices_and_donation() -> None:
    mesh = nl.make_mesh((4,), ("i",))
    split = nl.NamedSharding(mesh, nl.P("i"))
    f = nl.jit(lambda x, y: x + y.sum(), donate_argnums=0, out_shardings=split)
    x = nl.device_put(np.arange(8.0), split)
    loaded = deserialize_and_load(*serialize(f.lower(x, x).compile()))
    y = loaded(x, nl.device_put(np.ones(8), split))
    numpy.testing.assert_array_equal(y, numpy.arange(8.0) + 8)
    assert y.sharding == split and x.is_deleted()


def test_refused() -> None:
    compiled = nl.jit(lambda x: x + 1).lower(1.0).compile()
    data, in_tree, out_tree = serialize(compiled)
    header, blobs = unpack(EXECUTABLE, data, "f")
    del header["blobs"]
    other = json.loads(json.dumps(header))
    other["made_for"]["jaxlib"] = "0.0.1"
    with pytest.raises(errors.ValueArgumentError, match=r"(?s)another machine.*jaxlib.*0\.0\.1"):
        deserialize_and_load(pack(EXECUTABLE, other, blobs), in_tree, out_tree)
    header["devices"] = [99]
    with pytest.raises(errors.DeviceError, match="99"):
        deserialize_and_load(pack(EXECUTABLE, header, blobs), in_tree, out_tree)
    with pytest.raises(errors.ValueArgumentError, match="damaged"):
        deserialize_and_load(data[:-1], in_tree, out_tree)
    with pytest.raises(errors.ValueArgumentError, match="not those of this program"):
        deserialize_and_load(data, nl.tree.structure(((), {})), out_tree)
    with pytest.raises(errors.ArgumentError, match="compiled function"):
        serialize(np.sin)
    printing = nl.jit(lambda x: nl.debug.callback(print, x) or x).lower(1.0).compile()
    with pytest.raises(errors.ValueArgumentError, match="calls Python"):
        serialize(printing)
