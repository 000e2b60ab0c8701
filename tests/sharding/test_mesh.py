"""Meshes: interning, axes, the current mesh, and what they refuse."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest

from numlift.errors import ArgumentError, ShardingError
from numlift.runtime.devices import devices
from numlift.runtime.mesh_utils import make_mesh
from numlift.sharding import (
    AbstractMesh,
    AxisType,
    Mesh,
    get_abstract_mesh,
    get_mesh,
    set_mesh,
    use_abstract_mesh,
    use_mesh,
)


def grid(*shape: int) -> np.ndarray:
    found = np.empty(int(np.prod(shape)), object)
    found[:] = devices()[: found.size]
    return found.reshape(shape)


def test_equal_meshes_are_one_object():
    a = Mesh(grid(4, 2), ("x", "y"))
    assert Mesh(grid(4, 2).tolist(), ["x", "y"]) is a
    assert Mesh(grid(4, 2), ("x", "y"), AxisType.Auto) is a
    assert Mesh(grid(2, 4), ("x", "y")) is not a
    assert Mesh(grid(4, 2)[::-1], ("x", "y")) is not a
    assert Mesh(grid(4, 2), ("x", "y"), AxisType.Explicit) is not a
    assert copy.deepcopy(a) is a and copy.copy(a) is a
    assert pickle.loads(pickle.dumps(a)) is a


def test_axes():
    kinds = (AxisType.Auto, AxisType.Explicit, AxisType.Manual)
    m = AbstractMesh((2, 3, 4), ("a", "b", "c"), kinds)
    assert dict(m.shape) == {"a": 2, "b": 3, "c": 4} and m.size == 24
    assert m.shape_tuple == (("a", 2), ("b", 3), ("c", 4))
    assert (m.auto_axes, m.explicit_axes, m.manual_axes) == (("a",), ("b",), ("c",))
    assert m.axis_type("b") is AxisType.Explicit
    assert not m.are_all_axes_auto and not m.empty
    assert AbstractMesh((2,), "a").are_all_axes_auto
    changed = m.update_axis_types({"a": AxisType.Manual})
    assert changed.manual_axes == ("a", "c")
    assert m.update(axis_sizes=(1, 1, 1)).size == 1
    assert pickle.loads(pickle.dumps(m)) is m
    assert repr(AbstractMesh((2,), "a")) == "AbstractMesh('a': 2, axis_types=(Auto,))"


def test_devices_of_a_mesh():
    m = Mesh(grid(4, 2), ("x", "y"))
    assert m.device_tuple == tuple(devices()[:8])
    assert m.device_ids.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert m.local_devices == devices()[:8] and not m.is_multi_process
    assert m.abstract_mesh is AbstractMesh((4, 2), ("x", "y"))
    with pytest.raises(ValueError):
        m.devices[0, 0] = None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Mesh(grid(4, 2), ("x",)), "2 mesh axes need as many names, got 1"),
        (lambda: Mesh(grid(4, 2), ("x", "x")), "axis names must differ"),
        (lambda: Mesh([devices()[0]] * 2, ("x",)), "more than once"),
        (lambda: Mesh([], ("x",)), "holds no device"),
        (lambda: Mesh(grid(2), "x", (AxisType.Auto,) * 2), "2 axis types for 1 axis names"),
        (lambda: AbstractMesh((0,), "x"), "at least 1"),
        (lambda: AbstractMesh((2,), "x").update_axis_types({"z": AxisType.Auto}), "'z'"),
        (lambda: make_mesh((16,), "x"), "NUMLIFT_NUM_CPU_DEVICES=16"),
        (lambda: make_mesh((3, -1), ("x", "y")), "8 devices do not divide by 3"),
        (lambda: make_mesh((-1, -1), ("x", "y")), "at most one is -1"),
    ],
)
def test_refuses(make, words):
    with pytest.raises(ShardingError, match=words.replace("(", r"\(")):
        make()


def test_refuses_wrong_classes():
    with pytest.raises(ArgumentError, match="axis names are strings"):
        Mesh(grid(2), (1,))
    with pytest.raises(ArgumentError, match="not an AxisType"):
        Mesh(grid(2), "x", ("auto",))
    with pytest.raises(ArgumentError, match="set_mesh"):
        set_mesh("x")


def test_make_mesh():
    m = make_mesh((4, -1), ("x", "y"))
    assert m.shape == {"x": 4, "y": 2} and m.are_all_axes_explicit
    assert make_mesh((2,), "x", AxisType.Auto).device_tuple == tuple(devices()[:2])
    assert make_mesh((2,), "x", devices=devices()[4:]).device_tuple == tuple(devices()[4:6])


def test_current_mesh_scopes():
    m, n = make_mesh((4,), "x"), make_mesh((2,), "y")
    assert get_mesh().empty and get_abstract_mesh().empty and get_mesh().size == 0
    with set_mesh(m) as inside:
        assert inside is m and get_mesh() is m
        with n:
            assert get_mesh() is n and get_abstract_mesh() is n.abstract_mesh
            with n, use_mesh(m):
                assert get_mesh() is m
        assert get_mesh() is m
        with use_abstract_mesh(n.abstract_mesh):
            assert get_abstract_mesh() is n.abstract_mesh and get_mesh().empty
        with use_mesh(None):
            assert get_mesh().empty
    assert get_mesh().empty


def test_set_mesh_for_good():
    m = make_mesh((4,), "x")
    set_mesh(m)
    try:
        assert get_mesh() is m
        seen = []
        thread = threading.Thread(target=lambda: seen.append(get_mesh()))
        thread.start()
        thread.join()
        assert seen == [m]
        n = make_mesh((2,), "x")
        with set_mesh(n):
            assert get_mesh() is n
        assert get_mesh() is m
    finally:
        set_mesh(None)
    assert get_mesh().empty
