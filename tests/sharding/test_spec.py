"""PartitionSpec: its one form, tuple behaviour, equality, errors."""

from __future__ import annotations

import copy
import pickle

import pytest

from numlift.errors import ArgumentError, ShardingError
from numlift.sharding import UNCONSTRAINED, P, PartitionSpec


def test_entries_have_one_form():
    assert P(("x",)) == P("x") and P(()) == P(None) and P(["x", "y"]) == P(("x", "y"))
    assert P("x") != P("x", None)
    assert hash(P(("x",))) == hash(P("x")) == hash(("x",))
    assert P("x", unreduced={"y"}) != P("x") and P("x", unreduced="y") == P("x", unreduced={"y"})


def test_behaves_like_a_tuple():
    spec = P("x", None, ("y", "z"))
    assert tuple(spec) == ("x", None, ("y", "z")) == spec.partitions
    assert len(spec) == 3 and spec[0] == "x" and spec[1:] == (None, ("y", "z"))
    assert spec == ("x", None, ("y", "z")) and spec != ("x",)
    assert spec.index(("y", "z")) == 2 and spec.count(None) == 1 and "x" in spec
    assert P("x") + P("y") == P("x", "y") == P("x") + ("y",) == ("x",) + P("y")
    assert spec.axes() == ("x", "y", "z")
    assert isinstance(spec, PartitionSpec)
    assert spec != 3


def test_text_and_copies():
    assert repr(P("x", None, ("y", "z"))) == "P('x', None, ('y', 'z'))"
    assert repr(P(unreduced={"b", "a"})) == "P(unreduced={'a', 'b'})"
    for spec in (P(), P("x", P.UNCONSTRAINED), P("x", unreduced={"y"}, reduced={"z"})):
        assert pickle.loads(pickle.dumps(spec)) == spec == copy.deepcopy(spec)
    assert pickle.loads(pickle.dumps(UNCONSTRAINED)) is UNCONSTRAINED


def test_padded_and_update():
    assert P("x").padded(3) == ("x", None, None)
    assert P().padded(0) == ()
    with pytest.raises(ShardingError, match="2 entries for an array of 1"):
        P("x", None).padded(1)
    assert P("x", unreduced={"y"}).update(partitions=("z",)) == P("z", unreduced={"y"})
    assert P("x", unreduced={"y"}).update(unreduced=()) == P("x")


@pytest.mark.parametrize("wrong", [1, (1,), ("x", None), b"x"])
def test_refuses_entries(wrong):
    with pytest.raises(ArgumentError, match="mesh axis names"):
        P(wrong)


@pytest.mark.parametrize("make", [lambda: P("x", "x"), lambda: P(("x", "x")),
                                  lambda: P("x", unreduced={"x"})])  # fmt: skip
def test_an_axis_splits_one_dimension(make):
    with pytest.raises(ShardingError, match="'x' is used twice"):
        make()
