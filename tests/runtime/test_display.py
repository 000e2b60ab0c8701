"""Pictures of shardings."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from numlift.errors import ArgumentError, ShardingError
from numlift.runtime.devices import devices
from numlift.runtime.display import (
    inspect_array_sharding,
    visualize_array_sharding,
    visualize_sharding,
)
from numlift.runtime.mesh_utils import make_mesh
from numlift.runtime.transfer import as_array, device_put
from numlift.sharding import NamedSharding, P


def picture(capsys, *args, **options):
    visualize_sharding(*args, **options)
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if "CPU" in line]
    return out, [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_pictures(capsys):
    m = make_mesh((4, 2), ("x", "y"))
    out, cells = picture(capsys, (8, 8), NamedSharding(m, P("x", "y")), use_color=False)
    assert cells == [["CPU 0", "CPU 1"], ["CPU 2", "CPU 3"], ["CPU 4", "CPU 5"], ["CPU 6", "CPU 7"]]
    assert "\x1b" not in out
    _, cells = picture(capsys, (8, 8), NamedSharding(m, P("y")))
    assert cells == [["CPU 0,2,4,6"], ["CPU 1,3,5,7"]]
    _, cells = picture(capsys, (8,), NamedSharding(m, P("x")), min_width=4, scale=0.1)
    assert cells == [["CPU 0,1", "CPU 2,3", "CPU 4,5", "CPU 6,7"]]
    _, cells = picture(capsys, (8, 8), NamedSharding(m, P()), color_map=lambda i: "red")
    assert cells == [["CPU 0,1,2,3,4,5,6,7"]]
    out, _ = picture(capsys, (8,), NamedSharding(m, P(("x", "y"))), max_width=40)
    assert max(map(len, out.splitlines())) <= 40


def test_arrays(capsys):
    visualize_array_sharding(as_array([1.0]))
    assert "CPU 0" in capsys.readouterr().out
    seen = []
    a = device_put(1.0, devices()[1])
    inspect_array_sharding({"a": a}, callback=seen.append)
    assert seen == [a.sharding]


def test_refuses(monkeypatch):
    s = as_array(1.0).sharding
    for shape in ((), (1, 1, 1)):
        with pytest.raises(ShardingError, match="1 or 2 dimensions"):
            visualize_sharding(shape, s)
    with pytest.raises(ShardingError, match="does not divide"):
        visualize_sharding((3,), NamedSharding(make_mesh((2,), "x"), P("x")))
    with pytest.raises(ArgumentError, match="not an array on devices"):
        visualize_array_sharding(np.ones(2))
    with pytest.raises(ArgumentError, match="needs arrays on devices"):
        inspect_array_sharding(np.ones(2), callback=print)
    for name in [n for n in sys.modules if n == "rich" or n.startswith("rich.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(ArgumentError, match="pip install rich"):
        visualize_sharding((1,), s)
